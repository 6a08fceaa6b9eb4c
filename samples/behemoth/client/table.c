/* SPDX-License-Identifier: MIT */
/* Draws the list, which has a row for each behemoth, and the tree, which is the list in the order
 * of families. */
#include "view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    HEAD = 160,
    LABEL = 320,
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
            strcmp(word, titles_get(view->titles, table_columns[i].symbol)) != 0)
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
static void label_text(const struct view *view, size_t at, char out[LABEL])
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
    text_clean(view->reader->all[at].name, out + used, LABEL - used);
}

static const char *cell_text(const struct view *view, const struct reader_behemoth *one,
                             const struct column *column, char out[TEXT_VALUE])
{
    uint64_t value = one->values[column->symbol / 2];
    if (column->kind == KIND_AGE)
        return age_text(reader_age(view->reader, one), out);
    if (!view->reader->has[column->symbol / 2])
        return "-";
    if (column->kind == KIND_DATE)
        return time_text(value, out);
    if (column->kind == KIND_SEX && value < 2)
        return value ? MAGENTA "♀" PLAIN : BLUE "♂" PLAIN;
    snprintf(out, TEXT_VALUE, "%" PRIu64, value);
    return out;
}

static void head_text(const struct view *view, size_t i, char out[HEAD])
{
    const struct column *column = &table_columns[i];
    bool sorted = view->kind == VIEW_LIST && view->sort == i;
    snprintf(out, HEAD, "%.120s%s%s%s", titles_get(view->titles, column->symbol),
             *column->unit ? ", " : "", titles_unit(view->titles, column->unit),
             !sorted            ? ""
             : view->descending ? " ▼"
                                : " ▲");
}

/* ---- the width of the columns ---- */

struct grid {
    int widths[COLUMNS]; /* 0: not shown */
    bool more;           /* there are more columns to the right */
};

/* The width that a column needs. In a column of numbers the largest number is the widest; in a
 * column of ages, the highest age. */
static int column_width(const struct view *view, size_t i)
{
    const struct reader *reader = view->reader;
    const struct column *column = &table_columns[i];
    const struct reader_behemoth *widest = NULL;
    char head[HEAD], cell[TEXT_VALUE], label[LABEL];
    size_t value = column->symbol / 2;
    int width = i == COLUMN_NAME ? LABEL_LEAST : 0, its = 0;
    for (size_t j = 0; j < reader->count; j++) {
        const struct reader_behemoth *one = &reader->all[j];
        if (i == COLUMN_NAME) {
            label_text(view, j, label);
            its = text_width(label);
            width = its > width ? its : width;
        } else if (!widest ||
                   (column->kind == KIND_AGE ? one->values[value] < widest->values[value]
                                             : one->values[value] > widest->values[value])) {
            widest = one;
        }
    }
    const char *text = widest ? cell_text(view, widest, column, cell) : "";
    if (i != COLUMN_NAME)
        width = *text == '\033' ? 1 : text_width(text);
    head_text(view, i, head);
    return text_width(head) > width ? text_width(head) : width;
}

static struct grid grid_of(const struct view *view)
{
    struct grid grid = {{column_width(view, COLUMN_NAME)}, false};
    int *label = &grid.widths[COLUMN_NAME], half = view->columns / 2;
    unsigned skip = view->kind == VIEW_LIST ? view->left : 0;
    if (view->columns && *label > half)
        *label = half > LABEL_LEAST ? half : LABEL_LEAST;
    int used = *label;
    for (size_t i = 1; i < COLUMNS; i++) {
        if (view->kind == VIEW_TREE ? !table_columns[i].in_tree : i <= skip)
            continue;
        int width = column_width(view, i);
        grid.more = grid.more || (view->columns && used + 2 + width > view->columns);
        if (grid.more)
            continue;
        grid.widths[i] = width;
        used += 2 + width;
    }
    return grid;
}

/* ---- drawing ---- */

static void draw_head(FILE *out, const struct view *view, const struct grid *grid)
{
    char head[HEAD];
    fputs(STRONG, out);
    for (size_t i = 0; i < COLUMNS; i++) {
        if (grid->widths[i] == 0)
            continue;
        head_text(view, i, head);
        fputs(i > 0 ? "  " : "", out);
        text_cell(out, head, i == COLUMN_NAME ? grid->widths[i] : -grid->widths[i]);
    }
    fprintf(out, PLAIN "%s\n", grid->more ? "›" : "");
}

static void draw_row(FILE *out, const struct view *view, const struct grid *grid, size_t at)
{
    char label[LABEL], cell[TEXT_VALUE];
    label_text(view, at, label);
    text_cell(out, label, grid->widths[COLUMN_NAME]);
    for (size_t i = 1; i < COLUMNS; i++) {
        if (grid->widths[i] == 0)
            continue;
        const char *text = cell_text(view, &view->reader->all[at], &table_columns[i], cell);
        fputs("  ", out);
        if (*text == '\033')
            fprintf(out, "%*s%s", grid->widths[i] - 1, "", text);
        else
            text_cell(out, text, -grid->widths[i]);
    }
    fputc('\n', out);
}

static void draw_foot(FILE *out, const struct view *view, size_t to)
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
        fprintf(out, "%srows %zu to %zu of %zu", tree ? "; " : "", to > 0 ? view->top + 1 : 0, to,
                view->table_count);
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
    if (view->top > count || count - view->top < view->table_rows)
        view->top = count > view->table_rows ? count - view->table_rows : 0;
    size_t to = view->top + view->table_rows < count ? view->top + view->table_rows : count;
    draw_head(out, view, &grid);
    for (size_t i = view->top; order && i < to; i++)
        draw_row(out, view, &grid, order[i]);
    if (tree || view->table_rows < count)
        draw_foot(out, view, to);
    free(order);
}
