/* SPDX-License-Identifier: MIT */
/* The list of processes, sorted and filtered; or of programs, users, units or control groups, each
 * the sum of its processes. */
#include "screen.h"

#include "keys.h"

#include "../../view/view.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum column_id { PID, CPU, MEMORY, READ, WRITTEN, THREADS, ELAPSED, PARENT, COLUMNS_ALL };
enum text_id { USER, STATE, UNIT, GROUP, COMMAND, TEXTS };
enum grouping { BY_PROCESS, BY_PROGRAM, BY_USER, BY_UNIT, BY_GROUP, GROUPINGS };
enum { ESCAPE = 27, NAME_LEAST = 16 };

/* clang-format off */
static const struct {
    const char *counter, *title;
    int width, least_columns; /* shown from this width of the terminal on */
    void (*text)(double, char[TEXT_SIZE]);
    bool sum; /* a group has the sum of its processes */
} columns[COLUMNS_ALL] = {
    [PID]     = {"ID Process",                "PID",     8,  0,   text_whole,    false},
    [CPU]     = {"% Processor Time",          "CPU %",   7,  0,   text_percent,  true},
    [MEMORY]  = {"Working Set",               "MEMORY",  9,  0,   text_bytes,    true},
    [READ]    = {"IO Disk Read Bytes/sec",    "READ/s",  10, 60,  text_bytes,    true},
    [WRITTEN] = {"IO Disk Write Bytes/sec",   "WRITE/s", 10, 60,  text_bytes,    true},
    [THREADS] = {"Thread Count",              "THREADS", 8,  110, text_whole,    true},
    [ELAPSED] = {"Elapsed Time",              "AGE",     11, 120, text_duration, false},
    [PARENT]  = {"Creating Process ID",       "PARENT",  8,  140, text_whole,    false},
};
static const struct {
    const char *counter, *title, *word; /* the word of filters: "user:www" */
    int width, least_columns;
} texts[TEXTS] = {
    [USER]    = {"User",          "USER",    "user",  10, 70},
    [STATE]   = {"State",         "STATE",   "state", 10, 150},
    [UNIT]    = {"Unit",          "UNIT",    "unit",  24, 170},
    [GROUP]   = {"Control Group", "GROUP",   "group", 0,  1000},
    [COMMAND] = {"Command Line",  "COMMAND", "cmd",   12, 0},
};
static const char *const group_titles[GROUPINGS] = {"PROCESS", "PROGRAM", "USER", "UNIT",
                                                   "CONTROL GROUP"};
/* clang-format on */

struct line {
    const char *name;
    size_t name_length;
    uint64_t identity;
    unsigned members;
    double values[COLUMNS_ALL];
    const char *const *texts; /* NULL: not known (yet) */
};

struct processes {
    struct model *model;
    size_t source;
    unsigned table, texts, io;
    struct line *lines; /* of the newest sample, as they are shown */
    size_t line_count, line_capacity;
    enum column_id sort;
    enum grouping grouping;
    bool ascending, kernel;
    struct field filter;
    uint64_t selected; /* identity of the selected line */
    struct cursor cursor;
    bool shown[COLUMNS_ALL]; /* which columns fitted last */
    /* the process that a signal may be sent to; pid 0: none */
    struct {
        pid_t pid;
        double born; /* seconds after the boot */
        char name[64];
    } target;
    bool here; /* the processes are this machine's, now */
};

struct processes *processes_new(struct model *model, size_t source)
{
    char built[COLUMNS_ALL][64];
    const char *paths[COLUMNS_ALL];
    struct processes *processes = calloc(1, sizeof *processes);
    if (!processes)
        return NULL;
    for (size_t i = 0; i < COLUMNS_ALL; i++) {
        snprintf(built[i], sizeof built[i], "\\Process V2(*)\\%s", columns[i].counter);
        paths[i] = built[i];
    }
    processes->model = model;
    struct model_source of;
    model_source(model, source, &of);
    processes->source = source;
    processes->here = !of.capture && !*of.name;
    processes->kernel = true;
    processes->sort = CPU;
    processes->table = model_add_table(model, source, paths, COLUMNS_ALL, false);
    for (size_t i = 0; i < TEXTS; i++) {
        snprintf(built[i], sizeof built[i], "\\Process Details(*)\\%s", texts[i].counter);
        paths[i] = built[i];
    }
    processes->texts = model_add_texts(model, source, paths, TEXTS);
    return processes;
}

void processes_free(struct processes *processes)
{
    model_remove_table(processes->model, processes->table);
    model_remove_table(processes->model, processes->texts);
    model_remove_table(processes->model, processes->io);
    free(processes->lines);
    free(processes);
}

/* ---- what is listed ---- */

static const char *text_of(const struct line *line, enum text_id id)
{
    return line->texts && line->texts[id] ? line->texts[id] : "";
}

