/* SPDX-License-Identifier: MIT */
/* NDR by hand, for the dozen calls that reading needs. Each number is read once, and checked. */
#include "remote/smb_ndr.h"

#include <string.h>

enum {
    NAME_CHARACTERS = 16384, /* with its NUL */
    KEY_READ_ONLY = 0x20019,
    MAXIMUM_ALLOWED_ACCESS = 0x02000000
};

/* ---- writing ---- */

static void put_16(struct buffer *ret, uint32_t number)
{
    const char bytes[2] = {(char)number, (char)(number >> 8)};
    buffer_add(ret, bytes, sizeof bytes);
}

static void put_32(struct buffer *ret, uint32_t number)
{
    put_16(ret, number & 0xffff);
    put_16(ret, number >> 16);
}

static void align(struct buffer *ret)
{
    while (ret->len % 4 && !ret->failed)
        buffer_add_byte(ret, 0);
}

/* Pointers need only differ from 0, and from each other. */
static void put_pointer(struct buffer *ret)
{
    put_32(ret, 0x20000 + (uint32_t)ret->len);
}

static void put_key(struct buffer *ret, const struct winreg_handle *key)
{
    buffer_add(ret, key->bytes, sizeof key->bytes);
}

static void begin(struct buffer *ret, const struct winreg_handle *key)
{
    buffer_clear(ret);
    put_key(ret, key);
}

/* A counted string with its NUL, which the lengths include. */
static bool put_text(struct buffer *ret, const char *text)
{
    BUFFER_AUTO wide = {0};
    if (!utf8_add_as_16(&wide, text, strlen(text) + 1))
        return false;
    uint32_t count = (uint32_t)(wide.len / 2);
    if (wide.len / 2 > NAME_CHARACTERS)
        return false;
    put_16(ret, 2 * count);
    put_16(ret, 2 * count);
    put_pointer(ret);
    put_32(ret, count);
    put_32(ret, 0);
    put_32(ret, count);
    buffer_add(ret, wide.data, wide.len);
    align(ret);
    return true;
}

/* An empty string with a maximum size, for the reply. */
static void put_empty_text(struct buffer *ret, uint32_t characters)
{
    put_16(ret, 0);
    put_16(ret, 2 * characters);
    put_pointer(ret);
    put_32(ret, characters);
    put_32(ret, 0);
    put_32(ret, 0);
}

/* Type, an array of which nothing is sent, its size, and the number of bytes sent. */
static void put_capacity(struct buffer *ret, uint32_t capacity)
{
    put_pointer(ret);
    put_32(ret, 0);
    put_pointer(ret);
    put_32(ret, capacity);
    put_32(ret, 0);
    put_32(ret, 0);
    put_pointer(ret);
    put_32(ret, capacity);
    put_pointer(ret);
    put_32(ret, 0);
}

bool winreg_put_open_root(struct buffer *ret)
{
    buffer_clear(ret);
    put_32(ret, 0); /* no server name */
    put_32(ret, MAXIMUM_ALLOWED_ACCESS);
    return !ret->failed;
}

bool winreg_put_handle(const struct winreg_handle *key, struct buffer *ret)
{
    begin(ret, key);
    return !ret->failed;
}

bool winreg_put_open_key(const struct winreg_handle *key, const char *path, struct buffer *ret)
{
    begin(ret, key);
    if (!put_text(ret, path))
        return false;
    put_32(ret, 0);
    put_32(ret, KEY_READ_ONLY);
    return !ret->failed;
}

bool winreg_put_query(const struct winreg_handle *key, const char *name, uint32_t capacity,
                      struct buffer *ret)
{
    begin(ret, key);
    if (!put_text(ret, name ? name : ""))
        return false;
    put_capacity(ret, capacity);
    return !ret->failed;
}

bool winreg_put_enum_key(const struct winreg_handle *key, uint32_t index, struct buffer *ret)
{
    begin(ret, key);
    put_32(ret, index);
    put_empty_text(ret, LIMIT_KEY_NAME + 1);
    put_pointer(ret);
    put_empty_text(ret, LIMIT_KEY_NAME + 1); /* the class: Samba requires a buffer for it */
    put_pointer(ret);
    put_32(ret, 0); /* the time */
    put_32(ret, 0);
    return !ret->failed;
}

bool winreg_put_enum_value(const struct winreg_handle *key, uint32_t index, uint32_t capacity,
                           struct buffer *ret)
{
    begin(ret, key);
    put_32(ret, index);
    put_empty_text(ret, NAME_CHARACTERS);
    put_capacity(ret, capacity);
    return !ret->failed;
}

bool winreg_put_info(const struct winreg_handle *key, struct buffer *ret)
{
    begin(ret, key);
    put_16(ret, 0);
    put_16(ret, 2 * (LIMIT_KEY_NAME + 1)); /* a buffer for a class, of which no bytes are sent */
    put_32(ret, 0);
    return !ret->failed;
}

/* ---- reading ---- */

struct reader {
    const unsigned char *data;
    size_t size, at;
    bool bad;
};

static struct reader reader_of(const struct buffer *reply)
{
    return (struct reader){.data = (const unsigned char *)reply->data, .size = reply->len};
}

