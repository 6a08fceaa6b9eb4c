/* SPDX-License-Identifier: MIT */
/*
 * HTTP by libmicrohttpd, in the program's only thread. The loop also waits for libmicrohttpd's
 * epoll descriptor. A stream is a response without end; its connection is suspended while there is
 * nothing to send.
 */
#include "serve.h"
#include "../common/clock.h"

#include <errno.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    BODY_MOST = 256 << 10,
    HEAD_MEMORY = 32 << 10, /* bytes for the head of a connection's request */
    STREAM_MOST = 4 << 20,  /* bytes that may wait for a slow viewer */
    /* a connection is closed if its request is still incomplete after this time */
    REQUEST_SECONDS = 20,
    /* and if its viewer takes nothing of a stream or a file for this time */
    SLOW_SECONDS = 300,
    UPLOADS_MOST = 4, /* at once */
    USER_LEAST = 8    /* streams, jobs and files that a user may have, if there are few places */
};

struct stream {
    struct MHD_Connection *connection;
    char *bytes;
    size_t size, capacity, sent;
    bool suspended, ended;
    struct viewer *viewer;
};

/* A connection and its present request; `next` is the next one in the list of all connections. */
struct peer {
    struct peer *next, **link;
    struct MHD_Connection *connection;
    /* when the last request was complete; before the first one, when the connection was opened */
    time_t complete;
    bool lasts; /* has a stream, waits for a job, sends or gets a file: only with a session */
    uid_t user; /* of that session */
    bool closing;
    struct request request;
    char *body; /* of the request, as far as it has arrived */
};

struct http {
    struct MHD_Daemon *daemon;
    struct http_calls calls;
    struct peer *peers; /* the newest first */
    size_t count, closing, most, uploads;
    bool local;
};

static const char *const fixed_headers[][2] = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' "
     "data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
    {"X-Content-Type-Options",       "nosniff"                                 },
    {"Referrer-Policy",              "no-referrer"                             },
    {"Cross-Origin-Opener-Policy",   "same-origin"                             },
    {"Cross-Origin-Resource-Policy", "same-origin"                             },
};

static time_t seconds_now(void)
{
    return (time_t)clock_seconds(CLOCK_MONOTONIC);
}

const char *request_header(const struct request *request, const char *name)
{
    return MHD_lookup_connection_value((struct MHD_Connection *)request->connection,
                                       MHD_HEADER_KIND, name);
}

static enum MHD_Result count_host(void *count, enum MHD_ValueKind kind, const char *name,
                                  const char *value)
{
    *(size_t *)count += !strcasecmp(name, MHD_HTTP_HEADER_HOST);
    return MHD_YES;
}

const char *request_host(const struct request *request)
{
    size_t count = 0;
    MHD_get_connection_values((struct MHD_Connection *)request->connection, MHD_HEADER_KIND,
                              count_host, &count);
    return count == 1 ? request_header(request, MHD_HTTP_HEADER_HOST) : NULL;
}

const char *request_word(const struct request *request, const char *name)
{
    return MHD_lookup_connection_value((struct MHD_Connection *)request->connection,
                                       MHD_GET_ARGUMENT_KIND, name);
}

struct each_word {
    bool (*each)(void *self, const char *name, const char *value);
    void *self;
};

static enum MHD_Result pass_word(void *context, enum MHD_ValueKind kind, const char *name,
                                 const char *value)
{
    const struct each_word *to = context;
    return to->each(to->self, name, value) ? MHD_YES : MHD_NO;
}

void request_each_word(const struct request *request,
                       bool (*each)(void *self, const char *name, const char *value), void *self)
{
    struct each_word to = {each, self};
    MHD_get_connection_values((struct MHD_Connection *)request->connection, MHD_GET_ARGUMENT_KIND,
                              pass_word, &to);
}

/* ---- streams ---- */

static void wake(struct stream *stream)
{
    if (stream->suspended)
        MHD_resume_connection(stream->connection);
    stream->suspended = false;
}

