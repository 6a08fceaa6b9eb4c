/* SPDX-License-Identifier: MIT */
/*
 * Serves one client: a request, its reply, and so on. The client is the process that started this
 * one, and may be idle for any time; a request that takes longer than its limit ends this process,
 * whatever it is doing, and with it its only connection.
 */
#include "remote/smb.h"

#include <errno.h>
#include <unistd.h>

enum { GRACE_SECONDS = 5 };

/* The number of bytes received: less than `size` if the stream ended. */
static size_t receive(int fd, char *data, size_t size)
{
    size_t have = 0;
    while (have < size) {
        ssize_t count = read(fd, data + have, size - have);
        if (count == 0 || (count < 0 && errno != EINTR))
            break;
        have += count > 0 ? (size_t)count : 0;
    }
    return have;
}

static bool transmit(int fd, const char *data, size_t size)
{
    while (size) {
        ssize_t count = write(fd, data, size);
        if (count < 0 && errno != EINTR)
            return false;
        if (count > 0) {
            data += count;
            size -= (size_t)count;
        }
    }
    return true;
}

/* 0: the stream ended; SIZE_MAX: malformed. */
static size_t receive_request(int in, char message[static PROTO_REQUEST_BYTES])
{
    size_t have = receive(in, message, PROTO_START);
    if (!have)
        return 0;
    size_t size = have == PROTO_START ? proto_size(message, PROTO_REQUEST_BYTES) : 0;
    if (!size || receive(in, message + have, size - have) != size - have)
        return SIZE_MAX;
    return size;
}

static bool send_reply(int out, const struct proto_reply *reply)
{
    BUFFER_AUTO head = {0};
    return proto_write_reply(reply, &head) && transmit(out, head.data, head.len) &&
           transmit(out, reply->data, reply->data_size);
}

bool smb_serve(int in, int out, struct smb_machine *machine)
{
    static char message[PROTO_REQUEST_BYTES];
    struct smb_answers answers = {.machine = machine};
    bool good = true, went = false;
    while (good && !went) {
        struct proto_request request;
        struct proto_reply reply;
        size_t size = receive_request(in, message);
        went = !size;
        good = went || (size != SIZE_MAX && proto_read_request(message, size, &request));
        if (went || !good)
            break;
        alarm((unsigned)(smb_seconds_for(&request) + GRACE_SECONDS));
        smb_answer(&answers, &request, &reply);
        alarm(0);
        good = send_reply(out, &reply);
    }
    buffer_done(&answers.data);
    buffer_done(&answers.name);
    return good;
}
