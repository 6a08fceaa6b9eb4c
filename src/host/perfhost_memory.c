/* SPDX-License-Identifier: MIT */
/* How much memory a helper has. The kernel's limits RLIMIT_AS and RLIMIT_DATA cannot be used,
 * because they also count memory that managed code and sanitizers only reserve. */
#include "host/perfhost.h"

#include <stdio.h>
#include <unistd.h>

uint32_t memory_resident_mib(pid_t pid)
{
    char path[32];
    unsigned long pages = 0;
    snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
    FILE *file = fopen(path, "re");
    if (file && fscanf(file, "%*u %lu", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    return (uint32_t)((uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE) >> 20);
}
