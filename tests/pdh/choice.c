/* SPDX-License-Identifier: MIT */
/*
 * Expanding and validating paths, and listing, with a data source that the test replaces: missing
 * titles, a title that several objects have, objects without instances, base counters, detail
 * levels, costly objects. (docs/windows/pdh.md#f2, docs/windows/pdh.md#f4)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pdh/source.h"

#define assert_status(call, status) assert_int_equal((DWORD)(call), (DWORD)(status))

/* ---- the data source ---- */

/* clang-format 14 fails at tables whose rows have several lengths */
/* clang-format off */
static struct counter_info box_counters[] = {
    {.name = "First", .detail = 100},
    {.name = "", .index = 9000, .detail = 100},
    {.name = "Base", .hidden = true},
    {.name = "Same", .detail = 300},
    {.name = "same", .detail = 300},
    {.name = "Last", .detail = 400},
};
static struct instance_info box_instances[] = {
    {.name = "a"},
    {.name = "A", .number = 1},
    {.name = "a#1"},
    {.parent = "p", .name = "a"},
    {.name = ""},
    {.parent = "p", .name = ""},
};
/* clang-format on */
static struct counter_info lone_counters[] = {
    {.name = "Base", .hidden = true},
    {.name = "One"             }
};
static struct object_info box = {.name = "Box",
                                 .index = 2,
                                 .detail = 200,
                                 .counters = box_counters,
                                 .counter_count = COUNT(box_counters),
                                 .default_counter = 3,
                                 .instances = box_instances,
                                 .instance_count = COUNT(box_instances)};
static struct object_info lone = {
    .name = "Lone", .index = 4, .single = true, .counters = lone_counters, .counter_count = 2};
static struct object_info untitled = {
    .name = "", .index = 9100, .single = true, .counters = lone_counters, .counter_count = 2};
static struct object_info again = {
    .name = "LONE", .index = 6, .single = true, .counters = lone_counters, .counter_count = 2};
static struct object_info dear = {.name = "Dear", .index = 8, .costly = true, .single = true};
static struct object_info *all[] = {&lone, &untitled, &box, &again, &dear};
static uint32_t default_object;
static enum info_age requested_age;
static int opened;

static const struct counter_info *own_counter(const struct object_info *info, const char *name,
                                              bool english)
{
    for (uint32_t i = 0; i < info->counter_count; i++) {
        const struct counter_info *counter = &info->counters[i];
        if (!counter->hidden &&
            (text_equal_fold(counter->name, name) || (counter->index && !strcmp(name, "9000"))))
            return counter;
    }
    return NULL;
}

/* No object has a title other than its `name`, except that "Lone" is called "Seul" in another
 * language. */
static bool own_has_title(const struct object_info *info, uint32_t index, enum title_stage stage,
                          const char *pattern)
{
    return stage == STAGE_OTHERS && info == &lone && index == lone.index &&
           text_match(pattern, "Seul");
}

static PDH_STATUS own_objects(struct data_source *source, const char *machine, enum info_age age,
                              struct object_infos *ret)
{
    requested_age = age;
    *ret = (struct object_infos){.items = calloc(COUNT(all), sizeof *ret->items),
                                 .count = COUNT(all),
                                 .default_object = default_object};
    for (size_t i = 0; i < COUNT(all); i++)
        ret->items[i] = object_info_ref(all[i]);
    return 0;
}

static PDH_STATUS own_object(struct data_source *source, const char *machine, const char *object,
                             bool english, enum info_age age, struct object_info **ret)
{
    requested_age = age;
    for (size_t i = 0; i < COUNT(all); i++)
        if (text_equal_fold(all[i]->name, object) || atoi(object) == (int)all[i]->index) {
            *ret = object_info_ref(all[i]);
            return 0;
        }
    return (PDH_STATUS)PDH_CSTATUS_NO_OBJECT;
}

