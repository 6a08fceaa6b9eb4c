/* SPDX-License-Identifier: MIT */
/* Shared by this folder's Win32 functions (OPL_SHIM in the headers), which call only public
 * functions of the library. */
#ifndef OPL_SHIMS_H
#define OPL_SHIMS_H

#include <windows.h>

#include <stdarg.h>
#include <stdbool.h>

/* Writes the name and number of this process, "name[number]", at most 63 bytes. */
void opl_shim_process(char ret[static 64]);
/* If OPENPERFLIB_TRACE is set, prints a line "openperflib: STATION: TEXT" on standard error. */
void opl_shim_trace(const char *station, const char *text);
/* Copies the text as UTF-8; NULL: no memory. The caller frees the copy. */
char *opl_shim_narrow(LPCWSTR text);
/* Sets the last error; returns FALSE, so that a caller can return it. */
BOOL opl_shim_fail(DWORD code);

/* ---- lock.c: one lock for the tables of this module; never held while a call waits ---- */

void opl_shim_lock(void);
void opl_shim_unlock(void);

/* ---- handle.c: the kinds of handles ---- */

enum opl_shim_kind {
    SHIM_NOTHING,
    SHIM_EVENT, /* an eventfd; also a process, on kernels that do not distinguish the two */
    SHIM_PROCESS,
    SHIM_MAPPING,
    SHIM_MUTEX,
    SHIM_SNAPSHOT,
    SHIM_FILE,        /* a handle of CreateFile */
    SHIM_FILE_MAPPING /* a handle of CreateFileMapping over a file */
};

/* Finds the kind of a handle and its descriptor, which is -1 for SHIM_NOTHING. */
enum opl_shim_kind opl_shim_kind(HANDLE handle, int *ret_descriptor);
/* Makes a handle of a descriptor, which the handle then owns. For -1 the handle is NULL.
 * Descriptors 0 to 2 are duplicated first, so no handle has these numbers. */
HANDLE opl_shim_handle(int descriptor, enum opl_shim_kind kind);

/* ---- object.c: objects by name ---- */

enum { SHIM_HEADER = 65536, SHIM_MUTEX_AT = 128 };

/* The header of a mapping's or mutex's file; its data begins at SHIM_HEADER. */
struct opl_shim_header {
    char magic[8];
    uint32_t kind, pointer_bytes;
    uint64_t bytes;
    uint32_t protection, unused;
};

struct opl_shim_object {
    const char *name; /* NULL: the object has no name */
    enum opl_shim_kind kind;
    uint64_t bytes;
    uint32_t protection;
    bool committed;
};

/* Creates an object, or opens the one of this name and sets *ret_existed; *ret: its descriptor. */
DWORD opl_shim_create(const struct opl_shim_object *desired, int *ret, bool *ret_existed);
DWORD opl_shim_open(const char *name, enum opl_shim_kind kind, bool writable, int *ret);
bool opl_shim_header(int descriptor, struct opl_shim_header *ret);
/* Removes the objects that no process holds any more. */
void opl_shim_sweep(void);

/* ---- mutex.c ---- */

/* Initializes the mutex in a new file, which has SHIM_HEADER bytes or more. */
bool opl_shim_mutex_prepare(int descriptor);
DWORD opl_shim_mutex_wait(int descriptor, DWORD milliseconds);
void opl_shim_mutex_leave(int descriptor);

/* ---- format.c: printf by Windows' rules ---- */

struct opl_shim_text {
    bool wide;   /* units are WCHAR, else char */
    void *units; /* the caller frees it */
    size_t count, capacity;
    bool failed; /* no memory */
};

void opl_shim_add(struct opl_shim_text *text, const void *units, size_t count);
/* Formats the arguments and appends the result; `format` has the same width as `text`. */
void opl_shim_format(struct opl_shim_text *text, const void *format, va_list arguments);

#endif
