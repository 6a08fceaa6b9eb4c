/* SPDX-License-Identifier: MIT */
/*
 * Edge cases of keys and values, and two processes that use the same registry, as the Win32
 * documents and docs/registry.md describe it.
 */
#include "independent.h"

#define SMILE "\xF0\x9F\x98\x80"

INDEPENDENT(names_beyond_the_basic_plane)
{
    HKEY key = created(HKEY_LOCAL_MACHINE, TEST_KEY "\\" SMILE "key");
    static const WCHAR wide[] = u"v\xD83D\xDE00", lone[] = u"l\xD83D.";
    CHECK_IS(RegSetValueExW(key, wide, 0, REG_SZ, (const BYTE *)wide, sizeof(wide)), 0);
    CHECK_IS(RegSetValueExW(key, lone, 0, REG_SZ, (const BYTE *)lone, sizeof(lone)), 0);
    char text[16] = "";
    DWORD size = sizeof(text);
    CHECK_IS(RegQueryValueExA(key, "V" SMILE, NULL, NULL, (BYTE *)text, &size), 0);
    CHECK(!strcmp(text, "v" SMILE));
    CHECK_IS(size, 6);
    WCHAR name[16];
    DWORD count = 4; /* capacity for three units and the zero */
    CHECK_IS(RegEnumValueW(key, 0, name, &count, NULL, NULL, NULL, NULL), 0);
    CHECK_IS(count, 3);
    CHECK(!memcmp(name, wide, sizeof(wide)));
    WCHAR back[8];
    size = sizeof(back);
    CHECK_IS(RegQueryValueExW(key, lone, NULL, NULL, (BYTE *)back, &size), 0);
    CHECK_IS(size, sizeof(lone));
    CHECK(!memcmp(back, lone, sizeof(lone)));
    DWORD keys = 0, longest = 0;
    HKEY above = created(HKEY_LOCAL_MACHINE, TEST_KEY);
    CHECK_IS(RegQueryInfoKeyW(above, NULL, NULL, NULL, &keys, &longest, NULL, NULL, NULL, NULL,
                              NULL, NULL),
             0);
    CHECK_IS(keys, 1);
    CHECK_IS(longest, 5); /* UTF-16 units */
    CHECK_IS(RegCloseKey(above), 0);
    CHECK_IS(RegCloseKey(key), 0);
}

INDEPENDENT(case_is_folded_for_every_alphabet_but_kept)
{
    HKEY key = created(HKEY_LOCAL_MACHINE, TEST_KEY "\\Größe"), same = NULL;
    CHECK_IS(RegOpenKeyExA(HKEY_LOCAL_MACHINE, TEST_KEY "\\GRÖßE", 0, KEY_READ, &same), 0);
    CHECK_IS(RegCloseKey(same), 0);
    CHECK_IS(set_dword(key, "Память", 1), 0);
    CHECK_IS(set_dword(key, "ПАМЯТЬ", 2), 0);
    CHECK_IS(dword_of(key, "память"), 2);
    char name[64];
    DWORD size = sizeof(name);
    CHECK_IS(RegEnumValueA(key, 0, name, &size, NULL, NULL, NULL, NULL), 0);
    CHECK(!strcmp(name, "Память")); /* the name keeps its first spelling */
    size = sizeof(name);
    CHECK_IS(RegEnumValueA(key, 1, name, &size, NULL, NULL, NULL, NULL), ERROR_NO_MORE_ITEMS);
    CHECK_IS(RegCloseKey(key), 0);
}

