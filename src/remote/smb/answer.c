/* SPDX-License-Identifier: MIT */
/*
 * Converts requests of the stream protocol into calls to the machine. Deviations that are known
 * from real machines are accepted and corrected: Samba's own blocks and lists, truncated ones,
 * those in the other byte order. Other damage is refused. The sizes that the machine states are not
 * trusted: the buffer grows until the answer fits or the client's limit is reached. A call that
 * failed because of a restarted service, a lost connection or a busy machine is repeated.
 */
#include "remote/smb/smb.h"
#include "wire/wire.h"

#include <openperflib/block.h>
#include <winperf.h>
#include <winreg.h>

#include <malloc.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

enum { TOTAL_AT = offsetof(PERF_DATA_BLOCK, TotalByteLength) };

/* ---- blocks ---- */

/* True if the block can be read to its end and all lengths in it are consistent. */
static bool walks(opl_block *block)
{
    opl_object_view object = {0};
    while (opl_block_next_object(block, &object)) {
        opl_counter_view counter = {0};
        opl_instance_view instance = {0};
        while (opl_object_next_counter(block, &object, &counter))
            ;
        while (opl_object_next_instance(block, &object, &instance))
            ;
    }
    return block->fault == OPL_BLOCK_GOOD;
}

static uint32_t number_at(const struct buffer *data, size_t at, bool swapped)
{
    uint32_t number = 0;
    for (size_t i = 0; i < 4; i++)
        number |= (uint32_t)(unsigned char)data->data[at + (swapped ? 3 - i : i)] << 8 * i;
    return number;
}

static bool is_sound(const struct buffer *data, opl_block *ret)
{
    return !opl_block_init(ret, data->data, data->len) && walks(ret);
}

/* Adds the header's length to TotalByteLength, which Samba's blocks lack. */
static void correct_total(struct buffer *data)
{
    bool swapped = number_at(data, offsetof(PERF_DATA_BLOCK, LittleEndian), false) != 1;
    size_t total = number_at(data, TOTAL_AT, swapped);
    size_t header = number_at(data, offsetof(PERF_DATA_BLOCK, HeaderLength), swapped);
    if (header > data->len || total != data->len - header)
        return;
    for (size_t i = 0; i < 4; i++)
        data->data[TOTAL_AT + (swapped ? 3 - i : i)] = (char)(data->len >> 8 * i);
}

LSTATUS rules_block(struct buffer *data, size_t capacity)
{
    opl_block block;
    LSTATUS bad = data->len >= capacity ? ERROR_MORE_DATA : ERROR_INVALID_DATA;
    if (data->len < sizeof(PERF_DATA_BLOCK))
        return bad;
    if (!is_sound(data, &block)) {
        correct_total(data);
        if (!is_sound(data, &block))
            return bad;
    }
    data->len = block.size; /* drops bytes after the block */
    data->data[data->len] = '\0';
    return ERROR_SUCCESS;
}

/* ---- texts ---- */

bool rules_is_text(uint32_t type)
{
    return type == REG_SZ || type == REG_EXPAND_SZ || type == REG_MULTI_SZ;
}

/* True for values that are lists of texts, such as "Counter 009", "Explain 7" and "help"; other
 * values are blocks. */
static bool names_list(const char *name)
{
    static const char *const text[] = {"Counter", "Explain", "Help"};
    for (size_t i = 0; name && i < COUNT(text); i++)
        if (text_starts_fold(name, text[i]))
            return true;
    return false;
}

static bool ends_with_zero(const struct buffer *list)
{
    return list->len >= 2 && !list->data[list->len - 1] && !list->data[list->len - 2];
}

bool rules_list(struct buffer *list)
{
    list->len -= list->len % 2;
    while (ends_with_zero(list))
        list->len -= 2;
    bool some = list->len > 0;
    return buffer_add(list, "\0\0\0", some ? 4 : 2);
}

/* ---- buffer size ---- */

/* Returns the next buffer size if `capacity` was too small: twice as much, but at most `most`; 0:
 * the buffer cannot grow. */
static uint32_t grow(uint32_t capacity, uint32_t most)
{
    if (capacity >= most)
        return 0;
    return capacity > most / 2 ? most : capacity * 2;
}

/* ---- a request ---- */

static const int64_t second = CLOCK_TICKS_PER_SECOND;

struct received {
    const struct proto_request *request;
    struct smb_answers *answers;
    struct smb_machine *machine;
    struct proto_reply *reply;
    int64_t deadline;
    struct rrp_handle key;
};

