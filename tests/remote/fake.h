/* SPDX-License-Identifier: MIT */
/*
 * Machines that are not ours: each is a process behind a socket that answers as a machine with its
 * own numbers, clock and byte order would. It has one object, "Fake Thing", with the instances
 * "one" and "two" and the counters "Level" (a number) and "Steps/sec" (100 steps a second).
 */
#ifndef OPL_TEST_REMOTE_FAKE_H
#define OPL_TEST_REMOTE_FAKE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct fake {
    char name[16]; /* in the list of machines, and of the socket */
    uint32_t base; /* its object's number; the counters' are base + 2 and base + 4 */
    int64_t frequency, ahead_100ns;
    bool turned; /* the other byte order */
    pid_t pid;
    volatile struct fake_state *state; /* shared with its process */
};
struct fake_state {
    int delay_ms;  /* before the answer to a query of data */
    int hang;      /* no answer while it is not 0 */
    int mute;      /* nor to anything while this is not 0 */
    uint32_t last; /* Last Counter; an object without title has base + 100 */
    uint32_t level;
    int names_read, queries, connections;
};

/* Enters it in the list of machines and starts it. */
void fake_start(struct fake *fake);
void fake_stop(struct fake *fake);
/* Enters a machine that does not exist. */
void fake_absent(const char *name);

#endif
