/* SPDX-License-Identifier: MIT */
/* Draws the summary, with titles from the language bases; prints the whole answer as JSON. */
#include "view.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ITEM = 200 };

static const struct item {
    unsigned symbol;
    const char *unit;
    int digits;
    bool rate;
    const char *word; /* the name in JSON */
} items[] = {
    {BEHEMOTHS_SUMMARY_BEHEMOTHS,       "",   0, false, "behemoths"     },
    {BEHEMOTHS_SUMMARY_TOTAL_WEIGHT,    "kg", 0, false, "totalWeight"   },
    {BEHEMOTHS_SUMMARY_BIRTHS_SEC,      "",   2, true,  "births"        },
    {BEHEMOTHS_SUMMARY_DEATHS_SEC,      "",   2, true,  "deaths"        },
    {BEHEMOTHS_SUMMARY_MEAN_AGE,        "",   1, false, "meanAgePercent"},
    {BEHEMOTHS_SUMMARY_STATUS,          "",   0, false, NULL            },
    {BEHEMOTHS_SUMMARY_DATA_AGE,        "s",  1, false, "dataAge"       },
    {BEHEMOTHS_SUMMARY_HERD_TIME,       "",   0, false, "herdTime"      },
    {BEHEMOTHS_SUMMARY_FOUNDERS,        "",   0, false, "founders"      },
    {BEHEMOTHS_SUMMARY_LEFT_STEPS_SEC,  "",   0, true,  "leftSteps"     },
    {BEHEMOTHS_SUMMARY_RIGHT_STEPS_SEC, "",   0, true,  "rightSteps"    },
};
#define AGE (items + 6) /* the last one that is shown; the others are only in JSON */
enum { ITEMS = sizeof items / sizeof *items };

/* The value of an item; NaN: unknown, as rates are while the server does not answer. */
static double value_of(const struct view *view, const struct item *item)
{
    unsigned source = item->rate ? BEHEMOTHS_SUMMARY_STATUS : item->symbol;
    bool known = reader_raw(view->reader, source) != 0 || !(item->rate || item == AGE);
    return known ? reader_summary(view->reader, item->symbol) : NAN;
}

int trouble_draw(FILE *out, const struct view *view)
{
    double age = value_of(view, AGE);
    if (!view->failed && reader_raw(view->reader, BEHEMOTHS_SUMMARY_STATUS))
        return 0;
    if (view->failed)
        fprintf(out, BAD "no answer (error %ld): the previous data is shown", (long)view->failed);
    else if (isnan(age))
        fputs(BAD "behemoth-server is not running, and has never answered", out);
    else
        fprintf(out, BAD "behemoth-server is not running: this is its answer of %.0f seconds ago",
                age);
    fputs(PLAIN "\n", out);
    return 1;
}

/* Puts items side by side while they fit, in at most a quarter of the rows, but at least one. */
int summary_draw(FILE *out, const struct view *view)
{
    int lines = 1, used = 0, most = view->rows < 8 ? view->rows > 0 : view->rows / 4;
    for (const struct item *item = items; item <= AGE; item++) {
        char number[ITEM] = "-";
        double value = value_of(view, item);
        const char *title = reader_title(view->reader, item->symbol);
        if (item->rate && !view->rates)
            continue;
        if (!isnan(value))
            snprintf(number, ITEM, "%.*f%s%s", item->digits, value, *item->unit ? " " : "",
                     reader_unit(view->reader, item->unit));
        int width = text_width(title) + 1 + text_width(number);
        bool fits = used == 0 || view->columns == 0 || used + 3 + width <= view->columns;
        if (!fits && lines == most)
            break;
        fprintf(out, "%s" WEAK "%s" PLAIN " " STRONG "%s" PLAIN,
                used == 0 ? ""
                : fits    ? "   "
                          : "\n",
                title, number);
        used = fits && used > 0 ? used + 3 + width : width;
        lines += !fits;
    }
    fputc('\n', out);
    return lines;
}

/* ---- for programs ---- */

static json_t *json_text(const char *text)
{
    char clean[1024];
    text_clean(text, clean, sizeof clean);
    return json_string(clean);
}

static json_t *json_value(const struct view *view, const struct reader_behemoth *one,
                          const struct column *column)
{
    uint64_t value = one->values[column->symbol / 2];
    double age = reader_age(view->reader, one);
    const char *date = time_text(value), *blank = strchr(date, ' ');
    bool has = view->reader->has[column->symbol / 2];
    if (column->kind == KIND_NAME)
        return json_text(one->name);
    if (column->kind == KIND_AGE && age >= 0)
        return json_real(age);
    if (!has || column->kind == KIND_AGE || (column->kind == KIND_DATE && !blank))
        return json_null();
    if (column->kind == KIND_DATE)
        return json_sprintf("%.*sT%sZ", (int)(blank - date), date, blank + 1);
    return column->kind == KIND_SEX && value < 2 ? json_string(value ? "female" : "male")
                                                 : json_integer((json_int_t)value);
}

void json_write(FILE *out, const struct view *view)
{
    const struct reader *reader = view->reader;
    json_t *titles = json_object(), *herd = json_array();
    json_t *all = json_pack("{s:o, s:b}", "machine", json_text(reader->machine), "serverThere",
                            reader_raw(reader, BEHEMOTHS_SUMMARY_STATUS) != 0);
    for (const struct item *item = items; item < items + ITEMS; item++) {
        bool whole = item->rate || item->digits == 0; /* a rate as its raw count */
        bool known = whole ? reader->pairs[item->symbol / 2].there : !isnan(value_of(view, item));
        if (item->word)
            json_object_set_new(all, item->word,
                                !known  ? json_null()
                                : whole ? json_integer(reader_raw(reader, item->symbol))
                                        : json_real(value_of(view, item)));
    }
    size_t *order = table_order(view);
    for (size_t i = 0; i < COLUMNS; i++)
        json_object_set_new(titles, table_columns[i].word,
                            json_text(reader_title(reader, table_columns[i].symbol)));
    for (size_t i = 0; order && i < reader->count; i++) {
        const struct reader_behemoth *one = &reader->all[order[i]];
        bool has_mother = one->mother >= 0 && (uint64_t)one->mother < reader->count;
        json_t *json = json_pack("{s:I, s:n, s:o}", "position", (json_int_t)order[i], "name",
                                 "mother", has_mother ? json_integer(one->mother) : json_null());
        for (size_t j = 0; j < COLUMNS; j++)
            json_object_set_new(json, table_columns[j].word,
                                json_value(view, one, &table_columns[j]));
        json_array_append_new(herd, json);
    }
    free(order);
    json_object_set_new(all, "language", json_text(reader->language));
    json_object_set_new(all, "titles", titles);
    json_object_set_new(all, "herd", herd);
    json_dumpf(all, out, JSON_INDENT(1) | JSON_REAL_PRECISION(12));
    fputc('\n', out);
    json_decref(all);
}
