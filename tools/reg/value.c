/* SPDX-License-Identifier: MIT */
/* Values: reads them, prints them as Windows' reg does, and parses them from the command line. */
#include "reg.h"

#include "../view/view.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- reading ---- */

enum { FIRST_SIZE = 65536, MOST_SIZE = 1 << 30 };

/* Reads a value. For an ordinary value the first query returns the size; for performance data it
 * returns only that the buffer is too small. */
LSTATUS value_read(HKEY key, const char *name, struct value *ret)
{
    DWORD capacity = 0;
    LSTATUS status = RegQueryValueExA(key, name, NULL, &ret->type, NULL, &capacity);
    *ret = (struct value){0};
    if (status && status != ERROR_MORE_DATA)
        return status;
    for (capacity = capacity ? capacity : FIRST_SIZE;;
         capacity = ret->size > capacity ? ret->size : capacity * 2) {
        free(ret->data);
        ret->data = malloc((size_t)capacity + 1);
        ret->size = capacity;
        if (!ret->data || capacity > MOST_SIZE)
            return ERROR_OUTOFMEMORY;
        status = RegQueryValueExA(key, name, NULL, &ret->type, ret->data, &ret->size);
        if (status != ERROR_MORE_DATA)
            return status;
    }
}

void value_done(struct value *value)
{
    free(value->data);
    value->data = NULL;
}

/* ---- showing ---- */

static const struct {
    const char *name;
    DWORD type;
} types[] = {
    {"REG_SZ",                         REG_SZ                        },
    {"REG_NONE",                       REG_NONE                      },
    {"REG_EXPAND_SZ",                  REG_EXPAND_SZ                 },
    {"REG_BINARY",                     REG_BINARY                    },
    {"REG_DWORD",                      REG_DWORD                     },
    {"REG_DWORD_LITTLE_ENDIAN",        REG_DWORD                     },
    {"REG_DWORD_BIG_ENDIAN",           REG_DWORD_BIG_ENDIAN          },
    {"REG_LINK",                       REG_LINK                      },
    {"REG_MULTI_SZ",                   REG_MULTI_SZ                  },
    {"REG_RESOURCE_LIST",              REG_RESOURCE_LIST             },
    {"REG_FULL_RESOURCE_DESCRIPTOR",   REG_FULL_RESOURCE_DESCRIPTOR  },
    {"REG_RESOURCE_REQUIREMENTS_LIST", REG_RESOURCE_REQUIREMENTS_LIST},
    {"REG_QWORD",                      REG_QWORD                     },
    {"REG_QWORD_LITTLE_ENDIAN",        REG_QWORD                     },
};
enum { TYPE_COUNT = sizeof types / sizeof *types };

bool value_type(const char *name, DWORD *ret)
{
    for (size_t i = 0; i < TYPE_COUNT; i++)
        if (!strcasecmp(types[i].name, name) || !strcasecmp(types[i].name + 4, name)) {
            *ret = types[i].type;
            return true;
        }
    return false;
}

static void print_type(DWORD type)
{
    for (size_t i = 0; i < TYPE_COUNT; i++)
        if (types[i].type == type) {
            fputs(types[i].name, stdout);
            return;
        }
    printf("0x%x", (unsigned)type);
}

/* Prints a text without its terminators; the strings of a multi-string are joined by \0. */
static void print_text(const struct value *value, bool multi)
{
    char *at = (char *)value->data, *end = at + value->size;
    while (end > at && !end[-1])
        end--;
    *end = '\0'; /* value_read allocates one byte more */
    for (text_put(stdout, at); multi && (at += strlen(at)) < end; text_put(stdout, ++at))
        fputs("\\0", stdout);
}

static void print_data(const struct value *value)
{
    uint64_t number = 0;
    bool dword = value->type == REG_DWORD && value->size == 4;
    bool big = value->type == REG_DWORD_BIG_ENDIAN && value->size == 4;
    if (value->type == REG_SZ || value->type == REG_EXPAND_SZ || value->type == REG_MULTI_SZ) {
        print_text(value, value->type == REG_MULTI_SZ);
    } else if (dword || big || (value->type == REG_QWORD && value->size == 8)) {
        for (DWORD i = 0; i < value->size; i++)
            number = number << 8 | value->data[big ? i : value->size - 1 - i];
        printf("0x%llx", (unsigned long long)number);
    } else {
        for (DWORD i = 0; i < value->size; i++)
            printf("%02X", value->data[i]);
    }
}

void value_print(const char *name, const struct value *value)
{
    fputs("    ", stdout);
    text_put(stdout, *name ? name : "(Default)");
    fputs("    ", stdout);
    print_type(value->type);
    fputs("    ", stdout);
    print_data(value);
    putchar('\n');
}

/* ---- from the command line ---- */

