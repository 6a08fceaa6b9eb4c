/* SPDX-License-Identifier: MIT */
/*
 * Answers requests. Clients may read the three performance keys of this machine's registry, and a
 * few keys that programs need with them. Nothing is written. No allocation depends only on numbers
 * from the client.
 */
#include "query/query.h"
#include "remote/server/winregd.h"

#include <string.h>

/* ---- readable keys ---- */

static const struct {
    const char *path;
    bool below; /* the keys below it may be read, too */
} readable[] = {
    {"SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion",          false},
    {"SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Perflib", true },
    {"SYSTEM\\CurrentControlSet\\Control\\Nls\\Language",        false},
};

static bool may_read(const char *path)
{
    for (size_t i = 0; i < COUNT(readable); i++)
        if (readable[i].below ? remote_is_within(path, readable[i].path)
                              : text_equal_fold(path, readable[i].path))
            return true;
    return false;
}

/* True if the key is above a readable key: such a key may be opened, because clients open the keys
 * of a path one by one. */
static bool may_pass(const char *path)
{
    for (size_t i = 0; i < COUNT(readable); i++)
        if (remote_is_within(readable[i].path, path))
            return true;
    return may_read(path);
}

/* True if no part of the path is empty. */
static bool is_plain(const char *path)
{
    size_t count = strlen(path);
    return !count || (path[0] != '\\' && path[count - 1] != '\\' && !strstr(path, "\\\\"));
}

static HKEY root_of(uint32_t number)
{
    static const HKEY roots[] = {HKEY_PERFORMANCE_DATA, HKEY_PERFORMANCE_TEXT,
                                 HKEY_PERFORMANCE_NLSTEXT, HKEY_LOCAL_MACHINE, HKEY_USERS};
    for (size_t i = 0; i < COUNT(roots); i++)
        if ((uint32_t)(uintptr_t)roots[i] == number)
            return roots[i];
    return NULL;
}

static bool is_performance(HKEY root)
{
    return root == HKEY_PERFORMANCE_DATA || root == HKEY_PERFORMANCE_TEXT ||
           root == HKEY_PERFORMANCE_NLSTEXT;
}

static LSTATUS check_key(HKEY root, const struct proto_request *request)
{
    if (!root || (is_performance(root) && *request->path))
        return ERROR_INVALID_HANDLE;
    if (!is_plain(request->path))
        return ERROR_BAD_PATHNAME;
    if (is_performance(root))
        return ERROR_SUCCESS;
    if (root == HKEY_USERS)
        return *request->path                     ? ERROR_FILE_NOT_FOUND
               : request->operation == PROTO_OPEN ? ERROR_SUCCESS
                                                  : ERROR_ACCESS_DENIED;
    bool good =
        request->operation == PROTO_OPEN ? may_pass(request->path) : may_read(request->path);
    return good ? ERROR_SUCCESS : ERROR_ACCESS_DENIED;
}

/* True if the query is for another machine that is not in this machine's list. Such a query is
 * refused, because a client must not make this machine connect to any address it likes. */
static bool is_foreign_unlisted(const struct query *query)
{
    static const char machines[] = "SOFTWARE\\openperflib\\Remote\\Machines";
    char name[256];
    const char *machine = query->machine;
    size_t count = query->machine_count;
    if (query->kind != QUERY_FOREIGN)
        return false;
    if (count > 2 && !strncmp(machine, "\\\\", 2)) {
        machine += 2;
        count -= 2;
    }
    if (count >= sizeof name)
        return true;
    memcpy(name, machine, count);
    name[count] = '\0';
    return RegGetValueA(HKEY_LOCAL_MACHINE, machines, name, RRF_RT_REG_SZ, NULL, NULL, NULL) != 0;
}

/* ---- operations on readable keys ---- */

struct received {
    HKEY key;
    const struct peer *peer;
    const struct proto_request *request;
    struct answers *answers;
    struct proto_reply *reply;
};

static LSTATUS answer_empty(struct received *received)
{
    return ERROR_SUCCESS;
}

static LSTATUS query_value(const struct received *received, LPBYTE data, LPDWORD size)
{
    const struct proto_request *request = received->request;
    BUFFER_AUTO wide = {0};
    if (!(request->flags & PROTO_WIDE))
        return RegQueryValueExA(received->key, request->name, NULL, &received->reply->type, data,
                                size);
    if (request->name && !utf8_add_as_16(&wide, request->name, strlen(request->name) + 1))
        return ERROR_NOT_ENOUGH_MEMORY;
    return RegQueryValueExW(received->key, request->name ? (LPCWSTR)(void *)wide.data : NULL, NULL,
                            &received->reply->type, data, size);
}

