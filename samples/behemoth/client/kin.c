/* SPDX-License-Identifier: MIT */
/* Builds the families in three passes: finds the mothers that exist, breaks circles, and sorts. */
#include "view.h"

#include <stdlib.h>

/* Walks from each behemoth to its mother, her mother, and so on, until there is none or she was
 * visited before. If the present walk has visited her, the mothers form a circle, which is cut.
 * Here `depth` is the number of the walk that visited a behemoth; 0: none did. */
static void open_circles(struct kin *kin)
{
    for (size_t i = 0; i < kin->count; i++) {
        size_t way = i + 1;
        int64_t at = (int64_t)i;
        while (at != NO_MOTHER && kin->all[at].depth == 0) {
            kin->all[at].depth = way;
            int64_t mother = kin->all[at].mother;
            if (mother != NO_MOTHER && kin->all[mother].depth == way) {
                kin->all[at].mother = mother = NO_MOTHER;
                kin->circles++;
            }
            at = mother;
        }
    }
}

static void put_in_order(struct kin *kin, int64_t at)
{
    size_t depth = 0;
    for (size_t i = 0; at != NO_MOTHER; i++) {
        struct kin_one *one = &kin->all[at];
        kin->order[i] = (size_t)at;
        one->depth = depth;
        if (one->child != NO_MOTHER) {
            at = one->child;
            depth++;
            continue;
        }
        while (one->next == NO_MOTHER && one->mother != NO_MOTHER) {
            one = &kin->all[one->mother];
            depth--;
        }
        at = one->next;
    }
}

bool kin_find(struct kin *kin, const struct reader *reader)
{
    int64_t root = NO_MOTHER; /* the list of roots uses the links of sisters */
    kin_free(kin);
    kin->count = reader->count;
    kin->all = calloc(kin->count + 1, sizeof *kin->all);
    kin->order = calloc(kin->count + 1, sizeof *kin->order);
    if (!kin->all || !kin->order)
        return false;
    for (size_t i = 0; i < kin->count; i++) {
        int64_t mother = reader->all[i].mother;
        bool there = mother >= 0 && (uint64_t)mother < kin->count;
        kin->strays += !there && mother != NO_MOTHER;
        kin->all[i] = (struct kin_one){there ? mother : NO_MOTHER, NO_MOTHER, NO_MOTHER, 0};
    }
    open_circles(kin);
    /* backwards, so that sisters have the order of the answer */
    for (size_t i = kin->count; i-- > 0;) {
        struct kin_one *one = &kin->all[i];
        int64_t *first = one->mother == NO_MOTHER ? &root : &kin->all[one->mother].child;
        one->next = *first;
        *first = (int64_t)i;
        kin->families += one->mother == NO_MOTHER;
    }
    put_in_order(kin, root);
    return true;
}

void kin_free(struct kin *kin)
{
    free(kin->all);
    free(kin->order);
    *kin = (struct kin){0};
}
