/* SPDX-License-Identifier: MIT */
/* A Samba server of the benchmark's own, where there can be one; and what its clients cost. */
#include "remote.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t server;
static char machine[64];

static bool read_line(const char *path, const char *name, char *ret, size_t room)
{
    char line[256];
    FILE *file = fopen(path, "r");
    bool found = false;
    while (file && !found && fgets(line, sizeof line, file))
        if (!strncmp(line, name, strlen(name)) && line[strlen(name)] == '=') {
            line[strcspn(line, "\n")] = '\0';
            found = snprintf(ret, room, "%s", line + strlen(name) + 1) < (int)room;
        }
    if (file)
        fclose(file);
    return found;
}

static void write_credentials(const char *user, const char *password)
{
    char path[256];
    setenv("XDG_CONFIG_HOME", remote_folder, 1);
    snprintf(path, sizeof path, "%s/openperflib", remote_folder);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/openperflib/credentials", remote_folder);
    FILE *file = fopen(path, "w");
    if (!file)
        return;
    fprintf(file, "[*]\nuser = %s\npassword = %s\n", user, password);
    fclose(file);
    chmod(path, 0600);
}

static void become_samba(const char *folder)
{
    freopen("/dev/null", "w", stdout);
    execl(BENCH_DEMO_SAMBA, "demo-samba", "--build", BENCH_BUILD, folder, "240", (char *)NULL);
    _exit(77);
}

const char *samba_start(void)
{
    char folder[128], ready[160], port[16] = "", user[64], password[64];
    snprintf(folder, sizeof folder, "%s/samba", remote_folder);
    snprintf(ready, sizeof ready, "%s/ready", folder);
    fflush(NULL);
    server = fork();
    if (!server)
        become_samba(folder);
    for (int i = 0; i < 600 && !*port; i++) {
        usleep(100000);
        if (waitpid(server, NULL, WNOHANG) == server) {
            server = 0;
            break;
        }
        read_line(ready, "PORT", port, sizeof port);
    }
    if (!server || !*port || !read_line(ready, "SMBUSER", user, sizeof user) ||
        !read_line(ready, "SMBPASS", password, sizeof password)) {
        puts("  no Samba: scripts/demo-samba cannot start one here (it says why)");
        return NULL;
    }
    write_credentials(user, password);
    snprintf(machine, sizeof machine, "localhost:%s", port);
    return machine;
}

void samba_stop(void)
{
    if (server > 0) {
        kill(server, SIGTERM);
        waitpid(server, NULL, 0);
    }
    server = 0;
}

/* ---- its clients ---- */

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
