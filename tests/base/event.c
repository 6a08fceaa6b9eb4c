/* SPDX-License-Identifier: MIT */
/* Tests of base/events/event.c and base/events/trace.c. */
#include "test.h"
#include "../temp.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[64];
static int64_t now;

static int64_t test_clock(void)
{
    return now;
}

static int set_up(void **state)
{
    char root[128];
    temp_make(folder);
    snprintf(root, sizeof root, "%s/made/when/needed", folder);
    setenv("OPENPERFLIB_ROOT", root, 1);
    place_forget();
    event_clock = test_clock;
    now += (int64_t)1000 * CLOCK_TICKS_PER_SECOND;
    event_forget();
    return 0;
}

static int tear_down(void **state)
{
    temp_remove(folder);
    place_forget();
    return 0;
}

static int lines(struct buffer *ret)
{
    int count = 0;
    if (file_read(AT_FDCWD, place_events(), ret) != ERROR_SUCCESS)
        return 0;
    for (size_t i = 0; i < ret->len; i++)
        count += ret->data[i] == '\n';
    return count;
}

static void an_event_is_one_line_of_fields(void **state)
{
    BUFFER_AUTO log = {0};
    errno = 4711;
    event_log("Perflib", 3004, "My\tPerf", EVENT_FIELDS(EVENT_TEXT("Value", "a\tb")), "it is\n0");
    assert_int_equal(errno, 4711);
    assert_int_equal(lines(&log), 1);
    assert_int_equal(log.data[19], 'Z');
    static const char start[] = "\tPerflib\t3004\terror\tMy Perf\t"
                                "the value a b in the Performance "
                                "key of My Perf is wrong or missing: it is 0; correct it, or ";
    assert_memory_equal(log.data + 20, start, strlen(start));
    event_log("LoadPerf", 1000, NULL, NULL, NULL);
    assert_int_equal(lines(&log), 2);
    assert_non_null(strstr(log.data, "\tLoadPerf\t1000\tinformation\t\t"
                                     "the counters of  were "
                                     "loaded: names ? to ?, explanations ? to ?\n"));
}

static void words_come_from_the_catalog(void **state)
{
    BUFFER_AUTO log = {0};
    errno = 4711;
    event_log("Perflib", 1008, "MyPerf",
              EVENT_FIELDS(EVENT_STATUS(ERROR_ACCESS_DENIED), EVENT_TEXT("Library", "/l/my.so")),
              NULL);
    assert_int_equal(errno, 4711);
    assert_int_equal(lines(&log), 1);
    assert_string_equal(
        log.data + 20,
        "\tPerflib\t1008\terror\tMyPerf\t"
        "Open of MyPerf in /l/my.so failed: access denied (5); Open is called again at the next "
        "query; check that the program or service that the provider reads is running; an event "
        "4004 before it names a wrong row of the provider's table\n");
    event_log("Perflib", 1009, "MyPerf",
              EVENT_FIELDS(EVENT_TEXT("Crash", "SIGSEGV"), EVENT_NUMBER("Other", 1)), "and\nmore");
    assert_int_equal(lines(&log), 2);
    assert_non_null(strstr(log.data, "Open of MyPerf in ? crashed: SIGSEGV: and more; "));
    event_log("LoadPerf", 3008, NULL, NULL, NULL);
    event_log("LoadPerf", 77, NULL, NULL, "no row");
    assert_int_equal(lines(&log), 4);
    assert_non_null(strstr(log.data, "\tLoadPerf\t3008\terror\t\tthere is not enough memory;"));
    assert_non_null(strstr(log.data, "\tLoadPerf\t77\terror\t\tno row\n"));
}

