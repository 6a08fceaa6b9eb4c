/* SPDX-License-Identifier: MIT */
/* Two threads, so that neither a slow receiver nor a slow disk delays anything else: one reads the
 * counters and writes batches into the queue, the other sends them in their order. */
#include "push.h"

#include "../common/options.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BATCH_SAMPLES = 2000, NANOSECONDS = 1000000000, MIB = 1 << 20, STATUS_MOST = 600 };
static const double pause_first = 1, pause_most = 60;

/* why samples were dropped */
enum reason { REASON_BUFFER, REASON_DISK, REASON_CLOCK, REASON_MEMORY, REASONS };

struct push {
    const struct push_options *options;
    struct queue *queue;
    struct client *client;
    struct metrics *metrics;
    struct fixed_label labels[PUSH_LABELS_MOST + 2];
    char names[PUSH_LABELS_MOST][PUSH_LABEL_SIZE], host[256];
    struct remote_write message;
    int64_t earlier_ms; /* the newest time of earlier answers */
    unsigned part;
    pthread_t sampler, sender;
    pthread_mutex_t mutex;
    pthread_cond_t changed; /* a batch was added, or it stops */
    atomic_bool stop;
    atomic_uint_fast64_t sent, refused, retries, dropped[REASONS];
    /* used by the first thread: losses in this answer, and those of which the log knows */
    bool lost[REASONS], reported[REASONS];
    bool refused_status[STATUS_MOST]; /* used by the second thread: reported */
};

static void report(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void report(const char *format, ...)
{
    char text[PUSH_WHY * 3];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "openperflib-serve: push: %s\n", text);
}

static struct timespec time_in(double seconds)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    int64_t sum = at.tv_nsec + (int64_t)(seconds * NANOSECONDS);
    return (struct timespec){at.tv_sec + sum / NANOSECONDS, sum % NANOSECONDS};
}

/* Waits until the time. False: it stops. */
static bool wait_until(struct push *push, const struct timespec *at)
{
    pthread_mutex_lock(&push->mutex);
    while (!push->stop && pthread_cond_timedwait(&push->changed, &push->mutex, at) != ETIMEDOUT)
        continue;
    pthread_mutex_unlock(&push->mutex);
    return !push->stop;
}

static void wake(struct push *push, bool stop)
{
    pthread_mutex_lock(&push->mutex);
    if (stop)
        push->stop = true;
    pthread_cond_broadcast(&push->changed);
    pthread_mutex_unlock(&push->mutex);
}

/* ---- the thread that reads counters ---- */

/* Counts samples that are lost. The first loss of each kind is reported, and again after it has
 * ended. */
static void drop(struct push *push, enum reason reason, size_t samples, int error)
{
    const char *folder = push->options->buffer;
    push->dropped[reason] += samples;
    push->lost[reason] = true;
    if (push->reported[reason])
        return;
    push->reported[reason] = true;
    if (reason == REASON_BUFFER)
        report("%s has reached its %" PRId64 " MiB: the oldest samples are dropped", folder,
               push->options->buffer_mib);
    else if (reason == REASON_DISK)
        report("%s: %s; samples are dropped until they can be written", folder, strerror(error));
    else if (reason == REASON_CLOCK)
        report("the clock was set back: samples are dropped until it is later than at the last "
               "one, in %" PRId64 " s; to go on at once, stop this program, delete %s/newest and "
               "what waits beside it, and start it again",
               (push->earlier_ms - push->message.time_ms) / 1000, folder);
    else
        report("no memory; samples are dropped");
}

/* Moves the message's samples into the queue. */
static void keep(struct remote_write *message)
{
    struct push *push = (struct push *)((char *)message - offsetof(struct push, message));
    struct batch batch = {.time_ms = message->time_ms, push->part++, message->samples, 0};
    size_t removed = 0;
    int error = 0;
    if (message->samples && !message->failed && message->time_ms > push->earlier_ms) {
        void *bytes = client_compress(message->bytes, message->size, &batch.size);
        error = bytes ? queue_add(push->queue, &batch, bytes, &removed) : ENOMEM;
        free(bytes);
        removed += error == EFBIG ? batch.samples : 0;
        if (removed)
            drop(push, REASON_BUFFER, removed, 0);
        if (error == ENOMEM)
            drop(push, REASON_MEMORY, batch.samples, 0);
        else if (error && error != EFBIG)
            drop(push, REASON_DISK, batch.samples, error);
        wake(push, false);
    } else if (message->samples) {
        drop(push, message->failed ? REASON_MEMORY : REASON_CLOCK, message->samples, 0);
    }
    remote_write_begin(message);
}

