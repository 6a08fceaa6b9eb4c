/* SPDX-License-Identifier: MIT */
/*
 * Where the instances come from. data_random.c makes new ones at each query, which shows that a
 * provider may; data_constant.c has always the same, which viewers that follow an instance need.
 */
#ifndef SAMPLE_DATA_H
#define SAMPLE_DATA_H

#include <windows.h>

/* Begins a new picture, and says how many instances it has. */
DWORD dataCount(void);
/* The name of one of them, ASCII, valid until the next picture. */
const char *dataName(DWORD position);
DWORD dataValue(DWORD position);

#endif
