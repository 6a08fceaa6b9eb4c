/* SPDX-License-Identifier: MIT */
/*
 * Draws the watch view. The home screen is defined by a table of panels, each with an object's
 * title index, a layout and the counters to show. The code has no knowledge of objects.
 */
#include "screen.h"
#include "../common/machine-message.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum panel_layout { PANEL_BARS, PANEL_LIST, PANEL_TABLE };
enum {
    BAR_LABEL = 8,
    BAR_VALUE = 7,
    CELL_COLUMNS = 38,
    LIST_LEAST = 28,
    COLUMN_LEAST = 7,
    LABEL_LEAST = 16
};
enum { LABEL_MOST = 40, EXPLAIN_LINES = 5, MARK = 2, WRAP_AT = 11, TOP_LEAST = 2, TABLE_LEAST = 7 };

struct panel {
    uint32_t object;
    enum panel_layout format;
    uint32_t counters[12]; /* title indices to show, ended by 0 */
    uint32_t sort;
    uint32_t leave_out_zero;
};

static const struct panel home_panels[] = {
    {238, PANEL_BARS,  {6},                                     0, 0  },
    {4,   PANEL_LIST,  {24, 26, 818, 30, 28, 40},               0, 0  },
    {230, PANEL_TABLE, {784, 6, 180, 680, 28, 1420, 1422, 684}, 6, 784},
};

char *screen_home_query(void)
{
    char *query = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&query, &size);
    for (size_t i = 0; out && i < sizeof home_panels / sizeof *home_panels; i++)
        fprintf(out, i ? " %u" : "%u", home_panels[i].object);
    return out && fclose(out) == 0 ? query : NULL;
}

/* The output as lines: the last line of a screen has no line end. */
struct canvas {
    FILE *out;
    const struct style *style;
    int rows, columns, used;
    bool utf8;
    bool plain;  /* the output is a pipe or file */
    size_t most; /* with `plain`: highest number of rows of a table */
};

static bool canvas_full(const struct canvas *canvas)
{
    return canvas->used >= canvas->rows;
}

static void canvas_end_line(struct canvas *canvas)
{
    canvas->used++;
    if (canvas->plain)
        fputs("\n", canvas->out);
    else
        fprintf(canvas->out, "\033[0m%s", canvas_full(canvas) ? "" : "\r\n\033[K");
}

static bool load_object(struct watch *watch, uint32_t index, struct view_object *ret)
{
    opl_object_view where = {0};
    struct pcview *view = watch->view;
    while (snapshot_next_object(&view->now, &where))
        if (where.type.ObjectNameTitleIndex == index)
            return view_object_load(ret, &view->now, &where,
                                    view->has_before ? &view->before : NULL, &view->names);
    return false;
}

static void draw_head(struct canvas *canvas, const char *title, const char *detail)
{
    char text[256];
    text_clean(title, text, sizeof text);
    fprintf(canvas->out, "%s%s%s  %s", canvas->style->title, text, canvas->style->off,
            canvas->style->weak);
    text_cell(canvas->out, detail, canvas->columns - text_width(text) - 2);
    fprintf(canvas->out, "%s", canvas->style->off);
    canvas_end_line(canvas);
}

/* ---- bars: one counter of every instance ---- */

static const char *bar_colour(const struct style *style, double percent)
{
    return percent < 50 ? style->good : percent < 80 ? style->warn : style->bad;
}

static int longest_label(const struct table *table, int most)
{
    int width = 1;
    for (size_t r = 0; r < table->row_count; r++) {
        int columns = text_width(table->rows[r].label);
        width = columns > width ? columns : width;
    }
    return width < most ? width : most;
}

