/* SPDX-License-Identifier: MIT */
/*
 * openperflib-serve: what perfmon shows, for a browser. docs/serve.md describes its requests.
 *
 * serve.c   options and the loop of the only thread
 *
 * listen.c  sockets, opened here or by systemd
 *
 * http.c    the only part that knows libmicrohttpd: requests, responses, streams
 *
 * access.c  who may ask: secrets, Host and Origin, the user at the other end of a Unix socket
 *
 * api.c     which request gets what
 *
 * rights.c  what this user may not read
 *
 * live.c    tables of the model that viewers watch, and their samples as events
 */
#ifndef OPL_TOOLS_SERVE_H
#define OPL_TOOLS_SERVE_H

#include "../model/catalogue.h"
#include "../model/model.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* ---- http.c ---- */

enum http_status {
    HTTP_GOOD = 200,
    HTTP_NONE = 204,
    HTTP_BAD = 400,
    HTTP_NO_SECRET = 401,
    HTTP_FORBIDDEN = 403,
    HTTP_MISSING = 404,
    HTTP_METHOD = 405,
    HTTP_LARGE = 413,
    HTTP_MISDIRECTED = 421,
    HTTP_BUSY = 503
};
struct connection; /* libmicrohttpd's */
struct request {
    const char *method, *path; /* path: without the query */
    const char *body;          /* ended by a zero that `size` does not count */
    size_t size;
    bool local; /* the connection is that of a Unix socket, and `user` is known */
    uid_t user; /* who is at its other end */
    pid_t process;
    struct connection *connection;
};
/* Returns the value of a header of the request, or of a word of its query ("?name=value"); NULL:
 * there is none. */
const char *request_header(const struct request *request, const char *name);
const char *request_word(const struct request *request, const char *name);

/* A response is a text that was written to `out`, or a stream of texts. */
struct stream; /* one viewer's events that were not sent yet */
/* Adds to the stream; false: the viewer reads too slowly, and nothing was added. */
bool stream_write(struct stream *stream, const char *text, size_t size);
struct reply {
    enum http_status status;
    const char *type;  /* such as "application/json"; NULL: no content */
    const char *retry; /* seconds for Retry-After; NULL: none */
    FILE *out;         /* where the content is written */
    const char *fixed; /* content that is always valid, instead of what is in `out` */
    size_t fixed_size;
    void *viewer;    /* not NULL: the response is a stream of events for this viewer */
    const char *tag; /* ETag; NULL: none. The content must not be stored */
};
/* What http.c calls. `early` looks at the head of a request before its body is read: it returns
 * HTTP_GOOD, or the status with which the request is refused, and the reason in *ret_why. `answer`
 * answers a complete request. `begin` gives a viewer its stream, `end` tells that the viewer is
 * gone: the stream must not be used any more. */
struct http_calls {
    enum http_status (*early)(void *context, const struct request *request, const char **ret_why);
    void (*answer)(void *context, const struct request *request, struct reply *reply);
    void (*begin)(void *context, void *viewer, struct stream *stream);
    void (*end)(void *context, void *viewer);
    void *context;
};
struct http;
/* Serves connections of a listening socket. NULL: no memory or descriptors. */
struct http *http_new(int listener, bool local, const struct http_calls *calls);
void http_free(struct http *http);
/* For the loop: the descriptor that becomes readable, the time in ms after which http_run must be
 * called (-1: none), and the call itself. */
int http_descriptor(const struct http *http);
int http_wait(const struct http *http);
void http_run(struct http *http);

/* ---- access.c ---- */

enum { SECRET_SIZE = 43, SESSIONS_MOST = 256, LINKS_MOST = 64 };
struct access;
/* `hosts`: names by which the page may be addressed beside those of this machine's loopback, ended
 * by NULL. `group`: members of this group may ask for links on the Unix socket, as the daemon's
 * own user and root may; (gid_t)-1: none. */
struct access *access_new(const char *const *hosts, gid_t group);
void access_free(struct access *access);
/* May a request with this head be answered? (The secret only of paths below /api/.) */
enum http_status access_check(struct access *access, const struct request *request,
                              const char **ret_why);
/* Makes a secret that can be used once, in the next minutes, for a session. False: too many are
 * open, of this user or in all. */
bool access_link(struct access *access, uid_t user, char secret[static SECRET_SIZE + 1]);
bool access_may_link(const struct access *access, const struct request *request);
/* Exchanges the link's secret of the request for that of a session, which lasts 12 hours. */
bool access_session(struct access *access, const struct request *request,
                    char secret[static SECRET_SIZE + 1]);
/* True if the request's session has not ended. */
bool access_valid(struct access *access, const struct request *request);

/* ---- live.c ---- */

struct live;
/* `machine` NULL: this machine. NULL: no memory or no thread. */
struct live *live_new(const char *machine, double seconds);
void live_free(struct live *live);
int live_descriptor(const struct live *live);
/* Takes over new samples and sends them to the viewers. */
void live_run(struct live *live);
/* Makes a viewer of the counters in a list: a path in each line, without machine. Before it, "="
 * asks for raw values, "+" for its past, "@" for texts. NULL: *ret_why has the reason. */
struct viewer;
struct viewer *live_viewer(struct live *live, const char *list, const char **ret_why);
void live_begin(struct viewer *viewer, struct stream *stream);
void live_end(struct viewer *viewer);
void live_source(const struct live *live, struct model_source *ret);
double live_seconds(const struct live *live);
bool live_watched(const struct live *live); /* there is a viewer */

/* ---- listen.c ---- */

enum { LISTENERS_MOST = 4 };
struct listeners {
    struct listener {
        int fd;
        bool local; /* a Unix socket */
    } all[LISTENERS_MOST];
    size_t count;
    unsigned port;    /* of 127.0.0.1 */
    const char *path; /* of the Unix socket that was made here; NULL: none */
    bool passed;      /* systemd has opened them */
};
/* Takes the sockets that systemd opened, or else listens to the port and at `path` (NULL: no Unix
 * socket), for members of `group`, too. Without the one at `path` it goes on if it is not
 * `needed`. False: after a message. */
bool listen_begin(struct listeners *list, int64_t port, const char *path, bool needed, gid_t group);
void listen_end(const struct listeners *list);

/* ---- rights.c ---- */

/* True if counters of other users' processes are missing because the records of openperflib-bpf
 * cannot be read; `command` becomes what changes that. */
bool rights_missing(char *command, size_t capacity);

/* ---- api.c ---- */

enum { MACHINES_MOST = 32 };
struct machine {
    const char *name; /* NULL: this machine */
    struct live *live;
    struct catalogue *catalogue;
};
struct server {
    struct access *access;
    struct machine machines[MACHINES_MOST]; /* the first one is shown first */
    size_t machine_count;
    char address[64]; /* of the page */
};
/* Returns the machine whose name is the word "machine" of the request's query; the first one if
 * there is no such word; NULL: no machine has this name. */
struct machine *api_machine(struct server *server, const struct request *request);
/* The files of the page, built from web/; ended by a name that is NULL. */
extern const struct page_file {
    const char *name, *bytes;
    size_t size;
} page_files[];
void api_answer(struct server *server, const struct request *request, struct reply *reply);

#endif
