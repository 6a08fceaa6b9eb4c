/* SPDX-License-Identifier: MIT */
/* Shared by the parts of lodctr: the options, and one function for each command. */
#ifndef OPL_TOOLS_LODCTR_H
#define OPL_TOOLS_LODCTR_H

#include "../common/json.h"
#include "../common/service.h"
#include "../common/status.h"
#include "option-rows.h"

#include <errno.h>

#include <windows.h>

/* openperflib-regsvr32 uses parts of lodctr; its messages begin with its own name. */
#define TOOL program_invocation_short_name

/* ---- install.c: ini files ---- */
DWORD install_files(const struct lodctr *opts);

/* ---- drop-ins.c: ini files of packages ---- */
DWORD install_drop_ins(const struct lodctr *opts);

/* ---- plan.c: the registry file that an install writes, as text or JSON ---- */
struct install_plan;
struct install_plan *plan_new(void); /* makes an empty plan; NULL: no memory */
void plan_free(struct install_plan *plan);
/* Parses the registry file's text; false: the text cannot be parsed. */
bool plan_read(struct install_plan *plan, const char *text, size_t size);
void plan_print(const struct install_plan *plan);
void plan_json(const struct install_plan *plan, struct json *json);

/* ---- query.c: /Q ---- */
DWORD query_services(const struct lodctr *opts);
/* Prints only the names of the services, for completions. */
DWORD query_names(void);

/* ---- backup.c ---- */
DWORD save_all(const struct lodctr *opts);
/* restores all registrations: from the backup `subject`, or without it from the ini files */
DWORD restore_all(const struct lodctr *opts);
DWORD replace_base(const struct lodctr *opts);

/* ---- doctor.c ---- */
DWORD doctor(const struct lodctr *opts);

/* ---- register.c: DllRegisterServer and DllUnregisterServer in a separate process ---- */
enum register_step { STEP_LOAD, STEP_ATTACH, STEP_FIND, STEP_CALL, STEP_DONE };
/* Runs DllRegisterServer or DllUnregisterServer. *reached: the step that failed; STEP_DONE: the
 * status is from the library's function. */
DWORD register_library(const struct lodctr *opts, bool remove, enum register_step *reached);
/* Loads the library in a separate process. ERROR_MOD_NOT_FOUND: the dynamic loader refused it, and
 * its message was printed. A crash or a wait without end is printed too, but is no error. */
DWORD register_test(const struct lodctr *opts, const char *library);

/* ---- library.c ---- */
/* Returns the library's absolute path, or the bare name if this folder has no such file; to be
 * freed; NULL: no memory. */
char *library_path(const char *name);
/* Calls opl_load_library_check and prints its remark. */
DWORD library_check(const char *path);

#endif
