/* SPDX-License-Identifier: MIT */
/* How openperflib-smb converts a Windows machine's replies: correct, false and damaged ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <openperflib/block.h>
#include <winperf.h>
#include <winreg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "smb_machine.h"

static const uint32_t DATA = 0x80000004, TEXT = 0x80000050, MACHINE = 0x80000002;
enum { SIZE = 8 << 20 };
static struct fake_machine fake;
static struct smb_machine machine;
static struct smb_answers answers;
static struct proto_reply reply;

static int begin(void **state)
{
    fake_machine_init(&fake);
    machine_init(&machine, &fake.wire);
    answers = (struct smb_answers){.machine = &machine};
    return 0;
}

static int end(void **state)
{
    machine_done(&machine);
    buffer_done(&answers.data);
    buffer_done(&answers.name);
    return 0;
}

static LSTATUS query_with(enum proto_operation operation, uint32_t root, const char *path,
                          const char *name, uint32_t capacity, uint16_t flags)
{
    struct proto_request request = {.id = 5,
                                    .operation = (uint16_t)operation,
                                    .flags = flags,
                                    .root = root,
                                    .capacity = capacity,
                                    .path = path,
                                    .name = name};
    smb_answer(&answers, &request, &reply);
    assert_int_equal(reply.id, 5);
    return (LSTATUS)reply.status;
}

static LSTATUS run_query(uint32_t root, const char *name)
{
    return query_with(PROTO_QUERY, root, "", name, SIZE, PROTO_WIDE);
}

static void serve_value(uint32_t root, const char *path, const char *name, uint32_t type,
                        const void *data, size_t size)
{
    size_t i = 0;
    while (fake.values[i].name)
        i++;
    fake.values[i] = (struct fake_value){root, path, name, type, data, size};
}

/* ---- bytes ---- */

/* The bytes of a query as MS-RRP describes them: call number 17, a handle, the text "2" with its
 * NUL, and a capacity of 64 bytes. */
static void a_query_has_the_documented_bytes(void **state)
{
    static const unsigned char head[] = {4, 0, 4, 0},
                               text[] = {2, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, '2', 0, 0, 0};
    struct rrp_request query = {.opnum = RRP_QUERY, .name = "2", .capacity = 64};
    BUFFER_AUTO bytes = {0};
    memset(query.handle.bytes, 7, sizeof query.handle.bytes);
    assert_true(rrp_write_request(&query, &bytes));
    const char *at = bytes.data;
    assert_int_equal(bytes.len, 84);
    assert_memory_equal(at, query.handle.bytes, 20);
    assert_memory_equal(at + 20, head, 4);
    assert_int_not_equal(proto_number(at + 24), 0);
    assert_memory_equal(at + 28, text, 16);
    static const uint32_t numbers[] = {1, 0, 1, 64, 0, 0, 1, 64, 1, 0};
    for (size_t i = 0; i < COUNT(numbers); i++) {
        uint32_t number = proto_number(at + 44 + 4 * i);
        if (numbers[i] == 1) /* a pointer */
            assert_true(number >= 0x20000);
        else
            assert_int_equal(number, numbers[i]);
    }
}

static void long_names_are_refused(void **state)
{
    static char name[20000];
    BUFFER_AUTO bytes = {0};
    const struct rrp_request query = {.opnum = RRP_QUERY, .name = name, .capacity = 64};
    memset(name, 'x', 16384);
    assert_false(rrp_write_request(&query, &bytes));
    name[16383] = '\0';
    assert_true(rrp_write_request(&query, &bytes));
}

/* ---- blocks ---- */

static void capacity_grows_blindly(void **state)
{
    BUFFER_AUTO block = {0};
    fake_block(&block, 3000);
    serve_value(DATA, "", "Global", REG_BINARY, block.data, block.len);
    fake.only_size = true;
    assert_true(block.len > (256 << 10));
    assert_int_equal(run_query(DATA, "Global"), 0);
    assert_int_equal(reply.data_size, block.len);
    assert_memory_equal(reply.data, block.data, block.len);
    for (unsigned i = 0; i < fake.size_count; i++)
        assert_int_equal(fake.sizes[i], (64 << 10) << i);
    unsigned before = fake.size_count;
    /* this query begins with the buffer size that was enough for the last one */
    assert_int_equal(run_query(DATA, "global"), 0);
    assert_int_equal(run_query(DATA, "Global"), 0);
    assert_int_equal(fake.size_count - before, 2);
    assert_int_equal(query_with(PROTO_QUERY, DATA, "", "Global", 100000, 0), ERROR_MORE_DATA);
    assert_int_equal(fake.sizes[fake.size_count - 1], 100000);
    before = fake.size_count;
    assert_int_equal(query_with(PROTO_QUERY, DATA, "", "Global", 0, PROTO_NO_DATA),
                     ERROR_MORE_DATA);
    assert_int_equal(fake.size_count, before);
}

