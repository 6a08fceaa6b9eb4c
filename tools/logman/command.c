/* SPDX-License-Identifier: MIT */
/*
 * Runs a set's commands, one at a time: as the set's user, in a new environment, without a shell.
 * The name of a counter or an instance never becomes an argument of a command.
 */
#include "runner.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <math.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_WAITING = 100, MOST_SECONDS = 300, CANNOT_RUN = 127 };

struct command {
    struct command *next;
    struct text_list args, environment;
    bool own;      /* the command is logman itself, and keeps its environment and user */
    bool compress; /* the command compresses files; it has no time limit */
    char *file;    /* the closed file; it may be compressed before the command starts */
    pid_t pid;
    double began;
};

static void free_command(struct command *command)
{
    text_list_done(&command->args);
    text_list_done(&command->environment);
    free(command->file);
    free(command);
}

/* Splits a command line at blanks; quotes join parts of an argument. */
static void split(struct text_list *list, const char *line)
{
    char *text = line ? malloc(strlen(line) + 1) : NULL;
    for (const char *at = line; text && *(at += strspn(at, " \t"));) {
        size_t length = 0;
        char quote = 0;
        for (; *at && (quote || !strchr(" \t", *at)); at++) {
            if (quote ? *at == quote : *at == '"' || *at == '\'')
                quote = quote ? 0 : *at;
            else
                text[length++] = *at;
        }
        text_list_add_part(list, text, length);
    }
    free(text);
}

static void set_variable(struct command *command, const char *name, const char *value)
{
    char *text = NULL;
    if (value && asprintf(&text, "%s=%s", name, value) > 0)
        text_list_add(&command->environment, text);
    free(text);
}

static void fail(const struct runner *runner, const struct command *command, const char *reason)
{
    const char *name = command->args.count ? command->args.texts[0] : "";
    event_log("PLA", 4102, runner->set->name,
              EVENT_FIELDS(EVENT_TEXT("Command", name), EVENT_TEXT("Reason", reason)), NULL);
}

/* ---- the child ---- */

struct identity {
    uid_t user;
    gid_t group, groups[256];
    int count;
    bool change;
};

/* Finds user and groups before the fork, because these functions lock: a child must not. */
static bool find_identity(const struct set *set, struct command *command, struct identity *ret)
{
    const struct passwd *entry =
        set->user && *set->user ? getpwnam(set->user) : getpwuid(geteuid());
    bool named = set->user && *set->user;
    *ret = (struct identity){.user = geteuid(), .count = sizeof ret->groups / sizeof *ret->groups};
    if (!entry)
        return !named;
    set_variable(command, "HOME", entry->pw_dir);
    set_variable(command, "USER", entry->pw_name);
    set_variable(command, "LOGNAME", entry->pw_name);
    ret->user = entry->pw_uid;
    ret->group = entry->pw_gid;
    ret->change = entry->pw_uid != geteuid();
    return !ret->change ||
           getgrouplist(entry->pw_name, entry->pw_gid, ret->groups, &ret->count) >= 0;
}

static _Noreturn void become(const struct command *command, const struct identity *identity)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGXFSZ, SIGPIPE};
    sigset_t none;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        signal(signals[i], SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setsid();
    int nothing = open("/dev/null", O_RDONLY);
    dup2(nothing, STDIN_FILENO);
    closefrom(STDERR_FILENO + 1);
    if (identity->change && (setgroups((size_t)identity->count, identity->groups) ||
                             setgid(identity->group) || setuid(identity->user)))
        _exit(CANNOT_RUN);
    if (!command->own) {
        umask(022);
        environ = command->environment.texts;
        if (chdir("/"))
            _exit(CANNOT_RUN);
    }
    if (command->compress)
        setpriority(PRIO_PROCESS, 0, 19);
    execvp(command->args.texts[0], command->args.texts);
    _exit(CANNOT_RUN);
}

/* ---- the queue ---- */

/* Puts a NULL, which `count` does not include, at the end of the list. */
static bool end_list(struct text_list *list)
{
    if (!text_list_add(list, ""))
        return false;
    free(list->texts[--list->count]);
    list->texts[list->count] = NULL;
    return true;
}

