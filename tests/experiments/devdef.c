/* SPDX-License-Identifier: MIT */
/*
 * The example of lodctr's design document, loaded and unloaded through the API, with the document's
 * own ini and symbol file. The expected registry is in tests/golden/devdef, where L is the highest
 * index before loading. Then the example's provider answers a query. (docs/windows/articles.md#c94)
 */
#include "lab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <openperflib/block.h>
#include <winperf.h>
#include <loadperf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char command[512];
static long long last_counter, last_help;
static char found[1 << 14];

static void print(const char *format, ...)
{
    va_list list;
    size_t used = strlen(found);
    va_start(list, format);
    vsnprintf(found + used, sizeof found - used, format, list);
    va_end(list);
}

static void print_number(const char *place, const char *key, const char *name, long long from)
{
    long long value = lab_get_dword(key, name);
    if (value < 0)
        print("%s %s none\n", place, name);
    else
        print("%s %s L+%lld\n", place, name, value - from);
}

static void print_numbers(void)
{
    static const char *const names[] = {"First Counter", "Last Counter", "First Help", "Last Help"};
    const char *service = lab_performance("DriverName");
    found[0] = '\0';
    for (int i = 0; i < 4; i++)
        print_number("DriverName", service, names[i], i < 2 ? last_counter : last_help);
    print_number("Perflib", LAB_PERFLIB, "Last Counter", last_counter);
    print_number("Perflib", LAB_PERFLIB, "Last Help", last_help);
}

/* The text of an index in a language, read as programs read it; NULL: there is none. */
static const char *text_of(const char *base, const char *language, long long index)
{
    static char texts[1 << 20];
    char name[32], wanted[24];
    DWORD size = sizeof texts;
    snprintf(name, sizeof name, "%s %s", base, language);
    snprintf(wanted, sizeof wanted, "%lld", index);
    assert_int_equal(
        RegQueryValueExA(HKEY_PERFORMANCE_DATA, name, NULL, NULL, (BYTE *)texts, &size), 0);
    for (const char *at = texts; *at;) {
        const char *text = at + strlen(at) + 1;
        if (strcmp(at, wanted) == 0)
            return text;
        at = text + strlen(text) + 1;
    }
    return NULL;
}

static void print_texts(const char *language)
{
    for (int offset = 2; offset <= 6; offset += 2) {
        const char *name = text_of("Counter", language, last_counter + offset);
        print("%s L+%d %s\n", language, offset, name ? name : "none");
        const char *help = text_of("Explain", language, last_help + offset);
        print("%s L+%d %s\n", language, offset, help ? help : "none");
    }
}

static void expect_golden(const char *name)
{
    char path[512], golden[1 << 14];
    snprintf(path, sizeof path, "%s/devdef/%s", getenv("GOLDEN"), name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    golden[fread(golden, 1, sizeof golden - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(found, golden);
}

static void install_language(const char *language)
{
    char path[128];
    HKEY key;
    snprintf(path, sizeof path, LAB_PERFLIB "\\%s", language);
    assert_int_equal(
        RegCreateKeyExA(HKEY_LOCAL_MACHINE, path, 0, NULL, 0, KEY_WRITE, NULL, &key, NULL), 0);
    RegCloseKey(key);
}

static void load(void)
{
    snprintf(command, sizeof command, "lodctr %s/devdef/devdef.ini", getenv("GOLDEN"));
    assert_int_equal(LoadPerfCounterTextStringsA(command, TRUE), 0);
}

static void c99_c100_c102_c104_first_is_l_plus_2(void **state)
{
    load();
    print_numbers();
    print_texts("009");
    print_texts("00C");
    print_texts("007");
    expect_golden("loaded.txt");
}

static void c103_loading_again_changes_nothing(void **state)
{
    load();
    c99_c100_c102_c104_first_is_l_plus_2(state);
}

static void c100_c101_open_adds_first_counter_to_all(void **state)
{
    static unsigned char data[1 << 20];
    DWORD size = sizeof data;
    char index[24];
    opl_block block;
    opl_object_view object;
    opl_counter_view counter = {0};
    load();
    snprintf(index, sizeof index, "%lld", last_counter + 2);
    assert_int_equal(RegQueryValueExA(HKEY_PERFORMANCE_DATA, index, NULL, NULL, data, &size), 0);
    assert_int_equal(opl_block_init(&block, data, size), OPL_BLOCK_GOOD);
    assert_int_equal(block.header.NumObjectTypes, 1);
    assert_true(opl_block_find_object(&block, (DWORD)last_counter + 2, &object));
    assert_int_equal(object.type.ObjectHelpTitleIndex, last_help + 2);
    for (int offset = 4; offset <= 6; offset += 2) {
        assert_true(opl_object_next_counter(&block, &object, &counter));
        assert_int_equal(counter.definition.CounterNameTitleIndex, last_counter + offset);
        assert_int_equal(counter.definition.CounterHelpTitleIndex, last_help + offset);
    }
    RegCloseKey(HKEY_PERFORMANCE_DATA);
    assert_string_equal(lab_events("DriverName", true), "");
}

static void c94_c102_unloading_leaves_nothing(void **state)
{
    load();
    snprintf(command, sizeof command, "unlodctr DriverName");
    assert_int_equal(UnloadPerfCounterTextStringsA(command, TRUE), 0);
    print_numbers();
    expect_golden("unloaded.txt");
    assert_null(text_of("Counter", "009", last_counter + 2));
    assert_null(text_of("Explain", "00C", last_help + 6));
    assert_int_equal(UnloadPerfCounterTextStringsA(command, TRUE), ERROR_FILE_NOT_FOUND);
    load();
    print_numbers();
    print_texts("009");
    print_texts("00C");
    print_texts("007");
    expect_golden("loaded.txt");
}

static int begin(void **state)
{
    lab_open();
    install_language("00C");
    install_language("007");
    /* the document's machine has no indices above those of Windows, so these packaged services are
     * removed */
    RegDeleteTreeA(HKEY_LOCAL_MACHINE, "SYSTEM\\CurrentControlSet\\Services\\PerfLinux");
    RegDeleteTreeA(HKEY_LOCAL_MACHINE, "SYSTEM\\CurrentControlSet\\Services\\PerfForeign");
    last_counter = lab_get_dword(LAB_PERFLIB, "Last Counter");
    last_help = lab_get_dword(LAB_PERFLIB, "Last Help");
    lab_register(&(struct lab_service){"DriverName", getenv("DEVICE"), "OpenPerformanceData",
                                       "CollectPerformanceData", "ClosePerformanceData", NULL,
                                       LAB_IN_PROCESS});
    return last_counter < 1846 || last_help != last_counter + 1;
}

static int end(void **state)
{
    lab_close();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(c99_c100_c102_c104_first_is_l_plus_2),
        cmocka_unit_test(c103_loading_again_changes_nothing),
        cmocka_unit_test(c100_c101_open_adds_first_counter_to_all),
        cmocka_unit_test(c94_c102_unloading_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
