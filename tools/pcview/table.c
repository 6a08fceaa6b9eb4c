/* SPDX-License-Identifier: MIT */
/* Turns an object into rows and columns, and sorts them. */
#include "table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void cell_fill(struct table_cell *cell, const struct view_object *object,
                      const struct view_instance *instance, const struct view_counter *counter)
{
    struct view_value value;
    view_value_get(object, instance, counter, &value);
    view_value_text(object, instance, counter, cell->text, sizeof cell->text);
    cell->number = value.state == VIEW_NUMBER ? value.number : NAN;
}

static void column_fill(struct table_column *column, const struct view_counter *counter)
{
    column->counter = counter;
    text_clean(counter->title, column->title, sizeof column->title);
}

static void choose_columns(struct table *table, const struct table_choice *choice)
{
    const struct view_object *object = table->object;
    for (const uint32_t *index = choice->counters; index && *index; index++) {
        size_t position = view_counter_find(object, *index);
        if (position != (size_t)-1)
            column_fill(&table->columns[table->column_count++], &object->counters[position]);
    }
    for (size_t i = 0; !choice->counters && i < object->counter_count; i++)
        if (!object->counters[i].hidden)
            column_fill(&table->columns[table->column_count++], &object->counters[i]);
}

static bool is_wanted(const struct table *table, const struct table_choice *choice,
                      const struct view_instance *instance, const char *label)
{
    struct view_value value;
    size_t position = choice->leave_out_zero
                          ? view_counter_find(table->object, choice->leave_out_zero)
                          : (size_t)-1;
    if (choice->filter && *choice->filter && !text_contains(label, choice->filter))
        return false;
    if (!find_instance(choice->requested, table->object, instance))
        return false;
    if (position == (size_t)-1)
        return true;
    view_value_get(table->object, instance, &table->object->counters[position], &value);
    return !value.has_raw || value.raw.first != 0;
}

static void fill_instances(struct table *table, const struct table_choice *choice)
{
    for (size_t i = 0; i < table->object->instance_count; i++) {
        const struct view_instance *instance = &table->object->instances[i];
        struct table_row *row = &table->rows[table->row_count];
        view_instance_label(table->object, instance, row->label, sizeof row->label);
        if (!is_wanted(table, choice, instance, row->label))
            continue;
        row->order = i;
        row->cells = &table->cells[table->row_count * table->column_count];
        for (size_t c = 0; c < table->column_count; c++)
            cell_fill(&row->cells[c], table->object, instance, table->columns[c].counter);
        table->row_count++;
    }
}

/* Fills the table of a single object: its counters are the rows, with the value and the raw
 * number. */
static void fill_single(struct table *table, const struct table_choice *choice, size_t count)
{
    struct table_column *found = table->columns;
    const struct view_instance *instance = table->object->instances;
    for (size_t i = 0; i < count && table->object->instance_count; i++) {
        struct table_row *row = &table->rows[table->row_count];
        struct view_value value;
        snprintf(row->label, sizeof row->label, "%s", found[i].title);
        if (choice->filter && !text_contains(row->label, choice->filter))
            continue;
        row->order = i;
        row->counter = found[i].counter;
        row->cells = &table->cells[table->row_count * 2];
        cell_fill(&row->cells[0], table->object, instance, row->counter);
        view_value_get(table->object, instance, row->counter, &value);
        row->cells[1].number = value.has_raw ? (double)value.raw.first : NAN;
        if (value.has_raw)
            snprintf(row->cells[1].text, sizeof row->cells[1].text, "%lld",
                     (long long)value.raw.first);
        table->row_count++;
    }
    snprintf(table->columns[0].title, sizeof table->columns[0].title, "VALUE");
    snprintf(table->columns[1].title, sizeof table->columns[1].title, "RAW");
    table->columns[0].counter = table->columns[1].counter = NULL;
    table->column_count = 2;
}

static void measure(struct table *table)
{
    for (size_t c = 0; c < table->column_count; c++) {
        int width = 6;
        for (size_t r = 0; r < table->row_count; r++) {
            int columns = text_width(table->rows[r].cells[c].text);
            width = columns > width ? columns : width;
        }
        table->columns[c].width = width;
    }
}

bool table_make(struct table *table, const struct view_object *object,
                const struct table_choice *choice)
{
    bool single = view_object_single(object);
    size_t rows = single ? object->counter_count : object->instance_count;
    *table = (struct table){.object = object};
    table->columns = calloc(object->counter_count + 2, sizeof *table->columns);
    table->rows = calloc(rows + 1, sizeof *table->rows);
    if (!table->columns || !table->rows)
        return false;
    choose_columns(table, choice);
    size_t cells = single ? rows * 2 : rows * table->column_count;
    table->cells = calloc(cells + 1, sizeof *table->cells);
    if (!table->cells)
        return false;
    if (single)
        fill_single(table, choice, table->column_count);
    else
        fill_instances(table, choice);
    measure(table);
    return true;
}

struct order {
    int column;
    bool ascending;
};

/* Orders numbers before texts, and texts before missing values; equal ones as in the block. */
static int compare_rows(const void *left, const void *right, void *self)
{
    const struct order *order = self;
    const struct table_row *a = left, *b = right;
    int result = 0;
    if (order->column >= 0) {
        const struct table_cell *one = &a->cells[order->column], *two = &b->cells[order->column];
        if (isnan(one->number) != isnan(two->number))
            return isnan(one->number) ? 1 : -1;
        if (isnan(one->number))
            result = strcmp(two->text, one->text);
        else
            result = one->number < two->number ? 1 : one->number > two->number ? -1 : 0;
    }
    if (result == 0)
        return a->order < b->order ? -1 : a->order > b->order;
    return order->ascending ? -result : result;
}

void table_sort(struct table *table, int column, bool ascending)
{
    struct order order = {column < (int)table->column_count ? column : TABLE_UNSORTED, ascending};
    if (table->row_count)
        qsort_r(table->rows, table->row_count, sizeof *table->rows, compare_rows, &order);
}

int table_column_of(const struct table *table, uint32_t title_index)
{
    for (size_t i = 0; i < table->column_count; i++)
        if (table->columns[i].counter &&
            table->columns[i].counter->now.definition.CounterNameTitleIndex == title_index)
            return (int)i;
    return TABLE_UNSORTED;
}

void table_done(struct table *table)
{
    free(table->columns);
    free(table->rows);
    free(table->cells);
    *table = (struct table){0};
}
