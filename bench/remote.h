/* SPDX-License-Identifier: MIT */
/* Private to bench/remote: a crowd of machines in one process; a Samba server, if there is one. */
#ifndef OPL_BENCH_REMOTE_H
#define OPL_BENCH_REMOTE_H

#include "bench.h"

#include <sys/types.h>

extern char remote_folder[]; /* OPENPERFLIB_ROOT */
/* Enters a machine in the list that RegConnectRegistry looks in. */
void remote_list(const char *name, const char *url);

/* ---- remote_crowd.c ---- */
/* A process that answers as `count` machines M0, M1, ... do: all with the titles and the block of
 * `objects` of this machine, each time with the present time. */
pid_t crowd_start(int count, const char *objects);
void crowd_stop(pid_t pid);

/* ---- remote_samba.c ---- */
enum { SAMBA_MOST = 100 };
/* Lets scripts/demo-samba start servers until there are `count`, each on its own port; how many
 * there are. Why there are none is on standard output. */
int samba_start(int count);
/* One's name as a machine: below the number of those that were started. */
const char *samba_name(int number);
void samba_stop(void); /* all */
/* What the programs openperflib-smb used so far, and hold. */
void samba_clients(double *ret_cpu_us, double *ret_mb);

#endif
