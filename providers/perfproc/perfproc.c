/* SPDX-License-Identifier: MIT */
/*
 * perfproc.so: Process, Thread, address spaces, images and jobs, as an ordinary provider. The
 * three functions have the names that Windows registers for PerfProc.
 */
#include "perfproc.h"

static const opl_object *const objects[] = {&perfproc_process,        &perfproc_process_v2,
                                            &perfproc_thread,         &perfproc_thread_details,
                                            &perfproc_address_space,  &perfproc_image,
                                            &perfproc_full_image,     &perfproc_job,
                                            &perfproc_job_details,    &perfproc_process_io,
                                            &perfproc_process_details};
OPL_PROVIDER_NT(objects, NULL, OpenSysProcessObject, CollectSysProcessObjectData,
                CloseSysProcessObject);
