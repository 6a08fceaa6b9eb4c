/* SPDX-License-Identifier: MIT */
/* Reads the event log: events.old and events in the folder OPENPERFLIB_ROOT if it is set, else the
 * output of journalctl --output=export. If that fails, perfmon goes on without events. */
#include "perfmon.h"

#include "../common/last-event.h"
#include "../common/list.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { TIME, SOURCE, ID, LEVEL, SERVICE, TEXT, FIELDS };
enum { LONGEST_FIELD = 1 << 20 };

static bool add(struct event_log *log, char *const fields[FIELDS])
{
    if (!list_grow(&log->list, log->count, &log->capacity, sizeof *log->list))
        return false;
    struct event *event = &log->list[log->count];
    *event = (struct event){strdup(fields[TIME]),  strdup(fields[SOURCE]),
                            strdup(fields[LEVEL]), strdup(fields[SERVICE]),
                            strdup(fields[TEXT]),  (unsigned)strtoul(fields[ID], NULL, 10)};
    log->count++;
    return event->time && event->source && event->level && event->service && event->text;
}

static void cannot_read(struct event_log *log, const char *path, const char *why)
{
    log->readable = false;
    snprintf(log->why, sizeof log->why, "%.150s: %.100s", path, why);
}

/* ---- a file: fields separated by tabs ---- */

static void read_line(struct event_log *log, char *line)
{
    char *fields[FIELDS];
    line[strcspn(line, "\n")] = '\0';
    for (int i = 0; i < FIELDS; i++) {
        fields[i] = line;
        line = i + 1 < FIELDS ? strchr(line, '\t') : line;
        if (!line)
            return; /* incomplete line */
        if (i + 1 < FIELDS)
            *line++ = '\0';
    }
    add(log, fields);
}

/* Reads the file of events. False: the file exists, but cannot be read. */
static bool read_file(struct event_log *log, const char *path)
{
    char *line = NULL;
    const char *why;
    size_t capacity = 0;
    FILE *file = last_event_open(path, &why);
    if (!file && why)
        cannot_read(log, path, why);
    if (!file)
        return !why;
    while (getline(&line, &capacity, file) > 0)
        read_line(log, line);
    free(line);
    fclose(file);
    return true;
}

static void read_files(struct event_log *log, const char *root)
{
    char path[PATH_MAX];
    log->readable = true;
    snprintf(path, sizeof path, "%s/events.old", root);
    if (!read_file(log, path))
        return;
    snprintf(path, sizeof path, "%s/events", root);
    read_file(log, path);
}

/* ---- the journal: https://systemd.io/JOURNAL_EXPORT_FORMATS ---- */

static const char *const journal_names[FIELDS] = {"__REALTIME_TIMESTAMP", "OPENPERFLIB_SOURCE",
                                                  "OPENPERFLIB_ID",       "OPENPERFLIB_LEVEL",
                                                  "OPENPERFLIB_SERVICE",  "MESSAGE"};

static void set_field(char *fields[FIELDS], const char *name, size_t length, const char *value)
{
    for (int i = 0; i < FIELDS; i++)
        if (strlen(journal_names[i]) == length && !memcmp(name, journal_names[i], length)) {
            free(fields[i]);
            fields[i] = strdup(value);
        }
}

/* Converts microseconds since 1970 to ISO 8601. */
static void write_time(char **field)
{
    char text[32];
    time_t seconds = (time_t)(strtoull(*field, NULL, 10) / 1000000);
    struct tm utc;
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&seconds, &utc));
    free(*field);
    *field = strdup(text);
}

static void end_record(struct event_log *log, char *fields[FIELDS])
{
    bool complete = true;
    if (fields[TIME])
        write_time(&fields[TIME]);
    for (int i = 0; i < FIELDS; i++)
        complete = complete && fields[i];
    if (complete)
        add(log, fields);
    for (int i = 0; i < FIELDS; i++) {
        free(fields[i]);
        fields[i] = NULL;
    }
}

