/* SPDX-License-Identifier: MIT */
/*
 * Queries providers that return false answers: compares which data is kept or dropped, which event
 * is written, and which provider is disabled. The other objects of the same query must be in the
 * answer.
 */
#include <openperflib/block.h>
#include <windows.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SERVICES "SYSTEM\\CurrentControlSet\\Services\\"
#define PERFLIB "SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Perflib"
#define OWN_OBJECT 22222
#define SYSTEM_OBJECT 2

static char root[] = "/tmp/openperflib-judge-XXXXXX";
static char notes_path[64], events_path[64];
/* large, because other tests may start thousands of processes */
static unsigned char data[16 << 20];
static DWORD size;

static void set(const char *key, const char *name, DWORD type, const void *value, DWORD bytes)
{
    HKEY handle;
    assert_int_equal(
        RegCreateKeyExA(HKEY_LOCAL_MACHINE, key, 0, NULL, 0, KEY_WRITE, NULL, &handle, NULL), 0);
    assert_int_equal(RegSetValueExA(handle, name, 0, type, value, bytes), 0);
    assert_int_equal(RegCloseKey(handle), 0);
}

static void set_text(const char *key, const char *name, const char *text)
{
    set(key, name, REG_SZ, text, (DWORD)strlen(text) + 1);
}

static void set_dword(const char *key, const char *name, DWORD value)
{
    set(key, name, REG_DWORD, &value, sizeof(value));
}

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
    return remove(path);
}

static void empty_root(void)
{
    HKEY perflib;
    RegCloseKey(HKEY_PERFORMANCE_DATA);
    RegDeleteTreeA(HKEY_LOCAL_MACHINE, SERVICES "MyPerf");
    assert_int_equal(
        RegCreateKeyExA(HKEY_LOCAL_MACHINE, PERFLIB, 0, NULL, 0, KEY_WRITE, NULL, &perflib, NULL),
        0);
    RegDeleteValueA(perflib, "ExtCounterTestLevel");
    RegCloseKey(perflib);
    unlink(notes_path);
    unlink(events_path);
}

static void install(const char *open, const char *collect)
{
    empty_root();
    set_text(SERVICES "MyPerf\\Performance", "Library", getenv("FAULTY"));
    set_text(SERVICES "MyPerf\\Performance", "Open", open);
    set_text(SERVICES "MyPerf\\Performance", "Collect", collect);
    set_text(SERVICES "MyPerf\\Performance", "Close", "faulty_close");
    set_dword(SERVICES "MyPerf\\Performance", "Isolation", 0);
}

static LSTATUS run_query(const char *query)
{
    size = sizeof(data);
    return RegQueryValueExA(HKEY_PERFORMANCE_DATA, query, NULL, NULL, data, &size);
}

static bool answered(DWORD object)
{
    opl_block block;
    opl_object_view view;
    assert_int_equal(opl_block_init(&block, data, size), OPL_BLOCK_GOOD);
    return opl_block_find_object(&block, object, &view);
}

static char *read_all(const char *path)
{
    static char text[65536];
    FILE *file = fopen(path, "r");
    size_t count = file ? fread(text, 1, sizeof(text) - 1, file) : 0;
    if (file)
        fclose(file);
    text[count] = '\0';
    return text;
}

static bool event_seen(unsigned id)
{
    char wanted[32];
    snprintf(wanted, sizeof(wanted), "\tPerflib\t%u\t", id);
    return strstr(read_all(events_path), wanted) != NULL;
}

static DWORD number_of(const char *name)
{
    DWORD value = 0, bytes = sizeof(value);
    RegGetValueA(HKEY_LOCAL_MACHINE, SERVICES "MyPerf\\Performance", name, RRF_RT_REG_DWORD, NULL,
                 &value, &bytes);
    return value;
}

static DWORD disabled_value(void)
{
    return number_of("Disable Performance Counters");
}

