/* SPDX-License-Identifier: MIT */
/* Private to the doctor: what it found, and its parts. */
#ifndef OPL_LOADPERF_DOCTOR_H
#define OPL_LOADPERF_DOCTOR_H

#include "loadperf/store/stored.h"

struct doctor {
    struct load *load;
    const opl_load_doctor_options *callbacks;
    struct stored wanted;
    /* names of services (in `torn`: of files), each with its NUL */
    struct buffer quarantined, orphans, unregistered, torn;
    opl_load_restored *result;
    LSTATUS status;
};

/* Reports a finding. `repaired`: it was repaired, or would be without --dry-run. */
void doctor_report(struct doctor *doctor, bool repaired, const opl_load_finding *finding,
                   const char *format, ...) PRINTF_LIKE(4, 5);

/* ---- scan.c: problems of files and libraries, which only a person can repair ---- */
/* Reports state files that cannot be used, such as a pipe in place of `last-events`. */
void scan_state(struct doctor *doctor);
/* Reports files with problems. Returns false if no file in the layer's folder is trusted. */
bool scan_files(struct doctor *doctor);
void scan_library(struct doctor *doctor, const char *service);

/* ---- repair.c: texts written by hand in place of a provider's own texts ---- */
/* Removes texts written by hand in place of a provider's own texts. To be called when the correct
 * registrations of all providers are known and written. */
LSTATUS repair_manual(struct doctor *doctor);

/* ---- repair.c: damaged lines become comments ---- */
bool repair_is_possible(const struct buffer *text);
LSTATUS repair_files(struct doctor *doctor);

#endif
