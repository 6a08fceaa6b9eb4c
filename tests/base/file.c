/* SPDX-License-Identifier: MIT */
/* Tests of base/file.c: in turn, each step of replacing a file (open, write, sync, rename) fails or
 * is interrupted, and every write stores only a part. */
#include "test.h"
#include "../temp.h"
#include "../skip.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

static char folder[64];
static int folder_fd;
static struct file_steps real;

static int set_up(void **state)
{
    temp_make(folder);
    folder_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    real = file_steps;
    return folder_fd < 0;
}

static int tear_down(void **state)
{
    file_steps = real;
    close(folder_fd);
    temp_remove(folder);
    return 0;
}

/* ---- faults: the n-th step, of whatever kind, fails ---- */

static int steps_until_fault, fault_error;

static bool fault_now(void)
{
    if (steps_until_fault < 0 || steps_until_fault-- > 0)
        return false;
    errno = fault_error;
    return true;
}

static int fault_open(int dir_fd, const char *path, int flags, mode_t mode)
{
    return fault_now() ? -1 : real.open(dir_fd, path, flags, mode);
}

static ssize_t fault_write(int fd, const void *data, size_t size)
{
    /* every write is incomplete */
    return fault_now() ? -1 : real.write(fd, data, size > 3 ? 3 : size);
}

static int fault_sync(int fd)
{
    return fault_now() ? -1 : real.sync(fd);
}

static int fault_rename(int old_dir, const char *old_path, int new_dir, const char *new_path)
{
    return fault_now() ? -1 : real.rename(old_dir, old_path, new_dir, new_path);
}

static void arm(int step, int error)
{
    steps_until_fault = step;
    fault_error = error;
    file_steps =
        (struct file_steps){fault_open, fault_write, fault_sync, fault_rename, real.unlink};
}

static int files_in_folder(void)
{
    int count = 0;
    DIR *dir = opendir(folder);
    for (struct dirent *entry; (entry = readdir(dir));)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(dir);
    return count;
}

static void expect(const char *name, const char *content)
{
    BUFFER_AUTO buffer = {0};
    assert_int_equal(file_read(folder_fd, name, &buffer), ERROR_SUCCESS);
    assert_string_equal(buffer.data, content);
    assert_int_equal(buffer.len, strlen(content));
}

static LSTATUS replace(const char *content)
{
    return file_replace(folder_fd, "f", 0644, content, strlen(content), NULL, NULL);
}

static void replaces_with_the_mode_asked(void **state)
{
    struct stat st, reported;
    mode_t mask = umask(077);
    assert_int_equal(file_replace(folder_fd, "f", 0644, "one", 3, NULL, &reported), ERROR_SUCCESS);
    umask(mask);
    assert_int_equal(fstatat(folder_fd, "f", &st, 0), 0);
    assert_int_equal(st.st_mode & 07777, 0644);
    assert_int_equal(st.st_ino, reported.st_ino);
    assert_int_equal(st.st_mtim.tv_nsec, reported.st_mtim.tv_nsec);
    assert_int_equal(replace(""), ERROR_SUCCESS);
    expect("f", "");
    assert_int_equal(files_in_folder(), 1);
}

static void time_is_later_than_asked(void **state)
{
    struct timespec future = {.tv_sec = 4000000000, .tv_nsec = 999999999};
    struct stat st;
    assert_int_equal(file_replace(folder_fd, "f", 0600, "x", 1, &future, &st), ERROR_SUCCESS);
    assert_true(st.st_mtim.tv_sec > future.tv_sec);
}

/* Each step of replacing a file fails in turn. Then the result is an error, the old file is
 * unchanged, and no temporary file is left. One exception: when the last step (the sync of the
 * folder) fails, the new file has already replaced the old one. */
