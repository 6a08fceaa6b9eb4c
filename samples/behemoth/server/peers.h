/* SPDX-License-Identifier: MIT */
/*
 * Who is connected. Nobody can do harm: a request has at most 272 bytes, half of one is waited for
 * two seconds, an answer that nobody takes five; there are 64 places, of which strangers have half;
 * who comes when all are taken gets that of whoever said nothing for longest.
 */
#ifndef BEHEMOTH_SERVER_PEERS_H
#define BEHEMOTH_SERVER_PEERS_H

#include "../common/exchange.h"

#include <poll.h>
#include <sys/types.h>

enum { PEERS = 64, PEERS_STRANGE = 32 };

struct answer {
    uint32_t status;
    void *body; /* malloc; the peers free it */
    size_t bytes;
};
/* Carries a request out. `may_change`: root's or our own user's. */
typedef struct answer (*peers_answer)(void *of, const struct behemoth_head *head, const void *body,
                                      bool may_change);

struct peer {
    int fd; /* -1: a free place */
    bool may_change;
    int64_t since; /* when something went forward */
    unsigned char request[sizeof(struct behemoth_head) + BEHEMOTH_REQUEST_MAX];
    size_t have;
    unsigned char *answer; /* NULL: none under way */
    size_t bytes, sent;
};

struct peers {
    int listening;
    peers_answer answer;
    void *of;
    struct peer all[PEERS];
};

void peers_begin(struct peers *peers, int listening, peers_answer answer, void *of);
/* Hangs up on all; the listening socket stays. */
void peers_end(struct peers *peers);
/* Waits at most `milliseconds`, or until a signal, and serves whoever wants something. */
void peers_serve(struct peers *peers, int milliseconds, const sigset_t *mask);
/* What is under way goes out, for at most so long. */
void peers_flush(struct peers *peers, int milliseconds);

#endif