static LSTATUS take(struct value *value, const void *data, size_t size)
{
    value->data = malloc(size + 2);
    if (!value->data)
        return ERROR_OUTOFMEMORY;
    memcpy(value->data, data, size);
    value->size = (DWORD)size;
    return ERROR_SUCCESS;
}

static LSTATUS parse_number(const char *text, size_t size, bool big, struct value *ret)
{
    unsigned char bytes[8];
    char *end;
    errno = 0;
    bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    unsigned long long number = strtoull(text, &end, hex ? 16 : 10);
    if (!isdigit((unsigned char)*text) || *end || errno || (size == 4 && number > UINT32_MAX))
        return ERROR_UNSUPPORTED_TYPE;
    for (size_t i = 0; i < size; i++)
        bytes[big ? size - 1 - i : i] = (unsigned char)(number >> (8 * i));
    return take(ret, bytes, size);
}

static LSTATUS parse_bytes(const char *text, struct value *ret)
{
    size_t count = strlen(text);
    LSTATUS status = take(ret, text, count / 2);
    if (status || count % 2)
        return status ? status : ERROR_UNSUPPORTED_TYPE;
    for (size_t i = 0; i < count / 2; i++) {
        char digits[3] = {text[2 * i], text[2 * i + 1], 0};
        if (!isxdigit((unsigned char)digits[0]) || !isxdigit((unsigned char)digits[1]))
            return ERROR_UNSUPPORTED_TYPE;
        ret->data[i] = (unsigned char)strtoul(digits, NULL, 16);
    }
    return ERROR_SUCCESS;
}

/* Parses a multi-string: each separator becomes a terminator; one more terminator ends the list. */
static LSTATUS parse_multi(const char *text, const char *separator, struct value *ret)
{
    size_t step = strlen(separator);
    LSTATUS status = take(ret, text, strlen(text));
    if (status || !step)
        return status ? status : ERROR_UNSUPPORTED_TYPE;
    ret->size = 0;
    while (*text) {
        bool at_end = !strncmp(text, separator, step);
        ret->data[ret->size++] = at_end ? 0 : (unsigned char)*text;
        text += at_end ? step : 1;
    }
    if (ret->size && ret->data[ret->size - 1])
        ret->data[ret->size++] = 0;
    ret->data[ret->size++] = 0;
    return ERROR_SUCCESS;
}

LSTATUS value_parse(DWORD type, const char *text, const char *separator, struct value *ret)
{
    *ret = (struct value){.type = type};
    switch (type) {
    case REG_SZ:
    case REG_EXPAND_SZ:
        return take(ret, text, strlen(text) + 1);
    case REG_MULTI_SZ:
        return parse_multi(text, separator, ret);
    case REG_DWORD:
    case REG_DWORD_BIG_ENDIAN:
        return parse_number(*text ? text : "0", 4, type == REG_DWORD_BIG_ENDIAN, ret);
    case REG_QWORD:
        return parse_number(*text ? text : "0", 8, false, ret);
    default:
        return parse_bytes(text, ret);
    }
}

/* ---- lists of names ---- */

enum { LONGEST_NAME = 16384 * 3 };

static LSTATUS add_name(struct key_names *names, const char *name)
{
    char **more = reallocarray(names->names, names->count + 1, sizeof *more);
    if (!more)
        return ERROR_OUTOFMEMORY;
    names->names = more;
    more[names->count] = strdup(name);
    return more[names->count++] ? ERROR_SUCCESS : ERROR_OUTOFMEMORY;
}

/* Lists the values of performance keys, which cannot be enumerated; these values always exist. */
static LSTATUS performance_names(HKEY key, struct key_names *ret)
{
    bool data = key == HKEY_PERFORMANCE_DATA;
    LSTATUS status = add_name(ret, data ? "Global" : "Counter");
    return status ? status : add_name(ret, data ? "Costly" : "Help");
}

LSTATUS key_names_read(HKEY key, bool values, struct key_names *ret)
{
    static char name[LONGEST_NAME];
    LSTATUS status = ERROR_SUCCESS;
    *ret = (struct key_names){0};
    if (values && (key == HKEY_PERFORMANCE_DATA || key == HKEY_PERFORMANCE_TEXT ||
                   key == HKEY_PERFORMANCE_NLSTEXT))
        return performance_names(key, ret);
    for (DWORD i = 0; !status; i++) {
        DWORD size = sizeof name;
        status = values ? RegEnumValueA(key, i, name, &size, NULL, NULL, NULL, NULL)
                        : RegEnumKeyExA(key, i, name, &size, NULL, NULL, NULL, NULL);
        if (!status)
            status = add_name(ret, name);
    }
    return status == ERROR_NO_MORE_ITEMS ? ERROR_SUCCESS : status;
}

void key_names_done(struct key_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->names[i]);
    free(names->names);
}
