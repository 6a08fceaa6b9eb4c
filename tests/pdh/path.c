/* SPDX-License-Identifier: MIT */
/* Counter paths are parsed, made from parts, and compared, as text only (no machine is queried).
 * (docs/windows/pdh.md#f3, docs/windows/pdh.md#f4) */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pdh/pdh.h"
#include "pdh/source.h"

/* Joins all parts of a path with bars; "-" stands for an absent part. */
static char *parts_of(const struct pdh_path *path)
{
    char index[16] = "-";
    if (path->index != PATH_NO_INDEX)
        snprintf(index, sizeof index, "%u", path->index);
#define PART(text) ((text) ? (text) : "-")
    char *all = text_format("%s|%s|%s|%s|%s|%s", PART(path->machine), PART(path->object),
                            PART(path->parent), PART(path->instance), path->any_index ? "*" : index,
                            PART(path->counter));
    assert_non_null(all);
    return all;
}

static void paths_come_detached(void **state)
{
    static const struct {
        const char *text, *parts;
    } rows[] = {
        {"\\System\\System Up Time",                   "-|System|-|-|-|System Up Time"          },
        {"\\Processor(_Total)\\% Processor Time",      "-|Processor|-|_Total|-|% Processor Time"},
        {"\\\\HOST\\Process(a#1)\\ID Process",         "\\\\HOST|Process|-|a|1|ID Process"      },
        {"\\\\10.0.0.1\\2\\674",                       "\\\\10.0.0.1|2|-|-|-|674"               },
        {"\\\\h\\o\\c",                                "\\\\h|o|-|-|-|c"                        },
        {"\\\\fe80::1\\Memory\\x",                     "\\\\fe80::1|Memory|-|-|-|x"             },
        {"\\Thread(bash/0#12)\\c",                     "-|Thread|bash|0|12|c"                   },
        {"\\Thread(bash/0#0)\\c",                      "-|Thread|bash|0|-|c"                    },
        {"\\Thread(*/*#*)\\*",                         "-|Thread|*|*|*|*"                       },
        {"\\Process(pro*#?)\\c",                       "-|Process|-|pro*#?|-|c"                 },
        {"\\Net(eth0 (2) [x])\\Bytes/sec",             "-|Net|-|eth0 (2) [x]|-|Bytes/sec"       },
        {"\\Disk(C:\\dir (x)\\y)\\c",                  "-|Disk|-|C:\\dir (x)\\y|-|c"            },
        {"\\Disk(a)\\b)\\c",                           "-|Disk|-|a)\\b|-|c"                     },
        {"\\Memory\\Bytes (all)\\x",                   "-|Memory|-|-|-|Bytes (all)\\x"          },
        {"\\D(/)\\c",                                  "-|D|-|/|-|c"                            },
        {"\\D(/home/user)\\c",                         "-|D|-|/home/user|-|c"                   },
        {"\\D(home/)\\c",                              "-|D|-|home/|-|c"                        },
        {"\\D(a/b/c)\\c",                              "-|D|a|b/c|-|c"                          },
        {"\\P(c#)\\c",                                 "-|P|-|c#|-|c"                           },
        {"\\P(c#1a)\\c",                               "-|P|-|c#1a|-|c"                         },
        {"\\P(c#1#2)\\c",                              "-|P|-|c#1|2|c"                          },
        {"\\P(c#4294967295)\\c",                       "-|P|-|c#4294967295|-|c"                 },
        {"\\P(c#99999999999)\\c",                      "-|P|-|c#99999999999|-|c"                },
        {"\\P()\\c",                                   "-|P|-||-|c"                             },
        {"\\.NET CLR Memory(x)\\# Bytes in all Heaps",
         "-|.NET CLR Memory|-|x|-|# Bytes in all Heaps"                                         },
        {"\\\xd0\x9f(\xd0\xb0/\xd0\xb1#3)\\%",         "-|\xd0\x9f|\xd0\xb0|\xd0\xb1|3|%"       },
        {"Processor(_Total)::% Processor Time",        "-|Processor|-|_Total|-|% Processor Time"},
        {"SQLServer:Buffers::Pages: all",              "-|SQLServer:Buffers|-|-|-|Pages: all"   },
        {"//host/Thread(bash/0#2)::c",                 "\\\\host|Thread|bash|0|2|c"             },
        {"Disk(a)::b)::c",                             "-|Disk|-|a)::b|-|c"                     },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        PATH_AUTO path = {0};
        assert_int_equal(path_parse(rows[i].text, &path), 0);
        FREE_AUTO char *parts = parts_of(&path);
        assert_string_equal(parts, rows[i].parts);
    }
}

