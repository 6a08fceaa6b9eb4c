/* SPDX-License-Identifier: MIT */
/*
 * Answers /probe: the metrics of other machines, those of a file. A request is a probe, which waits
 * until its machine is free, is then run by a thread of its own, and is answered by the main thread
 * when it has ended or when its time is over. A thread ends when the library's deadline does, so a
 * machine that hangs has one thread, and none as long as it is left alone after a failure.
 */
#include "serve.h"

#include "../common/machine-message.h"
#include "../common/text-list.h"
#include "../metrics/metrics.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include <winerror.h>

/* RUNNING_MOST: queries whose requests still wait. Those that have missed their time are not
 * counted, so that machines that hang keep no others out, until there are THREADS_MOST. */
enum {
    RUNNING_MOST = 32,
    THREADS_MOST = 256,
    TEXT_MOST = 64 << 20,
    STACK_SIZE = 1 << 20,
    REASON_SIZE = 1024,
    PAUSE_MOST_SECONDS = 32,
    NAME_MOST = 255
};
/* how long a request may take; a part of Prometheus' limit is left for the way back */
static const double usual_seconds = 10, least_seconds = 0.1, most_seconds = 120, margin = 0.5;

struct module {
    struct module *next;
    char *name;
    struct text_list objects; /* titles; none: the usual objects */
};
struct target {
    struct target *next;
    char *name, *address;
    struct metrics *metrics; /* used by the thread of `running` only */
    struct probe *running;
    LSTATUS status; /* of the last query */
    unsigned failures;
    double not_before; /* no query before this time */
};
enum probe_state { PROBE_WAITS, PROBE_RUNS, PROBE_DONE };
struct probe {
    struct probe *next;
    struct probes *probes;
    struct connection *connection; /* NULL: the request was answered, or is gone */
    struct target *target;
    const struct module *module;
    enum probe_state state; /* only the main thread uses it */
    atomic_bool ended;      /* the thread is done with the members below */
    LSTATUS status;
    struct exposition text;
    double begun, deadline;
    /* why it has failed, if not because of the status; set while it runs: its time is over */
    const char *reason;
};
struct probes {
    struct target *targets;
    struct module *modules;
    struct module usual;
    struct probe *first;       /* all probes, in the order of their requests */
    unsigned running, overdue; /* threads, and how many of these have missed their time */
    int event;
};

/* ---- the file ---- */

static char *trim(char *text)
{
    text += strspn(text, " \t");
    for (size_t size = strlen(text); size && strchr(" \t", text[size - 1]);)
        text[--size] = '\0';
    return text;
}

static struct target *find_target(struct target *at, const char *name)
{
    while (at && strcmp(at->name, name) != 0)
        at = at->next;
    return at;
}

static const struct module *find_module(const struct module *at, const char *name)
{
    while (at && strcmp(at->name, name) != 0)
        at = at->next;
    return at;
}

/* Adds a machine. Returns what is wrong; NULL: nothing. */
static const char *add_target(struct probes *probes, const char *name, const char *address,
                              struct target ***end)
{
    if (find_target(probes->targets, name))
        return "this machine is in the file already";
    struct target *target = calloc(1, sizeof *target);
    if (!target)
        return "no memory";
    **end = target;
    *end = &target->next;
    target->name = strdup(name);
    target->address = strdup(address);
    return target->name && target->address ? NULL : "no memory";
}

static const char *add_module(struct probes *probes, const char *name, char *titles)
{
    if (find_module(probes->modules, name))
        return "this module is in the file already";
    struct module *module = calloc(1, sizeof *module);
    if (!module)
        return "no memory";
    module->next = probes->modules;
    probes->modules = module;
    module->name = strdup(name);
    bool good = module->name;
    for (char *rest, *title = strtok_r(titles, ",", &rest); good && title;
         title = strtok_r(NULL, ",", &rest))
        good = text_list_add(&module->objects, trim(title));
    return good ? NULL : "no memory";
}