/* Does one part of a filter hold? "user:www": the text contains it; "cpu>5", "mem>200M", "pid>1":
 * the number is larger; anything else is in the name or the command line. */
static bool holds(const struct line *line, const char *part)
{
    static const struct {
        const char *word;
        enum column_id column;
    } numbers[] = {
        {"cpu>",   CPU    },
        {"mem>",   MEMORY },
        {"read>",  READ   },
        {"write>", WRITTEN},
        {"pid>",   PID    }
    };
    char name[256], *unit;
    for (size_t i = 0; i < TEXTS; i++) {
        size_t length = strlen(texts[i].word);
        if (!strncasecmp(part, texts[i].word, length) && part[length] == ':')
            return text_contains(text_of(line, i), part + length + 1);
    }
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        size_t length = strlen(numbers[i].word);
        if (strncasecmp(part, numbers[i].word, length) != 0)
            continue;
        double least = strtod(part + length, &unit);
        for (const char *at = "KMGT"; *unit && *at; at++) {
            least *= 1024;
            if (toupper((unsigned char)*unit) == *at)
                break;
        }
        return line->values[numbers[i].column] > least;
    }
    snprintf(name, sizeof name, "%.*s", (int)line->name_length, line->name);
    return text_contains(name, part) || text_contains(text_of(line, COMMAND), part);
}

static bool matches(const struct line *line, const char *filter)
{
    char copy[64], *rest;
    snprintf(copy, sizeof copy, "%s", filter);
    for (char *part = strtok_r(copy, " ", &rest); part; part = strtok_r(NULL, " ", &rest))
        if (!holds(line, part))
            return false;
    return true;
}

