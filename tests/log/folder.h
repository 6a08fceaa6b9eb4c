/* SPDX-License-Identifier: MIT */
/* Makes a folder for the captures of a set in a root of the test's own. */
#ifndef OPL_TEST_LOG_FOLDER_H
#define OPL_TEST_LOG_FOLDER_H

#include <sys/stat.h>

#include "../temp.h"
#include "base/base.h"

enum { FOLDER_SIZE = 192 };

static inline int folder_make(char root[static 64], const char *name, char ret[static FOLDER_SIZE])
{
    temp_make(root);
    setenv("OPENPERFLIB_ROOT", root, 1);
    place_forget();
    snprintf(ret, FOLDER_SIZE, "%s/captures", root);
    if (mkdir(ret, 0755))
        return -1;
    snprintf(ret, FOLDER_SIZE, "%s/captures/%s", root, name);
    return mkdir(ret, 0755);
}

#endif
