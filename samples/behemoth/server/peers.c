/* SPDX-License-Identifier: MIT */
/* One loop over all connections; never waits for a single one. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* accept4, ppoll, struct ucred */
#endif
#include "peers.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { HALF_REQUEST_MS = 2000, TAKE_ANSWER_MS = 5000, HEAD = sizeof(struct behemoth_head) };

void peers_begin(struct peers *peers, int listening, peers_answer answer, void *of)
{
    *peers = (struct peers){.listening = listening, .answer = answer, .of = of};
    for (int i = 0; i < PEERS; i++)
        peers->all[i].fd = -1;
}

static void hang_up(struct peer *peer)
{
    close(peer->fd);
    free(peer->answer);
    *peer = (struct peer){.fd = -1};
}

void peers_end(struct peers *peers)
{
    for (int i = 0; i < PEERS; i++) {
        if (peers->all[i].fd >= 0)
            hang_up(&peers->all[i]);
    }
}

/* ---- a place ---- */

/* The connection that was idle longest, of all or of other users; NULL: none. */
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

static struct peer *find_place(struct peers *peers, bool may_change)
{
    struct peer *place = NULL;
    int strange = 0;
    for (int i = 0; i < PEERS; i++) {
        struct peer *peer = &peers->all[i];
        if (peer->fd < 0)
            place = peer;
        else if (!peer->may_change)
            strange++;
    }
    bool crowded = !may_change && strange >= PEERS_STRANGE;
    if (place && !crowded)
        return place;
    place = quietest(peers, crowded);
    hang_up(place);
    return place;
}

/* The process has no free descriptor, so the listening socket would stay ready. */
static void free_descriptor(struct peers *peers)
{
    struct peer *peer = quietest(peers, true);
    if (!peer)
        peer = quietest(peers, false);
    if (peer)
        hang_up(peer);
}

static void accept_one(struct peers *peers)
{
    struct ucred holder;
    socklen_t size = sizeof holder;
    int fd = accept4(peers->listening, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) {
        if (errno == EMFILE || errno == ENFILE)
            free_descriptor(peers);
        return;
    }
    bool known = getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &holder, &size) == 0;
    bool may_change = known && (holder.uid == 0 || holder.uid == geteuid());
    struct peer *peer = find_place(peers, may_change);
    *peer = (struct peer){.fd = fd, .may_change = may_change, .since = behemoth_now()};
}

/* ---- requests and answers ---- */

/* The length of the request; 0: not known yet; -1: invalid. */
static int request_bytes(const struct peer *peer)
{
    struct behemoth_head head;
    if (peer->have < HEAD)
        return 0;
    memcpy(&head, peer->request, sizeof head);
    if (head.magic != BEHEMOTH_MAGIC || head.bytes > BEHEMOTH_REQUEST_MAX)
        return -1;
    return HEAD + (int)head.bytes;
}

/* False: no memory. */
static bool begin_answer(struct peer *peer, const struct answer *content, uint32_t number)
{
    struct behemoth_head head = {BEHEMOTH_MAGIC, content->status, (uint32_t)content->bytes, number};
    peer->answer = malloc(HEAD + content->bytes);
    if (!peer->answer)
        return false;
    memcpy(peer->answer, &head, sizeof head);
    if (content->bytes > 0)
        memcpy(peer->answer + HEAD, content->body, content->bytes);
    peer->bytes = HEAD + content->bytes;
    peer->sent = 0;
    peer->since = behemoth_now();
    return true;
}

/* Limits the memory for answers that other users do not read: the connection that was idle
 * longest is closed first. */
static void limit_other_users(struct peers *peers, const struct peer *newest)
{
    for (;;) {
        struct peer *quiet = NULL;
        size_t bytes = newest->bytes;
        for (int i = 0; i < PEERS; i++) {
            struct peer *peer = &peers->all[i];
            if (peer == newest || peer->fd < 0 || peer->may_change || !peer->answer)
                continue;
            bytes += peer->bytes;
            if (!quiet || peer->since < quiet->since)
                quiet = peer;
        }
        if (!quiet || bytes <= PEERS_STRANGE_BYTES)
            return;
        hang_up(quiet);
    }
}

static bool answer(struct peers *peers, struct peer *peer, size_t bytes)
{
    struct behemoth_head head;
    uint64_t body[BEHEMOTH_REQUEST_MAX / 8] = {0};
    memcpy(&head, peer->request, sizeof head);
    memcpy(body, peer->request + HEAD, head.bytes);
    peer->have -= bytes;
    memmove(peer->request, peer->request + bytes, peer->have);
    struct answer content = peers->answer(peers->of, &head, body, peer->may_change);
    peer->due = content.due;
    peer->number = head.number;
    bool good = content.due > 0 || begin_answer(peer, &content, head.number);
    free(content.body);
    if (good && peer->answer && !peer->may_change)
        limit_other_users(peers, peer);
    return good;
}

