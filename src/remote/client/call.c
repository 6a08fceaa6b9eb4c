/* SPDX-License-Identifier: MIT */
/*
 * Requests to machines. Each request goes on when its stream is ready, without waiting for the
 * others. An answer that misses its deadline is still due on the connection: that answer must
 * arrive before the machine gets another request, and later calls wait for it only briefly.
 */
#include "remote/client/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- the link ---- */

/*
 * Streams to other machines. Some programs close descriptors that they did not open, so before each
 * use the device and inode of a descriptor are compared with those recorded. A descriptor that is
 * another file now is not used and not closed.
 */

static bool same_file(const struct link *link)
{
    struct stat st;
    return link->pid && !fstat(link->fd, &st) && st.st_dev == link->device &&
           st.st_ino == link->inode;
}

/* True if this process can use the link; false: another process opened it, or its descriptor is
 * another file now */
static bool link_is_ours(const struct link *link)
{
    return link->pid == getpid() && same_file(link);
}

void link_close(struct link *link)
{
    if (same_file(link))
        close(link->fd);
    *link = (struct link){0};
}

/* Makes a link of the descriptor; on failure closes it. */
static LSTATUS link_of(int fd, struct link *ret)
{
    struct stat st;
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) || fstat(fd, &st)) {
        close(fd);
        return ERROR_NOT_READY;
    }
    *ret = (struct link){.fd = fd, .pid = getpid(), .device = st.st_dev, .inode = st.st_ino};
    return ERROR_SUCCESS;
}

/* ---- bytes ---- */

static bool may_wait(void)
{
    return errno == EAGAIN || errno == EINTR;
}

/* Sends as much as possible without waiting, and advances *sent. WAIT_TIMEOUT: not complete yet;
 * RPC_S_CALL_FAILED: the stream is lost. */
static LSTATUS link_send(const struct link *link, const void *data, size_t size, size_t *sent)
{
    while (*sent < size) {
        const char *at = (const char *)data + *sent;
        ssize_t count = send(link->fd, at, size - *sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count < 0)
            return may_wait() ? WAIT_TIMEOUT : RPC_S_CALL_FAILED;
        *sent += (size_t)count;
    }
    return ERROR_SUCCESS;
}

LSTATUS link_receive(const struct link *link, size_t size, struct buffer *ret)
{
    while (ret->len < size) {
        size_t wanted = size - ret->len;
        wanted = wanted < CLIENT_LEAST_RECEIVED ? CLIENT_LEAST_RECEIVED : wanted;
        wanted = wanted > CLIENT_MOST_RECEIVED ? CLIENT_MOST_RECEIVED : wanted;
        if (!buffer_reserve(ret, wanted + 1))
            return ERROR_NOT_ENOUGH_MEMORY;
        ssize_t count = recv(link->fd, ret->data + ret->len, wanted, MSG_DONTWAIT);
        if (count < 0 && may_wait())
            return WAIT_TIMEOUT;
        if (count <= 0)
            return RPC_S_CALL_FAILED;
        ret->len += (size_t)count;
        ret->data[ret->len] = '\0';
    }
    return ERROR_SUCCESS;
}

/* ---- a socket ---- */

LSTATUS link_open_socket(const struct sockaddr *address, socklen_t size, struct link *ret)
{
    int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return status_from_errno(errno);
    if (connect(fd, address, size)) {
        LSTATUS status = errno == EACCES ? ERROR_ACCESS_DENIED
                         : may_wait()    ? WAIT_TIMEOUT
                                         : RPC_S_SERVER_UNAVAILABLE;
        close(fd);
        return status;
    }
    return link_of(fd, ret);
}

/* ---- a program ---- */

struct start {
    const char *file;
    char *const *arguments;
    char *const *environment;
    int fd, error;
};

/* Resets all signals, because the child would inherit those that the calling program ignores or
 * blocks. */
DETACHED static void default_signals(void)
{
    enum { KERNEL_SIGNALS = 64, KERNEL_SET_BYTES = 8 };
    const unsigned char defaults[64] = {0};
    for (int number = 1; number <= KERNEL_SIGNALS; number++)
        syscall(SYS_rt_sigaction, number, defaults, NULL, KERNEL_SET_BYTES);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, defaults, NULL, KERNEL_SET_BYTES);
}

DETACHED static int become_program(void *argument)
{
    struct start *start = argument;
    /* a session without a terminal: ssh cannot prompt the user, and ^C does not reach ssh */
    setsid();
    default_signals();
    execve(start->file, start->arguments, start->environment);
    start->error = errno;
    _exit(127);
}

