/* SPDX-License-Identifier: MIT */
/* The contents of the tank, and whether a query requests them. */
#include <windows.h>
#include <winperf.h>
#include <stdlib.h>
#include "inc/tankdata.h"

/* also defined in TankMain.c, which old compilers allow */
int nCommon;

static struct tank {
    DWORD level;
    LONGLONG pumped;
} * pTank;

BOOL IsNumberWanted(WCHAR FAR *lpList, DWORD dwNumber)
{
    BOOL bWord = TRUE;
    if (lstrlenW(lpList) == 0 || !wcscmp(lpList, L"Global"))
        return TRUE;
    while (*lpList) {
        if (bWord && _wtoi(lpList) == (int)dwNumber)
            return TRUE;
        bWord = *lpList++ == L' ';
    }
    return FALSE;
}

VOID FillTank(PVOID pWhere)
{
    PERF_COUNTER_BLOCK UNALIGNED *pBlock = (PERF_COUNTER_BLOCK *)pWhere;
    if (!pTank) {
        pTank = (struct tank *)GlobalAlloc(GPTR, sizeof *pTank / 2);
        pTank = (struct tank *)GlobalReAlloc(pTank, sizeof *pTank, GMEM_ZEROINIT | GMEM_MOVEABLE);
        pTank->level = GlobalSize(pTank) == sizeof *pTank ? 815 : 0;
    }
    pTank->pumped += 0x100000000;
    pBlock->ByteLength = SIZE_OF_TANK_DATA;
    *(DWORD *)((PBYTE)pWhere + LEVEL_OFFSET) = pTank->level;
    *(LONGLONG UNALIGNED *)((PBYTE)pWhere + PUMPED_OFFSET) = pTank->pumped;
}

VOID ReleaseTank(void)
{
    pTank = (struct tank *)GlobalFree(pTank);
}