enum { KEPT = 1, DROPPED = 0, ANY = -1 };
/* The expected outcomes at test levels 1, 2 and 3; event 0: none. */
static const struct lie {
    const char *collect;
    int kept[3];
    unsigned event[3];
    /* damages memory: the provider is not queried for a while, and the damage is counted */
    bool damages;
} lies[] = {
    {"collect_good",              {KEPT, KEPT, KEPT},          {0, 0, 0},          false},
    {"collect_length_plus_8",     {KEPT, KEPT, KEPT},          {2000, 2000, 0},    false},
    {"collect_pointer_plus_8",    {DROPPED, DROPPED, DROPPED}, {2000, 2000, 1003}, false},
    {"collect_pointer_in_guard",  {DROPPED, DROPPED, DROPPED}, {1001, 1001, 1001}, true },
    {"collect_pointer_away",      {DROPPED, DROPPED, DROPPED}, {1013, 1013, 1013}, true },
    {"collect_pointer_null",      {DROPPED, DROPPED, DROPPED}, {1013, 1013, 1013}, true },
    {"collect_writes_below",      {DROPPED, DROPPED, KEPT},    {1002, 1002, 0},    true },
    {"collect_writes_above",      {DROPPED, DROPPED, KEPT},    {1002, 1002, 0},    true },
    {"collect_object_length",     {DROPPED, ANY, ANY},         {1003, 0, 0},       false},
    {"collect_object_count",      {DROPPED, ANY, ANY},         {1003, 0, 0},       false},
    {"collect_definition_length", {DROPPED, ANY, ANY},         {1019, 0, 0},       false},
    {"collect_instance_length",   {DROPPED, ANY, ANY},         {1004, 0, 0},       false},
    {"collect_odd_length",        {DROPPED, DROPPED, DROPPED}, {1016, 1016, 1016}, false},
    {"collect_length_4",          {KEPT, KEPT, KEPT},          {1016, 0, 0},       false},
    {"collect_error",             {DROPPED, DROPPED, DROPPED}, {1014, 1014, 1014}, false},
};

static void check_lie(const struct lie *lie, int level)
{
    int kept = lie->kept[level - 1];
    unsigned event = lie->event[level - 1];
    install("faulty_open", lie->collect);
    set_dword(PERFLIB, "ExtCounterTestLevel", (DWORD)level);
    if (run_query("Global"))
        fail_msg("%s at level %d: the query failed", lie->collect, level);
    if (kept != ANY && answered(OWN_OBJECT) != kept)
        fail_msg("%s at level %d: kept is %d", lie->collect, level, !kept);
    if (kept != ANY && !answered(SYSTEM_OBJECT))
        fail_msg("%s at level %d: System is missing", lie->collect, level);
    if (event ? !event_seen(event) : *read_all(events_path) != '\0')
        fail_msg("%s at level %d: wanted event %u, log is:\n%s", lie->collect, level, event,
                 read_all(events_path));
    if (disabled_value())
        fail_msg("%s at level %d: disabled", lie->collect, level);
    if (number_of("Error Count") != (event && lie->damages && !kept))
        fail_msg("%s at level %d: Error Count is %u", lie->collect, level,
                 number_of("Error Count"));
}

static void c123_to_c129_every_lie_at_every_level(void **state)
{
    for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++)
        for (int level = 1; level <= 3; level++)
            check_lie(&lies[i], level);
}

/* A provider that damages memory is not queried again at once. */
static void c126_damage_is_answered_with_backoff(void **state)
{
    install("faulty_open", "collect_writes_above");
    assert_int_equal(run_query("Global"), 0);
    assert_int_equal(run_query("Global"), 0);
    RegCloseKey(HKEY_PERFORMANCE_DATA);
    assert_string_equal(read_all(notes_path), "open \ncollect Global\nclose\n");
}

