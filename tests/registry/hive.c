/* SPDX-License-Identifier: MIT */
/* Tests of reading and printing .reg files: every form of a value, encodings, damage. */
#include "test.h"
#include "registry/store/hive.h"

/* Adds a line for each entry to a text, so that a test can compare a whole file at once. */
static bool note_entry(void *self, const opl_reg_entry *entry)
{
    struct buffer *out = self;
    static const char *const kinds[] = {"key", "-key", "value", "-value", "comment", "damaged"};
    buffer_printf(out, "%u %s", entry->line, kinds[entry->kind]);
    if (entry->kind <= OPL_REG_DELETE_KEY)
        buffer_printf(out, " %s", entry->key);
    else
        buffer_printf(out, " %s", entry->name);
    if (entry->kind == OPL_REG_VALUE) {
        buffer_printf(out, " %u ", (unsigned)entry->type);
        for (size_t i = 0; i < entry->size; i++)
            buffer_printf(out, "%02x", ((const unsigned char *)entry->data)[i]);
    }
    return buffer_add_byte(out, '\n');
}

static void assert_reads_bytes(const void *bytes, size_t size, unsigned flags, const char *expected)
{
    BUFFER_AUTO out = {0};
    assert_int_equal(opl_reg_read(bytes, size, flags, note_entry, &out), ERROR_SUCCESS);
    assert_string_equal(out.data ? out.data : "", expected);
}

static void assert_reads(const char *text, const char *expected)
{
    assert_reads_bytes(text, strlen(text), 0, expected);
}

static void every_value_type(void **state)
{
    assert_reads(HEADER "[HKLM\\A]\n"
                        "@=\"default\"\n"
                        "\"a\\\\b \\\"q\\\"\"=\"c\\\\d \\\"e\\\"\" ; why\n"
                        "\"empty\" = \"\"\n"
                        "\"dword\"=dword:0000002A\n"
                        "\"bin\"=hex:01,ff\n"
                        "\"nothing\"=hex:\n"
                        "\"none\"=hex(0):\n"
                        "\"expand\"=hex(2):25,00,41,00,25,00,00,00\n"
                        "\"multi\"=hex(7):61,00,00,00,62,00,00,00,00,00\n"
                        "\"qword\"=hex(b):01,00,00,00,00,00,00,80\n"
                        "\"odd dword\"=hex(4):01,02\n"
                        "\"wide\"=hex(1):16,04,00,00\n"
                        "\"own\"=hex(fffe):07\n",
                 "3 key HKEY_LOCAL_MACHINE\\A\n"
                 "4 value  1 64656661756c7400\n"
                 "5 value a\\b \"q\" 1 635c64202265220"
                 "0\n"
                 "6 value empty 1 00\n"
                 "7 value dword 4 2a000000\n"
                 "8 value bin 3 01ff\n"
                 "9 value nothing 3 \n"
                 "10 value none 0 \n"
                 "11 value expand 2 25412500\n"
                 "12 value multi 7 6100620000\n"
                 "13 value qword 11 0100000000000080\n"
                 "14 value odd dword 4 0102\n"
                 "15 value wide 1 d09600\n"
                 "16 value own 65534 07\n");
}

static void deletions_comments_and_continued_lines(void **state)
{
    assert_reads(HEADER "; first\n"
                        "[-HKEY_LOCAL_MACHINE\\A\\B]\n"
                        "[HKEY_CURRENT_USER\\x]y]\r\n"
                        "\"gone\"=-\r\n"
                        "@=-\n"
                        "\"long\"=hex:01,\\\r\n"
                        "  02,\\\n"
                        "  03\n"
                        "\"behind\"=dword:1\n",
                 "3 comment ; first\n"
                 "4 -key HKEY_LOCAL_MACHINE\\A\\B\n"
                 "5 key HKEY_CURRENT_USER\\x]y\n"
                 "6 -value gone\n"
                 "7 -value \n"
                 "8 value long 3 010203\n"
                 "11 value behind 4 01000000\n");
}

