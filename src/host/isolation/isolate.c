/* SPDX-License-Identifier: MIT */
/*
 * A provider in a helper process, queried through shared memory. Nothing that the helper writes is
 * trusted: each value is read once, texts are truncated and cleaned, and waits have deadlines.
 * (docs/isolation.md)
 */
#include "host/isolation/isolate.h"
#include "host/isolation/helper.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

struct isolated_provider {
    struct helper *helper; /* the helper; NULL: no process is running */
    bool owed;             /* a request was sent, and its reply was not taken yet */
    bool known;            /* `reply` is valid, so there is nothing to wait for */
    bool guards;
    unsigned missed_polls; /* number of answers in a row that came after polling had ended */
    size_t capacity;
    struct isolate_reply reply;
};

LSTATUS isolate_new(struct isolated_provider **ret)
{
    struct isolated_provider *isolated = calloc(1, sizeof(*isolated));
    if (!isolated)
        return ERROR_NOT_ENOUGH_MEMORY;
    *ret = isolated;
    return ERROR_SUCCESS;
}

/* Forgets a helper that was inherited from the parent of fork(). helper_end then frees only this
 * process's memory; the parent's helper goes on. */
static void leave_parents(struct isolated_provider *isolated)
{
    if (!isolated->helper || helper_is_ours(isolated->helper))
        return;
    helper_end(isolated->helper);
    isolated->helper = NULL;
    isolated->owed = false;
}

static void end_helper(struct isolated_provider *isolated)
{
    leave_parents(isolated);
    if (isolated->helper)
        helper_end(isolated->helper);
    isolated->helper = NULL;
    isolated->owed = false;
}

/* Returns the stage that the helper has reached. If the marks around the stage are damaged, the
 * stage is not trusted: the provider was running and overwrote them. */
static enum isolate_stage stage_of(struct channel *channel)
{
    if (!channel_is_marked(channel))
        return ISOLATE_COLLECT;
    uint32_t stage = atomic_load(&channel->stage.value);
    return stage <= ISOLATE_CLOSE ? (enum isolate_stage)stage : ISOLATE_START;
}

/* Reads the exit code of a helper that found its marks overwritten; false: it ended for another
 * reason. */
static bool ended_overwritten(const struct channel *channel, int status,
                              enum isolate_stage *ret_stage)
{
    int stage = WEXITSTATUS(status) - CHANNEL_EXIT_OVERWRITTEN;
    if (!WIFEXITED(status) || stage < ISOLATE_LOAD || stage > ISOLATE_CLOSE ||
        channel_is_marked(channel))
        return false;
    *ret_stage = (enum isolate_stage)stage;
    return true;
}

/* Returns the stage in which the provider overwrote the marks. When the provider's function
 * returns, the helper exits with a code that contains the stage; if that takes longer than 100 ms,
 * the stage in the channel is returned. */
static enum isolate_stage overwriting_stage(const struct helper *helper)
{
    enum { LOOKS = 100, LOOK_MICROSECONDS = 1000 };
    enum isolate_stage stage = stage_of(helper->channel);
    uint32_t status, resident_mib;
    for (int i = 0; !channel_is_marked(helper->channel) && i < LOOKS; i++) {
        if (helper_state(helper, &status, &resident_mib) == KEEPER_ENDED) {
            ended_overwritten(helper->channel, (int)status, &stage);
            break;
        }
        usleep(LOOK_MICROSECONDS);
    }
    return stage;
}

/* Fills in the reply of a helper that overwrote shared memory, and ends the helper, which cannot be
 * used any more. */
static void take_overwritten(struct isolated_provider *isolated, struct isolate_reply *ret)
{
    *ret = (struct isolate_reply){.stage = overwriting_stage(isolated->helper),
                                  .end = ISOLATE_CRASHED,
                                  .status = ERROR_PROCESS_ABORTED,
                                  .code = SIGKILL};
    strcpy(ret->text, "it wrote far outside its buffer and overwrote memory that its helper shares "
                      "with the program");
    end_helper(isolated);
}

/* ---- requests ---- */

