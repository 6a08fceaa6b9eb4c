/* SPDX-License-Identifier: MIT */
/*
 * One process: its texts, its counters over time, or its threads. The view stays when the process
 * has ended. An exec changes the program and so the name and the identity: the process is the same
 * as long as its number is the same and its age has grown by the time that has passed.
 */
#include "keys.h"
#include "processes.h"

#include "../../view/view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LABEL = 15, VALUE = 11, MOST_COLUMNS = 60, CHART_ROWS = 3, PAGE_ROWS = 80, EIGHTHS = 8 };
enum { HISTORIES = 8, MOST_STEP = 64 };

/* clang-format off */
/* Two tables: Process V2; and Process IO, because Process V2 has the bytes read and written only if
 * this user may read them of all processes. A capture may have either. */
enum { OWN, IO, TABLES };
enum { OWN_COUNT = 8, DISK_READ = OWN_COUNT, IO_COUNT = 4, COUNTERS = OWN_COUNT + IO_COUNT };
static const struct {
    const char *counter, *label;
    void (*text)(double, char[TEXT_SIZE]);
    double least; /* least value at the top of the chart */
} counters[COUNTERS] = {
    {"% Processor Time",         "processor %",  text_percent, 10},
    {"% User Time",              "user %",       text_percent, 10},
    {"% Privileged Time",        "system %",     text_percent, 10},
    {"Working Set",              "memory",       text_bytes,   0},
    {"Private Bytes",            "private",      text_bytes,   0},
    {"Thread Count",             "threads",      text_whole,   0},
    {"Handle Count",             "open files",   text_whole,   0},
    {"Page Faults/sec",          "faults/s",     text_number,  0},
    {"IO Disk Read Bytes/sec",   "disk read/s",  text_bytes,   0},
    {"IO Disk Write Bytes/sec",  "disk write/s", text_bytes,   0},
    {"IO Read Bytes/sec",        "all read/s",   text_bytes,   0},
    {"IO Write Bytes/sec",       "all write/s",  text_bytes,   0},
};
enum { T_PROCESS, T_ID, T_CPU, T_STATE, T_SWITCHES, T_PRIORITY, T_USER, T_SYSTEM, T_AGE, T_ALL };
static const struct {
    const char *counter, *title;
    int width;
    void (*text)(double, char[TEXT_SIZE]);
} thread_columns[T_ALL] = {
    [T_PROCESS]  = {"ID Process",           "",         0,  NULL},
    [T_ID]       = {"ID Thread",            "THREAD",   9,  text_whole},
    [T_CPU]      = {"% Processor Time",     "CPU %",    8,  text_percent},
    [T_STATE]    = {"Thread State",         "STATE",    9,  NULL},
    [T_SWITCHES] = {"Context Switches/sec", "SWITCH/s", 10, text_number},
    [T_PRIORITY] = {"Priority Current",     "PRIORITY", 10, text_whole},
    [T_USER]     = {"% User Time",          "USER %",   8,  text_percent},
    [T_SYSTEM]   = {"% Privileged Time",    "SYSTEM %", 10, text_percent},
    [T_AGE]      = {"Elapsed Time",         "AGE",      12, text_duration},
};
/* clang-format on */

struct thread {
    double values[T_ALL];
};

struct details {
    unsigned tables[TABLES], thread_table; /* thread_table: 0 if the threads are not shown */
    char name[64], parent[64];
    char *texts[TEXTS];
    uint64_t identity, tick; /* `tick`: the last tick in which the process existed */
    int64_t time;            /* time of that tick */
    double values[PROCESS_VALUES], newest[COUNTERS];
    bool ended;
    bool children; /* children that have ended moved bytes to or from disks */
    struct thread *threads;
    size_t thread_count;
    /* one history for each program that the process has executed; NULL ends the list */
    const struct history *histories[TABLES][HISTORIES + 1];
    unsigned step; /* number of ticks in a column of the charts */
    struct cursor scroll, thread_cursor;
    struct canvas page; /* all texts and charts; some rows of this canvas are shown */
};

/* ---- tables ---- */

