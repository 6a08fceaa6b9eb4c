/* SPDX-License-Identifier: MIT */
/* Writes the last instance, `_Total`, by each row's rule from the values that could be read. */
#include "object/object.h"

#include <string.h>

/* For each row: the sum of the values that could be read, and the number of those that could
 * not. */
struct sums {
    uint64_t sum[OBJECT_MAX_ROWS];
    size_t unknown[OBJECT_MAX_ROWS];
};

static void leave_out(const uint64_t *unknown, const uint64_t *values, size_t rows,
                      struct sums *sums)
{
    for (size_t i = 0; i < rows; i++)
        if (unknown[i / 64] >> i % 64 & 1) {
            sums->sum[i] -= values[i];
            sums->unknown[i]++;
        }
}

/* Adds up each row's values. The loop goes through the instances in the order in which they lie in
 * memory. */
static void add_up(const opl_listing *listing, size_t count, struct sums *sums)
{
    const struct object *object = listing->object;
    size_t rows = object->row_count;
    memset(sums->sum, 0, rows * sizeof *sums->sum);
    memset(sums->unknown, 0, rows * sizeof *sums->unknown);
    for (size_t i = 0; i < count; i++) {
        const uint64_t *values = listing->values + i * object->all_rows;
        const uint64_t *unknown = listing->unknown + i * object->mask_words;
        uint64_t any = 0;
        for (size_t j = 0; j < rows; j++)
            sums->sum[j] += values[j];
        for (size_t j = 0; j < object->mask_words; j++)
            any |= unknown[j];
        if (any)
            leave_out(unknown, values, rows, sums);
    }
}

/* Makes the last instance of the parent object (its total) the parent of this total. */
static void total_parent(opl_listing *listing)
{
    const opl_object *parent = listing->object->is->listed_with;
    const opl_listing *parents = parent ? opl_listing_of(listing, parent) : NULL;
    if (parents && parents->count)
        opl_listing_parent(listing, parent, (uint32_t)parents->count - 1);
}

void listing_total(opl_listing *listing)
{
    const struct object *object = listing->object;
    size_t count = listing->count;
    struct sums sums;
    opl_listing_add(listing, object->is->total, strlen(object->is->total));
    if (listing->count == count)
        return;
    total_parent(listing);
    add_up(listing, count, &sums);
    uint64_t *total = listing->values + count * object->all_rows;
    for (size_t i = 0; i < object->row_count; i++) {
        opl_total rule = object->rows[i].total;
        if (object->rows[i].text)
            continue; /* texts have no total */
        if (rule == OPL_SUM || rule == OPL_MEAN)
            total[i] = sums.sum[i];
        if (rule == OPL_MEAN && sums.unknown[i] < count)
            total[i] /= count - sums.unknown[i];
        if (rule == OPL_NOW)
            total[i] = (uint64_t)listing->provider->time;
    }
}
