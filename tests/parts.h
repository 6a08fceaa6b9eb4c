/* SPDX-License-Identifier: MIT */
/*
 * Runs a test program's cases (cmocka tests) in four processes at once, for cases that mostly wait.
 * Each process runs every fourth case, with its own setup before and teardown after them. The
 * output is joined as if one process had run all cases in order. Include this after cmocka.h.
 */
#ifndef OPL_TEST_PARTS_H
#define OPL_TEST_PARTS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PARTS = 4, MOST_CASES = 128 };

static inline int parts_run_one(const struct CMUnitTest *tests, size_t count, size_t part,
                                CMFixtureFunction setup, CMFixtureFunction teardown)
{
    struct CMUnitTest own[MOST_CASES];
    size_t used = 0;
    for (size_t i = part; i < count && used < MOST_CASES; i += PARTS)
        own[used++] = tests[i];
    return _cmocka_run_group_tests("tests", own, used, setup, teardown);
}

/* Prints the output of one process: "ok 3 - name" gets its number among all cases; the line with
 * the plan is omitted. */
static inline void parts_print(int output, unsigned *number)
{
    char line[4096], *at;
    lseek(output, 0, SEEK_SET);
    FILE *file = fdopen(output, "r");
    while (file && fgets(line, sizeof line, file)) {
        size_t head = strncmp(line, "ok ", 3) == 0 ? 3 : strncmp(line, "not ok ", 7) == 0 ? 7 : 0;
        if (strncmp(line, "1..", 3) == 0)
            continue;
        if (head && strtoul(line + head, &at, 10) > 0 && *at == ' ')
            printf("%.*s%u%s", (int)head, line, ++*number, at);
        else
            fputs(line, stdout);
    }
    if (file)
        fclose(file);
}

/* Like cmocka_run_group_tests, but with four processes. Returns how many of these failed. */
static inline int parts_run(const struct CMUnitTest *tests, size_t count, CMFixtureFunction setup,
                            CMFixtureFunction teardown)
{
    int outputs[PARTS], status, failed = 0;
    unsigned number = 0;
    pid_t pids[PARTS];
    printf("1..%zu\n", count);
    fflush(NULL);
    for (size_t i = 0; i < PARTS; i++) {
        outputs[i] = memfd_create("part", MFD_CLOEXEC);
        pids[i] = fork();
        if (pids[i] != 0)
            continue;
        dup2(outputs[i], STDOUT_FILENO);
        int code = parts_run_one(tests, count, i, setup, teardown) != 0;
        fflush(NULL);
        exit(code);
    }
    for (size_t i = 0; i < PARTS; i++) {
        bool ended = waitpid(pids[i], &status, 0) == pids[i];
        if (!ended || status != 0)
            failed++;
        parts_print(outputs[i], &number);
    }
    return failed;
}

#endif