static bool is_performance(uint32_t root)
{
    return root == (uint32_t)(uintptr_t)HKEY_PERFORMANCE_DATA ||
           root == (uint32_t)(uintptr_t)HKEY_PERFORMANCE_TEXT ||
           root == (uint32_t)(uintptr_t)HKEY_PERFORMANCE_NLSTEXT;
}

/* ---- values in the format that the machine sends ---- */

static uint32_t *hint_for(struct smb_machine *machine, const char *name)
{
    uint32_t hash = 5381;
    for (; name && *name; name++)
        hash = hash * 31 + ((unsigned char)*name | 0x20u);
    return &machine->hints[hash % SMB_HINTS];
}

/* Reads a value, once. ERROR_MORE_DATA: the buffer was too small, even if the machine did not say
 * so. */
static LSTATUS read_once(struct received *received, uint32_t capacity, bool block,
                         struct rrp_reply *ret)
{
    const struct proto_request *request = received->request;
    struct buffer *data = &received->answers->data;
    bool listed = request->operation == PROTO_ENUM_VALUE;
    const struct rrp_request call = {.opnum = listed ? RRP_ENUM_VALUE : RRP_QUERY,
                                     .handle = received->key,
                                     .name = request->name ? request->name : "",
                                     .index = request->index,
                                     .capacity = capacity};
    LSTATUS status = machine_call(received->machine, &call, received->deadline, ret);
    if (status)
        return status;
    buffer_clear(data);
    if (!buffer_add(data, ret->data ? ret->data : "", ret->data_size))
        return ERROR_NOT_ENOUGH_MEMORY;
    return block ? rules_block(data, capacity) : ERROR_SUCCESS;
}

static uint32_t first_capacity(uint32_t hint, uint32_t most)
{
    uint32_t capacity = hint + hint / 4;
    capacity = capacity < REMOTE_FIRST_BYTES ? REMOTE_FIRST_BYTES : capacity;
    return capacity < most ? capacity : most;
}

static LSTATUS read_growing(struct received *received, uint32_t most, bool block,
                            struct rrp_reply *ret)
{
    uint32_t *hint = hint_for(received->machine, received->request->name);
    uint32_t capacity = first_capacity(*hint, most);
    LSTATUS status;
    do
        status = read_once(received, capacity, block, ret);
    while (status == ERROR_MORE_DATA && (capacity = grow(capacity, most)));
    if (!status)
        *hint = (uint32_t)received->answers->data.len;
    return status;
}

/* ---- values in the format that the client expects ---- */

/* Converts a text to the encoding that the client requested. */
static LSTATUS put_text(struct received *received)
{
    BUFFER_AUTO narrow = {0};
    struct buffer *data = &received->answers->data;
    data->len -= data->len % 2;
    if (received->request->flags & PROTO_WIDE)
        return ERROR_SUCCESS;
    size_t count = data->len / 2, size = utf16_to_8(data->data, count, NULL, 0);
    if (!buffer_reserve(&narrow, size + 1))
        return ERROR_NOT_ENOUGH_MEMORY;
    utf16_to_8(data->data, count, narrow.data, size);
    buffer_clear(data);
    return buffer_add(data, narrow.data, size) ? ERROR_SUCCESS : ERROR_NOT_ENOUGH_MEMORY;
}

static LSTATUS reply_data(struct received *received, uint32_t type)
{
    const struct buffer *data = &received->answers->data;
    struct proto_reply *reply = received->reply;
    LSTATUS status = rules_is_text(type) ? put_text(received) : ERROR_SUCCESS;
    if (status)
        return status;
    reply->type = type;
    reply->needed = (uint32_t)data->len;
    if (received->request->flags & PROTO_NO_DATA)
        return ERROR_SUCCESS;
    if (data->len > received->request->capacity)
        return ERROR_MORE_DATA;
    reply->data = data->data;
    reply->data_size = data->len;
    return ERROR_SUCCESS;
}

/* Reads a block. The size of a block is not known without reading it, so a request for the size
 * alone gets ERROR_MORE_DATA. */
static LSTATUS answer_block(struct received *received)
{
    struct rrp_reply value;
    uint32_t most = received->request->capacity;
    received->reply->needed = most;
    if (received->request->flags & PROTO_NO_DATA)
        return ERROR_MORE_DATA;
    most = most < RRP_DATA_BYTES ? most : RRP_DATA_BYTES;
    LSTATUS status = read_growing(received, most, true, &value);
    if (!status && value.type != REG_BINARY)
        status = ERROR_INVALID_DATA;
    return status ? status : reply_data(received, REG_BINARY);
}

