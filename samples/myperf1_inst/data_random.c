/* SPDX-License-Identifier: MIT */
/* Between zero and nine instances, with other names at each query. */
#include "data.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 9, LONGEST = 12 };
static char names[MOST][LONGEST + 1];

static void makeName(char *name)
{
    int length = 1 + rand() % LONGEST;
    int i;
    for (i = 0; i < length; i++)
        name[i] = (char)('a' + rand() % 26);
    name[length] = '\0';
}

/* Does an earlier instance have the same name? Viewers would confuse the two instances. */
static int isTaken(int position)
{
    int i;
    for (i = 0; i < position; i++)
        if (strcmp(names[i], names[position]) == 0)
            return 1;
    return 0;
}

DWORD dataCount(void)
{
    int count = rand() % (MOST + 1);
    int i;
    for (i = 0; i < count; i++) {
        do
            makeName(names[i]);
        while (isTaken(i));
    }
    return (DWORD)count;
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
