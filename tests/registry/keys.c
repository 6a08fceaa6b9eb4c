/* SPDX-License-Identifier: MIT */
/* Tests of keys behind handles with tables of our own: mounts, computed values, virtual keys. */
#include "test.h"

#define LANGUAGES "HKEY_LOCAL_MACHINE\\SOFTWARE\\Languages"

static unsigned closed, asked;
static struct buffer written;

static LSTATUS answer_data(const char *path, const char *name, bool wide, DWORD *type, void *data,
                           DWORD *size)
{
    asked++;
    if (type)
        *type = REG_BINARY;
    if (!size)
        return ERROR_INVALID_PARAMETER;
    if (!data || *size < 4)
        return ERROR_MORE_DATA;
    memcpy(data, "PERF", 4);
    *size = 4;
    return ERROR_SUCCESS;
}

/* Answers the path it is asked for. */
static LSTATUS answer_text(const char *path, const char *name, bool wide, DWORD *type, void *data,
                           DWORD *size)
{
    DWORD need = (DWORD)strlen(path) + 1, room = size ? *size : 0;
    if (type)
        *type = REG_MULTI_SZ;
    if (!size)
        return ERROR_INVALID_PARAMETER;
    *size = need;
    if (!data)
        return ERROR_SUCCESS;
    if (room < need)
        return ERROR_MORE_DATA;
    memcpy(data, path, need);
    return ERROR_SUCCESS;
}

static LSTATUS take_text(const char *path, const char *name, uint32_t type, const void *data,
                         size_t size)
{
    buffer_clear(&written);
    buffer_printf(&written, "%s %s %u %.*s", path, name, (unsigned)type, (int)size,
                  (const char *)data);
    return ERROR_SUCCESS;
}

static LSTATUS note_close(void)
{
    closed++;
    return ERROR_SUCCESS;
}

static LSTATUS forty_two(uint32_t *ret_number, struct buffer *ret_text)
{
    *ret_number = 42;
    return ERROR_SUCCESS;
}

static LSTATUS some_text(uint32_t *ret_number, struct buffer *ret_text)
{
    buffer_add_text(ret_text, "0409");
    return ERROR_SUCCESS;
}

static LSTATUS each_language(bool (*each)(void *self, const char *name), void *self)
{
    if (each(self, "019"))
        each(self, "009");
    return ERROR_SUCCESS;
}

static const char *const data_names[] = {"Global", "Costly", NULL};
static const char *const text_names[] = {"Counter", "Help", NULL};
static const struct mount mounts[] = {
    {.path = "HKEY_PERFORMANCE_DATA",
     .predefined = HKEY_PERFORMANCE_DATA,
     .query = answer_data,
     .set_status = ERROR_INVALID_HANDLE,
     .open_status = ERROR_INVALID_HANDLE,
     .enum_key_status = ERROR_INVALID_HANDLE,
     .names = data_names,
     .close = note_close},
    {.path = "HKEY_PERFORMANCE_TEXT",
     .predefined = HKEY_PERFORMANCE_TEXT,
     .query = answer_text,
     .set_status = ERROR_BADKEY,
     .open_status = ERROR_INVALID_HANDLE,
     .enum_key_status = ERROR_NO_MORE_ITEMS,
     .names = text_names},
    {.path = LANGUAGES "\\009",
     .query = answer_text,
     .set = take_text,
     .names = text_names,
     .opens_as = HKEY_PERFORMANCE_TEXT},
    {.path = LANGUAGES "\\*",                 .query = answer_text, .set = take_text, .names = text_names},
    {.path = NULL                                  },
};
static const struct registry_computed computed[] = {
    {LANGUAGES,  "Last Counter", REG_DWORD, forty_two, false},
    {LANGUAGES, "InstallLanguage", REG_SZ, some_text, true},
    {.path = NULL    },
};
static const struct registry_virtual_keys virtual_keys[] = {
    {LANGUAGES, each_language},
    {.path = NULL        }
};
const struct registry_tables registry_tables = {mounts, computed, virtual_keys};

static HKEY opened(const char *sub, REGSAM access)
{
    HKEY key = NULL;
    assert_int_equal(key_open(HKEY_LOCAL_MACHINE, sub, access, &key), ERROR_SUCCESS);
    return key;
}

static void predefined_keys_in_both_extensions(void **state)
{
    char data[4];
    DWORD size = 4, type = 0;
    HKEY zero_extended = (HKEY)(uintptr_t)UINT32_C(0x80000004);
    assert_int_equal(key_query(zero_extended, "2", false, &type, data, &size), ERROR_SUCCESS);
    assert_int_equal(key_query(HKEY_PERFORMANCE_DATA, "2", false, &type, data, &size), 0);
    assert_int_equal(type, REG_BINARY);
    HKEY key;
    assert_int_equal(key_open((HKEY)(uintptr_t)UINT32_C(0x80000002), NULL, KEY_READ, &key), 0);
    assert_int_equal(key_close(key), ERROR_SUCCESS);
    if (sizeof(uintptr_t) > 4) {
        HKEY wrong = (HKEY)(uintptr_t)UINT64_C(0x0000000180000004);
        assert_int_equal(key_query(wrong, "2", false, &type, data, &size), ERROR_INVALID_HANDLE);
    }
}

