/* SPDX-License-Identifier: MIT */
/* reg add and reg delete. */
#include "reg.h"

#include <stdio.h>
#include <string.h>

static void print_done(void)
{
    puts("The operation completed successfully.");
}

static bool has_value(HKEY key, const char *name)
{
    return RegQueryValueExA(key, name, NULL, NULL, NULL, NULL) == ERROR_SUCCESS;
}

static LSTATUS add_value(const struct reg *reg, HKEY key)
{
    struct value value;
    DWORD type = REG_SZ;
    if (reg->type)
        value_type(reg->type, &type);
    LSTATUS status = value_parse(type, reg->data ? reg->data : "",
                                 reg->separator ? reg->separator : "\\0", &value);
    if (!status && !reg->force && has_value(key, reg->value_name) &&
        !confirmed("Overwrite the value", *reg->value_name ? reg->value_name : "(Default)", "/f"))
        status = ERROR_ALREADY_EXISTS;
    if (!status)
        status = RegSetValueExA(key, reg->value_name, 0, type, value.data, value.size);
    value_done(&value);
    return status;
}

static LSTATUS make_key(const struct named_key *name, HKEY *ret)
{
    REGSAM access = KEY_QUERY_VALUE | KEY_SET_VALUE;
    if (key_open(name, access, ret) == ERROR_SUCCESS)
        return ERROR_SUCCESS;
    return RegCreateKeyExA(name->root, name->path, 0, NULL, 0, access, NULL, ret, NULL);
}

LSTATUS reg_add(const struct reg *reg)
{
    struct named_key name;
    HKEY key = NULL;
    LSTATUS status = key_parse(reg->key_name, &name);
    if (name.is_elsewhere) {
        key_done(&name);
        return complain_elsewhere(reg->key_name);
    }
    status = status ? status : make_key(&name, &key);
    if (!status && (reg->value_name || reg->data)) {
        struct reg plain = *reg;
        plain.value_name = reg->value_name ? reg->value_name : "";
        status = add_value(&plain, key);
    }
    key_close(key);
    key_done(&name);
    if (status == ERROR_ALREADY_EXISTS)
        return status; /* already reported */
    if (status)
        return complain(reg->value_name && *reg->value_name ? reg->value_name : reg->key_name,
                        status);
    print_done();
    return ERROR_SUCCESS;
}

/* ---- deleting ---- */

static LSTATUS delete_all_values(HKEY key)
{
    struct key_names names;
    LSTATUS status = key_names_read(key, true, &names);
    for (size_t i = 0; !status && i < names.count; i++)
        status = RegDeleteValueA(key, names.names[i]);
    key_names_done(&names);
    return status;
}

static LSTATUS delete_values(const struct reg *reg, const struct named_key *name)
{
    HKEY key = NULL;
    LSTATUS status = key_open(name, KEY_QUERY_VALUE | KEY_SET_VALUE, &key);
    if (!status)
        status = reg->all_values ? delete_all_values(key) : RegDeleteValueA(key, reg->value_name);
    key_close(key);
    return status;
}

static LSTATUS delete_named(const struct reg *reg, const struct named_key *name)
{
    bool values = reg->all_values || reg->value_name;
    if (!values && !*name->path) {
        complain(reg->key_name, ERROR_ACCESS_DENIED); /* a root key cannot be deleted */
        return ERROR_ACCESS_DENIED;
    }
    const char *about = reg->value_name && *reg->value_name ? reg->value_name : name->full;
    if (!reg->force && !confirmed("Permanently delete", about, "/f"))
        return ERROR_CANCELLED;
    LSTATUS status = values ? delete_values(reg, name) : RegDeleteTreeA(name->root, name->path);
    if (status)
        complain(about, status);
    else
        print_done();
    return status;
}

LSTATUS reg_delete(const struct reg *reg)
{
    struct named_key name;
    LSTATUS status = key_parse(reg->key_name, &name);
    if (status)
        complain(reg->key_name, status);
    else
        status = name.is_elsewhere ? complain_elsewhere(reg->key_name) : delete_named(reg, &name);
    key_done(&name);
    return status;
}
