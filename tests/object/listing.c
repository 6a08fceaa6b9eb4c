/* SPDX-License-Identifier: MIT */
/* Objects whose instances the provider's list function adds: parents, totals, related objects,
 * folders, and what happens if memory runs out at any single allocation. */
#include "tree.h"

/* ---- memory that runs out ---- */

/* how many more allocations succeed before all others fail; -1: all succeed */
static long allocations_left = -1;
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);

static bool refused(void)
{
    if (allocations_left < 0)
        return false;
    return allocations_left == 0 || allocations_left-- == 0;
}

void *__wrap_malloc(size_t size)
{
    return refused() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return refused() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
    return refused() ? NULL : __real_realloc(memory, size);
}

/* ---- a herd: values that are set, a computed value, and a value read from a file ---- */

enum { WEIGHT = 2, AGE = 4, LUCK = 6, TAG = 8, BORN = 10, SHARE = 12 };

static const opl_source tag = {"herd/*/tag"};
static const opl_source letter = {"herd/*/letter", .if_source = &tag, .if_word = 1};

/* Computes a value, which only instances with an even number have. */
static unsigned lucks;
static bool luck(opl_reading *reading, uint64_t *ret)
{
    lucks++;
    *ret = 100 + opl_reading_note(reading);
    return opl_reading_note(reading) % 2 == 0;
}

static bool half(opl_reading *reading, uint64_t *ret)
{
    *ret = 1;
    return opl_reading_note(reading) != 2;
}

/* clang-format off */
static const opl_counter rows[] = {
    {WEIGHT, WEIGHT, PERF_COUNTER_LARGE_RAWCOUNT, 0, 100, {0}, .name = "Weight", .help = "W."},
    {AGE, AGE, PERF_COUNTER_RAWCOUNT, 0, 100, {0}, .total = OPL_MEAN, .name = "Age", .help = "A."},
    {LUCK, LUCK, PERF_COUNTER_RAWCOUNT, 0, 100, OPL_FN(luck), .total = OPL_MEAN, .name = "Luck", .help = "L."},
    {TAG, TAG, PERF_COUNTER_RAWCOUNT, 0, 100, OPL_KEY(&letter, "x?", OPL_ONE), .name = "Tag", .help = "T."},
    {BORN, BORN, PERF_ELAPSED_TIME, 0, 200, {0}, .total = OPL_NOW, .name = "Born", .help = "B."},
    {SHARE, SHARE, PERF_RAW_FRACTION, 0, 200, OPL_FN(half), OPL_FN(luck), .name = "Share", .help = "S."},
};
/* clang-format on */

static unsigned members, enough; /* `enough`: how many calls of opl_listing_enough returned true */
static void list_herd(opl_listing *herd);
static const opl_object herd_object = {0,
                                       0,
                                       "Herd",
                                       "H.",
                                       OPL_COUNTERS(rows),
                                       .clock = true,
                                       .instances = true,
                                       .total = "_Total",
                                       .list = list_herd};
static const opl_object young_object = {100,
                                        100,
                                        "Young",
                                        "Y.",
                                        .counters = rows,
                                        .counter_count = 2,
                                        .related = &herd_object,
                                        .instances = true,
                                        .total = NULL,
                                        .listed_with = &herd_object};
static const opl_object *const objects[] = {&herd_object, &young_object};

static void list_herd(opl_listing *herd)
{
    opl_listing *young = opl_listing_of(herd, &young_object);
    for (unsigned i = 0; i < members; i++) {
        char folder[16], name[16];
        snprintf(folder, sizeof folder, "%u", i);
        int length = snprintf(name, sizeof name, "m\xc3\xb6-%u", i);
        if (!opl_listing_read_with(herd, folder, name, (size_t)length, i, NULL))
            continue;
        opl_listing_set(herd, WEIGHT, 1000 * (i + 1));
        opl_listing_set(herd, AGE, i);
        opl_listing_set(herd, BORN, 5);
        opl_listing_set(herd, 999, 1); /* there is no such row, so nothing happens */
        if (i > 0)
            opl_listing_parent(herd, &herd_object, i - 1);
        if (young && i == 2) {
            opl_listing_add(young, "kid", 3);
            opl_listing_parent(young, &herd_object, opl_listing_count(herd) - 1);
        }
    }
    enough += opl_listing_enough(herd);
}

