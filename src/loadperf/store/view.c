/* SPDX-License-Identifier: MIT */
/*
 * Reads the registration of one service, and the languages, only from the files that mention them,
 * because merging all files takes long if many services are registered.
 */
#include "loadperf/inner.h"
#include "loadperf/store/stored.h"

#include <openperflib/regfile.h>
#include <winreg.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const number_names[NUMBERS] = {"First Counter", "Last Counter", "First Help",
                                           "Last Help"};
const char *const text_names[TEXTS] = {"Library", "Open", "Collect", "Close", "Object List"};

static void forget_texts(struct service_view *view)
{
    for (size_t i = 0; i < view->language_count; i++)
        view->languages[i].names = view->languages[i].helps = view->languages[i].sum = 0;
}

static void forget_service(struct service_view *view)
{
    view->exists = false;
    memset(view->has, 0, sizeof view->has);
    for (size_t i = 0; i < TEXTS; i++) {
        free(view->text[i]);
        view->text[i] = NULL;
    }
    forget_texts(view);
}

void view_done(struct service_view *view)
{
    forget_service(view);
}

/* Finds or adds a language. NULL: there are more languages than the limit. */
static struct view_language *language_of(struct service_view *view, uint32_t id)
{
    for (size_t i = 0; i < view->language_count; i++)
        if (view->languages[i].id == id)
            return &view->languages[i];
    if (view->language_count == VIEW_LANGUAGES)
        return NULL;
    view->languages[view->language_count] = (struct view_language){.id = id};
    return &view->languages[view->language_count++];
}

/* ---- one file's entries ---- */

struct viewing {
    struct service_view *view;
    const char *service;
    bool failed;
    struct buffer key;
    enum { OTHER, PERFORMANCE, NAMES, CHOICES } kind;
    struct view_language *language; /* the language, if `kind` is NAMES */
};

static bool is_services_own(const char *key, const char *service, const char **ret_below)
{
    struct text_span name;
    return scan_service_key(key, &name, ret_below) && span_is(name, service);
}

static void visit_key(struct viewing *viewing, const char *key)
{
    const char *rest;
    uint32_t id;
    struct view_language *language;
    viewing->kind = text_equal_fold(key, LANGUAGES_KEY) ? CHOICES : OTHER;
    if (scan_language_key(key, REGISTRY_PERFLIB, &id, &rest) &&
        (language = language_of(viewing->view, id)))
        language->has_key = true;
    if (!is_services_own(key, viewing->service, &rest))
        return;
    if (text_equal_fold(rest, "\\Performance"))
        viewing->kind = PERFORMANCE;
    viewing->view->exists |= scan_key_covers("\\Performance", rest);
    if (scan_language_key(rest, "\\Performance\\Names", &id, &rest) && !*rest &&
        (viewing->language = language_of(viewing->view, id)))
        viewing->kind = NAMES;
}

static void delete_languages(struct service_view *view, const char *key)
{
    for (size_t i = 0; i < view->language_count; i++) {
        uint32_t id;
        const char *rest;
        struct view_language *language = &view->languages[i];
        bool own = scan_language_key(key, REGISTRY_PERFLIB, &id, &rest) && !*rest;
        if ((own && id == language->id) || scan_key_covers(key, REGISTRY_PERFLIB))
            language->has_key = false;
        if (scan_key_covers(key, LANGUAGES_KEY))
            language->chosen = false;
    }
}

static void delete_key(struct viewing *viewing, const char *key)
{
    const char *rest;
    uint32_t id;
    struct view_language *language;
    viewing->kind = OTHER;
    delete_languages(viewing->view, key);
    if (scan_key_covers(key, REGISTRY_SERVICES)) {
        forget_service(viewing->view);
        return;
    }
    if (!is_services_own(key, viewing->service, &rest))
        return;
    if (scan_key_covers(rest, "\\Performance"))
        forget_service(viewing->view);
    else if (text_equal_fold(rest, "\\Performance\\Names"))
        forget_texts(viewing->view);
    else if (scan_language_key(rest, "\\Performance\\Names", &id, &rest) && !*rest &&
             (language = language_of(viewing->view, id)))
        language->names = language->helps = language->sum = 0;
}

static bool read_number(const opl_reg_entry *entry, uint32_t *ret)
{
    bool good =
        entry->kind == OPL_REG_VALUE && entry->type == REG_DWORD && entry->size == sizeof *ret;
    if (good)
        memcpy(ret, entry->data, sizeof *ret);
    return good;
}

static bool visit_service_value(struct service_view *view, const opl_reg_entry *entry)
{
    view->state |= state_is(entry->name) || text_equal_fold(entry->name, VALUE_DISABLED);
    for (size_t i = 0; i < NUMBERS; i++)
        if (text_equal_fold(entry->name, number_names[i]))
            view->has[i] = read_number(entry, &view->number[i]);
    bool is_text =
        entry->kind == OPL_REG_VALUE && (entry->type == REG_SZ || entry->type == REG_EXPAND_SZ);
    for (size_t i = 0; i < TEXTS; i++) {
        if (!text_equal_fold(entry->name, text_names[i]))
            continue;
        free(view->text[i]);
        view->text[i] = is_text ? strndup(entry->data, entry->size) : NULL;
        if (is_text && !view->text[i])
            return false;
    }
    return true;
}

