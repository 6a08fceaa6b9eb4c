/* SPDX-License-Identifier: MIT */
/* The counters of a collector. A counter that does not exist yet is tried again later. */
#include "runner.h"

#include "../common/missing.h"
#include "../common/pdh-message.h"

#include <openperflib/unstable.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool add_source(struct source *source, const struct set *set, const char *text)
{
    if (set->kind == SET_ALERT && !alert_parse(text, source)) {
        fprintf(
            stderr,
            "logman: '%s' is no counter with a limit, such as '\\Memory\\Available Bytes<1e8'\n",
            text);
        return false;
    }
    if (!source->path)
        source->path = strdup(text);
    return source->path;
}

bool sources_open(struct active *active)
{
    const struct set *set = active->runner->set;
    const struct text_list *counters = &active->collector->counters;
    active->sources = calloc(counters->count + 1, sizeof *active->sources);
    if (!active->sources || PdhOpenQueryA(NULL, 0, &active->query))
        return false;
    for (size_t i = 0; i < counters->count; i++, active->count++)
        if (!add_source(&active->sources[i], set, counters->texts[i]))
            return false;
    sources_add(active);
    return true;
}

/* Returns a multi-string, to be freed: the path with each counter that its pattern matches.
 * Wildcards for instances are kept. NULL: *ret_status is the reason. */
static char *expand(const char *path, PDH_STATUS *ret_status)
{
    DWORD length = 0;
    char *list = NULL;
    *ret_status = PdhExpandWildCardPathA(NULL, path, NULL, &length, PDH_NOEXPANDINSTANCES);
    for (int tries = 0; (DWORD)*ret_status == PDH_MORE_DATA && tries < 8; tries++) {
        length += 256;
        free(list);
        list = malloc(length);
        *ret_status = list
                          ? PdhExpandWildCardPathA(NULL, path, list, &length, PDH_NOEXPANDINSTANCES)
                          : (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    }
    if (!*ret_status)
        return list;
    free(list);
    return NULL;
}

/* Removes a counter that shows command lines, found by its number, unless the set may record these.
 * A counter whose number is unknown, because its machine was not reached, is removed, too. False:
 * the counter was removed. */
static bool keep(struct runner *runner, struct source *source, PDH_HCOUNTER counter)
{
    enum { COMMAND_LINE = 102010 };
    uint32_t title = opl_counter_title(counter);
    if (runner->set->command_lines || (title && title != COMMAND_LINE))
        return true;
    PdhRemoveCounter(counter);
    if (title)
        snprintf(
            source->reason, sizeof source->reason,
            "command lines may contain passwords: they are recorded only with --command-lines");
    return false;
}

static bool add_paths(struct active *active, struct source *source)
{
    char *list = expand(source->path, &source->status);
    for (const char *path = list; path && *path; path += strlen(path) + 1) {
        PDH_HCOUNTER handle = NULL;
        source->status = PdhAddCounterA(active->query, path, 0, &handle);
        PDH_HCOUNTER *grown = handle && keep(active->runner, source, handle)
                                  ? reallocarray(source->handles, source->count + 1, sizeof *grown)
                                  : NULL;
        if (!grown)
            continue;
        source->handles = grown;
        source->handles[source->count++] = handle;
    }
    free(list);
    return source->count;
}

bool sources_add(struct active *active)
{
    bool added = false;
    for (size_t i = 0; i < active->count; i++)
        if (!active->sources[i].count)
            added |= add_paths(active, &active->sources[i]);
    return added;
}

/* True if the counter, or at least one instance that its wildcard matches, has a value. */
static bool has_value(struct source *source)
{
    for (size_t i = 0; i < source->count; i++) {
        source->status = (PDH_STATUS)opl_counter_status(source->handles[i]);
        if (!source->status)
            return true;
    }
    return false;
}

void sources_note(struct active *active)
{
    for (size_t i = 0; i < active->count; i++) {
        struct source *source = &active->sources[i];
        bool had = source->seen;
        source->seen = has_value(source);
        if (source->seen)
            *source->reason = 0;
        else if (had)
            source->lost = time(NULL);
    }
}

void sources_explain(struct active *active)
{
    char similar[256], since[64];
    for (size_t i = 0; i < active->count; i++) {
        struct source *source = &active->sources[i];
        if (source->seen || (!source->status && *source->reason))
            continue;
        PDH_STATUS status = source->status;
        *similar = 0;
        if ((DWORD)status != PDH_CSTATUS_NO_MACHINE)
            status = missing_part(source->path, status, similar, sizeof similar);
        struct tm parts;
        *since = 0;
        if (source->lost)
            strftime(since, sizeof since, " (since %Y-%m-%d %H:%M:%S)",
                     localtime_r(&source->lost, &parts));
        snprintf(source->reason, sizeof source->reason, "%s%s%s%s", pdh_message(status),
                 *similar ? "; similar: " : "", similar, since);
    }
}

void sources_close(struct active *active)
{
    if (active->query)
        PdhCloseQuery(active->query);
    for (size_t i = 0; i < active->count; i++) {
        alert_forget(&active->sources[i]);
        free(active->sources[i].path);
        free(active->sources[i].handles);
    }
    free(active->sources);
}
