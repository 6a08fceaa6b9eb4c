/* SPDX-License-Identifier: MIT */
/* Registering: numbers, texts in every language, one file for each service, and failures. */
#include "test.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

static void c100_c102_first_is_l_plus_2(void **state)
{
    put_ini(ini_head, ini_texts);
    assert_int_equal(load_library("my.ini"), ERROR_SUCCESS);
    assert_loaded("MyPerf", 1848, 1852);
    assert_last(1852);
    assert_text(PERFORMANCE_KEY, "Object List", "1848");
    assert_text(PERFORMANCE_KEY, "Library", LIBRARY_PATH);
    assert_text(PERFORMANCE_KEY, "Open", "Open");
    assert_name(1848, 9, "Mine");
    assert_name(1849, 9, "My object.");
    assert_name(1852, 9, "Second");
    assert_int_equal(result.first_counter, 1848);
    assert_int_equal(result.last_help, 1853);
    assert_int_equal(result.names, 3);
    assert_int_equal(result.languages, 1);
    assert_false(result.already);
    assert_file_has("machine/registry.d/MyPerf.reg", written.data);
    assert_true(event_was("LoadPerf\t1000"));
}

static void c103_loading_twice_changes_nothing(void **state)
{
    BUFFER_AUTO before = {0};
    put_ini(ini_head, ini_texts);
    assert_int_equal(load_library("my.ini"), ERROR_SUCCESS);
    assert_int_equal(file_read(AT_FDCWD, path_of("machine/registry.d/MyPerf.reg"), &before), 0);
    assert_int_equal(load("my.ini"), ERROR_SUCCESS);
    assert_true(result.already);
    assert_int_equal(result.first_counter, 1848);
    assert_int_equal(result.names, 3);
    assert_file_has("machine/registry.d/MyPerf.reg", before.data);
    assert_true(event_was("LoadPerf\t1002"));
}

static void a_missing_service_is_error_2(void **state)
{
    put_ini(ini_head, ini_texts);
    assert_int_equal(load("my.ini"), ERROR_FILE_NOT_FOUND);
    assert_remark("the service has no key Services\\MyPerf\\Performance");
    assert_true(event_was("LoadPerf\t3003"));
    assert_not_loaded("MyPerf");
}

/* docs/windows/articles.md#c40, docs/windows/articles.md#c62: the registration is written without
 * lodctr, as in the second article. lodctr writes its numbers and texts to a file of its own, and
 * removes no more than these. */
static void c62_a_record_by_hand_stays_by_hand(void **state)
{
    put_ini(ini_head, ini_texts);
    assert_int_equal(registry_set(LAYER_MACHINE, PERFORMANCE_KEY, "Library", REG_SZ, "x.so", 5), 0);
    assert_int_equal(load("my.ini"), ERROR_SUCCESS);
    assert_loaded("MyPerf", 1848, 1852);
    assert_text(PERFORMANCE_KEY, "Library", "x.so");
    assert_file_has("machine/registry.d/MyPerf.reg", "\"First Counter\"=dword:00000738");
    assert_int_equal(unload("MyPerf"), ERROR_SUCCESS);
    assert_text(PERFORMANCE_KEY, "Library", "x.so");
    assert_int_equal(access(path_of("machine/registry.d/MyPerf.reg"), F_OK), -1);
    assert_int_equal(registry_delete_tree(LAYER_MACHINE, SERVICE_KEY), ERROR_SUCCESS);
    assert_text(PERFORMANCE_KEY, "Library", NULL);
}

/* The registry file manual.reg has 300 other services. MyPerf's section in the middle is found, and
 * later a line at the end, which deletes MyPerf. */
