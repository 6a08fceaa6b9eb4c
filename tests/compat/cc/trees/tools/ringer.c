/* SPDX-License-Identifier: MIT */
/* A program that a library is linked to: it rings once. */
#include <windows.h>
#include <stdio.h>

__declspec(dllimport) int Ring(void);

void main(void)
{
    printf("rung %d\n", Ring());
}
