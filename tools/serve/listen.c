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

union address {
    struct sockaddr any;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
    struct sockaddr_un local;
};

/* `free`: how to choose another address if another program uses this one */
static bool complain(const char *what, const char *free)
{
    fprintf(stderr, "openperflib-serve: %s: %s%s\n", text_seen(what), strerror(errno),
            errno == EADDRINUSE ? free : "");
    return false;
}

static union address address_of(int fd)
{
    union address address = {0};
    socklen_t size = sizeof address;
    getsockname(fd, &address.any, &size);
    return address;
}

static void add(struct listeners *list, int fd)
{
    union address address = address_of(fd);
    bool local = address.any.sa_family == AF_UNIX;
    list->all[list->count++] = (struct listener){fd, local};
    if (!local)
        list->port = ntohs(address.four.sin_port); /* IPv6 has its port at the same place */
}

/* Adds a socket that listens to the address. False: errno says why. */
static bool listen_at(struct listeners *list, const struct sockaddr *address, socklen_t size)
{
    const int yes = 1;
    int fd = socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return false;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(fd, address, size) != 0 || listen(fd, QUEUE) != 0) {
        int error = errno;
        close(fd);
        errno = error;
        return false;
    }
    add(list, fd);
    return true;
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
    mode_t mask = umask(group == (gid_t)-1 ? 0177 : 0117);
    bool good = listen_at(list, (const struct sockaddr *)&address, sizeof address);
    umask(mask);
    /* a failure of lchown is not fatal: root and this user can use the socket */
    if (!good || (group != (gid_t)-1 && lchown(path, (uid_t)-1, group) != 0))
        complain(path, free);
    return good;
}

/* Returns the number of sockets that systemd passed to this process. */
static int passed(void)
{
    const char *pid = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");
    return pid && count && atol(pid) == (long)getpid() ? atoi(count) : 0;
}

/* Takes the sockets that systemd passed. False, after a message: `is_allowed` refuses one. */
static bool take_passed(struct listeners *list, bool (*is_allowed)(const union address *address))
{
    list->passed = true;
    for (int fd = FIRST_PASSED; fd < FIRST_PASSED + passed(); fd++) {
        union address address = address_of(fd);
        int listens = 0;
        socklen_t size = sizeof listens;
        getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size);
        if (!listens || list->count == LISTENERS_MOST) {
            fprintf(stderr,
                    "openperflib-serve: systemd may pass sockets that listen, at most %d of them\n",
                    LISTENERS_MOST);
            return false;
        }
        if (is_allowed && !is_allowed(&address))
            return false;
        fcntl(fd, F_SETFD, FD_CLOEXEC);
        fcntl(fd, F_SETFL, O_NONBLOCK);
        add(list, fd);
    }
    return true;
}

static bool is_for_page(const union address *address)
{
    bool good = address->any.sa_family == AF_UNIX ||
                (address->any.sa_family == AF_INET &&
                 address->four.sin_addr.s_addr == htonl(INADDR_LOOPBACK));
    if (!good)
        fputs("openperflib-serve: systemd may pass one TCP socket, of 127.0.0.1, and Unix "
              "sockets; for other addresses use a reverse proxy\n",
              stderr);
    return good;
}

bool listen_begin(struct listeners *list, int64_t port, const char *path, bool needed, gid_t group)
{
    const struct sockaddr_in address = {.sin_family = AF_INET,
                                        .sin_port = htons((uint16_t)port),
                                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    char what[64];
    if (passed()) {
        bool good = take_passed(list, is_for_page);
        if (good && !list->port)
            fputs("openperflib-serve: systemd has passed no socket of 127.0.0.1; add one to the "
                  "unit\n",
                  stderr);
        return good && list->port;
    }
    snprintf(what, sizeof what, "127.0.0.1, port %lld", (long long)port);
    if (!listen_at(list, (const struct sockaddr *)&address, sizeof address))
        return complain(what, "; choose another port by --port N, or any free one by --port 0");
    if (path && listen_path(list, path, group))
        list->path = path;
    return !path || list->path || !needed;
}

/* ---- metrics ---- */

static bool is_loopback(const union address *address)
{
    return address->any.sa_family == AF_INET    ? ntohl(address->four.sin_addr.s_addr) >> 24 == 127
           : address->any.sa_family == AF_INET6 ? IN6_IS_ADDR_LOOPBACK(&address->six.sin6_addr)
                                                : address->any.sa_family == AF_UNIX;
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

static bool is_for_metrics(const union address *address)
{
    return is_loopback(address) || refuse_others("the socket from systemd");
}

/* Splits "PORT", "HOST:PORT" or "[HOST]:PORT" and looks it up. Returns an exit code. */
static int find_address(const char *text, struct addrinfo **ret)
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
    return !is_port ? EXIT_USAGE : error ? EXIT_FAILED : EXIT_GOOD;
}

/* Writes the metrics' address; for a socket of all addresses, the one of this machine. */
static void write_link(struct listeners *list)
{
    char host[64] = "";
    union address address = address_of(list->all[0].fd);
    getnameinfo(&address.any, sizeof address, host, sizeof host, NULL, 0, NI_NUMERICHOST);
    bool all = !strcmp(host, "0.0.0.0") || !strcmp(host, "::"), six = strchr(host, ':');
    snprintf(list->link, sizeof list->link,
             six && !all ? "http://[%s]:%u/metrics" : "http://%s:%u/metrics",
             all ? "localhost" : host, list->port);
}

int listen_metrics(struct listeners *list, const char *text, bool insecure)
{
    struct addrinfo *found;
    if (passed())
        return take_passed(list, insecure ? NULL : is_for_metrics) ? EXIT_GOOD : EXIT_FAILED;
    int code = find_address(text, &found);
    if (code)
        return code;
    if (!insecure && !is_loopback((const union address *)found->ai_addr)) {
        refuse_others(text);
        code = EXIT_USAGE;
    } else if (!listen_at(list, found->ai_addr, found->ai_addrlen)) {
        complain(text, "; choose another port, or any free one by port 0");
        code = EXIT_FAILED;
    } else {
        write_link(list);
    }
    freeaddrinfo(found);
    return code;
}

void listen_end(const struct listeners *list)
{
    if (list->path)
        unlink(list->path);
}