static void success_with_less_than_all_is_too_little_space(void **state)
{
    BUFFER_AUTO block = {0};
    fake_block(&block, 3000);
    serve_value(DATA, "", "Global", REG_BINARY, block.data, block.len);
    fake.cuts = true;
    assert_int_equal(run_query(DATA, "Global"), 0);
    assert_int_equal(reply.data_size, block.len);
    assert_true(fake.size_count > 2);
    assert_int_equal(query_with(PROTO_QUERY, DATA, "", "Global", 70000, 0), ERROR_MORE_DATA);
}

static void swap_head(struct buffer *block)
{
    static const size_t fields[] = {12, 16, 20, 24, 28, 32};
    /* changes the header's field LittleEndian */
    proto_put_number(block->data + 8, !proto_number(block->data + 8));
    for (size_t at = 0; at < 8; at += 2) {
        char first = block->data[at];
        block->data[at] = block->data[at + 1];
        block->data[at + 1] = first;
    }
    for (size_t i = 0; i < COUNT(fields); i++) {
        char *at = block->data + fields[i], bytes[4];
        memcpy(bytes, at, 4);
        for (int k = 0; k < 4; k++)
            at[k] = bytes[3 - k];
    }
}

static void put_total(struct buffer *block, size_t total)
{
    proto_put_number(block->data + 20, (uint32_t)total);
}

static void totals_without_the_header_are_repaired(void **state)
{
    BUFFER_AUTO block = {0}, wanted = {0};
    fake_block(&wanted, 3);
    fake_block(&block, 3);
    put_total(&block, block.len - sizeof(PERF_DATA_BLOCK));
    assert_int_equal(rules_block(&block, SIZE), 0);
    assert_int_equal(block.len, wanted.len);
    assert_memory_equal(block.data, wanted.data, wanted.len);
    fake_block(&block, 0);
    put_total(&block, 0);
    assert_int_equal(rules_block(&block, SIZE), 0);
    assert_int_equal(proto_number(block.data + 20), block.len);
    swap_head(&block);
    assert_int_equal(rules_block(&block, SIZE), 0);
    fake_block(&block, 0);
    put_total(&block, 0);
    swap_head(&block);
    assert_int_equal(rules_block(&block, SIZE), 0);
    swap_head(&block);
    assert_int_equal(proto_number(block.data + 20), block.len);
}

static void what_is_behind_a_block_is_cut(void **state)
{
    BUFFER_AUTO block = {0};
    fake_block(&block, 2);
    size_t size = block.len;
    buffer_add(&block, "more and more", 13);
    assert_int_equal(rules_block(&block, SIZE), 0);
    assert_int_equal(block.len, size);
}

static void other_blocks_are_refused(void **state)
{
    BUFFER_AUTO block = {0};
    serve_value(DATA, "", "2", REG_BINARY, "", 0);
    serve_value(DATA, "", "4", REG_SZ, "P\0E\0", 4);
    assert_int_equal(run_query(DATA, "2"), ERROR_INVALID_DATA);
    assert_int_equal(run_query(DATA, "4"), ERROR_INVALID_DATA);
    fake_block(&block, 2);
    serve_value(DATA, "", "6", REG_DWORD, block.data, block.len);
    assert_int_equal(run_query(DATA, "6"), ERROR_INVALID_DATA);
    for (size_t size = 0; size < block.len; size++) {
        BUFFER_AUTO cut = {0};
        buffer_add(&cut, block.data, size);
        assert_int_equal(rules_block(&cut, SIZE), ERROR_INVALID_DATA);
    }
    assert_int_equal(run_query(DATA, "nothing"), ERROR_FILE_NOT_FOUND);
    assert_int_equal(reply.data_size, 0);
}

/* ---- texts ---- */

