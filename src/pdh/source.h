/* SPDX-License-Identifier: MIT */
/*
 * Private to pdh: sources of names and values. A source is live data or a capture; both have the
 * same table of functions. An object info describes one object of one machine with its counters,
 * and the instances that it had when it was read. It never changes, and is freed with its last
 * reference.
 */
#ifndef OPL_PDH_SOURCE_H
#define OPL_PDH_SOURCE_H

#include "log/log.h"
#include "pdh/pdh.h"

/* A name is searched in these stages, in this order. */
enum title_stage {
    STAGE_USER,    /* names in the user's language */
    STAGE_ENGLISH, /* names in English */
    STAGE_NUMBER,  /* the name as a number, if it is one */
    STAGE_OTHERS,  /* names in all other installed languages */
    STAGES
};

struct counter_info {
    const char *name;     /* name in the user's language; "" if the counter has no title */
    uint32_t index, help; /* title numbers of the counter's name and explanation; 0 in captures */
    DWORD type, detail;
    LONG scale;
    bool hidden; /* a base counter, which is not listed and not found by name */
};
struct instance_info {
    const char *parent; /* NULL: none */
    const char *name;
    uint32_t number; /* 0 for the first instance with that parent and name in the block */
};
struct object_info {
    const char *name;
    uint32_t index, help;
    DWORD detail;
    bool costly; /* the query "Costly" returns the object, "Global" does not */
    bool single; /* the object never has instances */
    bool bare;   /* in a capture: some value of the object has no instance */
    struct counter_info *counters;
    uint32_t counter_count, default_counter; /* default_counter: a position in `counters` */
    struct instance_info *instances;         /* instances in the order of the block */
    uint32_t instance_count;
    /* the next members: number of references; from which machine and when it was read */
    uint32_t references;
    struct machine *machine; /* the machine; NULL: the object is from a capture */
    int64_t taken_ticks;
    LONGLONG tick_frequency, object_frequency;
    bool listed; /* the query "Global" or "Costly" returns the object */
    struct buffer texts;
    struct log_losses losses; /* of a capture: the parts of the object that cannot be shown */
};
/* Makes an info with space for the given numbers of counters and instances. NULL: no memory. */
struct object_info *object_info_new(uint32_t counters, uint32_t instances);
struct object_info *object_info_ref(struct object_info *info); /* adds a reference and returns
                                                                * `info` */
void object_info_unref(struct object_info *info);              /* does nothing if `info` is NULL */
static inline void object_info_auto_unref(struct object_info **info)
{
    object_info_unref(*info);
}
static inline bool object_info_is_recent(const struct object_info *info)
{
    return clock_ticks() - info->taken_ticks <= CLOCK_TICKS_PER_SECOND;
}
#define OBJECT_INFO_AUTO __attribute__((cleanup(object_info_auto_unref))) struct object_info

/* How old a description may be. Lists stay the same until a refresh is requested
 * (docs/windows/pdh.md#f2). */
enum info_age {
    INFO_STABLE,
    INFO_RECENT, /* the description is not older than a second */
    INFO_NOW,
    INFO_REFRESH,    /* read now, and used for lists from now on */
    INFO_AS_RECORDED /* of a capture: its raw values are shown, too */
};

