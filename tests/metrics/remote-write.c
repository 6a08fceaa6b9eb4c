/* SPDX-License-Identifier: MIT */
/* The message of remote write, byte by byte: values, times, labels with every escape, their order,
 * and messages of limited size. */
#include "metrics.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct fixed_label fixed[] = {
    {"job",  "own"},
    {"zone", "z"  },
    {"job",  "no" },
};
static size_t filled;

static void full(struct remote_write *out)
{
    filled += out->samples;
    remote_write_begin(out);
}

/* Adds one sample. */
static void add(struct remote_write *out, const char *name, const char *suffix, const char *labels,
                const char *text, const struct metric_value *value)
{
    struct metric_family family = {.sample_count = 1, .samples[0].suffix = suffix};
    struct metric_labels written = {.text = labels, .size = strlen(labels)};
    strcpy(family.name, name);
    out->sink.family(&out->sink, &family);
    out->sink.sample(&out->sink, &family, &family.samples[0], &written, text, value);
}

static void assert_message(const struct remote_write *out, const char *expected, size_t size)
{
    assert_false(out->failed);
    assert_int_equal(out->size, size);
    assert_memory_equal(out->bytes, expected, size);
}
#define ASSERT_MESSAGE(out, text) assert_message(out, text, sizeof text - 1)

static void a_sample_has_its_labels_in_order(void **state)
{
    struct remote_write out = {
        .fixed = fixed, .fixed_count = 3, .most = 100, .full = full, .time_ms = 300};
    remote_write_begin(&out);
    add(&out, "a", "_total", "name=\"b\",parent=\"\",k=\"x\"", NULL,
        &(struct metric_value){.whole = 25, .digits = 1});
    ASSERT_MESSAGE(&out, "\x0a\x4d"
                         "\x0a\x13\x0a\x08__name__\x12\x07"
                         "a_total"
                         "\x0a\x0a\x0a\x03"
                         "job\x12\x03own"
                         "\x0a\x06\x0a\x01k\x12\x01x"
                         "\x0a\x09\x0a\x04name\x12\x01"
                         "b"
                         "\x0a\x09\x0a\x04zone\x12\x01z"
                         "\x12\x0c\x09\0\0\0\0\0\0\x04\x40\x10\xac\x02");
    free(out.bytes);
    (void)state;
}

static void escapes_are_undone(void **state)
{
    struct remote_write out = {.most = 100, .full = full, .time_ms = 1};
    remote_write_begin(&out);
    add(&out, "a", "", "b=\"\\\\ \\\" \\n,c=\\\"\",d=\"e\"", "\\n\"",
        &(struct metric_value){.is_real = true, .real = -2});
    ASSERT_MESSAGE(&out, "\x0a\x41"
                         "\x0a\x0d\x0a\x08__name__\x12\x01"
                         "a"
                         "\x0a\x0e\x0a\x01"
                         "b\x12\x09\\ \" \n,c=\""
                         "\x0a\x06\x0a\x01"
                         "d\x12\x01"
                         "e"
                         "\x0a\x0b\x0a\x04text\x12\x03\\n\""
                         "\x12\x0b\x09\0\0\0\0\0\0\0\xc0\x10\x01");
    free(out.bytes);
    (void)state;
}

static void the_time_is_that_of_the_first_sample(void **state)
{
    struct remote_write out = {.most = 2, .full = full};
    remote_write_begin(&out);
    filled = 0;
    add(&out, METRIC_SAMPLE_TIME, "", "", NULL,
        &(struct metric_value){.whole = UINT64_C(17000000001239999), .digits = 7});
    assert_int_equal(out.time_ms, INT64_C(1700000000123));
    for (int i = 0; i < 4; i++)
        add(&out, "a", "", "", NULL, &(struct metric_value){.whole = 1, .negative = true});
    assert_int_equal(filled, 4);
    assert_int_equal(out.samples, 1);
    ASSERT_MESSAGE(&out, "\x0a\x21\x0a\x0d\x0a\x08__name__\x12\x01"
                         "a"
                         "\x12\x10\x09\0\0\0\0\0\0\xf0\xbf\x10\xfb\xd0\x95\xff\xbc\x31");
    free(out.bytes);
    (void)state;
}

static void labels_that_are_not_closed_end_there(void **state)
{
    static const char *const texts[] = {"a",       "a=",     "a=\"",    "a=\"b",
                                        "a=\"b\\", "a=\"\\", "a=\"b\"x"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct remote_write out = {.most = 2, .full = full, .time_ms = 1};
        char *exact = strdup(texts[i]); /* for the address sanitizer */
        remote_write_begin(&out);
        add(&out, "a", "", exact, NULL, &(struct metric_value){.whole = 1});
        assert_int_equal(out.samples, 1);
        free(exact);
        free(out.bytes);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sample_has_its_labels_in_order),
        cmocka_unit_test(escapes_are_undone),
        cmocka_unit_test(the_time_is_that_of_the_first_sample),
        cmocka_unit_test(labels_that_are_not_closed_end_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