static void a_record_among_many_is_found(void **state)
{
    BUFFER_AUTO text = {0};
    put_ini(ini_head, ini_texts);
    buffer_add_text(&text, HEADER);
    for (int i = 0; i < 300; i++) {
        buffer_printf(&text, "[%s\\Other%d\\Performance]\n\"Library\"=\"o\"\n", REGISTRY_SERVICES,
                      i);
        if (i == 150)
            buffer_printf(&text,
                          "  [HKLM\\system\\CurrentControlSet\\Services\\MYPERF\\Performance]\n"
                          "\"Library\"=\"m\"\n\"Last Counter\"=dword:00000bb8\n");
    }
    put("machine/registry.d/manual.reg", text.data);
    assert_int_equal(load("my.ini"), ERROR_SUCCESS);
    assert_loaded("MyPerf", 1848,
                  /* the number in manual.reg is changed, because it would hide the new one */
                  1852);
    assert_file_has("machine/registry.d/manual.reg", "\"Last Counter\"=dword:0000073c");
    assert_int_equal(unload("MyPerf"), ERROR_SUCCESS);
    assert_text(PERFORMANCE_KEY, "Library", "m");
    buffer_printf(&text, "[-%s\\MyPerf]\n", REGISTRY_SERVICES);
    put("machine/registry.d/manual.reg", text.data);
    assert_int_equal(load("my.ini"), ERROR_FILE_NOT_FOUND);
}

/* A setup program deletes the whole service, and registers it again: the service is loaded as if it
 * were new. */
static void a_deleted_service_can_come_again(void **state)
{
    put_ini(ini_head, ini_texts);
    for (int round = 0; round < 3; round++) {
        assert_int_equal(load_library("my.ini"), ERROR_SUCCESS);
        assert_false(result.already);
        assert_loaded("MyPerf", result.first_counter, result.last_counter);
        assert_name(result.first_counter, 9, "Mine");
        assert_text(PERFORMANCE_KEY, "Library", LIBRARY_PATH);
        assert_int_equal(registry_delete_tree(LAYER_MACHINE, SERVICE_KEY), ERROR_SUCCESS);
        assert_not_loaded("MyPerf");
        assert_name(result.first_counter, 9, NULL);
    }
    assert_int_equal(load_library("my.ini"), ERROR_SUCCESS);
    assert_int_equal(unload("MyPerf"), ERROR_SUCCESS);
    assert_not_loaded("MyPerf");
    assert_last(1846);
}

/* If a program deleted the old values one by one, the new values are not hidden by these
 * deletions. */
static void deleted_values_do_not_hide_the_new_ones(void **state)
{
    put_ini(ini_head, ini_texts);
    assert_int_equal(load_library("my.ini"), ERROR_SUCCESS);
    for (size_t i = 0; i < NUMBERS; i++)
        assert_int_equal(registry_delete_value(LAYER_MACHINE, PERFORMANCE_KEY, number_names[i]), 0);
    assert_int_equal(number_of("MyPerf", "First Counter"), 0);
    assert_int_equal(load("my.ini"), ERROR_SUCCESS);
    assert_loaded("MyPerf", result.first_counter, result.last_counter);
    assert_text(PERFORMANCE_KEY, "Library", LIBRARY_PATH);
    assert_name(result.last_counter, 9, "Second");
    assert_int_equal(unload("MyPerf"), ERROR_SUCCESS);
    assert_last(1846);
}

/* ---- languages (docs/windows/articles.md#c82) ---- */

static const struct {
    uint32_t languages[4];
} installed_sets[] = {{{0x009}}, {{0x009, 0x019}}, {{0x009, 0x007, 0x00c}}};

static const char *const ini_languages[] = {
    "009=\n[text]\nOBJ_009_NAME=Mine\nOBJ_009_HELP=Help\n",
    ("009=\n019=\n[text]\nOBJ_009_NAME=Mine\nOBJ_009_HELP=Help\nOBJ_019_NAME=Mой\n"
     "OBJ_019_HELP=Помощь\n"),
    "019=\n[text]\nOBJ_019_NAME=Mой\nOBJ_019_HELP=Помощь\n"};

/* Does the language base (a multi-string of indices and texts) of exactly this language have this
 * text at this index? */
static bool base_has(uint32_t language, enum names_part part, const char *index, const char *text)
{
    static char data[65536];
    DWORD size = sizeof data;
    assert_int_equal(names_text(part, language, false, data, &size), ERROR_SUCCESS);
    for (const char *at = data; *at;) {
        const char *value = at + strlen(at) + 1;
        if (!strcmp(at, index))
            return !strcmp(value, text);
        at = value + strlen(value) + 1;
    }
    return false;
}

