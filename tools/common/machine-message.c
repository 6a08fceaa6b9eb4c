/* SPDX-License-Identifier: MIT */
/*
 * A row for each kind of connection and each status that a remote query can return, because the
 * likely cause depends on the connection. A name stands for its address in the list of machines.
 */
#include "machine-message.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define MACHINES "SOFTWARE\\openperflib\\Remote\\Machines"
enum way { ANY_WAY, BY_NAME, BY_SOCKET, BY_SSH, BY_SMB, BY_NOTHING };
enum { ADDRESS_SIZE = 600 };

/* clang-format off */
static const struct {
    enum way way;
    LSTATUS status;
    const char *words; /* %s: the address after its scheme */
} rows[] = {
    {BY_SOCKET, ERROR_BAD_NETPATH, "unix: needs an absolute path, such as unix:/run/openperflib.sock, not \"%s\""},
    {BY_SOCKET, RPC_S_SERVER_UNAVAILABLE, "no program listens at %s, or it does not answer; start openperflib-winregd --socket there"},
    {BY_SOCKET, ERROR_ACCESS_DENIED, "you may not use %s, or not read counters there; openperflib-winregd(1) lists who may"},
    {BY_SSH, ERROR_BAD_NETPATH, "\"%s\" is no [USER@]HOST[:PORT]"},
    {BY_SSH, RPC_S_SERVER_UNAVAILABLE, "openperflib-winregd was not reached there; test it with:  ssh -oBatchMode=yes ssh://%s openperflib-winregd --version"},
    {BY_SSH, ERROR_INVALID_DATA, "the reply is not in the expected format; check whether the login there prints text"},
    {BY_SSH, ERROR_ACCESS_DENIED, "that user may not read counters there; openperflib-winregd(1) lists who may"},
    {BY_SMB, ERROR_BAD_NETPATH, "unknown host name, or \"%s\" is not [USER@]HOST[:PORT]; check the spelling"},
    {BY_SMB, RPC_S_SERVER_UNAVAILABLE, "it does not answer, or its registry service is stopped;  openperflib-smb --check %s  shows which"},
    {BY_SMB, ERROR_NOT_SUPPORTED, "SMB is not available here: install openperflib-smb"},
    {BY_SMB, ERROR_INVALID_DATA, "the reply is not performance data;  openperflib-smb --check %s  shows more"},
    {BY_SMB, ERROR_ACCESS_DENIED, "that user may not read counters there;  openperflib-smb --check %s  shows what is missing"},
    {BY_SMB, ERROR_TIME_SKEW, "the clocks of the two machines differ too much for Kerberos, which allows five minutes"},
    {BY_NAME, ERROR_BAD_NETPATH, "the name is neither listed in HKLM\\" MACHINES " nor known in the network (needs openperflib-smb); check the spelling"},
    {BY_NOTHING, ERROR_BAD_NETPATH, "\"%s\" is not an address; use a NAME, ssh://HOST, smb://HOST or unix:/PATH"},
    {ANY_WAY, ERROR_ACCESS_DENIED, "access is denied there"},
    {ANY_WAY, ERROR_INVALID_DATA, "the reply is not in the expected format"},
    {ANY_WAY, ERROR_BUSY, "it has too many queries: of other threads, or more than it allows one user; try again later"},
    {ANY_WAY, RPC_S_SERVER_UNAVAILABLE, "it does not answer"},
    {ANY_WAY, RPC_S_CALL_FAILED, "the connection was lost, or the answer did not arrive in time"},
};
/* clang-format on */

/* ---- the kind of connection ---- */

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

/* The name's address in the list of machines; false: it is not listed. */
static bool listed(const char *name, char ret[static ADDRESS_SIZE])
{
    HKEY key;
    DWORD size = ADDRESS_SIZE - 1, type = REG_NONE;
    if (RegOpenKeyExA(HKEY_LOCAL_MACHINE, MACHINES, 0, KEY_READ, &key))
        return false;
    LSTATUS status = RegQueryValueExA(key, name, NULL, &type, (BYTE *)ret, &size);
    RegCloseKey(key);
    ret[status ? 0 : size] = '\0';
    return !status && type == REG_SZ;
}

/* A name that is not listed is a host of the network, reached by SMB if openperflib-smb is
 * there. */
static enum way find_way(const char *machine, LSTATUS status, char address[static ADDRESS_SIZE],
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

const char *machine_message(const char *machine, LSTATUS status)
{
    static char words[2 * ADDRESS_SIZE];
    char address[ADDRESS_SIZE] = "";
    const char *rest;
    enum way way = find_way(machine, status, address, &rest);
    if (status == ERROR_LOGON_FAILURE)
        return smb_login_text(rest);
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
