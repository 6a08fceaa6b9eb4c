/* SPDX-License-Identifier: MIT */
/*
 * The sequence of tests, ordered so that one mistake hides few others: load, open, every query,
 * every buffer size, threads, many calls, Open twice, repeated Open and Close, unload. The first
 * crash or hang ends the sequence.
 */
#include "check.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    FIRST_SIZE = 64 << 10,
    /* number of rounds of calls; after each round the resources in use are compared */
    ROUNDS = 4,
    CALLS_MOST = 16,  /* maximum number of calls in a round */
    ROUND_MS = 150,   /* duration of a round: slower calls are repeated less often */
    LEAK_ROUNDS = 4,  /* growth in fewer rounds is no leak: a cache may fill */
    LARGE = 1 << 20,  /* growth per call that no cache has: LEAK_ROUNDS - 1 rounds prove the leak */
    REPEAT_MS = 1000, /* after this time no test is repeated */
    BUDGET_MS = 1700, /* elapsed_ms() at which all steps must have ended */
    LAST_MS = 1800,   /* elapsed_ms() at which a call is ended */
    SIZES_FIRST = 1,  /* number of buffer sizes that are tried before unrelated queries */
    LEAK_CALLS = 2,   /* number of calls for which time must be left to find a large leak */
    COSTLY_MS = 30000, /* how long programs wait for Costly; longer than this check takes */
    LOAD_MS = 2000,
    CLOSE_MS = 1000,
    START_MS = 10000,
    SLOW_CALL_MS = 5,
    SLOW_MOST = 2,  /* on a busy machine fewer slow calls than SLOW_MOST are no mistake */
    LEFT_MOST = 16, /* the test ends if more threads or children are left */
    PAUSE_MS = 20,
    CUT_TRIES = 8,           /* fewer cut answers may be chance, as instances begin and end */
    ID_CHANGES = 5,          /* fewer changes may be new things with an old name */
    MAPPED_LEAST = 64 << 10, /* least leak of a round: mapped files grow by pages */
    TIMES_MOST = 2048
};

struct trial {
    const struct registration *is;
    struct report *report;
    struct timing *timing;
    struct worker worker;
    bool ended;
    int64_t start;
    char own[256];     /* the query for the library's own objects; "": unknown */
    const char *query; /* a query that returned data; NULL: none */
    uint32_t capacity; /* a buffer size that is large enough for the answer to `query` */
    uint32_t size;     /* size of the last answer to `query` */
    /* a capacity of at least twice `size` that Collect then refused (ERROR_MORE_DATA); 0: none */
    uint32_t refused;
    struct check_answer first, last; /* the first and the last answer that were compared */
    double times[TIMES_MOST];
    struct usage loaded; /* resources in use before the first Open */
    /* resources in use after the last answer but one, and after the last answer */
    struct usage usage[2];
    int64_t waited_ns; /* how long the worker has waited for a processor */
    double each;       /* ms that a call takes, with the wait for a processor */
};

#define SLOW "time of Collect"
#define REFUSAL "ERROR_MORE_DATA"
#define LOADABLE "a library that can be loaded"
static const struct place nowhere;

static double waited_ms(const struct trial *trial)
{
    return (double)(waited_ns() + trial->waited_ns) / 1e6;
}

/* Returns the ms since this program began. The wait for a processor does not count: a busy machine
 * would leave too few calls to find leaks, and its load average rises a minute late. */
static int64_t elapsed_ms(const struct trial *trial)
{
    return now_ms() - trial->timing->begin_ms - (int64_t)waited_ms(trial);
}

static bool has_time(const struct trial *trial)
{
    return !trial->ended && elapsed_ms(trial) - trial->start < REPEAT_MS * machine_is_busy();
}

static double budget(const struct trial *trial)
{
    return (double)(BUDGET_MS - elapsed_ms(trial));
}

/* True if there is time for `calls` calls within the budget. */
static bool fits(const struct trial *trial, int calls)
{
    return !trial->ended && calls * trial->each <= budget(trial);
}

/* True if there is time for `calls` calls, an Open and a Close. */
static bool fits_open(const struct trial *trial, int calls)
{
    double around = trial->timing->open_ms + trial->timing->close_ms;
    return !trial->ended && calls * trial->each + around <= budget(trial);
}

/* True if a missing step counts as left out for lack of time, which it does unless a mistake ended
 * the trial. */
static bool is_planned(const struct trial *trial)
{
    return !trial->ended || *trial->timing->cut;
}

static void plan(struct trial *trial, enum step step, int rounds)
{
    trial->timing->planned[step] = is_planned(trial) ? (unsigned)rounds : 0;
}

/* Counts the step as made or left out; returns `made`. */
static bool note(struct trial *trial, enum step step, bool made)
{
    trial->timing->planned[step] += is_planned(trial);
    trial->timing->made[step] += made;
    return made;
}

static bool may(struct trial *trial, enum step step, int calls)
{
    return note(trial, step, fits(trial, calls));
}

/* ---- how the worker ended ---- */

static const char *order_text(enum worker_order order)
{
    static const char *const texts[] = {
        [ORDER_NONE] = "afterwards", [ORDER_LOAD] = "loading", [ORDER_OPEN] = "Open",
        [ORDER_COLLECT] = "Collect", [ORDER_CLOSE] = "Close",  [ORDER_UNLOAD] = "unloading"};
    return texts[order];
}

