/* SPDX-License-Identifier: MIT */
/*
 * Changes the files of one layer. First the new text of a file, with a service's registration
 * removed or added: the rest of the file, with its comments, is not changed; only a damaged line
 * becomes a comment. Then the change itself: takes the lock, reads the scan results of all files,
 * and writes files.
 */
#include "loadperf/store/stored.h"

#include <openperflib/regfile.h>
#include <winreg.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEADER "Windows Registry Editor Version 5.00\n"

LSTATUS rewrite_print(struct buffer *out, const opl_reg_entry *entry)
{
    size_t capacity = 256;
    for (;;) {
        if (!buffer_reserve(out, capacity))
            return ERROR_NOT_ENOUGH_MEMORY;
        LSTATUS status = opl_reg_print(entry, out->data + out->len, &capacity);
        if (status == ERROR_SUCCESS)
            out->len += capacity - 1;
        if (status != ERROR_MORE_DATA)
            return status;
    }
}

/* ---- removing ---- */

struct rewriting {
    const char *service;
    bool record;  /* also remove Library, Open, Collect and Close */
    bool numbers; /* keep the service's numbers */
    struct buffer *out;
    struct buffer key;   /* the key that the next values belong to */
    bool key_is_printed; /* the key's line has been printed */
    bool key_had_values;
    bool in_performance, in_names; /* `key` is this service's key Performance, or its key Names */
    bool empty;
    LSTATUS status;
};

static bool is_ours(const struct rewriting *rewriting, const char *name)
{
    bool number = text_equal_fold(name, VALUE_RESERVED);
    for (size_t i = 0; i < NUMBERS; i++)
        number |= text_equal_fold(name, number_names[i]);
    if (number)
        return !rewriting->numbers;
    for (size_t i = rewriting->record ? LIBRARY : OBJECT_LIST; i < TEXTS; i++)
        if (text_equal_fold(name, text_names[i]))
            return true;
    if (rewriting->record && (state_is(name) || text_equal_fold(name, VALUE_DISABLED)))
        return true;
    return text_equal_fold(name, "Library Validation Code") || text_equal_fold(name, VALUE_INI);
}

static void put(struct rewriting *rewriting, const opl_reg_entry *entry)
{
    LSTATUS status = rewrite_print(rewriting->out, entry);
    rewriting->status = rewriting->status ? rewriting->status : status;
    rewriting->empty = false;
}

static void put_key(struct rewriting *rewriting)
{
    if (rewriting->key.len && !rewriting->key_is_printed)
        put(rewriting, &(opl_reg_entry){.kind = OPL_REG_KEY, .key = rewriting->key.data});
    rewriting->key_is_printed = true;
}

/* Ends a key. A key line that had no values creates the key, so it is kept; one whose values were
 * all removed is dropped. */
static void end_key(struct rewriting *rewriting)
{
    if (!rewriting->key_had_values && !rewriting->in_names)
        put_key(rewriting);
    buffer_clear(&rewriting->key);
}

static void begin_key(struct rewriting *rewriting, const opl_reg_entry *entry)
{
    struct text_span name;
    const char *below = "";
    end_key(rewriting);
    bool own = scan_service_key(entry->key, &name, &below) && span_is(name, rewriting->service);
    rewriting->in_names = own && scan_key_covers("\\Performance\\Names", below);
    rewriting->in_performance = own && text_equal_fold(below, "\\Performance");
    rewriting->key_is_printed = rewriting->key_had_values = false;
    if (entry->kind == OPL_REG_KEY && !rewriting->in_names)
        buffer_add_text(&rewriting->key, entry->key);
    else if (!rewriting->in_names)
        put(rewriting, entry);
}

static void take_value(struct rewriting *rewriting, const opl_reg_entry *entry)
{
    rewriting->key_had_values = true;
    if (rewriting->in_names || (rewriting->in_performance && is_ours(rewriting, entry->name)))
        return;
    put_key(rewriting);
    put(rewriting, entry);
}

/* Keeps a comment where it is. A file that has only comments counts as empty. */
static void take_remark(struct rewriting *rewriting, const opl_reg_entry *entry)
{
    if (rewriting->key.len && !rewriting->in_names && !rewriting->in_performance)
        put_key(rewriting);
    if (entry->kind == OPL_REG_DAMAGED)
        buffer_printf(rewriting->out, "; damaged (%s): %s\n", entry->why, entry->name);
    else
        buffer_printf(rewriting->out, "%s\n", entry->name);
}

static bool take_entry(void *self, const opl_reg_entry *entry)
{
    struct rewriting *rewriting = self;
    if (entry->kind == OPL_REG_KEY || entry->kind == OPL_REG_DELETE_KEY)
        begin_key(rewriting, entry);
    else if (entry->kind == OPL_REG_VALUE || entry->kind == OPL_REG_DELETE_VALUE)
        take_value(rewriting, entry);
    else
        take_remark(rewriting, entry);
    return !rewriting->status && !rewriting->out->failed && !rewriting->key.failed;
}

