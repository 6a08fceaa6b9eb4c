/* SPDX-License-Identifier: MIT */
/* The doctor: kinds of damage alone, each with several seeds, and in random pairs. Afterwards the
 * registry answers as before, byte for byte: names in every language, and every number. */
#include "machine.h"

#include <errno.h>
#include <utime.h>

enum { PROVIDERS_HURT = 8, SEEDS = 5, QUICK_SEEDS = 2, QUICK_PAIRS = 30 };

/* ---- what it says ---- */

static struct buffer findings;
static opl_load_restored cured;

static void take_finding(void *self, const opl_load_finding *finding)
{
    buffer_printf(&findings, "%s %s %s: %s: %s\n", finding->repaired ? "repaired" : "left",
                  finding->kind, finding->service ? finding->service : "-",
                  finding->file ? finding->file : "-", finding->text);
}

static DWORD doctor_with(bool dry_run)
{
    const opl_load_doctor_options told = {.found = take_finding};
    opl_load_options options = options_of();
    options.dry_run = dry_run;
    buffer_clear(&findings);
    cured = (opl_load_restored){0};
    return opl_load_doctor(&told, &options, &cured);
}

static void assert_found(const char *text)
{
    if (!strstr(findings.data ? findings.data : "", text))
        fail_msg("no finding \"%s\" in:\n%s", text, findings.data ? findings.data : "");
}

/* ---- damage ---- */

static unsigned seed;

static uint32_t below(uint32_t limit)
{
    return (uint32_t)rand_r(&seed) % limit;
}

static char service[32], key[256];

static void choose_service(uint32_t number)
{
    snprintf(service, sizeof service, "Svc %u", (unsigned)number);
    snprintf(key, sizeof key, "%s\\%s\\Performance", REGISTRY_SERVICES, service);
}

static void set_number(const char *value, uint32_t number)
{
    assert_int_equal(registry_set(LAYER_MACHINE, key, value, REG_DWORD, &number, sizeof number), 0);
}

static void set_name(const char *language, uint32_t index, const char *text)
{
    char name[16];
    FREE_AUTO char *names = text_format("%s\\Names\\%s", key, language);
    snprintf(name, sizeof name, "%u", (unsigned)index);
    assert_int_equal(registry_set(LAYER_MACHINE, names, name, REG_SZ, text, strlen(text) + 1),
                     ERROR_SUCCESS);
}

static void wrong_number(unsigned which)
{
    static const uint32_t values[] = {0, 7, 1846, 4000, 99998, 0x7fffffff, 0xffffffff};
    set_number(number_names[which % NUMBERS],
               below(2) ? values[below(COUNT(values))] : 1848 + below(400));
}

static void lost_number(unsigned which)
{
    registry_delete_value(LAYER_MACHINE, key, number_names[which % NUMBERS]);
}

static void lost_objects(unsigned unused)
{
    registry_delete_value(LAYER_MACHINE, key, "Object List");
}

static void wrong_objects(unsigned unused)
{
    if (registry_is_users(key, "Object List") || strcmp(service, "Svc 0") == 0 ||
        strcmp(service, "Svc 7") == 0) /* they have none */
        return;
    assert_int_equal(registry_set(LAYER_MACHINE, key, "Object List", REG_SZ, "2 4", 4), 0);
}

static void lost_language(unsigned which)
{
    FREE_AUTO char *names = text_format("%s\\Names\\%s", key, languages[which % COUNT(languages)]);
    registry_delete_tree(LAYER_MACHINE, names);
}

static void lost_names(unsigned unused)
{
    FREE_AUTO char *names = text_format("%s\\Names", key);
    registry_delete_tree(LAYER_MACHINE, names);
}

static void lost_text(unsigned which)
{
    char name[16];
    FREE_AUTO char *names = text_format("%s\\Names\\%s", key, languages[which % COUNT(languages)]);
    snprintf(name, sizeof name, "%u", (unsigned)number_of(service, "First Counter") + below(14));
    registry_delete_value(LAYER_MACHINE, names, name);
}

static void wrong_text(unsigned unused)
{
    set_name("009", number_of(service, "First Counter") + below(2), "Nonsense");
}

static void far_orphan(unsigned which)
{
    set_name(languages[which % COUNT(languages)], 5000 + below(500), "Orphan");
}

/* Of the service that comes first in the registry: its text hides the other's. */
static void hiding_orphan(unsigned unused)
{
    uint32_t index = number_of(service, "First Counter");
    choose_service(0);
    set_name("009", index, "Hides");
}

/* What follows a damaged key line belongs to a service that nobody has. */
static void names_of_nobody(unsigned unused)
{
    uint32_t index = number_of(service, "First Counter");
    snprintf(key, sizeof key, "%s\\Aaa %u\\Performance", REGISTRY_SERVICES, (unsigned)below(3));
    set_name("009", index, "Nobody's");
}

/* All four numbers are another one's. */
static void overlap(unsigned unused)
{
    uint32_t numbers[NUMBERS], other = below(PROVIDERS_HURT);
    char name[32];
    snprintf(name, sizeof name, "Svc %u", (unsigned)other);
    for (size_t i = 0; i < NUMBERS; i++)
        numbers[i] = number_of(name, number_names[i]);
    for (size_t i = 0; i < NUMBERS; i++)
        if (numbers[i])
            set_number(number_names[i], numbers[i]);
}

