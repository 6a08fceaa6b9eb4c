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

/* Loads an ini file, of this machine only (`computer` NULL or its name; 50: another one). `flags`:
 * LOADPERF_FLAGS_; there is no WMI to tell, so 1 and 2 change nothing, and 4 alone does nothing. 8
 * prints what happens. */
DWORD WINAPI InstallPerfDllA(LPCSTR computer, LPCSTR ini_path, ULONG_PTR flags)
    OPL_SYMBOL(InstallPerfDllA);
DWORD WINAPI InstallPerfDllW(LPCWSTR computer, LPCWSTR ini_path, ULONG_PTR flags)
    OPL_SYMBOL(InstallPerfDllW);
/* Replaces texts of an installed language, "009": files of pairs of index and text as
 * perfc009.dat, in UTF-16 or UTF-8, ended by zeros or in lines; one of the two may be NULL. What
 * the files do not have stays. */
DWORD WINAPI UpdatePerfNameFilesA(LPCSTR counter_path, LPCSTR help_path, LPSTR language,
                                  ULONG_PTR flags) OPL_SYMBOL(UpdatePerfNameFilesA);
DWORD WINAPI UpdatePerfNameFilesW(LPCWSTR counter_path, LPCWSTR help_path, LPWSTR language,
                                  ULONG_PTR flags) OPL_SYMBOL(UpdatePerfNameFilesW);
/* Notes the library's time and size: once it is replaced, it is not trusted any more. */
DWORD WINAPI SetServiceAsTrustedA(LPCSTR reserved, LPCSTR service) OPL_SYMBOL(SetServiceAsTrustedA);
DWORD WINAPI SetServiceAsTrustedW(LPCWSTR reserved, LPCWSTR service)
    OPL_SYMBOL(SetServiceAsTrustedW);
/* Saves the numbers and settings of the machine's providers and all texts (E.5); `comment`, which
 * may be NULL, stands at the beginning. */
DWORD BackupPerfRegistryToFileW(LPCWSTR path, LPCWSTR comment)
    OPL_SYMBOL(BackupPerfRegistryToFileW);
/* Puts such a file back; `language`: texts of that one only, NULL: of all. What is here and not in
 * the file stays. 13: the file is none, or torn. */
DWORD RestorePerfRegistryFromFileW(LPCWSTR path, LPCWSTR language)
    OPL_SYMBOL(RestorePerfRegistryFromFileW);

#define LOADPERF_FLAGS_DELETE_MOF_ON_EXIT ((ULONG_PTR)1)
#define LOADPERF_FLAGS_LOAD_REGISTRY_ONLY ((ULONG_PTR)2)
#define LOADPERF_FLAGS_CREATE_MOF_ONLY ((ULONG_PTR)4)
#define LOADPERF_FLAGS_DISPLAY_USER_MSGS ((ULONG_PTR)8)

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

typedef struct opl_load_restored {
    size_t providers;        /* in the file; without a file, that were looked at */
    size_t restored, same;   /* were changed; needed no change */
    size_t moved;            /* have other numbers than in the file: those are in use */
    size_t left;             /* could not be saved or restored; each was a remark */
    size_t languages, texts; /* saved, or wanted by the restored ones */
} opl_load_restored;

/* One thing that the doctor found. */
typedef struct opl_load_finding {
    const char *kind;           /* "wrong-numbers", "missing-texts", "library-gone", ... */
    const char *service, *file; /* NULL: it concerns none */
    const char *text;           /* what it is, in UTF-8, without period */
    bool repaired;              /* by this call, or by one without dry_run; else `text` says how */
} opl_load_finding;
/* The last answer of a service that passed all checks. */
typedef struct opl_load_answer {
    FILETIME when;
    ULONGLONG took_100ns; /* its Collect, without loading and Open */
    bool by_root;         /* a program of root heard it, else one of the calling user */
} opl_load_answer;
/* The last event of a service: Perflib's, or that it was loaded or removed. */
typedef struct opl_load_event {
    FILETIME when;
    DWORD id;
    char level[12];               /* "error", "warning" or "information" */
    char text[1024], advice[768]; /* UTF-8, cut; the event log has all of it */
} opl_load_event;
typedef struct opl_load_doctor_options {
    void (*found)(void *self, const opl_load_finding *finding);
    void *self;
} opl_load_doctor_options;

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
/* Saves all providers of the layer, as Windows' own backups are (E.5), whole or not at all. */
DWORD opl_load_backup(const char *path, const char *comment, const opl_load_options *options,
                      opl_load_restored *ret);
/* Puts a backup back, Windows' own or ours, in one step; `path` NULL: rebuilds what providers were
 * loaded from. A provider keeps its numbers where those of the file are in use. */
DWORD opl_load_restore(const char *path, const char *language, const opl_load_options *options,
                       opl_load_restored *ret);
/* The file that a service's value Library means: variables are replaced, and a name without '/'
 * lies in the installation's folder of providers. What is there is not looked at. 234
 * (ERROR_MORE_DATA): `size` is too little, and nothing is written. For who loads another one's
 * library himself. */
DWORD opl_load_library_path(const char *library, char *path, size_t size);
/* Notes the library's time and size. 2: no such service or library. */
DWORD opl_load_trust(const char *service, const opl_load_options *options);
/* When the service answered last, as programs of root and of the calling user wrote it down, once a
 * second at most; what other users' programs heard is not known. 2: nobody wrote one down since the
 * machine started. Asks nobody, changes nothing. */
DWORD opl_load_last_answer(const char *service, opl_load_answer *ret);
/* What Perflib reported of the service last, in programs of root and of the calling user; other
 * users' programs keep theirs. 2: nothing since the machine started. Asks nobody. */
DWORD opl_load_last_event(const char *service, opl_load_event *ret);
/* What the shipped objects that this thread asked for last left out because this user may not read
 * it of every instance: "Process: IO Read Operations/sec, IO Write Operations/sec". NULL: nothing.
 * Valid until the thread's next query. */
const char *opl_load_denied(void);
/* Replaces base texts of a language, for the machine; a path may be NULL. */
DWORD opl_load_replace(const char *counters, const char *helps, const char *language,
                       const opl_load_options *options);
/* Finds damage of the layer's registrations, says it, and repairs what can be, in one step (each
 * quarantine by a step of its own). Only who has another one's numbers gets new ones. */
DWORD opl_load_doctor(const opl_load_doctor_options *told, const opl_load_options *options,
                      opl_load_restored *ret);

#pragma GCC visibility pop
OPL_END_DECLS

#ifdef UNICODE
#define InstallPerfDll InstallPerfDllW
#define LoadPerfCounterTextStrings LoadPerfCounterTextStringsW
#define SetServiceAsTrusted SetServiceAsTrustedW
#define UnloadPerfCounterTextStrings UnloadPerfCounterTextStringsW
#define UpdatePerfNameFiles UpdatePerfNameFilesW
#else
#define InstallPerfDll InstallPerfDllA
#define LoadPerfCounterTextStrings LoadPerfCounterTextStringsA
#define SetServiceAsTrusted SetServiceAsTrustedA
#define UnloadPerfCounterTextStrings UnloadPerfCounterTextStringsA
#define UpdatePerfNameFiles UpdatePerfNameFilesA
#endif

#endif
