/* SPDX-License-Identifier: MIT */
/*
 * Finds the objects of a capture from its columns. The names in columns for many instances or whole
 * blocks are found by reading all samples; all samples are read once, and again only if the capture
 * has grown.
 */
#include "pdh/log/capture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- names without duplicates ---- */

struct instance_names {
    struct item_set set;
    struct names_more {
        DWORD type;
        LONG scale;
        bool has_parent;
        bool no_texts;
    } * more; /* one entry for each item of `set` */
    size_t more_capacity;
};

static void names_done(struct instance_names *names)
{
    item_set_done(&names->set);
    free(names->more);
}

/* Returns false if there is no memory. */
static bool names_add(struct instance_names *names, const char *name, uint32_t number,
                      struct names_more more)
{
    const struct instance_key key = item_key(name, number);
    if (item_find_key(&names->set, &key, UINT32_MAX))
        return true;
    if (!list_grow(&names->more, names->set.count, &names->more_capacity, sizeof *names->more))
        return false;
    names->more[names->set.count] = more;
    return item_add(&names->set, &key);
}

/* ---- one object's names ---- */

struct object_columns {
    struct log_source *source;
    const char *machine, *object;
    struct instance_names counters, instances;
    struct instance_names
        nameless; /* "object N" or "number N" for each number without a name, each text once */
    struct log_losses losses;
    uint64_t unreadable; /* number of damaged arrays */
    /* bracketed: a column has "(*)"; bare: a column or a sample has the object without instance */
    bool bracketed, has_instances, bare;
    bool open; /* more names of instances or counters are in the samples */
};

static void object_columns_done(struct object_columns *collected)
{
    names_done(&collected->counters);
    names_done(&collected->instances);
    names_done(&collected->nameless);
}

static bool is_of(const struct object_columns *collected, const struct log_column *column)
{
    return path_same_machine(collected->machine, column->machine) && column->object &&
           capture_is_named(collected->object, column->object);
}

static bool add_instance(struct object_columns *collected, const char *parent, const char *name,
                         uint32_t number)
{
    BUFFER_AUTO full = {0};
    return path_add_full_name(&full, parent, name) &&
           names_add(&collected->instances, full.data, number,
                     (struct names_more){.has_parent = parent});
}

static void lose(const struct object_columns *collected, struct log_losses *losses,
                 enum log_loss reason, const char *what)
{
    losses_add(losses, reason, 1, "%s\\%s%s\\%s", collected->machine ? collected->machine : "",
               collected->object, collected->has_instances || collected->bracketed ? "(*)" : "",
               what);
}

/* Records that an object or counter cannot be shown because its number has no name. Records a
 * number once, even if many samples have it. Returns false if there is no memory. */
static bool lose_number(struct object_columns *collected, enum log_loss reason, DWORD index)
{
    char text[32];
    uint32_t known = collected->nameless.set.count;
    snprintf(text, sizeof text, "%s %lu", reason == LOSS_OBJECT ? "object" : "number",
             (unsigned long)index);
    if (!names_add(&collected->nameless, text, 0, (struct names_more){0}))
        return false;
    if (collected->nameless.set.count > known)
        lose(collected, &collected->losses, reason, text);
    return true;
}

static bool scan_column(struct object_columns *collected, const struct log_column *column)
{
    bool any = column_is_open(column) &&
               (column->kind == LOG_ARRAY || !column->instance || strpbrk(column->instance, "*?"));
    struct names_more more = {column->kind == LOG_COOKED ? TYPE_DOUBLE : column->type,
                              column->scale, false, column->no_texts};
    collected->bracketed |= any && column->instance;
    collected->has_instances |= !any && column->instance;
    collected->open |= any || column->kind == LOG_BLOCK;
    if (column->counter && strcmp(column->counter, "*") != 0 &&
        !names_add(&collected->counters, column->counter, 0, more))
        return false;
    return !column->instance || any ||
           add_instance(collected, column->parent, column->instance, column->index);
}

/* ---- reading samples ---- */

