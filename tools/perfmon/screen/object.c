/* SPDX-License-Identifier: MIT */
/* The table of one object: a row for each instance and a column for each counter; for an object
 * without instances, a row for each counter. */
#include "screen.h"

#include "keys.h"

#include "../../common/pdh-message.h"
#include "../../view/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    ESCAPE = 27,
    BY_ORDER = -1, /* not sorted: instances in the order of the answer */
    EXPLAIN_LINES = 4,
    EXPLAIN_FROM = 16, /* the explanation is shown if the view has at least this number of lines */
    TITLE_WIDTH = 11,
    COLUMN_LEAST = 7,
    COLUMN_MOST = 30,
    TEXT_LEAST = 14,
    NAME_LEAST = 12,
    NAME_MOST = 40,
    TYPE_WIDTH = 32,
    CELL_SIZE = 512
};

struct object_line {
    const char *name;
    uint64_t identity;
    /* the line's row in the table; without instances, the position of the counter */
    size_t at;
    unsigned copy;            /* number of rows before this one with the same name */
    double number;            /* value of the counter by which the lines are sorted */
    const char *const *texts; /* texts of the row; NULL: none (yet) */
    struct place place;       /* in the tree; a heading is a parent of the instance `name` */
};

struct object {
    struct model *model;
    size_t source;
    const struct catalogue_object *of;
    char *instances; /* pattern of the instances' names */
    /* numbers of the tables of numbers and of texts; 0: the object has no such counters */
    unsigned table, texts;
    const struct table *numbers, *strings; /* these two tables; valid until the next sample */
    size_t *places;                        /* for each counter: its column in its table */
    /* width of each counter's column, which never becomes smaller */
    int *widths;
    /* lines of the newest sample in the order in which they are shown */
    struct object_line *lines;
    size_t count, capacity; /* of lines */
    size_t headings;        /* lines that are no instances */
    size_t hidden;          /* instances that are folded away */
    struct cursor cursor;
    uint64_t selected; /* identity of the selected line */
    /* the counter by which the lines are sorted and which Enter adds to the chart; or BY_ORDER */
    int column;
    size_t first, end; /* the columns that are shown */
    bool ascending;
    bool tree; /* instances are shown below their parents */
    struct identities folded;
    struct field filter;
};

/* ---- begin and end ---- */

/* Watches the counters that are texts, or with `text` false all others. Returns the table's number;
 * 0: no such counters, or no memory. */
static unsigned watch(struct object *object, bool text)
{
    const struct catalogue_object *of = object->of;
    struct text_list paths = {0};
    char path[PDH_MAX_COUNTER_PATH];
    unsigned table = 0;
    for (size_t c = 0; c < of->counter_count; c++) {
        if (of->counters[c].text != text)
            continue;
        object->places[c] = paths.count;
        catalogue_path(of, object->instances, of->counters[c].name, path, sizeof path);
        if (!text_list_add(&paths, path))
            break;
    }
    const char *const *list = (const char *const *)paths.texts;
    if (paths.count)
        table = text ? model_add_texts(object->model, object->source, list, paths.count)
                     : model_add_table(object->model, object->source, list, paths.count, false);
    text_list_done(&paths);
    return table;
}

struct object *object_new(struct model *model, size_t source, const struct catalogue_object *of,
                          const char *instances)
{
    struct object *object = calloc(1, sizeof *object);
    if (!object)
        return NULL;
    *object = (struct object){.model = model, .source = source, .of = of, .column = BY_ORDER};
    object->instances = strdup(instances ? instances : "*");
    object->places = calloc(of->counter_count + 1, sizeof *object->places);
    object->widths = calloc(of->counter_count + 1, sizeof *object->widths);
    if (object->instances && object->places && object->widths) {
        object->table = watch(object, false);
        object->texts = watch(object, true);
        return object;
    }
    object_free(object);
    return NULL;
}

void object_free(struct object *object)
{
    model_remove_table(object->model, object->table);
    model_remove_table(object->model, object->texts);
    free(object->instances);
    free(object->places);
    free(object->widths);
    free(object->lines);
    free(object->folded.of);
    free(object);
}

