/* SPDX-License-Identifier: MIT */
/*
 * Queries a provider in its helper process: sends the request, waits until its deadline, checks the
 * answer like that of any provider. After an overdue answer no query waits for the provider until
 * that answer arrives; a provider that does not answer for much longer is ended. No lock is held
 * while waiting. (docs/isolation.md, docs/windows/providers.md#d4, checks 10 and 11)
 */
#include "host/internal.h"

#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SILENCE_FACTOR = 10, LEAST_SILENCE_MS = 10000, PAST = 0 };

static const char *stage_name(enum isolate_stage stage)
{
    return stage < ISOLATE_OPEN       ? "loading"
           : stage == ISOLATE_OPEN    ? "Open"
           : stage == ISOLATE_COLLECT ? "Collect"
                                      : "Close";
}

static void forget_file(struct library *code)
{
    lock_take(&code->lock);
    code->place = PLACE_UNKNOWN;
    lock_release(&code->lock);
}

/* ---- failures ---- */

/* Returns a name such as "SIGSEGV"; "signal 64" for a signal without a name. */
static const char *signal_name(int number, char storage[static 16])
{
    static const struct {
        int number;
        const char *name;
    } names[] = {
        {SIGSEGV, "SIGSEGV"},
        {SIGBUS,  "SIGBUS" },
        {SIGFPE,  "SIGFPE" },
        {SIGILL,  "SIGILL" },
        {SIGTRAP, "SIGTRAP"},
        {SIGABRT, "SIGABRT"},
        {SIGKILL, "SIGKILL"},
        {SIGTERM, "SIGTERM"},
        {SIGSYS,  "SIGSYS" },
        {SIGPIPE, "SIGPIPE"},
        {SIGALRM, "SIGALRM"},
        {SIGXCPU, "SIGXCPU"},
    };
    for (size_t i = 0; i < COUNT(names); i++)
        if (names[i].number == number)
            return names[i].name;
    snprintf(storage, 16, "signal %d", number);
    return storage;
}

enum { CRASH_TEXT = 64 + sizeof(((struct isolate_reply *)NULL)->calls) };

/* Writes a text such as "SIGSEGV at address 0x0 in farm.so+0x1234 (CollectFarm+0x20), called by
 * ..." */
static void write_crash(const struct isolate_reply *reply, char *ret, size_t capacity)
{
    char number[16];
    int used = snprintf(ret, capacity, "%s", signal_name(reply->code, number));
    if (reply->has_address)
        used +=
            snprintf(ret + used, capacity - (size_t)used, " at address 0x%" PRIx64, reply->address);
    if (*reply->calls)
        snprintf(ret + used, capacity - (size_t)used, " in %s", reply->calls);
}

static bool has_ended(const struct isolate_reply *reply)
{
    return reply->end == ISOLATE_CRASHED || reply->end == ISOLATE_EXITED ||
           reply->end == ISOLATE_LARGE;
}

/* Reports a crash. docs/windows/providers.md#d5 has events for crashes in the three procedures; a
 * crash before these is reported as a failure to load. */
static void take_crash(struct service *service, const struct host_settings *settings,
                       const struct isolate_reply *reply)
{
    static const unsigned events[] = {
        [ISOLATE_OPEN] = 1009, [ISOLATE_COLLECT] = 1010, [ISOLATE_CLOSE] = 1011};
    const char *stage = stage_name(reply->stage);
    char why[CRASH_TEXT + 32], crash[CRASH_TEXT];
    bool crashed = reply->end == ISOLATE_CRASHED;
    write_crash(reply, crash, sizeof(crash));
    if (crashed)
        snprintf(why, sizeof(why), "%s crashed: %s", stage, crash);
    else
        snprintf(why, sizeof(why), "%s ended with exit code %d", stage, reply->code);
    trace("host", "%s: %s (%s)", service->name, why, reply->text);
    if (reply->stage < ISOLATE_OPEN)
        library_report_load(service, ERROR_PROCESS_ABORTED, why);
    else if (crashed)
        verdict_report(service, events[reply->stage],
                       EVENT_FIELDS(EVENT_NUMBER("ExceptionCode", (uint32_t)reply->code),
                                    EVENT_HEX("ExceptionAddress", reply->address),
                                    EVENT_TEXT("Crash", crash)),
                       reply->text);
    else
        verdict_report(service, 4011,
                       EVENT_FIELDS(EVENT_TEXT("ProcName", stage),
                                    EVENT_NUMBER("ExitCode", (uint32_t)reply->code)),
                       reply->text);
    quarantine_take(service, settings,
                    reply->stage < ISOLATE_CLOSE ? PROVIDER_FAILED : PROVIDER_CRASHED_LAST, why);
    forget_file(service->code);
}