static bool scan_items(struct object_columns *collected, const struct log_value *value)
{
    struct instance_names here = {0};
    bool good = true;
    for (size_t i = 0; good && i < value->count; i++) {
        const char *name = value->items[i].name;
        collected->bare |= !*name;
        if (!*name)
            continue;
        collected->has_instances = true;
        uint32_t number = item_set_number(&here.set, item_key(name, 0));
        struct names_more more = {.has_parent = strchr(name, '/')};
        good = names_add(&here, name, number, more) &&
               names_add(&collected->instances, name, number, more);
    }
    names_done(&here);
    return good;
}

static bool scan_object(struct object_columns *collected, const char *machine,
                        const struct snapshot *snapshot, const struct snapshot_object *object)
{
    struct log *log = collected->source->log;
    const opl_counter_view *views = snapshot_counters(snapshot, object);
    const struct snapshot_instance *instances = snapshot_instances(snapshot, object);
    bool single = object->view.type.NumInstances == PERF_NO_INSTANCES;
    for (uint32_t i = 0; i < object->counter_count; i++) {
        opl_type_info type;
        const char *name = log_name(log, machine, views[i].definition.CounterNameTitleIndex);
        opl_type_describe(views[i].definition.CounterType, &type);
        struct names_more more = {views[i].definition.CounterType,
                                  (LONG)views[i].definition.DefaultScale, false, false};
        if (type.is_base || views[i].definition.CounterType == PERF_COUNTER_NODATA)
            continue;
        if (name ? !names_add(&collected->counters, name, 0, more)
                 : (single || object->instance_count) &&
                       !lose_number(collected, LOSS_COUNTER,
                                    views[i].definition.CounterNameTitleIndex))
            return false;
    }
    collected->has_instances |= !single;
    collected->bare |= single;
    for (uint32_t i = 0; !single && i < object->instance_count; i++) {
        struct names_more more = {.has_parent = instances[i].name != instances[i].full};
        if (!names_add(&collected->instances, snapshot_full_name(snapshot, &instances[i]),
                       instances[i].number, more))
            return false;
    }
    return true;
}

static bool scan_block(struct object_columns *collected, size_t column,
                       const struct log_value *value)
{
    struct snapshot *snapshot = log_source_block(collected->source, column, value);
    const char *machine = log_column(collected->source->log, column)->machine;
    bool found = false;
    for (uint32_t i = 0; snapshot && i < snapshot->object_count; i++) {
        DWORD index = snapshot->objects[i].view.type.ObjectNameTitleIndex;
        const char *name = log_name(collected->source->log, machine, index);
        if (!name || !text_equal_fold(name, collected->object))
            continue;
        found = true;
        if (!scan_object(collected, machine, snapshot, &snapshot->objects[i]))
            return false;
    }
    if (found || !snapshot || !snapshot->object_count)
        return true;
    /* the block lacks the object: the block's first object is recorded as an object without a name,
     * because the block may have the other objects only as parents of instances */
    return lose_number(collected, LOSS_OBJECT, snapshot->objects[0].view.type.ObjectNameTitleIndex);
}

/* ---- making the object's description ---- */

static void point_to(struct object_info *info, const struct object_columns *from)
{
    char *texts = info->texts.data;
    info->name = texts;
    char *counters = texts + strlen(texts) + 1;
    char *instances = counters + from->counters.set.names.len;
    for (uint32_t i = 0; i < info->counter_count; i++) {
        info->counters[i].name = counters + from->counters.set.items[i].name;
        info->counters[i].type = from->counters.more[i].type;
        info->counters[i].scale = from->counters.more[i].scale;
        info->counters[i].detail = PERF_DETAIL_NOVICE;
    }
    for (uint32_t i = 0; i < info->instance_count; i++) {
        char *full = instances + from->instances.set.items[i].name, *slash = strchr(full, '/');
        bool parted = from->instances.more[i].has_parent && slash;
        info->instances[i].name = parted ? slash + 1 : full;
        info->instances[i].parent = parted ? full : NULL;
        info->instances[i].number = from->instances.set.items[i].number;
        if (parted)
            *slash = '\0';
    }
}

/* Records that the values of counters without a formula cannot be shown, unless the object never
 * had an instance. */
static void lose_types(const struct object_columns *from, struct object_info *info)
{
    if (!info->bare && !info->instance_count)
        return;
    for (uint32_t i = 0; i < info->counter_count; i++)
        if (from->counters.more[i].no_texts)
            lose(from, &info->losses, LOSS_TYPE, info->counters[i].name);
        else if (!formula_known(info->counters[i].type) && !type_is_text(info->counters[i].type))
            lose(from, &info->losses, LOSS_FORMULA, info->counters[i].name);
}