void object_rest(struct object *object, bool rest)
{
    model_rest(object->model, object->table, rest);
    model_rest(object->model, object->texts, rest);
}

bool object_ready(const struct object *object)
{
    const struct table *table = model_table(object->model, object->table);
    const struct table *texts = model_table(object->model, object->texts);
    struct model_source source;
    model_source(object->model, object->source, &source);
    return source.state == MODEL_COMPLETE ||
           ((!table || table->tick > 1) && (!texts || texts->tick > 0));
}

const struct field *object_filter(const struct object *object)
{
    return &object->filter;
}

/* ---- cells ---- */

static double number_of(const struct object *object, const struct object_line *line, size_t counter)
{
    const struct table *table = object->numbers;
    size_t row = object->of->single ? 0 : line->at;
    if (!table || line->place.heading || row >= table->row_count ||
        object->of->counters[counter].text)
        return NAN;
    return table_cell(table, row, object->places[counter])->number;
}

static void cell_text(const struct object *object, const struct object_line *line, size_t counter,
                      char *ret)
{
    const struct catalogue_counter *of = &object->of->counters[counter];
    const char *text = of->text && line->texts ? line->texts[object->places[counter]] : NULL;
    double number = number_of(object, line, counter);
    struct view_value value = {.number = number, .whole = of->raw || view_whole(&of->unit)};
    snprintf(ret, CELL_SIZE, "%s", text && *text ? text : line->place.heading ? "" : "-");
    if (isnan(number))
        return;
    value.raw.first = fabs(number) < 9e18 ? (int64_t)number : number < 0 ? INT64_MIN : INT64_MAX;
    view_number_text(&of->unit, &value, ret, CELL_SIZE);
}

/* ---- lines ---- */

static struct object_line *add_line(struct object *object)
{
    if (object->count == object->capacity) {
        size_t capacity = 2 * object->capacity + 64;
        struct object_line *lines = realloc(object->lines, capacity * sizeof *lines);
        if (!lines)
            return NULL;
        object->lines = lines;
        object->capacity = capacity;
    }
    struct object_line *line = &object->lines[object->count++];
    *line = (struct object_line){0};
    return line;
}

/* True if every word of the filter is in the line's name or in one of its texts. */
static bool matches(const struct object *object, const struct object_line *line)
{
    char copy[sizeof object->filter.text], *rest;
    const struct table *texts = object->of->single ? NULL : object->strings;
    snprintf(copy, sizeof copy, "%s", object->filter.text);
    for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        bool found = text_contains(line->name, word);
        for (size_t c = 0; texts && line->texts && c < texts->column_count; c++)
            found |= line->texts[c] && text_contains(line->texts[c], word);
        if (!found)
            return false;
    }
    return true;
}

/* True for a total, whose name begins with _Total by Perflib's convention. */
static bool is_total(const struct object_line *line)
{
    return !strncmp(line->name, "_Total", strlen("_Total"));
}

static int compare_lines(const void *left, const void *right, void *context)
{
    const struct object *object = context;
    const struct object_line *l = left, *r = right;
    int order = is_total(r) - is_total(l);
    if (order || object->of->single || object->column == BY_ORDER)
        return order ? order
                     : ((l->at > r->at) - (l->at < r->at)) *
                           (object->ascending && object->column == BY_ORDER ? -1 : 1);
    size_t counter = (size_t)object->column;
    double a = l->number, b = r->number;
    if (object->of->counters[counter].text) {
        char one[CELL_SIZE], two[CELL_SIZE];
        cell_text(object, l, counter, one);
        cell_text(object, r, counter, two);
        order = strcmp(one, two);
    } else if (isnan(a) || isnan(b)) {
        return isnan(a) - isnan(b) ? isnan(a) - isnan(b) : (l->at > r->at) - (l->at < r->at);
    } else {
        order = (a < b) - (a > b);
    }
    order = object->ascending ? -order : order;
    return order ? order : (l->at > r->at) - (l->at < r->at);
}

static int compare_names(const void *left, const void *right)
{
    const struct object_line *l = left, *r = right;
    int order = strcmp(l->name, r->name);
    return order ? order : (l->at > r->at) - (l->at < r->at);
}

