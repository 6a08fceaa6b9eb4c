/* SPDX-License-Identifier: MIT */
/* Draws the watch view into lines, for the terminal and for a pipe. */
#ifndef OPL_TOOLS_SCREEN_H
#define OPL_TOOLS_SCREEN_H

#include "table.h"

/* The user's choices while watching. */
struct watch {
    struct pcview *view;
    bool home; /* the home screen (processor, memory, processes); else the requested object */
    uint32_t objects[4]; /* title indices, ended by 0 */
    int sort;            /* column to sort by, or TABLE_UNSORTED */
    bool sort_chosen, ascending, paused, help, explain, searching;
    size_t selected, first; /* row under the cursor, and first row on the screen */
    size_t page;            /* number of rows that fit */
    size_t row_count, column_count;
    char filter[64];
    double seconds;
    LSTATUS status; /* status of the last query */
    double silent;  /* seconds since the object's last answer; 0: just now */
    /* memory for the next answer, so that an invalid one leaves both samples unchanged */
    struct view_snapshot spare;
};

/* The query for the objects of the home screen, malloc; NULL: no memory. */
char *screen_home_query(void);
/* Draws into `out` exactly `rows` lines of `columns` columns, the last without line end. */
void screen_draw(struct watch *watch, FILE *out, int rows, int columns);
/* Draws any number of lines, for pipes: everything except the key hints, and at most `most`
 * processes. */
void screen_snapshot(struct watch *watch, FILE *out, int columns, size_t most);

#endif
