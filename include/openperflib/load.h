/* SPDX-License-Identifier: MIT */
/*
 * Registering counters: the functions behind lodctr and unlodctr. They report problems with file
 * and line, and return a Win32 status. (docs/windows/registration.md, docs/windows/articles.md#c62)
 */
#ifndef OPENPERFLIB_LOAD_H
#define OPENPERFLIB_LOAD_H

#include <openperflib/base.h>

/* A remark: one problem that was found. */
typedef struct opl_load_remark {
    bool error;       /* an error; else a warning: the faulty part was skipped */
    const char *file; /* NULL: the remark concerns no file */
    unsigned line;    /* 0: no line */
    const char *text; /* what is wrong and what to do, in UTF-8, without period */
} opl_load_remark;

typedef struct opl_load_options {
    bool user;    /* the user's layer, with indices from 1,000,000; else the machine's */
    bool dry_run; /* does everything except writing */
    /* Only checks the files (--check): warnings are errors, nothing is written, the service may
     * be missing or already loaded. */
    bool strict;
    /* The ini file belongs to a package (lodctr --drop-ins): a service loaded from this file, or
     * from a file that is gone, is loaded again. The service's numbers stay, more numbers are
     * reserved for later versions, and opl_load_remove keeps them reserved. */
    bool drop_in;
    /* code page of ini files that are neither UTF-16 nor UTF-8; 0: by language */
    unsigned code_page;
    /* Also writes the service's registration, in the same step; a missing service is created. NULL:
     * the service must exist. A library without '/' is in the installation's folder of providers,
     * or in the folder above it, which each architecture has of its own. The default names of the
     * procedures, for NULL, are Open, Collect, Close. */
    const char *library, *open, *collect, *close;
    void (*remark)(void *self, const opl_load_remark *remark); /* NULL: remarks are dropped */
    /* Receives the registry file that is written, or with dry_run would be; see opl_reg_read. */
    void (*written)(void *self, const char *text, size_t size);
    void *self;
} opl_load_options;

typedef struct opl_load_result {
    char service[256];
    uint32_t first_counter, last_counter, first_help, last_help;
    size_t objects, names, helps, languages; /* how many the service has now */
    bool already; /* the service was loaded before; nothing was changed */
} opl_load_result;

typedef struct opl_load_restored {
    /* number of providers in the file; if there is no file, of providers that were checked */
    size_t providers;
    size_t restored, same; /* how many providers were changed; how many needed no change */
    size_t moved; /* how many got other numbers than in the file, because those are in use */
    size_t left;  /* how many could not be saved or restored; each has a remark */
    size_t languages, texts; /* how many were saved, or used by the restored providers */
} opl_load_restored;

/* One problem that opl_load_doctor found. */
typedef struct opl_load_finding {
    const char *kind;           /* "wrong-numbers", "missing-texts", "library-gone", ... */
    const char *service, *file; /* NULL: none */
    const char *text;           /* what is wrong, in UTF-8, without period */
    /* this call repaired the problem, or would have without dry_run; else `text` describes the
     * repair */
    bool repaired;
} opl_load_finding;
/* A service's newest answer that passed all checks. */
typedef struct opl_load_answer {
    int64_t when;        /* a FILETIME as one number */
    uint64_t took_100ns; /* how long Collect took, without loading and Open */
    /* a program of root received the answer, else a program of the calling user */
    bool by_root;
} opl_load_answer;
/* The last event of a service: from Perflib, or about loading or removal. */
typedef struct opl_load_event {
    int64_t when; /* a FILETIME as one number */
    uint32_t id;
    char level[12];               /* "error", "warning" or "information" */
    char text[1024], advice[768]; /* UTF-8, truncated; the event log has the whole text */
} opl_load_event;
typedef struct opl_load_doctor_options {
    void (*found)(void *self, const opl_load_finding *finding);
    void *self;
} opl_load_doctor_options;

OPL_BEGIN_DECLS
#pragma GCC visibility push(default)

/* Loads an ini file and its symbol file. All or nothing, durable on return.
 * (docs/windows/registration.md#e3) */
