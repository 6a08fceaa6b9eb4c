/* SPDX-License-Identifier: MIT */
/*
 * The registry's compiled index (a file that new processes read instead of the .reg files) changes
 * no answer, whether it is current, stale, damaged, of another user, or cannot be written. If the
 * registry contains something that the index must not contain, no index is written.
 */
#include "test.h"

#include <errno.h>
#include <time.h>

#define SERVICE REGISTRY_SERVICES "\\Svc\\Performance"
#define INDEX "machine/registry" REGISTRY_INDEX_ENDING

static const char shipped[] = HEADER "[" KEY "]\n\"a\"=\"vendor\"\n\"gone\"=\"x\"\n[" KEY "\\Sub]\n"
                                     "\"n\"=dword:7\n\"b\"=hex:01,02\n";
static const char service[] =
    HEADER "[" SERVICE "]\n\"Library\"=\"/lib/a.so\"\n\"Object List\"=\"1848\"\n[" SERVICE
           "\\Names\\009]\n\"1848\"=\"One\"\n\"1849\"=\"Help\"\n[" SERVICE
           "\\Names\\007]\n\"1848\"=\"Eins\"\n[" KEY "]\n\"a\"=\"machine\"\n\"\xc3\x84\"=\"e\"\n";
static const char manual[] = HEADER "[" KEY "]\n\"gone\"=-\n[-" KEY "\\Sub]\n[" KEY "\\New]\n"
                                    "@=\"default\"\n\"m\"=hex(7):61,00,00,00,62,00,00,00,00,00\n";

static bool add_value(void *self, const struct registry_value *value)
{
    buffer_printf(self, " %s:%u:%zu:", value->name, (unsigned)value->type, value->size);
    return buffer_add(self, value->data, value->size);
}

struct dumping {
    struct buffer *text;
    const char *path;
};

static void dump_key(struct buffer *text, const char *path);

static bool dump_child(void *self, const char *name)
{
    struct dumping *dumping = self;
    FREE_AUTO char *path = text_format("%s\\%s", dumping->path, name);
    dump_key(dumping->text, path);
    return true;
}

static void dump_key(struct buffer *text, const char *path)
{
    struct dumping dumping = {text, path};
    buffer_printf(text, "\n%s", path);
    assert_int_equal(registry_each_value(path, add_value, text), ERROR_SUCCESS);
    assert_int_equal(registry_each_key(path, dump_child, &dumping), ERROR_SUCCESS);
}

static void dump(struct buffer *ret)
{
    buffer_clear(ret);
    dump_key(ret, "HKEY_LOCAL_MACHINE");
}

/* Waits until the files are old enough for an index (a file that changed just now could change
 * again without a new time), and forgets what this process knows. */
static void let_files_age(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 70000000}, NULL);
    store_forget();
}

static void put_files(void)
{
    put("vendor/data/registry.d/v.reg", shipped);
    put("machine/registry.d/Svc.reg", service);
    put("machine/registry.d/manual.reg", manual);
    let_files_age();
}

static bool is_written(void)
{
    return access(path_of(INDEX), F_OK) == 0;
}

static void write_index(void)
{
    assert_int_not_equal(registry_generation(), 0);
    assert_true(is_written());
    store_forget();
}

/* Reads the index as a new process would. */
static LSTATUS use_index(void)
{
    struct index index;
    char paths[2][256];
    strcpy(paths[0], path_of("vendor/data/registry.d"));
    strcpy(paths[1], path_of("machine/registry.d"));
    struct layer_folder folders[] = {
        {.layer = LAYER_VENDOR,  .path = paths[0]},
        {.layer = LAYER_MACHINE, .path = paths[1]}
    };
    LSTATUS status = index_read(path_of("machine"), folders, &index);
    tree_free(status ? NULL : index.root);
    index_done(&index);
    for (int i = 0; i < 2; i++) {
        folder_forget(&folders[i]);
        free(folders[i].files);
    }
    return status;
}

