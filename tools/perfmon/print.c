/* SPDX-License-Identifier: MIT */
/* perfmon status as text: a line for each provider, then details of those with problems or
 * named. */
#include "perfmon.h"

#include "../common/status.h"

#include <stdlib.h>
#include <string.h>

enum { LABEL_INDENT = 2, LABEL_WIDTH = 9, TEXT_INDENT = LABEL_INDENT + LABEL_WIDTH };
enum { STATE_WIDTH = 14, PLACE_WIDTH = 10, OBJECTS_WIDTH = 7, ANSWER_WIDTH = 9, GAP = 2 };
enum { NEXT_SIZE = 1024 };
enum { LEAST_NAME = 8, MARK_WIDTH = 2, SECONDS_A_DAY = 24 * 3600 };

/* The appearance of a state. */
enum look { GOOD, WEAK, WARN, BAD, LOOKS };
static const enum look looks[STATES] = {
    [ENABLED] = GOOD,    [DISABLED] = WEAK,    [ON_PROBATION] = WARN, [OVERDUE] = WARN,
    [FAILING] = BAD,     [SWITCHED_OFF] = BAD, [SILENT] = WARN,       [NOT_LOADED] = WARN,
    [NO_LIBRARY] = WARN, [LIBRARY_GONE] = BAD, [QUARANTINED] = BAD,   [TAKEN] = BAD,
    [REFUSED] = BAD};
static const char *const marks[2][LOOKS] = {
    {"*",   "-",   "!",   "X"  },
    {"●", "○", "▲", "✖"}
};
static const char *const colours[LOOKS] = {"\033[32m", "\033[2m", "\033[33m", "\033[31m"};

struct status_page {
    const struct perfmon *perfmon;
    const struct providers *providers;
    const struct event_log *log;
    int name_width;
    struct view_names names;
};

/* Returns `sequence`, or "" without colours. */
static const char *paint(const struct status_page *page, const char *sequence)
{
    return page->perfmon->colours ? sequence : "";
}

static void print_mark(const struct status_page *page, enum state state)
{
    enum look look = looks[state];
    printf("%s%s%s ", paint(page, colours[look]), marks[page->perfmon->utf8][look],
           paint(page, "\033[0m"));
}

/* ---- times ---- */

/* Writes the local time; with the day only if the day is not today. */
static void time_text(time_t when, char *text, size_t capacity)
{
    time_t now = time(NULL);
    struct tm local, today;
    localtime_r(&now, &today);
    localtime_r(&when, &local);
    bool same_day = local.tm_yday == today.tm_yday && local.tm_year == today.tm_year;
    strftime(text, capacity, same_day ? "%H:%M:%S" : "%Y-%m-%d %H:%M:%S", &local);
}

static void event_time(const struct event *event, char *text, size_t capacity)
{
    struct tm utc = {0};
    if (strptime(event->time, "%Y-%m-%dT%H:%M:%SZ", &utc))
        time_text(timegm(&utc), text, capacity);
    else
        text_clean(event->time, text, capacity);
}

static void span_text(time_t seconds, char *text, size_t capacity)
{
    if (seconds < 120)
        snprintf(text, capacity, "%ld s", (long)seconds);
    else if (seconds < 7200)
        snprintf(text, capacity, "%ld min", (long)seconds / 60);
    else if (seconds < 2 * SECONDS_A_DAY)
        snprintf(text, capacity, "%ld h", (long)seconds / 3600);
    else
        snprintf(text, capacity, "%ld days", (long)seconds / SECONDS_A_DAY);
}

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

static void ms_text(double ms, char *text, size_t capacity)
{
    if (ms < 10)
        snprintf(text, capacity, "%.2f ms", ms);
    else if (ms < 1000)
        snprintf(text, capacity, "%.0f ms", ms);
    else
        snprintf(text, capacity, "%.1f s", ms / 1000);
}

/* ---- the list ---- */

static int name_width(const struct status_page *page)
{
    int widest = LEAST_NAME, capacity;
    for (size_t i = 0; i < page->providers->count; i++) {
        char name[1024];
        text_clean(page->providers->list[i].service.name, name, sizeof name);
        int width = text_width(name);
        widest = width > widest ? width : widest;
    }
    capacity = page->perfmon->width - MARK_WIDTH - GAP * 4 - STATE_WIDTH - PLACE_WIDTH -
               OBJECTS_WIDTH - ANSWER_WIDTH;
    if (widest > capacity)
        widest = capacity;
    return widest < LEAST_NAME ? LEAST_NAME : widest;
}

