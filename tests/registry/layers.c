/* SPDX-License-Identifier: MIT */
/* Tests of the merged view of the registry's three layers (vendor, machine, user): which layer
 * counts, deletions, how changes are noticed, which files are trusted, damaged lines. */
#include "test.h"

static void nothing_written_yet_makes_no_folder(void **state)
{
    BUFFER_AUTO data = {0};
    assert_int_equal(registry_get(KEY, "x", NULL, &data), ERROR_FILE_NOT_FOUND);
    assert_int_equal(access(path_of("machine"), F_OK), -1);
    assert_int_equal(access(path_of("user"), F_OK), -1);
}

static void later_layers_and_files_win(void **state)
{
    put("vendor/data/registry.d/a.reg", HEADER "[" KEY "]\n\"x\"=\"vendor\"\n\"v\"=\"vendor\"\n");
    assert_text(KEY, "x", "vendor");
    put("machine/registry.d/a.reg", HEADER "[" KEY "]\n\"x\"=\"machine a\"\n");
    assert_text(KEY, "x", "machine a");
    put("machine/registry.d/b.reg", HEADER "[" KEY "]\n\"x\"=\"machine b\"\n");
    assert_text(KEY, "x", "machine b");
    put("machine/registry.d/manual.reg", HEADER "[" KEY "]\n\"x\"=\"machine manual\"\n");
    assert_text(KEY, "x", "machine manual");
    put("machine/registry.d/z.reg", HEADER "[" KEY "]\n\"x\"=\"machine z\"\n");
    assert_text(KEY, "x", "machine manual");
    put("user/registry.d/a.reg", HEADER "[" KEY "]\n\"x\"=\"user\"\n");
    assert_text(KEY, "x", "user");
    assert_text("hkey_local_machine\\software\\TEST", "X", "user");
    assert_text(KEY, "v", "vendor");
    unlink(path_of("user/registry.d/a.reg"));
    assert_text(KEY, "x", "machine manual");
}

static void deletions_hide_what_lies_below(void **state)
{
    put("vendor/data/registry.d/a.reg", HEADER "[" KEY "]\n\"x\"=\"1\"\n\"y\"=\"2\"\n"
                                               "[" KEY "\\Sub]\n\"z\"=\"3\"\n");
    put("machine/registry.d/manual.reg",
        HEADER "[" KEY "]\n\"x\"=-\n[-" KEY "\\Sub]\n[-" KEY "\\Never]\n");
    assert_text(KEY, "x", NULL);
    assert_text(KEY, "y", "2");
    assert_text(KEY "\\Sub", "z", NULL);
    put("user/registry.d/a.reg", HEADER "[" KEY "\\Sub]\n\"new\"=\"4\"\n");
    assert_text(KEY "\\Sub", "new", "4");
    assert_text(KEY "\\Sub", "z", NULL);
}

static bool add_name(void *self, const char *name)
{
    buffer_add_text(self, name);
    return buffer_add_byte(self, ' ');
}

static bool add_value(void *self, const struct registry_value *value)
{
    return buffer_printf(self, "%s:%u:%zu ", value->name, (unsigned)value->type, value->size);
}

static void keys_are_ordered_and_values_keep_their_order(void **state)
{
    BUFFER_AUTO keys = {0}, values = {0};
    put("machine/registry.d/a.reg",
        HEADER "[" KEY "\\beta]\n[" KEY "\\Alpha]\n[" KEY "\\ALPHA\\below]\n[" KEY "\\_]\n"
               "[" KEY "]\n\"z\"=dword:1\n@=\"d\"\n\"a\"=hex:01,02\n\"Z\"=dword:2\n");
    assert_int_equal(registry_each_key(KEY, add_name, &keys), ERROR_SUCCESS);
    assert_string_equal(keys.data, "Alpha beta _ ");
    assert_int_equal(registry_each_value(KEY, add_value, &values), ERROR_SUCCESS);
    assert_string_equal(values.data, "z:4:4 :1:2 a:3:2 ");
    assert_int_equal(registry_each_key(KEY "\\none", add_name, &keys), ERROR_FILE_NOT_FOUND);
}

static bool stop(void *self, const char *name)
{
    return ++*(int *)self < 2;
}

static bool stop_value(void *self, const struct registry_value *value)
{
    return ++*(int *)self < 2;
}

