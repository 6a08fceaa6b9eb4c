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

void bucket_add(struct bucket *bucket, const struct bucket *more)
{
    if (!more->count)
        return;
    bucket->least = bucket->count ? fmin(bucket->least, more->least) : more->least;
    bucket->most = bucket->count ? fmax(bucket->most, more->most) : more->most;
    bucket->sum += more->sum;
    bucket->count += more->count;
}

double bucket_figure(const struct bucket *bucket, enum figure figure)
{
    return !bucket->count    ? NAN
           : figure == LEAST ? bucket->least
           : figure == MOST  ? bucket->most
                             : bucket->sum / (double)bucket->count;
}

struct past_line {
    char *name;
    struct bucket *buckets;
};
/* What is collected of the time of a query. Threads read parts of it: each fills buckets that no
 * other one fills, and takes the mutex to add a line. */
struct collected {
    struct past_query *query;
    const char *path;
    int64_t from, to, step;
    size_t buckets;
    bool few;       /* only a few of the samples are read */
    int64_t usual;  /* the shortest time between two samples; 0: not known yet */
    int64_t *times; /* time of the newest sample in each bucket; 0: the bucket has none */
    struct past_line lines[SERIES_MOST];
    atomic_size_t count;
    pthread_mutex_t mutex;
    atomic_bool more; /* there are more instances than SERIES_MOST */
};
struct section { /* buckets */
    size_t begin, end;
};
struct part {
    struct collected *collected;
    struct section section;
    opl_history **history; /* from which it is read; NULL there: not open yet */
    size_t last;           /* the line that was found last */
    int64_t usual;         /* as in `collected`, of this part and what was read before */
    pthread_t thread;
    bool good;
};

/* Adds a line, unless another thread has just done so. NULL: no memory, or too many lines. */
static const struct past_line *add_line(struct collected *collected, const char *name)
{
    const struct past_line *line = NULL;
    pthread_mutex_lock(&collected->mutex);
    for (size_t i = 0; i < collected->count && !line; i++)
        line = strcmp(collected->lines[i].name, name) ? NULL : &collected->lines[i];
    if (!line && collected->count < SERIES_MOST) {
        struct past_line new = {strdup(name), calloc(collected->buckets, sizeof *new.buckets)};
        if (new.name &&new.buckets) {
            collected->lines[collected->count] = new;
            line = &collected->lines[collected->count++];
        } else {
            free(new.name);
            free(new.buckets);
        }
    }
    pthread_mutex_unlock(&collected->mutex);
    return line;
}

/* Returns the line of an instance; adds one if there is none. All samples have the instances in
 * the same order, so the search begins after the line that was found last. */
static const struct past_line *line_of(struct part *part, const char *name)
{
    size_t count = part->collected->count;
    for (size_t i = 1; i <= count; i++) {
        size_t at = (part->last + i) % count;
        if (strcmp(part->collected->lines[at].name, name) != 0)
            continue;
        part->last = at;
        return &part->collected->lines[at];
    }
    return add_line(part->collected, name);
}

/* True if samples are missing between these two times. */
static bool is_gap(const struct collected *collected, int64_t usual, int64_t before, int64_t time)
{
    usual = collected->few ? FEW_SECONDS * SECOND : usual;
    if (usual < collected->step)
        usual = collected->step;
    return before && usual && time - before > usual * 5 / 2;
}

static bool collect(void *context, const char *instance, int64_t before, int64_t time, double value)
{
    struct part *part = context;
    struct collected *collected = part->collected;
    const struct bucket one = {value, value, value, !isnan(value)};
    const struct past_line *line = line_of(part, instance);
    int64_t between = before ? time - before : 0;
    size_t at = (size_t)((time - collected->from) / collected->step);
    if (at >= part->section.end)
        at = part->section.end - 1;
    if (time > collected->times[at])
        collected->times[at] = time;
    if (between > 0 && (!part->usual || between < part->usual))
        part->usual = between;
    if (!line)
        collected->more = true;
    else if (!is_gap(collected, part->usual, before, time))
        bucket_add(&line->buckets[at], &one);
    return !collected->query->gone;
}

/* ---- events ---- */

const char *const figure_keys[] = {"average", "least", "most"};

/* Writes one figure (such as the average) of each bucket of the section that has samples; line
 * NULL: the buckets' times. If there is a gap before a bucket, an empty element is written first,
 * with the time just after the previous bucket. */
static void write_figures(struct json *json, const char *key, const struct collected *collected,
                          struct section section, const struct past_line *line, enum figure figure)
{
    int64_t before = 0;
    for (size_t i = section.begin; i > 0 && !before; i--)
        before = collected->times[i - 1];
    json_open(json, key, '[');
    for (size_t i = section.begin; i < section.end; i++) {
        int64_t time = collected->times[i];
        bool gap = is_gap(collected, collected->usual, before, time);
        if (!time)
            continue;
        if (line) {
            if (gap)
                json_double(json, NULL, NAN);
            json_double(json, NULL, bucket_figure(&line->buckets[i], figure));
        } else {
            if (gap)
                json_integer(json, NULL, javascript_time(before) + 1);
            json_integer(json, NULL, javascript_time(time));
        }
        before = time;
    }
    json_close(json, ']');
}

