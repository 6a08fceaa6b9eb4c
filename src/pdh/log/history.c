/* SPDX-License-Identifier: MIT */
/* The values of a counter over a long time, from a set's captures. */
#include "pdh/log/capture.h"
#include "pdh/pdh.h"

#include <openperflib/unstable.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ITEMS_MOST = 1024, FORMAT = PDH_FMT_DOUBLE | PDH_FMT_NOCAP100 | PDH_FMT_NOSCALE };

struct opl_history {
    struct log *log;
    struct buffer lost;
};

/* The newest sample of an instance. */
struct past {
    char *name;      /* with its number, as "a#1" */
    uint32_t number; /* among equal names, in an array */
    size_t at;       /* its position in the array */
    LONGLONG time;   /* UTC */
    PDH_RAW_COUNTER raw;
};
/* The newest samples of a column: one, or those of its array in the array's order. */
struct line {
    size_t column;
    struct past *list;
    size_t count;
    struct item_set names; /* those of the newest array that the path may match */
};
struct search {
    const struct pdh_path *path;
    struct log *log;
    struct line *lines;
    size_t count;
    struct item_set names; /* of a line while its names are replaced */
    int64_t from, to;
    opl_history_found found;
    void *context;
    bool stop;
};

/* ---- opening ---- */

opl_history *opl_history_open(const char *set)
{
    BUFFER_AUTO problem = {0};
    struct opl_history *history = calloc(1, sizeof *history);
    problem_clear();
    if (!history)
        return NULL;
    if (!log_open(&(const char *){set}, 1, &history->log, &problem))
        return history;
    problem_note(problem.data);
    opl_history_close(history);
    return NULL;
}

void opl_history_close(opl_history *history)
{
    if (!history)
        return;
    log_close(history->log);
    buffer_done(&history->lost);
    free(history);
}

bool opl_history_is_current(const opl_history *history)
{
    return captures_are_current(history->log);
}

const char *opl_history_lost(opl_history *history)
{
    buffer_clear(&history->lost);
    losses_print(log_losses(history->log), &history->lost);
    return history->lost.len ? history->lost.data : "";
}

bool opl_captures_folder(const char *name, char *ret, size_t capacity, bool *ret_own)
{
    return log_captures_folder(name, ret, capacity, ret_own);
}

/* ---- values ---- */

static bool is_good(const PDH_RAW_COUNTER *raw)
{
    return raw->CStatus == PDH_CSTATUS_VALID_DATA || raw->CStatus == PDH_CSTATUS_NEW_DATA;
}

static double cook(const struct log_column *column, const PDH_RAW_COUNTER *newest,
                   const PDH_RAW_COUNTER *before)
{
    PDH_FMT_COUNTERVALUE value;
    if (!is_good(newest) || !formula_known(column->type))
        return NAN;
    if (formula_needs_two(column->type) && (!before || !is_good(before)))
        return NAN;
    PDH_STATUS status =
        format_scaled(column->type, FORMAT, &column->time_base, newest, before, 0, &value);
    return status ? NAN : value.doubleValue;
}

/* Passes a value to the caller, and keeps the sample, which the next value needs. */
static void report(struct search *search, const struct log_column *column, struct past *past,
                   const PDH_RAW_COUNTER *raw, LONGLONG utc)
{
    double value = cook(column, raw, past->time ? &past->raw : NULL);
    if (utc >= search->from && utc <= search->to)
        search->stop |= !search->found(search->context, past->name, past->time, utc, value);
    past->raw = *raw;
    past->time = utc;
}

static void drop_names(struct line *line)
{
    for (size_t i = 0; i < line->count; i++)
        free(line->list[i].name);
    line->count = 0;
}

static void drop_past(struct line *line)
{
    drop_names(line);
    free(line->list);
    line->list = NULL;
}

/* Returns the name with its number, for which `memory` may be used. NULL: no memory. */
static const char *numbered(struct buffer *memory, const char *name, uint32_t number)
{
    if (!number)
        return name;
    return buffer_printf(memory, "%s#%u", name, number) ? memory->data : NULL;
}

/* Takes the sample of the instance with this name out of a list. `number`: its number among equal
 * names; `hint`: its probable position. */
static struct past take_past(struct line *line, const char *name, uint32_t number, size_t hint)
{
    for (size_t i = 0; i < line->count; i++) {
        struct past *past = &line->list[(hint + i) % line->count];
        struct past taken = *past;
        if (!past->name || past->number != number || strcmp(past->name, name) != 0)
            continue;
        past->name = NULL;
        return taken;
    }
    return (struct past){.name = strdup(name), .number = number};
}

/* Adds an item of the array to the list, with its sample in the old list. */
static void take_name(const struct search *search, struct line *line, struct line *old,
                      const struct instance_key *key, size_t at)
{
    BUFFER_AUTO memory = {0};
    const char *name = numbered(&memory, key->name, key->number);
    if (line->count && !path_has_any_instance(search->path)) {
        if (key->number) /* as in a query, "a#1" is the second "a" only if none is named "a#1" */
            return;
        drop_names(line);
    }
    if (!name)
        return;
    struct past past = take_past(old, name, key->number, line->count);
    past.at = at;
    if (past.name)
        line->list[line->count++] = past;
}

