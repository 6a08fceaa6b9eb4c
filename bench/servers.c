/* SPDX-License-Identifier: MIT */
/* Starts servers of other monitoring systems, each on a free port of 127.0.0.1, measures their CPU
 * time, and ends them by their process numbers. */
#include "peers.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_PROCESSES = 8, LONGEST_SECONDS = 1800, TRIES = 100, TRY_US = 50000 };

static struct running {
    const char *command; /* %d is replaced by the port */
    pid_t pids[MOST_PROCESSES];
    int count, port;
} servers[] = {
    [SERVER_PMCD] = {.command = "exec \"$PEERS/bin/pmcd\" -p %d"},
    [SERVER_NODE_EXPORTER] = {.command = "exec \"$PEERS/bin/node_exporter\" --collector.processes "
                                         "--web.listen-address=127.0.0.1:%d"},
};

/* ---- sockets ---- */

static struct sockaddr_in address_of(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

/* Returns a free port; 0: none. */
static int free_port(void)
{
    struct sockaddr_in address = address_of(0);
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool bound = fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0 &&
                 getsockname(fd, (struct sockaddr *)&address, &size) == 0;
    if (fd >= 0)
        close(fd);
    return bound ? ntohs(address.sin_port) : 0;
}

static int connect_to(int port)
{
    struct sockaddr_in address = address_of(port);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

bool server_scrape(const char *path)
{
    static char text[1 << 16];
    bool good = false;
    int fd = connect_to(servers[SERVER_NODE_EXPORTER].port);
    if (fd < 0)
        return false;
    int length = snprintf(text, sizeof text, "GET %s HTTP/1.0\r\n\r\n", path);
    if (write(fd, text, (size_t)length) == length)
        for (ssize_t got; (got = read(fd, text, sizeof text - 1)) > 0; good = true)
            if (!good && strncmp(text, "HTTP/1.0 200", 12) != 0)
                break;
    close(fd);
    return good;
}

/* ---- processes ---- */

static pid_t parent_of(pid_t pid)
{
    char path[32], text[512];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
    text[length] = 0;
    if (file)
        fclose(file);
    const char *at = strrchr(text, ')');
    return at && strlen(at) > 4 ? atoi(at + 4) : 0;
}

static bool is_one_of(const struct running *server, pid_t pid)
{
    for (int i = 0; i < server->count; i++)
        if (server->pids[i] == pid)
            return true;
    return false;
}

/* Adds the server's agents: its children, their children, and the children of those. */
static void find_processes(struct running *server)
{
    for (int generation = 0; generation < 3; generation++) {
        DIR *proc = opendir("/proc");
        for (struct dirent *entry; proc && (entry = readdir(proc));) {
            pid_t pid = atoi(entry->d_name);
            if (pid > 0 && server->count < MOST_PROCESSES && !is_one_of(server, pid) &&
                is_one_of(server, parent_of(pid)))
                server->pids[server->count++] = pid;
        }
        if (proc)
            closedir(proc);
    }
}

static double process_us(pid_t pid)
{
    char path[300];
    double us = 0, ns;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *tasks = opendir(path);
    for (struct dirent *entry; tasks && (entry = readdir(tasks));) {
        snprintf(path, sizeof path, "/proc/%d/task/%s/schedstat", (int)pid, entry->d_name);
        FILE *file = entry->d_name[0] == '.' ? NULL : fopen(path, "re");
        if (file && fscanf(file, "%lf", &ns) == 1)
            us += ns / 1000;
        if (file)
            fclose(file);
    }
    if (tasks)
        closedir(tasks);
    return us;
}

double server_us(enum server which)
{
    double us = 0;
    for (int i = 0; i < servers[which].count; i++)
        us += process_us(servers[which].pids[i]);
    return us;
}

/* ---- starting and ending ---- */

static void run_server(const struct running *server)
{
    char line[256];
    snprintf(line, sizeof line, server->command, server->port);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    alarm(LONGEST_SECONDS);
    if (freopen("/dev/null", "w", stdout) && freopen("/dev/null", "w", stderr))
        execl("/bin/sh", "sh", "-c", line, (char *)NULL);
    _exit(127);
}

bool server_start(enum server which)
{
    struct running *server = &servers[which];
    if (which == SERVER_NONE || server->count > 0)
        return true;
    server->port = free_port();
    fflush(NULL);
    pid_t pid = server->port ? fork() : -1;
    if (pid < 0)
        return false;
    if (pid == 0)
        run_server(server);
    for (int i = 0; i < TRIES && waitpid(pid, NULL, WNOHANG) == 0; i++, usleep(TRY_US)) {
        int fd = connect_to(server->port);
        if (fd < 0)
            continue;
        close(fd);
        server->pids[server->count++] = pid;
        find_processes(server);
        return true;
    }
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    return false;
}

void server_stop(void)
{
    for (size_t i = 0; i < COUNT(servers); i++) {
        if (servers[i].count == 0)
            continue;
        kill(servers[i].pids[0], SIGTERM); /* the agents end with the server */
        waitpid(servers[i].pids[0], NULL, 0);
        servers[i].count = 0;
    }
}
