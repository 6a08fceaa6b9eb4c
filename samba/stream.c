/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The stream of one client to the daemon. The worker's event loop reports when data can be read;
 * nothing waits. If the daemon was restarted, the stream is connected again and an unanswered
 * request is sent once more, which is possible because all requests only read.
 */
#include "samba/shim.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static void start(struct client *client);

static void stream_close(struct client *client)
{
    struct stream *stream = &client->stream;
    TALLOC_FREE(stream->event);
    if (stream->fd >= 0)
        close(stream->fd);
    stream->fd = -1;
    stream->awaits_caller = false;
    stream->sent = 0;
    buffer_done(&stream->in);
    buffer_done(&stream->out);
    buffer_clear(&stream->sent_caller);
}

/* ---- the queue ---- */

static void leave_line(struct call *call)
{
    struct call **at = &call->client->stream.first;
    while (*at && *at != call)
        at = &(*at)->next;
    if (*at)
        *at = call->next;
    call->in_line = false;
    TALLOC_FREE(call->timer);
}

/* Answers the first call, whose reply is in `in`. Sends the next call of the queue before that,
 * because answering may free the client. */
static void finish(struct client *client, const struct proto_reply *reply)
{
    struct call *call = client->stream.first;
    struct buffer kept = client->stream.in;
    client->stream.in = (struct buffer){0};
    leave_line(call);
    if (client->stream.first)
        start(client);
    call_answered(call, reply);
    buffer_done(&kept);
}

static void finish_with(struct client *client, uint32_t status)
{
    finish(client, &(struct proto_reply){.status = status});
}

/* Handles a lost stream: sends the first call once more, but the second time the call fails. */
static void lost(struct client *client)
{
    struct call *call = client->stream.first;
    stream_close(client);
    if (!call)
        return;
    if (!call->again) {
        call->again = true;
        start(client);
        return;
    }
    finish_with(client, STATUS_LOST);
}

void stream_abandon(struct client *client)
{
    while (client->stream.first)
        leave_line(client->stream.first);
    stream_close(client);
}

void stream_forget(struct call *call)
{
    bool is_queried = call->client->stream.first == call;
    leave_line(call);
    if (!is_queried)
        return;
    stream_close(call->client); /* the call's answer is not needed */
    if (call->client->stream.first)
        start(call->client);
}

static void timed_out(struct tevent_context *loop, struct tevent_timer *timer, struct timeval now,
                      void *private)
{
    struct call *call = private;
    struct client *client = call->client;
    call->timer = NULL; /* tevent frees the timer */
    bool is_queried = client->stream.first == call;
    if (is_queried) {
        stream_close(client);
        finish_with(client, STATUS_LOST);
        return;
    }
    leave_line(call);
    call_answered(call, &(struct proto_reply){.status = STATUS_LOST});
}

/* ---- bytes ---- */

/* Sends what is possible. Returns false if the stream is lost. */
static bool send_some(struct client *client)
{
    struct stream *stream = &client->stream;
    while (stream->sent < stream->out.len) {
        ssize_t count = send(stream->fd, stream->out.data + stream->sent,
                             stream->out.len - stream->sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count > 0)
            stream->sent += (size_t)count;
        else if (errno == EAGAIN)
            break;
        else if (errno != EINTR)
            return false;
    }
    bool more = stream->sent < stream->out.len;
    tevent_fd_set_flags(stream->event, TEVENT_FD_READ | (more ? TEVENT_FD_WRITE : 0));
    return true;
}

/* Returns the size of the message that is being received; while too little of it is there to know
 * its size, that of the first part; SIZE_MAX: it is not a message. */
static size_t whole_size(const struct buffer *in)
{
    size_t most = PROTO_REPLY_HEAD + (size_t)PROTO_NAME_BYTES + PROTO_DATA_BYTES;
    if (in->len < PROTO_START)
        return PROTO_START;
    size_t size = proto_size(in->data, most);
    return size ? size : SIZE_MAX;
}

/* Processes a complete message; *ret_taken: there was one. Returns false for a violation of the
 * protocol. */
static bool take_reply(struct client *client, bool *ret_taken)
{
    struct stream *stream = &client->stream;
    struct proto_reply reply;
    size_t size = whole_size(&stream->in);
    *ret_taken = size <= stream->in.len && size > PROTO_START;
    if (!*ret_taken)
        return size != SIZE_MAX;
    if (size != stream->in.len || !stream->first ||
        !proto_read_reply(stream->in.data, size, &reply) || reply.id != stream->number)
        return false;
    if (!stream->awaits_caller) {
        finish(client, &reply);
        return true;
    }
    stream->awaits_caller = false;
    buffer_clear(&stream->in);
    if (reply.status) { /* the daemon refused the caller */
        buffer_clear(&stream->sent_caller);
        finish_with(client, reply.status);
        return true;
    }
    start(client);
    return true;
}

