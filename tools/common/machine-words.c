/* SPDX-License-Identifier: MIT */
/*
 * A row for each way to a machine and each status that asking it can end with. What may be wrong
 * depends on the way, and a name stands for the address that the list of machines has for it.
 */
#include "machine-words.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define MACHINES "SOFTWARE\\openperflib\\Remote\\Machines"
enum way { ANY_WAY, BY_NAME, BY_SOCKET, BY_SSH, BY_SMB, BY_NOTHING };
enum { ADDRESS_ROOM = 600 };

/* clang-format off */
static const struct {
    enum way way;
    LSTATUS status;
    const char *words; /* %s: the address behind its scheme */
} rows[] = {
    {BY_SOCKET, ERROR_BAD_NETPATH, "an address of this form has an absolute path, such as unix:/run/openperflib.sock, not \"%s\""},
    {BY_SOCKET, RPC_S_SERVER_UNAVAILABLE, "nobody listens at %s, or it does not answer; openperflib-winregd --socket would"},
    {BY_SOCKET, ERROR_ACCESS_DENIED, "you may not use %s, or not read counters there; openperflib-winregd(1) tells who may"},
    {BY_SSH, ERROR_BAD_NETPATH, "\"%s\" is no [USER@]HOST[:PORT]"},
    {BY_SSH, RPC_S_SERVER_UNAVAILABLE, "openperflib-winregd there was not reached; see  ssh -oBatchMode=yes ssh://%s openperflib-winregd --version"},
    {BY_SSH, ERROR_INVALID_DATA, "what came is no answer; does the login there print a text of its own?"},
    {BY_SSH, ERROR_ACCESS_DENIED, "that user may not read counters there; openperflib-winregd(1) tells who may"},
    {BY_SMB, ERROR_BAD_NETPATH, "nobody in the network knows the name, or \"%s\" is no [USER@]HOST[:PORT]"},
    {BY_SMB, RPC_S_SERVER_UNAVAILABLE, "nobody answers there, or its registry service is stopped;  openperflib-smb --check %s  tells which"},
    {BY_SMB, ERROR_NOT_SUPPORTED, "nothing here speaks SMB: openperflib-smb is not installed"},
    {BY_SMB, ERROR_INVALID_DATA, "what came is no performance data;  openperflib-smb --check %s  tells more"},
    {BY_SMB, ERROR_ACCESS_DENIED, "that user may not read counters there;  openperflib-smb --check %s  tells what is missing"},
    {BY_SMB, ERROR_TIME_SKEW, "the clocks are too far apart for Kerberos, which allows five minutes"},
    {BY_NAME, ERROR_BAD_NETPATH, "no machine is listed under this name, in HKLM\\" MACHINES ", nor known in the network (if openperflib-smb is there)"},
    {BY_NOTHING, ERROR_BAD_NETPATH, "\"%s\" is no way to a machine; there are a NAME, ssh://HOST, smb://HOST and unix:/PATH"},
    {ANY_WAY, ERROR_ACCESS_DENIED, "access is denied there"},
    {ANY_WAY, ERROR_INVALID_DATA, "what came is no answer"},
    {ANY_WAY, ERROR_BUSY, "it is asked too much: by other threads, or more than it allows one user; try again later"},
    {ANY_WAY, RPC_S_SERVER_UNAVAILABLE, "nobody answers there"},
    {ANY_WAY, RPC_S_CALL_FAILED, "the connection was lost, or the answer did not come in time"},
};
/* clang-format on */

/* ---- the way ---- */

static enum way way_of(const char *address, const char **ret_rest)
{
    static const struct {
        const char *scheme;
        enum way way;
    } schemes[] = {
        {"unix:",  BY_SOCKET},
        {"ssh://", BY_SSH   },
        {"smb://", BY_SMB   },
    };
    *ret_rest = address;
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        size_t length = strlen(schemes[i].scheme);
        if (strncasecmp(address, schemes[i].scheme, length) == 0) {
            *ret_rest = address + length;
            return schemes[i].way;
        }
    }
    return strchr(address, '/') ? BY_NOTHING : BY_NAME;
}

/* What the list has for the name: false, it is not there. */
static bool listed(const char *name, char ret[static ADDRESS_ROOM])
{
    HKEY key;
    DWORD size = ADDRESS_ROOM - 1, type = REG_NONE;
    if (RegOpenKeyExA(HKEY_LOCAL_MACHINE, MACHINES, 0, KEY_READ, &key))
        return false;
    LSTATUS status = RegQueryValueExA(key, name, NULL, &type, (BYTE *)ret, &size);
    RegCloseKey(key);
    ret[status ? 0 : size] = '\0';
    return !status && type == REG_SZ;
}

/* Who is in no list is a machine of the network: asked over SMB, unless nothing here can. */
static enum way find_way(const char *machine, LSTATUS status, char address[static ADDRESS_ROOM],
                         const char **ret_rest)
{
    machine += strncmp(machine, "\\\\", 2) ? 0 : 2;
    enum way way = way_of(machine, ret_rest);
    if (way != BY_NAME)
        return way;
    if (listed(machine, address)) {
        way = way_of(address, ret_rest);
        return way == BY_NAME ? BY_NOTHING : way;
    }
    return status == ERROR_BAD_NETPATH ? BY_NAME : BY_SMB;
}

const char *machine_words(const char *machine, LSTATUS status)
{
    static char words[2 * ADDRESS_ROOM];
    char address[ADDRESS_ROOM] = "";
    const char *rest;
    enum way way = find_way(machine, status, address, &rest);
    if (status == ERROR_LOGON_FAILURE)
        return smb_login_words(rest);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].status == status && (rows[i].way == way || rows[i].way == ANY_WAY)) {
            const char *mark = strstr(rows[i].words, "%s");
            snprintf(words, sizeof words, "%.*s%s%s",
                     (int)(mark ? (size_t)(mark - rows[i].words) : strlen(rows[i].words)),
                     rows[i].words, mark ? rest : "", mark ? mark + 2 : "");
            return words;
        }
    return NULL;
}
