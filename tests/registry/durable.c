/* SPDX-License-Identifier: MIT */
/*
 * Power loss. All that file.c writes is recorded in a model of a disk that may lose everything that
 * is not synced. After every step the power fails, in each way that the model allows; the registry
 * that is then found must be either the one before the operation or the one after it.
 */
#include "test.h"
#include "registry/store/hive.h"

#include <errno.h>
#include <time.h>

enum { MOST_FILES = 64, MOST_NAMES = 64, MOST_OPERATIONS = 64, MOST_FDS = 64 };

struct content {
    struct buffer synced, written;
};
struct operation { /* changes of the folder that are not yet synced */
    char from[64], to[64];
    int file; /* a created file: its number; -1: renamed (with `to`) or removed (without `to`) */
};
static struct {
    struct content files[MOST_FILES];
    int file_count;
    struct {
        char name[64];
        int file;
    } names[MOST_NAMES]; /* the names that are certainly in the folder */
    int name_count;
    struct operation operations[MOST_OPERATIONS];
    int operation_count;
    /* number of the file that a descriptor belongs to, plus 1; 0: none */
    int files_by_fd[MOST_FDS];
    /* the model ignores syncs: then the test must find losses, which shows that it can */
    bool forget_syncs;
} disk;

static struct file_steps real_steps;
/* the registry's text before and after the operation; one of the two must be found */
static struct buffer before, after;
static unsigned states, violations;
static void (*after_step)(void);
static int steps_until_failure, failure_error;

static bool fails_now(void)
{
    if (steps_until_failure && --steps_until_failure == 0) {
        errno = failure_error;
        return true;
    }
    return false;
}

static void step_done(void)
{
    int error = errno;
    if (after_step)
        after_step();
    errno = error;
}

/* ---- the recorded steps ---- */

static int record_open(int dir_fd, const char *path, int flags, mode_t mode)
{
    if ((flags & O_CREAT) && fails_now())
        return -1;
    int fd = real_steps.open(dir_fd, path, flags, mode);
    if (fd < 0 || !(flags & O_CREAT) || strstr(path, ".lock"))
        return fd;
    assert_true(fd < MOST_FDS && disk.file_count < MOST_FILES);
    disk.files_by_fd[fd] = disk.file_count + 1;
    struct operation *operation = &disk.operations[disk.operation_count++];
    *operation = (struct operation){.file = disk.file_count++};
    snprintf(operation->to, sizeof operation->to, "%s", path);
    step_done();
    return fd;
}

static ssize_t record_write(int fd, const void *data, size_t size)
{
    if (fails_now())
        return -1;
    /* only a part of the bytes is written, as write() may do */
    size = size > 3 ? size - size / 3 : size;
    buffer_add(&disk.files[disk.files_by_fd[fd] - 1].written, data, size);
    ssize_t result = real_steps.write(fd, data, size);
    step_done();
    return result;
}

static bool is_registry_folder(int fd)
{
    struct stat here, wanted;
    return fstat(fd, &here) == 0 && stat(path_of("machine/registry.d"), &wanted) == 0 &&
           here.st_ino == wanted.st_ino && here.st_dev == wanted.st_dev;
}

static int name_place(const char *name)
{
    for (int i = 0; i < disk.name_count; i++)
        if (!strcmp(disk.names[i].name, name))
            return i;
    return -1;
}

static void bind_name(const char *name, int file)
{
    int place = name_place(name);
    if (place < 0)
        place = disk.name_count++;
    snprintf(disk.names[place].name, sizeof disk.names[place].name, "%s", name);
    disk.names[place].file = file;
}

static void apply_operation(const struct operation *operation)
{
    if (operation->file >= 0) {
        bind_name(operation->to, operation->file);
        return;
    }
    int place = name_place(operation->from);
    if (place < 0)
        return;
    int file = disk.names[place].file;
    disk.names[place] = disk.names[--disk.name_count];
    if (*operation->to)
        bind_name(operation->to, file);
}

static int record_sync(int fd)
{
    if (fails_now())
        return -1;
    if (disk.forget_syncs) {
        step_done();
        return 0;
    }
    if (is_registry_folder(fd)) {
        for (int i = 0; i < disk.operation_count; i++)
            apply_operation(&disk.operations[i]);
        disk.operation_count = 0;
    } else if (fd < MOST_FDS && disk.files_by_fd[fd]) {
        struct content *file = &disk.files[disk.files_by_fd[fd] - 1];
        buffer_add(&file->synced, file->written.data, file->written.len);
        buffer_clear(&file->written);
    }
    step_done();
    return 0;
}

