/* SPDX-License-Identifier: MIT */
/*
 * What a client may read of the registry here: the three performance keys and the few keys that
 * readers of them need. Nothing is written; no allocation depends on the client's numbers.
 */
#include "query/query.h"
#include "remote/winregd.h"

#include <string.h>

enum { FIRST_ROOM = 64 << 10 };
enum { NAME_ROOM = 16384 };

/* ---- readable keys ---- */

static const struct {
    const char *path;
    bool below; /* and the keys below it */
} readable[] = {
    {"SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion",          false},
    {"SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Perflib", true },
    {"SYSTEM\\CurrentControlSet\\Control\\Nls\\Language",        false},
};

/* `path` is `above` or below it. */
static bool is_at_or_below(const char *path, const char *above)
{
    size_t count = strlen(above);
    if (!count)
        return true;
    return strlen(path) >= count && !text_compare_fold_n(path, count, above, count) &&
           (!path[count] || path[count] == '\\');
}

static bool may_read(const char *path)
{
    for (size_t i = 0; i < COUNT(readable); i++)
        if (readable[i].below ? is_at_or_below(path, readable[i].path)
                              : text_equal_fold(path, readable[i].path))
            return true;
    return false;
}

/* A key above a readable one may be opened, so that clients can reach it step by step. */
static bool may_pass(const char *path)
{
    for (size_t i = 0; i < COUNT(readable); i++)
        if (is_at_or_below(readable[i].path, path))
            return true;
    return may_read(path);
}

/* No part is empty. */
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

static LSTATUS judge_key(HKEY root, const struct form_request *request)
{
    if (!root || (is_performance(root) && *request->path))
        return ERROR_INVALID_HANDLE;
    if (!is_plain(request->path))
        return ERROR_BAD_PATHNAME;
    if (is_performance(root))
        return ERROR_SUCCESS;
    if (root == HKEY_USERS)
        return *request->path                    ? ERROR_FILE_NOT_FOUND
               : request->operation == FORM_OPEN ? ERROR_SUCCESS
                                                 : ERROR_ACCESS_DENIED;
    bool good = request->operation == FORM_OPEN ? may_pass(request->path) : may_read(request->path);
    return good ? ERROR_SUCCESS : ERROR_ACCESS_DENIED;
}

/* Of foreign machines only those in this machine's list: a client must not make this machine
 * connect to a place of its choice. */
static bool is_foreign_unlisted(const struct query *query)
{
    static const char machines[] = "SOFTWARE\\openperflib\\Remote\\Machines";
    char name[256];
    const char *word = query->machine;
    size_t count = query->machine_count;
    if (query->kind != QUERY_FOREIGN)
        return false;
    if (count > 2 && !strncmp(word, "\\\\", 2)) {
        word += 2;
        count -= 2;
    }
    if (count >= sizeof name)
        return true;
    memcpy(name, word, count);
    name[count] = '\0';
    return RegGetValueA(HKEY_LOCAL_MACHINE, machines, name, RRF_RT_REG_SZ, NULL, NULL, NULL) != 0;
}

/* ---- operations on readable keys ---- */

struct asked {
    HKEY key;
    const struct peer *peer;
    const struct form_request *request;
    struct answers *answers;
    struct form_reply *reply;
};

static LSTATUS ask_nothing(struct asked *asked)
{
    return ERROR_SUCCESS;
}

static LSTATUS query_value(const struct asked *asked, LPBYTE data, LPDWORD size)
{
    const struct form_request *request = asked->request;
    BUFFER_AUTO wide = {0};
    if (!(request->flags & FORM_WIDE))
        return RegQueryValueExA(asked->key, request->name, NULL, &asked->reply->type, data, size);
    if (request->name && !utf8_add_as_16(&wide, request->name, strlen(request->name) + 1))
        return ERROR_NOT_ENOUGH_MEMORY;
    return RegQueryValueExW(asked->key, request->name ? (LPCWSTR)(void *)wide.data : NULL, NULL,
                            &asked->reply->type, data, size);
}

static LSTATUS enum_value(const struct asked *asked, LPBYTE data, LPDWORD size)
{
    const struct form_request *request = asked->request;
    DWORD count = NAME_ROOM;
    static char narrow[NAME_ROOM * 3 + 1];
    static WCHAR name[NAME_ROOM + 1];
    if (!(request->flags & FORM_WIDE)) {
        count = sizeof narrow;
        LSTATUS status = RegEnumValueA(asked->key, request->index, narrow, &count, NULL,
                                       &asked->reply->type, data, size);
        buffer_clear(&asked->answers->name);
        buffer_add_text(&asked->answers->name, status ? "" : narrow);
        return status ? status : buffer_status(&asked->answers->name);
    }
    LSTATUS status = RegEnumValueW(asked->key, request->index, name, &count, NULL,
                                   &asked->reply->type, data, size);
    buffer_clear(&asked->answers->name);
    utf16_add_as_8(&asked->answers->name, (const uint16_t *)name, status ? 0 : count);
    return status ? status : buffer_status(&asked->answers->name);
}

