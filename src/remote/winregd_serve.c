/* SPDX-License-Identifier: MIT */
/*
 * Many clients on a socket, each with a process of its own: a slow query or a crashing provider
 * affects no other client. This process only accepts, counts, and reports refused clients.
 */
#include "remote/winregd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ACTIVATED_FD = 3, BACKLOG = 64 };

static int complain(const char *path, const char *what)
{
    fprintf(stderr, "openperflib-winregd: %s: %s: %s\n", path, what, strerror(errno));
    return 1;
}

/* ---- the socket ---- */

bool serve_is_activated(void)
{
    const char *pid = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");
    return pid && count && atol(pid) == (long)getpid() && !strcmp(count, "1");
}

/* A socket on which no process listens was left behind. Other files also refuse a connection, but
 * are kept. */
static bool is_left_behind(const struct sockaddr_un *address)
{
    struct stat st;
    if (lstat(address->sun_path, &st) != 0 || !S_ISSOCK(st.st_mode)) {
        errno = EEXIST;
        return false;
    }
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool refused = fd >= 0 && connect(fd, (const struct sockaddr *)address, sizeof *address) != 0 &&
                   errno == ECONNREFUSED;
    if (fd >= 0)
        close(fd);
    errno = EADDRINUSE;
    return refused;
}

/* All users may connect: access is checked for each request, and refusals are reported. */
static int listen_at(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(address.sun_path, path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    mode_t before = umask(0);
    bool bound = bind(fd, (struct sockaddr *)&address, sizeof address) == 0;
    if (!bound && errno == EADDRINUSE && is_left_behind(&address) && unlink(path) == 0)
        bound = bind(fd, (struct sockaddr *)&address, sizeof address) == 0;
    umask(before);
    return bound && listen(fd, BACKLOG) == 0 ? fd : -1;
}

/* ---- clients ---- */

static void forget(struct server *server, pid_t pid)
{
    for (size_t i = 0; i < SERVE_MOST_CLIENTS; i++)
        if (server->clients[i].pid == pid) {
            server->clients[i].pid = 0;
            limits_set(i, NULL);
        }
}

static void fetch_ended(struct server *server)
{
    pid_t pid;
    while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
        forget(server, pid);
}

struct begun {
    int fd;
    size_t place;
    pid_t parent;
};

static void serve_client(struct server *server, const struct begun *begun, struct peer *peer)
{
    sigset_t none;
    sigemptyset(&none);
    signal(SIGTERM, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    sigprocmask(SIG_SETMASK, &none, NULL);
    close(server->listening);
    close(server->signals);
    limits_enter(begun->place);
    if (getppid() == begun->parent)
        session_serve(begun->fd, begun->fd, peer);
    event_close();
    _exit(0);
}

static void start_client(struct server *server, int fd)
{
    struct peer peer;
    struct begun begun = {.fd = fd, .parent = getpid()};
    bool known = peer_of_socket(fd, &peer);
    begun.place = known ? places_find(server, &peer) : SIZE_MAX;
    if (known && !access_granted(&peer))
        access_audit(&peer);
    if (begun.place != SIZE_MAX)
        limits_set(begun.place, &peer);
    pid_t pid = begun.place == SIZE_MAX ? -1 : fork();
    if (pid == 0)
        serve_client(server, &begun, &peer);
    if (pid > 0) {
        server->clients[begun.place].pid = pid;
        server->clients[begun.place].uid = peer.uid;
    }
    close(fd); /* too many: the client finds its connection closed */
    peer_done(&peer);
}

/* ---- the loop ---- */

/* False: stop serving. */
static bool take_signal(struct server *server)
{
    struct signalfd_siginfo info;
    if (read(server->signals, &info, sizeof info) != sizeof info)
        return true;
    fetch_ended(server);
    return info.ssi_signo == SIGCHLD;
}

static void run(struct server *server)
{
    struct pollfd waits[] = {
        {.fd = server->signals,   .events = POLLIN},
        {.fd = server->listening, .events = POLLIN},
    };
    for (;;) {
        if (poll(waits, COUNT(waits), -1) < 0 && errno != EINTR)
            return;
        if (waits[0].revents && !take_signal(server))
            return;
        int fd = waits[1].revents ? accept4(server->listening, NULL, NULL, SOCK_CLOEXEC) : -1;
        if (fd >= 0)
            start_client(server, fd);
        else if (waits[1].revents && (errno == EMFILE || errno == ENFILE || errno == ENOMEM))
            poll(NULL, 0, 100);
    }
}

static void end_clients(const struct server *server)
{
    for (size_t i = 0; i < SERVE_MOST_CLIENTS; i++)
        if (server->clients[i].pid)
            kill(server->clients[i].pid, SIGTERM);
}

int serve_socket(const char *path)
{
    static struct server server;
    sigset_t wanted;
    server.listening = path ? listen_at(path) : ACTIVATED_FD;
    if (server.listening < 0 && errno == EEXIST)
        return complain(path, "this file is not a socket, and was not touched; name another path");
    if (server.listening < 0)
        return complain(path, "cannot listen");
    fcntl(server.listening, F_SETFD, FD_CLOEXEC);
    fcntl(server.listening, F_SETFL, O_NONBLOCK);
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGCHLD);
    sigaddset(&wanted, SIGTERM);
    sigaddset(&wanted, SIGINT);
    sigprocmask(SIG_BLOCK, &wanted, NULL);
    if (!limits_share())
        return complain("mmap", "no memory");
    server.signals = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
    if (server.signals < 0)
        return complain("signalfd", "cannot wait for signals");
    run(&server);
    end_clients(&server);
    if (path)
        unlink(path);
    event_close();
    return 0;
}
