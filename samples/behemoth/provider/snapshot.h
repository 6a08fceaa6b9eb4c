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
    int64_t since;    /* in the objects' clock: after snapshot_place */
    uint32_t sex, x, y, weight, volume, generation, children;
    uint32_t descendants; /* living; only after snapshot_descendants */
};

struct snapshot {
    int64_t heard;             /* when, by snapshot_uptime; 0: never */
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
/* The same without single ones (`items` is NULL), at the price of 112 bytes. */
const struct snapshot *snapshot_take_summary(void);
/* 100 ns of a clock that nobody sets. */
int64_t snapshot_uptime(void);
/* Puts the beginnings of lives into a clock that began, as the other one, at `begin`. */
void snapshot_place(int64_t begin);
/* Counts the living descendants of each. */
void snapshot_descendants(void);

#endif
