/* SPDX-License-Identifier: MIT */
/*
 * The sample mycoolcounter is registered in place of the library of PerfOS, loads that library, and
 * adds a counter to its answers. Everything else must be equal, byte by byte, to the answer of
 * PerfOS's library itself: on a frozen machine (saved proc files), at every test level, in this
 * process and in a helper process.
 */
#include "snapshot.h"

#include "module.h"

#include <openperflib/load.h>
#include <winerror.h>

#define PERFOS "SYSTEM\\CurrentControlSet\\Services\\PerfOS\\Performance"
#define OWN PERFOS "\\MyCoolCounter"
enum { SYSTEM = 2, DEFINITION = 40, LEVELS = 4, SIZE = 1 << 20, MOST_SIZE = 1 << 14 };
enum { PERF_TIME = 48, PERF_TIME_SIZE = 8 }; /* offset and size in an object's header */

/* ---- the sample ---- */

static char module_path[4096];

static void install(void)
{
    assert_int_equal(module_call("DllRegisterServer"), 0);
}

static void uninstall(void)
{
    assert_int_equal(module_call("DllUnregisterServer"), 0);
}

/* ---- answers ---- */

struct answer {
    BYTE *bytes;
    DWORD size;
};

static DWORD query_capacity(const char *query, DWORD capacity, struct answer *ret)
{
    DWORD type;
    ret->bytes = malloc(capacity);
    ret->size = capacity;
    assert_non_null(ret->bytes);
    DWORD status =
        (DWORD)RegQueryValueExA(HKEY_PERFORMANCE_DATA, query, NULL, &type, ret->bytes, &ret->size);
    if (status) {
        free(ret->bytes);
        ret->bytes = NULL;
    }
    return status;
}

/* Closes the performance key and queries; the query opens it again. */
static struct answer run_query(const char *query)
{
    struct answer answer;
    RegCloseKey(HKEY_PERFORMANCE_DATA);
    assert_int_equal(query_capacity(query, SIZE, &answer), 0);
    return answer;
}

static PERF_OBJECT_TYPE *first_object(const struct answer *answer)
{
    return (PERF_OBJECT_TYPE *)(answer->bytes + ((PERF_DATA_BLOCK *)answer->bytes)->HeaderLength);
}

static PERF_OBJECT_TYPE *next_object(PERF_OBJECT_TYPE *object)
{
    return (PERF_OBJECT_TYPE *)((BYTE *)object + object->TotalByteLength);
}

static DWORD object_count(const struct answer *answer)
{
    return ((PERF_DATA_BLOCK *)answer->bytes)->NumObjectTypes;
}

static PERF_OBJECT_TYPE *find_object(const struct answer *answer, DWORD index)
{
    PERF_OBJECT_TYPE *object = first_object(answer);
    for (DWORD i = 0; i < object_count(answer); i++, object = next_object(object))
        if (object->ObjectNameTitleIndex == index)
            return object;
    return NULL;
}

static PERF_COUNTER_DEFINITION *definition_at(PERF_OBJECT_TYPE *object, DWORD place)
{
    return (PERF_COUNTER_DEFINITION *)((BYTE *)object + object->HeaderLength) + place;
}

static PERF_COUNTER_DEFINITION *find_definition(PERF_OBJECT_TYPE *object, DWORD index)
{
    for (DWORD i = 0; i < object->NumCounters; i++)
        if (definition_at(object, i)->CounterNameTitleIndex == index)
            return definition_at(object, i);
    return NULL;
}

static const BYTE *value_of(PERF_OBJECT_TYPE *object, const PERF_COUNTER_DEFINITION *definition)
{
    return (BYTE *)object + object->DefinitionLength + definition->CounterOffset;
}

