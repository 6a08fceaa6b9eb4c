/* SPDX-License-Identifier: MIT */
/*
 * Each process writes compiled lists of names for later processes. They must not change any answer,
 * whether they are current, stale, damaged, of another user, or cannot be written. If another
 * program changes the source files without knowing the lists, the lists are not used.
 */
#include "test.h"

#include <errno.h>
#include <sys/resource.h>
#include <time.h>

#define ENGLISH_LIST "machine/names.009" REGISTRY_INDEX_ENDING
#define GERMAN_LIST "machine/names.007" REGISTRY_INDEX_ENDING
#define HELP_LIST "machine/explanations.009" REGISTRY_INDEX_ENDING
#define INDEX "machine/registry" REGISTRY_INDEX_ENDING
#define FILE_OF_A "machine/registry.d/A-009.reg"

static void age(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 70000000}, NULL);
}

/* Forgets everything in memory, so that the next call works as in a new process. */
static void begin_process(void)
{
    names_forget();
    store_forget();
}

static bool is_there(const char *file)
{
    return access(path_of(file), F_OK) == 0;
}

/* Checks the names of the indices 900000 and 4, both by index and by name, and an explanation. */
static void assert_answers(const char *name, const char *german, const char *help)
{
    assert_name(900000, 9, name);
    assert_name(900000, 7, german);
    assert_name(900001, 9, help);
    assert_name(4, 7, "Speicher");
    assert_name(6, 7, "Six");
    assert_int_equal(names_find(name, 9), 900000);
    assert_int_equal(names_find(german, 7), 900000);
    assert_int_equal(names_find("MEMORY", 9), 4);
    assert_int_equal(names_find("Memory", 7), 0);
    assert_int_equal(names_find("900000", 9), 0);
    assert_name(900002, 9, NULL);
}

static void put_sources(void)
{
    put("vendor/data/names/009.names", "1\t1847\n4\tMemory\n6\tSix\n");
    put("vendor/data/names/007.names", "4\tSpeicher\n");
    put_service("A", "009", "\"900000\"=\"Mine\"\n\"900001\"=\"My help\"\n");
    put_service("A", "007", "\"900000\"=\"Meins\"\n");
    age();
    begin_process();
}

static void put_lists(void)
{
    put_sources();
    assert_answers("Mine", "Meins", "My help");
    assert_true(is_there(ENGLISH_LIST) && is_there(GERMAN_LIST) && is_there(HELP_LIST));
    begin_process();
}

static void read_list(const char *file, struct buffer *ret)
{
    assert_int_equal(file_read(AT_FDCWD, path_of(file), ret), ERROR_SUCCESS);
}

/* Changes a text inside a list: a lookup that returns the changed text has used the list. */
static void mark(const char *file)
{
    BUFFER_AUTO bytes = {0};
    read_list(file, &bytes);
    char *text = memmem(bytes.data, bytes.len, "Mine", 4);
    assert_non_null(text);
    memcpy(text, "List", 4);
    derived_seal(bytes.data, bytes.len);
    put_bytes(file, bytes.data, bytes.len);
}

static void assert_used(bool used)
{
    begin_process();
    assert_name(900000, 9, used ? "List" : "Mine");
}

static void a_list_is_used_and_answers_the_same(void **state)
{
    BUFFER_AUTO before = {0}, after = {0};
    put_lists();
    read_list(ENGLISH_LIST, &before);
    assert_answers("Mine", "Meins", "My help");
    read_list(ENGLISH_LIST, &after);
    assert_int_equal(before.len, after.len);
    assert_memory_equal(before.data, after.data, before.len);
    mark(ENGLISH_LIST);
    assert_used(true);
}

static void a_held_list_stays(void **state)
{
    uint32_t number = 0;
    put_lists();
    const struct name_list *list = names_hold(NAMES_COUNTER, 9);
    unlink(path_of(FILE_OF_A));
    assert_name(900000, 9, NULL);
    assert_string_equal(name_list_text(list, 900000), "Mine");
    assert_int_equal(name_list_numbers(list, "mine", &number, 1), 1);
    assert_int_equal(number, 900000);
    name_list_drop(list);
}

