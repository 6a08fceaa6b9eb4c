/* SPDX-License-Identifier: MIT */
/* A provider that fails is not queried for some time: how long, what the registry shows, and how
 * the quarantine ends. */
#include "host.h"

#define SECONDS(count) ((int64_t)(count)*CLOCK_TICKS_PER_SECOND)
#define MINUTES(count) SECONDS(60 * (count))

/* 2026-11-21T20:00:00Z, the wall clock at which the tests' monotonic clock is 0. */
static const int64_t evening = INT64_C(134397648000000000);
static int64_t now;

static int64_t test_ticks(void)
{
    return SECONDS(100) + now;
}

static int64_t test_filetime(void)
{
    return evening + now;
}

static int set_up(void **state)
{
    now = 0;
    quarantine_clock = (struct quarantine_clock){test_ticks, test_filetime};
    return set_up_myperf(state);
}

static void it_is(enum provider_event event)
{
    struct service *service = myperf(); /* also reads the registry again */
    quarantine_take(service, &table->settings, event, NULL);
}

/* Removes what the quarantine has stored in the registry, so that it does not influence the next
 * test. */
static int tear_down(void **state)
{
    it_is(PROVIDER_ENABLED);
    return tear_down_myperf(state);
}

static void it_fails(int times)
{
    for (int i = 0; i < times; i++) {
        struct service *service = myperf();
        quarantine_waits(service); /* every query calls this first */
        quarantine_take(service, &table->settings, PROVIDER_FAILED, "Collect crashed");
    }
}

/* The provider is not queried for exactly this many seconds. */
static void expect_backoff(int seconds)
{
    struct service *service = myperf();
    now += SECONDS(seconds) - 1;
    assert_true(quarantine_waits(service));
    now += 1;
    assert_false(quarantine_waits(service));
}

static const char *quarantine_text(void)
{
    static char text[256];
    BUFFER_AUTO value = {0};
    text[0] = '\0';
    if (!registry_get_text(PERFORMANCE, "Quarantine", &value))
        snprintf(text, sizeof text, "%s", value.data);
    return text;
}

static bool disabled_in_registry(void)
{
    return number_of("Disable Performance Counters") == 1;
}

static void each_failure_doubles_the_time_without_queries(void **state)
{
    set_dword(REGISTRY_PERFLIB, "Error Count Limit", 100);
    for (int seconds = 1; seconds <= 64; seconds *= 2) {
        it_fails(1);
        expect_backoff(seconds);
    }
    it_fails(1);
    expect_backoff(64);
    assert_false(disabled_in_registry());
}

static void the_fifth_is_a_quarantine_that_says_why_and_until_when(void **state)
{
    it_fails(4);
    assert_int_equal(number_of("Error Count"), 4);
    assert_false(disabled_in_registry());
    assert_false(event_seen(1017));
    it_fails(1);
    assert_true(disabled_in_registry());
    assert_true(event_seen(1017));
    assert_non_null(strstr(events(), "MyPerf was put in quarantine: until 2026-11-21T20:10:00Z "
                                     "(first time), because Collect crashed"));
    assert_string_equal(quarantine_text(),
                        "until 2026-11-21T20:10:00Z (first quarantine): Collect crashed");
    assert_int_equal(number_of("Error Count"), -1);
    assert_true(myperf()->disabled);
}

static void failures_of_other_processes_count(void **state)
{
    set_dword(PERFORMANCE, "Error Count", 4);
    it_fails(1);
    assert_true(disabled_in_registry());
}

static void the_limit_is_the_registrys(void **state)
{
    set_dword(REGISTRY_PERFLIB, "Error Count Limit", 1);
    it_fails(1);
    assert_true(disabled_in_registry());
}

static void without_a_limit_there_is_no_quarantine(void **state)
{
    set_dword(REGISTRY_PERFLIB, "Error Count Limit", 0);
    it_fails(20);
    assert_false(disabled_in_registry());
    assert_int_equal(number_of("Error Count"), -1);
}

static void configuration_flag_2_never_disables(void **state)
{
    set_dword(REGISTRY_PERFLIB, "Configuration Flags", CONFIGURATION_NEVER_DISABLE);
    it_fails(20);
    struct service *service = myperf();
    quarantine_take(service, &table->settings, PROVIDER_SILENT, NULL);
    assert_false(disabled_in_registry());
    assert_true(quarantine_waits(service));
}

