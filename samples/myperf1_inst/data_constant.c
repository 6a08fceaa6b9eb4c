/* SPDX-License-Identifier: MIT */
/* The same three instances each time, with changing values. */
#include "data.h"

#include <stdlib.h>

static const char *const names[] = {"Huey", "Dewey", "Louie"};

DWORD dataCount(void)
{
    return sizeof names / sizeof *names;
}

const char *dataName(DWORD position)
{
    return names[position];
}

DWORD dataValue(DWORD position)
{
    (void)position;
    return (DWORD)(rand() % 100);
}
