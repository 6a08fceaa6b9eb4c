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
LSTATUS link_open_socket(const char *path, int64_t deadline, struct link *ret);
/* Starts a program that the caller's SIGCHLD and waitpid never meet; its 0 and 1 are the stream. */
LSTATUS link_open_program(const char *file, char *const *arguments, struct link *ret);
bool link_is_ours(const struct link *link); /* of this process, and still the same */
void link_close(struct link *link);
/* RPC_S_CALL_FAILED: it is lost; WAIT_TIMEOUT: the moment passed. */
LSTATUS link_send(const struct link *link, const void *data, size_t size, int64_t deadline);
/* Adds exactly `size` bytes; memory grows with what really comes. */
LSTATUS link_receive(const struct link *link, size_t size, int64_t deadline, struct buffer *ret);

/* ---- target.c: one connection for each machine, shared by its keys ---- */
struct target;
/* ERROR_BAD_NETPATH: no such name. Nothing is connected before the first question. */
LSTATUS target_hold(const char *name, struct target **ret);
void target_hold_again(struct target *target);
void target_release(struct target *target);
/* *ret lies in `message`. Takes the number of the request. */
LSTATUS target_ask(struct target *target, struct form_request *request, struct buffer *message,
                   struct form_reply *ret);
/* How many keys of the performance data are open: asks nothing when it is not connected. */
void target_use_data(struct target *target);
void target_leave_data(struct target *target);

#endif