static void bad_paths_are_refused(void **state)
{
    static const char *const rows[] = {
        "\\",          "\\System",    "System Up Time",   "\\System\\",    "\\\\",
        "\\\\host",    "\\\\host\\o", "\\\\\\object\\c",  "\\P(x\\c",      "\\P(x)c\\d",
        "\\P(x)",      "\\P(x)\\",    "\\(x)\\c",         "\\\\h\\(x)\\c", "Object(x)",
        "Object(x)::", "::c",         "Object(x):\\c",    "//host::c",     "Object(x)\\c",
        "(x)::c",      ":",           "//host/Object\\c",
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        PATH_AUTO path = {.object = "kept"};
        assert_int_equal((DWORD)path_parse(rows[i], &path), PDH_CSTATUS_BAD_COUNTERNAME);
        assert_string_equal(path.object, "kept");
    }
    struct pdh_path path;
    assert_int_equal((DWORD)path_parse("", &path), PDH_CSTATUS_NO_COUNTERNAME);
}

static void longest_path(void **state)
{
    char text[2 * PDH_MAX_COUNTER_PATH + 2] = "\\o\\";
    for (size_t at = 3; at < 3 + 2 * (PDH_MAX_COUNTER_PATH - 3); at += 2)
        memcpy(text + at, "\xd0\x96", 3);
    PATH_AUTO path = {0};
    assert_int_equal(path_parse(text, &path), 0);
    assert_int_equal(strlen(path.counter), 2 * (PDH_MAX_COUNTER_PATH - 3));
    strcat(text, "x");
    assert_int_equal((DWORD)path_parse(text, &path), PDH_CSTATUS_BAD_COUNTERNAME);
}

