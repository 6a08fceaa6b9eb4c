/* SPDX-License-Identifier: MIT */
/*
 * Chosen counters over time: as lines, as bars of the newest values, or as a report. All lines
 * share an axis from 0 to 100; each is scaled by a power of ten, which the legend shows, as in
 * Windows' perfmon.
 */
#include "screen.h"

#include "keys.h"

#include "../../common/pdh-message.h"
#include "../../view/view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LINES_MOST = 256,
    AXIS = 5,
    LEGEND_MOST = 12,
    DOT_ROWS = 4,
    DOT_COLUMNS = 2,
    TIME_WIDTH = 20,
    MOST_DISTANCE = 30000000 /* 100 ns: largest distance of two machines' samples of one time */
};
enum mode { MODE_LINES, MODE_BARS, MODE_REPORT };
/* the columns of the legend, by which it can be sorted; BY_ORDER: as the counters were added */
enum sort { BY_ORDER, BY_NAME, BY_LAST, BY_AVERAGE, BY_LEAST, BY_MOST, BY_DURATION };
static const int zooms[] = {1, 2, 5, 10, 30, 60};

/* A line of the chart: one instance of one counter. */
struct chart_line {
    const struct table *table;
    const char *text; /* the text of a text counter, which is not drawn; NULL: a number */
    const struct history *history;
    int scale;
    struct span span; /* summary of the values in the ticks that are shown */
    double duration;  /* seconds from the first to the last of these ticks; NaN: unknown */
    size_t row;       /* row of the instance in the newest sample; (size_t)-1: it has ended */
    size_t number;    /* place in the order in which lines were added; it determines the colour */
};

/* Identifies a line of the chart: an instance of a counter. The user can hide single lines. */
struct hidden {
    unsigned table;
    uint64_t identity;
};

struct chart {
    struct model *model;
    size_t source; /* ticks of the chart are those of this source */
    bool named;    /* paths are shown with their machine */
    unsigned *tables;
    size_t table_count;
    struct chart_line lines[LINES_MOST];
    struct history texts[LINES_MOST]; /* for lines that are texts: only names and identities */
    size_t count, left_out;
    struct hidden *hidden;
    size_t hidden_count;
    struct hidden selected; /* the line on which the cursor stays while the order changes */
    enum sort sort;
    bool ascending;
    int values; /* number of the legend's columns that have values */
    struct cursor cursor;
    enum mode mode;
    bool highlight;
    /* position in `zooms`; the number there is how many ticks a dot shows, or for a capture by how
     * much its length is divided */
    size_t zoom;
    bool whole;        /* all of a capture is shown */
    uint64_t back;     /* number of ticks between the end of the chart and the newest tick */
    uint64_t from, to; /* ticks that were drawn last */
};

struct chart *chart_new(struct model *model, bool named)
{
    struct chart *chart = calloc(1, sizeof *chart);
    if (chart)
        *chart = (struct chart){.model = model, .named = named};
    return chart;
}

void chart_free(struct chart *chart)
{
    chart_clear(chart);
    free(chart->tables);
    free(chart->hidden);
    free(chart);
}

bool chart_add(struct chart *chart, size_t source, const char *path)
{
    unsigned *tables = realloc(chart->tables, (chart->table_count + 1) * sizeof *tables);
    if (!tables)
        return false;
    chart->tables = tables;
    unsigned table = model_add_table(chart->model, source, &path, 1, true);
    if (table)
        tables[chart->table_count++] = table;
    return table != 0;
}

void chart_clear(struct chart *chart)
{
    while (chart->table_count)
        model_remove_table(chart->model, chart->tables[--chart->table_count]);
    chart->count = 0;
    chart->hidden_count = 0;
}

/* Writes the machine of a table's path, if it must be shown. */
static void machine_text(const struct chart *chart, const struct table *table, char *ret,
                         size_t capacity)
{
    struct model_source source;
    model_source(chart->model, table->source, &source);
    snprintf(ret, capacity, "%s%s", chart->named && *source.machine != '\\' ? "\\\\" : "",
             chart->named ? source.machine : "");
}

bool chart_path(const struct chart *chart, size_t at, char *ret, size_t capacity)
{
    const struct table *table =
        at < chart->table_count ? model_table(chart->model, chart->tables[at]) : NULL;
    if (!table)
        return false;
    machine_text(chart, table, ret, capacity);
    size_t used = strlen(ret);
    snprintf(ret + used, capacity - used, "%s", table->columns[0].path);
    return true;
}

/* ---- ticks ---- */

/* Returns the tick of another source that was taken nearest to the time of a tick of the chart. */
static uint64_t tick_there(const struct chart *chart, size_t source, uint64_t tick)
{
    if (source == chart->source)
        return tick;
    return model_tick(chart->model, source, model_time(chart->model, chart->source, tick));
}

/* Summarizes the values of the line in the chart's ticks from `from` up to but without `to`. */
static void span_of(const struct chart *chart, const struct table *table,
                    const struct history *history, uint64_t from, uint64_t to, struct span *ret)
{
    uint64_t first = tick_there(chart, table->source, from),
             last = tick_there(chart, table->source, to - 1);
    int64_t distance = table->source == chart->source
                           ? 0
                           : model_time(chart->model, chart->source, from) -
                                 model_time(chart->model, table->source, last);
    if (distance > MOST_DISTANCE) /* the other source has no sample of that time: a gap */
        first = last = 0;
    model_span(history, 0, first, last + 1, ret);
}