static void lists_are_put_in_order(void **state)
{
    static const struct {
        const char *bytes;
        size_t size;
        const char *wanted;
        size_t wanted_size;
    } cases[] = {
        {"1\0\0\0a\0\0\0\0\0",     10, "1\0a\0",        5},
        {"1\0\0\0a\0\0\0",         8,  "1\0a\0",        5},
        {"1\0\0\0a\0",             6,  "1\0a\0",        5},
        {"1\0\0\0a\0\0",           7,  "1\0a\0",        5},
        {"1\0\0\0a\0\0\0\0\0\0\0", 12, "1\0a\0",        5},
        {"",                       0,  "",              1},
        {"1\0\0\0\xe4\0\0\0",      8,  "1\0\xc3\xa4\0", 6},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        fake.values[0] =
            (struct fake_value){DATA, "", "Counter 009", REG_BINARY, cases[i].bytes, cases[i].size};
        assert_int_equal(query_with(PROTO_QUERY, DATA, "", "Counter 009", SIZE, 0), 0);
        assert_int_equal(reply.type, REG_MULTI_SZ);
        assert_int_equal(reply.data_size, cases[i].wanted_size);
        assert_memory_equal(reply.data, cases[i].wanted, cases[i].wanted_size);
        assert_int_equal(reply.needed, reply.data_size);
        assert_int_equal(query_with(PROTO_QUERY, DATA, "", "Counter 009", 0, PROTO_NO_DATA), 0);
        assert_int_equal(reply.needed, cases[i].wanted_size);
    }
    assert_int_equal(query_with(PROTO_QUERY, DATA, "", "Counter 009", 3, 0), ERROR_MORE_DATA);
    assert_int_equal(reply.needed, 6);
}

static void stock_samba_calls_its_list_counters(void **state)
{
    serve_value(TEXT, "", "Counters", REG_MULTI_SZ, "1\0\0\0a\0\0\0\0\0", 10);
    assert_int_equal(run_query(TEXT, "Counter"), 0);
    assert_int_equal(reply.data_size, 10);
    assert_int_equal(run_query(TEXT, "Help"), ERROR_FILE_NOT_FOUND);
}

static void plain_values(void **state)
{
    serve_value(MACHINE, "SOFTWARE", "Text", REG_SZ, "a\0\xe4\0\0\0", 6);
    serve_value(MACHINE, "SOFTWARE", "Number", REG_DWORD, "\1\2\3\4", 4);
    assert_int_equal(query_with(PROTO_QUERY, MACHINE, "SOFTWARE", "Text", SIZE, 0), 0);
    assert_int_equal(reply.data_size, 4);
    assert_memory_equal(reply.data, "a\xc3\xa4", 4);
    assert_int_equal(query_with(PROTO_QUERY, MACHINE, "SOFTWARE", "Number", SIZE, 0), 0);
    assert_int_equal(reply.type, REG_DWORD);
    assert_memory_equal(reply.data, "\1\2\3\4", 4);
    assert_int_equal(
        query_with(PROTO_QUERY, MACHINE, "SOFTWARE", "Number", 0, PROTO_NO_DATA | PROTO_NO_SIZE),
        0);
    assert_int_equal(query_with(PROTO_QUERY, MACHINE, "missing", "Number", SIZE, 0),
                     ERROR_FILE_NOT_FOUND);
    assert_int_equal(query_with(PROTO_OPEN, MACHINE, "missing", NULL, 0, 0), ERROR_FILE_NOT_FOUND);
    assert_int_equal(query_with(PROTO_OPEN, DATA, "below", NULL, 0, 0), ERROR_INVALID_HANDLE);
    assert_int_equal(query_with(PROTO_OPEN, 0x80000001, "", NULL, 0, 0), ERROR_INVALID_HANDLE);
    assert_int_equal(query_with((enum proto_operation)9, DATA, "", NULL, 0, 0),
                     ERROR_INVALID_FUNCTION);
}

