/* SPDX-License-Identifier: MIT */
/* Languages are installed and removed; services are enabled and disabled. */
#include "test.h"

static bool add_id(void *self, const char *id)
{
    buffer_printf(self, "%s ", id);
    return true;
}

static void assert_languages(const char *expected)
{
    BUFFER_AUTO ids = {0};
    assert_int_equal(names_each_language(add_id, &ids), ERROR_SUCCESS);
    assert_string_equal(ids.data, expected);
}

static DWORD language(const char *id, bool remove)
{
    opl_load_options options = options_of();
    return opl_load_language(id, remove, &options);
}

static void c107_a_language_is_a_subkey_of_perflib(void **state)
{
    HKEY key;
    const char *sub = "SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Perflib\\007";
    assert_languages("009 ");
    assert_int_equal(key_open(HKEY_LOCAL_MACHINE, sub, KEY_READ, &key), ERROR_FILE_NOT_FOUND);
    assert_int_equal(language("007", false), ERROR_SUCCESS);
    assert_languages("007 009 ");
    assert_int_equal(key_open(HKEY_LOCAL_MACHINE, sub, KEY_READ, &key), ERROR_SUCCESS);
    DWORD size = 0;
    assert_int_equal(key_query(key, "Counter", false, NULL, NULL, &size), ERROR_SUCCESS);
    /* the new language has texts for every index; for now they are English */
    assert_true(size > 20);
    key_close(key);
    assert_int_equal(language("007", false), ERROR_SUCCESS);
    assert_int_equal(language("007", true), ERROR_SUCCESS);
    assert_languages("009 ");
    assert_int_equal(key_open(HKEY_LOCAL_MACHINE, sub, KEY_READ, &key), ERROR_FILE_NOT_FOUND);
    assert_int_equal(language("007", true), ERROR_FILE_NOT_FOUND);
}

static void a_shipped_language_can_go_and_come(void **state)
{
    put("vendor/data/names/019.names", "2\tСистема\n");
    names_forget();
    assert_languages("009 019 ");
    assert_name(2, 0x019, "Система");
    assert_int_equal(language("019", true), ERROR_SUCCESS);
    assert_languages("009 ");
    assert_name(2, 0x019, "System");
    assert_int_equal(language("19", false), ERROR_SUCCESS);
    assert_name(2, 0x019, "Система");
}

/* Texts of a language that is not installed are kept, and appear when it is installed. */
static void texts_wait_for_their_language(void **state)
{
    put_ini("[info]\ndrivername=MyPerf\nsymbolfile=my.h\n[languages]\n009=\n007=\n",
            "[text]\nOBJ_009_NAME=Mine\nOBJ_009_HELP=h\nOBJ_007_NAME=Meins\n");
    assert_int_equal(load_library("my.ini"), ERROR_SUCCESS);
    assert_remark("language 007 is not installed");
    assert_int_equal(result.languages, 1);
    assert_name(1848, 7, "Mine");
    assert_int_equal(language("0407", false), ERROR_SUCCESS);
    assert_name(1848, 7, "Meins");
    assert_name(1849, 7, "h"); /* English, because there is no German text */
    put_service_ini("B");
    assert_int_equal(load_library("B.ini"), ERROR_SUCCESS);
    assert_no_remark("not installed");
    assert_int_equal(language("007", true), ERROR_SUCCESS);
    assert_name(1848, 7, "Mine");
}

/* Names that a program wrote to a language itself are removed together with that language. */
static void texts_by_hand_go_with_their_language(void **state)
{
    static const char base[] = "2\0System\0002000\0Von Hand\0";
    assert_int_equal(language("007", false), ERROR_SUCCESS);
    assert_int_equal(names_store(NAMES_COUNTER, 7, base, sizeof base), ERROR_SUCCESS);
    assert_name(2000, 7, "Von Hand");
    assert_int_equal(language("007", true), ERROR_SUCCESS);
    assert_int_equal(language("007", false), ERROR_SUCCESS);
    assert_name(2000, 7, NULL);
}

static void what_is_no_language(void **state)
{
    static const char *const words[] = {"", "x", "00G", "12345", "000"};
    for (size_t i = 0; i < COUNT(words); i++)
        assert_int_equal(language(words[i], false), ERROR_INVALID_PARAMETER);
    assert_int_equal(language(NULL, false), ERROR_INVALID_PARAMETER);
    assert_int_equal(language("009", true), ERROR_INVALID_PARAMETER);
    assert_remark("English cannot be removed");
    assert_int_equal(language("009", false), ERROR_SUCCESS);
}

/* ---- services ---- */

static DWORD enable(const char *service, bool on)
{
    opl_load_options options = options_of();
    return opl_load_enable(service, on, &options);
}

static void a_service_is_disabled_and_enabled(void **state)
{
    put_ini(ini_head, ini_texts);
    assert_int_equal(load_library("my.ini"), ERROR_SUCCESS);
    assert_int_equal(enable("MyPerf", false), ERROR_SUCCESS);
    assert_int_equal(number_of("MyPerf", "Disable Performance Counters"), 1);
    assert_int_equal(registry_set(LAYER_MACHINE, PERFORMANCE_KEY, "Quarantine", REG_SZ, "x", 2), 0);
    assert_int_equal(registry_set(LAYER_MACHINE, PERFORMANCE_KEY, "Unanswered", REG_SZ, "x", 2), 0);
    assert_int_equal(enable("MyPerf", true), ERROR_SUCCESS);
    assert_int_equal(number_of("MyPerf", "Disable Performance Counters"), 0);
    assert_text(PERFORMANCE_KEY, "Quarantine", NULL);
    assert_text(PERFORMANCE_KEY, "Unanswered", NULL);
    assert_loaded("MyPerf", 1848, 1852);
    assert_int_equal(enable("Absent", true), ERROR_FILE_NOT_FOUND);
    assert_remark("Absent: there is no such service");
    assert_int_equal(enable("", true), ERROR_INVALID_PARAMETER);
}

static int free_all(void **state)
{
    buffer_done(&remarks);
    buffer_done(&written);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOAD_TEST(c107_a_language_is_a_subkey_of_perflib),
        LOAD_TEST(a_shipped_language_can_go_and_come),
        LOAD_TEST(texts_wait_for_their_language),
        LOAD_TEST(texts_by_hand_go_with_their_language),
        LOAD_TEST(what_is_no_language),
        LOAD_TEST(a_service_is_disabled_and_enabled),
    };
    return cmocka_run_group_tests(tests, NULL, free_all);
}
