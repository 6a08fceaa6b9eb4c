/* SPDX-License-Identifier: MIT */
/*
 * The views of the sample behemoth's client, which shows a herd of animals: exactly what is printed
 * for a valid answer; and no damaged or malicious answer does harm. The test makes the answers
 * itself.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* open_memstream */
#endif
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#include <openperflib/build.h>
#include <openperflib/unstable.h>
#include <winerror.h>
#include <winperf.h>

#include "../../samples/behemoth/client/view.h"

enum { FIRST = 5000, SECOND = 10000000, HEAD = 128, SIZE = 1 << 24 };
#define TIME 1000000000000LL

static BYTE block[SIZE];
static size_t block_size;
static struct reader reader;
static struct view view;
static struct text_style style;

/* ---- an answer ---- */

struct someone {
    const char *name;
    int64_t mother; /* NO_MOTHER: none */
    DWORD sex, age, x, y, weight;
};

static const opl_build_counter herd_counters[] = {
    {FIRST + BEHEMOTH_SEX,      FIRST + 1, PERF_COUNTER_RAWCOUNT,       0, 100, 0, 0},
    {FIRST + BEHEMOTH_AGE,      FIRST + 1, PERF_ELAPSED_TIME,           0, 100, 0, 0},
    {FIRST + BEHEMOTH_X,        FIRST + 1, PERF_COUNTER_RAWCOUNT,       0, 100, 0, 0},
    {FIRST + BEHEMOTH_Y,        FIRST + 1, PERF_COUNTER_RAWCOUNT,       0, 100, 0, 0},
    {FIRST + BEHEMOTH_WEIGHT,   FIRST + 1, PERF_COUNTER_RAWCOUNT,       0, 100, 0, 0},
    {FIRST + BEHEMOTH_VOLUME,   FIRST + 1, PERF_COUNTER_RAWCOUNT,       0, 100, 0, 0},
    {FIRST + BEHEMOTH_BIRTHDAY, FIRST + 1, PERF_COUNTER_LARGE_RAWCOUNT, 0, 100, 0, 0},
};
static const opl_build_counter summary_counters[] = {
    {FIRST + BEHEMOTHS_SUMMARY_BEHEMOTHS,    FIRST + 1, PERF_COUNTER_RAWCOUNT,       0, 100, 0, 0},
    {FIRST + BEHEMOTHS_SUMMARY_TOTAL_WEIGHT, FIRST + 1, PERF_COUNTER_LARGE_RAWCOUNT, 0, 100, 0, 0},
    {FIRST + BEHEMOTHS_SUMMARY_BIRTHS_SEC,   FIRST + 1, PERF_COUNTER_BULK_COUNT,     0, 100, 0, 0},
    {FIRST + BEHEMOTHS_SUMMARY_DEATHS_SEC,   FIRST + 1, PERF_COUNTER_BULK_COUNT,     0, 100, 0, 0},
    {FIRST + BEHEMOTHS_SUMMARY_MEAN_AGE,     FIRST + 1, PERF_LARGE_RAW_FRACTION,     0, 100, 0, 0},
    {FIRST + BEHEMOTHS_SUMMARY_MEAN_AGE,     FIRST + 1, PERF_LARGE_RAW_BASE,         0, 100, 0, 0},
    {FIRST + BEHEMOTHS_SUMMARY_STATUS,       FIRST + 1, PERF_COUNTER_RAWCOUNT,       0, 100, 0, 0},
    {FIRST + BEHEMOTHS_SUMMARY_DATA_AGE,     FIRST + 1, PERF_ELAPSED_TIME,           0, 100, 0, 0},
};
enum { HERD_COUNTERS = 7, SUMMARY_COUNTERS = 8 };

static void add_someone(opl_build *build, const struct someone *one, LONGLONG time)
{
    bool has_mother = one->mother != NO_MOTHER;
    opl_build_instance_full(build, one->name, strlen(one->name), has_mother ? FIRST + BEHEMOTH : 0,
                            has_mother ? (DWORD)one->mother : 0, -1);
    opl_build_dword(build, 0, one->sex);
    opl_build_large(build, 1, (ULONGLONG)(time - (LONGLONG)one->age * SECOND));
    opl_build_dword(build, 2, one->x);
    opl_build_dword(build, 3, one->y);
    opl_build_dword(build, 4, one->weight);
    opl_build_dword(build, 5, one->weight + 1);
    opl_build_large(build, 6, 126444800000000000 - (ULONGLONG)one->age * SECOND);
}

