/* SPDX-License-Identifier: MIT */
/*
 * The packaged block: the range of indices from 100000 on, which belongs to objects that ship with
 * openperflib. Without any registration, a program finds these objects' numbers, names,
 * explanations and paths.
 */
#include <openperflib/block.h>
#include <windows.h>
#include <pdh.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char base[4 << 20];

/* The text of the index `number` in the language base that `query` returns (all indices with their
 * texts). */
static const char *text_of(const char *query, const char *number)
{
    DWORD size = sizeof base, type;
    assert_int_equal(
        RegQueryValueExA(HKEY_PERFORMANCE_DATA, query, NULL, &type, (BYTE *)base, &size), 0);
    for (const char *at = base; *at;) {
        const char *text = at + strlen(at) + 1;
        if (strcmp(at, number) == 0)
            return text;
        at = text + strlen(text) + 1;
    }
    return "";
}

static void names_are_there_without_lodctr(void **state)
{
    assert_string_equal(text_of("Counter 009", "100100"), "Pressure");
    assert_string_equal(text_of("Counter 009", "100102"), "% Some Time");
    assert_non_null(strstr(text_of("Explain 009", "100101"), "waited"));
    assert_string_equal(text_of("Counter 007", "100100"), "Ressourcenengpass");
    assert_string_equal(text_of("Counter 007", "238"), "Prozessor");
    assert_non_null(strstr(text_of("Explain 007", "100103"), "wartete"));
    assert_string_equal(text_of("Counter 019", "100100"), "Нехватка ресурсов");
    /* there are no Spanish texts yet */
    assert_string_equal(text_of("Counter 00A", "100100"), "Pressure");
    assert_string_equal(text_of("Counter 007", "100500"), "Speicherzone");
}

/* An object is translated completely or not at all: each of its explanations differs from the
 * English text. Its names may be the same ("Inodes"). */
static void objects_are_translated_as_a_whole(void **state)
{
    static const unsigned objects[] = {100000, 100100, 100200, 100400, 100700, 100800, 100900};
    static const char *const queries[] = {"Explain 007", "Explain 019"};
    char number[16];
    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++)
        for (unsigned index = objects[i] + 1; index < objects[i] + 100; index += 2) {
            snprintf(number, sizeof number, "%u", index);
            char *english = strdup(text_of("Explain 009", number));
            for (size_t k = 0; *english && k < 2; k++)
                if (strcmp(text_of(queries[k], number), english) == 0)
                    fail_msg("%s of %s is English: %s", number, queries[k], english);
            free(english);
        }
}

/* A path with names in the user's language finds the counter. */
static void paths_of_other_languages_find_them(void **state)
{
    static const char *const paths[] = {"\\Grenzen des Kernels\\Prozessnummern",
                                        "\\Пределы ядра\\Номера процессов"};
    setenv("LC_ALL", "C", 1);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        char list[4096];
        DWORD size = sizeof list;
        assert_int_equal(PdhExpandWildCardPathA(NULL, paths[i], list, &size, 0), 0);
        assert_non_null(strstr(list, "\\Kernel Limits\\Process IDs"));
    }
}

/* Last Counter and Last Help are the last numbers of the packaged block: a program may allocate an
 * array with a place for each index, and may give its own counters the numbers after the last. */
static void the_last_numbers_are_the_blocks(void **state)
{
    const char *perflib = "SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Perflib";
    DWORD counter = 0, help = 0, size = sizeof(DWORD);
    RegGetValueA(HKEY_LOCAL_MACHINE, perflib, "Last Counter", RRF_RT_REG_DWORD, NULL, &counter,
                 &size);
    RegGetValueA(HKEY_LOCAL_MACHINE, perflib, "Last Help", RRF_RT_REG_DWORD, NULL, &help, &size);
    assert_int_equal(counter, 109998);
    assert_int_equal(help, 109999);
}

static bool answers(const char *query, DWORD object)
{
    static BYTE answer[4 << 20];
    DWORD size = sizeof answer, type;
    opl_block block;
    opl_object_view view;
    assert_int_equal(RegQueryValueExA(HKEY_PERFORMANCE_DATA, query, NULL, &type, answer, &size), 0);
    assert_int_equal(opl_block_init(&block, answer, size), OPL_BLOCK_GOOD);
    return opl_block_find_object(&block, object, &view);
}

static void objects_answer_by_number_and_globally(void **state)
{
    assert_true(answers("100100", 100100));
    assert_true(answers("Global", 100100));
    assert_false(answers("238", 100100));
    assert_false(answers("100100", 238));
}

static void paths_find_them(void **state)
{
    PDH_HQUERY query;
    PDH_HCOUNTER some, average;
    PDH_FMT_COUNTERVALUE value;
    assert_int_equal(PdhOpenQueryA(NULL, 0, &query), 0);
    assert_int_equal(PdhAddCounterA(query, "\\Pressure(memory)\\% Some Time", 0, &some), 0);
    assert_int_equal(
        PdhAddEnglishCounterA(query, "\\pressure(IO)\\% full average 300 s", 0, &average), 0);
    assert_int_equal(PdhCollectQueryData(query), 0);
    assert_int_equal(PdhCollectQueryData(query), 0);
    assert_int_equal(PdhGetFormattedCounterValue(some, PDH_FMT_DOUBLE, NULL, &value), 0);
    assert_true(value.doubleValue >= 0 && value.doubleValue <= 100);
    assert_int_equal(PdhGetFormattedCounterValue(average, PDH_FMT_DOUBLE, NULL, &value), 0);
    assert_true(value.doubleValue >= 0 && value.doubleValue <= 100);
    assert_int_equal(PdhCloseQuery(query), 0);
}

static int use_a_frozen_machine(void **state)
{
    char root[1024];
    snprintf(root, sizeof root, "%s/tests/roots/laptop4", getenv("SOURCE_ROOT"));
    return setenv("OPENPERFLIB_SYSROOT", root, 1);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_there_without_lodctr),
        cmocka_unit_test(objects_are_translated_as_a_whole),
        cmocka_unit_test(paths_of_other_languages_find_them),
        cmocka_unit_test(the_last_numbers_are_the_blocks),
        cmocka_unit_test(objects_answer_by_number_and_globally),
        cmocka_unit_test(paths_find_them),
    };
    return cmocka_run_group_tests(tests, use_a_frozen_machine, NULL);
}
