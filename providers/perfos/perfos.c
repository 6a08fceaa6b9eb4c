/* SPDX-License-Identifier: MIT */
/*
 * perfos.so: the operating system's own objects, as an ordinary provider. All knowledge is in the
 * tables; the three functions are those that Windows registers for PerfOS, so that a document's
 * program which looks for them finds them.
 */
#include "perfos.h"

const opl_source perfos_stat = {.path = "proc/stat"};
const opl_source perfos_loadavg = {.path = "proc/loadavg"};
const opl_source perfos_meminfo = {.path = "proc/meminfo"};
const opl_source perfos_vmstat = {.path = "proc/vmstat"};

static const opl_object *const objects[] = {&perfos_system,  &perfos_memory,
                                            &perfos_cache,   &perfos_processor,
                                            &perfos_objects, &perfos_paging_file};
OPL_EXPORT_TABLES(objects);

static opl_provider *provider;
static unsigned opened; /* remote service processes open once per connection (D.2) */

DWORD APIENTRY OpenOSObject(LPWSTR devices);
DWORD APIENTRY CollectOSObjectData(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types);
DWORD APIENTRY CloseOSObject(void);

__declspec(dllexport) DWORD APIENTRY OpenOSObject(LPWSTR devices)
{
    if (opened == 0) {
        perfos_processor_open();
        DWORD status = opl_provider_open(OPL_OBJECTS(objects), 0, 0, &provider);
        if (status)
            return status;
    }
    opened++;
    return ERROR_SUCCESS;
}

__declspec(dllexport) DWORD APIENTRY
    CollectOSObjectData(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types)
{
    return opl_provider_collect(provider, query, data, bytes, types);
}

__declspec(dllexport) DWORD APIENTRY CloseOSObject(void)
{
    if (opened > 0 && --opened == 0) {
        opl_provider_close(provider);
        provider = NULL;
    }
    return ERROR_SUCCESS;
}
