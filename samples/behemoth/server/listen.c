/* SPDX-License-Identifier: MIT */
/* Takes the locks and makes the socket. Files of other programs with these names are kept. */
#include "peers.h"

#include "../common/program.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* A lock file contains the process number of the server that locked it, or nothing. */
int take_lock(const char *path, const char *what)
{
    char lock[4096 + 8], holder[32] = "";
    make_folders(path);
    snprintf(lock, sizeof lock, "%s.lock", path);
    int fd = open(lock, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool taken = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0;
    ssize_t bytes = fd < 0 ? -1 : pread(fd, holder, sizeof holder - 1, 0);
    if (bytes < 0) {
        warn("%s", lock);
    } else if (strspn(holder, "0123456789") != (size_t)bytes) {
        warnx("%s is not a lock file; move it away", lock);
    } else if (!taken) {
        warnx("process %s already uses %s (%s)", holder, what, path);
        return EXIT_SECOND;
    } else {
        bytes = snprintf(holder, sizeof holder, "%ld", (long)getpid());
        if (ftruncate(fd, 0) < 0 || pwrite(fd, holder, (size_t)bytes, 0) < 0)
            warn("%s", lock); /* not fatal: a second server cannot print our process number */
        return 0;             /* the descriptor stays open, and the lock with it */
    }
    return EXIT_FAILED;
}

int take_socket(const char *path, int *ret_fd, bool *ret_own)
{
    const char *process = secure_getenv("LISTEN_PID"), *count = secure_getenv("LISTEN_FDS");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct stat status;
    int type = 0;
    socklen_t size = sizeof type;
    *ret_own = !process || !count || atol(process) != (long)getpid() || atoi(count) < 1 ||
               getsockopt(3, SOL_SOCKET, SO_TYPE, &type, &size) < 0 || type != SOCK_STREAM;
    if (!*ret_own) {
        fcntl(3, F_SETFD, FD_CLOEXEC);
        fcntl(3, F_SETFL, fcntl(3, F_GETFL) | O_NONBLOCK);
        *ret_fd = 3;
        return 0;
    }
    int code = take_lock(path, "this socket");
    if (code)
        return code;
    bool there = lstat(path, &status) == 0;
    if (there && !S_ISSOCK(status.st_mode)) {
        warnx("%s is not a socket; move it away or use --socket", path);
        return EXIT_FAILED;
    }
    /* This process has the lock, so an existing socket is left over from a server that was
     * killed. */
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    *ret_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if ((there && unlink(path) < 0) || *ret_fd < 0 ||
        bind(*ret_fd, (struct sockaddr *)&address, sizeof address) < 0 || chmod(path, 0666) < 0 ||
        listen(*ret_fd, 64) < 0) {
        warn("%s", path);
        return EXIT_FAILED;
    }
    return 0;
}
