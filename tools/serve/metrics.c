/* SPDX-License-Identifier: MIT */
/* Answers Prometheus: /metrics by tools/metrics, in the program's only thread. */
#include "web-config.h"

#include "../common/options.h"
#include "../common/browser.h"
#include "../metrics/groups.h"
#include "../push/push.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* PROBES_MOST: connections more, where each probe keeps one until it is answered */
enum { CONNECTIONS_MOST = 32, PROBES_MOST = 256, COLLECT_MOST = 64 };

/* An answer's text. It is sent from this memory, which the next answer then reuses. */
struct answer_text {
    struct exposition text; /* the first member */
    struct answer_text *next;
    bool busy;
};

struct exporter {
    struct metrics *metrics;
    struct probes *probes; /* NULL: no other machines */
    struct access *access;
    struct web_config *web; /* NULL: neither TLS nor passwords */
    struct push *push;      /* NULL: nothing is sent */
    bool any_host;          /* requests by any host name are answered */
    struct answer_text *texts;
};

static struct answer_text *free_text(struct exporter *exporter)
{
    struct answer_text *text = exporter->texts;
    while (text && text->busy)
        text = text->next;
    if (!text && (text = calloc(1, sizeof *text))) {
        text->next = exporter->texts;
        exporter->texts = text;
    }
    return text;
}

static void sent(void *owner)
{
    ((struct answer_text *)owner)->busy = false;
}

static enum http_status early(void *context, const struct request *request, const char **ret_why)
{
    const struct exporter *exporter = context;
    enum http_status status =
        exporter->any_host ? HTTP_GOOD : access_check(exporter->access, request, ret_why);
    return status == HTTP_GOOD && exporter->web ? web_config_check(exporter->web, request, ret_why)
                                                : status;
}

/* ---- collect[] ---- */

static void list_object(void *out, const char *title, const char *prefix)
{
    fprintf(out, "%s (%s)\n", prefix, title);
}

struct chosen_objects {
    struct exporter *exporter;
    uint32_t objects[COLLECT_MOST];
    size_t count;
    const char *unknown; /* a word that names no object; NULL: each names one */
};

static bool take_object(void *context, const char *name, const char *value)
{
    struct chosen_objects *collected = context;
    if (strcmp(name, "collect[]") != 0)
        return true;
    uint32_t index = value ? metrics_find(collected->exporter->metrics, value) : 0;
    if (index && collected->count < COLLECT_MOST)
        collected->objects[collected->count++] = index;
    else
        collected->unknown = value ? value : "";
    return !collected->unknown;
}

static void answer_metrics(struct exporter *exporter, const struct request *request,
                           struct reply *reply)
{
    struct chosen_objects collected = {.exporter = exporter};
    request_each_word(request, take_object, &collected);
    reply->type = "text/plain; charset=utf-8";
    if (collected.unknown) {
        reply->status = HTTP_BAD;
        fprintf(reply->out, "collect[]=%s: %s. These can be collected:\n", collected.unknown,
                collected.count == COLLECT_MOST ? "too many objects" : "there is no such object");
        metrics_each(exporter->metrics, list_object, reply->out);
        return;
    }
    struct answer_text *text = free_text(exporter);
    LSTATUS status = ERROR_NOT_ENOUGH_MEMORY;
    if (text) {
        exposition_begin(&text->text, exposition_format(request_header(request, "Accept")));
        status = metrics_collect(exporter->metrics, collected.objects, collected.count,
                                 &text->text.sink);
        if (exporter->push)
            push_emit(exporter->push, &text->text.sink);
        exposition_end(&text->text);
    }
    if (status || text->text.failed) {
        reply->status = HTTP_BUSY;
        fprintf(reply->out, "The counters could not be read: status %ld.\n",
                status ? (long)status : (long)ERROR_NOT_ENOUGH_MEMORY);
        return;
    }
    text->busy = true;
    reply->type = exposition_type(text->text.format);
    reply->fixed = text->text.bytes;
    reply->fixed_size = text->text.size;
    reply->sent = sent;
    reply->owner = text;
}

