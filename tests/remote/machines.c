/* SPDX-License-Identifier: MIT */
/* PDH with several machines at the same time: some hang, some are unreachable, some have other
 * clocks and byte orders. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <openperflib/machine.h>
#include <pdh.h>
#include <pdhmsg.h>

#include "../experiments/lab.h"
#include "fake.h"

enum { REMOTE_COUNT = 5 };
static struct fake fakes[REMOTE_COUNT] = {
    {.name = "PLAIN", .base = 5000,         .frequency = 10000000                 },
    { .name = "SLOW",   .base = 7000, .frequency = 3579545,    .ahead_100ns = INT64_C(36000000000)},
    { .name = "SPARC",   .base = 5000,    .frequency = 1000,                         .turned = true},
    { .name = "LATER",   .base = 5000, .frequency = 2630633, .ahead_100ns = INT64_C(-9000000000000)},
    { .name = "TURNED",  .base = 90000, .frequency = 1193182,                         .turned = true},
};
enum { PLAIN, SLOW, SPARC, LATER, TURNED };

static HQUERY open_query(void)
{
    HQUERY query = NULL;
    assert_int_equal(PdhOpenQueryA(NULL, 0, &query), 0);
    return query;
}

static HCOUNTER add(HQUERY query, const char *machine, const char *rest)
{
    char path[512];
    HCOUNTER counter = NULL;
    snprintf(path, sizeof path, "\\\\%s\\%s", machine, rest);
    assert_int_equal(PdhAddEnglishCounterA(query, path, 0, &counter), 0);
    return counter;
}

static DWORD status_of(HCOUNTER counter)
{
    PDH_RAW_COUNTER raw;
    assert_int_equal(PdhGetRawCounterValue(counter, NULL, &raw), 0);
    return raw.CStatus;
}

static double value_of(HCOUNTER counter)
{
    PDH_FMT_COUNTERVALUE value;
    assert_int_equal(PdhGetFormattedCounterValue(counter, PDH_FMT_DOUBLE, NULL, &value), 0);
    return value.doubleValue;
}

static long long collect(HQUERY query, DWORD wanted)
{
    long long began = lab_now_ms();
    assert_int_equal((DWORD)PdhCollectQueryData(query), wanted);
    return lab_now_ms() - began;
}

/* Each machine has its own numbers, frequency, byte order and time; a rate of 100 steps a second is
 * 100 on each of them. */
static void machines_of_other_kinds(void **state)
{
    HQUERY query = open_query();
    HCOUNTER levels[REMOTE_COUNT], rates[REMOTE_COUNT];
    for (int i = 0; i < REMOTE_COUNT; i++) {
        fakes[i].state->level = 40 + (uint32_t)i;
        levels[i] = add(query, fakes[i].name, "Fake Thing(two)\\Level");
        rates[i] = add(query, fakes[i].name, "fake thing(ONE)\\steps/sec");
    }
    collect(query, 0);
    usleep(500000);
    collect(query, 0);
    for (int i = 0; i < REMOTE_COUNT; i++) {
        assert_true(value_of(levels[i]) == 41 + i);
        assert_true(value_of(rates[i]) > 90 && value_of(rates[i]) < 110);
    }
    PdhCloseQuery(query);
}

static void all_at_once(void **state)
{
    enum { DELAY_MS = 400 };
    HQUERY query = open_query();
    HCOUNTER counters[REMOTE_COUNT], here;
    for (int i = 0; i < REMOTE_COUNT; i++)
        counters[i] = add(query, fakes[i].name, "Fake Thing(one)\\Level");
    assert_int_equal(PdhAddEnglishCounterA(query, "\\System\\Processes", 0, &here), 0);
    for (int i = 0; i < REMOTE_COUNT; i++)
        fakes[i].state->delay_ms = DELAY_MS;
    long long took = collect(query, 0);
    assert_in_range(took, DELAY_MS, 2 * DELAY_MS);
    for (int i = 0; i < REMOTE_COUNT; i++) {
        fakes[i].state->delay_ms = 0;
        assert_int_equal(status_of(counters[i]), PDH_CSTATUS_VALID_DATA);
    }
    assert_true(value_of(here) > 0);
    PdhCloseQuery(query);
}

/* A machine that hangs delays one collection, until its deadline. Afterwards the other machines'
 * values come without waiting. */
