/* SPDX-License-Identifier: MIT */
/* behemoth-server: the service that simulates the herd. */
#include "../common/program.h"
#include "herd.h"
#include "peers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { FORWARD_MOST = 100000 }; /* the most ticks of one request */
/* TICK: the credit that a tick costs. BUSY_MS: milliseconds of ticks before clients are served. */
enum { TICK = 1000000, BUSY_MS = 2 };

static struct service {
    char socket[108];
    const char *state;                   /* the herd's file */
    int64_t seed, count, since;          /* options for a new herd; since -1: not given */
    int64_t forward;                     /* ticks before the first client is served */
    int64_t save_every;                  /* seconds between saves; 0: saves only at the end */
    int64_t parameters[HERD_PARAMETERS]; /* values that were given as options; -1: not given */
    struct herd herd;
    struct peers peers;
    int64_t last;   /* when credit was added last */
    int64_t credit; /* milliseconds of the herd's time that are not yet simulated, times 1000 */
    int64_t saved;  /* when the herd was saved last */
    bool stop;
    uint64_t forward_to; /* ticks up to this number are run without waiting */
} service = {.seed = 1, .count = 50, .since = -1, .save_every = 30};

static volatile sig_atomic_t stop_requested;

static void stop(int number)
{
    (void)number;
    stop_requested = 1;
}

/* The time of day as FILETIME. */
static int64_t time_of_day(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (now.tv_sec + BEHEMOTH_1970) * BEHEMOTH_SECOND + now.tv_nsec / 100;
}

static bool save(void)
{
    service.saved = behemoth_now();
    bool good = state_save(&service.herd, service.state) == STATE_DONE;
    if (!good)
        complain(service.state);
    return good;
}

/* ---- requests ---- */

static struct answer status_only(enum behemoth_status status)
{
    return (struct answer){.status = status};
}

/* The answer to BEHEMOTH_HERD (`each`) or BEHEMOTH_SUMMARY, a copy of the herd at this moment. */
static struct answer answer_herd(bool each)
{
    const struct herd *herd = &service.herd;
    struct answer ret;
    size_t count = each ? (size_t)herd->count : 0;
    struct behemoth_herd *all = answer_body(&ret, sizeof *all + count * sizeof(struct behemoth));
    if (!all)
        return ret;
    herd_summary(herd, all);
    all->moment = time_of_day();
    all->process = (uint64_t)getpid();
    struct behemoth *to = (struct behemoth *)(void *)(all + 1);
    for (size_t i = 0; i < count; i++)
        to[i] = herd->all[i].is;
    return ret;
}

static struct answer answer_parameters(void)
{
    struct answer ret;
    struct behemoth_parameter *all = answer_body(&ret, sizeof herd_parameters);
    for (int i = 0; all && i < HERD_PARAMETERS; i++) {
        all[i] = herd_parameters[i];
        all[i].value = service.herd.parameters[i];
    }
    return ret;
}

static struct answer create(const struct behemoth_create *wanted)
{
    struct answer ret;
    struct behemoth born;
    enum behemoth_status status = herd_create(&service.herd, wanted, &born);
    if (status != BEHEMOTH_OK)
        return status_only(status);
    void *body = answer_body(&ret, sizeof born);
    if (body)
        memcpy(body, &born, sizeof born);
    return ret;
}

/* Adds requested ticks. The answer is sent when the ticks are done; meanwhile other clients are
 * served. */
static struct answer forward(uint64_t ticks)
{
    uint64_t from = service.herd.ticks;
    if (service.forward_to > from)
        from = service.forward_to;
    if (ticks > FORWARD_MOST || from - service.herd.ticks > 10 * FORWARD_MOST)
        return status_only(BEHEMOTH_BAD);
    if (ticks == 0)
        return status_only(BEHEMOTH_OK);
    service.forward_to = from + ticks;
    herd_earlier(&service.herd, ticks);
    return (struct answer){.due = service.forward_to};
}

