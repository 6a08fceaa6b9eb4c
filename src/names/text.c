/* SPDX-License-Identifier: MIT */
/* "Counter 009", "Explain 009": a whole base as one multi-string, made once for each encoding.
 * (docs/windows/articles.md#c24) */
#include "names/table.h"

#include <stdio.h>
#include <string.h>

static bool add_string(struct buffer *buffer, bool wide, const char *text)
{
    size_t count = strlen(text) + 1;
    return wide ? utf8_add_as_16(buffer, text, count) : buffer_add(buffer, text, count);
}

static LSTATUS make_text(const struct name_table *table, bool wide, struct buffer *ret)
{
    char index[16];
    for (size_t i = 0; i < table->count; i++) {
        snprintf(index, sizeof index, "%u", (unsigned)table->entries[i].index);
        add_string(ret, wide, index);
        add_string(ret, wide, table->entries[i].text);
    }
    add_string(ret, wide, ""); /* the extra zero */
    LSTATUS status = buffer_status(ret);
    if (status != ERROR_SUCCESS)
        buffer_done(ret);
    return status;
}

/* The size rules of name queries (docs/windows/articles.md#c108, docs/windows/queries.md#c3):
 * unlike for data, the size can be queried. */
static LSTATUS hand_out(const struct buffer *text, void *data, DWORD *size)
{
    DWORD capacity = *size;
    *size = (DWORD)text->len;
    if (!data)
        return ERROR_SUCCESS;
    if (capacity < text->len)
        return ERROR_MORE_DATA;
    memcpy(data, text->data, text->len);
    return ERROR_SUCCESS;
}

static LSTATUS answer(enum names_part part, uint32_t language, bool wide, void *data, DWORD *size)
{
    LSTATUS status = names_refresh();
    if (status != ERROR_SUCCESS)
        return status;
    struct name_language *base = names_base(language);
    if (!base)
        return ERROR_NOT_ENOUGH_MEMORY;
    struct buffer *text = &base->text[part][wide];
    if (!text->len)
        status = make_text(&base->merged[part], wide, text);
    DWORD capacity = data ? *size : 0;
    if (!status)
        status = hand_out(text, data, size);
    trace("names", "%s wanted in %03X, found in %03X; %zu bytes, capacity %u: %s",
          part == NAMES_COUNTER ? "names" : "explanations", (unsigned)language, (unsigned)base->id,
          text->len, (unsigned)capacity, status_text(status));
    return status;
}

LSTATUS names_text(enum names_part part, uint32_t language, bool wide, void *data, DWORD *size)
{
    if (!size)
        return ERROR_INVALID_PARAMETER;
    lock_take(&names_lock);
    LSTATUS status = answer(part, language, wide, data, size);
    lock_release(&names_lock);
    return status;
}
