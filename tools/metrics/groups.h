/* SPDX-License-Identifier: MIT */
/*
 * Processes as groups, whose counters never fall when a member ends.
 *
 * group-rules.c  a file of rules: which group a process belongs to
 *
 * groups.c       the sums, from the samples of Process V2 and Process Details
 *
 * group-state.c  the sums in a file, for the next start of the exporter
 */
#ifndef OPL_TOOLS_METRICS_GROUPS_H
#define OPL_TOOLS_METRICS_GROUPS_H

#include "metrics.h"

#include "../model/group.h"

/* ---- group-rules.c ---- */

enum { GROUP_WHY = 512, GROUP_NAME_SIZE = 256 };
struct group_rules;
/* Reads a file of rules; "program", "unit", "container" and "user" stand for the rule that makes a
 * group of each of these. NULL: `why` has the reason. */
struct group_rules *group_rules_read(const char *what, char why[static GROUP_WHY]);
void group_rules_free(struct group_rules *rules);
/* Returns the texts of Process Details that the rules need: a bit for each enum line_text. */
unsigned group_rules_texts(const struct group_rules *rules);
/* Writes the name of the process's group as valid UTF-8. False: it belongs to none. `process` has
 * the name of the program, and its texts. */
bool group_rules_name(const struct group_rules *rules, const struct line *process,
                      char ret[static GROUP_NAME_SIZE]);

/* ---- groups.c ---- */

struct groups;
/* `path`: where the sums are kept for the next start; NULL: nowhere. The rules belong to the groups
 * then. NULL: no memory. */
struct groups *groups_new(struct group_rules *rules, const char *path);
void groups_free(struct groups *groups); /* may be NULL */
bool groups_need_texts(const struct groups *groups);
/* Returns the sink for the objects Process V2 and Process Details of one answer. */
struct metric_sink *groups_sink(struct groups *groups);
/* Ends the answer: adds its processes to the groups, if it is `whole`, and returns the number of
 * series. False: it has no processes, or there is no memory; the groups are as before. */
bool groups_end(struct groups *groups, bool whole, size_t *ret_series);
void groups_emit(const struct groups *groups, struct metric_sink *sink);

/* ---- what group-state.c keeps ---- */

enum group_value {
    USER_SECONDS,
    PRIVILEGED_SECONDS,
    READ_BYTES,
    WRITTEN_BYTES,
    PAGE_FAULTS,
    GROUP_COUNTERS,
    THREAD_COUNT = GROUP_COUNTERS,
    WORKING_SET,
    GROUP_VALUES
};
struct group_process {
    uint64_t id, start; /* `start` since the boot, because a clock that is set moves the date */
    uint64_t values[GROUP_VALUES];
    uint32_t known;  /* bit n: values[n] is known */
    uint32_t group;  /* where the group was last found */
    uint32_t missed; /* in how many answers it was missing since */
    uint32_t reserved;
};
struct group_sums {
    char name[GROUP_NAME_SIZE]; /* "": the place is free */
    uint64_t values[GROUP_VALUES];
    uint32_t known;   /* bit n: a member had values[n] */
    uint32_t unknown; /* bit n: a member of the newest answer has no values[n] */
    uint64_t members;
    int64_t seen; /* seconds since the boot: when it last had a member */
};
enum { GROUPS_MOST = 4096, GROUP_PROCESSES_MOST = 4 << 20 };
struct group_table {
    struct group_sums *groups; /* with space for GROUPS_MOST */
    size_t group_count;
    struct group_process *processes; /* sorted by group_compare_processes */
    size_t process_count;
};
/* Reads the file, if it was written since the boot. A damaged or foreign one is reported. */
void group_state_read(const char *path, struct group_table *table);
/* Writes the file anew. False: errno has the reason. */
bool group_state_write(const char *path, const struct group_table *table);
/* Reserves the path for this program until it ends. False: another exporter has it. */
bool group_state_lock(const char *path);

#endif