static void enumerations(void **state)
{
    serve_value(MACHINE, "K", "Erster", REG_DWORD, "\1\0\0\0", 4);
    assert_int_equal(query_with(PROTO_ENUM_VALUE, MACHINE, "K", NULL, SIZE, 0), 0);
    assert_string_equal(reply.name, "Erster");
    assert_int_equal(reply.data_size, 4);
    struct proto_request second = {
        .operation = PROTO_ENUM_VALUE, .root = MACHINE, .path = "K", .index = 1, .capacity = SIZE};
    smb_answer(&answers, &second, &reply);
    assert_int_equal(reply.status, ERROR_NO_MORE_ITEMS);
    assert_null(reply.name);
    assert_int_equal(query_with(PROTO_ENUM_KEY, MACHINE, "K", NULL, SIZE, 0), 0);
    assert_string_equal(reply.name, "00\xc3\xa4");
    assert_int_equal(reply.data_size, PROTO_TIME_BYTES);
    assert_int_equal(proto_number(reply.data), 0x11223344);
    assert_int_equal(proto_number((const char *)reply.data + 4), 0x01020304);
    assert_int_equal(query_with(PROTO_INFO, MACHINE, "K", NULL, SIZE, PROTO_WIDE), 0);
    static const uint32_t wanted[] = {100, 100, 400, 250, 600, 7, 8};
    for (size_t i = 0; i < COUNT(wanted); i++)
        assert_int_equal(proto_number((const char *)reply.data + 4 * i), wanted[i]);
}

/* ---- the remote service is asleep, forgets its keys, is busy, or ends ---- */

static void a_sleeping_service_is_waited_for(void **state)
{
    BUFFER_AUTO block = {0};
    fake_block(&block, 1);
    serve_value(DATA, "", "2", REG_BINARY, block.data, block.len);
    for (int i = 0; i < 3; i++)
        fake.connects[i] = i % 2 ? SMB_PIPE_BUSY : ERROR_FILE_NOT_FOUND;
    assert_int_equal(run_query(DATA, "2"), 0);
    assert_int_equal(fake.connected, 4);
    assert_int_equal(fake.paused_ms, 700);
}

static void a_stopped_service_is_left_alone(void **state)
{
    for (int i = 0; i < FAKE_CONNECTS; i++)
        fake.connects[i] = ERROR_FILE_NOT_FOUND;
    assert_int_equal(run_query(DATA, "2"), RPC_S_SERVER_UNAVAILABLE);
    assert_in_range(fake.paused_ms, 4000, 6000);
    unsigned before = fake.connected;
    assert_int_equal(run_query(DATA, "2"), RPC_S_SERVER_UNAVAILABLE);
    assert_int_equal(fake.connected, before);
}

static void refusals_are_reported_as_they_are(void **state)
{
    static const LSTATUS reported[] = {ERROR_ACCESS_DENIED, ERROR_LOGON_FAILURE, ERROR_TIME_SKEW,
                                       ERROR_BAD_NETPATH};
    for (size_t i = 0; i < COUNT(reported); i++) {
        fake_machine_init(&fake);
        machine_init(&machine, &fake.wire);
        fake.connects[0] = reported[i];
        assert_int_equal(run_query(DATA, "2"), reported[i]);
        assert_int_equal(fake.connected, 1);
        assert_int_equal(fake.paused_ms, 0);
    }
    begin(state);
    fake.open_status = ERROR_ACCESS_DENIED;
    assert_int_equal(query_with(PROTO_OPEN, DATA, "", NULL, 0, 0), ERROR_ACCESS_DENIED);
    fake.open_status = 0;
    fake.refuse_with = ERROR_ACCESS_DENIED;
    fake.refusals = 5;
    assert_int_equal(run_query(DATA, "2"), ERROR_ACCESS_DENIED);
    assert_int_equal(fake.refusals, 4);
}

static void passing_troubles_are_waited_for(void **state)
{
    static const uint32_t passing[] = {ERROR_BUSY, 21, 212, 258};
    BUFFER_AUTO block = {0};
    fake_block(&block, 1);
    serve_value(DATA, "", "2", REG_BINARY, block.data, block.len);
    for (size_t i = 0; i < COUNT(passing); i++) {
        fake.refuse_with = passing[i];
        fake.refusals = 3;
        fake.paused_ms = 0;
        assert_int_equal(run_query(DATA, "2"), 0);
        assert_int_equal(fake.paused_ms, 350);
    }
    fake.refusals = 1000;
    fake.paused_ms = 0;
    assert_int_equal(run_query(DATA, "2"), 258);
    assert_in_range(fake.paused_ms, 2000, 3000);
}