static void lines_of_blanks_say_nothing(void **state)
{
    assert_reads(HEADER " \n\t \r\n\r\n[HKLM\\A]\n    \n \t\"a\"\t=\t\"1\" \t\r\n  [HKLM\\B]  \n ",
                 "6 key HKEY_LOCAL_MACHINE\\A\n8 value a 1 3100\n9 key HKEY_LOCAL_MACHINE\\B\n");
}

static void regedit4_keeps_bytes_of_the_code_page(void **state)
{
    assert_reads("REGEDIT4\r\n\r\n[HKEY_USERS\\A]\r\n\"m\"=hex(7):61,00,e9,00,00\r\n"
                 "\"t\"=\"\x80\xe9\"\r\n",
                 "3 key HKEY_USERS\\A\n4 value m 7 6100c3a90000\n5 value t 1 e282acc3a900\n");
}

/* Each byte from 0x80 to 0x9f must be converted as Windows defines code page 1252; five of them are
 * control characters. */
static void regedit4_knows_the_whole_code_page(void **state)
{
    static const char expected[] =
        "\u20ac\xc2\x81\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\xc2\x8d"
        "\u017d\xc2\x8f\xc2\x90\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a"
        "\u0153\xc2\x9d\u017e\u0178";
    char bytes[128];
    BUFFER_AUTO out = {0};
    for (int i = 0; i < 128; i++)
        bytes[i] = (char)(0x80 + i);
    assert_true(ansi_add_as_8(&out, bytes, 32));
    assert_string_equal(out.data, expected);
    for (size_t i = 32; i < sizeof bytes; i++) { /* from 0xa0 on, code page 1252 equals Latin-1 */
        unsigned char latin1[] = {(unsigned char)(bytes[i] & 0x40 ? 0xc3 : 0xc2),
                                  (unsigned char)((bytes[i] & 0x3f) | 0x80)};
        buffer_clear(&out);
        assert_true(ansi_add_as_8(&out, &bytes[i], 1));
        assert_int_equal(out.len, 2);
        assert_memory_equal(out.data, latin1, 2);
    }
    buffer_clear(&out);
    assert_true(ansi_add_as_8(&out, "a\x7f", 2));
    assert_string_equal(out.data, "a\x7f");
}

static void utf16_with_its_mark(void **state)
{
    static const WCHAR text[] = u"\uFEFFWindows Registry Editor Version 5.00\r\n\r\n"
                                u"[HKEY_LOCAL_MACHINE\\\u0416]\r\n\"\u00e9\"=\"\U0001F600\"\r\n";
    assert_reads_bytes(text, sizeof text - 2, OPL_REG_STRICT_HEADER,
                       "3 key HKEY_LOCAL_MACHINE\\\u0416\n4 value \u00e9 1 f09f988000\n");
    assert_reads("\xef\xbb\xbf" HEADER "[HKLM\\A]\n", "3 key HKEY_LOCAL_MACHINE\\A\n");
}

static void an_ansi_file_is_one_encoding_a_store_file_is_not(void **state)
{
    static const char text[] = HEADER "[HKLM\\A]\n\"a\"=\"\xe9\"\n\"b\"=\"\xc3\xa9\"\n";
    assert_reads_bytes(text, strlen(text), OPL_REG_ONE_ENCODING,
                       "3 key HKEY_LOCAL_MACHINE\\A\n4 value a 1 c3a900\n"
                       "5 value b 1 c383c2a900\n");
    assert_reads(text, "3 key HKEY_LOCAL_MACHINE\\A\n4 damaged \"a\"=\"\xe9\"\n"
                       "5 value b 1 c3a900\n");
}

