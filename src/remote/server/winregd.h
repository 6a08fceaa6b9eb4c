/* SPDX-License-Identifier: MIT */
/* Private to openperflib-winregd: clients, access checks, answers, limits. */
#ifndef OPL_REMOTE_WINREGD_H
#define OPL_REMOTE_WINREGD_H

#include "query/query.h"
#include "remote/proto.h"

#include <windows.h>

/* ---- every limit of the server ---- */
/* The limits apply to all clients: on the socket, on standard input, and remote callers.
 * MostStreams and MostPerSecond are values of the key REMOTE_SETTINGS. */
enum {
    LIMIT_CLIENTS = 128,         /* maximum number of clients that are connected at the same time */
    LIMIT_CLIENTS_NOT_ROOT = 64, /* maximum number of clients of users other than root */
    LIMIT_CLIENTS_OF_USER =
        /* clients of one user; also the default of MostStreams, the limit for one remote caller */
    32,
    /* maximum number of requests of one client in a second; default of MostPerSecond (0: any
     * number) */
    LIMIT_QUERIES_PER_SECOND = 2000,
    /* maximum number of Costly queries of all clients at the same time */
    LIMIT_COSTLY = 4,
    /* a client that was idle for this time may be ended for another one */
    LIMIT_IDLE_SECONDS = 10,
    LIMIT_REFUSED_SECONDS = 10, /* a client that may not read is disconnected then */
    LIMIT_MESSAGE_SECONDS = 10, /* most time for receiving a request, from its first byte */
    LIMIT_REPLY_SECONDS = 30,   /* most time for sending a reply */
    LIMIT_AUDITS = 20,          /* maximum number of events about refused clients in
                                      * LIMIT_AUDIT_SECONDS */
    LIMIT_AUDIT_SECONDS = 60,
    LIMIT_GROUPS = 65536,                       /* maximum number of groups of a user */
    LIMIT_LIST_BYTES = 64 << 10,                /* maximum bytes of a list of users */
    LIMIT_HIDDEN_OBJECTS = LIMIT_QUERY_OBJECTS, /* if more objects are hidden, all are hidden */
    /* for the limits of messages see PROTO_PATH_BYTES, PROTO_NAME_BYTES, PROTO_DATA_BYTES */
};

/* ---- access.c: what a client may read ---- */
/* A client: a local process, or a remote caller on whose behalf a trusted process reads. */
struct peer {
    uid_t uid;
    /* the client is a remote caller: `name` and `sids` are from the trusted process */
    bool is_caller;
    /* protection of a remote caller's connection: bits of enum proto_protection */
    uint32_t protection;
    char name[256];
    struct buffer sids; /* SIDs as texts, each with its NUL */
};
/* Set *ret to the peer of a connected socket, or of this process. peer_done frees it. */
bool peer_of_socket(int fd, struct peer *ret);
bool peer_of_process(struct peer *ret);
void peer_done(struct peer *peer);
/* From now on the peer acts for a remote caller. Only root and the server's own user may do
 * that. */
LSTATUS peer_act_for(struct peer *peer, const struct proto_request *request);
/* True for root and the server's own user, unless they act for a remote caller. */
bool peer_is_trusted(const struct peer *peer);
/* True if the peer may read counters; single objects may be hidden from the peer. The lists are
 * read again at each call. */
bool access_granted(const struct peer *peer);
void access_audit(const struct peer *peer); /* logs that the peer was refused, unless there were too
                                             * many such events */

/* Returns the number in this value of the key REMOTE_SETTINGS, or `otherwise` if there is none. */
uint32_t list_setting(const char *name, uint32_t otherwise);
/* True if the query may return objects that the peer may not read; these objects are recorded for
 * objects_hide. The lists do not concern a trusted peer, except for Process Details. */
bool objects_are_hidden(const struct peer *peer, const struct query *query);
/* Removes the objects that objects_are_hidden recorded from a block of either byte order; returns
 * the block's new size. 0: the data is not a block. */
size_t objects_hide(char *data, size_t size);

/* ---- session.c: numbers that the processes of all clients share ---- */
bool limits_share(void); /* to be called before the first client's process starts */
/* Starts the entry of the client at `place`; `peer` NULL: ends the entry. */
void limits_set(size_t place, const struct peer *peer);
void limits_enter(size_t place); /* says that this process serves the client at `place` */
/* Counts this client for the remote caller. False: too many clients act for that caller. */
bool limits_take_caller(const struct peer *peer);
uint64_t limits_owner(size_t place); /* returns a number for the user or caller of the client at
                                      * `place` */
/* like limits_owner, for a peer; 0: root, for itself */
uint64_t limits_owner_of(const struct peer *peer);
/* Returns the clock_ticks since which the client has no running query; 0: a query is running. */
int64_t limits_idle_since(size_t place);
bool limits_refused(size_t place);
bool limits_begin_costly(void); /* counts a Costly query; false: too many are running */
void limits_end_costly(void);
bool limits_may_audit(void);
bool limits_take_request(void); /* counts a request; false: too many in this second */

/* ---- answer.c ---- */
/* Buffers that are kept between requests. */
struct answers {
    struct buffer data, name;
};
/* Answers a request after checking access and limits. *ret_reply points into `answers`. */
void answer(struct answers *answers, const struct peer *peer, const struct proto_request *request,
            struct proto_reply *ret_reply);

/* ---- session.c ---- */
/* Serves one client until it disconnects or violates the protocol. Returns true if the client
 * disconnected between two messages. */
bool session_serve(int in, int out, struct peer *peer);

#endif
