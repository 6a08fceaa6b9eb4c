/* SPDX-License-Identifier: MIT */
/*
 * The behemoths' counters. For each query the library queries the server once, so that all values
 * of an answer belong to one moment. The server's answer is cached for a tenth of a second, and is
 * still shown if the server does not answer; the counter Status shows whether the server answers.
 */
#include "../common/exchange.h"

#include <openperflib/object.h>
#include <windows.h>

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SERVICE "SYSTEM\\CurrentControlSet\\Services\\Behemoth"

enum { CACHE_MS = 100, DEADLINE_MS = 300, OVERDUE_MS = 1000 };
enum { DESCENDANTS = 44 };

struct snapshot {
    struct behemoth_herd herd; /* all 0: the server never answered */
    int64_t heard;             /* when the server answered, by uptime() */
    uint32_t there;            /* the server answered the last request */
};

static struct {
    char socket[4096];
    DWORD cache, deadline, first_counter;
    struct behemoth_line line, kept; /* the last answer, and the last one with the whole herd */
    int64_t next, summary_next;      /* uptime() before which there is no new request */
    struct snapshot whole, summary;
} state;

/* The data for the present answer. mean_base is the sum that the ages would have if each behemoth
 * had the mean lifetime. */
static struct snapshot now;
static uint64_t mean_base;

static void list_herd(opl_listing *listing);
static void list_kin(opl_listing *listing);
static bool born(opl_reading *reading, uint64_t *ret);
static bool data_begin(opl_reading *reading, uint64_t *ret);

