/* SPDX-License-Identifier: MIT */
/*
 * A provider with one correct Collect and one for each kind of error. Every call is noted in the
 * file "notes" of OPENPERFLIB_ROOT, so that tests see the exact sequence. It has object 22222 with
 * one counter.
 */
#include <openperflib/build.h>
#include <windows.h>
#include <winperf.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define COLLECT(name) EXPORT DWORD name(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types)

EXPORT DWORD faulty_open(LPWSTR names);
EXPORT DWORD faulty_open_denied(LPWSTR names);
EXPORT DWORD faulty_close(void);
COLLECT(collect_good);
COLLECT(collect_nothing);
COLLECT(collect_silent);
COLLECT(collect_length_plus_8);
COLLECT(collect_pointer_plus_8);
COLLECT(collect_pointer_in_guard);
COLLECT(collect_pointer_away);
COLLECT(collect_pointer_null);
COLLECT(collect_writes_below);
COLLECT(collect_writes_above);
COLLECT(collect_object_length);
COLLECT(collect_instance_length);
COLLECT(collect_definition_length);
COLLECT(collect_object_count);
COLLECT(collect_odd_length);
COLLECT(collect_length_4);
COLLECT(collect_error);
COLLECT(collect_more_data);
COLLECT(collect_large);

static void note(const char *what, LPWSTR query)
{
    char path[512];
    const char *root = getenv("OPENPERFLIB_ROOT");
    snprintf(path, sizeof path, "%s/notes", root ? root : "/nowhere");
    FILE *file = fopen(path, "a");
    if (!file)
        return;
    fputs(what, file);
    for (; query && *query; query++)
        fputc(*query < 128 ? (char)*query : '?', file);
    fputc('\n', file);
    fclose(file);
}

DWORD faulty_open(LPWSTR names)
{
    note("open ", names);
    return ERROR_SUCCESS;
}

DWORD faulty_open_denied(LPWSTR names)
{
    note("open denied", NULL);
    return ERROR_ACCESS_DENIED;
}

DWORD faulty_close(void)
{
    note("close", NULL);
    return ERROR_SUCCESS;
}

/* Writes a correct answer with so many instances; *start is its beginning. */
static DWORD answer_with(size_t instances, LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types,
                         unsigned char **start)
{
    static const opl_build_counter counter = {
        .name_index = 22224, .help_index = 22225, .type = PERF_COUNTER_RAWCOUNT, .level = 100};
    static const opl_build_object_info object = {
        .name_index = 22222, .help_index = 22223, .level = 100, .default_counter = 0};
    opl_build build;
    note("collect ", query);
    *start = *data;
    opl_build_init(&build, *data, *bytes);
    opl_build_object(&build, &object, &counter, 1);
    for (size_t i = 0; i < instances; i++) {
        opl_build_instance(&build, "one");
        opl_build_dword(&build, 0, 42);
    }
    return opl_build_collect(&build, data, bytes, types);
}

static DWORD answer(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types, unsigned char **start)
{
    return answer_with(1, query, data, bytes, types, start);
}

static void add_dword(unsigned char *at, DWORD add)
{
    DWORD value;
    memcpy(&value, at, sizeof(value));
    value += add;
    memcpy(at, &value, sizeof(value));
}

#define ANSWER                                                                                     \
    DWORD capacity = *bytes;                                                                       \
    unsigned char *start;                                                                          \
    DWORD status = answer(query, data, bytes, types, &start);                                      \
    (void)capacity;                                                                                \
    if (status)                                                                                    \
    return status

COLLECT(collect_good)
{
    ANSWER;
    return status;
}

COLLECT(collect_nothing)
{
    note("collect ", query);
    *bytes = *types = 0;
    return ERROR_SUCCESS;
}

COLLECT(collect_silent)
{
    note("collect ", query);
    return ERROR_SUCCESS;
}

COLLECT(collect_length_plus_8)
{
    ANSWER;
    *bytes += 8;
    return status;
}

COLLECT(collect_pointer_plus_8)
{
    ANSWER;
    *data = (char *)*data + 8;
    return status;
}

COLLECT(collect_pointer_in_guard)
{
    ANSWER;
    *data = start + capacity + 512;
    return status;
}

COLLECT(collect_pointer_away)
{
    ANSWER;
    *data = start + capacity + 4096;
    return status;
}

COLLECT(collect_pointer_null)
{
    ANSWER;
    *data = NULL;
    return status;
}

COLLECT(collect_writes_below)
{
    ANSWER;
    start[-4] ^= 0xff;
    return status;
}

COLLECT(collect_writes_above)
{
    ANSWER;
    start[capacity + 4] ^= 0xff;
    return status;
}

COLLECT(collect_object_length)
{
    ANSWER;
    add_dword(start, 8);
    return status;
}

COLLECT(collect_instance_length)
{
    ANSWER;
    add_dword(start + 64 + 40, 8);
    return status;
}

COLLECT(collect_definition_length)
{
    ANSWER;
    add_dword(start + 4, 8);
    return status;
}

COLLECT(collect_object_count)
{
    ANSWER;
    *types = 2;
    return status;
}

COLLECT(collect_odd_length)
{
    ANSWER;
    *bytes += 2;
    *data = (char *)*data + 2;
    return status;
}

/* The object's length is a multiple of 4 but not of 8, and all lengths agree. */
COLLECT(collect_length_4)
{
    ANSWER;
    unsigned char *counters = start + *bytes - 8;
    add_dword(counters, 4);
    add_dword(start, 4);
    memset(start + *bytes, 0, 4);
    *bytes += 4;
    *data = (char *)*data + 4;
    return status;
}

COLLECT(collect_error)
{
    note("collect ", query);
    *bytes = *types = 0;
    return ERROR_GEN_FAILURE;
}

COLLECT(collect_more_data)
{
    note("collect ", query);
    *bytes = *types = 0;
    return ERROR_MORE_DATA;
}

COLLECT(collect_large)
{
    unsigned char *start;
    return answer_with(200000, query, data, bytes, types, &start);
}
