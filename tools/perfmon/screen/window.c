/* SPDX-License-Identifier: MIT */
/* The main loop: takes samples over, draws the view that is shown, and passes keys to that view. */
#include "screen.h"

#include "keys.h"

#include "../../common/options.h"
#include "../../common/pdh-message.h"
#include "../../view/view.h"
#include <openperflib/unstable.h>

#include <openperflib/capture.h>

#include <poll.h>
#include <search.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

enum {
    IDLE_MILLISECONDS =
        1200, /* more than the usual interval, so that samples alone cause drawing */
    SNAPSHOT_ROWS = 60,
    SNAPSHOT_WAIT = 15000,
    AWAY_WAIT = 1000,
    DEFAULT_SECONDS = 1,
    SLOW_SECONDS = 5,
    FIRST_TICKS = 2,
    VERDICT_ROWS = 3, /* on 40 columns the sentence needs more than one row */
    ESCAPE = 27,
    CONTROL_L = 'L' - 64
};
static const char *const view_names[VIEWS] = {"1 overview", "2 processes", "3 chart", "4 counters",
                                              "5 object"};

/* Writes the right end of the top line: the time of the sample, of a capture with its day. */
static void clock_text(const struct window *window, bool day, char *ret, size_t capacity)
{
    struct model_source source;
    char when[32];
    model_source(window->model, window->now->source, &source);
    text_time(source.time, source.capture && day ? "%Y-%m-%d %H:%M:%S" : "%H:%M:%S", when,
              sizeof when);
    int used = snprintf(ret, capacity, "%s%s ", window->paused ? local("PAUSED  ") : "", when);
    if (!source.capture)
        snprintf(ret + used, capacity - (size_t)used, local(" every %g s "), window->seconds);
}

/* Removes facts from the end until the rest fits, so that none is cut in the middle. */
static void fit_facts(char *text, int width)
{
    while (*text && text_width(text) > width) {
        char *last = text;
        for (char *at = text; *at; at++)
            if (!strncmp(at, "   ", 3) || !strncmp(at, ", ", 2))
                last = at;
        *last = 0;
    }
}

static void draw_top(const struct window *window, struct canvas *canvas)
{
    char facts[256] = "", right[96];
    if (window->now->overview)
        overview_facts(window->now->overview, facts, sizeof facts);
    clock_text(window, true, right, sizeof right);
    canvas_style(canvas, 0, 0, canvas->columns, STYLE_BAR);
    const char *title = machine_title(window->now), *file = strrchr(title, '/');
    if (file && text_width(title) > canvas->columns - text_width(right) - 2)
        title = file + 1; /* the end of a capture's path says more than its beginning */
    if (text_width(title) > canvas->columns - text_width(right) - 2)
        clock_text(window, false, right, sizeof right);
    int width = text_width(right);
    fit_facts(facts, canvas->columns - width - text_width(title) - 5);
    canvas_print(canvas, 0, 0, canvas->columns - width - 1, STYLE_BAR, *facts ? " %s   %s" : " %s",
                 title, facts);
    canvas_right(canvas, 0, canvas->columns - width, width, STYLE_BAR, right);
}

static void put_message(struct window *window, size_t used, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));
static void put_message(struct window *window, size_t used, const char *format, va_list args)
{
    vsnprintf(window->message + used, sizeof window->message - used, local(format), args);
}

void window_report(struct window *window, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    put_message(window, 0, format, args);
    va_end(args);
}

void window_append(struct window *window, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    put_message(window, strlen(window->message), format, args);
    va_end(args);
}

/* Writes the first line of a capture's losses, and the number of further lines. */
static void describe_loss(const char *lines, char *ret, size_t capacity)
{
    int others = 0;
    for (const char *end = lines; (end = strchr(end, '\n')); end++)
        others++;
    int used = snprintf(ret, capacity, "%.*s", (int)strcspn(lines, "\n"), lines);
    if (others && used > 0 && (size_t)used < capacity)
        snprintf(ret + used, capacity - (size_t)used,
                 local(" (%d more, printed when perfmon ends)"), others);
}

bool window_problem(const struct window *window, const struct machine *machine, char *ret,
                    size_t capacity)
{
    struct model_source source;
    model_source(window->model, machine->source, &source);
    if (source.state == MODEL_SILENT)
        snprintf(
            ret, capacity, "%s",
            local("no new sample: a provider or the machine does not answer; \"perfmon status\" "
                  "shows which"));
    else if (source.state == MODEL_AWAY && !source.capture)
        snprintf(ret, capacity, local("the last sample failed and is tried again: %s"),
                 pdh_message(overview_problem(machine->overview)));
    else if (source.loss && strlen(source.loss) == window->loss_hidden)
        return false;
    else if (source.loss)
        describe_loss(source.loss, ret, capacity);
    else if (source.capture && source.status && (DWORD)source.status != PDH_NO_MORE_DATA)
        snprintf(ret, capacity, "%s: %s", source.name, pdh_message(source.status));
    else
        return false;
    return true;
}

/* Writes a message into the bottom rows: as many as it needs, at most half of the screen. */
static void draw_message(struct canvas *canvas, const char *text)
{
    /* `below`: the row after the last one, where the canvas writes nothing */
    const int below = canvas->rows, most = canvas->rows / 2;
    if (text_width(text) <= canvas->columns) {
        canvas_text(canvas, below - 1, 0, canvas->columns, STYLE_BAR, text);
        return;
    }
    int lines = canvas_wrap(canvas, below, 0, canvas->columns, most + 1, STYLE_BAR, text);
    bool cut = lines > most;
    lines = cut ? most : lines;
    for (int i = 1; i <= lines; i++)
        canvas_print(canvas, below - i, 0, canvas->columns, STYLE_BAR, "%*s", canvas->columns, "");
    canvas_wrap(canvas, below - lines, 0, canvas->columns, lines, STYLE_BAR, text);
    if (cut)
        canvas_right(canvas, below - 1, canvas->columns - 4, 4, STYLE_BAR, " ...");
}