/* A quarantine ends when its time is over, without any program that removes it from the
 * registry. */
static void when_it_is_over_it_is_tried_again(void **state)
{
    it_fails(5);
    now = MINUTES(10) - SECONDS(1);
    assert_true(myperf()->disabled);
    now = MINUTES(10);
    assert_false(myperf()->disabled);
    assert_true(myperf()->on_probation);
    assert_false(quarantine_waits(myperf()));
    it_is(PROVIDER_PASSED);
    assert_int_equal(number_of("Disable Performance Counters"), -1);
    assert_string_equal(quarantine_text(), "");
    assert_false(myperf()->on_probation);
}

static void one_failure_on_probation_is_the_next_and_longer(void **state)
{
    it_fails(5);
    now = MINUTES(10);
    it_fails(1);
    assert_string_equal(quarantine_text(),
                        "until 2026-11-21T20:30:00Z (second quarantine): Collect crashed");
    assert_true(myperf()->disabled);
    now = MINUTES(30);
    it_fails(1);
    assert_string_equal(quarantine_text(),
                        "until 2026-11-21T21:10:00Z (third quarantine): Collect crashed");
}

static void it_never_lasts_longer_than_a_day(void **state)
{
    set_dword(PERFORMANCE, "Disable Performance Counters", 1);
    set_text(PERFORMANCE, "Quarantine", REG_SZ, "until 2026-11-21T20:00:00Z, time 4000: x");
    it_fails(1);
    assert_string_equal(quarantine_text(),
                        "until 2026-11-22T17:20:00Z (4001st quarantine): Collect crashed");
}

static void numbers_of_quarantines_end_as_in_english(void **state)
{
    static const char *const words[] = {"4th",  "11th", "12th", "13th",  "20th",
                                        "21st", "22nd", "23rd", "111th", "102nd"};
    for (size_t i = 0; i < COUNT(words); i++) {
        char before[64], expected[64];
        snprintf(before, sizeof before, "until 2026-11-21T20:00:00Z, time %d: x",
                 atoi(words[i]) - 1);
        snprintf(expected, sizeof expected, " (%s quarantine): Collect crashed", words[i]);
        set_dword(PERFORMANCE, "Disable Performance Counters", 1);
        set_text(PERFORMANCE, "Quarantine", REG_SZ, before);
        it_fails(1);
        assert_non_null(strstr(quarantine_text(), expected));
    }
}

static void what_is_disabled_by_hand_stays_so(void **state)
{
    set_dword(PERFORMANCE, "Disable Performance Counters", 1);
    now = MINUTES(60 * 24 * 365);
    assert_true(myperf()->disabled);
    set_text(PERFORMANCE, "Quarantine", REG_SZ, "by hand");
    assert_true(myperf()->disabled);
    set_text(PERFORMANCE, "Quarantine", REG_SZ, "");
    assert_true(myperf()->disabled);
}

static void c46_deleting_the_value_enables_and_forgives(void **state)
{
    it_fails(5);
    assert_true(myperf()->disabled);
    assert_int_equal(
        registry_delete_value(LAYER_MACHINE, PERFORMANCE, "Disable Performance Counters"), 0);
    assert_false(myperf()->disabled);
    assert_false(quarantine_waits(myperf()));
    it_fails(4);
    assert_false(disabled_in_registry());
}

/* If an administrator enables and later disables the service, it stays disabled: nothing of the old
 * quarantine is left. */
static void enabled_by_hand_and_answering_it_has_no_past(void **state)
{
    it_fails(5);
    assert_int_equal(
        registry_delete_value(LAYER_MACHINE, PERFORMANCE, "Disable Performance Counters"), 0);
    struct service *service = myperf();
    assert_string_not_equal(quarantine_text(), "");
    assert_false(quarantine_waits(service));
    quarantine_take(service, &table->settings, PROVIDER_PASSED, NULL);
    assert_string_equal(quarantine_text(), "");
    set_dword(PERFORMANCE, "Disable Performance Counters", 1);
    now = MINUTES(60 * 24);
    assert_true(myperf()->disabled);
}

