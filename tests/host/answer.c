/* SPDX-License-Identifier: MIT */
/*
 * Tests how a provider's answers are checked. The answers are made here; the tests compare which
 * are kept and which event is logged. Once checked, an answer cannot be changed by a provider that
 * writes to its buffer again. (docs/windows/providers.md#d4, docs/windows/providers.md#d5)
 */
#include "host.h"

enum { SIZE = 4096 };
static unsigned char theirs[SIZE], ours[SIZE];
static struct service *service;
static struct piece piece;

static int set_up(void **state)
{
    set_up_myperf(state);
    service = myperf();
    piece = (struct piece){.data = ours, .capacity = sizeof ours, .size = 1, .objects = 1};
    memset(ours, 0xee, sizeof ours);
    return 0;
}

static void copy(void *self, void *to, size_t size)
{
    memcpy(to, theirs, size);
}

/* A correct answer: one object with one counter and one instance. */
static struct answer good(void)
{
    static const opl_build_counter counter = {
        .name_index = 22224, .help_index = 22225, .type = PERF_COUNTER_RAWCOUNT};
    static const opl_build_object_info object = {.name_index = 22222, .help_index = 22223};
    void *end = theirs;
    DWORD bytes = SIZE, objects;
    opl_build build;
    opl_build_init(&build, theirs, SIZE);
    opl_build_object(&build, &object, &counter, 1);
    opl_build_instance(&build, "one");
    opl_build_dword(&build, 0, 42);
    assert_int_equal(opl_build_collect(&build, &end, &bytes, &objects), 0);
    return (struct answer){.bytes = bytes,
                           .objects = objects,
                           .end = (unsigned char *)end - theirs,
                           .capacity = SIZE,
                           .guards_intact = true,
                           .copy = copy};
}

/* Expects this event with this text in the event log, then empties the log. */
static void expect_event(unsigned id, const char *text)
{
    char wanted[32];
    snprintf(wanted, sizeof wanted, "\tPerflib\t%u\t", id);
    if (!strstr(events(), wanted) || !strstr(events(), text))
        fail_msg("wanted %u with \"%s\", there is:\n%s", id, text, events());
    forget_events();
}

static void expect_kept(const struct answer *answer)
{
    assert_int_equal(judge(service, &table->settings, answer, &piece), ERROR_SUCCESS);
    assert_int_equal(piece.size, answer->end);
    assert_int_equal(piece.objects, answer->objects);
}

static void expect_dropped(const struct answer *answer)
{
    assert_int_equal(judge(service, &table->settings, answer, &piece), ERROR_SUCCESS);
    assert_int_equal(piece.size, 0);
    assert_int_equal(piece.objects, 0);
}

static void a_good_answer_is_copied(void **state)
{
    struct answer answer = good();
    expect_kept(&answer);
    assert_memory_equal(ours, theirs, (size_t)answer.end);
    assert_int_equal(ours[answer.end], 0xee);
    assert_string_equal(events(), "");
}

static void nothing_is_an_answer(void **state)
{
    struct answer answer = {.capacity = SIZE, .guards_intact = true, .copy = copy};
    expect_kept(&answer);
    assert_string_equal(events(), "");
}

static void c124_length_and_pointer(void **state)
{
    struct answer answer = good();
    DWORD right = answer.bytes;
    char text[80];
    answer.bytes += 8;
    expect_kept(&answer);
    snprintf(text, sizeof text, "%u bytes by the length, %u by the pointer", right + 8, right);
    expect_event(2000, text);
    expect_kept(&answer); /* the event is written only once in a session */
    assert_string_equal(events(), "");
    host_close();
    answer.end += 8; /* now the pointer is wrong, too */
    expect_dropped(&answer);
    host_close();
    answer.bytes = right;
    expect_dropped(&answer);
    expect_event(2000, "dropped");
}

static void c124_nothing_written_disables(void **state)
{
    struct answer answer = {.bytes = SIZE, .capacity = SIZE, .guards_intact = true, .copy = copy};
    expect_dropped(&answer);
    assert_true(event_seen(2000));
    assert_true(event_seen(1017));
    assert_int_equal(number_of("Disable Performance Counters"), 1);
    assert_int_equal(number_of("Quarantine"), -1);
}

