/* SPDX-License-Identifier: MIT */
/*
 * The catalogue: all objects, counters and instances of a machine or a capture, with explanations.
 * A thread of its own reads it, because providers and machines may take long. Of what it has read
 * only instances change, and only in catalogue_watch.
 */
#ifndef OPL_TOOLS_CATALOGUE_H
#define OPL_TOOLS_CATALOGUE_H

#include "../view/view.h"

struct catalogue_counter {
    const char *name, *explain; /* NULL: there is no explanation */
    struct view_counter unit;   /* its type and unit, by which values are printed */
    bool text;                  /* its values are texts */
    bool raw;                   /* PDH has no formula for its type */
};
struct catalogue_object {
    char *name;
    const char *explain;
    struct catalogue_counter *counters;
    size_t counter_count;
    const char **instances;
    size_t instance_count;
    bool single; /* the object has no instances */
    /* what the pointers above point into */
    char *counter_list, *instance_list;
};
struct catalogue;
/* Begins to read; `machine` and `files` NULL: this machine. NULL: no memory or no thread. */
struct catalogue *catalogue_new(const char *machine, const char *files);
/* Reads one object now, and waits for it. `name` is in any case and language, or a number. NULL:
 * see `status`. */
struct catalogue *catalogue_find(const char *machine, const char *files, const char *name,
                                 PDH_STATUS *ret_status);
/* Waits at most a second for the thread; then it is left alone, with its memory. */
void catalogue_free(struct catalogue *catalogue);
/* How many objects there are, and whether all have been read. The first `ret_ready` can be used. */
size_t catalogue_count(struct catalogue *catalogue, size_t *ret_ready);
const struct catalogue_object *catalogue_object(struct catalogue *catalogue, size_t at);
/* Reads the instances of this object anew every few seconds, from now on and until the next call
 * names another one. Returns whether new ones were taken over: those of before became invalid. */
bool catalogue_watch(struct catalogue *catalogue, size_t at);
/* Is every part of `text`, separated by blanks, in the names or the explanation, ignoring case, or
 * a short name for something in them: cpu, mem, net, load? `counter` NULL: the object alone. */
bool catalogue_matches(const struct catalogue_object *object,
                       const struct catalogue_counter *counter, const char *text);

#endif