static void a_call_back_ends_its_listing(void **state)
{
    int keys = 0, values = 0;
    put("machine/registry.d/a.reg", HEADER "[" KEY "\\a]\n[" KEY "\\b]\n[" KEY "\\c]\n[" KEY "]\n"
                                           "\"a\"=\"\"\n\"b\"=\"\"\n\"c\"=\"\"\n");
    assert_int_equal(registry_each_key(KEY, stop, &keys), ERROR_SUCCESS);
    assert_int_equal(keys, 2);
    assert_int_equal(registry_each_value(KEY, stop_value, &values), ERROR_SUCCESS);
    assert_int_equal(values, 2);
    assert_int_equal(registry_each_value(KEY "\\none", stop_value, &values), ERROR_FILE_NOT_FOUND);
}

/* Called in the middle of a walk over the keys: edits a file, and still reads the old value,
 * because the folders are not checked for each key. */
static bool edit_and_read(void *self, const char *name)
{
    put("machine/registry.d/b.reg", HEADER "[" KEY "]\n\"x\"=\"new\"\n");
    assert_text(KEY, "x", "old");
    ++*(int *)self;
    return true;
}

static bool write_and_read(void *self, const char *name)
{
    assert_int_equal(registry_set(LAYER_MACHINE, KEY, "y", REG_SZ, "own", 4), ERROR_SUCCESS);
    assert_text(KEY, "y", "own");
    assert_text(KEY, "x", "new");
    ++*(int *)self;
    return false;
}

static void a_listing_checks_the_files_once(void **state)
{
    int keys = 0;
    put("machine/registry.d/a.reg",
        HEADER "[" KEY "\\a]\n[" KEY "\\b]\n[" KEY "]\n\"x\"=\"old\"\n");
    assert_int_equal(registry_each_key(KEY, edit_and_read, &keys), ERROR_SUCCESS);
    assert_int_equal(keys, 2);
    assert_text(KEY, "x", "new");
    assert_int_equal(registry_each_key(KEY, write_and_read, &keys), ERROR_SUCCESS);
    assert_int_equal(keys, 3);
}

static void values_in_the_type_asked_for(void **state)
{
    BUFFER_AUTO data = {0};
    uint32_t number = 7, type = 99;
    setenv("OPL_TEST_PLACE", "/there", 1);
    put("machine/registry.d/a.reg",
        HEADER "[" KEY "]\n@=\"default\"\n\"plain\"=\"%OPL_TEST_PLACE%\"\n\"empty\"=hex(1):\n"
               "\"place\"=hex(2):25,00,4f,00,50,00,4c,00,5f,00,54,00,45,00,53,00,54,00,5f,00,50,00,"
               "4c,00,41,00,43,00,45,00,25,00,00,00\n\"number\"=dword:2a\n\"short\"=hex(4):2a\n"
               "\"bytes\"=hex:2a,00,00,00\n");
    assert_text(KEY, NULL, "default");
    assert_text(KEY, "plain", "%OPL_TEST_PLACE%");
    assert_text(KEY, "place", "/there");
    assert_text(KEY, "empty", "");
    assert_int_equal(registry_get_text(KEY, "number", &data), ERROR_INVALID_DATA);
    assert_int_equal(registry_get(KEY, "place", &type, &data), ERROR_SUCCESS);
    assert_int_equal(type, REG_EXPAND_SZ);
    assert_string_equal(data.data, "%OPL_TEST_PLACE%");
    assert_int_equal(registry_get_dword(KEY, "none", &number), ERROR_FILE_NOT_FOUND);
    assert_int_equal(registry_get_dword(KEY, "short", &number), ERROR_INVALID_DATA);
    assert_int_equal(registry_get_dword(KEY, "bytes", &number), ERROR_INVALID_DATA);
    assert_int_equal(number, 7);
    assert_int_equal(registry_get_dword(KEY, "number", &number), ERROR_SUCCESS);
    assert_int_equal(number, 42);
}

