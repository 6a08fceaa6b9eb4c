/* SPDX-License-Identifier: MIT */
/* Counters by their paths, through PDH: a wildcard is expanded to every path that it matches. */
#include "pcview.h"
#include "../common/counter-path.h"
#include "../common/json.h"
#include "../common/list.h"
#include "../common/machines.h"
#include "../common/missing.h"
#include "../common/pdh-message.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

struct path_reading {
    PDH_HCOUNTER counter;
    char *path;
    bool by_pattern;          /* the instance was found by a wildcard, not named itself */
    struct view_counter kind; /* type and unit, for printing */
    struct view_value value;
};
struct readings {
    char machine[256]; /* the machine with its backslashes, or "" */
    struct machines machines;
    PDH_HQUERY query;
    struct path_reading *items;
    size_t count, capacity;
    int samples;
    int code;
};

bool path_is(const char *word)
{
    return word[0] == '\\' || !strncmp(word, "//", 2) || strstr(word, "::");
}

/* ---- arguments to counters ---- */

/* Reports a missing counter; the caller skips it. */
static void miss(struct readings *all, const char *path, PDH_STATUS status)
{
    int code = missing_complain("pcview", path, status);
    if (!all->code)
        all->code = code == EXIT_FAILED ? EXIT_MISSING : code;
}

static bool keep(struct readings *all, const char *path, PDH_HCOUNTER counter, bool by_pattern)
{
    if (!list_grow(&all->items, all->count, &all->capacity, sizeof *all->items))
        return false;
    struct path_reading *reading = &all->items[all->count];
    *reading =
        (struct path_reading){.counter = counter, .path = strdup(path), .by_pattern = by_pattern};
    all->count += reading->path != NULL;
    return reading->path;
}

