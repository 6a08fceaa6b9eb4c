/* SPDX-License-Identifier: MIT */
/* -q and -qx: lists counters, one path in each line. */
#include "typeperf.h"
#include "../common/missing.h"

#include "../common/last-event.h"
#include "../view/text.h"

#include <stdlib.h>
#include <string.h>

/* An object's counters and instances: multi-strings, to be freed. */
struct object_items {
    char *counters, *instances;
    DWORD counters_length, instances_length; /* characters */
};

static void items_done(struct object_items *items)
{
    free(items->counters);
    free(items->instances);
}

static char *enum_objects(const char *machine, PDH_STATUS *ret_status)
{
    DWORD length = 0;
    *ret_status = PdhEnumObjectsA(NULL, machine, NULL, &length, PERF_DETAIL_WIZARD, TRUE);
    if ((DWORD)*ret_status != PDH_MORE_DATA)
        return NULL;
    char *list = calloc(1, (size_t)length + 1);
    *ret_status = list ? PdhEnumObjectsA(NULL, machine, list, &length, PERF_DETAIL_WIZARD, FALSE)
                       : (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    if (!*ret_status)
        return list;
    free(list);
    return NULL;
}

static PDH_STATUS enum_items(const char *machine, const char *object, struct object_items *items)
{
    PDH_STATUS status = PdhEnumObjectItemsA(NULL, machine, object, NULL, &items->counters_length,
                                            NULL, &items->instances_length, PERF_DETAIL_WIZARD, 0);
    if (status && (DWORD)status != PDH_MORE_DATA)
        return status;
    items->counters = calloc(1, (size_t)items->counters_length + 2);
    items->instances = calloc(1, (size_t)items->instances_length + 2);
    if (!items->counters || !items->instances)
        return (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    DWORD instances = items->instances_length;
    status = PdhEnumObjectItemsA(NULL, machine, object, items->counters, &items->counters_length,
                                 items->instances, &instances, PERF_DETAIL_WIZARD, 0);
    return status;
}

struct object_listing {
    FILE *out;
    const char *machine; /* the machine with its backslashes, or "" */
    const char *remote;  /* the machine as PDH gets it; NULL: this machine */
    bool instances;
    bool both; /* print each also as Object(*)::Counter, for completions */
};

/* Prints \Object(*)\Counter, or without (*), for each counter. */
static void list_counters(const struct object_listing *listing, const char *object,
                          const struct object_items *items)
{
    const char *all = items->instances_length ? "(*)" : "";
    object = text_shown(listing->out, object);
    for (const char *at = items->counters; *at; at += strlen(at) + 1) {
        const char *shown = text_shown(listing->out, at);
        fprintf(listing->out, "%s\\%s%s\\%s\n", listing->machine, object, all, shown);
        if (listing->both)
            fprintf(listing->out, "%s%s::%s\n", object, all, shown);
    }
}

/* Returns the path without the machine in front. */
static const char *local_part(const char *path)
{
    if (!counter_path_has_machine(path))
        return path;
    const char *object = strchr(path + 2, '\\');
    return object ? object : path;
}

/* Prints one line for each instance. The paths are those to which PDH expands a wildcard, because
 * only these have numbers for equal names. False: there are no instances now. */
static bool list_instances(const struct object_listing *listing, const char *object)
{
    char path[PDH_MAX_COUNTER_PATH];
    DWORD length = 0;
    snprintf(path, sizeof path, "%s\\%s(*)\\*", listing->remote ? listing->remote : "", object);
    PDH_STATUS status = PdhExpandWildCardPathA(NULL, path, NULL, &length, 0);
    if ((DWORD)status != PDH_MORE_DATA)
        return false;
    length += length / 4 + 256;
    char *list = calloc(1, length);
    if (!list || PdhExpandWildCardPathA(NULL, path, list, &length, 0))
        return free(list), false;
    for (const char *at = list; *at; at += strlen(at) + 1)
        fprintf(listing->out, "%s%s\n", listing->machine, text_shown(listing->out, local_part(at)));
    bool some = *list != 0;
    free(list);
    return some;
}

static int list_object(const struct object_listing *listing, const char *object)
{
    struct object_items items = {0};
    PDH_STATUS status = enum_items(listing->remote, object, &items);
    if (!status &&
        !(listing->instances && items.instances_length > 0 && list_instances(listing, object)))
        list_counters(listing, object, &items);
    items_done(&items);
    if (!status)
        return EXIT_GOOD;
    return missing_is_capture("typeperf", object) ? EXIT_FAILED
                                                  : pdh_complain("typeperf", object, status);
}

/* Writes the object's name alone; the argument may also have a backslash and instances:
 * \Processor(*). */
static void bare_object(const char *text, char *ret, size_t size)
{
    text = local_part(text);
    text += *text == '\\';
    snprintf(ret, size, "%.*s", (int)strcspn(text, "\\("), text);
}

/* Replaces a number by the name of the object with that number, if there is one. */
static void name_number(const char *machine, char *object, size_t size)
{
    char name[PDH_MAX_COUNTER_NAME], *end;
    DWORD length = sizeof name;
    unsigned long number = strtoul(object, &end, 10);
    if (*object < '0' || *object > '9' || *end || !number || number > UINT32_MAX)
        return;
    if (!PdhLookupPerfNameByIndexA(machine, (DWORD)number, name, &length))
        snprintf(object, size, "%s", name);
}

static int list_requested(const struct object_listing *listing, const struct text_list *args)
{
    char object[PDH_MAX_COUNTER_NAME];
    int code = EXIT_GOOD;
    for (size_t i = 0; i < args->count; i++) {
        bare_object(args->texts[i], object, sizeof object);
        name_number(listing->remote, object, sizeof object);
        int one = list_object(listing, object);
        code = one ? one : code;
    }
    return code;
}

/* Lists all objects. An object that disappears meanwhile is no error. */
static int list_all(const struct object_listing *listing)
{
    PDH_STATUS status;
    char *objects = enum_objects(listing->remote, &status);
    if (!objects)
        return pdh_complain("typeperf", listing->remote ? listing->remote : "the list of objects",
                            status);
    bool none = !*objects && !listing->remote;
    for (const char *at = objects; *at; at += strlen(at) + 1)
        list_object(listing, at);
    free(objects);
    if (none)
        last_event_no_names("typeperf");
    return none ? EXIT_FAILED : EXIT_GOOD;
}

/* Can the machine be reached? If not, the reason is reported. */
static bool is_there(const char *remote)
{
    struct machines machines = {0};
    size_t away =
        remote && machines_note(&machines, remote) ? machines_connect(&machines, "typeperf") : 0;
    machines_done(&machines);
    return !away;
}

int list_objects(const struct typeperf *opts)
{
    char machine[256] = "";
    FILE *out = output_file_open("typeperf", opts->output);
    if (!out)
        return output_file_code();
    if (opts->server)
        snprintf(machine, sizeof machine, "\\\\%s", opts->server + strspn(opts->server, "\\"));
    const char *remote = *machine && !counter_path_is_here(machine) ? machine : NULL;
    struct object_listing listing = {out, machine, remote, opts->list_instances, opts->names};
    int code = EXIT_FAILED;
    if (is_there(remote))
        code = opts->args.count ? list_requested(&listing, &opts->args) : list_all(&listing);
    bool succeeded = !code && !opts->names;
    if (succeeded && out == stdout) {
        fputc('\n', out);
        typeperf_success(out);
    }
    if (!output_file_close("typeperf", opts->output, out))
        return EXIT_FAILED;
    if (succeeded && opts->output && out != stdout)
        typeperf_success(stdout);
    return code;
}