static void what_the_store_cannot_hold_is_refused(void **state)
{
    BUFFER_AUTO name = {0};
    for (int i = 0; i < LIMIT_VALUE_NAME; i++)
        buffer_add_text(&name, "\u20ac");
    assert_int_equal(registry_set(LAYER_MACHINE, KEY, name.data, REG_SZ, "1", 2), ERROR_SUCCESS);
    assert_text(KEY, name.data, "1");
    buffer_add_byte(&name, 'x');
    assert_int_equal(registry_set(LAYER_MACHINE, KEY, name.data, REG_SZ, "1", 2),
                     ERROR_INVALID_PARAMETER);
    assert_int_equal(registry_set(LAYER_MACHINE, KEY, "a\x1f", REG_SZ, "1", 2),
                     ERROR_INVALID_PARAMETER);
    assert_int_equal(registry_set(LAYER_MACHINE, KEY "\n", "a", REG_SZ, "1", 2),
                     ERROR_INVALID_PARAMETER);
    assert_int_equal(
        registry_set(LAYER_MACHINE, KEY, "a", REG_BINARY, "", (size_t)LIMIT_VALUE_BYTES + 1),
        ERROR_INVALID_PARAMETER);
    assert_int_equal(registry_set(LAYER_VENDOR, KEY, "a", REG_SZ, "1", 2), ERROR_ACCESS_DENIED);
    assert_text(KEY, "a", NULL);
}

static void every_mark_of_a_file_tells_a_change(void **state)
{
    struct stat st = {.st_dev = 1, .st_ino = 2, .st_size = 3};
    struct file_state first, other;
    file_state_of(&st, &first);
    assert_true(file_state_same(&first, &first));
    struct stat changed[7];
    for (size_t i = 0; i < COUNT(changed); i++)
        changed[i] = st;
    changed[0].st_dev++;
    changed[1].st_ino++;
    changed[2].st_size++;
    changed[3].st_mtim.tv_sec++;
    changed[4].st_mtim.tv_nsec++;
    changed[5].st_ctim.tv_sec++;
    changed[6].st_ctim.tv_nsec++;
    for (size_t i = 0; i < COUNT(changed); i++) {
        file_state_of(&changed[i], &other);
        assert_false(file_state_same(&first, &other));
    }
}

static void the_generation_follows_the_files(void **state)
{
    put("machine/registry.d/a.reg", HEADER "[" KEY "]\n\"x\"=\"1\"\n");
    uint64_t first = registry_generation();
    assert_int_equal(registry_generation(), first);
    put("machine/registry.d/b.reg", HEADER "[" KEY "]\n\"x\"=\"2\"\n");
    uint64_t second = registry_generation();
    assert_int_not_equal(second, first);
    assert_int_equal(registry_set(LAYER_MACHINE, KEY, "x", REG_SZ, "3", 2), ERROR_SUCCESS);
    assert_int_not_equal(registry_generation(), second);
    /* when nothing has changed for 60 ms, only the folder's attributes are checked */
    usleep(60 * 1000);
    second = registry_generation();
    assert_int_equal(registry_generation(), second);
    /* edited in place: the folder's attributes stay the same */
    put("machine/registry.d/b.reg", HEADER "[" KEY "]\n\"other\"=\"2\"\n");
    usleep(1100 * 1000);
    assert_int_not_equal(registry_generation(), second);
    assert_text(KEY, "other", "2");
}

/* A check for changes takes the same time however many files there are, because each check looks at
 * a few of them in turn. */
static void files_edited_in_place_are_found_in_turn(void **state)
{
    enum { FILES = 20, AT_ONCE = 3 };
    struct layer_folder folder = {.layer = LAYER_MACHINE};
    char name[64];
    bool changed = false;
    int looks = 0;
    for (int i = 0; i < FILES; i++) {
        snprintf(name, sizeof name, "machine/registry.d/%02d.reg", i);
        put(name, HEADER "[" KEY "]\n\"x\"=\"1\"\n");
    }
    usleep(60 * 1000); /* waits until the folder's last change is old enough */
    folder.path = strdup(path_of("machine/registry.d"));
    assert_true(folder_changed(&folder, 0));
    assert_int_equal(folder_scan(&folder, &changed), ERROR_SUCCESS);
    assert_true(changed);
    put("machine/registry.d/17.reg", HEADER "[" KEY "]\n\"other\"=\"2\"\n");
    while (!folder_changed(&folder, AT_ONCE) && looks <= FILES)
        looks++;
    assert_int_equal(looks, 17 / AT_ONCE);
    changed = false;
    assert_int_equal(folder_scan(&folder, &changed), ERROR_SUCCESS);
    assert_true(changed);
    folder_forget(&folder);
    free(folder.files);
    free(folder.path);
}

static void the_users_number_is_the_user(void **state)
{
    char text[256];
    snprintf(text, sizeof text, HEADER "[%s\\Test]\n\"x\"=\"own\"\n", path_users_own());
    put("user/registry.d/a.reg", text);
    assert_text(USER_KEY, "x", "own");
}

