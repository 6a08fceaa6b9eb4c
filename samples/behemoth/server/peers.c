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
static int listening; /* -1: no new connections or requests are accepted */
static peers_answer *execute;

void peers_begin(int fd, peers_answer *answer)
{
    listening = fd;
    execute = answer;
    for (int i = 0; i < PEERS; i++)
        all[i].fd = -1;
}

static void hang_up(struct peer *peer)
{
    if (peer->fd >= 0)
        close(peer->fd);
    free(peer->answer);
    *peer = (struct peer){.fd = -1};
}

/* ---- a place ---- */

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

/* ---- requests and answers; functions return false to close the connection ---- */

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

/* Only open connections are polled, because poll fails with more entries than the limit of
 * descriptors. */
void peers_serve(int milliseconds, const sigset_t *mask)
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

void peers_reached(uint64_t tick, enum behemoth_status status)
{
    for (struct peer *peer = all; peer < all + PEERS; peer++) {
        if (peer->due == 0 || peer->due > tick)
            continue;
        peer->due = 0;
        peer->since = behemoth_now();
        ((struct behemoth_head *)(void *)peer->answer)->what = status;
    }
}

void peers_end(int milliseconds)
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
