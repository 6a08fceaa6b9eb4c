/* SPDX-License-Identifier: MIT */
/*
 * Chooses the client to end when a new one finds no free place. Connections cost their user
 * nothing, so a few users with many could lock out all others. The numbers are evened out: a user
 * who has more places than the new client's user would have loses one, an idle one before one that
 * waits for an answer. Between equals, and among the clients of one user, only a client that was
 * idle for a while is ended. An ended client reconnects at its next request. Root's own streams are
 * never ended for others.
 */
#include "remote/winregd.h"

#include <signal.h>

enum { IDLE_SECONDS = 10 };

struct candidate {
    size_t place, theirs; /* how many its owner has */
    uint64_t owner;
    bool refused, idle, long_idle;
    int64_t since;
};

static size_t count_of(const struct server *server, uint64_t owner)
{
    size_t count = 0;
    for (size_t i = 0; i < SERVE_MOST_CLIENTS; i++)
        count += server->clients[i].pid && limits_owner(i) == owner;
    return count;
}

static struct candidate candidate_at(const struct server *server, size_t place)
{
    int64_t since = limits_idle_since(place);
    return (struct candidate){
        .place = place,
        .owner = limits_owner(place),
        .theirs = count_of(server, limits_owner(place)),
        .refused = limits_refused(place),
        .idle = since != 0,
        .long_idle =
            since && clock_ticks() - since >= (int64_t)IDLE_SECONDS * CLOCK_TICKS_PER_SECOND,
        .since = since,
    };
}

/* A new client that may not read does not displace one that may. */
static bool may_end(const struct candidate *one, uint64_t owner, size_t own, bool granted)
{
    if (!one->owner || (!granted && !one->refused))
        return false;
    if (one->owner == owner)
        return one->long_idle || one->refused;
    if (own >= SERVE_MOST_OF_USER)
        return false;
    return one->refused || one->theirs > own + 1 || (one->theirs > own && one->long_idle);
}

static bool is_better(const struct candidate *one, const struct candidate *other)
{
    if (one->refused != other->refused)
        return one->refused;
    if (one->theirs != other->theirs)
        return one->theirs > other->theirs;
    return one->idle != other->idle ? one->idle : one->since < other->since;
}

static size_t end_one(struct server *server, const struct peer *newcomer, size_t own)
{
    uint64_t owner = limits_owner_of(newcomer);
    bool granted = access_granted(newcomer);
    struct candidate best = {.place = SIZE_MAX};
    for (size_t i = 0; i < SERVE_MOST_CLIENTS; i++) {
        struct candidate one = candidate_at(server, i);
        if (server->clients[i].pid && may_end(&one, owner, own, granted) &&
            (best.place == SIZE_MAX || is_better(&one, &best)))
            best = one;
    }
    if (best.place != SIZE_MAX)
        kill(server->clients[best.place].pid, SIGKILL);
    return best.place;
}

size_t places_find(struct server *server, const struct peer *newcomer)
{
    size_t others = 0, free_place = SIZE_MAX;
    uint64_t owner = limits_owner_of(newcomer);
    size_t own = owner ? count_of(server, owner) : 0;
    for (size_t i = 0; i < SERVE_MOST_CLIENTS; i++) {
        bool taken = server->clients[i].pid != 0;
        free_place = taken ? free_place : i;
        others += taken && server->clients[i].uid != 0;
    }
    bool full = newcomer->uid && (own >= SERVE_MOST_OF_USER || others >= SERVE_MOST_OF_OTHERS);
    return free_place == SIZE_MAX || full ? end_one(server, newcomer, own) : free_place;
}
