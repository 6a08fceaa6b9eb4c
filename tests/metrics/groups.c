/* SPDX-License-Identifier: MIT */
/* Groups of processes: rules, sums that never fall, and the file that keeps them. The processes are
 * made up: each answer is what a walk gives of Process V2 and Process Details. */
#include "groups.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static unsigned boot = 1000; /* the date of the boot, which moves when the clock is set */

struct made {
    unsigned id, start;
    const char *program, *unit, *user, *group;
    uint64_t seconds, bytes; /* user time, and disk bytes read; UINT64_MAX: not known */
};

static char folder[] = "/tmp/metrics-groups-XXXXXX", path[64], file[64];
static struct groups *groups;
static struct exposition text;

static struct groups *begin(const char *rules)
{
    char why[GROUP_WHY];
    struct group_rules *read = group_rules_read(rules, why);
    assert_non_null(read);
    struct groups *new = groups_new(read, path);
    assert_non_null(new);
    return new;
}

static void write_file(const char *rules)
{
    FILE *out = fopen(file, "w");
    assert_non_null(out);
    fputs(rules, out);
    fclose(out);
}

static int setup(void **state)
{
    (void)state;
    unlink(path);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    groups_free(groups);
    groups = NULL;
    return 0;
}

/* Gives one family of all processes to the groups; `value` returns false where there is none. */
static void family(const char *name, const struct made *made, size_t count, int which)
{
    struct metric_sink *sink = groups_sink(groups);
    struct metric_family family = {
        .kind = METRIC_COUNTER, .unit = "", .sample_count = 1, .samples = {{.suffix = "_total"}}};
    strcpy(family.name, name);
    sink->family(sink, &family);
    for (size_t i = 0; i < count; i++) {
        char label[64];
        uint64_t start = made[i].id ? boot + made[i].start : boot;
        struct metric_value value = {.whole = which == 0   ? start
                                              : which == 1 ? made[i].seconds * 10
                                              : which == 2 ? made[i].bytes
                                                           : 1,
                                     .digits = which == 1};
        const char *word = which == 3   ? made[i].unit
                           : which == 4 ? made[i].user
                           : which == 5 ? made[i].group
                                        : NULL;
        if ((which == 2 && made[i].bytes == UINT64_MAX) || (which > 2 && !word))
            continue;
        snprintf(label, sizeof label, "%s:%u", made[i].program, made[i].id);
        struct metric_labels labels = {.name = label, .parent = "", .text = ""};
        sink->sample(sink, &family, &family.samples[0], &labels, word, &value);
    }
}

static bool answer(const struct made *made, size_t count)
{
    size_t series;
    family("perf_process_v2_user_time_seconds", made, count, 1);
    family("perf_process_v2_elapsed_start_time_seconds", made, count, 0);
    family("perf_process_v2_io_disk_read_bytes", made, count, 2);
    family("perf_process_details_unit", made, count, 3);
    family("perf_process_details_user", made, count, 4);
    family("perf_process_details_control_group", made, count, 5);
    bool good = groups_end(groups, true, &series);
    exposition_begin(&text, FORMAT_TEXT);
    groups_emit(groups, &text.sink);
    *(text.bytes + text.size - (text.size ? 1 : 0)) = '\0';
    return good;
}
#define ANSWER(...)                                                                                \
    answer((struct made[]){__VA_ARGS__}, sizeof((struct made[]){__VA_ARGS__}) / sizeof(struct made))

/* The value of a line; "": there is none. */
static const char *value(const char *metric, const char *group)
{
    static char number[32];
    char line[128];
    snprintf(line, sizeof line, "\nperf_process_group_%s{group=\"%s\"} ", metric, group);
    const char *at = strstr(text.bytes, line);
    snprintf(number, sizeof number, "%s", at ? at + strlen(line) : "");
    number[strcspn(number, "\n")] = '\0';
    return number;
}
#define SECONDS "user_time_seconds_total"
#define BYTES "io_disk_read_bytes_total"