static void *sample(void *context)
{
    struct push *push = context;
    bool failed = false;
    uint64_t bytes, samples;
    struct timespec next;
    do {
        next = time_in(push->options->seconds);
        push->earlier_ms = queue_newest(push->queue);
        push->part = 0;
        push->message.time_ms = 0;
        memset(push->lost, 0, sizeof push->lost);
        remote_write_begin(&push->message);
        LSTATUS status = metrics_collect(push->metrics, NULL, 0, &push->message.sink);
        if (!status)
            push_emit(push, &push->message.sink);
        else if (!failed)
            report("the counters could not be read: status %ld", (long)status);
        failed = status != 0;
        keep(&push->message);
        queue_size(push->queue, &bytes, &samples);
        push->lost[REASON_BUFFER] |= bytes > (uint64_t)push->options->buffer_mib * MIB / 2;
        for (int i = 0; i < REASONS; i++)
            push->reported[i] &= push->lost[i];
    } while (wait_until(push, &next));
    return NULL;
}

/* ---- the thread that sends ---- */

/* Counts and reports what became of a batch. *pause becomes the seconds before the next attempt. */
static void take_delivery(struct push *push, const struct batch *batch, enum delivery delivery,
                          long status, const char *why, double *pause)
{
    bool *reported = &push->refused_status[status > 0 && status < STATUS_MOST ? status : 0];
    double earlier = *pause;
    *pause = 0;
    if (delivery == DELIVERY_DONE) {
        push->sent += batch->samples;
        if (earlier > 0)
            report("%s answers again", push->options->url);
    } else if (delivery == DELIVERY_REFUSED) {
        push->refused += batch->samples;
        if (!*reported)
            report("%s has refused %zu samples, which are dropped: %s; later ones with this status "
                   "are only counted",
                   push->options->url, batch->samples, why);
        *reported = true;
    } else {
        push->retries++;
        if (earlier == 0)
            report("%s: %s; samples wait in %s", push->options->url, why, push->options->buffer);
        *pause = earlier == 0 ? pause_first : earlier * 2 < pause_most ? earlier * 2 : pause_most;
    }
}

/* Sends the oldest batch once. Returns the seconds before the next attempt, of which *pause keeps
 * those that grow. */
static double send_first(struct push *push, const struct batch *batch, double *pause)
{
    char why[PUSH_WHY];
    long status = 0;
    double seconds = 0;
    void *bytes = malloc(batch->size + 1);
    int error = bytes ? queue_read(push->queue, batch, bytes) : ENOMEM;
    bool good = !error && client_is_compressed(bytes, batch->size);
    bool passes = error == ENOMEM || error == EMFILE || error == ENFILE;
    enum delivery delivery = passes ? DELIVERY_AGAIN : DELIVERY_REFUSED;
    snprintf(why, sizeof why, "%s", error ? strerror(error) : "it is damaged");
    if (good)
        delivery = client_send(push->client, bytes, batch->size, &status, &seconds, why);
    free(bytes);
    queue_settle(push->queue, delivery != DELIVERY_AGAIN);
    if (!good && !passes) {
        push->dropped[REASON_DISK] += batch->samples;
        report("%s: a batch of %zu samples is dropped: %s", push->options->buffer, batch->samples,
               why);
    } else if (!push->stop || delivery != DELIVERY_AGAIN) { /* else the stop has ended it */
        take_delivery(push, batch, delivery, status, why, pause);
    }
    return delivery == DELIVERY_AGAIN && seconds > *pause ? seconds : *pause;
}

static void *send_all(void *context)
{
    struct push *push = context;
    double pause = 0;
    while (!push->stop) {
        struct batch batch;
        pthread_mutex_lock(&push->mutex);
        bool found = queue_first(push->queue, &batch);
        if (!found && !push->stop)
            pthread_cond_wait(&push->changed, &push->mutex);
        pthread_mutex_unlock(&push->mutex);
        double seconds = found ? send_first(push, &batch, &pause) : 0;
        struct timespec until = time_in(seconds);
        if (seconds > 0)
            wait_until(push, &until);
    }
    return NULL;
}

/* ---- its own metrics ---- */

static void emit(struct metric_sink *sink, const char *name, const char *help, const char *reason,
                 uint64_t number)
{
    bool total = !strncmp(name, "perf_push_samples", 17) || !strcmp(name, "perf_push_retries");
    struct metric_family family = {.kind = total ? METRIC_COUNTER : METRIC_GAUGE,
                                   .sample_count = 1,
                                   .help = help,
                                   .unit = strstr(name, "_bytes") ? "bytes" : ""};
    char text[64] = "";
    struct metric_labels labels = {.name = "", .parent = "", .text = text};
    struct metric_value value = {.whole = number};
    strcpy(family.name, name);
    family.samples[0].suffix = total ? "_total" : "";
    if (reason)
        labels.size = (size_t)snprintf(text, sizeof text, "reason=\"%s\"", reason);
    if (help)
        sink->family(sink, &family);
    sink->sample(sink, &family, &family.samples[0], &labels, NULL, &value);
}

