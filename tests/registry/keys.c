/* SPDX-License-Identifier: MIT */
/* Tests of keys by handles. The test has its own mounts (keys whose content a function computes):
 * mounted keys, computed values, virtual keys. */
#include "test.h"

#include <malloc.h>

#define LANGUAGES "HKEY_LOCAL_MACHINE\\SOFTWARE\\Languages"

static unsigned closed, queried;
static struct buffer written;

static LSTATUS answer_data(const char *path, const char *name, bool wide, DWORD *type, void *data,
                           DWORD *size)
{
    queried++;
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

/* A mount's function: the value of every name is the path that is queried. */
static LSTATUS answer_text(const char *path, const char *name, bool wide, DWORD *type, void *data,
                           DWORD *size)
{
    DWORD need = (DWORD)strlen(path) + 1, capacity = size ? *size : 0;
    if (type)
        *type = REG_MULTI_SZ;
    if (!size)
        return ERROR_INVALID_PARAMETER;
    *size = need;
    if (!data)
        return ERROR_SUCCESS;
    if (capacity < need)
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

static int more_languages;

static LSTATUS each_language(bool (*each)(void *self, const char *name), void *self)
{
    char name[16];
    bool more = each(self, "019") && each(self, "009");
    for (int i = more_languages; more && i > 0; i--) {
        snprintf(name, sizeof name, "%03x", 0x100 + (unsigned)i);
        more = each(self, name);
    }
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
static const struct registry_tables tables = {mounts, computed, virtual_keys};

__attribute__((constructor)) static void hand_down_tables(void)
{
    registry_init(&tables);
}

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
    size = sizeof name; /* as on Windows, no size is large enough for this value's name */
    assert_int_equal(key_enum_value(key, 1, false, name, &size, NULL, NULL, NULL), ERROR_MORE_DATA);
    assert_string_equal(name, "untouched");
    assert_int_equal(size, sizeof name);
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

static void any_number_of_virtual_keys_in_order(void **state)
{
    put("machine/registry.d/a.reg", HEADER "[" LANGUAGES "\\101]\n[" LANGUAGES "\\zz]\n");
    HKEY key = opened("SOFTWARE\\Languages", KEY_READ);
    for (more_languages = 0; more_languages < 70; more_languages++) {
        struct key_info info;
        char name[8], expected[8] = "zz";
        DWORD count = 2 + (DWORD)more_languages + (more_languages ? 1 : 2), size = sizeof name;
        assert_int_equal(key_info(key, false, &info), ERROR_SUCCESS);
        assert_int_equal(info.keys, count);
        assert_int_equal(key_enum_key(key, count - 1, false, name, &size, NULL), ERROR_SUCCESS);
        assert_string_equal(name, expected);
        size = sizeof name;
        snprintf(expected, sizeof expected, "%03x", 0x100 + (more_languages ? more_languages : 1));
        assert_int_equal(key_enum_key(key, count - 2, false, name, &size, NULL), ERROR_SUCCESS);
        assert_string_equal(name, expected);
    }
    more_languages = 0;
    key_close(key);
}

static void put_aged(const char *name, const char *text, time_t seconds, long nanoseconds)
{
    struct timespec times[2] = {
        {seconds, nanoseconds},
        {seconds, nanoseconds}
    };
    put(name, text);
    assert_int_equal(utimensat(AT_FDCWD, path_of(name), times, 0), 0);
}

/* docs/registry.md: a key's last write time is that of the newest file that mentions it. */
static void the_last_write_is_the_newest_files(void **state)
{
    /* in 100 ns since 1601, which is 11,644,473,600 s before 1970 */
    static const int64_t newer = (INT64_C(11644473600) + 2000000000) * 10000000 + 1234567;
    static const int64_t older = (INT64_C(11644473600) + 1000000000) * 10000000;
    put_aged("machine/registry.d/a.reg", HEADER "[" KEY "]\n[" KEY "\\New]\n", 2000000000,
             123456700);
    put_aged("machine/registry.d/b.reg", HEADER "[" KEY "\\Old]\n[" LANGUAGES "\\010]\n",
             1000000000, 0);
    static const struct {
        const char *sub;
        DWORD index;
        int64_t time;
    } rows[] = {
        {"SOFTWARE\\Test",      0, newer},
        {"SOFTWARE\\Test",      1, older},
 /* a virtual key (computed, not stored), which has no time */
        {"SOFTWARE\\Languages", 0, 0    },
        {"SOFTWARE\\Languages", 1, older},
    };
    struct key_info info;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char name[8];
        DWORD size = sizeof name;
        FILETIME time = {1, 1};
        HKEY key = opened(rows[i].sub, KEY_READ);
        assert_int_equal(key_enum_key(key, rows[i].index, false, name, &size, &time), 0);
        assert_int_equal(time.dwLowDateTime, (DWORD)rows[i].time);
        assert_int_equal(time.dwHighDateTime, (DWORD)(rows[i].time >> 32));
        key_close(key);
    }
    HKEY key = opened("SOFTWARE\\Test", KEY_READ);
    assert_int_equal(key_info(key, true, &info), ERROR_SUCCESS);
    assert_int_equal(info.last_write.dwLowDateTime, (DWORD)newer);
    assert_int_equal(info.last_write.dwHighDateTime, (DWORD)(newer >> 32));
    key_close(key);
    key = opened("SOFTWARE\\Languages\\019", KEY_READ);
    assert_int_equal(key_info(key, true, &info), ERROR_SUCCESS);
    assert_int_equal(info.last_write.dwLowDateTime, 0);
    assert_int_equal(info.values, 2);
    assert_int_equal(info.longest_name, 7);
    assert_int_equal(info.keys, 0);
    key_close(key);
}

static void generic_rights_become_those_of_keys(void **state)
{
    static const struct {
        REGSAM queried;
        LSTATUS read, list, write;
    } rows[] = {
        {0x80000000,      0,                   0,                   ERROR_ACCESS_DENIED},
        {0x40000000,      ERROR_ACCESS_DENIED, ERROR_ACCESS_DENIED, 0                  },
        {0x20000000,      0,                   0,                   ERROR_ACCESS_DENIED},
        {0x10000000,      0,                   0,                   0                  },
        {MAXIMUM_ALLOWED, 0,                   0,                   0                  },
        {KEY_QUERY_VALUE, 0,                   ERROR_ACCESS_DENIED, ERROR_ACCESS_DENIED},
        {0,               ERROR_ACCESS_DENIED, ERROR_ACCESS_DENIED, ERROR_ACCESS_DENIED},
    };
    put("machine/registry.d/a.reg", HEADER "[" KEY "\\Sub]\n[" KEY "]\n\"x\"=\"1\"\n");
    for (size_t i = 0; i < COUNT(rows); i++) {
        char name[8];
        DWORD size = sizeof name;
        HKEY key = opened("SOFTWARE\\Test", rows[i].queried);
        assert_int_equal(key_query(key, "x", false, NULL, NULL, NULL), rows[i].read);
        assert_int_equal(key_enum_key(key, 0, false, name, &size, NULL), rows[i].list);
        assert_int_equal(key_set(key, "y", false, REG_SZ, "", 1), rows[i].write);
        key_close(key);
    }
}

/* Several handles of one key are open when it is deleted. In whatever order they are closed, the
 * others still report that the key was deleted. */
static void handles_close_in_any_order(void **state)
{
    static const int orders[][3] = {
        {0, 1, 2},
        {0, 2, 1},
        {1, 0, 2},
        {1, 2, 0},
        {2, 0, 1},
        {2, 1, 0}
    };
    bool existed;
    for (size_t i = 0; i < COUNT(orders); i++) {
        HKEY keys[3];
        for (size_t j = 0; j < COUNT(keys); j++)
            assert_int_equal(
                key_create(HKEY_LOCAL_MACHINE, "SOFTWARE\\Test", KEY_READ, &keys[j], &existed), 0);
        assert_int_equal(key_close(keys[orders[i][0]]), ERROR_SUCCESS);
        assert_int_equal(key_delete(HKEY_LOCAL_MACHINE, "SOFTWARE\\Test"), ERROR_SUCCESS);
        HKEY fresh = NULL; /* a new key of this name does not make the old handles valid again */
        assert_int_equal(
            key_create(HKEY_LOCAL_MACHINE, "SOFTWARE\\Test", KEY_READ, &fresh, &existed), 0);
        assert_false(existed);
        for (size_t j = 1; j < COUNT(keys); j++) {
            HKEY key = keys[orders[i][j]];
            assert_int_equal(key_query(key, "x", false, NULL, NULL, NULL), ERROR_KEY_DELETED);
            assert_int_equal(key_close(key), ERROR_SUCCESS);
            assert_int_equal(key_close(key), ERROR_INVALID_HANDLE);
        }
        assert_int_equal(key_query(fresh, "x", false, NULL, NULL, NULL), ERROR_FILE_NOT_FOUND);
        assert_int_equal(key_close(fresh), ERROR_SUCCESS);
    }
}

size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));

