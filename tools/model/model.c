/* SPDX-License-Identifier: MIT */
/* The drawing side of the model: starts samplers and takes over their samples. */
#include "internal.h"

#include <errno.h>
#include <signal.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct model *model_new(double seconds)
{
    struct model *model = calloc(1, sizeof *model);
    if (!model)
        return NULL;
    model->seconds = seconds;
    model->descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (model->descriptor >= 0)
        return model;
    free(model);
    return NULL;
}

int model_descriptor(const struct model *model)
{
    return model->descriptor;
}

/* ---- sources ---- */

static void source_free(struct source *source)
{
    pthread_cond_destroy(&source->wake);
    pthread_mutex_destroy(&source->mutex);
    pthread_mutex_destroy(&source->keeping);
    if (source->kept >= 0)
        close(source->kept);
    free(source->loss);
    free(source->times);
    free(source->name);
    free(source->machine);
    free(source);
}

static struct source *source_new(struct model *model, const char *machine, const char *files,
                                 bool at)
{
    pthread_condattr_t monotonic;
    bool capture = files != NULL;
    struct source *source = calloc(1, sizeof *source);
    if (!source)
        return NULL;
    source->model = model;
    source->capture = capture;
    source->at = source->newest.at = at;
    source->number = model->source_count;
    source->seconds = model->seconds;
    source->paused = model->paused;
    source->step = 1;
    source->kept = -1;
    source->time_count =
        source_is_whole(source) ? 0 : MODEL_FINE + MODEL_COARSE * MODEL_COARSE_COUNT;
    pthread_mutex_init(&source->mutex, NULL);
    pthread_mutex_init(&source->keeping, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&source->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    source->machine = strdup(machine ? machine : "");
    source->name = strdup(files ? files : machine ? machine : "");
    return source;
}

/* Starts the sampler with all signals blocked, so that the other threads get the signals. */
static bool start_sampler(struct source *source)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&source->thread, NULL, sampler_run, source);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return !failed;
}

/* `at`: a capture is shown at this local time; 0: it is read as a whole. */
static int source_add(struct model *model, const char *machine, const char *files, int64_t at)
{
    struct source **sources = realloc(model->sources, (model->source_count + 1) * sizeof *sources);
    if (!sources)
        return -1;
    model->sources = sources;
    struct source *source = source_new(model, machine, files, at != 0);
    if (!source)
        return -1;
    source->by = at;
    if (source->time_count)
        source->times = calloc(source->time_count, sizeof *source->times);
    if (!source->name || !source->machine || (source->time_count && !source->times) ||
        !start_sampler(source)) {
        source_free(source);
        return -1;
    }
    sources[model->source_count] = source;
    return (int)model->source_count++;
}

int model_add_machine(struct model *model, const char *machine)
{
    return source_add(model, machine, NULL, 0);
}

int model_add_capture(struct model *model, const char *files, const char *machine)
{
    return source_add(model, machine, files, 0);
}

int model_add_set(struct model *model, const char *name, int64_t time)
{
    return source_add(model, NULL, name, time);
}

void model_add_loss(struct model *model, size_t number, const char *text)
{
    struct source *source = model->sources[number];
    add_loss(&source->loss, text);
    source->newest.loss = source->loss;
}

void model_source(const struct model *model, size_t number, struct model_source *ret)
{
    struct source *source = model->sources[number];
    pthread_mutex_lock(&source->mutex);
    double begun = source->begun, seconds = source->seconds;
    source->newest.dropped = source->dropped;
    source->newest.going = source->goes || source->going;
    pthread_mutex_unlock(&source->mutex);
    *ret = source->newest;
    ret->name = source->name;
    ret->machine = source->machine;
    ret->capture = source->capture;
    if (ret->state != MODEL_AWAY && !source->capture && begun > 0 &&
        model_now() > begun + 2 * seconds)
        ret->state = MODEL_SILENT;
}

