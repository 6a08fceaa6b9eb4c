/* SPDX-License-Identifier: MIT */
/* The herd on disk: one file, replaced atomically. */
#ifndef BEHEMOTH_SERVER_STATE_H
#define BEHEMOTH_SERVER_STATE_H

#include "herd.h"

enum state_result {
    STATE_DONE,
    STATE_NONE,    /* no such file */
    STATE_DAMAGED, /* there is one, but it is not a valid state */
    STATE_FAILED   /* errno is the reason */
};
/* Writes a new file in the same folder, syncs it, and renames it over the old one. */
enum state_result state_save(const struct herd *herd, const char *path);
enum state_result state_load(struct herd *herd, const char *path);

#endif