static void report_crash(struct trial *trial, const char *during)
{
    const struct worker_channel *channel = trial->worker.channel;
    char where[128] = "", length[40] = "";
    int64_t beyond = channel->crash.beyond;
    bool requested = channel->request.order == ORDER_COLLECT;
    size_t letters = strnlen(channel->request.query, sizeof channel->request.query);
    if (requested && letters > 100)
        snprintf(length, sizeof length, "... of %zu characters", letters);
    if (channel->crash.signal && channel->crash.in_guard)
        snprintf(where, sizeof where, ", %lld bytes %s the buffer", llabs((long long)beyond),
                 beyond < 0 ? "below" : "after the end of");
    struct finding *finding =
        report_add(trial->report, MISTAKE, &nowhere, during, IN_LIFE, "no crash",
                   "SIG%s at address 0x%" PRIx64 "%s%s%.100s%s%s", sigabbrev_np(trial->worker.code),
                   channel->crash.address, where, requested ? " (query \"" : "",
                   requested ? channel->request.query : "", length, requested ? "\")" : "");
    for (int i = 0; finding && i < WORKER_FRAMES && *channel->crash.frames[i]; i++) {
        size_t used = strlen(finding->details);
        snprintf(finding->details + used, sizeof finding->details - used, "%.127s\n",
                 channel->crash.frames[i]);
    }
}

/* Notes a call that was ended before its deadline, because the time for the check was over. A call
 * that had used two thirds of its deadline is a mistake (except for Costly, whose deadline is
 * long). */
static void report_cut(struct trial *trial, enum worker_order order, int most_ms, int64_t took_ms)
{
    const char *query = order == ORDER_COLLECT ? trial->worker.channel->request.query : "";
    snprintf(trial->timing->cut, sizeof trial->timing->cut,
             "%s%s%.60s%s was ended after %" PRId64 " ms", order_text(order), *query ? " (" : "",
             query, *query ? ")" : "", took_ms);
    if (took_ms * 3 >= (int64_t)most_ms * 2)
        report_add(trial->report, MISTAKE, &nowhere, order_text(order), IN_LIFE,
                   "a return within its deadline",
                   "it did not return within %" PRId64 " ms; the deadline is %d ms", took_ms,
                   most_ms);
}

static void report_end(struct trial *trial, enum worker_order order, int most_ms, int64_t took_ms)
{
    const char *during = order_text(order);
    struct report *report = trial->report;
    trial->ended = true;
    switch (trial->worker.end) {
    case WORKER_CRASHED:
        report_crash(trial, during);
        break;
    case WORKER_OVERDUE:
        report_add(report, MISTAKE, &nowhere, during, IN_LIFE, "a return within its deadline",
                   "it did not return within %" PRId64 " ms", took_ms);
        break;
    case WORKER_CUT:
        report_cut(trial, order, most_ms, took_ms);
        break;
    case WORKER_OVERWRITTEN:
        report_add(report, MISTAKE, &nowhere, during, IN_PROCESS,
                   "no changes to memory that is not its own",
                   "it wrote over the memory that this program shares with its process");
        break;
    case WORKER_EXITED:
        report_add(report, MISTAKE, &nowhere, during, IN_LIFE, "a return to the caller",
                   "it ended the process with exit code %d", trial->worker.code);
        break;
    case WORKER_LEFT:
        report_add(report, MISTAKE, &nowhere, during, IN_PROCESS, "a return to the caller",
                   "it executed another program in its place");
        break;
    default:
        report_add(report, MISTAKE, &nowhere, during, IN_PROCESS,
                   "no changes to file descriptors that are not its own",
                   "it closed or wrote to a file descriptor that it had not opened");
    }
}

static void report_changes(struct trial *trial, enum worker_order order, uint32_t changed)
{
    for (int state = 0; state < STATE_COUNT; state++)
        if (changed & UINT32_C(1) << state)
            report_add(trial->report, WARNING, &nowhere, state_text((enum worker_state)state),
                       IN_PROCESS, "unchanged, as the program set them", "changed by %s",
                       order_text(order));
}

static void report_left(struct trial *trial, enum worker_order order, const struct usage *usage)
{
    int32_t threads = usage->threads - trial->loaded.threads;
    bool many = trial->loaded.threads && threads > LEFT_MOST;
    if (usage->children > 0)
        report_add(trial->report, WARNING, &nowhere, "child processes", IN_PROCESS, "none is left",
                   "%" PRId32 " after %s", usage->children, order_text(order));
    if (many)
        report_add(trial->report, MISTAKE, &nowhere, "threads", IN_LIFE, "no increase",
                   "%" PRId32 " more after %s", threads, order_text(order));
    trial->ended = many || usage->children > LEFT_MOST;
}

static void report_starts(struct trial *trial, enum worker_order order)
{
    if (trial->worker.starts && !trial->is->may_start)
        report_add(trial->report, WARNING, &nowhere, "processes", IN_PROCESS,
                   "none is started, unless the value Children of its registration is 1",
                   "%s tried to start a process; this is refused in a helper process",
                   order_text(order));
    trial->worker.starts = 0;
}

