/* SPDX-License-Identifier: MIT */
/*
 * Who may read: root, the server's own user, and whom the lists name. Two values "Access" hold such
 * lists, one gates the machine (SecurePipeServers\winreg), one its counters (Perflib); where both
 * are, one must be in both. Where there is none, it is the group "openperflib". (KB 155363, 146906)
 */
#include "remote/winregd.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef SO_PEERGROUPS
#define SO_PEERGROUPS 59
#endif
enum { MOST_GROUPS = 65536, LIST_BYTES = 64 << 10 };

/* ---- who ---- */

void peer_done(struct peer *peer)
{
    free(peer->groups);
    *peer = (struct peer){0};
}

static bool add_group(struct peer *peer, gid_t group)
{
    gid_t *groups = reallocarray(peer->groups, peer->group_count + 1, sizeof *groups);
    if (!groups)
        return false;
    groups[peer->group_count++] = group;
    peer->groups = groups;
    return true;
}

/* The kernel tells how many bytes it needs. */
static bool read_groups_of_socket(int fd, struct peer *peer)
{
    socklen_t size = 0;
    if (!getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, NULL, &size) || errno != ERANGE)
        return true; /* none; or a kernel before 4.13: the primary group alone */
    if (size > MOST_GROUPS * sizeof(gid_t))
        return false;
    size_t count = size / sizeof(gid_t);
    gid_t *groups = reallocarray(peer->groups, peer->group_count + count, sizeof *groups);
    if (!groups)
        return false;
    peer->groups = groups;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups + peer->group_count, &size))
        return false;
    peer->group_count += count;
    return true;
}

bool peer_of_socket(int fd, struct peer *ret)
{
    struct ucred who;
    socklen_t size = sizeof who;
    *ret = (struct peer){0};
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) || size != sizeof who)
        return false;
    ret->uid = who.uid;
    return add_group(ret, who.gid) && read_groups_of_socket(fd, ret);
}

/* A process behind a stream is whoever started it; ssh has asked who that is. */
bool peer_of_process(struct peer *ret)
{
    *ret = (struct peer){.uid = getuid()};
    return add_group(ret, getgid());
}

/* ---- the lists ---- */

static bool has_group(const struct peer *peer, gid_t group)
{
    for (size_t i = 0; i < peer->group_count; i++)
        if (peer->groups[i] == group)
            return true;
    return false;
}

/* "NAME" or "1000", "@GROUP" or "@1000", "*". */
static bool entry_names(const char *entry, const struct peer *peer)
{
    uint32_t number;
    bool is_group = *entry == '@';
    const char *name = entry + is_group;
    if (!strcmp(entry, "*"))
        return true;
    if (text_decimal(name, strlen(name), &number))
        return is_group ? has_group(peer, number) : peer->uid == number;
    const struct group *group = is_group ? getgrnam(name) : NULL;
    const struct passwd *user = is_group ? NULL : getpwnam(name);
    return (group && has_group(peer, group->gr_gid)) || (user && user->pw_uid == peer->uid);
}

enum listed { LIST_ABSENT, LIST_NAMES, LIST_SILENT };

/* One text, or several. A value that is no list names nobody. */
static enum listed judge_list(const char *path, const struct peer *peer)
{
    static char list[LIST_BYTES + 2];
    DWORD size = LIST_BYTES, type = REG_NONE;
    HKEY key;
    if (RegOpenKeyExA(HKEY_LOCAL_MACHINE, path, 0, KEY_READ, &key))
        return LIST_ABSENT;
    LSTATUS status = RegQueryValueExA(key, "Access", NULL, &type, (LPBYTE)list, &size);
    RegCloseKey(key);
    if (status == ERROR_FILE_NOT_FOUND)
        return LIST_ABSENT;
    if (status || (type != REG_SZ && type != REG_MULTI_SZ))
        return LIST_SILENT;
    list[size] = list[size + 1] = '\0';
    const char *cursor = list, *entry;
    while ((entry = text_multi_next(&cursor, list + size + 1)))
        if (entry_names(entry, peer))
            return LIST_NAMES;
    return LIST_SILENT;
}

bool access_granted(const struct peer *peer)
{
    if (peer->uid == 0 || peer->uid == geteuid())
        return true;
    enum listed gate =
        judge_list("SYSTEM\\CurrentControlSet\\Control\\SecurePipeServers\\winreg", peer);
    enum listed counters =
        judge_list("SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Perflib", peer);
    if (gate == LIST_ABSENT && counters == LIST_ABSENT)
        return entry_names("@openperflib", peer);
    return gate != LIST_SILENT && counters != LIST_SILENT;
}

void access_audit(const struct peer *peer)
{
    char name[64];
    const struct passwd *user = getpwuid(peer->uid);
    snprintf(name, sizeof name, "%s", user ? user->pw_name : "");
    if (!user)
        snprintf(name, sizeof name, "uid %u", (unsigned)peer->uid);
    event_log("Perflib", 1000, name,
              EVENT_FIELDS(EVENT_TEXT("User", name), EVENT_TEXT("Module", "openperflib-winregd")),
              NULL);
}
