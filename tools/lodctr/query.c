/* SPDX-License-Identifier: MIT */
/* lodctr /Q: the indices and every service with counters, printed as Windows prints them
 * (docs/windows/registration.md#e4), and what only this system has: the process that a provider
 * runs in, and its quarantine. */
#include "lodctr.h"

#include "../view/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PERFLIB "SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Perflib"
enum { BASE_INDEX = 1847 };

struct provider_query {
    const struct lodctr *opts;
    struct json json;
    size_t shown;
    LSTATUS status;
};

static DWORD perflib_number(const char *name, DWORD otherwise)
{
    DWORD value = 0, size = sizeof value;
    return RegGetValueA(HKEY_LOCAL_MACHINE, PERFLIB, name, RRF_RT_DWORD, NULL, &value, &size)
               ? otherwise
               : value;
}

static const char *place(const struct service_settings *service)
{
    return service->isolated ? "a separate process" : "the calling process";
}

/* ---- as text ---- */

static void print_text(const char *label, const char *text)
{
    if (text)
        printf("    %s: %s\n", label, text_seen(text));
}

static void print_number(const char *label, DWORD value)
{
    printf("    %s: 0x%08" PRIX32 " (%" PRIu32 ")\n", label, value, value);
}

static void print_head(void)
{
    printf("Performance Counter ID Queries [PERFLIB]:\n");
    print_number("Base Index", perflib_number("Base Index", BASE_INDEX));
    print_number("Last Counter Text ID", perflib_number("Last Counter", 0));
    print_number("Last Help Text ID", perflib_number("Last Help", 0));
}

static void print_service(const struct service_settings *service)
{
    printf("\n[%s] Performance Counters (%s)\n", text_seen(service->name),
           service_enabled(service) ? "Enabled" : "Disabled");
    print_text("DLL Name", service->library ? service->library
                           : service->reserved
                               ? "(none: its package was removed, its numbers are kept)"
                               : "(none: the service is not queried)");
    print_text("Open Procedure", service->open);
    print_text("Collect Procedure", service->collect);
    print_text("Close Procedure", service->close);
    if (service->loaded) {
        print_number("First Counter ID", service->first_counter);
        print_number("Last Counter ID", service->last_counter);
        print_number("First Help ID", service->first_help);
        print_number("Last Help ID", service->last_help);
    }
    print_text("Object List", service->object_list);
    if (service->library)
        print_text("Runs in", place(service));
    print_text(service_on_probation(service) ? "Quarantine (over; the provider is on probation)"
                                             : "Quarantine",
               service->quarantine);
    print_text("Unanswered", service->unanswered);
}

/* ---- as JSON ---- */

static void json_head(struct json *json)
{
    json_open(json, NULL, '{');
    json_integer(json, "baseIndex", perflib_number("Base Index", BASE_INDEX));
    json_integer(json, "lastCounter", perflib_number("Last Counter", 0));
    json_integer(json, "lastHelp", perflib_number("Last Help", 0));
    json_open(json, "services", '[');
}

static void json_service(struct json *json, const struct service_settings *service)
{
    json_open(json, NULL, '{');
    json_string(json, "name", service->name);
    json_bool(json, "enabled", service_enabled(service));
    json_string(json, "library", service->library);
    json_string(json, "open", service->open);
    json_string(json, "collect", service->collect);
    json_string(json, "close", service->close);
    json_bool(json, "loaded", service->loaded);
    if (service->loaded) {
        json_integer(json, "firstCounter", service->first_counter);
        json_integer(json, "lastCounter", service->last_counter);
        json_integer(json, "firstHelp", service->first_help);
        json_integer(json, "lastHelp", service->last_help);
    }
    json_string(json, "objectList", service->object_list);
    json_bool(json, "isolated", service->isolated);
    json_string(json, "quarantine", service->quarantine);
    json_string(json, "unanswered", service->unanswered);
    json_bool(json, "onProbation", service_on_probation(service));
    json_close(json, '}');
}

/* ---- selecting services ---- */

static bool show(void *self, const char *name)
{
    struct provider_query *query = self;
    struct service_settings service;
    LSTATUS status = service_read(name, &service);
    if (!status && query->opts->json)
        json_service(&query->json, &service);
    else if (!status)
        print_service(&service);
    query->shown += !status;
    service_done(&service);
    query->status = status == ERROR_FILE_NOT_FOUND ? ERROR_SUCCESS : status;
    return !query->status;
}

/* A search for the registry's spelling of a service's name. */
struct spelling {
    const char *wanted;
    char *found;
};

static bool spelled_so(void *self, const char *name)
{
    struct spelling *spelling = self;
    if (strcasecmp(name, spelling->wanted) == 0)
        spelling->found = strdup(name);
    return !spelling->found;
}

static void show_one(struct provider_query *query, const char *name)
{
    struct spelling spelling = {.wanted = name};
    query->status = service_each(spelled_so, &spelling);
    if (!query->status)
        show(query, spelling.found ? spelling.found : name);
    free(spelling.found);
}

static DWORD show_named(struct provider_query *query)
{
    DWORD worst = ERROR_SUCCESS;
    for (size_t i = 0; i < query->opts->arg_count; i++) {
        size_t before = query->shown;
        show_one(query, query->opts->args[i]);
        if (query->shown == before)
            worst = status_complain("lodctr", query->opts->args[i],
                                    query->status ? (DWORD)query->status : ERROR_FILE_NOT_FOUND);
    }
    return worst;
}

DWORD query_services(const struct lodctr *opts)
{
    struct provider_query query = {.opts = opts, .json.out = stdout};
    DWORD status;
    if (opts->json)
        json_head(&query.json);
    else
        print_head();
    if (opts->arg_count) {
        status = show_named(&query);
    } else {
        status = (DWORD)service_each(show, &query);
        status = query.status ? (DWORD)query.status : status;
        if (status)
            status_complain("lodctr", "the services", status);
    }
    if (opts->json) {
        json_close(&query.json, ']');
        json_close(&query.json, '}');
        putchar('\n');
    }
    return status;
}

static bool print_name(void *self, const char *name)
{
    puts(text_shown(stdout, name));
    return true;
}

DWORD query_names(void)
{
    return (DWORD)service_each(print_name, NULL);
}
