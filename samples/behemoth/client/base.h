/* SPDX-License-Identifier: MIT */
/* A name base of a machine in one language, "Counter 019": index, title, index, ... */
#ifndef BEHEMOTH_CLIENT_BASE_H
#define BEHEMOTH_CLIENT_BASE_H

#include <windows.h>

#include <stdbool.h>
#include <stdint.h>

struct base {
    char *text;
    DWORD size;
};

struct base_title {
    uint32_t index;
    const char *text;
    const char *next; /* the beginning of the next one */
};

/* `data`: HKEY_PERFORMANCE_DATA, local or remote. Free base.text. */
LSTATUS base_read(struct base *base, HKEY data, const char *language);
/* Steps to the next title; start with a zeroed one. False: that was the last. */
bool base_next(const struct base *base, struct base_title *title);

#endif