/* Takes a line of the file; returns what is wrong; NULL: nothing. */
static const char *take_line(struct probes *probes, char *line, bool *modules, struct target ***end)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "._-";
    if (*line == '#')
        return NULL;
    if (*line == '[') {
        *modules = !strcmp(line, "[modules]");
        return *modules || !strcmp(line, "[machines]") ? NULL : "expected [machines] or [modules]";
    }
    char *value = strchr(line, '=');
    if (!value)
        return "expected NAME = ADDRESS, or in [modules] NAME = OBJECT, OBJECT";
    *value++ = '\0';
    char *name = trim(line);
    value = trim(value);
    if (!*name || strlen(name) > NAME_MOST || name[strspn(name, allowed)])
        return "a name has letters, digits, '.', '-' and '_'";
    if (!*value)
        return "there is nothing after '='";
    return *modules ? add_module(probes, name, value) : add_target(probes, name, value, end);
}

static bool read_file(struct probes *probes, const char *path)
{
    struct text_list lines = {0};
    struct target **end = &probes->targets;
    const char *problem = NULL, *line = NULL;
    bool modules = false;
    if (!text_list_read(&lines, path))
        problem = strerror(errno);
    for (size_t i = 0; !problem && i < lines.count; i++) {
        char *copy = strdup(lines.texts[i]);
        line = lines.texts[i];
        problem = copy ? take_line(probes, copy, &modules, &end) : "no memory";
        free(copy);
    }
    if (problem)
        fprintf(stderr, "openperflib-serve: --metrics-machines: %s: %s%s%s\n", text_seen(path),
                line ? text_seen(line) : "", line ? ": " : "", problem);
    text_list_done(&lines);
    return !problem;
}

/* ---- one probe ---- */

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void wake(int event)
{
    const uint64_t one = 1;
    if (write(event, &one, sizeof one) < 0)
        return; /* it is readable already */
}

static void *run_thread(void *argument)
{
    struct probe *probe = argument;
    int event = probe->probes->event; /* the main thread may free a probe that has ended */
    probe->status = metrics_collect_titles(probe->target->metrics, probe->module->objects.texts,
                                           probe->module->objects.count, &probe->text.sink);
    if (!probe->status && probe->text.failed)
        probe->status = ERROR_NOT_ENOUGH_MEMORY;
    atomic_store(&probe->ended, true);
    wake(event);
    return NULL;
}

static bool start_thread(struct probe *probe)
{
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, STACK_SIZE);
    bool good = probe->target->metrics && !pthread_create(&thread, &attributes, run_thread, probe);
    pthread_attr_destroy(&attributes);
    return good;
}

/* Ends a probe, whose request is then answered. */
static void finish(struct probe *probe, LSTATUS status, const char *reason)
{
    probe->state = PROBE_DONE;
    probe->status = status;
    probe->reason = reason;
    if (probe->connection)
        http_resume(probe->connection);
}

/* Starts a probe that waits, if its machine is free and not too many others are read. */
static void start(struct probes *probes, struct probe *probe)
{
    struct target *target = probe->target;
    bool place = probes->running - probes->overdue < RUNNING_MOST && probes->running < THREADS_MOST;
    if (target->running && !target->running->reason)
        return; /* it waits for another request of the same machine */
    if (target->running)
        finish(probe, WAIT_TIMEOUT, "an earlier query has had no answer yet");
    else if (seconds_now() < target->not_before)
        finish(probe, target->status, NULL);
    else if (place && !start_thread(probe))
        finish(probe, ERROR_NOT_ENOUGH_MEMORY, NULL);
    else if (place) {
        target->running = probe;
        probe->state = PROBE_RUNS;
        probes->running++;
    }
}

/* Takes over the result of a thread. A machine that cannot be read is left alone for 1, 2, 4 and at
 * most 32 seconds. */
static void take_result(struct probes *probes, struct probe *probe)
{
    struct target *target = probe->target;
    target->running = NULL;
    probes->running--;
    probes->overdue -= probe->reason != NULL;
    target->status = probe->status;
    target->failures = probe->status ? target->failures + 1 : 0;
    unsigned doubled = target->failures < 6 ? target->failures : 6;
    if (doubled)
        target->not_before = seconds_now() + (PAUSE_MOST_SECONDS >> (6 - doubled));
    if (probe->reason)
        probe->state = PROBE_DONE; /* it was answered, or will be */
    else
        finish(probe, probe->status, NULL);
}

