/* SPDX-License-Identifier: MIT */
/* A sortable table of an object's values: instances by counters, or a single object's counters. */
#ifndef OPL_TOOLS_TABLE_H
#define OPL_TOOLS_TABLE_H

#include "pcview.h"

enum { TABLE_CELL = 32, TABLE_LABEL = 192, TABLE_UNSORTED = -1 };

struct table_cell {
    char text[TABLE_CELL];
    double number; /* NAN: no number */
};

struct table_column {
    char title[128];
    const struct view_counter *counter; /* NULL: the column shows no counter */
    int width;
};

struct table_row {
    char label[TABLE_LABEL];
    size_t order; /* position in the block */
    struct table_cell *cells;
    const struct view_counter *counter; /* the counter of a single object's row */
};

struct table {
    const struct view_object *object;
    struct table_column *columns;
    size_t column_count;
    struct table_row *rows;
    size_t row_count;
    struct table_cell *cells;
};

/* The counters to show: title indices in this order, ended by 0; NULL: all counters. */
struct table_choice {
    const uint32_t *counters;
    uint32_t leave_out_zero;            /* rows where this counter is 0 are omitted; 0: none are */
    const char *filter;                 /* show only labels that contain this; "": all */
    struct requested_object *requested; /* the command line's argument for this object, or NULL */
};

bool table_make(struct table *table, const struct view_object *object,
                const struct table_choice *choice);
/* Sorts by a column, the largest first unless `ascending`; TABLE_UNSORTED: as in the block. */
void table_sort(struct table *table, int column, bool ascending);
/* The column of this counter; TABLE_UNSORTED: there is none. */
int table_column_of(const struct table *table, uint32_t title_index);
void table_done(struct table *table);

#endif
