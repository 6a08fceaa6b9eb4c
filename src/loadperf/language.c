/* SPDX-License-Identifier: MIT */
/*
 * Switches languages and services on and off. A shipped language is installed from the beginning;
 * other choices are stored in SOFTWARE\openperflib\Languages, because subkeys of Perflib must be
 * languages (docs/windows/articles.md#c107).
 */
#include "loadperf/inner.h"

#include <stdio.h>
#include <string.h>

#define DISABLED "Disable Performance Counters"

static bool read_language(const char *text, uint32_t *ret)
{
    size_t count = text ? strlen(text) : 0;
    if (!count || count > 4 || !text_hex(text, count, ret) || !*ret)
        return false;
    *ret = names_language(*ret);
    return true;
}

static LSTATUS choose(const struct load *load, uint32_t language, uint32_t choice)
{
    char name[8];
    snprintf(name, sizeof name, "%03X", (unsigned)language & 0xffff);
    return registry_set(load->layer, LANGUAGES_KEY, name, REG_DWORD, &choice, sizeof choice);
}

/* Deletes its texts that were written by hand. */
static LSTATUS delete_texts(const struct load *load, uint32_t language)
{
    FREE_AUTO char *key = text_format("%s\\%03X", REGISTRY_PERFLIB, (unsigned)language & 0xffff);
    if (!key)
        return ERROR_NOT_ENOUGH_MEMORY;
    LSTATUS status = registry_delete_tree(load->layer, key);
    return status == ERROR_FILE_NOT_FOUND ? ERROR_SUCCESS : status;
}

DWORD opl_load_language(const char *language, bool remove, const opl_load_options *options)
{
    struct load load;
    uint32_t id;
    load_init(&load, options);
    if (!read_language(language, &id)) {
        load_error(&load, NULL, 0, "\"%s\" is not a language id such as 007",
                   language ? language : "");
        return ERROR_INVALID_PARAMETER;
    }
    if (id == LANGUAGE_ENGLISH && remove) {
        load_error(&load, NULL, 0,
                   "English replaces texts that other languages lack, and cannot be removed");
        return ERROR_INVALID_PARAMETER;
    }
    bool installed = names_language_installed(id);
    if (remove && !installed)
        load_error(&load, NULL, 0, "language %03X is not installed", (unsigned)id);
    if (remove && !installed)
        return ERROR_FILE_NOT_FOUND;
    if (installed != remove || load.options->dry_run)
        return ERROR_SUCCESS;
    LSTATUS status = choose(&load, id, !remove);
    if (!status && remove)
        status = delete_texts(&load, id);
    for (unsigned part = 0; status && part <= 1; part++)
        load_language_event(EVENT_NAMES_NOT_WRITTEN + part, id, status);
    if (status)
        load_error(&load, registry_folder(load.layer), 0, "cannot be written: %s",
                   status_text(status));
    return load_end(&load, status);
}

/* ---- services ---- */

static bool count_value(void *self, const struct registry_value *value)
{
    return true;
}

static LSTATUS forgive(const struct load *load, const char *key)
{
    static const char *const values[] = {"Quarantine", "Unanswered", "Error Count"};
    LSTATUS status = ERROR_SUCCESS;
    for (size_t i = 0; !status && i < COUNT(values); i++) {
        status = registry_delete_value(load->layer, key, values[i]);
        status = status == ERROR_FILE_NOT_FOUND ? ERROR_SUCCESS : status;
    }
    return status;
}

DWORD opl_load_enable(const char *service, bool enable, const opl_load_options *options)
{
    struct load load;
    uint32_t disabled = !enable, now = 0;
    load_init(&load, options);
    if (!service || !*service || strchr(service, '\\'))
        return ERROR_INVALID_PARAMETER;
    FREE_AUTO char *key = text_format("%s\\%s\\Performance", REGISTRY_SERVICES, service);
    if (!key)
        return ERROR_NOT_ENOUGH_MEMORY;
    LSTATUS status = registry_each_value(key, count_value, NULL);
    if (status) {
        load_error(&load, NULL, 0, "%s: there is no such service", service);
        return (DWORD)status;
    }
    if (load.options->dry_run)
        return ERROR_SUCCESS;
    registry_get_dword(key, DISABLED, &now);
    if (now != disabled)
        status = registry_set(load.layer, key, DISABLED, REG_DWORD, &disabled, sizeof disabled);
    if (!status && enable)
        status = forgive(&load, key);
    if (status)
        load_error(&load, registry_folder(load.layer), 0, "cannot be written: %s",
                   status_text(status));
    return (DWORD)status;
}
