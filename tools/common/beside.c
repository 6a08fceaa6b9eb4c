/* SPDX-License-Identifier: MIT */
/* Starts another tool of this installation or build tree. */
#include "beside.h"
#include "options.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void beside_path(const char *name, char *ret, size_t capacity)
{
    ssize_t length = readlink("/proc/self/exe", ret, capacity - 1);
    char *slash = length > 0 ? memrchr(ret, '/', (size_t)length) : NULL;
    size_t left = slash ? capacity - (size_t)(slash + 1 - ret) : capacity;
    snprintf(slash ? slash + 1 : ret, left, "%s", name);
}

int beside_run(const char *tool, const char *name, char **args)
{
    char path[4096] = "";
    beside_path(name, path, sizeof path);
    if (!args[0])
        args[0] = path;
    execv(path, args);
    fprintf(stderr, "%s: %s could not be started: %s\n", tool, path, strerror(errno));
    return EXIT_FAILED;
}