static void draw_bar(struct canvas *canvas, const struct table_row *row, int columns, int label)
{
    static const char *const parts[] = {" ",      "\u258f", "\u258e", "\u258d",
                                        "\u258c", "\u258b", "\u258a", "\u2589"};
    const struct table_cell *cell = &row->cells[0];
    double percent = isnan(cell->number) ? 0 : fmin(fmax(cell->number, 0), 100);
    int width = columns - label - BAR_VALUE - 8;
    int eighths = (int)lround(percent / 100 * width * 8), full = eighths / 8;
    fputs("  ", canvas->out);
    text_cell(canvas->out, row->label, -label);
    fprintf(canvas->out, " %s[%s", canvas->style->weak, canvas->style->off);
    fputs(bar_colour(canvas->style, percent), canvas->out);
    for (int i = 0; i < width; i++) {
        if (i < full)
            fputs(canvas->utf8 ? "\u2588" : "|", canvas->out);
        else
            fputs(i == full && canvas->utf8 ? parts[eighths % 8] : " ", canvas->out);
    }
    fprintf(canvas->out, "%s%s]%s ", canvas->style->off, canvas->style->weak, canvas->style->off);
    text_cell(canvas->out, cell->text, -BAR_VALUE);
    fputs("  ", canvas->out);
}

static void draw_number(struct canvas *canvas, const struct table_row *row, int columns, int label)
{
    fputs("  ", canvas->out);
    text_cell(canvas->out, row->label, label);
    fputs(bar_colour(canvas->style, row->cells[0].number), canvas->out);
    text_cell(canvas->out, row->cells[0].text, -(columns - label - 2));
    fputs(canvas->style->off, canvas->out);
}

/* The number of columns of cells, so that all cells fit into `most` lines if possible. */
static size_t bars_across(const struct canvas *canvas, const struct table *table, size_t most,
                          int label)
{
    size_t columns = (size_t)canvas->columns, across = columns / CELL_COLUMNS;
    across = across < 1 ? 1 : across < table->row_count ? across : table->row_count;
    while (across && (table->row_count + across - 1) / across > most &&
           columns / (across + 1) >= (size_t)label + BAR_VALUE + 3)
        across++;
    return across;
}

/* Moves the total of all instances to the front. Perflib's naming convention identifies it. */
static void total_first(struct table *table)
{
    for (size_t i = 0; i < table->row_count; i++)
        if (strcmp(table->rows[i].label, "_Total") == 0) {
            struct table_row total = table->rows[i];
            memmove(&table->rows[1], table->rows, i * sizeof total);
            table->rows[0] = total;
        }
}

/* The number of lines for bars: two fifths of the screen, but at most the lines above `last`. */
static size_t bar_lines(const struct canvas *canvas, int last)
{
    int most = canvas->plain ? 1000 : canvas->rows * 2 / 5, left = last - canvas->used;
    most = most < left ? most : left;
    return most > 0 ? (size_t)most : 0;
}

/* Cells fill column after column; those that do not fit are counted. */
static void draw_bars(struct canvas *canvas, struct table *table, int last)
{
    int label = longest_label(table, BAR_LABEL);
    size_t most = bar_lines(canvas, last);
    size_t across = bars_across(canvas, table, most, label);
    size_t lines = across ? (table->row_count + across - 1) / across : 0;
    int columns = across ? canvas->columns / (int)across : 0;
    if (lines > most) /* one line shows how many are omitted */
        lines = most > 1 ? most - 1 : most;
    total_first(table);
    for (size_t line = 0; line < lines; line++) {
        for (size_t i = line, cell = 0; i < table->row_count && cell < across; i += lines, cell++)
            if (columns >= 30)
                draw_bar(canvas, &table->rows[i], columns, label);
            else
                draw_number(canvas, &table->rows[i], columns, label);
        canvas_end_line(canvas);
    }
    if (lines * across < table->row_count && lines < most) {
        fprintf(canvas->out, "  %s+ %zu more%s", canvas->style->weak,
                table->row_count - lines * across, canvas->style->off);
        canvas_end_line(canvas);
    }
}

