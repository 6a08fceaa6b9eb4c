/* SPDX-License-Identifier: MIT */
/*
 * A handle of a capture refers to several files that are read as one, or to one file that is being
 * written. Each reader opens a source of its own, because two queries on one handle would otherwise
 * take samples from each other. Standard input cannot be opened twice: functions that read only
 * names give the open log back to the handle, and the single query that reads samples keeps it.
 */
#include "pdh/log/capture.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openperflib/capture.h>
#include <openperflib/unstable.h>

enum { CAPTURE_TABLE_TAG = 5 };
static struct handle_table captures = {.tag = CAPTURE_TABLE_TAG};
static pthread_mutex_t holding = PTHREAD_MUTEX_INITIALIZER;

struct capture {
    uint32_t references;
    struct claim claim;
    char **files; /* files to read; file_count 0: the handle stands for live data */
    size_t file_count;
    struct log *first; /* the log that was opened to check the files; the first reader uses it */
    /* state of PdhReadRawLogRecord in `first`; NULL: nothing was read */
    struct log_record *record;
    struct object_scan *scan; /* what the last scan of all samples found */
    struct capture_writer *writer;
};

/* The record that was found last (a copy), and the next one, whose memory belongs to the log. */
struct log_record {
    struct buffer bytes;
    DWORD kind;
    LONGLONG time;
    bool found;
    const struct log_sample *next; /* NULL: not read yet, or no more records */
};

/* ---- handles ---- */

static struct capture *hold(PDH_HLOG handle)
{
    lock_take(&holding);
    struct capture *capture = handle_get(&captures, (uintptr_t)handle);
    if (capture)
        __atomic_add_fetch(&capture->references, 1, __ATOMIC_RELAXED);
    lock_release(&holding);
    return capture;
}

static void forget_record(struct capture *capture)
{
    if (capture->record)
        buffer_done(&capture->record->bytes);
    free(capture->record);
    capture->record = NULL;
}

static void let_go(struct capture *capture)
{
    if (__atomic_sub_fetch(&capture->references, 1, __ATOMIC_ACQ_REL))
        return;
    for (size_t i = 0; i < capture->file_count; i++)
        free(capture->files[i]);
    free(capture->files);
    forget_record(capture);
    log_close(capture->first);
    object_scan_free(capture->scan);
    writer_close(capture->writer);
    free(capture);
}

/* ---- problems ---- */

/*
 * The text that describes a capture's damage, and the list of what cannot be shown of the capture.
 * PDH itself has a status in place of the text, and nothing in place of the list; and a capture
 * that cannot be opened has no handle. So text and list are kept for each thread, like errno.
 */

enum { PROBLEM_SIZE = 1024 };
static _Thread_local char current[PROBLEM_SIZE];

/* Allocated when first needed, because a library that is loaded at run time has little thread-local
 * storage. */
struct unshown {
    struct log_losses losses;
    char text[2 * PROBLEM_SIZE];
};
static pthread_key_t unshown_key;
static pthread_once_t unshown_once = PTHREAD_ONCE_INIT;
static bool unshown_good;

static void make_key(void)
{
    unshown_good = pthread_key_create(&unshown_key, free) == 0;
}

/* Returns this thread's list; NULL: nothing was recorded. */
static struct unshown *unshown_here(void)
{
    pthread_once(&unshown_once, make_key);
    return unshown_good ? pthread_getspecific(unshown_key) : NULL;
}

void problem_clear(void)
{
    struct unshown *unshown = unshown_here();
    current[0] = '\0';
    if (unshown)
        unshown->losses.any = false;
}

void problem_lose(const struct log_losses *losses)
{
    struct unshown *unshown = losses->any ? unshown_here() : NULL;
    if (losses->any && !unshown && unshown_good) {
        unshown = calloc(1, sizeof *unshown);
        if (pthread_setspecific(unshown_key, unshown)) {
            free(unshown);
            return;
        }
    }
    if (!unshown)
        return;
    if (!unshown->losses.any)
        unshown->losses = (struct log_losses){0};
    losses_join(&unshown->losses, losses);
}

static void problem_losses(const struct log_losses *losses)
{
    struct unshown *unshown = unshown_here();
    if (unshown)
        unshown->losses.any = false;
    problem_lose(losses);
}

/* Keeps the end of a text that is too long, because a text begins with the path and the problem
 * comes after the path. */
void problem_note(const char *text)
{
    size_t size = text ? strlen(text) : 0;
    if (size >= sizeof current)
        snprintf(current, sizeof current, "...%s", text + size - (sizeof current - 4));
    else if (size)
        memcpy(current, text, size + 1);
}

