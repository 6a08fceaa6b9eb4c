/* SPDX-License-Identifier: MIT */
/* The machines of a list of counters: met all at once, and who is away is said once. */
#ifndef OPL_TOOLS_MACHINES_H
#define OPL_TOOLS_MACHINES_H

#include <openperflib/windows.h>
#include <stdbool.h>

struct machines {
    char **names; /* with their backslashes; each once */
    LSTATUS *reasons;
    size_t count, room;
};

/* Enters a path's machine, if it has one. False: there is no memory. */
bool machines_note(struct machines *machines, const char *path);
/* Connects to all. Who is away is said on stderr; how many. */
size_t machines_meet(struct machines *machines, const char *tool);
/* A silent one takes seconds: who looks on at a terminal is told what for. NULL: it is over. */
void machines_show_wait(const char *name, size_t others);
/* Was the path's machine away when they were met? */
bool machines_lack(const struct machines *machines, const char *path);
void machines_done(struct machines *machines);

#endif
