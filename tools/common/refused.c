/* SPDX-License-Identifier: MIT */
/* Applies the rule of src/base/trust.c to a library that a tool was told to load. */
#include "refused.h"

#include "base/base.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert((int)REFUSED_TEXT == (int)TRUST_TEXT,
               "trust_check_shipped must not write beyond `why`");

bool library_refused(const char *real_path, char why[static REFUSED_TEXT])
{
    struct stat st;
    const char *kind = file_kind(real_path);
    if (kind) {
        snprintf(why, REFUSED_TEXT, "%s", kind);
        return true;
    }
    if (!trust_check_shipped(real_path, why))
        return false;
    size_t used = strlen(why);
    if (stat(real_path, &st) == 0 && st.st_uid != geteuid())
        snprintf(why + used, REFUSED_TEXT - used, "; or run this program as user %lu",
                 (unsigned long)st.st_uid);
    return true;
}
