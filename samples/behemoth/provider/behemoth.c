/* SPDX-License-Identifier: MIT */
/*
 * The behemoths' counters. For each query the library queries the server once, so that all values
 * of an answer belong to one moment. The server's answer is cached for a tenth of a second, and
 * still shown if the server does not answer; Status shows that.
 */
#include "snapshot.h"

#include <openperflib/object.h>
#include <windows.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define PERFORMANCE "SYSTEM\\CurrentControlSet\\Services\\Behemoth\\Performance"

static struct behemoth_herd herd;
static uint64_t mean_base;
static uint32_t status;

/* ---- Behemoth ---- */

static void list_herd(opl_listing *listing);
static bool data_begin(opl_reading *reading, uint64_t *ret);

static const opl_counter behemoth_counters[] = {
    {.index = 2,
     .help_index = 2,
     .type = PERF_COUNTER_RAWCOUNT,
     .level = PERF_DETAIL_NOVICE,
     .value = OPL_FIELD(struct snapshot_item, sex),
     .name = "Sex",
     .help = "0: male. 1: female."                                },
    {.index = 4,
     .help_index = 4,
     .type = PERF_ELAPSED_TIME,
     .scale = -1,
     .level = PERF_DETAIL_NOVICE,
     .value = OPL_FIELD(struct snapshot_item,       since),
     .name = "Age",
     .help = "Seconds that the behemoth has lived, in the time of the herd."},
    {.index = 6,
     .help_index = 6,
     .type = PERF_COUNTER_RAWCOUNT,
     .scale = -1,
     .level = PERF_DETAIL_NOVICE,
     .value = OPL_FIELD(struct snapshot_item,                   x),
     .name = "X",
     .help = "Metres from the left edge of the field."},
    {.index = 8,
     .help_index = 8,
     .type = PERF_COUNTER_RAWCOUNT,
     .scale = -1,
     .level = PERF_DETAIL_NOVICE,
     .value = OPL_FIELD(struct snapshot_item,                                   y),
     .name = "Y",
     .help = "Metres from the upper edge of the field."},
    {.index = 10,
     .help_index = 10,
     .type = PERF_COUNTER_RAWCOUNT,
     .scale = -2,
     .level = PERF_DETAIL_NOVICE,
     .value = OPL_FIELD(struct snapshot_item,                 weight),
     .name = "Weight",
     .help = "Kilograms."},
    {.index = 12,
     .help_index = 12,
     .type = PERF_COUNTER_RAWCOUNT,
     .scale = -2,
     .level = PERF_DETAIL_ADVANCED,
     .value = OPL_FIELD(struct snapshot_item,                              volume),
     .name = "Volume",
     .help = "Litres."},
    {.index = 14,
     .help_index = 14,
     .type = PERF_COUNTER_LARGE_RAWCOUNT,
     .level = PERF_DETAIL_ADVANCED,
     .value = OPL_FIELD(struct snapshot_item,                     birthday),
     .name = "Birthday",
     .help = "When the behemoth was born, in the time of the herd: units of 100 nanoseconds since "
             "1601, as files have them."                          },
};

static const opl_object behemoth = {
    .index = 0,
    .help_index = 0,
    .name = "Behemoth",
    .help = "Those who live on the field. The parent of each is the mother, as long as she lives.",
    OPL_COUNTERS(behemoth_counters),
    .default_counter = 10,
    .clock = true,
    .instances = true,
    .list = list_herd};

/* ---- Behemoths Summary ---- */

