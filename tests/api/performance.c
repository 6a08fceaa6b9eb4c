/* SPDX-License-Identifier: MIT */
/*
 * The performance keys as a program sees them: query strings, sizes, statuses, unchanged outputs,
 * and the block's header. Expected values are from docs/windows: articles.md, queries.md and
 * observed.md.
 */
#include <openperflib/block.h>
#include <windows.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DATA HKEY_PERFORMANCE_DATA
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static unsigned char data[8 << 20];
static DWORD size, type;

static LSTATUS query_key(HKEY key, const char *query)
{
    size = sizeof(data);
    type = 77;
    return RegQueryValueExA(key, query, NULL, &type, data, &size);
}

static LSTATUS run_query(const char *query)
{
    return query_key(DATA, query);
}

static DWORD dword_at(size_t offset)
{
    DWORD value;
    memcpy(&value, data + offset, sizeof(value));
    return value;
}

/* The title indices in the answer, in their order. */
static size_t objects(DWORD found[64])
{
    opl_block block;
    opl_object_view view = {0};
    size_t count = 0;
    assert_int_equal(opl_block_init(&block, data, size), OPL_BLOCK_GOOD);
    while (count < 64 && opl_block_next_object(&block, &view))
        found[count++] = view.type.ObjectNameTitleIndex;
    assert_int_equal(block.fault, OPL_BLOCK_GOOD);
    return count;
}

static bool has(DWORD index)
{
    DWORD found[64];
    size_t count = objects(found);
    for (size_t i = 0; i < count; i++)
        if (found[i] == index)
            return true;
    return false;
}

static void assert_only(const char *query, const DWORD *wanted, size_t count)
{
    DWORD found[64];
    assert_int_equal(run_query(query), 0);
    assert_int_equal(objects(found), count);
    for (size_t i = 0; i < count; i++)
        assert_true(has(wanted[i]));
}

static void c2_the_query_needs_no_open_key(void **state)
{
    assert_int_equal(run_query("238"), 0);
    assert_int_equal(type, REG_BINARY);
    assert_true(has(238));
}

static void c4_c12_the_header_is_as_windows_writes_it(void **state)
{
    assert_int_equal(run_query("2"), 0);
    PERF_DATA_BLOCK header;
    memcpy(&header, data, sizeof(header));
    assert_memory_equal(data, "P\0E\0R\0F\0", 8);
    assert_int_equal(header.LittleEndian, 1);
    assert_int_equal(header.Version, 1);
    assert_int_equal(header.Revision, 1);
    assert_int_equal(header.TotalByteLength, size);
    assert_int_equal(header.DefaultObject, 238);
    assert_int_equal(header.SystemNameOffset, 88);
    assert_int_equal(header.HeaderLength, (88 + header.SystemNameLength + 7) / 8 * 8);
    assert_int_equal(header.PerfFreq.QuadPart, 10000000);
    assert_int_equal(header.NumObjectTypes, 1);
}

static void c12_the_system_name_is_get_computer_names(void **state)
{
    WCHAR name[MAX_COMPUTERNAME_LENGTH + 1];
    DWORD count = COUNT(name);
    assert_true(GetComputerNameW(name, &count));
    assert_int_equal(run_query("2"), 0);
    assert_int_equal(dword_at(80), (count + 1) * 2);
    assert_memory_equal(data + 88, name, (count + 1) * 2);
}

static void the_header_clocks_are_of_this_moment(void **state)
{
    LARGE_INTEGER before, after, frequency;
    FILETIME now;
    SYSTEMTIME parts;
    PERF_DATA_BLOCK header;
    QueryPerformanceCounter(&before);
    GetSystemTimeAsFileTime(&now);
    assert_int_equal(run_query("2"), 0);
    QueryPerformanceCounter(&after);
    QueryPerformanceFrequency(&frequency);
    GetSystemTime(&parts);
    memcpy(&header, data, sizeof(header));
    assert_true(header.PerfTime.QuadPart >= before.QuadPart);
    assert_true(header.PerfTime.QuadPart <= after.QuadPart);
    assert_int_equal(header.PerfFreq.QuadPart, frequency.QuadPart);
    int64_t moment = (int64_t)now.dwHighDateTime << 32 | now.dwLowDateTime;
    assert_in_range(header.PerfTime100nSec.QuadPart - moment, 0, 20000000);
    assert_int_equal(header.SystemTime.wYear, parts.wYear);
    assert_true(header.SystemTime.wMonth >= 1 && header.SystemTime.wMonth <= 12);
}