/* Reads a list of texts. Samba's lists have type REG_BINARY, and Samba's name for "Counter" is
 * "Counters". */
static LSTATUS answer_list(struct received *received)
{
    struct rrp_reply value;
    LSTATUS status = read_growing(received, RRP_DATA_BYTES, false, &value);
    if (status == ERROR_FILE_NOT_FOUND && text_equal_fold(received->request->name, "Counter")) {
        struct proto_request other = *received->request;
        struct received again = *received;
        other.name = "Counters";
        again.request = &other;
        status = read_growing(&again, RRP_DATA_BYTES, false, &value);
    }
    if (!status && value.type != REG_BINARY && value.type != REG_MULTI_SZ)
        status = ERROR_INVALID_DATA;
    if (!status && !rules_list(&received->answers->data))
        status = ERROR_NOT_ENOUGH_MEMORY;
    return status ? status : reply_data(received, REG_MULTI_SZ);
}

static LSTATUS answer_plain(struct received *received)
{
    struct rrp_reply value;
    LSTATUS status = read_growing(received, RRP_DATA_BYTES, false, &value);
    return status ? status : reply_data(received, value.type);
}

static LSTATUS answer_value(struct received *received)
{
    const struct proto_request *request = received->request;
    if ((request->flags & PROTO_NO_SIZE) && !(request->flags & PROTO_NO_DATA))
        return ERROR_INVALID_PARAMETER;
    if (!is_performance(request->root))
        return answer_plain(received);
    return names_list(request->name) ? answer_list(received) : answer_block(received);
}

/* ---- enumerations ---- */

static LSTATUS put_name(struct received *received, const struct rrp_reply *value)
{
    struct buffer *ret = &received->answers->name;
    buffer_clear(ret);
    buffer_add_text(ret, value->name ? value->name : "");
    received->reply->name = ret->data;
    return buffer_status(ret);
}

static LSTATUS answer_enum_value(struct received *received)
{
    struct rrp_reply value;
    LSTATUS status = read_growing(received, RRP_DATA_BYTES, false, &value);
    status = status ? status : put_name(received, &value);
    return status ? status : reply_data(received, value.type);
}

static LSTATUS reply_numbers(struct received *received, const uint32_t *numbers, size_t count)
{
    struct buffer *data = &received->answers->data;
    char bytes[PROTO_INFO_BYTES];
    for (size_t i = 0; i < count; i++)
        proto_put_number(bytes + 4 * i, numbers[i]);
    buffer_clear(data);
    buffer_add(data, bytes, 4 * count);
    received->reply->data = data->data;
    received->reply->data_size = data->len;
    return buffer_status(data);
}

static LSTATUS answer_enum_key(struct received *received)
{
    struct rrp_reply key;
    LSTATUS status = machine_call(received->machine,
                                  &(struct rrp_request){.opnum = RRP_ENUM_KEY,
                                                        .handle = received->key,
                                                        .index = received->request->index},
                                  received->deadline, &key);
    status = status ? status : put_name(received, &key);
    return status ? status : reply_numbers(received, &key.numbers[5], 2);
}

/* Lengths in the reply are UTF-16 units; each is at most three bytes in UTF-8. */
static LSTATUS answer_info(struct received *received)
{
    struct rrp_reply info;
    LSTATUS status = machine_call(received->machine,
                                  &(struct rrp_request){.opnum = RRP_INFO, .handle = received->key},
                                  received->deadline, &info);
    if (status)
        return status;
    for (int i = 1; i <= 4 && !(received->request->flags & PROTO_WIDE); i++)
        info.numbers[i] *= i == 2 ? 1 : 3;
    return reply_numbers(received, info.numbers, COUNT(info.numbers));
}

/* ---- requests ---- */

static LSTATUS answer_empty(struct received *received)
{
    return ERROR_SUCCESS;
}

static LSTATUS (*const operations[PROTO_OPERATIONS])(struct received *received) = {
    [PROTO_OPEN] = answer_empty,        [PROTO_QUERY] = answer_value,
    [PROTO_ENUM_KEY] = answer_enum_key, [PROTO_ENUM_VALUE] = answer_enum_value,
    [PROTO_INFO] = answer_info,         [PROTO_CLOSE] = answer_empty,
};

