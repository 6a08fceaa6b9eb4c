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

struct item {
    struct behemoth is;
    int64_t since;        /* time of birth on the objects' clock, as list_herd explains */
    uint32_t descendants; /* living descendants; only for the object Behemoth Kin */
};

struct snapshot {
    struct behemoth_herd herd; /* all 0: the server never answered */
    int64_t heard;             /* when the server answered, by uptime() */
    uint32_t there;            /* the server answered the last request */
};

static struct {
    char socket[4096];
    DWORD cache, deadline, first_counter;
    struct behemoth_line line;
    int64_t next, summary_next; /* uptime() before which there is no new request */
    struct snapshot whole, summary;
    struct item *items; /* items for the herd in `whole` */
    size_t capacity;
} state;

/* The data for the present answer. mean_base is the sum that the ages would have if each behemoth
 * had the mean lifetime. */
static struct snapshot now;
static uint64_t mean_base;

/* ---- the tables ---- */

static void list_herd(opl_listing *listing);
static void list_kin(opl_listing *listing);
static bool data_begin(opl_reading *reading, uint64_t *ret);

/* clang-format off */
static const opl_counter behemoth_counters[] = {
    {2, 2, PERF_COUNTER_RAWCOUNT, 0, PERF_DETAIL_NOVICE, OPL_FIELD(struct item, is.sex), .name = "Sex",
     .help = "0: male. 1: female."},
    {4, 4, PERF_ELAPSED_TIME, -1, PERF_DETAIL_NOVICE, OPL_FIELD(struct item, since), .name = "Age",
     .help = "Seconds that the behemoth has lived, in the time of the herd."},
    {6, 6, PERF_COUNTER_RAWCOUNT, -1, PERF_DETAIL_NOVICE, OPL_FIELD(struct item, is.x), .name = "X",
     .help = "Metres from the left edge of the field."},
    {8, 8, PERF_COUNTER_RAWCOUNT, -1, PERF_DETAIL_NOVICE, OPL_FIELD(struct item, is.y), .name = "Y",
     .help = "Metres from the upper edge of the field."},
    {10, 10, PERF_COUNTER_RAWCOUNT, -2, PERF_DETAIL_NOVICE, OPL_FIELD(struct item, is.weight), .name = "Weight",
     .help = "Kilograms."},
    {12, 12, PERF_COUNTER_RAWCOUNT, -2, PERF_DETAIL_ADVANCED, OPL_FIELD(struct item, is.volume), .name = "Volume",
     .help = "Litres."},
    {14, 14, PERF_COUNTER_LARGE_RAWCOUNT, 0, PERF_DETAIL_ADVANCED, OPL_FIELD(struct item, is.birthday), .name = "Birthday",
     .help = "When the behemoth was born, in the time of the herd: units of 100 nanoseconds since 1601, as files have them."},
};
static const opl_object behemoth = {
    0, 0, "Behemoth",
    "Those who live on the field. The parent of each is the mother, as long as she lives.",
    OPL_COUNTERS(behemoth_counters), .default_counter = 10, .clock = true, .instances = true, .list = list_herd};

