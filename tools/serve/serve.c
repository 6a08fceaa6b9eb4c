/* SPDX-License-Identifier: MIT */
/* openperflib-serve: options, sockets and the loop. One thread serves everybody; the model's
 * samplers have threads of their own. */
#include "serve.h"

#include "../common/options.h"
#include "../view/text.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { DEFAULT_PORT = 8722, HOSTS_MOST = 16, QUEUE = 64, ALIVE_MS = 1000 };
enum { PORT = 1, SOCKET, HOST, INTERVAL, MACHINE, GROUP };
static const double LEAST_SECONDS = 0.1, MOST_SECONDS = 3600;

/* clang-format off */
static const struct option_row rows[] = {
    {'p', "port", "NUMBER", PORT, "Serve 127.0.0.1 at this port; default 8722, 0 for any free port.", NULL, 0, NULL},
    {0, "socket", "PATH", SOCKET, "The Unix socket for \"perfmon open\".", "@files", 0, NULL},
    {0, "host", "NAME", HOST, "Answer also to this name, for a reverse proxy; several may be given.", NULL, 0, NULL},
    {'i', "interval", "SECONDS", INTERVAL, "Take a sample every SECONDS; default 1.", NULL, 0, NULL},
    {'m', "machine", "MACHINE", MACHINE, "Show another machine; several may be given.", NULL, 0, NULL},
    {0, "group", "NAME", GROUP, "Members of this group may get links by \"perfmon open\", too.", NULL, 0, NULL},
    {0},
};
static const struct tool tool = {
    .name = "openperflib-serve", .summary = "Shows counters to a browser.",
    .usage = "[OPTION]...", .rows = rows,
};
/* clang-format on */

struct settings {
    int64_t port;
    const char *socket, *group;
    const char *machines[MACHINES_MOST];
    size_t machine_count;
    const char *hosts[HOSTS_MOST + 1];
    size_t host_count;
    double seconds;
};

/* ---- sockets: each returns a descriptor, or -1 after a message ---- */

static int complain(const char *what)
{
    fprintf(stderr, "openperflib-serve: %s: %s\n", text_seen(what), strerror(errno));
    return -1;
}

static int listen_port(int64_t port, uint16_t *ret_port)
{
    char what[64];
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    const int yes = 1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    snprintf(what, sizeof what, "127.0.0.1, port %lld (--port)", (long long)port);
    if (fd < 0)
        return complain(what);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(fd, (struct sockaddr *)&address, sizeof address) != 0 || listen(fd, QUEUE) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &size) != 0) {
        complain(what);
        close(fd);
        return -1;
    }
    *ret_port = ntohs(address.sin_port);
    return fd;
}

/* Removes a socket to which no program listens any more. */
static void remove_stale(const struct sockaddr_un *address)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    struct stat about;
    if (fd >= 0 && connect(fd, (const struct sockaddr *)address, sizeof *address) != 0 &&
        errno == ECONNREFUSED && lstat(address->sun_path, &about) == 0 && S_ISSOCK(about.st_mode))
        unlink(address->sun_path);
    if (fd >= 0)
        close(fd);
}

static int listen_path(const char *path, gid_t group)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return complain(path);
    }
    strcpy(address.sun_path, path);
    remove_stale(&address);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    mode_t mask = umask(group == (gid_t)-1 ? 0177 : 0117);
    bool good = fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0;
    umask(mask);
    if (good && group != (gid_t)-1 && lchown(path, (uid_t)-1, group) != 0)
        complain(path); /* root and this user may still use it */
    if (good && listen(fd, QUEUE) == 0)
        return fd;
    complain(path);
    if (fd >= 0)
        close(fd);
    return -1;
}

/* ---- the loop ---- */

struct loop {
    struct server server;
    struct http *https[2];
    size_t http_count;
    int signals;
};

static enum http_status early(void *context, const struct request *request, const char **ret_why)
{
    return access_check(((struct server *)context)->access, request, ret_why);
}

static void answer(void *context, const struct request *request, struct reply *reply)
{
    api_answer(context, request, reply);
}

static void begin(void *context, void *viewer, struct stream *stream)
{
    (void)context;
    live_begin(viewer, stream);
}

static void end(void *context, void *viewer)
{
    (void)context;
    live_end(viewer);
}

static bool serve(struct loop *loop, int listener, bool local)
{
    struct http_calls calls = {early, answer, begin, end, &loop->server};
    struct http *http = http_new(listener, local, &calls);
    if (http)
        loop->https[loop->http_count++] = http;
    else
        fputs("openperflib-serve: libmicrohttpd could not be started\n", stderr);
    return http != NULL;
}

