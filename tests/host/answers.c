/* SPDX-License-Identifier: MIT */
/* The file that records when each provider answered last, and how long this took: several programs
 * write and read it at the same time; and which files are not trusted. */
#include "host.h"

#include <stdatomic.h>
#include <sys/wait.h>

enum { SERVICES = 4 };
static const char *const names[SERVICES] = {"Perf", "PerfOS", "My Service", "Übel"};
static struct service services[SERVICES];
static struct service_table all;
static char path[96];

static int set_up(void **state)
{
    temp_make(test_root);
    setenv("OPENPERFLIB_ROOT", test_root, 1);
    place_forget();
    snprintf(path, sizeof path, "%s/answers", test_root);
    for (size_t i = 0; i < SERVICES; i++) {
        services[i] = (struct service){.name = (char *)names[i]};
        assert_int_equal(library_new(&services[i].code), 0);
    }
    all = (struct service_table){.services = services, .count = SERVICES};
    return 0;
}

static int tear_down(void **state)
{
    for (size_t i = 0; i < SERVICES; i++)
        free(services[i].code);
    temp_remove(test_root);
    return 0;
}

static void note(size_t i, int64_t took)
{
    atomic_store(&services[i].code->heard.took, took);
    atomic_store(&services[i].code->heard.when, clock_filetime());
}

static int64_t answers_now(size_t i, int64_t took)
{
    note(i, took);
    answers_write(&all, true);
    return services[i].code->heard.when;
}

static const int64_t a_millisecond = CLOCK_TICKS_PER_SECOND / 1000;

/* Expects this record for the service `name`. The file has times in whole milliseconds, so `when`
 * is rounded down. */
static void expect(const char *name, int64_t when, int64_t took)
{
    struct host_answer answer = {0};
    assert_int_equal(host_last_answer(name, &answer), 0);
    assert_true(answer.when <= when && answer.when > when - a_millisecond);
    assert_int_equal(answer.took, took);
    assert_int_equal(answer.by_root, geteuid() == 0);
}

static void expect_none(const char *name)
{
    struct host_answer answer = {.took = 77};
    assert_int_equal(host_last_answer(name, &answer), ERROR_FILE_NOT_FOUND);
    assert_int_equal(answer.took, 77);
}

static size_t size_of_file(void)
{
    struct stat st;
    return stat(path, &st) ? 0 : (size_t)st.st_size;
}

static void write_file(const char *text)
{
    FILE *file = fopen(path, "w");
    fputs(text, file);
    fclose(file);
}

static void without_a_written_file(void **state)
{
    expect_none("Perf");
    answers_write(&all, true);
    assert_int_equal(access(path, F_OK), -1); /* there was nothing to write, so no file */
    write_file("");
    expect_none("Perf");
}

static void each_has_its_own_line(void **state)
{
    int64_t os = answers_now(1, 462), perf = answers_now(0, 0), uebel = answers_now(3, 12345678);
    expect("PerfOS", os, 462);
    expect("perfos", os, 462);
    expect("Perf", perf, 0);
    expect("übel", uebel, 12345678);
    expect_none("My Service");
    expect_none("OS");
    expect_none("");
}

static void a_later_answer_takes_the_place_of_the_earlier(void **state)
{
    answers_now(0, 1);
    answers_now(1, 2);
    size_t size = size_of_file();
    for (int i = 0; i < 100; i++)
        expect("Perf", answers_now(0, i), i);
    assert_int_equal(size_of_file(), size);
    /* more digits than the line has space for: the largest number that fits is written */
    answers_now(0, INT64_MAX);
    expect("Perf", services[0].code->heard.when, 999999999);
    assert_int_equal(size_of_file(), size);
}

static void somebody_made_the_file_anew(void **state)
{
    answers_now(0, 1);
    answers_now(1, 2);
    static const char line[] = "2026-11-22T16:22:43.123Z        1000.0 us PerfOS\n";
    assert_int_equal(unlink(path), 0);
    write_file(line);
    expect("Perf", answers_now(0, 3), 3);
    assert_int_equal(size_of_file(), 2 * strlen(line) - strlen("OS")); /* no empty line */
    struct host_answer answer;
    assert_int_equal(host_last_answer("PerfOS", &answer), 0);
    assert_int_equal(answer.took, 10000);
    expect("PerfOS", answers_now(1, 4), 4);
}

