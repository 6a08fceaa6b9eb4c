/* SPDX-License-Identifier: MIT */
/* The state of the display: what is shown, which part, and in which size; and the functions that
 * draw it as text. */
#ifndef BEHEMOTH_CLIENT_VIEW_H
#define BEHEMOTH_CLIENT_VIEW_H

#include "../common/text.h"
#include "reader.h"

enum view_kind { VIEW_FIELD, VIEW_TREE, VIEW_LIST, VIEW_KINDS };

/*
 * Families: each behemoth below its mother. One without a mother, or whose mother is not in the
 * answer, is the root of a family; if mothers form a circle, which no correct answer has, one of
 * these mothers becomes a root.
 */
struct kin {
    int64_t mother, child, next; /* positions, or NO_MOTHER: the first child, the next sister */
    size_t depth;                /* 0: a root */
};

struct view {
    struct reader *reader;
    struct text_style style;
    double interval; /* seconds between two queries */
    int64_t most;    /* number of rows to print; 0: all */
    bool help;       /* the keys are shown */
    enum view_kind kind;
    int columns, rows; /* 0: no limit */
    LSTATUS failed;    /* status of the last query; if not 0, older data is shown */
    bool rates;        /* show rates, because there will be a second answer */
    int64_t top;       /* rows of a table above the first row that is shown */
    int left;          /* columns of a table to the left of the first column that is shown */
    /* rows of the table when it was last drawn; table_rows: how many rows fit */
    size_t table_count;
    size_t table_rows;
    unsigned sort; /* a column of the list; UINT32_MAX: none */
    bool descending;
    uint64_t size[2]; /* width and height of the field in metres, as far as behemoths were seen */
    uint64_t from[2]; /* the first place that is shown, x and y */
    unsigned zoom;    /* the field's width and height are divided by 2^zoom */
    struct kin *kin;  /* while a tree is drawn, of all behemoths in the order of the answer */
    /* roots; behemoths whose mother is not in the answer; circles of mothers that were broken */
    size_t families, strays, circles;
};

enum { COLUMN_NAME, COLUMNS = 8 }; /* of the list */
/* Draws the list or the tree, in at most `rows` lines; 0: all. */
void table_draw(FILE *out, struct view *view, int rows);
/* Sorts by the column with this English word or title; a minus before it, as in "-weight", sorts in
 * descending order. False: no such column. */
bool table_sort_by(struct view *view, const char *word);

/* Draws the field in exactly `columns` x `rows` cells, frame and legend included. */
void field_draw(FILE *out, struct view *view, int columns, int rows);
/* Shows half as much of the field (`closer`), or twice as much, around the same middle. */
void field_zoom(struct view *view, bool closer);
/* Moves the part that is shown by an eighth of its size: `right` and `down` are -1, 0 or 1. */
void field_move(struct view *view, int right, int down);

/* Draws the summary, and a line if there is no new data. Returns the number of lines. */
int summary_draw(FILE *out, const struct view *view);
/* Prints everything as JSON, with the same English names in every language; a value that is unknown
 * is null. */
void json_write(FILE *out, const struct view *view);

#endif
