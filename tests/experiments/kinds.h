/* SPDX-License-Identifier: MIT */
/* The table of everything that a provider can do wrong, and of the expected outcomes. */
#ifndef OPL_EXPERIMENTS_KINDS_H
#define OPL_EXPERIMENTS_KINDS_H

#include <stddef.h>

#include "lab.h"

enum { NOT_RUN, KEPT, DROPPED, EITHER };

/* Values of `event` that are no event number: no event, at least one event, or any events. */
enum { NONE = 0, SOME = 1, WHATEVER = 2 };

/* The expected outcome at one test level: is the provider's data kept, and which event, or which
 * other event, is written? EITHER: may be kept or dropped, because it depends on chance or the
 * documents do not say; the querying program must be unharmed in any case. */
struct outcome {
    unsigned char kept;
    unsigned short event, or_event;
};

enum {
    DISABLES = 1, /* the first dropped answer sets Disable Performance Counters to 1 */
    /* what was attempted is refused: the provider notes "refused", never "allowed" */
    REFUSED = 2,
    SOUND = 4,       /* in 30 queries every answer is complete, and does not change later */
    HANGS = 8,       /* the provider does not return; its deadline is 100 ms */
    HANGS_LONG = 16, /* the same, with a deadline of 2 s; no later query waits for it again */
    AT_CLOSE = 32,   /* the event is written when the key is closed */
    CPP = 64,        /* built only where there is a C++ compiler */
    CHILDREN = 128,  /* needs the setting Children = 1 */
};

struct kind {
    const char *name;     /* the Collect procedure's name, unless `collect` has another */
    const char *what;     /* what it does, for the table in the documentation */
    struct outcome at[4]; /* outcomes at test levels 1 to 4; level 4 in-process only */
    int flags;
    const char *open, *collect, *close; /* NULL: correct procedures */
    const char *library;                /* NULL: the library of the kind's table */
};

struct kind_table {
    const char *title, *library, *prefix; /* prefix of the Collect procedure's name */
    int in_process;                       /* run these kinds in-process, too? */
    const struct kind *kinds;
    size_t count;
};

extern const struct kind_table kind_tables[];
extern const size_t kind_table_count;

#endif
