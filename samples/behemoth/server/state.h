/* SPDX-License-Identifier: MIT */
/* The herd on disk: one file, replaced as a whole. */
#ifndef BEHEMOTH_SERVER_STATE_H
#define BEHEMOTH_SERVER_STATE_H

#include "herd.h"

enum state_result {
    STATE_DONE,
    STATE_NONE,    /* no such file */
    STATE_DAMAGED, /* there is one, but nothing that was saved */
    STATE_FAILED   /* errno says why */
};
/* Written beside the old one, put on the disk, and then in its place. */
enum state_result state_save(const struct herd *herd, const char *path);
enum state_result state_load(struct herd *herd, const char *path);

#endif
