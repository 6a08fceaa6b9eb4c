/* SPDX-License-Identifier: MIT */
/*
 * The samples' answers byte by byte; the test calls their functions as the library does. Two
 * samples with the same counters, one written by hand as in the second article (docs/windows), the
 * other with the builder, must give equal answers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <uchar.h>
#include <unistd.h>

#include "../experiments/lab.h"
#include <windows.h>

enum { FIRST = 1848, FIRST_HELP = 1849, OBJECT_SIZE = 184 };

/* ---- a sample ---- */

struct sample {
    void *module;
    PM_OPEN_PROC *open;
    PM_COLLECT_PROC *collect;
    PM_CLOSE_PROC *close;
};

/* Finds a function by its name. Copies the pointer with memcpy, because C does not allow a cast
 * from a data pointer to a function pointer. */
static void function(void *module, const char *name, void *ret)
{
    void *found = dlsym(module, name);
    if (!found)
        fail_msg("%s", dlerror());
    memcpy(ret, &found, sizeof found);
}

static void number_service(const char *service)
{
    const char *key = lab_performance(service);
    lab_set_dword(key, "First Counter", FIRST);
    lab_set_dword(key, "Last Counter", FIRST + 6);
    lab_set_dword(key, "First Help", FIRST_HELP);
    lab_set_dword(key, "Last Help", FIRST_HELP + 6);
}

static struct sample sample_open(const char *name, const char *service)
{
    struct sample sample = {0};
    char path[4096];
    snprintf(path, sizeof path, "%s/samples/%s.so", getenv("BUILD_ROOT"), name);
    sample.module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!sample.module)
        fail_msg("%s", dlerror());
    function(sample.module, "Open", &sample.open);
    function(sample.module, "Collect", &sample.collect);
    function(sample.module, "Close", &sample.close);
    number_service(service);
    assert_int_equal(sample.open(NULL), ERROR_SUCCESS);
    return sample;
}

static void sample_close(struct sample *sample)
{
    assert_int_equal(sample->close(), ERROR_SUCCESS);
    dlclose(sample->module);
}

struct answer {
    unsigned char bytes[4096];
    DWORD status, size, types;
};

/* Queries with a buffer of this capacity. Checks that bytes that were not written stay 0xCC, and
 * that the returned pointer agrees with the returned length. */
static struct answer query_capacity(const struct sample *sample, const char16_t *query,
                                    DWORD capacity)
{
    struct answer answer = {.size = capacity, .types = 77};
    LPVOID data = answer.bytes;
    memset(answer.bytes, 0xCC, sizeof answer.bytes);
    answer.status = sample->collect((LPWSTR)query, &data, &answer.size, &answer.types);
    assert_ptr_equal(data, answer.bytes + answer.size);
    for (size_t i = capacity; i < sizeof answer.bytes; i++)
        assert_int_equal(answer.bytes[i], 0xCC);
    return answer;
}

static struct answer run_query(const struct sample *sample, const char16_t *query)
{
    return query_capacity(sample, query, sizeof((struct answer *)0)->bytes);
}

static DWORD dword_at(const struct answer *answer, size_t offset)
{
    DWORD value;
    memcpy(&value, answer->bytes + offset, sizeof value);
    return value;
}

static void set_dword(unsigned char *bytes, size_t offset, DWORD value)
{
    memcpy(bytes + offset, &value, sizeof value);
}

/* ---- myperf1 ---- */

/* Copies the bytes of a golden block (an expected answer in tests/golden) from `offset` on. */
static size_t golden(const char *name, size_t offset, unsigned char *out)
{
    char path[4096], line[512];
    size_t count = 0;
    snprintf(path, sizeof path, "%s/%s", getenv("GOLDEN"), name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        char *at = line, *end;
        line[strcspn(line, "#\n")] = '\0';
        for (long byte; byte = strtol(at, &end, 16), end != at; at = end)
            if (count++ >= offset)
                out[count - 1 - offset] = (unsigned char)byte;
    }
    fclose(file);
    return count - offset;
}

static void c69_myperf1_is_the_articles_first_example(void **state)
{
    (void)state;
    unsigned char expected[512];
    struct sample sample = sample_open("myperf1", "MyPerf1");
    assert_int_equal(golden("hello.hex", 112, expected), OBJECT_SIZE);
    srand(7);
    set_dword(expected, 288 - 112, (DWORD)(rand() % 10));
    srand(7);
    struct answer answer = run_query(&sample, u"Global");
    assert_int_equal(answer.status, ERROR_SUCCESS);
    assert_int_equal(answer.types, 1);
    assert_int_equal(answer.size, OBJECT_SIZE);
    /* the explanation's number; in the golden block it is the name's number + 1 */
    set_dword(expected, 132 - 112, FIRST_HELP);
    assert_memory_equal(answer.bytes, expected, OBJECT_SIZE);
    sample_close(&sample);
}

