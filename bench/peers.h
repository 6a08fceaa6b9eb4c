/* SPDX-License-Identifier: MIT */
/*
 * Other programs that report the same facts as our objects. Their cost is the CPU time of the
 * program, minus that of starting it, plus that of the servers that work for it.
 */
#ifndef OPL_BENCH_PEERS_H
#define OPL_BENCH_PEERS_H

#include "bench.h"

/* Measures the program of this name in turns with `own`, and prints its cost as a multiple of ours,
 * or that it is not installed. */
void peer_compare(const char *name, const struct variant *own, int rounds);

/* ---- servers (servers.c): those of PCP and node_exporter, as bench/objects-setup unpacked them
 * ---- */

enum server { SERVER_NONE, SERVER_PMCD, SERVER_NODE_EXPORTER };

/* Starts a server on 127.0.0.1, which ends with this process at the latest. Returns false if it is
 * not installed. */
bool server_start(enum server which);
void server_stop(void);              /* stops those that this process started */
double server_us(enum server which); /* CPU time of all its processes so far */
/* Requests `path` from node_exporter. Returns false if there is no answer. */
bool server_scrape(const char *path);

#endif
