/* SPDX-License-Identifier: MIT */
/* What the drawing side and the sampler threads of the model share. */
#ifndef OPL_TOOLS_MODEL_INTERNAL_H
#define OPL_TOOLS_MODEL_INTERNAL_H

#include "model.h"

#include <pthread.h>

/* ---- one sample ---- */

struct table_sample {
    struct spec *spec;
    size_t row_count;
    struct row *rows;
    struct cell *cells;
    const char **texts; /* the texts of a table of texts, in place of cells */
    char *names;        /* memory of the rows' names and of the texts */
};
struct frame {
    struct frame *next;
    struct source *source;
    uint64_t tick;
    int64_t time;
    double begun; /* when the sample was begun, like model_now */
    double cost;
    PDH_STATUS status;
    bool texts;           /* the frame has only tables of texts */
    bool complete;        /* the capture has no more samples */
    bool again;           /* the capture has other samples now: what was read before is forgotten */
    struct moment moment; /* for a set that is shown at one time */
    char *loss;           /* of a complete capture: see struct model_source; the frame owns it */
    size_t count;
    struct table_sample tables[];
};

/* ---- a table, as the sampler sees it ---- */

struct counters; /* handles and buffers of the sampler */
struct spec {
    struct spec *next;
    /* resting: not sampled for now; wanted: the texts, or for a table of numbers the reason why it
     * has no rows, are read soon */
    bool removed, resting, wanted; /* from `removed` to `news`: guarded by the source's mutex */
    struct column *news; /* changed columns; NULL: the columns are as the drawing side has them */
    /* the next members are for the sampler */
    struct column *found;
    size_t column_count;
    struct counters *counters;
    bool rests; /* value of `resting` when the sampler last read it */
    bool read;  /* the capture was read for this table */
    bool text;  /* a table of texts */
    /* when the table's last sample of texts was taken, and the processor time that it took, in
     * seconds */
    double text_sample, text_cost;
    /* the next members are for the drawing side */
    struct table table;
    bool history;
    struct table_sample newest;
    struct history **histories; /* hash table of histories by identity, with `capacity` places */
    size_t capacity, used;
    uint64_t made;     /* number of histories that were ever made */
    uint64_t rehashed; /* tick at which the hash table was last made */
};

struct source {
    struct model *model;
    char *name;
    char *machine; /* "": paths have no machine before them */
    bool capture;
    bool at; /* a set that is shown at one time; its histories are as long as those of a machine */
    size_t number;
    pthread_t thread;
    /* guards the members below; never held during a call of PDH */
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    struct spec *specs;
    bool changed, stop, paused, ended;
    enum model_go go; /* the user's last request to go to another time */
    int64_t by;
    bool goes, going;        /* goes: the request is new; going: it is being carried out */
    bool released;           /* the first model_update was called */
    int kept;                /* model_keep: the file in memory; -1: none */
    pthread_mutex_t keeping; /* guards the content of `kept`; held for short writes only */
    double seconds;
    struct frame *first, *last;
    size_t waiting;
    uint64_t dropped;
    /* tables that were removed, and that the sampler does not use any more */
    struct spec *finished;
    double begun;               /* when the present sample was begun; 0: none is being taken */
    struct model_source newest; /* for the drawing side: the state after the newest frame */
    char *loss;                 /* memory of newest.loss */
    /* the times of ticks, for the drawing side; for a capture they are made before its first
     * sample */
    int64_t *times;
    size_t time_count;
    uint32_t step; /* number of ticks of a capture that share a place in a series */
};

/* True for a capture that is read from its beginning to its end. */
static inline bool source_is_whole(const struct source *source)
{
    return source->capture && !source->at;
}

struct model {
    struct source **sources;
    size_t source_count;
    unsigned last_table;
    int descriptor;
    double seconds;
    bool paused;
};

/* ---- sampler.c ---- */
/* An array of items that PDH returned, in memory that is reused for the next array. */
struct items {
    void *data;
    DWORD capacity, count;
};
struct sampler {
    struct source *source;
    PDH_HQUERY query;
    struct spec **specs;
    size_t count;
    uint64_t tick;
    double begun; /* when the last sample was begun, after new counters were added */
    bool sampled; /* at least one sample was taken */
    /* what could not be read or shown of a capture (NULL: nothing), and the status of damage (0:
     * none) */
    char *loss;
    char *given;   /* the part of `loss` that was known before the capture was read */
    char *unshown; /* lines about data that the last reading to the end did not show */
    PDH_STATUS damage;
    int damaged; /* number of damaged places in the capture in this reading */
    /* of a capture: the number of samples that all tables have (UINT64_MAX: none was read), and the
     * time of the last of them */
    uint64_t end;
    int64_t end_time;
    struct timespec modified; /* when the capture was last written, as is_written has seen it */
    struct items values;
    PDH_HLOG kept; /* writes source->kept; NULL: no sample yet */
};
enum { SECOND = 10000000 };
bool items_read_raw(struct items *items, PDH_HCOUNTER counter);
PDH_STATUS add_path(struct sampler *sampler, const char *path, PDH_HCOUNTER *ret);
struct counters *counters_new(size_t columns);
void add_counters(struct sampler *sampler, struct spec *spec);
void remove_counters(struct spec *spec);
/* Converts local time to UTC. A capture has the local time of the place where it was recorded,
 * which is treated as this machine's local time. */
