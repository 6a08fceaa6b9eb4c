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
enum { FIRST_ROOM = 64 << 10, BUSY_MS = 3000, FIRST_PAUSE_MS = 50, LONGEST_PAUSE_MS = 800 };

struct asked {
    const struct form_request *request;
    struct smb_answers *answers;
    struct smb_machine *machine;
    struct form_reply *reply;
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
static LSTATUS read_once(struct asked *asked, uint32_t room, bool block, struct winreg_value *ret)
{
    const struct form_request *request = asked->request;
    struct smb_machine *machine = asked->machine;
    struct buffer *data = &asked->answers->data;
    bool listed = request->operation == FORM_ENUM_VALUE;
    bool good = listed ? winreg_put_enum_value(&asked->key, request->index, room, &machine->request)
                       : winreg_put_query(&asked->key, request->name, room, &machine->request);
    if (!good)
        return ERROR_INVALID_PARAMETER;
    LSTATUS status =
        machine_call(machine, listed ? WINREG_ENUM_VALUE : WINREG_QUERY_VALUE, asked->deadline);
    if (status)
        return status;
    good = listed ? winreg_take_enum_value(&machine->reply, room, ret)
                  : winreg_take_value(&machine->reply, room, ret);
    if (!good || ret->status)
        return good ? (LSTATUS)ret->status : ERROR_INVALID_DATA;
    buffer_clear(data);
    if (!buffer_add(data, ret->data ? ret->data : "", ret->data ? ret->size : 0))
        return ERROR_NOT_ENOUGH_MEMORY;
    return block ? rules_block(data, room) : ERROR_SUCCESS;
}

static uint32_t first_room(uint32_t hint, uint32_t most)
{
    uint32_t room = hint + hint / 4;
    room = room < FIRST_ROOM ? FIRST_ROOM : room;
    return room < most ? room : most;
}

static LSTATUS read_growing(struct asked *asked, uint32_t most, bool block,
                            struct winreg_value *ret)
{
    uint32_t *hint = hint_for(asked->machine, asked->request->name);
    uint32_t room = first_room(*hint, most);
    LSTATUS status;
    do
        status = read_once(asked, room, block, ret);
    while (status == ERROR_MORE_DATA && (room = rules_grow(room, most)));
    if (!status)
        *hint = (uint32_t)asked->answers->data.len;
    return status;
}

/* ---- values, as the client expects them ---- */

/* A text, in the requested encoding. */
static LSTATUS put_text(struct asked *asked)
{
    BUFFER_AUTO narrow = {0};
    struct buffer *data = &asked->answers->data;
    data->len -= data->len % 2;
    if (asked->request->flags & FORM_WIDE)
        return ERROR_SUCCESS;
    size_t count = data->len / 2, size = utf16_to_8_bytes(data->data, count, NULL, 0);
    if (!buffer_reserve(&narrow, size + 1))
        return ERROR_NOT_ENOUGH_MEMORY;
    utf16_to_8_bytes(data->data, count, narrow.data, size);
    buffer_clear(data);
    return buffer_add(data, narrow.data, size) ? ERROR_SUCCESS : ERROR_NOT_ENOUGH_MEMORY;
}

static LSTATUS give(struct asked *asked, uint32_t type)
{
    const struct buffer *data = &asked->answers->data;
    struct form_reply *reply = asked->reply;
    LSTATUS status = rules_is_text(type) ? put_text(asked) : ERROR_SUCCESS;
    if (status)
        return status;
    reply->type = type;
    reply->needed = (uint32_t)data->len;
    if (asked->request->flags & FORM_NO_DATA)
        return ERROR_SUCCESS;
    if (data->len > asked->request->room)
        return ERROR_MORE_DATA;
    reply->data = data->data;
    reply->data_size = data->len;
    return ERROR_SUCCESS;
}

/* The size of a block is unknown until it is read into a buffer. */
static LSTATUS ask_block(struct asked *asked)
{
    struct winreg_value value;
    uint32_t most = asked->request->room;
    asked->reply->needed = most;
    if (asked->request->flags & FORM_NO_DATA)
        return ERROR_MORE_DATA;
    most = most < WINREG_MOST_BYTES ? most : WINREG_MOST_BYTES;
    LSTATUS status = read_growing(asked, most, true, &value);
    if (!status && value.type != REG_BINARY)
        status = ERROR_INVALID_DATA;
    return status ? status : give(asked, REG_BINARY);
}

/* Samba marks its lists as REG_BINARY, and uses other names for some values. */
static LSTATUS ask_list(struct asked *asked)
{
    struct winreg_value value;
    LSTATUS status = read_growing(asked, WINREG_MOST_BYTES, false, &value);
    if (status == ERROR_FILE_NOT_FOUND && text_equal_fold(asked->request->name, "Counter")) {
        struct form_request other = *asked->request;
        struct asked again = *asked;
        other.name = "Counters";
        again.request = &other;
        status = read_growing(&again, WINREG_MOST_BYTES, false, &value);
    }
    if (!status && value.type != REG_BINARY && value.type != REG_MULTI_SZ)
        status = ERROR_INVALID_DATA;
    if (!status && !rules_list(&asked->answers->data))
        status = ERROR_NOT_ENOUGH_MEMORY;
    return status ? status : give(asked, REG_MULTI_SZ);
}

static LSTATUS ask_plain(struct asked *asked)
{
    struct winreg_value value;
    LSTATUS status = read_growing(asked, WINREG_MOST_BYTES, false, &value);
    return status ? status : give(asked, value.type);
}

static LSTATUS ask_value(struct asked *asked)
{
    const struct form_request *request = asked->request;
    if ((request->flags & FORM_NO_SIZE) && !(request->flags & FORM_NO_DATA))
        return ERROR_INVALID_PARAMETER;
    if (!is_performance(request->root))
        return ask_plain(asked);
    return rules_names_list(request->name) ? ask_list(asked) : ask_block(asked);
}

/* ---- enumerations ---- */

static LSTATUS put_name(struct asked *asked, const char *name, size_t count)
{
    struct buffer *ret = &asked->answers->name;
    size_t size = utf16_to_8_bytes(name, count, NULL, 0);
    buffer_clear(ret);
    if (size >= FORM_NAME_BYTES)
        return ERROR_INVALID_DATA;
    if (!buffer_reserve(ret, size + 1))
        return ERROR_NOT_ENOUGH_MEMORY;
    utf16_to_8_bytes(name, count, ret->data, size);
    ret->data[ret->len = size] = '\0';
    asked->reply->name = ret->data;
    return memchr(ret->data, '\0', size) ? ERROR_INVALID_DATA : ERROR_SUCCESS;
}

static LSTATUS ask_enum_value(struct asked *asked)
{
    struct winreg_value value;
    LSTATUS status = read_growing(asked, WINREG_MOST_BYTES, false, &value);
    status = status ? status : put_name(asked, value.name, value.name ? value.name_count : 0);
    return status ? status : give(asked, value.type);
}

static LSTATUS give_bytes(struct asked *asked, const void *bytes, size_t size)
{
    struct buffer *data = &asked->answers->data;
    buffer_clear(data);
    buffer_add(data, bytes, size);
    asked->reply->data = data->data;
    asked->reply->data_size = data->len;
    return buffer_status(data);
}

static LSTATUS ask_enum_key(struct asked *asked)
{
    char bytes[FORM_TIME_BYTES];
    struct winreg_subkey subkey;
    struct smb_machine *machine = asked->machine;
    if (!winreg_put_enum_key(&asked->key, asked->request->index, &machine->request))
        return ERROR_NOT_ENOUGH_MEMORY;
    LSTATUS status = machine_call(machine, WINREG_ENUM_KEY, asked->deadline);
    if (!status && !winreg_take_enum_key(&machine->reply, &subkey))
        status = ERROR_INVALID_DATA;
    status = status ? status : (LSTATUS)subkey.status;
    status = status ? status : put_name(asked, subkey.name, subkey.name ? subkey.name_count : 0);
    if (status)
        return status;
    for (size_t i = 0; i < COUNT(subkey.time); i++)
        form_put_number(bytes + 4 * i, subkey.time[i]);
    return give_bytes(asked, bytes, sizeof bytes);
}

/* The machine's lengths are bytes of UTF-16; the protocol's are characters, of at most three bytes
 * in UTF-8. */
static LSTATUS ask_info(struct asked *asked)
{
    char bytes[FORM_INFO_BYTES];
    struct winreg_info info;
    struct smb_machine *machine = asked->machine;
    if (!winreg_put_info(&asked->key, &machine->request))
        return ERROR_NOT_ENOUGH_MEMORY;
    LSTATUS status = machine_call(machine, WINREG_QUERY_INFO_KEY, asked->deadline);
    if (!status && !winreg_take_info(&machine->reply, &info))
        status = ERROR_INVALID_DATA;
    status = status ? status : (LSTATUS)info.status;
    if (status)
        return status;
    uint32_t times = asked->request->flags & FORM_WIDE ? 1 : 3;
    const uint32_t numbers[] = {info.numbers[0],
                                info.numbers[1] / 2 * times,
                                info.numbers[3],
                                info.numbers[4] / 2 * times,
                                info.numbers[5] * times,
                                info.time[0],
                                info.time[1]};
    for (size_t i = 0; i < COUNT(numbers); i++)
        form_put_number(bytes + 4 * i, numbers[i]);
    return give_bytes(asked, bytes, sizeof bytes);
}

/* ---- requests ---- */

static LSTATUS ask_nothing(struct asked *asked)
{
    return ERROR_SUCCESS;
}

static LSTATUS (*const operations[FORM_OPERATIONS])(struct asked *asked) = {
    [FORM_OPEN] = ask_nothing,          [FORM_QUERY] = ask_value, [FORM_ENUM_KEY] = ask_enum_key,
    [FORM_ENUM_VALUE] = ask_enum_value, [FORM_INFO] = ask_info,   [FORM_CLOSE] = ask_nothing,
};

static LSTATUS ask_once(struct asked *asked)
{
    const struct form_request *request = asked->request;
    if (is_performance(request->root) && *request->path)
        return ERROR_INVALID_HANDLE;
    if (request->operation == FORM_CLOSE) {
        if (is_performance(request->root))
            machine_close_root(asked->machine, request->root, asked->deadline);
        return ERROR_SUCCESS;
    }
    LSTATUS status =
        machine_key(asked->machine, request->root, request->path, asked->deadline, &asked->key);
    return status ? status : operations[request->operation](asked);
}

/* Statuses with which a machine reports a temporary condition. */
static bool passes(LSTATUS status)
{
    return status == ERROR_BUSY || status == ERROR_NOT_READY || status == SMB_LOCKED ||
           status == (LSTATUS)WAIT_TIMEOUT;
}

/* A handle or a connection was lost: try once more. */
static bool deserves_another(struct asked *asked, LSTATUS status, bool answered)
{
    if (status == ERROR_INVALID_HANDLE && asked->machine->connected) {
        machine_forget_key(asked->machine, asked->request->root, asked->request->path);
        return true;
    }
    bool lost = status == RPC_S_CALL_FAILED || status == RPC_S_SERVER_UNAVAILABLE;
    if (!lost || !answered)
        return false;
    machine_lose(asked->machine);
    return true;
}

static LSTATUS ask(struct asked *asked)
{
    unsigned pause = FIRST_PAUSE_MS, waited = 0;
    bool again = false, answered = asked->machine->answered;
    for (;;) {
        LSTATUS status = ask_once(asked);
        if (!again && deserves_another(asked, status, answered)) {
            again = true;
        } else if (passes(status) && waited + pause <= BUSY_MS && clock_ticks() < asked->deadline) {
            asked->machine->wire->pause(asked->machine->wire, pause);
            waited += pause;
            pause = pause < LONGEST_PAUSE_MS ? pause * 2 : pause;
        } else {
            return status == ERROR_TIMEOUT ? RPC_S_CALL_FAILED : status;
        }
    }
}

int smb_seconds_for(const struct form_request *request)
{
    bool costly = request->name && text_starts_fold(request->name, "Costly");
    return request->operation == FORM_CLOSE ? CLOSE_SECONDS
           : costly                         ? COSTLY_SECONDS
                                            : ANSWER_SECONDS;
}

void smb_answer(struct smb_answers *answers, const struct form_request *request,
                struct form_reply *ret_reply)
{
    struct asked asked = {.request = request,
                          .answers = answers,
                          .machine = answers->machine,
                          .reply = ret_reply,
                          .deadline = clock_ticks() + smb_seconds_for(request) * second};
    *ret_reply = (struct form_reply){.id = request->id};
    buffer_clear(&answers->data);
    buffer_clear(&answers->name);
    bool known = request->operation > 0 && request->operation < FORM_OPERATIONS;
    ret_reply->status = (uint32_t)(known ? ask(&asked) : ERROR_INVALID_FUNCTION);
    if (ret_reply->status) {
        ret_reply->name = NULL;
        ret_reply->data_size = 0;
    }
}
