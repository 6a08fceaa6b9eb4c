/* SPDX-License-Identifier: MIT */
/*
 * The event log: the system's, or the file `events` below OPENPERFLIB_ROOT.
 *
 * A provider that fails at every query must not flood the log: of equal events (source, id,
 * service) the first ten come singly, later ones as one line a minute that tells how many there
 * were.
 */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

enum { SINGLE_EVENTS = 10, REMEMBERED_EVENTS = 64, TEXT_ROOM = 1024 };
static const int64_t silence = (int64_t)60 * CLOCK_TICKS_PER_SECOND;

struct repetition {
    uint64_t what; /* hash of source, id and service; 0: free */
    unsigned written, held_back;
    int64_t last_written, last_seen;
};

int64_t (*event_clock)(void) = clock_ticks;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct repetition repetitions[REMEMBERED_EVENTS];

static uint64_t hash_text(uint64_t hash, const char *text)
{
    do
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    while (*text++);
    return hash;
}

/* Its row; else a free one (last_seen 0), else that of the event seen longest ago. */
static struct repetition *row_of(uint64_t what)
{
    struct repetition *oldest = repetitions;
    for (size_t i = 0; i < COUNT(repetitions); i++) {
        if (repetitions[i].what == what)
            return &repetitions[i];
        if (repetitions[i].last_seen < oldest->last_seen)
            oldest = &repetitions[i];
    }
    *oldest = (struct repetition){.what = what};
    return oldest;
}

/* Is this one to be written? *ret_held_back: how many equal ones were not, since the last line. */
static bool is_due(uint64_t what, unsigned *ret_held_back)
{
    int64_t now = event_clock();
    lock_take(&lock);
    struct repetition *row = row_of(what);
    bool due = row->written < SINGLE_EVENTS || now - row->last_written >= silence;
    row->last_seen = now;
    *ret_held_back = row->held_back;
    if (due) {
        row->written++;
        row->held_back = 0;
        row->last_written = now;
    } else {
        row->held_back++;
    }
    lock_release(&lock);
    return due;
}

/* One event is one line of fields: nothing in it may look like the end of either. */
static void flatten(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            *text = ' ';
}

static const char *level_name(enum event_level level)
{
    return level == EVENT_ERROR ? "error" : level == EVENT_WARNING ? "warning" : "information";
}

static int level_priority(enum event_level level)
{
    return level == EVENT_ERROR ? LOG_ERR : level == EVENT_WARNING ? LOG_WARNING : LOG_INFO;
}

static int open_log(const char *path)
{
    int flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
    int fd = open(path, flags, 0644);
    if (fd >= 0 || errno != ENOENT)
        return fd;
    char folder[4096];
    if (strlen(path) >= sizeof folder)
        return -1;
    strcpy(folder, path);
    file_make_folders(dirname(folder), 0755);
    return open(path, flags, 0644);
}

/* One write, so that lines of several processes stay whole. */
static void append(const char *path, const char *line, size_t length)
{
    int fd = open_log(path);
    if (fd < 0)
        return;
    while (write(fd, line, length) < 0 && errno == EINTR)
        continue;
    close(fd);
}

static void write_event(const char *source, unsigned id, enum event_level level,
                        const char *service, const char *text)
{
    const char *path = place_events();
    if (!path) {
        syslog(LOG_DAEMON | level_priority(level), "%s %u: %s: %s", source, id, service, text);
        return;
    }
    char line[TEXT_ROOM + 512], when[32];
    time_t now = time(NULL);
    struct tm utc;
    strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    int length = snprintf(line, sizeof line, "%s\t%s\t%u\t%s\t%s\t%s\n", when, source, id,
                          level_name(level), service, text);
    if (length >= (int)sizeof line) {
        length = (int)sizeof line - 1;
        line[length - 1] = '\n';
    }
    append(path, line, (size_t)length);
}

static uint64_t hash_event(const char *source, unsigned id, const char *service)
{
    uint64_t hash = hash_text(UINT64_C(0xcbf29ce484222325) ^ id, source);
    hash = hash_text(hash, service);
    return hash ? hash : 1;
}

static void report(const char *source, unsigned id, enum event_level level, const char *service,
                   const char *format, va_list list)
{
    int saved = errno;
    unsigned held_back;
    char name[256], text[TEXT_ROOM];
    snprintf(name, sizeof name, "%s", service ? service : "");
    if (is_due(hash_event(source, id, name), &held_back)) {
        int length = vsnprintf(text, sizeof text, format, list);
        length = length < 0 ? 0 : length < TEXT_ROOM ? length : TEXT_ROOM - 1;
        if (held_back)
            snprintf(text + length, sizeof text - (size_t)length, " (and %u more like this)",
                     held_back);
        flatten(text);
        flatten(name);
        trace("event", "%s %u %s: %s", source, id, name, text);
        write_event(source, id, level, name, text);
    }
    errno = saved;
}

void event_report(const char *source, unsigned id, enum event_level level, const char *service,
                  const char *format, ...)
{
    va_list list;
    va_start(list, format);
    report(source, id, level, service, format, list);
    va_end(list);
}

/* The file keeps the text alone. */
void event_report_fields(const char *source, unsigned id, enum event_level level,
                         const char *service, const struct event_field *fields, size_t count,
                         const char *format, ...)
{
    va_list list;
    va_start(list, format);
    report(source, id, level, service, format, list);
    va_end(list);
}
