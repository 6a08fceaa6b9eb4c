/* SPDX-License-Identifier: MIT */
/*
 * Private to pdh: queries, their counters and samples.
 *
 * A thread that changes a query's counters, or collects, holds the query's claim. A thread that
 * reads or writes values holds the query's lock, which is never held while a machine is queried. A
 * function that uses a handle adds a reference to the query or counter until it returns.
 */
#ifndef OPL_PDH_QUERY_H
#define OPL_PDH_QUERY_H

#include "pdh/snapshot.h"
#include "pdh/source.h"

#include <pthread.h>

/* The value of one instance of a counter at one collection. */
struct sample {
    PDH_RAW_COUNTER raw;
    uint64_t identity; /* number that identifies the instance; 0: only the name identifies it */
};

/* An instance that matches a wildcard counter. */
struct sample_item {
    uint64_t hash, identity; /* identity: as in struct sample */
    uint32_t name, length;   /* position and length of "parent/name" in the set's `names` */
    uint32_t number;
    bool has_text; /* of a text counter: its text follows the name in `names` */
};
struct item_set {
    uint32_t references; /* number of sample sets that have it */
    struct sample_item *items;
    uint32_t count;
    size_t capacity;
    struct buffer names;
    size_t wide_bytes; /* bytes of all names in UTF-16, each with its NUL; 0: not counted yet */
    /* hash table: position of an item + 1; 0: none. The table is built when first needed */
    uint32_t *table;
    uint32_t table_capacity;
    bool table_made;
};
/* The samples of a wildcard counter at one collection, in the order of the items. Counters with the
 * same instances share one set of items, and so do collections; it does not change then. */
struct sample_set {
    struct item_set *items; /* may have more items than there are samples; NULL: no samples */
    /* Of struct sample if `whole`, else of LONGLONG: the first value is the part that each instance
     * has for itself; the rest, such as status and time, is usually the same for all. */
    struct buffer samples;
    struct sample common; /* what the first values lack */
    bool whole;           /* the samples differ in more than the first value */
    uint32_t count;
};

/* The name and number of an instance. A counter has two keys if "a#2" may be a name, or "a" and a
 * number. */
struct instance_key {
    const char *name;
    size_t length;
    uint64_t hash;
    uint32_t number;
};

/* A source adds members of its own behind these (source_ops.counter_size). */
struct counter {
    struct pdh_query *query;
    uintptr_t handle;
    uint32_t references;
    DWORD_PTR user;
    struct pdh_path path;
    char *object_name, *counter_name; /* names in the user's language; NULL: those of the path */
    bool english;
    bool wild;
    struct instance_key keys[2];
    unsigned key_count;
    uint32_t object, title, help; /* title numbers; 0: unknown */
    uint32_t position; /* where the value was in the newest answer, or the newest array */
    bool absent;       /* the newest sample is of a file that lacks the counter */
    DWORD type;
    LONGLONG time_base;
    LONG default_scale;

    /* the members below are guarded by the query's lock */
    LONG scale;
    struct sample newest, before;
    /* The newest set is sets[turn]; the other may be empty. That of a text counter has its texts,
     * also if the counter is no wildcard; they are no values, so their status is invalid data. */
    struct sample_set sets[2];
    unsigned turn;
    unsigned collected; /* number of samples, at most 2 */
    bool comparable;    /* no clock was set between the two samples */
    bool closed;
};

struct pdh_query {
    uintptr_t handle;
    uint32_t references;
    DWORD_PTR user;
    struct claim claim;
    pthread_mutex_t lock;
    struct data_source *source;
    struct counter **counters;
    uint32_t counter_count;
    size_t counter_capacity;
    bool changed; /* a counter was added or removed since the last collection */
    bool closed;
    struct query_thread *thread;
};

/* ---- query.c ---- */
void query_let_go(struct pdh_query *query);
/* Returns the query with its claim and one more reference. NULL: not a handle of a query, or the
 * query was closed meanwhile. */
struct pdh_query *query_claim(PDH_HQUERY handle);
void query_unclaim(struct pdh_query *query);

/* ---- counter.c ---- */
/* Returns the counter, with its query's lock held until counter_unlock. NULL: not a handle of a
 * counter. */
