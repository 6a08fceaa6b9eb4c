/* SPDX-License-Identifier: MIT */
/* Finds out whether the server's user lacks rights for some counters, and which command helps. */
#include "serve.h"

#include "../common/beside.h"

#include <errno.h>
#include <grp.h>
#include <linux/magic.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define FOLDER "/sys/fs/bpf"

/* True if the group openperflib may enter the folder, as after openperflib-bpf pin --grant. */
static bool is_granted(void)
{
    const struct group *group = getgrnam("openperflib");
    struct stat facts;
    return group && stat(FOLDER, &facts) == 0 &&
           ((facts.st_gid == group->gr_gid && (facts.st_mode & 010)) || (facts.st_mode & 01));
}

bool rights_missing(char *command, size_t capacity)
{
    struct statfs place;
    char path[4096];
    /* returns false for root, on a system without BPF (as in containers), and if the records can be
     * read */
    if (geteuid() == 0 || access("/sys/kernel/btf/vmlinux", R_OK) != 0 ||
        statfs(FOLDER, &place) != 0 || (uint32_t)place.f_type != BPF_FS_MAGIC ||
        access(FOLDER "/openperflib/processes", R_OK) == 0)
        return false;
    bool denied = errno == EACCES && is_granted();
    const struct passwd *user = denied ? getpwuid(geteuid()) : NULL;
    beside_path("openperflib-bpf", path, sizeof path);
    if (user)
        snprintf(command, capacity, "sudo adduser %s openperflib", user->pw_name);
    else
        snprintf(command, capacity, "%s",
                 access(path, X_OK) == 0 ? "sudo systemctl enable --now openperflib-bpf"
                                         : "sudo apt install openperflib-bpf");
    return true;
}
