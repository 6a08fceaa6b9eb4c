/* SPDX-License-Identifier: MIT */
/* The columns, their cells and their order. */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700 /* gmtime_r */
#endif
#include "columns.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const struct column columns[COLUMNS] = {
    {"name",     BEHEMOTH,          "",    KIND_NAME,   true },
    {"sex",      BEHEMOTH_SEX,      "",    KIND_SEX,    true },
    {"age",      BEHEMOTH_AGE,      "",    KIND_AGE,    true },
    {"x",        BEHEMOTH_X,        "m",   KIND_NUMBER, false},
    {"y",        BEHEMOTH_Y,        "m",   KIND_NUMBER, false},
    {"weight",   BEHEMOTH_WEIGHT,   "kg",  KIND_NUMBER, true },
    {"volume",   BEHEMOTH_VOLUME,   "l",   KIND_NUMBER, false},
    {"birthday", BEHEMOTH_BIRTHDAY, "UTC", KIND_DATE,   false},
};

/* ---- a cell ---- */

static void age_text(double age, char out[COLUMN_CELL])
{
    if (age > 1e15) {
        snprintf(out, COLUMN_CELL, "-");
        return;
    }
    long long seconds = (long long)age, days = seconds / 86400;
    int left = (int)(seconds % 86400), used = 0;
    if (days > 0)
        used = snprintf(out, COLUMN_CELL, "%lldd ", days);
    snprintf(out + used, COLUMN_CELL - (size_t)used, days > 0 ? "%02d:%02d:%02d" : "%d:%02d:%02d",
             left / 3600, left / 60 % 60, left % 60);
}

static void date_text(uint64_t filetime, char out[COLUMN_CELL])
{
    int64_t seconds = (int64_t)(filetime / 10000000) - 11644473600;
    time_t moment = (time_t)seconds;
    struct tm parts;
    if ((int64_t)moment != seconds || !gmtime_r(&moment, &parts) ||
        strftime(out, COLUMN_CELL, "%Y-%m-%d %H:%M:%S", &parts) == 0)
        snprintf(out, COLUMN_CELL, "-");
}

static void sex_text(const struct view *view, uint64_t sex, char out[COLUMN_CELL])
{
    static const char *const signs[2][2] = {
        {"m",            "f"           },
        {"\xe2\x99\x82", "\xe2\x99\x80"}
    };
    if (sex < 2)
        snprintf(out, COLUMN_CELL, "%s", signs[view->look.utf8][sex]);
    else
        snprintf(out, COLUMN_CELL, "%" PRIu64, sex);
}

void column_cell(const struct view *view, const struct shown_behemoth *one,
                 const struct column *column, char out[COLUMN_CELL])
{
    size_t value = column->symbol / 2;
    double age;
    snprintf(out, COLUMN_CELL, "-");
    if (column->kind == KIND_AGE && shown_age(view->shown, one, &age))
        age_text(age, out);
    if (column->kind == KIND_AGE || !view->shown->has[value])
        return;
    if (column->kind == KIND_SEX)
        sex_text(view, one->values[value], out);
    if (column->kind == KIND_NUMBER)
        snprintf(out, COLUMN_CELL, "%" PRIu64, one->values[value]);
    if (column->kind == KIND_DATE)
        date_text(one->values[value], out);
}

/* ---- in order ---- */

static int ascending(const void *left, const void *right)
{
    const struct column_row *a = left, *b = right;
    int order = a->name ? strcmp(a->name, b->name) : a->key < b->key ? -1 : a->key > b->key;
    return order ? order : a->at < b->at ? -1 : 1;
}

static int descending(const void *left, const void *right)
{
    const struct column_row *a = left, *b = right;
    int order = a->name ? strcmp(b->name, a->name) : b->key < a->key ? -1 : b->key > a->key;
    return order ? order : a->at < b->at ? -1 : 1;
}

struct column_row *column_sort(const struct view *view)
{
    const struct shown *shown = view->shown;
    const struct column *by = &columns[view->sort < COLUMNS ? view->sort : COLUMN_NAME];
    struct column_row *rows = calloc(shown->count + 1, sizeof *rows);
    for (size_t i = 0; rows && i < shown->count; i++) {
        uint64_t value = by->kind == KIND_NAME ? 0 : shown->all[i].values[by->symbol / 2];
        /* The value of an age is when it began. */
        rows[i] = (struct column_row){by->kind == KIND_AGE ? ~value : value,
                                      by->kind == KIND_NAME ? shown->all[i].name : NULL, i};
    }
    if (rows && view->sort < COLUMNS)
        qsort(rows, shown->count, sizeof *rows, view->descending ? descending : ascending);
    return rows;
}

bool table_sort_by(struct view *view, const char *word)
{
    bool down = *word == '-';
    word += down;
    for (unsigned i = 0; i < COLUMNS; i++) {
        if (strcmp(word, columns[i].word) != 0 &&
            strcmp(word, titles_get(view->titles, columns[i].symbol)) != 0)
            continue;
        view->sort = i;
        view->descending = down;
        return true;
    }
    return false;
}

void table_sort_next(struct view *view, int step)
{
    unsigned from = view->sort < COLUMNS ? view->sort : step > 0 ? COLUMNS - 1 : 0;
    view->sort = (from + COLUMNS + (unsigned)step) % COLUMNS;
}
