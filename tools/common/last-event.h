/* SPDX-License-Identifier: MIT */
/* Does a provider fail, as far as programs of this user and of root know? */
#ifndef OPL_TOOLS_LAST_EVENT_H
#define OPL_TOOLS_LAST_EVENT_H

#include <openperflib/loadperf.h>

#include <stdbool.h>
#include <time.h>

/* Did its last event cost it its data, and did no answer pass since? Then *ret is that event. */
bool last_event_fails(const char *service, opl_load_event *ret);
/* If it does, the object and that event on stderr; false: it does not. */
bool last_event_report(const char *tool, const char *object, const char *service);
time_t last_event_time(const opl_load_event *event);
/* Of the service that has this object and fails: its last event, on stderr. */
void last_event_explain(const char *tool, const char *object);

#endif
