/* SPDX-License-Identifier: MIT */
/* Scans the system for Samba, our library for Samba's series, the drop-in, and the processes that
 * have loaded the library. */
#include "samba.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SHIM_PREFIX "openperflib-samba-"
#define SHIM_FOLDER OPL_VENDOR_DIR "/samba"

static bool is_there(const char *root, const char *path)
{
    char whole[2 * SAMBA_PATH];
    struct stat st;
    snprintf(whole, sizeof whole, "%s%s", root, path);
    return stat(whole, &st) == 0;
}

/* ---- Samba ---- */

static void become(char *const *arguments, int output)
{
    int nowhere = open("/dev/null", O_RDWR);
    if (nowhere >= 0) {
        dup2(nowhere, 0);
        dup2(nowhere, 2);
    }
    dup2(output, 1);
    execvp(arguments[0], arguments);
    _exit(127);
}

int samba_run(char *const *arguments, char *output, unsigned capacity)
{
    int pair[2], status;
    unsigned used = 0;
    ssize_t count;
    char rest[256];
    if (pipe2(pair, O_CLOEXEC))
        return 127;
    pid_t pid = fork();
    if (pid == 0)
        become(arguments, pair[1]);
    close(pair[1]);
    while (used + 1 < capacity && (count = read(pair[0], output + used, capacity - used - 1)) > 0)
        used += (unsigned)count;
    while (read(pair[0], rest, sizeof rest) > 0)
        ;
    close(pair[0]);
    if (capacity)
        output[used] = '\0';
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return 127;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 127;
}

/* Reads the version that smbd prints, such as "Version 4.17.12-Debian". */
static void look_for_version(struct samba *samba)
{
    static const char *const paths[] = {"/usr/sbin/smbd", "/usr/local/samba/sbin/smbd"};
    char program[SAMBA_PATH + 64], reported[256];
    char version_word[] = "--version";
    char *arguments[] = {program, version_word, NULL};
    for (unsigned i = 0; i < sizeof paths / sizeof *paths; i++) {
        snprintf(program, sizeof program, "%s%s", samba->root, paths[i]);
        int major, minor;
        if (samba_run(arguments, reported, sizeof reported) ||
            sscanf(reported, "Version %63s", samba->version) != 1)
            continue;
        if (sscanf(samba->version, "%d.%d", &major, &minor) == 2 && major >= 0 && major < 100 &&
            minor >= 0 && minor < 1000)
            snprintf(samba->series, sizeof samba->series, "%d.%d", major, minor);
        return;
    }
}

static void look_for_unit(struct samba *samba)
{
    static const char *const units[] = {"smbd.service", "smb.service"};
    static const char *const folders[] = {"/etc", "/usr/lib", "/lib"};
    char path[128];
    snprintf(samba->unit, sizeof samba->unit, "%s", units[0]);
    for (unsigned i = 0; i < 2; i++)
        for (unsigned j = 0; j < 3; j++) {
            snprintf(path, sizeof path, "%s/systemd/system/%s", folders[j], units[i]);
            if (samba->has_unit || !is_there(samba->root, path))
                continue;
            samba->has_unit = true;
            snprintf(samba->unit, sizeof samba->unit, "%s", units[i]);
        }
}

/* ---- our files ---- */

static void list_series(struct samba *samba, const char *folder)
{
    struct dirent *entry;
    DIR *directory = opendir(folder);
    while (directory && (entry = readdir(directory))) {
        size_t count = strlen(entry->d_name), prefix = sizeof SHIM_PREFIX - 1;
        size_t used = strlen(samba->made_for);
        if (count <= prefix + 3 || strncmp(entry->d_name, SHIM_PREFIX, prefix) != 0 ||
            strcmp(entry->d_name + count - 3, ".so") != 0)
            continue;
        snprintf(samba->made_for + used, sizeof samba->made_for - used, "%s%.*s", used ? ", " : "",
                 (int)(count - prefix - 3), entry->d_name + prefix);
    }
    if (directory)
        closedir(directory);
}

static void look_into(struct samba *samba, const char *folder)
{
    char whole[2 * SAMBA_PATH];
    snprintf(whole, sizeof whole, "%s%s", samba->root, folder);
    list_series(samba, whole);
    int count =
        snprintf(samba->shim, sizeof samba->shim, "%s/" SHIM_PREFIX "%s.so", folder, samba->series);
    samba->has_shim =
        count < (int)sizeof samba->shim && *samba->series && is_there(samba->root, samba->shim);
}

/* Finds the installed libraries for Samba; if there are none, those of the build folder from which
 * this program runs. */