static void report_signals(struct trial *trial, enum worker_order order, uint32_t count)
{
    if (count)
        report_add(trial->report, WARNING, &nowhere, "signals", IN_PROCESS,
                   "none is sent to another process",
                   "%s tried to send %" PRIu32 "; this is refused in a helper process",
                   order_text(order), count);
}

static bool send_order(struct trial *trial, enum worker_order order, int most_ms,
                       struct worker_reply *ret)
{
    if (trial->ended)
        return false;
    int64_t begin = now_ms();
    int64_t left = (int64_t)LAST_MS * machine_is_busy() - elapsed_ms(trial);
    bool answered = worker_send(&trial->worker, order, most_ms, left > 1 ? (int)left : 1, ret);
    report_starts(trial, order);
    if (!answered) {
        report_end(trial, order, most_ms, now_ms() - begin);
        return false;
    }
    trial->waited_ns = ret->waited_ns;
    report_changes(trial, order, ret->changed);
    report_signals(trial, order, ret->signals);
    report_left(trial, order, &ret->usage);
    if (ret->delayed_writes && order != ORDER_COLLECT)
        report_add(trial->report, MISTAKE, &nowhere, "buffer", IN_RETURNS,
                   "no writes after Collect returned", "the answer was changed later");
    if (order != ORDER_COLLECT && ret->took_ns / 1000000 > most_ms)
        report_add(trial->report, MISTAKE, &nowhere, order_text(order), IN_LIFE,
                   "a return within its deadline", "%" PRId64 " ms", ret->took_ns / 1000000);
    return true;
}

/* ---- Collect ---- */

static void copy_data(struct check_answer *answer, const struct worker_channel *channel)
{
    int64_t end = answer->reply.end;
    if (end <= 0 || end > (int64_t)answer->capacity || !(answer->data = malloc((size_t)end)))
        return;
    memcpy(answer->data, channel->data, (size_t)end);
    answer->size = (size_t)end;
}

static bool is_foreign(const char *query)
{
    return strncmp(query, "Foreign", 7) == 0;
}

static void check_time(struct trial *trial, const struct check_answer *answer)
{
    int64_t ms = answer->reply.took_ns / 1000000;
    if (strcmp(answer->query, "Costly") == 0)
        return;
    if (trial->timing->collects < TIMES_MOST)
        trial->times[trial->timing->collects++] = (double)answer->reply.took_ns / 1e6;
    if (ms <= trial->is->collect_ms)
        return;
    struct finding *finding =
        report_add(trial->report, MISTAKE, &nowhere, SLOW, IN_LIFE, "an answer within its deadline",
                   "%" PRId64 " ms (query \"%s\")", ms, answer->query);
    if (finding && finding->times >= SLOW_MOST)
        trial->ended = true;
}

static void note_refusal(struct trial *trial, const struct check_answer *answer)
{
    if (answer->reply.status == ERROR_MORE_DATA && answer->query == trial->query &&
        trial->last.data && answer->capacity >= trial->capacity &&
        answer->capacity / 2 >= trial->size)
        trial->refused = answer->capacity;
}

/* Makes and checks one call. True: *ret has data whose lengths add up. Free with answer_done. */
static bool collect(struct trial *trial, const char *query, uint32_t capacity, bool own_thread,
                    struct check_answer *ret)
{
    struct worker_channel *channel = trial->worker.channel;
    bool costly = strcmp(query, "Costly") == 0;
    *ret = (struct check_answer){.query = query, .capacity = capacity};
    if (trial->ended)
        return false;
    snprintf(channel->request.query, sizeof channel->request.query, "%s", query);
    channel->request.capacity = capacity;
    channel->request.null_buffer = false;
    channel->request.own_thread = own_thread;
    int64_t begin = ret->begin_ms = now_ms();
    if (!send_order(trial, ORDER_COLLECT, costly ? COSTLY_MS : (int)trial->is->collect_ms,
                    &ret->reply))
        return false;
    ret->end_ms = now_ms();
    if (!ret->reply.status && (!trial->query || (ret->reply.end > 0 && !costly))) {
        double took = (double)(ret->end_ms - begin);
        trial->each = trial->each > 0 ? (trial->each + took) / 2 : took;
        trial->usage[0] = trial->usage[1];
        trial->usage[1] = ret->reply.usage;
    }
    check_time(trial, ret);
    note_refusal(trial, ret);
    bool data = answer_check_returns(ret, trial->report);
    if (!data)
        return false;
    copy_data(ret, channel);
    if (is_foreign(query))
        return ret->size > 0;
    return ret->size > 0 && answer_check_lengths(ret, trial->report);
}

/* Like collect, but retries with larger buffers, as programs do. */
static bool collect_growing(struct trial *trial, const char *query, struct check_answer *ret)
{
    for (uint32_t capacity = FIRST_SIZE;; capacity *= 4) {
        if (collect(trial, query, capacity, false, ret))
            return true;
        if (trial->ended || ret->reply.status != ERROR_MORE_DATA)
            return false;
        if (capacity >= WORKER_SIZE) {
            report_add(trial->report, MISTAKE, &nowhere, "status", IN_RETURNS,
                       "an answer in 64 MiB at most",
                       "ERROR_MORE_DATA with %" PRIu32 " bytes of space", capacity);
            return false;
        }
        answer_done(ret);
    }
}

/* Reports that Collect refused a buffer of at least twice the size of the answer, although the
 * answers before and after the refusal have the same size. */