/* The position for the next text of a request. Sizes include the NUL; 0 bytes: no text. */
struct text_place {
    char *texts;
    size_t used;
    bool full;
};

static struct channel_text put_bytes(struct text_place *place, const void *bytes, size_t count)
{
    size_t aligned = (place->used + 1) & ~(size_t)1;
    if (!bytes || place->full || count > CHANNEL_TEXT_BYTES - aligned) {
        place->full |= bytes != NULL;
        return (struct channel_text){0, 0};
    }
    memcpy(place->texts + aligned, bytes, count);
    place->used = aligned + count;
    return (struct channel_text){(uint32_t)aligned, (uint32_t)count};
}

static struct channel_text put_text(struct text_place *place, const char *text)
{
    return put_bytes(place, text, text ? strlen(text) + 1 : 0);
}

static struct channel_text put_query(struct text_place *place, const char *query)
{
    size_t bytes = strlen(query), units = utf8_to_16(query, bytes, NULL, 0);
    size_t aligned = (place->used + 1) & ~(size_t)1, size = (units + 1) * sizeof(uint16_t);
    if (place->full || size > CHANNEL_TEXT_BYTES - aligned) {
        place->full = true;
        return (struct channel_text){0, 0};
    }
    uint16_t *to = (uint16_t *)(void *)(place->texts + aligned);
    utf8_to_16(query, bytes, to, units);
    to[units] = 0;
    place->used = aligned + size;
    return (struct channel_text){(uint32_t)aligned, (uint32_t)size};
}

uint32_t isolate_limit_mib(uint32_t registered_mib)
{
#ifdef __SANITIZE_ADDRESS__
    enum { FOR_ITSELF_MIB = 768 };
#else
    enum { FOR_ITSELF_MIB = 0 };
#endif
    uint32_t limit_mib = registered_mib ? registered_mib : 256;
    return limit_mib > UINT32_MAX - FOR_ITSELF_MIB ? UINT32_MAX : limit_mib + FOR_ITSELF_MIB;
}

static LSTATUS write_request(struct channel *channel, const struct isolate_request *request)
{
    struct text_place place = {.texts = channel_texts(channel)};
    channel->order.order = CHANNEL_COLLECT;
    channel->order.capacity = (uint32_t)request->capacity;
    channel->order.observes = request->observes;
    channel->order.children = request->children;
    channel->order.memory_mib = isolate_limit_mib(request->memory_mib);
    channel->order.query = put_query(&place, request->query);
    channel->order.service = put_text(&place, request->service);
    channel->order.library = put_text(&place, request->library);
    for (size_t i = 0; i < COUNT(request->procedures); i++)
        channel->order.procedures[i] = put_text(&place, request->procedures[i]);
    channel->order.export_names =
        put_bytes(&place, request->export_names, request->export_units * sizeof(uint16_t));
    return place.full ? ERROR_INSUFFICIENT_BUFFER : ERROR_SUCCESS;
}

static void arm_guards(struct channel *channel, size_t capacity)
{
    memset(channel_buffer(channel) - CHANNEL_GUARD, CHANNEL_GUARD_PATTERN, CHANNEL_GUARD);
    memset(channel_buffer(channel) + capacity, CHANNEL_GUARD_PATTERN, CHANNEL_GUARD);
}

static bool guard_whole(const unsigned char *shared)
{
    unsigned char guard[CHANNEL_GUARD];
    memcpy(guard, shared, sizeof(guard));
    return guard[0] == CHANNEL_GUARD_PATTERN && memcmp(guard, guard + 1, sizeof(guard) - 1) == 0;
}

/* Makes the helper read the request. Sets `answer` to CHANNEL_OWED first: if the helper dies after
 * that, the keeper changes it to CHANNEL_DIED. Returns false if the helper had exited or
 * overwritten `answer`. */
static bool hand_over(struct helper *helper)
{
    struct channel *channel = helper->channel;
    uint32_t answered = CHANNEL_ANSWERED;
    if (!atomic_compare_exchange_strong(&channel->answer.value, &answered, CHANNEL_OWED))
        return false;
    atomic_store(&channel->request.value, ++helper->number);
    channel_wake(&channel->request.value);
    return true;
}

