/* SPDX-License-Identifier: MIT */
/* A server for the tests, in the test's laboratory (a registry of its own), and a recording
 * provider that the server loads. */
#ifndef OPL_TEST_REMOTE_SERVER_H
#define OPL_TEST_REMOTE_SERVER_H

#include "../experiments/lab.h"

#include <sys/types.h>

/* Makes a laboratory with the service MyPerf, whose provider runs in the calling program, and a
 * script that replaces ssh. */
void server_lab(const char *collect);
/* Adds (`there`) or removes a service whose queries take 1.5 seconds. */
void server_lab_slow(bool there);
/* the server's address, which depends on server_way: "unix" or "ssh" */
extern char server_url[160];
extern char server_socket[128];
void server_way(const char *way);
/* After server_way("unix"): starts the server, and waits until it answers. Else does nothing. */
void server_start(void);
void server_stop(void);
extern pid_t server_pid;
/* Runs a function in a new process, whose exit code is the function's result. */
pid_t server_fork(int (*run)(void));
int server_join(pid_t pid);
/* Writes to `ret` the calls noted by the process that wrote the first note, such as "attach, Open,
 * Collect"; returns this process's number. */
pid_t server_notes(char *ret, size_t capacity);
void server_forget_notes(void);
bool server_gone(pid_t pid); /* waits for the end of the server process, at most ten seconds */

#endif
