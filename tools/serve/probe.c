/* SPDX-License-Identifier: MIT */
/*
 * Answers /probe: the metrics of other machines, those of a file. A request is a probe, which waits
 * until its machine is free, is then run by a thread of its own, and is answered by the main thread
 * when it has ended or when its time is over. A thread ends when the library's deadline does, so a
 * machine that hangs has one thread, and none as long as it is left alone after a failure.
 *
 * A change of the file is noticed by the next request.
 */
#include "serve.h"

#include "../common/clock.h"
#include "../common/machine-message.h"
#include "../common/text-list.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <winerror.h>

/* RUNNING_MOST: queries whose requests still wait. Those that have missed their time are not
 * counted, so that machines that hang keep no others out, until there are THREADS_MOST. */
enum {
    RUNNING_MOST = 32,
    THREADS_MOST = 256,
    WAITING_MOST = 220, /* requests; their connections leave places for others */
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
/* What the file says. After a change, machines that stayed are moved to the new contents; the rest
 * is freed when no probe has these or older contents. */
struct contents {
    struct contents *newer;
    struct target *targets;
    struct module *modules;
    unsigned probes;
};
/* Names of another exporter, once they were requested. */
struct names {
    struct names *next;
    char *name;
    struct vocabulary *vocabulary;
};
enum probe_state { PROBE_WAITS, PROBE_RUNS, PROBE_DONE };
struct probe {
    struct probe *next;
    struct probes *probes;
    struct connection *connection; /* NULL: the request was answered, or is gone */
    struct contents *contents;     /* those that have the module */
    struct target *target;
    const struct module *module;
    struct vocabulary *names; /* NULL: our own */
    enum probe_state state;   /* only the main thread uses it */
    atomic_bool ended;        /* the thread is done with the members below */
    LSTATUS status;
    struct exposition text;
    double begun, deadline;
    /* why it has failed, if not because of the status; set while it runs: its time is over */
    const char *reason;
};
struct probes {
    const struct metrics_options *options;
    const char *path;
    struct stat seen; /* of the file, when it was read; zeros: there was none */
    struct contents *oldest, *newest;
    struct module usual;
    struct names *names;
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
static const char *add_target(struct contents *contents, const char *name, const char *address,
                              struct target ***end)
{
    if (find_target(contents->targets, name))
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

static const char *add_module(struct contents *contents, const char *name, char *titles)
{
    if (find_module(contents->modules, name))
        return "this module is in the file already";
    struct module *module = calloc(1, sizeof *module);
    if (!module)
        return "no memory";
    module->next = contents->modules;
    contents->modules = module;
    module->name = strdup(name);
    bool good = module->name;
    for (char *rest, *title = strtok_r(titles, ",", &rest); good && title;
         title = strtok_r(NULL, ",", &rest))
        good = text_list_add(&module->objects, trim(title));
    return good ? NULL : "no memory";
}

/* Takes a line of the file; returns what is wrong; NULL: nothing. */
static const char *take_line(struct contents *contents, char *line, bool *modules,
                             struct target ***end)
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
    return *modules ? add_module(contents, name, value) : add_target(contents, name, value, end);
}

static bool read_file(const char *path, struct contents *contents, const char *otherwise)
{
    struct text_list lines = {0};
    struct target **end = &contents->targets;
    const char *problem = NULL, *line = NULL;
    bool modules = false;
    if (!text_list_read(&lines, path))
        problem = strerror(errno);
    for (size_t i = 0; !problem && i < lines.count; i++) {
        char *copy = strdup(lines.texts[i]);
        line = lines.texts[i];
        problem = copy ? take_line(contents, copy, &modules, &end) : "no memory";
        free(copy);
    }
    if (problem)
        fprintf(stderr, "openperflib-serve: --metrics-machines: %s: %s%s%s%s\n", text_seen(path),
                line ? text_seen(line) : "", line ? ": " : "", problem, otherwise);
    text_list_done(&lines);
    return !problem;
}

static void free_target(struct target *target)
{
    metrics_free(target->metrics);
    free(target->name);
    free(target->address);
    free(target);
}

static void free_contents(struct contents *contents)
{
    for (struct target *target = contents->targets, *next; target; target = next) {
        next = target->next;
        free_target(target);
    }
    for (struct module *module = contents->modules, *next; module; module = next) {
        next = module->next;
        text_list_done(&module->objects);
        free(module->name);
        free(module);
    }
    free(contents);
}

/* Frees contents that are neither the newest nor used, but none that is newer than used ones, whose
 * machines it may have. */
static void free_unused(struct probes *probes)
{
    while (probes->oldest != probes->newest && !probes->oldest->probes) {
        struct contents *next = probes->oldest->newer;
        free_contents(probes->oldest);
        probes->oldest = next;
    }
}

/* Moves the machines that are in the new contents, too, with their connections. */
static void move_targets(struct contents *from, struct contents *to)
{
    for (struct target **at = &to->targets; *at; at = &(*at)->next) {
        struct target **old = &from->targets, *fresh = *at;
        while (*old && (strcmp((*old)->name, fresh->name) != 0 ||
                        strcmp((*old)->address, fresh->address) != 0))
            old = &(*old)->next;
        if (!*old)
            continue;
        *at = *old;
        *old = (*old)->next;
        (*at)->next = fresh->next;
        free_target(fresh);
    }
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

static bool is_same(const struct stat *left, const struct stat *right)
{
    return left->st_dev == right->st_dev && left->st_ino == right->st_ino &&
           left->st_size == right->st_size && !memcmp(&left->st_mtim, &right->st_mtim, 16) &&
           !memcmp(&left->st_ctim, &right->st_ctim, 16);
}

/* Reads the file if it has changed. False, after a message: it is damaged; the contents are as
 * before. */
static bool refresh(struct probes *probes)
{
    const struct metrics_options *options = probes->options;
    struct stat now = {0};
    size_t count = 0;
    if (stat(probes->path, &now) != 0)
        now = (struct stat){0};
    if (probes->newest && is_same(&now, &probes->seen))
        return true;
    probes->seen = now;
    struct contents *contents = calloc(1, sizeof *contents);
    bool good = contents && read_file(probes->path, contents,
                                      probes->newest ? "; the machines stay as they were" : "");
    if (good && probes->newest)
        move_targets(probes->newest, contents);
    for (struct target *at = good ? contents->targets : NULL; at; at = at->next, count++) {
        const struct metrics_settings settings = {options->processes, (size_t)options->series,
                                                  at->address};
        if (!at->metrics)
            at->metrics = metrics_new(&settings); /* without memory, each probe reports that */
    }
    if (!good) {
        if (contents)
            free_contents(contents);
        return false;
    }
    raise_limit(count);
    if (probes->newest)
        probes->newest->newer = contents;
    else
        probes->oldest = contents;
    probes->newest = contents;
    free_unused(probes);
    return true;
}

/* ---- one probe ---- */

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
    probe->status =
        metrics_collect_titles(probe->target->metrics, probe->module->objects.texts,
                               probe->module->objects.count, probe->names, &probe->text.sink);
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
    else if (clock_seconds(CLOCK_BOOTTIME) < target->not_before)
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
        target->not_before = clock_seconds(CLOCK_BOOTTIME) + (PAUSE_MOST_SECONDS >> (6 - doubled));
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
    probe->contents->probes--;
    free(probe->text.bytes);
    free(probe);
    free_unused(probes);
}

void probes_run(struct probes *probes)
{
    uint64_t times;
    double now = clock_seconds(CLOCK_BOOTTIME);
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

void probes_wait(const struct probes *probes, struct waits *waits)
{
    double first = INFINITY, now = clock_seconds(CLOCK_BOOTTIME);
    for (const struct probe *probe = probes->first; probe; probe = probe->next)
        if (is_open(probe) && probe->deadline < first)
            first = probe->deadline;
    waits_add(waits, probes->event,
              first == INFINITY ? -1
              : first <= now    ? 0
                                : (int)((first - now) * 1000) + 1);
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

static void begin(struct probes *probes, const struct request *request, const struct probe *what,
                  struct reply *reply)
{
    struct probe **end = &probes->first, *probe;
    unsigned waiting = 0;
    for (; *end; end = &(*end)->next)
        waiting += (*end)->connection != NULL;
    if (waiting >= WAITING_MOST || !(probe = calloc(1, sizeof *probe))) {
        reply->status = HTTP_BUSY;
        fputs("Too many requests wait for their machines.\n", reply->out);
        return;
    }
    double now = clock_seconds(CLOCK_BOOTTIME);
    *probe = (struct probe){.probes = probes,
                            .connection = request->connection,
                            .contents = probes->newest,
                            .target = what->target,
                            .module = what->module,
                            .names = what->names,
                            .text.most = TEXT_MOST,
                            .begun = now,
                            .deadline = now + time_limit(request)};
    probe->contents->probes++;
    exposition_begin(&probe->text, exposition_format(request_header(request, "Accept")));
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
    const struct metric_value took = {.is_real = true,
                                      .real = clock_seconds(CLOCK_BOOTTIME) - probe->begun};
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

/* Reads the names, or returns those that were read before. NULL: there are none. */
static struct vocabulary *read_names(struct probes *probes, const char *name)
{
    char path[PATH_MAX], why[VOCABULARY_WHY];
    for (struct names *at = probes->names; at; at = at->next)
        if (!strcmp(at->name, name))
            return at->vocabulary;
    struct names *names = calloc(1, sizeof *names);
    if (names && (names->name = strdup(name)) &&
        (names->vocabulary = metrics_names(name, path, why))) {
        names->next = probes->names;
        probes->names = names;
        return names->vocabulary;
    }
    free(names ? names->name : NULL);
    free(names);
    return NULL;
}

/* Finds the names that a request chooses; `wanted` NULL: those of --metrics-names. False: there are
 * none. */
static bool find_names(struct probes *probes, const char *wanted, struct vocabulary **ret)
{
    const char *name = wanted ? wanted : probes->options->names;
    *ret = NULL;
    if (!name || !strcmp(name, "perf"))
        return true;
    if (!wanted ||
        (*wanted && !wanted[strspn(wanted, "abcdefghijklmnopqrstuvwxyz_")])) /* no path */
        *ret = read_names(probes, name);
    return *ret;
}

void probes_answer(struct probes *probes, const struct request *request, struct reply *reply)
{
    if (request->job) {
        finish_answer((struct probe *)request->job, reply);
        return;
    }
    struct probe what = {0};
    const char *name = request_word(request, "target"), *wanted = request_word(request, "module");
    refresh(probes);
    what.target = name ? find_target(probes->newest->targets, name) : NULL;
    what.module = find_module(probes->newest->modules, wanted ? wanted : "default");
    if (!what.module && (!wanted || !strcmp(wanted, "default")))
        what.module = &probes->usual;
    bool known = find_names(probes, request_word(request, "names"), &what.names);
    if (what.target && what.module && known) {
        begin(probes, request, &what, reply);
        return;
    }
    reply->status = HTTP_MISSING;
    if (!what.target)
        fputs("target=NAME must be a machine of the file of --metrics-machines; /sd lists them.\n",
              reply->out);
    else if (!what.module)
        fputs("There is no such module in the file of --metrics-machines.\n", reply->out);
    else
        fputs("names=NAME must be perf, windows_exporter or node_exporter.\n", reply->out);
}

void probes_list(struct probes *probes, struct reply *reply)
{
    struct json json = {.out = reply->out, .flat = true};
    refresh(probes);
    reply->type = "application/json";
    json_open(&json, NULL, '[');
    json_open(&json, NULL, '{');
    json_open(&json, "targets", '[');
    for (const struct target *target = probes->newest->targets; target; target = target->next)
        json_string(&json, NULL, target->name);
    json_close(&json, ']');
    json_close(&json, '}');
    json_close(&json, ']');
}

/* ---- all ---- */

struct probes *probes_new(const char *path, const struct metrics_options *options)
{
    struct probes *probes = calloc(1, sizeof *probes);
    if (!probes)
        return NULL;
    probes->options = options;
    probes->path = path;
    probes->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (probes->event >= 0 && refresh(probes))
        return probes;
    probes_free(probes);
    return NULL;
}

bool probes_free(struct probes *probes)
{
    if (!probes)
        return true;
    if (probes->running)
        return false;
    for (struct contents *contents = probes->oldest, *next; contents; contents = next) {
        next = contents->newer;
        free_contents(contents);
    }
    for (struct names *names = probes->names, *next; names; names = next) {
        next = names->next;
        vocabulary_free(names->vocabulary);
        free(names->name);
        free(names);
    }
    if (probes->event >= 0)
        close(probes->event);
    free(probes);
    return true;
}
