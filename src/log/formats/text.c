/* SPDX-License-Identifier: MIT */
/*
 * Reads CSV and TSV as PDH writes them: a head with zone and paths, then a line for each sample;
 * all fields are in quotes, and a quote inside a field is not doubled. Also accepted: UTF-16 in
 * both byte orders, code page 1252, fields without quotes, both kinds of newlines, several heads. A
 * last line without a newline is read only if all its fields are complete. (docs/windows/pdh.md#f8)
 */
#include "log/inner.h"

#include <stdlib.h>

enum { KIND_BYTES = 24 }; /* bytes that suffice to recognise the format, in all encodings */

enum log_encoding { UTF8, UTF16, UTF16_BE, WESTERN };

struct log_text {
    size_t fields; /* number of fields after the time's field */
    enum log_encoding encoding;
    char separator;
    uint64_t head, position; /* offsets of the current head and of the next line */
    uint64_t line_count;     /* number of lines before `position` */
    size_t caption;          /* position of the caption among the fields; SIZE_MAX: none */
    struct buffer line, swapped, caption_text, zone, caption_value;
};

struct text_line {
    const char *start, *end;
    uint64_t offset;
    bool whole; /* the line ends with a newline */
};

struct text_field {
    const char *text;
    size_t size;
    bool closed; /* the field has its closing quote */
};

/* ---- lines ---- */

static bool is_wide(const struct log_text *text)
{
    return text->encoding == UTF16 || text->encoding == UTF16_BE;
}

/* Returns the address of the newline character; NULL: no newline before `end`. */
static const char *find_newline(const struct log_text *text, const char *start, const char *end)
{
    const char *c = start;
    while (c < end && (c = memchr(c, '\n', (size_t)(end - c)))) {
        bool odd = (c - start) % 2;
        if (!is_wide(text))
            return c;
        if (text->encoding == UTF16 && !odd && c + 1 < end && c[1] == '\0')
            return c;
        if (text->encoding == UTF16_BE && odd && c[-1] == '\0')
            return c - 1;
        c++;
    }
    return NULL;
}

static const uint16_t western_80_9f[32] = {
    0x20AC, 0xFFFD, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0xFFFD, 0x017D, 0xFFFD, 0xFFFD, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0xFFFD, 0x017E, 0x0178};

static void add_western(struct buffer *out, const char *bytes, size_t size)
{
    for (size_t i = 0, run = 0; i < size; i++, run = i) {
        while (i < size && !(bytes[i] & 0x80))
            i++;
        buffer_add(out, bytes + run, i - run);
        if (i == size)
            return;
        unsigned char c = (unsigned char)bytes[i];
        uint16_t unit = c < 0xA0 ? western_80_9f[c - 0x80] : c;
        utf16_add_as_8(out, &unit, 1);
    }
}

/* Copies UTF-16 with the bytes of each unit exchanged. NULL: no memory. */
static const char *swap_bytes(struct buffer *out, const char *bytes, size_t size)
{
    buffer_clear(out);
    if (!buffer_reserve(out, size + 1))
        return NULL;
    for (size_t i = 0; i + 1 < size; i += 2) {
        out->data[i] = bytes[i + 1];
        out->data[i + 1] = bytes[i];
    }
    return out->data;
}

static bool add_wide(struct log_text *text, const struct text_line *line, size_t size)
{
    const char *start = line->start;
    if (text->encoding == UTF16_BE)
        start = swap_bytes(&text->swapped, start, size);
    if (start)
        text->line.len = utf16_to_8(start, size / 2, text->line.data, 3 * size);
    return start;
}

/* Converts the line to UTF-8. Returns false if there is no memory. */
static bool decode(struct log_text *text, struct text_line *line)
{
    size_t size = (size_t)(line->end - line->start);
    if (text->encoding == UTF8)
        return true;
    buffer_clear(&text->line);
    if (!buffer_reserve(&text->line, 3 * size + 1))
        return false;
    if (!is_wide(text))
        add_western(&text->line, line->start, size);
    else if (!add_wide(text, line, size))
        return false;
    line->start = text->line.data;
    line->end = text->line.data + text->line.len;
    return true;
}