/* ---- lines ---- */

static int compare_lines(const void *left, const void *right)
{
    const struct chart_line *l = left, *r = right;
    if (l->table != r->table)
        return (l->table->id > r->table->id) - (l->table->id < r->table->id);
    if (l->history->born != r->history->born)
        return l->history->born > r->history->born ? 1 : -1;
    int order = strcmp(l->history->name, r->history->name);
    return order ? order
                 : (l->history->number > r->history->number) -
                       (l->history->number < r->history->number);
}

static uint64_t newest_tick(const struct chart *chart)
{
    struct model_source source;
    model_source(chart->model, chart->source, &source);
    return source.tick;
}

/* Chooses the source whose ticks the chart shows: that of the first counter, if it has samples. */
static void choose_source(struct chart *chart, struct model_source *ret)
{
    chart->source = 0;
    for (size_t t = chart->table_count; t-- > 0;) {
        const struct table *table = model_table(chart->model, chart->tables[t]);
        model_source(chart->model, table->source, ret);
        if (t + 1 == chart->table_count || ret->state == MODEL_GOOD)
            chart->source = table->source;
    }
    model_source(chart->model, chart->source, ret);
}

static void choose_ticks(struct chart *chart, int dots)
{
    struct model_source source;
    choose_source(chart, &source);
    uint64_t step = (uint64_t)zooms[chart->zoom];
    uint64_t newest = source.tick, length = (uint64_t)dots * step;
    chart->whole = source.capture && chart->zoom == 0;
    if (chart->whole) {
        chart->from = 1;
        chart->to = newest + 1;
        return;
    }
    if (source.capture) /* in a capture a zoomed chart shows a part of the whole length */
        length = newest / (uint64_t)zooms[chart->zoom] + 1;
    uint64_t most = newest > length ? newest - length : 0; /* then the first sample is shown */
    chart->back = chart->back < most ? chart->back : most;
    chart->to = newest + 1 - chart->back;
    chart->from = chart->to > length ? chart->to - length : 0;
}

static bool is_hidden(const struct chart *chart, unsigned table, uint64_t identity)
{
    for (size_t i = 0; i < chart->hidden_count; i++)
        if (chart->hidden[i].table == table && chart->hidden[i].identity == identity)
            return true;
    return false;
}

static double value_of(const struct chart_line *line, enum sort column)
{
    const double values[] = {[BY_LAST] = line->span.last,
                             [BY_AVERAGE] = line->span.average,
                             [BY_LEAST] = line->span.least,
                             [BY_MOST] = line->span.most,
                             [BY_DURATION] = line->duration};
    return values[column];
}

/* Compares by a column of the legend: largest first unless the order is turned; unknown last. */
static int compare_columns(const void *left, const void *right, void *context)
{
    const struct chart *chart = context;
    const struct chart_line *l = left, *r = right;
    int order = 0;
    if (chart->sort == BY_NAME) {
        order = strcmp(r->table->columns[0].path, l->table->columns[0].path);
        order = order ? order : strcmp(r->history->name, l->history->name);
    } else {
        double a = value_of(l, chart->sort), b = value_of(r, chart->sort);
        order = (a < b) - (a > b);
        if (isnan(a) || isnan(b))
            return isnan(a) - isnan(b);
    }
    order = chart->ascending ? -order : order;
    return order ? order : (l->number > r->number) - (l->number < r->number);
}

/* Returns the seconds from the first to the last of the ticks that are shown of a history. */
static double duration_of(const struct chart *chart, const struct table *table,
                          const struct history *history)
{
    uint64_t from = tick_there(chart, table->source, chart->from),
             to = tick_there(chart, table->source, chart->to - 1);
    from = history->born > from ? history->born : from;
    to = history->seen < to ? history->seen : to;
    int64_t begin = model_time(chart->model, table->source, from ? from : 1);
    int64_t end = model_time(chart->model, table->source, to);
    return begin && end ? (double)(end - begin) / 1e7 : NAN;
}

static bool is_line(const struct hidden *hidden, const struct chart_line *line)
{
    return hidden->table == line->table->id && hidden->identity == line->history->identity;
}

/* Sorts the lines, and moves the cursor to the selected one. */
static void sort_lines(struct chart *chart)
{
    qsort(chart->lines, chart->count, sizeof *chart->lines, compare_lines);
    for (size_t i = 0; i < chart->count; i++)
        chart->lines[i].number = i;
    if (chart->sort != BY_ORDER)
        qsort_r(chart->lines, chart->count, sizeof *chart->lines, compare_columns, chart);
    for (size_t i = 0; i < chart->count; i++)
        if (is_line(&chart->selected, &chart->lines[i]))
            chart->cursor.at = i;
    if (chart->cursor.at >= chart->count)
        chart->cursor.at = chart->count ? chart->count - 1 : 0;
}

