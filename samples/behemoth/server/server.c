/* SPDX-License-Identifier: MIT */
/* behemoth-server: the service that simulates the herd, and answers requests. */
#include "../common/program.h"
#include "herd.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { EXIT_SECOND = 3 };       /* another server uses the same herd or socket */
enum { FORWARD_MOST = 100000 }; /* the most ticks of one request */
/* TICK: the credit that a tick costs. BUSY_MS: milliseconds of ticks before clients are served. */
enum { TICK = 1000000, BUSY_MS = 2 };

static struct service {
    char socket[108];
    const char *socket_given;   /* --socket */
    const char *state;          /* the herd's file */
    int64_t seed, count, since; /* options for a new herd; `since` is -1 if it was not given */
    int64_t forward;            /* ticks before the first client is served */
    int64_t save_every;         /* seconds between saves; 0: saves only at the end */
    int64_t parameters[HERD_PARAMETERS]; /* values that were given as options; -1: not given */
    struct herd herd;
    int64_t last;   /* when credit was added last */
    int64_t credit; /* milliseconds of the herd's time that are not yet simulated, times 1000 */
    int64_t saved;  /* when the herd was saved last */
    bool stop;
    uint64_t forward_to; /* ticks up to this number are run without waiting */
} service = {.seed = 1, .count = 50, .since = -1, .save_every = 30};

static volatile sig_atomic_t stop_requested;

static void stop(int number)
{
    (void)number;
    stop_requested = 1;
}

/* The time of day as FILETIME. */
static int64_t time_of_day(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (now.tv_sec + BEHEMOTH_1970) * BEHEMOTH_SECOND + now.tv_nsec / 100;
}

static bool save(void)
{
    service.saved = behemoth_now();
    bool good = state_save(&service.herd, service.state) == STATE_DONE;
    if (!good)
        warn("%s", service.state);
    return good;
}

/* ---- requests ---- */

/* Adds requested ticks. The answer is sent when the ticks are done; meanwhile other clients are
 * served. */
static enum behemoth_status forward(uint64_t ticks, uint64_t *ret_due)
{
    uint64_t now = service.herd.ticks, from = service.forward_to > now ? service.forward_to : now;
    if (ticks > FORWARD_MOST || from - now > 10 * FORWARD_MOST)
        return BEHEMOTH_BAD;
    if (ticks > 0)
        *ret_due = service.forward_to = from + ticks;
    herd_earlier(&service.herd, ticks);
    return BEHEMOTH_OK;
}

/* Executes a request and writes the answer's body. *ret_due is 0: the answer is sent now; else
 * peers_reached sends it at this tick. */
static enum behemoth_status execute(const struct behemoth_head *head, const void *body,
                                    bool may_change, FILE *out, uint64_t *ret_due)
{
    static const uint32_t sizes[] = {[BEHEMOTH_CREATE] = sizeof(struct behemoth_create),
                                     [BEHEMOTH_KILL] = sizeof(uint64_t),
                                     [BEHEMOTH_SET] = sizeof(struct behemoth_parameter),
                                     [BEHEMOTH_FORWARD] = sizeof(uint64_t),
                                     [BEHEMOTH_SUMMARY] = 0};
    struct herd *herd = &service.herd;
    struct behemoth_herd summary;
    struct behemoth born;
    enum behemoth_status status = BEHEMOTH_OK;
    bool reads = head->what == BEHEMOTH_HERD || head->what == BEHEMOTH_SUMMARY ||
                 head->what == BEHEMOTH_PARAMETERS;
    if (head->what < BEHEMOTH_HERD || head->what > BEHEMOTH_SUMMARY ||
        head->bytes != sizes[head->what])
        return BEHEMOTH_BAD;
    if (!reads && !may_change)
        return BEHEMOTH_REFUSED;
    switch (head->what) {
    case BEHEMOTH_HERD:
    case BEHEMOTH_SUMMARY: /* the herd at this moment */
        herd_summary(herd, &summary);
        summary.moment = time_of_day();
        summary.process = (uint64_t)getpid();
        fwrite(&summary, sizeof summary, 1, out);
        for (uint64_t i = 0; head->what == BEHEMOTH_HERD && i < herd->count; i++)
            fwrite(&herd->all[i].is, sizeof herd->all[i].is, 1, out);
        break;
    case BEHEMOTH_PARAMETERS:
        for (int i = 0; i < HERD_PARAMETERS; i++) {
            struct behemoth_parameter one = herd_parameters[i];
            one.value = herd->parameters[i];
            fwrite(&one, sizeof one, 1, out);
        }
        break;
    case BEHEMOTH_CREATE:
        status = herd_create(herd, body, &born);
        fwrite(&born, sizeof born, status == BEHEMOTH_OK, out);
        break;
    case BEHEMOTH_FORWARD:
        return forward(*(const uint64_t *)body, ret_due);
    case BEHEMOTH_KILL:
        return herd_kill(herd, *(const uint64_t *)body);
    case BEHEMOTH_SET:
        return herd_set(herd, body);
    case BEHEMOTH_SAVE:
        return save() ? BEHEMOTH_OK : BEHEMOTH_FAILED;
    default:
        service.stop = true;
    }
    return status;
}

