/* SPDX-License-Identifier: MIT */
/*
 * Restores the registrations from a backup, or without one from the ini files that providers were
 * loaded from, whose paths are in the registry. Both are done by one merge (merge.c). The name
 * bases need not be rebuilt, because they are merged whenever they are read.
 */
#include "loadperf/store/stored.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static LSTATUS restore_file(struct load *load, const char *path, const char *language,
                            opl_load_restored *ret)
{
    struct stored stored;
    uint32_t id = 0;
    size_t count = language ? strlen(language) : 0;
    if (language && (!count || count > 4 || !text_hex(language, count, &id) || !id)) {
        load_error(load, NULL, 0, "\"%s\" is not a language id such as 007", language);
        return ERROR_INVALID_PARAMETER;
    }
    LSTATUS status = stored_read(load, path, id ? names_language(id) : 0, &stored);
    if (status)
        return status;
    stored.language = id ? names_language(id) : 0;
    status = merge_stored(load, &stored, ret);
    stored_done(&stored);
    return status;
}

/* ---- without a backup ---- */

struct rebuilding {
    struct load *load;
    struct stored stored;
    struct buffer missing; /* paths of missing ini files, of services that have neither numbers nor
                            * texts */
    opl_load_restored *result;
};

static uint32_t lowest_name(const struct stored_texts *texts)
{
    size_t at = stored_texts_from(texts, LANGUAGE_ENGLISH, 0);
    return at < texts->count && texts->list[at].language == LANGUAGE_ENGLISH
               ? texts->list[at].index & ~1u
               : 0;
}

/* Sets *ret to the index of offset 0, which is First Counter. If First Counter is lost, the index
 * is computed from the lowest name. 0: unknown. */
static LSTATUS find_first(const struct here *here, const struct plan *plan, uint32_t *ret)
{
    struct stored_texts texts = {0};
    *ret = here->number[FIRST_COUNTER];
    if (here->loaded || !plan->text_count)
        return ERROR_SUCCESS;
    LSTATUS status = stored_texts_of_service(here->name, &texts);
    uint32_t lowest = lowest_name(&texts);
    size_t english = 0;
    while (english < plan->text_count && plan->texts[english].language != LANGUAGE_ENGLISH)
        english++;
    uint32_t offset = english < plan->text_count ? plan->texts[english].offset & ~1u : 0;
    *ret = lowest > offset ? lowest - offset : 0;
    stored_texts_done(&texts);
    return status;
}

LSTATUS restore_objects(const struct plan *plan, uint32_t first, char **ret)
{
    BUFFER_AUTO list = {0};
    for (size_t i = 0; plan->has_objects && i < plan->object_count; i++)
        buffer_printf(&list, i ? " %u" : "%u", (unsigned)(first + plan->objects[i]));
    *ret = list.data;
    list.data = NULL;
    return list.failed ? ERROR_NOT_ENOUGH_MEMORY : ERROR_SUCCESS;
}

