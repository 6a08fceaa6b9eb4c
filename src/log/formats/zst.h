/* SPDX-License-Identifier: MIT */
/* Private to log: compressed captures, for their reader and writer. (docs/format.md) */
#ifndef OPL_LOG_ZST_H
#define OPL_LOG_ZST_H

#include "log/inner.h"

#include <zstd.h>

enum { /* as little-endian numbers in the file */
       /* a frame without data; all numbers up to 0x184D2A5F mean the same */
       ZST_SKIPPED = 0x184D2A50,
       ZST_TABLE = 0x184D2A5E,   /* the skipped frame with the seek table */
       ZST_FRAME_BYTES = 4 << 20 /* bytes of a BLG in one frame */
};
#define ZST_FRAME UINT32_C(0xFD2FB528)
#define ZST_FOOTER UINT32_C(0x8F92EAB1) /* the last four bytes of a seek table */

/* the functions of libzstd that are used */
#define ZST_FUNCTIONS(X)                                                                           \
    X(createDCtx)                                                                                  \
    X(freeDCtx)                                                                                    \
    X(DCtx_reset)                                                                                  \
    X(DCtx_setParameter)                                                                           \
    X(decompressStream)                                                                            \
    X(isError)                                                                                     \
    X(createCCtx)                                                                                  \
    X(freeCCtx)                                                                                    \
    X(CCtx_setParameter)                                                                           \
    X(compress2)                                                                                   \
    X(compressBound)
#define ZST_MEMBER(name) __typeof__(&ZSTD_##name) name;
struct zst_library {
    ZST_FUNCTIONS(ZST_MEMBER)
};
/* Loads libzstd when it is first needed. NULL: it cannot be loaded. */
const struct zst_library *zst_library(void);

#endif
