/* SPDX-License-Identifier: MIT */
/* What the doctor knows of one provider: what the registry says, and what must be. */
#ifndef OPL_LOADPERF_DOCTOR_H
#define OPL_LOADPERF_DOCTOR_H

#include "loadperf/stored.h"

struct doctor {
    struct load *load;
    const opl_load_doctor_options *told;
    struct stored wanted;
    struct buffer quarantined, orphans, torn; /* names, each with its zero; torn: files */
    opl_load_restored *result;
    LSTATUS status;
};

/* Says what was found; `repaired`: it is, or in a dry run would be. */
void doctor_say(struct doctor *doctor, bool repaired, const opl_load_finding *finding,
                const char *format, ...) PRINTF_LIKE(4, 5);

/* ---- doctor_look.c: what nobody here can mend: files and libraries ---- */
/* false: nothing in the layer's folder is believed. */
bool doctor_look_at_files(struct doctor *doctor);
void doctor_look_at_library(struct doctor *doctor, const char *service);

/* ---- doctor_hand.c: names that were written by hand over a provider's own ---- */
/* When it is known what every provider must be, and that is written. */
LSTATUS doctor_mend_hand(struct doctor *doctor);

/* ---- doctor_mend.c: damaged lines become remarks ---- */
bool doctor_can_mend(const struct buffer *text);
LSTATUS doctor_mend_files(struct doctor *doctor);

#endif