static const opl_counter summary_counters[] = {
    {.index = 18,
     .help_index = 18,
     .type = PERF_COUNTER_RAWCOUNT,
     .level = PERF_DETAIL_NOVICE,
     .value = OPL_VARIABLE(herd.count),
     .name = "Behemoths",
     .help = "How many live."                                                                  },
    {           .index = 20,
     .help_index = 20,
     .type = PERF_COUNTER_LARGE_RAWCOUNT,
     .scale = -4,
     .level = PERF_DETAIL_NOVICE,
     .value = OPL_VARIABLE(herd.weight),
     .name = "Total Weight",
     .help = "What all of them weigh together, in kilograms."},
    {                                             .index = 22,
     .help_index = 22,
     .type = PERF_COUNTER_BULK_COUNT,
     .scale = 1,
     .level = PERF_DETAIL_NOVICE,
     .value = OPL_VARIABLE(herd.births),
     .name = "Births/sec",
     .help = "How many are born in a second."},
    {                                                             .index = 24,
     .help_index = 24,
     .type = PERF_COUNTER_BULK_COUNT,
     .scale = 1,
     .level = PERF_DETAIL_NOVICE,
     .value = OPL_VARIABLE(herd.deaths),
     .name = "Deaths/sec",
     .help = "How many die in a second."},
    {                                                                  .index = 26,
     .help_index = 26,
     .type = PERF_LARGE_RAW_FRACTION,
     .scale = -1,
     .level = PERF_DETAIL_NOVICE,
     .value = OPL_VARIABLE(herd.ages),
     .base = OPL_VARIABLE(mean_base),
     .name = "% Mean Age",
     .help = "The mean age of those who live, in percent of the lifetime that they can expect."},
    {             .index = 28,
     .help_index = 28,
     .type = PERF_COUNTER_RAWCOUNT,
     .level = PERF_DETAIL_NOVICE,
     .value = OPL_VARIABLE(status),
     .name = "Status",
     .help = "1: the server answered. 0: it did not, and everything else is what it said last."},
    {           .index = 30,
     .help_index = 30,
     .type = PERF_ELAPSED_TIME,
     .level = PERF_DETAIL_ADVANCED,
     .value = OPL_FN(data_begin),
     .name = "Data Age",
     .help = "Seconds since the server said what is shown."                                  },
    { .index = 32,
     .help_index = 32,
     .type = PERF_COUNTER_BULK_COUNT,
     .scale = -2,
     .level = PERF_DETAIL_ADVANCED,
     .value = OPL_VARIABLE(herd.left_steps),
     .name = "Left Steps/sec",
     .help = "Steps with the left foot in a second, of all together."},
    {                         .index = 34,
     .help_index = 34,
     .type = PERF_COUNTER_BULK_COUNT,
     .scale = -2,
     .level = PERF_DETAIL_ADVANCED,
     .value = OPL_VARIABLE(herd.right_steps),
     .name = "Right Steps/sec",
     .help = "Steps with the right foot in a second: as many as with the left one, always."},
    {   .index = 36,
     .help_index = 36,
     .type = PERF_COUNTER_LARGE_RAWCOUNT,
     .scale = -2,
     .level = PERF_DETAIL_ADVANCED,
     .value = OPL_VARIABLE(herd.ticks),
     .name = "Herd Time",
     .help = "Seconds since the herd began, in its own time."},
    {                                 .index = 46,
     .help_index = 46,
     .type = PERF_COUNTER_LARGE_RAWCOUNT,
     .scale = -1,
     .level = PERF_DETAIL_EXPERT,
     .value = OPL_VARIABLE(herd.founded),
     .name = "Founders",
     .help = "How many came from elsewhere. With the births and without the deaths they are those "
             "who live."},
};

static const opl_object summary = {.index = 16,
                                   .help_index = 16,
                                   .name = "Behemoths Summary",
                                   .help =
                                       "All behemoths together, and whether their server is there.",
                                   OPL_COUNTERS(summary_counters),
                                   .default_counter = 18,
                                   .clock = true};

/* ---- Behemoth Kin: for those who ask for it, or for Costly ---- */

static void list_kin(opl_listing *listing);

static const opl_counter kin_counters[] = {
    {.index = 40,
     .help_index = 40,
     .type = PERF_COUNTER_RAWCOUNT,
     .level = PERF_DETAIL_ADVANCED,
     .value = OPL_FIELD(struct snapshot_item, generation),
     .name = "Generation",
     .help = "0: came from elsewhere. Else one more than the mother's."                      },
    {.index = 42,
     .help_index = 42,
     .type = PERF_COUNTER_RAWCOUNT,
     .level = PERF_DETAIL_ADVANCED,
     .value = OPL_FIELD(struct snapshot_item, children),
     .name = "Children Born",
     .help = "How many this behemoth gave birth to."                                         },
    {.index = 44,
     .help_index = 44,
     .type = PERF_COUNTER_RAWCOUNT,
     .level = PERF_DETAIL_ADVANCED,
     .value = OPL_FIELD(struct snapshot_item, descendants),
     .name = "Living Descendants",
     .help = "How many live who have their life from this behemoth through mothers who live."},
};