static void c45_global_v1_silent_is_disabled_at_once(void **state)
{
    install("faulty_open", "collect_silent");
    assert_int_equal(run_query("Global"), 0);
    assert_false(answered(OWN_OBJECT));
    assert_true(answered(SYSTEM_OBJECT));
    assert_int_equal(run_query("Global"), 0);
    RegCloseKey(HKEY_PERFORMANCE_DATA);
    assert_string_equal(read_all(notes_path), "open \ncollect Global\nclose\n");
    assert_true(event_seen(2000));
    assert_true(event_seen(1017));
    assert_int_equal(disabled_value(), 1);
}

static void c46_deleting_the_value_enables_again(void **state)
{
    HKEY key;
    c45_global_v1_silent_is_disabled_at_once(state);
    assert_int_equal(
        RegOpenKeyExA(HKEY_LOCAL_MACHINE, SERVICES "MyPerf\\Performance", 0, KEY_ALL_ACCESS, &key),
        0);
    assert_int_equal(RegDeleteValueA(key, "Disable Performance Counters"), 0);
    assert_int_equal(RegSetValueExA(key, "Collect", 0, REG_SZ, (const BYTE *)"collect_good", 13),
                     0);
    RegCloseKey(key);
    assert_int_equal(run_query("Global"), 0);
    assert_true(answered(OWN_OBJECT));
}

static void c47_global_v2_nothing_to_say_is_asked_again(void **state)
{
    install("faulty_open", "collect_nothing");
    assert_int_equal(run_query("Global"), 0);
    assert_int_equal(run_query("gLOBAL"), 0);
    assert_int_equal(run_query("costly"), 0);
    assert_int_equal(run_query(""), 0);
    assert_int_equal(run_query(NULL), 0);
    RegCloseKey(HKEY_PERFORMANCE_DATA);
    assert_string_equal(read_all(notes_path),
                        "open \ncollect Global\ncollect Global\ncollect Costly\ncollect \n"
                        "collect \nclose\n");
    assert_string_equal(read_all(events_path), "");
    assert_false(answered(OWN_OBJECT));
}

static void c48_every_retry_asks_again_and_size_is_left_alone(void **state)
{
    install("faulty_open", "collect_good");
    for (DWORD capacity = 100; capacity < 3000; capacity += 1000) {
        size = capacity;
        LSTATUS status = RegQueryValueExA(HKEY_PERFORMANCE_DATA, "22222", NULL, NULL, data, &size);
        assert_int_equal(status, capacity < 1000 ? ERROR_MORE_DATA : ERROR_SUCCESS);
        if (status)
            assert_int_equal(size, capacity);
    }
}

static void c57_open_that_fails_is_tried_again_and_costs_only_itself(void **state)
{
    install("faulty_open_denied", "collect_good");
    assert_int_equal(run_query("Global"), 0);
    assert_int_equal(run_query("Global"), 0);
    assert_true(answered(SYSTEM_OBJECT));
    assert_false(answered(OWN_OBJECT));
    RegCloseKey(HKEY_PERFORMANCE_DATA);
    assert_string_equal(read_all(notes_path), "open denied\nopen denied\n");
    assert_true(event_seen(1008));
    assert_int_equal(disabled_value(), 0);
}

static void c59_collect_that_fails_stays_loaded_and_is_asked_again(void **state)
{
    install("faulty_open", "collect_error");
    assert_int_equal(run_query("Global"), 0);
    assert_int_equal(run_query("Global"), 0);
    RegCloseKey(HKEY_PERFORMANCE_DATA);
    assert_string_equal(read_all(notes_path), "open \ncollect Global\ncollect Global\nclose\n");
}

static void c118_more_data_from_one_is_more_data_for_all(void **state)
{
    install("faulty_open", "collect_more_data");
    assert_int_equal(run_query("Global"), ERROR_MORE_DATA);
    assert_int_equal(size, sizeof(data));
    assert_int_equal(run_query("2"), ERROR_SUCCESS);
}