static void record_change(const char *from, const char *to)
{
    struct operation *operation = &disk.operations[disk.operation_count++];
    *operation = (struct operation){.file = -1};
    snprintf(operation->from, sizeof operation->from, "%s", from);
    snprintf(operation->to, sizeof operation->to, "%s", to);
}

static int record_rename(int old_dir, const char *old_path, int new_dir, const char *new_path)
{
    if (fails_now())
        return -1;
    record_change(old_path, new_path);
    int result = real_steps.rename(old_dir, old_path, new_dir, new_path);
    step_done();
    return result;
}

static int record_unlink(int dir_fd, const char *path)
{
    record_change(path, "");
    int result = real_steps.unlink(dir_fd, path);
    step_done();
    return result;
}

static void disk_forget(void)
{
    for (int i = 0; i < disk.file_count; i++) {
        buffer_done(&disk.files[i].synced);
        buffer_done(&disk.files[i].written);
    }
    memset(&disk, 0, sizeof disk);
}

static int set_up_disk(void **state)
{
    set_up(state);
    real_steps = file_steps;
    file_steps =
        (struct file_steps){record_open, record_write, record_sync, record_rename, record_unlink};
    return 0;
}

static int tear_down_disk(void **state)
{
    file_steps = real_steps;
    after_step = NULL;
    steps_until_failure = 0;
    disk_forget();
    states = violations = 0;
    buffer_done(&before);
    buffer_done(&after);
    return tear_down(state);
}

/* ---- the states after a power loss ---- */

enum fate { LOST, TORN, KEPT, FATES };

/* Reads the files in the way of the store (the module that reads the registry). The store itself
 * cannot be used, because it is in the middle of an operation. */
static void merged_text(struct buffer *ret)
{
    TREE_AUTO *merged = tree_new();
    struct layer_folder folder = {.layer = LAYER_MACHINE, .path = (char *)path_of("after")};
    bool changed;
    assert_int_equal(folder_scan(&folder, &changed), ERROR_SUCCESS);
    for (size_t i = 0; i < folder.count; i++) {
        assert_non_null(folder.files[i].tree);
        assert_true(tree_merge(merged, folder.files[i].tree, 0));
    }
    buffer_clear(ret);
    assert_true(hive_print(ret, merged, NULL));
    folder_forget(&folder);
    free(folder.files);
}

static void write_state(int operations, enum fate fate)
{
    char name[128];
    struct operation kept[MOST_OPERATIONS];
    int name_count = disk.name_count;
    __typeof__(disk.names[0]) names[MOST_NAMES];
    memcpy(names, disk.names, sizeof names);
    memcpy(kept, disk.operations, sizeof kept);
    for (int i = 0; i < operations; i++)
        apply_operation(&kept[i]);
    temp_remove(path_of("after"));
    mkdir(path_of("after"), 0755);
    for (int i = 0; i < disk.name_count; i++) {
        BUFFER_AUTO bytes = {0};
        struct content *file = &disk.files[disk.names[i].file];
        size_t more = fate == LOST ? 0 : fate == TORN ? file->written.len / 2 : file->written.len;
        buffer_add(&bytes, file->synced.data, file->synced.len);
        buffer_add(&bytes, file->written.data, more);
        snprintf(name, sizeof name, "after/%s", disk.names[i].name);
        put_bytes(name, bytes.data, bytes.len);
    }
    memcpy(disk.names, names, sizeof names);
    disk.name_count = name_count;
}

static void judge_all_states(void)
{
    BUFFER_AUTO found = {0};
    for (int operations = 0; operations <= disk.operation_count; operations++)
        for (enum fate fate = LOST; fate < FATES; fate++) {
            write_state(operations, fate);
            merged_text(&found);
            states++;
            if (strcmp(found.data, before.data) && strcmp(found.data, after.data))
                violations++;
        }
}

/* ---- the operations ---- */

static LSTATUS set_first(void)
{
    return registry_set(LAYER_MACHINE, KEY, "a", REG_SZ, "1", 2);
}

static LSTATUS set_second(void)
{
    return registry_set(LAYER_MACHINE, KEY "\\Sub", "b", REG_MULTI_SZ, "x\0y\0", 5);
}

static LSTATUS set_again(void)
{
    return registry_set(LAYER_MACHINE, KEY, "a", REG_BINARY, "123456789", 9);
}

static LSTATUS delete_one(void)
{
    return registry_delete_value(LAYER_MACHINE, KEY, "a");
}

