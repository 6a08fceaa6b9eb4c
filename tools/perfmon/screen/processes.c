/* SPDX-License-Identifier: MIT */
/* The list of processes, sorted and filtered; or a list of programs, users, units or control
 * groups, each with the sums of its processes. */
#include "processes.h"

#include "keys.h"

#include "../../view/view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* clang-format off */
static const struct {
    const char *title;
    /* least_columns: the column is shown if the terminal has at least this width */
    int width, least_columns;
    void (*text)(double, char[TEXT_SIZE]);
    bool group; /* the column is shown for groups, too */
} columns[LINE_VALUES] = {
    [PID]     = {"PID",     8,  0,   text_whole,    false},
    [CPU]     = {"CPU %",   7,  0,   text_percent,  true},
    [TIME]    = {"TIME",    11, 100, text_duration, true},
    [MEMORY]  = {"MEMORY",  9,  0,   text_bytes,    true},
    [READ]    = {"READ/s",  9,  60,  text_bytes,    true},
    [WRITTEN] = {"WRITE/s", 9,  60,  text_bytes,    true},
    [THREADS] = {"THREADS", 8,  110, text_whole,    true},
    [ELAPSED] = {"AGE",     11, 120, text_duration, false},
    [PARENT]  = {"PARENT",  8,  140, text_whole,    false},
    /* columns of control groups, in the order of group_add_limits */
    [MEMORY_LIMIT]       = {"MEM MAX",  9, 0, text_bytes,   true},
    [PROCESSOR_LIMIT]    = {"CPU MAX",  8, 0, text_percent, true},
    [THROTTLED]          = {"THROTTLE", 9, 0, text_percent, true},
    [PROCESSOR_PRESSURE] = {"CPU WAIT", 9, 0, text_percent, true},
    [MEMORY_PRESSURE]    = {"MEM WAIT", 9, 0, text_percent, true},
    [DISK_PRESSURE]      = {"IO WAIT",  8, 0, text_percent, true},
};
static const struct {
    const char *title;
    int width, least_columns;
} texts[TEXTS] = {
    [USER]    = {"USER",    10, 70},
    [STATE]   = {"STATE",   16, 150},
    [UNIT]    = {"UNIT",    24, 170},
    [GROUP]   = {"GROUP",   0,  1000},
    [COMMAND] = {"COMMAND", 12, 0},
};
static const char *const group_titles[GROUPINGS] = {"PROCESS", "PROGRAM", "USER", "UNIT",
                                                   "CONTAINER", "CONTROL GROUP"};
/* clang-format on */

/* The column of users is narrower on narrow screens, so that at 80 columns command lines fit. */
enum { NARROW = 100, USER_NARROW = 8, PROGRAM_ONLY = 40, ALL_COLUMNS = 120, GROUP_LEAST = 24 };

static int text_width_of(size_t text, int all)
{
    return text == USER && all < NARROW ? USER_NARROW : texts[text].width;
}

struct processes *processes_new(struct model *model, size_t source, const struct overview *overview)
{
    struct processes *processes = calloc(1, sizeof *processes);
    struct model_source of;
    if (!processes || !process_list_begin(&processes->list, model, source)) {
        free(processes);
        return NULL;
    }
    model_source(model, source, &of);
    processes->overview = overview;
    processes->here = !of.capture && !*of.name;
    processes->kernel = true;
    processes->sort = CPU;
    processes->other.sort = PID;
    processes->other.ascending = true;
    return processes;
}

void processes_free(struct processes *processes)
{
    details_close(processes);
    process_list_end(&processes->list);
    free(processes->folded.of);
    free(processes->marked.of);
    free(processes->actions.targets);
    free(processes);
}

void processes_rest(struct processes *processes, bool rest)
{
    process_list_rest(&processes->list, rest);
}

bool processes_ready(struct processes *processes)
{
    return process_list_ready(&processes->list);
}

/* ---- what is listed ---- */

const char *text_of(const struct line *line, enum line_text id)
{
    return line->texts && line->texts[id] ? line->texts[id] : "";
}

/* True if process 2 is kthreadd, whose children are the kernel threads. In a container, process 2
 * may be any process. */
static bool has_kthreadd(const struct processes *processes)
{
    static const char name[] = "kthreadd";
    for (size_t i = 0; i < processes->list.line_count; i++)
        if (processes->list.lines[i].values[PID] == 2)
            return !strncmp(processes->list.lines[i].name, name, strlen(name));
    return false;
}

