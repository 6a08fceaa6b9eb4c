/* SPDX-License-Identifier: MIT */
/* Samples of text counters, for which PDH has no format: one query gives all texts of an object. */
#include "internal.h"

#include <openperflib/unstable.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The rows while they are collected: for each row, where its name and its texts are in `data`; 0:
 * no text. */
struct text_rows {
    const struct spec *spec;
    size_t *offsets;
    size_t rows, row_capacity;
    size_t next;  /* the row that is expected next */
    size_t first; /* the column whose texts came first: each text of this column begins a row */
    char *data;
    size_t used, capacity;
    bool single; /* all texts are of `column`; else each text comes with the name of its counter */
    size_t column;
    bool failed; /* no memory */
};

static size_t put_text(struct text_rows *collected, const char *text)
{
    size_t length = strlen(text) + 1;
    if (collected->used + length > collected->capacity) {
        size_t capacity = 2 * (collected->used + length) + 4096;
        char *data = realloc(collected->data, capacity);
        if (!data) {
            collected->failed = true;
            return 0;
        }
        collected->data = data;
        collected->capacity = capacity;
    }
    memcpy(collected->data + collected->used, text, length);
    collected->used += length;
    return collected->used - length;
}

/* Returns the offsets of the row of an instance. All columns have the same order of instances, so
 * the row is the expected one, unless some have no text. NULL: no memory. */
static size_t *row_of(struct text_rows *collected, const char *instance, size_t column)
{
    size_t width = collected->spec->column_count + 1;
    if (!collected->rows)
        collected->first = column;
    for (size_t i = 0; column != collected->first && i < collected->rows; i++) {
        size_t at = (collected->next + i) % collected->rows;
        size_t *row = &collected->offsets[at * width];
        if (!strcmp(collected->data + row[0], instance)) {
            collected->next = at + 1;
            return row;
        }
    }
    if (collected->rows == collected->row_capacity) {
        size_t capacity = 2 * collected->row_capacity + 64;
        size_t *offsets = realloc(collected->offsets, capacity * width * sizeof *offsets);
        if (!offsets) {
            collected->failed = true;
            return NULL;
        }
        collected->offsets = offsets;
        collected->row_capacity = capacity;
    }
    collected->next = collected->rows;
    size_t *row = &collected->offsets[collected->rows++ * width];
    memset(row, 0, width * sizeof *row);
    row[0] = put_text(collected, instance);
    return row;
}

static const char *counter_of(const char *path)
{
    const char *last = strrchr(path, '\\');
    return last ? last + 1 : path;
}

static bool collect(void *context, const char *instance, const char *counter, const char *text)
{
    struct text_rows *collected = context;
    for (size_t c = 0; c < collected->spec->column_count; c++)
        if (collected->single ? c == collected->column
                              : !strcmp(counter_of(collected->spec->found[c].path), counter)) {
            size_t *row = row_of(collected, instance, c);
            if (row)
                row[1 + c] = put_text(collected, text);
        }
    return !collected->failed;
}

static bool make_rows(const struct text_rows *collected, struct table_sample *sample)
{
    size_t columns = collected->spec->column_count, rows = collected->rows;
    sample->names = collected->data;
    sample->rows = calloc(rows + 1, sizeof *sample->rows);
    sample->texts = calloc(rows * columns + 1, sizeof *sample->texts);
    if (!sample->rows || !sample->texts)
        return false;
    for (size_t r = 0; r < rows; r++) {
        const size_t *offsets = &collected->offsets[r * (columns + 1)];
        sample->rows[r].name = collected->data + offsets[0];
        sample->rows[r].identity = identity_of_name(sample->rows[r].name);
        for (size_t c = 0; c < columns; c++)
            sample->texts[r * columns + c] =
                offsets[1 + c] ? collected->data + offsets[1 + c] : NULL;
    }
    sample->row_count = rows;
    return true;
}

/* Makes the sample, and frees what it does not need. False: no memory. */
static bool finish(struct text_rows *collected, struct table_sample *sample)
{
    sample->spec = (struct spec *)collected->spec;
    char *fitting = collected->failed ? NULL : realloc(collected->data, collected->used);
    collected->data = fitting ? fitting : collected->data;
    bool good = !collected->failed && make_rows(collected, sample);
    if (!sample->names)
        free(collected->data);
    free(collected->offsets);
    return good;
}

bool sample_texts(const struct source *source, struct spec *spec, struct table_sample *sample)
{
    char path[2 * PDH_MAX_COUNTER_PATH];
    struct text_rows collected = {.spec = spec};
    const char *first = spec->found[0].path;
    put_text(&collected, ""); /* so that no text has offset 0 */
    full_path(source, first, path, sizeof path);
    snprintf(path + strlen(path) - strlen(counter_of(first)), 2, "*");
    spec->found[0].status = opl_text_values(path, collect, &collected);
    /* no rows: the paths' names may be in another language, so each column is read alone */
    collected.single = !spec->found[0].status && !collected.rows;
    for (size_t c = 0; collected.single && c < spec->column_count; c++) {
        full_path(source, spec->found[c].path, path, sizeof path);
        collected.column = c;
        spec->found[c].status = opl_text_values(path, collect, &collected);
    }
    return finish(&collected, sample);
}

bool recorded_texts(struct spec *spec, PDH_HCOUNTER const *counters, struct table_sample *sample)
{
    struct text_rows collected = {.spec = spec, .single = true};
    put_text(&collected, "");
    for (size_t c = 0; c < spec->column_count; c++) {
        collected.column = c;
        if (counters[c])
            opl_counter_texts(counters[c], collect, &collected);
    }
    return finish(&collected, sample);
}
