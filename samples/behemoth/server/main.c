/* SPDX-License-Identifier: MIT */
/* behemoth-server: the service that simulates the herd. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "peers.h"
#include "service.h"
#include "state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FORWARD_MOST = 100000 };       /* ticks of one request */
enum { TICK = 1000000, BUSY_MS = 2 }; /* credit of a tick; time for life between two requests */

static struct service {
    struct settings settings;
    struct herd herd;
    struct peers peers;
    int64_t last;   /* when life was credited */
    int64_t credit; /* thousandths of milliseconds of the herd's time */
    int64_t saved;  /* when */
    bool stop;
    uint64_t forward_to; /* as fast as it can, until this tick */
} service;

static volatile sig_atomic_t stop_requested;

static void stop(int number)
{
    (void)number;
    stop_requested = 1;
}

/* Signals are delivered only while waiting; long loops check for them. */
static bool must_stop(void)
{
    sigset_t pending;
    return stop_requested || (sigpending(&pending) == 0 && (sigismember(&pending, SIGTERM) == 1 ||
                                                            sigismember(&pending, SIGINT) == 1));
}

static bool save(void)
{
    service.saved = behemoth_now();
    if (state_save(&service.herd, service.settings.state) == STATE_DONE)
        return true;
    fprintf(stderr, "behemoth-server: %s: %s; the herd is not saved\n", service.settings.state,
            strerror(errno));
    return false;
}

/* ---- requests ---- */

static struct answer plain(enum behemoth_status status)
{
    return (struct answer){.status = status};
}

static struct answer with(const void *body, size_t bytes)
{
    struct answer content = {BEHEMOTH_OK, malloc(bytes), bytes};
    if (!content.body)
        return plain(BEHEMOTH_FAILED);
    memcpy(content.body, body, bytes);
    return content;
}

/* The answer is a copy of one moment: the herd does not change meanwhile. */
static struct answer print_herd(bool each)
{
    const struct herd *herd = &service.herd;
    uint64_t count = each ? herd->count : 0;
    size_t bytes = sizeof(struct behemoth_herd) + (size_t)count * sizeof(struct behemoth);
    struct behemoth_herd *all = malloc(bytes);
    if (!all)
        return plain(BEHEMOTH_FAILED);
    herd_summary(herd, all);
    all->moment = service_time();
    all->process = (uint64_t)getpid();
    struct behemoth *to = (struct behemoth *)(void *)(all + 1);
    for (uint64_t i = 0; i < count; i++)
        to[i] = herd->all[i].is;
    return (struct answer){BEHEMOTH_OK, all, bytes};
}

static struct answer all_parameters(void)
{
    struct behemoth_parameter all[HERD_PARAMETERS];
    memcpy(all, herd_parameters, sizeof all);
    for (int i = 0; i < HERD_PARAMETERS; i++)
        all[i].value = service.herd.parameters[i];
    return with(all, sizeof all);
}

/* The client gets its answer when it is done; meanwhile others are served. Requests add up. */
static struct answer forward(uint64_t ticks)
{
    uint64_t from = service.herd.ticks;
    if (service.forward_to > from)
        from = service.forward_to;
    if (ticks > FORWARD_MOST || from - service.herd.ticks > 10 * FORWARD_MOST)
        return plain(BEHEMOTH_BAD);
    if (ticks == 0)
        return plain(BEHEMOTH_OK);
    service.forward_to = from + ticks;
    herd_earlier(&service.herd, ticks);
    return (struct answer){.due = service.forward_to};
}

static struct answer create(const struct behemoth_create *wish)
{
    struct behemoth born;
    enum behemoth_status status = herd_create(&service.herd, wish, &born);
    return status == BEHEMOTH_OK ? with(&born, sizeof born) : plain(status);
}

static struct answer change(uint32_t what, const void *body)
{
    uint64_t number;
    memcpy(&number, body, sizeof number);
    switch (what) {
    case BEHEMOTH_CREATE:
        return create(body);
    case BEHEMOTH_KILL:
        return plain(herd_kill(&service.herd, number));
    case BEHEMOTH_SET:
        return plain(herd_set(&service.herd, body));
    case BEHEMOTH_FORWARD:
        return forward(number);
    case BEHEMOTH_SAVE:
        return plain(save() ? BEHEMOTH_OK : BEHEMOTH_FAILED);
    default:
        service.stop = true;
        return plain(BEHEMOTH_OK);
    }
}

static struct answer answer(void *of, const struct behemoth_head *head, const void *body,
                            bool may_change)
{
    static const uint32_t bytes[] = {
        [BEHEMOTH_HERD] = 0,
        [BEHEMOTH_CREATE] = sizeof(struct behemoth_create),
        [BEHEMOTH_KILL] = 8,
        [BEHEMOTH_PARAMETERS] = 0,
        [BEHEMOTH_SET] = sizeof(struct behemoth_parameter),
        [BEHEMOTH_FORWARD] = 8,
        [BEHEMOTH_SAVE] = 0,
        [BEHEMOTH_STOP] = 0,
        [BEHEMOTH_SUMMARY] = 0,
    };
    (void)of;
    if (head->what < BEHEMOTH_HERD || head->what > BEHEMOTH_SUMMARY ||
        head->bytes != bytes[head->what])
        return plain(BEHEMOTH_BAD);
    if (head->what == BEHEMOTH_HERD || head->what == BEHEMOTH_SUMMARY)
        return print_herd(head->what == BEHEMOTH_HERD);
    if (head->what == BEHEMOTH_PARAMETERS)
        return all_parameters();
    return may_change ? change(head->what, body) : plain(BEHEMOTH_REFUSED);
}

