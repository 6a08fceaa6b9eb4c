/* SPDX-License-Identifier: MIT */
/*
 * The model of what perfmon shows; it has no user interface.
 *
 * source   this machine, another machine or a capture: one PDH query, sampled by one thread
 *
 * table    what is watched: the counters of one object (columns) for all instances that match
 *          (rows)
 *
 * series   the history of one row and one column
 *
 * Each source has a sampler thread, and only that thread calls PDH for the source. The thread hands
 * over samples that do not change afterwards. All functions below are for one other thread, the one
 * that draws; none of them waits for a sampler, so that a provider or a machine that does not
 * answer never stops the drawing.
 */
#ifndef OPL_TOOLS_MODEL_H
#define OPL_TOOLS_MODEL_H

#include <pdh.h>
#include <pdhmsg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- what a sample contains ---- */

struct cell {
    double number; /* the value; NaN: no value, and `status` has the reason */
    DWORD status;  /* PDH_CSTATUS_ */
};

struct row {
    const char *name; /* the instance, as PDH names it; "" for an object without instances */
    /* hash that identifies the instance: of a process or thread its name, id and start; else its
     * name, and the order among equal names */
    uint64_t identity;
    const struct history *history; /* NULL: the table keeps no histories */
};

struct column {
    char *path; /* the path that was given to model_add_table, without MODEL_RAW */
    /* result of PdhAddCounter; after a failure it is tried again after 5 s, then at longer
     * intervals */
    PDH_STATUS status;
    DWORD type;  /* 0 until the counter was found */
    DWORD index; /* index of the counter's title on this machine; 0: not known */
    /* the cells are raw values: MODEL_RAW was given, or PDH has no formula for the type */
    bool raw;
    LONG default_scale;
    char *explain; /* NULL: no explanation, or not found yet */
    char *why;     /* why the object does not answer (model_want); NULL: not known */
};

struct table {
    unsigned id, source;
    bool text; /* this is a table of texts */
    size_t column_count, row_count;
    struct column *columns;
    const struct row *rows; /* rows of the newest sample, in its order */
    /* cells of the rows, row after row; NULL: a table of texts, or no sample yet. While samples of
     * a machine fail (MODEL_AWAY), they have no values */
    const struct cell *cells;
    /* texts of a table of texts, row after row; an element NULL: no text */
    const char *const *texts;
    uint64_t tick; /* number of the newest sample; 0: no sample yet */
    /* when the newest sample and the one before it were taken, in seconds of a clock that is
     * never set (of a capture: in its own time, but of its texts 0); NaN: not known */
    double at, at_before;
    /* number of values that entered no history, because there were too many rows */
    uint64_t forgotten;
};

/* ---- histories ---- */

/* One row's values. Ticks between `born` and `seen` without a value are gaps. */
struct history {
    char *name;
    uint64_t identity, born, seen; /* the first and the last tick in which the row existed */
    uint64_t number;               /* number of histories that the table had before this one */
    /* number of ticks that share a value, more than 1 in long captures only */
    uint32_t step;
    struct series *series; /* one series for each column */
};

/* Summary of a column's values in consecutive ticks. */
struct span {
    double least, most, average, last; /* NaN: no value; the history has them as float */
};

/* ---- the model ---- */