/* Passes interval and pause on to the sampler, and wakes it. */
static void source_change(struct source *source, bool stop)
{
    pthread_mutex_lock(&source->mutex);
    source->changed = true;
    source->seconds = source->model->seconds;
    source->paused = source->model->paused;
    source->stop |= stop;
    pthread_cond_broadcast(&source->wake);
    pthread_mutex_unlock(&source->mutex);
}

void model_go(struct model *model, size_t number, enum model_go how, int64_t by)
{
    struct source *source = model->sources[number];
    pthread_mutex_lock(&source->mutex);
    /* steps that were not taken yet are added up */
    bool more = source->goes && source->go == how && (how == GO_BY || how == GO_SAMPLE);
    source->by = more ? source->by + by : by;
    source->go = how;
    source->goes = true;
    pthread_mutex_unlock(&source->mutex);
    source_change(source, false);
}

static void change_all(struct model *model, bool stop)
{
    for (size_t i = 0; i < model->source_count; i++)
        source_change(model->sources[i], stop);
}

void model_set_seconds(struct model *model, double seconds)
{
    model->seconds = seconds;
    change_all(model, false);
}

void model_pause(struct model *model, bool paused)
{
    model->paused = paused;
    /* wakes the drawing side, because samples may have waited during the pause */
    eventfd_write(model->descriptor, 1);
    change_all(model, false);
}

/* ---- tables ---- */

void columns_free(struct column *columns, size_t count)
{
    for (size_t i = 0; columns && i < count; i++) {
        free(columns[i].path);
        free(columns[i].explain);
        free(columns[i].why);
    }
    free(columns);
}

struct column *columns_copy(const struct column *columns, size_t count)
{
    struct column *copy = calloc(count, sizeof *copy);
    bool good = copy;
    for (size_t i = 0; good && i < count; i++) {
        const char *explain = columns[i].explain, *why = columns[i].why;
        copy[i] = columns[i];
        copy[i].path = strdup(columns[i].path);
        copy[i].explain = explain ? strdup(explain) : NULL;
        copy[i].why = why ? strdup(why) : NULL;
        good = copy[i].path && (!explain || copy[i].explain) && (!why || copy[i].why);
    }
    if (good)
        return copy;
    columns_free(copy, count);
    return NULL;
}

static struct column *columns_new(const char *const *paths, size_t count)
{
    struct column *columns = calloc(count, sizeof *columns);
    bool good = columns && count > 0;
    for (size_t i = 0; good && i < count; i++) {
        columns[i].raw = *paths[i] == *MODEL_RAW;
        good = (columns[i].path = strdup(paths[i] + columns[i].raw));
    }
    if (good)
        return columns;
    columns_free(columns, count);
    return NULL;
}

void table_sample_free(struct table_sample *sample)
{
    free(sample->rows);
    free(sample->cells);
    free(sample->names);
    free(sample->texts);
    *sample = (struct table_sample){0};
}

static void spec_free(struct spec *spec)
{
    histories_free(spec);
    table_sample_free(&spec->newest);
    columns_free(spec->found, spec->column_count);
    columns_free(spec->news, spec->column_count);
    columns_free(spec->table.columns, spec->column_count);
    free(spec);
}

static void specs_free(struct spec *spec)
{
    while (spec) {
        struct spec *next = spec->next;
        spec_free(spec);
        spec = next;
    }
}

static unsigned add_spec(struct model *model, size_t number, const char *const *paths, size_t count,
                         bool history, bool text)
{
    struct source *source = model->sources[number];
    struct spec *spec = calloc(1, sizeof *spec), **link = &source->specs;
    if (!spec)
        return 0;
    spec->column_count = count;
    spec->found = columns_new(paths, count);
    spec->table = (struct table){
        .source = (unsigned)number, .column_count = count, .columns = columns_new(paths, count)};
    if (!spec->found || !spec->table.columns) {
        spec_free(spec);
        return 0;
    }
    spec->history = history;
    spec->text = spec->table.text = text;
    spec->table.id = ++model->last_table;
    pthread_mutex_lock(&source->mutex);
    while (*link)
        link = &(*link)->next;
    *link = spec;
    pthread_mutex_unlock(&source->mutex);
    source_change(source, false);
    return spec->table.id;
}

