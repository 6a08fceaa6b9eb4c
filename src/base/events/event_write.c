/* SPDX-License-Identifier: MIT */
/*
 * The logs: a file if OPENPERFLIB_ROOT is set, else journald with fields, else the socket of the
 * system log.
 *
 * syslog(3) is not used, because the program may have called openlog() with a name of its own. Each
 * event opens its file or socket and closes it again, because some programs close all descriptors
 * that they did not open. No wait here takes longer than LOCK_TRIES milliseconds.
 */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { LARGEST_FILE = 4 << 20, LOCK_TRIES = 50, SYSLOG_SIZE = 2048, FACILITY_DAEMON = 3 << 3 };

const char *event_journal_path = "/run/systemd/journal/socket";
const char *event_syslog_path = "/dev/log";

/* ---- text that is safe for a log ---- */

/* Returns the number of bytes of the character at `text`; 0: it is not valid UTF-8. */
static size_t character_at(const char *text)
{
    unsigned char first = (unsigned char)text[0], second = (unsigned char)(first ? text[1] : 0);
    size_t count = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    bool surrogate = first == 0xed && second >= 0xa0;
    if (surrogate || strnlen(text, count) != count || !utf8_valid(text, count))
        return 0;
    return count;
}

static bool is_control(const char *text)
{
    unsigned char first = (unsigned char)text[0];
    return first < ' ' || first == 0x7f || (first == 0xc2 && (unsigned char)text[1] < 0xa0);
}

/* Adds the text as valid UTF-8 without control characters; line ends stay if `lines` is true. */
static void add_clean(struct buffer *out, const char *text, bool lines)
{
    while (*text) {
        size_t count = character_at(text);
        if (!count)
            buffer_add_text(out, "\xef\xbf\xbd");
        else if (is_control(text) && !(lines && (*text == '\n' || *text == '\t')))
            buffer_add_byte(out, ' ');
        else
            buffer_add(out, text, count);
        text += count ? count : 1;
    }
}

static void add_text_and_advice(struct buffer *out, const struct event_record *record)
{
    add_clean(out, record->text, false);
    if (*record->advice) {
        buffer_add_text(out, "; ");
        add_clean(out, record->advice, false);
    }
}

/* Returns the level as a number of syslog(3): err, warning, info. */
static int level_priority(enum event_level level)
{
    return level == EVENT_ERROR ? 3 : level == EVENT_WARNING ? 4 : 6;
}

/* Moves a descriptor away from 0, 1 and 2: a program that closed these may still print, and its
 * text would go into the log. */
static int away_from_stdio(int fd)
{
    if (fd < 0 || fd > STDERR_FILENO)
        return fd;
    int moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    int saved = errno;
    close(fd);
    errno = saved;
    return moved;
}

/* ---- the file ---- */

static int open_once(const char *path)
{
    int flags = O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW;
    return away_from_stdio(open(path, flags, 0644));
}

static int open_log(const char *path)
{
    int fd = open_once(path);
    if (fd >= 0 || errno != ENOENT)
        return fd;
    char folder[4096];
    if (strlen(path) >= sizeof folder)
        return -1;
    strcpy(folder, path);
    file_make_folders(dirname(folder), 0755);
    return open_once(path);
}

bool event_lock(int fd)
{
    const struct timespec moment = {0, 1000000};
    for (int i = 0; i < LOCK_TRIES; i++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0)
            return true;
        if (errno != EWOULDBLOCK && errno != EINTR)
            return false;
        nanosleep(&moment, NULL);
    }
    return false;
}

static bool is_the_file(const char *path, const struct stat *ret)
{
    struct stat named;
    return lstat(path, &named) == 0 && named.st_ino == ret->st_ino && named.st_dev == ret->st_dev;
}

/* Renames the full file to .old. If it may not be renamed, it is truncated, because new events are
 * more important than old ones. Returns whether `path` must be opened again. */
static bool turn_over(int fd, const char *path)
{
    FREE_AUTO char *old = text_format("%s.old", path);
    if (old && rename(path, old) == 0)
        return true;
    return ftruncate(fd, 0) != 0;
}

/* Opens the log and locks it if possible; a log that has no space for `length` more bytes is
 * renamed first. *ret receives its stat data. Returns -1 and errno if it cannot be opened or is not
 * ours. */
static int open_with_capacity(const char *path, size_t length, struct stat *ret, bool *ret_locked)
{
    for (int tries = 0;; tries++) {
        int fd = open_log(path);
        if (fd < 0)
            return -1;
        if (fstat(fd, ret) || file_fault(ret, STATE_EVENTS_MOST)) {
            close(fd);
            errno = EACCES;
            return -1;
        }
        *ret_locked = event_lock(fd) && fstat(fd, ret) == 0;
        bool same = is_the_file(path, ret);
        bool full = ret->st_size + (off_t)length > LARGEST_FILE;
        if (!*ret_locked || tries == 3 || (same && !full))
            return fd;
        if (same && ret->st_size > 0 && !turn_over(fd, path)) {
            ret->st_size = 0;
            return fd;
        }
        close(fd);
    }
}

