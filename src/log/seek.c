/* SPDX-License-Identifier: MIT */
/*
 * Finds the extent of a capture (first and last time, number of samples), and samples by time. A
 * first pass, which reads only times, finds the extent, all columns, and the sections of the file
 * with their earliest and latest time (struct mark). If a range is set, sections outside of it are
 * skipped. Times may not be in order, because clocks are set back; and captures are appended to, so
 * each mark stores which catalogue applies to it.
 */
#include "log/inner.h"

#include <stdlib.h>

/* ---- marks ---- */

static struct mark *new_mark(struct marks *marks)
{
    if (!list_grow(&marks->list, marks->count, &marks->capacity, sizeof(*marks->list))) {
        marks->failed = true;
        return NULL;
    }
    return &marks->list[marks->count++];
}

/* Adds the sample that was just read to the extent and to its section. */
static void note(struct file *file)
{
    struct marks *marks = &file->marks;
    struct log_extent *extent = &marks->extent;
    LONGLONG time = file->sample.time;
    extent->first = !extent->samples || time < extent->first ? time : extent->first;
    extent->last = !extent->samples || time > extent->last ? time : extent->last;
    extent->samples++;
    struct mark *last = marks->count ? &marks->list[marks->count - 1] : NULL;
    if (!last || file->spot.head != last->spot.head ||
        file->spot.at - last->spot.at >= MARK_BYTES) {
        last = new_mark(marks);
        if (last)
            *last = (struct mark){file->spot, time, time};
        return;
    }
    last->least = time < last->least ? time : last->least;
    last->most = time > last->most ? time : last->most;
}

static void note_all(struct file *file)
{
    for (;;) {
        PDH_STATUS status = file->format->next(file);
        if (!status)
            note(file);
        else if ((DWORD)status != PDH_BINARY_LOG_CORRUPT)
            return;
    }
}

/* A pipe is read to its end. */
PDH_STATUS file_mark(struct file *file)
{
    uint64_t size = stream_size(&file->stream);
    if (file->marks.size && file->marks.size == size)
        return 0;
    struct file again = {.log = file->log, .format = file->format, .blind = true};
    LSTATUS status = stream_clone(&file->stream, &again.stream);
    PDH_STATUS opened = status ? status_to_pdh(status) : again.format->open(&again);
    if (!opened) {
        note_all(&again);
        struct marks old = file->marks;
        file->marks = again.marks;
        file->marks.size = size;
        again.marks = old;
    }
    file_done(&again);
    return opened;
}

/* ---- the range ---- */

static bool stretch_has(const struct log *log, const struct mark *mark)
{
    return (!log->from || mark->most >= log->from) &&
           (!log->until || mark->least <= log->until + MERGE_SPAN);
}

/* True if this section is needed: it overlaps the range, or is the section before the range (for
 * the first rate), or is the last section, to which more may be written. */
static bool is_wanted(const struct file *file, size_t number)
{
    const struct marks *marks = &file->marks;
    return number + 1 >= marks->count || stretch_has(file->log, &marks->list[number]) ||
           (file->log->early && stretch_has(file->log, &marks->list[number + 1]));
}

static bool can_skip(const struct file *file)
{
    return (file->log->from || file->log->until) && file->marks.count && !file->marks.failed &&
           !file->unordered;
}

PDH_STATUS file_next_wanted(struct file *file)
{
    const struct marks *marks = &file->marks;
    for (;;) {
        PDH_STATUS status = file->format->next(file);
        if (status || !can_skip(file))
            return status;
        while (file->at_mark + 1 < marks->count &&
               file->spot.at >= marks->list[file->at_mark + 1].spot.at)
            file->at_mark++;
        if (is_wanted(file, file->at_mark))
            return 0;
        while (!is_wanted(file, file->at_mark))
            file->at_mark++;
        file->log->last = NULL; /* so that no rate is computed over a gap */
        status = file->format->jump(file, &marks->list[file->at_mark].spot);
        if (status)
            return status;
    }
}

/* ---- the extent ---- */

void log_know_columns(struct log *log)
{
    for (size_t i = 0; i < log->file_count; i++)
        /* of a set, only the files that are open now */
        if (log->files[i].format && log->files[i].stream.pipe < 0)
            file_mark(&log->files[i]);
}

PDH_STATUS log_extent(struct log *log, struct log_extent *ret)
{
    struct log_extent all = {0};
    for (size_t i = 0; i < log->file_count; i++) {
        bool closed = !log->files[i].format;
        PDH_STATUS status = closed ? captures_open_file(log, i) : 0;
        if (closed && status) /* the file is counted as lost */
            continue;
        status = file_mark(&log->files[i]);
        const struct log_extent one = log->files[i].marks.extent;
        if (closed)
            captures_close_file(log, i);
        if (status)
            return status;
        if (!one.samples)
            continue;
        all.first = !all.samples || one.first < all.first ? one.first : all.first;
        all.last = !all.samples || one.last > all.last ? one.last : all.last;
        all.samples += one.samples;
    }
    *ret = all;
    return 0;
}
