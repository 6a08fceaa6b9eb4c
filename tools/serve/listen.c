/* SPDX-License-Identifier: MIT */
/* The sockets, opened here or by systemd: a Unix socket, and 127.0.0.1 as the only address. */
#include "serve.h"

#include "../view/text.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { QUEUE = 64, FIRST_PASSED = 3 /* descriptor of the first socket from systemd */ };

static bool complain(const char *what)
{
    fprintf(stderr, "openperflib-serve: %s: %s\n", text_seen(what), strerror(errno));
    return false;
}

static bool add(struct listeners *list, int fd, bool local)
{
    list->all[list->count++] = (struct listener){fd, local};
    return true;
}

/* Stores the port of a socket that listens to 127.0.0.1. */
static bool take_port(struct listeners *list, int fd)
{
    struct sockaddr_in address;
    socklen_t size = sizeof address;
    if (getsockname(fd, (struct sockaddr *)&address, &size) != 0 || address.sin_family != AF_INET ||
        address.sin_addr.s_addr != htonl(INADDR_LOOPBACK))
        return false;
    list->port = ntohs(address.sin_port);
    return add(list, fd, false);
}

static bool listen_port(struct listeners *list, int64_t port)
{
    char what[64];
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int yes = 1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    snprintf(what, sizeof what, "127.0.0.1, port %lld (--port)", (long long)port);
    if (fd < 0)
        return complain(what);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(fd, (struct sockaddr *)&address, sizeof address) == 0 && listen(fd, QUEUE) == 0 &&
        take_port(list, fd))
        return true;
    complain(what);
    close(fd);
    return false;
}

/* Removes the Unix socket of a server that has ended. */
static void remove_stale(const struct sockaddr_un *address)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    struct stat about;
    if (fd >= 0 && connect(fd, (const struct sockaddr *)address, sizeof *address) != 0 &&
        errno == ECONNREFUSED && lstat(address->sun_path, &about) == 0 && S_ISSOCK(about.st_mode))
        unlink(address->sun_path);
    if (fd >= 0)
        close(fd);
}

static bool listen_path(struct listeners *list, const char *path, gid_t group)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return complain(path);
    }
    strcpy(address.sun_path, path);
    remove_stale(&address);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    mode_t mask = umask(group == (gid_t)-1 ? 0177 : 0117);
    bool good = fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0;
    umask(mask);
    if (good && group != (gid_t)-1 && lchown(path, (uid_t)-1, group) != 0)
        complain(path); /* not fatal: root and this user can use it */
    if (good && listen(fd, QUEUE) == 0)
        return add(list, fd, true);
    complain(path);
    if (fd >= 0)
        close(fd);
    return false;
}

/* Returns the number of sockets that systemd passed to this process. */
static int passed(void)
{
    const char *pid = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");
    return pid && count && atol(pid) == (long)getpid() ? atoi(count) : 0;
}

static bool take_passed(struct listeners *list, int count)
{
    for (int fd = FIRST_PASSED; fd < FIRST_PASSED + count; fd++) {
        int domain = -1, listens = 0;
        socklen_t size = sizeof domain;
        getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size);
        getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size);
        fcntl(fd, F_SETFD, FD_CLOEXEC);
        fcntl(fd, F_SETFL, O_NONBLOCK);
        if (!listens || list->count == LISTENERS_MOST ||
            !(domain == AF_UNIX ? add(list, fd, true) : take_port(list, fd))) {
            fputs("openperflib-serve: systemd may pass one TCP socket, of 127.0.0.1, and Unix "
                  "sockets; for other addresses use a reverse proxy\n",
                  stderr);
            return false;
        }
    }
    if (!list->port)
        fputs("openperflib-serve: systemd has passed no socket of 127.0.0.1; add one to the unit\n",
              stderr);
    return list->port != 0;
}

bool listen_begin(struct listeners *list, int64_t port, const char *path, bool needed, gid_t group)
{
    int count = passed();
    list->passed = count > 0;
    if (list->passed)
        return take_passed(list, count);
    if (!listen_port(list, port))
        return false;
    if (path && listen_path(list, path, group))
        list->path = path;
    return !path || list->path || !needed;
}

void listen_end(const struct listeners *list)
{
    if (list->path)
        unlink(list->path);
}
