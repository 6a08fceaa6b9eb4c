/* SPDX-License-Identifier: MIT */
/* Private to pdh: handles of captures, and captures as sources of queries and lists. */
#ifndef OPL_PDH_CAPTURE_H
#define OPL_PDH_CAPTURE_H

#include "log/log.h"
#include "pdh/query.h"

/* The parsed content of a column that has a whole block or an array; parsed at most once for each
 * sample. */
struct capture_block {
    struct snapshot snapshot;
    uint64_t sample; /* number of the sample that was parsed last */
    PDH_STATUS status;
    struct item_set items; /* the names in the array, with their positions */
    uint64_t items_sample;
};

/* The objects that are only visible in the samples, found by reading the whole capture. */
struct object_scan;
void object_scan_free(struct object_scan *scan); /* does nothing if `scan` is NULL */

/* A capture as a source. Each source has its own position among the samples. */
struct log_source {
    struct data_source base;
    char *file; /* the memory of base.from.file */
    struct log *log;
    struct capture *owner; /* the capture to which the log is given back at the end; NULL: none */
    struct object_scan *scan;
    /* losses that were found while expanding paths; reported when the source is closed */
    struct log_losses losses;
    bool limited; /* the log skips columns that no counter needs */
    uint64_t samples;
    /* hash table of columns by object, counter and instance: number + 1 of a bucket's first column,
     * and of the next column in the same bucket; 0: none */
    uint32_t *first_column, *next_column;
    size_t indexed, places;
    struct item_set numbering; /* for one column at a time: its items, to count equal names */
    /* while a sample is taken: the set of the wildcard counter before this one */
    const struct item_set *like;
    struct capture_block *blocks; /* one block for each column; allocated when first needed */
    size_t block_count;
};
/* A counter of a capture. */
struct log_member {
    struct counter base;
    uint32_t *columns; /* their numbers */
    uint32_t column_count;
};
static inline struct log_source *log_source_of(const struct counter *counter)
{
    return (struct log_source *)counter->query->source;
}
/* True if the column stands for instances whose names are only in the samples. */
bool column_is_open(const struct log_column *column);
/* True if the column has, or may have in its samples, the path's instance. */
bool column_has_instance(const struct log_column *column, const struct pdh_path *path);
/* Returns the sample of an item of an array. */
struct sample log_item_sample(const struct log_value *value, const struct log_item *item);
/* Parses the column's block of the newest sample. Returns NULL if the block is damaged. */
struct snapshot *log_source_block(struct log_source *source, size_t column,
                                  const struct log_value *value);

/* ---- capture.c: the text of opl_capture_problem, for this thread ---- */
void problem_clear(void);
void problem_note(const char *text); /* records the text; does nothing if `text` is NULL */
/* problem_lose adds to the result of opl_capture_unshown; problem_losses replaces it. */
void problem_lose(const struct log_losses *losses);

/* ---- writer.c: writes a query's values as CSV, TSV or BLG ---- */
struct capture_writer;
PDH_STATUS writer_open(const struct capture_options *options, DWORD type,
                       struct capture_writer **ret);
/* Writes one line or sample: the query's newest values, which were collected at `time`; 0: collects
 * them first. */
PDH_STATUS writer_update(struct capture_writer *writer, LONGLONG time, const char *user_string);
PDH_STATUS writer_close(struct capture_writer *writer); /* does nothing if `writer` is NULL */
PDH_HQUERY writer_query(const struct capture_writer *writer);
uint64_t writer_bytes(const struct capture_writer *writer);
/* Returns the first and last time, and the number, of the lines or samples it has written. */
const struct log_extent *writer_extent(const struct capture_writer *writer);

/* ---- objects.c, expand.c, samples.c: functions of the source ---- */
PDH_STATUS log_source_machines(struct data_source *source, struct buffer *ret);
PDH_STATUS log_source_label(struct data_source *source, const char *machine, struct buffer *ret);
PDH_STATUS log_source_objects(struct data_source *source, const char *machine, enum info_age age,
                              struct object_infos *ret);
PDH_STATUS log_source_object(struct data_source *source, const char *machine, const char *name,
                             bool english, enum info_age age, struct object_info **ret);
const struct counter_info *log_source_counter(const struct object_info *info, const char *name,
                                              bool english);
PDH_STATUS log_source_expand(struct data_source *source, const struct pdh_path *path, bool open,
                             struct buffer *ret);
void log_source_counter_done(struct counter *counter);
PDH_STATUS log_source_resolve(struct counter *counter);
const char *log_source_machine(const struct counter *counter);
PDH_STATUS log_source_collect(struct pdh_query *query, LONGLONG *ret_time);

/* Describes an object, and does not report which parts of it cannot be shown.
 * PDH_CSTATUS_NO_OBJECT: the capture does not have the object. */
PDH_STATUS log_source_info(struct log_source *source, const char *machine, const char *object,
                           struct object_info **ret);
/* True if `name` is the wanted name. If `wanted` is a number, `name` must be a name that has this
 * number on this machine, in any language: most captures do not contain the numbers of names. */
bool capture_is_named(const char *wanted, const char *name);

#endif
