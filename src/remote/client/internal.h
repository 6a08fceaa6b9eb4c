/* SPDX-License-Identifier: MIT */
/* Private to the client side of remote: streams to servers, machines, and calls to them. */
#ifndef OPL_REMOTE_INTERNAL_H
#define OPL_REMOTE_INTERNAL_H

#include "remote/proto.h"
#include "remote/remote.h"

#define REMOTE_MACHINES REMOTE_SETTINGS "\\Machines"

/* ---- link.c: a stream; the program may close its descriptor without our knowledge ---- */
struct link {
    int fd; /* valid if `pid` is not 0 */
    pid_t pid;
    dev_t device;
    ino_t inode;
};
/* Connects to a Unix socket. WAIT_TIMEOUT: too many connections wait for the server; try again. */
LSTATUS link_open_socket(const char *path, struct link *ret);
/* Starts a program whose standard input and output are the stream. The caller gets no SIGCHLD for
 * it and cannot wait for it. */
LSTATUS link_open_program(const char *file, char *const *arguments, struct link *ret);
bool link_is_ours(const struct link *link); /* opened by this process, and still the same file */
void link_close(struct link *link);
/* Both transfer what is possible without waiting. WAIT_TIMEOUT: not complete yet;
 * RPC_S_CALL_FAILED: the stream is lost. link_send advances *sent. link_receive appends to `ret`
 * until it has `size` bytes; memory is allocated as data arrives. */
LSTATUS link_send(const struct link *link, const void *data, size_t size, size_t *sent);
LSTATUS link_receive(const struct link *link, size_t size, struct buffer *ret);

/* ---- target.c: one connection to each machine, shared by its keys ---- */
/* A reply that missed its deadline: the bytes that have arrived, and what the whole must be
 * like. */
struct overdue_reply {
    pid_t pid; /* 0: none is overdue */
    uint32_t id;
    size_t capacity;
    int64_t since;
    struct buffer message;
};
struct target {
    struct target *next;
    /* open keys, and those of the performance data; guarded by `lock` of target.c */
    unsigned users, data_users;
    struct claim in_use; /* its holder may use all members below */
    struct link link;
    struct overdue_reply overdue; /* the reply that is due on this link */
    bool answered;                /* a reply has arrived on this link */
    bool missed;                  /* the last call missed its deadline: wait only briefly */
    bool data_wanted;
    uint32_t number;
    unsigned failures;
    int64_t not_before; /* no connection attempt before this time */
    uint32_t deadline_ms;
    char url[];
};
/* Finds or adds the machine of that name, with one more user. Connects only at the first request.
 * ERROR_BAD_NETPATH: the name is not valid or not known. */
LSTATUS target_hold(const char *name, struct target **ret);
void target_hold_again(struct target *target);
void target_release(struct target *target); /* kept for a while if it missed a deadline */
/* These three are for the holder of the claim. WAIT_TIMEOUT: not connected yet; try again soon. */
LSTATUS target_connect(struct target *target);
void target_disconnect(struct target *target);
void target_forget_overdue(struct target *target);
/* Count the open keys of the performance data. After the last one the server is told that the data
 * is not needed, if it is connected. */
void target_use_data(struct target *target);
void target_leave_data(struct target *target);

/* ---- call.c: requests in progress ---- */
enum call_stage { CALL_CLAIMS, CALL_CONNECTS, CALL_OVERDUE, CALL_SENDS, CALL_RECEIVES, CALL_DONE };
struct call {
    struct target *target; /* the caller has a reference to it */
    struct proto_request request;
    LSTATUS status;
    struct proto_reply reply; /* points into `message` */
    struct buffer message;
    /* private to call.c */
    enum call_stage stage;
    bool fresh, paused; /* fresh: it connects anew; paused: it may not connect yet */
    size_t sent;
    int64_t began, connect_until, deadline;
};
/* Starts the call: does what is possible without waiting. */
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
