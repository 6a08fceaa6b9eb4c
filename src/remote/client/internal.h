/* SPDX-License-Identifier: MIT */
/* Private to the client side of remote: streams to servers, machines, and calls to them. */
#ifndef OPL_REMOTE_INTERNAL_H
#define OPL_REMOTE_INTERNAL_H

#include "remote/proto.h"
#include "remote/remote.h"

#include <sys/socket.h>

#define REMOTE_MACHINES REMOTE_SETTINGS "\\Machines"

/* ---- call.c: a stream; the program may close its descriptor at any time ---- */
struct link {
    int fd; /* `fd` is valid if `pid` is not 0 */
    pid_t pid;
    dev_t device;
    ino_t inode;
};
/* Connects to a socket that accepts streams. WAIT_TIMEOUT: the server's queue of connections is
 * full; try again. */
LSTATUS link_open_socket(const struct sockaddr *address, socklen_t size, struct link *ret);
/* Starts a program whose standard input and output are the stream, of socket type `type`. The
 * calling program gets no SIGCHLD for that process and cannot wait for it. */
LSTATUS link_open_program(const char *file, char *const *arguments, int type, struct link *ret);
/* Sends a text and one end of a new stream to the program at the other end of `link`, a
 * SOCK_SEQPACKET. RPC_S_CALL_FAILED: this process has no such program, or it has ended. */
LSTATUS link_open_through(const struct link *link, const char *text, struct link *ret);
/* Appends to `ret` what arrives, without waiting, until it has `size` bytes; memory is allocated
 * only as data arrives. WAIT_TIMEOUT: not complete yet; RPC_S_CALL_FAILED: the stream is lost. */
LSTATUS link_receive(const struct link *link, size_t size, struct buffer *ret);
void link_close(struct link *link);

/* ---- transport.c: kinds of addresses ---- */
/* Returns the URL for a name: the name itself if it is a URL, else the URL in the list of machines.
 * The name may begin with \\. ERROR_BAD_NETPATH: the name is invalid or unknown. */
LSTATUS address_of(const char *name, struct buffer *ret);
/* Connects to the machine of a URL that address_of returned. WAIT_TIMEOUT: try again soon. */
LSTATUS address_connect(const char *url, struct link *ret);

/* ---- target.c: one connection to each machine, shared by its keys ---- */
/* A reply that missed its deadline: the bytes that have arrived, and what is needed to check the
 * rest. */
struct overdue_reply {
    pid_t pid; /* process that sent the request; 0: no reply is overdue */
    uint32_t id;
    size_t capacity;
    int64_t since;
    struct buffer message;
};
struct target {
    struct target *next;
    /* number of open keys, and how many of these are keys of the performance data; guarded by
     * `lock` of target.c */
    unsigned users, data_users;
    struct claim in_use; /* only the holder of this claim uses the members below */
    struct link link;
    struct overdue_reply overdue; /* the reply that is still due on this connection */
    bool answered;                /* a reply has arrived on this connection */
    bool missed;                  /* the last call missed its deadline: wait only briefly */
    bool data_wanted;
    uint32_t number;
    unsigned failures;
    int64_t not_before; /* no connection attempt before this time */
    uint32_t deadline_ms;
    char url[];
};
/* Finds or adds the machine with that name, and counts one user more. The connection is made at the
 * first request. ERROR_BAD_NETPATH: the name is invalid or unknown. */
LSTATUS target_hold(const char *name, struct target **ret);
void target_hold_again(struct target *target);
/* counts one user less; a machine that missed a deadline is kept for a while */
void target_release(struct target *target);
/* The caller of the next three functions must hold the machine's claim. WAIT_TIMEOUT: not connected
 * yet; try again soon. */
LSTATUS target_connect(struct target *target);
void target_disconnect(struct target *target);
void target_forget_overdue(struct target *target);
/* Count the open keys of the performance data. After the last one is closed, a connected server is
 * told that the data is not needed any more. */
void target_use_data(struct target *target);
void target_leave_data(struct target *target);

/* ---- call.c: requests in progress ---- */
enum call_stage { CALL_CLAIMS, CALL_CONNECTS, CALL_OVERDUE, CALL_SENDS, CALL_RECEIVES, CALL_DONE };
struct call {
    struct target *target; /* the machine, to which the caller has a reference */
    struct proto_request request;
    LSTATUS status;
    struct proto_reply reply; /* the reply, whose texts point into `message` */
    struct buffer message;
    /* the members below are private to call.c */
    enum call_stage stage;
    /* fresh: this call makes a new connection; paused: it must not connect yet */
    bool fresh, paused;
    size_t sent;
    int64_t began, connect_until, deadline;
};
/* Starts the call and does what is possible without waiting. */
void call_begin(struct call *call);
/* Waits until each call is answered or its deadline is over. */
void calls_finish(struct call *calls, size_t count);
static inline void call_done(struct call *call)
{
    buffer_done(&call->message);
}
#define CALL_AUTO __attribute__((cleanup(call_done))) struct call
/* call_begin and calls_finish for one call. Returns ERROR_SUCCESS if there is a reply. */
LSTATUS call_run(struct call *call);

#endif
