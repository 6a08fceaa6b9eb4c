/* SPDX-License-Identifier: MIT */
/* The Reg functions for keys: open, create, delete, enumerate, connect, and handles. */
#include "reg.h"

#include <sys/wait.h>

static void a_key_is_made_with_all_above_it(void **state)
{
    HKEY key, again;
    DWORD disposition = 0;
    assert_int_equal(RegCreateKeyExA(HKEY_LOCAL_MACHINE, TEST_KEY "\\a\\b\\c", 0, NULL, 0,
                                     KEY_ALL_ACCESS, NULL, &key, &disposition),
                     ERROR_SUCCESS);
    assert_int_equal(disposition, REG_CREATED_NEW_KEY);
    assert_int_equal(RegCreateKeyExW(HKEY_LOCAL_MACHINE, u"software\\openperflibtest\\A\\B\\C", 0,
                                     NULL, 0, KEY_READ, NULL, &again, &disposition),
                     ERROR_SUCCESS);
    assert_int_equal(disposition, REG_OPENED_EXISTING_KEY);
    assert_int_equal(RegCloseKey(key), ERROR_SUCCESS);
    assert_int_equal(RegCloseKey(again), ERROR_SUCCESS);
    assert_int_equal(RegOpenKeyExA(HKEY_LOCAL_MACHINE, TEST_KEY "\\a\\", 0, KEY_READ, &key), 0);
    assert_int_equal(RegCloseKey(key), ERROR_SUCCESS);
}

static void paths_that_are_refused(void **state)
{
    HKEY key = (HKEY)(uintptr_t)1;
    char longer[300] = TEST_KEY "\\";
    memset(longer + strlen(longer), 'k', 256);
    assert_int_equal(RegOpenKeyExA(HKEY_LOCAL_MACHINE, "\\" TEST_KEY, 0, KEY_READ, &key),
                     ERROR_BAD_PATHNAME);
    assert_null(key);
    assert_int_equal(RegOpenKeyExW(HKEY_LOCAL_MACHINE, u"\\x", 0, KEY_READ, &key),
                     ERROR_BAD_PATHNAME);
    assert_int_equal(RegCreateKeyA(HKEY_LOCAL_MACHINE, "\\x", &key), ERROR_BAD_PATHNAME);
    assert_int_equal(RegOpenKeyExA(HKEY_LOCAL_MACHINE, "a\\\\b", 0, KEY_READ, &key),
                     ERROR_BAD_PATHNAME);
    assert_int_equal(RegOpenKeyExA(HKEY_LOCAL_MACHINE, TEST_KEY "\\none", 0, KEY_READ, &key),
                     ERROR_FILE_NOT_FOUND);
    assert_int_equal(RegCreateKeyA(HKEY_LOCAL_MACHINE, longer, &key), ERROR_INVALID_PARAMETER);
    assert_int_equal(RegCreateKeyA(HKEY_LOCAL_MACHINE, "a\nb", &key), ERROR_INVALID_PARAMETER);
    assert_int_equal(RegOpenKeyExA(HKEY_LOCAL_MACHINE, TEST_KEY, 0, KEY_READ, NULL),
                     ERROR_INVALID_PARAMETER);
    assert_int_equal(RegCreateKeyExA(HKEY_LOCAL_MACHINE, TEST_KEY, 0, NULL, REG_OPTION_VOLATILE,
                                     KEY_READ, NULL, &key, NULL),
                     ERROR_NOT_SUPPORTED);
}

static void open_without_subkey_answers_the_same_key(void **state)
{
    HKEY key = made(KEY_READ), same = NULL;
    assert_int_equal(RegOpenKeyA(key, NULL, &same), ERROR_SUCCESS);
    assert_ptr_equal(key, same);
    assert_int_equal(RegOpenKeyW(key, u"", &same), ERROR_SUCCESS);
    assert_ptr_equal(key, same);
    assert_int_equal(RegCreateKeyW(key, NULL, &same), ERROR_SUCCESS);
    assert_ptr_equal(key, same);
    assert_int_equal(RegOpenKeyA(HKEY_LOCAL_MACHINE, NULL, &same), ERROR_SUCCESS);
    assert_ptr_equal(same, HKEY_LOCAL_MACHINE);
    assert_int_equal(RegCloseKey(key), ERROR_SUCCESS);
}

