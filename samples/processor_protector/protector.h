/* SPDX-License-Identifier: MIT */
/*
 * processor_protector, in its parts:
 *
 *   watch.c    asks PDH what all processes did so far, at one moment
 *   judge.c    remembers, and finds who has been busy for too long
 *   hold.c     the process that is meant, held so that it cannot become another one; its nice value
 *   main.c     options, and what is said
 *
 * A process is meant by its number and the moment when it began. Numbers are used again, and the
 * "#1" of "cc#1" moves to another process when a cc ends: neither identifies a process.
 */
#ifndef PROCESSOR_PROTECTOR_H
#define PROCESSOR_PROTECTOR_H

#include <pdh.h>
#include <pdhmsg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NAME_BYTES = 64, SECOND_100NS = 10000000 };

struct identity {
    uint32_t id;
    int64_t began; /* 100 ns, on the clock of struct look */
};

/* ---- watch.c ---- */

struct process {
    struct identity identity;
    uint32_t parent;
    bool has_memory; /* kernel threads and the dead have none */
    char name[NAME_BYTES];
    PDH_RAW_COUNTER work; /* % Processor Time, uncooked */
};

/* All processes at one moment, in no order. */
struct look {
    struct process *all;
    size_t count, capacity;
    int64_t time; /* 100 ns; setting the time does not change this clock */
    double load;  /* of all processors together, in percent; below 0: not known */
};

enum column { ID, BEGAN, PARENT, MEMORY, WORK, COLUMNS };

struct watch {
    PDH_HQUERY query;
    PDH_HCOUNTER load, columns[COLUMNS];
    struct answer {
        PDH_RAW_COUNTER_ITEM_A *items;
        DWORD capacity, count;
    } answers[COLUMNS];
};

/* 0, or PDH's status; *ret_what: which path or function it was. */
PDH_STATUS watch_open(struct watch *watch, const char **ret_what);
PDH_STATUS watch_look(struct watch *watch, struct look *ret, const char **ret_what);
void watch_close(struct watch *watch, struct look *look);

const struct process *look_find(const struct look *look, uint32_t id);
/* Is `id` among the parents of process `child`? */
bool look_is_parent(const struct look *look, uint32_t id, uint32_t child);

/* ---- judge.c ---- */

struct limits {
    double percent; /* of one processor */
    double seconds;
    double load; /* of all processors together: below it, no process waits */
};

struct held;

/* What is known of a process since it was seen first. */
struct record {
    struct identity identity;
    PDH_RAW_COUNTER work;
    double percent;     /* in the last interval; below 0: not known */
    double busy, calm;  /* seconds without a break, of which one is 0 */
    double mean;        /* percent, since it is busy or calm */
    bool reported;      /* since it is busy */
    const char *spared; /* the reason that was told last; NULL: none */
    struct held *held;  /* NULL: it is as we found it */
};

struct judge {
    struct limits limits;
    struct record *all; /* in the order of ids */
    size_t count;
    int64_t time; /* of the look before; 0: there was none */
};

/* Brings the records up to date. What was held of processes that are gone is let go. False: no
 * memory, and nothing changed. */
bool judge_look(struct judge *judge, const struct look *look);
bool judge_too_long(const struct judge *judge, const struct record *record);
bool judge_calm_again(const struct judge *judge, const struct record *record);
struct record *judge_find(const struct judge *judge, uint32_t id);
void judge_end(struct judge *judge);

/* ---- hold.c ---- */

/* A process by its folder in /proc: when it ends, its folder stays empty, and a process that gets
 * its number has another folder. */
struct held {
    int folder;
    uint32_t id;
    uint64_t began_ticks; /* as the kernel counts */
    int was, given;       /* the least nice value of its threads, and what they were given */
    struct thread {
        uint32_t id;
        int was;
    } * threads; /* whose nice value was changed */
    size_t count;
};

/* What hold_judge says; the words are in hold_why. */
enum spare { SPARE_NOT, SPARE_GONE, SPARE_USER, SPARE_POLICY, SPARE_NICE };

/* NULL and errno: there is no such process. */
struct held *hold(uint32_t id);
/* Is it the process of the look? Both sides count from when this program began (`self`, held and
 * looked at), so that no clock is in between. */
bool hold_is(const struct held *held, const struct held *self, const struct look *look,
             const struct identity *identity);
enum spare hold_judge(const struct held *held, int nice);
const char *hold_why(enum spare spare);
/* The least nice value of its threads. */
bool hold_nice(const struct held *held, int *ret);
/* Gives all threads at least this nice value. False and errno: it is gone, or not all have it. */
bool hold_lower(struct held *held, int nice);
/* Gives the threads that are as we left them back what they had. False and errno. */
bool hold_restore(struct held *held);
/* May this user give back what is taken? Tried in a process of its own. */
bool hold_may_restore(void);
void hold_end(struct held *held);

#endif
