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

#include "../../model/group.h"

#include <sys/types.h>

enum { ESCAPE = 27, NAME_LEAST = 16, TREE_LEAST = 24, TREE_MOST = 40 };

/* A few processes: those that are marked, or folded. */
struct identities {
    uint64_t *of;
    size_t count;
};
bool identities_have(const struct identities *identities, uint64_t identity);
/* Adds it, or removes it if it is there. */
void identities_toggle(struct identities *identities, uint64_t identity);

/* A process that may get a signal or a priority. */
struct target {
    pid_t pid;
    double born; /* in ticks after the boot */
    char name[64];
    double age; /* in seconds, when it was chosen */
};
struct actions {
    enum {
        QUESTION_NONE,
        QUESTION_SIGNAL,
        QUESTION_NICE
    } question;             /* which one waits for its answer */
    struct target *targets; /* of the question */
    size_t count;
    struct field nice; /* the value that is typed */
};

struct details;
struct processes {
    struct model *model;
    size_t source;
    unsigned table, texts, io, processors, limits;
    struct ended *ended;
    uint64_t ended_tick; /* the sample that `ended` has taken */
    struct line *lines;  /* of the newest sample, as they are shown */
    size_t line_count, line_capacity;
    enum line_value sort;
    enum grouping grouping;
    bool ascending, kernel;
    struct field filter;
    uint64_t selected; /* identity of the selected line; 0: the cursor stays in its row */
    struct cursor cursor;
    bool shown[LINE_VALUES], any[LINE_VALUES]; /* columns that fitted last, and have a value */
    bool tree, branches; /* `branches`: below what the filter finds, everything is shown */
    struct {
        enum line_value sort;
        bool ascending;
    } other; /* the order of the tree while the list is shown, and of the list otherwise */
    struct identities folded, marked;
    struct actions actions;
    struct details *details; /* NULL: none were asked for */
    bool alone;              /* the details were drawn last, not the list */
    bool here;               /* the processes are this machine's, now */
};

/* ---- processes.c ---- */
/* "" if it is not known. */
const char *text_of(const struct line *line, enum line_text id);
/* The process in a row of the table of all processes. */
void line_read(const struct processes *processes, const struct table *table, size_t row,
               struct line *ret);
/* The selected line; NULL: there is none, or it is no single process. */
const struct line *line_selected(const struct processes *processes);

/* ---- process-tree.c ---- */
/* Puts the sorted lines below their parents, without those that are folded away or that the filter
 * does not keep. Without memory they stay as they are. */
void tree_lines(struct processes *processes);
/* What stands before the name of a line. `width`: of the column of names. */
void tree_prefix(const struct line *line, bool utf8, int width, char *ret, size_t capacity);
bool tree_fold_key(struct processes *processes, int key, struct window *window);

/* ---- process-actions.c ---- */
bool actions_key(struct processes *processes, int key, struct window *window);

/* ---- process-details.c ---- */
void details_open(struct processes *processes, const struct line *line);
void details_close(struct processes *processes);
void details_draw(struct processes *processes, struct canvas *canvas, int row, int last);
/* False: the key has no meaning here. */
bool details_key(struct processes *processes, int key);
/* The process that is shown, for its actions. False: it has ended. */
bool details_target(const struct processes *processes, struct target *ret);

#endif
