/* SPDX-License-Identifier: MIT */
/* API of query: parses a value name of HKEY_PERFORMANCE_DATA. (docs/windows/articles.md#c30,
 * docs/windows/queries.md#c2) */
#ifndef OPL_QUERY_H
#define OPL_QUERY_H

#include "base/base.h"

enum query_kind {
    /* the query has only unknown words: the answer is an empty block, and no provider is queried */
    QUERY_NOTHING,
    QUERY_GLOBAL,
    QUERY_COSTLY,
    QUERY_FOREIGN, /* requests objects of `machine`: all, or only `objects` */
    QUERY_OBJECTS,
    QUERY_NAMES, /* "Counter [language]" */
    QUERY_HELPS  /* "Help [language]", "Explain [language]" */
};

struct query {
    enum query_kind kind;
    const char
        *text; /* text for the providers: the keyword in canonical spelling, the rest unchanged */
    const char *machine;
    size_t machine_count;
    uint32_t language; /* 0x009 if the query names no language; LANGUAGE_USER is never set here */
    size_t object_count;
    uint32_t objects[LIMIT_QUERY_OBJECTS]; /* title indices, ascending, without duplicates */
    char storage[LIMIT_QUERY_CHARS * 3 + 1];
};

/* Parses a query; unknown words are not an error. ERROR_INVALID_PARAMETER: a limit is exceeded.
 * `text` NULL is "". */
LSTATUS query_parse(const char *text, struct query *ret);
bool query_wants_object(const struct query *query, uint32_t index);
/* Returns QUERY_NAMES or QUERY_HELPS if this value name reads names or explanations ("Counter ...",
 * "Help ..."), QUERY_NOTHING for any other name and for NULL. Does not parse the rest. */
enum query_kind query_text_kind(const char *text);

#endif