INDEPENDENT(the_default_value_has_the_empty_name)
{
    HKEY key = created(HKEY_LOCAL_MACHINE, TEST_KEY);
    DWORD size = 8, type = 77;
    char text[8];
    CHECK_IS(RegQueryValueExA(key, NULL, NULL, &type, (BYTE *)text, &size), ERROR_FILE_NOT_FOUND);
    CHECK_IS(RegSetValueExA(key, NULL, 0, REG_SZ, (const BYTE *)"one", 4), 0);
    size = 8;
    CHECK_IS(RegQueryValueExA(key, "", NULL, &type, (BYTE *)text, &size), 0);
    CHECK(!strcmp(text, "one"));
    CHECK_IS(type, REG_SZ);
    DWORD length = 1;
    CHECK_IS(RegEnumValueA(key, 0, text, &length, NULL, NULL, NULL, NULL), 0);
    CHECK_IS(length, 0);
    CHECK_IS(text[0], 0);
    length = 0; /* no capacity for the zero */
    CHECK_IS(RegEnumValueA(key, 0, text, &length, NULL, NULL, NULL, NULL), ERROR_MORE_DATA);
    size = 8;
    CHECK_IS(RegGetValueA(HKEY_LOCAL_MACHINE, TEST_KEY, NULL, RRF_RT_REG_SZ, NULL, text, &size), 0);
    CHECK_IS(size, 4);
    CHECK_IS(RegDeleteValueA(key, ""), 0);
    CHECK_IS(RegDeleteValueA(key, NULL), ERROR_FILE_NOT_FOUND);
    CHECK_IS(RegCloseKey(key), 0);
}

INDEPENDENT(zeros_within_a_text_are_kept)
{
    HKEY key = created(HKEY_LOCAL_MACHINE, TEST_KEY);
    CHECK_IS(RegSetValueExA(key, "z", 0, REG_SZ, (const BYTE *)"a\0b", 4), 0);
    char back[8];
    DWORD size = sizeof(back);
    CHECK_IS(RegQueryValueExA(key, "z", NULL, NULL, (BYTE *)back, &size), 0);
    CHECK_IS(size, 4);
    CHECK(!memcmp(back, "a\0b", 4));
    WCHAR wide[8];
    size = sizeof(wide);
    CHECK_IS(RegQueryValueExW(key, u"z", NULL, NULL, (BYTE *)wide, &size), 0);
    CHECK_IS(size, 8);
    CHECK(!memcmp(wide, u"a\0b", 8));
    CHECK_IS(RegCloseKey(key), 0);
}

INDEPENDENT(multi_texts_without_their_zeros)
{
    HKEY key = created(HKEY_LOCAL_MACHINE, TEST_KEY);
    CHECK_IS(RegSetValueExA(key, "m", 0, REG_MULTI_SZ, (const BYTE *)"ab\0cd", 5), 0);
    char back[16];
    DWORD size = sizeof(back), type = 0;
    CHECK_IS(RegQueryValueExA(key, "m", NULL, &type, (BYTE *)back, &size), 0);
    CHECK_IS(size, 5);
    memset(back, 'x', sizeof(back));
    size = sizeof(back);
    CHECK_IS(RegGetValueA(key, NULL, "m", RRF_RT_REG_MULTI_SZ, &type, back, &size), 0);
    /* 5 bytes were stored, and both missing zeros were added: the text's and the list's */
    CHECK_IS(size, 7);
    CHECK(!memcmp(back, "ab\0cd\0", 7));
    WCHAR wide[16];
    size = sizeof(wide);
    CHECK_IS(RegGetValueW(key, NULL, u"m", RRF_RT_REG_MULTI_SZ, &type, wide, &size), 0);
    CHECK_IS(size, 14);
    /* a buffer with space for the data but not for the added zeros: nothing is truncated
     * silently */
    size = 5;
    CHECK_IS(RegGetValueA(key, NULL, "m", RRF_RT_REG_MULTI_SZ, &type, back, &size),
             ERROR_MORE_DATA);
    CHECK(size >= 7);
    CHECK_IS(RegCloseKey(key), 0);
}

