/* SPDX-License-Identifier: MIT */
/*
 * openperflib-winregd: answers other machines' queries for this machine's counters; it only reads.
 * It serves one client on standard input and output, or many on a socket, each in a process of its
 * own: a slow query or a crash of a provider affects no other client. The main process only accepts
 * and counts clients, and logs those that are refused.
 */
#include "remote/server/winregd.h"

#include <options.h>

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

/* ---- a place for a new client ----
 *
 * Chooses the client to end when a new one finds no free place. Connections cost their user
 * nothing, so a few users with many could lock out all others. So a client may be ended if its user
 * has more places than the new client's user would have with the new one; idle clients are ended
 * first. If both users would have the same number, or are one user, only a client that was idle for
 * a while may be ended. An ended client reconnects at its next request. A client of root that
 * acts for no remote caller is never ended. */

struct server {
    int listening, signals;
    struct {
        pid_t pid; /* process of the client; 0: the place is free */
        uid_t uid;
    } clients[LIMIT_CLIENTS];
};

struct candidate {
    size_t place, theirs; /* `theirs`: number of places of the client's owner */
    uint64_t owner;
    bool refused, idle, long_idle;
    int64_t since;
};

static size_t count_of(const struct server *server, uint64_t owner)
{
    size_t count = 0;
    for (size_t i = 0; i < LIMIT_CLIENTS; i++)
        count += server->clients[i].pid && limits_owner(i) == owner;
    return count;
}

static struct candidate candidate_at(const struct server *server, size_t place)
{
    int64_t since = limits_idle_since(place);
    return (struct candidate){
        .place = place,
        .owner = limits_owner(place),
        .theirs = count_of(server, limits_owner(place)),
        .refused = limits_refused(place),
        .idle = since != 0,
        .long_idle =
            since && clock_ticks() - since >= (int64_t)LIMIT_IDLE_SECONDS * CLOCK_TICKS_PER_SECOND,
        .since = since,
    };
}

/* True if client `one` may be ended for a new client. `own`: number of places that the new client's
 * user has. A new client that may not read counters (`granted` false) cannot end one that may. */
static bool may_end(const struct candidate *one, uint64_t owner, size_t own, bool granted)
{
    if (!one->owner || (!granted && !one->refused))
        return false;
    if (one->owner == owner)
        return one->long_idle || one->refused;
    if (own >= LIMIT_CLIENTS_OF_USER)
        return false;
    return one->refused || one->theirs > own + 1 || (one->theirs > own && one->long_idle);
}

static bool is_better(const struct candidate *one, const struct candidate *other)
{
    if (one->refused != other->refused)
        return one->refused;
    if (one->theirs != other->theirs)
        return one->theirs > other->theirs;
    return one->idle != other->idle ? one->idle : one->since < other->since;
}

static size_t end_one(struct server *server, const struct peer *newcomer, size_t own)
{
    uint64_t owner = limits_owner_of(newcomer);
    bool granted = access_granted(newcomer);
    struct candidate best = {.place = SIZE_MAX};
    for (size_t i = 0; i < LIMIT_CLIENTS; i++) {
        struct candidate one = candidate_at(server, i);
        if (server->clients[i].pid && may_end(&one, owner, own, granted) &&
            (best.place == SIZE_MAX || is_better(&one, &best)))
            best = one;
    }
    if (best.place != SIZE_MAX)
        kill(server->clients[best.place].pid, SIGKILL);
    return best.place;
}

/* Finds a place for the new client; if no place is free, ends another client. SIZE_MAX: no client
 * may be ended. */
static size_t find_place(struct server *server, const struct peer *newcomer)
{
    size_t others = 0, free_place = SIZE_MAX;
    uint64_t owner = limits_owner_of(newcomer);
    size_t own = owner ? count_of(server, owner) : 0;
    for (size_t i = 0; i < LIMIT_CLIENTS; i++) {
        bool taken = server->clients[i].pid != 0;
        free_place = taken ? free_place : i;
        others += taken && server->clients[i].uid != 0;
    }
    bool full = newcomer->uid && (own >= LIMIT_CLIENTS_OF_USER || others >= LIMIT_CLIENTS_NOT_ROOT);
    return free_place == SIZE_MAX || full ? end_one(server, newcomer, own) : free_place;
}

