/* SPDX-License-Identifier: MIT */
/*
 * A program as Microsoft's documents show it: names of tchar.h, wide printf in the standard's form
 * and in Windows' older form, and a printf that prints a DWORD (32 bits here) with %lu. Compiled as
 * C and C++, ANSI and Unicode.
 */
#include <windows.h>

#include <psapi.h>
#include <stdio.h>
#include <strsafe.h>
#include <tchar.h>

#undef NDEBUG
#include <assert.h>

int main(void)
{
    TCHAR text[64];
    wchar_t wide[64], other[] = L"%s";
    char narrow[128];
    DWORD big = 4000000000u;
    assert(swprintf(wide, 64, L"%s|%S|%lu", L"wide", "narrow", big) == 22);
    assert(wcscmp(wide, L"wide|narrow|4000000000") == 0);
    assert(swprintf(wide, L"%d", 5) == 1 && swprintf(wide, L"old") == 3);
    assert(swprintf(wide, other, L"not constant") == 12);
    assert(swprintf(wide, 3, L"12345") == -1);
    assert(_snwprintf(wide, 64, L"%c", L'x') == 1 && wcscmp(wide, L"x") == 0);
    assert(sprintf(narrow, "%lu %lu %lu %lu %lu %lu %lu", big, big, big, big, big, big, big) == 76);
    assert(snprintf(narrow, 4, "%s", "abcdef") == 6 && strcmp(narrow, "abc") == 0);
    assert(_stprintf(text, _T("%s %lu"), _T("text"), big) == 15);
    assert(_tcscmp(text, TEXT("text 4000000000")) == 0);
    assert(_tcsicmp(_tcschr(text, _T(' ')), _T(" 4000000000")) == 0);
    assert(wsprintf(text, TEXT("%s"), TEXT("w")) == 1);
    assert(StringCchPrintf(text, 64, TEXT("%d"), 3) == S_OK && text[0] == '3' && !text[1]);
    assert(sizeof(wchar_t) == 2);
    wprintf(L"%s %S %lu\n", L"\u0434", "n", big);
    printf("%lu %I64u\n", big, (ULONGLONG)1 << 40);
    _tprintf(_T("%s\n"), _T("t"));
    return 0;
}
