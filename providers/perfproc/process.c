/* SPDX-License-Identifier: MIT */
/*
 * Process (230): Idle, every process of proc in its order, _Total. A name is the command name that
 * the kernel keeps (15 characters; kernel threads may have more), with characters replaced that
 * have a meaning in counter paths: kworker/0:1 is kworker_0:1 (docs/windows/providers.md#d6). Equal
 * names stay equal; zombies and kernel threads are included. Only its owner may read a process's
 * file io: a user who may not read those of all processes has no counters of I/O here, see Process
 * IO.
 *
 * Process V2 (101900) has the same rows; its instances are named as those of Windows 11's object of
 * this name, "name:number", so that no two are equal. It is costly, so that an answer to Global
 * does not have every process twice.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "perfproc.h"

enum { PROCESS_THREADS = 20, PROCESS_MEMORY = 23 }; /* words of proc/PID/stat */
enum { STATM_RESIDENT = 2, STATM_SHARED };          /* of proc/PID/statm */

const opl_source perfproc_stat = {"proc/*/stat", .stat = true};
/* Kernel threads and zombies have no memory, so proc/PID/status has no sizes for them. */
const opl_source perfproc_status = {"proc/*/status", .if_source = &perfproc_stat,
                                    .if_word = PROCESS_MEMORY};

/* A size from statm, which the kernel makes twice as fast as status. */
static bool from_statm(opl_reading *reading, unsigned word, uint64_t *ret)
{
    static const opl_source statm = {"proc/*/statm", .if_source = &perfproc_stat,
                                     .if_word = PROCESS_MEMORY};
    if (!opl_reading_column(reading, &statm, word, ret))
        return false;
    *ret *= (uint64_t)sysconf(_SC_PAGESIZE);
    return true;
}

/* A size from status: 0 for a process without memory. False: the kernel does not show it. */
static bool from_status(opl_reading *reading, const char *key, uint64_t *ret)
{
    uint64_t resident;
    if (opl_reading_key(reading, &perfproc_status, key, ret)) {
        *ret *= 1024;
        return true;
    }
    *ret = 0;
    return opl_reading_text(reading, &perfproc_status, NULL) &&
           !opl_reading_key(reading, &perfproc_status, "VmRSS", &resident);
}

bool perfproc_resident(opl_reading *reading, uint64_t *ret)
{
    return (!opl_reading_has(reading, &perfproc_status) &&
            from_statm(reading, STATM_RESIDENT, ret)) ||
           from_status(reading, "VmRSS", ret);
}

/* Before Linux 4.5 only statm has it. */
static bool private_resident(opl_reading *reading, uint64_t *ret)
{
    uint64_t shared;
    if (opl_reading_has(reading, &perfproc_status) && from_status(reading, "RssAnon", ret))
        return true;
    if (!from_statm(reading, STATM_RESIDENT, ret) || !from_statm(reading, STATM_SHARED, &shared))
        return from_status(reading, "RssAnon", ret);
    *ret -= shared;
    return true;
}

/* True if no process can have memory in paging files: there are none, and none was ever written
 * to. In a container, meminfo may be that of the container's limits, but vmstat is the system's. */
static bool nothing_is_paged(opl_reading *reading)
{
    static const opl_source meminfo = {"proc/meminfo"}, vmstat = {"proc/vmstat"};
    uint64_t size, written, compressed;
    return opl_reading_key(reading, &meminfo, "SwapTotal", &size) && size == 0 &&
           opl_reading_key(reading, &vmstat, "pswpout", &written) && written == 0 &&
           (!opl_reading_key(reading, &vmstat, "zswpout", &compressed) || compressed == 0);
}

bool perfproc_private_bytes(opl_reading *reading, uint64_t *ret)
{
    uint64_t paged = 0;
    bool none = !opl_reading_has(reading, &perfproc_status) && nothing_is_paged(reading);
    if ((!none && !from_status(reading, "VmSwap", &paged)) || !private_resident(reading, ret))
        return false;
    *ret += paged;
    return true;
}

bool perfproc_handle_count(opl_reading *reading, uint64_t *ret)
{
    return opl_reading_folder_count(reading, "proc/*/fd", ret);
}

/* clang-format off */
static const opl_counter counters[] = {
#define PEAK_LEVEL PERF_DETAIL_ADVANCED
#define SWAP_LEVEL PERF_DETAIL_ADVANCED
#include "rows.h"
    {1478, 1479, PERF_COUNTER_LARGE_RAWCOUNT, -5, PERF_DETAIL_NOVICE, OPL_FN_OF(&perfproc_status, private_resident),
     .item = OPL_FIELD(struct perfproc_process, private_resident),
     .where = "`proc/*/status`: RssAnon, KiB to bytes; if no other value of that file is needed, the same number from "
              "`proc/*/statm`: word 2 - word 3, pages to bytes",
     .name = "Working Set - Private",
     .help = "The part of the working set, in bytes, that belongs to this process alone and is not shared with "
             "others."},
};
/* clang-format on */

