/* SPDX-License-Identifier: MIT */
/* A program that is linked with the library: it rings once. */
#include <windows.h>
#include <stdio.h>

__declspec(dllimport) int Ring(void);

void main(void)
{
    printf("rung %d\n", Ring());
}
