/* SPDX-License-Identifier: MIT */
/* Runs a set in the foreground: waits for its beginning, takes samples, ends. */
#include "runner.h"

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
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Local time in the form of set->begin. */
static int64_t local_now(void)
{
    time_t now = time(NULL);
    struct tm parts;
    return timegm(localtime_r(&now, &parts));
}

/* When a set runs: once, or every day. */
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
    while (ret->end <= ret->begin) /* from evening to morning */
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
    if (number != SIGCHLD) /* which only ends a wait */
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

/* Waits for so many seconds, or for a signal. The signals are blocked outside of ppoll, so that one
 * that comes before it ends it, too. */
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

/* Reports to systemd that the set runs. */
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

/* Reports that the set runs, and leaves the terminal of `logman start`. */
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

/* Takes one sample; false: the set ends. */
static bool tick(struct runner *runner)
{
    bool recording = runner->set->kind == SET_COUNTER;
    bool look = run_clock() - runner->looked >= fmin(fmax(10 * runner->set->interval, 1), 60);
    bool first = !runner->looked;
    if (look && !first) {
        if (sources_add(runner) && recording)
            record_more(runner);
        if (recording)
            files_clean(runner);
    }
    bool more = true;
    if (recording)
        more = record_sample(runner);
    else
        alert_sample(runner);
    if (runner->failed)
        return false;
    sources_note(runner);
    if (look) {
        runner->looked = run_clock();
        sources_explain(runner);
    }
    state_write(runner, false);
    if (!runner->reported)
        report_started(runner);
    return more;
}

/* Takes samples at multiples of the interval. Those that were missed, because the machine was
 * suspended or too busy, are skipped; a clock that is set changes nothing. */
static void run_period(struct runner *runner, const struct period *period)
{
    const struct set *set = runner->set;
    double began = run_clock(), next = began;
    uint64_t before = runner->samples;
    while (!stopped) {
        double now = run_clock();
        double left = (double)period->end - (double)local_now();
        if (set->run_for && left > began + set->run_for - now)
            left = began + set->run_for - now;
        if (left <= 0)
            return;
        if (now >= next - 1e-6) {
            if (!tick(runner) || (set->samples && runner->samples - before >= set->samples))
                return;
            next =
                began + (floor((run_clock() - began) / set->interval + 1e-6) + 1) * set->interval;
        }
        command_step(runner);
        now = run_clock();
        wait_for(next - now < left ? next - now : left);
    }
}

static void wait_for_begin(struct runner *runner, const struct period *period)
{
    while (!stopped && local_now() < period->begin) {
        if (!runner->reported)
            report_started(runner);
        command_step(runner);
        int64_t left = period->begin - local_now();
        wait_for(left > 2 ? (double)left / 2 : 0.2); /* the clock may be set meanwhile */
    }
}

static int run_periods(struct runner *runner)
{
    struct period period = {INT64_MIN, 0};
    bool any = false;
    while (!stopped && !runner->failed && next_period(runner->set, period.begin, &period)) {
        any = true;
        wait_for_begin(runner, &period);
        if (!stopped)
            run_period(runner, &period);
        record_close(runner);
        state_write(runner, true);
    }
    if (!any)
        fprintf(stderr, "logman: %s: the end of the set has passed\n",
                text_seen(runner->set->name));
    while (runner->commands) {
        command_step(runner);
        if (runner->commands) {
            struct timespec moment = {0, 50000000};
            nanosleep(&moment, NULL);
        }
    }
    return any && !runner->failed ? EXIT_GOOD : EXIT_FAILED;
}

int runner_run(struct runner *runner)
{
    int code = state_lock(runner);
    if (code)
        return code;
    catch_signals();
    if (!runner->user)
        umask(027); /* captures are for root and the group */
    code = sources_open(runner) ? run_periods(runner) : EXIT_FAILED;
    sources_close(runner);
    state_done(runner);
    return code;
}

int set_run(struct set *set, bool user)
{
    return runner_run(&(struct runner){.set = set, .user = user, .lock = -1, .starter = -1});
}
