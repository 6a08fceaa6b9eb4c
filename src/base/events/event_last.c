/* SPDX-License-Identifier: MIT */
/*
 * The last event of each service, kept for the user in a file beside the file of answers
 * (place_answers), because the log may be readable by root only. The file has one record of fixed
 * size for each service, which is overwritten in place. Records never move, so only a writer that
 * adds one takes the file's lock. A record:
 *
 *     2026-11-23T07:50:01.123Z 1010 error MyPerf<TAB>text<TAB>what to do      (and blanks)
 *
 * If the file cannot be written, the process remembers the record. So a tool can always say why a
 * provider that it queried itself has failed.
 */
#include "base/base.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { RECORD = 2048, NAME_AT = 43, TRIES = 8, REMEMBERED_MOST = 16 };
#define HEAD "%04u-%02u-%02uT%02u:%02u:%02u.%03uZ %5u %-11.11s "

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* records that could not be written to the file */
static char remembered[REMEMBERED_MOST * RECORD];
static size_t remembered_size;

/* Returns the path of `last-events` in the folder that contains `answers`, to be freed. NULL: there
 * is no such folder. */
static char *path_beside(const char *answers)
{
    const char *slash = answers ? strrchr(answers, '/') : NULL;
    return slash ? text_format("%.*s/last-events", (int)(slash - answers), answers) : NULL;
}

/* True if the record belongs to the service. */
static bool is_of(const char *record, const char *service)
{
    size_t length = strlen(service);
    return length < RECORD - NAME_AT && record[NAME_AT + length] == '\t' &&
           !text_compare_fold_n(record + NAME_AT, length, service, length);
}

static const char *find(const char *records, size_t size, const char *service)
{
    for (size_t at = 0; at + RECORD <= size; at += RECORD)
        if (is_of(records + at, service))
            return records + at;
    return NULL;
}

/* Returns the position of the service's record. If there is none, *ret_new is true and the position
 * is that of the first damaged record, or the end of the complete records, where a writer
 * overwrites an incomplete one. */
static off_t place_of(int fd, const char *service, bool *ret_new)
{
    char part[16 * RECORD];
    off_t at = 0, damaged = -1;
    for (;;) {
        ssize_t size = pread(fd, part, sizeof(part), at);
        *ret_new = size < RECORD;
        if (*ret_new)
            return damaged < 0 ? at : damaged;
        for (ssize_t i = 0; i + RECORD <= size; i += RECORD) {
            if (is_of(part + i, service))
                return at + i;
            if (damaged < 0 && part[i + RECORD - 1] != '\n')
                damaged = at + i;
        }
        at += size / RECORD * RECORD;
    }
}

/* ---- writing ---- */

/* Appends up to `most` bytes of a field and its end, a tab; control characters become blanks. */
static int add_field(char *record, int used, int most, const char *text)
{
    for (; most > 0 && *text && used < RECORD - 2; most--, text++)
        record[used++] = (char)((unsigned char)*text < ' ' ? ' ' : *text);
    if (used < RECORD - 1)
        record[used++] = '\t';
    return used;
}

/* Tabs separate the fields, and a line end the records. A long text is truncated here; the log has
 * all of it. */
static void write_record(const struct event_record *event, char record[static RECORD + 1])
{
    SYSTEMTIME utc;
    clock_systemtime(clock_filetime(), &utc);
    int head =
        snprintf(record, RECORD + 1, HEAD, utc.wYear % 10000u, utc.wMonth % 100u, utc.wDay % 100u,
                 utc.wHour % 100u, utc.wMinute % 100u, utc.wSecond % 100u,
                 utc.wMilliseconds % 1000u, event->id % 100000u, event_level_name(event->level));
    int used = add_field(record, head, LIMIT_KEY_NAME * 4, event->service);
    used = add_field(record, used, RECORD / 2 - NAME_AT, event->text);
    used = add_field(record, used, RECORD / 4, event->advice);
    memset(record + used, ' ', (size_t)(RECORD - 1 - used));
    record[RECORD - 1] = '\n';
    record[RECORD] = '\0';
}

static void remember(const char *record, const char *service)
{
    lock_take(&lock);
    const char *found = find(remembered, remembered_size, service);
    size_t at = found ? (size_t)(found - remembered) : remembered_size;
    if (at < sizeof(remembered)) {
        memcpy(remembered + at, record, RECORD);
        remembered_size += found ? 0 : RECORD;
    } else {
        trace("event", "the last event of %s could not be remembered", service);
    }
    lock_release(&lock);
}

