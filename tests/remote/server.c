/* SPDX-License-Identifier: MIT */
/* Shared by the tests of remote machines: the laboratory (a registry of the test with its
 * services), the server, and what providers noted. */
#include "server.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

char server_url[160], server_socket[128];
pid_t server_pid;
static bool by_socket;

/* A script that replaces ssh: it records its arguments, and then runs the server. */
static const char shell_text[] =
    "#!/bin/sh\n"
    "echo \"$*\" >>'%s/shell.log'\n"
    "while [ \"$1\" != -- ]; do shift; done\n"
    "case $2 in\n"
    "down) exit 255 ;;\n"
    "chatty) echo Welcome to this machine, it has a message of the day ;;\n"
    "esac\n"
    "[ \"$3\" = 'openperflib-winregd --stdio' ] || exit 2\n"
    "exec '%s' --stdio\n";

static void write_shell(void)
{
    char path[128];
    snprintf(path, sizeof path, "%s/shell", lab_root);
    FILE *file = fopen(path, "w");
    if (!file)
        abort();
    fprintf(file, shell_text, lab_root, getenv("WINREGD"));
    fclose(file);
    chmod(path, 0755);
    lab_set_text("SOFTWARE\\openperflib\\Remote", "Shell", path);
}

void server_lab(const char *collect)
{
    lab_open();
    lab_keep();
    chmod(lab_root, 0755);
    lab_register(&(struct lab_service){.name = "MyPerf",
                                       .library = getenv("RECORDER"),
                                       .open = "record_open",
                                       .collect = collect,
                                       .close = "record_close",
                                       .isolation = LAB_IN_PROCESS});
    write_shell();
    snprintf(server_socket, sizeof server_socket, "%s/socket", lab_root);
}

void server_lab_slow(bool there)
{
    if (there)
        lab_register(&(struct lab_service){.name = "Slow",
                                           .library = getenv("RECORDER"),
                                           .open = "record_open",
                                           .collect = "record_very_slow",
                                           .close = "record_close",
                                           .isolation = LAB_IN_PROCESS});
    else
        lab_unregister("Slow");
}

void server_way(const char *way)
{
    by_socket = strcmp(way, "unix") == 0;
    snprintf(server_url, sizeof server_url, by_socket ? "unix:%s" : "ssh://here", server_socket);
}

static bool answers(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path, server_socket);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    bool good = connect(fd, (struct sockaddr *)&address, sizeof address) == 0;
    close(fd);
    return good;
}

void server_start(void)
{
    if (!by_socket)
        return;
    server_pid = fork();
    if (!server_pid) {
        prctl(PR_SET_PDEATHSIG, SIGTERM); /* ends the server also if the test is aborted */
        execl(getenv("WINREGD"), "openperflib-winregd", "--socket", server_socket, (char *)NULL);
        _exit(127);
    }
    for (int i = 0; i < 1000 && !answers(); i++)
        usleep(10000);
}

void server_stop(void)
{
    if (!server_pid)
        return;
    kill(server_pid, SIGTERM);
    waitpid(server_pid, NULL, 0);
    server_pid = 0;
}

pid_t server_fork(int (*run)(void))
{
    fflush(NULL);
    pid_t pid = fork();
    if (!pid)
        _exit(run());
    return pid;
}

int server_join(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

pid_t server_notes(char *ret, size_t capacity)
{
    char *text = lab_read("notes"), what[64];
    int pid = 0, other, thread, used = 0;
    *ret = '\0';
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        if (sscanf(line, "%d %d %63s", &other, &thread, what) != 3)
            continue;
        pid = pid ? pid : other;
        if (other == pid && (size_t)used < capacity)
            used += snprintf(ret + used, capacity - (size_t)used, "%s%s", used ? ", " : "", what);
    }
    return pid;
}

void server_forget_notes(void)
{
    lab_remove("notes");
}

bool server_gone(pid_t pid)
{
    for (int i = 0; i < 1000; i++) {
        if (kill(pid, 0) && errno == ESRCH)
            return true;
        usleep(10000);
    }
    return false;
}
