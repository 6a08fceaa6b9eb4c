/* SPDX-License-Identifier: MIT */
/* The columns for a behemoth: each row here defines a column. */
#ifndef BEHEMOTH_CLIENT_COLUMNS_H
#define BEHEMOTH_CLIENT_COLUMNS_H

#include "view.h"

enum { COLUMN_NAME = 0, COLUMNS = 8, COLUMN_CELL = 32 };
enum column_kind { KIND_NAME, KIND_SEX, KIND_AGE, KIND_NUMBER, KIND_DATE };

struct column {
    const char *word; /* for --sort and JSON */
    unsigned symbol;  /* its title is this one's */
    const char *unit;
    enum column_kind kind;
    bool in_tree;
};
extern const struct column columns[COLUMNS];

/* The value as readable text; "-": there is none. Not for names. */
void column_cell(const struct view *view, const struct shown_behemoth *one,
                 const struct column *column, char out[COLUMN_CELL]);

struct column_row {
    uint64_t key;
    const char *name; /* in place of the key */
    size_t at;        /* the position of its behemoth; equal ones stay in this order */
};
/* All of them in the order of view->sort; free it. NULL: no memory. */
struct column_row *column_sort(const struct view *view);

#endif
