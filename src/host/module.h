/* SPDX-License-Identifier: MIT */
/* A provider's library in the process that runs it, the client or a helper. Uses only the module
 * base. */
#ifndef OPL_HOST_MODULE_H
#define OPL_HOST_MODULE_H

#include "base/base.h"
#include <winperf.h>

enum module_procedure { MODULE_OPEN, MODULE_COLLECT, MODULE_CLOSE, MODULE_PROCEDURES };
enum { MODULE_TEXT = 256 };

struct module {
    void *handle; /* handle from dlopen; NULL: no library is loaded */
    PM_OPEN_PROC *open;
    PM_COLLECT_PROC *collect;
    PM_CLOSE_PROC *close; /* `open` and `close` are NULL if they are not registered */
};
/* Loads the file and calls its DllMain, if it exports one; loads are counted, and only the first
 * calls DllMain. On failure nothing stays loaded and `text` gives the reason: ERROR_MOD_NOT_FOUND,
 * ERROR_BAD_EXE_FORMAT (for another word size) or ERROR_DLL_INIT_FAILED. */
LSTATUS module_load(struct module *ret, const char *path, char text[static MODULE_TEXT]);
/* Finds the procedures by `names`, in the order of enum module_procedure; Open and Close may be
 * NULL (not registered). ERROR_PROC_NOT_FOUND: the library itself does not export
 * names[*ret_missing]; libraries that it is linked with do not count. */
LSTATUS module_find(struct module *module, const char *const names[static MODULE_PROCEDURES],
                    enum module_procedure *ret_missing);
/* Undoes one load; the last one calls DllMain and unloads the library. Does nothing if none is
 * loaded. */
void module_unload(struct module *module);

#endif