static void check_refusal(struct trial *trial, const struct check_answer *answer)
{
    if (trial->refused && trial->size == answer->size)
        report_add(trial->report, MISTAKE, &nowhere, REFUSAL, IN_RETURNS,
                   "an answer, because calls before and after this one needed less space",
                   "no answer in %" PRIu32 " bytes, although it needs only %zu", trial->refused,
                   answer->size);
    trial->refused = 0;
}

/* Compares the answer with the previous one, and keeps it for the next comparison. */
static void take(struct trial *trial, struct check_answer *answer)
{
    if (trial->last.data && answer->data)
        values_compare(&trial->first, &trial->last, answer, trial->report);
    check_refusal(trial, answer);
    if (trial->last.data && answer->data)
        constants_compare(&trial->last, answer, trial->report);
    if (trial->first.data && answer->data)
        values_compare_times(&trial->first, answer, trial->report);
    if (trial->first.data)
        answer_done(&trial->last);
    else
        trial->first = trial->last;
    trial->size = answer->data ? (uint32_t)answer->size : trial->size;
    trial->last = *answer;
    *answer = (struct check_answer){0};
}

/* ---- queries ---- */

static void note_own(struct trial *trial, struct check_answer *answer)
{
    opl_object_view object = {0};
    size_t used = 0;
    while (opl_block_next_object(&answer->block, &object) && used + 16 < sizeof trial->own)
        used += (size_t)snprintf(trial->own + used, sizeof trial->own - used, "%s%" PRIu32,
                                 used ? " " : "", (uint32_t)object.type.ObjectNameTitleIndex);
}

/* Tries a query that should return data; the first one that does is used for all further calls. */
static void try_query(struct trial *trial, const char *query, bool prefer)
{
    struct check_answer answer;
    if (!*query || trial->ended)
        return;
    if (collect_growing(trial, query, &answer)) {
        fields_check(&answer, trial->is, trial->report);
        if (!*trial->own)
            note_own(trial, &answer);
        if (!trial->query || prefer) {
            trial->query = query;
            trial->capacity = answer.capacity;
            answer_done(&trial->last);
            take(trial, &answer);
        }
    }
    answer_done(&answer);
}

/* Tries queries that do not concern the provider: a number of no service, a word, another machine.
 * True: the provider answered none of them. */
static bool try_foreign(struct trial *trial)
{
    bool silent = true;
    static const char *const queries[] = {"2147483646", "Nonsense", "Foreign nowhere.invalid"};
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        struct check_answer answer;
        if (!may(trial, STEP_FOREIGN, 1 + SIZES_FIRST + LEAK_CALLS))
            continue;
        bool data = collect(trial, queries[i], trial->capacity ? trial->capacity : FIRST_SIZE,
                            false, &answer);
        silent &= !data;
        if (data)
            report_add(trial->report, WARNING, &nowhere, "query", IN_QUERIES,
                       "no data for a query that names none of the provider's objects",
                       "%zu bytes for \"%s\"", answer.size, queries[i]);
        answer_done(&answer);
    }
    return silent;
}

static bool is_own(const struct trial *trial, unsigned long number)
{
    char *end;
    for (const char *at = trial->own; *at; at = end)
        if (strtoul(at, &end, 10) == number)
            return true;
        else if (end == at)
            break;
    return number >= trial->is->first_counter && number <= trial->is->last_counter;
}

/* Queries numbers that begin, or end, with the digits of the library's first number: a comparison
 * of whole words does not find that number in them. */
static void try_similar(struct trial *trial)
{
    enum { MOST = 99999999 };
    char query[64];
    struct check_answer answer;
    unsigned long number = strtoul(trial->own, NULL, 10), before = number * 10 + 9, power = 10;
    while (power <= number)
        power *= 10;
    if (!number || number > MOST || is_own(trial, before) || is_own(trial, 9 * power + number) ||
        !may(trial, STEP_FOREIGN, 1 + SIZES_FIRST + LEAK_CALLS))
        return;
    snprintf(query, sizeof query, "%lu %lu", before, 9 * power + number);
    if (collect(trial, query, trial->capacity ? trial->capacity : FIRST_SIZE, false, &answer))
        report_add(trial->report, WARNING, &nowhere, "query", IN_QUERIES,
                   "no data for a longer number that contains the digits of its own: compare whole "
                   "numbers",
                   "%zu bytes for \"%s\", because its own number is %lu", answer.size, query,
                   number);
    answer_done(&answer);
}

static bool is_empty(const struct check_answer *answer)
{
    return !answer->reply.status && answer->reply.end <= 0;
}

/* Tries the library's number at several positions of a query. Perflib passes a program's whole
 * query: the query may have the numbers of several providers, in any order. 2 is System, which
 * every query may name. */
static void try_positions(struct trial *trial)
{
    for (int first = 0; first <= 1; first++) {
        struct check_answer answer;
        char query[sizeof trial->own + sizeof "2 2"];
        if (!may(trial, STEP_OWN, 1 + SIZES_FIRST + LEAK_CALLS))
            continue;
        snprintf(query, sizeof query, "%s%s%s", first ? "" : "2 ", trial->own, first ? " 2" : "");
        collect(trial, query, trial->capacity, false, &answer);
        if (!trial->ended && is_empty(&answer))
            report_add(trial->report, WARNING, &nowhere, "query", IN_QUERIES,
                       "an answer to the numbers of its objects wherever they are in the query",
                       "no answer to \"%s\"", query);
        answer_done(&answer);
    }
}

