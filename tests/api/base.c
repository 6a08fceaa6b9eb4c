/* SPDX-License-Identifier: MIT */
/* Tests of win32/base.c through the public library only: results, error codes, and outputs that
 * must stay unchanged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <openperflib/block.h>
#include <windows.h>

static LONGLONG now_100ns(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (LONGLONG)time.tv_sec * 10000000 + time.tv_nsec / 100;
}

/* ---- last error ---- */

static void *other_thread(void *seen)
{
    *(DWORD *)seen = GetLastError();
    SetLastError(99);
    return NULL;
}

static void last_error_belongs_to_the_thread(void **state)
{
    DWORD seen = 1;
    pthread_t thread;
    SetLastError(ERROR_MORE_DATA);
    assert_int_equal(pthread_create(&thread, NULL, other_thread, &seen), 0);
    pthread_join(thread, NULL);
    assert_int_equal(seen, ERROR_SUCCESS);
    assert_int_equal(GetLastError(), ERROR_MORE_DATA);
}

/* ---- clock ---- */

static void frequency_is_ten_million(void **state)
{
    LARGE_INTEGER frequency = {.QuadPart = 0};
    assert_true(QueryPerformanceFrequency(&frequency));
    assert_int_equal(frequency.QuadPart, 10000000);
    assert_false(QueryPerformanceFrequency(NULL));
    assert_int_equal(GetLastError(), ERROR_NOACCESS);
}

static void counter_is_the_monotonic_clock(void **state)
{
    LONGLONG before = now_100ns(CLOCK_MONOTONIC);
    LARGE_INTEGER ticks;
    assert_true(QueryPerformanceCounter(&ticks));
    assert_in_range(ticks.QuadPart, before, now_100ns(CLOCK_MONOTONIC));
    assert_false(QueryPerformanceCounter(NULL));
    assert_int_equal(GetLastError(), ERROR_NOACCESS);
}

static void system_time_is_utc(void **state)
{
    const LONGLONG from_1601 = 116444736000000000;
    LONGLONG before = now_100ns(CLOCK_REALTIME) + from_1601;
    FILETIME file;
    GetSystemTimeAsFileTime(&file);
    LONGLONG then = (LONGLONG)((ULONGLONG)file.dwHighDateTime << 32 | file.dwLowDateTime);
    assert_in_range(then, before, now_100ns(CLOCK_REALTIME) + from_1601);
}

static void system_time_has_calendar_fields(void **state)
{
    SYSTEMTIME got;
    time_t before = time(NULL);
    struct tm first, last;
    GetSystemTime(&got);
    time_t after = time(NULL);
    gmtime_r(&before, &first);
    gmtime_r(&after, &last);
    assert_in_range(got.wYear, first.tm_year + 1900, last.tm_year + 1900);
    assert_true(got.wHour == first.tm_hour || got.wHour == last.tm_hour);
    assert_true(got.wDayOfWeek == first.tm_wday || got.wDayOfWeek == last.tm_wday);
    assert_true(got.wMonth == first.tm_mon + 1 || got.wMonth == last.tm_mon + 1);
    assert_true(got.wDay == first.tm_mday || got.wDay == last.tm_mday);
    assert_in_range(got.wMilliseconds, 0, 999);
}

static void ignore(int signal)
{
}

static void sleep_survives_signals(void **state)
{
    struct sigaction action = {.sa_handler = ignore}, old;
    LONGLONG before = now_100ns(CLOCK_MONOTONIC);
    sigaction(SIGALRM, &action, &old);
    ualarm(5000, 5000);
    Sleep(40);
    ualarm(0, 0);
    sigaction(SIGALRM, &old, NULL);
    assert_true(now_100ns(CLOCK_MONOTONIC) - before >= 400000);
    Sleep(0);
}

/* ---- the computer's name ---- */

static void computer_name_fits_exactly(void **state)
{
    char name[64], exact[64];
    DWORD size = sizeof name, tight;
    assert_true(GetComputerNameA(name, &size));
    assert_int_equal(size, strlen(name));
    assert_in_range(size, 1, 45);
    assert_null(strchr(name, '.'));
    tight = size + 1;
    assert_true(GetComputerNameA(exact, &tight));
    assert_string_equal(exact, name);
    assert_int_equal(tight, size);
}

static void computer_name_too_small_tells_the_size(void **state)
{
    char name[64] = "untouched";
    DWORD size = 0, needed;
    SetLastError(0);
    assert_false(GetComputerNameA(NULL, &size));
    assert_int_equal(GetLastError(), ERROR_BUFFER_OVERFLOW);
    needed = size--;
    assert_false(GetComputerNameA(name, &size));
    assert_int_equal(size, needed);
    assert_string_equal(name, "untouched");
    assert_true(GetComputerNameA(name, &size));
    assert_int_equal(size, needed - 1);
}

