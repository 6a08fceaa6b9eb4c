/* SPDX-License-Identifier: MIT */
/* Opens captures and selects their counters. */
#include "relog.h"

#include "../view/text.h"

#include <openperflib/unstable.h>

#include <limits.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *source_kind(const char *file)
{
    DWORD type = PDH_LOG_TYPE_UNDEFINED;
    PDH_HLOG log;
    if (strcmp(file, "-") == 0)
        return "standard input";
    if (PdhOpenLogA(file, PDH_LOG_READ_ACCESS | PDH_LOG_OPEN_EXISTING, &type, NULL, 0, NULL, &log))
        return "unknown";
    PdhCloseLog(log, 0);
    return type == PDH_LOG_TYPE_CSV      ? "CSV"
           : type == PDH_LOG_TYPE_TSV    ? "TSV"
           : type == PDH_LOG_TYPE_BINARY ? "Binary"
                                         : "unknown";
}

/* ---- opening ---- */

/* Returns the texts as a multi-string, to be freed. */
static char *join(const struct text_list *list)
{
    size_t size = 1;
    for (size_t i = 0; i < list->count; i++)
        size += strlen(list->texts[i]) + 1;
    char *joined = calloc(1, size), *at = joined;
    for (size_t i = 0; joined && i < list->count; i++)
        at = stpcpy(at, list->texts[i]) + 1;
    return joined;
}

/* If this user and the system have captures of a set with the name, prints which ones are read. */
static void note_owner(const char *name)
{
    char folder[PATH_MAX], elsewhere[PATH_MAX], other[256];
    bool own = false, unused;
    if (strchr(name, ':') || !opl_captures_folder(name, folder, sizeof folder, &own))
        return;
    snprintf(other, sizeof other, "%s:%.200s", own ? "system" : "user", name);
    if (opl_captures_folder(other, elsewhere, sizeof elsewhere, &unused) &&
        strcmp(folder, elsewhere) != 0)
        fprintf(stderr, "relog: %s is %s set, in %s; %s is %s\n", text_seen(name),
                own ? "your" : "the system's", text_seen(folder), own ? "the system's" : "yours",
                text_seen(other));
}

/* Opens the captures and, unless they come from a pipe (`flows`), reads the first and last time and
 * the number of samples. */
