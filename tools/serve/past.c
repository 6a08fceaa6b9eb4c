/* SPDX-License-Identifier: MIT */
/*
 * Recorded values of counters, from the captures of the set "base". A separate thread reads them,
 * so that nothing else waits. It first reads a few samples of the whole time, which is fast because
 * counters are cumulative, then all samples; a long time in sections, each of which is sent when it
 * is complete, and of a section each processor reads a part. It answers one request after the
 * other; an answer is a stream.
 */
#include "serve.h"

#include "../perfmon/perfmon.h"

#include <openperflib/capture.h>
#include <openperflib/unstable.h>

#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum {
    QUERIES_MOST = 16,
    /* least time between two of the few samples: each file of the set may give only one */
    FEW_SECONDS = 3600,
    PATHS_MOST = 64,
    BUCKETS_LEAST = 10,
    BUCKETS_MOST = 2000,
    SERIES_MOST = 256, /* of a path */
    EVENTS_MOST = 200,
    PIECE = 64 << 10,
    PARTS_MOST = 4,
    SOON_MS = 50,                /* until a stream without space is tried again */
    SECTION_SECONDS = 2 * 86400, /* one processor decodes the files of 200 processes in 0.5 s */
    SECTIONS_MOST = 8,
    LATER_SECONDS = 60 /* the set stays open for this time after the last request */
};
#define SET "base"
/* For a shorter time than this, all samples are sent; for a longer one, averages of groups
 * (buckets). */
enum { ALL_SECONDS = 3700, PARTS_SECONDS = 86400 /* a longer time is read in parts */ };
static const int64_t SECOND = 10000000;

struct past_query { /* a request */
    struct viewer viewer;
    struct past *past;
    struct past_query *next;
    struct stream *stream; /* NULL: not given yet, or the viewer is gone */
    char *list;            /* the paths, one in each line */
    int64_t from, to;
    size_t buckets;
    char *out; /* events that were not written to the stream yet */
    size_t out_size, out_sent;
    char *lost;       /* what could not be read; NULL: nothing */
    bool taken, done; /* by the thread */
    atomic_bool gone;
};

struct past {
    pthread_t thread;
    pthread_mutex_t mutex; /* of what follows */
    pthread_cond_t changed;
    struct past_query *queries;
    bool stop, prepare; /* prepare: a page was opened, so the set may be needed soon */
    int ready;          /* an eventfd, readable when there are events or a request is done */
    bool waits;         /* some viewer must read before more can be written to its stream */
    opl_history *histories[PARTS_MOST]; /* the set, opened for each part; only the first always */
};

/* ---- buckets ---- */

struct bucket {
    double sum, least, most;
    size_t count;
};
struct past_line {
    char *name;
    struct bucket *buckets;
};
/* What is collected of the time of a query, or of a part of that time. */
struct time_part {
    struct past_query *query;
    opl_history **history; /* from which a part is read; NULL there: not open yet */
    const char *path;
    int64_t from, to, step;
    size_t buckets;
    pthread_t thread;
    bool good;
    bool few;       /* only a few of the samples are read */
    int64_t usual;  /* the shortest time between two samples; 0: not known yet */
    int64_t *times; /* time of the newest sample in each bucket; 0: the bucket has none */
    struct past_line lines[SERIES_MOST];
    size_t count, last;
    bool more; /* there are more instances than SERIES_MOST */
};

/* Returns the line of an instance; makes one if there is none. All samples have the instances in
 * the same order, so the search begins after the line that was found last. */
static struct past_line *line_of(struct time_part *collected, const char *name)
{
    for (size_t i = 1; i <= collected->count; i++) {
        size_t at = (collected->last + i) % collected->count;
        if (strcmp(collected->lines[at].name, name) != 0)
            continue;
        collected->last = at;
        return &collected->lines[at];
    }
    if (collected->count == SERIES_MOST)
        return NULL;
    struct past_line line = {strdup(name), calloc(collected->buckets, sizeof *line.buckets)};
    if (!line.name || !line.buckets) {
        free(line.name);
        free(line.buckets);
        return NULL;
    }
    collected->last = collected->count++;
    collected->lines[collected->last] = line;
    return &collected->lines[collected->last];
}