static unsigned add_table(struct processes *processes, const char *format, const char *of,
                          const char *const *names, size_t count, bool history)
{
    enum { MOST = (int)COUNTERS > (int)T_ALL ? (int)COUNTERS : (int)T_ALL };
    char built[MOST][160];
    const char *paths[MOST];
    for (size_t i = 0; i < count; i++) {
        int used = snprintf(built[i], sizeof built[i], format, of);
        snprintf(built[i] + used, sizeof built[i] - (size_t)used, "\\%s", names[i]);
        paths[i] = built[i];
    }
    return model_add_table(processes->list.model, processes->list.source, paths, count, history);
}

/* Adds the table of threads. The paths in this table and in that of add_io contain the process's
 * name, so both are added again when an exec has changed the name. */
static void add_threads(struct processes *processes, struct details *details)
{
    const char *names[T_ALL];
    for (size_t i = 0; i < T_ALL; i++)
        names[i] = thread_columns[i].counter;
    model_remove_table(processes->list.model, details->thread_table);
    details->thread_table =
        add_table(processes, "\\Thread(%s/*)", details->name, names, T_ALL, false);
}

/* Adds the table of Process IO. Other processes may have the same name, so the table has a column
 * for the process's number. */
static void add_io(struct processes *processes, struct details *details)
{
    const char *names[IO_COUNT + 1] = {[IO_COUNT] = "ID Process"};
    for (size_t i = 0; i < IO_COUNT; i++)
        names[i] = counters[OWN_COUNT + i].counter;
    model_remove_table(processes->list.model, details->tables[IO]);
    details->tables[IO] =
        add_table(processes, "\\Process IO(%s*)", details->name, names, IO_COUNT + 1, true);
}

static void add_own(struct processes *processes, struct details *details)
{
    const char *names[COUNTERS];
    char number[16];
    snprintf(number, sizeof number, "%.0f", details->values[PID]);
    for (size_t i = 0; i < COUNTERS; i++)
        names[i] = counters[i].counter;
    details->tables[OWN] =
        add_table(processes, "\\Process V2(*:%s)", number, names, COUNTERS, true);
}

void details_close(struct processes *processes)
{
    struct details *details = processes->details;
    processes->details = NULL;
    if (!details)
        return;
    for (size_t i = 0; i < TABLES; i++)
        model_remove_table(processes->list.model, details->tables[i]);
    model_remove_table(processes->list.model, details->thread_table);
    for (size_t i = 0; i < TEXTS; i++)
        free(details->texts[i]);
    free(details->threads);
    canvas_done(&details->page);
    free(details);
}

/* ---- what is known now ---- */

static void take_line(struct processes *processes, struct details *details, const struct line *line)
{
    struct model_source source;
    model_source(processes->list.model, processes->list.source, &source);
    snprintf(details->name, sizeof details->name, "%.*s", (int)line->name_length, line->name);
    memcpy(details->values, line->values, sizeof details->values);
    details->identity = line->identity;
    details->time = source.time;
    for (size_t i = 0; i < TEXTS; i++) {
        const char *text = text_of(line, i);
        if (!*text || (details->texts[i] && !strcmp(details->texts[i], text)))
            continue; /* the text is unknown for a moment, or unchanged */
        free(details->texts[i]);
        details->texts[i] = strdup(text);
    }
}

/* Looks for the process and its parent in the newest sample. False: the process has ended. */
static bool find_process(struct processes *processes, struct details *details)
{
    struct model_source source;
    const struct line *found = NULL, *end = processes->list.lines + processes->list.line_count;
    double parent = details->values[PARENT];
    model_source(processes->list.model, processes->list.source, &source);
    for (const struct line *line = processes->list.lines; line < end; line++) {
        double pid = line->values[PID], age = line->values[ELAPSED];
        double grown = details->values[ELAPSED] + (double)(source.time - details->time) / 1e7;
        if (pid == parent)
            snprintf(details->parent, sizeof details->parent, "%.*s", (int)line->name_length,
                     line->name);
        if (!found && pid == details->values[PID] &&
            (line->identity == details->identity || fabs(age - grown) < 1.5))
            found = line;
    }
    if (found)
        take_line(processes, details, found);
    return found;
}

/* Finds the histories of the process again, because their addresses change when a sample is taken
 * over. The table of Process IO also has other processes whose names begin alike. */
