/* SPDX-License-Identifier: MIT */
/* Draws the list, which has a row for each behemoth, and the tree, which is the list in the order
 * of families. */
#include "view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    CELL = 320,
    LABEL_LEAST = 12,
    LEVELS = 16 /* deeper levels are drawn at this depth, with the number of the level */
};

const struct column table_columns[COLUMNS] = {
    {"name",     BEHEMOTH,          "",    KIND_NAME,   true },
    {"sex",      BEHEMOTH_SEX,      "",    KIND_SEX,    true },
    {"age",      BEHEMOTH_AGE,      "",    KIND_AGE,    true },
    {"x",        BEHEMOTH_X,        "m",   KIND_NUMBER, false},
    {"y",        BEHEMOTH_Y,        "m",   KIND_NUMBER, false},
    {"weight",   BEHEMOTH_WEIGHT,   "kg",  KIND_NUMBER, true },
    {"volume",   BEHEMOTH_VOLUME,   "l",   KIND_NUMBER, false},
    {"birthday", BEHEMOTH_BIRTHDAY, "UTC", KIND_DATE,   false},
};

#define HEADING SIZE_MAX

/* ---- families, found in three passes: existing mothers, circles, the order ---- */

/* Walks from each behemoth to its mother, her mother, and so on, until there is none or she was
 * visited before. If the present walk has visited her, the mothers form a circle, which is cut.
 * Here `depth` is the number of the walk that visited a behemoth; 0: none did. */
static void open_circles(struct kin *kin)
{
    for (size_t i = 0; i < kin->count; i++) {
        size_t way = i + 1;
        int64_t at = (int64_t)i;
        while (at != NO_MOTHER && kin->all[at].depth == 0) {
            kin->all[at].depth = way;
            int64_t mother = kin->all[at].mother;
            if (mother != NO_MOTHER && kin->all[mother].depth == way) {
                kin->all[at].mother = mother = NO_MOTHER;
                kin->circles++;
            }
            at = mother;
        }
    }
}

static void put_in_order(struct kin *kin, int64_t at)
{
    size_t depth = 0;
    for (size_t i = 0; at != NO_MOTHER; i++) {
        struct kin_one *one = &kin->all[at];
        kin->order[i] = (size_t)at;
        one->depth = depth;
        if (one->child != NO_MOTHER) {
            at = one->child;
            depth++;
            continue;
        }
        while (one->next == NO_MOTHER && one->mother != NO_MOTHER) {
            one = &kin->all[one->mother];
            depth--;
        }
        at = one->next;
    }
}

bool kin_find(struct kin *kin, const struct reader *reader)
{
    int64_t root = NO_MOTHER; /* the list of roots uses the links of sisters */
    kin_free(kin);
    kin->count = reader->count;
    kin->all = calloc(kin->count + 1, sizeof *kin->all);
    kin->order = calloc(kin->count + 1, sizeof *kin->order);
    if (!kin->all || !kin->order)
        return false;
    for (size_t i = 0; i < kin->count; i++) {
        int64_t mother = reader->all[i].mother;
        bool there = mother >= 0 && (uint64_t)mother < kin->count;
        kin->strays += !there && mother != NO_MOTHER;
        kin->all[i] = (struct kin_one){there ? mother : NO_MOTHER, NO_MOTHER, NO_MOTHER, 0};
    }
    open_circles(kin);
    /* backwards, so that sisters have the order of the answer */
    for (size_t i = kin->count; i-- > 0;) {
        struct kin_one *one = &kin->all[i];
        int64_t *first = one->mother == NO_MOTHER ? &root : &kin->all[one->mother].child;
        one->next = *first;
        *first = (int64_t)i;
        kin->families += one->mother == NO_MOTHER;
    }
    put_in_order(kin, root);
    return true;
}

void kin_free(struct kin *kin)
{
    free(kin->all);
    free(kin->order);
    *kin = (struct kin){0};
}

/* ---- in order ---- */

static const struct view *sorting; /* qsort passes no context to compare() */

