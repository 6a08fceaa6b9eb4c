/* SPDX-License-Identifier: MIT */
/* Runs a set in the foreground: waits for its beginning, takes samples, ends. */
#include "runner.h"

#include "../common/clock.h"
#include "../common/options.h"
#include "../view/text.h"

#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { DAY = 24 * 3600 };

/* ---- times ---- */

double run_clock(void)
{
    return clock_seconds(CLOCK_BOOTTIME);
}

/* Returns the local time, in seconds like set->begin. */
static int64_t local_now(void)
{
    time_t now = time(NULL);
    struct tm parts;
    return timegm(localtime_r(&now, &parts));
}

/* The time in which a set runs, in local seconds; if it repeats, that of one day. */
struct period {
    int64_t begin, end;
};

/* Finds the first period that has not ended and begins after `after`; false: there is none. */
static bool next_period(const struct set *set, int64_t after, struct period *ret)
{
    *ret = (struct period){set->begin, set->end ? set->end : INT64_MAX};
    if (!set->repeat || !set->begin)
        return after == INT64_MIN && ret->end > local_now();
    if (!set->end)
        ret->end = ret->begin + (set->run_for && set->run_for < DAY ? set->run_for : DAY);
    while (ret->end <= ret->begin) /* a period from evening to morning ends on the next day */
        ret->end += DAY;
    int64_t days = (local_now() - ret->end) / DAY;
    if (days > 0) {
        ret->begin += days * DAY;
        ret->end += days * DAY;
    }
    while (ret->end <= local_now() || ret->begin <= after) {
        ret->begin += DAY;
        ret->end += DAY;
    }
    return true;
}

/* ---- signals ---- */

static volatile sig_atomic_t stopped;

static void note_signal(int number)
{
    if (number != SIGCHLD) /* SIGCHLD only ends a wait */
        stopped = 1;
}

static void catch_signals(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGCHLD};
    struct sigaction action = {.sa_handler = note_signal, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < COUNT(signals); i++)
        sigaction(signals[i], &action, NULL);
    signal(SIGXFSZ, SIG_IGN); /* a file at its size limit is reported like a full disk */
    signal(SIGPIPE, SIG_IGN);
}

/* Waits `seconds`, at most 60, or until a signal arrives. The signals are blocked except in ppoll,
 * so that one that arrives just before ppoll also ends the wait. */
static void wait_for(double seconds)
{
    sigset_t ours, before;
    seconds = seconds < 0 ? 0 : seconds > 60 ? 60 : seconds;
    struct timespec time = {(time_t)seconds, (long)((seconds - floor(seconds)) * 1e9)};
    sigemptyset(&ours);
    sigaddset(&ours, SIGINT);
    sigaddset(&ours, SIGTERM);
    sigaddset(&ours, SIGHUP);
    sigaddset(&ours, SIGCHLD);
    sigprocmask(SIG_BLOCK, &ours, &before);
    if (!stopped)
        ppoll(NULL, 0, &time, &before);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

/* ---- started ---- */

/* Notifies systemd that the set runs (READY=1). */
static void notify_systemd(void)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = path ? strlen(path) : 0;
    if (!length || length >= sizeof address.sun_path)
        return;
    memcpy(address.sun_path, path, length);
    if (*path == '@')
        address.sun_path[0] = 0;
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd >= 0) {
        sendto(fd, "READY=1", 7, MSG_NOSIGNAL, (struct sockaddr *)&address,
               (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length));
        close(fd);
    }
    unsetenv("NOTIFY_SOCKET");
}

/* Notifies systemd and the waiting `logman start` that the set runs, and closes the terminal. */
static void report_started(struct runner *runner)
{
    runner->reported = true;
    state_write(runner, true);
    notify_systemd();
    if (runner->starter < 0)
        return;
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; fd <= STDERR_FILENO; fd++)
        dup2(nothing, fd);
    close(nothing);
    (void)!write(runner->starter, "1", 1);
    close(runner->starter);
    runner->starter = -1;
}

/* ---- the work ---- */

/* Takes one sample of a collector. False: the collector takes no more. */
static bool tick(struct active *active)
{
    struct runner *runner = active->runner;
    bool recording = runner->set->kind == SET_COUNTER;
    double most = fmin(fmax(10 * active->collector->interval, 1), 60);
    bool look = run_clock() - active->looked >= most;
    if (look && active->looked > 0) {
        if (sources_add(active) && recording)
            record_more(active);
        if (recording)
            files_clean(active);
    }
    bool more = true;
    if (recording)
        more = record_sample(active);
    else
        alert_sample(active);
    if (runner->failed)
        return false;
    sources_note(active);
    if (look) {
        active->looked = run_clock();
        sources_explain(active);
    }
    state_write(runner, false);
    return more;
}

