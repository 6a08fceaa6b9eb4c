/* SPDX-License-Identifier: MIT */
/* Private to bench/remote: one process that simulates many machines, and Samba servers if they can
 * be started. */
#ifndef OPL_BENCH_REMOTE_H
#define OPL_BENCH_REMOTE_H

#include "bench.h"

#include <sys/types.h>

extern char remote_folder[]; /* the folder of OPENPERFLIB_ROOT */
/* Adds a machine to the list that RegConnectRegistry searches. */
void remote_list(const char *name, const char *url);

/* ---- remote_crowd.c ---- */
/* Starts a process that answers as `count` machines M0, M1, ... All return this machine's titles
 * and its block of `objects`, with the present time. */
pid_t crowd_start(int count, const char *objects);
void crowd_stop(pid_t pid);

/* ---- remote_samba.c ---- */
enum { SAMBA_MOST = 100 };
/* Starts Samba servers by scripts/demo-samba until there are `count`, each on its own port. Returns
 * their number; if there are fewer, the reason is printed on standard output. */
int samba_start(int count);
/* Returns the name under which a server is reached; `number` is below the number of started
 * servers. */
const char *samba_name(int number);
void samba_stop(void); /* stops all */
/* Sums over all openperflib-smb programs: CPU time so far in microseconds, memory in MB. */
void samba_clients(double *ret_cpu_us, double *ret_mb);

#endif