static size_t memory_in_use(void)
{
    return __sanitizer_get_current_allocated_bytes ? __sanitizer_get_current_allocated_bytes()
                                                   : mallinfo2().uordblks;
}

static void a_closed_key_takes_no_memory(void **state)
{
    size_t before = 0;
    put("machine/registry.d/a.reg", HEADER "[" KEY "]\n");
    for (int i = 0; i < 200; i++) {
        if (i == 100)
            before = memory_in_use();
        HKEY key = opened("SOFTWARE\\Test", KEY_READ);
        key_query_all(&(struct key_request){.key = key, .name = "2"}, 1);
        key_close(key);
    }
    assert_true(memory_in_use() < before + 100 * strlen(KEY));
}

/* Values below HKEY_CURRENT_USER are written to the user's layer, all others to the machine's. */
static void each_root_is_written_to_its_layer(void **state)
{
    static const struct {
        HKEY root;
        const char *sub, *file;
    } rows[] = {
        {HKEY_CURRENT_USER,  "Test",           "user/registry.d/manual.reg"   },
        {HKEY_USERS,         "ABCDEF\\Test",   "machine/registry.d/manual.reg"},
        {HKEY_USERS,         "ABC",            "machine/registry.d/manual.reg"},
        {HKEY_LOCAL_MACHINE, "SOFTWARE\\Test", "machine/registry.d/manual.reg"},
    };
    char text[64];
    bool existed;
    HKEY key;
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_int_equal(key_create(rows[i].root, rows[i].sub, KEY_ALL_ACCESS, &key, &existed), 0);
        snprintf(text, sizeof text, "row %zu", i);
        assert_int_equal(key_set(key, text, false, REG_SZ, "1", 2), ERROR_SUCCESS);
        assert_file_has(rows[i].file, text);
        key_close(key);
    }
    assert_non_null(key);
    assert_int_equal(key_create(HKEY_LOCAL_MACHINE, "SOFTWARE\\\x01", KEY_READ, &key, &existed),
                     ERROR_INVALID_PARAMETER);
    assert_null(key);
}

