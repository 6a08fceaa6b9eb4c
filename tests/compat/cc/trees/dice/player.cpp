// SPDX-License-Identifier: MIT
// The application: writes two numbers to the mapping and waits to be killed; with an argument it
// holds the mutex while it waits.
#include <windows.h>
#include "../shared/dice.h"
#include <stdio.h>
#include <tchar.h>

int _tmain(int argc, TCHAR *argv[])
{
    HANDLE hMutex = CreateMutex(NULL, TRUE, DICE_MUTEX);
    HANDLE hMap = CreateFileMapping(INVALID_HANDLE_VALUE, NULL, PAGE_READWRITE, 0, sizeof(DICE_SHARED), DICE_MAPPING);
    DICE_SHARED *pShared = (DICE_SHARED *)MapViewOfFile(hMap, FILE_MAP_ALL_ACCESS, 0, 0, 0);
    if (!pShared) {
        printf("error %lu\n", GetLastError());
        return 1;
    }
    pShared->throws = 2;
    pShared->sum = 11;
    if (argc == 1)
        ReleaseMutex(hMutex);
    printf("ready %I64u\n", (ULONGLONG)pShared->sum);
    fflush(stdout);
    Sleep(INFINITE);
    return 0;
}
