/* SPDX-License-Identifier: MIT */
/*
 * perfproc.so: Process, Thread and what is in address spaces, as an ordinary provider. The three
 * functions have the names that Windows registers for PerfProc.
 */
#include "perfproc.h"

static const opl_object *const objects[] = {&perfproc_process,        &perfproc_thread,
                                            &perfproc_thread_details, &perfproc_address_space,
                                            &perfproc_image,          &perfproc_full_image};
OPL_PROVIDER_NT(objects, NULL, OpenSysProcessObject, CollectSysProcessObjectData,
                CloseSysProcessObject);