/* Makes the stream descriptors 0 and 1, /dev/null descriptor 2, and starts the program. */
DETACHED static void start_detached(void *argument)
{
    struct start *start = argument;
    int fd = fcntl(start->fd, F_DUPFD_CLOEXEC, 3);
    close(start->fd);
    if (fd < 0 || dup2(fd, 0) != 0 || dup2(fd, 1) != 1 ||
        (open("/dev/null", O_RDWR) != 2 && open("/", O_PATH) != 2)) {
        start->error = errno ? errno : EIO;
        return;
    }
    start->error = 0;
    if (detached_spawn(become_program, start) < 0)
        start->error = errno;
}

LSTATUS link_open_program(const char *file, char *const *arguments, int type, struct link *ret)
{
    int pair[2];
    FREE_AUTO char **environment = environment_new(ENVIRONMENT_FOR_LOGIN);
    if (!environment)
        return ERROR_NOT_ENOUGH_MEMORY;
    if (detached_would_be_process_1())
        return ERROR_ACCESS_DENIED;
    if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, pair))
        return status_from_errno(errno);
    struct start start = {file, arguments, environment, pair[1], EIO};
    int error = detached_run_keeping(pair[1], start_detached, &start);
    error = error ? error : start.error;
    close(pair[1]);
    if (error) {
        close(pair[0]);
        trace("remote", "%s could not be started: %s", file, strerror(error));
        return error == ENOMEM ? ERROR_NOT_ENOUGH_MEMORY : RPC_S_SERVER_UNAVAILABLE;
    }
    return link_of(pair[0], ret);
}

LSTATUS link_open_through(const struct link *link, const char *text, struct link *ret)
{
    int pair[2];
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof pair[1])];
    } control = {.bytes = {0}};
    struct iovec part = {(char *)text, strlen(text)};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};
    if (!link_is_ours(link))
        return RPC_S_CALL_FAILED;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
        return status_from_errno(errno);
    control.head = (struct cmsghdr){CMSG_LEN(sizeof pair[1]), SOL_SOCKET, SCM_RIGHTS};
    memcpy(CMSG_DATA(&control.head), &pair[1], sizeof pair[1]);
    bool sent = sendmsg(link->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0;
    bool retry = !sent && may_wait();
    close(pair[1]);
    if (sent)
        return link_of(pair[0], ret);
    close(pair[0]);
    return retry ? WAIT_TIMEOUT : RPC_S_CALL_FAILED;
}

/* ---- calls ---- */

static const int64_t second = CLOCK_TICKS_PER_SECOND;
/* how long a call waits for a machine that missed its last deadline */
static const int64_t short_wait = CLOCK_TICKS_PER_SECOND;

/* ---- how calls end ---- */

static void end_call(struct call *call, LSTATUS status)
{
    call->status = status;
    call->stage = CALL_DONE;
    claim_release(&call->target->in_use);
}

static void note_failure(struct target *target)
{
    target->not_before = remote_try_again(&target->failures);
}

/* Records that the machine cannot be reached; if the attempt took long, later calls wait only
 * briefly. */
static void note_absence(struct call *call)
{
    note_failure(call->target);
    call->target->missed |= clock_ticks() - call->began > short_wait;
}

/* Ends a call without a reply. If a new connection was lost before any answer, the status is that
 * of a machine that cannot be reached. */
static void fail_call(struct call *call, LSTATUS status)
{
    struct target *target = call->target;
    bool connected = call->stage != CALL_CONNECTS;
    if (call->fresh && !call->paused)
        note_absence(call);
    if (call->fresh)
        trace("remote", "%s: %s: %s", target->url, connected ? "new connection" : "no connection",
              status_text(status));
    end_call(call, call->fresh && status == RPC_S_CALL_FAILED ? RPC_S_SERVER_UNAVAILABLE : status);
}

static void note_answer(struct target *target)
{
    target->answered = true;
    target->missed = false;
    target->failures = 0;
}

/* True if the reply is from a program in between, such as openperflib-smb, which cannot reach the
 * machine. */
static bool means_absent(const struct proto_reply *reply)
{
    return reply->status == RPC_S_SERVER_UNAVAILABLE || reply->status == ERROR_BAD_NETPATH;
}

static void succeed(struct call *call)
{
    if (call->fresh && means_absent(&call->reply) && clock_ticks() - call->began > short_wait) {
        note_absence(call);
        target_disconnect(call->target); /* disconnect; the next attempt comes after the pause */
        end_call(call, ERROR_SUCCESS);
        return;
    }
    if (call->fresh)
        trace("remote", "%s: new connection", call->target->url);
    note_answer(call->target);
    call->target->data_wanted |= call->request.operation == PROTO_QUERY;
    end_call(call, ERROR_SUCCESS);
}

/* ---- steps: each sets the next stage when it has done its work ---- */

static int64_t time_for(const struct call *call)
{
    const struct proto_request *request = &call->request;
    int64_t whole = (int64_t)call->target->deadline_ms * (second / 1000);
    if (request->operation == PROTO_CLOSE)
        return REMOTE_CLOSE_SECONDS * second;
    return remote_is_costly(request->name) ? whole * CLIENT_COSTLY_TIMES : whole;
}

