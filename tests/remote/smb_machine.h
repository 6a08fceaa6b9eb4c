/* SPDX-License-Identifier: MIT */
/*
 * A simulated Windows machine, which answers the calls of the remote registry byte by byte as MS-
 * RRP describes them. It was written independently of the tested code. Its members define what it
 * does wrong.
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
    /* ---- how it behaves ---- */
    LSTATUS connects[FAKE_CONNECTS]; /* status of each attempt to connect */
    /* refuse_with is the status of the first `refusals` calls, except those that open */
    uint32_t refuse_with;
    unsigned refusals;
    LSTATUS lose_with; /* the connection is lost at call number lose_at, with this status */
    unsigned lose_at;
    bool cuts;      /* replies "success", with as many bytes as fit */
    bool only_size; /* replies 234 (more data), with a needed size of one byte */
    uint32_t open_status;
    void (*damage)(struct fake_machine *machine, struct buffer *reply);
    /* ---- what it received ---- */
    unsigned connected, closed, calls, paused_ms;
    unsigned seen[64]; /* how often each call was received */
    uint32_t sizes[FAKE_CALLS], size_count;
    unsigned opened, open_handles;
};
void fake_machine_init(struct fake_machine *machine);
/* Builds a correct block with this many objects. */
void fake_block(struct buffer *ret, unsigned objects);

#endif
