/* SPDX-License-Identifier: MIT */
/*
 * A machine of the test's own, which answers the calls of the remote registry byte by byte as
 * MS-RRP describes them, written apart from the code that it tries. What it does wrong is set.
 */
#ifndef OPL_TEST_REMOTE_SMB_MACHINE_H
#define OPL_TEST_REMOTE_SMB_MACHINE_H

#include "remote/smb/smb.h"

enum { FAKE_VALUES = 8, FAKE_CONNECTS = 64, FAKE_CALLS = 256 };
struct fake_value {
    uint32_t root;
    const char *path, *name;
    uint32_t type;
    const void *data;
    size_t size;
};
struct fake_machine {
    struct smb_wire wire;
    struct fake_value values[FAKE_VALUES];
    /* what it does */
    LSTATUS connects[FAKE_CONNECTS]; /* each attempt's status */
    uint32_t refuse_with;            /* all calls but opening give it, `refusals` times */
    unsigned refusals;
    LSTATUS lose_with; /* the call with number lose_at is lost */
    unsigned lose_at;
    bool cuts;      /* success, and as much as fits */
    bool only_size; /* 234 says that one byte would do */
    uint32_t open_status;
    void (*damage)(struct fake_machine *machine, struct buffer *reply);
    /* what it saw */
    unsigned connected, closed, calls, paused_ms;
    unsigned seen[64]; /* calls by number */
    uint32_t sizes[FAKE_CALLS], size_count;
    unsigned opened, open_handles;
};
void fake_machine_init(struct fake_machine *machine);
/* A block with so many objects, as it should be. */
void fake_block(struct buffer *ret, unsigned objects);

#endif