static void find_histories(const struct processes *processes, struct details *details)
{
    for (size_t t = 0; t < TABLES; t++) {
        size_t count, used = 0;
        struct span number = {.last = (float)details->values[PID]};
        const struct history *const *all =
            model_histories(processes->list.model, details->tables[t], &count);
        for (size_t i = 0; i < count && used < HISTORIES; i++) {
            if (!all[i] || all[i]->born > details->tick)
                continue; /* this history is that of another process, which has the number now */
            if (t == IO)
                model_span(all[i], IO_COUNT, all[i]->seen, all[i]->seen + 1, &number);
            if (number.last == (float)details->values[PID])
                details->histories[t][used++] = all[i];
        }
        details->histories[t][used] = NULL;
    }
}

/* Summarizes the values of these ticks: `most` from all histories of the process, the other members
 * from the latest one. */
static void span_of(const struct details *details, size_t counter, uint64_t from, uint64_t to,
                    struct span *ret)
{
    uint64_t seen = 0;
    bool io = counter >= OWN_COUNT && *details->histories[IO];
    *ret = (struct span){NAN, NAN, NAN, NAN};
    for (const struct history *const *at = details->histories[io]; *at; at++) {
        struct span span;
        model_span(*at, io ? counter - OWN_COUNT : counter, from, to, &span);
        if (isnan(span.average))
            continue;
        double most = fmax(span.most, ret->most);
        *ret = (*at)->seen >= seen ? span : *ret;
        seen = (*at)->seen >= seen ? (*at)->seen : seen;
        ret->most = most;
    }
}

static int compare_threads(const void *left, const void *right)
{
    const struct thread *l = left, *r = right;
    double a = l->values[T_CPU], b = r->values[T_CPU];
    int order = isnan(a) ? !isnan(b) : isnan(b) ? -1 : (a < b) - (a > b);
    return order ? order
                 : (l->values[T_ID] > r->values[T_ID]) - (l->values[T_ID] < r->values[T_ID]);
}

static void take_threads(const struct processes *processes, struct details *details)
{
    const struct table *table = model_table(processes->list.model, details->thread_table);
    if (!table || !table->row_count || details->ended)
        return;
    struct thread *threads = realloc(details->threads, table->row_count * sizeof *threads);
    if (!threads)
        return;
    details->threads = threads;
    details->thread_count = 0;
    for (size_t r = 0; r < table->row_count; r++) {
        if (table_cell(table, r, T_PROCESS)->number != details->values[PID])
            continue;
        struct thread *thread = &threads[details->thread_count++];
        for (size_t c = 0; c < T_ALL; c++)
            thread->values[c] = table_cell(table, r, c)->number;
    }
    qsort(threads, details->thread_count, sizeof *threads, compare_threads);
}

/* True if the page has the table's sample, or must wait, because a capture is being read again from
 * its beginning. */
static bool is_taken(const struct processes *processes, const struct details *details,
                     const struct table *table)
{
    struct model_source source;
    model_source(processes->list.model, processes->list.source, &source);
    if (!source.capture || source.at)
        return table->tick == details->tick;
    return source.state == MODEL_COMPLETE
               ? table->tick == details->tick && source.time == details->time
               : table->tick <= details->tick;
}

/* While samples fail, nothing is known of the present. */
static void forget_newest(struct details *details)
{
    for (size_t i = 0; i < COUNTERS; i++)
        details->newest[i] = NAN;
    details->values[READ] = details->values[WRITTEN] = NAN;
    details->thread_count = 0;
}

/* Takes the counters' values of the newest sample from their histories, which a capture has later
 * than the list of processes. */
static void take_newest(struct details *details)
{
    for (size_t i = 0; i < COUNTERS; i++) {
        struct span span;
        span_of(details, i, details->tick, details->tick + 1, &span);
        details->newest[i] = span.last;
    }
    for (size_t k = 0; k < 2; k++) /* both are rates of this sample; less is rounding */
        details->children |= details->values[READ + k] >= details->newest[DISK_READ + k] + 1024;
}

