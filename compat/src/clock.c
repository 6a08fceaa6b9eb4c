/* SPDX-License-Identifier: MIT */
/* Times in Windows' formats: ticks since the machine started, local time, date and time. */
#include "shims.h"

#include <string.h>
#include <time.h>

static const int64_t ticks_per_second = 10000000, ticks_per_ms = 10000;
static const int64_t unix_epoch = INT64_C(116444736000000000);

ULONGLONG WINAPI GetTickCount64(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (ULONGLONG)now.tv_sec * 1000 + (ULONGLONG)now.tv_nsec / 1000000;
}

DWORD WINAPI GetTickCount(void)
{
    return (DWORD)GetTickCount64();
}

static void fill(SYSTEMTIME *ret, const struct tm *parts, int64_t ticks)
{
    *ret = (SYSTEMTIME){.wYear = (WORD)(parts->tm_year + 1900),
                        .wMonth = (WORD)(parts->tm_mon + 1),
                        .wDayOfWeek = (WORD)parts->tm_wday,
                        .wDay = (WORD)parts->tm_mday,
                        .wHour = (WORD)parts->tm_hour,
                        .wMinute = (WORD)parts->tm_min,
                        .wSecond = (WORD)parts->tm_sec,
                        .wMilliseconds = (WORD)(ticks % ticks_per_second / ticks_per_ms)};
}

void WINAPI GetLocalTime(SYSTEMTIME *ret)
{
    struct timespec now;
    struct tm parts;
    clock_gettime(CLOCK_REALTIME, &now);
    localtime_r(&now.tv_sec, &parts);
    fill(ret, &parts, now.tv_nsec / 100);
}

static int64_t ticks_of(const FILETIME *time)
{
    return (int64_t)((uint64_t)time->dwHighDateTime << 32 | time->dwLowDateTime);
}

static void put_ticks(FILETIME *ret, int64_t ticks)
{
    ret->dwLowDateTime = (DWORD)ticks;
    ret->dwHighDateTime = (DWORD)((uint64_t)ticks >> 32);
}

static time_t seconds_of(int64_t ticks)
{
    int64_t since = ticks - unix_epoch;
    return (time_t)((since - (since % ticks_per_second + ticks_per_second) % ticks_per_second) /
                    ticks_per_second);
}

BOOL WINAPI FileTimeToSystemTime(const FILETIME *time, LPSYSTEMTIME ret)
{
    int64_t ticks = ticks_of(time);
    time_t seconds = ticks < 0 ? 0 : seconds_of(ticks);
    struct tm parts;
    if (ticks < 0 || !gmtime_r(&seconds, &parts) || parts.tm_year + 1900 > 30827)
        return opl_shim_fail(ERROR_INVALID_PARAMETER);
    fill(ret, &parts, ticks);
    return TRUE;
}

BOOL WINAPI SystemTimeToFileTime(const SYSTEMTIME *time, LPFILETIME ret)
{
    struct tm parts = {.tm_year = time->wYear - 1900,
                       .tm_mon = time->wMonth - 1,
                       .tm_mday = time->wDay,
                       .tm_hour = time->wHour,
                       .tm_min = time->wMinute,
                       .tm_sec = time->wSecond};
    struct tm same = parts;
    if (time->wYear < 1601 || time->wYear > 30827 || time->wMilliseconds > 999)
        return opl_shim_fail(ERROR_INVALID_PARAMETER);
    time_t seconds = timegm(&same); /* a February 30 becomes another day, so it is found below */
    if (same.tm_mon != parts.tm_mon || same.tm_mday != parts.tm_mday ||
        same.tm_hour != parts.tm_hour || same.tm_min != parts.tm_min || same.tm_sec != parts.tm_sec)
        return opl_shim_fail(ERROR_INVALID_PARAMETER);
    put_ticks(ret, unix_epoch + (int64_t)seconds * ticks_per_second +
                       time->wMilliseconds * ticks_per_ms);
    return TRUE;
}

BOOL WINAPI FileTimeToLocalFileTime(const FILETIME *time, LPFILETIME ret)
{
    int64_t ticks = ticks_of(time);
    time_t seconds = ticks < 0 ? 0 : seconds_of(ticks);
    struct tm parts;
    if (ticks < 0 || !localtime_r(&seconds, &parts))
        return opl_shim_fail(ERROR_INVALID_PARAMETER);
    put_ticks(ret, ticks + parts.tm_gmtoff * ticks_per_second);
    return TRUE;
}
