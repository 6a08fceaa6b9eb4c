/* SPDX-License-Identifier: MIT */
/*
 * Creates captures of all formats, and writes CSV and TSV as PDH does.
 *
 * Only whole lines are passed to write(). If write() accepts only a part of them, everything after
 * the last complete line is removed. So a writer that ends unexpectedly leaves at most one
 * incomplete line, which the next writer that appends removes. (docs/windows/pdh.md#f8)
 */
#include "log/formats/zst.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

enum { LINES_BYTES = 64 << 10 };

/* ---- lines ---- */

/* Returns the length of the character at `at` if it is a control character or one that changes the
 * direction of text; 0: it is neither. */
static size_t control_length(const unsigned char *at)
{
    if (*at < ' ' || *at == 0x7F)
        return 1;
    if (*at == 0xC2 && at[1] < 0xA0)
        return at[1] ? 2 : 1;
    bool moves = *at == 0xE2 && ((at[1] == 0x80 && at[2] >= 0xA8 && at[2] <= 0xAE) ||
                                 (at[1] == 0x81 && at[2] >= 0xA6 && at[2] <= 0xA9));
    return moves ? 3 : 0;
}

/* Adds the zone's name. For a terminal control characters are replaced, because the name may come
 * from a malicious capture. */
static void add_zone(struct buffer *line, const char *zone, bool terminal)
{
    while (*zone) {
        size_t length = terminal ? control_length((const unsigned char *)zone) : 0;
        buffer_add_byte(line, length ? ' ' : *zone);
        zone += length ? length : 1;
    }
}

static void add_header(const struct log_header *header, struct csv *csv)
{
    BUFFER_AUTO zone = {0};
    if (header->zone) {
        buffer_add_text(&zone, " (");
        add_zone(&zone, header->zone, header->terminal);
        buffer_printf(&zone, ")(%d)", header->bias);
    }
    csv->lines.failed |= zone.failed;
    csv_head(csv, zone.data ? zone.data : "");
    for (size_t i = 0; i < header->count; i++)
        csv_name(csv, header->paths[i]);
    if (header->caption)
        csv_name(csv, header->caption);
    csv_end(csv);
}

/* ---- passing lines to the system ---- */

LSTATUS write_status(int error)
{
    bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
    return full ? ERROR_DISK_FULL : status_from_errno(error);
}

/* Called after a failed write: truncates the file after its last complete line. `done`: how many of
 * `bytes` were written. Sets and returns writer->failed. */
static PDH_STATUS take_back(struct log_writer *writer, const char *bytes, size_t done)
{
    LSTATUS status = write_status(errno);
    size_t whole = done;
    while (whole > 0 && bytes[whole - 1] != '\n')
        whole--;
    writer->written += whole;
    off_t end = writer->plain ? lseek(writer->fd, 0, SEEK_CUR) : -1;
    if (end >= (off_t)(done - whole))
        (void)!ftruncate(writer->fd, end - (off_t)(done - whole));
    return writer->failed = (PDH_STATUS)status;
}