static LSTATUS try_request(struct received *received)
{
    const struct proto_request *request = received->request;
    if (is_performance(request->root) && *request->path)
        return ERROR_INVALID_HANDLE;
    if (request->operation == PROTO_CLOSE) {
        if (is_performance(request->root))
            machine_close_root(received->machine, request->root, received->deadline);
        return ERROR_SUCCESS;
    }
    LSTATUS status = machine_key(received->machine, request->root, request->path,
                                 received->deadline, &received->key);
    return status ? status : operations[request->operation](received);
}

/* True if the status means that the machine is busy at the moment. */
static bool passes(LSTATUS status)
{
    return status == ERROR_BUSY || status == ERROR_NOT_READY || status == SMB_LOCKED ||
           status == (LSTATUS)WAIT_TIMEOUT;
}

/* True if the call should be tried once more, because a handle or the connection was lost. */
static bool deserves_another(struct received *received, LSTATUS status, bool answered)
{
    if (status == ERROR_INVALID_HANDLE && received->machine->connected) {
        machine_forget_key(received->machine, received->request->root, received->request->path);
        return true;
    }
    bool lost = status == RPC_S_CALL_FAILED || status == RPC_S_SERVER_UNAVAILABLE;
    if (!lost || !answered)
        return false;
    machine_lose(received->machine);
    return true;
}

static LSTATUS answer_request(struct received *received)
{
    unsigned pause = SMB_FIRST_BUSY_PAUSE_MS, waited = 0;
    bool again = false, answered = received->machine->answered;
    for (;;) {
        LSTATUS status = try_request(received);
        if (!again && deserves_another(received, status, answered)) {
            again = true;
        } else if (passes(status) && waited + pause <= SMB_BUSY_MS &&
                   clock_ticks() < received->deadline) {
            received->machine->wire->pause(received->machine->wire, pause);
            waited += pause;
            pause = pause < SMB_LONGEST_BUSY_PAUSE_MS ? pause * 2 : pause;
        } else {
            return status == ERROR_TIMEOUT ? RPC_S_CALL_FAILED : status;
        }
    }
}

/* Returns the longest time for the request, in seconds. */
static int seconds_for(const struct proto_request *request)
{
    return request->operation == PROTO_CLOSE ? REMOTE_CLOSE_SECONDS
           : remote_is_costly(request->name) ? SMB_COSTLY_SECONDS
                                             : SMB_ANSWER_SECONDS;
}

void smb_answer(struct smb_answers *answers, const struct proto_request *request,
                struct proto_reply *ret_reply)
{
    struct received received = {.request = request,
                                .answers = answers,
                                .machine = answers->machine,
                                .reply = ret_reply,
                                .deadline = clock_ticks() + seconds_for(request) * second};
    *ret_reply = (struct proto_reply){.id = request->id};
    buffer_clear(&answers->data);
    buffer_clear(&answers->name);
    bool known = request->operation < PROTO_OPERATIONS && operations[request->operation];
    ret_reply->status = (uint32_t)(known ? answer_request(&received) : ERROR_INVALID_FUNCTION);
    if (ret_reply->status) {
        ret_reply->name = NULL;
        ret_reply->data_size = 0;
    }
}

/* ---- the stream ---- */

/* Frees the memory that only an answer needs, if no request follows at once: there is a process for
 * each machine, and usually a minute between two requests. */
static void shrink_if_idle(int in, struct smb_answers *answers)
{
    if (poll(&(struct pollfd){.fd = in, .events = POLLIN}, 1, SMB_IDLE_MS))
        return;
    buffer_done(&answers->data);
    buffer_done(&answers->machine->reply);
    malloc_trim(0);
}

/* Serves the client, which is the process that started this one; the client may be idle for any
 * time. If a request takes too long, SIGALRM ends this process, and with it the client's
 * connection. */
bool smb_serve(int in, int out, struct smb_machine *machine)
{
    static char message[PROTO_REQUEST_BYTES];
    struct smb_answers answers = {.machine = machine};
    struct proto_request request;
    struct proto_reply reply;
    size_t size;
    bool good = true;
    while (good && (size = stream_receive(in, message, INT64_MAX, 0))) {
        good = size != SIZE_MAX && proto_read_request(message, size, &request);
        if (!good)
            break;
        alarm((unsigned)(seconds_for(&request) + SMB_GRACE_SECONDS));
        smb_answer(&answers, &request, &reply);
        alarm(0);
        good = stream_send(out, &reply, 0);
        shrink_if_idle(in, &answers);
    }
    buffer_done(&answers.data);
    buffer_done(&answers.name);
    return good;
}
