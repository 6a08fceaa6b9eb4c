/* SPDX-License-Identifier: MIT */
/*
 * openperflib-serve: shows in a browser what perfmon shows. docs/serve.md describes the requests.
 *
 * serve.c   options and the loop of the only thread
 *
 * listen.c  sockets, opened here or by systemd
 *
 * http.c    the only part that uses libmicrohttpd: requests, responses, streams
 *
 * access.c  which requests are allowed: secrets, Host and Origin, the user of a Unix socket
 *
 * api.c     answers each request
 *
 * rights.c  which rights the server's user lacks for some counters
 *
 * live.c    tables of the model that viewers watch; sends their samples as events
 *
 * past.c    reads the past of counters from the captures of the set "base"
 *
 * captures.c  captures that viewers bring, and the processes that read them
 *
 * reader.c  what such a process does
 *
 * metrics.c  answers Prometheus, instead of serving the page
 *
 * probe.c  answers Prometheus with the metrics of other machines
 */
#ifndef OPL_TOOLS_SERVE_H
#define OPL_TOOLS_SERVE_H

#include "../common/json.h"
#include "../metrics/metrics.h"
#include "../model/catalogue.h"
#include "../model/model.h"
#include "option-rows.h"

#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* ---- listen.c ---- */

enum { LISTENERS_MOST = 4 };
struct listeners {
    struct listener {
        int fd;
        bool local; /* a Unix socket */
    } all[LISTENERS_MOST];
    size_t count;
    unsigned port;    /* of 127.0.0.1 */
    char link[96];    /* of metrics */
    const char *path; /* path of the Unix socket that this server made; NULL: none */
    bool passed;      /* systemd opened the sockets */
};
/* Uses the sockets that systemd opened; otherwise opens one at the port, and a Unix socket at
 * `path` (NULL: none), which members of `group` may use, too. A failure at `path` is an error only
 * if `needed`. False: failed, after a message. */
bool listen_begin(struct listeners *list, int64_t port, const char *path, bool needed, gid_t group);
/* Takes the sockets that systemd opened, else listens to "PORT", "HOST:PORT" or "[ADDRESS]:PORT".
 * Unless `insecure`, only to addresses that no other machine reaches. Returns an exit code,
 * after a message if it failed. */
int listen_metrics(struct listeners *list, const char *text, bool insecure);
void listen_end(const struct listeners *list);

/* ---- serve.c ---- */

/* What the main loop waits for, besides a signal. Each module adds what it waits for, by a function
 * called x_wait, and its function x_run handles what has arrived. */
struct waits {
    struct pollfd polls[64];
    nfds_t count;
    int ms; /* the loop goes on after this time anyway; -1: it need not */
};
/* fd: -1: none; ms: -1: no limit */
void waits_add(struct waits *waits, int fd, int ms);

struct http_calls;
struct loop {
    void (*wait)(void *context, struct waits *waits); /* what is added besides connections */
    void (*run)(void *context);
    void *context;
    int signals; /* a descriptor, readable when the loop must end */
    struct http *https[LISTENERS_MOST];
    size_t count;
};
/* Opens the HTTP servers of the listeners, with `most` connections each. False: libmicrohttpd could
 * not be started. loop_close must be called in either case. */
bool loop_open(struct loop *loop, const struct listeners *listeners, unsigned most,
               const struct http_calls *calls);
void loop_run(struct loop *loop);
void loop_close(struct loop *loop);

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
    HTTP_UNREADABLE = 422,
    HTTP_BUSY = 503
};
struct connection; /* libmicrohttpd's */
struct request {
    const char *method, *path; /* path: the address without its query */
    const char *body;          /* `size` bytes, followed by a zero byte */
    size_t size;
    bool local; /* the connection is a Unix socket, so `user` is known */
    uid_t user; /* the user of the program that has connected */
    struct connection *connection;
    int file;        /* a file that has the body of an upload; -1: the body is in memory */
    struct job *job; /* not NULL: the request waited for this job, which has ended */
};
/* Return the value of a header, or of a word in the query "?name=value"; NULL: there is none. */
const char *request_header(const struct request *request, const char *name);
const char *request_word(const struct request *request, const char *name);
/* Calls `each` for each word of the query, until it returns false; value NULL: it has none. */
void request_each_word(const struct request *request,
                       bool (*each)(void *self, const char *name, const char *value), void *self);
/* Returns the header Host. NULL: there is none, or more than one, of which another program might
 * use a different one. */
const char *request_host(const struct request *request);

/* A response is a text that was written to `out`, or a stream of texts. */
struct stream; /* the events that wait to be sent to one viewer */
/* Adds `size` bytes and a tail to the stream. False: too many bytes wait for the viewer; nothing
 * was added. */
bool stream_write(struct stream *stream, const char *text, size_t size, const char *tail);
void stream_end(struct stream *stream); /* nothing more will be added */
/* Gets a stream: the first member of what knows its events. `begin` gives it the stream; `end` says
 * that the stream is no longer read and must not be used any more. */