/* Compares two objects' headers except for what must differ: lengths, number of counters, time. */
static void assert_same_header(const PERF_OBJECT_TYPE *left, const PERF_OBJECT_TYPE *right)
{
    PERF_OBJECT_TYPE copy = *right;
    copy.TotalByteLength = left->TotalByteLength;
    copy.DefinitionLength = left->DefinitionLength;
    copy.NumCounters = left->NumCounters;
    copy.PerfTime = left->PerfTime;
    assert_memory_equal(&copy, left, sizeof copy);
}

/* Checks that System has one counter more: the others are unchanged, bit for bit, and the sample's
 * counter is the last one. Returns its value. */
static ULONGLONG assert_one_more(PERF_OBJECT_TYPE *before, PERF_OBJECT_TYPE *now, DWORD index)
{
    ULONGLONG value;
    assert_same_header(before, now);
    assert_int_equal(now->NumCounters, before->NumCounters + 1);
    assert_int_equal(now->DefinitionLength, before->DefinitionLength + DEFINITION);
    for (DWORD i = 0; i < before->NumCounters; i++) {
        const PERF_COUNTER_DEFINITION *counter = definition_at(before, i);
        assert_memory_equal(definition_at(now, i), counter, DEFINITION);
        assert_memory_equal(value_of(now, counter), value_of(before, counter),
                            counter->CounterSize);
    }
    const PERF_COUNTER_DEFINITION *ours = definition_at(now, before->NumCounters);
    assert_int_equal(ours->ByteLength, DEFINITION);
    assert_int_equal(ours->CounterNameTitleIndex, index);
    assert_int_equal(ours->CounterType, PERF_COUNTER_LARGE_RAWCOUNT);
    assert_int_equal(ours->CounterSize, 8);
    assert_int_equal((value_of(now, ours) - (BYTE *)now) % 8, 0);
    memcpy(&value, value_of(now, ours), sizeof value);
    return value;
}

static void assert_same_object(PERF_OBJECT_TYPE *left, PERF_OBJECT_TYPE *right)
{
    right->PerfTime = left->PerfTime;
    assert_int_equal(left->TotalByteLength, right->TotalByteLength);
    assert_memory_equal(left, right, left->TotalByteLength);
}

/* ---- the tests ---- */

static DWORD number(const char *value)
{
    long long found = lab_get_dword(OWN, value);
    assert_true(found > 0);
    return (DWORD)found;
}

static void assert_value(const char *key, const char *name, const char *expected)
{
    char text[4096];
    DWORD size = sizeof text;
    LSTATUS status = RegGetValueA(HKEY_LOCAL_MACHINE, key, name, RRF_RT_REG_SZ, NULL, text, &size);
    assert_int_equal(status, expected ? ERROR_SUCCESS : ERROR_FILE_NOT_FOUND);
    if (expected)
        assert_string_equal(text, expected);
}

static void c89_c90_it_takes_the_place_of_the_library_with_system(void **state)
{
    install();
    assert_value(PERFOS, "Library", module_path);
    assert_value(PERFOS, "Open", "Open");
    assert_value(OWN, "Library", "perfos.so");
    assert_value(OWN, "Open", "OpenOSObject");
    assert_value(OWN, "Collect", "CollectOSObjectData");
    assert_value(OWN, "Close", "CloseOSObject");
    install(); /* a second registration changes nothing */
    assert_value(OWN, "Library", "perfos.so");
    for (size_t i = 0; i < sizeof languages / sizeof *languages; i++) {
        const char *language = languages[i];
        assert_string_equal(name_of(number("Counter"), language, "Counter"),
                            i == 1   ? "Mein toller Zähler"
                            : i == 4 ? "Мой крутой счётчик"
                                     : "My Cool Counter");
        assert_non_null(name_of(number("Help"), language, "Explain"));
    }
    uninstall();
    assert_value(PERFOS, "Library", "perfos.so");
    assert_value(PERFOS, "Open", "OpenOSObject");
    assert_int_equal(module_call("DllUnregisterServer"), 0x80070002);
}