/*
 * The connections. Limits protect the server: a request has at most 272 bytes; a connection with an
 * incomplete request is closed after two seconds, one with an unread answer after five. There are
 * at most 64 connections. If there is no place or descriptor for a new connection, the one that was
 * idle longest is closed: first those of users other than root and the server's own user.
 * Connections of such users are also closed if their unread answers need too much memory.
 */
enum { PEERS = 64, HALF_REQUEST_MS = 2000, TAKE_ANSWER_MS = 5000 };
enum { STRANGE_BYTES = 64 << 20 }; /* the most memory for answers to other users */

static struct peer {
    int fd; /* -1: not in use */
    bool may_change;
    int64_t since; /* time of the last progress */
    struct {
        struct behemoth_head head;
        uint64_t body[BEHEMOTH_REQUEST_MAX / 8];
    } request;
    size_t have;  /* bytes of the request that have arrived */
    char *answer; /* head and body; NULL: there is no request yet */
    size_t bytes, sent;
    uint64_t due; /* tick at which the answer is sent; 0: at once */
} all[PEERS];
static int listening = -1; /* -1: no new connections or requests are accepted */

static void hang_up(struct peer *peer)
{
    if (peer->fd >= 0)
        close(peer->fd);
    free(peer->answer);
    *peer = (struct peer){.fd = -1};
}

/* The connection that was idle longest, of all connections or only those of other users; NULL:
 * there is none. */
static struct peer *quietest(bool other_users)
{
    struct peer *found = NULL;
    for (struct peer *peer = all; peer < all + PEERS; peer++) {
        if (peer->fd >= 0 && !(other_users && peer->may_change) &&
            (!found || peer->since < found->since))
            found = peer;
    }
    return found;
}

/* Closes a connection so that a new one can be accepted; those of other users first. Without a free
 * descriptor the listening socket would stay readable, and the loop would never sleep. */
static void free_place(void)
{
    struct peer *peer = quietest(true);
    peer = peer ? peer : quietest(false);
    if (peer)
        hang_up(peer);
}

static void accept_one(void)
{
    struct ucred user;
    socklen_t size = sizeof user;
    struct peer *peer = all;
    int fd = accept4(listening, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0 && (errno == EMFILE || errno == ENFILE))
        free_place();
    if (fd < 0)
        return;
    while (peer->fd >= 0) {
        if (++peer == all + PEERS) {
            free_place();
            peer = all;
        }
    }
    bool may_change = getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &user, &size) == 0 &&
                      (user.uid == 0 || user.uid == geteuid());
    *peer = (struct peer){.fd = fd, .may_change = may_change, .since = behemoth_now()};
}