void push_emit(struct push *push, struct metric_sink *sink)
{
    static const char *const reasons[REASONS] = {"buffer", "disk", "clock", "memory"};
    uint64_t bytes, samples;
    queue_size(push->queue, &bytes, &samples);
    emit(sink, "perf_push_samples", "Samples that the receiver has accepted.", NULL, push->sent);
    emit(sink, "perf_push_samples_failed", "Samples that the receiver has refused.", NULL,
         push->refused);
    for (int i = 0; i < REASONS; i++)
        emit(sink, "perf_push_samples_dropped",
             i ? NULL : "Samples that were lost on this machine.", reasons[i], push->dropped[i]);
    emit(sink, "perf_push_retries",
         "Requests without an answer, or with the status 429 or 5xx, after which the same samples "
         "are sent again.",
         NULL, push->retries);
    emit(sink, "perf_push_buffer_samples", "Samples that wait for the receiver.", NULL, samples);
    emit(sink, "perf_push_buffer_bytes", "Size of the samples that wait for the receiver.", NULL,
         bytes);
}

/* ---- begin and end ---- */

static bool is_label(const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    size_t size = strcspn(text, "=");
    return text[size] && text[size + 1] && size != 0 && size < PUSH_LABEL_SIZE &&
           !isdigit((unsigned char)*text) && strspn(text, letters) == size &&
           strncmp(text, "__", 2) != 0;
}

bool push_check(const struct push_options *options, char why[static PUSH_WHY])
{
    bool local;
    size_t good = 0;
    const char *reason = options->url ? client_check_url(options, &local) : NULL;
    while (good < options->label_count && is_label(options->labels[good]))
        good++;
    if (reason)
        snprintf(why, PUSH_WHY, "--push: %s", reason);
    else if (good < options->label_count)
        snprintf(why, PUSH_WHY,
                 "--push-label: expected NAME=VALUE with a name of letters, digits and _, not %s",
                 text_seen(options->labels[good]));
    return !reason && good == options->label_count;
}

/* Sets the labels of all samples. */
static void set_labels(struct push *push)
{
    const struct push_options *options = push->options;
    size_t count = 0;
    for (; count < options->label_count; count++) {
        const char *text = options->labels[count];
        size_t size = strcspn(text, "=");
        snprintf(push->names[count], PUSH_LABEL_SIZE, "%.*s", (int)size, text);
        push->labels[count] = (struct fixed_label){push->names[count], text + size + 1};
    }
    gethostname(push->host, sizeof push->host - 1);
    push->labels[count++] = (struct fixed_label){"job", "openperflib"};
    push->labels[count++] = (struct fixed_label){"instance", push->host};
    push->message.fixed = push->labels;
    push->message.fixed_count = count;
    push->message.most = BATCH_SAMPLES;
    push->message.full = keep;
}

static bool start_threads(struct push *push)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&push->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&push->mutex, NULL);
    if (pthread_create(&push->sampler, NULL, sample, push) != 0)
        return false;
    if (pthread_create(&push->sender, NULL, send_all, push) == 0)
        return true;
    wake(push, true);
    pthread_join(push->sampler, NULL);
    return false;
}

static void release(struct push *push)
{
    if (!push)
        return;
    client_free(push->client);
    queue_close(push->queue);
    metrics_free(push->metrics);
    free(push->message.bytes);
    free(push);
}

struct push *push_new(const struct push_options *options, const struct metrics_settings *settings)
{
    char why[PUSH_WHY] = "no memory";
    struct push *push = calloc(1, sizeof *push);
    const char *folder = NULL;
    if (push) {
        push->options = options;
        set_labels(push);
        if ((push->client = client_new(options, &push->stop, why)) &&
            !(push->queue = queue_open(options->buffer, (uint64_t)options->buffer_mib * MIB, why)))
            folder = options->buffer;
        else if (push->client && (push->metrics = metrics_new(settings)) && start_threads(push))
            return push;
    }
    fprintf(stderr, "openperflib-serve: %s%s%s%s\n", folder ? "--push-buffer: " : "",
            folder ? text_seen(folder) : "", folder ? ": " : "", why);
    release(push);
    return NULL;
}

void push_free(struct push *push)
{
    if (!push)
        return;
    wake(push, true);
    pthread_join(push->sampler, NULL);
    pthread_join(push->sender, NULL);
    pthread_cond_destroy(&push->changed);
    pthread_mutex_destroy(&push->mutex);
    release(push);
}
