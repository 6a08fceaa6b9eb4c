/* SPDX-License-Identifier: MIT */
/* A provider's library in the process that runs it: the client, or its helper. Uses only the module
 * base. */
#ifndef OPL_HOST_MODULE_H
#define OPL_HOST_MODULE_H

#include "base/base.h"
#include <winperf.h>

enum module_procedure { MODULE_OPEN, MODULE_COLLECT, MODULE_CLOSE, MODULE_PROCEDURES };
enum { MODULE_TEXT = 256 };

struct module {
    void *handle; /* NULL: not loaded */
    PM_OPEN_PROC *open;
    PM_COLLECT_PROC *collect;
    PM_CLOSE_PROC *close; /* NULL, like open: not registered */
};
/* Loads the file and calls its DllMain, if it exports one; loads are counted, because DllMain is
 * called for the first and the last only. On failure nothing stays loaded and `text` gives the
 * reason: ERROR_MOD_NOT_FOUND, ERROR_BAD_EXE_FORMAT (for another word size) or
 * ERROR_DLL_INIT_FAILED. */
LSTATUS module_load(struct module *ret, const char *path, char text[static MODULE_TEXT]);
/* `names` by enum module_procedure. The registration may leave Open and Close out (NULL);
 * ERROR_PROC_NOT_FOUND: the library itself (not those it is linked to) does not export
 * names[*ret_missing]. */
LSTATUS module_find(struct module *module, const char *const names[static MODULE_PROCEDURES],
                    enum module_procedure *ret_missing);
/* Calls DllMain again and unloads. Does nothing when nothing is loaded. */
void module_unload(struct module *module);

#endif
