/* SPDX-License-Identifier: MIT */
/* What the program publishes and the library reads: memory with a name. Each value is one DWORD,
 * and changes atomically, so no guard is needed. */
#ifndef SCRIBBLE_H
#define SCRIBBLE_H

#include <windows.h>

#define SCRIBBLE_MEMORY "Global\\openperflib atl_perf"

typedef struct {
    DWORD version; /* 1 as soon as the other members are valid */
    DWORD strokes, points;
} Scribble;

#endif
