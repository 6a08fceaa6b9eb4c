/* SPDX-License-Identifier: MIT */
/* Converts the rows of a library's tables to entries of a symbol file, each with a unique
 * symbol. */
#include "tables.h"

#include "../view/text.h"

#include <stdlib.h>
#include <string.h>

/* Appends the text as a part of a symbol: ASCII letters and digits in upper case; other characters
 * become one '_' between them. */
static size_t add_slug(char *out, size_t used, const char *text)
{
    for (bool gap = used > 0; *text; text++) {
        char c = *text >= 'a' && *text <= 'z' ? (char)(*text - 'a' + 'A') : *text;
        if ((c < 'A' || c > 'Z') && (c < '0' || c > '9')) {
            gap = used > 0;
            continue;
        }
        if (gap)
            out[used++] = '_';
        gap = false;
        out[used++] = c;
    }
    return used;
}

/* Makes a symbol OBJECT or OBJECT_COUNTER, a C identifier, which does not begin with a digit. */
static char *make_symbol(const char *object, const char *counter, DWORD index)
{
    size_t used = 0, capacity = strlen(object) + (counter ? strlen(counter) : 0) + 32;
    char *symbol = malloc(capacity);
    if (!symbol)
        return NULL;
    if (*object >= '0' && *object <= '9')
        symbol[used++] = '_';
    used = add_slug(symbol, used, object);
    size_t before = used;
    if (counter)
        used = add_slug(symbol, used, counter);
    symbol[used] = '\0';
    if (used == (counter ? before : 0)) /* the text has no character that a symbol may have */
        sprintf(symbol + used, "%s_%u", counter ? "" : "OBJECT", (unsigned)index);
    return symbol;
}

static bool complain(const char *library, const char *object, const char *name, const char *why)
{
    fprintf(stderr, "openperflib-tables: %s: object \"%s\"%s%s%s: %s\n", text_seen(library),
            text_seen(object), name ? ", counter \"" : "", name ? text_seen(name) : "",
            name ? "\"" : "", why);
    return false;
}

/* Reports two entries with one index; returns false. `last`: the highest index in use. */
static bool complain_of_two(const char *library, const struct table_entry *second, DWORD last)
{
    fprintf(stderr,
            "openperflib-tables: %s: \"%s\" and \"%s\": both have the same index, %u; give one of "
            "them another even index: %u is free\n",
            text_seen(library), text_seen(second[-1].name), text_seen(second->name),
            (unsigned)second->index, (unsigned)last + 2);
    return false;
}

static const char *judge(const struct table_entry *entry, DWORD help_index)
{
    if (entry->index % 2)
        return "its index is odd; lodctr needs even offsets: 0, 2, 4, ...";
    if (help_index != entry->index)
        return "its help index differs from its index; lodctr adds one offset to both";
    if (!entry->name || !*entry->name || !entry->help)
        return "its name or its help is missing";
    if (entry->name[strcspn(entry->name, "\n\r\t")] || entry->help[strcspn(entry->help, "\n\r\t")])
        return "a text of an ini file must be one line without tabs";
    return entry->symbol ? NULL : "no memory";
}

static bool add(struct entries *entries, const char *library, const opl_object *object,
                const opl_counter *row)
{
    struct table_entry *entry = &entries->list[entries->count++];
    entry->object = !row;
    entry->index = row ? row->index : object->index;
    entry->name = row ? row->name : object->name;
    entry->help = row ? row->help : object->help;
    entry->symbol = make_symbol(object->name, row ? row->name : NULL, entry->index);
    const char *why = judge(entry, row ? row->help_index : object->help_index);
    return !why || complain(library, object->name, row ? row->name : NULL, why);
}

static int by_index(const void *left, const void *right)
{
    const struct table_entry *a = left, *b = right;
    return (a->index > b->index) - (a->index < b->index);
}

/* Makes symbols unique: if names would have equal symbols, their numbers are appended. */
static bool make_unique(struct entries *entries, const char *library)
{
    for (size_t i = 0; i < entries->count; i++) {
        struct table_entry *entry = &entries->list[i];
        if (i > 0 && entry->index == entry[-1].index)
            return complain_of_two(library, entry, entries->list[entries->count - 1].index);
        for (size_t other = 0; other < i; other++)
            if (strcmp(entries->list[other].symbol, entry->symbol) == 0) {
                char *longer = malloc(strlen(entry->symbol) + 16);
                if (!longer)
                    return false;
                sprintf(longer, "%s_%u", entry->symbol, (unsigned)entry->index);
                free(entry->symbol);
                entry->symbol = longer;
            }
    }
    return true;
}

bool entries_read(const char *library, const opl_table_list *tables, struct entries *ret)
{
    size_t count = 0;
    for (size_t i = 0; i < tables->count; i++)
        count += 1 + tables->objects[i]->counter_count;
    *ret = (struct entries){.tables = tables, .list = calloc(count + 1, sizeof *ret->list)};
    if (!ret->list)
        return false;
    bool good = true;
    for (size_t i = 0; i < tables->count && good; i++) {
        const opl_object *object = tables->objects[i];
        good = add(ret, library, object, NULL);
        for (size_t row = 0; row < object->counter_count && good; row++)
            good = add(ret, library, object, &object->counters[row]);
    }
    qsort(ret->list, ret->count, sizeof *ret->list, by_index);
    return good && make_unique(ret, library);
}

void entries_done(struct entries *entries)
{
    for (size_t i = 0; i < entries->count; i++)
        free(entries->list[i].symbol);
    free(entries->list);
}