static struct object_info *object_info_of(const struct object_columns *from)
{
    struct object_info *info = object_info_new(from->counters.set.count, from->instances.set.count);
    if (!info)
        return NULL;
    struct buffer *texts = &info->texts;
    buffer_add(texts, from->object, strlen(from->object) + 1);
    buffer_add(texts, from->counters.set.names.data, from->counters.set.names.len);
    buffer_add(texts, from->instances.set.names.data, from->instances.set.names.len);
    if (texts->failed) {
        object_info_unref(info);
        return NULL;
    }
    info->detail = PERF_DETAIL_NOVICE;
    info->single = !from->has_instances && (from->bare || !from->bracketed);
    info->bare = from->bare || info->single;
    info->losses = from->losses;
    info->counter_count = from->counters.set.count;
    info->instance_count = from->instances.set.count;
    point_to(info, from);
    lose_types(from, info);
    if (from->bracketed && from->unreadable && !info->instance_count)
        losses_add(&info->losses, LOSS_VALUE, from->unreadable, "%s\\%s(*)",
                   from->machine ? from->machine : "", from->object);
    return info;
}

/* ---- everything that is only in samples ---- */

struct object_scan {
    uint64_t size; /* size of the capture when it was scanned */
    struct known_object {
        char *machine; /* the machine that was scanned; NULL: all machines */
        struct object_info *info;
    } * list;
    size_t count;
};

void object_scan_free(struct object_scan *scan)
{
    for (size_t i = 0; scan && i < scan->count; i++) {
        free(scan->list[i].machine);
        object_info_unref(scan->list[i].info);
    }
    if (scan)
        free(scan->list);
    free(scan);
}

/* State of a scan: the objects of all columns and of their samples, each object once. */
struct survey {
    struct object_columns *list;
    size_t count;
    size_t *owners; /* for each column: position of its object in `list` + 1; 0: none */
    bool *open;     /* for each column: column_is_open() of it */
    size_t column_count;
};

static void survey_done(struct survey *survey)
{
    for (size_t i = 0; i < survey->count; i++)
        object_columns_done(&survey->list[i]);
    free(survey->list);
    free(survey->owners);
    free(survey->open);
}

static size_t find_object_columns(const struct survey *survey, const struct log_column *column)
{
    for (size_t i = survey->count; i-- > 0;)
        if (is_of(&survey->list[i], column))
            return i + 1;
    return 0;
}

/* Finds the objects of all columns. `any_machine`: objects with the same name on different machines
 * are merged. False: no memory. */
static bool survey_begin(struct survey *survey, struct log_source *source, bool any_machine)
{
    survey->column_count = log_columns(source->log);
    survey->owners = calloc(survey->column_count + 1, sizeof *survey->owners);
    survey->open = calloc(survey->column_count + 1, sizeof *survey->open);
    survey->list = calloc(survey->column_count + 1, sizeof *survey->list);
    bool good = survey->owners && survey->open && survey->list;
    for (size_t i = 0; good && i < survey->column_count; i++) {
        const struct log_column *column = log_column(source->log, i);
        if (!column->object)
            continue;
        size_t owner = find_object_columns(survey, column);
        if (!owner) {
            survey->list[survey->count] = (struct object_columns){
                source, any_machine ? NULL : column->machine, column->object, .open = false};
            owner = ++survey->count;
        }
        survey->owners[i] = owner;
        survey->open[i] = column_is_open(column);
        good = scan_column(&survey->list[owner - 1], column);
    }
    return good;
}

static bool survey_sample(struct survey *survey, const struct log_sample *sample)
{
    bool good = true;
    for (size_t k = 0; good && k < survey->column_count; k++) {
        const struct log_value *value = &sample->values[k];
        bool array = value->kind == LOG_ARRAY;
        if (!survey->owners[k])
            continue;
        struct object_columns *owner = &survey->list[survey->owners[k] - 1];
        if (value->status) {
            owner->unreadable += array && value->status == PDH_CSTATUS_INVALID_DATA;
            continue;
        }
        bool scanned = value->same_names || (value->like_left && !value[-1].status &&
                                             survey->owners[k - 1] == survey->owners[k]);
        if (array && !scanned)
            good = scan_items(owner, value);
        else if (value->kind == LOG_RAW)
            owner->bare |= survey->open[k];
        else if (value->kind == LOG_BLOCK)
            good = scan_block(owner, k, value);
    }
    return good;
}

