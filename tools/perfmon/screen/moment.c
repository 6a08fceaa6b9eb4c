/* SPDX-License-Identifier: MIT */
/* A set at one time: texts about what was recorded then, and the keys that go to another time. */
#include "screen.h"

#include "../perfmon.h"

#include <math.h>
#include <stdlib.h>

enum { WHEN_SIZE = 32, MINUTE = 60, HOUR = 60 * MINUTE, ALERT_EVENT = 2031 };
static const int64_t second = 10000000, unix_epoch = 11644473600;

static void when_text(int64_t time, char ret[WHEN_SIZE])
{
    time_t seconds = (time_t)(time / second - unix_epoch);
    struct tm parts;
    *ret = 0;
    if (localtime_r(&seconds, &parts))
        strftime(ret, WHEN_SIZE, "%Y-%m-%d %H:%M:%S", &parts);
}

bool moment_text(const struct window *window, char *ret, size_t capacity)
{
    struct model_source source;
    char from[WHEN_SIZE], to[WHEN_SIZE], boot[WHEN_SIZE], by[TEXT_SIZE];
    model_source(window->model, window->now->source, &source);
    const struct moment *moment = &source.moment;
    when_text(moment->from, from);
    when_text(moment->to, to);
    when_text(moment->boot, boot);
    if (source.going) {
        snprintf(ret, capacity, "%s", local("searching; a key for another time ends the search"));
        return true;
    }
    text_duration(fabs(moment->seconds), by);
    switch (moment->kind) {
    case MOMENT_SAMPLE:
        return false;
    case MOMENT_BEFORE:
        snprintf(ret, capacity, local("nothing was recorded before %s"), to);
        break;
    case MOMENT_AFTER:
        snprintf(ret, capacity, local("nothing was recorded after %s"), from);
        break;
    case MOMENT_STOPPED:
        snprintf(ret, capacity,
                 local("nothing was recorded from %s to %s: the machine ran, but the set did not"),
                 from, to);
        break;
    case MOMENT_OFF:
        snprintf(ret, capacity,
                 local("nothing was recorded from %s to %s: the machine was off, or it restarted; "
                       "it started at %s"),
                 from, to, boot);
        break;
    case MOMENT_GAP:
        snprintf(ret, capacity, local("nothing was recorded from %s to %s"), from, to);
        break;
    case MOMENT_CLOCK:
        snprintf(ret, capacity,
                 moment->seconds < 0 ? local("the clock was set back by %s between %s and %s")
                                     : local("the clock was set forward by %s between %s and %s"),
                 by, from, to);
        break;
    case MOMENT_NO_BIRTH:
        snprintf(ret, capacity, "%s", local("no process begins after this time"));
        break;
    case MOMENT_NO_GAP:
        snprintf(ret, capacity, "%s", local("there is no gap after this time"));
        break;
    }
    return true;
}

/* Goes to the time of the first alert; 0: there is none. */
static void go_to_alert(struct window *window, int64_t time)
{
    window->message[0] = 0;
    if (time)
        model_go(window->model, window->now->source, GO_TO, time);
    else
        window_report(window, "%s", local("there is no alert after this time"));
}

void moment_take_alert(struct window *window, const char *lines)
{
    int64_t seconds = 0;
    for (const char *at = lines; at && *at && !seconds; at += *at == '\n') {
        seconds = strtoll(at, NULL, 10); /* 0 for a message */
        at += strcspn(at, "\n");
    }
    go_to_alert(window, seconds ? (seconds + unix_epoch) * second : 0);
}

/* Returns the time of the first alert in the files of OPENPERFLIB_ROOT after `time`, in 100 ns
 * since 1601, UTC; 0: there is none. */
static int64_t next_alert(int64_t time)
{
    struct event_log log;
    int64_t found = 0;
    event_log_read(&log);
    for (size_t i = 0; i < log.count; i++) {
        struct tm parts = {0};
        const struct event *event = &log.list[i];
        if (event->id != ALERT_EVENT || strcmp(event->source, "PLA") != 0 ||
            !strptime(event->time, "%Y-%m-%dT%H:%M:%S", &parts))
            continue;
        int64_t at = ((int64_t)timegm(&parts) + unix_epoch) * second;
        if (at > time && (!found || at < found))
            found = at;
    }
    event_log_done(&log);
    return found;
}

bool moment_key(struct window *window, int key)
{
    static const struct {
        char key;
        enum model_go how;
        int by;
    } keys[] = {
        {',', GO_SAMPLE, -1     },
        {'.', GO_SAMPLE, 1      },
        {'[', GO_BY,     -MINUTE},
        {']', GO_BY,     MINUTE },
        {'{', GO_BY,     -HOUR  },
        {'}', GO_BY,     HOUR   },
        {'B', GO_BIRTH,  0      },
        {'N', GO_GAP,    0      },
    };
    struct model_source source;
    model_source(window->model, window->now->source, &source);
    for (size_t i = 0; source.at && i < sizeof keys / sizeof *keys; i++)
        if (keys[i].key == key) {
            sets_end_search(&window->sets);
            model_go(window->model, window->now->source, keys[i].how, keys[i].by);
            return true;
        }
    if (!source.at || key != 'A')
        return false;
    const char *root = getenv("OPENPERFLIB_ROOT");
    sets_end_search(&window->sets);
    if (root && *root)
        go_to_alert(window, next_alert(source.time));
    else /* the journal may be large */
        sets_find_alert(window, source.time / second - unix_epoch + 1);
    return true;
}
