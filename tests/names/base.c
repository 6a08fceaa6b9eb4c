/* SPDX-License-Identifier: MIT */
/* Tests of names/base.c and names/lookup.c: the lists of names in data/names, and the view in which
 * texts of services are merged with them. */
#include "test.h"

static void c110_sample_names(void **state)
{
    static const struct {
        uint32_t index;
        const char *name;
    } samples[] = {
        {2,   "System"                     },
        {4,   "Memory"                     },
        {6,   "% Processor Time"           },
        {10,  "File Read Operations/sec"   },
        {12,  "File Write Operations/sec"  },
        {14,  "File Control Operations/sec"},
        {16,  "File Read Bytes/sec"        },
        {18,  "File Write Bytes/sec"       },
        {674, "System Up Time"             },
    };
    for (size_t i = 0; i < COUNT(samples); i++) {
        assert_name(samples[i].index, 9, samples[i].name);
        assert_int_equal(names_find(samples[i].name, 9), samples[i].index);
    }
}

static void c112_german_names_of_20_indices(void **state)
{
    static const struct {
        uint32_t index;
        const char *name;
    } german[] = {
        {230, "Prozess"                         },
        {6,   "Prozessorzeit (%)"               },
        {142, "Benutzerzeit (%)"                },
        {144, "Privilegierte Zeit (%)"          },
        {172, "Virtuelle Bytes (max.)"          },
        {174, "Virtuelle Größe"               },
        {28,  "Seitenfehler/s"                  },
        {178, "Arbeitsseiten (max.)"            },
        {680, "Threadanzahl"                    },
        {682, "Basispriorität"                 },
        {684, "Verstrichene Zeit"               },
        {180, "Arbeitsseiten"                   },
        {182, "Auslagerungsdatei (max. Bytes)"  },
        {184, "Auslagerungsdatei (Bytes)"       },
        {186, "Private Bytes"                   },
        {56,  "Auslagerungsseiten (Bytes)"      },
        {58,  "Nicht-Auslagerungsseiten (Bytes)"},
        {952, "Handleanzahl"                    },
        {784, "Prozesskennung"                  },
        {2,   "System"                          },
    };
    for (size_t i = 0; i < COUNT(german); i++) {
        assert_name(german[i].index, 7, german[i].name);
        assert_int_equal(names_find(german[i].name, 7), german[i].index);
    }
    assert_int_equal(names_find("PROZESSORZEIT (%)", 7), 6);
    /* "ß" has no upper-case letter here, so "SS" does not match it */
    assert_int_equal(names_find("VIRTUELLE GRÖSSE", 7), 0);
    assert_int_equal(names_find("VIRTUELLE GRÖßE", 7), 174);
}

static void c21_names_and_helps_are_separate(void **state)
{
    assert_true(strlen(name_of(3, 9)) > 20);
    assert_int_equal(names_find(name_of(3, 9), 9), 0);
    assert_name(1, 9, "1847");
    assert_name(1846, 9, "End Marker");
    assert_name(1847, 9, "End Marker");
    assert_int_equal(names_find("1847", 9), 0);
    assert_name(0, 9, NULL);
    assert_name(8, 9, NULL); /* an unused index */
}

static void c23_where_a_language_lacks_a_text_it_is_english(void **state)
{
    assert_name(2, 0x19, "Система");
    assert_name(10, 0x19, "File Read Operations/sec");
    assert_name(3, 0x19, name_of(3, 9));
    assert_name(4, 0x00C, "Mémoire");
    /* of a full language id (0x0C0C) only the last byte, the language, counts */
    assert_name(4, 0x0C0C, "Mémoire");
    assert_int_equal(names_find("Memory", 0x00A), 0);
    assert_int_equal(names_find("Memoria", 0x00A), 4);
    assert_name(2, 0x11, "System"); /* language 0x11 is not installed, so English is used */
    assert_int_equal(names_find("Memory", 0x11), 4);
}

static void c25_a_help_need_not_be_the_names_neighbor(void **state)
{
    /* name 6 has two explanations, 7 and 189 */
    assert_string_not_equal(name_of(189, 9), name_of(7, 9));
}

static void names_that_come_twice_give_the_lowest_index(void **state)
{
    assert_int_equal(names_find("% idle time", 9), 1482);
    assert_int_equal(names_find("Available MBytes", 9), 1382);
    assert_int_equal(names_find("Committed Bytes", 9), 26);
    assert_int_equal(names_find("", 9), 0);
    assert_int_equal(names_find("zzz", 9), 0);
}

static bool add_id(void *self, const char *id)
{
    buffer_printf(self, "%s ", id);
    return ((struct buffer *)self)->len < 20;
}

static void c107_languages(void **state)
{
    BUFFER_AUTO ids = {0};
    assert_int_equal(names_each_language(add_id, &ids), ERROR_SUCCESS);
    assert_string_equal(ids.data, "007 009 00A 00C 019 ");
    assert_true(names_language_installed(0x419));
    assert_false(names_language_installed(0x411));
    put("machine/registry.d/a.reg", HEADER "[" REGISTRY_PERFLIB "\\011]\n[" REGISTRY_PERFLIB
                                           "\\_V2Providers]\n[" REGISTRY_PERFLIB "\\CAFE1]\n");
    assert_true(names_language_installed(0x411));
    buffer_clear(&ids);
    assert_int_equal(names_each_language(add_id, &ids), ERROR_SUCCESS);
    /* the walk stopped here, because the callback returned false */
    assert_string_equal(ids.data, "007 009 00A 00C 011 ");
}