const char *opl_capture_problem(void)
{
    return current[0] ? current : NULL;
}

const char *opl_capture_unshown(void)
{
    BUFFER_AUTO text = {0};
    struct unshown *unshown = unshown_here();
    if (unshown)
        losses_print(&unshown->losses, &text);
    if (!text.len)
        return NULL;
    snprintf(unshown->text, sizeof unshown->text, "%s", text.data);
    return unshown->text;
}

uint32_t opl_capture_compress(const char *from, const char *to)
{
    BUFFER_AUTO problem = {0};
    problem_clear();
    PDH_STATUS status = log_compress(from, to, &problem);
    problem_note(problem.data);
    return (uint32_t)status;
}

/* ---- sources ---- */

static PDH_STATUS open_log(const char *const *files, size_t count, struct log **ret)
{
    BUFFER_AUTO problem = {0};
    problem_clear();
    for (size_t i = 0; i < count; i++)
        if (!text_compare_fold_n(files[i], strnlen(files[i], 4), "SQL:", 4))
            return (PDH_STATUS)PDH_NOT_IMPLEMENTED;
    PDH_STATUS status = log_open(files, count, ret, &problem);
    if (status) /* problems that do not prevent opening are reported when samples are collected */
        problem_note(problem.data);
    return status;
}

/* Returns the open files, positioned at the first sample. The caller must close *ret. */
static PDH_STATUS open_files(struct capture *capture, struct log **ret)
{
    UNCANCELLED;
    PDH_STATUS status = 0;
    claim_take(&capture->claim);
    *ret = capture->first;
    capture->first = NULL;
    if (*ret && capture->record)
        status = log_rewind(*ret);
    forget_record(capture);
    claim_release(&capture->claim);
    return *ret ? status : open_log((const char *const *)capture->files, capture->file_count, ret);
}

/* Gives the scan, and the log at its first sample, back to the capture for its next reader. */
static void return_to_owner(struct capture *owner, struct log_source *source)
{
    UNCANCELLED;
    claim_take(&owner->claim);
    if (!owner->first && !log_rewind(source->log)) {
        owner->first = source->log;
        source->log = NULL;
    }
    if (!owner->scan) {
        owner->scan = source->scan;
        source->scan = NULL;
    }
    claim_release(&owner->claim);
    let_go(owner);
}

static void log_source_close(struct data_source *base)
{
    struct log_source *source = (struct log_source *)base;
    /* if there are no new losses, keeps those that the check of an object recorded before */
    if (source->losses.any)
        problem_losses(&source->losses);
    if (source->owner)
        return_to_owner(source->owner, source);
    for (size_t i = 0; i < source->block_count; i++) {
        snapshot_done(&source->blocks[i].snapshot);
        item_set_done(&source->blocks[i].items);
    }
    free(source->first_column);
    free(source->next_column);
    free(source->blocks);
    item_set_done(&source->numbering);
    object_scan_free(source->scan);
    log_close(source->log);
    free(source->file);
    free(source);
}

/* Restricts the capture to a range of time. Samples before the range are read only because the
 * first rate in the range needs the sample before that rate. (docs/windows/tools.md#g2) */
static PDH_STATUS log_source_limit(struct data_source *source, const PDH_TIME_INFO *range)
{
    struct log *log = ((struct log_source *)source)->log;
    LONGLONG end = range->EndTime == MAX_TIME_VALUE ? 0 : range->EndTime;
    if (range->EndTime && range->EndTime < range->StartTime)
        return (PDH_STATUS)PDH_INVALID_ARGUMENT;
    log_want_early(log, true);
    return log_set_range(log, range->StartTime, end);
}

static const char *log_source_zone(struct data_source *source, char storage[static ZONE_TEXT_SIZE],
                                   LONG *ret_bias, const void **ret_rule)
{
    const struct log_facts *facts = log_facts(((struct log_source *)source)->log);
    *ret_bias = facts->bias;
    *ret_rule = facts->zone_rule;
    return facts->zone[0] ? facts->zone : NULL;
}

static bool log_source_prepare(struct data_source *source, const char *file, enum log_kind kind,
                               bool merge, struct buffer *problem)
{
    struct log *log = ((struct log_source *)source)->log;
    if (kind != LOG_BINARY || log_facts(log)->kind == LOG_BINARY)
        return !merge || log_merge(log, problem);
    buffer_printf(problem, "a BLG has raw values, and a text capture has only cooked ones: write "
                           "CSV or TSV");
    return false;
}

/* Returns false, because captures have no titles in other languages. */
static bool log_source_has_title(const struct object_info *info, uint32_t index,
                                 enum title_stage stage, const char *pattern)
{
    return false;
}

