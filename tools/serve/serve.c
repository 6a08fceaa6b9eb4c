/* SPDX-License-Identifier: MIT */
/* openperflib-serve: options and the main loop. One thread serves all viewers; the model's samplers
 * have their own threads. */
#include "serve.h"

#include "../common/browser.h"
#include "../push/push.h"

#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum {
    DEFAULT_PORT = 8722,
    DEFAULT_SERIES = 50000,
    DEFAULT_BUFFER_MIB = 64,
    PUSH_SECONDS = 15,
    CONNECTIONS_MOST = 256,
    OTHERS_LEAST = 48
};

static const struct tool tool = {
    .name = "openperflib-serve",
    .summary = "Show performance counters in a browser, or to Prometheus.",
    .usage = "[OPTION]...",
    .rows = serve_rows,
};

/* ---- the loop ---- */

void waits_add(struct waits *waits, int fd, int ms)
{
    waits->polls[waits->count++] = (struct pollfd){.fd = fd, .events = POLLIN};
    if (ms >= 0 && (waits->ms < 0 || ms < waits->ms))
        waits->ms = ms;
}

bool loop_open(struct loop *loop, const struct listeners *listeners, unsigned most,
               const struct http_calls *calls)
{
    for (; loop->count < listeners->count; loop->count++) {
        const struct listener *listener = &listeners->all[loop->count];
        loop->https[loop->count] = http_new(listener->fd, listener->local, most, calls);
        if (!loop->https[loop->count])
            return false;
    }
    return true;
}

void loop_run(struct loop *loop)
{
    while (true) {
        struct waits waits = {.ms = -1};
        waits_add(&waits, loop->signals, -1);
        loop->wait(loop->context, &waits);
        for (size_t i = 0; i < loop->count; i++)
            http_wait(loop->https[i], &waits);
        if ((poll(waits.polls, waits.count, waits.ms) < 0 && errno != EINTR) ||
            waits.polls[0].revents)
            return;
        loop->run(loop->context);
        for (size_t i = 0; i < loop->count; i++)
            http_run(loop->https[i]);
    }
}

void loop_close(struct loop *loop)
{
    while (loop->count)
        http_free(loop->https[--loop->count]);
}

/* ---- the page ---- */

static enum http_status early(void *context, const struct request *request, const char **ret_why)
{
    return access_check(((struct server *)context)->access, request, ret_why);
}

/* Returns how many connections each listener may have: all together use half of the descriptors. */
static unsigned connections_most(size_t listeners)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur / 2 / listeners >= CONNECTIONS_MOST)
        return CONNECTIONS_MOST;
    rlim_t others = limit.rlim_cur / 2; /* for files of providers, captures, records */
    others = others < OTHERS_LEAST ? OTHERS_LEAST : others;
    unsigned most = limit.rlim_cur < others + 4 * listeners
                        ? 4
                        : (unsigned)((limit.rlim_cur - others) / listeners);
    fprintf(stderr,
            "openperflib-serve: %u connections at most, because of the limit of %u descriptors "
            "(ulimit -n)\n",
            most, (unsigned)limit.rlim_cur);
    return most;
}

static void wait_for_page(void *context, struct waits *waits)
{
    const struct server *server = context;
    for (size_t i = 0; i < server->machine_count; i++)
        live_wait(server->machines[i].live, waits);
    captures_wait(server->captures, waits);
    past_wait(server->past, waits);
}

static void run_page(void *context)
{
    const struct server *server = context;
    for (size_t i = 0; i < server->machine_count; i++)
        live_run(server->machines[i].live);
    captures_run(server->captures);
    past_run(server->past);
}

static int open_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    sigprocmask(SIG_BLOCK, &set, NULL); /* before threads are started, which inherit this mask */
    signal(SIGPIPE, SIG_IGN);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Opens a link in the browser or prints it, but only on a terminal: in the journal the secret could
 * be read later. */
