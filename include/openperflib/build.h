/* SPDX-License-Identifier: MIT */
/*
 * Writing performance objects without pointer arithmetic.
 *
 * After something did not fit, the builder writes nothing more, so make all calls and check only
 * once, at the end. The builder handles lengths, padding and alignment to 8. Use it in Collect:
 *
 *     opl_build build;
 *     opl_build_init(&build, *data, *bytes);
 *     opl_build_object(&build, &object_definition, counters, 2);
 *     opl_build_instance(&build, "first");
 *     opl_build_dword(&build, 0, 42);
 *     opl_build_dword(&build, 1, 43);
 *     return opl_build_collect(&build, data, bytes, types);
 */
#ifndef OPENPERFLIB_BUILD_H
#define OPENPERFLIB_BUILD_H

#include <openperflib/format.h>

typedef struct opl_build_counter {
    uint32_t name_index, help_index;
    uint32_t type; /* PERF_* */
    int32_t scale; /* power of ten for graphs, -7..7 */
    uint32_t level;
    uint32_t size; /* bytes; 0: by the type (4 or 8; average timers 8) */
    uint32_t
        /* offset in the counter block; 0: placed by the builder, 8-byte values aligned to 8 */
        offset;
} opl_build_counter;

typedef struct opl_build_object_info {
    uint32_t name_index, help_index;
    uint32_t level;          /* 0: the lowest level of its counters */
    int32_t default_counter; /* position of the counter; -1: none */
    bool single;             /* true: NumInstances is PERF_NO_INSTANCES */
    uint32_t code_page;      /* 0: names are UTF-16 */
    int64_t time, frequency; /* the object's own clock; 0, 0: none */
    /* Instances and counter blocks have exactly the length of their contents, and only the
     * object's end is rounded up to 8, as in the articles' examples; otherwise each of them is
     * rounded. (docs/windows/articles.md#c69, docs/windows/articles.md#c73) */
    bool packed;
} opl_build_object_info;

enum { OPL_BUILD_MAX_COUNTERS = 256 };

typedef struct opl_build {
    unsigned char *data;
    size_t capacity, used;
    bool full;    /* something did not fit */
    bool misused; /* calls in a wrong order, or counters out of range: ERROR_INVALID_PARAMETER */
    uint32_t objects;
    size_t object;   /* offset of the object being written; (size_t)-1: none */
    size_t empty;    /* the previous object's offset, if it has no instances; (size_t)-1: none */
    size_t counters; /* offset of the counter block being written; (size_t)-1: none */
    bool single, packed;
    uint32_t code_page;
    uint32_t block_size;
    uint32_t counter_count;
    uint32_t instances;
    uint32_t offsets[OPL_BUILD_MAX_COUNTERS];
    uint32_t sizes[OPL_BUILD_MAX_COUNTERS];
} opl_build;

OPL_BEGIN_DECLS

/* Begins writing at `data`, which the caller owns. Any alignment is possible; readers prefer 8. */
void opl_build_init(opl_build *build, void *data, size_t capacity);
/* Begins an object. An object without instances gets its counter block at once. It is misuse to
 * give more counters than OPL_BUILD_MAX_COUNTERS, a text without a size, or an explicit offset
 * below 4. (docs/windows/blocks.md#a2, docs/windows/blocks.md#a3) */
void opl_build_object(opl_build *build, const opl_build_object_info *info,
                      const opl_build_counter *counters, uint32_t count);
/* Begins an instance named by UTF-8 text (NULL: no name), and its counter block, zeroed. */
void opl_build_instance(opl_build *build, const char *name);
/* Sets the value of the counter at `position` in the current instance. A value wider than the
 * counter is misuse; a DWORD may be set in 8 bytes. */
void opl_build_dword(opl_build *build, uint32_t position, uint32_t value);
void opl_build_large(opl_build *build, uint32_t position, uint64_t value);
/* Sets a text counter from UTF-8: to UTF-16 with a terminator, or for the subtype ASCII to UTF-8;
 * truncated to the counter's size. */
void opl_build_text(opl_build *build, uint32_t position, const char *text);
/* Returns the result as Collect must: on success *data points after the last byte, and *bytes and
 * *types are set; with ERROR_MORE_DATA (or ERROR_INVALID_PARAMETER after misuse) both zero and
 * *data unchanged. A last object without instances is padded by the size of a counter block,
 * because some viewers read one there. (docs/windows/observed.md#o6) */
uint32_t opl_build_collect(opl_build *build, void **data, uint32_t *bytes, uint32_t *types);

OPL_END_DECLS

#endif
