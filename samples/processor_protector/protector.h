/* SPDX-License-Identifier: MIT */
/*
 * processor_protector, in its parts:
 *
 *   watch.c  samples all processes at one moment, through PDH
 *   judge.c  keeps a record of each process, and finds those that have been busy for too long
 *   hold.c   identifies a process so that it cannot be mistaken for another; changes its nice value
 *   main.c   the loop, and messages
 *
 * A process is identified by its number together with its start time. The number alone does not
 * identify it, because numbers are reused; nor does the instance's name, because the "#1" of "cc#1"
 * moves to another process when a cc ends.
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
    int64_t began; /* start time in 100 ns, on the clock of struct look */
};

/* ---- watch.c ---- */

struct process {
    struct identity identity;
    uint32_t parent;
    bool has_memory; /* kernel threads and zombies have no memory */
    char name[NAME_BYTES];
    PDH_RAW_COUNTER work; /* the raw value of % Processor Time */
};

/* All processes at one moment, in any order. */
struct look {
    struct process *all;
    size_t count, capacity;
    int64_t time; /* 100 ns, on a clock that does not change when the time of day is set */
    double load;  /* load of all processors together, in percent; below 0: unknown */
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

/* watch_open and watch_look return 0 or PDH's status; *ret_what is the path or function that
 * failed. */
PDH_STATUS watch_open(struct watch *watch, const char **ret_what);
PDH_STATUS watch_look(struct watch *watch, struct look *ret, const char **ret_what);
void watch_close(struct watch *watch, struct look *look);

const struct process *look_find(const struct look *look, uint32_t id);
/* Is `id` among the parents of process `child`? */
bool look_is_parent(const struct look *look, uint32_t id, uint32_t child);

/* ---- judge.c ---- */

struct limits {
    double percent; /* 100: all of one processor */
    double seconds;
    double load; /* percent of all processors: below it, no process has to wait */
};

struct held;

/* What is known about a process since it was first seen. */
struct record {
    struct identity identity;
    PDH_RAW_COUNTER work;
    double percent;     /* share used in the last interval; below 0: unknown */
    double busy, calm;  /* seconds for which the process was busy, or calm; one of the two is 0 */
    double mean;        /* mean percent during these seconds */
    bool reported;      /* the process was reported since it became busy */
    const char *spared; /* the reason that was printed last; NULL: none */
    struct held *held;  /* NULL: its nice value was not changed */
};

struct judge {
    struct limits limits;
    struct record *all; /* sorted by id */
    size_t count;
    int64_t time; /* time of the previous look; 0: there was no look before */
};

/* Updates the records from the look, and frees the records of processes that have ended. False: no
 * memory, and nothing changed. */
bool judge_look(struct judge *judge, const struct look *look);
bool judge_too_long(const struct judge *judge, const struct record *record);
bool judge_calm_again(const struct judge *judge, const struct record *record);
struct record *judge_find(const struct judge *judge, uint32_t id);
void judge_end(struct judge *judge);

/* ---- hold.c ---- */

/* A process, by its open folder in /proc: when the process ends, the open folder becomes empty,
 * even if another process gets the same number. */
struct held {
    int folder;
    uint32_t id;
    uint64_t began_ticks; /* start time in the kernel's ticks */
    /* was: lowest nice value of its threads before the change; given: the value that was set */
    int was, given;
    struct thread {
        uint32_t id;
        int was;
    } * threads; /* threads whose nice value was changed */
    size_t count;
};

/* Results of hold_judge; hold_why has their texts. */
enum spare { SPARE_NOT, SPARE_GONE, SPARE_USER, SPARE_POLICY, SPARE_NICE };

/* Opens a process; free with hold_end. NULL: errno is the reason, for example that there is no such
 * process. */
struct held *hold(uint32_t id);
/* Is `held` the process `identity` of the look? The kernel and the counters have different clocks,
 * so on each side the time since the start of this program (`self`) is compared. */
bool hold_is(const struct held *held, const struct held *self, const struct look *look,
             const struct identity *identity);
enum spare hold_judge(const struct held *held, int nice);
const char *hold_why(enum spare spare);
/* Gets the lowest nice value of the process's threads. False and errno: the process has ended. */
bool hold_nice(const struct held *held, int *ret);
/* Raises the nice value of all threads to at least `nice`. False and errno: the process has ended,
 * or some threads do not have the value. */
bool hold_lower(struct held *held, int nice);
/* Restores the nice values of the threads that still have the value that hold_lower set. False and
 * errno: not all could be restored. */
bool hold_restore(struct held *held);
/* May this user lower a nice value again? A child process tries it. */
bool hold_may_restore(void);
void hold_end(struct held *held);

#endif