static void a_flood_is_held_back(void **state)
{
    BUFFER_AUTO log = {0};
    for (int i = 0; i < 1000; i++, now += CLOCK_TICKS_PER_SECOND / 10)
        event_log("Perflib", 1014, "Flood", NULL, "failed");
    /* 1000 equal events in 100 s: the first ten are written as they come, then after 60 s one line
     * with the count of those that were held back since */
    assert_int_equal(lines(&log), 11);
    assert_non_null(strstr(log.data, "failed (and 599 more like this);"));
    event_log("Perflib", 1014, "Other", NULL, "failed");
    event_log("Perflib", 1015, "Flood", NULL, "failed");
    /* another service, or another event of the same service, is not held back */
    assert_int_equal(lines(&log), 13);
    now += (int64_t)61 * CLOCK_TICKS_PER_SECOND;
    event_log("Perflib", 1014, "Flood", NULL, "failed");
    assert_int_equal(lines(&log), 14);
    assert_non_null(strstr(log.data, "failed (and 390 more like this);"));
}

static void report_flood(const char *service, int count)
{
    for (int i = 0; i < count; i++)
        event_log("Perflib", 1014, service, NULL, "failed");
}

/* The count of held-back events is reported with any later event, because an event of the same kind
 * may never come again. */
static void a_count_is_reported_with_any_event_a_minute_later(void **state)
{
    BUFFER_AUTO log = {0};
    report_flood("Flood", 25);
    report_flood("Little", 10);
    now += (int64_t)59 * CLOCK_TICKS_PER_SECOND;
    event_log("Perflib", 1015, "Other", NULL, NULL);
    assert_int_equal(lines(&log), 21);
    now += CLOCK_TICKS_PER_SECOND;
    event_log("LoadPerf", 3008, NULL, NULL, NULL);
    assert_int_equal(lines(&log), 23);
    assert_non_null(strstr(log.data, "\tPerflib\t1014\twarning\tFlood\t"));
    assert_non_null(strstr(log.data, ": failed (and 15 more like this); "));
    now += (int64_t)100 * CLOCK_TICKS_PER_SECOND;
    event_log("LoadPerf", 3008, NULL, NULL, NULL);
    assert_int_equal(lines(&log), 24); /* the count is written only once */
    event_log("Perflib", 1014, "Flood", NULL, "failed");
    assert_int_equal(lines(&log), 25);
    /* all five are held back, because an event of this kind was written less than a minute ago */
    report_flood("Flood", 5);
    now += (int64_t)60 * CLOCK_TICKS_PER_SECOND;
    event_log("Perflib", 1015, "Other", NULL, NULL);
    assert_int_equal(lines(&log), 27);
    assert_non_null(strstr(log.data, "failed (and 5 more like this)"));
}

/* When a session ends (the program closes the key), the count of held-back events is written, but
 * at most once a minute: a program that closes the key after each query does not get a line each
 * time. */
static void a_count_is_reported_at_the_end_of_a_session(void **state)
{
    BUFFER_AUTO log = {0};
    report_flood("Flood", 25);
    event_close();
    assert_int_equal(lines(&log), 11);
    assert_non_null(strstr(log.data, "failed (and 15 more like this)"));
    for (int i = 0; i < 29; i++, now += CLOCK_TICKS_PER_SECOND) {
        report_flood("Flood", 1);
        event_close();
    }
    assert_int_equal(lines(&log), 11);
    now += (int64_t)60 * CLOCK_TICKS_PER_SECOND;
    event_close();
    assert_int_equal(lines(&log), 12);
    assert_non_null(strstr(log.data, "failed (and 29 more like this)"));
    event_close();
    assert_int_equal(lines(&log), 12);
}

/* A child process does not report the counts of its parent's held-back events: a server that forks
 * for each client would write such a line for each client. */
