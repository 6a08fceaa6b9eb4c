/* SPDX-License-Identifier: MIT */
/*
 * Streams to other machines. Some programs close descriptors that they did not open, so before each
 * use the device and inode of a descriptor are compared with those recorded. A descriptor that is
 * another file now is not used and not closed.
 */
#include "remote/client/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

static bool same_file(const struct link *link)
{
    struct stat st;
    return link->pid && !fstat(link->fd, &st) && st.st_dev == link->device &&
           st.st_ino == link->inode;
}

bool link_is_ours(const struct link *link)
{
    return link->pid == getpid() && same_file(link);
}

void link_close(struct link *link)
{
    if (same_file(link))
        close(link->fd);
    *link = (struct link){0};
}

/* Makes a link of the descriptor; on failure closes it. */
static LSTATUS link_of(int fd, struct link *ret)
{
    struct stat st;
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) || fstat(fd, &st)) {
        close(fd);
        return ERROR_NOT_READY;
    }
    *ret = (struct link){.fd = fd, .pid = getpid(), .device = st.st_dev, .inode = st.st_ino};
    return ERROR_SUCCESS;
}

/* ---- bytes ---- */

static bool may_wait(void)
{
    return errno == EAGAIN || errno == EINTR;
}

LSTATUS link_send(const struct link *link, const void *data, size_t size, size_t *sent)
{
    while (*sent < size) {
        const char *at = (const char *)data + *sent;
        ssize_t count = send(link->fd, at, size - *sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count < 0)
            return may_wait() ? WAIT_TIMEOUT : RPC_S_CALL_FAILED;
        *sent += (size_t)count;
    }
    return ERROR_SUCCESS;
}

LSTATUS link_receive(const struct link *link, size_t size, struct buffer *ret)
{
    enum { LEAST_AT_ONCE = 16 << 10, MOST_AT_ONCE = 256 << 10 };
    while (ret->len < size) {
        size_t wanted = size - ret->len;
        wanted = wanted < LEAST_AT_ONCE ? LEAST_AT_ONCE : wanted;
        wanted = wanted > MOST_AT_ONCE ? MOST_AT_ONCE : wanted;
        if (!buffer_reserve(ret, wanted + 1))
            return ERROR_NOT_ENOUGH_MEMORY;
        ssize_t count = recv(link->fd, ret->data + ret->len, wanted, MSG_DONTWAIT);
        if (count < 0 && may_wait())
            return WAIT_TIMEOUT;
        if (count <= 0)
            return RPC_S_CALL_FAILED;
        ret->len += (size_t)count;
        ret->data[ret->len] = '\0';
    }
    return ERROR_SUCCESS;
}

/* ---- a socket of this machine ---- */

LSTATUS link_open_socket(const char *path, struct link *ret)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path)
        return ERROR_BAD_NETPATH;
    strcpy(address.sun_path, path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return status_from_errno(errno);
    if (connect(fd, (struct sockaddr *)&address, sizeof address)) {
        LSTATUS status = errno == EACCES ? ERROR_ACCESS_DENIED
                         : may_wait()    ? WAIT_TIMEOUT
                                         : RPC_S_SERVER_UNAVAILABLE;
        close(fd);
        return status;
    }
    return link_of(fd, ret);
}

/* ---- a program ---- */

struct start {
    const char *file;
    char *const *arguments;
    char *const *environment;
    int fd, error;
};

/* Resets all signals, because the child would inherit those that the calling program ignores or
 * blocks. */
DETACHED static void default_signals(void)
{
    enum { KERNEL_SIGNALS = 64, KERNEL_SET_BYTES = 8 };
    const unsigned char defaults[64] = {0};
    for (int number = 1; number <= KERNEL_SIGNALS; number++)
        syscall(SYS_rt_sigaction, number, defaults, NULL, KERNEL_SET_BYTES);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, defaults, NULL, KERNEL_SET_BYTES);
}

DETACHED static int become_program(void *argument)
{
    struct start *start = argument;
    setsid(); /* without a terminal: ssh cannot prompt there, and ^C does not reach it */
    default_signals();
    execve(start->file, start->arguments, start->environment);
    start->error = errno;
    _exit(127);
}

/* Makes the stream descriptors 0 and 1, /dev/null descriptor 2, and starts the program. */
DETACHED static void start_detached(void *argument)
{
    struct start *start = argument;
    int fd = fcntl(start->fd, F_DUPFD_CLOEXEC, 3);
    close(start->fd);
    if (fd < 0 || dup2(fd, 0) != 0 || dup2(fd, 1) != 1 ||
        (open("/dev/null", O_RDWR) != 2 && open("/", O_PATH) != 2)) {
        start->error = errno ? errno : EIO;
        return;
    }
    start->error = 0;
    if (detached_spawn(become_program, start) < 0)
        start->error = errno;
}

LSTATUS link_open_program(const char *file, char *const *arguments, struct link *ret)
{
    int pair[2];
    FREE_AUTO char **environment = environment_new(ENVIRONMENT_FOR_LOGIN);
    if (!environment)
        return ERROR_NOT_ENOUGH_MEMORY;
    if (detached_would_be_process_1())
        return ERROR_ACCESS_DENIED;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
        return status_from_errno(errno);
    struct start start = {file, arguments, environment, pair[1], EIO};
    int error = detached_run_keeping(pair[1], start_detached, &start);
    error = error ? error : start.error;
    close(pair[1]);
    if (error) {
        close(pair[0]);
        trace("remote", "%s could not be started: %s", file, strerror(error));
        return error == ENOMEM ? ERROR_NOT_ENOUGH_MEMORY : RPC_S_SERVER_UNAVAILABLE;
    }
    return link_of(pair[0], ret);
}
