/* SPDX-License-Identifier: MIT */
/*
 * Reads an ini file by the rules of GetPrivateProfileString (docs/windows/articles.md#c95): case
 * does not matter in names of sections and keys, the first of several equal keys counts, and blanks
 * around keys and values are removed, then one pair of quotation marks around a value. A section
 * that occurs twice is continued. Lines that begin with a semicolon are comments; any other line is
 * a key, with or without a value.
 */
#include "loadperf/inner.h"

#include <errno.h>
#include <iconv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- encodings ---- */

/* The encodings of ini and symbol files: UTF-16 in both orders with or without mark, UTF-8 with or
 * without mark; everything else is in a code page, which in an ini file depends on the language of
 * each text. */

/* ---- detection ---- */

enum encoding { BYTES, UTF8_MARKED, UTF16_LITTLE, UTF16_BIG };

/* Returns the encoding. Ini and symbol files begin with ASCII (a bracket, a semicolon, #, a
 * newline), so even without a byte order mark the first two bytes show whether the file is UTF-16.
 * *ret_mark: size of the mark. */
static enum encoding encoding_of(const unsigned char *bytes, size_t size, size_t *ret_mark)
{
    *ret_mark = 0;
    if (size >= 3 && !memcmp(bytes, "\xef\xbb\xbf", 3)) {
        *ret_mark = 3;
        return UTF8_MARKED;
    }
    if (size < 2)
        return BYTES;
    bool little = bytes[0] == 0xff && bytes[1] == 0xfe, big = bytes[0] == 0xfe && bytes[1] == 0xff;
    *ret_mark = little || big ? 2 : 0;
    if (little || (bytes[0] && !bytes[1]))
        return UTF16_LITTLE;
    return big || (!bytes[0] && bytes[1]) ? UTF16_BIG : BYTES;
}

static LSTATUS from_utf16(const unsigned char *bytes, size_t size, bool big, struct buffer *ret)
{
    BUFFER_AUTO units = {0};
    for (size_t i = 0; i + 1 < size; i += 2) {
        uint16_t unit =
            (uint16_t)(big ? bytes[i] << 8 | bytes[i + 1] : bytes[i + 1] << 8 | bytes[i]);
        buffer_add(&units, &unit, sizeof unit);
    }
    if (units.failed)
        return ERROR_NOT_ENOUGH_MEMORY;
    size_t need = utf16_to_8(units.data, units.len / 2, NULL, 0);
    if (!buffer_reserve(ret, need + 1))
        return ERROR_NOT_ENOUGH_MEMORY;
    ret->len = utf16_to_8(units.data, units.len / 2, ret->data, need);
    ret->data[ret->len] = '\0';
    return ERROR_SUCCESS;
}

LSTATUS decode_file(const void *bytes, size_t size, struct buffer *ret, bool *ret_raw)
{
    size_t mark;
    enum encoding encoding = encoding_of(bytes, size, &mark);
    const unsigned char *text = bytes;
    buffer_clear(ret);
    *ret_raw = false;
    if (encoding == UTF16_LITTLE || encoding == UTF16_BIG)
        return from_utf16(text + mark, size - mark, encoding == UTF16_BIG, ret);
    *ret_raw = encoding == BYTES && !utf8_valid(bytes, size);
    buffer_add(ret, text + mark, size - mark);
    buffer_add(ret, "", 0);
    return buffer_status(ret);
}

/* ---- code pages ---- */

/* Languages whose ANSI code page is not 1252. */
static const struct {
    uint16_t language, page;
} pages[] = {
    {0x001, 1256},
    {0x002, 1251},
    {0x004, 936 },
    {0x404, 950 },
    {0x804, 936 },
    {0x005, 1250},
    {0x008, 1253},
    {0x00d, 1255},
    {0x00e, 1250},
    {0x011, 932 },
    {0x012, 949 },
    {0x015, 1250},
    {0x018, 1250},
    {0x019, 1251},
    {0x01a, 1250},
    {0x01b, 1250},
    {0x01c, 1250},
    {0x01e, 874 },
    {0x01f, 1254},
    {0x020, 1256},
    {0x022, 1251},
    {0x023, 1251},
    {0x024, 1250},
    {0x025, 1257},
    {0x026, 1257},
    {0x027, 1257},
    {0x029, 1256},
    {0x02a, 1258},
    {0x02c, 1254},
    {0x02f, 1251},
    {0x03f, 1251},
    {0x040, 1251},
    {0x043, 1254},
    {0x044, 1251},
    {0x050, 1251},
};

