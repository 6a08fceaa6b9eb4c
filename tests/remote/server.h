/* SPDX-License-Identifier: MIT */
/* A server of the test's own, in its laboratory, and a recording provider that is loaded there. */
#ifndef OPL_TEST_REMOTE_SERVER_H
#define OPL_TEST_REMOTE_SERVER_H

#include "../experiments/lab.h"

#include <sys/types.h>

/* A laboratory with the service MyPerf, which runs in the calling program, and a replacement for
 * ssh. */
void server_lab(const char *collect);
/* One more service, which takes a second and a half. */
void server_lab_slow(bool there);
extern char server_url[160]; /* of `way`: "unix" or "ssh" */
extern char server_socket[128];
void server_way(const char *way);
/* The socket's server, when that is the way; waits until it answers. */
void server_start(void);
void server_stop(void);
extern pid_t server_pid;
/* Runs it in a new process, which ends with its result. */
pid_t server_fork(int (*run)(void));
int server_join(pid_t pid);
/* "attach, Open, Collect" of the process that the first of these lines names; its number. */
pid_t server_notes(char *ret, size_t capacity);
void server_forget_notes(void);
bool server_gone(pid_t pid); /* within ten seconds */

#endif