bool stream_write(struct stream *stream, const char *text, size_t size, const char *tail)
{
    size_t left = stream->size - stream->sent, length = strlen(tail);
    if (left + size + length > STREAM_MOST)
        return false;
    if (stream->sent) {
        memmove(stream->bytes, stream->bytes + stream->sent, left);
        stream->size = left;
        stream->sent = 0;
    }
    if (left + size + length > stream->capacity) {
        size_t capacity = stream->capacity ? stream->capacity : 4096;
        while (capacity < left + size + length)
            capacity *= 2;
        char *bytes = realloc(stream->bytes, capacity);
        if (!bytes)
            return false;
        stream->bytes = bytes;
        stream->capacity = capacity;
    }
    memcpy(stream->bytes + left, text, size);
    memcpy(stream->bytes + left + size, tail, length);
    stream->size += size + length;
    wake(stream);
    return true;
}

void stream_end(struct stream *stream)
{
    stream->ended = true;
    wake(stream);
}

/* Called by libmicrohttpd when the viewer's socket accepts more bytes. Returns how many are
 * sent. */
static ssize_t send_more(void *context, uint64_t position, char *buffer, size_t most)
{
    struct stream *stream = context;
    size_t left = stream->size - stream->sent;
    if (!left && stream->ended)
        return MHD_CONTENT_READER_END_OF_STREAM;
    if (!left) {
        stream->size = stream->sent = 0;
        stream->suspended = true;
        MHD_suspend_connection(stream->connection);
        return 0;
    }
    left = left < most ? left : most;
    memcpy(buffer, stream->bytes + stream->sent, left);
    stream->sent += left;
    return (ssize_t)left;
}

static void end_stream(void *context)
{
    struct stream *stream = context;
    stream->viewer->end(stream->viewer);
    free(stream->bytes);
    free(stream);
}

/* ---- responses ---- */

static enum MHD_Result send_reply(struct MHD_Connection *connection, const struct reply *reply,
                                  struct MHD_Response *response)
{
    for (size_t i = 0; i < sizeof fixed_headers / sizeof *fixed_headers; i++)
        MHD_add_response_header(response, fixed_headers[i][0], fixed_headers[i][1]);
    if (reply->type)
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, reply->type);
    MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL,
                            reply->tag ? "no-cache" : "no-store");
    if (reply->tag)
        MHD_add_response_header(response, MHD_HTTP_HEADER_ETAG, reply->tag);
    if (reply->retry)
        MHD_add_response_header(response, MHD_HTTP_HEADER_RETRY_AFTER, reply->retry);
    if (reply->status == HTTP_NO_SECRET)
        MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE,
                                reply->challenge ? reply->challenge : "Bearer");
    enum MHD_Result result = MHD_queue_response(connection, reply->status, response);
    MHD_destroy_response(response);
    return result;
}

static int socket_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

/* Answers with the text `why` and ends the connection without reading the rest of the request. */
static enum MHD_Result refuse(struct MHD_Connection *connection, enum http_status status,
                              const char *challenge, const char *why)
{
    struct reply reply = {
        .status = status, .challenge = challenge, .type = "text/plain; charset=utf-8"};
    struct MHD_Response *response =
        MHD_create_response_from_buffer(strlen(why), (void *)why, MHD_RESPMEM_PERSISTENT);
    if (!response)
        return MHD_NO;
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
    return send_reply(connection, &reply, response);
}

static struct MHD_Response *stream_response(struct MHD_Connection *connection,
                                            struct viewer *viewer)
{
    struct stream *stream = calloc(1, sizeof *stream);
    struct MHD_Response *response =
        stream ? MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 16 << 10, send_more, stream,
                                                   end_stream)
               : NULL;
    if (!response) {
        free(stream);
        return NULL;
    }
    *stream = (struct stream){.connection = connection, .viewer = viewer};
    viewer->begin(viewer, stream);
    return response;
}

