/* SPDX-License-Identifier: MIT */
/*
 * myperf: the smallest library that can be registered as a provider. It has no data, but shows when
 * it is called: each function opens a message box, which becomes an event in the log, because there
 * is no screen. Version 1 does not set its outputs to zero; the system detects this and disables
 * the library. Version 2 (-DMYPERF_VERSION=2) sets them.
 */
#ifndef UNICODE
#define UNICODE
#endif
#include <windows.h>
#include <winperf.h>

#ifndef MYPERF_VERSION
#define MYPERF_VERSION 1
#endif

#ifdef __cplusplus
#define EXPORT extern "C" __declspec(dllexport)
#else
#define EXPORT __declspec(dllexport)
#endif

EXPORT DWORD CALLBACK Open(LPWSTR devices);
EXPORT DWORD WINAPI Collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types);
EXPORT DWORD WINAPI Close(void);
EXPORT BOOL APIENTRY DllMain(HINSTANCE self, DWORD reason, LPVOID reserved);

static void show(LPCWSTR title, LPCWSTR text)
{
    MessageBox(NULL, text, title, MB_OK);
}

DWORD CALLBACK Open(LPWSTR devices)
{
    (void)devices;
    show(TEXT("Open of myperf"), TEXT("Open"));
    return ERROR_SUCCESS;
}

DWORD WINAPI Collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types)
{
    (void)data;
    show(TEXT("Collect of myperf"), query);
#if MYPERF_VERSION >= 2
    *bytes = *types = 0;
#else
    (void)bytes, (void)types;
#endif
    return ERROR_SUCCESS;
}

DWORD WINAPI Close(void)
{
    show(TEXT("Close of myperf"), TEXT("Close"));
    return ERROR_SUCCESS;
}

BOOL APIENTRY DllMain(HINSTANCE self, DWORD reason, LPVOID reserved)
{
    (void)self, (void)reserved;
    switch (reason) {
    case DLL_PROCESS_ATTACH:
        show(TEXT("DllMain of myperf"), TEXT("DLL_PROCESS_ATTACH"));
        break;
    case DLL_PROCESS_DETACH:
        show(TEXT("DllMain of myperf"), TEXT("DLL_PROCESS_DETACH"));
        break;
    case DLL_THREAD_ATTACH:
        show(TEXT("DllMain of myperf"), TEXT("DLL_THREAD_ATTACH"));
        break;
    case DLL_THREAD_DETACH:
        show(TEXT("DllMain of myperf"), TEXT("DLL_THREAD_DETACH"));
        break;
    }
    return TRUE;
}