static void a_file_without_header(void **state)
{
    BUFFER_AUTO out = {0};
    assert_int_equal(opl_reg_read("[HKLM\\A]\n", 9, OPL_REG_STRICT_HEADER, note_entry, &out),
                     ERROR_NOT_REGISTRY_FILE);
    assert_int_equal(opl_reg_read("", 0, OPL_REG_STRICT_HEADER, note_entry, &out),
                     ERROR_NOT_REGISTRY_FILE);
    assert_null(out.data);
    assert_reads("[HKLM\\A]\n", "1 damaged [HKLM\\A]\n1 key HKEY_LOCAL_MACHINE\\A\n");
    assert_reads("Windows Registry Edit\n[HKLM\\A]\n",
                 "1 damaged Windows Registry Edit\n2 key HKEY_LOCAL_MACHINE\\A\n");
}

static bool note_reason(void *self, const opl_reg_entry *entry)
{
    return entry->kind != OPL_REG_DAMAGED || buffer_add_text(self, entry->why);
}

static void each_damage_is_one_line(void **state)
{
    /* clang-format off */
    static const struct {
        const char *line, *why;
    } rows[] = {
        {"\"a", "the closing quotation mark is missing"},
        {"\"a\"", "= is missing after the value's name"},
        {"\"a\"=", "the value is neither text in quotation marks, dword: nor hex:"},
        {"\"a\"=\"b", "the closing quotation mark is missing"},
        {"\"a\"=\"b\\\"", "the closing quotation mark is missing"},
        {"\"a\"=\"b\" c", "unexpected text after the value"},
        {"\"a\"=\"\\x\"", "in a text each backslash must be written twice"},
        {"\"a\"=dword:", "a dword value must have one to eight hexadecimal digits"},
        {"\"a\"=dword:123456789", "a dword value must have one to eight hexadecimal digits"},
        {"\"a\"=dword:1g", "unexpected text after the value"},
        {"\"a\"=hex:1,", "a byte of two hexadecimal digits is missing"},
        {"\"a\"=hex:zz", "a byte of two hexadecimal digits is missing"},
        {"\"a\"=hex:1 2", "unexpected text after the value"},
        {"\"a\"=hex(:1", "the value is neither text in quotation marks, dword: nor hex:"},
        {"\"a\"=hex(7):1", "text in hexadecimal form has an odd number of bytes"},
        {"\"a\"=hex():1", "the value is neither text in quotation marks, dword: nor hex:"},
        {"\"a\"=hex(123456789):1", "the value is neither text in quotation marks, dword: nor hex:"},
        {"\"a\"=text", "the value is neither text in quotation marks, dword: nor hex:"},
        {"\"a\"=--", "unexpected text after the value"},
        {"plain", "the line is neither a key, a value nor a comment"},
        {"\"a\"=hex:1,\\", "the value is incomplete"},
        {"\"a\"=\"\x01\"", "the line contains a control character"},
        {"\"\xff\"=\"x\"", "the line is not UTF-8"},
        {"@", "= is missing after the value's name"},
        {"=\"x\"", "the line is neither a key, a value nor a comment"},
        {"\"a\"=\"b\x7f\xed\xa0\"", "the line is not UTF-8"},
    };
    /* clang-format on */
    for (size_t i = 0; i < COUNT(rows); i++) {
        BUFFER_AUTO text = {0}, expected = {0}, why = {0};
        buffer_printf(&text, HEADER "[HKLM\\A]\n%s\n\"ok\"=dword:1\n", rows[i].line);
        buffer_printf(&expected,
                      "3 key HKEY_LOCAL_MACHINE\\A\n4 damaged %s\n5 value ok 4 01000000\n",
                      rows[i].line);
        assert_reads(text.data, expected.data);
        assert_int_equal(opl_reg_read(text.data, text.len, 0, note_reason, &why), ERROR_SUCCESS);
        assert_string_equal(why.data, rows[i].why);
    }
}

