/* SPDX-License-Identifier: MIT */
/*
 * Decides what a client may read. The kernel identifies a local user, who is checked by the SIDs
 * that Samba assigns: S-1-22-1-UID and S-1-22-2-GID. A remote caller is checked by the SIDs of the
 * login. Two values "Access" are lists of users: one for the machine (SecurePipeServers\winreg),
 * one for its counters (Perflib); if both exist, both must allow the client.
 * (docs/windows/articles.md#c29) The key Remote\Objects has lists for single objects.
 */
#include "remote/remote.h"
#include "remote/server/winregd.h"

#include <openperflib/block.h>
#include <winperf.h>

#include <ctype.h>
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef SO_PEERGROUPS
#define SO_PEERGROUPS 59
#endif

/* ---- the peer ---- */

void peer_done(struct peer *peer)
{
    buffer_done(&peer->sids);
    *peer = (struct peer){0};
}

static bool add_sid(struct peer *peer, const char *kind, unsigned number)
{
    return buffer_printf(&peer->sids, "%s%u", kind, number) && buffer_add_byte(&peer->sids, '\0');
}

/* Sets name and SIDs of a local user; one is S-1-5-11, authenticated users. False: no memory. */
static bool add_user(struct peer *peer, gid_t group)
{
    const struct passwd *user = getpwuid(peer->uid);
    snprintf(peer->name, sizeof peer->name, "%s", user ? user->pw_name : "");
    if (!user)
        snprintf(peer->name, sizeof peer->name, "uid %u", (unsigned)peer->uid);
    return add_sid(peer, "S-1-22-1-", peer->uid) && add_sid(peer, "S-1-22-2-", group) &&
           add_sid(peer, "S-1-5-", 11);
}

/* Adds the SIDs of the peer's groups. The first call of getsockopt returns the needed size. */
static bool add_groups_of_socket(int fd, struct peer *peer)
{
    socklen_t size = 0;
    if (!getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, NULL, &size) || errno != ERANGE)
        /* the peer has no other groups; before Linux 4.13, only the primary group is known */
        return true;
    if (size > LIMIT_GROUPS * sizeof(gid_t))
        return false;
    FREE_AUTO gid_t *groups = malloc(size);
    if (!groups || getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &size))
        return false;
    for (size_t i = 0; i < size / sizeof(gid_t); i++)
        if (!add_sid(peer, "S-1-22-2-", groups[i]))
            return false;
    return true;
}

bool peer_of_socket(int fd, struct peer *ret)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    *ret = (struct peer){0};
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) || size != sizeof peer)
        return false;
    ret->uid = peer.uid;
    return add_user(ret, peer.gid) && add_groups_of_socket(fd, ret);
}

/* Sets the peer of a client on standard input, which is this process's user: ssh has checked the
 * login. */
bool peer_of_process(struct peer *ret)
{
    *ret = (struct peer){.uid = getuid()};
    return add_user(ret, getgid());
}

/* ---- remote callers ---- */

/* True if the text is "S-1-" and numbers with dashes between them. */
static bool is_sid(const char *text, size_t count)
{
    if (count < 5 || strncmp(text, "S-1-", 4) != 0)
        return false;
    for (size_t i = 4; i < count; i++) {
        bool dash = text[i] == '-' && text[i - 1] != '-' && i + 1 < count;
        if (!dash && !isdigit((unsigned char)text[i]))
            return false;
    }
    return true;
}

static LSTATUS read_sids(const char *text, struct buffer *ret)
{
    size_t count;
    const char *sid;
    while ((sid = text_word(&text, &count)))
        if (!is_sid(sid, count))
            return ERROR_INVALID_PARAMETER;
        else if (!buffer_add(ret, sid, count) || !buffer_add_byte(ret, '\0'))
            return ERROR_NOT_ENOUGH_MEMORY;
    return ret->len ? ERROR_SUCCESS : ERROR_INVALID_PARAMETER;
}

LSTATUS peer_act_for(struct peer *peer, const struct proto_request *request)
{
    struct buffer sids = {0};
    if (peer->uid != 0 && peer->uid != geteuid())
        return ERROR_ACCESS_DENIED;
    LSTATUS status = request->name ? read_sids(request->name, &sids) : ERROR_INVALID_PARAMETER;
    if (status) {
        buffer_done(&sids);
        buffer_clear(&peer->sids);
    } else {
        buffer_done(&peer->sids);
        peer->sids = sids;
    }
    peer->is_caller = true; /* the peer acts for a caller even if the SIDs are invalid; then nothing
                             * is allowed */
    peer->protection = request->index;
    snprintf(peer->name, sizeof peer->name, "%s", request->path);
    if (!status && !limits_take_caller(peer))
        status = ERROR_BUSY;
    return status;
}