static void list_moving(opl_listing *listing)
{
    const uint32_t *numbers;
    size_t count;
    if (opl_listing_numbers(listing, "moving", 0, &numbers, &count))
        for (size_t i = 0; i < count; i++) {
            char name[2] = {(char)('0' + numbers[i]), 0};
            opl_listing_read(listing, name, name, 1);
        }
}

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
    tree_write("herd/0/tag", "7\n");
    tree_write("herd/0/letter", "x 11\n");
    tree_write("herd/1/tag", "0\n");
    tree_write("herd/1/letter", "x 12\n");
    tree_write("herd/2/tag", "9\n");
    tree_write("herd/2/letter", "y 0\n");
    members = 3;
    return (int)tree_open(OPL_OBJECTS(objects), 2000, 2001, &provider);
}

static int end(void **state)
{
    (void)state;
    provider_close(provider);
    tree_drop("");
    return 0;
}

static void only_open_has_enough(void **state)
{
    (void)state;
    assert_int_equal(enough, 1);
    run_query(u"2000");
    assert_int_equal(enough, 1);
}

static void given_values_and_totals(void **state)
{
    (void)state;
    struct answer answer = run_query(u"2000");
    opl_object_view object;
    assert_true(answer_object(&answer, 2000, &object));
    assert_int_equal(answer.types, 1);
    assert_int_equal(object.type.NumInstances, 4);
    assert_int_equal(object.type.NumCounters, 7);
    assert_int_equal(value_of(&answer, 2000, "m\xc3\xb6-1", 2000 + WEIGHT), 2000);
    assert_int_equal(value_of(&answer, 2000, "_Total", 2000 + WEIGHT), 6000);
    assert_int_equal(value_of(&answer, 2000, "_Total", 2000 + AGE), 1);
    assert_int_equal(value_of(&answer, 2000, "_Total", 2000 + BORN), object.type.PerfTime.QuadPart);
}

static void the_unreadable_is_zero_and_out_of_the_mean(void **state)
{
    (void)state;
    struct answer answer = run_query(u"2000");
    assert_int_equal(value_of(&answer, 2000, "m\xc3\xb6-0", 2000 + LUCK), 100);
    assert_int_equal(value_of(&answer, 2000, "m\xc3\xb6-1", 2000 + LUCK), 0);
    assert_int_equal(value_of(&answer, 2000, "_Total", 2000 + LUCK), 101);
}

static void a_counter_and_its_base_are_unknown_together(void **state)
{
    (void)state;
    struct answer answer = run_query(u"2000");
    opl_object_view object;
    opl_counter_view counter;
    opl_instance_view instance;
    uint64_t base;
    assert_true(answer_object(&answer, 2000, &object));
    assert_true(object_counter(&answer, &object, 2000 + SHARE, &counter));
    assert_true(opl_object_next_counter(&answer.block, &object, &counter));
    for (uint32_t i = 0; i < 4; i++) {
        assert_true(object_instance(&answer, &object, i, &instance));
        assert_true(opl_counter_number(&answer.block, &instance, &counter, &base));
        assert_int_equal(base, i == 0 || i == 3 ? 100 : 0);
        assert_int_equal(value_at(&answer, &object, &instance, 2000 + SHARE), base ? 1 : 0);
    }
}

static void c84_parents_may_be_of_the_same_object(void **state)
{
    (void)state;
    struct answer answer = run_query(u"2100");
    opl_object_view object, parent_object;
    opl_instance_view instance = {0}, parent;
    assert_int_equal(answer.types, 2);
    assert_true(answer_object(&answer, 2000, &object));
    assert_true(object_instance(&answer, &object, 0, &instance));
    assert_int_equal(instance.definition.ParentObjectTitleIndex, 0);
    assert_true(object_instance(&answer, &object, 2, &instance));
    assert_true(opl_instance_parent(&answer.block, &instance, &parent_object, &parent));
    assert_int_equal(parent.position, 1);
    assert_true(answer_object(&answer, 2100, &object));
    assert_int_equal(object.type.NumInstances, 1);
    assert_true(object_instance(&answer, &object, 0, &instance));
    assert_true(opl_instance_parent(&answer.block, &instance, &parent_object, &parent));
    assert_int_equal(parent_object.type.ObjectNameTitleIndex, 2000);
    assert_int_equal(parent.position, 2);
}