/* True if the path matches the name with some number. */
static bool may_match(const struct pdh_path *path, const char *name)
{
    return path_match_full(path, name, 0) ||
           (path->index != PATH_NO_INDEX && path_match_full(path, name, path->index));
}

/* Replaces the list by the array's items that match. Items that were in the list keep their
 * samples. Only names that may match are numbered, which takes longer than comparing them. */
static void take_names(struct search *search, struct line *line, const struct log_value *value)
{
    struct line old = *line;
    const struct item_set *like = &old.names;
    struct instance_key key;
    line->list =
        calloc(value->count < ITEMS_MOST ? value->count + 1 : ITEMS_MOST, sizeof *old.list);
    line->count = 0;
    item_set_clear(&search->names);
    for (size_t i = 0; line->list && i < value->count && line->count < ITEMS_MOST; i++) {
        const char *name = value->items[i].name;
        if (!may_match(search->path, name))
            continue;
        if (!item_add_name(&search->names, name, &like, &key))
            break;
        if (path_match_full(search->path, name, key.number))
            take_name(search, line, &old, &key, i);
    }
    line->names = search->names;
    search->names = old.names; /* its memory is used again */
    drop_past(&old);
}

static void take_array(struct search *search, struct line *line, const struct log_column *column,
                       const struct log_value *value, LONGLONG utc)
{
    if (!value->same_names || !line->list)
        take_names(search, line, value);
    for (size_t i = 0; i < line->count && !search->stop; i++) {
        struct past *past = &line->list[i];
        const struct sample sample = log_item_sample(value, &value->items[past->at]);
        report(search, column, past, &sample.raw, utc);
    }
}

static void take_one(struct search *search, struct line *line, const struct log_column *column,
                     const struct log_value *value, LONGLONG utc)
{
    PDH_RAW_COUNTER raw = value->raw;
    if (!line->list) {
        BUFFER_AUTO full = {0}, memory = {0};
        line->list = calloc(1, sizeof *line->list);
        if (!line->list ||
            (column->instance && !path_add_full_name(&full, column->parent, column->instance)))
            return;
        const char *name = numbered(&memory, full.data ? full.data : "", column->index);
        line->list->name = name ? strdup(name) : NULL;
        line->count = line->list->name ? 1 : 0;
    }
    if (value->kind == LOG_COOKED) {
        if (utc >= search->from && utc <= search->to)
            search->stop |=
                !search->found(search->context, line->list->name, utc, utc, value->number);
    } else if (line->count) {
        report(search, column, line->list, &raw, utc);
    }
}

static bool take(void *context, const struct log_sample *sample, LONGLONG utc, bool first)
{
    struct search *search = context;
    for (size_t i = 0; i < search->count && !search->stop; i++) {
        struct line *line = &search->lines[i];
        const struct log_column *column = log_column(search->log, line->column);
        const struct log_value *value = &sample->values[line->column];
        if (first)
            drop_past(line);
        if (value->status)
            continue;
        if (value->kind == LOG_ARRAY)
            take_array(search, line, column, value, utc);
        else if (value->kind != LOG_BLOCK)
            take_one(search, line, column, value, utc);
    }
    return !search->stop;
}

/* ---- columns ---- */

static bool matches(const struct pdh_path *path, const struct log_column *column)
{
    return column->object && column->counter && capture_is_named(path->object, column->object) &&
           capture_is_named(path->counter, column->counter) &&
           (path->whole || !column_is_open(column)) && column_has_instance(column, path);
}

static PDH_STATUS find_columns(struct search *search)
{
    size_t count = log_columns(search->log);
    search->lines = calloc(count + 1, sizeof *search->lines);
    if (!search->lines)
        return (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    for (size_t i = 0; i < count; i++) {
        bool wanted = matches(search->path, log_column(search->log, i));
        log_want(search->log, i, wanted);
        if (wanted)
            search->lines[search->count++].column = i;
    }
    return search->count ? 0 : (PDH_STATUS)PDH_CSTATUS_NO_COUNTER;
}

int32_t opl_history_read(opl_history *history, const char *path, int64_t from, int64_t to,
                         int64_t step, opl_history_found found, void *context)
{
    PATH_AUTO parts = {0};
    struct search search = {.path = &parts,
                            .log = history->log,
                            .from = from,
                            .to = to,
                            .found = found,
                            .context = context};
    const struct log_skim skim = {from, to, step, take, &search};
    PDH_STATUS status = path_parse(path, &parts);
    if (!status)
        status = find_columns(&search);
    if (!status)
        status = log_skim(history->log, &skim);
    for (size_t i = 0; i < search.count; i++) {
        drop_past(&search.lines[i]);
        item_set_done(&search.lines[i].names);
    }
    free(search.lines);
    item_set_done(&search.names);
    return status;
}