static int compare_numbers(const void *left, const void *right)
{
    const struct history *const *l = left, *const *r = right;
    return ((*l)->number > (*r)->number) - ((*l)->number < (*r)->number);
}

/* Returns the table's histories that have a value in the ticks that are shown, in the order of
 * their birth, to be freed; NULL: no memory. Counts the rows that have no history. */
static const struct history **visible_histories(struct chart *chart, const struct table *table,
                                                size_t *ret_count)
{
    size_t count;
    const struct history *const *all = model_histories(chart->model, table->id, &count);
    const struct history **visible = malloc((count + 1) * sizeof *visible);
    uint64_t from = tick_there(chart, table->source, chart->from),
             to = tick_there(chart, table->source, chart->to - 1);
    *ret_count = 0;
    for (size_t i = 0; visible && i < count; i++)
        if (all[i] && all[i]->seen >= from && all[i]->born <= to &&
            !is_hidden(chart, table->id, all[i]->identity))
            visible[(*ret_count)++] = all[i];
    if (*ret_count > LINES_MOST)
        qsort(visible, *ret_count, sizeof *visible, compare_numbers);
    for (size_t i = 0; i < table->row_count; i++)
        chart->left_out += !table->rows[i].history;
    return visible;
}

/* Returns the table of a counter. If the counter turned out to be a text, watches it as text. */
static const struct table *find_table(struct chart *chart, size_t at)
{
    const struct table *table = model_table(chart->model, chart->tables[at]);
    if (table->text || (table->columns[0].type & 0xc00) != PERF_TYPE_TEXT)
        return table;
    const char *path = table->columns[0].path;
    unsigned texts = model_add_texts(chart->model, table->source, &path, 1);
    if (!texts)
        return table;
    model_remove_table(chart->model, table->id);
    chart->tables[at] = texts;
    return model_table(chart->model, texts);
}

/* True for a text counter of a capture that has been read and has numbers in place of texts. */
static bool lacks_texts(const struct chart *chart, const struct table *table)
{
    struct model_source source;
    model_source(chart->model, table->source, &source);
    return table->text && table->tick && !table->row_count && source.capture;
}

/* Adds lines for the texts of a table; one for a table of a capture that has none. */
static void find_texts(struct chart *chart, const struct table *table)
{
    static const struct row none = {.name = ""};
    size_t count = lacks_texts(chart, table) ? 1 : table->row_count;
    for (size_t r = 0; r < count && chart->count < LINES_MOST; r++) {
        struct history *history = &chart->texts[chart->count];
        const struct row *row = table->row_count ? &table->rows[r] : &none;
        if (is_hidden(chart, table->id, row->identity))
            continue;
        *history =
            (struct history){.name = (char *)row->name, .identity = row->identity, .number = r};
        chart->lines[chart->count++] = (struct chart_line){
            .table = table,
            .text = table->row_count && table->texts[r] ? table->texts[r] : "-",
            .history = history,
            .row = r,
            .span = {NAN, NAN, NAN, NAN},
            .duration = NAN
        };
    }
}

/* Returns a place for a line: a new one, or if there are too many lines in a sorted legend, that of
 * the last line in its order, if the new line comes before it. NULL: the line is left out. */
static struct chart_line *place_of_line(struct chart *chart, const struct chart_line *line)
{
    struct chart_line *last = chart->lines;
    if (chart->count < LINES_MOST)
        return &chart->lines[chart->count++];
    chart->left_out++;
    for (size_t i = 1; i < chart->count; i++)
        if (compare_columns(&chart->lines[i], last, chart) > 0)
            last = &chart->lines[i];
    return compare_columns(line, last, chart) < 0 ? last : NULL;
}

/* True if the machine of the table gives no samples now: its counters have no last value. */
static bool is_away(const struct chart *chart, const struct table *table)
{
    struct model_source source;
    model_source(chart->model, table->source, &source);
    return source.state == MODEL_AWAY && !source.capture && !chart->back;
}

/* Finds the chart's lines; of too many, the first ones in the order of the legend. */
static void find_lines(struct chart *chart)
{
    chart->count = chart->left_out = 0;
    for (size_t t = 0; t < chart->table_count; t++) {
        size_t count = 0;
        double most = 0;
        const struct table *table = find_table(chart, t);
        if (table->text)
            find_texts(chart, table);
        const struct history **all = table->text ? NULL : visible_histories(chart, table, &count);
        for (size_t i = 0; all && i < count; i++) {
            if (chart->count == LINES_MOST && chart->sort == BY_ORDER) {
                chart->left_out += count - i;
                break;
            }
            struct chart_line line = {.table = table,
                                      .history = all[i],
                                      .duration = duration_of(chart, table, all[i]),
                                      .row = table_row(table, all[i]->identity)};
            span_of(chart, table, all[i], chart->from, chart->to, &line.span);
            if (is_away(chart, table))
                line.span.last = NAN;
            struct chart_line *place = place_of_line(chart, &line);
            if (!place)
                continue;
            *place = line;
            most = fmax(most, fmax(fabs(line.span.most), fabs(line.span.least)));
        }
        for (size_t i = 0; i < chart->count; i++) /* lines of one counter have one scale */
            if (chart->lines[i].table == table)
                chart->lines[i].scale = model_scale(table->columns[0].default_scale, most);
        free(all);
    }
    sort_lines(chart);
}

