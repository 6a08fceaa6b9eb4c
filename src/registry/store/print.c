/* SPDX-License-Identifier: MIT */
/*
 * Prints .reg text in the format of Windows' registry editor, in UTF-8. Text that cannot be quoted
 * (several terminators, control characters) is printed as hex(1): and the bytes of its UTF-16
 * encoding.
 */
#include "registry/store/hive.h"

#include <string.h>

enum { LINE_BREAK_AFTER = 76 };

static bool plain_text(const char *text, size_t size)
{
    if (!size || memchr(text, 0, size) != text + size - 1 || !utf8_valid(text, size - 1))
        return false;
    for (size_t i = 0; i + 1 < size; i++)
        if ((unsigned char)text[i] < ' ')
            return false;
    return true;
}

static void print_quoted(struct buffer *out, const char *text)
{
    buffer_add_byte(out, '"');
    while (*text) {
        size_t count = strcspn(text, "\"\\");
        buffer_add(out, text, count);
        text += count;
        if (*text) {
            buffer_add_byte(out, '\\');
            buffer_add_byte(out, *text++);
        }
    }
    buffer_add_byte(out, '"');
}

static void print_hex(struct buffer *out, size_t line_start, const unsigned char *bytes,
                      size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (out->len - line_start > LINE_BREAK_AFTER) {
            buffer_add_text(out, "\\\n  ");
            line_start = out->len - 2;
        }
        buffer_printf(out, i + 1 < size ? "%02x," : "%02x", bytes[i]);
    }
}

static void print_bytes(struct buffer *out, size_t line_start, const opl_reg_entry *entry)
{
    BUFFER_AUTO wide = {0};
    const void *bytes = entry->data;
    size_t size = entry->size;
    if (entry->type == REG_SZ || entry->type == REG_EXPAND_SZ || entry->type == REG_MULTI_SZ) {
        utf8_add_as_16(&wide, entry->data, entry->size);
        bytes = wide.data;
        size = wide.len;
        out->failed |= wide.failed;
    }
    if (entry->type == REG_BINARY)
        buffer_add_text(out, "hex:");
    else
        buffer_printf(out, "hex(%x):", (unsigned)entry->type);
    print_hex(out, line_start, bytes, size);
}

static void print_value(struct buffer *out, const opl_reg_entry *entry)
{
    size_t line_start = out->len;
    if (*entry->name)
        print_quoted(out, entry->name);
    else
        buffer_add_byte(out, '@');
    buffer_add_byte(out, '=');
    if (entry->kind == OPL_REG_DELETE_VALUE) {
        buffer_add_byte(out, '-');
    } else if (entry->type == REG_SZ && plain_text(entry->data, entry->size)) {
        print_quoted(out, entry->data);
    } else if (entry->type == REG_DWORD && entry->size == 4) {
        uint32_t number;
        memcpy(&number, entry->data, sizeof number);
        buffer_printf(out, "dword:%08x", (unsigned)number);
    } else {
        print_bytes(out, line_start, entry);
    }
    buffer_add_byte(out, '\n');
}

/* Appends the entry as it stands in a file. */
static bool hive_print_entry(struct buffer *out, const opl_reg_entry *entry)
{
    if (entry->kind == OPL_REG_KEY || entry->kind == OPL_REG_DELETE_KEY)
        buffer_printf(out, "\n[%s%s]\n", entry->kind == OPL_REG_KEY ? "" : "-", entry->key);
    else if (entry->kind == OPL_REG_VALUE || entry->kind == OPL_REG_DELETE_VALUE)
        print_value(out, entry);
    else
        buffer_printf(out, "%s\n", entry->name);
    return !out->failed;
}

LSTATUS opl_reg_print(const opl_reg_entry *entry, char *text, size_t *size)
{
    BUFFER_AUTO out = {0};
    size_t capacity = *size;
    bool needs_data = entry->kind == OPL_REG_VALUE && entry->size && !entry->data;
    if (entry->kind > OPL_REG_COMMENT || needs_data || (!entry->name && !entry->key))
        return ERROR_INVALID_PARAMETER;
    hive_print_entry(&out, entry);
    if (out.failed)
        return ERROR_NOT_ENOUGH_MEMORY;
    *size = out.len + 1;
    if (capacity < *size)
        return ERROR_MORE_DATA;
    memcpy(text, out.data, *size);
    return ERROR_SUCCESS;
}

/* ---- a whole file ---- */

static bool leaf(const struct tree_key *key)
{
    for (size_t i = 0; i < key->key_count; i++)
        if (key->keys[i]->alive)
            return false;
    return true;
}

static void print_values(struct buffer *out, const struct tree_key *key)
{
    for (size_t i = 0; i < key->value_count; i++) {
        const struct tree_value *value = &key->values[i];
        hive_print_entry(
            out, &(opl_reg_entry){.kind = value->gone ? OPL_REG_DELETE_VALUE : OPL_REG_VALUE,
                                  .name = value->name,
                                  .type = value->type,
                                  .data = value->data,
                                  .size = value->size});
    }
}

/* Prints the key and those below. `path` is the key's path, which is extended for the keys below
 * and restored on return. A key with subkeys but without values gets no line of its own: the
 * subkeys' lines create it. */
static void print_key(struct buffer *out, struct buffer *path, const struct tree_key *key)
{
    size_t path_len = path->len;
    out->failed |= !tree_fill(key);
    if (key->cleared)
        hive_print_entry(out, &(opl_reg_entry){.kind = OPL_REG_DELETE_KEY, .key = path->data});
    if (key->alive && (key->value_count || leaf(key))) {
        hive_print_entry(out, &(opl_reg_entry){.kind = OPL_REG_KEY, .key = path->data});
        print_values(out, key);
    }
    for (size_t i = 0; i < key->key_count; i++) {
        buffer_add_byte(path, '\\');
        buffer_add_text(path, key->keys[i]->name);
        if (!path->failed)
            print_key(out, path, key->keys[i]);
        path->len = path_len;
        if (path->data)
            path->data[path_len] = 0;
    }
}

bool hive_print(struct buffer *out, const struct tree_key *root, const char *remarks)
{
    BUFFER_AUTO path = {0};
    buffer_add_text(out, HIVE_HEADER "\n");
    if (remarks && *remarks) {
        buffer_add_byte(out, '\n');
        buffer_add_text(out, remarks);
    }
    for (size_t i = 0; i < root->key_count; i++) {
        buffer_clear(&path);
        buffer_add_text(&path, root->keys[i]->name);
        if (!path.failed)
            print_key(out, &path, root->keys[i]);
    }
    return !out->failed && !path.failed;
}

/* ---- code page 1252 ---- */

bool ansi_add_as_8(struct buffer *out, const char *text, size_t count)
{
    static const uint16_t upper[32] = {
        0x20ac, 0x81,   0x201a, 0x192,  0x201e, 0x2026, 0x2020, 0x2021, 0x2c6,  0x2030, 0x160,
        0x2039, 0x152,  0x8d,   0x17d,  0x8f,   0x90,   0x2018, 0x2019, 0x201c, 0x201d, 0x2022,
        0x2013, 0x2014, 0x2dc,  0x2122, 0x161,  0x203a, 0x153,  0x9d,   0x17e,  0x178};
    for (size_t i = 0; i < count; i++) {
        unsigned char byte = (unsigned char)text[i];
        uint16_t unit = byte >= 0x80 && byte < 0xa0 ? upper[byte - 0x80] : byte;
        if (byte < 0x80)
            buffer_add_byte(out, text[i]);
        else
            utf16_add_as_8(out, &unit, 1);
    }
    return !out->failed;
}
