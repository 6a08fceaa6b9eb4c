/* SPDX-License-Identifier: MIT */
/*
 * Prints the values of an object. One set of values is a list with the raw numbers; a few instances
 * are columns; many instances are lines with as many counters as fit, followed by more such tables.
 */
#include "pcview.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { CELL = 48, LABEL = 256, COLUMN_LEAST = 8, COLUMN_MOST = 20, WRAP_AT = 12 };

/* The selected instances and counters of an object, and the text of every value. */
struct grid {
    const struct view_object *object;
    const struct view_instance **rows;
    size_t row_count;
    const struct view_counter **columns;
    size_t column_count;
    char (*cells)[CELL];
    char (*labels)[LABEL];
    bool waits; /* a value needs one more sample */
};

static const char *cell(const struct grid *grid, size_t row, size_t column)
{
    return grid->cells[row * grid->column_count + column];
}

static void grid_done(struct grid *grid)
{
    free(grid->rows);
    free(grid->columns);
    free(grid->cells);
    free(grid->labels);
}

/* Writes a value's text into its cell. A value that needs a second sample: raw, with an
 * asterisk. */
static void fill_cell(struct grid *grid, size_t row, size_t column)
{
    struct view_value value;
    char *text = grid->cells[row * grid->column_count + column];
    view_value_get(grid->object, grid->rows[row], grid->columns[column], &value);
    if (value.state != VIEW_WAITING) {
        view_value_text(grid->object, grid->rows[row], grid->columns[column], text, CELL);
        return;
    }
    snprintf(text, CELL, "%" PRId64 "*", (int64_t)value.raw.first);
    grid->waits = true;
}

static void grid_fill(struct grid *grid)
{
    for (size_t r = 0; r < grid->row_count; r++) {
        view_instance_label(grid->object, grid->rows[r], grid->labels[r], LABEL);
        for (size_t c = 0; c < grid->column_count; c++)
            fill_cell(grid, r, c);
    }
}

static bool grid_make(struct grid *grid, const struct view_object *object,
                      struct requested_object *requested)
{
    *grid = (struct grid){.object = object};
    grid->rows = calloc(object->instance_count + 1, sizeof *grid->rows);
    grid->columns = calloc(object->counter_count + 1, sizeof *grid->columns);
    if (!grid->rows || !grid->columns)
        return false;
    for (size_t i = 0; i < object->instance_count; i++)
        if (find_instance(requested, object, &object->instances[i]))
            grid->rows[grid->row_count++] = &object->instances[i];
    for (size_t i = 0; i < object->counter_count; i++)
        if (!object->counters[i].hidden)
            grid->columns[grid->column_count++] = &object->counters[i];
    grid->cells = calloc(grid->row_count * grid->column_count + 1, sizeof *grid->cells);
    grid->labels = calloc(grid->row_count + 1, sizeof *grid->labels);
    if (!grid->cells || !grid->labels)
        return false;
    grid_fill(grid);
    return true;
}

static int widest(int width, const char *text)
{
    int columns = text_width(text);
    return columns > width ? columns : width;
}

static int titles_width(const struct grid *grid, int most)
{
    int width = 10;
    for (size_t c = 0; c < grid->column_count; c++)
        width = widest(width, grid->columns[c]->title);
    return width < most ? width : most;
}

static void raw_text(const struct view_value *value, const struct view_counter *counter, char *out,
                     size_t capacity)
{
    int used = 0;
    out[0] = 0;
    if (!value->has_raw)
        return;
    used = snprintf(out, capacity, "%" PRId64, (int64_t)value->raw.first);
    if (value->raw.has_base || counter->type.needs_base)
        used += snprintf(out + used, capacity - (size_t)used, " / %" PRId64,
                         (int64_t)value->raw.second);
    if (counter->type.multi)
        snprintf(out + used, capacity - (size_t)used, " x %u", value->raw.multi_count);
}

/* Prints one set of values: value and raw number on a line of its own. */
static void print_list(struct pcview *view, const struct grid *grid)
{
    int width = titles_width(grid, view->width - 40);
    fprintf(view->out, "\n%s  INDEX  %-*s  %14s  RAW%s\n", view->style.weak, width, "COUNTER",
            "VALUE", view->style.off);
    for (size_t c = 0; c < grid->column_count; c++) {
        const struct view_counter *counter = grid->columns[c];
        struct view_value value;
        char raw[96], title[256];
        view_value_get(grid->object, grid->rows[0], counter, &value);
        raw_text(&value, counter, raw, sizeof raw);
        text_clean(counter->title, title, sizeof title);
        fprintf(view->out, "%7u  ", counter->now.definition.CounterNameTitleIndex);
        text_cell(view->out, title, width);
        if (value.state == VIEW_STRING) { /* texts are never truncated */
            view_value_string(grid->object, grid->rows[0], counter, title, sizeof title);
            fprintf(view->out, "  %s\n", title);
            continue;
        }
        fprintf(view->out, "  %14s  %s%s", value.state == VIEW_WAITING ? "-" : cell(grid, 0, c),
                view->style.weak, raw);
        fprintf(view->out, "%s%s%s%s\n", *view_value_why(&value) ? "  (" : "",
                view_value_why(&value), *view_value_why(&value) ? ")" : "", view->style.off);
    }
}

