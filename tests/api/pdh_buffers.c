/* SPDX-License-Identifier: MIT */
/*
 * Rules that all functions of pdh.h share: how lists and texts are requested, in A and W form
 * alike, and which handles are refused, with all outputs unchanged. (docs/windows/pdh.md#f1)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pdh.h>
#include <pdhmsg.h>

#include "../pdh/frozen.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define assert_status(call, status) assert_int_equal((DWORD)(call), (DWORD)(status))
#define TOTAL "\\Processor(_Total)\\% Processor Time"

static PDH_HQUERY query;
static PDH_HCOUNTER counter, all;
static PDH_HLOG source;

/* ---- lists and texts ---- */

/* A function in its A or W form: `text` receives the answer, *length is in characters. */
typedef PDH_STATUS list_function(void *text, DWORD *length);
#define LIST(name, narrow_call, wide_call)                                                         \
    static PDH_STATUS name##_narrow(void *text, DWORD *length)                                     \
    {                                                                                              \
        return narrow_call;                                                                        \
    }                                                                                              \
    static PDH_STATUS name##_wide(void *text, DWORD *length)                                       \
    {                                                                                              \
        return wide_call;                                                                          \
    }

static DWORD other; /* the length of a second list, which the tests ignore */
static PDH_COUNTER_PATH_ELEMENTS_A narrow_parts;
static PDH_COUNTER_PATH_ELEMENTS_W wide_parts;
static char skipped[64];
static DWORD skipped_length, skipped_index;

LIST(machines, PdhEnumMachinesA(NULL, text, length), PdhEnumMachinesW(NULL, text, length))
LIST(machines_h, PdhEnumMachinesHA(source, text, length), PdhEnumMachinesHW(source, text, length))
LIST(objects, PdhEnumObjectsA(NULL, NULL, text, length, PERF_DETAIL_WIZARD, FALSE),
     PdhEnumObjectsW(NULL, NULL, text, length, PERF_DETAIL_WIZARD, FALSE))
LIST(objects_h, PdhEnumObjectsHA(source, NULL, text, length, PERF_DETAIL_WIZARD, FALSE),
     PdhEnumObjectsHW(source, NULL, text, length, PERF_DETAIL_WIZARD, FALSE))
LIST(counters,
     (other = 0, PdhEnumObjectItemsA(NULL, NULL, "Memory", text, length, NULL, &other, 400, 0)),
     (other = 0, PdhEnumObjectItemsW(NULL, NULL, u"Memory", text, length, NULL, &other, 400, 0)))
LIST(counters_h,
     (other = 0, PdhEnumObjectItemsHA(source, NULL, "Memory", text, length, NULL, &other, 400, 0)),
     (other = 0, PdhEnumObjectItemsHW(source, NULL, u"Memory", text, length, NULL, &other, 400, 0)))
LIST(default_object, PdhGetDefaultPerfObjectA(NULL, NULL, text, length),
     PdhGetDefaultPerfObjectW(NULL, NULL, text, length))
LIST(default_object_h, PdhGetDefaultPerfObjectHA(source, NULL, text, length),
     PdhGetDefaultPerfObjectHW(source, NULL, text, length))
LIST(default_counter, PdhGetDefaultPerfCounterA(NULL, NULL, "Processor", text, length),
     PdhGetDefaultPerfCounterW(NULL, NULL, u"Processor", text, length))
LIST(default_counter_h, PdhGetDefaultPerfCounterHA(source, NULL, "Processor", text, length),
     PdhGetDefaultPerfCounterHW(source, NULL, u"Processor", text, length))
LIST(name_by_index, PdhLookupPerfNameByIndexA(NULL, 674, text, length),
     PdhLookupPerfNameByIndexW(NULL, 674, text, length))
LIST(made_path, PdhMakeCounterPathA(&narrow_parts, text, length, 0),
     PdhMakeCounterPathW(&wide_parts, text, length, 0))
LIST(expanded, PdhExpandCounterPathA("\\Processor(*)\\% *", text, length),
     PdhExpandCounterPathW(u"\\Processor(*)\\% *", text, length))