static void write_collected(struct json *json, const struct collected *collected,
                            struct section section)
{
    bool last = section.end == collected->buckets;
    int64_t end = collected->from + collected->step * (int64_t)section.end;
    json_integer(json, "from",
                 javascript_time(collected->from + collected->step * (int64_t)section.begin));
    json_integer(json, "to", last ? javascript_time(collected->to) + 1 : javascript_time(end));
    json_bool(json, "more", collected->more);
    write_figures(json, "times", collected, section, NULL, AVERAGE);
    json_open(json, "series", '[');
    for (size_t i = 0; i < collected->count; i++) {
        const struct past_line *line = &collected->lines[i];
        json_open(json, NULL, '{');
        json_string(json, "name", line->name);
        for (enum figure figure = AVERAGE; figure <= (collected->few ? AVERAGE : MOST); figure++)
            write_figures(json, figure_keys[figure], collected, section, line, figure);
        json_close(json, '}');
    }
    json_close(json, ']');
}

/* Ends the event, and adds it to the events that the query sends. */
static void close_event(struct past *past, struct past_query *query, struct event_text *event)
{
    bool good = event_end(event, EVENT_TAIL);
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

static void *read_part(void *context)
{
    struct part *part = context;
    const struct collected *collected = part->collected;
    int64_t begin = collected->from + collected->step * (int64_t)part->section.begin;
    int64_t end = part->section.end == collected->buckets
                      ? collected->to
                      : collected->from + collected->step * (int64_t)part->section.end - 1;
    if (!*part->history)
        *part->history = opl_history_open(SET);
    part->good =
        *part->history && !opl_history_read(*part->history, collected->path, begin, end,
                                            collected->few ? collected->step : 0, collect, part);
    return NULL;
}

/* Returns the number of processors that this process may use, PARTS_MOST at most. */
static size_t count_processors(void)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return count < PARTS_MOST ? (size_t)count : PARTS_MOST;
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

static int by_name(const void *left, const void *right)
{
    return strcmp(((const struct past_line *)left)->name, ((const struct past_line *)right)->name);
}

/* Reads a section in parts, each in a thread; the first one, or without a thread, here. False: the
 * captures have no values of the path. */
static bool read_section(struct past *past, struct collected *collected, struct section section)
{
    struct part parts[PARTS_MOST];
    bool started[PARTS_MOST], good = true;
    bool in_parts = !collected->few && collected->to - collected->from > PARTS_SECONDS * SECOND;
    size_t count = in_parts ? count_processors() : 1;
    size_t size = section.end - section.begin, known = collected->count;
    for (size_t i = count; i-- > 0;) {
        parts[i] = (struct part){
            .collected = collected,
            .section = {section.begin + size * i / count, section.begin + size * (i + 1) / count},
            .history = &past->histories[i],
            .usual = collected->usual
        };
        started[i] = i && !pthread_create(&parts[i].thread, NULL, read_part, &parts[i]);
        if (!started[i])
            read_part(&parts[i]);
    }
    for (size_t i = 0; i < count; i++) {
        if (started[i])
            pthread_join(parts[i].thread, NULL);
        good &= parts[i].good;
        if (parts[i].usual && (!collected->usual || parts[i].usual < collected->usual))
            collected->usual = parts[i].usual;
        if (!collected->few && past->histories[i])
            add_lost(collected->query, opl_history_lost(past->histories[i]));
    }
    if (in_parts) /* the order in which threads add lines differs from time to time */
        qsort(collected->lines + known, collected->count - known, sizeof *collected->lines,
              by_name);
    return good;
}

/* Reads a path's values and adds them as events, unless the captures have none. */
static void read_path(struct past *past, struct past_query *query, const char *path, bool few)
{
    struct event_text event;
    int64_t sections = ((query->to - query->from) / SECOND - 1) / SECTION_SECONDS + 1;
    size_t count = few ? 1 : sections < SECTIONS_MOST ? (size_t)sections : SECTIONS_MOST;
    struct collected *whole = calloc(1, sizeof *whole);
    if (!whole)
        return;
    *whole = (struct collected){.query = query,
                                .path = path,
                                .few = few,
                                .from = query->from,
                                .to = query->to,
                                .step = (query->to - query->from) / (int64_t)query->buckets,
                                .buckets = query->buckets,
                                .times = calloc(query->buckets, sizeof *whole->times),
                                .mutex = PTHREAD_MUTEX_INITIALIZER};
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
    for (size_t i = 0; i < whole->count; i++) {
        free(whole->lines[i].name);
        free(whole->lines[i].buckets);
    }
    free(whole->times);
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

/* Waits until something changes; closes the set if nothing does for LATER_SECONDS. */
static void wait_for_change(struct past *past)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += LATER_SECONDS;
    if (!past->histories[0])
        pthread_cond_wait(&past->changed, &past->mutex);
    else if (pthread_cond_timedwait(&past->changed, &past->mutex, &until))
        close_set(past);
}

static void *run(void *context)
{
    struct past *past = context;
    pthread_mutex_lock(&past->mutex);
    while (!past->stop) {
        struct past_query *query = past->queries;
        while (query && query->taken)
            query = query->next;
        if (!query && !past->prepare) {
            wait_for_change(past);
            continue;
        }
        past->prepare = false;
        if (query)
            query->taken = true;
        pthread_mutex_unlock(&past->mutex);
        if (!query)
            open_set(past);
        else if (!query->gone)
            answer(past, query);
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
        if (!stream_write(query->stream, query->out + query->out_sent, size, ""))
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