static void c93_it_leaves_without_a_trace(void **state)
{
    struct snapshot before = take_snapshot(), with, after;
    install();
    with = take_snapshot();
    assert_true(with.size > before.size);
    free(run_query("2").bytes);
    uninstall();
    after = take_snapshot();
    assert_same_snapshot(&before, &after);
    free(before.text);
    free(with.text);
    free(after.text);
}

/* After unregistering, all values are as they were before the registration: values that did not
 * exist are removed, and texts of other programs are unchanged. */
static void what_was_written_by_hand_comes_back(void **state)
{
    static const BYTE code[16] = {1, 2, 3};
    HKEY key;
    lab_set_text(PERFOS, "Collect", "CollectOSObjectData");
    lab_unset(PERFOS, "Close");
    assert_int_equal(RegOpenKeyExA(HKEY_LOCAL_MACHINE, PERFOS, 0, KEY_ALL_ACCESS, &key), 0);
    RegSetValueExA(key, "Library Validation Code", 0, REG_BINARY, code, sizeof code);
    struct snapshot before = take_snapshot();
    install();
    assert_int_equal(RegQueryValueExA(key, "Library Validation Code", NULL, NULL, NULL, NULL),
                     ERROR_FILE_NOT_FOUND);
    uninstall();
    struct snapshot after = take_snapshot();
    assert_same_snapshot(&before, &after);
    RegDeleteValueA(key, "Library Validation Code");
    RegCloseKey(key);
    lab_set_text(PERFOS, "Close", "CloseOSObject");
    free(before.text);
    free(after.text);
}

static void a_later_peer_is_not_thrown_out(void **state)
{
    install();
    lab_set_text(PERFOS, "Library", "/another/provider.so");
    assert_int_equal(module_call("DllUnregisterServer"), 0x800700AA);
    assert_value(PERFOS, "Library", "/another/provider.so");
    lab_set_text(PERFOS, "Library", module_path);
    uninstall();
}

static void set_place(int isolation)
{
    if (isolation == LAB_ISOLATED)
        lab_unset(PERFOS, "Isolation");
    else
        lab_set_dword(PERFOS, "Isolation", 0);
}

static void compare_answers(const struct answer *before, const struct answer *now)
{
    PERF_OBJECT_TYPE *left = first_object(before), *right = first_object(now);
    assert_int_equal(object_count(before), object_count(now));
    for (DWORD i = 0; i < object_count(before); i++) {
        assert_int_equal(left->ObjectNameTitleIndex, right->ObjectNameTitleIndex);
        if (left->ObjectNameTitleIndex == SYSTEM)
            assert_int_equal(assert_one_more(left, right, number("Counter")), 1);
        else
            assert_same_object(left, right);
        left = next_object(left);
        right = next_object(right);
    }
    assert_ptr_equal(right, now->bytes + now->size);
}

static const char *const queries[] = {"2", "4 2", "2 260 700", "4", "238 700"};
enum { QUERIES = sizeof queries / sizeof *queries };

static void c91_c92_system_has_exactly_one_more(void **state)
{
    struct answer before[QUERIES];
    for (size_t i = 0; i < QUERIES; i++)
        before[i] = run_query(queries[i]);
    install();
    lab_remove("events");
    for (int isolation = 0; isolation < 2; isolation++)
        for (DWORD level = 1; level <= LEVELS; level++) {
            set_place(isolation);
            lab_set_dword(LAB_PERFLIB, "ExtCounterTestLevel", level);
            for (size_t i = 0; i < QUERIES; i++) {
                struct answer now = run_query(queries[i]);
                compare_answers(&before[i], &now);
                free(now.bytes);
            }
        }
    assert_string_equal(lab_events(NULL, false), "");
    lab_unset(LAB_PERFLIB, "ExtCounterTestLevel");
    lab_unset(PERFOS, "Isolation");
    uninstall();
    for (size_t i = 0; i < QUERIES; i++)
        free(before[i].bytes);
}