static struct answer answer(const struct behemoth_head *head, const void *body, bool may_change)
{
    static const struct {
        uint32_t bytes;
        bool changes;
    } requests[] = {
        [BEHEMOTH_HERD] = {0,                                 false},
        [BEHEMOTH_CREATE] = {sizeof(struct behemoth_create),    true },
        [BEHEMOTH_KILL] = {sizeof(uint64_t),                  true },
        [BEHEMOTH_PARAMETERS] = {0,                                 false},
        [BEHEMOTH_SET] = {sizeof(struct behemoth_parameter), true },
        [BEHEMOTH_FORWARD] = {sizeof(uint64_t),                  true },
        [BEHEMOTH_SAVE] = {0,                                 true },
        [BEHEMOTH_STOP] = {0,                                 true },
        [BEHEMOTH_SUMMARY] = {0,                                 false},
    };
    if (head->what < BEHEMOTH_HERD || head->what > BEHEMOTH_SUMMARY ||
        head->bytes != requests[head->what].bytes)
        return status_only(BEHEMOTH_BAD);
    if (requests[head->what].changes && !may_change)
        return status_only(BEHEMOTH_REFUSED);
    switch (head->what) {
    case BEHEMOTH_HERD:
    case BEHEMOTH_SUMMARY:
        return answer_herd(head->what == BEHEMOTH_HERD);
    case BEHEMOTH_PARAMETERS:
        return answer_parameters();
    case BEHEMOTH_CREATE:
        return create(body);
    case BEHEMOTH_FORWARD:
        return forward(*(const uint64_t *)body);
    case BEHEMOTH_KILL:
        return status_only(herd_kill(&service.herd, *(const uint64_t *)body));
    case BEHEMOTH_SET:
        return status_only(herd_set(&service.herd, body));
    case BEHEMOTH_SAVE:
        return status_only(save() ? BEHEMOTH_OK : BEHEMOTH_FAILED);
    default:
        service.stop = true;
        return status_only(BEHEMOTH_OK);
    }
}

/* ---- life ---- */

static void tick(void)
{
    if (!herd_tick(&service.herd))
        fprintf(stderr, "behemoth-server: no memory for another behemoth\n");
}

/* Runs the ticks for the time that passed, by the herd's speed. If the machine is too slow, the
 * herd's time runs slower, so that clients are still answered. Requested ticks (BEHEMOTH_FORWARD)
 * are run without waiting, a few at a time between requests; the time that they take adds no
 * credit. */
static void live(void)
{
    int64_t now = behemoth_now(), speed = service.herd.parameters[HERD_SPEED];
    int64_t passed = now - service.last;
    service.last = now;
    if (service.herd.ticks < service.forward_to) {
        while (service.herd.ticks < service.forward_to && behemoth_now() - now < BUSY_MS)
            tick();
        service.last = behemoth_now();
        peers_reached(&service.peers, service.herd.ticks, BEHEMOTH_OK);
        return;
    }
    service.credit += (passed < 1000 ? passed : 1000) * speed;
    while (service.credit >= TICK && behemoth_now() - now < BUSY_MS) {
        service.credit -= TICK;
        tick();
    }
    service.credit %= TICK;
}

static int until_next_tick(void)
{
    int64_t speed = service.herd.parameters[HERD_SPEED];
    int64_t wait = speed > 0 ? (TICK - service.credit + speed - 1) / speed : 1000;
    if (service.herd.ticks < service.forward_to)
        return 0;
    return (int)(wait < 1 ? 1 : wait > 1000 ? 1000 : wait);
}

/* Restores the herd, or begins a new herd. */
static bool begin_life(void)
{
    struct herd_beginning beginning = {
        (uint64_t)service.seed, (uint64_t)service.count, time_of_day(), {0}};
    if (service.since >= 0)
        beginning.start = (service.since + BEHEMOTH_1970) * BEHEMOTH_SECOND;
    for (int i = 0; i < HERD_PARAMETERS; i++)
        beginning.parameters[i] =
            service.parameters[i] >= 0 ? service.parameters[i] : herd_parameters[i].value;
    enum state_result result = state_load(&service.herd, service.state);
    const char *fault = result == STATE_FAILED    ? strerror(errno)
                        : result == STATE_DAMAGED ? "damaged; move it away to begin a new herd"
                        : result == STATE_NONE && !herd_begin(&service.herd, &beginning)
                            ? "no herd was begun: --count is above --capacity"
                            : NULL;
    if (fault) {
        fprintf(stderr, "behemoth-server: %s: %s\n", service.state, fault);
        return false;
    }
    for (int i = 0; i < HERD_PARAMETERS; i++) {
        if (service.parameters[i] >= 0)
            service.herd.parameters[i] = service.parameters[i];
    }
    if (service.since < 0)
        herd_earlier(&service.herd, (uint64_t)service.forward);
    for (int64_t i = 0; i < service.forward; i++)
        tick();
    service.last = behemoth_now();
    return true;
}

static void serve(const sigset_t *mask)
{
    while (!service.stop && !stop_requested) {
        peers_serve(&service.peers, until_next_tick(), mask);
        live();
        if (service.save_every > 0 && behemoth_now() - service.saved >= service.save_every * 1000)
            save();
    }
}

/* ---- options ---- */

