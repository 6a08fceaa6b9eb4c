/* SPDX-License-Identifier: MIT */
/*
 * What happens to a provider. The first table has the consequences of each fault: the event,
 * whether the answer is kept, whether the provider is quarantined. `transitions`, further down, has
 * what each event does to a provider's state: back-off, faults, quarantine. Where Microsoft's
 * documents contradict each other, docs/experiments.md has the decision.
 * (docs/windows/providers.md#d4, docs/windows/providers.md#d5)
 */
#include "host/internal.h"
#include "names/names.h"
#include "registry/registry.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum effect {
    DROP,
    KEEP = 1,
    EACH_TIME = 2 /* the event is logged each time, not once per session */
};

static const struct verdict {
    unsigned event;
    unsigned effects;
    enum provider_event means; /* what happened to the provider; PROVIDER_FAILED needs `why` */
    /* names of the event's fields that get the fault's numbers (docs/windows/providers.md#d5) */
    const char *fields[2];
    /* reason for the quarantine; with EACH_TIME also the details that the event's own text lacks */
    const char *why;
} verdicts[FAULT_COUNT] = {
  /* clang-format off */
    [FAULT_LENGTH]       = {2000, KEEP,      PROVIDER_UNCHANGED, {"BytesLeft", "BytesAvailable"}, NULL},
    [FAULT_SILENT]       = {2000, DROP,      PROVIDER_SILENT,    {"BytesLeft", "BytesAvailable"}, "Collect changed none of its outputs"},
    [FAULT_OVERRUN]      = {1001, DROP,      PROVIDER_FAILED,    {"Size"},                        "Collect wrote beyond its buffer"},
    [FAULT_HEAP]         = {1013, DROP,      PROVIDER_FAILED,    {"Size"},                        "Collect returned a pointer far outside its buffer"},
    [FAULT_GUARD]        = {1002, DROP,      PROVIDER_FAILED,    {NULL},                          "Collect wrote outside its buffer"},
    [FAULT_OBJECTS]      = {1003, DROP,      PROVIDER_UNCHANGED, {"ObjectCount"},                 NULL},
    [FAULT_DEFINITIONS]  = {1019, DROP,      PROVIDER_UNCHANGED, {"ObjectIndex"},                 NULL},
    [FAULT_INSTANCES]    = {1004, DROP,      PROVIDER_UNCHANGED, {"ObjectIndex"},                 NULL},
    [FAULT_TWICE]        = {4006, DROP,      PROVIDER_UNCHANGED, {"ObjectIndex"},                 NULL},
    [FAULT_BASE]         = {4007, DROP,      PROVIDER_UNCHANGED, {"ObjectIndex"},                 NULL},
    [FAULT_OFFSET]       = {4008, KEEP,      PROVIDER_UNCHANGED, {"ObjectIndex"},                 NULL},
    [FAULT_FOREIGN]      = {4009, DROP,      PROVIDER_UNCHANGED, {NULL},                          NULL},
    [FAULT_UNNAMED]      = {4010, KEEP,      PROVIDER_UNCHANGED, {"ObjectIndex"},                 NULL},
    [FAULT_ODD_LENGTH]   = {1016, DROP,      PROVIDER_UNCHANGED, {"Buffer", "BytesLeft"},         "it is no multiple of 4 either, so the answer was dropped"},
    [FAULT_ALIGNMENT]    = {1016, KEEP,      PROVIDER_UNCHANGED, {"Buffer", "BytesLeft"},         NULL},
    [FAULT_STATUS]       = {1014, EACH_TIME, PROVIDER_UNCHANGED, {"Win32Error"},                  NULL},
    [FAULT_NEVER_ENOUGH] = {1020, EACH_TIME, PROVIDER_FAILED,    {"BufferSize"},                  "it needs more than 64 MiB, the largest possible buffer"},
    [FAULT_BUFFER_HOG]   = {1020, EACH_TIME, PROVIDER_FAILED,    {"BufferSize"},                  "it fills buffers of any size"},
    [FAULT_OVERDUE]      = {1015, KEEP,      PROVIDER_UNCHANGED, {NULL},                          NULL},
  /* clang-format on */
};

