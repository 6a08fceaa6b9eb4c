/* SPDX-License-Identifier: MIT */
/* The server's socket, and the locks that allow only one server for each herd and socket. */
#ifndef BEHEMOTH_SERVER_LISTEN_H
#define BEHEMOTH_SERVER_LISTEN_H

#include <stdbool.h>

enum { EXIT_SECOND = 3 }; /* another server has the herd or the socket */

/* "behemoth-server: WHAT: why", by errno; returns EXIT_FAILED. */
int complain(const char *what);
/* Takes a file's lock until the process ends. The exit code, after a message unless it is 0. */
int take_lock(const char *path, const char *what);
/* The socket from systemd (sd_listen_fds(3)), or else a new one; `ret_own`: remove it at the end.
 * The exit code. */
int take_socket(const char *path, int *ret_fd, bool *ret_own);

#endif