/* ---- trust ---- */

static void a_file_that_others_may_write_is_ignored_and_named(void **state)
{
    put("machine/registry.d/good.reg", HEADER "[" KEY "]\n\"x\"=\"good\"\n");
    put("machine/registry.d/loose.reg", HEADER "[" KEY "]\n\"x\"=\"loose\"\n");
    chmod(path_of("machine/registry.d/loose.reg"), 0664);
    assert_text(KEY, "x", "good");
    assert_file_has("events", "4001\t");
    assert_file_has("events", "loose.reg");
    assert_file_has("events", "0664");
    chmod(path_of("machine/registry.d/loose.reg"), 0644);
    usleep(1100 * 1000);
    assert_text(KEY, "x", "loose");
}

static void a_folder_that_others_may_write_is_ignored(void **state)
{
    put("user/registry.d/a.reg", HEADER "[" USER_KEY "]\n\"x\"=\"1\"\n");
    chmod(path_of("user/registry.d"), 0777);
    assert_text(USER_KEY, "x", NULL);
    assert_file_has("events", "4001\t");
    assert_int_equal(registry_set(LAYER_USER, USER_KEY, "x", REG_SZ, "2", 2), ERROR_ACCESS_DENIED);
    chmod(path_of("user/registry.d"), 0755);
    assert_text(USER_KEY, "x", "1");
}

static void a_folder_is_forgotten_when_it_loses_trust_or_goes(void **state)
{
    put("machine/registry.d/a.reg", HEADER "[" KEY "]\n\"x\"=\"1\"\n");
    assert_text(KEY, "x", "1");
    chmod(path_of("machine/registry.d"), 0775);
    assert_text(KEY, "x", NULL);
    chmod(path_of("machine/registry.d"), 0755);
    assert_text(KEY, "x", "1");
    uint64_t generation = registry_generation();
    temp_remove(path_of("machine"));
    assert_text(KEY, "x", NULL);
    assert_int_not_equal(registry_generation(), generation);
    generation = registry_generation();
    assert_int_equal(registry_generation(), generation);
}

static void owners_of_a_trusted_file(void **state)
{
    struct stat st = {.st_uid = geteuid(), .st_mode = S_IFREG | 0644};
    assert_true(layer_trusts(LAYER_USER, &st));
    assert_true(layer_trusts(LAYER_MACHINE, &st));
    st.st_uid = geteuid() + 4711;
    assert_false(layer_trusts(LAYER_USER, &st));
    assert_false(layer_trusts(LAYER_MACHINE, &st));
    st.st_uid = 0;
    assert_true(layer_trusts(LAYER_MACHINE, &st));
    assert_int_equal(layer_trusts(LAYER_USER, &st), geteuid() == 0);
    st.st_mode |= S_IWOTH;
    assert_false(layer_trusts(LAYER_MACHINE, &st));
    assert_false(layer_trusts(LAYER_VENDOR, &st));
}

static void a_build_tree_of_a_group_is_as_good_as_its_library(void **state)
{
    struct stat st = {.st_uid = geteuid(), .st_mode = S_IFREG | 0664};
    assert_true(layer_trusts(LAYER_VENDOR, &st));
    assert_false(layer_trusts(LAYER_MACHINE, &st));
    assert_false(layer_trusts(LAYER_USER, &st));
    st.st_uid = geteuid() + 4711;
    assert_false(layer_trusts(LAYER_VENDOR, &st));
}

static void what_is_no_file_is_passed_over(void **state)
{
    put("machine/registry.d/a.reg", HEADER "[" KEY "]\n\"x\"=\"1\"\n");
    put("machine/registry.d/.hidden.reg", HEADER "[" KEY "]\n\"x\"=\"2\"\n");
    put("machine/registry.d/b.reg.bak", HEADER "[" KEY "]\n\"x\"=\"3\"\n");
    mkdir(path_of("machine/registry.d/c.reg"), 0755);
    mkfifo(path_of("machine/registry.d/d.reg"), 0644);
    assert_int_equal(symlink("nowhere", path_of("machine/registry.d/e.reg")), 0);
    assert_text(KEY, "x", "1");
    assert_file_has("events", "4002\t");
}

/* ---- damage ---- */

