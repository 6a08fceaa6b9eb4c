/* SPDX-License-Identifier: MIT */
/* Finds the command line's objects in a block, and reports missing ones with similar names. */
#include "pcview.h"
#include "../common/last-event.h"
#include "../common/missing.h"
#include "base/base.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SIMILAR = 4, TOO_UNLIKE = 100 };

static bool is_index(const char *text)
{
    return *text && strlen(text) <= 10 && strspn(text, "0123456789") == strlen(text) &&
           strtoull(text, NULL, 10) <= UINT32_MAX;
}

/* Finds what an argument names: an index, an object's title, or a service's name. */
static void look_up(const struct view_names *names, struct requested_object *wanted)
{
    if (is_index(wanted->title)) {
        wanted->indices[0] = (uint32_t)strtoul(wanted->title, NULL, 10);
        wanted->index_count = 1;
    } else {
        wanted->index_count = names_find(names, wanted->title, wanted->indices, WANTED_INDICES);
    }
    if (wanted->index_count == 0)
        wanted->index_count = registered_objects(wanted->title, wanted->indices, WANTED_INDICES);
    if (wanted->index_count == 0)
        wanted->index_count = names_find_elsewhere(wanted->title, wanted->indices, WANTED_INDICES);
}

/* Finds the numbers of an argument's objects. The argument is read as "Object(pattern)" only if no
 * object has the whole argument as its name. */
void find_indices(const struct view_names *names, struct requested_object *wanted)
{
    snprintf(wanted->title, sizeof wanted->title, "%s", wanted->text);
    look_up(names, wanted);
    char *open = strchr(wanted->title, '(');
    size_t size = strlen(wanted->title);
    if (wanted->index_count || !open || open == wanted->title || wanted->title[size - 1] != ')')
        return;
    wanted->title[size - 1] = 0;
    *open = 0;
    wanted->instances = open + 1;
    look_up(names, wanted);
}

char *find_query(const struct pcview *view)
{
    char *query = NULL;
    size_t size = 0;
    FILE *text = open_memstream(&query, &size);
    if (!text)
        return NULL;
    for (size_t w = 0; w < view->wanted_count; w++)
        for (size_t i = 0; i < view->wanted[w].index_count; i++)
            fprintf(text, "%s%u", ftell(text) ? " " : "", view->wanted[w].indices[i]);
    if (view->wanted_count == 0)
        fputs("Global", text);
    fclose(text);
    if (query && *query)
        return query;
    free(query);
    return NULL;
}

static bool has_index(struct requested_object *wanted, uint32_t index)
{
    for (size_t i = 0; i < wanted->index_count; i++)
        if (wanted->indices[i] == index)
            return true;
    return false;
}

bool find_mark(struct pcview *view)
{
    opl_object_view object = {0};
    bool all = true;
    while (snapshot_next_object(&view->now, &object))
        for (size_t w = 0; w < view->wanted_count; w++)
            if (has_index(&view->wanted[w], object.type.ObjectNameTitleIndex))
                view->wanted[w].found = true;
    for (size_t w = 0; w < view->wanted_count; w++)
        all &= view->wanted[w].found;
    return all;
}

struct requested_object *find_requested(struct pcview *view, const opl_object_view *object,
                                        bool *ret_all)
{
    *ret_all = view->wanted_count == 0;
    for (size_t w = 0; w < view->wanted_count; w++)
        if (has_index(&view->wanted[w], object->type.ObjectNameTitleIndex))
            return &view->wanted[w];
    return NULL;
}

bool find_instance(struct requested_object *requested, const struct view_object *object,
                   const struct view_instance *instance)
{
    char label[2048];
    if (!requested)
        return true;
    if (!requested->instances)
        return requested->matched = true;
    view_instance_label(object, instance, label, sizeof label);
    const char *name = view_text(object, instance->name);
    bool good = text_match(requested->instances, label) || text_match(requested->instances, name);
    requested->matched |= good;
    return good;
}

struct similar_name {
    uint32_t index;
    unsigned distance;
};

static unsigned distance_to(const struct view_names *names, const char *word, uint32_t index)
{
    const char *title = names_title(names, index), *english = names_english(names, index);
    unsigned one = title ? names_distance(title, word) : TOO_UNLIKE;
    unsigned two = english ? names_distance(english, word) : TOO_UNLIKE;
    return one < two ? one : two;
}

static void keep_best(struct similar_name best[SIMILAR], struct similar_name fresh)
{
    for (size_t i = 0; i < SIMILAR; i++)
        if (fresh.distance < best[i].distance) {
            struct similar_name worse = best[i];
            best[i] = fresh;
            fresh = worse;
        }
}

