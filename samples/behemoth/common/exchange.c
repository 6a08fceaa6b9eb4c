/* SPDX-License-Identifier: MIT */
/* The client side of the protocol: nothing blocks longer than until the given time, and no
 * received data is trusted. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* SO_PEERCRED */
#endif
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

int64_t behemoth_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

bool behemoth_place(const char *wanted, char *storage, size_t bytes)
{
    struct sockaddr_un address;
    struct stat status;
    const char *folder = secure_getenv("XDG_RUNTIME_DIR");
    const char *root = secure_getenv("OPENPERFLIB_ROOT"); /* all state is there, then */
    int length = 0;
    if (!wanted || !*wanted)
        wanted = secure_getenv("BEHEMOTH_SOCKET");
    if (wanted && *wanted)
        length = snprintf(storage, bytes, "%s", wanted);
    else if (root && *root == '/')
        return (length = snprintf(storage, bytes, "%s/herd.sock", root)) > 0 &&
               (size_t)length < bytes && (size_t)length < sizeof address.sun_path;
    else if (folder && *folder == '/')
        length = snprintf(storage, bytes, "%s/behemoth/herd.sock", folder);
    if (length == 0 || (!(wanted && *wanted) && stat(storage, &status) < 0))
        length = snprintf(storage, bytes, "/run/behemoth/herd.sock");
    return length > 0 && (size_t)length < bytes && (size_t)length < sizeof address.sun_path;
}

/* ---- the connection ---- */

static bool still_ours(const struct behemoth_line *line)
{
    struct stat status;
    return fstat(line->socket, &status) == 0 && status.st_dev == line->device &&
           status.st_ino == line->inode;
}

void behemoth_hang_up(struct behemoth_line *line)
{
    if (line->socket >= 0 && still_ours(line))
        close(line->socket);
    line->socket = -1;
}

void behemoth_line_end(struct behemoth_line *line)
{
    behemoth_hang_up(line);
    free(line->body);
    line->body = NULL;
    line->capacity = 0;
}

/* Reads the machine's own file, not a directory service, which may be slow. */
static bool is_behemoth(uid_t user)
{
    bool found = false;
    const struct passwd *entry;
    FILE *file = fopen("/etc/passwd", "re");
    if (!file)
        return false;
    while (!found && (entry = fgetpwent(file)))
        found = entry->pw_uid == user && strcmp(entry->pw_name, "behemoth") == 0;
    fclose(file);
    return found;
}

static bool trusted(int fd)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
        return false;
    return peer.uid == 0 || peer.uid == geteuid() || is_behemoth(peer.uid);
}

