/* SPDX-License-Identifier: MIT */
/* What is shown, of which part and how large; and the ways to draw it, as lines of text. */
#ifndef BEHEMOTH_CLIENT_VIEW_H
#define BEHEMOTH_CLIENT_VIEW_H

#include "../common/text.h"
#include "reader.h"

enum view_kind { VIEW_FIELD, VIEW_TREE, VIEW_LIST, VIEW_KINDS };

/*
 * Families: each behemoth below its mother. One without a mother, or whose mother is not in the
 * answer, is the root of a family; if mothers form a circle, which no correct answer has, one of
 * them becomes a root.
 */
struct kin_one {
    int64_t mother, child, next; /* positions, or NO_MOTHER: the first child, the next sister */
    size_t depth;                /* 0: a root */
};
struct kin {
    size_t count;
    struct kin_one *all; /* by position */
    size_t *order;       /* positions, each after its mother */
    size_t families;     /* roots */
    size_t strays;       /* named a mother who is not there */
    size_t circles;      /* were cut open */
};
/* Takes linear time and no recursion. False: no memory. Begin with zeros. */
bool kin_find(struct kin *kin, const struct reader *reader);
void kin_free(struct kin *kin);

struct view {
    const struct reader *reader;
    const struct titles *titles;
    enum view_kind kind;
    int columns, rows;  /* 0: as many as it takes */
    LSTATUS failed;     /* the newest answer was none: what is shown is older */
    bool rates;         /* there will be a second answer: rates are worth a place */
    size_t top;         /* rows of a table above the first one that is shown */
    unsigned left;      /* columns of a table to the left of the first one that is shown */
    size_t table_count; /* rows of the table, as it was drawn last, and how many of them */
    size_t table_rows;
    unsigned sort; /* a column of the list; UINT32_MAX: none */
    bool descending;
    uint64_t width, height; /* of the field in metres, as far as any behemoth was seen yet */
    unsigned zoom;          /* 0: all of it is shown; else its 2^zoom-th part, each way, */
    uint64_t x, y;          /* from here on */
    struct kin kin;
};

/* The columns for a behemoth: each row of table_columns defines one. */
enum { COLUMN_NAME = 0, COLUMNS = 8 };
struct column {
    const char *word; /* for --sort and JSON */
    unsigned symbol;  /* its title is this one's */
    const char *unit;
    enum column_kind { KIND_NAME, KIND_SEX, KIND_AGE, KIND_NUMBER, KIND_DATE } kind;
    bool in_tree;
};
extern const struct column table_columns[COLUMNS];

/* The list or the tree; at most `rows` lines, 0: all. */
void table_draw(FILE *out, struct view *view, int rows);
/* The list's order: positions; free it. NULL: no memory. */
size_t *table_order(const struct view *view);
/* A column of the list by its English word or its title, "-weight" for descending. False: there is
 * none. */
bool table_sort_by(struct view *view, const char *word);

/* The field in exactly `columns` x `rows`, its frame and legend included. */
void field_draw(FILE *out, struct view *view, int columns, int rows);
/* Half as much of the field, or twice as much, around the same middle. */
void field_zoom(struct view *view, bool closer);
/* Another part of it, an eighth of what is shown further. */
void field_move(struct view *view, int right, int down);

/* The summary, in as many lines as it needs, and a line when the server is away or the newest
 * answer was none. Both return how many lines. */
int summary_draw(FILE *out, const struct view *view);
int trouble_draw(FILE *out, const struct view *view);
/* All of it for programs: the same words in each language, null where there is no value. */
void json_write(FILE *out, const struct view *view);

#endif