static LSTATUS enum_value(const struct received *received, LPBYTE data, LPDWORD size)
{
    const struct proto_request *request = received->request;
    DWORD count = (LIMIT_VALUE_NAME + 1);
    static char narrow[(LIMIT_VALUE_NAME + 1) * 3 + 1];
    static WCHAR name[(LIMIT_VALUE_NAME + 1) + 1];
    if (!(request->flags & PROTO_WIDE)) {
        count = sizeof narrow;
        LSTATUS status = RegEnumValueA(received->key, request->index, narrow, &count, NULL,
                                       &received->reply->type, data, size);
        buffer_clear(&received->answers->name);
        buffer_add_text(&received->answers->name, status ? "" : narrow);
        return status ? status : buffer_status(&received->answers->name);
    }
    LSTATUS status = RegEnumValueW(received->key, request->index, name, &count, NULL,
                                   &received->reply->type, data, size);
    buffer_clear(&received->answers->name);
    utf16_add_as_8(&received->answers->name, (const uint16_t *)name, status ? 0 : count);
    return status ? status : buffer_status(&received->answers->name);
}

typedef LSTATUS reading(const struct received *received, LPBYTE data, LPDWORD size);

static bool make_capacity(struct buffer *data, size_t capacity)
{
    buffer_clear(data);
    return buffer_reserve(data, capacity);
}

/* Reads a value. The buffer grows until the answer fits, at most to the client's buffer size. The
 * answer is kept for later requests, so that a large answer is not collected several times. */
static LSTATUS read_with_capacity(struct received *received, reading *read)
{
    struct buffer *data = &received->answers->data;
    uint32_t kept =
        data->capacity > REMOTE_FIRST_BYTES ? (uint32_t)data->capacity - 1 : REMOTE_FIRST_BYTES;
    uint32_t most = received->request->capacity, capacity = most < kept ? most : kept;
    most = most < PROTO_DATA_BYTES ? most : PROTO_DATA_BYTES;
    for (;;) {
        DWORD size = capacity;
        if (!make_capacity(data, capacity))
            return ERROR_NOT_ENOUGH_MEMORY;
        LSTATUS status = read(received, (LPBYTE)data->data, &size);
        if (status == ERROR_MORE_DATA && capacity < most) {
            capacity = capacity > most / 2 ? most : capacity * 2;
            continue;
        }
        received->reply->needed = size;
        if (!status && size <= capacity) {
            received->reply->data = data->data;
            received->reply->data_size = size;
        }
        return status;
    }
}

static LSTATUS read_by_flags(struct received *received, reading *read)
{
    DWORD size = received->request->capacity;
    uint16_t flags = received->request->flags;
    if (flags & PROTO_NO_SIZE)
        return flags & PROTO_NO_DATA ? read(received, NULL, NULL) : ERROR_INVALID_PARAMETER;
    if (!(flags & PROTO_NO_DATA))
        return read_with_capacity(received, read);
    LSTATUS status = read(received, NULL, &size);
    received->reply->needed = size;
    return status;
}

/* ---- cost and visibility of a value ---- */

/* Reads the whole block, removes the hidden objects, and only then compares sizes, so that neither
 * status nor size shows that there are hidden objects. */
static LSTATUS read_without_hidden(struct received *received, reading *read)
{
    const struct proto_request *request = received->request;
    struct proto_request whole = *request;
    struct proto_reply *reply = received->reply;
    whole.capacity = PROTO_DATA_BYTES;
    whole.flags &= PROTO_WIDE;
    received->request = &whole;
    LSTATUS status = read_with_capacity(received, read);
    received->request = request;
    reply->needed = request->capacity;
    if (status)
        return status;
    reply->data_size = objects_hide(received->answers->data.data, reply->data_size);
    if (!reply->data_size)
        return ERROR_INVALID_DATA;
    if (request->flags & PROTO_NO_DATA || reply->data_size > request->capacity)
        return ERROR_MORE_DATA;
    reply->needed = (uint32_t)reply->data_size;
    return ERROR_SUCCESS;
}

static LSTATUS read_data(struct received *received, reading *read, const struct query *query)
{
    bool costly = query->kind == QUERY_COSTLY;
    if (is_foreign_unlisted(query))
        return ERROR_ACCESS_DENIED;
    bool limited = costly && !peer_is_trusted(received->peer);
    if (limited && !limits_begin_costly())
        return ERROR_BUSY;
    bool is_whole =
        received->request->flags & PROTO_NO_SIZE || !objects_are_hidden(received->peer, query);
    LSTATUS status = is_whole ? read_by_flags(received, read) : read_without_hidden(received, read);
    if (limited)
        limits_end_costly();
    return status;
}

/* Reads a value for any operation. In a performance key the value's name is a query; for a query of
 * counters, the cost is checked and hidden objects are removed. (Perflib\009 and
 * Perflib\CurrentLanguage are opened as performance keys.) */
static LSTATUS read_value(struct received *received, reading *read, const char *name)
{
    static struct query query;
    if (!is_performance(received->key))
        return read_by_flags(received, read);
    LSTATUS status = query_parse(name, &query);
    bool is_text = query.kind == QUERY_NAMES || query.kind == QUERY_HELPS;
    if (status || is_text)
        return status ? status : read_by_flags(received, read);
    return read_data(received, read, &query);
}

