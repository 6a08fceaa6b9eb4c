/* SPDX-License-Identifier: MIT */
/*
 * A provider from one table: what it counts, what that is called, and by that its registration,
 * which the library does itself. As in ATL 7, whose maps this is a reminder of; but right in every
 * language that is installed, whatever languages there are texts for.
 */
#ifndef PERFMAP_H
#define PERFMAP_H

#include "../common/sample.h"

#include <stddef.h>

/* One row: the object first, then its counters. A row's offset is twice its place. */
typedef struct {
    DWORD type; /* of a counter */
    LONG scale;
    DWORD place, size;  /* of the value, in the map's values */
    LPCWSTR name, help; /* in English */
} PerfRow;
#define PERF_OBJECT(name, help)                                                                    \
    {                                                                                              \
        0, 0, 0, 0, TEXT(name), TEXT(help)                                                         \
    }
#define PERF_COUNTER(values, member, type, scale, name, help)                                      \
    {                                                                                              \
        type, scale, (DWORD)offsetof(values, member), (DWORD)sizeof(((values *)0)->member),        \
            TEXT(name), TEXT(help)                                                                 \
    }

enum { PERF_ROWS = 32 };

typedef struct {
    LPCWSTR service, performanceKey;
    const PerfRow *rows;
    DWORD count; /* at most PERF_ROWS */
    const void *values;
    DWORD valuesSize;
    LPCWSTR module; /* the file beside this library that has other languages' texts */
} PerfMap;

/* What that module has: a table that ends with language NULL, found by this function. */
typedef struct {
    LPCWSTR language;   /* "007" */
    DWORD row;          /* of the map, 0 is the object */
    LPCWSTR name, help; /* NULL: not translated */
} PerfText;
#define PERF_TEXTS "perfTexts"
typedef const PerfText *PerfTextsFunction(void);

/* The three functions of a provider. */
DWORD perfMapOpen(const PerfMap *map);
DWORD perfMapCollect(const PerfMap *map, LPCWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types);

/* ---- register.c ---- */
DWORD perfMapRegister(const PerfMap *map, HINSTANCE library);
DWORD perfMapUnregister(const PerfMap *map);

/* ---- texts.c: the second module ---- */
typedef struct {
    void *module;
    const PerfText *texts; /* NULL: there is no such module */
} PerfTexts;
void perfTextsOpen(LPCWSTR module, HINSTANCE library, PerfTexts *ret);
void perfTextsClose(PerfTexts *texts);
/* In that language, else in English: the row's own. */
LPCWSTR perfTextsFind(const PerfTexts *texts, const PerfMap *map, LPCWSTR language, DWORD row,
                      BOOL help);

#endif
