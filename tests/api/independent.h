/* SPDX-License-Identifier: MIT */
/*
 * Tests written from the documents alone, without knowledge of the code. Each test runs in a child
 * process with its own root folder (OPENPERFLIB_ROOT) and environment, because the library reads
 * its environment only once.
 */
#ifndef OPL_API_INDEPENDENT_H
#define OPL_API_INDEPENDENT_H

#include "reg.h"
#include "../skip.h"

#include <errno.h>
#include <openperflib/block.h>
#include <winperf.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#define SKIPPED 77
#define PERFLIB "SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Perflib"

static int failures;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            printf("# %s:%d: %s\n", __FILE__, __LINE__, #condition), failures++;                   \
    } while (0)
#define CHECK_IS(got, wanted)                                                                      \
    do {                                                                                           \
        long long is = (long long)(got), should = (long long)(wanted);                             \
        if (is != should)                                                                          \
            printf("# %s:%d: %s is %lld, not %lld\n", __FILE__, __LINE__, #got, is, should),       \
                failures++;                                                                        \
    } while (0)

/* Runs `body` in a child process with a new root. The test fails if the child counted a failure or
 * was killed. */
static inline void in_child(void (*body)(void))
{
    char root[64];
    temp_make(root);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        setenv("OPENPERFLIB_ROOT", root, 1);
        snprintf(test_root, sizeof(test_root), "%s", root);
        body();
        fflush(NULL);
        exit(failures ? 1 : 0);
    }
    int status = -1;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    temp_remove(root);
    if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED)
        return;
    assert_int_equal(status, 0);
}

/* INDEPENDENT(name) { ... } defines a test function whose body runs in a child process. */
#define INDEPENDENT(name)                                                                          \
    static void name##_body(void);                                                                 \
    static void name(void **state)                                                                 \
    {                                                                                              \
        in_child(name##_body);                                                                     \
    }                                                                                              \
    static void name##_body(void)

static inline void skipped(const char *why)
{
    report_skipped(why);
    _exit(SKIPPED);
}

static inline HKEY created(HKEY root, const char *path)
{
    HKEY key = NULL;
    CHECK_IS(RegCreateKeyExA(root, path, 0, NULL, 0, KEY_ALL_ACCESS, NULL, &key, NULL), 0);
    return key;
}

static inline LSTATUS set_dword(HKEY key, const char *name, DWORD value)
{
    return RegSetValueExA(key, name, 0, REG_DWORD, (const BYTE *)&value, sizeof(value));
}

/* The number in a registry value; all bits set if there is no such value. */
static inline DWORD dword_of(HKEY key, const char *name)
{
    DWORD value = ~0u, size = sizeof(value), type = 0;
    if (RegQueryValueExA(key, name, NULL, &type, (BYTE *)&value, &size) || type != REG_DWORD)
        return ~0u;
    return value;
}

static unsigned char answer[16 << 20];
static DWORD answer_size, answer_type;

static inline LSTATUS query_key(HKEY key, const char *query)
{
    answer_size = sizeof(answer);
    answer_type = 99;
    return RegQueryValueExA(key, query, NULL, &answer_type, answer, &answer_size);
}

static inline LSTATUS run_query(const char *query)
{
    return query_key(HKEY_PERFORMANCE_DATA, query);
}

/* Is the answer a valid block with this object? */
static inline bool answer_has(DWORD index)
{
    opl_block block;
    opl_object_view object = {0};
    CHECK_IS(opl_block_init(&block, answer, answer_size), OPL_BLOCK_GOOD);
    bool found = opl_block_find_object(&block, index, &object);
    CHECK_IS(block.fault, OPL_BLOCK_GOOD);
    return found;
}

static inline DWORD answer_objects(void)
{
    opl_block block;
    opl_object_view object = {0};
    DWORD count = 0;
    CHECK_IS(opl_block_init(&block, answer, answer_size), OPL_BLOCK_GOOD);
    while (opl_block_next_object(&block, &object))
        count++;
    CHECK_IS(block.fault, OPL_BLOCK_GOOD);
    return count;
}

/* The text of an index in the name table of the last answer (A form); NULL: the table does not have
 * the index. */
static inline const char *answer_name(unsigned index)
{
    char wanted[16];
    snprintf(wanted, sizeof(wanted), "%u", index);
    const char *at = (const char *)answer, *end = at + answer_size;
    while (at < end && *at) {
        const char *text = at + strlen(at) + 1;
        if (text >= end)
            return NULL;
        if (!strcmp(at, wanted))
            return text;
        at = text + strlen(text) + 1;
    }
    return NULL;
}

static inline double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

#endif