static const opl_counter summary_counters[] = {
    {18, 18, PERF_COUNTER_RAWCOUNT, 0, PERF_DETAIL_NOVICE, OPL_VARIABLE(now.herd.count), .name = "Behemoths",
     .help = "Number of living behemoths."},
    {20, 20, PERF_COUNTER_LARGE_RAWCOUNT, -4, PERF_DETAIL_NOVICE, OPL_VARIABLE(now.herd.weight), .name = "Total Weight",
     .help = "What all of them weigh together, in kilograms."},
    {22, 22, PERF_COUNTER_BULK_COUNT, 1, PERF_DETAIL_NOVICE, OPL_VARIABLE(now.herd.births), .name = "Births/sec",
     .help = "How many are born in a second."},
    {24, 24, PERF_COUNTER_BULK_COUNT, 1, PERF_DETAIL_NOVICE, OPL_VARIABLE(now.herd.deaths), .name = "Deaths/sec",
     .help = "How many die in a second."},
    {26, 26, PERF_LARGE_RAW_FRACTION, -1, PERF_DETAIL_NOVICE, OPL_VARIABLE(now.herd.ages), OPL_VARIABLE(mean_base), .name = "% Mean Age",
     .help = "The mean age of those who live, in percent of the lifetime that they can expect."},
    {28, 28, PERF_COUNTER_RAWCOUNT, 0, PERF_DETAIL_NOVICE, OPL_VARIABLE(now.there), .name = "Status",
     .help = "1: the server answered. 0: it did not, and everything else is its last answer."},
    {30, 30, PERF_ELAPSED_TIME, 0, PERF_DETAIL_ADVANCED, OPL_FN(data_begin), .name = "Data Age",
     .help = "Age of the server's answer that is shown, in seconds."},
    {32, 32, PERF_COUNTER_BULK_COUNT, -2, PERF_DETAIL_ADVANCED, OPL_VARIABLE(now.herd.left_steps), .name = "Left Steps/sec",
     .help = "Steps with the left foot in a second, of all together."},
    {34, 34, PERF_COUNTER_BULK_COUNT, -2, PERF_DETAIL_ADVANCED, OPL_VARIABLE(now.herd.right_steps), .name = "Right Steps/sec",
     .help = "Steps with the right foot in a second: as many as with the left one, always."},
    {36, 36, PERF_COUNTER_LARGE_RAWCOUNT, -2, PERF_DETAIL_ADVANCED, OPL_VARIABLE(now.herd.ticks), .name = "Herd Time",
     .help = "Seconds since the herd began, in its own time."},
    {46, 46, PERF_COUNTER_LARGE_RAWCOUNT, -1, PERF_DETAIL_EXPERT, OPL_VARIABLE(now.herd.founded), .name = "Founders",
     .help = "Number that came from elsewhere; together with the births, and less the deaths, it is the number of living behemoths."},
};
static const opl_object summary = {
    16, 16, "Behemoths Summary", "All behemoths together, and whether their server is there.",
    OPL_COUNTERS(summary_counters), .default_counter = 18, .clock = true};

static const opl_counter kin_counters[] = {
    {40, 40, PERF_COUNTER_RAWCOUNT, 0, PERF_DETAIL_ADVANCED, OPL_FIELD(struct item, is.generation), .name = "Generation",
     .help = "0: came from elsewhere. Else one more than the mother's."},
    {42, 42, PERF_COUNTER_RAWCOUNT, 0, PERF_DETAIL_ADVANCED, OPL_FIELD(struct item, is.children), .name = "Children Born",
     .help = "How many this behemoth gave birth to."},
    {44, 44, PERF_COUNTER_RAWCOUNT, 0, PERF_DETAIL_ADVANCED, OPL_FIELD(struct item, descendants), .name = "Living Descendants",
     .help = "Number of living descendants, counted through living mothers only."},
};
static const opl_object kin = {
    38, 38, "Behemoth Kin",
    "The families of the behemoths. Only for those who ask for costly data, or for these.",
    OPL_COUNTERS(kin_counters), .default_counter = 44, .costly = true, .instances = true, .list = list_kin};
/* clang-format on */

/* ---- a snapshot ---- */

/* Units of 100 ns since the start of the system. */
static int64_t uptime(void)
{
    struct timespec time;
    clock_gettime(CLOCK_BOOTTIME, &time);
    return (int64_t)time.tv_sec * BEHEMOTH_SECOND + time.tv_nsec / 100;
}

static bool keep_herd(const struct behemoth_herd *herd)
{
    if (herd->count > state.capacity) {
        struct item *items = realloc(state.items, herd->count * sizeof *items);
        if (!items)
            return false;
        state.items = items;
        state.capacity = herd->count;
    }
    for (uint32_t i = 0; i < herd->count; i++)
        state.items[i].is = behemoth_all(herd)[i];
    return true;
}

/* Requests the herd, or only the summary (`alone`). After a timeout, the following queries do not
 * wait for the server for a while. */
static void request(bool alone)
{
    char path[4096];
    bool good = behemoth_place(state.socket, false, path, sizeof path) &&
                behemoth_exchange(&state.line, path, alone ? BEHEMOTH_SUMMARY : BEHEMOTH_HERD, NULL,
                                  0, behemoth_now() + state.deadline);
    bool slow = !good && errno == ETIMEDOUT;
    if (good && alone && state.line.head.what == BEHEMOTH_BAD) {
        request(false); /* an older server does not know BEHEMOTH_SUMMARY */
        return;
    }
    const struct behemoth_herd *herd = good ? behemoth_herd_of(&state.line) : NULL;
    good = herd && (alone || keep_herd(herd));
    if (good)
        *(alone ? &state.summary : &state.whole) = (struct snapshot){*herd, uptime(), 1};
    else
        state.whole.there = state.summary.there = 0;
    *(alone && good ? &state.summary_next : &state.next) =
        behemoth_now() + (slow ? OVERDUE_MS : state.cache);
}

