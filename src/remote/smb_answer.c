/* SPDX-License-Identifier: MIT */
/*
 * Turns a request of the protocol into calls to the machine. The sizes that the machine states are
 * not trusted: the buffer grows until the answer fits or the client's limit is reached. Temporary
 * failures are retried: a restarted service, a lost connection, a busy machine.
 */
#include "remote/smb.h"
#include "remote/smb_rules.h"

#include <winreg.h>
#include <string.h>

static const int64_t second = CLOCK_TICKS_PER_SECOND;
enum { ANSWER_SECONDS = 30, COSTLY_SECONDS = 60, CLOSE_SECONDS = 3 };
enum { FIRST_SIZE = 64 << 10, BUSY_MS = 3000, FIRST_PAUSE_MS = 50, LONGEST_PAUSE_MS = 800 };

struct received {
    const struct proto_request *request;
    struct smb_answers *answers;
    struct smb_machine *machine;
    struct proto_reply *reply;
    int64_t deadline;
    struct winreg_handle key;
};

static bool is_performance(uint32_t root)
{
    return root == (uint32_t)(uintptr_t)HKEY_PERFORMANCE_DATA ||
           root == (uint32_t)(uintptr_t)HKEY_PERFORMANCE_TEXT ||
           root == (uint32_t)(uintptr_t)HKEY_PERFORMANCE_NLSTEXT;
}

/* ---- values, as the machine sends them ---- */

static uint32_t *hint_for(struct smb_machine *machine, const char *name)
{
    uint32_t hash = 5381;
    for (; name && *name; name++)
        hash = hash * 31 + ((unsigned char)*name | 0x20u);
    return &machine->hints[hash % SMB_HINTS];
}

/* One attempt. ERROR_MORE_DATA also when the machine truncated the value without reporting it. */
static LSTATUS read_once(struct received *received, uint32_t capacity, bool block,
                         struct winreg_value *ret)
{
    const struct proto_request *request = received->request;
    struct smb_machine *machine = received->machine;
    struct buffer *data = &received->answers->data;
    bool listed = request->operation == PROTO_ENUM_VALUE;
    bool good =
        listed ? winreg_put_enum_value(&received->key, request->index, capacity, &machine->request)
               : winreg_put_query(&received->key, request->name, capacity, &machine->request);
    if (!good)
        return ERROR_INVALID_PARAMETER;
    LSTATUS status =
        machine_call(machine, listed ? WINREG_ENUM_VALUE : WINREG_QUERY_VALUE, received->deadline);
    if (status)
        return status;
    good = listed ? winreg_take_enum_value(&machine->reply, capacity, ret)
                  : winreg_take_value(&machine->reply, capacity, ret);
    if (!good || ret->status)
        return good ? (LSTATUS)ret->status : ERROR_INVALID_DATA;
    buffer_clear(data);
    if (!buffer_add(data, ret->data ? ret->data : "", ret->data ? ret->size : 0))
        return ERROR_NOT_ENOUGH_MEMORY;
    return block ? rules_block(data, capacity) : ERROR_SUCCESS;
}

static uint32_t first_capacity(uint32_t hint, uint32_t most)
{
    uint32_t capacity = hint + hint / 4;
    capacity = capacity < FIRST_SIZE ? FIRST_SIZE : capacity;
    return capacity < most ? capacity : most;
}

static LSTATUS read_growing(struct received *received, uint32_t most, bool block,
                            struct winreg_value *ret)
{
    uint32_t *hint = hint_for(received->machine, received->request->name);
    uint32_t capacity = first_capacity(*hint, most);
    LSTATUS status;
    do
        status = read_once(received, capacity, block, ret);
    while (status == ERROR_MORE_DATA && (capacity = rules_grow(capacity, most)));
    if (!status)
        *hint = (uint32_t)received->answers->data.len;
    return status;
}

/* ---- values, as the client expects them ---- */

/* A text, in the requested encoding. */
static LSTATUS put_text(struct received *received)
{
    BUFFER_AUTO narrow = {0};
    struct buffer *data = &received->answers->data;
    data->len -= data->len % 2;
    if (received->request->flags & PROTO_WIDE)
        return ERROR_SUCCESS;
    size_t count = data->len / 2, size = utf16_to_8_bytes(data->data, count, NULL, 0);
    if (!buffer_reserve(&narrow, size + 1))
        return ERROR_NOT_ENOUGH_MEMORY;
    utf16_to_8_bytes(data->data, count, narrow.data, size);
    buffer_clear(data);
    return buffer_add(data, narrow.data, size) ? ERROR_SUCCESS : ERROR_NOT_ENOUGH_MEMORY;
}

