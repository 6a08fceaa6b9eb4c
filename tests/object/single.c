/* SPDX-License-Identifier: MIT */
/* Objects without instances whose values are read from lines of files: keys, columns, functions,
 * layout, query. */
#include "tree.h"

static const opl_source meminfo = {"proc/meminfo"};
static const opl_source stat_file = {"proc/stat"};
static const opl_source missing = {"proc/missing"};
static unsigned computed;

static bool seven(opl_reading *reading, uint64_t *ret)
{
    computed++;
    *ret = 7;
    return opl_reading_time(reading) != 0;
}
static bool never(opl_reading *reading, uint64_t *ret)
{
    (void)reading, (void)ret;
    return false;
}

/* clang-format off */
static const opl_counter memory_rows[] = {
    {28, 29, PERF_COUNTER_COUNTER, -1, 100, OPL_KEY(&meminfo, "Free", OPL_ONE), .name = "a", .help = "A."},
    {24, 25, PERF_COUNTER_LARGE_RAWCOUNT, -6, 300, OPL_KEY(&meminfo, "Free", OPL_KIB), .name = "b", .help = "B."},
    {26, 27, PERF_COUNTER_LARGE_RAWCOUNT, -6, 300, OPL_KEY(&meminfo, "Gone", OPL_KIB), .name = "c", .help = "C."},
    {30, 31, PERF_COUNTER_LARGE_RAWCOUNT, -6, 200, OPL_KEY(&meminfo, "Total - Free", OPL_KIB), .name = "d", .help = "D."},
    {32, 33, PERF_RAW_FRACTION, 0, 300, OPL_KEY(&meminfo, "Free", OPL_KIB), OPL_KEY(&meminfo, "Total", OPL_KIB), .name = "e", .help = "E."},
    {34, 35, PERF_COUNTER_RAWCOUNT, 0, 100, OPL_KEY(&missing, "Free", OPL_KIB), .name = "f", .help = "F."},
    {36, 37, PERF_COUNTER_RAWCOUNT, 0, 100, OPL_FN(seven), .name = "g", .help = "G."},
    {38, 39, PERF_COUNTER_RAWCOUNT, 0, 100, OPL_FN(never), .name = "h", .help = "H."},
    {40, 41, PERF_COUNTER_RAWCOUNT, 0, 100, OPL_KEY(&meminfo, "Big", OPL_ONE), .name = "i", .help = "I."},
    {42, 43, PERF_COUNTER_COUNTER, 0, 100, OPL_KEY(&meminfo, "Big", OPL_ONE), .name = "j", .help = "J."},
    {44, 45, PERF_COUNTER_LARGE_RAWCOUNT, 0, 100, OPL_KEY_COLUMN(&stat_file, "cpu", 4, OPL_ONE), .name = "k", .help = "K."},
};
static const opl_counter cpu_rows[] = {
    {6, 7, PERF_100NSEC_TIMER, 0, 100, OPL_COLUMN(&stat_file, 2, OPL_TICKS), .name = "user", .help = "U."},
    {142, 143, PERF_COUNTER_RAWCOUNT, 0, 100, OPL_COLUMNS(&stat_file, 2, 3, OPL_ONE), .total = OPL_MEAN, .name = "sum", .help = "S."},
    {144, 145, PERF_COUNTER_RAWCOUNT, 0, 100, OPL_COLUMN(&stat_file, 5, OPL_ONE), .total = OPL_NONE, .name = "id", .help = "I."},
};
/* clang-format on */
static const opl_object memory = {
    4, 5, "Memory", "M.", OPL_COUNTERS(memory_rows), .default_counter = 36};
static const opl_object cpus = {
    238,
    239,
    "Processor",
    "P.",
    OPL_COUNTERS(cpu_rows),
    .instances = true,
    .total = "_Total",
    .lines = {&stat_file, "cpu"},
    .clock = true
};
static const opl_object costly = {
    300, 301, "Costly", "C.", .counters = &memory_rows[6], .counter_count = 1, .costly = true};
static const opl_object *const objects[] = {&memory, &cpus, &costly};
static opl_provider *provider;

static DWORD collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types)
{
    return opl_entry_collect_1(&(opl_entry){.provider = provider}, query, data, bytes, types);
}

static struct answer run_query(const char16_t *query)
{
    return query_function(collect, query, ANSWER_SIZE);
}

static int begin(void **state)
{
    (void)state;
    tree_make();
    tree_write("proc/meminfo", "Total:  1000 kB\nFree:    400 kB\nBig: 4294967300\n");
    tree_write("proc/stat", "cpu  10 20 30 40\ncpu0 1 2 3 4\ncpu1 9 18 27 36\nctxt 5\n");
    assert_int_equal(tree_open(OPL_OBJECTS(objects), 0, 0, &provider), 0);
    return 0;
}