static void a_child_does_not_say_its_parents_counts(void **state)
{
    BUFFER_AUTO log = {0};
    int status;
    report_flood("Flood", 25);
    pid_t child = fork();
    if (!child) {
        event_close();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(lines(&log), 10);
    event_close();
    assert_int_equal(lines(&log), 11);
    assert_non_null(strstr(log.data, "failed (and 15 more like this)"));
}

/* If many counts of held-back events wait, each new event brings only a few of them into the log,
 * so that one event never writes a thousand lines. No count is lost. */
static void many_counts_are_reported_bit_by_bit(void **state)
{
    BUFFER_AUTO log = {0};
    char name[16];
    for (int i = 0; i < 40; i++) {
        snprintf(name, sizeof name, "Many%d", i);
        report_flood(name, 11);
    }
    assert_int_equal(lines(&log), 400);
    now += (int64_t)60 * CLOCK_TICKS_PER_SECOND;
    for (int i = 1; i <= 4; i++) {
        event_log("Perflib", 1015, "Other", NULL, NULL);
        assert_int_equal(lines(&log), 400 + i + (i < 3 ? 16 * i : 40));
    }
}

static void *report_hundred(void *context)
{
    for (int i = 0; i < 100; i++)
        event_log("Perflib", 1014, "Threads", NULL, NULL);
    return NULL;
}

static void threads_count_together(void **state)
{
    BUFFER_AUTO log = {0};
    pthread_t threads[8];
    for (size_t i = 0; i < COUNT(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, report_hundred, NULL), 0);
    for (size_t i = 0; i < COUNT(threads); i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(lines(&log), 10);
    now += (int64_t)60 * CLOCK_TICKS_PER_SECOND;
    report_hundred(NULL);
    assert_int_equal(lines(&log), 11);
    assert_non_null(strstr(log.data, "(and 790 more like this)"));
}

/* A thousand providers fail at every query: each provider's held-back events are counted
 * separately. */
static void many_providers_are_all_held_back(void **state)
{
    BUFFER_AUTO log = {0};
    char name[16];
    int expected = 0;
    for (int round = 0; round < 12; round++) {
        for (int i = 0; i < 1000; i++) {
            snprintf(name, sizeof name, "Many%d", i);
            event_log("Perflib", 1014, name, NULL, NULL);
            expected += round < 10;
        }
    }
    assert_int_equal(lines(&log), expected);
}

static void many_kinds_forget_the_oldest(void **state)
{
    BUFFER_AUTO log = {0};
    for (unsigned id = 0; id < 500; id++, now++)
        event_log("Perflib", id, "S", NULL, "x");
    assert_int_equal(lines(&log), 500);
}

static void long_texts_stay_one_line(void **state)
{
    BUFFER_AUTO log = {0};
    char text[5000];
    memset(text, 't', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    event_log("Perflib", 1000, text, NULL, text);
    assert_int_equal(lines(&log), 1);
    assert_int_equal(log.data[log.len - 1], '\n');
}

static void a_text_with_tabs_stays_one_field(void **state)
{
    const struct event_record event = {
        .service = "S", .text = "a\tb", .advice = "\tc\td", .id = 1010, .level = EVENT_ERROR};
    struct event_last last;
    event_log("Perflib", 1000, "S", NULL, NULL); /* creates the folder */
    event_last_keep(&event);
    assert_true(event_last("S", &last));
    assert_string_equal(last.text, "a b");
    assert_string_equal(last.advice, " c d");
    char service[1001], text[3001];
    memset(service, 's', sizeof service);
    memset(text, 't', sizeof text);
    service[sizeof service - 1] = text[sizeof text - 1] = '\0';
    event_last_keep(
        &(struct event_record){.service = service, .text = text, .advice = text, .id = 1010});
    assert_true(event_last(service, &last));
    assert_int_equal(last.id, 1010);
}

static pthread_barrier_t together;

static void *keep_first(void *name)
{
    const struct event_record event = {.service = name, .text = "x", .advice = ""};
    pthread_barrier_wait(&together);
    event_last_keep(&event);
    return NULL;
}

/* Several threads write their first records at the same time. Each opens the file by itself, like
 * another process; no record is lost. */
static void first_records_at_one_moment_are_all_kept(void **state)
{
    enum { WRITERS = 6, ROUNDS = 100 };
    pthread_t threads[WRITERS];
    char names[WRITERS][16], path[128];
    struct event_last last;
    snprintf(path, sizeof path, "%s/made/when/needed/last-events", folder);
    event_log("Perflib", 1000, "S", NULL, NULL);
    pthread_barrier_init(&together, NULL, WRITERS);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < WRITERS; i++) {
            snprintf(names[i], sizeof names[i], "S%d.%d", round, i);
            assert_int_equal(pthread_create(&threads[i], NULL, keep_first, names[i]), 0);
        }
        for (int i = 0; i < WRITERS; i++)
            pthread_join(threads[i], NULL);
        for (int i = 0; i < WRITERS; i++)
            if (!event_last(names[i], &last))
                fail_msg("the event of %s is lost", names[i]);
        if (round % 50 == 49) /* empties the file, whose size is limited */
            unlink(path);
    }
    pthread_barrier_destroy(&together);
}

/* The file is full of records, all without their line ends but one. */
static void a_damaged_file_is_used_again(void **state)
{
    enum { RECORD = 2048, WHOLE = 7 };
    char path[128];
    struct event_last last;
    char *damaged = malloc(STATE_RECORDS_MOST);
    (void)state;
    assert_non_null(damaged);
    memset(damaged, 'x', STATE_RECORDS_MOST);
    damaged[WHOLE * RECORD + RECORD - 1] = '\n';
    snprintf(path, sizeof path, "%s/made/when/needed/last-events", folder);
    event_log("Perflib", 1000, "S", NULL, NULL); /* creates the folder */
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(damaged, STATE_RECORDS_MOST, 1, file), 1);
    assert_int_equal(fclose(file), 0);
    for (char service[] = "A"; *service <= 'J'; ++*service) {
        event_log("Perflib", 1000, service, NULL, NULL);
        event_forget(); /* so that it is read from the file */
        assert_true(event_last(service, &last));
    }
    BUFFER_AUTO bytes = {0};
    assert_int_equal(file_read(AT_FDCWD, path, &bytes), 0);
    assert_int_equal(bytes.len, STATE_RECORDS_MOST);
    assert_memory_equal(bytes.data + WHOLE * RECORD, damaged + WHOLE * RECORD, RECORD);
    unlink(path);
    free(damaged);
}