/* ---- events ---- */

enum { MOST_FIELDS = 8 };
static _Atomic uint32_t event_level = 3;

void verdict_set_level(uint32_t level)
{
    atomic_store(&event_level, level);
}

/* True if logged. EventLogLevel 1: events for users; 2: also authors' warnings (2000 to 2999). */
static bool is_wanted(unsigned id)
{
    uint32_t level = atomic_load(&event_level);
    return level >= 2 || (level == 1 && (id < 2000 || id >= 3000));
}

void verdict_report(const struct service *service, unsigned id, const struct event_field *fields,
                    const char *more)
{
    struct event_field all[MOST_FIELDS + 2] = {EVENT_TEXT("Library", service->library)};
    for (size_t i = 1; fields && fields->name && i < COUNT(all) - 1; i++)
        all[i] = *fields++;
    if (is_wanted(id))
        event_log("Perflib", id, service->name, all, more && *more ? more : NULL);
}

/* Adds a text such as `object "Build Farm" (4012)`, or only the number if it has no name. */
static void add_name(struct buffer *text, const char *what, uint32_t index)
{
    BUFFER_AUTO name = {0};
    if (index && names_lookup(index, LANGUAGE_ENGLISH, &name) && name.len)
        buffer_printf(text, "%s \"%s\" (%u)", what, name.data, index);
    else
        buffer_printf(text, "%s %u", what, index);
}

/* Adds the name of the part of the answer that the finding is about. */
static void add_part(struct buffer *text, const struct wire_finding *found)
{
    add_name(text, "object", found->object);
    if (found->has_counter)
        add_name(text, ", counter", found->counter);
    if (found->has_instance && *found->instance)
        buffer_printf(text, ", instance \"%s\"", found->instance);
    else if (found->has_instance)
        buffer_printf(text, ", instance number %u", found->instance_position);
}

/* What was found in the answer, as text, for the event's fields or the end of its message. */
struct found_text {
    struct buffer part;
    char found[WIRE_TEXT], expected[WIRE_TEXT];
};

static void content_init(struct found_text *content, const struct wire_finding *found)
{
    *content = (struct found_text){.part = {0}};
    add_part(&content->part, found);
    wire_finding_text(found, content->found, content->expected);
}

static const char *part_of(const struct found_text *content)
{
    return content->part.failed ? "" : content->part.data;
}

/* Writes the numbers of the fault, and what was found in the answer, as event fields. */
static void write_fields(const struct verdict *verdict, const struct fault_finding *finding,
                         const struct found_text *content,
                         struct event_field ret[static MOST_FIELDS + 1])
{
    size_t count = 0;
    for (; count < 2 && verdict->fields[count]; count++)
        ret[count] = EVENT_NUMBER(verdict->fields[count], finding->numbers[count]);
    if (finding->fault == FAULT_STATUS)
        ret[0] = EVENT_STATUS(finding->numbers[0]);
    if (finding->owner)
        ret[count++] = EVENT_TEXT("Owner", finding->owner);
    if (finding->content.field) {
        ret[count++] = EVENT_TEXT("Part", part_of(content));
        ret[count++] = EVENT_TEXT("Field", finding->content.field);
        ret[count++] = EVENT_TEXT("Found", content->found);
        ret[count++] = EVENT_TEXT("Expected", content->expected);
        ret[count++] = EVENT_NUMBER("Offset", finding->content.offset);
    }
}

/* Adds the details that the event's own text lacks. */
static void add_more(struct buffer *more, const struct verdict *verdict,
                     const struct fault_finding *finding, const struct found_text *content)
{
    bool reported = verdict->means == PROVIDER_FAILED && !(verdict->effects & EACH_TIME);
    if (finding->because)
        buffer_printf(more, "the answer was dropped because of the fault that event %u describes",
                      verdicts[finding->because].event);
    else if (finding->fault == FAULT_OVERDUE)
        buffer_printf(more, "it took %" PRIu64 " ms", finding->numbers[0]);
    else if (verdict->why && !reported)
        buffer_add_text(more, verdict->why);
    if (finding->content.field && (finding->because || finding->fault == FAULT_ALIGNMENT))
        buffer_printf(more, "%s%s of %s is %s, expected %s", more->len ? ": " : "",
                      finding->content.field, part_of(content), content->found, content->expected);
}