static void c3_c109_the_size_cannot_be_asked(void **state)
{
    static const char *const names[] = {NULL, "", "Global", "2", "nonsense"};
    for (size_t i = 0; i < COUNT(names); i++)
        for (DWORD given = 0; given <= 10; given += 10) {
            size = given;
            type = 77;
            assert_int_equal(RegQueryValueExA(DATA, names[i], NULL, &type, NULL, &size),
                             ERROR_MORE_DATA);
            assert_int_equal(size, given);
        }
}

static void c3_a_small_buffer_leaves_size_and_names_the_type(void **state)
{
    static const DWORD sizes[] = {0, 10, 100};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        size = sizes[i];
        type = 77;
        assert_int_equal(RegQueryValueExA(DATA, "Global", NULL, &type, data, &size),
                         ERROR_MORE_DATA);
        assert_int_equal(size, sizes[i]);
        assert_int_equal(type, REG_BINARY);
    }
}

static void the_size_pointer_is_required(void **state)
{
    assert_int_equal(RegQueryValueExA(DATA, "Global", NULL, NULL, data, NULL),
                     ERROR_INVALID_PARAMETER);
    assert_int_equal(RegQueryValueExW(DATA, u"Global", NULL, NULL, NULL, NULL),
                     ERROR_INVALID_PARAMETER);
}

static void no_byte_behind_the_answer_is_touched(void **state)
{
    assert_int_equal(run_query("238"), 0);
    DWORD needed = size;
    for (DWORD capacity = needed - 8; capacity <= needed; capacity += 8) {
        memset(data, 0xEE, sizeof(data));
        size = capacity;
        RegQueryValueExA(DATA, "238", NULL, NULL, data, &size);
        for (DWORD i = capacity; i < capacity + 2000; i++)
            assert_int_equal(data[i], 0xEE);
    }
}

static void c50_nonsense_succeeds_with_an_empty_block(void **state)
{
    static const char *const names[] = {"ABCD", "EFGHIJ", "Globally", "-1", "0x2", "99999"};
    for (size_t i = 0; i < COUNT(names); i++) {
        assert_int_equal(run_query(names[i]), 0);
        assert_int_equal(type, REG_BINARY);
        assert_int_equal(dword_at(28), 0);
        assert_int_equal(size, dword_at(24));
        assert_int_equal(dword_at(32), 238);
    }
}

static void c30_global_has_the_system_objects(void **state)
{
    static const DWORD wanted[] = {2, 4, 230, 232, 238};
    static const char *const names[] = {"Global", "GLOBAL", "global", "", NULL};
    for (size_t n = 0; n < COUNT(names); n++) {
        assert_int_equal(run_query(names[n]), 0);
        for (size_t i = 0; i < COUNT(wanted); i++)
            assert_true(has(wanted[i]));
    }
}

static void c31_lists_in_any_order_with_duplicates(void **state)
{
    static const DWORD two[] = {2, 238};
    assert_only("2 238", two, 2);
    assert_only("238 2", two, 2);
    assert_only("  2   238  2 ", two, 2);
    assert_only("2 99998 238", two, 2);
}

static void c31_c111_thread_brings_process(void **state)
{
    static const DWORD both[] = {230, 232};
    static const DWORD process[] = {230};
    assert_only("232", both, 2);
    assert_only("230", process, 1);
    assert_only("232 230", both, 2);
}

static void c32_foreign_machines_have_nothing_here(void **state)
{
    assert_int_equal(run_query("Foreign ODDBALL"), 0);
    assert_int_equal(dword_at(28), 0);
    assert_int_equal(run_query("foreign oddball 2"), 0);
    assert_int_equal(dword_at(28), 0);
}

static void text_and_nlstext_answer_data_queries_too(void **state)
{
    static const HKEY keys[] = {HKEY_PERFORMANCE_TEXT, HKEY_PERFORMANCE_NLSTEXT};
    for (size_t i = 0; i < COUNT(keys); i++) {
        assert_int_equal(query_key(keys[i], "238"), 0);
        assert_true(has(238));
        size = 10;
        assert_int_equal(RegQueryValueExA(keys[i], "Global", NULL, NULL, NULL, &size),
                         ERROR_MORE_DATA);
        assert_int_equal(size, 10);
    }
}

/* ---- names ---- */

static const char *name_of(const char *multi, DWORD index)
{
    char wanted[16];
    snprintf(wanted, sizeof(wanted), "%u", index);
    while (*multi) {
        const char *text = multi + strlen(multi) + 1;
        if (strcmp(multi, wanted) == 0)
            return text;
        multi = text + strlen(text) + 1;
    }
    return NULL;
}

