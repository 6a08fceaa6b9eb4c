/* SPDX-License-Identifier: MIT */
/*
 * The tables that viewers watch. Viewers with the same list of counters share a table of the model,
 * and each sample of the table is converted to text once and sent to all of them. Without viewers
 * no samples are taken. A table that lost its last viewer is kept for an hour, with its histories.
 */
#include "serve.h"

#include "../common/pdh-message.h"
#include "../model/process-list.h"
#include "../view/view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    TABLES_MOST = 256, /* for all viewers together */
    VIEWER_TABLES_MOST = 64,
    PATHS_MOST = 64, /* of a table */
    KEEP_SECONDS = 3600,
    ALIVE_MS = 1000,   /* sources' states are looked at in this interval */
    ALIVE_SECONDS = 10 /* if a stream has no samples, an empty event is sent at this interval */
};

struct watched {
    char *key; /* the lines of the viewers' lists that make up this table */
    unsigned table;
    struct process_list *processes; /* not NULL: the table is that of a list of processes */
    enum grouping grouping;         /* of the list */
    size_t most; /* number of lines that are sent, those with the most processor time; 0: all */
    bool history;
    size_t viewers;
    double unwatched; /* when the last viewer left */
    uint64_t tick;    /* the tick of the sample in `rows` */
    uint64_t first;   /* the tick of the table's first sample; 0: none */
    char *rows, *columns;
    size_t rows_size, columns_size;
    unsigned version; /* incremented when `columns` changes */
};

struct live_viewer {
    struct viewer viewer;
    struct live_viewer *next, **link;
    struct live *live;
    struct stream *stream;
    struct watched *tables[VIEWER_TABLES_MOST];
    /* version of each table's columns that was sent to this viewer; 0: none */
    unsigned versions[VIEWER_TABLES_MOST];
    uint64_t ticks[VIEWER_TABLES_MOST];
    size_t count;
    uint64_t lost; /* number of texts not sent, because the viewer reads too slowly */
    enum model_state state;
    bool state_sent;
    double sent;
};

struct live {
    struct model *model;
    size_t source;
    double seconds;
    struct watched *tables[TABLES_MOST];
    size_t count;
    struct live_viewer *viewers;
    struct view_names names; /* English titles, which show a counter's unit */
};

struct live *live_new(const char *machine, double seconds)
{
    struct live *live = calloc(1, sizeof *live);
    if (!live)
        return NULL;
    live->seconds = seconds;
    names_load(&live->names, "009");
    live->model = model_new(seconds);
    int source = live->model ? model_add_machine(live->model, machine) : -1;
    if (source < 0) {
        live_free(live);
        return NULL;
    }
    live->source = (size_t)source;
    model_keep(live->model, live->source); /* without it, there is no BLG */
    return live;
}

static void watched_free(struct watched *watched)
{
    if (watched->processes)
        process_list_end(watched->processes);
    free(watched->processes);
    free(watched->key);
    free(watched->rows);
    free(watched->columns);
    free(watched);
}

void live_free(struct live *live)
{
    if (!live)
        return;
    for (size_t i = 0; i < live->count; i++)
        watched_free(live->tables[i]);
    if (live->model)
        model_free(live->model);
    names_done(&live->names);
    free(live);
}

void live_wait(const struct live *live, struct waits *waits)
{
    if (live->viewers) /* otherwise the model keeps the samples until there is a viewer */
        waits_add(waits, model_descriptor(live->model), ALIVE_MS);
}

double live_seconds(const struct live *live)
{
    return live->seconds;
}

int live_kept(const struct live *live)
{
    int file = captures_file();
    if (file < 0 || model_kept(live->model, live->source, file))
        return file;
    close(file);
    return -1;
}

/* ---- lists of counters ---- */

/* Returns the length of the part of a line's path before its counter, which follows the last \ or
 * ::. The name of a list of processes has no counter: returns its whole length. 0: no path. */
static size_t object_length(const char *path)
{
    size_t length = strcspn(path, "\n");
    if (*path == '#')
        return length;
    for (size_t at = length; at-- > 1;)
        if (path[at] == '\\' || (path[at] == ':' && path[at - 1] == ':'))
            return at;
    return 0;
}

