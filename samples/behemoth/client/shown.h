/* SPDX-License-Identifier: MIT */
/* The herd as HKEY_PERFORMANCE_DATA shows it, of this machine or of another one. */
#ifndef BEHEMOTH_CLIENT_SHOWN_H
#define BEHEMOTH_CLIENT_SHOWN_H

#include <openperflib/windows.h>

#include <stdbool.h>
#include <stdint.h>

#include <behemoth.h>

enum { SHOWN_SYMBOLS = BEHEMOTHS_SUMMARY_FOUNDERS + 2, SHOWN_NONE = -1 };

struct shown_behemoth {
    char name[64];
    int64_t mother;                             /* a position, or SHOWN_NONE */
    uint64_t values[BEHEMOTH_BIRTHDAY / 2 + 1]; /* by symbol / 2 */
};

struct shown {
    HKEY data;     /* HKEY_PERFORMANCE_DATA, or that of another machine */
    DWORD first;   /* First Counter: what the symbols are added to */
    LONGLONG time; /* the Behemoth object's clock */
    struct shown_behemoth *all;
    size_t count, room;
    uint64_t summary[SHOWN_SYMBOLS / 2]; /* by symbol / 2 */
    BYTE *block;
    DWORD block_room;
};

/* `machine`: NULL for this one. A status of Windows; ERROR_FILE_NOT_FOUND: not registered there. */
LSTATUS shown_open(struct shown *shown, const char *machine);
/* Asks for both objects at once. ERROR_FILE_NOT_FOUND: they are not in the answer. */
LSTATUS shown_read(struct shown *shown);
void shown_close(struct shown *shown);

#endif
