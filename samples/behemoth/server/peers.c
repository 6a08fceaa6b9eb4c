/* SPDX-License-Identifier: MIT */
/* Serves all connections in one loop, which never waits for a single connection. */
#include "peers.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { HALF_REQUEST_MS = 2000, TAKE_ANSWER_MS = 5000, HEAD = sizeof(struct behemoth_head) };
enum { STRANGE_BYTES = 64 << 20 }; /* the most memory for answers to other users */

void peers_begin(struct peers *peers, int listening, peers_answer *answer)
{
    *peers = (struct peers){.listening = listening, .answer = answer};
    for (int i = 0; i < PEERS; i++)
        peers->all[i].fd = -1;
}

static void hang_up(struct peer *peer)
{
    close(peer->fd);
    free(peer->answer);
    *peer = (struct peer){.fd = -1};
}

/* ---- a place ---- */

/* The connection that was idle longest, of all connections or only those of other users; NULL:
 * there is none. */
static struct peer *quietest(struct peers *peers, bool other_users)
{
    struct peer *found = NULL;
    for (int i = 0; i < PEERS; i++) {
        struct peer *peer = &peers->all[i];
        if (peer->fd >= 0 && !(other_users && peer->may_change) &&
            (!found || peer->since < found->since))
            found = peer;
    }
    return found;
}

/* Closes a connection so that a new one can be accepted; those of other users first. Without a free
 * descriptor the listening socket would stay readable, and the loop would never sleep. */
static void free_place(struct peers *peers)
{
    struct peer *peer = quietest(peers, true);
    if (!peer)
        peer = quietest(peers, false);
    if (peer)
        hang_up(peer);
}

static struct peer *find_place(struct peers *peers)
{
    for (int i = 0; i < PEERS; i++) {
        if (peers->all[i].fd < 0)
            return &peers->all[i];
    }
    free_place(peers);
    return find_place(peers);
}

static void accept_one(struct peers *peers)
{
    struct ucred user;
    socklen_t size = sizeof user;
    int fd = accept4(peers->listening, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) {
        if (errno == EMFILE || errno == ENFILE)
            free_place(peers);
        return;
    }
    bool may_change = getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &user, &size) == 0 &&
                      (user.uid == 0 || user.uid == geteuid());
    struct peer *peer = find_place(peers);
    *peer = (struct peer){.fd = fd, .may_change = may_change, .since = behemoth_now()};
}

/* ---- requests and answers; functions return false to close the connection ---- */

void *answer_body(struct answer *answer, size_t bytes)
{
    unsigned char *message = malloc(HEAD + bytes);
    *answer =
        (struct answer){message ? BEHEMOTH_OK : BEHEMOTH_FAILED, message, message ? bytes : 0, 0};
    return message ? message + HEAD : NULL;
}

static bool begin_answer(struct peer *peer, const struct answer *content)
{
    struct behemoth_head head = {BEHEMOTH_MAGIC, content->status, (uint32_t)content->bytes,
                                 peer->request.head.number};
    peer->answer = content->message ? content->message : malloc(HEAD);
    if (!peer->answer)
        return false;
    memcpy(peer->answer, &head, sizeof head);
    peer->bytes = HEAD + content->bytes;
    peer->since = behemoth_now();
    return true;
}

/* Limits the memory for answers that other users do not read. */
static void limit_other_users(struct peers *peers)
{
    for (size_t bytes;; hang_up(quietest(peers, true))) {
        bytes = 0;
        for (int i = 0; i < PEERS; i++) {
            const struct peer *peer = &peers->all[i];
            bytes += peer->answer && !peer->may_change ? peer->bytes : 0;
        }
        if (bytes <= STRANGE_BYTES)
            return;
    }
}

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

