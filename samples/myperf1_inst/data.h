/* SPDX-License-Identifier: MIT */
/*
 * The source of the instances. data_random.c creates new ones at each query, which is allowed;
 * data_constant.c always has the same instances, because viewers that follow an instance need them.
 */
#ifndef SAMPLE_DATA_H
#define SAMPLE_DATA_H

#include <windows.h>

/* Starts a new snapshot, and returns its number of instances. */
DWORD dataCount(void);
/* Returns the name of the instance at `position`, in ASCII, valid until the next snapshot. */
const char *dataName(DWORD position);
DWORD dataValue(DWORD position);

#endif
