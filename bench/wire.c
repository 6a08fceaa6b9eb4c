/* SPDX-License-Identifier: MIT */
/*
 * The cost of checking, walking and building an object like Process, with 28 counters and 1,000
 * instances. Prints one line for each, in microseconds: the best of 20 rounds.
 */
#include "wire/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { INSTANCES = 1000, COUNTERS = 28, ROUNDS = 20, SIZE = 1 << 20 };

static unsigned char *memory;
static DWORD size;
static ULONGLONG sum; /* keeps the compiler from removing the work */

static void build(void)
{
    opl_build_object_info info = {230, 231, 100, 0, false, 0, 0, 10000000};
    opl_build_counter counters[COUNTERS];
    opl_build build;
    LPVOID end = memory;
    DWORD types;
    for (DWORD i = 0; i < COUNTERS; i++)
        counters[i] = (opl_build_counter){2 * i + 2, 2 * i + 3, PERF_100NSEC_TIMER, 0, 100, 0, 0};
    opl_build_init(&build, memory, SIZE);
    opl_build_object(&build, &info, counters, COUNTERS);
    for (DWORD i = 0; i < INSTANCES; i++) {
        opl_build_instance(&build, "a process");
        for (DWORD k = 0; k < COUNTERS; k++)
            opl_build_large(&build, k, i * k);
    }
    opl_build_collect(&build, &end, &size, &types);
}

static void check(void)
{
    struct wire_finding finding;
    sum += (ULONGLONG)wire_check_objects(memory, size, 1, &finding);
}

static opl_object_view open_object(opl_block *block)
{
    opl_object_view object = {0};
    *block = (opl_block){.data = memory, .size = size, .header.NumObjectTypes = 1};
    opl_block_next_object(block, &object);
    return object;
}

static void walk_instances(void)
{
    opl_block block;
    opl_object_view object = open_object(&block);
    opl_instance_view instance = {0};
    while (opl_object_next_instance(&block, &object, &instance))
        sum += instance.end;
}

static void walk_names(void)
{
    opl_block block;
    opl_object_view object = open_object(&block);
    opl_instance_view instance = {0};
    char name[64];
    while (opl_object_next_instance(&block, &object, &instance))
        sum += opl_instance_name(&block, &object, &instance, name, sizeof(name));
}

static void walk_samples(void)
{
    opl_block block;
    opl_object_view object = open_object(&block);
    opl_instance_view instance = {0};
    while (opl_object_next_instance(&block, &object, &instance)) {
        opl_counter_view counter = {0};
        opl_sample sample;
        while (opl_object_next_counter(&block, &object, &counter))
            if (opl_counter_sample(&block, &object, &instance, &counter, &sample))
                sum += (ULONGLONG)sample.first;
    }
}

static double now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void measure(const char *what, void (*work)(void))
{
    double best = 1e12;
    for (int round = 0; round < ROUNDS; round++) {
        double start = now_us();
        work();
        double took = now_us() - start;
        best = took < best ? took : best;
    }
    printf("%-45s %8.1f us\n", what, best);
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        bool wants_help = strcmp(argv[1], "--help") == 0;
        fputs("usage: bench-wire\n\nThe cost of building, checking and walking a block, in "
              "microseconds.\n",
              wants_help ? stdout : stderr);
        return wants_help ? 0 : 2;
    }
    memory = malloc(SIZE);
    if (!memory)
        return 1;
    measure("build 1,000 instances of 28 counters", build);
    measure("check them", check);
    measure("walk the instances", walk_instances);
    measure("walk their names", walk_names);
    measure("walk their 28,000 samples", walk_samples);
    printf("%u bytes, check sum %llu\n", size, (unsigned long long)sum);
    free(memory);
    return 0;
}
