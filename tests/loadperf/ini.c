/* SPDX-License-Identifier: MIT */
/* Ini files and symbol files (C headers) are read: encodings, the rules of GetPrivateProfileString,
 * and which #define lines count. */
#include "test.h"

static struct ini ini;

static void parse(const char *text)
{
    ini_done(&ini);
    assert_int_equal(ini_parse(text, strlen(text), &ini), ERROR_SUCCESS);
}

static void assert_value(const char *section, const char *key, const char *expected)
{
    const struct ini_entry *entry = ini_find(&ini, section, key);
    if (!expected) {
        assert_null(entry);
        return;
    }
    assert_non_null(entry);
    assert_int_equal(entry->value.count, strlen(expected));
    assert_memory_equal(entry->value.at, expected, entry->value.count);
}

static void c95_rules_of_private_profile_strings(void **state)
{
    parse("\n[Info]\nDriverName = MyPerf \n  ; a remark = 1\nquoted=\" two words \"\n"
          "single=' x '\nopen=\"half\nequals=a=b=c\nempty=\nbare\n"
          "[other] // behind\nkey=1\nKEY=2\n[INFO]\nlate=3\ndrivername=second\n");
    assert_value("info", "drivername", "MyPerf");
    assert_value("INFO", "quoted", " two words ");
    assert_value("info", "single", " x ");
    assert_value("info", "open", "\"half");
    assert_value("info", "equals", "a=b=c");
    assert_value("info", "empty", "");
    assert_value("info", "late", "3"); /* a section that appears again is continued */
    assert_value("info", "a remark", NULL);
    assert_value("other", "key", "1"); /* of equal keys the first counts */
    assert_value("other", "drivername", NULL);
    assert_false(ini_find(&ini, "info", "bare")->has_value);
    assert_int_equal(ini_find(&ini, "info", "drivername")->line, 3);
    assert_int_equal(ini_find(&ini, "other", "key")->line, 12);
}

static void line_ends_and_the_end_of_file(void **state)
{
    parse("[a]\r\nx=1\ry=2\nz=3\n\x1aw=4\n");
    assert_value("a", "x", "1");
    assert_value("a", "y", "2");
    assert_value("a", "z", "3");
    assert_value("a", "w", NULL);
    assert_int_equal(ini_find(&ini, "a", "z")->line, 4);
    parse("");
    assert_int_equal(ini.count, 0);
    parse("[open\nx=1");
    assert_value("open", "x", "1");
}

static void put_utf16(const char *name, const char *text, bool big, bool mark)
{
    BUFFER_AUTO bytes = {0};
    BUFFER_AUTO wide = {0};
    utf8_add_as_16(&wide, text, strlen(text));
    if (mark)
        buffer_add(&bytes, big ? "\xfe\xff" : "\xff\xfe", 2);
    for (size_t i = 0; i < wide.len; i += 2) {
        buffer_add_byte(&bytes, wide.data[i + big]);
        buffer_add_byte(&bytes, wide.data[i + !big]);
    }
    put_bytes(name, bytes.data, bytes.len);
}

static const char russian_ini[] =
    "[info]\ndrivername=MyPerf\nsymbolfile=my.h\n[languages]\n009=\n019=\n00C=\n"
    "[objects]\nOBJ_009_NAME=\n[text]\nOBJ_009_NAME=Mine\nOBJ_019_NAME=Мой объект\n"
    "OBJ_00C_NAME=À moi\n";

static void install_languages(void)
{
    put("vendor/data/names/019.names", "2\tСистема\n");
    put("vendor/data/names/00C.names", "2\tSystème\n");
    put("my.h", symbols_text);
}

static void assert_russian(void)
{
    assert_int_equal(load_library("my.ini"), ERROR_SUCCESS);
    assert_name(1848, 0x009, "Mine");
    assert_name(1848, 0x019, "Мой объект");
    assert_name(1848, 0x00c, "À moi");
    assert_int_equal(unload("MyPerf"), ERROR_SUCCESS);
}

static void every_encoding_says_the_same(void **state)
{
    char marked[sizeof russian_ini + 3];
    install_languages();
    put("my.ini", russian_ini);
    assert_russian();
    snprintf(marked, sizeof marked, "\xef\xbb\xbf%s", russian_ini);
    put("my.ini", marked);
    assert_russian();
    for (int encoding = 0; encoding < 4; encoding++) {
        put_utf16("my.ini", russian_ini, encoding & 1, encoding & 2);
        assert_russian();
    }
}

/* Bytes are read in the code page of the text's language, as Windows' own tools write such
 * files. */
static void bytes_of_a_code_page_are_of_the_texts_language(void **state)
{
    install_languages();
    put("my.ini", "[info]\ndrivername=MyPerf\nsymbolfile=my.h\n[languages]\n009=\n019=\n00C=\n"
                  "[objects]\nOBJ_009_NAME=\n[text]\nOBJ_009_NAME=Mine\n"
                  "OBJ_019_NAME=\xcc\xee\xe9 \xee\xe1\xfa\xe5\xea\xf2\nOBJ_00C_NAME=\xc0 moi\n");
    assert_russian();
}

