/* SPDX-License-Identifier: MIT */
/*
 * Job Object (1500) and Job Object Details (1548): the kernel's control groups (version 2), and the
 * processes that are in each. A group's values include those of its subgroups, so there is no
 * total.
 *
 * A job is named by its path. Its slashes become |, which systemd allows in no name, so that a/b
 * and a_b remain different. Names that become equal because of other characters that a counter path
 * cannot have get the suffixes "~2", "~3", in the order of their paths.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perfproc.h"

enum { NAME_SIZE = 512, DEPTH = 8 };

#define GROUP(file)                                                                                \
    {                                                                                              \
        .path = "sys/fs/cgroup/*/" file                                                            \
    }
static const opl_source cpu = GROUP("cpu.stat");
static const opl_source memory_stat = GROUP("memory.stat");
static const opl_source memory_events = GROUP("memory.events");
static const opl_source memory_max = GROUP("memory.max");
static const opl_source cpu_max = GROUP("cpu.max");
static const opl_source cpu_pressure = GROUP("cpu.pressure");
static const opl_source memory_pressure = GROUP("memory.pressure");
static const opl_source io_pressure = GROUP("io.pressure");
/* If the kernel has this file, each group has its own pressure files. */
static const opl_source pressure = {.path = "proc/pressure/memory"};
static const opl_source processes = {.path = "sys/fs/cgroup/*/cgroup.procs", .pieces = true};
/* The enabled controllers of the groups below the root. */
static const opl_source controllers = {.path = "sys/fs/cgroup/cgroup.subtree_control"};

/* The processes in the group itself, without subgroups: cgroup.procs has a line for each. */
static bool process_count(opl_reading *reading, uint64_t *ret)
{
    const char *text = opl_reading_text(reading, &processes, NULL);
    if (!text)
        return false;
    for (*ret = 0; *text; text = opl_next_line(text))
        ++*ret;
    return true;
}

/* Reads the total, in microseconds: "some avg10=0.12 avg60=0.00 avg300=0.00 total=123". */
static bool some_time(opl_reading *reading, const opl_source *source, uint64_t *ret)
{
    static const char key[] = " total=";
    const char *text = opl_reading_text(reading, source, NULL);
    const char *at = text && !strncmp(text, "some ", 5) ? strstr(text, key) : NULL;
    if (!at)
        return false;
    *ret = strtoull(at + sizeof key - 1, NULL, 10) * 10;
    return true;
}

#define SOME_TIME(name)                                                                            \
    static bool name##_time(opl_reading *reading, uint64_t *ret)                                   \
    {                                                                                              \
        return some_time(reading, &name, ret);                                                     \
    }
SOME_TIME(cpu_pressure)
SOME_TIME(memory_pressure)
SOME_TIME(io_pressure)

#define JOB PERF_DETAIL_ADVANCED
#define TIMER PERF_100NSEC_TIMER, 0, JOB
#define MILLISECONDS PERF_COUNTER_LARGE_RAWCOUNT, 0, JOB
#define TIME(key) OPL_KEY(&cpu, key, OPL_MICROSECONDS), .total = OPL_NONE
#define TOTAL(key) OPL_KEY(&cpu, key, OPL_PARTS(1000)), .total = OPL_NONE
#define MEMORY(file, key)                                                                          \
    OPL_KEY(&file, key, OPL_ONE), .total = OPL_NONE, .if_source = &controllers, .if_word = "memory"
