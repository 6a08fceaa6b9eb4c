/* SPDX-License-Identifier: MIT */
/*
 * When each provider answered last, and how long it took: one line of text per provider, in a file
 * that does not survive a reboot. A query records an answer by two stores to memory; once a second
 * the program writes new records to the file. The file is not mapped, because a process that
 * truncates it would crash every program that has it mapped.
 *
 *     2026-11-22T16:22:43.123Z   1234567.8 us PerfOS
 *
 * The time and duration have a fixed width and are overwritten in place; lines are appended, but
 * never moved. So programs need no lock: if two append the same line at once, both lines stay and
 * the later time counts.
 */
#include "host/host.h"
#include "host/internal.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { FIXED_CHARS = 42, NAME_BYTES = 4 * LIMIT_KEY_NAME, TRIES = 8 };
static const int64_t write_every = CLOCK_TICKS_PER_SECOND;
static const int64_t refused_for = 60 * (int64_t)CLOCK_TICKS_PER_SECOND;

/* ---- a line ---- */

static void write_line(const struct heard *heard, char line[static FIXED_CHARS + 1])
{
    enum { LONGEST = 999999999 };
    SYSTEMTIME utc;
    int64_t took = atomic_load_explicit(&heard->took, memory_order_relaxed);
    took = took > LONGEST ? LONGEST : took;
    clock_systemtime(atomic_load_explicit(&heard->when, memory_order_relaxed), &utc);
    snprintf(line, FIXED_CHARS + 1, "%04u-%02u-%02uT%02u:%02u:%02u.%03uZ %11u.%u us ",
             utc.wYear % 10000u, utc.wMonth % 100u, utc.wDay % 100u, utc.wHour % 100u,
             utc.wMinute % 100u, utc.wSecond % 100u, utc.wMilliseconds % 1000u,
             (unsigned)took / 10 % 100000000u, (unsigned)took % 10);
}

static bool read_line(const char *line, struct host_answer *ret)
{
    SYSTEMTIME utc = {0}, again;
    int64_t us;
    unsigned tenth;
    char zone;
    if (sscanf(line, "%4hu-%2hu-%2huT%2hu:%2hu:%2hu.%3hu%c %11" SCNd64 ".%1u us ", &utc.wYear,
               &utc.wMonth, &utc.wDay, &utc.wHour, &utc.wMinute, &utc.wSecond, &utc.wMilliseconds,
               &zone, &us, &tenth) != 10 ||
        zone != 'Z' || us < 0)
        return false;
    ret->when = clock_filetime_from(&utc);
    ret->took = us * 10 + tenth;
    clock_systemtime(ret->when, &again); /* rejects an invalid date, such as month 99 */
    return again.wMonth == utc.wMonth && again.wDay == utc.wDay && again.wSecond == utc.wSecond;
}

/* Returns the next line of a service in [cursor, end), or NULL. */
static const char *find_line(const char *cursor, const char *end, const char *service)
{
    size_t length = strlen(service);
    const char *newline;
    for (; cursor < end && (newline = memchr(cursor, '\n', (size_t)(end - cursor)));
         cursor = newline + 1)
        if (newline - cursor > FIXED_CHARS &&
            !text_compare_fold_n(cursor + FIXED_CHARS, (size_t)(newline - cursor) - FIXED_CHARS,
                                 service, length))
            return cursor;
    return NULL;
}

/* ---- writing ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int64_t next_write;

struct answers_update {
    int fd;
    /* `text`: content of the file, read only if a line is not at its known offset; `added`: lines
     * to append */
    struct buffer text, added;
};

/* True if the service's line is still at its known offset: another program may have replaced the
 * file. */
static bool is_there(int fd, const struct service *service)
{
    char line[FIXED_CHARS + NAME_BYTES + 1];
    size_t length = strlen(service->name) + FIXED_CHARS + 1;
    return length <= sizeof(line) &&
           pread(fd, line, length, service->code->heard.place) == (ssize_t)length &&
           find_line(line, line + length, service->name) == line;
}

static bool find_place(struct answers_update *writing, const struct service *service)
{
    struct buffer *text = &writing->text;
    if (!text->data && (lseek(writing->fd, 0, SEEK_SET) || file_read_fd(writing->fd, text)))
        return false;
    const char *line =
        text->len ? find_line(text->data, text->data + text->len, service->name) : NULL;
    service->code->heard.place = line ? line - text->data : 0;
    return line != NULL;
}