static void ten_good_minutes_are_forgiveness(void **state)
{
    it_fails(4);
    now = MINUTES(10) - 1;
    it_is(PROVIDER_PASSED);
    assert_int_equal(number_of("Error Count"), 4);
    now = MINUTES(10);
    it_is(PROVIDER_PASSED);
    assert_int_equal(number_of("Error Count"), -1);
    it_fails(1);
    expect_backoff(1);
}

static void the_end_of_the_session_too(void **state)
{
    set_dword(REGISTRY_PERFLIB, "Error Count Limit", 0);
    it_fails(3);
    assert_true(quarantine_waits(myperf()));
    host_close();
    assert_false(quarantine_waits(myperf()));
}

static void an_overdue_provider_is_queried_again_once(void **state)
{
    it_is(PROVIDER_OVERDUE);
    assert_false(quarantine_waits(myperf()));
    it_is(PROVIDER_OVERDUE);
    expect_backoff(1);
    it_is(PROVIDER_OVERDUE);
    expect_backoff(2);
    assert_int_equal(number_of("Error Count"), -1);
}

static void it_is_missed(int times)
{
    for (int i = 0; i < times; i++)
        it_is(PROVIDER_MISSED);
}

static void what_is_in_time_or_arrives_after_all_is_no_delay(void **state)
{
    it_is(PROVIDER_OVERDUE);
    it_is(PROVIDER_IN_TIME);
    it_is(PROVIDER_OVERDUE);
    it_is_missed(1);
    assert_false(quarantine_waits(myperf()));
    it_is_missed(1);
    assert_true(quarantine_waits(myperf()));
    it_is(PROVIDER_CAUGHT_UP);
    assert_false(quarantine_waits(myperf()));
    it_is_missed(1);
    expect_backoff(1);
}

static void a_helper_that_cannot_start_is_tried_again_each_second(void **state)
{
    for (int i = 0; i < 3; i++) {
        it_is(PROVIDER_NO_HELPER);
        expect_backoff(1);
    }
    assert_int_equal(number_of("Error Count"), -1);
}

/* Only the second crash in Close without a valid answer in between has consequences, because one
 * crash may be chance. */
static void crashes_in_close_outlast_the_session_until_an_answer_passes(void **state)
{
    it_is(PROVIDER_CRASHED_LAST);
    assert_false(quarantine_waits(myperf()));
    it_is(PROVIDER_CRASHED_LAST);
    host_close();
    expect_backoff(1);
    assert_int_equal(number_of("Error Count"), 2);
    it_is(PROVIDER_PASSED);
    host_close();
    it_is(PROVIDER_CRASHED_LAST);
    assert_false(quarantine_waits(myperf()));
}

static bool is_suspect(void)
{
    struct service *service = myperf();
    return quarantine_suspects(service, &table->settings);
}

static unsigned misses_in_registry(void)
{
    BUFFER_AUTO value = {0};
    int64_t end;
    return registry_get_text(PERFORMANCE, "Unanswered", &value) ? 0
                                                                : quarantine_read(value.data, &end);
}

/* Missed deadlines are no failures: they are forgotten ten minutes after the last one, and counting
 * begins at 1 again. */
static void after_five_misses_no_query_waits_for_ten_minutes(void **state)
{
    it_is_missed(4);
    assert_false(is_suspect());
    now += MINUTES(10) - SECONDS(1);
    it_is_missed(1);
    assert_int_equal(misses_in_registry(), 5);
    assert_true(is_suspect());
    assert_true(event_seen(1015));
    now += MINUTES(10) - 1;
    assert_true(is_suspect());
    now += 1;
    assert_false(is_suspect());
    it_is_missed(1);
    assert_int_equal(misses_in_registry(), 1);
    assert_int_equal(number_of("Error Count"), -1);
    assert_false(disabled_in_registry());
}

static void an_answer_forgives_all_misses(void **state)
{
    it_is_missed(5);
    it_is(PROVIDER_PASSED);
    assert_int_equal(misses_in_registry(), 0);
    /* the provider has answered in this session, so missed deadlines do not make it a suspect until
     * the session ends */
    it_is_missed(5);
    assert_false(is_suspect());
    host_close();
    assert_true(is_suspect());
    it_is(PROVIDER_ANSWERED);
    assert_false(is_suspect());
    assert_int_equal(misses_in_registry(), 0);
}

