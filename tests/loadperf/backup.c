/* SPDX-License-Identifier: MIT */
/* All registrations are saved to a backup file and restored: on a machine with 60 providers in 5
 * languages, the registry then gives every answer as before, whatever has happened since the
 * backup. Also: backups of other machines, full disks, killed programs, incomplete files. */
#include "machine.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <utime.h>

enum { PROVIDERS = 60 };

/* ---- saving and restoring ---- */

static opl_load_restored restored;

static DWORD save(const char *file)
{
    opl_load_options options = options_of();
    return opl_load_backup(path_of(file), "made by a test\non two lines", &options, &restored);
}

static DWORD restore(const char *file)
{
    char path[256];
    opl_load_options options = options_of();
    snprintf(path, sizeof path, "%s", path_of(file));
    restored = (opl_load_restored){0};
    return opl_load_restore(path, NULL, &options, &restored);
}

static void unload_all(int count)
{
    char name[64];
    for (int i = 0; i < count; i++) {
        snprintf(name, sizeof name, "Svc %d", i);
        assert_int_equal(unload(name), ERROR_SUCCESS);
    }
}

/* docs/windows/articles.md#c62, docs/windows/registration.md#e5: on a machine with 60 providers in
 * 5 languages, saving and restoring changes no answer. */
static void saving_and_restoring_is_the_identity(void **state)
{
    BUFFER_AUTO before = {0};
    make_machine(PROVIDERS);
    take_snapshot(&before);
    assert_int_equal(save("all.ini"), ERROR_SUCCESS);
    assert_int_equal(restored.providers, PROVIDERS);
    assert_int_equal(restored.languages, COUNT(languages));
    BUFFER_AUTO text = {0}, file = {0};
    bool raw;
    assert_int_equal(file_read(AT_FDCWD, path_of("all.ini"), &file), ERROR_SUCCESS);
    assert_int_equal(decode_file(file.data, file.len, &text, &raw), ERROR_SUCCESS);
    assert_non_null(strstr(text.data, "; made by a test\r\n; on two lines\r\n["));
    assert_int_equal(restore("all.ini"), ERROR_SUCCESS);
    assert_int_equal(restored.restored, 0);
    assert_int_equal(restored.same, PROVIDERS);
    assert_same(&before);
    unload_all(PROVIDERS);
    assert_false(same_snapshot(&before));
    assert_int_equal(restore("all.ini"), ERROR_SUCCESS);
    assert_int_equal(restored.restored, PROVIDERS);
    assert_same(&before);
    assert_int_equal(restore("all.ini"), ERROR_SUCCESS);
    assert_int_equal(restored.restored, 0);
    unload_all(PROVIDERS); /* restored services can be removed like any others */
    assert_not_loaded("Svc 59");
}

static void numbers_come_back(void **state)
{
    BUFFER_AUTO before = {0};
    enum { SOME = 12 };
    make_machine(SOME);
    take_snapshot(&before);
    assert_int_equal(save("all.ini"), ERROR_SUCCESS);
    unload_all(SOME);
    for (int i = SOME; i--;)
        load_provider(i);
    assert_int_not_equal(number_of("Svc 0", "First Counter"), 1848);
    assert_int_equal(restore("all.ini"), ERROR_SUCCESS);
    assert_same(&before);
    assert_int_equal(restored.moved, 0);
}

/* A service is registered for the machine, but has numbers from the range for users' registrations
 * (from 1000000 on). It is saved, restored and rebuilt like the machine's other services. */
