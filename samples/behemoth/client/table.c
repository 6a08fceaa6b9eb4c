/* SPDX-License-Identifier: MIT */
/* The list, a row for each behemoth, and the tree, which is a list in the families' order. */
#include "columns.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>

enum {
    HEAD = 160,
    LABEL = 320,
    LABEL_LEAST = 12,
    LEVELS = 16 /* deeper ones are shown at this depth, with their number */
};

/* ---- the first column ---- */

/* The lines that join a behemoth to the mother; from the right to the left. */
static size_t branch_text(const struct view *view, size_t at, char *out)
{
    static const char *const parts[2][4] = {
        {"`- ",                       "|- ",                       "|  ",            "   "},
        {"\xe2\x94\x94\xe2\x94\x80 ", "\xe2\x94\x9c\xe2\x94\x80 ", "\xe2\x94\x82  ", "   "},
    };
    const struct kin_one *all = view->kin.all, *one = &all[at];
    const char *const *part = parts[view->look.utf8];
    const char *drawn[LEVELS];
    size_t depth = one->depth, used = 0;
    if (depth > LEVELS)
        return (size_t)sprintf(out, "%*s(%zu) ", 3 * LEVELS, "", depth);
    for (size_t level = depth; level > 0; level--, one = &all[one->mother]) {
        bool last = one->next == SHOWN_NONE;
        drawn[level - 1] = level == depth ? part[last ? 0 : 1] : part[last ? 3 : 2];
    }
    for (size_t level = 0; level < depth; level++)
        used += (size_t)sprintf(out + used, "%s", drawn[level]);
    out[used] = 0;
    return used;
}

static void label_text(const struct view *view, size_t at, char out[LABEL])
{
    char branch[LABEL / 2] = "", name[LABEL / 2];
    if (view->kind == VIEW_TREE)
        branch_text(view, at, branch);
    text_clean(view->shown->all[at].name, name, sizeof name);
    snprintf(out, LABEL, "%s%s", branch, name);
}

static int label_width(const struct view *view)
{
    char label[LABEL];
    int width = LABEL_LEAST;
    for (size_t i = 0; i < view->shown->count; i++) {
        label_text(view, i, label);
        int columns_of = text_width(label);
        width = columns_of > width ? columns_of : width;
    }
    return width;
}

/* ---- the columns ---- */

static const char *cell_colour(const struct view *view, const struct shown_behemoth *one,
                               const struct column *column)
{
    uint64_t sex = one->values[BEHEMOTH_SEX / 2];
    if (column->kind != KIND_SEX || !view->shown->has[BEHEMOTH_SEX / 2] || sex > 1)
        return "";
    return sex == 0 ? view->look.male : view->look.female;
}

/* One of the columns that are shown, or what is shown of all of them. */
struct grid {
    int widths[COLUMNS]; /* 0: not shown */
    bool more;           /* columns to the right */
};

static void head_text(const struct view *view, size_t i, char out[HEAD])
{
    static const char *const marks[2][2] = {
        {" ^",            " v"           },
        {" \xe2\x96\xb2", " \xe2\x96\xbc"}
    };
    const struct column *column = &columns[i];
    bool sorted = view->kind == VIEW_LIST && view->sort == i;
    snprintf(out, HEAD, "%.120s%s%s%s", titles_get(view->titles, column->symbol),
             *column->unit ? ", " : "", titles_unit(view->titles, column->unit),
             sorted ? marks[view->look.utf8][view->descending] : "");
}

/* Of numbers the largest is the widest; the oldest was born first. */
static int column_width(const struct view *view, size_t i)
{
    const struct shown *shown = view->shown;
    const struct column *column = &columns[i];
    const struct shown_behemoth *widest = NULL;
    char head[HEAD], cell[COLUMN_CELL] = "";
    size_t value = column->symbol / 2;
    for (size_t j = 0; j < shown->count; j++) {
        uint64_t its = shown->all[j].values[value];
        bool wider = !widest || (column->kind == KIND_AGE ? its < widest->values[value]
                                                          : its > widest->values[value]);
        widest = wider ? &shown->all[j] : widest;
    }
    if (widest)
        column_cell(view, widest, column, cell);
    head_text(view, i, head);
    return text_width(head) > text_width(cell) ? text_width(head) : text_width(cell);
}