static void needless_files_are_left_alone(void **state)
{
    (void)state;
    struct answer answer = run_query(u"2000");
    assert_int_equal(value_of(&answer, 2000, "m\xc3\xb6-0", 2000 + TAG), 11);
    /* herd/1/tag is 0, so its letter is not read */
    assert_int_equal(value_of(&answer, 2000, "m\xc3\xb6-1", 2000 + TAG), 0);
    /* herd/2/letter has no key x */
    assert_int_equal(value_of(&answer, 2000, "m\xc3\xb6-2", 2000 + TAG), 0);
}

/* A query that needs one counter gets only that one, and nothing is computed or read for the other
 * counters; the next query gets all of them again. */
static void what_a_query_does_not_want_is_not_read(void **state)
{
    (void)state;
    const struct wanted_counter list[] = {
        {2000, 2000 + AGE  },
        {0,    2000 + SHARE},
        {100,  2000 + LUCK }
    };
    opl_object_view object;
    opl_counter_view counter;
    lucks = 0;
    wanted_here = (struct wanted_list){list, 1};
    struct answer answer = run_query(u"2000");
    assert_int_equal(lucks, 0);
    assert_true(answer_object(&answer, 2000, &object));
    assert_int_equal(object.type.NumCounters, 1);
    assert_int_equal(value_of(&answer, 2000, "m\xc3\xb6-2", 2000 + AGE), 2);
    assert_int_equal(value_of(&answer, 2000, "_Total", 2000 + AGE), 1);
    wanted_here = (struct wanted_list){list, COUNT(list)};
    answer = run_query(u"2100"); /* all counters of 2100, which is not in the list */
    assert_true(answer_object(&answer, 2000, &object));
    assert_int_equal(object.type.NumCounters, 3);
    assert_true(object_counter(&answer, &object, 2000 + SHARE, &counter));
    assert_true(opl_object_next_counter(&answer.block, &object, &counter));
    assert_int_equal(value_of(&answer, 2000, "m\xc3\xb6-0", 2000 + SHARE), 1);
    assert_true(answer_object(&answer, 2100, &object));
    assert_int_equal(object.type.NumCounters, 2);
    wanted_here = (struct wanted_list){0};
    answer = run_query(u"2000");
    assert_true(answer_object(&answer, 2000, &object));
    assert_int_equal(object.type.NumCounters, 7);
    assert_int_equal(value_of(&answer, 2000, "m\xc3\xb6-0", 2000 + LUCK), 100);
}

/* The files of several instances may have different keys on the same line. */
static void keys_may_move_between_instances(void **state)
{
    (void)state;
    static const opl_source file = {"moving/*/keys"};
    static const opl_counter moving_rows[] = {
        {2, 3, PERF_COUNTER_RAWCOUNT, 0, 100, OPL_KEY(&file, "a", OPL_ONE), .name = "a"},
        {4, 5, PERF_COUNTER_RAWCOUNT, 0, 100, OPL_KEY(&file, "c", OPL_ONE), .name = "c"},
        {6, 7, PERF_COUNTER_RAWCOUNT, 0, 100, OPL_KEY(&file, "b", OPL_ONE), .name = "b"},
    };
    static const opl_object moving = {
        50, 51, "Moving", "M.", OPL_COUNTERS(moving_rows), .instances = true, .list = list_moving};
    static const opl_object *const list[] = {&moving};
    opl_provider *kept = provider;
    tree_write("moving/0/keys", "a: 1\nx: 2\nc: 3\n");
    tree_write("moving/1/keys", "a: 4\nb: 5\nc: 6\n"); /* "b" is where another file has "x" */
    tree_write("moving/2/keys", "c: 7\nb: 8\na: 9\n");
    tree_write("moving/3/keys", "head: 1\na: 1\nx: 1\nc: 2\nb: 3");
    static const uint64_t expected[][3] = {
        {1, 3, 0},
        {4, 6, 5},
        {9, 7, 8},
        {1, 2, 3}
    };
    assert_int_equal(tree_open(OPL_OBJECTS(list), 0, 0, &provider), 0);
    for (int times = 0; times < 3; times++) {
        struct answer answer = run_query(u"50");
        for (int i = 0; i < 4; i++)
            for (int row = 0; row < 3; row++) {
                char name[2] = {(char)('0' + i), 0};
                assert_int_equal(value_of(&answer, 50, name, 2 + 2 * (DWORD)row), expected[i][row]);
            }
    }
    provider_close(provider);
    provider = kept;
}