static int end(void **state)
{
    (void)state;
    provider_close(provider);
    tree_drop("");
    return 0;
}

static void keys_columns_and_functions(void **state)
{
    (void)state;
    struct answer answer = run_query(u"4");
    assert_int_equal(answer.types, 1);
    assert_int_equal(value_of(&answer, 4, NULL, 28), 400);
    assert_int_equal(value_of(&answer, 4, NULL, 24), 400 * 1024);
    assert_int_equal(value_of(&answer, 4, NULL, 30), 600 * 1024);
    assert_int_equal(value_of(&answer, 4, NULL, 36), 7);
    assert_int_equal(value_of(&answer, 4, NULL, 44), 40);
}

static void what_no_row_has_is_absent(void **state)
{
    (void)state;
    struct answer answer = run_query(u"4");
    assert_false(answer_has(&answer, 4, 26)); /* the file has no such key */
    assert_false(answer_has(&answer, 4, 34)); /* there is no such file */
    assert_false(answer_has(&answer, 4, 38)); /* the counter's function returned false */
}

static void levels_saturate_and_counters_wrap(void **state)
{
    (void)state;
    struct answer answer = run_query(u"4");
    assert_int_equal(value_of(&answer, 4, NULL, 40), 0xFFFFFFFF);
    assert_int_equal(value_of(&answer, 4, NULL, 42), 4);
}

static void definitions_are_as_windows_has_them(void **state)
{
    (void)state;
    struct answer answer = run_query(u"4");
    opl_object_view object;
    opl_counter_view first = {0}, counter, base;
    assert_true(answer_object(&answer, 4, &object));
    assert_int_equal(object.type.HeaderLength, 64);
    assert_int_equal(object.type.NumInstances, PERF_NO_INSTANCES);
    assert_int_equal(object.type.DetailLevel, 100);
    assert_int_equal(object.type.PerfFreq.QuadPart, 0);
    assert_true(opl_object_next_counter(&answer.block, &object, &first));
    assert_int_equal(first.definition.CounterOffset, 4);
    assert_int_equal(first.definition.DefaultScale, -1);
    assert_true(object_counter(&answer, &object, 32, &counter));
    base = counter;
    assert_true(opl_object_next_counter(&answer.block, &object, &base));
    assert_int_equal(base.definition.CounterNameTitleIndex, 32);
    assert_int_equal(base.definition.CounterHelpTitleIndex, 33);
    assert_int_equal(base.definition.CounterType, PERF_RAW_BASE);
    assert_true(object_counter(&answer, &object, 36, &counter));
    assert_int_equal(object.type.DefaultCounter, counter.position);
}

static void lines_are_instances(void **state)
{
    (void)state;
    struct answer answer = run_query(u"238");
    opl_object_view object;
    assert_true(answer_object(&answer, 238, &object));
    assert_int_equal(object.type.NumInstances, 3);
    assert_int_equal(object.type.PerfFreq.QuadPart, 10000000);
    assert_true(object.type.PerfTime.QuadPart > 130000000000000000);
    assert_int_equal(value_of(&answer, 238, "0", 6), 1 * (10000000 / sysconf(_SC_CLK_TCK)));
    assert_int_equal(value_of(&answer, 238, "1", 142), 27);
    assert_int_equal(value_of(&answer, 238, "_Total", 6), 10 * (10000000 / sysconf(_SC_CLK_TCK)));
    assert_int_equal(value_of(&answer, 238, "_Total", 142), 15);
    assert_int_equal(value_of(&answer, 238, "_Total", 144), 0);
}

static void c116_unknown_requests_get_nothing(void **state)
{
    (void)state;
    static const char16_t *const queries[] = {u"2", u"ABCD", u"Foreign box", u"Foreign box 4",
                                              u"44 2382"};
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        struct answer answer = run_query(queries[i]);
        assert_int_equal(answer.status, 0);
        assert_int_equal(answer.bytes, 0);
        assert_int_equal(answer.types, 0);
    }
}

static void c72_words_of_the_query(void **state)
{
    (void)state;
    assert_int_equal(run_query(u"Global").types, 2);
    assert_int_equal(run_query(u"").types, 2);
    assert_int_equal(run_query(u"Costly").types, 1);
    assert_int_equal(run_query(u"300 4").types, 2);
    assert_int_equal(run_query(u" 238  4 x").types, 2);
}

