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

/* One reading of a capture: a position in it. */
struct capture_reading {
    struct log *log;
    struct capture *lender; /* gets the log back */
    struct object_scan *scan;
    bool limited; /* columns that are not needed are skipped */
    uint64_t samples;
    /* columns by object and counter: first and next of each hash, as number + 1 */
    uint32_t *first_column, *next_column;
    size_t indexed, places;
    struct item_set numbering;    /* all items of a column, to count equal names */
    struct capture_block *blocks; /* one for each column, allocated when needed */
    size_t block_count;
};
PDH_STATUS reading_open(struct pdh_from from, struct capture_reading **ret);
/* For a short check that reads no samples. */
PDH_STATUS reading_borrow(struct pdh_from from, struct capture_reading **ret);
void reading_close(struct capture_reading *reading);
/* Does the column stand for instances that are only visible in samples? */
bool column_is_open(const struct log_column *column);
/* The block of a column in the newest sample; NULL: it is damaged. */
struct snapshot *reading_block(struct capture_reading *reading, size_t column,
                               const struct log_value *value);

/* ---- problem.c: the text of opl_capture_problem, for this thread ---- */
void problem_clear(void);
void problem_note(const char *text); /* NULL: nothing */
/* Adds to the result of opl_capture_unshown; problem_losses replaces it. */
void problem_lose(const struct log_losses *losses);
void problem_losses(const struct log_losses *losses);

/* Resolves a handle in `from`: its capture may be live data. PDH_INVALID_HANDLE. */
PDH_STATUS capture_resolve_from(struct pdh_from *from);

/* ---- writer.c: a query's values, as text ---- */
struct capture_writer;
PDH_STATUS writer_open(const struct capture_wish *wish, DWORD type, struct capture_writer **ret);
/* Collects the query and writes a line. */
PDH_STATUS writer_update(struct capture_writer *writer, const char *user_string);
PDH_STATUS writer_close(struct capture_writer *writer); /* NULL is fine */
PDH_HQUERY writer_query(const struct capture_writer *writer);
uint64_t writer_bytes(const struct capture_writer *writer);
/* Of the lines that this writer wrote, in their order. */
const struct log_extent *writer_extent(const struct capture_writer *writer);

/* ---- capture_info.c ---- */
PDH_STATUS capture_object_infos(struct pdh_from from, const char *machine,
                                struct object_infos *ret);
PDH_STATUS capture_object_info(struct pdh_from from, const char *machine, const char *object,
                               struct object_info **ret);
/* The same with the caller's reading. */
PDH_STATUS reading_info(struct capture_reading *reading, const char *machine, const char *object,
                        struct object_info **ret);
/* Resolves a number by this machine's titles: most captures contain none. */
bool capture_is_named(const char *wanted, const char *name);
PDH_STATUS capture_label(struct pdh_from from, const char *machine, struct buffer *ret);
PDH_STATUS capture_machines(struct pdh_from from, struct buffer *ret);

/* ---- capture_expand.c ---- */
/* Appends the paths of the matching columns, in their order; nothing if none matches. `losses`:
 * matching columns that have no path. */
PDH_STATUS capture_expand(struct pdh_from from, const struct pdh_path *path, struct buffer *ret,
                          struct log_losses *losses);

#endif
