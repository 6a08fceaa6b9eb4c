/* SPDX-License-Identifier: MIT */
/*
 * A provider in a helper process, asked through shared memory. Whatever the helper wrote is hostile
 * input: each value is read once, texts are cut and cleaned, waits have an end. (house section 0a)
 */
#include "host/isolate.h"
#include "host/helper.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct isolated {
    struct helper *helper; /* NULL: none */
    bool owed;             /* a request was handed over, its answer was not taken yet */
    bool known;            /* the next reply is `reply`: nobody needs to be waited for */
    bool guards;
    size_t room;
    struct isolate_reply reply;
};

LSTATUS isolate_new(struct isolated **ret)
{
    struct isolated *isolated = calloc(1, sizeof(*isolated));
    if (!isolated)
        return ERROR_NOT_ENOUGH_MEMORY;
    *ret = isolated;
    return ERROR_SUCCESS;
}

/* In a child of fork() the parent's helper is not ours: nothing is ended, and nothing unmapped. */
static void leave_parents(struct isolated *isolated)
{
    if (!isolated->helper || helper_is_ours(isolated->helper))
        return;
    free(isolated->helper);
    isolated->helper = NULL;
    isolated->owed = false;
}

static void end_helper(struct isolated *isolated)
{
    leave_parents(isolated);
    if (isolated->helper)
        helper_end(isolated->helper);
    isolated->helper = NULL;
    isolated->owed = false;
}

static enum isolate_stage stage_of(struct channel *channel)
{
    uint32_t stage = atomic_load(&channel->stage.value);
    return stage <= ISOLATE_CLOSE ? (enum isolate_stage)stage : ISOLATE_START;
}

/* Who wrote over the words that both share cannot be understood any more. */
static void take_nonsense(struct isolated *isolated, struct isolate_reply *ret)
{
    *ret = (struct isolate_reply){.stage = stage_of(isolated->helper->channel),
                                  .end = ISOLATE_CRASHED,
                                  .status = ERROR_PROCESS_ABORTED,
                                  .code = SIGKILL};
    strcpy(ret->text, "it wrote far outside its buffer, over what its helper and its client share");
    end_helper(isolated);
}

/* ---- asking ---- */

/* Puts one text behind the others; its NUL is counted, so that nothing has no bytes. */
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

static LSTATUS write_request(struct channel *channel, const struct isolate_request *request)
{
    struct text_place place = {.texts = channel_texts(channel)};
    channel->order.order = CHANNEL_COLLECT;
    channel->order.room = (uint32_t)request->room;
    channel->order.query = put_query(&place, request->query);
    channel->order.service = put_text(&place, request->service);
    channel->order.library = put_text(&place, request->library);
    for (size_t i = 0; i < COUNT(request->procedures); i++)
        channel->order.procedures[i] = put_text(&place, request->procedures[i]);
    channel->order.export_names =
        put_bytes(&place, request->export_names, request->export_units * sizeof(uint16_t));
    return place.full ? ERROR_INSUFFICIENT_BUFFER : ERROR_SUCCESS;
}

static void arm_guards(struct channel *channel, size_t room)
{
    memset(channel_room(channel) - CHANNEL_GUARD, CHANNEL_GUARD_PATTERN, CHANNEL_GUARD);
    memset(channel_room(channel) + room, CHANNEL_GUARD_PATTERN, CHANNEL_GUARD);
}

static bool guard_whole(const unsigned char *shared)
{
    unsigned char guard[CHANNEL_GUARD];
    memcpy(guard, shared, sizeof(guard));
    return guard[0] == CHANNEL_GUARD_PATTERN && memcmp(guard, guard + 1, sizeof(guard) - 1) == 0;
}

/* Before the number is given the words must owe an answer to it: if the helper dies in between, the
 * kernel marks `life` first and then wakes `answer`, so one of the two is always seen. */
static bool hand_over(struct helper *helper)
{
    struct channel *channel = helper->channel;
    uint32_t watcher = atomic_load(&channel->life.value);
    uint32_t number = helper->number, next = number + 1 == CHANNEL_LEFT ? 0 : number + 1;
    atomic_store(&channel->answer.value, watcher ? watcher : CHANNEL_OWED);
    if (!atomic_compare_exchange_strong(&channel->request.value, &number, next))
        return false;
    helper->number = next;
    channel_wake(&channel->request.value);
    return true;
}

static bool start_helper(struct isolated *isolated)
{
    struct isolate_reply *reply = &isolated->reply;
    *reply = (struct isolate_reply){.stage = ISOLATE_START, .end = ISOLATE_REFUSED};
    reply->status = helper_start(&isolated->helper, reply->text, sizeof(reply->text));
    isolated->known = reply->status != ERROR_SUCCESS;
    return !isolated->known;
}

