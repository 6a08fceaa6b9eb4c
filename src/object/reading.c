/* SPDX-License-Identifier: MIT */
/* Functions that OPL_FN rows may call, and the time at which the system started. */
#include "object/object.h"

#include <string.h>
#include <time.h>

bool opl_reading_column(opl_reading *reading, const opl_source *is, unsigned column, uint64_t *ret)
{
    struct source *source = source_of(reading->provider, is);
    if (!source || column == 0 || source_load_words(reading, source, column) ||
        !source_has_number(source, column))
        return false;
    *ret = source->words[column];
    return true;
}

bool opl_reading_key(opl_reading *reading, const opl_source *is, const char *text, uint64_t *ret)
{
    struct source *source = source_of(reading->provider, is);
    struct source_key *key = source ? source_add_key(source, text, strlen(text)) : NULL;
    if (!key || source_load_keys(reading, source) || !key->at)
        return false;
    *ret = key_number(key, 1);
    return true;
}

const char *opl_reading_text(opl_reading *reading, const opl_source *is, size_t *ret_bytes)
{
    struct source *source = source_of(reading->provider, is);
    if (!source || source_load(reading, source))
        return NULL;
    if (ret_bytes)
        *ret_bytes = source->length;
    return source->text;
}

uint64_t opl_reading_namespace(opl_reading *reading)
{
    return provider_namespace(reading->provider);
}

uint64_t opl_reading_version(opl_reading *reading, const opl_source *is)
{
    struct source *source = source_of(reading->provider, is);
    return source && !source_load(reading, source) ? source->version : 0;
}

uint32_t opl_reading_position(const opl_reading *reading)
{
    return reading->position;
}

const char *opl_reading_folder(const opl_reading *reading)
{
    return reading->folder;
}

int64_t opl_reading_time(const opl_reading *reading)
{
    return reading->provider->time;
}

uint64_t opl_reading_note(const opl_reading *reading)
{
    return reading->note;
}

const void *opl_reading_item(const opl_reading *reading)
{
    return reading->item;
}

/* ---- the start of the system ---- */

static int64_t clock_100ns(clockid_t which)
{
    struct timespec now;
    clock_gettime(which, &now);
    return (int64_t)now.tv_sec * CLOCK_TICKS_PER_SECOND + now.tv_nsec / 100;
}

/* The system's start, computed from two clocks. The kernel adjusts both alike, so their difference
 * changes only when the time is set. It is rounded to 1/100 s, the unit of processes' start times,
 * so all programs get the same result. */
static int64_t boot_of_clocks(void)
{
    const int64_t hundredth = CLOCK_TICKS_PER_SECOND / 100;
    int64_t before = clock_100ns(CLOCK_BOOTTIME);
    int64_t now = clock_filetime();
    int64_t uptime = (before + clock_100ns(CLOCK_BOOTTIME)) / 2;
    return (now - uptime + hundredth / 2) / hundredth * hundredth;
}

static const opl_source system_stat = {"proc/stat"};

static int64_t boot_of_archive(opl_reading *reading)
{
    uint64_t seconds;
    if (!opl_reading_key(reading, &system_stat, "btime", &seconds))
        return 0;
    struct timespec btime = {.tv_sec = (time_t)seconds};
    return clock_filetime_of(&btime);
}

int64_t opl_boot_time(opl_reading *reading)
{
    opl_provider *provider = reading->provider;
    static int64_t live; /* computed once for all providers of this process */
    if (provider->boot)
        return provider->boot;
    if (!provider_live())
        return provider->boot = boot_of_archive(reading);
    int64_t boot = __atomic_load_n(&live, __ATOMIC_RELAXED);
    if (!boot) {
        int64_t first = 0;
        boot = boot_of_clocks();
        if (!__atomic_compare_exchange_n(&live, &first, boot, false, __ATOMIC_RELAXED,
                                         __ATOMIC_RELAXED))
            boot = first;
    }
    return provider->boot = boot;
}
