/* SPDX-License-Identifier: MIT */
/*
 * Who is connected. Nobody can do harm: a request has at most 272 bytes, half of one is waited for
 * two seconds, an answer that nobody takes five; there are 64 places, of which strangers have half;
 * who comes when all are taken gets that of whoever said nothing for longest, and so it is with
 * descriptors, and with the memory of answers that strangers do not take.
 */
#ifndef BEHEMOTH_SERVER_PEERS_H
#define BEHEMOTH_SERVER_PEERS_H

#include "../common/exchange.h"

#include <poll.h>
#include <sys/types.h>

enum { PEERS = 64, PEERS_STRANGE = 32, PEERS_STRANGE_BYTES = 64 << 20 };

struct answer {
    uint32_t status;
    void *body; /* malloc; the peers free it */
    size_t bytes;
    uint64_t due; /* not 0: not yet, but at this tick, by peers_reached */
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
    uint64_t due;    /* the answer is owed at this tick; nothing is read before. 0: none is */
    uint32_t number; /* of the request that it is owed for */
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
/* All answers that are owed at this tick or before are `status` now. */
void peers_reached(struct peers *peers, uint64_t tick, enum behemoth_status status);
/* What is under way goes out, for at most so long. */
void peers_flush(struct peers *peers, int milliseconds);

#endif
