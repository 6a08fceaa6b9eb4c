/* SPDX-License-Identifier: MIT */
/* Which providers are called for a query, as the second source article found in its experiments
 * with the queries "2" and "22222". */
#include "host/internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <string.h>

static uint32_t os_objects[] = {2, 4, 238};
static uint32_t own_objects[] = {2};

enum { OS, MYPERF, COUNT_SERVICES };
static struct service services[COUNT_SERVICES];

static int fresh(void **state)
{
    memset(services, 0, sizeof(services));
    services[OS] = (struct service){
        .name = "PerfOS", .objects = os_objects, .object_count = 3, .has_list = true};
    services[MYPERF] = (struct service){.name = "MyPerf"};
    return 0;
}

static bool requested(size_t position, enum query_kind kind, uint32_t first, uint32_t second)
{
    struct query query = {.kind = kind};
    if (first)
        query.objects[query.object_count++] = first;
    if (second)
        query.objects[query.object_count++] = second;
    struct service_table table = {.services = services, .count = COUNT_SERVICES};
    uint32_t chosen[COUNT_SERVICES + 1] = {0};
    assert_int_equal(service_table_index(&table), ERROR_SUCCESS);
    chosen[COUNT_SERVICES] = UINT32_MAX;
    size_t count = select_services(&table, &query, chosen);
    service_table_index_done(&table);
    assert_true(count <= COUNT_SERVICES && chosen[COUNT_SERVICES] == UINT32_MAX);
    for (size_t i = 0; i + 1 < count; i++)
        assert_true(chosen[i] < chosen[i + 1]);
    for (size_t i = 0; i < count; i++)
        if (chosen[i] == position)
            return true;
    return false;
}

static void list_myperf(void)
{
    services[MYPERF].has_list = true;
    services[MYPERF].objects = own_objects;
    services[MYPERF].object_count = 1;
}

static void c45_global_asks_everybody(void **state)
{
    assert_true(requested(OS, QUERY_GLOBAL, 0, 0));
    assert_true(requested(MYPERF, QUERY_GLOBAL, 0, 0));
}

static void c49_costly_asks_everybody(void **state)
{
    assert_true(requested(OS, QUERY_COSTLY, 0, 0));
    assert_true(requested(MYPERF, QUERY_COSTLY, 0, 0));
}

static void c50_unknown_words_ask_nobody(void **state)
{
    assert_false(requested(OS, QUERY_NOTHING, 0, 0));
    assert_false(requested(MYPERF, QUERY_NOTHING, 0, 0));
}

static void c51_2_v1_somebody_elses_index_leaves_the_listless_alone(void **state)
{
    assert_true(requested(OS, QUERY_OBJECTS, 2, 0));
    assert_false(requested(MYPERF, QUERY_OBJECTS, 2, 0));
}

static void c52_2_v2_its_own_list_makes_it_called(void **state)
{
    list_myperf();
    assert_true(requested(OS, QUERY_OBJECTS, 2, 0));
    assert_true(requested(MYPERF, QUERY_OBJECTS, 2, 0));
}

static void c53_22222_v1_with_list_is_not_called(void **state)
{
    list_myperf();
    assert_false(requested(MYPERF, QUERY_OBJECTS, 22222, 0));
    assert_false(requested(OS, QUERY_OBJECTS, 22222, 0));
}

static void c54_22222_v2_without_list_is_called(void **state)
{
    assert_true(requested(MYPERF, QUERY_OBJECTS, 22222, 0));
    assert_false(requested(OS, QUERY_OBJECTS, 22222, 0));
}

static void c55_one_unknown_index_among_known_ones_is_enough(void **state)
{
    assert_true(requested(MYPERF, QUERY_OBJECTS, 2, 22222));
    assert_true(requested(OS, QUERY_OBJECTS, 22222, 238));
}

static void c46_disabled_is_never_asked_and_claims_nothing(void **state)
{
    services[OS].disabled = true;
    assert_false(requested(OS, QUERY_GLOBAL, 0, 0));
    assert_false(requested(OS, QUERY_OBJECTS, 2, 0));
    assert_true(requested(MYPERF, QUERY_OBJECTS, 2, 0));
}

/* lodctr of Windows writes an index once for each language (docs/windows/articles.md#c65). */
static void c65_a_list_with_repetitions_is_a_list(void **state)
{
    static uint32_t repeated[] = {2, 2, 22222};
    list_myperf();
    services[MYPERF].objects = repeated;
    services[MYPERF].object_count = 3;
    assert_true(requested(MYPERF, QUERY_OBJECTS, 2, 22222));
    assert_true(requested(OS, QUERY_OBJECTS, 2, 22222));
    assert_false(requested(OS, QUERY_OBJECTS, 22222, 0));
}

static void c116_foreign_goes_to_everybody(void **state)
{
    assert_true(requested(OS, QUERY_FOREIGN, 0, 0));
    assert_true(requested(MYPERF, QUERY_FOREIGN, 2, 0));
}

/* A provider with on-demand objects (returned only if they are requested) starts no process for
 * other queries. A query "Foreign NAME", or one for its object, requests it. */
static void on_demand_waits_to_be_named(void **state)
{
    struct library code = {0};
    list_myperf();
    services[MYPERF].on_demand = 1;
    services[MYPERF].code = &code;
    assert_true(requested(OS, QUERY_GLOBAL, 0, 0));
    assert_false(requested(MYPERF, QUERY_GLOBAL, 0, 0));
    assert_false(requested(MYPERF, QUERY_COSTLY, 0, 0));
    assert_true(requested(MYPERF, QUERY_FOREIGN, 0, 0));
    assert_true(requested(MYPERF, QUERY_GLOBAL, 0, 0));
    code = (struct library){0};
    assert_true(requested(MYPERF, QUERY_OBJECTS, 2, 0));
    assert_true(requested(MYPERF, QUERY_COSTLY, 0, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(c45_global_asks_everybody, fresh),
        cmocka_unit_test_setup(c46_disabled_is_never_asked_and_claims_nothing, fresh),
        cmocka_unit_test_setup(c49_costly_asks_everybody, fresh),
        cmocka_unit_test_setup(c50_unknown_words_ask_nobody, fresh),
        cmocka_unit_test_setup(c51_2_v1_somebody_elses_index_leaves_the_listless_alone, fresh),
        cmocka_unit_test_setup(c52_2_v2_its_own_list_makes_it_called, fresh),
        cmocka_unit_test_setup(c53_22222_v1_with_list_is_not_called, fresh),
        cmocka_unit_test_setup(c54_22222_v2_without_list_is_called, fresh),
        cmocka_unit_test_setup(c55_one_unknown_index_among_known_ones_is_enough, fresh),
        cmocka_unit_test_setup(c65_a_list_with_repetitions_is_a_list, fresh),
        cmocka_unit_test_setup(c116_foreign_goes_to_everybody, fresh),
        cmocka_unit_test_setup(on_demand_waits_to_be_named, fresh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
