/* SPDX-License-Identifier: MIT */
/* Private to log: the layout of BLG files, for their reader and writer. (docs/format.md) */
#ifndef OPL_LOG_BINARY_H
#define OPL_LOG_BINARY_H

#include <stdbool.h>
#include <stdint.h>

enum {
    BINARY_BUFFER_HEAD = 72,
    /* bytes before a record's body: the record's head, the GUID, the number of this part, and of
     * all parts */
    BINARY_RECORD_BODY = 72,
    BINARY_HEADER = 72,                 /* offset of the capture's head in the file */
    BINARY_FIELDS = BINARY_HEADER + 32, /* offset of the TRACE_LOGFILE_HEADER in the file */
    BINARY_END_TIME = BINARY_FIELDS + 16,
    BINARY_MODE = BINARY_FIELDS + 32,
    BINARY_WRITTEN = BINARY_FIELDS + 36,
    BINARY_POINTER = BINARY_FIELDS + 44,
    BINARY_NAMES = BINARY_FIELDS + 56, /* offset of two pointers; the time zone follows */
    BINARY_ZONE = 172,                 /* bytes of a TIME_ZONE_INFORMATION */
    BINARY_CIRCULAR = 2,               /* a bit of the mode */
    LARGEST_BINARY_BUFFER = 16 << 20
};

/* kinds of records */
enum { BINARY_CATALOGUE = 0x20, BINARY_SAMPLE = 0x22, BINARY_INDEX = 0x23, BINARY_TITLES = 0x24 };

extern const unsigned char binary_guid[16]; /* identifies records of performance data */

/* Whether a buffer may have this size: it is a multiple of 512 from 1 KiB to 16 MiB. */
bool binary_size_is_sane(uint32_t size);

#endif