/* True if samples are missing between these two times. */
static bool is_gap(const struct time_part *collected, int64_t before, int64_t time)
{
    int64_t usual = collected->few ? FEW_SECONDS * SECOND : collected->usual;
    if (usual < collected->step)
        usual = collected->step;
    return before && usual && time - before > usual * 5 / 2;
}

static void add_value(struct bucket *bucket, double value)
{
    bucket->least = bucket->count && bucket->least < value ? bucket->least : value;
    bucket->most = bucket->count && bucket->most > value ? bucket->most : value;
    bucket->sum += value;
    bucket->count++;
}

static bool collect(void *context, const char *instance, int64_t before, int64_t time, double value)
{
    struct time_part *collected = context;
    size_t at = (size_t)((time - collected->from) / collected->step);
    const struct past_line *line = line_of(collected, instance);
    int64_t between = before ? time - before : 0;
    if (at >= collected->buckets)
        at = collected->buckets - 1;
    if (time > collected->times[at])
        collected->times[at] = time;
    if (between > 0 && (!collected->usual || between < collected->usual))
        collected->usual = between;
    if (!line)
        collected->more = true;
    else if (!isnan(value) && !is_gap(collected, before, time))
        add_value(&line->buckets[at], value);
    return !collected->query->gone;
}

/* ---- events ---- */

struct section { /* buckets */
    size_t begin, end;
};
enum figure { TIME, AVERAGE, LEAST, MOST };
static void write_figure(struct json *json, const struct time_part *collected,
                         const struct past_line *line, size_t at, enum figure figure)
{
    const struct bucket *bucket = line ? &line->buckets[at] : NULL;
    if (figure == TIME)
        json_integer(json, NULL, javascript_time(collected->times[at]));
    else
        json_double(json, NULL,
                    !bucket->count    ? NAN
                    : figure == LEAST ? bucket->least
                    : figure == MOST  ? bucket->most
                                      : bucket->sum / (double)bucket->count);
}

/* Writes one figure (such as the average) of each bucket of the section that has samples. If there
 * is a gap before a bucket, an empty element is written first, with the time just after the
 * previous bucket. */
static void write_figures(struct json *json, const char *key, const struct time_part *collected,
                          struct section section, const struct past_line *line, enum figure figure)
{
    int64_t before = 0;
    for (size_t i = section.begin; i > 0 && !before; i--)
        before = collected->times[i - 1];
    json_open(json, key, '[');
    for (size_t i = section.begin; i < section.end; i++) {
        if (!collected->times[i])
            continue;
        if (is_gap(collected, before, collected->times[i]) && figure == TIME)
            json_integer(json, NULL, javascript_time(before) + 1);
        else if (is_gap(collected, before, collected->times[i]))
            json_double(json, NULL, NAN);
        write_figure(json, collected, line, i, figure);
        before = collected->times[i];
    }
    json_close(json, ']');
}

static void write_collected(struct json *json, const struct time_part *collected,
                            struct section section)
{
    bool last = section.end == collected->buckets;
    int64_t end = collected->from + collected->step * (int64_t)section.end;
    json_integer(json, "from",
                 javascript_time(collected->from + collected->step * (int64_t)section.begin));
    json_integer(json, "to", last ? javascript_time(collected->to) + 1 : javascript_time(end));
    json_bool(json, "more", collected->more);
    write_figures(json, "times", collected, section, NULL, TIME);
    json_open(json, "series", '[');
    for (size_t i = 0; i < collected->count; i++) {
        const struct past_line *line = &collected->lines[i];
        json_open(json, NULL, '{');
        json_string(json, "name", line->name);
        write_figures(json, "average", collected, section, line, AVERAGE);
        if (!collected->few)
            write_figures(json, "least", collected, section, line, LEAST);
        if (!collected->few)
            write_figures(json, "most", collected, section, line, MOST);
        json_close(json, '}');
    }
    json_close(json, ']');
}

