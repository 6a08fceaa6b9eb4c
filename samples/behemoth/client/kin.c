/* SPDX-License-Identifier: MIT */
/* Three passes: find existing mothers, break circles, and sort. */
#include "kin.h"

#include <stdlib.h>

static bool reserve(struct kin *kin, size_t count)
{
    if (count <= kin->capacity)
        return true;
    struct kin_one *all = realloc(kin->all, count * sizeof *all);
    if (all)
        kin->all = all;
    size_t *order = all ? realloc(kin->order, count * sizeof *order) : NULL;
    if (!order)
        return false;
    kin->order = order;
    kin->capacity = count;
    return true;
}

static void take_mothers(struct kin *kin, const struct shown *shown)
{
    for (size_t i = 0; i < kin->count; i++) {
        int64_t mother = shown->all[i].mother;
        bool there = mother >= 0 && (uint64_t)mother < kin->count;
        kin->strays += !there && mother != SHOWN_NONE;
        kin->all[i] = (struct kin_one){there ? mother : SHOWN_NONE, SHOWN_NONE, SHOWN_NONE, 0};
    }
}

/* Goes up from each behemoth to a root or to one visited before; one visited on the same way is
 * in a circle. Until the end `depth` is the number of the way. */
static void open_circles(struct kin *kin)
{
    for (size_t i = 0; i < kin->count; i++) {
        size_t way = i + 1;
        int64_t at = (int64_t)i;
        while (at != SHOWN_NONE && kin->all[at].depth == 0) {
            kin->all[at].depth = way;
            int64_t mother = kin->all[at].mother;
            if (mother != SHOWN_NONE && kin->all[mother].depth == way) {
                kin->all[at].mother = mother = SHOWN_NONE;
                kin->circles++;
            }
            at = mother;
        }
    }
}

/* From the last to the first, so that sisters have the answer's order. Returns the first root:
 * roots are sisters too. */
static int64_t link_sisters(struct kin *kin)
{
    int64_t root = SHOWN_NONE;
    for (size_t i = kin->count; i-- > 0;) {
        struct kin_one *one = &kin->all[i];
        int64_t *first = one->mother == SHOWN_NONE ? &root : &kin->all[one->mother].child;
        one->next = *first;
        *first = (int64_t)i;
        kin->families += one->mother == SHOWN_NONE;
    }
    return root;
}

static void put_in_order(struct kin *kin, int64_t at)
{
    size_t depth = 0;
    for (size_t i = 0; at != SHOWN_NONE; i++) {
        struct kin_one *one = &kin->all[at];
        kin->order[i] = (size_t)at;
        one->depth = depth;
        if (one->child != SHOWN_NONE) {
            at = one->child;
            depth++;
            continue;
        }
        while (one->next == SHOWN_NONE && one->mother != SHOWN_NONE) {
            one = &kin->all[one->mother];
            depth--;
        }
        at = one->next;
    }
}

bool kin_find(struct kin *kin, const struct shown *shown)
{
    if (!reserve(kin, shown->count))
        return false;
    kin->count = shown->count;
    kin->families = kin->strays = kin->circles = 0;
    take_mothers(kin, shown);
    open_circles(kin);
    put_in_order(kin, link_sisters(kin));
    return true;
}

void kin_free(struct kin *kin)
{
    free(kin->all);
    free(kin->order);
    *kin = (struct kin){0};
}