static void add_summary(opl_build *build, size_t count, LONGLONG time, DWORD births, DWORD status)
{
    opl_build_dword(build, 0, (DWORD)count);
    opl_build_large(build, 1, 123456);
    opl_build_large(build, 2, births);
    opl_build_large(build, 3, 7);
    opl_build_large(build, 4, 484);
    opl_build_large(build, 5, 1000);
    opl_build_dword(build, 6, status);
    opl_build_large(build, 7, (ULONGLONG)(status ? time - SECOND / 5 : TIME));
}

static void put_header(size_t size, LONGLONG time)
{
    static const WCHAR name[] = u"HERD-1";
    PERF_DATA_BLOCK head = {.LittleEndian = 1,
                            .Version = 1,
                            .Revision = 1,
                            .TotalByteLength = (DWORD)size,
                            .HeaderLength = HEAD,
                            .NumObjectTypes = 2,
                            .SystemNameLength = sizeof name,
                            .SystemNameOffset = sizeof head};
    memcpy(head.Signature, u"PERF", 8);
    head.PerfTime.QuadPart = time;
    head.PerfFreq.QuadPart = SECOND;
    memset(block, 0, HEAD);
    memcpy(block, &head, sizeof head);
    memcpy(block + sizeof head, name, sizeof name);
    block_size = size;
}

static void make_block(const struct someone *all, size_t count, LONGLONG time, DWORD births,
                       DWORD status)
{
    opl_build build;
    DWORD bytes = SIZE - HEAD, types = 0;
    void *data = block + HEAD;
    opl_build_object_info herd = {.name_index = FIRST + BEHEMOTH, .help_index = FIRST + 1};
    opl_build_object_info all_of_them = {
        .name_index = FIRST + BEHEMOTHS_SUMMARY, .help_index = FIRST + 1, .single = true};
    herd.time = all_of_them.time = time;
    herd.frequency = all_of_them.frequency = SECOND;
    opl_build_init(&build, data, bytes);
    opl_build_object(&build, &herd, herd_counters, HERD_COUNTERS);
    for (size_t i = 0; i < count; i++)
        add_someone(&build, &all[i], time);
    opl_build_object(&build, &all_of_them, summary_counters, SUMMARY_COUNTERS);
    add_summary(&build, count, time, births, status);
    assert_int_equal(opl_build_collect(&build, &data, &bytes, &types), ERROR_SUCCESS);
    assert_int_equal(types, 2);
    put_header(HEAD + bytes, time);
}

static const struct someone family[] = {
    {"Anna 1",   NO_MOTHER, 1, 500,   0,   0,   2000},
    {"Boris 2",  NO_MOTHER, 0, 90061, 999, 499, 1800},
    {"Clara 3",  0,         1, 200,   500, 250, 1700},
    {"Dora 4",   2,         1, 20,    501, 250, 300 },
    {"Emil 5",   0,         0, 100,   100, 450, 1500},
    {"Fjodor 6", 2,         0, 0,     300, 100, 45  },
};
enum { FAMILY = sizeof family / sizeof *family };

/* ---- printing ---- */

static void draw_view(FILE *out, enum view_kind kind)
{
    view.kind = kind;
    summary_draw(out, &view);
    if (kind == VIEW_FIELD)
        field_draw(out, &view, 42, 13);
    else
        table_draw(out, &view, 0);
}

/* Draws a view as on a terminal without colours, and returns the text. */
static char *drawn(enum view_kind kind)
{
    static char *text;
    char *whole;
    size_t size;
    free(text);
    FILE *out = open_memstream(&whole, &size);
    assert_non_null(out);
    draw_view(out, kind);
    fclose(out);
    out = open_memstream(&text, &size);
    assert_non_null(out);
    text_line(out, whole, size, 0, (struct text_style){.utf8 = style.utf8});
    fclose(out);
    free(whole);
    return text;
}

static void take(const struct someone *all, size_t count)
{
    make_block(all, count, TIME, 10, 1);
    assert_int_equal(reader_take(&reader, block, block_size), ERROR_SUCCESS);
}