static void try_with(const char *query, DWORD capacity, unsigned times)
{
    for (unsigned i = 0; i < times; i++) {
        size = capacity;
        assert_int_equal(RegQueryValueExA(HKEY_PERFORMANCE_DATA, query, NULL, NULL, data, &size),
                         ERROR_MORE_DATA);
    }
}

/* A provider that asks for more space in ten queries in a row, though each query offers twice as
 * much as the one before, is reported. */
static void f_14_8_a_loop_that_goes_on_is_reported(void **state)
{
    install("faulty_open", "collect_more_data");
    for (unsigned i = 0; i < 9; i++)
        try_with("Global", 16384u << i, 1);
    assert_false(event_seen(4016));
    try_with("Global", 16384u << 9, 1);
    assert_true(event_seen(4016));
    assert_non_null(strstr(read_all(events_path), "MyPerf needs more than its buffer of "));
}

/* If the provider is one that ships with openperflib, the event says how much space is needed, and
 * for how many instances: here processes, of which a container may have only 2. */
static void f_14_8_with_what_is_needed_and_how_many_there_are(void **state)
{
    unsigned long needed = 0, processes = 0;
    empty_root();
    try_with("230", 1024, 9);
    /* this buffer was large enough, so the count begins again */
    assert_int_equal(run_query("230"), ERROR_SUCCESS);
    try_with("230", 1024, 9);
    assert_false(event_seen(4016));
    try_with("230", 1024, 1);
    const char *line = strstr(read_all(events_path), "10 queries in a row ended");
    assert_non_null(line);
    line = strstr(line, "PerfProc needs ");
    assert_non_null(line);
    assert_int_equal(sscanf(line, "PerfProc needs %lu bytes (Process has %lu", &needed, &processes),
                     2);
    assert_in_range(needed, 1024, sizeof data);
    assert_in_range(processes, 2, 100000);
}

/* Returns a number of kB in /proc/self/status. */
static size_t kilobytes(const char *name)
{
    const char *text = read_all("/proc/self/status"), *line = strstr(text, name);
    assert_non_null(line);
    return strtoul(line + strlen(name), NULL, 10);
}

/* The guarded buffer that Collect writes gives its memory back while it is copied. */
static void a_large_answer_takes_its_memory_once(void **state)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), before = -(uintptr_t)data & (page - 1);
    install("faulty_open", "collect_large");
    assert_int_equal(run_query("22222"), 0);
    assert_true(answered(OWN_OBJECT) && size > sizeof data / 4);
    assert_int_equal(madvise(data + before, (sizeof data - before) / page * page, MADV_DONTNEED),
                     0);
    FILE *peak = fopen("/proc/self/clear_refs", "w");
    if (!peak || fputs("5", peak) < 0 || fclose(peak))
        return; /* this system cannot measure it */
    size_t usual = kilobytes("VmRSS:");
    assert_int_equal(run_query("22222"), 0);
    assert_in_range(kilobytes("VmHWM:") - usual, size / 1024 * 3 / 4, size / 1024 * 3 / 2);
}

static void third_parties_run_in_a_helper_process(void **state)
{
    install("faulty_open", "collect_good");
    set_dword(SERVICES "MyPerf\\Performance", "Isolation", 1);
    assert_int_equal(run_query("Global"), 0);
    assert_true(answered(OWN_OBJECT));
    assert_true(answered(SYSTEM_OBJECT));
    RegCloseKey(HKEY_PERFORMANCE_DATA);
    assert_string_equal(read_all(notes_path), "open \ncollect Global\nclose\n");
    assert_string_equal(read_all(events_path), "");
}

static void c41_linkage_export_is_handed_to_open(void **state)
{
    install("faulty_open", "collect_good");
    set(SERVICES "MyPerf\\Linkage", "Export", REG_MULTI_SZ, "device\0", 8);
    assert_int_equal(run_query("22222"), 0);
    assert_true(answered(OWN_OBJECT));
    assert_string_equal(read_all(notes_path), "open device\ncollect 22222\n");
}

