/* SPDX-License-Identifier: MIT */
/*
 * The names of time zones in captures. Newer versions of Windows store a text like
 * "@tzres.dll,-212", which refers to a text in the system's language by its number; this file has
 * the English texts. Also finds Windows' name for this machine's zone.
 */
#include "log/inner.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* `number` is the number of the zone's daylight name; the next number is that of its standard
 * name. */
#define ZONE(number, name, tail)                                                                   \
    {                                                                                              \
        number,                                                                                    \
        {                                                                                          \
            name " Daylight Time" tail, name " Standard Time" tail                                 \
        }                                                                                          \
    }
static const struct {
    uint32_t number;
    const char *names[2];
} zones[] = {
    ZONE(11, "Azores", ""),
    ZONE(21, "Cape Verde", ""),
    ZONE(31, "Mid-Atlantic", ""),
    ZONE(41, "E. South America", ""),
    ZONE(51, "Greenland", ""),
    ZONE(61, "SA Eastern", ""),
    ZONE(71, "Newfoundland", ""),
    ZONE(81, "Atlantic", ""),
    ZONE(91, "Pacific SA", ""),
    ZONE(101, "SA Western", ""),
    ZONE(104, "Central Brazilian", ""),
    ZONE(111, "Eastern", ""),
    ZONE(121, "SA Pacific", ""),
    ZONE(131, "US Eastern", ""),
    ZONE(141, "Canada Central", ""),
    ZONE(151, "Central America", ""),
    ZONE(161, "Central", ""),
    ZONE(171, "Central", " (Mexico)"),
    ZONE(181, "Mountain", " (Mexico)"),
    ZONE(191, "Mountain", ""),
    ZONE(201, "US Mountain", ""),
    ZONE(211, "Pacific", ""),
    ZONE(214, "Pacific", " (Mexico)"),
    ZONE(221, "Alaskan", ""),
    ZONE(231, "Hawaiian", ""),
    ZONE(241, "Samoa", ""),
    ZONE(251, "Dateline", ""),
    ZONE(261, "GMT", ""),
    ZONE(271, "Greenwich", ""),
    ZONE(281, "Central Europe", ""),
    ZONE(291, "Central European", ""),
    ZONE(301, "Romance", ""),
    ZONE(311, "W. Central Africa", ""),
    ZONE(321, "W. Europe", ""),
    ZONE(331, "E. Europe", ""),
    ZONE(334, "Jordan", ""),
    ZONE(341, "Egypt", ""),
    ZONE(351, "FLE", ""),
    ZONE(361, "GTB", ""),
    ZONE(364, "Middle East", ""),
    ZONE(371, "Jerusalem", ""),
    ZONE(381, "South Africa", ""),
    ZONE(384, "Namibia", ""),
    ZONE(391, "Arab", ""),
    ZONE(401, "Arabic", ""),
    ZONE(411, "E. Africa", ""),
    ZONE(421, "Russian", ""),
    ZONE(431, "Iran", ""),
    ZONE(434, "Georgian", ""),
    ZONE(441, "Arabian", ""),
    ZONE(448, "Azerbaijan", ""),
    ZONE(451, "Caucasus", ""),
    ZONE(461, "Afghanistan", ""),
    ZONE(471, "Ekaterinburg", ""),
    ZONE(481, "West Asia", ""),
    ZONE(491, "India", ""),
    ZONE(501, "Nepal", ""),
    ZONE(511, "Central Asia", ""),
    ZONE(521, "N. Central Asia", ""),
    ZONE(531, "Sri Lanka", ""),
    ZONE(541, "Myanmar", ""),
    ZONE(551, "North Asia", ""),
    ZONE(561, "SE Asia", ""),
    ZONE(571, "China", ""),
    ZONE(581, "North Asia East", ""),
    ZONE(591, "Malay Peninsula", ""),
    ZONE(601, "Taipei", ""),
    ZONE(611, "W. Australia", ""),
    ZONE(621, "Korea", ""),
    ZONE(631, "Tokyo", ""),
    ZONE(641, "Yakutsk", ""),
    ZONE(651, "AUS Central", ""),
    ZONE(661, "Cen. Australia", ""),
    ZONE(671, "AUS Eastern", ""),
    ZONE(681, "E. Australia", ""),
    ZONE(691, "Tasmania", ""),
    ZONE(701, "Vladivostok", ""),
    ZONE(711, "West Pacific", ""),
    ZONE(721, "Central Pacific", ""),
    ZONE(731, "Fiji", ""),
    ZONE(741, "New Zealand", ""),
    ZONE(751, "Tonga", ""),
    ZONE(771, "Montevideo", ""),
    ZONE(791, "SA Western", ""),
    ZONE(811, "Venezuela", ""),
    ZONE(831, "SA Eastern", ""),
    ZONE(841, "Argentina", ""),
    ZONE(871, "Pakistan", ""),
    ZONE(891, "Morocco", ""),
    ZONE(911, "Mauritius", ""),
    ZONE(961, "Paraguay", ""),
    ZONE(981, "Kamchatka", ""),
    ZONE(1021, "Bangladesh", ""),
    ZONE(1041, "Ulaanbaatar", ""),
    ZONE(1061, "North Pacific", ""),
    ZONE(1411, "Syria", ""),
    ZONE(1471, "Magadan", ""),
    ZONE(1501, "Turkey", ""),
    ZONE(1601, "Kaliningrad", ""),
    ZONE(1661, "Bahia", ""),
    ZONE(1721, "Libya", ""),
    ZONE(1801, "Line Islands", ""),
    {931, {"Coordinated Universal Time", "Coordinated Universal Time"}},
};

