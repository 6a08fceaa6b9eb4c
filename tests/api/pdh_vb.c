/* SPDX-License-Identifier: MIT */
/* The functions PdhVb...: used in a loop, as a Visual Basic program does, on a frozen machine (a
 * copy of files of /proc and /sys); and which arguments they refuse. (docs/windows/pdh.md#f2) */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pdh.h>
#include <pdhmsg.h>

#include "../pdh/frozen.h"

#define assert_status(call, status) assert_int_equal((DWORD)(call), (DWORD)(status))

static void a_loop(void **state)
{
    PDH_HQUERY query = NULL;
    PDH_HCOUNTER processes = NULL, rate = NULL, absent = NULL;
    DWORD status = 77;
    assert_status(PdhVbOpenQuery(&query), 0);
    assert_status(PdhVbAddCounter(query, "\\System\\Processes", &processes), 0);
    assert_status(PdhVbAddCounter(query, "\\System\\Context Switches/sec", &rate), 0);
    assert_status(PdhVbAddCounter(query, "\\Processor(none)\\% User Time", &absent), 0);
    assert_status(PdhCollectQueryData(query), 0);
    assert_true(PdhVbGetDoubleCounterValue(processes, &status) > 0);
    assert_int_equal(status, PDH_CSTATUS_VALID_DATA);
    assert_true(PdhVbGetDoubleCounterValue(processes, NULL) > 0);
    assert_true(PdhVbGetDoubleCounterValue(rate, &status) == 0); /* a rate needs two samples */
    assert_int_equal(status, PDH_CSTATUS_INVALID_DATA);
    assert_true(PdhVbGetDoubleCounterValue(absent, &status) == 0);
    assert_int_equal(status, PDH_CSTATUS_NO_INSTANCE);
    assert_status(PdhCloseQuery(query), 0);
    assert_true(PdhVbGetDoubleCounterValue(processes, &status) == 0);
    assert_int_equal(status, PDH_INVALID_HANDLE);
}

static void good_statuses(void **state)
{
    static const DWORD bad[] = {PDH_CSTATUS_NO_INSTANCE, PDH_MORE_DATA, PDH_NO_DATA,
                                PDH_INVALID_HANDLE, PDH_CSTATUS_INVALID_DATA};
    assert_int_not_equal(PdhVbIsGoodStatus(PDH_CSTATUS_VALID_DATA), 0);
    assert_int_not_equal(PdhVbIsGoodStatus(PDH_CSTATUS_NEW_DATA), 0);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(PdhVbIsGoodStatus((PDH_STATUS)bad[i]), 0);
}

static void refused_adding(void **state)
{
    PDH_HQUERY query = NULL;
    PDH_HCOUNTER counter = &counter;
    assert_status(PdhVbOpenQuery(NULL), PDH_INVALID_ARGUMENT);
    assert_status(PdhVbOpenQuery(&query), 0);
    assert_status(PdhVbAddCounter(NULL, "\\System\\Processes", NULL), PDH_INVALID_ARGUMENT);
    assert_status(PdhVbAddCounter(NULL, "\\System\\Processes", &counter), PDH_INVALID_HANDLE);
    assert_status(PdhVbAddCounter(query, NULL, &counter), PDH_INVALID_ARGUMENT);
    assert_ptr_equal(counter, &counter);
    assert_status(PdhVbAddCounter(query, "\\System\\None", &counter), PDH_CSTATUS_NO_COUNTER);
    assert_null(counter);
    assert_status(PdhCloseQuery(query), 0);
}

static void parts_of_a_path(void **state)
{
    char m[16] = "?", o[16] = "?", i[16] = "?", p[16] = "?", c[16] = "?";
    assert_status(PdhVbGetCounterPathElements("\\\\h\\Thread(bash/0#2)\\c", m, o, i, p, c, 16), 0);
    assert_string_equal(m, "\\\\h");
    assert_string_equal(o, "Thread");
    assert_string_equal(i, "0");
    assert_string_equal(p, "bash");
    assert_string_equal(c, "c");
    assert_status(PdhVbGetCounterPathElements("\\System\\Threads", m, o, i, p, c, 8), 0);
    assert_string_equal(m, "");
    assert_string_equal(o, "System");
    assert_string_equal(i, "");
    assert_string_equal(p, "");
    assert_string_equal(c, "Threads");
    assert_status(PdhVbGetCounterPathElements("\\S(x)\\Threads", m, o, i, p, c, 7), PDH_MORE_DATA);
    /* one text did not fit into 7 characters, so none was written */
    assert_string_equal(o, "System");
    assert_status(PdhVbGetCounterPathElements("\\System", m, o, i, p, c, 16),
                  PDH_CSTATUS_BAD_COUNTERNAME);
    assert_status(PdhVbGetCounterPathElements(NULL, m, o, i, p, c, 16), PDH_INVALID_ARGUMENT);
    assert_status(PdhVbGetCounterPathElements("\\a\\b", m, o, i, NULL, c, 16),
                  PDH_INVALID_ARGUMENT);
    assert_status(PdhVbGetCounterPathElements("\\a\\b", m, o, i, p, c, 0), PDH_INVALID_ARGUMENT);
}

static void a_capture(void **state)
{
    PDH_HQUERY query = NULL;
    PDH_HCOUNTER counter = NULL;
    PDH_HLOG log = NULL;
    DWORD type = PDH_LOG_TYPE_CSV;
    LONG size = 0;
    char path[128];
    snprintf(path, sizeof path, "%s/vb.csv", frozen_folder);
    assert_status(PdhVbOpenQuery(&query), 0);
    assert_status(PdhVbAddCounter(query, "\\System\\Processes", &counter), 0);
    assert_status(PdhVbOpenLog(path, PDH_LOG_WRITE_ACCESS | PDH_LOG_CREATE_ALWAYS, &type, query, 0,
                               NULL, &log),
                  0);
    assert_status(PdhVbUpdateLog(log, NULL), 0);
    assert_status(PdhVbGetLogFileSize(log, &size), 0);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(size, st.st_size);
    assert_status(PdhVbGetLogFileSize(log, NULL), PDH_INVALID_ARGUMENT);
    assert_status(PdhCloseLog(log, PDH_FLAGS_CLOSE_QUERY), 0);
    assert_status(PdhVbUpdateLog(log, NULL), PDH_INVALID_HANDLE);
    assert_status(PdhVbGetLogFileSize(log, &size), PDH_INVALID_HANDLE);
    assert_status(PdhVbAddCounter(query, "\\System\\Processes", &counter), PDH_INVALID_HANDLE);
    /* a file of 3 GiB, most of it a hole: a size that does not fit into a Long of Visual Basic */
    FILE *file = fopen(path, "a");
    assert_non_null(file);
    assert_int_equal(ftruncate(fileno(file), 3LL << 30), 0);
    fclose(file);
    assert_status(
        PdhVbOpenLog(path, PDH_LOG_READ_ACCESS | PDH_LOG_OPEN_EXISTING, &type, NULL, 0, NULL, &log),
        0);
    assert_status(PdhVbGetLogFileSize(log, &size), PDH_INSUFFICIENT_BUFFER);
    assert_int_equal(size, st.st_size);
    assert_status(PdhCloseLog(log, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loop),         cmocka_unit_test(good_statuses),
        cmocka_unit_test(refused_adding), cmocka_unit_test(parts_of_a_path),
        cmocka_unit_test(a_capture),
    };
    return cmocka_run_group_tests_name("api-pdh-vb", tests, frozen_make, frozen_remove);
}
