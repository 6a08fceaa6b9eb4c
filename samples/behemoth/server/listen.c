/* SPDX-License-Identifier: MIT */
/* The socket, and the locks that prevent two servers for one herd. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* secure_getenv, SOCK_CLOEXEC */
#endif
#include "service.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static void complain(const char *path)
{
    fprintf(stderr, "behemoth-server: %s: %s\n", path, strerror(errno));
}

/* Creates the folders of a file, if they do not exist. */
static void make_folders(const char *path)
{
    char folder[4096];
    snprintf(folder, sizeof folder, "%s", path);
    for (char *slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(folder, 0755);
        *slash = '/';
    }
}

/* A lock file contains a process number, or nothing; any other file belongs to another program. */
static bool is_lock(int fd)
{
    char text[32] = "";
    ssize_t bytes = pread(fd, text, sizeof text - 1, 0);
    return bytes >= 0 && strspn(text, "0123456789") == (size_t)bytes;
}

bool service_lock(const char *path, const char *what)
{
    char lock[4096], holder[32] = "";
    make_folders(path);
    if ((size_t)snprintf(lock, sizeof lock, "%s.lock", path) >= sizeof lock)
        return errno = ENAMETOOLONG, complain(path), false;
    int fd = open(lock, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return complain(lock), false;
    if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
        ssize_t bytes = read(fd, holder, sizeof holder - 1);
        holder[bytes > 0 ? bytes : 0] = 0;
        fprintf(stderr, "behemoth-server: process %s has %s already (%s)\n", holder, what, path);
        close(fd);
        errno = EWOULDBLOCK;
        return false;
    }
    if (!is_lock(fd)) {
        fprintf(stderr, "behemoth-server: %s is no lock, and stays; move it away\n", lock);
        close(fd);
        errno = EEXIST;
        return false;
    }
    int bytes = snprintf(holder, sizeof holder, "%ld", (long)getpid());
    if (ftruncate(fd, 0) < 0 || write(fd, holder, (size_t)bytes) < 0)
        complain(lock); /* a second server will not know the first one's number */
    return true;        /* the descriptor stays open, and the lock with it */
}

static int handed_over(void)
{
    const char *process = secure_getenv("LISTEN_PID"), *count = secure_getenv("LISTEN_FDS");
    int type = 0;
    socklen_t size = sizeof type;
    if (!process || !count || atol(process) != (long)getpid() || atoi(count) < 1)
        return -1;
    if (getsockopt(3, SOL_SOCKET, SO_TYPE, &type, &size) < 0 || type != SOCK_STREAM)
        return -1;
    fcntl(3, F_SETFD, FD_CLOEXEC);
    fcntl(3, F_SETFL, fcntl(3, F_GETFL) | O_NONBLOCK);
    return 3;
}

/* We have the lock, so a socket there is from a killed server and is removed. Any other file
 * stays. */
static bool clear_place(const char *path)
{
    struct stat status;
    if (lstat(path, &status) < 0)
        return errno == ENOENT || (complain(path), false);
    if (!S_ISSOCK(status.st_mode)) {
        fprintf(stderr,
                "behemoth-server: %s is no socket, and stays; --socket names another place\n",
                path);
        errno = ENOTSOCK;
        return false;
    }
    return unlink(path) == 0 || (complain(path), false);
}

int service_listen(const struct settings *settings, bool *ret_own)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *path = settings->socket;
    int fd = handed_over();
    *ret_own = fd < 0;
    if (fd >= 0)
        return fd;
    if (strlen(path) >= sizeof address.sun_path)
        return errno = ENAMETOOLONG, complain(path), -1;
    strcpy(address.sun_path, path);
    if (!service_lock(path, "this socket"))
        return -1;
    if (!clear_place(path))
        return -1;
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) < 0 ||
        chmod(path, 0666) < 0 || listen(fd, 64) < 0) {
        complain(path);
        if (fd >= 0)
            close(fd);
        return -1;
    }
    return fd;
}