static void write_one(struct answers_update *writing, const struct service *service)
{
    struct heard *heard = &service->code->heard;
    int64_t when = atomic_load_explicit(&heard->when, memory_order_relaxed);
    char line[FIXED_CHARS + 1];
    if (when == heard->written)
        return;
    heard->written = when;
    write_line(heard, line);
    if (is_there(writing->fd, service) || find_place(writing, service)) {
        if (file_write_limited(writing->fd, line, FIXED_CHARS, heard->place) != FIXED_CHARS)
            trace("host", "%s: its answer could not be recorded", service->name);
    } else if (!strchr(service->name, '\n')) {
        const struct buffer *text = &writing->text; /* the file's last line may lack its newline */
        bool torn = text->len && text->data[text->len - 1] != '\n' && !writing->added.len;
        buffer_printf(&writing->added, "%s%s%s\n", torn ? "\n" : "", line, service->name);
    }
}

static void write_added(const struct answers_update *writing)
{
    const struct buffer *added = &writing->added;
    if (added->len && !added->failed && writing->text.len + added->len <= STATE_RECORDS_MOST &&
        fcntl(writing->fd, F_SETFL, O_APPEND) == 0 &&
        file_write_limited(writing->fd, added->data, added->len, -1) != (ssize_t)added->len)
        trace("host", "answers could not be recorded");
}

static bool anything_new(const struct service_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct library *code = table->services[i].code;
        if (code &&
            atomic_load_explicit(&code->heard.when, memory_order_relaxed) != code->heard.written)
            return true;
    }
    return false;
}

void answers_write(const struct service_table *table, bool last)
{
    int64_t now = clock_ticks();
    if (!last && now < atomic_load(&next_write))
        return;
    const char *path = place_answers();
    if (!path)
        return;
    lock_take(&lock);
    if (anything_new(table)) {
        struct answers_update writing = {
            .fd = file_open_to_write(AT_FDCWD, path, STATE_RECORDS_MOST, !place_events())};
        for (size_t i = 0; writing.fd >= 0 && i < table->count; i++)
            if (table->services[i].code)
                write_one(&writing, &table->services[i]);
        atomic_store(&next_write, now + (writing.fd < 0 ? refused_for : write_every));
        if (writing.fd >= 0) {
            write_added(&writing);
            close(writing.fd);
        }
        buffer_done(&writing.text);
        buffer_done(&writing.added);
    }
    lock_release(&lock);
}

/* ---- reading ---- */

/* Reads the whole file. Another program may overwrite it meanwhile, so the copy is valid only if
 * two reads give the same bytes. */
static LSTATUS read_whole(int fd, struct buffer *ret)
{
    BUFFER_AUTO again = {0};
    LSTATUS status = file_read_fd(fd, ret);
    for (int i = 0; !status && i < TRIES; i++) {
        status = lseek(fd, 0, SEEK_SET) ? ERROR_READ_FAULT : file_read_fd(fd, &again);
        if (!status && again.len == ret->len && !memcmp(again.data, ret->data, ret->len))
            return ERROR_SUCCESS;
        struct buffer other = *ret;
        *ret = again;
        again = other;
    }
    return status ? status : ERROR_BUSY;
}

/* Copies the service's time and duration in the file to *ret if that time is later than the one in
 * *ret. The file must belong to `owner`, because other users must not write these times. */
static void look_into(const char *path, uid_t owner, const char *service, struct host_answer *ret)
{
    BUFFER_AUTO text = {0};
    struct stat st;
    struct host_answer answer = {0};
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
    bool sound = fd >= 0 && !fstat(fd, &st) && !file_fault(&st, STATE_RECORDS_MOST) &&
                 st.st_uid == owner && !read_whole(fd, &text) && text.len;
    const char *line = sound ? text.data : "", *end = line + (sound ? text.len : 0);
    for (; sound && (line = find_line(line, end, service)); line = strchr(line, '\n') + 1)
        if (read_line(line, &answer) && answer.when > ret->when)
            *ret = (struct host_answer){answer.when, answer.took, owner == 0};
    if (fd >= 0)
        close(fd);
}

/* Like look_into, for the answers to this process, which may not be able to write the file. */
static void look_into_memory(const char *service, struct host_answer *ret)
{
    struct service_table *table = service_table_last();
    for (size_t i = 0; table && i < table->count; i++) {
        struct library *code = table->services[i].code;
        int64_t when = code && text_equal_fold(table->services[i].name, service)
                           ? atomic_load_explicit(&code->heard.when, memory_order_relaxed)
                           : 0;
        if (when > ret->when)
            *ret = (struct host_answer){
                when, atomic_load_explicit(&code->heard.took, memory_order_relaxed),
                geteuid() == 0};
    }
    service_table_release(table);
}

LSTATUS host_last_answer(const char *service, struct host_answer *ret)
{
    struct host_answer latest = {0};
    look_into(place_answers(), geteuid(), service, &latest);
    if (geteuid() != 0 && !place_events())
        look_into(PLACE_ANSWERS_OF_ROOT, 0, service, &latest);
    look_into_memory(service, &latest);
    if (!latest.when)
        return ERROR_FILE_NOT_FOUND;
    *ret = latest;
    return ERROR_SUCCESS;
}
