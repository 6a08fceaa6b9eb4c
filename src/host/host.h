/* SPDX-License-Identifier: MIT */
/* API of host: loads, queries and closes the providers' libraries, from the registry record to the
 * checked answer. */
#ifndef OPL_HOST_H
#define OPL_HOST_H

#include "base/base.h"
#include "query/query.h"

/* Queries every provider that the query concerns, and writes the answers that passed the checks to
 * `data`: first the answers of shipped providers, then those of third-party ones, both in registry
 * order. *ret_size: number of bytes written, *ret_objects: of objects. ERROR_MORE_DATA when a
 * provider needs a larger buffer; ERROR_LOCK_FAILED when a provider's own code calls this; other
 * failures cost only that provider's data. *ret_whole: the buffer holds one PERF_DATA_BLOCK that a
 * provider made for a foreign machine, and nothing else. (docs/windows/articles.md#c39,
 * docs/windows/queries.md#c5) */
LSTATUS host_collect(const struct query *query, void *data, size_t capacity, size_t *ret_size,
                     uint32_t *ret_objects, bool *ret_whole);
/* Closes and unloads all providers; a library whose registration has Keep Resident stays loaded.
 * May be called repeatedly. (docs/windows/queries.md#c6) */
void host_close(void);

/* The last answer of a service that passed the checks. Only programs of root and of this user
 * record answers, and only since the machine started. */
struct host_answer {
    int64_t when; /* filetime */
    int64_t took; /* duration of Collect, in units of 100 ns */
    bool by_root; /* true: received by a program of root; false: by one of this user */
};
/* Returns ERROR_FILE_NOT_FOUND if no answer was recorded. */
LSTATUS host_last_answer(const char *service, struct host_answer *ret);

#endif
