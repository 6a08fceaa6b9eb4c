/* SPDX-License-Identifier: MIT */
/* The Reg functions for values: sizes, A and W forms, types, terminators, enumeration,
 * RegGetValue. */
#include "reg.h"

static void sizes_of_a_query(void **state)
{
    HKEY key = made(KEY_ALL_ACCESS);
    BYTE data[8] = "uuuuuuu";
    DWORD size = 99, type = 99;
    set_text(key, "x", "four");
    assert_int_equal(RegQueryValueExA(key, "X", NULL, &type, NULL, &size), ERROR_SUCCESS);
    assert_int_equal(size, 5);
    assert_int_equal(type, REG_SZ);
    size = 4;
    assert_int_equal(RegQueryValueExA(key, "x", NULL, &type, data, &size), ERROR_MORE_DATA);
    assert_int_equal(size, 5);
    assert_string_equal(data, "uuuuuuu");
    assert_int_equal(RegQueryValueExA(key, "x", NULL, NULL, data, &size), ERROR_SUCCESS);
    assert_string_equal(data, "four");
    assert_int_equal(RegQueryValueExA(key, "x", NULL, NULL, data, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(RegQueryValueExA(key, "x", NULL, NULL, NULL, NULL), ERROR_SUCCESS);
    assert_int_equal(RegQueryValueExA(key, "x", &size, NULL, NULL, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(RegQueryValueExW(key, u"x", &size, NULL, NULL, NULL), ERROR_INVALID_PARAMETER);
    size = 7;
    assert_int_equal(RegQueryValueExA(key, "none", NULL, NULL, data, &size), ERROR_FILE_NOT_FOUND);
    assert_int_equal(size, 7);
    assert_int_equal(RegCloseKey(key), ERROR_SUCCESS);
}

static void text_has_two_forms(void **state)
{
    static const WCHAR text[] = u"\u20ac\U0001F600";
    HKEY key = made(KEY_ALL_ACCESS);
    BYTE data[32];
    DWORD size = sizeof data, type;
    assert_int_equal(RegSetValueExW(key, u"\u00e4", 0, REG_SZ, (const BYTE *)text, sizeof text), 0);
    assert_int_equal(RegQueryValueExA(key, "\xc3\xa4", NULL, &type, data, &size), ERROR_SUCCESS);
    assert_string_equal(data, "\xe2\x82\xac\xf0\x9f\x98\x80");
    assert_int_equal(size, 8);
    size = sizeof data;
    assert_int_equal(RegQueryValueExW(key, u"\u00c4", NULL, &type, data + 1, &size), ERROR_SUCCESS);
    assert_int_equal(size, sizeof text);
    assert_memory_equal(data + 1, text, sizeof text);
    size = sizeof text - 1;
    assert_int_equal(RegQueryValueExW(key, u"\u00c4", NULL, &type, data, &size), ERROR_MORE_DATA);
    assert_int_equal(size, sizeof text);
    assert_int_equal(RegCloseKey(key), ERROR_SUCCESS);
}

static void bytes_stay_as_they_are(void **state)
{
    static const BYTE bytes[] = {0, 1, 0xff, 0, 0x80, '\n'};
    static const DWORD types[] = {REG_NONE, REG_BINARY, REG_DWORD, REG_QWORD, REG_LINK, 0xfffe};
    HKEY key = made(KEY_ALL_ACCESS);
    BYTE data[8];
    for (size_t i = 0; i < COUNT(types); i++) {
        DWORD size = sizeof data, type = 99;
        assert_int_equal(RegSetValueExW(key, u"b", 0, types[i], bytes, sizeof bytes), 0);
        assert_int_equal(RegQueryValueExA(key, "b", NULL, &type, data, &size), ERROR_SUCCESS);
        assert_int_equal(type, types[i]);
        assert_int_equal(size, sizeof bytes);
        assert_memory_equal(data, bytes, sizeof bytes);
    }
    assert_int_equal(RegSetValueExA(key, "empty", 0, REG_BINARY, NULL, 0), ERROR_SUCCESS);
    DWORD size = 5;
    assert_int_equal(RegQueryValueExA(key, "empty", NULL, NULL, data, &size), ERROR_SUCCESS);
    assert_int_equal(size, 0);
    assert_int_equal(RegSetValueExA(key, "x", 0, REG_BINARY, NULL, 1), ERROR_INVALID_PARAMETER);
    assert_int_equal(RegSetValueExA(key, "x", 1, REG_BINARY, bytes, 1), ERROR_INVALID_PARAMETER);
    assert_int_equal(RegSetValueExA(key, "a\nb", 0, REG_BINARY, bytes, 1), ERROR_INVALID_PARAMETER);
    assert_int_equal(RegCloseKey(key), ERROR_SUCCESS);
}

static void terminators_are_the_writers(void **state)
{
    HKEY key = made(KEY_ALL_ACCESS);
    BYTE data[16];
    static const struct {
        DWORD type, size;
    } rows[] = {
        {REG_SZ,        3},
        {REG_SZ,        4},
        {REG_SZ,        8},
        {REG_MULTI_SZ,  5},
        {REG_EXPAND_SZ, 0}
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        DWORD size = sizeof data;
        assert_int_equal(
            RegSetValueExA(key, NULL, 0, rows[i].type, (const BYTE *)"abc\0def\0", rows[i].size),
            ERROR_SUCCESS);
        assert_int_equal(RegQueryValueExA(key, "", NULL, NULL, data, &size), ERROR_SUCCESS);
        assert_int_equal(size, rows[i].size);
        assert_memory_equal(data, "abc\0def\0", size);
    }
    assert_int_equal(RegCloseKey(key), ERROR_SUCCESS);
}

static void values_one_by_one(void **state)
{
    HKEY key = made(KEY_ALL_ACCESS);
    char name[8] = "uuuu";
    WCHAR wide[8];
    BYTE data[8];
    DWORD name_size = 5, size = sizeof data, type = 99;
    set_text(key, "zeta5", "1");
    set_text(key, "", "d");
    set_text(key, "\xc3\xa4", "22");
    assert_int_equal(RegEnumValueA(key, 0, name, &name_size, NULL, &type, data, &size),
                     ERROR_MORE_DATA);
    assert_int_equal(name_size, 5);
    assert_string_equal(name, "uuuu");
    name_size = 6;
    assert_int_equal(RegEnumValueA(key, 0, name, &name_size, NULL, &type, data, &size), 0);
    assert_string_equal(name, "zeta5");
    assert_int_equal(name_size, 5);
    assert_int_equal(size, 2);
    name_size = 1;
    assert_int_equal(RegEnumValueA(key, 1, name, &name_size, NULL, NULL, NULL, NULL), 0);
    assert_string_equal(name, "");
    name_size = 2;
    size = 5;
    assert_int_equal(RegEnumValueW(key, 2, wide, &name_size, NULL, &type, data, &size),
                     ERROR_MORE_DATA);
    assert_int_equal(size, 6);
    assert_int_equal(name_size, 2);
    assert_int_equal(RegEnumValueW(key, 2, wide, &name_size, NULL, &type, data, &size), 0);
    assert_int_equal(name_size, 1);
    assert_memory_equal(data, u"22", 6);
    assert_int_equal(RegEnumValueW(key, 3, wide, &name_size, NULL, NULL, NULL, NULL),
                     ERROR_NO_MORE_ITEMS);
    assert_int_equal(RegEnumValueA(key, 0, NULL, &name_size, NULL, NULL, NULL, NULL),
                     ERROR_INVALID_PARAMETER);
    assert_int_equal(RegEnumValueA(key, 0, name, NULL, NULL, NULL, NULL, NULL),
                     ERROR_INVALID_PARAMETER);
    assert_int_equal(RegEnumValueA(key, 0, name, &name_size, NULL, NULL, data, NULL),
                     ERROR_INVALID_PARAMETER);
    assert_int_equal(RegDeleteValueW(key, u"ZETA5"), ERROR_SUCCESS);
    assert_int_equal(RegDeleteValueA(key, "zeta5"), ERROR_FILE_NOT_FOUND);
    name_size = sizeof name;
    assert_int_equal(RegEnumValueA(key, 0, name, &name_size, NULL, NULL, NULL, NULL), 0);
    assert_string_equal(name, "");
    assert_int_equal(RegCloseKey(key), ERROR_SUCCESS);
}

static void get_value_filters_types(void **state)
{
    HKEY key = made(KEY_ALL_ACCESS);
    DWORD number = 7, size = sizeof number, type = 99, read = 0;
    assert_int_equal(RegSetValueExA(key, "d", 0, REG_DWORD, (const BYTE *)&number, 4), 0);
    assert_int_equal(RegSetValueExA(key, "b", 0, REG_BINARY, (const BYTE *)&number, 3), 0);
    assert_int_equal(
        RegGetValueA(HKEY_LOCAL_MACHINE, TEST_KEY, "d", RRF_RT_REG_DWORD, &type, &read, &size),
        ERROR_SUCCESS);
    assert_int_equal(read, 7);
    assert_int_equal(type, REG_DWORD);
    assert_int_equal(RegGetValueW(key, NULL, u"d", RRF_RT_DWORD, NULL, &read, &size), 0);
    assert_int_equal(RegGetValueA(key, "", "d", RRF_RT_REG_SZ, NULL, &read, &size),
                     ERROR_UNSUPPORTED_TYPE);
    assert_int_equal(read, 7);
    assert_int_equal(
        RegGetValueA(key, "", "d", RRF_RT_REG_SZ | RRF_ZEROONFAILURE, NULL, &read, &size),
        ERROR_UNSUPPORTED_TYPE);
    assert_int_equal(read, 0);
    assert_int_equal(RegGetValueA(key, NULL, "b", RRF_RT_DWORD, NULL, &read, &size),
                     ERROR_DATATYPE_MISMATCH);
    assert_int_equal(RegGetValueA(key, NULL, "b", RRF_RT_ANY, NULL, &read, NULL),
                     ERROR_INVALID_PARAMETER);
    assert_int_equal(RegGetValueA(key, "none", "b", RRF_RT_ANY, NULL, NULL, NULL),
                     ERROR_FILE_NOT_FOUND);
    assert_int_equal(RegCloseKey(key), ERROR_SUCCESS);
}

static void each_type_has_its_filter(void **state)
{
    static const struct {
        DWORD type, flag;
    } rows[] = {
        {REG_NONE,     RRF_RT_REG_NONE    },
        {REG_SZ,       RRF_RT_REG_SZ      },
        {REG_BINARY,   RRF_RT_REG_BINARY  },
        {REG_DWORD,    RRF_RT_REG_DWORD   },
        {REG_MULTI_SZ, RRF_RT_REG_MULTI_SZ},
        {REG_QWORD,    RRF_RT_REG_QWORD   },
        {REG_LINK,     0                  }
    };
    static const BYTE bytes[8] = "1234";
    HKEY key = made(KEY_ALL_ACCESS);
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_int_equal(RegSetValueExA(key, "x", 0, rows[i].type, bytes, 8), ERROR_SUCCESS);
        assert_int_equal(RegGetValueA(key, NULL, "x", RRF_RT_ANY, NULL, NULL, NULL), ERROR_SUCCESS);
        for (size_t j = 0; j < COUNT(rows); j++)
            assert_int_equal(RegGetValueA(key, NULL, "x", rows[j].flag, NULL, NULL, NULL),
                             i == j && rows[i].flag ? ERROR_SUCCESS : ERROR_UNSUPPORTED_TYPE);
    }
    assert_int_equal(RegCloseKey(key), ERROR_SUCCESS);
}

/* RRF_RT_DWORD and RRF_RT_QWORD also accept binary values that have as many bytes as the number. */
static void bytes_stand_for_a_number_of_their_size(void **state)
{
    HKEY key = made(KEY_ALL_ACCESS);
    for (DWORD size = 0; size <= 9; size++) {
        assert_int_equal(RegSetValueExA(key, "b", 0, REG_BINARY, (const BYTE *)"123456789", size),
                         0);
        assert_int_equal(RegGetValueA(key, NULL, "b", RRF_RT_DWORD, NULL, NULL, NULL),
                         size == 4 ? ERROR_SUCCESS : ERROR_DATATYPE_MISMATCH);
        assert_int_equal(RegGetValueA(key, NULL, "b", RRF_RT_QWORD, NULL, NULL, NULL),
                         size == 8 ? ERROR_SUCCESS : ERROR_DATATYPE_MISMATCH);
        assert_int_equal(RegGetValueA(key, NULL, "b", RRF_RT_REG_BINARY, NULL, NULL, NULL), 0);
        assert_int_equal(
            RegGetValueA(key, NULL, "b", RRF_RT_DWORD | RRF_RT_REG_SZ, NULL, NULL, NULL),
            ERROR_SUCCESS);
    }
    assert_int_equal(RegCloseKey(key), ERROR_SUCCESS);
}

static void get_value_below_a_subkey_needs_no_rights_of_the_handle(void **state)
{
    HKEY key = made(KEY_SET_VALUE), sub;
    DWORD number = 7, size = sizeof number, read = 0;
    assert_int_equal(RegCreateKeyA(key, "sub", &sub), ERROR_SUCCESS);
    assert_int_equal(RegSetValueExA(sub, "d", 0, REG_DWORD, (const BYTE *)&number, 4), 0);
    assert_int_equal(RegCloseKey(sub), ERROR_SUCCESS);
    for (int i = 0; i < 100; i++) { /* the call leaves no handle open */
        assert_int_equal(RegGetValueA(key, "sub", "d", RRF_RT_ANY, NULL, &read, &size), 0);
        assert_int_equal(read, 7);
    }
    assert_int_equal(RegGetValueA(key, NULL, "d", RRF_RT_ANY, NULL, &read, &size),
                     ERROR_ACCESS_DENIED);
    assert_int_equal(RegCloseKey(key), ERROR_SUCCESS);
}

/* Only missing terminators are added. */
static void terminators_there_are_none_twice(void **state)
{
    static const struct {
        DWORD type, given, got;
    } rows[] = {
        {REG_SZ,       0, 1},
        {REG_SZ,       3, 4},
        {REG_SZ,       4, 4},
        {REG_SZ,       5, 5},
        {REG_MULTI_SZ, 0, 2},
        {REG_MULTI_SZ, 3, 5},
        {REG_MULTI_SZ, 4, 5},
        {REG_MULTI_SZ, 5, 5},
        {REG_MULTI_SZ, 6, 6},
        {REG_BINARY,   3, 3},
    };
    HKEY key = made(KEY_ALL_ACCESS);
    for (size_t i = 0; i < COUNT(rows); i++) {
        BYTE data[16];
        DWORD size = sizeof data;
        assert_int_equal(
            RegSetValueExA(key, "x", 0, rows[i].type, (const BYTE *)"abc\0\0\0\0", rows[i].given),
            ERROR_SUCCESS);
        assert_int_equal(RegGetValueA(key, NULL, "x", RRF_RT_ANY, NULL, data, &size),
                         ERROR_SUCCESS);
        assert_int_equal(size, rows[i].got);
        size = sizeof data;
        assert_int_equal(RegGetValueW(key, NULL, u"x", RRF_RT_ANY, NULL, data, &size), 0);
        assert_int_equal(size, rows[i].type == REG_BINARY ? 3 : rows[i].got * 2);
    }
    assert_int_equal(RegCloseKey(key), ERROR_SUCCESS);
}

/* docs/registry.md: in a text, bytes that are not UTF-8 are read as U+FFFD; valid characters
 * stay. */
static void text_of_bad_bytes_becomes_readable(void **state)
{
    HKEY key = made(KEY_ALL_ACCESS);
    BYTE data[32];
    DWORD size = sizeof data;
    assert_int_equal(RegSetValueExA(key, "x", 0, REG_SZ, (const BYTE *)"a\xff\xc3\xa4", 5), 0);
    assert_int_equal(RegQueryValueExA(key, "x", NULL, NULL, data, &size), ERROR_SUCCESS);
    assert_int_equal(size, 7);
    assert_memory_equal(data, "a\xef\xbf\xbd\xc3\xa4", 7);
    assert_int_equal(RegCloseKey(key), ERROR_SUCCESS);
}

static void get_value_terminates(void **state)
{
    HKEY key = made(KEY_ALL_ACCESS);
    BYTE data[16];
    DWORD size = sizeof data;
    assert_int_equal(RegSetValueExA(key, "t", 0, REG_SZ, (const BYTE *)"abc", 3), ERROR_SUCCESS);
    assert_int_equal(RegGetValueA(key, NULL, "t", RRF_RT_REG_SZ, NULL, data, &size), ERROR_SUCCESS);
    assert_int_equal(size, 4);
    assert_string_equal(data, "abc");
    size = 3;
    assert_int_equal(RegGetValueA(key, NULL, "t", RRF_RT_REG_SZ, NULL, data, &size),
                     ERROR_MORE_DATA);
    assert_int_equal(size, 4);
    assert_int_equal(RegSetValueExA(key, "m", 0, REG_MULTI_SZ, (const BYTE *)"a\0b", 3), 0);
    size = sizeof data;
    assert_int_equal(RegGetValueW(key, NULL, u"m", RRF_RT_REG_MULTI_SZ, NULL, data, &size), 0);
    assert_int_equal(size, 10);
    assert_memory_equal(data, u"a\0b\0", 10);
    assert_int_equal(RegCloseKey(key), ERROR_SUCCESS);
}

static void get_value_expands(void **state)
{
    HKEY key = made(KEY_ALL_ACCESS);
    char data[64];
    DWORD size = sizeof data, type = 99;
    setenv("OPL_TEST_PLACE", "/there", 1);
    const char text[] = "%OPL_TEST_PLACE%/x%NO_SUCH%50%";
    assert_int_equal(RegSetValueExA(key, "e", 0, REG_EXPAND_SZ, (const BYTE *)text, sizeof text),
                     0);
    assert_int_equal(RegGetValueA(key, NULL, "e", RRF_RT_REG_SZ, &type, data, &size), 0);
    assert_string_equal(data, "/there/x%NO_SUCH%50%");
    assert_int_equal(type, REG_SZ);
    size = sizeof data;
    assert_int_equal(
        RegGetValueA(key, NULL, "e", RRF_RT_REG_EXPAND_SZ | RRF_NOEXPAND, &type, data, &size),
        ERROR_SUCCESS);
    assert_string_equal(data, text);
    assert_int_equal(type, REG_EXPAND_SZ);
    assert_int_equal(RegGetValueA(key, NULL, "e", RRF_RT_REG_EXPAND_SZ, &type, data, &size),
                     ERROR_INVALID_PARAMETER);
    assert_int_equal(RegCloseKey(key), ERROR_SUCCESS);
}

/* What a process writes is in the file, so another process reads the same values. */
static void values_are_in_the_file(void **state)
{
    char path[128], text[4096] = "";
    HKEY key = made(KEY_ALL_ACCESS);
    set_text(key, "Library", "/usr/lib/x.so");
    snprintf(path, sizeof path, "%s/machine/registry.d/manual.reg", test_root);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_true(fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    assert_non_null(strstr(text, "[HKEY_LOCAL_MACHINE\\" TEST_KEY "]\n"
                                 "\"Library\"=\"/usr/lib/x.so\"\n"));
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0644);
    snprintf(path, sizeof path, "%s/machine/registry.d/.lock", test_root);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(RegCloseKey(key), ERROR_SUCCESS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLEAN_TEST(sizes_of_a_query),
        CLEAN_TEST(text_has_two_forms),
        CLEAN_TEST(bytes_stay_as_they_are),
        CLEAN_TEST(terminators_are_the_writers),
        CLEAN_TEST(values_one_by_one),
        CLEAN_TEST(get_value_filters_types),
        CLEAN_TEST(each_type_has_its_filter),
        CLEAN_TEST(bytes_stand_for_a_number_of_their_size),
        CLEAN_TEST(get_value_below_a_subkey_needs_no_rights_of_the_handle),
        CLEAN_TEST(terminators_there_are_none_twice),
        CLEAN_TEST(text_of_bad_bytes_becomes_readable),
        CLEAN_TEST(get_value_terminates),
        CLEAN_TEST(get_value_expands),
        CLEAN_TEST(values_are_in_the_file),
    };
    return cmocka_run_group_tests(tests, make_root, remove_root);
}