static void try_queries(struct trial *trial)
{
    if (trial->is->object_list)
        snprintf(trial->own, sizeof trial->own, "%s", trial->is->object_list);
    try_query(trial, "Global", false);
    /* a second call must confirm that calls are slow */
    bool overdue = trial->each > (double)trial->is->collect_ms;
    bool made = !trial->query || overdue || note(trial, STEP_OWN, fits(trial, 1));
    if (made)
        try_query(trial, trial->own, true);
    if (made && *trial->own && trial->query && trial->query != trial->own && !trial->ended)
        report_add(trial->report, WARNING, &nowhere, "query", IN_QUERIES,
                   "an answer to the numbers of its objects, because it answers Global",
                   "no answer to \"%s\"", trial->own);
    else if (made && trial->query == trial->own)
        try_positions(trial);
    if (try_foreign(trial))
        try_similar(trial);
}

static void try_costly(struct trial *trial)
{
    try_query(trial, "Costly", false);
    /* the numbers of the library's objects are unknown, so Costly is the only query for them */
    if (!*trial->own)
        return;
    if (!trial->query)
        try_query(trial, trial->own, true);
}

/* ---- sizes ---- */

static void try_null(struct trial *trial)
{
    struct worker_channel *channel = trial->worker.channel;
    struct check_answer answer = {.query = trial->query};
    snprintf(channel->request.query, sizeof channel->request.query, "%s", trial->query);
    channel->request.capacity = 0;
    channel->request.null_buffer = true;
    channel->request.own_thread = false;
    if (send_order(trial, ORDER_COLLECT, (int)trial->is->collect_ms, &answer.reply))
        answer_check_returns(&answer, trial->report);
    channel->request.null_buffer = false;
}

/* True if Collect, each time that the whole answer does not fit, succeeds with a part of it. */
static bool cuts_short(struct trial *trial, uint32_t capacity, size_t *ret_cut, size_t *ret_whole)
{
    bool cut = fits(trial, 2 * CUT_TRIES + LEAK_CALLS);
    for (int i = 0; i < CUT_TRIES && cut; i++) {
        struct check_answer small, whole = {0};
        bool good = collect(trial, trial->query, capacity, false, &small);
        cut = !trial->ended && !small.reply.status && (good || small.reply.end == 0) &&
              collect(trial, trial->query, trial->capacity, false, &whole);
        if (cut) {
            *ret_cut = good ? answer_count(&small) : 0;
            *ret_whole = answer_count(&whole);
            cut = *ret_cut < *ret_whole && whole.size > capacity;
        }
        answer_done(&small);
        answer_done(&whole);
    }
    return cut;
}

static void check_whole(struct trial *trial, uint32_t capacity)
{
    size_t cut, whole;
    if (cuts_short(trial, capacity, &cut, &whole))
        report_add(trial->report, MISTAKE, &nowhere, "status", IN_RETURNS,
                   "ERROR_MORE_DATA when not everything fits",
                   "ERROR_SUCCESS with %zu of %zu objects and instances, in %" PRIu32
                   " bytes of space",
                   cut, whole, capacity);
}

static void try_sizes(struct trial *trial)
{
    uint32_t exact = (uint32_t)trial->last.size;
    if (!exact) /* after try_close_early there was no answer, so its size is unknown */
        return;
    const uint32_t capacities[] = {exact - 1, exact, 0, 4, exact / 2 & ~7u, exact + 8, 2 * exact};
    for (size_t i = 0; i < sizeof capacities / sizeof *capacities; i++) {
        struct check_answer answer;
        if (!may(trial, STEP_SIZES, 1 + LEAK_CALLS))
            continue;
        bool good = collect(trial, trial->query, capacities[i], false, &answer);
        bool whole = answer.reply.status || capacities[i] >= exact;
        if (good)
            take(trial, &answer);
        answer_done(&answer);
        if (!whole)
            check_whole(trial, capacities[i]);
    }
    if (may(trial, STEP_SIZES, 1 + LEAK_CALLS))
        try_null(trial);
}

static void try_threads(struct trial *trial)
{
    int empty = 0, calls = 0;
    for (int i = 0; i < 3; i++) {
        struct check_answer answer;
        if (!may(trial, STEP_THREADS, 1 + LEAK_CALLS))
            continue;
        if (collect(trial, trial->query, trial->capacity, true, &answer))
            take(trial, &answer);
        else
            empty += !trial->ended && is_empty(&answer);
        calls++;
        answer_done(&answer);
    }
    if (empty)
        report_add(trial->report, empty == calls ? MISTAKE : WARNING, &nowhere, "Collect", IN_LIFE,
                   "an answer in every thread", "no answer in %d of %d calls from new threads",
                   empty, calls);
}

/* Writes at least `length` characters of numbers that are not the library's, and so large that they
 * are hardly objects of this machine. */
static void write_others(const struct trial *trial, size_t length, char text[WORKER_QUERY])
{
    unsigned long number = 900000;
    for (size_t used = 0; used < length; number += 2)
        if (!is_own(trial, number))
            used += (size_t)sprintf(text + used, "%s%lu", used ? " " : "", number);
}

