/* SPDX-License-Identifier: MIT */
/* The memory that is shared with perfspace: file systems, and the sizes that perfspace read. */
#ifndef OPL_PERFSPACE_H
#define OPL_PERFSPACE_H

#include <stdatomic.h>
#include <stdint.h>

enum { SPACE_PATH = 1024, SPACE_MOST = 1024, SPACE_MEMORY_FD = 3, SPACE_TIMEOUT_S = 30 };
enum space_state { SPACE_REQUESTED, SPACE_ANSWERED, SPACE_REFUSED };

struct space_slot {
    _Atomic uint32_t state;
    uint32_t reserved;
    uint64_t size, free, available;
    char path[SPACE_PATH];
};
struct space_page {
    uint32_t count;
    _Atomic uint32_t done; /* number of slots that have an answer or a refusal; a futex */
    struct space_slot slots[];
};

#endif
