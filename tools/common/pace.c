/* SPDX-License-Identifier: MIT */
/* A timer with a fixed interval: one delay does not shift the following times. */
#include "pace.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static volatile sig_atomic_t stopped;

static void stop(int number)
{
    (void)number;
    stopped = 1;
}

void pace_catch(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction old, action = {.sa_handler = stop}; /* no SA_RESTART: a signal must end the
                                                          * wait */
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (!sigaction(signals[i], NULL, &old) && old.sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
    signal(SIGXFSZ, SIG_IGN); /* a file at its size limit is reported like a full disk */
}

bool pace_stopped(void)
{
    return stopped;
}

void pace_begin(struct pace *pace)
{
    clock_gettime(CLOCK_MONOTONIC, &pace->next);
}

static double seconds_since(const struct timespec *then)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - then->tv_sec) + (double)(now.tv_nsec - then->tv_nsec) / 1e9;
}

static void advance(struct timespec *time, double seconds)
{
    double whole = floor(seconds);
    time->tv_sec += (time_t)whole;
    time->tv_nsec += (long)((seconds - whole) * 1e9);
    if (time->tv_nsec >= 1000000000) {
        time->tv_nsec -= 1000000000;
        time->tv_sec++;
    }
}

bool pace_wait(struct pace *pace, double seconds)
{
    double delay = seconds_since(&pace->next);
    advance(&pace->next, delay > seconds ? floor(delay / seconds) * seconds : seconds);
    while (!stopped && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &pace->next, NULL) == EINTR)
        ;
    return !stopped;
}

bool pace_parse(const char *text, double *ret_seconds)
{
    const double longest = 366.0 * 24 * 3600;
    double total = 0;
    for (int part = 0; part < 3; part++) {
        char *end;
        if (!strchr("0123456789.", *text) || !*text)
            return false;
        total = total * 60 + strtod(text, &end);
        if (*end == 0) {
            *ret_seconds = total;
            return total >= 0.001 && total <= longest;
        }
        if (end == text || *end != ':')
            return false;
        text = end + 1;
    }
    return false;
}
