/* SPDX-License-Identifier: MIT */
/* Counter paths in the user's language, in any other installed language, in English, and by number.
 * The user is German. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>
#include <pthread.h>

#include <pdh.h>
#include <pdhmsg.h>

#include "../pdh/frozen.h"

#define assert_status(call, status) assert_int_equal((DWORD)(call), (DWORD)(status))
#define GERMAN "\\Prozessor(_Total)\\Prozessorzeit (%)"
#define ENGLISH "\\Processor(_Total)\\% Processor Time"
#define SPANISH "\\Procesador(_Total)\\% de tiempo de procesador"
#define NUMBERS "\\238(_Total)\\6"

static int begin(void **state)
{
    frozen_make(state);
    return setenv("LC_ALL", "de_DE.UTF-8", 1);
}

static const char *const paths[] = {GERMAN, ENGLISH, SPANISH, NUMBERS};

static void every_name_is_found_and_shown_in_german(void **state)
{
    for (size_t i = 0; i < 4; i++) {
        char list[256];
        DWORD length = sizeof list;
        assert_status(PdhValidatePathA(paths[i]), 0);
        assert_status(PdhExpandWildCardPathA(NULL, paths[i], list, &length, 0), 0);
        assert_non_null(strstr(list, GERMAN));
    }
}

static void english_is_only_english(void **state)
{
    PDH_HQUERY query;
    PDH_HCOUNTER counter;
    assert_status(PdhOpenQueryA(NULL, 0, &query), 0);
    for (size_t i = 0; i < 4; i++)
        assert_status(PdhAddCounterA(query, paths[i], 0, &counter), 0);
    assert_status(PdhAddEnglishCounterA(query, ENGLISH, 0, &counter), 0);
    assert_status(PdhAddEnglishCounterA(query, NUMBERS, 0, &counter), 0);
    assert_status(PdhAddEnglishCounterA(query, GERMAN, 0, &counter), PDH_CSTATUS_NO_OBJECT);
    assert_status(
        PdhAddEnglishCounterA(query, "\\Processor(_Total)\\Prozessorzeit (%)", 0, &counter),
        PDH_CSTATUS_NO_COUNTER);
    assert_status(PdhCloseQuery(query), 0);
}

static void lists_and_titles_are_german(void **state)
{
    char name[64];
    DWORD length = sizeof name, index = 0;
    assert_status(PdhGetDefaultPerfObjectA(NULL, NULL, name, &length), 0);
    assert_string_equal(name, "Prozessor");
    length = sizeof name;
    assert_status(PdhGetDefaultPerfCounterA(NULL, NULL, "Processor", name, &length), 0);
    assert_string_equal(name, "Prozessorzeit (%)");
    length = sizeof name;
    assert_status(PdhLookupPerfNameByIndexA(NULL, 674, name, &length), 0);
    assert_string_equal(name, "Systembetriebszeit");
    assert_status(PdhLookupPerfIndexByNameA(NULL, "systembetriebszeit", &index), 0);
    assert_int_equal(index, 674);
    assert_status(PdhLookupPerfIndexByNameA(NULL, "System Up Time", &index), 0);
    assert_int_equal(index, 674);
}

/* Expands a path to a text "a|b|": of each result the part after the machine's name. */
static const char *expanded(const char *path)
{
    static char text[8192];
    char list[8192];
    DWORD length = sizeof list;
    size_t at = 0;
    text[0] = '\0';
    assert_status(PdhExpandWildCardPathA(NULL, path, list, &length, 0), 0);
    for (const char *one = list; *one; one += strlen(one) + 1)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s|", strchr(one + 2, '\\'));
    return text;
}