unsigned model_add_table(struct model *model, size_t source, const char *const *paths, size_t count,
                         bool history)
{
    return add_spec(model, source, paths, count, history, false);
}

unsigned model_add_texts(struct model *model, size_t source, const char *const *paths, size_t count)
{
    return add_spec(model, source, paths, count, false, true);
}

static struct spec *find_spec(const struct model *model, unsigned table, struct source **ret_source)
{
    struct spec *found = NULL;
    for (size_t i = 0; i < model->source_count && !found; i++) {
        struct source *source = model->sources[i];
        pthread_mutex_lock(&source->mutex);
        for (struct spec *spec = source->specs; spec && !found; spec = spec->next)
            found = spec->table.id == table && !spec->removed ? spec : NULL;
        pthread_mutex_unlock(&source->mutex);
        *ret_source = source;
    }
    return found;
}

/* Sets a flag of a table; `wakes`: and wakes the sampler if that is a change. */
static void set_flag(struct model *model, unsigned table, size_t offset, bool value, bool wakes)
{
    struct source *source;
    struct spec *spec = find_spec(model, table, &source);
    bool *flag = spec ? (bool *)((char *)spec + offset) : NULL;
    if (!flag)
        return;
    pthread_mutex_lock(&source->mutex);
    wakes &= *flag != value;
    *flag = value;
    pthread_mutex_unlock(&source->mutex);
    if (wakes)
        source_change(source, false);
}

void model_remove_table(struct model *model, unsigned table)
{
    set_flag(model, table, offsetof(struct spec, removed), true, true);
}

void model_rest(struct model *model, unsigned table, bool rest)
{
    set_flag(model, table, offsetof(struct spec, resting), rest, true);
}

void model_want(struct model *model, unsigned table)
{
    set_flag(model, table, offsetof(struct spec, wanted), true, false);
}

const struct table *model_table(const struct model *model, unsigned table)
{
    struct source *source;
    struct spec *spec = find_spec(model, table, &source);
    return spec ? &spec->table : NULL;
}

bool model_keep(struct model *model, size_t number)
{
    int file = memfd_create("kept", MFD_CLOEXEC);
    model->sources[number]->kept = file;
    return file >= 0;
}

bool model_kept(const struct model *model, size_t number, int file)
{
    struct source *source = model->sources[number];
    struct stat about = {0};
    off_t from = 0;
    pthread_mutex_lock(&source->keeping);
    bool good = fstat(source->kept, &about) == 0 && about.st_size > 0;
    while (good && from < about.st_size)
        good = sendfile(file, source->kept, &from, (size_t)(about.st_size - from)) > 0;
    pthread_mutex_unlock(&source->keeping);
    return good;
}

size_t table_row(const struct table *table, uint64_t identity)
{
    for (size_t i = 0; i < table->row_count; i++)
        if (table->rows[i].identity == identity)
            return i;
    return (size_t)-1;
}

size_t rows_find(const struct row *rows, size_t count, const char *name, size_t *at)
{
    for (size_t i = 0; i < count; i++) {
        size_t row = (*at + i) % count;
        if (!strcmp(rows[row].name, name)) {
            *at = row + 1;
            return row;
        }
    }
    return count;
}

size_t worker_length(const char *name)
{
    static const char worker[] = "kworker_";
    size_t length = strlen(worker);
    return strncmp(name, worker, length) ? 0 : length;
}

/* True if both are names of one worker of the kernel in Process V2 or Process Details. */
static bool same_worker(const char *left, const char *right)
{
    return worker_length(left) && worker_length(right) && strchr(left, ':') && strchr(right, ':') &&
           !strcmp(strrchr(left, ':'), strrchr(right, ':'));
}