static void look_for_shims(struct samba *samba)
{
    char folder[SAMBA_PATH / 2], installed[SAMBA_PATH];
    const char *vendor = secure_getenv("OPENPERFLIB_VENDOR");
    look_into(samba, SHIM_FOLDER);
    if (*samba->made_for || *samba->root || !vendor || *vendor != '/' ||
        snprintf(folder, sizeof folder, "%s/samba", vendor) >= (int)sizeof folder)
        return;
    snprintf(installed, sizeof installed, "%s", samba->shim);
    look_into(samba, folder);
    samba->is_built = *samba->made_for;
    if (!samba->is_built)
        snprintf(samba->shim, sizeof samba->shim, "%s", installed);
}

static void look_at_drop_in(struct samba *samba)
{
    char text[4096], wanted[SAMBA_PATH + 32];
    snprintf(samba->drop_in, sizeof samba->drop_in, "%s/etc/systemd/system/%s.d/openperflib.conf",
             samba->root, samba->unit);
    FILE *file = fopen(samba->drop_in, "re");
    samba->has_drop_in = file != NULL;
    if (!file)
        return;
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    snprintf(wanted, sizeof wanted, "LD_PRELOAD=%s\n", samba->shim);
    samba->is_ours = strstr(text, "# openperflib-samba") == text;
    samba->is_this_shim = strstr(text, wanted) != NULL;
}

/* ---- processes that have loaded the library ---- */

/* Finds the first line of /proc/PID/NAME that contains `part`; false: none. */
static bool find_line(const char *pid, const char *name, const char *part, char *ret,
                      size_t capacity)
{
    char path[300];
    bool found = false;
    snprintf(path, sizeof path, "/proc/%s/%s", pid, name);
    FILE *file = fopen(path, "re");
    while (file && !found && fgets(ret, (int)capacity, file))
        found = strstr(ret, part) != NULL;
    if (file)
        fclose(file);
    ret[found ? strcspn(ret, "\n") : 0] = '\0';
    return found;
}

/* Has the process mapped a file with the library's name? Only root may read other users' maps. */
static bool is_user(const char *pid, const char *unit, struct samba_user *ret)
{
    char line[2 * SAMBA_PATH], part[64];
    if (!find_line(pid, "maps", "/" SHIM_PREFIX, line, sizeof line))
        return false;
    *ret = (struct samba_user){.pid = atoi(pid)};
    const char *path = strchr(line, '/');
    snprintf(ret->path, sizeof ret->path, "%.*s", SAMBA_PATH - 1, path ? path : "");
    find_line(pid, "comm", "", ret->name, sizeof ret->name);
    snprintf(part, sizeof part, "/%s", unit);
    ret->of_unit = find_line(pid, "cgroup", part, line, sizeof line);
    return true;
}

static void look_for_user(struct samba *samba)
{
    struct dirent *entry;
    struct samba_user user;
    DIR *directory = opendir("/proc");
    while (directory && !samba->user.of_unit && (entry = readdir(directory)))
        if (*entry->d_name >= '1' && *entry->d_name <= '9' &&
            is_user(entry->d_name, samba->unit, &user) && (!samba->user.pid || user.of_unit))
            samba->user = user;
    if (directory)
        closedir(directory);
    bool counts = samba->user.of_unit || !samba->is_live;
    samba->is_hidden = !samba->user.pid && geteuid() != 0;
    samba->is_loaded = counts && samba->user.pid && !strcmp(samba->user.path, samba->shim);
}

bool samba_look(const char *root, struct samba *ret)
{
    *ret = (struct samba){.root = strcmp(root, "/") ? root : ""};
    if (strlen(root) > SAMBA_PATH / 2)
        return false;
    look_for_version(ret);
    look_for_unit(ret);
    look_for_shims(ret);
    look_at_drop_in(ret);
    ret->is_live = !*ret->root && is_there("", "/run/systemd/system");
    if (!*ret->root)
        look_for_user(ret);
    return true;
}

const char *samba_firewall(const struct samba *samba)
{
    if (is_there(samba->root, "/usr/sbin/ufw"))
        return "ufw allow from NETWORK to any port 445 proto tcp";
    if (is_there(samba->root, "/usr/bin/firewall-cmd"))
        return "firewall-cmd --permanent --add-service=samba && firewall-cmd --reload";
    if (is_there(samba->root, "/usr/sbin/nft"))
        return "nft add rule inet filter input ip saddr NETWORK tcp dport 445 accept";
    return "allow TCP port 445, only for the networks that may query";
}
