/* SPDX-License-Identifier: MIT */
/*
 * Connects a provider's tables with its service: the numbers that lodctr assigned to it, and the
 * registry values that name its library and functions. (docs/windows/articles.md#c40,
 * docs/windows/articles.md#c67)
 */
#include "object/object.h"
#include "registry/registry.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct opl_entry {
    opl_provider *provider;
    /* number of Open calls without a Close yet: remote service processes call Open once per
     * connection (docs/windows/providers.md#d2) */
    unsigned opened;
};

static LSTATUS report_unregistered(const char *service, const char *value)
{
    event_log("Perflib", 3004, service, EVENT_FIELDS(EVENT_TEXT("Value", value)),
              "it is missing, so the counters have no numbers and no names yet; run lodctr with "
              "the provider's ini file");
    return ERROR_FILE_NOT_FOUND;
}

static LSTATUS report_too_few(const char *service, const char *value, DWORD needed, DWORD there)
{
    char more[160];
    snprintf(more, sizeof more,
             "it is %u, but the library has counters up to %u and is newer than its registration",
             (unsigned)there, (unsigned)needed);
    event_log("Perflib", 3004, service, EVENT_FIELDS(EVENT_TEXT("Value", value)), more);
    return ERROR_INVALID_DATA;
}

/* Reads the value `first` (such as "First Counter") of a service. Reports an error if it is
 * missing, or if the value `last` is less than `first` + `last_offset`. */
static LSTATUS numbers_read(const char *service, const char *first, const char *last,
                            DWORD last_offset, DWORD *ret)
{
    DWORD highest;
    FREE_AUTO char *path = text_format("%s\\%s\\Performance", REGISTRY_SERVICES, service);
    if (!path)
        return ERROR_NOT_ENOUGH_MEMORY;
    if (registry_get_dword(path, first, ret))
        return report_unregistered(service, first);
    if (registry_get_dword(path, last, &highest))
        return report_unregistered(service, last);
    if (highest < *ret || highest - *ret < last_offset)
        return report_too_few(service, last, *ret + last_offset, highest);
    return ERROR_SUCCESS;
}

/* Reads First Counter and First Help of a service, as lodctr wrote them; `service` NULL: both are
 * 0. Each failure is logged as an event that says what to do. */
static LSTATUS service_numbers(const char *service, DWORD last_offset, DWORD *ret_first_counter,
                               DWORD *ret_first_help)
{
    *ret_first_counter = *ret_first_help = 0;
    if (!service)
        return ERROR_SUCCESS;
    LSTATUS status =
        numbers_read(service, "First Counter", "Last Counter", last_offset, ret_first_counter);
    if (!status)
        status = numbers_read(service, "First Help", "Last Help", last_offset, ret_first_help);
    return status;
}

static void raise_to(DWORD *highest, DWORD number)
{
    if (number > *highest)
        *highest = number;
}

static DWORD tables_last_offset(const opl_table_list *tables)
{
    DWORD last = 0;
    for (size_t i = 0; i < tables->count; i++) {
        const opl_object *object = tables->objects[i];
        raise_to(&last, object->index);
        raise_to(&last, object->help_index);
        for (size_t row = 0; row < object->counter_count; row++) {
            raise_to(&last, object->counters[row].index);
            raise_to(&last, object->counters[row].help_index);
        }
    }
    return last;
}

static LSTATUS entry_open(struct opl_entry *entry, const opl_table_list *theirs)
{
    DWORD first_counter, first_help;
    LSTATUS status = provider_new(theirs, &entry->provider);
    if (status)
        return status;
    const opl_table_list *tables = &entry->provider->tables.list;
    status =
        service_numbers(tables->service, tables_last_offset(tables), &first_counter, &first_help);
    if (status)
        return status;
    if (tables->begin)
        tables->begin();
    return provider_open(entry->provider, first_counter, first_help);
}

