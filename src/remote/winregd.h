/* SPDX-License-Identifier: MIT */
/* Private to openperflib-winregd: clients, access checks, answers, limits. */
#ifndef OPL_REMOTE_WINREGD_H
#define OPL_REMOTE_WINREGD_H

#include "remote/proto.h"

#include <windows.h>

/* ---- winregd_access.c ---- */
/* The client: a process here, or a remote caller on whose behalf a trusted process asks. */
struct peer {
    uid_t uid;
    bool is_caller;      /* remote: `name` and `sids` are as stated by the trusted process */
    uint32_t protection; /* of a caller: enum proto_protection */
    char name[256];
    struct buffer sids; /* texts, each with its NUL; a user here is S-1-22-1-UID and S-1-22-2-GID */
};
/* Of a connected socket, or of this process. Free with peer_done. */
bool peer_of_socket(int fd, struct peer *ret);
bool peer_of_process(struct peer *ret);
void peer_done(struct peer *peer);
/* From now on the peer is this caller; only root and the server's own user may request that. */
LSTATUS peer_speak_for(struct peer *peer, const struct proto_request *request);
bool peer_has_sid(const struct peer *peer, const char *sid);
/* root or the server's user, not on behalf of a caller */
bool peer_is_trusted(const struct peer *peer);
/* Access to all data; objects may be refused one by one. The lists are read anew each time. */
bool access_granted(const struct peer *peer);
void access_audit(const struct peer *peer); /* one event; floods are limited */

/* ---- winregd_lists.c ---- */
enum listed { LIST_ABSENT, LIST_NAMES, LIST_SILENT };
/* Does this list entry, one text or several, name the peer? */
bool list_entry_names(const char *entry, const struct peer *peer);
/* The same for a list that may have entries "!NAME", which refuse; if it has no other entries, all
 * others are allowed. */
bool list_allows(const char *list, size_t size, const struct peer *peer);
enum listed list_judge(const char *path, const struct peer *peer);
uint32_t list_setting(const char *name, uint32_t otherwise); /* a number below REMOTE_SETTINGS */

/* ---- winregd_objects.c ---- */
/* Are there objects that the peer may not read? The result is kept for objects_hide. */
bool objects_are_hidden(const struct peer *peer);
/* Removes them from a block of either byte order; returns its new size, 0: not a block. */
size_t objects_hide(char *data, size_t size);

/* ---- winregd_limits.c: limits across all clients' processes ---- */
bool limits_share(void); /* before the first of them is started */
/* The client at `place` begins or has ended; NULL: ended. */
void limits_set(size_t place, const struct peer *peer);
void limits_enter(size_t place); /* this process serves the client at `place` */
/* False: too many clients speak for this caller. */
bool limits_take_caller(const struct peer *peer);
uint64_t limits_owner(size_t place); /* the same for all clients of one user or caller */
uint64_t limits_owner_of(const struct peer *peer); /* 0: root, until it speaks for a caller */
/* Since when the client has had no query running (clock_ticks), 0: one is running. */
void limits_set_idle(bool idle);
int64_t limits_idle_since(size_t place);
void limits_set_refused(bool refused); /* the access lists deny this client now */
bool limits_refused(size_t place);
bool limits_begin_costly(void); /* false: too many are running */
void limits_end_costly(void);
bool limits_may_audit(void);
bool limits_take_question(void); /* false: too many in this second */

/* ---- winregd_answer.c ---- */
/* State kept between requests. */
struct answers {
    struct buffer data, name;
};
/* Checks what a peer may read and spend, whatever it requests and whichever way it is connected.
 * *ret_reply points into `answers`. */
void answer(struct answers *answers, const struct peer *peer, const struct proto_request *request,
            struct proto_reply *ret_reply);

/* ---- winregd_session.c ---- */
/* Serves one client until it disconnects or breaks the protocol. True: it disconnected between two
 * messages. */
bool session_serve(int in, int out, struct peer *peer);

/* ---- winregd_serve.c ---- */
/* the limit per user also holds for a caller behind root's process; root may have more in all */
enum { SERVE_MOST_CLIENTS = 128, SERVE_MOST_OF_OTHERS = 64, SERVE_MOST_OF_USER = 32 };
struct server {
    int listening, signals;
    struct {
        pid_t pid; /* 0: free */
        uid_t uid;
    } clients[SERVE_MOST_CLIENTS];
};
/* One process per client. Ends with SIGTERM or SIGINT; returns the exit code. `path` NULL:
 * systemd's socket. */
int serve_socket(const char *path);
bool serve_is_activated(void);

/* ---- winregd_places.c ---- */
/* A free place for the new client; if there is none, a client of another user is ended for it.
 * SIZE_MAX: too many, and none that may be ended. */
size_t places_find(struct server *server, const struct peer *newcomer);

#endif
