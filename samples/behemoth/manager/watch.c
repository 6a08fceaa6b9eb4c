/* SPDX-License-Identifier: MIT */
/*
 * Queries repeatedly, and reports births and deaths: on a terminal on a screen that is redrawn,
 * elsewhere as lines. If the server ends, the program waits for it.
 */
#include "manager.h"

#include "../client/terminal.h"
#include "../client/text.h"

#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { EVENTS = 200, EVENT_TEXT = 120, HISTORY = 400, HEAD_LINES = 7, BUSY_MS = 500 };

struct event {
    char when[24];
    char sign; /* '+', '-', or ' ' */
    char text[EVENT_TEXT];
};

struct watch {
    struct manager *manager;
    bool lines;                       /* no terminal: everything is a line */
    bool there;                       /* the server answered the last time */
    struct behemoth_herd now, before; /* summaries */
    struct behemoth *all;             /* those of `now` */
    size_t count, capacity;
    struct event events[EVENTS]; /* a ring */
    size_t event_count;
    uint32_t history[HISTORY]; /* how many lived, a ring */
    size_t looks;
    int64_t began;
};

/* ---- what happened ---- */

static void clock_words(char *storage, size_t bytes)
{
    struct tm tm = {0};
    time_t now = time(NULL);
    storage[0] = 0;
    if (localtime_r(&now, &tm))
        strftime(storage, bytes, "%H:%M:%S", &tm);
}

__attribute__((format(printf, 3, 4))) static void print_line(struct watch *watch, char sign,
                                                             const char *format, ...)
{
    struct event *event = &watch->events[watch->event_count++ % EVENTS];
    va_list list;
    clock_words(event->when, sizeof event->when);
    event->sign = sign;
    va_start(list, format);
    vsnprintf(event->text, sizeof event->text, format, list);
    va_end(list);
    if (watch->lines)
        printf("%s %c %s\n", event->when, sign, event->text);
}

static void print_newcomer(struct watch *watch, const struct behemoth_herd *herd,
                           const struct behemoth *is)
{
    const struct behemoth *all = behemoth_all(herd);
    if (is->mother_position != BEHEMOTH_NONE)
        print_line(watch, '+', "%s (%" PRIu64 "), %s, of %s", is->name, is->id, sex_word(is->sex),
                   all[is->mother_position].name);
    else
        print_line(watch, '+', "%s (%" PRIu64 "), %s", is->name, is->id, sex_word(is->sex));
}

static void print_death(struct watch *watch, const struct behemoth_herd *herd,
                        const struct behemoth *was)
{
    char age[32];
    print_line(watch, '-', "%s (%" PRIu64 "), %s, at the age of %s", was->name, was->id,
               sex_word(was->sex), age_text(herd->time - was->birthday, age));
}

/* Both are sorted by number: one that is in only one list was born or died. */
static void compare(struct watch *watch, const struct behemoth_herd *herd)
{
    const struct behemoth *all = behemoth_all(herd);
    uint64_t came = 0;
    uint32_t i = 0;
    for (size_t j = 0; i < herd->count || j < watch->count;) {
        bool old_left = j < watch->count, new_left = i < herd->count;
        if (old_left && (!new_left || watch->all[j].id < all[i].id)) {
            print_death(watch, herd, &watch->all[j++]);
        } else if (!old_left || all[i].id < watch->all[j].id) {
            came++;
            print_newcomer(watch, herd, &all[i++]);
        } else {
            i++, j++;
        }
    }
    uint64_t counted = herd->births + herd->founded - watch->now.births - watch->now.founded;
    if (counted > came)
        print_line(watch, ' ', "%" PRIu64 " came and went between two looks", counted - came);
}

