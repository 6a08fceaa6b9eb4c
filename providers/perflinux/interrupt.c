/* SPDX-License-Identifier: MIT */
/*
 * Interrupt (100300): the count of each interrupt, on all processors together. Costly, because on
 * large machines proc/interrupts is a megabyte of text.
 */
#include <stdio.h>
#include <string.h>

#include "perflinux.h"

static const opl_source interrupts = {.path = "proc/interrupts"};

enum { NAME_SIZE = 256 };

/* Returns the sum of the numbers in a line such as " 24: 1 0 PCI-MSIX-0000:00:01.0 3-edge
 * virtio0-stats", from *at on; *at becomes the position of the description after the numbers. */
static uint64_t read_counts(const char **at)
{
    uint64_t sum = 0;
    for (;;) {
        const char *number = *at + strspn(*at, " ");
        size_t digits = strspn(number, "0123456789");
        if (!digits || (number[digits] != ' ' && number[digits] != '\n' && number[digits]))
            return sum;
        sum += perflinux_number(&number);
        *at = number;
    }
}

/* Makes the instance's name, such as "24 virtio0-stats", from the label and a part of the
 * description `what`: for a device only its name, which is the last words, else the whole
 * description. */
static void make_name(const char *label, size_t label_bytes, const char *what, char *name)
{
    size_t used, bytes = strcspn(what, "\n");
    while (bytes && what[bytes - 1] == ' ')
        bytes--;
    if (*label >= '0' && *label <= '9')
        for (const char *gap; (gap = memmem(what, bytes, "  ", 2)) != NULL;) {
            gap += strspn(gap, " ");
            bytes -= (size_t)(gap - what);
            what = gap;
        }
    used = opl_sanitize_name(name, NAME_SIZE / 2, label, label_bytes, false);
    if (bytes)
        name[used++] = ' ';
    opl_sanitize_name(name + used, NAME_SIZE - used, what, bytes, false);
}

/* False for ERR and MIS: these lines of /proc/interrupts count errors, not interrupts, and have one
 * number for the whole machine instead of one for each processor. */
static bool is_interrupt(const char *label, size_t bytes)
{
    return !(bytes == 3 && (strncasecmp(label, "ERR", 3) == 0 || memcmp(label, "MIS", 3) == 0));
}

static void list(opl_listing *listing)
{
    const char *line = opl_reading_text(opl_listing_reading(listing), &interrupts, NULL);
    if (line)
        line = opl_next_line(line); /* skips the heading, which has the names of the columns */
    for (; line && *line; line = opl_next_line(line)) {
        char name[NAME_SIZE];
        const char *label = line + strspn(line, " "), *at = label + strcspn(label, ":\n");
        if (*at != ':' || !is_interrupt(label, (size_t)(at - label)))
            continue;
        size_t label_bytes = (size_t)(at++ - label);
        uint64_t count = read_counts(&at);
        at += strspn(at, " ");
        make_name(label, label_bytes, at, name);
        opl_listing_item(listing, name, &count);
    }
}

static bool count(opl_reading *reading, uint64_t *ret)
{
    const uint64_t *counted = opl_reading_item(reading);
    *ret = counted ? *counted : 0;
    return counted != NULL;
}

/* clang-format off */
static const opl_counter counters[] = {
    {148, 149, PERF_COUNTER_COUNTER, -2, PERF_DETAIL_NOVICE, OPL_FN_OF(&interrupts, count), .total = OPL_SUM, .name = "Interrupts/sec",
     .help = "How often per second the interrupt came, on all processors together.", .where = "proc/interrupts: the sum of the line"},
};
/* clang-format on */

const opl_object perflinux_interrupt = {
    100300,
    100301,
    "Interrupt",
    "How often each interrupt comes: those of devices by number and name, and the processors' own.",
    OPL_COUNTERS(counters),
    .default_counter = 148,
    .costly = true,
    .needs = "proc/interrupts",
    .only_with_instances = true,
    .instances = true,
    .total = "_Total",
    .list = list};