static void a_damaged_key_line_costs_its_values(void **state)
{
    static const char *const lines[] = {"[HKLM\\A",
                                        "[",
                                        "[]",
                                        "[-]",
                                        "[HKLM\\]",
                                        "[HKLM\\\\A]",
                                        "[HKEY_PERFORMANCE_DATA]",
                                        "[Nowhere\\A]",
                                        "[\\HKLM]"};
    for (size_t i = 0; i < COUNT(lines); i++) {
        BUFFER_AUTO text = {0}, expected = {0};
        buffer_printf(&text, HEADER "[HKLM\\Before]\n%s\n\"lost\"=dword:1\n[HKLM\\B]\n", lines[i]);
        buffer_printf(&expected,
                      "3 key HKEY_LOCAL_MACHINE\\Before\n4 damaged %s\n"
                      "5 damaged \"lost\"=dword:1\n6 key HKEY_LOCAL_MACHINE\\B\n",
                      lines[i]);
        assert_reads(text.data, expected.data);
    }
}

static void add_path(struct buffer *text, int parts, int characters)
{
    buffer_add_text(text, "[HKLM");
    for (int i = 0; i < parts; i++) {
        buffer_add_byte(text, '\\');
        for (int j = 0; j < characters; j++)
            buffer_add_text(text, "\u20ac"); /* one character of three bytes */
    }
    buffer_add_text(text, "]\n");
}

static void add_value_line(struct buffer *text, int characters)
{
    buffer_add_byte(text, '"');
    for (int i = 0; i < characters; i++)
        buffer_add_text(text, "\u20ac");
    buffer_add_text(text, "\"=\"\"\n");
}

static void names_at_their_limits_are_read(void **state)
{
    BUFFER_AUTO text = {0}, out = {0};
    buffer_add_text(&text, HEADER);
    add_path(&text, 1, LIMIT_KEY_NAME);
    add_path(&text, LIMIT_KEY_DEPTH, 1);
    add_value_line(&text, LIMIT_VALUE_NAME);
    add_value_line(&text, LIMIT_VALUE_NAME + 1);
    add_path(&text, 1, LIMIT_KEY_NAME + 1);
    add_path(&text, LIMIT_KEY_DEPTH + 1, 1);
    assert_int_equal(opl_reg_read(text.data, text.len, 0, note_entry, &out), ERROR_SUCCESS);
    static const char *const expected[] = {"3 key ",       "\n4 key ",     "\n5 value ",
                                           "\n6 damaged ", "\n7 damaged ", "\n8 damaged "};
    for (size_t i = 0; i < COUNT(expected); i++)
        assert_non_null(strstr(out.data, expected[i]));
}

static void names_have_limits(void **state)
{
    BUFFER_AUTO text = {0}, out = {0};
    buffer_add_text(&text, HEADER "[HKLM\\");
    for (int i = 0; i < LIMIT_KEY_NAME + 1; i++)
        buffer_add_byte(&text, 'k');
    buffer_add_text(&text, "]\n[HKLM");
    for (int i = 0; i < LIMIT_KEY_DEPTH + 1; i++)
        buffer_add_text(&text, "\\k");
    buffer_add_text(&text, "]\n");
    assert_int_equal(opl_reg_read(text.data, text.len, 0, note_entry, &out), ERROR_SUCCESS);
    assert_null(strstr(out.data, " key "));
    assert_non_null(strstr(out.data, "3 damaged"));
    assert_non_null(strstr(out.data, "4 damaged"));
}

static bool add_to_tree(void *self, const opl_reg_entry *entry)
{
    struct tree_key *root = self;
    if (entry->kind == OPL_REG_KEY)
        return tree_make(root, entry->key, true);
    if (entry->kind == OPL_REG_DELETE_KEY)
        return tree_write_key_tombstone(root, entry->key);
    struct tree_key *key = tree_find(root, entry->key);
    if (entry->kind == OPL_REG_DELETE_VALUE)
        return tree_write_tombstone(key, entry->name);
    return tree_set(key, entry->name, entry->type, entry->data, entry->size);
}

static struct tree_key *tree_of(const char *text, size_t size)
{
    struct tree_key *root = tree_new();
    assert_int_equal(opl_reg_read(text, size, 0, add_to_tree, root), ERROR_SUCCESS);
    return root;
}

