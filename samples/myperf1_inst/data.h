/* SPDX-License-Identifier: MIT */
/*
 * The source of the instances. data_random.c creates new ones at each query, which is allowed;
 * data_constant.c always has the same, which viewers that follow an instance need.
 */
#ifndef SAMPLE_DATA_H
#define SAMPLE_DATA_H

#include <windows.h>

/* Starts a new snapshot, and returns its number of instances. */
DWORD dataCount(void);
/* The name of one of them, ASCII, valid until the next snapshot. */
const char *dataName(DWORD position);
DWORD dataValue(DWORD position);

#endif