/* Takes over the process's values from a new sample, or records that the process has ended. */
static void update(struct processes *processes, struct details *details)
{
    char name[sizeof details->name];
    const struct table *table = process_list_table(&processes->list);
    if (details->ended || !table || is_taken(processes, details, table))
        return;
    snprintf(name, sizeof name, "%s", details->name);
    /* as in the list that is sorted by bytes */
    process_list_want_children(&processes->list, true);
    process_list_read(&processes->list);
    details->ended = !find_process(processes, details);
    if (details->ended)
        return;
    details->tick = table->tick;
    take_threads(processes, details);
    if (!strcmp(name, details->name))
        return;
    add_io(processes, details);
    if (details->thread_table)
        add_threads(processes, details);
}

void details_open(struct processes *processes, const struct line *line)
{
    details_close(processes);
    struct details *details = calloc(1, sizeof *details);
    if (!details)
        return;
    processes->details = details;
    details->step = 1;
    for (size_t i = 0; i < COUNTERS; i++)
        details->newest[i] = NAN;
    take_line(processes, details, line);
    add_own(processes, details);
    add_io(processes, details);
}

bool details_target(const struct processes *processes, struct target *ret)
{
    const struct details *details = processes->details;
    *ret = (struct target){.pid = (pid_t)details->values[PID], .age = details->values[ELAPSED]};
    snprintf(ret->name, sizeof ret->name, "%s", details->name);
    return !details->ended;
}

/* ---- drawing ---- */

/* Writes the whole text, broken at blanks if the text has any. Returns the number of rows. */
static int wrap_all(struct canvas *canvas, int row, int column, enum style style, const char *text)
{
    int width = canvas->columns - column, rows = 0;
    while (*text && width > 0) {
        char part[512];
        size_t used = 0, blank = 0;
        while (text[used] && used + 4 < sizeof part) {
            size_t next = used + 1;
            while (((unsigned char)text[next] & 0xc0) == 0x80 && next + 1 < sizeof part)
                next++; /* skips the other bytes of the character */
            memcpy(part + used, text + used, next - used);
            part[next] = 0;
            if (text_width(part) > width)
                break;
            used = next;
            blank = text[used] == ' ' || !text[used] ? used : blank;
        }
        used = blank ? blank : used ? used : 1;
        part[used] = 0;
        canvas_text(canvas, row + rows++, column, width, style, part);
        text += used + (text[used] == ' ');
    }
    return rows;
}

static int draw_text(struct canvas *canvas, int row, const char *label, const char *text)
{
    canvas_text(canvas, row, 1, LABEL - 2, STYLE_WEAK, local(label));
    int rows = wrap_all(canvas, row, LABEL, STYLE_PLAIN, text && *text ? text : "-");
    return row + rows;
}

static int draw_texts(const struct details *details, struct canvas *canvas, int row)
{
    char text[256], age[TEXT_SIZE], start[32], read[TEXT_SIZE], written[TEXT_SIZE];
    const char *const *texts = (const char *const *)details->texts;
    double elapsed = details->values[ELAPSED];
    text_duration(elapsed, age);
    text_time(isnan(elapsed) ? 0 : details->time - (int64_t)(elapsed * 1e7), "%Y-%m-%d %H:%M:%S",
              start, sizeof start);
    row = draw_text(canvas, row, "command", texts[COMMAND]);
    row = draw_text(canvas, row, "user", texts[USER]);
    snprintf(text, sizeof text, local("%s, %s old"), start, age);
    row = draw_text(canvas, row, "started", *start ? text : "");
    snprintf(text, sizeof text, "%.0f%s%s", details->values[PARENT], *details->parent ? ", " : "",
             details->parent);
    row = draw_text(canvas, row, "parent", isnan(details->values[PARENT]) ? "" : text);
    if (details->children) {
        text_bytes(details->values[READ], read);
        text_bytes(details->values[WRITTEN], written);
        snprintf(text, sizeof text, local("disk read %s/s, write %s/s, with those that have ended"),
                 read, written);
        row = draw_text(canvas, row, "with children", text);
    }
    if (texts[UNIT])
        row = draw_text(canvas, row, "unit", texts[UNIT]);
    return draw_text(canvas, row, "control group", texts[GROUP]);
}

/* Draws a chart with one column for `step` ticks, the newest at the right. A known value has at
 * least the lowest mark, so that 0 differs from a gap. */