/* Values of any bytes and types are printed, read back, and printed again: both printed texts must
 * be equal. */
static void what_is_printed_reads_back(void **state)
{
    static const char *const texts[] = {"",
                                        "\0",
                                        "plain\0",
                                        "two\0nuls\0\0",
                                        "no end",
                                        "a\nb\0",
                                        "\"q\\\0",
                                        "\u0416\U0001F600\0",
                                        "\xed\xa0\x80\0"};
    static const size_t sizes[] = {0, 1, 6, 10, 6, 4, 4, 7, 4};
    TREE_AUTO *root = tree_new();
    struct tree_key *key = tree_make(root, "HKEY_LOCAL_MACHINE\\A \\]\\\u0416\\B;", true);
    for (uint32_t type = 0; type < 13; type++)
        for (size_t i = 0; i < COUNT(texts); i++) {
            char name[32];
            snprintf(name, sizeof name, "\\v\"%u %zu;", (unsigned)type, i);
            tree_set(key, name, type, texts[i], sizes[i]);
        }
    char long_bytes[500];
    for (size_t i = 0; i < sizeof long_bytes; i++)
        long_bytes[i] = (char)(i * 7);
    tree_set(key, "", REG_BINARY, long_bytes, sizeof long_bytes);
    tree_write_tombstone(key, "gone");
    tree_write_key_tombstone(root, "HKEY_LOCAL_MACHINE\\Deleted");
    tree_write_key_tombstone(root, "HKEY_LOCAL_MACHINE\\Again");
    tree_make(root, "HKEY_LOCAL_MACHINE\\Again\\Below", true);
    BUFFER_AUTO first = {0}, second = {0};
    assert_true(hive_print(&first, root, "; remark\n"));
    TREE_AUTO *again = tree_of(first.data, first.len);
    assert_true(hive_print(&second, again, "; remark\n"));
    assert_string_equal(first.data, second.data);
    const struct tree_key *found = tree_find(again, "HKEY_LOCAL_MACHINE\\A \\]\\\u0416\\B;");
    assert_int_equal(found->value_count, key->value_count);
    for (size_t i = 0; i < key->value_count; i++) {
        const struct tree_value *value = tree_value(found, key->values[i].name);
        assert_int_equal(value->type, key->values[i].type);
        assert_int_equal(value->size, key->values[i].size);
        assert_memory_equal(value->data ? value->data : "", key->values[i].data, value->size);
    }
    for (const char *line = first.data; line; line = strchr(line + 1, '\n'))
        assert_true(strcspn(line + 1, "\n") <= 100);
}

/* The printed text is like that of Windows' registry editor: a line longer than 76 characters
 * continues on the next one, which is indented by two. */
static void the_printed_file_letter_by_letter(void **state)
{
    char bytes[51] = {0};
    BUFFER_AUTO text = {0};
    TREE_AUTO *root = tree_new();
    struct tree_key *key = tree_make(root, "HKEY_LOCAL_MACHINE\\A\\B", true);
    tree_set(key, "", REG_BINARY, bytes, sizeof bytes);
    tree_set(key, "q\"\\", REG_SZ, "\"\\", 3);
    tree_set(key, "n", REG_DWORD, "\x2a\0\0", 4);
    tree_set(key, "short", REG_DWORD, "\x2a", 1);
    tree_set(key, "tab", REG_SZ, "\t", 2);
    tree_set(key, "e", REG_EXPAND_SZ, "\u20ac", 4);
    tree_set(key, "b", REG_BINARY, "", 0);
    tree_write_tombstone(key, "gone");
    tree_make(root, "HKEY_LOCAL_MACHINE\\A\\Empty", true);
    tree_write_key_tombstone(root, "HKEY_LOCAL_MACHINE\\Z");
    tree_set(tree_make(root, "HKEY_USERS\\U", true), "", REG_SZ, "u", 2);
#define FIVE "00,00,00,00,00,"
    static const char expected[] =
        "Windows Registry Editor Version 5.00\n\n; mine\n\n[HKEY_LOCAL_MACHINE\\A\\B]\n"
        "@=hex:" FIVE FIVE FIVE FIVE "00,00,00,00,\\\n  " FIVE FIVE FIVE FIVE FIVE "\\\n  00,00\n"
        "\"q\\\"\\\\\"=\"\\\"\\\\\"\n\"n\"=dword:0000002a\n\"short\"=hex(4):2a\n"
        "\"tab\"=hex(1):09,00,00,00\n\"e\"=hex(2):ac,20,00,00\n\"b\"=hex:\n\"gone\"=-\n\n"
        "[HKEY_LOCAL_MACHINE\\A\\Empty]\n\n[-HKEY_LOCAL_MACHINE\\Z]\n\n"
        "[HKEY_USERS\\U]\n@=\"u\"\n";
    assert_true(hive_print(&text, root, "; mine\n"));
    assert_string_equal(text.data, expected);
}

