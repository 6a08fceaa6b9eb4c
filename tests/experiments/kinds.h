/* SPDX-License-Identifier: MIT */
/* The table of everything that a provider does wrong, and what must become of it. */
#ifndef OPL_EXPERIMENTS_KINDS_H
#define OPL_EXPERIMENTS_KINDS_H

#include <stddef.h>

#include "lab.h"

enum { NOT_RUN, KEPT, DROPPED, EITHER };

/* Events beside the numbers of docs/windows/providers.md#d5. */
enum { NONE = 0, SOME = 1, WHATEVER = 2 };

/* At one test level: is its data delivered, and which event tells about it (or which else)? EITHER
 * leaves that to chance, or to the documents' silence; the caller must be well all the same. */
struct outcome {
    unsigned char kept;
    unsigned short event, or_event;
};

enum {
    DISABLES = 1,    /* Disable Performance Counters is 1 at once, where it was dropped */
    REFUSED = 2,     /* what it tried was refused: the notes say so, and never "allowed" */
    SOUND = 4,       /* asked 30 times, what is delivered is whole, and stays as it was delivered */
    HANGS = 8,       /* its deadline is 100 ms */
    HANGS_LONG = 16, /* its deadline is 2 s, and no later query waits for it again */
    AT_CLOSE = 32,   /* its event comes when the key is closed */
    CPP = 64,        /* built only where there is a C++ compiler */
    CHILDREN = 128,  /* Children = 1 */
};

struct kind {
    const char *name;     /* the Collect procedure, unless `collect` says another */
    const char *what;     /* "Collect ..." as a sentence of documentation */
    struct outcome at[4]; /* ExtCounterTestLevel 1 to 4; level 4 in-process only */
    int flags;
    const char *open, *collect, *close; /* NULL: the right ones */
    const char *library;                /* NULL: that of its table */
};

struct kind_table {
    const char *title, *library, *prefix; /* prefix of the Collect procedure's name */
    int in_process;                       /* asked in-process too? */
    const struct kind *kinds;
    size_t count;
};

extern const struct kind_table kind_tables[];
extern const size_t kind_table_count;

#endif
