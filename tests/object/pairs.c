/* SPDX-License-Identifier: MIT */
/* Files in which a line of names stands above a line of numbers (such as proc/net/snmp), and files
 * whose lines belong to instances with other names. */
#include "tree.h"

enum { SEGMENTS = 2, BOTH = 4, GONE = 6, MAYBE = 8, LAST = 10, RISEN = 2, WEIGHT = 4 };

static const opl_source mib = {.path = "proc/net/mib", .pairs = true};
static const opl_source loaves = {.path = "proc/loaves"};
static const opl_source weight = {.path = "loaf/*/weight"};

/* clang-format off */
static const opl_counter mib_rows[] = {
    {SEGMENTS, 3, PERF_COUNTER_LARGE_RAWCOUNT, 0, 100, OPL_KEY(&mib, "Tcp.In", OPL_ONE), .name = "a", .help = "A."},
    {BOTH,     5, PERF_COUNTER_LARGE_RAWCOUNT, 0, 100, OPL_KEY(&mib, "Tcp.In + Udp.In", OPL_TIMES(2)), .name = "b", .help = "B."},
    {GONE,     7, PERF_COUNTER_LARGE_RAWCOUNT, 0, 100, OPL_KEY(&mib, "Tcp.I", OPL_ONE), .name = "c", .help = "C."},
    {MAYBE,    9, PERF_COUNTER_LARGE_RAWCOUNT, 0, 100, OPL_KEY(&mib, "Udp.In + Udp.Rare?", OPL_ONE), .name = "d", .help = "D."},
    {LAST,    11, PERF_COUNTER_LARGE_RAWCOUNT, 0, 100, OPL_KEY(&mib, "Udp.Last", OPL_ONE), .name = "e", .help = "E."},
};
static const opl_counter loaf_rows[] = {
    {RISEN,  3, PERF_COUNTER_LARGE_RAWCOUNT, 0, 100, OPL_COLUMN(&loaves, 2, OPL_ONE), .name = "a", .help = "A."},
    {WEIGHT, 5, PERF_COUNTER_LARGE_RAWCOUNT, 0, 100, OPL_COLUMN(&weight, 1, OPL_ONE), .name = "b", .help = "B."},
};
/* clang-format on */

/* Adds each loaf that has a weight as an instance; its name is in capital letters, unlike in the
 * file. */
static void list_loaves(opl_listing *listing)
{
    char folder[32], name[32];
    const char *text = opl_reading_text(opl_listing_reading(listing), &loaves, NULL);
    for (; text && *text; text = strchr(text, '\n') + 1) {
        size_t bytes = strcspn(text, " ");
        snprintf(folder, sizeof folder, "%.*s", (int)bytes, text);
        snprintf(name, sizeof name, "THE %.*s", (int)bytes, text);
        if (opl_reading_text(opl_listing_at(listing, folder), &weight, NULL))
            opl_listing_line(listing, &loaves, text, folder, name);
    }
}

enum { MIB = 100, LOAF = 200 };
static const opl_object mib_object = {MIB, 101, "Mib", "M.", OPL_COUNTERS(mib_rows)};
static const opl_object loaf = {
    LOAF, 201, "Loaf", "L.", OPL_COUNTERS(loaf_rows), .instances = true, .list = list_loaves};
static const opl_object *const objects[] = {&mib_object, &loaf};
static opl_provider *provider;

static DWORD collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types)
{
    return opl_entry_collect_1(&(opl_entry){.provider = provider}, query, data, bytes, types);
}

static struct answer run_query(void)
{
    return query_function(collect, u"Global", ANSWER_SIZE);
}

static const char first[] = "Tcp: Out In InOut\nTcp: 1 20 3\nUdp: In Out Last\nUdp: 4 5 6\n";

static void numbers_stand_below_their_names(void **state)
{
    (void)state;
    tree_write("proc/net/mib", first);
    struct answer answer = run_query();
    assert_int_equal(value_of(&answer, MIB, NULL, SEGMENTS), 20);
    assert_int_equal(value_of(&answer, MIB, NULL, BOTH), 2 * (20 + 4));
    assert_int_equal(value_of(&answer, MIB, NULL, MAYBE), 4);
    assert_int_equal(value_of(&answer, MIB, NULL, LAST), 6);
    /* a name that is the beginning of another name is not found */
    assert_false(answer_has(&answer, MIB, GONE));
}