static LSTATUS hand_over_request(struct isolated_provider *isolated,
                                 const struct isolate_request *request)
{
    struct helper *helper = isolated->helper;
    if (!helper_map(helper, CHANNEL_BUFFER_OFFSET + request->capacity + CHANNEL_GUARD))
        return ERROR_NOT_ENOUGH_MEMORY;
    LSTATUS status = write_request(helper->channel, request);
    if (status)
        return status;
    if (request->guards)
        arm_guards(helper->channel, request->capacity);
    isolated->guards = request->guards;
    isolated->capacity = request->capacity;
    isolated->owed = true;
    hand_over(helper);
    return ERROR_SUCCESS;
}

/* Starts a helper and sends the request. The keeper may exit at this moment, because it was idle
 * for 30 s; then a new keeper is started. */
static LSTATUS send_to_new_helper(struct isolated_provider *isolated,
                                  const struct isolate_request *request)
{
    struct isolate_reply *reply = &isolated->reply;
    for (;;) {
        *reply = (struct isolate_reply){.stage = ISOLATE_START, .end = ISOLATE_REFUSED};
        reply->status = helper_new(&isolated->helper, reply->text, sizeof(reply->text));
        isolated->known = reply->status != ERROR_SUCCESS;
        if (isolated->known)
            return ERROR_SUCCESS;
        LSTATUS status = hand_over_request(isolated, request);
        if (!status && helper_start(isolated->helper))
            return ERROR_SUCCESS;
        end_helper(isolated);
        if (status)
            return status;
    }
}

LSTATUS isolate_send(struct isolated_provider *isolated, const struct isolate_request *request)
{
    leave_parents(isolated);
    if (isolated->owed)
        return ERROR_BUSY;
    if (request->capacity > ISOLATE_LARGEST)
        return ERROR_INVALID_PARAMETER;
    isolated->known = false;
    return isolated->helper ? hand_over_request(isolated, request)
                            : send_to_new_helper(isolated, request);
}

/* ---- the answer ---- */

/* Copies a text of a third-party provider for the event log: truncated, terminated, without control
 * characters. */
static void copy_text(char to[static CHANNEL_TEXT], const char from[static CHANNEL_TEXT])
{
    memcpy(to, from, CHANNEL_TEXT);
    to[CHANNEL_TEXT - 1] = '\0';
    for (char *at = to; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = ' ';
    if (!utf8_valid(to, strlen(to)))
        for (char *at = to; *at; at++)
            if ((unsigned char)*at > 0x7f)
                *at = '?';
}

static void take_size(uint32_t resident_mib, struct isolate_reply *ret)
{
    ret->end = ISOLATE_LARGE;
    ret->resident_mib = resident_mib;
}

/* Fills in how the process ended. The keeper knows the exit status or signal; only the crashed
 * helper knows where it crashed. */
static void take_end(struct channel *channel, int status, struct isolate_reply *ret)
{
    const volatile struct channel *shared = channel;
    ret->end = WIFEXITED(status) ? ISOLATE_EXITED : ISOLATE_CRASHED;
    ret->code = WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status);
    if (ret->end == ISOLATE_CRASHED && shared->last.signal == (uint32_t)ret->code) {
        ret->has_address = shared->last.has_address, ret->address = shared->last.address;
        copy_text(ret->calls, channel->last.calls);
    }
    uint32_t resident_mib = shared->last.resident_mib;
    if (ret->end == ISOLATE_EXITED && ret->code == CHANNEL_EXIT_MEMORY && resident_mib)
        take_size(resident_mib, ret);
    if (ret->end == ISOLATE_CRASHED && ret->code == SIGKILL)
        strcpy(ret->text,
               "killed by another process, by the kernel for lack of memory, or by itself");
}

/* Fills in the reply when the keeper ended, or did not start. */
static void take_loss(bool was_alive, struct isolate_reply *ret)
{
    ret->end = was_alive ? ISOLATE_CRASHED : ISOLATE_REFUSED;
    ret->code = was_alive ? SIGKILL : 0;
    strcpy(ret->text,
           was_alive
               ? "perfhost, the parent of the helper processes, was killed"
               : "perfhost ended before it was ready; check that it has the library's version, "
                 "and that the program may start processes");
}