INDEPENDENT(values_of_no_bytes)
{
    HKEY key = created(HKEY_LOCAL_MACHINE, TEST_KEY);
    static const DWORD types[] = {REG_NONE, REG_SZ, REG_BINARY, REG_DWORD, REG_MULTI_SZ, 0x12345};
    for (size_t i = 0; i < COUNT(types); i++) {
        CHECK_IS(RegSetValueExA(key, "none", 0, types[i], NULL, 0), 0);
        DWORD size = 0, type = 77;
        BYTE untouched[4] = {1, 2, 3, 4};
        CHECK_IS(RegQueryValueExA(key, "none", NULL, &type, untouched, &size), 0);
        CHECK_IS(size, 0);
        CHECK_IS(type, types[i]);
        size = 4;
        CHECK_IS(RegQueryValueExW(key, u"none", NULL, &type, untouched, &size), 0);
        CHECK_IS(size, 0);
        CHECK(!memcmp(untouched, "\1\2\3\4", 4));
        size = 77;
        CHECK_IS(RegQueryValueExA(key, "none", NULL, NULL, NULL, &size), 0);
        CHECK_IS(size, 0);
    }
    CHECK_IS(RegSetValueExA(key, "none", 0, REG_SZ, NULL, 0), 0);
    char text[4] = "xyz";
    DWORD size = sizeof(text);
    CHECK_IS(RegGetValueA(key, NULL, "none", RRF_RT_REG_SZ, NULL, text, &size), 0);
    CHECK_IS(text[0], 0);
    CHECK_IS(size, 1);
    CHECK_IS(RegCloseKey(key), 0);
}

INDEPENDENT(sizes_and_pointers_of_queries)
{
    HKEY key = created(HKEY_LOCAL_MACHINE, TEST_KEY);
    CHECK_IS(RegSetValueExA(key, "v", 0, REG_BINARY, (const BYTE *)"12345678", 8), 0);
    BYTE data[8];
    DWORD size = 7, type = 77;
    CHECK_IS(RegQueryValueExA(key, "v", NULL, &type, data, NULL), ERROR_INVALID_PARAMETER);
    CHECK_IS(RegQueryValueExA(key, "v", NULL, &type, data, &size), ERROR_MORE_DATA);
    CHECK_IS(size, 8);
    CHECK_IS(type, REG_BINARY);
    type = 77;
    CHECK_IS(RegQueryValueExA(key, "v", NULL, &type, NULL, NULL), 0);
    CHECK_IS(type, REG_BINARY);
    DWORD reserved = 0;
    CHECK_IS(RegQueryValueExA(key, "v", &reserved, &type, NULL, NULL), ERROR_INVALID_PARAMETER);
    CHECK_IS(RegEnumValueA(key, 0, NULL, NULL, NULL, NULL, NULL, NULL), ERROR_INVALID_PARAMETER);
    char name[8] = "xxxxxxx";
    DWORD length = 8;
    CHECK_IS(RegEnumValueA(key, 0, name, &length, &reserved, NULL, NULL, NULL),
             ERROR_INVALID_PARAMETER);
    CHECK_IS(RegEnumValueA(key, 0, name, &length, NULL, NULL, data, NULL), ERROR_INVALID_PARAMETER);
    length = 1;
    CHECK_IS(RegEnumValueA(key, 0, name, &length, NULL, NULL, NULL, NULL), ERROR_MORE_DATA);
    length = 8, size = 3;
    CHECK_IS(RegEnumValueA(key, 0, name, &length, NULL, &type, data, &size), ERROR_MORE_DATA);
    CHECK_IS(size, 8);
    CHECK_IS(RegEnumValueA(key, 0xffffffff, name, &length, NULL, NULL, NULL, NULL),
             ERROR_NO_MORE_ITEMS);
    length = 1;
    CHECK_IS(RegEnumKeyExA(HKEY_LOCAL_MACHINE, 0, name, &length, NULL, NULL, NULL, NULL),
             ERROR_MORE_DATA);
    CHECK_IS(RegSetValueExA(key, "v", 0, REG_SZ, NULL, 4) != 0, 1);
    CHECK_IS(RegCloseKey(key), 0);
}