static const opl_object kin = {
    .index = 38,
    .help_index = 38,
    .name = "Behemoth Kin",
    .help = "The families of the behemoths. Only for those who ask for costly data, or for these.",
    OPL_COUNTERS(kin_counters),
    .default_counter = 44,
    .costly = true,
    .instances = true,
    .list = list_kin};

/* ---- lists ---- */

static const struct snapshot *now;

static void list_all(opl_listing *listing, const opl_object *of)
{
    for (uint32_t i = 0; i < herd.count; i++) {
        const struct behemoth *is = now->items[i].is;
        opl_listing_item(listing, is->name, &now->items[i]);
        if (is->mother_position != BEHEMOTH_NONE)
            opl_listing_parent(listing, of, is->mother_position);
    }
}

/* The objects' clock counts from the start of the system, independent of the time of day, so it
 * is always later than the times in it. */
static int64_t clock_begin(opl_reading *reading)
{
    static int64_t otherwise;
    if (!getenv("OPENPERFLIB_SYSROOT"))
        return opl_boot_time(reading);
    if (!otherwise) /* with another system root, its start time does not match our clock */
        otherwise = opl_reading_time(reading) - snapshot_uptime();
    return otherwise;
}

static bool data_begin(opl_reading *reading, uint64_t *ret)
{
    int64_t begin = clock_begin(reading);
    *ret = now && now->heard > 0 ? (uint64_t)(begin + now->heard) : 0;
    return true;
}

static void list_herd(opl_listing *listing)
{
    snapshot_place(clock_begin(opl_listing_reading(listing)));
    list_all(listing, &behemoth);
}

static void list_kin(opl_listing *listing)
{
    if (herd.count > 0)
        snapshot_descendants();
    list_all(listing, &kin);
}

/* ---- the provider ---- */

static DWORD first_counter;

/* Is it only the summary's number? Then the herd is not requested from the server. */
static bool asks_for_summary(LPCWSTR query)
{
    uint64_t number = 0;
    for (; query && *query >= '0' && *query <= '9' && number <= UINT32_MAX; query++)
        number = number * 10 + (uint64_t)(*query - '0');
    return query && !*query && number == first_counter + summary.index;
}

static const opl_object *const objects[] = {&behemoth, &summary, &kin};
OPL_TABLES("Behemoth", objects, NULL, Open, Collect, Close);
static opl_entry *entry;
/* In remote service processes several threads collect at once. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

OPL_EXPORTED DWORD APIENTRY Open(LPWSTR devices);
OPL_EXPORTED DWORD APIENTRY Collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types);
OPL_EXPORTED DWORD APIENTRY Close(void);
OPL_EXPORTED HRESULT DllRegisterServer(void);
OPL_EXPORTED HRESULT DllUnregisterServer(void);

DWORD APIENTRY Open(LPWSTR devices)
{
    pthread_mutex_lock(&lock);
    DWORD size = sizeof first_counter;
    if (!entry) {
        snapshot_open();
        RegGetValueA(HKEY_LOCAL_MACHINE, PERFORMANCE, "First Counter", RRF_RT_REG_DWORD, NULL,
                     &first_counter, &size);
    }
    DWORD result = opl_entry_open_1(&entry, &opl_tables_1, devices);
    pthread_mutex_unlock(&lock);
    return result;
}

DWORD APIENTRY Collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types)
{
    pthread_mutex_lock(&lock);
    now = asks_for_summary(query) ? snapshot_take_summary() : snapshot_take();
    herd = now->herd;
    mean_base = now->mean_base;
    status = now->there;
    DWORD result = opl_entry_collect_1(entry, query, data, bytes, types);
    pthread_mutex_unlock(&lock);
    return result;
}

DWORD APIENTRY Close(void)
{
    pthread_mutex_lock(&lock);
    DWORD result = opl_entry_close_1(&entry);
    if (!entry) {
        snapshot_close();
        memset(&herd, 0, sizeof herd);
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
