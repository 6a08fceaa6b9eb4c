/* SPDX-License-Identifier: MIT */
/* Inside names: tables of (index, text), and a whole base as a multi-string. */
#ifndef OPL_NAMES_TABLE_H
#define OPL_NAMES_TABLE_H

#include "names/names.h"

#include <pthread.h>

struct name_entry {
    uint32_t index;
    uint32_t order; /* in which it was added: of equal indices the first is kept */
    const char *text;
};

struct name_table {
    struct name_entry *entries;
    size_t count, capacity;
};

enum { NAMES_PARTS = NAMES_HELP + 1, NAMES_FIRST_PAIR = 1 };

/* The part to which an index belongs: names are even (and the first pair), helps odd.
 * (docs/windows/articles.md#c24, docs/windows/articles.md#c97) */
enum names_part names_part_of(uint32_t index);

/* ---- table.c ---- */
void name_table_done(struct name_table *table);
bool name_table_add(struct name_table *table, uint32_t index, const char *text);
bool name_table_add_all(struct name_table *table, const struct name_table *more);
/* Sorts by index and removes duplicates; must be called before the functions below. */
void name_table_sort(struct name_table *table);
const char *name_table_find(const struct name_table *table, uint32_t index);
/* Returns a copy of the text that stays valid until the process ends; equal texts have one copy.
 * NULL: no memory. */
const char *name_intern(const char *text, size_t count);
void name_intern_forget(void);
/* Calls `each` for every pair of index and text in a multi-string, which may be unsorted and have
 * gaps, duplicates and damage. False: `each` returned false. */
bool name_pairs_each(const char *multi, size_t size,
                     bool (*each)(void *self, uint32_t index, const char *text), void *self);

/* ---- base.c: the merged view; callers hold names_lock ---- */
struct name_language {
    uint32_t id;
    bool installed;
    bool stands; /* installed even without a key Perflib\LLL */
    bool loaded; /* services' texts are read and merged */
    bool noted;  /* `highest` is valid, even if the services' texts are not loaded */
    /* hand: written by hand; given: of the vendor and of services; merged: both, and English for
     * missing ones */
    struct name_table hand[NAMES_PARTS], given[NAMES_PARTS], merged[NAMES_PARTS];
    uint32_t highest[NAMES_PARTS]; /* used by services, with or without text */
    struct name_entry
        *by_name; /* the merged names, sorted without regard to case; made when first needed */
    /* whole base as UTF-8 and as UTF-16; made when first needed */
    struct buffer text[NAMES_PARTS][2];
};
enum { MOST_LANGUAGES = 64 };
extern pthread_mutex_t names_lock;
extern struct name_language *names_languages[MOST_LANGUAGES]; /* sorted by id */
extern size_t names_language_count;
LSTATUS names_refresh(void);
/* Returns the language's loaded base, or English if it is not installed. NULL: no memory. */
struct name_language *names_base(uint32_t language);
/* Reads all texts of the base. False: no memory, and no base is valid any more. */
bool names_load(struct name_language *base);
bool names_note_highest(struct name_language *base); /* fills in only base->highest */
/* Returns the base of exactly this language, installed and loaded or not; NULL: there is none. */
struct name_language *names_base_exactly(uint32_t language);
/* tests only: forgets everything, as in a new process; all texts become invalid */
void names_forget(void);

#endif