static int open_files(struct input_log *source, const struct relog *opts)
{
    const struct text_list *files = &opts->inputs;
    DWORD count = 1, size = sizeof source->extent;
    char *list = join(files);
    PDH_STATUS status = list ? PdhBindInputDataSourceA(&source->log, list)
                             : (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    free(list);
    if (!status && !opts->flows)
        status = PdhGetDataSourceTimeRangeH(source->log, &count, &source->extent, &size);
    if ((DWORD)status == PDH_NO_DATA || (DWORD)status == PDH_NO_MORE_DATA)
        status = 0; /* not an error: a capture without samples still has counters */
    const char *name = files->count == 1 ? files->texts[0] : "the captures";
    if (!status && files->count == 1)
        note_owner(name);
    return status ? pdh_complain("relog", name, status) : EXIT_GOOD;
}

/* ---- selecting counters ---- */

static int compare_paths(const void *one, const void *other)
{
    return strcasecmp(one, other);
}

/* Adds a path once: a counter that two patterns match is one column. False: no memory. */
static bool take_once(struct input_log *source, const char *path)
{
    if (tfind(path, &source->seen, compare_paths))
        return true;
    return text_list_add(&source->paths, path) &&
           tsearch(source->paths.texts[source->paths.count - 1], &source->seen, compare_paths);
}

/* Adds the paths in the captures that `path` matches. */
static PDH_STATUS expand_path(struct input_log *source, const char *path)
{
    DWORD length = 0;
    PDH_STATUS status =
        PdhExpandWildCardPathHA(source->log, path, NULL, &length, source->expansion);
    if ((DWORD)status != PDH_MORE_DATA)
        return status ? status : (PDH_STATUS)PDH_ENTRY_NOT_IN_LOG_FILE;
    char *list = calloc(1, (size_t)length + 1);
    status = list ? PdhExpandWildCardPathHA(source->log, path, list, &length, source->expansion)
                  : (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    if (!status && !*list)
        status = (PDH_STATUS)PDH_ENTRY_NOT_IN_LOG_FILE;
    for (const char *at = list; !status && *at; at += strlen(at) + 1)
        if (!take_once(source, at))
            status = (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    free(list);
    return status;
}

/* Adds a path that the user gave. A counter that cannot be shown is reported, and counts as
 * missing. */
static PDH_STATUS take_path(struct input_log *source, const char *path)
{
    PDH_STATUS status = expand_path(source, path);
    source->missing += pdh_unshown("relog");
    return status;
}

/* Adds a path or pattern; reports it if the capture lacks it. */
static void take_one(struct input_log *source, const char *path)
{
    PDH_STATUS status = counter_path_is_pattern(path) ? 0 : PdhValidatePathExA(source->log, path);
    if (!status)
        status = take_path(source, path);
    if (status) {
        pdh_complain("relog", path, status);
        source->missing++;
    }
}

/* Adds the paths in their order; with --top those without a wildcard first. */
static void take_wanted(struct input_log *source, const struct relog *opts)
{
    const struct text_list *wanted = &opts->wanted;
    for (size_t i = 0; i < wanted->count; i++)
        if (!opts->top || !counter_path_is_pattern(wanted->texts[i]))
            take_one(source, wanted->texts[i]);
    source->named = source->paths.count;
    for (size_t i = 0; opts->top && i < wanted->count; i++)
        if (counter_path_is_pattern(wanted->texts[i]))
            take_one(source, wanted->texts[i]);
}

/* Adds the path as it is shown: each OLD=NEW replaces the first OLD in the path, ignoring case. */
static bool show(struct input_log *source, const char *path, const struct text_list *renames)
{
    char text[2 * PDH_MAX_COUNTER_PATH], changed[2 * PDH_MAX_COUNTER_PATH];
    snprintf(text, sizeof text, "%s", path);
    for (size_t i = 0; i < renames->count; i++) {
        const char *old = renames->texts[i], *equals = strchr(old, '=');
        size_t at = 0, count = (size_t)(equals - old), size = strlen(text);
        while (at + count <= size && strncasecmp(text + at, old, count) != 0)
            at++;
        if (at + count > size)
            continue;
        int used = snprintf(changed, sizeof changed, "%.*s%s%s", (int)at, text, equals + 1,
                            text + at + count);
        if (used >= 0 && used < (int)sizeof changed)
            memcpy(text, changed, (size_t)used + 1);
    }
    return text_list_add(&source->shown, text);
}

/* Reports that no counters were found; for a capture that was cut off early, the position, too. */
static int complain_of_none(const struct input_log *source, const struct relog *opts)
{
    const char *name = opts->inputs.texts[0];
    LONGLONG size;
    if (opts->wanted.count || opts->inputs.count > 1 || PdhGetLogFileSize(source->log, &size))
        return pdh_complain("relog", "selecting counters", (PDH_STATUS)PDH_NO_COUNTERS);
    name = strcmp(name, "-") ? name : "standard input";
    if (source->extent.SampleCount)
        fprintf(stderr, "relog: %s: it has samples, but no counters that can be shown\n",
                text_seen(name));
    else
        fprintf(stderr,
                "relog: %s: offset %lld: the file ends here, before the first sample or counter: "
                "it was cut off or damaged, or nothing was recorded yet\n",
                text_seen(name), (long long)size);
    return EXIT_FAILED;
}

int source_open(struct input_log *source, const struct relog *opts)
{
    static const char everything[] = "\\\\*\\*(*)\\*";
    int code = open_files(source, opts);
    if (code)
        return code;
    source->expansion = opts->binary && !opts->top ? OPL_EXPAND_AS_RECORDED : 0;
    take_wanted(source, opts);
    PDH_STATUS status = opts->wanted.count ? 0 : take_path(source, everything);
    if ((DWORD)status == PDH_CSTATUS_NO_MACHINE || (DWORD)status == PDH_CSTATUS_NO_OBJECT)
        status = 0; /* the capture ends before the list of counters */
    if (status)
        return pdh_complain("relog", "selecting counters", status);
    if (!source->paths.count)
        return complain_of_none(source, opts);
    for (size_t i = 0; i < source->paths.count; i++)
        if (!show(source, source->paths.texts[i], &opts->renames))
            return pdh_complain("relog", "selecting counters",
                                (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE);
    return EXIT_GOOD;
}

/* ---- the query ---- */

/* Adds the counters to the query; a counter that cannot be added is skipped. */
static int add_counters(struct input_log *source)
{
    struct text_list *paths = &source->paths, *shown = &source->shown;
    size_t count = paths->count;
    int code = EXIT_GOOD;
    paths->count = shown->count = 0;
    for (size_t i = 0; i < count; i++) {
        PDH_STATUS status =
            PdhAddCounterA(source->query, paths->texts[i], 0, &source->handles[paths->count]);
        if (status) {
            code = pdh_complain("relog", paths->texts[i], status);
            source->missing++;
            free(paths->texts[i]);
            free(shown->texts[i]);
            continue;
        }
        paths->texts[paths->count++] = paths->texts[i];
        shown->texts[shown->count++] = shown->texts[i];
    }
    return paths->count ? EXIT_GOOD : code;
}

int source_add(struct input_log *source, const struct relog *opts)
{
    PDH_TIME_INFO range = {opts->begin, opts->end ? opts->end : MAX_TIME_VALUE, 0};
    if (source->query)
        PdhCloseQuery(source->query);
    source->query = NULL;
    source->damaged = 0;
    free(source->handles);
    PDH_STATUS status = PdhOpenQueryH(source->log, 0, &source->query);
    source->handles = calloc(source->paths.count, sizeof *source->handles);
    if (!status && !source->handles)
        status = (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    if (!status && (opts->begin || opts->end))
        status = PdhSetQueryTimeRange(source->query, &range);
    if (status)
        return pdh_complain("relog", "creating a query", status);
    return add_counters(source);
}

bool source_ended(PDH_STATUS status)
{
    return (DWORD)status == PDH_NO_MORE_DATA || (DWORD)status == PDH_END_OF_LOG_FILE;
}

int source_end(struct input_log *source)
{
    bool torn = pdh_remark("relog");
    source->missing += pdh_unshown("relog");
    return source->damaged > PDH_MOST_DAMAGE || torn ? EXIT_FAILED : EXIT_GOOD;
}

bool source_goes_on(struct input_log *source, PDH_STATUS status)
{
    if ((DWORD)status != PDH_BINARY_LOG_CORRUPT)
        return false;
    if (++source->damaged <= PDH_MOST_DAMAGE)
        return true;
    if (!source->silent)
        fputs("relog: " PDH_MUCH_DAMAGE "\n", stderr);
    return false;
}

/* Reads the next sample, and reports damage. Returns false if there is nothing more to read. */
static bool read_sample(struct input_log *source, LONGLONG *ret_time, int *code)
{
    *ret_time = 0;
    PDH_STATUS status = PdhCollectQueryDataWithTime(source->query, ret_time);
    if (pace_stopped())
        *code = EXIT_FAILED;
    else if (status && source->silent)
        *code = EXIT_FAILED;
    else if (source_ended(status))
        *code = source_end(source) ? EXIT_FAILED : *code;
    else if (status)
        *code = pdh_complain("relog", "reading a sample", status);
    return !pace_stopped() && (!status || source_goes_on(source, status));
}

int source_read(struct input_log *source, const struct relog *opts, source_take *take,
                void *context)
{
    struct relog_order order = {0};
    int code = source_add(source, opts);
    bool more = !code;
    while (more) {
        LONGLONG time;
        more = read_sample(source, &time, &code);
        if (more && time) {
            report_time(&order, time);
            if (take)
                take(context, time);
        }
    }
    if (!source->silent)
        report_order(opts, &order);
    return code;
}

static void keep(void *path)
{
    (void)path; /* the path is not freed, because the list owns it */
}

void source_close(struct input_log *source)
{
    if (source->query)
        PdhCloseQuery(source->query);
    if (source->log)
        PdhCloseLog(source->log, 0);
    tdestroy(source->seen, keep);
    text_list_done(&source->paths);
    text_list_done(&source->shown);
    free(source->handles);
    *source = (struct input_log){0};
}
