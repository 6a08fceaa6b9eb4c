/* SPDX-License-Identifier: MIT */
/*
 * A provider from tables of counters and their names, from which the library also registers itself.
 * The design follows the maps of ATL 7: a map of counters makes an object, a map of objects chains
 * them. Unlike ATL 7 it registers correctly in every installed language, even without texts for it.
 */
#ifndef PERFMAP_H
#define PERFMAP_H

#include "../common/sample.h"

#include <stddef.h>

enum { PERF_OBJECTS = 4, PERF_COUNTERS = 16, PERF_VALUES = 256 };
enum { PERF_ROWS = PERF_OBJECTS * (1 + PERF_COUNTERS), PERF_STORED = 4 * PERF_ROWS };

/* ---- the map of counters ---- */
typedef struct {
    DWORD type;
    LONG scale;
    DWORD place, size;  /* of the value, in the object's values */
    LPCWSTR name, help; /* in English */
} PerfCounter;
#define PERF_COUNTER(values, member, type, scale, name, help)                                      \
    {                                                                                              \
        type, scale, (DWORD)offsetof(values, member), (DWORD)sizeof(((values *)0)->member),        \
            TEXT(name), TEXT(help)                                                                 \
    }

/* ---- the map of objects ---- */
/* Fills an object's values; FALSE: there are none now, and the object is absent. */
typedef BOOL PerfValues(void *to);
typedef struct {
    LPCWSTR name, help;
    const PerfCounter *counters;
    DWORD count, valuesSize;
    PerfValues *values;
} PerfObject;
#define PERF_CHAIN(name, help, counters, valuesType, values)                                       \
    {                                                                                              \
        TEXT(name), TEXT(help), counters, sizeof(counters) / sizeof *(counters),                   \
            (DWORD)sizeof(valuesType), values                                                      \
    }

typedef struct {
    LPCWSTR service, performanceKey;
    const PerfObject *objects;
    DWORD count;
    LPCWSTR module; /* the file beside this library that has other languages' texts */
} PerfMap;

/* Rows are in the order of the chain: an object, its counters, the next object. A row's offset
 * is twice its position. */
DWORD perfMapRows(const PerfMap *map);
/* English. */
LPCWSTR perfMapText(const PerfMap *map, DWORD row, BOOL help);
/* As it is stored in the registry: type, scale, place and size of each row; of an object 0, the
 * number of its counters, 0 and its values' size. Returns how many numbers. */
DWORD perfMapStored(const PerfMap *map, DWORD stored[PERF_STORED]);

/* The module exports a table that ends with language NULL, returned by this function. */
typedef struct {
    LPCWSTR language;   /* "007" */
    DWORD row;          /* of the map, 0 is the first object */
    LPCWSTR name, help; /* NULL: not translated */
} PerfText;
#define PERF_TEXTS "perfTexts"
typedef const PerfText *PerfTextsFunction(void);

/* The functions of a provider. Open fails with ERROR_INVALID_DATA if another map was registered:
 * its names would be shown for these values. */
DWORD perfMapOpen(const PerfMap *map);
DWORD perfMapCollect(const PerfMap *map, LPCWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types);

/* ---- register.c ---- */
DWORD perfMapRegister(const PerfMap *map, HINSTANCE library);
DWORD perfMapUnregister(const PerfMap *map);
/* Whether the registry has this map. */
BOOL perfMapIsRegistered(const PerfMap *map);

/* ---- texts.c: the second module ---- */
typedef struct {
    void *module;
    const PerfText *texts; /* NULL: there is no such module */
} PerfTexts;
void perfTextsOpen(LPCWSTR module, HINSTANCE library, PerfTexts *ret);
void perfTextsClose(PerfTexts *texts);
/* The text in that language, else the row's English one. */
LPCWSTR perfTextsFind(const PerfTexts *texts, const PerfMap *map, LPCWSTR language, DWORD row,
                      BOOL help);

#endif