/* Sets `now`, from the server or from the cache. If only the summary is wanted (`alone`), the herd
 * is not requested; a recent answer with the herd includes the summary. */
static void take(bool alone)
{
    int64_t begun = behemoth_now();
    if (begun >= state.next && (!alone || begun >= state.summary_next))
        request(alone);
    now = alone && state.summary.heard > state.whole.heard ? state.summary : state.whole;
    mean_base = (uint64_t)now.herd.count * now.herd.lifetime;
}

/* ---- lists and times ---- */

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

static void list_all(opl_listing *listing, const opl_object *of)
{
    for (uint32_t i = 0; i < state.whole.herd.count; i++) {
        const struct behemoth *is = &state.items[i].is;
        opl_listing_item(listing, is->name, &state.items[i]);
        if (is->mother_position != BEHEMOTH_NONE)
            opl_listing_parent(listing, of, is->mother_position);
    }
}

/* An elapsed time is shown as the object's clock minus the value. The herd's time differs from
 * ours, and the time of day can be set, so the value is the time on the object's clock at which
 * a behemoth of this age would have been born, counted back from the time of the answer. */
static void list_herd(opl_listing *listing)
{
    int64_t heard = clock_begin(opl_listing_reading(listing)) + state.whole.heard;
    for (uint32_t i = 0; i < state.whole.herd.count; i++)
        state.items[i].since = heard - (state.whole.herd.time - state.items[i].is.birthday);
    list_all(listing, &behemoth);
}

/* Lists the behemoths with their mothers as parents; mothers precede their children. */
static void list_kin(opl_listing *listing)
{
    struct item *items = state.items;
    for (uint32_t i = 0; i < state.whole.herd.count; i++)
        items[i].descendants = 0;
    for (uint32_t i = state.whole.herd.count; i-- > 0;) {
        if (items[i].is.mother_position != BEHEMOTH_NONE)
            items[items[i].is.mother_position].descendants += 1 + items[i].descendants;
    }
    list_all(listing, &kin);
}

/* ---- the provider ---- */

static DWORD number(const char *key, const char *name, DWORD otherwise)
{
    DWORD value, size = sizeof value;
    return RegGetValueA(HKEY_LOCAL_MACHINE, key, name, RRF_RT_REG_DWORD, NULL, &value, &size)
               ? otherwise
               : value;
}

static void read_settings(void)
{
    DWORD size = sizeof state.socket;
    if (RegGetValueA(HKEY_LOCAL_MACHINE, SERVICE "\\Parameters", "Socket", RRF_RT_REG_SZ, NULL,
                     state.socket, &size) != ERROR_SUCCESS)
        state.socket[0] = 0;
    state.cache = number(SERVICE "\\Parameters", "Cache Milliseconds", CACHE_MS);
    state.deadline = number(SERVICE "\\Parameters", "Deadline Milliseconds", DEADLINE_MS);
    state.first_counter = number(SERVICE "\\Performance", "First Counter", 0);
    state.next = state.summary_next = INT64_MIN;
}

/* Does the query consist of the summary's number only? */
static bool wants_summary(LPCWSTR query)
{
    uint64_t value = 0;
    for (; query && *query >= '0' && *query <= '9' && value <= UINT32_MAX; query++)
        value = value * 10 + (uint64_t)(*query - '0');
    return query && !*query && value == state.first_counter + summary.index;
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
OPL_EXPORTED HRESULT DllRegisterServer(void);
OPL_EXPORTED HRESULT DllUnregisterServer(void);

DWORD APIENTRY Open(LPWSTR devices)
{
    pthread_mutex_lock(&lock);
    if (!entry)
        read_settings();
    DWORD result = opl_entry_open_1(&entry, &opl_tables_1, devices);
    pthread_mutex_unlock(&lock);
    return result;
}

DWORD APIENTRY Collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types)
{
    pthread_mutex_lock(&lock);
    take(wants_summary(query));
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
        free(state.items);
        memset(&state, 0, sizeof state);
        memset(&now, 0, sizeof now);
    }
    pthread_mutex_unlock(&lock);
    return result;
}

HRESULT DllRegisterServer(void)
{
    return opl_entry_register_1(&opl_tables_1);
}

HRESULT DllUnregisterServer(void)
{
    return opl_entry_unregister_1(&opl_tables_1);
}