/* Takes the samples that are due, at multiples of each collector's interval since `began`. Samples
 * that were missed, because the machine was suspended or too busy, are skipped. Changes of the
 * clock have no effect. Returns the time of the next sample; 0: all collectors have ended. */
static double take_due(struct runner *runner, double began)
{
    double next = 0;
    for (size_t i = 0; i < runner->set->count && !stopped; i++) {
        struct active *active = &runner->active[i];
        const struct collector *collector = active->collector;
        if (active->next > 0 && run_clock() >= active->next - 1e-6) {
            bool more =
                tick(active) && !(collector->samples && ++active->taken >= collector->samples);
            double passed = floor((run_clock() - began) / collector->interval + 1e-6);
            active->next = more ? began + (passed + 1) * collector->interval : 0;
            if (!more)
                record_close(active);
        }
        if (active->next > 0 && (next <= 0 || active->next < next))
            next = active->next;
    }
    return runner->failed ? 0 : next;
}

static void run_period(struct runner *runner, const struct period *period)
{
    const struct set *set = runner->set;
    double began = run_clock();
    for (size_t i = 0; i < set->count; i++) {
        runner->active[i].next = began;
        runner->active[i].taken = 0;
    }
    while (!stopped) {
        double left = (double)period->end - (double)local_now();
        if (set->run_for)
            left = fmin(left, began + (double)set->run_for - run_clock());
        double next = left > 0 ? take_due(runner, began) : 0;
        if (next <= 0)
            return;
        if (!runner->reported)
            report_started(runner);
        command_step(runner);
        wait_for(fmin(next - run_clock(), left));
    }
}

static void wait_for_begin(struct runner *runner, const struct period *period)
{
    while (!stopped && local_now() < period->begin) {
        if (!runner->reported)
            report_started(runner);
        command_step(runner);
        int64_t left = period->begin - local_now();
        /* waits for half of the time, and looks again, because the clock may be set */
        wait_for(left > 2 ? (double)left / 2 : 0.2);
    }
}

static int run_periods(struct runner *runner)
{
    struct period period = {INT64_MIN, 0};
    while (!stopped && !runner->failed && next_period(runner->set, period.begin, &period)) {
        wait_for_begin(runner, &period);
        if (!stopped)
            run_period(runner, &period);
        for (size_t i = 0; i < runner->set->count; i++)
            record_close(&runner->active[i]);
        state_write(runner, true);
    }
    if (stopped && runner->set->kind == SET_ALERT)
        command_forget(runner);
    while (runner->commands) {
        command_step(runner);
        if (runner->commands) {
            struct timespec moment = {0, 50000000};
            nanosleep(&moment, NULL);
        }
    }
    return runner->failed ? EXIT_FAILED : EXIT_GOOD;
}

static bool open_all(struct runner *runner)
{
    runner->active = calloc(runner->set->count, sizeof *runner->active);
    for (size_t i = 0; runner->active && i < runner->set->count; i++) {
        struct active *active = &runner->active[i];
        *active = (struct active){.runner = runner, .collector = &runner->set->collectors[i]};
        if (!sources_open(active))
            return false;
    }
    return runner->active;
}

int runner_run(struct runner *runner)
{
    struct period first;
    if (!next_period(runner->set, INT64_MIN, &first)) {
        /* the state of the last run stays */
        fprintf(stderr, "logman: %s: its end (-e) is in the past, so it does not run\n",
                text_seen(runner->set->name));
        return EXIT_FAILED;
    }
    int code = state_lock(runner);
    if (code)
        return code;
    catch_signals();
    if (!runner->user)
        umask(027); /* only root and the group may read captures */
    code = open_all(runner) ? run_periods(runner) : EXIT_FAILED;
    runner->until = time(NULL);
    if (runner->active)
        state_write(runner, true); /* what `logman query` prints of the last run */
    for (size_t i = 0; runner->active && i < runner->set->count; i++)
        sources_close(&runner->active[i]);
    free(runner->active);
    close(runner->lock);
    return code;
}

int set_run(struct set *set, bool user)
{
    return runner_run(&(struct runner){.set = set, .user = user, .lock = -1, .starter = -1});
}