/* Opens the log of a source. `capture` NULL: opens from.file. For SOURCE_NAMES the capture lends
 * its open log, so that the samples of standard input stay unread. */
static PDH_STATUS open_log_of(struct log_source *source, struct pdh_from from,
                              struct capture *capture, enum source_use use)
{
    problem_clear();
    if (from.file && !(source->file = strdup(from.file)))
        return (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    source->base.from = (struct pdh_from){.file = source->file, .log = from.log};
    if (!capture)
        return open_log(&from.file, 1, &source->log);
    PDH_STATUS status = open_files(capture, &source->log);
    if (status || use == SOURCE_SAMPLES)
        return status;
    claim_take(&capture->claim);
    __atomic_add_fetch(&capture->references, 1, __ATOMIC_RELAXED);
    source->owner = capture;
    source->scan = capture->scan;
    capture->scan = NULL;
    claim_release(&capture->claim);
    return 0;
}

PDH_STATUS log_source_open(struct pdh_from from, enum source_use use, struct data_source **ret)
{
    UNCANCELLED;
    static const struct source_ops ops = {.machines = log_source_machines,
                                          .label = log_source_label,
                                          .objects = log_source_objects,
                                          .object = log_source_object,
                                          .counter = log_source_counter,
                                          .has_title = log_source_has_title,
                                          .expand = log_source_expand,
                                          .counter_size = sizeof(struct log_member),
                                          .counter_done = log_source_counter_done,
                                          .resolve = log_source_resolve,
                                          .machine = log_source_machine,
                                          .collect = log_source_collect,
                                          .limit = log_source_limit,
                                          .zone = log_source_zone,
                                          .prepare = log_source_prepare,
                                          .close = log_source_close};
    struct capture *capture = from.log ? hold(from.log) : NULL;
    if (from.log && !capture)
        return (PDH_STATUS)PDH_INVALID_HANDLE;
    PDH_STATUS status = (PDH_STATUS)PDH_DATA_SOURCE_IS_REAL_TIME;
    if (capture ? capture->file_count : from.file != NULL) {
        struct log_source *source = calloc(1, sizeof *source);
        status = (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
        if (source) {
            source->base.ops = &ops;
            status = open_log_of(source, from, capture, use);
        }
        if (status)
            source_close(source ? &source->base : NULL);
        else
            *ret = &source->base;
    }
    if (capture)
        let_go(capture);
    return status;
}

/* ---- new handles ---- */

static PDH_STATUS enter(struct capture *capture, PDH_HLOG *ret)
{
    uintptr_t handle;
    if (handle_new(&captures, capture, &handle)) {
        let_go(capture);
        return (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    }
    *ret = (PDH_HLOG)handle;
    return 0;
}

static struct capture *new_capture(void)
{
    struct capture *capture = calloc(1, sizeof *capture);
    if (capture)
        capture->references = 1;
    return capture;
}

static bool take_files(struct capture *capture, const char *files, size_t size)
{
    const char *cursor = files, *file;
    while (files && (file = text_multi_next(&cursor, files + size))) {
        char **grown = reallocarray(capture->files, capture->file_count + 1, sizeof *grown);
        if (!grown)
            return false;
        capture->files = grown;
        if (!(grown[capture->file_count] = strdup(file)))
            return false;
        capture->file_count++;
    }
    return true;
}

/* Makes a handle for reading `files`, or live data if `files` is empty. */
PDH_STATUS capture_bind(const char *files, size_t size, PDH_HLOG *ret)
{
    struct capture *capture = new_capture();
    PDH_STATUS status = (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    if (!capture)
        return status;
    if (take_files(capture, files, size))
        status = files && !capture->file_count ? (PDH_STATUS)PDH_INVALID_ARGUMENT : 0;
    if (!status && capture->file_count)
        status =
            open_log((const char *const *)capture->files, capture->file_count, &capture->first);
    if (status) {
        let_go(capture);
        return status;
    }
    return enter(capture, ret);
}

/* ---- handles of PdhOpenLog ---- */

static PDH_STATUS open_to_read(const struct capture_options *options, DWORD *type, PDH_HLOG *ret)
{
    BUFFER_AUTO files = {0};
    if (!buffer_add(&files, options->file, strlen(options->file) + 1))
        return (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    PDH_STATUS status = capture_bind(files.data, files.len, ret);
    if (status)
        return status;
    struct capture *capture = hold(*ret);
    if (capture) {
        if (capture->first)
            *type = log_facts(capture->first)->kind;
        let_go(capture);
    }
    return 0;
}

static PDH_STATUS open_to_write(const struct capture_options *options, DWORD type, PDH_HLOG *ret)
{
    struct capture *capture = new_capture();
    if (!capture)
        return (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    PDH_STATUS status = writer_open(options, type, &capture->writer);
    if (status) {
        let_go(capture);
        return status;
    }
    return enter(capture, ret);
}

PDH_STATUS capture_open(const struct capture_options *options, DWORD *type, PDH_HLOG *ret)
{
    if (!options->file || !type || !ret)
        return (PDH_STATUS)PDH_INVALID_ARGUMENT;
    switch (options->access & PDH_LOG_ACCESS_MASK) {
    case PDH_LOG_READ_ACCESS:
        return open_to_read(options, type, ret);
    case PDH_LOG_WRITE_ACCESS:
    case PDH_LOG_UPDATE_ACCESS:
        return open_to_write(options, *type, ret);
    default:
        return (PDH_STATUS)PDH_INVALID_ARGUMENT;
    }
}

PDH_STATUS capture_update(PDH_HLOG handle, LONGLONG time, const char *user_string)
{
    UNCANCELLED;
    struct capture *capture = hold(handle);
    if (!capture)
        return (PDH_STATUS)PDH_INVALID_HANDLE;
    /* the status that is returned for a handle for reading */
    PDH_STATUS status = (PDH_STATUS)PDH_INVALID_HANDLE;
    problem_clear();
    claim_take(&capture->claim);
    if (capture->writer)
        status = writer_update(capture->writer, time, user_string);
    claim_release(&capture->claim);
    let_go(capture);
    return status;
}

uint32_t opl_log_newest(void *log, int64_t time)
{
    return (uint32_t)capture_update(log, time, NULL);
}

PDH_STATUS capture_close(PDH_HLOG handle, DWORD flags)
{
    UNCANCELLED;
    PDH_STATUS status = 0;
    problem_clear();
    lock_take(&holding);
    struct capture *capture = handle_take(&captures, (uintptr_t)handle);
    lock_release(&holding);
    if (!capture)
        return (PDH_STATUS)PDH_INVALID_HANDLE;
    claim_take(&capture->claim);
    PDH_HQUERY query = capture->writer ? writer_query(capture->writer) : NULL;
    status = writer_close(capture->writer);
    capture->writer = NULL;
    claim_release(&capture->claim);
    let_go(capture);
    if (query && flags & PDH_FLAGS_CLOSE_QUERY)
        query_close(query);
    return status;
}

PDH_STATUS capture_catalog(PDH_HLOG handle)
{
    struct capture *capture = hold(handle);
    if (!capture)
        return (PDH_STATUS)PDH_INVALID_HANDLE;
    let_go(capture);
    return (PDH_STATUS)PDH_NOT_IMPLEMENTED; /* Windows returns the same status for text files */
}

PDH_STATUS capture_size(PDH_HLOG handle, LONGLONG *ret)
{
    UNCANCELLED;
    SOURCE_AUTO *source = NULL;
    if (!ret)
        return (PDH_STATUS)PDH_INVALID_ARGUMENT;
    struct capture *capture = hold(handle);
    if (!capture)
        return (PDH_STATUS)PDH_INVALID_HANDLE;
    claim_take(&capture->claim);
    bool written = capture->writer != NULL;
    if (written)
        *ret = (LONGLONG)writer_bytes(capture->writer);
    claim_release(&capture->claim);
    let_go(capture);
    if (written)
        return 0;
    PDH_STATUS status = log_source_open((struct pdh_from){.log = handle}, SOURCE_NAMES, &source);
    if (!status)
        *ret = (LONGLONG)log_facts(((struct log_source *)source)->log)->size_bytes;
    return status;
}

/* ---- PdhReadRawLogRecord ---- */

static bool take_record(struct log_record *record, const struct log_sample *sample)
{
    buffer_clear(&record->bytes);
    record->kind = sample->kind;
    record->time = sample->time;
    record->found = buffer_add(&record->bytes, sample->record, sample->record_size);
    return record->found;
}

/* Finds the next readable record; NULL: there are no more records. */
static PDH_STATUS next_record(struct log *log, const struct log_sample **ret)
{
    PDH_STATUS status;
    *ret = NULL;
    do
        status = log_next(log, ret);
    while (status == (PDH_STATUS)PDH_BINARY_LOG_CORRUPT);
    if (status)
        *ret = NULL;
    return status == (PDH_STATUS)PDH_NO_MORE_DATA ? 0 : status;
}

/* Advances to the last record that is not later than `time`. */
static PDH_STATUS seek_record(struct log *log, struct log_record *record, LONGLONG time)
{
    PDH_STATUS status = 0;
    for (;;) {
        if (!record->next)
            status = next_record(log, &record->next);
        if (status || !record->next || record->next->time > time)
            return status;
        if (!take_record(record, record->next))
            return (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
        record->next = NULL;
    }
}

/* Finds the last record that is not later than `time`. The caller holds the capture's claim. The
 * log stays at that record, because the next call usually requests a later one. */
static PDH_STATUS find_record(struct capture *capture, LONGLONG time, struct log_record **ret)
{
    PDH_STATUS status = 0;
    if (!capture->first)
        status =
            open_log((const char *const *)capture->files, capture->file_count, &capture->first);
    if (status)
        return status;
    if (capture->record && capture->record->found && time < capture->record->time) {
        forget_record(capture);
        status = log_rewind(capture->first);
    }
    if (!status && !capture->record && !(capture->record = calloc(1, sizeof **ret)))
        status = (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    *ret = capture->record;
    return status ? status : seek_record(capture->first, capture->record, time);
}

static PDH_STATUS copy_record(const struct log_record *record, PDH_RAW_LOG_RECORD *ret, DWORD *size)
{
    const size_t head = offsetof(PDH_RAW_LOG_RECORD, RawBytes);
    size_t needed = head + record->bytes.len;
    DWORD capacity = *size;
    if (!record->found)
        return (PDH_STATUS)PDH_ENTRY_NOT_IN_LOG_FILE;
    needed = needed > sizeof *ret ? needed : sizeof *ret;
    *size = (DWORD)needed;
    if (capacity < needed)
        return (PDH_STATUS)PDH_MORE_DATA;
    memset(ret, 0, sizeof *ret);
    ret->dwStructureSize = (DWORD)needed;
    ret->dwRecordType = record->kind;
    ret->dwItems = (DWORD)record->bytes.len;
    memcpy((char *)ret + head, record->bytes.data, record->bytes.len);
    return 0;
}

PDH_STATUS capture_record(PDH_HLOG handle, FILETIME time, PDH_RAW_LOG_RECORD *ret, DWORD *size)
{
    UNCANCELLED;
    struct log_record *record;
    LONGLONG moment = (LONGLONG)((uint64_t)time.dwHighDateTime << 32 | time.dwLowDateTime);
    if (!size || (*size && !ret))
        return (PDH_STATUS)PDH_INVALID_ARGUMENT;
    struct capture *capture = hold(handle);
    if (!capture)
        return (PDH_STATUS)PDH_INVALID_HANDLE;
    /* the status for a handle for writing, or for a handle that stands for live data */
    PDH_STATUS status =
        (PDH_STATUS)(capture->writer ? PDH_INVALID_HANDLE : PDH_DATA_SOURCE_IS_REAL_TIME);
    if (capture->file_count) {
        claim_take(&capture->claim);
        status = find_record(capture, moment, &record);
        if (!status)
            status = copy_record(record, ret, size);
        claim_release(&capture->claim);
    }
    let_go(capture);
    return status;
}

/* Sets *ret to the range of times that `handle` has written. Returns false if `handle` is not a
 * handle for writing. */
static bool find_written(PDH_HLOG handle, struct log_extent *ret)
{
    UNCANCELLED;
    struct capture *capture = handle ? hold(handle) : NULL;
    if (!capture)
        return false;
    claim_take(&capture->claim);
    bool written = capture->writer != NULL;
    if (written)
        *ret = *writer_extent(capture->writer);
    claim_release(&capture->claim);
    let_go(capture);
    return written;
}

PDH_STATUS capture_time_range(struct pdh_from from, PDH_TIME_INFO *ret)
{
    struct log_extent extent;
    if (!find_written(from.log, &extent)) {
        SOURCE_AUTO *source = NULL;
        PDH_STATUS status = log_source_open(from, SOURCE_NAMES, &source);
        if (!status)
            status = log_extent(((struct log_source *)source)->log, &extent);
        if (status)
            return status;
    }
    *ret = (PDH_TIME_INFO){.StartTime = extent.first, .EndTime = extent.last};
    ret->SampleCount = extent.samples > UINT32_MAX ? UINT32_MAX : (DWORD)extent.samples;
    return 0;
}

PDH_STATUS capture_set_default(DWORD source)
{
    if (source == DATA_SOURCE_REGISTRY)
        return 0;
    return source == DATA_SOURCE_WBEM ? (PDH_STATUS)PDH_CANNOT_SET_DEFAULT_REALTIME_DATASOURCE
                                      : (PDH_STATUS)PDH_INVALID_ARGUMENT;
}
