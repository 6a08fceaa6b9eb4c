/* SPDX-License-Identifier: MIT */
/* Tests of names/table.c (the whole list of a language) and names/lookup.c (texts that programs
 * write). */
#include "test.h"

enum { ENGLISH = LANGUAGE_ENGLISH, GERMAN = 0x007 };

/* Reads the whole list of a language in UTF-8, as a program does. */
static void get(enum names_part part, uint32_t language, struct buffer *ret)
{
    DWORD size = 0;
    buffer_clear(ret);
    assert_int_equal(names_text(part, language, false, NULL, &size), ERROR_SUCCESS);
    assert_true(buffer_reserve(ret, size));
    assert_int_equal(names_text(part, language, false, ret->data, &size), ERROR_SUCCESS);
    ret->len = size;
}

static void c108_the_size_can_be_asked(void **state)
{
    DWORD size = 77, again;
    assert_int_equal(names_text(NAMES_COUNTER, ENGLISH, false, NULL, &size), ERROR_SUCCESS);
    assert_true(size > 10000);
    char *data = malloc(size);
    memset(data, 0x55, size);
    again = size - 1;
    assert_int_equal(names_text(NAMES_COUNTER, ENGLISH, false, data, &again), ERROR_MORE_DATA);
    assert_int_equal(again, size);
    assert_int_equal(data[0], 0x55); /* the caller's buffer was not changed */
    again = 0;
    assert_int_equal(names_text(NAMES_COUNTER, ENGLISH, false, data, &again), ERROR_MORE_DATA);
    assert_int_equal(again, size);
    assert_int_equal(names_text(NAMES_COUNTER, ENGLISH, false, data, &again), ERROR_SUCCESS);
    assert_int_equal(again, size);
    assert_int_equal(names_text(NAMES_COUNTER, ENGLISH, false, data, NULL),
                     ERROR_INVALID_PARAMETER);
    free(data);
}

static void c24_pairs_ascend_and_end_with_an_extra_zero(void **state)
{
    BUFFER_AUTO text = {0};
    get(NAMES_COUNTER, ENGLISH, &text);
    assert_memory_equal(text.data, "1\0001847\0002\0System\0004\0Memory\0", 23);
    assert_memory_equal(text.data + text.len - 2, "\0\0", 2);
    assert_non_null(memmem(text.data, text.len, "\0001846\0End Marker", 16));
    get(NAMES_HELP, ENGLISH, &text);
    assert_memory_equal(text.data, "3\0", 2);
    assert_memory_equal(text.data + text.len - 2, "\0\0", 2);
    assert_non_null(memmem(text.data, text.len, "\0001847\0End Marker", 16));
}

struct pair_walk {
    uint32_t last;
    unsigned count;
    enum names_part part;
};

static bool check_pair(void *self, uint32_t index, const char *text)
{
    struct pair_walk *walk = self;
    assert_true(index > walk->last);
    assert_int_equal(names_part_of(index), walk->part);
    assert_true(*text);
    walk->last = index;
    walk->count++;
    return true;
}

static void c106_every_language_has_every_index(void **state)
{
    static const uint32_t languages[] = {9, 7, 0xa, 0x19, 0xc};
    unsigned counts[NAMES_PARTS] = {0};
    for (size_t i = 0; i < COUNT(languages); i++)
        for (int part = 0; part < NAMES_PARTS; part++) {
            BUFFER_AUTO text = {0};
            struct pair_walk walk = {.part = (enum names_part)part};
            get((enum names_part)part, languages[i], &text);
            assert_true(name_pairs_each(text.data, text.len, check_pair, &walk));
            assert_true(walk.count >= (part == NAMES_COUNTER ? 678 : 564));
            counts[part] = i ? counts[part] : walk.count;
            /* each language has as many texts as English */
            assert_int_equal(walk.count, counts[part]);
        }
}

static void c22_both_forms_say_the_same(void **state)
{
    BUFFER_AUTO narrow = {0}, back = {0};
    DWORD size = 0;
    get(NAMES_COUNTER, GERMAN, &narrow);
    assert_int_equal(names_text(NAMES_COUNTER, GERMAN, true, NULL, &size), ERROR_SUCCESS);
    assert_int_equal(size, 2 * utf8_to_16(narrow.data, narrow.len, NULL, 0));
    uint16_t *wide = malloc(size);
    assert_int_equal(names_text(NAMES_COUNTER, GERMAN, true, wide, &size), ERROR_SUCCESS);
    assert_true(utf16_add_as_8(&back, wide, size / 2));
    assert_int_equal(back.len, narrow.len);
    assert_memory_equal(back.data, narrow.data, back.len);
    free(wide);
}

static void a_missing_language_is_english(void **state)
{
    DWORD english = 0, japanese = 0;
    assert_int_equal(names_text(NAMES_HELP, ENGLISH, true, NULL, &english), ERROR_SUCCESS);
    assert_int_equal(names_text(NAMES_HELP, 0x11, true, NULL, &japanese), ERROR_SUCCESS);
    assert_int_equal(english, japanese);
}

