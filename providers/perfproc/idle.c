/* SPDX-License-Identifier: MIT */
/*
 * Idle: the process with number 0 that Windows shows first. Its processor time is the processors'
 * idle time, waiting for disks included, and it has a thread per processor.
 */
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
#include <unistd.h>

#include "perfproc.h"

static const opl_source system_stat = {"proc/stat"};

enum { PROCESSOR_TIME = 6, PRIVILEGED_TIME = 144, ELAPSED_TIME = 684, THREAD_COUNT = 680 };
enum { THREAD_STATE = 46 };

/* The sum of idle and iowait of a line "cpu0 user nice system idle iowait ...", in 100 ns. */
static uint64_t idle_time(const char *line)
{
    char *at = (char *)line + strcspn(line, " \n");
    uint64_t numbers[5];
    for (int i = 0; i < 5; i++)
        numbers[i] = strtoull(at, &at, 10);
    return (numbers[3] + numbers[4]) * (10000000 / (uint64_t)sysconf(_SC_CLK_TCK));
}

static void add_idle(opl_listing *listing, const char *name, uint64_t time)
{
    opl_listing_add(listing, name, strlen(name));
    opl_listing_set(listing, PROCESSOR_TIME, time);
    opl_listing_set(listing, PRIVILEGED_TIME, time);
    opl_listing_set(listing, ELAPSED_TIME, (uint64_t)opl_boot_time(opl_listing_reading(listing)));
}

static void add_idle_thread(opl_listing *threads, const char *line, unsigned ordinal)
{
    char name[16];
    snprintf(name, sizeof name, "%u", ordinal);
    add_idle(threads, name, idle_time(line));
    opl_listing_set(threads, THREAD_STATE, PERFPROC_RUNNING);
    opl_listing_parent(threads, &perfproc_process, 0);
}

/* The first line of proc/stat is the sum over all processors, including offline ones. */
void perfproc_add_idle(opl_listing *processes, opl_listing *threads)
{
    const char *text = opl_reading_text(opl_listing_reading(processes), &system_stat, NULL);
    unsigned processors = 0;
    bool sum = text && strncmp(text, "cpu ", 4) == 0;
    add_idle(processes, "Idle", sum ? idle_time(text) : 0);
    perfproc_number_name(processes, "0");
    for (const char *line = sum ? strchr(text, '\n') : NULL; line && strncmp(line, "\ncpu", 4) == 0;
         line = strchr(line + 1, '\n')) {
        if (threads)
            add_idle_thread(threads, line + 1, processors);
        processors++;
    }
    opl_listing_set(processes, THREAD_COUNT, processors);
}
