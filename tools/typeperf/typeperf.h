/* SPDX-License-Identifier: MIT */
/* Shared by the parts of typeperf: the options, and the counters that are read. */
#ifndef OPL_TOOLS_TYPEPERF_H
#define OPL_TOOLS_TYPEPERF_H

#include "../common/config.h"
#include "../common/counter-path.h"
#include "../common/machines.h"
#include "../common/output-file.h"
#include "../common/pace.h"
#include "../common/pdh-message.h"
#include "option-rows.h"

#include <errno.h>

/* the name before messages: perfmon for "perfmon explain" */
#define TOOL program_invocation_short_name

/* ---- counters.c ---- */
struct counters {
    PDH_HQUERY query;
    PDH_HCOUNTER *handles;
    struct counter_state {
        bool seen; /* the counter had a value, or was found by a wildcard */
        bool wild; /* a wildcard, which has the instances of each sample */
    } * states;    /* one for each handle */
    size_t wild_count;
    struct text_list paths; /* paths as the user wrote them, with machine; one for each handle */
    size_t capacity;
    size_t missing;    /* requested counters that do not exist; each is reported on stderr */
    bool text_noted;   /* the note about a text counter was printed */
    int exit_code;     /* exit code for the last missing counter */
    bool may_come;     /* an object or instance is missing, which may exist later */
    char machine[256]; /* the machine's name with its backslashes */
    struct machines machines;
};
/* Opens a query and adds the requested counters. Returns an exit code, and reports failures. */
int counters_open(struct counters *counters, const struct typeperf *opts);
void counters_close(struct counters *counters);
/* After a sample: records which counters have had a value. `first`: also reports the counters whose
 * instance does not exist, because their values are only -1, and wildcards that match nothing. */
void counters_note_seen(struct counters *counters, bool first);
/* Returns a counter's description, to be freed; NULL: *ret_status is the reason. */
PDH_COUNTER_INFO_A *counters_info(PDH_HCOUNTER counter, bool explain, PDH_STATUS *ret_status);

/* ---- a function for each command; returns the exit code ---- */
int list_objects(const struct typeperf *opts);                             /* list.c */
int sample_print(const struct typeperf *opts, struct counters *counters);  /* sample.c */
int sample_record(const struct typeperf *opts, struct counters *counters); /* sample.c */
int explain_counters(struct counters *counters);                           /* explain.c */

/* Prints the line with which Windows' programs end. */
void typeperf_success(FILE *out);

#endif