static void answers_are_the_same_with_it(void **state)
{
    BUFFER_AUTO without = {0}, with = {0}, changed = {0};
    put_files();
    dump(&without);
    assert_non_null(memmem(without.data, without.len, "Eins", 4));
    store_forget();
    assert_int_equal(use_index(), ERROR_SUCCESS);
    dump(&with);
    assert_int_equal(with.len, without.len);
    assert_memory_equal(with.data, without.data, with.len);
    /* a file of the user's layer, and a change, concern keys that are in the index */
    put("user/registry.d/u.reg",
        HEADER "[" KEY "]\n\"a\"=\"user\"\n[" SERVICE "]\n\"z\"=\"1\"\n[" SERVICE
               "\\Names\\009]\n\"1850\"=\"Two\"\n[-" KEY "\\New]\n[" KEY "\\Else]\n");
    dump(&with);
    store_forget();
    dump(&changed);
    assert_int_equal(changed.len, with.len);
    assert_memory_equal(changed.data, with.data, with.len);
    assert_int_equal(unlink(path_of(INDEX)), 0);
    store_forget();
    dump(&changed);
    assert_int_equal(changed.len, with.len);
    assert_memory_equal(changed.data, with.data, with.len);
}

static void writers_compare_with_the_files(void **state)
{
    put_files();
    write_index();
    assert_text(KEY, "a", "machine");
    assert_int_equal(registry_set(LAYER_MACHINE, KEY, "new", REG_SZ, "1", 2), ERROR_SUCCESS);
    assert_text(KEY, "new", "1");
    assert_int_equal(registry_delete_value(LAYER_MACHINE, KEY, "new"), ERROR_SUCCESS);
    store_forget();
    assert_text(KEY, "a", "machine");
    /* manual.reg needs no entry: the value is again the one that the package's file has */
    assert_int_equal(registry_delete_value(LAYER_MACHINE, KEY, "a"), ERROR_SUCCESS);
    assert_text(KEY, "a", NULL);
    assert_int_equal(registry_set(LAYER_MACHINE, KEY, "a", REG_SZ, "machine", 8), ERROR_SUCCESS);
    BUFFER_AUTO text = {0};
    assert_int_equal(registry_read_file(LAYER_MACHINE, "manual.reg", &text), ERROR_SUCCESS);
    assert_null(strstr(text.data, "\"a\""));
}

/* Edits a file so that its size and modification time stay the same; only the inode's change time
 * (ctime) differs. */
static void edit_in_place(void)
{
    struct stat st;
    char changed[sizeof service];
    strcpy(changed, service);
    strstr(changed, "/a.so")[1] = 'b';
    assert_int_equal(stat(path_of("machine/registry.d/Svc.reg"), &st), 0);
    put("machine/registry.d/Svc.reg", changed);
    struct timespec times[] = {st.st_atim, st.st_mtim};
    assert_int_equal(utimensat(AT_FDCWD, path_of("machine/registry.d/Svc.reg"), times, 0), 0);
}

static void add_file(void)
{
    put("machine/registry.d/z.reg", HEADER "[" SERVICE "]\n\"Library\"=\"/lib/b.so\"\n");
}

static void remove_file(void)
{
    add_file();
    assert_int_equal(unlink(path_of("machine/registry.d/Svc.reg")), 0);
}

static void replace_file(void)
{
    char to[256];
    put("machine/b", HEADER "[" SERVICE "]\n\"Library\"=\"/lib/b.so\"\n");
    strcpy(to, path_of("machine/registry.d/Svc.reg"));
    assert_int_equal(rename(path_of("machine/b"), to), 0);
}

static void change_vendor(void)
{
    put("vendor/data/registry.d/v.reg", shipped);
    add_file();
}

static void refuse_file(void)
{
    add_file();
    assert_int_equal(chmod(path_of("machine/registry.d/Svc.reg"), 0666), 0);
}

