/* SPDX-License-Identifier: MIT */
/* Reads a service's registration by the public Reg functions. */
#include "service.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <openperflib/load.h>

#define SERVICES "SYSTEM\\CurrentControlSet\\Services"
#define PERFLIB "SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Perflib"
enum { DISABLED = 1, NOT_FOR_32_BIT = 2, NOT_FOR_64_BIT = 4 };
enum { NAME_SIZE = 256 * 3 + 1 }; /* 255 characters in UTF-8 */

/* Reads a text value; NULL: the key has no such value. */
static char *read_text(HKEY key, const char *name)
{
    DWORD size = 0, flags = RRF_RT_REG_SZ | RRF_RT_REG_EXPAND_SZ | RRF_NOEXPAND;
    if (RegGetValueA(key, NULL, name, flags, NULL, NULL, &size))
        return NULL;
    char *text = calloc((size_t)size + 1, 1);
    if (text && RegGetValueA(key, NULL, name, flags, NULL, text, &size)) {
        free(text);
        return NULL;
    }
    return text;
}

static bool read_number(HKEY key, const char *name, DWORD *ret)
{
    DWORD size = sizeof *ret;
    return RegGetValueA(key, NULL, name, RRF_RT_REG_DWORD, NULL, ret, &size) == ERROR_SUCCESS;
}

/* Is `library` a file in the folder of the shipped providers? */
static bool is_shipped(const char *library)
{
    char path[PATH_MAX];
    return !opl_load_library_path(library, path, sizeof path) && strstr(path, "/providers/");
}

/* Reads all values except the texts. */
static void read_numbers(HKEY key, struct service_settings *ret)
{
    /* the value of Isolation for a provider that is isolated even if it is shipped */
    enum { ALWAYS = 2 };
    DWORD shares, last;
    int found = read_number(key, "First Counter", &ret->first_counter);
    found += read_number(key, "Last Counter", &ret->last_counter);
    found += read_number(key, "First Help", &ret->first_help);
    found += read_number(key, "Last Help", &ret->last_help);
    ret->loaded = found == 4;
    read_number(key, "Disable Performance Counters", &ret->disabled);
    read_number(key, "Error Count", &ret->error_count);
    ret->shares = read_number(key, "Shared Objects", &shares) && shares != 0;
    ret->reserved = !ret->library && read_number(key, "Reserved Counter", &last);
    ret->isolation = 1;
    read_number(key, "Isolation", &ret->isolation);
    ret->shipped = ret->library && !strchr(ret->library, '/') && is_shipped(ret->library);
    ret->isolated =
        ret->library && ret->isolation != 0 && (!ret->shipped || ret->isolation == ALWAYS);
}

LSTATUS service_read(const char *name, struct service_settings *ret)
{
    char path[sizeof SERVICES + NAME_SIZE + sizeof "\\Performance"];
    HKEY key;
    *ret = (struct service_settings){0};
    if (strlen(name) >= NAME_SIZE)
        return ERROR_FILE_NOT_FOUND;
    snprintf(path, sizeof path, SERVICES "\\%s\\Performance", name);
    LSTATUS status = RegOpenKeyExA(HKEY_LOCAL_MACHINE, path, 0, KEY_READ, &key);
    if (status)
        return status;
    *ret = (struct service_settings){
        .name = strdup(name),
        .library = read_text(key, "Library"),
        .open = read_text(key, "Open"),
        .collect = read_text(key, "Collect"),
        .close = read_text(key, "Close"),
        .object_list = read_text(key, "Object List"),
        .quarantine = read_text(key, "Quarantine"),
        .unanswered = read_text(key, "Unanswered"),
        .ini = read_text(key, "PerfIniFile"),
    };
    read_numbers(key, ret);
    RegCloseKey(key);
    return ret->name ? ERROR_SUCCESS : ERROR_NOT_ENOUGH_MEMORY;
}

/* Reads the time of a text "until 2026-11-21T20:10:00Z ..."; 0: the text has no time. */
static time_t read_until(const char *text)
{
    struct tm until = {0};
    return text && strptime(text, "until %Y-%m-%dT%H:%M:%SZ", &until) ? timegm(&until) : 0;
}

unsigned service_ordinal(const char *text)
{
    static const char *const args[] = {"", " (first ", " (second ", " (third "};
    unsigned number = 0;
    for (unsigned i = 1; i < sizeof args / sizeof *args; i++)
        if (!strncmp(text, args[i], strlen(args[i])))
            return i;
    bool read = sscanf(text, " (%9u", &number) == 1 || sscanf(text, ", time %9u", &number) == 1;
    return read ? number : 0;
}

const char *service_option(const struct service_settings *service)
{
    return opl_load_is_users(service->name) ? " --user" : "";
}

bool service_on_probation(const struct service_settings *service)
{
    time_t until = read_until(service->quarantine);
    return service->disabled & DISABLED && until && until <= time(NULL);
}

bool service_not_waited_for(const struct service_settings *service)
{
    DWORD limit = 5, size = sizeof limit;
    if (read_until(service->unanswered) <= time(NULL))
        return false;
    RegGetValueA(HKEY_LOCAL_MACHINE, PERFLIB, "Error Count Limit", RRF_RT_REG_DWORD, NULL, &limit,
                 &size);
    return limit && service_ordinal(strchr(service->unanswered, 'Z') + 1) >= limit;
}

bool service_enabled(const struct service_settings *service)
{
    DWORD off = DISABLED | (sizeof(void *) == 8 ? NOT_FOR_64_BIT : NOT_FOR_32_BIT);
    DWORD over = service_on_probation(service) ? DISABLED : 0;
    return (service->disabled & off & ~over) == 0;
}

void service_done(struct service_settings *service)
{
    char *texts[] = {service->name,       service->library,    service->open,
                     service->collect,    service->close,      service->object_list,
                     service->quarantine, service->unanswered, service->ini};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free(texts[i]);
}

/* Is the service registered? A key alone does not show it: after unlodctr, state and settings may
 * remain in the key. */
static bool is_registered(HKEY key)
{
    static const char *const values[] = {"Library", "First Counter", "Last Counter", "First Help",
                                         "Last Help"};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (!RegQueryValueExA(key, values[i], NULL, NULL, NULL, NULL))
            return true;
    return false;
}

static bool has_counters(HKEY services, const char *name)
{
    char path[NAME_SIZE + sizeof "\\Performance"];
    HKEY key;
    snprintf(path, sizeof path, "%s\\Performance", name);
    if (RegOpenKeyExA(services, path, 0, KEY_READ, &key))
        return false;
    bool registered = is_registered(key);
    RegCloseKey(key);
    return registered;
}

LSTATUS service_each(bool (*each)(void *self, const char *name), void *self)
{
    HKEY services;
    char name[NAME_SIZE];
    DWORD size = sizeof name, index = 0;
    LSTATUS status = RegOpenKeyExA(HKEY_LOCAL_MACHINE, SERVICES, 0, KEY_READ, &services);
    if (status)
        return status == ERROR_FILE_NOT_FOUND ? ERROR_SUCCESS : status;
    for (bool more = true; more; size = sizeof name) {
        status = RegEnumKeyExA(services, index++, name, &size, NULL, NULL, NULL, NULL);
        if (status)
            break;
        more = !has_counters(services, name) || each(self, name);
    }
    RegCloseKey(services);
    return status == ERROR_NO_MORE_ITEMS ? ERROR_SUCCESS : status;
}
