/* SPDX-License-Identifier: MIT */
/* Several machines at once: connecting and querying take the time of the slowest. */
#include "registry/key.h"

#include <stdlib.h>

/* ---- connecting ---- */

static void take_key(const struct far_meeting *met, struct key_meeting *meeting)
{
    meeting->status = met->status;
    if (!met->status)
        meeting->status =
            key_of_far(met->key, mount_of_handle(meeting->root) != NULL, &meeting->key);
}

static void connect_far(struct key_meeting *meetings, size_t count, struct far_meeting *far)
{
    size_t begun = 0;
    for (size_t i = 0; i < count; i++)
        if (!machine_is_own(meetings[i].machine))
            far[begun++] =
                (struct far_meeting){.machine = meetings[i].machine, .root = meetings[i].root};
    if (begun)
        registry_tables->far->connect_all(far, begun);
    for (size_t i = 0, at = 0; i < count; i++)
        if (!machine_is_own(meetings[i].machine))
            take_key(&far[at++], &meetings[i]);
}

void key_connect_all(struct key_meeting *meetings, size_t count)
{
    FREE_AUTO struct far_meeting *far = calloc(count + 1, sizeof *far);
    for (size_t i = 0; i < count; i++) {
        struct key_meeting *meeting = &meetings[i];
        meeting->key = NULL;
        if (machine_is_own(meeting->machine))
            meeting->status = key_connect_here(meeting->root, &meeting->key);
        else
            meeting->status = far ? ERROR_BAD_NETPATH : ERROR_NOT_ENOUGH_MEMORY;
    }
    if (far && registry_tables->far)
        connect_far(meetings, count, far);
}

LSTATUS key_connect(const char *machine, HKEY root, HKEY *ret)
{
    struct key_meeting meeting = {.machine = machine, .root = root};
    key_connect_all(&meeting, 1);
    *ret = meeting.key;
    return meeting.status;
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
    enum { FIRST_ROOM = 64 << 10, MOST_ROOM = 256 << 20 };
    size_t room = data->room > FIRST_ROOM ? data->room - 1 : FIRST_ROOM;
    for (;; room *= 2) {
        buffer_clear(data);
        if (room > MOST_ROOM || !buffer_reserve(data, room))
            return ERROR_NOT_ENOUGH_MEMORY;
        DWORD size = (DWORD)data->room - 1;
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
        if (!question->status && !held->far)
            question->status = held->performance ? query_here(held, question->name, question->data)
                                                 : ERROR_INVALID_HANDLE;
    }
}

static void query_far(struct asking *asking, struct far_question *far)
{
    size_t begun = 0;
    for (size_t i = 0; i < asking->count; i++)
        if (!asking->questions[i].status && asking->held[i].far)
            far[begun++] = (struct far_question){.key = asking->held[i].far,
                                                 .name = asking->questions[i].name,
                                                 .data = asking->questions[i].data};
    if (begun)
        registry_tables->far->query_all(far, begun, query_own, asking);
    else
        query_own(asking);
    for (size_t i = 0, at = 0; at < begun; i++)
        if (asking->held[i].far && asking->questions[i].data == far[at].data)
            asking->questions[i].status = far[at++].status;
}

static void query_all(struct asking *asking, struct far_question *far)
{
    for (size_t i = 0; i < asking->count; i++)
        asking->questions[i].status =
            held_open(asking->questions[i].key, KEY_QUERY_VALUE, &asking->held[i]);
    query_far(asking, far);
    for (size_t i = 0; i < asking->count; i++)
        held_done(&asking->held[i]);
}

/* For a few queries nothing is allocated. */
void key_query_all(struct key_question *questions, size_t count)
{
    enum { FEW = 8 };
    struct held few_held[FEW];
    struct far_question few_far[FEW];
    bool few = count <= FEW;
    FREE_AUTO struct held *held = few ? NULL : calloc(count, sizeof *held);
    FREE_AUTO struct far_question *far = few ? NULL : calloc(count, sizeof *far);
    struct asking asking = {questions, few ? few_held : held, count};
    if (few || (held && far))
        query_all(&asking, few ? few_far : far);
    for (size_t i = 0; !few && !(held && far) && i < count; i++)
        questions[i].status = ERROR_NOT_ENOUGH_MEMORY;
}
