/* SPDX-License-Identifier: MIT */
/*
 * Keys of other machines, by the rules of the Reg functions. Blocks from other machines are checked
 * like those of third-party providers before the program gets them.
 */
#include "remote/client/internal.h"
#include "wire/wire.h"

#include <stdlib.h>
#include <string.h>

struct remote_key {
    struct target *target;
    uint32_t root;
    char path[]; /* path below the root; "": the root itself */
};

static uint32_t number_of(HKEY key)
{
    return (uint32_t)(uintptr_t)key;
}

static bool is_performance(uint32_t root)
{
    return root == number_of(HKEY_PERFORMANCE_DATA) || root == number_of(HKEY_PERFORMANCE_TEXT) ||
           root == number_of(HKEY_PERFORMANCE_NLSTEXT);
}

static struct call call_of(const struct remote_key *key, enum proto_operation operation)
{
    return (struct call){
        .target = key->target,
        .request = {.operation = (uint16_t)operation, .root = key->root, .path = key->path}
    };
}

/* ---- opening and closing ---- */

static void remote_close(struct remote_key *key)
{
    if (key->root == number_of(HKEY_PERFORMANCE_DATA))
        target_leave_data(key->target);
    target_release(key->target);
    free(key);
}

/* Makes a key. The key takes over the caller's reference to the machine; on failure the reference
 * is released. */
