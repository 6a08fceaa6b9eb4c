/* SPDX-License-Identifier: MIT */
/*
 * Queries repeatedly, and reports births and deaths: on a terminal as a screen that is redrawn,
 * elsewhere as lines. If the server ends, the program waits for it.
 */
#include "../common/terminal.h"
#include "manager.h"

#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { EVENTS = 200, EVENT_TEXT = 120, BUSY_MS = 500 };

static struct watch {
    struct manager *manager;
    bool screen;
    bool there;                       /* the server answered the last query */
    struct behemoth_herd now, before; /* summaries */
    struct behemoth *all;             /* the behemoths of `now` */
    char events[EVENTS][EVENT_TEXT];  /* ring buffer of lines */
    size_t event_count;
    size_t looks; /* answers so far */
    int64_t began;
} watch;

/* ---- events ---- */

__attribute__((format(printf, 2, 3))) static void report(char sign, const char *format, ...)
{
    char *event = watch.events[watch.event_count++ % EVENTS];
    struct tm tm = {0};
    time_t now = time(NULL);
    va_list list;
    localtime_r(&now, &tm);
    size_t used = strftime(event, EVENT_TEXT, "%H:%M:%S", &tm);
    used += (size_t)snprintf(event + used, EVENT_TEXT - used, " %c ", sign);
    va_start(list, format);
    vsnprintf(event + used, EVENT_TEXT - used, format, list);
    va_end(list);
    if (!watch.screen)
        puts(event);
}

/* Compares two lists sorted by id: a behemoth that is in only one of the lists was born or has
 * died. */
static void compare(const struct behemoth_herd *herd)
{
    const struct behemoth *is = behemoth_all(herd), *end = is + herd->count, *was = watch.all;
    const struct behemoth *all = is, *was_end = was + watch.now.count;
    uint64_t came = 0;
    char age[TEXT_VALUE];
    while (is < end || was < was_end) {
        if (was < was_end && (is == end || was->id < is->id)) {
            report('-', "%s (%" PRIu64 "), %s, at the age of %s", was->name, was->id,
                   sex_word(was->sex),
                   age_text((double)(herd->time - was->birthday) / BEHEMOTH_SECOND, age));
            was++;
        } else if (was == was_end || is->id < was->id) {
            bool child = is->mother_position != BEHEMOTH_NONE;
            report('+', "%s (%" PRIu64 "), %s%s%s", is->name, is->id, sex_word(is->sex),
                   child ? ", of " : "", child ? all[is->mother_position].name : "");
            came++;
            is++;
        } else {
            is++, was++;
        }
    }
    uint64_t counted = herd->births + herd->founded - watch.now.births - watch.now.founded;
    if (counted > came)
        report(' ', "%" PRIu64 " were born and died between two queries", counted - came);
}

static void take(const struct behemoth_herd *herd)
{
    bool first = watch.looks == 0, other = !first && herd->process != watch.now.process;
    if (!watch.there && !first)
        report(' ', "the server is back, process %" PRIu64, herd->process);
    if (first)
        report(' ', "%u behemoths", (unsigned)herd->count);
    else if (other && (herd->ticks < watch.now.ticks || herd->births < watch.now.births))
        report(' ', "the server continues from a saved, earlier state");
    else
        compare(herd);
    struct behemoth *all = realloc(watch.all, (herd->count + (size_t)1) * sizeof *all);
    watch.there = all != NULL;
    if (!all)
        return;
    memcpy(all, behemoth_all(herd), herd->count * sizeof *all);
    watch.all = all;
    watch.before = first ? *herd : watch.now;
    watch.now = *herd;
    watch.looks++;
}

static void look(void)
{
    struct manager *manager = watch.manager;
    const struct behemoth_herd *herd = NULL;
    if (behemoth_exchange(&manager->line, manager->place, BEHEMOTH_HERD, NULL, 0,
                          behemoth_now() + BUSY_MS))
        herd = behemoth_herd_of(&manager->line);
    if (herd) {
        take(herd);
        return;
    }
    if (watch.there)
        report(' ', "the server does not answer any more; waiting for it");
    watch.there = false;
}

/* ---- the screen ---- */

static void draw(bool whole)
{
    const struct behemoth_herd *now = &watch.now, *before = &watch.before;
    char text[TEXT_VALUE];
    double passed = (double)(now->moment - before->moment) / BEHEMOTH_SECOND;
    double by = passed > 0 ? 1 / passed : 0;
    FILE *out = terminal_frame();
    if (!out)
        return;
    fprintf(out, STRONG "Behemoths at %s, process %" PRIu64 PLAIN "\n", watch.manager->place,
            now->process);
    fputs(watch.there ? "\n"
                      : BAD "The server does not answer; this is its last answer." PLAIN "\n",
          out);
    fprintf(out, "Herd time  %s  ", time_text((uint64_t)now->time, text));
    fprintf(out, "%s since it began, %.0f seconds in one of ours\n",
            age_text((double)now->ticks, text), (double)(now->ticks - before->ticks) * by);
    fprintf(out, "Living     %-8u mean age %s, %.1f t\n", (unsigned)now->count,
            age_text(now->count > 0 ? (double)(now->ages / now->count) : 0, text),
            (double)now->weight / 1000);
    fprintf(out, GREEN "Born       %-8" PRIu64 " %.1f in a second" PLAIN "\n", now->births,
            (double)(now->births - before->births) * by);
    fprintf(out, RED "Died       %-8" PRIu64 " %.1f in a second" PLAIN "\n", now->deaths,
            (double)(now->deaths - before->deaths) * by);
    for (size_t i = 0; i < EVENTS && i < watch.event_count; i++) {
        const char *event = watch.events[(watch.event_count - 1 - i) % EVENTS];
        fprintf(out, "%s%s" PLAIN "\n",
                event[9] == '+'   ? GREEN
                : event[9] == '-' ? RED
                                  : WEAK,
                event);
    }
    terminal_show(WEAK "q quit" PLAIN, whole);
}

/* Waits until it is time for the next query; false: the program should end. */
static bool wait(int64_t until)
{
    for (int64_t left; (left = until - behemoth_now()) > 0;) {
        int key = watch.screen ? terminal_key((int)left) : poll(NULL, 0, (int)left);
        if (key == 'q' || key == 'Q' || key == KEY_END)
            return false;
        if (key == KEY_RESIZE)
            draw(true);
    }
    return watch.manager->seconds == 0 ||
           behemoth_now() - watch.began < watch.manager->seconds * 1000;
}

int command_watch(struct manager *manager)
{
    const struct behemoth_herd *herd;
    int code = manager_herd(manager, &herd);
    if (code)
        return code;
    watch.manager = manager;
    watch.screen = isatty(STDIN_FILENO) && terminal_begin(manager->style);
    watch.began = behemoth_now();
    setvbuf(stdout, NULL, _IOLBF, 0);
    take(herd);
    if (watch.screen)
        draw(true);
    while (wait(behemoth_now() + (int64_t)(manager->interval * 1000))) {
        look();
        if (watch.screen)
            draw(false);
    }
    terminal_end();
    free(watch.all);
    return EXIT_GOOD;
}
