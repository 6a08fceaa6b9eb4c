/* SPDX-License-Identifier: MIT */
/*
 * --plain, for screen readers and logs: no cursor movement; a line is printed when its text has
 * changed, and at most one line a second, so that a listener can follow.
 */
#include "screen.h"

#include "../../common/options.h"
#include "../../view/text.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LINE = 640, LINES_MOST = 256 };

struct plain {
    char now[LINES_MOST][LINE], printed[LINES_MOST][LINE];
    size_t count, next; /* the line to compare first, so that every line gets its turn */
};

/* Adds a machine's lines: why no samples arrive (empty: they do), what its tasks wait for, and the
 * used shares of processors and memory. */
static void describe_machine(struct plain *plain, const struct window *window,
                             const struct machine *machine)
{
    char problem[300] = "", verdict[200], shares[2][TEXT_SIZE], title[280] = "";
    double processors, memory;
    if (window->machine_count > 1)
        snprintf(title, sizeof title, "%s: ", machine_title(machine));
    overview_verdict(machine->overview, verdict, sizeof verdict);
    overview_shares(machine->overview, &processors, &memory);
    text_whole(processors, shares[0]);
    text_whole(memory, shares[1]);
    if (plain->count + 3 > LINES_MOST)
        return;
    bool good = !window_problem(window, machine, problem, sizeof problem);
    snprintf(plain->now[plain->count++], LINE, "%s%s", good ? "" : title, problem);
    snprintf(plain->now[plain->count++], LINE, local("%sheld up by: %s"), title, verdict);
    snprintf(plain->now[plain->count++], LINE, local("%sprocessors %s %%, memory %s %%"), title,
             shares[0], shares[1]);
}

/* Prints the next line that has changed; false: standard output is closed. */
static bool print_next(struct plain *plain)
{
    for (size_t i = 0; i < plain->count; i++) {
        size_t at = (plain->next + i) % plain->count;
        if (!strcmp(plain->now[at], plain->printed[at]))
            continue;
        strcpy(plain->printed[at], plain->now[at]);
        if (!*plain->now[at])
            continue;
        plain->next = at + 1;
        return puts(text_seen(plain->now[at])) >= 0 && fflush(stdout) == 0;
    }
    return true;
}

int plain_run(struct window *window)
{
    struct plain *plain = calloc(1, sizeof *plain);
    bool good = plain != NULL;
    while (good) {
        struct timespec second = {1, 0};
        model_update(window->model);
        plain->count = 0;
        for (size_t i = 0; i < window->machine_count; i++)
            describe_machine(plain, window, &window->machines[i]);
        for (size_t i = 0, lines = chart_lines(window->chart);
             i < lines && plain->count < LINES_MOST; i++)
            chart_line(window->chart, i, plain->now[plain->count++], LINE);
        good = print_next(plain);
        nanosleep(&second, NULL);
    }
    free(plain);
    return EXIT_FAILED;
}