void verdict_report_finding(const struct service *service, const struct fault_finding *finding)
{
    const struct verdict *verdict = &verdicts[finding->fault];
    struct event_field fields[MOST_FIELDS + 1] = {{0}};
    struct found_text content = {.part = {0}};
    BUFFER_AUTO more = {0};
    if (finding->content.field)
        content_init(&content, &finding->content);
    write_fields(verdict, finding, &content, fields);
    add_more(&more, verdict, finding, &content);
    verdict_report(service, verdict->event, fields, more.failed ? NULL : more.data);
    buffer_done(&content.part);
}

/* ---- mistakes ---- */

bool verdict_keep(struct service *service, const struct host_settings *settings,
                  const struct fault_finding *finding)
{
    const struct verdict *verdict = &verdicts[finding->fault];
    uint32_t bit = UINT32_C(1) << finding->fault;
    bool keep = verdict->effects & KEEP && !finding->because;
    trace("host", "%s: the answer is %s; event %u with the numbers %" PRIu64 ", %" PRIu64,
          service->name, keep ? "kept" : "dropped", verdict->event, finding->numbers[0],
          finding->numbers[1]);
    if (verdict->effects & EACH_TIME || !(service->code->reported & bit))
        verdict_report_finding(service, finding);
    service->code->reported |= bit;
    quarantine_take(service, settings, verdict->means, verdict->why);
    return keep;
}

/* ---- quarantine ---- */

/*
 * A provider that crashes, hangs or damages memory is not queried for a while: first in this
 * session, for 1 s, 2 s, 4 s ...; after Error Count Limit failures it is disabled by `Disable
 * Performance Counters` = 1 and a value `Quarantine` with the reason and the end: 10 minutes, then
 * twice as long each time. After that it is tried again, and one more failure starts the next
 * quarantine. A provider that is disabled by hand has no such value and stays disabled.
 * (docs/windows/providers.md#d4, 12; docs/windows/providers.md#d5)
 *
 * An overdue answer is not a failure: a program that queries only once exits before it can know
 * whether the provider is slow or hung. The value `Unanswered` counts such programs until one of
 * them gets an answer; when it reaches Error Count Limit, programs still query the provider, but do
 * not wait for it.
 *
 * `transitions` has one row with the consequences of each event, and one function applies it.
 */

#define SECONDS(count) ((int64_t)(count)*CLOCK_TICKS_PER_SECOND)
enum { LONGEST_DOUBLINGS = 6, QUARANTINE_MINUTES = 10, QUARANTINE_DOUBLINGS = 7 };
static const int64_t forgotten_after = SECONDS(600);

static const char *const ordinals[] = {"", "first", "second", "third"};

struct quarantine_clock quarantine_clock = {clock_ticks, clock_filetime};

/* ---- values in the registry ---- */

static char *service_path(const struct service *service)
{
    return text_format("%s\\%s\\Performance", REGISTRY_SERVICES, service->name);
}

/* Writes the value to the machine's layer. If the program may not do that, and this user registered
 * the provider with --user, it writes to the user's layer, because only this user's programs query
 * that provider. */
static LSTATUS set_value(const char *path, const char *value, uint32_t type, const void *data,
                         size_t size)
{
    LSTATUS status = registry_set(LAYER_MACHINE, path, value, type, data, size);
    if (status && registry_is_users(path, "Library"))
        status = registry_set(LAYER_USER, path, value, type, data, size);
    return status;
}

static LSTATUS set_number(const char *path, const char *value, uint32_t number)
{
    return set_value(path, value, REG_DWORD, &number, sizeof(number));
}

