/* SPDX-License-Identifier: MIT */
/*
 * Queries a provider and looks into its answer. A frozen machine is a folder of tests/roots with
 * files of proc and sys, which the provider reads instead of this machine's. Each query for a
 * frozen machine runs in a child process, because the library reads only once which folder that is.
 */
#ifndef OPL_TEST_ANSWER_H
#define OPL_TEST_ANSWER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <openperflib/block.h>
#include <winerror.h>
#include <winperf.h>

enum { ANSWER_SIZE = 1 << 20 };

static union {
    PERF_DATA_BLOCK header;
    unsigned char bytes[sizeof(PERF_DATA_BLOCK) + ANSWER_SIZE];
} answer;
static opl_block answer_block;

/* The functions Open, Collect and Close of one of this project's providers. */
struct library {
    PM_OPEN_PROC *open;
    PM_COLLECT_PROC *collect;
    PM_CLOSE_PROC *close;
};

static inline void library_load(struct library *library, const char *name, const char *open,
                                const char *collect, const char *close)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/providers/%s.so", getenv("BUILD_ROOT"), name);
    void *handle = dlopen(path, RTLD_NOW);
    if (!handle)
        fprintf(stderr, "%s\n", dlerror()), abort();
    *(void **)&library->open = dlsym(handle, open);
    *(void **)&library->collect = dlsym(handle, collect);
    *(void **)&library->close = dlsym(handle, close);
}

/* This project's providers: the library's name, and the names of its three functions. */
static const char *const shipped_providers[][4] = {
    {"perfos",    "OpenOSObject",             "CollectOSObjectData",         "CloseOSObject"        },
    {"perfproc",  "OpenSysProcessObject",     "CollectSysProcessObjectData", "CloseSysProcessObject"},
    {"perfdisk",  "OpenDiskObject",           "CollectDiskObjectData",       "CloseDiskObject"      },
    {"perfnet",   "OpenTcpIpPerformanceData", "CollectTcpIpPerformanceData",
     "CloseTcpIpPerformanceData"                                                                    },
    {"perflinux", "OpenLinuxObject",          "CollectLinuxObjectData",      "CloseLinuxObject"     },
};
enum { SHIPPED_PROVIDERS = sizeof shipped_providers / sizeof *shipped_providers };

/* Loads a provider of this project and calls its Open. */
static inline int library_open(struct library *library, const char *name)
{
    size_t i = 0;
    while (i + 1 < SHIPPED_PROVIDERS && strcmp(shipped_providers[i][0], name) != 0)
        i++;
    const char *const *provider = shipped_providers[i];
    library_load(library, name, provider[1], provider[2], provider[3]);
    return (int)library->open(NULL);
}

/* Calls Collect, and stores the objects in `answer` after the header of a block. */
static inline DWORD library_query(const struct library *library, const char *query)
{
    WCHAR wide[64] = {0};
    for (size_t i = 0; query[i] && i < 63; i++)
        wide[i] = (WCHAR)query[i];
    LPVOID data = answer.bytes + sizeof(PERF_DATA_BLOCK);
    DWORD types = 0, bytes = ANSWER_SIZE;
    DWORD status = library->collect(wide, &data, &bytes, &types);
    memset(&answer.header, 0, sizeof answer.header);
    static const char signature[8] = {'P', 0, 'E', 0, 'R', 0, 'F', 0};
    memcpy(answer.header.Signature, signature, sizeof signature);
    answer.header.LittleEndian = answer.header.Version = answer.header.Revision = 1;
    answer.header.HeaderLength = sizeof answer.header;
    answer.header.TotalByteLength = (DWORD)sizeof answer.header + bytes;
    answer.header.NumObjectTypes = types;
    return status;
}

static inline void answer_begin(void)
{
    assert_int_equal(opl_block_init(&answer_block, answer.bytes, sizeof answer), OPL_BLOCK_GOOD);
}

/* ---- frozen machines; `provider` is a row of shipped_providers ---- */

/* Opens, queries and closes a provider in a child process, which sends the answer through a
 * pipe. */