static void any_failed_step_leaves_the_old_file(void **state)
{
    static const struct {
        int error;
        LSTATUS status;
    } faults[] = {
        {ENOSPC, ERROR_DISK_FULL    },
        {EIO,    ERROR_IO_DEVICE    },
        {EACCES, ERROR_ACCESS_DENIED}
    };
    for (size_t fault = 0; fault < COUNT(faults); fault++) {
        int step = 0;
        for (LSTATUS status = ERROR_GEN_FAILURE; status != ERROR_SUCCESS; step++) {
            file_steps = real;
            assert_int_equal(replace("old"), ERROR_SUCCESS);
            arm(step, faults[fault].error);
            status = replace("new content");
            bool reported = steps_until_fault == -1;
            file_steps = real;
            assert_int_equal(status, reported ? faults[fault].status : ERROR_SUCCESS);
            assert_int_equal(files_in_folder(), 1);
            expect("f", step >= 8 ? "new content" : "old");
        }
        /* steps: open the folder, create a temporary file, 4 incomplete writes, sync, rename, sync
         * of the folder; in the tenth round no step fails */
        assert_int_equal(step, 10);
    }
}

static void interruptions_are_repeated(void **state)
{
    for (int step = 0; step < 9; step++) {
        if (step == 7) /* rename is never interrupted by a signal */
            continue;
        arm(step, EINTR);
        assert_int_equal(replace("new content"), ERROR_SUCCESS);
        assert_int_equal(steps_until_fault, -1);
        expect("f", "new content");
    }
}

static void a_folder_that_cannot_sync_is_fine(void **state)
{
    arm(8, EINVAL);
    assert_int_equal(replace("new content"), ERROR_SUCCESS);
}

static void a_full_disk_is_reported(void **state)
{
    int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
    if (fd < 0) {
        report_skipped("there is no /dev/full");
        return;
    }
    assert_int_equal(real.write(fd, "x", 1), -1);
    assert_int_equal(status_from_errno(errno), ERROR_DISK_FULL);
    close(fd);
}

static void odd_paths_are_refused(void **state)
{
    char name[400];
    BUFFER_AUTO buffer = {0};
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    assert_int_equal(file_replace(folder_fd, name, 0600, "", 0, NULL, NULL),
                     ERROR_FILENAME_EXCED_RANGE);
    assert_int_equal(file_replace(folder_fd, "no/f", 0600, "", 0, NULL, NULL),
                     ERROR_FILE_NOT_FOUND);
    assert_int_equal(file_replace(folder_fd, ".", 0600, "", 0, NULL, NULL), ERROR_BUSY);
    assert_int_equal(files_in_folder(), 0);
    assert_int_equal(file_remove(folder_fd, "f"), ERROR_FILE_NOT_FOUND);
    assert_int_equal(file_read(folder_fd, "f", &buffer), ERROR_FILE_NOT_FOUND);
    assert_int_equal(file_read(folder_fd, ".", &buffer), ERROR_ACCESS_DENIED);
    name[255] = '\0'; /* the longest possible name */
    assert_int_equal(file_replace(folder_fd, name, 0600, "", 0, NULL, NULL), ERROR_SUCCESS);
    assert_int_equal(file_remove(folder_fd, name), ERROR_SUCCESS);
    assert_int_equal(files_in_folder(), 0);
}

static void reads_what_has_no_size(void **state)
{
    BUFFER_AUTO buffer = {0};
    assert_int_equal(file_read(AT_FDCWD, "/proc/self/stat", &buffer), ERROR_SUCCESS);
    assert_true(buffer.len > 20);
    char *before = buffer.data;
    assert_int_equal(file_read(AT_FDCWD, "/proc/self/stat", &buffer), ERROR_SUCCESS);
    assert_ptr_equal(buffer.data, before); /* the second read allocates nothing */
    assert_int_equal(mkfifoat(folder_fd, "pipe", 0600), 0);
    /* opening a pipe must not hang */
    assert_int_equal(file_read(folder_fd, "pipe", &buffer), ERROR_SUCCESS);
    assert_int_equal(buffer.len, 0);
}

