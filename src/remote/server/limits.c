/* SPDX-License-Identifier: MIT */
/*
 * Limits for one client and for all together: streams of a caller, Costly queries at the same time,
 * requests per second; and the time since which each client is idle. The numbers are in memory that
 * the clients' processes share; when such a process ends, its entry becomes free.
 */
#include "remote/server/winregd.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

static struct shared {
    struct {
        _Atomic uint64_t owner; /* hash of the first SID; 0: root that does not act for a caller */
        _Atomic int64_t idle_since;
        _Atomic uint32_t costly, refused;
    } clients[LIMIT_CLIENTS];
    _Atomic int64_t audit_begin; /* begin of the period in which `audits` events were logged */
    _Atomic uint32_t audits;
} * shared;
static size_t own_place = SIZE_MAX;

bool limits_share(void)
{
    void *page =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    shared = page == MAP_FAILED ? NULL : page;
    return shared != NULL;
}

void limits_enter(size_t place)
{
    own_place = place;
}

static uint64_t hash_of(const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return hash ? hash : 1;
}

uint64_t limits_owner_of(const struct peer *peer)
{
    return (peer->uid || peer->is_caller) && peer->sids.len ? hash_of(peer->sids.data) : 0;
}

void limits_set(size_t place, const struct peer *peer)
{
    atomic_store(&shared->clients[place].owner, peer ? limits_owner_of(peer) : 0);
    atomic_store(&shared->clients[place].idle_since, clock_ticks());
    atomic_store(&shared->clients[place].costly, 0);
    atomic_store(&shared->clients[place].refused, peer && !access_granted(peer));
}

/* Counts the stream for the caller. One that is too many is counted as well, because it will
 * end. */
bool limits_take_caller(const struct peer *peer)
{
    if (own_place == SIZE_MAX)
        return true;
    uint64_t owner = limits_owner_of(peer);
    unsigned count = 0;
    atomic_store(&shared->clients[own_place].owner, owner);
    for (size_t i = 0; i < LIMIT_CLIENTS; i++)
        count += limits_owner(i) == owner;
    return count <= list_setting("MostStreams", LIMIT_CLIENTS_OF_USER);
}

uint64_t limits_owner(size_t place)
{
    return atomic_load(&shared->clients[place].owner);
}

void limits_set_idle(bool idle)
{
    if (own_place != SIZE_MAX)
        atomic_store(&shared->clients[own_place].idle_since, idle ? clock_ticks() : 0);
}

int64_t limits_idle_since(size_t place)
{
    return atomic_load(&shared->clients[place].idle_since);
}

void limits_set_refused(bool refused)
{
    if (own_place != SIZE_MAX)
        atomic_store(&shared->clients[own_place].refused, refused);
}

bool limits_refused(size_t place)
{
    return atomic_load(&shared->clients[place].refused);
}

bool limits_begin_costly(void)
{
    unsigned count = 0;
    if (own_place == SIZE_MAX)
        return true;
    atomic_store(&shared->clients[own_place].costly, 1);
    for (size_t i = 0; i < LIMIT_CLIENTS; i++)
        count += atomic_load(&shared->clients[i].costly);
    if (count <= LIMIT_COSTLY)
        return true;
    limits_end_costly();
    return false;
}

void limits_end_costly(void)
{
    if (own_place != SIZE_MAX)
        atomic_store(&shared->clients[own_place].costly, 0);
}

bool limits_may_audit(void)
{
    int64_t now = clock_ticks();
    if (own_place == SIZE_MAX)
        return true;
    int64_t begun = atomic_load(&shared->audit_begin);
    if (now - begun >= (int64_t)LIMIT_AUDIT_SECONDS * CLOCK_TICKS_PER_SECOND &&
        atomic_compare_exchange_strong(&shared->audit_begin, &begun, now))
        atomic_store(&shared->audits, 0);
    return atomic_fetch_add(&shared->audits, 1) < LIMIT_AUDITS;
}

bool limits_take_question(void)
{
    static int64_t second_begin;
    static uint32_t count, most;
    int64_t now = clock_ticks();
    if (!second_begin || now - second_begin >= CLOCK_TICKS_PER_SECOND) {
        second_begin = now;
        count = 0;
        most = list_setting("MostPerSecond", LIMIT_QUERIES_PER_SECOND);
    }
    return !most || count++ < most;
}
