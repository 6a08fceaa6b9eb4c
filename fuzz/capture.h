/* SPDX-License-Identifier: MIT */
/* Any bytes as a capture, for the targets blg and csv: opened, counted, read twice; every pointer
 * that the door promises is followed. */
#ifndef FUZZ_CAPTURE_H
#define FUZZ_CAPTURE_H

#include "log/log.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t capture_sum; /* keeps what was read from being left out */

static inline void capture_value(const struct log_value *value)
{
    if (value->status != PDH_CSTATUS_VALID_DATA)
        return;
    if (value->kind == LOG_ARRAY)
        for (size_t i = 0; i < value->count; i++)
            capture_sum += strlen(value->items[i].name);
    for (size_t i = 0; value->kind == LOG_BLOCK && i < value->size; i++)
        capture_sum += ((const unsigned char *)value->block)[i];
}

static inline void capture_read(struct log *log)
{
    const struct log_sample *sample;
    for (int calls = 0; calls < 10000; calls++) {
        PDH_STATUS status = log_next(log, &sample);
        if ((DWORD)status == PDH_NO_MORE_DATA)
            return;
        if (status && !log_problem(log))
            abort();
        for (size_t i = 0; !status && i < log_columns(log); i++)
            capture_value(&sample->values[i]);
    }
}

static inline void capture_try(const uint8_t *data, size_t size)
{
    int fd = memfd_create("capture", MFD_CLOEXEC);
    struct log *log = NULL;
    struct log_extent extent;
    BUFFER_AUTO problem = {0};
    if (fd < 0 || pwrite(fd, data, size, 0) != (ssize_t)size)
        abort();
    PDH_STATUS status = log_open_fd(fd, "capture", &log, &problem);
    if (status && !problem.len)
        abort();
    if (status)
        return;
    for (size_t i = 0; i < log_columns(log); i++)
        capture_sum += strlen(log_column(log, i)->path);
    capture_read(log);
    log_extent(log, &extent);
    log_rewind(log);
    capture_read(log);
    log_close(log);
}

#endif