/* 1 installs a language that no texts stand for, 0 removes one that has texts; nothing removes
 * English. */
static void the_machine_chooses_its_languages(void **state)
{
    put("machine/registry.d/a.reg", HEADER "[" NAMES_LANGUAGES_KEY "]\n"
                                           "\"011\"=dword:1\n\"007\"=dword:0\n\"009\"=dword:0\n"
                                           "\"00C\"=\"0\"\n\"00A\"=hex(4):00,00\n\"x\"=dword:0\n");
    assert_true(names_language_installed(0x411));
    assert_false(names_language_installed(7));
    assert_name(2, 7, "System");
    assert_true(names_language_installed(9));
    assert_true(names_language_installed(0xc)); /* the value must be a DWORD of four bytes */
    assert_true(names_language_installed(0xa));
}

static void services_add_texts(void **state)
{
    put_service("MyPerf", "009",
                "\"900000\"=\"Mine\"\n\"900001\"=\"My help.\"\n\"x\"=\"no index\"\n"
                "\"900002\"=dword:5\n\"2\"=\"Hijacked\"\n");
    assert_name(900000, 9, "Mine");
    assert_name(900001, 9, "My help.");
    assert_name(900002, 9, NULL);
    assert_name(2, 9, "System"); /* a service cannot rename a name of the project's lists */
    assert_name(900000, 7, "Mine");
    assert_int_equal(names_find("MINE", 9), 900000);
    put_service("MyPerf", "007", "\"900000\"=\"Meins\"\n");
    assert_name(900000, 7, "Meins");
    assert_int_equal(names_find("Meins", 7), 900000);
    assert_int_equal(names_find("Mine", 7), 0);
    put_service("MyPerf", "011", "\"900000\"=\"Japanese\"\n");
    assert_name(900000, 0x11, "Mine"); /* language 0x11 is not installed */
}

static void of_two_services_the_first_wins(void **state)
{
    put_service("B", "009", "\"900000\"=\"of B\"\n");
    put_service("A", "009", "\"900000\"=\"of A\"\n");
    assert_name(900000, 9, "of A");
}

static void c26_last_counter_and_help(void **state)
{
    uint32_t counter = 0, help = 0, shipped;
    assert_int_equal(names_last(&shipped, &help), ERROR_SUCCESS);
    assert_true(shipped >= 1846 && shipped % 2 == 0);
    assert_true(help >= 1847 && help % 2 == 1);
    put_service("MyPerf", "009", "\"900012\"=\"a\"\n\"900001\"=\"b\"\n");
    put_service("Other", "007", "\"900023\"=\"c\"\n");
    assert_int_equal(names_last(&counter, &help), ERROR_SUCCESS);
    assert_int_equal(counter, 900012);
    assert_int_equal(help, 900023);
    unlink(path_of("machine/registry.d/MyPerf-009.reg"));
    assert_int_equal(names_last(&counter, &help), ERROR_SUCCESS);
    assert_int_equal(counter, shipped);
}

/* In a damaged or unusual file of names, only the damaged lines are lost. */
static void damaged_files_cost_only_their_lines(void **state)
{
    put("vendor/data/names/009.names", "8\tEight\nno tab\nx\tno number\n\t\n4\tFour\n8\tAgain\n"
                                       "99999999999\ttoo large\n6\tSix");
    put("vendor/data/names/007.names", "");
    put("vendor/data/names/readme.txt", "2\tNo\n");
    put("vendor/data/names/xyz.names", "2\tNo\n");
    assert_name(8, 9, "Eight");
    assert_name(4, 9, "Four");
    assert_name(6, 9, "Six");
    assert_name(2, 9, NULL);
    assert_name(6, 7, "Six");
    assert_true(names_language_installed(7));
}

static void without_any_file_there_is_an_empty_base(void **state)
{
    uint32_t counter = 0, help = 0;
    assert_name(2, 9, NULL);
    assert_int_equal(names_find("System", 9), 0);
    assert_int_equal(names_last(&counter, &help), ERROR_SUCCESS);
    assert_int_equal(counter, 1846);
    assert_true(names_language_installed(9));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BUILT_TEST(c110_sample_names),
        BUILT_TEST(c112_german_names_of_20_indices),
        BUILT_TEST(c21_names_and_helps_are_separate),
        BUILT_TEST(c23_where_a_language_lacks_a_text_it_is_english),
        BUILT_TEST(c25_a_help_need_not_be_the_names_neighbor),
        BUILT_TEST(names_that_come_twice_give_the_lowest_index),
        BUILT_TEST(c107_languages),
        BUILT_TEST(the_machine_chooses_its_languages),
        BUILT_TEST(services_add_texts),
        BUILT_TEST(of_two_services_the_first_wins),
        BUILT_TEST(c26_last_counter_and_help),
        NAMES_TEST(damaged_files_cost_only_their_lines),
        NAMES_TEST(without_any_file_there_is_an_empty_base),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