static LSTATUS hand_over_request(struct isolated *isolated, const struct isolate_request *request)
{
    struct helper *helper = isolated->helper;
    if (!helper_map(helper, CHANNEL_ROOM_OFFSET + request->room + CHANNEL_GUARD))
        return ERROR_NOT_ENOUGH_MEMORY;
    LSTATUS status = write_request(helper->channel, request);
    if (status)
        return status;
    if (request->guards)
        arm_guards(helper->channel, request->room);
    isolated->guards = request->guards;
    isolated->room = request->room;
    return hand_over(helper) ? ERROR_SUCCESS : ERROR_INVALID_DATA;
}

/* One that waited empty may have gone this very moment. */
static LSTATUS ask_empty(struct isolated *isolated, const struct isolate_request *request)
{
    LSTATUS status = ERROR_INVALID_DATA;
    while (status == ERROR_INVALID_DATA && (isolated->helper = helper_pool_take())) {
        /* it closed its last provider, and has not begun to open this one */
        atomic_store(&isolated->helper->channel->stage.value, ISOLATE_START);
        status = hand_over_request(isolated, request);
        if (status)
            end_helper(isolated);
    }
    if (status != ERROR_INVALID_DATA || !start_helper(isolated))
        return isolated->known ? ERROR_SUCCESS : status;
    return hand_over_request(isolated, request);
}

LSTATUS isolate_ask(struct isolated *isolated, const struct isolate_request *request)
{
    leave_parents(isolated);
    if (isolated->owed)
        return ERROR_BUSY;
    if (request->room > ISOLATE_ROOM)
        return ERROR_INVALID_PARAMETER;
    isolated->known = false;
    LSTATUS status =
        isolated->helper ? hand_over_request(isolated, request) : ask_empty(isolated, request);
    if (status == ERROR_INVALID_DATA) {
        take_nonsense(isolated, &isolated->reply);
        isolated->known = true;
        return ERROR_SUCCESS;
    }
    isolated->owed = !status && !isolated->known;
    return status;
}

/* ---- the answer ---- */