static void computer_name_wide_is_the_same(void **state)
{
    WCHAR wide[16];
    char narrow[64], back[64];
    DWORD size = 0, narrow_size = sizeof narrow;
    assert_false(GetComputerNameW(NULL, &size));
    assert_int_equal(GetLastError(), ERROR_BUFFER_OVERFLOW);
    assert_in_range(size, 2, MAX_COMPUTERNAME_LENGTH + 1);
    assert_true(GetComputerNameW(wide, &size));
    assert_int_equal(lstrlenW(wide), size);
    assert_true(GetComputerNameA(narrow, &narrow_size));
    assert_int_equal(WideCharToMultiByte(CP_UTF8, 0, wide, -1, back, sizeof back, NULL, NULL),
                     narrow_size + 1);
    assert_string_equal(back, narrow);
}

static void computer_name_refuses_null(void **state)
{
    DWORD size = 100;
    assert_false(GetComputerNameA(NULL, NULL));
    assert_int_equal(GetLastError(), ERROR_INVALID_PARAMETER);
    assert_false(GetComputerNameW(NULL, &size));
    assert_int_equal(GetLastError(), ERROR_INVALID_PARAMETER);
    assert_int_equal(size, 100);
}

/* ---- each block's header has the clock and the name that these functions return ---- */

static void block_header_agrees(void **state)
{
    static BYTE data[256 * 1024];
    char name[64], block_name[64];
    DWORD size = sizeof data, name_size = sizeof name, type;
    LARGE_INTEGER before, after, frequency;
    opl_block block;
    QueryPerformanceCounter(&before);
    assert_int_equal(RegQueryValueExA(HKEY_PERFORMANCE_DATA, "nonsense", NULL, &type, data, &size),
                     ERROR_SUCCESS);
    QueryPerformanceCounter(&after);
    QueryPerformanceFrequency(&frequency);
    assert_int_equal(opl_block_init(&block, data, size), OPL_BLOCK_GOOD);
    assert_in_range(block.header.PerfTime.QuadPart, before.QuadPart, after.QuadPart);
    assert_int_equal(block.header.PerfFreq.QuadPart, frequency.QuadPart);
    opl_block_system_name(&block, block_name, sizeof block_name);
    assert_true(GetComputerNameA(name, &name_size));
    assert_string_equal(block_name, name);
}

/* ---- language ---- */

static LANGID language_under(const char *locale)
{
    setenv("LC_ALL", locale, 1);
    LANGID user = GetUserDefaultUILanguage();
    assert_int_equal(GetSystemDefaultUILanguage(), user);
    unsetenv("LC_ALL");
    return user;
}

static void language_follows_the_locale(void **state)
{
    assert_int_equal(PRIMARYLANGID(language_under("de_DE.UTF-8")), LANG_GERMAN);
    assert_int_equal(PRIMARYLANGID(language_under("ru_RU.UTF-8")), LANG_RUSSIAN);
    assert_int_equal(language_under("C"), MAKELANGID(LANG_ENGLISH, SUBLANG_DEFAULT));
}

/* ---- text ---- */

static void lengths_of_text(void **state)
{
    assert_int_equal(lstrlenA("Перф"), 8);
    assert_int_equal(lstrlenW(u"Перф"), 4);
    assert_int_equal(lstrlenA(NULL), 0);
    assert_int_equal(lstrlenW(NULL), 0);
}

static void wide_text_becomes_utf8(void **state)
{
    char out[16] = "################";
    BOOL used = TRUE;
    assert_int_equal(WideCharToMultiByte(CP_ACP, 0, u"Ж\U0001F600", -1, out, 16, "?", &used), 7);
    assert_string_equal(out, "Ж\U0001F600");
    assert_false(used);
    assert_int_equal(WideCharToMultiByte(CP_ACP, 0, u"Жab", 2, NULL, 0, NULL, NULL), 3);
    assert_int_equal(WideCharToMultiByte(CP_ACP, 0, u"ab", 2, out, 2, NULL, NULL), 2);
}

static void utf8_becomes_wide_text(void **state)
{
    WCHAR out[8];
    assert_int_equal(MultiByteToWideChar(CP_UTF8, 0, "Ж\U0001F600", -1, out, 8), 4);
    assert_memory_equal(out, u"Ж\U0001F600", 8);
    assert_int_equal(MultiByteToWideChar(CP_ACP, MB_PRECOMPOSED, "ab\xff", 3, out, 8), 3);
    assert_int_equal(out[2], 0xfffd);
    assert_int_equal(MultiByteToWideChar(CP_OEMCP, 0, "abc", 3, NULL, 0), 3);
}