/* Tries long queries, with the library's numbers at their beginning and at their end. */
static void try_long(struct trial *trial)
{
    static const size_t lengths[] = {200, 2000};
    for (int i = 0; i < 4 && trial->query == trial->own; i++) {
        struct check_answer answer;
        char query[WORKER_QUERY], others[WORKER_QUERY] = "";
        if (!may(trial, STEP_OWN, 1 + LEAK_CALLS))
            continue;
        write_others(trial, lengths[i / 2], others);
        snprintf(query, sizeof query, "%s %s", i % 2 ? others : trial->own,
                 i % 2 ? trial->own : others);
        collect(trial, query, trial->capacity, false, &answer);
        if (!trial->ended && is_empty(&answer))
            report_add(trial->report, WARNING, &nowhere, "query", IN_QUERIES,
                       "an answer to the numbers of its objects, however long the query is",
                       "no answer to a query of %zu characters that %ss with \"%s\"", strlen(query),
                       i % 2 ? "end" : "begin", trial->own);
        answer_done(&answer);
    }
}

/* ---- resources that calls leave behind ---- */

/* Returns the smallest growth in a round, if the values grew in every round and by about the same;
 * else 0. Before the last round, a growth below `large` counts as 0. */
static int64_t growth(const int64_t *values, int count, int64_t large)
{
    int64_t least = INT64_MAX, most = 0;
    if (count < LEAK_ROUNDS - 1)
        return 0;
    for (int i = 1; i < count; i++) {
        int64_t more = values[i] - values[i - 1];
        least = more < least ? more : least;
        most = more > most ? more : most;
    }
    if (count < LEAK_ROUNDS && least < large)
        return 0;
    return least > 0 && least >= most / 2 ? least : 0;
}

struct account {
    int64_t heap[ROUNDS + 1], descriptors[ROUNDS + 1], threads[ROUNDS + 1], mapped[ROUNDS + 1];
    int count;
};

static void note_usage(struct account *account, const struct usage *usage)
{
    account->heap[account->count] = usage->heap;
    account->mapped[account->count] = usage->mapped;
    account->descriptors[account->count] = usage->descriptors;
    account->threads[account->count++] = usage->threads;
}

static void report_leaks(struct trial *trial, const struct account *account, int calls,
                         const char *what)
{
    const struct {
        const char *name;
        const int64_t *values;
        /* growth in each round that is a leak; that for which one round less is enough */
        int64_t least, large;
    } kinds[] = {
        {"memory",        account->heap,        8 * calls,    (int64_t)LARGE * calls},
        {"mapped memory", account->mapped,      MAPPED_LEAST, (int64_t)LARGE * calls},
        {"descriptors",   account->descriptors, 1,            INT64_MAX             },
        {"threads",       account->threads,     1,            INT64_MAX             }
    };
    bool bytes = false;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        int64_t more = growth(kinds[i].values, account->count, kinds[i].large);
        if (more < kinds[i].least || (i == 1 && bytes)) /* the leak was already reported */
            continue;
        bytes |= i <= 1;
        report_add(trial->report, MISTAKE, &nowhere, kinds[i].name, IN_LIFE, "no increase",
                   "%" PRId64 "%s more after %d call%s of %s", more, i <= 1 ? " bytes" : "", calls,
                   calls == 1 ? "" : "s", what);
    }
}

static double median(const struct trial *trial);
static void must_answer(struct trial *trial, const char *when);

/* How many calls make a round that takes about ROUND_MS. */
static int calls_of_round(const struct trial *trial, double each)
{
    int calls = each * CALLS_MOST <= ROUND_MS ? CALLS_MOST : (int)(ROUND_MS / each);
    if (calls < 2 && fits(trial, 2 * LEAK_ROUNDS))
        return 2;
    return calls < 1 ? 1 : calls;
}

/* Calls Collect several times, and adds to `account` the resources in use after the calls. */
static void try_round(struct trial *trial, int calls, struct account *account)
{
    struct usage usage = {0};
    for (int i = 0; i < calls && !trial->ended; i++) {
        struct check_answer answer;
        bool good = collect(trial, trial->query, trial->capacity, false, &answer);
        usage = answer.reply.usage;
        if (good)
            take(trial, &answer);
        answer_done(&answer);
    }
    if (!trial->ended)
        note_usage(account, &usage);
}

static void try_many(struct trial *trial)
{
    struct account account = {0};
    double each = median(trial);
    int calls = calls_of_round(trial, each);
    int least = each * calls <= ROUND_MS || calls == 1 ? LEAK_ROUNDS - 1 : 0;
    for (int i = 0; calls == 1 && i < 2; i++) /* the usage after the last two answers counts, too */
        if (trial->usage[i].heap || trial->usage[i].threads)
            note_usage(&account, &trial->usage[i]);
    int first = account.count;
    plan(trial, STEP_ROUNDS, ROUNDS + 1 - first);
    for (int round = first;
         round <= ROUNDS && fits(trial, calls) && (has_time(trial) || round < least); round++)
        try_round(trial, calls, &account);
    trial->timing->made[STEP_ROUNDS] = (unsigned)(account.count - first);
    trial->timing->hurried = account.count < LEAK_ROUNDS && !trial->ended;
    report_leaks(trial, &account, calls, "Collect");
    if (trial->each < PAUSE_MS && fits(trial, 1)) { /* a pause in which every clock advances */
        usleep(PAUSE_MS * 1000);
        must_answer(trial, "after a pause");
    }
}

