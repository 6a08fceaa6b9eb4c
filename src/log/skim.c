/* SPDX-License-Identifier: MIT */
/*
 * Reads some columns of a set over a long time. Each file that has one of them is read alone: all
 * its samples from the range's beginning on, or the first sample of some of its frames. Counters
 * are cumulative, so the mean between two samples is right whatever was recorded between them.
 *
 * If other counters were appended to a file, it has a second catalogue. A single sample does not
 * show to which catalogue it belongs, so samples that do not fit the first one are left out.
 */
#include "log/inner.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    TRIES = 64,           /* number of records that are read in search of a sample's beginning */
    NEAR_BYTES = 4 << 20, /* bytes within which a place in a file is searched for */
};
static const LONGLONG minute = 60 * (LONGLONG)CLOCK_TICKS_PER_SECOND, hour = 60 * minute;

struct reading {
    struct log *log;
    const struct log_skim *skim;
    struct file file;
    bool first, stop;
    uint64_t unneeded; /* the catalogue of a file without wanted columns */
};

static LONGLONG utc_of(const struct file *file)
{
    return file->sample.time + file->facts.bias * minute;
}

static bool has_wanted(const struct file *file)
{
    for (size_t i = 0; i < file->mapped; i++)
        if (!file->log->columns.list[file->map[i]]->unwanted)
            return true;
    return false;
}

/* Called when the caller does not get the sample that was read last, so that no names are taken for
 * those of the sample that it got before. */
static void forget_names(struct file *file)
{
    file->turn++;
}

static bool next_sample(struct file *file)
{
    for (int i = 0; i < TRIES; i++) {
        PDH_STATUS status = file->format->next(file);
        if ((DWORD)status != PDH_BINARY_LOG_CORRUPT)
            return !status;
        forget_names(file);
    }
    return false;
}

/* Passes the file's sample to the caller. */
static void report(struct reading *reading)
{
    struct file *file = &reading->file;
    file->sample.values = file->values;
    reading->stop =
        !reading->skim->take(reading->skim->context, &file->sample, utc_of(file), reading->first);
    reading->first = false;
}

/* Goes to a frame whose first sample is before the range, if there is one. Called after the file's
 * first sample was read. */
static void go_to_range(struct file *file, LONGLONG from)
{
    uint64_t low = 0, high = stream_size(&file->stream);
    while (high - low > NEAR_BYTES) {
        uint64_t middle = low + (high - low) / 2;
        bool good = file->format->go_near(file, middle) && next_sample(file);
        if (good && utc_of(file) < from)
            low = middle;
        else
            high = middle;
    }
    if (low && file->format->go_near(file, low))
        next_sample(file);
    else
        file->format->rewind(file);
}

static void read_all(struct reading *reading)
{
    struct file *file = &reading->file;
    const struct log_skim *skim = reading->skim;
    bool more = true;
    if (file->format->go_near && stream_size(&file->stream) > NEAR_BYTES &&
        utc_of(file) < skim->from) {
        /* what the search skips is not counted as lost */
        struct log_losses kept = reading->log->losses;
        go_to_range(file, skim->from);
        forget_names(file);
        reading->log->losses = kept;
        more = next_sample(file);
    }
    for (; more && !reading->stop && utc_of(file) <= skim->to + hour; more = next_sample(file))
        report(reading);
}

/* Passes the first sample to the caller, and samples at some later places; `span`: the time that
 * the file covers. */
static void read_some(struct reading *reading, LONGLONG span)
{
    struct file *file = &reading->file;
    const struct log_losses kept = reading->log->losses;
    uint64_t size = stream_size(&file->stream), last = 0;
    uint64_t count = (uint64_t)(span / reading->skim->step) + 1, most = size / STREAM_WINDOW + 1;
    count = count < most ? count : most;
    report(reading);
    for (uint64_t i = 1; i < count && !reading->stop; i++) {
        uint64_t place = size / count * i;
        if (file->stream.zst)
            place = zst_frame_start(file->stream.zst, place);
        if (place == last || !file->format->go_near(file, place))
            continue;
        last = place;
        forget_names(file);
        if (next_sample(file))
            report(reading);
    }
    reading->log->losses = kept;
}

/* Reads a file of the set. `span`: time from its first sample to that of the next file. */
static void read_file(struct reading *reading, size_t number, LONGLONG span)
{
    struct log *log = reading->log;
    const struct set_file *entry = &log->set->files[number];
    struct file *file = &reading->file;
    if (entry->catalogue == reading->unneeded)
        return;
    *file = (struct file){
        .stream = {.fd = -1, .pipe = -1}
    };
    int fd = open(entry->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    LSTATUS opened = stream_open(&file->stream, fd, entry->path);
    PDH_STATUS status = log_open_file(log, file, opened);
    if (status && opened != ERROR_FILE_NOT_FOUND) /* it was removed because it is too old */
        captures_add_lost(&log->losses, entry->path, file->problem.data);
    if (!status && !has_wanted(file))
        reading->unneeded = entry->catalogue;
    else if (!status && file->pending) {
        if (reading->skim->step && file->format->go_near && !file->unordered)
            read_some(reading, span);
        else
            read_all(reading);
    }
    file_done(file);
}

/* Returns the number of the next file of the same series; the count: there is none. */
static size_t next_of(const struct log_set *set, size_t number)
{
    size_t next = number + 1;
    while (next < set->count && set->files[next].series != set->files[number].series)
        next++;
    return next;
}

/* Reads the files of one series, beginning with its first file. */
static void read_series(struct reading *reading, size_t number)
{
    const struct log_set *set = reading->log->set;
    const LONGLONG bias = reading->log->facts.bias * minute;
    reading->first = true;
    for (size_t next; number < set->count && !reading->stop; number = next) {
        LONGLONG first = set->files[number].first + bias, end = reading->skim->to;
        next = next_of(set, number);
        if (next < set->count)
            end = set->files[next].first + bias;
        /* the bias may be an hour more or less in another part of the year */
        if (first <= reading->skim->to + hour && end + hour >= reading->skim->from)
            read_file(reading, number, end > first ? end - first : 0);
    }
}

static bool is_first_of_series(const struct log_set *set, size_t number)
{
    for (size_t i = 0; i < number; i++)
        if (set->files[i].series == set->files[number].series)
            return false;
    return true;
}

PDH_STATUS log_skim(struct log *log, const struct log_skim *skim)
{
    struct reading reading = {.log = log, .skim = skim};
    if (!log->set)
        return (PDH_STATUS)PDH_INVALID_ARGUMENT;
    log->losses = log->set->skipped;
    zst_decode_little(&log->decoder, skim->step > 0);
    for (size_t i = 0; i < log->set->count && !reading.stop; i++)
        if (is_first_of_series(log->set, i))
            read_series(&reading, i);
    zst_decode_little(&log->decoder, false);
    return 0;
}
