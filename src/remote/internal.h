/* SPDX-License-Identifier: MIT */
/* Private to remote, client side: a stream to a server, and a machine that is asked through it. */
#ifndef OPL_REMOTE_INTERNAL_H
#define OPL_REMOTE_INTERNAL_H

#include "remote/form.h"
#include "remote/remote.h"

/* Where the settings are: the value "Shell", and below it the key "Machines" with values NAME. */
#define REMOTE_SETTINGS "HKEY_LOCAL_MACHINE\\SOFTWARE\\openperflib\\Remote"
#define REMOTE_MACHINES REMOTE_SETTINGS "\\Machines"

/* ---- link.c: a stream whose descriptor the program may close behind our back ---- */
struct link {
    int fd; /* meaningful while `pid` is not 0 */
    pid_t pid;
    dev_t device;
    ino_t inode;
};
/* WAIT_TIMEOUT: too many are waiting there; try again. */
LSTATUS link_open_socket(const char *path, struct link *ret);
/* Starts a program that the caller's SIGCHLD and waitpid never meet; its 0 and 1 are the stream. */
LSTATUS link_open_program(const char *file, char *const *arguments, struct link *ret);
bool link_is_ours(const struct link *link); /* of this process, and still the same */
void link_close(struct link *link);
/* Both go on as far as they can without waiting. RPC_S_CALL_FAILED: it is lost; WAIT_TIMEOUT: not
 * all yet. `sent` counts on; `ret` grows to at least `size` bytes, with what really comes. */
LSTATUS link_send(const struct link *link, const void *data, size_t size, size_t *sent);
LSTATUS link_receive(const struct link *link, size_t size, struct buffer *ret);

/* ---- target.c: one connection for each machine, shared by its keys ---- */
/* A reply that was waited for in vain: what came of it, and what it must be. */
struct late {
    pid_t pid; /* 0: there is none */
    uint32_t id;
    size_t room;
    int64_t since;
    struct buffer message;
};
struct target {
    struct target *next;
    unsigned users, data_users; /* under the lock of all targets */
    struct claim asking;        /* all below is its holder's */
    struct link link;
    struct late late; /* on this link */
    bool answered;    /* on this link */
    bool missed;      /* the last answer did not come in time */
    bool data_asked;
    uint32_t number;
    unsigned failures;
    int64_t not_before; /* this moment is tried to connect again */
    uint32_t deadline_ms;
    char url[];
};
/* ERROR_BAD_NETPATH: no such name. Nothing is connected before the first question. */
LSTATUS target_hold(const char *name, struct target **ret);
void target_hold_again(struct target *target);
void target_release(struct target *target); /* the last user of one that hangs leaves it behind */
/* For who has the claim. WAIT_TIMEOUT: not yet; try again soon. */
LSTATUS target_connect(struct target *target);
void target_disconnect(struct target *target);
void target_forget_late(struct target *target);
/* How many keys of the performance data are open: asks nothing when it is not connected. */
void target_use_data(struct target *target);
void target_leave_data(struct target *target);

/* ---- call.c: questions on their way ---- */
enum call_stage { CALL_CLAIMS, CALL_CONNECTS, CALL_LATE, CALL_SENDS, CALL_RECEIVES, CALL_DONE };
struct call {
    struct target *target; /* held by the asker */
    struct form_request request;
    LSTATUS status;
    struct form_reply reply; /* lies in `message` */
    struct buffer message;
    /* call.c's own */
    enum call_stage stage;
    bool fresh, paused; /* it made the connection; no attempt was due */
    size_t sent;
    int64_t began, connect_until, deadline;
};
/* Sends it off, as far as that goes without waiting. */
void call_begin(struct call *call);
/* Until each is answered or its deadline has come. */
void calls_finish(struct call *calls, size_t count);
static inline void call_done(struct call *call)
{
    buffer_done(&call->message);
}
#define CALL_AUTO __attribute__((cleanup(call_done))) struct call
/* Both at once: whether there is a reply. */
LSTATUS call_ask(struct call *call);

#endif
