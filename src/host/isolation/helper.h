/* SPDX-License-Identifier: MIT */
/* A helper process as isolate.c sees it. For isolate.c and keeper.c only; other files of host use
 * isolate.h. */
#ifndef OPL_HOST_HELPER_H
#define OPL_HOST_HELPER_H

#include "host/isolation/channel.h"

struct keeper;
struct helper {
    struct keeper *keeper;
    struct channel *channel;
    /* number of bytes of the channel that are mapped; grows when a larger buffer is requested */
    size_t mapped;
    uint32_t slot;
    uint32_t number; /* number of the last request */
};

/* ---- keeper.c: the process that starts helpers and knows their state ---- */
/* Makes a helper with a channel but no process yet; starts a keeper if none has a free slot. On
 * failure `text` (of `size` bytes) names the step that failed and what to do. */
LSTATUS helper_new(struct helper **ret, char *text, size_t size);
/* Starts the process. False: the keeper has just exited; the caller must make another helper. */
bool helper_start(struct helper *helper);
/* Maps the first `bytes` of the channel into this process; false: no memory. */
bool helper_map(struct helper *helper, size_t bytes);
/* False in a child of fork(), where the helper belongs to the parent. */
bool helper_is_ours(const struct helper *helper);
/* True if the keeper has ended, so that no answer will come. *ret_was_alive: the keeper had started
 * successfully. */
bool helper_lost(const struct helper *helper, bool *ret_was_alive);
/* Returns the state of the process; *ret_status and *ret_resident_mib as in struct keeper_slot. */
enum keeper_state helper_state(const struct helper *helper, uint32_t *ret_status,
                               uint32_t *ret_resident_mib);
/* Makes the keeper check the memory of its helpers every 100 ms until all have answered. */
void helper_watch(const struct helper *helper);
/* Ends the process, if it still runs, with its process group, and releases the slot. In a child of
 * fork(), to which the helper does not belong, only the memory of `helper` is freed. */
void helper_end(struct helper *helper);

#endif
