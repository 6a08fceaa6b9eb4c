/* SPDX-License-Identifier: MIT */
/* Checks a library's file by Perflib's rules, so that a problem is reported now and not only in
 * the event log when a program loads it. */
#include "lodctr.h"

#include "../view/text.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Makes the path absolute even if the file does not exist, because messages print it. */
char *library_path(const char *name)
{
    char here[PATH_MAX], *absolute = NULL, *path = realpath(name, NULL);
    if (path || *name == '/' || !strchr(name, '/') || !getcwd(here, sizeof here))
        return path ? path : strdup(name);
    return asprintf(&absolute, "%s/%s", here, name) < 0 ? NULL : absolute;
}

static void print_remark(void *self, const opl_load_remark *remark)
{
    (void)self;
    fprintf(stderr, "%s: %s: %s\n", TOOL, text_seen(remark->file), text_seen(remark->text));
}

DWORD library_check(const char *path)
{
    return opl_load_library_check(path, &(opl_load_options){.remark = print_remark});
}