/* Writes how long ago `when` was, such as "5 m ago"; "now" also if the clock was set back since. */
static void ago_text(time_t when, char *text, size_t capacity)
{
    static const struct {
        time_t until, length;
        const char *unit;
    } spans[] = {
        {120,                1,             "s"},
        {7200,               60,            "m"},
        {2 * SECONDS_A_DAY,  3600,          "h"},
        {99 * SECONDS_A_DAY, SECONDS_A_DAY, "d"},
    };
    time_t seconds = time(NULL) - when;
    size_t i = 0;
    while (i + 1 < sizeof spans / sizeof *spans && seconds >= spans[i].until)
        i++;
    snprintf(text, capacity, "%ld %s ago", (long)(seconds / spans[i].length), spans[i].unit);
    if (seconds <= 0)
        snprintf(text, capacity, "now");
}

/* Writes how long the answer to --ask took; without --ask, how long ago the last answer was. */
static void answer_text(const struct status_page *page, const struct provider *provider, char *text,
                        size_t capacity)
{
    if (provider->answer.answered)
        ms_text(provider->answer.again_ms, text, capacity);
    else if (provider->answer.queried)
        snprintf(text, capacity, "none");
    else if (provider->untried)
        snprintf(text, capacity, "not yet");
    else if (!page->perfmon->query && provider->heard_at)
        ago_text(provider->heard_at, text, capacity);
    else if (!page->perfmon->query && provider->service.library)
        snprintf(text, capacity, "-");
}

static void print_row(const struct status_page *page, const struct provider *provider)
{
    char name[1024], objects[16] = "", answer[32] = "";
    const char *place = provider_place(provider);
    text_clean(provider->service.name, name, sizeof name);
    if (provider->service.object_list)
        snprintf(objects, sizeof objects, "%zu", provider->objects);
    answer_text(page, provider, answer, sizeof answer);
    print_mark(page, provider->state);
    text_cell(stdout, name, page->name_width);
    printf("%*s%s", GAP, "", paint(page, colours[looks[provider->state]]));
    text_cell(stdout, provider_state(provider), STATE_WIDTH);
    printf("%s%*s", paint(page, "\033[0m"), GAP, "");
    text_cell(stdout, place ? place : "", PLACE_WIDTH);
    printf("%*s%*s%*s%*s\n", GAP, "", OBJECTS_WIDTH, objects, GAP, "", ANSWER_WIDTH, answer);
}

static void print_list(const struct status_page *page)
{
    printf("%s%*s%-*s%*s%-*s%*s%-*s%*s%*s%*s%*s%s\n", paint(page, "\033[1m"), MARK_WIDTH, "",
           page->name_width, "PROVIDER", GAP, "", STATE_WIDTH, "STATE", GAP, "", PLACE_WIDTH,
           "RUNS", GAP, "", OBJECTS_WIDTH, "OBJECTS", GAP, "", ANSWER_WIDTH,
           page->perfmon->query ? "ANSWERS" : "ANSWERED", paint(page, "\033[0m"));
    for (size_t i = 0; i < page->providers->count; i++)
        print_row(page, &page->providers->list[i]);
}

/* ---- the details of a provider ---- */

static void print_label(const struct status_page *page, const char *label)
{
    printf("%*s%s%-*s%s", LABEL_INDENT, "", paint(page, "\033[2m"), LABEL_WIDTH, label,
           paint(page, "\033[0m"));
}

/* Prints text after its label. text_wrap indents the first line too; the label takes the place of
 * that indentation, so the indentation is skipped. */
static void print_text(const struct status_page *page, const char *label, const char *text)
{
    char *wrapped = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&wrapped, &size);
    if (out) {
        text_wrap(out, text, TEXT_INDENT, page->perfmon->width);
        fclose(out);
        print_label(page, label);
        fputs(size > TEXT_INDENT ? wrapped + TEXT_INDENT : "\n", stdout);
    }
    free(wrapped);
}