static void remove_table(struct live *live, size_t at)
{
    if (!live->tables[at]->processes)
        model_remove_table(live->model, live->tables[at]->table);
    watched_free(live->tables[at]);
    live->tables[at] = live->tables[--live->count];
}

/* Removes tables that had no viewer for an hour; if there are too many tables, also the one that
 * has had no viewer for the longest time. */
static void remove_unwatched(struct live *live)
{
    size_t oldest = SIZE_MAX;
    for (size_t i = live->count; i-- > 0;) {
        const struct watched *watched = live->tables[i];
        if (watched->viewers)
            continue;
        if (model_now() - watched->unwatched > KEEP_SECONDS)
            remove_table(live, i);
        else if (oldest >= live->count || watched->unwatched < live->tables[oldest]->unwatched)
            oldest = i;
    }
    if (live->count == TABLES_MOST && oldest < live->count)
        remove_table(live, oldest);
}

static void rest(struct live *live, struct watched *watched, bool rest)
{
    if (!watched->processes) {
        model_rest(live->model, watched->table, rest);
        return;
    }
    process_list_rest(watched->processes, rest);
    process_list_want_limits(watched->processes, !rest && watched->grouping >= BY_UNIT);
}

/* Watches a list of processes or of groups of them, "GROUP" or "GROUP MOST". False: there is no
 * such group, or no memory. */
static bool watch_processes(struct live *live, struct watched *watched, const char *group)
{
    static const char *const names[GROUPINGS] = {"process", "program",   "user",
                                                 "unit",    "container", "group"};
    size_t length = strcspn(group, " ");
    while (watched->grouping < GROUPINGS && (strlen(names[watched->grouping]) != length ||
                                             memcmp(names[watched->grouping], group, length) != 0))
        watched->grouping++;
    watched->most = strtoul(group + length, NULL, 10);
    struct process_list *list = watched->grouping < GROUPINGS ? calloc(1, sizeof *list) : NULL;
    if (!list || !process_list_begin(list, live->model, live->source)) {
        free(list);
        return false;
    }
    watched->processes = list;
    watched->table = list->table;
    return true;
}

static struct watched *find_watched(const struct live *live, const char *key, size_t length)
{
    for (size_t i = 0; i < live->count; i++)
        if (strlen(live->tables[i]->key) == length && !memcmp(live->tables[i]->key, key, length))
            return live->tables[i];
    return NULL;
}

/* Returns the table for the lines `key`; if there is none, makes it. NULL: too many tables, or no
 * memory. */
static struct watched *watch(struct live *live, const char *key, size_t length)
{
    const char *paths[PATHS_MOST];
    size_t count = 0;
    struct watched *watched = find_watched(live, key, length);
    if (watched)
        return watched;
    remove_unwatched(live);
    watched = live->count < TABLES_MOST ? calloc(1, sizeof *watched) : NULL;
    if (!watched)
        return NULL;
    watched->key = strndup(key, length);
    watched->history = *key == '+';
    bool text = *key == '@', good = watched->key != NULL;
    if (good && *key == '#') {
        good = watch_processes(live, watched, watched->key + 1);
    } else if (good) {
        char *lines = strdup(watched->key), *rest = lines;
        for (char *line; (line = strsep(&rest, "\n"));)
            paths[count++] = line + (text || watched->history);
        watched->table =
            text ? model_add_texts(live->model, live->source, paths, count)
                 : model_add_table(live->model, live->source, paths, count, watched->history);
        good = watched->table;
        free(lines);
    }
    if (good)
        return live->tables[live->count++] = watched;
    watched_free(watched);
    return NULL;
}

/* Adds tables for a list of paths. Successive paths that differ only in the counter make one table.
 * Returns what is wrong; NULL: nothing. */
