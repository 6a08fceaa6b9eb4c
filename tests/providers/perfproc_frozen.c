/* SPDX-License-Identifier: MIT */
/*
 * perfproc.so on the frozen machines: which processes and threads there are, and what they are
 * called.
 */
#include "answer.h"

enum { PROCESS = 230, THREAD = 232 };

static void ask(const char *root, const char *query)
{
    static const char *const perfproc[] = {"perfproc", "OpenSysProcessObject",
                                           "CollectSysProcessObjectData", "CloseSysProcessObject"};
    ask_root(perfproc, root, query);
}

static LONG instances(unsigned index)
{
    opl_object_view object;
    assert_true(answer_object(index, &object));
    return object.type.NumInstances;
}

/* Each name as it is, whatever it holds; bytes that are no UTF-8 as U+FFFD. */
static void odd_names_are_kept(void **state)
{
    ask("oddnames", "230");
    assert_int_equal(instances(PROCESS), 1 + 11 + 1);
    opl_object_view object;
    opl_instance_view instance;
    static const char *const names[] = {"with space",
                                        "a) R 1 1 (b",
                                        "(",
                                        ")",
                                        "two\nlines",
                                        "\xef\xbf\xbd\xef\xbf\xbd bad",
                                        "caf\xc3\xa9",
                                        "R 7 7 7 7",
                                        "",
                                        "fifteen-bytes-x"};
    assert_true(answer_object(PROCESS, &object));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!answer_instance(&object, names[i], &instance))
            fail_msg("no \"%s\"", names[i]);
    VALUE(PROCESS, "a) R 1 1 (b", 784, 21);
    VALUE(PROCESS, "two\nlines", 1410, 1);
}

static void zombies_and_kernel_threads_are_there(void **state)
{
    ask("laptop4", "232");
    assert_string_equal(answer_names(PROCESS), "Idle,systemd,kthreadd,editor,gone,_Total,");
    VALUE(PROCESS, "editor", 680, 3);
    VALUE(PROCESS, "gone", 784, 500);
    assert_int_equal(instances(THREAD), 3 + 1 + 1 + 3 + 1 + 1); /* Idle has one per processor */
}

static void a_container_shows_its_own_numbers(void **state)
{
    ask("container", "230");
    assert_string_equal(answer_names(PROCESS), "Idle,sh,app,sleep,_Total,");
    VALUE(PROCESS, "sleep", 784, 12);
    VALUE(PROCESS, "sleep", 1410, 7);
}

static void many_processors(void **state)
{
    ask("cpu128", "232");
    assert_string_equal(answer_names(PROCESS), "Idle,systemd,server,_Total,");
    VALUE(PROCESS, "Idle", 680, 128);
    VALUE(PROCESS, "server", 680, 9);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(odd_names_are_kept),
        cmocka_unit_test(zombies_and_kernel_threads_are_there),
        cmocka_unit_test(a_container_shows_its_own_numbers),
        cmocka_unit_test(many_processors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
