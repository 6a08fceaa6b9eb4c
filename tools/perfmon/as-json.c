/* SPDX-License-Identifier: MIT */
/* Prints what "perfmon status" shows as one JSON document. Unknown values are omitted. */
#include "perfmon.h"

#include <stdlib.h>

static void add_time(struct json *json, const char *key, time_t when)
{
    char text[32];
    struct tm utc;
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&when, &utc));
    json_string(json, key, text);
}

static void add_text(struct json *json, const char *key, const char *text)
{
    if (text)
        json_string(json, key, text);
}

static void add_numbers(struct json *json, const struct service_settings *service)
{
    if (!service->loaded)
        return;
    json_integer(json, "firstCounter", service->first_counter);
    json_integer(json, "lastCounter", service->last_counter);
    json_integer(json, "firstHelp", service->first_help);
    json_integer(json, "lastHelp", service->last_help);
}

static void add_last_answer(struct json *json, const struct provider *provider)
{
    json_open_flat(json, "lastAnswer");
    add_time(json, "time", provider->heard_at);
    json_double(json, "milliseconds", provider->heard_ms);
    json_string(json, "recordedBy", provider->heard_by_root ? "root" : "you");
    json_close_flat(json);
}

static void add_kept_event(struct json *json, const opl_load_event *event)
{
    json_open_flat(json, "lastEvent");
    add_time(json, "time", last_event_time(event));
    json_string(json, "level", event->level);
    json_integer(json, "id", event->id);
    json_string(json, "text", event->text);
    json_string(json, "advice", event->advice);
    json_close_flat(json);
}

static void add_answer(struct json *json, const struct status_answer *answer)
{
    if (!answer->queried)
        return;
    json_open_flat(json, "answer");
    json_bool(json, "answered", answer->answered);
    json_integer(json, "status", answer->status);
    json_double(json, "firstMilliseconds", answer->first_ms);
    json_double(json, "milliseconds", answer->again_ms);
    json_integer(json, "objects", (int64_t)answer->objects);
    json_integer(json, "instances", (int64_t)answer->instances);
    json_close_flat(json);
}

static void add_events(struct json *json, const struct perfmon *perfmon,
                       const struct provider *provider, const struct event_log *log)
{
    struct recent *list = calloc((size_t)perfmon->events + 1, sizeof *list);
    if (log->readable && perfmon->events && list) {
        size_t count =
            event_log_last(log, provider->service.name, false, (size_t)perfmon->events, list);
        json_open(json, "events", '[');
        for (size_t i = 0; i < count; i++) {
            const struct event *event = list[i].event;
            json_open_flat(json, NULL);
            json_string(json, "time", event->time);
            json_string(json, "level", event->level);
            json_string(json, "source", event->source);
            json_integer(json, "id", event->id);
            json_integer(json, "count", (int64_t)list[i].count);
            json_string(json, "text", event->text);
            json_close_flat(json);
        }
        json_close(json, ']');
    }
    free(list);
}

static void add_provider(struct json *json, const struct perfmon *perfmon,
                         const struct provider *provider, const struct owners *owners,
                         const struct event_log *log)
{
    char next[1024];
    const struct service_settings *service = &provider->service;
    json_open(json, NULL, '{');
    json_string(json, "name", service->name);
    json_string(json, "state", provider_state(provider));
    json_bool(json, "trouble", provider_in_trouble(provider));
    json_bool(json, "enabled", service_enabled(service));
    json_bool(json, "loaded", service->loaded);
    add_text(json, "runs", provider_place(provider));
    add_text(json, "library", service->library);
    add_text(json, "path", provider->path);
    add_text(json, "objectList", service->object_list);
    add_numbers(json, service);
    if (provider->until)
        add_time(json, "until", provider->until);
    if (provider->ordinal)
        json_integer(json, "time", provider->ordinal);
    add_text(json, "why", provider->why);
    json_bool(json, "untried", provider->untried);
    if (provider->heard_at)
        add_last_answer(json, provider);
    add_answer(json, &provider->answer);
    if (service->error_count)
        json_integer(json, "errorCount", service->error_count);
    if (provider->has_event)
        add_kept_event(json, &provider->event);
    add_events(json, perfmon, provider, log);
    provider_next(provider, owners, next, sizeof next);
    if (*next)
        json_string(json, "next", next);
    json_close(json, '}');
}

static void add_finding(void *self, const opl_load_finding *finding)
{
    struct json *json = self;
    json_open_flat(json, NULL);
    json_string(json, "file", finding->file);
    json_string(json, "text", finding->text);
    json_close_flat(json);
}

unsigned status_json(const struct perfmon *perfmon, const struct providers *providers,
                     const struct event_log *log)
{
    struct json json = {.out = stdout};
    json_open(&json, NULL, '{');
    add_time(&json, "time", time(NULL));
    json_bool(&json, "switchedOff", providers->switched_off);
    if (!log->readable)
        json_string(&json, "eventsUnreadable", log->why);
    json_open(&json, "unusedFiles", '[');
    unsigned unused =
        opl_load_state(&(opl_load_doctor_options){.found = add_finding, .self = &json});
    json_close(&json, ']');
    json_open(&json, "providers", '[');
    for (size_t i = 0; i < providers->count; i++)
        add_provider(&json, perfmon, &providers->list[i], &providers->owners, log);
    json_close(&json, ']');
    json_close(&json, '}');
    putchar('\n');
    return unused;
}