/* Appends the line in one write, so that lines of several processes are not mixed. If the disk is
 * full, the part that was written is removed if no other process can have written meanwhile. */
static LSTATUS append(int fd, const char *line, size_t length, const struct stat *before,
                      bool locked)
{
    ssize_t written;
    do
        written = file_write_limited(fd, line, length, -1);
    while (written < 0 && errno == EINTR);
    if (written < 0)
        return status_from_errno(errno);
    if ((size_t)written == length)
        return ERROR_SUCCESS;
    if (locked && ftruncate(fd, before->st_size) == 0)
        return ERROR_DISK_FULL;
    return file_write_limited(fd, "\n", 1, -1) == 1 ? ERROR_SUCCESS : ERROR_DISK_FULL;
}

static void add_line(struct buffer *line, const struct event_record *record)
{
    char when[32];
    time_t now = time(NULL);
    struct tm utc;
    strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ\t", gmtime_r(&now, &utc));
    buffer_add_text(line, when);
    add_clean(line, record->source, false);
    buffer_printf(line, "\t%u\t%s\t", record->id, event_level_name(record->level));
    add_clean(line, record->service, false);
    buffer_add_byte(line, '\t');
    add_text_and_advice(line, record);
    buffer_add_byte(line, '\n');
}

static LSTATUS write_file(const struct event_record *record, const char *path)
{
    BUFFER_AUTO line = {0};
    struct stat before = {0};
    bool locked = false;
    add_line(&line, record);
    if (line.failed)
        return ERROR_NOT_ENOUGH_MEMORY;
    int fd = open_with_capacity(path, line.len, &before, &locked);
    if (fd < 0)
        return status_from_errno(errno);
    LSTATUS status = append(fd, line.data, line.len, &before, locked);
    if (locked)
        /* unlocks the file, because closing it is not enough: a child that the program forked
         * meanwhile may have a copy of fd */
        flock(fd, LOCK_UN);
    close(fd);
    return status;
}

/* ---- sockets ---- */

/* Sends a message to the socket `path`, with the descriptor `pass_fd` unless that is -1. Returns 0
 * or an errno. */
