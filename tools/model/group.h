/* SPDX-License-Identifier: MIT */
/*
 * Processes of one sample and the sums of groups of them, and the processor time that no listed
 * process explains, which one more line shows: the lines together have the machine's busy time.
 *
 * Busy is what processors spend on programs and in the kernel, interrupts included. Waiting for a
 * disk is idle, and what a hypervisor gave to others ("steal") was not used by this machine.
 */
#ifndef OPL_TOOLS_MODEL_GROUP_H
#define OPL_TOOLS_MODEL_GROUP_H

#include "model.h"

/* What a line has; NaN: not known. PROCESSOR_LIMIT and what follows are of control groups only. */
enum line_value {
    PID,
    CPU,  /* percent of one processor */
    TIME, /* seconds on a processor since it began; of groups also of members that have ended */
    MEMORY,
    READ,
    WRITTEN,
    THREADS,
    ELAPSED,
    PARENT,
    MEMORY_LIMIT,    /* bytes: the lowest one of the group and those above it */
    PROCESSOR_LIMIT, /* percent of one processor, the lowest one */
    THROTTLED,       /* percent of time that it waited because of PROCESSOR_LIMIT */
    PROCESSOR_PRESSURE,
    MEMORY_PRESSURE,
    DISK_PRESSURE,
    LINE_VALUES,
    PROCESS_VALUES = MEMORY_LIMIT
};
enum line_text { USER, STATE, UNIT, GROUP, COMMAND, TEXTS };
enum grouping { BY_PROCESS, BY_PROGRAM, BY_USER, BY_UNIT, BY_GROUP, GROUPINGS };

struct line {
    const char *name;
    size_t name_length;
    uint64_t identity;
    unsigned members; /* 0: the line of what no process explains */
    double values[LINE_VALUES];
    const char *const *texts; /* NULL: not known (yet) */
    /* for the tree of parents */
    bool match;      /* the filter's parts hold for it */
    unsigned depth;  /* number of its ancestors */
    uint64_t bars;   /* bit n: its ancestor of depth n, or itself, is followed by a sibling */
    unsigned hidden; /* how many processes below it are folded away */
};

/* ---- groups ---- */

/* Makes the members of each program, user and so on one line; returns how many there are then. A
 * value that no member has stays unknown. */
size_t group_lines(struct line *lines, size_t count, enum grouping grouping);
/* Names the line as its group, which has no members yet. */
void group_name(struct line *line, enum grouping grouping);
/* By name, then by its length. */
int group_compare_names(const struct line *left, const struct line *right);

/* The table of control groups with limits and pressure; its columns are in the order of the values
 * from MEMORY_LIMIT on. */
unsigned group_add_limits(struct model *model, size_t source);
/* Sets these values of lines by unit or control group. */
void group_limits(struct line *lines, size_t count, enum grouping grouping,
                  const struct table *limits);

/* ---- what no process explains ---- */

struct ended;                  /* what is remembered between samples */
struct ended *ended_new(void); /* NULL: no memory */
void ended_free(struct ended *ended);
/* Takes the processes of a new sample. `seconds` have passed since the sample before; `busy` is
 * that of all processors, in percent of one; NaN: not known. */
void ended_take(struct ended *ended, const struct line *processes, size_t count, double seconds,
                double busy, unsigned processors);
/* Sets the rate of a process of that sample for which PDH has none yet, if it is known. */
void ended_rate(const struct ended *ended, struct line *process);
/* Adds the time of ended members to the groups, and makes the line of the rest. `lines` are all
 * groups (or processes). False: it is not known. */
bool ended_line(const struct ended *ended, struct line *lines, size_t count, enum grouping grouping,
                struct line *ret);

#endif