static void install_set(const uint32_t *languages)
{
    for (; *languages; languages++) {
        char name[64];
        snprintf(name, sizeof name, "vendor/data/names/%03X.names", (unsigned)*languages);
        put(name, "2\tSystem\n1846\tEnd Marker\n1847\tEnd Marker\n");
    }
}

static void judge_languages(const uint32_t *installed, int ini)
{
    for (; *installed; installed++) {
        /* a language that is the only one of the ini file also replaces English */
        bool own = *installed == 0x019 || ini == 2;
        own &= ini != 0;
        assert_true(names_language_installed(*installed));
        assert_true(base_has(*installed, NAMES_COUNTER, "1848", own ? "Mой" : "Mine"));
        assert_true(base_has(*installed, NAMES_HELP, "1849", own ? "Помощь" : "Help"));
    }
}

static void c82_every_installed_language_has_every_index(void **state)
{
    for (size_t set = 0; set < COUNT(installed_sets); set++)
        for (int ini = 0; ini < (int)COUNT(ini_languages); ini++) {
            load_tear_down(state);
            load_set_up(state);
            install_set(installed_sets[set].languages);
            put_ini("[info]\ndrivername=MyPerf\nsymbolfile=my.h\n[languages]\n",
                    ini_languages[ini]);
            assert_int_equal(load_library("my.ini"), ERROR_SUCCESS);
            judge_languages(installed_sets[set].languages, ini);
        }
}

/* If only one language names a counter, its text also replaces the English one. */
static void a_single_text_fills_english(void **state)
{
    put_ini("[info]\ndrivername=MyPerf\nsymbolfile=my.h\n[languages]\n009=\n007=\n",
            "[text]\nOBJ_009_NAME=Mine\nONE_007_NAME=Erster\nONE_007_HELP=Hilfe\n");
    assert_int_equal(load_library("my.ini"), ERROR_SUCCESS);
    assert_name(1850, 9, "Erster");
    assert_name(1851, 9, "Hilfe");
}

/* ---- ranges (docs/windows/articles.md#c96) ---- */

static void c96_ranges_do_not_overlap(void **state)
{
    put_service_ini("A");
    put_service_ini("B");
    put_service_ini("C");
    assert_int_equal(load_library("A.ini"), ERROR_SUCCESS);
    assert_int_equal(load_library("B.ini"), ERROR_SUCCESS);
    assert_int_equal(load_library("C.ini"), ERROR_SUCCESS);
    assert_loaded("A", 1848, 1852);
    assert_loaded("B", 1854, 1858);
    assert_loaded("C", 1860, 1864);
    /* leaves a gap; the other services keep their numbers */
    assert_int_equal(unload("B"), ERROR_SUCCESS);
    assert_loaded("C", 1860, 1864);
    assert_last(1864);
    assert_int_equal(load("B.ini"), ERROR_SUCCESS);
    assert_loaded("B", 1866, 1870);
    assert_int_equal(unload("B"), ERROR_SUCCESS); /* B had the highest numbers */
    assert_last(1864);
}

/* A program has written names to the registry itself, as docs/windows/articles.md#c80 describes.
 * Their numbers are in use, so lodctr gives higher ones to the service that it loads. */
static void texts_by_hand_are_in_use(void **state)
{
    static const char base[] = "1\0001847\0002\0System\0002000\0By hand\0";
    assert_int_equal(names_store(NAMES_COUNTER, 9, base, sizeof base), ERROR_SUCCESS);
    put_ini(ini_head, ini_texts);
    assert_int_equal(load_library("my.ini"), ERROR_SUCCESS);
    assert_loaded("MyPerf", 2002, 2006);
    assert_name(2000, 9, "By hand");
}

/* lodctr never gives a service numbers of the packaged block (100000 to 109999, for objects that
 * ship with openperflib), even if services have numbers in it, or between it and the users' range,
 * which begins at 1000000. */
