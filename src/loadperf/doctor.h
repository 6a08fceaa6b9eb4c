/* SPDX-License-Identifier: MIT */
/* What the doctor knows of one provider: its registration, and the correct one. */
#ifndef OPL_LOADPERF_DOCTOR_H
#define OPL_LOADPERF_DOCTOR_H

#include "loadperf/stored.h"

struct doctor {
    struct load *load;
    const opl_load_doctor_options *told;
    struct stored wanted;
    struct buffer quarantined, orphans, torn; /* names, each with its NUL; torn: files */
    opl_load_restored *result;
    LSTATUS status;
};

/* Reports a finding; `repaired`: it was repaired, or in a dry run would be. */
void doctor_say(struct doctor *doctor, bool repaired, const opl_load_finding *finding,
                const char *format, ...) PRINTF_LIKE(4, 5);

/* ---- doctor_look.c: problems that cannot be repaired here: files and libraries ---- */
/* false: no file in the layer's folder is trusted. */
bool doctor_look_at_files(struct doctor *doctor);
void doctor_look_at_library(struct doctor *doctor, const char *service);

/* ---- doctor_hand.c: names that were written by hand over a provider's own ---- */
/* Call it when the correct registration of every provider is known and written. */
LSTATUS doctor_mend_hand(struct doctor *doctor);

/* ---- doctor_mend.c: damaged lines become comments ---- */
bool doctor_can_mend(const struct buffer *text);
LSTATUS doctor_mend_files(struct doctor *doctor);

#endif