static void a_damaged_line_is_named_and_costs_only_itself(void **state)
{
    put("machine/registry.d/a.reg",
        HEADER "[" KEY "]\n\"a\"=\"1\"\n\"b\"=\"no end\n\"c\"=dword:xyz\n"
               "garbage\n\"d\"=\"4\"\n[NO_ROOT\\x]\n\"lost\"=\"5\"\n"
               "[" KEY "\\Next]\n\"e\"=\"6\"\n");
    assert_text(KEY, "a", "1");
    assert_text(KEY, "b", NULL);
    assert_text(KEY, "c", NULL);
    assert_text(KEY, "d", "4");
    assert_text(KEY, "lost", NULL);
    assert_text(KEY "\\Next", "e", "6");
    assert_file_has("events", "a.reg\tline 5 of a.reg: the closing quotation mark is missing");
    assert_file_has("events", "line 6 of a.reg: a dword");
    assert_file_has("events", "line 7 of a.reg: the line is neither");
    assert_file_has("events", "line 9 of a.reg: the key does not begin");
    assert_file_has("events", "line 10 of a.reg: the value belongs to no key");
}

static void a_damaged_line_survives_a_write_as_a_remark(void **state)
{
    put("machine/registry.d/manual.reg",
        HEADER "; by hand\n[" KEY "]\n\"a\"=\"1\"\nbroken line\n\"b\"=\"2\"\n");
    assert_int_equal(registry_set(LAYER_MACHINE, KEY, "c", REG_SZ, "3", 2), ERROR_SUCCESS);
    assert_text(KEY, "a", "1");
    assert_text(KEY, "b", "2");
    assert_text(KEY, "c", "3");
    assert_file_has("machine/registry.d/manual.reg", "; by hand\n");
    assert_file_has("machine/registry.d/manual.reg", "broken line");
}

/* ---- the file after a write ---- */

static void assert_manual(const char *layer, const char *expected)
{
    char name[64];
    BUFFER_AUTO content = {0};
    snprintf(name, sizeof name, "%s/registry.d/manual.reg", layer);
    assert_int_equal(file_read(AT_FDCWD, path_of(name), &content), ERROR_SUCCESS);
    assert_string_equal(content.data + strlen(HEADER) - 1, expected);
}

/* docs/registry.md: manual.reg needs "name"=- and [-key], which delete values and keys, only if an
 * earlier file has this value or key. Otherwise they are not written. */
static void only_what_a_file_below_says_leaves_a_deletion_behind(void **state)
{
    put("vendor/data/registry.d/a.reg",
        HEADER "[" KEY "\\Packaged]\n\"p\"=\"1\"\n\"q\"=\"2\"\n[" KEY "\\Packaged\\Sub]\n");
    assert_int_equal(registry_set(LAYER_MACHINE, KEY "\\Own", "a", REG_SZ, "1", 2), ERROR_SUCCESS);
    assert_int_equal(registry_set(LAYER_MACHINE, KEY "\\Own", "b", REG_SZ, "2", 2), ERROR_SUCCESS);
    assert_int_equal(registry_delete_value(LAYER_MACHINE, KEY "\\Own", "A"), ERROR_SUCCESS);
    assert_manual("machine", "\n[" KEY "\\Own]\n\"b\"=\"2\"\n");
    assert_int_equal(registry_delete_value(LAYER_MACHINE, KEY "\\Packaged", "p"), ERROR_SUCCESS);
    assert_int_equal(registry_delete_tree(LAYER_MACHINE, KEY "\\Packaged\\Sub"), ERROR_SUCCESS);
    assert_int_equal(registry_delete_tree(LAYER_MACHINE, KEY "\\Own"), ERROR_SUCCESS);
    assert_manual("machine", "\n[" KEY "\\Packaged]\n\"p\"=-\n\n[-" KEY "\\Packaged\\Sub]\n");
    assert_int_equal(registry_delete_value(LAYER_MACHINE, KEY "\\Packaged", "p"),
                     ERROR_FILE_NOT_FOUND);
    assert_int_equal(registry_delete_tree(LAYER_MACHINE, KEY "\\Packaged\\Sub"),
                     ERROR_FILE_NOT_FOUND);
    assert_int_equal(registry_set(LAYER_MACHINE, KEY "\\Packaged", "p", REG_SZ, "3", 2), 0);
    assert_text(KEY "\\Packaged", "p", "3");
    assert_int_equal(registry_delete_value(LAYER_MACHINE, KEY "\\Packaged", "p"), ERROR_SUCCESS);
    assert_text(KEY "\\Packaged", "p", NULL);
    assert_text(KEY "\\Packaged", "q", "2");
}

