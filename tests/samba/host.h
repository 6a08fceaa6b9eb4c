/* SPDX-License-Identifier: MIT */
/* Declares functions of Samba's worker process, for a test program that imitates this process; the
 * test sets the Samba version. */
#ifndef OPL_TEST_SAMBA_HOST_H
#define OPL_TEST_SAMBA_HOST_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include <talloc.h>
#include <tevent.h>

#include <core/ntstatus.h>
#include <core/werror.h>
#include <util/data_blob.h>
#include <util/time.h>

#include <gen_ndr/auth.h>
#include <gen_ndr/dcerpc.h>
#include <ndr.h>

#include <dcesrv_core.h>

#define PUBLIC __attribute__((visibility("default")))
extern PUBLIC const struct dcesrv_interface *host_registered;
PUBLIC const char *samba_version_string(void);
PUBLIC NTSTATUS dcesrv_interface_register(struct dcesrv_context *context, const char *endpoint,
                                          const char *second,
                                          const struct dcesrv_interface *interface,
                                          const struct security_descriptor *descriptor);

#endif