/* ---- list: some counters of a single object, side by side ---- */

/* The number of cells side by side. Cells are made narrower before counters are omitted; the last
 * counters are omitted first. Without a terminal the number of lines is not limited. */
static int list_across(const struct canvas *canvas, int cells, int most)
{
    int across = canvas->columns / CELL_COLUMNS;
    across = across < 1 ? 1 : across > 3 ? 3 : across;
    while ((most < 1 || across <= (cells - 1) / most) &&
           canvas->columns / (across + 1) >= LIST_LEAST)
        across++;
    return across;
}

static void draw_list(struct canvas *canvas, const struct table *table, int last)
{
    int most = last - canvas->used, cells = (int)table->row_count;
    int across = list_across(canvas, cells, most), columns = canvas->columns / across;
    int value = columns < CELL_COLUMNS ? 9 : 12, lines = (cells + across - 1) / across;
    lines = lines < most ? lines : most;
    for (int line = 0; line < lines; line++) {
        for (int i = line, cell = 0; i < cells && cell < across; i += lines, cell++) {
            fputs("  ", canvas->out);
            text_cell(canvas->out, table->rows[i].label, columns - value - 4);
            fputs(canvas->style->strong, canvas->out);
            text_cell(canvas->out, table->rows[i].cells[0].text, -value);
            fprintf(canvas->out, "%s  ", canvas->style->off);
        }
        canvas_end_line(canvas);
    }
}

/* ---- table: instances by counters ---- */

struct column_span {
    size_t from, to; /* the range of columns that are shown */
    int label;       /* width of the label on the terminal */
};

static int column_columns(const struct table_column *column)
{
    char lines[TITLE_LINES][TITLE_SIZE];
    int width = column->width < COLUMN_LEAST ? COLUMN_LEAST : column->width;
    size_t count = title_lines(column->title, WRAP_AT, lines);
    for (size_t i = 0; i < count; i++)
        if (text_width(lines[i]) > width)
            width = text_width(lines[i]);
    return width < TABLE_CELL - 1 ? width : TABLE_CELL - 1;
}

static int label_columns(const struct table *table, int most)
{
    int width = LABEL_LEAST;
    for (size_t r = 0; r < table->row_count; r++) {
        int columns = text_width(table->rows[r].label);
        width = columns > width ? columns : width;
    }
    return width < most ? width : most;
}

/* Selects the columns that fit; the sorted one is always shown. */
static struct column_span fit_columns(const struct watch *watch, const struct table *table,
                                      int columns)
{
    int most = view_object_single(table->object) ? columns - 40 : columns / 3;
    most = most > LABEL_MOST && !view_object_single(table->object) ? LABEL_MOST : most;
    struct column_span span = {0, 0, label_columns(table, most)};
    do {
        int used = MARK + span.label;
        span.to = span.from;
        while (span.to < table->column_count &&
               used + 2 + column_columns(&table->columns[span.to]) <= columns)
            used += 2 + column_columns(&table->columns[span.to++]);
    } while (watch->sort >= (int)span.to && span.to < table->column_count && ++span.from);
    return span;
}

static void draw_titles(struct canvas *canvas, const struct watch *watch, const struct table *table,
                        const struct column_span *span)
{
    char lines[TITLE_LINES][TITLE_SIZE];
    size_t most = 1;
    for (size_t c = span->from; c < span->to; c++) {
        int width = column_columns(&table->columns[c]);
        size_t count = title_lines(table->columns[c].title, width, lines);
        most = count > most ? count : most;
    }
    for (size_t line = 0; line < most && !canvas_full(canvas); line++) {
        fprintf(canvas->out, "%s%*s", canvas->style->weak, MARK, "");
        text_cell(canvas->out, line + 1 == most ? table->row_count ? "NAME" : "(none)" : "",
                  span->label);
        for (size_t c = span->from; c < span->to; c++) {
            int width = column_columns(&table->columns[c]);
            size_t count = title_lines(table->columns[c].title, width, lines);
            const char *text = line + count >= most ? lines[line + count - most] : "";
            bool sorted = (int)c == watch->sort;
            fprintf(canvas->out, "  %s", sorted ? canvas->style->title : "");
            text_cell(canvas->out, text, -width);
            fprintf(canvas->out, "%s%s", canvas->style->off, canvas->style->weak);
        }
        canvas_end_line(canvas);
    }
}

