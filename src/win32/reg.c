/* SPDX-License-Identifier: MIT */
/*
 * The registry functions. Those in A take UTF-8, those in W convert their names to UTF-8; both call
 * the same function of registry/registry.h.
 */
#include "registry/registry.h"
#include "win32/text.h"

#include <string.h>

/* ---- opening and creating ---- */

static LSTATUS open_key(HKEY key, const char *sub, REGSAM access, PHKEY result)
{
    return result ? key_open(key, sub, access, result) : ERROR_INVALID_PARAMETER;
}

LSTATUS RegOpenKeyExA(HKEY key, LPCSTR sub, DWORD options, REGSAM access, PHKEY result)
{
    return open_key(key, sub, access, result);
}

LSTATUS RegOpenKeyExW(HKEY key, LPCWSTR sub, DWORD options, REGSAM access, PHKEY result)
{
    NAME_AUTO name;
    LSTATUS status = narrow(sub, &name);
    return status ? status : open_key(key, name.text, access, result);
}

/* Opens the subkey for the old functions: without a name they return `key` itself, as on
 * Windows. */
static LSTATUS open_old(HKEY key, const char *sub, PHKEY result)
{
    LSTATUS status = open_key(key, sub, MAXIMUM_ALLOWED, result);
    if (status || (sub && *sub))
        return status;
    key_close(*result);
    *result = key;
    return ERROR_SUCCESS;
}

LSTATUS RegOpenKeyA(HKEY key, LPCSTR sub, PHKEY result)
{
    return open_old(key, sub, result);
}

LSTATUS RegOpenKeyW(HKEY key, LPCWSTR sub, PHKEY result)
{
    NAME_AUTO name;
    LSTATUS status = narrow(sub, &name);
    return status ? status : open_old(key, name.text, result);
}

static LSTATUS create_key(HKEY key, const char *sub, DWORD reserved, DWORD options, REGSAM access,
                          PHKEY result, LPDWORD disposition)
{
    bool existed = false;
    if (!result || !sub || reserved)
        return ERROR_INVALID_PARAMETER;
    if (options & (REG_OPTION_VOLATILE | REG_OPTION_CREATE_LINK))
        /* docs/registry.md explains why this function is not supported */
        return ERROR_NOT_SUPPORTED;
    LSTATUS status = key_create(key, sub, access, result, &existed);
    if (!status && disposition)
        *disposition = existed ? REG_OPENED_EXISTING_KEY : REG_CREATED_NEW_KEY;
    return status;
}

LSTATUS RegCreateKeyExA(HKEY key, LPCSTR sub, DWORD reserved, LPSTR class_name, DWORD options,
                        REGSAM access, LPSECURITY_ATTRIBUTES security, PHKEY result,
                        LPDWORD disposition)
{
    return create_key(key, sub, reserved, options, access, result, disposition);
}

LSTATUS RegCreateKeyExW(HKEY key, LPCWSTR sub, DWORD reserved, LPWSTR class_name, DWORD options,
                        REGSAM access, LPSECURITY_ATTRIBUTES security, PHKEY result,
                        LPDWORD disposition)
{
    NAME_AUTO name;
    LSTATUS status = narrow(sub, &name);
    return status ? status
                  : create_key(key, name.text, reserved, options, access, result, disposition);
}

static LSTATUS create_old(HKEY key, const char *sub, PHKEY result)
{
    if (!sub || !*sub)
        return open_old(key, sub, result);
    return create_key(key, sub, 0, 0, MAXIMUM_ALLOWED, result, NULL);
}

LSTATUS RegCreateKeyA(HKEY key, LPCSTR sub, PHKEY result)
{
    return create_old(key, sub, result);
}

LSTATUS RegCreateKeyW(HKEY key, LPCWSTR sub, PHKEY result)
{
    NAME_AUTO name;
    LSTATUS status = narrow(sub, &name);
    return status ? status : create_old(key, name.text, result);
}

LSTATUS RegConnectRegistryA(LPCSTR machine, HKEY key, PHKEY result)
{
    return result ? key_connect(machine, key, result) : ERROR_INVALID_PARAMETER;
}