static int begin(void **state)
{
    static const struct {
        unsigned symbol;
        const char *text;
    } known[] = {
        {BEHEMOTH,                       "Behemoth"    },
        {BEHEMOTH_SEX,                   "Sex"         },
        {BEHEMOTH_AGE,                   "Age"         },
        {BEHEMOTH_X,                     "X"           },
        {BEHEMOTH_Y,                     "Y"           },
        {BEHEMOTH_WEIGHT,                "Weight"      },
        {BEHEMOTH_VOLUME,                "Volume"      },
        {BEHEMOTHS_SUMMARY_BEHEMOTHS,    "Behemoths"   },
        {BEHEMOTHS_SUMMARY_TOTAL_WEIGHT, "Total Weight"},
        {BEHEMOTHS_SUMMARY_BIRTHS_SEC,   "Births/sec"  },
        {BEHEMOTHS_SUMMARY_DEATHS_SEC,   "Deaths/sec"  },
        {BEHEMOTHS_SUMMARY_MEAN_AGE,     "% Mean Age"  },
        {BEHEMOTHS_SUMMARY_STATUS,       "Status"      },
        {BEHEMOTHS_SUMMARY_DATA_AGE,     "Data Age"    },
    };
    (void)state;
    setenv("LC_ALL", "C.UTF-8", 1);
    assert_true((style = style_begin()).utf8);
    reader = (struct reader){.first = FIRST};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        reader.titles[known[i].symbol / 2] = strdup(known[i].text);
    view = (struct view){.reader = &reader};
    view.sort = UINT32_MAX;
    return 0;
}

static int end(void **state)
{
    (void)state;
    reader_close(&reader);
    return 0;
}

/* ---- good answers ---- */

static void the_list(void **state)
{
    (void)state;
    take(family, FAMILY);
    assert_string_equal(
        drawn(VIEW_LIST),
        "Behemoths 6   Total Weight 123456 kg   % Mean Age 48.4   Status 1   Data Age 0.2 s\n"
        "Behemoth      Sex          Age  X, m  Y, m  Weight, kg  Volume, l             +14, UTC\n"
        "Anna 1          ♀      0:08:20     0     0        2000       2001  2001-09-09 03:25:00\n"
        "Boris 2         ♂  1d 01:01:01   999   499        1800       1801  2001-09-08 02:32:19\n"
        "Clara 3         ♀      0:03:20   500   250        1700       1701  2001-09-09 03:30:00\n"
        "Dora 4          ♀      0:00:20   501   250         300        301  2001-09-09 03:33:00\n"
        "Emil 5          ♂      0:01:40   100   450        1500       1501  2001-09-09 03:31:40\n"
        "Fjodor 6        ♂      0:00:00   300   100          45         46  2001-09-09 03:33:20\n");
}

static void the_tree(void **state)
{
    (void)state;
    take(family, FAMILY);
    assert_string_equal(drawn(VIEW_TREE),
                        "Behemoths 6   Total Weight 123456 kg   % Mean Age 48.4   Status 1   "
                        "Data Age 0.2 s\n"
                        "Behemoth        Sex          Age  Weight, kg\n"
                        "Anna 1            ♀      0:08:20        2000\n"
                        "├─ Clara 3        ♀      0:03:20        1700\n"
                        "│  ├─ Dora 4      ♀      0:00:20         300\n"
                        "│  └─ Fjodor 6    ♂      0:00:00          45\n"
                        "└─ Emil 5         ♂      0:01:40        1500\n"
                        "Boris 2           ♂  1d 01:01:01        1800\n"
                        "2 families\n");
}

static void the_field(void **state)
{
    (void)state;
    take(family, FAMILY);
    view.columns = 42;
    view.rates = true;
    char *text = drawn(VIEW_FIELD);
    assert_string_equal(text,
                        "Behemoths 6   Total Weight 123456 kg\n"
                        "Births/sec -   Deaths/sec -\n"
                        "% Mean Age 48.4   Status 1\n"
                        "Data Age 0.2 s\n"
                        "┌──────────────────────────────── 1000 m ┐\n"
                        "│●                                       │\n"
                        "│                                        │\n"
                        "│            ▫                           │\n"
                        "│                                        │\n"
                        "│                                        │\n"
                        "│                    2                   │\n"
                        "│                                        │\n"
                        "│                                        │\n"
                        "│                                        │\n"
                        "│    ▪                                  ■│\n"
                        "└───────────────────────────────── 500 m ┘\n"
                        "◦ • ● female  ▫ ▪ ■ male  by weight; 2 to 9, +: so many in a place\n");
    view.rows = 8; /* as in a window with few lines */
    text = drawn(VIEW_FIELD);
    assert_non_null(strstr(text, "kg\nBirths/sec -   Deaths/sec -\n┌"));
    view.columns = view.rows = 0;
    view.rates = false;
}

