/* SPDX-License-Identifier: MIT */
/*
 * Simulated machines. Each is a process with a socket, and answers like a machine whose numbers,
 * clock and byte order differ from ours. It has one object, "Fake Thing", with the instances "one"
 * and "two" and the counters "Level" (a number) and "Steps/sec" (100 steps a second).
 */
#ifndef OPL_TEST_REMOTE_FAKE_H
#define OPL_TEST_REMOTE_FAKE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct fake {
    char name[16]; /* its name in the registry's list of machines, and its socket's name */
    uint32_t base; /* number of its object; its counters have base + 2 and base + 4 */
    int64_t frequency, ahead_100ns;
    bool turned; /* its blocks have the other byte order */
    pid_t pid;
    volatile struct fake_state *state; /* shared with the machine's process */
};
struct fake_state {
    int delay_ms; /* delay of each answer to a query for counters */
    int hang;     /* while not 0, queries for counters get no answer */
    int mute;     /* while not 0, no request gets an answer */
    /* the machine's value Last Counter; if it is base + 100, there is also the title "Newcomer" */
    uint32_t last;
    uint32_t level;
    int names_read, queries, connections;
};

/* Adds the machine to the registry's list of machines, and starts its process. */
void fake_start(struct fake *fake);
void fake_stop(struct fake *fake);
/* Adds a machine that does not exist to the registry's list of machines. */
void fake_absent(const char *name);

#endif
