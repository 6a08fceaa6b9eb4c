/* SPDX-License-Identifier: MIT */
/* The list of processes: the tables that it is made of, and its lines at the newest sample. */
#ifndef OPL_TOOLS_MODEL_PROCESS_LIST_H
#define OPL_TOOLS_MODEL_PROCESS_LIST_H

#include "group.h"

struct process_list {
    struct model *model;
    size_t source;
    /* io: only if needed; limits: 0 unless process_list_want_limits was called */
    unsigned table, texts, io, processors, limits;
    struct ended *ended;
    uint64_t ended_tick; /* number of the last sample that `ended` has taken */
    struct line *lines;  /* lines of the newest sample */
    size_t line_count, line_capacity;
};
/* False: no memory. */
bool process_list_begin(struct process_list *list, struct model *model, size_t source);
void process_list_end(struct process_list *list);
/* Calls model_rest for the tables of processes, their texts and Process IO. */
void process_list_rest(struct process_list *list, bool rest);
/* The limits of groups are read only while they are wanted, because reading them takes long. */
void process_list_want_limits(struct process_list *list, bool wanted);
/* True if all tables whose values the lines show have their first sample. */
bool process_list_ready(struct process_list *list);
/* Reads the lines of all processes from the newest sample; none before the first one. */
void process_list_read(struct process_list *list);
/* Replaces the lines of processes by those of groups, unless grouping is 0. Sets the limits of the
 * lines if they are wanted. rest: appends a line for processor time that no process explains. */
void process_list_group(struct process_list *list, enum grouping grouping, bool rest);
/* Makes a line of the process in a row of the table of all processes. */
void process_list_line(const struct process_list *list, const struct table *table, size_t row,
                       struct line *ret);

#endif
