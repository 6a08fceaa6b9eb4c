/* SPDX-License-Identifier: MIT */
/*
 * perfproc.so: Process and Thread, as an ordinary provider. The three functions have the names that
 * Windows registers for PerfProc.
 */
#include "perfproc.h"

static const opl_object *const objects[] = {&perfproc_process, &perfproc_thread};
OPL_PROVIDER_NT(objects, NULL, OpenSysProcessObject, CollectSysProcessObjectData,
                CloseSysProcessObject);
