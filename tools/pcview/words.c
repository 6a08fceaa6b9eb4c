/* SPDX-License-Identifier: MIT */
/* Texts for parts of a block. */
#include "pcview.h"

#include <string.h>

const char *level_word(DWORD level)
{
    switch (level) {
    case PERF_DETAIL_NOVICE:
        return "novice";
    case PERF_DETAIL_ADVANCED:
        return "advanced";
    case PERF_DETAIL_EXPERT:
        return "expert";
    case PERF_DETAIL_WIZARD:
        return "wizard";
    default:
        return "other";
    }
}

const char *type_word(const struct view_counter *counter)
{
    return counter->type.name ? counter->type.name : "(no named type)";
}

void type_fields(const struct view_counter *counter, char *out, size_t capacity)
{
    const opl_type_info *type = &counter->type;
    const char *parts[] = {
        type->size_text,
        type->type_text,
        type->subtype_text,
        type->timer_text,
        type->delta_counter ? "DELTA_COUNTER" : "",
        type->delta_base ? "DELTA_BASE" : "",
        type->inverse ? "INVERSE" : "",
        type->multi ? "MULTI" : "",
        type->display_text,
    };
    size_t used = 0;
    if (capacity)
        out[0] = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i] && *parts[i] && used < capacity)
            used +=
                (size_t)snprintf(out + used, capacity - used, "%s%s", used ? " " : "", parts[i]);
}

void block_time(const opl_block *block, char *out, size_t capacity)
{
    const SYSTEMTIME *time = &block->header.SystemTime;
    snprintf(out, capacity, "%04u-%02u-%02u %02u:%02u:%02u", time->wYear, time->wMonth, time->wDay,
             time->wHour, time->wMinute, time->wSecond);
}

void block_system(const opl_block *block, char *out, size_t capacity)
{
    char name[256];
    opl_block_system_name(block, name, sizeof name);
    text_clean(name, out, capacity);
}

struct style style_make(bool colours)
{
    if (!colours)
        return (struct style){"", "", "", "", "", "", ""};
    return (struct style){"\033[1m",  "\033[2m",  "\033[1;36m", "\033[32m",
                          "\033[33m", "\033[31m", "\033[0m"};
}