static enum style line_style(const struct chart *chart, size_t at)
{
    if (chart->highlight)
        return at == chart->cursor.at ? STYLE_STRONG : STYLE_WEAK;
    return (enum style)(STYLE_LINE + chart->lines[at].number % LINE_STYLES);
}

/* ---- the drawing area ---- */

struct grid {
    struct canvas *canvas;
    int row, column, rows, columns; /* cells */
    unsigned char *dots;
};

/* Draws a dot of a Braille character; a terminal without Braille gets `mark` in the whole cell. */
static void grid_dot(struct grid *grid, int x, int y, enum style style, wchar_t mark)
{
    static const unsigned char bits[DOT_ROWS][DOT_COLUMNS] = {
        {0x01, 0x08},
        {0x02, 0x10},
        {0x04, 0x20},
        {0x40, 0x80}
    };
    int column = x / DOT_COLUMNS, row = y / DOT_ROWS;
    if (x < 0 || y < 0 || column >= grid->columns || row >= grid->rows)
        return;
    unsigned char *dots = &grid->dots[row * grid->columns + column];
    *dots |= bits[y % DOT_ROWS][x % DOT_COLUMNS];
    canvas_put(grid->canvas, grid->row + row, grid->column + column, style,
               grid->canvas->braille ? 0x2800 + (wchar_t)*dots : mark);
}

/* Returns how many ticks each of `dots` dots side by side shows. */
static double tick_step(const struct chart *chart, int dots)
{
    if (!chart->whole && chart->from == 0)
        /* not enough samples yet to fill the chart: the samples begin at the left end */
        return zooms[chart->zoom];
    return (double)(chart->to - chart->from) / dots;
}

static void draw_line(struct grid *grid, const struct chart *chart, size_t at)
{
    static const char marks[] = "*+o#x%@&";
    const struct chart_line *line = &chart->lines[at];
    int dots = grid->columns * DOT_COLUMNS, height = grid->rows * DOT_ROWS - 1, last = -1;
    double step = tick_step(chart, dots);
    for (int x = 0; x < dots && !line->text; x++) {
        struct span span;
        uint64_t from = chart->from + (uint64_t)(x * step);
        uint64_t to = chart->from + (uint64_t)((x + 1) * step);
        span_of(chart, line->table, line->history, from, to > from ? to : from + 1, &span);
        if (isnan(span.average)) {
            last = -1; /* a gap */
            continue;
        }
        double scaled = span.average * pow(10, line->scale);
        int y = height - (int)lround(fmin(fmax(scaled, 0), 100) / 100 * height);
        int other = last < 0 ? y : last;
        for (int i = y < other ? y : other; i <= (y < other ? other : y); i++)
            grid_dot(grid, x, i, line_style(chart, at), marks[line->number % LINE_STYLES]);
        last = y;
    }
}

static void time_text(const struct chart *chart, uint64_t tick, char *ret, size_t capacity)
{
    struct model_source source;
    model_source(chart->model, chart->source, &source);
    text_time(model_time(chart->model, chart->source, tick ? tick : 1),
              source.capture ? "%Y-%m-%d %H:%M:%S" : "%H:%M:%S", ret, capacity);
}

static void draw_time(const struct chart *chart, struct canvas *canvas, int row, uint64_t tick,
                      int column)
{
    char text[32];
    time_text(chart, tick, text, sizeof text);
    canvas_text(canvas, row, column, TIME_WIDTH, STYLE_WEAK, text);
}

static void draw_lines(struct chart *chart, struct canvas *canvas, int row, int last)
{
    struct grid grid = {canvas, row, AXIS, last - row - 1, canvas->columns - AXIS, NULL};
    if (grid.rows < 2 || grid.columns < 2)
        return;
    grid.dots = calloc((size_t)(grid.rows * grid.columns), 1);
    if (!grid.dots)
        return;
    for (int i = 0; i <= 4; i++)
        canvas_print(canvas, row + (grid.rows - 1) * i / 4, 0, AXIS, STYLE_WEAK, "%3d ",
                     100 - 25 * i);
    for (size_t i = 0; i < chart->count; i++)
        if (i != chart->cursor.at)
            draw_line(&grid, chart, i);
    if (chart->count) {
        memset(grid.dots, 0, (size_t)(grid.rows * grid.columns));
        /* drawn last, so that this line lies above the others */
        draw_line(&grid, chart, chart->cursor.at);
    }
    int end = (int)((double)(chart->to - chart->from) /
                    tick_step(chart, grid.columns * DOT_COLUMNS) / DOT_COLUMNS);
    draw_time(chart, canvas, last - 1, chart->from, AXIS);
    if (end > 2 * TIME_WIDTH) /* writes the time below the newest value */
        draw_time(chart, canvas, last - 1, chart->to - 1, AXIS + end - TIME_WIDTH);
    free(grid.dots);
}

/* ---- legend and report ---- */

enum { PATH_SIZE = 2 * PDH_MAX_COUNTER_PATH };

static bool is_ended(const struct chart_line *line)
{
    return line->row == (size_t)-1;
}

/* Writes what follows the instance's name: "#1" and so on if instances before it have the same
 * name; else "". */