static void c125_pointers_outside(void **state)
{
    const struct {
        int64_t end;
        unsigned event;
        const char *text;
    } rows[] = {
        {SIZE + 1,               1001, "wrote 1 bytes beyond"              },
        {SIZE + GUARD_BYTES,     1001, "wrote 1024 bytes beyond"           },
        {SIZE + GUARD_BYTES + 1, 1013, "pointer 1025 bytes beyond"         },
        {-8,                     1013, "pointer 8 bytes beyond"            },
        {INT64_MIN,              1013, "pointer 9223372036854775808 bytes "},
        {INT64_MAX,              1013, "bytes beyond"                      },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct answer answer = good();
        answer.end = rows[i].end;
        answer.bytes = (uint32_t)rows[i].end;
        host_close();
        expect_dropped(&answer);
        expect_event(rows[i].event, rows[i].text);
    }
    assert_int_equal(ours[0], 0xee); /* 0xee: nothing was copied to the caller's buffer */
}

static void c126_guards(void **state)
{
    struct answer answer = good();
    answer.guards_intact = false;
    expect_dropped(&answer);
    expect_event(1002, "outside its buffer");
    assert_int_equal(number_of("Error Count"), 1);
    host_close();
    answer.status = ERROR_MORE_DATA;
    expect_dropped(&answer);
    expect_event(1002, "outside its buffer");
}

/* If both the pointer and the guard are wrong, the event is about the pointer, which is the
 * cause. */
static void c129_the_first_failing_test_decides(void **state)
{
    struct answer answer = good();
    answer.end = SIZE + 8;
    answer.guards_intact = false;
    expect_dropped(&answer);
    assert_false(event_seen(1002));
    expect_event(1001, "8 bytes");
}

static void c127_c128_contents(void **state)
{
    struct answer answer = good();
    answer.objects = 3;
    expect_dropped(&answer);
    expect_event(1003, "NumObjectTypes of object");
    answer = good();
    theirs[4] += 8; /* DefinitionLength */
    expect_dropped(&answer);
    expect_event(1019, "DefinitionLength of object 22222 (byte 4 of the answer) is 112, "
                       "expected 104 (HeaderLength plus the length of the definitions); "
                       "the answer of MyPerf in /nonexistent/myperf.so was dropped");
    answer = good();
    theirs[sizeof(PERF_OBJECT_TYPE) + sizeof(PERF_COUNTER_DEFINITION)] += 8;
    expect_dropped(&answer);
    expect_event(1004,
                 "ByteLength of object 22222, instance \"one\" (byte 104 of the answer) is 40, "
                 "expected at most 36 (because its counter block must fit after it)");
    assert_int_equal(number_of("Error Count"), -1);
}

static void c43_lengths_of_4_and_8(void **state)
{
    struct answer answer = good();
    answer.end += 2;
    answer.bytes += 2;
    expect_dropped(&answer);
    expect_event(1016, "dropped");
    set_dword(REGISTRY_PERFLIB, "Configuration Flags", CONFIGURATION_NO_ALIGNMENT);
    service = myperf();
    answer = good();
    uint32_t length = answer.bytes - 4; /* cuts off the last 4 bytes of the object */
    memcpy(theirs, &length, sizeof length);
    uint32_t block = 8 + 4;
    memcpy(theirs + length - block, &block, sizeof block);
    answer.end = answer.bytes = length;
    host_close();
    judge(service, &table->settings, &answer, &piece);
    assert_false(event_seen(1016));
}

static void c118_error_codes_are_reported_each_time_and_disable_nobody(void **state)
{
    struct answer answer = good();
    answer.status = ERROR_GEN_FAILURE;
    for (int i = 0; i < 3; i++) {
        expect_dropped(&answer);
        expect_event(1014, "31");
    }
    assert_int_equal(number_of("Error Count"), -1);
    assert_int_equal(number_of("Disable Performance Counters"), -1);
    assert_false(quarantine_waits(service));
}

