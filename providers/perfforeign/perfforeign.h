/* SPDX-License-Identifier: MIT */
/* Private to perfforeign: queried machines with their keys. */
#ifndef PERFFOREIGN_H
#define PERFFOREIGN_H

#include <openperflib/object.h>
#include <windows.h>

enum { MACHINE_NAME_SIZE = 256 };

struct foreign_machine {
    struct foreign_machine *next; /* the most recently queried one is first */
    WCHAR name[MACHINE_NAME_SIZE];
    char label[MACHINE_NAME_SIZE]; /* the machine's name, as an instance's name */
    HKEY key;                      /* NULL: not connected yet */
    DWORD status;                  /* Win32 status of the newest query; 0: success */
    DWORD milliseconds;            /* how long the newest answer took */
    ULONGLONG answers, failures, answer_bytes;
    ULONGLONG since; /* FILETIME of the newest answer; without an answer, of the first query */
    /* the newest valid answer, and its query */
    unsigned char *kept;
    DWORD kept_size;
    WCHAR *kept_request;
};

/* Finds the machine with this name (without \\, ignoring case), or adds it to the list. NULL: no
 * memory, or the name is too long. */
struct foreign_machine *machine_find(const WCHAR *name, size_t count);
/* Queries the machine with `request` and writes its block to `data`. *size in: the capacity; out:
 * the size of the block, 0: no block. For an unreachable machine the last block is written, if it
 * is at most a minute old. (docs/windows/articles.md#c120) ERROR_MORE_DATA: the block does not
 * fit. */
DWORD machine_query(struct foreign_machine *machine, const WCHAR *request, void *data, DWORD *size);
struct foreign_machine *machine_first(void);
void machine_forget_all(void);

#endif
