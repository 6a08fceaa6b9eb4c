/* SPDX-License-Identifier: MIT */
/*
 * Messages about remote machines: a row for each kind of connection and each status that a remote
 * query can return, because the likely cause depends on the connection. Before the search, the name
 * of a machine is replaced by its address in the list of machines.
 */
#include "machine-message.h"

#include <openperflib/unstable.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define MACHINES "SOFTWARE\\openperflib\\Remote\\Machines"
enum address_kind { OF_ANY, OF_NAME, OF_SOCKET, OF_SSH, OF_SMB, OF_NONE };
enum { ADDRESS_SIZE = 600 };

/* clang-format off */
static const struct {
    enum address_kind kind;
    LSTATUS status;
    const char *text; /* %s stands for the address after its scheme */
} rows[] = {
    {OF_SOCKET, ERROR_BAD_NETPATH, "unix: needs an absolute path, such as unix:/run/openperflib.sock, not \"%s\""},
    {OF_SOCKET, RPC_S_SERVER_UNAVAILABLE, "no program listens at %s, or it does not answer; start openperflib-winregd --socket there"},
    {OF_SOCKET, ERROR_ACCESS_DENIED, "access to %s, or to the counters there, is denied; openperflib-winregd(1) lists who has access"},
    {OF_SSH, ERROR_BAD_NETPATH, "\"%s\" is not [USER@]HOST[:PORT]"},
    {OF_SSH, RPC_S_SERVER_UNAVAILABLE, "openperflib-winregd was not reached there; test it with:  ssh -oBatchMode=yes ssh://%s openperflib-winregd --version"},
    {OF_SSH, ERROR_INVALID_DATA, "the reply is not in the expected format; check whether the login there prints text"},
    {OF_SSH, ERROR_ACCESS_DENIED, "the user who logs in there may not read counters; openperflib-winregd(1) lists who may"},
    {OF_SMB, ERROR_BAD_NETPATH, "unknown host name, or \"%s\" is not [USER@]HOST[:PORT]; check the spelling"},
    {OF_SMB, RPC_S_SERVER_UNAVAILABLE, "it does not answer, or its registry service is stopped;  openperflib-smb --check %s  shows which"},
    {OF_SMB, ERROR_NOT_SUPPORTED, "SMB is not available here: install openperflib-smb"},
    {OF_SMB, ERROR_INVALID_DATA, "the reply is not performance data;  openperflib-smb --check %s  shows more"},
    {OF_SMB, ERROR_ACCESS_DENIED, "the user who logs in there may not read counters;  openperflib-smb --check %s  shows what is missing"},
    {OF_SMB, ERROR_TIME_SKEW, "the clocks of the two machines differ too much for Kerberos, which allows five minutes"},
    {OF_NAME, ERROR_BAD_NETPATH, "unknown host name; check the spelling (a name that is not in HKLM\\" MACHINES
                                 " is resolved only if openperflib-smb is installed)"},
    {OF_NONE, ERROR_BAD_NETPATH, "\"%s\" is not an address; use a NAME, "}, /* then the kinds of addresses */
    {OF_ANY, ERROR_ACCESS_DENIED, "access is denied there"},
    {OF_ANY, ERROR_INVALID_DATA, "the reply is not in the expected format"},
    {OF_ANY, ERROR_BUSY, "the machine is busy with other queries, or this user sends too many at once; try again later"},
    {OF_ANY, RPC_S_SERVER_UNAVAILABLE, "it does not answer"},
    {OF_ANY, RPC_S_CALL_FAILED, "the connection was lost, or the answer did not arrive in time"},
};
/* clang-format on */

/* ---- the kind of connection ---- */

static enum address_kind kind_of(const char *address, const char **ret_rest)
{
    static const struct {
        const char *scheme;
        enum address_kind kind;
    } schemes[] = {
        {"unix:",  OF_SOCKET},
        {"ssh://", OF_SSH   },
        {"smb://", OF_SMB   },
    };
    *ret_rest = address;
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        size_t length = strlen(schemes[i].scheme);
        if (strncasecmp(address, schemes[i].scheme, length) == 0) {
            *ret_rest = address + length;
            return schemes[i].kind;
        }
    }
    return strchr(address, '/') ? OF_NONE : OF_NAME;
}

/* Finds the address of a name in the list of machines; false: the name is not listed. */
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

/* Finds the kind of connection. A name that is not listed is a host of the network, reached by SMB
 * if openperflib-smb is installed. */
static enum address_kind find_kind(const char *machine, LSTATUS status,
                                   char address[static ADDRESS_SIZE], const char **ret_rest)
{
    machine += strncmp(machine, "\\\\", 2) ? 0 : 2;
    enum address_kind kind = kind_of(machine, ret_rest);
    if (kind != OF_NAME)
        return kind;
    if (listed(machine, address)) {
        kind = kind_of(address, ret_rest);
        return kind == OF_NAME ? OF_NONE : kind;
    }
    return status == ERROR_BAD_NETPATH ? OF_NAME : OF_SMB;
}

const char *machine_message(const char *machine, LSTATUS status)
{
    static char text[2 * ADDRESS_SIZE];
    char address[ADDRESS_SIZE] = "";
    const char *rest;
    enum address_kind kind = find_kind(machine, status, address, &rest);
    if (status == ERROR_LOGON_FAILURE)
        return smb_login_text(rest);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].status == status && (rows[i].kind == kind || rows[i].kind == OF_ANY)) {
            const char *mark = strstr(rows[i].text, "%s");
            char kinds[OPL_ADDRESSES_SIZE] = "";
            if (rows[i].kind == OF_NONE)
                opl_machine_addresses(kinds);
            snprintf(text, sizeof text, "%.*s%s%s%s",
                     (int)(mark ? (size_t)(mark - rows[i].text) : strlen(rows[i].text)),
                     rows[i].text, mark ? rest : "", mark ? mark + 2 : "", kinds);
            return text;
        }
    return NULL;
}