struct counter *counter_lock(PDH_HCOUNTER handle);
void counter_unlock(struct counter *counter);
void counter_free(struct counter *counter); /* the counter's handle must be closed before */
void counter_forget_handle(struct counter *counter);
/* Appends the whole path with its machine. The caller holds the query's claim or lock. */
void counter_full_path(struct counter *counter, struct buffer *ret);
/* Sets `wild`, `keys` and `key_count` from the path. */
void counter_take_keys(struct counter *counter);

/* ---- sample.c ---- */
/* Makes a sample without a value; it has only the local time and a status. */
struct sample sample_at(int64_t time, DWORD cstatus);
/* Adds a sample, which replaces the older of the two; `steady`: no clock was set since the last
 * one. The caller holds the query's lock. */
void counter_sampled(struct counter *counter, const struct sample *sample, bool steady);
/* Returns an empty set for the next sample; sample_add adds to it, counter_sampled_set completes
 * it. */
struct sample_set *counter_next_set(struct counter *counter);
void counter_sampled_set(struct counter *counter, bool steady);

/* Stores the value of a counter with one instance; CStatus PDH_CSTATUS_NO_INSTANCE: the answer
 * lacks the instance. */
void sample_one(struct counter *counter, struct snapshot *snapshot,
                const struct snapshot_object *object, const opl_counter_view *definition,
                struct sample *ret);
/* Adds the values of all matching instances to the next set, each with the time and status of
 * `empty`. `like`: a counter that was sampled from the same answer, with the same instances; NULL:
 * none. */
void sample_all(struct counter *counter, struct snapshot *snapshot,
                const struct snapshot_object *object, const opl_counter_view *definition,
                const struct sample *empty, const struct counter *like);

void item_set_clear(struct item_set *set);
/* Adds an item. Returns false if there is no memory. The name in `key` must end with a NUL. */
bool item_add(struct item_set *set, const struct instance_key *key);
/* Adds an item and its sample. Returns false if there is no memory. */
bool sample_add(struct sample_set *set, const struct instance_key *key,
                const struct sample *sample);
/* Returns the set's own items, to which items may be added; NULL: no memory. */
struct item_set *sample_set_items(struct sample_set *set);
/* Adds a sample of the next item. Returns false if there is no memory. */
bool sample_set_push(struct sample_set *set, const struct sample *sample);
struct sample sample_set_at(const struct sample_set *set, uint32_t at);
void sample_set_done(struct sample_set *set);
/* Returns the item's text; NULL: it has none. */
const char *item_text(const struct item_set *set, const struct sample_item *item);
void item_set_done(struct item_set *set);
/* Finds an instance in a set; NULL: the set lacks the instance. `hint`: its probable position. */
const struct sample_item *item_find_key(struct item_set *set, const struct instance_key *key,
                                        uint32_t hint);
/* Returns the position of the instance's sample; set->count: the set lacks the instance. `hint`: as
 * for item_find_key. */
uint32_t sample_find(const struct sample_set *set, const struct instance_key *key, uint32_t hint);
/* Computes the value of the instance at this position of the newest set. */
PDH_STATUS cook_item(const struct counter *counter, uint32_t at, DWORD format,
                     PDH_FMT_COUNTERVALUE *ret);
struct instance_key item_key(const char *name, uint32_t number);
/* Returns how many items have the key's name. The number in the key must be 0. */
uint32_t item_set_number(struct item_set *set, struct instance_key key);
/* Adds an item with the next number of its name, and stores its key. *like: a set that probably
 * begins with the same names, which then have the same numbers; it becomes NULL at the first name
 * that differs. Returns false if there is no memory. */
bool item_add_name(struct item_set *set, const char *name, const struct item_set **like,
                   struct instance_key *ret);

/* ---- value.c ---- */
/* Computes a value from the newest two samples of an instance. `before` NULL: there is only one
 * sample. */
PDH_STATUS cook_samples(const struct counter *counter, DWORD format, const struct sample *newest,
                        const struct sample *before, bool comparable, PDH_FMT_COUNTERVALUE *ret);

#endif
