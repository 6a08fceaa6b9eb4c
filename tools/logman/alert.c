/* SPDX-License-Identifier: MIT */
/*
 * Alerts: a value that has been beyond its limit for the time of --hold. With a hysteresis the next
 * alert comes only after the value was back within the limit by that percentage of it; without one
 * each sample beyond the limit is an alert, as on Windows. Each instance is watched separately.
 */
#include "runner.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool alert_parse(const char *text, struct source *ret)
{
    const char *sign = text_limit(text, &ret->limit);
    if (!sign)
        return false;
    ret->above = *sign == '>';
    while (sign > text && sign[-1] == ' ')
        sign--;
    ret->path = strndup(text, (size_t)(sign - text));
    return true;
}

void alert_forget(struct source *source)
{
    for (size_t i = 0; i < source->watch_count; i++)
        free(source->watches[i].instance);
    free(source->watches);
}

/* Returns the counter's path with `instance` in place of a wildcard, to be freed. */
static char *path_of(PDH_HCOUNTER handle, const char *instance)
{
    union {
        PDH_COUNTER_INFO_A info;
        char bytes[4 * PDH_MAX_COUNTER_PATH];
    } about;
    DWORD size = sizeof about;
    if (PdhGetCounterInfoA(handle, FALSE, &size, &about.info))
        return NULL;
    const PDH_COUNTER_INFO_A *info = &about.info;
    if (!info->szInstanceName || !*info->szInstanceName)
        return strdup(info->szFullPath);
    return text_format("%s\\%s(%s)\\%s", info->szMachineName, info->szObjectName, instance,
                       info->szCounterName);
}

static void raise_alert(struct active *active, const struct source *source, PDH_HCOUNTER handle,
                        const char *instance, double value)
{
    struct runner *runner = active->runner;
    const struct collector *collector = active->collector;
    char number[64], limit[64];
    snprintf(number, sizeof number, "%.10g", value);
    snprintf(limit, sizeof limit, "%.10g", source->limit);
    FREE_AUTO char *path = path_of(handle, instance);
    const char *counter = path ? path : source->path;
    if (collector->event)
        event_log("PLA", 2031, runner->set->name,
                  EVENT_FIELDS(EVENT_TEXT("Counter", counter), EVENT_TEXT("Value", number),
                               EVENT_TEXT("Relation", source->above ? "over" : "under"),
                               EVENT_TEXT("Limit", limit)),
                  NULL);
    if (collector->start_set && *collector->start_set)
        command_start_set(runner, collector->start_set);
    if (collector->task && *collector->task)
        command_run(runner, collector->task, collector->task_arguments,
                    &(struct command_about){.counter = counter, .value = number, .limit = limit});
    runner->alerts++;
    runner->written = 0; /* so that the next state_write writes the file at once */
}

/* Returns the watch of this instance; makes one if there is none; NULL: no memory. Several
 * instances with the same name have a watch each. The search begins at `*at`, after the watch that
 * was found last, because samples mostly have the same order. */
static struct watch *watch_of(struct source *source, const char *name, size_t *at)
{
    for (size_t i = 0; i < source->watch_count; i++) {
        struct watch *watch = &source->watches[*at % source->watch_count];
        ++*at;
        if (!watch->present && strcmp(watch->instance, name) == 0)
            return watch;
    }
    struct watch *grown = reallocarray(source->watches, source->watch_count + 1, sizeof *grown);
    if (!grown)
        return NULL;
    source->watches = grown;
    grown[source->watch_count] = (struct watch){.instance = strdup(name), .last = -HUGE_VAL};
    return grown[source->watch_count].instance ? &grown[source->watch_count++] : NULL;
}

/* True if this value raises an alert. Updates the watch of its instance. */
static bool is_alert(const struct collector *collector, const struct source *source,
                     struct watch *watch, double value, double now)
{
    double beyond = source->above ? value - source->limit : source->limit - value;
    double back = fabs(source->limit) * collector->hysteresis / 100;
    if (beyond <= 0)
        watch->passed_since = 0;
    else if (!watch->passed_since)
        watch->passed_since = now;
    if (watch->alerted && collector->hysteresis > 0 && beyond > -back)
        return false;
    watch->alerted = false;
    if (beyond <= 0 || now - watch->passed_since < (double)collector->hold ||
        now - watch->last < (double)collector->pause)
        return false;
    watch->alerted = true;
    watch->last = now;
    return true;
}

/* Returns the instance's name as in a path: "name", and "name#1" for the second of that name. */
static char *number_instance(const struct source *source, const struct watch *watch)
{
    const char *name = strchr(watch->instance, ' ') + 1;
    size_t before = 0;
    for (const struct watch *other = source->watches; other < watch; other++)
        before += strcmp(other->instance, watch->instance) == 0;
    return before ? text_format("%s#%zu", name, before) : strdup(name);
}

static void check_item(struct active *active, struct source *source, size_t handle,
                       const PDH_FMT_COUNTERVALUE_ITEM_A *item, size_t *at)
{
    FREE_AUTO char *name = text_format("%zu %s", handle, item->szName);
    struct watch *watch = name ? watch_of(source, name, at) : NULL;
    if (!watch)
        return;
    watch->present = true;
    double value = item->FmtValue.doubleValue;
    if (item->FmtValue.CStatus > PDH_CSTATUS_NEW_DATA || isnan(value) ||
        !is_alert(active->collector, source, watch, value, run_clock()))
        return;
    FREE_AUTO char *instance = number_instance(source, watch);
    raise_alert(active, source, source->handles[handle], instance ? instance : item->szName, value);
}

static void check_counter(struct active *active, struct source *source, size_t handle, size_t *at)
{
    const DWORD format = PDH_FMT_DOUBLE | PDH_FMT_NOCAP100;
    DWORD size = 0, count = 0;
    PDH_FMT_COUNTERVALUE_ITEM_A *items = NULL;
    PdhGetFormattedCounterArrayA(source->handles[handle], format, &size, &count, NULL);
    if (size)
        items = malloc(size);
    if (items &&
        PdhGetFormattedCounterArrayA(source->handles[handle], format, &size, &count, items) == 0)
        for (DWORD i = 0; i < count; i++)
            check_item(active, source, handle, &items[i], at);
    free(items);
}

/* Forgets the instances that have ended. */
static void forget_ended(struct source *source)
{
    size_t kept = 0;
    for (size_t i = 0; i < source->watch_count; i++) {
        if (source->watches[i].present)
            source->watches[kept++] = source->watches[i];
        else
            free(source->watches[i].instance);
    }
    source->watch_count = kept;
}

void alert_sample(struct active *active)
{
    PDH_STATUS status = PdhCollectQueryData(active->query);
    if (status && (DWORD)status != PDH_NO_DATA) {
        active->runner->lost++;
        return;
    }
    active->samples++;
    for (size_t i = 0; i < active->count; i++) {
        struct source *source = &active->sources[i];
        for (size_t j = 0; j < source->watch_count; j++)
            source->watches[j].present = false;
        for (size_t j = 0, at = 0; j < source->count; j++)
            check_counter(active, source, j, &at);
        forget_ended(source);
    }
}