static void forgotten_handles_and_lost_connections_are_made_anew(void **state)
{
    BUFFER_AUTO block = {0};
    fake_block(&block, 1);
    serve_value(DATA, "", "2", REG_BINARY, block.data, block.len);
    assert_int_equal(run_query(DATA, "2"), 0);
    assert_int_equal(fake.opened, 1);
    fake.refuse_with = ERROR_INVALID_HANDLE;
    fake.refusals = 1;
    assert_int_equal(run_query(DATA, "2"), 0);
    assert_int_equal(fake.opened, 2);
    fake.refusals = 2;
    assert_int_equal(run_query(DATA, "2"), ERROR_INVALID_HANDLE);
    fake.lose_with = RPC_S_CALL_FAILED;
    fake.lose_at = fake.calls;
    assert_int_equal(run_query(DATA, "2"), 0);
    assert_int_equal(fake.connected, 2);
    assert_int_equal(fake.closed, 1);
    /* after a timeout, the machine is not connected again for this query */
    fake.lose_with = WAIT_TIMEOUT;
    fake.lose_at = fake.calls;
    assert_int_equal(run_query(DATA, "2"), RPC_S_CALL_FAILED);
    assert_int_equal(fake.connected, 2);
    /* nor is it connected again if it has never answered on this connection */
    fake.lose_with = RPC_S_CALL_FAILED;
    fake.lose_at = fake.calls;
    assert_int_equal(run_query(DATA, "2"), RPC_S_CALL_FAILED);
    assert_int_equal(fake.connected, 3);
}

static void keys_are_kept_and_not_too_many(void **state)
{
    char path[20];
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 10; i++) {
            snprintf(path, sizeof path, "K%d", i);
            assert_int_equal(query_with(PROTO_OPEN, MACHINE, path, NULL, 0, 0), 0);
        }
    assert_int_equal(fake.opened, 11);
    for (int i = 0; i < 40; i++) {
        snprintf(path, sizeof path, "L%d", i);
        assert_int_equal(query_with(PROTO_OPEN, MACHINE, path, NULL, 0, 0), 0);
    }
    assert_int_equal(fake.open_handles, SMB_KEPT_KEYS);
    /* one handle more than the keys: the root key stays open, whichever key is closed */
    assert_int_equal(fake.opened, 51);
    assert_int_equal(query_with(PROTO_OPEN, DATA, "", NULL, 0, 0), 0);
    unsigned before = fake.seen[RRP_CLOSE];
    assert_int_equal(query_with(PROTO_CLOSE, DATA, "", NULL, 0, 0), 0);
    assert_int_equal(fake.seen[RRP_CLOSE], before + 1);
    /* not an operation of this program, whose client needs no permission from it */
    assert_int_equal(query_with(PROTO_CALLER, MACHINE, "K1", NULL, 0, 0), ERROR_INVALID_FUNCTION);
    assert_int_equal(query_with(PROTO_OPEN, DATA, "", NULL, 0, 0), 0);
    assert_int_equal(fake.connected, 1);
}

/* ---- damage ---- */

static uint32_t seed = 20261122;

static uint32_t chance(uint32_t below)
{
    seed = seed * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)seed * below >> 32);
}

static void mutate(struct fake_machine *of, struct buffer *bytes)
{
    static const uint32_t numbers[] = {0, 1, 0xffffffff, 0x7fffffff, 0x80000000, 0x4000001, 65537};
    for (uint32_t times = 1 + chance(4); times && bytes->len; times--) {
        size_t at = chance((uint32_t)bytes->len);
        uint32_t way = chance(6);
        if (way == 0)
            bytes->data[at] ^= (char)(1 << chance(8));
        else if (way == 1)
            bytes->data[at] = (char)chance(256);
        else if (way == 2)
            bytes->len = at;
        else if (way == 3 && at / 4 * 4 + 4 <= bytes->len)
            proto_put_number(bytes->data + at / 4 * 4, numbers[chance(COUNT(numbers))]);
        else if (way == 4)
            buffer_add(bytes, bytes->data + at, bytes->len - at > 64 ? 64 : bytes->len - at);
        else /* changes a 32-bit number near the beginning, where the lengths are */
            proto_put_number(bytes->data + 4 * chance(bytes->len < 64 ? 1 : 12),
                             chance(2) ? chance(256) : numbers[chance(COUNT(numbers))]);
    }
}

static void sometimes_mutate(struct fake_machine *of, struct buffer *bytes)
{
    if (chance(4)) /* not always, so that some calls succeed and the next one is tested, too */
        mutate(of, bytes);
}

