/* SPDX-License-Identifier: MIT */
/* How the registry values of one provider, and of all providers together, are read.
 * (docs/windows/providers.md#d1) */
#include "host.h"

static void c40_values_of_a_registration(void **state)
{
    set_text(PERFORMANCE, "Open", REG_SZ, "MyOpen");
    set_text(PERFORMANCE, "Object List", REG_SZ, "22222 2 x 2");
    set_dword(PERFORMANCE, "Open Timeout", 1500);
    set_dword(PERFORMANCE, "Collect Timeout", 250);
    set_dword(PERFORMANCE, "Keep Resident", 1);
    set_dword(PERFORMANCE, "Isolation", 0);
    const struct service *service = myperf();
    const uint32_t objects[] = {2, 2, 22222};
    assert_string_equal(service->library, "/nonexistent/myperf.so");
    assert_string_equal(service->open, "MyOpen");
    assert_string_equal(service->collect, "Collect");
    assert_null(service->close);
    assert_true(service->has_list);
    assert_int_equal(service->object_count, 3);
    assert_memory_equal(service->objects, objects, sizeof objects);
    assert_int_equal(service->open_timeout, 1500);
    assert_int_equal(service->collect_timeout, 250);
    assert_int_equal(service->keep_resident, 1);
    assert_int_equal(service->isolation, 0);
}

static void absent_values_have_defaults(void **state)
{
    const struct service *service = myperf();
    assert_int_equal(service->isolation, 1);
    assert_int_equal(service->keep_resident, 0);
    assert_false(service->has_list);
    assert_false(service->disabled);
    assert_null(service->export_names);
    assert_null(service->quarantine);
    assert_string_equal(events(), "");
}

static void c39_a_service_without_library_is_no_provider(void **state)
{
    set_text(REGISTRY_SERVICES "\\Other\\Performance", "Collect", REG_SZ, "Collect");
    set_text(REGISTRY_SERVICES "\\Third", "ImagePath", REG_SZ, "x");
    assert_non_null(myperf());
    assert_null(service_now("Other"));
    assert_null(service_now("Third"));
}

static void a_library_name_may_name_variables(void **state)
{
    setenv("MYPERF_FOLDER", "/opt/myperf", 1);
    set_text(PERFORMANCE, "Library", REG_EXPAND_SZ, "%MYPERF_FOLDER%/lib.so");
    assert_string_equal(myperf()->library, "/opt/myperf/lib.so");
    set_text(PERFORMANCE, "Library", REG_SZ, "%MYPERF_FOLDER%/lib.so");
    assert_string_equal(myperf()->library, "%MYPERF_FOLDER%/lib.so");
}

static void c41_export_is_ended_twice(void **state)
{
    const uint16_t expected[] = {'a', 0, 'b', 0, 0};
    assert_int_equal(registry_set(LAYER_MACHINE, REGISTRY_SERVICES "\\MyPerf\\Linkage", "Export",
                                  REG_MULTI_SZ, "a\0b", 4),
                     0);
    const struct service *service = myperf();
    assert_true(service->export_units >= 5);
    assert_memory_equal(service->export_names, expected, sizeof expected);
}

/* docs/windows/providers.md#d1: 1 disables for all programs, 2 and 4 for programs of one word
 * size. */
static void disabled_by_word_size(void **state)
{
    bool wide = sizeof(void *) == 8;
    const bool expected[] = {false, true, !wide, true, wide, true, true, true, false};
    for (uint32_t value = 0; value < COUNT(expected); value++) {
        set_dword(PERFORMANCE, "Disable Performance Counters", value);
        if (myperf()->disabled != expected[value])
            fail_msg("with %u disabled is %d", value, !expected[value]);
    }
}

static void a_value_of_a_wrong_type_is_reported_and_passed_over(void **state)
{
    set_text(PERFORMANCE, "Isolation", REG_SZ, "0");
    set_dword(PERFORMANCE, "Object List", 2);
    set_text(PERFORMANCE, "Library Validation Code", REG_SZ, "x");
    const struct service *service = myperf();
    assert_int_equal(service->isolation, 1);
    assert_false(service->has_list);
    assert_false(service->has_validation);
    assert_true(event_seen(3004));
    assert_non_null(strstr(events(), "Object List"));
    forget_events();
}

