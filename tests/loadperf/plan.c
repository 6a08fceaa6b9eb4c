/* SPDX-License-Identifier: MIT */
/* Mistakes in ini and header files: which are refused, with file and line, and which lines are
 * skipped with a warning (docs/windows/registration.md#e3). */
#include "test.h"

#define HEAD "[info]\ndrivername=MyPerf\nsymbolfile=my.h\n[languages]\n009=\n"

static void put_files(const char *symbols, const char *ini)
{
    put("my.h", symbols);
    put("my.ini", ini);
}

/* Loading my.ini must be refused with this remark; nothing is registered, no file is written. */
static void assert_refused(DWORD status, const char *remark)
{
    assert_int_equal(load_library("my.ini"), status);
    assert_remark(remark);
    assert_not_loaded("MyPerf");
    assert_int_equal(access(path_of("machine/registry.d/MyPerf.reg"), F_OK), -1);
}

static void c66_c97_offsets_that_are_no_offsets(void **state)
{
    put_files("#define A 0\n#define B 3\n", HEAD "[text]\nA_009_NAME=a\nB_009_NAME=b\n");
    assert_refused(ERROR_INVALID_DATA, "error my.h:2: the offset of B is odd");
    put_files("#define A 0\n#define B -2\n", HEAD "[text]\nA_009_NAME=a\nB_009_NAME=b\n");
    assert_refused(ERROR_INVALID_DATA, "error my.h:2: the offset of B is negative");
    put_files("#define A 0\n\n#define B 0\n", HEAD "[text]\nA_009_NAME=a\nB_009_NAME=b\n");
    assert_refused(ERROR_INVALID_DATA,
                   "error my.h:3: B has the offset 0, which A in line 1 has already");
    put_files("#define A 99999999999999\n", HEAD "[text]\nA_009_NAME=a\n");
    assert_refused(ERROR_INVALID_DATA, "error my.h:1: the offset of A is too large");
    put_files("#define A 0x10\n", HEAD "[text]\nA_009_NAME=a\n");
    assert_refused(ERROR_INVALID_DATA, "error my.h:1: A is 0x10: write the offset in decimal");
}

static void an_index_overflow(void **state)
{
    put_files("#define A 0\n#define B 98152\n", HEAD "[text]\nA_009_NAME=a\nB_009_NAME=b\n");
    assert_refused(ERROR_INVALID_DATA,
                   "error my.ini:0: no free numbers: indices up to 1846 are in use");
    put_files("#define A 0\n#define B 98150\n", HEAD "[text]\nA_009_NAME=a\nB_009_NAME=b\n");
    assert_int_equal(load_library("my.ini"), ERROR_SUCCESS);
    assert_loaded("MyPerf", 1848, 99998);
    put_service_ini("Next");
    assert_int_equal(load_library("Next.ini"), ERROR_INVALID_DATA);
    assert_remark("no free numbers: indices up to 99998 are in use");
}

/* Only symbols that a text uses are checked, because headers contain other definitions, too. */
static void unused_symbols_may_be_anything(void **state)
{
    put_files("#define A 0\n#define ODD 3\n#define SAME 0\n#define NEGATIVE -4\n",
              HEAD "[text]\nA_009_NAME=a\nA_009_HELP=h\n");
    assert_int_equal(load_library("my.ini"), ERROR_SUCCESS);
    assert_loaded("MyPerf", 1848, 1848);
}

static void all_mistakes_are_reported_at_once(void **state)
{
    put_files("#define A 1\n#define B 3\n", HEAD "[text]\nA_009_NAME=a\nB_009_NAME=b\n");
    assert_refused(ERROR_INVALID_DATA, "my.h:1: ");
    assert_remark("my.h:2: ");
    assert_true(event_was("LoadPerf\t3009"));
}

static void c63_info_is_complete(void **state)
{
    put_files("#define A 0\n",
              "[info]\nsymbolfile=my.h\n[languages]\n009=\n[text]\nA_009_NAME=a\n");
    assert_refused(ERROR_INVALID_DATA, "error my.ini:0: drivername is missing in [info]");
    put_files("#define A 0\n", "[info]\ndrivername=\nsymbolfile=my.h\n[languages]\n009=\n");
    assert_refused(ERROR_INVALID_DATA, "error my.ini:2: drivername is missing");
    put_files("#define A 0\n", "[info]\ndrivername=a\\b\nsymbolfile=my.h\n[languages]\n009=\n");
    assert_refused(ERROR_INVALID_DATA, "error my.ini:2: \"a\\b\" cannot be the name");
    put_files("#define A 0\n", "[info]\ndrivername=MyPerf\n[languages]\n009=\n");
    assert_refused(ERROR_INVALID_DATA, "error my.ini:0: symbolfile is missing");
    put_files("#define A 0\n",
              "[info]\ndrivername=MyPerf\nsymbolfile=other.h\n[languages]\n009=\n");
    assert_refused(ERROR_FILE_NOT_FOUND, "error my.ini:3: the symbol file \"other.h\"");
    put_files("#define A 0\n",
              "[info]\ndrivername=MyPerf\nsymbolfile=my.h\n[text]\nA_009_NAME=a\n");
    assert_refused(ERROR_INVALID_DATA, "error my.ini:0: [languages] is missing");
    put_files("#define A 0\n", HEAD "[text]\n");
    assert_refused(ERROR_INVALID_DATA, "error my.ini:0: [text] contains no text");
    unlink(path_of("my.ini"));
    assert_refused(ERROR_FILE_NOT_FOUND, "error my.ini:0: cannot be read");
}

