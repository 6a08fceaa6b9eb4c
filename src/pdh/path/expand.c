/* SPDX-License-Identifier: MIT */
/*
 * Expands and validates paths. Expanding lists all objects, counters and instances that match, each
 * by its standard path. A pattern that matches nothing in the user's language is tried in the other
 * languages, like a name. (docs/windows/pdh.md#f3, docs/windows/pdh.md#f4)
 */
#include "pdh/source.h"

#include <openperflib/unstable.h>

#include <stdlib.h>
#include <string.h>

struct expansion {
    struct data_source *source;
    const struct pdh_path *path;
    DWORD flags;
    const char *machine;
    const struct object_info *info;
    const char **counters; /* names of the counters that match */
    size_t counter_count;
    struct buffer *ret;
};

/* ---- names ---- */

/* True if the title matches the pattern; at STAGE_USER the displayed name is compared. False if
 * there is no title. */
static bool name_fits(struct data_source *source, const struct object_info *info, uint32_t index,
                      const char *name, enum title_stage stage, const char *pattern)
{
    if (!name[0])
        return false;
    return stage == STAGE_USER ? text_match(pattern, name)
                               : source->ops->has_title(info, index, stage, pattern);
}

static bool counter_fits(struct data_source *source, const struct object_info *info,
                         const struct counter_info *counter, enum title_stage stage,
                         const char *pattern)
{
    return !counter->hidden &&
           name_fits(source, info, counter->index, counter->name, stage, pattern);
}

/* ---- counters ---- */

static bool has_counter(const struct expansion *self, const char *name)
{
    for (size_t i = 0; i < self->counter_count; i++)
        if (text_equal_fold(self->counters[i], name))
            return true;
    return false;
}

static void choose_matching(struct expansion *self, enum title_stage stage)
{
    for (uint32_t i = 0; i < self->info->counter_count; i++) {
        const struct counter_info *counter = &self->info->counters[i];
        if (counter_fits(self->source, self->info, counter, stage, self->path->counter) &&
            !has_counter(self, counter->name))
            self->counters[self->counter_count++] = counter->name;
    }
}

/* Finds the names of the counters that match; each name becomes the end of a path. A counter
 * without a title has its number as its name. */
static PDH_STATUS choose_counters(struct expansion *self)
{
    const char *wanted = self->path->counter;
    bool pattern = path_is_pattern(wanted);
    if (pattern && !(self->flags & PDH_NOEXPANDCOUNTERS)) {
        for (enum title_stage stage = 0; stage < STAGES && !self->counter_count; stage++)
            choose_matching(self, stage);
        return 0;
    }
    self->counters[self->counter_count++] = wanted;
    if (pattern)
        return 0;
    const struct counter_info *found = self->source->ops->counter(self->info, wanted, false);
    if (!found)
        return (PDH_STATUS)PDH_CSTATUS_NO_COUNTER;
    if (found->name[0])
        self->counters[0] = found->name;
    return 0;
}

/* ---- instances ---- */

/* Adds a path for each matching counter. `instance` NULL: the object has no instances. */
static void add_paths(struct expansion *self, const char *parent, const char *instance,
                      uint32_t number)
{
    struct pdh_path parts = {.machine = self->machine,
                             .object = self->info->name[0] ? self->info->name : self->path->object,
                             .parent = parent,
                             .instance = instance,
                             .index = number};
    parts.any_index = instance == self->path->instance && self->path->any_index;
    for (size_t i = 0; i < self->counter_count; i++) {
        parts.counter = self->counters[i];
        path_make(&parts, self->ret);
        buffer_add_byte(self->ret, '\0');
    }
}

static size_t add_matching(struct expansion *self, bool only_first)
{
    size_t count = 0;
    for (uint32_t i = 0; i < self->info->instance_count; i++) {
        const struct instance_info *instance = &self->info->instances[i];
        if (!path_match_instance(self->path, instance->parent, instance->name, instance->number))
            continue;
        add_paths(self, instance->parent, instance->name, instance->number);
        count++;
        if (only_first)
            break;
    }
    return count;
}

/* Adds the paths of matching instances. If a name without wildcards matches no instance, the path
 * is added as it was written, because the instance may appear later. */
static void add_instances(struct expansion *self)
{
    const struct pdh_path *path = self->path;
    bool any = path_has_any_instance(path);
    bool as_written = any ? self->flags & PDH_NOEXPANDINSTANCES : !add_matching(self, true);
    if (as_written)
        add_paths(self, path->parent, path->instance, path->index);
    else if (any)
        add_matching(self, false);
}

/* ---- objects ---- */