static void how_long_collect_may_take(void **state)
{
    const struct query global = {.kind = QUERY_GLOBAL}, costly = {.kind = QUERY_COSTLY};
    assert_int_equal(service_collect_ms(myperf(), &global), 1000);
    assert_int_equal(service_collect_ms(myperf(), &costly), 30000);
    set_dword(PERFORMANCE, "Collect Timeout", 250);
    assert_int_equal(service_collect_ms(myperf(), &global), 250);
    assert_int_equal(service_collect_ms(myperf(), &costly), 250);
}

static void perflibs_switches(void **state)
{
    assert_non_null(myperf());
    const struct host_settings defaults = {
        .test_level = 1, .event_level = 3, .error_limit = 5, .table = table};
    assert_memory_equal(&table->settings, &defaults, sizeof defaults);
    set_dword(REGISTRY_PERFLIB, "ExtCounterTestLevel", 4);
    set_dword(REGISTRY_PERFLIB, "Configuration Flags", 15);
    set_dword(REGISTRY_PERFLIB, "Disable Performance Counters", 1);
    set_dword(REGISTRY_PERFLIB, "EventLogLevel", 1);
    set_dword(REGISTRY_PERFLIB, "OpenProcedureWaitTime", 100);
    set_dword(REGISTRY_PERFLIB, "Error Count Limit", 2);
    assert_non_null(myperf());
    const struct host_settings all = {4, 15, 1, 1, 100, 2, table};
    assert_memory_equal(&table->settings, &all, sizeof all);
    set_dword(REGISTRY_PERFLIB, "ExtCounterTestLevel", 5);
    assert_non_null(myperf());
    assert_int_equal(table->settings.test_level, 1);
}

/* A service keeps its loaded library as long as the names of Open, Collect and Close in its
 * registration stay the same, whatever else changes. With another name the library is loaded
 * again. */
static void code_stays_while_the_functions_do(void **state)
{
    const struct library *code = myperf()->code;
    set_text(PERFORMANCE, "Object List", REG_SZ, "22222");
    set_dword(PERFORMANCE, "Disable Performance Counters", 1);
    assert_ptr_equal(myperf()->code, code);
    set_text(REGISTRY_SERVICES "\\AnEarlierOne\\Performance", "Library", REG_SZ, "/x.so");
    assert_ptr_equal(myperf()->code, code);
    /* keeps the old table, like a query that has not ended */
    struct service_table *old = service_table_last();
    set_text(PERFORMANCE, "Collect", REG_SZ, "CollectMore");
    assert_ptr_not_equal(myperf()->code, code);
    service_table_release(old);
}

static void the_shipped_ones_are_first_and_both_parts_by_name(void **state)
{
    set_text(REGISTRY_SERVICES "\\aperf\\Performance", "Library", REG_SZ, "/a.so");
    set_text(REGISTRY_SERVICES "\\zperf\\Performance", "Library", REG_SZ, "zperf.so");
    assert_non_null(myperf());
    assert_int_equal(table->count - table->shipped, 2);
    assert_string_equal(table->services[table->shipped - 1].name, "zperf");
    assert_string_equal(table->services[table->shipped].name, "aperf");
    assert_string_equal(table->services[table->shipped + 1].name, "MyPerf");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up_myperf, tear_down_myperf)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(c40_values_of_a_registration),
        CASE(absent_values_have_defaults),
        CASE(c39_a_service_without_library_is_no_provider),
        CASE(a_library_name_may_name_variables),
        CASE(c41_export_is_ended_twice),
        CASE(disabled_by_word_size),
        CASE(a_value_of_a_wrong_type_is_reported_and_passed_over),
        CASE(how_long_collect_may_take),
        CASE(perflibs_switches),
        CASE(code_stays_while_the_functions_do),
        CASE(the_shipped_ones_are_first_and_both_parts_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
