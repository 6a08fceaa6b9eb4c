/* SPDX-License-Identifier: MIT */
/*
 * A provider's tables, copied: a provider may be built with a later version, whose structures are
 * longer, or give invalid data. So each structure is read with the length that the tables state,
 * and checked before it is used; only addresses cannot be checked.
 */
#include "object/object.h"
#include "registry/registry.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_OBJECTS = 1024, MOST_BYTES = 4096 };

static bool all_zero(const void *bytes, size_t count)
{
    const unsigned char *at = bytes;
    return count == 0 || (!at[0] && memcmp(at, at + 1, count - 1) == 0);
}

#define ALL_ZERO(words) words_zero(words, COUNT(words))
static bool words_zero(const uintptr_t *words, size_t count)
{
    uintptr_t any = 0;
    for (size_t i = 0; i < count; i++)
        any |= words[i];
    return any == 0;
}

bool source_known(const opl_source *source)
{
    return !source || ALL_ZERO(source->reserved);
}

static LSTATUS refuse(struct table_fault *ret, const char *object, const char *part,
                      const char *why)
{
    ret->object = object;
    ret->part = part;
    if (why != ret->why)
        snprintf(ret->why, sizeof ret->why, "%s", why);
    return ERROR_INVALID_PARAMETER;
}

/* Refuses a value of a member that this version does not know: 0 means "as before", anything else
 * requests a feature that this version lacks. */
static LSTATUS refuse_unknown(struct table_fault *ret, const char *object, const char *part)
{
    return refuse(ret, object, part,
                  "it uses something that this version of openperflib does not know");
}

/* Checks the length of a structure: at least `expected`, because later versions add members at its
 * end, and a multiple of a pointer's size. */
static LSTATUS check_size(struct table_fault *ret, const char *what, size_t found, size_t expected)
{
    if (found >= expected && found <= MOST_BYTES && (found - expected) % sizeof(void *) == 0)
        return ERROR_SUCCESS;
    snprintf(ret->why, sizeof ret->why,
             "%s has %zu bytes; this version accepts %zu to %d, divisible by %zu", what, found,
             expected, MOST_BYTES, sizeof(void *));
    return refuse(ret, NULL, NULL, ret->why);
}

static LSTATUS check_list(const opl_table_list *theirs, struct table_fault *ret)
{
    LSTATUS status = check_size(ret, "the list", theirs->size, sizeof *theirs);
    if (!status)
        status = check_size(ret, "an object", theirs->object_size, sizeof(opl_object));
    if (!status)
        status = check_size(ret, "a row", theirs->counter_size, sizeof(opl_counter));
    if (status)
        return status;
    if (theirs->flags || !ALL_ZERO(theirs->reserved) ||
        !all_zero(theirs + 1, theirs->size - sizeof *theirs))
        return refuse_unknown(ret, NULL, NULL);
    if (theirs->count > MOST_OBJECTS || (theirs->count && !theirs->objects))
        return refuse(
            ret, NULL, NULL,
            "it states more than 1024 objects, or a number of objects without a list of them");
    return ERROR_SUCCESS;
}

static LSTATUS copy_object(opl_object *to, const opl_object *from, size_t size,
                           struct table_fault *ret)
{
    if (!from)
        return refuse(ret, NULL, NULL, "one of its objects is NULL");
    *to = *from;
    if (!to->name)
        return refuse(ret, NULL, NULL, "one of its objects has no name");
    if (!ALL_ZERO(to->reserved) || !all_zero(from + 1, size - sizeof *from) ||
        !source_known(to->lines.source))
        return refuse_unknown(ret, to->name, "the object itself");
    if (to->counter_count > OBJECT_MAX_ROWS)
        return refuse(ret, to->name, "all rows",
                      "an object must have at most 256 counters, base counters included");
    if (to->counter_count && !to->counters)
        return refuse(ret, to->name, "all rows", "the array is NULL");
    return ERROR_SUCCESS;
}

/* Copies the rows of `object` to `to` and makes `object` refer to them. `object` itself is already
 * a copy, which still refers to the provider's rows. */
static LSTATUS copy_rows(opl_object *object, opl_counter *to, size_t size, struct table_fault *ret)
{
    const char *from = (const char *)object->counters;
    object->counters = to;
    for (size_t i = 0; i < object->counter_count; i++, to++, from += size) {
        memcpy(to, from, sizeof *to);
        if (!ALL_ZERO(to->reserved) || !all_zero(from + sizeof *to, size - sizeof *to) ||
            !source_known(to->value.source) || !source_known(to->base.source) ||
            !source_known(to->if_source))
            return refuse_unknown(ret, object->name, to->name ? to->name : "a row without name");
    }
    return ERROR_SUCCESS;
}

