/* SPDX-License-Identifier: MIT */
/* The herd as HKEY_PERFORMANCE_DATA shows it, of this machine or of another one. */
#ifndef BEHEMOTH_CLIENT_SHOWN_H
#define BEHEMOTH_CLIENT_SHOWN_H

#include <windows.h>

#include <openperflib/block.h>

#include <stdbool.h>
#include <stdint.h>

#include <behemoth.h>

enum {
    SHOWN_NONE = -1,
    SHOWN_NAME = 64, /* bytes of a name, with the NUL: more is cut */
    SHOWN_SYMBOLS = BEHEMOTHS_SUMMARY_FOUNDERS + 2,
    SHOWN_VALUES = BEHEMOTH_BIRTHDAY / 2 + 1
};

struct shown_behemoth {
    char name[SHOWN_NAME];
    int64_t mother; /* a position, as the block has it: may be anything; SHOWN_NONE */
    uint64_t values[SHOWN_VALUES]; /* by symbol / 2 */
};

/* A counter of the summary in the newest answer, and in the one before: a rate needs both. */
struct shown_pair {
    bool there, was_there;
    opl_sample now, before;
};

struct shown {
    HKEY data;     /* HKEY_PERFORMANCE_DATA, or that of another machine */
    DWORD first;   /* what the symbols are added to: the provider's First Counter */
    LONGLONG time; /* the Behemoth object's clock, and its ticks in a second */
    LONGLONG frequency;
    char machine[SHOWN_NAME]; /* its name in the answer */
    bool has[SHOWN_VALUES];   /* every behemoth has this value; else all of them are 0 */
    struct shown_behemoth *all;
    size_t count, capacity;
    uint64_t summary[SHOWN_SYMBOLS / 2]; /* by symbol / 2 */
    struct shown_pair pairs[SHOWN_SYMBOLS / 2];
    struct shown_behemoth *spare; /* where the next answer is read */
    size_t spare_capacity;
    BYTE *block;
    DWORD block_capacity;
};

/* `machine`: NULL for this one. Returns a Windows status; ERROR_FILE_NOT_FOUND: not registered
 * there. shown_close may be called after any status. */
LSTATUS shown_open(struct shown *shown, const char *machine);
/* Queries both objects at once. ERROR_FILE_NOT_FOUND: they are not in the answer;
 * ERROR_INVALID_DATA: it is damaged. The old data is kept then. */
LSTATUS shown_read(struct shown *shown);
/* The same with a given answer, which is not trusted. */
LSTATUS shown_take(struct shown *shown, const void *block, size_t size);
void shown_close(struct shown *shown);

/* Does the server answer the provider? If not, all data is from its last answer. */
bool shown_server_there(const struct shown *shown);
/* Has it ever? */
bool shown_server_heard(const struct shown *shown);
/* A value of the summary by its type: a count, a rate, a percentage, seconds. False: the
 * answer has none, or not yet: rates need two answers. */
bool shown_summary(const struct shown *shown, unsigned symbol, double *ret);
/* How old a behemoth is, in seconds. False: the answer does not tell. */
bool shown_age(const struct shown *shown, const struct shown_behemoth *one, double *ret);

#endif
