/* SPDX-License-Identifier: MIT */
/*
 * Private to pdh: what can be sampled, live or in a capture, by name. An offer describes one object
 * of one machine with its counters and the instances that it had at one moment; it never changes,
 * and is freed when its last user releases it.
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

struct offer_counter {
    const char *name;     /* in the user's language; "" if it has no title */
    uint32_t index, help; /* of its texts; 0 in captures */
    DWORD type, detail;
    LONG scale;
    bool hidden; /* a base: not listed, not found by name */
};
struct offer_instance {
    const char *parent; /* NULL: none */
    const char *name;
    uint32_t number; /* 0 for the first of that parent and name, in the block's order */
};
struct offer {
    const char *name;
    uint32_t index, help;
    DWORD detail;
    bool costly; /* answered to "Costly", not to "Global" */
    bool single; /* never has instances */
    bool bare;   /* of a capture: was seen without instances */
    struct offer_counter *counters;
    uint32_t counter_count, default_counter; /* a position */
    struct offer_instance *instances;        /* in the block's order */
    uint32_t instance_count;
    struct offer_inside *inside; /* private to source.c */
};
void offer_release(struct offer *offer); /* NULL is fine */
static inline void offer_auto_release(struct offer **offer)
{
    offer_release(*offer);
}
#define OFFER_AUTO __attribute__((cleanup(offer_auto_release))) struct offer

/* The counter of that name: in the user's language, English, a number, any installed language; only
 * English if `english`. NULL: there is none. */
const struct offer_counter *offer_find_counter(const struct offer *offer, const char *name,
                                               bool english);

/* Does a name of the object, or of its counter, match a pattern at one stage? At STAGE_USER the
 * name that is shown; captures have no others. Without title, or hidden: no match. */
bool offer_fits(const struct offer *offer, enum title_stage stage, const char *pattern);
bool offer_counter_fits(const struct offer *offer, const struct offer_counter *counter,
                        enum title_stage stage, const char *pattern);

/* How old a description may be. Lists stay the same until a refresh is requested
 * (docs/windows/pdh.md#f2). */
enum offer_age {
    OFFER_KEPT,
    OFFER_RECENT, /* one second */
    OFFER_NOW,
    OFFER_RENEWED /* read now, and shown in lists from now on */
};

struct offers {
    struct offer **items;
    size_t count;
    uint32_t default_object; /* title index; 0: the source has none */
};
void offers_done(struct offers *offers);
#define OFFERS_AUTO __attribute__((cleanup(offers_done))) struct offers

/* All objects of a machine (NULL: this one, or the capture's only one). OFFER_KEPT or OFFER_NOW.
 * PDH_CSTATUS_NO_MACHINE. */
PDH_STATUS source_offers(struct pdh_from from, const char *machine, enum offer_age age,
                         struct offers *ret);
/* One object by its name, found like counters. PDH_CSTATUS_NO_MACHINE, PDH_CSTATUS_NO_OBJECT. */
PDH_STATUS source_offer(struct pdh_from from, const char *machine, const char *object, bool english,
                        enum offer_age age, struct offer **ret);
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
