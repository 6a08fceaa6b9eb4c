/* SPDX-License-Identifier: MIT */
/* Simulates other machines, whose data is a copy of this machine's. */
#include "remote.h"
#include "remote/proto.h"
#include "../tests/remote/stream.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BLOCK_SIZE = 4 << 20, EVENTS = 256 };
static struct buffer titles, block;

static void read_value(const char *name, struct buffer *ret)
{
    DWORD size = BLOCK_SIZE;
    buffer_reserve(ret, BLOCK_SIZE);
    if (RegQueryValueExA(HKEY_PERFORMANCE_DATA, name, NULL, NULL, (LPBYTE)ret->data, &size))
        exit(1);
    ret->len = size;
}

/* Sets the clocks in the block's header, from which rates are computed. */
static void set_time(void)
{
    static const int64_t unix_epoch = INT64_C(116444736000000000);
    PERF_DATA_BLOCK *header = (PERF_DATA_BLOCK *)(void *)block.data;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    header->PerfTime.QuadPart = now.tv_sec * INT64_C(10000000) + now.tv_nsec / 100;
    clock_gettime(CLOCK_REALTIME, &now);
    header->PerfTime100nSec.QuadPart =
        now.tv_sec * INT64_C(10000000) + now.tv_nsec / 100 + unix_epoch;
}

static const struct buffer *answer_to(const struct proto_request *request,
                                      struct proto_reply *reply)
{
    bool data = request->root == (uint32_t)(uintptr_t)HKEY_PERFORMANCE_DATA;
    reply->status = ERROR_FILE_NOT_FOUND;
    if (!request->name || !data)
        return NULL;
    bool text = text_starts_fold(request->name, "Counter");
    if (text && !strstr(request->name, "009"))
        return NULL;
    set_time();
    reply->status = ERROR_SUCCESS;
    reply->type = text ? REG_MULTI_SZ : REG_BINARY;
    return text ? &titles : &block;
}

static bool serve_one(int fd)
{
    static char message[PROTO_REQUEST_BYTES];
    static struct buffer head;
    struct proto_request request;
    struct proto_reply reply = {0};
    if (!receive_all(fd, message, PROTO_START))
        return false;
    size_t size = proto_size(message, sizeof message);
    if (!size || !receive_all(fd, message + PROTO_START, size - PROTO_START) ||
        !proto_read_request(message, size, &request))
        return false;
    reply.id = request.id;
    const struct buffer *data =
        request.operation == PROTO_QUERY ? answer_to(&request, &reply) : NULL;
    if (data) {
        reply.needed = (uint32_t)data->len;
        reply.data_size = request.flags & PROTO_NO_DATA ? 0 : data->len;
        reply.status = data->len > request.capacity && !(request.flags & PROTO_NO_DATA)
                           ? ERROR_MORE_DATA
                           : ERROR_SUCCESS;
        reply.data_size = reply.status ? 0 : reply.data_size;
    }
    proto_write_reply(&reply, &head);
    return send_all(fd, head.data, head.len) &&
           (!reply.data_size || send_all(fd, data->data, reply.data_size));
}

static void watch(int epoll, int fd, bool listening)
{
    struct epoll_event event = {.events = EPOLLIN,
                                .data.u64 = (uint64_t)fd << 1 | (uint64_t)listening};
    epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

static void run(int epoll)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) {
        struct epoll_event events[EVENTS];
        int count = epoll_wait(epoll, events, EVENTS, -1);
        for (int i = 0; i < count; i++) {
            int fd = (int)(events[i].data.u64 >> 1);
            if (events[i].data.u64 & 1)
                watch(epoll, accept(fd, NULL, NULL), false);
            else if (!serve_one(fd))
                close(fd);
        }
    }
}

static int listen_as(int number)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char name[16], url[160];
    snprintf(name, sizeof name, "M%d", number);
    snprintf(address.sun_path, sizeof address.sun_path, "%s/%s", remote_folder, name);
    snprintf(url, sizeof url, "unix:%s", address.sun_path);
    remote_list(name, url);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) || listen(fd, 16)) {
        perror(address.sun_path);
        exit(1);
    }
    return fd;
}

pid_t crowd_start(int count, const char *objects)
{
    struct rlimit limit;
    int *fds = calloc((size_t)count, sizeof *fds), epoll = epoll_create1(EPOLL_CLOEXEC);
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    read_value("Counter 009", &titles);
    read_value(objects, &block);
    printf("  each machine: %zu bytes of titles, a block of %zu\n", titles.len, block.len);
    for (int i = 0; fds && i < count; i++) {
        fds[i] = listen_as(i);
        watch(epoll, fds[i], true);
    }
    fflush(NULL);
    pid_t pid = fork();
    if (!pid)
        run(epoll);
    for (int i = 0; fds && i < count; i++)
        close(fds[i]);
    close(epoll);
    free(fds);
    buffer_done(&titles);
    buffer_done(&block);
    return pid;
}

void crowd_stop(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}