static void c71_myperf_says_more_data_with_zeros(void **state)
{
    static const char *const names[][2] = {
        {"myperf1",               "MyPerf1"     },
        {"myperf2",               "MyPerf2"     },
        {"myperf1_inst_constant", "MyPerf1Inst" },
        {"myperf2_inst_constant", "MyPerf2Inst" },
        {"costly",                "CostlyFolder"}
    };
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct sample sample = sample_open(names[i][0], names[i][1]);
        DWORD needed = run_query(&sample, u"Global").size;
        for (DWORD capacity = 0; capacity < needed; capacity++) {
            struct answer answer = query_capacity(&sample, u"Global", capacity);
            assert_int_equal(answer.status, ERROR_MORE_DATA);
            assert_int_equal(answer.size, 0);
            assert_int_equal(answer.types, 0);
        }
        assert_int_equal(query_capacity(&sample, u"Global", needed).status, ERROR_SUCCESS);
        sample_close(&sample);
    }
}

static void c72_words_of_the_query(void **state)
{
    static const struct {
        const char16_t *query;
        DWORD types;
    } cases[] = {
        {u"Global",             1},
        {u"",                   1},
        {u"  ",                 1},
        {u"1848",               1},
        {u"2 1848 230",         1},
        {u"\t1848",             1},
        {u"01848",              1},
        {u"2 Global",           1},
        {u"Costly",             0},
        {u"GLOBAL",             0},
        {u"Globals",            0},
        {u"2 230",              0},
        {u"1850",               0},
        {u"11848",              0},
        {u"1848x",              0},
        {u"4294969144",         0}, /* 1848 + 2^32, which does not fit into 32 bits */
        {u"Foreign other 1848", 0},
        {u"Foreign",            0},
    };
    static const char *const names[][2] = {
        {"myperf1", "MyPerf1"},
        {"myperf2", "MyPerf2"}
    };
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct sample sample = sample_open(names[i][0], names[i][1]);
        for (size_t row = 0; row < sizeof cases / sizeof *cases; row++) {
            struct answer answer = run_query(&sample, cases[row].query);
            assert_int_equal(answer.status, ERROR_SUCCESS);
            if (answer.types != cases[row].types)
                fail_msg("%s: query %zu is answered with %u objects", names[i][0], row,
                         (unsigned)answer.types);
            assert_int_equal(answer.size, answer.types ? OBJECT_SIZE : 0);
        }
        sample_close(&sample);
    }
}

/* ---- instances ---- */

static void c73_instances_lie_packed_behind_each_other(void **state)
{
    static const char *const names[] = {"Huey", "Dewey", "Louie"};
    (void)state;
    struct sample sample = sample_open("myperf1_inst_constant", "MyPerf1Inst");
    struct answer answer = run_query(&sample, u"Global");
    size_t at = dword_at(&answer, offsetof(PERF_OBJECT_TYPE, DefinitionLength));
    assert_int_equal(at, 64 + 40);
    assert_int_equal(dword_at(&answer, offsetof(PERF_OBJECT_TYPE, NumInstances)), 3);
    assert_int_equal(dword_at(&answer, offsetof(PERF_OBJECT_TYPE, CodePage)), 0);
    for (size_t i = 0; i < 3; i++) {
        PERF_INSTANCE_DEFINITION instance;
        DWORD length = (DWORD)(strlen(names[i]) + 1) * 2;
        memcpy(&instance, answer.bytes + at, sizeof instance);
        assert_int_equal(instance.ByteLength, 24 + length);
        assert_int_equal(instance.ParentObjectTitleIndex, 0);
        assert_int_equal(instance.UniqueID, PERF_NO_UNIQUE_ID);
        assert_int_equal(instance.NameOffset, 24);
        assert_int_equal(instance.NameLength, length); /* the length includes the terminator */
        for (size_t c = 0; c < length / 2; c++)
            assert_int_equal(answer.bytes[at + 24 + c * 2], names[i][c]);
        at += instance.ByteLength;
        assert_int_equal(dword_at(&answer, at), 8);
        assert_in_range(dword_at(&answer, at + 4), 0, 99);
        at += 8;
    }
    assert_int_equal(answer.size, (at + 7) / 8 * 8);
    assert_int_equal(dword_at(&answer, 0), answer.size);
    sample_close(&sample);
}

/* Returns a copy of the answer in which the random values are 0. */
static struct answer without_luck(struct answer answer)
{
    size_t at = dword_at(&answer, offsetof(PERF_OBJECT_TYPE, DefinitionLength));
    DWORD count = dword_at(&answer, offsetof(PERF_OBJECT_TYPE, NumInstances));
    for (DWORD i = 0; i < count; i++) {
        at += dword_at(&answer, at);
        set_dword(answer.bytes, at + 4, 0);
        at += 8;
    }
    return answer;
}