LSTATUS tables_copy(const opl_table_list *theirs, struct tables *ret, struct table_fault *fault)
{
    *ret = (struct tables){0};
    LSTATUS status = check_list(theirs, fault);
    if (status)
        return status;
    size_t rows = 0, count = theirs->count;
    ret->list = *theirs;
    ret->objects = calloc(count + 1, sizeof *ret->objects);
    ret->copies = calloc(count + 1, sizeof *ret->copies);
    ret->addresses = calloc(count + 1, sizeof *ret->addresses);
    if (!ret->objects || !ret->copies || !ret->addresses)
        status = ERROR_NOT_ENOUGH_MEMORY;
    for (size_t i = 0; i < count && !status; i++) {
        ret->addresses[i] = theirs->objects[i];
        ret->objects[i] = &ret->copies[i];
        status = copy_object(&ret->copies[i], ret->addresses[i], theirs->object_size, fault);
        rows += ret->copies[i].counter_count;
    }
    ret->rows = status ? NULL : malloc((rows + 1) * sizeof *ret->rows);
    if (!status && !ret->rows)
        status = ERROR_NOT_ENOUGH_MEMORY;
    opl_counter *next = ret->rows;
    for (size_t i = 0; i < count && !status; i++) {
        status = copy_rows(&ret->copies[i], next, theirs->counter_size, fault);
        next += ret->copies[i].counter_count;
    }
    ret->list.objects = ret->objects;
    if (status)
        tables_done(ret);
    return status;
}

void tables_done(struct tables *tables)
{
    free(tables->rows);
    free(tables->addresses);
    free(tables->copies);
    free(tables->objects);
    *tables = (struct tables){0};
}

/* ---- tables of a library whose Open is not called ---- */

static const char *why_none(void *library, const char *path)
{
    if (library ? dlsym(library, "opl_tables") != NULL : library_is_unreleased(path))
        return LIBRARY_UNRELEASED;
    if (!library)
        return dlerror();
    return "it has no tables; write OPL_PROVIDER(\"Service\", objects) in it";
}

/* Returns a copy of the tables, which is never freed. NULL: no memory, or `fault` has the
 * reason. */
static const opl_table_list *keep_copy(const opl_table_list *theirs, struct table_fault *fault)
{
    static struct tables *all;
    struct tables *tables = calloc(1, sizeof *tables);
    if (!tables || tables_copy(theirs, tables, fault)) {
        free(tables);
        return NULL;
    }
    tables->next = __atomic_load_n(&all, __ATOMIC_ACQUIRE);
    while (!__atomic_compare_exchange_n(&all, &tables->next, tables, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE))
        ;
    return &tables->list;
}

static void write_fault(const struct table_fault *fault, char why[static OPL_TABLES_WHY])
{
    snprintf(why, OPL_TABLES_WHY, "%s%s%s%s%s", fault->object ? fault->object : "",
             fault->object ? ": " : "", fault->part ? fault->part : "", fault->part ? ": " : "",
             fault->why);
}

const opl_table_list *opl_tables_load(const char *path, char why[static OPL_TABLES_WHY])
{
    struct table_fault fault = {.why = "there is not enough memory"};
    char *real = realpath(path, NULL); /* an absolute path, because dlopen searches a name without
                                        * slash in other folders */
    const char *kind = real ? file_kind(real) : NULL; /* dlopen would wait for a pipe's writer */
    void *library = real && !kind ? dlopen(real, RTLD_NOW | RTLD_LOCAL) : NULL;
    const opl_table_list *theirs = library ? dlsym(library, "opl_tables_1") : NULL;
    if (!real)
        snprintf(why, OPL_TABLES_WHY, "%s", strerror(errno));
    else if (!theirs)
        snprintf(why, OPL_TABLES_WHY, "%s", kind ? kind : why_none(library, real));
    free(real);
    const opl_table_list *tables = theirs ? keep_copy(theirs, &fault) : NULL;
    if (theirs && !tables)
        write_fault(&fault, why);
    return tables;
}

/* ---- registration ---- */

/* Writes and deletes the registry values that name a provider's library and functions.
 * (docs/windows/articles.md#c40, docs/windows/articles.md#c67) */

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
