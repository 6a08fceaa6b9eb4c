/* SPDX-License-Identifier: MIT */
/* Each event of docs/windows/registration.md#e7 must be logged in the case that the table there
 * names, with the values of its row. A dry run (which changes nothing) logs none. */
#include "test.h"

#include <errno.h>

static void expect(const char *start, const char *words)
{
    BUFFER_AUTO events = {0};
    file_read(AT_FDCWD, path_of("events"), &events);
    const char *line = strstr(events.data ? events.data : "", start);
    size_t count = line ? strcspn(line, "\n") : 0;
    if (!line || !memmem(line, count, words, strlen(words)))
        fail_msg("no event \"%s\" with \"%s\" in:\n%s", start, words,
                 events.data ? events.data : "");
}

static void expect_none(void)
{
    BUFFER_AUTO events = {0};
    if (!file_read(AT_FDCWD, path_of("events"), &events))
        fail_msg("unwanted events:\n%s", events.data);
}

static opl_load_options dry(void)
{
    opl_load_options options = options_of();
    options.dry_run = true;
    return options;
}

/* ---- a full disk ---- */

static struct file_steps real_steps;

static ssize_t full_write(int fd, const void *data, size_t size)
{
    errno = ENOSPC;
    return -1;
}

static void fill_disk(void)
{
    real_steps = file_steps;
    file_steps.write = full_write;
}

static void empty_disk(void)
{
    file_steps = real_steps;
}

static void numbers_that_cannot_be_written_or_removed(void **state)
{
    put_ini(ini_head, ini_texts);
    fill_disk();
    assert_int_equal(load_library("my.ini"), ERROR_DISK_FULL);
    empty_disk();
    expect("\tLoadPerf\t3017\terror\tMyPerf\t", "could not be written to its Performance key");
    expect("\tLoadPerf\t3009\terror\tMyPerf\t", "(112)");
    assert_int_equal(load_library("my.ini"), ERROR_SUCCESS);
    fill_disk();
    assert_int_equal(unload("MyPerf"), ERROR_DISK_FULL);
    empty_disk();
    expect("\tLoadPerf\t3018\terror\tMyPerf\t", "(112)");
    expect("\tLoadPerf\t3011\terror\tMyPerf\t", "(112)");
    assert_false(event_was("\tLoadPerf\t1001\t"));
}

static void a_backup_that_cannot_be_put_back(void **state)
{
    opl_load_options options = options_of();
    put_ini(ini_head, ini_texts);
    assert_int_equal(load_library("my.ini"), ERROR_SUCCESS);
    FREE_AUTO char *path = strdup(path_of("backup"));
    assert_int_equal(opl_load_backup(path, NULL, &options, NULL), ERROR_SUCCESS);
    assert_int_equal(unload("MyPerf"), ERROR_SUCCESS);
    fill_disk();
    assert_int_equal(opl_load_restore(path, NULL, &options, NULL), ERROR_DISK_FULL);
    empty_disk();
    expect("\tLoadPerf\t3017\terror\tMyPerf\t", "(112)");
    assert_not_loaded("MyPerf");
}

/* A registry folder that is a file cannot be opened, not even by root. */
static void a_registry_that_cannot_be_opened(void **state)
{
    opl_load_options nothing = dry();
    put("machine/registry.d", "");
    put_ini(ini_head, ini_texts);
    assert_int_not_equal(load_library("my.ini"), ERROR_SUCCESS);
    expect("\tLoadPerf\t3000\terror\t", "the key Perflib cannot be opened");
    assert_int_equal(unlink(path_of("events")), 0);
    nothing.library = LIBRARY_PATH;
    load_with("my.ini", nothing);
    expect_none();
}

static void numbers_that_are_lost(void **state)
{
    opl_load_options options = dry();
    opl_load_restored saved = {0};
    put_ini(ini_head, ini_texts);
    assert_int_equal(load_library("my.ini"), ERROR_SUCCESS);
    assert_int_equal(registry_delete_value(LAYER_MACHINE, PERFORMANCE_KEY, "First Counter"), 0);
    assert_int_equal(unlink(path_of("events")), 0);
    FREE_AUTO char *path = strdup(path_of("backup"));
    assert_int_equal(opl_load_backup(path, NULL, &options, &saved), ERROR_SUCCESS);
    assert_remark("MyPerf: not saved, because it lacks First Counter, Last Counter");
    assert_int_equal(saved.left, 1);
    assert_int_equal(opl_load_remove("MyPerf", &options, NULL), ERROR_SUCCESS);
    expect_none();
    options = options_of();
    assert_int_equal(opl_load_backup(path, NULL, &options, &saved), ERROR_SUCCESS);
    expect("\tLoadPerf\t3004\terror\tMyPerf\t", "First Counter of MyPerf cannot be read");
    assert_false(event_was("\tLoadPerf\t3005\t"));
    assert_int_equal(registry_delete_value(LAYER_MACHINE, PERFORMANCE_KEY, "First Help"), 0);
    assert_int_equal(unlink(path_of("events")), 0);
    assert_int_equal(unload("MyPerf"), ERROR_SUCCESS);
    expect("\tLoadPerf\t3004\terror\tMyPerf\t", "(2)");
    expect("\tLoadPerf\t3005\terror\tMyPerf\t", "First Help of MyPerf cannot be read");
}

