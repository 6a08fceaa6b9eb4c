/* SPDX-License-Identifier: MIT */
/* The data source for live data: objects are found by name, number and language; instances with
 * equal names are numbered. */
#include "pdh/live/machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "frozen.h"
#include "objects.h"

static const struct pdh_from now;
static struct object_info *object_info_of(const char *name, bool english)
{
    struct object_info *info = NULL;
    assert_int_equal(source_object(now, NULL, name, english, INFO_RECENT, &info), 0);
    return info;
}

static void objects_have_names_in_any_case_and_numbers(void **state)
{
    static const char *const names[] = {"Processor", "pRoCeSsOr", "238"};
    for (size_t i = 0; i < COUNT(names); i++)
        for (int english = 0; english < 2; english++) {
            OBJECT_INFO_AUTO *info = object_info_of(names[i], english);
            assert_int_equal(info->index, 238);
            assert_string_equal(info->name, "Processor");
            assert_false(info->single);
        }
    OBJECT_INFO_AUTO *system = object_info_of("System", false);
    assert_true(system->single);
    assert_int_equal(system->instance_count, 0);
}

static void what_is_not_there_has_a_status(void **state)
{
    struct object_info *info = NULL;
    assert_int_equal(source_object(now, NULL, "Nonsense", false, INFO_RECENT, &info),
                     (PDH_STATUS)PDH_CSTATUS_NO_OBJECT);
    /* a counter has this title, but no object */
    assert_int_equal(source_object(now, NULL, "% Processor Time", false, INFO_RECENT, &info),
                     (PDH_STATUS)PDH_CSTATUS_NO_OBJECT);
    assert_int_equal(source_object(now, "\\\\no-such-machine", "System", false, INFO_RECENT, &info),
                     (PDH_STATUS)PDH_CSTATUS_NO_MACHINE);
    assert_null(info);
}

static void counters_are_found_and_bases_are_not(void **state)
{
    OBJECT_INFO_AUTO *system = object_info_of("System", false);
    const struct counter_info *counter = live_counter(system, "system up TIME", false);
    assert_non_null(counter);
    assert_int_equal(counter->index, 674);
    assert_ptr_equal(live_counter(system, "674", true), counter);
    assert_null(live_counter(system, "System Down Time", false));
    assert_null(live_counter(system, "", false));
    for (uint32_t i = 0; i < system->counter_count; i++)
        if (system->counters[i].hidden)
            assert_ptr_not_equal(live_counter(system, system->counters[i].name, false),
                                 &system->counters[i]);
}

static void numbers_of_equal_names_count_up(void **state)
{
    frozen_process(41, "twin", 1, 1);
    frozen_process(42, "single", 1, 1);
    frozen_process(43, "Twin", 1, 1);
    OBJECT_INFO_AUTO *process = object_info_of("Process", false);
    uint32_t twins = 0;
    for (uint32_t i = 0; i < process->instance_count; i++) {
        uint32_t before = 0;
        for (uint32_t k = 0; k < i; k++)
            before += text_equal_fold(process->instances[k].name, process->instances[i].name);
        assert_int_equal(process->instances[i].number, before);
        twins += before > 0;
    }
    assert_int_equal(twins, 1);
}

static void threads_have_their_processes_as_parents(void **state)
{
    OBJECT_INFO_AUTO *thread = object_info_of("Thread", false);
    assert_true(thread->instance_count > 0);
    for (uint32_t i = 0; i < thread->instance_count; i++)
        assert_non_null(thread->instances[i].parent);
}

static void lists_stay_until_refreshed(void **state)
{
    OBJECT_INFOS_AUTO first = {0};
    OBJECT_INFOS_AUTO second = {0};
    OBJECT_INFOS_AUTO fresh = {0};
    assert_int_equal(source_objects(now, NULL, INFO_STABLE, &first), 0);
    assert_int_equal(source_objects(now, NULL, INFO_STABLE, &second), 0);
    assert_int_equal(source_objects(now, NULL, INFO_NOW, &fresh), 0);
    assert_true(first.count >= 8);
    assert_int_equal(first.count, second.count);
    assert_ptr_equal(first.items[0], second.items[0]);
    assert_ptr_not_equal(first.items[0], fresh.items[0]);
    assert_int_equal(first.default_object, 238);
}

static void titles_and_numbers(void **state)
{
    BUFFER_AUTO text = {0};
    DWORD number = 0;
    assert_int_equal(lookup_name(NULL, 6, &text), 0);
    assert_string_equal(text.data, "% Processor Time");
    assert_int_equal(lookup_index(NULL, "% processor time", &number), 0);
    assert_int_equal(number, 6);
    assert_int_equal(lookup_index(NULL, "No Counter", &number), (PDH_STATUS)PDH_STRING_NOT_FOUND);
    assert_int_equal(lookup_name(NULL, 99998, &text), (PDH_STATUS)PDH_STRING_NOT_FOUND);
}

/* This machine can be named in several ways; all of them mean the same machine. */
static void this_machine_has_several_names(void **state)
{
    BUFFER_AUTO label = {0};
    BUFFER_AUTO again = {0};
    BUFFER_AUTO list = {0};
    SOURCE_AUTO *source = NULL;
    assert_int_equal(source_open(now, SOURCE_NAMES, &source), 0);
    assert_int_equal(source->ops->label(source, NULL, &label), 0);
    assert_int_equal(source->ops->label(source, label.data, &again), 0);
    assert_string_equal(label.data, again.data);
    assert_int_equal(strncmp(label.data, "\\\\", 2), 0);
    assert_int_equal(browse_machines(now, &list), 0);
    assert_string_equal(list.data, label.data);
    assert_int_equal(list.len, label.len + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects_have_names_in_any_case_and_numbers),
        cmocka_unit_test(what_is_not_there_has_a_status),
        cmocka_unit_test(counters_are_found_and_bases_are_not),
        cmocka_unit_test(numbers_of_equal_names_count_up),
        cmocka_unit_test(threads_have_their_processes_as_parents),
        cmocka_unit_test(lists_stay_until_refreshed),
        cmocka_unit_test(titles_and_numbers),
        cmocka_unit_test(this_machine_has_several_names),
    };
    return cmocka_run_group_tests(tests, frozen_make, frozen_remove);
}