/* Executes the request if all of it has arrived. */
static bool take_request(struct peers *peers, struct peer *peer)
{
    const struct behemoth_head *head = &peer->request.head;
    if (peer->have < HEAD)
        return true;
    if (head->magic != BEHEMOTH_MAGIC || head->bytes > BEHEMOTH_REQUEST_MAX || peers->listening < 0)
        return false;
    if (peer->have < HEAD + head->bytes)
        return true;
    struct answer content = peers->answer(head, peer->request.body, peer->may_change);
    peer->due = content.due;
    if (content.due > 0)
        return true;
    if (!begin_answer(peer, &content))
        return false;
    if (!peer->may_change)
        limit_other_users(peers);
    return send_answer(peer);
}

static bool receive(struct peers *peers, struct peer *peer)
{
    ssize_t got =
        recv(peer->fd, (char *)&peer->request + peer->have, sizeof peer->request - peer->have, 0);
    if (got <= 0)
        return got < 0 && (errno == EAGAIN || errno == EINTR);
    if (peer->have == 0) /* more bytes of an incomplete request do not extend its deadline */
        peer->since = behemoth_now();
    peer->have += (size_t)got;
    return take_request(peers, peer);
}

static bool serve_one(struct peers *peers, struct peer *peer, short ready)
{
    bool good = true;
    if (ready & (POLLERR | POLLNVAL))
        return false;
    if (peer->due > 0) /* this client waits for its answer */
        return !(ready & POLLHUP);
    if (ready & (POLLIN | POLLOUT | POLLHUP))
        good = peer->answer ? send_answer(peer) : receive(peers, peer);
    int64_t idle = behemoth_now() - peer->since;
    return good && (peer->answer ? idle <= TAKE_ANSWER_MS
                                 : peer->have == 0 || peer->due > 0 || idle <= HALF_REQUEST_MS);
}

/* Only open connections are polled, because poll fails with more entries than the limit of
 * descriptors. */
void peers_serve(struct peers *peers, int milliseconds, const sigset_t *mask)
{
    struct pollfd polled[PEERS + 1] = {
        {.fd = peers->listening, .events = POLLIN}
    };
    struct peer *of[PEERS + 1];
    struct timespec limit = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    nfds_t count = 1;
    for (int i = 0; i < PEERS; i++) {
        struct peer *peer = &peers->all[i];
        short events = peer->due > 0 ? 0 : peer->answer ? POLLOUT : POLLIN;
        if (peer->fd < 0)
            continue;
        of[count] = peer;
        polled[count++] = (struct pollfd){.fd = peer->fd, .events = events};
    }
    int ready = ppoll(polled, count, &limit, mask);
    if (ready < 0 && errno == EINVAL) /* the limit of descriptors was lowered below what is open */
        free_place(peers);
    for (nfds_t i = 1; i < count; i++) {
        if (of[i]->fd >= 0 && !serve_one(peers, of[i], ready > 0 ? polled[i].revents : 0))
            hang_up(of[i]);
    }
    if (ready > 0 && polled[0].revents)
        accept_one(peers);
}

void peers_reached(struct peers *peers, uint64_t tick, enum behemoth_status status)
{
    const struct answer content = {.status = status};
    for (int i = 0; i < PEERS; i++) {
        struct peer *peer = &peers->all[i];
        if (peer->fd < 0 || peer->due == 0 || peer->due > tick)
            continue;
        peer->due = 0;
        if (!begin_answer(peer, &content))
            hang_up(peer);
    }
}

void peers_end(struct peers *peers, int milliseconds)
{
    int64_t until = behemoth_now() + milliseconds;
    bool sending = true;
    for (peers->listening = -1; sending && behemoth_now() < until;) {
        peers_serve(peers, 10, NULL);
        sending = false;
        for (int i = 0; i < PEERS; i++)
            sending |= peers->all[i].answer != NULL;
    }
    for (int i = 0; i < PEERS; i++) {
        if (peers->all[i].fd >= 0)
            hang_up(&peers->all[i]);
    }
}