static LSTATUS delete_value(const char *path, const char *value)
{
    LSTATUS status = registry_delete_value(LAYER_MACHINE, path, value);
    if (registry_is_users(path, value))
        status = registry_delete_value(LAYER_USER, path, value);
    return status;
}

/* Reads the number in the text after the time: " (first quarantine): why", " (4th quarantine): why"
 * or " (5 times in a row): why"; older records have ", time 1: why". Returns 0 if the text has no
 * number. */
static unsigned read_ordinal(const char *text)
{
    unsigned number = 0;
    for (unsigned i = 1; i < COUNT(ordinals); i++)
        if (!strncmp(text, " (", 2) && !strncmp(text + 2, ordinals[i], strlen(ordinals[i])))
            return i;
    bool read = sscanf(text, " (%9u", &number) == 1 || sscanf(text, ", time %9u", &number) == 1;
    return read ? number : 0;
}

/* Parses a text such as "until 2026-11-21T20:10:00Z (first quarantine): crashed in Collect". */
unsigned quarantine_read(const char *text, int64_t *ret_end)
{
    struct tm utc = {0};
    int used = 0;
    *ret_end = 0;
    if (!text || sscanf(text, "until %4d-%2d-%2dT%2d:%2d:%2dZ%n", &utc.tm_year, &utc.tm_mon,
                        &utc.tm_mday, &utc.tm_hour, &utc.tm_min, &utc.tm_sec, &used) < 6)
        return 0;
    utc.tm_year -= 1900;
    utc.tm_mon -= 1;
    struct timespec end = {.tv_sec = timegm(&utc)};
    *ret_end = clock_filetime_of(&end);
    return used ? read_ordinal(text + used) : 0;
}

static void write_end(int64_t filetime, char when[static 32])
{
    SYSTEMTIME utc;
    clock_systemtime(filetime, &utc);
    snprintf(when, 32, "%04u-%02u-%02uT%02u:%02u:%02uZ", utc.wYear % 10000u, utc.wMonth % 100u,
             utc.wDay % 100u, utc.wHour % 100u, utc.wMinute % 100u, utc.wSecond % 100u);
}

/* Returns the start of a value, such as "until 2026-11-21T20:10:00Z (first": the end of the new
 * quarantine, and its number. *ret_length: its duration. */
static char *write_period(const struct service *service, int64_t *ret_length)
{
    char when[32];
    int64_t end;
    unsigned before = quarantine_read(service->quarantine, &end);
    unsigned doublings = before < QUARANTINE_DOUBLINGS ? before : QUARANTINE_DOUBLINGS;
    *ret_length = SECONDS(60 * QUARANTINE_MINUTES) << doublings;
    write_end(quarantine_clock.filetime() + *ret_length, when);
    if (before + 1 < COUNT(ordinals))
        return text_format("until %s (%s", when, ordinals[before + 1]);
    unsigned number = before + 1, ending = number / 10 % 10 == 1 ? 0 : number % 10;
    return text_format("until %s (%u%.2s", when, number, &"thstndrd"[ending > 3 ? 0 : 2 * ending]);
}

/* Writes the reason before it disables the provider, so that no reader sees a disabled provider
 * without a reason. */
static LSTATUS write_quarantine(const char *path, const char *text)
{
    LSTATUS status = set_value(path, "Quarantine", REG_SZ, text, strlen(text) + 1);
    if (!status)
        status = set_number(path, "Disable Performance Counters", 1);
    if (!status)
        delete_value(path, "Error Count");
    return status;
}

static void report(const struct service *service, const char *why, LSTATUS written)
{
    BUFFER_AUTO more = {0};
    buffer_add_text(&more, why);
    if (written)
        buffer_printf(&more,
                      "; only in this program, because the registry cannot be written: %s (%d)",
                      status_text(written), (int)written);
    verdict_report(service, written ? 1018 : 1017, NULL, more.data);
}

/* ---- consequences in the registry and the event log ---- */