struct model;
enum model_state {
    MODEL_STARTING, /* no sample yet */
    MODEL_GOOD,
    MODEL_AWAY,    /* the last sample failed; the sampler tries again, which may take long */
    MODEL_SILENT,  /* no sample for more than two intervals: something does not answer */
    MODEL_COMPLETE /* a capture was read to its end, or its values at one time */
};
/* What the captures of a set have at the time that is shown. */
enum moment_kind {
    MOMENT_SAMPLE,  /* a sample */
    MOMENT_BEFORE,  /* no samples yet: the first one is at `to` */
    MOMENT_AFTER,   /* no more samples: the last one is at `from` */
    MOMENT_STOPPED, /* no samples from `from` to `to`: the machine ran, but not the set */
    MOMENT_OFF, /* no samples from `from` to `to`, because the machine was off; its start: `boot` */
    MOMENT_GAP, /* no samples from `from` to `to`; the reason is unknown */
    MOMENT_CLOCK,    /* the clock was set by `seconds` between `from` and `to` */
    MOMENT_NO_BIRTH, /* the search for the next process that began found none */
    MOMENT_NO_GAP    /* the search for the next gap found none */
};
struct moment {
    enum moment_kind kind;
    int64_t from, to, boot; /* like model_source.time */
    double seconds;
};
struct model_source {
    const char *name;    /* the machine or the files; "" for this machine */
    const char *machine; /* the machine in paths; "": this machine, or any machine of a capture */
    bool capture;
    enum model_state state;
    PDH_STATUS status; /* status of the last sample, or why there is no sample */
    /* lines about what could not be read or shown of a capture, valid until model_update; NULL:
     * none */
    const char *loss;
    uint64_t tick; /* number of the newest sample, from 1 */
    int64_t time;  /* time of the newest sample, UTC, in 100 ns since 1601 */
    double cost;   /* seconds that the newest sample took */
    /* `at`: this is a set at one time, and `time` is that time, even if there is no sample */
    bool at, going; /* going: another time is being searched */
    struct moment moment;
    /* number of samples that were dropped, because they were not taken over in time */
    uint64_t dropped;
};

/* Makes a model. `seconds`: the interval between samples of a machine. NULL: no memory. */
struct model *model_new(double seconds);
/* Ends the samplers and frees the model. The memory of a sampler that does not end within a second
 * is not freed. */
void model_free(struct model *model);
/* Returns a descriptor that is readable while samples wait for model_update. */
int model_descriptor(const struct model *model);
/* Adds a source and returns its number, from 0; -1: no memory or no thread. `machine`: for paths
 * without a machine; NULL: this machine, or in a capture the one that PDH chooses. `files`: as for
 * PdhOpenQuery. */
int model_add_machine(struct model *model, const char *machine);
int model_add_capture(struct model *model, const char *files, const char *machine);
/* Adds a set of logman, whose captures are shown at one time like a live machine. `time`: that
 * time, local, in 100 ns since 1601. */
int model_add_set(struct model *model, const char *name, int64_t time);
enum model_go {
    GO_TO,     /* to a time in UTC, like model_source.time */
    GO_SAMPLE, /* by `by` samples; below 0: to earlier ones */
    GO_BY,     /* by `by` seconds */
    GO_BIRTH,  /* to the next sample with a process that began after the sample before it */
    GO_GAP     /* to the next gap between samples, or after the clock was set */
};
void model_go(struct model *model, size_t source, enum model_go how, int64_t by);
/* Adds lines to the source's `loss`. Must be called before the first model_update. */
void model_add_loss(struct model *model, size_t source, const char *text);
void model_source(const struct model *model, size_t source, struct model_source *ret);
/* Watches the counters of these paths (without machine; instances with PDH's wildcards), which must
 * have the same object and the same instances. A path that begins with MODEL_RAW gives raw values.
 * Returns the table's number, above 0; 0: no memory. With `history`, series are kept for every row
 * and column. */
#define MODEL_RAW "="
unsigned model_add_table(struct model *model, size_t source, const char *const *paths, size_t count,
                         bool history);
/* Watches text counters, for which PDH has no values. Texts change seldom and may be expensive, so
 * a sample is taken every MODEL_TEXT_SECONDS; already about MODEL_TEXT_WANTED seconds after the
 * last one if model_want was called since. Of thousands of processes they are read less often, so
 * that they take at most 0.2 % of a processor (if they are wanted, 3 %), but at least every
 * MODEL_TEXT_MOST seconds. Returns the table's number, as model_add_table does. */
enum { MODEL_TEXT_SECONDS = 10, MODEL_TEXT_WANTED = 1, MODEL_TEXT_MOST = 30 };
unsigned model_add_texts(struct model *model, size_t source, const char *const *paths,
                         size_t count);
