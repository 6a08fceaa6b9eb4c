/* SPDX-License-Identifier: MIT */
/*
 * Scans a registry file for what registrations need to know: the highest index in use, the services
 * that it mentions, and whether it mentions languages. (docs/windows/articles.md#c96)
 */
#include "loadperf/inner.h"

#include <openperflib/regfile.h>
#include <winreg.h>

#include <stdlib.h>
#include <string.h>

#define PERFORMANCE "\\Performance"

/* ---- keys ---- */

/* Returns what follows `path` and a backslash; NULL: the key is not below `path`. */
static const char *below(const char *key, const char *path)
{
    size_t count = strlen(path);
    return text_starts_fold(key, path) && key[count] == '\\' ? key + count + 1 : NULL;
}

bool scan_service_key(const char *key, struct text_span *ret_name, const char **ret_below)
{
    const char *name = below(key, REGISTRY_SERVICES);
    if (!name)
        return false;
    *ret_name = (struct text_span){name, strcspn(name, "\\")};
    *ret_below = name + ret_name->count;
    return true;
}

bool scan_key_covers(const char *key, const char *path)
{
    size_t count = strlen(key);
    return text_starts_fold(path, key) && (path[count] == '\\' || !path[count]);
}

bool scan_language_key(const char *key, const char *path, uint32_t *ret, const char **ret_below)
{
    const char *name = below(key, path);
    size_t count = name ? strcspn(name, "\\") : 0;
    if ((count != 3 && count != 4) || !text_hex(name, count, ret))
        return false;
    *ret_below = name + count;
    return true;
}

/* ---- services ---- */

bool scan_mentions(const char *services, const char *service)
{
    size_t count = strlen(service);
    for (const char *at = services ? services : ""; *at; at += strcspn(at, "\t")) {
        at++;
        size_t length = strcspn(at, "\t");
        if (at[length] && !text_compare_fold_n(at, length, service, count))
            return true;
    }
    return false;
}

bool scan_add_service(struct file_scan *scan, struct text_span name)
{
    FREE_AUTO char *copy = span_copy(name);
    if (!copy)
        return false;
    if (scan_mentions(scan->services.data, copy))
        return true;
    if (!scan->services.len)
        buffer_add_byte(&scan->services, '\t');
    buffer_add_text(&scan->services, copy);
    return buffer_add_byte(&scan->services, '\t');
}

/* ---- indices ---- */

static void note_index(struct file_scan *scan, uint32_t index)
{
    uint32_t even = index & ~1u;
    uint32_t *top = even < USER_FIRST ? &scan->machine_top : &scan->user_top;
    if (even > MACHINE_HIGHEST && even < USER_FIRST)
        /* not counted: an index in the range for packages, or above it, where only texts written by
         * hand have indices */
        return;
    if (even > *top)
        *top = even;
}

/* Records the indices in pairs of index and text. A damaged pair does not affect others. */
static void note_pairs(struct file_scan *scan, const char *multi, size_t size)
{
    const char *cursor = multi, *end = multi + size, *text;
    uint32_t index;
    bool wants_index = true;
    while ((text = text_multi_next(&cursor, end))) {
        bool is_index = wants_index && text_decimal(text, strlen(text), &index);
        if (is_index)
            note_index(scan, index);
        wants_index = !is_index;
    }
}

/* Records the objects in an Object List, because a list that was written by hand may have objects
 * outside of every registered range. */
static void note_objects(struct file_scan *scan, const opl_reg_entry *entry)
{
    FREE_AUTO char *text = strndup(entry->data, entry->size);
    const char *list = text ? text : "";
    size_t count;
    uint32_t index;
    for (const char *word; (word = text_word(&list, &count));)
        if (text_decimal(word, count, &index))
            note_index(scan, index);
}

