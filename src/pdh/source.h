/* SPDX-License-Identifier: MIT */
/*
 * Private to pdh: a source of names and values, live or a capture, behind one table of functions.
 * An object info describes one object of one machine with its counters and the instances that it
 * had at one moment; it never changes, and is freed when its last user releases it.
 */
#ifndef OPL_PDH_SOURCE_H
#define OPL_PDH_SOURCE_H

#include "log/log.h"
#include "pdh/pdh.h"

/* The stages of a search by name, in this order. */
enum title_stage {
    STAGE_USER,    /* the user's language */
    STAGE_ENGLISH, /* also numbers */
    STAGE_NUMBER,
    STAGE_OTHERS, /* all other installed languages */
    STAGES
};

struct counter_info {
    const char *name;     /* in the user's language; "" if it has no title */
    uint32_t index, help; /* of its texts; 0 in captures */
    DWORD type, detail;
    LONG scale;
    bool hidden; /* a base: not listed, not found by name */
};
struct instance_info {
    const char *parent; /* NULL: none */
    const char *name;
    uint32_t number; /* 0 for the first of that parent and name, in the block's order */
};
struct object_info {
    const char *name;
    uint32_t index, help;
    DWORD detail;
    bool costly; /* answered to "Costly", not to "Global" */
    bool single; /* never has instances */
    bool bare;   /* of a capture: was seen without instances */
    struct counter_info *counters;
    uint32_t counter_count, default_counter; /* a position */
    struct instance_info *instances;         /* in the block's order */
    uint32_t instance_count;
    /* of its source */
    uint32_t references;
    struct machine *machine; /* NULL: of a capture */
    int64_t taken_ticks;
    LONGLONG tick_frequency, object_frequency;
    bool listed; /* answered to "Global" or "Costly" */
    struct buffer texts;
    struct log_losses losses; /* of a capture: what of the object cannot be shown */
};
/* Has space for so many counters and instances. NULL: no memory. */
struct object_info *object_info_new(uint32_t counters, uint32_t instances);
struct object_info *object_info_ref(struct object_info *info); /* adds a reference */
void object_info_unref(struct object_info *info);              /* NULL is fine */
static inline void object_info_auto_unref(struct object_info **info)
{
    object_info_unref(*info);
}
#define OBJECT_INFO_AUTO __attribute__((cleanup(object_info_auto_unref))) struct object_info

/* How old a description may be. Lists stay the same until a refresh is requested
 * (docs/windows/pdh.md#f2). */
enum info_age {
    INFO_STABLE,
    INFO_RECENT, /* one second */
    INFO_NOW,
    INFO_REFRESH /* read now, and shown in lists from now on */
};

struct object_infos {
    struct object_info **items;
    size_t count;
    uint32_t default_object; /* title index; 0: the source has none */
};
void object_infos_done(struct object_infos *infos);
#define OBJECT_INFOS_AUTO __attribute__((cleanup(object_infos_done))) struct object_infos

/* ---- what a source can do ---- */

struct counter;
struct pdh_query;
struct data_source {
    const struct source_ops *ops;
    struct pdh_from from;
};
/* `machine`: with or without \\; NULL: this one, or the capture's only one. */
struct source_ops {
    bool real_time; /* values are of the moment at which they are collected */
    bool aliases;   /* names of other agents are understood */
    /* The machines that are in it, or were connected: a multi-string of labels. */
    PDH_STATUS (*machines)(struct data_source *source, struct buffer *ret);
    /* Appends the machine's name with its \\, as paths show it. PDH_CSTATUS_NO_MACHINE. */
    PDH_STATUS (*label)(struct data_source *source, const char *machine, struct buffer *ret);
    /* All objects of a machine; INFO_STABLE, INFO_NOW or INFO_REFRESH. PDH_CSTATUS_NO_MACHINE. */
    PDH_STATUS(*objects)
    (struct data_source *source, const char *machine, enum info_age age, struct object_infos *ret);
    /* One object by its name, found like counters. PDH_CSTATUS_NO_MACHINE, NO_OBJECT. */
    PDH_STATUS(*object)
    (struct data_source *source, const char *machine, const char *name, bool english,
     enum info_age age, struct object_info **ret);
    /* The counter of that name: in the user's language, English, a number, any installed language;
     * only English if `english`. NULL: there is none. */
    const struct counter_info *(*counter)(const struct object_info *info, const char *name,
                                          bool english);
    /* Does a title of the index, at a stage after STAGE_USER, match the pattern? */
    bool (*has_title)(const struct object_info *info, uint32_t index, enum title_stage stage,
                      const char *pattern);
    /* Appends the matching paths in an order of its own; nothing if none matches. NULL: it has no
     * such order. */
    PDH_STATUS(*expand)
    (struct data_source *source, const struct pdh_path *path, struct buffer *ret);
    /* Finds a counter by its path: PDH_CSTATUS_NO_MACHINE, NO_OBJECT, NO_COUNTER. */
    PDH_STATUS (*resolve)(struct counter *counter);
    /* The counter's machine as paths show it. */
    const char *(*machine)(const struct counter *counter);
    /* Gives all counters of the query their next sample. *ret_time, which may be NULL: its local
     * time. */
    PDH_STATUS (*collect)(struct pdh_query *query, LONGLONG *ret_time);
    /* PDH_DATA_SOURCE_IS_REAL_TIME */
    PDH_STATUS (*limit)(struct data_source *source, const PDH_TIME_INFO *range);
    /* The time zone of the samples, NULL: unknown; like zone_local. */
    const char *(*zone)(struct data_source *source, char storage[static ZONE_TEXT_SIZE],
                        LONG *ret_bias);
    void (*close)(struct data_source *source);
};

enum source_use {
    SOURCE_NAMES,  /* a short look, which leaves the samples to others */
    SOURCE_SAMPLES /* a query's own */
};
/* PDH_INVALID_HANDLE, or what opening a capture returns. */
PDH_STATUS source_open(struct pdh_from from, enum source_use use, struct data_source **ret);
void source_close(struct data_source *source); /* NULL is fine */
static inline void source_auto_close(struct data_source **source)
{
    source_close(*source);
}
#define SOURCE_AUTO __attribute__((cleanup(source_auto_close))) struct data_source

/* The two kinds. PDH_DATA_SOURCE_IS_REAL_TIME: `from` is live data. */
PDH_STATUS log_source_open(struct pdh_from from, enum source_use use, struct data_source **ret);
PDH_STATUS live_source_open(struct data_source **ret);

/* Another agent's name may be the reason. */
static inline bool is_unknown_name(PDH_STATUS status)
{
    return status == (PDH_STATUS)PDH_CSTATUS_NO_OBJECT ||
           status == (PDH_STATUS)PDH_CSTATUS_NO_COUNTER;
}

#endif