uint32_t opl_load_install(const char *ini_path, const opl_load_options *options,
                          opl_load_result *ret);
/* Removes a service's texts and numbers; its other values stay. If options->library is not NULL
 * (its text does not matter), the values that an install with a library wrote are removed, too.
 * (docs/windows/registration.md#e3) */
uint32_t opl_load_remove(const char *service, const opl_load_options *options,
                         opl_load_result *ret);
/* Installs a language such as "007": every index gets its text in this language, or else the
 * English text. With `remove`, removes the language with its texts. English cannot be removed
 * (87). */
uint32_t opl_load_language(const char *language, bool remove, const opl_load_options *options);
/* Enables or disables a service, by its value Disable Performance Counters, and ends its
 * quarantine. 2: no such service. */
uint32_t opl_load_enable(const char *service, bool enable, const opl_load_options *options);
/* Is the service registered in the calling user's layer? Then options->user is needed to change
 * it. */
bool opl_load_is_users(const char *service);
/* Saves all providers of the layer that `options` selects in the format of Windows' backups
 * (docs/windows/registration.md#e5), completely or not at all. */
uint32_t opl_load_backup(const char *path, const char *comment, const opl_load_options *options,
                         opl_load_restored *ret);
/* Restores a backup, Windows' or ours, in one step; `path` NULL: rebuilds from the ini files
 * that were loaded. A provider keeps its numbers if those in the file are in use. */
uint32_t opl_load_restore(const char *path, const char *language, const opl_load_options *options,
                          opl_load_restored *ret);
/* The path of the file that a service's value Library names: variables are replaced, and a name
 * without '/' is in the installation's folder of providers, or in the folder above it. Whether the
 * file exists is not checked. 234 (ERROR_MORE_DATA): `size` is too small, and nothing is written.
 * For programs that load a provider's library themselves. */
uint32_t opl_load_library_path(const char *library, char *path, size_t size);
/* Would programs of this user load the file that a service's value Library names? 0: yes. Else a
 * remark has the reason: the file is missing (2), other users may change it (5), or it is not a
 * library for this machine (193). The check does not load the library. */
uint32_t opl_load_library_check(const char *library, const opl_load_options *options);
/* Records the time and size of the file of the service's library (see SetServiceAsTrusted). 2: no
 * such service or library. */
uint32_t opl_load_trust(const char *service, const opl_load_options *options);
/* The service's last answer, as programs of root and of the calling user recorded it, at most
 * once a second; answers to other users' programs are not known. 2: none was recorded since the
 * machine started. Queries no provider, changes nothing. */
uint32_t opl_load_last_answer(const char *service, opl_load_answer *ret);
/* Perflib's last event about the service, in programs of root and of the calling user; events
 * of other users' programs are not included. 2: none since the machine started. Queries no
 * provider. */
uint32_t opl_load_last_event(const char *service, opl_load_event *ret);
/* The counters that this thread's last query omitted from the shipped objects, because this
 * user may not read them for every instance: "Process: IO Read Operations/sec, IO Write
 * Operations/sec". NULL: nothing. Valid until the thread's next query. */
const char *opl_load_denied(void);
/* Replaces texts of a language in the machine's layer, as UpdatePerfNameFiles does; one of the two
 * paths may be NULL. */
uint32_t opl_load_replace(const char *counters, const char *helps, const char *language,
                          const opl_load_options *options);
/* Finds and reports damage of the registrations in the layer that `options` selects, and repairs
 * what can be repaired, in one step (each quarantine in a separate step). A service gets new
 * numbers only if its numbers belong to another service. */
uint32_t opl_load_doctor(const opl_load_doctor_options *callbacks, const opl_load_options *options,
                         opl_load_restored *ret);
/* Reports state files that cannot be used (kind "state-file"), such as a pipe where the file of the
 * last events should be, and returns how many there are. opl_load_doctor reports them too. */
uint32_t opl_load_state(const opl_load_doctor_options *callbacks);

#pragma GCC visibility pop
OPL_END_DECLS

#endif