static LSTATUS give(struct received *received, uint32_t type)
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

/* The size of a block is unknown until it is read into a buffer. */
static LSTATUS ask_block(struct received *received)
{
    struct winreg_value value;
    uint32_t most = received->request->capacity;
    received->reply->needed = most;
    if (received->request->flags & PROTO_NO_DATA)
        return ERROR_MORE_DATA;
    most = most < WINREG_MOST_BYTES ? most : WINREG_MOST_BYTES;
    LSTATUS status = read_growing(received, most, true, &value);
    if (!status && value.type != REG_BINARY)
        status = ERROR_INVALID_DATA;
    return status ? status : give(received, REG_BINARY);
}

/* Samba marks its lists as REG_BINARY, and uses other names for some values. */
static LSTATUS ask_list(struct received *received)
{
    struct winreg_value value;
    LSTATUS status = read_growing(received, WINREG_MOST_BYTES, false, &value);
    if (status == ERROR_FILE_NOT_FOUND && text_equal_fold(received->request->name, "Counter")) {
        struct proto_request other = *received->request;
        struct received again = *received;
        other.name = "Counters";
        again.request = &other;
        status = read_growing(&again, WINREG_MOST_BYTES, false, &value);
    }
    if (!status && value.type != REG_BINARY && value.type != REG_MULTI_SZ)
        status = ERROR_INVALID_DATA;
    if (!status && !rules_list(&received->answers->data))
        status = ERROR_NOT_ENOUGH_MEMORY;
    return status ? status : give(received, REG_MULTI_SZ);
}

static LSTATUS ask_plain(struct received *received)
{
    struct winreg_value value;
    LSTATUS status = read_growing(received, WINREG_MOST_BYTES, false, &value);
    return status ? status : give(received, value.type);
}

static LSTATUS ask_value(struct received *received)
{
    const struct proto_request *request = received->request;
    if ((request->flags & PROTO_NO_SIZE) && !(request->flags & PROTO_NO_DATA))
        return ERROR_INVALID_PARAMETER;
    if (!is_performance(request->root))
        return ask_plain(received);
    return rules_names_list(request->name) ? ask_list(received) : ask_block(received);
}

/* ---- enumerations ---- */

static LSTATUS put_name(struct received *received, const char *name, size_t count)
{
    struct buffer *ret = &received->answers->name;
    size_t size = utf16_to_8_bytes(name, count, NULL, 0);
    buffer_clear(ret);
    if (size >= PROTO_NAME_BYTES)
        return ERROR_INVALID_DATA;
    if (!buffer_reserve(ret, size + 1))
        return ERROR_NOT_ENOUGH_MEMORY;
    utf16_to_8_bytes(name, count, ret->data, size);
    ret->data[ret->len = size] = '\0';
    received->reply->name = ret->data;
    return memchr(ret->data, '\0', size) ? ERROR_INVALID_DATA : ERROR_SUCCESS;
}

static LSTATUS ask_enum_value(struct received *received)
{
    struct winreg_value value;
    LSTATUS status = read_growing(received, WINREG_MOST_BYTES, false, &value);
    status = status ? status : put_name(received, value.name, value.name ? value.name_count : 0);
    return status ? status : give(received, value.type);
}

static LSTATUS give_bytes(struct received *received, const void *bytes, size_t size)
{
    struct buffer *data = &received->answers->data;
    buffer_clear(data);
    buffer_add(data, bytes, size);
    received->reply->data = data->data;
    received->reply->data_size = data->len;
    return buffer_status(data);
}

static LSTATUS ask_enum_key(struct received *received)
{
    char bytes[PROTO_TIME_BYTES];
    struct winreg_subkey subkey;
    struct smb_machine *machine = received->machine;
    if (!winreg_put_enum_key(&received->key, received->request->index, &machine->request))
        return ERROR_NOT_ENOUGH_MEMORY;
    LSTATUS status = machine_call(machine, WINREG_ENUM_KEY, received->deadline);
    if (!status && !winreg_take_enum_key(&machine->reply, &subkey))
        status = ERROR_INVALID_DATA;
    status = status ? status : (LSTATUS)subkey.status;
    status = status ? status : put_name(received, subkey.name, subkey.name ? subkey.name_count : 0);
    if (status)
        return status;
    for (size_t i = 0; i < COUNT(subkey.time); i++)
        proto_put_number(bytes + 4 * i, subkey.time[i]);
    return give_bytes(received, bytes, sizeof bytes);
}