static void a_code_page_can_be_named(void **state)
{
    opl_load_options options = options_of();
    install_languages();
    /* the text is in KOI8-R, which is the default of no language */
    put("my.ini", "[info]\ndrivername=MyPerf\nsymbolfile=my.h\n[languages]\n009=\n019=\n"
                  "[objects]\nOBJ_009_NAME=\n[text]\nOBJ_009_NAME=Mine\n"
                  "OBJ_019_NAME=\xed\xcf\xca\n");
    options.library = LIBRARY_PATH;
    options.code_page = 20866;
    assert_int_equal(load_with("my.ini", options), ERROR_SUCCESS);
    assert_name(1848, 0x019, "Мой");
    options.code_page = 54321;
    assert_int_equal(unload("MyPerf"), ERROR_SUCCESS);
    assert_int_equal(load_with("my.ini", options), ERROR_INVALID_DATA);
    assert_remark("my.ini:11: the C library does not know code page 54321");
}

/* Windows' ANSI code page of each language: a copy by hand, with which the library's table is
 * compared. */
static void code_pages_by_language(void **state)
{
    static const struct {
        unsigned page;
        const char *languages;
    } listed[] = {
        {874,  "1e"                               },
        {932,  "11"                               },
        {936,  "4 804"                            },
        {949,  "12"                               },
        {950,  "404"                              },
        {1250, "5 e 15 18 1a 1b 1c 24"            },
        {1251, "2 19 22 23 2f 3f 40 44 50"        },
        {1252, "7 9 a b c 6 13 14 16 1d 416 816 3"},
        {1253, "8"                                },
        {1254, "1f 2c 43"                         },
        {1255, "d"                                },
        {1256, "1 20 29"                          },
        {1257, "25 26 27"                         },
        {1258, "2a"                               },
    };
    for (size_t i = 0; i < COUNT(listed); i++) {
        const char *cursor = listed[i].languages, *word;
        size_t count;
        uint32_t language;
        while ((word = text_word(&cursor, &count))) {
            assert_true(text_hex(word, count, &language));
            assert_int_equal(decode_code_page(language), listed[i].page);
        }
    }
}

/* ---- symbols ---- */

static struct symbols symbols;

static void assert_symbol(const char *name, int64_t value, unsigned line)
{
    const struct symbol *symbol = symbols_find(&symbols, (struct text_span){name, strlen(name)});
    assert_non_null(symbol);
    assert_true(symbol->is_number);
    assert_int_equal(symbol->value, value);
    assert_int_equal(symbol->line, line);
}

static bool is_number(const char *name)
{
    const struct symbol *symbol = symbols_find(&symbols, (struct text_span){name, strlen(name)});
    return symbol && symbol->is_number;
}

static void c64_c98_symbols_are_lines_of_a_real_header(void **state)
{
    static const char header[] =
        "/* #define HIDDEN 2\n#define HIDDEN 4 */\n#ifndef GUARD\n#define GUARD\n"
        "#define OBJECT 0;\n#define COMMENTED 2 // two\n #  define\tSPACED\t\t4 /* four */ junk\n"
        "#define SUFFIXED 6UL\n#define PLUS +8\n#define NEGATIVE -2\n"
        "#define MACRO(x) 10\n#define HEX 0x0c\n#define WORDS \"14\"\n#define SUM (16)\n"
        "// #define GONE 18\n#define BIG 99999999999999999999\nint defined = 20;\n"
        "#define lower 22\r\n#define LAST 24";
    symbols_done(&symbols);
    assert_int_equal(symbols_parse(header, strlen(header), &symbols), ERROR_SUCCESS);
    assert_symbol("OBJECT", 0, 5);
    assert_symbol("COMMENTED", 2, 6);
    assert_symbol("SPACED", 4, 7);
    assert_symbol("SUFFIXED", 6, 8);
    assert_symbol("PLUS", 8, 9);
    assert_symbol("NEGATIVE", -2, 10);
    assert_symbol("LOWER", 22, 18);
    assert_symbol("LAST", 24, 19);
    assert_true(symbols_find(&symbols, (struct text_span){"BIG", 3})->value > MOST_OFFSET);
    assert_false(is_number("HIDDEN") || is_number("GUARD") || is_number("MACRO"));
    assert_false(is_number("HEX") || is_number("WORDS") || is_number("SUM") || is_number("GONE"));
}

/* Of two symbols that differ only in case, the one with the given spelling is used, else the
 * first. */
static void symbols_differ_in_case(void **state)
{
    static const char header[] = "#define Both 2\n#define BOTH 4\n";
    symbols_done(&symbols);
    assert_int_equal(symbols_parse(header, strlen(header), &symbols), ERROR_SUCCESS);
    assert_symbol("BOTH", 4, 2);
    assert_symbol("Both", 2, 1);
    assert_symbol("both", 2, 1);
}

static void a_header_in_utf16(void **state)
{
    put_utf16("my.h", symbols_text, false, true);
    put("my.ini", "[info]\ndrivername=MyPerf\nsymbolfile=MY.H\n[languages]\n009=\n"
                  "[text]\nTWO_009_NAME=Second\n");
    assert_int_equal(load_library("my.ini"), ERROR_SUCCESS);
    assert_name(1852, 9, "Second");
}

static int tear_down_all(void **state)
{
    ini_done(&ini);
    symbols_done(&symbols);
    buffer_done(&remarks);
    buffer_done(&written);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(c95_rules_of_private_profile_strings),
        cmocka_unit_test(line_ends_and_the_end_of_file),
        LOAD_TEST(every_encoding_says_the_same),
        LOAD_TEST(bytes_of_a_code_page_are_of_the_texts_language),
        LOAD_TEST(a_code_page_can_be_named),
        cmocka_unit_test(code_pages_by_language),
        cmocka_unit_test(c64_c98_symbols_are_lines_of_a_real_header),
        cmocka_unit_test(symbols_differ_in_case),
        LOAD_TEST(a_header_in_utf16),
    };
    return cmocka_run_group_tests(tests, NULL, tear_down_all);
}
