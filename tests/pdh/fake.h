/* SPDX-License-Identifier: MIT */
/*
 * Replaces the performance key by a simulated machine, whose clocks, processes and counters are
 * variables. It has the objects 2 System (without instances) and 230 Process, and records the
 * queries that it gets.
 */
#ifndef OPL_TEST_PDH_FAKE_H
#define OPL_TEST_PDH_FAKE_H

#include <openperflib/block.h>
#include <openperflib/build.h>
#include <windows.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "registry/registry.h"

enum { FAKE_MOST = 8000 };
struct fake_process {
    const char *name;
    DWORD id;
    LONGLONG start, cpu;
    DWORD faults;
};
static struct fake_process fake_processes[FAKE_MOST];
static DWORD fake_process_count;
static LONGLONG fake_ticks, fake_wall; /* in units of 100 ns */
static LONGLONG fake_reads;
static DWORD fake_length, fake_busy, fake_base;
static char fake_question[256], fake_wanted[256]; /* the counters of the last query */
static unsigned fake_questions;
static bool fake_gone;        /* the answer has no object */
static bool fake_fewer;       /* the object System lacks its first counter */
static DWORD fake_number = 2; /* number of the object System; 2222 in some tests */

static const char fake_titles[] = "1\0"
                                  "1847\0"
                                  "2\0System\0"
                                  "6\0% Processor Time\0"
                                  "10\0File Read Operations/sec\0"
                                  "28\0Page Faults/sec\0"
                                  "44\0Processor Queue Length\0"
                                  "230\0Process\0"
                                  "684\0Elapsed Time\0"
                                  "784\0ID Process\0"
                                  "1350\0% Registry Quota In Use\0"
                                  "2222\0System\0";

static void fake_system(opl_build *build)
{
    static const opl_build_counter counters[] = {
        {.name_index = 10,
         .help_index = 11,
         .type = PERF_COUNTER_BULK_COUNT,
         .scale = -3,
         .level = PERF_DETAIL_NOVICE},
        {.name_index = 44,
         .help_index = 45,
         .type = PERF_COUNTER_RAWCOUNT,
         .level = PERF_DETAIL_NOVICE},
        {.name_index = 1350,
         .help_index = 1351,
         .type = PERF_RAW_FRACTION,
         .level = PERF_DETAIL_NOVICE    },
        {.name_index = 1350,
         .help_index = 1351,
         .type = PERF_RAW_BASE,
         .level = PERF_DETAIL_NOVICE        },
    };
    const opl_build_object_info info = {
        .name_index = fake_number, .help_index = 3, .default_counter = 1, .single = true};
    DWORD first = fake_fewer ? 1 : 0;
    opl_build_object(build, &info, counters + first, COUNT(counters) - first);
    if (!fake_fewer)
        opl_build_large(build, 0, (ULONGLONG)fake_reads);
    opl_build_dword(build, 1 - first, fake_length);
    opl_build_dword(build, 2 - first, fake_busy);
    opl_build_dword(build, 3 - first, fake_base);
}

static void fake_process(opl_build *build)
{
    static const opl_build_counter counters[] = {
        {.name_index = 6,   .help_index = 7, .type = PERF_100NSEC_TIMER, .level = PERF_DETAIL_NOVICE},
        {.name_index = 28,
         .help_index = 29,
         .type = PERF_COUNTER_COUNTER,
         .level = PERF_DETAIL_NOVICE                                                                },
        {.name_index = 684,
         .help_index = 685,
         .type = PERF_ELAPSED_TIME,
         .level = PERF_DETAIL_NOVICE                                                                },
        {.name_index = 784,
         .help_index = 785,
         .type = PERF_COUNTER_RAWCOUNT,
         .level = PERF_DETAIL_NOVICE                                                                },
    };
    const opl_build_object_info info = {
        .name_index = 230, .help_index = 231, .time = fake_wall, .frequency = 10000000};
    opl_build_object(build, &info, counters, COUNT(counters));
    for (DWORD i = 0; i < fake_process_count; i++) {
        const struct fake_process *process = &fake_processes[i];
        opl_build_instance(build, process->name);
        opl_build_large(build, 0, (ULONGLONG)process->cpu);
        opl_build_dword(build, 1, process->faults);
        opl_build_large(build, 2, (ULONGLONG)process->start);
        opl_build_dword(build, 3, process->id);
    }
}