/* ---- instances ---- */

void perfproc_number_name(opl_listing *processes, const char *number)
{
    opl_listing_append_name(processes, &perfproc_process_v2, ":");
    opl_listing_append_name(processes, &perfproc_process_v2, number);
}

/* Adds a process from its files. False: the process has ended; the kernel may release it while its
 * files are read, and then shows 0 threads. */
bool perfproc_read_process(opl_listing *processes, const char *folder, const char *name,
                           size_t length)
{
    if (!opl_listing_read(processes, folder, name, length))
        return false;
    perfproc_number_name(processes, folder);
    if (opl_listing_column(processes, &perfproc_stat, PROCESS_THREADS) > 0)
        return true;
    opl_listing_withdraw(processes);
    return false;
}

static bool add_thread(opl_listing *threads, uint32_t process, uint32_t thread, uint32_t position,
                       unsigned ordinal)
{
    char folder[40], name[16];
    snprintf(folder, sizeof folder, "%u/task/%u", (unsigned)process, (unsigned)thread);
    int length = snprintf(name, sizeof name, "%u", ordinal);
    if (!opl_listing_read_with(threads, folder, name, (size_t)length, process, NULL))
        return false;
    opl_listing_parent(threads, &perfproc_process, position);
    return true;
}

/* Adds the threads of the process that was added last. `threads` or `details` may be NULL: not
 * requested. False: the process has ended. */
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

void perfproc_add_process(opl_listing *processes, const struct perfproc_companions *with,
                          uint32_t number)
{
    char folder[16];
    snprintf(folder, sizeof folder, "%u", (unsigned)number);
    if (!perfproc_read_process(processes, folder, "", 0))
        return;
    /* here, because their files are read already */
    if (with->io)
        perfproc_add_io(with->io, folder);
    perfproc_add_texts(with->texts, number, NULL);
    if ((with->threads || with->details) &&
        !add_threads(processes, with->threads, with->details, number))
        opl_listing_withdraw(processes);
}

static void list_with(opl_listing *processes, const struct perfproc_companions *with)
{
    const uint32_t *numbers;
    size_t count;
    perfproc_add_idle(processes, with->threads);
    if (!with->details && perfproc_list_records(processes, with))
        return;
    if (!opl_listing_numbers(processes, "proc", 0, &numbers, &count) ||
        !perfproc_begin_texts(with->texts, count))
        return;
    for (size_t i = 0; i < count; i++)
        if (!opl_listing_enough(processes) || (with->threads && !opl_listing_enough(with->threads)))
            perfproc_add_process(processes, with, numbers[i]);
}

static void list_processes(opl_listing *processes)
{
    const struct perfproc_companions with = {
        .threads = opl_listing_of(processes, &perfproc_thread),
        .details = opl_listing_of(processes, &perfproc_thread_details),
    };
    list_with(processes, &with);
}

static void list_processes_v2(opl_listing *processes)
{
    struct perfproc_texts texts = {.listing = opl_listing_of(processes, &perfproc_process_details)};
    const struct perfproc_companions with = {
        .io = opl_listing_of(processes, &perfproc_process_io),
        .texts = texts.listing ? &texts : NULL,
    };
    list_with(processes, &with);
}

const opl_object perfproc_process = {
    .index = 230,
    .help_index = 231,
    .name = "Process",
    .help =
        "The Process object shows what each running program uses: processor time, memory, "
        "threads and input and output. The instance _Total is the sum of all processes that "
        "exist: what a process has used leaves the sum when it ends, and rates of _Total are then "
        "too low. Processor has the true processor time.",
    OPL_COUNTERS(counters),
    .default_counter = 6,
    .clock = true,
    .instances = true,
    .total = "_Total",
    .list = list_processes,
};

const opl_object perfproc_process_v2 = {
    .index = 101900,
    .help_index = 101901,
    .name = "Process V2",
    .help = "The Process V2 object shows the same as Process. Its instances have the number of the "
            "process after the name, so that each has a name of its own, which never changes.",
    OPL_COUNTERS(counters),
    .default_counter = 6,
    .clock = true,
    .costly = true,
    .instances = true,
    .total = "_Total",
    .list = list_processes_v2,
    .rows_as = &perfproc_process,
};