struct object_infos {
    struct object_info **items;
    size_t count;
    uint32_t default_object; /* title index of the default object; 0: the source has none */
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
/* In all functions: `machine` may begin with \\; NULL: this machine, or the first one of a
 * capture. */
struct source_ops {
    bool real_time; /* values are those at the time of the collection */
    bool aliases;   /* names that other agents use are accepted, too */
    /* Appends the labels of the source's machines as a multi-string: the machines of the capture,
     * or those that were connected so far. */
    PDH_STATUS (*machines)(struct data_source *source, struct buffer *ret);
    /* Appends the machine's name with its \\, as paths show it. PDH_CSTATUS_NO_MACHINE. */
    PDH_STATUS (*label)(struct data_source *source, const char *machine, struct buffer *ret);
    /* Lists all objects of a machine. `age`: INFO_STABLE, INFO_NOW or INFO_REFRESH.
     * PDH_CSTATUS_NO_MACHINE. */
    PDH_STATUS(*objects)
    (struct data_source *source, const char *machine, enum info_age age, struct object_infos *ret);
    /* Finds one object by its name, which is searched in the same stages as a counter's.
     * PDH_CSTATUS_NO_MACHINE, NO_OBJECT. */
    PDH_STATUS(*object)
    (struct data_source *source, const char *machine, const char *name, bool english,
     enum info_age age, struct object_info **ret);
    /* Finds a counter by its name in the user's language, in English, by its number, or by its name
     * in any installed language; if `english`, only in English or by its number. NULL: not
     * found. */
    const struct counter_info *(*counter)(const struct object_info *info, const char *name,
                                          bool english);
    /* True if the title with this number matches the pattern at a stage after STAGE_USER. */
    bool (*has_title)(const struct object_info *info, uint32_t index, enum title_stage stage,
                      const char *pattern);
    /* Appends the matching paths in the source's own order; nothing if no path matches. `open`:
     * instances that only the samples have are not listed; the path keeps its wildcard. This member
     * is NULL if the source has no order. */
    PDH_STATUS(*expand)
    (struct data_source *source, const struct pdh_path *path, bool open, struct buffer *ret);
    size_t counter_size;                           /* of a counter with the source's own members */
    void (*counter_done)(struct counter *counter); /* frees these; may be NULL */
    /* Finds where the values of a counter's path are. PDH_CSTATUS_NO_MACHINE, NO_OBJECT,
     * NO_COUNTER. */
    PDH_STATUS (*resolve)(struct counter *counter);
    /* Returns the name of the counter's machine as paths show it. */
    const char *(*machine)(const struct counter *counter);
    /* Stores the next sample of all counters of the query. *ret_time (may be NULL) receives the
     * sample's local time. */
    PDH_STATUS (*collect)(struct pdh_query *query, LONGLONG *ret_time);
    /* Restricts a capture to a range of time. PDH_DATA_SOURCE_IS_REAL_TIME: the source is not a
     * capture. */
    PDH_STATUS (*limit)(struct data_source *source, const PDH_TIME_INFO *range);
    /* Appends the explanation with this number; nothing if there is none. This member is NULL for
     * captures, which have no explanations. */
    void (*explain)(const char *machine, uint32_t help, struct buffer *ret);
    /* Returns the time zone of the samples as zone_local does; NULL: unknown. *ret_rule is as
     * log_header.zone_rule. */
    const char *(*zone)(struct data_source *source, char storage[static ZONE_TEXT_SIZE],
                        LONG *ret_bias, const void **ret_rule);
    /* Returns false, with a message, if the samples cannot be written to `file`. `merge`: samples
     * of several files that belong together are joined. */
    bool (*prepare)(struct data_source *source, const char *file, enum log_kind kind, bool merge,
                    struct buffer *problem);
    void (*close)(struct data_source *source);
};

enum source_use {
    /* the source is opened to read names only: samples on standard input stay unread */
    SOURCE_NAMES,
    SOURCE_SAMPLES /* the source is opened for a query, which reads the samples */
};
/* Opens a source. Returns PDH_INVALID_HANDLE, or the status with which opening a capture failed. */
PDH_STATUS source_open(struct pdh_from from, enum source_use use, struct data_source **ret);
void source_close(struct data_source *source); /* does nothing if `source` is NULL */
static inline void source_auto_close(struct data_source **source)
{
    source_close(*source);
}
#define SOURCE_AUTO __attribute__((cleanup(source_auto_close))) struct data_source

/* Open the two kinds of source. PDH_DATA_SOURCE_IS_REAL_TIME: `from` is live data. */
PDH_STATUS log_source_open(struct pdh_from from, enum source_use use, struct data_source **ret);
PDH_STATUS live_source_open(struct data_source **ret);
/* True if a name has this title number on this machine, in any language. */
bool live_is_numbered(const char *name, uint32_t number);

/* True if the status means an unknown name, which may be a name that another agent uses. */
static inline bool is_unknown_name(PDH_STATUS status)
{
    return status == (PDH_STATUS)PDH_CSTATUS_NO_OBJECT ||
           status == (PDH_STATUS)PDH_CSTATUS_NO_COUNTER;
}

#endif
