/* SPDX-License-Identifier: MIT */
/* The symbol file of costly. */
#define COSTLY_FOLDER 0
#define COSTLY_ENTRIES 2
#define COSTLY_FILES 4
#define COSTLY_BYTES 6