/* False: close the connection. */
static bool receive(struct peers *peers, struct peer *peer)
{
    ssize_t got = recv(peer->fd, peer->request + peer->have, sizeof peer->request - peer->have, 0);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
        return false;
    if (got > 0) {
        if (peer->have == 0) /* more bytes of an incomplete request do not extend its deadline */
            peer->since = behemoth_now();
        peer->have += (size_t)got;
    }
    int bytes = request_bytes(peer);
    if (bytes > 0 && peer->have >= (size_t)bytes)
        return answer(peers, peer, (size_t)bytes);
    return bytes >= 0;
}

static bool send_answer(struct peers *peers, struct peer *peer)
{
    ssize_t sent =
        send(peer->fd, peer->answer + peer->sent, peer->bytes - peer->sent, MSG_NOSIGNAL);
    if (sent < 0)
        return errno == EAGAIN || errno == EINTR;
    peer->sent += (size_t)sent;
    peer->since = behemoth_now();
    if (peer->sent < peer->bytes)
        return true;
    free(peer->answer);
    peer->answer = NULL;
    int bytes = request_bytes(peer); /* the next request may have arrived already */
    if (bytes > 0 && peer->have >= (size_t)bytes)
        return answer(peers, peer, (size_t)bytes);
    return bytes >= 0;
}

static bool overdue(const struct peer *peer, int64_t now)
{
    if (peer->due > 0) /* the client waits for its answer */
        return false;
    if (peer->answer)
        return now - peer->since > TAKE_ANSWER_MS;
    return peer->have > 0 && now - peer->since > HALF_REQUEST_MS;
}

static void serve_one(struct peers *peers, struct peer *peer, short ready)
{
    bool good = true;
    if ((ready & (POLLERR | POLLNVAL)) || (peer->due > 0 && (ready & POLLHUP)))
        good = false;
    else if (peer->due > 0)
        return;
    else if (peer->answer && (ready & (POLLOUT | POLLHUP)))
        good = send_answer(peers, peer);
    else if (!peer->answer && (ready & (POLLIN | POLLHUP)))
        good = receive(peers, peer) && (!peer->answer || send_answer(peers, peer));
    if (!good || overdue(peer, behemoth_now()))
        hang_up(peer);
}

/* Only the open connections and the listening socket, because poll fails with more entries than
 * the limit of descriptors. */
static nfds_t list_waiting(const struct peers *peers, struct pollfd polled[PEERS + 1],
                           struct pollfd *ret_of[PEERS])
{
    nfds_t count = 0;
    polled[count++] = (struct pollfd){.fd = peers->listening, .events = POLLIN};
    for (int i = 0; i < PEERS; i++) {
        const struct peer *peer = &peers->all[i];
        short events = peer->due > 0 ? 0 : peer->answer ? POLLOUT : POLLIN;
        ret_of[i] = NULL;
        if (peer->fd < 0)
            continue;
        ret_of[i] = &polled[count];
        polled[count++] = (struct pollfd){.fd = peer->fd, .events = events};
    }
    return count;
}

void peers_serve(struct peers *peers, int milliseconds, const sigset_t *mask)
{
    struct pollfd polled[PEERS + 1], *of[PEERS];
    struct timespec limit = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    nfds_t count = list_waiting(peers, polled, of);
    int ready = ppoll(polled, count, &limit, mask);
    if (ready < 0 && errno == EINVAL) /* the limit of descriptors was lowered below what is open */
        free_descriptor(peers);
    for (int i = 0; i < PEERS; i++) {
        if (peers->all[i].fd >= 0 && of[i])
            serve_one(peers, &peers->all[i], ready > 0 ? of[i]->revents : 0);
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
        if (!begin_answer(peer, &content, peer->number))
            hang_up(peer);
    }
}

void peers_flush(struct peers *peers, int milliseconds)
{
    for (int64_t until = behemoth_now() + milliseconds; behemoth_now() < until;) {
        struct pollfd waiting[PEERS];
        nfds_t count = 0;
        for (int i = 0; i < PEERS; i++) {
            struct peer *peer = &peers->all[i];
            if (peer->fd >= 0 && peer->answer && !send_answer(peers, peer))
                hang_up(peer);
            if (peer->fd >= 0 && peer->answer)
                waiting[count++] = (struct pollfd){.fd = peer->fd, .events = POLLOUT};
        }
        if (count == 0)
            return;
        poll(waiting, count, 10);
    }
}
