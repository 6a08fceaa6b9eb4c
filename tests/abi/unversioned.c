/* SPDX-License-Identifier: MIT */
/*
 * A provider library as it was built before the tables (the arrays that describe objects and
 * counters) had a version. The structures are repeated here, because our headers have changed
 * since: its rows (one for each counter) have another length, it calls functions that no longer
 * exist, and it stores openperflib's state itself. Built with -DALONE, it calls no function of
 * ours, so the present library can load it.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct value {
    const void *source;
    const char *key;
    unsigned column, plus;
    int64_t times, parts;
    bool (*function)(void *reading, uint64_t *ret);
    const void *variable;
    size_t offset, size;
};
struct counter {
    uint32_t index, help_index, type;
    int32_t scale;
    uint32_t level;
    struct value value, base;
    unsigned total;
    const char *name, *help, *where;
    struct value item;
    const void *if_source;
    const char *if_word;
};
struct object {
    uint32_t index, help_index;
    const char *name, *help;
    const struct counter *counters;
    size_t counter_count;
    uint32_t default_counter;
    bool clock, costly;
    const struct object *related;
    bool instances;
    const char *total;
    struct {
        const void *source;
        const char *prefix;
        unsigned name, skip;
    } lines;
    void (*list)(void *listing);
    const struct object *listed_with;
    const char *needs;
    bool only_with_instances, known_only;
    const struct object *rows_as;
};
struct table_list {
    const struct object *const *objects;
    size_t count;
    const char *service;
    const char *procedures[3];
};
struct entry {
    const struct table_list *tables;
    void (*begin)(void);
    void *provider;
    unsigned opened;
};

static uint32_t number = 4711;
static const struct counter rows[] = {
    {2,
     2, 0x00010000,
     0, 100,
     {.variable = &number, .size = sizeof number},
     .name = "Number",
     .help = "N."},
};
static const struct object object = {0, 0, "Old", "O.", rows, 1};
static const struct object *const objects[] = {&object};

#define EXPORT __attribute__((visibility("default")))
extern EXPORT const struct table_list opl_tables;
const struct table_list opl_tables = {
    objects, 1, "Old", {"Open", "Collect", "Close"}
};

EXPORT uint32_t Open(void *devices);
EXPORT uint32_t Collect(void *query, void **data, uint32_t *bytes, uint32_t *types);
EXPORT uint32_t Close(void);

#ifdef ALONE
uint32_t Open(void *devices)
{
    return 0;
}

uint32_t Collect(void *query, void **data, uint32_t *bytes, uint32_t *types)
{
    return *bytes = *types = 0;
}

uint32_t Close(void)
{
    return 0;
}
#else
static struct entry entry = {&opl_tables, NULL, NULL, 0};
uint32_t opl_entry_open(struct entry *entry, void *devices);
uint32_t opl_entry_collect(struct entry *entry, void *query, void **data, uint32_t *bytes,
                           uint32_t *types);
uint32_t opl_entry_close(struct entry *entry);

uint32_t Open(void *devices)
{
    return opl_entry_open(&entry, devices);
}

uint32_t Collect(void *query, void **data, uint32_t *bytes, uint32_t *types)
{
    return opl_entry_collect(&entry, query, data, bytes, types);
}

uint32_t Close(void)
{
    return opl_entry_close(&entry);
}
#endif