/* True if the line is listed. For the tree the filter is applied later. */
static bool listed(const struct processes *processes, const struct line *line, bool kthreadd)
{
    bool kernel = kthreadd && (line->values[PID] == 2 || line->values[PARENT] == 2);
    bool tree = processes->tree && !processes->grouping;
    return (processes->kernel || !kernel) && (line->match || tree);
}

/* Drops the lines that are not listed, and adds the line for processor time that no process
 * explains, unless a filter is set. */
static void choose_lines(struct processes *processes)
{
    size_t used = 0;
    bool kthreadd = has_kthreadd(processes);
    filter_read(processes->filter.text, &processes->wanted);
    for (size_t i = 0; i < processes->list.line_count; i++) {
        struct line *line = &processes->list.lines[i];
        processes->units |= *text_of(line, UNIT) != 0;
        line->match = filter_matches(&processes->wanted, line);
        if (listed(processes, line, kthreadd))
            processes->list.lines[used++] = *line;
    }
    processes->list.line_count = used;
    process_list_group(&processes->list, processes->grouping, !processes->wanted.count);
    for (size_t c = 0; c < LINE_VALUES; c++) {
        processes->any[c] = false;
        for (size_t i = 0; i < processes->list.line_count; i++)
            processes->any[c] |= !isnan(line_value(&processes->list.lines[i], c));
    }
}

static const struct processes *sorting; /* for compare_lines, because qsort passes it no context */
static int compare_lines(const void *left, const void *right)
{
    const struct line *l = left, *r = right;
    double a = line_value(l, sorting->sort), b = line_value(r, sorting->sort);
    int order = isnan(a) ? !isnan(b) : isnan(b) ? -1 : (a < b) - (a > b);
    if (order && !isnan(a) && !isnan(b) && sorting->ascending)
        order = -order;
    if (!order)
        order = (l->values[MEMORY] < r->values[MEMORY]) - (l->values[MEMORY] > r->values[MEMORY]);
    return order ? order : group_compare_names(l, r);
}

/* Moves the cursor to the selected process, whose position may have changed. */
static void find_selected(struct processes *processes)
{
    for (size_t i = 0; i < processes->list.line_count; i++)
        if (processes->list.lines[i].identity == processes->selected)
            processes->cursor.at = i;
}

/* Adds up what the processes read and write, before lines are dropped or grouped. */
static void sum_bytes(struct processes *processes)
{
    processes->disk_bytes[0] = processes->disk_bytes[1] = 0;
    for (size_t i = 0; i < processes->list.line_count; i++)
        for (size_t k = 0; k < 2; k++) {
            double bytes = processes->list.lines[i].values[READ + k];
            processes->disk_bytes[k] += isnan(bytes) ? 0 : bytes;
        }
}

static void make_lines(struct processes *processes)
{
    process_list_want_children(&processes->list,
                               processes->sort == READ || processes->sort == WRITTEN);
    process_list_read(&processes->list);
    sum_bytes(processes);
    if (!processes->list.line_count)
        return;
    choose_lines(processes);
    if (!processes->list.line_count)
        return;
    sorting = processes;
    qsort(processes->list.lines, processes->list.line_count, sizeof *processes->list.lines,
          compare_lines);
    if (processes->tree && !processes->grouping)
        tree_lines(processes);
    find_selected(processes);
}

/* ---- drawing ---- */

/* The position of each column on the screen; 0: the column is not shown. */
struct layout {
    int name, number[LINE_VALUES], text[TEXTS], command; /* `command`: width of the last column */
};

/* True if the column is shown on a screen with `all` columns. Where not all fit, a limit of
 * processor time and what it does come before bytes read and written, unless the list is sorted by
 * these; on a narrow screen they are then shown instead of the memory. */
static bool is_shown(const struct processes *processes, enum line_value column, int all)
{
    bool sorted = processes->sort == READ || processes->sort == WRITTEN;
    if (sorted && all < columns[READ].least_columns &&
        (column == processes->sort || column == MEMORY))
        return column == processes->sort;
    if (column == READ || column == WRITTEN)
        return all >= columns[column].least_columns &&
               (sorted || all >= ALL_COLUMNS || !processes->any[PROCESSOR_LIMIT]);
    return all >= columns[column].least_columns &&
           (column < MEMORY_LIMIT || processes->any[column]);
}

