/* SPDX-License-Identifier: MIT */
/*
 * The sample atl_perf registers its numbers and texts itself. Whatever languages are installed, and
 * whatever texts its second library (with the translations) has: every language's list of names
 * gets every number, with the text in that language if there is one. After unregistering nothing is
 * left.
 */
#include "snapshot.h"

#include "module.h"

#include <sys/stat.h>
#include <uchar.h>
#include <unistd.h>

#include <openperflib/load.h>
#include <winerror.h>

#define ATLPERF "SYSTEM\\CurrentControlSet\\Services\\AtlPerf"
#define PERFORMANCE ATLPERF "\\Performance"
enum { ROWS = 10, FIRST_ROWS = 6, VARIANTS = 5, WITHOUT_MODULE = 4, TEXT_LEFT_OUT = 4 };

static char path[512], texts_path[512];

static void copy(const char *name, const char *to)
{
    char from[4096], data[8192];
    size_t size;
    snprintf(from, sizeof from, "%s/samples/%s.so", getenv("BUILD_ROOT"), name);
    unlink(to);
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    if (!in || !out)
        fail_msg("%s cannot be copied to %s", from, to);
    while ((size = fread(data, 1, sizeof data, in)) > 0)
        assert_int_equal(fwrite(data, 1, size, out), size);
    fclose(in);
    assert_int_equal(fclose(out), 0);
}

/* Chooses the library with texts that the sample finds in its folder. */
static void set_texts(int variant)
{
    char name[64];
    snprintf(name, sizeof name, variant ? "atl_perf_texts_%d" : "atl_perf_texts", variant);
    if (variant == WITHOUT_MODULE)
        unlink(texts_path);
    else
        copy(name, texts_path);
}

static void set_languages(const char *wanted)
{
    for (size_t i = 1; i < LANGUAGES; i++) {
        bool remove = strstr(wanted, languages[i]) == NULL;
        DWORD status = opl_load_language(languages[i], remove, NULL);
        assert_true(!status || (remove && status == ERROR_FILE_NOT_FOUND));
    }
}

static DWORD number(const char *name)
{
    long long found = lab_get_dword(PERFORMANCE, name);
    assert_true(found > 0);
    return (DWORD)found;
}

/* Returns the expected name, read from the source file of the texts. */
static const char *expected_name(const char *language, DWORD row, int variant)
{
    static const char *const english[ROWS] = {
        "Perf Map",      "Questions",     "Questions/sec", "Answers", "Bytes Answered",
        "Bytes Offered", "Perf Scribble", "Strokes",       "Points",  "Points/sec"};
    static const char *const german[ROWS] = {
        "Perf-Tabelle",       "Fragen", "Fragen/s",       "Antworten",
        "Geantwortete Bytes", NULL,     "Perf-Gekritzel", "Striche"};
    static const char *const russian[ROWS] = {"Таблица счётчиков",
                                              "Вопросы",
                                              "Вопросов в секунду",
                                              "Ответы",
                                              "Отвечено байт",
                                              "Предложено байт",
                                              "Каракули",
                                              "Штрихи",
                                              "Точки",
                                              "Точек в секунду"};
    const char *const *list = english;
    if (!strcmp(language, "007") && variant <= 1)
        list = german;
    if (!strcmp(language, "019") && (variant == 0 || variant == 2))
        list = russian;
    return list[row] ? list[row] : english[row];
}

static void assert_texts(const char *installed, int variant)
{
    DWORD name = number("First Counter"), help = number("First Help");
    for (size_t i = 0; i < LANGUAGES; i++) {
        if (!strstr(installed, languages[i]))
            continue;
        for (DWORD row = 0; row < ROWS; row++) {
            const char *text = name_of(name + 2 * row, languages[i], "Counter");
            if (!text)
                fail_msg("%s lacks row %u of variant %d", languages[i], (unsigned)row, variant);
            assert_string_equal(text, expected_name(languages[i], row, variant));
            assert_non_null(name_of(help + 2 * row, languages[i], "Explain"));
        }
    }
}

static void assert_answers(void)
{
    static BYTE data[1 << 16];
    DWORD size = sizeof data, type;
    char query[16];
    snprintf(query, sizeof query, "%u", (unsigned)number("First Counter"));
    RegCloseKey(HKEY_PERFORMANCE_DATA);
    assert_int_equal(RegQueryValueExA(HKEY_PERFORMANCE_DATA, query, NULL, &type, data, &size), 0);
    const PERF_DATA_BLOCK *block = (const PERF_DATA_BLOCK *)data;
    const PERF_OBJECT_TYPE *object = (const PERF_OBJECT_TYPE *)(data + block->HeaderLength);
    assert_int_equal(block->NumObjectTypes, 1);
    assert_int_equal(object->ObjectNameTitleIndex, number("First Counter"));
    assert_int_equal(object->NumCounters, FIRST_ROWS - 1);
    RegCloseKey(HKEY_PERFORMANCE_DATA);
}

