/* SPDX-License-Identifier: MIT */
/* What the shims share. They use the public library only. */
#ifndef OPL_SHIMS_H
#define OPL_SHIMS_H

#include <openperflib/windows.h>

/* "name[number]" of the process, at most 63 bytes */
void opl_shim_process(char ret[static 64]);
/* Prints the line if OPENPERFLIB_TRACE is set: "openperflib: STATION: ...". */
void opl_shim_trace(const char *station, const char *text);
/* A copy as UTF-8; NULL: no memory. The caller frees it. */
char *opl_shim_narrow(LPCWSTR text);

#endif
