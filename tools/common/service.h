/* SPDX-License-Identifier: MIT */
/* Services with counters, as the registry has them. */
#ifndef OPL_TOOLS_SERVICE_H
#define OPL_TOOLS_SERVICE_H

#include <stdbool.h>

#include <windows.h>

struct service_settings {
    char *name, *library, *open, *collect, *close, *object_list, *quarantine, *unanswered, *ini;
    DWORD first_counter, last_counter, first_help, last_help;
    DWORD disabled, isolation, error_count;
    /* shares: the value Shared Objects allows objects of other services (event 4009) */
    /* reserved: the service's package was removed, and its numbers are kept */
    bool loaded, isolated, shares, shipped, reserved;
};
/* Is the service's quarantine over? Then the service is queried again, and the next answer decides
 * whether it is enabled or quarantined again. */
bool service_on_probation(const struct service_settings *service);
/* Did the service miss so many deadlines in a row that queries do not wait for it for a while? */
bool service_not_waited_for(const struct service_settings *service);
/* Returns the number in " (first quarantine): why", " (4th quarantine): why", " (5 times in a row):
 * why" or ", time 1: why" of older records; 0: there is none. */
unsigned service_ordinal(const char *text);
/* Returns the option for lodctr in messages: " --user" for a service of the user's layer, else
 * "". */
const char *service_option(const struct service_settings *service);
/* Is the service queried by programs of this word size? */
bool service_enabled(const struct service_settings *service);
/* Reads a service. ERROR_FILE_NOT_FOUND: the service does not exist, or has no Performance key.
 * Free with service_done. */
LSTATUS service_read(const char *name, struct service_settings *ret);
void service_done(struct service_settings *service);
/* Calls `each` for all services with a library or numbers, until it returns false. */
LSTATUS service_each(bool (*each)(void *self, const char *name), void *self);

#endif
