/* SPDX-License-Identifier: MIT */
/*
 * Serves one client: receives requests and sends their replies. The client may be idle for hours
 * between messages, but not within one. When it disconnects, this process ends even if a query is
 * still running, and so does all that was opened for the client.
 */
#include "remote/server/winregd.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* ---- limits ---- */

/*
 * Limits for one client and for all clients together: connections of a caller, Costly queries at
 * the same time, requests per second; and the time since which each client is idle. The numbers are
 * in memory that the clients' processes share; when such a process ends, its entry becomes free.
 */

static struct shared {
    struct {
        _Atomic uint64_t owner; /* hash of the caller's first SID; 0: root, for itself */
        _Atomic int64_t idle_since;
        _Atomic uint32_t costly, refused;
    } clients[LIMIT_CLIENTS];
    _Atomic int64_t audit_begin; /* begin of the period in which `audits` events were logged */
    _Atomic uint32_t audits;
} * shared;
static size_t own_place = SIZE_MAX;

bool limits_share(void)
{
    void *page =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    shared = page == MAP_FAILED ? NULL : page;
    return shared != NULL;
}

void limits_enter(size_t place)
{
    own_place = place;
}

static uint64_t hash_of(const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return hash ? hash : 1;
}

uint64_t limits_owner_of(const struct peer *peer)
{
    return (peer->uid || peer->is_caller) && peer->sids.len ? hash_of(peer->sids.data) : 0;
}

void limits_set(size_t place, const struct peer *peer)
{
    atomic_store(&shared->clients[place].owner, peer ? limits_owner_of(peer) : 0);
    atomic_store(&shared->clients[place].idle_since, clock_ticks());
    atomic_store(&shared->clients[place].costly, 0);
    atomic_store(&shared->clients[place].refused, peer && !access_granted(peer));
}

/* Counts the connection for the caller. One above the limit is counted as well, because it ends
 * soon. */
bool limits_take_caller(const struct peer *peer)
{
    if (own_place == SIZE_MAX)
        return true;
    uint64_t owner = limits_owner_of(peer);
    unsigned count = 0;
    atomic_store(&shared->clients[own_place].owner, owner);
    for (size_t i = 0; i < LIMIT_CLIENTS; i++)
        count += limits_owner(i) == owner;
    return count <= list_setting("MostStreams", LIMIT_CLIENTS_OF_USER);
}

uint64_t limits_owner(size_t place)
{
    return atomic_load(&shared->clients[place].owner);
}

static void limits_set_idle(bool idle)
{
    if (own_place != SIZE_MAX)
        atomic_store(&shared->clients[own_place].idle_since, idle ? clock_ticks() : 0);
}

int64_t limits_idle_since(size_t place)
{
    return atomic_load(&shared->clients[place].idle_since);
}

/* Records for the other processes whether the client is refused at present. */
static void limits_set_refused(bool refused)
{
    if (own_place != SIZE_MAX)
        atomic_store(&shared->clients[own_place].refused, refused);
}

bool limits_refused(size_t place)
{
    return atomic_load(&shared->clients[place].refused);
}

bool limits_begin_costly(void)
{
    unsigned count = 0;
    if (own_place == SIZE_MAX)
        return true;
    atomic_store(&shared->clients[own_place].costly, 1);
    for (size_t i = 0; i < LIMIT_CLIENTS; i++)
        count += atomic_load(&shared->clients[i].costly);
    if (count <= LIMIT_COSTLY)
        return true;
    limits_end_costly();
    return false;
}

void limits_end_costly(void)
{
    if (own_place != SIZE_MAX)
        atomic_store(&shared->clients[own_place].costly, 0);
}

bool limits_may_audit(void)
{
    int64_t now = clock_ticks();
    if (own_place == SIZE_MAX)
        return true;
    int64_t begun = atomic_load(&shared->audit_begin);
    if (now - begun >= (int64_t)LIMIT_AUDIT_SECONDS * CLOCK_TICKS_PER_SECOND &&
        atomic_compare_exchange_strong(&shared->audit_begin, &begun, now))
        atomic_store(&shared->audits, 0);
    return atomic_fetch_add(&shared->audits, 1) < LIMIT_AUDITS;
}

bool limits_take_request(void)
{
    static int64_t second_begin;
    static uint32_t count, most;
    int64_t now = clock_ticks();
    if (!second_begin || now - second_begin >= CLOCK_TICKS_PER_SECOND) {
        second_begin = now;
        count = 0;
        most = list_setting("MostPerSecond", LIMIT_QUERIES_PER_SECOND);
    }
    return !most || count++ < most;
}