/* Nothing is written to a buffer that is too small; a large one gets the whole answer. The value of
 * the sample's counter is the number of queries. */
static void c92_space_is_kept_for_the_counter(void **state)
{
    struct answer before = run_query("2"), now;
    install();
    for (int isolation = 0; isolation < 2; isolation++) {
        ULONGLONG queried = 0;
        set_place(isolation);
        RegCloseKey(HKEY_PERFORMANCE_DATA);
        for (DWORD capacity = 8; capacity < MOST_SIZE; capacity += 8) {
            DWORD status = query_capacity("2", capacity, &now);
            if (status) {
                assert_int_equal(status, ERROR_MORE_DATA);
                assert_int_equal(queried, 0);
                continue;
            }
            ULONGLONG value = assert_one_more(find_object(&before, SYSTEM),
                                              find_object(&now, SYSTEM), number("Counter"));
            assert_int_equal(value, ++queried);
            free(now.bytes);
            if (queried == 3)
                break;
        }
        assert_int_equal(queried, 3);
    }
    /* closing the key writes an event with the number of repetitions */
    RegCloseKey(HKEY_PERFORMANCE_DATA);
    /* the buffer grows in small steps, so many queries are needed; warning 4016, which reports
     * this, is expected */
    const char *events = lab_events(NULL, false);
    while (strncmp(events, "warning 4016", 12) == 0)
        events += events[12] == ',' ? 14 : 12;
    assert_string_equal(events, "");
    lab_remove("events");
    lab_unset(PERFOS, "Isolation");
    uninstall();
    free(before.bytes);
}

static bool is_base(const PERF_COUNTER_DEFINITION *counter)
{
    return (counter->CounterType & 0x00070C00) == (PERF_TYPE_COUNTER | PERF_COUNTER_BASE);
}

/* Finds the same counter in another answer. A base has the same index as its counter, and follows
 * it. */
static PERF_COUNTER_DEFINITION *find_same(PERF_OBJECT_TYPE *object,
                                          const PERF_COUNTER_DEFINITION *counter)
{
    PERF_COUNTER_DEFINITION *same = find_definition(object, counter->CounterNameTitleIndex);
    return same && is_base(counter) ? same + 1 : same;
}

static void remove_one(struct answer *before, DWORD gone)
{
    struct answer now = run_query("2 4");
    PERF_OBJECT_TYPE *was = find_object(before, SYSTEM), *is = find_object(&now, SYSTEM);
    assert_int_equal(is->NumCounters, was->NumCounters);
    assert_null(find_definition(is, gone));
    for (DWORD i = 0; i < was->NumCounters; i++) {
        PERF_COUNTER_DEFINITION *counter = definition_at(was, i);
        PERF_COUNTER_DEFINITION *same = find_same(is, counter);
        if (counter->CounterNameTitleIndex == gone)
            continue;
        assert_non_null(same);
        assert_memory_equal(same, counter, DEFINITION);
        assert_memory_equal(value_of(is, same), value_of(was, counter), counter->CounterSize);
    }
    assert_non_null(find_definition(is, number("Counter")));
    assert_same_object(find_object(before, 4), find_object(&now, 4));
    free(now.bytes);
}

static void c93_counters_can_be_removed(void **state)
{
    struct answer before = run_query("2 4");
    PERF_OBJECT_TYPE *was = find_object(&before, SYSTEM);
    install();
    for (DWORD i = 0; i < was->NumCounters; i++) {
        DWORD gone = definition_at(was, i)->CounterNameTitleIndex;
        if (is_base(definition_at(was, i)) ||
            (i + 1 < was->NumCounters && is_base(definition_at(was, i + 1))))
            /* not counters with bases: with such a counter, its base would be removed, too */
            continue;
        lab_set_dword(OWN, "Remove", gone);
        remove_one(&before, gone);
    }
    assert_string_equal(lab_events(NULL, false), "");
    uninstall();
    free(before.bytes);
}