static bool dial(struct behemoth_line *line, const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct stat status;
    if (strlen(path) >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return false;
    }
    strcpy(address.sun_path, path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return false;
    bool good = connect(fd, (struct sockaddr *)&address, sizeof address) == 0;
    if (good && !trusted(fd)) {
        errno = EACCES;
        good = false;
    }
    if (!good || fstat(fd, &status) < 0) {
        int reason = errno;
        close(fd);
        errno = reason;
        return false;
    }
    line->socket = fd;
    line->owner = getpid();
    line->device = status.st_dev;
    line->inode = status.st_ino;
    return true;
}

/* ---- bytes ---- */

static bool wait_for(int fd, short events, int64_t until)
{
    int64_t left = until - behemoth_now();
    struct pollfd one = {.fd = fd, .events = events};
    int ready = left > 0 ? poll(&one, 1, (int)(left < 60000 ? left : 60000)) : 0;
    if (ready == 0)
        errno = ETIMEDOUT;
    return ready > 0 || (ready < 0 && errno == EINTR);
}

static bool send_all(int fd, const unsigned char *bytes, size_t count, int64_t until)
{
    while (count > 0) {
        ssize_t sent = send(fd, bytes, count, MSG_NOSIGNAL);
        if (sent > 0) {
            bytes += sent;
            count -= (size_t)sent;
        } else if (errno != EAGAIN && errno != EINTR) {
            return false;
        } else if (!wait_for(fd, POLLOUT, until)) {
            return false;
        }
    }
    return true;
}

static bool receive_all(int fd, void *to, size_t count, int64_t until)
{
    unsigned char *bytes = to;
    while (count > 0) {
        ssize_t got = recv(fd, bytes, count, 0);
        if (got > 0) {
            bytes += got;
            count -= (size_t)got;
        } else if (got == 0) {
            errno = ECONNRESET;
            return false;
        } else if (errno != EAGAIN && errno != EINTR) {
            return false;
        } else if (!wait_for(fd, POLLIN, until)) {
            return false;
        }
        if (count > 0 && behemoth_now() >= until) { /* sending byte by byte does not extend the
                                                     * deadline */
            errno = ETIMEDOUT;
            return false;
        }
    }
    return true;
}

static bool reserve(struct behemoth_line *line, size_t bytes)
{
    if (bytes <= line->capacity)
        return true;
    unsigned char *body = realloc(line->body, bytes);
    if (!body)
        return false;
    line->body = body;
    line->capacity = bytes;
    return true;
}

static bool receive_answer(struct behemoth_line *line, int64_t until)
{
    const size_t most =
        sizeof(struct behemoth_herd) + (size_t)BEHEMOTH_HERD_MAX * sizeof(struct behemoth);
    if (!receive_all(line->socket, &line->head, sizeof line->head, until))
        return false;
    if (line->head.magic != BEHEMOTH_MAGIC || line->head.number != line->number ||
        line->head.bytes > most) {
        errno = EPROTO;
        return false;
    }
    return reserve(line, line->head.bytes) &&
           receive_all(line->socket, line->body, line->head.bytes, until);
}

static bool ask_once(struct behemoth_line *line, uint32_t what, const void *body, uint32_t bytes,
                     int64_t until)
{
    unsigned char request[sizeof(struct behemoth_head) + BEHEMOTH_REQUEST_MAX];
    struct behemoth_head head = {BEHEMOTH_MAGIC, what, bytes, ++line->number};
    memcpy(request, &head, sizeof head);
    if (bytes > 0)
        memcpy(request + sizeof head, body, bytes);
    if (send_all(line->socket, request, sizeof head + bytes, until) && receive_answer(line, until))
        return true;
    int reason = errno;
    behemoth_hang_up(line);
    errno = reason;
    return false;
}

bool behemoth_ask(struct behemoth_line *line, const char *path, uint32_t what, const void *body,
                  uint32_t bytes, int64_t until)
{
    if (bytes > BEHEMOTH_REQUEST_MAX) {
        errno = EMSGSIZE;
        return false;
    }
    if (line->socket >= 0 && !still_ours(line))
        line->socket = -1;
    if (line->socket >= 0 && line->owner != getpid()) /* the parent goes on using it */
        behemoth_hang_up(line);
    if (line->socket >= 0) {
        if (ask_once(line, what, body, bytes, until))
            return true;
        /* The server closed the connection, perhaps long ago: retry once. Not for changes of the
         * herd, which may have been done. */
        bool asks =
            what == BEHEMOTH_HERD || what == BEHEMOTH_SUMMARY || what == BEHEMOTH_PARAMETERS;
        if (!asks || behemoth_now() >= until)
            return false;
    }
    return dial(line, path) && ask_once(line, what, body, bytes, until);
}

/* ---- parsing answers ---- */

const struct behemoth *behemoth_all(const struct behemoth_herd *herd)
{
    return (const struct behemoth *)(const void *)(herd + 1);
}

static bool sound(const struct behemoth_line *line)
{
    const struct behemoth_herd *herd = (const void *)line->body;
    return line->head.what == BEHEMOTH_OK && line->head.bytes >= sizeof *herd &&
           herd->each == sizeof(struct behemoth) && herd->count <= BEHEMOTH_HERD_MAX;
}

const struct behemoth_herd *behemoth_summary_of(const struct behemoth_line *line)
{
    return sound(line) && line->head.bytes == sizeof(struct behemoth_herd)
               ? (const void *)line->body
               : NULL;
}

const struct behemoth_herd *behemoth_herd_of(const struct behemoth_line *line)
{
    const struct behemoth_herd *herd = (const void *)line->body;
    if (!sound(line) || line->head.bytes != sizeof *herd + (size_t)herd->count * herd->each)
        return NULL;
    const struct behemoth *all = behemoth_all(herd);
    for (uint32_t i = 0; i < herd->count; i++) {
        bool orphan = all[i].mother_position == BEHEMOTH_NONE;
        if (all[i].sex > BEHEMOTH_FEMALE || all[i].birthday > herd->time ||
            (!orphan && all[i].mother_position >= i) || !all[i].name[0] ||
            !memchr(all[i].name, 0, BEHEMOTH_NAME))
            return NULL;
    }
    return herd;
}

const char *behemoth_status_text(uint32_t status)
{
    static const char *const texts[] = {
        [BEHEMOTH_OK] = "done",
        [BEHEMOTH_BAD] = "the server does not understand this",
        [BEHEMOTH_REFUSED] = "only root and the server's own user may change the herd",
        [BEHEMOTH_UNKNOWN] = "there is no such behemoth or parameter",
        [BEHEMOTH_FULL] = "the field is full: see --capacity of behemoth-server",
        [BEHEMOTH_TAKEN] = "another one has this name",
        [BEHEMOTH_FAILED] = "the server could not do it; its own messages say why",
    };
    return status < sizeof texts / sizeof texts[0] ? texts[status] : "the server says nonsense";
}