static void answer(void *context, const struct request *request, struct reply *reply)
{
    struct exporter *exporter = context;
    bool root = !strcmp(request->path, "/");
    reply->type = "text/plain; charset=utf-8";
    if (strcmp(request->method, "GET") != 0 && strcmp(request->method, "HEAD") != 0) {
        reply->status = HTTP_METHOD;
    } else if (!strcmp(request->path, "/metrics")) {
        answer_metrics(exporter, request, reply);
    } else if (exporter->probes && !strcmp(request->path, "/probe")) {
        probes_answer(exporter->probes, request, reply);
    } else if (exporter->probes && !strcmp(request->path, "/sd")) {
        probes_list(exporter->probes, reply);
    } else {
        reply->status = root ? HTTP_GOOD : HTTP_MISSING;
        fputs("The metrics of this machine are at /metrics.\n", reply->out);
        fputs(exporter->probes
                  ? "Those of other machines are at /probe?target=NAME; /sd lists them.\n"
                  : "With --metrics-machines FILE, those of other machines are at /probe.\n",
              reply->out);
    }
}

/* ---- the loop ---- */

static void wait_for_probes(void *context, struct waits *waits)
{
    const struct exporter *exporter = context;
    if (exporter->probes)
        probes_wait(exporter->probes, waits);
}

static void run_probes(void *context)
{
    const struct exporter *exporter = context;
    if (exporter->probes)
        probes_run(exporter->probes);
}

static int serve(struct exporter *exporter, const struct listeners *listeners, int signals)
{
    struct http_calls calls = {.early = early,
                               .answer = answer,
                               .forget = probes_forget,
                               .context = exporter,
                               .challenge = "Basic realm=\"metrics\"",
                               .tls = web_config_tls(exporter->web)};
    struct loop loop = {wait_for_probes, run_probes, exporter, signals};
    unsigned most = CONNECTIONS_MOST + (exporter->probes ? PROBES_MOST : 0);
    bool good = exporter->metrics && exporter->access && loop_open(&loop, listeners, most, &calls);
    if (good) {
        if (!listeners->passed)
            printf("Serving metrics at port %u: http%s%s\n", listeners->port, calls.tls ? "s" : "",
                   listeners->link + 4);
        fflush(stdout);
        loop_run(&loop);
    } else {
        fputs(calls.tls ? "openperflib-serve: no memory, or the certificate or key is wrong\n"
                        : "openperflib-serve: no memory, or libmicrohttpd could not be started\n",
              stderr);
    }
    loop_close(&loop);
    return good ? EXIT_GOOD : EXIT_FAILED;
}

struct vocabulary *metrics_names(const char *name, char path[static PATH_MAX],
                                 char why[static VOCABULARY_WHY])
{
    const char *build = secure_getenv("OPENPERFLIB_VENDOR"); /* not installed yet */
    snprintf(path, PATH_MAX, strchr(name, '/') ? "%s" : OPL_METRIC_NAMES "/%s.tsv", name);
    if (build && !strchr(name, '/') && access(path, R_OK) != 0)
        snprintf(path, PATH_MAX, "%s/tools/%s.tsv", build, name);
    if (strchr(name, '/') || access(path, R_OK) == 0)
        return vocabulary_read(path, why);
    snprintf(path, PATH_MAX, "%s", name);
    snprintf(why, VOCABULARY_WHY,
             "expected windows_exporter, node_exporter, or the path of a file, with a slash");
    return NULL;
}

/* Reads the names of another exporter. Returns an exit code, after a message if it failed. */
static int read_names(const char *name, struct vocabulary **ret)
{
    char path[PATH_MAX], why[VOCABULARY_WHY];
    *ret = metrics_names(name, path, why);
    if (!*ret)
        fprintf(stderr, "openperflib-serve: --metrics-names: %s: %s\n", text_seen(path), why);
    return *ret ? EXIT_GOOD : strchr(name, '/') ? EXIT_FAILED : EXIT_USAGE;
}