/* Finds the next line without advancing. At the end of the file the line is incomplete or empty. */
static PDH_STATUS peek_line(struct file *file, struct log_text *text, struct text_line *ret)
{
    size_t have = 0, got = stream_have(&file->stream, text->position);
    file->line = text->line_count + 1;
    const char *newline = NULL;
    const unsigned char *bytes = NULL;
    while (!newline) {
        bytes = stream_at(&file->stream, text->position, got > have ? got : have + 1, &got);
        if (!bytes)
            return file_problem(file, status_to_pdh(file->stream.status), text->position,
                                "cannot be read: %s", status_text(file->stream.status));
        if (got <= have)
            break;
        const char *start = (const char *)bytes;
        /* continue where the last search ended; in UTF-16 at the start of a unit */
        newline = find_newline(text, start + (have & ~(size_t)1), start + got);
        have = got;
        got = stream_have(&file->stream, text->position);
        if (have > LIMIT_RECORD)
            return file_problem(file, (PDH_STATUS)PDH_UNKNOWN_LOG_FORMAT, text->position,
                                "a line of more than %d bytes: not a capture", LIMIT_RECORD);
    }
    *ret = (struct text_line){(const char *)bytes, newline ? newline : (const char *)bytes + have,
                              text->position, newline != NULL};
    return 0;
}

/* Advances past the line returned by peek_line. */
static void pass_line(struct log_text *text, const struct text_line *line)
{
    size_t newline = is_wide(text) ? 2 : 1;
    text->position += (size_t)(line->end - line->start) + (line->whole ? newline : 0);
    text->line_count++;
}

/* ---- fields ---- */

/* Returns the closing quote, which is the first quote before a separator or the line's end. */
static const char *closing_quote(const char *c, const char *end, char separator)
{
    while ((c = memchr(c, '"', (size_t)(end - c)))) {
        if (c + 1 == end || c[1] == separator)
            return c;
        c++;
    }
    return NULL;
}

/* Reads the next field. Returns false if there are no more fields. After the last field *cursor is
 * NULL. */
static bool next_field(const char **cursor, const char *end, char separator, struct text_field *ret)
{
    const char *start = *cursor;
    if (!start)
        return false;
    const char *close = NULL, *after = NULL;
    if (start < end && *start == '"')
        close = closing_quote(start + 1, end, separator);
    if (close) {
        *ret = (struct text_field){start + 1, (size_t)(close - start - 1), true};
        after = close + 1 < end ? close + 1 : NULL;
    } else {
        after = start < end ? memchr(start, separator, (size_t)(end - start)) : NULL;
        *ret = (struct text_field){start, (size_t)((after ? after : end) - start), false};
    }
    *cursor = after ? after + 1 : NULL;
    return true;
}

/* Counts the fields. *ret_closed: the last field has its closing quote. */
static size_t count_fields(const char *cursor, const char *end, char separator, bool *ret_closed)
{
    struct text_field field = {0};
    size_t count = 0;
    while (next_field(&cursor, end, separator, &field))
        count++;
    *ret_closed = field.closed;
    return count;
}

static void trim_return(struct text_line *line)
{
    while (line->end > line->start && line->end[-1] == '\r')
        line->end--;
}

/* ---- the head ---- */

static const char *skip_mark(const char *start, size_t size)
{
    return size >= 3 && memcmp(start, "\xEF\xBB\xBF", 3) == 0 ? start + 3 : start;
}

/* Returns the format if the text begins with "(PDH-CSV" or "(PDH-TSV", with or without a quote; 0
 * if not. An empty line at the start is skipped, because typeperf prints an empty line on a
 * console, and that output is often saved to a file. */
static enum log_kind kind_of(const char *start, const char *end)
{
    start = skip_mark(start, (size_t)(end - start));
    while (start < end && (*start == '\r' || *start == '\n'))
        start++;
    start += start < end && *start == '"';
    if (end - start < 8)
        return 0;
    if (memcmp(start, "(PDH-CSV", 8) == 0)
        return LOG_CSV;
    return memcmp(start, "(PDH-TSV", 8) == 0 ? LOG_TSV : 0;
}

static enum log_encoding wide_of(const unsigned char *start, size_t size)
{
    if (size < 4)
        return UTF8;
    bool low = start[1] == 0 && start[3] == 0 && (start[0] == '"' || start[0] == '(');
    bool high = start[0] == 0 && start[2] == 0 && (start[1] == '"' || start[1] == '(');
    if (low || (start[0] == 0xFF && start[1] == 0xFE))
        return UTF16;
    return high || (start[0] == 0xFE && start[1] == 0xFF) ? UTF16_BE : UTF8;
}