/* Draws an entry of the bottom line if the whole of it fits; returns the column after it. */
static int draw_entry(struct canvas *canvas, int at, enum style style, const char *text)
{
    text = local(text);
    if (at + text_width(text) > canvas->columns)
        return at;
    return at + 2 + canvas_text(canvas, canvas->rows - 1, at, canvas->columns - at, style, text);
}

/* Writes the filter of a view, while it is typed or not empty. False: there is none. */
static bool draw_filter(const struct window *window, struct canvas *canvas)
{
    char text[512];
    const struct field *filter = window->view == VIEW_OBJECT
                                     ? object_filter(window->now->object)
                                     : processes_filter(window->now->processes);
    bool filtered = *filter->text && !*window->message &&
                    (window->view <= VIEW_PROCESSES || window->view == VIEW_OBJECT);
    if (!filter->open && !filtered)
        return false;
    const char *problem =
        window->view == VIEW_OBJECT ? "" : processes_problem(window->now->processes);
    snprintf(text, sizeof text, local("filter: %s%s   %s"), filter->text, filter->open ? "_" : "",
             *problem ? problem : local("Escape shows all"));
    if (*problem)
        draw_message(canvas, text);
    else
        canvas_text(canvas, canvas->rows - 1, 0, canvas->columns, STYLE_STRONG, text);
    return true;
}

/* Draws the field in which the name of a selection or set is typed. False: no name is typed. */
static bool draw_name(const struct window *window, struct canvas *canvas)
{
    bool set = window->sets.name.open;
    if (!set && !window->selections.name.open)
        return false;
    char text[512];
    snprintf(text, sizeof text,
             local(set ? "name of a new set with the chart's counters: %s_   Escape: no set"
                       : "save the counters of the chart as: %s_   Escape: do not save"),
             set ? window->sets.name.text : window->selections.name.text);
    draw_message(canvas, text);
    return true;
}

/* Returns the message for the last line, which has `size` bytes at `text`; NULL: there is none. */
static const char *bottom_message(const struct window *window, char *text, size_t size)
{
    if (*window->message)
        return window->message;
    return moment_text(window, text, size) || window_problem(window, window->now, text, size)
               ? text
               : NULL;
}

/* Draws the names of the views; if they do not all fit, only the numbers of those not shown. */
static int draw_views(struct window *window, struct canvas *canvas, int at)
{
    int count = VIEWS - !window->now->object, end = at;
    for (int i = 0; i < count; i++)
        end += text_width(local(view_names[i])) + (i + 1 < count ? 2 : 0);
    for (int i = 0; i < count; i++) {
        const char digit[] = {view_names[i][0], 0};
        bool shown = i == window->view;
        at = draw_entry(canvas, at, shown ? STYLE_BAR : STYLE_WEAK,
                        shown || end <= canvas->columns ? view_names[i] : digit);
        window->view_ends[i] = at;
    }
    return at;
}

static void draw_bottom(struct window *window, struct canvas *canvas)
{
    char text[512];
    int row = canvas->rows - 1, at = 0;
    memset(window->view_ends, 0, sizeof window->view_ends);
    window->keys_end = window->quit_end = 0;
    if (window->help) {
        canvas_text(canvas, row, 0, canvas->columns, STYLE_WEAK,
                    window->rule ? local("any key closes this")
                                 : local("up, down: more; any other key closes it"));
        return;
    }
    if (draw_filter(window, canvas) || draw_name(window, canvas))
        return;
    const char *message = bottom_message(window, text, sizeof text);
    if (message) {
        draw_message(canvas, message);
        return;
    }
    window->keys_end = at = draw_entry(canvas, at, STYLE_WEAK, "? keys");
    window->quit_end = at = draw_entry(canvas, at, STYLE_WEAK, "q quit");
    at = draw_views(window, canvas, at);
    /* in the chart the key m has another meaning */
    if (window->view == VIEW_CHART) {
        at = draw_entry(canvas, at, STYLE_WEAK, "m highest");
        at = draw_entry(canvas, at, STYLE_WEAK, "y copy");
    } else if (window->machine_count > 1) {
        at = draw_entry(canvas, at, STYLE_WEAK, "m machines");
    }
    at = draw_entry(canvas, at, STYLE_WEAK, "/ search");
    draw_entry(canvas, at, STYLE_WEAK,
               window->now->at                              ? "[ ] minute"
               : window->view != VIEW_PROCESSES             ? "space pause"
               : processes_detailed(window->now->processes) ? ""
                                                            : "Enter details");
}