static inline void query_child(const char *const provider[4], const char *root, const char *query,
                               int out)
{
    struct library library;
    char path[1024];
    snprintf(path, sizeof path, "%s/tests/roots/%s", getenv("SOURCE_ROOT"), root);
    setenv("OPENPERFLIB_SYSROOT", path, 1);
    library_load(&library, provider[0], provider[1], provider[2], provider[3]);
    DWORD status = library.open(NULL);
    if (!status)
        status = library_query(&library, query);
    library.close();
    const unsigned char *at = answer.bytes, *end = at + answer.header.TotalByteLength;
    while (at < end) {
        ssize_t written = write(out, at, (size_t)(end - at));
        if (written <= 0)
            _exit(100);
        at += written;
    }
    _exit(status ? 1 : 0);
}

static inline void query_root(const char *const provider[4], const char *root, const char *query)
{
    int ends[2], status = 0;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0)
        query_child(provider, root, query, ends[1]);
    close(ends[1]);
    size_t used = 0;
    for (ssize_t got; (got = read(ends[0], answer.bytes + used, sizeof answer - used)) > 0;)
        used += (size_t)got;
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(used, answer.header.TotalByteLength);
    answer_begin();
}

/* ---- looking into the answer ---- */

static inline bool answer_object(unsigned index, opl_object_view *ret)
{
    return opl_block_find_object(&answer_block, index, ret);
}

/* Finds a counter. If `base`: finds the counter's base (its denominator), which follows it and has
 * the same title. */
static inline bool answer_counter(const opl_object_view *object, unsigned index, bool base,
                                  opl_counter_view *ret)
{
    memset(ret, 0, sizeof *ret);
    while (opl_object_next_counter(&answer_block, object, ret))
        if (ret->definition.CounterNameTitleIndex == index)
            return !base || (opl_object_next_counter(&answer_block, object, ret) &&
                             ret->definition.CounterNameTitleIndex == index);
    return false;
}

/* Finds an instance. `name` NULL: the object has no instances; returns its only values. */
static inline bool answer_instance(const opl_object_view *object, const char *name,
                                   opl_instance_view *ret)
{
    char found[2048];
    memset(ret, 0, sizeof *ret);
    while (opl_object_next_instance(&answer_block, object, ret)) {
        opl_instance_name(&answer_block, object, ret, found, sizeof found);
        if (!name || strcmp(found, name) == 0)
            return true;
    }
    return false;
}

static inline uint64_t answer_number(unsigned object_index, const char *name, unsigned index,
                                     bool base)
{
    opl_object_view object;
    opl_counter_view counter;
    opl_instance_view instance;
    uint64_t value = 0;
    if (!answer_object(object_index, &object) || !answer_counter(&object, index, base, &counter) ||
        !answer_instance(&object, name, &instance) ||
        !opl_counter_number(&answer_block, &instance, &counter, &value))
        fail_msg("no value %u(%s)/%u", object_index, name ? name : "", index);
    return value;
}

static inline bool answer_has(unsigned object_index, unsigned index)
{
    opl_object_view object;
    opl_counter_view counter;
    return answer_object(object_index, &object) && answer_counter(&object, index, false, &counter);
}

/* Returns the names of the instances, with a comma after each. */
static inline const char *answer_names(unsigned object_index)
{
    static char names[8192];
    opl_object_view object;
    opl_instance_view instance = {0};
    size_t used = 0;
    if (!answer_object(object_index, &object))
        return "no object";
    while (opl_object_next_instance(&answer_block, &object, &instance) && used < sizeof names - 2) {
        used += opl_instance_name(&answer_block, &object, &instance, names + used,
                                  sizeof names - used - 2) -
                1;
        names[used++] = ',';
    }
    names[used] = 0;
    return names;
}

#define VALUE(object, name, index, expected)                                                       \
    assert_int_equal(answer_number(object, name, index, false), (uint64_t)(expected))
#define BASE(object, name, index, expected)                                                        \
    assert_int_equal(answer_number(object, name, index, true), (uint64_t)(expected))

#endif