static void folders_are_made_once(void **state)
{
    char path[128];
    struct stat st;
    snprintf(path, sizeof path, "%s/a//b/c/", folder);
    mode_t mask = umask(077);
    assert_int_equal(file_make_folders(path, 0755), ERROR_SUCCESS);
    umask(mask);
    assert_int_equal(file_make_folders(path, 0755), ERROR_SUCCESS);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0755);
    assert_int_equal(file_replace(folder_fd, "a/b/f", 0600, "", 0, NULL, NULL), ERROR_SUCCESS);
    snprintf(path, sizeof path, "%s/a/b/f/g", folder);
    assert_int_equal(file_make_folders(path, 0755), ERROR_PATH_NOT_FOUND);
    assert_int_equal(file_make_folders("", 0755), ERROR_PATH_NOT_FOUND);
}

static void a_lock_keeps_others_out(void **state)
{
    int fd, status = 0;
    struct stat st;
    assert_int_equal(file_lock(folder_fd, "lock", &fd), ERROR_SUCCESS);
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    pid_t child = fork();
    if (child == 0) {
        alarm(1); /* ends this process if it waits for ever */
        int other;
        file_lock(folder_fd, "lock", &other);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    file_unlock(&fd);
    assert_int_equal(fd, -1);
    file_unlock(&fd);
    assert_int_equal(file_lock(folder_fd, "lock", &fd), ERROR_SUCCESS);
    file_unlock(&fd);
    assert_int_equal(file_lock(folder_fd, "no/lock", &fd), ERROR_FILE_NOT_FOUND);
    assert_int_equal(fd, -1);
}

static void only_few_are_trusted(void **state)
{
    uid_t me = geteuid(), third_party = me + 12345;
    const struct {
        uid_t owner;
        mode_t mode;
        bool entry, trusted;
    } cases[] = {
        {me,          S_IFREG | 0644,  false, true },
        {0,           S_IFREG | 0755,  false, true },
        {third_party, S_IFREG | 0644,  false, false},
        {me,          S_IFREG | 0664,  false, false},
        {me,          S_IFREG | 0646,  false, false},
        {0,           S_IFDIR | 01777, true,  true },
        {0,           S_IFDIR | 01777, false, false},
        {0,           S_IFDIR | 0777,  true,  false},
        {third_party, S_IFDIR | 01777, true,  false},
        {0,           S_IFREG | 01666, true,  false},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct stat st = {.st_uid = cases[i].owner, .st_mode = cases[i].mode};
        assert_int_equal(file_trusted(&st, cases[i].entry), cases[i].trusted);
    }
}

/* In a folder like /tmp, other users can create a link with the name of a file that root is going
 * to write. Root must refuse it, and not overwrite the file to which the link leads. */
static void only_a_file_with_one_name_is_overwritten(void **state)
{
    struct stat st;
    static const char *const strange[] = {"link", "symlink", "fifo", "folder"};
    int fd = file_open_to_write(folder_fd, "new", 1 << 20, false);
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(st.st_mode, S_IFREG | 0644);
    close(fd);
    assert_int_equal(fchmodat(folder_fd, "new", 0600, 0), 0);
    assert_int_equal(linkat(folder_fd, "new", folder_fd, "link", 0), 0);
    assert_int_equal(symlinkat("new", folder_fd, "symlink"), 0);
    assert_int_equal(mkfifoat(folder_fd, "fifo", 0600), 0);
    assert_int_equal(mkdirat(folder_fd, "folder", 0700), 0);
    for (size_t i = 0; i < COUNT(strange); i++)
        assert_int_equal(file_open_to_write(folder_fd, strange[i], 1 << 20, false), -1);
    assert_int_equal(fstatat(folder_fd, "new", &st, 0), 0);
    assert_int_equal(st.st_mode, S_IFREG | 0600);
    assert_int_equal(unlinkat(folder_fd, "folder", AT_REMOVEDIR), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(replaces_with_the_mode_asked),
        TEST(time_is_later_than_asked),
        TEST(any_failed_step_leaves_the_old_file),
        TEST(interruptions_are_repeated),
        TEST(a_folder_that_cannot_sync_is_fine),
        TEST(a_full_disk_is_reported),
        TEST(odd_paths_are_refused),
        TEST(reads_what_has_no_size),
        TEST(folders_are_made_once),
        TEST(a_lock_keeps_others_out),
        TEST(only_few_are_trusted),
        TEST(only_a_file_with_one_name_is_overwritten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