/* Calls Collect with buffers that are too small, as programs do that do not know the size: what is
 * allocated for an answer that does not fit must be freed, too. */
static void try_short(struct trial *trial)
{
    struct account account = {0};
    uint32_t size = trial->size;
    const uint32_t capacities[4] = {0, 64, size / 2 & ~7u, size > 8 ? size - 8 : 0};
    plan(trial, STEP_SHORT, ROUNDS + 1);
    for (int round = 0; round <= ROUNDS && fits_open(trial, CALLS_MOST) && has_time(trial);
         round++) {
        struct usage usage = {0};
        for (int i = 0; i < CALLS_MOST && !trial->ended; i++) {
            struct check_answer answer;
            collect(trial, trial->query, capacities[i % 4], false, &answer);
            usage = answer.reply.usage;
            answer_done(&answer);
        }
        if (!trial->ended)
            note_usage(&account, &usage);
        trial->timing->made[STEP_SHORT]++;
    }
    report_leaks(trial, &account, CALLS_MOST, "Collect with a buffer that is too small");
}

/* Collects answers for pace_check. */
static void try_pace(struct trial *trial)
{
    struct check_answer answers[PACE_ANSWERS] = {0};
    int count = 0;
    bool good = trial->each < PAUSE_MS && fits(trial, PACE_ANSWERS) &&
                budget(trial) > PACE_ANSWERS * (PACE_MS + PAUSE_MS);
    while (good && count < PACE_ANSWERS) {
        if (count > 0)
            usleep(PACE_MS * 1000);
        good = collect(trial, trial->query, trial->capacity, false, &answers[count++]);
    }
    if (good)
        pace_check(answers, trial->report);
    for (int i = 0; i < count; i++) {
        if (good)
            take(trial, &answers[i]);
        answer_done(&answers[i]);
    }
}

/* ---- Open and Close ---- */

static bool open_once(struct trial *trial, struct worker_reply *reply)
{
    if (!send_order(trial, ORDER_OPEN, (int)trial->is->open_ms, reply))
        return false;
    trial->timing->open_ms =
        trial->timing->open_ms > 0 ? trial->timing->open_ms : (double)reply->took_ns / 1e6;
    if (!reply->status)
        return true;
    bool unnumbered = reply->status == ERROR_FILE_NOT_FOUND && !trial->is->first_counter;
    report_add(trial->report, MISTAKE, &nowhere, "Open", IN_LIFE, "ERROR_SUCCESS",
               "it failed (%" PRIu32 "): %s", reply->status,
               unnumbered ? "the registration has no First Counter; give --ini" : reply->text);
    return false;
}

static bool close_once(struct trial *trial, struct worker_reply *reply)
{
    answer_done(&trial->last); /* values may restart after Open, so older ones are not compared */
    if (!send_order(trial, ORDER_CLOSE, CLOSE_MS, reply))
        return false;
    trial->timing->close_ms = (double)reply->took_ns / 1e6;
    if (reply->status)
        report_add(trial->report, MISTAKE, &nowhere, "Close", IN_LIFE, "ERROR_SUCCESS",
                   "it failed (%" PRIu32 "): %s", reply->status, reply->text);
    return true;
}

static void must_answer(struct trial *trial, const char *when)
{
    struct check_answer answer;
    if (!trial->query)
        return;
    if (!may(trial, STEP_AGAIN, 1))
        return;
    bool good = collect(trial, trial->query, trial->capacity, false, &answer);
    if (!good && !trial->ended && !answer.reply.status)
        report_add(trial->report, WARNING, &nowhere, "Collect", IN_LIFE, "an answer as before",
                   "none %s", when);
    if (good)
        take(trial, &answer);
    answer_done(&answer);
}

/* Calls Open while the library is open, as Perflib does for a program on another machine. */
static void try_second_open(struct trial *trial)
{
    struct worker_reply reply;
    bool made = fits_open(trial, 2);
    if (!made)
        note(trial, STEP_AGAIN, false);
    if (!made || !open_once(trial, &reply))
        return;
    must_answer(trial, "after the second Open");
    if (close_once(trial, &reply))
        must_answer(trial, "after two calls of Open and one of Close");
}

/* If calls are slow, tests Close before the rounds, which would leave no time to wait for a Close
 * that hangs. */
static void try_close_early(struct trial *trial)
{
    struct worker_reply reply;
    bool made = trial->each > SLOW_CALL_MS && fits_open(trial, 1 + 2 * LEAK_ROUNDS);
    if (made && close_once(trial, &reply) && open_once(trial, &reply))
        must_answer(trial, "after it was closed and opened again");
}

static void try_again(struct trial *trial)
{
    struct account account = {0};
    struct worker_reply reply = {0};
    plan(trial, STEP_REOPEN, ROUNDS + 1);
    for (int round = 0; round <= ROUNDS && has_time(trial) && fits_open(trial, 1); round++) {
        trial->timing->made[STEP_REOPEN]++;
        if (!open_once(trial, &reply))
            break;
        must_answer(trial, "after it was closed and opened again");
        if (close_once(trial, &reply))
            note_usage(&account, &reply.usage);
    }
    report_leaks(trial, &account, 1, "Open and Close");
}