INDEPENDENT(get_value_of_wrong_lengths)
{
    HKEY key = created(HKEY_LOCAL_MACHINE, TEST_KEY);
    BYTE data[16];
    DWORD size, type;
    CHECK_IS(RegSetValueExA(key, "b3", 0, REG_BINARY, (const BYTE *)"123", 3), 0);
    CHECK_IS(RegSetValueExA(key, "b4", 0, REG_BINARY, (const BYTE *)"1234", 4), 0);
    CHECK_IS(RegSetValueExA(key, "d3", 0, REG_DWORD, (const BYTE *)"123", 3), 0);
    size = sizeof(data);
    CHECK_IS(RegGetValueA(key, NULL, "b3", RRF_RT_DWORD, &type, data, &size),
             ERROR_DATATYPE_MISMATCH);
    /* a REG_DWORD value of 3 bytes is accepted: only a binary value must have 4 */
    size = sizeof(data);
    CHECK_IS(RegGetValueA(key, NULL, "d3", RRF_RT_DWORD, &type, data, &size), 0);
    size = sizeof(data);
    CHECK_IS(RegGetValueA(key, NULL, "b4", RRF_RT_DWORD, &type, data, &size), 0);
    CHECK_IS(size, 4);
    CHECK_IS(RegGetValueA(key, NULL, "b4", RRF_RT_ANY, &type, data, NULL), ERROR_INVALID_PARAMETER);
    memset(data, 'x', sizeof(data));
    size = sizeof(data);
    CHECK_IS(RegGetValueA(key, NULL, "b4", RRF_RT_REG_SZ | RRF_ZEROONFAILURE, &type, data, &size),
             ERROR_UNSUPPORTED_TYPE);
    CHECK_IS(data[0], 0);
    CHECK_IS(RegGetValueA(key, "absent", "b4", RRF_RT_ANY, &type, data, &size),
             ERROR_FILE_NOT_FOUND);
    CHECK_IS(RegCloseKey(key), 0);
}

INDEPENDENT(handles_of_all_wrong_kinds)
{
    static const char elsewhere[64] = "not a key";
    HKEY key = created(HKEY_LOCAL_MACHINE, TEST_KEY), copy = key, result;
    CHECK_IS(RegCloseKey(key), 0);
    HKEY wrong[] = {NULL,
                    copy,
                    (HKEY)(uintptr_t)elsewhere,
                    (HKEY)(uintptr_t)1,
                    (HKEY)(intptr_t)-1,
                    (HKEY)(uintptr_t)0x80000099u,
                    OPL_ROOT_KEY(0x80000099),
                    (HKEY)((uintptr_t)copy + 1),
                    (HKEY)((uintptr_t)copy ^ 0x10000)};
    for (size_t i = 0; i < COUNT(wrong); i++) {
        DWORD size = 4, index = 0;
        char name[8];
        CHECK_IS(RegOpenKeyExA(wrong[i], "x", 0, KEY_READ, &result), ERROR_INVALID_HANDLE);
        CHECK_IS(RegQueryValueExA(wrong[i], "x", NULL, NULL, NULL, &size), ERROR_INVALID_HANDLE);
        CHECK_IS(set_dword(wrong[i], "x", 1), ERROR_INVALID_HANDLE);
        CHECK_IS(RegDeleteValueA(wrong[i], "x"), ERROR_INVALID_HANDLE);
        CHECK_IS(RegDeleteTreeA(wrong[i], "x"), ERROR_INVALID_HANDLE);
        CHECK_IS(RegEnumKeyExA(wrong[i], index, name, &size, NULL, NULL, NULL, NULL),
                 ERROR_INVALID_HANDLE);
        CHECK_IS(RegFlushKey(wrong[i]), ERROR_INVALID_HANDLE);
        CHECK_IS(RegCloseKey(wrong[i]), ERROR_INVALID_HANDLE);
    }
    /* HKEY_LOCAL_MACHINE as a 32-bit number and as the same number sign-extended to 64 bits: both
     * are accepted, and no other forms */
    CHECK_IS(RegOpenKeyExA((HKEY)(uintptr_t)0x80000002u, TEST_KEY, 0, KEY_READ, &result), 0);
    CHECK_IS(RegCloseKey(result), 0);
    CHECK_IS(RegOpenKeyExA((HKEY)(uintptr_t)0xffffffff80000002u, TEST_KEY, 0, KEY_READ, &result),
             0);
    CHECK_IS(RegCloseKey(result), 0);
    if (sizeof(HKEY) == 8)
        CHECK_IS(RegOpenKeyExA((HKEY)(uintptr_t)0x180000002u, TEST_KEY, 0, KEY_READ, &result),
                 ERROR_INVALID_HANDLE);
    CHECK_IS(RegCloseKey(HKEY_LOCAL_MACHINE), 0);
    CHECK_IS(RegOpenKeyExA(HKEY_LOCAL_MACHINE, TEST_KEY, 0, KEY_READ, &result), 0);
    CHECK_IS(RegCloseKey(result), 0);
}