/* Reads the rules of process groups. Their sums are kept in the unit's folder or in
 * XDG_RUNTIME_DIR, which last as long as the processes do; if they are `pushed`, in a file of their
 * own. Returns an exit code, after a message if it failed. */
static int read_groups(const char *what, bool pushed, struct groups **ret)
{
    char path[PATH_MAX], why[GROUP_WHY];
    const char *folder = getenv("RUNTIME_DIRECTORY");
    struct group_rules *rules = group_rules_read(what, why);
    if (!rules) {
        fprintf(stderr, "openperflib-serve: --metrics-groups: %s: %s\n", text_seen(what), why);
        return strchr(what, '/') ? EXIT_FAILED : EXIT_USAGE;
    }
    bool found = browser_path(pushed ? "openperflib-push.groups" : "openperflib-metrics.groups",
                              path, sizeof path);
    if (folder)
        found = snprintf(path, sizeof path, pushed ? "%s/push-groups" : "%s/groups", folder) <
                (int)sizeof path;
    if (!found)
        fputs("openperflib-serve: there is no folder XDG_RUNTIME_DIR of this user alone, so "
              "the counters of process groups begin anew with each start\n",
              stderr);
    if (found && !group_state_lock(path)) {
        found = false;
        fprintf(stderr,
                "openperflib-serve: %s is not written, because another exporter uses it: the "
                "counters of process groups begin anew with each start of this one\n",
                text_seen(path));
    }
    *ret = groups_new(rules, found ? path : NULL);
    if (!*ret)
        group_rules_free(rules);
    return *ret ? EXIT_GOOD : EXIT_FAILED;
}

int metrics_read_settings(const struct metrics_options *options, bool pushed,
                          struct metrics_settings *ret)
{
    *ret = (struct metrics_settings){.processes = options->processes,
                                     .series_most = (size_t)options->series};
    /* names of the user's own, once if they are also pushed */
    ret->report_names =
        options->names && strchr(options->names, '/') && pushed == !options->address;
    int code = options->names ? read_names(options->names, &ret->names) : EXIT_GOOD;
    if (!code && options->groups && (code = read_groups(options->groups, pushed, &ret->groups)))
        vocabulary_free(ret->names);
    return code;
}

int metrics_serve(const struct metrics_options *options, int signals)
{
    struct listeners listeners = {0};
    struct metrics_settings settings;
    struct exporter exporter = {.push = options->push};
    int code = EXIT_FAILED;
    if (signals < 0 ||
        (options->machines && !(exporter.probes = probes_new(options->machines, options))) ||
        (options->web_config && !(exporter.web = web_config_read(options->web_config))) ||
        (code = listen_metrics(&listeners, options->address,
                               options->insecure || web_config_tls(exporter.web))) ||
        (code = metrics_read_settings(options, false, &settings))) {
        web_config_free(exporter.web);
        probes_free(exporter.probes);
        return code;
    }
    exporter.metrics = metrics_new(&settings);
    /* a page of another site could be shown under a host name that leads here (DNS rebinding); with
     * TLS, the certificate prevents that */
    exporter.access = access_new(options->hosts, (gid_t)-1, "");
    exporter.any_host = options->insecure || web_config_tls(exporter.web);
    code = serve(&exporter, &listeners, signals);
    while (exporter.texts) {
        struct answer_text *next = exporter.texts->next;
        free(exporter.texts->text.bytes);
        free(exporter.texts);
        exporter.texts = next;
    }
    access_free(exporter.access);
    web_config_free(exporter.web);
    metrics_free(exporter.metrics);
    if (!probes_free(exporter.probes)) {
        fflush(NULL);
        _exit(code); /* threads wait for machines, at most for the library's deadline */
    }
    return code;
}
