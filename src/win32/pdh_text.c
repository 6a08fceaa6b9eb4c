/* SPDX-License-Identifier: MIT */
/* Writes the lists and names that functions of pdh.h return into the caller's buffer, by the rules
 * for lengths that all of them share. */
#include "win32/pdh_text.h"

#include <string.h>

bool out_valid(struct text_out out)
{
    return out.length && (out.text || *out.length == 0);
}

/* Copies `bytes` bytes of UTF-8, which include all NULs. *out.length becomes the length that is
 * needed. */
static PDH_STATUS copy_out(const char *text, size_t bytes, struct text_out out)
{
    size_t needed = out.wide ? utf8_to_16(text, bytes, NULL, 0) : bytes;
    DWORD capacity = *out.length;
    *out.length = (DWORD)needed;
    if (needed > capacity)
        return (PDH_STATUS)PDH_MORE_DATA;
    if (out.wide)
        utf8_to_16(text, bytes, out.text, needed);
    else
        memcpy(out.text, text, bytes);
    return 0;
}

PDH_STATUS copy_list(const struct buffer *list, struct text_out out)
{
    if (list->failed)
        return (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    return list->len ? copy_out(list->data, list->len + 1, out) : copy_out("\0", 2, out);
}

PDH_STATUS copy_text(const struct buffer *text, struct text_out out)
{
    if (text->failed)
        return (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    return copy_out(text->len ? text->data : "", text->len + 1, out);
}
