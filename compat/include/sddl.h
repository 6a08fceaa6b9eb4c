/* SPDX-License-Identifier: MIT */
/* Textual security descriptors are for objects that several users share. Here names of
 * mappings, mutexes and events always belong to one user, whatever a descriptor contains, so
 * there is nothing to convert. */
#ifndef OPENPERFLIB_SDDL_H
#define OPENPERFLIB_SDDL_H

#include <windows.h>

#define SDDL_REVISION_1 1
#define SDDL_REVISION SDDL_REVISION_1

#endif
