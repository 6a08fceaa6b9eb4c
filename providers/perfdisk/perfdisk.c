/* SPDX-License-Identifier: MIT */
/*
 * perfdisk.so: PhysicalDisk and LogicalDisk, and Filesystem Space, whose number is of this
 * project's block, as an ordinary provider. The three functions have the names that Windows
 * registers for PerfDisk.
 */
#include "perfdisk.h"

static const opl_object *const objects[] = {&perfdisk_physical, &perfdisk_logical, &perfdisk_space};
OPL_PROVIDER_NT(objects, NULL, OpenDiskObject, CollectDiskObjectData, CloseDiskObject);