/* The machine's lengths are bytes of UTF-16; the protocol's are characters, of at most three bytes
 * in UTF-8. */
static LSTATUS ask_info(struct received *received)
{
    char bytes[PROTO_INFO_BYTES];
    struct winreg_info info;
    struct smb_machine *machine = received->machine;
    if (!winreg_put_info(&received->key, &machine->request))
        return ERROR_NOT_ENOUGH_MEMORY;
    LSTATUS status = machine_call(machine, WINREG_QUERY_INFO_KEY, received->deadline);
    if (!status && !winreg_take_info(&machine->reply, &info))
        status = ERROR_INVALID_DATA;
    status = status ? status : (LSTATUS)info.status;
    if (status)
        return status;
    uint32_t times = received->request->flags & PROTO_WIDE ? 1 : 3;
    const uint32_t numbers[] = {info.numbers[0],
                                info.numbers[1] / 2 * times,
                                info.numbers[3],
                                info.numbers[4] / 2 * times,
                                info.numbers[5] * times,
                                info.time[0],
                                info.time[1]};
    for (size_t i = 0; i < COUNT(numbers); i++)
        proto_put_number(bytes + 4 * i, numbers[i]);
    return give_bytes(received, bytes, sizeof bytes);
}

/* ---- requests ---- */

static LSTATUS ask_nothing(struct received *received)
{
    return ERROR_SUCCESS;
}

static LSTATUS (*const operations[PROTO_OPERATIONS])(struct received *received) = {
    [PROTO_OPEN] = ask_nothing,          [PROTO_QUERY] = ask_value, [PROTO_ENUM_KEY] = ask_enum_key,
    [PROTO_ENUM_VALUE] = ask_enum_value, [PROTO_INFO] = ask_info,   [PROTO_CLOSE] = ask_nothing,
};

static LSTATUS ask_once(struct received *received)
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

/* Statuses with which a machine reports a temporary condition. */
static bool passes(LSTATUS status)
{
    return status == ERROR_BUSY || status == ERROR_NOT_READY || status == SMB_LOCKED ||
           status == (LSTATUS)WAIT_TIMEOUT;
}

/* A handle or a connection was lost: try once more. */
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

static LSTATUS ask(struct received *received)
{
    unsigned pause = FIRST_PAUSE_MS, waited = 0;
    bool again = false, answered = received->machine->answered;
    for (;;) {
        LSTATUS status = ask_once(received);
        if (!again && deserves_another(received, status, answered)) {
            again = true;
        } else if (passes(status) && waited + pause <= BUSY_MS &&
                   clock_ticks() < received->deadline) {
            received->machine->wire->pause(received->machine->wire, pause);
            waited += pause;
            pause = pause < LONGEST_PAUSE_MS ? pause * 2 : pause;
        } else {
            return status == ERROR_TIMEOUT ? RPC_S_CALL_FAILED : status;
        }
    }
}

int smb_seconds_for(const struct proto_request *request)
{
    bool costly = request->name && text_starts_fold(request->name, "Costly");
    return request->operation == PROTO_CLOSE ? CLOSE_SECONDS
           : costly                          ? COSTLY_SECONDS
                                             : ANSWER_SECONDS;
}

void smb_answer(struct smb_answers *answers, const struct proto_request *request,
                struct proto_reply *ret_reply)
{
    struct received received = {.request = request,
                                .answers = answers,
                                .machine = answers->machine,
                                .reply = ret_reply,
                                .deadline = clock_ticks() + smb_seconds_for(request) * second};
    *ret_reply = (struct proto_reply){.id = request->id};
    buffer_clear(&answers->data);
    buffer_clear(&answers->name);
    bool known = request->operation > 0 && request->operation < PROTO_OPERATIONS;
    ret_reply->status = (uint32_t)(known ? ask(&received) : ERROR_INVALID_FUNCTION);
    if (ret_reply->status) {
        ret_reply->name = NULL;
        ret_reply->data_size = 0;
    }
}
