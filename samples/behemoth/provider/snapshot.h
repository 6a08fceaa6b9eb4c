/* SPDX-License-Identifier: MIT */
/* The herd from the server's last answer, cached for a tenth of a second, or until the server
 * answers again. */
#ifndef BEHEMOTH_PROVIDER_SNAPSHOT_H
#define BEHEMOTH_PROVIDER_SNAPSHOT_H

#include "../common/exchange.h"

/* A behemoth, with values of its counters that are not from the server. */
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
    uint64_t mean_base; /* the sum of ages, if each were the expected lifetime */
};

/* Reads the parameters of the service: Socket, Cache Milliseconds, Deadline Milliseconds. */
void snapshot_open(void);
void snapshot_close(void);
/* The current herd, at most as old as the cache time; the last valid one if the server does not
 * answer. */
const struct snapshot *snapshot_take(void);
/* The same without single behemoths (`items` is NULL): the answer has 112 bytes. */
const struct snapshot *snapshot_take_summary(void);
/* Units of 100 ns of a monotonic clock. */
int64_t snapshot_uptime(void);
/* Converts the times of birth to a clock that started, as the other one, at `begin`. */
void snapshot_place(int64_t begin);
/* Counts the living descendants of each. */
void snapshot_descendants(void);

#endif