/* Reads all samples once, but only columns of objects that are `open`. False: no memory. */
static bool survey_samples(struct survey *survey, struct log_source *source)
{
    const struct log_sample *sample;
    bool good = true, open = false;
    PDH_STATUS status = 0;
    for (size_t i = 0; i < survey->column_count; i++) {
        bool wanted = survey->owners[i] && survey->list[survey->owners[i] - 1].open;
        log_want(source->log, i, wanted);
        open |= wanted;
    }
    if (open && !log_rewind(source->log))
        while (good && (!status || status == (PDH_STATUS)PDH_BINARY_LOG_CORRUPT)) {
            status = log_next(source->log, &sample);
            source->samples++;
            good = status || survey_sample(survey, sample);
        }
    for (size_t i = 0; i < survey->column_count; i++)
        log_want(source->log, i, true);
    return good;
}

static bool survey_keep(struct survey *survey, struct object_scan *scan, bool any_machine)
{
    struct known_object *list =
        reallocarray(scan->list, scan->count + survey->count + 1, sizeof *list);
    if (!list)
        return false;
    scan->list = list;
    for (size_t i = 0; i < survey->count; i++) {
        if (!survey->list[i].open)
            continue;
        const char *machine = any_machine ? NULL : survey->list[i].machine;
        struct known_object known = {machine ? strdup(machine) : NULL,
                                     object_info_of(&survey->list[i])};
        if (!known.info || (machine && !known.machine)) {
            free(known.machine);
            object_info_unref(known.info);
            return false;
        }
        scan->list[scan->count++] = known;
    }
    return true;
}

static bool scan_all(struct log_source *source, bool any_machine)
{
    struct survey survey = {0};
    if (!source->scan)
        source->scan = calloc(1, sizeof *source->scan);
    bool good = source->scan && survey_begin(&survey, source, any_machine) &&
                survey_samples(&survey, source) && survey_keep(&survey, source->scan, any_machine);
    survey_done(&survey);
    return good;
}

static bool is_known(const struct known_object *known, const char *machine)
{
    return machine ? known->machine && path_same_machine(machine, known->machine) : !known->machine;
}

static struct object_info *find_known(const struct object_scan *scan, const char *machine,
                                      const char *object)
{
    for (size_t i = 0; scan && i < scan->count; i++) {
        const struct known_object *known = &scan->list[i];
        if (is_known(known, machine) && text_equal_fold(known->info->name, object))
            return object_info_ref(known->info);
    }
    return NULL;
}

/* Drops the result of an earlier scan if the capture has grown since. */
static void forget_old(struct log_source *source)
{
    uint64_t size = log_facts(source->log)->size_bytes;
    if (source->scan && source->scan->size != size) {
        object_scan_free(source->scan);
        source->scan = NULL;
    }
    if (!source->scan)
        source->scan = calloc(1, sizeof *source->scan);
    if (source->scan)
        source->scan->size = size;
}

/* ---- entry points ---- */

/* Whether text counters have texts or numbers is known after the first sample. */
static void read_text_columns(struct log_source *source)
{
    const struct log_sample *sample;
    bool any = false;
    for (size_t i = 0; i < log_columns(source->log); i++)
        any |= type_is_text(log_column(source->log, i)->type);
    if (any && !log_rewind(source->log))
        while (log_next(source->log, &sample) == (PDH_STATUS)PDH_BINARY_LOG_CORRUPT)
            ;
}

/* Describes an object from the columns' names alone. *ret NULL: no column has it, or *ret_open is
 * set, which means that its names are in the samples. Returns false if there is no memory. */
