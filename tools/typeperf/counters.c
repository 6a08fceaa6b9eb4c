/* SPDX-License-Identifier: MIT */
/* Adds the counters that the user named to a query. Missing counters are reported and skipped. */
#include "typeperf.h"
#include "../common/last-event.h"
#include "../common/list.h"
#include "../common/missing.h"

#include "../view/text.h"

#include <ctype.h>
#include <winperf.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* ---- the machine, for headers ---- */

PDH_COUNTER_INFO_A *counters_info(PDH_HCOUNTER counter, bool explain, PDH_STATUS *ret_status)
{
    DWORD size = 0;
    *ret_status = PdhGetCounterInfoA(counter, explain, &size, NULL);
    if ((DWORD)*ret_status != PDH_MORE_DATA)
        return NULL;
    PDH_COUNTER_INFO_A *info = malloc(size);
    *ret_status = info ? PdhGetCounterInfoA(counter, explain, &size, info)
                       : (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    if (!*ret_status)
        return info;
    free(info);
    return NULL;
}

/* Finds the name of this machine, as PDH writes it in paths; else the host name. */
static void find_machine(struct counters *counters, PDH_HCOUNTER counter)
{
    PDH_STATUS status;
    PDH_COUNTER_INFO_A *info = counters_info(counter, false, &status);
    char *name = counters->machine;
    if (info && info->szMachineName && info->szMachineName[0]) {
        snprintf(name, sizeof counters->machine, "\\\\%s",
                 info->szMachineName + strspn(info->szMachineName, "\\"));
    } else {
        strcpy(name, "\\\\");
        gethostname(name + 2, sizeof counters->machine - 3);
        for (char *at = name; *at; at++)
            *at = (char)toupper((unsigned char)*at);
    }
    free(info);
}

/* ---- one counter ---- */

/* Explains why an object is missing: if its provider fails, by the provider's last event. */
static void explain_missing(const char *path)
{
    union {
        PDH_COUNTER_PATH_ELEMENTS_A elements;
        char bytes[4 * PDH_MAX_COUNTER_PATH];
    } parsed;
    DWORD size = sizeof parsed;
    if (!counter_path_has_machine(path) &&
        PdhParseCounterPathA(path, &parsed.elements, &size, 0) == ERROR_SUCCESS)
        last_event_explain(TOOL, parsed.elements.szObjectName);
}

static int miss(struct counters *counters, const char *path, PDH_STATUS status)
{
    counters->missing++;
    if (missing_is_capture(TOOL, path))
        return counters->exit_code = EXIT_FAILED;
    counters->exit_code = missing_complain(TOOL, path, status);
    counters->may_come |=
        (DWORD)status == PDH_CSTATUS_NO_OBJECT || (DWORD)status == PDH_CSTATUS_NO_INSTANCE;
    if ((DWORD)status == PDH_CSTATUS_NO_OBJECT)
        explain_missing(path);
    return counters->exit_code;
}

/* Writes the path as the user wrote it. A path in the notation for shells is written in PDH's
 * notation. */
static void spell(const struct counters *counters, PDH_HCOUNTER handle, const char *path, char *ret,
                  size_t size)
{
    PDH_STATUS status;
    bool has_machine = counter_path_has_machine(path);
    PDH_COUNTER_INFO_A *info =
        counter_path_is_windows(path) ? NULL : counters_info(handle, false, &status);
    if (info)
        path = info->szFullPath + (has_machine ? 0 : strlen(info->szMachineName));
    snprintf(ret, size, "%s%s", has_machine ? "" : counters->machine, path);
    free(info);
}

/* If the counter is a text, notes once that it has no number: more notes would hide the values. */
static void note_text(struct counters *counters, PDH_HCOUNTER handle)
{
    PDH_STATUS status;
    PDH_COUNTER_INFO_A *info = counters->text_noted ? NULL : counters_info(handle, false, &status);
    if (info && (info->dwType & 0xc00) == PERF_TYPE_TEXT) {
        counters->text_noted = true;
        fprintf(stderr,
                "typeperf: '%s' is a text counter, which has no number: its column is -1; "
                "\"pcview '%s'\" shows the text\n",
                text_seen(info->szFullPath), text_seen(info->szObjectName));
    }
    free(info);
}

static bool keep(struct counters *counters, PDH_HCOUNTER handle, const char *path,
                 struct counter_state state)
{
    char whole[sizeof counters->machine + PDH_MAX_COUNTER_PATH];
    size_t handles = counters->capacity; /* both arrays have the same capacity */
    if (!list_grow(&counters->handles, counters->paths.count, &handles, sizeof handle) ||
        !list_grow(&counters->states, counters->paths.count, &counters->capacity, sizeof state))
        return false;
    if (!counters->machine[0] && !counter_path_has_machine(path))
        find_machine(counters, handle);
    note_text(counters, handle);
    spell(counters, handle, path, whole, sizeof whole);
    counters->handles[counters->paths.count] = handle;
    counters->states[counters->paths.count] = state;
    counters->wild_count += state.wild;
    return text_list_add(&counters->paths, whole);
}

static int add(struct counters *counters, const char *path, struct counter_state state)
{
    PDH_HCOUNTER handle = NULL;
    PDH_STATUS status = PdhAddCounterA(counters->query, path, 0, &handle);
    if (status && !handle)
        return miss(counters, path, status);
    /* PDH keeps such a counter in the query, but it is useless here */
    if ((DWORD)status == PDH_CSTATUS_NO_MACHINE) {
        PdhRemoveCounter(handle);
        return miss(counters, path, status);
    }
    return keep(counters, handle, path, state)
               ? EXIT_GOOD
               : miss(counters, path, PDH_MEMORY_ALLOCATION_FAILURE);
}

/* ---- wildcards ---- */

/* Returns the multi-string of the paths that a pattern matches now, to be freed; PDH is called
 * again if the list grew meanwhile. NULL: *ret_status is the reason. */
static char *expand(const char *path, DWORD flags, PDH_STATUS *ret_status)
{
    DWORD length = 0;
    char *list = NULL;
    *ret_status = PdhExpandWildCardPathA(NULL, path, NULL, &length, flags);
    for (int tries = 0; (DWORD)*ret_status == PDH_MORE_DATA && tries < 8; tries++) {
        length += length / 4 + 256;
        free(list);
        list = malloc(length);
        *ret_status = list ? PdhExpandWildCardPathA(NULL, path, list, &length, flags)
                           : (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    }
    if (!*ret_status && list && *list)
        return list;
    free(list);
    if (!*ret_status)
        *ret_status = (PDH_STATUS)PDH_CSTATUS_NO_INSTANCE;
    return NULL;
}

/* True if the columns change with each sample. In CSV and TSV they are fixed. */
static bool columns_live(const struct typeperf *opts)
{
    return !opts->format->capture || opts->format->capture == PDH_LOG_TYPE_BINARY;
}

static int add_pattern(struct counters *counters, const char *path, const struct typeperf *opts)
{
    PDH_STATUS status;
    bool live = columns_live(opts), named = counter_path_names_instance(path);
    char *list = expand(path, live ? PDH_NOEXPANDINSTANCES : 0, &status);
    if (!list)
        return miss(counters, path, status);
    for (const char *at = list; *at; at += strlen(at) + 1) {
        bool wild = live && !named && counter_path_is_pattern(at);
        if (!opts->top || !counter_path_is_total(at))
            add(counters, at, (struct counter_state){.seen = !wild && !named, .wild = wild});
    }
    missing_rights_of_all(TOOL, path);
    free(list);
    return EXIT_GOOD;
}

/* ---- all counters ---- */

/* Connects to the machines of all paths at the same time, so that adding a counter is fast. */
static void connect_machines(struct counters *counters, const struct typeperf *opts)
{
    char *path;
    for (size_t i = 0; i < opts->args.count; i++, free(path))
        if ((path = counter_path_on(counters->machine, opts->args.texts[i])))
            machines_note(&counters->machines, path);
    machines_connect(&counters->machines, TOOL);
}

/* Adds the counters that a pattern matches, to be explained; the name of an object stands for all
 * its counters. False: it is neither. */
static bool add_explained(struct counters *counters, const char *path)
{
    PDH_STATUS status;
    char object[PDH_MAX_COUNTER_PATH];
    const char *counter = *path == '\\' ? strrchr(path, '\\') : strstr(path, "::");
    bool one = counter || strchr(path, '/');
    if (one && !counter_path_is_pattern(counter ? counter : path))
        return false;
    snprintf(object, sizeof object, "%s\\%s\\*", counters->machine, path);
    char *list = expand(one ? path : object, PDH_NOEXPANDINSTANCES, &status);
    for (const char *at = list; at && *at; at += strlen(at) + 1)
        add(counters, at, (struct counter_state){0});
    bool any = list;
    free(list);
    return any;
}

static void add_path(struct counters *counters, const char *path, const struct typeperf *opts)
{
    if (machines_lack(&counters->machines, path)) { /* already reported */
        counters->missing++;
        counters->exit_code = EXIT_FAILED;
    } else if (counter_path_is_pattern(path) && !opts->explain) {
        add_pattern(counters, path, opts);
    } else if (!opts->explain || !add_explained(counters, path)) {
        add(counters, path, (struct counter_state){0});
    }
}

/* Warns that --top compares values of different counters, which cannot be compared. */
static void warn_of_unlike(const struct counters *counters)
{
    for (size_t i = 1; i < counters->paths.count; i++) {
        const char *first = strrchr(counters->paths.texts[0], '\\');
        const char *other = strrchr(counters->paths.texts[i], '\\');
        if (first && other && strcasecmp(first, other) != 0) {
            fprintf(stderr,
                    "typeperf: --top compares the values of '%s' and '%s' with each other; "
                    "use it with one counter to compare equal units\n",
                    text_seen(first + 1), text_seen(other + 1));
            return;
        }
    }
}

/* Records whether a wildcard matches an instance in this sample. */
static void note_wild(struct counters *counters, size_t i, bool first)
{
    DWORD size = 0, count = 0;
    PdhGetRawCounterArrayA(counters->handles[i], &size, &count, NULL);
    counters->states[i].seen = count > 0;
    if (first && !count)
        fprintf(stderr, "%s: %s: there is no such instance yet; it is shown when it appears\n",
                TOOL, text_seen(counters->paths.texts[i]));
}

void counters_note_seen(struct counters *counters, bool first)
{
    for (size_t i = 0; i < counters->paths.count; i++) {
        PDH_RAW_COUNTER raw = {0};
        struct counter_state *known = &counters->states[i];
        if (known->wild && !known->seen)
            note_wild(counters, i, first);
        if (known->wild || known->seen)
            continue;
        PDH_STATUS status = PdhGetRawCounterValue(counters->handles[i], NULL, &raw);
        DWORD state = status ? (DWORD)status : raw.CStatus;
        known->seen = state != PDH_CSTATUS_NO_INSTANCE;
        bool reported =
            i > 0 && !known[-1].seen &&
            counter_path_same_instance(counters->paths.texts[i - 1], counters->paths.texts[i]);
        if (first && !known->seen && !reported)
            missing_complain(TOOL, counters->paths.texts[i], (PDH_STATUS)state);
    }
}

int counters_open(struct counters *counters, const struct typeperf *opts)
{
    PDH_STATUS status = PdhOpenQueryA(NULL, 0, &counters->query);
    if (status)
        return pdh_complain(TOOL, "creating a query", status);
    if (opts->server)
        snprintf(counters->machine, sizeof counters->machine, "\\\\%s",
                 opts->server + strspn(opts->server, "\\"));
    /* no note is needed for a capture, which has the texts, nor where there are no values */
    counters->text_noted = opts->explain || (opts->output && opts->format->capture);
    connect_machines(counters, opts);
    for (size_t i = 0; i < opts->args.count; i++) {
        char *path = counter_path_on(counters->machine, opts->args.texts[i]);
        if (path)
            add_path(counters, path, opts);
        else
            miss(counters, opts->args.texts[i], (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE);
        free(path);
    }
    if (opts->top)
        warn_of_unlike(counters);
    if (counters->paths.count)
        return EXIT_GOOD;
    fprintf(stderr, "Error: No valid counters.\n");
    if (counters->may_come && !opts->explain)
        fprintf(stderr,
                "typeperf: it does not wait for objects and instances that do not exist yet; a set "
                "of logman does\n");
    return counters->exit_code ? counters->exit_code : EXIT_FAILED;
}

void counters_close(struct counters *counters)
{
    if (counters->query)
        PdhCloseQuery(counters->query);
    text_list_done(&counters->paths);
    machines_done(&counters->machines);
    free(counters->handles);
    free(counters->states);
    *counters = (struct counters){0};
}