static void c80_c82_every_language_has_every_number(void **state)
{
    static const char *const installed[] = {"009", "009 019", "009 007 00C", "009 007 00A 00C 019"};
    for (size_t i = 0; i < sizeof installed / sizeof *installed; i++) {
        set_languages(installed[i]);
        struct snapshot before = take_snapshot(), after;
        for (int variant = 0; variant < VARIANTS; variant++) {
            set_texts(variant);
            assert_int_equal(module_call("DllRegisterServer"), 0);
            assert_int_equal(number("Last Counter"), number("First Counter") + 2 * (ROWS - 1));
            assert_texts(installed[i], variant);
            assert_answers();
            assert_int_equal(module_call("DllUnregisterServer"), 0);
            after = take_snapshot();
            assert_same_snapshot(&before, &after);
            free(after.text);
        }
        free(before.text);
    }
    assert_string_equal(lab_events(NULL, false), "");
}

/* A translation is added after the registration: the numbers stay the same, and the texts are those
 * of the new library. */
static void c83_a_translation_comes_later(void **state)
{
    set_languages("009 007 019");
    set_texts(2);
    assert_int_equal(module_call("DllRegisterServer"), 0);
    DWORD first = number("First Counter");
    assert_texts("009 007 019", 2);
    set_texts(0);
    assert_int_equal(module_call("DllRegisterServer"), 0);
    assert_int_equal(number("First Counter"), first);
    assert_texts("009 007 019", 0);
    set_texts(WITHOUT_MODULE);
    assert_int_equal(module_call("DllRegisterServer"), 0);
    assert_texts("009 007 019", WITHOUT_MODULE);
    assert_int_equal(module_call("DllUnregisterServer"), 0);
}

/* A language that is installed after the registration gets the English texts. */
static void c81_no_language_makes_it_invisible(void **state)
{
    set_languages("009");
    set_texts(0);
    assert_int_equal(module_call("DllRegisterServer"), 0);
    set_languages("009 007");
    assert_string_equal(name_of(number("First Counter"), "007", "Counter"), "Perf Map");
    assert_int_equal(module_call("DllRegisterServer"), 0);
    assert_texts("009 007", 0);
    assert_int_equal(module_call("DllUnregisterServer"), 0);
}

static void an_older_version_had_other_rows(void **state)
{
    struct snapshot before = take_snapshot();
    set_texts(0);
    assert_int_equal(module_call("DllRegisterServer"), 0);
    DWORD first = number("First Counter");
    lab_set_dword(PERFORMANCE, "Last Counter", first + 2 * ROWS);
    lab_set_dword(PERFORMANCE, "Last Help", first + 1 + 2 * ROWS);
    assert_int_equal(module_call("DllRegisterServer"), 0);
    assert_int_equal(number("Last Counter"), number("First Counter") + 2 * (ROWS - 1));
    assert_texts("009", 0);
    assert_answers();
    assert_int_equal(module_call("DllUnregisterServer"), 0);
    struct snapshot after = take_snapshot();
    assert_same_snapshot(&before, &after);
    free(before.text);
    free(after.text);
}

/* If other programs have values in the service's key, the key is not deleted. */
static void a_key_with_more_stays(void **state)
{
    assert_int_equal(module_call("DllRegisterServer"), 0);
    lab_set_text(ATLPERF, "ImagePath", "/bin/true");
    lab_set_dword(PERFORMANCE, "Isolation", 1);
    assert_int_equal(module_call("DllUnregisterServer"), 0);
    assert_int_equal(lab_get_dword(PERFORMANCE, "Isolation"), 1);
    assert_int_equal(lab_get_dword(PERFORMANCE, "First Counter"), -1);
    lab_unregister("AtlPerf");
    assert_int_equal(module_call("DllUnregisterServer"), 0x80070002);
}

/* The sample has a map of objects, each with a map of counters. Registering stores all numbers, the
 * list of objects, and the map itself. */
