/* SPDX-License-Identifier: MIT */
/* lodctr doctor: prints what opl_load_doctor finds, a line each, or as one JSON document. */
#include "lodctr.h"

#include "../common/last-event.h"
#include "../common/owner.h"
#include "../common/service.h"
#include "../view/text.h"

#include <limits.h>
#include <unistd.h>

enum { DOCTOR_SOMETHING_LEFT = 1 };

struct visit {
    const struct lodctr *opts;
    struct json json;
    unsigned findings, errors, failing;
    struct owners owners;
};

static void take_finding(void *self, const opl_load_finding *finding)
{
    struct visit *visit = self;
    const struct lodctr *opts = visit->opts;
    visit->findings++;
    if (opts->json) {
        json_open_flat(&visit->json, NULL);
        json_string(&visit->json, "kind", finding->kind);
        json_string(&visit->json, "service", finding->service);
        json_string(&visit->json, "file", finding->file);
        json_string(&visit->json, "text", finding->text);
        json_bool(&visit->json, "repaired", finding->repaired && !opts->dry_run);
        json_bool(&visit->json, "canBeRepaired", finding->repaired);
        json_close_flat(&visit->json);
        return;
    }
    if (opts->quiet && finding->repaired)
        return;
    printf("%s: %s: %s\n", text_seen(finding->service ? finding->service : finding->file),
           finding->kind, text_seen(finding->text));
}

/* True if the library's file exists. If it is missing in this run's own layer (machine or user),
 * opl_load_doctor has reported that already. */
static bool library_is_there(const struct service_settings *service)
{
    char path[PATH_MAX];
    return service->library && !opl_load_library_path(service->library, path, sizeof path) &&
           access(path, F_OK) == 0;
}

/* Finds the problem of a service of the other layer (machine or user), which this run reports but
 * does not repair. Writes it into `text` and returns the problem's kind; NULL: no problem. */
static const char *judge_other_layer(const struct service_settings *service, const char *option,
                                     char *text, size_t capacity)
{
    bool held = service->quarantine && service->disabled;
    if (held)
        snprintf(text, capacity, "%s; \"lodctr%s doctor\" shows what to do", service->quarantine,
                 option);
    else if (service_enabled(service) && !library_is_there(service) && !service->reserved)
        snprintf(text, capacity,
                 "%s is missing; install it again, or remove the registration: \"unlodctr%s "
                 "--library %s\"",
                 service->library ? service->library : "its value Library", option, service->name);
    else
        return NULL;
    return held ? "quarantine" : "library-gone";
}

/* Finds why a provider that is registered correctly does not answer; perfmon status shows the same
 * reasons. Writes the reason into `text` and returns its kind; NULL: no reason is known. */
static const char *judge(const struct visit *visit, const struct service_settings *service,
                         char *text, size_t capacity)
{
    const char *name = service->name, *option = service_option(service), *kind = NULL;
    opl_load_event event;
    if ((*option != '\0') != visit->opts->user)
        kind = judge_other_layer(service, option, text, capacity);
    if (kind || !service_enabled(service))
        return kind;
    if (owners_explain(&visit->owners, name, option, text, capacity))
        return "taken-object";
    if (!library_is_there(service))
        return NULL;
    if (!service->loaded && !service->object_list) {
        snprintf(text, capacity,
                 "it has no numbers and no names yet: load its ini file with lodctr");
        return "not-loaded";
    }
    if (last_event_fails(name, &event)) {
        snprintf(text, capacity, "no valid answer since event %u: %s; %s", (unsigned)event.id,
                 event.text, event.advice);
        return "failing";
    }
    if (!service_not_waited_for(service))
        return NULL;
    snprintf(text, capacity,
             "queries do not wait for it (%s); \"perfmon status --ask %s\" queries it now",
             service->unanswered, name);
    return "not-waited-for";
}

/* Reports a provider that is registered correctly but does not answer; the user must repair it. */
static bool take_failing(void *self, const char *name)
{
    struct visit *visit = self;
    struct service_settings service;
    opl_load_event event;
    char text[sizeof event.text + sizeof event.advice + 64];
    if (service_read(name, &service))
        return true;
    const char *kind = judge(visit, &service, text, sizeof text);
    if (kind)
        take_finding(visit, &(opl_load_finding){.kind = kind, .service = name, .text = text});
    visit->failing += kind != NULL;
    service_done(&service);
    return true;
}

static void take_remark(void *self, const opl_load_remark *remark)
{
    struct visit *visit = self;
    visit->errors += remark->error;
    status_remark("lodctr", remark);
}

static void print_end(const struct lodctr *opts, unsigned findings, const opl_load_restored *result)
{
    const char *many = result->providers == 1 ? "" : "s";
    if (opts->quiet || opts->refused)
        return;
    if (!findings)
        printf("%zu provider%s: nothing to repair\n", result->providers, many);
    else
        printf("%zu provider%s: %zu %s, %zu manual step%s remaining\n", result->providers, many,
               result->restored, opts->dry_run ? "would be repaired" : "repaired", result->left,
               result->left == 1 ? "" : "s");
}

static void json_end(struct json *json, const opl_load_restored *result, DWORD status)
{
    json_close(json, ']');
    json_integer(json, "providers", (int64_t)result->providers);
    json_integer(json, "restored", (int64_t)result->restored);
    json_integer(json, "left", (int64_t)result->left);
    json_integer(json, "status", status);
    json_string(json, "statusText", status_message(status));
    json_close(json, '}');
    putchar('\n');
}

DWORD doctor(const struct lodctr *opts)
{
    struct visit visit = {.opts = opts, .json.out = stdout};
    const opl_load_doctor_options reported = {.found = take_finding, .self = &visit};
    const opl_load_options options = {
        .user = opts->user, .dry_run = opts->dry_run, .remark = take_remark, .self = &visit};
    opl_load_restored result = {0};
    if (opts->json) {
        json_open(&visit.json, NULL, '{');
        json_bool(&visit.json, "dryRun", opts->dry_run);
        json_open(&visit.json, "findings", '[');
    }
    DWORD status = opl_load_doctor(&reported, &options, &result);
    if (status && !visit.errors)
        status_complain("lodctr", "doctor", status);
    if (!status) {
        owners_read(&visit.owners);
        service_each(take_failing, &visit);
        owners_done(&visit.owners);
    }
    result.left += visit.failing + opts->refused;
    bool empty = !result.providers && !opts->user;
    if (opts->json)
        json_end(&visit.json, &result, status);
    else if (!status && !empty)
        print_end(opts, visit.findings, &result);
    if (!status && empty) {
        last_event_no_names("lodctr");
        return DOCTOR_SOMETHING_LEFT;
    }
    /* the exit code shows monitoring programs whether anything is still wrong */
    size_t wrong = result.left + (opts->dry_run ? visit.findings : 0);
    return !status && wrong ? DOCTOR_SOMETHING_LEFT : status;
}
