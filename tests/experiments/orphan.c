/* SPDX-License-Identifier: MIT */
/*
 * The keeper (the process that starts the helper processes) is killed. One helper process has
 * switched off the signal that would end it with its parent: it must end soon nevertheless, and the
 * querying program gets a new one.
 */
#include "session.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { TIMEOUT_MS = 20000 };
static unsigned char data[1 << 16];

static void run_query(void)
{
    DWORD size = sizeof data;
    assert_int_equal(RegQueryValueExA(HKEY_PERFORMANCE_DATA, "22222", NULL, NULL, data, &size), 0);
    assert_true(size > 150);
}

static int parent_of(int pid)
{
    char path[64];
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *file = fopen(path, "r");
    if (file && fscanf(file, "%*d (%*[^)]) %*c %d", &parent) != 1)
        parent = 0;
    if (file)
        fclose(file);
    return parent;
}

static void a_helper_without_its_keeper_ends(void **state)
{
    install("record_open", "record_unparented", NULL);
    run_query();
    int helper = atoi(lab_read("notes")), keeper = parent_of(helper);
    assert_in_range(keeper, 2, 1 << 30);
    assert_int_not_equal(keeper, getpid());
    assert_int_equal(kill(keeper, SIGKILL), 0);
    long long until = lab_now_ms() + TIMEOUT_MS;
    while (parent_of(helper) && lab_now_ms() < until)
        usleep(50000);
    assert_int_equal(parent_of(helper), 0);
    lab_remove("notes");
    lab_set_text(lab_performance("MyPerf"), "Collect", "record_object");
    run_query();
    assert_int_not_equal(atoi(lab_read("notes")), helper);
    RegCloseKey(HKEY_PERFORMANCE_DATA);
    lab_remove("notes");
}

static const struct experiment experiments[] = {
    {"orphan", a_helper_without_its_keeper_ends, true},
};

int main(void)
{
    return run_experiments(experiments, 1, "isolated");
}
