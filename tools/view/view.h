/* SPDX-License-Identifier: MIT */
/*
 * The view model: performance blocks, names, and readable values. It has no built-in knowledge of
 * objects: the block describes itself. Used by every tool that shows counters.
 *
 * names     index -> title and explanation, title -> indices
 *
 * snapshot  one block with the bytes that it came in
 *
 * object    one object of a snapshot, its instances paired with those of an older snapshot
 *
 * value     one raw value, cooked where it can be
 */
#ifndef OPL_TOOLS_VIEW_H
#define OPL_TOOLS_VIEW_H

#include <stdint.h>
#include <stdio.h>

#include <openperflib/block.h>
#include <pdh.h>
#include <pdhmsg.h>
#include <winreg.h>

#include "text.h"

/* ---- names.c ---- */
struct name_row {
    uint32_t index;
    const char *text;
};
struct view_titles {
    char *data;
    struct name_row *rows; /* ascending by index, the first of equal indices only */
    size_t count;
};
struct view_names {
    char language[8];
    /* `chosen` is empty when the chosen language is English */
    struct view_titles english, chosen, helps;
    bool helps_loaded;
};
/* Reads "Counter 009" and "Counter LANGUAGE". If this fails, numbers replace the titles. A list of
 * more than 8 MiB is not read. */
LSTATUS names_load(struct view_names *names, const char *language);
void names_done(struct view_names *names);
/* Returns the title in the chosen language, else in English; NULL: the index has no title. */
const char *names_title(const struct view_names *names, uint32_t index);
const char *names_english(const struct view_names *names, uint32_t index);
/* Returns an index's explanation; NULL: none. The first call reads the table of explanations. */
const char *names_help(struct view_names *names, uint32_t index);
/* Is the chosen language not installed? Then titles are English. */
bool names_fell_back(const struct view_names *names);
/* Finds the indices with this title, in the chosen language or in English, ignoring case. Returns
 * how many there are. */
size_t names_find(const struct view_names *names, const char *title, uint32_t *ret,
                  size_t capacity);
/* Like names_find, in the first other installed language that has the title. */
size_t names_find_elsewhere(const char *title, uint32_t *ret, size_t capacity);
/* Returns how different two texts are, ignoring case; 0: equal; small if one contains the other. */
unsigned names_distance(const char *left, const char *right);

/* ---- snapshot.c ---- */
struct view_snapshot {
    unsigned char *data;
    size_t size, capacity;
    size_t most; /* a larger block is not read; 0: the usual limit */
    opl_block block;
    opl_block_fault fault; /* the first damage found so far */
    size_t fault_offset;
};
/* From now on names and snapshots are those of another machine, until view_disconnect. */
LSTATUS view_connect(const char *machine);
void view_disconnect(void);
bool view_is_remote(void);
/* From now on names and snapshots of this thread are those of `key`, which stays the caller's;
 * NULL: of the machine of view_connect, else of this one. */
void view_use(HKEY key);
HKEY view_key(void); /* HKEY_PERFORMANCE_DATA, local or remote */
/* HKEY_LOCAL_MACHINE, local or remote; the caller closes it. */
LSTATUS view_root(HKEY *ret);
/* Queries HKEY_PERFORMANCE_DATA of view_key; reuses the snapshot's memory. */
LSTATUS snapshot_query(struct view_snapshot *snapshot, const char *query);
/* Reads a saved block ("-": standard input). Returns 0 or an errno value. */
int snapshot_read(struct view_snapshot *snapshot, const char *path);
int snapshot_save(const struct view_snapshot *snapshot, const char *path);
/* Prepares the block, a truncated one up to its last byte. False: nothing in it can be read. */
bool snapshot_begin(struct view_snapshot *snapshot);
/* Like the iterators of block.h, but they keep the first fault, and end where the bytes end. */
bool snapshot_next_object(struct view_snapshot *snapshot, opl_object_view *object);
bool snapshot_next_counter(struct view_snapshot *snapshot, const opl_object_view *object,
                           opl_counter_view *counter);
bool snapshot_next_instance(struct view_snapshot *snapshot, const opl_object_view *object,
                            opl_instance_view *instance);
