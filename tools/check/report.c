/* SPDX-License-Identifier: MIT */
/* Findings, collected and printed. */
#include "check.h"

#include "../common/json.h"
#include "../common/status.h"
#include "../view/text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GUIDE "docs/provider-guide.md#"

static bool same(const struct finding *finding, const struct place *place, const char *field,
                 const char *section, const char *expected)
{
    return finding->object == place->object && finding->counter == place->counter &&
           strcmp(finding->field, field) == 0 && strcmp(finding->section, section) == 0 &&
           strcmp(finding->expected, expected) == 0;
}

struct finding *report_add(struct report *report, enum severity severity, const struct place *place,
                           const char *field, const char *section, const char *expected,
                           const char *found, ...)
{
    struct finding *finding = NULL;
    va_list values;
    for (size_t i = 0; i < report->count && !finding; i++)
        if (same(&report->list[i], place, field, section, expected))
            finding = &report->list[i];
    if (finding) {
        finding->times++;
        return finding;
    }
    if (report->count == FINDINGS_MOST) {
        report->lost++;
        return NULL;
    }
    finding = &report->list[report->count++];
    *finding = (struct finding){.warning = severity == WARNING,
                                .object = place->object,
                                .counter = place->counter,
                                .field = field,
                                .section = section,
                                .times = 1};
    snprintf(finding->instance, sizeof finding->instance, "%s",
             place->instance ? place->instance : "");
    snprintf(finding->expected, sizeof finding->expected, "%s", expected);
    va_start(values, found);
    vsnprintf(finding->found, sizeof finding->found, found, values);
    va_end(values);
    return finding;
}

size_t report_mistakes(const struct report *report)
{
    size_t count = report->lost;
    for (size_t i = 0; i < report->count; i++)
        count += !report->list[i].warning;
    return count;
}

void report_rare_as_warning(struct report *report, const char *field, unsigned times)
{
    for (size_t i = 0; i < report->count; i++)
        if (strcmp(report->list[i].field, field) == 0 && report->list[i].times < times)
            report->list[i].warning = true;
}

/* ---- as text ---- */

static const char *title(const struct report *report, uint32_t index)
{
    const char *text = names_title(&report->names, index);
    return text ? text : "without a name";
}

/* Prints "Town Gate (1004), counter Openings/sec (1006), instance north: ". */
static void print_place(const struct report *report, const struct finding *finding)
{
    if (finding->object)
        printf("%s (%" PRIu32 ")", text_seen(title(report, finding->object)), finding->object);
    if (finding->counter)
        printf("%s%s (%" PRIu32 ")", finding->object ? ", counter " : "counter ",
               text_seen(title(report, finding->counter)), finding->counter);
    if (*finding->instance)
        printf(", instance %s", text_seen(finding->instance));
    if (finding->object || finding->counter)
        printf(": ");
}

static void print_finding(const struct report *report, const struct finding *finding, bool colours)
{
    const char *colour = finding->warning ? "\033[33m" : "\033[31m";
    printf("%s%s%s: ", colours ? colour : "", finding->warning ? "warning" : "mistake",
           colours ? "\033[0m" : "");
    print_place(report, finding);
    printf("%s: %s; expected: %s", finding->field, text_seen(finding->found),
           text_seen(finding->expected));
    if (finding->times > 1)
        printf(" (%u times)", finding->times);
    printf("; see " GUIDE "%s\n", finding->section);
    for (const char *line = finding->details; *line;) {
        size_t length = strcspn(line, "\n");
        char *copy = strndup(line, length);
        printf("    %s\n", copy ? text_seen(copy) : "?");
        free(copy);
        line += length + (line[length] == '\n');
    }
}

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

static const char *const steps[] = {
    [STEP_OWN] = "queries for its own objects",
    [STEP_FOREIGN] = "queries for other objects",
    [STEP_SIZES] = "sizes of the buffer",
    [STEP_THREADS] = "calls in another thread",
    [STEP_ROUNDS] = "rounds of calls for small leaks",
    [STEP_AGAIN] = "calls after a further Open",
    [STEP_REOPEN] = "rounds of Open and Close",
    [STEP_SHORT] = "rounds of calls with a buffer that is too small",
    [STEP_COSTLY] = "queries for Costly",
    [STEP_PERFLIB] = "queries through Perflib",
};

