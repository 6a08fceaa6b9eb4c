/* SPDX-License-Identifier: MIT */
/* Reads the lines of processes from their tables, for perfmon and for the page. */
#include "process-list.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* MOST_MISSED: samples that may come between two readings; START_EXACT: how exactly the start of a
 * process is known, in seconds */
enum { MOST_MISSED = 2, START_EXACT = 1 };

/* clang-format off */
#define COLUMNS(object) { \
    [PID] = "\\" object "(*)\\ID Process", \
    [CPU] = "\\" object "(*)\\% Processor Time", \
    [TIME] = MODEL_RAW "\\" object "(*)\\% Processor Time", \
    [MEMORY] = "\\" object "(*)\\Working Set", \
    [READ] = "\\" object "(*)\\IO Disk Read Bytes/sec", \
    [WRITTEN] = "\\" object "(*)\\IO Disk Write Bytes/sec", \
    [THREADS] = "\\" object "(*)\\Thread Count", \
    [ELAPSED] = "\\" object "(*)\\Elapsed Time", \
    [PARENT] = "\\" object "(*)\\Creating Process ID"}
/* clang-format on */

bool process_list_begin(struct process_list *list, struct model *model, size_t source)
{
    static const char *const paths[PROCESS_VALUES] = COLUMNS("Process V2"),
                             *const classic[PROCESS_VALUES] = COLUMNS("Process");
    static const char *const texts[TEXTS] = {
        [USER] = "\\Process Details(*)\\User",
        [STATE] = "\\Process Details(*)\\State",
        [UNIT] = "\\Process Details(*)\\Unit",
        [GROUP] = "\\Process Details(*)\\Control Group",
        [COMMAND] = "\\Process Details(*)\\Command Line",
    };
    static const char *const busy[] = {"\\Processor(*)\\% User Time",
                                       "\\Processor(*)\\% Privileged Time"};
    *list = (struct process_list){.model = model, .source = source, .ended = ended_new()};
    if (!list->ended)
        return false;
    list->table = model_add_table(model, source, paths, PROCESS_VALUES, false);
    struct model_source of;
    model_source(model, source, &of);
    if (of.capture)
        list->classic = model_add_table(model, source, classic, PROCESS_VALUES, false);
    list->processors = model_add_table(model, source, busy, 2, false);
    list->texts = model_add_texts(model, source, texts, TEXTS);
    return true;
}

void process_list_end(struct process_list *list)
{
    model_remove_table(list->model, list->table);
    model_remove_table(list->model, list->classic);
    model_remove_table(list->model, list->texts);
    model_remove_table(list->model, list->io);
    model_remove_table(list->model, list->processors);
    model_remove_table(list->model, list->limits);
    process_list_want_children(list, false);
    ended_free(list->ended);
    free(list->lines);
    free(list->limit_values);
}

void process_list_rest(struct process_list *list, bool rest)
{
    model_rest(list->model, list->table, rest);
    model_rest(list->model, list->classic, rest);
    model_rest(list->model, list->texts, rest);
    model_rest(list->model, list->io, rest);
    model_rest(list->model, list->limits, rest);
    model_rest(list->model, list->with_children, rest);
}

void process_list_want_limits(struct process_list *list, bool wanted)
{
    if (wanted && !list->limits)
        list->limits = group_add_limits(list->model, list->source);
    if (wanted)
        return;
    model_remove_table(list->model, list->limits);
    list->limits = 0;
}

void process_list_want_children(struct process_list *list, bool wanted)
{
    static const char *const paths[] = {
        "\\Process IO(*)\\ID Process",
        MODEL_RAW "\\Process IO(*)\\IO Disk Read Bytes with Children/sec",
        MODEL_RAW "\\Process IO(*)\\IO Disk Write Bytes with Children/sec"};
    if (wanted == (list->with_children != 0))
        return;
    model_remove_table(list->model, list->with_children);
    children_free(list->children);
    list->children = wanted ? children_new() : NULL;
    list->with_children =
        list->children ? model_add_table(list->model, list->source, paths, 3, false) : 0;
}

static bool reserve(struct process_list *list, size_t count)
{
    if (count <= list->line_capacity)
        return true;
    struct line *lines = realloc(list->lines, count * sizeof *lines);
    if (!lines)
        return false;
    list->lines = lines;
    list->line_capacity = count;
    return true;
}

/* Sets the line's bytes read and written from Process IO. The object Process has these bytes only
 * if this user may read them for all processes. Both objects have the processes in the order of
 * process numbers, so the search begins at *at, the row after the last one found. */
static void read_bytes(const struct table *io, struct line *line, size_t *at)
{
    for (size_t i = 0; io && i < io->row_count; i++) {
        size_t row = (*at + i) % io->row_count;
        if (table_cell(io, row, 0)->number == line->values[PID]) {
            line->values[READ] = table_cell(io, row, 1)->number;
            line->values[WRITTEN] = table_cell(io, row, 2)->number;
            *at = row + 1;
            return;
        }
    }
}

const struct table *process_list_table(const struct process_list *list)
{
    const struct table *table = model_table(list->model, list->table);
    const struct table *classic = model_table(list->model, list->classic);
    bool known = table && table->row_count && !table->columns[PID].status;
    return classic && classic->row_count && !known ? classic : table;
}

/* Names of Process V2 end in the number of the process; those of Process may end in that of the
 * instance among equal names, such as #1. */
static void fill_line(const struct process_list *list, const struct table *table, size_t row,
                      struct line *ret)
{
    const char *name = table->rows[row].name;
    const char *number = strrchr(name, table->id == list->classic ? '#' : ':');
    *ret = (struct line){.name = name,
                         .name_length = number ? (size_t)(number - name) : strlen(name),
                         .identity = table->rows[row].identity,
                         .members = 1};
    for (size_t c = 0; c < PROCESS_VALUES; c++)
        ret->values[c] = table_cell(table, row, c)->number;
    ret->values[TIME] /= 1e7;
}