static void set_text(const char *key, const char *name, const char *text)
{
    assert_int_equal(registry_set(LAYER_MACHINE, key, name, REG_SZ, text, strlen(text) + 1), 0);
}

static void no_manual(void)
{
    assert_int_equal(access(path_of("machine/registry.d/manual.reg"), F_OK), -1);
}

/* A value that equals that of an earlier file is not written to manual.reg, so that the value in a
 * later version of that file counts. */
static void what_is_put_back_leaves_no_trace(void **state)
{
    put("vendor/data/registry.d/a.reg", HEADER "[" KEY "]\n\"x\"=\"1\"\n");
    set_text(KEY, "x", "1");
    no_manual();
    set_text(KEY, "x", "2");
    set_text(KEY, "y", "3");
    assert_text(KEY, "x", "2");
    set_text(KEY, "x", "1");
    assert_manual("machine", "\n[" KEY "]\n\"y\"=\"3\"\n");
    assert_int_equal(registry_delete_value(LAYER_MACHINE, KEY, "y"), ERROR_SUCCESS);
    no_manual();
    assert_text(KEY, "x", "1");
    /* the value is deleted, then set again */
    assert_int_equal(registry_delete_value(LAYER_MACHINE, KEY, "x"), ERROR_SUCCESS);
    assert_text(KEY, "x", NULL);
    set_text(KEY, "x", "1");
    assert_text(KEY, "x", "1");
    no_manual();
    put("vendor/data/registry.d/a.reg", HEADER "[" KEY "]\n\"x\"=\"the next version\"\n");
    /* otherwise a file that was edited in place is noticed only after up to a second */
    store_forget();
    assert_text(KEY, "x", "the next version");
    /* a value of another type or length, or in another layer's file, is another value */
    assert_int_equal(registry_set(LAYER_MACHINE, KEY, "x", REG_BINARY, "the next version", 17), 0);
    assert_manual("machine",
                  "\n[" KEY "]\n\"x\"=hex:74,68,65,20,6e,65,78,74,20,76,65,72,73,69,6f,6e,"
                  "00\n");
    set_text(KEY, "x", "the next");
    assert_manual("machine", "\n[" KEY "]\n\"x\"=\"the next\"\n");
}

/* A deleted key hides what earlier files have below it. So every value that is set there must be
 * written, even if it equals a hidden one. */
static void below_a_deleted_key_everything_is_reported(void **state)
{
    put("vendor/data/registry.d/a.reg", HEADER "[" KEY "\\Sub]\n\"x\"=\"1\"\n");
    assert_int_equal(registry_delete_tree(LAYER_MACHINE, KEY), ERROR_SUCCESS);
    assert_text(KEY "\\Sub", "x", NULL);
    set_text(KEY "\\Sub", "x", "1");
    assert_text(KEY "\\Sub", "x", "1");
    assert_manual("machine", "\n[-" KEY "]\n\n[" KEY "\\Sub]\n\"x\"=\"1\"\n");
    /* a file of the same layer that deletes the key counts as an earlier file, too */
    put("machine/registry.d/b.reg", HEADER "[-" KEY "]\n");
    unlink(path_of("machine/registry.d/manual.reg"));
    set_text(KEY "\\Sub", "x", "1");
    assert_manual("machine", "\n[" KEY "\\Sub]\n\"x\"=\"1\"\n");
    store_forget();
    put("machine/registry.d/c.reg", HEADER "[" KEY "\\Sub]\n\"x\"=\"1\"\n");
    set_text(KEY "\\Sub", "x", "1");
    no_manual();
}

/* A key that loses its last value stays, empty. But registry_delete_last_value deletes it, too, and
 * its empty parents; its last argument is the largest number of keys that it may delete. */