static void number_text(const struct chart_line *line, char ret[TEXT_SIZE])
{
    const struct table *table = line->table;
    unsigned before = 0;
    *ret = 0;
    for (size_t r = 0; r < line->row && r < table->row_count; r++)
        before += !strcasecmp(table->rows[r].name, line->history->name);
    if (before && !is_ended(line))
        snprintf(ret, TEXT_SIZE, "#%u", before);
}

/* Writes the path of a line, with the line's instance in place of a pattern. */
static void line_path(const struct chart *chart, const struct chart_line *line, char *ret,
                      size_t capacity)
{
    char number[TEXT_SIZE];
    const char *path = line->table->columns[0].path, *open = strchr(path, '(');
    const char *counter = strrchr(path, '\\');
    number_text(line, number);
    machine_text(chart, line->table, ret, capacity);
    size_t used = strlen(ret);
    ret += used, capacity -= used;
    if (open && counter && open < counter)
        snprintf(ret, capacity, "%.*s(%s%s)%s", (int)(open - path), path, line->history->name,
                 number, counter);
    else
        snprintf(ret, capacity, "%s", path);
}

/* Writes the path, and whether its instance has ended. */
static void line_text(const struct chart *chart, const struct chart_line *line, char *ret,
                      size_t capacity)
{
    line_path(chart, line, ret, capacity);
    if (is_ended(line))
        text_append(ret, capacity, "%s", local(" (ended)"));
}

/* Finds the unit by the counter's type and its name: "%", "B", "B/s", "/s", "s". */
static void find_unit(const struct column *column, char ret[TEXT_SIZE])
{
    static const char *const names[] = {
        [UNIT_PLAIN] = "", [UNIT_BYTES] = "B", [UNIT_KBYTES] = "KiB", [UNIT_MBYTES] = "MiB"};
    struct view_counter counter = {.now.definition.CounterType = column->type};
    const char *name = strrchr(column->path, '\\');
    view_describe(&counter, column->index, name ? name + 1 : column->path);
    const char *suffix = column->type && counter.type.suffix ? counter.type.suffix : "";
    bool rate = !strcmp(suffix, "/sec");
    snprintf(ret, TEXT_SIZE, "%s%s",
             rate || !*suffix          ? names[counter.unit]
             : !strcmp(suffix, "secs") ? "s"
                                       : suffix,
             rate ? "/s" : "");
}

/* Draws a number; `time`: the number is seconds, and 60 or more are drawn as minutes and hours. */
static void put_value(struct canvas *canvas, int row, int column, int width, double number,
                      bool time)
{
    char text[TEXT_SIZE];
    if (isnan(number))
        snprintf(text, sizeof text, "-");
    else if (time && number >= 60)
        text_duration(number, text);
    else if (time)
        snprintf(text, sizeof text, "%.6f", number);
    else { /* no more decimals than the history stores: about seven digits */
        double size = fabs(number);
        int decimals = size < 1e4 ? 3 : size < 1e5 ? 2 : size < 1e6 ? 1 : 0;
        snprintf(text, sizeof text, "%.*f", decimals, number);
    }
    canvas_right(canvas, row, column, width, STYLE_PLAIN, text);
}

enum { VALUE = 12, SCALE = 6, UNIT = 5 };

static void draw_bars(struct chart *chart, struct canvas *canvas, int row, int last)
{
    int name = canvas->columns / 3;
    for (size_t i = 0; i < chart->count && row < last; i++, row++) {
        const struct chart_line *line = &chart->lines[i];
        double scaled = line->span.last * pow(10, line->scale);
        char text[PATH_SIZE], unit[TEXT_SIZE];
        line_text(chart, line, text, sizeof text);
        canvas_text(canvas, row, 0, name - 1, STYLE_PLAIN, text);
        canvas_bar(canvas, row, name, canvas->columns - name - VALUE, 0, scaled / 100,
                   line_style(chart, i));
        find_unit(&line->table->columns[0], unit);
        if (!strcmp(unit, "s") && line->span.last >= 60)
            text_duration(line->span.last, text);
        else
            text_number(line->span.last, text);
        if (line->text)
            canvas_text(canvas, row, name, canvas->columns - name, STYLE_PLAIN, line->text);
        else
            canvas_right(canvas, row, canvas->columns - VALUE, VALUE, STYLE_PLAIN, text);
    }
}

static void draw_title(const struct chart *chart, struct canvas *canvas, int row, int column,
                       enum sort of)
{
    static const char *const titles[] = {
        [BY_NAME] = "COUNTER",  [BY_LAST] = "LAST",    [BY_AVERAGE] = "AVERAGE",
        [BY_LEAST] = "MINIMUM", [BY_MOST] = "MAXIMUM", [BY_DURATION] = "DURATION"};
    char text[TEXT_SIZE];
    bool sorted = of == chart->sort;
    snprintf(text, sizeof text, "%s%s", local(titles[of]),
             !sorted            ? ""
             : chart->ascending ? "<"
                                : ">");
    enum style style = sorted ? STYLE_TITLE : STYLE_WEAK;
    if (of == BY_NAME)
        canvas_text(canvas, row, column, VALUE, style, text);
    else
        canvas_right(canvas, row, column, VALUE, style, text);
}