static void c22_c24_names_by_the_key(void **state)
{
    assert_int_equal(run_query("Counter 009"), 0);
    assert_int_equal(type, REG_MULTI_SZ);
    assert_string_equal((char *)data, "1");
    assert_string_equal((char *)data + 2, "1847");
    assert_string_equal(name_of((char *)data, 2), "System");
    assert_string_equal(name_of((char *)data, 6), "% Processor Time");
    assert_int_equal(data[size - 1], 0);
    assert_int_equal(data[size - 2], 0);
}

static void c108_the_size_of_names_can_be_asked(void **state)
{
    DWORD needed = 0;
    assert_int_equal(RegQueryValueExA(DATA, "Counter 009", NULL, &type, NULL, &needed), 0);
    assert_int_equal(run_query("Counter 009"), 0);
    assert_int_equal(size, needed);
    size = 10;
    assert_int_equal(RegQueryValueExA(DATA, "Counter 009", NULL, NULL, data, &size),
                     ERROR_MORE_DATA);
    assert_int_equal(size, needed);
    assert_int_equal(RegQueryValueExW(DATA, u"Counter 009", NULL, NULL, NULL, &size), 0);
    assert_int_equal(size, needed * 2);
}

static void c23_c112_a_language_by_its_id(void **state)
{
    assert_int_equal(run_query("Counter 007"), 0);
    assert_string_equal(name_of((char *)data, 230), "Prozess");
    assert_int_equal(run_query("cOUNTER 7"), 0);
    assert_string_equal(name_of((char *)data, 784), "Prozesskennung");
    assert_int_equal(run_query("Counter 019"), 0);
    assert_non_null(name_of((char *)data, 6));
    assert_int_equal(run_query("Counter 00c"), 0);
    assert_string_equal(name_of((char *)data, 238), "Processeur");
}

static void c106_help_and_explain_are_the_same(void **state)
{
    static char help[4 << 20];
    assert_int_equal(run_query("Help 009"), 0);
    DWORD help_size = size;
    memcpy(help, data, size);
    assert_int_equal(run_query("explain 009"), 0);
    assert_int_equal(size, help_size);
    assert_memory_equal(data, help, size);
    const char *text = name_of(help, 7);
    assert_non_null(text);
    assert_true(strlen(text) > 20);
    assert_int_equal(text[strlen(text) - 1], '.');
}

static void a_language_without_a_text_has_the_english_one(void **state)
{
    static char english[4 << 20];
    assert_int_equal(run_query("Help"), 0);
    memcpy(english, data, size);
    assert_int_equal(run_query("Help 00A"), 0);
    assert_string_equal(name_of((char *)data, 7), name_of(english, 7));
}

static void c22_the_same_table_below_perflib(void **state)
{
    static unsigned char table[4 << 20];
    DWORD bytes = sizeof(table);
    assert_int_equal(run_query("Counter 009"), 0);
    assert_int_equal(RegGetValueA(HKEY_LOCAL_MACHINE,
                                  "SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Perflib\\009",
                                  "Counter", RRF_RT_REG_MULTI_SZ, NULL, table, &bytes),
                     0);
    assert_int_equal(bytes, size);
    assert_memory_equal(table, data, size);
    bytes = sizeof(table);
    assert_int_equal(RegQueryValueExA(HKEY_PERFORMANCE_TEXT, "counter", NULL, NULL, table, &bytes),
                     0);
    assert_int_equal(bytes, size);
    assert_memory_equal(table, data, size);
}

static void perflib_009_opens_as_the_text_key(void **state)
{
    HKEY key;
    assert_int_equal(RegOpenKeyExA(HKEY_LOCAL_MACHINE,
                                   "SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Perflib\\009",
                                   0, KEY_READ, &key),
                     0);
    assert_ptr_equal(key, HKEY_PERFORMANCE_TEXT);
    assert_int_equal(
        RegOpenKeyExA(HKEY_LOCAL_MACHINE,
                      "SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Perflib\\CurrentLanguage",
                      0, KEY_READ, &key),
        0);
    assert_ptr_equal(key, HKEY_PERFORMANCE_NLSTEXT);
}

