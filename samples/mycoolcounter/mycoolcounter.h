/* SPDX-License-Identifier: MIT */
/* Shared by the files of mycoolcounter. */
#ifndef MYCOOLCOUNTER_H
#define MYCOOLCOUNTER_H

#include "../common/sample.h"

EXPORT HRESULT APIENTRY DllRegisterServer(void);
EXPORT HRESULT APIENTRY DllUnregisterServer(void);
EXPORT BOOL APIENTRY DllMain(HINSTANCE self, DWORD reason, LPVOID reserved);

/* This library's handle, from DllMain. */
extern HINSTANCE thisLibrary;

/* ---- place.c: the registration that we replace ---- */

enum { SYSTEM = 2, NAME_SIZE = 256, TEXT_SIZE = 512 };

/* A key below the Performance key of the service that has System. The key MyCoolCounter has the
 * original values of the Performance key, the numbers of our counter, and the settings for other
 * changes of System (Remove, Change, Value). */
#define OWN_KEY TEXT("MyCoolCounter")

/* Opens the Performance key of the service that has System; with `ours`, of the service in which
 * this library has replaced the original one. */
DWORD placeOpen(BOOL ours, REGSAM access, HKEY *ret);
DWORD placeNumber(HKEY key, LPCWSTR value, DWORD *ret);
/* Registers this library in `performance` in place of the original one, whose values are saved in
 * `own`. */
DWORD placeTake(HKEY performance, HKEY own);
/* Restores the saved values. ERROR_BUSY: another library was registered in place of this one. */
DWORD placeReturn(HKEY performance, HKEY own);

/* ---- names.c: one name and one explanation in the base of every language ---- */

/* Finds the next free numbers for a name and its explanation. */
DWORD namesNext(DWORD *counter, DWORD *help);
DWORD namesAdd(DWORD counter, DWORD help);
DWORD namesRemove(DWORD counter, DWORD help);

/* ---- original.c: the library that was registered before ---- */

struct original {
    void *library;
    PM_OPEN_PROC *open;
    PM_COLLECT_PROC *collect;
    PM_CLOSE_PROC *close;
};
/* Loads the library saved in `own`, and finds its functions. */
DWORD originalLoad(struct original *original, HKEY own);
void originalUnload(struct original *original);

/* ---- change.c: changes of an object in an answer ---- */

/* Each function changes an object without instances, moves the data between the object and `end`,
 * and returns by how many bytes `end` has moved. */
enum { SIZE_FOR_COUNTER = sizeof(PERF_COUNTER_DEFINITION) + sizeof(ULONGLONG) + 7 };
LONG changeAdd(PERF_OBJECT_TYPE *object, BYTE *end, DWORD name, DWORD help, ULONGLONG value);
LONG changeRemove(PERF_OBJECT_TYPE *object, BYTE *end, DWORD name);
void changeValue(PERF_OBJECT_TYPE *object, DWORD name, ULONGLONG value);

#endif
