/* SPDX-License-Identifier: MIT */
/* What can be told of a path without asking PDH, which takes it in either form. */
#include "counter-path.h"

#include <string.h>
#include <strings.h>
#include <unistd.h>

bool counter_path_is_pattern(const char *path)
{
    return strpbrk(path, "*?") != NULL;
}

bool counter_path_has_machine(const char *path)
{
    return strncmp(path, "\\\\", 2) == 0 || strncmp(path, "//", 2) == 0;
}

bool counter_path_is_windows(const char *path)
{
    return path[0] == '\\';
}

bool counter_path_is_here(const char *machine)
{
    static const char *const names[] = {".", "localhost", "127.0.0.1", "::1"};
    char host[256] = "";
    machine += strspn(machine, "\\");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcasecmp(machine, names[i]) == 0)
            return true;
    if (gethostname(host, sizeof host - 1))
        return false;
    return strcasecmp(machine, host) == 0;
}