/* Reports a helper that exceeded its memory limit. The next helper would do the same, so this
 * counts as a crash. */
static void take_largeness(struct service *service, const struct host_settings *settings,
                           const struct isolate_reply *reply)
{
    trace("host", "%s: ended, it had %u MiB", service->name, (unsigned)reply->resident_mib);
    verdict_report(service, 4014,
                   EVENT_FIELDS(EVENT_NUMBER("Resident", reply->resident_mib),
                                EVENT_NUMBER("Limit", isolate_limit_mib(service->memory_mib))),
                   NULL);
    quarantine_take(service, settings, PROVIDER_FAILED, "it exceeded its memory limit");
    forget_file(service->code);
}

static void take_end(struct service *service, const struct host_settings *settings,
                     const struct isolate_reply *reply)
{
    if (reply->end == ISOLATE_LARGE)
        take_largeness(service, settings, reply);
    else
        take_crash(service, settings, reply);
}

/* Reports that no helper could be started. Then there is no answer: a third-party provider never
 * runs in this process instead. */
static void take_refusal(struct service *service, const struct isolate_reply *reply)
{
    trace("host", "%s: no helper: %s", service->name, reply->text);
    if (!service->code->isolated.refusal_reported)
        verdict_report(service, 1018, EVENT_FIELDS(EVENT_STATUS(reply->status)), reply->text);
    service->code->isolated.refusal_reported = true;
    quarantine_take(service, NULL, PROVIDER_NO_HELPER, NULL);
}

static void take_lateness(struct service *service, const struct host_settings *settings,
                          const struct isolate_reply *reply)
{
    struct library *code = service->code;
    uint64_t ms = (uint64_t)((clock_ticks() - code->isolated.requested_at) / TICKS_PER_MS);
    trace("host", "%s: overdue in %s", service->name, stage_name(reply->stage));
    if (code->backoff.states & IS_SUSPECT)
        return; /* already reported when the last helper was ended, or by another program */
    if (reply->stage >= ISOLATE_COLLECT)
        verdict_keep(service, settings, &(struct fault_finding){FAULT_OVERDUE, .numbers = {ms}});
    else if (!code->isolated.slow_open_reported)
        library_report_slow_open(service, (int64_t)ms);
    code->isolated.slow_open_reported |= reply->stage < ISOLATE_COLLECT;
    quarantine_take(service, settings, PROVIDER_MISSED, NULL);
}

/* ---- answers in time ---- */

static enum module_procedure missing_procedure(const struct service *service, const char *name)
{
    const char *const names[] = {service->open, service->collect, service->close};
    for (int i = 0; i < MODULE_PROCEDURES; i++)
        if (names[i] && !strcmp(names[i], name))
            return (enum module_procedure)i;
    return MODULE_COLLECT;
}

static void take_failed_start(struct service *service, const struct isolate_reply *reply)
{
    trace("host", "%s: %s: %s", service->name, stage_name(reply->stage),
          status_text(reply->status));
    if (reply->stage == ISOLATE_FIND)
        library_report_missing(service, missing_procedure(service, reply->text));
    else if (reply->stage == ISOLATE_OPEN)
        library_report_open(service, reply->status);
    else
        library_report_load(service, reply->status, reply->text);
    forget_file(service->code);
}