static void run(struct loop *loop)
{
    struct server *server = &loop->server;
    while (true) {
        struct pollfd polls[1 + 2 + MACHINES_MOST] = {
            {.fd = loop->signals, .events = POLLIN}
        };
        nfds_t count = 1;
        int wait = -1;
        for (size_t i = 0; i < server->machine_count; i++) {
            const struct live *live = server->machines[i].live;
            if (!live_watched(live))
                continue; /* the next viewer takes over samples that still come */
            polls[count++] = (struct pollfd){.fd = live_descriptor(live), .events = POLLIN};
            wait = ALIVE_MS;
        }
        for (size_t i = 0; i < loop->http_count; i++) {
            int most = http_wait(loop->https[i]);
            polls[count++] =
                (struct pollfd){.fd = http_descriptor(loop->https[i]), .events = POLLIN};
            wait = wait < 0 || (most >= 0 && most < wait) ? most : wait;
        }
        if (poll(polls, count, wait) < 0 && errno != EINTR)
            return;
        if (polls[0].revents)
            return;
        for (size_t i = 0; i < server->machine_count; i++)
            live_run(server->machines[i].live);
        for (size_t i = 0; i < loop->http_count; i++)
            http_run(loop->https[i]);
    }
}

static int open_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    sigprocmask(SIG_BLOCK, &set, NULL); /* before threads begin, which inherit it */
    signal(SIGPIPE, SIG_IGN);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Prints a link for the user who started this. On a pipe or in a journal it would stay readable. */
static void print_link(struct server *server)
{
    char secret[SECRET_SIZE + 1];
    if (!isatty(STDOUT_FILENO))
        printf("Serving %s\n", server->address);
    else if (access_link(server->access, geteuid(), secret))
        printf("%s#%s\nThe link works once; \"perfmon open\" gives another. End with Ctrl+C.\n",
               server->address, secret);
    explicit_bzero(secret, sizeof secret);
    fflush(stdout);
}

/* Serves the sockets until a signal; `local` -1: there is no Unix socket. Returns an exit code. */
static int run_loop(struct loop *loop, int tcp, int local)
{
    const struct server *server = &loop->server;
    bool good = server->access != NULL;
    for (size_t i = 0; i < server->machine_count; i++)
        good &= server->machines[i].live && server->machines[i].catalogue;
    if (!good) {
        fputs("openperflib-serve: out of memory\n", stderr);
        return EXIT_FAILED;
    }
    if (!serve(loop, tcp, false) || (local >= 0 && !serve(loop, local, true)))
        return EXIT_FAILED;
    print_link(&loop->server);
    run(loop);
    return EXIT_GOOD;
}

/* Without any, adds this machine. */
static void add_machines(struct server *server, const struct settings *settings)
{
    server->machine_count = settings->machine_count ? settings->machine_count : 1;
    for (size_t i = 0; i < server->machine_count; i++) {
        const char *name = settings->machines[i];
        server->machines[i] =
            (struct machine){name, live_new(name, settings->seconds), catalogue_new(name, NULL)};
    }
}

static int run_server(const struct settings *settings, gid_t group)
{
    struct loop loop = {.signals = open_signals()};
    struct server *server = &loop.server;
    uint16_t port = 0;
    int code = EXIT_FAILED;
    int tcp = listen_port(settings->port, &port);
    int local = tcp >= 0 && settings->socket ? listen_path(settings->socket, group) : -1;
    snprintf(server->address, sizeof server->address, "http://127.0.0.1:%u/", port);
    if (loop.signals >= 0 && tcp >= 0 && (local >= 0 || !settings->socket)) {
        server->access = access_new(settings->hosts, group);
        add_machines(server, settings);
        code = run_loop(&loop, tcp, local);
    }
    for (size_t i = 0; i < loop.http_count; i++)
        http_free(loop.https[i]);
    for (size_t i = 0; i < server->machine_count; i++) {
        live_free(server->machines[i].live);
        catalogue_free(server->machines[i].catalogue);
    }
    access_free(server->access);
    if (local >= 0)
        unlink(settings->socket);
    return code;
}

/* Takes a host or a machine. False: it is a word, or there are too many. */
static bool take_name(struct settings *settings, int id, const char *name)
{
    if (id == HOST && settings->host_count < HOSTS_MOST)
        settings->hosts[settings->host_count++] = name;
    else if (id == MACHINE && settings->machine_count < MACHINES_MOST)
        settings->machines[settings->machine_count++] = name;
    else
        return false;
    return true;
}

int main(int argc, char **argv)
{
    struct options options;
    struct settings settings = {.port = DEFAULT_PORT, .seconds = 1};
    const struct option_target targets[] = {
        [PORT] = OPTION_WHOLE(settings.port, 0, UINT16_MAX),
        [SOCKET] = OPTION_TEXT(settings.socket),
        [INTERVAL] = OPTION_SECONDS(settings.seconds, LEAST_SECONDS, MOST_SECONDS),
        [GROUP] = OPTION_TEXT(settings.group),
    };
    setenv("LC_ALL", "C.UTF-8", 1); /* names are English here; api.c has those of other languages */
    text_begin();
    int id = options_begin(&options, &tool, argc, argv);
    while (id > 0 && (id = options_next(&options)) > 0) {
        int code = options_set(&options, id, OPTION_TARGETS(targets));
        if (code == OPTION_OTHER && take_name(&settings, id, options.value))
            continue;
        if (code)
            return code == OPTION_OTHER ? options_complain(&options, "too many names or words")
                                        : code;
    }
    if (id < 0)
        return options_status(id);
    const struct group *group = settings.group ? getgrnam(settings.group) : NULL;
    if (settings.group && !group)
        return options_complain(&options, "there is no group %s", text_seen(settings.group));
    return run_server(&settings, group ? group->gr_gid : (gid_t)-1);
}
