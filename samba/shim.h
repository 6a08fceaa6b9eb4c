/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Private to the shim: a library that Samba's winreg worker is started with. It replaces the
 * worker's own winreg interface and answers calls for performance counters with data from
 * openperflib-winregd; all other calls are passed to Samba.
 *
 * A worker has one thread and many clients. So nothing here waits: a call that the daemon must
 * answer is left pending (Samba's asynchronous calls), each client has a stream of its own to the
 * daemon, and a call that takes too long is given up.
 */
#ifndef OPL_SAMBA_SHIM_H
#define OPL_SAMBA_SHIM_H

#include "remote/proto.h"
#include "remote/rrp.h"

#include <talloc.h>
#include <tevent.h>

/* names that Samba's headers define differently */
enum status {
    STATUS_DENIED = ERROR_ACCESS_DENIED,
    STATUS_WRONG = ERROR_INVALID_PARAMETER,
    STATUS_BUSY = ERROR_BUSY,
    STATUS_MORE = ERROR_MORE_DATA,
    STATUS_NO_SPACE = ERROR_NO_SYSTEM_RESOURCES,
    STATUS_UNAVAILABLE = RPC_S_SERVER_UNAVAILABLE,
    STATUS_LOST = RPC_S_CALL_FAILED,
};
#define HRESULT samba_hresult
#include <core/ntstatus.h>
#include <core/werror.h>
#include <util/data_blob.h>
#include <util/time.h>

#include <gen_ndr/auth.h>
#include <gen_ndr/dcerpc.h>
#include <ndr.h>

#include <dcesrv_core.h>
#undef HRESULT

enum { SHIM_MOST_HANDLES = 64, SHIM_MOST_WATCHED = 64, SHIM_MOST_PENDING = 16 };
#define SHIM_SOCKET "/run/openperflib-samba/winreg.sock"

struct call;

/* The stream to the daemon: one call at a time, the others are queued. */
struct stream {
    int fd; /* below 0: none */
    struct tevent_fd *event;
    struct buffer in, out,
        sent_caller; /* sent_caller: the caller that the daemon knows on this stream */
    size_t sent;
    uint32_t number;    /* of the last request */
    bool awaits_caller; /* the next reply is about the caller */
    uint32_t caller_status;
    struct call *first; /* the one being answered */
};

/* A connection of Samba's; it is freed with that. */
struct client {
    struct client *next;
    struct dcesrv_connection *connection;
    struct handle {
        struct rrp_handle wire;
        uint32_t root; /* 0: free */
        char *path;    /* below the root */
    } handles[SHIM_MOST_HANDLES];
    /* handles of Samba's own: the machine's root, and keys above ours */
    struct watched {
        struct rrp_handle wire;
        char *path; /* NULL: free */
    } watched[SHIM_MOST_WATCHED];
    struct stream stream;
};

/* A call that is ours. */
struct call {
    struct call *next; /* in the queue */
    struct client *client;
    struct dcesrv_call_state *state;
    struct rrp_request request;
    struct rrp_reply answer;
    struct buffer text, out, message;
    uint32_t root, number;
    char *path; /* of the key */
    int handle; /* its place, or below 0 */
    struct tevent_timer *timer;
    void *samba; /* Samba's own parsed call, in case that the daemon has no such value */
    bool in_line, done, again;
};

/* ---- client.c ---- */
struct client *client_of(struct dcesrv_connection *connection, bool make);
int handle_find(const struct client *client, const void *wire);
/* The place; below 0: there are too many. */
int handle_make(struct client *client, uint32_t root, const char *path);
void handle_free(struct client *client, int place);
unsigned handle_count(const struct client *client, uint32_t root);
const char *watched_find(const struct client *client, const void *wire);
void watched_add(struct client *client, const void *wire, const char *path);
void watched_forget(struct client *client, const void *wire);
/* The caller, for the daemon's access checks. */
bool caller_is_samba(struct dcesrv_call_state *state);
/* A request of the protocol; false: the caller is unknown. */
bool caller_message(struct dcesrv_call_state *state, struct buffer *ret);

/* ---- stream.c ---- */
/* Sends the call to the daemon; call_answered is called, perhaps before this returns. */
void stream_call(struct call *call);
/* For a worker that cannot leave a call pending: waits, but not long. */
void stream_wait(struct call *call);
/* Its client disconnects, which also ends its queued calls. */
void stream_abandon(struct client *client);
void stream_forget(struct call *call); /* it is being freed */

/* ---- shim.c ---- */
void call_answered(struct call *call, const struct proto_reply *reply);

#endif