static void start_connecting(struct call *call)
{
    target_disconnect(call->target);
    call->stage = CALL_CONNECTS;
    call->fresh = true;
    call->connect_until = clock_ticks() + CLIENT_CONNECT_SECONDS * second;
    call->paused = clock_ticks() < call->target->not_before;
    if (call->paused)
        fail_call(call, RPC_S_CALL_FAILED);
}

static void start_sending(struct call *call)
{
    struct target *target = call->target;
    call->stage = CALL_SENDS;
    call->sent = 0;
    call->deadline = clock_ticks() + (target->missed ? short_wait : time_for(call));
    call->request.id = ++target->number;
    if (!proto_write_request(&call->request, &call->message))
        end_call(call, call->message.failed ? ERROR_NOT_ENOUGH_MEMORY : ERROR_INVALID_PARAMETER);
}

static void start_waiting_for_overdue(struct call *call)
{
    const struct target *target = call->target;
    int64_t now = clock_ticks();
    call->stage = CALL_OVERDUE;
    call->paused = now < target->not_before;
    call->deadline = call->paused ? now : now + short_wait;
}

static void start_call(struct call *call)
{
    struct target *target = call->target;
    bool ours = link_is_ours(&target->link), overdue = target->overdue.pid;
    call->began = clock_ticks();
    if (call->request.operation == PROTO_CLOSE && (!ours || overdue)) {
        target_disconnect(target);
        end_call(call, RPC_S_CALL_FAILED);
    } else if (!ours)
        start_connecting(call);
    else if (overdue)
        start_waiting_for_overdue(call);
    else
        start_sending(call);
}

/* Handles a lost connection. The request is sent once more if the server may have been restarted
 * before it processed the request. */
static void lose_link(struct call *call, LSTATUS status)
{
    bool anew = status == RPC_S_CALL_FAILED && !call->fresh && call->target->answered &&
                clock_ticks() - call->began < second && call->request.operation != PROTO_CLOSE;
    target_disconnect(call->target); /* disconnect, because only a part of a message was received */
    if (anew)
        start_connecting(call);
    else
        fail_call(call, status);
}

static void connect_on(struct call *call)
{
    LSTATUS status = target_connect(call->target);
    if (!status)
        start_sending(call);
    else if (status != WAIT_TIMEOUT)
        fail_call(call, status);
}

static void send_on(struct call *call)
{
    struct buffer *message = &call->message;
    LSTATUS status = link_send(&call->target->link, message->data, message->len, &call->sent);
    if (!status) {
        buffer_clear(message);
        call->stage = CALL_RECEIVES;
    } else if (status != WAIT_TIMEOUT) {
        lose_link(call, status);
    }
}

static size_t capacity_for(const struct proto_request *request)
{
    return request->capacity > PROTO_INFO_BYTES ? request->capacity : PROTO_INFO_BYTES;
}

/* Receives the reply. Returns WAIT_TIMEOUT if it is not complete yet. */
static LSTATUS receive_reply(const struct link *link, uint32_t id, size_t capacity,
                             struct buffer *message, struct proto_reply *ret)
{
    LSTATUS status = link_receive(link, PROTO_REPLY_HEAD, message);
    if (status)
        return status;
    size_t size = proto_size(message->data, PROTO_REPLY_HEAD + PROTO_NAME_BYTES + capacity);
    status = size ? link_receive(link, size, message) : ERROR_INVALID_DATA;
    if (status)
        return status;
    bool good = proto_read_reply(message->data, message->len, ret) && ret->id == id;
    return good ? ERROR_SUCCESS : ERROR_INVALID_DATA;
}

static void receive_on(struct call *call)
{
    LSTATUS status = receive_reply(&call->target->link, call->request.id,
                                   capacity_for(&call->request), &call->message, &call->reply);
    if (!status)
        succeed(call);
    else if (status != WAIT_TIMEOUT)
        lose_link(call, status);
}

static void receive_overdue(struct call *call)
{
    struct target *target = call->target;
    struct overdue_reply *overdue = &target->overdue;
    struct proto_reply reply;
    LSTATUS status =
        receive_reply(&target->link, overdue->id, overdue->capacity, &overdue->message, &reply);
    if (!status && means_absent(&reply)) {
        note_failure(target);
        target_disconnect(target);
        end_call(call, RPC_S_SERVER_UNAVAILABLE);
    } else if (!status) {
        target_forget_overdue(target);
        note_answer(target);
        start_sending(call);
    } else if (status != WAIT_TIMEOUT) {
        target->answered = true; /* the machine was reached: lose_link may send the request again */
        lose_link(call, status);
    }
}