static void assert_listed(const char *sub, size_t count, const char *const *names)
{
    HKEY key = opened(sub, KEY_READ);
    struct key_info info;
    char name[32];
    DWORD size = sizeof name;
    memset(&info, 0xff, sizeof info);
    assert_int_equal(key_info(key, false, &info), ERROR_SUCCESS);
    assert_int_equal(info.values, count);
    for (DWORD i = 0; i < count; i++) {
        size = sizeof name;
        assert_int_equal(key_enum_value(key, i, false, name, &size, NULL, NULL, NULL), 0);
        assert_string_equal(name, names[i]);
    }
    size = sizeof name;
    assert_int_equal(key_enum_value(key, (DWORD)count, false, name, &size, NULL, NULL, NULL),
                     ERROR_NO_MORE_ITEMS);
    key_close(key);
}

static void a_value_that_several_answer_for_is_listed_once(void **state)
{
    static const char *const computed_ones[] = {"own", "last counter", "InstallLanguage"};
    static const char *const mounted_ones[] = {"help", "own", "Counter"};
    put("machine/registry.d/a.reg",
        HEADER "[" LANGUAGES "]\n\"own\"=\"1\"\n\"last counter\"=dword:1\n"
               "[" LANGUAGES "\\019]\n\"help\"=\"2\"\n\"own\"=\"3\"\n");
    assert_listed("SOFTWARE\\Languages", COUNT(computed_ones), computed_ones);
    assert_listed("SOFTWARE\\Languages\\019", COUNT(mounted_ones), mounted_ones);
}