/* ---- an older program, or an editor, changes the source files only ---- */

/* Edits a file so that its size and modification time stay the same; only the inode's change time
 * (ctime) differs. */
static void edit(const char *file, const char *from, const char *to)
{
    BUFFER_AUTO text = {0};
    struct stat st;
    read_list(file, &text);
    memcpy(strstr(text.data, from), to, strlen(to));
    assert_int_equal(stat(path_of(file), &st), 0);
    put_bytes(file, text.data, text.len);
    struct timespec times[] = {st.st_atim, st.st_mtim};
    assert_int_equal(utimensat(AT_FDCWD, path_of(file), times, 0), 0);
}

static void edit_a_service(void)
{
    edit(FILE_OF_A, "Mine", "Else");
}

static void replace_a_service(void)
{
    char to[256];
    put("machine/b", HEADER "[" SERVICE("A", "009") "]\n\"900000\"=\"Else\"\n");
    strcpy(to, path_of(FILE_OF_A));
    assert_int_equal(rename(path_of("machine/b"), to), 0);
}

static void add_a_service(void)
{
    put_service("0", "009", "\"900000\"=\"Else\"\n");
}

static void write_by_hand(void)
{
    put("machine/registry.d/manual.reg",
        HEADER "[" REGISTRY_PERFLIB "\\009\\Manual]\n"
               "\"Counter\"=hex(7):39,00,30,00,30,00,30,00,30,00,30,00,00,00,"
               "45,00,6c,00,73,00,65,00,00,00,00,00\n");
}

static void change_the_vendors(void)
{
    edit_a_service();
    put("vendor/data/names/009.names", "4\tMemory\n6\tSix\n");
}

static void write_into_the_users_layer(void)
{
    put("user/registry.d/u.reg",
        HEADER "[" REGISTRY_SERVICES "\\A]\n\"x\"=\"1\"\n[-" SERVICE("A", "009") "]\n[" SERVICE(
            "B", "009") "]\n"
                        "\"900000\"=\"Else\"\n");
}

static void a_stale_list_is_not_used(void **state)
{
    void (*const changes[])(void) = {edit_a_service,     replace_a_service,
                                     add_a_service,      write_by_hand,
                                     change_the_vendors, write_into_the_users_layer};
    for (size_t i = 0; i < COUNT(changes); i++) {
        put_lists();
        mark(ENGLISH_LIST);
        assert_used(true);
        changes[i]();
        begin_process();
        assert_name(900000, 9, "Else");
        assert_int_equal(names_find("Else", 9), 900000);
        assert_int_equal(names_find("List", 9), 0);
        unlink(path_of("machine/registry.d/0-009.reg"));
        unlink(path_of("machine/registry.d/manual.reg"));
        unlink(path_of("user/registry.d/u.reg"));
    }
}

static void the_vendors_names_are_checked_alone(void **state)
{
    put_lists();
    put("vendor/data/names/009.names", "4\tMemory\n6\tSieben\n");
    assert_name(6, 9, "Sieben");
    begin_process();
    age();
    assert_name(6, 9, "Sieben");
}

static void a_running_process_sees_a_change(void **state)
{
    put_lists();
    mark(ENGLISH_LIST);
    assert_used(true);
    replace_a_service();
    assert_name(900000, 9, "Else");
    assert_name(900000, 7, "Meins");
}

static void settings_of_the_user_do_not_matter(void **state)
{
    put("user/registry.d/u.reg", HEADER "[HKEY_CURRENT_USER\\Test]\n\"x\"=\"1\"\n");
    put_lists();
    mark(ENGLISH_LIST);
    assert_used(true);
}

/* ---- damage ---- */