static void quarantine(unsigned unused)
{
    if (!strcmp(service, "Svc 0"))
        return; /* somebody disabled it */
    set_number("Disable Performance Counters", 1);
    registry_set(LAYER_MACHINE, key, "Quarantine", REG_SZ, "until later", 12);
}

/* Cut, or overwritten, behind what says where it came from. */
static void hurt_file(bool cut)
{
    BUFFER_AUTO text = {0};
    char name[128];
    snprintf(name, sizeof name, "machine/registry.d/%s.reg", service);
    if (file_read(AT_FDCWD, path_of(name), &text) || !text.data)
        return;
    char *head = strstr(text.data, "PerfIniFile");
    head = head ? strchr(head, '\n') : NULL;
    if (!head)
        return;
    size_t from = (size_t)(head + 1 - text.data);
    if (text.len < from + 40)
        return;
    size_t at = from + below((uint32_t)(text.len - from - 30));
    if (!cut)
        memset(text.data + at, '#', 25);
    put_bytes(name, text.data, cut ? at : text.len);
    usleep(2000); /* the clock of the file system is coarse */
    store_forget();
    names_forget();
}

static void torn_file(unsigned unused)
{
    hurt_file(true);
}

static void overwritten_file(unsigned unused)
{
    hurt_file(false);
}

static const struct {
    const char *name;
    void (*hurt)(unsigned which);
    unsigned which;
} kinds[] = {
    {"First Counter",     wrong_number,     FIRST_COUNTER},
    {"Last Counter",      wrong_number,     LAST_COUNTER },
    {"First Help",        wrong_number,     FIRST_HELP   },
    {"Last Help",         wrong_number,     LAST_HELP    },
    {"no First Counter",  lost_number,      FIRST_COUNTER},
    {"no Last Counter",   lost_number,      LAST_COUNTER },
    {"no First Help",     lost_number,      FIRST_HELP   },
    {"no Last Help",      lost_number,      LAST_HELP    },
    {"no Object List",    lost_objects,     0            },
    {"Object List",       wrong_objects,    0            },
    {"no English",        lost_language,    0            },
    {"no German",         lost_language,    1            },
    {"no Russian",        lost_language,    4            },
    {"no names",          lost_names,       0            },
    {"no English text",   lost_text,        0            },
    {"no German text",    lost_text,        1            },
    {"wrong text",        wrong_text,       0            },
    {"far orphan",        far_orphan,       0            },
    {"far French orphan", far_orphan,       3            },
    {"hiding orphan",     hiding_orphan,    0            },
    {"overlap",           overlap,          0            },
    {"quarantine",        quarantine,       0            },
    {"torn file",         torn_file,        0            },
    {"names of nobody",   names_of_nobody,  0            },
    {"overwritten file",  overwritten_file, 0            },
};

static void hurt(size_t kind)
{
    choose_service(below(PROVIDERS_HURT));
    kinds[kind].hurt(kinds[kind].which);
}

static void assert_cured(const struct buffer *before, const char *what, const char *other)
{
    BUFFER_AUTO now = {0};
    assert_int_equal(doctor_with(false), ERROR_SUCCESS);
    take_picture(&now);
    if (now.len == before->len && !memcmp(now.data, before->data, now.len))
        return;
    size_t at = 0;
    while (at < now.len && at < before->len && now.data[at] == before->data[at])
        at++;
    at -= at > 60 ? 60 : at;
    fail_msg("%s, %s (seed %u): was \"%.260s\", is \"%.260s\"\n%s", what, other, seed,
             before->data + at, now.data + at, findings.data);
}

static void every_kind_of_damage_is_mended(void **state)
{
    BUFFER_AUTO before = {0};
    unsigned seeds = getenv("LOADPERF_PAIRS") ? SEEDS : QUICK_SEEDS;
    make_machine(PROVIDERS_HURT);
    take_picture(&before);
    assert_int_equal(doctor_with(false), ERROR_SUCCESS);
    assert_int_equal(cured.restored, 0);
    for (size_t kind = 0; kind < COUNT(kinds); kind++)
        for (unsigned i = 0; i < seeds; i++) {
            seed = (unsigned)kind * 100 + i;
            hurt(kind);
            assert_cured(&before, kinds[kind].name, "alone");
        }
}

/* Some pairs leave no witness: the numbers of who has neither names nor an ini file. Here all have
 * their ini files. LOADPERF_PAIRS asks for more than the quick ones. */
static void pairs_of_damage_are_mended(void **state)
{
    BUFFER_AUTO before = {0};
    const char *asked = getenv("LOADPERF_PAIRS");
    unsigned pairs = asked ? (unsigned)atoi(asked) : QUICK_PAIRS;
    make_machine(PROVIDERS_HURT);
    take_picture(&before);
    for (unsigned i = 0; i < pairs; i++) {
        seed = 7000 + i;
        size_t one = below(COUNT(kinds)), two = below(COUNT(kinds));
        hurt(one);
        hurt(two);
        assert_cured(&before, kinds[one].name, kinds[two].name);
    }
}