/* Functions return false to close the connection. */

/* Sends more of the answer. The connection ends when all of it is sent. */
static bool send_answer(struct peer *peer)
{
    ssize_t sent =
        send(peer->fd, peer->answer + peer->sent, peer->bytes - peer->sent, MSG_NOSIGNAL);
    if (sent < 0)
        return errno == EAGAIN || errno == EINTR;
    peer->sent += (size_t)sent;
    peer->since = behemoth_now();
    return peer->sent < peer->bytes;
}

/* Receives more of the request, and executes it when all of it has arrived. */
static bool receive(struct peer *peer)
{
    const struct behemoth_head *head = &peer->request.head;
    ssize_t got =
        recv(peer->fd, (char *)&peer->request + peer->have, sizeof peer->request - peer->have, 0);
    if (got <= 0)
        return got < 0 && (errno == EAGAIN || errno == EINTR);
    if (peer->have == 0) /* more bytes of an incomplete request do not extend its deadline */
        peer->since = behemoth_now();
    peer->have += (size_t)got;
    if (peer->have < sizeof *head)
        return true;
    if (head->magic != BEHEMOTH_MAGIC || head->bytes > BEHEMOTH_REQUEST_MAX || listening < 0)
        return false;
    if (peer->have < sizeof *head + head->bytes)
        return true;
    struct behemoth_head answer = {BEHEMOTH_MAGIC, 0, 0, head->number};
    FILE *out = open_memstream(&peer->answer, &peer->bytes);
    if (!out)
        return false;
    fwrite(&answer, sizeof answer, 1, out);
    answer.what = execute(head, peer->request.body, peer->may_change, out, &peer->due);
    if (fclose(out) != 0)
        return false; /* no memory */
    answer.bytes = (uint32_t)(peer->bytes - sizeof answer);
    memcpy(peer->answer, &answer, sizeof answer);
    peer->since = behemoth_now();
    /* limits the memory for answers that other users do not read */
    for (size_t bytes = SIZE_MAX; !peer->may_change && bytes > STRANGE_BYTES;) {
        bytes = 0;
        for (int i = 0; i < PEERS; i++)
            bytes += all[i].may_change ? 0 : all[i].bytes;
        if (bytes > STRANGE_BYTES)
            hang_up(quietest(true));
    }
    return peer->fd >= 0 && (peer->due > 0 || send_answer(peer));
}

/* Waits at most `milliseconds`, or until a signal, and serves the requests, in one loop that never
 * waits for a single connection. Only open connections are polled, because poll fails with more
 * entries than the limit of descriptors. */
static void peers_serve(int milliseconds, const sigset_t *mask)
{
    struct pollfd polled[PEERS + 1] = {
        {.fd = listening, .events = POLLIN}
    };
    struct peer *of[PEERS + 1];
    struct timespec wait = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    nfds_t count = 1;
    for (struct peer *peer = all; peer < all + PEERS; peer++) {
        short events = peer->due > 0 ? 0 : peer->answer ? POLLOUT : POLLIN;
        if (peer->fd < 0)
            continue;
        of[count] = peer;
        polled[count++] = (struct pollfd){.fd = peer->fd, .events = events};
    }
    int ready = ppoll(polled, count, &wait, mask);
    if (ready < 0 && errno == EINVAL) /* the limit of descriptors was lowered below what is open */
        free_place();
    for (nfds_t i = 1; i < count; i++) {
        struct peer *peer = of[i];
        short event = ready > 0 ? polled[i].revents : 0;
        bool good = !(event & (POLLERR | POLLNVAL));
        if (peer->due > 0) /* this client waits for its answer */
            good = good && !(event & POLLHUP);
        else if (good && event && peer->fd >= 0)
            good = peer->answer ? send_answer(peer) : receive(peer);
        int64_t limit = peer->answer     ? TAKE_ANSWER_MS
                        : peer->have > 0 ? HALF_REQUEST_MS
                                         : INT64_MAX;
        if (!good || (peer->due == 0 && behemoth_now() - peer->since > limit))
            hang_up(peer);
    }
    if (ready > 0 && polled[0].revents)
        accept_one();
}

