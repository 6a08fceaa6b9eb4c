/* SPDX-License-Identifier: MIT */
/* Queries, draws, waits for keys. If a query fails, the last data stays on the screen, with a
 * message. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* open_memstream */
#endif
#include "live.h"

#include "columns.h"
#include "terminal.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { KEY_REDRAW = 'L' - 64, LOW = 12 }; /* a window with too few lines */

static const char help_text[] =
    "f  the field          l  the list          t  the family tree\n"
    "z  Z                  less of the field, or more of it; arrows: another part\n"
    "arrows, Page Up, Page Down, Home, End   scroll; left and right: columns of the list\n"
    "<  >  r               order the list by another column, the other way round\n"
    "+  -                  ask less often, more often\n"
    "Ctrl-L                draw everything anew\n"
    "q                     end\n"
    "\n"
    "All of it comes from HKEY_PERFORMANCE_DATA. Rates need two answers; while the server is away\n"
    "what it said last is shown.\n";

static double now_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* ---- a frame ---- */

static void draw_tabs(FILE *out, const struct live *live)
{
    const struct view *view = &live->view;
    const struct look *look = &view->look;
    char machine[SHOWN_NAME * 3];
    text_clean(live->shown.machine, machine, sizeof machine);
    fprintf(out, "%s%s%s %s  ", look->title, titles_get(&live->titles, BEHEMOTH), look->off,
            machine);
    for (int i = 0; i < VIEW_KINDS; i++) {
        bool active = (int)view->kind == i;
        fprintf(out, "  %s%s%s%s%s", active ? look->strong : look->weak, active ? "[" : " ",
                view_names[i], active ? "]" : " ", look->off);
    }
    fprintf(out, "    %severy %g s%s\n", look->weak, live->interval, look->off);
}

static void draw_keys(FILE *out, const struct live *live)
{
    const struct look *look = &live->view.look;
    const char *here = live->view.kind == VIEW_FIELD ? "z Z zoom" : "arrows scroll";
    fputs(look->weak, out);
    if (live->help)
        fputs("any key: back", out);
    else
        fprintf(out, "q end   f field   t tree   l list   %s   + - interval   ? help", here);
    fputs(look->off, out);
}

static int draw_summary(FILE *out, const struct view *view)
{
    int lines = summary_draw(out, view);
    lines += trouble_draw(out, view);
    if (view->kind == VIEW_FIELD || view->rows < LOW)
        return lines;
    fputc('\n', out);
    return lines + 1;
}

/* Exactly the screen's height: the last line has the keys. */
static void draw_frame(FILE *out, struct live *live)
{
    struct view *view = &live->view;
    draw_tabs(out, live);
    int left = view->rows - 2 - draw_summary(out, view);
    if (live->help)
        fputs(help_text, out);
    else if (view->kind == VIEW_FIELD)
        field_draw(out, view, view->columns, left);
    else
        table_draw(out, view, left > 3 ? left : 3);
}

/* A view that is too long is cut, one that is too short is filled with empty lines, so that the
 * keys are on the last line. */
static void add_keys(FILE *out, const struct live *live, const char *text)
{
    for (int row = 0; row + 1 < live->view.rows; row++) {
        size_t bytes = strcspn(text, "\n");
        fprintf(out, "%.*s\n", (int)bytes, text);
        text += bytes + (text[bytes] == '\n');
    }
    draw_keys(out, live);
}

static void draw(struct live *live, bool whole)
{
    char *frame = NULL, *screen = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&frame, &size);
    terminal_size(&live->view.columns, &live->view.rows);
    if (!out)
        return;
    draw_frame(out, live);
    FILE *all = fclose(out) == 0 ? open_memstream(&screen, &size) : NULL;
    if (all) {
        add_keys(all, live, frame);
        if (fclose(all) == 0)
            terminal_draw(screen, whole);
    }
    free(frame);
    free(screen);
}

/* ---- queries ---- */

/* After another registration it has different numbers. */
static LSTATUS find_again(struct live *live)
{
    struct shown fresh;
    LSTATUS status = shown_open(&fresh, live->machine);
    if (!status)
        status = shown_read(&fresh);
    if (status) {
        shown_close(&fresh);
        return status;
    }
    shown_close(&live->shown);
    live->shown = fresh;
    struct titles titles;
    if (titles_load(&titles, &live->shown, live->titles.language) == ERROR_SUCCESS) {
        titles_free(&live->titles);
        live->titles = titles;
    }
    return ERROR_SUCCESS;
}