static void note_service_value(struct file_scan *scan, const char *key, const opl_reg_entry *entry)
{
    uint32_t number;
    const char *names = below(key, PERFORMANCE "\\Names");
    if (names && text_decimal(entry->name, strlen(entry->name), &number))
        note_index(scan, number);
    bool is_number = entry->type == REG_DWORD && entry->size == sizeof number;
    if (names || !text_equal_fold(key, PERFORMANCE))
        return;
    if (entry->type == REG_SZ && text_equal_fold(entry->name, text_names[OBJECT_LIST]))
        note_objects(scan, entry);
    if (!is_number)
        return;
    memcpy(&number, entry->data, sizeof number);
    for (size_t i = 0; i < NUMBERS; i++)
        if (text_equal_fold(entry->name, number_names[i]))
            note_index(scan, number);
    if (text_equal_fold(entry->name, VALUE_RESERVED))
        note_index(scan, number);
}

struct scanning {
    struct file_scan *scan;
    bool failed;
    /* what follows the service's name in the present key; NULL: the key is not a service's */
    const char *service_below;
    bool is_manual; /* the key is Perflib\LLL\Manual */
    struct buffer key;
};

static bool note_key(struct scanning *scanning, const opl_reg_entry *entry)
{
    struct file_scan *scan = scanning->scan;
    struct text_span name;
    const char *rest;
    uint32_t language;
    bool deletion = entry->kind == OPL_REG_DELETE_KEY;
    buffer_clear(&scanning->key);
    scanning->service_below = NULL;
    scanning->is_manual = false;
    if (!buffer_add_text(&scanning->key, entry->key))
        return false;
    const char *key = scanning->key.data;
    if (scan_language_key(key, REGISTRY_PERFLIB, &language, &rest)) {
        scan->languages = true;
        scanning->is_manual = text_equal_fold(rest, "\\Manual");
    }
    scan->languages |= text_equal_fold(key, LANGUAGES_KEY) ||
                       (deletion && (scan_key_covers(key, LANGUAGES_KEY) ||
                                     scan_key_covers(key, REGISTRY_PERFLIB)));
    if (deletion && scan_key_covers(key, REGISTRY_SERVICES))
        return scan_add_service(scan, (struct text_span){"", 0});
    if (!scan_service_key(key, &name, &scanning->service_below))
        return true;
    return scan_add_service(scan, name);
}

static bool note_entry(void *self, const opl_reg_entry *entry)
{
    struct scanning *scanning = self;
    if (entry->kind == OPL_REG_KEY || entry->kind == OPL_REG_DELETE_KEY)
        scanning->failed |= !note_key(scanning, entry);
    else if (entry->kind == OPL_REG_VALUE && scanning->service_below)
        note_service_value(scanning->scan, scanning->service_below, entry);
    else if (entry->kind == OPL_REG_VALUE && scanning->is_manual && entry->type == REG_MULTI_SZ)
        note_pairs(scanning->scan, entry->data, entry->size);
    return !scanning->failed;
}

void scan_done(struct file_scan *scan)
{
    buffer_done(&scan->services);
}

LSTATUS scan_registry(const struct buffer *text, struct file_scan *ret)
{
    struct scanning scanning = {.scan = ret};
    *ret = (struct file_scan){0};
    LSTATUS status =
        opl_reg_read(text->data ? text->data : "", text->len, 0, note_entry, &scanning);
    buffer_done(&scanning.key);
    if (scanning.failed || ret->services.failed)
        status = ERROR_NOT_ENOUGH_MEMORY;
    if (status)
        scan_done(ret);
    return status;
}

LSTATUS scan_names(const struct buffer *text, struct file_scan *ret)
{
    uint32_t index;
    *ret = (struct file_scan){.languages = true};
    for (const char *line = text->data; line && *line; line += *line == '\n') {
        if (text_decimal(line, strcspn(line, "\t\n"), &index))
            note_index(ret, index);
        line += strcspn(line, "\n");
    }
    return ERROR_SUCCESS;
}
