/* SPDX-License-Identifier: MIT */
/* The sockets, opened here or by systemd: for the page a Unix socket, and 127.0.0.1 as the only
 * address; for metrics one address, which is another machine's only if the user says so. */
#include "serve.h"

#include "../view/text.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { QUEUE = 64, FIRST_PASSED = 3 /* descriptor of the first socket from systemd */ };

/* `free`: how to choose another address if another program uses this one */
static bool complain(const char *what, const char *free)
{
    fprintf(stderr, "openperflib-serve: %s: %s%s\n", text_seen(what), strerror(errno),
            errno == EADDRINUSE ? free : "");
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
    static const char free[] = "; choose another port by --port N, or any free one by --port 0";
    char what[64];
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int yes = 1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    snprintf(what, sizeof what, "127.0.0.1, port %lld", (long long)port);
    if (fd < 0)
        return complain(what, free);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(fd, (struct sockaddr *)&address, sizeof address) == 0 && listen(fd, QUEUE) == 0 &&
        take_port(list, fd))
        return true;
    complain(what, free);
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
    static const char free[] =
        "; this server has no Unix socket: choose a free path by --socket PATH";
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return complain(path, free);
    }
    strcpy(address.sun_path, path);
    remove_stale(&address);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    mode_t mask = umask(group == (gid_t)-1 ? 0177 : 0117);
    bool good = fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0;
    umask(mask);
    if (good && group != (gid_t)-1 && lchown(path, (uid_t)-1, group) != 0)
        complain(path, free); /* not fatal: root and this user can use it */
    if (good && listen(fd, QUEUE) == 0)
        return add(list, fd, true);
    complain(path, free);
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

/* ---- metrics ---- */

static bool is_loopback(const struct sockaddr *address)
{
    const struct sockaddr_in *four = (const void *)address;
    const struct sockaddr_in6 *six = (const void *)address;
    if (address->sa_family == AF_INET)
        return ntohl(four->sin_addr.s_addr) >> 24 == 127;
    return address->sa_family == AF_UNIX ||
           (address->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&six->sin6_addr));
}

static bool refuse_others(const char *what)
{
    fprintf(stderr,
            "openperflib-serve: %s: other machines could read the metrics, without a password and "
            "unencrypted; give a certificate by --web.config.file, listen to 127.0.0.1, or add "
            "--insecure\n",
            text_seen(what));
    return false;
}

/* Splits "PORT", "HOST:PORT" or "[HOST]:PORT" and looks it up. */
static bool find_address(const char *text, struct addrinfo **ret)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    char host[256] = "127.0.0.1";
    const char *colon = strrchr(text, ':'), *port = colon ? colon + 1 : text;
    bool bracket = *text == '[' && colon && colon > text && colon[-1] == ']';
    if (colon)
        snprintf(host, sizeof host, "%.*s", (int)(colon - text - 2 * bracket), text + bracket);
    bool is_port = *port && strlen(port) == strspn(port, "0123456789") && strlen(port) <= 5 &&
                   atoi(port) <= UINT16_MAX;
    int error = is_port ? getaddrinfo(*host ? host : NULL, port, &hints, ret) : EAI_SERVICE;
    if (error)
        fprintf(stderr,
                "openperflib-serve: --metrics %s: %s; expected PORT, HOST:PORT or [ADDRESS]:PORT\n",
                text_seen(text), gai_strerror(error));
    return !error;
}

static bool take_passed_metrics(struct listeners *list, int count, bool insecure)
{
    for (int fd = FIRST_PASSED; fd < FIRST_PASSED + count && list->count < LISTENERS_MOST; fd++) {
        struct sockaddr_storage address = {0};
        socklen_t size = sizeof address;
        getsockname(fd, (struct sockaddr *)&address, &size);
        fcntl(fd, F_SETFD, FD_CLOEXEC);
        fcntl(fd, F_SETFL, O_NONBLOCK);
        if (!insecure && !is_loopback((struct sockaddr *)&address))
            return refuse_others("the socket from systemd");
        add(list, fd, address.ss_family == AF_UNIX);
    }
    return true;
}

/* Writes the metrics' address; for a socket of all addresses, the one of this machine. */
static void write_link(struct listeners *list, const struct sockaddr *address, socklen_t size)
{
    char host[64] = "";
    getnameinfo(address, size, host, sizeof host, NULL, 0, NI_NUMERICHOST);
    bool all = !strcmp(host, "0.0.0.0") || !strcmp(host, "::"), six = strchr(host, ':');
    snprintf(list->link, sizeof list->link,
             six && !all ? "http://[%s]:%u/metrics" : "http://%s:%u/metrics",
             all ? "localhost" : host, list->port);
}

bool listen_metrics(struct listeners *list, const char *text, bool insecure)
{
    const int yes = 1;
    struct addrinfo *found;
    int count = passed();
    list->passed = count > 0;
    if (list->passed)
        return take_passed_metrics(list, count, insecure);
    if (!find_address(text, &found))
        return false;
    bool allowed = insecure || is_loopback(found->ai_addr);
    int fd = allowed ? socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0) : -1;
    if (fd >= 0)
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    bool good =
        fd >= 0 && bind(fd, found->ai_addr, found->ai_addrlen) == 0 && listen(fd, QUEUE) == 0;
    struct sockaddr_storage address = {0};
    socklen_t size = sizeof address;
    if (good) {
        getsockname(fd, (struct sockaddr *)&address,
                    &size); /* IPv6 has its port at the same place */
        list->port = ntohs(((struct sockaddr_in *)&address)->sin_port);
        write_link(list, (struct sockaddr *)&address, size);
        add(list, fd, false);
    } else if (allowed) {
        complain(text, "; choose another port, or any free one by port 0");
    } else {
        refuse_others(text);
    }
    if (!good && fd >= 0)
        close(fd);
    freeaddrinfo(found);
    return good;
}

void listen_end(const struct listeners *list)
{
    if (list->path)
        unlink(list->path);
}
