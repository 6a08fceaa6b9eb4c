/* SPDX-License-Identifier: MIT */
/*
 * A provider of lies: each Collect procedure returns a correct answer with one error - a status, a
 * length, a pointer, a count - or writes where it may not. kinds.c has the expected outcome of
 * each.
 */
#include "third_party.h"

EXPORT DWORD lie_open(LPWSTR names);
EXPORT DWORD lie_close(void);

DWORD lie_open(LPWSTR names)
{
    return ERROR_SUCCESS;
}

DWORD lie_close(void)
{
    return ERROR_SUCCESS;
}

/* LIE(name, statement...) defines a procedure that writes a correct answer at `start`, at most
 * `capacity` bytes, and then falsifies it. */
#define LIE(name, ...)                                                                             \
    COLLECT(lie_##name);                                                                           \
    COLLECT(lie_##name)                                                                            \
    {                                                                                              \
        unsigned char *start = *data;                                                              \
        DWORD capacity = *bytes;                                                                   \
        DWORD status = third_party_answer(data, bytes, types);                                     \
        (void)start, (void)capacity;                                                               \
        if (status)                                                                                \
            return status;                                                                         \
        __VA_ARGS__;                                                                               \
        return status;                                                                             \
    }
#define FIELD(name, offset, value) LIE(name, third_party_put(start + (offset), (DWORD)(value)))
#define FIELD_PLUS(name, offset, add)                                                              \
    LIE(name, third_party_put(start + (offset), third_party_get(start + (offset)) + (DWORD)(add)))
/* a false length, and an end pointer that agrees with the false length */
#define CLAIM(name, length) LIE(name, *bytes = (DWORD)(length); *data = start + (DWORD)(length))

/* ---- return values ---- */
LIE(good, )
LIE(nothing, *bytes = *types = 0; *data = start)
LIE(forgets, *bytes = capacity; *types = 0; *data = start)
LIE(error_31, *bytes = *types = 0; *data = start; status = ERROR_GEN_FAILURE)
LIE(error_5, *bytes = *types = 0; *data = start; status = ERROR_ACCESS_DENIED)
LIE(error_with_data, status = ERROR_GEN_FAILURE)
LIE(error_ntstatus, *bytes = *types = 0; *data = start; status = 0xC0000005)
LIE(error_minus_1, *bytes = *types = 0; *data = start; status = (DWORD)-1)
LIE(more_data, *bytes = *types = 0; *data = start; status = ERROR_MORE_DATA)
LIE(more_data_with_data, status = ERROR_MORE_DATA)

/* ---- lengths and pointers ---- */
LIE(length_plus_8, *bytes += 8)
LIE(length_minus_8, *bytes -= 8)
LIE(length_0, *bytes = 0)
LIE(length_3, *bytes = 3)
LIE(length_negative, *bytes = 0x80000000)
LIE(length_enormous, *bytes = 0xffffffff)
LIE(pointer_plus_8, *data = (char *)*data + 8)
LIE(pointer_stays, *data = start)
LIE(pointer_null, *data = NULL)
LIE(pointer_1, *data = (void *)1)
LIE(pointer_minus_1, *data = (void *)-1)
LIE(pointer_below, *data = start - 8)
LIE(pointer_well_below, *data = start - (64 << 20))
LIE(pointer_elsewhere, static char own[256]; *data = own + *bytes)
LIE(pointer_in_guard, *data = start + capacity + 512)
LIE(pointer_after_guard, *data = start + capacity + 4096)
LIE(pointer_well_above, *data = start + 0x7ffffff0)
CLAIM(claim_odd, ANSWER_SIZE + 1)
CLAIM(claim_plus_2, ANSWER_SIZE + 2)
CLAIM(claim_capacity, capacity)
CLAIM(claim_8_over_capacity, capacity + 8)
CLAIM(claim_guard_too, capacity + 1032)
CLAIM(claim_enormous, 0xfffffff8)
CLAIM(claim_4_bytes, 4)
CLAIM(claim_half, ANSWER_SIZE / 2)
LIE(multiple_of_4, third_party_put(start + BLOCK, 12); third_party_put(start, ANSWER_SIZE + 4);
    third_party_put(start + ANSWER_SIZE, 0); *bytes += 4; *data = (char *)*data + 4)

/* ---- counts of objects ---- */
LIE(objects_0, *types = 0)
LIE(objects_2, *types = 2)
LIE(objects_minus_1, *types = (DWORD)-1)
LIE(objects_enormous, *types = 0x7fffffff)

/* ---- the object ---- */
FIELD(total_0, 0, 0)
FIELD(total_8, 0, 8)
FIELD(total_odd, 0, ANSWER_SIZE - 1)
FIELD_PLUS(total_plus_8, 0, 8)
FIELD_PLUS(total_minus_8, 0, -8)
FIELD(total_negative, 0, 0x80000000)
FIELD(total_enormous, 0, 0xfffffff8)
FIELD(definition_0, 4, 0)
FIELD(definition_60, 4, 60)
FIELD_PLUS(definition_plus_8, 4, 8)
FIELD(definition_enormous, 4, 0xffffffff)
FIELD(header_0, 8, 0)
FIELD(header_60, 8, 60)
FIELD(header_enormous, 8, 0x7fffffff)
FIELD(counters_0, 32, 0)
FIELD(counters_2, 32, 2)
FIELD(counters_minus_1, 32, -1)
FIELD(counters_enormous, 32, 0x40000000)
FIELD(instances_0, 40, 0)
FIELD(instances_2, 40, 2)
FIELD(instances_minus_4, 40, -4)
FIELD(instances_enormous, 40, 0x7fffffff)
FIELD(code_page_enormous, 44, 0x7fffffff)

/* ---- counter definitions ---- */
FIELD(counter_length_0, DEFINITION, 0)
FIELD(counter_length_39, DEFINITION, 39)
FIELD(counter_length_enormous, DEFINITION, 0xffffffd8)
FIELD(counter_outside, DEFINITION + 36, 4000)
FIELD(counter_offset_negative, DEFINITION + 36, 0x80000000)
FIELD(counter_size_enormous, DEFINITION + 32, 0x7fffffff)
FIELD(counter_type_unknown, DEFINITION + 28, 0x0fffffff)

/* ---- instances and their values ---- */
FIELD(instance_length_0, INSTANCE, 0)
FIELD(instance_length_8, INSTANCE, 8)
FIELD_PLUS(instance_length_plus_8, INSTANCE, 8)
FIELD(instance_length_negative, INSTANCE, 0x80000000)
FIELD(instance_length_enormous, INSTANCE, 0xfffffff8)
FIELD(block_length_0, BLOCK, 0)
FIELD(block_length_2, BLOCK, 2)
FIELD_PLUS(block_length_plus_8, BLOCK, 8)
FIELD(block_length_enormous, BLOCK, 0xfffffff8)
FIELD(name_outside, INSTANCE + 16, 4000)
FIELD(name_offset_negative, INSTANCE + 16, 0x80000000)
FIELD(name_length_enormous, INSTANCE + 20, 0x7ffffffe)
LIE(name_without_end, memset(start + INSTANCE + 24, 'o', 8);
    third_party_put(start + INSTANCE + 20, 8))
LIE(name_odd_length, third_party_put(start + INSTANCE + 20, 7))
LIE(name_not_utf16, third_party_put(start + INSTANCE + 24, 0xd800dfff);
    third_party_put(start + INSTANCE + 28, 0xd800))
FIELD(parent_out_of_range, INSTANCE + 8, 0x7fffffff)
LIE(parent_is_itself, third_party_put(start + INSTANCE + 4, THIRD_PARTY_OBJECT))
FIELD(unique_id, INSTANCE + 12, 7)

/* ---- unusual, but correct ---- */
FIELD(unasked_object, 12, 22228)
LIE(slack_4, memset(start + ANSWER_SIZE, 0, 8); third_party_put(start + BLOCK, 12);
    third_party_put(start, ANSWER_SIZE + 8); *bytes += 8; *data = (char *)*data + 8)
LIE(slack_8, memset(start + ANSWER_SIZE, 0, 8); third_party_put(start, ANSWER_SIZE + 8);
    *bytes += 8; *data = (char *)*data + 8)
LIE(unaligned_large, memset(start + ANSWER_SIZE, 0, 24); third_party_put(start + BLOCK, 32);
    third_party_put(start + DEFINITION + 28, PERF_COUNTER_LARGE_RAWCOUNT);
    third_party_put(start + DEFINITION + 32, 8); third_party_put(start + DEFINITION + 36, 21);
    third_party_put(start, ANSWER_SIZE + 24); *bytes += 24; *data = (char *)*data + 24)
LIE(two_objects, memcpy(start + ANSWER_SIZE, start, ANSWER_SIZE); *types = 2; *bytes *= 2;
    *data = (char *)*data + ANSWER_SIZE)
LIE(fills_the_capacity, memset(start + ANSWER_SIZE, 0xee, capacity - ANSWER_SIZE))

/* ---- writing outside the buffer ---- */
LIE(writes_4_below, third_party_put(start - 4, 0xdeadbeef))
LIE(writes_1024_below, memset(start - 1024, 0x5a, 1024))
LIE(writes_4_above, third_party_put(start + capacity, 0xdeadbeef))
LIE(writes_1024_above, memset(start + capacity, 0x5a, 1024))
LIE(writes_the_last_guard_byte, start[capacity + 1023] ^= 1)
LIE(writes_the_first_guard_byte, start[-1024] ^= 1)
LIE(writes_over_the_query, for (LPWSTR at = query; *at; at++) *at = 'x')