/* A stranger's words go to the event log: cut, ended and without control characters. */
static void copy_words(char to[static CHANNEL_WORDS], const char from[static CHANNEL_WORDS])
{
    memcpy(to, from, CHANNEL_WORDS);
    to[CHANNEL_WORDS - 1] = '\0';
    for (char *at = to; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = ' ';
    if (!utf8_valid(to, strlen(to)))
        for (char *at = to; *at; at++)
            if ((unsigned char)*at > 0x7f)
                *at = '?';
}

static void take_last_words(struct isolated *isolated, struct isolate_reply *ret)
{
    struct channel *channel = isolated->helper->channel;
    uint32_t end = *(volatile uint32_t *)&channel->last.end;
    ret->code = *(volatile int *)&channel->last.code;
    ret->address = *(volatile uint64_t *)&channel->last.address;
    copy_words(ret->text, channel->last.text);
    ret->status = ERROR_PROCESS_ABORTED;
    if (end == CHANNEL_END_SIGNAL && ret->code > 0 && ret->code < NSIG) {
        ret->end = ISOLATE_CRASHED;
    } else if (end == CHANNEL_END_EXIT) {
        ret->end = ISOLATE_EXITED;
    } else if (end == CHANNEL_END_REFUSED) {
        ret->end = ISOLATE_REFUSED;
    } else {
        ret->end = ISOLATE_CRASHED;
        ret->code = SIGKILL;
        ret->address = 0;
        strcpy(ret->text,
               ret->stage == ISOLATE_START
                   ? "the helper ended before it was ready; is its file of this version, and "
                     "may the program start processes?"
                   : "killed from outside, for want of memory, or by its own hand");
    }
}

static void take_death(struct isolated *isolated, struct isolate_reply *ret)
{
    take_last_words(isolated, ret);
    end_helper(isolated);
}

static void take_answer(struct isolated *isolated, struct isolate_reply *ret)
{
    struct channel *channel = isolated->helper->channel;
    const volatile struct channel *shared = channel;
    if (shared->mark != CHANNEL_MARK || shared->end_mark != CHANNEL_MARK ||
        shared->reply.number != isolated->helper->number ||
        atomic_load(&channel->request.value) != isolated->helper->number) {
        take_nonsense(isolated, ret);
        return;
    }
    uint32_t stage = shared->reply.stage;
    ret->stage = stage <= ISOLATE_CLOSE ? (enum isolate_stage)stage : ISOLATE_START;
    ret->end = ISOLATE_ANSWERED;
    ret->status = (LSTATUS)shared->reply.status;
    ret->bytes = shared->reply.bytes;
    ret->objects = shared->reply.objects;
    ret->end_offset = shared->reply.end_offset;
    copy_words(ret->text, channel->reply.text);
    unsigned char *room = channel_room(channel);
    ret->guards_intact = !isolated->guards ||
                         (guard_whole(room - CHANNEL_GUARD) && guard_whole(room + isolated->room));
    isolated->owed = false;
}

/* ---- waiting ---- */

enum { LOOK_EVERY_100NS = CLOCK_TICKS_PER_SECOND / 50 };

/* One nap. While it starts nobody but ourselves notices its death. */
static bool nap(struct helper *helper, uint32_t word, int64_t deadline)
{
    bool starting = word == CHANNEL_OWED;
    int64_t now = clock_ticks();
    if (now >= deadline)
        return false;
    int64_t until =
        starting && deadline - now > LOOK_EVERY_100NS ? now + LOOK_EVERY_100NS : deadline;
    channel_sleep(&helper->channel->answer.value, word, until);
    if (starting && clock_ticks() >= until && !helper_exists(helper))
        atomic_compare_exchange_strong(&helper->channel->answer.value, &word, CHANNEL_DIED);
    return true;
}

/* The word when it is not owed any more, or CHANNEL_OWED at the deadline. */
static uint32_t await(struct isolated *isolated, int64_t open_deadline, int64_t collect_deadline)
{
    struct channel *channel = isolated->helper->channel;
    for (;;) {
        uint32_t word = atomic_load(&channel->answer.value);
        if (word & CHANNEL_DIED || !(word & FUTEX_WAITERS))
            return word;
        if (atomic_load(&channel->life.value) & CHANNEL_DIED)
            return CHANNEL_DIED;
        bool opened = stage_of(channel) >= ISOLATE_COLLECT;
        if (!nap(isolated->helper, word, opened ? collect_deadline : open_deadline))
            return CHANNEL_OWED;
    }
}

void isolate_wait(struct isolated *isolated, int64_t open_deadline, int64_t collect_deadline,
                  struct isolate_reply *ret)
{
    leave_parents(isolated);
    if (isolated->known) {
        *ret = isolated->reply;
        isolated->known = false;
        return;
    }
    *ret = (struct isolate_reply){.end = ISOLATE_REFUSED, .status = ERROR_INVALID_FUNCTION};
    if (!isolated->owed) {
        strcpy(ret->text, "nothing was asked");
        return;
    }
    uint32_t word = await(isolated, open_deadline, collect_deadline);
    ret->stage = stage_of(isolated->helper->channel);
    if (word & CHANNEL_DIED) {
        take_death(isolated, ret);
    } else if (word == CHANNEL_ANSWERED) {
        take_answer(isolated, ret);
    } else if (word & FUTEX_WAITERS) {
        ret->end = ISOLATE_LATE;
        ret->status = ERROR_TIMEOUT;
    } else {
        take_nonsense(isolated, ret);
    }
}

void isolate_copy(struct isolated *isolated, void *to, size_t size)
{
    if (isolated->helper && helper_is_ours(isolated->helper) && size <= isolated->room)
        memcpy(to, channel_room(isolated->helper->channel), size);
}

bool isolate_busy(const struct isolated *isolated)
{
    return isolated->owed && helper_is_ours(isolated->helper);
}

/* ---- the end ---- */

static bool ask_to_close(struct isolated *isolated)
{
    struct helper *helper = isolated->helper;
    helper->channel->order.order = CHANNEL_CLOSE;
    isolated->owed = true;
    isolated->guards = false;
    return hand_over(helper);
}

void isolate_close(struct isolated *isolated, int64_t deadline, struct isolate_reply *ret)
{
    struct isolate_reply ours, *reply = ret ? ret : &ours;
    *reply = (struct isolate_reply){.stage = ISOLATE_CLOSE};
    leave_parents(isolated);
    isolated->known = false;
    if (isolated->owed)
        isolate_wait(isolated, deadline, deadline, reply);
    if (!isolated->owed && isolated->helper) {
        ask_to_close(isolated);
        isolate_wait(isolated, deadline, deadline, reply);
        /* its last number says whether nothing of the provider is left in it */
        if (reply->end == ISOLATE_ANSWERED && reply->objects == 0) {
            helper_pool_put(isolated->helper);
            isolated->helper = NULL;
        }
    }
    end_helper(isolated);
}

void isolate_end(struct isolated *isolated)
{
    end_helper(isolated);
    isolated->known = false;
}

void isolate_free(struct isolated *isolated)
{
    if (!isolated)
        return;
    isolate_end(isolated);
    free(isolated);
}
