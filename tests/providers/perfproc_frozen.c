/* SPDX-License-Identifier: MIT */
/*
 * perfproc.so with the frozen machines (tests/roots: folders with files of proc and sys): which
 * processes, threads and jobs exist, and their names.
 */
#include "answer.h"

enum { PROCESS_V2 = 101900, PROCESS = 230, THREAD = 232, JOB = 1500, JOB_DETAILS = 1548 };

static void run_query(const char *root, const char *query)
{
    static const char *const perfproc[] = {"perfproc", "OpenSysProcessObject",
                                           "CollectSysProcessObjectData", "CloseSysProcessObject"};
    query_root(perfproc, root, query);
}

static LONG instances(unsigned index)
{
    opl_object_view object;
    assert_true(answer_object(index, &object));
    return object.type.NumInstances;
}

/* In names, characters that have a meaning in counter paths are replaced, and all others stay;
 * bytes that are not UTF-8 become U+FFFD. */
static void odd_names_are_harmless(void **state)
{
    run_query("oddnames", "230");
    assert_int_equal(instances(PROCESS), 1 + 11 + 1);
    opl_object_view object;
    opl_instance_view instance;
    static const char *const names[] = {"with space",
                                        "a] R 1 1 [b",
                                        "[",
                                        "]",
                                        "two_lines",
                                        "\xef\xbf\xbd\xef\xbf\xbd bad",
                                        "caf\xc3\xa9",
                                        "R 7 7 7 7",
                                        "a_b_1__c",
                                        "",
                                        "fifteen-bytes-x"};
    assert_true(answer_object(PROCESS, &object));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!answer_instance(&object, names[i], &instance))
            fail_msg("no \"%s\"", names[i]);
    VALUE(PROCESS, "a] R 1 1 [b", 784, 21);
    VALUE(PROCESS, "two_lines", 1410, 1);
}

/* Process V2 has the same instances and counters as Process, but other names of instances. */
static void process_v2_is_process_with_other_names(void **state)
{
    opl_object_view object, other;
    opl_counter_view row = {0}, same = {0};
    run_query("laptop4", "230 101900");
    assert_string_equal(answer_names(PROCESS_V2),
                        "Idle:0,systemd:1,kthreadd:2,editor:400,gone:500,_Total,");
    assert_true(answer_object(PROCESS_V2, &object) && answer_object(PROCESS, &other));
    while (opl_object_next_counter(&answer_block, &other, &row)) {
        unsigned index = (unsigned)row.definition.CounterNameTitleIndex;
        assert_true(opl_object_next_counter(&answer_block, &object, &same));
        assert_int_equal(same.definition.CounterNameTitleIndex, index);
        assert_int_equal(same.definition.CounterHelpTitleIndex,
                         row.definition.CounterHelpTitleIndex);
        assert_int_equal(same.definition.CounterType, row.definition.CounterType);
        VALUE(PROCESS_V2, "editor:400", index, answer_number(PROCESS, "editor", index, false));
        VALUE(PROCESS_V2, "Idle:0", index, answer_number(PROCESS, "Idle", index, false));
        if (index != 684) /* for the total, 684 is the present time */
            VALUE(PROCESS_V2, "_Total", index, answer_number(PROCESS, "_Total", index, false));
    }
    assert_false(opl_object_next_counter(&answer_block, &object, &same));
    /* Process V2 is alone in the answer: Thread is added only to Process */
    run_query("laptop4", "101900");
    assert_int_equal(answer.header.NumObjectTypes, 1);
    run_query("laptop4", "Global");
    assert_string_equal(answer_names(PROCESS_V2), "no object");
    run_query("oddnames", "232 101900");
    assert_string_equal(
        answer_names(PROCESS_V2),
        "Idle:0,with space:20,a] R 1 1 [b:21,[:22,]:23,two_lines:24,"
        "\xef\xbf\xbd\xef\xbf\xbd bad:25,caf\xc3\xa9:26,R 7 7 7 7:27,:28,a_b_1__c:29,"
        "fifteen-bytes-x:30,_Total,");
}

static void zombies_and_kernel_threads_are_there(void **state)
{
    run_query("laptop4", "232");
    assert_string_equal(answer_names(PROCESS), "Idle,systemd,kthreadd,editor,gone,_Total,");
    VALUE(PROCESS, "editor", 680, 3);
    VALUE(PROCESS, "gone", 784, 500);
    /* Idle has one thread for each processor */
    assert_int_equal(instances(THREAD), 3 + 1 + 1 + 3 + 1 + 1);
}

static void a_container_shows_its_own_numbers(void **state)
{
    run_query("container", "230");
    assert_string_equal(answer_names(PROCESS), "Idle,sh,app,sleep,_Total,");
    VALUE(PROCESS, "sleep", 784, 12);
    VALUE(PROCESS, "sleep", 1410, 7);
}

static void many_processors(void **state)
{
    run_query("cpu128", "232");
    assert_string_equal(answer_names(PROCESS), "Idle,systemd,server,_Total,");
    VALUE(PROCESS, "Idle", 680, 128);
    VALUE(PROCESS, "server", 680, 9);
}