static bool is_registered(const struct service *service)
{
    FREE_AUTO char *path = service_path(service);
    BUFFER_AUTO library = {0};
    return path && !registry_get_text(path, "Library", &library);
}

static bool is_counted(const struct host_settings *settings)
{
    return !(settings->configuration & CONFIGURATION_NEVER_DISABLE) && settings->error_limit;
}

/* Forgets the provider's failures and all states but `kept` and those of its answers. */
static void forget(struct backoff *backoff, unsigned kept)
{
    kept |= IS_SUSPECT | IS_MISSED | IS_FORGIVEN;
    *backoff = (struct backoff){.states = backoff->states & kept};
}

/* Starts a quarantine. If it can be written to the registry, its end there counts. */
static void start_quarantine(struct service *service, const struct host_settings *settings,
                             const char *why)
{
    int64_t length;
    if (!is_counted(settings))
        return;
    FREE_AUTO char *path = service_path(service);
    FREE_AUTO char *period = write_period(service, &length);
    FREE_AUTO char *text = period ? text_format("%s quarantine): %s", period, why) : NULL;
    FREE_AUTO char *because = period ? text_format("%s time), because %s", period, why) : NULL;
    LSTATUS status = path && text ? write_quarantine(path, text) : ERROR_NOT_ENOUGH_MEMORY;
    forget(&service->code->backoff, 0);
    service->code->backoff.until = status ? quarantine_clock.ticks() + length : 0;
    report(service, because ? because : why, status);
}

/* Disables the provider at once and permanently. */
static void disable(struct service *service, const struct host_settings *settings, const char *why)
{
    static const char reason[] = "permanently: Collect changed none of its outputs";
    if (settings->configuration & CONFIGURATION_NEVER_DISABLE)
        return;
    FREE_AUTO char *path = service_path(service);
    LSTATUS status = path ? write_quarantine(path, reason) : ERROR_NOT_ENOUGH_MEMORY;
    service->code->backoff.states |= status ? IS_OFF : 0;
    report(service, "permanently, because Collect changed none of its outputs", status);
}

/* Counts the failure in the registry, for all processes together; if it cannot be written, each
 * process counts its own. */
static void share_failure(struct service *service, const struct host_settings *settings,
                          const char *why)
{
    uint32_t count = 0;
    if (!is_counted(settings))
        return;
    FREE_AUTO char *path = service_path(service);
    if (path)
        registry_get_dword(path, "Error Count", &count);
    count = count < UINT32_MAX ? count + 1 : count;
    if (!path || set_number(path, "Error Count", count))
        count = service->code->backoff.counts[FAILURES];
    if (count >= settings->error_limit)
        start_quarantine(service, settings, why);
}

/* Counts in the registry how many programs in a row got no answer. If it cannot be written, each
 * program has only its own count. */
static void share_miss(struct service *service, const struct host_settings *settings,
                       const char *why)
{
    BUFFER_AUTO before = {0};
    char when[32], more[96];
    int64_t end = 0, now = quarantine_clock.filetime();
    unsigned times = 1;
    if (!is_counted(settings))
        return;
    FREE_AUTO char *path = service_path(service);
    if (path && !registry_get_text(path, "Unanswered", &before))
        times += quarantine_read(before.data, &end);
    if (end <= now)
        times = 1;
    write_end(now + forgotten_after, when);
    FREE_AUTO char *text = text_format("until %s (%u time%s in a row): it did not answer in time",
                                       when, times, times == 1 ? "" : "s");
    if (!path || !text || set_value(path, "Unanswered", REG_SZ, text, strlen(text) + 1) ||
        times != settings->error_limit)
        return;
    snprintf(more, sizeof(more),
             "%u times in a row; for 10 minutes, or until it answers, queries do not wait for it",
             times);
    verdict_report(service, 1015, NULL, more);
}

/* Removes the value Unanswered from the registry. If that fails for lack of rights, it is not tried
 * again. */