static void instances_come_detached(void **state)
{
    static const struct {
        const char *text, *parts;
    } rows[] = {
        {"a",       "-|-|-|a|-|-"      },
        {"p/a#3",   "-|-|p|a|3|-"      },
        {"p/a#0",   "-|-|p|a|-|-"      },
        {"a(1)\\b", "-|-|-|a(1)\\b|-|-"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        PATH_AUTO path = {0};
        assert_int_equal(path_parse_instance(rows[i].text, &path), 0);
        FREE_AUTO char *parts = parts_of(&path);
        assert_string_equal(parts, rows[i].parts);
    }
    struct pdh_path path;
    assert_int_equal((DWORD)path_parse_instance("", &path), PDH_INVALID_INSTANCE);
    assert_int_equal((DWORD)path_parse_instance("#3", &path), PDH_INVALID_INSTANCE);
}

static void made(const struct pdh_path *parts, const char *expected)
{
    BUFFER_AUTO text = {0};
    assert_int_equal(path_make(parts, &text), 0);
    assert_string_equal(text.data, expected);
}

static void paths_are_made(void **state)
{
    struct pdh_path parts = {.machine = "host", .object = "o", .parent = "p", .counter = "c"};
    parts.index = 1;
    made(&parts, "\\\\host\\o\\c"); /* without an instance, parent and index are omitted */
    parts.instance = "i";
    made(&parts, "\\\\host\\o(p/i#1)\\c");
    parts.machine = "\\\\host";
    parts.index = 0;
    made(&parts, "\\\\host\\o(p/i)\\c");
    parts.machine = "";
    parts.index = PATH_NO_INDEX;
    made(&parts, "\\o(p/i)\\c");
    parts.any_index = true;
    parts.parent = NULL;
    made(&parts, "\\o(i#*)\\c");
    BUFFER_AUTO text = {0};
    assert_int_equal((DWORD)path_make(&(struct pdh_path){.object = "o"}, &text),
                     PDH_INVALID_ARGUMENT);
    assert_int_equal((DWORD)path_make(&(struct pdh_path){.counter = "c", .object = ""}, &text),
                     PDH_INVALID_ARGUMENT);
    assert_int_equal(text.len, 0);
}

static void patterns_match(void **state)
{
    static const struct {
        const char *pattern, *text;
        bool match;
    } rows[] = {
        {"*",         "",                  true },
        {"*",         "anything/at all#3", true },
        {"",          "",                  true },
        {"",          "a",                 false},
        {"a",         "",                  false},
        {"?",         "",                  false},
        {"?",         "\xd0\x96",          true },
        {"??",        "\xd0\x96",          false},
        {"pro*",      "PROcess",           true },
        {"pro*",      "apro",              false},
        {"*ss",       "process",           true },
        {"*ss",       "processor",         false},
        {"p*s*r",     "processor",         true },
        {"p*s*s",     "processor",         false},
        {"*a*b*c*",   "xxaxbxcx",          true },
        {"*a*b*c*",   "xxcxbxax",          false},
        {"a**b",      "ab",                true },
        {"a*?b",      "ab",                false},
        {"a*?b",      "axb",               true },
        {"ab*ab",     "abab",              true },
        {"ab*ab",     "aba",               false},
        {"\xd0\xb6*", "\xd0\x96x",         true }, /* the same letter, in lower and upper case */
        {"\xd0\xb6*", "\xd0\x97x",         false},
        {"*\xff",     "a\xfe\xff",         true }, /* bytes that are not UTF-8 */
        {"??",        "\xbf\x80",          true },
        {"[a]",       "a",                 false},
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_int_equal(text_match(rows[i].pattern, rows[i].text), rows[i].match);
}

static void long_patterns_end(void **state)
{
    char text[2001];
    memset(text, 'a', sizeof text - 1);
    text[2000] = '\0';
    assert_false(text_match("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", text));
}

static void brackets_mean_instances(void **state)
{
    static const struct {
        const char *brackets, *parent, *name;
        uint32_t number;
        bool match;
    } rows[] = {
        {"a",       NULL,  "A",       0, true },
        {"a",       NULL,  "a",       1, false},
        {"a",       "p",   "a",       0, false},
        {"a#0",     NULL,  "a",       0, true },
        {"a#0",     NULL,  "a",       1, false},
        {"a#1",     NULL,  "a",       1, true },
        {"a#1",     NULL,  "a",       0, false},
        {"a#1",     NULL,  "a#1",     0, true }, /* the name itself has "#1" */
        {"a#1",     NULL,  "a#1",     1, false},
        {"a#1#1",   NULL,  "a#1",     1, true },
        {"a#*",     NULL,  "a",       0, true },
        {"a#*",     NULL,  "a",       7, true },
        {"a#*",     NULL,  "b",       0, false},
        {"p/a",     "P",   "a",       0, true },
        {"p/a",     "q",   "a",       0, false},
        {"p/a#2",   "p",   "a",       2, true },
        {"p/a",     NULL,  "p/a",     0, true }, /* the name itself has a slash */
        {"p/a/b#2", "p/a", "b",       2, true },
        {"p/a/b#2", NULL,  "p/a/b",   2, true },
        {"/home/x", NULL,  "/home/x", 0, true },
        {"*",       NULL,  "a",       3, true },
        {"*",       "p",   "a",       3, true },
        {"*/*",     NULL,  "a",       0, false},
        {"*/*",     "p",   "a",       0, true },
        {"*/*",     "p",   "a",       2, true },
        {"*/*#*",   "p",   "a",       2, true },
        {"p*/0",    "pq",  "0",       2, true },
        {"p*/0",    "q",   "0",       0, false},
        {"p*#1",    NULL,  "pq",      1, true },
        {"p*#1",    NULL,  "pq",      0, false},
        {"p?",      NULL,  "pq",      4, true },
        {"",        NULL,  "",        0, true },
        {"",        NULL,  "a",       0, false},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        FREE_AUTO char *text = text_format("\\o(%s)\\c", rows[i].brackets);
        PATH_AUTO path = {0};
        assert_int_equal(path_parse(text, &path), 0);
        assert_int_equal(path_match_instance(&path, rows[i].parent, rows[i].name, rows[i].number),
                         rows[i].match);
    }
    PATH_AUTO none = {0};
    assert_int_equal(path_parse("\\o\\c", &none), 0);
    assert_false(path_match_instance(&none, NULL, "c", 0));
}

static void wildcards_are_seen(void **state)
{
    static const struct {
        const char *text;
        bool any, any_instance;
    } rows[] = {
        {"\\o\\c",       false, false},
        {"\\o(i#1)\\c",  false, false},
        {"\\o\\*",       true,  false},
        {"\\o\\c?",      true,  false},
        {"\\o(*)\\c",    true,  true },
        {"\\o(i#*)\\c",  true,  true },
        {"\\o(p*/i)\\c", true,  true },
        {"\\*\\c",       true,  false},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        PATH_AUTO path = {0};
        assert_int_equal(path_parse(rows[i].text, &path), 0);
        assert_int_equal(path_has_wildcard(&path), rows[i].any);
        assert_int_equal(path_has_any_instance(&path), rows[i].any_instance);
    }
}

/* Two backslashes before a machine's name are not part of it; one is. */
static void names_of_machines(void **state)
{
    assert_string_equal(path_machine_name("\\\\host"), "host");
    assert_string_equal(path_machine_name("\\host"), "\\host");
    assert_string_equal(path_machine_name("host"), "host");
}

/* Processor 3 is on node 10: its path gets the whole name of the instance, and nothing more. */
static void a_processors_number_gets_its_node(void **state)
{
    struct instance_info instances[] = {{.name = "9,30"}, {.name = "10,3"}};
    const struct object_info info = {.instances = instances, .instance_count = COUNT(instances)};
    PATH_AUTO path = {0};
    assert_int_equal(path_parse("\\Processor(3)\\% Nice Time", &path), 0);
    assert_true(path_alias(&path));
    assert_true(path_alias_settle(&path, &info));
    assert_string_equal(path.instance, "10,3");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_come_detached), cmocka_unit_test(bad_paths_are_refused),
        cmocka_unit_test(longest_path),        cmocka_unit_test(instances_come_detached),
        cmocka_unit_test(paths_are_made),      cmocka_unit_test(patterns_match),
        cmocka_unit_test(long_patterns_end),   cmocka_unit_test(brackets_mean_instances),
        cmocka_unit_test(wildcards_are_seen),  cmocka_unit_test(a_processors_number_gets_its_node),
        cmocka_unit_test(names_of_machines),
    };
    return cmocka_run_group_tests_name("pdh-path", tests, NULL, NULL);
}