static struct grid grid_of(struct view *view)
{
    struct grid grid = {{0}, false};
    char head[HEAD];
    unsigned skip = view->kind == VIEW_LIST ? view->left : 0;
    int label = label_width(view), used;
    head_text(view, COLUMN_NAME, head);
    label = text_width(head) > label ? text_width(head) : label;
    if (view->columns && label > view->columns / 2)
        label = view->columns / 2 > LABEL_LEAST ? view->columns / 2 : LABEL_LEAST;
    grid.widths[COLUMN_NAME] = used = label;
    for (size_t i = 1; i < COLUMNS; i++) {
        if (view->kind == VIEW_TREE ? !columns[i].in_tree : i <= skip)
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

static void draw_head(FILE *out, const struct view *view, const struct grid *grid)
{
    char head[HEAD];
    fputs(view->look.strong, out);
    for (size_t i = 0; i < COLUMNS; i++) {
        if (grid->widths[i] == 0)
            continue;
        head_text(view, i, head);
        fputs(i > 0 ? "  " : "", out);
        text_put(out, head, i == COLUMN_NAME ? grid->widths[i] : -grid->widths[i]);
    }
    fprintf(out, "%s%s\n", view->look.off, grid->more ? view->look.utf8 ? "\u203a" : ">" : "");
}

static void draw_row(FILE *out, const struct view *view, const struct grid *grid, size_t at)
{
    const struct shown_behemoth *one = &view->shown->all[at];
    char label[LABEL], cell[COLUMN_CELL];
    label_text(view, at, label);
    text_put(out, label, grid->widths[COLUMN_NAME]);
    for (size_t i = 1; i < COLUMNS; i++) {
        if (grid->widths[i] == 0)
            continue;
        const char *colour = cell_colour(view, one, &columns[i]);
        column_cell(view, one, &columns[i], cell);
        fprintf(out, "  %s", colour);
        text_put(out, cell, -grid->widths[i]);
        fputs(*colour ? view->look.off : "", out);
    }
    fputc('\n', out);
}

/* ---- below the table ---- */

static void draw_families(FILE *out, const struct kin *kin)
{
    fprintf(out, "%zu %s", kin->families, kin->families == 1 ? "family" : "families");
    if (kin->strays > 0)
        fprintf(out, "; %zu with a mother who is not there", kin->strays);
    if (kin->circles > 0)
        fprintf(out, "; %zu %s of mothers", kin->circles, kin->circles == 1 ? "circle" : "circles");
}

static void draw_foot(FILE *out, const struct view *view, size_t to)
{
    fputs(view->look.weak, out);
    if (view->kind == VIEW_TREE)
        draw_families(out, &view->kin);
    if (view->kind == VIEW_TREE && view->table_rows < view->table_count)
        fputs("; ", out);
    if (view->table_rows < view->table_count)
        fprintf(out, "rows %zu to %zu of %zu", to > 0 ? view->top + 1 : 0, to, view->table_count);
    fprintf(out, "%s\n", view->look.off);
}

static struct column_row *family_rows(const struct kin *kin)
{
    struct column_row *rows = calloc(kin->count + 1, sizeof *rows);
    for (size_t i = 0; rows && i < kin->count; i++)
        rows[i].at = kin->order[i];
    return rows;
}

void table_draw(FILE *out, struct view *view, int rows)
{
    size_t count = view->shown->count;
    bool tree = view->kind == VIEW_TREE;
    if (tree && !kin_find(&view->kin, view->shown))
        return;
    struct column_row *all = tree ? family_rows(&view->kin) : column_sort(view);
    struct grid grid = grid_of(view);
    view->table_count = count;
    view->table_rows = rows == 0 ? count : rows > 2 ? (size_t)rows - 2 : 1;
    if (view->top > count || count - view->top < view->table_rows)
        view->top = count > view->table_rows ? count - view->table_rows : 0;
    size_t to = view->top + view->table_rows < count ? view->top + view->table_rows : count;
    draw_head(out, view, &grid);
    for (size_t i = view->top; all && i < to; i++)
        draw_row(out, view, &grid, all[i].at);
    if (tree || view->table_rows < count)
        draw_foot(out, view, to);
    free(all);
}
