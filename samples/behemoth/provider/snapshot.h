/* SPDX-License-Identifier: MIT */
/* The herd as the server told it last, kept for a tenth of a second, or until it can be asked
 * again. */
#ifndef BEHEMOTH_PROVIDER_SNAPSHOT_H
#define BEHEMOTH_PROVIDER_SNAPSHOT_H

#include "../common/exchange.h"

/* A behemoth, and what its counters say that the server does not. */
struct snapshot_item {
    const struct behemoth *is;
    int64_t birthday; /* in the herd's time */
    int64_t since;    /* the age as a beginning in our own time: see snapshot.c */
    uint32_t sex, x, y, weight, volume, generation, children;
    uint32_t descendants; /* living; only after snapshot_descendants */
};

struct snapshot {
    bool there;                /* the server answered the last time */
    struct behemoth_herd herd; /* all 0: it never did */
    struct snapshot_item *items;
    uint64_t mean_base; /* all ages, if everybody had reached the expected one */
};

/* Reads the parameters of the service: Socket, Cache Milliseconds, Deadline Milliseconds. */
void snapshot_open(void);
void snapshot_close(void);
/* The herd of now, or of at most the cache's time ago; what was valid last if nobody answers. */
const struct snapshot *snapshot_take(void);
/* Counts the living descendants of each. */
void snapshot_descendants(void);

#endif
