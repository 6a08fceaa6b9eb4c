/* SPDX-License-Identifier: MIT */
/* Starts and stops the runner of a set: with systemd as a unit, else as a background process. */
#include "runner.h"

#include "../common/options.h"
#include "../view/text.h"

#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- systemd ---- */

/* Returns the name of the set's unit, with the set's name escaped as by systemd; to be freed. */
static char *unit_of(const char *name)
{
    BUFFER_AUTO unit = {0};
    buffer_add_text(&unit, "openperflib-logman@");
    for (const char *at = name; *at; at++) {
        bool plain = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') ||
                     (*at >= '0' && *at <= '9') || *at == ':' || *at == '_' ||
                     (*at == '.' && at > name);
        if (plain)
            buffer_add(&unit, at, 1);
        else
            buffer_printf(&unit, "\\x%02x", (unsigned char)*at);
    }
    buffer_add_text(&unit, ".service");
    return unit.failed ? NULL : strdup(unit.data);
}

/* Runs systemctl and returns its exit code. */
static int systemctl(bool user, const char *verb, const char *option, const char *unit, bool quiet)
{
    const char *arguments[] = {"systemctl", user ? "--user" : "--system", verb, unit, option, NULL};
    posix_spawn_file_actions_t actions;
    pid_t pid;
    int state = -1;
    posix_spawn_file_actions_init(&actions);
    for (int fd = STDOUT_FILENO; quiet && fd <= STDERR_FILENO; fd++)
        posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_WRONLY, 0);
    if (!posix_spawnp(&pid, "systemctl", &actions, NULL, (char **)arguments, environ))
        waitpid(pid, &state, 0);
    posix_spawn_file_actions_destroy(&actions);
    return state != -1 && WIFEXITED(state) ? WEXITSTATUS(state) : EXIT_FAILED;
}

/* True if systemd runs and knows the unit. False with OPENPERFLIB_ROOT, because the unit would run
 * without this variable. */
static bool has_unit(bool user)
{
    const char *root = getenv("OPENPERFLIB_ROOT"), *runtime = getenv("XDG_RUNTIME_DIR");
    FREE_AUTO char *place = user && runtime ? text_format("%s/systemd", runtime) : NULL;
    return !(root && *root) && access("/run/systemd/system", F_OK) == 0 &&
           (!user || (place && access(place, F_OK) == 0)) &&
           systemctl(user, "cat", NULL, "openperflib-logman@.service", true) == 0;
}

static int start_unit(const struct set *set, bool user)
{
    FREE_AUTO char *unit = unit_of(set->name);
    const struct passwd *self = getpwuid(geteuid());
    FREE_AUTO char *linger = self ? text_format("/var/lib/systemd/linger/%s", self->pw_name) : NULL;
    /* a set with a limited duration does not start at boot: its duration would begin again */
    bool lasts = !set->run_for;
    for (size_t i = 0; i < set->count; i++)
        lasts &= !set->collectors[i].samples;
    if (!unit || systemctl(user, "start", NULL, unit, false)) {
        fprintf(stderr, "logman: %s was not started; the reason is in: journalctl %s-u '%s'\n",
                text_seen(set->name), user ? "--user " : "", unit ? unit : "");
        return EXIT_FAILED;
    }
    if (lasts && systemctl(user, "enable", "--quiet", unit, false))
        return EXIT_FAILED;
    if (user && linger && access(linger, F_OK) != 0)
        printf("%s ends when you log out; to let it run on: loginctl enable-linger\n",
               text_seen(set->name));
    return EXIT_GOOD;
}

/* ---- without systemd ---- */

/* Runs the set in a process whose parent has ended. `starter`: the pipe to `logman start`. */
static _Noreturn void be_runner(struct set *set, bool user, int starter)
{
    struct runner runner = {.set = set, .user = user, .lock = -1, .starter = STDERR_FILENO + 1};
    /* closes all other descriptors that the caller of logman left open */
    if (chdir("/") || dup2(starter, STDERR_FILENO + 1) < 0)
        _exit(EXIT_FAILED);
    closefrom(STDERR_FILENO + 2);
    fcntl(runner.starter, F_SETFD, FD_CLOEXEC);
    exit(runner_run(&runner));
}

static int start_detached(struct set *set, bool user)
{
    int ends[2] = {-1, -1};
    char byte;
    fflush(NULL);
    pid_t pid = pipe2(ends, O_CLOEXEC) ? -1 : fork();
    bool is_child = pid == 0;
    if (is_child) {
        close(ends[0]);
        setsid();
        pid = fork();
        if (pid == 0)
            be_runner(set, user, ends[1]);
    }
    if (pid < 0)
        perror("logman");
    if (is_child)
        _exit(0);
    close(ends[1]);
    waitpid(pid, NULL, 0);
    /* no byte: the runner has printed a message and ended */
    bool started = read(ends[0], &byte, 1) == 1;
    close(ends[0]);
    if (started)
        printf(
            "%s runs. Nothing starts it again after a reboot, because systemd does not run it.\n",
            text_seen(set->name));
    return started ? EXIT_GOOD : EXIT_FAILED;
}