#define ON(controller) .total = OPL_NONE, .if_source = &controllers, .if_word = controller
#define PRESSURE(name, file, what)                                                                 \
    TIMER, OPL_FN_OF(&name, name##_time),                                                          \
        .total = OPL_NONE, .if_source = &pressure, .if_word = "some",                              \
        .where = "`sys/fs/cgroup/*/" file "`: total of the line some, times 10",                   \
        .help = "Share of time that at least one task of the "                                     \
                "group waited for " what "."

/* clang-format off */
static const opl_counter job_counters[] = {
    {1502, 1503, TIMER, TIME("usage_usec"), .name = "Current % Processor Time",
     .help = "Share of one processor's time that the processes of the group use."},
    {1504, 1505, TIMER, TIME("user_usec"), .name = "Current % User Mode Time",
     .help = "Share of one processor's time that the processes of the group use in programs themselves."},
    {1506, 1507, TIMER, TIME("system_usec"), .name = "Current % Kernel Mode Time",
     .help = "Share of one processor's time that the processes of the group use in the kernel."},
    {1514, 1515, PERF_COUNTER_COUNTER, 0, JOB, MEMORY(memory_stat, "pgfault"), .name = "Pages/Sec",
     .help = "Page faults per second of the processes of the group."},
    {1518, 1519, PERF_COUNTER_RAWCOUNT, 0, JOB, OPL_FN_OF(&processes, process_count), .total = OPL_NONE, .name = "Process Count - Active",
     .help = "Processes that are in the group itself now. Each subgroup counts its own.", .where = "lines of `sys/fs/cgroup/*/cgroup.procs`"},
    {1520, 1521, PERF_COUNTER_RAWCOUNT, 0, JOB, MEMORY(memory_events, "oom_kill"), .name = "Process Count - Terminated",
     .help = "Processes of the group that the kernel ended because the group or the machine had no memory left. No other limit of control groups ends "
             "processes."},
    {1522, 1523, MILLISECONDS, TOTAL("usage_usec"), .name = "Total mSec - Processor",
     .help = "Processor time in milliseconds that the processes of the group have used since it was made."},
    {1524, 1525, MILLISECONDS, TOTAL("user_usec"), .name = "Total mSec - User Mode",
     .help = "Processor time in milliseconds that the processes of the group have used in user mode since it was made."},
    {1526, 1527, MILLISECONDS, TOTAL("system_usec"), .name = "Total mSec - Kernel Mode",
     .help = "Processor time in milliseconds that the processes of the group have used in the kernel since it was made."},
    {102102, 102103, PERF_COUNTER_LARGE_RAWCOUNT, -6, JOB, OPL_COLUMN(&memory_max, 1, OPL_ONE), ON("memory"), .name = "Memory Limit Bytes",
     .help = "Memory that the group may use at most; 0 if it has no limit. A group above it may have a lower limit."},
    {102104, 102105, PERF_RAW_FRACTION, 0, JOB, OPL_COLUMN(&cpu_max, 1, OPL_ONE), .base = OPL_COLUMN(&cpu_max, 2, OPL_ONE), ON("cpu"),
     .name = "% Processor Limit",
     .help = "Share of one processor's time that the group may use at most, 200 for two processors; 0 if it has no limit. A group above it may have a lower "
             "limit."},
    {102106, 102107, TIMER, OPL_KEY(&cpu, "throttled_usec", OPL_MICROSECONDS), ON("cpu"), .name = "% Throttled",
     .help = "Share of time that the group's tasks had to wait because all processor time that it may use was used up."},
    {102108, 102109, PRESSURE(cpu_pressure, "cpu.pressure", "a processor"), .name = "% Processor Pressure"},
    {102110, 102111, PRESSURE(memory_pressure, "memory.pressure", "memory"), .name = "% Memory Pressure"},
    {102112, 102113, PRESSURE(io_pressure, "io.pressure", "a disk or another device"), .name = "% Disk Pressure"},
};

static const opl_counter details_counters[] = {
#define PEAK_LEVEL PERF_DETAIL_NOVICE
#define SWAP_LEVEL PERF_DETAIL_NOVICE
#include "rows.h"
};
/* clang-format on */

/* ---- names ---- */

/* Hashes of the names in this answer, ignoring case: equal names have equal hashes. */
struct job_names {
    size_t count, capacity;
    uint64_t sums[];
};

static uint64_t sum_of(const char *name, size_t bytes)
{
    uint64_t sum = 14695981039346656037u;
    for (size_t i = 0; i < bytes; i++)
        sum = (sum ^ (uint64_t)tolower((unsigned char)name[i])) * 1099511628211u;
    return sum;
}

/* Makes space for `capacity` hashes, may move them. NULL: no memory; the collection fails. */
static struct job_names *names_capacity(opl_listing *jobs, size_t capacity)
{
    struct job_names *names = opl_reading_memory(
        opl_listing_reading(jobs), PERFPROC_SLOT_JOBS,
        sizeof(struct job_names) + capacity * sizeof(((struct job_names *)0)->sums[0]));
    if (names && names->capacity < capacity)
        names->capacity = capacity;
    return names;
}

static bool names_have(const struct job_names *names, uint64_t sum)
{
    for (size_t i = 0; i < names->count; i++)
        if (names->sums[i] == sum)
            return true;
    return false;
}

/* Makes the name different from all earlier ones; returns its new length. */
static size_t make_unique(struct job_names *names, char name[NAME_SIZE], size_t bytes)
{
    size_t plain = bytes;
    uint64_t sum = sum_of(name, bytes);
    for (unsigned number = 2; names_have(names, sum); number++) {
        char tail[16];
        size_t more = (size_t)snprintf(tail, sizeof tail, "~%u", number);
        if (plain + more >= NAME_SIZE)
            plain = NAME_SIZE - 1 - more;
        memcpy(name + plain, tail, more + 1);
        bytes = plain + more;
        sum = sum_of(name, bytes);
    }
    names->sums[names->count++] = sum;
    return bytes;
}

static size_t name_of(const char *path, char name[NAME_SIZE])
{
    size_t bytes = opl_sanitize_name(name, NAME_SIZE, path, strlen(path), true);
    for (char *slash = name; (slash = strchr(slash, '/')) != NULL; slash++)
        *slash = '|';
    return bytes;
}

/* ---- instances ---- */

/* Adds the processes of the job that was added last. Processes of another pid namespace, which the
 * kernel lists as 0, are omitted. */
static void add_processes(opl_listing *jobs, opl_listing *details)
{
    const char *text = opl_reading_text(opl_listing_reading(jobs), &processes, NULL);
    uint32_t position = opl_listing_count(jobs) - 1;
    for (; text && *text; text = opl_next_line(text)) {
        char number[16];
        size_t digits = strspn(text, "0123456789");
        if (digits == 0 || digits >= sizeof number || *text == '0')
            continue;
        memcpy(number, text, digits);
        number[digits] = 0;
        if (opl_listing_read(details, number, "", 0))
            opl_listing_parent(details, &perfproc_job, position);
    }
}

static void list_jobs(opl_listing *jobs)
{
    opl_listing *details = opl_listing_of(jobs, &perfproc_job_details);
    struct job_names *names = names_capacity(jobs, 64);
    const char *found = opl_listing_folders(jobs, "sys/fs/cgroup", DEPTH);
    if (names)
        names->count = 0;
    for (; names && found && *found; found += strlen(found) + 1) {
        char name[NAME_SIZE];
        if (names->count == names->capacity && !(names = names_capacity(jobs, names->capacity * 2)))
            return;
        size_t bytes = make_unique(names, name, name_of(found, name));
        if (opl_listing_read(jobs, found, name, bytes) && details)
            add_processes(jobs, details);
    }
}

const opl_object perfproc_job = {
    .index = 1500,
    .help_index = 1501,
    .name = "Job Object",
    .help = "The Job Object object shows what groups of processes use, including their subgroups. "
            "Its instances are the kernel's control groups.",
    OPL_COUNTERS(job_counters),
    .default_counter = 1502,
    .costly = true,
    .needs = "sys/fs/cgroup/cgroup.controllers",
    .instances = true,
    .list = list_jobs,
};

const opl_object perfproc_job_details = {
    .index = 1548,
    .help_index = 1549,
    .name = "Job Object Details",
    .help =
        "The Job Object Details object shows what each process in a group uses, as Process does. "
        "The parent of a process is its control group.",
    OPL_COUNTERS(details_counters),
    .default_counter = 6,
    .clock = true,
    .costly = true,
    .needs = "sys/fs/cgroup/cgroup.controllers",
    .related = &perfproc_job,
    .instances = true,
    .listed_with = &perfproc_job,
    .rows_as = &perfproc_process,
};