static void a_missing_procedure_is_named(void **state)
{
    install("no_such_open", "collect_good");
    assert_int_equal(run_query("22222"), 0);
    assert_true(event_seen(1005));
    assert_non_null(strstr(read_all(events_path), "no_such_open"));
}

static unsigned count_objects(DWORD index)
{
    opl_block block;
    opl_object_view view = {0};
    unsigned count = 0;
    assert_int_equal(opl_block_init(&block, data, size), OPL_BLOCK_GOOD);
    while (opl_block_next_object(&block, &view))
        count += view.type.ObjectNameTitleIndex == index;
    return count;
}

/* Two providers return an object with the same number, which neither has registered: it belongs to
 * the provider that answered first. */
static void f_b4_two_providers_with_one_number(void **state)
{
    install("faulty_open", "collect_good");
    set_text(SERVICES "MySecond\\Performance", "Library", getenv("FAULTY"));
    set_text(SERVICES "MySecond\\Performance", "Collect", "collect_good");
    for (DWORD isolation = 0; isolation <= 1; isolation++) {
        set_dword(SERVICES "MyPerf\\Performance", "Isolation", isolation);
        set_dword(SERVICES "MySecond\\Performance", "Isolation", isolation);
        unlink(events_path);
        RegCloseKey(HKEY_PERFORMANCE_DATA);
        assert_int_equal(run_query("Global"), 0);
        assert_int_equal(count_objects(OWN_OBJECT), 1);
        assert_true(event_seen(4009));
        assert_non_null(
            strstr(read_all(events_path), "object 22222 in the answer of MySecond in "));
        assert_non_null(strstr(read_all(events_path), "belongs to MyPerf; "));
    }
    assert_int_equal(RegDeleteTreeA(HKEY_LOCAL_MACHINE, SERVICES "MySecond"), 0);
}

static int enter_root(void **state)
{
    if (!mkdtemp(root))
        return -1;
    snprintf(notes_path, sizeof(notes_path), "%s/notes", root);
    snprintf(events_path, sizeof(events_path), "%s/events", root);
    return setenv("OPENPERFLIB_ROOT", root, 1);
}

static int leave_root(void **state)
{
    RegCloseKey(HKEY_PERFORMANCE_DATA);
    return nftw(root, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(c45_global_v1_silent_is_disabled_at_once),
        cmocka_unit_test(c46_deleting_the_value_enables_again),
        cmocka_unit_test(c47_global_v2_nothing_to_say_is_asked_again),
        cmocka_unit_test(c48_every_retry_asks_again_and_size_is_left_alone),
        cmocka_unit_test(c57_open_that_fails_is_tried_again_and_costs_only_itself),
        cmocka_unit_test(c59_collect_that_fails_stays_loaded_and_is_asked_again),
        cmocka_unit_test(c118_more_data_from_one_is_more_data_for_all),
        cmocka_unit_test(f_14_8_a_loop_that_goes_on_is_reported),
        cmocka_unit_test(f_14_8_with_what_is_needed_and_how_many_there_are),
        cmocka_unit_test(c126_damage_is_answered_with_backoff),
        cmocka_unit_test(c41_linkage_export_is_handed_to_open),
        cmocka_unit_test(a_large_answer_takes_its_memory_once),
        cmocka_unit_test(third_parties_run_in_a_helper_process),
        cmocka_unit_test(a_missing_procedure_is_named),
        cmocka_unit_test(f_b4_two_providers_with_one_number),
        /* must be last, because an event is written singly only ten times */
        cmocka_unit_test(c123_to_c129_every_lie_at_every_level),
    };
    return cmocka_run_group_tests(tests, enter_root, leave_root);
}