static void what_is_damaged_says_nothing(void **state)
{
    static const char *const damage[] = {"Perf",
                                         "\n\n\n",
                                         "2026-11-22T16:22:43.123Z        1000.0 us Perf",
                                         "2026-11-22T16:22:43.123           1000.0 us Perf\n",
                                         "2026-99-22T16:22:43.123Z        1000.0 us Perf\n",
                                         "2026-11-22T16:22:43.123Z       -1000.0 us Perf\n",
                                         "                                          Perf\n"};
    for (size_t i = 0; i < COUNT(damage); i++) {
        write_file(damage[i]);
        expect_none("Perf");
        expect("Perf", answers_now(0, 5), 5);
        expect("Perf", answers_now(0, 6), 6);
        services[0].code->heard.place = 0;
    }
}

static void of_two_lines_the_later_is_true(void **state)
{
    struct host_answer answer;
    write_file("2026-11-22T16:22:43.123Z        1000.0 us Perf\n"
               "2026-11-22T16:22:44.123Z        2000.0 us Perf\n"
               "2026-11-22T16:22:42.123Z        3000.0 us Perf\n");
    assert_int_equal(host_last_answer("Perf", &answer), 0);
    assert_int_equal(answer.took, 20000);
}

static void not_more_often_than_once_a_second(void **state)
{
    struct host_answer answer = {.took = 1};
    int64_t start = clock_ticks();
    answers_now(0, 1);
    for (int64_t took = 2; answer.took == 1; took++) {
        note(0, took);
        answers_write(&all, false);
        assert_int_equal(host_last_answer("Perf", &answer), 0);
        usleep(10000);
    }
    assert_true(clock_ticks() - start >= CLOCK_TICKS_PER_SECOND);
}

static void files_that_are_not_trusted(void **state)
{
    answers_now(0, 1);
    assert_int_equal(chmod(path, 0666), 0);
    expect_none("Perf");
    char other[128];
    snprintf(other, sizeof other, "%s.other", path);
    assert_int_equal(rename(path, other), 0);
    assert_int_equal(chmod(other, 0644), 0);
    assert_int_equal(symlink(other, path), 0);
    expect_none("Perf");
    answers_now(0, 2); /* nothing is written through the link */
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rename(other, path), 0);
    struct host_answer answer;
    assert_int_equal(host_last_answer("Perf", &answer), 0);
    assert_int_equal(answer.took, 1);
    if (geteuid() != 0)
        return;
    assert_int_equal(chown(path, 1, 1), 0);
    expect_none("Perf");
}

static void no_folder_no_file(void **state)
{
    assert_non_null(place_answers()); /* finds the folder, which is then removed */
    temp_remove(test_root);
    answers_now(0, 1);
    assert_int_equal(access(test_root, F_OK), -1);
    expect_none("Perf");
    assert_int_equal(mkdir(test_root, 0755), 0);
}

/* Writes records of service number `own`, and of service 0, which all writers share. */
static void write_much(size_t own)
{
    for (int i = 0; i < 300; i++) {
        note(0, i);
        answers_now(own, i);
    }
    _exit(0);
}

static void programs_write_at_once(void **state)
{
    int status;
    for (size_t own = 1; own < SERVICES; own++)
        if (fork() == 0)
            write_much(own);
    struct host_answer answer;
    int64_t last = 0;
    do { /* while the others write, a time that is read is never earlier than the last one */
        if (!host_last_answer("PerfOS", &answer)) {
            assert_true(answer.when >= last && answer.when <= clock_filetime());
            last = answer.when;
        }
    } while (waitpid(-1, &status, WNOHANG) == 0);
    while (wait(&status) > 0)
        assert_int_equal(status, 0);
    for (size_t i = 0; i < SERVICES; i++) {
        assert_int_equal(host_last_answer(names[i], &answer), 0);
        assert_int_equal(answer.took, 299);
    }
    /* each program has added a service's line at most once */
    assert_true(size_of_file() < 10 * 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(without_a_written_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(each_has_its_own_line, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_later_answer_takes_the_place_of_the_earlier, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(somebody_made_the_file_anew, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_damaged_says_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(of_two_lines_the_later_is_true, set_up, tear_down),
        cmocka_unit_test_setup_teardown(not_more_often_than_once_a_second, set_up, tear_down),
        cmocka_unit_test_setup_teardown(files_that_are_not_trusted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_folder_no_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(programs_write_at_once, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