/* Numbers the lines with equal names, and drops lines that do not match the filter. */
static void choose_lines(struct object *object)
{
    struct object_line *lines = object->lines;
    size_t kept = 0;
    if (object->count)
        qsort(lines, object->count, sizeof *lines, compare_names);
    for (size_t i = 1; i < object->count; i++)
        if (!strcmp(lines[i - 1].name, lines[i].name))
            lines[i].copy = lines[i - 1].copy + 1;
    for (size_t i = 0; i < object->count; i++)
        if (matches(object, &lines[i]))
            lines[kept++] = lines[i];
    object->count = kept;
}

/* Writes the line's name as in paths, such as "name#2"; for a heading, a pattern of its
 * children. */
static void name_text(const struct object_line *line, char ret[PDH_MAX_INSTANCE_NAME])
{
    if (line->place.heading)
        snprintf(ret, PDH_MAX_INSTANCE_NAME, "%.*s/*", (int)parent_length(line->name), line->name);
    else
        snprintf(ret, PDH_MAX_INSTANCE_NAME, line->copy ? "%s#%u" : "%s", line->name, line->copy);
}

/* Writes the line's name as it is shown, in the tree without its parent's name. */
static void shown_text(const struct object_line *line, bool utf8, char ret[PDH_MAX_INSTANCE_NAME])
{
    char name[PDH_MAX_INSTANCE_NAME], prefix[2 * NAME_MOST], more[16] = "";
    name_text(line, name);
    if (line->place.heading)
        name[parent_length(name)] = 0;
    branch_prefix(line->place.depth, line->place.bars, utf8, NAME_MOST, prefix, sizeof prefix);
    if (line->place.hidden)
        snprintf(more, sizeof more, " (+%u)", line->place.hidden);
    snprintf(ret, PDH_MAX_INSTANCE_NAME, "%s%.*s%s", prefix,
             PDH_MAX_INSTANCE_NAME - (int)(sizeof prefix + sizeof more),
             line->place.depth ? own_name(name) : name, more);
}

/* Returns the counter whose title has this number; NOWHERE: the object has none. */
static size_t counter_titled(const struct object *object, DWORD index)
{
    for (size_t c = 0; object->numbers && c < object->of->counter_count; c++)
        if (!object->of->counters[c].text &&
            object->numbers->columns[object->places[c]].index == index)
            return c;
    return NOWHERE;
}

/* Writes "parent/own" for each line: its name; or, if the object has counters for them, the number
 * of the parent process and its own number. Returns true if they are numbers. */
static bool tree_names(const struct object *object, struct text_list *ret)
{
    enum { ID_PROCESS = 784, CREATING_PROCESS_ID = 1410 }; /* numbers of the counters' titles */
    size_t own = counter_titled(object, ID_PROCESS);
    size_t parent = counter_titled(object, CREATING_PROCESS_ID);
    char text[PDH_MAX_INSTANCE_NAME];
    bool numbers = own != NOWHERE && parent != NOWHERE;
    for (size_t i = 0; i < object->count; i++) {
        const struct object_line *line = &object->lines[i];
        if (numbers && !is_total(line))
            snprintf(text, sizeof text, "%.0f/%.0f", number_of(object, line, parent),
                     number_of(object, line, own));
        text_list_add(ret, numbers && !is_total(line) ? text : line->name);
    }
    return numbers;
}

static uint64_t identity_of(const void *context, const struct place *place)
{
    const struct object *object = context;
    const struct object_line *line = &object->lines[place->at];
    return place->heading ? branches_identity(line->name, true) : line->identity;
}

/* Puts the lines below their parents, without those that are folded away, unless there is a filter.
 * If there is no memory, the lines stay as they are. */
static void tree_lines(struct object *object)
{
    struct place *places = NULL;
    struct text_list names = {0};
    bool numbers = tree_names(object, &names);
    size_t count = names.count < object->count ? 0
                                               : branches_of_names((const char *const *)names.texts,
                                                                   names.count, !numbers, &places);
    if (!*object->filter.text)
        count = branches_fold(places, count, &object->folded, identity_of, object);
    struct object_line *lines = count ? calloc(count, sizeof *lines) : NULL;
    for (size_t i = 0; lines && i < count; i++) {
        lines[i] = object->lines[places[i].at];
        lines[i].place = places[i];
        lines[i].identity = identity_of(object, &places[i]);
        object->hidden += places[i].hidden;
        if (places[i].heading) {
            lines[i].texts = NULL;
            object->headings++;
        }
    }
    if (lines) {
        free(object->lines);
        object->lines = lines;
        object->count = object->capacity = count;
    }
    free(places);
    text_list_done(&names);
}