static bool has_wide_mark(const unsigned char *start)
{
    return start[0] >= 0xFE;
}

static size_t narrow(const unsigned char *start, size_t size, bool big, char *out, size_t capacity)
{
    size_t skip = has_wide_mark(start) ? 2 : 0, used = 0;
    for (size_t i = skip; i + 1 < size && used < capacity; i += 2)
        out[used++] = start[i + !big] ? '?' : (char)start[i + big];
    return used;
}

static enum log_kind kind_of_bytes(const unsigned char *start, size_t size)
{
    char text[16];
    enum log_encoding wide = wide_of(start, size);
    if (wide == UTF8)
        return kind_of((const char *)start, (const char *)start + size);
    return kind_of(text, text + narrow(start, size, wide == UTF16_BE, text, sizeof(text)));
}

static bool text_matches(const unsigned char *start, size_t size)
{
    return kind_of_bytes(start, size) != 0;
}

/* Reads zone and minutes, if the text has them, from a text such as "(PDH-CSV 4.0) (Pacific
 * Standard Time)(480)". */
static void read_zone(struct file *file, struct log_text *text, const struct text_field *field)
{
    if (text->zone.data) /* the capture's zone is that of the first head, which was read already */
        return;
    buffer_add(&text->zone, field->text, field->size);
    char *open = text->zone.data ? strchr(text->zone.data, ')') : NULL;
    char *bias = open ? strrchr(open, '(') : NULL;
    open = open ? strchr(open, '(') : NULL;
    if (!open || bias == open || bias[-1] != ')')
        return;
    bias[-1] = '\0';
    file->facts.zone = open + 1;
    file->facts.bias = (LONG)strtol(bias + 1, NULL, 10);
}

static PDH_STATUS add_header_field(struct file *file, struct log_text *text,
                                   const struct text_field *field, size_t number, bool last)
{
    uint32_t column;
    if (last && (field->size == 0 || field->text[0] != '\\')) {
        text->caption = number;
        if (!text->caption_text.data)
            buffer_add(&text->caption_text, field->text, field->size);
        file->facts.caption = text->caption_text.data;
        return 0;
    }
    PDH_STATUS status =
        columns_add_path(&file->log->columns, LOG_COOKED, field->text, field->size, &column);
    return status ? status : file_map_add(file, column);
}

static PDH_STATUS read_header(struct file *file, struct log_text *text, struct text_line *line)
{
    struct text_field field;
    const char *cursor = skip_mark(line->start, (size_t)(line->end - line->start));
    trim_return(line);
    text->separator = file->facts.kind == LOG_TSV ? '\t' : ',';
    file->spot.head = line->offset;
    file->spot.head_line = text->line_count - 1;
    if (!next_field(&cursor, line->end, text->separator, &field))
        return 0;
    bool closed;
    text->fields = count_fields(cursor, line->end, text->separator, &closed);
    read_zone(file, text, &field);
    columns_begin(&file->log->columns);
    file->mapped = 0;
    file->values_fresh = false;
    text->caption = SIZE_MAX;
    PDH_STATUS status = 0;
    for (size_t i = 0; !status && next_field(&cursor, line->end, text->separator, &field); i++)
        status = add_header_field(file, text, &field, i, cursor == NULL);
    return status;
}

static bool is_empty(const struct log_text *text, const struct text_line *line)
{
    for (const char *c = line->start; c < line->end; c++)
        if (*c != '\r' && !(is_wide(text) && !*c))
            return false;
    return true;
}

