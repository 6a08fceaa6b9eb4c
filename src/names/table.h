/* SPDX-License-Identifier: MIT */
/* Inside names: tables of (index, text), and a whole base as a multi-string. */
#ifndef OPL_NAMES_TABLE_H
#define OPL_NAMES_TABLE_H

#include "names/names.h"

#include <pthread.h>

struct name_entry {
    uint32_t index;
    uint32_t text; /* offset of the text in the table's texts */
};

struct name_table {
    struct name_entry *entries;
    size_t count, capacity;
    struct buffer texts;
};

enum { NAMES_PARTS = NAMES_HELP + 1 };

/* Returns the part of a base that an index belongs to: names have even indices (and the first
 * pair), explanations odd ones. (docs/windows/articles.md#c24, docs/windows/articles.md#c97) */
enum names_part names_part_of(uint32_t index);

/* ---- table.c ---- */
void name_table_done(struct name_table *table);
/* Adds a copy of the text of `count` bytes. False: no memory. */
bool name_table_add(struct name_table *table, uint32_t index, const char *text, size_t count);
bool name_table_add_all(struct name_table *table, const struct name_table *more);
/* Sorts by index; of equal indices the first that was added stays. Must be called before the
 * functions below. */
void name_table_sort(struct name_table *table);
const char *name_table_find(const struct name_table *table, uint32_t index);
/* Calls `each` for every pair of index and text in a multi-string, which may be unsorted and have
 * gaps, duplicates and damage. False: `each` returned false. */
bool name_pairs_each(const char *multi, size_t size,
                     bool (*each)(void *self, uint32_t index, const char *text), void *self);

/* ---- list.c ---- */
/* returns the list of a sorted table; NULL: no memory */
const struct name_list *name_list_of_table(const struct name_table *table);
/* Takes ownership of the bytes, which may be damaged. NULL: the bytes are damaged, or no memory. */
const struct name_list *name_list_of_bytes(struct buffer *bytes);
/* Returns a list that is read from the file when it is searched; takes ownership of the file. NULL:
 * the file is damaged, or no memory. */
struct registry_content;
const struct name_list *name_list_of_content(struct registry_content *content, size_t size);
const struct buffer *name_list_bytes(const struct name_list *list);
/* NULL: the list's file is damaged */
const char *name_list_multi(const struct name_list *list, size_t *ret_size);

/* ---- base.c: the merged view; callers hold names_lock ---- */
struct name_language {
    uint32_t id;
    bool installed;
    bool stands; /* the language is installed even without a key Perflib\LLL */
    bool vended; /* the vendor's texts are read */
    bool loaded; /* all texts are read */
    bool noted;  /* `highest` is valid, even if the services' texts are not loaded */
    /* hand: written by hand; given: of the vendor and of services */
    struct name_table hand[NAMES_PARTS], given[NAMES_PARTS];
    uint32_t highest[NAMES_PARTS]; /* highest indices that services use, with or without text */
    /* all texts, with the English ones for missing ones; a list is made when it is first needed */
    const struct name_list *lists[NAMES_PARTS];
    struct buffer wide[NAMES_PARTS];
};
enum { MOST_LANGUAGES = 64 };
extern pthread_mutex_t names_lock;
/* the bases of all languages, sorted by id */
extern struct name_language *names_languages[MOST_LANGUAGES];
extern size_t names_language_count;
LSTATUS names_refresh(void);
/* Returns the language's base, or English if it is not installed. */
struct name_language *names_base(uint32_t language);
/* Returns the list of a base, which keeps it. NULL: no memory, and no base is valid any more. */
const struct name_list *names_list(struct name_language *base, enum names_part part);
/* Like names_list; all texts of the list are in memory, so no search of it fails. */
const struct name_list *names_list_whole(struct name_language *base, enum names_part part);
/* Reads all texts of the base. False: no memory, and no base is valid any more. */
bool names_load(struct name_language *base);
bool names_note_highest(struct name_language *base); /* makes only base->highest valid */
/* Returns the base of exactly this language, never English in its place, even if it is not
 * installed or not loaded; NULL: there is no such base in the table. */
struct name_language *names_base_exactly(uint32_t language);
/* tests only: forgets everything, as in a new process; all texts become invalid */
void names_forget(void);

#endif