static void no_instance_is_an_answer_too(void **state)
{
    (void)state;
    unsigned before = members;
    members = 0;
    struct answer answer = run_query(u"2100");
    opl_object_view object;
    assert_true(answer_object(&answer, 2100, &object));
    assert_int_equal(object.type.NumInstances, 0);
    assert_true(object.type.TotalByteLength > object.type.DefinitionLength);
    members = before;
}

static void list_nobody(opl_listing *listing)
{
    if (members)
        opl_listing_add(listing, "one", 3);
}

/* An object without instances is omitted together with its total, because a mean of no values would
 * be a false 0. */
static void a_total_of_nothing_can_be_left_out(void **state)
{
    (void)state;
    static const opl_object nobody = {20,
                                      21,
                                      "Absent",
                                      "N.",
                                      .counters = rows,
                                      .counter_count = 2,
                                      .instances = true,
                                      .total = "_Total",
                                      .list = list_nobody,
                                      .only_with_instances = true};
    static const opl_object *const list[] = {&nobody};
    opl_provider *kept = provider;
    unsigned before = members;
    opl_object_view object;
    members = 0;
    assert_int_equal(tree_open(OPL_OBJECTS(list), 0, 0, &provider), 0);
    struct answer answer = run_query(u"20");
    assert_int_equal(answer.types, 0);
    members = 1; /* instances may appear later, and disappear again */
    answer = run_query(u"20");
    assert_true(answer_object(&answer, 20, &object));
    assert_int_equal(object.type.NumInstances, 2);
    members = 0;
    assert_int_equal(run_query(u"20").types, 0);
    provider_close(provider);
    members = before;
    provider = kept;
}

/* A folder proc that shows no process gives no count instead of 0: at least the counting process
 * itself exists, so 0 would be false. */
static void a_folder_without_processes_is_no_proc(void **state)
{
    (void)state;
    static const opl_counter count_rows[] = {
        {2, 3, PERF_COUNTER_RAWCOUNT, 0, 100, OPL_FN(opl_reading_process_count), .name = "P",
         .help = "P."},
    };
    static const opl_object counted = {50, 51, "Counted", "C.", OPL_COUNTERS(count_rows)};
    static const opl_object *const list[] = {&counted};
    opl_provider *kept = provider;
    tree_write("proc/version", "");
    assert_int_equal(tree_open(OPL_OBJECTS(list), 0, 0, &provider), 0);
    assert_int_equal(run_query(u"50").types, 0);
    provider_close(provider);
    tree_write("proc/1/stat", "");
    assert_int_equal(tree_open(OPL_OBJECTS(list), 0, 0, &provider), 0);
    struct answer answer = run_query(u"50");
    assert_int_equal(value_of(&answer, 50, NULL, 2), 1);
    provider_close(provider);
    provider = kept;
}

static void list_flock(opl_listing *flock);
static const opl_source flock_tag = {"herd/*/tag"};
/* clang-format off */
static const opl_counter flock_rows[] = {
    {2, 3, PERF_COUNTER_RAWCOUNT, 0, 100, OPL_COLUMN(&flock_tag, 1, OPL_ONE), .name = "T", .help = "T."},
};
/* clang-format on */
static const opl_object flock = {
    50, 51, "Flock", "F.", OPL_COUNTERS(flock_rows), .instances = true, .list = list_flock};