static void numbers_of_users_in_the_machines_layer(void **state)
{
    BUFFER_AUTO before = {0};
    opl_load_options user = options_of();
    user.user = true;
    user.library = LIBRARY_PATH;
    put_ini(ini_head, ini_texts);
    put_service_ini("B");
    put_service_ini("C");
    assert_int_equal(load_with("my.ini", user), ERROR_SUCCESS);
    move_registration("MyPerf", false);
    assert_int_equal(load_library("B.ini"), ERROR_SUCCESS);
    take_snapshot(&before);
    user = options_of();
    user.user = true;
    assert_int_equal(opl_load_backup(path_of("user.ini"), NULL, &user, &restored), ERROR_SUCCESS);
    assert_int_equal(restored.providers, 0);
    assert_int_equal(save("all.ini"), ERROR_SUCCESS);
    assert_int_equal(restored.providers, 2);
    registry_delete_tree(LAYER_MACHINE, PERFORMANCE_KEY "\\Names");
    assert_int_equal(restore("all.ini"), ERROR_SUCCESS);
    assert_int_equal(restored.restored, 1);
    assert_same(&before);
    registry_delete_tree(LAYER_MACHINE, PERFORMANCE_KEY "\\Names");
    opl_load_options machine = options_of();
    assert_int_equal(opl_load_restore(NULL, NULL, &machine, &restored), ERROR_SUCCESS);
    assert_same(&before);
    assert_int_equal(unload("B"), ERROR_SUCCESS);
    assert_int_equal(load_library("C.ini"), ERROR_SUCCESS);
    assert_int_equal(restore("all.ini"), ERROR_SUCCESS);
    assert_loaded("B", 1854, 1858); /* because C has B's old numbers */
    registry_delete_tree(LAYER_MACHINE, SERVICE_KEY);
    store_forget();
    assert_int_equal(restore("all.ini"), ERROR_SUCCESS);
    assert_remark("MyPerf: its numbers 1000000 to 1000005 are outside of the range that it may "
                  "have here; it gets 1860 to 1865");
}

static void all_that_was_lost_comes_back(void **state)
{
    BUFFER_AUTO before = {0};
    char path[256];
    make_machine(10);
    take_snapshot(&before);
    assert_int_equal(save("all.ini"), ERROR_SUCCESS);
    snprintf(path, sizeof path, "%s", path_of("machine"));
    temp_remove(path);
    assert_int_equal(restore("all.ini"), ERROR_SUCCESS);
    assert_int_equal(restored.restored, 10);
    assert_same(&before);
}

static void damage_is_undone(void **state)
{
    BUFFER_AUTO before = {0};
    uint32_t number = 5;
    const char *key = REGISTRY_SERVICES "\\Svc 3\\Performance";
    static const char by_hand[] = "2\0Dings\0003000\0Later\0";
    make_machine(10);
    take_snapshot(&before);
    assert_int_equal(save("all.ini"), ERROR_SUCCESS);
    registry_set(LAYER_MACHINE, key, "Last Counter", REG_DWORD, &number, sizeof number);
    registry_delete_value(LAYER_MACHINE, key, "Object List");
    registry_delete_tree(LAYER_MACHINE, REGISTRY_SERVICES "\\Svc 7\\Performance\\Names\\007");
    registry_delete_tree(LAYER_MACHINE, REGISTRY_SERVICES "\\Svc 5\\Performance\\Names");
    registry_set(LAYER_MACHINE, REGISTRY_SERVICES "\\Svc 6\\Performance\\Names\\009", "4000",
                 REG_SZ, "Orphan", 7);
    opl_load_options options = options_of();
    opl_load_enable("Svc 0", true, &options);
    opl_load_enable("Svc 1", false, &options);
    assert_false(same_snapshot(&before));
    assert_int_equal(restore("all.ini"), ERROR_SUCCESS);
    assert_same(&before);
    assert_int_equal(restored.restored, 6);
    names_store(NAMES_COUNTER, 9, by_hand, sizeof by_hand);
    assert_int_equal(restore("all.ini"), ERROR_SUCCESS);
    /* the name that a program changed to "Dings" is restored; one that it added stays */
    assert_name(2, 9, "System");
    assert_name(3000, 9, "Later");
}

static void texts_by_hand_come_back(void **state)
{
    static const char helps[] = "3\0Written by hand.\0003001\0Later.\0";
    static const char german[] = "2\0Anlage\0", other[] = "3\0Another.\0";
    opl_load_options options = options_of();
    BUFFER_AUTO before = {0};
    struct stat files[2];
    make_machine(2);
    assert_int_equal(names_store(NAMES_HELP, 9, helps, sizeof helps), ERROR_SUCCESS);
    assert_int_equal(names_store(NAMES_COUNTER, 7, german, sizeof german), ERROR_SUCCESS);
    take_snapshot(&before);
    assert_int_equal(save("all.ini"), ERROR_SUCCESS);
    registry_delete_tree(LAYER_MACHINE, REGISTRY_PERFLIB "\\009\\Manual");
    registry_delete_tree(LAYER_MACHINE, REGISTRY_PERFLIB "\\007\\Manual");
    assert_int_equal(restore("all.ini"), ERROR_SUCCESS);
    assert_name(3, 9, "Written by hand.");
    assert_name(3001, 9, "Later.");
    assert_same(&before);
    /* nothing is lost, so nothing is written */
    assert_int_equal(stat(path_of("machine/registry.d/manual.reg"), &files[0]), 0);
    assert_int_equal(restore("all.ini"), ERROR_SUCCESS);
    assert_int_equal(stat(path_of("machine/registry.d/manual.reg"), &files[1]), 0);
    assert_int_equal(files[0].st_ino, files[1].st_ino);
    /* restores one language: texts of the other language stay as they are */
    assert_int_equal(names_store(NAMES_HELP, 9, other, sizeof other), ERROR_SUCCESS);
    registry_delete_tree(LAYER_MACHINE, REGISTRY_PERFLIB "\\007\\Manual");
    FREE_AUTO char *path = strdup(path_of("all.ini"));
    assert_int_equal(opl_load_restore(path, "007", &options, &restored), ERROR_SUCCESS);
    assert_name(2, 7, "Anlage");
    assert_name(3, 9, "Another.");
}

