/* SPDX-License-Identifier: MIT */
/* What machines send in practice: Samba's own blocks and lists, truncated ones, and those of the
 * other byte order. What no rule can correct is refused. */
#include "remote/smb_rules.h"
#include "wire/wire.h"

#include <openperflib/block.h>
#include <winperf.h>
#include <winreg.h>
#include <string.h>

enum { TOTAL_AT = offsetof(PERF_DATA_BLOCK, TotalByteLength) };

/* ---- blocks ---- */

/* Every length in it leads to a place within it. */
static bool walks(opl_block *block)
{
    opl_object_view object = {0};
    while (opl_block_next_object(block, &object)) {
        opl_counter_view counter = {0};
        opl_instance_view instance = {0};
        while (opl_object_next_counter(block, &object, &counter))
            ;
        while (opl_object_next_instance(block, &object, &instance))
            ;
    }
    return block->fault == OPL_BLOCK_GOOD;
}

static uint32_t number_at(const struct buffer *data, size_t at, bool swapped)
{
    uint32_t number = 0;
    for (size_t i = 0; i < 4; i++)
        number |= (uint32_t)(unsigned char)data->data[at + (swapped ? 3 - i : i)] << 8 * i;
    return number;
}

static bool is_sound(const struct buffer *data, opl_block *ret)
{
    return !opl_block_init(ret, data->data, data->len) && walks(ret);
}

/* Samba's total does not include the header. */
static void mend_total(struct buffer *data)
{
    bool swapped = number_at(data, offsetof(PERF_DATA_BLOCK, LittleEndian), false) != 1;
    size_t total = number_at(data, TOTAL_AT, swapped);
    size_t header = number_at(data, offsetof(PERF_DATA_BLOCK, HeaderLength), swapped);
    if (header > data->len || total != data->len - header)
        return;
    for (size_t i = 0; i < 4; i++)
        data->data[TOTAL_AT + (swapped ? 3 - i : i)] = (char)(data->len >> 8 * i);
}

LSTATUS rules_block(struct buffer *data, size_t capacity)
{
    opl_block block;
    LSTATUS bad = data->len >= capacity ? ERROR_MORE_DATA : ERROR_INVALID_DATA;
    if (data->len < sizeof(PERF_DATA_BLOCK))
        return bad;
    if (!is_sound(data, &block)) {
        mend_total(data);
        if (!is_sound(data, &block))
            return bad;
    }
    data->len = block.size; /* drop the bytes behind it */
    data->data[data->len] = '\0';
    return ERROR_SUCCESS;
}

/* ---- texts ---- */

bool rules_is_text(uint32_t type)
{
    return type == REG_SZ || type == REG_EXPAND_SZ || type == REG_MULTI_SZ;
}

bool rules_names_list(const char *name)
{
    static const char *const text[] = {"Counter", "Explain", "Help"};
    for (size_t i = 0; name && i < COUNT(text); i++)
        if (text_starts_fold(name, text[i]))
            return true;
    return false;
}

static bool ends_with_zero(const struct buffer *list)
{
    return list->len >= 2 && !list->data[list->len - 1] && !list->data[list->len - 2];
}

bool rules_list(struct buffer *list)
{
    list->len -= list->len % 2;
    while (ends_with_zero(list))
        list->len -= 2;
    bool some = list->len > 0;
    return buffer_add(list, "\0\0\0", some ? 4 : 2);
}

/* ---- buffer size ---- */

uint32_t rules_grow(uint32_t capacity, uint32_t most)
{
    if (capacity >= most)
        return 0;
    return capacity > most / 2 ? most : capacity * 2;
}