/* Ends the event, and adds it to the events that the query sends. */
static void close_event(struct past *past, struct past_query *query, struct event_text *event)
{
    bool good = event_end(event);
    pthread_mutex_lock(&past->mutex);
    char *out = good ? realloc(query->out, query->out_size + event->size) : NULL;
    if (out) {
        memcpy(out + query->out_size, event->text, event->size);
        query->out = out;
        query->out_size += event->size;
    }
    pthread_mutex_unlock(&past->mutex);
    eventfd_write(past->ready, 1);
    free(event->text);
}

/* ---- the thread ---- */

static void collected_done(struct time_part *collected)
{
    for (size_t i = 0; i < collected->count; i++) {
        free(collected->lines[i].name);
        free(collected->lines[i].buckets);
    }
    free(collected->times);
}

static void *read_part(void *context)
{
    struct time_part *part = context;
    if (!*part->history)
        *part->history = opl_history_open(SET);
    part->times = calloc(part->buckets, sizeof *part->times);
    part->good = part->times && *part->history &&
                 !opl_history_read(*part->history, part->path, part->from, part->to,
                                   part->few ? part->step : 0, collect, part);
    return NULL;
}

/* Adds a part to the whole, which has space for the buckets of all parts. */
static void add_part(struct time_part *whole, const struct time_part *part)
{
    size_t first = (size_t)((part->from - whole->from) / whole->step);
    memcpy(whole->times + first, part->times, part->buckets * sizeof *part->times);
    for (size_t i = 0; i < part->count; i++) {
        const struct past_line *line = line_of(whole, part->lines[i].name);
        if (line)
            memcpy(line->buckets + first, part->lines[i].buckets,
                   part->buckets * sizeof *line->buckets);
        whole->more |= !line;
    }
    whole->more |= part->more;
    if (part->usual && (!whole->usual || part->usual < whole->usual))
        whole->usual = part->usual;
}

/* Returns the number of parts in which all samples of the query are read: one for each processor
 * that this process may use. */
static size_t count_parts(const struct past_query *query)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    if (query->to - query->from <= PARTS_SECONDS * SECOND)
        return 1;
    return count < PARTS_MOST ? (size_t)count : PARTS_MOST;
}

/* Reads all parts, each in a thread; the first one, or without a thread, here. False: the captures
 * have no values of the path. */
static bool read_parts(struct time_part *parts, size_t count)
{
    bool started[PARTS_MOST] = {false}, good;
    for (size_t i = 1; i < count; i++)
        started[i] = !pthread_create(&parts[i].thread, NULL, read_part, &parts[i]);
    read_part(&parts[0]);
    good = parts[0].good;
    for (size_t i = 1; i < count; i++) {
        if (started[i])
            pthread_join(parts[i].thread, NULL);
        else
            read_part(&parts[i]);
        good &= parts[i].good;
    }
    return good;
}

/* Adds the lines that the query does not have yet. */
static void add_lost(struct past_query *query, const char *lost)
{
    char *copy = strdup(lost), *rest = copy;
    for (char *line; (line = strsep(&rest, "\n"));) {
        char *joined = NULL, *before = query->lost;
        if (!*line || (before && strstr(before, line)) ||
            asprintf(&joined, "%s%s%s", before ? before : "", before ? "\n" : "", line) < 0)
            continue;
        free(before);
        query->lost = joined;
    }
    free(copy);
}

/* Reads a section and adds its buckets to the whole. False: the captures have no values of the
 * path. */
