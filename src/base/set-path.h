/* SPDX-License-Identifier: MIT */
/* The folders of logman's sets, for logman and for the readers of captures. */
#ifndef OPL_BASE_SET_PATH_H
#define OPL_BASE_SET_PATH_H

#include <stdbool.h>

/* Where a set of logman, its captures and its state are: of the system, or of the user (`user`).
 * Returns the path, to be freed: a file for PLACE_SET, else a folder, which may be missing. `name`
 * NULL: the folder of all sets. NULL: no memory, or the user has no home folder. */
enum set_place { PLACE_SET, PLACE_CAPTURES, PLACE_RUN };
char *set_path(bool user, const char *name, enum set_place place);

#endif