static void the_last_value_takes_its_key_along(void **state)
{
    set_text(KEY "\\A\\B", "x", "1");
    assert_int_equal(registry_delete_value(LAYER_MACHINE, KEY "\\A\\B", "x"), ERROR_SUCCESS);
    assert_manual("machine", "\n[" KEY "\\A\\B]\n");
    set_text(KEY "\\A\\B", "x", "1");
    set_text(KEY "\\A\\B", "y", "1");
    assert_int_equal(registry_delete_last_value(LAYER_MACHINE, KEY "\\A\\B", "y", 1),
                     ERROR_SUCCESS);
    assert_manual("machine", "\n[" KEY "\\A\\B]\n\"x\"=\"1\"\n");
    assert_int_equal(registry_delete_last_value(LAYER_MACHINE, KEY "\\A\\B", "x", 1),
                     ERROR_SUCCESS);
    assert_manual("machine", "\n[" KEY "\\A]\n");
    set_text(KEY "\\A\\B", "x", "1");
    assert_int_equal(registry_delete_last_value(LAYER_MACHINE, KEY "\\A\\B", "x", 2),
                     ERROR_SUCCESS);
    assert_manual("machine", "\n[" KEY "]\n");
    set_text(KEY "\\A\\B", "x", "1");
    set_text(KEY "\\A\\C", "x", "1");
    assert_int_equal(registry_delete_last_value(LAYER_MACHINE, KEY "\\A\\B", "x", 3),
                     ERROR_SUCCESS);
    assert_manual("machine", "\n[" KEY "\\A\\C]\n\"x\"=\"1\"\n");
}

static void a_write_that_a_layer_above_would_hide_is_refused(void **state)
{
    put("user/registry.d/a.reg", HEADER "[" KEY "]\n\"x\"=\"user\"\n\"gone\"=-\n[-" KEY "\\Cut]\n");
    put("vendor/data/registry.d/a.reg", HEADER "[" KEY "]\n\"y\"=\"vendor\"\n");
    assert_int_equal(registry_set(LAYER_MACHINE, KEY, "X", REG_SZ, "1", 2), ERROR_ACCESS_DENIED);
    assert_int_equal(registry_set(LAYER_MACHINE, KEY, "gone", REG_SZ, "1", 2), ERROR_ACCESS_DENIED);
    assert_int_equal(registry_set(LAYER_MACHINE, KEY "\\Cut\\Deep", "z", REG_SZ, "1", 2),
                     ERROR_ACCESS_DENIED);
    assert_int_equal(registry_delete_value(LAYER_MACHINE, KEY, "x"), ERROR_ACCESS_DENIED);
    assert_int_equal(registry_delete_tree(LAYER_MACHINE, KEY), ERROR_ACCESS_DENIED);
    assert_int_equal(registry_set(LAYER_MACHINE, KEY, "y", REG_SZ, "1", 2), ERROR_SUCCESS);
    assert_int_equal(registry_set(LAYER_MACHINE, KEY "\\Beside", "x", REG_SZ, "1", 2), 0);
    assert_int_equal(registry_set(LAYER_USER, KEY, "x", REG_SZ, "2", 2), ERROR_SUCCESS);
    assert_text(KEY, "x", "2");
    assert_text(KEY, "y", "1");
}

/* Before a change is written, files that another program has just edited in place (without a new
 * name in the folder) are read again. */
static void a_change_meets_what_was_edited_in_place(void **state)
{
    put("machine/registry.d/a.reg", HEADER "[" KEY "]\n\"x\"=\"1\"\n");
    usleep(60 * 1000);
    registry_generation();
    /* now each file was checked within the last second, so the next check would come later */
    assert_text(KEY, "x", "1");
    put("machine/registry.d/a.reg", HEADER "[" KEY "]\n\"newer\"=\"1\"\n");
    assert_int_equal(registry_delete_value(LAYER_MACHINE, KEY, "newer"), ERROR_SUCCESS);
    assert_text(KEY, "newer", NULL);
    assert_manual("machine", "\n[" KEY "]\n\"newer\"=-\n");
}

static uint64_t open_descriptors(void)
{
    uint64_t open = 0;
    for (int fd = 0; fd < 64; fd++)
        if (fcntl(fd, F_GETFD) != -1)
            open |= UINT64_C(1) << fd;
    return open;
}