static void longer_numbers_move_nothing(void **state)
{
    (void)state;
    tree_write("proc/net/mib", "Tcp: Out In InOut\nTcp: 18446744073709551615 -2 3\n"
                               "Udp: In Out Last\nUdp: 4000000 5 18446744073709551615\n");
    struct answer answer = run_query();
    assert_int_equal(value_of(&answer, MIB, NULL, SEGMENTS), (uint64_t)-2);
    assert_int_equal(value_of(&answer, MIB, NULL, LAST), UINT64_MAX);
}

static void names_may_come_and_go(void **state)
{
    (void)state;
    tree_write("proc/net/mib", "Udp: Rare In Last\nUdp: 1 2 3\nTcp: In\nTcp: 9\n");
    struct answer answer = run_query();
    assert_int_equal(value_of(&answer, MIB, NULL, SEGMENTS), 9);
    assert_int_equal(value_of(&answer, MIB, NULL, MAYBE), 3);
    assert_int_equal(value_of(&answer, MIB, NULL, LAST), 3);
    tree_write("proc/net/mib", "Udp: In\nUdp: 7\n");
    answer = run_query();
    assert_int_equal(value_of(&answer, MIB, NULL, SEGMENTS), 0);
    assert_int_equal(value_of(&answer, MIB, NULL, MAYBE), 7);
    tree_write("proc/net/mib", first);
    answer = run_query();
    assert_int_equal(value_of(&answer, MIB, NULL, SEGMENTS), 20);
}

/* The positions of names are checked at each query: if two names of the same length change places,
 * each keeps its own value. */
static void names_are_looked_at_each_time(void **state)
{
    (void)state;
    tree_write("proc/net/mib", "Tcp: Ax In\nTcp: 1 2\nUdp: In Last\nUdp: 3 4\n");
    struct answer answer = run_query();
    assert_int_equal(value_of(&answer, MIB, NULL, SEGMENTS), 2);
    tree_write("proc/net/mib", "Tcp: In Ax\nTcp: 1 2\nUdp: Last In\nUdp: 3 4\n");
    answer = run_query();
    assert_int_equal(value_of(&answer, MIB, NULL, SEGMENTS), 1);
    assert_int_equal(value_of(&answer, MIB, NULL, LAST), 3);
}

static void lines_that_are_no_pair_are_passed_over(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "Tcp: In\nUdp: In Last\nUdp: 3 4\n", "no word\nTcp: In\nUdp: In Last\nUdp: 3 4",
        "Udp: In Last\nUdp: 3 4 5 6\nTcp: In", "Udp: In Last\nUdp: 3 4\nTcp: In\nTcp:\n",
        "\n\nUdp:  In   Last\nUdp:  3\t4\nTcp: In\nTcp : 9"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        tree_write("proc/net/mib", texts[i]);
        struct answer answer = run_query();
        assert_int_equal(value_of(&answer, MIB, NULL, SEGMENTS), 0);
        assert_int_equal(value_of(&answer, MIB, NULL, MAYBE), 3);
        assert_int_equal(value_of(&answer, MIB, NULL, LAST), 4);
    }
}

static void a_line_may_have_another_name(void **state)
{
    (void)state;
    opl_object_view object;
    struct answer answer = run_query();
    assert_int_equal(value_of(&answer, LOAF, "THE rye", RISEN), 7);
    assert_int_equal(value_of(&answer, LOAF, "THE rye", WEIGHT), 750);
    assert_int_equal(value_of(&answer, LOAF, "THE wheat", RISEN), 9);
    assert_int_equal(value_of(&answer, LOAF, "THE wheat", WEIGHT), 500);
    assert_true(answer_object(&answer, LOAF, &object));
    assert_int_equal(object.type.NumInstances, 2); /* the third loaf has no weight */
    tree_drop("loaf/rye");
    answer = run_query();
    assert_true(answer_object(&answer, LOAF, &object));
    assert_int_equal(object.type.NumInstances, 1);
    assert_int_equal(value_of(&answer, LOAF, "THE wheat", WEIGHT), 500);
}

static int begin(void **state)
{
    (void)state;
    tree_make();
    tree_write("proc/net/mib", first);
    tree_write("proc/loaves", "rye 7\noat 8\nwheat 9\n");
    tree_write("loaf/rye/weight", "750\n");
    tree_write("loaf/wheat/weight", "500\n");
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

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_stand_below_their_names),
        cmocka_unit_test(longer_numbers_move_nothing),
        cmocka_unit_test(names_may_come_and_go),
        cmocka_unit_test(names_are_looked_at_each_time),
        cmocka_unit_test(lines_that_are_no_pair_are_passed_over),
        cmocka_unit_test(a_line_may_have_another_name),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
