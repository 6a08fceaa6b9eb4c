/* SPDX-License-Identifier: MIT */
/* The machines of a list of counters: connected at the same time; an unreachable machine is
 * reported once. */
#ifndef OPL_TOOLS_MACHINES_H
#define OPL_TOOLS_MACHINES_H

#include <windows.h>
#include <stdbool.h>

struct machines {
    char **names; /* the machines' names with their backslashes, each once */
    LSTATUS *reasons;
    size_t count, capacity;
};

/* Adds the machine of a path, if the path has one. False: there is no memory. */
bool machines_note(struct machines *machines, const char *path);
/* Connects to all machines. Returns how many are unreachable; each is reported on stderr. */
size_t machines_connect(struct machines *machines, const char *tool);
/* Shows on a terminal the machine for which the program waits, and for how many other machines.
 * NULL: the wait is over. */
void machines_show_wait(const char *name, size_t others);
/* Was the path's machine unreachable when machines_connect was called? */
bool machines_lack(const struct machines *machines, const char *path);
void machines_done(struct machines *machines);

#endif