/* The selection stays on the same line. */
static void find_selected(struct object *object)
{
    for (size_t i = 0; i < object->count; i++)
        if (object->lines[i].identity == object->selected)
            object->cursor.at = i;
}

/* Makes the lines from the rows of the table of numbers; without that table, from the texts. */
static void make_lines(struct object *object)
{
    bool single = object->of->single;
    object->numbers = model_table(object->model, object->table);
    object->strings = model_table(object->model, object->texts);
    const struct table *rows = object->table ? object->numbers : object->strings;
    size_t at = 0, all = single ? object->of->counter_count : rows ? rows->row_count : 0;
    object->count = object->headings = object->hidden = 0;
    for (size_t i = 0; i < all; i++) {
        struct object_line *line = add_line(object);
        if (!line)
            return;
        line->name = single ? object->of->counters[i].name : rows->rows[i].name;
        line->identity = single ? i + 1 : rows->rows[i].identity;
        line->at = i;
        at = single ? 0 : at;
        line->texts = table_texts(object->strings, single ? "" : line->name, &at);
        line->number = object->column < 0 ? NAN : number_of(object, line, (size_t)object->column);
    }
    choose_lines(object);
    if (object->count)
        qsort_r(object->lines, object->count, sizeof *object->lines, compare_lines, object);
    if (object->tree)
        tree_lines(object);
    find_selected(object);
}

/* ---- drawing ---- */

static int name_width(const struct object *object, int most)
{
    int width = NAME_LEAST;
    for (size_t i = 0; i < object->count; i++) {
        char text[PDH_MAX_INSTANCE_NAME];
        shown_text(&object->lines[i], true, text);
        int columns = text_width(text);
        width = columns > width ? columns : width;
    }
    return width < most ? width : most;
}

/* Breaks a column's title into lines; a mark shows the column by which the lines are sorted.
 * Returns the number of lines. */
static size_t column_title(const struct object *object, size_t counter, int width,
                           char lines[TITLE_LINES][TITLE_SIZE])
{
    char title[512];
    const struct catalogue_counter *of = &object->of->counters[counter];
    const char *mark = (int)counter != object->column ? "" : object->ascending ? "<" : ">";
    snprintf(title, sizeof title, "%s%s%s", of->name, of->raw && !of->text ? local(" (raw)") : "",
             mark);
    return title_lines(title, width, lines);
}

static int fit_width(struct object *object, size_t counter, size_t rows)
{
    char lines[TITLE_LINES][TITLE_SIZE], text[CELL_SIZE];
    int width = object->widths[counter] ? object->widths[counter] : COLUMN_LEAST;
    bool marked = (int)counter == object->column; /* the mark must not cause a line break */
    size_t count = column_title(object, counter, TITLE_WIDTH + marked, lines);
    for (size_t i = 0; i < count; i++)
        width = text_width(lines[i]) > width ? text_width(lines[i]) : width;
    for (size_t i = object->cursor.first; i < object->count && i < object->cursor.first + rows;
         i++) {
        cell_text(object, &object->lines[i], counter, text);
        width = text_width(text) > width ? text_width(text) : width;
    }
    return object->widths[counter] = width < COLUMN_MOST ? width : COLUMN_MOST;
}

/* Sets object->end: the columns from object->first up to it fit; text in the last one may be
 * cut. */
static void find_end(struct object *object, int name, int columns, size_t rows)
{
    object->end = object->first;
    for (int used = name; object->end < object->of->counter_count; object->end++) {
        int width = 2 + fit_width(object, object->end, rows);
        bool cut = object->of->counters[object->end].text && width > TEXT_LEAST;
        if (used + (cut ? TEXT_LEAST : width) > columns && object->end > object->first)
            return;
        used += width;
    }
}