static bool keep(struct watch *watch, const struct behemoth_herd *herd)
{
    if (herd->count > watch->capacity) {
        struct behemoth *all = realloc(watch->all, herd->count * sizeof *all);
        if (!all)
            return false;
        watch->all = all;
        watch->capacity = herd->count;
    }
    if (herd->count > 0)
        memcpy(watch->all, behemoth_all(herd), herd->count * sizeof *watch->all);
    watch->count = herd->count;
    watch->before = watch->looks > 0 ? watch->now : *herd;
    watch->now = *herd;
    watch->history[watch->looks++ % HISTORY] = herd->count;
    return true;
}

static void take(struct watch *watch, const struct behemoth_herd *herd)
{
    bool first = watch->looks == 0;
    bool other = !first && (herd->process != watch->now.process);
    if (!watch->there && !first)
        print_line(watch, ' ', "the server is back, process %" PRIu64, herd->process);
    if (other && (herd->ticks < watch->now.ticks || herd->births < watch->now.births))
        print_line(watch, ' ', "it began anew from what was saved");
    else if (!first)
        compare(watch, herd);
    if (first)
        print_line(watch, ' ', "%u behemoths", (unsigned)herd->count);
    watch->there = keep(watch, herd);
}

static void look(struct watch *watch)
{
    struct manager *manager = watch->manager;
    const struct behemoth_herd *herd = NULL;
    if (behemoth_ask(&manager->line, manager->place, BEHEMOTH_HERD, NULL, 0,
                     behemoth_now() + BUSY_MS))
        herd = behemoth_herd_of(&manager->line);
    if (herd) {
        take(watch, herd);
        return;
    }
    if (watch->there)
        print_line(watch, ' ', "the server does not answer any more; waiting for it");
    watch->there = false;
}

/* ---- the screen ---- */

struct canvas {
    FILE *out;
    int rows, columns, used;
    bool colours;
};

