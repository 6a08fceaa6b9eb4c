/* SPDX-License-Identifier: MIT */
/* Each provider's state, from its records in the registry. */
#include "perfmon.h"

#include "../common/list.h"

#include <limits.h>
#include <openperflib/load.h>
#include <winerror.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define PERFLIB "SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Perflib"
enum { BY_HAND = 1 };

/* ---- the state ---- */

/* Parses the registry value Quarantine or Unanswered, such as "until 2026-11-21T20:10:00Z (first
 * quarantine): why". */
static void read_record(const char *text, struct provider *provider)
{
    struct tm utc = {0};
    unsigned ordinal = 0;
    const char *end = text ? strptime(text, "until %Y-%m-%dT%H:%M:%SZ", &utc) : NULL;
    provider->until = end ? timegm(&utc) : 0;
    if (end && (ordinal = service_ordinal(end)) != 0 && strstr(end, ": "))
        provider->why = strstr(end, ": ") + 2;
    else if (text && !end)
        provider->why = text;
    provider->ordinal = ordinal;
}

static size_t count_objects(const char *list)
{
    size_t count = 0;
    for (; list && *list; list += strcspn(list, " \t")) {
        list += strspn(list, " \t");
        count += *list != '\0';
    }
    return count;
}

static enum state judge_quarantine(const struct provider *provider)
{
    if (service_on_probation(&provider->service))
        return ON_PROBATION;
    return provider->until ? QUARANTINED : SWITCHED_OFF;
}

static bool library_gone(const struct provider *provider)
{
    return !provider->path || access(provider->path, F_OK) != 0;
}

static enum state judge(const struct provider *provider, const struct owners *owners)
{
    const struct service_settings *service = &provider->service;
    opl_load_event event;
    DWORD object;
    const char *owner;
    if (service->disabled & BY_HAND && service->quarantine)
        return judge_quarantine(provider);
    if (!service->library)
        return NO_LIBRARY;
    if (!service_enabled(service))
        return DISABLED;
    if (library_gone(provider))
        return LIBRARY_GONE;
    if (provider->refused)
        return REFUSED;
    if (!service->loaded && !service->object_list)
        return NOT_LOADED;
    if (owners_other(owners, service->name, &object, &owner))
        return TAKEN;
    if (service_not_waited_for(service))
        return OVERDUE;
    if (provider->answer.answered)
        return ENABLED;
    if (last_event_fails(service->name, &event))
        return FAILING;
    return provider->answer.queried ? SILENT : ENABLED;
}

static void note_refusal(void *self, const opl_load_remark *remark)
{
    struct provider *provider = self;
    if (!provider->refused)
        provider->refused = strdup(remark->text);
}

/* Sets provider->refused to the reason why Perflib would not load the library (its owner, mode or
 * format), or to NULL. */
static void read_refusal(struct provider *provider)
{
    const opl_load_options options = {.remark = note_refusal, .self = provider};
    free(provider->refused);
    provider->refused = NULL;
    opl_load_library_check(provider->service.library, &options);
}

static void read_last_answer(struct provider *provider)
{
    enum { TICKS = 10000000, QUARANTINE = 1017, QUARANTINE_NOT_WRITTEN = 1018 };
    static const int64_t from_1601 = 11644473600; /* seconds from 1601 to 1970 */
    opl_load_answer last = {0};
    provider->heard_at = 0;
    bool none = opl_load_last_answer(provider->service.name, &last) != ERROR_SUCCESS;
    DWORD event = provider->has_event ? provider->event.id : 0;
    provider->untried = provider->state == ENABLED && !provider->answer.answered &&
                        (event == QUARANTINE || event == QUARANTINE_NOT_WRITTEN) &&
                        provider->event.when > last.when;
    if (none)
        return;
    provider->heard_at = (time_t)(last.when / TICKS - from_1601);
    provider->heard_ms = (double)last.took_100ns / (TICKS / 1000);
    provider->heard_by_root = last.by_root;
}

