/* SPDX-License-Identifier: MIT */
/* Text, memory and times of libopenperflib-win32: printing by Windows' rules, in 8-bit and 16-bit
 * characters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <crt.h>
#include <strsafe.h>
#include <windows.h>

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Formats with a narrow and a wide format, whose characters are equal; both must give
 * `expected`. */
static void check(const char *expected, const char *format, va_list arguments)
{
    char narrow[600];
    WCHAR wide_format[200], wide[600], wide_expected[600];
    va_list again;
    va_copy(again, arguments);
    memset(narrow, '#', sizeof narrow);
    assert_int_equal(opl_vsnprintf(narrow, sizeof narrow, format, arguments), strlen(expected));
    assert_string_equal(narrow, expected);
    assert_true(MultiByteToWideChar(CP_UTF8, 0, format, -1, wide_format, 200) > 0);
    int count = MultiByteToWideChar(CP_UTF8, 0, expected, -1, wide_expected, 600);
    assert_int_equal(opl_vswprintf(wide, 600, wide_format, again), count - 1);
    assert_memory_equal(wide, wide_expected, (size_t)count * sizeof *wide);
    va_end(again);
}

static void expect_text(const char *expected, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    check(expected, format, arguments);
    va_end(arguments);
}

static void numbers(void **state)
{
    const DWORD big = 4000000000u;
    expect_text("", "");
    expect_text("100 %", "%d %%", 100);
    expect_text("4000000000", "%lu", big);
    expect_text("-294967296", "%ld", big);
    expect_text("4000000000 7 9", "%lu %lu %lu", big, (DWORD)7, (DWORD)9);
    expect_text("1 2 3 4 5 6 7 4000000000 9", "%lu %lu %lu %lu %lu %lu %lu %lu %d", 1u, 2u, 3u, 4u,
                5u, 6u, 7u, big, 9);
    expect_text("18446744073709551615 -1", "%I64u %I64d", UINT64_MAX, INT64_C(-1));
    expect_text("18446744073709551615 -1", "%llu %lld", UINT64_MAX, INT64_C(-1));
    expect_text("5 -6", "%I32u %I32d", 5u, -6);
    expect_text("12 13", "%Iu %zu", (size_t)12, (size_t)13);
    expect_text("65535 -1 255 -1", "%hu %hd %hhu %hhd", 0x1ffff, 0xffff, 0x1ff, 0xff);
    expect_text("ff FF 0xff 0377 377", "%x %X %#x %#o %o", 255, 255, 255, 255, 255);
    expect_text("   42|42   |00042|+42| 42|  042", "%5d|%-5d|%05d|%+d|% d|%5.3d", 42, 42, 42, 42,
                42, 42);
    expect_text("    7|7    |012", "%*d|%*d|%.*d", 5, 7, -5, 7, 3, 12);
    expect_text("3.50 1e+10 0.1 2", "%.2f %g %g %.0f", 3.5, 1e10, 0.1, 2.0);
    expect_text("1.5 2.25", "%Lg %g", 1.5L, 2.25);
    expect_text(sizeof(void *) == 8 ? "000000000000BEEF" : "0000BEEF", "%p",
                (void *)(uintptr_t)0xbeef);
    expect_text("ab", "a%nb", (void *)&errno);
    expect_text("q", "%q");
    expect_text("end ", "end %");
}

static void texts(void **state)
{
    const WCHAR *wide = u"\x41f\x435\x440\x444";
    expect_text("[\xd0\x9f\xd0\xb5\xd1\x80\xd1\x84]", "[%ls]", wide);
    expect_text("[\xd0\x9f\xd0\xb5\xd1\x80\xd1\x84]", "[%ws]", wide);
    expect_text("[narrow]", "[%hs]", "narrow");
    expect_text("[   nar|nar   ]", "[%6.3hs|%-6.3hs]", "narrow", "narrow");
    expect_text("[(null)]", "[%hs]", (char *)NULL);
    expect_text("x y", "%hc %lc", 'x', 'y');
    char narrow[32];
    WCHAR out[32];
    assert_int_equal(opl_snprintf(narrow, 32, "%s %S", "n", u"w"), 3);
    assert_string_equal(narrow, "n w");
    assert_int_equal(opl_swprintf(out, 32, u"%s %S %c %C", u"w", "n", u'a', 'b'), 7);
    assert_memory_equal(out, u"w n a b", 16);
    /* %s copies bytes to bytes without conversion, so even bytes that are not UTF-8 are
     * unchanged */
    assert_int_equal(opl_sprintf(narrow, "%s", "\xff\xfe"), 2);
    assert_string_equal(narrow, "\xff\xfe");
    /* %c prints a zero, too */
    assert_int_equal(opl_sprintf(narrow, "a%cb", 0), 3);
    assert_memory_equal(narrow, "a\0b", 4);
}

