/* SPDX-License-Identifier: MIT */
/* One picture of the watch view, drawn into lines; the same lines serve screen and snapshot. */
#ifndef OPL_TOOLS_SCREEN_H
#define OPL_TOOLS_SCREEN_H

#include "table.h"

/* What the user chose while watching. */
struct watch {
    struct pcview *view;
    bool home;           /* processor, memory, processes; else the object asked for */
    uint32_t objects[4]; /* title indices, ended by 0 */
    int sort;            /* column, TABLE_UNSORTED */
    bool sort_chosen, ascending, paused, help, explain, searching;
    size_t selected, first; /* row under the cursor, first row on the screen */
    size_t page;            /* rows that fit */
    size_t row_count, column_count;
    char filter[64];
    double seconds;
    LSTATUS status;       /* of the last query */
    double silent;        /* seconds since somebody answered for the object; 0: just now */
    struct picture spare; /* the next answer's place: a bad one leaves both samples as they are */
};

/* Draws into `out` exactly `rows` lines of `columns` columns, the last without line end. */
void screen_draw(struct watch *watch, FILE *out, int rows, int columns);
/* Lines without end, for pipes: everything but the key hints, and at most `most` processes. */
void screen_snapshot(struct watch *watch, FILE *out, int columns, size_t most);

#endif