const char *zone_name(const char *stored)
{
    static const char prefix[] = "@tzres.dll,-";
    uint32_t number;
    if (!text_starts_fold(stored, prefix))
        return stored;
    const char *digits = stored + strlen(prefix);
    if (!text_decimal(digits, strlen(digits), &number))
        return stored;
    for (size_t i = 0; i < COUNT(zones); i++)
        if (number == zones[i].number || number == zones[i].number + 1)
            return zones[i].names[number - zones[i].number];
    return stored;
}

/* ---- begin and end of daylight time ---- */

enum { LAST_YEAR = 9999 }; /* the last year that is accepted */

/* Returns when the rule takes effect in `year`, in the local time that applies until then. */
static LONGLONG moment_of(const SYSTEMTIME *rule, WORD year)
{
    SYSTEMTIME day = *rule;
    day.wYear = year;
    if (rule->wYear)
        return clock_filetime_from(rule);
    SYSTEMTIME first;
    day.wDay = 1;
    clock_systemtime(clock_filetime_from(&day), &first);
    LONGLONG days = (rule->wDayOfWeek - first.wDayOfWeek + 7) % 7 + 7 * (rule->wDay - 1);
    const LONGLONG per_day = INT64_C(86400) * CLOCK_TICKS_PER_SECOND;
    LONGLONG moment = clock_filetime_from(&day) + days * per_day;
    SYSTEMTIME reached;
    clock_systemtime(moment, &reached);
    /* wDay 5 means the last such weekday of the month */
    return reached.wMonth == rule->wMonth ? moment : moment - 7 * per_day;
}

static bool rule_is_sane(const SYSTEMTIME *rule)
{
    return rule->wYear <= LAST_YEAR && rule->wMonth >= 1 && rule->wMonth <= 12 && rule->wDay >= 1 &&
           rule->wDay <= (rule->wYear ? 31 : 5) && rule->wDayOfWeek < 7 && rule->wHour < 24 &&
           rule->wMinute < 60 && rule->wSecond < 60;
}