static void one_that_hangs_costs_its_deadline_once(void **state)
{
    HQUERY query = open_query();
    HCOUNTER hung = add(query, "SLOW", "Fake Thing(one)\\Level");
    HCOUNTER good = add(query, "PLAIN", "Fake Thing(one)\\Level");
    collect(query, 0);
    assert_int_equal(status_of(hung), PDH_CSTATUS_VALID_DATA);
    fakes[SLOW].state->hang = 1;
    int before = fakes[SLOW].state->queries;
    /* the registry's value Deadline is set to 500 ms */
    assert_in_range(collect(query, 0), 500, 950);
    assert_int_equal(status_of(hung), PDH_CSTATUS_NO_MACHINE);
    assert_int_equal(status_of(good), PDH_CSTATUS_VALID_DATA);
    for (int i = 0; i < 5; i++)
        assert_true(collect(query, 0) < 250);
    assert_int_equal(fakes[SLOW].state->queries, before + 1);
    fakes[SLOW].state->level = 1234;
    fakes[SLOW].state->hang = 0;
    usleep(50000);
    collect(query, 0);
    assert_true(value_of(hung) == 1234);
    PdhCloseQuery(query);
}

static void those_that_are_away(void **state)
{
    enum { MANY = 12 };
    HQUERY query = open_query();
    HCOUNTER away[MANY], good;
    for (int i = 0; i < MANY; i++) {
        char path[64];
        snprintf(path, sizeof path, "AWAY%d", i);
        fake_absent(path);
        snprintf(path, sizeof path, "\\\\AWAY%d\\Fake Thing(one)\\Level", i);
        assert_int_equal((DWORD)PdhAddEnglishCounterA(query, path, 0, &away[i]),
                         PDH_CSTATUS_NO_MACHINE);
        assert_non_null(away[i]);
    }
    collect(query, PDH_NO_DATA);
    good = add(query, "LATER", "Fake Thing(one)\\Level");
    assert_true(collect(query, 0) < 400);
    for (int i = 0; i < MANY; i++)
        assert_int_equal(status_of(away[i]), PDH_CSTATUS_NO_MACHINE);
    assert_int_equal(status_of(good), PDH_CSTATUS_VALID_DATA);
    PdhCloseQuery(query);
}

/* Five machines accept connections and never answer: they are waited for at the same time, not one
 * after the other. */
static void many_that_never_answer(void **state)
{
    enum { MANY = 5, COUNTERS = 4 };
    struct fake mute[MANY] = {
        {.name = "MUTE0", .base = 300, .frequency = 10000000},
        {.name = "MUTE1", .base = 300, .frequency = 10000000},
        {.name = "MUTE2", .base = 300, .frequency = 10000000},
        {.name = "MUTE3", .base = 300, .frequency = 10000000},
        {.name = "MUTE4", .base = 300, .frequency = 10000000},
    };
    const char *names[MANY + 2];
    LSTATUS reasons[MANY + 2];
    for (int i = 0; i < MANY; i++) {
        fake_start(&mute[i]);
        mute[i].state->mute = 1;
        names[i] = mute[i].name;
    }
    names[MANY] = "\\\\PLAIN";
    names[MANY + 1] = "mute0"; /* the first machine once more, in lower case */
    long long began = lab_now_ms();
    assert_int_equal((DWORD)opl_connect_machines(names, MANY + 2, reasons), PDH_CSTATUS_NO_MACHINE);
    assert_in_range(lab_now_ms() - began, 500, 950); /* Deadline is 500 ms, for all five together */
    for (int i = 0; i < MANY + 2; i++)
        assert_int_equal(reasons[i], i == MANY ? 0 : RPC_S_SERVER_UNAVAILABLE);

    HQUERY query = open_query();
    HCOUNTER counters[MANY * COUNTERS];
    began = lab_now_ms();
    for (int i = 0; i < MANY * COUNTERS; i++) {
        char path[64];
        snprintf(path, sizeof path, "\\\\MUTE%d\\Fake Thing(one)\\Level", i % MANY);
        assert_int_equal((DWORD)PdhAddEnglishCounterA(query, path, 0, &counters[i]),
                         PDH_CSTATUS_NO_MACHINE);
        assert_non_null(counters[i]);
    }
    assert_true(lab_now_ms() - began < 400);
    for (int i = 0; i < MANY; i++)
        mute[i].state->mute = 0;
    for (int i = 0; i < 100 && status_of(counters[0]) != PDH_CSTATUS_VALID_DATA; i++) {
        usleep(100000);
        PdhCollectQueryData(query);
    }
    for (int i = 0; i < MANY * COUNTERS; i++)
        assert_int_equal(status_of(counters[i]), PDH_CSTATUS_VALID_DATA);
    PdhCloseQuery(query);
    for (int i = 0; i < MANY; i++)
        fake_stop(&mute[i]);
}