LSTATUS restore_add(struct stored *stored, const char *service, const uint32_t *number,
                    const struct plan *plan)
{
    struct stored_provider provider = {.name = strdup(service)};
    FREE_AUTO char *key = here_key(service);
    for (size_t i = 0; i < NUMBERS; i++) {
        provider.has[i] = true;
        provider.number[i] = number[i];
    }
    LSTATUS status = ERROR_SUCCESS;
    if (plan)
        status = restore_objects(plan, number[FIRST_COUNTER], &provider.text[OBJECT_LIST]);
    if (status || !key || !provider.name ||
        !list_grow(&stored->providers, stored->provider_count, &stored->provider_capacity,
                   sizeof provider)) {
        free(provider.name);
        free(provider.text[OBJECT_LIST]);
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    registry_get_dword(key, VALUE_DISABLED, &provider.disabled);
    stored->providers[stored->provider_count++] = provider;
    for (size_t i = 0; plan && i < plan->text_count; i++)
        if (!stored_texts_add(&stored->texts, plan->texts[i].language,
                              number[FIRST_COUNTER] + plan->texts[i].offset,
                              strdup(plan->texts[i].text)))
            return ERROR_NOT_ENOUGH_MEMORY;
    return ERROR_SUCCESS;
}

LSTATUS restore_plan(struct load *load, const char *service, struct plan *ret, bool *ret_good)
{
    struct load quiet = *load;
    opl_load_options options = *quiet.options;
    FREE_AUTO char *path = here_text(service, VALUE_INI);
    *ret_good = false;
    *ret = (struct plan){0};
    if (!path)
        return ERROR_SUCCESS;
    if (!load_believes(path)) /* the file is not used, because another user may have changed it */
        return ERROR_SUCCESS;
    options.remark = NULL;
    quiet.careful = true;
    quiet.options = &options;
    LSTATUS status = plan_read(&quiet, path, ret);
    if (status)
        return status_is_passing(status) ? status : ERROR_SUCCESS;
    *ret_good = text_equal_fold(ret->service, service);
    if (!*ret_good)
        plan_done(ret);
    return ERROR_SUCCESS;
}

static LSTATUS take_ini(struct rebuilding *rebuilding, const struct here *here, const char *path)
{
    struct plan plan;
    uint32_t first;
    bool good;
    LSTATUS status = restore_plan(rebuilding->load, here->name, &plan, &good);
    if (status)
        return status;
    if (!good) {
        load_warning(rebuilding->load, path, 0,
                     "%s was loaded from this file, which is gone, has mistakes, or can be "
                     "changed by others: the service was not changed",
                     here->name);
        rebuilding->result->left++;
        return ERROR_SUCCESS;
    }
    status = find_first(here, &plan, &first);
    const uint32_t number[NUMBERS] = {[FIRST_COUNTER] = first,
                                      [LAST_COUNTER] = first + plan.last_offset,
                                      [FIRST_HELP] = first + 1,
                                      [LAST_HELP] = first + plan.last_offset + 1};
    if (!status && first)
        status = restore_add(&rebuilding->stored, here->name, number, &plan);
    else if (!status)
        buffer_add(&rebuilding->missing, path, strlen(path) + 1);
    plan_done(&plan);
    return status;
}

static LSTATUS take_services(struct rebuilding *rebuilding)
{
    struct here_list list = {0};
    LSTATUS status = here_read(&list);
    for (size_t i = 0; !status && i < list.count; i++) {
        const struct here *here = &list.list[i];
        FREE_AUTO char *path = here_text(here->name, VALUE_INI);
        if (here->users != (rebuilding->load->layer == LAYER_USER))
            continue;
        if (path)
            status = take_ini(rebuilding, here, path);
        else
            rebuilding->result->same += here->loaded;
    }
    here_done(&list);
    return status;
}

static LSTATUS install_missing(struct rebuilding *rebuilding)
{
    const struct buffer *missing = &rebuilding->missing;
    LSTATUS status = ERROR_SUCCESS;
    for (size_t at = 0; !status && at < missing->len; at += strlen(missing->data + at) + 1) {
        opl_load_result result;
        status = (LSTATUS)opl_load_install(missing->data + at, rebuilding->load->options, &result);
        rebuilding->result->providers++;
        rebuilding->result->restored += !status;
    }
    return status;
}

static LSTATUS rebuild(struct load *load, opl_load_restored *ret)
{
    struct rebuilding rebuilding = {.load = load, .result = ret};
    LSTATUS status = take_services(&rebuilding);
    size_t others = ret->same + ret->left;
    if (!status && !stored_texts_sort(&rebuilding.stored.texts))
        status = ERROR_NOT_ENOUGH_MEMORY;
    status = status ? status : merge_stored(load, &rebuilding.stored, ret);
    ret->providers += others;
    status = status ? status : install_missing(&rebuilding);
    stored_done(&rebuilding.stored);
    buffer_done(&rebuilding.missing);
    return status;
}

DWORD opl_load_restore(const char *path, const char *language, const opl_load_options *options,
                       opl_load_restored *ret)
{
    struct load load;
    opl_load_restored result = {0};
    load_init(&load, options);
    if (path && !*path)
        return ERROR_INVALID_PARAMETER;
    LSTATUS status = path ? restore_file(&load, path, language, &result) : rebuild(&load, &result);
    if (!status && ret)
        *ret = result;
    return load_end(&load, status);
}