static void take_death(struct isolated_provider *isolated, struct isolate_reply *ret)
{
    struct helper *helper = isolated->helper;
    uint32_t status, resident_mib;
    bool was_alive;
    ret->status = ERROR_PROCESS_ABORTED;
    switch (helper_state(helper, &status, &resident_mib)) {
    case KEEPER_ENDED:
        if (ended_overwritten(helper->channel, (int)status, &ret->stage)) {
            take_overwritten(isolated, ret);
            return;
        }
        take_end(helper->channel, (int)status, ret);
        if (resident_mib)
            take_size(resident_mib, ret);
        break;
    case KEEPER_FAILED:
        ret->end = ISOLATE_REFUSED;
        ret->status = status_from_errno((int)status);
        snprintf(ret->text, sizeof(ret->text),
                 "perfhost may not start a process: %s; see ulimit -u", status_text(ret->status));
        break;
    default:
        if (!helper_lost(helper, &was_alive)) {
            take_overwritten(isolated, ret);
            return;
        }
        take_loss(was_alive, ret);
    }
    end_helper(isolated);
}

static void take_answer(struct isolated_provider *isolated, struct isolate_reply *ret)
{
    struct channel *channel = isolated->helper->channel;
    const volatile struct channel *shared = channel;
    if (!channel_is_marked(channel) || shared->reply.number != isolated->helper->number) {
        take_overwritten(isolated, ret);
        return;
    }
    uint32_t stage = shared->reply.stage;
    ret->stage = stage <= ISOLATE_CLOSE ? (enum isolate_stage)stage : ISOLATE_START;
    ret->end = ISOLATE_ANSWERED;
    ret->status = (LSTATUS)shared->reply.status;
    ret->bytes = shared->reply.bytes;
    ret->objects = shared->reply.objects;
    ret->end_offset = shared->reply.end_offset;
    ret->took_100ns = shared->reply.took_100ns;
    copy_text(ret->text, channel->reply.text);
    unsigned char *storage = channel_buffer(channel);
    ret->guards_intact = !isolated->guards || (guard_whole(storage - CHANNEL_GUARD) &&
                                               guard_whole(storage + isolated->capacity));
    isolated->owed = false;
}

/* ---- waiting ---- */

enum {
    LOOK_EVERY_100NS = CLOCK_TICKS_PER_SECOND / 20,
    /* how long the client polls: longer than waking an idle processor takes */
    AWAKE_100NS = CLOCK_TICKS_PER_SECOND / 10000,
    /* after this number of overdue answers in a row, polls for one request in 16 only */
    MANY_MISSED = 3,
};

static bool alone_on_processor(void)
{
    cpu_set_t allowed;
    return sched_getaffinity(0, sizeof(allowed), &allowed) || CPU_COUNT(&allowed) < 2;
}

static void pause_a_little(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb");
#endif
}

/* Polls for the answer for a short time, without sleeping: a provider that is open usually answers
 * within microseconds, and on an idle machine sleeping costs as much as waking the helper. After
 * that the thread sleeps, so that a slow helper costs no processor time. */
static void await_awake(struct isolated_provider *isolated, int64_t deadline)
{
    struct channel *channel = isolated->helper->channel;
    int64_t now = clock_ticks();
    int64_t end = now + AWAKE_100NS < deadline ? now + AWAKE_100NS : deadline;
    if (now >= end || stage_of(channel) < ISOLATE_COLLECT || alone_on_processor() ||
        (isolated->missed_polls >= MANY_MISSED && isolated->missed_polls++ % 16))
        return;
    while (clock_ticks() < end)
        for (int look = 0; look < 20; look++) {
            if (atomic_load(&channel->answer.value) != CHANNEL_OWED) {
                isolated->missed_polls = 0;
                return;
            }
            pause_a_little();
        }
    isolated->missed_polls++;
}

