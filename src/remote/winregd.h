/* SPDX-License-Identifier: MIT */
/* Private to openperflib-winregd: who asks, what is answered, how long anybody is waited for. */
#ifndef OPL_REMOTE_WINREGD_H
#define OPL_REMOTE_WINREGD_H

#include "remote/form.h"

#include <openperflib/windows.h>

/* ---- winregd_access.c ---- */
struct peer {
    uid_t uid;
    gid_t *groups; /* as the kernel says, the first one is the primary */
    size_t group_count;
};
/* Of a connected socket, or of this process. Free with peer_done. */
bool peer_of_socket(int fd, struct peer *ret);
bool peer_of_process(struct peer *ret);
void peer_done(struct peer *peer);
/* May it read now? The lists are read anew each time. */
bool access_granted(const struct peer *peer);
/* One event for each refusal; floods are held back. */
void access_audit(const struct peer *peer);

/* ---- winregd_answer.c ---- */
/* What is kept from one question to the next. */
struct answers {
    struct buffer data, name;
};
/* *ret_reply lies in `answers`. */
void answer(struct answers *answers, const struct form_request *request,
            struct form_reply *ret_reply);

/* ---- winregd_session.c ---- */
/* Serves one client until it goes or breaks the form. True: it went between two messages. */
bool session_serve(int in, int out, const struct peer *peer);

/* ---- winregd_serve.c ---- */
enum { SERVE_MOST_CLIENTS = 64, SERVE_MOST_OF_USER = 16 };
/* Each client has a process. Ends with SIGTERM or SIGINT; the exit code. `path` NULL: systemd's
 * socket. */
int serve_socket(const char *path);
bool serve_is_activated(void);

#endif
