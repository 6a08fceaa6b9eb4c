/* SPDX-License-Identifier: MIT */
/* Finds where a helper crashed: the chain of calls, with names as far as the libraries' symbol
 * tables have them. */
#include "host/perfhost.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 8 }; /* maximum number of recorded frames, including those of the handler */

void crash_prepare(void)
{
    void *frame;
    backtrace(&frame, 1); /* loads the library that backtrace needs now; after a crash that may fail
                           * */
}

/* Writes a place such as "farm.so+0x1234 (CollectFarm+0x20)"; outside of libraries, the address. */
static int write_place(char *to, size_t capacity, const char *before, void *place,
                       const Dl_info *info)
{
    uintptr_t at = (uintptr_t)place;
    if (!info->dli_fname)
        return snprintf(to, capacity, "%s0x%" PRIxPTR, before, at);
    const char *slash = strrchr(info->dli_fname, '/');
    const char *name = slash ? slash + 1 : info->dli_fname;
    uintptr_t offset = at - (uintptr_t)info->dli_fbase;
    if (!info->dli_sname)
        return snprintf(to, capacity, "%s%s+0x%" PRIxPTR, before, name, offset);
    return snprintf(to, capacity, "%s%s+0x%" PRIxPTR " (%s+0x%" PRIxPTR ")", before, name, offset,
                    info->dli_sname, at - (uintptr_t)info->dli_saddr);
}

/* True if `place` is in perfhost's own code, which handles the signal and called the provider. */
static bool is_own(void *place)
{
    Dl_info own, info;
    return dladdr((void *)(uintptr_t)crash_prepare, &own) && dladdr(place, &info) &&
           info.dli_fbase == own.dli_fbase;
}

void crash_write_calls(char *to, size_t capacity)
{
    void *frames[MOST];
    int count = backtrace(frames, MOST), used = 0, i = 0;
    while (i < count && !is_own(frames[i])) /* skip frames of a sanitizer */
        i++;
    while (i < count && is_own(frames[i]))
        i++;
    i++; /* skip the frame by which the kernel returns from the handler */
    for (; i < count && (size_t)used < capacity && !is_own(frames[i]); i++) {
        Dl_info info = {0};
        dladdr(frames[i], &info);
        used += write_place(to + used, capacity - (size_t)used, used ? ", called by " : "",
                            frames[i], &info);
    }
}
