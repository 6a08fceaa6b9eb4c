/* SPDX-License-Identifier: MIT */
/* Calls of Windows' remote registry as bytes, which were written by hand from the protocol's
 * documents (MS-RRP, MS-RPCE). */
#include "remote/rrp.h"

#include <setjmp.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HANDLE "\0\0\0\0ABCDEFGHIJKLMNOP"
/* the text "2": two sizes, a pointer, capacity, offset, count, two UTF-16 units */
#define TEXT_2 "\4\0\4\0\4\0\2\0\2\0\0\0\0\0\0\0\2\0\0\0\x32\0\0\0"
/* a type, an array of 8 bytes whose content is not sent, and the two sizes of the array */
#define SIZE_8                                                                                     \
    "\x8\0\2\0\0\0\0\0\xc\0\2\0\x8\0\0\0\0\0\0\0\0\0\0\0\x10\0\2\0\x8\0\0\0\x14\0\2\0\0\0\0\0"
static const char query[] = HANDLE TEXT_2 SIZE_8;
static const char no_data[] = HANDLE TEXT_2 "\0\0\0\0\0\0\0\0\x10\0\2\0\0\0\0\0\0\0\0\0";
static const char open_key[] = HANDLE TEXT_2 "\0\0\0\0\x19\0\2\0";
static const char enum_key[] = HANDLE "\7\0\0\0\0\0\x10\0\1\0\0\0\x8\0\0\0\0\0\0\0\0\0\0\0"
                                      "\1\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0";
static const char enum_value[] =
    HANDLE "\7\0\0\0\0\0\x10\0\1\0\0\0\x8\0\0\0\0\0\0\0\0\0\0\0" SIZE_8;
static const char info[] = HANDLE "\0\0\0\0\0\0\0\0";
#define SIZE(text) (sizeof(text) - 1)

/* ---- reading ---- */

static void what_is_requested(void **state)
{
    BUFFER_AUTO text = {0};
    struct rrp_request request;
    assert_true(rrp_read_request(RRP_QUERY, query, SIZE(query), &text, &request));
    assert_memory_equal(request.handle.bytes, HANDLE, RRP_HANDLE_BYTES);
    assert_string_equal(request.name, "2");
    assert_true(request.has_type && request.has_data && request.has_size && request.has_length);
    assert_int_equal(request.capacity, 8);
    assert_true(rrp_read_request(RRP_QUERY, no_data, SIZE(no_data), &text, &request));
    assert_true(!request.has_type && !request.has_data && request.has_size && !request.has_length);
    assert_true(rrp_read_request(RRP_OPEN_KEY, open_key, SIZE(open_key), &text, &request));
    assert_int_equal(request.access, 0x20019);
    assert_true(rrp_read_request(RRP_ENUM_KEY, enum_key, SIZE(enum_key), &text, &request));
    assert_int_equal(request.index, 7);
    assert_int_equal(request.name_capacity.bytes, 16);
    assert_true(request.has_class && !request.class_capacity.has_text && request.has_time);
    assert_true(rrp_read_request(RRP_ENUM_VALUE, enum_value, SIZE(enum_value), &text, &request));
    assert_int_equal(request.capacity, 8);
    assert_true(rrp_read_request(RRP_INFO, info, SIZE(info), &text, &request));
}

/* Each call is cut off at any byte: it is refused, unless only bytes are missing that are never
 * read. Invalid handles are refused, too. */
static void what_is_cut(void **state)
{
    static const struct {
        unsigned call;
        const char *bytes;
        size_t size;
    } rows[] = {
        {RRP_QUERY,      query,      SIZE(query)     },
        {RRP_QUERY,      no_data,    SIZE(no_data)   },
        {RRP_OPEN_KEY,   open_key,   SIZE(open_key)  },
        {RRP_ENUM_KEY,   enum_key,   SIZE(enum_key)  },
        {RRP_ENUM_VALUE, enum_value, SIZE(enum_value)},
        {RRP_INFO,       info,       SIZE(info)      },
        {RRP_CLOSE,      HANDLE,     SIZE(HANDLE)    },
        {22,             HANDLE,     SIZE(HANDLE)    },
    };
    BUFFER_AUTO text = {0};
    struct rrp_request request;
    for (size_t i = 0; i < COUNT(rows); i++)
        for (size_t size = 0; size <= rows[i].size; size++) {
            FREE_AUTO char *copy = malloc(size + 1);
            memcpy(copy, rows[i].bytes, size);
            assert_int_equal(rrp_read_request(rows[i].call, copy, size, &text, &request),
                             size == rows[i].size);
        }
    assert_false(rrp_read_request(RRP_CALLS, query, SIZE(query), &text, &request));
}

static bool reads(const char *bytes, size_t size, size_t at, uint32_t number)
{
    char copy[256];
    BUFFER_AUTO text = {0};
    struct rrp_request request;
    memcpy(copy, bytes, size);
    /* this works because this machine is little-endian, like the protocol */
    memcpy(copy + at, &number, sizeof number);
    return rrp_read_request(RRP_QUERY, copy, size, &text, &request);
}

