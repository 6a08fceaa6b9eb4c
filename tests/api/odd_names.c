/* SPDX-License-Identifier: MIT */
/* A provider whose instances have names that no instance should have: duplicates, and names with
 * characters that have a meaning in counter paths. The value of each instance is its position. */
#include <openperflib/object.h>

#include <string.h>

static const char *const names[] = {"twin", "Twin", "twin (2)", "twin#1", "a/b", "c)(d", "e*"};
static const char *const children[] = {"0", "0", "f/g"};
enum { POSITION = 2, CHILD_POSITION = 6, FIRST_PARENT = 3 };

/* clang-format off */
static const opl_counter counters[] = {
    {.index = POSITION, .help_index = POSITION, .type = PERF_COUNTER_LARGE_RAWCOUNT, .level = PERF_DETAIL_NOVICE,
     .name = "Position", .help = "Where the instance stands."}};
static const opl_counter child_counters[] = {
    {.index = CHILD_POSITION, .help_index = CHILD_POSITION, .type = PERF_COUNTER_LARGE_RAWCOUNT, .level = PERF_DETAIL_NOVICE,
     .name = "Child Position", .help = "Where the instance stands."}};
/* clang-format on */

static void list_names(opl_listing *listing);
static const opl_object odd_names = {
    .name = "Odd Names",
    .help = "Instances with odd names.",
    OPL_COUNTERS(counters),
    .instances = true,
    .list = list_names,
};
static const opl_object odd_children = {
    .index = 4,
    .help_index = 4,
    .name = "Odd Children",
    .help = "Instances of parents with odd names.",
    OPL_COUNTERS(child_counters),
    .related = &odd_names,
    .instances = true,
    .listed_with = &odd_names,
};

static void list_names(opl_listing *listing)
{
    opl_listing *below = opl_listing_of(listing, &odd_children);
    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++) {
        opl_listing_add(listing, names[i], strlen(names[i]));
        opl_listing_set(listing, POSITION, i);
    }
    for (uint32_t i = 0; below && i < sizeof children / sizeof *children; i++) {
        opl_listing_add(below, children[i], strlen(children[i]));
        opl_listing_set(below, CHILD_POSITION, i);
        opl_listing_parent(below, &odd_names, FIRST_PARENT + i);
    }
}

static const opl_object *const objects[] = {&odd_names, &odd_children};
OPL_PROVIDER("OddNames", objects);