static void jobs(void **state)
{
    run_query("laptop4", "1500");
    assert_string_equal(answer_names(JOB_DETAILS), "no object");
    assert_string_equal(
        answer_names(JOB),
        "system.slice,system.slice|docker.service,system.slice|docker.service|inner."
        "scope,system.slice|ssh.service,system.slice|system-getty.slice,"
        "system.slice|system-getty.slice|getty@tty1.service,");
    VALUE(JOB, "system.slice", 1502, 10000000);
    VALUE(JOB, "system.slice|ssh.service", 1504, 12000000);
    VALUE(JOB, "system.slice|ssh.service", 1506, 8000000);
    VALUE(JOB, "system.slice|ssh.service", 1514, 140);
    VALUE(JOB, "system.slice|docker.service", 1518, 4);
    VALUE(JOB, "system.slice|docker.service", 1520, 4);
    VALUE(JOB, "system.slice|docker.service", 1522, 5000);
    VALUE(JOB, "system.slice|docker.service", 1524, 3000);
    VALUE(JOB, "system.slice|docker.service", 1526, 2000);
    VALUE(JOB, "system.slice|docker.service", 102102, 268435456);
    VALUE(JOB, "system.slice|docker.service", 102104, 150000);
    BASE(JOB, "system.slice|docker.service", 102104, 100000);
    VALUE(JOB, "system.slice", 102104, 0); /* it has no limit */
    VALUE(JOB, "system.slice|docker.service|inner.scope", 102102, 0);
    VALUE(JOB, "system.slice|docker.service", 102106, 5000);
    VALUE(JOB, "system.slice|docker.service", 102108, 700);
    VALUE(JOB, "system.slice|docker.service", 102110, 710);
    VALUE(JOB, "system.slice|docker.service", 102112, 720);
    run_query("laptop4", "Global");
    assert_string_equal(answer_names(JOB), "no object");
    run_query("cgroup1", "Costly");
    assert_string_equal(answer_names(JOB), "no object");
    assert_string_equal(answer_names(JOB_DETAILS), "no object");
}

/* Job Object Details has the same counters as Process, for the same processes, whose parent
 * instances are jobs. */
static void c31_c131_processes_of_jobs_bring_their_jobs(void **state)
{
    opl_object_view details;
    opl_instance_view instance = {0};
    /* the answer has only Process, as in the block recorded on Windows */
    run_query("laptop4", "230");
    assert_int_equal(answer.header.NumObjectTypes, 1);
    run_query("laptop4", "1548 230");
    assert_string_equal(answer_names(JOB_DETAILS), "editor,gone,");
    assert_true(answer_object(JOB_DETAILS, &details) && instances(JOB) == 6);
    opl_counter_view row = {0};
    unsigned rows = 0;
    for (; opl_object_next_counter(&answer_block, &details, &row); rows++)
        VALUE(JOB_DETAILS, "editor", (unsigned)row.definition.CounterNameTitleIndex,
              answer_number(PROCESS, "editor", (unsigned)row.definition.CounterNameTitleIndex,
                            false));
    assert_true(rows >= 15);
    VALUE(JOB_DETAILS, "gone", 784, 500);
    assert_false(answer_has(JOB_DETAILS, 1478));
    while (opl_object_next_instance(&answer_block, &details, &instance)) {
        assert_int_equal(instance.definition.ParentObjectTitleIndex, JOB);
        assert_int_equal(instance.definition.ParentObjectInstance, 3);
    }
}

/* Whatever the names of the control groups are, each job gets a different name, also if case is
 * ignored. */
static void jobs_have_names_of_their_own(void **state)
{
    run_query("oddnames", "1548");
    assert_string_equal(answer_names(JOB), "a,a|b,a_b,a|b~2,x_2d,x_2D~2,x_2d~3,x_2d~2~2,");
    VALUE(JOB, "a|b", 1522, 2000);
    VALUE(JOB, "a|b~2", 1522, 4000);
    VALUE(JOB, "a_b", 1522, 3000);
    VALUE(JOB, "x_2d", 1522, 5000);
    /* each group has the processes 21 and 22, and one of another pid namespace, whose number is
     * shown as 0 */
    assert_int_equal(instances(JOB_DETAILS), 8 * 2);
    VALUE(JOB, "a_b", 1518, 3);
}

static void what_no_controller_counts_is_absent(void **state)
{
    run_query("arm64", "1500");
    VALUE(JOB, "system.slice|ssh.service", 1522, 2000);
    assert_false(answer_has(JOB, 1514));
    assert_false(answer_has(JOB, 1520));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(odd_names_are_harmless),
        cmocka_unit_test(process_v2_is_process_with_other_names),
        cmocka_unit_test(zombies_and_kernel_threads_are_there),
        cmocka_unit_test(a_container_shows_its_own_numbers),
        cmocka_unit_test(many_processors),
        cmocka_unit_test(jobs),
        cmocka_unit_test(c31_c131_processes_of_jobs_bring_their_jobs),
        cmocka_unit_test(jobs_have_names_of_their_own),
        cmocka_unit_test(what_no_controller_counts_is_absent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
