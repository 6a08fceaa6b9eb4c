/* SPDX-License-Identifier: MIT */
/* A program that is linked with the library of bell.cpp, and calls Ring once. */
#include <windows.h>
#include <stdio.h>

__declspec(dllimport) int Ring(void);

void main(void)
{
    printf("rung %d\n", Ring());
}
