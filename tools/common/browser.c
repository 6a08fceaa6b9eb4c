/* SPDX-License-Identifier: MIT */
/* Opens the page of openperflib-serve in a browser. */
#include "browser.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH_SIZE = 4096 };

/* $0: the file. $1: a word for each tenth of a second to wait for xdg-open, which may run until
 * the browser ends. $2: LC_ALL of the browser; "": not set. */
static const char script[] =
    "if [ \"$2\" ]; then LC_ALL=$2; else unset LC_ALL; fi; (sleep 20; rm -f -- \"$0\") & xdg-open "
    "\"$0\" & "
    "for i in $1; do kill -0 $! 2>/dev/null || { wait $!; exit; }; sleep 0.1; done";

bool browser_path(const char *name, char *ret, size_t capacity)
{
    const char *folder = getenv("XDG_RUNTIME_DIR");
    struct stat facts;
    return folder && *folder == '/' && stat(folder, &facts) == 0 && facts.st_uid == geteuid() &&
           !(facts.st_mode & 077) && snprintf(ret, capacity, "%s/%s", folder, name) < (int)capacity;
}

/* Writes a file with a page that leads to the address; `path` becomes the file's path. */
static bool write_file(const char *address, const char *secret, char *path, size_t capacity)
{
    if (!browser_path("openperflib-open-XXXXXX.html", path, capacity))
        return false;
    int fd = mkostemps(path, (int)strlen(".html"), O_CLOEXEC); /* mode 0600 */
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (!file)
        return false;
    fprintf(
        file,
        "<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\">"
        "<meta http-equiv=\"refresh\" content=\"0;url=%s#%s\"><title>perfmon</title>\n",
        address, secret);
    return fclose(file) == 0 || (unlink(path), false);
}

/* Runs the script in a new session, so that Ctrl+C in this terminal does not end the browser. */
static bool run_script(char *path, const char *language, bool wait)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, pipe;
    pid_t child;
    int state = 0;
    sigemptyset(&none);
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &pipe);
    posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawn_file_actions_init(&actions);
    for (int fd = 0; fd < 3; fd++)
        posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
    char *args[] = {"sh",
                    "-c",
                    (char *)script,
                    path,
                    wait ? "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20" : "",
                    (char *)(language ? language : ""),
                    NULL};
    bool good = !posix_spawn(&child, "/bin/sh", &actions, &attributes, args, environ) &&
                waitpid(child, &state, 0) == child && WIFEXITED(state) && !WEXITSTATUS(state);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return good;
}

static bool is_set(const char *variable)
{
    const char *value = getenv(variable);
    return value && *value;
}

bool browser_open(const char *address, const char *secret, const char *language, bool wait)
{
    char path[PATH_SIZE];
    return (is_set("DISPLAY") || is_set("WAYLAND_DISPLAY")) &&
           write_file(address, secret, path, sizeof path) && run_script(path, language, wait);
}
