/* SPDX-License-Identifier: MIT */
/*
 * A capture: one or more files, whose samples are returned in the order of their times. One sample
 * of each file is read in advance, and the earliest of these is returned next.
 */
#include "log/inner.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const struct format *const formats[] = {&format_text, &format_binary};

PDH_STATUS status_to_pdh(LSTATUS status)
{
    switch (status) {
    case ERROR_SUCCESS:
        return 0;
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
        return (PDH_STATUS)PDH_FILE_NOT_FOUND;
    case ERROR_ACCESS_DENIED:
        return (PDH_STATUS)PDH_ACCESS_DENIED;
    case ERROR_NOT_ENOUGH_MEMORY:
        return (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    default:
        return (PDH_STATUS)PDH_LOG_FILE_OPEN_ERROR;
    }
}

/* ---- a file ---- */

PDH_STATUS file_problem(struct file *file, PDH_STATUS status, uint64_t offset, const char *format,
                        ...)
{
    char message[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    buffer_clear(&file->problem);
    buffer_printf(&file->problem, "%s: ", file->stream.name);
    if (file->line)
        buffer_printf(&file->problem, "line %llu, ", (unsigned long long)file->line);
    buffer_printf(&file->problem, "offset %llu: %s", (unsigned long long)offset, message);
    if (!file->blind)
        trace("capture", "%s", file->problem.data);
    return status;
}

PDH_STATUS file_map_add(struct file *file, uint32_t column)
{
    if (file->mapped == file->map_capacity) {
        size_t capacity = file->map_capacity ? file->map_capacity * 2 : 32;
        uint32_t *map = realloc(file->map, capacity * sizeof(*map));
        if (map)
            file->map = map;
        struct item_array *arrays = map ? realloc(file->arrays, capacity * sizeof(*arrays)) : NULL;
        if (!arrays)
            return (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
        memset(arrays + file->map_capacity, 0, (capacity - file->map_capacity) * sizeof(*arrays));
        file->arrays = arrays;
        file->map_capacity = capacity;
    }
    file->map[file->mapped++] = column;
    file->values_fresh = false;
    return 0;
}

PDH_STATUS file_make_values(struct file *file)
{
    const struct columns *columns = &file->log->columns;
    if (file->values_fresh && file->values_count == columns->count)
        return 0;
    struct log_value *values = realloc(file->values, (columns->count + 1) * sizeof(*values));
    if (!values)
        return (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    file->values = values;
    /* keep values that were already read: the new columns belong to other files */
    size_t first = file->values_fresh ? file->values_count : 0;
    for (size_t i = first; i < columns->count; i++)
        values[i] = (struct log_value){.kind = columns->list[i]->info.kind,
                                       .status = PDH_ENTRY_NOT_IN_LOG_FILE};
    file->values_count = columns->count;
    file->values_fresh = true;
    return 0;
}

void file_done(struct file *file)
{
    if (file->format)
        file->format->close(file);
    for (size_t i = 0; i < file->map_capacity; i++) {
        buffer_done(&file->arrays[i].text);
        buffer_done(&file->arrays[i].raw);
        free(file->arrays[i].items);
    }
    free(file->arrays);
    free(file->marks.list);
    free(file->map);
    free(file->values);
    buffer_done(&file->problem);
    stream_done(&file->stream);
}

static bool looks_like_text(const unsigned char *start, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (start[i] < ' ' && !strchr("\t\r\n", start[i]))
            return false;
    return memchr(start, ',', size) || memchr(start, '\t', size) || memchr(start, '"', size);
}

/* If the file is compressed, makes its stream return decompressed bytes. */
static PDH_STATUS decompress(struct file *file)
{
    size_t got;
    const unsigned char *start = stream_at(&file->stream, 0, 4, &got);
    LSTATUS status = start && zst_matches(start, got)
                         ? stream_decompress(&file->stream, &file->log->decoder)
                         : 0;
    if (!status)
        return 0;
    return file_problem(file, status_to_pdh(status), 0, "%s",
                        status == ERROR_MOD_NOT_FOUND ? ZST_MISSING
                        : status == ERROR_NOT_SUPPORTED
                            ? "it was compressed with a window of more than 8 MiB (zstd --long); "
                              "decompress it first"
                            : status_text(status));
}

static PDH_STATUS find_format(struct file *file)
{
    size_t got = 0;
    bool text = false;
    PDH_STATUS status = decompress(file);
    if (status)
        return status;
    for (size_t i = 0; i < COUNT(formats) && !file->format; i++) {
        /* request only as much as the format needs, because a pipe may not have more yet */
        const unsigned char *start = stream_at(&file->stream, 0, formats[i]->needs, &got);
        if (!start)
            return file_problem(file, status_to_pdh(file->stream.status), 0, "cannot be read: %s",
                                file->stream.zst
                                    ? "the first frame, which has the capture's head, is damaged"
                                    : status_text(file->stream.status));
        text |= got && looks_like_text(start, got);
        if (formats[i]->matches(start, got))
            file->format = formats[i];
    }
    if (file->format && file->stream.zst && file->format->kind != LOG_BINARY)
        return file_problem(file, (PDH_STATUS)PDH_UNKNOWN_LOG_FORMAT, 0,
                            "only BLG is read from a compressed file; decompress it first");
    if (file->format)
        return 0;
    return file_problem(
        file, (PDH_STATUS)PDH_UNKNOWN_LOG_FORMAT, 0,
        text ? "it looks like CSV or TSV, but its first line does not start with \"(PDH-CSV 4.0)\" "
               "or "
               "\"(PDH-TSV 4.0)\" followed by the paths of the counters"
        : got ? "neither CSV, TSV nor BLG as perfmon, logman, typeperf and relog write them"
              : "the file is empty: nothing was written yet");
}

/* Reads the file's next sample; if there are no more samples, sets file->ended. */
static void file_advance(struct file *file)
{
    if (file->pending)
        return;
    file->ended = file_next_wanted(file);
    file->pending = file->ended == 0;
}

PDH_STATUS log_open_file(struct log *log, struct file *file, LSTATUS opened)
{
    file->log = log;
    const char *kind = opened == ERROR_ACCESS_DENIED ? file_kind(file->stream.name) : NULL;
    if (opened) /* this may be a folder, for which "access denied" would be misleading */
        return file_problem(file, status_to_pdh(opened), 0, "%s",
                            kind ? kind : status_text(opened));
    PDH_STATUS found = find_format(file);
    if (found)
        return found;
    file->facts.kind = file->format->kind;
    found = file->format->open(file);
    if (!found)
        file_advance(file);
    return found;
}

/* ---- opening ---- */

static void set_facts(struct log *log)
{
    struct file *first = &log->files[0];
    log->facts = first->facts;
    log->facts.name = first->stream.name;
    if (!log->facts.zone)
        log->facts.zone = "";
    if (log->columns.count)
        log->facts.machine = log->columns.list[0]->info.machine;
    for (size_t i = 1; i < log->file_count; i++) {
        const struct log_facts *more = &log->files[i].facts;
        log->facts.kind = log->facts.kind == LOG_BINARY ? more->kind : log->facts.kind;
        log->facts.caption = log->facts.caption ? log->facts.caption : more->caption;
    }
}

static void describe(const struct file *file, struct buffer *problem)
{
    if (problem && file->problem.len)
        buffer_printf(problem, "%s%s", problem->len ? "\n" : "", file->problem.data);
}

bool log_make_files(struct log *log, size_t count)
{
    log->files = calloc(count, sizeof(*log->files));
    for (size_t i = 0; log->files && i < count; i++)
        log->files[i].stream = (struct stream){.fd = -1, .pipe = -1};
    return log->files;
}

static struct log *log_new(size_t count)
{
    struct log *log = calloc(1, sizeof(*log));
    if (log && !log_make_files(log, count)) {
        free(log);
        return NULL;
    }
    return log;
}

/* Adds a file; `opened` is the status with which its stream was opened. */
static PDH_STATUS add_file(struct log *log, LSTATUS opened, struct buffer *problem)
{
    struct file *file = &log->files[log->file_count++];
    PDH_STATUS status = log_open_file(log, file, opened);
    describe(file, problem);
    return status;
}

static PDH_STATUS add_fd(struct log *log, int fd, const char *name, struct buffer *problem)
{
    return add_file(log, stream_open(&log->files[log->file_count].stream, fd, name), problem);
}

static PDH_STATUS finish_open(struct log *log, PDH_STATUS status, struct log **ret)
{
    if (status) {
        log_close(log);
        return status;
    }
    set_facts(log);
    *ret = log;
    return 0;
}

PDH_STATUS log_open_fd(int fd, const char *name, struct log **ret, struct buffer *problem)
{
    struct log *log = log_new(1);
    if (!log) {
        close(fd);
        return (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    }
    return finish_open(log, add_fd(log, fd, name, problem), ret);
}

PDH_STATUS log_open_bytes(const void *bytes, size_t size, const char *name, struct log **ret,
                          struct buffer *problem)
{
    struct log *log = log_new(1);
    if (!log)
        return (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    LSTATUS opened = stream_open_bytes(&log->files[0].stream, bytes, size, name);
    return finish_open(log, add_file(log, opened, problem), ret);
}

static PDH_STATUS open_path(struct log *log, const char *path, struct buffer *problem)
{
    bool standard = strcmp(path, "-") == 0;
    int fd = standard ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                      : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd >= 0)
        return add_fd(log, fd, standard ? "standard input" : path, problem);
    LSTATUS status = status_from_errno(errno);
    const char *message = captures_are_meant(path)
                              ? "a set of logman is not read together with other captures; name "
                                "its files instead"
                          : status == ERROR_FILE_NOT_FOUND ? "no such file"
                                                           : status_text(status);
    if (problem)
        buffer_printf(problem, "%s%s: %s", problem->len ? "\n" : "", path, message);
    trace("capture", "%s: %s", path, message);
    return status_to_pdh(status);
}

PDH_STATUS log_open(const char *const *paths, size_t count, struct log **ret,
                    struct buffer *problem)
{
    if (count == 0)
        return (PDH_STATUS)PDH_INVALID_ARGUMENT;
    if (count == 1 && captures_are_meant(paths[0]))
        return captures_open(paths[0], ret, problem);
    struct log *log = log_new(count);
    PDH_STATUS status = log ? 0 : (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    for (size_t i = 0; i < count && !status; i++)
        status = open_path(log, paths[i], problem);
    return finish_open(log, status, ret);
}

void log_close(struct log *log)
{
    if (!log)
        return;
    for (size_t i = 0; i < log->file_count; i++)
        file_done(&log->files[i]);
    for (size_t i = 0; i < log->name_count; i++)
        names_done(&log->names[i]);
    zst_decoder_free(log->decoder);
    captures_free(log->set);
    free(log->names);
    free(log->files);
    columns_done(&log->columns);
    buffer_done(&log->problem);
    free(log);
}

/* ---- facts ---- */

const struct log_facts *log_facts(struct log *log)
{
    log->facts.size_bytes = 0;
    for (size_t i = 0; i < log->file_count; i++)
        log->facts.size_bytes +=
            log->set ? log->set->files[i].size : stream_file_size(&log->files[i].stream);
    return &log->facts;
}

size_t log_columns(const struct log *log)
{
    return log->columns.count;
}

const struct log_column *log_column(const struct log *log, size_t number)
{
    return number < log->columns.count ? &log->columns.list[number]->info : NULL;
}

void log_want(struct log *log, size_t column, bool wanted)
{
    if (column < log->columns.count)
        log->columns.list[column]->unwanted = !wanted;
}

const char *log_problem(const struct log *log)
{
    return log->problem.len ? log->problem.data : NULL;
}

struct log_losses *log_losses(struct log *log)
{
    return &log->losses;
}

/* ---- reading ---- */

/* Returns the file with the earliest sample; NULL: no file has one. */
static struct file *earliest(struct log *log)
{
    struct file *found = NULL;
    for (size_t i = 0; i < log->file_count; i++) {
        struct file *file = &log->files[i];
        if (file->pending && (!found || file->sample.time < found->sample.time))
            found = file;
    }
    return found;
}

/* Returns the status of a damaged file that was not reported yet, and marks it as reported; 0: no
 * such file. */
static PDH_STATUS describe_damage(struct log *log)
{
    for (size_t i = 0; i < log->file_count; i++) {
        struct file *file = &log->files[i];
        PDH_STATUS status = file->ended;
        if (!status || (DWORD)status == PDH_NO_MORE_DATA)
            continue;
        describe(file, &log->problem);
        buffer_clear(&file->problem);
        file->ended = 0;
        log->last = NULL; /* so that no rate is computed over damaged data */
        return status;
    }
    return 0;
}

static PDH_STATUS at_end(struct log *log)
{
    for (size_t i = 0; i < log->file_count; i++)
        describe(&log->files[i], &log->problem);
    return (PDH_STATUS)PDH_NO_MORE_DATA;
}

static void advance_all(struct log *log, bool ended_too)
{
    for (size_t i = 0; i < log->file_count; i++) {
        struct file *file = &log->files[i];
        if (!file->format || file->pending || (file->ended && !ended_too))
            continue;
        buffer_clear(&file->problem);
        file_advance(file);
    }
}

/* Reads a sample of each file. Of a set, the files are opened that may have the next one. */
static void advance_files(struct log *log)
{
    advance_all(log, false);
    while (log->set) {
        const struct file *file = earliest(log);
        LONGLONG next = captures_next_time(log),
                 least = file ? file->sample.time + MERGE_SPAN : next;
        captures_advance(log, least);
        if (next > least || next == INT64_MAX)
            return;
        advance_all(log, false);
    }
}

/* Takes the earliest of the files' samples; *ret is its file. */
static PDH_STATUS take_next(struct log *log, struct file **ret)
{
    advance_files(log);
    PDH_STATUS status = describe_damage(log);
    if (status)
        return status;
    struct file *file = earliest(log);
    if (!file) { /* more samples may have been written since the last call: try again */
        advance_all(log, true);
        status = describe_damage(log);
        file = earliest(log);
    }
    if (status || !file)
        return status ? status : at_end(log);
    file->pending = false;
    *ret = file;
    return 0;
}

static bool in_range(const struct log *log, LONGLONG time)
{
    return (!log->from || time >= log->from) && (!log->until || time <= log->until);
}

static bool is_early(const struct log *log, LONGLONG time)
{
    return log->early && log->from && time < log->from;
}

/* ---- samples of several files as one ---- */

enum { ZONE_NAMED = 68 }; /* bytes of Bias and StandardName in a TIME_ZONE_INFORMATION */

static bool lacks(const struct file *file, size_t column)
{
    return file->values[column].status == PDH_ENTRY_NOT_IN_LOG_FILE;
}

static bool shares_columns(const struct file *file, const struct file *other)
{
    for (size_t i = 0; i < file->values_count; i++)
        if (!file->log->columns.list[i]->unwanted && !lacks(file, i) && !lacks(other, i))
            return true;
    return false;
}

/* Copies to the file's sample the values of other files' samples that are merged with it. */
static PDH_STATUS merge_others(struct log *log, struct file *file)
{
    PDH_STATUS status = 0;
    for (size_t f = 0; f < log->file_count && !status; f++) {
        struct file *other = &log->files[f];
        LONGLONG later = other->sample.time - file->sample.time;
        if (!other->pending || later > MERGE_SPAN)
            continue;
        status = file_make_values(other);
        if (status || (later && shares_columns(file, other)))
            continue;
        other->pending = false;
        file->values_fresh = false; /* the next sample lacks these columns again */
        for (size_t i = 0; i < file->values_count; i++) {
            if (!lacks(file, i))
                continue;
            file->values[i] = other->values[i];
            file->values[i].same_names = file->values[i].like_left = false;
        }
    }
    return status;
}

/* Counts a sample as left out if it is earlier than the one before it; false: it is not. */
static bool runs_backwards(struct log *log, const struct file *file)
{
    char name[64];
    if (!log->merged || file->sample.time >= log->newest)
        return false;
    snprintf(name, sizeof name, "%.63s", file->stream.name);
    losses_add(&log->losses, LOSS_ORDER, 1, "in %s", name);
    return true;
}

bool log_merge(struct log *log, struct buffer *problem)
{
    const struct log_facts *first = &log->files[0].facts;
    log->merged = true;
    for (size_t i = 1; i < log->file_count; i++) {
        const struct log_facts *other = &log->files[i].facts;
        if (!first->zone_rule || !other->zone_rule ||
            memcmp(first->zone_rule, other->zone_rule, ZONE_NAMED) == 0)
            continue;
        buffer_printf(problem,
                      "%s and %s were recorded in different time zones: their samples have local "
                      "times, and cannot be merged",
                      log->files[0].stream.name, log->files[i].stream.name);
        return false;
    }
    return true;
}

PDH_STATUS log_next(struct log *log, const struct log_sample **ret)
{
    struct file *file;
    buffer_clear(&log->problem);
    PDH_STATUS status = take_next(log, &file);
    while (!status && ((!in_range(log, file->sample.time) && !is_early(log, file->sample.time)) ||
                       runs_backwards(log, file))) {
        log->last = NULL; /* so that no rate is computed over a gap */
        status = take_next(log, &file);
    }
    if (!status)
        status = file_make_values(file);
    if (!status && (log->merged || log->set))
        status = merge_others(log, file);
    if (status)
        return status;
    log->newest = file->sample.time;
    if (log->last != file)
        for (size_t i = 0; i < file->values_count; i++)
            file->values[i].same_names = false;
    log->last = file;
    file->sample.early = !in_range(log, file->sample.time);
    file->sample.values = file->values;
    file->sample.kind = file->facts.kind;
    *ret = &file->sample;
    return 0;
}

PDH_STATUS log_rewind(struct log *log)
{
    log->last = NULL;
    log->newest = 0;
    log->losses = (struct log_losses){0};
    buffer_clear(&log->problem);
    if (log->set)
        captures_rewind(log);
    for (size_t i = 0; i < log->file_count && !log->set; i++) {
        struct file *file = &log->files[i];
        PDH_STATUS status = file->format->rewind(file);
        if (status)
            return status;
        file->pending = false;
        file->ended = 0;
        file->turn++;
        file->at_mark = 0;
        buffer_clear(&file->problem);
    }
    return 0;
}

PDH_STATUS log_set_range(struct log *log, LONGLONG first, LONGLONG last)
{
    log->from = first;
    log->until = last;
    if (first || last)
        /* log_know_columns also finds the sections, without which nothing is skipped */
        log_know_columns(log);
    return log_rewind(log);
}

void log_want_early(struct log *log, bool wanted)
{
    log->early = wanted;
}
