/* SPDX-License-Identifier: MIT */
/*
 * Paging File (700): an instance per swap area, named by its path, slashes and all. With no swap
 * only _Total is there, and shows 0.
 */
#include <string.h>

#include "perfos.h"

static const opl_source swaps = {.path = "proc/swaps"};

enum { FILENAME = 1, SIZE = 3, USED = 4, NAME_ROOM = 1024 };

static const char *next_line(const char *text)
{
    const char *end = strchr(text, '\n');
    return end ? end + 1 : text + strlen(text);
}

/* The kernel writes blanks, line ends and backslashes as three octal digits: "\040". */
static char unescape(const char **at)
{
    const char *text = *at;
    if (text[0] == '\\' && text[1] >= '0' && text[1] <= '3' && text[2] >= '0' && text[2] <= '7' &&
        text[3] >= '0' && text[3] <= '7') {
        *at += 4;
        return (char)((text[1] - '0') * 64 + (text[2] - '0') * 8 + (text[3] - '0'));
    }
    return *(*at)++;
}

static size_t read_name(const char *line, char *name)
{
    size_t bytes = 0;
    while (*line && !strchr(" \t\n", *line) && bytes < NAME_ROOM - 1)
        name[bytes++] = unescape(&line);
    return opl_harmless_name(name, NAME_ROOM, name, bytes, true);
}

static void list_areas(opl_listing *listing)
{
    const char *text = opl_reading_text(opl_listing_reading(listing), &swaps, NULL);
    if (!text)
        return;
    uint64_t number = 0;
    for (const char *line = next_line(text); *line; line = next_line(line)) {
        char name[NAME_ROOM];
        opl_listing_read_note(listing, "", name, read_name(line, name), ++number);
    }
}

/* A number of the instance's line; sizes are in KiB. */
static bool line_number(opl_reading *reading, unsigned column, uint64_t *ret)
{
    const char *line = opl_reading_text(reading, &swaps, NULL);
    for (uint64_t skip = opl_reading_note(reading); line && skip > 0; skip--)
        line = next_line(line);
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
     .help = "Share of the swap area that is in use.", .where = "proc/swaps: Used and Size"},
};
/* clang-format on */

const opl_object perfos_paging_file = {700,
                                       701,
                                       "Paging File",
                                       "How full the swap areas are.",
                                       OPL_COUNTERS(counters),
                                       .default_counter = 702,
                                       .instances = true,
                                       .total = "_Total",
                                       .list = list_areas};