/* Places the columns of numbers from column `at` on; returns the column after the last one. */
static int place_numbers(const struct processes *processes, int all, int at, struct layout *ret)
{
    bool grouped = processes->grouping != BY_PROCESS;
    for (size_t c = 0; c < LINE_VALUES; c++) {
        if (!is_shown(processes, (enum line_value)c, all) || (grouped && !columns[c].group) ||
            at + columns[c].width > all)
            continue;
        ret->number[c] = at;
        at += columns[c].width;
    }
    return at;
}

/* Returns the width of groups' names: a third of the screen, or less if the last columns of numbers
 * would not fit. */
static int group_width(const struct processes *processes, int all)
{
    int rest = all;
    for (size_t c = 0; c < LINE_VALUES; c++)
        if (columns[c].group && is_shown(processes, (enum line_value)c, all) &&
            rest - columns[c].width >= GROUP_LEAST)
            rest -= columns[c].width;
    return rest < all / 3 ? rest : all / 3;
}

static struct layout make_layout(const struct processes *processes, int all)
{
    bool grouped = processes->grouping != BY_PROCESS;
    struct layout layout = {.name = grouped ? group_width(processes, all) : NAME_LEAST};
    if (processes->tree && !grouped)
        layout.name = all < 80 ? TREE_LEAST : all < 130 ? all * 3 / 10 : TREE_MOST;
    int at = place_numbers(processes, all, layout.name, &layout);
    for (size_t i = 0; i < TEXTS && !grouped; i++) {
        int width = i == COMMAND ? all - at - 1 : text_width_of(i, all);
        if (all < texts[i].least_columns || (i == UNIT && !processes->units) ||
            width < text_width_of(i, all) || at + 1 + width > all)
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
    size_t count = processes->list.line_count;
    for (size_t i = 0; i < processes->list.line_count; i++)
        count -= processes->list.lines[i].members == 0;
    int used =
        snprintf(text, sizeof text, "%s (%zu)", local(group_titles[processes->grouping]), count);
    if (processes->marked.count && !processes->grouping)
        snprintf(text + used, sizeof text - (size_t)used, " *%zu", processes->marked.count);
    canvas_text(canvas, row, 0, layout->name, STYLE_TITLE, text);
    for (size_t c = 0; c < LINE_VALUES; c++) {
        bool sorted = c == processes->sort;
        const char *mark = !sorted ? "" : processes->ascending ? "<" : ">";
        snprintf(text, sizeof text, "%s%s", local(columns[c].title), mark);
        if (layout->number[c])
            canvas_right(canvas, row, layout->number[c], columns[c].width,
                         sorted ? STYLE_TITLE : STYLE_WEAK, text);
    }
    for (size_t i = 0; i < TEXTS; i++)
        if (layout->text[i])
            canvas_text(canvas, row, layout->text[i], texts[i].width, STYLE_WEAK,
                        local(texts[i].title));
}

/* Writes a path; of one that is too long the end, because the last part distinguishes paths. */
static void path_text(const char *path, int width, const char *ellipsis, char *ret, size_t capacity)
{
    const char *end = path;
    if ((int)strlen(path) > width)
        while (*end == '/' && (int)strlen(end) + text_width(ellipsis) > width &&
               strchr(end + 1, '/'))
            end = strchr(end + 1, '/');
    snprintf(ret, capacity, "%s%s", end == path ? "" : ellipsis, end);
}

/* Returns a text of the line. If it is too wide, a command line is shown without its program's
 * folder. */
static const char *text_in(const struct line *line, size_t id, int width)
{
    const char *text = text_of(line, id), *end = text + strcspn(text, " ");
    const char *last = memrchr(text, '/', (size_t)(end - text));
    return id == COMMAND && width < PROGRAM_ONLY && *text != '[' && last ? last + 1 : text;
}

/* Writes the container's name without systemd's escapes, such as \\x2d for '-'; for processes
 * outside of containers, the host's name. */
static void container_text(const struct processes *processes, const struct line *line, char *ret,
                           size_t capacity)
{
    struct model_source source;
    char host[256] = "";
    unsigned character;
    size_t used = 0;
    if (line->name == group_host) {
        model_source(processes->list.model, processes->list.source, &source);
        if (!*source.name)
            gethostname(host, sizeof host - 1);
        snprintf(ret, capacity, local("(host %s)"), *source.name ? source.name : host);
        return;
    }
    for (size_t i = 0; i < line->name_length && used + 1 < capacity; i++) {
        bool escaped = sscanf(line->name + i, "\\x%2x", &character) == 1;
        ret[used++] = escaped ? (char)character : line->name[i];
        i += escaped ? strlen("x2d") : 0;
    }
    ret[used] = 0;
}

/* Writes the line's name; of a control group that is too long, its end. */
static void name_text(const struct processes *processes, const struct line *line, int width,
                      const char *ellipsis, char *ret, size_t capacity)
{
    /* "(none)" and so on have translations; a user or a unit may have a name that is a text, too */
    const char *name = *line->name == '(' ? local(line->name) : line->name;
    int length = (int)line->name_length;
    if (processes->grouping == BY_CONTAINER && line->members)
        container_text(processes, line, ret, capacity);
    else if (name != line->name)
        snprintf(ret, capacity, "%s", name);
    else if (processes->grouping == BY_GROUP)
        path_text(name, width, ellipsis, ret, capacity);
    else
        snprintf(ret, capacity, "%.*s", length, name);
}

static void draw_line(const struct processes *processes, struct canvas *canvas, int row,
                      const struct layout *layout, const struct line *line)
{
    char text[TEXT_SIZE] = "", prefix[256], name[PDH_MAX_INSTANCE_NAME];
    const char *mark = identities_have(&processes->marked, line->identity) ? "*" : "";
    name_text(processes, line, layout->name - 2, canvas->utf8 ? "\u2026" : "..", name, sizeof name);
    branch_prefix(line->depth, line->bars, canvas->utf8, layout->name, prefix, sizeof prefix);
    if (processes->grouping && line->members > 1)
        snprintf(text, sizeof text, " (%u)", line->members);
    else if (line->hidden)
        snprintf(text, sizeof text, " (+%u)", line->hidden);
    canvas_print(canvas, row, 0, layout->name - 1, STYLE_PLAIN, "%s%s%s%s", prefix, mark, name,
                 text);
    for (size_t c = 0; c < LINE_VALUES; c++) {
        if (!layout->number[c])
            continue;
        columns[c].text(line_value(line, c), text);
        canvas_right(canvas, row, layout->number[c], columns[c].width,
                     c == CPU && line->values[CPU] >= 50 ? STYLE_WARN : STYLE_PLAIN, text);
    }
    for (size_t i = 0; i < TEXTS; i++) {
        int width = i == COMMAND ? layout->command : text_width_of(i, canvas->columns);
        if (layout->text[i])
            canvas_text(canvas, row, layout->text[i], width, STYLE_WEAK, text_in(line, i, width));
    }
}

static const char lacks_all[] =
    "the capture has no counters of Process V2 or Process; 4 lists what it has, and \"perfmon FILE "
    "OBJECT\" prints an object's table";
static const char lacks_id[] =
    "the capture has processes, but not the counter ID Process, by which they are listed; 4 lists "
    "what it has, and \"perfmon FILE OBJECT\" prints an object's table";

/* Explains why a capture has no processes, or a machine that gives no samples. */
static void draw_none(const struct processes *processes, struct canvas *canvas, int row, int last)
{
    struct model_source source;
    const struct table *table = process_list_table(&processes->list);
    model_source(processes->list.model, processes->list.source, &source);
    if (source.state == MODEL_AWAY && !source.capture)
        canvas_text(canvas, row, 0, canvas->columns, STYLE_WEAK,
                    local("not known: there is no sample"));
    else if (source.state == MODEL_COMPLETE && !source.at && table && table->columns[PID].status)
        canvas_wrap(canvas, row, 0, canvas->columns, last - row, STYLE_WEAK,
                    local(table->row_count ? lacks_id : lacks_all));
}

/* clang-format off */
/* for bytes read and written, each with other users' processes and without */
static const char *const rests[2][2] = {
    {"disks read %s/s, these processes %s/s; the rest: ended processes, or other users'",
     "disks read %s/s, these processes %s/s; the rest: ended processes"},
    {"disks write %s/s, these processes %s/s; the rest: ended processes, other users', or bytes kept in memory before",
     "disks write %s/s, these processes %s/s; the rest: ended processes, or bytes kept in memory before"},
};
/* clang-format on */

/* In the list that is sorted by bytes read or written: reports if the disks read or write much more
 * than all processes. A third: disks that mirror each other write everything twice. Returns the row
 * after the text. */
static int draw_rest(const struct processes *processes, struct canvas *canvas, int row, int last)
{
    enum { LEAST = 1024 * 1024, MOST_LINES = 3 };
    size_t kind = processes->sort == WRITTEN; /* Process IO is read if other users' are not known */
    char text[512], all[TEXT_SIZE], known[TEXT_SIZE];
    double disks[2];
    overview_disk_bytes(processes->overview, &disks[0], &disks[1]);
    bool much = disks[kind] >= LEAST && processes->disk_bytes[kind] < disks[kind] / 3;
    if ((processes->sort != READ && processes->sort != WRITTEN) || !much)
        return row;
    text_bytes(disks[kind], all);
    text_bytes(processes->disk_bytes[kind], known);
    snprintf(text, sizeof text, local(rests[kind][!processes->list.io]), all, known);
    int lines = last - row < MOST_LINES ? last - row : MOST_LINES;
    /* what is below the canvas is only measured; without space for all, the reasons are left out */
    if (canvas_wrap(canvas, canvas->rows, 0, canvas->columns, lines + 1, STYLE_WEAK, text) > lines)
        text[strcspn(text, ";")] = 0;
    return row + canvas_wrap(canvas, row, 0, canvas->columns, lines, STYLE_WEAK, text);
}

/* Draws the lines from `row` on. Returns whether one of them lacks its texts. */
static bool draw_lines(const struct processes *processes, struct canvas *canvas, int row, int last,
                       const struct layout *layout, bool active)
{
    bool lack = false;
    for (size_t i = active ? processes->cursor.first : 0;
         i < processes->list.line_count && row < last; i++, row++) {
        draw_line(processes, canvas, row, layout, &processes->list.lines[i]);
        lack |= processes->list.lines[i].members && !processes->list.lines[i].texts;
        if (active && i == processes->cursor.at)
            canvas_style(canvas, row, 0, canvas->columns, STYLE_SELECTED);
    }
    return lack;
}

void processes_draw(struct processes *processes, struct canvas *canvas, int row, int last,
                    bool active)
{
    processes->alone = false;
    make_lines(processes); /* also if there is no place, because keys use the lines */
    if (row + 2 > last)
        return;
    struct layout layout = make_layout(processes, canvas->columns);
    for (size_t c = 0; c < LINE_VALUES; c++)
        processes->shown[c] = layout.number[c] != 0;
    if (active)
        row = draw_rest(processes, canvas, row, last - 2);
    draw_head(processes, canvas, row++, &layout);
    if (active && !processes->list.line_count)
        draw_none(processes, canvas, row, last);
    cursor_fit(&processes->cursor, processes->list.line_count, (size_t)(last - row));
    processes->cursor.row = row;
    bool lack = draw_lines(processes, canvas, row, last, &layout, active);
    /* the texts are wanted if the state is shown, if grouping or filter need texts, or if a visible
     * line lacks them */
    if (lack || layout.text[STATE] || processes->grouping || *processes->filter.text)
        model_want(processes->list.model, processes->list.texts);
}

void processes_view(struct processes *processes, struct canvas *canvas, int row, int last)
{
    processes->alone = processes->details != NULL;
    if (processes->alone)
        details_draw(processes, canvas, row, last);
    else
        processes_draw(processes, canvas, row, last, true);
}

/* ---- settings and keys ---- */

void processes_settings(const struct processes *processes, struct settings *ret)
{
    bool tree = processes->tree;
    ret->values[SET_TREE] = tree;
    ret->values[tree ? SET_TREE_SORT : SET_SORT] = processes->sort;
    ret->values[tree ? SET_TREE_ORDER : SET_ORDER] = processes->ascending;
    ret->values[tree ? SET_SORT : SET_TREE_SORT] = processes->other.sort;
    ret->values[tree ? SET_ORDER : SET_TREE_ORDER] = processes->other.ascending;
    ret->values[SET_GROUPS] = processes->grouping;
    ret->values[SET_KERNEL] = processes->kernel;
}

void processes_apply(struct processes *processes, const struct settings *settings)
{
    const double *values = settings->values;
    bool tree = values[SET_TREE] != 0;
    processes->tree = tree;
    processes->sort = (enum line_value)values[tree ? SET_TREE_SORT : SET_SORT];
    processes->ascending = values[tree ? SET_TREE_ORDER : SET_ORDER] != 0;
    processes->other.sort = (enum line_value)values[tree ? SET_SORT : SET_TREE_SORT];
    processes->other.ascending = values[tree ? SET_ORDER : SET_TREE_ORDER] != 0;
    processes->grouping = (enum grouping)values[SET_GROUPS];
    processes->kernel = values[SET_KERNEL] != 0;
    process_list_want_limits(&processes->list, processes->grouping >= BY_UNIT);
}

bool processes_detailed(const struct processes *processes)
{
    return processes->alone;
}

const char *processes_problem(const struct processes *processes)
{
    return processes->alone ? "" : processes->wanted.problem;
}

const struct field *processes_filter(const struct processes *processes)
{
    static const struct field none;
    return processes->alone ? &none : &processes->filter;
}

static void sort_by(struct processes *processes, enum line_value column)
{
    processes->sort = column;
    processes->ascending = false;
}

/* Sorts by the next visible column to the right (`step` is 1) or left (-1). */
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
    case KEY_F(6):
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
        processes->ascending = !processes->ascending;
        return true;
    default:
        return false;
    }
}

