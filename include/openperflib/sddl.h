/* SPDX-License-Identifier: MIT */
/* Security descriptors as texts are for objects that several users share. Names of mappings,
 * mutexes and events belong to one user here, whatever a descriptor says, so there is nothing to
 * convert. */
#ifndef OPENPERFLIB_SDDL_H
#define OPENPERFLIB_SDDL_H

#include "windows.h"

#define SDDL_REVISION_1 1
#define SDDL_REVISION SDDL_REVISION_1

#endif
