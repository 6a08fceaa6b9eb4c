/* SPDX-License-Identifier: MIT */
/*
 * Parses .reg text. The file is converted to UTF-8 once, then parsed line by line: each line gives
 * one entry or one error, and an error does not affect the next line.
 */
#include "registry/store/hive.h"

#include <string.h>

struct reader {
    const char *start, *cursor, *end;
    const char *line_start;
    unsigned line; /* number of the last line that was read */
    /* the file has the old format, in which hex(1), hex(2) and hex(7) are bytes in the code page */
    bool regedit4;
    bool key_known; /* false after a damaged key line or a deleted key: the values that follow
                     * belong to no key */
    bool stopped, no_memory;
    struct buffer key, name, data, text;
    bool (*each)(void *self, const opl_reg_entry *entry);
    const struct hive_lazy *lazy;
    void *self;
};

struct span {
    const char *at, *end;
};

static struct span trimmed(struct span text)
{
    while (text.at < text.end && (*text.at == ' ' || *text.at == '\t'))
        text.at++;
    while (text.at < text.end && strchr(" \t\r", text.end[-1]) && text.end[-1])
        text.end--;
    return text;
}

static bool take_line(struct reader *reader, struct span *ret)
{
    if (reader->cursor >= reader->end)
        return false;
    const char *end = memchr(reader->cursor, '\n', (size_t)(reader->end - reader->cursor));
    reader->line_start = reader->cursor;
    *ret = trimmed((struct span){reader->cursor, end ? end : reader->end});
    reader->cursor = end ? end + 1 : reader->end;
    reader->line++;
    return true;
}

/* All entries are reported here. After a lack of memory the entry is not reported, and the reading
 * stops. */
static void report(struct reader *reader, opl_reg_entry entry)
{
    if (reader->key.failed || reader->name.failed || reader->data.failed || reader->text.failed) {
        reader->no_memory = reader->stopped = true;
        return;
    }
    entry.key = reader->key.data ? reader->key.data : "";
    if (!reader->each(reader->self, &entry))
        reader->stopped = true;
}

static void report_line(struct reader *reader, opl_reg_kind kind, unsigned line, struct span text,
                        const char *why)
{
    buffer_clear(&reader->name);
    buffer_add(&reader->name, text.at, (size_t)(text.end - text.at));
    buffer_add_byte(&reader->name, 0);
    report(reader,
           (opl_reg_entry){.kind = kind, .line = line, .name = reader->name.data, .why = why});
}

/* ---- keys ---- */

/* Returns the root's long name, such as "HKEY_LOCAL_MACHINE" for "HKLM". NULL: files must not
 * contain this root. */
static const char *hive_root(const char *name, size_t count)
{
    static const struct {
        const char *given, *path;
    } roots[] = {
        {"HKEY_LOCAL_MACHINE",  "HKEY_LOCAL_MACHINE" },
        {"HKLM",                "HKEY_LOCAL_MACHINE" },
        {"HKEY_CURRENT_USER",   "HKEY_CURRENT_USER"  },
        {"HKCU",                "HKEY_CURRENT_USER"  },
        {"HKEY_USERS",          "HKEY_USERS"         },
        {"HKU",                 "HKEY_USERS"         },
        {"HKEY_CLASSES_ROOT",   "HKEY_CLASSES_ROOT"  },
        {"HKCR",                "HKEY_CLASSES_ROOT"  },
        {"HKEY_CURRENT_CONFIG", "HKEY_CURRENT_CONFIG"},
        {"HKCC",                "HKEY_CURRENT_CONFIG"},
    };
    for (size_t i = 0; i < COUNT(roots); i++)
        if (!text_compare_fold_n(roots[i].given, strlen(roots[i].given), name, count))
            return roots[i].path;
    return NULL;
}

static size_t characters(const char *text, size_t count)
{
    return utf8_to_16(text, count, NULL, 0);
}

/* Copies the path to reader->key. Returns what is wrong with the path; NULL: nothing. */
static const char *take_path(struct reader *reader, struct span path)
{
    size_t count = 0, depth = 0;
    while (path.at + count < path.end && path.at[count] != '\\')
        count++;
    const char *root = hive_root(path.at, count);
    if (!root)
        return "the key does not begin with a root such as HKEY_LOCAL_MACHINE";
    buffer_clear(&reader->key);
    buffer_add_text(&reader->key, root);
    for (path.at += count; path.at < path.end; path.at += count, depth++) {
        path.at++;
        for (count = 0; path.at + count < path.end && path.at[count] != '\\';)
            count++;
        if (!count)
            return "a part of the key's path is empty";
        if (characters(path.at, count) > LIMIT_KEY_NAME || depth >= LIMIT_KEY_DEPTH)
            return "the key's path is too long";
        buffer_add_byte(&reader->key, '\\');
        buffer_add(&reader->key, path.at, count);
    }
    return NULL;
}

