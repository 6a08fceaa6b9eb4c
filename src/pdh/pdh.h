/* SPDX-License-Identifier: MIT */
/*
 * API of pdh: counters by path, their samples, and cooked values. All text is UTF-8. The functions
 * check their arguments in the same order as Windows' functions. (docs/windows/types.md,
 * docs/windows/pdh.md)
 */
#ifndef OPL_PDH_H
#define OPL_PDH_H

#include "base/base.h"
#include <pdh.h>
#include <pdhmsg.h>

/* ---- formula.c ---- */
/* A value before it is formatted. If the value is an integer (a raw count or a difference), `whole`
 * has the exact value. */
struct cooked {
    double number;
    LONGLONG whole;
    bool is_whole;
    bool percent; /* the value is limited to 0 to 100; with PDH_FMT_NOCAP100 it may exceed 100 */
};
/* The type of columns in text captures; later Windows headers call the type PERF_DOUBLE_RAW.
 * FirstValue has the bits of a double. (docs/windows/types.md#b1) */
enum { TYPE_DOUBLE = 0x00012000 };
/* True if the type has a formula; bases, texts, headings and unknown types have none. */
bool formula_known(DWORD counter_type);
bool formula_needs_two(DWORD counter_type);
/* Computes a value. `before` and `time_base` may be NULL. The CStatus of the samples is not
 * checked. PDH_INVALID_ARGUMENT: the type has no formula, or needs a time base that is missing;
 * PDH_CSTATUS_INVALID_DATA: the type needs two samples, and `before` is missing;
 * PDH_CALC_NEGATIVE_*. */
PDH_STATUS formula_cook(DWORD counter_type, const LONGLONG *time_base,
                        const PDH_RAW_COUNTER *newest, const PDH_RAW_COUNTER *before,
                        struct cooked *ret);

bool format_valid(DWORD format);
/* Formats the value, multiplied by 10 to the power of `scale` and by the factor in `format`, if
 * there is one. */
void format_value(const struct cooked *cooked, DWORD format, LONG scale, PDH_FMT_COUNTERVALUE *ret);
PDH_STATUS format_scaled(DWORD counter_type, DWORD format, const LONGLONG *time_base,
                         const PDH_RAW_COUNTER *newest, const PDH_RAW_COUNTER *before, LONG scale,
                         PDH_FMT_COUNTERVALUE *ret);
/* Computes and formats a value, as PdhFormatFromRawValue does. */
PDH_STATUS format_from_raw(DWORD counter_type, DWORD format, const LONGLONG *time_base,
                           const PDH_RAW_COUNTER *newest, const PDH_RAW_COUNTER *before,
                           PDH_FMT_COUNTERVALUE *ret);

/* ---- counter.c: a structure followed by its texts, in the caller's memory ---- */
struct pack {
    char *memory; /* the caller's memory; NULL: only the size is computed */
    size_t capacity, used;
    bool wide; /* texts are written in UTF-16 */
};
void pack_begin(struct pack *pack, void *memory, size_t capacity, size_t fixed, bool wide);
/* Appends a text and returns its address; NULL if `text` is NULL or does not fit. */
void *pack_text(struct pack *pack, const char *text);
/* Sets *size to the bytes that are needed. PDH_MORE_DATA: the buffer was smaller. */
PDH_STATUS pack_end(const struct pack *pack, DWORD *size);

/* ---- source of names and samples ---- */
/* A file name, or a handle from capture_bind or capture_open. Both NULL: live data. */
struct pdh_from {
    const char *file;
    PDH_HLOG log;
};

/* ---- path.c ---- */
/* Returns the machine's name without its \\. */
const char *path_machine_name(const char *label);
/* True if both are the same machine. `wanted` NULL: any machine; `label` may be NULL. Both may
 * begin with \\. */
bool path_same_machine(const char *wanted, const char *label);
/* Appends "parent/name", or the name alone. */
bool path_add_full_name(struct buffer *ret, const char *parent, const char *name);

#define PATH_NO_INDEX UINT32_MAX
/* The parts of a path \\machine\object(parent/instance#index)\counter. NULL: the path lacks the
 * part. */