/* Sends all answers that are due at this tick or before, with `status`. */
static void peers_reached(uint64_t tick, enum behemoth_status status)
{
    for (struct peer *peer = all; peer < all + PEERS; peer++) {
        if (peer->due == 0 || peer->due > tick)
            continue;
        peer->due = 0;
        peer->since = behemoth_now();
        ((struct behemoth_head *)(void *)peer->answer)->what = status;
    }
}

/* Finishes the answers that are being sent, for at most `milliseconds`, and closes all
 * connections. */
static void peers_end(int milliseconds)
{
    int64_t until = behemoth_now() + milliseconds;
    bool sending = true;
    for (listening = -1; sending && behemoth_now() < until;) {
        peers_serve(10, NULL);
        sending = false;
        for (int i = 0; i < PEERS; i++)
            sending |= all[i].answer != NULL;
    }
    for (int i = 0; i < PEERS; i++)
        hang_up(&all[i]);
}

/* ---- life ---- */

/* Runs the ticks for the time that passed, by the herd's speed. If the machine is too slow, the
 * herd's time runs slower, so that clients are still answered. Requested ticks (BEHEMOTH_FORWARD)
 * are run without waiting, a few at a time between requests, and add no credit. Returns the
 * milliseconds until the next tick. */
static int live(void)
{
    int64_t speed = service.herd.parameters[HERD_SPEED];
    int64_t now = behemoth_now(), passed = now - service.last;
    bool forward = service.herd.ticks < service.forward_to;
    if (!forward)
        service.credit += (passed < 1000 ? passed : 1000) * speed;
    while ((forward ? service.herd.ticks < service.forward_to : service.credit >= TICK) &&
           behemoth_now() - now < BUSY_MS) {
        service.credit -= forward ? 0 : TICK;
        herd_tick(&service.herd);
    }
    service.credit %= TICK;
    service.last = forward ? behemoth_now() : now;
    peers_reached(service.herd.ticks, BEHEMOTH_OK);
    int64_t left = service.herd.ticks < service.forward_to ? 0 : TICK - service.credit;
    return left == 0 ? 0 : left < 1000 * speed ? (int)(left / speed + 1) : 1000;
}

/* Restores the herd, or begins a new herd. */
static bool begin_life(void)
{
    struct herd_beginning beginning = {
        (uint64_t)service.seed, (uint64_t)service.count, time_of_day(), {0}};
    if (service.since >= 0)
        beginning.start = (service.since + BEHEMOTH_1970) * BEHEMOTH_SECOND;
    for (int i = 0; i < HERD_PARAMETERS; i++)
        beginning.parameters[i] =
            service.parameters[i] >= 0 ? service.parameters[i] : herd_parameters[i].value;
    enum state_result result = state_load(&service.herd, service.state);
    const char *fault = result == STATE_FAILED    ? strerror(errno)
                        : result == STATE_DAMAGED ? "damaged; move it away to begin a new herd"
                        : result == STATE_NONE && !herd_begin(&service.herd, &beginning)
                            ? "no herd was begun: --count is above --capacity"
                            : NULL;
    if (fault) {
        warnx("%s: %s", service.state, fault);
        return false;
    }
    for (int i = 0; i < HERD_PARAMETERS; i++) {
        if (service.parameters[i] >= 0)
            service.herd.parameters[i] = service.parameters[i];
    }
    if (service.since < 0)
        herd_earlier(&service.herd, (uint64_t)service.forward);
    for (int64_t i = 0; i < service.forward; i++)
        herd_tick(&service.herd);
    service.last = behemoth_now();
    return true;
}

/* ---- options ---- */