typedef LSTATUS reading(const struct asked *asked, LPBYTE data, LPDWORD size);

static bool make_room(struct buffer *data, size_t room)
{
    buffer_clear(data);
    return buffer_reserve(data, room);
}

/* The buffer grows as the answer requires, up to the client's buffer size, and is kept: so a large
 * answer is collected several times only once. */
static LSTATUS read_with_room(struct asked *asked, reading *read)
{
    struct buffer *data = &asked->answers->data;
    uint32_t kept = data->room > FIRST_ROOM ? (uint32_t)data->room - 1 : FIRST_ROOM;
    uint32_t most = asked->request->room, room = most < kept ? most : kept;
    most = most < FORM_DATA_BYTES ? most : FORM_DATA_BYTES;
    for (;;) {
        DWORD size = room;
        if (!make_room(data, room))
            return ERROR_NOT_ENOUGH_MEMORY;
        LSTATUS status = read(asked, (LPBYTE)data->data, &size);
        if (status == ERROR_MORE_DATA && room < most) {
            room = room > most / 2 ? most : room * 2;
            continue;
        }
        asked->reply->needed = size;
        if (!status && size <= room) {
            asked->reply->data = data->data;
            asked->reply->data_size = size;
        }
        return status;
    }
}

static LSTATUS read_by_flags(struct asked *asked, reading *read)
{
    DWORD size = asked->request->room;
    uint16_t flags = asked->request->flags;
    if (flags & FORM_NO_SIZE)
        return flags & FORM_NO_DATA ? read(asked, NULL, NULL) : ERROR_INVALID_PARAMETER;
    if (!(flags & FORM_NO_DATA))
        return read_with_room(asked, read);
    LSTATUS status = read(asked, NULL, &size);
    asked->reply->needed = size;
    return status;
}

/* ---- cost and visibility of a value ---- */

/* The block is read whole and checked without the hidden objects: neither status nor size reveals
 * them. */
static LSTATUS read_without_hidden(struct asked *asked, reading *read)
{
    const struct form_request *request = asked->request;
    struct form_request whole = *request;
    struct form_reply *reply = asked->reply;
    whole.room = FORM_DATA_BYTES;
    whole.flags &= FORM_WIDE;
    asked->request = &whole;
    LSTATUS status = read_with_room(asked, read);
    asked->request = request;
    reply->needed = request->room;
    if (status)
        return status;
    reply->data_size = objects_hide(asked->answers->data.data, reply->data_size);
    if (!reply->data_size)
        return ERROR_INVALID_DATA;
    if (request->flags & FORM_NO_DATA || reply->data_size > request->room)
        return ERROR_MORE_DATA;
    reply->needed = (uint32_t)reply->data_size;
    return ERROR_SUCCESS;
}

static LSTATUS read_data(struct asked *asked, reading *read, const struct query *query)
{
    bool costly = query->kind == QUERY_COSTLY;
    if (is_foreign_unlisted(query))
        return ERROR_ACCESS_DENIED;
    if (peer_is_trusted(asked->peer))
        return read_by_flags(asked, read);
    if (costly && !limits_begin_costly())
        return ERROR_BUSY;
    bool is_whole = asked->request->flags & FORM_NO_SIZE || !objects_are_hidden(asked->peer);
    LSTATUS status = is_whole ? read_by_flags(asked, read) : read_without_hidden(asked, read);
    if (costly)
        limits_end_costly();
    return status;
}

/* Every value is read here, whatever the operation: each performance key answers queries for
 * counters, and so do keys below Perflib. */
static LSTATUS read_value(struct asked *asked, reading *read, const char *name)
{
    static struct query query;
    if (!is_performance(asked->key))
        return read_by_flags(asked, read);
    LSTATUS status = query_parse(name, &query);
    bool is_text = query.kind == QUERY_NAMES || query.kind == QUERY_HELPS;
    if (status || is_text)
        return status ? status : read_by_flags(asked, read);
    return read_data(asked, read, &query);
}

static LSTATUS ask_value(struct asked *asked)
{
    return read_value(asked, query_value, asked->request->name);
}

