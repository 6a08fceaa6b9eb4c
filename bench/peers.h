/* SPDX-License-Identifier: MIT */
/*
 * Other programs that tell what objects tell: what they cost is the CPU time of the program itself,
 * less that of its mere start, and of the servers that work for it.
 */
#ifndef OPL_BENCH_PEERS_H
#define OPL_BENCH_PEERS_H

#include "bench.h"

/* Measures the peer of this name in turns with `own`, and prints it as a multiple of ours; or says
 * that it is not installed. */
void peer_compare(const char *name, const struct variant *own, int rounds);

/* ---- servers (servers.c): PCP's and node_exporter, as bench/objects-setup left them ---- */

enum server { SERVER_NONE, SERVER_PMCD, SERVER_NODE_EXPORTER };

/* Started on 127.0.0.1, for this process's life at most. False: it is not there. */
bool server_start(enum server which);
void server_stop(void);              /* those that this process started */
double server_us(enum server which); /* CPU time so far, of all its processes */
/* Asks node_exporter for what is at `path`. False: no answer. */
bool server_scrape(const char *path);

#endif