static void the_packaged_block_is_never_given(void **state)
{
    put("machine/registry.d/other.reg",
        HEADER "[" REGISTRY_SERVICES "\\X\\Performance]\n"
               "\"Last Counter\"=dword:000186a0\n"
               "[" REGISTRY_SERVICES "\\Y\\Performance\\Names\\009]\n"
               "\"109998\"=\"in the block\"\n"
               "\"110000\"=\"behind it\"\n");
    put_service_ini("A");
    assert_int_equal(load_library("A.ini"), ERROR_SUCCESS);
    assert_loaded("A", 1848, 1852);
    put("machine/registry.d/other.reg", HEADER "[" REGISTRY_SERVICES "\\X\\Performance]\n"
                                               "\"Last Counter\"=dword:0001869e\n");
    put_service_ini("B");
    assert_int_equal(load_library("B.ini"), ERROR_INVALID_DATA);
    assert_remark("no free numbers: indices up to 99998 are in use");
}

static void ranges_of_files_edited_in_place_count(void **state)
{
    put_service_ini("A");
    put_service_ini("B");
    put("machine/registry.d/other.reg", HEADER "[" REGISTRY_SERVICES "\\X\\Performance]\n"
                                               "\"Last Counter\"=dword:00000800\n");
    assert_int_equal(load_library("A.ini"), ERROR_SUCCESS);
    assert_loaded("A", 2050, 2054);
    put("machine/registry.d/other.reg", HEADER "[" REGISTRY_SERVICES "\\X\\Performance]\n"
                                               "\"Last Counter\"=dword:00000900\n");
    assert_int_equal(load_library("B.ini"), ERROR_SUCCESS);
    assert_loaded("B", 2306, 2310);
}

/* Numbers in a service's Object List are in use, so no other service gets them, even if the first
 * service has no First Counter and Last Counter. */
static void f_b5_objects_listed_by_hand_are_not_given_to_another(void **state)
{
    put_service_ini("A");
    put("machine/registry.d/other.reg", HEADER "[" REGISTRY_SERVICES "\\X\\Performance]\n"
                                               "\"Object List\"=\"1850  2048 many\"\n");
    assert_int_equal(load_library("A.ini"), ERROR_SUCCESS);
    assert_loaded("A", 2050, 2054);
}

/* An Object List that was written by hand is kept if the ini file has no [objects], unless it has
 * an object of another service. */
static void a_list_by_hand_with_anothers_object_is_refused(void **state)
{
    put_service_ini("A");
    put_ini(ini_head, strstr(ini_texts, "[text]"));
    assert_int_equal(load_library("A.ini"), ERROR_SUCCESS);
    put("machine/registry.d/other.reg",
        HEADER "[" PERFORMANCE_KEY "]\n\"Object List\"=\"1854 1848\"\n");
    assert_int_equal(load_library("my.ini"), ERROR_ALREADY_EXISTS);
    assert_remark("has 1848, an object of A, and the ini file has no [objects]");
    put("machine/registry.d/other.reg",
        HEADER "[" PERFORMANCE_KEY "]\n"
               "\"Object List\"=\"1854 1848\"\n\"Shared Objects\"=dword:1\n");
    assert_int_equal(load_library("my.ini"), ERROR_SUCCESS);
    assert_text(PERFORMANCE_KEY, "Object List", "1854 1848");
}

/* The file .ranges caches which numbers are in use. If it is damaged, it is not used: it is trusted
 * only if its hash and the files' attributes agree. */
static void a_damaged_cache_costs_nothing_but_time(void **state)
{
    static const char *const damages[] = {
        "", "openperflib ranges 4\n", "nonsense\n",
        ("openperflib ranges 4\n0000000000000000 1 2 3 4 5 6 7 8 9 "
         "\tA\t A.reg\n")};
    BUFFER_AUTO good = {0};
    char name[8] = "A";
    uint32_t first = 1848;
    put_service_ini(name);
    assert_int_equal(load_library("A.ini"), ERROR_SUCCESS);
    assert_int_equal(file_read(AT_FDCWD, path_of("machine/registry.d/.ranges"), &good), 0);
    for (size_t i = 0; i < COUNT(damages) + good.len; i += i < COUNT(damages) ? 1 : 37) {
        name[0]++;
        if (name[0] > 'Z')
            break;
        if (i < COUNT(damages))
            put("machine/registry.d/.ranges", damages[i]);
        else
            put_bytes("machine/registry.d/.ranges", good.data, i - COUNT(damages));
        char ini[16];
        snprintf(ini, sizeof ini, "%s.ini", name);
        put_service_ini(name);
        assert_int_equal(load_library(ini), ERROR_SUCCESS);
        first += 6;
        assert_loaded(name, first, first + 4);
    }
}