static void foreign_stale_and_closed_handles(void **state)
{
    HKEY key = made(KEY_READ), result;
    DWORD size = 0;
    int other;
    assert_int_equal(RegCloseKey(key), ERROR_SUCCESS);
    HKEY handles[] = {NULL,
                      key,
                      (HKEY)&other,
                      (HKEY)(uintptr_t)12345,
                      (HKEY)(intptr_t)-1,
                      (HKEY)(uintptr_t)0x80000007,
                      (HKEY)(intptr_t)INT32_MIN + 0x70};
    for (size_t i = 0; i < COUNT(handles); i++) {
        HKEY bad = handles[i];
        assert_int_equal(RegCloseKey(bad), ERROR_INVALID_HANDLE);
        assert_int_equal(RegFlushKey(bad), ERROR_INVALID_HANDLE);
        assert_int_equal(RegOpenKeyExA(bad, "x", 0, KEY_READ, &result), ERROR_INVALID_HANDLE);
        assert_int_equal(RegCreateKeyA(bad, "x", &result), ERROR_INVALID_HANDLE);
        assert_int_equal(RegQueryValueExA(bad, "x", NULL, NULL, NULL, &size), ERROR_INVALID_HANDLE);
        assert_int_equal(RegSetValueExA(bad, "x", 0, REG_SZ, NULL, 0), ERROR_INVALID_HANDLE);
        assert_int_equal(RegDeleteValueA(bad, "x"), ERROR_INVALID_HANDLE);
        assert_int_equal(RegDeleteKeyA(bad, "x"), ERROR_INVALID_HANDLE);
        assert_int_equal(RegDeleteTreeA(bad, "x"), ERROR_INVALID_HANDLE);
        assert_int_equal(RegDeleteTreeA(bad, NULL), ERROR_INVALID_HANDLE);
        assert_int_equal(RegGetValueA(bad, NULL, "x", RRF_RT_ANY, NULL, NULL, NULL),
                         ERROR_INVALID_HANDLE);
        assert_int_equal(
            RegQueryInfoKeyA(bad, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
            ERROR_INVALID_HANDLE);
    }
}

static void a_deleted_key_is_reported(void **state)
{
    HKEY key = made(KEY_ALL_ACCESS), sub, fresh;
    DWORD size = 4;
    char name[4];
    assert_int_equal(RegCreateKeyA(key, "sub", &sub), ERROR_SUCCESS);
    assert_int_equal(RegDeleteTreeA(HKEY_LOCAL_MACHINE, TEST_KEY), ERROR_SUCCESS);
    assert_int_equal(RegQueryValueExA(sub, "x", NULL, NULL, NULL, NULL), ERROR_KEY_DELETED);
    assert_int_equal(RegSetValueExA(key, "x", 0, REG_SZ, (const BYTE *)"", 1), ERROR_KEY_DELETED);
    assert_int_equal(RegEnumKeyExA(key, 0, name, &size, NULL, NULL, NULL, NULL), ERROR_KEY_DELETED);
    assert_int_equal(RegOpenKeyExA(key, "sub", 0, KEY_READ, &fresh), ERROR_KEY_DELETED);
    fresh = made(KEY_READ);
    assert_int_equal(RegQueryValueExA(key, "x", NULL, NULL, NULL, NULL), ERROR_KEY_DELETED);
    assert_int_equal(RegQueryValueExA(fresh, "x", NULL, NULL, NULL, NULL), ERROR_FILE_NOT_FOUND);
    assert_int_equal(RegCloseKey(fresh), ERROR_SUCCESS);
    assert_int_equal(RegCloseKey(key), ERROR_SUCCESS);
    assert_int_equal(RegCloseKey(sub), ERROR_SUCCESS);
}

static void delete_key_refuses_subkeys(void **state)
{
    HKEY key = made(KEY_ALL_ACCESS), sub;
    assert_int_equal(RegCreateKeyA(key, "a\\b", &sub), ERROR_SUCCESS);
    assert_int_equal(RegCloseKey(sub), ERROR_SUCCESS);
    assert_int_equal(RegDeleteKeyA(key, "a"), ERROR_ACCESS_DENIED);
    assert_int_equal(RegDeleteKeyW(key, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(RegDeleteKeyA(key, "none"), ERROR_FILE_NOT_FOUND);
    assert_int_equal(RegDeleteKeyExW(key, u"A\\B", KEY_WOW64_64KEY, 0), ERROR_SUCCESS);
    assert_int_equal(RegDeleteKeyA(key, "a"), ERROR_SUCCESS);
    assert_int_equal(RegOpenKeyExA(key, "a", 0, KEY_READ, &sub), ERROR_FILE_NOT_FOUND);
    assert_int_equal(RegDeleteKeyA(HKEY_LOCAL_MACHINE, ""), ERROR_ACCESS_DENIED);
    assert_int_equal(RegCloseKey(key), ERROR_SUCCESS);
}

static void delete_tree_with_and_without_subkey(void **state)
{
    HKEY key = made(KEY_ALL_ACCESS), sub, reader = made(KEY_READ);
    DWORD keys = 9, values = 9;
    set_text(key, "v", "1");
    assert_int_equal(RegCreateKeyA(key, "a\\b\\c", &sub), ERROR_SUCCESS);
    set_text(sub, "w", "2");
    assert_int_equal(RegCloseKey(sub), ERROR_SUCCESS);
    assert_int_equal(RegDeleteTreeA(reader, NULL), ERROR_ACCESS_DENIED);
    assert_int_equal(RegDeleteTreeW(key, u"a\\b"), ERROR_SUCCESS);
    assert_int_equal(RegOpenKeyExA(key, "a", 0, KEY_READ, &sub), ERROR_SUCCESS);
    assert_int_equal(RegCloseKey(sub), ERROR_SUCCESS);
    assert_int_equal(RegDeleteTreeA(key, NULL), ERROR_SUCCESS);
    assert_int_equal(
        RegQueryInfoKeyA(key, NULL, NULL, NULL, &keys, NULL, NULL, &values, NULL, NULL, NULL, NULL),
        ERROR_SUCCESS);
    assert_int_equal(keys, 0);
    assert_int_equal(values, 0);
    assert_int_equal(RegDeleteTreeA(key, "none"), ERROR_FILE_NOT_FOUND);
    assert_int_equal(RegCloseKey(key), ERROR_SUCCESS);
    assert_int_equal(RegCloseKey(reader), ERROR_SUCCESS);
}

static void subkeys_one_by_one(void **state)
{
    static const char *const names[] = {"beta", "Alpha", "g\303\251ant"};
    HKEY key = made(KEY_ALL_ACCESS), sub;
    char name[16] = "untouched", class_name[4] = "xxx";
    WCHAR wide[16];
    FILETIME time = {0};
    for (size_t i = 0; i < COUNT(names); i++) {
        assert_int_equal(RegCreateKeyA(key, names[i], &sub), ERROR_SUCCESS);
        RegCloseKey(sub);
    }
    DWORD size = 5, class_size = 4;
    assert_int_equal(RegEnumKeyExA(key, 0, name, &size, NULL, NULL, NULL, NULL), ERROR_MORE_DATA);
    assert_int_equal(size, 5);
    assert_string_equal(name, "untouched");
    size = 6;
    assert_int_equal(RegEnumKeyExA(key, 0, name, &size, NULL, class_name, &class_size, &time), 0);
    assert_string_equal(name, "Alpha");
    assert_int_equal(size, 5);
    assert_int_equal(class_size, 0);
    assert_string_equal(class_name, "");
    assert_true(time.dwHighDateTime > 0);
    size = 6;
    assert_int_equal(RegEnumKeyExW(key, 2, wide, &size, NULL, NULL, NULL, NULL), ERROR_SUCCESS);
    assert_memory_equal(wide, u"g\u00e9ant", 12);
    assert_int_equal(size, 5);
    assert_int_equal(RegEnumKeyA(key, 2, name, 6), ERROR_MORE_DATA);
    assert_int_equal(RegEnumKeyA(key, 2, name, 7), ERROR_SUCCESS);
    assert_string_equal(name, names[2]);
    assert_int_equal(RegEnumKeyW(key, 3, wide, COUNT(wide)), ERROR_NO_MORE_ITEMS);
    assert_int_equal(RegEnumKeyA(key, 0, NULL, 9), ERROR_INVALID_PARAMETER);
    assert_int_equal(RegCloseKey(key), ERROR_SUCCESS);
}

static void key_info_in_characters_of_the_form(void **state)
{
    HKEY key = made(KEY_ALL_ACCESS), sub;
    DWORD keys, longest_key, values, longest_name, largest, longest_class = 9, security = 9;
    DWORD class_size = 2;
    WCHAR class_name[2] = u"x";
    assert_int_equal(RegCreateKeyA(key, "\xd0\x96", &sub), ERROR_SUCCESS);
    RegCloseKey(sub);
    set_text(key, "n\xc3\xa4me", "\xe2\x82\xac");
    assert_int_equal(RegQueryInfoKeyA(key, NULL, NULL, NULL, &keys, &longest_key, &longest_class,
                                      &values, &longest_name, &largest, &security, NULL),
                     ERROR_SUCCESS);
    assert_int_equal(keys, 1);
    assert_int_equal(longest_key, 2);
    assert_int_equal(values, 1);
    assert_int_equal(longest_name, 5);
    assert_int_equal(largest, 4);
    assert_int_equal(longest_class, 0);
    assert_int_equal(security, 0);
    assert_int_equal(RegQueryInfoKeyW(key, class_name, &class_size, NULL, &keys, &longest_key, NULL,
                                      &values, &longest_name, &largest, NULL, NULL),
                     ERROR_SUCCESS);
    assert_int_equal(longest_key, 1);
    assert_int_equal(longest_name, 4);
    assert_int_equal(largest, 4);
    assert_int_equal(class_name[0], 0);
    assert_int_equal(RegQueryInfoKeyW(key, class_name, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                                      NULL, NULL, NULL),
                     ERROR_INVALID_PARAMETER);
    assert_int_equal(RegCloseKey(key), ERROR_SUCCESS);
}

static void rights_are_checked(void **state)
{
    HKEY reader = made(KEY_READ), writer = made(KEY_SET_VALUE);
    DWORD size = 8;
    char name[8];
    assert_int_equal(RegSetValueExA(reader, "x", 0, REG_SZ, (const BYTE *)"", 1),
                     ERROR_ACCESS_DENIED);
    assert_int_equal(RegDeleteValueA(reader, "x"), ERROR_ACCESS_DENIED);
    set_text(writer, "x", "1");
    assert_int_equal(RegQueryValueExA(writer, "x", NULL, NULL, NULL, NULL), ERROR_ACCESS_DENIED);
    assert_int_equal(RegEnumKeyExA(writer, 0, name, &size, NULL, NULL, NULL, NULL),
                     ERROR_ACCESS_DENIED);
    assert_int_equal(RegEnumValueA(writer, 0, name, &size, NULL, NULL, NULL, NULL),
                     ERROR_ACCESS_DENIED);
    assert_int_equal(RegFlushKey(reader), ERROR_SUCCESS);
    assert_int_equal(RegCloseKey(reader), ERROR_SUCCESS);
    assert_int_equal(RegOpenKeyExA(writer, "", 0, KEY_READ, &reader), ERROR_SUCCESS);
    assert_int_equal(RegCloseKey(reader), ERROR_SUCCESS);
    assert_int_equal(RegCloseKey(writer), ERROR_SUCCESS);
}

/* docs/windows/articles.md#c28: all these names mean this machine. */
static void c28_connect_to_this_machine_by_its_names(void **state)
{
    char host[256] = "", slashed[260], dotted[300];
    char unc[300];
    gethostname(host, sizeof host - 1);
    snprintf(slashed, sizeof slashed, "\\\\%s", host);
    host[strcspn(host, ".")] = 0;
    snprintf(dotted, sizeof dotted, "%s.", host);
    snprintf(unc, sizeof unc, "\\\\%s", host);
    const char *own[] = {NULL,    "",   ".", "localhost", "\\\\localhost",
                         "\\\\.", host, unc, slashed,     "\\\\127.0.0.1",
                         "::1"};
    HKEY roots[] = {HKEY_LOCAL_MACHINE, HKEY_USERS}, key;
    for (size_t i = 0; i < COUNT(own); i++)
        for (size_t j = 0; j < COUNT(roots); j++) {
            assert_int_equal(RegConnectRegistryA(own[i], roots[j], &key), ERROR_SUCCESS);
            assert_int_equal(RegCloseKey(key), ERROR_SUCCESS);
        }
    const char *foreign[] = {"\\\\else..where.example", "\\localhost", "\\\\\\localhost", dotted};
    for (size_t i = 0; i < COUNT(foreign); i++) {
        assert_int_equal(RegConnectRegistryA(foreign[i], HKEY_LOCAL_MACHINE, &key),
                         ERROR_BAD_NETPATH);
        assert_null(key);
    }
    assert_int_equal(RegConnectRegistryW(u"\\\\localhost", HKEY_PERFORMANCE_DATA, &key), 0);
    assert_ptr_equal(key, HKEY_PERFORMANCE_DATA);
    assert_int_equal(RegConnectRegistryA(NULL, HKEY_CURRENT_USER, &key), ERROR_INVALID_HANDLE);
    assert_int_equal(RegConnectRegistryA(NULL, HKEY_LOCAL_MACHINE, NULL), ERROR_INVALID_PARAMETER);
}

static void the_users_key_has_two_names(void **state)
{
    HKEY key, users;
    char path[64], text[8];
    DWORD size = sizeof text;
    snprintf(path, sizeof path, "S-1-22-1-%lu\\" TEST_KEY, (unsigned long)geteuid());
    assert_int_equal(RegCreateKeyA(HKEY_CURRENT_USER, TEST_KEY, &key), ERROR_SUCCESS);
    set_text(key, "x", "own");
    assert_int_equal(RegOpenKeyExA(HKEY_USERS, path, 0, KEY_READ, &users), ERROR_SUCCESS);
    assert_int_equal(RegQueryValueExA(users, "x", NULL, NULL, (BYTE *)text, &size), ERROR_SUCCESS);
    assert_string_equal(text, "own");
    assert_int_equal(RegCloseKey(users), ERROR_SUCCESS);
    assert_int_equal(RegCloseKey(key), ERROR_SUCCESS);
    char name[32];
    size = sizeof name;
    assert_int_equal(RegEnumKeyExA(HKEY_USERS, 0, name, &size, NULL, NULL, NULL, NULL), 0);
    path[strcspn(path, "\\")] = 0;
    assert_string_equal(name, path);
}

static int tries_that_were_refused(void)
{
    HKEY key;
    int refused = 0;
    refused += RegCreateKeyA(HKEY_LOCAL_MACHINE, TEST_KEY "\\new", &key) == ERROR_ACCESS_DENIED;
    refused +=
        RegOpenKeyExA(HKEY_LOCAL_MACHINE, TEST_KEY, 0, KEY_SET_VALUE, &key) == ERROR_ACCESS_DENIED;
    refused += RegDeleteKeyA(HKEY_LOCAL_MACHINE, TEST_KEY) == ERROR_ACCESS_DENIED;
    if (RegOpenKeyExA(HKEY_LOCAL_MACHINE, TEST_KEY, 0, MAXIMUM_ALLOWED, &key) == ERROR_SUCCESS)
        refused += RegSetValueExA(key, "x", 0, REG_SZ, NULL, 0) == ERROR_ACCESS_DENIED;
    refused += RegQueryValueExA(key, "read", NULL, NULL, NULL, NULL) == ERROR_SUCCESS;
    RegCloseKey(key);
    return refused;
}

/* If the user has no right to write the machine's registry files, a write to HKEY_LOCAL_MACHINE
 * fails with error 5, and does not go to the user's own registry files instead. */
static void no_rights_is_error_5_and_nothing_falls_through(void **state)
{
    char machine[96], user[96];
    int status;
    HKEY key = made(KEY_ALL_ACCESS);
    set_text(key, "read", "me");
    RegCloseKey(key);
    snprintf(machine, sizeof machine, "%s/machine/registry.d", test_root);
    snprintf(user, sizeof user, "%s/user", test_root);
    chmod(test_root, 0755);
    chmod(machine, 0555);
    pid_t child = fork();
    if (!child)
        _exit(geteuid() == 0 && setresuid(65534, 65534, 65534) ? 99 : tries_that_were_refused());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 5);
    chmod(machine, 0755);
    assert_int_equal(access(user, F_OK), -1);
}

/* docs/windows/articles.md#c34: closing a performance key succeeds, however often it is done. */
static void performance_keys_as_observed(void **state)
{
    HKEY key;
    DWORD subkeys = 9, values = 9, size = 2;
    char name[4];
    HKEY text_keys[] = {HKEY_PERFORMANCE_TEXT, HKEY_PERFORMANCE_NLSTEXT};
    assert_int_equal(RegOpenKeyA(HKEY_PERFORMANCE_DATA, NULL, &key), ERROR_INVALID_HANDLE);
    assert_int_equal(RegOpenKeyA(HKEY_PERFORMANCE_DATA, "Global", &key), ERROR_INVALID_HANDLE);
    assert_int_equal(RegQueryInfoKeyA(HKEY_PERFORMANCE_DATA, NULL, NULL, NULL, &subkeys, NULL, NULL,
                                      &values, NULL, NULL, NULL, NULL),
                     ERROR_SUCCESS);
    assert_int_equal(subkeys, 0);
    assert_int_equal(values, 2);
    assert_int_equal(RegEnumValueA(HKEY_PERFORMANCE_DATA, 0, name, &size, NULL, NULL, NULL, NULL),
                     ERROR_MORE_DATA);
    assert_int_equal(size, 2);
    assert_int_equal(RegSetValueExA(HKEY_PERFORMANCE_DATA, "x", 0, REG_SZ, NULL, 0),
                     ERROR_INVALID_HANDLE);
    assert_int_equal(RegEnumKeyA(HKEY_PERFORMANCE_DATA, 0, name, 4), ERROR_INVALID_HANDLE);
    for (size_t i = 0; i < COUNT(text_keys); i++) {
        assert_int_equal(RegSetValueExA(text_keys[i], "x", 0, REG_SZ, NULL, 0), ERROR_BADKEY);
        assert_int_equal(RegEnumKeyA(text_keys[i], 0, name, 4), ERROR_NO_MORE_ITEMS);
        assert_int_equal(RegCloseKey(text_keys[i]), ERROR_SUCCESS);
        assert_int_equal(RegCloseKey(text_keys[i]), ERROR_SUCCESS);
    }
    assert_int_equal(RegCloseKey(HKEY_PERFORMANCE_DATA), ERROR_SUCCESS);
    assert_int_equal(RegCloseKey(HKEY_PERFORMANCE_DATA), ERROR_SUCCESS);
}

static void f_d4_values_of_performance_keys_are_never_listed(void **state)
{
    static const HKEY keys[] = {HKEY_PERFORMANCE_DATA, HKEY_PERFORMANCE_TEXT,
                                HKEY_PERFORMANCE_NLSTEXT};
    char name[64];
    WCHAR wide[64];
    for (size_t i = 0; i < COUNT(keys); i++) {
        DWORD size = sizeof name;
        assert_int_equal(RegEnumValueA(keys[i], 0, name, &size, NULL, NULL, NULL, NULL),
                         ERROR_MORE_DATA);
        assert_int_equal(size, sizeof name);
        size = COUNT(wide);
        assert_int_equal(RegEnumValueW(keys[i], 0, wide, &size, NULL, NULL, NULL, NULL),
                         ERROR_MORE_DATA);
        assert_int_equal(size, COUNT(wide));
        assert_int_equal(RegEnumValueA(keys[i], 0, NULL, &size, NULL, NULL, NULL, NULL),
                         ERROR_INVALID_PARAMETER);
    }
}

static void f_d4_the_old_value_functions(void **state)
{
    HKEY key = made(KEY_ALL_ACCESS);
    char text[16] = "uuuuuuu";
    WCHAR wide[16];
    LONG size = sizeof text;
    assert_int_equal(RegQueryValueA(key, NULL, text, &size), ERROR_SUCCESS); /* no value: empty */
    assert_string_equal(text, "");
    assert_int_equal(size, 1);
    assert_int_equal(RegQueryValueA(key, "none", text, &size), ERROR_FILE_NOT_FOUND);
    assert_int_equal(RegSetValueA(key, "sub\\deep", REG_SZ, "\xc3\xa4x", 99), ERROR_SUCCESS);
    assert_int_equal(RegSetValueA(key, NULL, REG_EXPAND_SZ, "x", 2), ERROR_INVALID_PARAMETER);
    assert_int_equal(RegSetValueA(key, NULL, REG_SZ, NULL, 0), ERROR_INVALID_PARAMETER);
    size = 2;
    assert_int_equal(RegQueryValueA(key, "sub\\deep", text, &size), ERROR_MORE_DATA);
    assert_int_equal(size, 4);
    assert_int_equal(RegQueryValueA(key, "sub\\deep", text, &size), ERROR_SUCCESS);
    assert_string_equal(text, "\xc3\xa4x");
    size = sizeof wide;
    assert_int_equal(RegQueryValueW(key, u"sub\\deep", wide, &size), ERROR_SUCCESS);
    assert_memory_equal(wide, u"\u00e4x", 6);
    assert_int_equal(size, 6);
    assert_int_equal(RegSetValueW(key, u"", REG_SZ, u"y", 0), ERROR_SUCCESS);
    size = sizeof text;
    assert_int_equal(RegQueryValueA(key, "", text, &size), ERROR_SUCCESS);
    assert_string_equal(text, "y");
    assert_int_equal(RegQueryValueA(HKEY_PERFORMANCE_DATA, NULL, text, &size),
                     ERROR_INVALID_HANDLE);
    assert_int_equal(RegSetValueA(HKEY_PERFORMANCE_DATA, NULL, REG_SZ, "x", 1),
                     ERROR_INVALID_HANDLE);
    assert_int_equal(RegCloseKey(key), ERROR_SUCCESS);
}

static uint64_t names_written(void)
{
    HKEY key;
    FILETIME time = {0};
    assert_int_equal(RegOpenKeyExA(HKEY_LOCAL_MACHINE,
                                   "SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Perflib\\009",
                                   0, KEY_READ, &key),
                     ERROR_SUCCESS);
    assert_int_equal(
        RegQueryInfoKeyA(key, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &time),
        ERROR_SUCCESS);
    assert_int_equal(RegCloseKey(key), ERROR_SUCCESS);
    return (uint64_t)time.dwHighDateTime << 32 | time.dwLowDateTime;
}

static void f_d4_new_names_change_the_write_time(void **state)
{
    static const char names[] = "7000\0Melons\0";
    uint64_t before = names_written();
    assert_true(before != 0);
    assert_true(names_written() == before);
    HKEY key;
    /* longer than a clock tick, so that the next write gives the file a different time */
    usleep(20000);
    assert_int_equal(
        RegCreateKeyA(HKEY_LOCAL_MACHINE,
                      "SYSTEM\\CurrentControlSet\\Services\\Melon\\Performance\\Names\\009", &key),
        ERROR_SUCCESS);
    assert_int_equal(
        RegSetValueExA(key, "Counter", 0, REG_MULTI_SZ, (const BYTE *)names, sizeof names),
        ERROR_SUCCESS);
    assert_int_equal(RegCloseKey(key), ERROR_SUCCESS);
    uint64_t with = names_written();
    assert_true(with > before);
    usleep(20000);
    assert_int_equal(
        RegDeleteTreeA(HKEY_LOCAL_MACHINE, "SYSTEM\\CurrentControlSet\\Services\\Melon"),
        ERROR_SUCCESS);
    assert_true(names_written() > with);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLEAN_TEST(a_key_is_made_with_all_above_it),
        CLEAN_TEST(paths_that_are_refused),
        CLEAN_TEST(open_without_subkey_answers_the_same_key),
        CLEAN_TEST(foreign_stale_and_closed_handles),
        CLEAN_TEST(a_deleted_key_is_reported),
        CLEAN_TEST(delete_key_refuses_subkeys),
        CLEAN_TEST(delete_tree_with_and_without_subkey),
        CLEAN_TEST(subkeys_one_by_one),
        CLEAN_TEST(key_info_in_characters_of_the_form),
        CLEAN_TEST(rights_are_checked),
        CLEAN_TEST(c28_connect_to_this_machine_by_its_names),
        CLEAN_TEST(no_rights_is_error_5_and_nothing_falls_through),
        CLEAN_TEST(the_users_key_has_two_names),
        CLEAN_TEST(performance_keys_as_observed),
        CLEAN_TEST(f_d4_values_of_performance_keys_are_never_listed),
        CLEAN_TEST(f_d4_the_old_value_functions),
        CLEAN_TEST(f_d4_new_names_change_the_write_time),
    };
    return cmocka_run_group_tests(tests, make_root, remove_root);
}
