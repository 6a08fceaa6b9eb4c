/* SPDX-License-Identifier: MIT */
/* Draws the summary, with titles from the language bases; prints the whole answer as JSON. */
#include "view.h"

#include <jansson.h>

#include <stdlib.h>
#include <string.h>

enum { ITEM = 200, SHOWN = 7 };

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
    {BEHEMOTHS_SUMMARY_HERD_TIME,       "",   0, false, "herdTime"      }, /* from here on only in JSON */
    {BEHEMOTHS_SUMMARY_FOUNDERS,        "",   0, false, "founders"      },
    {BEHEMOTHS_SUMMARY_LEFT_STEPS_SEC,  "",   0, true,  "leftSteps"     },
    {BEHEMOTHS_SUMMARY_RIGHT_STEPS_SEC, "",   0, true,  "rightSteps"    },
};
enum { ITEMS = sizeof items / sizeof *items };

/* The value of an item; false: unknown, as rates are while the server does not answer. */
static bool value_of(const struct view *view, const struct item *item, double *ret)
{
    const struct reader *reader = view->reader;
    return !(item->rate && !reader_raw(view->reader, BEHEMOTHS_SUMMARY_STATUS)) &&
           !(item->symbol == BEHEMOTHS_SUMMARY_DATA_AGE &&
             !reader_raw(reader, BEHEMOTHS_SUMMARY_DATA_AGE)) &&
           reader_summary(reader, item->symbol, ret);
}

int trouble_draw(FILE *out, const struct view *view)
{
    const struct item *age = &items[SHOWN - 1];
    double seconds;
    if (!view->failed && reader_raw(view->reader, BEHEMOTHS_SUMMARY_STATUS))
        return 0;
    if (view->failed)
        fprintf(out, BAD "no answer (error %ld): the previous data is shown", (long)view->failed);
    else if (!reader_raw(view->reader, BEHEMOTHS_SUMMARY_DATA_AGE))
        fputs(BAD "behemoth-server is not running, and has never answered", out);
    else if (!value_of(view, age, &seconds))
        fputs(BAD "behemoth-server is not running: this is its last answer", out);
    else
        fprintf(out, BAD "behemoth-server is not running: this is its answer of %.0f seconds ago",
                seconds);
    fputs(PLAIN "\n", out);
    return 1;
}

/* Puts items side by side while they fit, in at most a quarter of the rows, but at least one. */
int summary_draw(FILE *out, const struct view *view)
{
    int lines = 1, used = 0, most = view->rows < 8 ? view->rows > 0 : view->rows / 4;
    for (const struct item *item = items; item < items + SHOWN; item++) {
        char number[ITEM] = "-";
        double value;
        const char *title = reader_title(view->reader, item->symbol);
        if (item->rate && !view->rates)
            continue;
        if (value_of(view, item, &value))
            snprintf(number, ITEM, "%.*f%s%s", item->digits, value, *item->unit ? " " : "",
                     reader_unit(view->reader, item->unit));
        int width = text_width(title) + 1 + text_width(number);
        bool fits = used == 0 || view->columns == 0 || used + 3 + width <= view->columns;
        if (!fits && lines == most)
            break;
        fputs(used == 0 ? "" : fits ? "   " : "\n", out);
        fprintf(out, WEAK "%s" PLAIN " " STRONG "%s" PLAIN, title, number);
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
    if (column->kind == KIND_AGE)
        return age >= 0 ? json_real(age) : json_null();
    if (!view->reader->has[column->symbol / 2])
        return json_null();
    if (column->kind == KIND_SEX && value < 2)
        return json_string(value ? "female" : "male");
    if (column->kind != KIND_DATE)
        return json_integer((json_int_t)value);
    const char *text = time_text(value), *blank = strchr(text, ' ');
    return blank ? json_sprintf("%.*sT%sZ", (int)(blank - text), text, blank + 1) : json_null();
}

static json_t *json_behemoth(const struct view *view, size_t at)
{
    const struct reader_behemoth *one = &view->reader->all[at];
    bool has_mother = one->mother >= 0 && (uint64_t)one->mother < view->reader->count;
    json_t *ret =
        json_pack("{s:I, s:o, s:o}", "position", (json_int_t)at, "name", json_text(one->name),
                  "mother", has_mother ? json_integer(one->mother) : json_null());
    for (size_t i = 1; i < COLUMNS; i++)
        json_object_set_new(ret, table_columns[i].word, json_value(view, one, &table_columns[i]));
    return ret;
}

void json_write(FILE *out, const struct view *view)
{
    const struct reader *reader = view->reader;
    json_t *all = json_pack("{s:o, s:b}", "machine", json_text(reader->machine), "serverThere",
                            reader_raw(view->reader, BEHEMOTHS_SUMMARY_STATUS));
    for (size_t i = 0; i < ITEMS; i++) {
        const struct item *item = &items[i];
        double value = 0;
        if (!item->word)
            continue;
        bool whole = item->rate || item->digits == 0; /* a rate as its raw count */
        bool there = whole ? reader->pairs[item->symbol / 2].there : value_of(view, item, &value);
        json_object_set_new(all, item->word,
                            !there  ? json_null()
                            : whole ? json_integer((json_int_t)reader_raw(reader, item->symbol))
                                    : json_real(value));
    }
    json_t *titles = json_object(), *herd = json_array();
    size_t *order = table_order(view);
    for (size_t i = 0; i < COLUMNS; i++)
        json_object_set_new(titles, table_columns[i].word,
                            json_text(reader_title(view->reader, table_columns[i].symbol)));
    for (size_t i = 0; order && i < reader->count; i++)
        json_array_append_new(herd, json_behemoth(view, order[i]));
    free(order);
    json_object_set_new(all, "language", json_text(view->reader->language));
    json_object_set_new(all, "titles", titles);
    json_object_set_new(all, "herd", herd);
    json_dumpf(all, out, JSON_INDENT(1) | JSON_REAL_PRECISION(12));
    fputc('\n', out);
    json_decref(all);
}