/* Skips lines up to the next key line, or a damaged one that may have been a key line. */
static void skip_section(struct reader *reader)
{
    const char *start = reader->line_start;
    struct hive_section section = {.offset = (size_t)(start - reader->start), .line = reader->line};
    while (reader->cursor < reader->end) {
        const char *at = reader->cursor;
        while (at < reader->end && (*at == ' ' || *at == '\t'))
            at++;
        if (at < reader->end && *at == '[')
            break;
        const char *end = memchr(at, '\n', (size_t)(reader->end - at));
        reader->cursor = end ? end + 1 : reader->end;
        reader->line++;
    }
    section.size = (size_t)(reader->cursor - start);
    reader->lazy->skipped(reader->self, &section);
}

static const char *read_key(struct reader *reader, struct span line)
{
    reader->key_known = false;
    while (line.end > line.at && line.end[-1] != ']')
        line.end--;
    if (line.end - line.at < 3)
        return "the ] at the end of the key line is missing";
    line.at++;
    line.end--;
    bool gone = *line.at == '-';
    const char *why = take_path(reader, (struct span){line.at + gone, line.end});
    if (why)
        return why;
    reader->key_known = !gone;
    report(reader, (opl_reg_entry){.kind = gone ? OPL_REG_DELETE_KEY : OPL_REG_KEY,
                                   .line = reader->line,
                                   .name = ""});
    if (!gone && reader->lazy && !reader->stopped &&
        reader->lazy->wanted(reader->self, reader->key.data))
        skip_section(reader);
    return NULL;
}

/* ---- values ---- */

/* Reads a quoted text with the escapes \\ and \"; line->at is at the opening quote, and after the
 * closing quote on return. Returns what is wrong with the text; NULL: nothing. */
static const char *read_quoted(struct span *line, struct buffer *ret)
{
    buffer_clear(ret);
    for (const char *at = line->at + 1, *from = at; at < line->end; at++) {
        if (*at != '"' && *at != '\\')
            continue;
        buffer_add(ret, from, (size_t)(at - from));
        if (*at == '"') {
            line->at = at + 1;
            return NULL;
        }
        from = ++at; /* the next part begins with the escaped character itself */
        if (at == line->end || (*at != '\\' && *at != '"'))
            return "in a text each backslash must be written twice";
    }
    return "the closing quotation mark is missing";
}

static int hex_digit(char digit)
{
    static const char digits[] = "0123456789abcdef";
    const char *found = digit ? strchr(digits, digit | 0x20) : NULL;
    return digit > ' ' && found ? (int)(found - digits) : -1;
}

/* Reads the next line if it continues a hex value; false: another line, which is read again. */
static bool next_hex_line(struct reader *reader, struct span *line)
{
    struct span next;
    const char *cursor = reader->cursor;
    if (!take_line(reader, &next))
        return false;
    if (next.at < next.end && hex_digit(*next.at) >= 0) {
        *line = next;
        return true;
    }
    reader->cursor = cursor;
    reader->line--;
    return false;
}

/* Reads a byte of one or two hexadecimal digits. False: the line has no digit here. */
static bool read_byte(struct span *line, char *ret)
{
    int high = line->at < line->end ? hex_digit(*line->at++) : -1;
    int low = high >= 0 && line->at < line->end ? hex_digit(*line->at) : -1;
    line->at += low >= 0;
    *ret = (char)(low < 0 ? high : high << 4 | low);
    return high >= 0;
}

/* Reads bytes separated by commas; a backslash at a line's end continues them on the next line.
 * Returns what is wrong with the bytes; NULL: nothing. */
static const char *read_hex(struct reader *reader, struct span *line)
{
    bool first = true;
    for (;; first = false) {
        *line = trimmed(*line);
        if (line->at < line->end && *line->at == '\\' && line->at + 1 == line->end &&
            !next_hex_line(reader, line))
            return "the value is incomplete";
        if (first && (line->at == line->end || *line->at == ';'))
            return NULL;
        char byte;
        if (!read_byte(line, &byte))
            return "a byte of two hexadecimal digits is missing";
        buffer_add_byte(&reader->data, byte);
        *line = trimmed(*line);
        if (line->at == line->end || *line->at != ',')
            return NULL;
        line->at++;
    }
}

static bool is_text(uint32_t type)
{
    return type == REG_SZ || type == REG_EXPAND_SZ || type == REG_MULTI_SZ;
}

