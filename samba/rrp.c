/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parses requests and writes answers: little-endian, aligned to 4 (NDR's transfer syntax). */
#include "samba/rrp.h"

#include <string.h>

/* ---- reading ---- */

struct reader {
    const unsigned char *bytes;
    size_t size, at;
    bool bad;
};

static const unsigned char *take(struct reader *in, size_t count)
{
    if (in->bad || count > in->size - in->at) {
        in->bad = true;
        return NULL;
    }
    in->at += count;
    return in->bytes + in->at - count;
}

static void align(struct reader *in, size_t to)
{
    take(in, -in->at & (to - 1));
}

static uint16_t take_16(struct reader *in)
{
    align(in, 2);
    const unsigned char *byte = take(in, 2);
    return byte ? (uint16_t)(byte[0] | byte[1] << 8) : 0;
}

static uint32_t take_32(struct reader *in)
{
    align(in, 4);
    const unsigned char *byte = take(in, 4);
    return byte ? byte[0] | (uint32_t)byte[1] << 8 | (uint32_t)byte[2] << 16 |
                      (uint32_t)byte[3] << 24
                : 0;
}

/* A pointer that may be NULL, and the number behind it. */
static bool take_pointed_32(struct reader *in, uint32_t *ret)
{
    *ret = 0;
    if (!take_32(in))
        return false;
    *ret = take_32(in);
    return !in->bad;
}

/* A partly transmitted array: size, offset, count; returns the count. */
static uint32_t take_array_head(struct reader *in)
{
    uint32_t capacity = take_32(in), offset = take_32(in), count = take_32(in);
    if (offset || count > capacity)
        in->bad = true;
    return in->bad ? 0 : count;
}

/* UTF-16 up to its NUL, if it has one. */
static void take_units(struct reader *in, uint32_t count, struct buffer *text)
{
    uint32_t length = 0;
    const unsigned char *units =
        count > RRP_NAME_UNITS ? NULL : take(in, (size_t)count * sizeof(uint16_t));
    if (!units) {
        in->bad = true;
        return;
    }
    while (length < count && (units[2 * length] || units[2 * length + 1]))
        length++;
    size_t size = utf16_to_8_bytes(units, length, NULL, 0);
    if (!buffer_reserve(text, size + 1)) {
        in->bad = true;
        return;
    }
    utf16_to_8_bytes(units, length, text->data + text->len, size);
    text->len += size;
    text->data[text->len] = '\0';
}

/* RRP_UNICODE_STRING: two sizes and a pointer. NULL without text. */
static const char *take_text(struct reader *in, struct buffer *text, struct rrp_capacity *ret)
{
    align(in, 4);
    uint16_t used = take_16(in), capacity = take_16(in);
    *ret = (struct rrp_capacity){.there = true, .bytes = capacity};
    ret->has_text = take_32(in) != 0;
    if (!ret->has_text)
        return NULL;
    buffer_clear(text);
    uint32_t count = take_array_head(in);
    if (used > capacity || count != used / 2u)
        in->bad = true;
    else
        take_units(in, count, text);
    return in->bad ? NULL : text->data;
}

/* Type, data and both sizes: the end of two calls. */
static void take_value_capacity(struct reader *in, struct rrp_request *ret)
{
    uint32_t ignored;
    ret->has_type = take_pointed_32(in, &ignored);
    ret->has_data = take_32(in) != 0;
    if (ret->has_data)
        take(in, take_array_head(in));
    ret->has_size = take_pointed_32(in, &ret->capacity);
    ret->has_length = take_pointed_32(in, &ignored);
}

static void read_open_key(struct reader *in, struct buffer *text, struct rrp_request *ret)
{
    ret->name = take_text(in, text, &ret->name_capacity);
    take_32(in); /* options */
    ret->access = take_32(in);
}

static void read_query(struct reader *in, struct buffer *text, struct rrp_request *ret)
{
    ret->name = take_text(in, text, &ret->name_capacity);
    take_value_capacity(in, ret);
}

static void read_enum_value(struct reader *in, struct buffer *text, struct rrp_request *ret)
{
    ret->index = take_32(in);
    take_text(in, text, &ret->name_capacity);
    take_value_capacity(in, ret);
}

static void read_enum_key(struct reader *in, struct buffer *text, struct rrp_request *ret)
{
    ret->index = take_32(in);
    take_text(in, text, &ret->name_capacity);
    ret->has_class = take_32(in) != 0;
    if (ret->has_class)
        take_text(in, text, &ret->class_capacity);
    ret->has_time = take_32(in) != 0;
    if (ret->has_time)
        take_32(in), take_32(in);
}

static void read_info(struct reader *in, struct buffer *text, struct rrp_request *ret)
{
    take_text(in, text, &ret->class_capacity);
}

static void (*const readers[RRP_CALLS])(struct reader *, struct buffer *, struct rrp_request *) = {
    [RRP_OPEN_KEY] = read_open_key,     [RRP_QUERY] = read_query,
    [RRP_ENUM_KEY] = read_enum_key,     [RRP_INFO] = read_info,
    [RRP_ENUM_VALUE] = read_enum_value,
};

bool rrp_has_handle(unsigned opnum)
{
    return opnum == RRP_CLOSE || (opnum > RRP_CLOSE && opnum < RRP_CALLS && opnum != 27 &&
                                  opnum != RRP_OPEN_TEXT && opnum != RRP_OPEN_NLS_TEXT);
}

bool rrp_read(unsigned opnum, const void *bytes, size_t size, struct buffer *text,
              struct rrp_request *ret)
{
    struct reader in = {.bytes = bytes, .size = size};
    *ret = (struct rrp_request){.opnum = opnum};
    if (opnum >= RRP_CALLS)
        return false;
    const unsigned char *handle = rrp_has_handle(opnum) ? take(&in, RRP_HANDLE_BYTES) : NULL;
    if (handle)
        memcpy(ret->handle, handle, RRP_HANDLE_BYTES);
    if (readers[opnum] && !in.bad)
        readers[opnum](&in, text, ret);
    return !in.bad;
}

/* ---- writing ---- */

static void put_32(struct buffer *out, uint32_t number)
{
    const char bytes[4] = {(char)number, (char)(number >> 8), (char)(number >> 16),
                           (char)(number >> 24)};
    buffer_add(out, bytes, sizeof bytes);
}

static void put_padding(struct buffer *out, size_t size)
{
    static const char zero[4];
    buffer_add(out, zero, -size & 3);
}

static void put_pointer(struct buffer *out, bool there)
{
    put_32(out, there ? 0x00020000u + (uint32_t)out->len : 0);
}

static void put_pointed_32(struct buffer *out, bool there, uint32_t number)
{
    put_pointer(out, there);
    if (there)
        put_32(out, number);
}

/* With its NUL; a text that does not fit is omitted, the status reports it. */
static void put_text(struct buffer *out, const struct rrp_capacity *capacity, const char *text)
{
    BUFFER_AUTO wide = {0};
    if (text && !utf8_add_as_16(&wide, text, strlen(text) + 1))
        out->failed = true;
    uint32_t bytes = wide.len <= capacity->bytes ? (uint32_t)wide.len : 0;
    put_32(out, bytes | (uint32_t)capacity->bytes << 16);
    put_pointer(out, capacity->has_text);
    if (!capacity->has_text)
        return;
    put_32(out, capacity->bytes / 2u);
    put_32(out, 0);
    put_32(out, bytes / 2u);
    buffer_add(out, wide.data ? wide.data : "", bytes);
    put_padding(out, bytes);
}

static void put_value(struct buffer *out, const struct rrp_request *request,
                      const struct rrp_answer *answer)
{
    uint32_t count = request->has_data ? answer->data_size : 0;
    put_pointed_32(out, request->has_type, answer->type);
    put_pointer(out, request->has_data);
    if (request->has_data) {
        put_32(out, answer->size);
        put_32(out, 0);
        put_32(out, count);
        buffer_add(out, count ? answer->data : "", count);
        put_padding(out, count);
    }
    put_pointed_32(out, request->has_size, answer->size);
    put_pointed_32(out, request->has_length, count);
}

static void write_handle(struct buffer *out, const struct rrp_request *request,
                         const struct rrp_answer *answer)
{
    static const unsigned char none[RRP_HANDLE_BYTES];
    buffer_add(out, answer->status ? none : answer->handle, RRP_HANDLE_BYTES);
    if (request->opnum == RRP_CREATE)
        put_32(out, 0); /* no disposition */
}

static void write_enum_key(struct buffer *out, const struct rrp_request *request,
                           const struct rrp_answer *answer)
{
    put_text(out, &request->name_capacity, answer->name);
    put_pointer(out, request->has_class);
    if (request->has_class)
        put_text(out, &request->class_capacity, NULL);
    put_pointer(out, request->has_time);
    if (request->has_time) {
        put_32(out, answer->numbers[5]);
        put_32(out, answer->numbers[6]);
    }
}

static void write_enum_value(struct buffer *out, const struct rrp_request *request,
                             const struct rrp_answer *answer)
{
    put_text(out, &request->name_capacity, answer->name);
    put_value(out, request, answer);
}

/* Lengths of names are bytes here, characters in the protocol. */
static void write_info(struct buffer *out, const struct rrp_request *request,
                       const struct rrp_answer *answer)
{
    const uint32_t *number = answer->numbers;
    put_text(out, &request->class_capacity, NULL);
    put_32(out, number[0]);
    put_32(out, number[1] * 2);
    put_32(out, 0); /* longest class */
    put_32(out, number[2]);
    put_32(out, number[3] * 2);
    put_32(out, number[4]);
    put_32(out, 0); /* security descriptor */
    put_32(out, number[5]);
    put_32(out, number[6]);
}

static void write_version(struct buffer *out, const struct rrp_request *request,
                          const struct rrp_answer *answer)
{
    enum { VERSION = 5 };
    put_32(out, VERSION);
}

static void write_security(struct buffer *out, const struct rrp_request *request,
                           const struct rrp_answer *answer)
{
    for (int i = 0; i < 3; i++)
        put_32(out, 0);
}

typedef void writing(struct buffer *, const struct rrp_request *, const struct rrp_answer *);
static writing *const writers[RRP_CALLS] = {
    [RRP_OPEN_DATA] = write_handle,
    [RRP_OPEN_TEXT] = write_handle,
    [RRP_OPEN_NLS_TEXT] = write_handle,
    [RRP_CLOSE] = write_handle,
    [RRP_CREATE] = write_handle,
    [RRP_OPEN_KEY] = write_handle,
    [RRP_ENUM_KEY] = write_enum_key,
    [RRP_ENUM_VALUE] = write_enum_value,
    [RRP_INFO] = write_info,
    [RRP_QUERY] = put_value,
    [RRP_VERSION] = write_version,
    [RRP_GET_SECURITY] = write_security,
};

bool rrp_write(const struct rrp_request *request, const struct rrp_answer *answer,
               struct buffer *out)
{
    if (request->opnum >= RRP_CALLS || request->opnum == RRP_QUERY_MANY ||
        request->opnum == RRP_QUERY_MANY_2)
        return false;
    if (writers[request->opnum])
        writers[request->opnum](out, request, answer);
    put_32(out, answer->status);
    return !out->failed;
}