struct viewer {
    void (*begin)(struct viewer *viewer, struct stream *stream);
    void (*end)(struct viewer *viewer);
};
#define NO_SESSION (uid_t)(-1)
struct reply {
    enum http_status status;
    const char *type;      /* such as "application/json"; NULL: no content */
    const char *challenge; /* for the status 401; NULL: "Bearer" */
    const char *retry;     /* seconds, the value of the header Retry-After; NULL: no such header */
    FILE *out;             /* the stream to which the content is written */
    const char *fixed;     /* constant content, used instead of `out`; NULL: none */
    size_t fixed_size;
    void (*sent)(void *owner); /* called when `fixed` is no longer needed; NULL: it stays */
    void *owner;
    struct viewer *viewer; /* gets a stream of events; NULL: no stream */
    uid_t user;            /* the user whose session it is; NO_SESSION: none */
    /* value of the header ETag; NULL: none, and browsers must not store the content */
    const char *tag;
    /* the request waits until http_resume is called for this job, and is then answered; NULL: it
     * does not wait */
    struct job *job;
    /* a file with the content, which http.c closes; -1: the content is in `out` or `fixed` */
    int file;
    uint64_t file_size;
};
/* Functions that http.c calls. `early` checks a request's head before its body is read: returns
 * HTTP_GOOD, or the status of the refusal with the reason in *ret_why. `answer` answers a complete
 * request; one that waited for a job is answered a second time. `forget` ends the job of a request
 * that is gone or was answered. `upload` (NULL: no uploads) returns a file for the body, of
 * CAPTURE_MOST bytes at most; -1: the body is kept in memory. */
struct http_calls {
    enum http_status (*early)(void *context, const struct request *request, const char **ret_why);
    void (*answer)(void *context, const struct request *request, struct reply *reply);
    void (*forget)(struct job *job);
    int (*upload)(const struct request *request);
    void *context;
    const char *challenge;      /* for requests that `early` refuses; NULL: "Bearer" */
    const struct http_tls *tls; /* NULL: unencrypted */
};
/* A certificate and its key, the authority of the clients' certificates (NULL: they need none), all
 * as PEM, and GnuTLS's priorities. */
struct http_tls {
    const char *cert, *key, *trust, *priorities;
};
struct http;
/* Serves the connections of a listening socket, at most `most` at once; others wait. NULL: no
 * memory, or no descriptors. */
struct http *http_new(int listener, bool local, unsigned most, const struct http_calls *calls);
void http_free(struct http *http);
void http_wait(const struct http *http, struct waits *waits);
void http_run(struct http *http);
void http_resume(struct connection *connection);

/* ---- access.c ---- */

enum { SECRET_SIZE = 43, SESSIONS_MOST = 256, LINKS_MOST = 64 };
struct access;
/* `hosts`: names by which requests may address the server besides localhost and its addresses; the
 * list ends with NULL. `group`: the group whose members may get links on the Unix socket, besides
 * root and the server's own user; (gid_t)-1: none. `path`: a file that keeps the sessions when this
 * process restarts; "": none. */
struct access *access_new(const char *const *hosts, gid_t group, const char *path);
void access_free(struct access *access);
/* Checks a request's head; returns HTTP_GOOD, or the status of the refusal. Only paths below /api/
 * need a secret. */
enum http_status access_check(struct access *access, const struct request *request,
                              const char **ret_why);
/* Makes the secret of a link, which can be exchanged once for a session, within a few minutes.
 * False: too many links are open, of this user or of all users. */
bool access_link(struct access *access, uid_t user, char secret[static SECRET_SIZE + 1]);
bool access_may_link(const struct access *access, const struct request *request);
/* Exchanges the link's secret in the request for the secret of a session, which lasts 12 hours. */
bool access_session(struct access *access, const struct request *request,
                    char secret[static SECRET_SIZE + 1]);
/* Stores the user of the session whose secret the request has. False: it has none, or the session
 * has ended. */
bool access_user(struct access *access, const struct request *request, uid_t *ret);

/* ---- live.c ---- */

struct live;
/* Makes the model of the machine (NULL: this one). Returns NULL if there is no memory or no
 * thread. */
struct live *live_new(const char *machine, double seconds);
void live_free(struct live *live);
void live_wait(const struct live *live, struct waits *waits);
/* Takes over new samples and sends them to the viewers. */
void live_run(struct live *live);
/* Makes a viewer of a list of counters: a path in each line, without machine. A path that begins
 * with "=" has raw values, with "+" a history, with "@" texts. NULL: *ret_why has the reason. */
struct viewer *live_viewer(struct live *live, const char *list, const char **ret_why);
double live_seconds(const struct live *live);
/* Converts a time (UTC) to milliseconds since 1970, which JavaScript uses, and back. */
int64_t javascript_time(int64_t time);
int64_t time_of_javascript(int64_t ms);
/* Writes the members "type", "suffix" and "unit" of a counter. */
void write_unit(struct json *json, const struct view_counter *counter);
/* Returns a new file without a name, a BLG of the raw values that are kept for histories; -1: there
 * is none. */