static void a_damaged_list_is_not_used(void **state)
{
    BUFFER_AUTO bytes = {0};
    put_lists();
    read_list(ENGLISH_LIST, &bytes);
    for (size_t size = 0; size < bytes.len; size += 1 + size / 20) {
        put_bytes(ENGLISH_LIST, bytes.data, size);
        assert_used(false);
    }
    for (size_t i = 0; i < bytes.len; i += 1 + i % 3) {
        bytes.data[i] ^= (char)(1 << i % 8);
        put_bytes(ENGLISH_LIST, bytes.data, bytes.len);
        begin_process();
        assert_name(900000, 9, "Mine");
        assert_int_equal(names_find("mine", 9), 900000);
        assert_int_equal(names_find("Memory", 9), 4);
        bytes.data[i] ^= (char)(1 << i % 8);
    }
    put_bytes(ENGLISH_LIST, bytes.data, bytes.len);
    mark(ENGLISH_LIST);
    assert_used(true);
}

enum { MANY = 1500 };

/* Puts a list of many blocks, with the names "name 0" to "name 1499". */
static void put_long_lists(void)
{
    BUFFER_AUTO text = {0};
    for (int i = 0; i < MANY; i++)
        buffer_printf(&text, "\"%d\"=\"name %d\"\n", 800000 + 2 * i, i);
    put_sources();
    put_service("Many", "009", text.data);
    age();
    begin_process();
    assert_name(800000, 9, "name 0");
    begin_process();
}

static void assert_long_answers(void)
{
    for (int i = 0; i < MANY; i += 31) {
        char name[32];
        snprintf(name, sizeof name, "name %d", i);
        assert_name(800000 + 2 * (uint32_t)i, 9, name);
        assert_int_equal(names_find(name, 9), 800000 + 2 * i);
    }
}

/* Checks that each answer of the list is right, unless the list says that it failed. */
static void assert_right_or_failed(const struct name_list *list)
{
    bool failed = false;
    for (int i = 0; i < MANY; i += 31) {
        char name[32];
        uint32_t number = 0;
        snprintf(name, sizeof name, "NAME %d", i);
        size_t count = name_list_numbers(list, name, &number, 1);
        failed |= name_list_failed(list);
        assert_true(failed || (count == 1 && number == 800000 + 2 * (uint32_t)i));
        const char *text = name_list_text(list, number);
        failed |= name_list_failed(list);
        assert_true(failed || !strcmp(text + 5, name + 5));
    }
    assert_true(failed);
}

/* A list is read piece by piece: what is damaged or cut off after it was opened is noticed when it
 * is needed, and the names then come from the files of the registry. */
static void damage_to_an_open_list_is_noticed(void **state)
{
    BUFFER_AUTO bytes = {0};
    put_long_lists();
    read_list(ENGLISH_LIST, &bytes);
    assert_true(bytes.len > 10 * (size_t)REGISTRY_BLOCK);
    for (size_t cut = 0; cut < 2; cut++)
        for (size_t block = 0; block < 9; block++) {
            put_bytes(ENGLISH_LIST, bytes.data, bytes.len);
            begin_process();
            const struct name_list *list = names_hold(NAMES_COUNTER, 9);
            size_t place = bytes.len / 10 * (block + 1);
            bytes.data[place] ^= 1;
            put_bytes(ENGLISH_LIST, bytes.data, cut ? place : bytes.len);
            bytes.data[place] ^= 1;
            assert_right_or_failed(list);
            name_list_drop(list);
            assert_long_answers();
            begin_process();
            assert_long_answers();
        }
}

/* A name is found without reading all of the file. */
static void most_of_a_long_list_is_not_read(void **state)
{
    BUFFER_AUTO bytes = {0};
    put_long_lists();
    read_list(ENGLISH_LIST, &bytes);
    const char *text = memmem(bytes.data, bytes.len, "name 800", 9);
    size_t block = (size_t)(text - bytes.data) / REGISTRY_BLOCK;
    assert_non_null(text);
    memset(bytes.data + block * REGISTRY_BLOCK, 'x', REGISTRY_BLOCK);
    put_bytes(ENGLISH_LIST, bytes.data, bytes.len);
    const struct name_list *list = names_hold(NAMES_COUNTER, 9);
    assert_string_equal(name_list_text(list, 800000), "name 0");
    assert_false(name_list_failed(list));
    assert_string_equal(name_list_text(list, 800000 + 2 * 800), "");
    assert_true(name_list_failed(list));
    name_list_drop(list);
    assert_name(800000 + 2 * 800, 9, "name 800");
}

