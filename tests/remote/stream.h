/* SPDX-License-Identifier: MIT */
/* Sends and receives whole messages through a blocking socket, for tests and benchmarks. */
#ifndef OPL_TEST_REMOTE_STREAM_H
#define OPL_TEST_REMOTE_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/types.h>

/* Both functions return false if the other side has closed the connection. */
static inline bool send_all(int fd, const void *data, size_t size)
{
    const char *at = (const char *)data;
    while (size) {
        ssize_t count = send(fd, at, size, MSG_NOSIGNAL);
        if (count <= 0)
            return false;
        at += count;
        size -= (size_t)count;
    }
    return true;
}

static inline bool receive_all(int fd, void *data, size_t size)
{
    char *at = (char *)data;
    while (size) {
        ssize_t count = recv(fd, at, size, 0);
        if (count <= 0)
            return false;
        at += count;
        size -= (size_t)count;
    }
    return true;
}

#endif