static void copy_from_helper(void *self, void *to, size_t size)
{
    isolate_copy(self, to, size);
}

/* Returns how long Collect took as measured by the helper, but at most the time that this process
 * waited. */
static int64_t believable_time(const struct library *code, int64_t took_100ns)
{
    int64_t most = clock_ticks() - code->isolated.requested_at;
    return took_100ns < 0 || took_100ns > most ? most : took_100ns;
}

static LSTATUS take_answer(struct service *service, const struct host_settings *settings,
                           const struct isolate_reply *reply, struct piece *piece)
{
    struct library *code = service->code;
    struct answer answer = {.status = reply->status,
                            .bytes = reply->bytes,
                            .objects = reply->objects,
                            .end = reply->end_offset,
                            .capacity = code->isolated.offered,
                            .guards_intact = reply->guards_intact,
                            .foreign = code->isolated.foreign,
                            .took_100ns = believable_time(code, reply->took_100ns),
                            .copy = copy_from_helper,
                            .self = code->isolated.isolated};
    bool damaged = !reply->guards_intact || reply->end_offset < 0 ||
                   reply->end_offset > (int64_t)code->isolated.offered;
    trace("host", "%s: Collect in its helper returned %d, %u bytes, %u objects", service->name,
          (int)reply->status, reply->bytes, reply->objects);
    quarantine_take(service, settings, PROVIDER_CAUGHT_UP, NULL);
    quarantine_take(service, settings, PROVIDER_IN_TIME, NULL);
    LSTATUS status = judge(service, settings, &answer, piece);
    if (damaged)
        /* the helper's memory may be damaged, so the helper cannot be used any more */
        isolate_end(code->isolated.isolated);
    return status;
}

static LSTATUS take_reply(struct service *service, const struct host_settings *settings,
                          const struct isolate_reply *reply, struct piece *piece)
{
    if (reply->end == ISOLATE_OVERDUE)
        take_lateness(service, settings, reply);
    else if (reply->end == ISOLATE_REFUSED)
        take_refusal(service, reply);
    else if (has_ended(reply))
        take_end(service, settings, reply);
    else if (reply->stage == ISOLATE_COLLECT)
        return take_answer(service, settings, reply, piece);
    else
        take_failed_start(service, reply);
    return ERROR_SUCCESS;
}

/* ---- overdue answers ---- */

static void end_silent(struct service *service, const struct host_settings *settings, int64_t ms)
{
    char more[80];
    snprintf(more, sizeof(more), "its process was ended after %lld ms", (long long)ms);
    verdict_report(service, 1015, NULL, more);
    isolate_end(service->code->isolated.isolated);
    quarantine_take(service, settings, PROVIDER_HUNG, "it did not answer for a long time");
    forget_file(service->code);
}

/* True if the last request is still unanswered. An answer that has arrived meanwhile is counted,
 * but too old to be used. */
static bool is_still_silent(struct service *service, const struct host_settings *settings)
{
    struct library *code = service->code;
    struct isolate_reply reply;
    if (!code->isolated.isolated || !isolate_busy(code->isolated.isolated))
        return false;
    isolate_wait(code->isolated.isolated, PAST, PAST, &reply);
    int64_t silent_ms = (clock_ticks() - code->isolated.requested_at) / TICKS_PER_MS;
    if (has_ended(&reply)) {
        quarantine_take(service, settings, PROVIDER_CAUGHT_UP, NULL);
        take_end(service, settings, &reply);
    } else if (reply.end != ISOLATE_OVERDUE) {
        bool suspect = code->backoff.states & IS_SUSPECT;
        quarantine_take(service, settings, PROVIDER_ARRIVED, NULL);
        quarantine_take(service, settings, suspect ? PROVIDER_ANSWERED : PROVIDER_OVERDUE, NULL);
    } else if (silent_ms >= code->isolated.silence_ms)
        end_silent(service, settings, silent_ms);
    else
        trace("host", "%s is not queried: it has not answered its last request", service->name);
    return reply.end == ISOLATE_OVERDUE;
}

