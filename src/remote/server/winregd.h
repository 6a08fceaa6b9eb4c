/* SPDX-License-Identifier: MIT */
/* Private to openperflib-winregd: clients, access checks, answers, limits. */
#ifndef OPL_REMOTE_WINREGD_H
#define OPL_REMOTE_WINREGD_H

#include "remote/proto.h"

#include <windows.h>

/* ---- every limit of the server ---- */
/* They hold for each way in: the socket, standard input, a stream on behalf of a caller. */
enum {
    LIMIT_CLIENTS = 128,             /* connected at once */
    LIMIT_CLIENTS_NOT_ROOT = 64,     /* of them, those of other users than root */
    LIMIT_CLIENTS_OF_USER = 32,      /* of one user; of one caller it is MostStreams, if set */
    LIMIT_QUERIES_PER_SECOND = 2000, /* of one client, or MostPerSecond; 0: any number */
    LIMIT_COSTLY = 4,                /* Costly queries at once, of all clients */
    LIMIT_IDLE_SECONDS = 10,         /* after that a client may be ended for another */
    LIMIT_REFUSED_SECONDS = 10,      /* after that a client that may not read is disconnected */
    LIMIT_MESSAGE_SECONDS = 10,      /* for a whole request, from its first byte */
    LIMIT_REPLY_SECONDS = 30,        /* for the client to read a reply */
    LIMIT_AUDITS = 20,               /* events about refused clients within */
    LIMIT_AUDIT_SECONDS = 60,
    LIMIT_GROUPS = 65536,                       /* of a user */
    LIMIT_LIST_BYTES = 64 << 10,                /* of a list of users */
    LIMIT_HIDDEN_OBJECTS = LIMIT_QUERY_OBJECTS, /* more lists of objects than that hide all */
    /* of messages: PROTO_PATH_BYTES, PROTO_NAME_BYTES, PROTO_DATA_BYTES */
};

/* ---- access.c: what a client may read ---- */
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
LSTATUS peer_act_for(struct peer *peer, const struct proto_request *request);
/* root or the server's user, not on behalf of a caller */
bool peer_is_trusted(const struct peer *peer);
/* Access to all data; objects may be refused one by one. The lists are read anew each time. */
bool access_granted(const struct peer *peer);
void access_audit(const struct peer *peer); /* one event; floods are limited */

uint32_t list_setting(const char *name, uint32_t otherwise); /* a number below REMOTE_SETTINGS */
/* Are there objects that the peer may not read? The result is kept for objects_hide. */
bool objects_are_hidden(const struct peer *peer);
/* Removes them from a block of either byte order; returns its new size, 0: not a block. */
size_t objects_hide(char *data, size_t size);

/* ---- limits.c: what is counted across all clients' processes ---- */
bool limits_share(void); /* before the first of them is started */
/* The client at `place` begins or has ended; NULL: ended. */
void limits_set(size_t place, const struct peer *peer);
void limits_enter(size_t place); /* this process serves the client at `place` */
/* False: too many clients act for this caller. */
bool limits_take_caller(const struct peer *peer);
uint64_t limits_owner(size_t place); /* the same for all clients of one user or caller */
uint64_t limits_owner_of(const struct peer *peer); /* 0: root, until it acts for a caller */
/* Since when the client has had no query running (clock_ticks), 0: one is running. */
void limits_set_idle(bool idle);
int64_t limits_idle_since(size_t place);
void limits_set_refused(bool refused); /* the access lists deny this client now */
bool limits_refused(size_t place);
bool limits_begin_costly(void); /* false: too many are running */
void limits_end_costly(void);
bool limits_may_audit(void);
bool limits_take_question(void); /* false: too many in this second */

/* ---- answer.c ---- */
/* State kept between requests. */
struct answers {
    struct buffer data, name;
};
/* Checks what a peer may read and spend, whatever it requests and whichever way it is connected.
 * *ret_reply points into `answers`. */
void answer(struct answers *answers, const struct peer *peer, const struct proto_request *request,
            struct proto_reply *ret_reply);

/* ---- session.c ---- */
/* Serves one client until it disconnects or breaks the protocol. True: it disconnected between two
 * messages. */
bool session_serve(int in, int out, struct peer *peer);

#endif
