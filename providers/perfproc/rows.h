/* SPDX-License-Identifier: MIT */
/* The common rows of Process and Job Object Details, in Windows' order; the including file
 * defines the detail levels of two of them: PEAK_LEVEL, SWAP_LEVEL. */
#define PROCESS(member) OPL_FIELD(struct perfproc_process, member)
/* clang-format off */
    {6, 189, PERF_100NSEC_TIMER, 0, PERF_DETAIL_NOVICE, OPL_COLUMNS(&perfproc_stat, 14, 15, OPL_TICKS),
     .item = PROCESS(processor_time),
     .name = "% Processor Time",
     .help = "The share of elapsed time that the threads of the process ran on a processor. On a machine with "
             "several processors it may exceed 100 percent."},
    {142, 157, PERF_100NSEC_TIMER, 0, PERF_DETAIL_ADVANCED, OPL_COLUMN(&perfproc_stat, 14, OPL_TICKS),
     .item = PROCESS(user_time),
     .name = "% User Time",
     .help = "The share of elapsed time that the threads of the process ran in user mode, that is in the program's"
             " own code and its libraries."},
    {144, 159, PERF_100NSEC_TIMER, 0, PERF_DETAIL_ADVANCED, OPL_COLUMN(&perfproc_stat, 15, OPL_TICKS),
     .item = PROCESS(system_time),
     .name = "% Privileged Time",
     .help = "The share of elapsed time that the threads of the process ran in privileged mode, that is inside the"
             " operating system on the program's behalf."},
    {172, 173, PERF_COUNTER_LARGE_RAWCOUNT, -6, PERF_DETAIL_EXPERT, OPL_KEY(&perfproc_status, "VmPeak", OPL_KIB),
     .item = PROCESS(virtual_peak),
     .name = "Virtual Bytes Peak",
     .help = "The largest size, in bytes, that the virtual address space of the process has had since it was "
             "started."},
    {174, 175, PERF_COUNTER_LARGE_RAWCOUNT, -6, PERF_DETAIL_EXPERT, OPL_COLUMN(&perfproc_stat, 23, OPL_ONE),
     .item = PROCESS(virtual_bytes),
     .name = "Virtual Bytes",
     .help = "The size, in bytes, of the virtual address space that the process uses. Not all of it need be in "
             "memory or on disk."},
    {28, 177, PERF_COUNTER_COUNTER, -1, PERF_DETAIL_NOVICE, OPL_COLUMNS(&perfproc_stat, 10, 12, OPL_ONE),
     .item = PROCESS(faults),
     .name = "Page Faults/sec",
     .help = "The rate at which the threads of the process touch a page that is not in its working set. Faults "
             "that need the disk and faults that do not are both counted."},
    {178, 179, PERF_COUNTER_LARGE_RAWCOUNT, -5, PEAK_LEVEL, OPL_KEY(&perfproc_status, "VmHWM", OPL_KIB),
     .item = PROCESS(resident_peak),
     .name = "Working Set Peak",
     .help = "The largest number of bytes that the working set of the process has had since it was started."},
    {180, 181, PERF_COUNTER_LARGE_RAWCOUNT, -5, PERF_DETAIL_NOVICE, OPL_FN_OF(&perfproc_status, perfproc_resident),
     .item = PROCESS(resident),
     .where = "`proc/*/status`: VmRSS, KiB to bytes; if no other value of that file is needed, the same number from "
              "`proc/*/statm`: word 2, pages to bytes",
     .name = "Working Set",
     .help = "The physical memory, in bytes, that the pages of the process occupy now. Pages that it shares with "
             "other processes count in each of them."},
    {184, 185, PERF_COUNTER_LARGE_RAWCOUNT, -6, SWAP_LEVEL, OPL_KEY(&perfproc_status, "VmSwap", OPL_KIB),
     .item = PROCESS(swapped),
     .name = "Page File Bytes",
     .help = "The memory of the process, in bytes, that lies in paging files (swap) at this moment."},
    {186, 187, PERF_COUNTER_LARGE_RAWCOUNT, -5, PERF_DETAIL_ADVANCED, OPL_FN_OF(&perfproc_status, perfproc_private_bytes),
     .item = PROCESS(private_bytes),
     .where = "`proc/*/status`: RssAnon + VmSwap, KiB to bytes; if no other value of that file is needed, and nothing was "
              "ever paged out, the same number from `proc/*/statm`: word 2 - word 3, pages to bytes",
     .name = "Private Bytes",
     .help = "The memory, in bytes, that belongs to this process alone and cannot be shared with other processes."},
    {680, 681, PERF_COUNTER_RAWCOUNT, 0, PERF_DETAIL_ADVANCED, OPL_COLUMN(&perfproc_stat, 20, OPL_ONE),
     .item = PROCESS(threads),
     .name = "Thread Count",
     .help = "The number of threads that the process has at this moment."},
    {682, 683, PERF_COUNTER_RAWCOUNT, 0, PERF_DETAIL_ADVANCED, OPL_FN(perfproc_priority_base), .total = OPL_NONE,
     .item = PROCESS(priority_base),
     .name = "Priority Base",
     .help = "The base priority of the process or thread. Its threads are scheduled around this value; a higher "
             "one goes first.",
     .where = "`proc/*/stat`: words 19, 40, 41: nice 19..0..-20 is 1..8..15, real-time priority 1..99 is 16..31, a "
              "deadline 31, the idle policy 1"},
    {684, 685, PERF_ELAPSED_TIME, -4, PERF_DETAIL_ADVANCED, OPL_FN(perfproc_creation), .total = OPL_NOW,
     .item = PROCESS(creation),
     .name = "Elapsed Time",
     .help = "The time, in seconds, since the process or thread was started.",
     .where = "`proc/*/stat`: word 22, ticks since the start of the system, added to the FILETIME of that start"},
    {784, 785, PERF_COUNTER_RAWCOUNT, -1, PERF_DETAIL_NOVICE, OPL_COLUMN(&perfproc_stat, 1, OPL_ONE), .total = OPL_NONE,
     .item = PROCESS(id),
     .name = "ID Process",
     .help = "The number that identifies the process as long as it exists. It may be given to another process "
             "later."},
    {1410, 1411, PERF_COUNTER_RAWCOUNT, -1, PERF_DETAIL_NOVICE, OPL_COLUMN(&perfproc_stat, 4, OPL_ONE), .total = OPL_NONE,
     .item = PROCESS(parent),
     .name = "Creating Process ID",
     .help = "The number of the process that created this one. That process may have ended, and its number may "
             "belong to another by now."},
    {952, 953, PERF_COUNTER_RAWCOUNT, 0, PERF_DETAIL_ADVANCED, OPL_FN(perfproc_handle_count),
     .item = PROCESS(handles),
     .name = "Handle Count",
     .help = "The number of handles, open files included, that the process has at this moment.",
     .where = "`proc/*/fd`: the size of the folder (Linux 6.2 and later), else its entries, where they may be "
              "listed"},
#include "io_rows.h"
/* clang-format on */
#undef PROCESS
