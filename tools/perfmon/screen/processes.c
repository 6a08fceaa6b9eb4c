/* SPDX-License-Identifier: MIT */
/* The list of processes, sorted and filtered; or of programs, users, units or control groups, each
 * the sum of its processes. */
#include "screen.h"

#include "keys.h"

#include "../../model/group.h"
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

enum { ESCAPE = 27, NAME_LEAST = 16 };

/* clang-format off */
static const struct {
    const char *counter, *title;
    int width, least_columns; /* shown from this width of the terminal on */
    void (*text)(double, char[TEXT_SIZE]);
    bool group; /* shown of groups, too */
} columns[LINE_VALUES] = {
    [PID]     = {"ID Process",                "PID",     8,  0,   text_whole,    false},
    [CPU]     = {"% Processor Time",          "CPU %",   7,  0,   text_percent,  true},
    [TIME]    = {NULL,                        "TIME",    11, 100, text_duration, true},
    [MEMORY]  = {"Working Set",               "MEMORY",  9,  0,   text_bytes,    true},
    [READ]    = {"IO Disk Read Bytes/sec",    "READ/s",  10, 60,  text_bytes,    true},
    [WRITTEN] = {"IO Disk Write Bytes/sec",   "WRITE/s", 10, 60,  text_bytes,    true},
    [THREADS] = {"Thread Count",              "THREADS", 8,  110, text_whole,    true},
    [ELAPSED] = {"Elapsed Time",              "AGE",     11, 120, text_duration, false},
    [PARENT]  = {"Creating Process ID",       "PARENT",  8,  140, text_whole,    false},
    /* of control groups, in the order of group_add_limits */
    [MEMORY_LIMIT]       = {NULL, "MEM MAX",  9, 0, text_bytes,   true},
    [PROCESSOR_LIMIT]    = {NULL, "CPU MAX",  8, 0, text_percent, true},
    [THROTTLED]          = {NULL, "THROTTLE", 9, 0, text_percent, true},
    [PROCESSOR_PRESSURE] = {NULL, "CPU WAIT", 9, 0, text_percent, true},
    [MEMORY_PRESSURE]    = {NULL, "MEM WAIT", 9, 0, text_percent, true},
    [DISK_PRESSURE]      = {NULL, "IO WAIT",  8, 0, text_percent, true},
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

struct processes {
    struct model *model;
    size_t source;
    unsigned table, texts, io, processors, limits;
    struct ended *ended;
    uint64_t ended_tick; /* the sample that `ended` has taken */
    struct line *lines;  /* of the newest sample, as they are shown */
    size_t line_count, line_capacity;
    enum line_value sort;
    enum grouping grouping;
    bool ascending, kernel;
    struct field filter;
    uint64_t selected; /* identity of the selected line */
    struct cursor cursor;
    bool shown[LINE_VALUES], any[LINE_VALUES]; /* columns that fitted last, and have a value */
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
    static const char *const busy[] = {"\\Processor(*)\\% User Time",
                                       "\\Processor(*)\\% Privileged Time"};
    char built[PROCESS_VALUES][64];
    const char *paths[PROCESS_VALUES];
    struct processes *processes = calloc(1, sizeof *processes);
    if (!processes || !(processes->ended = ended_new())) {
        free(processes);
        return NULL;
    }
    for (size_t i = 0; i < PROCESS_VALUES; i++) {
        bool raw = i == TIME;
        snprintf(built[i], sizeof built[i], "%s\\Process V2(*)\\%s", raw ? MODEL_RAW : "",
                 columns[raw ? CPU : i].counter);
        paths[i] = built[i];
    }
    processes->model = model;
    struct model_source of;
    model_source(model, source, &of);
    processes->source = source;
    processes->here = !of.capture && !*of.name;
    processes->kernel = true;
    processes->sort = CPU;
    processes->table = model_add_table(model, source, paths, PROCESS_VALUES, false);
    processes->processors = model_add_table(model, source, busy, 2, false);
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
    model_remove_table(processes->model, processes->processors);
    model_remove_table(processes->model, processes->limits);
    ended_free(processes->ended);
    free(processes->lines);
    free(processes);
}

/* ---- what is listed ---- */

static const char *text_of(const struct line *line, enum line_text id)
{
    return line->texts && line->texts[id] ? line->texts[id] : "";
}

/* Does one part of a filter hold? "user:www": the text contains it; "cpu>5", "mem>200M", "pid>1":
 * the number is larger; anything else is in the name or the command line. */
static bool holds(const struct line *line, const char *part)
{
    static const struct {
        const char *word;
        enum line_value column;
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

static bool listed(const struct processes *processes, const struct line *line)
{
    bool kernel = line->values[PID] == 2 || line->values[PARENT] == 2;
    return (processes->kernel || !kernel) && matches(line, processes->filter.text);
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
        for (size_t c = 0; c < LINE_VALUES; c++)
            line->values[c] = c < PROCESS_VALUES ? table_cell(table, r, c)->number : NAN;
        line->values[TIME] /= 1e7;
        if (isnan(line->values[WRITTEN]))
            read_bytes(io, line, &io_at);
        processes->line_count += line->values[PID] > 0; /* not _Total and Idle */
    }
}

/* ---- groups, and what no process explains ---- */

/* Takes a new sample's processes; all draws of it show the same. */
static void take_ended(struct processes *processes, const struct table *table)
{
    const struct table *of = model_table(processes->model, processes->processors);
    unsigned count = 0;
    double busy = 0;
    if (processes->ended_tick == table->tick)
        return;
    processes->ended_tick = table->tick;
    for (size_t r = 0; of && of->tick == table->tick && r < of->row_count; r++) {
        double used = table_cell(of, r, 0)->number + table_cell(of, r, 1)->number;
        if (isnan(used) || !strcmp(of->rows[r].name, "_Total"))
            continue;
        busy += used;
        count++;
    }
    int64_t now = model_time(processes->model, processes->source, table->tick);
    int64_t before = model_time(processes->model, processes->source, table->tick - 1);
    ended_take(processes->ended, processes->lines, processes->line_count,
               before ? (double)(now - before) / 1e7 : NAN, count ? busy : NAN, count);
}

/* With a filter, the line of what no process explains is no answer. */
static void choose_lines(struct processes *processes)
{
    size_t used = 0;
    bool more = false;
    struct line rest;
    for (size_t i = 0; i < processes->line_count; i++) {
        ended_rate(processes->ended, &processes->lines[i]);
        if (listed(processes, &processes->lines[i]))
            processes->lines[used++] = processes->lines[i];
    }
    if (processes->grouping)
        used = group_lines(processes->lines, used, processes->grouping);
    if (!*processes->filter.text)
        more = ended_line(processes->ended, processes->lines, used, processes->grouping, &rest);
    if (processes->limits)
        group_limits(processes->lines, used, processes->grouping,
                     model_table(processes->model, processes->limits));
    if (more && reserve(processes, used + 1))
        processes->lines[used++] = rest;
    processes->line_count = used;
    for (size_t c = 0; c < LINE_VALUES; c++) {
        processes->any[c] = false;
        for (size_t i = 0; i < used; i++)
            processes->any[c] |= !isnan(processes->lines[i].values[c]);
    }
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
    return order ? order : group_compare_names(l, r);
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
    take_ended(processes, table);
    choose_lines(processes);
    if (!processes->line_count)
        return;
    sorting = processes;
    qsort(processes->lines, processes->line_count, sizeof *processes->lines, compare_lines);
    find_selected(processes);
}

/* ---- drawing ---- */

/* Where each column stands; 0: it is not shown. */
struct layout {
    int name, number[LINE_VALUES], text[TEXTS], command; /* `command`: width of the last column */
};

static struct layout make_layout(const struct processes *processes, int all)
{
    bool grouped = processes->grouping != BY_PROCESS;
    struct layout layout = {.name = grouped ? all / 3 : NAME_LEAST};
    int at = layout.name;
    for (size_t c = 0; c < LINE_VALUES; c++) {
        if (all < columns[c].least_columns || (grouped && !columns[c].group) ||
            (c >= MEMORY_LIMIT && !processes->any[c]) || at + columns[c].width > all)
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
    size_t count = processes->line_count;
    for (size_t i = 0; i < processes->line_count; i++)
        count -= processes->lines[i].members == 0;
    snprintf(text, sizeof text, "%s (%zu)", group_titles[processes->grouping], count);
    canvas_text(canvas, row, 0, layout->name, STYLE_TITLE, text);
    for (size_t c = 0; c < LINE_VALUES; c++) {
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

/* A long path loses its first parts: the last one is what distinguishes it. */
static const char *path_end(const char *path, int width)
{
    const char *end = path;
    while (*end == '/' && (int)strlen(end) > width && strchr(end + 1, '/'))
        end = strchr(end + 1, '/');
    return end;
}

static void draw_line(const struct processes *processes, struct canvas *canvas, int row,
                      const struct layout *layout, const struct line *line)
{
    char text[256];
    const char *name = line->name;
    if (processes->grouping == BY_GROUP)
        name = path_end(name, layout->name - 2);
    int length = (int)(line->name + line->name_length - name);
    if (processes->grouping && line->members > 1)
        snprintf(text, sizeof text, "%.*s (%u)", length, name, line->members);
    else
        snprintf(text, sizeof text, "%.*s", length, name);
    canvas_text(canvas, row, 0, layout->name - 1, STYLE_PLAIN, text);
    for (size_t c = 0; c < LINE_VALUES; c++) {
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
    make_lines(processes);
    struct layout layout = make_layout(processes, canvas->columns);
    for (size_t c = 0; c < LINE_VALUES; c++)
        processes->shown[c] = layout.number[c] != 0;
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

static void sort_by(struct processes *processes, enum line_value column)
{
    processes->sort = column;
    processes->ascending = false;
}

/* The next column that is shown, in this direction. */
static void sort_next(struct processes *processes, int step)
{
    int column = (int)processes->sort;
    for (int i = 0; i < LINE_VALUES; i++) {
        column = (column + step + LINE_VALUES) % LINE_VALUES;
        if (processes->shown[column])
            break;
    }
    sort_by(processes, (enum line_value)column);
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
    if (!processes->here || processes->grouping || processes->cursor.at >= processes->line_count ||
        !processes->lines[processes->cursor.at].members) {
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

/* They cost much, and only two groupings have them. */
static void watch_limits(struct processes *processes)
{
    bool wanted = processes->grouping >= BY_UNIT;
    if (wanted && !processes->limits)
        processes->limits = group_add_limits(processes->model, processes->source);
    if (wanted)
        return;
    model_remove_table(processes->model, processes->limits);
    processes->limits = 0;
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
        watch_limits(processes);
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