static PDH_STATUS hand_on(struct log_writer *writer)
{
    size_t done = 0, size = writer->csv.lines.len;
    const char *bytes = writer->csv.lines.data;
    if (writer->csv.lines.failed)
        return writer->failed = (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    while (done < size) {
        ssize_t count = write(writer->fd, bytes + done, size - done);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return take_back(writer, bytes, done);
        done += (size_t)count;
    }
    writer->written += size;
    buffer_clear(&writer->csv.lines);
    return 0;
}

PDH_STATUS log_flush(struct log_writer *writer)
{
    if (writer->failed)
        return writer->failed;
    return writer->binary ? binary_flush(writer) : hand_on(writer);
}

PDH_STATUS log_write(struct log_writer *writer, LONGLONG time, const double *numbers,
                     const char *const *texts, const char *caption)
{
    if (writer->failed)
        return writer->failed;
    struct csv *csv = &writer->csv;
    csv_time(csv, time);
    for (size_t i = 0; i < writer->count; i++)
        if (texts && texts[i])
            csv_text(csv, texts[i]);
        else
            csv_number(csv, numbers[i]);
    if (writer->caption)
        csv_name(csv, caption ? caption : "");
    csv_end(csv);
    return !csv->lines.failed && csv->lines.len < LINES_BYTES ? 0 : hand_on(writer);
}

uint64_t log_written_bytes(const struct log_writer *writer)
{
    return writer->written + writer->csv.lines.len;
}

PDH_STATUS log_write_close(struct log_writer *writer)
{
    PDH_STATUS status = writer->binary ? binary_end(writer) : log_flush(writer);
    if (!status && writer->compressed)
        status = zst_write(writer->fd, writer->compressed);
    free(writer->compressed);
    if (close(writer->fd) != 0 && !status)
        status = (PDH_STATUS)write_status(errno);
    buffer_done(&writer->csv.lines);
    free(writer);
    return status;
}

/* ---- creating ---- */

static PDH_STATUS refuse(struct buffer *problem, const char *path, PDH_STATUS status,
                         const char *message)
{
    const char *name = strcmp(path, "-") == 0 ? "standard output" : path;
    if (problem)
        buffer_printf(problem, "%s: %s", name, message);
    return status;
}

/* Reports that the file cannot be opened; errno is the reason. */
static PDH_STATUS refuse_open(struct buffer *problem, const char *path)
{
    if (errno == EEXIST)
        return refuse(problem, path, (PDH_STATUS)PDH_FILE_ALREADY_EXISTS, "exists already");
    LSTATUS status = status_from_errno(errno);
    if (status == ERROR_ACCESS_DENIED)
        return refuse(problem, path, (PDH_STATUS)PDH_ACCESS_DENIED,
                      "cannot be written: access denied");
    BUFFER_AUTO message = {0};
    bool lost = status == ERROR_FILE_NOT_FOUND || status == ERROR_PATH_NOT_FOUND;
    buffer_printf(&message, "cannot be written: %s", lost ? "no such folder" : status_text(status));
    return refuse(problem, path, (PDH_STATUS)PDH_LOG_FILE_CREATE_ERROR,
                  message.data ? message.data : "cannot be written");
}

/* Two writers of one file would destroy each other's samples, so a writer locks its file until it
 * closes it. */
static PDH_STATUS open_target(const char *path, enum log_create_mode mode, int *ret,
                              struct buffer *problem)
{
    int flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY | (mode == LOG_CREATE_NEW ? O_EXCL : 0);
    struct stat st;
    if (strcmp(path, "-") == 0) {
        *ret = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
        return *ret >= 0 ? 0 : refuse_open(problem, path);
    }
    *ret = open(path, flags, 0666);
    if (*ret < 0 && errno == ENXIO) /* ENXIO means a pipe without a reader, or a device */
        *ret = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (*ret < 0)
        return refuse_open(problem, path);
    if (fstat(*ret, &st) || !S_ISREG(st.st_mode))
        return 0;
    PDH_STATUS status = 0;
    if (flock(*ret, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
        status = refuse(problem, path, (PDH_STATUS)PDH_LOG_FILE_OPEN_ERROR,
                        "another program is writing it");
    else if (mode == LOG_CREATE_ALWAYS && ftruncate(*ret, 0))
        status = refuse_open(problem, path);
    if (status)
        close(*ret);
    return status;
}

/* Returns the length of the file up to its last newline. */
static off_t whole_lines(int fd, off_t size)
{
    char bytes[4096];
    while (size > 0) {
        off_t start = size > (off_t)sizeof(bytes) ? size - (off_t)sizeof(bytes) : 0;
        ssize_t got = pread(fd, bytes, (size_t)(size - start), start);
        const char *newline = got > 0 ? memrchr(bytes, '\n', (size_t)got) : NULL;
        if (newline || got <= 0)
            return newline ? start + (newline - bytes) + 1 : size;
        size = start;
    }
    return 0;
}

/* True if the head of the file has the same columns; zone and bias may differ. */
static bool same_columns(int fd, const struct buffer *header, char separator)
{
    FREE_AUTO char *old = malloc(header->len + 4096);
    ssize_t got = old ? pread(fd, old, header->len + 4095, 0) : -1;
    if (got <= 0)
        return false;
    old[got] = '\0';
    const char *mine = strchr(header->data, separator), *theirs = strchr(old, separator);
    if (!mine || !theirs)
        return !mine && !theirs;
    size_t length = header->len - (size_t)(mine - header->data) - 2;
    const char *end = old + got;
    return (size_t)(end - theirs) > length && strncmp(mine, theirs, length) == 0 &&
           (theirs[length] == '\r' || theirs[length] == '\n');
}

PDH_STATUS log_set_header(struct log_writer *writer, const char *path,
                          const struct log_header *header, struct buffer *problem)
{
    off_t size = (off_t)writer->before;
    if (writer->written > writer->before && !writer->plain)
        return refuse(problem, path, (PDH_STATUS)PDH_UNMATCHED_APPEND_COUNTER,
                      "its first line is written already, and has other columns");
    if (writer->written > writer->before &&
        (ftruncate(writer->fd, size) || lseek(writer->fd, size, SEEK_SET) != size))
        return writer->failed = (PDH_STATUS)write_status(errno);
    writer->written = writer->before;
    writer->count = header->count;
    buffer_clear(&writer->csv.lines);
    if (!header->count && size > 0)
        return 0;
    add_header(header, &writer->csv);
    if (size == 0)
        return writer->csv.lines.failed ? (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE : 0;
    bool same = same_columns(writer->fd, &writer->csv.lines, writer->csv.separator);
    buffer_clear(&writer->csv.lines);
    if (!same)
        return refuse(problem, path, (PDH_STATUS)PDH_UNMATCHED_APPEND_COUNTER,
                      "it has other columns: nothing was appended");
    if (ftruncate(writer->fd, size) != 0 || lseek(writer->fd, size, SEEK_SET) != size)
        return refuse(problem, path, (PDH_STATUS)PDH_LOG_FILE_CREATE_ERROR,
                      status_text(status_from_errno(errno)));
    return 0;
}

static PDH_STATUS begin(struct log_writer *writer, const char *path, enum log_create_mode mode,
                        const struct log_header *header, struct buffer *problem)
{
    struct stat st;
    writer->plain = fstat(writer->fd, &st) == 0 && S_ISREG(st.st_mode);
    off_t size = writer->plain && mode == LOG_CREATE_APPEND ? st.st_size : 0;
    if (header->kind == LOG_BINARY) {
        const char *message = NULL;
        PDH_STATUS status = binary_create(writer, path, (uint64_t)size, header, &message);
        return message ? refuse(problem, path, status, message) : status;
    }
    writer->before = (uint64_t)(size > 0 ? whole_lines(writer->fd, size) : 0);
    PDH_STATUS status = log_set_header(writer, path, header, problem);
    /* if there are no columns yet, the header is written with the first line */
    return status || !header->count ? status : hand_on(writer);
}

/* Opens the file for the BLG that will be compressed to `path`. */
static PDH_STATUS open_plain(struct log_writer *writer, const char *path, enum log_create_mode mode,
                             const struct log_header *header, struct buffer *problem)
{
    const char *message = header->kind != LOG_BINARY ? "only BLG is compressed"
                          : mode == LOG_CREATE_APPEND || header->most_bytes
                              ? "a compressed capture is written once, as a whole: it can "
                                "neither be appended to nor be circular"
                              : NULL;
    if (message)
        return refuse(problem, path, (PDH_STATUS)PDH_INVALID_ARGUMENT, message);
    if (!zst_library())
        return refuse(problem, path, (PDH_STATUS)PDH_LOG_FILE_CREATE_ERROR, ZST_MISSING);
    if (mode == LOG_CREATE_NEW && access(path, F_OK) == 0)
        return refuse(problem, path, (PDH_STATUS)PDH_FILE_ALREADY_EXISTS, "exists already");
    writer->compressed = strdup(path);
    writer->fd = writer->compressed ? zst_open_plain(path) : -1;
    return writer->fd >= 0 ? 0 : refuse_open(problem, path);
}

PDH_STATUS log_create(const char *path, enum log_create_mode mode, const struct log_header *header,
                      struct log_writer **ret, struct buffer *problem)
{
    struct log_writer *writer = calloc(1, sizeof(*writer));
    if (!writer)
        return (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    writer->csv = (struct csv){.separator = header->kind == LOG_TSV ? '\t' : ',',
                               .none = " ",
                               .quote = "'",
                               .end = "\r\n"};
    writer->caption = header->caption != NULL;
    writer->count = header->count;
    PDH_STATUS status = log_is_zst(path) ? open_plain(writer, path, mode, header, problem)
                                         : open_target(path, mode, &writer->fd, problem);
    if (status) {
        free(writer->compressed);
        free(writer);
        return status;
    }
    status = begin(writer, path, mode, header, problem);
    if (status) {
        if ((DWORD)status == ERROR_DISK_FULL)
            refuse(problem, path, status, "the disk is full");
        writer->failed = status;
        log_write_close(writer);
        return status;
    }
    *ret = writer;
    return 0;
}
