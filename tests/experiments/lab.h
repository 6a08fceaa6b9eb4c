/* SPDX-License-Identifier: MIT */
/*
 * A laboratory: an OPENPERFLIB_ROOT of its own, third-party providers registered in it through the
 * public functions, and what the events and the providers' own notes tell afterwards.
 */
#ifndef OPL_EXPERIMENTS_LAB_H
#define OPL_EXPERIMENTS_LAB_H

#include <stdbool.h>
#include <stddef.h>

#include <windows.h>

#define LAB_SERVICES "SYSTEM\\CurrentControlSet\\Services\\"
#define LAB_PERFLIB "SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Perflib"

enum { LAB_IN_PROCESS = 0, LAB_ISOLATED = 1 };

/* One registration; a NULL text is a value that is not written. */
struct lab_service {
    const char *name, *library, *open, *collect, *close, *list;
    int isolation; /* LAB_ISOLATED writes no value: it is the default */
};

extern char lab_root[64];

/* Makes the folder and sets OPENPERFLIB_ROOT; the library reads it at its first call. */
void lab_open(void);
/* Has the folder removed also when the test is aborted: by a process that is nobody's child (so a
 * subreaper's), after lab_open. */
void lab_keep(void);
/* Removes the folder with all that is in it. */
void lab_close(void);
/* Both abort when the registry refuses. `key` is below HKEY_LOCAL_MACHINE. */
void lab_set_text(const char *key, const char *name, const char *text);
void lab_set_dword(const char *key, const char *name, DWORD value);
/* Deletes a value; what is not there is no error. */
void lab_unset(const char *key, const char *name);
/* -1: there is none. */
long long lab_get_dword(const char *key, const char *name);
void lab_register(const struct lab_service *service);
/* Removes a service with all its keys; what is not there is no error. */
void lab_unregister(const char *name);
/* "SYSTEM\...\NAME\Performance", in a place that the next call overwrites. */
const char *lab_performance(const char *service);

/* A file of the folder as text, "" if there is none; the next call overwrites it. */
char *lab_read(const char *name);
void lab_remove(const char *name);
/* The events of a service (NULL: of all) as "warning 2000, error 1017", or with `ids_only` as
 * "2000 1017", oldest first; the next call overwrites it. */
const char *lab_events(const char *service, bool ids_only);
bool lab_has_event(const char *service, unsigned id);
/* Milliseconds of a clock that is never set. */
long long lab_now_ms(void);

#endif
