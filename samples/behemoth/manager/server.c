/* SPDX-License-Identifier: MIT */
/* Starts a server in the background and waits until it listens; stops a server and waits until it
 * has saved the herd and ended. */
#include "manager.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RECHECK_MS = 20, STOP_MS = 30000 };

/* ---- start ---- */

/* Finds behemoth-server: in the folder of this program, or else in PATH. */
static void find_server(char *ret, size_t bytes)
{
    static const char name[] = "behemoth-server";
    ssize_t length = readlink("/proc/self/exe", ret, bytes - sizeof name);
    ret[length > 0 ? length : 0] = 0;
    char *slash = strrchr(ret, '/');
    strcpy(slash ? slash + 1 : ret, name);
    if (!slash || access(ret, X_OK) < 0)
        strcpy(ret, name);
}

/* Starts the server in its own session, with nothing open except its log, and with the options that
 * follow the command `start`. Returns 0 or an errno value. */
static int spawn(struct manager *manager, const char *log, pid_t *ret)
{
    char program[4096], socket[sizeof manager->place + 16];
    char **argv = manager->options.argv;
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    find_server(program, sizeof program);
    snprintf(socket, sizeof socket, "--socket=%s", manager->place);
    argv[0] = program;
    argv[1] = socket;
    /* LISTEN_PID is systemd's variable for this process, not for the server */
    unsetenv("LISTEN_PID");
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&files, 2, log, O_WRONLY | O_APPEND | O_NOFOLLOW, 0);
    posix_spawn_file_actions_addclosefrom_np(&files, 3);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
    int reason = posix_spawnp(ret, program, &files, &attributes, argv, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return reason;
}

/* Waits until the server listens, or has ended. If it has ended, prints its messages, from byte
 * `from` of the log on. There is no time limit, because --forward may take long. */
static int wait_for_server(struct manager *manager, pid_t pid, const char *log, off_t from)
{
    char line[1024];
    while (!behemoth_exchange(&manager->line, manager->place, BEHEMOTH_SUMMARY, NULL, 0,
                              behemoth_now() + ANSWER_MS)) {
        if (waitpid(pid, NULL, WNOHANG) == pid) {
            FILE *file = fopen(log, "re");
            if (file)
                fseeko(file, from, SEEK_SET);
            while (file && fgets(line, sizeof line, file))
                fputs(line, stderr);
            if (file)
                fclose(file);
            fputs("behemoth-manager: the server did not start.\n", stderr);
            return EXIT_FAILED;
        }
        poll(NULL, 0, RECHECK_MS);
    }
    printf("started, process %ld, at %s\n", (long)pid, manager->place);
    return EXIT_GOOD;
}

/* Starts the server in the background. Its messages go to a log file in the socket's folder. */
static int launch(struct manager *manager)
{
    char log[sizeof manager->place + 8];
    struct stat status;
    pid_t pid;
    behemoth_place(manager->socket, true, manager->place, sizeof manager->place);
    snprintf(log, sizeof log, "%s.log", manager->place);
    make_folders(log);
    int fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0 || fstat(fd, &status) < 0) {
        fprintf(stderr, "behemoth-manager: %s: %s.\n", log, strerror(errno));
        return errno == EACCES ? EXIT_NO_RIGHT : EXIT_FAILED;
    }
    close(fd);
    int reason = spawn(manager, log, &pid);
    if (!reason)
        return wait_for_server(manager, pid, log, status.st_size);
    fprintf(stderr, "behemoth-manager: behemoth-server cannot be started: %s.\n", strerror(reason));
    return EXIT_FAILED;
}

int command_start(struct manager *manager)
{
    if (!behemoth_exchange(&manager->line, manager->place, BEHEMOTH_SUMMARY, NULL, 0,
                           behemoth_now() + ANSWER_MS))
        return errno == ENOENT || errno == ECONNREFUSED ? launch(manager)
                                                        : manager_complain(manager);
    const struct behemoth_herd *herd = behemoth_herd_of(&manager->line);
    printf("already runs, process %" PRIu64 ", at %s\n", herd ? herd->process : 0, manager->place);
    if (!manager->for_server)
        return EXIT_GOOD;
    fputs("behemoth-manager: a running server cannot take these options; stop it first, or use "
          "'parameters'.\n",
          stderr);
    return EXIT_FAILED;
}

/* ---- stop ---- */

int command_stop(struct manager *manager)
{
    const struct behemoth_herd *herd;
    int code = manager_herd(manager, &herd);
    if (code)
        return code;
    pid_t pid = (pid_t)herd->process;
    /* a pidfd, because the process may end and its number be reused */
    struct pollfd process = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};
    code = manager_request(manager, BEHEMOTH_STOP, NULL, 0, ANSWER_MS);
    if (!code && process.fd >= 0 && poll(&process, 1, STOP_MS) == 0) {
        fprintf(stderr, "behemoth-manager: process %ld was told to stop, but has not ended.\n",
                (long)pid);
        code = EXIT_FAILED;
    }
    if (process.fd >= 0)
        close(process.fd);
    if (code)
        return code;
    printf("stopped, process %ld\n", (long)pid);
    if (access(manager->place, F_OK) == 0) /* the socket belongs to systemd, which still listens */
        printf("the next query starts it again, because systemd listens at %s\n", manager->place);
    return EXIT_GOOD;
}