/* Lets the request be answered without the result. */
static void miss_time(struct probes *probes, struct probe *probe)
{
    bool runs = probe->state == PROBE_RUNS;
    probes->overdue += runs;
    probe->reason = runs ? "there was no answer in time" : "other queries took the whole time";
    probe->state = runs ? PROBE_RUNS : PROBE_DONE;
    http_resume(probe->connection);
}

/* Does the probe's request wait for more than its turn to be answered? */
static bool is_open(const struct probe *probe)
{
    return probe->connection && probe->state != PROBE_DONE && !probe->reason;
}

static void free_probe(struct probes *probes, struct probe *probe)
{
    struct probe **at = &probes->first;
    while (*at != probe)
        at = &(*at)->next;
    *at = probe->next;
    free(probe->text.bytes);
    free(probe);
}

void probes_run(struct probes *probes)
{
    uint64_t times;
    double now = seconds_now();
    if (read(probes->event, &times, sizeof times) < 0)
        times = 0; /* a deadline is over */
    for (struct probe *probe = probes->first, *next; probe; probe = next) {
        next = probe->next;
        if (probe->state == PROBE_RUNS && atomic_load(&probe->ended)) {
            take_result(probes, probe);
            if (!probe->connection)
                free_probe(probes, probe);
        }
    }
    for (struct probe *probe = probes->first; probe; probe = probe->next)
        if (is_open(probe) && now >= probe->deadline)
            miss_time(probes, probe);
    for (struct probe *probe = probes->first; probe; probe = probe->next)
        if (probe->state == PROBE_WAITS)
            start(probes, probe);
}

int probes_wait(const struct probes *probes)
{
    double first = INFINITY, now = seconds_now();
    for (const struct probe *probe = probes->first; probe; probe = probe->next)
        if (is_open(probe) && probe->deadline < first)
            first = probe->deadline;
    return first == INFINITY ? -1 : first <= now ? 0 : (int)((first - now) * 1000) + 1;
}

void probes_forget(struct job *job)
{
    struct probe *probe = (struct probe *)job;
    probe->connection = NULL;
    if (probe->state != PROBE_RUNS)
        free_probe(probe->probes, probe);
}

/* ---- answers ---- */

static double time_limit(const struct request *request)
{
    const char *text = request_header(request, "X-Prometheus-Scrape-Timeout-Seconds");
    char *end;
    double seconds = text ? strtod(text, &end) : 0;
    if (!text || end == text || *end || !(seconds > 0))
        return usual_seconds;
    seconds = seconds > 2 * margin ? seconds - margin : seconds / 2;
    return seconds < least_seconds  ? least_seconds
           : seconds > most_seconds ? most_seconds
                                    : seconds;
}

static void begin(struct probes *probes, const struct request *request, struct target *target,
                  const struct module *module, struct reply *reply)
{
    struct probe *probe = calloc(1, sizeof *probe), **end = &probes->first;
    if (!probe) {
        reply->status = HTTP_BUSY;
        return;
    }
    double now = seconds_now();
    *probe = (struct probe){.probes = probes,
                            .connection = request->connection,
                            .target = target,
                            .module = module,
                            .text.most = TEXT_MOST,
                            .begun = now,
                            .deadline = now + time_limit(request)};
    exposition_begin(&probe->text, exposition_format(request_header(request, "Accept")));
    while (*end)
        end = &(*end)->next;
    *end = probe;
    reply->job = (struct job *)probe;
    wake(probes->event);
}

static void emit_reason(const struct probe *probe, struct exposition *text)
{
    static const struct metric_value one = {.whole = 1};
    char reason[REASON_SIZE], label[2 * REASON_SIZE + 16] = "reason=\"", number[64] = "";
    const char *why = probe->reason;
    if (!why) { /* else the thread may still be running, and the status is its own */
        snprintf(number, sizeof number, "error %ld", (long)probe->status);
        why = probe->status == ERROR_MORE_DATA ? "its answer is too large"
              : probe->status == ERROR_NOT_ENOUGH_MEMORY
                  ? "its answer needs too much memory"
                  : machine_message(probe->target->address, probe->status);
    }
    metric_utf8(why ? why : number, reason, sizeof reason);
    strcat(label + metric_escape(reason, label + 8), "\"");
    metrics_emit(&text->sink, "perf_probe_failure", "1; the label says why there are no values.",
                 label, &one, true);
}