/* Converts the bytes of hex(1), hex(2) or hex(7) to UTF-8. The bytes are UTF-16; in a file of
 * REGEDIT4 they are text in the code page, or UTF-8 already. Returns what is wrong with the bytes;
 * NULL: nothing. */
static const char *hex_to_text(struct reader *reader)
{
    struct buffer *data = &reader->data, *text = &reader->text;
    buffer_clear(text);
    if (!reader->regedit4) {
        if (data->len % 2)
            return "text in hexadecimal form has an odd number of bytes";
        size_t need = utf16_to_8(data->data, data->len / 2, NULL, 0);
        if (buffer_reserve(text, need))
            text->len = utf16_to_8(data->data, data->len / 2, text->data, need);
    } else if (utf8_valid(data->data, data->len)) {
        return NULL;
    } else {
        ansi_add_as_8(text, data->data, data->len);
    }
    struct buffer swap = *data;
    *data = *text;
    *text = swap;
    return NULL;
}

static const char *read_dword(struct reader *reader, struct span *line)
{
    uint32_t number = 0;
    unsigned digits = 0;
    *line = trimmed(*line);
    for (; line->at < line->end && hex_digit(*line->at) >= 0; line->at++, digits++)
        number = number << 4 | (uint32_t)hex_digit(*line->at);
    if (digits < 1 || digits > 8)
        return "a dword value must have one to eight hexadecimal digits";
    buffer_add(&reader->data, &number, sizeof number);
    return NULL;
}

/* Reads "hex:" or a form like "hex(7):" from the line; false: the line has neither. */
static bool hex_type(struct span *line, uint32_t *ret_type)
{
    size_t count = (size_t)(line->end - line->at), digits = 0;
    *ret_type = REG_BINARY;
    if (count >= 4 && !text_compare_fold_n(line->at, 4, "hex:", 4)) {
        line->at += 4;
        return true;
    }
    if (count < 7 || text_compare_fold_n(line->at, 4, "hex(", 4))
        return false;
    while (4 + digits < count && hex_digit(line->at[4 + digits]) >= 0)
        digits++;
    if (count < 6 + digits || memcmp(line->at + 4 + digits, "):", 2) ||
        !text_hex(line->at + 4, digits, ret_type))
        return false;
    line->at += 6 + digits;
    return true;
}

/* Reads the data after "name"= into reader->data. Returns what is wrong with the data; NULL:
 * nothing. */
static const char *read_data(struct reader *reader, struct span *line, uint32_t *ret_type)
{
    static const char dword[] = "dword:";
    const char *why;
    buffer_clear(&reader->data);
    if (line->at < line->end && *line->at == '"') {
        *ret_type = REG_SZ;
        why = read_quoted(line, &reader->data);
        buffer_add_byte(&reader->data, 0);
        return why;
    }
    if (line->end - line->at >= 6 && !text_compare_fold_n(line->at, 6, dword, 6)) {
        *ret_type = REG_DWORD;
        line->at += 6;
        return read_dword(reader, line);
    }
    if (!hex_type(line, ret_type))
        return "the value is neither text in quotation marks, dword: nor hex:";
    why = read_hex(reader, line);
    return why || !is_text(*ret_type) ? why : hex_to_text(reader);
}

static const char *read_name(struct reader *reader, struct span *line)
{
    const char *why = NULL;
    buffer_clear(&reader->name);
    if (!buffer_reserve(&reader->name, 1))
        return "there is no memory";
    if (*line->at == '@')
        line->at++;
    else
        why = read_quoted(line, &reader->name);
    if (!why && characters(reader->name.data, reader->name.len) > LIMIT_VALUE_NAME)
        why = "the value's name is too long";
    *line = trimmed(*line);
    if (!why && (line->at == line->end || *line->at != '='))
        why = "= is missing after the value's name";
    line->at += !why;
    *line = trimmed(*line);
    buffer_add_byte(&reader->name, 0);
    return why;
}

static const char *read_value(struct reader *reader, struct span line)
{
    opl_reg_entry entry = {.kind = OPL_REG_VALUE, .line = reader->line};
    const char *why = read_name(reader, &line);
    if (why)
        return why;
    if (line.at < line.end && *line.at == '-') {
        entry.kind = OPL_REG_DELETE_VALUE;
        line.at++;
    } else if ((why = read_data(reader, &line, &entry.type))) {
        return why;
    }
    line = trimmed(line);
    if (line.at < line.end && *line.at != ';')
        return "unexpected text after the value";
    if (!reader->key_known)
        return "the value belongs to no key, because the key line above is damaged or deletes the "
               "key";
    entry.name = reader->name.data;
    entry.data = reader->data.data ? reader->data.data : "";
    entry.size = reader->data.len;
    report(reader, entry);
    return NULL;
}