static void c71_more_data_leaves_zeros(void **state)
{
    (void)state;
    struct answer whole = run_query(u"Global");
    assert_int_equal(whole.bytes % 8, 0);
    for (DWORD capacity = 0; capacity < whole.bytes; capacity += 8) {
        struct answer answer = query_function(collect, u"Global", capacity);
        assert_int_equal(answer.status, ERROR_MORE_DATA);
        assert_int_equal(answer.types, 0);
        assert_int_equal(answer_bytes[96], 0xAB);
    }
    struct answer exact = query_function(collect, u"Global", whole.bytes);
    assert_int_equal(exact.status, 0);
    assert_int_equal(answer_bytes[96 + whole.bytes], 0xAB);
}

static void files_are_read_each_time(void **state)
{
    (void)state;
    tree_write("proc/meminfo", "New: 1\nTotal:  1000 kB\nBig: 1\nFree:    500 kB\n");
    struct answer answer = run_query(u"4");
    assert_int_equal(value_of(&answer, 4, NULL, 28), 500);
    tree_write("proc/meminfo", "Total:  1000 kB\n");
    answer = run_query(u"4");
    assert_int_equal(value_of(&answer, 4, NULL, 28), 0);
    tree_write("proc/meminfo", "Total:  1000 kB\nFree:    400 kB\nBig: 4294967300\n");
    answer = run_query(u"4");
    assert_int_equal(value_of(&answer, 4, NULL, 28), 400);
}

/* If a program closes the library's descriptors, the next query opens the files again, and closes
 * none of the program's own descriptors. */
static void a_program_may_close_our_files(void **state)
{
    (void)state;
    char text[8] = "";
    int pipes[64][2];
    run_query(u"Global");
    for (int fd = 3; fd < 32; fd++)
        close(fd);
    for (int i = 0; i < 8; i++)
        assert_int_equal(pipe(pipes[i]), 0);
    struct answer answer = run_query(u"4");
    assert_int_equal(value_of(&answer, 4, NULL, 28), 400);
    for (int i = 0; i < 8; i++) {
        assert_int_equal(write(pipes[i][1], "here", 4), 4);
        assert_int_equal(read(pipes[i][0], text, 4), 4);
        close(pipes[i][0]);
        close(pipes[i][1]);
    }
}

static void c67_indexes_are_relative_to_the_registration(void **state)
{
    (void)state;
    opl_provider *absolute = provider;
    assert_int_equal(tree_open(OPL_OBJECTS(objects), 2000, 2001, &provider), 0);
    struct answer answer = run_query(u"2004");
    opl_object_view object;
    assert_true(answer_object(&answer, 2004, &object));
    assert_int_equal(object.type.ObjectHelpTitleIndex, 2006);
    assert_int_equal(value_of(&answer, 2004, NULL, 2028), 400);
    assert_int_equal(run_query(u"4").types, 0);
    provider_close(provider);
    provider = absolute;
}

static void wrong_rows_are_refused(void **state)
{
    (void)state;
    static const opl_counter text[] = {
        {2, 3, PERF_COUNTER_TEXT, 0, 100, OPL_FN(seven)}
    };
    static const opl_counter sum[] = {
        {2, 3, PERF_COUNTER_RAWCOUNT, 0, 100, OPL_KEY(&meminfo, "Free +", OPL_ONE)}
    };
    static const opl_counter column[] = {
        {2, 3, PERF_COUNTER_RAWCOUNT, 0, 100, OPL_COLUMN(&meminfo, 65, OPL_ONE)}
    };
    static const opl_object wrong[] = {
        {2, 3, "a", "A.", OPL_COUNTERS(text)  },
        {2, 3, "b", "B.", OPL_COUNTERS(sum)   },
        {2, 3, "c", "C.", OPL_COUNTERS(column)}
    };
    for (size_t i = 0; i < 3; i++) {
        const opl_object *const list[] = {&wrong[i]};
        opl_provider *none = (opl_provider *)1;
        assert_int_equal(tree_open(OPL_OBJECTS(list), 0, 0, &none), ERROR_INVALID_PARAMETER);
        assert_null(none);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_columns_and_functions),
        cmocka_unit_test(what_no_row_has_is_absent),
        cmocka_unit_test(levels_saturate_and_counters_wrap),
        cmocka_unit_test(definitions_are_as_windows_has_them),
        cmocka_unit_test(lines_are_instances),
        cmocka_unit_test(c116_unknown_requests_get_nothing),
        cmocka_unit_test(c72_words_of_the_query),
        cmocka_unit_test(c71_more_data_leaves_zeros),
        cmocka_unit_test(files_are_read_each_time),
        cmocka_unit_test(a_program_may_close_our_files),
        cmocka_unit_test(c67_indexes_are_relative_to_the_registration),
        cmocka_unit_test(wrong_rows_are_refused),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