static PDH_STATUS own_label(struct data_source *source, const char *machine, struct buffer *ret)
{
    return buffer_add_text(ret, "\\\\M") ? 0 : (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
}

static void own_close(struct data_source *source)
{
    opened--;
}

PDH_STATUS live_source_open(struct data_source **ret)
{
    static const struct source_ops ops = {.aliases = true,
                                          .objects = own_objects,
                                          .object = own_object,
                                          .counter = own_counter,
                                          .has_title = own_has_title,
                                          .label = own_label,
                                          .close = own_close};
    static struct data_source own = {&ops};
    opened++;
    *ret = &own;
    return 0;
}

/* Replaces the function of the module log: the tests use live data only, never a capture. */
PDH_STATUS log_source_open(struct pdh_from from, enum source_use use, struct data_source **ret)
{
    return (PDH_STATUS)PDH_DATA_SOURCE_IS_REAL_TIME;
}

static int return_references(void **state)
{
    for (size_t i = 0; i < COUNT(all); i++)
        all[i]->references = 1; /* never freed */
    return 0;
}

/* Checks that everything that was opened is closed, and that every reference to an object is
 * released. */
static int nothing_left(void **state)
{
    assert_int_equal(opened, 0);
    for (size_t i = 0; i < COUNT(all); i++)
        assert_int_equal(all[i]->references, 1);
    return 0;
}

/* ---- expanding ---- */

static const struct pdh_from now;

/* Compares a list with `expected`, in which a bar stands after each text. */
static void is_list(const struct buffer *list, const char *expected)
{
    BUFFER_AUTO text = {0};
    buffer_add(&text, list->data, list->len);
    for (size_t i = 0; i < text.len; i++)
        if (text.data[i] == '\0')
            text.data[i] = '|';
    assert_string_equal(text.len ? text.data : "", expected);
}

static void expands(const char *path, const char *expected)
{
    BUFFER_AUTO list = {0};
    assert_int_equal(expand_path(now, path, 0, &list), 0);
    is_list(&list, expected);
}

static void a_title_stands_once_for_its_counters(void **state)
{
    expands("\\Box(p/a)\\*", "\\\\M\\Box(p/a)\\First|\\\\M\\Box(p/a)\\Same|\\\\M\\Box(p/a)\\Last|");
    expands("\\Box(p/a)\\s*", "\\\\M\\Box(p/a)\\Same|");
    expands("\\Lone\\*", "\\\\M\\Lone\\One|");
}

static void what_has_no_title_keeps_its_number(void **state)
{
    expands("\\Box(p/a)\\9000", "\\\\M\\Box(p/a)\\9000|");
    expands("\\9100\\One", "\\\\M\\9100\\One|");
}

static void one_path_for_one_instance(void **state)
{
    expands("\\Box(a)\\First", "\\\\M\\Box(a)\\First|");
    /* a#1 means the second "a", not the instance whose name is "a#1" */
    expands("\\Box(a#1)\\First", "\\\\M\\Box(A#1)\\First|");
    expands("\\Box(a#*)\\First", "\\\\M\\Box(a)\\First|\\\\M\\Box(A#1)\\First|");
    expands("\\Box(*/*)\\First", "\\\\M\\Box(p/a)\\First|\\\\M\\Box(p/)\\First|");
}

static void objects_by_a_pattern(void **state)
{
    expands("\\*\\One", "\\\\M\\Lone\\One|\\\\M\\LONE\\One|");
    expands("\\*(p/a)\\Last", "\\\\M\\Box(p/a)\\Last|");
    expands("\\Seu?\\O*", "\\\\M\\Lone\\One|"); /* found by a name in another language */
    expands("\\*\\*", "\\\\M\\Lone\\One|\\\\M\\LONE\\One|");
    expands("\\B*\\One", ""); /* Box has instances, so a path to it needs brackets */
}

static void refreshed_when_asked_to(void **state)
{
    BUFFER_AUTO list = {0};
    expand_path(now, "\\Lone\\One", 0, &list);
    assert_int_equal(requested_age, INFO_STABLE);
    expand_path(now, "\\Lone\\One", PDH_NOEXPANDCOUNTERS | PDH_NOEXPANDINSTANCES, &list);
    assert_int_equal(requested_age, INFO_STABLE);
    expand_path(now, "\\Lone\\One", PDH_REFRESHCOUNTERS, &list);
    assert_int_equal(requested_age, INFO_REFRESH);
    browse_objects(now, NULL, 400, false, &list);
    assert_int_equal(requested_age, INFO_STABLE);
    browse_objects(now, NULL, 400, true, &list);
    assert_int_equal(requested_age, INFO_NOW);
}

/* ---- validating ---- */

static void instances_by_a_pattern_may_be_none(void **state)
{
    assert_status(path_validate(now, "\\Box(z*)\\First"), PDH_CSTATUS_NO_INSTANCE);
    assert_status(path_validate(now, "\\Lone(*)\\One"), PDH_CSTATUS_NO_INSTANCE);
    box.instance_count = 0;
    assert_status(path_validate(now, "\\Box(z*)\\First"), 0);
    assert_status(path_validate(now, "\\Box(z)\\First"), PDH_CSTATUS_NO_INSTANCE);
    box.instance_count = COUNT(box_instances);
}

static void counters_and_objects_by_a_pattern(void **state)
{
    assert_status(path_validate(now, "\\Box(a)\\First*"), 0);
    assert_status(path_validate(now, "\\Box(a)\\Last?"), PDH_CSTATUS_NO_COUNTER);
    assert_status(path_validate(now, "\\Lone\\Base*"), PDH_CSTATUS_NO_COUNTER);
    assert_status(path_validate(now, "\\L*\\One"), 0);
    assert_status(path_validate(now, "\\L*\\Two"), PDH_CSTATUS_NO_OBJECT);
}

/* ---- lists ---- */

static void objects(DWORD detail, const char *expected)
{
    BUFFER_AUTO list = {0};
    assert_int_equal(browse_objects(now, NULL, detail, false, &list), 0);
    is_list(&list, expected);
}

static void objects_by_level_and_cost(void **state)
{
    objects(PERF_DETAIL_WIZARD, "Lone|Box|");
    objects(200, "Lone|Box|");
    objects(199, "Lone|");
    objects(199 | PERF_DETAIL_COSTLY, "Lone|Dear|");
    objects(PERF_DETAIL_COSTLY | PERF_DETAIL_STANDARD, "Lone|Box|Dear|");
}

static void items(const char *object, DWORD detail, const char *counters, const char *instances,
                  bool is_single)
{
    BUFFER_AUTO counter_list = {0};
    BUFFER_AUTO instance_list = {0};
    bool single = !is_single;
    assert_int_equal(
        browse_items(now, NULL, object, detail, &counter_list, &instance_list, &single), 0);
    is_list(&counter_list, counters);
    is_list(&instance_list, instances);
    assert_int_equal(single, is_single);
}

static void counters_by_level_and_instances_once(void **state)
{
    items("Box", 400, "First|Same|Last|", "a|a#1|p/a|p/|", false);
    items("Box", 300, "First|Same|", "a|a#1|p/a|p/|", false);
    items("Box", 299, "First|", "a|a#1|p/a|p/|", false);
    items("Lone", 400, "One|", "", true);
}

static void default_object_is(const char *name)
{
    BUFFER_AUTO text = {0};
    assert_int_equal(browse_default_object(now, NULL, &text), 0);
    assert_string_equal(text.data, name);
}

static void default_counter_is(uint32_t position, const char *name)
{
    BUFFER_AUTO text = {0};
    box.default_counter = position;
    assert_int_equal(browse_default_counter(now, NULL, "Box", &text), 0);
    assert_string_equal(text.data, name);
}

static void what_is_shown_first(void **state)
{
    default_object = 2;
    default_object_is("Box");
    default_object = 0;
    default_object_is("Lone");
    default_object = 9100; /* 9100 has no title */
    default_object_is("Lone");
    default_counter_is(5, "Last");
    default_counter_is(2, "First"); /* counter 2 is a base, which is never the default */
    default_counter_is(UINT32_MAX, "First");
    BUFFER_AUTO text = {0};
    assert_status(browse_default_counter(now, NULL, "Dear", &text), PDH_CSTATUS_NO_COUNTER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_title_stands_once_for_its_counters),
        cmocka_unit_test(what_has_no_title_keeps_its_number),
        cmocka_unit_test(one_path_for_one_instance),
        cmocka_unit_test(objects_by_a_pattern),
        cmocka_unit_test(refreshed_when_asked_to),
        cmocka_unit_test(instances_by_a_pattern_may_be_none),
        cmocka_unit_test(counters_and_objects_by_a_pattern),
        cmocka_unit_test(objects_by_level_and_cost),
        cmocka_unit_test(counters_by_level_and_instances_once),
        cmocka_unit_test(what_is_shown_first),
    };
    return cmocka_run_group_tests_name("pdh-choice", tests, return_references, nothing_left);
}
