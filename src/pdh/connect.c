/* SPDX-License-Identifier: MIT */
/* Connects to many machines at once, with a status for each. */
#include "pdh/machine.h"

#include <openperflib/machine.h>
#include <pdh.h>
#include <stdlib.h>

PDH_STATUS opl_connect_machines(const char *const *machines, size_t count, LSTATUS *ret_reasons)
{
    FREE_AUTO struct machine_wanted *wanted = calloc(count + 1, sizeof *wanted);
    PDH_STATUS status = 0;
    if (!machines && count)
        return (PDH_STATUS)PDH_INVALID_ARGUMENT;
    if (!wanted)
        return (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    for (size_t i = 0; i < count; i++)
        wanted[i].name = machines[i];
    machine_find_all(wanted, count);
    for (size_t i = 0; i < count; i++) {
        if (wanted[i].status)
            status = (PDH_STATUS)PDH_CSTATUS_NO_MACHINE;
        if (ret_reasons)
            ret_reasons[i] = wanted[i].reason;
    }
    return status;
}