/* Many counters of one machine that does not answer: it is waited for only once. */
static void counters_of_one_that_never_answers(void **state)
{
    struct fake mute = {.name = "MUTE", .base = 300, .frequency = 10000000};
    HQUERY query = open_query();
    HCOUNTER counter;
    fake_start(&mute);
    mute.state->mute = 1;
    long long began = lab_now_ms();
    for (int i = 0; i < 8; i++)
        assert_int_equal(
            (DWORD)PdhAddEnglishCounterA(query, "\\\\MUTE\\Fake Thing(one)\\Level", 0, &counter),
            PDH_CSTATUS_NO_MACHINE);
    assert_in_range(lab_now_ms() - began, 500, 950);
    PdhCloseQuery(query);
    fake_stop(&mute);
}

/* A machine becomes unreachable between two collections, and comes back. The next attempt to
 * connect is made after one or two seconds. */
static void one_that_goes_and_comes_back(void **state)
{
    struct fake fake = {.name = "COMING", .base = 300, .frequency = 10000000};
    HQUERY query = open_query();
    fake_start(&fake);
    HCOUNTER counter = add(query, "COMING", "Fake Thing(two)\\Level");
    HCOUNTER rate = add(query, "COMING", "Fake Thing(two)\\Steps/sec");
    collect(query, 0);
    fake_stop(&fake);
    assert_true(collect(query, PDH_NO_DATA) < 400);
    assert_int_equal(status_of(counter), PDH_CSTATUS_NO_MACHINE);
    fake_start(&fake);
    PDH_STATUS status = 1;
    for (int i = 0; i < 60 && status; i++) {
        usleep(100000);
        status = PdhCollectQueryData(query);
    }
    assert_int_equal(status, 0);
    assert_true(value_of(counter) == 8);
    PDH_FMT_COUNTERVALUE value; /* a sample is missing between the two, so there is no rate */
    assert_int_not_equal(PdhGetFormattedCounterValue(rate, PDH_FMT_DOUBLE, NULL, &value), 0);
    usleep(200000);
    collect(query, 0);
    assert_true(value_of(rate) > 80 && value_of(rate) < 120);
    PdhCloseQuery(query);
    fake_stop(&fake);
}

/* If two names mean the same machine, both use one connection, and each gets its own answer. */
static void two_names_of_one_machine(void **state)
{
    char url[160];
    snprintf(url, sizeof url, "unix:%s/PLAIN", lab_root);
    lab_set_text("SOFTWARE\\openperflib\\Remote\\Machines", "ALSO", url);
    HQUERY query = open_query();
    HCOUNTER first = add(query, "PLAIN", "Fake Thing(one)\\Level");
    HCOUNTER second = add(query, "ALSO", "Fake Thing(two)\\Level");
    collect(query, 0);
    assert_true(value_of(second) - value_of(first) == 1);
    PdhCloseQuery(query);
}

/* ---- names ---- */

static bool list_has(const char *list, const char *wanted)
{
    for (; *list; list += strlen(list) + 1)
        if (!strcmp(list, wanted))
            return true;
    return false;
}

static void lists_of_a_machine(void **state)
{
    char list[8192], instances[512], name[128];
    DWORD size = sizeof list, count = sizeof instances, index = 0;
    assert_int_equal(PdhConnectMachineA("\\\\TURNED"), 0);
    assert_int_equal((DWORD)PdhConnectMachineA("\\\\NOWHERE"), PDH_CSTATUS_NO_MACHINE);
    assert_int_equal(PdhEnumMachinesA(NULL, list, &size), 0);
    assert_true(list_has(list, "\\\\TURNED"));
    assert_false(list_has(list, "\\\\NOWHERE"));
    size = sizeof list;
    assert_int_equal(PdhEnumObjectsA(NULL, "TURNED", list, &size, PERF_DETAIL_WIZARD, TRUE), 0);
    assert_string_equal(list, "Fake Thing");
    assert_int_equal(list[strlen(list) + 1], 0);
    size = sizeof list;
    assert_int_equal(PdhEnumObjectItemsA(NULL, "\\\\TURNED", "Fake Thing", list, &size, instances,
                                         &count, PERF_DETAIL_WIZARD, 0),
                     0);
    assert_true(list_has(list, "Level") && list_has(list, "Steps/sec"));
    assert_true(list_has(instances, "one") && list_has(instances, "two"));
    size = sizeof name;
    assert_int_equal(PdhLookupPerfNameByIndexA("TURNED", 90002, name, &size), 0);
    assert_string_equal(name, "Level");
    assert_int_equal(PdhLookupPerfIndexByNameA("TURNED", "Steps/sec", &index), 0);
    assert_int_equal(index, 90004);
    assert_int_equal(PdhLookupPerfIndexByNameA("PLAIN", "Steps/sec", &index), 0);
    assert_int_equal(index, 5004);
}

