/* SPDX-License-Identifier: MIT */
/*
 * What follows from a provider's mistake: an event, whether its data is kept, whether it is left
 * alone. One row per mistake; the choices where documents differ are in docs/experiments.md.
 * (D.4, D.5)
 */
#include "host/internal.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>

enum effect {
    DROP,
    KEEP = 1,
    EACH_TIME = 2, /* reported; else once in a session */
    FAILS = 4,     /* it is left alone for a while */
    DISABLES = 8
};

static const struct verdict {
    unsigned event;
    unsigned effects;
    const char *fields[2]; /* the names of the numbers in reference D.5 */
    const char *why; /* it is left alone; with EACH_TIME also what the event's row does not say */
} verdicts[MISTAKE_COUNT] = {
  /* clang-format off */
    [MISTAKE_LENGTH]      = {2000, KEEP,      {"BytesLeft", "BytesAvailable"}, NULL},
    [MISTAKE_SILENT]      = {2000, DISABLES,  {"BytesLeft", "BytesAvailable"}, "Collect left its outputs as they were"},
    [MISTAKE_OVERRUN]     = {1001, FAILS,     {"Size"},                        "Collect wrote beyond its buffer"},
    [MISTAKE_HEAP]        = {1013, FAILS,     {"Size"},                        "Collect's pointer came back far outside its buffer"},
    [MISTAKE_GUARD]       = {1002, FAILS,     {NULL},                          "Collect wrote outside its buffer"},
    [MISTAKE_OBJECTS]     = {1003, DROP,      {"ObjectCount"},                 NULL},
    [MISTAKE_DEFINITIONS] = {1019, DROP,      {"ObjectIndex"},                 NULL},
    [MISTAKE_INSTANCES]   = {1004, DROP,      {"ObjectIndex"},                 NULL},
    [MISTAKE_ODD_LENGTH]  = {1016, DROP,      {"Buffer", "BytesLeft"},         "not even on 4: dropped"},
    [MISTAKE_ALIGNMENT]   = {1016, KEEP,      {"Buffer", "BytesLeft"},         NULL},
    [MISTAKE_STATUS]      = {1014, EACH_TIME, {"Win32Error"},                  NULL},
    [MISTAKE_GREED]       = {1020, EACH_TIME | FAILS, {"BufferSize"},           "nobody gets more"},
    [MISTAKE_HOARD]       = {1020, EACH_TIME | FAILS, {"BufferSize"},           "it fills any room that it is offered"},
    [MISTAKE_LATE]        = {1015, KEEP,      {NULL},                          NULL},
  /* clang-format on */
};

/* ---- events ---- */

static _Atomic uint32_t event_level = 3;

void verdict_set_level(uint32_t level)
{
    atomic_store(&event_level, level);
}

/* EventLogLevel: 1 is what concerns users, 2 also the warnings for authors (2000 and on). */
static bool is_wanted(unsigned id)
{
    uint32_t level = atomic_load(&event_level);
    return level >= 2 || (level == 1 && (id < 2000 || id >= 3000));
}

void verdict_report(const struct service *service, unsigned id, const struct event_field *fields,
                    const char *more)
{
    struct event_field all[5] = {EVENT_TEXT("Library", service->library)};
    for (size_t i = 1; fields && fields->name && i < COUNT(all) - 1; i++)
        all[i] = *fields++;
    if (is_wanted(id))
        event_log("Perflib", id, service->name, all, more && *more ? more : NULL);
}

static void report_finding(const struct service *service, const struct verdict *verdict,
                           const struct finding *finding)
{
    struct event_field fields[3] = {{0}};
    char more[64];
    for (size_t i = 0; i < 2 && verdict->fields[i]; i++)
        fields[i] = EVENT_NUMBER(verdict->fields[i], finding->numbers[i]);
    if (finding->mistake == MISTAKE_STATUS)
        fields[0] = EVENT_STATUS(finding->numbers[0]);
    bool said = verdict->effects & FAILS && !(verdict->effects & EACH_TIME);
    const char *words = said ? NULL : verdict->why;
    if (finding->because)
        snprintf(more, sizeof(more), "dropped, as it would be event %u by either of them",
                 verdicts[finding->because].event);
    if (finding->mistake == MISTAKE_LATE)
        snprintf(more, sizeof(more), "it took %" PRIu64 " ms", finding->numbers[0]);
    bool composed = finding->because || finding->mistake == MISTAKE_LATE;
    verdict_report(service, verdict->event, fields, composed ? more : words);
}

/* ---- mistakes ---- */

bool verdict_keep(struct service *service, const struct host_settings *settings,
                  const struct finding *finding)
{
    const struct verdict *verdict = &verdicts[finding->mistake];
    uint32_t bit = UINT32_C(1) << finding->mistake;
    if (finding->mistake == MISTAKE_NONE)
        return true;
    bool keep = verdict->effects & KEEP && !finding->because;
    trace("host", "%s: %s, event %u (%" PRIu64 ", %" PRIu64 ")", service->name,
          keep ? "kept" : "dropped", verdict->event, finding->numbers[0], finding->numbers[1]);
    if (verdict->effects & EACH_TIME || !(service->code->reported & bit))
        report_finding(service, verdict, finding);
    service->code->reported |= bit;
    if (verdict->effects & FAILS)
        quarantine_failure(service, settings, verdict->why);
    if (verdict->effects & DISABLES)
        quarantine_disable(service, settings);
    return keep;
}
