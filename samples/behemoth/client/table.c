/* SPDX-License-Identifier: MIT */
/* Draws the summary, the list with a row for each behemoth, and the tree, which is the list in the
 * order of families; prints everything as JSON. */
#include "view.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* LEVELS: deeper levels are drawn at this depth, with the number of the level */
enum { CELL = 320, LABEL_LEAST = 12, LEVELS = 16 };
#define HEADING SIZE_MAX

static const struct column {
    const char *word; /* the name for --sort and JSON */
    unsigned symbol;  /* the column has this symbol's title */
    const char *unit;
    enum column_kind { KIND_NAME, KIND_SEX, KIND_AGE, KIND_NUMBER, KIND_DATE } kind;
    bool in_tree;
} table_columns[COLUMNS] = {
    {"name",     BEHEMOTH,          "",    KIND_NAME,   true },
    {"sex",      BEHEMOTH_SEX,      "",    KIND_SEX,    true },
    {"age",      BEHEMOTH_AGE,      "",    KIND_AGE,    true },
    {"x",        BEHEMOTH_X,        "m",   KIND_NUMBER, false},
    {"y",        BEHEMOTH_Y,        "m",   KIND_NUMBER, false},
    {"weight",   BEHEMOTH_WEIGHT,   "kg",  KIND_NUMBER, true },
    {"volume",   BEHEMOTH_VOLUME,   "l",   KIND_NUMBER, false},
    {"birthday", BEHEMOTH_BIRTHDAY, "UTC", KIND_DATE,   false},
};

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

/* The positions in the list's order, which the caller frees; NULL: no memory. */
static size_t *table_order(const struct view *view)
{
    size_t count = view->reader->count, *rows = calloc(count + 1, sizeof *rows);
    for (size_t i = 0; rows && i < count; i++)
        rows[i] = i;
    sorting = view;
    if (rows && view->sort < COLUMNS)
        qsort(rows, count, sizeof *rows, compare);
    return rows;
}

bool table_sort_by(struct view *view, const char *word)
{
    bool down = *word == '-';
    word += down;
    for (unsigned i = 0; i < COLUMNS; i++) {
        if (strcmp(word, table_columns[i].word) != 0 &&
            strcmp(word, reader_title(view->reader, table_columns[i].symbol)) != 0)
            continue;
        view->sort = i;
        view->descending = down;
        return true;
    }
    return false;
}

/* Finds the families, in linear time; `order` gets the positions, each after the mother's. False:
 * no memory. */
static bool find_families(struct view *view, size_t *order)
{
    const struct reader *reader = view->reader;
    size_t count = reader->count, depth = 0;
    /* the first root; roots are linked to each other like children of one mother */
    int64_t at = NO_MOTHER;
    struct kin *all = view->kin = calloc(count + 1, sizeof *all);
    view->families = view->strays = view->circles = 0;
    for (size_t i = 0; all && i < count; i++) {
        int64_t mother = reader->all[i].mother;
        bool there = mother >= 0 && (uint64_t)mother < count;
        view->strays += !there && mother != NO_MOTHER;
        all[i] = (struct kin){there ? mother : NO_MOTHER, NO_MOTHER, NO_MOTHER, 0};
    }
    /* Walks from each behemoth to its mother, her mother, and so on, until there is none or she was
     * visited before. If the present walk has visited her, the mothers form a circle, which is cut.
     * Here `depth` is the number of the walk that visited a behemoth; 0: none did. */
    for (size_t i = 0; all && i < count; i++) {
        int64_t mother;
        for (int64_t one = (int64_t)i; one != NO_MOTHER && all[one].depth == 0; one = mother) {
            all[one].depth = i + 1;
            mother = all[one].mother;
            if (mother != NO_MOTHER && all[mother].depth == i + 1) {
                all[one].mother = mother = NO_MOTHER;
                view->circles++;
            }
        }
    }
    /* backwards, so that sisters have the order of the answer */
    for (size_t i = all ? count : 0; i-- > 0;) {
        int64_t *first = all[i].mother == NO_MOTHER ? &at : &all[all[i].mother].child;
        all[i].next = *first;
        *first = (int64_t)i;
        view->families += all[i].mother == NO_MOTHER;
    }
    for (size_t i = 0; at != NO_MOTHER; i++) {
        struct kin *one = &all[at];
        order[i] = (size_t)at;
        one->depth = depth;
        at = one->child;
        depth += at != NO_MOTHER;
        if (at != NO_MOTHER)
            continue;
        for (; one->next == NO_MOTHER && one->mother != NO_MOTHER; depth--)
            one = &all[one->mother];
        at = one->next;
    }
    return all != NULL;
}

/* Writes the behemoth's name; in a tree, after the lines that connect the name with the
 * mother's. */
static void label_text(const struct view *view, size_t at, char out[CELL])
{
    const struct kin *all = view->kin, *one = view->kind == VIEW_TREE ? &all[at] : NULL;
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
    text_clean(view->reader->all[at].name, out + used, CELL - used);
}

