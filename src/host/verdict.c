/* SPDX-License-Identifier: MIT */
/*
 * What follows from a provider's mistake: an event, whether its data is kept, whether it is
 * switched off. One row per mistake; the choices where documents differ are in docs/experiments.md.
 * (D.4, D.5)
 */
#include "host/internal.h"
#include "registry/registry.h"

#include <stdio.h>

static const struct verdict {
    unsigned event;
    enum event_level level;
    bool keep, disable;
    const char *text; /* %llu: the detail */
} verdicts[MISTAKE_COUNT] = {
  /* clang-format off */
    [MISTAKE_LENGTH]      = {2000, EVENT_WARNING, true,  false, "pointer and length disagree; the length became the pointer's (%llu bytes)"},
    [MISTAKE_SILENT]      = {2000, EVENT_WARNING, false, true,  "Collect left its outputs as they were (%llu bytes of room)"},
    [MISTAKE_OVERRUN]     = {1001, EVENT_ERROR,   false, true,  "Collect wrote %llu bytes more than there was room for"},
    [MISTAKE_HEAP]        = {1013, EVENT_ERROR,   false, true,  "Collect's pointer lies %llu bytes outside its buffer; memory may be damaged: restart"},
    [MISTAKE_GUARD]       = {1002, EVENT_ERROR,   false, true,  "Collect wrote outside its buffer of %llu bytes"},
    [MISTAKE_OBJECTS]     = {1003, EVENT_ERROR,   false, false, "the lengths of its objects do not add up (%llu objects)"},
    [MISTAKE_DEFINITIONS] = {1019, EVENT_ERROR,   false, false, "the definitions' lengths do not add up in its object number %llu"},
    [MISTAKE_INSTANCES]   = {1004, EVENT_ERROR,   false, false, "the instances do not end where their object ends, in its object number %llu"},
    [MISTAKE_ODD_LENGTH]  = {1016, EVENT_ERROR,   false, false, "its answer's length (%llu) is not a multiple of 4; ask its vendor for a newer library"},
    [MISTAKE_ALIGNMENT]   = {1016, EVENT_WARNING, true,  false, "its answer is not aligned on 8 bytes (length %llu); ask its vendor for a newer library"},
    [MISTAKE_STATUS]      = {1014, EVENT_WARNING, false, false, "Collect failed with error %llu; it is asked again at the next query"},
  /* clang-format on */
};

/* For good where we may write the registry, else until the key is closed. */
static void switch_off(struct service *service)
{
    FREE_AUTO char *path = text_format("%s\\%s\\Performance", REGISTRY_SERVICES, service->name);
    uint32_t one = 1;
    LSTATUS status = path ? registry_set(LAYER_MACHINE, path, "Disable Performance Counters",
                                         REG_DWORD, &one, sizeof(one))
                          : ERROR_NOT_ENOUGH_MEMORY;
    service->code->off_for_session = true;
    if (status)
        event_report("Perflib", 1018, EVENT_ERROR, service->name,
                     "not asked again in this session because of its errors");
    else
        event_report("Perflib", 1017, EVENT_ERROR, service->name,
                     "disabled because of its errors; delete the value Disable Performance "
                     "Counters of its Performance key to enable it again");
}

bool verdict_keep(struct service *service, const struct host_settings *settings,
                  enum mistake mistake, uint64_t detail)
{
    if (mistake == MISTAKE_NONE)
        return true;
    const struct verdict *verdict = &verdicts[mistake];
    char text[200];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(text, sizeof(text), verdict->text, (unsigned long long)detail);
#pragma GCC diagnostic pop
    trace("host", "%s: %s: %s", service->name, verdict->keep ? "kept" : "dropped", text);
    event_report("Perflib", verdict->event, verdict->level, service->name, "%s: %s",
                 service->library, text);
    if (verdict->disable && !(settings->configuration & CONFIGURATION_NEVER_DISABLE))
        switch_off(service);
    return verdict->keep;
}