/* ---- commands ---- */

int set_start(struct set *set, bool user)
{
    pid_t pid = state_holder(set->name, user);
    if (pid && pid != HOLDER_HIDDEN) {
        fprintf(stderr, "logman: %s runs already, pid %d\n", text_seen(set->name), (int)pid);
        return EXIT_FAILED;
    }
    return has_unit(user) ? start_unit(set, user) : start_detached(set, user);
}

bool set_is_running(const char *name, bool user)
{
    pid_t pid = state_holder(name, user);
    return pid && pid != HOLDER_HIDDEN;
}

const char *set_state(const char *name, bool user)
{
    return state_holder(name, user) == HOLDER_HIDDEN ? "Unknown (no rights)"
           : set_is_running(name, user)              ? "Running"
                                                     : "Stopped";
}

/* Returns the value of a key in the text of the state, to be freed; NULL: the key is not there. */
static char *value_of(const char *state, const char *key)
{
    size_t length = strlen(key);
    for (const char *at = state; at && *at; at += strcspn(at, "\n"), at += *at == '\n')
        if (strncmp(at, key, length) == 0 && at[length] == ' ')
            return strndup(at + length + 1, strcspn(at + length + 1, "\n"));
    return NULL;
}

int set_stop(struct set *set, bool user)
{
    enum { TRIES = 100 };
    const struct timespec moment = {0, 100000000};
    pid_t pid = state_holder(set->name, user);
    FREE_AUTO char *state = state_read(set->name, user), *by_unit = value_of(state, "unit");
    FREE_AUTO char *unit = unit_of(set->name);
    if (by_unit && *by_unit == '1' && unit && pid)
        return systemctl(user, "disable", "--now", unit, false) ? EXIT_FAILED : EXIT_GOOD;
    if (pid == HOLDER_HIDDEN) {
        fprintf(stderr, "logman: %s: access denied: root may stop the system's sets\n",
                text_seen(set->name));
        return EXIT_NO_RIGHTS;
    }
    if (pid <= 0 || kill(pid, SIGTERM)) { /* kill would end all processes of a group */
        fprintf(stderr, "logman: %s %s\n", text_seen(set->name),
                pid < 0 ? "is run by a process that is not on this machine"
                : pid   ? "belongs to another user"
                        : "does not run");
        return EXIT_FAILED;
    }
    for (int i = 0; i < TRIES; i++, nanosleep(&moment, NULL))
        if (!set_is_running(set->name, user))
            return EXIT_GOOD;
    fprintf(stderr, "logman: %s ends when its command (-rc) has ended\n", text_seen(set->name));
    return EXIT_FAILED;
}

static void print_value(const char *label, const char *value)
{
    if (value)
        printf("%-22s%s\n", label, text_seen(value));
}

/* `otherwise`: printed if the state does not have the time */
static void print_time(const char *label, const char *state, const char *key, const char *otherwise)
{
    FREE_AUTO char *value = value_of(state, key);
    time_t time = value ? (time_t)strtoll(value, NULL, 10) : 0;
    struct tm parts;
    char text[64];
    strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", localtime_r(&time, &parts));
    print_value(label, value ? text : otherwise);
}

/* Prints each line of the state with this beginning. */
static void print_lines(const char *label, const char *state, const char *begin)
{
    while (state && (state = strstr(state, begin))) {
        state += strlen(begin);
        FREE_AUTO char *value = strndup(state, strcspn(state, "\n"));
        print_value(label, value);
    }
}

void set_print_status(const struct set *set, bool user)
{
    bool runs = set_is_running(set->name, user);
    FREE_AUTO char *state = state_read(set->name, user), *pid = value_of(state, "pid"),
                   *samples = value_of(state, "samples"), *lost = value_of(state, "lost"),
                   *alerts = value_of(state, "alerts");
    if (!runs && (!state || state_holder(set->name, user)))
        return; /* no run has left a state, or this user may not know */
    printf("\n");
    print_time(runs ? "Running since:" : "Last run:", state, "since",
               "a moment ago: it takes its first sample");
    if (!runs) /* the runner writes this a moment before it releases its lock */
        print_time("Ended:", state, "until", "killed, at an unknown time");
    print_value("Process:", runs ? pid : NULL);
    if (samples)
        printf("%-22s%s%s\n", "Samples:", samples, set->count > 1 ? " of all collectors" : "");
    print_value("Lost samples:", lost && strcmp(lost, "0") != 0 ? lost : NULL);
    print_value("Alerts:", set->kind == SET_ALERT ? alerts : NULL);
    print_lines("Reason:", state, "\nproblem ");
    print_lines("Current file:", runs ? state : NULL, "\nfile "); /* later it may be compressed */
    print_lines("Without values:", state, "\nmissing ");
}