static void ask(struct live *live)
{
    LSTATUS status = shown_read(&live->shown);
    if (status == ERROR_FILE_NOT_FOUND)
        status = find_again(live);
    live->view.failed = status;
}

/* ---- keys ---- */

static void change_interval(struct live *live, bool longer)
{
    static const double steps[] = {0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60};
    size_t count = sizeof steps / sizeof *steps, at = 0;
    while (at < count && steps[at] < live->interval)
        at++;
    if (longer)
        at += at < count && steps[at] <= live->interval;
    else
        at -= at > 0;
    live->interval = steps[at < count ? at : count - 1];
}

static void scroll_to(struct view *view, int64_t top)
{
    int64_t last = (int64_t)view->table_count - (int64_t)view->table_rows;
    top = top > last ? last : top;
    view->top = top > 0 ? (size_t)top : 0;
}

static bool move(struct view *view, int key)
{
    if (key == 'z' || key == 'Z')
        field_zoom(view, key == 'z');
    else if (key == KEY_LEFT || key == KEY_RIGHT)
        field_move(view, key == KEY_LEFT ? -1 : 1, 0);
    else if (key == KEY_UP || key == KEY_DOWN)
        field_move(view, 0, key == KEY_UP ? -1 : 1);
    else
        return false;
    return true;
}

static bool scroll(struct view *view, int key)
{
    int64_t top = (int64_t)view->top, page = (int64_t)view->table_rows;
    if (key == KEY_UP || key == KEY_DOWN)
        scroll_to(view, top + (key == KEY_UP ? -1 : 1));
    else if (key == KEY_PAGE_UP || key == KEY_PAGE_DOWN)
        scroll_to(view, top + (key == KEY_PAGE_UP ? -page : page));
    else if (key == KEY_FIRST || key == KEY_LAST)
        scroll_to(view, key == KEY_FIRST ? 0 : INT64_MAX);
    else if (key == KEY_LEFT)
        view->left -= view->left > 0;
    else if (key == KEY_RIGHT)
        view->left += view->left + 2 < COLUMNS;
    else
        return false;
    return true;
}

static void choose(struct view *view, enum view_kind kind)
{
    view->kind = kind;
    view->top = 0;
    view->left = 0;
}

/* False: the end. */
static bool take_key(struct live *live, int key)
{
    struct view *view = &live->view;
    if (key == 'q' || key == KEY_END)
        return false;
    if (live->help) {
        live->help = false;
        return true;
    }
    if (view->kind == VIEW_FIELD ? move(view, key) : scroll(view, key))
        return true;
    if (key == 'f' || key == 't' || key == 'l')
        choose(view, key == 'f' ? VIEW_FIELD : key == 't' ? VIEW_TREE : VIEW_LIST);
    else if (key == '+' || key == '-')
        change_interval(live, key == '+');
    else if (key == '<' || key == '>')
        table_sort_next(view, key == '<' ? -1 : 1);
    else if (key == 'r')
        view->descending = !view->descending;
    else if (key == '?' || key == 'h')
        live->help = true;
    return true;
}

/* Until it is time for the next query; false: the end. */
static bool wait_for_keys(struct live *live, double begun)
{
    for (;;) {
        double left = begun + live->interval - now_seconds();
        if (left <= 0)
            return true;
        int key = terminal_key((int)(left * 1000) + 1);
        if (key == KEY_NONE)
            continue;
        bool whole = key == KEY_RESIZE || key == KEY_REDRAW;
        if (!whole && !take_key(live, key))
            return false;
        draw(live, whole);
    }
}

bool live_run(struct live *live)
{
    if (!terminal_begin())
        return false;
    live->view.shown = &live->shown;
    live->view.titles = &live->titles;
    live->view.rates = true;
    for (bool whole = true;; whole = false) {
        double begun = now_seconds();
        draw(live, whole);
        if (!wait_for_keys(live, begun))
            break;
        ask(live);
    }
    terminal_end();
    return true;
}