/* False: the record was not written. */
static bool write_at_its_place(int fd, const char *record, const char *service)
{
    bool new, locked = false;
    off_t place = place_of(fd, service, &new);
    if (new && (locked = event_lock(fd)))
        place = place_of(fd, service, &new);
    bool written = place + RECORD <= STATE_RECORDS_MOST &&
                   file_write_limited(fd, record, RECORD, place) == RECORD;
    if (locked)
        flock(fd, LOCK_UN);
    return written;
}

void event_last_keep(const struct event_record *event)
{
    char record[RECORD + 1];
    if (!*event->service || event->service[strcspn(event->service, "\n\t")])
        return;
    FREE_AUTO char *path = path_beside(place_answers());
    int fd = path ? file_open_to_write(AT_FDCWD, path, STATE_RECORDS_MOST, !place_events()) : -1;
    write_record(event, record);
    if (fd < 0 || !write_at_its_place(fd, record, event->service))
        remember(record, event->service);
    if (fd >= 0)
        close(fd);
}

/* ---- reading ---- */

static bool read_record(const char *record, struct event_last *ret)
{
    SYSTEMTIME utc = {0};
    char zone;
    if (sscanf(record, "%4hu-%2hu-%2huT%2hu:%2hu:%2hu.%3hu%c %5u %11s", &utc.wYear, &utc.wMonth,
               &utc.wDay, &utc.wHour, &utc.wMinute, &utc.wSecond, &utc.wMilliseconds, &zone,
               &ret->id, ret->level) != 10 ||
        zone != 'Z')
        return false;
    const char *text = strchr(record + NAME_AT, '\t');
    const char *advice = text ? strchr(text + 1, '\t') : NULL;
    const char *end = advice ? strchr(advice + 1, '\t') : NULL;
    ret->when = clock_filetime_from(&utc);
    if (text && advice)
        snprintf(ret->text, sizeof(ret->text), "%.*s", (int)(advice - text - 1), text + 1);
    *ret->advice = '\0';
    if (end)
        snprintf(ret->advice, sizeof(ret->advice), "%.*s", (int)(end - advice - 1), advice + 1);
    return text && advice;
}

/* Reads the service's record. Another program may overwrite the record meanwhile, so the copy is
 * valid only if two reads give the same bytes. False: no valid copy. */
static bool read_whole(int fd, const char *service, char record[static RECORD + 1])
{
    bool none;
    off_t place = place_of(fd, service, &none);
    for (int i = 0; !none && i < TRIES; i++) {
        char before[RECORD];
        memcpy(before, record, RECORD);
        if (pread(fd, record, RECORD, place) != RECORD || !is_of(record, service))
            return false;
        if (i > 0 && !memcmp(before, record, RECORD))
            return true;
    }
    return false;
}

/* Copies the service's record in the file to *ret, unless *ret, which this process remembered, is
 * later. The file must belong to `owner`, because other users must not write these records. */
static void look_into(const char *answers, uid_t owner, const char *service, struct event_last *ret)
{
    struct stat st;
    struct event_last last = {0};
    char record[RECORD + 1] = "";
    FREE_AUTO char *path = path_beside(answers);
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
    if (fd >= 0 && !fstat(fd, &st) && !file_fault(&st, STATE_RECORDS_MOST) && st.st_uid == owner &&
        read_whole(fd, service, record) && read_record(record, &last) && last.when >= ret->when)
        *ret = last;
    if (fd >= 0)
        close(fd);
}

static void look_into_memory(const char *service, struct event_last *ret)
{
    struct event_last last = {0};
    char record[RECORD + 1] = "";
    lock_take(&lock);
    const char *found = find(remembered, remembered_size, service);
    if (found)
        memcpy(record, found, RECORD);
    lock_release(&lock);
    if (found && read_record(record, &last) && last.when > ret->when)
        *ret = last;
}

bool event_last(const char *service, struct event_last *ret)
{
    *ret = (struct event_last){0};
    place_machine(); /* reports refused variables now, if that was not done yet */
    look_into_memory(service, ret);
    look_into(place_answers(), geteuid(), service, ret);
    if (geteuid() != 0 && !place_events())
        look_into(PLACE_ANSWERS_OF_ROOT, 0, service, ret);
    return ret->when != 0;
}

void event_last_forget(void)
{
    lock_take(&lock);
    remembered_size = 0;
    lock_release(&lock);
}