/* ---- lines ---- */

static const char *bad_bytes(struct span line)
{
    for (const char *at = line.at; at < line.end; at++)
        if ((unsigned char)*at < ' ' && *at != '\t')
            return "the line contains a control character";
    if (!utf8_valid(line.at, (size_t)(line.end - line.at)))
        return "the line is not UTF-8";
    return NULL;
}

static void read_line(struct reader *reader, struct span line)
{
    unsigned number = reader->line;
    if (line.at == line.end)
        return;
    if (*line.at == ';') {
        report_line(reader, OPL_REG_COMMENT, number, line, NULL);
        return;
    }
    const char *why = bad_bytes(line);
    if (*line.at == '[') {
        reader->key_known = false;
        why = why ? why : read_key(reader, line);
    } else if (!why && (*line.at == '"' || *line.at == '@')) {
        why = read_value(reader, line);
    } else if (!why) {
        why = "the line is neither a key, a value nor a comment";
    }
    if (why)
        report_line(reader, OPL_REG_DAMAGED, number, line, why);
}

static bool span_is(struct span line, const char *text)
{
    size_t count = (size_t)(line.end - line.at);
    return count == strlen(text) && !memcmp(line.at, text, count);
}

/* Reads the header line. A file without a header line is parsed from its first line on, unless
 * `flags` require a header. */
static LSTATUS read_header(struct reader *reader, unsigned flags)
{
    struct span line = {0};
    const char *start = reader->cursor;
    if (take_line(reader, &line)) {
        reader->regedit4 = span_is(line, "REGEDIT4");
        if (reader->regedit4 || span_is(line, HIVE_HEADER))
            return ERROR_SUCCESS;
    }
    if (flags & OPL_REG_STRICT_HEADER)
        return ERROR_NOT_REGISTRY_FILE;
    report_line(reader, OPL_REG_DAMAGED, 1, line, "the first line is not \"" HIVE_HEADER "\"");
    if (line.at < line.end && strchr("[\"@;", *line.at)) {
        reader->cursor = start;
        reader->line = 0;
    }
    return ERROR_SUCCESS;
}

/* Decodes the whole file to UTF-8: into `storage`, or, if `bytes` are UTF-8 already, *ret refers to
 * them. */
static void decode(const char *bytes, size_t size, unsigned flags, struct buffer *storage,
                   struct span *ret)
{
    *ret = (struct span){bytes, bytes + size};
    if (size >= 2 && !memcmp(bytes, "\xff\xfe", 2)) {
        size_t count = (size - 2) / 2, need = utf16_to_8(bytes + 2, count, NULL, 0);
        if (buffer_reserve(storage, need))
            storage->len = utf16_to_8(bytes + 2, count, storage->data, need);
        *ret = (struct span){storage->data, storage->data + storage->len};
    } else if (size >= 3 && !memcmp(bytes, "\xef\xbb\xbf", 3)) {
        ret->at += 3;
    } else if (((flags & OPL_REG_ONE_ENCODING) || (size >= 8 && !memcmp(bytes, "REGEDIT4", 8))) &&
               !utf8_valid(bytes, size)) {
        ansi_add_as_8(storage, bytes, size);
        *ret = (struct span){storage->data, storage->data + storage->len};
    }
}

static LSTATUS reader_done(struct reader *reader, LSTATUS status)
{
    if (reader->no_memory)
        status = ERROR_NOT_ENOUGH_MEMORY;
    buffer_done(&reader->key);
    buffer_done(&reader->name);
    buffer_done(&reader->data);
    buffer_done(&reader->text);
    return status;
}

LSTATUS hive_read(const void *bytes, size_t size, unsigned flags,
                  bool (*each)(void *self, const opl_reg_entry *entry),
                  const struct hive_lazy *lazy, void *self)
{
    BUFFER_AUTO capacity = {0};
    struct span all, line;
    decode(bytes, size, flags, &capacity, &all);
    if (capacity.failed)
        return ERROR_NOT_ENOUGH_MEMORY;
    struct reader reader = {.start = bytes,
                            .cursor = all.at,
                            .end = all.end,
                            .each = each,
                            .lazy = capacity.data ? NULL : lazy,
                            .self = self};
    LSTATUS status = read_header(&reader, flags);
    while (!status && !reader.stopped && take_line(&reader, &line))
        read_line(&reader, line);
    return reader_done(&reader, status);
}

LSTATUS opl_reg_read(const void *bytes, size_t size, unsigned flags,
                     bool (*each)(void *self, const opl_reg_entry *entry), void *self)
{
    return hive_read(bytes, size, flags, each, NULL, self);
}