const struct line *line_selected(const struct processes *processes)
{
    if (processes->grouping || processes->cursor.at >= processes->list.line_count)
        return NULL;
    const struct line *line = &processes->list.lines[processes->cursor.at];
    return line->members ? line : NULL;
}

/* Switches between list and tree. The tree is sorted by a column of its own, because a tree sorted
 * by processor time would never stand still. */
static void toggle_tree(struct processes *processes)
{
    enum line_value sort = processes->sort;
    bool ascending = processes->ascending;
    if (processes->tree && processes->grouping) {
        processes->grouping = BY_PROCESS;
        return;
    }
    processes->grouping = BY_PROCESS;
    processes->tree = !processes->tree;
    processes->sort = processes->other.sort;
    processes->ascending = processes->other.ascending;
    processes->other.sort = sort;
    processes->other.ascending = ascending;
}

/* Makes the selection follow the process in the selected row, or after Home stay in the top row. */
static void follow(struct processes *processes, int key)
{
    bool any = key != KEY_HOME && processes->cursor.at < processes->list.line_count;
    processes->selected = any ? processes->list.lines[processes->cursor.at].identity : 0;
}

static void open_selected(struct processes *processes, struct window *window)
{
    const struct line *line = line_selected(processes);
    if (line) {
        details_open(processes, line);
        window->view = VIEW_PROCESSES;
    } else {
        window_report(window,
                      processes->grouping
                          ? "a group has no details; G, several times, shows single processes"
                          : "only a single process has details");
    }
}

