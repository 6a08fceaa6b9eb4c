/* SPDX-License-Identifier: MIT */
/* Lists the services in the registry with their numbers, as every program here sees them. */
#include "loadperf/store/stored.h"

#include <stdlib.h>
#include <string.h>

void here_done(struct here_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->list[i].name);
    free(list->list);
    *list = (struct here_list){0};
}

char *here_key(const char *service)
{
    return text_format("%s\\%s\\Performance", REGISTRY_SERVICES, service);
}

char *here_text(const char *service, const char *value)
{
    BUFFER_AUTO text = {0};
    uint32_t type;
    FREE_AUTO char *key = here_key(service);
    if (!key || registry_get(key, value, &type, &text) || (type != REG_SZ && type != REG_EXPAND_SZ))
        return NULL;
    return strndup(text.data ? text.data : "", text.len);
}

bool here_is_users(const char *service)
{
    FREE_AUTO char *key = here_key(service);
    uint32_t number;
    for (size_t i = 0; key && i < NUMBERS; i++)
        if (!registry_get_dword(key, number_names[i], &number))
            return registry_is_users(key, number_names[i]);
    return key && registry_is_users(key, text_names[LIBRARY]);
}

bool opl_load_is_users(const char *service)
{
    return service && here_is_users(service);
}

bool here_is_reserved(const char *service)
{
    FREE_AUTO char *key = here_key(service), *library = here_text(service, text_names[LIBRARY]);
    uint32_t last;
    return !library && key && !registry_get_dword(key, VALUE_RESERVED, &last);
}

static bool take_service(void *self, const char *name)
{
    struct here_list *list = self;
    struct here here = {.loaded = true};
    bool any = false;
    uint32_t type;
    BUFFER_AUTO library = {0};
    FREE_AUTO char *key = here_key(name);
    if (!key)
        return false;
    for (size_t i = 0; i < NUMBERS; i++)
        any |= here.has[i] = !registry_get_dword(key, number_names[i], &here.number[i]);
    for (size_t i = 0; i < NUMBERS; i++)
        here.loaded &= here.has[i];
    here.loaded &= here.number[FIRST_COUNTER] <= here.number[LAST_COUNTER] &&
                   here.number[FIRST_HELP] <= here.number[LAST_HELP];
    if (!any && registry_get(key, text_names[LIBRARY], &type, &library))
        return true; /* skipped: the service is not a provider */
    here.users = here_is_users(name);
    here.name = strdup(name);
    if (!here.name || !list_grow(&list->list, list->count, &list->capacity, sizeof *list->list)) {
        free(here.name);
        return false;
    }
    list->list[list->count++] = here;
    return true;
}

struct taking {
    struct here_list *list;
    bool failed;
};

static bool take_or_fail(void *self, const char *name)
{
    struct taking *taking = self;
    taking->failed = !take_service(taking->list, name);
    return !taking->failed;
}

LSTATUS here_read(struct here_list *ret)
{
    struct taking taking = {.list = ret};
    LSTATUS status = registry_each_key(REGISTRY_SERVICES, take_or_fail, &taking);
    if (status == ERROR_FILE_NOT_FOUND)
        status = ERROR_SUCCESS;
    return taking.failed ? ERROR_NOT_ENOUGH_MEMORY : status;
}

static bool lists(const char *service, uint32_t object)
{
    FREE_AUTO char *text = here_text(service, text_names[OBJECT_LIST]);
    const char *list = text ? text : "";
    size_t count;
    uint32_t index;
    for (const char *word; (word = text_word(&list, &count));)
        if (text_decimal(word, count, &index) && index == object)
            return true;
    return false;
}

const struct here *here_other_owner(const struct here_list *list, const char *service,
                                    uint32_t object)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct here *here = &list->list[i];
        bool in_range = here->loaded && object >= here->number[FIRST_COUNTER] &&
                        object <= here->number[LAST_COUNTER];
        if (!text_equal_fold(here->name, service) && (in_range || lists(here->name, object)))
            return here;
    }
    return NULL;
}

const struct here *here_find(const struct here_list *list, const char *service)
{
    for (size_t i = 0; i < list->count; i++)
        if (text_equal_fold(list->list[i].name, service))
            return &list->list[i];
    return NULL;
}