static void ends(void **state)
{
    char narrow[8];
    WCHAR wide[8];
    assert_int_equal(opl_snprintf(narrow, 4, "%s", "abcdef"), 6);
    assert_string_equal(narrow, "abc");
    memset(narrow, '#', sizeof narrow);
    assert_int_equal(opl_snprintf_old(narrow, 4, "%s", "abcdef"), -1);
    assert_memory_equal(narrow, "abcd####", 8);
    assert_int_equal(opl_snprintf_old(narrow, 4, "%s", "wxyz"), 4);
    assert_memory_equal(narrow, "wxyz####", 8);
    assert_int_equal(opl_swprintf(wide, 4, u"abcdef"), -1);
    assert_memory_equal(wide, u"abc", 8);
    assert_int_equal(opl_sprintf_s(narrow, 4, "abcdef"), -1);
    assert_string_equal(narrow, "");
    assert_int_equal(opl_sprintf_s(narrow, 4, "abc"), 3);
    assert_int_equal(opl_swprintf_old(wide, u"%d", 5), 1);
    char *storage = malloc(1024);
    memset(storage, '#', 1024);
    assert_int_equal(wsprintfA(storage, "%2000d", 1), 1023);
    assert_int_equal(strlen(storage), 1023);
    assert_int_equal(wsprintfA(storage, "%lu", (DWORD)3), 1);
    free(storage);
}

static void safe(void **state)
{
    char narrow[6];
    WCHAR wide[6];
    size_t count = 99;
    assert_int_equal(StringCchPrintfA(narrow, 6, "%s", "abcdefg"), STRSAFE_E_INSUFFICIENT_BUFFER);
    assert_string_equal(narrow, "abcde");
    assert_int_equal(StringCchPrintfW(wide, 6, u"%lu", (DWORD)12345), S_OK);
    assert_memory_equal(wide, u"12345", 12);
    assert_int_equal(StringCchCopyW(wide, 6, u"12345"), S_OK);
    assert_int_equal(StringCchCopyW(wide, 6, u"123456"), STRSAFE_E_INSUFFICIENT_BUFFER);
    assert_memory_equal(wide, u"12345", 12);
    assert_int_equal(StringCchCopyNA(narrow, 6, "abcdefg", 2), S_OK);
    assert_string_equal(narrow, "ab");
    assert_int_equal(StringCchCatA(narrow, 6, "cdef"), STRSAFE_E_INSUFFICIENT_BUFFER);
    assert_string_equal(narrow, "abcde");
    assert_int_equal(StringCchLengthA(narrow, 6, &count), S_OK);
    assert_int_equal(count, 5);
    assert_int_equal(StringCchLengthA(narrow, 5, &count), STRSAFE_E_INVALID_PARAMETER);
    assert_int_equal(StringCchCopyA(narrow, 0, "a"), STRSAFE_E_INVALID_PARAMETER);
    assert_int_equal(wcscpy_s(wide, 6, u"12345"), 0);
    assert_int_equal(wcscpy_s(wide, 5, u"12345"), ERANGE);
    assert_int_equal(wide[0], 0);
    assert_int_equal(wcsncpy_s(wide, 6, u"123456", _TRUNCATE), STRUNCATE);
    assert_int_equal(wcsncpy_s(wide, 6, u"123456", 3), 0);
    assert_memory_equal(wide, u"123", 8);
    assert_int_equal(wcscat_s(wide, 6, u"45"), 0);
    assert_int_equal(wcscat_s(wide, 6, u"6"), ERANGE);
    assert_int_equal(strcpy_s(narrow, 6, NULL), EINVAL);
    assert_int_equal(_ultow_s(4000000000u, wide, 6, 36), ERANGE);
    assert_int_equal(_ultow_s(48879, wide, 6, 16), 0);
    assert_memory_equal(wide, u"beef", 10);
    assert_int_equal(opl_wcslwr_s(wide, 4), EINVAL);
}

static void to_streams(void **state)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(opl_fwprintf(out, u"%s=%lu\n", u"\x444", 4000000000u), 13);
    assert_int_equal(opl_fprintf(out, "%s=%lu\n", "x", 4000000000u), 13);
    assert_true(opl_fputws(u"\xfc", out) >= 0);
    fclose(out);
    assert_string_equal(text, "\xd1\x84=4000000000\nx=4000000000\n\xc3\xbc");
    free(text);
}

static void comparing(void **state)
{
    assert_int_equal(lstrcmpiW(u"\x41f\xc4z", u"\x43f\xe4Z"), 0);
    assert_true(lstrcmpW(u"a", u"B") > 0 && lstrcmpiW(u"a", u"B") < 0);
    assert_int_equal(lstrcmpiA("\xc3\x84", "\xc3\xa4"), 0);
    assert_int_equal(CompareStringW(LOCALE_USER_DEFAULT, NORM_IGNORECASE, u"ABC", 2, u"abX", 2),
                     CSTR_EQUAL);
    assert_int_equal(CompareStringW(0, 0, u"ab", -1, u"abc", -1), CSTR_LESS_THAN);
    assert_int_equal(CompareStringA(0, 0, "b", 1, "abc", -1), CSTR_GREATER_THAN);
    assert_int_equal(CompareStringW(0, 0, NULL, -1, u"", -1), 0);
    assert_int_equal(GetLastError(), ERROR_INVALID_PARAMETER);
    assert_int_equal(CompareStringW(0, 4, u"", -1, u"", -1), 0);
    assert_int_equal(GetLastError(), ERROR_INVALID_FLAGS);
    WCHAR storage[8] = {0};
    assert_ptr_equal(lstrcpynW(storage, u"abcdef", 4), storage);
    assert_memory_equal(storage, u"abc", 8);
    assert_ptr_equal(lstrcatW(storage, u"d"), storage);
    assert_memory_equal(storage, u"abcd", 10);
    assert_null(lstrcpyA(NULL, "x"));
}

