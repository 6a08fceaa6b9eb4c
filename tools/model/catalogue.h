/* SPDX-License-Identifier: MIT */
/*
 * The catalogue: all objects, counters and instances of a machine or a capture, with explanations.
 * A thread of its own reads it, because providers and machines may take long; what it has read does
 * not change afterwards.
 */
#ifndef OPL_TOOLS_CATALOGUE_H
#define OPL_TOOLS_CATALOGUE_H

#include <stdbool.h>
#include <stddef.h>

struct catalogue_counter {
    const char *name, *explain; /* NULL: there is no explanation */
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
/* Waits at most a second for the thread; then it is left alone, with its memory. */
void catalogue_free(struct catalogue *catalogue);
/* How many objects there are, and whether all have been read. The first `ret_ready` can be used. */
size_t catalogue_count(struct catalogue *catalogue, size_t *ret_ready);
const struct catalogue_object *catalogue_object(struct catalogue *catalogue, size_t at);
/* Is every part of `text`, separated by blanks, in the names or the explanation, ignoring case, or
 * a short name for something in them: cpu, mem, net, load? `counter` NULL: the object alone. */
bool catalogue_matches(const struct catalogue_object *object,
                       const struct catalogue_counter *counter, const char *text);

#endif