/* Reads a long value: its length in 8 bytes, little-endian, then its bytes. False: incomplete. */
static bool read_long_field(FILE *file, char *fields[FIELDS], const char *name)
{
    unsigned char bytes[8];
    uint64_t length = 0;
    if (fread(bytes, 1, sizeof bytes, file) != sizeof bytes)
        return false;
    for (size_t i = 0; i < sizeof bytes; i++)
        length |= (uint64_t)bytes[i] << 8 * i;
    char *value = length <= LONGEST_FIELD ? calloc((size_t)length + 1, 1) : NULL;
    bool read = value && fread(value, 1, (size_t)length, file) == length && fgetc(file) == '\n';
    if (read)
        set_field(fields, name, strlen(name), value);
    free(value);
    return read;
}

static void read_export(struct event_log *log, FILE *file)
{
    char *fields[FIELDS] = {0}, *line = NULL;
    size_t capacity = 0;
    bool more = true;
    while (more && getline(&line, &capacity, file) > 0) {
        line[strcspn(line, "\n")] = '\0';
        char *equals = strchr(line, '=');
        if (!*line)
            end_record(log, fields);
        else if (equals)
            set_field(fields, line, (size_t)(equals - line), equals + 1);
        else
            more = read_long_field(file, fields, line);
    }
    end_record(log, fields);
    free(line);
}

static void read_journal(struct event_log *log)
{
    char *const args[] = {"journalctl",
                          "--quiet",
                          "--no-pager",
                          "--output=export",
                          "--lines=5000",
                          "SYSLOG_IDENTIFIER=openperflib",
                          NULL};
    posix_spawn_file_actions_t actions;
    int ends[2], state = 0;
    pid_t child;
    if (pipe2(ends, O_CLOEXEC) != 0) {
        cannot_read(log, "journalctl", strerror(errno));
        return;
    }
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    int error = posix_spawnp(&child, args[0], &actions, NULL, args, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    FILE *file = error ? NULL : fdopen(ends[0], "r");
    if (file)
        read_export(log, file);
    if (file)
        fclose(file);
    else
        close(ends[0]);
    if (!error)
        waitpid(child, &state, 0);
    log->readable = !error && WIFEXITED(state) && WEXITSTATUS(state) == 0;
    if (!log->readable)
        cannot_read(log, "journalctl",
                    error ? strerror(error)
                          : "it failed; members of the group systemd-journal may read the journal");
}

/* ---- entry points ---- */

void event_log_read(struct event_log *log)
{
    const char *root = getenv("OPENPERFLIB_ROOT");
    opl_load_event event;
    *log = (struct event_log){0};
    if (!opl_load_last_event("OPENPERFLIB_ROOT", &event)) /* other users may write there */
        cannot_read(log, "OPENPERFLIB_ROOT", "it is not used");
    else if (root && *root)
        read_files(log, root);
    else
        read_journal(log);
}

void event_log_done(struct event_log *log)
{
    for (size_t i = 0; i < log->count; i++) {
        const struct event *event = &log->list[i];
        char *texts[] = {event->time, event->source, event->level, event->service, event->text};
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
            free(texts[k]);
    }
    free(log->list);
}

static bool is_same(const struct event *left, const struct event *right)
{
    return left->id == right->id && !strcmp(left->source, right->source) &&
           !strcmp(left->text, right->text);
}

/* Increments the count of an equal event in the list; false: the list has no equal event. */
static bool count_again(struct recent *list, size_t count, const struct event *event)
{
    for (size_t i = 0; i < count; i++)
        if (is_same(list[i].event, event))
            return ++list[i].count;
    return false;
}

size_t event_log_last(const struct event_log *log, const char *service, bool warnings, size_t most,
                      struct recent *ret)
{
    size_t found = 0;
    for (size_t i = log->count; i > 0; i--) {
        const struct event *event = &log->list[i - 1];
        if (strcasecmp(event->service, service) != 0 ||
            (warnings && strcmp(event->level, "information") == 0) ||
            count_again(ret, found, event))
            continue;
        if (found == most)
            break;
        ret[found++] = (struct recent){event, 1};
    }
    for (size_t i = 0; i < found / 2; i++) {
        struct recent swap = ret[i];
        ret[i] = ret[found - 1 - i];
        ret[found - 1 - i] = swap;
    }
    return found;
}