bool zone_is_daylight(const struct zone_rule *rule, LONGLONG local_time)
{
    if (!rule_is_sane(&rule->daylight) || !rule_is_sane(&rule->standard) || local_time <= 0)
        return false;
    SYSTEMTIME now;
    clock_systemtime(local_time, &now);
    if (now.wYear > LAST_YEAR)
        return false;
    LONGLONG summer = moment_of(&rule->daylight, now.wYear);
    LONGLONG winter = moment_of(&rule->standard, now.wYear);
    bool inside = local_time >= (summer < winter ? summer : winter) &&
                  local_time < (summer < winter ? winter : summer);
    return summer < winter ? inside : !inside;
}

/* ---- this machine's zone ---- */

#define PLACE(place, name, tail)                                                                   \
    {                                                                                              \
        place,                                                                                     \
        {                                                                                          \
            name " Standard Time" tail, name " Daylight Time" tail                                 \
        }                                                                                          \
    }
static const struct {
    const char *place;
    const char *names[2];
} places[] = {
    PLACE("Africa/Cairo", "Egypt", ""),
    PLACE("Africa/Johannesburg", "South Africa", ""),
    PLACE("Africa/Lagos", "W. Central Africa", ""),
    PLACE("Africa/Nairobi", "E. Africa", ""),
    PLACE("America/Anchorage", "Alaskan", ""),
    PLACE("America/Argentina/Buenos_Aires", "Argentina", ""),
    PLACE("America/Bogota", "SA Pacific", ""),
    PLACE("America/Caracas", "Venezuela", ""),
    PLACE("America/Chicago", "Central", ""),
    PLACE("America/Denver", "Mountain", ""),
    PLACE("America/Halifax", "Atlantic", ""),
    PLACE("America/Los_Angeles", "Pacific", ""),
    PLACE("America/Mexico_City", "Central", " (Mexico)"),
    PLACE("America/New_York", "Eastern", ""),
    PLACE("America/Phoenix", "US Mountain", ""),
    PLACE("America/Santiago", "Pacific SA", ""),
    PLACE("America/Sao_Paulo", "E. South America", ""),
    PLACE("America/St_Johns", "Newfoundland", ""),
    PLACE("America/Toronto", "Eastern", ""),
    PLACE("America/Vancouver", "Pacific", ""),
    PLACE("Asia/Baghdad", "Arabic", ""),
    PLACE("Asia/Bangkok", "SE Asia", ""),
    PLACE("Asia/Calcutta", "India", ""),
    PLACE("Asia/Dhaka", "Bangladesh", ""),
    PLACE("Asia/Dubai", "Arabian", ""),
    PLACE("Asia/Hong_Kong", "China", ""),
    PLACE("Asia/Jakarta", "SE Asia", ""),
    PLACE("Asia/Jerusalem", "Israel", ""),
    PLACE("Asia/Karachi", "Pakistan", ""),
    PLACE("Asia/Kathmandu", "Nepal", ""),
    PLACE("Asia/Kolkata", "India", ""),
    PLACE("Asia/Riyadh", "Arab", ""),
    PLACE("Asia/Seoul", "Korea", ""),
    PLACE("Asia/Shanghai", "China", ""),
    PLACE("Asia/Singapore", "Singapore", ""),
    PLACE("Asia/Taipei", "Taipei", ""),
    PLACE("Asia/Tashkent", "West Asia", ""),
    PLACE("Asia/Tehran", "Iran", ""),
    PLACE("Asia/Tokyo", "Tokyo", ""),
    PLACE("Asia/Yekaterinburg", "Ekaterinburg", ""),
    PLACE("Atlantic/Azores", "Azores", ""),
    PLACE("Atlantic/Reykjavik", "Greenwich", ""),
    PLACE("Australia/Adelaide", "Cen. Australia", ""),
    PLACE("Australia/Brisbane", "E. Australia", ""),
    PLACE("Australia/Darwin", "AUS Central", ""),
    PLACE("Australia/Hobart", "Tasmania", ""),
    PLACE("Australia/Lord_Howe", "Lord Howe", ""),
    PLACE("Australia/Melbourne", "AUS Eastern", ""),
    PLACE("Australia/Perth", "W. Australia", ""),
    PLACE("Australia/Sydney", "AUS Eastern", ""),
    PLACE("Europe/Amsterdam", "W. Europe", ""),
    PLACE("Europe/Athens", "GTB", ""),
    PLACE("Europe/Belgrade", "Central Europe", ""),
    PLACE("Europe/Berlin", "W. Europe", ""),
    PLACE("Europe/Brussels", "Romance", ""),
    PLACE("Europe/Bucharest", "GTB", ""),
    PLACE("Europe/Budapest", "Central Europe", ""),
    PLACE("Europe/Copenhagen", "Romance", ""),
    PLACE("Europe/Dublin", "GMT", ""),
    PLACE("Europe/Helsinki", "FLE", ""),
    PLACE("Europe/Istanbul", "Turkey", ""),
    PLACE("Europe/Kiev", "FLE", ""),
    PLACE("Europe/Kyiv", "FLE", ""),
    PLACE("Europe/Lisbon", "GMT", ""),
    PLACE("Europe/London", "GMT", ""),
    PLACE("Europe/Madrid", "Romance", ""),
    PLACE("Europe/Moscow", "Russian", ""),
    PLACE("Europe/Oslo", "W. Europe", ""),
    PLACE("Europe/Paris", "Romance", ""),
    PLACE("Europe/Prague", "Central Europe", ""),
    PLACE("Europe/Rome", "W. Europe", ""),
    PLACE("Europe/Sofia", "FLE", ""),
    PLACE("Europe/Stockholm", "W. Europe", ""),
    PLACE("Europe/Vienna", "W. Europe", ""),
    PLACE("Europe/Warsaw", "Central European", ""),
    PLACE("Europe/Zurich", "W. Europe", ""),
    PLACE("Pacific/Auckland", "New Zealand", ""),
    PLACE("Pacific/Honolulu", "Hawaiian", ""),
    {"Etc/UTC", {"Coordinated Universal Time", "Coordinated Universal Time"}},
    {"UTC",     {"Coordinated Universal Time", "Coordinated Universal Time"}},
};

