/* SPDX-License-Identifier: MIT */
/*
 * Registrations as they are stored in one file (docs/windows/registration.md#e5), or as in the
 * registry: every provider's numbers and settings, and texts of indices. backup.c writes the file,
 * stored.c reads it, merge.c merges it into the registry.
 */
#ifndef OPL_LOADPERF_STORED_H
#define OPL_LOADPERF_STORED_H

#include "loadperf/inner.h"

/* ---- stored.c: texts by language and index ---- */
struct stored_text {
    uint32_t language, index;
    char *text; /* UTF-8 */
};
struct stored_texts {
    struct stored_text *list;
    size_t count, capacity;
};
void stored_texts_done(struct stored_texts *texts);
/* Takes ownership of the text, which may be NULL (no memory): then returns false. */
bool stored_texts_add(struct stored_texts *texts, uint32_t language, uint32_t index, char *text);
/* Of texts with the same key the first one stays. False: no memory. */
bool stored_texts_sort(struct stored_texts *texts);
/* The position of the first text at or after this language and index; the texts are sorted. */
size_t stored_texts_from(const struct stored_texts *texts, uint32_t language, uint32_t index);
const char *stored_texts_find(const struct stored_texts *texts, uint32_t language, uint32_t index);
/* Finds the next language of the sorted texts. *cursor is 0 for the first one; false: no more. */
bool stored_texts_language(const struct stored_texts *texts, size_t *cursor, uint32_t *ret);
/* A service's texts as registered, sorted. */
LSTATUS stored_texts_of_service(const char *service, struct stored_texts *ret);
/* A name base as every program sees it, unsorted; and the part that was written by hand. */
LSTATUS stored_texts_of_language(uint32_t language, struct stored_texts *ret);
LSTATUS stored_texts_by_hand(uint32_t language, struct stored_texts *ret);

/* ---- stored.c: a file ---- */
#define SECTION_PERFLIB "Perflib"
#define SECTION_PROVIDER "PERF_"
#define SECTION_TEXTS "PerfStrings_"
/* A section that Windows does not have, at the beginning and at the end: the number of texts, so
 * that a loss is noticed. */
#define SECTION_OURS "openperflib"
#define SECTION_HAND "ByHand_" /* also not in Windows: which texts were written by hand */
#define VALUE_INI "PerfIniFile"
#define VALUE_TEXTS "Texts"
#define VALUE_DISABLED "Disable Performance Counters"

/* ---- remove.c: what Perflib notes of a failing service ---- */
enum { STATE_VALUES = 3, SERVICE_KEYS = 2 }; /* keys: Services\\NAME\\Performance, and NAME */
extern const char *const state_values[STATE_VALUES];
bool state_is(const char *value);
/* Deletes these values from `key`, a service's key Performance, in both layers where this user may;
 * Disable Performance Counters too if Perflib set it, or if it is 0. */
void state_forget(const char *key);

struct stored_provider {
    char *name;
    unsigned line;
    bool has[NUMBERS];
    uint32_t number[NUMBERS], disabled;
    char *text[TEXTS]; /* NULL: not in the file */
    /* the index of offset 0 of its texts in the registry; 0: First Counter in the registry */
    uint32_t texts_first;
    bool complete; /* the file has all its texts */
};
struct stored {
    const char *path;
    struct stored_provider *providers; /* providers in the file's order */
    size_t provider_count, provider_capacity;
    struct stored_texts texts, hand;
    uint32_t language; /* the only language of its texts; 0: all */
    /* this is a repair, not a backup: its numbers are enforced; only a conflicting provider gets
     * others */
    bool repair;
    bool whole; /* lodctr wrote the file, and it is complete: what it lacks did not exist */
};
/* Reads a backup. `language`: only texts of that language; 0: all. */
LSTATUS stored_read(struct load *load, const char *path, uint32_t language, struct stored *ret);
void stored_done(struct stored *stored);
bool stored_has_numbers(const struct stored_provider *provider);

/* ---- merge.c ---- */
LSTATUS merge_stored(struct load *load, const struct stored *stored, opl_load_restored *ret);

/* ---- restore.c ---- */
/* The Object List that an ini file requests; NULL: none. */
LSTATUS restore_objects(const struct plan *plan, uint32_t first, char **ret);
/* Reads the ini file that a service was loaded from. *ret_good: it exists and is the service's;
 * then the caller owns the plan. */
LSTATUS restore_plan(struct load *load, const char *service, struct plan *ret, bool *ret_good);
LSTATUS restore_add(struct stored *stored, const char *service, const uint32_t *number,
                    const struct plan *plan);

/* ---- library.c ---- */
/* The path where host would search for the library, to be freed. */
char *trust_path(const char *library);

/* ---- here.c: the registry's content, for merging ---- */
struct here {
    char *name;
    bool loaded, users, has[NUMBERS]; /* users: see here_is_users */
    uint32_t number[NUMBERS];
};
struct here_list {
    struct here *list;
    size_t count, capacity;
};
LSTATUS here_read(struct here_list *ret);
void here_done(struct here_list *list);
const struct here *here_find(const struct here_list *list, const char *service);
/* A service other than `service` that has the object in its numbers or its list. NULL: none. */
const struct here *here_other_owner(const struct here_list *list, const char *service,
                                    uint32_t object);
/* The path of the service's Performance key, to be freed. */
char *here_key(const char *service);
/* Are the service's numbers, or if it has none its library, in the user's layer? */
bool here_is_users(const char *service);
/* A text value of the service, to be freed. NULL: it does not exist, or no memory. */
char *here_text(const char *service, const char *value);

#endif
