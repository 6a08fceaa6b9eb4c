/* SPDX-License-Identifier: MIT */
/* What is shown, of which part and how large; and the ways to draw it, as lines of text. */
#ifndef BEHEMOTH_CLIENT_VIEW_H
#define BEHEMOTH_CLIENT_VIEW_H

#include "kin.h"
#include "shown.h"
#include "titles.h"

#include <stdio.h>

enum view_kind { VIEW_FIELD, VIEW_TREE, VIEW_LIST, VIEW_KINDS };
extern const char *const view_names[VIEW_KINDS];

/* Escapes, or "" without colours. */
struct look {
    bool utf8;
    const char *off, *strong, *weak, *title, *male, *female, *both, *bad;
};
struct look look_of(bool utf8, bool colours);

struct view {
    const struct shown *shown;
    const struct titles *titles;
    struct look look;
    enum view_kind kind;
    int columns, rows;  /* 0: as many as it takes */
    LSTATUS failed;     /* the newest answer was none: what is shown is older */
    bool rates;         /* there will be a second answer: rates are worth a place */
    size_t top;         /* rows of a table above the first one that is shown */
    unsigned left;      /* columns of a table to the left of the first one that is shown */
    size_t table_count; /* rows of the table, as it was drawn last, and how many of them */
    size_t table_rows;
    unsigned sort; /* a column of the list */
    bool descending;
    uint64_t width, height; /* of the field in metres, as far as any behemoth was seen yet */
    unsigned zoom;          /* 0: all of it is shown; else its 2^zoom-th part, each way, */
    uint64_t x, y;          /* from here on */
    struct kin kin;
};

/* The summary, in as many lines as it needs, and a line when the server is away or the newest
 * answer was none. Both return how many lines. */
int summary_draw(FILE *out, const struct view *view);
int trouble_draw(FILE *out, const struct view *view);
/* The field in exactly `columns` x `rows`, its frame and legend included. */
void field_draw(FILE *out, struct view *view, int columns, int rows);
/* Half as much of the field, or twice as much, around the same middle. */
void field_zoom(struct view *view, bool closer);
/* Another part of it, an eighth of what is shown further. */
void field_move(struct view *view, int right, int down);
/* The list or the tree; at most `rows` lines, 0: all. */
void table_draw(FILE *out, struct view *view, int rows);
void json_write(FILE *out, const struct view *view);

/* A column of the list by its English word or its title, "-weight" for descending. False: there is
 * none. */
bool table_sort_by(struct view *view, const char *word);
/* The words, "name, sex, ...". */
const char *table_words(void);
void table_sort_next(struct view *view, int step);

#endif