static void lengths_that_lie(void **state)
{
    enum { SIZES = 20, SIZE = 28, OFFSET = 32, USED = 36, DATA_SIZE = 56, DATA_USED = 64 };
    const size_t size = SIZE(query);
    assert_true(reads(query, size, SIZES, 0x00040004));
    assert_true(reads(query, size, SIZES, 0xffff0004));
    assert_false(reads(query, size, SIZES, 0x00020004)); /* a length beyond the capacity */
    /* a length that differs from that of the array */
    assert_false(reads(query, size, SIZES, 0x00040002));
    assert_false(reads(query, size, SIZE, 1));
    assert_true(reads(query, size, SIZE, 0xffffffff));
    assert_false(reads(query, size, OFFSET, 1));
    for (uint32_t used = 0; used < 40; used++)
        assert_int_equal(reads(query, size, USED, used), used == 2);
    assert_false(reads(query, size, USED, 0x80000002));
    /* the request is read, although it states a capacity of 4 GiB, because that much is never
     * allocated */
    assert_true(reads(query, size, DATA_SIZE, 0xffffffff));
    assert_false(reads(query, size, DATA_USED, 9));
    assert_false(reads(query, size, DATA_USED, 0xffffffff));
}

/* ---- writing ---- */

static void is_written(unsigned call, const char *bytes, size_t size,
                       const struct rrp_reply *answer, const char *wanted, size_t wanted_size)
{
    BUFFER_AUTO text = {0};
    BUFFER_AUTO out = {0};
    struct rrp_request request;
    assert_true(rrp_read_request(call, bytes, size, &text, &request));
    assert_true(rrp_write_reply(&request, answer, &out));
    assert_int_equal(out.len, wanted_size);
    assert_memory_equal(out.data, wanted, wanted_size);
}
#define WRITTEN(call, bytes, answer, wanted)                                                       \
    is_written(call, bytes, SIZE(bytes), answer, wanted, SIZE(wanted))

static void what_is_answered(void **state)
{
    const struct rrp_reply data = {.type = 3, .size = 5, .data = "bytes", .data_size = 5};
    WRITTEN(RRP_QUERY, query, &data,
            "\0\0\2\0\3\0\0\0\x8\0\2\0\5\0\0\0\0\0\0\0\5\0\0\0bytes\0\0\0"
            "\x20\0\2\0\5\0\0\0\x28\0\2\0\5\0\0\0\0\0\0\0");
    const struct rrp_reply more = {.status = 234, .type = 7, .size = 0x12345};
    WRITTEN(RRP_QUERY, query, &more,
            "\0\0\2\0\7\0\0\0\x8\0\2\0\x45\x23\1\0\0\0\0\0\0\0\0\0"
            "\x18\0\2\0\x45\x23\1\0\x20\0\2\0\0\0\0\0\xea\0\0\0");
    const struct rrp_reply size = {.size = 5};
    WRITTEN(RRP_QUERY, no_data, &size, "\0\0\0\0\0\0\0\0\x8\0\2\0\5\0\0\0\0\0\0\0\0\0\0\0");
    const struct rrp_reply name = {
        .name = "ab", .numbers = {[5] = 1, [6] = 2}
    };
    WRITTEN(RRP_ENUM_KEY, enum_key, &name,
            "\6\0\x10\0\4\0\2\0\x8\0\0\0\0\0\0\0\3\0\0\0a\0b\0\0\0\0\0"
            "\x1c\0\2\0\0\0\0\0\0\0\0\0\x28\0\2\0\1\0\0\0\2\0\0\0\0\0\0\0");
    const struct rrp_reply handle = {.handle = {HANDLE}};
    WRITTEN(RRP_OPEN_KEY, open_key, &handle, HANDLE "\0\0\0\0");
    const struct rrp_reply denied = {.status = 5, .handle = {HANDLE}};
    WRITTEN(RRP_OPEN_KEY, open_key, &denied, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\5\0\0\0");
    WRITTEN(22, HANDLE, &denied, "\5\0\0\0");
    WRITTEN(RRP_CREATE, HANDLE, &denied,
            "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\5\0\0\0");
    WRITTEN(RRP_VERSION, HANDLE, &handle, "\5\0\0\0\0\0\0\0");
    const struct rrp_reply numbers = {
        .numbers = {3, 4, 5, 6, 7, 8, 9}
    };
    WRITTEN(RRP_INFO, info, &numbers,
            "\0\0\0\0\0\0\0\0\3\0\0\0\x8\0\0\0\0\0\0\0\5\0\0\0\xc\0\0\0\7\0\0\0\0\0\0\0"
            "\x8\0\0\0\x9\0\0\0\0\0\0\0");
}

static bool reads_reply(uint32_t capacity, struct rrp_reply *ret)
{
    const struct rrp_reply data = {.type = 3, .size = 5, .data = "bytes", .data_size = 5};
    BUFFER_AUTO text = {0};
    BUFFER_AUTO out = {0};
    struct rrp_request request;
    assert_true(rrp_read_request(RRP_QUERY, query, SIZE(query), &text, &request));
    assert_true(rrp_write_reply(&request, &data, &out));
    request.capacity = capacity;
    bool good = rrp_read_reply(&request, out.data, out.len, &text, ret);
    if (good)
        assert_memory_equal(ret->data, "bytes", 5);
    return good;
}

static void no_more_than_was_requested(void **state)
{
    struct rrp_reply reply;
    assert_true(reads_reply(5, &reply));
    assert_int_equal(reply.data_size, 5);
    assert_int_equal(reply.type, 3);
    assert_false(reads_reply(4, &reply));
}

static void what_has_no_answer(void **state)
{
    BUFFER_AUTO text = {0};
    BUFFER_AUTO out = {0};
    struct rrp_request request;
    const struct rrp_reply answer = {.status = 5};
    assert_true(rrp_read_request(RRP_QUERY_MANY, HANDLE, SIZE(HANDLE), &text, &request));
    assert_false(rrp_write_reply(&request, &answer, &out));
    assert_int_equal(out.len, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_requested),  cmocka_unit_test(what_is_cut),
        cmocka_unit_test(lengths_that_lie),   cmocka_unit_test(what_is_answered),
        cmocka_unit_test(what_has_no_answer), cmocka_unit_test(no_more_than_was_requested),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