static void child_load_all(const char *prefix, int count)
{
    opl_load_options options = {.library = LIBRARY_PATH};
    for (int i = 0; i < count; i++) {
        char path[300];
        snprintf(path, sizeof path, "%s/%s%d.ini", test_root, prefix, i);
        if (opl_load_install(path, &options, NULL))
            _exit(1);
    }
    _exit(0);
}

static int compare_firsts(const void *left, const void *right)
{
    return *(const int *)left - *(const int *)right;
}

static void two_at_once_both_succeed(void **state)
{
    enum { EACH = 15 };
    static const char *const prefixes[] = {"Left", "Right"};
    pid_t children[2];
    int firsts[2 * EACH], count = 0, status;
    char name[32];
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < EACH; i++) {
            snprintf(name, sizeof name, "%s%d", prefixes[side], i);
            put_service_ini(name);
        }
    for (int side = 0; side < 2; side++)
        if (!(children[side] = fork()))
            child_load_all(prefixes[side], EACH);
    for (int side = 0; side < 2; side++) {
        assert_int_equal(waitpid(children[side], &status, 0), children[side]);
        assert_int_equal(status, 0);
    }
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < EACH; i++) {
            snprintf(name, sizeof name, "%s%d", prefixes[side], i);
            firsts[count++] = (int)number_of(name, "First Counter");
        }
    qsort(firsts, (size_t)count, sizeof *firsts, compare_firsts);
    for (int i = 0; i < count; i++)
        assert_int_equal(firsts[i], 1848 + 6 * i);
}

/* A program that loads services is killed at a random moment: each service is then loaded
 * completely or not at all. */
static void a_killed_one_leaves_all_or_nothing(void **state)
{
    enum { SERVICES = 12, ROUNDS = 12 };
    char name[32];
    int status;
    unsigned seed = (unsigned)getpid();
    for (int i = 0; i < SERVICES; i++) {
        snprintf(name, sizeof name, "Kill%d", i);
        put_service_ini(name);
    }
    for (int round = 0; round < ROUNDS; round++) {
        pid_t child = fork();
        if (!child)
            child_load_all("Kill", SERVICES);
        usleep((useconds_t)rand_r(&seed) % 8000);
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
    }
    for (int i = 0; i < SERVICES; i++) {
        snprintf(name, sizeof name, "Kill%d", i);
        uint32_t first = number_of(name, "First Counter");
        if (!first)
            continue;
        assert_loaded(name, first, first + 4);
        assert_name(first, 9, "Mine");
        assert_name(first + 5, 9, "My second.");
    }
    pid_t child = fork();
    if (!child)
        child_load_all("Kill", SERVICES);
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    assert_last(1846 + 6 * SERVICES);
}

/* ---- layers ---- */

static void users_begin_at_a_million(void **state)
{
    opl_load_options options = options_of();
    options.user = true;
    options.library = LIBRARY_PATH;
    put_service_ini("A");
    put_service_ini("B");
    put_service_ini("C");
    assert_int_equal(load_with("A.ini", options), ERROR_SUCCESS);
    assert_loaded("A", 1000000, 1000004);
    assert_int_equal(load_library("B.ini"), ERROR_SUCCESS);
    assert_loaded("B", 1848, 1852); /* numbers for the machine do not follow those for the user */
    assert_int_equal(load_with("C.ini", options), ERROR_SUCCESS);
    assert_loaded("C", 1000006, 1000010);
    assert_name(1000006, 9, "Mine");
    /* A is registered for the user already, so nothing is done */
    assert_int_equal(load_library("A.ini"), ERROR_SUCCESS);
    assert_true(result.already);
    assert_loaded("A", 1000000, 1000004);
    assert_int_equal(access(path_of("machine/registry.d/A.reg"), F_OK), -1);
    assert_int_equal(access(path_of("user/registry.d/A.reg"), F_OK), 0);
    assert_int_equal(opl_load_remove("B", &options, &result), ERROR_FILE_NOT_FOUND);
    assert_remark("is loaded for the machine, not for the user; run unlodctr without --user");
    assert_int_equal(unload("A"), ERROR_FILE_NOT_FOUND);
    assert_int_equal(opl_load_remove("A", &options, &result), ERROR_SUCCESS);
    assert_not_loaded("A");
}