/* Even if the checksum is correct, no offset in the list may lead outside the list, or in a
 * circle. */
static void crafted_bytes_do_no_harm(void **state)
{
    static const unsigned char values[] = {0, 1, 0x7f, 0x80, 0xff};
    BUFFER_AUTO bytes = {0};
    uint32_t numbers[4];
    put_lists();
    const struct name_list *good = names_hold(NAMES_COUNTER, 9);
    buffer_add(&bytes, name_list_bytes(good)->data, name_list_bytes(good)->len);
    name_list_drop(good);
    for (size_t i = 0; i < bytes.len; i++)
        for (size_t k = 0; k < COUNT(values); k++) {
            BUFFER_AUTO changed = {0};
            buffer_add(&changed, bytes.data, bytes.len);
            changed.data[i] = (char)values[k];
            const struct name_list *list = name_list_of_bytes(&changed);
            for (uint32_t index = 0; list && index < 8; index++)
                name_list_text(list, index);
            if (list)
                name_list_numbers(list, "Memory", numbers, COUNT(numbers));
            name_list_drop(list);
        }
}

static void a_list_of_others_is_not_used(void **state)
{
    static const mode_t modes[] = {0666, 0664, 0646};
    char other[256];
    put_lists();
    mark(ENGLISH_LIST);
    for (size_t i = 0; i < COUNT(modes); i++) {
        assert_int_equal(chmod(path_of(ENGLISH_LIST), modes[i]), 0);
        begin_process();
        assert_name(900000, 9, "Mine");
        mark(ENGLISH_LIST);
    }
    if (geteuid() == 0) {
        assert_used(true);
        assert_int_equal(chown(path_of(ENGLISH_LIST), 12345, 12345), 0);
        assert_used(false);
        mark(ENGLISH_LIST);
    }
    assert_used(true);
    strcpy(other, path_of("list"));
    assert_int_equal(rename(path_of(ENGLISH_LIST), other), 0);
    assert_int_equal(symlink(other, path_of(ENGLISH_LIST)), 0);
    assert_used(false);
}

/* ---- writing ---- */

static void a_full_disk_leaves_nothing(void **state)
{
    ssize_t (*const kept)(int, const void *, size_t) = file_steps.write;
    put_sources();
    assert_int_not_equal(registry_generation(), 0); /* writes the index of the registry */
    file_steps.write = full_disk;
    assert_answers("Mine", "Meins", "My help");
    file_steps.write = kept;
    assert_false(is_there(ENGLISH_LIST));
    assert_false(is_there("machine/.names.009" REGISTRY_INDEX_ENDING ".tmp"));
}

