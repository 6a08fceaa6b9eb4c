/* SPDX-License-Identifier: MIT */
/* PdhCollectQueryDataEx, and the Win32 events (CreateEvent, of libopenperflib-win32) that it
 * sets. */
#include <windows.h>
#include <pdh.h>
#include <pdhmsg.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../temp.h"

static char root[64];

static int prepare(void **state)
{
    temp_make(root);
    setenv("OPENPERFLIB_ROOT", root, 1);
    return 0;
}

static int clean(void **state)
{
    temp_remove(root);
    return 0;
}

static PDH_HQUERY opened(PDH_HCOUNTER *counter)
{
    PDH_HQUERY query;
    assert_int_equal(PdhOpenQueryA(NULL, 0, &query), 0);
    assert_int_equal(PdhAddCounterA(query, "\\System\\System Up Time", 0, counter), 0);
    return query;
}

static double up_time(PDH_HCOUNTER counter)
{
    PDH_FMT_COUNTERVALUE value;
    assert_int_equal(PdhGetFormattedCounterValue(counter, PDH_FMT_DOUBLE, NULL, &value), 0);
    return value.doubleValue;
}

static void samples_come_by_themselves(void **state)
{
    HANDLE event = CreateEventA(NULL, FALSE, FALSE, NULL);
    PDH_HCOUNTER counter;
    PDH_HQUERY query = opened(&counter);
    assert_int_equal(PdhCollectQueryDataEx(NULL, 1, event), (PDH_STATUS)PDH_INVALID_HANDLE);
    assert_int_equal(PdhCollectQueryDataEx(query, 1, event), 0);
    /* the second call starts the interval again */
    assert_int_equal(PdhCollectQueryDataEx(query, 1, event), 0);
    assert_int_equal(WaitForSingleObject(event, 0), WAIT_TIMEOUT);
    assert_int_equal(WaitForSingleObject(event, 20000), WAIT_OBJECT_0);
    double first = up_time(counter);
    /* this call does not stop the query's thread */
    assert_int_equal(PdhCollectQueryData(query), 0);
    assert_int_equal(WaitForSingleObject(event, 20000), WAIT_OBJECT_0);
    assert_true(up_time(counter) > first + 0.5);
    assert_int_equal(PdhCloseQuery(query), 0);
    assert_int_equal(WaitForSingleObject(event, 1200), WAIT_TIMEOUT);
    assert_int_equal(PdhCloseQuery(query), (PDH_STATUS)PDH_INVALID_HANDLE);
    assert_true(CloseHandle(event));
}

/* Each sample sets the event once, also one that counts (EFD_SEMAPHORE). */
static void a_sample_counts_once(void **state)
{
    PDH_HCOUNTER counter;
    PDH_HQUERY query = opened(&counter);
    uint64_t samples = 0;
    int event = eventfd(0, EFD_CLOEXEC);
    assert_int_equal(PdhCollectQueryDataEx(query, 1, (HANDLE)(intptr_t)event), 0);
    assert_int_equal(poll(&(struct pollfd){.fd = event, .events = POLLIN}, 1, 20000), 1);
    assert_int_equal(read(event, &samples, sizeof samples), sizeof samples);
    assert_int_equal(samples, 1);
    assert_int_equal(PdhCloseQuery(query), 0);
    assert_int_equal(close(event), 0);
}

/* A handle that is no event is refused, and nothing is written to it. */
static void only_events_are_set(void **state)
{
    PDH_HCOUNTER counter;
    PDH_HQUERY query = opened(&counter);
    char path[128];
    snprintf(path, sizeof path, "%s/file", root);
    int file = open(path, O_RDWR | O_CREAT, 0600);
    HANDLE strange[] = {(HANDLE)(intptr_t)file, (HANDLE)(intptr_t)STDERR_FILENO, &query,
                        (HANDLE)(intptr_t)-1};
    for (size_t i = 0; i < sizeof strange / sizeof *strange; i++) {
        assert_int_equal(PdhCollectQueryDataEx(query, 1, strange[i]),
                         (PDH_STATUS)PDH_INVALID_ARGUMENT);
        assert_false(SetEvent(strange[i]));
        assert_int_equal(GetLastError(), ERROR_INVALID_HANDLE);
        assert_false(CloseHandle(strange[i]));
        assert_int_equal(WaitForSingleObject(strange[i], 0), WAIT_FAILED);
    }
    assert_int_equal(lseek(file, 0, SEEK_END), 0);
    assert_int_equal(close(file), 0);
    assert_int_equal(PdhCloseQuery(query), 0);
}

/* In a child of fork, which does not have the query's thread, closing does not wait for that
 * thread. The event may be NULL. */
static void a_child_closes_what_it_inherited(void **state)
{
    PDH_HCOUNTER counter;
    PDH_HQUERY query = opened(&counter);
    assert_int_equal(PdhCollectQueryDataEx(query, 3600, NULL), 0);
    pid_t child = fork();
    if (child == 0) {
        alarm(20);
        _exit(PdhCollectQueryData(query) == 0 && PdhCloseQuery(query) == 0 ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(PdhCloseQuery(query), 0); /* the thread's wait of an hour ends at once */
}

static void events_stay_or_reset(void **state)
{
    HANDLE stays = CreateEventW(NULL, TRUE, TRUE, NULL);
    HANDLE resets = CreateEventA(NULL, FALSE, TRUE, NULL);
    assert_int_equal(WaitForSingleObject(stays, 0), WAIT_OBJECT_0);
    assert_int_equal(WaitForSingleObject(stays, INFINITE), WAIT_OBJECT_0);
    assert_int_equal(WaitForSingleObject(resets, 0), WAIT_OBJECT_0);
    assert_int_equal(WaitForSingleObject(resets, 10), WAIT_TIMEOUT);
    assert_true(SetEvent(resets));
    assert_true(SetEvent(resets));
    assert_int_equal(WaitForSingleObject(resets, INFINITE), WAIT_OBJECT_0);
    assert_int_equal(WaitForSingleObject(resets, 0), WAIT_TIMEOUT);
    assert_true(CloseHandle(stays));
    assert_true(CloseHandle(resets));
    assert_false(CloseHandle(resets));
    assert_null(CreateEventA(NULL, TRUE, FALSE, "name"));
    assert_int_equal(GetLastError(), ERROR_NOT_SUPPORTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_come_by_themselves),
        cmocka_unit_test(a_sample_counts_once),
        cmocka_unit_test(only_events_are_set),
        cmocka_unit_test(a_child_closes_what_it_inherited),
        cmocka_unit_test(events_stay_or_reset),
    };
    return cmocka_run_group_tests(tests, prepare, clean);
}
