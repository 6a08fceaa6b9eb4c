/* SPDX-License-Identifier: MIT */
/*
 * Access lists: a REG_SZ or REG_MULTI_SZ of users, groups and SIDs in this machine's registry.
 * Everyone (S-1-1-0) matches no peer: it would include users who did not log in.
 */
#include "remote/internal.h"
#include "remote/winregd.h"

#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>

enum { LIST_BYTES = 64 << 10 };

static bool has_number(const struct peer *peer, const char *kind, unsigned number)
{
    char sid[32];
    snprintf(sid, sizeof sid, "%s%u", kind, number);
    return peer_has_sid(peer, sid);
}

/* "NAME" or "1000", "@GROUP" or "@1000", "S-1-...", "*": any user who logged in. */
bool list_entry_names(const char *entry, const struct peer *peer)
{
    uint32_t number;
    bool is_group = *entry == '@';
    const char *name = entry + is_group, *kind = is_group ? "S-1-22-2-" : "S-1-22-1-";
    if (!strcmp(entry, "*"))
        return peer_has_sid(peer, "S-1-5-11");
    if (!strncmp(entry, "S-1-", 4))
        return strcmp(entry, "S-1-1-0") != 0 && peer_has_sid(peer, entry);
    if (text_decimal(name, strlen(name), &number))
        return has_number(peer, kind, number);
    const struct group *group = is_group ? getgrnam(name) : NULL;
    const struct passwd *user = is_group ? NULL : getpwnam(name);
    return (group && has_number(peer, kind, group->gr_gid)) ||
           (user && has_number(peer, kind, user->pw_uid));
}

/* A value that is not a list matches no peer. */
static enum listed read_list(HKEY key, const char *name, char list[static LIST_BYTES + 2],
                             DWORD *ret_size)
{
    DWORD type = REG_NONE;
    *ret_size = LIST_BYTES;
    LSTATUS status = RegQueryValueExA(key, name, NULL, &type, (LPBYTE)list, ret_size);
    if (status == ERROR_FILE_NOT_FOUND)
        return LIST_ABSENT;
    if (status || (type != REG_SZ && type != REG_MULTI_SZ))
        return LIST_SILENT;
    list[*ret_size] = list[*ret_size + 1] = '\0';
    return LIST_NAMES;
}

enum listed list_judge(const char *path, const struct peer *peer)
{
    static char list[LIST_BYTES + 2];
    DWORD size;
    HKEY key;
    if (RegOpenKeyExA(HKEY_LOCAL_MACHINE, path, 0, KEY_READ, &key))
        return LIST_ABSENT;
    enum listed found = read_list(key, "Access", list, &size);
    RegCloseKey(key);
    if (found != LIST_NAMES)
        return found;
    const char *cursor = list, *entry;
    while ((entry = text_multi_next(&cursor, list + size + 1)))
        if (list_entry_names(entry, peer))
            return LIST_NAMES;
    return LIST_SILENT;
}

bool list_allows(const char *list, size_t size, const struct peer *peer)
{
    const char *cursor = list, *entry;
    bool only_refusals = true, named = false;
    while ((entry = text_multi_next(&cursor, list + size))) {
        if (*entry == '!' && list_entry_names(entry + 1, peer))
            return false;
        only_refusals = only_refusals && *entry == '!';
        named = named || (*entry != '!' && list_entry_names(entry, peer));
    }
    return named || (only_refusals && *list);
}

uint32_t list_setting(const char *name, uint32_t otherwise)
{
    HKEY key;
    DWORD number, size = sizeof number, type = REG_NONE;
    static const char machine[] = "HKEY_LOCAL_MACHINE\\";
    if (RegOpenKeyExA(HKEY_LOCAL_MACHINE, &REMOTE_SETTINGS[sizeof machine - 1], 0, KEY_READ, &key))
        return otherwise;
    LSTATUS status = RegQueryValueExA(key, name, NULL, &type, (LPBYTE)&number, &size);
    RegCloseKey(key);
    return status || type != REG_DWORD ? otherwise : number;
}