static void share_answer(struct service *service, const struct host_settings *settings,
                         const char *why)
{
    if (!service->unanswered || service->code->backoff.states & IS_KEPT)
        return;
    FREE_AUTO char *path = service_path(service);
    LSTATUS status = path ? delete_value(path, "Unanswered") : ERROR_NOT_ENOUGH_MEMORY;
    if (status && status != ERROR_FILE_NOT_FOUND)
        service->code->backoff.states |= IS_KEPT;
}

/* Removes a value. If this process may not do that, the value stays, and every process tests the
 * provider by one query. */
static void forget_value(const struct service *service, const char *value)
{
    FREE_AUTO char *path = service_path(service);
    if (path)
        delete_value(path, value);
}

static void share_pass(struct service *service, const struct host_settings *settings,
                       const char *why)
{
    struct backoff *backoff = &service->code->backoff;
    if (backoff->counts[FAILURES] &&
        quarantine_clock.ticks() - backoff->last_failure >= forgotten_after) {
        forget_value(service, "Error Count");
        forget(backoff, IS_CLEARED | IS_KEPT);
    }
    /* an administrator enabled the provider: remove the old value, because otherwise disabling it
     * by hand later would look like a quarantine */
    if (service->quarantine && !service->disable_flags && !(backoff->states & IS_CLEARED)) {
        forget_value(service, "Quarantine");
        backoff->states |= IS_CLEARED;
    }
    share_answer(service, settings, why);
}

static void share_end(struct service *service, const struct host_settings *settings,
                      const char *why)
{
    struct backoff *backoff = &service->code->backoff;
    if (!(backoff->states & IS_CLEARED)) {
        trace("host", "%s: its quarantine is over", service->name);
        forget_value(service, "Error Count");
        forget_value(service, "Disable Performance Counters");
        forget_value(service, "Quarantine");
        forget(backoff, 0);
        backoff->states |= IS_CLEARED;
    }
    share_pass(service, settings, why);
}

/* Counts one missing answer less, because it has arrived. If an answer has passed the checks
 * before, the count is 0 already. */
static void take_miss_back(struct service *service, const struct host_settings *settings,
                           const char *why)
{
    struct backoff *backoff = &service->code->backoff;
    if (!backoff->counts[MISSES])
        return;
    backoff->counts[MISSES]--;
    backoff->until = 0;
    if (!backoff->counts[FAILURES] && !backoff->counts[MISSES])
        backoff->states &= ~(unsigned)IS_PERSISTENT;
}

/* ---- the table ---- */

/*
 * What each event does in each state. During a quarantine a provider is not queried.
 *
 * `then` itself sets IS_OFF, IS_CLEARED and IS_KEPT, because these depend on whether the registry
 * could be written, and resets IS_PERSISTENT where that depends on the counts. `enabled` of struct
 * library is no state here, because it is set by a thread that does not hold the provider.
 */