/* Makes a response of what the reply has, or of `text`, and takes it over. NULL: no memory, or no
 * text; nothing was taken over. */
static struct MHD_Response *response_of(struct MHD_Connection *connection,
                                        const struct reply *reply, char *text, size_t size)
{
    void *fixed = (void *)reply->fixed;
    if (reply->viewer)
        return stream_response(connection, reply->viewer);
    if (reply->file >= 0)
        return MHD_create_response_from_fd64(reply->file_size, reply->file);
    if (reply->sent)
        return MHD_create_response_from_buffer_with_free_callback_cls(reply->fixed_size, fixed,
                                                                      reply->sent, reply->owner);
    return fixed ? MHD_create_response_from_buffer(reply->fixed_size, fixed, MHD_RESPMEM_PERSISTENT)
           : text ? MHD_create_response_from_buffer(size, text, MHD_RESPMEM_MUST_FREE)
                  : NULL;
}

/* True if the user of the connection has a quarter of all places already, so that others find
 * one. */
static bool has_enough(const struct http *http, const struct peer *peer)
{
    size_t count = 0;
    if (peer->user == NO_SESSION)
        return false;
    for (const struct peer *other = http->peers; other; other = other->next)
        count += other != peer && other->lasts && !other->closing && other->user == peer->user;
    return count >= (http->most < 4 * USER_LEAST ? USER_LEAST : http->most / 4);
}

/* Ends or closes what was to be the answer. */
static void discard_reply(const struct http *http, const struct reply *reply)
{
    if (reply->viewer)
        reply->viewer->end(reply->viewer);
    if (reply->job)
        http->calls.forget(reply->job);
    if (reply->file >= 0)
        close(reply->file);
    if (reply->sent)
        reply->sent(reply->owner);
}

static enum MHD_Result answer(struct http *http, struct peer *peer)
{
    char *text = NULL;
    size_t size = 0;
    struct reply reply = {
        .status = HTTP_GOOD, .out = open_memstream(&text, &size), .file = -1, .user = NO_SESSION};
    if (!reply.out)
        return MHD_NO;
    http->calls.answer(http->calls.context, &peer->request, &reply);
    bool failed = ferror(reply.out) != 0, lasts = reply.viewer || reply.job || reply.file >= 0;
    failed |= fclose(reply.out) != 0;
    if (failed || lasts || reply.fixed) {
        free(text);
        text = NULL;
    }
    peer->complete = seconds_now();
    peer->lasts = lasts;
    peer->user = reply.user;
    MHD_set_connection_option(peer->connection, MHD_CONNECTION_OPTION_TIMEOUT,
                              (unsigned)(lasts ? SLOW_SECONDS : REQUEST_SECONDS));
    if (lasts && has_enough(http, peer)) {
        peer->lasts = false;
        discard_reply(http, &reply);
        return refuse(peer->connection, HTTP_BUSY, NULL,
                      "You have a quarter of the server's connections: close some tabs.\n");
    }
    if (reply.job) {
        peer->request.job = reply.job;
        MHD_suspend_connection(peer->connection);
        return MHD_YES;
    }
    struct MHD_Response *response = response_of(peer->connection, &reply, text, size);
    if (response)
        return send_reply(peer->connection, &reply, response);
    free(text);
    discard_reply(http, &reply);
    return MHD_NO;
}

/* ---- requests ---- */

void http_resume(struct connection *connection)
{
    MHD_resume_connection((struct MHD_Connection *)connection);
}

/* Adds a piece of the body. False: it is too large, there is no space, or the request has no
 * session and none to make, so nothing is kept of it. */
static bool take_body(struct peer *peer, const char *data, size_t size)
{
    struct request *request = &peer->request;
    if (request->file >= 0) {
        bool good = request->size + size <= CAPTURE_MOST &&
                    pwrite(request->file, data, size, (off_t)request->size) == (ssize_t)size;
        request->size += size;
        return good;
    }
    bool wanted = !strncmp(request->path, "/api/", 5) && request->size + size <= BODY_MOST;
    char *body = wanted ? realloc(peer->body, request->size + size + 1) : NULL;
    if (!body)
        return false;
    memcpy(body + request->size, data, size);
    peer->body = body;
    request->size += size;
    body[request->size] = '\0';
    return true;
}

