/* SPDX-License-Identifier: MIT */
/* Parses and prints times: local times of a capture, without a time zone. */
#include "when.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>
#include <time.h>

static const LONGLONG second_100ns = 10000000, since_1601 = 11644473600;
static const LONGLONG day_100ns = 24 * 3600 * 10000000LL;

struct moment {
    int year, month, day;
    double seconds; /* seconds of the day */
};

/* Parses [[HH:]MM:]SS.sss; *text becomes what follows. */
static bool parse_clock(const char **text, double *ret)
{
    *ret = 0;
    for (int part = 0; part < 3; part++) {
        int used = 0;
        double value;
        if (!isdigit((unsigned char)**text) || sscanf(*text, "%lf%n", &value, &used) != 1 ||
            value >= 60)
            return false;
        *ret = *ret * 60 + value;
        *text += used;
        if (**text != ':')
            return true;
        ++*text;
    }
    return false;
}

/* Parses the time of day, which AM or PM may follow. */
static bool parse_time(const char *text, double *ret)
{
    double total;
    if (!parse_clock(&text, &total))
        return false;
    text += strspn(text, " ");
    bool am = strcasecmp(text, "am") == 0, pm = strcasecmp(text, "pm") == 0;
    bool noon = total >= 12 * 3600;
    if ((*text && !am && !pm) || ((am || pm) && total >= 13 * 3600) || total >= 24 * 3600)
        return false;
    *ret = total + (pm && !noon ? 12 * 3600 : am && noon ? -12 * 3600 : 0);
    return true;
}

static bool is_time(const char *text)
{
    double seconds;
    return parse_time(text, &seconds);
}

static bool parse_date(const char *text, struct moment *moment, const char **ret_rest)
{
    int used = 0;
    if (sscanf(text, "%2d/%2d/%4d%n", &moment->month, &moment->day, &moment->year, &used) != 3 &&
        sscanf(text, "%4d-%2d-%2d%n", &moment->year, &moment->month, &moment->day, &used) != 3)
        return false;
    text += used;
    if (*text && !strchr(" T", *text))
        return false;
    *ret_rest = text + (*text == 'T') + strspn(text + (*text == 'T'), " ");
    return true;
}

bool when_parse(const char *text, LONGLONG *ret)
{
    struct moment moment = {0};
    const char *rest;
    if (!parse_date(text, &moment, &rest) || (*rest && !parse_time(rest, &moment.seconds)))
        return false;
    struct tm parts = {
        .tm_year = moment.year - 1900, .tm_mon = moment.month - 1, .tm_mday = moment.day};
    time_t days = timegm(&parts);
    if (moment.year < 1970 || parts.tm_mon != moment.month - 1 || parts.tm_mday != moment.day)
        return false; /* for example February 30 */
    *ret = ((LONGLONG)days + since_1601) * second_100ns +
           (LONGLONG)(moment.seconds * (double)second_100ns);
    return true;
}

LONGLONG when_now(void)
{
    struct timespec now;
    struct tm parts;
    clock_gettime(CLOCK_REALTIME, &now);
    localtime_r(&now.tv_sec, &parts);
    return ((LONGLONG)now.tv_sec + parts.tm_gmtoff + since_1601) * second_100ns + now.tv_nsec / 100;
}

static bool parse_ago(const char *text, double *ret)
{
    static const char units[] = "smhd";
    static const int seconds[] = {1, 60, 3600, 24 * 3600};
    char unit;
    int used = 0;
    if (sscanf(text, "%lf %c ago%n", ret, &unit, &used) != 2 || !used || text[used] || *ret < 0 ||
        !strchr(units, unit))
        return false;
    *ret *= seconds[strchr(units, unit) - units];
    return true;
}

/* Takes "today" or "yesterday" from the front; *ret becomes midnight of that day. */
static bool take_day(const char **text, LONGLONG *ret)
{
    static const char *const days[] = {"today", "yesterday"};
    for (int i = 0; i < 2; i++) {
        size_t length = strlen(days[i]);
        if (strncasecmp(*text, days[i], length) != 0 || !strchr(" ", (*text)[length]))
            continue;
        *text += length + strspn(*text + length, " ");
        *ret -= i * day_100ns;
        return true;
    }
    return false;
}

bool when_at(const char *text, LONGLONG *ret)
{
    const LONGLONG now = when_now();
    LONGLONG midnight = now / day_100ns * day_100ns;
    double seconds = 0;
    char whole[64]; /* HH:MM becomes HH:MM:00 */
    if (strcasecmp(text, "now") == 0 || parse_ago(text, &seconds)) {
        *ret = now - (LONGLONG)(seconds * (double)second_100ns);
        return true;
    }
    bool named = take_day(&text, &midnight);
    const char *colon = strchr(text, ':');
    snprintf(whole, sizeof whole, "%s%s", text, colon && !strchr(colon + 1, ':') ? ":00" : "");
    bool clock = colon && parse_time(whole, &seconds);
    if (!named && !clock)
        return when_parse(whole, ret);
    *ret = midnight + (LONGLONG)(seconds * (double)second_100ns);
    if (!named && *ret > now)
        *ret -= day_100ns;
    return clock || !*text;
}

int when_take(struct options *options, LONGLONG *ret)
{
    char text[128];
    const char *date = options->value, *next = NULL;
    if (options->at < options->argc && !strpbrk(date, " T") && is_time(options->argv[options->at]))
        next = options->argv[options->at++];
    snprintf(text, sizeof text, "%s%s%s", date, next ? " " : "", next ? next : "");
    return when_parse(text, ret)
               ? 0
               : options_complain(options, "not a time: %s; use M/D/YYYY [[HH:]MM:]SS", text);
}

void when_print(LONGLONG time, char text[SHEET_TIME_SIZE])
{
    time_t seconds = (time_t)(time / second_100ns - since_1601);
    struct tm parts = {0};
    gmtime_r(&seconds, &parts);
    snprintf(text, SHEET_TIME_SIZE, "%d/%d/%d %d:%02d:%02d", parts.tm_mon + 1, parts.tm_mday,
             parts.tm_year + 1900, parts.tm_hour, parts.tm_min, parts.tm_sec);
}
