/* SPDX-License-Identifier: MIT */
/* Private to pdh: captures behind handles, and captures that queries and lists read. */
#ifndef OPL_PDH_CAPTURE_H
#define OPL_PDH_CAPTURE_H

#include "log/log.h"
#include "pdh/query.h"

/* A column's content, parsed at most once a sample: a whole block, or an array. */
struct capture_block {
    struct snapshot snapshot;
    uint64_t sample; /* the sample that was parsed */
    PDH_STATUS status;
    struct item_set items; /* positions of names in the array */
    uint64_t items_sample;
};

/* The result of a scan of a whole capture: objects that are only visible in samples. */
struct object_scan;
void object_scan_free(struct object_scan *scan); /* NULL is fine */

/* A capture as a source, with a position in it. */
struct log_source {
    struct data_source base;
    char *file; /* base.from.file */
    struct log *log;
    struct capture *owner; /* the log is returned to it when the source is closed */
    struct object_scan *scan;
    struct log_losses losses; /* of an expansion: shown when the source is closed */
    bool limited;             /* columns that are not needed are skipped */
    uint64_t samples;
    /* hash table of columns by object and counter: index + 1 of a bucket's first column, and of the
     * next column in the same bucket; 0: none */
    uint32_t *first_column, *next_column;
    size_t indexed, places;
    struct item_set numbering;    /* all items of a column, to count equal names */
    struct capture_block *blocks; /* one for each column, allocated when needed */
    size_t block_count;
};
static inline struct log_source *log_source_of(const struct counter *counter)
{
    return (struct log_source *)counter->query->source;
}
/* Does the column stand for instances that are only visible in samples? */
bool column_is_open(const struct log_column *column);
/* The block of a column in the newest sample; NULL: it is damaged. */
struct snapshot *log_source_block(struct log_source *source, size_t column,
                                  const struct log_value *value);

/* ---- problem.c: the text of opl_capture_problem, for this thread ---- */
void problem_clear(void);
void problem_note(const char *text); /* NULL: nothing */
/* Adds to the result of opl_capture_unshown; problem_losses replaces it. */
void problem_lose(const struct log_losses *losses);
void problem_losses(const struct log_losses *losses);

/* ---- writer.c: a query's values, as text ---- */
struct capture_writer;
PDH_STATUS writer_open(const struct capture_options *options, DWORD type,
                       struct capture_writer **ret);
/* Collects the query and writes a line. */
PDH_STATUS writer_update(struct capture_writer *writer, const char *user_string);
PDH_STATUS writer_close(struct capture_writer *writer); /* NULL is fine */
PDH_HQUERY writer_query(const struct capture_writer *writer);
uint64_t writer_bytes(const struct capture_writer *writer);
/* Of the lines that this writer wrote, in their order. */
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
PDH_STATUS log_source_expand(struct data_source *source, const struct pdh_path *path,
                             struct buffer *ret);
PDH_STATUS log_source_resolve(struct counter *counter);
const char *log_source_machine(const struct counter *counter);
PDH_STATUS log_source_collect(struct pdh_query *query, LONGLONG *ret_time);

/* An object's description, without a note of what it lacks. PDH_CSTATUS_NO_OBJECT. */
PDH_STATUS log_source_info(struct log_source *source, const char *machine, const char *object,
                           struct object_info **ret);
/* Resolves a number by this machine's titles: most captures contain none. */
bool capture_is_named(const char *wanted, const char *name);

#endif