/* A text with a line end, which the backup's format cannot hold, is not changed by restoring. */
static void line_ends_stay(void **state)
{
    BUFFER_AUTO before = {0};
    put_ini(ini_head, ini_texts);
    assert_int_equal(load_library("my.ini"), ERROR_SUCCESS);
    registry_set(LAYER_MACHINE, PERFORMANCE_KEY "\\Names\\009", "1849", REG_SZ, "two\nlines", 10);
    take_snapshot(&before);
    assert_int_equal(save("all.ini"), ERROR_SUCCESS);
    assert_remark("has line breaks");
    assert_int_equal(restore("all.ini"), ERROR_SUCCESS);
    assert_int_equal(restored.restored, 0);
    assert_same(&before);
}

/* ---- other machines ---- */

static const char by_hand_after_e5[] =
    "[Perflib]\nBase Index=1847\nLast Counter=1852\nLast Help=1853\n"
    "[PERF_MyPerf]\nFirst Counter=1848\nFirst Help=1849\nLast Counter=1852\nLast Help=1853\n"
    "[PERF_Absent]\nFirst Counter=1854\nFirst Help=1855\nLast Counter=1856\nLast Help=1857\n"
    "[PerfStrings_009]\n2=Other\n1848=Mine\n1849=My object.\n1850=First\n1851=My first.\n"
    "1852=Zweiter \xc3\xa4\n1853=My second.\n1854=Not here\n";

static void a_file_made_by_hand_loads(void **state)
{
    BUFFER_AUTO wide = {0};
    put_ini(ini_head, ini_texts);
    assert_int_equal(load_library("my.ini"), ERROR_SUCCESS);
    assert_int_equal(unload("MyPerf"), ERROR_SUCCESS);
    buffer_add(&wide, "\xff\xfe", 2);
    utf8_add_as_16(&wide, by_hand_after_e5, strlen(by_hand_after_e5));
    put_bytes("wide.ini", wide.data, wide.len);
    put("narrow.ini", by_hand_after_e5);
    assert_int_equal(restore("wide.ini"), ERROR_SUCCESS);
    assert_loaded("MyPerf", 1848, 1852);
    assert_name(1852, 9, "Zweiter \xc3\xa4");
    /* the text that ships with openperflib, not "Other" of the backup */
    assert_name(2, 9, "System");
    assert_name(1854, 9, NULL);
    assert_remark("Absent was not changed: there is no such service here");
    assert_int_equal(restore("narrow.ini"), ERROR_SUCCESS);
    assert_int_equal(restored.restored, 0);
    assert_int_equal(restored.left, 1);
}

static void put_backup(const char *file, const char *sections)
{
    BUFFER_AUTO text = {0};
    buffer_printf(&text, "[Perflib]\nBase Index=1847\n%s", sections);
    put(file, text.data);
}

/* An existing service keeps its numbers. A restored service whose numbers are in use gets new ones,
 * with its texts. */
