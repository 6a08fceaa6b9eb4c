/* SPDX-License-Identifier: MIT */
/* The last instance, `_Total`: each row's rule over those values that could be read. */
#include "object/object.h"

#include <string.h>

static bool known(const opl_listing *listing, size_t position, size_t row)
{
    const uint64_t *unknown = listing->unknown + position * listing->object->mask_words;
    return !(unknown[row / 64] >> row % 64 & 1);
}

static uint64_t row_sum(const opl_listing *listing, size_t count, size_t row, size_t *ret_known)
{
    uint64_t sum = 0;
    *ret_known = 0;
    for (size_t i = 0; i < count; i++)
        if (known(listing, i, row)) {
            sum += listing->values[i * listing->object->all_rows + row];
            ++*ret_known;
        }
    return sum;
}

/* The total of the children belongs to the total of their parents, which is made before. */
static void total_parent(opl_listing *listing)
{
    const opl_object *parent = listing->object->is->listed_with;
    const opl_listing *parents = parent ? opl_listing_of(listing, parent) : NULL;
    if (parents && parents->count)
        opl_listing_parent(listing, parent, (uint32_t)parents->count - 1);
}

/* Row after row over all instances: the sum of one column. */
void listing_total(opl_listing *listing)
{
    const struct object *object = listing->object;
    size_t count = listing->count, knowns;
    opl_listing_add(listing, object->is->total, strlen(object->is->total));
    if (listing->count == count)
        return;
    total_parent(listing);
    uint64_t *total = listing->values + count * object->all_rows;
    for (size_t i = 0; i < object->row_count; i++) {
        opl_total rule = object->rows[i].total;
        if (object->rows[i].text)
            continue; /* texts have no sum */
        if (rule == OPL_SUM || rule == OPL_MEAN)
            total[i] = row_sum(listing, count, i, &knowns);
        if (rule == OPL_MEAN && knowns)
            total[i] /= knowns;
        if (rule == OPL_NOW)
            total[i] = (uint64_t)listing->provider->time;
    }
}
