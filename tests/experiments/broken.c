/* SPDX-License-Identifier: MIT */
/*
 * Libraries that fail while they are loaded or unloaded. This file is built once for each kind; the
 * macro BROKEN defines what the library's constructor, DllMain or destructor does.
 */
#include "third_party.h"

#include <signal.h>

EXPORT DWORD lie_open(LPWSTR names);
EXPORT DWORD lie_close(void);
COLLECT(lie_good);

DWORD lie_open(LPWSTR names)
{
    return ERROR_SUCCESS;
}

DWORD lie_close(void)
{
    return ERROR_SUCCESS;
}

#ifdef UNDEFINED
extern DWORD this_function_is_nowhere(void);
#endif

DWORD lie_good(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types)
{
#ifdef UNDEFINED
    return this_function_is_nowhere();
#endif
    return third_party_answer(data, bytes, types);
}

/* volatile, so that the compiler cannot detect the error */
static volatile int *volatile nowhere;

__attribute__((unused)) static void crash(void)
{
    *nowhere = 1;
}

#ifdef CONSTRUCTOR
__attribute__((constructor)) static void construct(void)
{
    CONSTRUCTOR;
}
#endif
#ifdef DESTRUCTOR
__attribute__((destructor)) static void destruct(void)
{
    DESTRUCTOR;
}
#endif
#if defined ATTACH || defined DETACH
EXPORT BOOL APIENTRY DllMain(HINSTANCE self, DWORD reason, LPVOID reserved);

BOOL APIENTRY DllMain(HINSTANCE self, DWORD reason, LPVOID reserved)
{
#ifdef ATTACH
    if (reason == DLL_PROCESS_ATTACH)
        ATTACH;
#else
    if (reason == DLL_PROCESS_DETACH)
        DETACH;
#endif
    return TRUE;
}
#endif