const char *const *table_texts(const struct table *table, const char *name, size_t *at)
{
    size_t count = table ? table->row_count : 0;
    size_t row = table ? rows_find(table->rows, count, name, at) : 0;
    for (size_t i = 0; row == count && i < count; i++)
        if (same_worker(name, table->rows[i].name))
            row = i;
    return row < count ? &table->texts[row * table->column_count] : NULL;
}

const struct history *const *model_histories(const struct model *model, unsigned table,
                                             size_t *ret_count)
{
    struct source *source;
    struct spec *spec = find_spec(model, table, &source);
    *ret_count = spec ? spec->capacity : 0;
    return spec ? (const struct history *const *)spec->histories : NULL;
}

int64_t model_time(const struct model *model, size_t number, uint64_t tick)
{
    const struct source *source = model->sources[number];
    uint64_t newest = source->newest.tick;
    if (tick == 0 || tick > newest)
        return 0;
    if (source_is_whole(source))
        return tick / source->step < source->time_count ? source->times[tick / source->step] : 0;
    return tick + source->time_count > newest ? source->times[tick % source->time_count] : 0;
}

uint64_t model_tick(const struct model *model, size_t number, int64_t time)
{
    const struct source *source = model->sources[number];
    uint64_t low = 0, high = source->newest.tick;
    while (low <
           high) { /* the newest tick that is not later; ticks that are forgotten have time 0 */
        uint64_t middle = high - (high - low) / 2;
        if (model_time(model, number, middle) <= time)
            low = middle;
        else
            high = middle - 1;
    }
    int64_t before = model_time(model, number, low), after = model_time(model, number, low + 1);
    return before && after && after - time < time - before ? low + 1 : low;
}

/* ---- samples ---- */

static bool take_table(struct source *source, struct table_sample *sample,
                       const struct frame *frame)
{
    struct spec *spec = sample->spec;
    table_sample_free(&spec->newest);
    spec->newest = *sample;
    *sample = (struct table_sample){0};
    spec->table.row_count = spec->newest.row_count;
    spec->table.rows = spec->newest.rows;
    spec->table.cells = spec->newest.cells;
    spec->table.texts = spec->newest.texts;
    bool next = spec->table.tick && spec->table.tick + 1 == frame->tick;
    spec->table.at_before = next ? spec->table.at : NAN;
    spec->table.at = source->capture ? (double)frame->time / SECOND : frame->begun;
    spec->table.tick = frame->tick;
    return !spec->history || history_add(source, spec, frame->tick);
}

/* Records when the frame's sample was taken, and what it cost. */
static void take_tick(struct source *source, const struct frame *frame)
{
    struct model_source *newest = &source->newest;
    /* a capture is read again for each table, so ticks may begin again at 1 */
    if (frame->tick >= newest->tick) {
        newest->tick = frame->tick;
        newest->time = frame->time;
    }
    newest->cost = frame->cost;
    size_t place =
        source_is_whole(source) ? frame->tick / source->step : frame->tick % source->time_count;
    if (place < source->time_count)
        source->times[place] = frame->time;
}

/* Forgets the samples of a capture that is read again from its beginning. */
static void forget_samples(struct source *source)
{
    source->newest.tick = 0;
    pthread_mutex_lock(&source->mutex);
    for (struct spec *spec = source->specs; spec; spec = spec->next) {
        histories_free(spec);
        table_sample_free(&spec->newest);
        spec->table.row_count = 0;
        spec->table.rows = NULL;
        spec->table.cells = NULL;
        spec->table.texts = NULL;
        spec->table.tick = 0;
    }
    pthread_mutex_unlock(&source->mutex);
}