/* clang-format off */
static const struct {
    const char *key, *text;
} help[] = {
    {"1 2 3 4 5, Tab", "overview, processes, chart, counters, table of an object; Shift+Tab goes back"},
    {"q", "quit"},
    {"mouse", "the wheel and a click select; a click on a view's name in the last line opens it"},
    {"p, space", "pause and continue; in the list of processes, space marks the selected process instead"},
    {"m", "the list of machines, if there are several; Enter shows one"},
    {"s, S", "sample more often, less often"},
    {"C", "colours for colour-blind people, with marks in bars, or the usual ones"},
    {"L", "another language"},
    {"F2", "all settings; what keys have changed is saved at the end"},
    {"F1 to F10", "as in htop: F1 help, F2 settings, F3 and F4 /, F5 t, F6 sort by the next column, F7 and F8 n, F9 x, F10 quit"},
    {"w", "the rule behind \"held up by\""},
    {"D", "the sets of logman, which record counters: Enter starts or stops one"},
    {"O", "the page of perfmon serve, in the browser or as a link"},
    {"", ""},
    {"A set at one time (--at)", ""},
    {", .", "the previous sample, the next sample"},
    {"[ ]   { }", "a minute earlier, later; an hour earlier, later"},
    {"B N A", "the next time at which a process began, nothing was recorded, an alert was raised"},
    {"", ""},
    {"Overview and processes", ""},
    {"up, down, F", "select; the selection stays on its process until Home"},
    {"Enter", "details of the selected process; there t shows its threads"},
    {"left, right", "sort by another column; i reverses the order"},
    {"P M R W", "sort by processor, memory, bytes read, bytes written; these include what children did that have ended"},
    {"/", "show only what matches: text, user:www, unit:nginx, cpu>5, mem>1G"},
    {"G", "one line for each process, program, user, unit, container, control group"},
    {"load", "how many tasks run, or wait for a processor or a disk: averages of 1, 5 and 15 minutes"},
    {"waiting, stolen", "waiting: the processor is idle while a task waits for a disk; stolen: the hypervisor gave the time to other machines"},
    {"Pressure", "share of time in which at least one task waited for this resource; all: in which all tasks did, so that no work was done"},
    {"(ended)", "processor time that belongs to no listed process: of interrupts, and of processes that ended between two samples."
                " All lines together have the machine's busy time: "
                "user and kernel, without waiting for disks and without stolen time"},
    {"(not listed)", "the same where not all processes are listed, as in a container or for another user: also the processor time of those"},
    {"MEM MAX, CPU MAX", "the lowest limit of the unit, container or group and those above it; "
                         "THROTTLE: time that CPU MAX stopped it; CPU WAIT, MEM WAIT, IO WAIT: time its tasks waited for processor, memory, disks"},
    {"t", "the tree of parents: - folds, + unfolds, * unfolds all"},
    {"c", "in the tree, a filter also shows all descendants of the processes that match"},
    {"K", "show or hide kernel threads"},
    {"space, U", "mark a process (2 processes only), unmark all"},
    {"x, n", "send a signal, set the nice value, after a question: for the marked processes or, if none is marked, for the selected one"},
    {"", ""},
    {"Chart", ""},
    {"up, down", "select a counter; h highlights it"},
    {"g b r", "lines, bars, report"},
    {"< >", "sort the legend by another column; i reverses the order"},
    {"+, -", "show a shorter, a longer time"},
    {"left, right", "back in time, and forward"},
    {"y", "the selected counter as a command of typeperf, also in the clipboard"},
    {"W, o", "save the chart's counters under a name, open saved ones"},
    {"R", "a set of logman that records the chart's counters"},
    {"m", "the minute with the highest value of the selected counter"},
    {"x", "hide the selected instance, or remove a counter that has only this one; X shows what is hidden; Delete removes all of a counter; a, / add others"},
    {"", ""},
    {"Counters", ""},
    {"/", "search names and explanations; also everyday words, such as cpu, net, slow, full"},
    {"right, left", "open, close; Enter adds the counter or instance to the chart, A that of all machines"},
    {"o", "the table of the selected object"},
    {"- + *", "fold and unfold the instances below the selected one; unfold all"},
    {"", ""},
    {"Table of an object", ""},
    {"right, left", "sort by another column; i reverses the order"},
    {"/", "show only lines with all these words"},
    {"Enter", "add the counter of the line to the chart"},
    {"t", "instances below their parents, as threads below processes"},
    {"- + *", "fold and unfold the instances below the selected one; unfold all"},
    {"Escape", "show all lines again; then back to the counters"},
};
/* clang-format on */

enum { KEYS = 17 }; /* columns of a key in the help */

/* Returns the line of the help that begins the part about the present view. */
static size_t help_of_view(const struct window *window)
{
    static const char *const titles[VIEWS] = {[VIEW_PROCESSES] = "Overview and processes",
                                              [VIEW_CHART] = "Chart",
                                              [VIEW_TREE] = "Counters",
                                              [VIEW_OBJECT] = "Table of an object"};
    const char *title = window->view < VIEWS ? titles[window->view] : NULL;
    for (size_t i = 0; title && i < sizeof help / sizeof *help; i++)
        if (!strcmp(help[i].key, title))
            return i;
    return 0;
}

/* The help may be longer than the screen: help_line is its first visible line. */
static void draw_help(struct window *window, struct canvas *canvas, int row)
{
    const int count = (int)(sizeof help / sizeof *help), last = canvas->rows - 1;
    int width = canvas->columns - KEYS - 2, fit = 0; /* entries on the last page */
    for (int used = row; fit < count && width > 0; fit++) {
        used += 1 + text_width(local(help[count - 1 - fit].text)) / width;
        if (used > last)
            break;
    }
    cursor_fit(&window->help_line, (size_t)(count - fit + 1), 1);
    int first = (int)window->help_line.at, i = first;
    for (; i < count && row < last; i++) {
        canvas_text(canvas, row, 1, canvas->columns - 1, *help[i].text ? STYLE_PLAIN : STYLE_TITLE,
                    local(help[i].key));
        int used =
            canvas_wrap(canvas, row, KEYS + 1, width, last - row, STYLE_PLAIN, local(help[i].text));
        row += used > 1 ? used : 1;
    }
    /* the last entry may be cut, so the next page begins with it; no row is for the mouse */
    window->help_line.page = i > first + 1 ? (size_t)(i - first - 1) : 1;
    window->help_line.row = canvas->rows;
}