static bool read_section(struct past *past, struct time_part *whole, struct section section)
{
    size_t count = whole->few ? 1 : count_parts(whole->query), size = section.end - section.begin;
    struct time_part *parts = calloc(count, sizeof *parts);
    for (size_t i = 0; parts && i < count; i++) {
        size_t begin = section.begin + size * i / count,
               end = section.begin + size * (i + 1) / count;
        parts[i] = *whole;
        parts[i].history = &past->histories[i];
        parts[i].from = whole->from + whole->step * (int64_t)begin;
        if (end < whole->buckets)
            parts[i].to = whole->from + whole->step * (int64_t)end - 1;
        parts[i].buckets = end - begin;
        parts[i].count = 0;
    }
    bool good = parts && read_parts(parts, count);
    for (size_t i = 0; parts && i < count; i++) {
        if (good)
            add_part(whole, &parts[i]);
        if (!whole->few && past->histories[i])
            add_lost(whole->query, opl_history_lost(past->histories[i]));
        collected_done(&parts[i]);
    }
    free(parts);
    return good;
}

/* Reads a path's values and adds them as events, unless the captures have none. */
static void read_path(struct past *past, struct past_query *query, const char *path, bool few)
{
    struct event_text event;
    int64_t sections = ((query->to - query->from) / SECOND - 1) / SECTION_SECONDS + 1;
    size_t count = few ? 1 : sections < SECTIONS_MOST ? (size_t)sections : SECTIONS_MOST;
    struct time_part *whole = calloc(1, sizeof *whole);
    if (!whole)
        return;
    *whole = (struct time_part){.query = query,
                                .path = path,
                                .few = few,
                                .from = query->from,
                                .to = query->to,
                                .step = (query->to - query->from) / (int64_t)query->buckets,
                                .buckets = query->buckets,
                                .times = calloc(query->buckets, sizeof *whole->times)};
    for (size_t i = 0; i < count && whole->times; i++) {
        struct section section = {query->buckets * i / count, query->buckets * (i + 1) / count};
        if (!read_section(past, whole, section) || query->gone)
            break;
        if (!event_begin(&event, few ? "means" : "bands"))
            break;
        json_string(&event.json, "path", path);
        write_collected(&event.json, whole, section);
        close_event(past, query, &event);
    }
    collected_done(whole);
    free(whole);
}

static void read_paths(struct past *past, struct past_query *query, bool few)
{
    char *copy = strdup(query->list), *rest = copy;
    for (char *path; copy && !query->gone && (path = strsep(&rest, "\n"));)
        if (*path)
            read_path(past, query, path, few);
    free(copy);
}

/* Adds events for that time: alerts, and what providers and sets logged. */
static void add_marks(struct past *past, struct past_query *query)
{
    struct event_log log;
    struct event_text event;
    char from[32], to[32];
    const int64_t ends[] = {javascript_time(query->from) / 1000, javascript_time(query->to) / 1000};
    struct tm utc;
    strftime(from, sizeof from, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&(time_t){ends[0]}, &utc));
    strftime(to, sizeof to, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&(time_t){ends[1]}, &utc));
    event_log_read(&log);
    size_t count = 0;
    if (!event_begin(&event, "marks")) {
        event_log_done(&log);
        return;
    }
    json_string(&event.json, "why", log.readable ? NULL : log.why);
    json_open(&event.json, "marks", '[');
    for (size_t i = log.count; i > 0 && count < EVENTS_MOST; i--) {
        const struct event *each = &log.list[i - 1];
        if (strcmp(each->time, from) < 0 || strcmp(each->time, to) > 0)
            continue;
        count++;
        json_open(&event.json, NULL, '{');
        json_string(&event.json, "time", each->time);
        json_string(&event.json, "source", each->source);
        json_integer(&event.json, "id", each->id);
        json_string(&event.json, "level", each->level);
        json_string(&event.json, "service", each->service);
        json_string(&event.json, "text", each->text);
        json_close(&event.json, '}');
    }
    json_close(&event.json, ']');
    close_event(past, query, &event);
    event_log_done(&log);
}

static void close_set(struct past *past)
{
    for (size_t i = 0; i < PARTS_MOST; i++) {
        opl_history_close(past->histories[i]);
        past->histories[i] = NULL;
    }
}

