/* SPDX-License-Identifier: MIT */
/*
 * The registry: keys, value types, and the Reg functions.
 *
 * W functions take UTF-16, A functions UTF-8. All return a Win32 status. Data of the text types is
 * converted to the function's encoding; sizes are bytes in that encoding. (docs/registry.md)
 */
#ifndef OPENPERFLIB_WINREG_H
#define OPENPERFLIB_WINREG_H

#include "windef.h"
#include "winerror.h"

typedef DWORD REGSAM;
typedef DWORD ACCESS_MASK;

/* Sign-extended as on 64-bit Windows; the functions accept the zero-extended form as well. */
#define OPL_ROOT_KEY(value) ((HKEY)(ULONG_PTR)((LONG)(value)))
#define HKEY_CLASSES_ROOT OPL_ROOT_KEY(0x80000000)
#define HKEY_CURRENT_USER OPL_ROOT_KEY(0x80000001)
#define HKEY_LOCAL_MACHINE OPL_ROOT_KEY(0x80000002)
#define HKEY_USERS OPL_ROOT_KEY(0x80000003)
#define HKEY_PERFORMANCE_DATA OPL_ROOT_KEY(0x80000004)
#define HKEY_CURRENT_CONFIG OPL_ROOT_KEY(0x80000005)
#define HKEY_DYN_DATA OPL_ROOT_KEY(0x80000006)
#define HKEY_PERFORMANCE_TEXT OPL_ROOT_KEY(0x80000050)
#define HKEY_PERFORMANCE_NLSTEXT OPL_ROOT_KEY(0x80000060)

#define REG_NONE 0
#define REG_SZ 1
#define REG_EXPAND_SZ 2
#define REG_BINARY 3
#define REG_DWORD 4
#define REG_DWORD_LITTLE_ENDIAN 4
#define REG_DWORD_BIG_ENDIAN 5
#define REG_LINK 6
#define REG_MULTI_SZ 7
#define REG_RESOURCE_LIST 8
#define REG_FULL_RESOURCE_DESCRIPTOR 9
#define REG_RESOURCE_REQUIREMENTS_LIST 10
#define REG_QWORD 11
#define REG_QWORD_LITTLE_ENDIAN 11

#define KEY_QUERY_VALUE 0x0001
#define KEY_SET_VALUE 0x0002
#define KEY_CREATE_SUB_KEY 0x0004
#define KEY_ENUMERATE_SUB_KEYS 0x0008
#define KEY_NOTIFY 0x0010
#define KEY_CREATE_LINK 0x0020
#define KEY_WOW64_64KEY 0x0100
#define KEY_WOW64_32KEY 0x0200
#define KEY_WOW64_RES 0x0300
#define KEY_READ 0x20019
#define KEY_WRITE 0x20006
#define KEY_EXECUTE 0x20019
#define KEY_ALL_ACCESS 0xF003F
#ifndef DELETE
#define DELETE 0x00010000
#endif
#define READ_CONTROL 0x00020000
#define WRITE_DAC 0x00040000
#define WRITE_OWNER 0x00080000
#define SYNCHRONIZE 0x00100000
#define STANDARD_RIGHTS_REQUIRED 0x000F0000
#define STANDARD_RIGHTS_READ READ_CONTROL
#define STANDARD_RIGHTS_WRITE READ_CONTROL
#define STANDARD_RIGHTS_ALL 0x001F0000
#define MAXIMUM_ALLOWED 0x02000000

#define REG_OPTION_NON_VOLATILE 0
#define REG_OPTION_VOLATILE 1
#define REG_OPTION_CREATE_LINK 2
#define REG_OPTION_BACKUP_RESTORE 4
#define REG_OPTION_OPEN_LINK 8
#define REG_CREATED_NEW_KEY 1
#define REG_OPENED_EXISTING_KEY 2

#define RRF_RT_REG_NONE 0x00000001
#define RRF_RT_REG_SZ 0x00000002
#define RRF_RT_REG_EXPAND_SZ 0x00000004
#define RRF_RT_REG_BINARY 0x00000008
#define RRF_RT_REG_DWORD 0x00000010
#define RRF_RT_REG_MULTI_SZ 0x00000020
#define RRF_RT_REG_QWORD 0x00000040
#define RRF_RT_DWORD (RRF_RT_REG_BINARY | RRF_RT_REG_DWORD)
#define RRF_RT_QWORD (RRF_RT_REG_BINARY | RRF_RT_REG_QWORD)
#define RRF_RT_ANY 0x0000ffff
#define RRF_NOEXPAND 0x10000000
#define RRF_ZEROONFAILURE 0x20000000