static int send_to(const char *path, int kind, const void *data, size_t size, int pass_fd)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char control[CMSG_SPACE(sizeof(int))] __attribute__((aligned(sizeof(size_t)))) = {0};
    struct iovec part = {(void *)data, size};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = size > 0};
    if (strlen(path) >= sizeof address.sun_path)
        return ENAMETOOLONG;
    strcpy(address.sun_path, path);
    if (pass_fd >= 0) {
        message.msg_control = control;
        message.msg_controllen = sizeof control;
        struct cmsghdr *head = CMSG_FIRSTHDR(&message);
        *head = (struct cmsghdr){CMSG_LEN(sizeof pass_fd), SOL_SOCKET, SCM_RIGHTS};
        memcpy(CMSG_DATA(head), &pass_fd, sizeof pass_fd);
    }
    int fd = away_from_stdio(socket(AF_UNIX, kind | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (fd < 0)
        return errno;
    int error = connect(fd, (struct sockaddr *)&address, sizeof address) ? errno : 0;
    if (!error && sendmsg(fd, &message, MSG_NOSIGNAL) < 0)
        error = errno;
    close(fd);
    return error;
}

/* ---- journald: https://systemd.io/JOURNAL_NATIVE_PROTOCOL ---- */

/* Adds NAME=value; if the value has several lines: the name, a binary length, and the value. */
static void add_field(struct buffer *entry, const char *name, const char *value)
{
    BUFFER_AUTO clean = {0};
    add_clean(&clean, value, true);
    buffer_add_text(entry, name);
    if (clean.data && memchr(clean.data, '\n', clean.len)) {
        unsigned char length[8];
        for (size_t i = 0; i < sizeof length; i++)
            length[i] = (unsigned char)((uint64_t)clean.len >> 8 * i);
        buffer_add_byte(entry, '\n');
        buffer_add(entry, length, sizeof length);
    } else {
        buffer_add_byte(entry, '=');
    }
    buffer_add(entry, clean.data, clean.len);
    buffer_add_byte(entry, '\n');
    entry->failed |= clean.failed;
}

static void add_number(struct buffer *entry, const char *name, unsigned number)
{
    buffer_printf(entry, "%s=%u\n", name, number);
}

void event_add_fields(struct buffer *entry, const struct event_field *field)
{
    char name[64], number[32];
    for (; field && field->name; field++) {
        const char *format = field->style == EVENT_AS_HEX ? "0x%llx" : "%llu";
        snprintf(number, sizeof number, format, (unsigned long long)field->number);
        event_field_name(field->name, name);
        add_field(entry, name,
                  field->style != EVENT_AS_TEXT ? number
                  : field->text                 ? field->text
                                                : "");
    }
}

static void add_entry(struct buffer *entry, const struct event_record *record)
{
    char message_id[33];
    event_message_id(record->source, record->id, message_id);
    add_field(entry, "MESSAGE", record->text);
    add_field(entry, "MESSAGE_ID", message_id);
    add_number(entry, "PRIORITY", (unsigned)level_priority(record->level));
    buffer_add_text(entry, "SYSLOG_IDENTIFIER=openperflib\n");
    add_field(entry, "OPENPERFLIB_SOURCE", record->source);
    add_number(entry, "OPENPERFLIB_ID", record->id);
    add_field(entry, "OPENPERFLIB_LEVEL", event_level_name(record->level));
    add_field(entry, "OPENPERFLIB_SERVICE", record->service);
    if (record->repeated)
        add_number(entry, "OPENPERFLIB_REPEATED", record->repeated);
    if (record->entry)
        buffer_add(entry, record->entry->data, record->entry->len);
    event_add_fields(entry, record->fields);
}

/* Sends an entry that is too large for a datagram as the descriptor of a sealed memory file. */
static int send_as_file(const char *path, const struct buffer *entry)
{
    int fd = away_from_stdio(memfd_create("openperflib-event", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (fd < 0)
        return errno;
    size_t done = 0;
    ssize_t count = 1;
    for (; done < entry->len && count > 0; done += count > 0 ? (size_t)count : 0)
        count = file_write_limited(fd, entry->data + done, entry->len - done, -1);
    int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL;
    int error = done < entry->len || fcntl(fd, F_ADD_SEALS, seals) != 0 ? errno : 0;
    if (!error)
        error = send_to(path, SOCK_DGRAM, NULL, 0, fd);
    close(fd);
    return error;
}

static LSTATUS write_journal(const struct event_record *record)
{
    BUFFER_AUTO entry = {0};
    add_entry(&entry, record);
    if (entry.failed)
        return ERROR_NOT_ENOUGH_MEMORY;
    int error = send_to(event_journal_path, SOCK_DGRAM, entry.data, entry.len, -1);
    if (error == EMSGSIZE || error == ENOBUFS)
        error = send_as_file(event_journal_path, &entry);
    return status_from_errno(error);
}

/* ---- the system log: RFC 3164, as the C library writes it ---- */

static void add_syslog_line(struct buffer *line, const struct event_record *record)
{
    static const char months[12][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                       "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    time_t now = time(NULL);
    struct tm local;
    localtime_r(&now, &local);
    buffer_printf(line, "<%d>%s %2d %02d:%02d:%02d openperflib[%d]: ",
                  FACILITY_DAEMON | level_priority(record->level), months[local.tm_mon],
                  local.tm_mday, local.tm_hour, local.tm_min, local.tm_sec, (int)getpid());
    add_clean(line, record->source, false);
    buffer_printf(line, " %u: ", record->id);
    add_text_and_advice(line, record);
}

/* Shortens the line to SYSLOG_SIZE, because old syslog daemons do not accept longer ones. */
static void shorten(struct buffer *line)
{
    if (line->failed || line->len <= SYSLOG_SIZE)
        return;
    size_t end = SYSLOG_SIZE - 3;
    while ((line->data[end] & 0xc0) == 0x80)
        end--;
    memcpy(line->data + end, "...", 4);
    line->len = end + 3;
}

static LSTATUS write_syslog(const struct event_record *record)
{
    BUFFER_AUTO line = {0};
    add_syslog_line(&line, record);
    shorten(&line);
    if (line.failed)
        return ERROR_NOT_ENOUGH_MEMORY;
    int error = send_to(event_syslog_path, SOCK_DGRAM, line.data, line.len, -1);
    /* EPROTOTYPE: the daemon's socket is a stream, in which messages end with NUL */
    if (error == EPROTOTYPE)
        error = send_to(event_syslog_path, SOCK_STREAM, line.data, line.len + 1, -1);
    return error ? ERROR_NOT_READY : ERROR_SUCCESS;
}

LSTATUS event_write(const struct event_record *record)
{
    const char *path = place_events();
    if (path)
        return write_file(record, path);
    LSTATUS status = write_journal(record);
    return status ? write_syslog(record) : ERROR_SUCCESS;
}