LIST(expanded_too, PdhExpandWildCardPathA(NULL, "\\Processor(*)\\% *", text, length, 0),
     PdhExpandWildCardPathW(NULL, u"\\Processor(*)\\% *", text, length, 0))
LIST(expanded_h, PdhExpandWildCardPathHA(source, "\\Processor(*)\\% *", text, length, 0),
     PdhExpandWildCardPathHW(source, u"\\Processor(*)\\% *", text, length, 0))
LIST(instance_name,
     (skipped_length = COUNT(skipped), PdhParseInstanceNameA("parent/name#2", text, length, skipped,
                                                             &skipped_length, &skipped_index)),
     (skipped_length = COUNT(skipped) / 2,
      PdhParseInstanceNameW(u"parent/name#2", text, length, (LPWSTR)skipped, &skipped_length,
                            &skipped_index)))
LIST(parent_name,
     (skipped_length = COUNT(skipped),
      PdhParseInstanceNameA("parent/name#2", skipped, &skipped_length, text, length,
                            &skipped_index)),
     (skipped_length = COUNT(skipped) / 2,
      PdhParseInstanceNameW(u"parent/name#2", (LPWSTR)skipped, &skipped_length, text, length,
                            &skipped_index)))

#define FUNCTION(name)                                                                             \
    {                                                                                              \
#name, name##_narrow, name##_wide                                                          \
    }
static const struct function {
    const char *name;
    list_function *narrow, *wide;
} functions[] = {
    FUNCTION(machines),          FUNCTION(machines_h),       FUNCTION(objects),
    FUNCTION(objects_h),         FUNCTION(counters),         FUNCTION(counters_h),
    FUNCTION(default_object),    FUNCTION(default_object_h), FUNCTION(default_counter),
    FUNCTION(default_counter_h), FUNCTION(name_by_index),    FUNCTION(made_path),
    FUNCTION(expanded),          FUNCTION(expanded_too),     FUNCTION(expanded_h),
    FUNCTION(instance_name),     FUNCTION(parent_name),
};

enum { SIZE = 16384 };
static uint16_t texts[2][SIZE + 1]; /* the answers in A and W form */

static bool untouched(const void *text, size_t bytes)
{
    const unsigned char *at = text;
    for (size_t i = 0; i < bytes; i++)
        if (at[i] != 0x5a)
            return false;
    return true;
}

/* Did the function succeed? PdhEnumObjectItems ("counters...") fills two lists: it may return
 * PDH_MORE_DATA because of the list that is not tested, which is no failure. */
static bool succeeds(PDH_STATUS status, const struct function *function)
{
    bool two = !strncmp(function->name, "counters", 8);
    return status == 0 || (two && (DWORD)status == PDH_MORE_DATA);
}

static void follows_the_rules(const struct function *function, bool wide)
{
    list_function *run_query = wide ? function->wide : function->narrow;
    uint16_t *text = texts[wide];
    size_t size = wide ? 2 : 1;
    DWORD needed = 0, length = 7, none = 0;
    print_message("# %s, %s\n", function->name, wide ? "W" : "A");
    memset(text, 0x5a, sizeof texts[0]);
    assert_status(run_query(text, NULL), PDH_INVALID_ARGUMENT);
    assert_status(run_query(NULL, &length), PDH_INVALID_ARGUMENT);
    assert_int_equal(length, 7);
    assert_status(run_query(NULL, &needed), PDH_MORE_DATA);
    assert_true(needed > 1 && needed < SIZE);
    /* there is a buffer, but its length is 0 */
    assert_status(run_query(text, &none), PDH_MORE_DATA);
    assert_int_equal(none, needed);
    for (DWORD small = 1; small < needed; small += 1 + needed / 5) {
        length = small;
        assert_status(run_query(text, &length), PDH_MORE_DATA);
        assert_int_equal(length, needed);
    }
    length = needed - 1;
    assert_status(run_query(text, &length), PDH_MORE_DATA);
    assert_int_equal(length, needed);
    assert_true(untouched(text, sizeof texts[0]));
    length = needed;
    assert_true(succeeds(run_query(text, &length), function));
    assert_int_equal(length, needed);
    assert_true(untouched((char *)text + needed * size, sizeof texts[0] - needed * size));
    memset(text, 0x5a, sizeof texts[0]);
    length = SIZE;
    assert_true(succeeds(run_query(text, &length), function));
    assert_int_equal(length, needed);
    assert_true(untouched((char *)text + needed * size, sizeof texts[0] - needed * size));
}