static void draw_legend_line(struct chart *chart, struct canvas *canvas, int row, int name,
                             size_t at)
{
    const struct chart_line *line = &chart->lines[at];
    char text[PATH_SIZE], unit[TEXT_SIZE];
    line_text(chart, line, text, sizeof text);
    canvas_put(canvas, row, 0, line_style(chart, at),
               canvas->braille ? 0x25a0 : "*+o#x%@&"[line->number % LINE_STYLES]);
    canvas_text(canvas, row, 2, name - 3, STYLE_PLAIN, text);
    if (at == chart->cursor.at)
        canvas_style(canvas, row, 0, canvas->columns, STYLE_SELECTED);
    if (line->text) {
        canvas_text(canvas, row, name, canvas->columns - name, STYLE_PLAIN, line->text);
        return;
    }
    find_unit(&line->table->columns[0], unit);
    canvas_text(canvas, row, name, UNIT - 1, STYLE_WEAK, unit);
    snprintf(text, sizeof text, "1e%d", line->scale);
    canvas_right(canvas, row, name + UNIT, SCALE, STYLE_WEAK, line->scale ? text : "1");
    for (int v = 0; v < chart->values && BY_LAST + v < BY_DURATION; v++)
        put_value(canvas, row, name + UNIT + SCALE + v * VALUE, VALUE,
                  value_of(line, (enum sort)(BY_LAST + v)), !strcmp(unit, "s"));
    text_duration(line->duration, text);
    if (chart->values > BY_DURATION - BY_LAST)
        canvas_right(canvas, row, canvas->columns - VALUE, VALUE, STYLE_PLAIN, text);
    if (at == chart->cursor.at)
        canvas_style(canvas, row, 0, canvas->columns, STYLE_SELECTED);
}

static void draw_legend(struct chart *chart, struct canvas *canvas, int row, int last)
{
    chart->values = canvas->columns >= 120   ? 5
                    : canvas->columns >= 100 ? 4
                    : canvas->columns >= 70  ? 2
                                             : 1;
    int name = canvas->columns - SCALE - UNIT - chart->values * VALUE;
    if (chart->hidden_count)
        canvas_print(canvas, row, 2, name - 2, STYLE_WARN, "COUNTER (%zu hidden, X shows them)",
                     chart->hidden_count);
    else if (chart->left_out)
        canvas_print(canvas, row, 2, name - 2, STYLE_WARN, "COUNTER (%zu more are not shown)",
                     chart->left_out);
    else
        draw_title(chart, canvas, row, 2, BY_NAME);
    canvas_text(canvas, row, name, UNIT, STYLE_WEAK, local("UNIT ")); /* "UNIT" is systemd's */
    canvas_right(canvas, row, name + UNIT, SCALE, STYLE_WEAK, local("SCALE"));
    for (int i = 0; i < chart->values; i++)
        draw_title(chart, canvas, row, name + UNIT + SCALE + i * VALUE, (enum sort)(BY_LAST + i));
    cursor_fit(&chart->cursor, chart->count, (size_t)(last - row - 1));
    chart->cursor.row = row + 1;
    for (size_t i = chart->cursor.first; i < chart->count && ++row < last; i++)
        draw_legend_line(chart, canvas, row, name, i);
}

/* Writes why a counter has no values: its machine is unreachable, or what text_reason finds. */
static void reason_of(const struct chart *chart, const struct table *table, char why[REASON_SIZE])
{
    struct model_source source;
    model_source(chart->model, table->source, &source);
    text_reason(chart->model, table, why);
    if (chart->named && source.state == MODEL_AWAY && !source.capture)
        snprintf(why, REASON_SIZE, "%s: %s", source.name,
                 pdh_message(table->columns->status ? table->columns->status : source.status));
}

/* Writes why chosen counters have no lines; returns the row after the last one used. */
static int draw_problems(struct chart *chart, struct canvas *canvas, int row, int last)
{
    char why[REASON_SIZE], before[REASON_SIZE] = "";
    last = row + (last - row) / 3; /* the other two thirds are for the chart */
    for (size_t t = 0; t < chart->table_count && row < last; t++) {
        const struct table *table = model_table(chart->model, chart->tables[t]);
        if (lacks_texts(chart, table))
            continue;
        reason_of(chart, table, why);
        int lines = last - row < REASON_LINES ? last - row : REASON_LINES;
        if (*why && strcmp(why, before) != 0) /* counters of one object have one reason */
            row += canvas_wrap(canvas, row, 0, canvas->columns, lines, STYLE_WARN, why);
        strcpy(before, why);
    }
    return row;
}

bool chart_whole(struct chart *chart)
{
    char why[REASON_SIZE];
    for (size_t t = 0; t < chart->table_count; t++) {
        const struct table *table = model_table(chart->model, chart->tables[t]);
        reason_of(chart, table, why);
        if (*why && !lacks_texts(chart, table))
            return false;
    }
    return true;
}

