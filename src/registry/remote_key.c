/* SPDX-License-Identifier: MIT */
/* Several machines at once: connecting and querying take the time of the slowest. */
#include "registry/key.h"

#include <stdlib.h>

/* ---- connecting ---- */

static void take_key(const struct pending_remote *from, struct pending_connect *pending)
{
    pending->status = from->status;
    if (!from->status)
        pending->status =
            key_of_remote(from->key, mount_of_handle(pending->root) != NULL, &pending->key);
}

static void connect_remote(struct pending_connect *pendings, size_t count,
                           struct pending_remote *remote)
{
    size_t begun = 0;
    for (size_t i = 0; i < count; i++)
        if (!machine_is_own(pendings[i].machine))
            remote[begun++] =
                (struct pending_remote){.machine = pendings[i].machine, .root = pendings[i].root};
    if (begun)
        registry_tables->remote->connect_all(remote, begun);
    for (size_t i = 0, at = 0; i < count; i++)
        if (!machine_is_own(pendings[i].machine))
            take_key(&remote[at++], &pendings[i]);
}

void key_connect_all(struct pending_connect *pendings, size_t count)
{
    FREE_AUTO struct pending_remote *remote = calloc(count + 1, sizeof *remote);
    for (size_t i = 0; i < count; i++) {
        struct pending_connect *pending = &pendings[i];
        pending->key = NULL;
        if (machine_is_own(pending->machine))
            pending->status = key_connect_here(pending->root, &pending->key);
        else
            pending->status = remote ? ERROR_BAD_NETPATH : ERROR_NOT_ENOUGH_MEMORY;
    }
    if (remote && registry_tables->remote)
        connect_remote(pendings, count, remote);
}

LSTATUS key_connect(const char *machine, HKEY root, HKEY *ret)
{
    struct pending_connect pending = {.machine = machine, .root = root};
    key_connect_all(&pending, 1);
    *ret = pending.key;
    return pending.status;
}

/* ---- queries ---- */

struct asking {
    struct key_question *questions;
    struct held *held;
    size_t count;
};

/* The key does not return the required size (docs/windows/queries.md#c3): the buffer is doubled,
 * and kept. */
static LSTATUS query_here(const struct held *held, const char *name, struct buffer *data)
{
    enum { FIRST_SIZE = 64 << 10, MOST_SIZE = 256 << 20 };
    size_t capacity = data->capacity > FIRST_SIZE ? data->capacity - 1 : FIRST_SIZE;
    for (;; capacity *= 2) {
        buffer_clear(data);
        if (capacity > MOST_SIZE || !buffer_reserve(data, capacity))
            return ERROR_NOT_ENOUGH_MEMORY;
        DWORD size = (DWORD)data->capacity - 1;
        LSTATUS status = held->mount->query(held->path, name, false, NULL, data->data, &size);
        if (status != ERROR_MORE_DATA) {
            data->len = status ? 0 : size;
            return status;
        }
    }
}

/* This machine's own values, while the other machines work. */
static void query_own(void *self)
{
    const struct asking *asking = self;
    for (size_t i = 0; i < asking->count; i++) {
        struct key_question *question = &asking->questions[i];
        const struct held *held = &asking->held[i];
        if (!question->status && !held->remote)
            question->status = held->performance ? query_here(held, question->name, question->data)
                                                 : ERROR_INVALID_HANDLE;
    }
}

static void query_remote(struct asking *asking, struct remote_question *remote)
{
    size_t begun = 0;
    for (size_t i = 0; i < asking->count; i++)
        if (!asking->questions[i].status && asking->held[i].remote)
            remote[begun++] = (struct remote_question){.key = asking->held[i].remote,
                                                       .name = asking->questions[i].name,
                                                       .data = asking->questions[i].data};
    if (begun)
        registry_tables->remote->query_all(remote, begun, query_own, asking);
    else
        query_own(asking);
    for (size_t i = 0, at = 0; at < begun; i++)
        if (asking->held[i].remote && asking->questions[i].data == remote[at].data)
            asking->questions[i].status = remote[at++].status;
}

static void query_all(struct asking *asking, struct remote_question *remote)
{
    for (size_t i = 0; i < asking->count; i++)
        asking->questions[i].status =
            held_open(asking->questions[i].key, KEY_QUERY_VALUE, &asking->held[i]);
    query_remote(asking, remote);
    for (size_t i = 0; i < asking->count; i++)
        held_done(&asking->held[i]);
}

/* For a few queries nothing is allocated. */
void key_query_all(struct key_question *questions, size_t count)
{
    enum { FEW = 8 };
    struct held few_held[FEW];
    struct remote_question few_remote[FEW];
    bool few = count <= FEW;
    FREE_AUTO struct held *held = few ? NULL : calloc(count, sizeof *held);
    FREE_AUTO struct remote_question *remote = few ? NULL : calloc(count, sizeof *remote);
    struct asking asking = {questions, few ? few_held : held, count};
    if (few || (held && remote))
        query_all(&asking, few ? few_remote : remote);
    for (size_t i = 0; !few && !(held && remote) && i < count; i++)
        questions[i].status = ERROR_NOT_ENOUGH_MEMORY;
}