static const struct tool tool = {
    .name = "behemoth-server",
    .summary = "Simulate a herd of behemoths, and answer requests about it on a socket.",
    .usage = "[OPTION]...",
    .rows = behemoth_server_rows,
    .more =
        "Runs in the foreground until SIGTERM, SIGINT or 'behemoth-manager stop', and keeps\n"
        "the herd in a file, from which the next start continues.\n"
        "\n"
        "The default socket is the first of $BEHEMOTH_SOCKET, $OPENPERFLIB_ROOT/herd.sock,\n"
        "$XDG_RUNTIME_DIR/behemoth/herd.sock, and for root /run/behemoth/herd.sock. The default\n"
        "file is the first of $STATE_DIRECTORY/herd, ~/.local/state/behemoth/herd, and for root\n"
        "/var/lib/behemoth/herd.\n"
        "\n"
        "Exit status: 0 stopped and saved, 1 failure, 2 wrong usage, 3 another server uses this\n"
        "file or this socket.\n",
};

/* The options that are numbers, with their limits. */
static const struct number {
    int64_t *to, least, most;
} numbers[SERVER_OPTIONS] = {
    [SERVER_SAVE_EVERY] = {&service.save_every, 0, 1000000            },
    [SERVER_SEED] = {&service.seed,       0, 1000000000000000000},
    [SERVER_COUNT] = {&service.count,      0, BEHEMOTH_HERD_MAX  },
    [SERVER_SINCE] = {&service.since,      0, 100000000000       },
    [SERVER_FORWARD] = {&service.forward,    0, 100000000          },
};

/* Takes an option; the rows are shared with behemoth-manager, so they name no members. */
static const char *take(int id, const char *value)
{
    static char wrong[80];
    if (id == SERVER_SOCKET || id == SERVER_STATE) {
        *(id == SERVER_SOCKET ? &service.socket_given : &service.state) = value;
        return NULL;
    }
    if (id == OPTION_ARGUMENT)
        return "unexpected argument";
    int place = id - SERVER_PARAMETER;
    struct number number =
        place < 0 ? numbers[id]
                  : (struct number){&service.parameters[place], herd_parameters[place].least,
                                    herd_parameters[place].most};
    snprintf(wrong, sizeof wrong, "not a number from %" PRId64 " to %" PRId64, number.least,
             number.most);
    return options_number(value, number.least, number.most, number.to) ? NULL : wrong;
}

/* Returns the exit code; -1: continue. */
static int read_options(int argc, char **argv)
{
    static const char *const places[][2] = {
        {"STATE_DIRECTORY", "/herd"                      },
        {"XDG_STATE_HOME",  "/behemoth/herd"             },
        {"HOME",            "/.local/state/behemoth/herd"},
    };
    static char path[4096]; /* the herd's file, if no option names it */
    struct options options;
    for (int i = 0; i < HERD_PARAMETERS; i++)
        service.parameters[i] = -1;
    int code = options_read(&options, &tool, argc, argv, &service, take);
    if (code >= 0)
        return code;
    if (!behemoth_place(service.socket_given, true, service.socket, sizeof service.socket)) {
        warnx("--socket: the path is too long");
        return EXIT_FAILED;
    }
    for (size_t i = 0; !service.state && i < (geteuid() == 0 ? 1 : 3); i++) {
        const char *folder = secure_getenv(places[i][0]);
        if (folder && *folder == '/') {
            snprintf(path, sizeof path, "%s%s", folder, places[i][1]);
            service.state = path;
        }
    }
    service.state = service.state ? service.state : "/var/lib/behemoth/herd";
    return -1;
}

/* ---- the socket, and the locks that allow one server for each herd and socket; files of other
 * programs with these names are kept ---- */

/* Locks a file until the process ends. Returns 0, or an exit code after a message. A lock file
 * contains the process number of the server that locked it, or nothing. */