static const opl_object lamb = {
    52, 53, "Lamb", "L.", OPL_COUNTERS(flock_rows), .instances = true, .listed_with = &flock};

/* While the objects are read, two files change. The file of folder 0 is read for Flock, and is not
 * read again for Lamb. The file of folder 1 is read again, because folder 2 is read in between. */
static void list_flock(opl_listing *listing)
{
    opl_listing *lambs = opl_listing_of(listing, &lamb);
    opl_listing_read(listing, "0", "zero", 4);
    if (!lambs)
        return;
    tree_write("herd/0/tag", "8\n");
    opl_listing_read(lambs, "0", "zero", 4);
    opl_listing_read(listing, "1", "one", 3);
    tree_write("herd/1/tag", "5\n");
    opl_listing_read(lambs, "2", "two", 3);
    opl_listing_read(lambs, "1", "one", 3);
}

static void files_of_one_folder_are_read_once_for_several_objects(void **state)
{
    (void)state;
    static const opl_object *const list[] = {&flock, &lamb};
    opl_provider *kept = provider;
    tree_write("herd/0/tag", "7\n");
    tree_write("herd/1/tag", "0\n");
    assert_int_equal(tree_open(OPL_OBJECTS(list), 0, 0, &provider), 0);
    tree_write("herd/0/tag", "7\n");
    tree_write("herd/1/tag", "0\n");
    struct answer answer = run_query(u"50 52");
    assert_int_equal(value_of(&answer, 50, "zero", 2), 7);
    assert_int_equal(value_of(&answer, 52, "zero", 2), 7);
    assert_int_equal(value_of(&answer, 50, "one", 2), 0);
    assert_int_equal(value_of(&answer, 52, "one", 2), 5);
    answer = run_query(u"50"); /* in a new query, the file of folder 0 is read again */
    assert_int_equal(value_of(&answer, 50, "zero", 2), 8);
    tree_write("herd/0/tag", "6\n");
    answer = run_query(u"50");
    assert_int_equal(value_of(&answer, 50, "zero", 2), 6);
    provider_close(provider);
    provider = kept;
}

/* Whichever allocation fails, Open and Collect either succeed or report that there is no memory;
 * nothing leaks, and nothing is left incomplete. */
static void memory_may_run_out_anywhere(void **state)
{
    (void)state;
    opl_provider *kept = provider;
    bool good = false;
    long tries = 0;
    for (; !good && tries < 500; tries++) {
        allocations_left = tries;
        DWORD status = tree_open(OPL_OBJECTS(objects), 2000, 2001, &provider);
        if (status == 0) {
            LPVOID data = answer_bytes;
            DWORD bytes = ANSWER_SIZE, types = 7;
            status = opl_entry_collect_1(&(opl_entry){.provider = provider}, (LPWSTR)u"2100", &data,
                                         &bytes, &types);
            good = status == 0 && types == 2;
        }
        allocations_left = -1;
        if (status)
            assert_int_equal(status, ERROR_NOT_ENOUGH_MEMORY);
        provider_close(provider);
    }
    assert_true(good);
    assert_true(tries > 10);
    provider = kept;
    assert_int_equal(run_query(u"2100").types, 2);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_open_has_enough),
        cmocka_unit_test(given_values_and_totals),
        cmocka_unit_test(the_unreadable_is_zero_and_out_of_the_mean),
        cmocka_unit_test(a_counter_and_its_base_are_unknown_together),
        cmocka_unit_test(c84_parents_may_be_of_the_same_object),
        cmocka_unit_test(needless_files_are_left_alone),
        cmocka_unit_test(what_a_query_does_not_want_is_not_read),
        cmocka_unit_test(keys_may_move_between_instances),
        cmocka_unit_test(no_instance_is_an_answer_too),
        cmocka_unit_test(a_total_of_nothing_can_be_left_out),
        cmocka_unit_test(a_folder_without_processes_is_no_proc),
        cmocka_unit_test(files_of_one_folder_are_read_once_for_several_objects),
        cmocka_unit_test(memory_may_run_out_anywhere),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