static void without_a_limit_none_is_suspect(void **state)
{
    it_is_missed(5);
    set_dword(REGISTRY_PERFLIB, "Error Count Limit", 0);
    assert_false(is_suspect());
    set_dword(REGISTRY_PERFLIB, "Error Count Limit", 5);
    set_dword(REGISTRY_PERFLIB, "Configuration Flags", CONFIGURATION_NEVER_DISABLE);
    assert_false(is_suspect());
}

/* Replaces the folder of the machine's registry files by a file, so that even root cannot write
 * there. */
static void take_the_machines_layer(char from[static 96], char to[static 96])
{
    snprintf(from, 96, "%s/machine", test_root);
    snprintf(to, 96, "%s/moved", test_root);
    assert_int_equal(rename(from, to), 0);
    temp_write(test_root, "machine", "no folder");
}

static void what_a_user_registered_is_in_quarantine_for_him(void **state)
{
    static const char library[] = "/nonexistent/myperf.so", collect[] = "Collect";
    char from[96], to[96];
    take_the_machines_layer(from, to);
    assert_int_equal(
        registry_set(LAYER_USER, PERFORMANCE, "Library", REG_SZ, library, sizeof library), 0);
    assert_int_equal(
        registry_set(LAYER_USER, PERFORMANCE, "Collect", REG_SZ, collect, sizeof collect), 0);
    it_fails(5);
    assert_false(event_seen(1018));
    assert_true(disabled_in_registry());
    assert_string_equal(quarantine_text(),
                        "until 2026-11-21T20:10:00Z (first quarantine): Collect crashed");
    now += MINUTES(10);
    it_is(PROVIDER_PASSED);
    assert_int_equal(number_of("Disable Performance Counters"), -1);
    assert_string_equal(quarantine_text(), "");
    temp_remove(from);
    assert_int_equal(rename(to, from), 0);
}

static void where_the_registry_cannot_be_written_it_is_for_this_session(void **state)
{
    char from[96], to[96];
    struct service *service = myperf();
    take_the_machines_layer(from, to);
    for (int i = 0; i < 5; i++)
        quarantine_take(service, &table->settings, PROVIDER_FAILED, "Collect crashed");
    assert_true(event_seen(1018));
    assert_false(event_seen(1017));
    now += MINUTES(10) - 1;
    assert_true(quarantine_waits(service));
    now += 1;
    assert_false(quarantine_waits(service));
    quarantine_take(service, &table->settings, PROVIDER_SILENT, NULL);
    now += MINUTES(60 * 24);
    assert_true(quarantine_waits(service));
    temp_remove(from);
    assert_int_equal(rename(to, from), 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(each_failure_doubles_the_time_without_queries),
        CASE(the_fifth_is_a_quarantine_that_says_why_and_until_when),
        CASE(failures_of_other_processes_count),
        CASE(the_limit_is_the_registrys),
        CASE(without_a_limit_there_is_no_quarantine),
        CASE(configuration_flag_2_never_disables),
        CASE(when_it_is_over_it_is_tried_again),
        CASE(one_failure_on_probation_is_the_next_and_longer),
        CASE(it_never_lasts_longer_than_a_day),
        CASE(numbers_of_quarantines_end_as_in_english),
        CASE(what_is_disabled_by_hand_stays_so),
        CASE(c46_deleting_the_value_enables_and_forgives),
        CASE(enabled_by_hand_and_answering_it_has_no_past),
        CASE(ten_good_minutes_are_forgiveness),
        CASE(the_end_of_the_session_too),
        CASE(an_overdue_provider_is_queried_again_once),
        CASE(what_is_in_time_or_arrives_after_all_is_no_delay),
        CASE(a_helper_that_cannot_start_is_tried_again_each_second),
        CASE(crashes_in_close_outlast_the_session_until_an_answer_passes),
        CASE(after_five_misses_no_query_waits_for_ten_minutes),
        CASE(an_answer_forgives_all_misses),
        CASE(without_a_limit_none_is_suspect),
        CASE(what_a_user_registered_is_in_quarantine_for_him),
        CASE(where_the_registry_cannot_be_written_it_is_for_this_session),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