static const char *add_tables(struct live_viewer *viewer, const char *list)
{
    for (const char *begin = list, *end; *begin; begin = *end ? end + 1 : end) {
        size_t common = object_length(begin), lines = 1;
        if (!common)
            return "A line of the list is not a counter path, such as \\Memory\\Available Bytes.\n";
        end = strchrnul(begin, '\n');
        for (; *end && lines < PATHS_MOST && object_length(end + 1) == common; lines++) {
            if (memcmp(begin, end + 1, common) != 0)
                break;
            end = strchrnul(end + 1, '\n');
        }
        struct watched *watched = viewer->count < VIEWER_TABLES_MOST
                                      ? watch(viewer->live, begin, (size_t)(end - begin))
                                      : NULL;
        if (!watched)
            return "Too many tables: at most 64 objects and selections of instances for a viewer, "
                   "and 256 for all.\n";
        watched->viewers++;
        rest(viewer->live, watched, false);
        viewer->tables[viewer->count++] = watched;
    }
    return viewer->count ? NULL : "The list of counters is empty.\n";
}

static void end(struct viewer *ended)
{
    struct live_viewer *viewer = (struct live_viewer *)ended;
    struct live *live = viewer->live;
    for (size_t i = 0; i < viewer->count; i++) {
        struct watched *watched = viewer->tables[i];
        if (--watched->viewers)
            continue;
        watched->unwatched = model_now();
        rest(live, watched, true);
    }
    *viewer->link = viewer->next;
    if (viewer->next)
        viewer->next->link = viewer->link;
    free(viewer);
    if (!live->viewers)
        model_pause(live->model, true);
}

/* ---- events ---- */

bool event_begin(struct event_text *event, const char *name)
{
    *event = (struct event_text){.json.flat = true};
    event->json.out = open_memstream(&event->text, &event->size);
    if (!event->json.out)
        return false;
    fputs("data: ", event->json.out);
    json_open(&event->json, NULL, '{');
    json_string(&event->json, "event", name);
    return true;
}

bool event_end(struct event_text *event, const char *tail)
{
    fputs(tail, event->json.out);
    bool good = !ferror(event->json.out);
    return fclose(event->json.out) == 0 && good;
}

/* ---- samples as text ---- */

static const int64_t epoch = 11644473600000, millisecond = 10000; /* ms from 1601 to 1970 */

int64_t javascript_time(int64_t time)
{
    return time / millisecond - epoch;
}

int64_t time_of_javascript(int64_t ms)
{
    return (ms + epoch) * millisecond;
}

void write_unit(struct json *json, const struct view_counter *counter)
{
    static const char *const units[] = {"", "B", "KiB", "MiB"};
    json_string(json, "type", counter->type.name);
    json_string(json, "suffix", counter->type.suffix);
    json_string(json, "unit", units[counter->unit]);
}