INDEPENDENT(many_keys_open_at_once)
{
    enum { MANY = 5000 };
    static HKEY keys[MANY];
    CHECK_IS(RegCloseKey(created(HKEY_LOCAL_MACHINE, TEST_KEY)), 0);
    for (int i = 0; i < MANY; i++)
        if (RegOpenKeyExA(HKEY_LOCAL_MACHINE, TEST_KEY, 0, KEY_READ, &keys[i])) {
            CHECK_IS(i, MANY);
            return;
        }
    for (int i = 0; i < MANY; i++)
        CHECK_IS(RegCloseKey(keys[i]), 0);
    CHECK_IS(RegCloseKey(keys[7]), ERROR_INVALID_HANDLE);
}

/* Runs in the reading process. The other process writes a number to the registry, then sends the
 * same number through the pipe `from`: when it arrives, this process must read the new value at
 * once. */
static void read_on_signal(int from)
{
    HKEY key = NULL;
    unsigned char round;
    int stale = 0;
    CHECK_IS(RegOpenKeyExA(HKEY_LOCAL_MACHINE, TEST_KEY, 0, KEY_READ, &key), 0);
    while (read(from, &round, 1) == 1)
        stale += dword_of(key, "round") < round || dword_of(key, "round") == ~0u;
    CHECK_IS(stale, 0);
    CHECK_IS(RegCloseKey(key), 0);
}

INDEPENDENT(another_process_sees_a_write_at_once)
{
    int pipes[2], status = -1;
    HKEY key = created(HKEY_LOCAL_MACHINE, TEST_KEY);
    CHECK_IS(set_dword(key, "round", 0), 0);
    CHECK_IS(pipe(pipes), 0);
    fflush(NULL);
    pid_t reader = fork();
    if (reader == 0) {
        close(pipes[1]);
        read_on_signal(pipes[0]);
        fflush(NULL);
        _exit(failures != 0);
    }
    close(pipes[0]);
    for (unsigned char round = 1; round <= 100; round++) {
        CHECK_IS(set_dword(key, "round", round), 0);
        CHECK_IS(write(pipes[1], &round, 1), 1);
    }
    close(pipes[1]);
    CHECK_IS(waitpid(reader, &status, 0), reader);
    CHECK_IS(status, 0);
    CHECK_IS(RegCloseKey(key), 0);
}

/* Replaces a .reg file of the registry as package managers do: a new file is renamed over the old
 * one. */
INDEPENDENT(a_replaced_file_is_seen_at_once)
{
    char folder[128], path[192], fresh[192];
    HKEY key = created(HKEY_LOCAL_MACHINE, TEST_KEY);
    snprintf(folder, sizeof(folder), "%s/machine/registry.d", test_root);
    snprintf(path, sizeof(path), "%s/package.reg", folder);
    snprintf(fresh, sizeof(fresh), "%s/package.new", folder);
    umask(022);
    for (int round = 0; round < 20; round++) {
        char text[256];
        snprintf(text, sizeof(text),
                 "Windows Registry Editor Version 5.00\n\n[HKEY_LOCAL_MACHINE\\" TEST_KEY
                 "]\n\"p\"=dword:%08x\n",
                 round);
        temp_write(folder, "package.new", text);
        CHECK_IS(rename(fresh, path), 0);
        CHECK_IS(dword_of(key, "p"), round);
    }
    CHECK_IS(unlink(path), 0);
    CHECK_IS(dword_of(key, "p"), ~0u);
    CHECK_IS(RegCloseKey(key), 0);
}

