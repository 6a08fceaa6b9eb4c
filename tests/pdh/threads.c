/* SPDX-License-Identifier: MIT */
/*
 * Queries in several threads: one query for each thread, one query for all threads, and one query
 * that is opened and closed while other threads use it. A call may fail with an error status, but
 * nothing else may happen; sanitizers watch for that.
 */
#include "pdh/query.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "fake.h"

enum { THREADS = 4, ROUNDS = 400 };
#define STATUS(name) ((PDH_STATUS)PDH_##name)
static const struct pdh_from now;
static PDH_HQUERY shared, fleeting;
static PDH_HCOUNTER shared_counter, shared_array, fleeting_counter;
static unsigned wrong;

static void note(bool right)
{
    if (!right)
        __atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
}

static bool alive_or_gone(PDH_STATUS status)
{
    return status == 0 || status == STATUS(INVALID_HANDLE) || status == STATUS(INVALID_DATA);
}

static void read_values(PDH_HCOUNTER counter, PDH_HCOUNTER array)
{
    PDH_FMT_COUNTERVALUE value;
    char storage[4096];
    DWORD size = sizeof storage, count;
    note(alive_or_gone(counter_value(counter, PDH_FMT_DOUBLE, NULL, &value)));
    if (array)
        note(counter_value_array(array, PDH_FMT_LARGE, true, &size, &count, storage) == 0);
}

static void own_round(void)
{
    PDH_HQUERY query;
    PDH_HCOUNTER counter;
    note(query_open(now, 0, &query) == 0);
    note(counter_add(query, "\\Process(init)\\ID Process", false, 0, &counter) == 0);
    note(query_collect(query, NULL) == 0);
    PDH_RAW_COUNTER raw;
    note(counter_raw(counter, NULL, &raw) == 0 && raw.FirstValue == 1);
    note(counter_remove(counter) == 0);
    note(query_close(query) == 0);
}

static void *work(void *self)
{
    for (int i = 0; i < ROUNDS; i++) {
        PDH_HCOUNTER mine;
        own_round();
        note(query_collect(shared, NULL) == 0);
        read_values(shared_counter, shared_array);
        note(counter_add(shared, "\\System\\44", true, 0, &mine) == 0);
        note(counter_remove(mine) == 0);
        PDH_HQUERY query = __atomic_load_n(&fleeting, __ATOMIC_ACQUIRE);
        note(alive_or_gone(query_collect(query, NULL)));
        read_values(__atomic_load_n(&fleeting_counter, __ATOMIC_ACQUIRE), NULL);
        if (self)
            note(alive_or_gone(query_close(query)));
    }
    return NULL;
}

static void open_fleeting(void)
{
    PDH_HQUERY query;
    PDH_HCOUNTER counter;
    if (query_open(now, 0, &query))
        return;
    if (counter_add(query, "\\System\\44", true, 0, &counter) == 0)
        __atomic_store_n(&fleeting_counter, counter, __ATOMIC_RELEASE);
    query_close(__atomic_exchange_n(&fleeting, query, __ATOMIC_ACQ_REL));
}

static void threads_share_and_close(void **state)
{
    pthread_t threads[THREADS];
    fake_reset(state);
    assert_int_equal(query_open(now, 0, &shared), 0);
    assert_int_equal(
        counter_add(shared, "\\System\\Processor Queue Length", false, 0, &shared_counter), 0);
    assert_int_equal(counter_add(shared, "\\Process(*)\\ID Process", false, 0, &shared_array), 0);
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, i % 2 ? &threads[i] : NULL), 0);
    for (int i = 0; i < ROUNDS; i++)
        open_fleeting();
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    query_close(fleeting);
    assert_int_equal(query_close(shared), 0);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_share_and_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