/* Scrolls the columns until the column by which the lines are sorted is visible. */
static void fit_columns(struct object *object, int name, int columns, size_t rows)
{
    if (object->column < (int)object->first)
        object->first = object->column < 0 ? 0 : (size_t)object->column;
    find_end(object, name, columns, rows);
    while (object->column >= (int)object->end) {
        object->first++;
        find_end(object, name, columns, rows);
    }
}

/* Draws the titles of the columns, aligned at their last lines. Returns the number of rows. */
static int draw_titles(struct object *object, struct canvas *canvas, int row, int name)
{
    char lines[TITLE_LINES][TITLE_SIZE];
    size_t most = 1;
    int at = name;
    for (size_t c = object->first; c < object->end; c++) {
        size_t count = column_title(object, c, object->widths[c], lines);
        most = count > most ? count : most;
    }
    char title[64];
    snprintf(title, sizeof title, "%s%s", local("INSTANCE"),
             object->column == BY_ORDER && object->ascending ? "<" : "");
    canvas_text(canvas, row + (int)most - 1, 0, name,
                object->column == BY_ORDER ? STYLE_TITLE : STYLE_WEAK, title);
    for (size_t c = object->first; c < object->end; at += 2 + object->widths[c++]) {
        size_t count = column_title(object, c, object->widths[c], lines);
        for (size_t i = 0; i < count; i++) {
            int line = row + (int)(most - count + i);
            enum style style = (int)c == object->column ? STYLE_TITLE : STYLE_WEAK;
            if (object->of->counters[c].text)
                canvas_text(canvas, line, at + 2, object->widths[c], style, lines[i]);
            else
                canvas_right(canvas, line, at + 2, object->widths[c], style, lines[i]);
        }
    }
    return (int)most;
}

static void draw_cells(const struct object *object, struct canvas *canvas, int row, int name,
                       const struct object_line *line)
{
    char text[PDH_MAX_INSTANCE_NAME + CELL_SIZE];
    enum style style = is_total(line) ? STYLE_STRONG : STYLE_PLAIN;
    shown_text(line, canvas->utf8, text);
    canvas_text(canvas, row, 0, name, style, text);
    int at = name;
    for (size_t c = object->first; c < object->end; at += 2 + object->widths[c++]) {
        bool last = c + 1 == object->end; /* a text in the last column gets the rest of the line */
        cell_text(object, line, c, text);
        if (object->of->counters[c].text)
            canvas_text(canvas, row, at + 2, last ? canvas->columns - at - 2 : object->widths[c],
                        style, text);
        else
            canvas_right(canvas, row, at + 2, object->widths[c], style, text);
    }
}

static const char *type_name(const struct catalogue_counter *counter)
{
    return counter->unit.type.name ? counter->unit.type.name : local("a type without a name");
}

/* Draws a counter with its value and, if there is space, its type. */
static void draw_counter(const struct object *object, struct canvas *canvas, int row,
                         const struct object_line *line)
{
    enum { VALUE = 18 };
    char text[CELL_SIZE];
    const struct catalogue_counter *of = &object->of->counters[line->at];
    int type = canvas->columns < 90 ? 0 : TYPE_WIDTH + 2;
    int name = name_width(object, canvas->columns - VALUE - 2 - type);
    canvas_text(canvas, row, 0, name, STYLE_PLAIN, line->name);
    cell_text(object, line, line->at, text);
    if (of->raw && !of->text)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s", local(" (raw)"));
    if (of->text)
        canvas_text(canvas, row, name + 2, canvas->columns - name - 2, STYLE_PLAIN, text);
    else
        canvas_right(canvas, row, name + 1, VALUE, STYLE_PLAIN, text);
    if (type && !of->text)
        canvas_text(canvas, row, name + VALUE + 3, TYPE_WIDTH, STYLE_WEAK, type_name(of));
}

/* Returns the counter that is explained, and that Enter adds to the chart; NULL: none. */
static const struct catalogue_counter *focus_of(const struct object *object)
{
    if (object->of->single)
        return object->cursor.at < object->count
                   ? &object->of->counters[object->lines[object->cursor.at].at]
                   : NULL;
    return object->column == BY_ORDER ? NULL : &object->of->counters[object->column];
}