static void draw_overview(struct window *window, struct canvas *canvas, int last, bool active)
{
    char verdict[200];
    overview_verdict(window->now->overview, verdict, sizeof verdict);
    int used = canvas_text(canvas, 1, 0, canvas->columns, STYLE_WEAK, local(" held up by: "));
    int row = 1 + canvas_wrap(canvas, 1, used, canvas->columns - used, VERDICT_ROWS, STYLE_STRONG,
                              verdict);
    int processes = last - 2 > 16 ? (last - 2) / 3 : 4;
    if (last - processes > row)
        row = overview_draw(window->now->overview, canvas, row, last - processes);
    processes_draw(window->now->processes, canvas, row, last, active);
}

static struct settings settings_now(const struct window *window)
{
    struct settings settings = {
        .values = {[SET_PALETTE] = window->palette,
                   [SET_LANGUAGE] = window->language,
                   [SET_INTERVAL] = window->seconds}
    };
    processes_settings(window->now->processes, &settings);
    return settings;
}

static void draw_settings(struct window *window, struct canvas *canvas, int last)
{
    struct settings settings = settings_now(window);
    settings_draw(&window->settings, &settings, canvas, 1, last);
}

/* Draws the tree; that of a set has the instances of the time that is shown. */
static void draw_tree(const struct window *window, struct canvas *canvas, int last)
{
    struct model_source source;
    model_source(window->model, window->now->source, &source);
    if (window->now->at && source.state == MODEL_COMPLETE)
        tree_go(window->now->tree, source.time);
    tree_draw(window->now->tree, canvas, 1, last);
}

static void draw(struct window *window, struct canvas *canvas)
{
    int last = canvas->rows - 1;
    draw_top(window, canvas);
    if (window->rule)
        canvas_wrap(canvas, 2, 1, canvas->columns - 2, last - 2, STYLE_PLAIN, local(overview_rule));
    else if (window->help)
        draw_help(window, canvas, 2);
    else if (window->settings.open)
        draw_settings(window, canvas, last);
    else if (sets_draw(window, canvas, 1, last))
        ;
    else if (window->view == VIEW_OVERVIEW)
        draw_overview(window, canvas, last, true);
    else if (window->view == VIEW_PROCESSES)
        processes_view(window->now->processes, canvas, 1, last);
    else if (window->view == VIEW_CHART && !selections_draw(&window->selections, canvas, 1, last))
        chart_draw(window->chart, canvas, 1, last);
    else if (window->view == VIEW_MACHINES)
        machines_draw(window, canvas, 1, last);
    else if (window->view == VIEW_OBJECT)
        object_draw(window->now->object, canvas, 1, last);
    else if (window->view == VIEW_TREE && window->now->tree)
        draw_tree(window, canvas, last);
    draw_bottom(window, canvas);
}

/* ---- keys ---- */

void window_open_object(struct window *window, const struct catalogue_object *of,
                        const char *instances)
{
    struct object *object = object_new(window->model, window->now->source, of, instances);
    if (!object)
        return;
    if (window->now->object)
        object_free(window->now->object);
    window->now->object = object;
    window->view = VIEW_OBJECT;
}

bool window_add_counter(struct window *window, const char *path)
{
    const char *name = path + strspn(path, "\\"), *rest = strchr(name, '\\');
    for (size_t i = 0; name == path + 2 && rest && i < window->machine_count; i++) {
        const char *machine = window->machines[i].name;
        size_t skipped = machine ? strspn(machine, "\\") : 0;
        if (machine && strlen(machine + skipped) == (size_t)(rest - name) &&
            !strncasecmp(machine + skipped, name, (size_t)(rest - name)))
            return chart_add(window->chart, window->machines[i].source, rest);
    }
    return chart_add(window->chart, window->now->source, path);
}

void window_choose_counter(struct window *window, const char *path, bool all)
{
    bool added = all || window_add_counter(window, path);
    for (size_t i = 0; all && i < window->machine_count; i++)
        added &= chart_add(window->chart, window->machines[i].source, path);
    window_report(window, added ? "added %s" : "no memory for %s", path);
}

double window_seconds(double seconds, bool shorter)
{
    static const double steps[] = {0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60};
    size_t count = sizeof steps / sizeof *steps, at = 0;
    while (at + 1 < count && steps[at] < seconds)
        at++;
    at = shorter ? at - (at > 0) : at + (at + 1 < count);
    return steps[at];
}

static struct tree *new_tree(const struct window *window)
{
    const struct machine *machine = window->now;
    struct model_source source;
    model_source(window->model, machine->source, &source);
    return tree_new(machine->name, machine->files, machine->at ? source.time : 0);
}

static void set_palette(struct window *window, int palette)
{
    window->palette = palette;
    terminal_palette(palette != 0);
    terminal_redraw();
}

/* Changes the language, and frees the views with names in the old language; they are made again. */
static void set_language(struct window *window, int language)
{
    if (language == window->language)
        return;
    window->language = language;
    language_set(language, window->utf8);
    for (size_t i = 0; i < window->machine_count; i++)
        machine_forget(&window->machines[i]);
    if (window->view == VIEW_OBJECT)
        window->view = VIEW_TREE;
    if (window->view == VIEW_TREE)
        window->now->tree = new_tree(window);
}

static void set_seconds(struct window *window, double seconds)
{
    window->seconds = seconds;
    model_set_seconds(window->model, seconds);
}

static void apply(struct window *window, const struct settings *settings)
{
    set_palette(window, (int)settings->values[SET_PALETTE]);
    set_language(window, (int)settings->values[SET_LANGUAGE]);
    set_seconds(window, settings->values[SET_INTERVAL]);
    for (size_t i = 0; i < window->machine_count; i++)
        processes_apply(window->machines[i].processes, settings);
}