static void finish_answer(struct probe *probe, struct reply *reply)
{
    bool good = !probe->reason && !probe->status;
    struct exposition text = {0}; /* the thread may still be writing the probe's */
    exposition_begin(&text, probe->text.format);
    if (good) {
        text = probe->text;
        probe->text.bytes = NULL;
    }
    const struct metric_value success = {.whole = good};
    const struct metric_value took = {.is_real = true, .real = seconds_now() - probe->begun};
    metrics_emit(&text.sink, "perf_probe_success", "1 if the machine was read.", NULL, &success,
                 true);
    metrics_emit(&text.sink, "perf_probe_duration_seconds",
                 "How long it took, with the wait for other queries.", NULL, &took, true);
    if (!good)
        emit_reason(probe, &text);
    exposition_end(&text);
    if (text.failed) {
        free(text.bytes);
        reply->status = HTTP_BUSY;
        fputs("There is no memory for the answer.\n", reply->out);
        return;
    }
    reply->type = exposition_type(text.format);
    reply->fixed = text.bytes;
    reply->fixed_size = text.size;
    reply->sent = free;
    reply->owner = text.bytes;
}

void probes_answer(struct probes *probes, const struct request *request, struct reply *reply)
{
    if (request->job) {
        finish_answer((struct probe *)request->job, reply);
        return;
    }
    const char *name = request_word(request, "target"), *wanted = request_word(request, "module");
    struct target *target = name ? find_target(probes->targets, name) : NULL;
    const struct module *module = find_module(probes->modules, wanted ? wanted : "default");
    if (!module && (!wanted || !strcmp(wanted, "default")))
        module = &probes->usual;
    if (target && module) {
        begin(probes, request, target, module, reply);
        return;
    }
    reply->status = HTTP_MISSING;
    if (!target)
        fputs("target=NAME must be a machine of the file of --metrics-machines; /sd lists them.\n",
              reply->out);
    else
        fputs("There is no such module in the file of --metrics-machines.\n", reply->out);
}

void probes_list(const struct probes *probes, struct reply *reply)
{
    struct json json = {.out = reply->out, .flat = true};
    reply->type = "application/json";
    json_open(&json, NULL, '[');
    json_open(&json, NULL, '{');
    json_open(&json, "targets", '[');
    for (const struct target *target = probes->targets; target; target = target->next)
        json_string(&json, NULL, target->name);
    json_close(&json, ']');
    json_close(&json, '}');
    json_close(&json, ']');
}

/* ---- all ---- */

int probes_descriptor(const struct probes *probes)
{
    return probes->event;
}

/* Each machine has a descriptor of this process. */
static void raise_limit(size_t machines)
{
    struct rlimit limit;
    rlim_t wanted = 1024 + 2 * machines;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted)
        return;
    limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
    setrlimit(RLIMIT_NOFILE, &limit);
}

struct probes *probes_new(const char *path, const struct metrics_options *options)
{
    struct probes *probes = calloc(1, sizeof *probes);
    size_t count = 0;
    if (!probes)
        return NULL;
    probes->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    bool good = probes->event >= 0 && read_file(probes, path);
    for (struct target *target = probes->targets; good && target; target = target->next) {
        const struct metrics_settings settings = {options->processes, (size_t)options->series,
                                                  target->address};
        target->metrics = metrics_new(&settings);
        good = target->metrics;
        count++;
    }
    if (good) {
        raise_limit(count);
        return probes;
    }
    probes_free(probes);
    return NULL;
}

bool probes_free(struct probes *probes)
{
    if (!probes)
        return true;
    if (probes->running)
        return false;
    for (struct target *target = probes->targets, *next; target; target = next) {
        next = target->next;
        metrics_free(target->metrics);
        free(target->name);
        free(target->address);
        free(target);
    }
    for (struct module *module = probes->modules, *next; module; module = next) {
        next = module->next;
        text_list_done(&module->objects);
        free(module->name);
        free(module);
    }
    if (probes->event >= 0)
        close(probes->event);
    free(probes);
    return true;
}