static void the_symbol_file_lies_beside_in_any_case(void **state)
{
    put("sub/MYSYM.H", symbols_text);
    put("sub/my.ini", "[info]\ndrivername=MyPerf\nsymbolfile=C:\\src\\mysym.h\n[languages]\n009=\n"
                      "[text]\nTWO_009_NAME=t\n");
    assert_int_equal(load_library("sub/my.ini"), ERROR_SUCCESS);
    assert_loaded("MyPerf", 1848, 1852);
}

/* ---- warnings ---- */

static const char shipped_habits[] =
    "[info]\ndrivername=MyPerf\nsymbolfile=my.h\n[languages]\n009=English\n00C=\n01F=Turkish\n"
    "[objects]\nOBJ_009_NAME=\nGONE_009_NAME=\nTWO_009_NAME=\n[text]\n// a remark\n# another\n"
    "OBJ_009_Name=Mine\nOBJ_009_Help=My object.\nGONE_009_NAME=gone\nONE_009_NAME=First\n"
    "ONE_009_NAME=Again\nno equals sign\nONE_007_NAME=Erster\nODD_KEY=x\nONE_01F_NAME=Bir\n"
    "ONE_01F_HELP=Bir.\n";

static const char *const warnings[] = {
    "warning my.ini:17: GONE is not defined in ",
    "warning my.ini:18: \"First\" has no explanation",
    "warning my.ini:19: line 18 has a text for the same index and language",
    "warning my.ini:20: the line has no =",
    "warning my.ini:21: \"ONE_007_NAME\": the language is not listed",
    "warning my.ini:22: \"ODD_KEY\" is not SYMBOL_LANGUAGE_NAME",
    "warning my.ini:0: language 00C is listed but has no text",
    "warning my.ini:10: [objects]: \"GONE_009_NAME\" is not in the symbol file",
    "warning my.ini:11: [objects]: \"TWO_009_NAME\" has no text",
};

static void c99_what_shipped_files_get_wrong_is_passed_over(void **state)
{
    put_files(symbols_text, shipped_habits);
    assert_int_equal(load_library("my.ini"), ERROR_SUCCESS);
    for (size_t i = 0; i < COUNT(warnings); i++)
        assert_remark(warnings[i]);
    assert_remark("warning my.ini:0: language 01F is not installed");
    assert_no_remark("error");
    assert_loaded("MyPerf", 1848, 1852);
    /* TWO of [objects] has no text there, but is an object nevertheless */
    assert_text(PERFORMANCE_KEY, "Object List", "1848 1852");
    assert_name(1850, 9, "First");
    assert_name(1848, 9, "Mine");
    assert_true(event_was("LoadPerf\t2005"));
}

static void strict_makes_warnings_errors_and_writes_nothing(void **state)
{
    opl_load_options options = options_of();
    options.strict = true;
    put_files(symbols_text, shipped_habits);
    assert_int_equal(load_with("my.ini", options), ERROR_INVALID_DATA);
    assert_remark("error my.ini:17: ");
    put_ini(ini_head, ini_texts);
    buffer_clear(&remarks);
    /* `strict` only checks the files, so the service need not be registered */
    assert_int_equal(load_with("my.ini", options), ERROR_SUCCESS);
    assert_string_equal(remarks.data ? remarks.data : "", "");
    assert_int_equal(result.names, 3);
    assert_int_equal(result.helps, 3);
    assert_int_equal(result.objects, 1);
    assert_string_equal(result.service, "MyPerf");
    assert_int_equal(access(path_of("machine"), F_OK), -1);
    assert_int_equal(access(path_of("events"), F_OK), -1);
}

static void a_missing_help_is_empty(void **state)
{
    put_files(symbols_text, HEAD "[objects]\nOBJ_009_NAME=\n[text]\nOBJ_009_NAME=Mine\n"
                                 "TWO_009_NAME=Second\n");
    assert_int_equal(load_library("my.ini"), ERROR_SUCCESS);
    assert_int_equal(result.helps, 0);
    assert_text(PERFORMANCE_KEY "\\Names\\009", "1853", "");
    assert_name(1853, 9, NULL);
    assert_last(1852); /* Last Help includes the empty explanation */
}

/* There are no English texts, so the French ones are used for English, too. A problem of a French
 * text is reported once, not once for each language. */