static void c93_values_can_be_changed(void **state)
{
    struct answer before = run_query("2");
    PERF_OBJECT_TYPE *was = find_object(&before, SYSTEM);
    install();
    lab_set_dword(OWN, "Value", 4242);
    for (DWORD i = 0; i < was->NumCounters; i++) {
        const PERF_COUNTER_DEFINITION *counter = definition_at(was, i);
        ULONGLONG value = 0;
        if (is_base(counter)) /* not a base, because it has the same index as its counter */
            continue;
        lab_set_dword(OWN, "Change", counter->CounterNameTitleIndex);
        struct answer now = run_query("2");
        PERF_OBJECT_TYPE *is = find_object(&now, SYSTEM);
        memcpy(&value, value_of(is, counter), counter->CounterSize);
        assert_int_equal(value, 4242);
        memcpy((BYTE *)value_of(is, counter), value_of(was, counter), counter->CounterSize);
        assert_one_more(was, is, number("Counter"));
        free(now.bytes);
    }
    assert_string_equal(lab_events(NULL, false), "");
    uninstall();
    free(before.bytes);
}

/* If the original library does not exist any more, the object System is missing, and an event
 * reports that; other objects are not affected. */
static void c91_a_library_that_is_gone_is_reported(void **state)
{
    install();
    lab_set_text(OWN, "Library", "nowhere.so");
    lab_remove("events");
    struct answer now = run_query("2 230");
    assert_null(find_object(&now, SYSTEM));
    assert_non_null(find_object(&now, 230));
    assert_true(lab_has_event("PerfOS", 1008));
    free(now.bytes);
    lab_set_text(OWN, "Library", "perfos.so");
    RegCloseKey(HKEY_PERFORMANCE_DATA);
    uninstall();
}

static void library_paths(void **state)
{
    char path[4096], expected[4096];
    snprintf(expected, sizeof expected, "%s/providers/perfos.so", getenv("OPENPERFLIB_VENDOR"));
    assert_int_equal(opl_load_library_path("perfos.so", path, sizeof path), 0);
    assert_string_equal(path, expected);
    assert_int_equal(opl_load_library_path("/some/where.so", path, sizeof path), 0);
    assert_string_equal(path, "/some/where.so");
    assert_int_equal(opl_load_library_path("/some/where.so", path, 15), 0);
    strcpy(path, "before");
    assert_int_equal(opl_load_library_path("/some/where.so", path, 14), ERROR_MORE_DATA);
    assert_string_equal(path, "before");
    assert_int_equal(opl_load_library_path("", path, 14), ERROR_INVALID_PARAMETER);
    assert_int_equal(opl_load_library_path(NULL, path, 14), ERROR_INVALID_PARAMETER);
}

static int open_all(void **state)
{
    char root[4096];
    snprintf(root, sizeof root, "%s/tests/roots/vm2", getenv("SOURCE_ROOT"));
    setenv("OPENPERFLIB_SYSROOT", root, 1);
    lab_open();
    snprintf(module_path, sizeof module_path, "%s/samples/mycoolcounter.so", getenv("BUILD_ROOT"));
    module_load(module_path);
    return 0;
}

static int close_all(void **state)
{
    RegCloseKey(HKEY_PERFORMANCE_DATA);
    dlclose(module);
    lab_close();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(library_paths),
        cmocka_unit_test(c93_it_leaves_without_a_trace),
        cmocka_unit_test(c89_c90_it_takes_the_place_of_the_library_with_system),
        cmocka_unit_test(what_was_written_by_hand_comes_back),
        cmocka_unit_test(a_later_peer_is_not_thrown_out),
        cmocka_unit_test(c91_c92_system_has_exactly_one_more),
        cmocka_unit_test(c92_space_is_kept_for_the_counter),
        cmocka_unit_test(c93_counters_can_be_removed),
        cmocka_unit_test(c93_values_can_be_changed),
        cmocka_unit_test(c91_a_library_that_is_gone_is_reported),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