void chart_draw(struct chart *chart, struct canvas *canvas, int row, int last)
{
    choose_ticks(chart, (canvas->columns - AXIS) * DOT_COLUMNS);
    find_lines(chart);
    row = draw_problems(chart, canvas, row, last);
    int legend = (int)chart->count + 1;
    legend = legend > LEGEND_MOST ? LEGEND_MOST : legend;
    if (legend > (last - row) / 2)
        legend = (last - row) / 2;
    if (chart->mode == MODE_REPORT)
        legend = last - row;
    if (chart->mode == MODE_LINES)
        draw_lines(chart, canvas, row, last - legend);
    else if (chart->mode == MODE_BARS)
        draw_bars(chart, canvas, row, last - legend);
    if (legend > 0)
        draw_legend(chart, canvas, last - legend, last);
}

bool chart_ready(struct chart *chart)
{
    for (size_t t = 0; t < chart->table_count; t++) {
        const struct table *table = find_table(chart, t);
        if (table->text && !table->tick)
            return false;
    }
    return true;
}

void chart_report(struct chart *chart)
{
    chart->mode = MODE_REPORT;
}

size_t chart_lines(struct chart *chart)
{
    choose_ticks(chart, 1);
    find_lines(chart);
    return chart->count;
}

void chart_line(const struct chart *chart, size_t at, char *ret, size_t capacity)
{
    char path[PATH_SIZE], value[TEXT_SIZE];
    const struct chart_line *line = &chart->lines[at];
    line_text(chart, line, path, sizeof path);
    text_number(line->span.last, value);
    snprintf(ret, capacity, "%s: %s", path, line->text ? line->text : value);
}

/* ---- keys ---- */

static void show_hidden(struct chart *chart, struct window *window)
{
    if (chart->hidden_count)
        window_report(window, "hidden instances that are shown again: %zu", chart->hidden_count);
    else
        window_report(window, "no instance is hidden; x hides one");
    chart->hidden_count = 0;
}

/* Hides the selected line, if its counter's path is a pattern; show_hidden shows it again. False:
 * it was not hidden. */
static bool hide_selected(struct chart *chart, struct window *window)
{
    const struct chart_line *line = &chart->lines[chart->cursor.at];
    char path[PATH_SIZE];
    const char *pattern = line->table->columns[0].path;
    line_path(chart, line, path, sizeof path);
    const char *end = strstr(path, pattern); /* the path may begin with a machine */
    if (end && !strcmp(end, pattern))
        return false;
    struct hidden *hidden =
        realloc(chart->hidden, (chart->hidden_count + 1) * sizeof *chart->hidden);
    if (!hidden)
        return false;
    chart->hidden = hidden;
    hidden[chart->hidden_count++] = (struct hidden){line->table->id, line->history->identity};
    window_report(window, "hidden: %s; X shows it again, Delete removes all of %s", path, pattern);
    return true;
}

/* Shows the minute around the highest value of the selected counter. */
static void show_highest(struct chart *chart, struct window *window)
{
    const struct history *history = chart->lines[chart->cursor.at].history;
    struct model_source source;
    struct span span;
    double most = NAN;
    uint64_t at = 0;
    char text[64], number[TEXT_SIZE], unit[TEXT_SIZE];
    if (chart->lines[chart->cursor.at].text) {
        window_report(window, "a text has no highest value");
        return;
    }
    for (uint64_t t = history->born; t <= history->seen; t += history->step ? history->step : 1) {
        model_span(history, 0, t, t + 1, &span);
        if (!isnan(span.most) && !(span.most <= most)) {
            most = span.most;
            at = t;
        }
    }
    if (!at)
        return;
    const struct chart_line *line = &chart->lines[chart->cursor.at];
    if (line->table->source != chart->source)
        at = model_tick(chart->model, chart->source,
                        model_time(chart->model, line->table->source, at));
    model_source(chart->model, chart->source, &source);
    double seconds = (double)(source.time - model_time(chart->model, chart->source, 1)) / 1e7;
    uint64_t length = chart->to - chart->from;
    if (source.capture) {
        while (chart->zoom + 1 < sizeof zooms / sizeof *zooms && seconds > 60 * zooms[chart->zoom])
            chart->zoom++;
        length = source.tick / (uint64_t)zooms[chart->zoom] + 1;
    }
    /* the earliest possible end: the chart then begins at the first tick */
    uint64_t end = at + length / 2 > length ? at + length / 2 : length;
    chart->back = end < source.tick ? source.tick - end : 0;
    text_number(most, number);
    find_unit(&line->table->columns[0], unit);
    time_text(chart, at, text, sizeof text);
    window_report(window, "the highest value is %s%s%s, at %s", number, *unit ? " " : "", unit,
                  text);
}

static void remove_selected(struct chart *chart, struct window *window)
{
    unsigned table = chart->lines[chart->cursor.at].table->id;
    window_report(window, "removed %s", chart->lines[chart->cursor.at].table->columns[0].path);
    for (size_t i = 0; i < chart->table_count; i++)
        if (chart->tables[i] == table) {
            memmove(&chart->tables[i], &chart->tables[i + 1],
                    (chart->table_count - i - 1) * sizeof *chart->tables);
            chart->table_count--;
            break;
        }
    for (size_t i = chart->hidden_count; i-- > 0;)
        if (chart->hidden[i].table == table)
            chart->hidden[i] = chart->hidden[--chart->hidden_count];
    model_remove_table(chart->model, table);
    chart->count = 0;
}

