/* SPDX-License-Identifier: MIT */
/* A library with a DllMain that counts its calls, and refuses to be loaded if REFUSE_TO_START is
 * set. It has no function `open`, but libc has one: a test checks that libc's is not taken for the
 * provider's. */
#include <windows.h>
#include <winperf.h>

#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT BOOL WINAPI DllMain(HINSTANCE instance, DWORD reason, LPVOID reserved);
EXPORT DWORD Collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types);

BOOL WINAPI DllMain(HINSTANCE instance, DWORD reason, LPVOID reserved)
{
    char text[] = "none";
    const char *before = getenv("DLLMAIN_CALLS");
    text[0] = before ? before[0] : '0';
    text[1] = before ? before[1] : '0';
    text[2] = '\0';
    if (reason == DLL_PROCESS_ATTACH)
        text[0]++;
    if (reason == DLL_PROCESS_DETACH)
        text[1]++;
    setenv("DLLMAIN_CALLS", text, 1);
    return !getenv("REFUSE_TO_START") && instance != NULL && reserved == NULL;
}

DWORD Collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types)
{
    return ERROR_SUCCESS;
}