OPL_BEGIN_DECLS

#define OPL_AW(name, args_a, args_w)                                                               \
    LSTATUS WINAPI name##A args_a OPL_SYMBOL(name##A);                                             \
    LSTATUS WINAPI name##W args_w OPL_SYMBOL(name##W)

/* Opens the existing key `sub` below `key`; the caller closes *result. */
OPL_AW(RegOpenKeyEx, (HKEY key, LPCSTR sub, DWORD options, REGSAM access, PHKEY result),
       (HKEY key, LPCWSTR sub, DWORD options, REGSAM access, PHKEY result));
/* Like RegOpenKeyEx, with all rights that the caller has. */
OPL_AW(RegOpenKey, (HKEY key, LPCSTR sub, PHKEY result), (HKEY key, LPCWSTR sub, PHKEY result));
/* Opens or creates a key with all keys above it; *disposition: was the key opened or created? */
OPL_AW(RegCreateKeyEx,
       (HKEY key, LPCSTR sub, DWORD reserved, LPSTR class_name, DWORD options, REGSAM access,
        LPSECURITY_ATTRIBUTES security, PHKEY result, LPDWORD disposition),
       (HKEY key, LPCWSTR sub, DWORD reserved, LPWSTR class_name, DWORD options, REGSAM access,
        LPSECURITY_ATTRIBUTES security, PHKEY result, LPDWORD disposition));
OPL_AW(RegCreateKey, (HKEY key, LPCSTR sub, PHKEY result), (HKEY key, LPCWSTR sub, PHKEY result));
/* Reads a value. On HKEY_PERFORMANCE_DATA `name` is a query and the answer one performance
 * block; its size cannot be queried: ERROR_MORE_DATA leaves *size unchanged.
 * (docs/windows/articles.md#c2, docs/windows/queries.md#c2) */
OPL_AW(RegQueryValueEx,
       (HKEY key, LPCSTR name, LPDWORD reserved, LPDWORD type, LPBYTE data, LPDWORD size),
       (HKEY key, LPCWSTR name, LPDWORD reserved, LPDWORD type, LPBYTE data, LPDWORD size));
/* Reads the text of the value without a name: of the key `sub`, or if `sub` is NULL or "" of `key`
 * itself. This is an old function. An unset value is the empty text; another type than REG_SZ:
 * ERROR_INVALID_DATA. *size in bytes, with the terminator. Setting creates the key; the length is
 * that of the text, `size` is ignored. */
OPL_AW(RegQueryValue, (HKEY key, LPCSTR sub, LPSTR data, PLONG size),
       (HKEY key, LPCWSTR sub, LPWSTR data, PLONG size));
OPL_AW(RegSetValue, (HKEY key, LPCSTR sub, DWORD type, LPCSTR data, DWORD size),
       (HKEY key, LPCWSTR sub, DWORD type, LPCWSTR data, DWORD size));
/* Writes a value; it is durable when the function returns. */
OPL_AW(RegSetValueEx,
       (HKEY key, LPCSTR name, DWORD reserved, DWORD type, const BYTE *data, DWORD size),
       (HKEY key, LPCWSTR name, DWORD reserved, DWORD type, const BYTE *data, DWORD size));
/* Removes a value, durably; ERROR_FILE_NOT_FOUND: there is none. */
OPL_AW(RegDeleteValue, (HKEY key, LPCSTR name), (HKEY key, LPCWSTR name));
/* Deletes a key without subkeys. */
OPL_AW(RegDeleteKey, (HKEY key, LPCSTR sub), (HKEY key, LPCWSTR sub));
OPL_AW(RegDeleteKeyEx, (HKEY key, LPCSTR sub, REGSAM access, DWORD reserved),
       (HKEY key, LPCWSTR sub, REGSAM access, DWORD reserved));
/* Deletes `sub` with all its subkeys; NULL empties `key`. */
OPL_AW(RegDeleteTree, (HKEY key, LPCSTR sub), (HKEY key, LPCWSTR sub));
/* Enumerations. *name_size counts characters: before the call the capacity with the terminator,
 * afterwards the name's length without it. */