/* Opens the set, unless it is open already and has no new files. False: the set has no captures. */
static bool open_set(struct past *past)
{
    if (past->histories[0] && opl_history_is_current(past->histories[0]))
        return true;
    close_set(past);
    past->histories[0] = opl_history_open(SET);
    return past->histories[0];
}

static void answer(struct past *past, struct past_query *query)
{
    struct event_text event;
    bool all = query->to - query->from <= ALL_SECONDS * SECOND, open = open_set(past);
    const char *problem = open ? NULL : opl_capture_problem();
    char *why = problem ? strdup(problem) : NULL;
    if (open && !all)
        read_paths(past, query, true);
    if (open)
        read_paths(past, query, false);
    if (!query->gone)
        add_marks(past, query);
    if (event_begin(&event, "end")) {
        json_string(&event.json, "why", why);
        json_string(&event.json, "lost", query->lost ? query->lost : "");
        char folder[PATH_MAX];
        bool own = false;
        if (open && opl_captures_folder(SET, folder, sizeof folder, &own) && own)
            json_string(&event.json, "own", folder);
        close_event(past, query, &event);
    }
    free(why);
}

/* Waits for a request, and closes the set if none arrived for LATER_SECONDS. NULL: there is no
 * request, but the set must be opened, or the thread must end. */
static struct past_query *wait_for_query(struct past *past)
{
    struct past_query *query = NULL;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += LATER_SECONDS;
    while (!past->stop) {
        for (query = past->queries; query && query->taken; query = query->next)
            ;
        if (query || past->prepare)
            break;
        int error = past->histories[0]
                        ? pthread_cond_timedwait(&past->changed, &past->mutex, &until)
                        : pthread_cond_wait(&past->changed, &past->mutex);
        if (error)
            close_set(past);
    }
    if (query)
        query->taken = true;
    return query;
}

static void *run(void *context)
{
    struct past *past = context;
    pthread_mutex_lock(&past->mutex);
    while (!past->stop) {
        struct past_query *query = wait_for_query(past);
        bool open = past->prepare && !past->stop;
        past->prepare = false;
        pthread_mutex_unlock(&past->mutex);
        if (query && !query->gone)
            answer(past, query);
        else if (open)
            open_set(past);
        pthread_mutex_lock(&past->mutex);
        if (query)
            query->done = true;
        eventfd_write(past->ready, 1);
    }
    pthread_mutex_unlock(&past->mutex);
    close_set(past);
    return NULL;
}

struct past *past_new(void)
{
    struct past *past = calloc(1, sizeof *past);
    if (!past)
        return NULL;
    past->ready = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    pthread_mutex_init(&past->mutex, NULL);
    pthread_cond_init(&past->changed, NULL);
    if (past->ready >= 0 && !pthread_create(&past->thread, NULL, run, past))
        return past;
    if (past->ready >= 0)
        close(past->ready);
    free(past);
    return NULL;
}

static void free_query(struct past_query *query)
{
    free(query->list);
    free(query->out);
    free(query->lost);
    free(query);
}

void past_free(struct past *past)
{
    if (!past)
        return;
    pthread_mutex_lock(&past->mutex);
    past->stop = true;
    for (struct past_query *query = past->queries; query; query = query->next)
        query->gone = true;
    pthread_cond_signal(&past->changed);
    pthread_mutex_unlock(&past->mutex);
    pthread_join(past->thread, NULL);
    for (struct past_query *query; (query = past->queries);) {
        past->queries = query->next;
        free_query(query);
    }
    close(past->ready);
    free(past);
}

/* ---- for the loop ---- */

void past_prepare(struct past *past)
{
    pthread_mutex_lock(&past->mutex);
    past->prepare = true;
    pthread_cond_signal(&past->changed);
    pthread_mutex_unlock(&past->mutex);
}

void past_wait(const struct past *past, struct waits *waits)
{
    waits_add(waits, past->ready, past->waits ? SOON_MS : -1);
}

