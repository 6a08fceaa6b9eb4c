/* SPDX-License-Identifier: MIT */
/*
 * Expands a path in a capture: lists its matching columns in their order, so that a copy of the
 * capture has the columns in the original order. The machine may be a pattern, too, and then "(*)"
 * also matches objects without instances: \\*\*(*)\* matches everything.
 */
#include "pdh/log/capture.h"

#include <string.h>

struct expand_search {
    const struct pdh_path *path;
    struct log_source *source;
    bool open; /* keep the path's wildcard in place of the instances */
    struct buffer *ret;
    const struct log_column *known; /* the column whose object was described last */
    struct object_info *info;
};

static bool name_fits(const char *wanted, const char *name)
{
    return text_match(wanted, name) || capture_is_named(wanted, name);
}

static bool machine_fits(const struct pdh_path *path, const struct log_column *column)
{
    return !path->machine || (column->machine && text_match(path_machine_name(path->machine),
                                                            path_machine_name(column->machine)));
}

/* True if the path matches a column without instance: a path without brackets does; a path with
 * "(*)" only if its machine is a pattern, or if the capture's own columns have the brackets. */
static bool single_fits(const struct pdh_path *path, bool bracketed)
{
    return !path->whole ||
           (!strcmp(path->whole, "*") && (bracketed || path_is_pattern(path->machine)));
}

static bool instance_fits(const struct pdh_path *path, const struct log_column *column)
{
    if (!column->instance)
        return single_fits(path, false);
    return path->whole &&
           path_match_instance(path, column->parent, column->instance, column->index);
}

/* ---- columns for several instances ---- */

static void add_path(struct expand_search *search, const struct log_column *column,
                     const char *counter, const struct instance_info *instance)
{
    struct pdh_path parts = {
        .machine = column->machine, .object = column->object, .counter = counter};
    if (instance) {
        parts.parent = instance->parent;
        parts.instance = instance->name;
        parts.index = instance->number;
        parts.any_index = instance->name == search->path->instance && search->path->any_index;
    }
    path_make(&parts, search->ret);
    buffer_add_byte(search->ret, '\0');
}

/* Adds the path with the wanted wildcard, which can be narrower than the column's. */
static void add_wildcard(struct expand_search *search, const struct log_column *column,
                         const char *counter)
{
    const struct pdh_path *path = search->path;
    add_path(search, column, counter,
             &(struct instance_info){path->parent, path->instance, path->index});
}

static void add_instances(struct expand_search *search, const struct log_column *column,
                          const char *counter)
{
    const struct object_info *info = search->info;
    if (!name_fits(search->path->counter, counter))
        return;
    if (info->bare && single_fits(search->path, column->instance))
        add_path(search, column, counter, NULL);
    if (search->open && path_has_any_instance(search->path) && !info->single) {
        add_wildcard(search, column, counter);
        return;
    }
    for (uint32_t i = 0; i < info->instance_count; i++) {
        const struct instance_info *instance = &info->instances[i];
        /* the object's other columns may have instances that this one lacks */
        if (column->instance && !instance->parent && !text_match(column->instance, instance->name))
            continue;
        if (!path_match_instance(search->path, instance->parent, instance->name, instance->number))
            continue;
        if (path_is_pattern(instance->name) || path_is_pattern(instance->parent))
            losses_add(&search->source->losses, LOSS_PATTERN, 1, "%s(%s)\\%s", column->object,
                       instance->name, counter);
        else
            add_path(search, column, counter, instance);
    }
}

/* Describes the column's object, unless it is the same as for the column before, which is usual. */
static PDH_STATUS take_info(struct expand_search *search, const struct log_column *column)
{
    const struct log_column *known = search->known;
    if (known && text_equal_fold(known->object, column->object) &&
        text_equal_fold(known->machine ? known->machine : "",
                        column->machine ? column->machine : ""))
        return 0;
    object_info_unref(search->info);
    search->info = NULL;
    search->known = NULL;
    PDH_STATUS status =
        log_source_info(search->source, column->machine, column->object, &search->info);
    if (status)
        return status;
    search->known = column;
    losses_join(&search->source->losses, &search->info->losses);
    return 0;
}

static PDH_STATUS add_open(struct expand_search *search, const struct log_column *column)
{
    /* the column's path is wanted as it is, so no samples need to be read */
    if (search->open && column->kind == LOG_ARRAY && path_has_any_instance(search->path)) {
        if (name_fits(search->path->counter, column->counter))
            add_wildcard(search, column, column->counter);
        return 0;
    }
    PDH_STATUS status = take_info(search, column);
    if (status)
        return status;
    if (strcmp(column->counter, "*"))
        add_instances(search, column, column->counter);
    else
        for (uint32_t i = 0; i < search->info->counter_count; i++)
            add_instances(search, column, search->info->counters[i].name);
    return 0;
}

/* ---- all columns ---- */

/* Adds the path of a column that fits, and counts what cannot be shown of that column. */
static void add_shown(struct expand_search *search, const struct log_column *column)
{
    struct log_losses *losses = &search->source->losses;
    if (column->twice)
        losses_add(losses, LOSS_TWICE, 1, "%s", column->path);
    if (column->no_texts)
        losses_add(losses, LOSS_TYPE, 1, "%s", column->path);
    else if (column->kind != LOG_COOKED && !formula_known(column->type) &&
             !type_is_text(column->type))
        losses_add(losses, LOSS_FORMULA, 1, "%s", column->path);
    if (path_is_pattern(column->instance) || path_is_pattern(column->parent))
        losses_add(losses, LOSS_PATTERN, 1, "%s", column->path);
    else
        buffer_add(search->ret, column->path, strlen(column->path) + 1);
}

static PDH_STATUS add_column(struct expand_search *search, const struct log_column *column)
{
    const struct pdh_path *path = search->path;
    bool entry = column->object && *column->object && column->counter && *column->counter;
    if (!entry && !strcmp(path->object, "*"))
        losses_add(&search->source->losses, LOSS_ENTRY, 1, "%s", column->path);
    if (!entry || !machine_fits(path, column) || !name_fits(path->object, column->object))
        return 0;
    if (column_is_open(column))
        return add_open(search, column);
    if (instance_fits(path, column) && name_fits(path->counter, column->counter))
        add_shown(search, column);
    return 0;
}

PDH_STATUS log_source_expand(struct data_source *base, const struct pdh_path *path, bool open,
                             struct buffer *ret)
{
    struct log_source *source = (struct log_source *)base;
    struct expand_search search = {.path = path, .source = source, .open = open, .ret = ret};
    PDH_STATUS status = 0;
    log_know_columns(source->log);
    for (size_t i = 0; !status && i < log_columns(source->log); i++)
        status = add_column(&search, log_column(source->log, i));
    object_info_unref(search.info);
    if (open) /* the caller uses raw values, so counters without a formula are not lost */
        source->losses.list[LOSS_FORMULA].count = source->losses.list[LOSS_VALUE].count = 0;
    return ret->failed ? (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE : status;
}
