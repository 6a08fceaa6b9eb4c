/* SPDX-License-Identifier: MIT */
/*
 * The laboratory: an OPENPERFLIB_ROOT of the test's own, in which third-party providers are
 * registered through public functions. Tests then read the events that were logged, and the lines
 * that the providers appended to the file "notes".
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
    int isolation; /* LAB_ISOLATED writes no value, because it is the default */
};

extern char lab_root[64];

/* Makes the folder and sets OPENPERFLIB_ROOT; the library reads it at its first call. */
void lab_open(void);
/* Starts a process that removes the folder even if the test is aborted. The parent of that process
 * ends at once, so that init or a subreaper becomes its parent. Call this after lab_open. */
void lab_keep(void);
/* Removes the folder with its contents. */
void lab_close(void);
/* lab_set_text and lab_set_dword write a value, and abort if the registry refuses it. `key` is
 * below HKEY_LOCAL_MACHINE. */
void lab_set_text(const char *key, const char *name, const char *text);
void lab_set_dword(const char *key, const char *name, DWORD value);
/* Deletes a value; it is no error if there is none. */
void lab_unset(const char *key, const char *name);
/* Reads a number; -1: there is no such value. */
long long lab_get_dword(const char *key, const char *name);
void lab_register(const struct lab_service *service);
/* Removes a service with all its keys; it is no error if there is none. */
void lab_unregister(const char *name);
/* Returns "SYSTEM\...\NAME\Performance" in storage that the next call overwrites. */
const char *lab_performance(const char *service);

/* Reads a file of the folder as text, "" if it does not exist; the next call overwrites the
 * text. */
char *lab_read(const char *name);
void lab_remove(const char *name);
/* The events of a service (NULL: of all services) as "warning 2000, error 1017", or with `ids_only`
 * as "2000 1017", oldest first. The next call overwrites the text. */
const char *lab_events(const char *service, bool ids_only);
bool lab_has_event(const char *service, unsigned id);
/* Milliseconds of a clock that is never set. */
long long lab_now_ms(void);

#endif
