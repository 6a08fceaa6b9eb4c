/* SPDX-License-Identifier: MIT */
/*
 * File systems that another program serves, through /dev/fuse; the test is that program, and can
 * delay its answers. The test's first process is the server; its child process mounts the file
 * system, queries perfdisk.so, and checks that no thread or process remains. The mount is in a
 * mount namespace of its own, so that nothing stays mounted.
 */
#include "answer.h"
#include "../skip.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <time.h>

enum { LOGICAL = 236, FREE_MEGABYTES = 410, BLOCK = 4096 };

static struct shared {
    volatile bool silent; /* queries for the free space get no answer */
    volatile unsigned questions;
} * shared;
static struct library perfdisk;
static char place[] = "/tmp/opl-far-XXXXXX";

/* ---- the server ---- */

static void reply(int device, uint64_t unique, int error, const void *data, size_t bytes)
{
    char storage[256];
    struct fuse_out_header header = {(uint32_t)(sizeof header + bytes), error, unique};
    memcpy(storage, &header, sizeof header);
    if (bytes)
        memcpy(storage + sizeof header, data, bytes);
    if (write(device, storage, sizeof header + bytes) < 0 && errno != ENOENT)
        perror("fuse");
}

static void answer_init(int device, uint64_t unique)
{
    struct fuse_init_out out = {.major = FUSE_KERNEL_VERSION, .minor = 31, .max_write = 4096};
    reply(device, unique, 0, &out, sizeof out);
}

static void answer_space(int device, uint64_t unique)
{
    struct fuse_statfs_out out = {
        .st = {.blocks = 1000000, .bfree = 500000, .bavail = 400000}
    };
    out.st.bsize = out.st.frsize = BLOCK;
    out.st.namelen = 255;
    reply(device, unique, 0, &out, sizeof out);
}

static void serve_until_gone(int device, pid_t client, int *ret_status)
{
    static char storage[1 << 17];
    uint64_t waiting[16];
    size_t waits = 0;
    while (waitpid(client, ret_status, WNOHANG) == 0) {
        struct pollfd poll_fd = {.fd = device, .events = POLLIN};
        if (!shared->silent)
            while (waits > 0)
                answer_space(device, waiting[--waits]);
        if (poll(&poll_fd, 1, 10) <= 0 || read(device, storage, sizeof storage) <= 0)
            continue;
        struct fuse_in_header header;
        memcpy(&header, storage, sizeof header);
        if (header.opcode == FUSE_INIT)
            answer_init(device, header.unique);
        else if (header.opcode == FUSE_STATFS && waits < 16)
            waiting[waits++] = header.unique, shared->questions++;
        else if (header.opcode != FUSE_FORGET && header.opcode != FUSE_INTERRUPT)
            reply(device, header.unique, -ENOSYS, NULL, 0);
    }
}

/* ---- the client ---- */

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double run_query(void)
{
    double start = seconds();
    if (library_query(&perfdisk, "236") != ERROR_SUCCESS)
        exit(10);
    double took = seconds() - start;
    answer_begin();
    return took;
}

static unsigned descriptors(void)
{
    unsigned count = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (folder && readdir(folder))
        count++;
    closedir(folder);
    return count;
}

static volatile sig_atomic_t children_ended;

static void on_child(int signal)
{
    children_ended++;
}

static void mount_it(int device)
{
    char options[128];
    snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=0,group_id=0", device);
    if (mount("opl", place, "fuse.opl", MS_NOSUID | MS_NODEV, options) != 0)
        exit(77);
}

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static void answers_are_exact(void)
{
    run_query();
    MUST(answer_number(LOGICAL, place, FREE_MEGABYTES, false) == 400000ULL * BLOCK >> 20);
    MUST(answer_number(LOGICAL, place, 408, true) == 900000ULL * BLOCK >> 20);
    MUST(shared->questions == 1);
    run_query();
    MUST(shared->questions == 1); /* the free space is queried only every ten seconds */
}

/* While the server is silent, the first query waits 200 ms and no longer, and the following ones do
 * not wait. An answer that comes later is used by the next query. */
static void silence_costs_little(void)
{
    shared->silent = true;
    double first = run_query();
    MUST(first > 0.15 && first < 1.5);
    MUST(shared->questions == 1);
    /* the file system is omitted, because 0 bytes free would be a false alarm */
    MUST(!strstr(answer_names(LOGICAL), place));
    MUST(answer_number(LOGICAL, "/", 408, true) > 0);
    double least = 1;
    for (int i = 0; i < 5; i++) {
        double took = run_query();
        least = took < least ? took : least;
    }
    MUST(least < 0.1);
    MUST(shared->questions == 1);
    shared->silent = false;
    for (int i = 0; i < 200 && !strstr(answer_names(LOGICAL), place); i++)
        usleep(20000), run_query();
    MUST(answer_number(LOGICAL, place, FREE_MEGABYTES, false) == 400000ULL * BLOCK >> 20);
}

static void run_client(int device, void (*test)(void))
{
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
        exit(77);
    signal(SIGCHLD, on_child);
    MUST(perfdisk.open(NULL) == 0);
    run_query();
    mount_it(device);
    unsigned before = descriptors();
    test();
    MUST(descriptors() == before);
    MUST(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
    MUST(children_ended == 0);
    umount2(place, MNT_DETACH);
    run_query(); /* the table of mounts is watched, so the removal is noticed */
    MUST(strstr(answer_names(LOGICAL), place) == NULL);
    perfdisk.close();
    exit(0);
}

static void with_server(void (*test)(void))
{
    int status = 0, device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    if (device < 0 || geteuid() != 0) {
        report_skipped("no /dev/fuse, or not root");
        close(device);
        return;
    }
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(shared != MAP_FAILED);
    assert_non_null(mkdtemp(place));
    pid_t client = fork();
    if (client == 0)
        run_client(device, test);
    serve_until_gone(device, client, &status);
    close(device);
    rmdir(place);
    strcpy(place, "/tmp/opl-far-XXXXXX");
    munmap(shared, sizeof *shared);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        report_skipped("file systems cannot be mounted here");
    else
        assert_int_equal(status, 0);
}

static void spaces_elsewhere_are_asked_for(void **state)
{
    with_server(answers_are_exact);
}

static void a_mount_that_does_not_answer_is_not_waited_for(void **state)
{
    with_server(silence_costs_little);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(spaces_elsewhere_are_asked_for),
        cmocka_unit_test(a_mount_that_does_not_answer_is_not_waited_for),
    };
    library_load(&perfdisk, "perfdisk", "OpenDiskObject", "CollectDiskObjectData",
                 "CloseDiskObject");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
