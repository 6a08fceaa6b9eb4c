/* SPDX-License-Identifier: MIT */
/* Starts a server in the background and waits until it listens; stops a server and waits until it
 * has saved the herd and ended; watches a server. */
#include "manager.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { RECHECK_MS = 20, STOP_MS = 30000 };

/* Runs behemoth-server, of the folder of this program or else in PATH, in place of this process: in
 * its own session, with nothing open except its log, and with the options that follow `start`. */
__attribute__((noreturn)) static void become_server(const char *log)
{
    static const char name[] = "behemoth-server";
    char program[4096], socket[sizeof manager.place + 16], **argv = manager.options.argv;
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - sizeof name);
    program[length > 0 ? length : 0] = 0;
    char *slash = strrchr(program, '/');
    strcpy(slash ? slash + 1 : program, name);
    snprintf(socket, sizeof socket, "--socket=%s", manager.place);
    argv[0] = slash && access(program, X_OK) == 0 ? program : (char *)name;
    argv[1] = socket;
    unsetenv("LISTEN_PID"); /* systemd's variable for this process, not for the server */
    setsid();
    dup2(open("/dev/null", O_RDWR), 0);
    dup2(0, 1);
    dup2(open(log, O_WRONLY | O_APPEND | O_NOFOLLOW), 2);
    closefrom(3);
    execvp(argv[0], argv);
    err(EXIT_FAILED, "%s", argv[0]);
}

/* Starts the server in the background, and waits until it listens, or has ended; then prints its
 * messages, which go to a log file in the socket's folder. There is no time limit, because
 * --forward may take long. */
static int launch(void)
{
    char log[sizeof manager.place + 8], text[1024];
    behemoth_place(manager.socket, true, manager.place, sizeof manager.place);
    snprintf(log, sizeof log, "%s.log", manager.place);
    make_folders(log);
    int fd = open(log, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
    lseek(fd, 0, SEEK_END);
    pid_t pid = fd < 0 ? -1 : fork();
    if (pid < 0) {
        warn("%s", log);
        return errno == EACCES ? EXIT_NO_RIGHT : EXIT_FAILED;
    }
    if (pid == 0)
        become_server(log);
    for (; !manager_look(BEHEMOTH_SUMMARY); poll(NULL, 0, RECHECK_MS)) {
        if (waitpid(pid, NULL, WNOHANG) != pid)
            continue;
        for (ssize_t count; (count = read(fd, text, sizeof text)) > 0;)
            fwrite(text, 1, (size_t)count, stderr);
        warnx("the server did not start");
        return EXIT_FAILED;
    }
    printf("started, process %ld, at %s\n", (long)pid, manager.place);
    return EXIT_GOOD;
}

int command_start(void)
{
    const struct behemoth_herd *herd = manager_look(BEHEMOTH_SUMMARY);
    if (!herd)
        return errno == ENOENT || errno == ECONNREFUSED ? launch() : manager_complain();
    printf("already runs, process %" PRIu64 ", at %s\n", herd->process, manager.place);
    if (!manager.for_server)
        return EXIT_GOOD;
    warnx("a running server cannot take these options; stop it first, or use 'parameters'");
    return EXIT_FAILED;
}

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

/* ---- watch ---- */

__attribute__((format(printf, 2, 3))) static void report(char sign, const char *format, ...)
{
    char text[16];
    time_t now = time(NULL);
    va_list list;
    strftime(text, sizeof text, "%H:%M:%S", localtime(&now));
    if (manager.style.colours)
        fputs(sign == '+' ? GREEN : sign == '-' ? RED : WEAK, stdout);
    printf("%s %c ", text, sign);
    va_start(list, format);
    vprintf(format, list);
    va_end(list);
    puts(manager.style.colours ? PLAIN : "");
}

/* Compares two lists sorted by id: a behemoth that is in only one of the lists was born or has
 * died. */
static void compare(const struct behemoth_herd *before, const struct behemoth_herd *herd)
{
    const struct behemoth *all = behemoth_all(herd), *is = all, *end = is + herd->count;
    const struct behemoth *was = behemoth_all(before), *was_end = was + before->count;
    uint64_t counted = herd->births + herd->founded - before->births - before->founded, came = 0;
    while (is < end || was < was_end) {
        if (was < was_end && (is == end || was->id < is->id)) {
            report('-', "%s (%" PRIu64 "), %s, at the age of %s", was->name, was->id,
                   sex_word(was->sex),
                   age_text((double)(herd->time - was->birthday) / BEHEMOTH_SECOND));
            was++;
        } else if (was == was_end || is->id < was->id) {
            bool child = is->mother_position != BEHEMOTH_NONE;
            report('+', "%s (%" PRIu64 "), %s%s%s", is->name, is->id, sex_word(is->sex),
                   child ? ", of " : "", child ? all[is->mother_position].name : "");
            came++;
            is++;
        } else {
            is++, was++;
        }
    }
    if (counted > came)
        report(' ', "%" PRIu64 " were born and died between two queries", counted - came);
}

/* Prints a line for each birth and death. If the server ends, waits for it. */
int command_watch(void)
{
    struct behemoth_line kept = {0}, answer; /* `kept` has the last herd */
    const struct behemoth_herd *herd = manager_look(BEHEMOTH_HERD), *before = herd;
    int64_t until = behemoth_now() + manager.seconds * 1000;
    if (!herd)
        return manager_complain();
    setvbuf(stdout, NULL, _IOLBF, 0);
    report(' ', "%u behemoths", (unsigned)herd->count);
    for (bool there = true; manager.seconds == 0 || behemoth_now() < until; there = herd != NULL) {
        if (herd) {
            answer = manager.line;
            manager.line = kept;
            kept = answer;
            before = herd;
        }
        poll(NULL, 0, (int)(manager.interval * 1000));
        herd = manager_look(BEHEMOTH_HERD);
        if (there && !herd)
            report(' ', "the server does not answer any more; waiting for it");
        if (herd && !there)
            report(' ', "the server is back, process %" PRIu64, herd->process);
        if (herd && herd->process != before->process &&
            (herd->ticks < before->ticks || herd->births < before->births))
            report(' ', "the server continues from a saved, earlier state");
        else if (herd)
            compare(before, herd);
    }
    behemoth_line_end(&kept);
    return EXIT_GOOD;
}