static void read_exactly(const char *text, size_t size, struct buffer *ret)
{
    /* allocates exactly this size, so that a sanitizer reports a read beyond it */
    char *end_of_memory = malloc(size ? size : 1);
    memcpy(end_of_memory, text, size);
    buffer_clear(ret);
    assert_int_equal(opl_reg_read(end_of_memory, size, 0, note_entry, ret), ERROR_SUCCESS);
    free(end_of_memory);
}

/* A file that is cut off at any byte: complete lines are read, and nothing beyond the end. */
static void a_file_may_end_anywhere(void **state)
{
    static const char text[] =
        "\xef\xbb\xbf" HEADER "; why\n[HKLM\\A]\n\"a\\\\\"=\"1\"\n\"b\" = dword:2a ;\n"
        "\"c\"=hex:01,02\n\"d\"=hex(7):61,00\n@=-\n[-HKCU\\B]\n[HKU]\n\"e\"=\"x\"\n";
    static const char wide[] = "\xff\xfeR\0E\0G\0E\0D\0I\0T\0"
                               "4\0\n\0[\0H\0K\0U\0]\0\n\0";
    BUFFER_AUTO whole = {0}, part = {0};
    read_exactly(text, sizeof text - 1, &whole);
    for (size_t size = 0; size < sizeof text; size++) {
        read_exactly(text, size, &part);
        if (size > sizeof HEADER + 2 && text[size - 1] == '\n' && part.len)
            assert_memory_equal(part.data, whole.data, part.len);
    }
    for (size_t size = 0; size < sizeof wide; size++)
        read_exactly(wide, size, &part);
    read_exactly(wide, sizeof wide - 1, &part);
    assert_string_equal(part.data, "2 key HKEY_USERS\n");
}

static void a_hex_value_breaks_off_where_no_byte_follows(void **state)
{
    assert_reads(HEADER "[HKLM\\A]\n\"a\"=hex:1,\\\n\"b\"=dword:1\n\"c\"=hex:\\\n  2\n"
                        "\"d\"=hex: ; none\n\"e\"=hex:3 ; one\n\"f\"=hex: 4 , 5\n",
                 "3 key HKEY_LOCAL_MACHINE\\A\n4 damaged \"a\"=hex:1,\\\n5 value b 4 01000000\n"
                 "6 value c 3 02\n8 value d 3 \n9 value e 3 03\n10 value f 3 0405\n");
}

