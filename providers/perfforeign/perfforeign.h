/* SPDX-License-Identifier: MIT */
/* Private to perfforeign: machines that somebody asked for, with their keys. */
#ifndef PERFFOREIGN_H
#define PERFFOREIGN_H

#include <openperflib/object.h>
#include <openperflib/windows.h>

enum { MACHINE_NAME_ROOM = 256 };

struct machine {
    struct machine *next; /* the one that was asked last comes first */
    WCHAR name[MACHINE_NAME_ROOM];
    char label[MACHINE_NAME_ROOM]; /* as an instance's name */
    HKEY key;                      /* NULL: not connected yet */
    DWORD status;                  /* Win32, of the newest question; 0: it answered */
    DWORD milliseconds;            /* that its newest answer took */
    ULONGLONG answers, failures, answer_bytes;
    ULONGLONG since; /* FILETIME of the newest answer; before the first, of the first question */
    /* the newest good answer, and to which question */
    unsigned char *kept;
    DWORD kept_size;
    WCHAR *kept_question;
};

/* The machine of that name, made if it is new: without \\, whatever its case. NULL: no memory, or
 * the name is too long. */
struct machine *machine_find(const WCHAR *name, size_t count);
/* Asks it for `question` and writes its block to `data`: *size bytes of room, then of the block; 0:
 * there is none. A machine that is away gives what it gave last, up to a minute ago. (C120)
 * ERROR_MORE_DATA. */
DWORD machine_ask(struct machine *machine, const WCHAR *question, void *data, DWORD *size);
struct machine *machine_first(void);
void machine_forget_all(void);

#endif
