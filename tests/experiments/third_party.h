/* SPDX-License-Identifier: MIT */
/* Shared by the tests' faulty providers: makes a correct answer, which the provider then damages,
 * and appends lines to $OPENPERFLIB_ROOT/notes. */
#ifndef OPL_EXPERIMENTS_THIRD_PARTY_H
#define OPL_EXPERIMENTS_THIRD_PARTY_H

#include <openperflib/build.h>
#include <windows.h>
#include <winperf.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __declspec(dllexport)
#define COLLECT(name) EXPORT DWORD name(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types)
enum { THIRD_PARTY_OBJECT = 22222 };

/* The offsets in the answer, which has one object, one counter, and one instance "one". */
enum { OBJECT = 0, DEFINITION = 64, INSTANCE = 104, BLOCK = 136, ANSWER_SIZE = 144 };

static inline void third_party_note(const char *text)
{
    char path[256], line[128];
    const char *root = getenv("OPENPERFLIB_ROOT");
    snprintf(path, sizeof path, "%s/notes", root ? root : "/nonexistent");
    int length = snprintf(line, sizeof line, "%s\n", text);
    int file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (file >= 0 && write(file, line, (size_t)length) == length)
        close(file);
}

static inline DWORD third_party_answer(LPVOID *data, LPDWORD bytes, LPDWORD types)
{
    static const opl_build_counter counter = {22224, 22225, PERF_COUNTER_RAWCOUNT, 0, 100, 0, 0};
    static const opl_build_object_info object = {
        .name_index = THIRD_PARTY_OBJECT, .help_index = 22223, .default_counter = 0};
    opl_build build;
    opl_build_init(&build, *data, *bytes);
    opl_build_object(&build, &object, &counter, 1);
    opl_build_instance(&build, "one");
    opl_build_dword(&build, 0, 42);
    return opl_build_collect(&build, data, bytes, types);
}

static inline void third_party_put(unsigned char *at, DWORD value)
{
    memcpy(at, &value, sizeof value);
}

static inline DWORD third_party_get(const unsigned char *at)
{
    DWORD value;
    memcpy(&value, at, sizeof value);
    return value;
}

#endif
