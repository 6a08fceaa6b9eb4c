/* SPDX-License-Identifier: MIT */
/* For the targets blg and csv: opens the input as a capture, counts its samples, reads it twice,
 * and follows every pointer that the API returns. */
#ifndef FUZZ_CAPTURE_H
#define FUZZ_CAPTURE_H

#include "log/log.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t capture_sum; /* keeps the compiler from removing the reads */

static inline void capture_value(const struct log_value *value)
{
    if (value->status != PDH_CSTATUS_VALID_DATA)
        return;
    if (value->kind == LOG_ARRAY)
        for (size_t i = 0; i < value->count; i++)
            capture_sum += strlen(value->items[i].name);
    const unsigned char *block = value->block; /* only its first and last byte are read */
    if (value->kind == LOG_BLOCK && value->size)
        capture_sum += block[0] + block[value->size - 1];
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

/* Opens bytes of an even number as a file, whose reader looks for what was added at its end. */
static inline PDH_STATUS capture_open(const uint8_t *data, size_t size, struct log **ret,
                                      struct buffer *problem)
{
    if (size % 2)
        return log_open_bytes(data, size, "capture", ret, problem);
    int fd = memfd_create("capture", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    return log_open_fd(fd, "capture", ret, problem);
}

/* Returns false if the bytes are not a capture. */
static inline bool capture_try(const uint8_t *data, size_t size)
{
    struct log *log = NULL;
    struct log_extent extent;
    BUFFER_AUTO problem = {0};
    PDH_STATUS status = capture_open(data, size, &log, &problem);
    if (status && !problem.len)
        abort();
    if (status)
        return false;
    for (size_t i = 0; i < log_columns(log); i++)
        capture_sum += strlen(log_column(log, i)->path);
    capture_read(log);
    log_extent(log, &extent);
    log_rewind(log);
    capture_read(log);
    log_close(log);
    return true;
}

#endif