static void c74_the_constant_version_keeps_its_instances(void **state)
{
    (void)state;
    struct sample constant = sample_open("myperf1_inst_constant", "MyPerf1Inst");
    struct answer first = without_luck(run_query(&constant, u"Global"));
    bool lucky = false;
    for (int i = 0; i < 100; i++) {
        struct answer raw = run_query(&constant, u"Global"), again = without_luck(raw);
        assert_memory_equal(again.bytes, first.bytes, sizeof first.bytes);
        lucky |= memcmp(raw.bytes, again.bytes, sizeof raw.bytes) != 0;
    }
    assert_true(lucky);
    sample_close(&constant);
}

static void c74_the_other_version_changes_them(void **state)
{
    (void)state;
    struct sample random = sample_open("myperf1_inst", "MyPerf1Inst");
    bool seen[16] = {false};
    for (unsigned seed = 0; seed < 200; seed++) {
        srand(seed);
        struct answer answer = run_query(&random, u"Global");
        DWORD count = dword_at(&answer, offsetof(PERF_OBJECT_TYPE, NumInstances));
        assert_in_range(count, 0, 9);
        seen[count] = true;
        assert_int_equal(answer.size % 8, 0);
    }
    for (int count = 0; count <= 9; count++)
        assert_true(seen[count]);
    sample_close(&random);
}

/* Queries in a new process, where rand() begins anew, as with each query from a shell. */
static struct answer query_in_a_process(const struct sample *sample)
{
    struct answer answer;
    int ends[2], state;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        sample->open(NULL);
        answer = run_query(sample, u"Global");
        _exit(write(ends[1], &answer, sizeof answer) == sizeof answer ? 0 : 1);
    }
    close(ends[1]);
    size_t used = 0;
    for (ssize_t count; (count = read(ends[0], (char *)&answer + used, sizeof answer - used)) > 0;)
        used += (size_t)count;
    close(ends[0]);
    assert_int_equal(waitpid(child, &state, 0), child);
    assert_int_equal(state, 0);
    assert_int_equal(used, sizeof answer);
    return answer;
}

static void f_b6_each_process_throws_its_own_die(void **state)
{
    static const char *const names[][2] = {
        {"myperf1",      "MyPerf1"    },
        {"myperf2",      "MyPerf2"    },
        {"myperf1_inst", "MyPerf1Inst"},
        {"myperf2_inst", "MyPerf2Inst"}
    };
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct sample sample = sample_open(names[i][0], names[i][1]);
        struct answer first = query_in_a_process(&sample), next = first;
        for (int n = 0; n < 20 && memcmp(first.bytes, next.bytes, sizeof first.bytes) == 0; n++)
            next = query_in_a_process(&sample);
        assert_memory_not_equal(first.bytes, next.bytes, sizeof first.bytes);
        sample_close(&sample);
    }
}

/* ---- pairs of samples with equal answers ---- */

static void compare_twins(const char *left_name, const char *left_service, const char *right_name,
                          const char *right_service)
{
    struct sample left = sample_open(left_name, left_service);
    struct sample right = sample_open(right_name, right_service);
    for (unsigned seed = 0; seed < 300; seed++) {
        srand(seed);
        struct answer one = run_query(&left, u"Global");
        srand(seed);
        struct answer other = run_query(&right, u"Global");
        assert_int_equal(one.status, ERROR_SUCCESS);
        assert_true(one.size > 0);
        assert_int_equal(one.size, other.size);
        assert_int_equal(one.types, other.types);
        assert_memory_equal(one.bytes, other.bytes, sizeof one.bytes);
    }
    sample_close(&left);
    sample_close(&right);
}

static void c75_myperf2_is_myperf1_byte_for_byte(void **state)
{
    (void)state;
    compare_twins("myperf1", "MyPerf1", "myperf2", "MyPerf2");
}

static void c75_myperf2_inst_is_myperf1_inst_byte_for_byte(void **state)
{
    (void)state;
    compare_twins("myperf1_inst_constant", "MyPerf1Inst", "myperf2_inst_constant", "MyPerf2Inst");
    compare_twins("myperf1_inst", "MyPerf1Inst", "myperf2_inst", "MyPerf2Inst");
}

/* ---- costly ---- */

static int policies[8];
static size_t policy_count;

/* Replaces the C library's function, to record which calls the sample makes. */
__attribute__((visibility("default"))) int sched_setscheduler(pid_t pid, int policy,
                                                              const struct sched_param *param)
{
    static int (*real)(pid_t, int, const struct sched_param *);
    if (!real)
        function(RTLD_NEXT, "sched_setscheduler", &real);
    if (policy_count < 8)
        policies[policy_count++] = policy;
    return real(pid, policy, param);
}

