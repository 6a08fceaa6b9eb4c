/* SPDX-License-Identifier: MIT */
/*
 * The registrations in a backup file (docs/windows/registration.md#e5) or in the registry: each
 * provider's numbers and settings, and the texts of all indices. backup.c writes the file, stored.c
 * reads it, merge.c merges it into the registry.
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
/* Adds the text and takes ownership of it. `text` may be NULL, which means that there was no
 * memory: then returns false. */
bool stored_texts_add(struct stored_texts *texts, uint32_t language, uint32_t index, char *text);
/* Sorts the texts; of several with the same key the first stays. False: no memory. */
bool stored_texts_sort(struct stored_texts *texts);
/* Returns the position of the first text at or after this language and index; the texts must be
 * sorted. */
size_t stored_texts_from(const struct stored_texts *texts, uint32_t language, uint32_t index);
const char *stored_texts_find(const struct stored_texts *texts, uint32_t language, uint32_t index);
/* Finds the next language of the sorted texts. *cursor is 0 for the first one; false: no more. */
bool stored_texts_language(const struct stored_texts *texts, size_t *cursor, uint32_t *ret);
/* Reads the registered texts of a service, sorted. */
LSTATUS stored_texts_of_service(const char *service, struct stored_texts *ret);
/* stored_texts_of_language reads all texts of a language as every program sees them, unsorted;
 * stored_texts_by_hand reads only those written by hand. */
LSTATUS stored_texts_of_language(uint32_t language, struct stored_texts *ret);
LSTATUS stored_texts_by_hand(uint32_t language, struct stored_texts *ret);

/* ---- stored.c: a file ---- */
#define SECTION_PERFLIB "Perflib"
#define SECTION_PROVIDER "PERF_"
#define SECTION_TEXTS "PerfStrings_"
/* A section that only lodctr's backups have, at the beginning and at the end: the number of texts,
 * so that a loss is noticed. */
#define SECTION_OURS "openperflib"
/* a section prefix that only lodctr's backups have: texts written by hand */
#define SECTION_HAND "ByHand_"
#define VALUE_INI "PerfIniFile"
#define VALUE_TEXTS "Texts"
#define VALUE_DISABLED "Disable Performance Counters"

/* ---- remove.c: what Perflib recorded about a failing service ---- */
/* the state of a service is in two keys: Services\\NAME\\Performance and Services\\NAME */
enum { STATE_VALUES = 3, SERVICE_KEYS = 2 };
extern const char *const state_values[STATE_VALUES];
bool state_is(const char *value);
/* Deletes the values in `state_values` from `key`, the key Performance of a service, in all layers
 * in which this user may do so; also Disable Performance Counters if Perflib set it or if it is
 * 0. */
void state_forget(const char *key);

struct stored_provider {
    char *name;
    unsigned line;
    bool has[NUMBERS];
    uint32_t number[NUMBERS], disabled;
    char *text[TEXTS]; /* NULL: the file lacks the text */
    /* index of offset 0 of the service's texts in the registry; 0: that index is First Counter of
     * the registry */
    uint32_t texts_first;
    bool complete; /* the file has all texts of the provider */
};
struct stored {
    const char *path;
    struct stored_provider *providers; /* providers in the order of the file */
    size_t provider_count, provider_capacity;
    struct stored_texts texts, hand;
    /* the only language whose texts were read; 0: texts of all languages were read */
    uint32_t language;
    /* not a backup but a repair by the doctor: these numbers replace those of the registry, and
     * only a provider whose numbers conflict gets other numbers */
    bool repair;
    bool whole; /* a complete file of lodctr: what it lacks did not exist when it was written */
};
/* ---- stored.c: reads a file ---- */
/* Reads a backup. `language`: read only texts in that language; 0: in all. */
LSTATUS stored_read(struct load *load, const char *path, uint32_t language, struct stored *ret);
void stored_done(struct stored *stored);
bool stored_has_numbers(const struct stored_provider *provider);

/* ---- merge.c ---- */
LSTATUS merge_stored(struct load *load, const struct stored *stored, opl_load_restored *ret);

/* ---- restore.c ---- */
/* Makes the Object List that an ini file requests; NULL: the file requests none. */
LSTATUS restore_objects(const struct plan *plan, uint32_t first, char **ret);
/* Reads the ini file that a service was loaded from. *ret_good: the file exists and is for this
 * service; then the caller owns the plan. */
LSTATUS restore_plan(struct load *load, const char *service, struct plan *ret, bool *ret_good);
LSTATUS restore_add(struct stored *stored, const char *service, const uint32_t *number,
                    const struct plan *plan);

/* ---- library.c ---- */
/* Returns the path where the module host would look for the library, to be freed. */
char *trust_path(const char *library);

/* ---- here.c: the services in the registry ---- */
struct here {
    char *name;
    bool loaded, users, has[NUMBERS]; /* users: the result of here_is_users */
    uint32_t number[NUMBERS];
};
struct here_list {
    struct here *list;
    size_t count, capacity;
};
LSTATUS here_read(struct here_list *ret);
void here_done(struct here_list *list);
const struct here *here_find(const struct here_list *list, const char *service);
/* Returns a service other than `service` that has the object in its range of numbers or in its
 * Object List. NULL: none. */
const struct here *here_other_owner(const struct here_list *list, const char *service,
                                    uint32_t object);
/* Returns the path of the service's key Performance, to be freed. */
char *here_key(const char *service);
/* True if the service's numbers, or its library if it has no numbers, are in the user's layer. */
bool here_is_users(const char *service);
/* Returns a text value of the service, to be freed. NULL: the value does not exist, or no
 * memory. */
char *here_text(const char *service, const char *value);
/* True if the service's package was removed; the numbers are then only kept for the package's
 * return. */
bool here_is_reserved(const char *service);

#endif
