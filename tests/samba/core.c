/* SPDX-License-Identifier: MIT */
/* Replaces Samba's library in the test: records which interface was registered with it. */
#include "host.h"

const struct dcesrv_interface *host_registered;

NTSTATUS dcesrv_interface_register(struct dcesrv_context *context, const char *endpoint,
                                   const char *second, const struct dcesrv_interface *interface,
                                   const struct security_descriptor *descriptor)
{
    host_registered = interface;
    return NT_STATUS_OK;
}