enum { ACTIVATED_FD = 3, BACKLOG = 64 };

static int complain(const char *path, const char *what)
{
    fprintf(stderr, "openperflib-winregd: %s: %s: %s\n", path, what, strerror(errno));
    return 1;
}

/* ---- the socket ---- */

/* True if systemd passed the socket to this process. */
static bool is_activated(void)
{
    const char *pid = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");
    return pid && count && atol(pid) == (long)getpid() && !strcmp(count, "1");
}

/* True if the file is a socket that a former server left. Other files refuse a connection too, but
 * must not be replaced. */
static bool is_stale(const struct sockaddr_un *address)
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

/* Makes the socket. All users may connect, because access is checked at each request and refusals
 * are logged. */
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
    if (!bound && errno == EADDRINUSE && is_stale(&address) && unlink(path) == 0)
        bound = bind(fd, (struct sockaddr *)&address, sizeof address) == 0;
    umask(before);
    return bound && listen(fd, BACKLOG) == 0 ? fd : -1;
}

/* ---- clients ---- */

static void forget(struct server *server, pid_t pid)
{
    for (size_t i = 0; i < LIMIT_CLIENTS; i++)
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
    begun.place = known ? find_place(server, &peer) : SIZE_MAX;
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
    close(fd); /* too many clients: the new one only sees that its connection is closed */
    peer_done(&peer);
}

/* ---- the loop ---- */

/* Handles a signal; returns false if the server must end. */
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
    for (size_t i = 0; i < LIMIT_CLIENTS; i++)
        if (server->clients[i].pid)
            kill(server->clients[i].pid, SIGTERM);
}

/* Serves until SIGTERM or SIGINT; returns the exit code. `path` NULL: uses the socket that systemd
 * passed. */
static int serve_socket(const char *path)
{
    static struct server server;
    sigset_t wanted;
    server.listening = path ? listen_at(path) : ACTIVATED_FD;
    if (server.listening < 0 && errno == EEXIST)
        return complain(path, "this file is not a socket and was not changed; give another path");
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

/* ---- options ---- */

enum { STDIO = 1, AT_SOCKET };

/* clang-format off */
static const struct option_row rows[] = {
    {0, "stdio", NULL, STDIO, "Serve one client on standard input and output. Clients start this program with this option through ssh."},
    {0, "socket", "PATH", AT_SOCKET, "Serve many clients on a Unix socket; if systemd passes a socket, that one is used instead.", "@files"},
    {0},
};
/* clang-format on */

static const char more[] =
    "Root and the server's own user may always read. Others must be in the list of users, and\n"
    "if there are two lists in both; if there is none, in the group openperflib. See\n"
    "openperflib-winregd(1).\n"
    "\n"
    "Exit codes: 0 the client disconnected, or SIGTERM came; 1 the socket cannot be opened, or\n"
    "the client broke the protocol; 2 usage.\n";

static const struct tool tool = {
    .name = "openperflib-winregd",
    .summary = "Answer other machines' queries for this one's performance counters.",
    .usage = "--stdio\n--socket PATH",
    .rows = rows,
    .more = more,
};

static int serve_stdio(void)
{
    struct peer peer;
    if (!peer_of_process(&peer))
        return EXIT_FAILED;
    bool good = session_serve(0, 1, &peer);
    peer_done(&peer);
    event_close();
    return good ? EXIT_GOOD : EXIT_FAILED;
}

int main(int argc, char **argv)
{
    struct options options;
    bool stdio = false;
    const char *path = NULL;
    int id = options_begin(&options, &tool, argc, argv);
    while (id > 0 && (id = options_next(&options)) > 0)
        if (id == STDIO)
            stdio = true;
        else if (id == AT_SOCKET)
            path = options.value;
        else
            return options_complain(&options, "unexpected argument \"%s\"", options.value);
    if (id < 0)
        return options_status(id);
    if (stdio == (path != NULL))
        return options_complain(&options, "one of --stdio and --socket is needed");
    signal(SIGPIPE, SIG_IGN);
    if (stdio)
        return serve_stdio();
    return serve_socket(is_activated() ? NULL : path);
}