static bool peer_has_sid(const struct peer *peer, const char *sid)
{
    const char *at = peer->sids.data, *end = at ? at + peer->sids.len : at;
    for (; at < end; at += strlen(at) + 1)
        if (!strcmp(at, sid))
            return true;
    return false;
}

bool peer_is_trusted(const struct peer *peer)
{
    return !peer->is_caller && (peer->uid == 0 || peer->uid == geteuid());
}

/* ---- lists: a REG_SZ or REG_MULTI_SZ of users, groups and SIDs ---- */

enum listed { LIST_ABSENT, LIST_NAMES, LIST_SILENT };

static bool has_number(const struct peer *peer, const char *kind, unsigned number)
{
    char sid[32];
    snprintf(sid, sizeof sid, "%s%u", kind, number);
    return peer_has_sid(peer, sid);
}

/* True if the entry names the peer. Entries are "NAME" or "1000", "@GROUP" or "@1000", "S-1-...",
 * or "*" for any authenticated user. Everyone (S-1-1-0) names no peer, because it includes users
 * who did not log in. */
static bool list_entry_names(const char *entry, const struct peer *peer)
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

/* Reads a list. LIST_SILENT: the value cannot be read or is not a list, so it names no peer. */
static enum listed read_list(HKEY key, const char *name, char list[static LIMIT_LIST_BYTES + 2],
                             DWORD *ret_size)
{
    DWORD type = REG_NONE;
    *ret_size = LIMIT_LIST_BYTES;
    LSTATUS status = RegQueryValueExA(key, name, NULL, &type, (LPBYTE)list, ret_size);
    if (status == ERROR_FILE_NOT_FOUND)
        return LIST_ABSENT;
    if (status || (type != REG_SZ && type != REG_MULTI_SZ))
        return LIST_SILENT;
    list[*ret_size] = list[*ret_size + 1] = '\0';
    return LIST_NAMES;
}