/* The A and W forms return the same text and the same length in characters, because all texts are
 * ASCII here. */
static void both_forms_are_alike(void **state)
{
    for (size_t i = 0; i < COUNT(functions); i++) {
        const struct function *function = &functions[i];
        DWORD narrow = SIZE, wide = SIZE;
        follows_the_rules(function, false);
        follows_the_rules(function, true);
        assert_true(succeeds(function->narrow(texts[0], &narrow), function));
        assert_true(succeeds(function->wide(texts[1], &wide), function));
        assert_int_equal(narrow, wide);
        for (DWORD k = 0; k < narrow; k++)
            assert_int_equal(((const unsigned char *)texts[0])[k], texts[1][k]);
    }
}

/* ---- structures, in bytes ---- */

typedef PDH_STATUS put_function(void *structure, DWORD *size);

static PDH_STATUS info_narrow(void *to, DWORD *size)
{
    return PdhGetCounterInfoA(counter, TRUE, size, to);
}

static PDH_STATUS info_wide(void *to, DWORD *size)
{
    return PdhGetCounterInfoW(counter, TRUE, size, to);
}

static PDH_STATUS parts_narrow(void *to, DWORD *size)
{
    return PdhParseCounterPathA("\\\\m\\o(p/i#3)\\c", to, size, 0);
}

static PDH_STATUS parts_wide(void *to, DWORD *size)
{
    return PdhParseCounterPathW(u"\\\\m\\o(p/i#3)\\c", to, size, 0);
}

static DWORD items;

static PDH_STATUS raw_narrow(void *to, DWORD *size)
{
    return PdhGetRawCounterArrayA(all, size, &items, to);
}

static PDH_STATUS raw_wide(void *to, DWORD *size)
{
    return PdhGetRawCounterArrayW(all, size, &items, to);
}

static PDH_STATUS values_narrow(void *to, DWORD *size)
{
    return PdhGetFormattedCounterArrayA(all, PDH_FMT_DOUBLE, size, &items, to);
}

static PDH_STATUS values_wide(void *to, DWORD *size)
{
    return PdhGetFormattedCounterArrayW(all, PDH_FMT_DOUBLE, size, &items, to);
}

static PDH_STATUS range(void *to, DWORD *size)
{
    DWORD entries = 1;
    char path[512];
    snprintf(path, sizeof path, "%s/perfmon-logs/CounterSamples.csv", getenv("GOLDEN"));
    return PdhGetDataSourceTimeRangeA(path, &entries, to, size);
}

static void structures_follow_the_rules(void **state)
{
    static put_function *const givers[] = {info_narrow, info_wide,     parts_narrow,
                                           parts_wide,  raw_narrow,    raw_wide,
                                           range,       values_narrow, values_wide};
    static union {
        char bytes[8192];
        PDH_COUNTER_INFO_A aligned;
    } is;
    assert_status(PdhCollectQueryData(query), 0);
    for (size_t i = 0; i < COUNT(givers); i++) {
        DWORD needed = 0, size = 5;
        memset(&is, 0x5a, sizeof is);
        assert_status(givers[i](&is, NULL), PDH_INVALID_ARGUMENT);
        assert_status(givers[i](NULL, &size), PDH_INVALID_ARGUMENT);
        assert_int_equal(size, 5);
        assert_status(givers[i](NULL, &needed), PDH_MORE_DATA);
        size = needed - 1;
        assert_status(givers[i](&is, &size), PDH_MORE_DATA);
        assert_int_equal(size, needed);
        assert_true(untouched(is.bytes + needed - 1, sizeof is - needed + 1));
        size = needed;
        assert_status(givers[i](&is, &size), 0);
        assert_int_equal(size, needed);
        assert_true(untouched(is.bytes + needed, sizeof is - needed));
    }
    assert_int_equal(items, 3);
}

