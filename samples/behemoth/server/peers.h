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
#include <stdio.h>

/* Executes a request and writes the answer's body. `may_change`: the request is from root or from
 * the server's own user. *ret_due is 0: the answer is sent now; else peers_reached sends it at this
 * tick. */
typedef enum behemoth_status peers_answer(const struct behemoth_head *head, const void *body,
                                          bool may_change, FILE *out, uint64_t *ret_due);

void peers_begin(int listening, peers_answer *answer);
/* Finishes the answers that are being sent, for at most `milliseconds`, and closes all
 * connections. */
void peers_end(int milliseconds);
/* Waits at most `milliseconds`, or until a signal, and serves the requests. */
void peers_serve(int milliseconds, const sigset_t *mask);
/* Sends all answers that are due at this tick or before, with `status`. */
void peers_reached(uint64_t tick, enum behemoth_status status);

#endif
