/* SPDX-License-Identifier: MIT */
/*
 * The connections. Limits protect the server: a request has at most 272 bytes; a connection with an
 * incomplete request is closed after two seconds, one with an unread answer after five. There are
 * at most 64 connections. If there is no place or descriptor for a new connection, the one that was
 * idle longest is closed: first those of users other than root and the server's own user.
 * Connections of such users are also closed if their unread answers need too much memory.
 */
#ifndef BEHEMOTH_SERVER_PEERS_H
#define BEHEMOTH_SERVER_PEERS_H

#include "../common/exchange.h"

#include <signal.h>

enum { PEERS = 64 };

struct answer {
    uint32_t status;
    unsigned char *message; /* malloc: space for the head, then the body; NULL: no body */
    size_t bytes;           /* size of the body */
    /* 0: the answer is sent now; else peers_reached sends it at this tick */
    uint64_t due;
};
/* Allocates the body of a good answer. NULL: no memory, and the answer's status becomes
 * BEHEMOTH_FAILED. */
void *answer_body(struct answer *answer, size_t bytes);
/* Executes a request. `may_change`: the request is from root or from the server's own user. */
typedef struct answer peers_answer(const struct behemoth_head *head, const void *body,
                                   bool may_change);

struct peer {
    int fd; /* -1: not in use */
    bool may_change;
    int64_t since; /* time of the last progress */
    struct {
        struct behemoth_head head;
        uint64_t body[BEHEMOTH_REQUEST_MAX / 8];
    } request;
    size_t have;           /* bytes of the request that have arrived */
    unsigned char *answer; /* NULL: no answer is being sent */
    size_t bytes, sent;
    uint64_t due; /* tick at which the answer is sent; 0: at once */
};

struct peers {
    int listening; /* -1: no new connections or requests are accepted */
    peers_answer *answer;
    struct peer all[PEERS];
};

/* ---- listen.c: the socket, and the locks that allow one server for each herd and socket ---- */

enum { EXIT_SECOND = 3 }; /* another server uses the same herd or socket */

/* Prints "behemoth-server: WHAT: reason" by errno; returns EXIT_FAILED. */
int complain(const char *what);
/* Locks a file until the process ends. Returns 0, or an exit code after a message. */
int take_lock(const char *path, const char *what);
/* The socket from systemd (sd_listen_fds(3)), or else a new one; *ret_own: the caller must remove
 * the socket at the end. Returns 0, or an exit code after a message. */
int take_socket(const char *path, int *ret_fd, bool *ret_own);

/* ---- peers.c ---- */

void peers_begin(struct peers *peers, int listening, peers_answer *answer);
/* Finishes the answers that are being sent, for at most `milliseconds`, and closes all
 * connections. */
void peers_end(struct peers *peers, int milliseconds);
/* Waits at most `milliseconds`, or until a signal, and serves the requests. */
void peers_serve(struct peers *peers, int milliseconds, const sigset_t *mask);
/* Answers all requests whose answers are due at this tick or before, with `status`. */
void peers_reached(struct peers *peers, uint64_t tick, enum behemoth_status status);

#endif
