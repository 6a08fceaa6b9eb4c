/* SPDX-License-Identifier: MIT */
/* A helper process as isolate.c sees it. Not for host's others, whose door is isolate.h. */
#ifndef OPL_HOST_HELPER_H
#define OPL_HOST_HELPER_H

#include "host/channel.h"

struct keeper;
struct helper {
    struct keeper *keeper;
    struct channel *channel;
    size_t mapped; /* bytes of the channel that are mapped; more when more room is asked for */
    uint32_t slot;
    uint32_t number; /* of the last request */
};

/* ---- keeper.c: the process that starts helpers and knows what became of them ---- */
/* A channel, without a process yet; starts a keeper if none has room. On failure `text` (of `size`
 * bytes) says which step was refused and what to do. */
LSTATUS helper_new(struct helper **ret, char *text, size_t size);
/* Has the process started; false: the keeper has gone this moment, take another helper. */
bool helper_start(struct helper *helper);
/* Makes `bytes` from the channel's start usable here; false: no memory. */
bool helper_map(struct helper *helper, size_t bytes);
bool helper_is_ours(const struct helper *helper); /* false in a child of fork() */
/* Nobody will answer, and no keeper will say so. *ret_was_alive: it was once. */
bool helper_lost(const struct helper *helper, bool *ret_was_alive);
/* What became of the process; *ret_status and *ret_resident_mib as in struct keeper_slot. */
enum keeper_state helper_state(const struct helper *helper, uint32_t *ret_status,
                               uint32_t *ret_resident_mib);
/* From now on the keeper looks every 100 ms how much memory its helpers have, until all have
 * answered. */
void helper_watch(const struct helper *helper);
/* Ends the process, if it is still there, with what it started in its group, and forgets it. */
void helper_end(struct helper *helper);

#endif