static void c26_last_counter_and_help(void **state)
{
    DWORD last = 0, bytes = sizeof(last);
    const char *perflib = "SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Perflib";
    assert_int_equal(RegGetValueA(HKEY_LOCAL_MACHINE, perflib, "Last Counter", RRF_RT_REG_DWORD,
                                  NULL, &last, &bytes),
                     0);
    /* the last number of the packaged block, the range of indices for objects that ship with
     * openperflib */
    assert_int_equal(last, 109998);
    assert_int_equal(RegGetValueA(HKEY_LOCAL_MACHINE, perflib, "Last Help", RRF_RT_REG_DWORD, NULL,
                                  &last, &bytes),
                     0);
    assert_int_equal(last, 109999);
    assert_int_equal(RegGetValueA(HKEY_LOCAL_MACHINE, perflib, "Base Index", RRF_RT_REG_DWORD, NULL,
                                  &last, &bytes),
                     0);
    assert_int_equal(last, 1847);
}

static void c107_installed_languages_are_subkeys(void **state)
{
    static const char *const wanted[] = {"007", "009", "00A", "00C", "019"};
    HKEY key;
    size_t found = 0, count_all = 0;
    char name[32];
    assert_int_equal(RegOpenKeyExA(HKEY_LOCAL_MACHINE,
                                   "SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Perflib", 0,
                                   KEY_READ, &key),
                     0);
    for (DWORD i = 0;; i++) {
        DWORD count = sizeof(name);
        if (RegEnumKeyExA(key, i, name, &count, NULL, NULL, NULL, NULL))
            break;
        for (size_t j = 0; j < COUNT(wanted); j++)
            found += strcmp(name, wanted[j]) == 0;
        count_all = i + 1;
    }
    RegCloseKey(key);
    assert_int_equal(found, COUNT(wanted));
    assert_int_equal(count_all, COUNT(wanted)); /* the subkey CurrentLanguage is no language */
}

/* ---- other calls on the keys ---- */

static void other_calls_on_the_data_key(void **state)
{
    HKEY key;
    char name[64];
    DWORD count = 2, subkeys = 7, values = 7;
    assert_int_equal(RegOpenKeyExA(DATA, "Global", 0, KEY_READ, &key), ERROR_INVALID_HANDLE);
    assert_int_equal(RegOpenKeyExA(DATA, NULL, 0, KEY_READ, &key), ERROR_INVALID_HANDLE);
    assert_int_equal(RegSetValueExA(DATA, "x", 0, REG_SZ, (const BYTE *)"x", 2),
                     ERROR_INVALID_HANDLE);
    assert_int_equal(RegSetValueExA(HKEY_PERFORMANCE_TEXT, "x", 0, REG_SZ, (const BYTE *)"x", 2),
                     ERROR_BADKEY);
    assert_int_equal(RegSetValueExA(HKEY_PERFORMANCE_NLSTEXT, "x", 0, REG_SZ, (const BYTE *)"x", 2),
                     ERROR_BADKEY);
    count = sizeof(name);
    assert_int_equal(RegEnumKeyExA(DATA, 0, name, &count, NULL, NULL, NULL, NULL),
                     ERROR_INVALID_HANDLE);
    count = sizeof(name);
    assert_int_equal(RegEnumKeyExA(HKEY_PERFORMANCE_TEXT, 0, name, &count, NULL, NULL, NULL, NULL),
                     ERROR_NO_MORE_ITEMS);
    count = 2;
    assert_int_equal(RegEnumValueA(DATA, 0, name, &count, NULL, NULL, NULL, NULL), ERROR_MORE_DATA);
    assert_int_equal(count, 2);
    assert_int_equal(RegQueryInfoKeyA(DATA, NULL, NULL, NULL, &subkeys, NULL, NULL, &values, NULL,
                                      NULL, NULL, NULL),
                     0);
    assert_int_equal(subkeys, 0);
    assert_int_equal(values, 2);
}

static void c3_closing_the_unopened_key_succeeds_any_number_of_times(void **state)
{
    for (int i = 0; i < 3; i++)
        assert_int_equal(RegCloseKey(DATA), 0);
    assert_int_equal(run_query("2"), 0);
    assert_int_equal(RegCloseKey(DATA), 0);
    assert_int_equal(RegCloseKey(DATA), 0);
    assert_int_equal(run_query("2"), 0);
}

static void keys_are_accepted_sign_and_zero_extended(void **state)
{
    HKEY zero_extended = (HKEY)(uintptr_t)0x80000004u;
    assert_int_equal(query_key(zero_extended, "2"), 0);
    assert_int_equal(query_key((HKEY)(intptr_t)(int32_t)0x80000004, "2"), 0);
}