/* Every reply of openperflib-smb must follow the rules of the stream protocol, whatever the machine
 * has sent. */
static void judge_reply(const struct proto_request *request)
{
    BUFFER_AUTO message = {0};
    struct proto_reply copy;
    assert_true(reply.data_size <=
                (request->capacity > PROTO_INFO_BYTES ? request->capacity : PROTO_INFO_BYTES));
    assert_true(proto_write_reply(&reply, &message));
    buffer_add(&message, reply.data, reply.data_size);
    assert_true(proto_read_reply(message.data, message.len, &copy));
    if (reply.status || request->operation != PROTO_QUERY || (request->flags & PROTO_NO_DATA))
        return;
    bool text = rules_is_text(reply.type);
    if (request->root == DATA && !text) {
        opl_block block;
        assert_int_equal(opl_block_init(&block, reply.data, reply.data_size), OPL_BLOCK_GOOD);
        assert_int_equal(block.size, reply.data_size);
    }
    if (text && (request->flags & PROTO_WIDE))
        assert_int_equal(reply.data_size % 2, 0);
}

static void ten_thousand_mutated_replies(void **state)
{
    static const struct {
        enum proto_operation operation;
        uint32_t root;
        const char *path, *name;
    } questions[] = {
        {PROTO_QUERY,      DATA,    "",  "2"          },
        {PROTO_QUERY,      DATA,    "",  "Counter 009"},
        {PROTO_QUERY,      MACHINE, "K", "Text"       },
        {PROTO_ENUM_VALUE, MACHINE, "K", NULL         },
        {PROTO_ENUM_KEY,   MACHINE, "K", NULL         },
        {PROTO_INFO,       MACHINE, "K", NULL         },
        {PROTO_OPEN,       MACHINE, "L", NULL         },
        {PROTO_CLOSE,      DATA,    "",  NULL         },
    };
    BUFFER_AUTO block = {0};
    unsigned good = 0, questions_sent = 0;
    fake_block(&block, 20);
    serve_value(DATA, "", "2", REG_BINARY, block.data, block.len);
    serve_value(DATA, "", "Counter 009", REG_MULTI_SZ, "1\0\0\0a\0\0\0\0\0", 10);
    serve_value(MACHINE, "K", "Text", REG_SZ, "a\0\xe4\0\0\0", 6);
    fake.damage = sometimes_mutate;
    while (fake.calls < 14000 || questions_sent < 10000) {
        size_t which = chance(COUNT(questions));
        struct proto_request request = {.operation = (uint16_t)questions[which].operation,
                                        .root = questions[which].root,
                                        .path = questions[which].path,
                                        .name = questions[which].name,
                                        .capacity = chance(2) ? SIZE : chance(5000),
                                        .flags = (uint16_t)chance(4)};
        smb_answer(&answers, &request, &reply);
        judge_reply(&request);
        good += !reply.status;
        questions_sent++;
        machine.not_before = 0;
        if (!chance(20))
            machine_lose(&machine);
    }
    assert_true(good > 500);
    assert_true(answers.data.capacity <
                /* the buffer grows with the bytes that were received, not with the size that was
                 * announced */
                (1 << 20));
    assert_true(machine.reply.capacity < (1 << 20));
    fake.damage = NULL;
    machine_lose(&machine);
    assert_int_equal(run_query(DATA, "2"), 0);
}

int main(void)
{
#define EACH(test) cmocka_unit_test_setup_teardown(test, begin, end)
    const struct CMUnitTest tests[] = {
        EACH(a_query_has_the_documented_bytes),
        EACH(long_names_are_refused),
        EACH(capacity_grows_blindly),
        EACH(success_with_less_than_all_is_too_little_space),
        EACH(totals_without_the_header_are_repaired),
        EACH(what_is_behind_a_block_is_cut),
        EACH(other_blocks_are_refused),
        EACH(lists_are_put_in_order),
        EACH(stock_samba_calls_its_list_counters),
        EACH(plain_values),
        EACH(enumerations),
        EACH(a_sleeping_service_is_waited_for),
        EACH(a_stopped_service_is_left_alone),
        EACH(refusals_are_reported_as_they_are),
        EACH(passing_troubles_are_waited_for),
        EACH(forgotten_handles_and_lost_connections_are_made_anew),
        EACH(keys_are_kept_and_not_too_many),
        EACH(ten_thousand_mutated_replies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
