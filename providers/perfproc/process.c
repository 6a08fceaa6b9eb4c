/* SPDX-License-Identifier: MIT */
/*
 * Process (230): Idle, every process of proc in its order, _Total. A name is the command name that
 * the kernel keeps (15 characters; kernel threads may have more); equal names stay equal, zombies
 * and kernel threads are there. io belongs to oneself: foreign processes' counts are 0 without
 * rights.
 */
#include <stdio.h>
#include <string.h>

#include "perfproc.h"

enum { PROCESS_THREADS = 20, PROCESS_MEMORY = 23 }; /* words of proc/PID/stat */

const opl_source perfproc_stat = {"proc/*/stat", .stat = true};
/* Kernel threads and zombies have no memory, so that status has nothing to say about it. */
static const opl_source status = {"proc/*/status", .if_source = &perfproc_stat,
                                  .if_word = PROCESS_MEMORY};
static const opl_source io = {"proc/*/io"};

static bool handle_count(opl_reading *reading, uint64_t *ret)
{
    return opl_reading_folder_count(reading, "proc/*/fd", ret);
}

#define PROCESS(member) OPL_FIELD(struct perfproc_process, member)
/* clang-format off */
static const opl_counter counters[] = {
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
    {172, 173, PERF_COUNTER_LARGE_RAWCOUNT, -6, PERF_DETAIL_EXPERT, OPL_KEY(&status, "VmPeak", OPL_KIB),
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
    {178, 179, PERF_COUNTER_LARGE_RAWCOUNT, -5, PERF_DETAIL_ADVANCED, OPL_KEY(&status, "VmHWM", OPL_KIB),
     .item = PROCESS(resident_peak),
     .name = "Working Set Peak",
     .help = "The largest number of bytes that the working set of the process has had since it was started."},
    {180, 181, PERF_COUNTER_LARGE_RAWCOUNT, -5, PERF_DETAIL_NOVICE, OPL_KEY(&status, "VmRSS", OPL_KIB),
     .item = PROCESS(resident),
     .name = "Working Set",
     .help = "The physical memory, in bytes, that the pages of the process occupy now. Pages that it shares with "
             "other processes count in each of them."},
    {184, 185, PERF_COUNTER_LARGE_RAWCOUNT, -6, PERF_DETAIL_ADVANCED, OPL_KEY(&status, "VmSwap", OPL_KIB),
     .item = PROCESS(swapped),
     .name = "Page File Bytes",
     .help = "The memory of the process, in bytes, that lies in paging files (swap) at this moment."},
    {186, 187, PERF_COUNTER_LARGE_RAWCOUNT, -5, PERF_DETAIL_ADVANCED, OPL_KEY(&status, "RssAnon + VmSwap", OPL_KIB),
     .item = PROCESS(private_bytes),
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
    {952, 953, PERF_COUNTER_RAWCOUNT, 0, PERF_DETAIL_ADVANCED, OPL_FN(handle_count),
     .item = PROCESS(handles),
     .name = "Handle Count",
     .help = "The number of handles, open files included, that the process has at this moment.",
     .where = "`proc/*/fd`: the size of the folder (Linux 6.2 and later), else its entries, where they may be "
              "listed"},
    {1412, 1413, PERF_COUNTER_BULK_COUNT, 0, PERF_DETAIL_ADVANCED, OPL_KEY(&io, "syscr", OPL_ONE),
     .item = PROCESS(reads),
     .name = "IO Read Operations/sec",
     .help = "The rate at which the process issues read requests, to files, network and devices."},
    {1414, 1415, PERF_COUNTER_BULK_COUNT, 0, PERF_DETAIL_ADVANCED, OPL_KEY(&io, "syscw", OPL_ONE),
     .item = PROCESS(writes),
     .name = "IO Write Operations/sec",
     .help = "The rate at which the process issues write requests, to files, network and devices."},
    {1416, 1417, PERF_COUNTER_BULK_COUNT, 0, PERF_DETAIL_ADVANCED, OPL_KEY(&io, "syscr + syscw", OPL_ONE),
     .item = PROCESS(operations),
     .name = "IO Data Operations/sec",
     .help = "The rate at which the process issues read and write requests together, to files, network and devices."},
    {1420, 1421, PERF_COUNTER_BULK_COUNT, 0, PERF_DETAIL_ADVANCED, OPL_KEY(&io, "rchar", OPL_ONE),
     .item = PROCESS(read_bytes),
     .name = "IO Read Bytes/sec",
     .help = "The rate at which the process reads bytes, from files, network and devices."},
    {1422, 1423, PERF_COUNTER_BULK_COUNT, 0, PERF_DETAIL_ADVANCED, OPL_KEY(&io, "wchar", OPL_ONE),
     .item = PROCESS(written_bytes),
     .name = "IO Write Bytes/sec",
     .help = "The rate at which the process writes bytes, to files, network and devices."},
    {1424, 1425, PERF_COUNTER_BULK_COUNT, 0, PERF_DETAIL_ADVANCED, OPL_KEY(&io, "rchar + wchar", OPL_ONE),
     .item = PROCESS(moved_bytes),
     .name = "IO Data Bytes/sec",
     .help = "The rate at which the process reads and writes bytes together, to and from files, network and "
             "devices."},
    {1478, 1479, PERF_COUNTER_LARGE_RAWCOUNT, -5, PERF_DETAIL_NOVICE, OPL_KEY(&status, "RssAnon", OPL_KIB),
     .item = PROCESS(private_resident),
     .name = "Working Set - Private",
     .help = "The part of the working set, in bytes, that belongs to this process alone and is not shared with "
             "others."},
};
/* clang-format on */

/* ---- instances ---- */

static bool add_thread(opl_listing *threads, uint32_t process, uint32_t thread, uint32_t position,
                       unsigned ordinal)
{
    char folder[40], name[16];
    snprintf(folder, sizeof folder, "%u/task/%u", (unsigned)process, (unsigned)thread);
    int length = snprintf(name, sizeof name, "%u", ordinal);
    if (!opl_listing_read_note(threads, folder, name, (size_t)length, process))
        return false;
    opl_listing_parent(threads, &perfproc_process, position);
    return true;
}

/* The threads of the process added last; false: they are gone, and so is the process. Either list
 * may be missing. */
static bool add_threads(opl_listing *processes, opl_listing *threads, opl_listing *details,
                        uint32_t process)
{
    const uint32_t *numbers = &process; /* the only thread has the number of its process */
    size_t count = 1;
    unsigned added = 0;
    char path[40];
    uint32_t position = opl_listing_count(processes) - 1;
    if (opl_listing_column(processes, &perfproc_stat, PROCESS_THREADS) != 1) {
        snprintf(path, sizeof path, "proc/%u/task", (unsigned)process);
        if (!opl_listing_numbers(processes, path, 1, &numbers, &count))
            return false;
    }
    for (size_t i = 0; i < count; i++)
        if (!threads || add_thread(threads, process, numbers[i], position, added)) {
            if (details)
                perfproc_add_details(details, process, numbers[i], position, added);
            added++;
        }
    return added > 0;
}

static void add_process(opl_listing *processes, opl_listing *threads, opl_listing *details,
                        uint32_t number)
{
    char folder[16];
    snprintf(folder, sizeof folder, "%u", (unsigned)number);
    if (!opl_listing_read(processes, folder, "", 0))
        return;
    if ((threads || details) && !add_threads(processes, threads, details, number))
        opl_listing_withdraw(processes);
}

void perfproc_add_process(opl_listing *processes, opl_listing *threads, uint32_t number)
{
    add_process(processes, threads, NULL, number);
}

static void list_processes(opl_listing *processes)
{
    opl_listing *threads = opl_listing_of(processes, &perfproc_thread);
    opl_listing *details = opl_listing_of(processes, &perfproc_thread_details);
    const uint32_t *numbers;
    size_t count;
    perfproc_add_idle(processes, threads);
    if (!details && perfproc_list_records(processes, threads))
        return;
    if (!opl_listing_numbers(processes, "proc", 0, &numbers, &count))
        return;
    for (size_t i = 0; i < count; i++)
        add_process(processes, threads, details, numbers[i]);
}

const opl_object perfproc_process = {
    .index = 230,
    .help_index = 231,
    .name = "Process",
    .help = "The Process object tells what each running program uses: processor time, memory, "
            "threads and input and output. The instance _Total is the sum of all processes.",
    OPL_COUNTERS(counters),
    .default_counter = 6,
    .clock = true,
    .instances = true,
    .total = "_Total",
    .list = list_processes,
};