static void print_until(const struct status_page *page, const struct provider *provider)
{
    char when[64], span[32], text[160];
    time_t left = provider->until - time(NULL);
    if (!provider->until)
        return;
    time_text(provider->until, when, sizeof when);
    span_text(left > 0 ? left : -left, span, sizeof span);
    snprintf(text, sizeof text, left > 0 ? "%s, %s from now" : "%s, %s ago", when, span);
    print_text(page, "until", text);
}

/* Prints the recorded answer. For a provider that cannot answer, nothing is printed. */
static void print_last_answer(const struct status_page *page, const struct provider *provider)
{
    char when[64], span[32], took[32], text[200];
    if (provider->untried)
        print_text(page, "answered",
                   "not since it was enabled again; perfmon status --ask queries it now");
    if (!provider->heard_at) {
        if (provider->service.library)
            print_text(page, "answered", "no answer is recorded since the machine started");
        return;
    }
    time_t ago = time(NULL) - provider->heard_at;
    time_text(provider->heard_at, when, sizeof when);
    span_text(ago > 0 ? ago : 0, span, sizeof span);
    ms_text(provider->heard_ms, took, sizeof took);
    snprintf(text, sizeof text, "%s, %s ago, in %s; queried by a program of %s", when, span, took,
             provider->heard_by_root ? "root" : "yours");
    print_text(page, "answered", text);
}

static void print_answer(const struct status_page *page, const struct provider *provider)
{
    const struct status_answer *answer = &provider->answer;
    char first[32], again[32], text[200];
    ms_text(answer->first_ms, first, sizeof first);
    ms_text(answer->again_ms, again, sizeof again);
    if (answer->answered)
        snprintf(text, sizeof text,
                 "just now, in %s (%s with loading and Open): %zu object%s, %zu instance%s", again,
                 first, answer->objects, plural(answer->objects), answer->instances,
                 plural(answer->instances));
    else if (answer->status)
        snprintf(text, sizeof text, "none: %s", status_message((DWORD)answer->status));
    else
        snprintf(text, sizeof text, "it returned none of its objects, after %s", first);
    print_text(page, "answer", text);
}

static void print_numbers(const struct status_page *page, const struct service_settings *service)
{
    char text[160];
    if (!service->loaded)
        return;
    snprintf(text, sizeof text, "%u to %u", (unsigned)service->first_counter,
             (unsigned)(service->last_help > service->last_counter ? service->last_help
                                                                   : service->last_counter));
    print_text(page, "numbers", text);
}

static void print_event(const struct status_page *page, const char *label,
                        const struct recent *recent)
{
    const struct event *event = recent->event;
    char when[64], times[32] = "", *text = NULL;
    event_time(event, when, sizeof when);
    if (recent->count > 1)
        snprintf(times, sizeof times, " (%zu times)", recent->count);
    if (asprintf(&text, "%s %s %s %u%s: %s", when, event->level, event->source, event->id, times,
                 event->text) >= 0)
        print_text(page, label, text);
    free(text);
}

/* Prints the last event from its copy in the registry, for a user who may not read the log. */
static void print_kept_event(const struct status_page *page, const opl_load_event *event)
{
    char when[64], *text = NULL;
    time_text(last_event_time(event), when, sizeof when);
    if (asprintf(&text, "%s %s Perflib %u: %s; %s", when, event->level, (unsigned)event->id,
                 event->text, event->advice) >= 0)
        print_text(page, "event", text);
    free(text);
}

static void print_events(const struct status_page *page, const struct provider *provider)
{
    bool all = page->perfmon->details || page->perfmon->arg_count;
    struct recent *list = calloc((size_t)page->perfmon->events + 1, sizeof *list);
    size_t count = list ? event_log_last(page->log, provider->service.name, !all,
                                         (size_t)page->perfmon->events, list)
                        : 0;
    for (size_t i = 0; i < count; i++)
        print_event(page, i == 0 ? "events" : "", &list[i]);
    if (count == 0 && provider->has_event && page->perfmon->events)
        print_kept_event(page, &provider->event);
    free(list);
}

/* Prints the failures that are counted towards the next quarantine. */
static void print_failures(const struct status_page *page, const struct provider *provider)
{
    char text[64];
    snprintf(text, sizeof text, "%u; too many of them put the provider in quarantine",
             (unsigned)provider->service.error_count);
    if (provider->service.error_count)
        print_text(page, "failures", text);
}

