/* SPDX-License-Identifier: MIT */
/* Makes a small folder of files like those of proc and sys, and queries a provider that reads
 * them. */
#ifndef OPL_TEST_TREE_H
#define OPL_TEST_TREE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uchar.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openperflib/block.h>
#include "object/object.h"
#include <winerror.h>
#include <winperf.h>

static char tree_root[64];

/* Opens a provider with these objects, as its function Open does. */
static inline LSTATUS tree_open(const opl_object *const *objects, size_t count, DWORD first_counter,
                                DWORD first_help, opl_provider **ret)
{
    const opl_table_list list = {.size = sizeof list,
                                 .object_size = sizeof(opl_object),
                                 .counter_size = sizeof(opl_counter),
                                 .objects = objects,
                                 .count = count};
    LSTATUS status = provider_new(&list, ret);
    if (!status)
        status = provider_open(*ret, first_counter, first_help);
    if (!status)
        return ERROR_SUCCESS;
    provider_close(*ret);
    *ret = NULL;
    return status;
}

/* Makes the folder. Must be called before any function of the library, because the library reads
 * OPENPERFLIB_SYSROOT only once. */
static inline void tree_make(void)
{
    snprintf(tree_root, sizeof tree_root, "/tmp/opl-tree-XXXXXX");
    assert_non_null(mkdtemp(tree_root));
    setenv("OPENPERFLIB_SYSROOT", tree_root, 1);
}

static inline int tree_remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st, (void)type, (void)at;
    return remove(path);
}

/* Removes a file or folder below the test's folder; "": all of it. */
static inline void tree_drop(const char *path)
{
    char full[512];
    snprintf(full, sizeof full, "%s%s%s", tree_root, *path ? "/" : "", path);
    nftw(full, tree_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static inline void tree_write_bytes(const char *path, const char *text, size_t size)
{
    char full[512];
    snprintf(full, sizeof full, "%s/%s", tree_root, path);
    for (char *slash = strchr(full + strlen(tree_root) + 1, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(full, 0755);
        *slash = '/';
    }
    FILE *file = fopen(full, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    fclose(file);
}

static inline void tree_write(const char *path, const char *text)
{
    tree_write_bytes(path, text, strlen(text));
}

/* ---- queries ---- */

enum { ANSWER_SIZE = 4 << 20 };
struct answer {
    DWORD status, bytes, types;
    size_t moved; /* by how many bytes Collect moved the caller's pointer */
    opl_block block;
};
static _Alignas(8) unsigned char answer_bytes[88 + 16 + ANSWER_SIZE];

/* Writes the header of a block before the objects, as in a complete answer. */
static inline void answer_wrap(struct answer *answer)
{
    static const WCHAR signature[4] = {'P', 'E', 'R', 'F'};
    PERF_DATA_BLOCK header = {.LittleEndian = 1, .Version = 1, .Revision = 1};
    memcpy(header.Signature, signature, sizeof signature);
    header.HeaderLength = 96;
    header.SystemNameOffset = 88;
    header.SystemNameLength = 4;
    header.NumObjectTypes = answer->types;
    header.TotalByteLength = 96 + answer->bytes;
    memcpy(answer_bytes, &header, sizeof header);
    memcpy(answer_bytes + 88, "X\0\0\0\0\0\0", 8);
    assert_int_equal(opl_block_init(&answer->block, answer_bytes, header.TotalByteLength),
                     OPL_BLOCK_GOOD);
}

typedef DWORD collect_function(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types);

static inline struct answer query_function(collect_function *collect, const char16_t *query,
                                           DWORD capacity)
{
    struct answer answer = {.bytes = capacity, .types = 77};
    LPVOID data = answer_bytes + 96;
    memset(answer_bytes, 0xAB, capacity < ANSWER_SIZE ? 96 + capacity + 8 : 96);
    answer.status = collect((LPWSTR)query, &data, &answer.bytes, &answer.types);
    answer.moved = (size_t)((unsigned char *)data - answer_bytes) - 96;
    assert_int_equal(answer.moved, answer.bytes);
    if (!answer.status && answer.types)
        answer_wrap(&answer);
    return answer;
}

/* ---- finding parts of an answer ---- */

static inline bool answer_object(struct answer *answer, DWORD index, opl_object_view *object)
{
    return opl_block_find_object(&answer->block, index, object);
}

static inline bool object_counter(struct answer *answer, opl_object_view *object, DWORD index,
                                  opl_counter_view *counter)
{
    memset(counter, 0, sizeof *counter);
    while (opl_object_next_counter(&answer->block, object, counter))
        if (counter->definition.CounterNameTitleIndex == index)
            return true;
    return false;
}

static inline bool object_instance(struct answer *answer, opl_object_view *object,
                                   uint32_t position, opl_instance_view *instance)
{
    memset(instance, 0, sizeof *instance);
    while (opl_object_next_instance(&answer->block, object, instance))
        if (instance->position == position)
            return true;
    return false;
}

static inline bool object_named(struct answer *answer, opl_object_view *object, const char *name,
                                opl_instance_view *instance)
{
    char text[512];
    memset(instance, 0, sizeof *instance);
    while (opl_object_next_instance(&answer->block, object, instance)) {
        opl_instance_name(&answer->block, object, instance, text, sizeof text);
        if (strcmp(text, name) == 0)
            return true;
    }
    return false;
}

static inline uint64_t value_at(struct answer *answer, opl_object_view *object,
                                opl_instance_view *instance, DWORD index)
{
    opl_counter_view counter;
    uint64_t value;
    if (!object_counter(answer, object, index, &counter))
        fail_msg("no counter %u", (unsigned)index);
    assert_true(opl_counter_number(&answer->block, instance, &counter, &value));
    return value;
}

static inline uint64_t value_of(struct answer *answer, DWORD object_index, const char *name,
                                DWORD index)
{
    opl_object_view object;
    opl_instance_view instance;
    assert_true(answer_object(answer, object_index, &object));
    if (name ? !object_named(answer, &object, name, &instance)
             : !object_instance(answer, &object, 0, &instance))
        fail_msg("no instance %s", name ? name : "");
    return value_at(answer, &object, &instance, index);
}

static inline bool answer_has(struct answer *answer, DWORD object_index, DWORD index)
{
    opl_object_view object;
    opl_counter_view counter;
    return answer_object(answer, object_index, &object) &&
           object_counter(answer, &object, index, &counter);
}

#endif