static DWORD to_wide_error(UINT page, DWORD flags, LPCSTR text, int count, LPWSTR out, int capacity)
{
    SetLastError(0);
    assert_int_equal(MultiByteToWideChar(page, flags, text, count, out, capacity), 0);
    return GetLastError();
}

static void to_wide_refuses(void **state)
{
    WCHAR out[8];
    assert_int_equal(to_wide_error(CP_UTF8, 0, "abc", 3, out, 2), ERROR_INSUFFICIENT_BUFFER);
    assert_int_equal(to_wide_error(CP_UTF8, 0, NULL, 3, out, 2), ERROR_INVALID_PARAMETER);
    assert_int_equal(to_wide_error(CP_UTF8, 0, "abc", 0, out, 2), ERROR_INVALID_PARAMETER);
    assert_int_equal(to_wide_error(CP_UTF8, 0, "abc", 3, NULL, 2), ERROR_INVALID_PARAMETER);
    assert_int_equal(to_wide_error(CP_UTF8, 0, "abc", 3, out, -1), ERROR_INVALID_PARAMETER);
    assert_int_equal(to_wide_error(1251, 0, "abc", 3, out, 8), ERROR_INVALID_PARAMETER);
    assert_int_equal(to_wide_error(CP_UTF8, 0x4000, "abc", 3, out, 8), ERROR_INVALID_FLAGS);
    assert_int_equal(to_wide_error(CP_UTF8, MB_ERR_INVALID_CHARS, "a\xff", 2, out, 8),
                     ERROR_NO_UNICODE_TRANSLATION);
}

static DWORD to_utf8_error(UINT page, DWORD flags, LPCWSTR text, int count, LPSTR out, int capacity,
                           LPCSTR default_char)
{
    SetLastError(0);
    assert_int_equal(
        WideCharToMultiByte(page, flags, text, count, out, capacity, default_char, NULL), 0);
    return GetLastError();
}

static void to_utf8_refuses(void **state)
{
    static const WCHAR lone[] = {'a', 0xd800, 'b', 0}, reversed[] = {0xdc00, 0xd800, 0};
    char out[8];
    assert_int_equal(to_utf8_error(CP_ACP, 0, u"Ж", 1, out, 1, NULL), ERROR_INSUFFICIENT_BUFFER);
    assert_int_equal(to_utf8_error(CP_ACP, 0, NULL, 1, out, 1, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(to_utf8_error(CP_ACP, 0, u"a", 0, out, 1, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(to_utf8_error(1252, 0, u"a", 1, out, 8, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(to_utf8_error(CP_UTF8, 0, u"a", 1, out, 8, "?"), ERROR_INVALID_PARAMETER);
    assert_int_equal(to_utf8_error(CP_ACP, 1, u"a", 1, out, 8, NULL), ERROR_INVALID_FLAGS);
    assert_int_equal(to_utf8_error(CP_UTF8, WC_ERR_INVALID_CHARS, lone, 3, out, 8, NULL),
                     ERROR_NO_UNICODE_TRANSLATION);
    assert_int_equal(to_utf8_error(CP_UTF8, WC_ERR_INVALID_CHARS, reversed, 2, out, 8, NULL),
                     ERROR_NO_UNICODE_TRANSLATION);
    assert_int_equal(to_utf8_error(CP_UTF8, WC_ERR_INVALID_CHARS, lone, 2, out, 8, NULL),
                     ERROR_NO_UNICODE_TRANSLATION);
    assert_int_equal(
        WideCharToMultiByte(CP_UTF8, WC_ERR_INVALID_CHARS, u"\U0001F600", 2, out, 8, NULL, NULL),
        4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(last_error_belongs_to_the_thread),
        cmocka_unit_test(frequency_is_ten_million),
        cmocka_unit_test(counter_is_the_monotonic_clock),
        cmocka_unit_test(system_time_is_utc),
        cmocka_unit_test(system_time_has_calendar_fields),
        cmocka_unit_test(sleep_survives_signals),
        cmocka_unit_test(computer_name_fits_exactly),
        cmocka_unit_test(computer_name_too_small_tells_the_size),
        cmocka_unit_test(computer_name_wide_is_the_same),
        cmocka_unit_test(computer_name_refuses_null),
        cmocka_unit_test(block_header_agrees),
        cmocka_unit_test(language_follows_the_locale),
        cmocka_unit_test(lengths_of_text),
        cmocka_unit_test(wide_text_becomes_utf8),
        cmocka_unit_test(utf8_becomes_wide_text),
        cmocka_unit_test(to_wide_refuses),
        cmocka_unit_test(to_utf8_refuses),
    };
    return cmocka_run_group_tests_name("api-base", tests, NULL, NULL);
}
