/* SPDX-License-Identifier: MIT */
/*
 * Queries on captures: a counter's values are in a column of their own, or in the arrays or blocks
 * of a column. The samples are like live ones, and are cooked by the same formulas.
 */
#include "pdh/log/capture.h"

#include <stdlib.h>
#include <string.h>

/* ---- blocks ---- */

static bool capacity_for_blocks(struct log_source *source, size_t count)
{
    if (count <= source->block_count)
        return true;
    struct capture_block *blocks = reallocarray(source->blocks, count, sizeof *blocks);
    if (!blocks)
        return false;
    memset(blocks + source->block_count, 0, (count - source->block_count) * sizeof *blocks);
    source->blocks = blocks;
    source->block_count = count;
    return true;
}

struct snapshot *log_source_block(struct log_source *source, size_t column,
                                  const struct log_value *value)
{
    if (value->status || value->kind != LOG_BLOCK || !capacity_for_blocks(source, column + 1))
        return NULL;
    struct capture_block *block = &source->blocks[column];
    if (block->sample != source->samples) {
        buffer_clear(&block->snapshot.bytes);
        block->sample = source->samples;
        block->status = (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
        if (buffer_add(&block->snapshot.bytes, value->block, value->size))
            block->status = snapshot_parse(&block->snapshot);
        opl_block_fault fault = block->snapshot.block.fault;
        if (fault != OPL_BLOCK_GOOD && fault != OPL_BLOCK_TRUNCATED)
            losses_add(log_losses(source->log), LOSS_BLOCK, 1, "%.56s: %s",
                       log_column(source->log, column)->path, opl_block_fault_text(fault));
    }
    return block->status ? NULL : &block->snapshot;
}

/* ---- the columns of a counter ---- */

static struct log_member *in_log(const struct counter *counter)
{
    return (struct log_member *)counter;
}

void log_source_counter_done(struct counter *counter)
{
    free(in_log(counter)->columns);
}

static bool is_any(const char *text)
{
    return !text || !strcmp(text, "*");
}

bool column_is_open(const struct log_column *column)
{
    return column->kind == LOG_ARRAY || column->kind == LOG_BLOCK ||
           (column->kind == LOG_RAW && column->instance && is_any(column->instance));
}

bool capture_is_named(const char *wanted, const char *name)
{
    uint32_t number;
    return text_equal_fold(wanted, name) ||
           (text_decimal(wanted, strlen(wanted), &number) && live_is_numbered(name, number));
}

/* True if the column may have the wanted name. A column named "*" always may, because only its
 * samples have the names. */
static bool name_fits(const char *wanted, const char *column)
{
    return column && (!strcmp(column, "*") || capture_is_named(wanted, column));
}

bool column_has_instance(const struct log_column *column, const struct pdh_path *path)
{
    if (column_is_open(column))
        return true;
    if (!path->whole || !column->instance)
        return !path->whole && !column->instance;
    return path_match_instance(path, column->parent, column->instance, column->index);
}

/* Returns the bucket for an object, counter and instance. A capture may have ten thousand columns,
 * and a query as many counters, so columns are found by a hash table. Bucket 0 has the columns with
 * a "*". */
static size_t place_of(const struct log_source *source, const char *object, const char *counter,
                       uint64_t instance_hash)
{
    uint64_t hash = instance_hash * 31 + text_hash_fold(object, strlen(object));
    hash = hash * 31 + text_hash_fold(counter, strlen(counter));
    return 1 + hash % (source->places - 1);
}

static size_t place_of_column(const struct log_source *source, const struct log_column *column)
{
    BUFFER_AUTO full = {0};
    if (is_any(column->object) || is_any(column->counter) || column_is_open(column))
        return 0;
    if (!column->instance)
        return place_of(source, column->object, column->counter, 0);
    return !path_add_full_name(&full, column->parent, column->instance)
               ? 0
               : place_of(source, column->object, column->counter,
                          text_hash_fold(full.data, full.len));
}

static bool index_columns(struct log_source *source)
{
    size_t count = log_columns(source->log);
    if (source->indexed == count && source->first_column)
        return true;
    free(source->first_column);
    free(source->next_column);
    source->places = count * 2 + 2;
    source->first_column = calloc(source->places, sizeof *source->first_column);
    source->next_column = calloc(count + 1, sizeof *source->next_column);
    source->indexed = count;
    if (!source->first_column || !source->next_column)
        return false;
    for (size_t i = count; i-- > 0;) { /* from last to first, so that each chain is in order */
        size_t place = place_of_column(source, log_column(source->log, i));
        source->next_column[i] = source->first_column[place];
        source->first_column[place] = (uint32_t)i + 1;
    }
    return true;
}

static bool add_column(struct counter *counter, uint32_t number)
{
    struct log_member *member = in_log(counter);
    uint32_t *columns = reallocarray(member->columns, member->column_count + 1u, sizeof *columns);
    if (!columns)
        return false;
    member->columns = columns;
    columns[member->column_count++] = number;
    return true;
}

static void want_columns(struct log_source *source, const struct counter *counter)
{
    if (!source->limited)
        for (size_t i = 0; i < log_columns(source->log); i++)
            log_want(source->log, i, false);
    bool unread = !source->limited && !source->samples;
    source->limited = true;
    for (uint32_t i = 0; i < in_log(counter)->column_count; i++)
        log_want(source->log, in_log(counter)->columns[i], true);
    if (unread) /* the first sample was read in advance, and counted the losses of all columns */
        log_rewind(source->log);
}

/* Takes the type from the column. Columns of text files have no type, because their numbers are
 * cooked already. */
static void take_type(struct counter *counter, const struct log_column *column)
{
    counter->type = column->kind == LOG_COOKED ? TYPE_DOUBLE : column->type;
    counter->time_base = column->time_base;
    counter->default_scale = column->scale;
}

static bool column_fits(const struct counter *counter, const struct log_column *column)
{
    const struct pdh_path *path = &counter->path;
    return path_same_machine(path->machine, column->machine) &&
           name_fits(path->object, column->object) && name_fits(path->counter, column->counter);
}

/* Adds the column if the counter's path matches it. False: no memory. */
static bool take_column(struct counter *counter, uint32_t number)
{
    const struct log_column *column = log_column(log_source_of(counter)->log, number);
    if (!column_fits(counter, column) || !column_has_instance(column, &counter->path))
        return true;
    if (!in_log(counter)->column_count)
        take_type(counter, column);
    return add_column(counter, number);
}

static bool take_place(struct counter *counter, size_t place)
{
    const struct log_source *source = log_source_of(counter);
    bool good = true;
    for (uint32_t at = source->first_column[place]; good && at; at = source->next_column[at - 1])
        good = take_column(counter, at - 1);
    return good;
}

static bool is_number(const char *name)
{
    uint32_t number;
    return text_decimal(name, strlen(name), &number);
}

/* Finds the counter's columns. A wildcard or a number is compared with all columns, any other name
 * only with the columns of its bucket and of bucket 0 (place_of). False: no memory. */
static bool take_columns(struct counter *counter)
{
    const struct log_source *source = log_source_of(counter);
    const struct pdh_path *path = &counter->path;
    bool good = true;
    if (counter->wild || is_number(path->object) || is_number(path->counter)) {
        for (size_t i = 0; good && i < source->indexed; i++)
            good = take_column(counter, (uint32_t)i);
        return good;
    }
    if (!path->whole)
        good = take_place(counter, place_of(source, path->object, path->counter, 0));
    for (unsigned k = 0; good && k < counter->key_count && !in_log(counter)->column_count; k++)
        good = take_place(counter,
                          place_of(source, path->object, path->counter, counter->keys[k].hash));
    return good && take_place(counter, 0);
}

/* Returns the status for what the capture lacks: object or counter; 0 if only the instance is
 * missing, because a later file may have it. */
static PDH_STATUS what_is_missing(const struct counter *counter)
{
    const struct log *log = log_source_of(counter)->log;
    bool object = false;
    for (size_t i = 0; i < log_columns(log); i++) {
        const struct log_column *column = log_column(log, i);
        if (column_fits(counter, column))
            return 0;
        object |= path_same_machine(counter->path.machine, column->machine) &&
                  name_fits(counter->path.object, column->object);
    }
    return object ? (PDH_STATUS)PDH_CSTATUS_NO_COUNTER : (PDH_STATUS)PDH_CSTATUS_NO_OBJECT;
}

PDH_STATUS log_source_resolve(struct counter *counter)
{
    struct log_source *source = log_source_of(counter);
    bool good = index_columns(source) && take_columns(counter);
    if (good && !in_log(counter)->column_count) { /* a later catalogue may have its columns */
        log_know_columns(source->log);
        good = index_columns(source) && take_columns(counter);
    }
    if (!good)
        return (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    if (!in_log(counter)->column_count)
        return what_is_missing(counter);
    want_columns(source, counter);
    return 0;
}

const char *log_source_machine(const struct counter *counter)
{
    struct log_source *source = log_source_of(counter);
    const struct log_facts *facts = log_facts(source->log);
    if (in_log(counter)->column_count)
        return log_column(source->log, in_log(counter)->columns[0])->machine;
    return facts->machine;
}

/* ---- one sample ---- */

struct sample log_item_sample(const struct log_value *value, const struct log_item *item)
{
    struct sample sample = {.raw = value->raw};
    sample.raw.FirstValue = item->first;
    sample.raw.SecondValue = item->second;
    sample.raw.MultiCount = item->multi;
    return sample;
}

static struct sample sample_of_number(double number, LONGLONG time)
{
    struct sample sample = sample_at(time, PDH_CSTATUS_VALID_DATA);
    memcpy(&sample.raw.FirstValue, &number, sizeof number);
    return sample;
}

/* Adds the items of an array. Equal names are numbered from 0; names that the path does not match
 * are counted, too. The set of the counter before usually begins with the same names, which then
 * have the same numbers. */
static void take_items(struct counter *counter, const struct log_value *value,
                       struct sample_set *set)
{
    bool each = counter->path.whole && !strcmp(counter->path.whole, "*");
    struct log_source *source = log_source_of(counter);
    struct item_set *all = each ? sample_set_items(set) : &source->numbering;
    const struct item_set *like = set->count ? NULL : source->like;
    if (!all)
        return;
    if (!each)
        item_set_clear(all);
    for (size_t i = 0; i < value->count; i++) {
        const struct sample sample = log_item_sample(value, &value->items[i]);
        const char *name = value->items[i].name;
        struct instance_key key;
        if (!item_add_name(all, name, &like, &key) || (each && !sample_set_push(set, &sample)))
            return;
        if (!each && path_match_full(&counter->path, name, key.number))
            sample_add(set, &key, &sample);
    }
    if (each)
        source->like = all;
}

/* Returns the names in the column's array as a hash table, which is made once for each sample.
 * NULL: no memory. */
static struct item_set *names_of(struct log_source *source, uint32_t column,
                                 const struct log_value *value)
{
    if (!capacity_for_blocks(source, column + 1u))
        return NULL;
    struct capture_block *block = &source->blocks[column];
    struct item_set *set = &block->items;
    bool same = block->items_sample == source->samples ||
                (value->same_names && block->items_sample + 1 == source->samples);
    block->items_sample = source->samples;
    if (same)
        return set;
    item_set_clear(set);
    for (size_t i = 0; i < value->count; i++) {
        const struct item_set *like = NULL;
        struct instance_key key;
        if (!item_add_name(set, value->items[i].name, &like, &key)) {
            block->items_sample = 0;
            return NULL;
        }
    }
    return set;
}

static const struct log_item *find_item(struct counter *counter, uint32_t column,
                                        const struct log_value *value)
{
    struct item_set *set = names_of(log_source_of(counter), column, value);
    const struct sample_item *found = NULL;
    const struct instance_key single = item_key("", 0);
    if (set && !counter->path.whole)
        found = item_find_key(set, &single, counter->position);
    for (unsigned k = 0; set && !found && k < counter->key_count; k++)
        found = item_find_key(set, &counter->keys[k], counter->position);
    if (!found)
        return NULL;
    counter->position = (uint32_t)(found - set->items);
    return &value->items[counter->position];
}

/* ---- a value in a whole block ---- */

static bool is_named(const struct counter *counter, const char *machine, DWORD index,
                     const char *wanted)
{
    const char *name = log_name(log_source_of(counter)->log, machine, index);
    uint32_t number;
    return (name && text_equal_fold(name, wanted)) ||
           (text_decimal(wanted, strlen(wanted), &number) && number == index);
}

static const struct snapshot_object *find_object(const struct counter *counter, const char *machine,
                                                 const struct snapshot *snapshot)
{
    for (uint32_t i = 0; i < snapshot->object_count; i++)
        if (is_named(counter, machine, snapshot->objects[i].view.type.ObjectNameTitleIndex,
                     counter->path.object))
            return &snapshot->objects[i];
    return NULL;
}

static const opl_counter_view *find_definition(struct counter *counter, const char *machine,
                                               const struct snapshot *snapshot,
                                               const struct snapshot_object *object)
{
    const opl_counter_view *views = snapshot_counters(snapshot, object);
    for (uint32_t i = 0; i < object->counter_count; i++) {
        opl_type_info type;
        opl_type_describe(views[i].definition.CounterType, &type);
        if (type.is_base || !is_named(counter, machine, views[i].definition.CounterNameTitleIndex,
                                      counter->path.counter))
            continue;
        counter->type = views[i].definition.CounterType;
        counter->object = object->view.type.ObjectNameTitleIndex;
        counter->title = views[i].definition.CounterNameTitleIndex;
        counter->default_scale = (LONG)views[i].definition.DefaultScale;
        return &views[i];
    }
    return NULL;
}

/* Stores the counter's value from a block in *ret; the values of a wildcard counter go into the
 * counter's next set of samples. */
static void take_block(struct counter *counter, uint32_t column, const struct log_value *value,
                       LONGLONG time, struct sample *ret)
{
    struct log_source *source = log_source_of(counter);
    struct snapshot *snapshot = log_source_block(source, column, value);
    const char *machine = log_column(source->log, column)->machine;
    const struct snapshot_object *object =
        snapshot ? find_object(counter, machine, snapshot) : NULL;
    const opl_counter_view *definition =
        object ? find_definition(counter, machine, snapshot, object) : NULL;
    ret->raw.CStatus = !snapshot ? PDH_CSTATUS_INVALID_DATA
                       : !object ? PDH_CSTATUS_NO_OBJECT
                                 : PDH_CSTATUS_NO_COUNTER;
    if (!definition)
        return;
    *ret = sample_at(time, PDH_CSTATUS_VALID_DATA);
    if (counter->wild)
        sample_all(counter, snapshot, object, definition, ret, NULL);
    else
        sample_one(counter, snapshot, object, definition, ret);
    if (ret->raw.CStatus == PDH_CSTATUS_INVALID_DATA && !type_is_text(counter->type))
        losses_add(log_losses(source->log), LOSS_VALUE, 1, "%s\\%s(%s)\\%s", machine ? machine : "",
                   counter->path.object, counter->path.whole ? counter->path.whole : "",
                   counter->path.counter);
}

/* ---- one counter ---- */

/* Adds a column's items to the next set of samples of a wildcard counter. */
static void sample_column(struct counter *counter, uint32_t number, const struct log_sample *from,
                          struct sample_set *set)
{
    struct log_source *source = log_source_of(counter);
    const struct log_value *value = &from->values[number];
    const struct log_column *column = log_column(source->log, number);
    struct sample sample = {.raw = value->raw};
    if (value->status)
        return;
    if (value->kind == LOG_ARRAY)
        take_items(counter, value, set);
    else if (value->kind == LOG_BLOCK)
        take_block(counter, number, value, from->time, &sample);
    else if (column->instance) {
        if (value->kind == LOG_COOKED)
            sample = sample_of_number(value->number, from->time);
        BUFFER_AUTO name = {0};
        if (!path_add_full_name(&name, column->parent, column->instance))
            return;
        const struct instance_key key = item_key(name.data, column->index);
        sample_add(set, &key, &sample);
    }
}

static struct sample sample_of_column(struct counter *counter, uint32_t number,
                                      const struct log_sample *from)
{
    const struct log_value *value = &from->values[number];
    struct sample sample = sample_at(from->time, value->status);
    const struct log_column *column = log_column(log_source_of(counter)->log, number);
    const struct log_item *item;
    if (value->status)
        return sample;
    switch (value->kind) {
    case LOG_RAW:
        if (column_is_open(column) && counter->path.whole)
            return sample_at(from->time, PDH_CSTATUS_NO_INSTANCE);
        sample.raw = value->raw;
        return sample;
    case LOG_COOKED:
        return sample_of_number(value->number, from->time);
    case LOG_ARRAY:
        item = find_item(counter, number, value);
        return item ? log_item_sample(value, item) : sample_at(from->time, PDH_CSTATUS_NO_INSTANCE);
    default:
        take_block(counter, number, value, from->time, &sample);
        return sample;
    }
}

/* Drops the newest sample if it is from a file without the counter (a source may have several
 * files), so that the next rate is computed from the sample before it. */
static void pass_other_file(struct counter *counter)
{
    if (counter->newest.raw.CStatus == PDH_ENTRY_NOT_IN_LOG_FILE && counter->collected > 1)
        counter->newest = counter->before;
}

/* Fills the newest set of a wildcard. The set of a file that lacks the counter is dropped, too. */
static void sample_wild(struct counter *counter, const struct log_sample *from)
{
    if (counter->absent && formula_needs_two(counter->type))
        counter->turn = !counter->turn;
    struct sample_set *set = counter_next_set(counter);
    counter->absent = true;
    for (uint32_t i = 0; i < in_log(counter)->column_count; i++) {
        sample_column(counter, in_log(counter)->columns[i], from, set);
        counter->absent &=
            from->values[in_log(counter)->columns[i]].status == (DWORD)PDH_ENTRY_NOT_IN_LOG_FILE;
    }
    counter_sampled_set(counter, true);
}

static void sample_counter(struct counter *counter, const struct log_sample *from)
{
    if (counter->wild) {
        sample_wild(counter, from);
        return;
    }
    struct sample sample = sample_at(from->time, PDH_CSTATUS_NO_INSTANCE);
    bool good = false;
    counter_next_set(counter);
    for (uint32_t i = 0; i < in_log(counter)->column_count && !good; i++) {
        sample = sample_of_column(counter, in_log(counter)->columns[i], from);
        good = sample.raw.CStatus <= PDH_CSTATUS_NEW_DATA;
    }
    pass_other_file(counter);
    counter_sampled(counter, &sample, true);
}

/* Assigns to the counters the columns that were added to the capture when data was appended to it.
 * False: no memory. */
static bool join_new_columns(struct pdh_query *query)
{
    struct log_source *source = (struct log_source *)query->source;
    size_t known = source->indexed, count = log_columns(source->log);
    if (known == count)
        return true;
    bool good = index_columns(source);
    for (size_t i = known; good && i < count; i++) {
        bool wanted = !source->limited;
        for (uint32_t k = 0; good && k < query->counter_count; k++) {
            struct counter *counter = query->counters[k];
            uint32_t before = in_log(counter)->column_count;
            good = take_column(counter, (uint32_t)i);
            wanted |= in_log(counter)->column_count > before;
        }
        log_want(source->log, i, wanted);
    }
    return good;
}

static PDH_STATUS collect_one(struct pdh_query *query, const struct log_sample **ret)
{
    struct log_source *source = (struct log_source *)query->source;
    problem_clear();
    PDH_STATUS status = log_next(source->log, ret);
    problem_note(log_problem(source->log));
    if (status == (PDH_STATUS)PDH_NO_MORE_DATA)
        problem_lose(log_losses(source->log));
    if (status)
        return status;
    const char *comment = (*ret)->early ? NULL : (*ret)->text;
    if (comment && comment[strspn(comment, " ")])
        losses_add(log_losses(source->log), LOSS_COMMENT, 1, "'%.60s'", comment);
    source->samples++;
    lock_take(&query->lock);
    source->like = NULL;
    if (!join_new_columns(query))
        status = (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    for (uint32_t i = 0; !status && i < query->counter_count; i++)
        sample_counter(query->counters[i], *ret);
    lock_release(&query->lock);
    return status;
}

/* Takes the next sample in the query's range of time. Samples before the range are read only
 * because its first rate needs the sample before. (docs/windows/tools.md#g2) */
PDH_STATUS log_source_collect(struct pdh_query *query, LONGLONG *ret_time)
{
    const struct log_sample *sample = NULL;
    PDH_STATUS status = query->counter_count ? 0 : (PDH_STATUS)PDH_NO_DATA;
    while (!status && (!sample || sample->early))
        status = collect_one(query, &sample);
    if (!status && ret_time)
        *ret_time = sample->time;
    return status;
}
