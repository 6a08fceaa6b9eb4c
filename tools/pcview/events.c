/* SPDX-License-Identifier: MIT */
/* pcview --events: the last events of Perflib and LoadPerf. Under OPENPERFLIB_ROOT they are
 * lines of a file there; else they are in the journal, and journalctl prints them. A user who may
 * not read the journal sees the last event of each provider, which is kept. */
#include "pcview.h"

#include "../common/last-event.h"
#include "../common/service.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TIME, SOURCE, ID, LEVEL, SERVICE, TEXT, FIELDS };
enum { LABEL_INDENT = 4 };

/* Splits the line at its tabs; false: the line is not an event. */
static bool cut(char *line, char *fields[FIELDS])
{
    line[strcspn(line, "\n")] = '\0';
    for (int i = 0; i < FIELDS; i++) {
        fields[i] = line;
        line = i + 1 < FIELDS && line ? strchr(line, '\t') : NULL;
        if (line)
            *line++ = '\0';
    }
    return fields[TEXT] != NULL;
}

static const char *level_style(const struct style *style, const char *level)
{
    return strcmp(level, "error") == 0     ? style->bad
           : strcmp(level, "warning") == 0 ? style->warn
                                           : "";
}

static void print_event(struct pcview *view, char *line)
{
    char *fields[FIELDS], text[4096];
    if (!cut(line, fields))
        return;
    fprintf(view->out, "%s  %s%s%s  %s %s  %s%s%s\n", text_seen(fields[TIME]),
            level_style(&view->style, fields[LEVEL]), text_seen(fields[LEVEL]), view->style.off,
            text_seen(fields[SOURCE]), text_seen(fields[ID]), view->style.strong,
            text_seen(fields[SERVICE]), view->style.off);
    text_clean(fields[TEXT], text, sizeof text);
    text_wrap(view->out, text, LABEL_INDENT, view->width - LABEL_INDENT);
}

/* Prints the last lines of the file, which are kept in a ring buffer. `file` NULL: prints
 * nothing. */
static void print_last(struct pcview *view, FILE *file)
{
    char **lines = calloc(view->events, sizeof *lines), *line = NULL;
    size_t capacity = 0, count = 0;
    while (lines && file && getline(&line, &capacity, file) > 0) {
        free(lines[count % view->events]);
        lines[count++ % view->events] = line;
        line = NULL;
    }
    free(line);
    for (size_t i = 0; lines && i < view->events; i++) {
        char *at = lines[(count + i) % view->events];
        if (at)
            print_event(view, at);
        free(at);
    }
    if (count == 0)
        fputs("There are no events: no errors were reported.\n", view->out);
    free(lines);
}

/* ---- the last events, kept in the registry ---- */

static bool print_kept(void *self, const char *service)
{
    struct pcview *view = self;
    opl_load_event event;
    char line[sizeof event.text + sizeof event.advice + 1024], when[32];
    if (opl_load_last_event(service, &event))
        return true;
    time_t seconds = last_event_time(&event);
    struct tm utc;
    strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&seconds, &utc));
    snprintf(line, sizeof line, "%s\t%s\t%u\t%s\t%.255s\t%s; %s", when,
             strcmp(event.level, "information") ? "Perflib" : "LoadPerf", (unsigned)event.id,
             event.level, service, event.text, event.advice);
    print_event(view, line);
    return true;
}

/* True if the journal has an event that this user may read. */
static bool has_journal(void)
{
    FILE *out = popen("journalctl --quiet --lines=1 --output=cat SYSLOG_IDENTIFIER=openperflib "
                      "2>/dev/null",
                      "r");
    bool any = out && fgetc(out) != EOF;
    if (out)
        pclose(out);
    return any;
}

static int print_all_kept(struct pcview *view)
{
    fputs("pcview: there is no journal that you may read; these are the last events of the "
          "providers, as your programs and those of root recorded them:\n",
          stderr);
    return service_each(print_kept, view) ? EXIT_FAILED : EXIT_GOOD;
}

static int show_journal(struct pcview *view)
{
    char count[32];
    if (!has_journal())
        return print_all_kept(view);
    snprintf(count, sizeof count, "--lines=%u", view->events);
    execlp("journalctl", "journalctl", "--catalog", count, "SYSLOG_IDENTIFIER=openperflib",
           (char *)NULL);
    fprintf(stderr, "pcview: journalctl: %s; see the system's log for events\n", strerror(errno));
    return EXIT_FAILED;
}

int events_print(struct pcview *view)
{
    char path[PATH_MAX];
    const char *root = getenv("OPENPERFLIB_ROOT"), *why;
    if (!root || !*root)
        return show_journal(view);
    snprintf(path, sizeof path, "%s/events", root);
    FILE *file = last_event_open(path, &why);
    if (!file && why) {
        fprintf(stderr, "pcview: %s: %s\n", text_seen(path), why);
        return EXIT_FAILED;
    }
    print_last(view, file);
    if (file)
        fclose(file);
    return EXIT_GOOD;
}