static void a_log_that_cannot_be_written_is_no_error(void **state)
{
    setenv("OPENPERFLIB_ROOT", "/proc/nowhere", 1);
    place_forget();
    event_log("Perflib", 1000, "S", NULL, NULL);
    /* f_h14: without a file, the process remembers the last event of each of at most 16 services */
    struct event_last last;
    char service[16];
    for (int i = 0; i < 40; i++) {
        snprintf(service, sizeof service, "S%d", i);
        event_log("Perflib", 1001, service, NULL, NULL);
    }
    event_log("Perflib", 1002, "S3", NULL, NULL);
    assert_true(event_last("S", &last));
    assert_true(event_last("s3", &last));
    assert_int_equal(last.id, 1002);
    assert_false(event_last("S39", &last));
    event_forget();
    assert_false(event_last("S", &last));
}

static void tracing_is_off_unless_asked(void **state)
{
    trace("test", "not shown %d", 1);
    assert_false(trace_on());
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(an_event_is_one_line_of_fields),
        TEST(words_come_from_the_catalog),
        TEST(a_flood_is_held_back),
        TEST(a_count_is_reported_with_any_event_a_minute_later),
        TEST(a_count_is_reported_at_the_end_of_a_session),
        TEST(a_child_does_not_say_its_parents_counts),
        TEST(many_counts_are_reported_bit_by_bit),
        TEST(threads_count_together),
        TEST(many_providers_are_all_held_back),
        TEST(many_kinds_forget_the_oldest),
        TEST(long_texts_stay_one_line),
        TEST(a_text_with_tabs_stays_one_field),
        TEST(first_records_at_one_moment_are_all_kept),
        TEST(a_damaged_file_is_used_again),
        TEST(a_log_that_cannot_be_written_is_no_error),
        TEST(tracing_is_off_unless_asked),
    };
    unsetenv("OPENPERFLIB_TRACE");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
