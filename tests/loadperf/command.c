/* SPDX-License-Identifier: MIT */
/* LoadPerfCounterTextStrings and UnloadPerfCounterTextStrings: which command lines are accepted,
 * and what is printed to standard output or standard error. */
#include "test.h"

static char output[2][512]; /* what was printed on descriptors 1 and 2 */

static void begin_capture(int kept[2])
{
    fflush(NULL);
    for (int i = 0; i < 2; i++) {
        kept[i] = dup(i + 1);
        int file = open(path_of(i ? "err" : "out"), O_RDWR | O_CREAT | O_TRUNC, 0600);
        dup2(file, i + 1);
        close(file);
    }
}

static void end_capture(const int kept[2])
{
    fflush(NULL);
    for (int i = 0; i < 2; i++) {
        ssize_t size = pread(i + 1, output[i], sizeof output[i] - 1, 0);
        output[i][size > 0 ? size : 0] = '\0';
        dup2(kept[i], i + 1);
        close(kept[i]);
    }
}

static DWORD captured(DWORD (*command)(const char *, bool), const char *line, bool quiet)
{
    int kept[2];
    begin_capture(kept);
    DWORD status = command(line, quiet);
    end_capture(kept);
    return status;
}

static void line_for(char *line, size_t capacity, const char *format)
{
    snprintf(line, capacity, format, test_root);
}

/* docs/windows/articles.md#c68, Q188769: the first word is skipped, whatever it is. Unless exactly
 * one ini file follows it, the result is ERROR_INVALID_PARAMETER. */
static void c68_the_first_word_is_a_dummy(void **state)
{
    static const char *const bad[] = {
        "",           " ",          "my.ini", "lodctr", "\"lodctr my.ini\"", "lodctr \"my.ini",
        "lodctr a b", "lodctr \"\""};
    for (size_t i = 0; i < COUNT(bad); i++) {
        assert_int_equal(load_command(bad[i], true), ERROR_INVALID_PARAMETER);
        assert_int_equal(unload_command(bad[i], true), ERROR_INVALID_PARAMETER);
    }
}

static void c68_c94_both_do_what_the_tools_do(void **state)
{
    char line[256];
    put_ini(ini_head, ini_texts);
    registry_set(LAYER_MACHINE, PERFORMANCE_KEY, "Library", REG_SZ, "x", 2);
    line_for(line, sizeof line, "lodctr %s/my.ini");
    assert_int_equal(captured(load_command, line, false), ERROR_SUCCESS);
    assert_string_equal(output[0],
                        "MyPerf: loaded, counters 1848 to 1852, explanations 1849 to 1853\n");
    assert_string_equal(output[1], "");
    assert_loaded("MyPerf", 1848, 1852);
    assert_int_equal(captured(load_command, line, false), ERROR_SUCCESS);
    assert_non_null(strstr(output[0], "MyPerf: loaded before"));
    assert_int_equal(captured(unload_command, "x\tMyPerf ", false), ERROR_SUCCESS);
    assert_string_equal(output[0], "MyPerf: unloaded\n");
    assert_not_loaded("MyPerf");
}

static void quiet_prints_nothing(void **state)
{
    char line[256];
    line_for(line, sizeof line, "lodctr %s/my.ini");
    assert_int_equal(captured(load_command, line, true), ERROR_FILE_NOT_FOUND);
    assert_string_equal(output[0], "");
    assert_string_equal(output[1], "");
    put_ini(ini_head, ini_texts);
    registry_set(LAYER_MACHINE, PERFORMANCE_KEY, "Library", REG_SZ, "x", 2);
    assert_int_equal(captured(load_command, line, true), ERROR_SUCCESS);
    assert_string_equal(output[0], "");
}

static void a_failure_is_one_line_on_standard_error(void **state)
{
    char line[256], expected[256];
    put_ini(ini_head, "[text]\nOBJ_009_NAME=a\n");
    put("my.h", "#define OBJ 1\n");
    line_for(line, sizeof line, "lodctr \"%s/my.ini\"");
    assert_int_equal(captured(load_command, line, false), ERROR_INVALID_DATA);
    snprintf(expected, sizeof expected, "lodctr: %s/my.h:1: the offset of OBJ is odd", test_root);
    assert_memory_equal(output[1], expected, strlen(expected));
    assert_ptr_equal(strchr(output[1], '\n'), output[1] + strlen(output[1]) - 1);
    assert_string_equal(output[0], "");
    assert_int_equal(captured(unload_command, "unlodctr Absent", false), ERROR_FILE_NOT_FOUND);
    assert_string_equal(output[1], "unlodctr: Absent: there is no such service\n");
    assert_int_equal(captured(load_command, "alone", false), ERROR_INVALID_PARAMETER);
    assert_non_null(strstr(output[1], "lodctr: the command line must have two words"));
}

