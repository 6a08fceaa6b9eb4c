/* SPDX-License-Identifier: MIT */
/* Shared by the application and the provider: two names, and the layout of the memory. */
#ifndef APPSHARE_SHARED_H
#define APPSHARE_SHARED_H

#include <windows.h>

#define APPSHARE_MEMORY "Global\\openperflib appshare"
#define APPSHARE_GUARD "Global\\openperflib appshare guard"

/* The application changes all numbers together while it holds the guard (a mutex), so a copy that
 * is made while holding the guard is consistent. */
struct appshare {
    DWORD version; /* version of this layout: 1 */
    DWORD done;    /* jobs done since the application began */
    DWORD waiting; /* jobs that wait now */
    DWORD sum;     /* done + waiting; shows that a copy is consistent */
};

#endif