/* _Total is no process, and Idle is what is left over. */
static bool listed(const struct processes *processes, const struct line *line)
{
    bool kernel = line->values[PID] == 2 || line->values[PARENT] == 2;
    return line->values[PID] > 0 && (processes->kernel || !kernel) &&
           matches(line, processes->filter.text);
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

/* Both tables have the processes in the order of their numbers, but were not read at the same
 * moment. */
static const char *const *find_texts(const struct table *table, const char *name, size_t *at)
{
    for (size_t i = 0; table && i < table->row_count; i++) {
        size_t row = (*at + i) % table->row_count;
        if (!strcmp(table->rows[row].name, name)) {
            *at = row + 1;
            return &table->texts[row * TEXTS];
        }
    }
    return NULL;
}

/* Process has bytes only if this user may know those of all processes; Process IO has those that
 * are known. Both are in the order of numbers. */
static void read_bytes(const struct table *io, struct line *line, size_t *at)
{
    for (size_t i = 0; io && i < io->row_count; i++) {
        size_t row = (*at + i) % io->row_count;
        if (table_cell(io, row, 0)->number == line->values[PID]) {
            line->values[READ] = table_cell(io, row, 1)->number;
            line->values[WRITTEN] = table_cell(io, row, 2)->number;
            *at = row + 1;
            return;
        }
    }
}

static void read_lines(struct processes *processes, const struct table *table)
{
    const struct table *details = model_table(processes->model, processes->texts);
    const struct table *io = model_table(processes->model, processes->io);
    size_t at = 0, io_at = 0;
    processes->line_count = 0;
    if (!reserve(processes, table->row_count))
        return;
    for (size_t r = 0; r < table->row_count; r++) {
        const struct row *row = &table->rows[r];
        const char *number = strrchr(row->name, ':');
        struct line *line = &processes->lines[processes->line_count];
        *line =
            (struct line){.name = row->name,
                          .name_length = number ? (size_t)(number - row->name) : strlen(row->name),
                          .identity = row->identity,
                          .members = 1};
        line->texts = find_texts(details, row->name, &at);
        for (size_t c = 0; c < COLUMNS_ALL; c++)
            line->values[c] = table_cell(table, r, c)->number;
        if (isnan(line->values[WRITTEN]))
            read_bytes(io, line, &io_at);
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

static void name_group(struct line *line, enum grouping grouping)
{
    static const enum text_id ids[GROUPINGS] = {
        [BY_USER] = USER, [BY_UNIT] = UNIT, [BY_GROUP] = GROUP};
    if (grouping == BY_PROGRAM)
        return;
    const char *text = text_of(line, ids[grouping]);
    line->name = *text ? text : line->texts ? "(none)" : "(not known)";
    line->name_length = strlen(line->name);
}

/* The processes of a program, a user and so on become one line. A value that no member has stays
 * unknown. */
static void group_lines(struct processes *processes)
{
    size_t used = 0;
    for (size_t i = 0; i < processes->line_count; i++)
        name_group(&processes->lines[i], processes->grouping);
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

/* If Process has no bytes for this user, they come from Process IO. */
static void add_io(struct processes *processes, const struct table *table)
{
    static const char *const paths[] = {"\\Process IO(*)\\ID Process",
                                        "\\Process IO(*)\\IO Disk Read Bytes/sec",
                                        "\\Process IO(*)\\IO Disk Write Bytes/sec"};
    bool any = processes->io != 0 || table->tick < 2;
    for (size_t r = 0; r < table->row_count && !any; r++)
        any = !isnan(table_cell(table, r, WRITTEN)->number);
    if (!any)
        processes->io = model_add_table(processes->model, processes->source, paths, 3, false);
}

static void make_lines(struct processes *processes)
{
    const struct table *table = model_table(processes->model, processes->table);
    processes->line_count = 0;
    if (!table || !table->tick)
        return;
    add_io(processes, table);
    read_lines(processes, table);
    if (!processes->line_count)
        return;
    if (processes->grouping)
        group_lines(processes);
    sorting = processes;
    qsort(processes->lines, processes->line_count, sizeof *processes->lines, compare_lines);
    find_selected(processes);
}

/* ---- drawing ---- */

/* Where each column stands; 0: it is not shown. */
struct layout {
    int name, number[COLUMNS_ALL], text[TEXTS], command; /* `command`: width of the last column */
};

static struct layout make_layout(const struct processes *processes, int all)
{
    bool grouped = processes->grouping != BY_PROCESS;
    struct layout layout = {.name = grouped ? all / 3 : NAME_LEAST};
    int at = layout.name;
    for (size_t c = 0; c < COLUMNS_ALL; c++) {
        if (all < columns[c].least_columns || (grouped && !columns[c].sum) ||
            at + columns[c].width > all)
            continue;
        layout.number[c] = at;
        at += columns[c].width;
    }
    for (size_t i = 0; i < TEXTS && !grouped; i++) {
        int width = i == COMMAND ? all - at - 1 : texts[i].width;
        if (all < texts[i].least_columns || width < texts[i].width || at + 1 + width > all)
            continue;
        layout.text[i] = at + 1;
        at += 1 + width;
        layout.command = width;
    }
    return layout;
}

static void draw_head(const struct processes *processes, struct canvas *canvas, int row,
                      const struct layout *layout)
{
    char text[64];
    snprintf(text, sizeof text, "%s (%zu)", group_titles[processes->grouping],
             processes->line_count);
    canvas_text(canvas, row, 0, layout->name, STYLE_TITLE, text);
    for (size_t c = 0; c < COLUMNS_ALL; c++) {
        bool sorted = c == processes->sort;
        const char *mark = !sorted ? "" : processes->ascending ? "<" : ">";
        snprintf(text, sizeof text, "%s%s", columns[c].title, mark);
        if (layout->number[c])
            canvas_right(canvas, row, layout->number[c], columns[c].width,
                         sorted ? STYLE_TITLE : STYLE_WEAK, text);
    }
    for (size_t i = 0; i < TEXTS; i++)
        if (layout->text[i])
            canvas_text(canvas, row, layout->text[i], texts[i].width, STYLE_WEAK, texts[i].title);
}

static void draw_line(const struct processes *processes, struct canvas *canvas, int row,
                      const struct layout *layout, const struct line *line)
{
    char text[256];
    int length = (int)line->name_length;
    if (processes->grouping && line->members > 1)
        snprintf(text, sizeof text, "%.*s (%u)", length, line->name, line->members);
    else
        snprintf(text, sizeof text, "%.*s", length, line->name);
    canvas_text(canvas, row, 0, layout->name - 1, STYLE_PLAIN, text);
    for (size_t c = 0; c < COLUMNS_ALL; c++) {
        if (!layout->number[c])
            continue;
        columns[c].text(line->values[c], text);
        canvas_right(canvas, row, layout->number[c], columns[c].width,
                     c == CPU && line->values[c] >= 50 ? STYLE_WARN : STYLE_PLAIN, text);
    }
    for (size_t i = 0; i < TEXTS; i++)
        if (layout->text[i])
            canvas_text(canvas, row, layout->text[i],
                        i == COMMAND ? layout->command : texts[i].width, STYLE_WEAK,
                        text_of(line, i));
}

void processes_draw(struct processes *processes, struct canvas *canvas, int row, int last,
                    bool active)
{
    if (row + 2 > last)
        return;
    struct layout layout = make_layout(processes, canvas->columns);
    for (size_t c = 0; c < COLUMNS_ALL; c++)
        processes->shown[c] = layout.number[c] != 0;
    make_lines(processes);
    draw_head(processes, canvas, row++, &layout);
    cursor_fit(&processes->cursor, processes->line_count, (size_t)(last - row));
    processes->cursor.row = row;
    for (size_t i = active ? processes->cursor.first : 0; i < processes->line_count && row < last;
         i++, row++) {
        draw_line(processes, canvas, row, &layout, &processes->lines[i]);
        if (active && i == processes->cursor.at)
            canvas_style(canvas, row, 0, canvas->columns, STYLE_SELECTED);
    }
}

/* ---- keys ---- */

const struct field *processes_filter(const struct processes *processes)
{
    return &processes->filter;
}

static void sort_by(struct processes *processes, enum column_id column)
{
    processes->sort = column;
    processes->ascending = false;
}

/* The next column that is shown, in this direction. */
static void sort_next(struct processes *processes, int step)
{
    int column = (int)processes->sort;
    for (int i = 0; i < COLUMNS_ALL; i++) {
        column = (column + step + COLUMNS_ALL) % COLUMNS_ALL;
        if (processes->shown[column])
            break;
    }
    sort_by(processes, (enum column_id)column);
}

static bool sort_key(struct processes *processes, int key)
{
    switch (key) {
    case KEY_LEFT:
    case KEY_RIGHT:
        sort_next(processes, key == KEY_LEFT ? -1 : 1);
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

/* ---- signals ---- */

/* When it was started, in ticks after the boot; NaN: there is no such process. */
static double born_of(pid_t pid)
{
    char path[64], text[1024];
    unsigned long long start;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[length] = 0;
    const char *after = strrchr(text, ')'); /* the name may contain blanks and parentheses */
    if (!after || sscanf(after + 2,
                         "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d "
                         "%*d %*d %*d %llu",
                         &start) != 1)
        return NAN;
    return (double)start;
}

/* Is the process with this number the one of the sample? Its age has grown since by what passed. */
static bool same_process(const struct processes *processes, const struct line *line, double born)
{
    struct model_source source;
    struct timespec up, now;
    model_source(processes->model, processes->source, &source);
    clock_gettime(CLOCK_BOOTTIME, &up);
    clock_gettime(CLOCK_REALTIME, &now);
    double passed =
        (double)now.tv_sec + (double)now.tv_nsec / 1e9 + 11644473600.0 - (double)source.time / 1e7;
    double age = (double)up.tv_sec + (double)up.tv_nsec / 1e9 - born / (double)sysconf(_SC_CLK_TCK);
    return fabs(age - passed - line->values[ELAPSED]) < 1.5;
}

static void choose_signal(struct processes *processes, struct window *window)
{
    char age[TEXT_SIZE];
    if (!processes->here || processes->grouping || processes->cursor.at >= processes->line_count) {
        snprintf(window->message, sizeof window->message,
                 "signals can be sent to single processes of this machine only");
        return;
    }
    const struct line *line = &processes->lines[processes->cursor.at];
    processes->target.pid = (pid_t)line->values[PID];
    processes->target.born = born_of(processes->target.pid);
    if (!same_process(processes, line, processes->target.born)) {
        processes->target.pid = 0;
        snprintf(window->message, sizeof window->message, "this process has ended");
        return;
    }
    snprintf(processes->target.name, sizeof processes->target.name, "%.*s", (int)line->name_length,
             line->name);
    text_duration(line->values[ELAPSED], age);
    snprintf(window->message, sizeof window->message,
             "%s, number %d, %s old: t ends it, K kills it, s stops it, c continues it",
             processes->target.name, (int)processes->target.pid, age);
}

/* The number may belong to another process by now: the descriptor keeps the process that is
 * compared, and only that one gets the signal. */
static void send_signal(struct processes *processes, int number, struct window *window)
{
    int fd = (int)syscall(SYS_pidfd_open, processes->target.pid, 0);
    int error = fd < 0 ? errno : 0;
    if (!error && born_of(processes->target.pid) != processes->target.born)
        error = ESRCH;
    if (!error && syscall(SYS_pidfd_send_signal, fd, number, NULL, 0) != 0)
        error = errno;
    if (fd >= 0)
        close(fd);
    snprintf(window->message, sizeof window->message,
             error ? "%s, number %d, got no signal: %s" : "%s, number %d, got SIG%s",
             processes->target.name, (int)processes->target.pid,
             error ? strerror(error) : sigabbrev_np(number));
}

/* Answers the question; false: none was asked. */
static bool signal_key(struct processes *processes, int key, struct window *window)
{
    int number = key == 't'   ? SIGTERM
                 : key == 'K' ? SIGKILL
                 : key == 's' ? SIGSTOP
                 : key == 'c' ? SIGCONT
                              : 0;
    if (!processes->target.pid)
        return false;
    if (number)
        send_signal(processes, number, window);
    processes->target.pid = 0;
    return true;
}

bool processes_key(struct processes *processes, int key, struct window *window)
{
    if (signal_key(processes, key, window))
        return true;
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
        processes->grouping = (processes->grouping + 1) % GROUPINGS;
        return true;
    case 'x':
    case KEY_F(9):
        choose_signal(processes, window);
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