/* The column with the numbers of a counter; NULL: there is none. */
static const struct column *column_of(const struct object *object,
                                      const struct catalogue_counter *counter)
{
    if (!counter || counter->text || !object->numbers)
        return NULL;
    return &object->numbers->columns[object->places[counter - object->of->counters]];
}

static void draw_explanation(const struct object *object, struct canvas *canvas, int row)
{
    const struct catalogue_counter *focus = focus_of(object);
    const struct column *column = column_of(object, focus);
    const char *text = focus ? focus->explain : object->of->explain;
    if (column && column->explain)
        text = column->explain; /* PDH's explanation is in the user's language */
    for (int c = 0; c < canvas->columns; c++)
        canvas_put(canvas, row, c, STYLE_WEAK, canvas->utf8 ? 0x2500 : L'-');
    int used = canvas_print(canvas, row, 1, canvas->columns - 2, STYLE_TITLE, " %s ",
                            focus ? focus->name : object->of->name);
    if (focus)
        canvas_print(canvas, row, 1 + used, canvas->columns - 2 - used, STYLE_WEAK, "%s%s ",
                     type_name(focus),
                     focus->raw && !focus->text ? local(": raw, because PDH has no formula for it")
                                                : "");
    if (column && column->status)
        text = pdh_message(column->status);
    canvas_wrap(canvas, row + 1, 1, canvas->columns - 2, EXPLAIN_LINES - 1, STYLE_PLAIN,
                text ? text : local("There is no explanation."));
}

static void draw_head(const struct object *object, struct canvas *canvas, int row)
{
    char right[64] = "";
    size_t all = object->of->counter_count;
    if (!object->of->single && object->end - object->first < all)
        snprintf(right, sizeof right, local("columns %zu-%zu of %zu"), object->first + 1,
                 object->end, all);
    int used = canvas_text(canvas, row, 0, canvas->columns, STYLE_TITLE, object->of->name);
    size_t count = object->count - object->headings + object->hidden;
    canvas_print(canvas, row, used + 2, canvas->columns - used - 2, STYLE_WEAK,
                 object->of->single ? count == 1 ? "%zu counter" : "%zu counters"
                 : count == 1       ? "%zu instance"
                                    : "%zu instances",
                 count);
    canvas_right(canvas, row, used + 15, canvas->columns - used - 15, STYLE_WEAK, right);
}

/* Draws the lines from `first` on; `active`: also marks the selected line. */
static void draw_lines(struct object *object, struct canvas *canvas, int row, int last,
                       size_t first, int name, bool active)
{
    for (size_t i = first; i < object->count && row < last; i++, row++) {
        if (object->of->single)
            draw_counter(object, canvas, row, &object->lines[i]);
        else
            draw_cells(object, canvas, row, name, &object->lines[i]);
        if (active && i == object->cursor.at)
            canvas_style(canvas, row, 0, canvas->columns, STYLE_SELECTED);
    }
}

void object_draw(struct object *object, struct canvas *canvas, int row, int last)
{
    int end = last - row >= EXPLAIN_FROM ? last - EXPLAIN_LINES : last, name = 0;
    make_lines(object);
    size_t rows = end - row > 2 ? (size_t)(end - row - 1) : 1;
    if (!object->of->single) {
        name =
            name_width(object, canvas->columns / 3 < NAME_MOST ? canvas->columns / 3 : NAME_MOST);
        fit_columns(object, name, canvas->columns, rows);
    }
    draw_head(object, canvas, row++);
    char why[REASON_SIZE];
    text_reason(object->model, object->numbers, why);
    if (*why && (object->numbers->columns->why || object->numbers->columns->status))
        row += canvas_wrap(canvas, row, 0, canvas->columns, REASON_LINES, STYLE_WARN, why);
    if (!object->of->single)
        row += draw_titles(object, canvas, row, name);
    cursor_fit(&object->cursor, object->count, end > row ? (size_t)(end - row) : 1);
    object->cursor.row = row;
    draw_lines(object, canvas, row, end, object->cursor.first, name, true);
    if (!object->count)
        canvas_text(canvas, row, 0, canvas->columns, STYLE_WEAK,
                    *object->filter.text   ? local("nothing matches the filter")
                    : object_ready(object) ? local("there are no instances now")
                                           : local("the first sample is being taken"));
    if (end < last)
        draw_explanation(object, canvas, end);
}