static void patterns_on_a_machine(void **state)
{
    char list[4096];
    DWORD size = sizeof list;
    assert_int_equal(PdhExpandWildCardPathA(NULL, "\\\\SPARC\\Fake*(*)\\St*", list, &size, 0), 0);
    assert_true(list_has(list, "\\\\SPARC\\Fake Thing(one)\\Steps/sec"));
    assert_true(list_has(list, "\\\\SPARC\\Fake Thing(two)\\Steps/sec"));
    HQUERY query = open_query();
    HCOUNTER counter = add(query, "SPARC", "Fake Thing(*)\\Level");
    PDH_FMT_COUNTERVALUE_ITEM_A items[16];
    DWORD count = 0;
    size = sizeof items;
    collect(query, 0);
    assert_int_equal(PdhGetFormattedCounterArrayA(counter, PDH_FMT_LONG, &size, &count, items), 0);
    assert_int_equal(count, 2);
    assert_string_equal(items[1].szName, "two");
    PdhCloseQuery(query);
}

static DWORD try_newcomer(HQUERY query)
{
    HCOUNTER counter;
    usleep(1100000); /* PDH uses the titles that it has for a second before it checks them again */
    return (DWORD)PdhAddEnglishCounterA(query, "\\\\LATER\\Newcomer\\Level", 0, &counter);
}

/* PDH reads the titles again only if Last Counter or Last Help has changed, which shows that
 * something was registered. */
static void titles_are_read_when_there_are_new_ones(void **state)
{
    HQUERY query = open_query();
    add(query, "LATER", "Fake Thing(one)\\Level");
    assert_int_equal(try_newcomer(query), PDH_CSTATUS_NO_OBJECT);
    int read = fakes[LATER].state->names_read;
    assert_int_equal(try_newcomer(query), PDH_CSTATUS_NO_OBJECT);
    assert_int_equal(fakes[LATER].state->names_read, read);
    fakes[LATER].state->last = fakes[LATER].base + 100;
    /* the new object has a name, but no data */
    assert_int_equal(try_newcomer(query), PDH_CSTATUS_NO_OBJECT);
    assert_int_equal(fakes[LATER].state->names_read, read + 1);
    char name[64];
    DWORD size = sizeof name;
    assert_int_equal(PdhLookupPerfNameByIndexA("LATER", 5100, name, &size), 0);
    assert_string_equal(name, "Newcomer");
    PdhCloseQuery(query);
}

/* If a machine lacks the user's language, its English names are shown; they are queried only
 * once. */
static void a_machine_without_the_users_language(void **state)
{
    char list[1024];
    DWORD size = sizeof list;
    setenv("LC_ALL", "de_DE.UTF-8", 1);
    assert_int_equal(PdhEnumObjectsA(NULL, "SPARC", list, &size, PERF_DETAIL_WIZARD, TRUE), 0);
    assert_string_equal(list, "Fake Thing");
    unsetenv("LC_ALL");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(machines_of_other_kinds),
        cmocka_unit_test(all_at_once),
        cmocka_unit_test(one_that_hangs_costs_its_deadline_once),
        cmocka_unit_test(those_that_are_away),
        cmocka_unit_test(many_that_never_answer),
        cmocka_unit_test(counters_of_one_that_never_answers),
        cmocka_unit_test(one_that_goes_and_comes_back),
        cmocka_unit_test(two_names_of_one_machine),
        cmocka_unit_test(lists_of_a_machine),
        cmocka_unit_test(patterns_on_a_machine),
        cmocka_unit_test(titles_are_read_when_there_are_new_ones),
        cmocka_unit_test(a_machine_without_the_users_language),
    };
    lab_open();
    lab_keep();
    /* "Smb" names no program, so unknown names are not searched in the network */
    lab_set_text("SOFTWARE\\openperflib\\Remote", "Smb", "/none");
    lab_set_dword("SOFTWARE\\openperflib\\Remote", "Deadline", 500);
    for (int i = 0; i < REMOTE_COUNT; i++)
        fake_start(&fakes[i]);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    for (int i = 0; i < REMOTE_COUNT; i++)
        fake_stop(&fakes[i]);
    lab_close();
    return failed;
}