static void one_entry_printed_for_a_tool(void **state)
{
    char text[64];
    size_t size = 0;
    opl_reg_entry entry = {
        .kind = OPL_REG_VALUE, .name = "n", .type = REG_DWORD, .data = "\1\0\0", .size = 4};
    assert_int_equal(opl_reg_print(&entry, NULL, &size), ERROR_MORE_DATA);
    assert_int_equal(size, sizeof "\"n\"=dword:00000001\n");
    size = sizeof text;
    assert_int_equal(opl_reg_print(&entry, text, &size), ERROR_SUCCESS);
    assert_string_equal(text, "\"n\"=dword:00000001\n");
    entry.data = NULL;
    assert_int_equal(opl_reg_print(&entry, text, &size), ERROR_INVALID_PARAMETER);
    entry.size = 0;
    size = sizeof "\"n\"=hex(4):\n" - 1;
    assert_int_equal(opl_reg_print(&entry, text, &size), ERROR_MORE_DATA);
    assert_int_equal(opl_reg_print(&entry, text, &size), ERROR_SUCCESS);
    assert_string_equal(text, "\"n\"=hex(4):\n");
    entry = (opl_reg_entry){.kind = OPL_REG_COMMENT, .name = "; why"};
    size = sizeof text;
    assert_int_equal(opl_reg_print(&entry, text, &size), ERROR_SUCCESS);
    assert_string_equal(text, "; why\n");
    entry = (opl_reg_entry){.kind = OPL_REG_KEY};
    assert_int_equal(opl_reg_print(&entry, text, &size), ERROR_INVALID_PARAMETER);
    entry.kind = OPL_REG_DAMAGED;
    entry.name = "x";
    assert_int_equal(opl_reg_print(&entry, text, &size), ERROR_INVALID_PARAMETER);
}

static bool stop(void *self, const opl_reg_entry *entry)
{
    ++*(int *)self;
    return false;
}

static void the_reader_stops_when_told(void **state)
{
    int calls = 0;
    const char *text = HEADER "[HKLM\\A]\n[HKLM\\B]\n";
    assert_int_equal(opl_reg_read(text, strlen(text), 0, stop, &calls), ERROR_SUCCESS);
    assert_int_equal(calls, 1);
}

/* In a correct file each byte in turn is changed: every line but the changed one is still read. */
static void one_byte_costs_one_line(void **state)
{
    char text[] =
        HEADER "[HKLM\\A]\n\"a\"=\"1\"\n\"b\"=dword:2\n\"c\"=hex:03\n[HKLM\\B]\n\"d\"=\"4\"\n";
    size_t size = strlen(text);
    for (size_t i = strlen(HEADER) - 1; i < size; i++)
        for (int change = 1; change < 256; change <<= 1) {
            text[i] = (char)(text[i] ^ change);
            BUFFER_AUTO out = {0};
            assert_int_equal(opl_reg_read(text, size, 0, note_entry, &out), ERROR_SUCCESS);
            int good = 0;
            for (const char *at = out.data; (at = strstr(at, " value ")); at++)
                good++;
            text[i] = (char)(text[i] ^ change);
            bool key_line = i < strlen(HEADER "[HKLM\\A]\n");
            assert_true(good >= (key_line ? 1 : 2));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_value_type),
        cmocka_unit_test(deletions_comments_and_continued_lines),
        cmocka_unit_test(lines_of_blanks_say_nothing),
        cmocka_unit_test(regedit4_keeps_bytes_of_the_code_page),
        cmocka_unit_test(regedit4_knows_the_whole_code_page),
        cmocka_unit_test(utf16_with_its_mark),
        cmocka_unit_test(an_ansi_file_is_one_encoding_a_store_file_is_not),
        cmocka_unit_test(a_file_without_header),
        cmocka_unit_test(each_damage_is_one_line),
        cmocka_unit_test(a_damaged_key_line_costs_its_values),
        cmocka_unit_test(names_at_their_limits_are_read),
        cmocka_unit_test(names_have_limits),
        cmocka_unit_test(what_is_printed_reads_back),
        cmocka_unit_test(the_printed_file_letter_by_letter),
        cmocka_unit_test(a_file_may_end_anywhere),
        cmocka_unit_test(a_hex_value_breaks_off_where_no_byte_follows),
        cmocka_unit_test(one_entry_printed_for_a_tool),
        cmocka_unit_test(the_reader_stops_when_told),
        cmocka_unit_test(one_byte_costs_one_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