/* Enumerating the name only collects nothing. */
static LSTATUS ask_enum_value(struct asked *asked)
{
    static char name[NAME_ROOM * 3 + 1];
    DWORD count = sizeof name;
    LSTATUS status =
        RegEnumValueA(asked->key, asked->request->index, name, &count, NULL, NULL, NULL, NULL);
    status = status ? status : read_value(asked, enum_value, name);
    if (!status)
        asked->reply->name = asked->answers->name.data;
    return status;
}

/* ---- keys ---- */

static void put_time(char *at, const FILETIME *time)
{
    form_put_number(at, time->dwLowDateTime);
    form_put_number(at + 4, time->dwHighDateTime);
}

static LSTATUS give_bytes(const struct asked *asked, const void *bytes, size_t size)
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
    char name[1024], bytes[FORM_TIME_BYTES];
    DWORD count = sizeof name;
    FILETIME time = {0};
    LSTATUS status =
        RegEnumKeyExA(asked->key, asked->request->index, name, &count, NULL, NULL, NULL, &time);
    if (status)
        return status;
    buffer_clear(&asked->answers->name);
    buffer_add_text(&asked->answers->name, name);
    asked->reply->name = asked->answers->name.data;
    put_time(bytes, &time);
    return give_bytes(asked, bytes, sizeof bytes);
}

static LSTATUS ask_info(struct asked *asked)
{
    DWORD numbers[5];
    FILETIME time = {0};
    char bytes[FORM_INFO_BYTES];
    bool wide = asked->request->flags & FORM_WIDE;
    LSTATUS status =
        wide ? RegQueryInfoKeyW(asked->key, NULL, NULL, NULL, &numbers[0], &numbers[1], NULL,
                                &numbers[2], &numbers[3], &numbers[4], NULL, &time)
             : RegQueryInfoKeyA(asked->key, NULL, NULL, NULL, &numbers[0], &numbers[1], NULL,
                                &numbers[2], &numbers[3], &numbers[4], NULL, &time);
    if (status)
        return status;
    for (size_t i = 0; i < COUNT(numbers); i++)
        form_put_number(bytes + 4 * i, numbers[i]);
    put_time(bytes + 4 * COUNT(numbers), &time);
    return give_bytes(asked, bytes, sizeof bytes);
}

/* Closes the providers; the next query opens them again. */
static LSTATUS ask_close(struct asked *asked)
{
    return asked->key == HKEY_PERFORMANCE_DATA ? RegCloseKey(asked->key) : ERROR_SUCCESS;
}

static LSTATUS (*const operations[FORM_OPERATIONS])(struct asked *asked) = {
    [FORM_OPEN] = ask_nothing,          [FORM_QUERY] = ask_value, [FORM_ENUM_KEY] = ask_enum_key,
    [FORM_ENUM_VALUE] = ask_enum_value, [FORM_INFO] = ask_info,   [FORM_CLOSE] = ask_close,
};

/* RegCloseKey of the performance data would close the providers; it is not an opened key. */
static void close_opened(HKEY key)
{
    if (root_of((uint32_t)(uintptr_t)key) != key)
        RegCloseKey(key);
}

static LSTATUS ask(struct asked *asked)
{
    const struct form_request *request = asked->request;
    bool counts = request->operation != FORM_OPEN && request->operation != FORM_CLOSE;
    HKEY root = root_of(request->root);
    LSTATUS status = judge_key(root, request);
    if (!status && counts && !peer_is_trusted(asked->peer) && !limits_take_question())
        status = ERROR_BUSY;
    if (status || !*request->path) {
        asked->key = root;
        return status ? status : operations[request->operation](asked);
    }
    status = RegOpenKeyExA(root, request->path, 0, KEY_READ, &asked->key);
    if (status)
        return status;
    status = operations[request->operation](asked);
    close_opened(asked->key);
    return status;
}

void answer(struct answers *answers, const struct peer *peer, const struct form_request *request,
            struct form_reply *ret_reply)
{
    struct asked asked = {.peer = peer, .request = request, .answers = answers, .reply = ret_reply};
    *ret_reply = (struct form_reply){.id = request->id};
    answers->data.failed = answers->name.failed = false;
    bool known = request->operation > 0 && request->operation < FORM_OPERATIONS;
    ret_reply->status = (uint32_t)(known ? ask(&asked) : ERROR_INVALID_FUNCTION);
    if (ret_reply->status) {
        ret_reply->name = NULL;
        ret_reply->data_size = 0;
    }
}