static LSTATUS make_one(void)
{
    HKEY key;
    LSTATUS status = ERROR_SUCCESS;
    bool existed;
    status = key_create(HKEY_LOCAL_MACHINE, "SOFTWARE\\Test\\New\\Deep", KEY_READ, &key, &existed);
    if (!status)
        key_close(key);
    return status;
}

static LSTATUS delete_key(void)
{
    return key_delete(HKEY_LOCAL_MACHINE, "SOFTWARE\\Test\\New\\Deep");
}

static LSTATUS hide_packaged(void)
{
    return registry_delete_tree(LAYER_MACHINE, KEY "\\Packaged");
}

static LSTATUS delete_all(void)
{
    return registry_delete_tree(LAYER_MACHINE, KEY);
}

/* Replaces the file of a registration in one edit; NULL: removes it. */
static LSTATUS edit_file(const char *text)
{
    struct registry_edit *edit;
    LSTATUS status = registry_edit_begin(LAYER_MACHINE, &edit);
    if (status)
        return status;
    status = text ? registry_edit_replace(edit, "svc.reg", text, strlen(text), NULL)
                  : registry_edit_remove(edit, "svc.reg");
    registry_edit_end(edit);
    return status;
}

static LSTATUS register_service(void)
{
    return edit_file(HEADER "[" KEY "\\Svc]\n\"First Counter\"=dword:00000738\n");
}

static LSTATUS register_again(void)
{
    return edit_file(HEADER "[" KEY "\\Svc]\n\"First Counter\"=dword:00000740\n[" KEY
                            "\\Svc\\Names\\009]\n\"1856\"=\"Name\"\n");
}

static LSTATUS unregister_service(void)
{
    return edit_file(NULL);
}

static LSTATUS import_three(void)
{
    static const char text[] = HEADER "[" KEY "]\n\"i\"=\"1\"\n\"j\"=\"2\"\n[-" KEY "\\New]\n";
    return opl_reg_import(text, sizeof text - 1, 0, NULL, NULL);
}

static LSTATUS (*const operations[])(void) = {
    set_first,          set_second, register_service, set_again,    delete_one,    register_again,
    unregister_service, make_one,   delete_key,       import_three, hide_packaged, delete_all};

static const char packaged[] = HEADER "[" KEY "\\Packaged]\n\"p\"=\"1\"\n\"q\"=\"2\"\n";

/* Writes a file as a package installs it; it is safely on the disk before the operation begins. */
static void put_packaged(void)
{
    put("machine/registry.d/a.reg", packaged);
    bind_name("a.reg", disk.file_count);
    buffer_add_text(&disk.files[disk.file_count++].synced, packaged);
}

/* Reads the whole registry as it would be if the disk lost nothing. */
static void current_text(struct buffer *ret)
{
    write_state(disk.operation_count, KEPT);
    merged_text(ret);
}

static const struct file_steps recorded_steps = {record_open, record_write, record_sync,
                                                 record_rename, record_unlink};

static const char *const changed_files[] = {"manual.reg", "svc.reg"};
enum { CHANGED_FILES = COUNT(changed_files) };

/* Reads those files that the operations change; a file that does not exist has no data. */
static void read_files(struct buffer files[CHANGED_FILES])
{
    char name[64];
    for (int i = 0; i < CHANGED_FILES; i++) {
        snprintf(name, sizeof name, "machine/registry.d/%s", changed_files[i]);
        buffer_done(&files[i]);
        files[i] = (struct buffer){0};
        file_read(AT_FDCWD, path_of(name), &files[i]);
    }
}

static void write_files(const char *folder, const struct buffer files[CHANGED_FILES])
{
    char name[64];
    for (int i = 0; i < CHANGED_FILES; i++) {
        snprintf(name, sizeof name, "%s/%s", folder, changed_files[i]);
        if (files[i].data)
            put_bytes(name, files[i].data, files[i].len);
        else
            unlink(path_of(name));
    }
}

/* Finds the state that an operation leads to: executes it, reads the files, and restores the old
 * ones. */
static void rehearse(LSTATUS (*operation)(void))
{
    struct buffer kept[CHANGED_FILES] = {{0}}, done[CHANGED_FILES] = {{0}};
    read_files(kept);
    file_steps = real_steps;
    assert_int_equal(operation(), ERROR_SUCCESS);
    read_files(done);
    write_files("machine/registry.d", kept);
    temp_remove(path_of("after"));
    put("after/a.reg", packaged);
    write_files("after", done);
    merged_text(&after);
    for (int i = 0; i < CHANGED_FILES; i++) {
        buffer_done(&kept[i]);
        buffer_done(&done[i]);
    }
    file_steps = recorded_steps;
}

