/* SPDX-License-Identifier: MIT */
/*
 * The catalogue: all objects, counters and instances of a machine or a capture, with explanations.
 * A thread of its own reads it, because providers and machines may take long. After the thread has
 * read an object, it changes only in catalogue_watch: its instances and `why`, and its counters if
 * it had none because it did not answer.
 */
#ifndef OPL_TOOLS_CATALOGUE_H
#define OPL_TOOLS_CATALOGUE_H

#include "../view/view.h"

struct catalogue_counter {
    const char *name, *explain; /* `explain` NULL: no explanation */
    struct view_counter unit;   /* the counter's type and unit, by which values are printed */
    bool text;                  /* the counter's values are texts */
    bool raw;                   /* PDH has no formula for the counter's type */
};
struct catalogue_object {
    char *name;
    const char *explain;
    char *why; /* why the object does not answer; NULL: it does, or that is not known */
    struct catalogue_counter *counters;
    size_t counter_count;
    const char **instances;
    size_t instance_count;
    bool single; /* the object has no instances */
    bool costly; /* expensive to read: PDH lists it only if such objects are requested */
    /* the memory into which the pointers above point */
    char *counter_list, *instance_list;
};
struct catalogue;
/* Makes a catalogue and starts reading; `machine` and `files` NULL: this machine. `time`, UTC: the
 * instances are those that the set `files` has at this time; 0: it is no set. Returns NULL if there
 * is no memory or no thread. */
struct catalogue *catalogue_new(const char *machine, const char *files, int64_t time);
/* Goes to another time of the set. */
void catalogue_go(struct catalogue *catalogue, int64_t time);
/* Makes a catalogue of one object, which is read before this returns. `name` is in any case and
 * language, or a number. Returns NULL after a failure, whose status is in *ret_status. */
struct catalogue *catalogue_find(const char *machine, const char *files, const char *name,
                                 PDH_STATUS *ret_status);
/* Does not wait: the thread frees the memory when the call in which it may be returns. */
void catalogue_free(struct catalogue *catalogue);
/* Before the program ends: waits for these threads, which may be in a library; a second at most. */
void catalogue_wait(void);
/* Returns the number of objects. *ret_ready: how many, from the first on, have been read. */
size_t catalogue_count(struct catalogue *catalogue, size_t *ret_ready);
/* Has the thread read everything? Unlike the numbers above, this is known also of no objects. */
bool catalogue_complete(struct catalogue *catalogue);
const struct catalogue_object *catalogue_object(struct catalogue *catalogue, size_t at);
/* The instances of this object are read again every few seconds as long as this is called at least
 * every second. Returns true if new ones, or none because the object does not answer, were taken
 * over: pointers to the earlier ones are invalid then. */
bool catalogue_watch(struct catalogue *catalogue, size_t at);
/* Writes the path of a counter, without machine. `instance`: ignored if there are no instances. */
void catalogue_path(const struct catalogue_object *object, const char *instance,
                    const char *counter, char *ret, size_t capacity);

/* ---- search.c ---- */
/* Where a search has found all words of its text, the best place first. Costly objects have at best
 * RANK_EXPLANATION. */
enum catalogue_rank {
    RANK_OBJECT,  /* the object's name has the word, or what an everyday word (cpu, slow) is for */
    RANK_COUNTER, /* the counter's name has the word */
    RANK_ALIAS,   /* the counter's name has what an everyday word is for */
    RANK_EXPLANATION,
    RANK_NONE
};
/* Returns the rank of the word that is in the worst place; case does not matter. `counter` NULL:
 * only the object is searched. */
enum catalogue_rank catalogue_rank(const struct catalogue_object *object,
                                   const struct catalogue_counter *counter, const char *text);
/* Passes to `found` the paths of counters that match, at most `most`, and few of each object, by
 * rank. Returns how many match. */
size_t catalogue_paths(struct catalogue *catalogue, const char *text, size_t most,
                       void (*found)(void *context, const char *path), void *context);

#endif