static void what_a_user_says_cannot_be_written_over(void **state)
{
    put("user/registry.d/x.reg",
        HEADER "[" PERFORMANCE_KEY "]\n\"First Counter\"=dword:00000009\n");
    put_ini(ini_head, ini_texts);
    assert_int_equal(load_library("my.ini"), ERROR_ACCESS_DENIED);
    assert_remark("would hide what is registered for the machine");
    assert_int_equal(access(path_of("machine/registry.d/MyPerf.reg"), F_OK), -1);
}

static void no_rights_are_error_5(void **state)
{
    put_ini(ini_head, ini_texts);
    put("machine/registry.d/x.reg", HEADER);
    if (geteuid() == 0) { /* for root: a folder that other users may write */
        assert_int_equal(chmod(path_of("machine/registry.d"), 0777), 0);
        assert_int_equal(load_library("my.ini"), ERROR_ACCESS_DENIED);
        assert_remark("check the owners of the folder and of .lock in it, and that no other user "
                      "may write it");
    } else {
        assert_int_equal(chmod(path_of("machine/registry.d"), 0555), 0);
        assert_int_equal(load_library("my.ini"), ERROR_ACCESS_DENIED);
        assert_remark("run it as root, or with --user for yourself only");
    }
    assert_int_equal(chmod(path_of("machine/registry.d"), 0755), 0);
    assert_not_loaded("MyPerf");
}

/* ---- full disks ---- */

static struct file_steps real_steps;
static int steps_left;

static bool step_fails(void)
{
    errno = ENOSPC;
    return steps_left && --steps_left == 0;
}

static ssize_t full_write(int fd, const void *data, size_t size)
{
    return step_fails() ? -1 : real_steps.write(fd, data, size);
}

static int full_sync(int fd)
{
    return step_fails() ? -1 : real_steps.sync(fd);
}

static int full_rename(int old_dir, const char *old_path, int new_dir, const char *new_path)
{
    return step_fails() ? -1 : real_steps.rename(old_dir, old_path, new_dir, new_path);
}

static void a_full_disk_changes_nothing(void **state)
{
    put_ini(ini_head, ini_texts);
    real_steps = file_steps;
    file_steps.write = full_write;
    file_steps.sync = full_sync;
    file_steps.rename = full_rename;
    /* the disk gets full when the file is written, synced or renamed */
    for (int step = 1; step <= 3; step++) {
        steps_left = step;
        DWORD status = load_library("my.ini");
        steps_left = 0;
        assert_int_equal(status, ERROR_DISK_FULL);
        assert_remark("cannot be written");
        assert_not_loaded("MyPerf");
        assert_int_equal(access(path_of("machine/registry.d/MyPerf.reg"), F_OK), -1);
    }
    assert_int_equal(load_library("my.ini"), ERROR_SUCCESS);
    file_steps = real_steps;
    assert_loaded("MyPerf", 1848, 1852);
}

/* The name must stay the same in later versions, which write to the same file. */
static void the_file_of_a_long_service_name(void **state)
{
    char service[211];
    memset(service, 'S', 210);
    service[210] = '\0';
    FREE_AUTO char *head =
        text_format("[info]\ndrivername=%s\nsymbolfile=my.h\n[languages]\n009=English\n", service);
    FREE_AUTO char *file =
        text_format("%s/machine/registry.d/%.200s%%599cf4277de86160.reg", test_root, service);
    put_ini(head, ini_texts);
    assert_int_equal(load_library("my.ini"), ERROR_SUCCESS);
    assert_int_equal(access(file, F_OK), 0);
}

/* If the service's registry file is cut off anywhere, the service is still loaded, or can be loaded
 * again. */