static void a_stale_index_is_ignored(void **state)
{
    void (*const changes[])(void) = {edit_in_place, add_file,      remove_file,
                                     replace_file,  change_vendor, refuse_file};
    for (size_t i = 0; i < COUNT(changes); i++) {
        put_files();
        unlink(path_of(INDEX));
        write_index();
        assert_int_equal(use_index(), ERROR_SUCCESS);
        assert_text(SERVICE, "Library", "/lib/a.so");
        changes[i]();
        assert_int_not_equal(use_index(), ERROR_SUCCESS);
        store_forget();
        assert_text(SERVICE, "Library", "/lib/b.so");
        unlink(path_of("machine/registry.d/z.reg"));
        unlink(path_of("machine/registry.d/Svc.reg"));
    }
}

static void read_index(struct buffer *ret)
{
    assert_int_equal(file_read(AT_FDCWD, path_of(INDEX), ret), ERROR_SUCCESS);
}

/* Reads everything in a damaged index. `seal`: corrects its checksum first. */
static LSTATUS parse(const struct buffer *bytes, size_t size, bool seal)
{
    struct index index = {0};
    buffer_add(&index.bytes, bytes->data, size);
    if (seal)
        index_seal(index.bytes.data, index.bytes.len);
    LSTATUS status = index_parse(&index);
    if (!status) {
        tree_make(index.root, "HKEY_LOCAL_MACHINE\\SOFTWARE\\Test\\Made", true);
        tree_free(index.root);
    }
    index_done(&index);
    return status;
}

static void a_damaged_index_is_ignored(void **state)
{
    BUFFER_AUTO bytes = {0};
    put_files();
    write_index();
    read_index(&bytes);
    assert_int_equal(parse(&bytes, bytes.len, false), ERROR_SUCCESS);
    for (size_t size = 0; size < bytes.len; size++)
        assert_int_not_equal(parse(&bytes, size, false), ERROR_SUCCESS);
    for (size_t i = 0; i < bytes.len; i++) {
        bytes.data[i] ^= (char)(1 << i % 8);
        assert_int_not_equal(parse(&bytes, bytes.len, false), ERROR_SUCCESS);
        bytes.data[i] ^= (char)(1 << i % 8);
    }
    bytes.data[bytes.len / 2] ^= 1;
    put_bytes(INDEX, bytes.data, bytes.len);
    assert_text(KEY, "a", "machine");
}

/* Even if the checksum is correct, no offset may lead outside the index. */
static void crafted_bytes_do_no_harm(void **state)
{
    static const unsigned char values[] = {0, 1, 0x7f, 0x80, 0xff};
    BUFFER_AUTO bytes = {0};
    put_files();
    write_index();
    read_index(&bytes);
    for (size_t i = 8; i < bytes.len; i++)
        for (size_t k = 0; k < COUNT(values); k++) {
            char old = bytes.data[i];
            bytes.data[i] = (char)values[k];
            parse(&bytes, bytes.len, true);
            bytes.data[i] = old;
        }
}

static void an_index_of_others_is_ignored(void **state)
{
    put_files();
    write_index();
    assert_int_equal(chmod(path_of(INDEX), 0666), 0);
    assert_int_not_equal(use_index(), ERROR_SUCCESS);
    assert_int_equal(chmod(path_of(INDEX), 0664), 0);
    assert_int_not_equal(use_index(), ERROR_SUCCESS);
    assert_int_equal(chmod(path_of(INDEX), 0644), 0);
    assert_int_equal(use_index(), ERROR_SUCCESS);
    assert_int_equal(chmod(path_of("machine"), 0777), 0);
    assert_int_not_equal(use_index(), ERROR_SUCCESS);
    assert_int_equal(chmod(path_of("machine"), 0755), 0);
    if (geteuid() == 0) {
        assert_int_equal(chown(path_of(INDEX), 12345, 12345), 0);
        assert_int_not_equal(use_index(), ERROR_SUCCESS);
        assert_int_equal(chown(path_of(INDEX), 0, 0), 0);
    }
    char other[256];
    strcpy(other, path_of("index"));
    assert_int_equal(rename(path_of(INDEX), other), 0);
    assert_int_equal(symlink(other, path_of(INDEX)), 0);
    assert_int_not_equal(use_index(), ERROR_SUCCESS);
    assert_text(KEY, "a", "machine");
}