LSTATUS rewrite_without(const struct buffer *old, const char *service, bool record, bool numbers,
                        struct buffer *ret, bool *ret_empty)
{
    struct rewriting rewriting = {
        .service = service, .record = record, .numbers = numbers, .out = ret, .empty = true};
    buffer_clear(ret);
    buffer_add_text(ret, HEADER);
    LSTATUS status = ERROR_SUCCESS;
    if (old->len)
        status = opl_reg_read(old->data, old->len, 0, take_entry, &rewriting);
    end_key(&rewriting);
    bool failed = ret->failed || rewriting.key.failed;
    buffer_done(&rewriting.key);
    *ret_empty = rewriting.empty;
    status = status ? status : rewriting.status;
    return status ? status : failed ? ERROR_NOT_ENOUGH_MEMORY : ERROR_SUCCESS;
}

/* ---- adding ---- */

static void put_service_key(struct buffer *out, opl_reg_kind kind, const char *service,
                            const char *below)
{
    buffer_printf(out, "\n[%s" REGISTRY_SERVICES "\\%s\\Performance%s]\n",
                  kind == OPL_REG_DELETE_KEY ? "-" : "", service, below);
}

static LSTATUS put_text(struct buffer *out, const char *name, const char *text)
{
    return rewrite_print(out, &(opl_reg_entry){.kind = OPL_REG_VALUE,
                                               .name = name,
                                               .type = REG_SZ,
                                               .data = text,
                                               .size = strlen(text) + 1});
}

static LSTATUS put_record(const struct registration *registration, struct buffer *out)
{
    LSTATUS status = ERROR_SUCCESS;
    for (size_t i = 0; !status && registration->record[LIBRARY] && i < OBJECT_LIST; i++)
        status = put_text(out, text_names[i], registration->record[i]);
    for (size_t i = 0; i < NUMBERS; i++)
        buffer_printf(out, "\"%s\"=dword:%08x\n", number_names[i],
                      (unsigned)registration->number[i]);
    if (registration->reserved)
        buffer_printf(out, "\"" VALUE_RESERVED "\"=dword:%08x\n", (unsigned)registration->reserved);
    if (!status && registration->objects)
        status = put_text(out, text_names[OBJECT_LIST], registration->objects);
    if (!status && registration->ini)
        status = put_text(out, VALUE_INI, registration->ini);
    if (!status && registration->validation)
        status = rewrite_print(out, &(opl_reg_entry){.kind = OPL_REG_VALUE,
                                                     .name = "Library Validation Code",
                                                     .type = REG_BINARY,
                                                     .data = registration->validation,
                                                     .size = 16});
    return status;
}

/* Appends a text. An English name without explanation gets an empty one, so that Last Help is the
 * explanation of the last name. */
static LSTATUS put_plan_text(const struct plan *plan, uint32_t first, const struct plan_text *text,
                             struct buffer *out)
{
    char name[16];
    snprintf(name, sizeof name, "%u", (unsigned)(first + text->offset));
    LSTATUS status = put_text(out, name, text->text);
    bool alone = text->language == LANGUAGE_ENGLISH && text->offset % 2 == 0 &&
                 !plan_find(plan, text->language, text->offset + 1);
    snprintf(name, sizeof name, "%u", (unsigned)(first + text->offset + 1));
    return alone && !status ? put_text(out, name, "") : status;
}

LSTATUS rewrite_add(const struct registration *registration, struct buffer *ret)
{
    const struct plan *plan = registration->plan;
    char language[16];
    put_service_key(ret, OPL_REG_KEY, plan->service, "");
    LSTATUS status = put_record(registration, ret);
    for (size_t i = 0; !status && i < plan->text_count; i++) {
        const struct plan_text *text = &plan->texts[i];
        if (!i || plan->texts[i - 1].language != text->language) {
            snprintf(language, sizeof language, "\\Names\\%03X", (unsigned)text->language);
            put_service_key(ret, OPL_REG_KEY, plan->service, language);
        }
        status = put_plan_text(plan, registration->number[FIRST_COUNTER], text, ret);
    }
    return status ? status : buffer_status(ret);
}

LSTATUS rewrite_tombstone(const char *service, bool numbers, struct buffer *ret)
{
    if (numbers) {
        put_service_key(ret, OPL_REG_KEY, service, "");
        for (size_t i = 0; i < NUMBERS; i++)
            buffer_printf(ret, "\"%s\"=-\n", number_names[i]);
        buffer_printf(ret, "\"%s\"=-\n", text_names[OBJECT_LIST]);
    }
    put_service_key(ret, OPL_REG_DELETE_KEY, service, "\\Names");
    return buffer_status(ret);
}

/* ---- the file's name ---- */

/* Makes a file's name from the service's. A slash in the service's name, a dot at its beginning and
 * the first letter of the reserved name "manual" are encoded. If the name is too long for the file
 * system, it is cut, and made unique by a hash of the whole name. */
