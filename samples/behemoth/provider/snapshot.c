/* SPDX-License-Identifier: MIT */
/* One request for all data of an answer; its memory is kept until the next one is complete. */
#include "snapshot.h"

#include <windows.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PARAMETERS "SYSTEM\\CurrentControlSet\\Services\\Behemoth\\Parameters"

enum { CACHE_MS = 100, DEADLINE_MS = 300, PATIENCE_MS = 1000 };

static struct {
    char socket[4096];
    DWORD cache, deadline;
    struct behemoth_line line, kept; /* what is being asked; the last valid answer */
    int64_t next;                    /* not asked again before */
    struct snapshot now;
    size_t capacity; /* items */
    struct snapshot summary;
    int64_t summary_next;
} state = {.line = {.socket = -1}, .kept = {.socket = -1}};

static DWORD number(const char *name, DWORD otherwise)
{
    DWORD value, size = sizeof value;
    LONG result =
        RegGetValueA(HKEY_LOCAL_MACHINE, PARAMETERS, name, RRF_RT_REG_DWORD, NULL, &value, &size);
    return result == ERROR_SUCCESS ? value : otherwise;
}

void snapshot_open(void)
{
    DWORD size = sizeof state.socket;
    if (RegGetValueA(HKEY_LOCAL_MACHINE, PARAMETERS, "Socket", RRF_RT_REG_SZ, NULL, state.socket,
                     &size) != ERROR_SUCCESS)
        state.socket[0] = 0;
    state.cache = number("Cache Milliseconds", CACHE_MS);
    state.deadline = number("Deadline Milliseconds", DEADLINE_MS);
    state.next = state.summary_next = INT64_MIN;
}

void snapshot_close(void)
{
    behemoth_line_end(&state.line);
    behemoth_line_end(&state.kept);
    free(state.now.items);
    state.now = state.summary = (struct snapshot){0};
    state.capacity = 0;
}

/* ---- an answer ---- */

static bool reserve(size_t count)
{
    if (count <= state.capacity)
        return true;
    struct snapshot_item *items = realloc(state.now.items, count * sizeof *items);
    if (!items)
        return false;
    state.now.items = items;
    state.capacity = count;
    return true;
}

int64_t snapshot_uptime(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * BEHEMOTH_SECOND + now.tv_nsec / 100;
}

static void take_items(const struct behemoth_herd *herd)
{
    const struct behemoth *all = behemoth_all(herd);
    for (uint32_t i = 0; i < herd->count; i++) {
        const struct behemoth *is = &all[i];
        state.now.items[i] = (struct snapshot_item){
            .is = is,
            .birthday = is->birthday,
            .sex = is->sex,
            .x = is->x,
            .y = is->y,
            .weight = is->weight,
            .volume = is->volume,
            .generation = is->generation,
            .children = is->children,
        };
    }
}

/* Keeps the answer's memory; the previous one's receives the next answer, so that the shown data
 * stays valid until then. */
static bool take_answer(void)
{
    const struct behemoth_herd *herd = behemoth_herd_of(&state.line);
    if (!herd || !reserve(herd->count > 0 ? herd->count : 1))
        return false;
    take_items(herd);
    state.now.herd = *herd;
    state.now.heard = snapshot_uptime();
    state.now.mean_base = (uint64_t)herd->count * herd->lifetime;
    unsigned char *body = state.kept.body;
    size_t capacity = state.kept.capacity;
    state.kept.body = state.line.body;
    state.kept.capacity = state.line.capacity;
    state.line.body = body;
    state.line.capacity = capacity;
    return true;
}

/* After a timeout, the following queries do not wait for the server for a while. */
static int64_t next_after(bool slow)
{
    return behemoth_now() + (slow && state.cache < PATIENCE_MS ? PATIENCE_MS : state.cache);
}

const struct snapshot *snapshot_take(void)
{
    char path[4096];
    int64_t begun = behemoth_now();
    if (begun < state.next)
        return &state.now;
    bool good = behemoth_place(state.socket, path, sizeof path) &&
                behemoth_ask(&state.line, path, BEHEMOTH_HERD, NULL, 0, begun + state.deadline);
    bool slow = !good && errno == ETIMEDOUT;
    if (good && !take_answer()) {
        behemoth_hang_up(&state.line);
        good = false;
    }
    state.now.there = good;
    state.next = next_after(slow);
    return &state.now;
}

/* The newer one of the two. */
static const struct snapshot *last_words(bool there)
{
    struct snapshot *last = state.summary.heard > state.now.heard ? &state.summary : &state.now;
    last->there &= there;
    return last;
}

/* A recent answer with the herd includes the summary, and a server that does not answer one
 * request does not answer the other. */
const struct snapshot *snapshot_take_summary(void)
{
    char path[4096];
    int64_t begun = behemoth_now();
    if (begun < state.next || begun < state.summary_next)
        return last_words(true);
    if (!behemoth_place(state.socket, path, sizeof path) ||
        !behemoth_ask(&state.line, path, BEHEMOTH_SUMMARY, NULL, 0, begun + state.deadline)) {
        state.next = next_after(errno == ETIMEDOUT);
        return last_words(false);
    }
    if (state.line.head.what == BEHEMOTH_BAD) /* a server that knows the whole herd only */
        return snapshot_take();
    const struct behemoth_herd *herd = behemoth_summary_of(&state.line);
    state.summary_next = next_after(false);
    if (!herd) {
        behemoth_hang_up(&state.line);
        return last_words(false);
    }
    state.summary = (struct snapshot){.heard = snapshot_uptime(),
                                      .there = true,
                                      .herd = *herd,
                                      .mean_base = (uint64_t)herd->count * herd->lifetime};
    return &state.summary;
}

/* An elapsed time is shown as the object's clock minus the value. The herd's time differs from
 * ours, and the time of day can be set, so the value is the time on the object's clock at which
 * a behemoth of this age would have been born, counted back from the time of the answer. */
void snapshot_place(int64_t begin)
{
    const struct snapshot *shown = &state.now;
    int64_t heard = begin + shown->heard;
    for (uint32_t i = 0; i < shown->herd.count; i++) {
        struct snapshot_item *item = &state.now.items[i];
        item->since = heard - (shown->herd.time - item->birthday);
    }
}

void snapshot_descendants(void)
{
    struct snapshot_item *items = state.now.items;
    uint32_t count = state.now.herd.count;
    for (uint32_t i = 0; i < count; i++)
        items[i].descendants = 0;
    for (uint32_t i = count; i-- > 0;) { /* children are behind their mothers */
        if (items[i].is->mother_position != BEHEMOTH_NONE)
            items[items[i].is->mother_position].descendants += 1 + items[i].descendants;
    }
}
