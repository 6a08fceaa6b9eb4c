/* SPDX-License-Identifier: MIT */
/* Skips a test that cannot be run here. cmocka 1.1.5 prints "not ok # SKIP", which Meson treats as
 * a failure; so the test passes instead, with a comment that scripts/tally counts as skipped. */
#ifndef OPL_TEST_SKIP_H
#define OPL_TEST_SKIP_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static inline void report_skipped(const char *why)
{
    printf("# skipped: %s\n", why);
    fflush(stdout);
}

/* Does this process see all processes that the kernel counts? Not in a PID namespace (a
 * container). */
static inline bool sees_all_processes(void)
{
    char space[64] = "";
    ssize_t length = readlink("/proc/self/ns/pid", space, sizeof space - 1);
    return length > 0 && strcmp(space, "pid:[4026531836]") == 0 &&
           access("/proc/2/stat", R_OK) == 0;
}

#endif