static bool encode_name(const char *service, struct buffer *ret)
{
    enum { LONGEST = 200 };
    unsigned long long number = 0;
    bool manual = text_equal_fold(service, "manual");
    buffer_clear(ret);
    for (const char *at = service; *at; at++) {
        number = number * 31 + (unsigned char)*at;
        bool plain = *at != '/' && *at != '%' && !(at == service && (*at == '.' || manual));
        if (ret->len < LONGEST)
            buffer_printf(ret, plain ? "%c" : "%%%02X", (unsigned char)*at);
    }
    if (ret->len >= LONGEST)
        buffer_printf(ret, "%%%016llx", number);
    return buffer_add_text(ret, ".reg");
}

/* Sets *ret to the name of the service's file NAME.reg: that of an existing file, whose case may
 * differ, or a new one. */
static LSTATUS rewrite_file_name(const struct known_files *known, enum registry_layer layer,
                                 const char *service, struct buffer *ret)
{
    if (!encode_name(service, ret))
        return ERROR_NOT_ENOUGH_MEMORY;
    for (size_t i = 0; i < known->count; i++) {
        const struct registry_file *file = &known->files[i].row.file;
        if (file->layer != layer || !text_equal_fold(file->name, ret->data))
            continue;
        buffer_clear(ret);
        buffer_add_text(ret, file->name);
        break;
    }
    return buffer_status(ret);
}

/* ---- a change of the layer's files ---- */

static const char *advice(const struct load *load, LSTATUS status)
{
    if (status != ERROR_ACCESS_DENIED)
        return "";
    if (!place_machine())
        return "; OPENPERFLIB_ROOT is not used; event 4013 says why";
    if (load->options->user)
        return "; set XDG_DATA_HOME to use another folder (HOME is ignored)";
    return geteuid() == 0 ? "; check the owners of the folder and of .lock in it, and that no "
                            "other user may write it"
                          : "; run it as root, or with --user for yourself only";
}

static LSTATUS begin_edit(struct layer_change *change)
{
    struct load *load = change->load;
    if (load->options->dry_run)
        return ERROR_SUCCESS;
    LSTATUS status = registry_edit_begin(load->layer, &change->edit);
    const char *folder = registry_folder(load->layer);
    if (status)
        load_event(EVENT_NO_PERFLIB, NULL, status);
    if (status)
        load_error(load, folder, 0, "cannot be written: %s%s", status_text(status),
                   advice(load, status));
    return status;
}

LSTATUS change_begin(struct layer_change *change, struct load *load, const char *service)
{
    *change = (struct layer_change){.load = load};
    LSTATUS status = begin_edit(change);
    status = status ? status : known_read(load->layer, &change->known);
    status =
        status ? status : rewrite_file_name(&change->known, load->layer, service, &change->file);
    if (status)
        change_end(change);
    return status;
}

LSTATUS change_read(struct layer_change *change, const char *name, struct buffer *ret)
{
    buffer_clear(ret);
    if (!known_find(&change->known, change->load->layer, name))
        return ERROR_SUCCESS;
    LSTATUS status = registry_read_file(change->load->layer, name, ret);
    if (status == ERROR_FILE_NOT_FOUND)
        return ERROR_SUCCESS;
    if (status)
        load_error(change->load, name, 0,
                   "cannot be read or is not trusted: %s; see docs/registry.md",
                   status_text(status));
    return status;
}

/* Records the result of a file's scan. If there is no memory nothing is recorded, and the next
 * process scans the file again. */
static void remember(struct layer_change *change, const struct registry_file *file,
                     const struct buffer *text, struct file_scan *scan)
{
    struct file_scan found = {0};
    if (!scan && scan_registry(text, &found) == ERROR_SUCCESS)
        scan = &found;
    if (!scan || known_update(&change->known, file, scan))
        known_forget(&change->known, file->layer, file->name);
}

LSTATUS change_commit(struct layer_change *change, const char *name, const struct buffer *text,
                      struct file_scan *scan)
{
    struct registry_file file;
    enum registry_layer layer = change->load->layer;
    if (!change->edit)
        return ERROR_SUCCESS;
    LSTATUS status = text ? registry_edit_replace(change->edit, name, text->data, text->len, &file)
                          : registry_edit_remove(change->edit, name);
    if (!text && status == ERROR_FILE_NOT_FOUND)
        status = ERROR_SUCCESS;
    if (status) {
        load_error(change->load, registry_folder(layer), 0, "%s cannot be written: %s", name,
                   status_text(status));
        return status;
    }
    if (!text)
        known_forget(&change->known, layer, name);
    else
        remember(change, &file, text, scan);
    return ERROR_SUCCESS;
}

void change_end(struct layer_change *change)
{
    if (change->edit)
        known_save(&change->known, change->edit);
    registry_edit_end(change->edit);
    known_done(&change->known);
    buffer_done(&change->file);
    change->edit = NULL;
}