static bool look_at_columns(struct log_source *source, const char *machine, const char *object,
                            bool *ret_open, struct object_info **ret)
{
    struct object_columns collected = {.source = source, .machine = machine, .object = object};
    bool good = true, found = false;
    read_text_columns(source);
    for (size_t i = 0; good && i < log_columns(source->log); i++) {
        const struct log_column *column = log_column(source->log, i);
        if (!is_of(&collected, column))
            continue;
        found = true;
        good = scan_column(&collected, column);
    }
    *ret_open = collected.open;
    *ret = good && found && !collected.open ? object_info_of(&collected) : NULL;
    good = good && (*ret || collected.open || !found);
    object_columns_done(&collected);
    return good;
}

/* Describes an object. *ret NULL: no column has it. */
static PDH_STATUS find_info(struct log_source *source, const char *machine, const char *object,
                            struct object_info **ret)
{
    bool open;
    log_know_columns(source->log);
    if (!look_at_columns(source, machine, object, &open, ret))
        return (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    if (!open)
        return 0;
    forget_old(source);
    *ret = find_known(source->scan, machine, object);
    if (!*ret && !scan_all(source, !machine))
        return (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    if (!*ret)
        *ret = find_known(source->scan, machine, object);
    return 0;
}

PDH_STATUS log_source_info(struct log_source *source, const char *machine, const char *object,
                           struct object_info **ret)
{
    PDH_STATUS status = find_info(source, machine, object, ret);
    return status || *ret ? status : (PDH_STATUS)PDH_CSTATUS_NO_OBJECT;
}

PDH_STATUS log_source_object(struct data_source *source, const char *machine, const char *name,
                             bool english, enum info_age age, struct object_info **ret)
{
    PDH_STATUS status = log_source_info((struct log_source *)source, machine, name, ret);
    if (status)
        return status;
    struct log_losses losses = (*ret)->losses;
    if (age == INFO_AS_RECORDED)
        losses.list[LOSS_FORMULA].count = 0;
    problem_lose(&losses);
    return 0;
}

PDH_STATUS log_source_objects(struct data_source *base, const char *machine, enum info_age age,
                              struct object_infos *ret)
{
    struct log_source *source = (struct log_source *)base;
    struct instance_names objects = {0};
    bool good = true;
    log_know_columns(source->log);
    for (size_t i = 0; good && i < log_columns(source->log); i++) {
        const struct log_column *column = log_column(source->log, i);
        if (column->object && strcmp(column->object, "*") != 0)
            good = names_add(&objects, column->object, 0, (struct names_more){0});
    }
    ret->items = calloc(objects.set.count + 1u, sizeof *ret->items);
    PDH_STATUS status = good && ret->items ? 0 : (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    for (uint32_t i = 0; !status && i < objects.set.count; i++) {
        const char *name = objects.set.names.data + objects.set.items[i].name;
        status = find_info(source, machine, name, &ret->items[ret->count]);
        if (!status && ret->items[ret->count])
            problem_lose(&ret->items[ret->count++]->losses);
    }
    names_done(&objects);
    return status;
}

PDH_STATUS log_source_machines(struct data_source *source, struct buffer *ret)
{
    const struct log *log = ((struct log_source *)source)->log;
    struct instance_names machines = {0};
    bool good = true;
    for (size_t i = 0; good && i < log_columns(log); i++) {
        const char *machine = log_column(log, i)->machine;
        if (machine)
            good = names_add(&machines, machine, 0, (struct names_more){0});
    }
    buffer_add(ret, machines.set.names.data, machines.set.names.len);
    names_done(&machines);
    return good ? 0 : (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
}

/* Appends the machine's name as its columns spell it; `machine` NULL: as the first column does. */
PDH_STATUS log_source_label(struct data_source *source, const char *machine, struct buffer *ret)
{
    const struct log *log = ((struct log_source *)source)->log;
    for (size_t i = 0; i < log_columns(log); i++) {
        const char *label = log_column(log, i)->machine;
        if (label && path_same_machine(machine, label)) {
            buffer_add_text(ret, label);
            return 0;
        }
    }
    return machine ? (PDH_STATUS)PDH_CSTATUS_NO_MACHINE : 0;
}

const struct counter_info *log_source_counter(const struct object_info *info, const char *name,
                                              bool english)
{
    for (uint32_t i = 0; i < info->counter_count; i++)
        if (!info->counters[i].hidden && capture_is_named(name, info->counters[i].name))
            return &info->counters[i];
    return NULL;
}