static LSTATUS answer_value(struct received *received)
{
    return read_value(received, query_value, received->request->name);
}

/* Enumerates a value: first only its name, which collects nothing, then the value, by the rules for
 * a value of that name. */
static LSTATUS answer_enum_value(struct received *received)
{
    static char name[(LIMIT_VALUE_NAME + 1) * 3 + 1];
    DWORD count = sizeof name;
    LSTATUS status = RegEnumValueA(received->key, received->request->index, name, &count, NULL,
                                   NULL, NULL, NULL);
    status = status ? status : read_value(received, enum_value, name);
    if (!status)
        received->reply->name = received->answers->name.data;
    return status;
}

/* ---- keys ---- */

static void put_time(char *at, const FILETIME *time)
{
    proto_put_number(at, time->dwLowDateTime);
    proto_put_number(at + 4, time->dwHighDateTime);
}

static LSTATUS reply_bytes(const struct received *received, const void *bytes, size_t size)
{
    struct buffer *data = &received->answers->data;
    buffer_clear(data);
    buffer_add(data, bytes, size);
    received->reply->data = data->data;
    received->reply->data_size = data->len;
    return buffer_status(data);
}

static LSTATUS answer_enum_key(struct received *received)
{
    char name[1024], bytes[PROTO_TIME_BYTES];
    DWORD count = sizeof name;
    FILETIME time = {0};
    LSTATUS status = RegEnumKeyExA(received->key, received->request->index, name, &count, NULL,
                                   NULL, NULL, &time);
    if (status)
        return status;
    buffer_clear(&received->answers->name);
    buffer_add_text(&received->answers->name, name);
    received->reply->name = received->answers->name.data;
    put_time(bytes, &time);
    return reply_bytes(received, bytes, sizeof bytes);
}

static LSTATUS answer_info(struct received *received)
{
    DWORD numbers[5];
    FILETIME time = {0};
    char bytes[PROTO_INFO_BYTES];
    bool wide = received->request->flags & PROTO_WIDE;
    LSTATUS status =
        wide ? RegQueryInfoKeyW(received->key, NULL, NULL, NULL, &numbers[0], &numbers[1], NULL,
                                &numbers[2], &numbers[3], &numbers[4], NULL, &time)
             : RegQueryInfoKeyA(received->key, NULL, NULL, NULL, &numbers[0], &numbers[1], NULL,
                                &numbers[2], &numbers[3], &numbers[4], NULL, &time);
    if (status)
        return status;
    for (size_t i = 0; i < COUNT(numbers); i++)
        proto_put_number(bytes + 4 * i, numbers[i]);
    put_time(bytes + 4 * COUNT(numbers), &time);
    return reply_bytes(received, bytes, sizeof bytes);
}

/* Closes the providers, which the next query opens again. */
static LSTATUS answer_close(struct received *received)
{
    return received->key == HKEY_PERFORMANCE_DATA ? RegCloseKey(received->key) : ERROR_SUCCESS;
}

static LSTATUS (*const operations[PROTO_OPERATIONS])(struct received *received) = {
    [PROTO_OPEN] = answer_empty,        [PROTO_QUERY] = answer_value,
    [PROTO_ENUM_KEY] = answer_enum_key, [PROTO_ENUM_VALUE] = answer_enum_value,
    [PROTO_INFO] = answer_info,         [PROTO_CLOSE] = answer_close,
};

/* Closes a key, but not a predefined one: RegCloseKey(HKEY_PERFORMANCE_DATA) would close the
 * providers. */
static void close_opened(HKEY key)
{
    if (root_of((uint32_t)(uintptr_t)key) != key)
        RegCloseKey(key);
}

static LSTATUS answer_request(struct received *received)
{
    const struct proto_request *request = received->request;
    bool counts = request->operation != PROTO_OPEN && request->operation != PROTO_CLOSE;
    HKEY root = root_of(request->root);
    LSTATUS status = check_key(root, request);
    if (!status && counts && !peer_is_trusted(received->peer) && !limits_take_request())
        status = ERROR_BUSY;
    if (status || !*request->path) {
        received->key = root;
        return status ? status : operations[request->operation](received);
    }
    status = RegOpenKeyExA(root, request->path, 0, KEY_READ, &received->key);
    if (status)
        return status;
    status = operations[request->operation](received);
    close_opened(received->key);
    return status;
}

void answer(struct answers *answers, const struct peer *peer, const struct proto_request *request,
            struct proto_reply *ret_reply)
{
    struct received received = {
        .peer = peer, .request = request, .answers = answers, .reply = ret_reply};
    *ret_reply = (struct proto_reply){.id = request->id};
    answers->data.failed = answers->name.failed = false;
    bool known = request->operation > 0 && request->operation < PROTO_OPERATIONS;
    ret_reply->status = (uint32_t)(known ? answer_request(&received) : ERROR_INVALID_FUNCTION);
    if (ret_reply->status) {
        ret_reply->name = NULL;
        ret_reply->data_size = 0;
    }
}
