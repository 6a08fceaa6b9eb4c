/* SPDX-License-Identifier: MIT */
/*
 * The model: behemoths on a field that walk, grow, breed and die, one step for each second of the
 * herd's time. The same seed, number of steps and changes from outside give the same herd on every
 * machine: whole numbers only, and one source of chance.
 */
#ifndef BEHEMOTH_SERVER_HERD_H
#define BEHEMOTH_SERVER_HERD_H

#include "../common/exchange.h"

struct animal {
    struct behemoth is;
    uint64_t dies; /* the tick at which the behemoth dies */
};

enum herd_parameter {
    HERD_CAPACITY, /* maximum of behemoths; the nearer the herd is to it, the fewer are born */
    HERD_LIFETIME, /* mean lifetime, in seconds */
    HERD_CHILDREN, /* children of each mother in a mean lifetime, on an empty field */
    HERD_SPEED,    /* thousandths of seconds of the herd's time per real second */
    HERD_WIDTH,
    HERD_HEIGHT,
    HERD_PARAMETERS
};
extern const struct behemoth_parameter herd_parameters[HERD_PARAMETERS];

/* Everything except the animals is written to the state file unchanged. */
struct herd {
    uint64_t chance; /* the generator's state */
    int64_t start;   /* FILETIME of tick 0 */
    uint64_t ticks, next_id, founded, births, deaths, left_steps, right_steps;
    int64_t parameters[HERD_PARAMETERS];
    uint64_t count;
    struct animal *all; /* sorted by id, so mothers precede their children */
    uint32_t *moved;    /* the new position of each animal after others died */
};

struct herd_beginning {
    uint64_t seed, count;
    int64_t start;
    int64_t parameters[HERD_PARAMETERS];
};

/* Begins a new herd. False: no memory, or more behemoths than the capacity. */
bool herd_begin(struct herd *herd, const struct herd_beginning *beginning);
void herd_end(struct herd *herd);
/* Reserves memory for the largest herd, which the kernel provides as it is used. False: no
 * memory. */
bool herd_allocate(struct herd *herd);
/* Simulates one second. */
void herd_tick(struct herd *herd);
/* Moves the beginning and all birthdays back in time, so that ticks that were run without waiting
 * lie in the past. */
void herd_earlier(struct herd *herd, uint64_t seconds);
enum behemoth_status herd_create(struct herd *herd, const struct behemoth_create *wanted,
                                 struct behemoth *ret);
enum behemoth_status herd_kill(struct herd *herd, uint64_t id);
enum behemoth_status herd_set(struct herd *herd, const struct behemoth_parameter *wanted);
/* Fills *ret except for the members moment and process. */
void herd_summary(const struct herd *herd, struct behemoth_herd *ret);

/* ---- the herd on disk, one file, replaced atomically ---- */

enum state_result {
    STATE_DONE,
    STATE_NONE,    /* no such file */
    STATE_DAMAGED, /* the file exists, but is not a valid state */
    STATE_FAILED   /* errno is the reason */
};
/* Writes a new file in the same folder, syncs it, and renames it over the old one. */
enum state_result state_save(const struct herd *herd, const char *path);
enum state_result state_load(struct herd *herd, const char *path);

#endif