/* Reads once, but not beyond the end of the expected message. */
static void receive(struct client *client)
{
    struct stream *stream = &client->stream;
    size_t size = whole_size(&stream->in);
    bool taken;
    if (stream->in.len < size) {
        size_t wanted = size - stream->in.len;
        wanted = wanted < SHIM_MOST_AT_ONCE ? wanted : SHIM_MOST_AT_ONCE;
        ssize_t count = -1;
        errno = ENOMEM;
        if (buffer_reserve(&stream->in, wanted + 1))
            count = recv(stream->fd, stream->in.data + stream->in.len, wanted, MSG_DONTWAIT);
        if (count < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (count <= 0) {
            lost(client);
            return;
        }
        stream->in.len += (size_t)count;
    }
    if (!take_reply(client, &taken))
        lost(client);
}

static void ready(struct tevent_context *loop, struct tevent_fd *event, uint16_t flags,
                  void *private)
{
    struct client *client = private;
    if ((flags & TEVENT_FD_WRITE) && !send_some(client))
        lost(client);
    else if (flags & TEVENT_FD_READ)
        receive(client);
}

/* ---- requests ---- */

static uint32_t connect_stream(struct client *client)
{
    const char *path = getenv("OPENPERFLIB_SAMBA_SOCKET");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct stream *stream = &client->stream;
    path = path ? path : SHIM_SOCKET;
    if (strlen(path) >= sizeof address.sun_path)
        return STATUS_UNAVAILABLE;
    strcpy(address.sun_path, path);
    stream->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (stream->fd < 0)
        return STATUS_NO_SPACE;
    if (connect(stream->fd, (struct sockaddr *)&address, sizeof address)) {
        uint32_t status = errno == EAGAIN ? STATUS_BUSY : STATUS_UNAVAILABLE;
        stream_close(client);
        return status;
    }
    stream->event = tevent_add_fd(client->connection->event_ctx, client, stream->fd, TEVENT_FD_READ,
                                  ready, client);
    if (stream->event)
        return 0;
    stream_close(client);
    return STATUS_NO_SPACE;
}

/* Makes the message the one to be sent, with the next number. */
static void put(struct stream *stream, const struct buffer *message)
{
    enum { NUMBER_AT = 8 };
    buffer_clear(&stream->out);
    stream->sent = 0;
    buffer_add(&stream->out, message->data, message->len);
    if (!stream->out.failed)
        proto_put_number(stream->out.data + NUMBER_AT, ++stream->number);
}

/* Sends the first call of the queue, or first its caller, if the daemon does not know that yet. */
static void start(struct client *client)
{
    BUFFER_AUTO caller = {0};
    struct stream *stream = &client->stream;
    struct call *call = stream->first;
    uint32_t status = stream->fd < 0 ? connect_stream(client) : 0;
    if (!status && !caller_message(call->state, &caller))
        status = STATUS_DENIED;
    if (status) {
        finish_with(client, status);
        return;
    }
    bool known = stream->sent_caller.len == caller.len &&
                 !memcmp(stream->sent_caller.data, caller.data, caller.len);
    if (!known) {
        buffer_clear(&stream->sent_caller);
        buffer_add(&stream->sent_caller, caller.data, caller.len);
        stream->awaits_caller = true;
    }
    buffer_clear(&stream->in);
    put(stream, known ? &call->message : &caller);
    if (stream->out.failed || stream->sent_caller.failed)
        finish_with(client, STATUS_NO_SPACE);
    else if (!send_some(client))
        lost(client);
}

void stream_call(struct call *call)
{
    struct client *client = call->client;
    struct call **at = &client->stream.first;
    int waiting = 0;
    bool costly = remote_is_costly(call->request.name);
    for (; *at; at = &(*at)->next)
        waiting++;
    if (waiting >= SHIM_MOST_PENDING) {
        call_answered(call, &(struct proto_reply){.status = STATUS_BUSY});
        return;
    }
    *at = call;
    call->in_line = true;
    call->timer = tevent_add_timer(
        client->connection->event_ctx, call,
        tevent_timeval_current_ofs(costly ? SHIM_COSTLY_SECONDS : SHIM_CALL_SECONDS, 0), timed_out,
        call);
    if (client->stream.first == call)
        start(client);
}

void stream_wait(struct call *call)
{
    struct client *client = call->client;
    int64_t deadline = clock_ticks() + (int64_t)SHIM_WAIT_MS * (CLOCK_TICKS_PER_SECOND / 1000);
    while (!call->done && client->stream.fd >= 0) {
        struct pollfd wait = {.fd = client->stream.fd, .events = POLLIN};
        if (client->stream.sent < client->stream.out.len)
            wait.events |= POLLOUT;
        int64_t left = (deadline - clock_ticks()) / (CLOCK_TICKS_PER_SECOND / 1000);
        if (left <= 0 || (poll(&wait, 1, (int)left) < 0 && errno != EINTR))
            break;
        ready(NULL, NULL,
              (wait.revents & POLLOUT ? TEVENT_FD_WRITE : 0) |
                  (wait.revents & ~POLLOUT ? TEVENT_FD_READ : 0),
              client);
    }
    if (!call->done) {
        TALLOC_FREE(call->timer);
        timed_out(NULL, NULL, (struct timeval){0}, call);
    }
}