unsigned decode_code_page(uint32_t language)
{
    for (size_t i = 0; i < COUNT(pages); i++)
        if (pages[i].language == language)
            return pages[i].page;
    return 1252;
}

/* Writes the C library's name for a code page, which Windows identifies by a number. */
static void page_name(unsigned page, char name[static 24])
{
    if (page >= 28591 && page <= 28605)
        snprintf(name, 24, "ISO-8859-%u", page - 28590);
    else if (page == 20866 || page == 21866)
        snprintf(name, 24, page == 20866 ? "KOI8-R" : "KOI8-U");
    else if (page == 65001)
        snprintf(name, 24, "UTF-8");
    else
        snprintf(name, 24, "CP%u", page);
}

static bool is_ascii(struct text_span text)
{
    for (size_t i = 0; i < text.count; i++)
        if ((unsigned char)text.at[i] >= 0x80)
            return false;
    return true;
}

static LSTATUS convert(iconv_t page, struct text_span text, struct buffer *ret, bool *ret_bad)
{
    char *in = (char *)text.at, capacity[512];
    size_t in_left = text.count;
    while (in_left) {
        char *out = capacity;
        size_t out_left = sizeof capacity;
        size_t result = iconv(page, &in, &in_left, &out, &out_left);
        int error = result == (size_t)-1 ? errno : 0;
        buffer_add(ret, capacity, sizeof capacity - out_left);
        if (error != EILSEQ && error != EINVAL)
            continue;
        buffer_add_text(ret, "\xef\xbf\xbd");
        *ret_bad = true;
        in++;
        in_left--;
        iconv(page, NULL, NULL, NULL, NULL);
    }
    return buffer_status(ret);
}

LSTATUS decode_text(struct text_span text, unsigned code_page, struct buffer *ret, bool *ret_bad)
{
    char name[24];
    int saved = errno;
    *ret_bad = false;
    if (is_ascii(text)) {
        buffer_add(ret, text.at, text.count);
        return buffer_status(ret);
    }
    page_name(code_page, name);
    iconv_t page = iconv_open("UTF-8", name);
    if (page == (iconv_t)-1) {
        errno = saved;
        return ERROR_NOT_SUPPORTED;
    }
    LSTATUS status = convert(page, text, ret, ret_bad);
    iconv_close(page);
    errno = saved;
    return status;
}

/* ---- lines ---- */

enum { CTRL_Z = 0x1a };

/* Reads the next line from *rest; a line ends with CRLF, LF or CR, and Ctrl-Z ends the file. False:
 * no more lines. */
static bool decode_line(struct text_span *rest, struct text_span *ret)
{
    if (!rest->count || *rest->at == CTRL_Z)
        return false;
    size_t count = 0;
    while (count < rest->count && !memchr("\r\n\x1a", rest->at[count], 3))
        count++;
    *ret = (struct text_span){rest->at, count};
    size_t end = count;
    if (end < rest->count && rest->at[end] != CTRL_Z)
        end += rest->at[end] == '\r' && end + 1 < rest->count && rest->at[end + 1] == '\n' ? 2 : 1;
    rest->at += end;
    rest->count -= end;
    return true;
}

/* ---- ini files ---- */

/* Removes one pair of quotation marks, as in "text" and 'text'; a single mark belongs to the
 * value. */
static struct text_span unquoted(struct text_span value)
{
    char mark = value.count >= 2 ? *value.at : '\0';
    if ((mark == '"' || mark == '\'') && value.at[value.count - 1] == mark)
        return (struct text_span){value.at + 1, value.count - 2};
    return value;
}

