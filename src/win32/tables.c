/* SPDX-License-Identifier: MIT */
/*
 * The tables that say which module computes the content of which key. Only this file connects the
 * registry with these modules; the registry itself only calls the functions of a mount.
 */
#include "collect/collect.h"
#include "names/names.h"
#include "query/query.h"
#include "registry/registry.h"
#include "remote/remote.h"

#include <string.h>

/* ---- the performance keys ---- */

static LSTATUS query_names(enum query_kind kind, uint32_t language, bool wide, DWORD *type,
                           void *data, DWORD *size)
{
    if (type)
        *type = REG_MULTI_SZ;
    return names_text(kind == QUERY_NAMES ? NAMES_COUNTER : NAMES_HELP, language, wide, data, size);
}

/* Returns the language in a query for names; English if the query names none.
 * (docs/windows/articles.md#c23) */
static uint32_t language_of(const char *name)
{
    const char *cursor = name;
    size_t count;
    uint32_t language;
    text_word(&cursor, &count);
    const char *word = text_word(&cursor, &count);
    return word && text_hex(word, count, &language) ? language : LANGUAGE_ENGLISH;
}

static const char data_path[] = "HKEY_PERFORMANCE_DATA", text_path[] = "HKEY_PERFORMANCE_TEXT";

/* The performance keys differ in the language of their names only. */
static LSTATUS performance_query(const char *path, const char *name, bool wide, DWORD *type,
                                 void *data, DWORD *size)
{
    enum query_kind kind = query_text_kind(name);
    if (kind == QUERY_NOTHING) {
        if (type)
            *type = REG_BINARY;
        return collect_query(name, data, size);
    }
    uint32_t language = !strcmp(path, data_path)   ? language_of(name)
                        : !strcmp(path, text_path) ? LANGUAGE_ENGLISH
                                                   : names_language(names_user_langid());
    return query_names(kind, language, wide, type, data, size);
}

static LSTATUS close_data(void)
{
    collect_close();
    return ERROR_SUCCESS;
}

/* ---- a language's key below Perflib ---- */

/* Returns the language of a subkey: its number, or for CurrentLanguage the user's language.
 * CurrentLanguage is writable because some programs write to every subkey of Perflib. */
static uint32_t language_of_key(const char *path)
{
    const char *id = strrchr(path, '\\');
    uint32_t language;
    if (id && !text_compare_fold(id + 1, "CurrentLanguage"))
        return names_language(names_user_langid());
    return id && text_hex(id + 1, strlen(id + 1), &language) ? language : LANGUAGE_ENGLISH;
}

static LSTATUS language_query(const char *path, const char *name, bool wide, DWORD *type,
                              void *data, DWORD *size)
{
    enum query_kind kind = query_text_kind(name);
    if (kind == QUERY_NOTHING)
        return ERROR_FILE_NOT_FOUND;
    return query_names(kind, language_of_key(path), wide, type, data, size);
}

static LSTATUS language_set(const char *path, const char *name, uint32_t type, const void *data,
                            size_t size)
{
    enum query_kind kind = query_text_kind(name);
    if (kind == QUERY_NOTHING || type != REG_MULTI_SZ)
        return ERROR_INVALID_PARAMETER;
    return names_store(kind == QUERY_NAMES ? NAMES_COUNTER : NAMES_HELP, language_of_key(path),
                       data, size);
}

static const char *const data_names[] = {"Global", "Costly", NULL};
static const char *const text_names[] = {"Counter", "Help", NULL};

static const struct mount mounts[] = {
    {.path = data_path,
     .predefined = HKEY_PERFORMANCE_DATA,
     .query = performance_query,
     .set_status = ERROR_INVALID_HANDLE,
     .open_status = ERROR_INVALID_HANDLE,
     .enum_key_status = ERROR_INVALID_HANDLE,
     .names = data_names,
     .close = close_data},
    {.path = text_path,
     .predefined = HKEY_PERFORMANCE_TEXT,
     .query = performance_query,
     .set_status = ERROR_BADKEY,
     .open_status = ERROR_INVALID_HANDLE,
     .enum_key_status = ERROR_NO_MORE_ITEMS,
     .names = text_names,
     .last_write = names_last_write},
    {.path = "HKEY_PERFORMANCE_NLSTEXT",
     .predefined = HKEY_PERFORMANCE_NLSTEXT,
     .query = performance_query,
     .set_status = ERROR_BADKEY,
     .open_status = ERROR_INVALID_HANDLE,
     .enum_key_status = ERROR_NO_MORE_ITEMS,
     .names = text_names,
     .last_write = names_last_write},
    {.path = REGISTRY_PERFLIB "\\009",
     .query = language_query,
     .set = language_set,
     .names = text_names,
     .last_write = names_last_write,
     .opens_as = HKEY_PERFORMANCE_TEXT},
    {.path = REGISTRY_PERFLIB "\\CurrentLanguage",
     .alias = true, /* the installed languages are listed instead (docs/windows/articles.md#c107) */
     .query = performance_query,
     .set = language_set,
     .names = text_names,
     .last_write = names_last_write,
     .opens_as = HKEY_PERFORMANCE_NLSTEXT},
    {.path = REGISTRY_PERFLIB "\\*",
     .query = language_query,
     .set = language_set,
     .names = text_names,
     .last_write = names_last_write},
    {0         },
};

/* ---- values that are computed ---- */

static LSTATUS last_counter(uint32_t *ret, struct buffer *text)
{
    uint32_t help;
    return names_last(ret, &help);
}

static LSTATUS last_help(uint32_t *ret, struct buffer *text)
{
    uint32_t counter;
    return names_last(&counter, ret);
}

static LSTATUS base_index(uint32_t *ret, struct buffer *text)
{
    *ret = NAMES_BASE_INDEX;
    return ERROR_SUCCESS;
}

static LSTATUS perflib_version(uint32_t *ret, struct buffer *text)
{
    *ret = 0x00010001;
    return ERROR_SUCCESS;
}

static LSTATUS install_language(uint32_t *ret, struct buffer *text)
{
    buffer_printf(text, "%04X", names_user_langid());
    return buffer_status(text);
}

#define NLS_LANGUAGE "HKEY_LOCAL_MACHINE\\SYSTEM\\CurrentControlSet\\Control\\Nls\\Language"

static const struct registry_computed computed[] = {
    {REGISTRY_PERFLIB, "Base Index", REG_DWORD, base_index, true},
    {REGISTRY_PERFLIB,       "Last Counter", REG_DWORD, last_counter, false},
    {REGISTRY_PERFLIB,            "Last Help", REG_DWORD, last_help, false},
    {REGISTRY_PERFLIB, "Version", REG_DWORD, perflib_version, true},
    {NLS_LANGUAGE,       "Default", REG_SZ, install_language, true},
    {NLS_LANGUAGE,           "InstallLanguage", REG_SZ, install_language, true},
    {0},
};

static LSTATUS each_language(bool (*each)(void *self, const char *name), void *self)
{
    return names_each_language(each, self);
}

static const struct registry_virtual_keys virtual_keys[] = {
    {REGISTRY_PERFLIB, each_language},
    {0               },
};

static const struct registry_tables tables = {mounts, computed, virtual_keys, &remote_remote};

/* Gives the tables to the registry. A constructor, because the first call of a program may be any
 * function, from any thread. */
__attribute__((constructor)) static void hand_down_tables(void)
{
    registry_init(&tables);
}
