/* SPDX-License-Identifier: MIT */
/* What the application and the provider agree upon: two names, and what lies in the memory. */
#ifndef APPSHARE_SHARED_H
#define APPSHARE_SHARED_H

#include <windows.h>

#define APPSHARE_MEMORY "Global\\openperflib appshare"
#define APPSHARE_GUARD "Global\\openperflib appshare guard"

/* Both numbers change together, under the guard: whoever copies them has both of one moment. */
struct appshare {
    DWORD version; /* 1 */
    DWORD done;    /* jobs, since the application began */
    DWORD waiting; /* jobs, now */
    DWORD sum;     /* done + waiting; shows that nothing was torn */
};

#endif