/* The text of column i in the row of a behemoth, or in the heading (at: HEADING). */
static const char *cell_text(const struct view *view, size_t at, size_t i, char out[CELL])
{
    const struct column *column = &table_columns[i];
    const struct reader *reader = view->reader;
    bool sorted = view->kind == VIEW_LIST && view->sort == i;
    if (at == HEADING) {
        snprintf(out, CELL, "%.120s%s%s%s", reader_title(reader, column->symbol),
                 *column->unit ? ", " : "", reader_unit(reader, column->unit),
                 !sorted            ? ""
                 : view->descending ? " ▼"
                                    : " ▲");
        return out;
    }
    uint64_t value = reader->all[at].values[column->symbol / 2];
    if (column->kind == KIND_AGE)
        return age_text(reader_age(reader, &reader->all[at]));
    if (column->kind != KIND_NAME && !reader->has[column->symbol / 2])
        return "-";
    if (column->kind == KIND_DATE)
        return time_text(value);
    if (column->kind == KIND_SEX && value < 2)
        return value ? "♀" : "♂";
    if (column->kind == KIND_NAME)
        label_text(view, at, out);
    else
        snprintf(out, CELL, "%" PRIu64, value);
    return out;
}

static int column_width(const struct view *view, size_t i)
{
    char text[CELL];
    int width = text_width(cell_text(view, HEADING, i, text));
    for (size_t at = 0; at < view->reader->count; at++) {
        int its = text_width(cell_text(view, at, i, text));
        width = its > width ? its : width;
    }
    return width;
}

/* Draws the columns that have a width. */
static void draw_row(FILE *out, const struct view *view, const int widths[COLUMNS], size_t at)
{
    char text[CELL];
    for (size_t i = 0; i < COLUMNS; i++) {
        bool sex = table_columns[i].kind == KIND_SEX && at != HEADING;
        if (widths[i] == 0)
            continue;
        fputs(i > 0 ? "  " : "", out);
        fputs(!sex ? "" : view->reader->all[at].values[BEHEMOTH_SEX / 2] ? MAGENTA : BLUE, out);
        text_cell(out, cell_text(view, at, i, text), i > 0 ? -widths[i] : widths[i]);
        fputs(sex ? PLAIN : "", out);
    }
}

void table_draw(FILE *out, struct view *view, int rows)
{
    size_t count = view->reader->count, *order = table_order(view);
    int widths[COLUMNS] = {0}, used, most = view->columns / 2;
    bool tree = view->kind == VIEW_TREE, more = false;
    if (!order || (tree && !find_families(view, order))) {
        free(order);
        return;
    }
    used = column_width(view, COLUMN_NAME);
    used = view->columns && used > most ? most : used;
    widths[COLUMN_NAME] = used = used > LABEL_LEAST ? used : LABEL_LEAST;
    for (int i = 1; i < COLUMNS && !more; i++) {
        if (tree ? !table_columns[i].in_tree : i <= view->left)
            continue;
        int width = column_width(view, (size_t)i);
        more = view->columns && used + 2 + width > view->columns;
        widths[i] = more ? 0 : width;
        used += 2 + width;
    }
    fputs(STRONG, out);
    draw_row(out, view, widths, HEADING);
    fprintf(out, PLAIN "%s\n", more ? "›" : "");
    view->table_count = count;
    view->table_rows = rows == 0 ? count : rows > 2 ? (size_t)rows - 2 : 1;
    int64_t last = (int64_t)count - (int64_t)view->table_rows;
    view->top = view->top > last ? last : view->top;
    view->top = view->top < 0 ? 0 : view->top;
    size_t at = (size_t)view->top, end = last > 0 ? at + view->table_rows : count;
    for (; at < end; at++) {
        draw_row(out, view, widths, order[at]);
        fputc('\n', out);
    }
    fputs(WEAK, out);
    if (tree)
        fprintf(out, "%zu %s", view->families, view->families == 1 ? "family" : "families");
    if (tree && view->strays > 0)
        fprintf(out, "; %zu with a missing mother", view->strays);
    if (tree && view->circles > 0)
        fprintf(out, "; %zu %s of mothers", view->circles,
                view->circles == 1 ? "circle" : "circles");
    if (last > 0)
        fprintf(out, "%srows %zu to %zu of %zu", tree ? "; " : "", (size_t)view->top + 1, end,
                count);
    fputs(tree || last > 0 ? PLAIN "\n" : PLAIN, out);
    free(view->kin);
    view->kin = NULL;
    free(order);
}

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
#define AGE (items + 6) /* the last item that is shown; those after it are only in JSON */
enum { ITEMS = sizeof items / sizeof *items };

/* The value of an item; NaN: unknown, as rates are while the server does not answer. */
static double value_of(const struct view *view, const struct item *item)
{
    unsigned source = item->rate ? BEHEMOTHS_SUMMARY_STATUS : item->symbol;
    bool known = reader_raw(view->reader, source) != 0 || !(item->rate || item == AGE);
    return known ? reader_summary(view->reader, item->symbol) : NAN;
}

/* Puts items side by side while they fit, in at most a quarter of the rows, but at least one; then
 * a line if there is no new data. */
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
    if (!view->failed && reader_raw(view->reader, BEHEMOTHS_SUMMARY_STATUS))
        return lines;
    double age = value_of(view, AGE);
    if (view->failed)
        fprintf(out, BAD "no answer (error %ld): the previous data is shown", (long)view->failed);
    else if (isnan(age))
        fputs(BAD "behemoth-server is not running, and has never answered", out);
    else
        fprintf(out, BAD "behemoth-server is not running: this is its answer of %.0f seconds ago",
                age);
    fputs(PLAIN "\n", out);
    return lines + 1;
}

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
