/* SPDX-License-Identifier: MIT */
/* Sends signals to processes and sets their priorities, after one question that names all these
 * processes: the marked processes, or else the selected one. */
#include "keys.h"
#include "processes.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { NICE_LEAST = -20, NICE_MOST = 19 };

/* ---- the same process? ---- */

/* Returns when the process was started, in ticks after the boot; NaN: there is no such process. */
static double born_of(pid_t pid)
{
    char path[64], text[1024];
    unsigned long long start;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[length] = 0;
    /* the process's name, before this parenthesis, may contain blanks and parentheses */
    const char *after = strrchr(text, ')');
    if (!after || sscanf(after + 2,
                         "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d "
                         "%*d %*d %*d %llu",
                         &start) != 1)
        return NAN;
    return (double)start;
}

/* True if the process with this number is that of the sample: its age has grown by the time that
 * has passed since the sample. */
static bool same_process(const struct processes *processes, const struct target *target)
{
    struct model_source source;
    struct timespec up, now;
    model_source(processes->list.model, processes->list.source, &source);
    clock_gettime(CLOCK_BOOTTIME, &up);
    clock_gettime(CLOCK_REALTIME, &now);
    double passed =
        (double)now.tv_sec + (double)now.tv_nsec / 1e9 + 11644473600.0 - (double)source.time / 1e7;
    double age =
        (double)up.tv_sec + (double)up.tv_nsec / 1e9 - target->born / (double)sysconf(_SC_CLK_TCK);
    return fabs(age - passed - target->age) < 1.5;
}

/* ---- which processes ---- */

static void add_target(struct processes *processes, struct target target)
{
    struct actions *actions = &processes->actions;
    target.born = born_of(target.pid);
    if (!same_process(processes, &target))
        return; /* the process has ended */
    struct target *targets =
        realloc(actions->targets, (actions->count + 1) * sizeof *actions->targets);
    if (!targets)
        return;
    targets[actions->count++] = target;
    actions->targets = targets;
}

static void add_line(struct processes *processes, const struct line *line)
{
    struct target target = {.pid = (pid_t)line->values[PID], .age = line->values[ELAPSED]};
    snprintf(target.name, sizeof target.name, "%.*s", (int)line->name_length, line->name);
    add_target(processes, target);
}

/* Adds all marked processes, also those that the filter hides. */
static void add_marked(struct processes *processes)
{
    const struct table *table = process_list_table(&processes->list);
    struct line line;
    for (size_t r = 0; table && r < table->row_count; r++) {
        if (!identities_have(&processes->marked, table->rows[r].identity))
            continue;
        process_list_line(&processes->list, table, r, &line);
        if (line.values[PID] > 0) /* not known while samples fail */
            add_line(processes, &line);
    }
}

/* Finds the processes that get the signal or priority. False, with a message: there are none. */
static bool choose_targets(struct processes *processes, struct window *window)
{
    const struct line *line = line_selected(processes);
    struct target target;
    bool alone = processes->alone, marked = processes->marked.count > 0 && !alone;
    processes->actions.count = 0;
    if (!processes->here || (!marked && !alone && !line)) {
        window_report(window,
                      "signals and priorities are for single processes of this machine only");
        return false;
    }
    if (marked)
        add_marked(processes);
    else if (!alone)
        add_line(processes, line);
    else if (details_target(processes, &target))
        add_target(processes, target);
    if (!processes->actions.count)
        window_report(window,
                      marked ? "the marked processes have ended" : "this process has ended");
    return processes->actions.count > 0;
}

/* ---- questions and results ---- */

/* Writes the question. Its last part is the names of the processes, as many may not all fit. */
static void put_question(const struct actions *actions, struct window *window)
{
    const struct target *first = actions->targets;
    bool one = actions->count == 1;
    char age[TEXT_SIZE];
    text_duration(first->age, age);
    window->message[0] = 0;
    if (one)
        window_append(window, "process %d (%s), %s old: ", (int)first->pid, first->name, age);
    else
        window_append(window, "%zu processes: ", actions->count);
    if (actions->question == QUESTION_SIGNAL)
        window_append(
            window,
            one ? "t ends it, K kills it, s stops it, c continues it (any other key: nothing)"
                : "t ends them, K kills them, s stops them, c continues them");
    else if (one)
        window_append(window,
                      "nice is %d; type the new value, -20 (first) to 19 (last), and Enter: %s_",
                      getpriority(PRIO_PROCESS, (id_t)first->pid), actions->nice.text);
    else
        window_append(window, "type their nice value, -20 (first) to 19 (last), and Enter: %s_",
                      actions->nice.text);
    for (size_t i = 0; !one && i < actions->count; i++)
        window_append(window, "%s %s %d", i ? "," : " -", first[i].name, (int)first[i].pid);
}

/* Sends the signal. The process number may belong to another process by now, so a descriptor is
 * opened first, which always means the same process. The signal is sent through it if the process's
 * start is the expected one. Returns an errno, 0: sent. */
