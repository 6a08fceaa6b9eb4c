/* SPDX-License-Identifier: MIT */
/* What there is to tell of a behemoth: a row here is all that a column needs. */
#ifndef BEHEMOTH_CLIENT_COLUMNS_H
#define BEHEMOTH_CLIENT_COLUMNS_H

#include "view.h"

enum { COLUMN_NAME = 0, COLUMNS = 8, COLUMN_CELL = 32 };
enum column_form { FORM_NAME, FORM_SEX, FORM_AGE, FORM_NUMBER, FORM_DATE };

struct column {
    const char *word; /* for --sort and JSON */
    unsigned symbol;  /* its title is this one's */
    const char *unit;
    enum column_form form;
    bool in_tree;
};
extern const struct column columns[COLUMNS];

/* A value as a person reads it; "-": there is none. Of names nothing. */
void column_cell(const struct view *view, const struct shown_behemoth *one,
                 const struct column *column, char out[COLUMN_CELL]);

struct column_row {
    uint64_t key;
    const char *name; /* in place of the key */
    size_t at;        /* whose it is; equal ones stay in this order */
};
/* All of them as view->sort wants it; free it. NULL: no memory. */
struct column_row *column_sort(const struct view *view);

#endif