static void calls_on_the_data_key(void **state)
{
    HKEY key = HKEY_PERFORMANCE_DATA, result = (HKEY)1;
    char name[16] = "untouched";
    DWORD size = 3;
    struct key_info info;
    assert_int_equal(key_open(key, "x", KEY_READ, &result), ERROR_INVALID_HANDLE);
    assert_int_equal(key_open(key, NULL, KEY_READ, &result), ERROR_INVALID_HANDLE);
    assert_int_equal(key_info(key, false, &info), ERROR_SUCCESS);
    assert_int_equal(info.keys, 0);
    assert_int_equal(info.values, 2);
    assert_int_equal(key_enum_value(key, 0, false, name, &size, NULL, NULL, NULL), ERROR_MORE_DATA);
    assert_int_equal(size, 3);
    assert_string_equal(name, "untouched");
    assert_int_equal(key_enum_value(key, 0, false, NULL, &size, NULL, NULL, NULL),
                     ERROR_INVALID_PARAMETER);
    size = sizeof name;
    assert_int_equal(key_enum_value(key, 1, false, name, &size, NULL, NULL, NULL), ERROR_SUCCESS);
    assert_string_equal(name, "Costly");
    assert_int_equal(size, 6);
    size = sizeof name;
    assert_int_equal(key_enum_value(key, 2, false, name, &size, NULL, NULL, NULL),
                     ERROR_NO_MORE_ITEMS);
    assert_int_equal(key_set(key, "x", false, REG_SZ, "", 1), ERROR_INVALID_HANDLE);
    assert_int_equal(key_enum_key(key, 0, false, name, &size, NULL), ERROR_INVALID_HANDLE);
    assert_int_equal(key_delete_value(key, "x"), ERROR_INVALID_HANDLE);
    closed = 0;
    for (int i = 0; i < 3; i++)
        assert_int_equal(key_close(key), ERROR_SUCCESS);
    assert_int_equal(closed, 3);
}

static void calls_on_the_text_key(void **state)
{
    HKEY key = HKEY_PERFORMANCE_TEXT, result;
    char name[16];
    DWORD size = sizeof name;
    assert_int_equal(key_open(key, "x", KEY_READ, &result), ERROR_INVALID_HANDLE);
    assert_int_equal(key_set(key, "x", false, REG_SZ, "", 1), ERROR_BADKEY);
    assert_int_equal(key_enum_key(key, 0, false, name, &size, NULL), ERROR_NO_MORE_ITEMS);
    assert_int_equal(key_close(key), ERROR_SUCCESS);
    assert_int_equal(key_close(key), ERROR_SUCCESS);
}

static void english_opens_as_the_text_key(void **state)
{
    assert_ptr_equal(opened("software\\languages\\009", KEY_READ), HKEY_PERFORMANCE_TEXT);
    assert_ptr_equal(opened("SOFTWARE\\Languages\\009", MAXIMUM_ALLOWED), HKEY_PERFORMANCE_TEXT);
    HKEY parent = opened("SOFTWARE\\Languages", KEY_READ), key;
    assert_int_equal(key_open(parent, "009", KEY_READ, &key), ERROR_SUCCESS);
    assert_ptr_equal(key, HKEY_PERFORMANCE_TEXT);
    key_close(parent);
    key = opened("SOFTWARE\\Languages\\009", KEY_ALL_ACCESS);
    assert_ptr_not_equal(key, HKEY_PERFORMANCE_TEXT);
    assert_int_equal(key_set(key, "counter", false, REG_MULTI_SZ, "a", 2), ERROR_SUCCESS);
    assert_string_equal(written.data, LANGUAGES "\\009 counter 7 a");
    assert_int_equal(key_set(key, "Other", true, REG_SZ, u"b", 4), ERROR_SUCCESS);
    assert_text(LANGUAGES "\\009", "Other", "b");
    key_close(key);
    buffer_done(&written);
}