/* Handles a mouse click, which may choose a view in the bottom line. */
static void take_click(struct window *window)
{
    int row, column, view = 0;
    terminal_click(&row, &column);
    while (view < VIEWS && window->view_ends[view] <= column)
        view++;
    if (row == window->rows - 1 && view < VIEWS)
        window->view = view;
}

/* Returns the view that the key chooses, by default the present one. */
static int view_of_key(struct window *window, int key)
{
    int number = key - '1';
    if (number == VIEW_OBJECT && !window->now->object) {
        window_report(window, "o opens the table of an object that is selected in 4 counters");
        return window->view;
    }
    if (number >= 0 && number < VIEWS)
        return number;
    if (key == 'a' || key == KEY_IC || (key == ESCAPE && window->view == VIEW_OBJECT))
        return VIEW_TREE;
    if (key == 'm' && window->machine_count > 1)
        return VIEW_MACHINES;
    int count = VIEWS - !window->now->object, step = key == '\t'       ? 1
                                                     : key == KEY_BTAB ? count - 1
                                                                       : 0;
    return step ? (window->view + step) % count : window->view;
}

/* Reports that a letter, a function key or one of `others` does nothing in the present view. */
static void report_no_effect(struct window *window, int key)
{
    static const struct {
        int key;
        const char *name;
    } others[] = {
        {'\r',      "Enter" },
        {'\n',      "Enter" },
        {KEY_ENTER, "Enter" },
        {KEY_LEFT,  "left"  },
        {KEY_RIGHT, "right" },
        {KEY_DC,    "Delete"}
    };
    bool letter = key > ' ' && key < 127 && !(key >= '1' && key <= '9');
    bool function = key >= KEY_F(1) && key <= KEY_F(9);
    const char text[] = {letter ? (char)key : 'F', function ? (char)('0' + key - KEY_F(0)) : 0, 0};
    const char *name = letter || function ? text : NULL;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        name = others[i].key == key ? local(others[i].name) : name;
    if (name)
        window_report(window, "%s does nothing in this view; ? lists the keys", name);
}

static void choose_view(struct window *window, int key)
{
    int before = window->view;
    if (key == TERMINAL_CLICK)
        take_click(window);
    else
        window->view = is_search_key(key) ? VIEW_TREE : view_of_key(window, key);
    if (!is_search_key(key) && window->view == before)
        report_no_effect(window, key);
    if (window->view == VIEW_TREE && !window->now->tree)
        window->now->tree = new_tree(window);
    /* a view without a search of its own leaves the key to the list of counters */
    if (is_search_key(key) && window->now->tree)
        tree_key(window->now->tree, key, window);
}

/* Handles the keys of the current view. */
static bool take_view_key(struct window *window, int key)
{
    struct machine *now = window->now;
    if (window->sets.open || window->sets.name.open)
        return sets_key(window, key);
    return window->view == VIEW_CHART ? selections_key(&window->selections, key, window) ||
                                            chart_key(window->chart, key, window)
           : window->view == VIEW_MACHINES ? machines_key(window, key)
           : window->view == VIEW_OBJECT   ? object_key(now->object, key, window)
           : window->view == VIEW_TREE     ? now->tree && tree_key(now->tree, key, window)
                                           : processes_key(now->processes, key, window);
}

/* Handles a key while the settings are shown. */
static bool take_settings_key(struct window *window, int key)
{
    struct settings settings = settings_now(window);
    if (settings_key(&window->settings, &settings, key))
        apply(window, &settings);
    return true;
}

/* Handles the keys that change or show settings, and the one of the page. */
static bool change_key(struct window *window, int key)
{
    if (key == KEY_F(2)) {
        window->settings.open = true;
    } else if (key == 's' || key == 'S') {
        if (window->now->files)
            window_report(window, "the samples of a capture have the times of their recording");
        else
            set_seconds(window, window_seconds(window->seconds, key == 's'));
    } else if (key == 'O') {
        sets_open_page(window);
    } else if (key == 'L') {
        set_language(window, language_next());
        window_report(window, "%s", language_name(window->language));
    } else if (key == 'C') {
        set_palette(window, !window->palette);
        window_report(window, window->palette
                                  ? "colours for colour-blind people, with marks in bars"
                                  : "the usual colours");
    } else {
        return false;
    }
    return true;
}

/* Handles keys for settings, a view, sets or another time. False: the key is for none of them. */
static bool take_special_key(struct window *window, int key)
{
    if (window->settings.open)
        return take_settings_key(window, key);
    return take_view_key(window, key) || sets_key(window, key) || moment_key(window, key) ||
           change_key(window, key);
}

/* Returns the key that a click in the last line stands for; by default the click. */
static int key_of_click(const struct window *window)
{
    int row, column;
    terminal_click(&row, &column);
    bool below = row == window->rows - 1;
    return below && column < window->keys_end   ? '?'
           : below && column < window->quit_end ? 'q'
                                                : TERMINAL_CLICK;
}

/* Handles a key. False: the user wants to leave. */
static bool take_key(struct window *window, int key)
{
    key = key == TERMINAL_CLICK ? key_of_click(window) : key;
    window->message[0] = 0;
    struct model_source source;
    model_source(window->model, window->now->source, &source);
    window->loss_hidden = source.loss ? strlen(source.loss) : 0;
    if (window->help) {
        window->help = !window->rule && cursor_key(&window->help_line, key);
        window->rule = false;
        return true;
    }
    if (take_special_key(window, key))
        return true;
    switch (key) {
    case 'q':
    case KEY_F(10):
        return false;
    case '?':
    case KEY_F(1):
        window->help = true;
        window->help_line.at = help_of_view(window);
        break;
    case ' ':
    case 'p':
        window->paused = !window->paused;
        model_pause(window->model, window->paused);
        break;
    case 'w':
        window->help = window->rule = true;
        break;
    case CONTROL_L:
        terminal_redraw();
        break;
    default:
        choose_view(window, key);
    }
    return true;
}

