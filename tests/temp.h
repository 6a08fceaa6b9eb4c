/* SPDX-License-Identifier: MIT */
/* Makes a temporary folder for a test, and removes it with its contents. */
#ifndef OPL_TEST_TEMP_H
#define OPL_TEST_TEMP_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static inline int temp_remove_one(const char *path, const struct stat *st, int kind,
                                  struct FTW *level)
{
    (void)st, (void)kind, (void)level;
    return remove(path);
}

static inline void temp_remove(const char *folder)
{
    nftw(folder, temp_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Makes a new folder and writes its path to `folder`, an array of at least 64 characters; "": it
 * cannot be made. */
static inline void temp_make(char *folder)
{
    const char *above = getenv("TMPDIR");
    snprintf(folder, 64, "%s/opl-test-XXXXXX", above && strlen(above) < 40 ? above : "/tmp");
    if (!mkdtemp(folder))
        folder[0] = '\0';
}

static inline void temp_write(const char *folder, const char *name, const char *content)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    if (!file)
        abort();
    fputs(content, file);
    fclose(file);
}

#endif