/* An ini file's name may be in quotation marks (if it has blanks) and may be a relative path, in
 * the A and in the W function. */
static void names_with_blanks_and_relative_paths(void **state)
{
    static const uint16_t wide[] = u"lodctr \"a folder/m\u00fc y.ini\"";
    char here[512];
    assert_non_null(getcwd(here, sizeof here));
    put("a folder/my.h", symbols_text);
    BUFFER_AUTO text = {0};
    buffer_printf(&text, "%s%s", ini_head, ini_texts);
    put("a folder/mü y.ini", text.data);
    registry_set(LAYER_MACHINE, PERFORMANCE_KEY, "Library", REG_SZ, "x", 2);
    assert_int_equal(chdir(test_root), 0);
    char narrow[] = "\"C:\\Program Files\\lodctr\" \"a folder/mü y.ini\"";
    assert_int_equal(LoadPerfCounterTextStringsA(narrow, TRUE), ERROR_SUCCESS);
    assert_int_equal(unload("MyPerf"), ERROR_SUCCESS);
    assert_int_equal(LoadPerfCounterTextStringsW((LPWSTR)wide, TRUE), ERROR_SUCCESS);
    assert_int_equal(LoadPerfCounterTextStringsW(NULL, TRUE), ERROR_INVALID_PARAMETER);
    assert_int_equal(UnloadPerfCounterTextStringsA(NULL, TRUE), ERROR_INVALID_PARAMETER);
    assert_loaded("MyPerf", 1848, 1852);
    assert_int_equal(chdir(here), 0);
}

static void installed_saved_trusted_and_restored(void **state)
{
    char file[256], library[256], path[256];
    uint16_t wide[256] = {0};
    const LPCWSTR service = (LPCWSTR)u"MyPerf";
    put_ini(ini_head, ini_texts);
    put("my.so", "12345");
    snprintf(file, sizeof file, "%s", path_of("saved.ini"));
    snprintf(library, sizeof library, "%s", path_of("my.so"));
    snprintf(path, sizeof path, "%s", path_of("my.ini"));
    utf8_to_16(file, strlen(file), wide, COUNT(wide));
    registry_set(LAYER_MACHINE, PERFORMANCE_KEY, "Library", REG_SZ, library, strlen(library) + 1);
    assert_int_equal(InstallPerfDllA("elsewhere", path, 0), ERROR_NOT_SUPPORTED);
    assert_int_equal(InstallPerfDllA(NULL, path, 16), ERROR_INVALID_PARAMETER);
    assert_int_equal(InstallPerfDllA(NULL, path, LOADPERF_FLAGS_CREATE_MOF_ONLY), ERROR_SUCCESS);
    assert_not_loaded("MyPerf");
    assert_int_equal(InstallPerfDllA("localhost", path, LOADPERF_FLAGS_LOAD_REGISTRY_ONLY), 0);
    assert_loaded("MyPerf", 1848, 1852);
    assert_int_equal(SetServiceAsTrustedW(NULL, service), ERROR_SUCCESS);
    assert_int_equal(SetServiceAsTrustedA("x", "MyPerf"), ERROR_INVALID_PARAMETER);
    assert_int_equal(BackupPerfRegistryToFileW(wide, (LPCWSTR)u"why"), ERROR_SUCCESS);
    assert_int_equal(unload("MyPerf"), ERROR_SUCCESS);
    assert_int_equal(RestorePerfRegistryFromFileW(wide, (LPCWSTR)u"009"), ERROR_SUCCESS);
    assert_loaded("MyPerf", 1848, 1852);
    assert_name(1853, 9, "My second.");
    assert_int_equal(RestorePerfRegistryFromFileW(NULL, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(BackupPerfRegistryToFileW(NULL, NULL), ERROR_INVALID_PARAMETER);
    put("names.txt", "2\nOther\n");
    snprintf(path, sizeof path, "%s", path_of("names.txt"));
    char english[] = "009";
    assert_int_equal(UpdatePerfNameFilesA(path, NULL, english, 0), ERROR_SUCCESS);
    assert_name(2, 9, "Other");
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
        LOAD_TEST(c68_the_first_word_is_a_dummy),
        LOAD_TEST(c68_c94_both_do_what_the_tools_do),
        LOAD_TEST(quiet_prints_nothing),
        LOAD_TEST(a_failure_is_one_line_on_standard_error),
        LOAD_TEST(names_with_blanks_and_relative_paths),
        LOAD_TEST(installed_saved_trusted_and_restored),
    };
    return cmocka_run_group_tests(tests, NULL, free_all);
}