static void print_left_out(const struct timing *timing)
{
    for (int i = 0; i < STEP_COUNT; i++)
        if (timing->made[i] < timing->planned[i])
            printf("only %u of %u %s were tried, because Open, Collect and Close take %.0f, %.0f "
                   "and %.0f ms\n",
                   timing->made[i], timing->planned[i], steps[i], timing->open_ms,
                   timing->median_ms, timing->close_ms);
}

static void print_times(const struct timing *timing)
{
    if (timing->collects)
        printf("Open %.2f ms; Collect, %u time%s: median %.3f ms, worst %.2f ms; Close %.2f ms\n",
               timing->open_ms, timing->collects, plural(timing->collects), timing->median_ms,
               timing->worst_ms, timing->close_ms);
    if (timing->hurried)
        printf(
            "Collect is too slow for this check's time limit: small leaks were not searched for\n");
    if (*timing->cut)
        printf("%s: the check's time was over\n", text_seen(timing->cut));
    print_left_out(timing);
}

void report_print(const struct report *report, const struct timing *timing, bool quiet)
{
    bool colours = status_colours(STDOUT_FILENO);
    size_t faults = report_mistakes(report), warnings = report->count + report->lost - faults;
    for (int warning = 0; warning < 2; warning++)
        for (size_t i = 0; i < report->count; i++)
            if (report->list[i].warning == warning)
                print_finding(report, &report->list[i], colours);
    if (report->lost)
        printf("%zu further findings are not shown\n", report->lost);
    if (quiet)
        return;
    print_times(timing);
    printf("%s: %zu mistake%s, %zu warning%s\n", text_seen(report->library), faults, plural(faults),
           warnings, plural(warnings));
}

/* ---- as JSON ---- */

static void json_title(struct json *json, const struct report *report, const char *key,
                       uint32_t index)
{
    char name[32];
    if (!index)
        return;
    snprintf(name, sizeof name, "%sName", key);
    json_integer(json, key, index);
    json_string(json, name, names_title(&report->names, index));
}

static void json_finding(struct json *json, const struct report *report,
                         const struct finding *finding)
{
    json_open(json, NULL, '{');
    json_string(json, "severity", finding->warning ? "warning" : "mistake");
    json_title(json, report, "object", finding->object);
    json_title(json, report, "counter", finding->counter);
    if (*finding->instance)
        json_string(json, "instance", finding->instance);
    json_string(json, "field", finding->field);
    json_string(json, "found", finding->found);
    json_string(json, "expected", finding->expected);
    json_integer(json, "times", finding->times);
    if (*finding->details)
        json_string(json, "details", finding->details);
    json_string(json, "section", finding->section);
    json_close(json, '}');
}

void report_json(const struct report *report, const struct registration *registration,
                 const struct timing *timing)
{
    struct json json = {.out = stdout};
    size_t faults = report_mistakes(report);
    json_open(&json, NULL, '{');
    json_string(&json, "library", report->library);
    json_string(&json, "service", registration->service);
    json_string(&json, "ini", registration->ini);
    json_open(&json, "findings", '[');
    for (size_t i = 0; i < report->count; i++)
        json_finding(&json, report, &report->list[i]);
    json_close(&json, ']');
    json_integer(&json, "notShown", (int64_t)report->lost);
    json_integer(&json, "mistakes", (int64_t)faults);
    json_integer(&json, "warnings", (int64_t)(report->count + report->lost - faults));
    json_bool(&json, "leaksLookedFor", timing->collects && !timing->hurried);
    json_open(&json, "leftOut", '[');
    for (int i = 0; i < STEP_COUNT; i++)
        if (timing->made[i] < timing->planned[i]) {
            json_open_flat(&json, NULL);
            json_string(&json, "what", steps[i]);
            json_integer(&json, "tried", timing->made[i]);
            json_integer(&json, "planned", timing->planned[i]);
            json_close_flat(&json);
        }
    json_close(&json, ']');
    if (*timing->cut)
        json_string(&json, "endedEarly", timing->cut);
    json_open(&json, "timesMs", '{');
    json_double(&json, "open", timing->open_ms);
    json_integer(&json, "collects", timing->collects);
    json_double(&json, "collectMedian", timing->median_ms);
    json_double(&json, "collectWorst", timing->worst_ms);
    json_double(&json, "close", timing->close_ms);
    json_double(&json, "waitedForProcessor", timing->waited_ms);
    json_close(&json, '}');
    json_close(&json, '}');
    putchar('\n');
}
