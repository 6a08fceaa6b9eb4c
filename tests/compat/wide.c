/* SPDX-License-Identifier: MIT */
/*
 * Tests of wide.h: compiled as C and C++, with -fshort-wchar (L"" text, wcs* names) and without
 * (u"" text, opl_wcs* names). It uses plain asserts, because cmocka does not support a 2-byte
 * wchar_t.
 */
#include <windows.h>

#undef NDEBUG
#include <assert.h>

#if __SIZEOF_WCHAR_T__ == 2
#define T(text) L##text
#else
#define T(text) u##text
#define wcslen opl_wcslen
#define wcsnlen opl_wcsnlen
#define wcscpy opl_wcscpy
#define wcsncpy opl_wcsncpy
#define wcscat opl_wcscat
#define wcsncat opl_wcsncat
#define wcscmp opl_wcscmp
#define wcsncmp opl_wcsncmp
#define wcschr opl_wcschr
#define wcsrchr opl_wcsrchr
#define wcsstr opl_wcsstr
#define wcsspn opl_wcsspn
#define wcscspn opl_wcscspn
#define wcspbrk opl_wcspbrk
#define wcstok opl_wcstok
#define wcstol opl_wcstol
#define wcstoul opl_wcstoul
#define wcstoull opl_wcstoull
#define wcstod opl_wcstod
#define wmemcpy opl_wmemcpy
#define wmemmove opl_wmemmove
#define wmemset opl_wmemset
#define wmemcmp opl_wmemcmp
#define wmemchr opl_wmemchr
#endif

static const WCHAR five[] = T("Перф!");

static void lengths(void)
{
    assert(wcslen(five) == 5 && wcslen(T("")) == 0);
    assert(wcsnlen(five, 3) == 3 && wcsnlen(five, 9) == 5);
}

static void copies(void)
{
    WCHAR storage[16];
    assert(wcscpy(storage, five) == storage && wcscmp(storage, five) == 0);
    assert(wcscat(storage, T("ab")) == storage && wcslen(storage) == 7);
    wcsncat(storage, T("xyz"), 2);
    assert(wcscmp(storage + 5, T("abxy")) == 0);
    wmemset(storage, '#', 16);
    wcsncpy(storage, T("ab"), 4);
    assert(storage[1] == 'b' && storage[2] == 0 && storage[3] == 0 && storage[4] == '#');
    wcsncpy(storage, T("abcdef"), 4);
    assert(storage[3] == 'd' && storage[4] == '#');
    wmemmove(storage + 1, storage, 4);
    assert(wmemcmp(storage, T("aabcd"), 5) == 0);
    assert(wmemcpy(storage, five, 6) == storage && wmemchr(storage, '!', 5) == storage + 4);
    assert(wmemchr(storage, '!', 4) == NULL);
}

static void comparisons(void)
{
    assert(wcscmp(T("a"), T("b")) < 0 && wcscmp(T("b"), T("a")) > 0 && wcscmp(T("a"), T("a")) == 0);
    assert(wcscmp(T("a"), T("ab")) < 0 && wcscmp(T("\xffff"), T("a")) > 0);
    assert(wcsncmp(T("abX"), T("abY"), 2) == 0 && wcsncmp(T("abX"), T("abY"), 3) < 0);
    assert(_wcsicmp(T("GLOBAL"), T("global")) == 0 && _wcsicmp(T("a"), T("B")) < 0);
    assert(_wcsnicmp(T("Counter 009"), T("COUNTER x"), 8) == 0);
}

static void searches(void)
{
    const WCHAR *path = T("a\\b\\c");
    assert(wcschr(path, '\\') == path + 1 && wcsrchr(path, '\\') == path + 3);
    assert(wcschr(path, 'x') == NULL && wcschr(path, 0) == path + 5 &&
           wcsrchr(path, 0) == path + 5);
    assert(wcsstr(path, T("b\\c")) == path + 2 && wcsstr(path, T("")) == path);
    assert(wcsstr(path, T("cd")) == NULL);
    assert(wcsspn(path, T("\\ab")) == 4 && wcscspn(path, T("bc")) == 2);
    assert(wcspbrk(path, T("cb")) == path + 2 && wcspbrk(path, T("xyz")) == NULL);
}

static void tokens(void)
{
    WCHAR text[] = T("  2 230 \t6"), *rest = NULL;
    assert(wcscmp(wcstok(text, T(" \t"), &rest), T("2")) == 0);
    assert(wcscmp(wcstok(NULL, T(" \t"), &rest), T("230")) == 0);
    assert(wcscmp(wcstok(NULL, T(" \t"), &rest), T("6")) == 0);
    assert(wcstok(NULL, T(" \t"), &rest) == NULL && wcstok(NULL, T(" \t"), &rest) == NULL);
}

static void numbers(void)
{
    const WCHAR *text = T("  -12xyz");
    WCHAR *end;
    assert(wcstol(text, &end, 10) == -12 && end == text + 5);
    assert(wcstoul(T("ff"), NULL, 16) == 255 && wcstoul(T("0x10"), NULL, 0) == 16);
    assert(wcstoull(T("18446744073709551615"), NULL, 10) == 18446744073709551615ULL);
    assert(wcstol(T("ж"), &end, 10) == 0 && *end == T("ж")[0]);
    assert(wcstod(T("2.5"), NULL) == 2.5);
    assert(_wtoi(T("42")) == 42 && _wtol(T("-7")) == -7 && _wtoi(T("")) == 0);
}

static void cases(void)
{
    WCHAR storage[] = T("AbЖ9");
    assert(wcscmp(_wcslwr(storage), T("abЖ9")) == 0 && wcscmp(_wcsupr(storage), T("ABЖ9")) == 0);
    WCHAR *copy = _wcsdup(storage);
    assert(copy && copy != storage && wcscmp(copy, storage) == 0);
    free(copy);
}

int main(void)
{
    lengths();
    copies();
    comparisons();
    searches();
    tokens();
    numbers();
    cases();
    return 0;
}