int live_kept(const struct live *live);
/* An event: a line with JSON, and an empty line. event_begin opens an object in `json`; false: no
 * memory. event_end adds the last bytes; the caller must then free `text`. False: there was no
 * memory, and the event is incomplete. */
#define EVENT_TAIL "}\n\n"
struct event_text {
    struct json json;
    char *text;
    size_t size;
};
bool event_begin(struct event_text *event, const char *name);
bool event_end(struct event_text *event, const char *tail);

/* ---- rights.c ---- */

/* True if counters of other users' processes are missing because the server's user may not read the
 * records of openperflib-bpf. `command` becomes a command that helps. */
bool rights_missing(char *command, size_t capacity);

/* ---- past.c ---- */

/* Some values together, and what is shown of them. */
enum figure { AVERAGE, LEAST, MOST };
extern const char *const figure_keys[]; /* in JSON */
struct bucket {
    double sum, least, most;
    size_t count;
};
void bucket_add(struct bucket *bucket, const struct bucket *more);
double bucket_figure(const struct bucket *bucket, enum figure figure); /* NAN: it has no values */

struct past;
struct past *past_new(void); /* NULL: no memory or no thread */
void past_free(struct past *past);
/* opens the set, so that the first request need not wait for that */
void past_prepare(struct past *past);
void past_wait(const struct past *past, struct waits *waits);
void past_run(struct past *past);
/* Begins to answer a request for recorded values: the viewer's stream ends with the answer. NULL:
 * *ret_why has the reason; *ret_busy: the same request may succeed later. */
struct viewer *past_viewer(struct past *past, const struct request *request, const char **ret_why,
                           bool *ret_busy);

/* ---- captures.c ---- */

enum { CAPTURE_ID_SIZE = 32, CAPTURE_MOST = 256 << 20 };
struct captures;
struct captures *captures_new(void);
void captures_free(struct captures *captures);
void captures_wait(const struct captures *captures, struct waits *waits);
void captures_run(struct captures *captures);
/* Returns a new file without a name; -1: it could not be created. */
int captures_file(void);
/* Keeps a capture and returns its id; NULL: there are too many. */
const char *captures_add(struct captures *captures, int file, const char *name);
const char *captures_name(struct captures *captures, const char *id); /* NULL: there is none */
void captures_remove(struct captures *captures, const char *id);
/* Starts to read a capture (reader_main): `file`, or if it is -1, the one that the request names.
 * NULL: *ret_status is the reason. */
struct job *captures_start(struct captures *captures, const struct request *request, int file,
                           const char *what, enum http_status *ret_status);
/* Answers with what the job wrote, with the type that `reply` has, or with the problem. */
void captures_answer(struct job *job, struct reply *reply);
void captures_end(struct job *job);

/* ---- reader.c ---- */

#define READER_OPTION "--read-capture"
enum { READER_NOTHING = 2 }; /* exit code: there is no answer; the reason is on standard error */
_Noreturn void reader_main(char **arguments);

/* ---- metrics.c ---- */

/* Reads the names that the options choose, and the rules of groups. Returns an exit code, after a
 * message if it failed. */
int metrics_read_settings(const struct metrics_options *options, bool pushed,
                          struct metrics_settings *ret);
/* Reads names, shipped ones or, with a slash, a file; `path` becomes that of the file. NULL: `why`
 * has the reason. */
struct vocabulary *metrics_names(const char *name, char path[static PATH_MAX],
                                 char why[static VOCABULARY_WHY]);
/* Serves metrics until SIGINT, SIGTERM or SIGHUP, which `signals` reports. Returns an exit code. */
int metrics_serve(const struct metrics_options *options, int signals);

/* ---- probe.c ---- */

struct probes;
/* Reads the file of machines and modules, which is read again when it has changed. NULL: failed,
 * after a message. */
struct probes *probes_new(const char *path, const struct metrics_options *options);
/* False: machines are being read, so that nothing can be freed. */
bool probes_free(struct probes *probes);
void probes_wait(const struct probes *probes, struct waits *waits);
void probes_run(struct probes *probes);
void probes_answer(struct probes *probes, const struct request *request, struct reply *reply);
void probes_forget(struct job *job);
/* Answers with the machines, in the format of Prometheus' HTTP service discovery. */
void probes_list(struct probes *probes, struct reply *reply);

/* ---- api.c ---- */

struct machine {
    const char *name; /* NULL: this machine */
    struct live *live;
    struct catalogue *catalogue;
};
struct server {
    struct access *access;
    struct captures *captures;
    struct past *past;
    struct machine machines[MACHINES_MOST]; /* the page shows the first one at first */
    size_t machine_count;
    char address[64]; /* of the page */
};
/* The files of the page, built from web/; ended by a name that is NULL. */
extern const struct page_file {
    const char *name, *type, *bytes;
    size_t size;
} page_files[];
/* For http_calls: returns a file for a capture that a viewer uploads; -1: the request is no such
 * upload. */
int api_upload(const struct request *request);
void api_answer(void *server, const struct request *request, struct reply *reply);

#endif