/* ---- a client that disconnects during a query ---- */

static atomic_bool answering;

/* Waits until the client disconnects, and ends the process if a query still runs a second later,
 * because a provider cannot be interrupted. A query that ends within that second is answered,
 * because the client may have closed only its sending side. */
static void *watch_client(void *argument)
{
    const struct timespec grace = {1, 0};
    struct pollfd poll_fd = {.fd = (int)(intptr_t)argument};
    for (bool gone = false;; nanosleep(&grace, NULL)) {
        if (gone && atomic_load(&answering))
            _exit(0);
        gone = gone || poll(&poll_fd, 1, -1) > 0; /* no events: poll reports only the end of the
                                                   * stream */
    }
}

/* Starts the thread that watches the client. If it cannot be started, a query whose client has
 * disconnected just runs on to its end. */
static void begin_watch(int out)
{
    pthread_t watcher;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* no signals for the new thread: the main thread
                                                  * must get them */
    if (!pthread_create(&watcher, NULL, watch_client, (void *)(intptr_t)out))
        pthread_detach(watcher);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* ---- one client ---- */

struct session {
    struct peer *peer;
    struct answers answers;
    bool was_refused;
    int64_t until; /* when this client is disconnected, because it was refused; INT64_MAX: never */
    char message[PROTO_REQUEST_BYTES];
};

/* Sets when a refused client is disconnected, because it must not occupy its place for long. */
static void note_refusal(struct session *session, bool refused)
{
    if (refused && session->until == INT64_MAX)
        session->until = clock_ticks() + LIMIT_REFUSED_SECONDS * (int64_t)CLOCK_TICKS_PER_SECOND;
    else if (!refused)
        session->until = INT64_MAX;
    session->was_refused = refused;
    limits_set_refused(refused);
}

/* Checks access and logs a refusal. For a local user, logs only that access was withdrawn, because
 * a user who had none from the beginning was logged when the connection was accepted. For a remote
 * caller, logs each request. */
static LSTATUS check_access(struct session *session)
{
    bool granted = access_granted(session->peer);
    if (!granted && (session->peer->is_caller || !session->was_refused))
        access_audit(session->peer);
    note_refusal(session, !granted);
    return granted ? ERROR_SUCCESS : ERROR_ACCESS_DENIED;
}

static void reply_to(struct session *session, const struct proto_request *request,
                     struct proto_reply *ret)
{
    LSTATUS status;
    *ret = (struct proto_reply){.id = request->id};
    if (request->operation == PROTO_CALLER)
        status = peer_act_for(session->peer, request);
    else
        status = check_access(session);
    if (!status && request->operation != PROTO_CALLER)
        answer(&session->answers, session->peer, request, ret);
    if (status)
        *ret = (struct proto_reply){.id = request->id, .status = (uint32_t)status};
}

static bool is_one_too_many(const struct proto_request *request, const struct proto_reply *reply)
{
    return request->operation == PROTO_CALLER && reply->status == ERROR_BUSY;
}

static bool serve(int in, int out, struct session *session)
{
    for (;;) {
        struct proto_request request;
        struct proto_reply reply;
        size_t size =
            clock_ticks() < session->until
                ? stream_receive(in, session->message, session->until, LIMIT_MESSAGE_SECONDS)
                : 0;
        if (!size)
            return true;
        if (size == SIZE_MAX || !proto_read_request(session->message, size, &request))
            return false;
        atomic_store(&answering, true);
        limits_set_idle(false);
        reply_to(session, &request, &reply);
        limits_set_idle(true);
        atomic_store(&answering, false);
        if (!stream_send(out, &reply, LIMIT_REPLY_SECONDS))
            return false;
        if (is_one_too_many(&request, &reply))
            return true;
    }
}

bool session_serve(int in, int out, struct peer *peer)
{
    static struct session session;
    session = (struct session){.peer = peer, .until = INT64_MAX};
    note_refusal(&session, !access_granted(peer));
    /* O_NONBLOCK is not set for a terminal, which would keep the flag after this process has
     * ended */
    if (!isatty(out))
        fcntl(out, F_SETFL, fcntl(out, F_GETFL) | O_NONBLOCK);
    begin_watch(out);
    bool good = serve(in, out, &session);
    RegCloseKey(HKEY_PERFORMANCE_DATA);
    buffer_done(&session.answers.data);
    buffer_done(&session.answers.name);
    return good;
}