LSTATUS RegConnectRegistryW(LPCWSTR machine, HKEY key, PHKEY result)
{
    NAME_AUTO name;
    LSTATUS status = narrow(machine, &name);
    return status ? status : RegConnectRegistryA(name.text, key, result);
}

LSTATUS RegCloseKey(HKEY key)
{
    return key_close(key);
}

LSTATUS RegFlushKey(HKEY key)
{
    return key_flush(key);
}

/* ---- values ---- */

LSTATUS RegQueryValueExA(HKEY key, LPCSTR name, LPDWORD reserved, LPDWORD type, LPBYTE data,
                         LPDWORD size)
{
    return reserved ? ERROR_INVALID_PARAMETER : key_query(key, name, false, type, data, size);
}

LSTATUS RegQueryValueExW(HKEY key, LPCWSTR name, LPDWORD reserved, LPDWORD type, LPBYTE data,
                         LPDWORD size)
{
    NAME_AUTO text;
    LSTATUS status = narrow(name, &text);
    if (!status && reserved)
        status = ERROR_INVALID_PARAMETER;
    return status ? status : key_query(key, text.text, true, type, data, size);
}

static LSTATUS copy_empty(bool wide, void *data, PLONG size)
{
    LONG needed = wide ? sizeof(WCHAR) : 1, capacity = size ? *size : 0;
    if (size)
        *size = needed;
    if (data && capacity < needed)
        return ERROR_MORE_DATA;
    if (data)
        memset(data, 0, (size_t)needed);
    return ERROR_SUCCESS;
}

static LSTATUS query_unnamed(HKEY key, bool wide, DWORD *type, void *data, DWORD *size)
{
    /* these two keys have no value without name, but would answer this query */
    if (key == HKEY_PERFORMANCE_TEXT || key == HKEY_PERFORMANCE_NLSTEXT)
        return ERROR_FILE_NOT_FOUND;
    return key_query(key, "", wide, type, data, size);
}

/* Reads the value without name of the subkey; if it is not set, the result is an empty text. */
static LSTATUS query_old(HKEY key, const char *sub, bool wide, void *data, PLONG size)
{
    HKEY opened;
    DWORD capacity = size ? (DWORD)*size : 0, type = REG_SZ;
    if (data && (!size || *size < 0))
        return ERROR_INVALID_PARAMETER;
    LSTATUS status = key_open(key, sub ? sub : "", KEY_QUERY_VALUE, &opened);
    if (status)
        return status;
    status = query_unnamed(opened, wide, &type, data, size ? &capacity : NULL);
    key_close(opened);
    if (status == ERROR_FILE_NOT_FOUND)
        return copy_empty(wide, data, size);
    if (!status && type != REG_SZ)
        return ERROR_INVALID_DATA;
    if (size && (!status || status == ERROR_MORE_DATA))
        *size = (LONG)capacity;
    return status;
}

LSTATUS RegQueryValueA(HKEY key, LPCSTR sub, LPSTR data, PLONG size)
{
    return query_old(key, sub, false, data, size);
}

LSTATUS RegQueryValueW(HKEY key, LPCWSTR sub, LPWSTR data, PLONG size)
{
    NAME_AUTO name;
    LSTATUS status = narrow(sub, &name);
    return status ? status : query_old(key, name.text, true, data, size);
}

static LSTATUS set_old(HKEY key, const char *sub, bool wide, DWORD type, const void *data,
                       size_t size)
{
    HKEY opened = NULL;
    bool existed;
    if (type != REG_SZ || !data)
        return ERROR_INVALID_PARAMETER;
    LSTATUS status = sub && *sub ? key_create(key, sub, KEY_SET_VALUE, &opened, &existed) : 0;
    if (!status)
        status = key_set(opened ? opened : key, "", wide, REG_SZ, data, (DWORD)size);
    if (opened)
        key_close(opened);
    return status;
}

LSTATUS RegSetValueA(HKEY key, LPCSTR sub, DWORD type, LPCSTR data, DWORD size)
{
    return set_old(key, sub, false, type, data, data ? strlen(data) + 1 : 0);
}