/* True for a line like "[NAME] // remark"; text after the bracket is ignored. */
static bool is_section(struct text_span line, struct text_span *ret_name)
{
    if (!line.count || *line.at != '[')
        return false;
    const char *end = memchr(line.at, ']', line.count);
    size_t count = (end ? (size_t)(end - line.at) : line.count) - 1;
    *ret_name = span_trim((struct text_span){line.at + 1, count});
    return true;
}

static bool add_line(struct ini *ini, struct text_span section, struct text_span line,
                     unsigned number)
{
    const char *equals = memchr(line.at, '=', line.count);
    struct ini_entry entry = {
        .section = section,
        .key = line,
        .value = {line.at + line.count, 0},
        .line = number,
        .order = (unsigned)ini->count,
        .has_value = equals != NULL
    };
    if (equals) {
        entry.key = span_trim((struct text_span){line.at, (size_t)(equals - line.at)});
        entry.value = unquoted(
            span_trim((struct text_span){equals + 1, line.count - (size_t)(equals + 1 - line.at)}));
    }
    if (!list_grow(&ini->entries, ini->count, &ini->capacity, sizeof *ini->entries))
        return false;
    ini->entries[ini->count++] = entry;
    return true;
}

/* Replaces NUL characters by blanks, because they would end texts in later steps. */
static void blank_zeros(struct buffer *text)
{
    for (size_t i = 0; i < text->len; i++)
        if (!text->data[i])
            text->data[i] = ' ';
}

LSTATUS ini_parse(const void *bytes, size_t size, struct ini *ret)
{
    *ret = (struct ini){0};
    LSTATUS status = decode_file(bytes, size, &ret->text, &ret->raw);
    if (status)
        return status;
    blank_zeros(&ret->text);
    struct text_span rest = {ret->text.data, ret->text.len}, line, section = {"", 0};
    for (unsigned number = 1; decode_line(&rest, &line); number++) {
        line = span_trim(line);
        if (!line.count || *line.at == ';' || is_section(line, &section))
            continue;
        if (!add_line(ret, section, line, number))
            return ERROR_NOT_ENOUGH_MEMORY;
    }
    return ERROR_SUCCESS;
}

void ini_done(struct ini *ini)
{
    buffer_done(&ini->text);
    free(ini->entries);
    *ini = (struct ini){0};
}

const struct ini_entry *ini_find(const struct ini *ini, const char *section, const char *key)
{
    for (size_t i = 0; i < ini->count; i++)
        if (span_is(ini->entries[i].section, section) && span_is(ini->entries[i].key, key))
            return &ini->entries[i];
    return NULL;
}

/* ---- symbols ---- */

/*
 * Reads symbol files, which are real C headers (docs/windows/articles.md#c64,
 * docs/windows/articles.md#c98): only lines of the form "#define NAME number" are used, with the
 * number as atol() reads it. Comments count as blanks, as in C.
 */

static bool is_line_end(char character)
{
    return character == '\n' || character == '\r';
}

/* Returns the end of a text in quotation marks, which begins at `at`. */
static char *end_of_quoted(char *at, const char *end)
{
    char quote = *at++;
    for (; at < end && *at != quote && !is_line_end(*at); at++)
        if (*at == '\\' && at + 1 < end && at[1] && !is_line_end(at[1]))
            at++;
    return at < end ? at + 1 : at;
}

/* Replaces the comment at `at` by blanks, but for its newlines; returns its end. */
static char *blank_comment(char *at, const char *end)
{
    bool block = at[1] == '*';
    at[0] = at[1] = ' ';
    for (at += 2; at < end && (block || !is_line_end(*at)); at++) {
        if (block && *at == '*' && at + 1 < end && at[1] == '/') {
            at[0] = at[1] = ' ';
            return at + 2;
        }
        if (!is_line_end(*at))
            *at = ' ';
    }
    return at;
}

/* Replaces comments by blanks. Newlines and texts in quotation marks are not changed. */
static void blank_comments(char *text, size_t size)
{
    const char *end = text + size;
    for (char *at = text; at < end;)
        if (*at == '"' || *at == '\'')
            at = end_of_quoted(at, end);
        else if (*at == '/' && at + 1 < end && (at[1] == '/' || at[1] == '*'))
            at = blank_comment(at, end);
        else
            at++;
}

static bool is_name_start(char character)
{
    return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
           character == '_' || (unsigned char)character >= 0x80;
}

