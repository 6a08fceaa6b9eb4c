/* SPDX-License-Identifier: MIT */
/* Converts requests and replies to bytes and back. Each length is read once and checked before it
 * is used. */
#include "remote/proto.h"

#include <string.h>

uint32_t proto_number(const void *at)
{
    const unsigned char *byte = at;
    return byte[0] | (uint32_t)byte[1] << 8 | (uint32_t)byte[2] << 16 | (uint32_t)byte[3] << 24;
}

void proto_put_number(void *at, uint32_t number)
{
    unsigned char *byte = at;
    for (int i = 0; i < 4; i++)
        byte[i] = (unsigned char)(number >> 8 * i);
}

static void add_number(struct buffer *buffer, uint32_t number)
{
    char bytes[4];
    proto_put_number(bytes, number);
    buffer_add(buffer, bytes, sizeof bytes);
}

size_t proto_size(const void *start, size_t most)
{
    size_t size = proto_number(start);
    bool good = proto_number((const char *)start + 4) == PROTO_MARK;
    return good && size >= PROTO_REPLY_HEAD && size <= most ? size : 0;
}

/* ---- writing ---- */

bool proto_write_request(const struct proto_request *request, struct buffer *ret)
{
    size_t path = strlen(request->path) + 1, name = request->name ? strlen(request->name) + 1 : 0;
    buffer_clear(ret);
    if (path > PROTO_PATH_BYTES || name > PROTO_NAME_BYTES)
        return false;
    add_number(ret, (uint32_t)(PROTO_REQUEST_HEAD + path + name));
    add_number(ret, PROTO_MARK);
    add_number(ret, request->id);
    add_number(ret, request->operation | (uint32_t)request->flags << 16);
    add_number(ret, request->root);
    add_number(ret, request->index);
    add_number(ret, request->capacity);
    add_number(ret, (uint32_t)path);
    add_number(ret, (uint32_t)name);
    buffer_add(ret, request->path, path);
    if (name)
        buffer_add(ret, request->name, name);
    return !ret->failed;
}

bool proto_write_reply(const struct proto_reply *reply, struct buffer *ret)
{
    size_t name = reply->name ? strlen(reply->name) + 1 : 0;
    buffer_clear(ret);
    if (name > PROTO_NAME_BYTES || reply->data_size > PROTO_DATA_BYTES)
        return false;
    add_number(ret, (uint32_t)(PROTO_REPLY_HEAD + name + reply->data_size));
    add_number(ret, PROTO_MARK);
    add_number(ret, reply->id);
    add_number(ret, reply->status);
    add_number(ret, reply->type);
    add_number(ret, reply->needed);
    add_number(ret, (uint32_t)name);
    add_number(ret, (uint32_t)reply->data_size);
    if (name)
        buffer_add(ret, reply->name, name);
    return !ret->failed;
}

/* ---- reading ---- */

/* True if the text is valid UTF-8 and its only NUL is its last byte. */
static bool is_text(const char *text, size_t size)
{
    return size && memchr(text, '\0', size) == text + size - 1 && utf8_valid(text, size - 1);
}

bool proto_read_request(const void *message, size_t size, struct proto_request *ret)
{
    const char *at = message;
    if (size < PROTO_REQUEST_HEAD || proto_size(at, PROTO_REQUEST_BYTES) != size)
        return false;
    uint32_t what = proto_number(at + 12);
    *ret = (struct proto_request){.id = proto_number(at + 8),
                                  .operation = what & 0xffff,
                                  .flags = (uint16_t)(what >> 16),
                                  .root = proto_number(at + 16),
                                  .index = proto_number(at + 20),
                                  .capacity = proto_number(at + 24)};
    size_t path = proto_number(at + 28), name = proto_number(at + 32);
    if (path > PROTO_PATH_BYTES || name > PROTO_NAME_BYTES ||
        PROTO_REQUEST_HEAD + path + name != size || ret->flags & ~PROTO_FLAGS)
        return false;
    ret->path = at + PROTO_REQUEST_HEAD;
    ret->name = name ? ret->path + path : NULL;
    return is_text(ret->path, path) && (!name || is_text(ret->name, name));
}

bool proto_read_reply(const void *message, size_t size, struct proto_reply *ret)
{
    const char *at = message;
    size_t most = PROTO_REPLY_HEAD + (size_t)PROTO_NAME_BYTES + PROTO_DATA_BYTES;
    if (size < PROTO_REPLY_HEAD || proto_size(at, most) != size)
        return false;
    *ret = (struct proto_reply){.id = proto_number(at + 8),
                                .status = proto_number(at + 12),
                                .type = proto_number(at + 16),
                                .needed = proto_number(at + 20),
                                .data_size = proto_number(at + 28)};
    size_t name = proto_number(at + 24);
    if (name > PROTO_NAME_BYTES || ret->data_size > PROTO_DATA_BYTES ||
        PROTO_REPLY_HEAD + name + ret->data_size != size)
        return false;
    ret->name = name ? at + PROTO_REPLY_HEAD : NULL;
    ret->data = at + PROTO_REPLY_HEAD + name;
    return !name || is_text(ret->name, name);
}
