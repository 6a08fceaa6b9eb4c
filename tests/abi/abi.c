/* SPDX-License-Identifier: MIT */
/*
 * Loads and queries a provider library of each kind that exists or will exist, in this process and
 * in a helper process: a library with Windows' ABI; with tables (constant arrays that describe its
 * objects and counters) from the time before tables had a version; with tables of version 1; and
 * with tables of later versions.
 */
#include <openperflib/block.h>
#include <openperflib/unstable.h>
#include <windows.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../temp.h"

#define SERVICES "SYSTEM\\CurrentControlSet\\Services\\"
enum { FIRST = 20000, NUMBER = 2, WEIGHT = 4, CHILD = 8, COMPUTED = 10, BEGIN = 12, LAST = 12 };
enum { PLAIN = 30000 };
enum { INSIDE = 0, HELPER = 1 }; /* values of the registry value Isolation */

static char root[64];
static unsigned char data[1 << 16];
static DWORD size;

static const char *library(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/abi_%s.so", getenv("ABI_LIBRARIES"), name);
    return path;
}

static void set(const char *name, DWORD type, const void *value, DWORD bytes)
{
    HKEY key;
    assert_int_equal(RegCreateKeyExA(HKEY_LOCAL_MACHINE, SERVICES "Frozen\\Performance", 0, NULL, 0,
                                     KEY_WRITE, NULL, &key, NULL),
                     0);
    assert_int_equal(RegSetValueExA(key, name, 0, type, value, bytes), 0);
    RegCloseKey(key);
}

static void set_text(const char *name, const char *text)
{
    set(name, REG_SZ, text, (DWORD)strlen(text) + 1);
}

static void set_dword(const char *name, DWORD value)
{
    set(name, REG_DWORD, &value, sizeof value);
}

/* Registers the library and queries all objects that it has. */
static void run_query(const char *name, DWORD isolation)
{
    set_text("Library", library(name));
    set_text("Open", "Open");
    set_text("Collect", "Collect");
    set_text("Close", "Close");
    set_dword("Isolation", isolation);
    set_dword("First Counter", FIRST);
    set_dword("Last Counter", FIRST + LAST);
    set_dword("First Help", FIRST + 1);
    set_dword("Last Help", FIRST + 1 + LAST);
    size = sizeof data;
    assert_int_equal(
        RegQueryValueExA(HKEY_PERFORMANCE_DATA, "20000 20008 30000", NULL, NULL, data, &size), 0);
}

static int forget(void **state)
{
    char path[96];
    (void)state;
    RegCloseKey(HKEY_PERFORMANCE_DATA);
    RegDeleteTreeA(HKEY_LOCAL_MACHINE, SERVICES "Frozen");
    snprintf(path, sizeof path, "%s/events", root);
    unlink(path);
    return 0;
}

static const char *events(void)
{
    static char text[8192];
    char path[96];
    snprintf(path, sizeof path, "%s/events", root);
    FILE *file = fopen(path, "r");
    size_t count = file ? fread(text, 1, sizeof text - 1, file) : 0;
    text[count] = 0;
    if (file)
        fclose(file);
    return text;
}

static bool find(DWORD object, opl_block *block, opl_object_view *ret)
{
    assert_int_equal(opl_block_init(block, data, size), OPL_BLOCK_GOOD);
    return opl_block_find_object(block, object, ret);
}

/* The value of the counter `index` of the instance at `position`; -1: there is no such counter or
 * instance. */
static long long value(DWORD object, unsigned position, DWORD index)
{
    opl_block block;
    opl_object_view view = {0};
    opl_instance_view instance = {0};
    opl_counter_view counter = {0};
    uint64_t ret;
    if (!find(object, &block, &view))
        return -1;
    do
        if (!opl_object_next_instance(&block, &view, &instance))
            return -1;
    while (instance.position < position);
    while (opl_object_next_counter(&block, &view, &counter))
        if (counter.definition.CounterNameTitleIndex == index &&
            opl_counter_number(&block, &instance, &counter, &ret))
            return (long long)ret;
    return -1;
}

static void is_wholly_there(void)
{
    opl_block block;
    opl_object_view object = {0};
    opl_instance_view instance = {0};
    char name[16];
    assert_int_equal(value(FIRST, 0, FIRST + NUMBER), 4711);
    assert_int_equal(value(FIRST, 0, FIRST + WEIGHT), 30);
    assert_int_equal(value(FIRST, 1, FIRST + WEIGHT), 12);
    assert_int_equal(value(FIRST, 2, FIRST + WEIGHT), 42); /* _Total */
    assert_int_equal(value(FIRST, 3, FIRST + WEIGHT), -1);
    assert_int_equal(value(FIRST + CHILD, 0, FIRST + COMPUTED), 40);
    assert_true(value(FIRST + CHILD, 0, FIRST + BEGIN) > 0);
    assert_true(find(FIRST + CHILD, &block, &object));
    assert_true(opl_object_next_instance(&block, &object, &instance));
    opl_instance_name(&block, &object, &instance, name, sizeof name);
    assert_string_equal(name, "two");
    /* the provider's table has the parent object's address; the answer must have its number */
    assert_int_equal(instance.definition.ParentObjectTitleIndex, FIRST);
    assert_int_equal(instance.definition.ParentObjectInstance, 0);
    if (*events())
        fail_msg("%s", events());
}

