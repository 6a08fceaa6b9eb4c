/* SPDX-License-Identifier: MIT */
/* The server's end of a stream: receives requests and sends replies, each within a limit of
 * time. */
#include "remote/proto.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

/* Waits for an event. Returns false if the deadline has passed; INT64_MAX: no deadline. */
static bool wait_for(int fd, short events, int64_t deadline)
{
    struct pollfd poll_fd = {.fd = fd, .events = events};
    for (;;) {
        int64_t left = deadline == INT64_MAX
                           ? -1
                           : (deadline - clock_ticks()) / (CLOCK_TICKS_PER_SECOND / 1000);
        if (deadline != INT64_MAX && left <= 0)
            return false;
        int count = poll(&poll_fd, 1, (int)left);
        if (count > 0)
            return true;
        if (count < 0 && errno != EINTR)
            return false;
    }
}

static int64_t deadline_after(unsigned seconds)
{
    return seconds ? clock_ticks() + seconds * (int64_t)CLOCK_TICKS_PER_SECOND : INT64_MAX;
}

/* Receives between `least` and `most` bytes and returns how many. The result is less than `least`
 * if the client disconnected or was too slow. */
static size_t receive(int fd, char *data, size_t least, size_t most, int64_t deadline)
{
    size_t have = 0;
    while (have < least && wait_for(fd, POLLIN, deadline)) {
        ssize_t count = read(fd, data + have, most - have);
        if (count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN))
            break;
        have += count > 0 ? (size_t)count : 0;
    }
    return have;
}

static bool transmit(int fd, const char *data, size_t size, int64_t deadline)
{
    while (size) {
        ssize_t count = write(fd, data, size);
        if (count < 0 && errno != EINTR && errno != EAGAIN)
            return false;
        if (count > 0) {
            data += count;
            size -= (size_t)count;
        } else if (!wait_for(fd, POLLOUT, deadline)) {
            return false;
        }
    }
    return true;
}

size_t stream_receive(int in, char message[static PROTO_REQUEST_BYTES], int64_t until,
                      unsigned seconds)
{
    size_t have = receive(in, message, 1, PROTO_START, until);
    if (!have)
        return 0;
    int64_t deadline = deadline_after(seconds);
    have += receive(in, message + have, PROTO_START - have, PROTO_START - have, deadline);
    size_t size = have == PROTO_START ? proto_size(message, PROTO_REQUEST_BYTES) : 0;
    size_t rest = size - have;
    return size && receive(in, message + have, rest, rest, deadline) == rest ? size : SIZE_MAX;
}

bool stream_send(int out, const struct proto_reply *reply, unsigned seconds)
{
    BUFFER_AUTO head = {0};
    int64_t deadline = deadline_after(seconds);
    return proto_write_reply(reply, &head) && transmit(out, head.data, head.len, deadline) &&
           transmit(out, reply->data, reply->data_size, deadline);
}