/* Sets the line's texts. Those that were read before the process began are those of an earlier
 * process with its name and number. */
static void find_texts(const struct table *details, const struct table *table, struct line *line,
                       size_t *at)
{
    line->texts = table_texts(details, line->name, at);
    if (line->texts && details->at > 0 && /* not texts of a capture */
        table->at - line->values[ELAPSED] > details->at + START_EXACT)
        line->texts = NULL;
}

void process_list_line(const struct process_list *list, const struct table *table, size_t row,
                       struct line *ret)
{
    size_t at = 0;
    fill_line(list, table, row, ret);
    find_texts(model_table(list->model, list->texts), table, ret, &at);
}

static void read_lines(struct process_list *list, const struct table *table)
{
    const struct table *details = model_table(list->model, list->texts);
    const struct table *io = model_table(list->model, list->io);
    size_t at = 0, io_at = 0;
    list->line_count = 0;
    if (!reserve(list, table->row_count))
        return;
    for (size_t r = 0; r < table->row_count; r++) {
        struct line *line = &list->lines[list->line_count];
        fill_line(list, table, r, line);
        find_texts(details, table, line, &at);
        if (isnan(line->values[WRITTEN]))
            read_bytes(io, line, &io_at);
        /* _Total and Idle, whose number is 0, are not listed */
        list->line_count += line->values[PID] > 0;
    }
}

/* Passes each new sample to list->ended, which finds the time that no process explains. */
static void take_ended(struct process_list *list, const struct table *table)
{
    const struct table *of = model_table(list->model, list->processors);
    unsigned count = 0;
    double busy = 0;
    uint64_t taken = list->ended_tick;
    if (list->ended_at == table->at) /* a capture that is read again has the same ticks again */
        return;
    list->ended_tick = table->tick;
    struct model_source source;
    model_source(list->model, list->source, &source);
    struct ended *first = source.capture ? ended_new() : NULL;
    if (first) { /* of a capture not each sample is seen here, and times may go back */
        ended_free(list->ended);
        list->ended = first;
        taken = table->tick - 1; /* the sample before */
    }
    for (size_t r = 0; of && of->tick == table->tick && r < of->row_count; r++) {
        double used = table_cell(of, r, 0)->number + table_cell(of, r, 1)->number;
        if (isnan(used) || !strcmp(of->rows[r].name, "_Total"))
            continue;
        busy += used;
        count++;
    }
    double seconds = source.capture ? table->at - table->at_before
                     : taken        ? table->at - list->ended_at
                                    : NAN;
    list->ended_at = table->at;
    /* after missed samples: processes may have ended unseen */
    bool rested = taken && taken + MOST_MISSED < table->tick;
    ended_take(list->ended, list->lines, list->line_count, seconds, count && !rested ? busy : NAN,
               count);
}

/* Adds the bytes of ended children, if they are wanted and known. */
static void add_children(struct process_list *list)
{
    const struct table *io = model_table(list->model, list->with_children);
    if (!list->children || !io || !io->tick)
        return;
    children_take(list->children, io, list->lines, list->line_count);
    for (size_t i = 0; i < list->line_count; i++)
        children_add(list->children, &list->lines[i]);
}

/* Adds the table of Process IO if Process does not have the counters of bytes for this user. */
static void add_io(struct process_list *list, const struct table *table)
{
    static const char *const paths[] = {"\\Process IO(*)\\ID Process",
                                        "\\Process IO(*)\\IO Disk Read Bytes/sec",
                                        "\\Process IO(*)\\IO Disk Write Bytes/sec"};
    if (!list->io && table->columns[WRITTEN].status)
        list->io = model_add_table(list->model, list->source, paths, 3, false);
}

bool process_list_ready(struct process_list *list)
{
    const struct table *table = process_list_table(list);
    const struct table *details = model_table(list->model, list->texts);
    if (table && table->tick != list->ended_tick)
        process_list_read(list); /* take_ended needs each sample */
    if (!table || !table->tick || !details || !details->tick)
        return false;
    add_io(list, table);
    const struct table *io = model_table(list->model, list->io);
    bool any = !io || (io->tick && !io->row_count);
    for (size_t r = 0; io && r < io->row_count; r++)
        any |= !isnan(table_cell(io, r, 1)->number);
    return any;
}

void process_list_read(struct process_list *list)
{
    const struct table *table = process_list_table(list);
    list->line_count = 0;
    if (!table || !table->tick)
        return;
    add_io(list, table);
    read_lines(list, table);
    if (table->row_count && !list->line_count)
        return; /* the machine gives no samples: no process has ended because of that */
    take_ended(list, table);
    add_children(list);
    for (size_t i = 0; i < list->line_count; i++)
        ended_rate(list->ended, &list->lines[i]);
}

void process_list_group(struct process_list *list, enum grouping grouping, bool rest)
{
    struct line line;
    bool more = false;
    if (grouping)
        list->line_count = group_lines(list->lines, list->line_count, grouping);
    if (rest)
        more = ended_line(list->ended, list->lines, list->line_count, grouping, &line);
    free(list->limit_values);
    list->limit_values = NULL;
    if (list->limits && grouping)
        list->limit_values = calloc(list->line_count + 1, sizeof *list->limit_values);
    if (list->limit_values)
        group_limits(list->lines, list->line_count, grouping,
                     model_table(list->model, list->limits), list->limit_values);
    line.match = true;
    if (more && reserve(list, list->line_count + 1))
        list->lines[list->line_count++] = line;
}