INDEPENDENT(a_damaged_line_costs_itself_and_is_named)
{
    char folder[128], line[512], log[128];
    HKEY key = created(HKEY_LOCAL_MACHINE, TEST_KEY);
    snprintf(folder, sizeof(folder), "%s/machine/registry.d", test_root);
    snprintf(log, sizeof(log), "%s/events", test_root);
    umask(022);
    temp_write(folder, "odd.reg",
               "Windows Registry Editor Version 5.00\n\n[HKEY_LOCAL_MACHINE\\" TEST_KEY "]\n"
               "\"before\"=dword:00000001\n\"broken\"=dword:zz\n\"after\"=dword:00000002\n");
    CHECK_IS(dword_of(key, "before"), 1);
    CHECK_IS(dword_of(key, "broken"), ~0u);
    CHECK_IS(dword_of(key, "after"), 2);
    FILE *events = fopen(log, "r");
    bool named = false;
    while (events && fgets(line, sizeof(line), events))
        named |= strstr(line, "odd.reg") && strstr(line, "5");
    CHECK(named);
    if (events)
        fclose(events);
    CHECK_IS(RegCloseKey(key), 0);
}

INDEPENDENT(paths_with_odd_backslashes)
{
    HKEY key = created(HKEY_LOCAL_MACHINE, TEST_KEY "\\a\\b"), result = NULL;
    CHECK_IS(RegOpenKeyExA(HKEY_LOCAL_MACHINE, "\\" TEST_KEY, 0, KEY_READ, &result),
             ERROR_BAD_PATHNAME);
    CHECK_IS(RegOpenKeyExW(HKEY_LOCAL_MACHINE, u"\\SOFTWARE", 0, KEY_READ, &result),
             ERROR_BAD_PATHNAME);
    CHECK_IS(RegCreateKeyExA(HKEY_LOCAL_MACHINE, "\\" TEST_KEY, 0, NULL, 0, KEY_READ, NULL, &result,
                             NULL),
             ERROR_BAD_PATHNAME);
    CHECK_IS(RegOpenKeyExA(HKEY_LOCAL_MACHINE, TEST_KEY "\\a\\", 0, KEY_READ, &result), 0);
    CHECK_IS(RegCloseKey(result), 0);
    CHECK_IS(RegOpenKeyExA(HKEY_LOCAL_MACHINE, TEST_KEY "/a", 0, KEY_READ, &result),
             ERROR_FILE_NOT_FOUND);
    CHECK_IS(RegOpenKeyExA(HKEY_LOCAL_MACHINE, TEST_KEY, 0, KEY_READ, NULL) != 0, 1);
    CHECK_IS(RegCloseKey(key), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_beyond_the_basic_plane),
        cmocka_unit_test(case_is_folded_for_every_alphabet_but_kept),
        cmocka_unit_test(the_default_value_has_the_empty_name),
        cmocka_unit_test(zeros_within_a_text_are_kept),
        cmocka_unit_test(multi_texts_without_their_zeros),
        cmocka_unit_test(values_of_no_bytes),
        cmocka_unit_test(sizes_and_pointers_of_queries),
        cmocka_unit_test(get_value_of_wrong_lengths),
        cmocka_unit_test(handles_of_all_wrong_kinds),
        cmocka_unit_test(many_keys_open_at_once),
        cmocka_unit_test(another_process_sees_a_write_at_once),
        cmocka_unit_test(a_replaced_file_is_seen_at_once),
        cmocka_unit_test(a_damaged_line_costs_itself_and_is_named),
        cmocka_unit_test(paths_with_odd_backslashes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