static void each_line_is_warned_of_once(void **state)
{
    put_files(symbols_text, "[info]\ndrivername=MyPerf\nsymbolfile=my.h\n[languages]\n00C=\n"
                            "[objects]\nOBJ_00C_NAME=\n[text]\nOBJ_00C_NAME=Mien\n"
                            "ONE_00C_NAME=Premier\nONE_00C_HELP=Aide\nTWO_00C_HELP=De rien\n");
    assert_int_equal(load_library("my.ini"), ERROR_SUCCESS);
    assert_remark("\"Mien\" has no explanation");
    const char *first = strstr(remarks.data, "has no explanation");
    const char *second = strstr(remarks.data, "an explanation without a name");
    assert_non_null(first);
    assert_null(strstr(first + 1, "has no explanation"));
    assert_non_null(second);
    assert_null(strstr(second + 1, "an explanation without a name"));
    assert_name(1850, 9, "Premier");
    assert_name(1848, 9, "Mien");
    assert_name(1853, 9, NULL);
}

static void missing_objects_are_an_event(void **state)
{
    put_files(symbols_text, HEAD "[text]\nOBJ_009_NAME=Mine\nOBJ_009_HELP=x\n");
    assert_int_equal(load_library("my.ini"), ERROR_SUCCESS);
    assert_remark("warning my.ini:0: [objects] is missing or lists no object");
    assert_true(event_was("LoadPerf\t2000"));
    assert_text(PERFORMANCE_KEY, "Object List", NULL);
}

/* docs/windows/articles.md#c65: lodctr of Windows lists an object once for each language; here it
 * is listed once. */
static void c65_objects_once_each_in_order(void **state)
{
    put("vendor/data/names/00C.names", "2\tSystème\n");
    put_files("#define B 6\n#define A 0\n",
              "[info]\ndrivername=MyPerf\nsymbolfile=my.h\n[languages]\n009=\n00C=\n[objects]\n"
              "B_009_NAME=\nB_00C_NAME=\nA_009_NAME=\nA_00C_NAME=\n[text]\nA_009_NAME=a\n"
              "B_009_NAME=b\n");
    assert_int_equal(load_library("my.ini"), ERROR_SUCCESS);
    assert_text(PERFORMANCE_KEY, "Object List", "1848 1854");
    assert_int_equal(result.objects, 2);
}

/* ---- damage ---- */

static int no_sync(int fd)
{
    return 0;
}

static void a_file_cut_anywhere_loads_or_is_refused(void **state)
{
    BUFFER_AUTO text = {0};
    int (*sync)(int fd) = file_steps.sync;
    /* without sync, a thousand registrations are fast; only a power failure could do harm */
    file_steps.sync = no_sync;
    put("my.h", symbols_text);
    buffer_printf(&text, "%s%s", ini_head, ini_texts);
    for (size_t size = 0; size < text.len; size++) {
        put_bytes("my.ini", text.data, size);
        DWORD status = load_library("my.ini");
        if (status == ERROR_SUCCESS)
            assert_int_equal(unload("MyPerf"), ERROR_SUCCESS);
        else
            assert_true(status == ERROR_INVALID_DATA || status == ERROR_FILE_NOT_FOUND);
        assert_not_loaded("MyPerf");
    }
    put("my.ini", text.data);
    for (size_t size = 0; size < strlen(symbols_text); size++) {
        put_bytes("my.h", symbols_text, size);
        DWORD status = load_library("my.ini");
        assert_true(status == ERROR_SUCCESS || status == ERROR_INVALID_DATA);
        if (status == ERROR_SUCCESS)
            assert_int_equal(unload("MyPerf"), ERROR_SUCCESS);
    }
    file_steps.sync = sync;
}

static void random_bytes_do_no_harm(void **state)
{
    unsigned seed = 2026;
    BUFFER_AUTO text = {0};
    put("my.h", symbols_text);
    for (int round = 0; round < 300; round++) {
        buffer_clear(&text);
        buffer_printf(&text, "%s%s", ini_head, ini_texts);
        for (int i = 0; i < 1 + round % 20; i++)
            text.data[(size_t)rand_r(&seed) % text.len] = (char)rand_r(&seed);
        put_bytes("my.ini", text.data, text.len);
        opl_load_options options = options_of();
        options.library = LIBRARY_PATH;
        options.dry_run = true;
        load_with("my.ini", options);
    }
    assert_int_equal(access(path_of("machine/registry.d"), F_OK), -1);
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
        LOAD_TEST(c66_c97_offsets_that_are_no_offsets),
        LOAD_TEST(an_index_overflow),
        LOAD_TEST(unused_symbols_may_be_anything),
        LOAD_TEST(all_mistakes_are_reported_at_once),
        LOAD_TEST(c63_info_is_complete),
        LOAD_TEST(the_symbol_file_lies_beside_in_any_case),
        LOAD_TEST(each_line_is_warned_of_once),
        LOAD_TEST(c99_what_shipped_files_get_wrong_is_passed_over),
        LOAD_TEST(strict_makes_warnings_errors_and_writes_nothing),
        LOAD_TEST(a_missing_help_is_empty),
        LOAD_TEST(missing_objects_are_an_event),
        LOAD_TEST(c65_objects_once_each_in_order),
        LOAD_TEST(a_file_cut_anywhere_loads_or_is_refused),
        LOAD_TEST(random_bytes_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, free_all);
}