/* clang-format off */
#define ROW(index, type, scale, level, name_text, help_text, ...)                                  \
    {index, index, PERF_##type, scale, PERF_DETAIL_##level, __VA_ARGS__, .name = name_text, .help = help_text}
#define FIELD(member) OPL_FIELD(struct behemoth, member)
#define NOW(member) OPL_VARIABLE(now.member)

static const opl_counter behemoth_counters[] = {
    ROW(2, COUNTER_RAWCOUNT, 0, NOVICE, "Sex", "0: male. 1: female.", FIELD(sex)),
    ROW(4, ELAPSED_TIME, -1, NOVICE, "Age",
        "Seconds that the behemoth has lived, in the time of the herd.", OPL_FN(born)),
    ROW(6, COUNTER_RAWCOUNT, -1, NOVICE, "X", "Metres from the left edge of the field.", FIELD(x)),
    ROW(8, COUNTER_RAWCOUNT, -1, NOVICE, "Y", "Metres from the upper edge of the field.", FIELD(y)),
    ROW(10, COUNTER_RAWCOUNT, -2, NOVICE, "Weight", "Kilograms.", FIELD(weight)),
    ROW(12, COUNTER_RAWCOUNT, -2, ADVANCED, "Volume", "Litres.", FIELD(volume)),
    ROW(14, COUNTER_LARGE_RAWCOUNT, 0, ADVANCED, "Birthday",
        "When the behemoth was born, in the time of the herd: units of 100 nanoseconds since 1601, as files have them.", FIELD(birthday)),
};
static const opl_object behemoth = {
    0, 0, "Behemoth",
    "Those who live on the field. The parent of each is the mother, as long as she lives.",
    OPL_COUNTERS(behemoth_counters), .default_counter = 10, .clock = true, .instances = true, .list = list_herd};

static const opl_counter summary_counters[] = {
    ROW(18, COUNTER_RAWCOUNT, 0, NOVICE, "Behemoths",
        "Number of living behemoths.", NOW(herd.count)),
    ROW(20, COUNTER_LARGE_RAWCOUNT, -4, NOVICE, "Total Weight",
        "What all of them weigh together, in kilograms.", NOW(herd.weight)),
    ROW(22, COUNTER_BULK_COUNT, 1, NOVICE, "Births/sec",
        "How many are born in a second.", NOW(herd.births)),
    ROW(24, COUNTER_BULK_COUNT, 1, NOVICE, "Deaths/sec",
        "How many die in a second.", NOW(herd.deaths)),
    ROW(26, LARGE_RAW_FRACTION, -1, NOVICE, "% Mean Age",
        "The mean age of those who live, in percent of the lifetime that they can expect.", NOW(herd.ages), OPL_VARIABLE(mean_base)),
    ROW(28, COUNTER_RAWCOUNT, 0, NOVICE, "Status",
        "1: the server answered. 0: it did not, and everything else is its last answer.", NOW(there)),
    ROW(30, ELAPSED_TIME, 0, ADVANCED, "Data Age",
        "Age of the server's answer that is shown, in seconds.", OPL_FN(data_begin)),
    ROW(32, COUNTER_BULK_COUNT, -2, ADVANCED, "Left Steps/sec",
        "Steps with the left foot in a second, of all together.", NOW(herd.left_steps)),
    ROW(34, COUNTER_BULK_COUNT, -2, ADVANCED, "Right Steps/sec",
        "Steps with the right foot in a second: as many as with the left one, always.", NOW(herd.right_steps)),
    ROW(36, COUNTER_LARGE_RAWCOUNT, -2, ADVANCED, "Herd Time",
        "Seconds since the herd began, in its own time.", NOW(herd.ticks)),
    ROW(46, COUNTER_LARGE_RAWCOUNT, -1, EXPERT, "Founders",
        "Number that came from elsewhere; together with the births, and less the deaths, it is the number of living behemoths.", NOW(herd.founded)),
};
static const opl_object summary = {
    16, 16, "Behemoths Summary", "All behemoths together, and whether their server is there.",
    OPL_COUNTERS(summary_counters), .default_counter = 18, .clock = true};

static const opl_counter kin_counters[] = {
    ROW(40, COUNTER_RAWCOUNT, 0, ADVANCED, "Generation",
        "0: came from elsewhere. Else one more than the mother's.", FIELD(generation)),
    ROW(42, COUNTER_RAWCOUNT, 0, ADVANCED, "Children Born",
        "How many this behemoth gave birth to.", FIELD(children)),
    ROW(DESCENDANTS, COUNTER_RAWCOUNT, 0, ADVANCED, "Living Descendants",
        "Number of living descendants, counted through living mothers only.", {0}),
};
static const opl_object kin = {
    38, 38, "Behemoth Kin",
    "The families of the behemoths. Returned only for the query Costly, or when requested by number.",
    OPL_COUNTERS(kin_counters), .default_counter = DESCENDANTS, .costly = true, .instances = true, .list = list_kin};
/* clang-format on */

/* Units of 100 ns since the start of the system. */
static int64_t uptime(void)
{
    struct timespec time;
    clock_gettime(CLOCK_BOOTTIME, &time);
    return (int64_t)time.tv_sec * BEHEMOTH_SECOND + time.tv_nsec / 100;
}

/* Requests the herd, or only the summary (`alone`). After a timeout, the following queries do not
 * wait for the server for a while. */
static void request(bool alone)
{
    char path[4096];
    struct behemoth_line *line = &state.line, last = state.kept;
    bool good = behemoth_place(state.socket, false, path, sizeof path) &&
                behemoth_exchange(line, path, alone ? BEHEMOTH_SUMMARY : BEHEMOTH_HERD, NULL, 0,
                                  behemoth_now() + state.deadline);
    bool slow = !good && errno == ETIMEDOUT;
    if (good && alone && line->head.what == BEHEMOTH_BAD) {
        request(false); /* an older server does not know BEHEMOTH_SUMMARY */
        return;
    }
    const struct behemoth_herd *herd = good ? behemoth_herd_of(line) : NULL;
    if (herd)
        *(alone ? &state.summary : &state.whole) = (struct snapshot){*herd, uptime(), 1};
    else
        state.whole.there = state.summary.there = 0;
    if (herd && !alone) {
        state.kept = *line;
        *line = last;
    }
    *(alone && herd ? &state.summary_next : &state.next) =
        behemoth_now() + (slow ? OVERDUE_MS : state.cache);
}

/* The objects' clock counts from the start of the system, independent of the time of day, so its
 * present time is always later than the times of birth. */
static int64_t clock_begin(opl_reading *reading)
{
    static int64_t otherwise;
    if (!getenv("OPENPERFLIB_SYSROOT"))
        return opl_boot_time(reading);
    if (!otherwise) /* the start time in another system root is another machine's: compute ours */
        otherwise = opl_reading_time(reading) - uptime();
    return otherwise;
}

static bool data_begin(opl_reading *reading, uint64_t *ret)
{
    int64_t begin = clock_begin(reading);
    *ret = now.heard > 0 ? (uint64_t)(begin + now.heard) : 0;
    return true;
}

/* An elapsed time is shown as the object's clock minus the value. The herd's time differs from
 * ours, and the time of day can be set, so the value is the time on the object's clock at which
 * a behemoth of this age would have been born, counted back from the time of the answer. */
static bool born(opl_reading *reading, uint64_t *ret)
{
    const struct behemoth *is = opl_reading_item(reading);
    int64_t heard = clock_begin(reading) + state.whole.heard;
    *ret = is ? (uint64_t)(heard - (state.whole.herd.time - is->birthday)) : 0;
    return true;
}

/* Lists the herd. Mothers precede their children, so the descendants are counted from the last
 * behemoth to the first. */
static void list_all(opl_listing *listing, const opl_object *of)
{
    uint32_t count = state.whole.herd.count, *descendants = calloc(count + 1, sizeof *descendants);
    const struct behemoth *all = count > 0 ? behemoth_all((const void *)state.kept.body) : NULL;
    for (uint32_t i = count; descendants && i-- > 0;) {
        if (all[i].mother_position != BEHEMOTH_NONE)
            descendants[all[i].mother_position] += 1 + descendants[i];
    }
    for (uint32_t i = 0; descendants && i < count; i++) {
        opl_listing_item(listing, all[i].name, &all[i]);
        if (all[i].mother_position != BEHEMOTH_NONE)
            opl_listing_parent(listing, of, all[i].mother_position);
        opl_listing_set(listing, DESCENDANTS, descendants[i]); /* only Behemoth Kin has this row */
    }
    free(descendants);
}

static void list_herd(opl_listing *listing)
{
    list_all(listing, &behemoth);
}

static void list_kin(opl_listing *listing)
{
    list_all(listing, &kin);
}

static DWORD number(const char *key, const char *name, DWORD otherwise)
{
    DWORD value, size = sizeof value;
    return RegGetValueA(HKEY_LOCAL_MACHINE, key, name, RRF_RT_REG_DWORD, NULL, &value, &size)
               ? otherwise
               : value;
}

static const opl_object *const objects[] = {&behemoth, &summary, &kin};
OPL_TABLES("Behemoth", objects, NULL, Open, Collect, Close);
static opl_entry *entry;
/* Protects the provider's data: in processes that answer other machines, several threads collect at
 * the same time. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

OPL_EXPORTED DWORD APIENTRY Open(LPWSTR devices);
OPL_EXPORTED DWORD APIENTRY Collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types);
OPL_EXPORTED DWORD APIENTRY Close(void);

DWORD APIENTRY Open(LPWSTR devices)
{
    DWORD size = sizeof state.socket;
    pthread_mutex_lock(&lock);
    if (!entry) {
        if (RegGetValueA(HKEY_LOCAL_MACHINE, SERVICE "\\Parameters", "Socket", RRF_RT_REG_SZ, NULL,
                         state.socket, &size) != ERROR_SUCCESS)
            state.socket[0] = 0;
        state.cache = number(SERVICE "\\Parameters", "Cache Milliseconds", CACHE_MS);
        state.deadline = number(SERVICE "\\Parameters", "Deadline Milliseconds", DEADLINE_MS);
        state.first_counter = number(SERVICE "\\Performance", "First Counter", 0);
        state.next = state.summary_next = INT64_MIN;
    }
    DWORD result = opl_entry_open_1(&entry, &opl_tables_1, devices);
    pthread_mutex_unlock(&lock);
    return result;
}

/* Sets `now`, from the server or from the cache, and answers from it. If the query consists of the
 * summary's number only, the herd is not requested; a recent answer with the herd includes the
 * summary. */
DWORD APIENTRY Collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types)
{
    uint64_t only = 0;
    LPCWSTR at = query;
    for (; at && *at >= '0' && *at <= '9' && only <= UINT32_MAX; at++)
        only = only * 10 + (uint64_t)(*at - '0');
    pthread_mutex_lock(&lock);
    bool alone = at && !*at && only == state.first_counter + summary.index;
    int64_t begun = behemoth_now();
    if (begun >= state.next && (!alone || begun >= state.summary_next))
        request(alone);
    now = alone && state.summary.heard > state.whole.heard ? state.summary : state.whole;
    mean_base = (uint64_t)now.herd.count * now.herd.lifetime;
    DWORD result = opl_entry_collect_1(entry, query, data, bytes, types);
    pthread_mutex_unlock(&lock);
    return result;
}

DWORD APIENTRY Close(void)
{
    pthread_mutex_lock(&lock);
    DWORD result = opl_entry_close_1(&entry);
    if (!entry) {
        behemoth_line_end(&state.line);
        behemoth_line_end(&state.kept);
        memset(&state, 0, sizeof state);
        memset(&now, 0, sizeof now);
    }
    pthread_mutex_unlock(&lock);
    return result;
}
