/* SPDX-License-Identifier: MIT */
/*
 * Private to pdh: what can be sampled, live or in a capture, by name. An object info describes one
 * object of one machine with its counters and the instances that it had at one moment; it never
 * changes, and is freed when its last user releases it.
 */
#ifndef OPL_PDH_SOURCE_H
#define OPL_PDH_SOURCE_H

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
    struct object_info_priv *priv; /* private to source.c */
};
void object_info_unref(struct object_info *info); /* NULL is fine */
static inline void object_info_auto_unref(struct object_info **info)
{
    object_info_unref(*info);
}
#define OBJECT_INFO_AUTO __attribute__((cleanup(object_info_auto_unref))) struct object_info

/* The counter of that name: in the user's language, English, a number, any installed language; only
 * English if `english`. NULL: there is none. */
const struct counter_info *object_info_find_counter(const struct object_info *info,
                                                    const char *name, bool english);

/* Does a name of the object, or of its counter, match a pattern at one stage? At STAGE_USER the
 * name that is shown; captures have no others. Without title, or hidden: no match. */
bool object_info_fits(const struct object_info *info, enum title_stage stage, const char *pattern);
bool object_info_counter_fits(const struct object_info *info, const struct counter_info *counter,
                              enum title_stage stage, const char *pattern);

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

/* All objects of a machine (NULL: this one, or the capture's only one). INFO_STABLE or INFO_NOW.
 * PDH_CSTATUS_NO_MACHINE. */
PDH_STATUS source_list_objects(struct pdh_from from, const char *machine, enum info_age age,
                               struct object_infos *ret);
/* One object by its name, found like counters. PDH_CSTATUS_NO_MACHINE, PDH_CSTATUS_NO_OBJECT. */
PDH_STATUS source_object(struct pdh_from from, const char *machine, const char *object,
                         bool english, enum info_age age, struct object_info **ret);
/* Appends the machine's name with its \\, as paths show it. PDH_CSTATUS_NO_MACHINE. */
PDH_STATUS source_machine(struct pdh_from from, const char *machine, struct buffer *ret);
/* The machines of a capture, or all that were connected, as a multi-string. */
PDH_STATUS source_machines(struct pdh_from from, struct buffer *ret);

/* ---- live data only: titles and their numbers ---- */
/* Appends the title in the user's language. PDH_STRING_NOT_FOUND. */
PDH_STATUS source_title(const char *machine, uint32_t index, struct buffer *ret);
/* The lowest number of a title: in the user's language, English, any installed one. */
PDH_STATUS source_index(const char *machine, const char *title, uint32_t *ret);
/* Appends an explanation; nothing if there is none. */
PDH_STATUS source_explain(const char *machine, uint32_t help, struct buffer *ret);

#endif