/* Shows the middle half of the field, then its lower right corner; behemoths outside of that part
 * are not drawn. */
static void a_part_of_the_field(void **state)
{
    (void)state;
    take(family, FAMILY);
    drawn(VIEW_FIELD); /* a first drawing measures the field */
    field_zoom(&view, true);
    char *text = drawn(VIEW_FIELD);
    assert_non_null(strstr(text, "─ 250 to 750 of 1000 m ┐\n│"));
    assert_non_null(strstr(text, "─ 125 to 375 of 500 m ┘\n"));
    assert_non_null(strstr(text, "│                    2                   │\n"));
    assert_null(strstr(text, "▫   "));
    for (int i = 0; i < 20; i++)
        field_move(&view, 1, 1);
    text = drawn(VIEW_FIELD);
    assert_non_null(strstr(text, "─ 500 to 1000 of 1000 m ┐\n│2    "));
    assert_non_null(strstr(text, "■│\n└"));
    for (int i = 0; i < 20; i++)
        field_zoom(&view, true);
    assert_non_null(strstr(drawn(VIEW_FIELD), " of 1000 m ┐\n"));
    for (int i = 0; i < 20; i++)
        field_zoom(&view, false);
    assert_non_null(strstr(drawn(VIEW_FIELD), "─ 1000 m ┐\n│●   "));
}

static void without_utf8(void **state)
{
    (void)state;
    take(family, FAMILY);
    style.utf8 = false;
    char *text = drawn(VIEW_TREE);
    assert_non_null(strstr(text, "|- Clara 3        f"));
    assert_non_null(strstr(text, "|  `- Fjodor 6    m"));
    text = drawn(VIEW_FIELD);
    for (const char *at = text; *at; at++)
        assert_true((unsigned char)*at < 0x80);
    style.utf8 = true;
}

/* Three more births within two seconds give a rate. If the server is dead, no rate is shown,
 * although it could be computed. */
static void rates_and_a_dead_server(void **state)
{
    (void)state;
    view.rates = true;
    take(family, FAMILY);
    make_block(family, FAMILY, TIME + 2 * SECOND, 13, 1);
    assert_int_equal(reader_take(&reader, block, block_size), ERROR_SUCCESS);
    assert_non_null(strstr(drawn(VIEW_LIST), "   Births/sec 1.50   Deaths/sec 0.00   "));
    make_block(family, FAMILY, TIME + 12 * SECOND, 13, 0);
    assert_int_equal(reader_take(&reader, block, block_size), ERROR_SUCCESS);
    char *text = drawn(VIEW_LIST);
    assert_non_null(strstr(text, "   Births/sec -   Deaths/sec -   "));
    assert_non_null(strstr(text,
                           "Status 0   Data Age 12.0 s\nbehemoth-server is not running: this is "
                           "its answer of 12 seconds ago\n"));
    view.rates = false;
}

static const char *first_row(void)
{
    /* returns the line after the heading */
    return strstr(strstr(drawn(VIEW_LIST), "\nBehemoth ") + 1, "\n") + 1;
}

static void sorted(void **state)
{
    (void)state;
    take(family, FAMILY);
    static const struct {
        const char *word, *first;
    } cases[] = {
        {"name",    "Anna 1"},
        {"-name",   "Fjodor"},
        {"weight",  "Fjodor"},
        {"-Weight", "Anna 1"},
        {"age",     "Fjodor"},
        {"-age",    "Boris "},
        {"sex",     "Boris "},
        {"-x",      "Boris "}
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(table_sort_by(&view, cases[i].word));
        assert_memory_equal(first_row(), cases[i].first, strlen(cases[i].first));
    }
    assert_false(table_sort_by(&view, "colour"));
    view.sort = UINT32_MAX;
}

/* Names with wide, combining and control characters, and with invalid UTF-16. */
static void names_of_any_kind(void **state)
{
    static const struct someone strange[] = {
        {"河馬河馬河馬河馬", NO_MOTHER, 1, 1, 1, 1, 100},
        {"e\u0301ee\u0301",          NO_MOTHER, 0, 1, 1, 1, 100},
        {"\033[2Jx\n\u202ey",        NO_MOTHER, 0, 1, 1, 1, 100},
        {"",                         NO_MOTHER, 2, 1, 1, 1, 100},
    };
    (void)state;
    take(strange, 4);
    char *text = strstr(drawn(VIEW_TREE), "Behemoth  ");
    assert_string_equal(text, "Behemoth          Sex      Age  Weight, kg\n"
                              "河馬河馬河馬河馬    ♀  0:00:01         100\n"
                              "e\u0301ee\u0301                 ♂  0:00:01         100\n"
                              "\\e[2Jx\\n\\u202ey     ♂  0:00:01         100\n"
                              "                    2  0:00:01         100\n"
                              "4 families\n");
    view.columns = 31;
    text = strstr(drawn(VIEW_TREE), "Behemoth  ");
    assert_non_null(strstr(text, "河馬河馬河馬河…"));
    view.columns = 29;
    text = strstr(drawn(VIEW_TREE), "Behemoth  ");
    assert_non_null(strstr(text, "河馬河馬河馬… "));
    view.columns = 0;
}