static void c28_a_connection_to_this_machine_by_its_names(void **state)
{
    char name[MAX_COMPUTERNAME_LENGTH + 1], path[64];
    DWORD count = sizeof(name);
    HKEY key;
    assert_true(GetComputerNameA(name, &count));
    snprintf(path, sizeof(path), "\\\\%s", name);
    const char *const names[] = {NULL, "", name, path};
    for (size_t i = 0; i < COUNT(names); i++) {
        assert_int_equal(RegConnectRegistryA(names[i], DATA, &key), 0);
        assert_int_equal(query_key(key, "2"), 0);
        assert_int_equal(RegCloseKey(key), 0);
    }
    assert_int_equal(RegConnectRegistryA("\\\\NO..SUCH", DATA, &key), ERROR_BAD_NETPATH);
}

/* docs/windows/articles.md#c145: several threads query at the same time; each has a buffer of its
 * own size, and gets its own answer. */
struct caller {
    DWORD capacity;
    bool small;
    unsigned wrong;
    pthread_barrier_t *barrier;
};

static void *query_again_and_again(void *self)
{
    struct caller *caller = self;
    unsigned char *own = malloc(caller->capacity);
    pthread_barrier_wait(caller->barrier);
    for (int i = 0; own && i < 50; i++) {
        DWORD given = caller->capacity;
        opl_block block;
        LSTATUS status = RegQueryValueExA(DATA, "2 238", NULL, NULL, own, &given);
        if (caller->small)
            caller->wrong += status != ERROR_MORE_DATA || given != caller->capacity;
        else
            caller->wrong += status || opl_block_init(&block, own, given) != OPL_BLOCK_GOOD ||
                             block.header.NumObjectTypes != 2;
    }
    caller->wrong += !own;
    free(own);
    return NULL;
}

static void c145_more_data_is_reported_to_the_thread_that_asked(void **state)
{
    enum { CALLERS = 8 };
    struct caller callers[CALLERS];
    pthread_t threads[CALLERS];
    pthread_barrier_t barrier;
    assert_int_equal(pthread_barrier_init(&barrier, NULL, CALLERS), 0);
    for (unsigned i = 0; i < CALLERS; i++) {
        callers[i] = (struct caller){i % 2 ? 100 + 50 * i : 1 << 20, i % 2, 0, &barrier};
        assert_int_equal(pthread_create(&threads[i], NULL, query_again_and_again, &callers[i]), 0);
    }
    for (unsigned i = 0; i < CALLERS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(callers[i].wrong, 0);
    }
    pthread_barrier_destroy(&barrier);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(c2_the_query_needs_no_open_key),
        cmocka_unit_test(c4_c12_the_header_is_as_windows_writes_it),
        cmocka_unit_test(c12_the_system_name_is_get_computer_names),
        cmocka_unit_test(the_header_clocks_are_of_this_moment),
        cmocka_unit_test(c3_c109_the_size_cannot_be_asked),
        cmocka_unit_test(c3_a_small_buffer_leaves_size_and_names_the_type),
        cmocka_unit_test(the_size_pointer_is_required),
        cmocka_unit_test(no_byte_behind_the_answer_is_touched),
        cmocka_unit_test(c50_nonsense_succeeds_with_an_empty_block),
        cmocka_unit_test(c30_global_has_the_system_objects),
        cmocka_unit_test(c31_lists_in_any_order_with_duplicates),
        cmocka_unit_test(c31_c111_thread_brings_process),
        cmocka_unit_test(c32_foreign_machines_have_nothing_here),
        cmocka_unit_test(text_and_nlstext_answer_data_queries_too),
        cmocka_unit_test(c22_c24_names_by_the_key),
        cmocka_unit_test(c108_the_size_of_names_can_be_asked),
        cmocka_unit_test(c23_c112_a_language_by_its_id),
        cmocka_unit_test(c106_help_and_explain_are_the_same),
        cmocka_unit_test(a_language_without_a_text_has_the_english_one),
        cmocka_unit_test(c22_the_same_table_below_perflib),
        cmocka_unit_test(perflib_009_opens_as_the_text_key),
        cmocka_unit_test(c26_last_counter_and_help),
        cmocka_unit_test(c107_installed_languages_are_subkeys),
        cmocka_unit_test(other_calls_on_the_data_key),
        cmocka_unit_test(c3_closing_the_unopened_key_succeeds_any_number_of_times),
        cmocka_unit_test(keys_are_accepted_sign_and_zero_extended),
        cmocka_unit_test(c145_more_data_is_reported_to_the_thread_that_asked),
        cmocka_unit_test(c28_a_connection_to_this_machine_by_its_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