static void a_torn_file_loads_again(void **state)
{
    BUFFER_AUTO whole = {0};
    put_ini(ini_head, ini_texts);
    assert_int_equal(load_library("my.ini"), ERROR_SUCCESS);
    assert_int_equal(file_read(AT_FDCWD, path_of("machine/registry.d/MyPerf.reg"), &whole), 0);
    for (size_t size = 0; size < whole.len; size += 13) {
        put_bytes("machine/registry.d/MyPerf.reg", whole.data, size);
        store_refresh_all();
        assert_int_equal(load_library("my.ini"), ERROR_SUCCESS);
        assert_loaded("MyPerf", 1848, 1852);
        if (!result.already)
            assert_name(1852, 9, "Second");
        assert_int_equal(unload("MyPerf"), ERROR_SUCCESS);
        assert_last(1846);
    }
}

/* ---- other values of the registration ---- */

/* A file that begins like this program, but with another file type or machine, is refused. */
static void a_program_for_another_machine_is_no_library(void **state)
{
    enum { HEAD = 64 };
    static const size_t fields[] = {16, 18}; /* offsets of the kind of file and of the machine */
    BUFFER_AUTO program = {0};
    opl_load_options options = options_of();
    assert_int_equal(file_read(AT_FDCWD, "/proc/self/exe", &program), 0);
    put_bytes("lib.so", program.data, HEAD);
    assert_int_equal(opl_load_library_check(path_of("lib.so"), &options), ERROR_SUCCESS);
    for (size_t i = 0; i < COUNT(fields); i++) {
        program.data[fields[i]] ^= 1;
        put_bytes("lib.so", program.data, HEAD);
        assert_int_equal(opl_load_library_check(path_of("lib.so"), &options), ERROR_BAD_EXE_FORMAT);
        program.data[fields[i]] ^= 1;
    }
}