/* Executes an operation on the model. If the power fails before it returns, everything or nothing
 * of it must be found; after it has returned, everything. */
static void run_operation(LSTATUS (*operation)(void))
{
    after_step = NULL;
    current_text(&before);
    rehearse(operation);
    assert_string_not_equal(before.data, after.data);
    after_step = judge_all_states;
    assert_int_equal(operation(), ERROR_SUCCESS);
    buffer_clear(&before);
    buffer_add(&before, after.data, after.len);
    judge_all_states();
}

static void power_loss_after_every_step(void **state)
{
    put_packaged();
    for (size_t i = 0; i < COUNT(operations); i++)
        run_operation(operations[i]);
    assert_int_equal(violations, 0);
    assert_true(states > 150);
}

static void the_model_notices_a_missing_sync(void **state)
{
    put_packaged();
    run_operation(set_first);
    assert_int_equal(violations, 0);
    disk.forget_syncs = true;
    run_operation(set_second);
    assert_true(violations > 0);
}

static bool has_temporary(void)
{
    BUFFER_AUTO command = {0};
    buffer_printf(&command, "ls -A %s | grep -q tmp", path_of("machine/registry.d"));
    return system(command.data) == 0;
}

static void a_step_that_fails_leaves_the_old_state(void **state)
{
    static const int errors[] = {ENOSPC, EIO, EDQUOT, EROFS};
    put_packaged();
    assert_int_equal(set_first(), ERROR_SUCCESS);
    for (size_t e = 0; e < COUNT(errors); e++)
        for (int step = 1;; step++) {
            char text[16];
            snprintf(text, sizeof text, "%zu-%d", e, step);
            steps_until_failure = step;
            failure_error = errors[e];
            LSTATUS status = registry_set(LAYER_MACHINE, KEY, "a", REG_SZ, text, strlen(text) + 1);
            bool failed = steps_until_failure == 0;
            steps_until_failure = 0;
            assert_int_equal(status != ERROR_SUCCESS, failed);
            disk_forget();
            BUFFER_AUTO now = {0};
            assert_int_equal(registry_get_text(KEY, "a", &now), ERROR_SUCCESS);
            assert_text(KEY "\\Packaged", "p", "1");
            if (!failed) {
                assert_string_equal(now.data, text);
                break;
            }
            assert_false(has_temporary());
            /* the last step is the sync of the folder: only after it is the new name certainly
             * there */
            if (!strcmp(now.data, text))
                assert_true(step >= 5);
        }
}

static void age_file(const char *name, time_t seconds)
{
    struct timespec when[2] = {{.tv_sec = time(NULL) - seconds}, {.tv_sec = time(NULL) - seconds}};
    put(name, "torn");
    utimensat(AT_FDCWD, path_of(name), when, 0);
}

/* All names are tested together, because a process removes old temporary files only once. */
static void a_killed_writers_temporary_file_is_swept(void **state)
{
    static const char *const other_users[] = {".0123456789abcdeg.tmp",  ".0123456789abcde.tmp",
                                              ".0123456789abcdef0.tmp", ".0123456789abcdef.tmq",
                                              "x0123456789abcdef.tmp",  ".0123456789abcdef_tmp"};
    char path[64];
    for (size_t i = 0; i < COUNT(other_users); i++) {
        snprintf(path, sizeof path, "user/registry.d/%s", other_users[i]);
        age_file(path, 100000);
    }
    age_file("user/registry.d/.0123456789abcdef.tmp", 70);
    age_file("user/registry.d/.0123456789abcdee.tmp", 50);
    assert_int_equal(registry_set(LAYER_USER, USER_KEY, "x", REG_SZ, "1", 2), ERROR_SUCCESS);
    assert_int_equal(access(path_of("user/registry.d/.0123456789abcdef.tmp"), F_OK), -1);
    assert_int_equal(access(path_of("user/registry.d/.0123456789abcdee.tmp"), F_OK), 0);
    for (size_t i = 0; i < COUNT(other_users); i++) {
        snprintf(path, sizeof path, "user/registry.d/%s", other_users[i]);
        assert_int_equal(access(path_of(path), F_OK), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(power_loss_after_every_step, set_up_disk, tear_down_disk),
        cmocka_unit_test_setup_teardown(the_model_notices_a_missing_sync, set_up_disk,
                                        tear_down_disk),
        cmocka_unit_test_setup_teardown(a_step_that_fails_leaves_the_old_state, set_up_disk,
                                        tear_down_disk),
        ROOT_TEST(a_killed_writers_temporary_file_is_swept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
