/* SPDX-License-Identifier: MIT */
/* The list of processes, sorted and filtered; or of programs, each the sum of its processes. */
#define NCURSES_WIDECHAR 1
#include "screen.h"

#include "../../view/view.h"

#include <curses.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum column_id { CPU, MEMORY, READ, WRITTEN, THREADS, PID, PARENT, ELAPSED, COLUMNS_ALL };
enum { ESCAPE = 27, NAME_LEAST = 16 };

/* clang-format off */
static const struct {
    const char *counter, *title;
    int width;
    void (*text)(double, char[TEXT_SIZE]);
    bool sum; /* a group has the sum of its processes */
} columns[COLUMNS_ALL] = {
    [CPU]     = {"% Processor Time",     "CPU %",   7,  text_percent,  true},
    [MEMORY]  = {"Working Set",          "MEMORY",  10, text_bytes,    true},
    [READ]    = {"IO Read Bytes/sec",    "READ/s",  10, text_bytes,    true},
    [WRITTEN] = {"IO Write Bytes/sec",   "WRITE/s", 10, text_bytes,    true},
    [THREADS] = {"Thread Count",         "THREADS", 8,  text_number,   true},
    [PID]     = {"ID Process",           "PID",     8,  NULL,          false},
    [PARENT]  = {"Creating Process ID",  "PARENT",  8,  NULL,          false},
    [ELAPSED] = {"Elapsed Time",         "AGE",     11, text_duration, false},
};
/* clang-format on */

struct line {
    const char *name;
    size_t name_length;
    uint64_t identity;
    unsigned members;
    double values[COLUMNS_ALL];
};

struct processes {
    struct model *model;
    unsigned table;
    struct line *lines; /* of the newest sample, as they are shown */
    size_t line_count, line_capacity;
    enum column_id sort;
    bool ascending, grouped, kernel;
    struct field filter;
    uint64_t selected; /* identity of the selected line */
    struct cursor cursor;
};

struct processes *processes_new(struct model *model, size_t source)
{
    char texts[COLUMNS_ALL][64];
    const char *paths[COLUMNS_ALL];
    struct processes *processes = calloc(1, sizeof *processes);
    if (!processes)
        return NULL;
    for (size_t i = 0; i < COLUMNS_ALL; i++) {
        snprintf(texts[i], sizeof texts[i], "\\Process(*)\\%s", columns[i].counter);
        paths[i] = texts[i];
    }
    processes->model = model;
    processes->kernel = true;
    processes->table = model_add_table(model, source, paths, COLUMNS_ALL, false);
    return processes;
}

void processes_free(struct processes *processes)
{
    model_remove_table(processes->model, processes->table);
    free(processes->lines);
    free(processes);
}

/* ---- what is listed ---- */

static bool contains(const struct line *line, const char *filter)
{
    char name[256];
    snprintf(name, sizeof name, "%.*s", (int)line->name_length, line->name);
    return !*filter || text_contains(name, filter);
}

/* _Total is no process, and Idle is what is left over. */
static bool listed(const struct processes *processes, const struct line *line)
{
    bool kernel = line->values[PID] == 2 || line->values[PARENT] == 2;
    return line->values[PID] > 0 && (processes->kernel || !kernel) &&
           contains(line, processes->filter.text);
}

static bool reserve(struct processes *processes, size_t count)
{
    if (count <= processes->line_capacity)
        return true;
    struct line *lines = realloc(processes->lines, count * sizeof *lines);
    if (!lines)
        return false;
    processes->lines = lines;
    processes->line_capacity = count;
    return true;
}