static void c136_maps_are_chained_and_stored(void **state)
{
    char list[64], found[64];
    HKEY key;
    DWORD map[4 * ROWS + 1], size = sizeof found, type, first;
    assert_int_equal(module_call("DllRegisterServer"), 0);
    first = number("First Counter");
    snprintf(list, sizeof list, "%u %u", (unsigned)first, (unsigned)first + 2 * FIRST_ROWS);
    assert_int_equal(RegGetValueA(HKEY_LOCAL_MACHINE, PERFORMANCE, "Object List", RRF_RT_REG_SZ,
                                  NULL, found, &size),
                     0);
    assert_string_equal(found, list);
    size = sizeof map;
    assert_int_equal(RegOpenKeyExA(HKEY_LOCAL_MACHINE, PERFORMANCE, 0, KEY_ALL_ACCESS, &key), 0);
    assert_int_equal(RegQueryValueExA(key, "Map", NULL, &type, (BYTE *)map, &size), 0);
    assert_int_equal(size, 4 * ROWS * sizeof *map);
    assert_int_equal(map[1], FIRST_ROWS - 1);
    assert_int_equal(map[4], PERF_COUNTER_RAWCOUNT);
    assert_int_equal(map[4 * FIRST_ROWS + 1], ROWS - FIRST_ROWS - 1);
    assert_answers();
    /* stores a different map, as if registered by another version of the library: the values would
     * get wrong names */
    map[4] = PERF_COUNTER_COUNTER;
    assert_int_equal(RegSetValueExA(key, "Map", 0, REG_BINARY, (BYTE *)map, size), 0);
    RegCloseKey(key);
    DWORD(APIENTRY * open)(LPWSTR);
    module_function("Open", &open);
    assert_int_equal(open(NULL), ERROR_INVALID_DATA);
    assert_int_equal(module_call("DllRegisterServer"), 0);
    assert_int_equal(open(NULL), 0);
    assert_int_equal(module_call("DllUnregisterServer"), 0);
}

/* Returns the value of a counter of the second object; -1: the object is absent. */
static long long published(DWORD row)
{
    DWORD(APIENTRY * collect)(LPWSTR, LPVOID *, LPDWORD, LPDWORD);
    static BYTE answer[4096];
    char16_t query[16];
    char digits[16];
    LPVOID data = answer;
    DWORD size = sizeof answer, types, offset, value;
    int i = 0;
    snprintf(digits, sizeof digits, "%u", (unsigned)number("First Counter") + 2 * FIRST_ROWS);
    do
        query[i] = (char16_t)digits[i];
    while (digits[i++]);
    module_function("Collect", &collect);
    assert_int_equal(collect((LPWSTR)query, &data, &size, &types), 0);
    if (types == 0)
        return -1;
    memcpy(&offset, answer + 64 + 40 * (row - 1) + offsetof(PERF_COUNTER_DEFINITION, CounterOffset),
           sizeof offset);
    memcpy(&value, answer + 64 + 40 * (ROWS - FIRST_ROWS - 1) + offset, sizeof value);
    return value;
}

/* A program that knows nothing of counters writes numbers to shared memory, and the sample shows
 * them as counters. */
static void c137_a_program_publishes(void **state)
{
    char command[4200], line[64];
    DWORD(APIENTRY * open)(LPWSTR);
    int ends[2];
    assert_int_equal(module_call("DllRegisterServer"), 0);
    module_function("Open", &open);
    assert_int_equal(open(NULL), 0);
    assert_int_equal(published(1), -1);
    assert_int_equal(pipe(ends), 0);
    snprintf(command, sizeof command, "exec '%s/samples/atl_perf' scribble <&%d %d>&-",
             getenv("BUILD_ROOT"), ends[0], ends[1]);
    FILE *program = popen(command, "r");
    assert_non_null(program);
    close(ends[0]);
    assert_int_equal(write(ends[1], "abc\nde\n", 7), 7);
    assert_non_null(fgets(line, sizeof line, program));
    assert_non_null(fgets(line, sizeof line, program));
    assert_string_equal(line, "stroke 2\n");
    assert_int_equal(published(1), 2);
    assert_int_equal(published(2), 5);
    close(ends[1]);
    assert_int_equal(pclose(program), 0);
    assert_int_equal(published(1), -1);
    assert_int_equal(module_call("DllUnregisterServer"), 0);
}

static int open_all(void **state)
{
    char built[4096];
    lab_open();
    chmod(lab_root, 0755);
    snprintf(path, sizeof path, "%s/atl_perf.so", lab_root);
    snprintf(texts_path, sizeof texts_path, "%s/atl_perf_texts.so", lab_root);
    /* a link, not a copy, because the library needs another library and searches it in the folder
     * of the real file */
    snprintf(built, sizeof built, "%s/samples/atl_perf.so", getenv("BUILD_ROOT"));
    assert_int_equal(symlink(built, path), 0);
    module_load(path);
    return 0;
}

static int close_all(void **state)
{
    RegCloseKey(HKEY_PERFORMANCE_DATA);
    dlclose(module);
    lab_close();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(c80_c82_every_language_has_every_number),
        cmocka_unit_test(c83_a_translation_comes_later),
        cmocka_unit_test(c81_no_language_makes_it_invisible),
        cmocka_unit_test(an_older_version_had_other_rows),
        cmocka_unit_test(a_key_with_more_stays),
        cmocka_unit_test(c136_maps_are_chained_and_stored),
        cmocka_unit_test(c137_a_program_publishes),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