/* Checks a request's head. */
static enum MHD_Result begin_request(struct http *http, struct peer *peer)
{
    struct request *request = &peer->request;
    struct ucred user = {0};
    socklen_t size = sizeof user;
    const char *why = "";
    if (http->local &&
        getsockopt(socket_of(peer->connection), SOL_SOCKET, SO_PEERCRED, &user, &size) != 0)
        return MHD_NO;
    request->user = user.uid;
    enum http_status status = http->calls.early(http->calls.context, request, &why);
    if (status != HTTP_GOOD)
        return refuse(peer->connection, status, http->calls.challenge, why);
    if (http->calls.upload)
        request->file = http->calls.upload(request);
    if (request->file < 0)
        return MHD_YES;
    const char *length = request_header(request, MHD_HTTP_HEADER_CONTENT_LENGTH);
    if (++http->uploads > UPLOADS_MOST)
        return refuse(peer->connection, HTTP_BUSY, NULL,
                      "Four captures are being sent: wait for one.\n");
    if (length && strtoull(length, NULL, 10) > CAPTURE_MOST)
        return refuse(peer->connection, HTTP_LARGE, NULL, "A capture may have 256 MiB at most.\n");
    peer->lasts = true; /* libmicrohttpd ends it when nothing arrives */
    return MHD_YES;
}

/* Called by libmicrohttpd with a request's head, with each piece of its body, and at its end. */
static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *data,
                              size_t *size, void **kept)
{
    struct http *http = context;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    struct peer *peer = info ? info->socket_context : NULL;
    if (!peer)
        return MHD_NO;
    if (!*kept) {
        *kept = peer;
        peer->request = (struct request){.method = method,
                                         .path = url,
                                         .local = http->local,
                                         .connection = (struct connection *)connection,
                                         .file = -1};
        return begin_request(http, peer);
    }
    if (*size) {
        if (!take_body(peer, data, *size))
            return MHD_NO; /* in the middle of a body, only closing is possible */
        *size = 0;
        return MHD_YES;
    }
    peer->request.body = peer->body ? peer->body : "";
    return answer(http, peer);
}

static void forget_request(void *context, struct MHD_Connection *connection, void **kept,
                           enum MHD_RequestTerminationCode code)
{
    struct peer *peer = *kept;
    struct http *http = context;
    if (!peer)
        return;
    free(peer->body);
    peer->body = NULL;
    if (peer->request.file >= 0) {
        close(peer->request.file);
        http->uploads--;
    }
    if (peer->request.job)
        http->calls.forget(peer->request.job);
    *kept = NULL;
}

static void close_peer(struct http *http, struct peer *peer)
{
    if (peer->closing)
        return;
    shutdown(socket_of(peer->connection), SHUT_RDWR);
    peer->closing = true;
    http->closing++;
}

/* Closes connections whose request is incomplete for too long. libmicrohttpd's own time limit is no
 * help: it starts anew with every byte. */
static void close_slow(struct http *http)
{
    time_t now = seconds_now();
    for (struct peer *peer = http->peers; peer; peer = peer->next)
        if (!peer->lasts && now - peer->complete > REQUEST_SECONDS)
            close_peer(http, peer);
}

/* When few places are left, closes the connection that has waited longest, so that those who open
 * connections and say nothing do not keep others out. */
static void make_place(struct http *http)
{
    struct peer *oldest = NULL;
    if (http->count - http->closing <= http->most - http->most / 8)
        return;
    for (struct peer *peer = http->peers; peer; peer = peer->next)
        if (!peer->lasts && !peer->closing && (!oldest || peer->complete <= oldest->complete))
            oldest = peer;
    if (oldest)
        close_peer(http, oldest);
}