static void c118_more_data_until_there_is_no_more(void **state)
{
    struct answer answer = {
        .status = ERROR_MORE_DATA, .capacity = LARGEST_ANSWER - 1, .guards_intact = true};
    assert_int_equal(judge(service, &table->settings, &answer, &piece), ERROR_MORE_DATA);
    assert_string_equal(events(), "");
    answer.capacity = LARGEST_ANSWER;
    expect_dropped(&answer);
    expect_event(1020, "67108864");
}

/* A valid answer that fills the largest possible buffer is a failure. */
static void filling_the_largest_buffer_is_a_failure(void **state)
{
    struct answer answer = good();
    answer.capacity = LARGEST_ANSWER;
    answer.end = LARGEST_ANSWER - 8;
    answer.bytes = (uint32_t)answer.end;
    expect_dropped(&answer);
    expect_event(1020, "67108864");
    assert_int_equal(number_of("Error Count"), 1);
    assert_int_equal(ours[0], 0xee);
    /* in a smaller buffer the same answer only means: more space is needed */
    answer.capacity = LARGEST_ANSWER - 1;
    host_close();
    assert_int_equal(judge(service, &table->settings, &answer, &piece), ERROR_MORE_DATA);
    assert_string_equal(events(), "");
}

/* A provider that fills a buffer fails if it has already filled another one, of at most a quarter
 * of the size, while other providers lacked space: it would fill a buffer of any size. An answer
 * that does not fill its buffer resets this. */
static void filling_any_buffer_is_a_failure(void **state)
{
    struct answer answer = good();
    size_t least = (size_t)answer.end;
    answer.capacity = least;
    expect_kept(&answer);
    answer.capacity = least + 8; /* with a larger buffer, the answer does not count as filling it */
    expect_kept(&answer);
    note_buffer_pressure(service);
    assert_int_equal(service->code->least_filled, least + 8);
    answer.capacity = 4 * least + 32;
    expect_kept(&answer); /* the answer does not fill this buffer */
    assert_int_equal(service->code->least_filled, 0);
    service->code->least_filled = least / 4 + 1;
    answer.capacity = least;
    expect_kept(&answer);
    service->code->least_filled = least / 4;
    expect_dropped(&answer);
    expect_event(1020, "it fills buffers of any size");
    assert_true(quarantine_waits(service));
}

/* The provider was offered more space than is left now, because the answers of other providers have
 * grown. */
static void what_does_not_fit_any_more_is_more_data(void **state)
{
    struct answer answer = good();
    piece.capacity = (size_t)answer.end - 8;
    assert_int_equal(judge(service, &table->settings, &answer, &piece), ERROR_MORE_DATA);
    assert_int_equal(piece.size, 0);
    assert_int_equal(ours[0], 0xee);
}

static void copy_and_change(void *self, void *to, size_t size)
{
    copy(self, to, size);
    memset(theirs, 0xff, sizeof theirs);
}

static void what_was_judged_is_what_is_kept(void **state)
{
    struct answer answer = good();
    unsigned char before[SIZE];
    memcpy(before, theirs, sizeof before);
    answer.copy = copy_and_change;
    expect_kept(&answer);
    assert_memory_equal(ours, before, (size_t)answer.end);
}

/* ---- which provider owns a number ---- */

#define OTHER REGISTRY_SERVICES "\\Other\\Performance"

static void set_numbers(const char *path, uint32_t first, uint32_t last)
{
    set_dword(path, "First Counter", first);
    set_dword(path, "Last Counter", last);
    service = myperf();
}

static void f_c12_an_object_of_another_service_is_dropped(void **state)
{
    struct answer answer = good();
    set_text(OTHER, "Library", REG_SZ, "/nonexistent/other.so");
    set_numbers(OTHER, 22000, 22220);
    expect_kept(&answer);
    set_numbers(OTHER, 22000, 22230);
    expect_dropped(&answer);
    assert_int_equal(piece.took_100ns, -1);
    expect_event(4009, "object 22222 in the answer of MyPerf in /nonexistent/myperf.so belongs to "
                       "Other; the answer was dropped; the provider's numbers must begin at First "
                       "Counter of MyPerf; "
                       "if they do, load its counters again");
    /* that MyPerf lists the number in Object List does not make MyPerf its owner */
    set_text(PERFORMANCE, "Object List", REG_SZ, "22222");
    service = myperf();
    expect_dropped(&answer);
    set_dword(PERFORMANCE, "Shared Objects", 1);
    service = myperf();
    expect_kept(&answer);
    set_dword(PERFORMANCE, "Shared Objects", 0);
    /* a range (First Counter to Last Counter) makes MyPerf the owner */
    set_numbers(PERFORMANCE, 22222, 22224);
    expect_kept(&answer);
}

