/* SPDX-License-Identifier: MIT */
/*
 * An ini file as GetPrivateProfileString reads it (docs/windows/articles.md#c95): sections and keys
 * without regard to case, of equal keys the first, blanks around keys and values stripped, then one
 * pair of quotation marks around a value. A section that occurs twice is continued. Lines that
 * begin with a semicolon are comments; any other line is a key, with or without a value.
 */
#include "loadperf/inner.h"

#include <stdlib.h>
#include <string.h>

/* "text" and 'text' are text; a mark without its counterpart belongs to the value. */
static struct span unquoted(struct span value)
{
    char mark = value.count >= 2 ? *value.at : '\0';
    if ((mark == '"' || mark == '\'') && value.at[value.count - 1] == mark)
        return (struct span){value.at + 1, value.count - 2};
    return value;
}

/* "[text] // remark": text behind the bracket is ignored. */
static bool is_section(struct span line, struct span *ret_name)
{
    if (!line.count || *line.at != '[')
        return false;
    const char *end = memchr(line.at, ']', line.count);
    size_t count = (end ? (size_t)(end - line.at) : line.count) - 1;
    *ret_name = span_trim((struct span){line.at + 1, count});
    return true;
}

static bool add_line(struct ini *ini, struct span section, struct span line, unsigned number)
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
        entry.key = span_trim((struct span){line.at, (size_t)(equals - line.at)});
        entry.value = unquoted(
            span_trim((struct span){equals + 1, line.count - (size_t)(equals + 1 - line.at)}));
    }
    if (!list_grow(&ini->entries, ini->count, &ini->capacity, sizeof *ini->entries))
        return false;
    ini->entries[ini->count++] = entry;
    return true;
}

/* A NUL character would end texts in later steps; in a line it becomes a blank. */
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
    struct span rest = {ret->text.data, ret->text.len}, line, section = {"", 0};
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
