/* SPDX-License-Identifier: MIT */
/* The two clocks of performance data, both in 100 ns: ticks are CLOCK_MONOTONIC, a filetime is
 * CLOCK_REALTIME since 1601. */
#include "base/base.h"

#include <time.h>

int64_t clock_ticks(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * CLOCK_TICKS_PER_SECOND + now.tv_nsec / 100;
}

/* from 1601-01-01 to 1970-01-01: 369 years of which 89 are leap years */
static const int64_t unix_epoch = (int64_t)(369 * 365 + 89) * 86400 * CLOCK_TICKS_PER_SECOND;
static const int64_t ticks_per_day = (int64_t)86400 * CLOCK_TICKS_PER_SECOND;

int64_t clock_filetime_of(const struct timespec *unix_time)
{
    return (int64_t)unix_time->tv_sec * CLOCK_TICKS_PER_SECOND + unix_time->tv_nsec / 100 +
           unix_epoch;
}

int64_t clock_filetime(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return clock_filetime_of(&now);
}

/* Reads both clocks several times and uses the closest pair: if the thread is interrupted between
 * the two reads, the pair looks as if the time had been set. */
void clock_both(int64_t *ret_ticks, int64_t *ret_filetime)
{
    enum { TRIES = 8, CLOSE_100NS = 100 };
    int64_t closest = INT64_MAX, before = clock_ticks();
    for (int i = 0; i < TRIES && closest > CLOSE_100NS; i++) {
        int64_t filetime = clock_filetime(), after = clock_ticks();
        if (after - before < closest) {
            closest = after - before;
            *ret_ticks = before + closest / 2;
            *ret_filetime = filetime;
        }
        before = after;
    }
}

/* Years are counted from March, so that a leap day is the last day of its year; 1600-03-01 begins a
 * period of 400 years. */
enum { DAYS_BEFORE_1601 = 306, DAYS_PER_400_YEARS = 146097 };

static int64_t day_of_date(const SYSTEMTIME *time)
{
    int64_t year = (int64_t)time->wYear - 1600 - (time->wMonth <= 2);
    int64_t month = time->wMonth > 2 ? time->wMonth - 3 : time->wMonth + 9;
    int64_t day_of_year = (153 * month + 2) / 5 + time->wDay - 1;
    return year * 365 + year / 4 - year / 100 + year / 400 + day_of_year - DAYS_BEFORE_1601;
}

void clock_systemtime(int64_t filetime, SYSTEMTIME *ret)
{
    if (filetime < 0)
        filetime = 0;
    int64_t day = filetime / ticks_per_day, since_march = day + DAYS_BEFORE_1601;
    int64_t period = since_march / DAYS_PER_400_YEARS;
    int64_t rest = since_march % DAYS_PER_400_YEARS;
    int64_t year = (rest - rest / 1460 + rest / 36524 - rest / 146096) / 365;
    int64_t day_of_year = rest - (365 * year + year / 4 - year / 100);
    int64_t month = (5 * day_of_year + 2) / 153;
    ret->wDay = (WORD)(day_of_year - (153 * month + 2) / 5 + 1);
    ret->wMonth = (WORD)(month < 10 ? month + 3 : month - 9);
    ret->wYear = (WORD)(1600 + 400 * period + year + (ret->wMonth <= 2));
    ret->wDayOfWeek = (WORD)((day + 1) % 7); /* 1601-01-01 was a Monday */
    int64_t millisecond = filetime % ticks_per_day / 10000;
    ret->wMilliseconds = (WORD)(millisecond % 1000);
    ret->wSecond = (WORD)(millisecond / 1000 % 60);
    ret->wMinute = (WORD)(millisecond / 60000 % 60);
    ret->wHour = (WORD)(millisecond / 3600000);
}

int64_t clock_filetime_from(const SYSTEMTIME *time)
{
    int64_t seconds = time->wHour * 3600 + time->wMinute * 60 + time->wSecond;
    return day_of_date(time) * ticks_per_day + seconds * CLOCK_TICKS_PER_SECOND +
           time->wMilliseconds * 10000;
}
