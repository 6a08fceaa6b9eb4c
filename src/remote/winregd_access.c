/* SPDX-License-Identifier: MIT */
/*
 * Access checks. A user of this machine is identified by the kernel and checked by the SIDs that
 * Samba assigns, S-1-22-1-UID and S-1-22-2-GID; a remote caller by the SIDs of its login. Two
 * values "Access" hold lists: one for the machine (SecurePipeServers\winreg), one for its counters
 * (Perflib); where both exist, both must allow the peer. (KB 155363, 146906)
 */
#include "remote/winregd.h"

#include <ctype.h>
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef SO_PEERGROUPS
#define SO_PEERGROUPS 59
#endif
enum { MOST_GROUPS = 65536 };

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

/* Logged in here, as any user. */
static bool add_user(struct peer *peer, gid_t group)
{
    const struct passwd *user = getpwuid(peer->uid);
    snprintf(peer->name, sizeof peer->name, "%s", user ? user->pw_name : "");
    if (!user)
        snprintf(peer->name, sizeof peer->name, "uid %u", (unsigned)peer->uid);
    return add_sid(peer, "S-1-22-1-", peer->uid) && add_sid(peer, "S-1-22-2-", group) &&
           add_sid(peer, "S-1-5-", 11);
}

/* The kernel returns how many bytes it needs. */
static bool add_groups_of_socket(int fd, struct peer *peer)
{
    socklen_t size = 0;
    if (!getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, NULL, &size) || errno != ERANGE)
        return true; /* no groups; or a kernel before 4.13: the primary group only */
    if (size > MOST_GROUPS * sizeof(gid_t))
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

/* A process behind a stream runs as the user who started it; ssh has authenticated that user. */
bool peer_of_process(struct peer *ret)
{
    *ret = (struct peer){.uid = getuid()};
    return add_user(ret, getgid());
}

/* ---- remote callers ---- */

/* "S-1-" and numbers with single dashes between. */
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

LSTATUS peer_speak_for(struct peer *peer, const struct proto_request *request)
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
    peer->is_caller = true; /* also if no SIDs are known */
    peer->protection = request->index;
    snprintf(peer->name, sizeof peer->name, "%s", request->path);
    if (!status && !limits_take_caller(peer))
        status = ERROR_BUSY;
    return status;
}

bool peer_has_sid(const struct peer *peer, const char *sid)
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

/* ---- the decision ---- */

/* A machine's or domain's account Guest: S-1-5-21-...-501. */
static bool is_guest_account(const char *sid)
{
    const char *last = strrchr(sid, '-');
    return !strncmp(sid, "S-1-5-21-", 9) && last && !strcmp(last, "-501");
}

/* An anonymous or guest user: refused, whatever the lists contain. */
static bool is_nobody(const struct peer *peer)
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

/* Administrators, Performance Monitor Users, the local group openperflib; for local users only the
 * last. */
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
    if (is_nobody(peer) || (peer->is_caller && !is_protected(peer)))
        return false;
    enum listed gate =
        list_judge("SYSTEM\\CurrentControlSet\\Control\\SecurePipeServers\\winreg", peer);
    enum listed counters =
        list_judge("SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Perflib", peer);
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
