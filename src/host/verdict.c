/* SPDX-License-Identifier: MIT */
/*
 * The consequences of each mistake of a provider, one row per mistake: the event, whether the
 * answer is kept, whether the provider is quarantined. Where Microsoft's documents contradict each
 * other, docs/experiments.md has the decision. (docs/windows/providers.md#d4,
 * docs/windows/providers.md#d5)
 */
#include "host/internal.h"
#include "names/names.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>

enum effect {
    DROP,
    KEEP = 1,
    EACH_TIME = 2 /* log the event each time, not once per session */
};

static const struct verdict {
    unsigned event;
    unsigned effects;
    enum provider_event means; /* what happened to the provider; PROVIDER_FAILED needs `why` */
    const char *fields[2];     /* names of the event's fields for the numbers
                                * (docs/windows/providers.md#d5) */
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
    [FAULT_ODD_LENGTH]   = {1016, DROP,      PROVIDER_UNCHANGED, {"Buffer", "BytesLeft"},         "it is not aligned on 4 bytes either, so it was dropped"},
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

/* EventLogLevel 1: events for users; 2: also warnings for authors of providers (2000 to 2999). */
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
    if (finding->fault == FAULT_NONE)
        return true;
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