static enum listed list_check(const char *path, const struct peer *peer)
{
    static char list[LIMIT_LIST_BYTES + 2];
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

/* True if the list allows the peer. An entry "!NAME" refuses NAME; a list that has only such
 * entries allows all others. */
static bool list_allows(const char *list, size_t size, const struct peer *peer)
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

/* ---- the decision ---- */

/* True for the account Guest of a machine or domain, S-1-5-21-...-501. */
static bool is_guest_account(const char *sid)
{
    const char *last = strrchr(sid, '-');
    return !strncmp(sid, "S-1-5-21-", 9) && last && !strcmp(last, "-501");
}

/* True for anonymous users and guests, who are refused whatever the lists contain. */
static bool is_anonymous_or_guest(const struct peer *peer)
{
    const char *at = peer->sids.data, *end = at ? at + peer->sids.len : at;
    bool known = at < end;
    for (; at < end; at += strlen(at) + 1)
        if (!strcmp(at, "S-1-5-7") || !strcmp(at, "S-1-5-32-546") || is_guest_account(at))
            return true;
    return !known;
}

static bool is_protected(const struct peer *peer)
{
    return (peer->protection & PROTO_ENCRYPTED) ||
           (peer->protection & PROTO_LEVEL) == PROTO_PRIVACY ||
           !list_setting("RequireEncryption", 0);
}

/* True if the peer may read without a list: members of the local group openperflib, and as remote
 * callers also Administrators and Performance Monitor Users. */
static bool is_usual(const struct peer *peer)
{
    if (list_entry_names("@openperflib", peer))
        return true;
    return peer->is_caller &&
           (peer_has_sid(peer, "S-1-5-32-544") || peer_has_sid(peer, "S-1-5-32-558"));
}

bool access_granted(const struct peer *peer)
{
    if (peer_is_trusted(peer))
        return true;
    if (is_anonymous_or_guest(peer) || (peer->is_caller && !is_protected(peer)))
        return false;
    enum listed gate =
        list_check("SYSTEM\\CurrentControlSet\\Control\\SecurePipeServers\\winreg", peer);
    enum listed counters =
        list_check("SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Perflib", peer);
    if (gate == LIST_ABSENT && counters == LIST_ABSENT)
        return is_usual(peer);
    return gate != LIST_SILENT && counters != LIST_SILENT;
}

void access_audit(const struct peer *peer)
{
    if (!limits_may_audit())
        return;
    event_log(
        "Perflib", 1000, peer->name,
        EVENT_FIELDS(EVENT_TEXT("User", peer->name), EVENT_TEXT("Module", "openperflib-winregd")),
        NULL);
}

/* ---- objects that not all users may read ---- */

static struct hidden {
    uint32_t numbers[LIMIT_HIDDEN_OBJECTS];
    size_t count;
    /* all objects are hidden: the lists cannot be read, or hide too many objects */
    bool all;
    bool details_listed; /* there is a list for Process Details */
} hidden;
/* The object Process Details: command lines may have secrets, so without a list of its own the
 * object is hidden from all. */
enum { PROCESS_DETAILS = 102000 };

static void hide(uint32_t number)
{
    if (hidden.count == LIMIT_HIDDEN_OBJECTS)
        hidden.all = true;
    else
        hidden.numbers[hidden.count++] = number;
}

/* Reads the list of one object; hides the object if the list does not allow the peer, or cannot be
 * read. Returns false if there are no more lists. */
static bool read_object_list(HKEY key, DWORD index, const struct peer *peer)
{
    static char list[LIMIT_LIST_BYTES + 2];
    char name[32] = "";
    uint32_t number;
    DWORD count = sizeof name, size = LIMIT_LIST_BYTES, type = REG_NONE;
    LSTATUS status = RegEnumValueA(key, index, name, &count, NULL, &type, (LPBYTE)list, &size);
    /* ERROR_MORE_DATA: the list is too long, or the list's name is too long to be a number */
    if (status && status != ERROR_MORE_DATA) {
        hidden.all = hidden.all || status != ERROR_NO_MORE_ITEMS;
        return false;
    }
    if (!text_decimal(name, strlen(name), &number))
        return true;
    bool readable = !status && (type == REG_SZ || type == REG_MULTI_SZ);
    if (readable)
        memset(list + size, 0, 2);
    hidden.details_listed = hidden.details_listed || number == PROCESS_DETAILS;
    if (!peer_is_trusted(peer) && (!readable || !list_allows(list, size + 1, peer)))
        hide(number);
    return true;
}

bool objects_are_hidden(const struct peer *peer, const struct query *query)
{
    HKEY key;
    bool details = query->kind == QUERY_COSTLY || query_wants_object(query, PROCESS_DETAILS);
    if (peer_is_trusted(peer) && !details)
        return false;
    hidden.count = 0;
    hidden.details_listed = false;
    LSTATUS status = RegOpenKeyExA(HKEY_LOCAL_MACHINE, "SOFTWARE\\openperflib\\Remote\\Objects", 0,
                                   KEY_READ, &key);
    hidden.all = status && status != ERROR_FILE_NOT_FOUND;
    for (DWORD i = 0; !status && read_object_list(key, i, peer); i++)
        continue;
    if (!status)
        RegCloseKey(key);
    if (details && !hidden.details_listed)
        hide(PROCESS_DETAILS);
    return hidden.count || hidden.all;
}

static bool is_hidden(uint32_t number)
{
    for (size_t i = 0; i < hidden.count; i++)
        if (hidden.numbers[i] == number)
            return true;
    return hidden.all;
}

/* Writes a number in the block's byte order, which may differ from this machine's. */
static void put_number(const opl_block *block, char *data, size_t offset, uint32_t number)
{
    number = block->swapped ? __builtin_bswap32(number) : number;
    memcpy(data + offset, &number, sizeof number);
}

/* Removes the hidden objects and moves the others together. */
size_t objects_hide(char *data, size_t size)
{
    opl_block block;
    opl_object_view object = {0};
    if (opl_block_init(&block, data, size) != OPL_BLOCK_GOOD)
        return 0;
    DWORD count = 0, first = 0;
    size_t end = block.header.HeaderLength;
    bool default_stays = false;
    while (opl_block_next_object(&block, &object)) {
        DWORD number = object.type.ObjectNameTitleIndex, length = object.type.TotalByteLength;
        if (is_hidden(number))
            continue;
        memmove(data + end, data + object.offset, length);
        /* `object` still has its old offset, at which the walk goes on */
        end += length;
        first = count++ ? first : number;
        default_stays = default_stays || (LONG)number == block.header.DefaultObject;
    }
    if (block.fault)
        return 0;
    put_number(&block, data, offsetof(PERF_DATA_BLOCK, TotalByteLength), (uint32_t)end);
    put_number(&block, data, offsetof(PERF_DATA_BLOCK, NumObjectTypes), count);
    if (!default_stays)
        put_number(&block, data, offsetof(PERF_DATA_BLOCK, DefaultObject), first);
    return end;
}