static const unsigned char *take(struct reader *reader, size_t count)
{
    static const unsigned char nothing[WINREG_HANDLE_BYTES];
    if (reader->bad || count > reader->size - reader->at) {
        reader->bad = true;
        return nothing;
    }
    reader->at += count;
    return reader->data + reader->at - count;
}

static uint32_t take_16(struct reader *reader)
{
    const unsigned char *byte = take(reader, 2);
    return byte[0] | (uint32_t)byte[1] << 8;
}

static uint32_t take_32(struct reader *reader)
{
    while (reader->at % 4 && !reader->bad)
        take(reader, 1);
    uint32_t low = take_16(reader);
    return low | take_16(reader) << 16;
}

/* An array's three lengths and its elements: at most `most` of `unit` bytes. */
static const char *take_array(struct reader *reader, size_t most, size_t unit, size_t *ret_count)
{
    uint32_t capacity = take_32(reader), offset = take_32(reader), count = take_32(reader);
    *ret_count = 0;
    if (reader->bad || offset || count > capacity || count > most) {
        reader->bad = true;
        return NULL;
    }
    const unsigned char *start = take(reader, count * unit);
    if (reader->bad)
        return NULL;
    *ret_count = count;
    return (const char *)start;
}

/* Without its NUL, which may be missing. */
static const char *take_text(struct reader *reader, size_t *ret_count)
{
    size_t in_array = 0, count = take_16(reader);
    take_16(reader);
    *ret_count = 0;
    if (!take_32(reader))
        return NULL;
    const char *text = take_array(reader, NAME_CHARACTERS + 1, 2, &in_array);
    if (count % 2 || count / 2 > in_array)
        reader->bad = true;
    if (reader->bad)
        return NULL;
    count /= 2;
    while (count && !text[2 * count - 1] && !text[2 * count - 2])
        count--;
    *ret_count = count;
    return text;
}

static uint32_t take_optional(struct reader *reader)
{
    return take_32(reader) ? take_32(reader) : 0;
}

/* Type, data, size and length: each may be absent. */
static void take_data(struct reader *reader, uint32_t capacity, struct winreg_value *ret)
{
    ret->type = take_optional(reader);
    if (take_32(reader))
        ret->data = take_array(reader, capacity, 1, &ret->size);
    ret->needed = take_optional(reader);
    bool present = take_32(reader);
    uint32_t length = present ? take_32(reader) : 0;
    if (present && ret->data && length < ret->size)
        ret->size = length;
    ret->status = take_32(reader);
}

/* Whether the reply ends here; values that come with an error status are ignored. */
static bool ends(const struct reader *reader, struct winreg_value *ret)
{
    if (reader->bad)
        return false;
    if (ret->status)
        *ret = (struct winreg_value){.status = ret->status, .needed = ret->needed};
    return true;
}

bool winreg_take_handle(const struct buffer *reply, struct winreg_handle *ret, uint32_t *ret_status)
{
    struct reader reader = reader_of(reply);
    memcpy(ret->bytes, take(&reader, sizeof ret->bytes), sizeof ret->bytes);
    *ret_status = take_32(&reader);
    return !reader.bad;
}

bool winreg_take_number(const struct buffer *reply, uint32_t *ret, uint32_t *ret_status)
{
    struct reader reader = reader_of(reply);
    *ret = take_32(&reader);
    *ret_status = take_32(&reader);
    return !reader.bad;
}

bool winreg_take_value(const struct buffer *reply, uint32_t capacity, struct winreg_value *ret)
{
    struct reader reader = reader_of(reply);
    *ret = (struct winreg_value){0};
    take_data(&reader, capacity, ret);
    return ends(&reader, ret);
}

bool winreg_take_enum_value(const struct buffer *reply, uint32_t capacity, struct winreg_value *ret)
{
    struct reader reader = reader_of(reply);
    *ret = (struct winreg_value){0};
    ret->name = take_text(&reader, &ret->name_count);
    take_data(&reader, capacity, ret);
    return ends(&reader, ret);
}

bool winreg_take_enum_key(const struct buffer *reply, struct winreg_subkey *ret)
{
    size_t class_count;
    struct reader reader = reader_of(reply);
    *ret = (struct winreg_subkey){0};
    ret->name = take_text(&reader, &ret->name_count);
    if (take_32(&reader))
        take_text(&reader, &class_count);
    if (take_32(&reader))
        for (int i = 0; i < 2; i++)
            ret->time[i] = take_32(&reader);
    ret->status = take_32(&reader);
    if (ret->status)
        *ret = (struct winreg_subkey){.status = ret->status};
    return !reader.bad;
}

bool winreg_take_info(const struct buffer *reply, struct winreg_info *ret)
{
    size_t class_count;
    struct reader reader = reader_of(reply);
    *ret = (struct winreg_info){0};
    take_text(&reader, &class_count);
    for (size_t i = 0; i < WINREG_INFO_NUMBERS; i++)
        ret->numbers[i] = take_32(&reader);
    for (size_t i = 0; i < 2; i++)
        ret->time[i] = take_32(&reader);
    ret->status = take_32(&reader);
    return !reader.bad;
}
