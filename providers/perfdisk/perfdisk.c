/* SPDX-License-Identifier: MIT */
/*
 * perfdisk.so, an ordinary provider: PhysicalDisk, LogicalDisk, and Filesystem Space, whose number
 * is one of the project's own. The three functions have the names that Windows registers for
 * PerfDisk.
 */
#include "perfdisk.h"

static const opl_object *const objects[] = {PERFDISK_OBJECTS(&)};
OPL_PROVIDER_NT(objects, NULL, OpenDiskObject, CollectDiskObjectData, CloseDiskObject);
