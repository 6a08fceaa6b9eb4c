/* SPDX-License-Identifier: MIT */
/* The door of host: the life of providers' libraries, from the registry record to the judged
 * answer. */
#ifndef OPL_HOST_H
#define OPL_HOST_H

#include "base/base.h"
#include "query/query.h"

/* Asks every provider that the query concerns, in registry order (the shipped ones first), and
 * appends what passed the checks to [data, data + room). *ret_size: bytes in all, *ret_objects:
 * objects. ERROR_MORE_DATA when a provider needs more room; ERROR_LOCK_FAILED when a provider's own
 * code asks; other failures cost only that provider's data. *ret_whole: what lies there is one
 * PERF_DATA_BLOCK that a provider made for a foreign machine, and nothing else. (C39, C121, C.5) */
LSTATUS host_collect(const struct query *query, void *data, size_t room, size_t *ret_size,
                     uint32_t *ret_objects, bool *ret_whole);
/* Close and unload all; Keep Resident keeps a library loaded. Succeeds any number of times. (C.6)
 */
void host_close(void);

/* The last answer of a service that passed the checks, as programs wrote it down: those of root and
 * those of this user, since the machine started. */
struct host_answer {
    int64_t when; /* filetime */
    int64_t took; /* 100 ns that Collect took */
    bool by_root; /* else by a program of this user */
};
/* ERROR_FILE_NOT_FOUND: nobody wrote one down. */
LSTATUS host_last_answer(const char *service, struct host_answer *ret);

#endif