static void read_lines(struct processes *processes, const struct table *table)
{
    processes->line_count = 0;
    if (!reserve(processes, table->row_count))
        return;
    for (size_t r = 0; r < table->row_count; r++) {
        const struct row *row = &table->rows[r];
        const char *number = strrchr(row->name, '#');
        struct line *line = &processes->lines[processes->line_count];
        *line =
            (struct line){.name = row->name,
                          .name_length = number ? (size_t)(number - row->name) : strlen(row->name),
                          .identity = row->identity,
                          .members = 1};
        for (size_t c = 0; c < COLUMNS_ALL; c++)
            line->values[c] = table_cell(table, r, c)->number;
        processes->line_count += listed(processes, line);
    }
}

static int compare_names(const void *left, const void *right)
{
    const struct line *l = left, *r = right;
    size_t least = l->name_length < r->name_length ? l->name_length : r->name_length;
    int order = strncmp(l->name, r->name, least);
    return order ? order : (l->name_length > r->name_length) - (l->name_length < r->name_length);
}

/* The processes of a program become one line. A value that no member has stays unknown. */
static void group_lines(struct processes *processes)
{
    size_t used = 0;
    qsort(processes->lines, processes->line_count, sizeof *processes->lines, compare_names);
    for (size_t i = 0; i < processes->line_count; i++) {
        struct line *line = &processes->lines[i];
        struct line *group = used ? &processes->lines[used - 1] : NULL;
        if (!group || compare_names(group, line)) {
            processes->lines[used] = *line;
            group = &processes->lines[used++];
            group->identity = 0;
            for (size_t c = 0; c < line->name_length; c++)
                group->identity = (group->identity ^ (unsigned char)line->name[c]) * 0x100000001b3;
            continue;
        }
        group->members++;
        for (size_t c = 0; c < COLUMNS_ALL; c++)
            if (columns[c].sum && !isnan(line->values[c]))
                group->values[c] =
                    isnan(group->values[c]) ? line->values[c] : group->values[c] + line->values[c];
    }
    processes->line_count = used;
}

static const struct processes *sorting; /* qsort has no argument for its comparison */
static int compare_lines(const void *left, const void *right)
{
    const struct line *l = left, *r = right;
    double a = l->values[sorting->sort], b = r->values[sorting->sort];
    int order = isnan(a) ? !isnan(b) : isnan(b) ? -1 : (a < b) - (a > b);
    if (order && !isnan(a) && !isnan(b) && sorting->ascending)
        order = -order;
    if (!order)
        order = (l->values[MEMORY] < r->values[MEMORY]) - (l->values[MEMORY] > r->values[MEMORY]);
    return order ? order : compare_names(l, r);
}

/* The selection stays on its process while the order changes around it. */
static void find_selected(struct processes *processes)
{
    for (size_t i = 0; i < processes->line_count; i++)
        if (processes->lines[i].identity == processes->selected)
            processes->cursor.at = i;
}

static void make_lines(struct processes *processes)
{
    const struct table *table = model_table(processes->model, processes->table);
    processes->line_count = 0;
    if (!table || !table->tick)
        return;
    read_lines(processes, table);
    if (processes->grouped)
        group_lines(processes);
    sorting = processes;
    qsort(processes->lines, processes->line_count, sizeof *processes->lines, compare_lines);
    find_selected(processes);
}

/* ---- drawing ---- */

static void draw_head(const struct processes *processes, struct canvas *canvas, int row, int name)
{
    char title[64];
    snprintf(title, sizeof title, "%s (%zu)", processes->grouped ? "PROGRAM" : "PROCESS",
             processes->line_count);
    canvas_text(canvas, row, 0, name, STYLE_TITLE, title);
    int at = name;
    for (size_t c = 0; c < COLUMNS_ALL; c++) {
        bool shown = columns[c].sum || !processes->grouped;
        if (!shown || at + columns[c].width > canvas->columns)
            continue;
        bool sorted = c == processes->sort;
        char text[32];
        snprintf(text, sizeof text, "%s%s", columns[c].title,
                 !sorted                ? ""
                 : processes->ascending ? "<"
                                        : ">");
        canvas_right(canvas, row, at, columns[c].width, sorted ? STYLE_TITLE : STYLE_WEAK, text);
        at += columns[c].width;
    }
}