/* Returns the channel's word `answer` as soon as it is not CHANNEL_OWED, or CHANNEL_OWED at the
 * deadline. When a helper dies, the keeper changes the word; whether the keeper itself still runs
 * is checked from time to time. */
static uint32_t await(struct isolated_provider *isolated, int64_t open_deadline,
                      int64_t collect_deadline)
{
    struct channel *channel = isolated->helper->channel;
    int64_t begin = clock_ticks();
    bool was_alive;
    await_awake(isolated, collect_deadline);
    for (;;) {
        uint32_t word = atomic_load(&channel->answer.value);
        if (word != CHANNEL_OWED)
            return word;
        int64_t now = clock_ticks();
        int64_t deadline = stage_of(channel) < ISOLATE_COLLECT ? open_deadline : collect_deadline;
        if (now >= deadline || now >= begin + LOOK_EVERY_100NS)
            helper_watch(isolated->helper); /* a slow helper may be using more and more memory */
        if (now >= deadline)
            return CHANNEL_OWED;
        if (deadline - now > LOOK_EVERY_100NS)
            deadline = now + LOOK_EVERY_100NS;
        channel_sleep(&channel->answer.value, word, deadline);
        if (clock_ticks() >= deadline && helper_lost(isolated->helper, &was_alive))
            return CHANNEL_DIED;
    }
}

void isolate_wait(struct isolated_provider *isolated, int64_t open_deadline,
                  int64_t collect_deadline, struct isolate_reply *ret)
{
    leave_parents(isolated);
    if (isolated->known) {
        *ret = isolated->reply;
        isolated->known = false;
        return;
    }
    *ret = (struct isolate_reply){.end = ISOLATE_REFUSED, .status = ERROR_INVALID_FUNCTION};
    if (!isolated->owed) {
        strcpy(ret->text, "no request was sent");
        return;
    }
    uint32_t word = await(isolated, open_deadline, collect_deadline);
    ret->stage = stage_of(isolated->helper->channel);
    if (word == CHANNEL_DIED) {
        take_death(isolated, ret);
    } else if (word == CHANNEL_ANSWERED) {
        take_answer(isolated, ret);
    } else if (word == CHANNEL_OWED) {
        ret->end = ISOLATE_OVERDUE;
        ret->status = ERROR_TIMEOUT;
    } else {
        take_overwritten(isolated, ret);
    }
}

void isolate_copy(struct isolated_provider *isolated, void *to, size_t size)
{
    if (isolated->helper && helper_is_ours(isolated->helper) && size <= isolated->capacity)
        memcpy(to, channel_buffer(isolated->helper->channel), size);
}

bool isolate_busy(const struct isolated_provider *isolated)
{
    return isolated->owed && helper_is_ours(isolated->helper);
}

/* ---- the end ---- */

static void request_close(struct isolated_provider *isolated, bool unload)
{
    isolated->helper->channel->order.order = unload ? CHANNEL_CLOSE : CHANNEL_CLOSE_AND_STAY;
    isolated->owed = true;
    isolated->guards = false;
    hand_over(isolated->helper);
}

void isolate_close(struct isolated_provider *isolated, bool unload, int64_t deadline,
                   struct isolate_reply *ret)
{
    struct isolate_reply ours, *reply = ret ? ret : &ours;
    *reply = (struct isolate_reply){.stage = ISOLATE_CLOSE};
    leave_parents(isolated);
    isolated->known = false;
    if (isolated->owed)
        isolate_wait(isolated, deadline, deadline, reply);
    if (!isolated->owed && isolated->helper) {
        request_close(isolated, unload);
        isolate_wait(isolated, deadline, deadline, reply);
    }
    if (unload || isolated->owed)
        end_helper(isolated);
    else if (isolated->helper) /* the next request calls Open again */
        atomic_store(&isolated->helper->channel->stage.value, ISOLATE_START);
}

void isolate_end(struct isolated_provider *isolated)
{
    end_helper(isolated);
    isolated->known = false;
}

void isolate_free(struct isolated_provider *isolated)
{
    if (!isolated)
        return;
    isolate_end(isolated);
    free(isolated);
}