static int column_of_row(const struct grid *grid, size_t row)
{
    int width = widest(COLUMN_LEAST, grid->labels[row]);
    for (size_t c = 0; c < grid->column_count; c++)
        width = widest(width, cell(grid, row, c));
    return width < COLUMN_MOST ? width : COLUMN_MOST;
}

/* Returns the width of the layout with instances as columns. */
static int side_by_side_width(const struct grid *grid, int titles)
{
    int width = 9 + titles;
    for (size_t r = 0; r < grid->row_count && width < 10000; r++)
        width += 2 + column_of_row(grid, r);
    return width;
}

static void print_side_by_side(struct pcview *view, const struct grid *grid, int titles)
{
    fprintf(view->out, "\n%s  INDEX  %-*s", view->style.weak, titles, "COUNTER");
    for (size_t r = 0; r < grid->row_count; r++) {
        fprintf(view->out, "  ");
        text_cell(view->out, grid->labels[r], -column_of_row(grid, r));
    }
    fprintf(view->out, "%s\n", view->style.off);
    for (size_t c = 0; c < grid->column_count; c++) {
        char title[256];
        text_clean(grid->columns[c]->title, title, sizeof title);
        fprintf(view->out, "%7u  ", grid->columns[c]->now.definition.CounterNameTitleIndex);
        text_cell(view->out, title, titles);
        for (size_t r = 0; r < grid->row_count; r++) {
            fprintf(view->out, "  ");
            text_cell(view->out, cell(grid, r, c), -column_of_row(grid, r));
        }
        fprintf(view->out, "\n");
    }
}

static int column_width(const struct grid *grid, size_t column)
{
    char lines[TITLE_LINES][TITLE_SIZE];
    int width = COLUMN_LEAST;
    for (size_t r = 0; r < grid->row_count; r++)
        width = widest(width, cell(grid, r, column));
    size_t count = title_lines(grid->columns[column]->title, WRAP_AT, lines);
    for (size_t i = 0; i < count; i++)
        width = widest(width, lines[i]);
    return width < COLUMN_MOST ? width : COLUMN_MOST;
}

static void print_band_head(struct pcview *view, const struct grid *grid, size_t from, size_t to,
                            const int *widths, int labels)
{
    size_t most = 1;
    char lines[TITLE_LINES][TITLE_SIZE];
    for (size_t c = from; c < to; c++) {
        size_t count = title_lines(grid->columns[c]->title, widths[c], lines);
        most = count > most ? count : most;
    }
    for (size_t line = 0; line < most; line++) {
        fprintf(view->out, "%s  %-*s", view->style.weak, labels,
                line + 1 == most ? "INSTANCE" : "");
        for (size_t c = from; c < to; c++) {
            size_t count = title_lines(grid->columns[c]->title, widths[c], lines);
            size_t skip = most - count;
            fprintf(view->out, "  ");
            text_cell(view->out, line >= skip ? lines[line - skip] : "", -widths[c]);
        }
        fprintf(view->out, "%s\n", view->style.off);
    }
}

static void print_band(struct pcview *view, const struct grid *grid, size_t from, size_t to,
                       const int *widths, int labels)
{
    fprintf(view->out, "\n");
    print_band_head(view, grid, from, to, widths, labels);
    for (size_t r = 0; r < grid->row_count; r++) {
        fprintf(view->out, "  ");
        text_cell(view->out, grid->labels[r], labels);
        for (size_t c = from; c < to; c++) {
            fprintf(view->out, "  ");
            text_cell(view->out, cell(grid, r, c), -widths[c]);
        }
        fprintf(view->out, "\n");
    }
}

static void print_bands(struct pcview *view, const struct grid *grid)
{
    int labels = 8;
    int *widths = calloc(grid->column_count + 1, sizeof *widths);
    if (!widths)
        return;
    for (size_t r = 0; r < grid->row_count; r++)
        labels = widest(labels, grid->labels[r]);
    labels = labels < view->width / 3 ? labels : view->width / 3;
    for (size_t c = 0; c < grid->column_count; c++)
        widths[c] = column_width(grid, c);
    for (size_t from = 0; from < grid->column_count;) {
        int used = 2 + labels;
        size_t to = from;
        while (to < grid->column_count && (to == from || used + 2 + widths[to] <= view->width))
            used += 2 + widths[to++];
        print_band(view, grid, from, to, widths, labels);
        from = to;
    }
    free(widths);
}

static void print_grid(struct pcview *view, const struct grid *grid)
{
    int titles = titles_width(grid, view->width / 2);
    if (grid->row_count == 0) {
        fprintf(view->out, "\n  (no instances to show)\n");
    } else if (grid->row_count == 1) {
        if (!view_object_single(grid->object))
            fprintf(view->out, "\n  instance %s%s%s", view->style.strong, grid->labels[0],
                    view->style.off);
        print_list(view, grid);
    } else {
        if (side_by_side_width(grid, titles) <= view->width)
            print_side_by_side(view, grid, titles);
        else
            print_bands(view, grid);
        if (grid->waits)
            fprintf(view->out,
                    "\n  %s* raw value: the cooked one needs two samples of the same instance%s\n",
                    view->style.weak, view->style.off);
    }
}

void show_values(struct pcview *view, const struct view_object *object,
                 struct requested_object *requested)
{
    struct grid grid;
    if (object->now.type.NumInstances < PERF_NO_INSTANCES)
        return;
    if (grid_make(&grid, object, requested))
        print_grid(view, &grid);
    grid_done(&grid);
}
