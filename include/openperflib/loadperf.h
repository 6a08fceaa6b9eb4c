/* SPDX-License-Identifier: MIT */
/*
 * Registering counters: what lodctr and unlodctr do, callable.
 *
 * The two LoadPerf functions are Windows' own. The opl_load_ functions below are what the tools are
 * made of; they say what they met, with file and line. (C62-C68, C80-C83, C94-C104, reference E)
 */
#ifndef OPENPERFLIB_LOADPERF_H
#define OPENPERFLIB_LOADPERF_H

#include <stdbool.h>
#include <stddef.h>

#include "windef.h"
#include "winerror.h"

OPL_BEGIN_DECLS

/* Loads an ini file: "lodctr file.ini"; the first word is a dummy, without it error 87 (C68).
 * `quiet`: prints nothing. ERROR_SUCCESS also when it was loaded before; 2 no such file or service,
 * 5 no rights, 13 the files are damaged, 87 the command line is. */
DWORD WINAPI LoadPerfCounterTextStringsA(LPSTR command_line, BOOL quiet)
    OPL_SYMBOL(LoadPerfCounterTextStringsA);
DWORD WINAPI LoadPerfCounterTextStringsW(LPWSTR command_line, BOOL quiet)
    OPL_SYMBOL(LoadPerfCounterTextStringsW);
/* Removes what was loaded for a service: "unlodctr service", with the same dummy. 2: not loaded. */
DWORD WINAPI UnloadPerfCounterTextStringsA(LPSTR command_line, BOOL quiet)
    OPL_SYMBOL(UnloadPerfCounterTextStringsA);
DWORD WINAPI UnloadPerfCounterTextStringsW(LPWSTR command_line, BOOL quiet)
    OPL_SYMBOL(UnloadPerfCounterTextStringsW);

/* One thing that was noticed. */
typedef struct opl_load_remark {
    bool error;       /* else a warning: what it is about was passed over */
    const char *file; /* NULL: it concerns no file */
    unsigned line;    /* 0: no line */
    const char *text; /* what is wrong and what to do, in UTF-8, without period */
} opl_load_remark;

typedef struct opl_load_options {
    bool user;    /* the user's layer, with indices from 1,000,000; else the machine's */
    bool dry_run; /* do everything but write */
    /* Judges the files alone (--check): warnings are errors, nothing is written, the service may be
     * missing or loaded already. */
    bool strict;
    unsigned code_page; /* of ini files that are neither UTF-16 nor UTF-8; 0: by language */
    /* Writes the service's record too, in the same step; a missing service is made. NULL: it
     * must exist. A library without '/' lies in the installation's folder of providers. The names
     * of the procedures are Open, Collect, Close where they are NULL. */
    const char *library, *open, *collect, *close;
    void (*remark)(void *self, const opl_load_remark *remark); /* NULL: nobody listens */
    /* The registry file that is, or by dry_run would be, written; readable by opl_reg_read. */
    void (*written)(void *self, const char *text, size_t size);
    void *self;
} opl_load_options;

typedef struct opl_load_result {
    char service[256];
    DWORD first_counter, last_counter, first_help, last_help;
    size_t objects, names, helps, languages; /* how many there are now */
    bool already;                            /* it was loaded before; nothing was changed */
} opl_load_result;

#pragma GCC visibility push(default)

/* Loads an ini file and its symbol file. All or nothing, durable on return. (E.3) */
DWORD opl_load_install(const char *ini_path, const opl_load_options *options, opl_load_result *ret);
/* Removes a service's texts and numbers; its other values stay. Where options->library is not NULL,
 * whatever it says, the service's record goes too: what an install with a library wrote. (E.3) */
DWORD opl_load_remove(const char *service, const opl_load_options *options, opl_load_result *ret);
/* Installs a language ("007"): every index gets its text there, or the English one; or removes it
 * with its texts. English cannot be removed (87). */
DWORD opl_load_language(const char *language, bool remove, const opl_load_options *options);
/* Disable Performance Counters, and the end of a quarantine. 2: no such service. */
DWORD opl_load_enable(const char *service, bool enable, const opl_load_options *options);

#pragma GCC visibility pop
OPL_END_DECLS

#ifdef UNICODE
#define LoadPerfCounterTextStrings LoadPerfCounterTextStringsW
#define UnloadPerfCounterTextStrings UnloadPerfCounterTextStringsW
#else
#define LoadPerfCounterTextStrings LoadPerfCounterTextStringsA
#define UnloadPerfCounterTextStrings UnloadPerfCounterTextStringsA
#endif

#endif