/* Skips empty lines, and parses the next line as a head. */
static PDH_STATUS pass_header(struct file *file, struct log_text *text)
{
    struct text_line line;
    PDH_STATUS status = peek_line(file, text, &line);
    while (!status && line.whole && is_empty(text, &line)) {
        pass_line(text, &line);
        status = peek_line(file, text, &line);
    }
    if (status)
        return status;
    if (!line.whole)
        return file_problem(
            file, (PDH_STATUS)PDH_UNABLE_READ_LOG_HEADER,
            line.offset + (uint64_t)(line.end - line.start),
            "the file ends inside its first line: it was truncated, or is still being written");
    if (text->encoding == UTF8 && !utf8_valid(line.start, (size_t)(line.end - line.start)))
        text->encoding = WESTERN;
    pass_line(text, &line);
    return decode(text, &line) ? read_header(file, text, &line)
                               : (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
}

static PDH_STATUS text_open(struct file *file)
{
    struct log_text *text = file->state = calloc(1, sizeof(*text));
    if (!text)
        return (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    size_t got;
    const unsigned char *start = stream_at(&file->stream, 0, KIND_BYTES, &got);
    if (!start)
        return status_to_pdh(file->stream.status);
    file->facts.kind = kind_of_bytes(start, got);
    text->encoding = wide_of(start, got);
    text->head = text->position = is_wide(text) && has_wide_mark(start) ? 2 : 0;
    return pass_header(file, text);
}

/* ---- samples ---- */

/* Does the field begin as the pattern, in which 0 stands for any digit? */
static bool begins_like(const struct text_field *field, const char *pattern)
{
    size_t i = 0;
    for (const char *c = field->text; i < field->size && pattern[i]; i++)
        if (pattern[i] == '0' ? c[i] < '0' || c[i] > '9' : c[i] != pattern[i])
            return false;
    return !pattern[i];
}

static WORD number_of(const char *digits, int count)
{
    WORD number = 0;
    while (count-- > 0)
        number = (WORD)(number * 10 + *digits++ - '0');
    return number;
}

/* Parses a time such as "11/26/2016 13:46:30.874". */
static bool read_time(const struct text_field *field, LONGLONG *ret)
{
    const char *c = field->text;
    if (!begins_like(field, "00/00/0000 00:00:00"))
        return false;
    SYSTEMTIME time = {.wYear = number_of(c + 6, 4),
                       .wMonth = number_of(c, 2),
                       .wDay = number_of(c + 3, 2),
                       .wHour = number_of(c + 11, 2),
                       .wMinute = number_of(c + 14, 2),
                       .wSecond = number_of(c + 17, 2)};
    if (begins_like(field, "00/00/0000 00:00:00.000"))
        time.wMilliseconds = number_of(c + 20, 3);
    if (time.wYear < 1601 || time.wMonth < 1 || time.wMonth > 12 || time.wDay < 1 ||
        time.wDay > 31 || time.wHour > 23 || time.wMinute > 59 || time.wSecond > 60)
        return false;
    *ret = clock_filetime_from(&time);
    return true;
}

static bool is_blank(const struct text_field *field)
{
    size_t at = 0;
    while (at < field->size && field->text[at] == ' ')
        at++;
    return at == field->size;
}

static void read_number(struct file *file, size_t entry, const struct text_field *field)
{
    uint32_t number = file->map[entry];
    struct log_value *value = &file->values[number];
    value->kind = LOG_COOKED;
    if (file->log->columns.list[number]->unwanted)
        value->status = PDH_NO_DATA;
    else if (field && number_parse(field->text, field->size, &value->number))
        value->status = PDH_CSTATUS_VALID_DATA;
    else
        value->status = PDH_CSTATUS_INVALID_DATA;
    if (value->status == PDH_CSTATUS_INVALID_DATA && !field)
        file_lose(file, LOSS_TEXT, 1, "missing in line %llu", (unsigned long long)file->line);
    else if (value->status == PDH_CSTATUS_INVALID_DATA && !is_blank(field))
        file_lose(file, LOSS_TEXT, 1, "'%.*s' in line %llu",
                  field->size < 40 ? (int)field->size : 40, field->text,
                  (unsigned long long)file->line);
}

static PDH_STATUS read_fields(struct file *file, struct log_text *text, const char *cursor,
                              const char *end)
{
    struct text_field field = {0};
    size_t entry = 0, number = 0;
    PDH_STATUS status = file_make_values(file);
    if (status)
        return status;
    file->sample.text = NULL;
    for (; number < text->fields && next_field(&cursor, end, text->separator, &field); number++) {
        if (number != text->caption) {
            read_number(file, entry++, &field);
            continue;
        }
        buffer_clear(&text->caption_value);
        buffer_add(&text->caption_value, field.text, field.size);
        file->sample.text = text->caption_value.data ? text->caption_value.data : "";
    }
    while (entry < file->mapped)
        read_number(file, entry++, NULL);
    bool closed;
    size_t surplus = cursor ? count_fields(cursor, end, text->separator, &closed) : 0;
    if (surplus)
        file_lose(file, LOSS_SURPLUS, surplus, "in line %llu", (unsigned long long)file->line);
    return 0;
}

/* True if the line has as many fields as the head and its last field is closed, so that only the
 * newline is missing. */
static bool is_complete(const struct log_text *text, const char *cursor, const char *end)
{
    bool closed;
    return count_fields(cursor, end, text->separator, &closed) == text->fields && closed;
}

static PDH_STATUS torn(struct file *file, const struct text_line *line)
{
    return file_problem(file, (PDH_STATUS)PDH_NO_MORE_DATA, line->offset,
                        "the file ends inside this line, which is skipped");
}

/* Sets the sample's record: the line as it is in the file, without its newline. */
static void take_record(struct file *file, const struct log_text *text, const struct text_line *raw)
{
    static const char returns[][2] = {
        [UTF8] = "\r", [UTF16] = {'\r', 0   },
             [UTF16_BE] = {0,    '\r'},
             [WESTERN] = "\r"
    };
    size_t unit = is_wide(text) ? 2 : 1, size = (size_t)(raw->end - raw->start);
    if (size >= unit && memcmp(raw->end - unit, returns[text->encoding], unit) == 0)
        size -= unit;
    file->sample.record = raw->start;
    file->sample.record_size = size;
}

/* True for the lines that typeperf prints on a console at the end of a capture. */
static bool is_farewell(const struct text_line *line)
{
    static const char *const message[] = {"Exiting, please wait...",
                                          "The command completed successfully."};
    size_t size = (size_t)(line->end - line->start);
    for (size_t i = 0; i < COUNT(message); i++)
        if (size >= strlen(message[i]) && memcmp(line->start, message[i], strlen(message[i])) == 0)
            return true;
    return false;
}

static PDH_STATUS read_sample(struct file *file, struct log_text *text, const struct text_line *raw,
                              const struct text_line *line)
{
    struct text_field field;
    const char *cursor = line->start;
    next_field(&cursor, line->end, text->separator, &field);
    LONGLONG time = 0;
    bool good = read_time(&field, &time);
    if (!line->whole && !(good && is_complete(text, cursor, line->end)))
        return torn(file, line);
    file->spot.at = text->position;
    file->spot.line = text->line_count;
    pass_line(text, raw);
    file->sample.time = time;
    take_record(file, text, raw);
    if (good)
        return file->blind ? 0 : read_fields(file, text, cursor, line->end);
    return file_problem(file, (PDH_STATUS)PDH_BINARY_LOG_CORRUPT, line->offset,
                        "this line does not begin with a time; it is skipped");
}

static PDH_STATUS text_next(struct file *file)
{
    struct log_text *text = file->state;
    for (;;) {
        struct text_line raw, line;
        PDH_STATUS status = peek_line(file, text, &raw);
        if (status)
            return status;
        line = raw;
        if (!decode(text, &line))
            return (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
        trim_return(&line);
        if (line.start < line.end && !kind_of(line.start, line.end) && !is_farewell(&line))
            return read_sample(file, text, &raw, &line);
        if (!raw.whole)
            return line.start < line.end ? torn(file, &line) : (PDH_STATUS)PDH_NO_MORE_DATA;
        pass_line(text, &raw);
        if (line.start < line.end && !is_farewell(&line))
            status = read_header(file, text, &line);
        if (status)
            return status;
    }
}

static PDH_STATUS text_rewind(struct file *file)
{
    struct log_text *text = file->state;
    /* read the first head again, because a later head may be in use */
    text->position = text->head;
    text->line_count = 0;
    return 0;
}

static PDH_STATUS text_jump(struct file *file, const struct spot *spot)
{
    struct log_text *text = file->state;
    PDH_STATUS status = 0;
    if (spot->head != file->spot.head) {
        text->position = spot->head;
        text->line_count = spot->head_line;
        status = pass_header(file, text);
    }
    text->position = spot->at;
    text->line_count = spot->line;
    return status;
}

static void text_close(struct file *file)
{
    struct log_text *text = file->state;
    if (!text)
        return;
    buffer_done(&text->line);
    buffer_done(&text->swapped);
    buffer_done(&text->caption_text);
    buffer_done(&text->caption_value);
    buffer_done(&text->zone);
    free(text);
}

const struct format format_text = {LOG_CSV,    KIND_BYTES, text_matches, text_open,
                                   text_close, text_next,  text_rewind,  text_jump};