/* ---- requests ---- */

static int64_t deadline_of(const struct host_settings *settings, int64_t start, int64_t ms)
{
    bool none = settings->configuration & CONFIGURATION_NO_HANG_TEST;
    return none ? INT64_MAX : start + ms * TICKS_PER_MS;
}

static LSTATUS hand_over(struct service *service, const struct host_settings *settings,
                         const struct query *query, size_t capacity)
{
    struct library *code = service->code;
    bool checked = settings->test_level <= 2 || code->unproven;
    struct isolate_request request = {
        .service = service->name,
        .library = code->path,
        .procedures = {service->open, service->collect, service->close},
        .export_names = service->export_names,
        .export_units = service->export_units,
        .query = query->text,
        .capacity = capacity < ISOLATE_LARGEST ? capacity : ISOLATE_LARGEST,
        .guards = checked && !(settings->configuration & CONFIGURATION_NO_GUARDS),
        .observes = service->observe != 0,
        .children = service->children != 0,
        .memory_mib = service->memory_mib,
    };
    if (!code->isolated.reply)
        code->isolated.reply = calloc(1, sizeof *code->isolated.reply);
    LSTATUS status = !code->isolated.reply     ? ERROR_NOT_ENOUGH_MEMORY
                     : code->isolated.isolated ? ERROR_SUCCESS
                                               : isolate_new(&code->isolated.isolated);
    if (status)
        return status;
    int64_t collect_ms = service_collect_ms(service, query);
    code->isolated.requested_at = clock_ticks();
    code->isolated.offered = request.capacity;
    code->isolated.foreign = query->kind == QUERY_FOREIGN;
    code->isolated.collect_ms = collect_ms;
    code->isolated.silence_ms = collect_ms * SILENCE_FACTOR;
    if (code->isolated.silence_ms < LEAST_SILENCE_MS)
        code->isolated.silence_ms = LEAST_SILENCE_MS;
    return isolate_send(code->isolated.isolated, &request);
}

/* Claims the provider for this query. Another thread's query may need it for longer than this query
 * can wait, such as 30 s for Costly. After one such timeout other queries skip the provider at
 * once, until it is free. */
static enum isolated_begun claim(struct service *service, const struct isolated_request *request,
                                 int64_t until)
{
    struct library *code = service->code;
    int64_t ms = service_open_ms(service) + service_collect_ms(service, request->query);
    int64_t deadline = atomic_load(&code->busy_reported)
                           ? PAST
                           : deadline_of(request->settings, request->start, ms);
    if (claim_take_until(&code->claim, until < deadline ? until : deadline)) {
        atomic_store(&code->busy_reported, false);
        return ISOLATED_REQUESTED;
    }
    if (until < deadline)
        return ISOLATED_BUSY;
    trace("host", "%s is not queried: another thread waits for it", service->name);
    if (!atomic_exchange(&code->busy_reported, true))
        verdict_report(service, 1015, NULL, "another thread's query waits for it");
    return ISOLATED_NOT_REQUESTED;
}

static bool is_placed_outside(struct service *service)
{
    lock_take(&service->code->lock);
    bool isolated = !library_place(service) && service->code->place == PLACE_HELPER;
    lock_release(&service->code->lock);
    return isolated;
}

static void note_deadlines(struct service *service, const struct host_settings *settings)
{
    struct isolated *isolated = &service->code->isolated;
    isolated->replied = isolated->looked = false;
    isolated->opening = true;
    if (quarantine_suspects(service, settings))
        quarantine_take(service, settings, PROVIDER_SUSPECTED, NULL);
    isolated->open_deadline =
        service->code->backoff.states & IS_SUSPECT
            ? PAST
            : deadline_of(settings, isolated->requested_at, service_open_ms(service));
}

