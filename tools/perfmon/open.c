/* SPDX-License-Identifier: MIT */
/* perfmon serve and perfmon open: the page of openperflib-serve. */
#include "perfmon.h"

#include "../common/beside.h"
#include "../common/browser.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

enum { ANSWER_SIZE = 2048, ANSWER_SECONDS = 30 };

static int complain_of_package(void)
{
    fputs("perfmon: the page needs openperflib-serve, which is not here: install the package "
          "openperflib-serve\n",
          stderr);
    return EXIT_FAILED;
}

static bool is_installed(void)
{
    char path[4096];
    beside_path("openperflib-serve", path, sizeof path);
    return access(path, X_OK) == 0;
}

int serve_run(char **args)
{
    args[0] = (char *)"openperflib-serve";
    return is_installed() ? beside_run("perfmon", "openperflib-serve", args)
                          : complain_of_package();
}

/* Connects to the socket; -1: errno is the reason. */
static int connect_to(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const struct timeval timeout = {.tv_sec = ANSWER_SECONDS};
    if (strlen(path) >= sizeof address.sun_path)
        return errno = ENAMETOOLONG, -1;
    strcpy(address.sun_path, path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    if (connect(fd, (const struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    int error = errno;
    close(fd);
    return errno = error, -1;
}

/* Connects to the socket `named`; NULL: to this user's own server, or else to the system's. */
static int connect_to_any(const char *named)
{
    char own[4096];
    int fd = -1;
    if (named)
        return connect_to(named);
    if (browser_path(BROWSER_SOCKET, own, sizeof own))
        fd = connect_to(own);
    return fd >= 0 ? fd : connect_to(BROWSER_SYSTEM_SOCKET);
}

static int complain_of_socket(const char *named)
{
    int error = errno;
    bool none = error == ENOENT || error == ECONNREFUSED;
    if (named)
        fprintf(stderr, "perfmon: %s: %s\n", text_seen(named), strerror(error));
    else if (none && !is_installed())
        return complain_of_package();
    else if (none)
        fputs("perfmon: no server of the page runs: \"perfmon serve --open\" starts yours, "
              "\"sudo systemctl enable --now openperflib-serve.socket\" that of this machine\n",
              stderr);
    else if (error == EACCES)
        fputs("perfmon: the server of this machine answers root and the group openperflib: "
              "\"sudo adduser NAME openperflib\", then log in again\n",
              stderr);
    else
        fprintf(stderr, "perfmon: " BROWSER_SYSTEM_SOCKET ": %s\n", strerror(error));
    return EXIT_FAILED;
}

/* Requests a link from the server. False: the answer did not arrive. */
static bool request_link(int fd, char answer[ANSWER_SIZE])
{
    static const char text[] = "POST /api/link HTTP/1.1\r\nHost: localhost\r\n"
                               "Content-Length: 0\r\nConnection: close\r\n\r\n";
    size_t used = 0;
    ssize_t got = send(fd, text, sizeof text - 1, MSG_NOSIGNAL);
    while (got > 0 && used < ANSWER_SIZE - 1) {
        got = recv(fd, answer + used, ANSWER_SIZE - 1 - used, 0);
        used += got > 0 ? (size_t)got : 0;
    }
    answer[used] = '\0';
    return got == 0 && used;
}

/* Finds the link in an answer. Only an address of this machine is accepted. */
static bool read_link(const char *answer, char secret[44], char address[64])
{
    unsigned port;
    const char *at = strstr(answer, "\"secret\""), *to = strstr(answer, "\"address\"");
    bool good = at && to && sscanf(at, "\"secret\" : \"%43[A-Za-z0-9_-]\"", secret) == 1 &&
                sscanf(to, "\"address\" : \"http://127.0.0.1:%5u/", &port) == 1;
    if (good)
        snprintf(address, 64, "http://127.0.0.1:%u/", port);
    return good;
}

int open_run(const char *named, bool print)
{
    char answer[ANSWER_SIZE], secret[44], address[64];
    int fd = connect_to_any(named);
    if (fd < 0)
        return complain_of_socket(named);
    bool arrived = request_link(fd, answer);
    close(fd);
    const char *body = arrived ? strstr(answer, "\r\n\r\n") : NULL;
    int code = EXIT_FAILED;
    if (!body)
        fputs("perfmon: the server of the page does not answer\n", stderr);
    else if (!read_link(body, secret, address)) {
        const char *line = strtok(answer + (body - answer), "\r\n");
        fprintf(stderr, "perfmon: %s\n", line ? text_seen(line) : "the server gives no link");
    } else if (code = EXIT_GOOD, print || !browser_open(address, secret, getenv("LC_ALL"), true))
        printf("%s#%s\nThe link works once, within five minutes.\n", address, secret);
    else
        printf("The page is opened in the browser; \"perfmon open --print\" prints a link.\n");
    explicit_bzero(answer, sizeof answer);
    explicit_bzero(secret, sizeof secret);
    return code;
}
