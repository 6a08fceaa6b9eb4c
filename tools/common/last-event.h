/* SPDX-License-Identifier: MIT */
/* Finds providers that fail in programs of this user or of root. */
#ifndef OPL_TOOLS_LAST_EVENT_H
#define OPL_TOOLS_LAST_EVENT_H

#include <openperflib/load.h>
#include <winerror.h>

#include <stdbool.h>
#include <stdio.h>
#include <time.h>

/* Is the provider's data missing since its last event, without an accepted answer after it? Then
 * *ret is that event. */
bool last_event_fails(const char *service, opl_load_event *ret);
/* If the provider fails or is in quarantine, writes a text about its objects, such as "belongs to
 * MyPerf, which is in quarantine until ...", with its last event or the quarantine. False: the
 * provider does neither. */
enum { LAST_EVENT_SIZE = 2560 };
bool last_event_text(const char *service, char *ret, size_t capacity);
/* Prints the object and the text of last_event_text on stderr. False: there is no such text. */
bool last_event_report(const char *tool, const char *object, const char *service);
/* Opens a file of events for reading, if it is a regular one: reading another kind may never end.
 * NULL: *ret_why is the reason, NULL if there is no such file. */
FILE *last_event_open(const char *path, const char **ret_why);
time_t last_event_time(const opl_load_event *event);
/* Like last_event_text and last_event_report, for the service that has this object, if any; also if
 * an administrator has disabled it. */
bool last_event_of_object(const char *object, char *ret, size_t capacity);
void last_event_explain(const char *tool, const char *object);
/* Calls `each` for the listed objects of all providers that fail or are in quarantine. */
void last_event_objects(void (*each)(void *self, DWORD object), void *self);

/* Reports that no names, and so no objects, were found. If OPENPERFLIB_VENDOR was refused, prints
 * the event that has the reason. */
void last_event_no_names(const char *tool);
/* If OPENPERFLIB_ROOT was refused, prints the event that has the reason, and returns true: what is
 * registered there is not seen, and nothing can be registered. */
bool last_event_root_refused(const char *tool);

#endif