DWORD opl_entry_open_1(opl_entry **entry, const opl_table_list *tables, LPCWSTR devices)
{
    (void)devices;
    if (*entry) {
        (*entry)->opened++;
        return ERROR_SUCCESS;
    }
    struct opl_entry *made = calloc(1, sizeof *made);
    LSTATUS status = made ? entry_open(made, tables) : ERROR_NOT_ENOUGH_MEMORY;
    if (status) {
        provider_close(made ? made->provider : NULL);
        free(made);
        return (DWORD)status;
    }
    made->opened = 1;
    *entry = made;
    return ERROR_SUCCESS;
}

DWORD opl_entry_collect_1(opl_entry *entry, LPCWSTR query, LPVOID *data, LPDWORD bytes,
                          LPDWORD types)
{
    return provider_collect(entry ? entry->provider : NULL, query, data, bytes, types);
}

DWORD opl_entry_close_1(opl_entry **entry)
{
    if (*entry && --(*entry)->opened == 0) {
        provider_close((*entry)->provider);
        free(*entry);
        *entry = NULL;
    }
    return ERROR_SUCCESS;
}

/* ---- registration ---- */

static HRESULT result_of(LSTATUS status)
{
    return status ? (HRESULT)(0x80070000u | (DWORD)status) : S_OK;
}

static char *service_path(const opl_table_list *tables, const char *below)
{
    const char *service = tables->service;
    return text_format("SYSTEM\\CurrentControlSet\\Services\\%s%s", service ? service : "", below);
}

static LSTATUS set_text(HKEY key, const char *name, const char *text)
{
    return key_set(key, name, false, REG_SZ, text, (DWORD)strlen(text) + 1);
}

static LSTATUS write_values(HKEY key, const char *library, const char *const procedures[3])
{
    LSTATUS status = set_text(key, "Library", library);
    if (!status)
        status = set_text(key, "Open", procedures[0]);
    if (!status)
        status = set_text(key, "Collect", procedures[1]);
    return status ? status : set_text(key, "Close", procedures[2]);
}

HRESULT opl_entry_register_1(const opl_table_list *tables)
{
    Dl_info info;
    char library[PATH_MAX];
    HKEY key;
    bool existed;
    FREE_AUTO char *path = service_path(tables, "\\Performance");
    if (!path)
        return result_of(ERROR_NOT_ENOUGH_MEMORY);
    if (!tables->service || !dladdr(tables, &info) || !realpath(info.dli_fname, library))
        return result_of(ERROR_MOD_NOT_FOUND);
    LSTATUS status = key_create(HKEY_LOCAL_MACHINE, path, KEY_WRITE, &key, &existed);
    if (status)
        return result_of(status);
    status = write_values(key, library, tables->procedures);
    key_close(key);
    return result_of(status);
}

static LSTATUS delete_values(HKEY key)
{
    static const char *const names[] = {"Library", "Open", "Collect", "Close"};
    for (size_t i = 0; i < COUNT(names); i++) {
        LSTATUS status = key_delete_value(key, names[i]);
        if (status && status != ERROR_FILE_NOT_FOUND)
            return status;
    }
    return ERROR_SUCCESS;
}

/* Deletes the key if it has neither values nor subkeys. */
static void delete_if_empty(const char *path)
{
    struct key_info info;
    HKEY key;
    if (!path || key_open(HKEY_LOCAL_MACHINE, path, KEY_READ, &key))
        return;
    bool empty = key_info(key, false, &info) == ERROR_SUCCESS && !info.keys && !info.values;
    key_close(key);
    if (empty)
        key_delete(HKEY_LOCAL_MACHINE, path);
}

HRESULT opl_entry_unregister_1(const opl_table_list *tables)
{
    HKEY key;
    FREE_AUTO char *service = service_path(tables, "");
    FREE_AUTO char *performance = service_path(tables, "\\Performance");
    if (!service || !performance)
        return result_of(ERROR_NOT_ENOUGH_MEMORY);
    LSTATUS status = tables->service ? key_open(HKEY_LOCAL_MACHINE, performance, KEY_WRITE, &key)
                                     : ERROR_FILE_NOT_FOUND;
    if (status)
        return result_of(status);
    status = delete_values(key);
    key_close(key);
    if (!status) {
        delete_if_empty(performance);
        delete_if_empty(service);
    }
    return result_of(status);
}