static void draw_chart(const struct details *details, struct canvas *canvas, int row, int rows,
                       int column, size_t counter)
{
    static const wchar_t fancy[] = L" \u2581\u2582\u2583\u2584\u2585\u2586\u2587\u2588";
    static const wchar_t simple[] = L" _.:-=+*#";
    int width = canvas->columns - column;
    uint64_t step = details->step, end = details->tick / step * step + step;
    double top = counters[counter].least;
    /* the first pass finds the top, the second draws the marks */
    for (int pass = 0; pass < 2; pass++)
        for (int x = 0; x < width; x++) {
            struct span span;
            uint64_t back = (uint64_t)(width - x) * step;
            if (back > end)
                continue;
            span_of(details, counter, end - back, end - back + step, &span);
            if (isnan(span.average))
                continue;
            top = fmax(top, span.average);
            int level = 1 + (int)(top > 0 ? fmax(span.average, 0) / top * (rows * EIGHTHS - 1) : 0);
            for (int y = 0; pass && y < rows && level > y * EIGHTHS; y++) {
                int mark = level - y * EIGHTHS < EIGHTHS ? level - y * EIGHTHS : EIGHTHS;
                canvas_put(canvas, row + rows - 1 - y, column + x,
                           (enum style)(STYLE_LINE + counter % LINE_STYLES),
                           canvas->utf8 ? fancy[mark] : simple[mark]);
            }
        }
}

static int draw_counters(const struct details *details, struct canvas *canvas, int row, int height)
{
    bool most = canvas->columns >= MOST_COLUMNS;
    int column = LABEL + VALUE * (most ? 2 : 1) + 1;
    canvas_text(canvas, row, 1, LABEL - 2, STYLE_WEAK, local("COUNTER"));
    canvas_right(canvas, row, LABEL, VALUE, STYLE_WEAK, local(details->ended ? "LAST" : "NOW"));
    if (most)
        canvas_right(canvas, row, LABEL + VALUE, VALUE, STYLE_WEAK, local("MOST"));
    canvas_print(canvas, row++, column, canvas->columns - column, STYLE_WEAK,
                 details->step == 1 ? "the last %d samples" : "the last %d x %u samples",
                 canvas->columns - column, details->step);
    for (size_t i = 0; i < COUNTERS; i++) {
        char text[TEXT_SIZE];
        struct span all;
        span_of(details, i, 0, details->tick + 1, &all);
        int low = row + height - 1; /* the label and values are beside the chart's lowest row */
        canvas_text(canvas, low, 1, LABEL - 2, STYLE_PLAIN, local(counters[i].label));
        counters[i].text(details->newest[i], text);
        canvas_right(canvas, low, LABEL, VALUE, STYLE_PLAIN, text);
        counters[i].text(all.most, text);
        if (most)
            canvas_right(canvas, low, LABEL + VALUE, VALUE, STYLE_WEAK, text);
        draw_chart(details, canvas, row, height, column, i);
        row += height;
    }
    return row;
}

static void put_thread_state(double number, char text[TEXT_SIZE])
{
    const char *word = number == 2     ? "running"
                       : number == 4   ? "ended"
                       : number == 5   ? "waiting"
                       : isnan(number) ? "-"
                                       : "other";
    snprintf(text, TEXT_SIZE, "%s", local(word));
}

static void draw_threads(struct details *details, struct canvas *canvas, int row, int last)
{
    struct cursor *cursor = &details->thread_cursor;
    char text[TEXT_SIZE];
    if (row + 1 >= last)
        return;
    cursor->row = row + 1;
    cursor_fit(cursor, details->thread_count, (size_t)(last - row - 1));
    int at = 0;
    for (size_t c = T_ID; c < T_ALL; c++) {
        int width = thread_columns[c].width;
        if (at + width > canvas->columns)
            break;
        canvas_right(canvas, row, at, width, STYLE_WEAK, local(thread_columns[c].title));
        for (size_t i = cursor->first; i < details->thread_count; i++) {
            int line = row + 1 + (int)(i - cursor->first);
            double value = details->threads[i].values[c];
            if (line >= last)
                break;
            if (thread_columns[c].text)
                thread_columns[c].text(value, text);
            else
                put_thread_state(value, text);
            canvas_right(canvas, line, at, width, STYLE_PLAIN, text);
        }
        at += width;
    }
    if (details->thread_count)
        canvas_style(canvas, row + 1 + (int)(cursor->at - cursor->first), 0, canvas->columns,
                     STYLE_SELECTED);
}

