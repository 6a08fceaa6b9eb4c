/* SPDX-License-Identifier: MIT */
/* Requests and replies as bytes: written and read back, cut off at any byte, and with each bit
 * flipped. */
#include "remote/proto.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct proto_request sample_request = {.id = 7,
                                                    .operation = PROTO_QUERY,
                                                    .flags = PROTO_WIDE,
                                                    .root = 0x80000004,
                                                    .index = 3,
                                                    .capacity = 70000,
                                                    .path = "SOFTWARE\\A",
                                                    .name = "Counter 009"};
static const struct proto_reply sample_reply = {.id = 7,
                                                .status = 234,
                                                .type = 3,
                                                .needed = 99,
                                                .name = "Globäl",
                                                .data = "some data",
                                                .data_size = 9};

/* The expected bytes are those of docs/remote-protocol.md. */
static void request_has_the_documented_bytes(void **state)
{
    static const unsigned char wanted[] = {
        59,  0, 0,   0,   'O',  'P', 'K', '1', 7,   0,    0,    0,   2,   0,   1,
        0,   4, 0,   0,   0x80, 3,   0,   0,   0,   0x70, 0x11, 1,   0,   11,  0,
        0,   0, 12,  0,   0,    0,   'S', 'O', 'F', 'T',  'W',  'A', 'R', 'E', '\\',
        'A', 0, 'C', 'o', 'u',  'n', 't', 'e', 'r', ' ',  '0',  '0', '9', 0};
    BUFFER_AUTO bytes = {0};
    assert_true(proto_write_request(&sample_request, &bytes));
    assert_int_equal(bytes.len, sizeof wanted);
    assert_memory_equal(bytes.data, wanted, sizeof wanted);
}

static void request_there_and_back(void **state)
{
    BUFFER_AUTO bytes = {0};
    struct proto_request read;
    assert_true(proto_write_request(&sample_request, &bytes));
    assert_int_equal(proto_size(bytes.data, PROTO_REQUEST_BYTES), bytes.len);
    assert_true(proto_read_request(bytes.data, bytes.len, &read));
    assert_int_equal(read.id, 7);
    assert_int_equal(read.operation, PROTO_QUERY);
    assert_int_equal(read.flags, PROTO_WIDE);
    assert_int_equal(read.root, 0x80000004);
    assert_int_equal(read.index, 3);
    assert_int_equal(read.capacity, 70000);
    assert_string_equal(read.path, sample_request.path);
    assert_string_equal(read.name, sample_request.name);
}

static size_t whole_reply(struct buffer *bytes)
{
    assert_true(proto_write_reply(&sample_reply, bytes));
    assert_true(buffer_add(bytes, sample_reply.data, sample_reply.data_size));
    return bytes->len;
}

static void reply_there_and_back(void **state)
{
    BUFFER_AUTO bytes = {0};
    struct proto_reply read;
    assert_true(proto_read_reply(bytes.data, 0, &read) == false);
    size_t size = whole_reply(&bytes);
    assert_true(proto_read_reply(bytes.data, size, &read));
    assert_int_equal(read.status, 234);
    assert_int_equal(read.type, 3);
    assert_int_equal(read.needed, 99);
    assert_string_equal(read.name, sample_reply.name);
    assert_int_equal(read.data_size, 9);
    assert_memory_equal(read.data, "some data", 9);
}

static void no_name_is_not_the_empty_name(void **state)
{
    BUFFER_AUTO bytes = {0};
    struct proto_request read, request = {.operation = PROTO_QUERY, .path = ""};
    assert_true(proto_write_request(&request, &bytes));
    assert_true(proto_read_request(bytes.data, bytes.len, &read));
    assert_null(read.name);
    request.name = "";
    assert_true(proto_write_request(&request, &bytes));
    assert_true(proto_read_request(bytes.data, bytes.len, &read));
    assert_non_null(read.name);
}

/* Returns a copy in memory of exactly that size, so that a sanitizer reports a read beyond it. */
static void *copy_of(const void *data, size_t size)
{
    char *copy = malloc(size ? size : 1);
    assert_non_null(copy);
    if (size)
        memcpy(copy, data, size);
    return copy;
}