/* Changes the zoom, or reports why it cannot. A larger number in `zooms` shows less of a capture,
 * but more of a machine. */
static void change_zoom(struct chart *chart, bool nearer, struct window *window)
{
    struct model_source source;
    model_source(chart->model, chart->source, &source);
    bool more = nearer == source.capture;
    if (more ? chart->zoom + 1 < sizeof zooms / sizeof *zooms : chart->zoom > 0)
        chart->zoom += more ? 1 : -1;
    else
        window_report(window,
                      nearer ? "a shorter time cannot be shown" : "a longer time cannot be shown");
}

/* Shows a shell command that prints the selected counter, and copies it to the clipboard, unless
 * the terminal in which it is pasted would take a part of it as keys. */
static void show_command(const struct chart *chart, struct window *window)
{
    const struct chart_line *line = &chart->lines[chart->cursor.at];
    struct model_source source;
    char path[PATH_SIZE], quoted[PATH_SIZE + 64], file[1024], command[3 * 1024] = "";
    model_source(chart->model, line->table->source, &source);
    line_path(chart, line, path, sizeof path);
    text_quote(path, quoted, sizeof quoted);
    text_quote(source.name, file, sizeof file);
    bool machine = *source.name && !chart->named;
    if (source.capture)
        text_append(command, sizeof command, "relog %s -c %s -f csv -o -", file, quoted);
    else
        text_append(command, sizeof command, "typeperf %s%s%s%s", machine ? "-s " : "",
                    machine ? file : "", machine ? " " : "", quoted);
    text_clean(command, window->message, sizeof window->message);
    if (is_ended(line) && !source.capture)
        window_report(window, "%s: the instance has ended, so no command shows it", path);
    else if (strcmp(window->message, command) != 0)
        window_report(window, "the name has control characters, or it is too long for a command");
    else
        terminal_copy(command);
}

/* Sorts the legend by the next or the previous column that is shown. */
static void sort_next(struct chart *chart, int step)
{
    int count = BY_LAST + chart->values;
    chart->sort = (enum sort)(((int)chart->sort + step + count) % count);
    chart->ascending = chart->sort == BY_NAME;
}

/* Handles the keys that select a line or sort the legend. False: the key is another one. */
static bool legend_key(struct chart *chart, int key, struct window *window)
{
    bool moved = cursor_key(&chart->cursor, key);
    const struct chart_line *line = &chart->lines[chart->cursor.at];
    if (moved && chart->cursor.at < chart->count)
        chart->selected = (struct hidden){line->table->id, line->history->identity};
    else if (key == '<' || key == '>' || key == KEY_F(6))
        sort_next(chart, key == '<' ? -1 : 1);
    else if (key == 'i' && chart->sort == BY_ORDER)
        window_report(window, "the legend is not sorted; > sorts it");
    else if (key == 'i')
        chart->ascending = !chart->ascending;
    else
        return moved;
    return true;
}

/* Goes back in time, or forward, by a quarter of what is shown; reports why it cannot. */
static void change_time(struct chart *chart, bool back, struct window *window)
{
    uint64_t jump = (chart->to - chart->from) / 4 + 1, newest = newest_tick(chart);
    if (chart->whole)
        window_report(window, "the whole capture is shown; + shows a part of it");
    else if (back ? chart->from <= 1 : !chart->back)
        window_report(window, back ? "there are no earlier samples" : "there are no later samples");
    else if (back)
        chart->back = chart->back + jump < newest ? chart->back + jump : newest;
    else
        chart->back = chart->back > jump ? chart->back - jump : 0;
}

/* Handles the keys that choose the time that is shown. */
static bool time_key(struct chart *chart, int key, struct window *window)
{
    if (key == '-' || key == '+' || key == '=')
        change_zoom(chart, key != '-', window);
    else if (key == KEY_LEFT || key == KEY_RIGHT)
        change_time(chart, key == KEY_LEFT, window);
    else
        return false;
    return true;
}

/* Handles the keys that concern the selected counter. False: the key is another one. */
static bool selected_key(struct chart *chart, int key, struct window *window)
{
    if (key != 'y' && key != 'x' && key != 'm' && key != KEY_DC)
        return false;
    if (chart->cursor.at >= chart->count)
        window_report(window, "no counter is selected; / finds counters, and Enter adds one");
    else if (key == 'y')
        show_command(chart, window);
    else if (key == 'm')
        show_highest(chart, window);
    else if (key == KEY_DC || !hide_selected(chart, window))
        remove_selected(chart, window);
    return true;
}

bool chart_key(struct chart *chart, int key, struct window *window)
{
    if (legend_key(chart, key, window) || time_key(chart, key, window))
        return true;
    switch (key) {
    case 'h':
        chart->highlight = !chart->highlight;
        return true;
    case 'g':
        chart->mode = MODE_LINES;
        return true;
    case 'b':
        chart->mode = MODE_BARS;
        return true;
    case 'r':
        chart->mode = MODE_REPORT;
        return true;
    case 'X':
        show_hidden(chart, window);
        return true;
    default:
        return selected_key(chart, key, window);
    }
}