static void an_empty_base_is_one_zero(void **state)
{
    DWORD size = 2;
    uint16_t data = 5;
    assert_int_equal(names_text(NAMES_HELP, ENGLISH, true, &data, &size), ERROR_SUCCESS);
    assert_int_equal(size, 2);
    assert_int_equal(data, 0);
}

/* ---- writing ---- */

/* Appends texts as an installer does (docs/windows/articles.md#c80): reads the whole list, appends
 * the pairs, writes all of it back. */
static LSTATUS append(enum names_part part, uint32_t language, const char *pairs, size_t size)
{
    BUFFER_AUTO text = {0};
    get(part, language, &text);
    text.len--;
    buffer_add(&text, pairs, size);
    return names_store(part, language, text.data, text.len);
}
#define APPEND(part, language, pairs) append(part, language, pairs, sizeof(pairs))

static void c80_manual_registration(void **state)
{
    BUFFER_AUTO text = {0};
    assert_int_equal(APPEND(NAMES_COUNTER, GERMAN, "900000\0Meins\0"), ERROR_SUCCESS);
    assert_int_equal(APPEND(NAMES_COUNTER, ENGLISH, "900000\0Mine\0"), ERROR_SUCCESS);
    assert_int_equal(APPEND(NAMES_HELP, ENGLISH, "900001\0My help.\0"), ERROR_SUCCESS);
    assert_name(900000, GERMAN, "Meins");
    assert_name(900000, ENGLISH, "Mine");
    assert_name(900000, 0xa, "Mine");
    assert_name(900001, GERMAN, "My help.");
    uint32_t counter, help;
    assert_int_equal(names_last(&counter, &help), ERROR_SUCCESS);
    assert_int_equal(counter, 900000);
    assert_int_equal(help, 900001);
    /* only the new texts were written */
    uint32_t type = 0;
    assert_int_equal(registry_get(REGISTRY_PERFLIB "\\009\\Manual", "Counter", &type, &text), 0);
    assert_int_equal(type, REG_MULTI_SZ);
    assert_int_equal(text.len, 13);
    assert_memory_equal(text.data, "900000\0Mine\0\0", 13);
}

static void what_is_left_out_is_gone(void **state)
{
    BUFFER_AUTO before = {0}, after = {0};
    get(NAMES_COUNTER, ENGLISH, &before);
    assert_int_equal(APPEND(NAMES_COUNTER, ENGLISH, "900000\0Mine\000900002\0Other\0"),
                     ERROR_SUCCESS);
    assert_name(900002, ENGLISH, "Other");
    assert_int_equal(names_store(NAMES_COUNTER, ENGLISH, before.data, before.len), ERROR_SUCCESS);
    assert_name(900000, ENGLISH, NULL);
    get(NAMES_COUNTER, ENGLISH, &after);
    assert_int_equal(before.len, after.len);
    assert_int_equal(names_store(NAMES_COUNTER, ENGLISH, "", 0), ERROR_SUCCESS);
    assert_name(2, ENGLISH, "System"); /* texts from other sources stay */
}

static void hand_written_texts_win(void **state)
{
    assert_int_equal(APPEND(NAMES_COUNTER, GERMAN, "2\0Rechner\0"), ERROR_SUCCESS);
    assert_name(2, GERMAN, "System"); /* this index occurs twice now, and the first one counts */
    static const char table[] = "2\0Rechner\0";
    assert_int_equal(names_store(NAMES_COUNTER, GERMAN, table, sizeof table), ERROR_SUCCESS);
    assert_name(2, GERMAN, "Rechner");
    assert_name(2, ENGLISH, "System");
    assert_int_equal(names_find("rechner", GERMAN), 2);
    assert_name(4, GERMAN, "Arbeitsspeicher");
}

static void a_new_language_is_installed_by_writing_it(void **state)
{
    static const char table[] = "2\0シ\0004\0Memory\0";
    assert_false(names_language_installed(0x11));
    assert_int_equal(names_store(NAMES_COUNTER, 0x411, table, sizeof table), ERROR_SUCCESS);
    assert_true(names_language_installed(0x11));
    assert_name(2, 0x11, "シ");
    assert_name(4, 0x11, "Memory");
    assert_name(2, ENGLISH, "System");
}

static void nothing_new_writes_nothing(void **state)
{
    BUFFER_AUTO text = {0};
    get(NAMES_COUNTER, GERMAN, &text);
    assert_int_equal(names_store(NAMES_COUNTER, GERMAN, text.data, text.len), ERROR_SUCCESS);
    assert_int_equal(access(path_of("machine"), F_OK), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BUILT_TEST(c108_the_size_can_be_asked),
        BUILT_TEST(c24_pairs_ascend_and_end_with_an_extra_zero),
        BUILT_TEST(c106_every_language_has_every_index),
        BUILT_TEST(c22_both_forms_say_the_same),
        BUILT_TEST(a_missing_language_is_english),
        NAMES_TEST(an_empty_base_is_one_zero),
        BUILT_TEST(c80_manual_registration),
        BUILT_TEST(what_is_left_out_is_gone),
        BUILT_TEST(hand_written_texts_win),
        BUILT_TEST(a_new_language_is_installed_by_writing_it),
        BUILT_TEST(nothing_new_writes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
