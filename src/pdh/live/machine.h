/* SPDX-License-Identifier: MIT */
/* Private to pdh: machines whose performance key can be read; titles in their languages. */
#ifndef OPL_PDH_MACHINE_H
#define OPL_PDH_MACHINE_H

#include "pdh/snapshot.h"
#include "pdh/source.h"
#include <winreg.h>

/* A machine that was found is kept until the process ends. */
struct machine;

/* Finds a machine, and connects to it if necessary. `name` may begin with \\; NULL: this machine.
 * PDH_CSTATUS_NO_MACHINE: the machine cannot be reached now. */
PDH_STATUS machine_find(const char *name, struct machine **ret);
enum { FEW_MACHINES = 8 }; /* lists of up to this many machines need no allocated memory */
/* One entry for machine_find_all, which connects to several machines in parallel. */
struct machine_wanted {
    const char *name;
    struct machine *machine; /* the machine; NULL unless `status` is 0 */
    PDH_STATUS status;
    LSTATUS reason; /* the error that led to `status` */
};
void machine_find_all(struct machine_wanted *wanted, size_t count);
const char *machine_label(const struct machine *machine); /* returns the name with its \\ */
/* Appends the labels of the machines found so far, this one first, as a multi-string. */
void machine_list(struct buffer *ret);

/* One request to a machine. The answer to `query` replaces the content of `snapshot`.
 * PDH_CSTATUS_NO_MACHINE: the machine is unreachable; PDH_NO_DATA: the machine did not answer the
 * query. */
struct machine_request {
    struct machine *machine;
    const char *query;
    struct snapshot *snapshot;
    PDH_STATUS status;
};
void machine_query_all(struct machine_request *requests, size_t count); /* sends all requests in
                                                                           * parallel */
PDH_STATUS machine_query(struct machine *machine, const char *query, struct snapshot *ret);

enum { MOST_NUMBERS = 16 }; /* maximum number of titles with the same name */
/* Finds the title numbers of a name at one stage, in ascending order; returns how many. */
size_t machine_numbers(struct machine *machine, enum title_stage stage, const char *name,
                       uint32_t ret[static MOST_NUMBERS]);
/* True if the title with this number matches the pattern at that stage; at STAGE_NUMBER no title
 * does. */
bool machine_title_fits(struct machine *machine, enum title_stage stage, uint32_t index,
                        const char *pattern);
/* Appends the title or explanation in the user's language. Returns false if the machine has no such
 * text. */
bool machine_title(struct machine *machine, uint32_t index, struct buffer *ret);
bool machine_explain(struct machine *machine, uint32_t index, struct buffer *ret);
/* Drops titles that are older than a second and may have changed; returns true if it dropped
 * any. */
bool machine_renew_titles(struct machine *machine);

/* Two caches of object descriptions. CACHE_STABLE is for lists, which stay the same until a refresh
 * is requested; CACHE_RECENT is for adding counters. The functions return a new reference. */
enum info_cache { CACHE_STABLE, CACHE_RECENT, CACHES };
struct object_info *machine_cached_info(struct machine *machine, enum info_cache cache,
                                        uint32_t index);
/* Adds a description; a description with the same number is replaced. */
void machine_cache_info(struct machine *machine, enum info_cache cache, struct object_info *info);
/* Drops those of CACHE_RECENT that are older than a second. */
void machine_drop_recent(struct machine *machine);
/* Copies the complete list of objects. Returns false if the list was not read yet. */
bool machine_list_objects(struct machine *machine, struct object_infos *ret);
void machine_put_list(struct machine *machine, const struct object_infos *infos);

/* ---- objects.c: functions of the live source ---- */
PDH_STATUS live_object(struct data_source *source, const char *machine, const char *name,
                       bool english, enum info_age age, struct object_info **ret);
PDH_STATUS live_objects(struct data_source *source, const char *machine, enum info_age age,
                        struct object_infos *ret);
const struct counter_info *live_counter(const struct object_info *info, const char *name,
                                        bool english);
bool live_has_title(const struct object_info *info, uint32_t index, enum title_stage stage,
                    const char *pattern);
void live_explain(const char *machine, uint32_t help, struct buffer *ret);
/* Returns the ticks per second of the clock of counters of this type. */
LONGLONG object_info_time_base(const struct object_info *info, DWORD type);

#endif