static const struct tool tool = {
    .name = "behemoth-server",
    .summary = "Simulate a herd of behemoths, and answer requests about it on a socket.",
    .usage = "[OPTION]...",
    .rows = behemoth_server_rows,
    .more =
        "Runs in the foreground until SIGTERM, SIGINT or 'behemoth-manager stop', and keeps\n"
        "the herd in a file, from which the next start continues.\n"
        "\n"
        "The default socket is the first of $BEHEMOTH_SOCKET, $OPENPERFLIB_ROOT/herd.sock,\n"
        "$XDG_RUNTIME_DIR/behemoth/herd.sock, and for root /run/behemoth/herd.sock. The default\n"
        "file is the first of $STATE_DIRECTORY/herd, ~/.local/state/behemoth/herd, and for root\n"
        "/var/lib/behemoth/herd.\n"
        "\n"
        "Exit status: 0 stopped and saved, 1 failure, 2 wrong usage, 3 another server uses this\n"
        "file or this socket.\n",
};

/* The herd's file if no option names one. */
static const char *usual_state(void)
{
    static const struct {
        const char *variable, *name;
        bool for_root;
    } places[] = {
        {"STATE_DIRECTORY", "/herd",                       true },
        {"XDG_STATE_HOME",  "/behemoth/herd",              false},
        {"HOME",            "/.local/state/behemoth/herd", false},
    };
    static char path[4096];
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const char *folder = secure_getenv(places[i].variable);
        if (!folder || *folder != '/' || (geteuid() == 0 && !places[i].for_root))
            continue;
        snprintf(path, sizeof path, "%s%s", folder, places[i].name);
        return path;
    }
    return "/var/lib/behemoth/herd";
}

static const char *take(int id, const char *value)
{
    (void)id;
    (void)value;
    return "unexpected argument";
}

/* Returns the exit code; -1: continue. */
static int read_options(int argc, char **argv)
{
    struct options options;
    const char *socket = NULL;
    /* clang-format off */
    struct option_target targets[SERVER_OPTIONS] = {
        [SERVER_SOCKET] = OPTION_TEXT(socket), [SERVER_STATE] = OPTION_TEXT(service.state),
        [SERVER_SAVE_EVERY] = OPTION_WHOLE(service.save_every, 0, 1000000),
        [SERVER_SEED] = OPTION_WHOLE(service.seed, 0, 1e18),
        [SERVER_COUNT] = OPTION_WHOLE(service.count, 0, BEHEMOTH_HERD_MAX),
        [SERVER_SINCE] = OPTION_WHOLE(service.since, 0, 100000000000),
        [SERVER_FORWARD] = OPTION_WHOLE(service.forward, 0, 100000000),
    };
    /* clang-format on */
    for (int i = 0; i < HERD_PARAMETERS; i++) {
        service.parameters[i] = -1;
        targets[SERVER_PARAMETER + i] = (struct option_target)OPTION_WHOLE(
            service.parameters[i], (double)herd_parameters[i].least,
            (double)herd_parameters[i].most);
    }
    int code = options_read(&options, &tool, argc, argv, OPTION_TARGETS(targets), take);
    if (code >= 0)
        return code;
    if (!behemoth_place(socket, true, service.socket, sizeof service.socket)) {
        errno = ENAMETOOLONG;
        return complain("--socket");
    }
    service.state = service.state ? service.state : usual_state();
    return -1;
}

int main(int argc, char **argv)
{
    struct sigaction action = {.sa_handler = stop};
    sigset_t ours, mask;
    int listening = -1, code = read_options(argc, argv);
    bool own;
    if (code >= 0)
        return code;
    code = take_lock(service.state, "this file");
    if (code)
        return code;
    if (!begin_life()) /* a signal before this ends the server, which has nothing to save yet */
        return EXIT_FAILED;
    sigemptyset(&ours);
    sigaddset(&ours, SIGTERM);
    sigaddset(&ours, SIGINT);
    sigprocmask(SIG_BLOCK, &ours, NULL); /* delivered only while waiting for requests */
    sigemptyset(&mask);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
    code = take_socket(service.socket, &listening, &own);
    if (!code) {
        peers_begin(&service.peers, listening, answer);
        code = save() ? 0 : EXIT_FAILED; /* report now, not at the end, that saving fails */
        if (!code) {
            serve(&mask);
            code = save() ? 0 : EXIT_FAILED;
        }
        peers_reached(&service.peers, UINT64_MAX, BEHEMOTH_FAILED);
        peers_end(&service.peers, 500);
        if (own)
            unlink(service.socket);
        close(listening);
    }
    herd_end(&service.herd);
    return code;
}
