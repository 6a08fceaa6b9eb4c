/* SPDX-License-Identifier: MIT */
/*
 * One client: a request, its reply, and so on. It may be idle for hours between messages, but not
 * in the middle of one; when it disconnects, this process ends and with it all that it had opened,
 * also in the middle of a query that has no reader any more.
 */
#include "remote/server/winregd.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

/* ---- a client that disconnects during a query ---- */

static atomic_bool answering;

/* Ends the process if the client disconnected and a query still runs a second later: a provider
 * cannot be interrupted. A query that has ended by then is answered, because the client may have
 * closed only its sending side. */
static void *watch_client(void *argument)
{
    const struct timespec grace = {1, 0};
    struct pollfd poll_fd = {.fd = (int)(intptr_t)argument};
    for (bool gone = false;; nanosleep(&grace, NULL)) {
        if (gone && atomic_load(&answering))
            _exit(0);
        gone = gone || poll(&poll_fd, 1, -1) > 0; /* events 0: reports only the end */
    }
}

/* If the thread cannot start, a query whose client is gone just ends later. */
static void begin_watch(int out)
{
    pthread_t watcher;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals go to the main thread */
    if (!pthread_create(&watcher, NULL, watch_client, (void *)(intptr_t)out))
        pthread_detach(watcher);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* ---- one client ---- */

struct session {
    struct peer *peer;
    struct answers answers;
    bool was_refused;
    int64_t until; /* when a refused peer is disconnected, else INT64_MAX */
    char message[PROTO_REQUEST_BYTES];
};

/* A client that may not read does not keep its place. */
static void note_refusal(struct session *session, bool refused)
{
    if (refused && session->until == INT64_MAX)
        session->until = clock_ticks() + LIMIT_REFUSED_SECONDS * (int64_t)CLOCK_TICKS_PER_SECOND;
    else if (!refused)
        session->until = INT64_MAX;
    session->was_refused = refused;
    limits_set_refused(refused);
}

/* For local users the event is written when the access changes: for one refused from the beginning
 * it was written when the connection was accepted. Remote callers have no such moment. */
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
    if (!isatty(out)) /* its flags survive this process */
        fcntl(out, F_SETFL, fcntl(out, F_GETFL) | O_NONBLOCK);
    begin_watch(out);
    bool good = serve(in, out, &session);
    RegCloseKey(HKEY_PERFORMANCE_DATA);
    buffer_done(&session.answers.data);
    buffer_done(&session.answers.name);
    return good;
}
