/* SPDX-License-Identifier: MIT */
/*
 * Version 1 of the interface between provider libraries and openperflib, copied by hand. Libraries
 * that were built with this version are in use, so this file never changes. It does not include our
 * headers: layout.c compares them with this file.
 */
#ifndef OPL_TEST_ABI_VERSION1_H
#define OPL_TEST_ABI_VERSION1_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct v1_source {
    const char *path;
    bool stat, persistent, pairs;
    const struct v1_source *if_source;
    unsigned if_word;
    bool watched, pieces;
    uintptr_t reserved[4];
};

struct v1_unit {
    int64_t times, parts;
};

struct v1_value {
    const struct v1_source *source;
    const char *key;
    unsigned column, plus;
    struct v1_unit unit;
    bool (*function)(void *reading, uint64_t *ret);
    const void *variable;
    size_t offset, size;
};

struct v1_counter {
    uint32_t index, help_index, type;
    int32_t scale;
    uint32_t level;
    struct v1_value value, base;
    unsigned total;
    const char *name, *help, *where;
    struct v1_value item;
    const struct v1_source *if_source;
    const char *if_word;
    uintptr_t reserved[4];
};

struct v1_lines {
    const struct v1_source *source;
    const char *prefix;
    unsigned name, skip;
};

struct v1_object {
    uint32_t index, help_index;
    const char *name, *help;
    const struct v1_counter *counters;
    size_t counter_count;
    uint32_t default_counter;
    bool clock, costly;
    const struct v1_object *related;
    bool instances;
    const char *total;
    struct v1_lines lines;
    void (*list)(void *listing);
    const struct v1_object *listed_with;
    const char *needs;
    bool only_with_instances, known_only;
    const struct v1_object *rows_as;
    uintptr_t reserved[8];
};

struct v1_table_list {
    uint32_t size, object_size, counter_size, flags;
    const struct v1_object *const *objects;
    size_t count;
    const char *service;
    const char *procedures[3];
    void (*begin)(void);
    uintptr_t reserved[4];
};

#endif