void snapshot_done(struct view_snapshot *snapshot);
/* Gives the memory of a snapshot that will be queried again back to the system, except `kept`
 * bytes. */
void snapshot_rest(struct view_snapshot *snapshot, size_t kept);

/* ---- object.c ---- */
enum view_unit { UNIT_PLAIN, UNIT_BYTES, UNIT_KBYTES, UNIT_MBYTES };
struct view_counter {
    opl_counter_view now, before;
    bool has_before;
    bool hidden; /* the counter is a base, or its type has no data */
    enum view_unit unit;
    opl_type_info type;
    const char *title; /* never NULL */
    char number[16];   /* "#12345", which replaces a missing title */
};
/* Sets type and unit of a counter by its title index and its English title (NULL: unknown). */
void view_describe(struct view_counter *counter, uint32_t title_index, const char *english);
struct view_instance {
    opl_instance_view now, before;
    bool has_before;
    /* offsets in `texts`: of the name, of parent and name, and of the identity */
    size_t name, path, key;
    /* how many instances before this one have the same name and parent: shown as name#n if not 0 */
    uint32_t copy;
    bool has_parent;
    size_t parent_name;
};
struct view_object {
    struct view_snapshot *now_snapshot, *before_snapshot;
    opl_object_view now, before;
    bool has_before;
    const char *title; /* never NULL */
    char number[16];
    struct view_counter *counters;
    size_t counter_count;
    struct view_instance *instances;
    size_t instance_count;
    char *texts;
    size_t texts_used, texts_capacity;
};
/* Loads one object of the block. `before` may be NULL. Damage ends the object's lists early and is
 * recorded in the snapshot. False: no memory. */
bool view_object_load(struct view_object *object, struct view_snapshot *now,
                      const opl_object_view *where, struct view_snapshot *before,
                      const struct view_names *names);
void view_object_done(struct view_object *object);
const char *view_text(const struct view_object *object, size_t offset);
/* Writes "parent/name#2", cleaned for a terminal. */
void view_instance_label(const struct view_object *object, const struct view_instance *instance,
                         char *out, size_t capacity);
bool view_object_single(const struct view_object *object);
/* Returns the position of the counter with this title index; (size_t)-1: none. */
size_t view_counter_find(const struct view_object *object, uint32_t title_index);

/* ---- value.c ---- */
enum view_state {
    VIEW_NUMBER,  /* `number`, and `whole` if it is a plain count */
    VIEW_STRING,  /* a text counter */
    VIEW_NOTHING, /* a heading or a base, which has no value */
    VIEW_WAITING, /* the value needs two samples */
    VIEW_UNKNOWN, /* the type is not defined */
    VIEW_DAMAGED, /* the value's place is outside the counter block */
    VIEW_INVALID  /* cooking failed; `status` has the reason */
};
struct view_value {
    enum view_state state;
    bool has_raw;
    opl_sample raw;
    bool whole;
    double number;
    DWORD status; /* status of PDH, for VIEW_INVALID */
};
void view_value_get(const struct view_object *object, const struct view_instance *instance,
                    const struct view_counter *counter, struct view_value *ret);
/* Writes a text counter's text, cleaned as by text_clean. */
void view_value_string(const struct view_object *object, const struct view_instance *instance,
                       const struct view_counter *counter, char *out, size_t capacity);
/* Writes the value as text: "12.3 %", "1.5 MiB/sec", "2 d 03:04:05"; "-" if there is none. */
void view_value_text(const struct view_object *object, const struct view_instance *instance,
                     const struct view_counter *counter, char *out, size_t capacity);
/* From now on units are printed in this language, such as "019". The text must stay valid. */
void view_unit_language(const char *language);
/* Like view_value_text, for a given value, by its counter's type and unit. */
void view_number_text(const struct view_counter *counter, const struct view_value *value, char *out,
                      size_t capacity);
/* Is the value a plain count? Then it is printed from its integer, exact to the last digit. */
bool view_whole(const struct view_counter *counter);
/* Returns why there is no number for the value; "": there is one. */
const char *view_value_why(const struct view_value *value);

#endif
