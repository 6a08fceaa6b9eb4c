/* SPDX-License-Identifier: MIT */
/*
 * Other programs that report the same facts as objects: their cost is the CPU time of the program
 * itself, minus that of starting it, plus that of the servers that work for it.
 */
#ifndef OPL_BENCH_PEERS_H
#define OPL_BENCH_PEERS_H

#include "bench.h"

/* Measures the peer of this name in turns with `own`, and prints it as a multiple of ours; or
 * reports that it is not installed. */
void peer_compare(const char *name, const struct variant *own, int rounds);

/* ---- servers (servers.c): PCP's and node_exporter, as bench/objects-setup left them ---- */

enum server { SERVER_NONE, SERVER_PMCD, SERVER_NODE_EXPORTER };

/* Started on 127.0.0.1, ended with this process at the latest. False: it is not installed. */
bool server_start(enum server which);
void server_stop(void);              /* those that this process started */
double server_us(enum server which); /* CPU time so far, of all its processes */
/* Requests `path` from node_exporter. False: no answer. */
bool server_scrape(const char *path);

#endif