static void draw_row(struct canvas *canvas, const struct table *table,
                     const struct column_span *span, const struct table_row *row, bool selected)
{
    fputs(selected ? canvas->style->reverse : "", canvas->out);
    fputs(selected ? "> " : "  ", canvas->out);
    text_cell(canvas->out, row->label, span->label);
    for (size_t c = span->from; c < span->to; c++) {
        fputs("  ", canvas->out);
        text_cell(canvas->out, row->cells[c].text, -column_columns(&table->columns[c]));
    }
    canvas_end_line(canvas);
}

/* Scrolls so that the selected row is visible. */
static void scroll(struct watch *watch, size_t rows)
{
    watch->page = rows ? rows : 1;
    if (watch->selected >= watch->row_count)
        watch->selected = watch->row_count ? watch->row_count - 1 : 0;
    if (watch->first > watch->selected)
        watch->first = watch->selected;
    if (watch->selected >= watch->first + watch->page)
        watch->first = watch->selected - watch->page + 1;
    if (watch->first + watch->page > watch->row_count)
        watch->first = watch->row_count > watch->page ? watch->row_count - watch->page : 0;
}

static void draw_table(struct canvas *canvas, struct watch *watch, const struct table *table,
                       int last)
{
    struct column_span span = fit_columns(watch, table, canvas->columns);
    draw_titles(canvas, watch, table, &span);
    size_t rows = last > canvas->used ? (size_t)(last - canvas->used) : 0;
    if (canvas->plain && rows > canvas->most)
        rows = canvas->most;
    scroll(watch, rows);
    for (size_t i = 0; i < rows && watch->first + i < table->row_count; i++)
        draw_row(canvas, table, &span, &table->rows[watch->first + i],
                 !canvas->plain && watch->first + i == watch->selected);
}

/* ---- the explanation of a counter, at the bottom ---- */

static const struct view_counter *counter_in_focus(const struct watch *watch,
                                                   const struct table *table)
{
    if (watch->selected < table->row_count && table->rows[watch->selected].counter)
        return table->rows[watch->selected].counter;
    size_t column = watch->sort >= 0 ? (size_t)watch->sort : 0;
    return column < table->column_count ? table->columns[column].counter : NULL;
}

/* Prints at most `most` lines of a text, indented by two. */
static void draw_lines(struct canvas *canvas, const char *text, int most)
{
    for (int line = 0; line < most && *text; line++) {
        int count = (int)strcspn(text, "\n");
        fprintf(canvas->out, "%.*s", count, text);
        canvas_end_line(canvas);
        text += count + (text[count] == '\n');
    }
}

static void draw_explanation(struct canvas *canvas, struct watch *watch,
                             const struct view_counter *counter)
{
    char *text = NULL;
    size_t size = 0;
    FILE *lines = open_memstream(&text, &size);
    if (!lines)
        return;
    const PERF_COUNTER_DEFINITION *definition = &counter->now.definition;
    const char *help = names_help(&watch->view->names, definition->CounterHelpTitleIndex);
    text_wrap(lines, help ? help : "(no explanation)", 2, canvas->columns - 2);
    fclose(lines);
    char detail[128];
    snprintf(detail, sizeof detail, "%u  %s", definition->CounterNameTitleIndex,
             type_word(counter));
    draw_head(canvas, counter->title, detail);
    draw_lines(canvas, text, EXPLAIN_LINES - 1);
    free(text);
}