static const struct transition {
    unsigned only_in, not_in; /* otherwise the event is ignored */
    enum backoff_count grows, clears;
    /* when the count reaches this value, the provider is not queried for some time; 0: the provider
     * is always queried */
    unsigned limit;
    unsigned sets, resets;
    enum { NOTHING, UNLESS_PERSISTENT, ALL } forgets;
    bool registered; /* `then` is not called for a service that was removed during the query */
    /* what is called: usually, and for the first query after a quarantine if that differs */
    void (*then[2])(struct service *, const struct host_settings *, const char *why);
} transitions[PROVIDER_EVENTS] = {
  /* clang-format off */
    [PROVIDER_FAILED]       = {.grows = FAILURES, .limit = 1, .then = {share_failure, start_quarantine}},
    [PROVIDER_CRASHED_LAST] = {.grows = FAILURES, .limit = 2, .sets = IS_PERSISTENT, .registered = true, .then = {share_failure, start_quarantine}},
    [PROVIDER_HUNG]         = {.grows = FAILURES, .limit = 1, .sets = IS_SUSPECT, .resets = IS_MISSED, .then = {share_failure, start_quarantine}},
    [PROVIDER_MISSED]       = {.not_in = IS_FORGIVEN, .grows = MISSES, .limit = 2, .sets = IS_PERSISTENT | IS_MISSED, .registered = true, .then = {share_miss}},
    [PROVIDER_SUSPECTED]    = {.sets = IS_SUSPECT},
    [PROVIDER_CAUGHT_UP]    = {.only_in = IS_MISSED, .resets = IS_MISSED, .then = {take_miss_back}},
    [PROVIDER_ARRIVED]      = {.only_in = IS_MISSED, .sets = IS_FORGIVEN, .resets = IS_MISSED, .then = {take_miss_back}},
    [PROVIDER_OVERDUE]      = {.grows = OVERDUE_ANSWERS, .limit = 2, .sets = IS_ALIVE, .then = {share_answer}},
    [PROVIDER_ANSWERED]     = {.sets = IS_ALIVE, .resets = IS_SUSPECT, .then = {share_answer}},
    [PROVIDER_IN_TIME]      = {.clears = OVERDUE_ANSWERS, .resets = IS_SUSPECT},
    [PROVIDER_PASSED]       = {.clears = MISSES, .sets = IS_ALIVE, .resets = IS_PERSISTENT, .then = {share_pass, share_end}},
    [PROVIDER_SILENT]       = {.then = {disable}},
    [PROVIDER_NO_HELPER]    = {.limit = 1},
    [PROVIDER_CLOSED]       = {.resets = IS_OFF | IS_ALIVE | IS_SUSPECT | IS_FORGIVEN, .forgets = UNLESS_PERSISTENT},
    [PROVIDER_ENABLED]      = {.forgets = ALL},
  /* clang-format on */
};

/* Counts the event. If its count has reached `limit`, the provider is not queried: for 1 s the
 * first time, then for twice as long each time. */
static void count(struct backoff *backoff, const struct transition *row)
{
    unsigned times = row->grows ? ++backoff->counts[row->grows] : 1;
    if (row->grows == FAILURES)
        backoff->last_failure = quarantine_clock.ticks();
    if (times < row->limit)
        return;
    unsigned doublings = times - row->limit;
    if (doublings > LONGEST_DOUBLINGS)
        doublings = LONGEST_DOUBLINGS;
    backoff->until = quarantine_clock.ticks() + (SECONDS(1) << doublings);
}

void quarantine_take(struct service *service, const struct host_settings *settings,
                     enum provider_event event, const char *why)
{
    const struct transition *row = &transitions[event];
    struct backoff *backoff = &service->code->backoff;
    void (*then)(struct service *, const struct host_settings *, const char *) =
        row->then[service->on_probation && row->then[1]];
    bool ignored =
        backoff->states & row->not_in || (row->only_in && !(backoff->states & row->only_in));
    if (ignored || (row->grows && !settings))
        return;
    backoff->counts[row->clears] = 0;
    if (row->limit)
        count(backoff, row);
    if (then && (!row->registered || is_registered(service)))
        then(service, settings, why);
    if (row->forgets == ALL || (row->forgets && !(backoff->states & IS_PERSISTENT)))
        forget(backoff, 0);
    backoff->states = (backoff->states & ~row->resets) | row->sets;
}

/* ---- before a query ---- */

bool quarantine_suspects(const struct service *service, const struct host_settings *settings)
{
    return is_counted(settings) && service->unanswered_times >= settings->error_limit &&
           quarantine_clock.filetime() < service->unanswered_end &&
           !(service->code->backoff.states & IS_ALIVE);
}

bool quarantine_waits(struct service *service)
{
    struct backoff *backoff = &service->code->backoff;
    if (atomic_exchange(&service->code->enabled, false))
        quarantine_take(service, NULL, PROVIDER_ENABLED, NULL);
    bool off = backoff->states & IS_OFF, waits = off || quarantine_clock.ticks() < backoff->until;
    if (waits)
        trace("host", "%s is not queried now: it failed %u times%s", service->name,
              backoff->counts[FAILURES] + backoff->counts[MISSES],
              off ? ", and not again in this session" : "");
    return waits;
}