static void installed_providers_are_never_broken(void **state)
{
    put_service_ini("A");
    put_service_ini("MyPerf");
    put_service_ini("Z");
    assert_int_equal(load_library("A.ini"), ERROR_SUCCESS);      /* numbers 1848 to 1853 */
    assert_int_equal(load_library("MyPerf.ini"), ERROR_SUCCESS); /* numbers from 1854 */
    assert_int_equal(load_library("Z.ini"), ERROR_SUCCESS);      /* numbers from 1860 */
    assert_int_equal(unload("Z"), ERROR_SUCCESS);
    put_backup("other.ini",
               "[PERF_MyPerf]\nFirst Counter=1850\nFirst Help=1851\nLast Counter=1854\n"
               "Last Help=1855\nObject List=1850\n"
               "[PERF_Z]\nFirst Counter=1846\nFirst Help=1847\nLast Counter=1850\nLast Help=1851\n"
               "[PerfStrings_009]\n1850=Renamed\n1852=First\n1854=Second\n");
    assert_int_equal(restore("other.ini"), ERROR_SUCCESS);
    assert_remark("MyPerf: its numbers 1850 to 1855 are already used by other providers; it keeps "
                  "1854 to 1859");
    assert_remark("Z was not changed: these numbers are reserved for the system");
    assert_int_equal(restored.moved, 1);
    assert_loaded("A", 1848, 1852);
    assert_loaded("MyPerf", 1854, 1858);
    assert_text(PERFORMANCE_KEY, "Object List", "1854");
    assert_name(1854, 9, "Renamed");
    assert_name(1855, 9, "My object.");
    assert_name(1848, 9, "Mine");
    put_backup("z.ini", "[PERF_Z]\nFirst Counter=1848\nFirst Help=1849\nLast Counter=1852\n"
                        "Last Help=1853\n[PerfStrings_009]\n1848=Zett\n1850=One\n1852=Two\n");
    assert_int_equal(restore("z.ini"), ERROR_SUCCESS);
    assert_remark("it gets 1860 to 1865");
    assert_loaded("Z", 1860, 1864);
    assert_name(1860, 9, "Zett");
    assert_int_equal(restored.moved, 1);
    assert_int_equal(restored.restored, 1);
    assert_int_equal(restored.texts, 6); /* the explanations, which are empty, are counted, too */
    assert_int_equal(restore("z.ini"), ERROR_SUCCESS);
    assert_int_equal(restored.same, 1);
    put_backup("version.ini", "[PERF_Z]\nFirst Counter=1860\nFirst Help=1861\nLast Counter=1862\n"
                              "Last Help=1863\n[PerfStrings_009]\n1860=Old\n1862=Old one\n");
    assert_int_equal(restore("version.ini"), ERROR_SUCCESS);
    assert_remark("another version of it, with other counters, is loaded here");
    assert_loaded("Z", 1860, 1864);
    assert_name(1862, 9, "One");
}