static void a_deletion_spares_what_only_begins_alike(void **state)
{
    bool existed;
    HKEY other, sub;
    assert_int_equal(key_create(HKEY_LOCAL_MACHINE, "SOFTWARE\\Test2", KEY_READ, &other, &existed),
                     0);
    assert_int_equal(
        key_create(HKEY_LOCAL_MACHINE, "SOFTWARE\\Test\\Sub", KEY_READ, &sub, &existed), 0);
    assert_int_equal(key_delete_tree(HKEY_LOCAL_MACHINE, "software\\test"), ERROR_SUCCESS);
    assert_int_equal(key_query(other, "x", false, NULL, NULL, NULL), ERROR_FILE_NOT_FOUND);
    assert_int_equal(key_query(sub, "x", false, NULL, NULL, NULL), ERROR_KEY_DELETED);
    key_close(other);
    key_close(sub);
}

static void the_roots_of_windows_have_their_places(void **state)
{
    static const struct {
        HKEY root;
        const char *path;
    } rows[] = {
        {HKEY_CLASSES_ROOT,   "SOFTWARE\\Classes"                                    },
        {HKEY_CURRENT_CONFIG, "SYSTEM\\CurrentControlSet\\Hardware Profiles\\Current"},
    };
    bool existed;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char path[128];
        HKEY key;
        assert_int_equal(key_create(rows[i].root, "Sub", KEY_ALL_ACCESS, &key, &existed), 0);
        assert_int_equal(key_set(key, "x", false, REG_SZ, "1", 2), ERROR_SUCCESS);
        snprintf(path, sizeof path, "HKEY_LOCAL_MACHINE\\%s\\Sub", rows[i].path);
        assert_text(path, "x", "1");
        assert_int_equal(key_delete(HKEY_LOCAL_MACHINE, rows[i].path), ERROR_ACCESS_DENIED);
        key_close(key);
    }
    put("machine/registry.d/a.reg", HEADER "[HKCR\\.opl]\n@=\"2\"\n");
    assert_text("HKEY_LOCAL_MACHINE\\SOFTWARE\\Classes\\.opl", NULL, "2");
}