int64_t utc_of_local(LONGLONG local);
LONGLONG local_of_utc(int64_t utc);
/* Takes a sample of `specs`. If no table has a counter, nothing is collected: a machine's tables
 * have no rows then, a capture's frame has a status that says "no data". NULL: no memory. */
struct frame *sample_frame(struct sampler *sampler, struct spec **specs, size_t count);
struct frame *empty_frame(struct source *source, PDH_STATUS status, bool complete);
/* Hands a sample over to the drawing side. If too many samples wait, a machine's oldest sample is
 * dropped and counted, but the sampler of a capture waits. False: the sampler must end. */
bool hand_over(struct source *source, struct frame *frame);
/* Makes the list of the tables to sample, not of resting or removed ones. True: some were added. */
bool take_changes(struct sampler *sampler);
/* True if tables were added or removed, the user goes to another time, or the sampler must end. */
bool is_changed(struct source *source);
/* Waits until `due` or until something changes; for a paused machine, until the pause ends; for a
 * set at one time, only for a change. False: the sampler must end. */
bool wait_until(struct source *source, double due);
/* After a failed call of PDH: keeps the texts about what PDH could not read or show. */
void note_loss(struct sampler *sampler, PDH_STATUS status);
/* Takes the texts of a machine that are due, or those of a capture's last sample, in a frame of
 * their own, because the numbers must not wait for them. NULL: there are none, or no memory. */
struct frame *take_texts(struct sampler *sampler, struct spec **specs, size_t count);
/* ---- moment.c: a set at one time ---- */
void run_moment(struct sampler *sampler);

/* ---- model.c, sampler.c, texts.c ---- */
/* returns a copy; NULL: no memory */
struct column *columns_copy(const struct column *columns, size_t count);
void columns_free(struct column *columns, size_t count);
/* Adds those lines of `text` that *loss lacks, because several tables may lose the same samples. */
void add_loss(char **loss, const char *text);
void *sampler_run(void *source);
/* Writes the path with the source's machine before it. */
void full_path(const struct source *source, const char *path, char *ret, size_t capacity);
uint64_t identity_of_name(const char *name);
/* If this is a worker of the kernel, returns the length of that part of its name that stays; the
 * rest is its present work, which may be another one in each sample ("kworker_0:1-events",
 * "kworker_0:1-rcu_gp"). 0: it is another process. */
size_t worker_length(const char *name);
/* Takes a sample of a table of texts. False: no memory. */
bool sample_texts(const struct source *source, struct spec *spec, struct table_sample *sample);
/* Like sample_texts, from the newest sample of a query on captures. `counters`: one for each
 * column; an element NULL: none. */
bool recorded_texts(struct spec *spec, PDH_HCOUNTER const *counters, struct table_sample *sample);
void frame_free(struct frame *frame);
void table_sample_free(struct table_sample *sample);

/* ---- recorded.c: lists of a set for the catalogue, to be freed; NULL: no memory ---- */
/* Returns the paths of the set's counters, with "*" for the instances that samples have. */
char *recorded_paths(const char *set);
char *recorded_objects(const char *paths);
/* Returns the counters of the object, and its instances at a local time. */
PDH_STATUS recorded_lists(const char *paths, const char *set, LONGLONG time, const char *object,
                          char **ret_counters, char **ret_instances, bool *ret_single);

/* ---- histories ---- */

struct series {
    float *fine; /* values of the last ticks, at tick % MODEL_FINE */
    /* older values, in groups of ticks; NULL: all of them are `level` (NaN: unknown) */
    struct coarse *coarse;
    float level;
    /* of a capture: all values since the row was born, in place of `fine` and `coarse` */
    float *capture;
    size_t capacity; /* number of places in `capture` */
};
/* Adds the sample's values to the histories of its table; forgets rows that were not seen for as
 * long as histories reach. False: no memory. */
bool history_add(struct source *source, struct spec *spec, uint64_t tick);
void histories_free(struct spec *spec);

#endif