static void a_dry_run_changes_nothing(void **state)
{
    BUFFER_AUTO before = {0};
    make_machine(3);
    choose_service(1);
    wrong_number(LAST_COUNTER);
    take_picture(&before);
    assert_int_equal(doctor_with(true), ERROR_SUCCESS);
    assert_found("repaired wrong-numbers Svc 1");
    assert_same(&before);
}

/* Without an ini file, what agrees is believed. */
static void without_an_ini_file(void **state)
{
    put_ini(ini_head, ini_texts);
    assert_int_equal(load_library("my.ini"), ERROR_SUCCESS);
    unlink(path_of("my.ini"));
    choose_service(0);
    snprintf(key, sizeof key, "%s", PERFORMANCE_KEY);
    for (unsigned i = 0; i < NUMBERS; i++) {
        seed = i;
        wrong_number(i);
        assert_int_equal(doctor_with(false), ERROR_SUCCESS);
        assert_loaded("MyPerf", 1848, 1852);
        lost_number(i);
        assert_int_equal(doctor_with(false), ERROR_SUCCESS);
        assert_loaded("MyPerf", 1848, 1852);
    }
}

/* A copy of another one's registration: the second gets new numbers, with all its texts. */
static void who_has_anothers_numbers_gets_new_ones(void **state)
{
    BUFFER_AUTO text = {0}, copy = {0};
    put_ini(ini_head, ini_texts);
    assert_int_equal(load_library("my.ini"), ERROR_SUCCESS);
    assert_int_equal(file_read(AT_FDCWD, path_of("machine/registry.d/MyPerf.reg"), &text), 0);
    for (const char *at = text.data; *at;) {
        const char *found = strstr(at, "\\MyPerf\\");
        size_t count = found ? (size_t)(found - at) : strlen(at);
        buffer_add(&copy, at, count);
        at += count;
        if (found) {
            buffer_add_text(&copy, "\\MyTwin\\");
            at += strlen("\\MyPerf\\");
        }
    }
    put("machine/registry.d/MyTwin.reg", copy.data);
    store_forget();
    names_forget();
    assert_loaded("MyTwin", 1848, 1852);
    assert_int_equal(doctor_with(false), ERROR_SUCCESS);
    assert_found("overlap MyTwin");
    assert_loaded("MyPerf", 1848, 1852);
    assert_loaded("MyTwin", 1854, 1858);
    assert_text(REGISTRY_SERVICES "\\MyTwin\\Performance", "Object List", "1854");
    assert_name(1859, 9, "My second.");
    assert_int_equal(doctor_with(false), ERROR_SUCCESS);
    assert_int_equal(cured.restored, 0);
}

static void libraries_and_owners_are_told(void **state)
{
    char library[256];
    put("my.so", "1");
    snprintf(library, sizeof library, "%s", path_of("my.so"));
    opl_load_options options = options_of();
    options.library = library;
    put_ini(ini_head, ini_texts);
    assert_int_equal(load_with("my.ini", options), ERROR_SUCCESS);
    assert_int_equal(opl_load_trust("MyPerf", NULL), ERROR_SUCCESS);
    assert_int_equal(doctor_with(false), ERROR_SUCCESS);
    assert_int_equal(findings.len, 0);
    put("my.so", "another one");
    assert_int_equal(doctor_with(false), ERROR_SUCCESS);
    assert_found("left library-replaced MyPerf");
    unlink(library);
    assert_int_equal(doctor_with(false), ERROR_SUCCESS);
    assert_found("left library-gone MyPerf");
    put("machine/registry.d/x.reg", HEADER "[HKEY_LOCAL_MACHINE\\X]\n\"a\"=nonsense\n");
    assert_int_equal(doctor_with(false), ERROR_SUCCESS);
    assert_found("x.reg: 1 lines are damaged, the first is line 4");
    chmod(path_of("machine/registry.d/x.reg"), 0666);
    put("my.h", "#define OBJ 0\n#define ONE 2\n#define TWO 400\n");
    chmod(path_of("my.ini"), 0666); /* not believed either */
    assert_int_equal(doctor_with(false), ERROR_SUCCESS);
    assert_found("left foreign-owner");
    assert_loaded("MyPerf", 1848, 1852);
}

static int free_all(void **state)
{
    buffer_done(&remarks);
    buffer_done(&written);
    buffer_done(&findings);
    return 0;
}

/* Thousands of durable writes are the disk's test, not this one. */
static int no_sync(int fd)
{
    return 0;
}

int main(void)
{
    file_steps.sync = no_sync;
    const struct CMUnitTest tests[] = {
        LOAD_TEST(every_kind_of_damage_is_mended),
        LOAD_TEST(pairs_of_damage_are_mended),
        LOAD_TEST(a_dry_run_changes_nothing),
        LOAD_TEST(without_an_ini_file),
        LOAD_TEST(who_has_anothers_numbers_gets_new_ones),
        LOAD_TEST(libraries_and_owners_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, free_all);
}