/* ---- handles ---- */

typedef PDH_STATUS user(HANDLE handle);
#define USE(name, call)                                                                            \
    static PDH_STATUS name(HANDLE handle)                                                          \
    {                                                                                              \
        return call;                                                                               \
    }
static union { /* outputs of the functions, which must stay unchanged */
    char bytes[4096];
    PDH_HCOUNTER counter;
    PDH_RAW_COUNTER raw;
    PDH_FMT_COUNTERVALUE value;
    PDH_STATISTICS statistics;
    PDH_TIME_INFO range;
    LONGLONG large;
    DWORD number;
    char text;
    WCHAR wide;
} out;
static DWORD kept; /* a length, which must stay unchanged */
static PDH_RAW_COUNTER sample;

USE(use_close_query, PdhCloseQuery(handle))
USE(use_range, PdhSetQueryTimeRange(handle, &out.range))
USE(use_add, PdhAddCounterA(handle, TOTAL, 0, &out.counter))
USE(use_add_english, PdhAddEnglishCounterA(handle, TOTAL, 0, &out.counter))
USE(use_collect, PdhCollectQueryData(handle))
USE(use_collect_time, PdhCollectQueryDataWithTime(handle, &out.large))
USE(use_collect_each, PdhCollectQueryDataEx(handle, 1, NULL))
USE(use_remove, PdhRemoveCounter(handle))
USE(use_info, PdhGetCounterInfoA(handle, TRUE, &kept, (void *)&out))
USE(use_scale, PdhSetCounterScaleFactor(handle, 1))
USE(use_base, PdhGetCounterTimeBase(handle, &out.large))
USE(use_raw, PdhGetRawCounterValue(handle, &out.number, &out.raw))
USE(use_value, PdhGetFormattedCounterValue(handle, PDH_FMT_LONG, &out.number, &out.value))
USE(use_raws, PdhGetRawCounterArrayA(handle, &kept, &out.number, (void *)&out))
USE(use_values,
    PdhGetFormattedCounterArrayW(handle, PDH_FMT_LONG, &kept, &out.number, (void *)&out))
USE(use_calculate,
    PdhCalculateCounterFromRawValue(handle, PDH_FMT_LONG, &sample, &sample, &out.value))
USE(use_statistics,
    PdhComputeCounterStatistics(handle, PDH_FMT_LONG, 0, 1, &sample, &out.statistics))
USE(use_update, PdhUpdateLogA(handle, NULL))
USE(use_close_log, PdhCloseLog(handle, 0))
USE(use_catalog, PdhUpdateLogFileCatalog(handle))
USE(use_log_size, PdhGetLogFileSize(handle, &out.large))
USE(use_open, PdhOpenQueryH(handle, 0, &out.counter))
USE(use_machines, PdhEnumMachinesHA(handle, &out.text, &kept))
USE(use_objects, PdhEnumObjectsHW(handle, NULL, &out.wide, &kept, 400, FALSE))
USE(use_items,
    PdhEnumObjectItemsHA(handle, NULL, "System", &out.text, &kept, &out.text, &kept, 400, 0))
USE(use_object, PdhGetDefaultPerfObjectHA(handle, NULL, &out.text, &kept))
USE(use_counter, PdhGetDefaultPerfCounterHA(handle, NULL, "System", &out.text, &kept))
USE(use_validate, PdhValidatePathExA(handle, TOTAL))
USE(use_expand, PdhExpandWildCardPathHA(handle, TOTAL, &out.text, &kept, 0))
USE(use_log_range,
    (out.number = 0x5a5a5a5a, PdhGetDataSourceTimeRangeH(handle, &out.number, &out.range, &kept)))

static user *const query_users[] = {use_close_query, use_range,   use_add,
                                    use_add_english, use_collect, use_collect_time,
                                    use_collect_each};
static user *const counter_users[] = {use_remove,    use_info,      use_scale, use_base,
                                      use_raw,       use_value,     use_raws,  use_values,
                                      use_calculate, use_statistics};
