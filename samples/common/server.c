/* SPDX-License-Identifier: MIT */
/* A provider that regsvr32 registers, with nothing but the four values of its key. */
#include "sample.h"

EXPORT HRESULT APIENTRY DllRegisterServer(void);
EXPORT HRESULT APIENTRY DllUnregisterServer(void);
EXPORT BOOL APIENTRY DllMain(HINSTANCE self, DWORD reason, LPVOID reserved);

static HINSTANCE thisLibrary;

BOOL APIENTRY DllMain(HINSTANCE self, DWORD reason, LPVOID reserved)
{
    (void)reserved;
    if (reason == DLL_PROCESS_ATTACH)
        thisLibrary = self;
    return TRUE;
}

static HRESULT resultOf(DWORD status)
{
    return status == ERROR_SUCCESS ? S_OK : (HRESULT)(0x80070000 | status);
}

HRESULT APIENTRY DllRegisterServer(void)
{
    return resultOf(sampleRegister(samplePerformanceKey, thisLibrary));
}

HRESULT APIENTRY DllUnregisterServer(void)
{
    return resultOf(sampleUnregister(samplePerformanceKey));
}