/* Writes as many events to the stream as it has space for. Returns whether all were written. */
static bool write_out(struct past_query *query)
{
    while (query->out_sent < query->out_size) {
        size_t size = query->out_size - query->out_sent;
        size = size < PIECE ? size : PIECE;
        if (!stream_write(query->stream, query->out + query->out_sent, size))
            return false;
        query->out_sent += size;
    }
    return true;
}

void past_run(struct past *past)
{
    eventfd_t number;
    eventfd_read(past->ready, &number);
    pthread_mutex_lock(&past->mutex);
    past->waits = false;
    for (struct past_query **link = &past->queries, *query; (query = *link);) {
        past->waits |= query->stream && !write_out(query);
        if (query->stream && query->done && query->out_sent == query->out_size)
            stream_end(query->stream);
        if (query->gone && (query->done || !query->taken)) {
            *link = query->next;
            free_query(query);
        } else {
            link = &query->next;
        }
    }
    pthread_mutex_unlock(&past->mutex);
}

static bool read_number(const struct request *request, const char *name, int64_t *ret)
{
    const char *text = request_word(request, name);
    char *end = NULL;
    *ret = text ? strtoll(text, &end, 10) : 0;
    return text && end != text && !*end && *ret >= 0;
}

/* Reads the parameters in the request's address. NULL: *ret is complete; otherwise why the request
 * is refused. */
static const char *read_query(const struct request *request, struct past_query *ret)
{
    int64_t from, to, buckets;
    size_t lines = 1;
    if (!read_number(request, "from", &from) || !read_number(request, "to", &to) ||
        !read_number(request, "buckets", &buckets) || from >= to || to > INT64_C(1) << 48)
        return "from, to (ms since 1970) and buckets must be numbers, and from must be before "
               "to.\n";
    for (const char *at = request->body; *at; at++)
        lines += *at == '\n' && at[1];
    if (!*request->body || lines > PATHS_MOST)
        return "The list of counters is empty, or has more than 64.\n";
    ret->from = time_of_javascript(from);
    ret->to = time_of_javascript(to);
    ret->buckets = buckets < BUCKETS_LEAST  ? BUCKETS_LEAST
                   : buckets > BUCKETS_MOST ? BUCKETS_MOST
                                            : (size_t)buckets;
    if (ret->to - ret->from <=
        ALL_SECONDS * SECOND) /* one bucket for each second: no two samples share one */
        ret->buckets = (size_t)((ret->to - ret->from + SECOND - 1) / SECOND);
    return NULL;
}

static void begin(struct viewer *viewer, struct stream *stream)
{
    struct past_query *query = (struct past_query *)viewer;
    pthread_mutex_lock(&query->past->mutex);
    query->stream = stream;
    pthread_cond_signal(&query->past->changed);
    pthread_mutex_unlock(&query->past->mutex);
}

static void end(struct viewer *viewer)
{
    struct past_query *query = (struct past_query *)viewer;
    pthread_mutex_lock(&query->past->mutex);
    query->gone = true;
    query->stream = NULL;
    eventfd_write(query->past->ready, 1); /* past_run frees it */
    pthread_mutex_unlock(&query->past->mutex);
}

struct viewer *past_viewer(struct past *past, const struct request *request, const char **ret_why,
                           bool *ret_busy)
{
    struct past_query *query = calloc(1, sizeof *query), **link = &past->queries;
    size_t count = 0;
    *ret_why = query ? read_query(request, query) : "";
    pthread_mutex_lock(&past->mutex);
    for (; *link; link = &(*link)->next)
        count++;
    *ret_busy = !*ret_why && count >= QUERIES_MOST;
    if (*ret_busy)
        *ret_why = "Too many requests for recorded values are waiting; try again later.\n";
    if (!*ret_why) {
        query->viewer = (struct viewer){begin, end};
        query->past = past;
        query->list = strdup(request->body);
        *link = query;
    }
    pthread_mutex_unlock(&past->mutex);
    if (!*ret_why)
        return &query->viewer;
    free(query);
    return NULL;
}
