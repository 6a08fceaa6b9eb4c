/* SPDX-License-Identifier: MIT */
/*
 * Processes of one sample and the sums of groups of them, and the processor time that no listed
 * process explains, shown in one more line, so that all lines together are the machine's busy time.
 *
 * Busy is what processors spend on programs and in the kernel, interrupts included. Waiting for a
 * disk is idle, and what a hypervisor gave to others ("steal") was not used by this machine.
 */
#ifndef OPL_TOOLS_MODEL_GROUP_H
#define OPL_TOOLS_MODEL_GROUP_H

#include "model.h"

#include <math.h>

/* The values of a line; NaN: not known. Only control groups have those from MEMORY_LIMIT on. */
enum line_value {
    PID,
    CPU, /* processor time in percent of one processor */
    /* processor seconds since the process began; of groups also those of members that have ended */
    TIME,
    MEMORY,
    READ,
    WRITTEN,
    THREADS,
    ELAPSED,
    PARENT,
    MEMORY_LIMIT,    /* bytes: the lowest limit of the group and the groups above */
    PROCESSOR_LIMIT, /* percent of one processor: the lowest limit */
    THROTTLED,       /* percent of time that the group waited because of PROCESSOR_LIMIT */
    PROCESSOR_PRESSURE,
    MEMORY_PRESSURE,
    DISK_PRESSURE,
    LINE_VALUES,
    PROCESS_VALUES = MEMORY_LIMIT,
    LIMIT_VALUES = LINE_VALUES - MEMORY_LIMIT
};
enum line_text { USER, STATE, UNIT, GROUP, COMMAND, TEXTS };
enum grouping { BY_PROCESS, BY_PROGRAM, BY_USER, BY_UNIT, BY_CONTAINER, BY_GROUP, GROUPINGS };

struct line {
    const char *name;
    size_t name_length;
    uint64_t identity;
    /* number of processes in the line; 0: the line of the time that no process explains */
    unsigned members;
    double values[PROCESS_VALUES];
    const double *limits;     /* LIMIT_VALUES of a control group; NULL: none is known */
    const char *const *texts; /* the process's texts; NULL: not known (yet) */
    /* the next members are for the tree of parents */
    bool match;     /* the line matches the filter */
    unsigned depth; /* number of the process's ancestors */
    /* bit n: the ancestor of depth n, or the process itself, is followed by a sibling */
    uint64_t bars;
    unsigned hidden; /* how many processes below this line are folded away */
};

static inline double line_value(const struct line *line, size_t value)
{
    if (value < PROCESS_VALUES)
        return line->values[value];
    return line->limits ? line->limits[value - MEMORY_LIMIT] : NAN;
}

/* ---- groups ---- */

/* Joins the lines of each program, user and so on; returns the number of lines after that. A value
 * that no member has stays unknown. */
size_t group_lines(struct line *lines, size_t count, enum grouping grouping);
/* Gives the line the name and the identity of its group. */
extern const char group_host[]; /* the name of the group of all processes outside of containers */
void group_name(struct line *line, enum grouping grouping);
/* Returns the name of the innermost container in the path of a control group, or in a part of it:
 * the first 12 digits of a number, or a name. NULL: there is none. Parts of a path end at / or, as
 * in names of instances, at |. */
const char *container_of(const char *path, size_t *ret_length);
/* Compares lines for sorting: by name, then by the name's length. */
int group_compare_names(const struct line *left, const struct line *right);

/* Adds the table of control groups with limits and pressure, and returns its number, 0 if there is
 * no memory; its columns are in the order of MEMORY_LIMIT and the values after it. */
unsigned group_add_limits(struct model *model, size_t source);
/* Sets the limits of those lines that are units or control groups. `memory`: for all lines. */
void group_limits(struct line *lines, size_t count, enum grouping grouping,
                  const struct table *limits, double (*memory)[LIMIT_VALUES]);

/* ---- what no process explains ---- */

struct ended;                  /* what must be remembered of earlier samples */
struct ended *ended_new(void); /* remembers no sample yet; NULL: out of memory */
void ended_free(struct ended *ended);
/* Takes the processes of a new sample. `seconds` have passed since the sample before; `busy`: the
 * busy time of all processors in percent of one processor; NaN: unknown. */
void ended_take(struct ended *ended, const struct line *processes, size_t count, double seconds,
                double busy, unsigned processors);
/* Sets the rate of a process, in the sample that ended_take took last, if PDH has no rate for the
 * process yet and `ended` has. */
void ended_rate(const struct ended *ended, struct line *process);
/* Adds the time of ended members to the groups, and makes the line of the time that no process
 * explains. `lines` are all groups (or processes). False: that time is unknown. */
bool ended_line(const struct ended *ended, struct line *lines, size_t count, enum grouping grouping,
                struct line *ret);

#endif
