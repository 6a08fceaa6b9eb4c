/* SPDX-License-Identifier: MIT */
/*
 * A process for each machine, forked from one that has loaded Samba's libraries: what the dynamic
 * linker wrote while it loaded them, 1.8 MB, is shared by all. One process for all machines would
 * need less, but Samba's settings are global, and a machine that makes the process crash, wait or
 * use too much memory would take the others with it, and could reach their credentials.
 *
 * This process never reads credentials: each child reads those of its machine.
 */
#include "remote/smb/smb.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* Receives a machine's address and its stream, if a message has arrived. Returns false if there is
 * none and never will be. *ret_stream: -1 without a stream. */
static bool receive_machine(int control, char address[SMB_ADDRESS_BYTES], int *ret_stream)
{
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof *ret_stream)];
    } rights = {.bytes = {0}};
    struct iovec part = {address, SMB_ADDRESS_BYTES - 1};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &rights, .msg_controllen = sizeof rights};
    ssize_t size = recvmsg(control, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    *ret_stream = -1;
    if (size <= 0)
        return size && (errno == EAGAIN || errno == EINTR);
    address[size] = '\0';
    if (message.msg_controllen >= sizeof rights.head && rights.head.cmsg_type == SCM_RIGHTS)
        memcpy(ret_stream, CMSG_DATA(&rights.head), sizeof *ret_stream);
    return true;
}

static void note_child(int signal)
{
}

void smb_start_processes(int control, int (*serve)(const char *machine, int stream))
{
    char address[SMB_ADDRESS_BYTES];
    int stream, running = 0;
    bool any = false;
    sigset_t child, before;
    struct pollfd arrivals = {.fd = control, .events = POLLIN};
    /* SIGCHLD arrives only in ppoll, so that no child's end is missed */
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, &before);
    signal(SIGCHLD, note_child);
    while (receive_machine(control, address, &stream)) {
        pid_t pid = stream < 0 ? -1 : fork();
        if (!pid) {
            close(control);
            signal(SIGCHLD, SIG_DFL);
            sigprocmask(SIG_SETMASK, &before, NULL);
            _exit(serve(address, stream));
        }
        if (stream >= 0)
            close(stream); /* if fork() failed, the program sees its stream end */
        running += pid > 0;
        any |= pid > 0;
        if (stream < 0)
            ppoll(&arrivals, 1, NULL, &before);
        while (running && waitpid(-1, NULL, WNOHANG) > 0)
            running--;
        /* What was sent before this is received; later messages fail at the sender, which starts a
         * new process. */
        if (any && !running)
            shutdown(control, SHUT_RD);
    }
}
