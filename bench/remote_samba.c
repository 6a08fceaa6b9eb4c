/* SPDX-License-Identifier: MIT */
/* Starts Samba servers for the benchmark, if possible, and measures the programs that read from
 * them. */
#include "remote.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct server {
    pid_t pid;
    char name[64]; /* name of the machine */
} servers[SAMBA_MOST];
static int started;

static bool read_line(const char *path, const char *name, char *ret, size_t capacity)
{
    char line[256];
    FILE *file = fopen(path, "r");
    bool found = false;
    while (file && !found && fgets(line, sizeof line, file))
        if (!strncmp(line, name, strlen(name)) && line[strlen(name)] == '=') {
            line[strcspn(line, "\n")] = '\0';
            found = snprintf(ret, capacity, "%s", line + strlen(name) + 1) < (int)capacity;
        }
    if (file)
        fclose(file);
    return found;
}

/* Adds a section to the credentials file: each server has its own password. */
static void add_credentials(const char *name, const char *user, const char *password)
{
    char path[256];
    setenv("XDG_CONFIG_HOME", remote_folder, 1);
    snprintf(path, sizeof path, "%s/openperflib", remote_folder);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/openperflib/credentials", remote_folder);
    FILE *file = fopen(path, "a");
    if (!file)
        return;
    fchmod(fileno(file), 0600);
    fprintf(file, "[%s]\nuser = %s\npassword = %s\n", name, user, password);
    fclose(file);
}

static void become_samba(const char *folder)
{
    freopen("/dev/null", "w", stdout);
    execl(BENCH_DEMO_SAMBA, "demo-samba", "--build", BENCH_BUILD, folder, "600", (char *)NULL);
    _exit(77);
}

static void folder_of(int number, char *ret, size_t capacity)
{
    snprintf(ret, capacity, "%s/samba%d", remote_folder, number);
}

static void begin_server(int number)
{
    char folder[128];
    folder_of(number, folder, sizeof folder);
    fflush(NULL);
    servers[number].pid = fork();
    if (!servers[number].pid)
        become_samba(folder);
}

/* Waits until the server is ready. Returns false if it ended or did not write its port and
 * login. */
static bool await_server(int number)
{
    struct server *one = &servers[number];
    char folder[128], ready[160], port[16] = "", user[64], password[64];
    folder_of(number, folder, sizeof folder);
    snprintf(ready, sizeof ready, "%s/ready", folder);
    for (int i = 0; i < 600 && one->pid > 0 && !*port; i++) {
        usleep(100000);
        if (waitpid(one->pid, NULL, WNOHANG) == one->pid)
            one->pid = 0;
        read_line(ready, "PORT", port, sizeof port);
    }
    if (one->pid <= 0 || !*port || !read_line(ready, "SMBUSER", user, sizeof user) ||
        !read_line(ready, "SMBPASS", password, sizeof password))
        return false;
    snprintf(one->name, sizeof one->name, "localhost:%s", port);
    add_credentials(one->name, user, password);
    return true;
}

static void end_server(struct server *one)
{
    if (one->pid > 0) {
        kill(one->pid, SIGTERM);
        waitpid(one->pid, NULL, 0);
    }
    one->pid = 0;
}

/* Starts a few servers at a time, because each starts with a second of work. A server that fails to
 * start is left out. */
int samba_start(int count)
{
    enum { AT_ONCE = 5 };
    while (started < count) {
        int begun = started, last = started + AT_ONCE < count ? started + AT_ONCE : count;
        for (int i = begun; i < last; i++)
            begin_server(i);
        for (int i = begun; i < last; i++) {
            if (!await_server(i))
                end_server(&servers[i]);
            else if (i > started)
                servers[started++] = servers[i];
            else
                started++;
        }
        if (started == begun)
            break;
    }
    if (!started)
        puts("  no Samba: scripts/demo-samba cannot start one here (its output has the reason)");
    return started;
}

const char *samba_name(int number)
{
    return servers[number].name;
}

void samba_stop(void)
{
    while (started > 0)
        end_server(&servers[--started]);
}

/* ---- their clients ---- */

static bool is_client(const char *pid)
{
    char path[64], name[32] = "";
    snprintf(path, sizeof path, "/proc/%.20s/comm", pid);
    FILE *file = fopen(path, "r");
    if (file && fgets(name, sizeof name, file))
        name[strcspn(name, "\n")] = '\0';
    if (file)
        fclose(file);
    return !strcmp(name, "openperflib-smb");
}

static double cpu_us_of(const char *pid)
{
    char path[64], text[1024] = "";
    unsigned long user = 0, system = 0;
    snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
    FILE *file = fopen(path, "r");
    if (file && fgets(text, sizeof text, file) && strrchr(text, ')'))
        sscanf(strrchr(text, ')') + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
               &user, &system);
    if (file)
        fclose(file);
    return (double)(user + system) * 1e6 / (double)sysconf(_SC_CLK_TCK);
}

static double mb_of(const char *pid)
{
    char path[64], line[256];
    unsigned long kib = 0;
    snprintf(path, sizeof path, "/proc/%.20s/smaps_rollup", pid);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "Pss: %lu", &kib) == 1)
            break;
    if (file)
        fclose(file);
    return (double)kib / 1024;
}

void samba_clients(double *ret_cpu_us, double *ret_mb)
{
    DIR *proc = opendir("/proc");
    struct dirent *entry;
    *ret_cpu_us = *ret_mb = 0;
    while (proc && (entry = readdir(proc)))
        if (strspn(entry->d_name, "0123456789") == strlen(entry->d_name) &&
            is_client(entry->d_name)) {
            *ret_cpu_us += cpu_us_of(entry->d_name);
            *ret_mb += mb_of(entry->d_name);
        }
    if (proc)
        closedir(proc);
}
