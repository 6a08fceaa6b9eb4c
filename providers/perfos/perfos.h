/* SPDX-License-Identifier: MIT */
/*
 * The seven objects of perfos.so, the kernel files that they share, and texts that two tables use
 * for the same number.
 */
#ifndef PERFOS_H
#define PERFOS_H

#include <openperflib/unstable.h>
#include <winerror.h>
#include <winperf.h>

/* The objects, in the order of the provider's table; `_` stands before each name. */
#define PERFOS_OBJECTS(_)                                                                          \
    _ perfos_system, _ perfos_memory, _ perfos_cache, _ perfos_processor, _ perfos_objects,        \
        _ perfos_paging_file, _ perfos_numa
extern const opl_object PERFOS_OBJECTS();

extern const opl_source perfos_stat, perfos_loadavg, perfos_meminfo, perfos_vmstat;

/* Clears the cached data about this machine's idle states. */
void perfos_processor_open(void);
/* The number of threads of the whole kernel: the number after the slash in proc/loadavg. */
bool perfos_threads(opl_reading *reading, uint64_t *ret);

#define PROCESSES_NAME "Processes"
#define PROCESSES_HELP                                                                             \
    "Processes that exist now on the whole machine: running, waiting, and ended ones whose "       \
    "parent "                                                                                      \
    "has not waited for them yet (zombies). Each kernel thread counts as a process, too."
#define PROCESSES_WHERE                                                                            \
    "link count of the folder proc, less its folders that are not processes (these are counted "   \
    "once a minute)"
#define THREADS_NAME "Threads"
#define THREADS_HELP                                                                               \
    "Threads that exist now on the whole machine. A process has at least one. The processors' "    \
    "idle threads are not included."
#define THREADS_WHERE "proc/loadavg, after the slash"

#endif