static void draw_line(const struct processes *processes, struct canvas *canvas, int row, int name,
                      const struct line *line)
{
    char text[256];
    int length = (int)line->name_length;
    if (processes->grouped && line->members > 1)
        snprintf(text, sizeof text, "%.*s (%u)", length, line->name, line->members);
    else
        snprintf(text, sizeof text, "%.*s", length, line->name);
    canvas_text(canvas, row, 0, name - 1, STYLE_PLAIN, text);
    int at = name;
    for (size_t c = 0; c < COLUMNS_ALL; c++) {
        bool shown = columns[c].sum || !processes->grouped;
        if (!shown || at + columns[c].width > canvas->columns)
            continue;
        if (columns[c].text)
            columns[c].text(line->values[c], text);
        else if (isnan(line->values[c]))
            strcpy(text, "-");
        else
            snprintf(text, sizeof text, "%.0f", line->values[c]);
        enum style style = c == CPU && line->values[c] >= 50 ? STYLE_WARN : STYLE_PLAIN;
        canvas_right(canvas, row, at, columns[c].width, style, text);
        at += columns[c].width;
    }
}

void processes_draw(struct processes *processes, struct canvas *canvas, int row, int last,
                    bool active)
{
    int all = 0, name;
    if (row + 2 > last)
        return;
    for (size_t c = 0; c < COLUMNS_ALL; c++)
        all += columns[c].width;
    name = canvas->columns - all;
    name = name < NAME_LEAST ? NAME_LEAST : name > 2 * NAME_LEAST ? 2 * NAME_LEAST : name;
    make_lines(processes);
    draw_head(processes, canvas, row++, name);
    cursor_fit(&processes->cursor, processes->line_count, (size_t)(last - row));
    for (size_t i = active ? processes->cursor.first : 0; i < processes->line_count && row < last;
         i++, row++) {
        draw_line(processes, canvas, row, name, &processes->lines[i]);
        if (active && i == processes->cursor.at)
            canvas_style(canvas, row, 0, canvas->columns, STYLE_SELECTED);
    }
}

/* ---- keys ---- */

const struct field *processes_filter(const struct processes *processes)
{
    return &processes->filter;
}

static void sort_by(struct processes *processes, int column)
{
    processes->sort = (enum column_id)((column + COLUMNS_ALL) % COLUMNS_ALL);
    processes->ascending = false;
}

static bool sort_key(struct processes *processes, int key)
{
    switch (key) {
    case KEY_LEFT:
    case KEY_RIGHT:
        sort_by(processes, (int)processes->sort + (key == KEY_LEFT ? -1 : 1));
        return true;
    case 'P':
        sort_by(processes, CPU);
        return true;
    case 'M':
        sort_by(processes, MEMORY);
        return true;
    case 'R':
        sort_by(processes, READ);
        return true;
    case 'W':
        sort_by(processes, WRITTEN);
        return true;
    case 'i':
    case KEY_F(6):
        processes->ascending = !processes->ascending;
        return true;
    default:
        return false;
    }
}

bool processes_key(struct processes *processes, int key, struct window *window)
{
    if (field_key(&processes->filter, key) || sort_key(processes, key))
        return true;
    if (cursor_key(&processes->cursor, key)) {
        if (processes->cursor.at < processes->line_count)
            processes->selected = processes->lines[processes->cursor.at].identity;
        return true;
    }
    switch (key) {
    case '/':
    case KEY_F(3):
        processes->filter.open = true;
        return true;
    case ESCAPE:
        processes->filter.text[0] = 0;
        return true;
    case 'G':
        processes->grouped = !processes->grouped;
        return true;
    case 'K':
        processes->kernel = !processes->kernel;
        snprintf(window->message, sizeof window->message, "kernel threads are %s",
                 processes->kernel ? "shown" : "hidden");
        return true;
    default:
        return false;
    }
}