/* True if the chart must wait, because the terminal is slow and most of its cells change with each
 * sample: until 5 s after it was last drawn, at `drawn`. Not that of a capture: if it was read
 * again, the lines that a key is for must be found again. */
static bool is_early(const struct window *window, int key, double drawn)
{
    struct model_source source;
    model_source(window->model, window->now->source, &source);
    return window->view == VIEW_CHART && !window->help && key == TERMINAL_NOTHING &&
           !source.capture && source.tick > FIRST_TICKS && terminal_slow() &&
           model_now() < drawn + SLOW_SECONDS;
}

/* Lets the tables of processes and objects rest that are not shown; those of a file are read
 * once. */
static void rest_hidden(const struct window *window)
{
    for (size_t i = 0; i < window->machine_count; i++) {
        const struct machine *machine = &window->machines[i];
        bool other = machine != window->now;
        processes_rest(machine->processes, other || window->view > VIEW_PROCESSES);
        if (machine->object && !machine->files)
            object_rest(machine->object, other || window->view != VIEW_OBJECT);
    }
}

static void loop(struct window *window, const struct window_options *options)
{
    struct canvas canvas = {
        .utf8 = options->utf8, .braille = options->braille, .console = options->console};
    double drawn = 0;
    int key = TERMINAL_NOTHING;
    for (;;) {
        int rows, columns;
        terminal_size(&rows, &columns);
        if (!canvas_begin(&canvas, rows, columns))
            break;
        rest_hidden(window);
        model_update(window->model);
        sets_update(window);
        window->rows = rows;
        canvas.marks = window->palette || !options->colours;
        bool early = is_early(window, key, drawn);
        draw(window, &canvas); /* also if it is not shown: keys use what was drawn last */
        if (!early) {
            terminal_show(&canvas);
            drawn = model_now();
        }
        key = terminal_key(model_descriptor(window->model), IDLE_MILLISECONDS);
        if (key == TERMINAL_END || (key != TERMINAL_NOTHING && !take_key(window, key)))
            break;
    }
    canvas_done(&canvas);
}

/* ---- begin and end ---- */

/* Writes `found`, a path that `pattern` matches, with the pattern's instances instead of its own,
 * so that one path stands for all instances. */
static void chart_path_of(const char *found, const char *pattern, bool machine, char *ret,
                          DWORD size)
{
    struct path_parts parts, wanted;
    snprintf(ret, size, "%s", found);
    if (!model_path_parts(found, &parts) || !model_path_parts(pattern, &wanted))
        return;
    if (!machine)
        parts.path.szMachineName = NULL;
    if (parts.path.szInstanceName && wanted.path.szInstanceName) {
        parts.path.szInstanceName = wanted.path.szInstanceName;
        parts.path.szParentInstance = wanted.path.szParentInstance;
        parts.path.dwInstanceIndex = wanted.path.dwInstanceIndex;
    }
    PdhMakeCounterPathA(&parts.path, ret, &size, 0);
}

static int compare_paths(const void *one, const void *other)
{
    return strcasecmp(one, other);
}

/* Adds the found paths of `pattern` to the chart, each only once. */
static void add_found(struct window *window, const struct window_options *options,
                      const char *pattern, const char *list)
{
    void *seen = NULL;
    bool machine = options->several && !window->now->name;
    for (const char *at = list; *at; at += strlen(at) + 1) {
        char shown[PDH_MAX_COUNTER_PATH];
        chart_path_of(at, pattern, machine, shown, sizeof shown);
        char *path = tfind(shown, &seen, compare_paths) ? NULL : strdup(shown);
        if (path && tsearch(path, &seen, compare_paths))
            chart_add(window->chart, window->now->source, path);
    }
    tdestroy(seen, free);
}

/* Writes the path; in a capture with the machine's name before it. */
static void machine_path(const struct machine *machine, const char *path, char *ret, size_t size)
{
    const char *name = machine->files && machine->name ? machine->name : "";
    snprintf(ret, size, "%s%s%s", *name && *name != '\\' ? "\\\\" : "", name, path);
}

/* Returns the paths that a pattern matches, to be freed; NULL: none. Notes what a capture could not
 * show of them. */
static char *expand(struct window *window, const struct window_options *options, const char *path,
                    DWORD flags)
{
    char full[2 * PDH_MAX_COUNTER_PATH];
    const char *files = options->at ? NULL : options->files;
    DWORD size = 0;
    flags |= files ? OPL_EXPAND_AS_RECORDED : PDH_NOEXPANDINSTANCES;
    machine_path(window->now, path, full, sizeof full);
    PDH_STATUS status = PdhExpandWildCardPathA(files, full, NULL, &size, flags);
    char *list = (DWORD)status == PDH_MORE_DATA ? calloc(1, size + 2) : NULL;
    if (list)
        status = PdhExpandWildCardPathA(files, full, list, &size, flags);
    if (files)
        model_add_loss(window->model, window->now->source, opl_capture_unshown());
    if (!status)
        return list;
    free(list);
    return NULL;
}

/* Adds the counters of a path to the chart; its counter may be a pattern. Called before anything is
 * drawn, because PDH waits for the object's providers. The paths of a set are expanded with
 * this machine's counters: with the set's own, PDH would read all its captures. */
