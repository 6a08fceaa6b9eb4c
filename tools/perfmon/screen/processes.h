/* SPDX-License-Identifier: MIT */
/*
 * What the parts of the process view share.
 *
 * processes  the list itself, its filter, sorting, groups
 *
 * process-tree     the list in the order of parents
 *
 * process-details  one process: its texts, its counters over time, its threads
 *
 * process-actions  marks, signals and priorities
 */
#ifndef OPL_PERFMON_PROCESSES_H
#define OPL_PERFMON_PROCESSES_H

#include "screen.h"

#include "../../model/process-list.h"

#include <sys/types.h>

enum { ESCAPE = 27, NAME_LEAST = 16, TREE_LEAST = 24, TREE_MOST = 40 };

/* A process that may get a signal or a priority. */
struct target {
    pid_t pid;
    double born; /* start of the process in ticks after the boot */
    char name[64];
    double age; /* age of the process in seconds when it was chosen */
};
struct actions {
    enum {
        QUESTION_NONE,
        QUESTION_SIGNAL,
        QUESTION_NICE
    } question;             /* the question that waits for an answer */
    struct target *targets; /* the processes that the question is about */
    size_t count;
    struct field nice; /* the nice value that is being typed */
};

/* A part of a filter, such as "user:www", "cpu>5" or "www". */
struct filter_part {
    enum { PART_WORD, PART_TEXT, PART_NUMBER } kind;
    int column;       /* enum line_text or enum line_value */
    double least;     /* PART_NUMBER: the value must be larger */
    const char *text; /* what the text must contain; without a column the name or the command */
};
struct filter {
    char text[64], problem[192]; /* problem: what is wrong with the filter; "": nothing */
    struct filter_part parts[32];
    size_t count; /* number of parts; 0 if there is a problem */
};

struct details;
struct processes {
    struct process_list list; /* its lines are in the order in which they are shown */
    const struct overview *overview;
    double disk_bytes[2]; /* read and written per second by all processes, as far as known */
    enum line_value sort;
    enum grouping grouping;
    bool ascending, kernel;
    struct field filter;
    struct filter wanted; /* what the filter's text means */
    uint64_t selected;    /* identity of the selected line; 0: the cursor stays in its row */
    struct cursor cursor;
    /* shown: columns that were drawn last; any: columns that have a value */
    bool shown[LINE_VALUES], any[LINE_VALUES];
    bool tree, branches; /* `branches`: all processes below one that matches the filter are shown */
    struct {
        enum line_value sort;
        bool ascending;
        /* sort order of the tree while the list is shown, of the list while the tree is shown */
    } other;
    struct identities folded, marked;
    struct actions actions;
    struct details *details; /* NULL: no details were opened */
    bool units;              /* a process has, or had, a unit: without, there is no column */
    bool alone;              /* the details were drawn last, not the list */
    bool here;               /* the processes are this machine's and live */
};

/* ---- processes.c ---- */
/* Returns a text of the line; "" if it is not known. */
const char *text_of(const struct line *line, enum line_text id);
/* Returns the selected line; NULL: no line is selected, or the line is not a single process. */
const struct line *line_selected(const struct processes *processes);

/* ---- process-filter.c ---- */
void filter_read(const char *text, struct filter *ret);
/* True if all parts match the line. */
bool filter_matches(const struct filter *filter, const struct line *line);

/* ---- process-tree.c ---- */
/* Puts the sorted lines below their parents, without those that are folded away or that the filter
 * does not keep. If there is no memory, the lines stay as they are. */
void tree_lines(struct processes *processes);
bool tree_fold_key(struct processes *processes, int key, struct window *window);

/* ---- process-actions.c ---- */
bool actions_key(struct processes *processes, int key, struct window *window);

/* ---- process-details.c ---- */
void details_open(struct processes *processes, const struct line *line);
void details_close(struct processes *processes);
void details_draw(struct processes *processes, struct canvas *canvas, int row, int last);
/* Handles a key. False: the key has no meaning here. */
bool details_key(struct processes *processes, int key, struct window *window);
/* Gets the process that is shown, as target of an action. False: the process has ended. */
bool details_target(const struct processes *processes, struct target *ret);

#endif