static void a_member_that_ends_stays_in_the_sum(void **state)
{
    (void)state;
    groups = begin("program");
    assert_true(ANSWER({1, 1, "web", NULL, NULL, NULL, 10, 100},
                       {2, 1, "web", NULL, NULL, NULL, 5, 50},
                       {3, 1, "db", NULL, NULL, NULL, 7, 0}));
    assert_string_equal(value(SECONDS, "web"), "15");
    assert_string_equal(value("processes", "web"), "2");
    assert_true(
        ANSWER({1, 1, "web", NULL, NULL, NULL, 12, 100}, {3, 1, "db", NULL, NULL, NULL, 7, 0}));
    assert_string_equal(value(SECONDS, "web"), "17");
    assert_string_equal(value("processes", "web"), "1");
    /* a new process with the number of an old one counts from its beginning */
    assert_true(
        ANSWER({1, 9, "web", NULL, NULL, NULL, 1, 3}, {3, 1, "db", NULL, NULL, NULL, 8, 0}));
    assert_string_equal(value(SECONDS, "web"), "18");
    assert_string_equal(value(BYTES, "web"), "153");
    assert_string_equal(value(SECONDS, "db"), "8");
    assert_true(ANSWER({3, 1, "db", NULL, NULL, NULL, 8, 0}));
    assert_string_equal(value(SECONDS, "web"), "18");
    assert_string_equal(value("processes", "web"), "0");
}

static void a_member_that_moves_takes_nothing_along(void **state)
{
    (void)state;
    groups = begin("program");
    assert_true(
        ANSWER({1, 1, "sh", NULL, NULL, NULL, 10, 100}, {2, 1, "sh", NULL, NULL, NULL, 5, 50}));
    assert_true(
        ANSWER({1, 1, "web", NULL, NULL, NULL, 11, 100}, {2, 1, "sh", NULL, NULL, NULL, 5, 50}));
    assert_string_equal(value(SECONDS, "sh"), "15");
    assert_string_equal(value(SECONDS, "web"), "1");
}

static void one_that_an_answer_lacks_is_not_counted_again(void **state)
{
    (void)state;
    groups = begin("program");
    assert_true(
        ANSWER({1, 1, "a", NULL, NULL, NULL, 10, 100}, {2, 1, "b", NULL, NULL, NULL, 5, 50}));
    assert_true(ANSWER({2, 1, "b", NULL, NULL, NULL, 5, 50}));
    assert_true(
        ANSWER({1, 1, "a", NULL, NULL, NULL, 12, 100}, {2, 1, "b", NULL, NULL, NULL, 5, 50}));
    assert_string_equal(value(SECONDS, "a"), "12");
    /* an empty answer is no answer */
    assert_false(answer(NULL, 0));
    assert_string_equal(value(SECONDS, "a"), "12");
    /* nor does a value that is lower than before, by other rounding, or the same process twice */
    assert_true(
        ANSWER({1, 1, "a", NULL, NULL, NULL, 11, 100}, {2, 1, "b", NULL, NULL, NULL, 5, 50}));
    assert_true(
        ANSWER({1, 1, "a", NULL, NULL, NULL, 13, 100}, {1, 1, "a", NULL, NULL, NULL, 13, 100}));
    assert_string_equal(value(SECONDS, "a"), "13");
}

static void what_is_not_known_is_absent(void **state)
{
    (void)state;
    groups = begin("program");
    assert_true(ANSWER({1, 1, "a", NULL, NULL, NULL, 10, 100},
                       {2, 1, "a", NULL, NULL, NULL, 5, UINT64_MAX}));
    assert_string_equal(value(SECONDS, "a"), "15");
    assert_string_equal(value(BYTES, "a"), "");
    assert_true(ANSWER({1, 1, "a", NULL, NULL, NULL, 10, 130}));
    assert_string_equal(value(BYTES, "a"), "130");
    assert_string_equal(value("threads", "a"), "");
    /* the process whose bytes were known once: they are not counted again */
    assert_true(ANSWER({1, 1, "a", NULL, NULL, NULL, 10, UINT64_MAX}));
    assert_string_equal(value(BYTES, "a"), "");
    assert_true(ANSWER({1, 1, "a", NULL, NULL, NULL, 10, 131}));
    assert_string_equal(value(BYTES, "a"), "131");
}