static void try_unloading(struct trial *trial)
{
    struct worker_reply reply;
    if (!send_order(trial, ORDER_NONE, LOAD_MS, &reply))
        return;
    if (reply.usage.threads > trial->loaded.threads)
        report_add(trial->report, MISTAKE, &nowhere, "threads", IN_LIFE,
                   "none after Close: the library is unloaded while they run", "%" PRId32,
                   reply.usage.threads - trial->loaded.threads);
    if (send_order(trial, ORDER_UNLOAD, LOAD_MS, &reply) && reply.usage.threads > 1) {
        usleep(20000);
        send_order(trial, ORDER_NONE, LOAD_MS, &reply);
    }
    if (!trial->ended && reply.usage.segments)
        report_add(trial->report, WARNING, &nowhere, "System V shared memory", IN_PROCESS,
                   "none that stays when the process ends",
                   "%" PRId32 " segment%s; to remove the last one: ipcrm -m %" PRId32,
                   reply.usage.segments, reply.usage.segments == 1 ? "" : "s",
                   reply.usage.segment_id);
    send_order(trial, ORDER_LOAD, LOAD_MS, &reply);
    send_order(trial, ORDER_UNLOAD, LOAD_MS, &reply);
}

static bool load(struct trial *trial)
{
    struct worker_reply reply;
    if (!send_order(trial, ORDER_NONE, START_MS, &reply)) /* waits until the worker has started */
        return false;
    trial->start = elapsed_ms(trial);
    if (!send_order(trial, ORDER_LOAD, LOAD_MS, &reply))
        return false;
    trial->loaded = reply.usage;
    if (!reply.status)
        return true;
    if (reply.missing)
        report_add(trial->report, MISTAKE, &nowhere, "exports", IN_LIFE,
                   "the functions named by its registration, or by --open, --collect, --close",
                   "no function \"%s\"", trial->is->procedures[(reply.missing - 1) % 3]);
    else
        report_add(trial->report, MISTAKE, &nowhere, "library", IN_LIFE, LOADABLE, "%s",
                   reply.text);
    return false;
}

/* ---- times ---- */

static int compare_doubles(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

static double median(const struct trial *trial)
{
    double sorted[TIMES_MOST];
    size_t count = trial->timing->collects;
    if (count == 0)
        return 0;
    memcpy(sorted, trial->times, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare_doubles);
    return sorted[count / 2];
}

static void sum_up(struct trial *trial)
{
    trial->timing->median_ms = median(trial);
    for (unsigned i = 0; i < trial->timing->collects; i++)
        if (trial->times[i] > trial->timing->worst_ms)
            trial->timing->worst_ms = trial->times[i];
}

/* ---- the whole sequence ---- */

static void try_all(struct trial *trial)
{
    struct worker_reply reply;
    if (!load(trial) || !open_once(trial, &reply))
        return;
    try_queries(trial);
    try_close_early(trial);
    if (!trial->query && !trial->ended && !report_mistakes(trial->report))
        try_costly(trial);
    if (!trial->query && !trial->ended && !report_mistakes(trial->report))
        report_add(trial->report, WARNING, &nowhere, "Collect", IN_QUERIES,
                   "an answer to Global, Costly or its own numbers", "no data at all");
    if (trial->query) {
        try_sizes(trial);
        try_threads(trial);
        try_many(trial);
        try_pace(trial);
        try_long(trial);
        try_second_open(trial);
    }
    if (close_once(trial, &reply))
        try_again(trial);
    if (trial->query && note(trial, STEP_COSTLY, fits_open(trial, 1)) &&
        open_once(trial, &reply)) { /* Costly is last, as it may take long */
        try_short(trial);
        try_costly(trial);
        close_once(trial, &reply);
    }
    try_unloading(trial);
}

void trial_run(const struct registration *registration, struct report *report,
               struct timing *timing)
{
    struct trial *trial = calloc(1, sizeof *trial);
    if (!trial)
        return;
    *trial = (struct trial){.is = registration, .report = report, .timing = timing};
    if (*registration->refused) {
        report_add(report, MISTAKE, &nowhere, "library", IN_LIFE, LOADABLE, "%s",
                   registration->refused);
    } else if (worker_start(&trial->worker, registration, report)) {
        try_all(trial);
        sum_up(trial);
        /* a value that fell only once may come from the kernel, or from a new thing of that name */
        report_rare_as_warning(report, "falling value", 2);
        report_rare_as_warning(report, CHANGED_ID, ID_CHANGES);
        report_rare_as_warning(report, REFUSAL, 2);
        report_rare_as_warning(report, SLOW, machine_is_busy() > 1 ? SLOW_MOST : 1);
        worker_end(&trial->worker, report);
        if (!report_mistakes(report) && registration->root && registration->service &&
            trial->query && note(trial, STEP_PERFLIB, fits_open(trial, 2)))
            perflib_check(registration, trial->query, report);
    } else {
        report_add(report, MISTAKE, &nowhere, "process", IN_LIFE, "a process for the library",
                   "none could be started");
    }
    timing->waited_ms = waited_ms(trial);
    answer_done(&trial->first);
    answer_done(&trial->last);
    free(trial);
}
