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
static int spawn(const char *log, pid_t *ret)
{
    char program[4096], socket[sizeof manager.place + 16];
    char **argv = manager.options.argv;
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    find_server(program, sizeof program);
    snprintf(socket, sizeof socket, "--socket=%s", manager.place);
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

/* Waits until the server listens, or has ended; then prints the rest of `log`, its messages. There
 * is no time limit, because --forward may take long. */
static int wait_for_server(pid_t pid, int log)
{
    char text[1024];
    for (; !manager_look(BEHEMOTH_SUMMARY); poll(NULL, 0, RECHECK_MS)) {
        if (waitpid(pid, NULL, WNOHANG) != pid)
            continue;
        for (ssize_t count; (count = read(log, text, sizeof text)) > 0;)
            fwrite(text, 1, (size_t)count, stderr);
        fputs("behemoth-manager: the server did not start.\n", stderr);
        return EXIT_FAILED;
    }
    printf("started, process %ld, at %s\n", (long)pid, manager.place);
    return EXIT_GOOD;
}

/* Starts the server in the background. Its messages go to a log file in the socket's folder. */
static int launch(void)
{
    char log[sizeof manager.place + 8];
    pid_t pid;
    behemoth_place(manager.socket, true, manager.place, sizeof manager.place);
    snprintf(log, sizeof log, "%s.log", manager.place);
    make_folders(log);
    int fd = open(log, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) {
        fprintf(stderr, "behemoth-manager: %s: %s.\n", log, strerror(errno));
        return errno == EACCES ? EXIT_NO_RIGHT : EXIT_FAILED;
    }
    lseek(fd, 0, SEEK_END);
    int reason = spawn(log, &pid), code = reason ? EXIT_FAILED : wait_for_server(pid, fd);
    if (reason)
        fprintf(stderr, "behemoth-manager: behemoth-server: %s.\n", strerror(reason));
    close(fd);
    return code;
}

int command_start(void)
{
    const struct behemoth_herd *herd = manager_look(BEHEMOTH_SUMMARY);
    if (!herd)
        return errno == ENOENT || errno == ECONNREFUSED ? launch() : manager_complain();
    printf("already runs, process %" PRIu64 ", at %s\n", herd->process, manager.place);
    if (!manager.for_server)
        return EXIT_GOOD;
    fputs("behemoth-manager: a running server cannot take these options; stop it first, or use "
          "'parameters'.\n",
          stderr);
    return EXIT_FAILED;
}

/* ---- stop ---- */

int command_stop(void)
{
    const struct behemoth_herd *herd = manager_look(BEHEMOTH_SUMMARY);
    if (!herd)
        return manager_complain();
    long pid = (long)herd->process;
    /* a pidfd, because the process may end and its number be reused */
    struct pollfd process = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};
    int code = manager_request(BEHEMOTH_STOP, NULL, 0);
    if (!code && process.fd >= 0 && poll(&process, 1, STOP_MS) == 0) {
        fprintf(stderr, "behemoth-manager: process %ld was told to stop, but has not ended.\n",
                pid);
        code = EXIT_FAILED;
    }
    if (process.fd >= 0)
        close(process.fd);
    if (code)
        return code;
    printf("stopped, process %ld\n", pid);
    if (access(manager.place, F_OK) == 0) /* the socket belongs to systemd, which still listens */
        printf("the next query starts it again, because systemd listens at %s\n", manager.place);
    return EXIT_GOOD;
}
