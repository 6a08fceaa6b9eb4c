/* SPDX-License-Identifier: MIT */
/* A provider's library in the process that runs it: the asking one, or its helper. Needs nothing
 * but base. */
#ifndef OPL_HOST_MODULE_H
#define OPL_HOST_MODULE_H

#include "base/base.h"
#include <openperflib/winperf.h>

enum module_procedure { MODULE_OPEN, MODULE_COLLECT, MODULE_CLOSE, MODULE_PROCEDURES };
enum { MODULE_TEXT = 256 };

struct module {
    void *handle; /* NULL: not loaded */
    PM_OPEN_PROC *open;
    PM_COLLECT_PROC *collect;
    PM_CLOSE_PROC *close; /* NULL, like open: the registration names none */
};
/* Loads the file and calls its DllMain, if it exports one; how often it is loaded is counted, as
 * DllMain hears of the first time and of the last only. On failure nothing is left behind and
 * `text` says why: ERROR_MOD_NOT_FOUND, ERROR_BAD_EXE_FORMAT (for another word size) or
 * ERROR_DLL_INIT_FAILED. */
LSTATUS module_load(struct module *ret, const char *path, char text[static MODULE_TEXT]);
/* `names` by enum module_procedure. The registration may leave Open and Close out (NULL);
 * ERROR_PROC_NOT_FOUND: the library itself (what it is linked to does not count) exports no
 * names[*ret_missing]. */
LSTATUS module_find(struct module *module, const char *const names[static MODULE_PROCEDURES],
                    enum module_procedure *ret_missing);
/* DllMain once more, and away. Does nothing when nothing is loaded. */
void module_unload(struct module *module);

#endif