/* For a table of numbers: asks why it has no rows. What is recorded of this machine's provider is
 * then read every few seconds, until there are rows. */
void model_want(struct model *model, unsigned table);
void model_remove_table(struct model *model, unsigned table);
/* From now on keeps the raw values of a machine's tables with histories as a BLG, in at most
 * MODEL_KEPT bytes of memory, of which the oldest are replaced. Must be called before the first
 * model_update. False: no memory. */
enum { MODEL_KEPT = 16 << 20 };
bool model_keep(struct model *model, size_t source);
/* Copies that BLG to a file. False: there are no samples, or the file has no space. */
bool model_kept(const struct model *model, size_t source, int file);
/* With `rest` the table is not sampled any more and has no counters in the query, which saves time
 * while the table is not shown. */
void model_rest(struct model *model, unsigned table, bool rest);
void model_set_seconds(struct model *model, double seconds);
/* While the model is paused, model_update takes no samples over, and machines are not sampled. */
void model_pause(struct model *model, bool paused);
/* Takes over the samples that wait; returns how many. Pointers to earlier rows and cells become
 * invalid. The first call starts the sampling, so that all tables added before it are in the first
 * sample. */
size_t model_update(struct model *model);
/* Returns the table with this number; NULL: there is no such table. */
const struct table *model_table(const struct model *model, unsigned table);
/* Returns the position of the row with this name; `count`: there is none. Samples of one object
 * have the same order, but may lack some rows, so the search begins at *at, which becomes the
 * position after the row. */
size_t rows_find(const struct row *rows, size_t count, const char *name, size_t *at);
/* Returns the texts of the row with this name in a table of texts; NULL: none. `table` may be
 * NULL. `at`: as for rows_find. */
const char *const *table_texts(const struct table *table, const char *name, size_t *at);
/* Returns the position of the row with this identity in the newest sample; (size_t)-1: none. */
size_t table_row(const struct table *table, uint64_t identity);
static inline const struct cell *table_cell(const struct table *table, size_t row, size_t column)
{
    return &table->cells[row * table->column_count + column];
}

/* Returns all histories of a table, also of rows that are gone but were seen in the last hour: an
 * array in no particular order, in which some elements are NULL. The array is valid until the next
 * model_update. */
const struct history *const *model_histories(const struct model *model, unsigned table,
                                             size_t *ret_count);
/* Returns the time of a tick, like model_source.time; 0: unknown. */
int64_t model_time(const struct model *model, size_t source, uint64_t tick);
/* Returns the tick of the source whose time is next to `time`; 0: it has none. */
uint64_t model_tick(const struct model *model, size_t source, int64_t time);
/* Summarizes the values of the ticks from `from` up to but without `to`. Of older ticks only the
 * average, minimum and maximum of MODEL_COARSE ticks together are known. */
enum { MODEL_FINE = 300, MODEL_COARSE = 10, MODEL_COARSE_COUNT = 360 };
void model_span(const struct history *history, size_t column, uint64_t from, uint64_t to,
                struct span *ret);

/* Returns the power of ten by which values are multiplied to be drawn: the default scale if it
 * brings `most` between 1 and 102, else the scale that brings `most` between 10 and 100. */
int model_scale(LONG default_scale, double most);
/* Returns the monotonic time in seconds. */
double model_now(void);
/* Continues the hash `sum` with these bytes; a hash begins with MODEL_HASH. */
#define MODEL_HASH UINT64_C(0xcbf29ce484222325)
uint64_t model_hash(uint64_t sum, const void *data, size_t size);
/* True if PDH has no formula for this type; texts have such types, too. */
bool model_type_is_raw(DWORD type);

/* The parts of a path, and their texts. */
struct path_parts {
    PDH_COUNTER_PATH_ELEMENTS_A path;
    char texts[2 * PDH_MAX_COUNTER_PATH];
};
bool model_path_parts(const char *path, struct path_parts *ret); /* false: it is no path */

#endif