/* ---- life ---- */

static void tick(void)
{
    if (!herd_tick(&service.herd))
        fprintf(stderr, "behemoth-server: no memory for another behemoth\n");
}

/* Runs the ticks for the time that passed, by the herd's speed. If the machine is too slow, the
 * herd runs slower, so that clients are still answered. */
static void live(void)
{
    int64_t now = behemoth_now(), speed = service.herd.parameters[HERD_SPEED];
    int64_t passed = now - service.last;
    service.last = now;
    service.credit += (passed < 1000 ? passed : 1000) * speed;
    while (service.credit >= TICK && behemoth_now() - now < BUSY_MS) {
        service.credit -= TICK;
        tick();
    }
    service.credit %= TICK;
}

static bool is_forwarding(void)
{
    return service.herd.ticks < service.forward_to;
}

/* Runs a part of the requested ticks; the time for this does not count as the herd's. */
static void live_fast(void)
{
    int64_t until = behemoth_now() + BUSY_MS;
    while (is_forwarding() && behemoth_now() < until)
        tick();
    service.last = behemoth_now();
    peers_reached(&service.peers, service.herd.ticks, BEHEMOTH_OK);
}

static int until_next_tick(void)
{
    if (is_forwarding())
        return 0;
    int64_t speed = service.herd.parameters[HERD_SPEED];
    int64_t wait = speed > 0 ? (TICK - service.credit + speed - 1) / speed : 1000;
    return (int)(wait < 1 ? 1 : wait > 1000 ? 1000 : wait);
}

static bool begin_life(void)
{
    const struct settings *settings = &service.settings;
    enum state_result result = state_load(&service.herd, settings->state);
    if (result == STATE_DAMAGED) {
        fprintf(stderr, "behemoth-server: %s is damaged; move it away, and a new herd begins\n",
                settings->state);
        return false;
    }
    if (result == STATE_FAILED) {
        fprintf(stderr, "behemoth-server: %s: %s\n", settings->state, strerror(errno));
        return false;
    }
    if (result == STATE_NONE && !herd_begin(&service.herd, &settings->beginning)) {
        fprintf(stderr, "behemoth-server: too many behemoths: see --capacity\n");
        return false;
    }
    for (int i = 0; i < HERD_PARAMETERS; i++) {
        if (settings->has_parameters[i])
            service.herd.parameters[i] = settings->beginning.parameters[i];
    }
    if (!settings->since)
        herd_earlier(&service.herd, settings->forward);
    for (uint64_t i = 0; i < settings->forward && !must_stop(); i++)
        tick();
    service.last = behemoth_now();
    return true;
}

static void serve(const sigset_t *mask)
{
    int64_t every = service.settings.save_every * 1000;
    while (!service.stop && !stop_requested) {
        peers_serve(&service.peers, until_next_tick(), mask);
        if (is_forwarding())
            live_fast();
        else
            live();
        if (every > 0 && behemoth_now() - service.saved >= every)
            save();
    }
}

/* SIGTERM and SIGINT arrive only while we wait; `ret` is the mask for waiting. */
static void catch_signals(sigset_t *ret)
{
    struct sigaction action = {.sa_handler = stop};
    sigset_t ours;
    sigemptyset(&ours);
    sigaddset(&ours, SIGTERM);
    sigaddset(&ours, SIGINT);
    sigprocmask(SIG_BLOCK, &ours, ret);
    sigdelset(ret, SIGTERM);
    sigdelset(ret, SIGINT);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
}

int main(int argc, char **argv)
{
    sigset_t mask;
    bool own;
    settings_read(&service.settings, argc, argv);
    if (!service_lock(service.settings.state, "this herd"))
        return errno == EWOULDBLOCK ? EXIT_SECOND : 1;
    catch_signals(&mask);
    if (!begin_life())
        return 1;
    int listening = service_listen(&service.settings, &own);
    if (listening < 0) {
        herd_end(&service.herd);
        return errno == EWOULDBLOCK ? EXIT_SECOND : 1;
    }
    peers_begin(&service.peers, listening, answer, NULL);
    bool saved = save(); /* report now, not at the end, that the herd cannot be saved */
    if (saved) {
        serve(&mask);
        saved = save();
    }
    peers_reached(&service.peers, UINT64_MAX, BEHEMOTH_FAILED);
    peers_flush(&service.peers, 500);
    peers_end(&service.peers);
    if (own)
        unlink(service.settings.socket);
    close(listening);
    herd_end(&service.herd);
    return saved ? 0 : 1;
}