enum isolated_begun isolated_begin_collect(struct service *service,
                                           const struct isolated_request *request, int64_t until)
{
    const struct host_settings *settings = request->settings;
    LSTATUS status = ERROR_BUSY;
    enum isolated_begun requested = claim(service, request, until);
    if (requested != ISOLATED_REQUESTED)
        return requested;
    if (!is_still_silent(service, settings) && !quarantine_waits(service) &&
        is_placed_outside(service))
        status = hand_over(service, settings, request->query, request->capacity);
    if (status && status != ERROR_BUSY)
        trace("host", "%s could not be queried: %s", service->name, status_text(status));
    if (status)
        claim_release(&service->code->claim);
    else
        note_deadlines(service, settings);
    return status ? ISOLATED_NOT_REQUESTED : ISOLATED_REQUESTED;
}

/* ---- waiting ---- */

/* Waits for the end of Open until `until` or Open's deadline; false: Open still runs, call again.
 * Collect's deadline counts from the end of Open. */
static bool await_open(struct service *service, const struct host_settings *settings, int64_t until)
{
    struct isolated *isolated = &service->code->isolated;
    struct isolate_reply *reply = isolated->reply;
    bool last = until >= isolated->open_deadline;
    isolate_wait(isolated->isolated, last ? isolated->open_deadline : until, PAST, reply);
    bool overdue = reply->end == ISOLATE_OVERDUE, opened = reply->stage == ISOLATE_COLLECT;
    if (overdue && !opened && !last) {
        isolated->looked = true;
        return false;
    }
    int64_t now = clock_ticks(), ms = (now - isolated->requested_at) / TICKS_PER_MS;
    if (isolated->looked && opened && settings->slow_open && ms > settings->slow_open)
        library_report_slow_open(service, ms);
    isolated->collect_deadline =
        service->code->backoff.states & IS_SUSPECT
            ? PAST
            : deadline_of(settings, isolated->looked ? now : isolated->requested_at,
                          isolated->collect_ms);
    isolated->replied = !overdue || !opened;
    return true;
}

bool isolated_is_ready(struct service *service, const struct host_settings *settings, int64_t until)
{
    struct isolated *isolated = &service->code->isolated;
    if (isolated->opening)
        isolated->opening = !await_open(service, settings, until);
    if (isolated->replied || isolated->opening)
        return isolated->replied;
    bool last = until >= isolated->collect_deadline;
    isolate_wait(isolated->isolated, PAST, last ? isolated->collect_deadline : until,
                 isolated->reply);
    isolated->replied = isolated->reply->end != ISOLATE_OVERDUE || last;
    return isolated->replied;
}

size_t isolated_size(const struct service *service)
{
    const struct isolated *isolated = &service->code->isolated;
    const struct isolate_reply *reply = isolated->reply;
    int64_t end = reply->end_offset;
    bool sound = reply->end == ISOLATE_ANSWERED && !reply->status && end > 0;
    return sound && end <= (int64_t)isolated->offered ? (size_t)end : 0;
}

LSTATUS isolated_finish(struct service *service, const struct host_settings *settings,
                        struct piece *piece)
{
    struct library *code = service->code;
    isolated_is_ready(service, settings, INT64_MAX);
    LSTATUS status = take_reply(service, settings, code->isolated.reply, piece);
    claim_release(&code->claim);
    return status;
}

/* Closes the provider in its helper. Does not wait if the provider still owes an answer. */
void isolated_close(struct service *service, const struct host_settings *settings, bool unload)
{
    struct library *code = service->code;
    struct isolate_reply reply;
    if (!code->isolated.isolated)
        return;
    if (settings)
        is_still_silent(service, settings); /* take an overdue answer that has arrived */
    bool silent = isolate_busy(code->isolated.isolated);
    int64_t now = clock_ticks();
    isolate_close(code->isolated.isolated, unload,
                  silent ? now : now + DEFAULT_OPEN_MS * TICKS_PER_MS, &reply);
    trace("host", "%s: Close in its helper returned %d", service->name, (int)reply.status);
    if (has_ended(&reply))
        take_end(service, settings, &reply);
    code->isolated.refusal_reported = code->isolated.slow_open_reported = false;
}
