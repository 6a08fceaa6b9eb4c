/* SPDX-License-Identifier: MIT */
/*
 * Registrations as they are kept in one file (E.5), or as the registry has them: every provider's
 * numbers and settings, and texts of indices. backup.c makes the file, stored.c reads it, merge.c
 * puts what it says into the registry.
 */
#ifndef OPL_LOADPERF_STORED_H
#define OPL_LOADPERF_STORED_H

#include "loadperf/inner.h"

/* ---- stored_texts.c: texts by language and index ---- */
struct stored_text {
    uint32_t language, index;
    char *text; /* UTF-8 */
};
struct stored_texts {
    struct stored_text *list;
    size_t count, room;
};
void stored_texts_done(struct stored_texts *texts);
/* Takes the text, which may be NULL: no memory, false. */
bool stored_texts_add(struct stored_texts *texts, uint32_t language, uint32_t index, char *text);
/* Of texts with the same place the first one stays. False: no memory. */
bool stored_texts_sort(struct stored_texts *texts);
/* Of sorted texts: the first one that is not before this place. */
size_t stored_texts_from(const struct stored_texts *texts, uint32_t language, uint32_t index);
const char *stored_texts_find(const struct stored_texts *texts, uint32_t language, uint32_t index);
/* The languages, each once. *cursor begins with 0; false: there is no other one. */
bool stored_texts_language(const struct stored_texts *texts, size_t *cursor, uint32_t *ret);
/* What the registry has of a service, as it was registered, sorted. */
LSTATUS stored_texts_of_service(const char *service, struct stored_texts *ret);
/* A base as every program sees it, unsorted; and what of it was written by hand. */
LSTATUS stored_texts_of_language(uint32_t language, struct stored_texts *ret);
LSTATUS stored_texts_by_hand(uint32_t language, struct stored_texts *ret);

/* ---- stored.c: a file ---- */
#define SECTION_PERFLIB "Perflib"
#define SECTION_PROVIDER "PERF_"
#define SECTION_TEXTS "PerfStrings_"
/* Ours, at the beginning and at the end: how many texts there are, so that none is missed. */
#define SECTION_OURS "openperflib"
#define SECTION_HAND "ByHand_" /* ours: which of the texts were written by hand */
#define VALUE_INI "PerfIniFile"
#define VALUE_TEXTS "Texts"
#define VALUE_DISABLED "Disable Performance Counters"

struct stored_provider {
    char *name;
    unsigned line;
    bool has[NUMBERS];
    uint32_t number[NUMBERS], disabled;
    char *text[TEXTS]; /* NULL: the file does not say */
    /* Of the texts that are here; 0: what the registry's number says. */
    uint32_t texts_first;
    bool complete; /* all texts that it may have are in the file */
};
struct stored {
    const char *path;
    struct stored_provider *providers; /* as they stand in the file */
    size_t provider_count, provider_room;
    struct stored_texts texts, hand;
    uint32_t language; /* the only one of which it has texts; 0: all */
    bool repair; /* it is what must be: nobody keeps other numbers, but for who is in the way */
    bool whole;  /* it is ours, and nothing of it is missing: what it does not say was not there */
};
/* `language`: only texts of that one; 0: all. */
LSTATUS stored_read(struct load *load, const char *path, uint32_t language, struct stored *ret);
void stored_done(struct stored *stored);
bool stored_has_numbers(const struct stored_provider *provider);

/* ---- merge.c ---- */
LSTATUS merge_stored(struct load *load, const struct stored *stored, opl_load_restored *ret);

/* ---- restore.c ---- */
/* The Object List that an ini file asks for; NULL: none. */
LSTATUS restore_objects(const struct plan *plan, uint32_t first, char **ret);
/* Reads the ini file that a service was loaded from. *ret_good: it is there and is the service's;
 * the plan is then the caller's. */
LSTATUS restore_plan(struct load *load, const char *service, struct plan *ret, bool *ret_good);
LSTATUS restore_add(struct stored *stored, const char *service, const uint32_t *number,
                    const struct plan *plan);

/* ---- trust.c ---- */
/* Where host would look for a library; malloc. */
char *trust_path(const char *library);

/* ---- here.c: what the registry has, for merging ---- */
struct here {
    char *name;
    bool loaded, has[NUMBERS];
    uint32_t number[NUMBERS];
};
struct here_list {
    struct here *list;
    size_t count, room;
};
LSTATUS here_read(struct here_list *ret);
void here_done(struct here_list *list);
const struct here *here_find(const struct here_list *list, const char *service);
/* Another service than `service` that has the object in its numbers or its list. NULL: none. */
const struct here *here_other_owner(const struct here_list *list, const char *service,
                                    uint32_t object);
/* ...\Performance of a service; malloc. */
char *here_key(const char *service);
/* NULL: there is none, or no memory. */
char *here_text(const char *service, const char *value);

#endif