/* ---- malicious answers ---- */

static void no_mother_misleads(void **state)
{
    struct someone all[] = {
        {"me",     0,          0, 1, 1, 1, 1}, /* she is her own mother */
        {"a",      2,          0, 1, 1, 1, 1},
        {"b",      3,          0, 1, 1, 1, 1},
 /* a, b and c are each other's mothers in a circle, */
        {"c",      1,          0, 1, 1, 1, 1},
        {"tail",   3,          0, 1, 1, 1, 1}, /* and "tail" is a child of one of them */
        {"stray",  4000000000, 0, 1, 1, 1, 1},
        {"orphan", NO_MOTHER,  0, 1, 1, 1, 1}
    };
    (void)state;
    take(all, 7);
    char *text = drawn(VIEW_TREE);
    for (size_t i = 0; i < 7; i++)
        assert_non_null(strstr(text, all[i].name));
    assert_non_null(strstr(text, "4 families; 1 with a missing mother; 2 circles of mothers\n"));
}

/* Families of 20,000 generations: each behemoth is the child, or the mother, of the one before it;
 * the chain may be closed to a circle. Drawing them must not use much stack or time. */
static void deep_ones_take_no_stack_and_no_time(void **state)
{
    enum { MANY = 20000 };
    struct someone *all = calloc(MANY, sizeof *all);
    (void)state;
    assert_non_null(all);
    for (int way = 0; way < 4; way++) {
        for (int64_t i = 0; i < MANY; i++) {
            int64_t mother = way < 2 ? i - 1 : i + 1 < MANY ? i + 1 : NO_MOTHER;
            all[i] = (struct someone){"x", mother, 0, 1, 1, 1, 1};
        }
        if (way == 1)
            all[0].mother = MANY - 1;
        if (way == 3)
            all[MANY - 1].mother = 0;
        take(all, MANY);
        char *text = drawn(VIEW_TREE);
        assert_non_null(strstr(text, "(19999) x"));
        assert_non_null(strstr(text, way % 2 ? "1 family; 1 circle of mothers" : "1 family\n"));
    }
    free(all);
}

static void absurd_values(void **state)
{
    static const struct someone all[] = {
        {"far", NO_MOTHER, 77, 4294967295u, 4294967295u, 4294967295u, 4294967295u},
        {"old", NO_MOTHER, 1,  4294967295u, 0,           0,           0          },
    };
    (void)state;
    uint64_t width = view.size[0], height = view.size[1];
    take(all, 2);
    char *text = drawn(VIEW_FIELD);
    assert_non_null(strstr(text, " 5000000000 m ┐\n│◦   "));
    assert_non_null(strstr(text, "■"));
    drawn(VIEW_LIST);
    view.size[0] = width;
    view.size[1] = height;
    /* sets the object's time to -1, with -1 ticks per second */
    memset(block + HEAD + 48, 0xff, 16);
    if (reader_take(&reader, block, block_size) == ERROR_SUCCESS)
        assert_non_null(strstr(drawn(VIEW_LIST), "  -  "));
}

static void draw_all(void)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    for (int kind = 0; kind < VIEW_KINDS; kind++)
        draw_view(out, (enum view_kind)kind);
    json_write(out, &view);
    fclose(out);
    free(text);
}

static void try_damaged(const void *data, size_t size)
{
    /* allocates exactly this size, so that a sanitizer reports a read beyond it */
    void *copy = malloc(size > 0 ? size : 1);
    memcpy(copy, data, size);
    size_t count = reader.count;
    if (reader_take(&reader, copy, size) == ERROR_SUCCESS)
        draw_all();
    else
        assert_int_equal(reader.count, count); /* the data of the previous answer is kept */
    free(copy);
}

