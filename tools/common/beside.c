/* SPDX-License-Identifier: MIT */
/* Starts another tool of this installation or build tree. */
#include "beside.h"
#include "options.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int beside_run(const char *tool, const char *name, char **args)
{
    char path[4096] = "";
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    char *slash = length > 0 ? memrchr(path, '/', (size_t)length) : NULL;
    size_t left = slash ? sizeof path - (size_t)(slash + 1 - path) : sizeof path;
    snprintf(slash ? slash + 1 : path, left, "%s", name);
    if (!args[0])
        args[0] = path;
    execv(path, args);
    fprintf(stderr, "%s: %s could not be started: %s\n", tool, path, strerror(errno));
    return EXIT_FAILED;
}
