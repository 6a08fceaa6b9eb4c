/* SPDX-License-Identifier: MIT */
/* The server's socket, and the locks that allow only one server for each herd and socket. */
#ifndef BEHEMOTH_SERVER_LISTEN_H
#define BEHEMOTH_SERVER_LISTEN_H

#include <stdbool.h>

enum { EXIT_SECOND = 3 }; /* another server uses the same herd or socket */

/* Prints "behemoth-server: WHAT: reason" by errno; returns EXIT_FAILED. */
int complain(const char *what);
/* Locks a file until the process ends. Returns 0, or an exit code after a message. */
int take_lock(const char *path, const char *what);
/* The socket from systemd (sd_listen_fds(3)), or else a new one; *ret_own: the caller must remove
 * the socket at the end. Returns 0, or an exit code after a message. */
int take_socket(const char *path, int *ret_fd, bool *ret_own);

#endif