/* Reports an object that is registered, but whose provider did not answer; false: it is not. */
static bool report_silence(const struct requested_object *wanted)
{
    char service[1024], title[256];
    bool found = false, enabled;
    for (size_t i = 0; i < wanted->index_count && !found; i++)
        found = registered_by(wanted->indices[i], service, sizeof service, &enabled);
    if (!found)
        return false;
    text_clean(wanted->text, title, sizeof title);
    if (last_event_report("pcview", title, service))
        return true;
    if (enabled)
        fprintf(stderr,
                "pcview: no answer for '%s' from its service %s; this machine may have no data for "
                "it%s, and 'pcview --events' shows errors.\n",
                title, text_seen(service), geteuid() == 0 ? "" : ", or only root may read it");
    else
        fprintf(stderr,
                "pcview: '%s' belongs to the service %s, which is disabled; 'lodctr /Q:%s' shows "
                "its state, 'lodctr %s/E:%s' enables it.\n",
                title, text_seen(service), text_seen(service),
                opl_load_is_users(service) ? "--user " : "", text_seen(service));
    return true;
}

/* Searches the explanations of objects and counters for the word. Called if no name is similar. */
static void report_explained(struct pcview *view, const char *word)
{
    opl_object_view object = {0};
    char title[256];
    size_t count = 0;
    while (strlen(word) > 2 && count < SIMILAR &&
           opl_block_next_object(&view->now.block, &object)) {
        const char *help = names_help(&view->names, object.type.ObjectHelpTitleIndex);
        bool has = help && text_contains(help, word);
        opl_counter_view counter = {0};
        while (!has && opl_object_next_counter(&view->now.block, &object, &counter)) {
            help = names_help(&view->names, counter.definition.CounterHelpTitleIndex);
            has = help && text_contains(help, word);
        }
        const char *name = names_title(&view->names, object.type.ObjectNameTitleIndex);
        if (!has || !name)
            continue;
        text_clean(name, title, sizeof title);
        fprintf(stderr, "%s %s (%u)", count++ ? "," : " The word is in the explanations of", title,
                object.type.ObjectNameTitleIndex);
    }
    fprintf(stderr, "%s 'pcview' lists all objects.\n", count ? "." : "");
}

static void report_one(struct pcview *view, struct requested_object *wanted)
{
    if (view->block_count == 0 && report_silence(wanted))
        return;
    if (missing_is_capture("pcview", wanted->text))
        return;
    struct similar_name best[SIMILAR];
    opl_object_view object = {0};
    char title[256];
    for (size_t i = 0; i < SIMILAR; i++)
        best[i] = (struct similar_name){0, TOO_UNLIKE};
    while (opl_block_next_object(&view->now.block, &object)) {
        uint32_t index = object.type.ObjectNameTitleIndex;
        keep_best(best,
                  (struct similar_name){index, distance_to(&view->names, wanted->title, index)});
    }
    text_clean(wanted->text, title, sizeof title);
    fprintf(stderr, "pcview: there is no object '%s'.", title);
    unsigned most =
        (unsigned)strlen(wanted->title) / 3; /* allows one typing mistake for every three letters */
    for (size_t i = 0; i < SIMILAR && best[i].distance <= most; i++) {
        const char *name = names_title(&view->names, best[i].index);
        text_clean(name ? name : "", title, sizeof title);
        fprintf(stderr, "%s %s (%u)", i ? "," : " Similar:", title, best[i].index);
    }
    if (best[0].distance > most)
        report_explained(view, wanted->title);
    else
        fputc('\n', stderr);
}

bool find_matched(const struct pcview *view)
{
    bool all = true;
    for (size_t w = 0; w < view->wanted_count; w++) {
        const struct requested_object *wanted = &view->wanted[w];
        char title[256];
        if (!wanted->found || !wanted->instances || wanted->matched)
            continue;
        text_clean(wanted->title, title, sizeof title);
        fprintf(stderr, "pcview: no instance of %s matches '%s'.\n", title,
                text_seen(wanted->instances));
        all = false;
    }
    return all;
}

void find_report(struct pcview *view)
{
    if (view->block_count == 0) {
        if (snapshot_query(&view->now, "Global") || !snapshot_begin(&view->now))
            view->now.size = 0;
    }
    for (size_t w = 0; w < view->wanted_count; w++)
        if (!view->wanted[w].found)
            report_one(view, &view->wanted[w]);
}
