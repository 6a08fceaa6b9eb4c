/* SPDX-License-Identifier: MIT */
/* Private to win32: how the A and W functions of pdh.h return lists and names.
 * (docs/windows/pdh.md#f1) */
#ifndef OPL_WIN32_PDH_TEXT_H
#define OPL_WIN32_PDH_TEXT_H

#include "pdh/pdh.h"
#include "win32/text.h"

/* A caller's buffer for text; *length counts characters in the encoding of the text. */
struct text_out {
    void *text;
    LPDWORD length;
    bool wide;
};
#define OUT_A(text, length) ((struct text_out){text, length, false})
#define OUT_W(text, length) ((struct text_out){text, length, true})
/* True if the caller passed a length, and a buffer unless the length is 0. */
bool out_valid(struct text_out out);
/* Copies a multi-string; an empty one has two NULs. PDH_MORE_DATA: *length becomes the length that
 * is needed. */
PDH_STATUS copy_list(const struct buffer *list, struct text_out out);
PDH_STATUS copy_text(const struct buffer *text, struct text_out out);

#define FROM_NAME(source) ((struct pdh_from){.file = (source)})
#define FROM_LOG(source) ((struct pdh_from){.log = (source)})

/* Declares the variable `name`, whose member .text is `wide` (UTF-16) as UTF-8; if there is no
 * memory, returns from the function. */
#define NARROW(name, wide)                                                                         \
    NAME_AUTO name;                                                                                \
    if (narrow(wide, &(name)))                                                                     \
    return (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE

#endif
