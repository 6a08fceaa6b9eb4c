/* SPDX-License-Identifier: MIT */
/*
 * Shared by the sample providers that two articles on Windows' counters describe: the numbers of
 * their registration, and the words of a query. Windows source, like the providers themselves:
 * UNICODE and TEXT(), so that it compiles for Windows and, with a wchar_t of 2 or of 4 bytes, for
 * Linux; as C and as C++.
 */
#ifndef SAMPLE_H
#define SAMPLE_H

#ifndef UNICODE
#define UNICODE
#endif
#include <windows.h>
#include <winperf.h>

#ifdef __cplusplus
#define EXPORT extern "C" __declspec(dllexport)
#else
#define EXPORT __declspec(dllexport)
#endif

/* The three functions, whose names are written into the registry. */
EXPORT DWORD CALLBACK Open(LPWSTR devices);
EXPORT DWORD WINAPI Collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types);
EXPORT DWORD WINAPI Close(void);

/* The key where lodctr writes the numbers of a service; the text is made at compile time. */
#define PERFORMANCE_KEY(service)                                                                   \
    TEXT("SYSTEM\\CurrentControlSet\\Services\\") TEXT(service) TEXT("\\Performance")

/* Reads First Counter and First Help below the key `performanceKey` of HKEY_LOCAL_MACHINE.
 * ERROR_FILE_NOT_FOUND: lodctr has not run yet. */
DWORD sampleNumbers(LPCWSTR performanceKey, DWORD *name, DWORD *help);

/* ---- register.c: DllRegisterServer and DllUnregisterServer ---- */
/* Creates the key, and writes Library, Open, Collect and Close. Returns Windows' error codes. */
DWORD sampleRegister(LPCWSTR performanceKey, HINSTANCE library);
/* Deletes the four values. The key, and the service's key above it, are deleted too if they are
 * empty then. */
DWORD sampleUnregister(LPCWSTR performanceKey);
/* The key of a provider that is linked with server.c, which defines the functions for regsvr32. */
extern const WCHAR samplePerformanceKey[];

/* ---- numbers.c, query.c ---- */
/* Seeds rand(), which would otherwise return the same numbers in each process; a query from a shell
 * runs in a new process. */
void sampleSeed(void);

/* How a query requests an object. */
typedef enum { NOT_REQUESTED, REQUEST_GLOBAL, REQUEST_COSTLY, REQUEST_BY_NUMBER } Request;
/* Does the query request this object? A query has words separated by blanks: Global, Costly, title
 * indices. An empty query is Global; "Foreign" queries another computer and is not answered
 * here. */
Request sampleRequest(LPCWSTR query, DWORD object);

#endif