static void add_paths(struct window *window, const struct window_options *options, const char *path)
{
    char *list = expand(window, options, path, 0);
    if (strchr(path, '*') && list && (*list || !options->path_count))
        add_found(window, options, path, list);
    else /* the chart shows why this path has no values */
        chart_add(window->chart, window->now->source, path);
    free(list);
}

/* Returns the path that is charted if no path is given: in a capture, all counters. */
static const char *first_path(const struct window_options *options, const char *machine)
{
    if (!options->files || options->at)
        return "\\Processor(_Total)\\% Processor Time";
    return machine ? "\\*(*)\\*" : "\\\\*\\*(*)\\*";
}

/* Adds the machine and the counters that are charted first; if only the table of an object is
 * printed, adds only that table. */
static bool add_machine(struct window *window, const struct window_options *options, size_t number,
                        bool print)
{
    const char *name = options->machines[number];
    struct catalogue *of = options->objects ? options->objects[number] : NULL;
    window->now = &window->machines[window->machine_count++];
    if (!machine_begin(window->now, window->model, name, options, !print || !options->objects))
        return false;
    if (options->objects) {
        const struct catalogue_object *object = catalogue_object(of ? of : *options->objects, 0);
        window_open_object(window, object, options->instances);
        char path[PDH_MAX_COUNTER_PATH];
        snprintf(path, sizeof path, "\\%s\\*", object->name);
        if (options->files && !options->at)
            free(expand(window, options, path, PDH_NOEXPANDCOUNTERS));
    }
    if (options->objects && (print || !window->now->object))
        return window->now->object;
    for (size_t i = 0; i < options->path_count; i++)
        add_paths(window, options, options->paths[i]);
    if (!options->path_count)
        add_paths(window, options, first_path(options, name));
    return true;
}

static int first_view(const struct window_options *options)
{
    bool capture = options->files && !options->at;
    if (options->objects && (capture || options->machine_count <= 1))
        return VIEW_OBJECT;
    if (options->machine_count > 1)
        return VIEW_MACHINES;
    return options->path_count || capture || options->chart ? VIEW_CHART : VIEW_OVERVIEW;
}

static bool window_begin(struct window *window, const struct window_options *options, bool print)
{
    double seconds = options->seconds > 0 ? options->seconds : DEFAULT_SECONDS;
    language_begin(options->utf8);
    *window = (struct window){.seconds = seconds,
                              .utf8 = options->utf8,
                              .model = model_new(seconds),
                              .machines = calloc(options->machine_count, sizeof *window->machines)};
    if (window->model)
        window->chart = chart_new(window->model, options->machine_count > 1);
    if (!window->chart || !window->machines)
        return false;
    for (size_t i = 0; i < options->machine_count; i++)
        if (!add_machine(window, options, i, print))
            return false;
    window->now = window->machines;
    window->view = first_view(options);
    return true;
}

static void window_end(struct window *window)
{
    for (size_t i = 0; i < window->machine_count; i++)
        machine_end(&window->machines[i]);
    free(window->machines);
    sets_done(&window->sets);
    if (window->chart)
        chart_free(window->chart);
    text_list_done(&window->selections.names);
    if (window->model)
        model_free(window->model);
}

/* Prints what the captures lost, which the screen only counts. */
static void print_losses(const struct window *window)
{
    for (size_t i = 0; i < window->machine_count; i++) {
        struct model_source source;
        model_source(window->model, window->machines[i].source, &source);
        pdh_lines("perfmon", source.loss);
    }
}

/* Runs perfmon, and saves the settings that keys changed, but not those of the command line. */
static void run_with_settings(struct window *window, const struct window_options *options)
{
    struct settings before = settings_now(window);
    settings_read(&before, window->message, sizeof window->message);
    if (options->seconds > 0)
        before.values[SET_INTERVAL] = options->seconds;
    apply(window, &before);
    loop(window, options);
    struct settings now = settings_now(window);
    /* while signals are still handled: a window that is closed sends several */
    int problem = settings_write(&before, &now);
    terminal_end();
    print_losses(window);
    if (problem)
        fprintf(stderr, "perfmon: the settings are not saved: %s\n", strerror(problem));
}

/* Reads the capture to its end; what turns out to be texts is read after the numbers. Does not wait
 * for a file that gives no more samples for a while. */
static void wait_for_end(struct window *window)
{
    struct model_source source = {0};
    bool ended = false;
    for (int waited = 0; waited < SNAPSHOT_WAIT && !ended; waited += 50) {
        struct pollfd samples = {model_descriptor(window->model), POLLIN, 0};
        if (model_update(window->model))
            waited = 0;
        model_source(window->model, window->now->source, &source);
        ended = source.state == MODEL_COMPLETE && chart_ready(window->chart);
        if (!ended)
            poll(&samples, 1, 50);
    }
}

/* Reports what a capture lost, or why there are no samples. Returns relog's exit code for it. */
static int report_source(const struct window *window)
{
    struct model_source source;
    char why[256];
    model_source(window->model, window->now->source, &source);
    if (pdh_lines("perfmon", source.loss))
        return !source.status                              ? EXIT_MISSING
               : (DWORD)source.status == PDH_ACCESS_DENIED ? EXIT_NO_RIGHTS
                                                           : EXIT_FAILED;
    if (!window_problem(window, window->now, why, sizeof why))
        return EXIT_GOOD;
    fprintf(stderr, "perfmon: %s\n", text_seen(why));
    return EXIT_FAILED;
}