static void the_first_rule_that_matches_decides(void **state)
{
    (void)state;
    write_file("# a comment\n\nbuild program=cc?,ld\n{user}-own user=a*,bob unit=(none)\n"
               "{container}/{unit} container=web*\nunits {unit}\n");
    char why[GROUP_WHY];
    assert_null(group_rules_read(file, why)); /* "units {unit}": the second word is no condition */
    assert_string_equal(why, "line 6: a condition must be program=, unit=, container= or user= "
                             "and a pattern");
    write_file("build program=cc?,ld\n{user}-own user=a*,bob unit=(none)\n"
               "{container}/{unit} container=web*\nu:{unit} unit=*.service");
    groups = begin(file);
    assert_true(ANSWER(
        {1, 1, "cc1", "x.service", "root", "/x", 1, 0}, {2, 1, "ld", NULL, NULL, NULL, 1, 0},
        {3, 1, "sh", "(none)", "alice", "/", 2, 0}, {4, 1, "sh", "", "bob", "/", 4, 0},
        {5, 1, "sh", "m.scope", "root", "/machine.slice/machine-web1.scope", 8, 0},
        {6, 1, "sh", "d.service", "root", "/d", 16, 0}, {7, 1, "sh", "", "root", "/", 32, 0}));
    assert_string_equal(value(SECONDS, "build"), "2");
    assert_string_equal(value(SECONDS, "alice-own"), "2");
    assert_string_equal(value(SECONDS, "bob-own"), "4");
    assert_string_equal(value(SECONDS, "web1/m.scope"), "8");
    assert_string_equal(value(SECONDS, "u:d.service"), "16");
    assert_null(strstr(text.bytes, "} 32"));
}

static void wrong_rules_are_refused(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {"a program=b\n{x}", "line 2: braces may hold program"},
        {"{user",            "line 1: braces may hold program"},
        {"a b",              "line 1: a condition must be"    },
        {"a name=b",         "line 1: a condition must be"    },
        {"a user=",          "line 1: a condition must be"    },
        {"a user=b user=c",  "line 1: a condition may stand"  },
        {"# nothing\n",      "the file has no rules"          },
    };
    char why[GROUP_WHY];
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        write_file(wrong[i][0]);
        assert_null(group_rules_read(file, why));
        if (strncmp(why, wrong[i][1], strlen(wrong[i][1])) != 0)
            fail_msg("%s: %s", wrong[i][0], why);
    }
    assert_null(group_rules_read("names", why));
    assert_non_null(strstr(why, "with a slash"));
    assert_null(group_rules_read("/nowhere/at/all", why));
}

static void names_are_valid_and_bounded(void **state)
{
    (void)state;
    char longest[400];
    memset(longest, 'x', sizeof longest);
    strcpy(longest + sizeof longest - 32, "{program}{program}\n");
    write_file(longest);
    groups = begin(file);
    assert_true(ANSWER({1, 1, "quote\"", NULL, NULL, NULL, 1, 0}));
    groups_free(groups);
    groups = begin("program");
    assert_true(ANSWER({1, 1, "quote\"back\\line\n", NULL, NULL, NULL, 2, 0}));
    assert_string_equal(value("processes", "quote\\\"back\\\\line\\n"), "1");
}

static void a_restart_goes_on(void **state)
{
    (void)state;
    groups = begin("program");
    assert_true(ANSWER({0, 0, "Idle", NULL, NULL, NULL, 1, 0},
                       {1, 1, "a", NULL, NULL, NULL, 10, 100},
                       {2, 1, "a", NULL, NULL, NULL, 5, 50}));
    assert_string_equal(value("processes", "Idle"), ""); /* is no process */
    groups_free(groups);
    boot += 500;
    groups = begin("program");
    assert_true(ANSWER({0, 0, "Idle", NULL, NULL, NULL, 1, 0},
                       {1, 1, "a", NULL, NULL, NULL, 11, 100},
                       {3, 2, "a", NULL, NULL, NULL, 2, 9}));
    assert_string_equal(value(SECONDS, "a"), "18");
    assert_string_equal(value(BYTES, "a"), "159");
}

static void a_damaged_file_begins_anew(void **state)
{
    (void)state;
    groups = begin("program");
    assert_true(ANSWER({1, 1, "a", NULL, NULL, NULL, 10, 100}));
    teardown(state);
    FILE *in = fopen(path, "r");
    static unsigned char bytes[4096], changed[4096];
    size_t size = fread(bytes, 1, sizeof bytes, in);
    fclose(in);
    for (size_t i = 0; i < size; i += 7) {
        memcpy(changed, bytes, size);
        changed[i] ^= 0x55;
        FILE *out = fopen(path, "w");
        fwrite(changed, 1, i % 2 ? i : size, out); /* torn, or changed */
        fclose(out);
        groups = begin("program");
        assert_true(ANSWER({1, 1, "a", NULL, NULL, NULL, 20, 100}));
        assert_string_equal(value(SECONDS, "a"), "20");
        /* a restart that goes on would be 20, too, but a sum that was accepted would be more */
        teardown(state);
        groups = begin("program");
        assert_true(ANSWER({2, 1, "a", NULL, NULL, NULL, 1, 100}));
        assert_string_equal(value(SECONDS, "a"), "21");
        teardown(state);
    }
}