/* Handles the keys that change which processes are shown, and how. False: another key. */
static bool look_key(struct processes *processes, int key, struct window *window)
{
    switch (key) {
    case 't':
    case KEY_F(5):
        toggle_tree(processes);
        return true;
    case 'F':
        follow(processes, key);
        window_report(window, "the selection stays on its process; Home ends that");
        return true;
    case ESCAPE:
        processes->filter.text[0] = 0;
        return true;
    case 'G':
        processes->grouping = (processes->grouping + 1) % GROUPINGS;
        process_list_want_limits(&processes->list, processes->grouping >= BY_UNIT);
        return true;
    case 'K':
        processes->kernel = !processes->kernel;
        window_report(window,
                      processes->kernel ? "kernel threads are shown" : "kernel threads are hidden");
        return true;
    default:
        return false;
    }
}

bool processes_key(struct processes *processes, int key, struct window *window)
{
    if (actions_key(processes, key, window))
        return true;
    if (processes->alone)
        return details_key(processes, key, window);
    if (field_key(&processes->filter, key) || field_search_key(&processes->filter, key) ||
        sort_key(processes, key) || tree_fold_key(processes, key, window))
        return true;
    if (cursor_enter(&processes->cursor, key)) {
        open_selected(processes, window);
        return true;
    }
    if (cursor_key(&processes->cursor, key)) {
        follow(processes, key);
        return true;
    }
    return look_key(processes, key, window);
}
