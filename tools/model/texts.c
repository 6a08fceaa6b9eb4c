/* SPDX-License-Identifier: MIT */
/* Samples of text counters, for which PDH has no format: one query gives all texts of an object. */
#include "internal.h"

#include <openperflib/unstable.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Offsets in `data` while it grows: of a row's name, then of its texts, 0 for none. */
struct gathered {
    const struct spec *spec;
    size_t *offsets;
    size_t rows, row_capacity;
    size_t next;  /* the row to expect */
    size_t first; /* the column whose texts came first: each of them begins a row */
    char *data;
    size_t used, capacity;
    bool failed; /* no memory */
};

static size_t put_text(struct gathered *gathered, const char *text)
{
    size_t length = strlen(text) + 1;
    if (gathered->used + length > gathered->capacity) {
        size_t capacity = 2 * (gathered->used + length) + 4096;
        char *data = realloc(gathered->data, capacity);
        if (!data) {
            gathered->failed = true;
            return 0;
        }
        gathered->data = data;
        gathered->capacity = capacity;
    }
    memcpy(gathered->data + gathered->used, text, length);
    gathered->used += length;
    return gathered->used - length;
}

/* The offsets of the row of an instance. All columns have the same order of instances, so the row is
 * the expected one, unless some have no text. NULL: no memory. */
static size_t *row_of(struct gathered *gathered, const char *instance, size_t column)
{
    size_t width = gathered->spec->column_count + 1;
    if (!gathered->rows)
        gathered->first = column;
    for (size_t i = 0; column != gathered->first && i < gathered->rows; i++) {
        size_t at = (gathered->next + i) % gathered->rows;
        size_t *row = &gathered->offsets[at * width];
        if (!strcmp(gathered->data + row[0], instance)) {
            gathered->next = at + 1;
            return row;
        }
    }
    if (gathered->rows == gathered->row_capacity) {
        size_t capacity = 2 * gathered->row_capacity + 64;
        size_t *offsets = realloc(gathered->offsets, capacity * width * sizeof *offsets);
        if (!offsets) {
            gathered->failed = true;
            return NULL;
        }
        gathered->offsets = offsets;
        gathered->row_capacity = capacity;
    }
    gathered->next = gathered->rows;
    size_t *row = &gathered->offsets[gathered->rows++ * width];
    memset(row, 0, width * sizeof *row);
    row[0] = put_text(gathered, instance);
    return row;
}

static const char *counter_of(const char *path)
{
    const char *last = strrchr(path, '\\');
    return last ? last + 1 : path;
}

static bool gather(void *context, const char *instance, const char *counter, const char *text)
{
    struct gathered *gathered = context;
    for (size_t c = 0; c < gathered->spec->column_count; c++)
        if (!strcmp(counter_of(gathered->spec->found[c].path), counter)) {
            size_t *row = row_of(gathered, instance, c);
            if (row)
                row[1 + c] = put_text(gathered, text);
        }
    return !gathered->failed;
}

static bool make_rows(const struct gathered *gathered, struct table_sample *sample)
{
    size_t columns = gathered->spec->column_count, rows = gathered->rows;
    sample->names = gathered->data;
    sample->rows = calloc(rows + 1, sizeof *sample->rows);
    sample->texts = calloc(rows * columns + 1, sizeof *sample->texts);
    if (!sample->rows || !sample->texts)
        return false;
    for (size_t r = 0; r < rows; r++) {
        const size_t *offsets = &gathered->offsets[r * (columns + 1)];
        sample->rows[r].name = gathered->data + offsets[0];
        sample->rows[r].identity = identity_of_name(sample->rows[r].name);
        for (size_t c = 0; c < columns; c++)
            sample->texts[r * columns + c] =
                offsets[1 + c] ? gathered->data + offsets[1 + c] : NULL;
    }
    sample->row_count = rows;
    return true;
}

bool sample_texts(const struct source *source, struct spec *spec, struct table_sample *sample)
{
    char path[2 * PDH_MAX_COUNTER_PATH];
    struct gathered gathered = {.spec = spec};
    const char *first = spec->found[0].path;
    put_text(&gathered, ""); /* offset 0 is no text */
    full_path(source, first, path, sizeof path);
    snprintf(path + strlen(path) - strlen(counter_of(first)), 2, "*");
    spec->found[0].status = opl_text_values(path, gather, &gathered);
    sample->spec = spec;
    bool good = !gathered.failed && make_rows(&gathered, sample);
    if (!sample->names)
        free(gathered.data);
    free(gathered.offsets);
    return good;
}
