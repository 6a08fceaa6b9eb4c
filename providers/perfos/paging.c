/* SPDX-License-Identifier: MIT */
/*
 * Paging File (700): an instance per swap area, named by its path with slashes. On a machine
 * without swap the object is absent, because there is no area of which a share could be in use.
 */
#include <string.h>

#include "perfos.h"

static const opl_source swaps = {.path = "proc/swaps"};

enum { FILENAME = 1, SIZE = 3, USED = 4, NAME_SIZE = 1024 };

static size_t read_name(const char *line, char *name)
{
    size_t bytes = opl_octal_name(name, NAME_SIZE, line, strcspn(line, " \t\n"));
    return opl_sanitize_name(name, NAME_SIZE, name, bytes, true);
}

static void list_areas(opl_listing *listing)
{
    const char *text = opl_reading_text(opl_listing_reading(listing), &swaps, NULL);
    if (!text)
        return;
    uint64_t number = 0;
    for (const char *line = opl_next_line(text); *line; line = opl_next_line(line)) {
        char name[NAME_SIZE];
        opl_listing_read_with(listing, "", name, read_name(line, name), ++number, NULL);
    }
}

/* The number in word `column` of the instance's line in proc/swaps; sizes are in KiB. */
static bool line_number(opl_reading *reading, unsigned column, uint64_t *ret)
{
    const char *line = opl_reading_text(reading, &swaps, NULL);
    for (uint64_t skip = opl_reading_note(reading); line && skip > 0; skip--)
        line = opl_next_line(line);
    for (unsigned word = 1; line && word < column; word++) {
        line += strcspn(line, " \t\n");
        line += strspn(line, " \t");
    }
    if (!line || *line < '0' || *line > '9')
        return false;
    for (*ret = 0; *line >= '0' && *line <= '9'; line++)
        *ret = *ret * 10 + (uint64_t)(*line - '0');
    return true;
}

static bool used(opl_reading *reading, uint64_t *ret)
{
    return line_number(reading, USED, ret);
}

static bool size(opl_reading *reading, uint64_t *ret)
{
    return line_number(reading, SIZE, ret);
}

/* clang-format off */
static const opl_counter counters[] = {
    {702, 703, PERF_RAW_FRACTION, 0, PERF_DETAIL_ADVANCED, OPL_FN_OF(&swaps, used), .base = OPL_FN_OF(&swaps, size), .total = OPL_SUM, .name = "% Usage",
     .help = "Share of the swap area that is in use.", .where = "proc/swaps: Used; divided by Size"},
};
/* clang-format on */

const opl_object perfos_paging_file = {700,
                                       701,
                                       "Paging File",
                                       "How full the swap areas are.",
                                       OPL_COUNTERS(counters),
                                       .default_counter = 702,
                                       .instances = true,
                                       .only_with_instances = true,
                                       .total = "_Total",
                                       .list = list_areas};