static void too_many_groups_become_one(void **state)
{
    (void)state;
    enum { COUNT = GROUPS_MOST + 500 };
    static struct made made[COUNT];
    static char names[COUNT][16];
    for (unsigned i = 0; i < COUNT; i++) {
        snprintf(names[i], sizeof names[i], "p%u", i);
        made[i] = (struct made){i + 1, 1, names[i], NULL, NULL, NULL, 1, 1};
    }
    groups = begin("program");
    assert_true(answer(made, COUNT));
    assert_string_equal(value("processes", "(more)"), "501");
    assert_true(answer(made, COUNT));
    assert_string_equal(value(SECONDS, "(more)"), "501");
}

static void the_file_belongs_to_one_exporter(void **state)
{
    (void)state;
    assert_true(group_state_lock(path));
    assert_false(group_state_lock(path));
}

static void twenty_thousand_ends_never_lower_a_sum(void **state)
{
    (void)state;
    enum { LIVING = 200, ROUNDS = 400, ENDS = 50 };
    static struct made made[LIVING];
    unsigned next = 1;
    uint64_t used = 0, last = 0;
    for (unsigned i = 0; i < LIVING; i++)
        made[i] = (struct made){next++, 1, "p", NULL, NULL, NULL, 0, 0};
    groups = begin("program");
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned i = 0; i < LIVING; i++) {
            made[i].seconds += i % 3;
            used += i % 3;
        }
        if (round % 100 == 50) { /* killed and started again */
            teardown(state);
            groups = begin("program");
        }
        assert_true(answer(made, LIVING));
        uint64_t now = strtoull(value(SECONDS, "p"), NULL, 10);
        assert_int_equal(now, used);
        assert_true(now >= last);
        last = now;
        for (unsigned i = 0; i < ENDS; i++) /* the numbers wrap, as those of processes do */
            made[(round * 7 + i) % LIVING] =
                (struct made){next++ % 997 + 1, round + 2, "p", NULL, NULL, NULL, 0, 0};
    }
}

static bool wants(const char *name)
{
    struct metric_sink *sink = groups_sink(groups);
    struct metric_family family = {.unit = ""};
    strcpy(family.name, name);
    return sink->wants(sink, &family);
}

static void only_what_the_rules_need_is_wanted(void **state)
{
    static const struct {
        const char *rules;
        bool unit, group, user;
    } cases[] = {
        {"program",   false, false, false},
        {"unit",      true,  false, false},
        {"container", true,  true,  false},
        {"user",      false, false, true },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        groups_free(groups);
        groups = begin(cases[i].rules);
        assert_int_equal(wants("perf_process_details_unit"), cases[i].unit);
        assert_int_equal(wants("perf_process_details_control_group"), cases[i].group);
        assert_int_equal(wants("perf_process_details_user"), cases[i].user);
        assert_false(wants("perf_process_details_command_line"));
        assert_false(wants("perf_process_v2_handles"));
        assert_true(wants("perf_process_v2_user_time_seconds"));
        assert_true(wants("perf_process_v2_elapsed_start_time_seconds"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(a_member_that_ends_stays_in_the_sum),
        TEST(a_member_that_moves_takes_nothing_along),
        TEST(one_that_an_answer_lacks_is_not_counted_again),
        TEST(what_is_not_known_is_absent),
        TEST(the_first_rule_that_matches_decides),
        TEST(wrong_rules_are_refused),
        TEST(names_are_valid_and_bounded),
        TEST(only_what_the_rules_need_is_wanted),
        TEST(a_restart_goes_on),
        TEST(a_damaged_file_begins_anew),
        TEST(too_many_groups_become_one),
        TEST(the_file_belongs_to_one_exporter),
        TEST(twenty_thousand_ends_never_lower_a_sum),
    };
    char lock[80];
    if (!mkdtemp(folder))
        return 1;
    snprintf(path, sizeof path, "%s/groups", folder);
    snprintf(file, sizeof file, "%s/rules", folder);
    snprintf(lock, sizeof lock, "%s.lock", path);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(text.bytes);
    unlink(path);
    unlink(file);
    unlink(lock);
    rmdir(folder);
    return failed;
}
