/* SPDX-License-Identifier: MIT */
/* API of loadperf: ini and symbol files become a service's numbers and texts. */
#ifndef OPL_LOADPERF_H
#define OPL_LOADPERF_H

#include <openperflib/load.h>
#include <loadperf.h>

/* Execute the command lines of the LoadPerf functions, in UTF-8: a word that is ignored, then the
 * argument (docs/windows/articles.md#c68). */
DWORD load_command(const char *command_line, bool quiet);
/* Executes InstallPerfDll; `computer` NULL: this machine. */
DWORD install_command(const char *computer, const char *ini_path, ULONG_PTR flags);
DWORD unload_command(const char *command_line, bool quiet);

#endif