static int compare(const void *left, const void *right)
{
    size_t i = *(const size_t *)left, j = *(const size_t *)right;
    const struct reader_behemoth *a = &sorting->reader->all[i], *b = &sorting->reader->all[j];
    const struct column *by = &table_columns[sorting->sort];
    uint64_t one = a->values[by->symbol / 2], other = b->values[by->symbol / 2];
    int order = by->kind == KIND_NAME ? strcmp(a->name, b->name) : (one > other) - (one < other);
    if ((by->kind == KIND_AGE) != sorting->descending) /* AGE is sorted by birthday, so reversed */
        order = -order;
    return order ? order : i < j ? -1 : 1;
}

size_t *table_order(const struct view *view)
{
    size_t count = view->reader->count, *rows = calloc(count + 1, sizeof *rows);
    for (size_t i = 0; rows && i < count; i++)
        rows[i] = view->kind == VIEW_TREE ? view->kin.order[i] : i;
    sorting = view;
    if (rows && view->kind != VIEW_TREE && view->sort < COLUMNS)
        qsort(rows, count, sizeof *rows, compare);
    return rows;
}

bool table_sort_by(struct view *view, const char *word)
{
    bool down = *word == '-';
    word += down;
    for (unsigned i = 0; i < COLUMNS; i++) {
        if (strcmp(word, table_columns[i].word) != 0 &&
            strcmp(word, reader_title(view->reader, table_columns[i].symbol)) != 0)
            continue;
        view->sort = i;
        view->descending = down;
        return true;
    }
    return false;
}

/* ---- cells ---- */

/* Writes the behemoth's name; in a tree, after the lines that connect the name with the
 * mother's. */
static void label_text(const struct view *view, size_t at, char out[CELL])
{
    const struct kin_one *all = view->kin.all, *one = view->kind == VIEW_TREE ? &all[at] : NULL;
    const char *drawn[LEVELS];
    size_t depth = one ? one->depth : 0, used = 0;
    if (depth > LEVELS)
        used = (size_t)sprintf(out, "%*s(%zu) ", 3 * LEVELS, "", depth);
    for (size_t level = depth; level > 0 && depth <= LEVELS; level--, one = &all[one->mother]) {
        bool last = one->next == NO_MOTHER;
        drawn[level - 1] = level == depth ? last ? "└─ " : "├─ " : last ? "   " : "│  ";
    }
    for (size_t level = 0; level < depth && depth <= LEVELS; level++)
        used += (size_t)sprintf(out + used, "%s", drawn[level]);
    text_clean(view->reader->all[at].name, out + used, CELL - used);
}

static void head_text(const struct view *view, size_t i, char out[CELL])
{
    const struct column *column = &table_columns[i];
    bool sorted = view->kind == VIEW_LIST && view->sort == i;
    snprintf(out, CELL, "%.120s%s%s%s", reader_title(view->reader, column->symbol),
             *column->unit ? ", " : "", reader_unit(view->reader, column->unit),
             !sorted            ? ""
             : view->descending ? " ▼"
                                : " ▲");
}

/* The text of column i in the row of a behemoth, or in the heading (at: HEADING). */
static const char *cell_text(const struct view *view, size_t at, size_t i, char out[CELL])
{
    const struct column *column = &table_columns[i];
    const struct reader_behemoth *one = &view->reader->all[at == HEADING ? 0 : at];
    size_t index = column->symbol / 2;
    if (at == HEADING)
        head_text(view, i, out);
    else if (column->kind == KIND_NAME)
        label_text(view, at, out);
    else if (column->kind == KIND_AGE)
        return age_text(reader_age(view->reader, one));
    else if (!view->reader->has[index])
        return "-";
    else if (column->kind == KIND_DATE)
        return time_text(one->values[index]);
    else if (column->kind == KIND_SEX && one->values[index] < 2)
        return one->values[index] ? "♀" : "♂";
    else
        snprintf(out, CELL, "%" PRIu64, one->values[index]);
    return out;
}