enum { PATH_SPARE = 32 };
struct pdh_path {
    char *memory;        /* the parts, after PATH_SPARE bytes for path_alias */
    const char *machine; /* the machine's name with its \\ */
    const char *object, *counter;
    const char *whole; /* the text between the brackets, as written */
    const char *stem;  /* `whole` without its #index */
    const char *parent, *instance;
    uint32_t index; /* PATH_NO_INDEX: the path has no "#n", or "#0", which means the same */
    bool any_index; /* the path has "#*" */
};
void path_done(struct pdh_path *path);
#define PATH_AUTO __attribute__((cleanup(path_done))) struct pdh_path
/* Parses a path; also accepts the syntax without backslashes, //machine/object(instance)::counter.
 * PDH_CSTATUS_NO_COUNTERNAME: the text is empty; PDH_CSTATUS_BAD_COUNTERNAME: it is no path. */
PDH_STATUS path_parse(const char *text, struct pdh_path *ret);
/* Parses only "parent/instance#index". PDH_INVALID_INSTANCE: there is no instance, or its text is
 * too long. */
PDH_STATUS path_parse_instance(const char *text, struct pdh_path *ret);
/* Appends the path that has these parts. PDH_INVALID_ARGUMENT: object or counter is missing. */
PDH_STATUS path_make(const struct pdh_path *parts, struct buffer *ret);

/* ---- path.c: aliases ---- */
/* Removes "(*)" from a path if its object is another agent's name for an object that has no
 * instances here. */
void path_alias_brackets(struct pdh_path *path);
/* Replaces the names that another agent uses by ours. Returns false if the names are not in the
 * table of aliases. If Processor's instance is just a number, it becomes a pattern such as "*,3",
 * which matches one instance here. */
bool path_alias(struct pdh_path *path);
struct object_info;
/* Replaces a pattern that path_alias made by the name of the instance. Returns false if the path
 * has no pattern from path_alias. */
bool path_alias_settle(struct pdh_path *path, const struct object_info *info);

/* ---- patterns and instances ---- */
bool path_is_pattern(const char *text); /* true if the text has wildcards; false for NULL */
/* True if the path can match several objects, counters or instances. */
bool path_has_wildcard(const struct pdh_path *path);
bool path_has_any_instance(const struct pdh_path *path);
/* True if the path matches the instance with this full name, "parent/name" or "name". `number`: 0
 * for the first instance with that name in the block, 1 for the second. */
bool path_match_full(const struct pdh_path *path, const char *full_name, uint32_t number);
/* Like path_match_full, with parent and name as two arguments; `parent` may be NULL. */
bool path_match_instance(const struct pdh_path *path, const char *parent, const char *name,
                         uint32_t number);

/* ---- expand.c: expands a path ---- */
/* Appends all matching paths as a multi-string; nothing if a pattern matches nothing. `flags` are
 * those of PdhExpandWildCardPath, such as PDH_NOEXPANDCOUNTERS. PDH_INVALID_PATH: the object has no
 * instances, but the path has brackets. */
PDH_STATUS expand_path(struct pdh_from from, const char *text, DWORD flags, struct buffer *ret);
/* Checks that the path exists. PDH_INVALID_ARGUMENT: `text` is NULL or empty; PDH_CSTATUS_NO_*: the
 * part that does not exist. */
PDH_STATUS path_validate(struct pdh_from from, const char *text);

/* ---- source.c: lists, as multi-strings; `machine` NULL: this machine ---- */
PDH_STATUS browse_machines(struct pdh_from from, struct buffer *ret);
PDH_STATUS browse_objects(struct pdh_from from, const char *machine, DWORD detail, bool refresh,
                          struct buffer *ret);
/* Lists an object's counters or instances. *ret_single becomes true if the object never has
 * instances. */
PDH_STATUS browse_items(struct pdh_from from, const char *machine, const char *object, DWORD detail,
                        struct buffer *ret_counters, struct buffer *ret_instances,
                        bool *ret_single);
/* Append one name, without NUL. */
PDH_STATUS browse_default_object(struct pdh_from from, const char *machine, struct buffer *ret);
PDH_STATUS browse_default_counter(struct pdh_from from, const char *machine, const char *object,
                                  struct buffer *ret);

