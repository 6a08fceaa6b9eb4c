/* SPDX-License-Identifier: MIT */
/* Private to openperflib-winregd: who asks, what is answered, how long anybody is waited for. */
#ifndef OPL_REMOTE_WINREGD_H
#define OPL_REMOTE_WINREGD_H

#include "remote/form.h"

#include <openperflib/windows.h>

/* ---- winregd_access.c ---- */
/* Who asks: a process here, or somebody elsewhere for whom one asks that may say so. */
struct peer {
    uid_t uid;
    bool is_caller;      /* elsewhere: `name` and `sids` are what was said of him */
    uint32_t protection; /* of a caller: enum form_protection */
    char name[256];
    struct buffer sids; /* texts, each with its NUL; a user here is S-1-22-1-UID and S-1-22-2-GID */
};
/* Of a connected socket, or of this process. Free with peer_done. */
bool peer_of_socket(int fd, struct peer *ret);
bool peer_of_process(struct peer *ret);
void peer_done(struct peer *peer);
/* From now on it is this caller; only root and the server's own user may say so. */
LSTATUS peer_speak_for(struct peer *peer, const struct form_request *request);
bool peer_has_sid(const struct peer *peer, const char *sid);
bool peer_is_trusted(const struct peer *peer); /* root or the server's user, for himself */
/* What may be refused to it: all, or one object. The lists are read anew each time. */
bool access_granted(const struct peer *peer);
void access_audit(const struct peer *peer); /* one event; floods are held back */

/* ---- winregd_lists.c ---- */
enum listed { LIST_ABSENT, LIST_NAMES, LIST_SILENT };
/* Is the peer in this list, one text or several? */
bool list_entry_names(const char *entry, const struct peer *peer);
/* The same of one that also has entries "!WHO", which refuse; where there is no other, the rest is
 * named. */
bool list_allows(const char *list, size_t size, const struct peer *peer);
enum listed list_judge(const char *path, const struct peer *peer);
uint32_t list_setting(const char *name, uint32_t otherwise); /* a number below REMOTE_SETTINGS */

/* ---- winregd_objects.c ---- */
/* Are there any that the peer may not see? Which, is remembered for the next. */
bool objects_are_hidden(const struct peer *peer);
/* Takes them out of a block of either byte order; its size then, 0: it is no block. */
size_t objects_hide(char *data, size_t size);

/* ---- winregd_limits.c: what all clients' processes have together ---- */
bool limits_share(void); /* before the first of them is started */
/* The client at `place` begins or has ended; NULL: nobody. */
void limits_set(size_t place, const struct peer *peer);
void limits_enter(size_t place); /* this process serves the client at `place` */
/* False: too many clients speak for this caller. */
bool limits_take_caller(const struct peer *peer);
uint64_t limits_owner(size_t place); /* the same for all clients of one user or caller */
uint64_t limits_owner_of(const struct peer *peer); /* 0: root, until it speaks for somebody */
/* Since when nothing is computed for the client (clock_ticks), 0: something is. */
void limits_set_idle(bool idle);
int64_t limits_idle_since(size_t place);
void limits_set_refused(bool refused); /* the lists do not name it, now */
bool limits_refused(size_t place);
bool limits_begin_costly(void); /* false: too many run */
void limits_end_costly(void);
bool limits_may_audit(void);
bool limits_take_question(void); /* false: too many in this second */

/* ---- winregd_answer.c ---- */
/* What is kept from one question to the next. */
struct answers {
    struct buffer data, name;
};
/* What a peer may read and cost is judged here, whatever it asks and wherever it comes from.
 * *ret_reply lies in `answers`. */
void answer(struct answers *answers, const struct peer *peer, const struct form_request *request,
            struct form_reply *ret_reply);

/* ---- winregd_session.c ---- */
/* Serves one client until it goes or breaks the form. True: it went between two messages. */
bool session_serve(int in, int out, struct peer *peer);

/* ---- winregd_serve.c ---- */
/* of a caller who comes through root's process as of a user; root's may be more in all */
enum { SERVE_MOST_CLIENTS = 128, SERVE_MOST_OF_OTHERS = 64, SERVE_MOST_OF_USER = 32 };
struct server {
    int listening, signals;
    struct {
        pid_t pid; /* 0: free */
        uid_t uid;
    } clients[SERVE_MOST_CLIENTS];
};
/* Each client has a process. Ends with SIGTERM or SIGINT; the exit code. `path` NULL: systemd's
 * socket. */
int serve_socket(const char *path);
bool serve_is_activated(void);

/* ---- winregd_places.c ---- */
/* A free place for the newcomer; when there is none, somebody else's client ends and gives it its
 * own. SIZE_MAX: too many, and none that may be ended. */
size_t places_find(struct server *server, const struct peer *newcomer);

#endif
