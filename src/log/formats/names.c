/* SPDX-License-Identifier: MIT */
/*
 * The names of a machine's objects and counters by their number. A long table is stored in several
 * records, each of which begins with the machine's name; here they become one table. If a number
 * has two names, the first is kept, so that reading a capture again does not change the table.
 */
#include "log/inner.h"

#include <stdlib.h>

void names_done(struct column_names *names)
{
    buffer_done(&names->text);
    free(names->table);
}

/* Returns the entry of the index in the table; if the table lacks the index, the free entry for
 * it. */
static struct column_name *place_of(const struct column_names *names, uint32_t index)
{
    uint32_t hash = index * 2654435769u;
    size_t at = (hash ^ hash >> 15) & (names->capacity - 1);
    while (names->table[at].offset && names->table[at].index != index)
        at = (at + 1) & (names->capacity - 1);
    return &names->table[at];
}

static bool grow(struct column_names *names)
{
    struct column_names grown = {.capacity = names->capacity ? names->capacity * 2 : 256};
    grown.table = calloc(grown.capacity, sizeof(*grown.table));
    if (!grown.table)
        return false;
    for (size_t i = 0; i < names->capacity; i++)
        if (names->table[i].offset)
            *place_of(&grown, names->table[i].index) = names->table[i];
    free(names->table);
    names->table = grown.table;
    names->capacity = grown.capacity;
    return true;
}

bool names_add(struct column_names *names, uint32_t index, const char *name)
{
    if (2 * names->count >= names->capacity && !grow(names))
        return false;
    struct column_name *place = place_of(names, index);
    if (place->offset)
        return true;
    size_t offset = names->text.len; /* never 0, because the machine's name is at 0 */
    if (offset > LIMIT_RECORD || !buffer_add(&names->text, name, strlen(name) + 1))
        return false;
    *place = (struct column_name){index, (uint32_t)offset};
    names->count++;
    return true;
}

/* Compares machines without leading backslashes, because name tables may have \\server and columns
 * server. */
static bool same_machine(const char *one, const char *other)
{
    return text_equal_fold(one + strspn(one, "\\"), other + strspn(other, "\\"));
}

static struct column_names *find(const struct log *log, const char *machine)
{
    for (size_t i = 0; i < log->name_count; i++)
        if (same_machine(log->names[i].text.data, machine ? machine : ""))
            return &log->names[i];
    return NULL;
}

struct column_names *names_of(struct log *log, const char *machine)
{
    struct column_names *found = find(log, machine);
    if (found)
        return found;
    struct column_names *list = realloc(log->names, (log->name_count + 1) * sizeof(*list));
    if (!list)
        return NULL;
    log->names = list;
    found = &list[log->name_count];
    *found = (struct column_names){0};
    if (!buffer_add(&found->text, machine, strlen(machine) + 1)) {
        buffer_done(&found->text);
        return NULL;
    }
    log->name_count++;
    return found;
}

const char *log_name(const struct log *log, const char *machine, DWORD index)
{
    const struct column_names *names = find(log, machine);
    if (!names && log->name_count == 1)
        names = log->names;
    if (!names || !names->count)
        return NULL;
    const struct column_name *place = place_of(names, index);
    return place->offset ? names->text.data + place->offset : NULL;
}