static void fill(struct provider *provider, const struct owners *owners)
{
    const struct service_settings *service = &provider->service;
    char path[PATH_MAX];
    provider->why = NULL;
    provider->objects = count_objects(service->object_list);
    free(provider->path);
    provider->path = NULL;
    if (service->library && !opl_load_library_path(service->library, path, sizeof path))
        provider->path = strdup(path);
    read_refusal(provider);
    read_record(service->quarantine               ? service->quarantine
                : service_not_waited_for(service) ? service->unanswered
                                                  : NULL,
                provider);
    provider->state = judge(provider, owners);
    provider->has_event = !opl_load_last_event(service->name, &provider->event) &&
                          strcmp(provider->event.level, "information") != 0;
    read_last_answer(provider);
}

const char *provider_state(const struct provider *provider)
{
    static const char *const args[STATES] = {
        [ENABLED] = "enabled",           [DISABLED] = "disabled",
        [ON_PROBATION] = "on probation", [OVERDUE] = "not waited for",
        [FAILING] = "failing",           [SWITCHED_OFF] = "switched off",
        [SILENT] = "no answer",          [NOT_LOADED] = "not loaded",
        [NO_LIBRARY] = "no library",     [LIBRARY_GONE] = "library gone",
        [QUARANTINED] = "in quarantine", [TAKEN] = "object taken",
        [REFUSED] = "not loadable"};
    return args[provider->state];
}

bool provider_in_trouble(const struct provider *provider)
{
    return provider->state != ENABLED && provider->state != DISABLED;
}

const char *provider_place(const struct provider *provider)
{
    if (!provider->service.library)
        return NULL;
    return provider->service.isolated ? "isolated" : "in-process";
}

/* ---- what to do ---- */

/* Writes the advice for a provider that is not queried because of its state in the registry. */
static void print_how_to_enable(const struct provider *provider, const char *name, char *text,
                                size_t capacity)
{
    const char *user = service_option(&provider->service);
    if (provider->state == SWITCHED_OFF)
        snprintf(
            text, capacity,
            "openperflib disabled it permanently because it made a mistake. When it is repaired, "
            "\"lodctr%s /E:%s\" enables it.",
            user, name);
    else
        snprintf(text, capacity, "It was disabled manually; \"lodctr%s /E:%s\" enables it.", user,
                 name);
}

/* Writes the advice for a provider that was queried, but returned none of its objects. */
static void print_how_to_answer(const struct provider *provider, const char *name, char *text,
                                size_t capacity)
{
    if (provider->answer.only_global)
        snprintf(text, capacity,
                 "It answers the query Global, but not the numbers of its objects: programs that "
                 "query single objects get none. Its Collect has to answer both; "
                 "openperflib-check tests that.");
    else
        snprintf(text, capacity,
                 "It returned none of its objects. See the events, or its documentation; "
                 "\"OPENPERFLIB_TRACE=1 perfmon status --ask %s\" shows each step.",
                 name);
}

static void print_next(const struct provider *provider, const char *name, char *text,
                       size_t capacity)
{
    const char *user = service_option(&provider->service);
    switch (provider->state) {
    case QUARANTINED:
        snprintf(text, capacity,
                 "It is queried again when the quarantine is over; a valid answer ends it. When it "
                 "is repaired, \"lodctr%s /E:%s\" queries it at once.",
                 user, name);
        break;
    case ON_PROBATION:
        snprintf(text, capacity,
                 "Its quarantine is over and it is queried again: a valid answer ends the "
                 "probation, a failure starts the next quarantine. "
                 "\"perfmon status --ask %s\" queries it now.",
                 name);
        break;
    case OVERDUE:
        snprintf(text, capacity,
                 "It did not answer in time. Until it does, queries do not wait for it. \"perfmon "
                 "status --ask %s\" queries it now; a larger registry value Collect Timeout gives "
                 "it more time.",
                 name);
        break;
    case LIBRARY_GONE:
        snprintf(text, capacity,
                 "Install the library again, or remove the registration: "
                 "\"unlodctr%s --library %s\".",
                 user, name);
        break;
    case NO_LIBRARY:
        snprintf(text, capacity,
                 "Its names are loaded, but no library is registered that answers: register the "
                 "library, or remove the names: \"unlodctr%s %s\".",
                 user, name);
        break;
    case NOT_LOADED:
        snprintf(text, capacity,
                 "It has no numbers and no names yet: load its ini file with lodctr.");
        break;
    case REFUSED:
        snprintf(text, capacity, "Its library is not loaded: %s.", provider->refused);
        break;
    case DISABLED:
    case SWITCHED_OFF:
        print_how_to_enable(provider, name, text, capacity);
        break;
    case FAILING:
        snprintf(text, capacity, "%.700s. \"perfmon status --ask %s\" queries it now.",
                 provider->event.advice, name);
        break;
    case SILENT:
        print_how_to_answer(provider, name, text, capacity);
        break;
    default:
        break;
    }
}