int window_run(const struct window_options *options)
{
    struct window window;
    language_prepare();
    if (!window_begin(&window, options, false)) {
        fputs("perfmon: there is not enough memory\n", stderr);
        window_end(&window);
        return EXIT_FAILED;
    }
    if (options->at) { /* a set without captures must be an error before the screen is used */
        struct model_source source;
        wait_for_end(&window);
        model_source(window.model, window.now->source, &source);
        if (!source.tick) {
            int code = report_source(&window);
            window_end(&window);
            return code ? code : EXIT_FAILED;
        }
    }
    if (options->plain) {
        int code = plain_run(&window);
        window_end(&window);
        return code;
    }
    bool good = terminal_begin(options->colours);
    if (good)
        run_with_settings(&window, options);
    /* ends by the signal, so that the calling shell sees that signal, and at once: window_end would
     * wait for the samplers, a sanitizer would search for leaks */
    if (terminal_signal() > 0) {
        signal(terminal_signal(), SIG_DFL);
        raise(terminal_signal());
    }
    window_end(&window);
    return good ? EXIT_GOOD : EXIT_FAILED;
}

static bool is_ready(const struct machine *machine)
{
    return machine->object ? object_ready(machine->object) : overview_ready(machine->overview);
}

/* True if there is nothing left to wait for. If only the bytes that processes read and write are
 * late, the list of processes is printed without them. That list must see each sample: the time
 * that no process explains needs two. */
static bool is_complete(const struct machine *machine)
{
    bool listed = machine->object || processes_ready(machine->processes);
    return listed && is_ready(machine);
}

/* Waits for the sample with the first rates, for as long as a loaded machine may need. */
static void wait_for_rates(struct window *window)
{
    struct model_source source = {0};
    model_update(window->model);
    for (int waited = 0; waited < (source.state == MODEL_AWAY ? AWAY_WAIT : SNAPSHOT_WAIT) &&
                         !(is_complete(window->now) && chart_ready(window->chart));
         waited += 50) {
        struct pollfd samples = {model_descriptor(window->model), POLLIN, 0};
        poll(&samples, 1, 50);
        model_update(window->model);
        model_source(window->model, window->now->source, &source);
    }
}

/* Prints the charted counters as a report. Returns an exit code. */
static int print_report(struct window *window, struct canvas *canvas)
{
    int rows = (int)chart_lines(window->chart) + SNAPSHOT_ROWS; /* and rows for problems */
    if (!canvas_begin(canvas, rows, canvas->columns))
        return EXIT_FAILED;
    chart_report(window->chart);
    chart_draw(window->chart, canvas, 0, rows);
    canvas_write(canvas, stdout);
    return chart_whole(window->chart) ? EXIT_GOOD : EXIT_MISSING;
}

/* Reports why there is nothing to print. Returns an exit code. */
static int report_nothing(const struct window *window, const struct machine *machine)
{
    char why[512];
    if (machine->at && moment_text(window, why, sizeof why)) {
        fprintf(stderr, "perfmon: %s\n", why);
        return EXIT_MISSING;
    }
    int code = machine->at ? report_source(window) : EXIT_GOOD;
    if (code)
        return code;
    fprintf(stderr, "perfmon: there is no sample of %s; \"%s%s\" shows why\n",
            text_seen(machine_title(machine)), machine->name ? "pcview -m " : "perfmon status",
            machine->name ? text_seen(machine->name) : "");
    return EXIT_FAILED;
}

/* Prints one report of all machines, when the last of them has been read. Returns an exit code. */
static int report_machine(struct window *window, struct canvas *canvas,
                          const struct machine *machine)
{
    bool last = machine + 1 == window->machines + window->machine_count;
    int code = last ? print_report(window, canvas) : EXIT_GOOD;
    int wrong = report_source(window);
    return wrong ? wrong : code;
}

static int snapshot_object(const struct window *window, const struct canvas *canvas,
                           const struct machine *machine)
{
    if (window->machine_count > 1 || (machine->files && machine->name))
        printf("%s: ", text_seen(machine_title(machine)));
    if (!object_print(machine->object, canvas->utf8, canvas->columns, stdout))
        return EXIT_FAILED;
    return machine->files ? report_source(window) : EXIT_GOOD;
}

/* Returns an exit code. */
static int snapshot_machine(struct window *window, struct canvas *canvas, struct machine *machine,
                            bool report)
{
    window->now = machine;
    if (machine->files)
        wait_for_end(window);
    else
        wait_for_rates(window);
    if (report)
        return report_machine(window, canvas, machine);
    struct model_source source;
    model_source(window->model, machine->source, &source);
    /* the first sample of a set has no rates */
    bool sampled = machine->at && !source.status && source.moment.kind == MOMENT_SAMPLE;
    if (!is_ready(machine) && !sampled)
        return report_nothing(window, machine);
    if (machine->object)
        return snapshot_object(window, canvas, machine);
    if (!canvas_begin(canvas, SNAPSHOT_ROWS, canvas->columns))
        return EXIT_FAILED;
    draw_top(window, canvas);
    draw_overview(window, canvas, SNAPSHOT_ROWS, false);
    canvas_write(canvas, stdout);
    char about[512];
    if (machine->at && moment_text(window, about, sizeof about))
        fprintf(stderr, "perfmon: %s\n", about);
    return machine->at ? report_source(window) : EXIT_GOOD;
}

int window_snapshot(const struct window_options *options, int columns)
{
    struct window window;
    struct canvas canvas = {.utf8 = options->utf8, .console = options->console};
    int code = EXIT_FAILED;
    if (window_begin(&window, options, true) && canvas_begin(&canvas, SNAPSHOT_ROWS, columns)) {
        code = EXIT_GOOD;
        for (size_t i = 0; i < window.machine_count; i++) {
            int wrong = snapshot_machine(
                &window, &canvas, &window.machines[i],
                !options->objects && (options->path_count || (options->files && !options->at)));
            code = wrong ? wrong : code;
        }
    }
    canvas_done(&canvas);
    window_end(&window);
    return code;
}