/* Patterns for objects and for counters in each language; and a number together with a pattern. */
static void patterns_are_found_in_every_language(void **state)
{
    static const char *const patterns[] = {
        "\\Prozessor(_Total)\\Prozessorz*",
        "\\Processor(_Total)\\% Processor T*",
        "\\238(_Total)\\% Processor T*",
        "\\Processor(_T*)\\6",
        "\\238(_Tot?l)\\6",
        "\\Proc*sor(_Total)\\6",
        "\\Prozess?r(_Total)\\6",
        "\\Process?r(_Total)\\% Processor T*",
        "\\Procesador(_Total)\\% de tiempo de proc*",
        "\\Procesad*(_Total)\\6",
    };
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        assert_string_equal(expanded(patterns[i]), GERMAN "|");
        assert_status(PdhValidatePathA(patterns[i]), 0);
    }
    assert_string_equal(expanded("\\Process?r(_Total)\\No such*"), "");
    assert_status(PdhValidatePathA("\\Prozessor(_Total)\\No such*"), PDH_CSTATUS_NO_COUNTER);
    assert_status(PdhValidatePathA("\\No such*\\6"), PDH_CSTATUS_NO_OBJECT);
}

/* If names in the user's language match a pattern, other languages are not searched. For example,
 * German and English names begin with "Pro", but only German ones are found. */
static void a_pattern_means_the_users_language_first(void **state)
{
    const char *all = expanded("\\Prozessor(0)\\*zeit (%)");
    assert_non_null(strstr(all, "Prozessorzeit (%)|"));
    assert_null(strstr(all, "/s|"));
    assert_non_null(strstr(expanded("\\System\\Pro*"), "\\System\\Prozesse|"));
}

/* The user changes the language while the program runs: names, lists and explanations change,
 * too. */
static void a_user_changes_the_language(void **state)
{
    static union {
        PDH_COUNTER_INFO_A info;
        char storage[8192];
    } german, english;
    PDH_HQUERY query;
    PDH_HCOUNTER counter;
    DWORD size = sizeof german;
    assert_status(PdhOpenQueryA(NULL, 0, &query), 0);
    assert_status(PdhAddCounterA(query, NUMBERS, 0, &counter), 0);
    assert_status(PdhGetCounterInfoA(counter, TRUE, &size, &german.info), 0);
    assert_string_equal(german.info.szCounterName, "Prozessorzeit (%)");
    setenv("LC_ALL", "C", 1);
    assert_status(PdhAddCounterA(query, NUMBERS, 0, &counter), 0);
    size = sizeof english;
    assert_status(PdhGetCounterInfoA(counter, TRUE, &size, &english.info), 0);
    assert_non_null(strstr(english.info.szExplainText, "rocessor"));
    char name[64];
    DWORD length = sizeof name;
    assert_status(PdhLookupPerfNameByIndexA(NULL, 6, name, &length), 0);
    assert_string_equal(name, "% Processor Time");
    setenv("LC_ALL", "de_DE.UTF-8", 1);
    assert_status(PdhCloseQuery(query), 0);
}

/* Names in other languages are found at any time, also while another thread makes the library read
 * the titles again. */
static void *request_names(void *ret)
{
    const time_t end = time(NULL) + 3;
    unsigned *wrong = ret;
    while (time(NULL) < end)
        *wrong += PdhValidatePathA(SPANISH) || PdhValidatePathA(ENGLISH) ||
                  PdhValidatePathA("\\Procesad*(_Total)\\6");
    return NULL;
}

static void titles_are_read_anew_under_way(void **state)
{
    unsigned wrong[3] = {0};
    pthread_t threads[3];
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, request_names, &wrong[i]), 0);
    for (const time_t end = time(NULL) + 3; time(NULL) < end;) {
        DWORD length = 0;
        PdhEnumObjectsA(NULL, NULL, NULL, &length, PERF_DETAIL_WIZARD, TRUE);
    }
    for (size_t i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(wrong[0] + wrong[1] + wrong[2], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_name_is_found_and_shown_in_german),
        cmocka_unit_test(english_is_only_english),
        cmocka_unit_test(lists_and_titles_are_german),
        cmocka_unit_test(patterns_are_found_in_every_language),
        cmocka_unit_test(a_pattern_means_the_users_language_first),
        cmocka_unit_test(a_user_changes_the_language),
        cmocka_unit_test(titles_are_read_anew_under_way),
    };
    return cmocka_run_group_tests_name("api-pdh-language", tests, begin, frozen_remove);
}