void provider_next(const struct provider *provider, const struct owners *owners, char *text,
                   size_t capacity)
{
    char name[512];
    const char *plain = provider->service.name;
    text_clean(plain, name, sizeof name);
    if (strchr(name, ' ')) {
        char quoted[514];
        snprintf(quoted, sizeof quoted, "'%.510s'", name);
        snprintf(name, sizeof name, "%.511s", quoted);
    }
    *text = '\0';
    if (provider->state == TAKEN)
        owners_explain(owners, plain, service_option(&provider->service), text, capacity);
    else
        print_next(provider, name, text, capacity);
}

/* ---- the list of providers ---- */

struct provider_search {
    const struct perfmon *perfmon;
    struct providers *ret;
    bool *found; /* one for each argument: true if the service was found */
};

static bool is_wanted(const struct provider_search *collecting, const char *name)
{
    const struct perfmon *perfmon = collecting->perfmon;
    bool wanted = perfmon->arg_count == 0;
    for (size_t i = 0; i < perfmon->arg_count; i++)
        if (strcasecmp(perfmon->args[i], name) == 0)
            wanted = collecting->found[i] = true;
    return wanted;
}

static bool take(void *self, const char *name)
{
    struct provider_search *collecting = self;
    struct providers *providers = collecting->ret;
    if (!is_wanted(collecting, name))
        return true;
    if (!list_grow(&providers->list, providers->count, &providers->capacity,
                   sizeof *providers->list)) {
        providers->status = ERROR_NOT_ENOUGH_MEMORY;
        return false;
    }
    struct provider *provider = &providers->list[providers->count];
    *provider = (struct provider){0};
    LSTATUS status = service_read(name, &provider->service);
    if (status == ERROR_FILE_NOT_FOUND) /* the service was removed meanwhile */
        return true;
    providers->status = status;
    providers->count += !status;
    return !status;
}

/* Queries all providers, then reads their state again, because queries may change it. */
static void query_all(struct providers *providers)
{
    for (size_t i = 0; i < providers->count; i++) {
        struct provider *provider = &providers->list[i];
        struct service_settings fresh;
        if (provider->state == QUARANTINED || provider->state == DISABLED ||
            provider->state == NO_LIBRARY || provider->state == LIBRARY_GONE)
            continue;
        query_provider(&provider->service, &provider->answer);
        if (service_read(provider->service.name, &fresh) == ERROR_SUCCESS) {
            service_done(&provider->service);
            provider->service = fresh;
        }
        fill(provider, &providers->owners);
    }
}

void providers_read(const struct perfmon *perfmon, struct providers *ret)
{
    DWORD off = 0, size = sizeof off;
    struct provider_search collecting = {perfmon, ret,
                                         calloc(perfmon->arg_count + 1, sizeof(bool))};
    *ret = (struct providers){0};
    if (!collecting.found) {
        ret->status = ERROR_NOT_ENOUGH_MEMORY;
        return;
    }
    LSTATUS status = service_each(take, &collecting);
    ret->status = ret->status ? ret->status : status;
    for (size_t i = 0; !ret->missing && i < perfmon->arg_count; i++)
        if (!collecting.found[i])
            ret->missing = perfmon->args[i];
    free(collecting.found);
    RegGetValueA(HKEY_LOCAL_MACHINE, PERFLIB, "Disable Performance Counters", RRF_RT_REG_DWORD,
                 NULL, &off, &size);
    ret->switched_off = off != 0;
    owners_read(&ret->owners);
    for (size_t i = 0; i < ret->count; i++)
        fill(&ret->list[i], &ret->owners);
    if (perfmon->query && !ret->missing && !ret->switched_off)
        query_all(ret);
}

void providers_done(struct providers *providers)
{
    for (size_t i = 0; i < providers->count; i++) {
        service_done(&providers->list[i].service);
        free(providers->list[i].path);
        free(providers->list[i].refused);
    }
    free(providers->list);
    owners_done(&providers->owners);
}
