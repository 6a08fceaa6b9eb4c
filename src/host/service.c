/* SPDX-License-Identifier: MIT */
/*
 * What the registry says of a provider: HKLM\SYSTEM\CurrentControlSet\Services\NAME\Performance and
 * NAME\Linkage. A service without Library there is no provider. (C39, C40, reference D.1)
 */
#include "host/internal.h"
#include "registry/registry.h"

#include <stdlib.h>
#include <string.h>

/* Disable Performance Counters: 1 for all, 2 for 32-bit consumers, 4 for 64-bit ones (D.1). */
enum { DISABLED_ALL = 1, DISABLED_32_BIT = 2, DISABLED_64_BIT = 4 };

static uint32_t dword_or(const char *path, const char *value, uint32_t absent)
{
    uint32_t number;
    return registry_get_dword(path, value, &number) == ERROR_SUCCESS ? number : absent;
}

static char *text_or_null(const char *path, const char *value)
{
    BUFFER_AUTO text = {0};
    return registry_get_text(path, value, &text) == ERROR_SUCCESS ? strdup(text.data) : NULL;
}

static int compare_indices(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

/* "2 4 86 238": anything that is no number is passed over, as Windows does. */
static LSTATUS read_object_list(struct service *service, const char *path)
{
    BUFFER_AUTO list = {0};
    service->has_list = registry_get_text(path, "Object List", &list) == ERROR_SUCCESS;
    if (!service->has_list)
        return ERROR_SUCCESS;
    service->objects = calloc(list.len / 2 + 1, sizeof(uint32_t));
    if (!service->objects)
        return ERROR_NOT_ENOUGH_MEMORY;
    const char *cursor = list.data, *word;
    size_t count;
    while ((word = text_word(&cursor, &count)))
        if (text_decimal(word, count, &service->objects[service->object_count]))
            service->object_count++;
    qsort(service->objects, service->object_count, sizeof(uint32_t), compare_indices);
    return ERROR_SUCCESS;
}

/* Open is handed the strings of Linkage\Export; NULL without them. (C41) */
static LSTATUS read_export(struct service *service, const char *path)
{
    BUFFER_AUTO names = {0};
    BUFFER_AUTO wide = {0};
    uint32_t type;
    if (registry_get(path, "Export", &type, &names) != ERROR_SUCCESS ||
        (type != REG_MULTI_SZ && type != REG_SZ))
        return ERROR_SUCCESS;
    utf8_add_as_16(&wide, names.data, names.len);
    buffer_add(&wide, "\0\0\0", 4); /* ended twice, however it was stored */
    if (wide.failed)
        return ERROR_NOT_ENOUGH_MEMORY;
    service->export_names = (uint16_t *)wide.data;
    wide = (struct buffer){0};
    return ERROR_SUCCESS;
}

static bool is_disabled(uint32_t value)
{
    uint32_t here = sizeof(void *) == 8 ? DISABLED_64_BIT : DISABLED_32_BIT;
    return value & (DISABLED_ALL | here);
}

static LSTATUS read_service(struct service *service, const char *name)
{
    FREE_AUTO char *path = text_format("%s\\%s\\Performance", REGISTRY_SERVICES, name);
    FREE_AUTO char *linkage = text_format("%s\\%s\\Linkage", REGISTRY_SERVICES, name);
    if (!path || !linkage)
        return ERROR_NOT_ENOUGH_MEMORY;
    *service = (struct service){.library = text_or_null(path, "Library")};
    if (!service->library)
        return ERROR_FILE_NOT_FOUND;
    service->name = strdup(name);
    service->open = text_or_null(path, "Open");
    service->collect = text_or_null(path, "Collect");
    service->close = text_or_null(path, "Close");
    service->disabled = is_disabled(dword_or(path, "Disable Performance Counters", 0));
    service->keep_resident = dword_or(path, "Keep Resident", 0) != 0;
    service->in_process = dword_or(path, "Isolation", 1) == 0;
    LSTATUS status = service->name ? read_object_list(service, path) : ERROR_NOT_ENOUGH_MEMORY;
    return status ? status : read_export(service, linkage);
}

static void service_free(struct service *service)
{
    free(service->name);
    free(service->library);
    free(service->open);
    free(service->collect);
    free(service->close);
    free(service->export_names);
    free(service->objects);
}

struct names {
    char **list;
    size_t count;
    bool failed;
};

static bool add_name(void *self, const char *name)
{
    struct names *names = self;
    char **list = realloc(names->list, (names->count + 1) * sizeof(*list));
    if (list) {
        names->list = list;
        list[names->count] = strdup(name);
        if (list[names->count]) {
            names->count++;
            return true;
        }
    }
    names->failed = true;
    return false;
}

static void names_done(struct names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->list[i]);
    free(names->list);
}

LSTATUS services_read(struct service **ret, size_t *ret_count)
{
    __attribute__((cleanup(names_done))) struct names names = {0};
    LSTATUS status = registry_each_key(REGISTRY_SERVICES, add_name, &names);
    *ret = NULL;
    *ret_count = 0;
    if (status == ERROR_FILE_NOT_FOUND)
        return ERROR_SUCCESS;
    if (status || names.failed)
        return status ? status : ERROR_NOT_ENOUGH_MEMORY;
    struct service *services = calloc(names.count + 1, sizeof(*services));
    if (!services)
        return ERROR_NOT_ENOUGH_MEMORY;
    size_t count = 0;
    for (size_t i = 0; i < names.count && status != ERROR_NOT_ENOUGH_MEMORY; i++) {
        status = read_service(&services[count], names.list[i]);
        if (status)
            service_free(&services[count]);
        else
            count++;
    }
    if (status == ERROR_NOT_ENOUGH_MEMORY) {
        services_free(services, count);
        return status;
    }
    *ret = services;
    *ret_count = count;
    return ERROR_SUCCESS;
}

void services_free(struct service *services, size_t count)
{
    for (size_t i = 0; i < count; i++)
        service_free(&services[i]);
    free(services);
}

static bool same_text(const char *left, const char *right)
{
    return left == right || (left && right && strcmp(left, right) == 0);
}

/* Would it load the same functions? Then a loaded library may stay when the registry changed. One
 * that was disabled stays until the key is closed (C45); enabled again it begins anew (C46). */
bool service_same_code(const struct service *now, const struct service *before)
{
    return text_equal_fold(now->name, before->name) && same_text(now->library, before->library) &&
           same_text(now->open, before->open) && same_text(now->collect, before->collect) &&
           same_text(now->close, before->close) && (now->disabled || !before->disabled);
}

LSTATUS settings_read(struct host_settings *ret)
{
    ret->test_level = dword_or(REGISTRY_PERFLIB, "ExtCounterTestLevel", 1);
    ret->configuration = dword_or(REGISTRY_PERFLIB, "Configuration Flags", 0);
    ret->disabled = dword_or(REGISTRY_PERFLIB, "Disable Performance Counters", 0) != 0;
    if (ret->test_level < 1 || ret->test_level > 4)
        ret->test_level = 1;
    return ERROR_SUCCESS;
}