/* Prints the titles of the objects whose numbers are in `list`, a provider's Object List. */
static void print_objects(const struct status_page *page, const char *list)
{
    char *text = NULL, *end;
    size_t size = 0;
    FILE *out = list ? open_memstream(&text, &size) : NULL;
    if (!out)
        return;
    for (const char *lead = ""; *list; list = end) {
        unsigned long index = strtoul(list, &end, 10);
        if (end == list)
            break;
        const char *title = names_title(&page->names, (uint32_t)index);
        if (title)
            fprintf(out, "%s%s", lead, title);
        else
            fprintf(out, "%s#%lu, which has no name", lead, index);
        lead = ", ";
    }
    fclose(out);
    print_text(page, "objects", text);
    free(text);
}

static void print_details(const struct status_page *page, const struct provider *provider)
{
    const struct service_settings *service = &provider->service;
    char name[1024], next[NEXT_SIZE], times[64] = "";
    text_clean(service->name, name, sizeof name);
    putchar('\n');
    print_mark(page, provider->state);
    unsigned ending = provider->ordinal / 10 % 10 == 1 ? 0 : provider->ordinal % 10;
    if (provider->ordinal > 1)
        snprintf(times, sizeof times, ", the %u%.2s time", provider->ordinal,
                 &"thstndrd"[ending > 3 ? 0 : 2 * ending]);
    if (provider->ordinal == 1 && provider->state == QUARANTINED)
        snprintf(times, sizeof times, " (first quarantine)");
    printf("%s%s%s: %s%s%s\n", paint(page, "\033[1m"), name, paint(page, "\033[0m"),
           provider_state(provider), times,
           provider->service.isolated ? ", isolated"
           : provider_place(provider) ? ", in-process"
                                      : "");
    if (provider->why)
        print_text(page, "why", provider->why);
    print_until(page, provider);
    if (provider->path)
        print_text(page, "library", provider->path);
    print_objects(page, service->object_list);
    print_numbers(page, service);
    if (provider->answer.queried)
        print_answer(page, provider);
    else
        print_last_answer(page, provider);
    print_failures(page, provider);
    print_events(page, provider);
    provider_next(provider, &page->providers->owners, next, sizeof next);
    if (*next)
        print_text(page, "next", next);
}

/* ---- the page ---- */

static void print_sum(const struct status_page *page)
{
    size_t counts[STATES] = {0}, count = page->providers->count, size = 0;
    char *text = NULL;
    const char *lead = ": ";
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return;
    for (size_t i = 0; i < count; i++)
        counts[page->providers->list[i].state]++;
    fprintf(out, "%zu provider%s", count, plural(count));
    for (int state = 0; state < STATES; state++)
        if (counts[state]) {
            const struct provider any = {.state = (enum state)state};
            fprintf(out, "%s%zu %s", lead, counts[state], provider_state(&any));
            lead = ", ";
        }
    fclose(out);
    putchar('\n');
    text_wrap(stdout, text, 0, page->perfmon->width);
    free(text);
    if (!page->log->readable)
        printf(
            "Only the last event of each provider is shown, because the log cannot be read: %s\n",
            page->log->why);
}

static void print_finding(void *self, const opl_load_finding *finding)
{
    (void)self;
    printf("%s: %s\n", text_seen(finding->file), text_seen(finding->text));
}

unsigned status_print(const struct perfmon *perfmon, const struct providers *providers,
                      const struct event_log *log)
{
    struct status_page page = {.perfmon = perfmon, .providers = providers, .log = log};
    bool all = perfmon->details || perfmon->arg_count;
    page.name_width = name_width(&page);
    if (providers->switched_off)
        printf("%sNo provider is queried:%s the value Disable Performance Counters of the key "
               "Perflib is not 0.\n\n",
               paint(&page, "\033[31m"), paint(&page, "\033[0m"));
    print_list(&page);
    names_load(&page.names, "009");
    for (size_t i = 0; i < providers->count; i++)
        if (all || provider_in_trouble(&providers->list[i]))
            print_details(&page, &providers->list[i]);
    print_sum(&page);
    names_done(&page.names);
    return opl_load_state(&(opl_load_doctor_options){.found = print_finding});
}
