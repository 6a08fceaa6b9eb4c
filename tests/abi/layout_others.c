/* SPDX-License-Identifier: MIT */
/*
 * Compares the other structures of our headers that programs allocate: those of block.h and
 * build.h, whose layout never changes. If this file does not compile, existing programs would be
 * damaged: undo the change of the header, or add a function for a new structure. The structures of
 * unstable.h, load.h and regfile.h may change, so they are not compared.
 */
#include <openperflib/block.h>
#include <openperflib/build.h>

#define MEMBER(now, type, member) type member;
#define SAME(now, type, member)                                                                    \
    _Static_assert(offsetof(now, member) == offsetof(struct v1_##now, member) &&                   \
                       sizeof(((now *)0)->member) == sizeof(type),                                 \
                   #now "." #member);
#define FROZEN(now)                                                                                \
    struct v1_##now {                                                                              \
        MEMBERS_##now(MEMBER, now)                                                                 \
    };                                                                                             \
    MEMBERS_##now(SAME, now) _Static_assert(sizeof(now) == sizeof(struct v1_##now), #now)

typedef const char *text;
typedef const unsigned char *bytes;
typedef uint32_t numbers[256];

/* clang-format off */
#define MEMBERS_opl_block(X, now) \
    X(now, bytes, data) X(now, size_t, size) X(now, PERF_DATA_BLOCK, header) X(now, bool, swapped) \
    X(now, int, fault) X(now, size_t, fault_offset)
#define MEMBERS_opl_object_view(X, now) \
    X(now, PERF_OBJECT_TYPE, type) X(now, size_t, offset) X(now, uint32_t, position)
#define MEMBERS_opl_counter_view(X, now) \
    X(now, PERF_COUNTER_DEFINITION, definition) X(now, size_t, offset) X(now, uint32_t, position)
#define MEMBERS_opl_instance_view(X, now) \
    X(now, PERF_INSTANCE_DEFINITION, definition) X(now, size_t, offset) X(now, uint32_t, position) \
    X(now, size_t, counters) X(now, size_t, counters_size) X(now, size_t, end)
#define MEMBERS_opl_sample(X, now) \
    X(now, uint32_t, type) X(now, bool, has_base) X(now, int64_t, first) X(now, int64_t, second) \
    X(now, uint32_t, multi_count) X(now, int64_t, time_base)
#define MEMBERS_opl_type_info(X, now) \
    X(now, text, name) X(now, text, size_text) X(now, text, type_text) X(now, text, subtype_text) \
    X(now, text, timer_text) X(now, text, display_text) X(now, text, suffix) \
    X(now, bool, delta_counter) X(now, bool, delta_base) X(now, bool, inverse) X(now, bool, multi) \
    X(now, bool, is_base) X(now, bool, needs_base) X(now, bool, needs_two_samples)
#define MEMBERS_opl_build_counter(X, now) \
    X(now, uint32_t, name_index) X(now, uint32_t, help_index) X(now, uint32_t, type) X(now, int32_t, scale) \
    X(now, uint32_t, level) X(now, uint32_t, size) X(now, uint32_t, offset)
#define MEMBERS_opl_build_object_info(X, now) \
    X(now, uint32_t, name_index) X(now, uint32_t, help_index) X(now, uint32_t, level) \
    X(now, int32_t, default_counter) X(now, bool, single) X(now, uint32_t, code_page) X(now, int64_t, time) \
    X(now, int64_t, frequency) X(now, bool, packed)
#define MEMBERS_opl_build(X, now) \
    X(now, unsigned char *, data) X(now, size_t, capacity) X(now, size_t, used) X(now, bool, full) \
    X(now, bool, misused) X(now, uint32_t, objects) X(now, size_t, object) X(now, size_t, empty) \
    X(now, size_t, counters) X(now, bool, single) X(now, bool, packed) X(now, uint32_t, code_page) \
    X(now, uint32_t, block_size) X(now, uint32_t, counter_count) X(now, uint32_t, instances) \
    X(now, numbers, offsets) X(now, numbers, sizes)
/* clang-format on */

FROZEN(opl_block);
FROZEN(opl_object_view);
FROZEN(opl_counter_view);
FROZEN(opl_instance_view);
FROZEN(opl_sample);
FROZEN(opl_type_info);
FROZEN(opl_build_counter);
FROZEN(opl_build_object_info);
FROZEN(opl_build);

/* The sizes on 64-bit machines as plain numbers: if a Windows structure changes that is a member of
 * ours, both sides of the comparisons above change alike, and only this one fails. */
_Static_assert(sizeof(void *) != 8 ||
                   (sizeof(opl_block) == 120 && sizeof(opl_object_view) == 80 &&
                    sizeof(opl_counter_view) == 56 && sizeof(opl_instance_view) == 64 &&
                    sizeof(opl_sample) == 40 && sizeof(opl_type_info) == 64 &&
                    sizeof(opl_build_counter) == 28 && sizeof(opl_build_object_info) == 48 &&
                    sizeof(opl_build) == 2128),
               "64 bits");