static void judge_request(const void *data, size_t size, bool *ret_good)
{
    struct proto_request read;
    char *copy = copy_of(data, size);
    *ret_good = proto_read_request(copy, size, &read);
    if (*ret_good) {
        size_t length = strlen(read.path) + (read.name ? strlen(read.name) : 0);
        assert_true(length < size);
        assert_true(utf8_valid(read.path, strlen(read.path)));
    }
    free(copy);
}

static void a_cut_message_is_none(void **state)
{
    BUFFER_AUTO request = {0};
    BUFFER_AUTO reply = {0};
    struct proto_reply read;
    bool good;
    assert_true(proto_write_request(&sample_request, &request));
    for (size_t size = 0; size < request.len; size++) {
        judge_request(request.data, size, &good);
        assert_false(good);
    }
    size_t whole = whole_reply(&reply);
    for (size_t size = 0; size < whole; size++) {
        char *copy = copy_of(reply.data, size);
        assert_false(proto_read_reply(copy, size, &read));
        free(copy);
    }
}

static void any_bit_may_be_wrong(void **state)
{
    BUFFER_AUTO request = {0};
    BUFFER_AUTO reply = {0};
    bool good;
    assert_true(proto_write_request(&sample_request, &request));
    for (size_t bit = 0; bit < request.len * 8; bit++) {
        request.data[bit / 8] ^= (char)(1 << bit % 8);
        judge_request(request.data, request.len, &good);
        if (bit < 64 || (bit >= 28 * 8 && bit < 36 * 8))
            /* these bits belong to the size, the mark and the lengths of the texts */
            assert_false(good);
        request.data[bit / 8] ^= (char)(1 << bit % 8);
    }
    size_t size = whole_reply(&reply);
    for (size_t bit = 0; bit < size * 8; bit++) {
        struct proto_reply read;
        reply.data[bit / 8] ^= (char)(1 << bit % 8);
        char *copy = copy_of(reply.data, size);
        good = proto_read_reply(copy, size, &read);
        if (good && read.data_size)
            assert_true((const char *)read.data + read.data_size == copy + size);
        if (bit < 64 || (bit >= 24 * 8 && bit < 32 * 8))
            assert_false(good);
        free(copy);
        reply.data[bit / 8] ^= (char)(1 << bit % 8);
    }
}

static void texts_are_texts(void **state)
{
    static const struct {
        size_t at;
        char byte;
    } rows[] = {
        {36, '\0'  }, /* a NUL inside a text */
        {46, 'x'   }, /* no NUL at a text's end */
        {37, '\xff'}, /* a byte that is not UTF-8 */
        {58, 'x'   }, /* no NUL at the name's end */
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        BUFFER_AUTO bytes = {0};
        bool good;
        assert_true(proto_write_request(&sample_request, &bytes));
        bytes.data[rows[i].at] = rows[i].byte;
        judge_request(bytes.data, bytes.len, &good);
        assert_false(good);
    }
}

static void sizes_have_an_end(void **state)
{
    char start[8];
    proto_put_number(start, PROTO_REQUEST_BYTES + 1);
    proto_put_number(start + 4, PROTO_MARK);
    assert_int_equal(proto_size(start, PROTO_REQUEST_BYTES), 0);
    proto_put_number(start, PROTO_REQUEST_BYTES);
    assert_int_equal(proto_size(start, PROTO_REQUEST_BYTES), PROTO_REQUEST_BYTES);
    proto_put_number(start, 0xffffffff);
    assert_int_equal(proto_size(start, PROTO_REQUEST_BYTES), 0);
    proto_put_number(start, 31);
    assert_int_equal(proto_size(start, PROTO_REQUEST_BYTES), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(request_has_the_documented_bytes),
        cmocka_unit_test(request_there_and_back),
        cmocka_unit_test(reply_there_and_back),
        cmocka_unit_test(no_name_is_not_the_empty_name),
        cmocka_unit_test(a_cut_message_is_none),
        cmocka_unit_test(any_bit_may_be_wrong),
        cmocka_unit_test(texts_are_texts),
        cmocka_unit_test(sizes_have_an_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