static void f_c12_what_a_shipped_provider_lists_is_its_own(void **state)
{
    const struct service *owner = NULL, *other = NULL;
    set_text(OTHER, "Library", REG_SZ, "/nonexistent/other.so");
    set_text(OTHER, "Object List", REG_SZ, "2 7000");
    set_text(PERFORMANCE, "Object List", REG_SZ, "2 7000");
    service = myperf();
    assert_int_equal(owner_find(table, service, 2, &owner), OWNED_BY_OTHER);
    assert_string_equal(owner->name, "PerfOS"); /* PerfOS ships with openperflib */
    /* MyPerf and Other list 7000: the first service in alphabetical order owns it */
    assert_int_equal(owner_find(table, service, 7000, &owner), OWNED);
    for (size_t i = 0; i < table->count; i++)
        if (!strcmp(table->services[i].name, "Other"))
            other = &table->services[i];
    assert_int_equal(owner_find(table, other, 7000, &owner), OWNED_BY_OTHER);
    assert_string_equal(owner->name, "MyPerf");
    assert_int_equal(owner_find(table, service, 8000, &owner), UNOWNED);
}

static void f_b4_a_number_without_a_name(void **state)
{
    struct answer answer = good();
    set_numbers(PERFORMANCE, 22222, 22222);
    expect_kept(&answer);
    expect_event(4010, "CounterNameTitleIndex of object 22222, counter 22224 (byte 68 of the "
                       "answer) is 22224, expected a number that has a name");
    expect_kept(&answer);
    assert_string_equal(events(), ""); /* the event is written once in a session */
    host_close();
    set_numbers(PERFORMANCE, 22222, 22224);
    expect_kept(&answer);
    assert_string_equal(events(), "");
}

/* An answer in which a counter's base is missing is dropped: the counter would be divided by
 * another counter's base. */
static void f_b4_a_counter_without_its_base_is_dropped(void **state)
{
    struct answer answer = good();
    DWORD type = PERF_RAW_FRACTION;
    memcpy(theirs + sizeof(PERF_OBJECT_TYPE) + offsetof(PERF_COUNTER_DEFINITION, CounterType),
           &type, sizeof type);
    expect_dropped(&answer);
    expect_event(4007, "CounterType of the next definition of object 22222, counter 22224");
}

static void f_b4_a_value_outside_its_block_is_kept_and_reported(void **state)
{
    struct answer answer = good();
    DWORD offset = 4000;
    memcpy(theirs + sizeof(PERF_OBJECT_TYPE) + offsetof(PERF_COUNTER_DEFINITION, CounterOffset),
           &offset, sizeof offset);
    expect_kept(&answer);
    expect_event(4008, "CounterOffset of object 22222, counter 22224, instance \"one\"");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down_myperf)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_good_answer_is_copied),
        CASE(nothing_is_an_answer),
        CASE(c124_length_and_pointer),
        CASE(c124_nothing_written_disables),
        CASE(c125_pointers_outside),
        CASE(c126_guards),
        CASE(c129_the_first_failing_test_decides),
        CASE(c127_c128_contents),
        CASE(c43_lengths_of_4_and_8),
        CASE(c118_error_codes_are_reported_each_time_and_disable_nobody),
        CASE(c118_more_data_until_there_is_no_more),
        CASE(filling_the_largest_buffer_is_a_failure),
        CASE(filling_any_buffer_is_a_failure),
        CASE(what_does_not_fit_any_more_is_more_data),
        CASE(what_was_judged_is_what_is_kept),
        CASE(f_c12_an_object_of_another_service_is_dropped),
        CASE(f_c12_what_a_shipped_provider_lists_is_its_own),
        CASE(f_b4_a_number_without_a_name),
        CASE(f_b4_a_counter_without_its_base_is_dropped),
        CASE(f_b4_a_value_outside_its_block_is_kept_and_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
