/* SPDX-License-Identifier: MIT */
/* processor_protector: samples processes, finds busy ones, lowers their priority, and logs what it
 * did. */
#include "options.h"
#include "protector.h"

#include <errno.h>
#include <math.h>
#include <windows.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { EVENT_LOWERED = 1, EVENT_RESTORED = 2 };

static struct {
    struct options options;
    struct watch watch;
    struct look look;
    struct judge judge;
    struct held *self;
    HANDLE log; /* the event log; NULL in a dry run */
    bool live;  /* shows a status line on the terminal */
    bool failed;
} protector;

/* ---- messages ---- */

static void clear_line(void)
{
    if (protector.live)
        fputs("\r\033[K", stderr);
}

/* "16:40:12 lowered 4711 cruncher: reasons and figures" */
__attribute__((format(printf, 3, 4))) static void
print_event(const char *what, const struct process *process, const char *format, ...)
{
    char time_text[16], why[256];
    time_t now = time(NULL);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    strftime(time_text, sizeof time_text, "%H:%M:%S", localtime(&now));
    clear_line();
    printf("%s %-11s %7u %s: %s\n", time_text, what, (unsigned)process->identity.id, process->name,
           why);
    fflush(stdout);
}

/* Reports a change of a process, also to the event log, where other users find it later. */
static void report(DWORD id, const struct process *process, const char *what, int from, int to)
{
    char text[256];
    const char *strings[] = {text};
    if (!protector.log)
        return;
    snprintf(text, sizeof text, "process %u (%s) was %s: nice %d to %d",
             (unsigned)process->identity.id, process->name, what, from, to);
    ReportEventA(protector.log, EVENTLOG_INFORMATION_TYPE, 0, id, NULL, 1, 0, strings, NULL);
}

static void print_state(void)
{
    const struct record *busiest = NULL;
    struct winsize size;
    char line[256];
    if (!protector.live || protector.look.load < 0)
        return;
    for (size_t i = 0; i < protector.judge.count; i++) {
        const struct record *record = &protector.judge.all[i];
        if (record->percent >= 0 && (!busiest || record->percent > busiest->percent))
            busiest = record;
    }
    const struct process *process =
        busiest ? look_find(&protector.look, busiest->identity.id) : NULL;
    if (!process)
        return;
    snprintf(line, sizeof line,
             "%zu processes, all processors %.0f %%; busiest: %u %s, %.0f %% of one",
             protector.look.count, protector.look.load, (unsigned)process->identity.id,
             process->name, busiest->percent);
    bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
    clear_line(); /* a line that was wrapped could not be cleared, so the new line is truncated */
    fprintf(stderr, "%.*s", known ? size.ws_col - 1 : 79, line);
}

static void complain(const char *what, PDH_STATUS status)
{
    clear_line();
    fprintf(stderr, "processor_protector: %s: PDH's status is 0x%08X\n", what, (unsigned)status);
}

/* ---- exceptions ---- */

/* Returns why the process must not be changed, as far as this is known without reading /proc; NULL:
 * it may be changed. */
static const char *why_spared(const struct process *process)
{
    uint32_t own = protector.self->id;
    if (process->identity.id == own)
        return "it is this program";
    if (look_is_parent(&protector.look, process->identity.id, own))
        return "it is a parent of this program";
    if (!process->has_memory)
        return "it is a kernel thread or a zombie";
    return NULL;
}

/* Reports why a busy process is left alone; each reason only once while the process stays busy. */
static void spare(struct record *record, const struct process *process, const char *why)
{
    if (!record->spared || strcmp(record->spared, why) != 0)
        print_event("left alone", process, "%.1f %% of a processor for %.1f s; %s", record->mean,
                    record->busy, why);
    record->spared = why;
}

/* ---- actions ---- */

static void lower(struct record *record, const struct process *process, struct held *held)
{
    if (hold_lower(held, protector.options.nice)) {
        print_event("lowered", process,
                    "%.1f %% of a processor for %.1f s, all processors %.0f %%; nice %d to %d",
                    record->mean, record->busy, protector.look.load, held->was, held->given);
        report(EVENT_LOWERED, process, "lowered", held->was, held->given);
    } else {
        print_event("not lowered", process, "%s", strerror(errno));
        protector.failed |= errno != ESRCH;
    }
    record->held = held; /* kept to be restored; perhaps only some threads were lowered */
}

static void would_lower(const struct record *record, const struct process *process,
                        const struct held *held)
{
    int nice;
    if (hold_nice(held, &nice))
        print_event("would lower", process,
                    "%.1f %% of a processor for %.1f s, all processors %.0f %%; nice %d to %d",
                    record->mean, record->busy, protector.look.load, nice, protector.options.nice);
}

static void restore_priority(struct record *record, const struct process *process, const char *why)
{
    struct held *held = record->held;
    record->held = NULL;
    if (held->count > 0 && hold_restore(held)) {
        print_event("restored", process, "%s; nice %d to %d", why, held->given, held->was);
        report(EVENT_RESTORED, process, "restored", held->given, held->was);
    } else if (held->count > 0 && errno != ESRCH) {
        print_event("not restored", process, "%s: %s", why, strerror(errno));
        protector.failed = true;
    }
    hold_end(held);
}

static void act_on(struct record *record, const struct process *process)
{
    record->reported = true;
    const char *why = why_spared(process);
    struct held *held = why ? NULL : hold(process->identity.id);
    if (!why && (!held || !hold_is(held, protector.self, &protector.look, &process->identity)))
        why = hold_why(SPARE_GONE);
    enum spare spared = why ? SPARE_NOT : hold_judge(held, protector.options.nice);
    if (!why && spared != SPARE_NOT)
        why = hold_why(spared);
    if (why)
        spare(record, process, why);
    else if (protector.options.act)
        lower(record, process, held);
    else
        would_lower(record, process, held);
    if (held && record->held != held)
        hold_end(held);
}