static PDH_STATUS expand_info(struct expansion *self, const struct object_info *info)
{
    FREE_AUTO const char **names = calloc(info->counter_count + 1, sizeof *names);
    if (!names)
        return (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    if (info->single && self->path->instance)
        return (PDH_STATUS)PDH_INVALID_PATH;
    self->info = info;
    self->counters = names;
    self->counter_count = 0;
    PDH_STATUS status = choose_counters(self);
    if (status)
        return status;
    if (self->path->instance)
        add_instances(self);
    else
        add_paths(self, NULL, NULL, 0);
    return 0;
}

static PDH_STATUS expand_fitting(struct expansion *self, const struct object_infos *all,
                                 enum title_stage stage)
{
    PDH_STATUS status = 0;
    for (size_t i = 0; !status && i < all->count; i++) {
        const struct object_info *info = all->items[i];
        if (!name_fits(self->source, info, info->index, info->name, stage, self->path->object) ||
            info->single == (self->path->instance != NULL))
            continue;
        status = expand_info(self, info);
        if ((DWORD)status == PDH_CSTATUS_NO_COUNTER)
            status = 0;
    }
    return status;
}

/* Adds the paths of all matching objects. An object whose counters do not match is left out. */
static PDH_STATUS expand_objects(struct expansion *self, enum info_age age)
{
    OBJECT_INFOS_AUTO all = {0};
    size_t before = self->ret->len;
    PDH_STATUS status = self->source->ops->objects(self->source, self->path->machine, age, &all);
    for (enum title_stage stage = 0; !status && stage < STAGES && self->ret->len == before; stage++)
        status = expand_fitting(self, &all, stage);
    return status;
}

static PDH_STATUS expand_names(struct data_source *source, const struct pdh_path *path, DWORD flags,
                               struct buffer *ret)
{
    BUFFER_AUTO machine = {0};
    OBJECT_INFO_AUTO *info = NULL;
    PDH_STATUS status = source->ops->label(source, path->machine, &machine);
    if (status)
        return status;
    if (machine.failed)
        return (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    struct expansion self = {
        .source = source, .path = path, .flags = flags, .machine = machine.data, .ret = ret};
    enum info_age age = flags & OPL_EXPAND_AS_RECORDED ? INFO_AS_RECORDED
                        : flags & PDH_REFRESHCOUNTERS  ? INFO_REFRESH
                                                       : INFO_STABLE;
    if (path_is_pattern(path->object))
        return expand_objects(&self, age);
    status = source->ops->object(source, path->machine, path->object, false, age, &info);
    return status ? status : expand_info(&self, info);
}

/* Expands a path. The paths of a capture are listed in the order of its columns; a path that
 * matches no column is checked like a path of live data. */
static PDH_STATUS expand_in(struct data_source *source, struct pdh_path *path, DWORD flags,
                            struct buffer *ret)
{
    const DWORD as_written = PDH_NOEXPANDCOUNTERS | PDH_NOEXPANDINSTANCES;
    PDH_STATUS status = 0;
    size_t before = ret->len;
    if (source->ops->aliases)
        path_alias_brackets(path);
    if (source->ops->expand && !(flags & as_written))
        status = source->ops->expand(source, path, flags & OPL_EXPAND_AS_RECORDED, ret);
    if (!status && ret->len == before)
        status = expand_names(source, path, flags, ret);
    bool nothing = is_unknown_name(status) || (!status && ret->len == before);
    if (nothing && source->ops->aliases && path_alias(path))
        status = expand_names(source, path, flags, ret);
    return ret->failed && !status ? (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE : status;
}

PDH_STATUS expand_path(struct pdh_from from, const char *text, DWORD flags, struct buffer *ret)
{
    PATH_AUTO path = {0};
    SOURCE_AUTO *source = NULL;
    PDH_STATUS status = path_parse(text, &path);
    if (!status)
        status = source_open(from, SOURCE_NAMES, &source);
    return status ? status : expand_in(source, &path, flags, ret);
}

/* ---- validation ---- */

static bool instance_there(const struct pdh_path *path, const struct object_info *info)
{
    if (info->single || !path->instance)
        return info->single && !path->instance;
    for (uint32_t i = 0; i < info->instance_count; i++) {
        const struct instance_info *instance = &info->instances[i];
        if (path_match_instance(path, instance->parent, instance->name, instance->number))
            return true;
    }
    return info->instance_count == 0 && path_has_any_instance(path);
}

static bool counter_there(struct data_source *source, const struct pdh_path *path,
                          const struct object_info *info)
{
    if (!path_is_pattern(path->counter))
        return source->ops->counter(info, path->counter, false);
    for (enum title_stage stage = 0; stage < STAGES; stage++)
        for (uint32_t i = 0; i < info->counter_count; i++)
            if (counter_fits(source, info, &info->counters[i], stage, path->counter))
                return true;
    return false;
}

static PDH_STATUS validate_names(struct data_source *source, const struct pdh_path *path)
{
    OBJECT_INFO_AUTO *info = NULL;
    PDH_STATUS status =
        source->ops->object(source, path->machine, path->object, false, INFO_RECENT, &info);
    if (status)
        return status;
    if (!instance_there(path, info))
        return (PDH_STATUS)PDH_CSTATUS_NO_INSTANCE;
    return counter_there(source, path, info) ? 0 : (PDH_STATUS)PDH_CSTATUS_NO_COUNTER;
}

/* Checks a path. A path with a pattern as object is valid if it expands to at least one path. */
static PDH_STATUS validate_in(struct data_source *source, struct pdh_path *path)
{
    if (path_is_pattern(path->object)) {
        BUFFER_AUTO list = {0};
        PDH_STATUS status = expand_in(source, path, PDH_REFRESHCOUNTERS, &list);
        return status || list.len ? status : (PDH_STATUS)PDH_CSTATUS_NO_OBJECT;
    }
    if (source->ops->aliases)
        path_alias_brackets(path);
    PDH_STATUS status = validate_names(source, path);
    if (is_unknown_name(status) && source->ops->aliases && path_alias(path) &&
        validate_names(source, path) == 0)
        return 0;
    return status;
}

PDH_STATUS path_validate(struct pdh_from from, const char *text)
{
    PATH_AUTO path = {0};
    SOURCE_AUTO *source = NULL;
    if (!text || !text[0])
        return (PDH_STATUS)PDH_INVALID_ARGUMENT;
    PDH_STATUS status = path_parse(text, &path);
    if (!status)
        status = source_open(from, SOURCE_NAMES, &source);
    return status ? status : validate_in(source, &path);
}
