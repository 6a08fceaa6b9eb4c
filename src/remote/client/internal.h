/* SPDX-License-Identifier: MIT */
/* Private to remote, client side: a stream to a server, and the machine behind it. */
#ifndef OPL_REMOTE_INTERNAL_H
#define OPL_REMOTE_INTERNAL_H

#include "remote/proto.h"
#include "remote/remote.h"

#define REMOTE_MACHINES REMOTE_SETTINGS "\\Machines"

/* ---- link.c: a stream whose descriptor the program may close without our knowledge ---- */
struct link {
    int fd; /* meaningful while `pid` is not 0 */
    pid_t pid;
    dev_t device;
    ino_t inode;
};
/* WAIT_TIMEOUT: the socket's backlog is full; try again. */
LSTATUS link_open_socket(const char *path, struct link *ret);
/* Starts a program that the caller's SIGCHLD and waitpid do not notice; its 0 and 1 are the
 * stream. */
LSTATUS link_open_program(const char *file, char *const *arguments, struct link *ret);
bool link_is_ours(const struct link *link); /* of this process, and still the same file */
void link_close(struct link *link);
/* Both transfer what is possible without waiting. RPC_S_CALL_FAILED: the stream is lost;
 * WAIT_TIMEOUT: incomplete. `sent` is advanced; `ret` grows to at least `size` bytes, as data
 * arrives. */
LSTATUS link_send(const struct link *link, const void *data, size_t size, size_t *sent);
LSTATUS link_receive(const struct link *link, size_t size, struct buffer *ret);

/* ---- target.c: one connection to each machine, shared by its keys ---- */
/* A reply that missed its deadline: what has arrived of it, and what it must be. */
struct overdue_reply {
    pid_t pid; /* 0: none is overdue */
    uint32_t id;
    size_t capacity;
    int64_t since;
    struct buffer message;
};
struct target {
    struct target *next;
    unsigned users, data_users; /* under the lock of all targets */
    struct claim in_use;        /* its holder owns all members below */
    struct link link;
    struct overdue_reply overdue; /* on this link */
    bool answered;                /* on this link */
    bool missed;                  /* the last answer missed its deadline */
    bool data_wanted;
    uint32_t number;
    unsigned failures;
    int64_t not_before; /* no connection attempt before this time */
    uint32_t deadline_ms;
    char url[];
};
/* ERROR_BAD_NETPATH: no such name. Connects at the first request only. */
LSTATUS target_hold(const char *name, struct target **ret);
void target_hold_again(struct target *target);
void target_release(struct target *target); /* the last user leaves a hung one as it is */
/* For the holder of the claim. WAIT_TIMEOUT: not yet; try again soon. */
LSTATUS target_connect(struct target *target);
void target_disconnect(struct target *target);
void target_forget_overdue(struct target *target);
/* Counts the open keys of the performance data: sends nothing when it is not connected. */
void target_use_data(struct target *target);
void target_leave_data(struct target *target);

/* ---- call.c: requests in progress ---- */
enum call_stage { CALL_CLAIMS, CALL_CONNECTS, CALL_OVERDUE, CALL_SENDS, CALL_RECEIVES, CALL_DONE };
struct call {
    struct target *target; /* the caller holds a reference */
    struct proto_request request;
    LSTATUS status;
    struct proto_reply reply; /* points into `message` */
    struct buffer message;
    /* private to call.c */
    enum call_stage stage;
    bool fresh, paused; /* it made the connection; no attempt was due */
    size_t sent;
    int64_t began, connect_until, deadline;
};
/* Sends the request, as far as possible without waiting. */
void call_begin(struct call *call);
/* Waits until each is answered or its deadline is over. */
void calls_finish(struct call *calls, size_t count);
static inline void call_done(struct call *call)
{
    buffer_done(&call->message);
}
#define CALL_AUTO __attribute__((cleanup(call_done))) struct call
/* Both in one; success if there is a reply. */
LSTATUS call_run(struct call *call);

#endif