static void visit_text(struct view_language *language, const opl_reg_entry *entry)
{
    uint32_t index;
    if (entry->kind != OPL_REG_VALUE || !text_decimal(entry->name, strlen(entry->name), &index))
        return;
    language->sum += index;
    if (index % 2)
        language->helps++;
    else
        language->names++;
}

static void visit_choice(struct service_view *view, const opl_reg_entry *entry)
{
    uint32_t id, choice;
    struct view_language *language;
    if (!text_hex(entry->name, strlen(entry->name), &id) || !(language = language_of(view, id)))
        return;
    language->chosen = read_number(entry, &choice);
    language->choice = language->chosen && choice;
}

static bool visit_entry(void *self, const opl_reg_entry *entry)
{
    struct viewing *viewing = self;
    bool is_value = entry->kind == OPL_REG_VALUE || entry->kind == OPL_REG_DELETE_VALUE;
    if (entry->kind == OPL_REG_KEY)
        visit_key(viewing, entry->key);
    else if (entry->kind == OPL_REG_DELETE_KEY)
        delete_key(viewing, entry->key);
    else if (is_value && viewing->kind == PERFORMANCE)
        viewing->failed |= !visit_service_value(viewing->view, entry);
    else if (is_value && viewing->kind == NAMES)
        visit_text(viewing->language, entry);
    else if (is_value && viewing->kind == CHOICES)
        visit_choice(viewing->view, entry);
    return !viewing->failed;
}

/* ---- relevant sections: manual.reg may contain a thousand other services ---- */

/* Returns the part of a key's path after `count` backslashes, up to the next backslash or the
 * closing bracket. */
static struct text_span key_part(struct text_span line, unsigned count)
{
    const char *at = line.at, *end = line.at + line.count;
    for (; count && at < end; at++)
        count -= *at == '\\';
    size_t length = 0;
    while (at + length < end && at[length] != '\\' && at[length] != ']')
        length++;
    return (struct text_span){at, length};
}

/* False for a section of another service: [HKLM\SYSTEM\CurrentControlSet\Services\ANOTHER...]. */
static bool section_matters(struct text_span line, const char *service)
{
    line = span_trim(line);
    bool deletion = line.count > 1 && line.at[1] == '-';
    return deletion || !span_is(key_part(line, 1), "SYSTEM") || span_is(key_part(line, 4), service);
}

/* Copies the lines before the first key, and the sections that are not of another service. */
static bool add_sections(const struct buffer *text, const char *service, struct buffer *ret)
{
    const char *at = text->data, *end = text->data + text->len;
    for (bool keep = true; at < end;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t count = (size_t)((stop ? stop + 1 : end) - at);
        size_t blanks = strspn(at, " \t");
        if (at[blanks] == '[')
            keep = section_matters((struct text_span){at + blanks, count - blanks}, service);
        if (keep && !buffer_add(ret, at, count))
            return false;
        at += count;
    }
    return true;
}

static LSTATUS visit_file(struct service_view *view, const char *service, const struct buffer *text)
{
    enum { FEW_BYTES = 4096 };
    BUFFER_AUTO sections = {0};
    struct viewing viewing = {.view = view, .service = service};
    bool reduced = text->len > FEW_BYTES && (unsigned char)text->data[0] < 0x80;
    if (reduced && !add_sections(text, service, &sections))
        return ERROR_NOT_ENOUGH_MEMORY;
    const struct buffer *given = reduced ? &sections : text;
    LSTATUS status =
        opl_reg_read(given->data ? given->data : "", given->len, 0, visit_entry, &viewing);
    return viewing.failed ? ERROR_NOT_ENOUGH_MEMORY : status;
}

/* ---- all relevant files ---- */

static bool concerns(const struct known_file *file, const char *service)
{
    return file->row.languages || scan_mentions(file->row.services, service) ||
           scan_mentions(file->row.services, "");
}

/* Returns the file's row in `replaced`. NULL: the file is not changed. */
static const struct replaced *replacement(const struct replaced *replaced,
                                          enum registry_layer layer, const char *name)
{
    for (; replaced && replaced->name; replaced++)
        if (replaced->layer == layer && !strcmp(replaced->name, name))
            return replaced;
    return NULL;
}

static LSTATUS read_known(struct service_view *view, const char *service,
                          const struct known_file *file)
{
    BUFFER_AUTO text = {0};
    if (!concerns(file, service))
        return ERROR_SUCCESS;
    LSTATUS status = registry_read_file(file->row.file.layer, file->row.file.name, &text);
    if (status)
        return status_is_passing(status) ? status : ERROR_SUCCESS;
    return visit_file(view, service, &text);
}

