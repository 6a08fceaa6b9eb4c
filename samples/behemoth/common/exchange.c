/* SPDX-License-Identifier: MIT */
/* The client side of the protocol: no function waits longer than until the given time, and all
 * received data is checked. */
#include "exchange.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

int64_t behemoth_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

bool behemoth_place(const char *wanted, bool listen, char *ret, size_t bytes)
{
    struct sockaddr_un address;
    const char *named = wanted && *wanted ? wanted : secure_getenv("BEHEMOTH_SOCKET");
    const char *root = secure_getenv("OPENPERFLIB_ROOT"); /* if set, all state is in this folder */
    const char *own = secure_getenv("XDG_RUNTIME_DIR");
    int length = 0;
    if (named && *named) {
        length = snprintf(ret, bytes, "%s", named);
    } else if (root && *root == '/') {
        length = snprintf(ret, bytes, "%s/herd.sock", root);
    } else if (own && *own == '/' && (!listen || geteuid() != 0)) {
        length = snprintf(ret, bytes, "%s/behemoth/herd.sock", own);
        if (!listen && access(ret, F_OK) < 0)
            length = 0;
    }
    if (length == 0)
        length = snprintf(ret, bytes, "/run/behemoth/herd.sock");
    return (size_t)length < bytes && (size_t)length < sizeof address.sun_path;
}

/* Is this the user `behemoth`? getpwnam is not used, because it may query a slow directory
 * service. */
static bool is_behemoth(uid_t user)
{
    bool found = false;
    const struct passwd *entry;
    FILE *file = fopen("/etc/passwd", "re");
    while (file && !found && (entry = fgetpwent(file)))
        found = entry->pw_uid == user && strcmp(entry->pw_name, "behemoth") == 0;
    if (file)
        fclose(file);
    return found;
}

/* Connects `fd` to a server that is trusted. False: errno is the reason. */
static bool dial(int fd, const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct ucred peer;
    socklen_t size = sizeof peer;
    errno = ENAMETOOLONG;
    if (strlen(path) >= sizeof address.sun_path)
        return false;
    strcpy(address.sun_path, path);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) < 0 ||
        getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
        return false;
    bool trusted = peer.uid == 0 || peer.uid == geteuid() || is_behemoth(peer.uid);
    errno = EACCES;
    return trusted;
}

/* Sends or receives all bytes; false: the time `until` is over, or an error. A peer that sends byte
 * by byte does not extend the time. */
static bool transfer(int fd, void *bytes, size_t count, short event, int64_t until)
{
    for (unsigned char *at = bytes; count > 0;) {
        int64_t left = until - behemoth_now();
        struct pollfd one = {.fd = fd, .events = event};
        errno = ETIMEDOUT;
        if (left < 0 || poll(&one, 1, (int)(left < INT_MAX ? left : INT_MAX)) == 0)
            return false;
        errno = ECONNRESET; /* if the peer closed the connection */
        ssize_t done =
            event == POLLOUT ? send(fd, at, count, MSG_NOSIGNAL) : recv(fd, at, count, 0);
        if (done == 0 || (done < 0 && errno != EAGAIN && errno != EINTR))
            return false;
        at += done > 0 ? done : 0;
        count -= done > 0 ? (size_t)done : 0;
    }
    return true;
}

static bool receive_answer(struct behemoth_line *line, int fd, int64_t until)
{
    struct behemoth_head *head = &line->head;
    if (!transfer(fd, head, sizeof *head, POLLIN, until))
        return false;
    errno = EPROTO;
    if (head->magic != BEHEMOTH_MAGIC || head->number != line->request.number ||
        head->bytes > sizeof(struct behemoth_herd) + BEHEMOTH_HERD_MAX * sizeof(struct behemoth))
        return false;
    if (head->bytes > line->capacity) {
        unsigned char *body = realloc(line->body, head->bytes);
        if (!body)
            return false;
        line->body = body;
        line->capacity = head->bytes;
    }
    return transfer(fd, line->body, head->bytes, POLLIN, until);
}

bool behemoth_exchange(struct behemoth_line *line, const char *path, uint32_t what,
                       const void *body, uint32_t bytes, int64_t until)
{
    unsigned char all[sizeof line->request + BEHEMOTH_REQUEST_MAX];
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return false;
    line->request = (struct behemoth_head){BEHEMOTH_MAGIC, what, bytes, line->request.number + 1};
    memcpy(all, &line->request, sizeof line->request);
    if (bytes > 0)
        memcpy(all + sizeof line->request, body, bytes);
    bool good = dial(fd, path) && transfer(fd, all, sizeof line->request + bytes, POLLOUT, until) &&
                receive_answer(line, fd, until);
    int reason = errno;
    close(fd);
    errno = reason;
    return good;
}

void behemoth_line_end(struct behemoth_line *line)
{
    free(line->body);
    *line = (struct behemoth_line){0};
}

const struct behemoth *behemoth_all(const struct behemoth_herd *herd)
{
    return (const struct behemoth *)(const void *)(herd + 1);
}

const struct behemoth_herd *behemoth_herd_of(const struct behemoth_line *line)
{
    const struct behemoth_herd *herd = (const void *)line->body;
    if (line->head.what != BEHEMOTH_OK || line->head.bytes < sizeof *herd ||
        herd->each != sizeof(struct behemoth) || herd->count > BEHEMOTH_HERD_MAX)
        return NULL;
    uint32_t follow = line->request.what == BEHEMOTH_SUMMARY ? 0 : herd->count;
    if (line->head.bytes != sizeof *herd + (size_t)follow * herd->each)
        return NULL;
    for (uint32_t i = 0; i < follow; i++) {
        const struct behemoth *is = &behemoth_all(herd)[i];
        if (is->sex > BEHEMOTH_FEMALE || is->birthday > herd->time ||
            (is->mother_position != BEHEMOTH_NONE && is->mother_position >= i) || !is->name[0] ||
            !memchr(is->name, 0, BEHEMOTH_NAME))
            return NULL;
    }
    return herd;
}