LSTATUS RegSetValueW(HKEY key, LPCWSTR sub, DWORD type, LPCWSTR data, DWORD size)
{
    NAME_AUTO name;
    LSTATUS status = narrow(sub, &name);
    return status ? status
                  : set_old(key, name.text, true, type, data,
                            data ? (utf16_length(data) + 1) * sizeof *data : 0);
}

LSTATUS RegSetValueExA(HKEY key, LPCSTR name, DWORD reserved, DWORD type, const BYTE *data,
                       DWORD size)
{
    return reserved ? ERROR_INVALID_PARAMETER : key_set(key, name, false, type, data, size);
}

LSTATUS RegSetValueExW(HKEY key, LPCWSTR name, DWORD reserved, DWORD type, const BYTE *data,
                       DWORD size)
{
    NAME_AUTO text;
    LSTATUS status = narrow(name, &text);
    if (!status && reserved)
        status = ERROR_INVALID_PARAMETER;
    return status ? status : key_set(key, text.text, true, type, data, size);
}

LSTATUS RegDeleteValueA(HKEY key, LPCSTR name)
{
    return key_delete_value(key, name);
}

LSTATUS RegDeleteValueW(HKEY key, LPCWSTR name)
{
    NAME_AUTO text;
    LSTATUS status = narrow(name, &text);
    return status ? status : key_delete_value(key, text.text);
}

LSTATUS RegGetValueA(HKEY key, LPCSTR sub, LPCSTR name, DWORD flags, LPDWORD type, PVOID data,
                     LPDWORD size)
{
    return key_get_value(key, sub, name, false, flags, type, data, size);
}

LSTATUS RegGetValueW(HKEY key, LPCWSTR sub, LPCWSTR name, DWORD flags, LPDWORD type, PVOID data,
                     LPDWORD size)
{
    NAME_AUTO path = {0};
    NAME_AUTO text = {0};
    LSTATUS status = narrow(sub, &path);
    status = status ? status : narrow(name, &text);
    return status ? status
                  : key_get_value(key, path.text, text.text, true, flags, type, data, size);
}

/* ---- deleting keys ---- */

LSTATUS RegDeleteKeyA(HKEY key, LPCSTR sub)
{
    return key_delete(key, sub);
}

LSTATUS RegDeleteKeyW(HKEY key, LPCWSTR sub)
{
    NAME_AUTO name;
    LSTATUS status = narrow(sub, &name);
    return status ? status : key_delete(key, name.text);
}

LSTATUS RegDeleteKeyExA(HKEY key, LPCSTR sub, REGSAM access, DWORD reserved)
{
    return reserved ? ERROR_INVALID_PARAMETER : key_delete(key, sub);
}

LSTATUS RegDeleteKeyExW(HKEY key, LPCWSTR sub, REGSAM access, DWORD reserved)
{
    return reserved ? ERROR_INVALID_PARAMETER : RegDeleteKeyW(key, sub);
}

LSTATUS RegDeleteTreeA(HKEY key, LPCSTR sub)
{
    return key_delete_tree(key, sub);
}

LSTATUS RegDeleteTreeW(HKEY key, LPCWSTR sub)
{
    NAME_AUTO name;
    LSTATUS status = narrow(sub, &name);
    return status ? status : key_delete_tree(key, name.text);
}

/* ---- enumerations ---- */

/* Returns an empty text, because keys have no class here. */
static LSTATUS copy_class(void *class_name, LPDWORD class_size, bool wide)
{
    if (class_name && *class_size)
        memset(class_name, 0, wide ? sizeof(WCHAR) : 1);
    if (class_size)
        *class_size = 0;
    return ERROR_SUCCESS;
}

LSTATUS RegEnumKeyExA(HKEY key, DWORD index, LPSTR name, LPDWORD name_size, LPDWORD reserved,
                      LPSTR class_name, LPDWORD class_size, PFILETIME last_write)
{
    if (reserved || (class_name && !class_size))
        return ERROR_INVALID_PARAMETER;
    LSTATUS status = key_enum_key(key, index, false, name, name_size, last_write);
    return status ? status : copy_class(class_name, class_size, false);
}

