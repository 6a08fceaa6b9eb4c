/* SPDX-License-Identifier: MIT */
/*
 * Why a machine refuses a login, for tools: the status 1326 cannot carry the name of the
 * credentials file and its mode, so the tool checks the file by the same rules.
 */
#include "remote/smb.h"

#include <stdio.h>
#include <string.h>

static void put_login(const struct smb_login *login, const char *machine, char *ret,
                      size_t capacity)
{
    if (login->kerberos)
        snprintf(ret, capacity,
                 "there is no Kerberos ticket, and no password: %s;  openperflib-smb --login %s  "
                 "stores user and password",
                 login->from, machine);
    else
        snprintf(ret, capacity,
                 "wrong user or password: %s, %s;  openperflib-smb --login %s  stores "
                 "better ones",
                 login->anonymous ? "anonymous" : login->user, login->from, machine);
}

const char *smb_login_text(const char *machine)
{
    static char text[6000];
    struct smb_address address;
    struct smb_login login = {0};
    char name[300];
    if (!smb_address_read(machine, &address))
        return "wrong user or password";
    smb_address_name(&address, name, sizeof name);
    if (smb_login_find(&address, &login, text, sizeof text))
        put_login(&login, name, text, sizeof text);
    explicit_bzero(&login, sizeof login);
    return text;
}