static void start(const struct runner *runner, struct command *command)
{
    struct identity identity = {.user = geteuid()};
    FREE_AUTO char *packed = command->file ? text_format("%s.zst", command->file) : NULL;
    bool plain = command->file && access(command->file, F_OK) == 0;
    bool known = command->own || find_identity(runner->set, command, &identity);
    set_variable(command, "OPENPERFLIB_FILE",
                 !plain && packed && access(packed, F_OK) == 0 ? packed : command->file);
    bool ready = end_list(&command->args) && end_list(&command->environment);
    command->began = run_clock();
    command->pid = ready && known && command->args.count ? fork() : -1;
    if (command->pid == 0)
        become(command, &identity);
    if (command->pid < 0)
        fail(runner, command, known ? "it cannot be started" : "its user is unknown");
}

void command_step(struct runner *runner)
{
    struct command *command;
    while ((command = runner->commands)) {
        int state = 0;
        if (!command->pid)
            start(runner, command);
        if (command->pid > 0 && !command->compress && run_clock() - command->began > MOST_SECONDS) {
            kill(-command->pid, SIGKILL);
            fail(runner, command, "it was killed, because it ran for more than 5 minutes");
            command->own = true; /* so that its end is not reported a second time */
            command->began = HUGE_VAL;
        }
        if (command->pid > 0 && waitpid(command->pid, &state, WNOHANG) == 0)
            return;
        if (state && !command->own) {
            char reason[64];
            snprintf(reason, sizeof reason,
                     WIFSIGNALED(state) ? "it ended by signal %d" : "it ended with exit code %d",
                     WIFSIGNALED(state) ? WTERMSIG(state) : WEXITSTATUS(state));
            fail(runner, command, reason);
        }
        runner->uncompressed |= command->compress && state;
        runner->commands = command->next;
        free_command(command);
    }
}

void command_forget(struct runner *runner)
{
    struct command *next;
    while (runner->commands && (next = runner->commands->next)) {
        runner->commands->next = next->next;
        free_command(next);
    }
}

static void enqueue(struct runner *runner, struct command *command)
{
    struct command **last = &runner->commands;
    size_t waiting = 0;
    for (; *last; last = &(*last)->next)
        waiting++;
    if (waiting < MOST_WAITING) {
        *last = command;
    } else {
        fail(runner, command, "too many commands are waiting");
        free_command(command);
    }
    command_step(runner);
}

void command_run(struct runner *runner, const char *line, const char *arguments,
                 const struct command_about *about)
{
    struct command *command = calloc(1, sizeof *command);
    if (!command)
        return;
    const char *language = getenv("LANG");
    split(&command->args, line);
    split(&command->args, arguments);
    set_variable(command, "PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
    set_variable(command, "LANG", language ? language : "C.UTF-8");
    set_variable(command, "OPENPERFLIB_SET", runner->set->name);
    command->file = about->file ? strdup(about->file) : NULL;
    set_variable(command, "OPENPERFLIB_COUNTER", about->counter);
    set_variable(command, "OPENPERFLIB_VALUE", about->value);
    set_variable(command, "OPENPERFLIB_LIMIT", about->limit);
    enqueue(runner, command);
}

static struct command *own_command(const char *first, const char *second)
{
    struct command *command = calloc(1, sizeof *command);
    if (!command)
        return NULL;
    command->own = true;
    text_list_add(&command->args, "/proc/self/exe");
    text_list_add(&command->args, first);
    text_list_add(&command->args, second);
    return command;
}

void command_start_set(struct runner *runner, const char *name)
{
    struct command *command = own_command("start", name);
    if (command && runner->user)
        text_list_add(&command->args, "--user");
    if (command)
        enqueue(runner, command);
}

void command_compress(struct runner *runner, const struct text_list *files)
{
    struct command *command =
        own_command(runner->uncompressed ? "--compress-quietly" : "--compress", runner->set->name);
    if (!command)
        return;
    command->compress = true;
    for (size_t i = 0; i < files->count; i++)
        text_list_add(&command->args, files->texts[i]);
    enqueue(runner, command);
}