/* Runs the steps until one has to wait. Also returns after sending, because the reply cannot have
 * arrived yet. */
static void step(struct call *call)
{
    enum call_stage before;
    do {
        before = call->stage;
        if (before == CALL_CLAIMS) {
            if (claim_take_until(&call->target->in_use, 0))
                start_call(call);
        } else if (before == CALL_CONNECTS) {
            connect_on(call);
        } else if (before == CALL_OVERDUE) {
            receive_overdue(call);
        } else if (before == CALL_SENDS) {
            send_on(call);
        } else if (before == CALL_RECEIVES) {
            receive_on(call);
        }
    } while (call->stage != before && call->stage != CALL_DONE && call->stage != CALL_RECEIVES);
}

/* ---- deadlines ---- */

/* Called when the deadline is over: keeps the received part of the answer. The next call reads the
 * rest before it sends its own request. */
static void leave_overdue(struct call *call)
{
    struct target *target = call->target;
    target_forget_overdue(target);
    target->overdue = (struct overdue_reply){.pid = getpid(),
                                             .id = call->request.id,
                                             .capacity = capacity_for(&call->request),
                                             .since = clock_ticks(),
                                             .message = call->message};
    call->message = (struct buffer){0};
    target->missed = true;
    if (!call->fresh)
        note_failure(target);
    fail_call(call, RPC_S_CALL_FAILED);
}

static void abandon_overdue(struct call *call)
{
    struct target *target = call->target;
    if (clock_ticks() - target->overdue.since > CLIENT_OVERDUE_SECONDS * second)
        target_disconnect(target);
    if (!call->paused)
        note_failure(target);
    end_call(call, RPC_S_CALL_FAILED);
}

static void miss_deadline(struct call *call)
{
    if (call->stage == CALL_CLAIMS) {
        call->status = ERROR_BUSY;
        call->stage = CALL_DONE;
    } else if (call->stage == CALL_OVERDUE) {
        abandon_overdue(call);
    } else if (call->stage == CALL_RECEIVES && call->request.operation != PROTO_CLOSE) {
        leave_overdue(call);
    } else {
        target_disconnect(call->target);
        fail_call(call, RPC_S_CALL_FAILED);
    }
}

static int64_t deadline_of(const struct call *call)
{
    return call->stage == CALL_CONNECTS ? call->connect_until : call->deadline;
}

/* ---- all calls ---- */

void call_begin(struct call *call)
{
    call->stage = CALL_CLAIMS;
    call->deadline = clock_ticks() + CLIENT_CLAIM_SECONDS * second;
    step(call);
}

static short events_of(enum call_stage stage)
{
    /* in other stages the call waits for no event, and is checked every CLIENT_RECHECK_MS */
    return stage == CALL_SENDS                               ? POLLOUT
           : stage == CALL_OVERDUE || stage == CALL_RECEIVES ? POLLIN
                                                             : 0;
}

/* Runs the calls that are ready, and writes to `waits` what the other calls wait for. Returns when
 * to check again; 0: all calls are done. */
static int64_t go_on(struct call *calls, size_t count, struct pollfd *waits)
{
    int64_t next = 0, now = clock_ticks();
    for (size_t i = 0; i < count; i++) {
        struct call *call = &calls[i];
        if (waits[i].revents || !events_of(call->stage))
            step(call);
        if (call->stage != CALL_DONE && now >= deadline_of(call))
            miss_deadline(call);
        bool open = call->stage != CALL_DONE;
        short events = open ? events_of(call->stage) : 0;
        int64_t look = deadline_of(call);
        if (!events && look > now + CLIENT_RECHECK_MS * (second / 1000))
            look = now + CLIENT_RECHECK_MS * (second / 1000);
        waits[i] = (struct pollfd){.fd = events ? call->target->link.fd : -1, .events = events};
        if (open && (!next || look < next))
            next = look;
    }
    return next;
}

static int ms_until(int64_t moment)
{
    int64_t left = (moment - clock_ticks()) / (second / 1000);
    return left < 0 ? 0 : left > 60000 ? 60000 : (int)left + 1;
}

static void abandon_all(struct call *calls, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (calls[i].stage != CALL_DONE)
            miss_deadline(&calls[i]);
}

void calls_finish(struct call *calls, size_t count)
{
    enum { FEW = 8 };
    struct pollfd few[FEW] = {0};
    FREE_AUTO struct pollfd *many = count > FEW ? calloc(count, sizeof *many) : NULL;
    struct pollfd *waits = count > FEW ? many : few;
    int64_t next;
    if (!waits)
        abandon_all(calls, count);
    while (waits && (next = go_on(calls, count, waits)))
        poll(waits, count, ms_until(next));
}

LSTATUS call_run(struct call *call)
{
    call_begin(call);
    calls_finish(call, 1);
    return call->status;
}
