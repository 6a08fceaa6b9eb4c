/* SPDX-License-Identifier: MIT */
/*
 * The object Redirector compared with a share that the test serves: Samba's server runs in a
 * network namespace of its own; the share is mounted without a cache, and read and written in
 * pieces of known size. Needs root, smbd, and the kernel's SMB client, which no other program may
 * be using. Runs in a child process.
 */
#include "network.h"
#include "../temp.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>

enum { REDIRECTOR = 262, PIECES = 16, PIECE = 65536 };

static char folder[64];
static pid_t server;

static void start_server(void)
{
    char path[128];
    snprintf(path, sizeof path, "%s/conf", folder);
    server = fork();
    if (server == 0) {
        setpgid(0, 0);
        int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
        for (int fd = 0; fd < 3; fd++)
            dup2(nothing, fd);
        execlp("smbd", "smbd", "-F", "--no-process-group", "-s", path, "-l", folder, NULL);
        _exit(127);
    }
}

static void stop_server(void)
{
    kill(-server, SIGKILL), kill(server, SIGKILL), waitpid(server, NULL, 0);
    server = 0;
}

static void leave(int code)
{
    char path[128];
    snprintf(path, sizeof path, "%s/mount", folder);
    if (server > 0)
        stop_server();
    umount2(path, MNT_FORCE | MNT_DETACH);
    temp_remove(folder);
    fflush(stdout);
    _exit(code);
}

static void make_folders(void)
{
    static const char *const names[] = {"private", "lock", "state", "cache",
                                        "pid",     "rpc",  "share", "mount"};
    char path[128], conf[2048];
    temp_make(folder);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        mkdir(path, 0755);
    }
    snprintf(conf, sizeof conf,
             "[global]\nmap to guest = Bad User\nguest account = root\nload printers = no\n"
             "server role = standalone server\ndisable netbios = yes\nsmb ports = 4455\n"
             "private dir = %s/private\nlock directory = %s/lock\nstate directory = %s/state\n"
             "cache directory = %s/cache\npid directory = %s/pid\nncalrpc dir = %s/rpc\n"
             "[s]\npath = %s/share\nguest ok = yes\nread only = no\n",
             folder, folder, folder, folder, folder, folder, folder);
    temp_write(folder, "conf", conf);
}

static bool mount_share(void)
{
    char path[128];
    snprintf(path, sizeof path, "%s/mount", folder);
    for (int i = 0; i < 100; i++, usleep(200000)) {
        if (mount("//127.0.0.1/s", path, "cifs", 0,
                  "ip=127.0.0.1,unc=\\\\127.0.0.1\\s,user=guest,pass=,sec=none,vers=3.0,port=4455,"
                  "cache=none") == 0)
            return true;
        if (errno == ENODEV || errno == EPERM || waitpid(server, NULL, WNOHANG) > 0)
            return false;
    }
    return false;
}

/* Reads and writes the share in pieces, each of which is one request. */
static void use_share(void)
{
    char path[128];
    void *piece = NULL;
    snprintf(path, sizeof path, "%s/mount/file", folder);
    int fd = open(path, O_RDWR | O_CREAT | O_DIRECT | O_CLOEXEC, 0644);
    bool good = fd >= 0 && posix_memalign(&piece, 4096, PIECE) == 0;
    for (off_t i = 0; good && i < PIECES; i++)
        good = pwrite(fd, piece, PIECE, i * PIECE) == PIECE;
    for (off_t i = 0; good && i < 2 * PIECES; i++)
        good = pread(fd, piece, PIECE, i % PIECES * PIECE) == PIECE;
    close(fd);
    if (!good) {
        printf("# the share cannot be used: %d\n", errno);
        leave(1);
    }
}

static void check(int line, uint64_t value, uint64_t least, uint64_t most)
{
    if (value >= least && value <= most)
        return;
    printf("# line %d: %llu, not %llu to %llu\n", line, (unsigned long long)value,
           (unsigned long long)least, (unsigned long long)most);
    leave(1);
}

static uint64_t queried(unsigned index)
{
    uint64_t value = 0;
    run_query("262");
    check(__LINE__, find(REDIRECTOR, NULL, index, &value), 1, 1);
    return value;
}

static void child_share(void)
{
    static const unsigned rows[] = {274, 286, 292, 302, 278};
    uint64_t before[5];
    if (access("/proc/fs/cifs/Stats", R_OK) != 0)
        _exit(CANNOT_RUN);
    own_network();
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
        _exit(CANNOT_RUN);
    perfnet.close();
    IS(perfnet.open(NULL), 0);
    if (queried(314) != 0) /* another program uses shares */
        _exit(CANNOT_RUN);
    make_folders();
    start_server();
    if (!mount_share())
        leave(CANNOT_RUN);
    check(__LINE__, queried(314), 1, 1);
    for (size_t i = 0; i < 5; i++)
        before[i] = queried(rows[i]);
    use_share();
    check(__LINE__, queried(274) - before[0], 2 * PIECES * PIECE, 2 * PIECES * PIECE);
    check(__LINE__, queried(286) - before[1], PIECES * PIECE, PIECES * PIECE);
    check(__LINE__, queried(292) - before[2], 2 * PIECES, 2 * PIECES);
    check(__LINE__, queried(302) - before[3], PIECES, PIECES);
    /* requests to open, close and look up count, too, and several may be sent as one */
    check(__LINE__, queried(278) - before[4], 3 * PIECES + 1, 3 * PIECES + 30);
    check(__LINE__, queried(392), 0, 0);
    uint64_t again = queried(316);
    stop_server();
    start_server();
    use_share();
    check(__LINE__, queried(316) - again, 1, 5);
    leave(0);
}

static void work_on_a_share_appears(void **state)
{
    in_child(child_share);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_on_a_share_appears),
    };
    return cmocka_run_group_tests(tests, open_library, close_library);
}
