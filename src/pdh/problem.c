/* SPDX-License-Identifier: MIT */
/*
 * What a capture's damage is, in words. PDH has a number for it and nothing else, and a capture
 * that cannot be opened has no handle to ask; so the words belong to the thread, as errno does.
 */
#include "pdh/capture.h"
#include <openperflib/capture.h>

#include <stdio.h>
#include <string.h>

enum { WORDS_ROOM = 1024 };
static _Thread_local char current[WORDS_ROOM];

void problem_clear(void)
{
    current[0] = '\0';
}

/* Of too many words the last ones stay: a path stands before what is wrong with it. */
void problem_note(const char *words)
{
    size_t size = words ? strlen(words) : 0;
    if (size >= sizeof current)
        snprintf(current, sizeof current, "...%s", words + size - (sizeof current - 4));
    else if (size)
        memcpy(current, words, size + 1);
}

const char *opl_capture_problem(void)
{
    return current[0] ? current : NULL;
}
