/* SPDX-License-Identifier: MIT */
/* pcview --watch: queries repeatedly; keys select what is drawn. Without a terminal it prints
 * the view once, from two samples. */
#include "screen.h"
#include "terminal.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SNAPSHOT_ROWS = 15, NANOSECONDS = 1000000000 };

static double now_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / NANOSECONDS;
}

/* Does this snapshot contain the watched object? The home screen shows whatever there is. */
static bool answers(const struct watch *watch, struct view_snapshot *snapshot)
{
    opl_object_view object = {0};
    if (watch->home || !watch->objects[0])
        return true;
    while (snapshot_next_object(snapshot, &object))
        if (object.type.ObjectNameTitleIndex == watch->objects[0])
            return true;
    return false;
}

/* Takes a new sample; the previous one becomes the older one. A failed query, or one without an
 * answer for the object, leaves both unchanged: the view shows the age of the last answer. */
static LSTATUS sample(struct watch *watch, const char *query)
{
    static double last;
    struct pcview *view = watch->view;
    LSTATUS status = snapshot_query(&watch->spare, query);
    if (!status && !snapshot_begin(&watch->spare))
        status = ERROR_INVALID_DATA;
    bool good = !status && answers(watch, &watch->spare);
    last = good || last == 0 ? now_seconds() : last;
    watch->silent = good || status ? 0 : now_seconds() - last;
    if (!good)
        return status;
    struct view_snapshot oldest = view->before;
    view->before = view->now;
    view->now = watch->spare;
    watch->spare = oldest;
    view->has_before = view->before.size > 0;
    return ERROR_SUCCESS;
}

/* Selects the object to watch: an argument may have several indices, of which only one is an object
 * in the block. False: none. */
static bool choose_object(struct watch *watch)
{
    opl_object_view where = {0};
    bool all;
    while (snapshot_next_object(&watch->view->now, &where))
        if (watch->home || find_requested(watch->view, &where, &all)) {
            watch->objects[0] = where.type.ObjectNameTitleIndex;
            return true;
        }
    return false;
}

static int first_samples(struct watch *watch, const char *query)
{
    static const struct timespec pause = {0, SAMPLE_MILLISECONDS * 1000000L};
    LSTATUS status = sample(watch, query);
    if (!status && choose_object(watch)) {
        nanosleep(&pause, NULL);
        status = sample(watch, query);
    }
    if (status) {
        fprintf(stderr,
                "pcview: the query '%s' failed with error %d.\n"
                "OPENPERFLIB_TRACE=1 shows which step fails.\n",
                query, (int)status);
        return EXIT_FAILED;
    }
    if (choose_object(watch))
        return EXIT_GOOD;
    if (watch->home)
        fprintf(stderr, "pcview: no provider answered for processor, memory and processes. "
                        "'pcview' lists the objects; "
                        "OPENPERFLIB_TRACE=1 shows which providers were queried.\n");
    else
        find_report(watch->view);
    return EXIT_MISSING;
}

static void draw(struct watch *watch)
{
    char *frame = NULL;
    size_t size = 0;
    int rows, columns;
    FILE *out = open_memstream(&frame, &size);
    if (!out)
        return;
    terminal_size(&rows, &columns);
    screen_draw(watch, out, rows, columns);
    fclose(out);
    terminal_draw(frame, size);
    free(frame);
}

static void move(struct watch *watch, long by)
{
    long to = (long)watch->selected + by, last = (long)watch->row_count - 1;
    watch->selected = (size_t)(to < 0 ? 0 : to > last ? (last > 0 ? last : 0) : to);
}

static void sort_by(struct watch *watch, int step)
{
    int columns = (int)watch->column_count;
    if (columns == 0)
        return;
    watch->sort_chosen = true;
    watch->sort = (watch->sort + step + columns) % columns;
    watch->ascending = false;
}

static void search_key(struct watch *watch, int key)
{
    size_t used = strlen(watch->filter);
    if (key == KEY_ENTER || key == KEY_ESCAPE)
        watch->searching = false;
    if (key == KEY_ESCAPE)
        watch->filter[0] = 0;
    else if (key == KEY_BACKSPACE && used) {
        while (used && (watch->filter[--used] & 0xc0) == 0x80)
            ;
        watch->filter[used] = 0;
    } else if (key >= ' ' && key < 256 && used + 1 < sizeof watch->filter) {
        watch->filter[used] = (char)key;
        watch->filter[used + 1] = 0;
    }
    watch->selected = watch->first = 0;
}