static void write_columns(struct json *json, const struct live *live, const struct watched *watched)
{
    const struct table *table = model_table(live->model, watched->table);
    json_open(json, "columns", '[');
    for (size_t i = 0; i < table->column_count; i++) {
        const struct column *column = &table->columns[i];
        struct view_counter counter = {.now.definition.CounterType = column->type};
        view_describe(&counter, column->index, names_english(&live->names, column->index));
        if (!column->type || column->raw)
            counter.type.suffix = "";
        if (!column->type)
            counter.type.name = NULL;
        json_open(json, NULL, '{');
        json_string(json, "path", column->path);
        json_integer(json, "status", (DWORD)column->status);
        write_unit(json, &counter);
        json_bool(json, "raw", column->raw);
        json_integer(json, "scale", column->default_scale);
        json_string(json, "explain", column->explain);
        json_string(json, "why", column->why);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void write_cells(struct json *json, const struct table *table, size_t row)
{
    json_open(json, NULL, '[');
    for (size_t c = 0; c < table->column_count; c++)
        if (table->texts)
            json_string(json, NULL, table->texts[row * table->column_count + c]);
        else
            json_double(json, NULL, table_cell(table, row, c)->number);
    json_close(json, ']');
}

/* Writes [row, column, status] for each cell without a value. */
static void write_reasons(struct json *json, const struct table *table)
{
    json_open(json, "reasons", '[');
    for (size_t row = 0; row < table->row_count && !table->texts; row++)
        for (size_t c = 0; c < table->column_count; c++) {
            const struct cell *cell = table_cell(table, row, c);
            if (!isnan(cell->number) || !cell->status)
                continue;
            json_open(json, NULL, '[');
            json_integer(json, NULL, (int64_t)row);
            json_integer(json, NULL, (int64_t)c);
            json_integer(json, NULL, cell->status);
            json_close(json, ']');
        }
    json_close(json, ']');
}

static void write_identity(struct json *json, uint64_t identity)
{
    char text[17]; /* JavaScript's numbers have only 53 bits */
    snprintf(text, sizeof text, "%llx", (unsigned long long)identity);
    json_string(json, NULL, text);
}

static void write_line(struct json *json, const struct line *line)
{
    char name[PDH_MAX_INSTANCE_NAME];
    snprintf(name, sizeof name, "%.*s", (int)line->name_length, line->name);
    json_open(json, NULL, '[');
    json_string(json, NULL, name);
    write_identity(json, line->identity);
    json_integer(json, NULL, line->members);
    json_open(json, NULL, '[');
    for (size_t v = 0; v < LINE_VALUES; v++)
        json_double(json, NULL, line_value(line, v));
    json_close(json, ']');
    json_open(json, NULL, '[');
    for (size_t i = 0; line->texts && i < TEXTS; i++)
        json_string(json, NULL, line->texts[i]);
    json_close(json, ']');
    json_close(json, ']');
}

static int compare_busy(const void *left, const void *right)
{
    double l = ((const struct line *)left)->values[CPU],
           r = ((const struct line *)right)->values[CPU];
    return isnan(l) || isnan(r) ? isnan(l) - isnan(r) : (l < r) - (l > r);
}

/* Writes lines of processes or groups; values and texts are in the order of model/group.h. */
static void write_processes(struct json *json, const struct live *live,
                            const struct watched *watched)
{
    struct process_list *list = watched->processes;
    bool wanted = watched->grouping != BY_PROCESS; /* texts: of others than the lines, too */
    process_list_read(list);
    if (list->line_count) /* none while samples fail: then nothing is known of the rest, either */
        process_list_group(list, watched->grouping, true);
    if (watched->most && list->line_count)
        qsort(list->lines, list->line_count, sizeof *list->lines, compare_busy);
    json_open(json, "lines", '[');
    for (size_t i = 0; i < list->line_count && (!watched->most || i < watched->most); i++) {
        write_line(json, &list->lines[i]);
        wanted |= list->lines[i].members && !list->lines[i].texts;
    }
    if (wanted)
        model_want(live->model, list->texts);
    json_close(json, ']');
}

static void write_rows(struct json *json, const struct live *live, const struct watched *watched)
{
    const struct table *table = model_table(live->model, watched->table);
    int64_t time = javascript_time(model_time(live->model, live->source, table->tick));
    json_integer(json, "tick", (int64_t)table->tick);
    json_integer(json, "time", time);
    if (watched->processes) {
        write_processes(json, live, watched);
        return;
    }
    json_open(json, "rows", '[');
    for (size_t row = 0; row < table->row_count; row++) {
        json_open(json, NULL, '[');
        json_string(json, NULL, table->rows[row].name);
        write_identity(json, table->rows[row].identity);
        json_close(json, ']');
    }
    json_close(json, ']');
    json_open(json, table->texts ? "texts" : "values", '[');
    for (size_t row = 0; row < table->row_count; row++)
        write_cells(json, table, row);
    json_close(json, ']');
    write_reasons(json, table);
    json_integer(json, "forgotten", (int64_t)table->forgotten);
}

/* Writes an event, up to the number of the table, into *text. False: *text had the same content
 * before, or there is no memory. */
static bool replace(char **text, size_t *size, const char *name,
                    void (*write)(struct json *, const struct live *, const struct watched *),
                    const struct live *live, const struct watched *watched)
{
    struct event_text event;
    if (!event_begin(&event, name))
        return false;
    write(&event.json, live, watched);
    if (!event_end(&event, "") ||
        (*text && *size == event.size && !memcmp(*text, event.text, event.size))) {
        free(event.text);
        return false;
    }
    free(*text);
    *text = event.text;
    *size = event.size;
    return true;
}

static void update_texts(const struct live *live, struct watched *watched)
{
    const struct table *table = model_table(live->model, watched->table);
    struct model_source source;
    if (!table)
        return;
    model_source(live->model, live->source, &source);
    bool missing =
        !table->text && ((table->tick && !table->row_count) || source.state == MODEL_AWAY);
    bool known = watched->tick == table->tick && watched->rows;
    if (missing)
        model_want(live->model, watched->table); /* columns then say why */
    if (known && !missing)
        return;
    if (replace(&watched->columns, &watched->columns_size, "columns", write_columns, live, watched))
        watched->version++;
    if (known)
        return;
    watched->tick = table->tick;
    watched->first = watched->first ? watched->first : table->tick;
    replace(&watched->rows, &watched->rows_size, "rows", write_rows, live, watched);
}

/* ---- histories ---- */

/* which ticks of a history are sent: those before `fine` in groups, the later ones one by one */
struct steps {
    uint64_t begin, fine, end;
};

static uint64_t next_step(const struct steps *steps, uint64_t tick)
{
    return tick < steps->fine ? tick + MODEL_COARSE : tick + 1;
}

static void write_series(struct json *json, const char *key, const struct history *history,
                         size_t column, const struct steps *steps, enum figure figure)
{
    uint64_t end = figure == AVERAGE ? steps->end : steps->fine;
    json_open(json, key, '[');
    for (uint64_t tick = steps->begin; tick < end; tick = next_step(steps, tick)) {
        struct span span;
        model_span(history, column, tick, next_step(steps, tick), &span);
        json_double(json, NULL,
                    figure == LEAST  ? span.least
                    : figure == MOST ? span.most
                                     : span.average);
    }
    json_close(json, ']');
}

static void write_tick(struct json *json, const char *key, const struct live *live, uint64_t tick)
{
    json_integer(json, key, javascript_time(model_time(live->model, live->source, tick)));
}

static void write_history(struct json *json, const struct live *live, const struct watched *watched,
                          const struct table *table)
{
    size_t count;
    uint64_t oldest = MODEL_FINE + (uint64_t)MODEL_COARSE * MODEL_COARSE_COUNT;
    struct steps steps = {.end = table->tick};
    steps.begin = table->tick > oldest ? table->tick - oldest : 1;
    steps.fine = table->tick > MODEL_FINE ? table->tick - MODEL_FINE : steps.begin;
    steps.fine -= (steps.fine - steps.begin) % MODEL_COARSE;
    const struct history *const *histories = model_histories(live->model, table->id, &count);
    json_open(json, "times", '[');
    for (uint64_t tick = steps.begin; tick < steps.end; tick = next_step(&steps, tick))
        write_tick(json, NULL, live, tick);
    json_close(json, ']');
    json_open(json, "histories", '[');
    for (size_t i = 0; i < count; i++) {
        const struct history *history = histories[i];
        if (!history)
            continue;
        json_open(json, NULL, '{');
        json_string(json, "name", history->name);
        json_open(json, "identity", '[');
        write_identity(json, history->identity);
        json_close(json, ']');
        if (watched->first && history->born > watched->first && history->born >= steps.begin)
            write_tick(json, "born", live, history->born);
        for (size_t c = 0; c < table->column_count; c++) {
            json_open(json, c ? NULL : "columns", c ? '{' : '[');
            if (!c)
                json_open(json, NULL, '{');
            for (enum figure figure = AVERAGE; figure <= MOST; figure++)
                write_series(json, figure_keys[figure], history, c, &steps, figure);
            json_close(json, '}');
        }
        json_close(json, ']');
        json_close(json, '}');
    }
    json_close(json, ']');
}

/* ---- viewers ---- */

/* Sends an event that `text` begins and `tail` ends. False: it is lost, because the stream has no
 * space. */
static bool send(struct live_viewer *viewer, const char *text, size_t size, const char *tail)
{
    bool good = stream_write(viewer->stream, text, size, tail);
    viewer->lost += !good;
    viewer->sent = model_now();
    return good;
}

/* Sends a table's columns and rows, if the viewer does not have them yet. */
static void send_table(struct live_viewer *viewer, size_t at)
{
    const struct watched *watched = viewer->tables[at];
    char tail[64];
    snprintf(tail, sizeof tail, ", \"table\": %zu}\n\n", at);
    /* columns that are lost are sent again by the next call */
    if (watched->columns && viewer->versions[at] != watched->version &&
        send(viewer, watched->columns, watched->columns_size, tail))
        viewer->versions[at] = watched->version;
    if (watched->rows && watched->tick && viewer->ticks[at] != watched->tick) {
        send(viewer, watched->rows, watched->rows_size, tail);
        viewer->ticks[at] = watched->tick;
    }
}

static bool event_send(struct event_text *event, struct live_viewer *viewer)
{
    bool good = event_end(event, EVENT_TAIL) && send(viewer, event->text, event->size, "");
    free(event->text);
    return good;
}

static void send_state(struct live_viewer *viewer)
{
    static const char *const names[] = {"starting", "good", "away", "silent", "complete"};
    struct model_source source;
    struct event_text event;
    model_source(viewer->live->model, viewer->live->source, &source);
    /* this machine is never away; why its providers have no data is in the columns */
    if (source.state == MODEL_AWAY && !*source.name && (DWORD)source.status == PDH_NO_DATA)
        source.state = MODEL_GOOD;
    if (viewer->state_sent && viewer->state == source.state && !viewer->lost &&
        model_now() - viewer->sent < ALIVE_SECONDS)
        return;
    viewer->state_sent = true;
    viewer->state = source.state;
    if (!event_begin(&event, "source"))
        return;
    json_string(&event.json, "state", names[source.state]);
    json_integer(&event.json, "status", (DWORD)source.status);
    json_string(&event.json, "why", source.state == MODEL_AWAY ? pdh_message(source.status) : NULL);
    json_integer(&event.json, "tick", (int64_t)source.tick);
    json_double(&event.json, "seconds", viewer->live->seconds);
    json_integer(&event.json, "lost", (int64_t)viewer->lost);
    if (event_send(&event, viewer))
        viewer->lost = 0;
}

static void send_history(struct live_viewer *viewer, size_t at)
{
    const struct live *live = viewer->live;
    const struct table *table = model_table(live->model, viewer->tables[at]->table);
    struct event_text event;
    if (!table || !viewer->tables[at]->history || table->tick < 2 ||
        !event_begin(&event, "history"))
        return;
    json_integer(&event.json, "table", (int64_t)at);
    write_history(&event.json, live, viewer->tables[at], table);
    event_send(&event, viewer);
}

void live_run(struct live *live)
{
    if (!live->viewers)
        return;
    model_update(live->model);
    for (size_t i = 0; i < live->count; i++)
        if (live->tables[i]->viewers)
            update_texts(live, live->tables[i]);
    for (struct live_viewer *viewer = live->viewers; viewer; viewer = viewer->next) {
        if (!viewer->stream)
            continue;
        for (size_t i = 0; i < viewer->count; i++)
            send_table(viewer, i);
        send_state(viewer);
    }
}

static void begin(struct viewer *begun, struct stream *stream)
{
    struct live_viewer *viewer = (struct live_viewer *)begun;
    struct live *live = viewer->live;
    viewer->stream = stream;
    model_pause(live->model, false);
    send_state(viewer);
    for (size_t i = 0; i < viewer->count; i++) {
        update_texts(live, viewer->tables[i]);
        send_history(viewer, i);
        send_table(viewer, i);
    }
    live_run(live);
}

struct viewer *live_viewer(struct live *live, const char *list, const char **ret_why)
{
    struct live_viewer *viewer = calloc(1, sizeof *viewer);
    *ret_why = "There is no memory for another viewer.\n";
    if (!viewer)
        return NULL;
    *viewer = (struct live_viewer){
        .viewer = {begin, end},
          .live = live, .next = live->viewers, .link = &live->viewers
    };
    if (viewer->next)
        viewer->next->link = &viewer->next;
    live->viewers = viewer;
    *ret_why = add_tables(viewer, list);
    if (*ret_why) {
        end(&viewer->viewer);
        return NULL;
    }
    return &viewer->viewer;
}