/* Returns the zone's place, such as "Europe/Berlin": from TZ, or the target of /etc/localtime. */
static const char *place_here(char *storage, size_t size)
{
    static const char folder[] = "/zoneinfo/";
    const char *set = getenv("TZ");
    if (set && *set) {
        const char *inside = strstr(set, folder);
        return inside ? inside + strlen(folder) : set + (*set == ':');
    }
    ssize_t count = readlink("/etc/localtime", storage, size - 1);
    if (count <= 0)
        return "UTC";
    storage[count] = '\0';
    const char *inside = strstr(storage, folder);
    return inside ? inside + strlen(folder) : storage;
}

const char *zone_local(LONGLONG utc, char storage[static ZONE_TEXT_SIZE], LONG *ret_bias)
{
    const LONGLONG epoch = INT64_C(116444736000000000);
    char here[ZONE_TEXT_SIZE];
    struct tm local = {0};
    time_t time = (time_t)((utc - epoch) / CLOCK_TICKS_PER_SECOND);
    localtime_r(&time, &local);
    *ret_bias = (LONG)(-local.tm_gmtoff / 60);
    const char *place = place_here(here, sizeof(here));
    for (size_t i = 0; i < COUNT(places); i++)
        if (strcmp(places[i].place, place) == 0)
            return places[i].names[local.tm_isdst > 0];
    bool letters = local.tm_zone[0] != '+' && local.tm_zone[0] != '-';
    if (letters || !strchr(place, '/') || strpbrk(place, "()\"<") ||
        strlen(place) >= ZONE_TEXT_SIZE)
        return local.tm_zone;
    return strcpy(storage, place);
}