static void use_everything(void)
{
    uint32_t number;
    put("user/registry.d/a.reg", HEADER "[" USER_KEY "]\n\"x\"=\"1\"\n");
    chmod(path_of("user/registry.d"), 0777);
    put("machine/registry.d/loose.reg", HEADER);
    chmod(path_of("machine/registry.d/loose.reg"), 0666);
    assert_int_equal(registry_set(LAYER_MACHINE, KEY, "x", REG_SZ, "1", 2), ERROR_SUCCESS);
    assert_int_equal(registry_set(LAYER_USER, USER_KEY, "x", REG_SZ, "1", 2), ERROR_ACCESS_DENIED);
    assert_int_equal(registry_set(LAYER_VENDOR, KEY, "x", REG_SZ, "1", 2), ERROR_ACCESS_DENIED);
    assert_int_equal(registry_delete_value(LAYER_MACHINE, KEY, "none"), ERROR_FILE_NOT_FOUND);
    assert_int_equal(registry_get_dword(KEY, "x", &number), ERROR_INVALID_DATA);
    chmod(path_of("user/registry.d"), 0755);
    assert_text(USER_KEY, "x", "1");
    assert_int_equal(store_refresh_all(), ERROR_SUCCESS);
    assert_int_equal(registry_delete_tree(LAYER_MACHINE, KEY), ERROR_SUCCESS);
}

static void no_descriptor_stays_open_and_none_of_others_is_closed(void **state)
{
    use_everything();
    while (fcntl(0, F_GETFD) == -1) /* makes sure that standard input is open */
        assert_true(open("/dev/null", O_RDONLY) >= 0);
    uint64_t before = open_descriptors();
    use_everything();
    assert_int_equal(open_descriptors(), before);
}

/* In a program without standard input, such as a daemon, the library's files may get descriptor 0.
 * They are used as any others, and closed. */
static void a_program_without_standard_input(void **state)
{
    int kept = dup(0);
    close(0);
    assert_int_equal(registry_set(LAYER_MACHINE, KEY, "x", REG_SZ, "1", 2), ERROR_SUCCESS);
    assert_text(KEY, "x", "1");
    store_forget();
    assert_text(KEY, "x", "1");
    assert_int_equal(fcntl(0, F_GETFD), -1);
    if (kept >= 0) {
        dup2(kept, 0);
        close(kept);
    }
}

/* A file that deletes a key does not create the keys above that key. */
static void steps_to_a_deletion_make_no_key(void **state)
{
    uint32_t type;
    BUFFER_AUTO keys = {0}, data = {0};
    put("machine/registry.d/a.reg", HEADER "[-" KEY "\\A\\B]\n[" KEY "\\C]\n");
    assert_int_equal(registry_each_key(KEY, add_name, &keys), ERROR_SUCCESS);
    assert_string_equal(keys.data, "C ");
    assert_int_equal(registry_get(KEY "\\A", "x", &type, &data), ERROR_FILE_NOT_FOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ROOT_TEST(nothing_written_yet_makes_no_folder),
        ROOT_TEST(later_layers_and_files_win),
        ROOT_TEST(deletions_hide_what_lies_below),
        ROOT_TEST(keys_are_ordered_and_values_keep_their_order),
        ROOT_TEST(a_call_back_ends_its_listing),
        ROOT_TEST(a_listing_checks_the_files_once),
        ROOT_TEST(values_in_the_type_asked_for),
        ROOT_TEST(what_the_store_cannot_hold_is_refused),
        ROOT_TEST(every_mark_of_a_file_tells_a_change),
        ROOT_TEST(the_generation_follows_the_files),
        ROOT_TEST(files_edited_in_place_are_found_in_turn),
        ROOT_TEST(the_users_number_is_the_user),
        ROOT_TEST(a_file_that_others_may_write_is_ignored_and_named),
        ROOT_TEST(a_folder_that_others_may_write_is_ignored),
        ROOT_TEST(a_folder_is_forgotten_when_it_loses_trust_or_goes),
        ROOT_TEST(owners_of_a_trusted_file),
        ROOT_TEST(a_build_tree_of_a_group_is_as_good_as_its_library),
        ROOT_TEST(what_is_no_file_is_passed_over),
        ROOT_TEST(a_damaged_line_is_named_and_costs_only_itself),
        ROOT_TEST(a_damaged_line_survives_a_write_as_a_remark),
        ROOT_TEST(only_what_a_file_below_says_leaves_a_deletion_behind),
        ROOT_TEST(what_is_put_back_leaves_no_trace),
        ROOT_TEST(below_a_deleted_key_everything_is_reported),
        ROOT_TEST(the_last_value_takes_its_key_along),
        ROOT_TEST(a_write_that_a_layer_above_would_hide_is_refused),
        ROOT_TEST(a_change_meets_what_was_edited_in_place),
        ROOT_TEST(no_descriptor_stays_open_and_none_of_others_is_closed),
        ROOT_TEST(a_program_without_standard_input),
        ROOT_TEST(steps_to_a_deletion_make_no_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
