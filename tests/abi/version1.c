/* SPDX-License-Identifier: MIT */
/*
 * A provider library as it was built with version 1 of the interface. It includes version1.h, not
 * our present headers. Macros build variants of it. LATER: as a later version may build it, with
 * one member more in each structure. BEYOND: one of these new members is used. RESERVED, SOURCE: a
 * member that version 1 reserves is used. SHORT: the rows of the tables (one for each counter) are
 * shorter than those of version 1.
 */
#include "version1.h"

enum { RAWCOUNT = 0x00010000, LARGE_RAWCOUNT = 0x00010100, TEXT = 0x00000b00, NOVICE = 100 };

#ifdef LATER
#define EXTRA uintptr_t extra[3];
#else
#define EXTRA
#endif
#ifdef BEYOND
#define USED .extra = {0, 0, 1}
#elif defined RESERVED
#define USED .is.reserved = {0, 0, 0, 1}
#else
#define USED .is.reserved = {0}
#endif

struct entry;
uint32_t opl_entry_open_1(struct entry **entry, const void *tables, const void *devices);
uint32_t opl_entry_collect_1(struct entry *entry, const void *query, void **data, uint32_t *bytes,
                             uint32_t *types);
uint32_t opl_entry_close_1(struct entry **entry);
void *opl_listing_of(void *listing, const void *object);
void opl_listing_item(void *listing, const char *name, const void *item);
void opl_listing_parent(void *listing, const void *parent, uint32_t position);
uint64_t opl_reading_note(const void *reading);

struct row {
    struct v1_counter is;
    EXTRA
};
struct object {
    struct v1_object is;
    EXTRA
};
struct list {
    struct v1_table_list is;
    EXTRA
};

static const struct v1_source other_file = {
    .path = "proc/stat",
#ifdef SOURCE
    .reserved = {1},
#endif
};
static uint32_t number = 4711;
static char motto[16] = "as it was";
static const struct thing {
    uint64_t weight;
} things[] = {{30}, {12}};
static const char *const names[] = {"one", "two"};

static bool compute(void *reading, uint64_t *ret)
{
    *ret = 40 + opl_reading_note(reading);
    return true;
}

static const struct row parent_rows[] = {
    {.is = {.index = 2,
            .help_index = 2,
            .type = RAWCOUNT,
            .level = NOVICE,
            .value = {.variable = &number, .size = sizeof number},
            .name = "Number",
            .help = "N."}},
    {.is = {.index = 4,
            .help_index = 4,
            .type = LARGE_RAWCOUNT,
            .level = NOVICE,
            .value = {.offset = offsetof(struct thing, weight), .size = sizeof(uint64_t)},
            .name = "Weight",
            .help = "W."}},
    {.is = {.index = 6,
            .help_index = 6,
            .type = TEXT,
            .level = NOVICE,
            .value = {.variable = motto, .size = sizeof motto},
            .name = "Motto",
            .help = "M."}},
};
static const struct row child_rows[] = {
    {.is = {.index = 10,
            .help_index = 10,
            .type = RAWCOUNT,
            .level = NOVICE,
            .value = {.function = compute},
            .name = "Computed",
            .help = "C."},
     USED},
    {.is = {.index = 12,
            .help_index = 12,
            .type = LARGE_RAWCOUNT,
            .level = NOVICE,
            .value = {.source = &other_file, .key = "btime", .unit = {1, 1}},
            .name = "Begin",
            .help = "B."}                        },
};

static void list(void *listing);
static const struct object parent = {
    .is = {.index = 0,
           .help_index = 0,
           .name = "Frozen",
           .help = "F.",
           .counters = &parent_rows[0].is,
           .counter_count = 3,
           .instances = true,
           .total = "_Total",
           .list = list}
};
static const struct object child = {
    .is = {.index = 8,
           .help_index = 8,
           .name = "Frozen Child",
           .help = "F.",
           .counters = &child_rows[0].is,
           .counter_count = 2,
           .related = &parent.is,
           .instances = true,
           .listed_with = &parent.is}
};

static void list(void *listing)
{
    void *below = opl_listing_of(listing, &child.is);
    for (uint32_t i = 0; i < 2; i++)
        opl_listing_item(listing, names[i], &things[i]);
    for (uint32_t i = 0; below && i < 2; i++) {
        opl_listing_item(below, names[1 - i], NULL);
        opl_listing_parent(below, &parent.is, i);
    }
}

#define EXPORT __attribute__((visibility("default")))
static const struct v1_object *const objects[] = {&parent.is, &child.is};
extern EXPORT const struct list opl_tables_1;
const struct list opl_tables_1 = {
    .is = {.size = sizeof(struct list),
           .object_size = sizeof(struct object),
#ifdef SHORT
           .counter_size = sizeof(struct row) - sizeof(void *),
#else
           .counter_size = sizeof(struct row),
#endif
           .objects = objects,
           .count = 2,
           .service = "Frozen",
           .procedures = {"Open", "Collect", "Close"}},
};
static struct entry *entry;

EXPORT uint32_t Open(void *devices);
EXPORT uint32_t Collect(void *query, void **data, uint32_t *bytes, uint32_t *types);
EXPORT uint32_t Close(void);

uint32_t Open(void *devices)
{
    return opl_entry_open_1(&entry, &opl_tables_1, devices);
}

uint32_t Collect(void *query, void **data, uint32_t *bytes, uint32_t *types)
{
    return opl_entry_collect_1(entry, query, data, bytes, types);
}

uint32_t Close(void)
{
    return opl_entry_close_1(&entry);
}
