/* SPDX-License-Identifier: MIT */
/* Services with counters, as the registry has them. */
#ifndef OPL_TOOLS_SERVICE_H
#define OPL_TOOLS_SERVICE_H

#include <stdbool.h>

#include <windows.h>

struct service_settings {
    char *name, *library, *open, *collect, *close, *object_list, *quarantine, *unanswered;
    DWORD first_counter, last_counter, first_help, last_help;
    DWORD disabled, isolation, error_count;
    bool loaded, isolated, shares; /* shares: Shared Objects, event 4009 */
};
/* Is its quarantine over? Then it is queried again, and the next answer decides. */
bool service_on_probation(const struct service_settings *service);
/* Did it miss a deadline, so that for a while queries do not wait for it? */
bool service_not_waited_for(const struct service_settings *service);
/* Is it queried, by programs of this word size? */
bool service_enabled(const struct service_settings *service);
/* 2: no such service, or it has no Performance key. Free with service_done. */
LSTATUS service_read(const char *name, struct service_settings *ret);
void service_done(struct service_settings *service);
/* Every service that has a Performance key, in registry order. */
LSTATUS service_each(bool (*each)(void *self, const char *name), void *self);

#endif
