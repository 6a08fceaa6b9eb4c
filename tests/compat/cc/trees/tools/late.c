/* SPDX-License-Identifier: MIT */
/* Loads the library of bell.cpp by its name while the program runs, and calls Ring once. */
#include <windows.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    HMODULE hBell = LoadLibrary(argv[1]);
    int (*ring)(void) = hBell ? (int (*)(void))GetProcAddress(hBell, "Ring") : NULL;
    if (!ring) {
        printf("refused with %lu\n", GetLastError());
        return 1;
    }
    printf("rung %d\n", ring());
    FreeLibrary(hBell);
    printf("freed\n");
    return 0;
}