static void a_killed_writer_costs_nothing(void **state)
{
    const struct timespec old[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
    put_sources();
    put("machine/.names.009" REGISTRY_INDEX_ENDING ".tmp", "half");
    assert_answers("Mine", "Meins", "My help");
    assert_false(is_there(ENGLISH_LIST));
    assert_int_equal(
        utimensat(AT_FDCWD, path_of("machine/.names.009" REGISTRY_INDEX_ENDING ".tmp"), old, 0), 0);
    /* the first process removes the old temporary file, the second one writes */
    for (int i = 0; i < 2; i++) {
        begin_process();
        assert_answers("Mine", "Meins", "My help");
    }
    mark(ENGLISH_LIST);
    assert_used(true);
}

static void some_sources_make_no_list(void **state)
{
    put_sources();
    put("vendor/data/names/009.names",
        /* the file is so new that another change could have the same time, so no list is written */
        "4\tMemory\n6\tSix\n");
    assert_answers("Mine", "Meins", "My help");
    assert_false(is_there(ENGLISH_LIST));
    assert_int_equal(chmod(path_of("vendor/data/names/009.names"), 0600), 0);
    age();
    begin_process();
    assert_answers("Mine", "Meins", "My help");
    /* other users may not read the source file, so its texts are not copied to a list that they may
     * read */
    assert_false(is_there(ENGLISH_LIST));
    assert_int_equal(chmod(path_of("vendor/data/names/009.names"), 0644), 0);
    put_lists();
    assert_int_equal(chmod(path_of(FILE_OF_A), 0600), 0);
    age();
    begin_process();
    assert_answers("Mine", "Meins", "My help");
    /* the older lists, which other users may read, have been removed */
    assert_false(is_there(ENGLISH_LIST) || is_there(HELP_LIST) || is_there(INDEX));
}

/* A file changes after the process has checked all files, and before it reads the file's texts: the
 * process then writes no list, because these texts would be missing in it. */
static void a_text_that_was_not_read_is_not_missing_for_others(void **state)
{
    put_sources();
    assert_int_not_equal(registry_generation(), 0); /* writes the index of the registry */
    begin_process();
    assert_true(names_language_installed(7));
    edit_a_service();
    names_lookup(900000, 9, NULL);
    assert_false(is_there(ENGLISH_LIST));
    assert_name(900000, 9, "Else");
    assert_false(is_there(ENGLISH_LIST));
}

/* The language's own texts are read before the list is compared with the English ones. */
static void an_english_text_replaces_another_language(void **state)
{
    static const char multi[] = "4\0Memory\0";
    put_lists();
    assert_int_equal(names_store(NAMES_COUNTER, 7, multi, sizeof multi), ERROR_SUCCESS);
    assert_name(4, 7, "Memory");
}

/* Whichever open fails for lack of descriptors, the answer is right or missing, and the next call
 * reads everything again. */
static void without_descriptors_nothing_is_kept(void **state)
{
    struct rlimit before, few;
    (void)state;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    for (rlim_t more = 0; more < 16; more++) {
        put_sources();
        unlink(path_of(ENGLISH_LIST));
        unlink(path_of(GERMAN_LIST));
        const struct name_list *english = more % 2 ? names_hold(NAMES_COUNTER, 9) : NULL;
        int lowest = dup(STDIN_FILENO);
        close(lowest);
        few = (struct rlimit){(rlim_t)lowest + more / 2, before.rlim_max};
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
        const struct name_list *german = names_hold(NAMES_COUNTER, 7);
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
        if (german)
            assert_string_equal(name_list_text(german, 4), "Speicher");
        if (english)
            assert_string_equal(name_list_text(english, 4), "Memory");
        name_list_drop(german);
        name_list_drop(english);
        assert_answers("Mine", "Meins", "My help");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        NAMES_TEST(without_descriptors_nothing_is_kept),
        NAMES_TEST(a_list_is_used_and_answers_the_same),
        NAMES_TEST(a_held_list_stays),
        NAMES_TEST(a_stale_list_is_not_used),
        NAMES_TEST(the_vendors_names_are_checked_alone),
        NAMES_TEST(a_running_process_sees_a_change),
        NAMES_TEST(settings_of_the_user_do_not_matter),
        NAMES_TEST(a_damaged_list_is_not_used),
        NAMES_TEST(damage_to_an_open_list_is_noticed),
        NAMES_TEST(most_of_a_long_list_is_not_read),
        NAMES_TEST(crafted_bytes_do_no_harm),
        NAMES_TEST(a_list_of_others_is_not_used),
        NAMES_TEST(a_full_disk_leaves_nothing),
        NAMES_TEST(a_killed_writer_costs_nothing),
        NAMES_TEST(some_sources_make_no_list),
        NAMES_TEST(a_text_that_was_not_read_is_not_missing_for_others),
        NAMES_TEST(an_english_text_replaces_another_language),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