OPL_AW(RegEnumKeyEx,
       (HKEY key, DWORD index, LPSTR name, LPDWORD name_size, LPDWORD reserved, LPSTR class_name,
        LPDWORD class_size, PFILETIME last_write),
       (HKEY key, DWORD index, LPWSTR name, LPDWORD name_size, LPDWORD reserved, LPWSTR class_name,
        LPDWORD class_size, PFILETIME last_write));
OPL_AW(RegEnumKey, (HKEY key, DWORD index, LPSTR name, DWORD name_size),
       (HKEY key, DWORD index, LPWSTR name, DWORD name_size));
OPL_AW(RegEnumValue,
       (HKEY key, DWORD index, LPSTR name, LPDWORD name_size, LPDWORD reserved, LPDWORD type,
        LPBYTE data, LPDWORD size),
       (HKEY key, DWORD index, LPWSTR name, LPDWORD name_size, LPDWORD reserved, LPDWORD type,
        LPBYTE data, LPDWORD size));
OPL_AW(RegQueryInfoKey,
       (HKEY key, LPSTR class_name, LPDWORD class_size, LPDWORD reserved, LPDWORD subkeys,
        LPDWORD max_subkey, LPDWORD max_class, LPDWORD values, LPDWORD max_name, LPDWORD max_data,
        LPDWORD security, PFILETIME last_write),
       (HKEY key, LPWSTR class_name, LPDWORD class_size, LPDWORD reserved, LPDWORD subkeys,
        LPDWORD max_subkey, LPDWORD max_class, LPDWORD values, LPDWORD max_name, LPDWORD max_data,
        LPDWORD security, PFILETIME last_write));
/* Reads a value of one of the types in `flags` (RRF_*). Texts are terminated and expanded. */
OPL_AW(RegGetValue,
       (HKEY key, LPCSTR sub, LPCSTR name, DWORD flags, LPDWORD type, PVOID data, LPDWORD size),
       (HKEY key, LPCWSTR sub, LPCWSTR name, DWORD flags, LPDWORD type, PVOID data, LPDWORD size));
/* Opens a root key of this machine, or of another one, which is named by an address such as
 * "ssh://HOST", or by a name in the registry's list (docs/remote.md).
 * (docs/windows/articles.md#c28) */
OPL_AW(RegConnectRegistry, (LPCSTR machine, HKEY key, PHKEY result),
       (LPCWSTR machine, HKEY key, PHKEY result));
/* Closes a key. On HKEY_PERFORMANCE_DATA: closes and unloads the providers.
 * (docs/windows/articles.md#c34, docs/windows/queries.md#c6) */
LSTATUS WINAPI RegCloseKey(HKEY key) OPL_SYMBOL(RegCloseKey);
/* Does nothing on a valid key, because values are already durable when they are set. */
LSTATUS WINAPI RegFlushKey(HKEY key) OPL_SYMBOL(RegFlushKey);

OPL_END_DECLS

#ifdef UNICODE
#define OPL_AW_NAME(name) name##W
#else
#define OPL_AW_NAME(name) name##A
#endif
#define RegOpenKeyEx OPL_AW_NAME(RegOpenKeyEx)
#define RegOpenKey OPL_AW_NAME(RegOpenKey)
#define RegCreateKeyEx OPL_AW_NAME(RegCreateKeyEx)
#define RegCreateKey OPL_AW_NAME(RegCreateKey)
#define RegQueryValueEx OPL_AW_NAME(RegQueryValueEx)
#define RegQueryValue OPL_AW_NAME(RegQueryValue)
#define RegSetValue OPL_AW_NAME(RegSetValue)
#define RegSetValueEx OPL_AW_NAME(RegSetValueEx)
#define RegDeleteValue OPL_AW_NAME(RegDeleteValue)
#define RegDeleteKey OPL_AW_NAME(RegDeleteKey)
#define RegDeleteKeyEx OPL_AW_NAME(RegDeleteKeyEx)
#define RegDeleteTree OPL_AW_NAME(RegDeleteTree)
#define RegEnumKeyEx OPL_AW_NAME(RegEnumKeyEx)
#define RegEnumKey OPL_AW_NAME(RegEnumKey)
#define RegEnumValue OPL_AW_NAME(RegEnumValue)
#define RegQueryInfoKey OPL_AW_NAME(RegQueryInfoKey)
#define RegGetValue OPL_AW_NAME(RegGetValue)
#define RegConnectRegistry OPL_AW_NAME(RegConnectRegistry)

#endif
