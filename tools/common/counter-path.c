/* SPDX-License-Identifier: MIT */
/* Paths of counters as people type them. A shell eats backslashes; "::" it leaves alone. */
#include "counter-path.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* Where the counter's name begins, and where the object with its instance ends: an instance may
 * have "::" in its name, and a counter too, so the end of the instance decides. */
static const char *find_separator(const char *text)
{
    const char *behind_instance = strstr(text, ")::");
    return behind_instance ? behind_instance + 1 : strstr(text, "::");
}

bool counter_path_from_text(const char *text, char *ret_path, size_t size)
{
    const char *separator = text[0] == '\\' ? NULL : find_separator(text);
    int count = separator ? snprintf(ret_path, size, "\\%.*s\\%s", (int)(separator - text), text,
                                     separator + 2)
                          : snprintf(ret_path, size, "%s", text);
    return count >= 0 && (size_t)count < size;
}

bool counter_path_is_pattern(const char *path)
{
    return strpbrk(path, "*?") != NULL;
}

bool counter_path_has_machine(const char *path)
{
    return strncmp(path, "\\\\", 2) == 0;
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
