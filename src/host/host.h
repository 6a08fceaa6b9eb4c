/* SPDX-License-Identifier: MIT */
/* The door of host: the life of providers' libraries, from the registry record to the judged answer. */
#ifndef OPL_HOST_H
#define OPL_HOST_H

#include "base/base.h"
#include "query/query.h"

/* Asks every provider that the query concerns, in registry order, and appends what passed the checks
 * to [data, data + room). *ret_size: bytes in all (a multiple of 8), *ret_objects: objects.
 * ERROR_MORE_DATA when a provider needs more room; other failures cost only that provider's data. */
LSTATUS host_collect(const struct query *query, void *data, size_t room, size_t *ret_size,
                     uint32_t *ret_objects);
/* Close and unload all (Keep Resident stays). */
void host_close(void);

#endif
