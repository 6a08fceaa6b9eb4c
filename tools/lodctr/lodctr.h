/* SPDX-License-Identifier: MIT */
/* What the parts of lodctr share: what was asked, and one function for each kind of question. */
#ifndef OPL_TOOLS_LODCTR_H
#define OPL_TOOLS_LODCTR_H

#include "../common/json.h"
#include "../common/options.h"
#include "../common/service.h"
#include "../common/status.h"

#include <errno.h>

#include <openperflib/windows.h>

/* openperflib-regsvr32 has parts of lodctr; its messages begin with its own name. */
#define TOOL program_invocation_short_name

struct lodctr {
    const char *subject; /* of /E, /D, /L, --register, --unregister */
    bool check, dry_run, json, quiet, user, remove;
    unsigned code_page;
    const char *library, *open, *collect, *close, *counters, *helps;
    char *words[4096]; /* ini files, or services behind /Q */
    size_t word_count;
};

/* ---- install.c: ini files ---- */
DWORD install_files(const struct lodctr *asked);

/* ---- plan.c: the registry file that an install writes, as a person or a program wants it ---- */
struct plan;
struct plan *plan_new(void); /* NULL: no memory */
void plan_free(struct plan *plan);
/* Takes the text in; false: it cannot be read. */
bool plan_read(struct plan *plan, const char *text, size_t size);
void plan_print(const struct plan *plan);
void plan_json(const struct plan *plan, struct json *json);

/* ---- query.c: /Q ---- */
DWORD query_services(const struct lodctr *asked);
/* The names alone, for completions. */
DWORD query_names(void);

/* ---- backup.c ---- */
DWORD save_all(const struct lodctr *asked);
DWORD restore_all(const struct lodctr *asked); /* without subject: rebuilds */
DWORD replace_base(const struct lodctr *asked);

/* ---- doctor.c ---- */
DWORD doctor(const struct lodctr *asked);

/* ---- register.c: DllRegisterServer and DllUnregisterServer in a process of their own ---- */
enum register_step { STEP_LOAD, STEP_ATTACH, STEP_FIND, STEP_CALL, STEP_DONE };
/* *reached: the step that failed; STEP_DONE: the library's function gave the status. */
DWORD register_library(const struct lodctr *asked, bool remove, enum register_step *reached);

/* ---- library.c ---- */
/* The library's absolute path, or a bare name that no file here has; malloc, NULL: no memory. */
char *library_path(const char *name);
/* Says what would keep Perflib from loading this file: 2 missing, 5 somebody else may write it. */
DWORD library_judge(const char *path);

#endif
