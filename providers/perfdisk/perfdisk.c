/* SPDX-License-Identifier: MIT */
/*
 * perfdisk.so, an ordinary provider: PhysicalDisk, LogicalDisk, and Filesystem Space, which has a
 * number of this project's block. The three functions have the names that Windows registers for
 * PerfDisk.
 */
#include "perfdisk.h"

static const opl_object *const objects[] = {&perfdisk_physical, &perfdisk_logical, &perfdisk_space};
OPL_PROVIDER_NT(objects, NULL, OpenDiskObject, CollectDiskObjectData, CloseDiskObject);
