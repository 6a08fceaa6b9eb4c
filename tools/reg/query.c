/* SPDX-License-Identifier: MIT */
/* reg query: a key's values and subkeys, printed as Windows prints them. */
#include "reg.h"

#include "../view/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct showing {
    const struct reg *reg;
    DWORD type; /* the type to show, with /t */
    unsigned shown;
};

static void print_key(const char *before, const char *full)
{
    fputs(before, stdout);
    text_put(stdout, full);
    putchar('\n');
}

static LSTATUS show_value(struct showing *showing, HKEY key, const char *full, const char *name)
{
    struct value value;
    LSTATUS status = value_read(key, name, &value);
    if (status == ERROR_FILE_NOT_FOUND && full && !*name && !showing->reg->recursive) {
        print_key("\n", full);
        puts("    (Default)    REG_SZ    (value not set)");
        showing->shown++;
        status = ERROR_SUCCESS;
    } else if (!status && (!showing->reg->type || value.type == showing->type)) {
        if (full)
            print_key("\n", full);
        value_print(name, &value);
        showing->shown++;
    }
    value_done(&value);
    return status;
}

/* Prints the key's values. Like Windows, prints no line for the key itself if it has no values. */
static LSTATUS show_values(struct showing *showing, HKEY key, const char *full)
{
    struct key_names names;
    const char *head = showing->reg->type ? full : NULL; /* with /t the key's line is printed at
                                                          * its first match */
    LSTATUS status = key_names_read(key, true, &names);
    if (!status && !head && (names.count || showing->reg->recursive))
        print_key("\n", full);
    for (size_t i = 0; !status && i < names.count; i++) {
        unsigned before = showing->shown;
        status = show_value(showing, key, head, names.names[i]);
        head = showing->shown > before ? NULL : head;
        if (status == ERROR_FILE_NOT_FOUND)
            status = ERROR_SUCCESS; /* the value was deleted meanwhile */
    }
    key_names_done(&names);
    return status;
}

static LSTATUS show_key(struct showing *showing, HKEY key, const char *full);

static char *path_below(const char *full, const char *name)
{
    size_t capacity = strlen(full) + strlen(name) + 2;
    char *path = malloc(capacity);
    if (path)
        snprintf(path, capacity, "%s\\%s", full, name);
    return path;
}

/* Prints the subkey's name; with /s its values and subkeys, too. */
static LSTATUS show_below(struct showing *showing, HKEY key, const char *full, const char *name)
{
    HKEY sub = NULL;
    bool opens = showing->reg->recursive;
    char *path = path_below(full, name);
    LSTATUS status = !path   ? ERROR_OUTOFMEMORY
                     : opens ? RegOpenKeyExA(key, name, 0, KEY_READ, &sub)
                             : ERROR_SUCCESS;
    if (!status && opens)
        status = show_key(showing, sub, path);
    else if (!status)
        print_key("", path);
    key_close(sub);
    free(path);
    return status == ERROR_KEY_DELETED || status == ERROR_FILE_NOT_FOUND ? ERROR_SUCCESS : status;
}

static LSTATUS show_subkeys(struct showing *showing, HKEY key, const char *full)
{
    struct key_names names;
    LSTATUS status = key_names_read(key, false, &names);
    if (status == ERROR_INVALID_HANDLE) /* HKEY_PERFORMANCE_DATA has no subkeys */
        status = ERROR_SUCCESS;
    bool named_only = showing->reg->value_name && !showing->reg->recursive;
    if (names.count && !showing->reg->recursive && !named_only)
        putchar('\n');
    for (size_t i = 0; !status && !named_only && i < names.count; i++)
        status = show_below(showing, key, full, names.names[i]);
    showing->shown += !named_only && !showing->reg->recursive && names.count > 0;
    key_names_done(&names);
    return status;
}

/* Prints a key and its subkeys. With /v, a key is printed only if it has the value; it is no error
 * if subkeys lack the value. */
static LSTATUS show_key(struct showing *showing, HKEY key, const char *full)
{
    LSTATUS status;
    const char *name = showing->reg->value_name;
    if (name) {
        status = show_value(showing, key, full, name);
        if (status == ERROR_FILE_NOT_FOUND && showing->reg->recursive)
            status = ERROR_SUCCESS;
    } else {
        status = show_values(showing, key, full);
    }
    return status ? status : show_subkeys(showing, key, full);
}

LSTATUS reg_query(const struct reg *reg)
{
    struct named_key name;
    struct showing showing = {.reg = reg};
    HKEY key = NULL;
    if (reg->type)
        value_type(reg->type, &showing.type);
    LSTATUS status = key_parse(reg->key_name, &name);
    status = status ? status : key_open(&name, KEY_READ, &key);
    status = status ? status : show_key(&showing, key, name.full);
    if (!status && reg->value_name && !showing.shown)
        status = ERROR_FILE_NOT_FOUND;
    if (!status || showing.shown)
        putchar('\n');
    key_close(key);
    key_done(&name);
    return status ? complain(reg->key_name, status) : status;
}
