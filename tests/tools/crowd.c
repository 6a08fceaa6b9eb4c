/* SPDX-License-Identifier: MIT */
/*
 * A provider of one object, "Crowd". The file "crowd" in the folder OPENPERFLIB_ROOT defines what
 * each call does: "N" gives N instances, "random" other instances each time, "bare" names without a
 * terminator, "hang" waits until the file says something else, "die" crashes. The counter Place
 * is the instance's position, Calls the number of calls.
 */
#include <openperflib/build.h>
#include <windows.h>
#include <winperf.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
EXPORT DWORD Open(LPWSTR names);
EXPORT DWORD Close(void);
EXPORT DWORD Collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types);

enum { LENGTH = 16, RANDOM_MOST = 300, RANDOM_NAMES = 100000, BARE = 3 };
static DWORD first_counter, first_help, calls;
static const char key[] = "SYSTEM\\CurrentControlSet\\Services\\Crowd\\Performance";

static void read_number(const char *name, DWORD *ret)
{
    DWORD size = sizeof *ret;
    RegGetValueA(HKEY_LOCAL_MACHINE, key, name, RRF_RT_REG_DWORD, NULL, ret, &size);
}

DWORD Open(LPWSTR names)
{
    read_number("First Counter", &first_counter);
    read_number("First Help", &first_help);
    return ERROR_SUCCESS;
}

DWORD Close(void)
{
    return ERROR_SUCCESS;
}

static void read_word(char *ret)
{
    char path[512];
    const char *root = getenv("OPENPERFLIB_ROOT");
    snprintf(path, sizeof path, "%s/crowd", root ? root : "/nowhere");
    FILE *file = fopen(path, "r");
    if (!file || !fgets(ret, LENGTH, file))
        *ret = '\0';
    if (file)
        fclose(file);
    ret[strcspn(ret, "\n")] = '\0';
}

static void add_instance(opl_build *build, unsigned number, unsigned place)
{
    char name[LENGTH + 8];
    snprintf(name, sizeof name, "one-%05u", number);
    opl_build_instance(build, name);
    opl_build_dword(build, 0, place);
    opl_build_dword(build, 1, calls);
}

/* Overwrites the terminator of the instance's name, which is not counted by its length any more,
 * and the padding after it. */
static void remove_terminator(opl_build *build)
{
    PERF_INSTANCE_DEFINITION instance;
    size_t end = build->counters;
    size_t start = end - sizeof instance - 24; /* "one-00000" and its terminator are 20 bytes */
    memcpy(&instance, build->data + start, sizeof instance);
    instance.NameLength -= 2;
    memcpy(build->data + start, &instance, sizeof instance);
    for (size_t at = start + instance.NameOffset + instance.NameLength; at < end; at += 2)
        memcpy(build->data + at, u"X", 2);
}

static void add_instances(opl_build *build, const char *word)
{
    unsigned count = (unsigned)atoi(word);
    if (!strcmp(word, "random"))
        count = (unsigned)rand() % RANDOM_MOST;
    if (!strcmp(word, "bare"))
        count = BARE;
    for (unsigned i = 0; i < count; i++) {
        add_instance(build, strcmp(word, "random") ? i : (unsigned)rand() % RANDOM_NAMES, i);
        if (!strcmp(word, "bare") && !build->full)
            remove_terminator(build);
    }
}

DWORD Collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types)
{
    const opl_build_counter counters[] = {
        {first_counter + 2, first_help + 2, PERF_COUNTER_RAWCOUNT, 0, 100, 0, 0},
        {first_counter + 4, first_help + 4, PERF_COUNTER_RAWCOUNT, 0, 100, 0, 0},
    };
    const opl_build_object_info object = {.name_index = first_counter, .help_index = first_help};
    char word[LENGTH];
    for (read_word(word); !strcmp(word, "hang"); read_word(word))
        usleep(10000);
    if (!strcmp(word, "die"))
        raise(SIGSEGV);
    calls++;
    opl_build build;
    opl_build_init(&build, *data, *bytes);
    opl_build_object(&build, &object, counters, 2);
    add_instances(&build, word);
    return opl_build_collect(&build, data, bytes, types);
}