static void another_language_is_answered_by_its_mount(void **state)
{
    char data[128];
    DWORD size = sizeof data, type;
    HKEY key = opened("SOFTWARE\\Languages\\019", KEY_READ);
    assert_int_equal(key_query(key, "HELP", false, &type, data, &size), ERROR_SUCCESS);
    assert_string_equal(data, LANGUAGES "\\019");
    assert_int_equal(type, REG_MULTI_SZ);
    assert_int_equal(key_query(key, "Other", false, &type, data, &size), ERROR_FILE_NOT_FOUND);
    size = sizeof data;
    DWORD name_size = sizeof data;
    assert_int_equal(key_enum_value(key, 1, false, data, &name_size, &type, NULL, &size), 0);
    assert_string_equal(data, "Help");
    assert_int_equal(size, strlen(LANGUAGES) + 5);
    assert_int_equal(key_set(key, "Help", false, REG_MULTI_SZ, "", 1), ERROR_ACCESS_DENIED);
    key_close(key);
    assert_int_equal(key_open(HKEY_LOCAL_MACHINE, "SOFTWARE\\Languages\\00A", KEY_READ, &key),
                     ERROR_FILE_NOT_FOUND);
    assert_null(key);
    key = opened("SOFTWARE\\Languages\\019", KEY_ALL_ACCESS);
    assert_int_equal(key_set(key, "Help", true, REG_MULTI_SZ, u"\u0416", 4), ERROR_SUCCESS);
    assert_string_equal(written.data, LANGUAGES "\\019 Help 7 \u0416");
    buffer_done(&written);
    assert_int_equal(key_set(key, "Own", false, REG_SZ, "x", 2), ERROR_SUCCESS);
    assert_text(LANGUAGES "\\019", "Own", "x");
    key_close(key);
    assert_int_equal(key_delete(HKEY_LOCAL_MACHINE, "SOFTWARE\\Languages\\019"),
                     ERROR_ACCESS_DENIED);
}

static void virtual_keys_stand_among_the_stored_ones(void **state)
{
    static const char *const expected[] = {"009", "010", "019"};
    put("machine/registry.d/a.reg",
        HEADER "[" LANGUAGES "\\010]\n\"x\"=\"1\"\n[" LANGUAGES "\\019]\n\"x\"=\"2\"\n");
    HKEY key = opened("SOFTWARE\\Languages", KEY_READ);
    struct key_info info;
    char name[8];
    for (DWORD i = 0; i < COUNT(expected); i++) {
        DWORD size = sizeof name;
        assert_int_equal(key_enum_key(key, i, false, name, &size, NULL), ERROR_SUCCESS);
        assert_string_equal(name, expected[i]);
    }
    DWORD size = sizeof name;
    assert_int_equal(key_enum_key(key, 3, false, name, &size, NULL), ERROR_NO_MORE_ITEMS);
    assert_int_equal(key_info(key, false, &info), ERROR_SUCCESS);
    assert_int_equal(info.keys, 3);
    assert_int_equal(info.longest_key, 3);
    assert_int_equal(info.values, 2);
    assert_int_equal(info.longest_name, strlen("InstallLanguage"));
    assert_int_equal(info.largest_data, 5);
    key_close(key);
}

static void computed_values_over_and_under_the_files(void **state)
{
    put("machine/registry.d/a.reg",
        HEADER "[" LANGUAGES "]\n\"Last Counter\"=dword:1\n\"InstallLanguage\"=\"0407\"\n");
    HKEY key = opened("SOFTWARE\\Languages", KEY_READ);
    uint32_t number = 0;
    char text[16], name[32];
    DWORD size = sizeof number, type, name_size = sizeof name;
    assert_int_equal(key_query(key, "last counter", false, &type, &number, &size), ERROR_SUCCESS);
    assert_int_equal(number, 42);
    assert_int_equal(type, REG_DWORD);
    assert_int_equal(key_enum_value(key, 0, false, name, &name_size, &type, &number, &size), 0);
    assert_int_equal(number, 42);
    size = sizeof text;
    assert_int_equal(key_query(key, "InstallLanguage", false, &type, text, &size), ERROR_SUCCESS);
    assert_string_equal(text, "0407");
    unlink(path_of("machine/registry.d/a.reg"));
    size = sizeof text;
    assert_int_equal(key_query(key, "InstallLanguage", false, &type, text, &size), ERROR_SUCCESS);
    assert_string_equal(text, "0409");
    assert_int_equal(size, 5);
    key_close(key);
}

/* C2, C3: the size cannot be asked; RegGetValue hands the caller's buffer on. */
static void get_value_asks_a_query_once(void **state)
{
    char data[8];
    DWORD size = sizeof data, type = 0;
    asked = 0;
    assert_int_equal(
        key_get_value(HKEY_PERFORMANCE_DATA, NULL, "2", false, RRF_RT_ANY, &type, data, &size),
        ERROR_SUCCESS);
    assert_int_equal(asked, 1);
    assert_int_equal(size, 4);
    assert_int_equal(type, REG_BINARY);
    assert_int_equal(
        key_get_value(HKEY_PERFORMANCE_DATA, NULL, "2", false, RRF_RT_REG_SZ, &type, data, &size),
        ERROR_UNSUPPORTED_TYPE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ROOT_TEST(predefined_keys_in_both_extensions),
        ROOT_TEST(calls_on_the_data_key),
        ROOT_TEST(calls_on_the_text_key),
        ROOT_TEST(english_opens_as_the_text_key),
        ROOT_TEST(another_language_is_answered_by_its_mount),
        ROOT_TEST(virtual_keys_stand_among_the_stored_ones),
        ROOT_TEST(computed_values_over_and_under_the_files),
        ROOT_TEST(get_value_asks_a_query_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