static void change_seconds(struct watch *watch, bool longer)
{
    static const double steps[] = {0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60};
    size_t count = sizeof steps / sizeof *steps, at = 0;
    while (at < count && steps[at] < watch->seconds)
        at++;
    if (longer)
        at += at < count && steps[at] <= watch->seconds;
    else
        at -= at > 0;
    watch->seconds = steps[at < count ? at : count - 1];
}

/* Handles the keys that move the cursor; true if it was one. */
static bool move_key(struct watch *watch, int key)
{
    long page = (long)watch->page, all = (long)watch->row_count;
    const struct {
        int key;
        long by;
    } moves[] = {
        {KEY_UP,        -1   },
        {'k',           -1   },
        {KEY_DOWN,      1    },
        {'j',           1    },
        {KEY_PAGE_UP,   -page},
        {'b',           -page},
        {KEY_PAGE_DOWN, page },
        {'f',           page },
        {KEY_HOME,      -all },
        {'g',           -all },
        {KEY_END,       all  },
        {'G',           all  }
    };
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++)
        if (moves[i].key == key) {
            move(watch, moves[i].by);
            return true;
        }
    return false;
}

/* Handles a key. False: the user wants to leave. */
static bool take_key(struct watch *watch, int key)
{
    if (key == 'q' && !watch->searching)
        return false;
    if (watch->help) {
        watch->help = false;
        return true;
    }
    if (watch->searching) {
        search_key(watch, key);
        return true;
    }
    if (move_key(watch, key))
        return true;
    if (key == KEY_LEFT || key == '<' || key == KEY_RIGHT || key == '>')
        sort_by(watch, key == KEY_LEFT || key == '<' ? -1 : 1);
    else if (key == '+' || key == '-')
        change_seconds(watch, key == '+');
    else if (key == '?' || key == 'h')
        watch->help = true;
    else if (key == '/')
        watch->searching = true;
    else if (key == 'e')
        watch->explain = !watch->explain;
    else if (key == 'r')
        watch->ascending = !watch->ascending;
    else if (key == ' ')
        watch->paused = !watch->paused;
    else if (key == KEY_ESCAPE)
        watch->filter[0] = 0;
    return true;
}

/* Handles keys until the next sample is due; false: the user or a signal ends the program. */
static bool wait_for_keys(struct watch *watch, double due)
{
    for (;;) {
        double left = due - now_seconds();
        if (left <= 0)
            return true;
        int key = terminal_key((long)(left * 1000) + 1);
        if (key == KEY_SIGNAL || key == KEY_END_OF_INPUT)
            return false;
        if (key == KEY_TIMEOUT)
            continue;
        if (!take_key(watch, key))
            return false;
        draw(watch);
        if (key == '+' || key == '-')
            return true;
    }
}

static int watch_screen(struct watch *watch, const char *query)
{
    if (!terminal_begin())
        return EXIT_FAILED;
    double due = now_seconds();
    for (;;) {
        draw(watch);
        due += watch->seconds;
        if (due < now_seconds()) /* the query took longer than the interval: skip samples */
            due = now_seconds() + watch->seconds;
        if (!wait_for_keys(watch, due))
            break;
        if (!watch->paused)
            watch->status = sample(watch, query);
    }
    terminal_end();
    if (terminal_signal()) { /* ends by the signal, so that the calling shell sees it */
        signal(terminal_signal(), SIG_DFL);
        raise(terminal_signal());
    }
    return EXIT_GOOD;
}

int watch_run(struct pcview *view)
{
    struct watch watch = {.view = view,
                          .home = view->wanted_count == 0,
                          .sort = TABLE_UNSORTED,
                          .seconds = view->seconds};
    char *query = watch.home ? screen_home_query() : find_query(view);
    int code = first_samples(&watch, query ? query : "none");
    if (!code && view->terminal && isatty(STDIN_FILENO)) {
        code = watch_screen(&watch, query);
    } else if (!code && watch.home) {
        screen_snapshot(&watch, view->out, view->width, SNAPSHOT_ROWS);
    } else if (!code) {
        view->values |= !view->counters && !view->explain;
        code = show_objects(view) ? EXIT_GOOD : EXIT_FAILED;
    }
    free(query);
    snapshot_done(&watch.spare);
    return code;
}
