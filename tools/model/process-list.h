/* SPDX-License-Identifier: MIT */
/* The list of processes: the tables that it is made of, and its lines at the newest sample. */
#ifndef OPL_TOOLS_MODEL_PROCESS_LIST_H
#define OPL_TOOLS_MODEL_PROCESS_LIST_H

#include "group.h"

struct process_list {
    struct model *model;
    size_t source;
    /* table: Process V2; classic: Process, 0 unless the source is a capture; io: only if needed;
     * limits, with_children: 0 unless a function below wants them */
    unsigned table, classic, texts, io, processors, limits, with_children;
    struct ended *ended;
    struct children *children; /* only if with_children */
    uint64_t ended_tick;       /* number of the last sample that `ended` has taken */
    double ended_at;           /* when it was taken, like table.at */
    struct line *lines;        /* lines of the newest sample */
    size_t line_count, line_capacity;
    double (*limit_values)[LIMIT_VALUES]; /* of the lines, if they are groups */
};
/* False: no memory. */
bool process_list_begin(struct process_list *list, struct model *model, size_t source);
void process_list_end(struct process_list *list);
/* Calls model_rest for the tables of processes, their texts and Process IO. */
void process_list_rest(struct process_list *list, bool rest);
/* The limits of groups are read only while they are wanted, because reading them takes long. */
void process_list_want_limits(struct process_list *list, bool wanted);
/* With `wanted`, the bytes that a process reads and writes include those of children that have
 * ended, which takes another table. */
void process_list_want_children(struct process_list *list, bool wanted);
/* True if all tables whose values the lines show have their first sample. */
bool process_list_ready(struct process_list *list);
/* Reads the lines of all processes from the newest sample; none before the first one. */
void process_list_read(struct process_list *list);
/* Replaces the lines of processes by those of groups, unless grouping is 0. Sets the limits of the
 * lines if they are wanted. rest: appends a line for processor time that no process explains. */
void process_list_group(struct process_list *list, enum grouping grouping, bool rest);
/* Returns the table of all processes: that of Process V2, or of a capture without it, that of
 * Process. NULL: it is removed. */
const struct table *process_list_table(const struct process_list *list);
/* Makes a line of the process in a row of that table. */
void process_list_line(const struct process_list *list, const struct table *table, size_t row,
                       struct line *ret);

/* ---- children.c ---- */
struct children *children_new(void); /* remembers no sample yet; NULL: out of memory */
void children_free(struct children *children);
/* Takes the samples of Process IO (columns: number, bytes read and written with children, since the
 * start) and of the processes. */
void children_take(struct children *children, const struct table *io, const struct line *lines,
                   size_t count);
/* Adds the bytes of its ended children to the rates of a process. */
void children_add(const struct children *children, struct line *line);

#endif