static void add(struct readings *all, const char *path, bool by_pattern)
{
    PDH_HCOUNTER counter = NULL;
    PDH_STATUS status = PdhAddCounterA(all->query, path, 0, &counter);
    if (!status && !keep(all, path, counter, by_pattern))
        status = (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    if (status)
        miss(all, path, status);
}

/* Returns the multi-string of the paths that the word matches, which the caller frees; *ret_status
 * is PDH's status. The call is repeated, because the list may grow between two calls. */
static char *expand(const char *word, PDH_STATUS *ret_status)
{
    char *list = NULL;
    DWORD length = 0;
    while ((DWORD)(*ret_status = PdhExpandWildCardPathA(NULL, word, list, &length, 0)) ==
           PDH_MORE_DATA) {
        char *grown = realloc(list, length);
        if (!grown)
            *ret_status = (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
        if (!grown)
            break;
        list = grown;
    }
    return list;
}

static void add_path(struct readings *all, const char *word)
{
    PDH_STATUS status = (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    if (word && machines_lack(&all->machines, word)) { /* already reported */
        all->code = all->code ? all->code : EXIT_MISSING;
        return;
    }
    char *list = word ? expand(word, &status) : NULL;
    if (!status && !*list)
        status = (PDH_STATUS)PDH_CSTATUS_NO_INSTANCE;
    if (status)
        miss(all, word ? word : "a path", status);
    for (const char *path = list; !status && *path; path += strlen(path) + 1)
        add(all, path, counter_path_is_pattern(word) && !counter_path_names_instance(word));
    if (!status)
        missing_rights_of_all("pcview", word);
    free(list);
}

static void add_paths(struct pcview *view, struct readings *all)
{
    char *word;
    for (size_t i = 0; i < view->wanted_count; i++, free(word))
        if ((word = counter_path_on(all->machine, view->wanted[i].text)))
            machines_note(&all->machines, word);
    machines_connect(&all->machines, "pcview");
    for (size_t i = 0; i < view->wanted_count; i++, free(word))
        add_path(all, word = counter_path_on(all->machine, view->wanted[i].text));
}

/* ---- samples ---- */

/* Reads type and unit of the counter; true if the type needs two samples. */
static bool look_at_type(struct path_reading *reading)
{
    struct view_counter *kind = &reading->kind;
    DWORD index = 0, *type = &kind->now.definition.CounterType;
    PDH_RAW_COUNTER raw;
    const char *name = strrchr(reading->path, '\\') + 1;
    PdhGetRawCounterValue(reading->counter, type, &raw);
    PdhLookupPerfIndexByNameA(NULL, name, &index);
    view_describe(kind, index, name);
    return kind->type.needs_two_samples;
}

static PDH_STATUS collect(struct readings *all)
{
    static const struct timespec pause = {0, SAMPLE_MILLISECONDS * 1000000L};
    bool two = false;
    PDH_STATUS status = PdhCollectQueryData(all->query);
    all->samples = 1;
    for (size_t i = 0; !status && i < all->count; i++)
        two |= look_at_type(&all->items[i]);
    if (two) {
        nanosleep(&pause, NULL);
        all->samples = 2;
        status = PdhCollectQueryData(all->query);
    }
    return (DWORD)status == PDH_NO_DATA ? 0 : status; /* each counter shows why it has no data */
}

/* Is the counter's instance missing, and was that reported with the previous counter already? */
static bool is_reported(const struct readings *all, const struct path_reading *reading)
{
    return reading > all->items && reading->value.status == PDH_CSTATUS_NO_INSTANCE &&
           reading[-1].value.status == PDH_CSTATUS_NO_INSTANCE &&
           counter_path_same_instance(reading[-1].path, reading->path);
}

static void read_value(struct readings *all, struct path_reading *reading)
{
    PDH_RAW_COUNTER raw = {0};
    PDH_FMT_COUNTERVALUE cooked = {0};
    struct view_value *value = &reading->value;
    PDH_STATUS status = PdhGetRawCounterValue(reading->counter, NULL, &raw);
    value->raw.first = raw.FirstValue;
    if (!status)
        status = PdhGetFormattedCounterValue(reading->counter, PDH_FMT_DOUBLE | PDH_FMT_NOCAP100,
                                             NULL, &cooked);
    value->number = cooked.doubleValue;
    value->status = cooked.CStatus > PDH_CSTATUS_NEW_DATA ? cooked.CStatus : (DWORD)status;
    value->state = value->status ? VIEW_INVALID : VIEW_NUMBER;
    value->whole = view_whole(&reading->kind);
    bool went = reading->by_pattern && value->status == PDH_CSTATUS_NO_INSTANCE;
    if (value->status && !went && !is_reported(all, reading))
        miss(all, reading->path, (PDH_STATUS)value->status);
}

/* ---- printed ---- */

static void print_text(struct pcview *view, const struct readings *all)
{
    int labels = 0;
    for (size_t i = 0; i < all->count; i++) {
        int width = text_width(all->items[i].path);
        labels = width > labels ? width : labels;
    }
    for (size_t i = 0; i < all->count; i++) {
        const struct path_reading *reading = &all->items[i];
        char path[PDH_MAX_COUNTER_PATH * 4], value[64] = "-";
        text_clean(reading->path, path, sizeof path);
        if (!reading->value.status)
            view_number_text(&reading->kind, &reading->value, value, sizeof value);
        text_cell(view->out, path, labels);
        fprintf(view->out, "  %s%*s%s\n", view->style.strong, 12, value, view->style.off);
    }
}

static void print_one_json(struct json *json, const struct path_reading *reading)
{
    const struct view_value *value = &reading->value;
    json_open(json, NULL, '{');
    json_string(json, "path", reading->path);
    if (value->status)
        json_string(json, "value", NULL);
    else if (value->whole)
        json_integer(json, "value", (int64_t)value->raw.first);
    else
        json_double(json, "value", value->number);
    json_string(json, "suffix", reading->kind.type.suffix);
    json_integer(json, "counterType", reading->kind.now.definition.CounterType);
    json_integer(json, "status", value->status);
    json_close(json, '}');
}

static void print_json(struct pcview *view, const struct readings *all)
{
    struct json json = {.out = view->out};
    json_open(&json, NULL, '{');
    json_integer(&json, "samples", all->samples);
    json_open(&json, "counters", '[');
    for (size_t i = 0; i < all->count; i++)
        print_one_json(&json, &all->items[i]);
    json_close(&json, ']');
    json_close(&json, '}');
}

static void done(struct readings *all)
{
    machines_done(&all->machines);
    for (size_t i = 0; i < all->count; i++)
        free(all->items[i].path);
    free(all->items);
    PdhCloseQuery(all->query);
}

int paths_print(struct pcview *view)
{
    struct readings all = {0};
    if (view->machine)
        snprintf(all.machine, sizeof all.machine, "\\\\%s",
                 view->machine + strspn(view->machine, "\\"));
    PDH_STATUS status = PdhOpenQueryA(NULL, 0, &all.query);
    if (status)
        return pdh_complain("pcview", "creating a query", status);
    add_paths(view, &all);
    status = all.count ? collect(&all) : 0;
    for (size_t i = 0; !status && i < all.count; i++)
        read_value(&all, &all.items[i]);
    if (status)
        all.code = pdh_complain("pcview", "reading a sample", status);
    else if (view->json)
        print_json(view, &all);
    else
        print_text(view, &all);
    done(&all);
    return all.code;
}