/* ---- live/: machines and titles ---- */
PDH_STATUS connect_machine(const char *machine);
PDH_STATUS lookup_name(const char *machine, DWORD index, struct buffer *ret);
PDH_STATUS lookup_index(const char *machine, const char *name, DWORD *ret);

/* ---- query.c: queries and their collection; handles that are closed or of another kind are
 * refused ---- */
PDH_STATUS query_open(struct pdh_from from, DWORD_PTR user, PDH_HQUERY *ret);
PDH_STATUS query_close(PDH_HQUERY query);
bool query_is_real_time(PDH_HQUERY query);
PDH_STATUS query_time_range(PDH_HQUERY query, const PDH_TIME_INFO *range);
/* Collects all counters. *ret_time (may be NULL) receives the sample's local time. */
PDH_STATUS query_collect(PDH_HQUERY query, LONGLONG *ret_time);

PDH_STATUS query_collect_each(PDH_HQUERY query, DWORD seconds, HANDLE event);

/* ---- counter.c ---- */
PDH_STATUS counter_add(PDH_HQUERY query, const char *path, bool english, DWORD_PTR user,
                       PDH_HCOUNTER *ret);
PDH_STATUS counter_remove(PDH_HCOUNTER counter);
/* Fills `ret` with a PDH_COUNTER_INFO_A, or _W if `wide`. *size is in bytes. */
PDH_STATUS counter_info(PDH_HCOUNTER counter, bool explain, bool wide, DWORD *size, void *ret);
PDH_STATUS counter_scale(PDH_HCOUNTER counter, LONG factor);
PDH_STATUS counter_time_base(PDH_HCOUNTER counter, LONGLONG *ret);

/* ---- value.c ---- */
PDH_STATUS counter_raw(PDH_HCOUNTER counter, DWORD *type, PDH_RAW_COUNTER *ret);
PDH_STATUS counter_value(PDH_HCOUNTER counter, DWORD format, DWORD *type,
                         PDH_FMT_COUNTERVALUE *ret);
PDH_STATUS counter_calculate(PDH_HCOUNTER counter, DWORD format, const PDH_RAW_COUNTER *newest,
                             const PDH_RAW_COUNTER *before, PDH_FMT_COUNTERVALUE *ret);

/* ---- arrays: `items` are the public structures, their names in UTF-8 or, if `wide`, UTF-16
 * ---- */
PDH_STATUS counter_raw_array(PDH_HCOUNTER counter, bool wide, DWORD *size, DWORD *count,
                             void *items);
PDH_STATUS counter_value_array(PDH_HCOUNTER counter, DWORD format, bool wide, DWORD *size,
                               DWORD *count, void *items);

PDH_STATUS counter_statistics(PDH_HCOUNTER counter, DWORD format, DWORD first, DWORD count,
                              const PDH_RAW_COUNTER *samples, PDH_STATISTICS *ret);

/* ---- log/capture.c ---- */
struct capture_options {
    const char *file, *caption;
    DWORD access, max_size;
    PDH_HQUERY query;
};
PDH_STATUS capture_open(const struct capture_options *options, DWORD *type, PDH_HLOG *ret);
/* `files` is a multi-string of paths. */
PDH_STATUS capture_bind(const char *files, size_t size, PDH_HLOG *ret);
/* `time`: when the query's newest values, which are written, were collected; 0: collects them. */
PDH_STATUS capture_update(PDH_HLOG log, LONGLONG time, const char *user_string);
PDH_STATUS capture_close(PDH_HLOG log, DWORD flags);
PDH_STATUS capture_catalog(PDH_HLOG log);
PDH_STATUS capture_size(PDH_HLOG log, LONGLONG *ret);
PDH_STATUS capture_record(PDH_HLOG log, FILETIME time, PDH_RAW_LOG_RECORD *ret, DWORD *size);
PDH_STATUS capture_time_range(struct pdh_from from, PDH_TIME_INFO *ret);
PDH_STATUS capture_set_default(DWORD source);

#endif