LSTATUS RegEnumKeyExW(HKEY key, DWORD index, LPWSTR name, LPDWORD name_size, LPDWORD reserved,
                      LPWSTR class_name, LPDWORD class_size, PFILETIME last_write)
{
    if (reserved || (class_name && !class_size))
        return ERROR_INVALID_PARAMETER;
    LSTATUS status = key_enum_key(key, index, true, name, name_size, last_write);
    return status ? status : copy_class(class_name, class_size, true);
}

LSTATUS RegEnumKeyA(HKEY key, DWORD index, LPSTR name, DWORD name_size)
{
    return key_enum_key(key, index, false, name, &name_size, NULL);
}

LSTATUS RegEnumKeyW(HKEY key, DWORD index, LPWSTR name, DWORD name_size)
{
    return key_enum_key(key, index, true, name, &name_size, NULL);
}

LSTATUS RegEnumValueA(HKEY key, DWORD index, LPSTR name, LPDWORD name_size, LPDWORD reserved,
                      LPDWORD type, LPBYTE data, LPDWORD size)
{
    if (reserved)
        return ERROR_INVALID_PARAMETER;
    return key_enum_value(key, index, false, name, name_size, type, data, size);
}

LSTATUS RegEnumValueW(HKEY key, DWORD index, LPWSTR name, LPDWORD name_size, LPDWORD reserved,
                      LPDWORD type, LPBYTE data, LPDWORD size)
{
    if (reserved)
        return ERROR_INVALID_PARAMETER;
    return key_enum_value(key, index, true, name, name_size, type, data, size);
}

struct info_wanted {
    LPDWORD subkeys, max_subkey, max_class, values, max_name, max_data, security;
    PFILETIME last_write;
};

static void put_dword(LPDWORD out, DWORD number)
{
    if (out)
        *out = number;
}

static LSTATUS copy_info(HKEY key, bool wide, LPDWORD reserved, const struct info_wanted *wanted)
{
    struct key_info info;
    LSTATUS status = reserved ? ERROR_INVALID_PARAMETER : key_info(key, wide, &info);
    if (status)
        return status;
    put_dword(wanted->subkeys, info.keys);
    put_dword(wanted->max_subkey, info.longest_key);
    put_dword(wanted->max_class, 0);
    put_dword(wanted->values, info.values);
    put_dword(wanted->max_name, info.longest_name);
    put_dword(wanted->max_data, info.largest_data);
    put_dword(wanted->security, 0);
    if (wanted->last_write)
        *wanted->last_write = info.last_write;
    return ERROR_SUCCESS;
}

LSTATUS RegQueryInfoKeyA(HKEY key, LPSTR class_name, LPDWORD class_size, LPDWORD reserved,
                         LPDWORD subkeys, LPDWORD max_subkey, LPDWORD max_class, LPDWORD values,
                         LPDWORD max_name, LPDWORD max_data, LPDWORD security, PFILETIME last_write)
{
    const struct info_wanted wanted = {subkeys,  max_subkey, max_class, values,
                                       max_name, max_data,   security,  last_write};
    if (class_name && !class_size)
        return ERROR_INVALID_PARAMETER;
    LSTATUS status = copy_info(key, false, reserved, &wanted);
    return status ? status : copy_class(class_name, class_size, false);
}

LSTATUS RegQueryInfoKeyW(HKEY key, LPWSTR class_name, LPDWORD class_size, LPDWORD reserved,
                         LPDWORD subkeys, LPDWORD max_subkey, LPDWORD max_class, LPDWORD values,
                         LPDWORD max_name, LPDWORD max_data, LPDWORD security, PFILETIME last_write)
{
    const struct info_wanted wanted = {subkeys,  max_subkey, max_class, values,
                                       max_name, max_data,   security,  last_write};
    if (class_name && !class_size)
        return ERROR_INVALID_PARAMETER;
    LSTATUS status = copy_info(key, true, reserved, &wanted);
    return status ? status : copy_class(class_name, class_size, true);
}
