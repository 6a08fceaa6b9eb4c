/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Private to the shim: a library that Samba's winreg worker is started with. It replaces the
 * worker's winreg interface and answers calls for performance counters with data from
 * openperflib-winregd; all other calls are passed to Samba.
 *
 * A worker has one thread and many clients. So nothing here waits: a call that the daemon must
 * answer is left pending, as Samba's asynchronous calls are; each client has its own stream to the
 * daemon; and a call that takes too long is given up.
 */
#ifndef OPL_SAMBA_SHIM_H
#define OPL_SAMBA_SHIM_H

#include "remote/proto.h"
#include "remote/rrp.h"

#include <talloc.h>
#include <tevent.h>

/* statuses whose Windows names Samba's headers define differently */
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

/* limits of the part inside Samba */
enum {
    SHIM_MOST_HANDLES = 64,
    SHIM_MOST_WATCHED = 64,
    SHIM_MOST_PENDING = 16,
    SHIM_CALL_SECONDS = 15,
    SHIM_COSTLY_SECONDS = 45,
    SHIM_WAIT_MS = 2000,
    SHIM_MOST_AT_ONCE = 256 << 10, /* bytes that are received at once */
    SHIM_MOST_PATH = 1024,
    SHIM_MOST_SIDS = 1200, /* of one caller */
    SHIM_NAME_BYTES = 512
};
#define SHIM_SOCKET "/run/openperflib-samba/winreg.sock"

struct call;

/* The stream to the daemon. It has one call at a time; others are queued. */
struct stream {
    int fd; /* below 0: not connected */
    struct tevent_fd *event;
    struct buffer in, out,
        sent_caller; /* sent_caller: the caller that the daemon knows on this stream */
    size_t sent;
    uint32_t number;    /* number of the last request */
    bool awaits_caller; /* the next reply is to PROTO_CALLER, not to the call */
    uint32_t caller_status;
    struct call *first; /* head of the queue: the call that was sent */
};

/* A client: a connection of Samba's. It is freed with that connection. */
struct client {
    struct client *next;
    struct dcesrv_connection *connection;
    struct handle {
        struct rrp_handle wire;
        uint32_t root; /* 0: the place is free */
        char *path;    /* path of the key below the root */
    } handles[SHIM_MOST_HANDLES];
    /* handles that Samba made: of HKEY_LOCAL_MACHINE, and of keys above ours */
    struct watched {
        struct rrp_handle wire;
        char *path; /* NULL: the place is free */
    } watched[SHIM_MOST_WATCHED];
    struct stream stream;
};

/* A call that the shim answers. */
struct call {
    struct call *next; /* the next in the queue */
    struct client *client;
    struct dcesrv_call_state *state;
    struct rrp_request request;
    struct rrp_reply answer;
    struct buffer text, out, message;
    uint32_t root, number;
    char *path; /* path of the key */
    int handle; /* the handle's place in `handles`; below 0: none */
    struct tevent_timer *timer;
    void *samba; /* Samba's parsed request, used if the daemon does not have the value; else NULL */
    bool in_line, done, again;
};

/* ---- client.c ---- */
struct client *client_of(struct dcesrv_connection *connection, bool make);
int handle_find(const struct client *client, const void *wire);
/* Makes a handle. Returns its place; below 0: the client has too many handles. */
int handle_make(struct client *client, uint32_t root, const char *path);
void handle_free(struct client *client, int place);
unsigned handle_count(const struct client *client, uint32_t root);
const char *watched_find(const struct client *client, const void *wire);
void watched_add(struct client *client, const void *wire, const char *path);
void watched_forget(struct client *client, const void *wire);
/* The caller, for the daemon's access checks: is it Samba itself? */
bool caller_is_samba(struct dcesrv_call_state *state);
/* Writes the request PROTO_CALLER. Returns false if the caller is unknown. */
bool caller_message(struct dcesrv_call_state *state, struct buffer *ret);

/* ---- stream.c ---- */
/* Queues a call for the daemon. call_answered gets the reply, perhaps before this returns. */
void stream_call(struct call *call);
/* Waits a short time for the answer: for a worker that cannot leave a call pending. */
void stream_wait(struct call *call);
/* Closes the stream of a client that disconnects, and drops its queued calls. */
void stream_abandon(struct client *client);
void stream_forget(struct call *call); /* removes a call that is being freed */

/* ---- shim.c ---- */
void call_answered(struct call *call, const struct proto_reply *reply);

#endif