bool object_print(struct object *object, bool utf8, int columns, FILE *out)
{
    struct canvas canvas = {.utf8 = utf8};
    size_t all = object->of->counter_count;
    bool good = true;
    make_lines(object);
    int rows = (int)object->count + TITLE_LINES;
    int name = name_width(object, columns / 3 < NAME_MOST ? columns / 3 : NAME_MOST);
    fprintf(out, "%s\n", text_seen(object->of->name));
    while (object->end < all && (good = canvas_begin(&canvas, rows, columns))) {
        int row = 0;
        object->first = object->end;
        if (object->of->single) {
            object->end = all;
        } else {
            find_end(object, name, columns, object->count);
            row = draw_titles(object, &canvas, 0, name);
        }
        draw_lines(object, &canvas, row, rows, 0, name, false);
        canvas.rows = row + (int)object->count;
        fputc('\n', out);
        canvas_write(&canvas, out);
        canvas.rows = rows;
    }
    canvas_done(&canvas);
    return good;
}

/* ---- keys ---- */

static void add_selected(const struct object *object, struct window *window, bool all)
{
    char path[PDH_MAX_COUNTER_PATH], name[PDH_MAX_INSTANCE_NAME];
    const struct catalogue_counter *focus = focus_of(object);
    if (!focus)
        window_report(window,
                      "no counter is chosen: left and right choose one, then Enter adds it");
    if (!focus || object->cursor.at >= object->count)
        return;
    name_text(&object->lines[object->cursor.at], name);
    catalogue_path(object->of, name, focus->name, path, sizeof path);
    window_choose_counter(window, path, all);
}

static bool column_key(struct object *object, int key)
{
    int count = object->of->single ? 0 : (int)object->of->counter_count;
    if (key == KEY_F(6) && object->column + 1 == count)
        object->column = BY_ORDER;
    else if (key == KEY_LEFT || key == '<')
        object->column -= object->column > BY_ORDER;
    else if (key == KEY_RIGHT || key == '>' || key == KEY_F(6))
        object->column += object->column + 1 < count;
    else if (key == 'i')
        object->ascending = !object->ascending;
    else
        return false;
    if (key != 'i')
        object->ascending = false;
    return true;
}

/* Folds the selected parent, or unfolds it; a line that has nothing to fold leads to its parent. */
static void fold(struct object *object, bool open)
{
    size_t at = object->cursor.at;
    if (at >= object->count)
        return;
    const struct object_line *line = &object->lines[at];
    bool parent = at + 1 < object->count && line[1].place.depth > line->place.depth;
    if (open ? line->place.hidden > 0 : parent)
        identities_toggle(&object->folded, line->identity);
    while (!open && !parent && line->place.depth && at > 0 &&
           object->lines[at].place.depth >= line->place.depth)
        at--;
    object->cursor.at = at;
    object->selected = object->lines[at].identity;
}

static bool fold_key(struct object *object, int key)
{
    if (key == 't' || key == KEY_F(5)) {
        object->tree = !object->tree && !object->of->single;
        return true;
    }
    if (!object->tree || !branches_key(key))
        return false;
    if (key == '*')
        object->folded.count = 0;
    else
        fold(object, key != '-');
    return true;
}

bool object_key(struct object *object, int key, struct window *window)
{
    if (field_key(&object->filter, key) || field_search_key(&object->filter, key) ||
        column_key(object, key) || fold_key(object, key))
        return true;
    if (cursor_key(&object->cursor, key)) {
        if (object->cursor.at < object->count)
            object->selected = object->lines[object->cursor.at].identity;
        return true;
    }
    if (key == 'a' || key == 'A' || cursor_enter(&object->cursor, key)) {
        add_selected(object, window, key == 'A');
        return true;
    }
    if (key != ESCAPE || !*object->filter.text)
        return false;
    object->filter.text[0] = 0;
    return true;
}