static void trusted_writes_the_librarys_time_and_size(void **state)
{
    struct timespec times[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
    BUFFER_AUTO code = {0};
    uint32_t type;
    opl_load_options options = options_of();
    put("lib.so", "12345");
    utimensat(AT_FDCWD, path_of("lib.so"), times, 0);
    put_ini("[info]\ndrivername=MyPerf\nsymbolfile=my.h\ntrusted=\n[languages]\n009=\n", ini_texts);
    FREE_AUTO char *library = strdup(path_of("lib.so"));
    options.library = library;
    assert_int_equal(load_with("my.ini", options), ERROR_SUCCESS);
    assert_int_equal(registry_get(PERFORMANCE_KEY, "Library Validation Code", &type, &code), 0);
    assert_int_equal(type, REG_BINARY);
    /* 2001-09-09 01:46:40 as FILETIME, then 5, the file's size */
    assert_int_equal(code.len, 16);
    assert_memory_equal(code.data, "\x00\x80\xff\x44\xd1\x38\xc1\x01\x05\0\0\0\0\0\0\0", 16);
    assert_int_equal(unload("MyPerf"), ERROR_SUCCESS);
    assert_int_equal(registry_get(PERFORMANCE_KEY, "Library Validation Code", &type, &code),
                     ERROR_FILE_NOT_FOUND);
}

static void an_ini_file_names_the_functions(void **state)
{
    opl_load_options options = options_of();
    options.library = LIBRARY_PATH;
    options.close = "CloseByOption";
    options.dry_run = true;
    put_ini("[info]\ndrivername=MyPerf\nsymbolfile=my.h\nOpen=OpenMine\nclose=CloseMine\n"
            "[languages]\n009=\n",
            ini_texts);
    assert_int_equal(load_with("my.ini", options), ERROR_SUCCESS);
    assert_non_null(strstr(written.data, "\"Open\"=\"OpenMine\""));
    assert_non_null(strstr(written.data, "\"Collect\"=\"Collect\""));
    assert_non_null(strstr(written.data, "\"Close\"=\"CloseByOption\""));
}

static void a_dry_run_shows_and_writes_nothing(void **state)
{
    opl_load_options options = options_of();
    options.dry_run = true;
    options.library = LIBRARY_PATH;
    put_ini(ini_head, ini_texts);
    assert_int_equal(load_with("my.ini", options), ERROR_SUCCESS);
    assert_int_equal(result.first_counter, 1848);
    assert_non_null(strstr(written.data, "\"1852\"=\"Second\""));
    assert_int_equal(access(path_of("machine"), F_OK), -1);
    assert_int_equal(access(path_of("events"), F_OK), -1);
}

/* Other lines of the service's file, comments and damaged lines included, are kept. */
static void third_parties_lines_stay(void **state)
{
    put("machine/registry.d/MyPerf.reg",
        HEADER "; mine\n[" PERFORMANCE_KEY "]\n\"Library\"=\"x\"\n"
               "\"Open Timeout\"=dword:00000005\nrubbish\n"
               "[HKEY_LOCAL_MACHINE\\SOFTWARE\\Other]\n\"a\"=\"b\"\n");
    put_ini(ini_head, ini_texts);
    assert_int_equal(load("my.ini"), ERROR_SUCCESS);
    assert_int_equal(unload("MyPerf"), ERROR_SUCCESS);
    assert_text(PERFORMANCE_KEY, "Library", "x");
    assert_int_equal(number_of("MyPerf", "Open Timeout"), 5);
    assert_text("HKEY_LOCAL_MACHINE\\SOFTWARE\\Other", "a", "b");
    assert_file_has("machine/registry.d/MyPerf.reg", "; mine\n");
    assert_file_has("machine/registry.d/MyPerf.reg", "; damaged (");
    assert_file_has("machine/registry.d/MyPerf.reg", "rubbish");
}

static void odd_names_of_services(void **state)
{
    static const char *const names[] = {"a/b", ".hidden", "manual", "100%", "Überwachung", "x y"};
    for (size_t i = 0; i < COUNT(names); i++) {
        BUFFER_AUTO text = {0};
        buffer_printf(&text, "[info]\ndrivername=%s\nsymbolfile=my.h\n[languages]\n009=\n%s",
                      names[i], ini_texts);
        put("my.h", symbols_text);
        put("my.ini", text.data);
        assert_int_equal(load_library("my.ini"), ERROR_SUCCESS);
        assert_loaded(names[i], 1848 + 6 * (uint32_t)i, 1852 + 6 * (uint32_t)i);
    }
    for (size_t i = 0; i < COUNT(names); i++)
        assert_int_equal(unload(names[i]), ERROR_SUCCESS);
    assert_last(1846);
}

static int free_all(void **state)
{
    buffer_done(&remarks);
    buffer_done(&written);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOAD_TEST(c100_c102_first_is_l_plus_2),
        LOAD_TEST(c103_loading_twice_changes_nothing),
        LOAD_TEST(a_missing_service_is_error_2),
        LOAD_TEST(c62_a_record_by_hand_stays_by_hand),
        LOAD_TEST(a_record_among_many_is_found),
        LOAD_TEST(a_deleted_service_can_come_again),
        LOAD_TEST(deleted_values_do_not_hide_the_new_ones),
        LOAD_TEST(c82_every_installed_language_has_every_index),
        LOAD_TEST(a_single_text_fills_english),
        LOAD_TEST(c96_ranges_do_not_overlap),
        LOAD_TEST(texts_by_hand_are_in_use),
        LOAD_TEST(the_packaged_block_is_never_given),
        LOAD_TEST(ranges_of_files_edited_in_place_count),
        LOAD_TEST(f_b5_objects_listed_by_hand_are_not_given_to_another),
        LOAD_TEST(a_list_by_hand_with_anothers_object_is_refused),
        LOAD_TEST(a_damaged_cache_costs_nothing_but_time),
        LOAD_TEST(two_at_once_both_succeed),
        LOAD_TEST(a_killed_one_leaves_all_or_nothing),
        LOAD_TEST(users_begin_at_a_million),
        LOAD_TEST(what_a_user_says_cannot_be_written_over),
        LOAD_TEST(no_rights_are_error_5),
        LOAD_TEST(a_full_disk_changes_nothing),
        LOAD_TEST(the_file_of_a_long_service_name),
        LOAD_TEST(a_torn_file_loads_again),
        LOAD_TEST(a_program_for_another_machine_is_no_library),
        LOAD_TEST(trusted_writes_the_librarys_time_and_size),
        LOAD_TEST(an_ini_file_names_the_functions),
        LOAD_TEST(a_dry_run_shows_and_writes_nothing),
        LOAD_TEST(third_parties_lines_stay),
        LOAD_TEST(odd_names_of_services),
    };
    return cmocka_run_group_tests(tests, NULL, free_all);
}
