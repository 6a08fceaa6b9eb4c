/* SPDX-License-Identifier: MIT */
/* The state of a merge: what a backup changes in the registry, and the resulting text of
 * manual.reg. */
#ifndef OPL_LOADPERF_MERGE_H
#define OPL_LOADPERF_MERGE_H

#include "loadperf/store/stored.h"

struct merge_target {
    const struct stored_provider *provider;
    const struct here *here; /* the service in the registry; NULL: the registry does not have it */
    enum { LEFT, FROM_FILE, AS_HERE, AT_END } place;
    uint32_t first, last; /* the provider's new range of indices, with explanations */
    bool changed;
};
struct merge {
    struct load *load;
    const struct stored *stored;
    struct layer_change change;
    struct here_list here;
    struct stored_texts hand; /* texts written by hand, in all languages */
    struct merge_target *targets;
    size_t target_count;
    struct buffer manual; /* the new text of manual.reg */
    bool changed;
    opl_load_restored *result;
    LSTATUS status;
};

/* ---- merge_service.c ---- */
/* Appends lines to `manual` for what the backup changes of the service. */
LSTATUS merge_service(struct merge *merge, struct merge_target *target);
/* Appends lines to `manual` for what the backup changes of texts written by hand. */
LSTATUS merge_hand(struct merge *merge);

#endif