static void note_connection(void *context, struct MHD_Connection *connection, void **kept,
                            enum MHD_ConnectionNotificationCode code)
{
    struct http *http = context;
    struct peer *peer = *kept;
    if (code == MHD_CONNECTION_NOTIFY_STARTED && (peer = calloc(1, sizeof *peer))) {
        *peer = (struct peer){.next = http->peers,
                              .link = &http->peers,
                              .connection = connection,
                              .complete = seconds_now()};
        if (peer->next)
            peer->next->link = &peer->next;
        http->peers = peer;
        http->count++;
        *kept = peer;
        make_place(http);
    } else if (code == MHD_CONNECTION_NOTIFY_CLOSED && peer) {
        *peer->link = peer->next;
        if (peer->next)
            peer->next->link = peer->link;
        http->closing -= peer->closing;
        free(peer);
        http->count--;
        *kept = NULL;
    }
}

/* ---- the daemon ---- */

/* Decodes %XX. A zero byte is replaced, because it would end the text early, and the text would
 * pass for a shorter one. */
static size_t unescape(void *context, struct MHD_Connection *connection, char *text)
{
    size_t size = MHD_http_unescape(text);
    for (size_t i = 0; i < size; i++)
        if (!text[i])
            text[i] = '\1';
    return size;
}

struct http *http_new(int listener, bool local, unsigned most, const struct http_calls *calls)
{
    static const struct http_tls none;
    const struct http_tls *tls = calls->tls ? calls->tls : &none;
    struct MHD_OptionItem items[] = {
        {tls->cert ? MHD_OPTION_HTTPS_PRIORITIES : MHD_OPTION_END, 0, (void *)tls->priorities},
        {MHD_OPTION_HTTPS_MEM_KEY,                                 0, (void *)tls->key       },
        {MHD_OPTION_HTTPS_MEM_CERT,                                0, (void *)tls->cert      },
        {tls->trust ? MHD_OPTION_HTTPS_MEM_TRUST : MHD_OPTION_END, 0, (void *)tls->trust     },
        {MHD_OPTION_END,                                           0, NULL                   },
    };
    struct http *http = calloc(1, sizeof *http);
    if (!http)
        return NULL;
    http->calls = *calls;
    http->local = local;
    http->most = most;
    http->daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | (calls->tls ? MHD_USE_TLS : 0), 0, NULL, NULL,
        handle, http, MHD_OPTION_LISTEN_SOCKET, listener, MHD_OPTION_CONNECTION_LIMIT, most,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEAD_MEMORY, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)REQUEST_SECONDS, MHD_OPTION_NOTIFY_COMPLETED, forget_request, http,
        MHD_OPTION_NOTIFY_CONNECTION, note_connection, http, MHD_OPTION_UNESCAPE_CALLBACK, unescape,
        NULL, MHD_OPTION_ARRAY, items, MHD_OPTION_END);
    if (!http->daemon) {
        free(http);
        return NULL;
    }
    return http;
}

void http_free(struct http *http)
{
    if (!http)
        return;
    for (const struct peer *peer = http->peers; peer; peer = peer->next)
        if (peer->lasts)
            MHD_resume_connection(peer->connection);
    MHD_stop_daemon(http->daemon);
    free(http);
}

void http_wait(const struct http *http, struct waits *waits)
{
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    MHD_UNSIGNED_LONG_LONG wait;
    waits_add(waits, info ? info->epoll_fd : -1, http->peers ? 1000 * REQUEST_SECONDS / 4 : -1);
    if (MHD_get_timeout(http->daemon, &wait) == MHD_YES)
        waits_add(waits, -1, wait > INT32_MAX ? INT32_MAX : (int)wait);
}

void http_run(struct http *http)
{
    size_t before;
    close_slow(http);
    do {
        before = http->count;
        /* accepts connections again if the maximum number was reached before */
        MHD_run(http->daemon);
    } while (http->count < before);
}