static void c49_c117_costly_has_more_counters(void **state)
{
    static const struct {
        const char16_t *query;
        DWORD types, counters;
    } cases[] = {
        {u"Global", 1, 1},
        {u"",       1, 1},
        {u"Costly", 1, 3},
        {u"1848",   1, 3},
        {u"2",      0, 0},
    };
    (void)state;
    struct sample sample = sample_open("costly", "CostlyFolder");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct answer answer = run_query(&sample, cases[i].query);
        assert_int_equal(answer.status, ERROR_SUCCESS);
        assert_int_equal(answer.types, cases[i].types);
        if (answer.types)
            assert_int_equal(dword_at(&answer, offsetof(PERF_OBJECT_TYPE, NumCounters)),
                             cases[i].counters);
    }
    sample_close(&sample);
}

static void make_file(const char *folder, const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void costly_counts_the_folder_it_is_reported(void **state)
{
    (void)state;
    char folder[128], inner[160];
    snprintf(folder, sizeof folder, "%s/counted", lab_root);
    snprintf(inner, sizeof inner, "%s/inner", folder);
    assert_int_equal(mkdir(folder, 0755), 0);
    assert_int_equal(mkdir(inner, 0755), 0);
    make_file(folder, "one", "12345");
    make_file(inner, "two", "1234567890");
    make_file(inner, "three", "");
    lab_set_text(LAB_SERVICES "CostlyFolder\\Parameters", "Folder", folder);
    struct sample sample = sample_open("costly", "CostlyFolder");
    struct answer answer = run_query(&sample, u"Costly");
    size_t block = dword_at(&answer, offsetof(PERF_OBJECT_TYPE, DefinitionLength));
    size_t entries = dword_at(&answer, 64 + offsetof(PERF_COUNTER_DEFINITION, CounterOffset));
    size_t files = dword_at(&answer, 104 + offsetof(PERF_COUNTER_DEFINITION, CounterOffset));
    size_t bytes = dword_at(&answer, 144 + offsetof(PERF_COUNTER_DEFINITION, CounterOffset));
    assert_int_equal(dword_at(&answer, block + entries), 2);
    assert_int_equal(dword_at(&answer, block + files), 3);
    assert_int_equal(dword_at(&answer, block + bytes), 15);
    sample_close(&sample);
}

static void c117_the_costly_part_runs_at_a_lower_priority(void **state)
{
    (void)state;
    int before = sched_getscheduler(0);
    struct sample sample = sample_open("costly", "CostlyFolder");
    policy_count = 0;
    run_query(&sample, u"Global");
    assert_int_equal(policy_count, 0);
    run_query(&sample, u"Costly");
    assert_int_equal(sched_getscheduler(0), before);
    if (before == SCHED_OTHER) {
        assert_int_equal(policy_count, 2);
        assert_int_equal(policies[0], SCHED_BATCH);
        assert_int_equal(policies[1], SCHED_OTHER);
    } else {
        assert_int_equal(policy_count, 0);
    }
    sample_close(&sample);
}

/* ---- samples that are not registered ---- */

static void c100_a_sample_without_numbers_does_not_open(void **state)
{
    static const char *const names[] = {"myperf1", "myperf2", "myperf1_inst", "costly", "hello"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/samples/%s.so", getenv("BUILD_ROOT"), names[i]);
        void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        assert_non_null(module);
        PM_OPEN_PROC *open;
        function(module, "Open", &open);
        assert_int_equal(open(NULL), ERROR_FILE_NOT_FOUND);
        dlclose(module);
    }
}

static int begin(void **state)
{
    (void)state;
    lab_open();
    return 0;
}

static int end(void **state)
{
    (void)state;
    lab_close();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(c100_a_sample_without_numbers_does_not_open),
        cmocka_unit_test(c69_myperf1_is_the_articles_first_example),
        cmocka_unit_test(c71_myperf_says_more_data_with_zeros),
        cmocka_unit_test(c72_words_of_the_query),
        cmocka_unit_test(c73_instances_lie_packed_behind_each_other),
        cmocka_unit_test(c74_the_constant_version_keeps_its_instances),
        cmocka_unit_test(c74_the_other_version_changes_them),
        cmocka_unit_test(f_b6_each_process_throws_its_own_die),
        cmocka_unit_test(c75_myperf2_is_myperf1_byte_for_byte),
        cmocka_unit_test(c75_myperf2_inst_is_myperf1_inst_byte_for_byte),
        cmocka_unit_test(c49_c117_costly_has_more_counters),
        cmocka_unit_test(costly_counts_the_folder_it_is_reported),
        cmocka_unit_test(c117_the_costly_part_runs_at_a_lower_priority),
    };
    return cmocka_run_group_tests_name("samples", tests, begin, end);
}