static void show_link(struct server *server, bool open, const char *language)
{
    char secret[SECRET_SIZE + 1];
    bool given = access_link(server->access, geteuid(), secret);
    bool opened = open && given && browser_open(server->address, secret, language, false);
    if (open && !opened)
        fputs("openperflib-serve: no browser can be started here\n", stderr);
    if (!given || !isatty(STDOUT_FILENO))
        printf("Serving %s\n", server->address);
    else if (opened)
        printf("Serving %s; \"perfmon open\" opens it again. End with Ctrl+C.\n", server->address);
    else
        printf("%s#%s\nThe link works once; \"perfmon open\" gives another. End with Ctrl+C.\n",
               server->address, secret);
    explicit_bzero(secret, sizeof secret);
    fflush(stdout);
}

/* Serves the sockets until a signal. Returns an exit code. */
static int serve_page(struct server *server, const struct listeners *listeners,
                      const struct serve_settings *settings, int signals)
{
    const struct http_calls calls = {early, api_answer, captures_end, api_upload, server};
    struct loop loop = {wait_for_page, run_page, server, signals};
    bool good = server->access && server->captures && server->past;
    for (size_t i = 0; i < server->machine_count; i++)
        good &= server->machines[i].live && server->machines[i].catalogue;
    if (!good) {
        fputs("openperflib-serve: out of memory\n", stderr);
        return EXIT_FAILED;
    }
    good = loop_open(&loop, listeners, connections_most(listeners->count), &calls);
    if (!good)
        fputs("openperflib-serve: libmicrohttpd could not be started\n", stderr);
    else if (!listeners->passed)
        show_link(server, settings->open, settings->language);
    if (good)
        loop_run(&loop);
    loop_close(&loop);
    return good ? EXIT_GOOD : EXIT_FAILED;
}

/* Finds the path of the file that keeps the sessions: in the state folder that systemd gives to the
 * unit, or beside the socket. */
static void find_sessions(const char *socket, char path[static PATH_MAX])
{
    const char *folder = getenv("RUNTIME_DIRECTORY");
    const char *begin = folder ? folder : socket, *end = folder ? "/sessions" : ".sessions";
    if (!begin || snprintf(path, PATH_MAX, "%s%s", begin, end) >= PATH_MAX)
        *path = '\0';
}

static int run_server(const struct serve_settings *settings, gid_t group, int signals)
{
    char own[PATH_MAX], sessions[PATH_MAX]; /* own: the default path of the Unix socket */
    bool found = !settings->socket && browser_path(BROWSER_SOCKET, own, sizeof own);
    struct listeners listeners = {0};
    struct server server = {0};
    int code = EXIT_FAILED;
    if (signals >= 0 && listen_begin(&listeners, settings->port < 0 ? DEFAULT_PORT : settings->port,
                                     found ? own : settings->socket, !found, group)) {
        snprintf(server.address, sizeof server.address, "http://127.0.0.1:%u/", listeners.port);
        find_sessions(found ? own : settings->socket, sessions);
        server.access = access_new(settings->hosts, group, sessions);
        server.machine_count = settings->machine_count ? settings->machine_count : 1;
        for (size_t i = 0; i < server.machine_count; i++) {
            const char *name = settings->machines[i]; /* NULL: this machine */
            server.machines[i] = (struct machine){name, live_new(name, settings->seconds),
                                                  catalogue_new(name, NULL, 0)};
        }
        server.captures = captures_new();
        server.past = past_new();
        code = serve_page(&server, &listeners, settings, signals);
    }
    for (size_t i = 0; i < server.machine_count; i++) {
        live_free(server.machines[i].live);
        catalogue_free(server.machines[i].catalogue);
    }
    catalogue_wait();
    captures_free(server.captures);
    past_free(server.past);
    access_free(server.access);
    listen_end(&listeners);
    return code;
}

/* Runs what the options say until a signal. Returns an exit code. */
static int run_all(struct serve_settings *settings, gid_t group)
{
    int signals = open_signals(), code = EXIT_GOOD;
    struct push *push = NULL;
    bool page = !settings->push.url || settings->port >= 0 || settings->open || settings->socket ||
                getenv("LISTEN_FDS");
    if (settings->push.url) {
        struct metrics_settings pushed;
        code = metrics_read_settings(&settings->metrics, true, &pushed);
        if (code)
            return code;
        settings->metrics.push = push = push_new(&settings->push, &pushed);
        if (!push)
            return EXIT_FAILED;
    }
    if (settings->metrics.address)
        code = metrics_serve(&settings->metrics, signals);
    else if (page)
        code = run_server(settings, group, signals);
    else
        while (poll(&(struct pollfd){.fd = signals, .events = POLLIN}, 1, -1) < 0 && errno == EINTR)
            continue;
    push_free(push);
    return code;
}