/* Lists of names that are cut off at any byte. base_read adds a NUL at the end. */
static void name_bases_that_end_anywhere(void **state)
{
    static const char good[] = "1\0one\0"
                               "22\0two\0"
                               "x\0three\0";
    (void)state;
    for (DWORD size = 0; size < sizeof good; size++) {
        char *text = calloc(size + 1, 1);
        struct base base = {memcpy(text, good, size), size};
        struct base_title title = {0};
        DWORD count = 0;
        while (base_next(&base, &title)) {
            assert_true(title.text > text && title.text < text + size);
            assert_int_equal(title.index, count == 0 ? 1 : count == 1 ? (size > 8 ? 22 : 2) : 0);
            count++;
        }
        assert_in_range(count, size / 10, 3);
        free(text);
    }
}

static void every_bit_flipped_and_every_length(void **state)
{
    (void)state;
    take(family, 3);
    for (size_t bit = 0; bit < block_size * 8; bit++) {
        block[bit / 8] ^= (BYTE)(1 << bit % 8);
        try_damaged(block, block_size);
        block[bit / 8] ^= (BYTE)(1 << bit % 8);
    }
    for (size_t size = 0; size < block_size; size++)
        try_damaged(block, size);
    assert_int_equal(reader_take(&reader, block, block_size), ERROR_SUCCESS);
    assert_int_equal(reader.count, 3);
}

static void for_programs(void **state)
{
    char *text;
    size_t size;
    (void)state;
    struct someone two[] = {family[0], family[2]};
    two[0].name = "\"A\\\n";
    take(two, 2);
    snprintf(reader.language, sizeof reader.language, "009");
    FILE *out = open_memstream(&text, &size);
    json_write(out, &view);
    fclose(out);
    json_t *all = json_loads(text, 0, NULL);
    assert_non_null(all);
    char *compact = json_dumps(all, JSON_COMPACT | JSON_REAL_PRECISION(12));
    assert_string_equal(
        compact,
        "{\"machine\":\"HERD-1\",\"serverThere\":true,\"behemoths\":2,\"totalWeight\":123456,"
        "\"births\":10,\"deaths\":7,\"meanAgePercent\":48.4,\"dataAge\":0.2,"
        "\"herdTime\":null,\"founders\":null,\"leftSteps\":null,\"rightSteps\":null,"
        "\"language\":\"009\",\"titles\":{\"name\":\"Behemoth\",\"sex\":\"Sex\",\"age\":\"Age\","
        "\"x\":\"X\",\"y\":\"Y\",\"weight\":\"Weight\",\"volume\":\"Volume\",\"birthday\":\"+14\"},"
        "\"herd\":["
        "{\"position\":0,\"name\":\"\\\"A\\\\\\\\n\",\"mother\":null,\"sex\":\"female\","
        "\"age\":500.0,\"x\":0,\"y\":0,\"weight\":2000,\"volume\":2001,"
        "\"birthday\":\"2001-09-09T03:25:00Z\"},"
        "{\"position\":1,\"name\":\"Clara 3\",\"mother\":0,\"sex\":\"female\",\"age\":200.0,"
        "\"x\":500,\"y\":250,\"weight\":1700,\"volume\":1701,"
        "\"birthday\":\"2001-09-09T03:30:00Z\"}]}");
    free(compact);
    free(text);
    json_decref(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_list, begin, end),
        cmocka_unit_test_setup_teardown(the_tree, begin, end),
        cmocka_unit_test_setup_teardown(the_field, begin, end),
        cmocka_unit_test_setup_teardown(a_part_of_the_field, begin, end),
        cmocka_unit_test_setup_teardown(without_utf8, begin, end),
        cmocka_unit_test_setup_teardown(rates_and_a_dead_server, begin, end),
        cmocka_unit_test_setup_teardown(sorted, begin, end),
        cmocka_unit_test_setup_teardown(names_of_any_kind, begin, end),
        cmocka_unit_test_setup_teardown(for_programs, begin, end),
        cmocka_unit_test_setup_teardown(no_mother_misleads, begin, end),
        cmocka_unit_test_setup_teardown(deep_ones_take_no_stack_and_no_time, begin, end),
        cmocka_unit_test_setup_teardown(absurd_values, begin, end),
        cmocka_unit_test_setup_teardown(name_bases_that_end_anywhere, begin, end),
        cmocka_unit_test_setup_teardown(every_bit_flipped_and_every_length, begin, end),
    };
    return cmocka_run_group_tests_name("behemoth_client", tests, NULL, NULL);
}