static int take_lock(const char *path, const char *what)
{
    char lock[4096 + 8], holder[32] = "";
    make_folders(path);
    snprintf(lock, sizeof lock, "%s.lock", path);
    int fd = open(lock, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool taken = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0;
    ssize_t bytes = fd < 0 ? -1 : pread(fd, holder, sizeof holder - 1, 0);
    if (bytes < 0) {
        warn("%s", lock);
    } else if (strspn(holder, "0123456789") != (size_t)bytes) {
        warnx("%s is not a lock file; move it away", lock);
    } else if (!taken) {
        warnx("process %s already uses %s (%s)", holder, what, path);
        return EXIT_SECOND;
    } else {
        bytes = snprintf(holder, sizeof holder, "%ld", (long)getpid());
        if (ftruncate(fd, 0) < 0 || pwrite(fd, holder, (size_t)bytes, 0) < 0)
            warn("%s", lock); /* not fatal: a second server cannot print our process number */
        return 0;             /* the descriptor stays open, and the lock with it */
    }
    return EXIT_FAILED;
}

/* Takes the socket from systemd (sd_listen_fds(3)), or else a new one; *ret_own: the caller must
 * remove the socket at the end. Returns 0, or an exit code after a message. */
static int take_socket(const char *path, int *ret_fd, bool *ret_own)
{
    const char *process = secure_getenv("LISTEN_PID"), *count = secure_getenv("LISTEN_FDS");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct stat status;
    int type = 0;
    socklen_t size = sizeof type;
    *ret_own = !process || !count || atol(process) != (long)getpid() || atoi(count) < 1 ||
               getsockopt(3, SOL_SOCKET, SO_TYPE, &type, &size) < 0 || type != SOCK_STREAM;
    if (!*ret_own) {
        fcntl(3, F_SETFD, FD_CLOEXEC);
        fcntl(3, F_SETFL, fcntl(3, F_GETFL) | O_NONBLOCK);
        *ret_fd = 3;
        return 0;
    }
    int code = take_lock(path, "this socket");
    if (code)
        return code;
    bool there = lstat(path, &status) == 0;
    if (there && !S_ISSOCK(status.st_mode)) {
        warnx("%s is not a socket; move it away or use --socket", path);
        return EXIT_FAILED;
    }
    /* This process has the lock, so an existing socket is left over from a server that was
     * killed. */
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    *ret_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if ((there && unlink(path) < 0) || *ret_fd < 0 ||
        bind(*ret_fd, (struct sockaddr *)&address, sizeof address) < 0 || chmod(path, 0666) < 0 ||
        listen(*ret_fd, 64) < 0) {
        warn("%s", path);
        return EXIT_FAILED;
    }
    return 0;
}

int main(int argc, char **argv)
{
    sigset_t ours, others;
    int code = read_options(argc, argv);
    bool own;
    if (code >= 0)
        return code;
    code = take_lock(service.state, "this file");
    if (!code && !begin_life()) /* a signal ends the server, which has nothing to save yet */
        code = EXIT_FAILED;
    if (code)
        return code;
    sigemptyset(&ours);
    sigaddset(&ours, SIGTERM);
    sigaddset(&ours, SIGINT);
    sigprocmask(SIG_BLOCK, &ours, &others); /* delivered only while waiting for requests */
    signal(SIGTERM, stop);
    signal(SIGINT, stop);
    signal(SIGPIPE, SIG_IGN);
    for (int i = 0; i < PEERS; i++)
        all[i].fd = -1;
    code = take_socket(service.socket, &listening, &own);
    if (!code) {
        code = save() ? 0 : EXIT_FAILED; /* report now, not at the end, that saving fails */
        while (!code && !service.stop && !stop_requested) {
            peers_serve(live(), &others);
            if (service.save_every > 0 &&
                behemoth_now() >= service.saved + service.save_every * 1000)
                save();
        }
        code = code || !save() ? EXIT_FAILED : 0;
        peers_reached(UINT64_MAX, BEHEMOTH_FAILED);
        int fd = listening;
        peers_end(500);
        if (own)
            unlink(service.socket);
        close(fd);
    }
    herd_end(&service.herd);
    return code;
}