/* Stores the value of --host, --machine or --push-label. False: too many, no name of a host, or it
 * is a plain word. */
static bool take_name(struct serve_settings *settings, int id, const char *name)
{
    if (id == SERVE_HOST && (!*name || strpbrk(name, "/ @")))
        return false;
    if (id == SERVE_HOST && settings->host_count < HOSTS_MOST)
        settings->hosts[settings->host_count++] = name;
    else if (id == SERVE_MACHINE && settings->machine_count < MACHINES_MOST)
        settings->machines[settings->machine_count++] = name;
    else if (id == SERVE_PUSH_LABEL && settings->push.label_count < PUSH_LABELS_MOST)
        settings->push.labels[settings->push.label_count++] = name;
    else
        return false;
    return true;
}

/* Returns what is wrong if an option needs another one that was not given, so that none is ignored
 * without a word; NULL: nothing. */
static const char *lacks_option(const struct serve_settings *settings)
{
    const struct metrics_options *metrics = &settings->metrics;
    const struct push_options *push = &settings->push;
    if (push->url && !push->buffer)
        return "--push needs a folder for samples that wait: --push-buffer FOLDER";
    if (!push->url && (push->label_count || push->auth))
        return "--push-label and --push-auth need --push URL";
    if (!metrics->address && (metrics->web_config || metrics->machines))
        return "--web.config.file and --metrics-machines need --metrics ADDRESS";
    if (!metrics->address && !push->url &&
        (metrics->names || metrics->groups || metrics->processes))
        return "--metrics-names, --metrics-groups and --metrics-processes need --metrics ADDRESS "
               "or "
               "--push URL";
    return NULL;
}

/* Lets the C library give back to the system what an answer about a thousand processes needs for a
 * moment. Otherwise it keeps it. */
static void return_large_memory(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 128 << 10);
    mallopt(M_TOP_PAD, 0);
#endif
}

int main(int argc, char **argv)
{
    struct options options;
    char why[PUSH_WHY];
    struct serve_settings settings = {
        .port = -1,
        .seconds = 1,
        .metrics.series = DEFAULT_SERIES,
        .push = {.buffer = getenv("STATE_DIRECTORY"),
                 .buffer_mib = DEFAULT_BUFFER_MIB,
                 .seconds = PUSH_SECONDS}
    };
    settings.language = getenv("LC_ALL");
    /* the server's names are English; api.c reads those of other languages */
    setenv("LC_ALL", "C.UTF-8", 1);
    if (argc == 6 && !strcmp(argv[1], READER_OPTION))
        reader_main(argv + 2);
    text_begin();
    return_large_memory();
    int id = options_begin(&options, &tool, argc, argv);
    while (id > 0 && (id = options_next(&options)) > 0) {
        int code = id == OPTION_SET ? options_set(&options, &settings) : 0;
        if (id != OPTION_SET && !take_name(&settings, id, options.value))
            code = options_complain(&options, "%s: an unexpected word, no name, or too many names",
                                    text_seen(options.value));
        if (code)
            return code;
    }
    if (id < 0)
        return options_status(id);
    settings.metrics.hosts = settings.hosts;
    settings.push.insecure = settings.metrics.insecure;
    const char *lacks = lacks_option(&settings);
    if (lacks)
        return options_complain(&options, "%s", lacks);
    if (!push_check(&settings.push, why))
        return options_complain(&options, "%s", why);
    if (!settings.group)
        return run_all(&settings, (gid_t)-1);
    const struct group *group = getgrnam(settings.group);
    if (!group)
        return tool_failed(tool.name, "there is no group %s", text_seen(settings.group));
    return run_all(&settings, group->gr_gid);
}