static void put_line(struct canvas *canvas, const char *colour, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void put_line(struct canvas *canvas, const char *colour, const char *format, ...)
{
    char text[1024];
    va_list list;
    if (canvas->used >= canvas->rows)
        return;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    canvas->used++;
    fputs(canvas->colours ? colour : "", canvas->out);
    text_line(canvas->out, text, strlen(text), canvas->columns);
    fputs(canvas->colours ? "\033[0m\n" : "\n", canvas->out);
}

static void put_head(struct canvas *canvas, const struct watch *watch)
{
    const struct behemoth_herd *now = &watch->now, *before = &watch->before;
    char age[32], when[32];
    double passed = (double)(now->moment - before->moment) / BEHEMOTH_SECOND;
    double births = passed > 0 ? (double)(now->births - before->births) / passed : 0;
    double deaths = passed > 0 ? (double)(now->deaths - before->deaths) / passed : 0;
    double speed = passed > 0 ? (double)(now->ticks - before->ticks) / passed : 0;
    int64_t mean = now->count > 0 ? (int64_t)(now->ages / now->count) : 0;
    put_line(canvas, "\033[1m", "Behemoths at %s, process %" PRIu64 "%*s", watch->manager->place,
             now->process, 3, "");
    put_line(canvas, watch->there ? "" : "\033[1;31m", "%s",
             watch->there ? "" : "The server does not answer; this is what it said last.");
    put_line(canvas, "", "Herd time  %s  %s since it began, %.0f seconds in one of ours",
             time_words(now->time, when), age_text((int64_t)now->ticks * BEHEMOTH_SECOND, age),
             speed);
    put_line(canvas, "", "Living     %-8u mean age %s, %.1f t", (unsigned)now->count,
             age_text(mean * BEHEMOTH_SECOND, age), (double)now->weight / 1000);
    put_line(canvas, "\033[32m", "Born       %-8" PRIu64 " %.1f in a second", now->births, births);
    put_line(canvas, "\033[31m", "Died       %-8" PRIu64 " %.1f in a second", now->deaths, deaths);
}

/* The number of living behemoths at each query, the newest at the right edge. */
static void put_history(struct canvas *canvas, const struct watch *watch)
{
    static const char *const bars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    size_t kept = watch->looks < HISTORY ? watch->looks : HISTORY;
    size_t shown = kept < (size_t)canvas->columns ? kept : (size_t)canvas->columns;
    uint32_t least = UINT32_MAX, most = 0;
    if (canvas->used >= canvas->rows)
        return;
    for (size_t i = watch->looks - shown; i < watch->looks; i++) {
        uint32_t count = watch->history[i % HISTORY];
        least = count < least ? count : least;
        most = count > most ? count : most;
    }
    for (size_t i = watch->looks - shown; i < watch->looks; i++) {
        uint32_t above = watch->history[i % HISTORY] - least;
        fputs(bars[most > least ? above * 7 / (most - least) : 0], canvas->out);
    }
    canvas->used++;
    fputc('\n', canvas->out);
}

static void put_events(struct canvas *canvas, const struct watch *watch)
{
    size_t kept = watch->event_count < EVENTS ? watch->event_count : EVENTS;
    for (size_t i = 0; i < kept && canvas->used < canvas->rows - 1; i++) {
        const struct event *event = &watch->events[(watch->event_count - 1 - i) % EVENTS];
        const char *colour = event->sign == '+'   ? "\033[32m"
                             : event->sign == '-' ? "\033[31m"
                                                  : "\033[2m";
        put_line(canvas, colour, "%s %c %s", event->when, event->sign, event->text);
    }
    while (canvas->used < canvas->rows - 1)
        put_line(canvas, "", "%s", "");
    put_line(canvas, "\033[2m", "q quit");
}

static void draw(const struct watch *watch, bool whole)
{
    char *frame = NULL;
    size_t size = 0;
    struct canvas canvas = {.out = open_memstream(&frame, &size),
                            .colours = watch->manager->colours};
    if (!canvas.out)
        return;
    terminal_size(&canvas.columns, &canvas.rows);
    put_head(&canvas, watch);
    put_history(&canvas, watch);
    put_events(&canvas, watch);
    fclose(canvas.out);
    terminal_draw(frame, whole);
    free(frame);
}

/* ---- the two ways to watch ---- */

static bool time_is_up(const struct watch *watch)
{
    int64_t limit = watch->manager->seconds;
    return limit > 0 && behemoth_now() - watch->began >= limit * 1000;
}

/* False: the end. */
static bool wait_for_keys(const struct watch *watch, int64_t until)
{
    for (int64_t left; (left = until - behemoth_now()) > 0;) {
        int key = terminal_key((int)left);
        if (key == 'q' || key == 'Q' || key == KEY_END)
            return false;
        if (key == KEY_RESIZE)
            draw(watch, true);
    }
    return true;
}

static int watch_screen(struct watch *watch)
{
    int64_t interval = (int64_t)(watch->manager->interval * 1000);
    if (!terminal_begin())
        return EXIT_FAILED;
    draw(watch, true);
    do {
        draw(watch, false);
        if (!wait_for_keys(watch, behemoth_now() + interval))
            break;
        look(watch);
    } while (!time_is_up(watch));
    terminal_end();
    return EXIT_GOOD;
}

static int watch_lines(struct watch *watch)
{
    while (!time_is_up(watch)) {
        poll(NULL, 0, (int)(watch->manager->interval * 1000));
        look(watch);
    }
    return EXIT_GOOD;
}

int command_watch(struct manager *manager)
{
    const struct behemoth_herd *herd;
    bool screen = isatty(STDOUT_FILENO) && isatty(STDIN_FILENO);
    struct watch *watch = calloc(1, sizeof *watch);
    int code = watch ? manager_herd(manager, &herd) : EXIT_FAILED;
    if (code) {
        free(watch);
        return code;
    }
    text_begin();
    watch->manager = manager;
    watch->lines = !screen;
    watch->began = behemoth_now();
    setvbuf(stdout, NULL, _IOLBF, 0);
    take(watch, herd);
    code = screen ? watch_screen(watch) : watch_lines(watch);
    free(watch->all);
    free(watch);
    return code;
}