static void whole_numbers_are_no_event(void **state)
{
    opl_load_options options = options_of();
    put_ini(ini_head, ini_texts);
    assert_int_equal(load_library("my.ini"), ERROR_SUCCESS);
    FREE_AUTO char *path = strdup(path_of("backup"));
    assert_int_equal(opl_load_backup(path, NULL, &options, NULL), ERROR_SUCCESS);
    assert_int_equal(unload("MyPerf"), ERROR_SUCCESS);
    assert_false(event_was("\terror\t"));
    assert_true(event_was("\tLoadPerf\t1001\tinformation\tMyPerf\t"));
    assert_true(event_was("the last name is 1846, the last explanation 1847"));
}

static DWORD replace(const char *names, const char *helps, const char *language, bool dry_run)
{
    opl_load_options options = dry_run ? dry() : options_of();
    char counters[256] = "", explanations[256] = "";
    put("names.dat", names ? names : "");
    put("helps.dat", helps ? helps : "");
    snprintf(counters, sizeof counters, "%s", path_of("names.dat"));
    snprintf(explanations, sizeof explanations, "%s", path_of("helps.dat"));
    return opl_load_replace(names ? counters : NULL, helps ? explanations : NULL, language,
                            &options);
}

static void base_texts_that_are_damaged(void **state)
{
    assert_int_equal(replace("2\nSystem\n4\n", NULL, "009", true), ERROR_INVALID_DATA);
    expect_none();
    assert_int_equal(replace("2\nSystem\n4\n", NULL, "009", false), ERROR_INVALID_DATA);
    expect("\tLoadPerf\t3001\terror\t", "the list of names of language 009 is damaged");
    assert_false(event_was("\tLoadPerf\t3002\t"));
    assert_int_equal(replace(NULL, "2\nan even one\n", "009", false), ERROR_INVALID_DATA);
    expect("\tLoadPerf\t3002\terror\t", "the list of explanations of language 009 is damaged");
}

static void base_texts_of_a_language_that_is_not_there(void **state)
{
    assert_int_equal(replace("2\nX\n", NULL, "01f", true), ERROR_INVALID_PARAMETER);
    expect_none();
    assert_int_equal(replace("2\nX\n", NULL, "01f", false), ERROR_INVALID_PARAMETER);
    expect("\tLoadPerf\t3006\terror\t", "the names of language 01F cannot be read");
    assert_int_equal(replace(NULL, "3\nX\n", "01f", false), ERROR_INVALID_PARAMETER);
    expect("\tLoadPerf\t3007\terror\t", "the explanations of language 01F cannot be read");
}

static void texts_that_cannot_be_written(void **state)
{
    opl_load_options options = options_of();
    fill_disk();
    assert_int_equal(replace("2\nOther\n", NULL, "009", false), ERROR_DISK_FULL);
    empty_disk();
    expect("\tLoadPerf\t3013\terror\t", "the names of language 009 could not be written");
    assert_false(event_was("\tLoadPerf\t3014\t"));
    fill_disk();
    assert_int_equal(replace(NULL, "3\nOther.\n", "009", false), ERROR_DISK_FULL);
    empty_disk();
    expect("\tLoadPerf\t3014\terror\t", "(112)");
    fill_disk();
    assert_int_equal(opl_load_language("007", false, &options), ERROR_DISK_FULL);
    empty_disk();
    expect("\tLoadPerf\t3013\terror\t", "");
    assert_true(event_was("the names of language 007 could not be written"));
    assert_true(event_was("the explanations of language 007 could not be written"));
}

static void a_text_of_a_backup_that_is_passed_over(void **state)
{
    opl_load_options options = dry();
    put("backup", "[Perflib]\nBase Index=1847\n[PerfStrings_009]\n18x8=Mine\n1850\n");
    FREE_AUTO char *path = strdup(path_of("backup"));
    assert_int_equal(opl_load_restore(path, NULL, &options, NULL), ERROR_SUCCESS);
    expect_none();
    options = options_of();
    assert_int_equal(opl_load_restore(path, NULL, &options, NULL), ERROR_SUCCESS);
    expect("\tLoadPerf\t2004\twarning\t", "text 18x8 of language 009 is damaged");
    assert_true(event_was("text 1850 of language 009 is damaged"));
}

static void memory_that_does_not_suffice(void **state)
{
    struct load load;
    opl_load_options options = dry();
    load_init(&load, &options);
    assert_int_equal(load_end(&load, ERROR_NOT_ENOUGH_MEMORY), ERROR_NOT_ENOUGH_MEMORY);
    expect_none();
    options = options_of();
    assert_int_equal(load_end(&load, ERROR_FILE_NOT_FOUND), ERROR_FILE_NOT_FOUND);
    expect_none();
    assert_int_equal(load_end(&load, ERROR_NOT_ENOUGH_MEMORY), ERROR_NOT_ENOUGH_MEMORY);
    expect("\tLoadPerf\t3008\terror\t", "not enough memory");
}

static int free_all(void **state)
{
    buffer_done(&remarks);
    buffer_done(&written);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOAD_TEST(numbers_that_cannot_be_written_or_removed),
        LOAD_TEST(a_backup_that_cannot_be_put_back),
        LOAD_TEST(a_registry_that_cannot_be_opened),
        LOAD_TEST(numbers_that_are_lost),
        LOAD_TEST(whole_numbers_are_no_event),
        LOAD_TEST(base_texts_that_are_damaged),
        LOAD_TEST(base_texts_of_a_language_that_is_not_there),
        LOAD_TEST(texts_that_cannot_be_written),
        LOAD_TEST(a_text_of_a_backup_that_is_passed_over),
        LOAD_TEST(memory_that_does_not_suffice),
    };
    return cmocka_run_group_tests(tests, NULL, free_all);
}