static void memory(void **state)
{
    unsigned char *block = GlobalAlloc(GPTR, 100);
    assert_int_equal(GlobalSize(block), 100);
    block[99] = 1;
    block = GlobalReAlloc(block, 10, GMEM_MOVEABLE);
    assert_int_equal(GlobalSize(block), 10);
    block = GlobalReAlloc(block, 1000, GMEM_MOVEABLE | GMEM_ZEROINIT);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(block[i], 0);
    assert_ptr_equal(GlobalLock(block), block);
    assert_null(GlobalFree(block));
    assert_null(GlobalAlloc(GMEM_FIXED, SIZE_MAX - 8));
    assert_int_equal(GetLastError(), ERROR_NOT_ENOUGH_MEMORY);
    block = HeapAlloc(GetProcessHeap(), HEAP_ZERO_MEMORY, 0);
    assert_non_null(block);
    assert_int_equal(HeapSize(GetProcessHeap(), 0, block), 0);
    assert_true(HeapFree(GetProcessHeap(), 0, block));
    LocalFree(LocalAlloc(LPTR, 5));
}

static void times(void **state)
{
    SYSTEMTIME parts = {2024, 2, 4, 29, 23, 59, 58, 987}, back;
    FILETIME ticks, local;
    assert_true(SystemTimeToFileTime(&parts, &ticks));
    uint64_t value = (uint64_t)ticks.dwHighDateTime << 32 | ticks.dwLowDateTime;
    /* the number of seconds is from date(1): 2024-02-29 23:59:58 UTC */
    assert_true(value == (UINT64_C(11644473600) + 1709251198) * 10000000 + 9870000);
    assert_true(FileTimeToSystemTime(&ticks, &back));
    assert_memory_equal(&parts, &back, sizeof parts);
    parts.wDay = 30;
    assert_false(SystemTimeToFileTime(&parts, &ticks));
    assert_int_equal(GetLastError(), ERROR_INVALID_PARAMETER);
    assert_true(FileTimeToSystemTime(&(FILETIME){0, 0}, &back));
    assert_int_equal(back.wYear, 1601);
    assert_int_equal(back.wDayOfWeek, 1);
    assert_false(FileTimeToSystemTime(&(FILETIME){0, 0x80000000}, &back));
    setenv("TZ", "XYZ-5:30", 1);
    tzset();
    assert_true(FileTimeToLocalFileTime(&(FILETIME){0, 0x01d00000}, &local));
    value = (uint64_t)local.dwHighDateTime << 32 | local.dwLowDateTime;
    assert_true(value == (UINT64_C(0x01d00000) << 32) + UINT64_C(198000000000));
    DWORD before = GetTickCount();
    Sleep(20);
    assert_in_range(GetTickCount() - before, 20, 20000);
    LONG counted = 5;
    assert_int_equal(InterlockedIncrement(&counted), 6);
    assert_int_equal(InterlockedDecrement(&counted), 5);
    assert_int_equal(InterlockedExchangeAdd(&counted, 5), 5);
    assert_int_equal(InterlockedCompareExchange(&counted, 1, 10), 10);
    assert_int_equal(InterlockedCompareExchange(&counted, 2, 10), 1);
    assert_int_equal(InterlockedExchange(&counted, 3), 1);
}

static void modules(void **state)
{
    char path[4096];
    HMODULE library = GetModuleHandleA("LIBOPENPERFLIB.SO.0");
    library = library ? library : GetModuleHandleA("libopenperflib.so.0");
    assert_non_null(library);
    assert_true(GetModuleFileNameA(library, path, sizeof path) > 0);
    assert_non_null(strstr(path, "libopenperflib.so"));
    assert_ptr_equal(GetModuleHandleW(u"libopenperflib.so.0"), library);
    assert_null(GetModuleHandleA("no such module.dll"));
    assert_int_equal(GetLastError(), ERROR_MOD_NOT_FOUND);
    assert_true(GetModuleFileNameA(GetModuleHandleA(NULL), path, sizeof path) > 0);
    assert_non_null(strstr(path, "test-api-shim_text"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers), cmocka_unit_test(texts),      cmocka_unit_test(ends),
        cmocka_unit_test(safe),    cmocka_unit_test(to_streams), cmocka_unit_test(comparing),
        cmocka_unit_test(memory),  cmocka_unit_test(times),      cmocka_unit_test(modules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
