/* SPDX-License-Identifier: MIT */
/*
 * perfproc.so: Process, Thread, address spaces, images and jobs, as an ordinary provider. The
 * three functions have the names that Windows registers for PerfProc.
 */
#include "perfproc.h"

static const opl_object *const objects[] = {PERFPROC_OBJECTS(&)};
OPL_PROVIDER_NT(objects, NULL, OpenSysProcessObject, CollectSysProcessObjectData,
                CloseSysProcessObject);