static void what_is_no_backup(void **state)
{
    assert_int_equal(restore("missing.ini"), ERROR_FILE_NOT_FOUND);
    put("other.ini", "[boot]\nshell=x\n");
    assert_int_equal(restore("other.ini"), ERROR_INVALID_DATA);
    assert_remark("is not a backup");
    put_backup("mad.ini",
               "[PERF_A]\nFirst Counter=x\n[PERF_B]\nFirst Counter=1849\nFirst Help=1\n"
               "Last Counter=1849\nLast Help=4294967295\n[PERF_C]\nFirst Counter=9\n"
               "Last Counter=4294967294\nFirst Help=10\nLast Help=4294967295\n"
               "[PerfStrings_xyz]\n1=2\n3=4\n[PerfStrings_009]\nno line\n99999999999=x\n");
    assert_int_equal(restore("mad.ini"), ERROR_SUCCESS);
    const char *of_section = "\"xyz\" is not a language id";
    assert_remark(of_section);
    /* one remark for both lines */
    assert_null(strstr(strstr(remarks.data, of_section) + 1, of_section));
    assert_int_equal(restored.left, 3);
    opl_load_options options = options_of();
    assert_int_equal(opl_load_restore("", NULL, &options, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(opl_load_restore("x", "xyz", &options, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(opl_load_backup(NULL, NULL, &options, NULL), ERROR_INVALID_PARAMETER);
    assert_int_equal(opl_load_backup("/nowhere/at/all", NULL, &options, NULL),
                     ERROR_FILE_NOT_FOUND);
}

/* ---- full disks and killed programs ---- */

static struct file_steps real_steps;
/* mode 1: the disk gets full at the last step; 2: the process is killed there */
static int steps_left, mode;

static bool step_fails(void)
{
    bool last = steps_left && --steps_left == 0;
    if (last && mode == 2)
        _exit(9);
    errno = ENOSPC;
    return last;
}

static ssize_t bad_write(int fd, const void *data, size_t size)
{
    if (steps_left == 1 && mode == 2) /* the killed process had written half of the data */
        real_steps.write(fd, data, size / 2);
    return step_fails() ? -1 : real_steps.write(fd, data, size);
}

static int bad_sync(int fd)
{
    return step_fails() ? -1 : real_steps.sync(fd);
}

static int bad_rename(int old_dir, const char *old_path, int new_dir, const char *new_path)
{
    return step_fails() ? -1 : real_steps.rename(old_dir, old_path, new_dir, new_path);
}

static DWORD restore_badly(int step)
{
    steps_left = step;
    file_steps.write = bad_write;
    file_steps.sync = bad_sync;
    file_steps.rename = bad_rename;
    DWORD status = restore("all.ini");
    steps_left = 0;
    file_steps = real_steps;
    return status;
}

static void a_full_disk_loses_nothing(void **state)
{
    BUFFER_AUTO before = {0}, unloaded = {0};
    real_steps = file_steps;
    make_machine(5);
    take_snapshot(&before);
    assert_int_equal(save("all.ini"), ERROR_SUCCESS);
    unload_all(5);
    take_snapshot(&unloaded);
    mode = 1;
    for (int step = 1; step <= 3; step++) {
        assert_int_equal(restore_badly(step), ERROR_DISK_FULL);
        assert_same(&unloaded);
    }
    assert_int_equal(restore_badly(0), ERROR_SUCCESS);
    assert_same(&before);
    steps_left = 1;
    file_steps.write = bad_write;
    assert_int_equal(save("all.ini"), ERROR_DISK_FULL);
    file_steps = real_steps;
    assert_int_equal(restore("all.ini"), ERROR_SUCCESS); /* the old backup is complete */
}

static void a_kill_leaves_all_or_nothing(void **state)
{
    BUFFER_AUTO before = {0}, unloaded = {0};
    int finished = 0, status;
    real_steps = file_steps;
    make_machine(5);
    take_snapshot(&before);
    assert_int_equal(save("all.ini"), ERROR_SUCCESS);
    unload_all(5);
    take_snapshot(&unloaded);
    mode = 2;
    for (int step = 1; step < 8 && !finished; step++) {
        pid_t child = fork();
        if (!child)
            _exit(restore_badly(step) == ERROR_SUCCESS ? 0 : 1);
        assert_int_equal(waitpid(child, &status, 0), child);
        finished = WEXITSTATUS(status) == 0;
        if (!same_snapshot(&before))
            assert_same(&unloaded);
    }
    assert_true(finished);
    assert_same(&before);
}

/* A backup file that is cut off anywhere is refused and changes nothing. One exception: if only
 * line ends at its end are missing, it is accepted as complete. */
static void a_torn_backup_is_refused(void **state)
{
    BUFFER_AUTO whole = {0}, before = {0};
    make_machine(2);
    assert_int_equal(save("all.ini"), ERROR_SUCCESS);
    assert_int_equal(file_read(AT_FDCWD, path_of("all.ini"), &whole), ERROR_SUCCESS);
    take_snapshot(&before);
    for (size_t size = 0; size + 5 < whole.len; size += size < 400 ? 2 : 38) {
        put_bytes("torn.ini", whole.data, size);
        DWORD status = restore("torn.ini");
        if (status)
            assert_int_equal(status, ERROR_INVALID_DATA);
        assert_int_equal(restored.restored, 0);
        assert_same(&before);
    }
    assert_int_equal(restore("torn.ini"), ERROR_INVALID_DATA);
    assert_remark("is incomplete: it has only");
}

/* ---- rebuilding, trust, base names ---- */

static void rebuilding_reads_the_ini_files_again(void **state)
{
    BUFFER_AUTO before = {0};
    opl_load_options options = options_of();
    make_machine(8);
    take_snapshot(&before);
    assert_int_equal(opl_load_restore(NULL, NULL, &options, &restored), ERROR_SUCCESS);
    assert_int_equal(restored.restored, 0);
    assert_int_equal(restored.same, 8);
    assert_int_equal(restored.providers, 8);
    assert_same(&before);
    registry_delete_tree(LAYER_MACHINE, REGISTRY_SERVICES "\\Svc 5\\Performance\\Names");
    registry_delete_value(LAYER_MACHINE, REGISTRY_SERVICES "\\Svc 6\\Performance", "Last Help");
    registry_delete_value(LAYER_MACHINE, REGISTRY_SERVICES "\\Svc 7\\Performance", "First Counter");
    registry_set(LAYER_MACHINE, REGISTRY_SERVICES "\\Svc 4\\Performance\\Names\\009", "1888",
                 REG_SZ, "Nonsense", 9);
    assert_false(same_snapshot(&before));
    options = options_of();
    assert_int_equal(opl_load_restore(NULL, NULL, &options, &restored), ERROR_SUCCESS);
    assert_same(&before);
    unlink(path_of("s2.ini"));
    assert_int_equal(opl_load_restore(NULL, NULL, &options, &restored), ERROR_SUCCESS);
    assert_remark("Svc 2 was loaded from this file, which is gone");
    assert_int_equal(restored.left, 1);
    assert_int_equal(restored.same, 7);
    assert_int_equal(restored.providers, 8);
    assert_same(&before);
}

static void a_library_is_trusted_as_it_is(void **state)
{
    BUFFER_AUTO code = {0};
    uint32_t type;
    opl_load_options options = options_of();
    put("my.so", "12345");
    utime(path_of("my.so"), &(struct utimbuf){.modtime = 1000000000});
    put_ini(ini_head, ini_texts);
    options.library = path_of("my.so");
    FREE_AUTO char *library = strdup(options.library);
    options.library = library;
    assert_int_equal(load_with("my.ini", options), ERROR_SUCCESS);
    assert_int_equal(opl_load_trust("MyPerf", &options), ERROR_SUCCESS);
    assert_int_equal(registry_get(PERFORMANCE_KEY, "Library Validation Code", &type, &code), 0);
    assert_int_equal(type, REG_BINARY);
    assert_memory_equal(code.data, "\0\x80\xff\x44\xd1\x38\xc1\x01\5\0\0\0\0\0\0\0", 16);
    unlink(path_of("my.so"));
    assert_int_equal(opl_load_trust("MyPerf", &options), ERROR_FILE_NOT_FOUND);
    assert_int_equal(opl_load_trust("Absent", &options), ERROR_FILE_NOT_FOUND);
    assert_int_equal(opl_load_trust("", &options), ERROR_INVALID_PARAMETER);
}

static void base_texts_are_replaced(void **state)
{
    BUFFER_AUTO wide = {0};
    char names[256], helps[256];
    static const char pairs[] = "1\0001847\0002\0Anlage\0";
    opl_load_options options = options_of();
    snprintf(names, sizeof names, "%s", path_of("names.dat"));
    snprintf(helps, sizeof helps, "%s", path_of("helps.dat"));
    utf8_add_as_16(&wide, pairs, sizeof pairs);
    BUFFER_AUTO marked = {0};
    buffer_add(&marked, "\xff\xfe", 2);
    buffer_add(&marked, wide.data, wide.len);
    put_bytes("names.dat", marked.data, marked.len);
    put("helps.dat", "3\nWhat it is.\n");
    assert_int_equal(install_language("007"), ERROR_SUCCESS);
    assert_int_equal(opl_load_replace(names, helps, "007", &options), ERROR_SUCCESS);
    assert_name(2, 7, "Anlage");
    assert_name(3, 7, "What it is.");
    assert_int_equal(opl_load_replace(names, NULL, "0007", &options), ERROR_SUCCESS);
    assert_int_equal(opl_load_replace(names, NULL, "00007", &options), ERROR_INVALID_PARAMETER);
    assert_name(1846, 7, "End Marker");
    assert_name(2, 9, "System");
    assert_int_equal(opl_load_replace(helps, NULL, "007", &options), ERROR_INVALID_DATA);
    assert_int_equal(opl_load_replace(names, NULL, "00A", &options), ERROR_INVALID_PARAMETER);
    assert_int_equal(opl_load_replace(NULL, NULL, "007", &options), ERROR_INVALID_PARAMETER);
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
        LOAD_TEST(saving_and_restoring_is_the_identity),
        LOAD_TEST(numbers_come_back),
        LOAD_TEST(numbers_of_users_in_the_machines_layer),
        LOAD_TEST(all_that_was_lost_comes_back),
        LOAD_TEST(damage_is_undone),
        LOAD_TEST(texts_by_hand_come_back),
        LOAD_TEST(line_ends_stay),
        LOAD_TEST(a_file_made_by_hand_loads),
        LOAD_TEST(installed_providers_are_never_broken),
        LOAD_TEST(what_is_no_backup),
        LOAD_TEST(a_full_disk_loses_nothing),
        LOAD_TEST(a_kill_leaves_all_or_nothing),
        LOAD_TEST(a_torn_backup_is_refused),
        LOAD_TEST(rebuilding_reads_the_ini_files_again),
        LOAD_TEST(a_library_is_trusted_as_it_is),
        LOAD_TEST(base_texts_are_replaced),
    };
    return cmocka_run_group_tests(tests, NULL, free_all);
}