/* Checks that the library works in this process and in a helper process, at the first query and at
 * a second one, for which the library is loaded and open already. */
static void runs(const char *name)
{
    for (DWORD isolation = INSIDE; isolation <= HELPER; isolation++) {
        run_query(name, isolation);
        is_wholly_there();
        run_query(name, isolation);
        is_wholly_there();
        forget(NULL);
    }
}

static void refused(const char *name, unsigned event, const char *why)
{
    char wanted[32];
    opl_block block;
    opl_object_view object = {0};
    snprintf(wanted, sizeof wanted, "\tPerflib\t%u\terror\t", event);
    for (DWORD isolation = INSIDE; isolation <= HELPER; isolation++) {
        run_query(name, isolation);
        assert_false(find(FIRST, &block, &object));
        if (!strstr(events(), wanted) || !strstr(events(), why))
            fail_msg("%s, isolation %u: no event %u \"%s\" in: %s", name, (unsigned)isolation,
                     event, why, events());
        forget(NULL);
    }
}

static void libraries_with_windows_abi_run_as_they_are(void **state)
{
    (void)state;
    for (DWORD isolation = INSIDE; isolation <= HELPER; isolation++) {
        run_query("plain", isolation);
        assert_int_equal(value(PLAIN, 0, PLAIN + 2), 1993);
        forget(NULL);
    }
}

static void libraries_of_version_1_run_as_they_are(void **state)
{
    (void)state;
    runs("version1");
}

static void libraries_of_a_later_version_run_with_longer_rows(void **state)
{
    (void)state;
    runs("later");
}

#define REBUILD "built for an unreleased version of openperflib and must be built again"

static void tables_without_a_version_are_refused(void **state)
{
    (void)state;
    refused("unversioned", 4017, REBUILD);
    refused("unversioned_alone", 4017, REBUILD);
}

/* A library that uses a structure member which this version of openperflib does not know is
 * refused: a value that was read without regard to that member could be false, which would be worse
 * than no value. */
static void what_is_not_known_here_is_refused(void **state)
{
    (void)state;
    refused("beyond", 4004,
            "of the object Frozen Child cannot be used, because of Computed: it uses "
            "something that this version of openperflib does not know");
    refused("reserved", 4004, "because of Computed: it uses something");
    refused("source", 4004, "because of Begin: it uses something");
}

static void rows_shorter_than_version_1_are_refused(void **state)
{
    (void)state;
    refused("short", 4018, "a row has ");
}

/* ---- the tables of a library that is not opened ---- */

static void programs_walk_through_longer_rows(void **state)
{
    static const char *const names[] = {"version1", "later"};
    char why[OPL_TABLES_WHY];
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const opl_table_list *tables = opl_tables_load(library(names[i]), why);
        assert_non_null(tables);
        assert_int_equal(tables->count, 2);
        assert_string_equal(tables->service, "Frozen");
        assert_string_equal(tables->objects[0]->counters[2].name, "Motto");
        assert_string_equal(tables->objects[1]->counters[1].name, "Begin");
        assert_ptr_equal(tables->objects[1]->listed_with, tables->objects[1]->related);
    }
}

static void no_table(const char *name, const char *expected)
{
    char why[OPL_TABLES_WHY];
    assert_null(opl_tables_load(library(name), why));
    if (!strstr(why, expected))
        fail_msg("%s: \"%s\" is not in: %s", name, expected, why);
}

static void programs_learn_why_there_are_no_tables(void **state)
{
    (void)state;
    no_table("plain", "it has no tables");
    no_table("unversioned", REBUILD);
    no_table("unversioned_alone", REBUILD);
    no_table("short", "a row has ");
    no_table("beyond", "Frozen Child: Computed: it uses something");
    no_table("nowhere", "No such file");
}

static int begin(void **state)
{
    (void)state;
    temp_make(root);
    return setenv("OPENPERFLIB_ROOT", root, 1);
}

static int end(void **state)
{
    (void)state;
    temp_remove(root);
    return 0;
}

#define ABI_TEST(function) cmocka_unit_test_teardown(function, forget)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ABI_TEST(libraries_with_windows_abi_run_as_they_are),
        ABI_TEST(libraries_of_version_1_run_as_they_are),
        ABI_TEST(libraries_of_a_later_version_run_with_longer_rows),
        ABI_TEST(tables_without_a_version_are_refused),
        ABI_TEST(what_is_not_known_here_is_refused),
        ABI_TEST(rows_shorter_than_version_1_are_refused),
        cmocka_unit_test(programs_walk_through_longer_rows),
        cmocka_unit_test(programs_learn_why_there_are_no_tables),
    };
    return cmocka_run_group_tests_name("abi", tests, begin, end);
}
