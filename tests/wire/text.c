/* SPDX-License-Identifier: MIT */
/* Tests of wire/text.c: texts in code pages, and texts longer than the pieces in which they are
 * converted. */
#include "golden.h"

#include "wire/inner.h"

#include <stdlib.h>

static const struct {
    DWORD code_page;
    const char *bytes, *text;
} pages[] = {
    {437,   "\x82",             "é"  },
    {850,   "\xD1",             "Ð"  },
    {866,   "\x86",             "Ж"  },
    {932,   "\x8C\xEA",         "語" },
    {936,   "\xB9\xFA",         "国" },
    {949,   "\xB9\xAE",         "문" },
    {1250,  "\xF5",             "ő"  },
    {1252,  "\x80",             "€" },
    {1257,  "\xFE",             "ž"  },
    {1361,  "\xD0\x65",         "한" },
    {10000, "\x80",             "Ä"  },
    {20127, "A",                "A"   },
    {20866, "\xF6",             "Ж"  },
    {20932, "\xC6\xFC",         "日" },
    {21866, "\xBD",             "Ґ"  },
    {28591, "\xFF",             "ÿ"  },
    {28592, "\xA3",             "Ł"  },
    {28593, "\xA1",             "Ħ"  },
    {28594, "\xA2",             "ĸ"  },
    {28595, "\xB6",             "Ж"  },
    {28596, "\xC8",             "ب"  },
    {28597, "\xD9",             "Ω"  },
    {28598, "\xE0",             "א"  },
    {28599, "\xF0",             "ğ"  },
    {28603, "\xF8",             "ų"  },
    {28605, "\xA4",             "€" },
    {38598, "\xE1",             "ב"  },
    {51932, "\xCB\xDC",         "本" },
    {51936, "\xD6\xD0",         "中" },
    {51949, "\xB1\xDB",         "글" },
    {54936, "\x94\x32\xBE\x34", "𝄞"},
    {65001, "\xE2\x82\xAC",     "€" },
};

static void c20_code_pages_by_their_windows_numbers(void **state)
{
    for (size_t i = 0; i < COUNT(pages); i++) {
        char text[8], bytes[8];
        struct text_sink there = {text, sizeof(text), 0}, back = {bytes, sizeof(bytes), 0};
        const unsigned char *from = (const unsigned char *)pages[i].bytes;
        text_decode_codepage(pages[i].code_page, from, strlen(pages[i].bytes), &there);
        assert_int_equal(sink_end_text(&there), strlen(pages[i].text) + 1);
        assert_string_equal(text, pages[i].text);
        assert_true(text_encode_codepage(pages[i].code_page, text, strlen(text), &back));
        assert_int_equal(back.used, strlen(pages[i].bytes));
        assert_memory_equal(bytes, pages[i].bytes, back.used);
    }
}

static void what_a_code_page_cannot_say(void **state)
{
    char bytes[16] = "";
    struct text_sink sink = {bytes, sizeof(bytes), 0};
    assert_true(text_encode_codepage(1251, "aö€𝄞b", strlen("aö€𝄞b"), &sink));
    sink_end_text(&sink);
    assert_string_equal(bytes, "a?\x88?b");
    sink.used = 0;
    assert_false(text_encode_codepage(4711, "a", 1, &sink));
    assert_int_equal(sink.used, 0);
}

/* Characters of two bytes, one of which begins in one piece of 128 bytes and ends in the next; the
 * last character lacks its second byte. */
static void code_page_texts_longer_than_a_piece(void **state)
{
    unsigned char bytes[401] = "a";
    char text[1024];
    struct text_sink sink = {text, sizeof(text), 0};
    for (size_t i = 1; i < 401; i++)
        bytes[i] = i % 2 ? 0xB9 : 0xFA; /* the character 国 in code page 936 */
    text_decode_codepage(936, bytes, 400, &sink);
    assert_int_equal(sink_end_text(&sink), 1 + 199 * 3 + 3 + 1);
    assert_string_equal(text + 1 + 198 * 3, "国\xEF\xBF\xBD");
    assert_memory_equal(text, "a国国", 7);
}

static void assert_utf16(const uint16_t *units, size_t count, bool swapped, const char *expected)
{
    size_t needed = strlen(expected) + 1;
    char *text = malloc(needed);
    /* the text is at an odd address, and ends with the allocated memory */
    unsigned char *bytes = malloc(count * 2 + 1);
    struct text_sink sink = {text, needed, 0};
    memcpy(bytes + 1, units, count * 2);
    text_decode_utf16(bytes + 1, count * 2, swapped, &sink);
    assert_int_equal(sink_end_text(&sink), needed);
    assert_string_equal(text, expected);
    free(bytes);
    free(text);
}

/* A surrogate pair at every position around the end of the first piece of 128 units. */
static void utf16_texts_longer_than_a_piece(void **state)
{
    for (size_t place = 120; place < 132; place++) {
        uint16_t units[300];
        char expected[305];
        memset(expected, 'x', sizeof(expected));
        for (size_t i = 0; i < COUNT(units); i++)
            units[i] = 'x';
        units[place] = 0xD834;
        units[place + 1] = 0xDD1E;
        memcpy(expected + place, "𝄞", 4);
        for (size_t count = place + 2; count <= 300; count += place + 2 == count ? 1 : 43) {
            char saved = expected[count + 2];
            expected[count + 2] = '\0';
            assert_utf16(units, count, false, expected);
            expected[count + 2] = saved;
        }
    }
}

static void utf16_ends_at_a_nul_or_at_its_size(void **state)
{
    static const uint16_t zero[] = {'a', 'b', 0, 'c'}, swapped[] = {0x6100, 0xE400, 0, 0x6200};
    static const uint16_t lone[] = {'a', 0xD834};
    assert_utf16(zero, 4, false, "ab");
    assert_utf16(zero, 2, false, "ab");
    assert_utf16(zero, 0, false, "");
    assert_utf16(swapped, 4, true, "aä");
    /* an unpaired surrogate becomes three bytes, as in the whole library */
    assert_utf16(lone, 2, false, "a\xED\xA0\xB4");
}

/* A NUL in the second piece must end the text, too. */
static void a_nul_in_the_second_piece(void **state)
{
    uint16_t units[200];
    char expected[151] = "";
    for (size_t i = 0; i < COUNT(units); i++)
        units[i] = 'y';
    units[150] = 0;
    memset(expected, 'y', 150);
    assert_utf16(units, COUNT(units), false, expected);
    units[150] = 'y';
    units[128] = 0;
    expected[128] = '\0';
    assert_utf16(units, COUNT(units), false, expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(c20_code_pages_by_their_windows_numbers),
        cmocka_unit_test(what_a_code_page_cannot_say),
        cmocka_unit_test(code_page_texts_longer_than_a_piece),
        cmocka_unit_test(utf16_texts_longer_than_a_piece),
        cmocka_unit_test(utf16_ends_at_a_nul_or_at_its_size),
        cmocka_unit_test(a_nul_in_the_second_piece),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
