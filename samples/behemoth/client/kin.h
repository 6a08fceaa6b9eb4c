/* SPDX-License-Identifier: MIT */
/*
 * Families: each behemoth below its mother. One without a mother, or whose mother is not in the
 * answer, is the root of a family; if mothers form a circle, which no correct answer has, one of
 * them becomes a root. Takes linear time and no recursion.
 */
#ifndef BEHEMOTH_CLIENT_KIN_H
#define BEHEMOTH_CLIENT_KIN_H

#include "shown.h"

struct kin_one {
    int64_t mother, child, next; /* positions, or SHOWN_NONE: the first child, the next sister */
    size_t depth;                /* 0: a root */
};

struct kin {
    size_t count;
    struct kin_one *all; /* by position */
    size_t *order;       /* positions, each behind the mother */
    size_t families;     /* roots */
    size_t strays;       /* named a mother who is not there */
    size_t circles;      /* were cut open */
    size_t capacity;
};

/* False: no memory; it is as it was. Begin with zeros. */
bool kin_find(struct kin *kin, const struct shown *shown);
void kin_free(struct kin *kin);

#endif
