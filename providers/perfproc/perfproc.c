/* SPDX-License-Identifier: MIT */
/*
 * perfproc.so: Process and Thread, as an ordinary provider. The three functions have the names that
 * Windows registers for PerfProc.
 */
#include "perfproc.h"

static const opl_object *const objects[] = {&perfproc_process, &perfproc_thread};
OPL_EXPORT_TABLES(objects);

static opl_provider *provider;
static unsigned opened; /* remote service processes open once per connection (D.2) */

DWORD APIENTRY OpenSysProcessObject(LPWSTR devices);
DWORD APIENTRY CollectSysProcessObjectData(LPWSTR query, LPVOID *data, LPDWORD bytes,
                                           LPDWORD types);
DWORD APIENTRY CloseSysProcessObject(void);

__declspec(dllexport) DWORD APIENTRY OpenSysProcessObject(LPWSTR devices)
{
    (void)devices;
    if (opened == 0) {
        DWORD status = opl_provider_open(OPL_OBJECTS(objects), 0, 0, &provider);
        if (status)
            return status;
    }
    opened++;
    return ERROR_SUCCESS;
}

__declspec(dllexport) DWORD APIENTRY
    CollectSysProcessObjectData(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types)
{
    return opl_provider_collect(provider, query, data, bytes, types);
}

__declspec(dllexport) DWORD APIENTRY CloseSysProcessObject(void)
{
    if (opened > 0 && --opened == 0) {
        opl_provider_close(provider);
        provider = NULL;
    }
    return ERROR_SUCCESS;
}