/* ---- the width of the columns ---- */

struct grid {
    int widths[COLUMNS]; /* 0: not shown */
    bool more;           /* there are more columns to the right */
};

static int column_width(const struct view *view, size_t i)
{
    char text[CELL];
    int width = text_width(cell_text(view, HEADING, i, text));
    for (size_t at = 0; at < view->reader->count; at++) {
        int its = text_width(cell_text(view, at, i, text));
        width = its > width ? its : width;
    }
    return width;
}

static struct grid grid_of(const struct view *view)
{
    struct grid grid = {{0}, false};
    int used = column_width(view, COLUMN_NAME), most = view->columns / 2;
    size_t skip = view->kind == VIEW_LIST ? (size_t)view->left : 0;
    used = view->columns && used > most ? most : used;
    grid.widths[COLUMN_NAME] = used = used > LABEL_LEAST ? used : LABEL_LEAST;
    for (size_t i = 1; i < COLUMNS; i++) {
        if (view->kind == VIEW_TREE ? !table_columns[i].in_tree : i <= skip)
            continue;
        int width = column_width(view, i);
        grid.more = grid.more || (view->columns && used + 2 + width > view->columns);
        if (grid.more)
            break;
        grid.widths[i] = width;
        used += 2 + width;
    }
    return grid;
}

/* ---- drawing ---- */

static void draw_row(FILE *out, const struct view *view, const struct grid *grid, size_t at)
{
    char text[CELL];
    for (size_t i = 0; i < COLUMNS; i++) {
        if (grid->widths[i] == 0)
            continue;
        bool sex = table_columns[i].kind == KIND_SEX && at != HEADING;
        fputs(i > 0 ? "  " : "", out);
        fputs(!sex ? "" : view->reader->all[at].values[BEHEMOTH_SEX / 2] ? MAGENTA : BLUE, out);
        text_cell(out, cell_text(view, at, i, text), grid->widths[i] * (i > 0 ? -1 : 1));
        fputs(sex ? PLAIN : "", out);
    }
}

static void draw_foot(FILE *out, const struct view *view, size_t end)
{
    const struct kin *kin = &view->kin;
    bool tree = view->kind == VIEW_TREE;
    fputs(WEAK, out);
    if (tree)
        fprintf(out, "%zu %s", kin->families, kin->families == 1 ? "family" : "families");
    if (tree && kin->strays > 0)
        fprintf(out, "; %zu with a missing mother", kin->strays);
    if (tree && kin->circles > 0)
        fprintf(out, "; %zu %s of mothers", kin->circles, kin->circles == 1 ? "circle" : "circles");
    if (view->table_rows < view->table_count)
        fprintf(out, "%srows %zu to %zu of %zu", tree ? "; " : "", (size_t)view->top + (end > 0),
                end, view->table_count);
    fputs(PLAIN "\n", out);
}

void table_draw(FILE *out, struct view *view, int rows)
{
    size_t count = view->reader->count;
    bool tree = view->kind == VIEW_TREE;
    if (tree && !kin_find(&view->kin, view->reader))
        return;
    size_t *order = table_order(view);
    struct grid grid = grid_of(view);
    view->table_count = count;
    view->table_rows = rows == 0 ? count : rows > 2 ? (size_t)rows - 2 : 1;
    int64_t last = (int64_t)count - (int64_t)view->table_rows;
    view->top = view->top > last ? last : view->top;
    view->top = view->top < 0 ? 0 : view->top;
    fputs(STRONG, out);
    draw_row(out, view, &grid, HEADING);
    fprintf(out, PLAIN "%s\n", grid.more ? "›" : "");
    size_t at = (size_t)view->top,
           end = count - at < view->table_rows ? count : at + view->table_rows;
    for (; order && at < end; at++) {
        draw_row(out, view, &grid, order[at]);
        fputc('\n', out);
    }
    if (tree || view->table_rows < count)
        draw_foot(out, view, end);
    free(order);
}
