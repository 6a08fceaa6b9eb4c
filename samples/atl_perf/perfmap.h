/* SPDX-License-Identifier: MIT */
/*
 * A provider from tables of counters and their names, from which the library also registers itself.
 * The design follows the maps of ATL 7: a map of counters defines an object, and a map of objects
 * lists the objects of the provider. Unlike ATL 7, the provider registers correctly in every
 * installed language, even if it has no texts in a language.
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
    DWORD place, size;  /* offset and size of the value in the object's values, bytes */
    LPCWSTR name, help; /* English texts */
} PerfCounter;
#define PERF_COUNTER(values, member, type, scale, name, help)                                      \
    {                                                                                              \
        type, scale, (DWORD)offsetof(values, member), (DWORD)sizeof(((values *)0)->member),        \
            TEXT(name), TEXT(help)                                                                 \
    }

/* ---- the map of objects ---- */
/* Fills an object's values; FALSE: the object has no values now and is absent from the answer. */
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

/* Returns the number of rows: a row for an object, one for each of its counters, then the next
 * object, and so on. A row's offset from First Counter is twice its position. */
DWORD perfMapRows(const PerfMap *map);
/* Returns the row's English name or, with `help`, its English explanation. */
LPCWSTR perfMapText(const PerfMap *map, DWORD row, BOOL help);
/* Writes the map as it is stored in the registry, four numbers for each row. For a counter: type,
 * scale, place, size; for an object: 0, the number of its counters, 0, the size of its values.
 * Returns how many numbers were written. */
DWORD perfMapStored(const PerfMap *map, DWORD stored[PERF_STORED]);

/* A row of the table that the module with the translations exports; the last row has language NULL.
 * The function named PERF_TEXTS returns the table. */
typedef struct {
    LPCWSTR language;   /* "007" */
    DWORD row;          /* row of the map; 0: the first object */
    LPCWSTR name, help; /* NULL: not translated */
} PerfText;
#define PERF_TEXTS "perfTexts"
typedef const PerfText *PerfTextsFunction(void);

/* The functions of a provider. Open fails with ERROR_INVALID_DATA if a different map was
 * registered, because the values of this map would be shown with the names of the other one. */
DWORD perfMapOpen(const PerfMap *map);
DWORD perfMapCollect(const PerfMap *map, LPCWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD types);

/* ---- register.c ---- */
DWORD perfMapRegister(const PerfMap *map, HINSTANCE library);
DWORD perfMapUnregister(const PerfMap *map);
/* Is exactly this map registered? */
BOOL perfMapIsRegistered(const PerfMap *map);

/* ---- texts.c: the module that has other languages' texts ---- */
typedef struct {
    void *module;
    const PerfText *texts; /* NULL: there is no module with texts */
} PerfTexts;
void perfTextsOpen(LPCWSTR module, HINSTANCE library, PerfTexts *ret);
void perfTextsClose(PerfTexts *texts);
/* Returns the row's name (with `help`: its explanation) in `language`, or else in English. */
LPCWSTR perfTextsFind(const PerfTexts *texts, const PerfMap *map, LPCWSTR language, DWORD row,
                      BOOL help);

#endif
