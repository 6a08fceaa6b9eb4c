/* SPDX-License-Identifier: MIT */
/* Shared by tests that send requests of the protocol themselves: any request, in the name of any
 * caller. */
#ifndef OPL_TEST_REMOTE_REQUESTS_H
#define OPL_TEST_REMOTE_REQUESTS_H

#include "remote/proto.h"
#include "server.h"

#include <sys/socket.h>
#include <sys/un.h>

#define GATE "SYSTEM\\CurrentControlSet\\Control\\SecurePipeServers\\winreg"
#define SETTINGS "SOFTWARE\\openperflib\\Remote"
#define OBJECTS SETTINGS "\\Objects"
#define ADMINISTRATORS "S-1-5-32-544"
#define LOGGED_IN " S-1-1-0 S-1-5-2 S-1-5-11"
enum { SIZE = 1 << 20 };

static inline int connect_here(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path, server_socket);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

static inline void send_only(int fd, const struct proto_request *request)
{
    BUFFER_AUTO bytes = {0};
    assert_true(proto_write_request(request, &bytes));
    assert_int_equal(send(fd, bytes.data, bytes.len, MSG_NOSIGNAL), bytes.len);
}

/* Receives a reply, and returns its status; 0xdead: the server closed the connection. */
static inline uint32_t hear(int fd, struct buffer *message, struct proto_reply *ret)
{
    char head[PROTO_REPLY_HEAD];
    buffer_clear(message);
    if (recv(fd, head, sizeof head, MSG_WAITALL) != sizeof head)
        return 0xdead;
    size_t size = proto_size(head, SIZE + PROTO_REPLY_HEAD);
    assert_true(size && buffer_add(message, head, sizeof head) && buffer_reserve(message, size));
    size_t rest = size - sizeof head;
    if (rest)
        assert_int_equal(recv(fd, message->data + message->len, rest, MSG_WAITALL), rest);
    message->len = size;
    assert_true(proto_read_reply(message->data, size, ret));
    return ret->status;
}

static inline uint32_t run_query(int fd, const struct proto_request *request)
{
    BUFFER_AUTO message = {0};
    struct proto_reply reply;
    send_only(fd, request);
    return hear(fd, &message, &reply);
}

static inline uint32_t speak_for(int fd, const char *sids, uint32_t protection)
{
    return run_query(fd, &(struct proto_request){.operation = PROTO_CALLER,
                                                 .index = protection,
                                                 .path = "ELSEWHERE\\anna",
                                                 .name = sids});
}

static inline struct proto_request query_of(const char *name)
{
    return (struct proto_request){
        .operation = PROTO_QUERY, .root = 0x80000004, .capacity = SIZE, .path = "", .name = name};
}

static inline void set_list(const char *key, const char *name, const char *list, size_t size)
{
    HKEY opened;
    assert_int_equal(
        RegCreateKeyExA(HKEY_LOCAL_MACHINE, key, 0, NULL, 0, KEY_SET_VALUE, NULL, &opened, NULL),
        0);
    assert_int_equal(RegSetValueExA(opened, name, 0, REG_MULTI_SZ, (const BYTE *)list, (DWORD)size),
                     0);
    RegCloseKey(opened);
}
#define SET_LIST(key, name, list) set_list(key, name, list "\0", sizeof(list "\0"))

#endif