static void it_may_be_replaced_while_it_is_used(void **state)
{
    put_files();
    write_index();
    assert_text(KEY, "a", "machine");
    put(INDEX, "");
    assert_text(KEY, "\xc3\x84", "e");
    assert_text(SERVICE "\\Names\\007", "1848", "Eins");
    assert_int_equal(unlink(path_of(INDEX)), 0);
    assert_text(SERVICE, "Object List", "1848");
}

static void a_full_disk_leaves_nothing(void **state)
{
    ssize_t (*const kept)(int, const void *, size_t) = file_steps.write;
    put_files();
    file_steps.write = full_disk;
    assert_text(KEY, "a", "machine");
    file_steps.write = kept;
    assert_false(is_written());
    assert_int_not_equal(access(path_of("machine/.registry" REGISTRY_INDEX_ENDING ".tmp"), F_OK),
                         0);
}

static void one_writer_at_a_time(void **state)
{
    const struct timespec old[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
    put_files();
    put("machine/.registry" REGISTRY_INDEX_ENDING ".tmp", "");
    assert_text(KEY, "a", "machine");
    assert_false(is_written());
    store_forget();
    /* the process that wrote this temporary file was killed */
    assert_int_equal(
        utimensat(AT_FDCWD, path_of("machine/.registry" REGISTRY_INDEX_ENDING ".tmp"), old, 0), 0);
    assert_text(KEY, "a", "machine");
    store_forget();
    write_index();
    assert_int_equal(use_index(), ERROR_SUCCESS);
}

static void some_files_make_no_index(void **state)
{
    static const char *const texts[] = {HEADER "[" KEY "]\nnonsense\n",
                                        HEADER "[HKEY_USERS\\S-1-22-1-99\\Test]\n\"x\"=\"1\"\n",
                                        HEADER "[HKEY_CURRENT_USER\\Test]\n\"x\"=\"1\"\n"};
    for (size_t i = 0; i < COUNT(texts); i++) {
        put_files();
        put("machine/registry.d/x.reg", texts[i]);
        let_files_age();
        assert_text(KEY, "a", "machine");
        assert_false(is_written());
    }
    unlink(path_of("machine/registry.d/x.reg"));
    assert_int_equal(chmod(path_of("machine/registry.d/Svc.reg"), 0600), 0);
    let_files_age();
    assert_text(KEY, "a", "machine");
    /* no index was written, because other users may not read one of the files */
    assert_false(is_written());
    assert_int_equal(chmod(path_of("machine/registry.d/Svc.reg"), 0644), 0);
    store_forget();
    assert_text(KEY, "a", "machine");
    /* no index was written, because a file is so new that another change could have the same
     * time */
    assert_false(is_written());
    let_files_age();
    write_index();
    assert_int_equal(chmod(path_of("machine/registry.d/Svc.reg"), 0600), 0);
    let_files_age();
    store_forget();
    assert_text(KEY, "a", "machine");
    /* the older index, which other users could read, has been removed */
    assert_false(is_written());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ROOT_TEST(answers_are_the_same_with_it),
        ROOT_TEST(writers_compare_with_the_files),
        ROOT_TEST(a_stale_index_is_ignored),
        ROOT_TEST(a_damaged_index_is_ignored),
        ROOT_TEST(crafted_bytes_do_no_harm),
        ROOT_TEST(an_index_of_others_is_ignored),
        ROOT_TEST(it_may_be_replaced_while_it_is_used),
        ROOT_TEST(a_full_disk_leaves_nothing),
        ROOT_TEST(one_writer_at_a_time),
        ROOT_TEST(some_files_make_no_index),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