static bool is_digit(char character)
{
    return character >= '0' && character <= '9';
}

static struct text_span take(struct text_span *line, size_t count)
{
    struct text_span taken = {line->at, count};
    line->at += count;
    line->count -= count;
    *line = span_trim(*line);
    return taken;
}

static size_t name_length(struct text_span line)
{
    size_t count = 0;
    if (!line.count || !is_name_start(*line.at))
        return 0;
    while (count < line.count && (is_name_start(line.at[count]) || is_digit(line.at[count])))
        count++;
    return count;
}

/* Reads a number like atol: a sign and digits; the rest is ignored. A number that is too large
 * becomes a value above INT32_MAX. False: it is not a number, or hexadecimal; atol would read that
 * as 0, and several counters would get the same offset. */
static bool read_number(struct text_span text, int64_t *ret)
{
    size_t at = 0;
    bool negative = text.count && *text.at == '-';
    at += negative || (text.count && *text.at == '+');
    if (at == text.count || !is_digit(text.at[at]))
        return false;
    if (text.at[at] == '0' && at + 1 < text.count && (text.at[at + 1] | 0x20) == 'x')
        return false;
    *ret = 0;
    for (; at < text.count && is_digit(text.at[at]); at++)
        *ret = *ret > INT32_MAX ? *ret : *ret * 10 + (text.at[at] - '0');
    *ret = negative ? -*ret : *ret;
    return true;
}

/* Reads a line like "#define NAME 4"; false if the line is anything else, for example a macro with
 * parameters. */
static bool read_define(struct text_span line, struct symbol *ret)
{
    line = span_trim(line);
    if (!line.count || *line.at != '#')
        return false;
    take(&line, 1);
    size_t word = name_length(line);
    if (word != 6 || memcmp(line.at, "define", 6))
        return false;
    const char *after = line.at + word;
    if (after < line.at + line.count && *after != ' ' && *after != '\t')
        return false;
    take(&line, word);
    size_t count = name_length(line);
    bool plain = count && (count == line.count || line.at[count] == ' ' || line.at[count] == '\t');
    if (!plain)
        return false;
    ret->name = take(&line, count);
    ret->text = line;
    ret->value = 0;
    ret->is_number = read_number(line, &ret->value);
    return line.count > 0;
}

static int compare_symbols(const void *left, const void *right)
{
    const struct symbol *l = left, *r = right;
    int order = span_compare(l->name, r->name);
    return order ? order : l->order < r->order ? -1 : l->order > r->order;
}

LSTATUS symbols_parse(const void *bytes, size_t size, struct symbols *ret)
{
    bool raw;
    *ret = (struct symbols){0};
    LSTATUS status = decode_file(bytes, size, &ret->text, &raw);
    if (status)
        return status;
    blank_comments(ret->text.data, ret->text.len);
    struct text_span rest = {ret->text.data, ret->text.len}, line;
    for (unsigned number = 1; decode_line(&rest, &line); number++) {
        struct symbol symbol = {.line = number, .order = (unsigned)ret->count};
        if (!read_define(line, &symbol))
            continue;
        if (!list_grow(&ret->list, ret->count, &ret->capacity, sizeof *ret->list))
            return ERROR_NOT_ENOUGH_MEMORY;
        ret->list[ret->count++] = symbol;
    }
    if (ret->count)
        qsort(ret->list, ret->count, sizeof *ret->list, compare_symbols);
    return ERROR_SUCCESS;
}

void symbols_done(struct symbols *symbols)
{
    buffer_done(&symbols->text);
    free(symbols->list);
    *symbols = (struct symbols){0};
}

const struct symbol *symbols_find(const struct symbols *symbols, struct text_span name)
{
    size_t low = 0, high = symbols->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (span_compare(symbols->list[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    const struct symbol *first = NULL;
    for (; low < symbols->count && !span_compare(symbols->list[low].name, name); low++) {
        const struct symbol *symbol = &symbols->list[low];
        if (symbol->name.count == name.count && !memcmp(symbol->name.at, name.at, name.count))
            return symbol;
        first = first ? first : symbol;
    }
    return first;
}