static user *const log_users[] = {use_update, use_close_log, use_catalog, use_log_size};
static user *const source_users[] = {use_open,     use_machines, use_objects,
                                     use_items,    use_object,   use_counter,
                                     use_validate, use_expand,   use_log_range};

/* Each function refuses each of these handles, and leaves its outputs unchanged. NULL is a valid
 * source: live data. */
static void refuse(user *const *users, size_t count, HANDLE const *strange, size_t strange_count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < strange_count; k++) {
            memset(&out, 0x5a, sizeof out);
            kept = 64;
            assert_status(users[i](strange[k]), PDH_INVALID_HANDLE);
            assert_true(untouched(&out, sizeof out));
            assert_int_equal(kept, 64);
        }
}

static void strange_handles(void **state)
{
    PDH_HQUERY closed = NULL;
    PDH_HCOUNTER gone = NULL, with_it = NULL;
    PDH_HLOG closed_log = NULL;
    assert_status(PdhOpenQueryA(NULL, 0, &closed), 0);
    assert_status(PdhAddCounterA(query, TOTAL, 0, &gone), 0);
    assert_status(PdhAddCounterA(closed, TOTAL, 0, &with_it), 0);
    assert_status(PdhBindInputDataSourceA(&closed_log, NULL), 0);
    assert_status(PdhRemoveCounter(gone), 0);
    assert_status(PdhCloseQuery(closed), 0);
    assert_status(PdhCloseLog(closed_log, 0), 0);
    const HANDLE closed_ones[] = {closed,  gone,       with_it,   closed_log,
                                  &closed, (HANDLE)-1, (HANDLE)1, (HANDLE)(uintptr_t)0x7ffffff8};
    const HANDLE none[] = {NULL};
    const HANDLE no_query[] = {counter, source}, no_counter[] = {query, source};
    const HANDLE no_log[] = {query, counter};
#define REFUSE(users, handles) refuse(users, COUNT(users), handles, COUNT(handles))
    REFUSE(query_users, closed_ones);
    REFUSE(query_users, none);
    REFUSE(query_users, no_query);
    REFUSE(counter_users, closed_ones);
    REFUSE(counter_users, none);
    REFUSE(counter_users, no_counter);
    REFUSE(log_users, closed_ones);
    REFUSE(log_users, none);
    REFUSE(log_users, no_log);
    REFUSE(source_users, closed_ones);
    REFUSE(source_users, no_log);
    assert_false(PdhIsRealTimeQuery(closed));
    assert_false(PdhIsRealTimeQuery(counter));
    assert_true(PdhIsRealTimeQuery(query));
}

/* ---- main ---- */

static int begin(void **state)
{
    narrow_parts = (PDH_COUNTER_PATH_ELEMENTS_A){.szMachineName = (char *)"m",
                                                 .szObjectName = (char *)"object",
                                                 .szInstanceName = (char *)"instance",
                                                 .szParentInstance = (char *)"parent",
                                                 .dwInstanceIndex = 12,
                                                 .szCounterName = (char *)"counter"};
    wide_parts = (PDH_COUNTER_PATH_ELEMENTS_W){.szMachineName = (WCHAR *)u"m",
                                               .szObjectName = (WCHAR *)u"object",
                                               .szInstanceName = (WCHAR *)u"instance",
                                               .szParentInstance = (WCHAR *)u"parent",
                                               .dwInstanceIndex = 12,
                                               .szCounterName = (WCHAR *)u"counter"};
    frozen_make(state);
    return PdhOpenQueryA(NULL, 0, &query) || PdhAddCounterA(query, TOTAL, 0, &counter) ||
           PdhAddCounterA(query, "\\Processor(*)\\% User Time", 0, &all) ||
           PdhBindInputDataSourceA(&source, NULL);
}

static int end(void **state)
{
    PdhCloseQuery(query);
    PdhCloseLog(source, 0);
    return frozen_remove(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_forms_are_alike),
        cmocka_unit_test(structures_follow_the_rules),
        cmocka_unit_test(strange_handles),
    };
    return cmocka_run_group_tests_name("api-pdh-buffers", tests, begin, end);
}
