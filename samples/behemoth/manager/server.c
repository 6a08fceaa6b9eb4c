/* SPDX-License-Identifier: MIT */
/* Starts a server in the background and waits until it listens; stops one and waits until it has
 * saved and ended. */
#include "manager.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LOOK_AGAIN_MS = 20, STOP_MS = 30000 };

/* ---- start ---- */

/* Beside this program, or where programs are. */
static void find_server(char *storage, size_t bytes)
{
    static const char name[] = "behemoth-server";
    ssize_t length = readlink("/proc/self/exe", storage, bytes - sizeof name);
    char *slash = NULL;
    if (length > 0) {
        storage[length] = 0;
        slash = strrchr(storage, '/');
    }
    if (slash)
        strcpy(slash + 1, name);
    if (!slash || access(storage, X_OK) < 0)
        snprintf(storage, bytes, "%s", name);
}

static void make_folders(const char *path)
{
    char folder[LOG_PLACE];
    snprintf(folder, sizeof folder, "%s", path);
    for (char *slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(folder, 0755);
        *slash = '/';
    }
}

/* The messages of a server in the background are in a file in its socket's folder. */
static int open_log(const struct manager *manager, char *path, size_t bytes)
{
    snprintf(path, bytes, "%s.log", manager->place);
    make_folders(path);
    return open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
}

static void become_server(struct manager *manager, const char *program, int log)
{
    char socket[PLACE + 16];
    char *argv[SERVER_OPTIONS + 3] = {(char *)program, socket};
    int nothing = open("/dev/null", O_RDWR);
    snprintf(socket, sizeof socket, "--socket=%s", manager->place);
    memcpy(argv + 2, manager->server_options, sizeof manager->server_options);
    setsid();
    if (nothing < 0 || dup2(nothing, 0) < 0 || dup2(nothing, 1) < 0 || dup2(log, 2) < 0)
        _exit(126);
    closefrom(3);
    unsetenv("LISTEN_PID"); /* systemd's variables for this process, not for the server */
    execvp(program, argv);
    dprintf(2, "behemoth-manager: %s: %s\n", program, strerror(errno));
    _exit(127);
}

/* Prints the log's text from byte `from` on. */
static void copy_log(const char *path, off_t from)
{
    char line[1024];
    FILE *file = fopen(path, "re");
    if (file)
        fseeko(file, from, SEEK_SET);
    while (file && fgets(line, sizeof line, file))
        fputs(line, stderr);
    if (file)
        fclose(file);
}

/* Until it listens, or has ended. A herd that is to be forwarded first takes its time. */
static int wait_for_server(struct manager *manager, pid_t pid, const char *log, off_t from)
{
    for (;;) {
        int status;
        if (behemoth_ask(&manager->line, manager->place, BEHEMOTH_HERD, NULL, 0,
                         behemoth_now() + ANSWER_MS))
            return EXIT_GOOD;
        if (waitpid(pid, &status, WNOHANG) == pid) {
            copy_log(log, from);
            fputs("behemoth-manager: the server did not start.\n", stderr);
            return EXIT_FAILED;
        }
        poll(NULL, 0, LOOK_AGAIN_MS);
    }
}

static int launch(struct manager *manager)
{
    char program[4096], path[LOG_PLACE];
    find_server(program, sizeof program);
    int log = open_log(manager, path, sizeof path);
    if (log < 0) {
        fprintf(stderr, "behemoth-manager: %s: %s.\n", path, strerror(errno));
        return errno == EACCES ? EXIT_NO_RIGHT : EXIT_FAILED;
    }
    off_t from = lseek(log, 0, SEEK_END);
    pid_t pid = fork();
    if (pid == 0)
        become_server(manager, program, log);
    close(log);
    if (pid < 0) {
        fprintf(stderr, "behemoth-manager: no process for the server: %s.\n", strerror(errno));
        return EXIT_FAILED;
    }
    int code = wait_for_server(manager, pid, path, from);
    if (!code)
        printf("started, process %ld, at %s\n", (long)pid, manager->place);
    return code;
}

int command_start(struct manager *manager)
{
    if (!behemoth_ask(&manager->line, manager->place, BEHEMOTH_HERD, NULL, 0,
                      behemoth_now() + ANSWER_MS)) {
        if (errno == ENOENT || errno == ECONNREFUSED)
            return launch(manager);
        return manager_complain(manager);
    }
    const struct behemoth_herd *herd = behemoth_herd_of(&manager->line);
    printf("runs already, process %llu, at %s\n", (unsigned long long)(herd ? herd->process : 0),
           manager->place);
    if (manager->server_option_count > 0)
        fputs("behemoth-manager: it does not hear these options; 'stop' it first, or use "
              "'parameters'.\n",
              stderr);
    return manager->server_option_count > 0 ? EXIT_FAILED : EXIT_GOOD;
}

/* ---- stop ---- */

/* A pidfd, because the process may end and its number be reused. */
static int process_of(uint64_t pid)
{
    return (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
}

int command_stop(struct manager *manager)
{
    const struct behemoth_herd *herd;
    int code = manager_herd(manager, &herd);
    if (code)
        return code;
    uint64_t pid = herd->process;
    struct pollfd process = {.fd = process_of(pid), .events = POLLIN};
    code = manager_ask(manager, BEHEMOTH_STOP, NULL, 0);
    behemoth_hang_up(&manager->line);
    if (!code && process.fd >= 0 && poll(&process, 1, STOP_MS) == 0) {
        fprintf(stderr, "behemoth-manager: process %llu was told to stop, and is still there.\n",
                (unsigned long long)pid);
        code = EXIT_FAILED;
    }
    if (process.fd >= 0)
        close(process.fd);
    if (code)
        return code;
    printf("stopped, process %llu\n", (unsigned long long)pid);
    if (access(manager->place, F_OK) == 0) /* the socket belongs to systemd, which still listens */
        printf("the next query starts it again: %s is the system's\n", manager->place);
    return EXIT_GOOD;
}
