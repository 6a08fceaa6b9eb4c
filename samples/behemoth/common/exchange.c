/* SPDX-License-Identifier: MIT */
/* The client side of the protocol: no function waits longer than until the given time, and all
 * received data is checked. */
#include "exchange.h"

#include <errno.h>
#include <poll.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { POLL_MOST_MS = 60000 };

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

/* ---- the connection ---- */

static bool is_own(const struct behemoth_line *line)
{
    struct stat status;
    return line->socket >= 0 && fstat(line->socket, &status) == 0 &&
           status.st_dev == line->device && status.st_ino == line->inode;
}

/* Closes the connection; errno is unchanged. */
void behemoth_hang_up(struct behemoth_line *line)
{
    int reason = errno;
    if (is_own(line))
        close(line->socket);
    line->socket = -1;
    errno = reason;
}

void behemoth_line_end(struct behemoth_line *line)
{
    behemoth_hang_up(line);
    free(line->body);
    line->body = NULL;
    line->capacity = 0;
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

static bool dial(struct behemoth_line *line, const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct stat status;
    struct ucred peer;
    socklen_t size = sizeof peer;
    if ((size_t)snprintf(address.sun_path, sizeof address.sun_path, "%s", path) >=
        sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return false;
    }
    line->socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (line->socket < 0 || fstat(line->socket, &status) < 0)
        return false;
    line->owner = getpid();
    line->device = status.st_dev;
    line->inode = status.st_ino;
    bool good = connect(line->socket, (struct sockaddr *)&address, sizeof address) == 0 &&
                getsockopt(line->socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
    if (good && peer.uid != 0 && peer.uid != geteuid() && !is_behemoth(peer.uid)) {
        errno = EACCES;
        good = false;
    }
    if (!good)
        behemoth_hang_up(line);
    return good;
}

/* ---- requests and answers ---- */

/* Sends or receives all bytes; false: the time `until` is over, or an error. A peer that sends byte
 * by byte does not extend the time. */
static bool transfer(int fd, void *bytes, size_t count, bool sending, int64_t until)
{
    unsigned char *at = bytes;
    while (count > 0) {
        ssize_t done = sending ? send(fd, at, count, MSG_NOSIGNAL) : recv(fd, at, count, 0);
        if (done < 0 && errno != EAGAIN && errno != EINTR)
            return false;
        if (done == 0) {
            errno = ECONNRESET;
            return false;
        }
        if (done > 0) {
            at += done;
            count -= (size_t)done;
        }
        int64_t left = until - behemoth_now();
        if (count > 0 && left <= 0) {
            errno = ETIMEDOUT;
            return false;
        }
        struct pollfd one = {.fd = fd, .events = sending ? POLLOUT : POLLIN};
        if (done < 0)
            poll(&one, 1, (int)(left < POLL_MOST_MS ? left : POLL_MOST_MS));
    }
    return true;
}

static bool receive_answer(struct behemoth_line *line, int64_t until)
{
    const size_t most =
        sizeof(struct behemoth_herd) + (size_t)BEHEMOTH_HERD_MAX * sizeof(struct behemoth);
    struct behemoth_head *head = &line->head;
    if (!transfer(line->socket, head, sizeof *head, false, until))
        return false;
    if (head->magic != BEHEMOTH_MAGIC || head->number != line->request.number ||
        head->bytes > most) {
        errno = EPROTO;
        return false;
    }
    if (head->bytes > line->capacity) {
        unsigned char *body = realloc(line->body, head->bytes);
        if (!body)
            return false;
        line->body = body;
        line->capacity = head->bytes;
    }
    return transfer(line->socket, line->body, head->bytes, false, until);
}

static bool request_once(struct behemoth_line *line, uint32_t what, const void *body,
                         uint32_t bytes, int64_t until)
{
    unsigned char bytes_out[sizeof line->request + BEHEMOTH_REQUEST_MAX];
    line->request = (struct behemoth_head){BEHEMOTH_MAGIC, what, bytes, line->request.number + 1};
    memcpy(bytes_out, &line->request, sizeof line->request);
    if (bytes > 0)
        memcpy(bytes_out + sizeof line->request, body, bytes);
    bool good = transfer(line->socket, bytes_out, sizeof line->request + bytes, true, until) &&
                receive_answer(line, until);
    if (!good)
        behemoth_hang_up(line);
    return good;
}

bool behemoth_exchange(struct behemoth_line *line, const char *path, uint32_t what,
                       const void *body, uint32_t bytes, int64_t until)
{
    if (bytes > BEHEMOTH_REQUEST_MAX) {
        errno = EMSGSIZE;
        return false;
    }
    /* inherited by fork: the parent process uses the connection */
    if (!is_own(line) || line->owner != getpid())
        behemoth_hang_up(line);
    if (line->socket >= 0) {
        if (request_once(line, what, body, bytes, until))
            return true;
        /* The server may have closed an idle connection, so a request that only reads is sent once
         * more. A request that changes the herd is not sent again: the server may have executed it
         * already. */
        bool reads =
            what == BEHEMOTH_HERD || what == BEHEMOTH_SUMMARY || what == BEHEMOTH_PARAMETERS;
        if (!reads || behemoth_now() >= until)
            return false;
    }
    return dial(line, path) && request_once(line, what, body, bytes, until);
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