/* ---- panels ---- */

static void sort_panel(struct watch *watch, struct table *table, uint32_t by)
{
    if (!watch->sort_chosen)
        watch->sort = by ? table_column_of(table, by) : TABLE_UNSORTED;
    table_sort(table, watch->sort, watch->ascending);
    watch->row_count = table->row_count;
    watch->column_count = table->column_count;
}

static void draw_panel(struct canvas *canvas, struct watch *watch, const struct panel *panel,
                       const struct view_object *object, int last)
{
    struct table table;
    char detail[256] = "";
    struct table_choice choice = {.counters = panel->counters[0] ? panel->counters : NULL,
                                  .leave_out_zero = panel->leave_out_zero,
                                  .filter = panel->format == PANEL_TABLE ? watch->filter : ""};
    choice.requested = watch->home ? NULL : &watch->view->wanted[0];
    bool good = table_make(&table, object, &choice);
    if (good && panel->format == PANEL_TABLE)
        sort_panel(watch, &table, panel->sort);
    if (good && panel->format == PANEL_BARS && table.column_count)
        text_clean(table.columns[0].title, detail, sizeof detail);
    else if (good && panel->format == PANEL_TABLE)
        snprintf(detail, sizeof detail, "%zu %s%s%s%s", table.row_count,
                 view_object_single(object) ? "counter" : "instance",
                 table.row_count == 1 ? "" : "s", *watch->filter ? " with " : "", watch->filter);
    draw_head(canvas, object->title, detail);
    const struct view_counter *focus = good ? counter_in_focus(watch, &table) : NULL;
    bool explain = watch->explain && focus && panel->format == PANEL_TABLE &&
                   /* rows have priority over the explanation */
                   last - canvas->used >= EXPLAIN_LINES + TABLE_LEAST;
    if (good && panel->format == PANEL_BARS && table.column_count)
        draw_bars(canvas, &table, last);
    else if (good && panel->format == PANEL_LIST)
        draw_list(canvas, &table, last);
    else if (good && panel->format == PANEL_TABLE)
        draw_table(canvas, watch, &table, last - (explain ? EXPLAIN_LINES : 0));
    while (explain && canvas->used < last - EXPLAIN_LINES)
        canvas_end_line(canvas);
    if (explain)
        draw_explanation(canvas, watch, focus);
    table_done(&table);
}

/* The line before which a panel ends, so that the panels after it have some lines. */
static int panel_last(const struct canvas *canvas, const struct panel *panels, size_t after,
                      int last)
{
    for (size_t i = 1; !canvas->plain && i <= after; i++)
        last -= panels[i].format == PANEL_TABLE ? TABLE_LEAST : TOP_LEAST;
    return last > canvas->used + TOP_LEAST ? last : canvas->used + TOP_LEAST;
}

static void draw_panels(struct canvas *canvas, struct watch *watch, int last)
{
    struct panel single = {watch->objects[0], PANEL_TABLE, {0}, 0, 0};
    const struct panel *panels = watch->home ? home_panels : &single;
    size_t count = watch->home ? sizeof home_panels / sizeof *home_panels : 1;
    bool drawn = false;
    for (size_t i = 0; i < count; i++) {
        struct view_object object = {0};
        if (canvas->used < last && load_object(watch, panels[i].object, &object)) {
            if (drawn && (canvas->plain || canvas->rows >= 30))
                canvas_end_line(canvas);
            int end = panel_last(canvas, &panels[i], count - 1 - i, last);
            draw_panel(canvas, watch, &panels[i], &object, end < last ? end : last);
            drawn = true;
        }
        view_object_done(&object);
    }
}

/* ---- the screen ---- */