static bool is_shipped(const struct known_file *file)
{
    return !strncmp(file->row.file.name, SHIPPED_NAMES, strlen(SHIPPED_NAMES));
}

static void visit_shipped(struct service_view *view, const struct known_file *file)
{
    uint32_t id;
    const char *name = file->row.file.name + strlen(SHIPPED_NAMES);
    struct view_language *language =
        text_hex(name, strcspn(name, "."), &id) ? language_of(view, id) : NULL;
    if (language)
        language->shipped = true;
}

/* Reads the files in `replaced` that do not exist yet: manual.reg, or (`manual` false) the others,
 * which are merged before manual.reg. */
static LSTATUS read_new(struct service_view *view, const char *service,
                        const struct known_files *known, const struct replaced *replaced,
                        enum registry_layer layer, bool manual)
{
    LSTATUS status = ERROR_SUCCESS;
    for (; !status && replaced && replaced->name; replaced++)
        if (replaced->layer == layer && replaced->text &&
            (strcmp(replaced->name, MANUAL_REG) == 0) == manual &&
            !known_find(known, layer, replaced->name))
            status = visit_file(view, service, replaced->text);
    return status;
}

static LSTATUS read_layer(const struct known_files *known, const char *service,
                          enum registry_layer layer, const struct replaced *replaced,
                          struct service_view *view)
{
    LSTATUS status = ERROR_SUCCESS;
    for (int manual = 0; !status && manual < 2; manual++) {
        for (size_t i = 0; !status && i < known->count; i++) {
            const struct known_file *file = &known->files[i];
            const char *name = file->row.file.name;
            if (file->row.file.layer != layer || is_shipped(file) ||
                (strcmp(name, MANUAL_REG) == 0) != manual)
                continue;
            const struct replaced *other = replacement(replaced, layer, name);
            if (!other)
                status = read_known(view, service, file);
            else if (other->text)
                status = visit_file(view, service, other->text);
        }
        status = status ? status : read_new(view, service, known, replaced, layer, manual);
    }
    return status;
}

LSTATUS view_read(const struct known_files *known, const char *service, enum registry_layer highest,
                  const struct replaced *replaced, struct service_view *ret)
{
    LSTATUS status = ERROR_SUCCESS;
    *ret = (struct service_view){0};
    for (size_t i = 0; i < known->count; i++)
        if (is_shipped(&known->files[i]))
            visit_shipped(ret, &known->files[i]);
    for (int layer = LAYER_VENDOR; !status && layer <= (int)highest; layer++)
        status = read_layer(known, service, (enum registry_layer)layer, replaced, ret);
    if (status)
        view_done(ret);
    return status;
}

/* ---- queries ---- */

/* True if the service is loaded. Impossible numbers do not count, because they come from an
 * incomplete file. */
bool view_is_loaded(const struct service_view *view)
{
    const uint32_t *number = view->number;
    return view->has[FIRST_COUNTER] && view->has[LAST_COUNTER] && view->has[FIRST_HELP] &&
           view->has[LAST_HELP] && number[FIRST_COUNTER] <= number[LAST_COUNTER] &&
           number[FIRST_HELP] <= number[LAST_HELP];
}

bool view_has_any(const struct service_view *view)
{
    size_t texts;
    uint64_t sum;
    view_totals(view, &texts, &sum);
    bool any = texts > 0;
    for (size_t i = 0; i < NUMBERS; i++)
        any |= view->has[i];
    return any;
}

/* True if the language is installed. English always is; the module names has the same rule. */
bool view_has_language(const struct service_view *view, uint32_t language)
{
    for (size_t i = 0; i < view->language_count; i++) {
        const struct view_language *known = &view->languages[i];
        if (known->id == language && language != LANGUAGE_ENGLISH)
            return known->chosen ? known->choice : known->shipped || known->has_key;
    }
    return language == LANGUAGE_ENGLISH;
}

void view_totals(const struct service_view *view, size_t *ret_texts, uint64_t *ret_sum)
{
    *ret_texts = 0;
    *ret_sum = 0;
    for (size_t i = 0; i < view->language_count; i++) {
        *ret_texts += view->languages[i].names + view->languages[i].helps;
        *ret_sum += view->languages[i].sum;
    }
}

void view_result(const struct service_view *view, const char *service, opl_load_result *ret)
{
    size_t words;
    *ret = (opl_load_result){.first_counter = view->number[FIRST_COUNTER],
                             .last_counter = view->number[LAST_COUNTER],
                             .first_help = view->number[FIRST_HELP],
                             .last_help = view->number[LAST_HELP]};
    snprintf(ret->service, sizeof ret->service, "%s", service);
    for (size_t i = 0; i < view->language_count; i++) {
        const struct view_language *language = &view->languages[i];
        if (language->id == LANGUAGE_ENGLISH) {
            ret->names = language->names;
            ret->helps = language->helps;
        }
        ret->languages += language->names > 0 && view_has_language(view, language->id);
    }
    const char *cursor = view->text[OBJECT_LIST];
    while (cursor && text_word(&cursor, &words))
        ret->objects++;
}
