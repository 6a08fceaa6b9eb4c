/* SPDX-License-Identifier: MIT */
/*
 * The list of logman's sets, with start, stop and a new set from the chart's counters; and the page
 * in a browser. Two other programs, logman and "perfmon open", do the work and print what went
 * wrong; a third, journalctl, finds the next alert. The drawing never waits for them.
 */
#include "screen.h"

#include "keys.h"

#include "../../common/beside.h"
#include "../../view/text.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ESCAPE = 27, PART_SIZE = 128, MOST_ARGS = 10 };

static void close_child(struct sets_view *sets)
{
    if (sets->child)
        close(sets->output);
    sets->child = 0;
}

/* Starts a program of this installation, or journalctl; `args`: its arguments, ended by NULL. */
static void run(struct window *window, const char *program, enum sets_purpose purpose,
                const char *const *args)
{
    struct sets_view *sets = &window->sets;
    posix_spawn_file_actions_t actions;
    char path[4096], *list[MOST_ARGS] = {path};
    int ends[2], count = 1;
    sets_end_search(sets); /* no other program waits for it */
    if (sets->child)
        window_report(window, "%s", local("busy: another program is running; try again"));
    if (sets->child || pipe2(ends, O_CLOEXEC | O_NONBLOCK))
        return;
    for (; args[count - 1]; count++)
        list[count] = (char *)args[count - 1];
    if (purpose == SETS_ALERT)
        snprintf(path, sizeof path, "%s", program);
    else
        beside_path(program, path, sizeof path);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    int error = posix_spawnp(&sets->child, path, &actions, NULL, list, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    sets->output = ends[0];
    sets->purpose = purpose;
    sets->used = 0;
    if (!error)
        return;
    close(ends[0]);
    sets->child = 0;
    window_report(window, "%s: %s", program, strerror(error));
}

static void query(struct window *window)
{
    run(window, "logman", SETS_QUERY, (const char *const[]){"query", "--tabs", NULL});
}

void sets_open_page(struct window *window)
{
    run(window, "perfmon", SETS_PAGE, (const char *const[]){"open", NULL});
}

void sets_find_alert(struct window *window, int64_t since)
{
    char time[48];
    snprintf(time, sizeof time, "--since=@%lld", (long long)since);
    window_report(window, "searching; a key for another time ends the search");
    run(window, "journalctl", SETS_ALERT,
        (const char *const[]){"--quiet", "--no-pager", "--output=short-unix", time,
                              "SYSLOG_IDENTIFIER=openperflib", "OPENPERFLIB_SOURCE=PLA",
                              "OPENPERFLIB_ID=2031", NULL});
}

void sets_end_search(struct sets_view *sets)
{
    if (!sets->child || sets->purpose != SETS_ALERT)
        return;
    kill(sets->child, SIGKILL);
    waitpid(sets->child, NULL, 0);
    close_child(sets);
}

/* Keeps the rows of the list that logman printed: name, type and status, with tabs between them. A
 * message of logman has none. */
static void read_list(struct sets_view *sets)
{
    char *state = NULL;
    text_list_done(&sets->rows);
    for (char *row = sets->text; (row = strtok_r(row, "\n", &state)); row = NULL)
        if (strchr(row, '\t'))
            text_list_add(&sets->rows, row);
}

enum part { PART_NAME, PART_TYPE, PART_STATUS, PARTS };

static void part_of(const char *row, enum part part, char text[static PART_SIZE])
{
    for (int i = 0; i < (int)part; i++)
        row += strcspn(row, "\t") + (row[strcspn(row, "\t")] == '\t');
    snprintf(text, PART_SIZE, "%.*s", (int)strcspn(row, "\t"), row);
}

static void draw_row(struct canvas *canvas, int row, const char *text)
{
    static const int columns[] = {2, 42, 72};
    char part[PART_SIZE];
    for (int i = 0; i < PARTS; i++) {
        int last = i + 1 < PARTS ? columns[i + 1] - 1 : canvas->columns;
        part_of(text, (enum part)i, part);
        canvas_text(canvas, row, columns[i], last - columns[i], STYLE_PLAIN, text_seen(part));
    }
}

/* Shows logman's output as one line: its errors, or that it was successful. */
static void take_answer(struct window *window, int state)
{
    struct sets_view *sets = &window->sets;
    bool good = WIFEXITED(state) && WEXITSTATUS(state) == 0;
    if (sets->purpose == SETS_QUERY && good) {
        read_list(sets);
        return;
    }
    if (sets->purpose == SETS_ALERT && good) {
        moment_take_alert(window, sets->text);
        return;
    }
    for (char *at = sets->text; (at = strchr(at, '\n'));)
        *at = at[1] ? ' ' : 0;
    window_report(window, "%s", *sets->text || good ? text_seen(sets->text) : local("no answer"));
    if (sets->purpose == SETS_CHANGE)
        query(window);
}

void sets_update(struct window *window)
{
    struct sets_view *sets = &window->sets;
    ssize_t got = 1;
    int state;
    while (sets->child && got > 0) {
        size_t left = sizeof sets->text - 1 - sets->used;
        char rest[256]; /* output that does not fit is dropped */
        got = read(sets->output, left ? sets->text + sets->used : rest, left ? left : sizeof rest);
        sets->used += got > 0 && left ? (size_t)got : 0;
    }
    if (!sets->child || (got < 0 && errno == EAGAIN))
        return;
    sets->text[sets->used] = 0;
    waitpid(sets->child, &state, 0);
    close_child(sets);
    take_answer(window, state);
}

void sets_done(struct sets_view *sets)
{
    close_child(sets);
    text_list_done(&sets->rows);
}

/* Writes the chart's counters to a file, and makes a set of them. */
static void create(struct window *window)
{
    char path[CONFIG_PATH_SIZE];
    struct config_file file;
    const struct chart *chart = window->chart;
    if (!*window->sets.name.text)
        return;
    if (!config_path("new-set.txt", path) || !config_begin(&file, path)) {
        window_report(window, "new-set.txt: %s", strerror(errno));
        return;
    }
    char counter[PDH_MAX_COUNTER_PATH];
    for (size_t i = 0; chart_path(chart, i, counter, sizeof counter); i++)
        fprintf(file.file, "%s\n", counter);
    if (!config_end(&file))
        window_report(window, "%s: %s", path, strerror(errno));
    else
        run(window, "logman", SETS_CHANGE,
            (const char *const[]){"create", "counter", window->sets.name.text, "-cf", path, NULL});
}

bool sets_draw(struct window *window, struct canvas *canvas, int row, int last)
{
    struct sets_view *sets = &window->sets;
    if (!sets->open)
        return false;
    cursor_fit(&sets->cursor, sets->rows.count, (size_t)(last - row - 1));
    canvas_text(canvas, row, 0, canvas->columns, STYLE_TITLE,
                local("Sets of logman   Enter: start or stop   R: a new set with the chart's "
                      "counters   Escape: back"));
    sets->cursor.row = row + 1;
    if (!sets->rows.count)
        canvas_text(canvas, row + 1, 2, canvas->columns - 2, STYLE_WEAK,
                    sets->child ? "..." : local("there are no sets"));
    for (size_t i = sets->cursor.first; i < sets->rows.count && ++row < last; i++) {
        draw_row(canvas, row, sets->rows.texts[i]);
        if (i == sets->cursor.at)
            canvas_style(canvas, row, 0, canvas->columns, STYLE_SELECTED);
    }
    return true;
}

/* Starts the selected set; if it runs, stops it. */
static void change_selected(struct window *window)
{
    const char *row = window->sets.rows.texts[window->sets.cursor.at];
    char name[PART_SIZE], status[PART_SIZE];
    part_of(row, PART_NAME, name);
    part_of(row, PART_STATUS, status);
    bool running = strcmp(status, "Running") == 0;
    run(window, "logman", SETS_CHANGE,
        (const char *const[]){running ? "stop" : "start", name, NULL});
}

bool sets_key(struct window *window, int key)
{
    struct sets_view *sets = &window->sets;
    bool typing = sets->name.open;
    if (field_key(&sets->name, key)) {
        if (typing && !sets->name.open)
            create(window);
        return true;
    }
    if (key == 'R' && (sets->open || window->view == VIEW_CHART)) {
        sets->name = (struct field){.open = true};
        return true;
    }
    if (!sets->open) {
        if (key != 'D')
            return false;
        sets->open = true;
        query(window);
    } else if (cursor_enter(&sets->cursor, key) && sets->cursor.at < sets->rows.count) {
        change_selected(window);
    } else if (!cursor_key(&sets->cursor, key)) {
        sets->open = key != ESCAPE && key != 'q' && key != 'D';
    }
    return true;
}