static LSTATUS new_key(struct target *target, uint32_t root, const char *path,
                       struct remote_key **ret)
{
    struct remote_key *key = calloc(1, sizeof *key + strlen(path) + 1);
    *ret = key;
    if (!key) {
        target_release(target);
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    *key = (struct remote_key){.target = target, .root = root};
    strcpy(key->path, path);
    if (root == number_of(HKEY_PERFORMANCE_DATA))
        target_use_data(target);
    return ERROR_SUCCESS;
}

/* Returns ERROR_SUCCESS if the key exists on the machine. If not, frees it and sets *key to
 * NULL. */
static LSTATUS finish_open(const struct call *call, struct remote_key **key)
{
    LSTATUS status = call->status ? call->status : (LSTATUS)call->reply.status;
    if (status) {
        remote_close(*key);
        *key = NULL;
    }
    return status;
}

/* Makes a key and asks the machine whether it exists. Takes over the caller's reference to the
 * machine. */
static LSTATUS open_held(struct target *target, uint32_t root, const char *path,
                         struct remote_key **ret)
{
    UNCANCELLED;
    LSTATUS status = new_key(target, root, path, ret);
    if (status)
        return status;
    CALL_AUTO call = call_of(*ret, PROTO_OPEN);
    call_run(&call);
    return finish_open(&call, ret);
}

static LSTATUS new_root(const char *name, HKEY root, struct remote_key **ret)
{
    struct target *target = NULL;
    uint32_t number = number_of(root);
    if (!is_performance(number) && number != number_of(HKEY_LOCAL_MACHINE) &&
        number != number_of(HKEY_USERS))
        return ERROR_INVALID_HANDLE;
    LSTATUS status = target_hold(name, &target);
    return status ? status : new_key(target, number, "", ret);
}

/* Appends path\sub. Backslashes at the start and end of `sub` and repeated ones are ignored. */
static bool join(const char *path, const char *sub, struct buffer *ret)
{
    buffer_add_text(ret, path);
    while (*sub) {
        size_t count = strcspn(sub, "\\");
        if (count && ret->len)
            buffer_add_byte(ret, '\\');
        buffer_add(ret, sub, count);
        sub += count + (sub[count] == '\\');
    }
    return !ret->failed;
}

static LSTATUS remote_open(struct remote_key *above, const char *sub, struct remote_key **ret)
{
    BUFFER_AUTO path = {0};
    if (!join(above->path, sub ? sub : "", &path))
        return ERROR_NOT_ENOUGH_MEMORY;
    if (is_performance(above->root) && path.len)
        return ERROR_INVALID_HANDLE;
    target_hold_again(above->target);
    return open_held(above->target, above->root, path.len ? path.data : "", ret);
}

/* ---- checks ---- */

static bool is_text_type(uint32_t type)
{
    return type == REG_SZ || type == REG_EXPAND_SZ || type == REG_MULTI_SZ;
}

static bool is_sound(const struct remote_key *key, const struct proto_request *request,
                     const struct proto_reply *reply)
{
    if (request->flags & PROTO_NO_DATA)
        return reply->data_size == 0;
    if (reply->data_size > request->capacity || reply->needed != reply->data_size)
        return false;
    if (is_text_type(reply->type))
        return !(request->flags & PROTO_WIDE) || reply->data_size % sizeof(WCHAR) == 0;
    return !is_performance(key->root) ||
           (reply->type == REG_BINARY && wire_check_block(reply->data, reply->data_size));
}

/* ---- values ---- */

static void put_capacity(struct proto_request *request, bool wide, const void *data,
                         const DWORD *size)
{
    request->flags = (uint16_t)((wide ? PROTO_WIDE : 0) | (data ? 0 : PROTO_NO_DATA) |
                                (size ? 0 : PROTO_NO_SIZE));
    request->capacity = !size ? 0 : *size < PROTO_DATA_BYTES ? *size : PROTO_DATA_BYTES;
}

static LSTATUS copy_reply(const struct remote_key *key, const struct proto_request *request,
                          const struct proto_reply *reply, DWORD *type, void *data, DWORD *size)
{
    LSTATUS status = (LSTATUS)reply->status;
    if (status == ERROR_MORE_DATA && size)
        *size = reply->needed;
    if (status)
        return status;
    if (!is_sound(key, request, reply))
        return ERROR_INVALID_DATA;
    if (type)
        *type = reply->type;
    if (size)
        *size = reply->needed;
    if (data && reply->data_size)
        memcpy(data, reply->data, reply->data_size);
    return ERROR_SUCCESS;
}

static LSTATUS remote_query(struct remote_key *key, const char *name, bool wide, DWORD *type,
                            void *data, DWORD *size)
{
    UNCANCELLED;
    CALL_AUTO call = call_of(key, PROTO_QUERY);
    call.request.name = name;
    put_capacity(&call.request, wide, data, size);
    LSTATUS status = call_run(&call);
    if (!status && call.reply.name)
        return ERROR_INVALID_DATA;
    return status ? status : copy_reply(key, &call.request, &call.reply, type, data, size);
}

/* ---- enumerations ---- */

static LSTATUS take_name(const struct proto_reply *reply, struct buffer *ret)
{
    if (reply->status)
        return (LSTATUS)reply->status;
    if (!reply->name)
        return ERROR_INVALID_DATA;
    buffer_add_text(ret, reply->name);
    return buffer_status(ret);
}

static FILETIME time_at(const void *at)
{
    return (FILETIME){proto_number(at), proto_number((const char *)at + 4)};
}

static LSTATUS remote_enum_key(struct remote_key *key, DWORD index, struct buffer *ret_name,
                               FILETIME *ret_time)
{
    UNCANCELLED;
    CALL_AUTO call = call_of(key, PROTO_ENUM_KEY);
    call.request.index = index;
    LSTATUS status = call_run(&call);
    status = status ? status : take_name(&call.reply, ret_name);
    if (!status && call.reply.data_size != PROTO_TIME_BYTES)
        return ERROR_INVALID_DATA;
    if (!status)
        *ret_time = time_at(call.reply.data);
    return status;
}

static LSTATUS remote_enum_value(struct remote_key *key, DWORD index, bool wide,
                                 struct buffer *ret_name, DWORD *type, void *data, DWORD *size)
{
    UNCANCELLED;
    CALL_AUTO call = call_of(key, PROTO_ENUM_VALUE);
    call.request.index = index;
    put_capacity(&call.request, wide, data, size);
    LSTATUS status = call_run(&call);
    if (!status && !call.reply.status)
        status = take_name(&call.reply, ret_name);
    return status ? status : copy_reply(key, &call.request, &call.reply, type, data, size);
}

static LSTATUS remote_info(struct remote_key *key, bool wide, struct key_info *ret)
{
    UNCANCELLED;
    CALL_AUTO call = call_of(key, PROTO_INFO);
    call.request.flags = wide ? PROTO_WIDE : 0;
    LSTATUS status = call_run(&call);
    status = status ? status : (LSTATUS)call.reply.status;
    if (status)
        return status;
    if (call.reply.data_size != PROTO_INFO_BYTES)
        return ERROR_INVALID_DATA;
    const char *at = call.reply.data;
    *ret = (struct key_info){proto_number(at),      proto_number(at + 4),  proto_number(at + 8),
                             proto_number(at + 12), proto_number(at + 16), time_at(at + 20)};
    return ERROR_SUCCESS;
}

/* ---- several machines at once ---- */

/* Returns false, with the status in `pending`, if the request cannot be made. */
static bool begin_connecting(struct pending_remote *pending, struct call *call)
{
    pending->status = new_root(pending->machine, pending->root, &pending->key);
    if (pending->status)
        return false;
    *call = call_of(pending->key, PROTO_OPEN);
    call_begin(call);
    return true;
}

static void remote_connect_all(struct pending_remote *pendings, size_t count)
{
    UNCANCELLED;
    FREE_AUTO struct call *calls = calloc(count, sizeof *calls);
    FREE_AUTO size_t *pending_of = calloc(count, sizeof *pending_of);
    size_t begun = 0;
    for (size_t i = 0; i < count; i++) {
        pendings[i].key = NULL;
        pendings[i].status = ERROR_NOT_ENOUGH_MEMORY;
        if (calls && pending_of && begin_connecting(&pendings[i], &calls[begun]))
            pending_of[begun++] = i;
    }
    if (begun)
        calls_finish(calls, begun);
    for (size_t i = 0; i < begun; i++) {
        struct pending_remote *pending = &pendings[pending_of[i]];
        pending->status = finish_open(&calls[i], &pending->key);
        call_done(&calls[i]);
    }
}

static void begin_query(const struct remote_request *request, struct call *call)
{
    *call = call_of(request->key, PROTO_QUERY);
    call->request.name = request->name;
    call->request.capacity = PROTO_DATA_BYTES;
    call_begin(call);
}

static LSTATUS take_answer(const struct remote_request *request, const struct call *call)
{
    const struct proto_reply *reply = &call->reply;
    LSTATUS status = call->status ? call->status : (LSTATUS)reply->status;
    if (status)
        return status;
    if (reply->name || !is_sound(request->key, &call->request, reply))
        return ERROR_INVALID_DATA;
    buffer_clear(request->data);
    buffer_add(request->data, reply->data, reply->data_size);
    return buffer_status(request->data);
}

static void remote_query_all(struct remote_request *requests, size_t count,
                             void (*meanwhile)(void *self), void *self)
{
    UNCANCELLED;
    FREE_AUTO struct call *calls = count ? calloc(count, sizeof *calls) : NULL;
    for (size_t i = 0; calls && i < count; i++)
        begin_query(&requests[i], &calls[i]);
    meanwhile(self);
    if (calls)
        calls_finish(calls, count);
    for (size_t i = 0; i < count; i++) {
        requests[i].status = calls ? take_answer(&requests[i], &calls[i]) : ERROR_NOT_ENOUGH_MEMORY;
        if (calls)
            call_done(&calls[i]);
    }
}

const struct registry_remote remote_remote = {
    .connect_all = remote_connect_all,
    .query_all = remote_query_all,
    .open = remote_open,
    .close = remote_close,
    .query = remote_query,
    .enum_key = remote_enum_key,
    .enum_value = remote_enum_value,
    .info = remote_info,
};