static int send_signal(const struct target *target, int number)
{
    int fd = (int)syscall(SYS_pidfd_open, target->pid, 0);
    int error = fd < 0 ? errno : 0;
    if (!error && born_of(target->pid) != target->born)
        error = ESRCH;
    if (!error && syscall(SYS_pidfd_send_signal, fd, number, NULL, 0) != 0)
        error = errno;
    if (fd >= 0)
        close(fd);
    return error;
}

/* Sets the nice value of all threads of the process, because Linux has one for each thread. No
 * system call sets it by a descriptor, so the process's start is compared before and after. If a
 * new process has got the number in these microseconds, that process has got the nice value; this
 * is reported as an error. Returns an errno, 0: set. */
static int set_nice(const struct target *target, int nice)
{
    char path[64];
    int error = born_of(target->pid) == target->born ? 0 : ESRCH;
    snprintf(path, sizeof path, "/proc/%d/task", (int)target->pid);
    DIR *folder = error ? NULL : opendir(path);
    if (!error && !folder)
        return errno;
    for (const struct dirent *entry; folder && (entry = readdir(folder));) {
        int thread = atoi(entry->d_name);
        if (thread > 0 && setpriority(PRIO_PROCESS, (id_t)thread, nice) && errno != ESRCH)
            error = errno;
    }
    if (folder)
        closedir(folder);
    return error || born_of(target->pid) == target->born ? error : ESRCH;
}

/* Sends the signal `number`; if the question was about nice values, sets the nice value
 * `number`. */
static void act(struct actions *actions, int number, struct window *window)
{
    char what[32];
    const struct target *failed = NULL;
    int first_error = 0;
    size_t done = 0;
    bool nice = actions->question == QUESTION_NICE, one = actions->count == 1;
    for (size_t i = 0; i < actions->count; i++) {
        const struct target *target = &actions->targets[i];
        int error = nice ? set_nice(target, number) : send_signal(target, number);
        done += !error;
        if (error && !failed) {
            failed = target;
            first_error = error;
        }
    }
    if (nice)
        snprintf(what, sizeof what, "nice %d", number);
    else
        snprintf(what, sizeof what, "SIG%s", sigabbrev_np(number));
    window->message[0] = 0;
    if (one && !failed)
        window_append(window, "process %d (%s) got %s", (int)actions->targets->pid,
                      actions->targets->name, what);
    else if (!one)
        window_append(window, "%zu of %zu processes got %s%s", done, actions->count, what,
                      failed ? "; " : "");
    if (failed)
        window_append(window, "process %d (%s) got no %s: %s", (int)failed->pid, failed->name, what,
                      strerror(first_error));
}

/* ---- keys ---- */

static void signal_key(struct actions *actions, int key, struct window *window)
{
    int number = key == 't'   ? SIGTERM
                 : key == 'K' ? SIGKILL
                 : key == 's' ? SIGSTOP
                 : key == 'c' ? SIGCONT
                              : 0;
    if (number)
        act(actions, number, window);
    actions->question = QUESTION_NONE;
}

static void nice_key(struct actions *actions, int key, struct window *window)
{
    char *end;
    field_key(&actions->nice, key);
    if (actions->nice.open) {
        put_question(actions, window);
        return;
    }
    long nice = strtol(actions->nice.text, &end, 10);
    if (end != actions->nice.text && !*end && nice >= NICE_LEAST && nice <= NICE_MOST)
        act(actions, (int)nice, window);
    else if (*actions->nice.text)
        window_report(window, "'%s' is not a number from %d to %d", actions->nice.text, NICE_LEAST,
                      NICE_MOST);
    actions->question = QUESTION_NONE;
}

static void unmark(struct processes *processes, struct window *window)
{
    if (!processes->marked.count)
        window_report(window, "no process is marked; space marks one");
    processes->marked.count = 0;
}

static void mark(struct processes *processes, struct window *window)
{
    const struct line *line = line_selected(processes);
    if (!line) {
        window_report(window, "only single processes can be marked");
        return;
    }
    identities_toggle(&processes->marked, line->identity);
    processes->cursor.at += processes->cursor.at + 1 < processes->list.line_count;
    processes->selected = processes->list.lines[processes->cursor.at].identity;
}

static bool is_nice(int key)
{
    return key == 'n' || key == KEY_F(7) || key == KEY_F(8);
}

bool actions_key(struct processes *processes, int key, struct window *window)
{
    struct actions *actions = &processes->actions;
    if (actions->question == QUESTION_SIGNAL) {
        signal_key(actions, key, window);
        return true;
    }
    if (actions->question == QUESTION_NICE) {
        nice_key(actions, key, window);
        return true;
    }
    if (processes->filter.open)
        return false;
    bool nice = is_nice(key);
    bool list = window->view == VIEW_PROCESSES && !processes->alone;
    if (key == 'x' || key == KEY_F(9) || nice) {
        if (!choose_targets(processes, window))
            return true;
        actions->question = nice ? QUESTION_NICE : QUESTION_SIGNAL;
        actions->nice = (struct field){.open = nice};
        put_question(actions, window);
    } else if (key == ' ' && list) {
        mark(processes, window);
    } else if (key == 'U' && list) {
        unmark(processes, window);
    } else {
        return false;
    }
    return true;
}