static void consider(const struct process *process)
{
    char why[64];
    struct record *record = judge_find(&protector.judge, process->identity.id);
    if (!record || !options_name_it(&protector.options, process->name))
        return;
    if (record->held) {
        if (protector.options.restore && judge_calm_again(&protector.judge, record)) {
            snprintf(why, sizeof why, "%.1f %% of a processor for %.1f s", record->mean,
                     record->calm);
            restore_priority(record, process, why);
        }
        return;
    }
    if (!record->reported && judge_too_long(&protector.judge, record))
        act_on(record, process);
}

/* ---- sampling ---- */

/* Do the process numbers of the counters belong to our own pid namespace? They do not if the
 * counters are read from another machine's files (OPENPERFLIB_SYSROOT), or in a container that has
 * the host's /proc. */
static bool see_ourselves(void)
{
    const struct process *process = look_find(&protector.look, (uint32_t)getpid());
    char link[16] = "";
    if (readlink("/proc/self", link, sizeof link - 1) > 0 && atol(link) == getpid() && process &&
        process->parent == (uint32_t)getppid())
        protector.self = hold(process->identity.id);
    if (!protector.self)
        fputs("processor_protector: the counters are those of another machine or PID namespace, "
              "whose "
              "processes cannot be changed\n",
              stderr);
    return protector.self != NULL;
}

static bool look(void)
{
    const char *what;
    PDH_STATUS status = watch_look(&protector.watch, &protector.look, &what);
    if (status == 0 && !judge_look(&protector.judge, &protector.look)) {
        what = "judge_look";
        status = (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    }
    if (status != 0)
        complain(what, status);
    return status == 0;
}

/* Waits until `seconds` have passed since *due, and sets *due to the new time. False: a signal
 * arrived that ends the program. */
static bool wait_until_due(struct timespec *due, double seconds, const sigset_t *signals)
{
    struct timespec now, left;
    due->tv_sec += (time_t)seconds;
    due->tv_nsec += (long)((seconds - floor(seconds)) * 1e9);
    due->tv_sec += due->tv_nsec / 1000000000;
    due->tv_nsec %= 1000000000;
    clock_gettime(CLOCK_MONOTONIC, &now);
    double wait = (double)(due->tv_sec - now.tv_sec) + (double)(due->tv_nsec - now.tv_nsec) / 1e9;
    if (wait <= 0) { /* times that have passed are skipped */
        *due = now;
        wait = 0;
    }
    left.tv_sec = (time_t)wait;
    left.tv_nsec = (long)((wait - floor(wait)) * 1e9);
    return sigtimedwait(signals, NULL, &left) < 0;
}

static bool over(const struct timespec *begin)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    double passed =
        (double)(now.tv_sec - begin->tv_sec) + (double)(now.tv_nsec - begin->tv_nsec) / 1e9;
    return protector.options.duration > 0 && passed >= protector.options.duration;
}

static bool protect(const sigset_t *signals)
{
    struct timespec due, begin;
    if (!look() || !see_ourselves())
        return false;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    due = begin;
    while (!over(&begin) && wait_until_due(&due, protector.options.interval, signals)) {
        if (!look())
            return false;
        for (size_t i = 0; i < protector.look.count; i++)
            consider(&protector.look.all[i]);
        print_state();
    }
    return true;
}

/* Ends the program. With --restore all priorities are restored first. */
static void finish(void)
{
    for (size_t i = 0; i < protector.judge.count && protector.options.restore; i++) {
        struct record *record = &protector.judge.all[i];
        const struct process *process = look_find(&protector.look, record->identity.id);
        if (record->held && process)
            restore_priority(record, process, "this program ends");
    }
    clear_line();
    judge_end(&protector.judge);
    watch_close(&protector.watch, &protector.look);
    if (protector.self)
        hold_end(protector.self);
    if (protector.log)
        DeregisterEventSource(protector.log);
}

static void begin(void)
{
    const char *terminal = getenv("TERM");
    protector.judge.limits = protector.options.limits;
    protector.live =
        isatty(STDOUT_FILENO) && isatty(STDERR_FILENO) && terminal && strcmp(terminal, "dumb") != 0;
    if (protector.options.act)
        protector.log = RegisterEventSourceA(NULL, "Processor Protector");
    else if (isatty(STDERR_FILENO))
        fputs("Priorities are not changed without --act, only printed.\n", stderr);
}

int main(int argc, char **argv)
{
    sigset_t signals;
    const char *what;
    options_read(&protector.options, argc, argv);
    if (protector.options.act && protector.options.restore && !hold_may_restore()) {
        fputs("processor_protector: --restore: this user may not raise a lowered priority again; "
              "that needs\n"
              "CAP_SYS_NICE or RLIMIT_NICE, see man setpriority. Without --restore it stays "
              "lowered.\n",
              stderr);
        return EXIT_FAILURE;
    }
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    /* signals are delivered only while the program waits between two samples */
    sigprocmask(SIG_BLOCK, &signals, NULL);
    begin();
    PDH_STATUS status = watch_open(&protector.watch, &what);
    if (status != 0)
        complain(what, status);
    bool good = status == 0 && protect(&signals);
    finish();
    return good && !protector.failed ? EXIT_SUCCESS : EXIT_FAILURE;
}
