/* SPDX-License-Identifier: MIT */
/* A row for each status that connecting to a machine, and asking it, can end with. */
#include "machine-words.h"

#include <stddef.h>

const char *machine_words(LSTATUS status)
{
    static const struct {
        LSTATUS status;
        const char *words;
    } rows[] = {
  /* clang-format off */
        {ERROR_ACCESS_DENIED, "access is denied there; openperflib-winregd(1) tells who may read, for Windows  openperflib-smb --check  does"},
        {ERROR_INVALID_DATA, "what came is no answer; does the login there print a text of its own?"},
        {ERROR_BAD_NETPATH, "no machine is listed under this name, in HKLM\\SOFTWARE\\openperflib\\Remote\\Machines, nor found by openperflib-smb (if any)"},
        {ERROR_BUSY, "other threads ask it all the time"},
        {ERROR_LOGON_FAILURE, "user or password is not right there;  openperflib-smb --login  keeps better ones"},
        {RPC_S_SERVER_UNAVAILABLE, "nobody answers there; openperflib-smb --check tells more; by ssh, openperflib-winregd must be there"},
        {RPC_S_CALL_FAILED, "the connection was lost, or the answer did not come in time"},
  /* clang-format on */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].status == status)
            return rows[i].words;
    return NULL;
}