/* After a sample of a machine that failed: the rows stay, but no value of theirs is known now. */
static void forget_values(struct source *source, PDH_STATUS status)
{
    if (source->capture)
        return;
    pthread_mutex_lock(&source->mutex);
    for (struct spec *spec = source->specs; spec; spec = spec->next)
        for (size_t i = 0; !spec->text && i < spec->newest.row_count * spec->column_count; i++)
            spec->newest.cells[i] = (struct cell){NAN, (DWORD)status};
    pthread_mutex_unlock(&source->mutex);
}

static void take_frame(struct source *source, struct frame *frame)
{
    struct model_source *newest = &source->newest;
    if (frame->again) {
        forget_samples(source);
        return;
    }
    newest->moment = frame->moment;
    if (frame->complete && source->at)
        newest->time = frame->time;
    if (frame->complete) {
        newest->state = MODEL_COMPLETE;
        if (frame->status || source->at) /* damage of a whole capture stays */
            newest->status = frame->status;
        free(source->loss);
        newest->loss = source->loss = frame->loss;
        frame->loss = NULL;
        return;
    }
    if (!frame->texts) {
        newest->status = frame->status;
        newest->state = frame->status ? MODEL_AWAY : MODEL_GOOD;
        if (newest->state == MODEL_AWAY)
            forget_values(source, frame->status);
    }
    if (frame->tick && !frame->texts)
        take_tick(source, frame);
    for (size_t i = 0; i < frame->count; i++)
        if (!take_table(source, &frame->tables[i], frame))
            newest->status = (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
}

static void take_columns(struct spec *spec)
{
    for (; spec; spec = spec->next) {
        if (!spec->news)
            continue;
        columns_free(spec->table.columns, spec->column_count);
        spec->table.columns = spec->news;
        spec->news = NULL;
    }
}

size_t model_update(struct model *model)
{
    uint64_t ignored;
    size_t count = 0;
    if (read(model->descriptor, &ignored, sizeof ignored) < 0 && errno != EAGAIN)
        return 0;
    for (size_t i = 0; i < model->source_count; i++) {
        struct source *source = model->sources[i];
        pthread_mutex_lock(&source->mutex);
        if (source->capture || !source->released)
            pthread_cond_broadcast(&source->wake);
        source->released = true;
        struct frame *frame = model->paused ? NULL : source->first;
        struct spec *finished = model->paused ? NULL : source->finished;
        if (!model->paused) {
            source->first = source->last = NULL;
            source->finished = NULL;
            source->waiting = 0;
            take_columns(source->specs);
        }
        pthread_mutex_unlock(&source->mutex);
        while (frame) {
            struct frame *next = frame->next;
            take_frame(source, frame);
            frame_free(frame);
            frame = next;
            count++;
        }
        specs_free(finished); /* no later frame refers to these tables */
    }
    return count;
}

/* ---- the end ---- */

/* Waits for the sampler's end. False: the sampler did not end in time. */
static bool source_stop(struct source *source, const struct timespec *until)
{
    int failed = 0;
    pthread_mutex_lock(&source->mutex);
    while (!source->ended && failed != ETIMEDOUT)
        failed = pthread_cond_timedwait(&source->wake, &source->mutex, until);
    bool ended = source->ended;
    pthread_mutex_unlock(&source->mutex);
    if (ended)
        pthread_join(source->thread, NULL);
    else
        pthread_detach(source->thread);
    return ended;
}

void model_free(struct model *model)
{
    if (!model)
        return;
    bool all = true;
    struct timespec until; /* one deadline for all samplers */
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += 1;
    change_all(model, true);
    for (size_t i = 0; i < model->source_count; i++) {
        struct source *source = model->sources[i];
        if (!source_stop(source, &until)) {
            all = false;
            continue;
        }
        while (source->first) {
            struct frame *next = source->first->next;
            frame_free(source->first);
            source->first = next;
        }
        specs_free(source->specs);
        specs_free(source->finished);
        source_free(source);
    }
    if (!all) /* a sampler that did not end still writes to the descriptor */
        return;
    close(model->descriptor);
    free(model->sources);
    free(model);
}
