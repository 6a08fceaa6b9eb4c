/* SPDX-License-Identifier: MIT */
/* All of it for programs: the same words in each language, null where there is no value. */
#include "columns.h"
#include "text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void json_text(FILE *out, const char *text)
{
    char clean[1024];
    text_clean(text, clean, sizeof clean);
    fputc('"', out);
    for (const char *at = clean; *at; at++)
        fprintf(out, *at == '"' || *at == '\\' ? "\\%c" : "%c", *at);
    fputc('"', out);
}

/* A date as its cell has it, in the form that programs read. */
static void json_date(FILE *out, const char *cell)
{
    const char *time = strchr(cell, ' ');
    if (time)
        fprintf(out, "\"%.*sT%sZ\"", (int)(time - cell), cell, time + 1);
    else
        fputs("null", out);
}

static void json_value(FILE *out, const struct view *view, const struct shown_behemoth *one,
                       const struct column *column)
{
    static const char *const sexes[] = {"\"male\"", "\"female\""};
    char cell[COLUMN_CELL];
    double age;
    uint64_t value = column->kind == KIND_NAME ? 0 : one->values[column->symbol / 2];
    fprintf(out, ",\"%s\":", column->word);
    if (column->kind == KIND_AGE && shown_age(view->shown, one, &age))
        fprintf(out, "%.1f", age);
    else if (column->kind == KIND_AGE || !view->shown->has[column->symbol / 2])
        fputs("null", out);
    else if (column->kind == KIND_SEX && value < 2)
        fputs(sexes[value], out);
    else if (column->kind != KIND_DATE)
        fprintf(out, "%" PRIu64, value);
    else {
        column_cell(view, one, column, cell);
        json_date(out, cell);
    }
}

static void json_one(FILE *out, const struct view *view, size_t at)
{
    const struct shown_behemoth *one = &view->shown->all[at];
    fprintf(out, "{\"position\":%zu,\"name\":", at);
    json_text(out, one->name);
    if (one->mother >= 0 && (uint64_t)one->mother < view->shown->count)
        fprintf(out, ",\"mother\":%" PRId64, one->mother);
    else
        fputs(",\"mother\":null", out);
    for (size_t i = 1; i < COLUMNS; i++)
        json_value(out, view, one, &columns[i]);
    fputc('}', out);
}

/* ---- the summary ---- */

static void json_count(FILE *out, const struct shown *shown, const char *word, unsigned symbol)
{
    fprintf(out, ",\"%s\":", word);
    if (shown->pairs[symbol / 2].there)
        fprintf(out, "%" PRIu64, shown->summary[symbol / 2]);
    else
        fputs("null", out);
}

static void json_cooked(FILE *out, const struct shown *shown, const char *word, unsigned symbol)
{
    double value;
    fprintf(out, ",\"%s\":", word);
    if (shown_summary(shown, symbol, &value))
        fprintf(out, "%.3f", value);
    else
        fputs("null", out);
}

static void json_summary(FILE *out, const struct view *view)
{
    const struct shown *shown = view->shown;
    fputs("{\"machine\":", out);
    json_text(out, shown->machine);
    fprintf(out, ",\"serverThere\":%s", shown_server_there(shown) ? "true" : "false");
    json_count(out, shown, "behemoths", BEHEMOTHS_SUMMARY_BEHEMOTHS);
    json_count(out, shown, "totalWeight", BEHEMOTHS_SUMMARY_TOTAL_WEIGHT);
    json_count(out, shown, "births", BEHEMOTHS_SUMMARY_BIRTHS_SEC);
    json_count(out, shown, "deaths", BEHEMOTHS_SUMMARY_DEATHS_SEC);
    json_cooked(out, shown, "meanAgePercent", BEHEMOTHS_SUMMARY_MEAN_AGE);
    if (shown_server_heard(shown))
        json_cooked(out, shown, "dataAge", BEHEMOTHS_SUMMARY_DATA_AGE);
    else
        fputs(",\"dataAge\":null", out);
}

static void json_titles(FILE *out, const struct titles *titles)
{
    fputs(",\n\"language\":", out);
    json_text(out, titles->language);
    fputs(",\"titles\":{", out);
    for (size_t i = 0; i < COLUMNS; i++) {
        fprintf(out, "%s\"%s\":", i > 0 ? "," : "", columns[i].word);
        json_text(out, titles_get(titles, columns[i].symbol));
    }
    fputs("}", out);
}

void json_write(FILE *out, const struct view *view)
{
    struct column_row *rows = column_sort(view);
    json_summary(out, view);
    json_titles(out, view->titles);
    fputs(",\n\"herd\":[", out);
    for (size_t i = 0; rows && i < view->shown->count; i++) {
        fputs(i > 0 ? ",\n" : "\n", out);
        json_one(out, view, rows[i].at);
    }
    fputs("]}\n", out);
    free(rows);
}
