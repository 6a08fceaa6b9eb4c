/* SPDX-License-Identifier: MIT */
/* Shared by the parts of pcview: the options, the objects found, and the output. */
#ifndef OPL_TOOLS_PCVIEW_H
#define OPL_TOOLS_PCVIEW_H

#include "option-rows.h"

/* ---- find.c: arguments to objects ---- */
void find_indices(const struct view_names *names, struct requested_object *wanted);
/* Returns the query for HKEY_PERFORMANCE_DATA, to be freed. NULL: no argument has an index. */
char *find_query(const struct pcview *view);
/* Marks the requested objects that the current snapshot contains; true: all of them. */
bool find_mark(struct pcview *view);
/* Returns the argument that requests this object; NULL: none. *ret_all: the command line names no
 * objects, so all are shown. */
struct requested_object *find_requested(struct pcview *view, const opl_object_view *object,
                                        bool *ret_all);
/* Reports on stderr what is missing and which names are similar. */
void find_report(struct pcview *view);
/* Reports on stderr the instance patterns that matched nothing; false: there is such a pattern. */
bool find_matched(const struct pcview *view);
/* True if this instance is requested. */
bool find_instance(struct requested_object *requested, const struct view_object *object,
                   const struct view_instance *instance);

/* ---- registered.c: objects in the registry ---- */
struct registered {
    uint32_t index;
    const char *service;
    bool enabled;
};
/* Calls `each` for every object in the Object List of every service. */
void registered_each(void (*each)(void *self, const struct registered *object), void *self);
/* Writes the numbers of the objects of the service with this name; returns how many. */
size_t registered_objects(const char *service, uint32_t *indices, size_t capacity);
/* Finds the service that registers this object. False: there is none, or its name does not fit. */
bool registered_by(uint32_t index, char *service, size_t capacity, bool *ret_enabled);

/* ---- paths.c: counters by their paths ---- */
/* True if the argument is a counter path, not an object's name. */
bool path_is(const char *word);
/* Prints the counters that the arguments, which are paths, match; returns an exit code. */
int paths_print(struct pcview *view);

/* ---- events.c ---- */
/* Prints the last events of the log; returns an exit code. */
int events_print(struct pcview *view);

/* ---- output ---- */
void list_objects(struct pcview *view);
void list_names(struct pcview *view);
/* Both functions report a lack of memory and return false then. */
bool show_objects(struct pcview *view);
bool json_objects(struct pcview *view);
void hex_objects(struct pcview *view);
void show_values(struct pcview *view, const struct view_object *object,
                 struct requested_object *requested);

/* ---- words.c ---- */
const char *level_word(DWORD level);
/* Returns "PERF_COUNTER_COUNTER"; "" if the type has no name. */
const char *type_word(const struct view_counter *counter);
/* Writes "DWORD COUNTER RATE TIMER_TICK DELTA_COUNTER /sec". */
void type_fields(const struct view_counter *counter, char *out, size_t capacity);
/* Writes the block's SystemTime: "2026-11-21 16:36:12". */
void block_time(const opl_block *block, char *out, size_t capacity);
void block_system(const opl_block *block, char *out, size_t capacity);
struct style style_make(bool colours);

#endif