static void levels_and_characters_of_a_path_have_limits(void **state)
{
    BUFFER_AUTO path = {0}, deep = {0};
    bool existed;
    HKEY key;
    for (int i = 0; i < LIMIT_KEY_NAME; i++)
        buffer_add_text(&path, "\u20ac");
    assert_int_equal(key_create(HKEY_LOCAL_MACHINE, path.data, KEY_READ, &key, &existed), 0);
    key_close(key);
    buffer_add_byte(&path, 'x');
    assert_int_equal(key_create(HKEY_LOCAL_MACHINE, path.data, KEY_READ, &key, &existed),
                     ERROR_INVALID_PARAMETER);
    for (int i = 0; i < LIMIT_KEY_DEPTH; i++)
        buffer_add_text(&deep, "k\\");
    assert_int_equal(key_open(HKEY_LOCAL_MACHINE, deep.data, KEY_READ, &key), ERROR_FILE_NOT_FOUND);
    buffer_add_text(&deep, "k");
    assert_int_equal(key_open(HKEY_LOCAL_MACHINE, deep.data, KEY_READ, &key),
                     ERROR_INVALID_PARAMETER);
    void *large = calloc(1, (size_t)LIMIT_VALUE_BYTES + 1);
    key = opened("SOFTWARE\\Languages", KEY_ALL_ACCESS);
    assert_int_equal(key_set(key, "x", false, REG_BINARY, large, LIMIT_VALUE_BYTES + 1),
                     ERROR_NO_SYSTEM_RESOURCES);
    key_close(key);
    free(large);
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

/* docs/windows/articles.md#c2, docs/windows/articles.md#c3: the size of a performance query cannot
 * be queried first, so RegGetValue passes the caller's buffer on and queries only once. */
static void get_value_asks_a_query_once(void **state)
{
    char data[8];
    DWORD size = sizeof data, type = 0;
    queried = 0;
    assert_int_equal(
        key_get_value(HKEY_PERFORMANCE_DATA, NULL, "2", false, RRF_RT_ANY, &type, data, &size),
        ERROR_SUCCESS);
    assert_int_equal(queried, 1);
    assert_int_equal(size, 4);
    assert_int_equal(type, REG_BINARY);
    assert_int_equal(
        key_get_value(HKEY_PERFORMANCE_DATA, NULL, "2", false, RRF_RT_REG_SZ, &type, data, &size),
        ERROR_UNSUPPORTED_TYPE);
}

/* Up to eight values are read without allocating memory, more with it. Keys of files have no
 * performance values. */
static void many_values_at_once(void **state)
{
    static const size_t counts[] = {1, 8, 9};
    struct key_request requests[9] = {0};
    struct buffer data[COUNT(requests)] = {0};
    for (size_t k = 0; k < COUNT(counts); k++) {
        for (size_t i = 0; i < counts[k]; i++)
            requests[i] = (struct key_request){
                .key = i % 3 ? opened("SOFTWARE", i % 3 == 1 ? KEY_READ : KEY_SET_VALUE)
                             : HKEY_PERFORMANCE_DATA,
                .name = "2",
                .data = &data[i],
                .status = 99};
        key_query_all(requests, counts[k]);
        for (size_t i = 0; i < counts[k]; i++) {
            static const LSTATUS expected[] = {ERROR_SUCCESS, ERROR_INVALID_HANDLE,
                                               ERROR_ACCESS_DENIED};
            assert_int_equal(requests[i].status, expected[i % 3]);
            if (i % 3)
                assert_int_equal(key_close(requests[i].key), ERROR_SUCCESS);
            else
                assert_memory_equal(data[i].data, "PERF", data[i].len);
            assert_int_equal(data[i].len, i % 3 ? 0 : 4);
        }
    }
    for (size_t i = 0; i < COUNT(data); i++)
        buffer_done(&data[i]);
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
        ROOT_TEST(any_number_of_virtual_keys_in_order),
        ROOT_TEST(the_last_write_is_the_newest_files),
        ROOT_TEST(generic_rights_become_those_of_keys),
        ROOT_TEST(handles_close_in_any_order),
        ROOT_TEST(a_closed_key_takes_no_memory),
        ROOT_TEST(each_root_is_written_to_its_layer),
        ROOT_TEST(a_value_that_several_answer_for_is_listed_once),
        ROOT_TEST(a_deletion_spares_what_only_begins_alike),
        ROOT_TEST(the_roots_of_windows_have_their_places),
        ROOT_TEST(levels_and_characters_of_a_path_have_limits),
        ROOT_TEST(computed_values_over_and_under_the_files),
        ROOT_TEST(get_value_asks_a_query_once),
        ROOT_TEST(many_values_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