static void draw_title(const struct details *details, struct canvas *canvas, int row)
{
    char when[32], text[256];
    text_time(details->time, "%H:%M:%S", when, sizeof when);
    snprintf(text, sizeof text, local("process %.0f (%s): "), details->values[PID], details->name);
    int at = canvas_text(canvas, row, 0, canvas->columns, STYLE_TITLE, text);
    if (details->ended)
        at += canvas_print(canvas, row, at, canvas->columns - at, STYLE_BAD, "ended, last seen %s",
                           when);
    else
        at += canvas_text(canvas, row, at, canvas->columns - at, STYLE_STRONG,
                          details->texts[STATE] ? details->texts[STATE] : "-");
    canvas_text(
        canvas, row, at + 3, canvas->columns - at - 3, STYLE_WEAK,
        local(details->thread_table ? "Escape back  t counters" : "Escape back  t threads"));
}

/* Draws the whole page into a canvas of its own, and shows the rows from the cursor on. */
static void draw_page(struct details *details, struct canvas *canvas, int row, int last)
{
    struct canvas *page = &details->page;
    page->utf8 = canvas->utf8;
    page->console = canvas->console;
    if (!canvas_begin(page, last - row + PAGE_ROWS, canvas->columns))
        return;
    int used = draw_texts(details, page, 0) + 1, free_rows = last - row - used - 1;
    int height = free_rows / COUNTERS;
    height = height < 1 ? 1 : height > CHART_ROWS ? CHART_ROWS : height;
    used = draw_counters(details, page, used, height);
    used = used < page->rows ? used : page->rows;
    size_t hidden = used > last - row ? (size_t)(used - (last - row)) : 0;
    cursor_fit(&details->scroll, hidden + 1, 1);
    details->scroll.row = canvas->rows; /* a click selects nothing here */
    memcpy(&canvas->cells[row * canvas->columns],
           &page->cells[details->scroll.at * (size_t)canvas->columns],
           (size_t)((last - row) * canvas->columns) * sizeof *canvas->cells);
}

void details_draw(struct processes *processes, struct canvas *canvas, int row, int last)
{
    struct details *details = processes->details;
    struct model_source source;
    model_source(processes->list.model, processes->list.source, &source);
    bool away = source.state == MODEL_AWAY && !source.capture;
    if (!away)
        update(processes, details);
    find_histories(processes, details);
    if (away && !details->ended)
        forget_newest(details);
    else if (!details->ended)
        take_newest(details);
    /* the texts are wanted, because the process's state is shown */
    model_want(processes->list.model, processes->list.texts);
    draw_title(details, canvas, row++);
    if (details->thread_table)
        draw_threads(details, canvas, row, last);
    else if (row < last)
        draw_page(details, canvas, row, last);
}

/* ---- keys ---- */

/* Shows the process's threads, or hides them. */
static void toggle_threads(struct processes *processes, struct details *details)
{
    if (details->thread_table) {
        model_remove_table(processes->list.model, details->thread_table);
        details->thread_table = 0;
        return;
    }
    details->thread_count = details->ended ? details->thread_count : 0;
    add_threads(processes, details);
}

/* Makes a column of the charts stand for twice, or half, as many samples. */
static void change_step(struct details *details, bool longer, struct window *window)
{
    if (longer ? details->step >= MOST_STEP : details->step <= 1)
        window_report(window,
                      longer ? "a longer time cannot be shown" : "a shorter time cannot be shown");
    else
        details->step = longer ? details->step * 2 : details->step / 2;
}

bool details_key(struct processes *processes, int key, struct window *window)
{
    struct details *details = processes->details;
    if (cursor_key(details->thread_table ? &details->thread_cursor : &details->scroll, key)) {
        if (!details->thread_table && details->scroll.count <= 1)
            window_report(window, "all of the process is shown");
        return true;
    }
    switch (key) {
    case ESCAPE:
    case KEY_BACKSPACE:
    case '2':
        details_close(processes);
        processes->alone = false;
        return true;
    case 't':
    case 'H':
        toggle_threads(processes, details);
        return true;
    case '+':
    case '=':
    case '-':
        change_step(details, key == '-', window);
        return true;
    default:
        return false;
    }
}
