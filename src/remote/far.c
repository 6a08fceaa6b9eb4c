/* SPDX-License-Identifier: MIT */
/*
 * A key of another machine, by the rules of the Reg functions. What comes from there is judged like
 * any stranger's answer before the program sees a byte of it.
 */
#include "remote/internal.h"

#include <openperflib/block.h>
#include <stdlib.h>
#include <string.h>

struct far_key {
    struct target *target;
    uint32_t root;
    char path[]; /* below the root */
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

static struct form_request request_of(const struct far_key *key, enum form_operation operation)
{
    return (struct form_request){
        .operation = (uint16_t)operation, .root = key->root, .path = key->path};
}

/* ---- opening and closing ---- */

static void far_close(struct far_key *key)
{
    if (key->root == number_of(HKEY_PERFORMANCE_DATA))
        target_leave_data(key->target);
    target_release(key->target);
    free(key);
}

/* Takes the hold on the machine; asks whether the key is there. */
static LSTATUS open_held(struct target *target, uint32_t root, const char *path,
                         struct far_key **ret)
{
    BUFFER_AUTO message = {0};
    struct form_reply reply;
    struct far_key *key = calloc(1, sizeof *key + strlen(path) + 1);
    if (!key) {
        target_release(target);
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    *key = (struct far_key){.target = target, .root = root};
    strcpy(key->path, path);
    if (root == number_of(HKEY_PERFORMANCE_DATA))
        target_use_data(target);
    struct form_request request = request_of(key, FORM_OPEN);
    LSTATUS status = target_ask(target, &request, &message, &reply);
    if (!status)
        status = (LSTATUS)reply.status;
    if (status)
        far_close(key);
    else
        *ret = key;
    return status;
}

static LSTATUS far_connect(const char *name, HKEY root, struct far_key **ret)
{
    struct target *target = NULL;
    uint32_t number = number_of(root);
    if (!is_performance(number) && number != number_of(HKEY_LOCAL_MACHINE) &&
        number != number_of(HKEY_USERS))
        return ERROR_INVALID_HANDLE;
    LSTATUS status = target_hold(name, &target);
    return status ? status : open_held(target, number, "", ret);
}

/* Backslashes at both ends and double ones mean nothing. */
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

static LSTATUS far_open(struct far_key *above, const char *sub, struct far_key **ret)
{
    BUFFER_AUTO path = {0};
    if (!join(above->path, sub ? sub : "", &path))
        return ERROR_NOT_ENOUGH_MEMORY;
    if (is_performance(above->root) && path.len)
        return ERROR_INVALID_HANDLE;
    target_hold_again(above->target);
    return open_held(above->target, above->root, path.len ? path.data : "", ret);
}

/* ---- judging ---- */

/* Every length inside leads somewhere inside. */
static bool is_sound_block(const void *data, size_t size)
{
    opl_block block;
    opl_object_view object = {0};
    if (opl_block_init(&block, data, size) || block.size != size)
        return false;
    while (opl_block_next_object(&block, &object)) {
        opl_counter_view counter = {0};
        opl_instance_view instance = {0};
        while (opl_object_next_counter(&block, &object, &counter))
            ;
        while (opl_object_next_instance(&block, &object, &instance))
            ;
    }
    return block.fault == OPL_BLOCK_GOOD;
}

static bool is_text_type(uint32_t type)
{
    return type == REG_SZ || type == REG_EXPAND_SZ || type == REG_MULTI_SZ;
}

static bool is_sound(const struct far_key *key, const struct form_request *request,
                     const struct form_reply *reply)
{
    if (request->flags & FORM_NO_DATA)
        return reply->data_size == 0;
    if (reply->data_size > request->room || reply->needed != reply->data_size)
        return false;
    if (is_text_type(reply->type))
        return !(request->flags & FORM_WIDE) || reply->data_size % sizeof(WCHAR) == 0;
    return !is_performance(key->root) ||
           (reply->type == REG_BINARY && is_sound_block(reply->data, reply->data_size));
}

/* ---- values ---- */

static void put_room(struct form_request *request, bool wide, const void *data, const DWORD *size)
{
    request->flags =
        (uint16_t)((wide ? FORM_WIDE : 0) | (data ? 0 : FORM_NO_DATA) | (size ? 0 : FORM_NO_SIZE));
    request->room = !size ? 0 : *size < FORM_DATA_BYTES ? *size : FORM_DATA_BYTES;
}

static LSTATUS give(const struct far_key *key, const struct form_request *request,
                    const struct form_reply *reply, DWORD *type, void *data, DWORD *size)
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

static LSTATUS far_query(struct far_key *key, const char *name, bool wide, DWORD *type, void *data,
                         DWORD *size)
{
    BUFFER_AUTO message = {0};
    struct form_reply reply;
    struct form_request request = request_of(key, FORM_QUERY);
    request.name = name;
    put_room(&request, wide, data, size);
    LSTATUS status = target_ask(key->target, &request, &message, &reply);
    if (!status && reply.name)
        return ERROR_INVALID_DATA;
    return status ? status : give(key, &request, &reply, type, data, size);
}

/* ---- enumerations ---- */

static LSTATUS take_name(const struct form_reply *reply, struct buffer *ret)
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
    return (FILETIME){form_number(at), form_number((const char *)at + 4)};
}

static LSTATUS far_enum_key(struct far_key *key, DWORD index, struct buffer *ret_name,
                            FILETIME *ret_time)
{
    BUFFER_AUTO message = {0};
    struct form_reply reply;
    struct form_request request = request_of(key, FORM_ENUM_KEY);
    request.index = index;
    LSTATUS status = target_ask(key->target, &request, &message, &reply);
    status = status ? status : take_name(&reply, ret_name);
    if (!status && reply.data_size != FORM_TIME_BYTES)
        return ERROR_INVALID_DATA;
    if (!status)
        *ret_time = time_at(reply.data);
    return status;
}

static LSTATUS far_enum_value(struct far_key *key, DWORD index, bool wide, struct buffer *ret_name,
                              DWORD *type, void *data, DWORD *size)
{
    BUFFER_AUTO message = {0};
    struct form_reply reply;
    struct form_request request = request_of(key, FORM_ENUM_VALUE);
    request.index = index;
    put_room(&request, wide, data, size);
    LSTATUS status = target_ask(key->target, &request, &message, &reply);
    if (!status && !reply.status)
        status = take_name(&reply, ret_name);
    return status ? status : give(key, &request, &reply, type, data, size);
}

static LSTATUS far_info(struct far_key *key, bool wide, struct key_info *ret)
{
    BUFFER_AUTO message = {0};
    struct form_reply reply;
    struct form_request request = request_of(key, FORM_INFO);
    request.flags = wide ? FORM_WIDE : 0;
    LSTATUS status = target_ask(key->target, &request, &message, &reply);
    status = status ? status : (LSTATUS)reply.status;
    if (status)
        return status;
    if (reply.data_size != FORM_INFO_BYTES)
        return ERROR_INVALID_DATA;
    const char *at = reply.data;
    *ret = (struct key_info){form_number(at),      form_number(at + 4),  form_number(at + 8),
                             form_number(at + 12), form_number(at + 16), time_at(at + 20)};
    return ERROR_SUCCESS;
}

const struct registry_far remote_far = {
    .connect = far_connect,
    .open = far_open,
    .close = far_close,
    .query = far_query,
    .enum_key = far_enum_key,
    .enum_value = far_enum_value,
    .info = far_info,
};