static bool fake_requested(const char *query, const char *number)
{
    const char *cursor = query, *word;
    size_t count;
    while ((word = text_word(&cursor, &count)))
        if (count == strlen(number) && !strncmp(word, number, count))
            return true;
    return !strcmp(query, "Global");
}

static LSTATUS fake_block(const char *query, void *data, DWORD *size)
{
    PERF_DATA_BLOCK header = {
        .Signature = {'P', 'E', 'R', 'F'},
        .LittleEndian = 1,
        .Version = 1,
        .Revision = 1,
        .HeaderLength = sizeof header,
        .DefaultObject = 230
    };
    opl_build build;
    LPVOID cursor = (char *)data + sizeof header;
    DWORD bytes = *size - (DWORD)sizeof header, types = 0;
    if (*size < sizeof header)
        return ERROR_MORE_DATA;
    opl_build_init(&build, cursor, bytes);
    if (!fake_gone && fake_requested(query, fake_number == 2 ? "2" : "2222"))
        fake_system(&build);
    if (!fake_gone && fake_requested(query, "230"))
        fake_process(&build);
    LSTATUS status = (LSTATUS)opl_build_collect(&build, &cursor, &bytes, &types);
    if (status)
        return status;
    header.NumObjectTypes = types;
    header.TotalByteLength = (DWORD)sizeof header + bytes;
    header.PerfTime.QuadPart = fake_ticks;
    header.PerfFreq.QuadPart = 10000000;
    header.PerfTime100nSec.QuadPart = fake_wall;
    memcpy(data, &header, sizeof header);
    *size = header.TotalByteLength;
    return ERROR_SUCCESS;
}

static LSTATUS fake_query(const char *path, const char *name, bool wide, DWORD *type, void *data,
                          DWORD *size)
{
    if (!strncmp(name, "Counter", 7) || !strncmp(name, "Explain", 7)) {
        DWORD capacity = *size;
        *size = sizeof fake_titles;
        if (capacity < sizeof fake_titles)
            return ERROR_MORE_DATA;
        memcpy(data, fake_titles, sizeof fake_titles);
        return ERROR_SUCCESS;
    }
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    lock_take(&lock);
    snprintf(fake_question, sizeof fake_question, "%s", name);
    const struct wanted_list *wanted = &wanted_here;
    *fake_wanted = 0;
    for (size_t i = 0, at = 0; i < wanted->count && at < sizeof fake_wanted; i++)
        at += (size_t)snprintf(fake_wanted + at, sizeof fake_wanted - at, "%u:%u ",
                               (unsigned)wanted->list[i].object, (unsigned)wanted->list[i].counter);
    fake_questions++;
    lock_release(&lock);
    return fake_block(name, data, size);
}

/* A test may define FAKE_QUERY, the name of its own function that gets each query first. */
#ifndef FAKE_QUERY
#define FAKE_QUERY fake_query
#endif
static LSTATUS FAKE_QUERY(const char *path, const char *name, bool wide, DWORD *type, void *data,
                          DWORD *size);
static const struct mount fake_mounts[] = {
    {.path = "HKEY_PERFORMANCE_DATA", .predefined = HKEY_PERFORMANCE_DATA, .query = FAKE_QUERY},
    {.path = NULL           },
};
static const struct registry_computed no_computed[1];
static const struct registry_virtual_keys no_keys[1];
static const struct registry_tables tables = {fake_mounts, no_computed, no_keys, NULL};

__attribute__((constructor)) static void hand_down_tables(void)
{
    registry_init(&tables);
}

/* Advances both clocks, the wall clock and the other one. */
static inline void fake_pass(LONGLONG milliseconds)
{
    fake_ticks += milliseconds * 10000;
    fake_wall += milliseconds * 10000;
}

/* For the beginning of each test: three processes, one second after the start of the simulated
 * machine. */
static inline int fake_reset(void **state)
{
    static const struct fake_process processes[] = {
        {"init", 1,  1000, 0, 0},
        {"twin", 10, 2000, 0, 0},
        {"Twin", 11, 3000, 0, 0}
    };
    (void)state;
    setenv("LC_ALL", "C", 1);
    memcpy(fake_processes, processes, sizeof processes);
    fake_process_count = COUNT(processes);
    fake_ticks = 10000000;
    fake_wall = 133000000000000000;
    fake_reads = 0;
    fake_length = fake_busy = 0;
    fake_base = 1;
    fake_questions = 0;
    fake_gone = fake_fewer = false;
    fake_number = 2;
    return 0;
}

#endif
