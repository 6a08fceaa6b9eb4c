/* SPDX-License-Identifier: MIT */
/* Private to bench/remote: many machines in one process; a Samba server, if possible. */
#ifndef OPL_BENCH_REMOTE_H
#define OPL_BENCH_REMOTE_H

#include "bench.h"

#include <sys/types.h>

extern char remote_folder[]; /* OPENPERFLIB_ROOT */
/* Adds a machine to the list that RegConnectRegistry searches. */
void remote_list(const char *name, const char *url);

/* ---- remote_crowd.c ---- */
/* A process that answers as `count` machines M0, M1, ...: all with the titles and the block of
 * `objects` of this machine, each time with the present time. */
pid_t crowd_start(int count, const char *objects);
void crowd_stop(pid_t pid);

/* ---- remote_samba.c ---- */
enum { SAMBA_MOST = 100 };
/* Makes scripts/demo-samba start servers until there are `count`, each on its own port; returns
 * their number. The reason for fewer is on standard output. */
int samba_start(int count);
/* The name of a machine: `number` is below the number of started servers. */
const char *samba_name(int number);
void samba_stop(void); /* all */
/* The CPU that the openperflib-smb programs used so far, and their memory. */
void samba_clients(double *ret_cpu_us, double *ret_mb);

#endif
