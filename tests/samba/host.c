/* SPDX-License-Identifier: MIT */
/*
 * usage: host VERSION INTERFACE. Registers an interface in the way of Samba's worker process, while
 * the tested library is preloaded or not. Prints which interface Samba's library then gets: the
 * program's own ("untouched"), or one that the preloaded library put in its place ("in front").
 */
#include "host.h"

#include <stdio.h>

static const char *version;

const char *samba_version_string(void)
{
    return version;
}

static NTSTATUS own_pull(struct dcesrv_call_state *state, TALLOC_CTX *memory, struct ndr_pull *pull,
                         void **ret)
{
    return NT_STATUS_OK;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    version = argv[1];
    const struct dcesrv_interface interface = {.name = argv[2], .ndr_pull = own_pull};
    if (!NT_STATUS_IS_OK(dcesrv_interface_register(NULL, "winreg", NULL, &interface, NULL)))
        return 1;
    puts(host_registered == &interface && interface.ndr_pull == own_pull ? "untouched"
                                                                         : "in front");
    return 0;
}