static void draw_top(struct canvas *canvas, const struct watch *watch)
{
    char time[32], system[64], left[192];
    const opl_block *block = &watch->view->now.block;
    block_time(block, time, sizeof time);
    block_system(block, system, sizeof system);
    snprintf(left, sizeof left, " %s   %s UTC   every %g s%s", system, time, watch->seconds,
             watch->paused ? "   PAUSED" : "");
    if (canvas->plain)
        snprintf(left, sizeof left, "%s  %s UTC", system, time);
    fputs(canvas->style->reverse, canvas->out);
    if (canvas->plain)
        fputs(left, canvas->out);
    else
        text_cell(canvas->out, left, canvas->columns);
    canvas_end_line(canvas);
}

static void print_failure(const struct watch *watch, char *ret, size_t capacity)
{
    const char *machine = watch->view->machine;
    const char *message = machine ? machine_message(machine, watch->status) : NULL;
    snprintf(ret, capacity, " the query fails with error %d; trying again%s%s", (int)watch->status,
             message ? ": " : "", message ? message : "");
}

static void draw_bottom(struct canvas *canvas, const struct watch *watch)
{
    char text[400];
    if (watch->status)
        print_failure(watch, text, sizeof text);
    else if (watch->silent > 0)
        snprintf(text, sizeof text,
                 " no answer for %.0f s, showing the last one; see pcview --events", watch->silent);
    else if (watch->searching)
        snprintf(text, sizeof text, " show only: %s_   (Enter keeps, Escape drops)", watch->filter);
    else
        snprintf(text, sizeof text,
                 " q quit  ? help  / search  \xe2\x86\x90 \xe2\x86\x92 sort by  e explain  "
                 "space pause");
    bool bad = watch->status || watch->silent > 0;
    if (!watch->view->utf8 && !watch->searching && !bad)
        snprintf(text, sizeof text,
                 " q quit  ? help  / search  < > sort by  e explain  "
                 "space pause");
    fputs(bad ? canvas->style->bad : canvas->style->weak, canvas->out);
    text_cell(canvas->out, text, canvas->columns);
    canvas_end_line(canvas);
}

static void draw_help(struct canvas *canvas)
{
    static const char *const lines[] = {
        "",
        "  q, Ctrl-C            quit",
        "  up, down, k, j       move by one; PgUp, PgDn, Home, End move further",
        "  left, right, < >     sort by another column, the one in colour",
        "  r                    reverse the order",
        "  /                    show only names that contain a text; Escape shows all",
        "  e                    explain the counter: of the sorted column, or of the line",
        "  space                pause and continue",
        "  +, -                 longer or shorter interval between samples",
        "  ?                    this help; any key closes it",
        "",
        "  A \"-\" is a value that needs a second sample of the same instance.",
    };
    draw_head(canvas, "Keys", "");
    for (size_t i = 0; i < sizeof lines / sizeof *lines && canvas->used < canvas->rows - 1; i++) {
        text_cell(canvas->out, lines[i], canvas->columns);
        canvas_end_line(canvas);
    }
}

void screen_draw(struct watch *watch, FILE *out, int rows, int columns)
{
    struct canvas canvas = {.out = out,
                            .style = &watch->view->style,
                            .rows = rows,
                            .columns = columns,
                            .utf8 = watch->view->utf8};
    draw_top(&canvas, watch);
    if (watch->help)
        draw_help(&canvas);
    else
        draw_panels(&canvas, watch, rows - 1);
    while (canvas.used < rows - 1)
        canvas_end_line(&canvas);
    if (!canvas_full(&canvas))
        draw_bottom(&canvas, watch);
}

void screen_snapshot(struct watch *watch, FILE *out, int columns, size_t most)
{
    struct canvas canvas = {.out = out,
                            .style = &watch->view->style,
                            .rows = INT32_MAX,
                            .columns = columns,
                            .utf8 = watch->view->utf8,
                            .plain = true,
                            .most = most};
    draw_top(&canvas, watch);
    fputs("\n", out);
    draw_panels(&canvas, watch, INT32_MAX);
}
