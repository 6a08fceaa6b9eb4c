/* SPDX-License-Identifier: MIT */
/*
 * Writes the captures of a set as logman does: a file an hour for the system and one for the
 * processes, a sample every 15 s. On the last day the machine is off from 05:00 to 06:10, the set
 * is stopped from 08:00 to 08:30, and the clock is ten minutes slow from 12:05 to 13:00. The
 * process "backup" runs from 03:00 to 03:05 of each day. A day begins at the time of day of END.
 *   make-set FOLDER END DAYS PROCESSES blg|zst [odd]
 * END is a local time, as seconds since 1970 in which the local time is read as UTC. With "odd" the
 * first process is a kernel worker, whose name changes with each sample, and from 14:00 to 14:01 of
 * the last day the machine's uptime is not known.
 */
#include "log/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STEP = 15, HOUR = 3600, DAY = 24 * HOUR, MOST = 300, COLUMNS = 24 };
static const LONGLONG second = 10000000, epoch = 11644473600;

struct world {
    const char *folder, *kind;
    LONGLONG end, begin;
    unsigned processes;
    bool odd;
};

static LONGLONG of_last_day(const struct world *world, LONGLONG time)
{
    return time - (world->end - DAY);
}

static bool is_missing(const struct world *world, LONGLONG time)
{
    LONGLONG at = of_last_day(world, time);
    return (at >= 5 * HOUR && at < 6 * HOUR + 600) || (at >= 8 * HOUR && at < 8 * HOUR + 1800);
}

static LONGLONG clock_of(const struct world *world, LONGLONG time)
{
    LONGLONG at = of_last_day(world, time);
    return (time + epoch - (at >= 12 * HOUR + 300 && at < 13 * HOUR ? 600 : 0)) * second;
}

static LONGLONG boot_of(const struct world *world, LONGLONG time)
{
    return of_last_day(world, time) > 6 * HOUR ? world->end - DAY + 6 * HOUR + 480
                                               : world->begin - 5 * DAY;
}

struct counter {
    const char *object, *instance, *counter;
    DWORD type;
    double busy; /* increase in a second (timers: in seconds); below 0: -busy, constant */
};
#define TIMER 0x20510500
#define RAW 0x00010100
/* clang-format off */
static const struct counter of_system[] = {
    {"Processor Information", "*", "% Processor Time", 0x21510500, 0.8},
    {"Processor Information", "*", "% User Time", TIMER, 0.15},
    {"Processor Information", "*", "% Privileged Time", TIMER, 0.05},
    {"Processor", "*", "% User Time", TIMER, 0.15},
    {"Processor", "*", "% Privileged Time", TIMER, 0.05},
    {"Memory", NULL, "Available Bytes", RAW, -3e9},
    {"Memory Usage", NULL, "% Used Memory", RAW, -40},
    {"PhysicalDisk", "*", "Disk Write Bytes/sec", 0x10410500, 5000},
    {"System", NULL, "System Up Time", 0x30240500, 0},
    {"System", NULL, "Processes", 0x00010000, -50},
};
static const struct counter of_processes[] = {
    {"Process V2", "*", "ID Process", RAW, 0},
    {"Process V2", "*", "% Processor Time", TIMER, 0.02},
    {"Process V2", "*", "Working Set", RAW, -5e6},
    {"Process V2", "*", "IO Disk Read Bytes/sec", 0x10410500, 100},
    {"Process V2", "*", "IO Disk Write Bytes/sec", 0x10410500, 200},
    {"Process V2", "*", "Thread Count", 0x00010000, -3},
    {"Process V2", "*", "Elapsed Time", 0x30240500, 0},
    {"Process V2", "*", "Creating Process ID", RAW, -1},
};
/* clang-format on */

static char names[MOST][32];
static struct log_item items[COLUMNS][MOST];

/* Fills the instances of a counter; returns how many there are. */
static size_t fill(const struct world *world, const struct counter *counter, LONGLONG time,
                   struct log_item *ret)
{
    static const char *const totals[] = {"_Total", "0", "1"}, *const cpus[] = {"_Total", "0,0",
                                                                               "0,1"};
    bool process = counter->object[0] == 'P' && strstr(counter->object, "Process V2");
    LONGLONG up = time - boot_of(world, time), daytime = (time - world->begin) % DAY - 3 * HOUR;
    bool backup = daytime >= 0 && daytime < 300;
    size_t count = process ? world->processes + backup : 3;
    for (size_t i = 0; i < count; i++) {
        bool is_backup = process && i == world->processes;
        LONGLONG pid = is_backup ? 4711 : (LONGLONG)(100 + i), since = is_backup ? daytime : up;
        const char *name = strstr(counter->object, "Information") ? cpus[i % 3] : totals[i % 3];
        if (process)
            snprintf(names[i], sizeof names[i], is_backup ? "backup:%lld" : "worker:%lld", pid);
        if (process && world->odd && i == 0)
            snprintf(names[i], sizeof names[i], "kworker_0:1%s:%lld",
                     time / STEP % 2 ? "-events" : "", pid);
        ret[i] = (struct log_item){.name = process ? names[i] : name};
        double add = is_backup && counter->busy < 1 ? 0.9 : counter->busy;
        ret[i].first = counter->busy < 0
                           ? (LONGLONG)-counter->busy
                           : (LONGLONG)(add * (double)(counter->type == 0x10410500 ? 1 : second) *
                                        (double)since);
        ret[i].second = clock_of(world, time);
        if (strcmp(counter->counter, "ID Process") == 0)
            ret[i].first = pid;
        if (strcmp(counter->counter, "Elapsed Time") == 0)
            ret[i].first = clock_of(world, time) - since * second;
    }
    return count;
}

static void fill_value(const struct world *world, const struct counter *counter, LONGLONG time,
                       struct log_item *memory, struct log_value *ret)
{
    LONGLONG stamp = clock_of(world, time);
    ret->raw.TimeStamp.dwLowDateTime = (DWORD)stamp;
    ret->raw.TimeStamp.dwHighDateTime = (DWORD)(stamp >> 32);
    if (counter->instance) {
        ret->kind = LOG_ARRAY;
        ret->items = memory;
        ret->count = fill(world, counter, time, memory);
        return;
    }
    ret->kind = LOG_RAW;
    ret->raw.FirstValue = counter->busy < 0 ? (LONGLONG)-counter->busy
                                            : stamp - (time - boot_of(world, time)) * second;
    ret->raw.SecondValue = stamp;
    LONGLONG at = of_last_day(world, time);
    bool unknown = at >= 14 * HOUR && at < 14 * HOUR + 60 && counter->type == 0x30240500;
    ret->status = ret->raw.CStatus = world->odd && unknown ? PDH_CSTATUS_NO_INSTANCE : 0;
}

static void must(PDH_STATUS status, const char *path)
{
    if (!status)
        return;
    fprintf(stderr, "%s: status %08X\n", path, (unsigned)status);
    exit(EXIT_FAILURE);
}

static void write_hour(const struct world *world, unsigned number, const char *series,
                       const struct counter *counters, size_t count)
{
    const struct log_header header = {.kind = LOG_BINARY, .zone = "UTC"};
    struct log_writer *writer = NULL;
    struct log_column columns[COLUMNS] = {{0}};
    struct log_value values[COLUMNS] = {{0}};
    char path[4096];
    snprintf(path, sizeof path, "%s/base_%s_%06u.%s", world->folder, series, number + 1,
             strcmp(world->kind, "zst") ? "blg" : "blg.zst");
    for (size_t c = 0; c < count; c++)
        columns[c] = (struct log_column){.kind = counters[c].instance ? LOG_ARRAY : LOG_RAW,
                                         .machine = "\\\\HOST",
                                         .object = counters[c].object,
                                         .instance = counters[c].instance,
                                         .counter = counters[c].counter,
                                         .type = counters[c].type,
                                         .time_base = second};
    for (LONGLONG time = world->begin + number * HOUR, i = 0; i < HOUR / STEP; i++, time += STEP) {
        if (is_missing(world, time))
            continue;
        if (!writer) {
            must(log_create(path, LOG_CREATE_ALWAYS, &header, &writer, NULL), path);
            must(log_write_columns(writer, clock_of(world, time), columns, count), path);
        }
        for (size_t c = 0; c < count; c++)
            fill_value(world, &counters[c], time, items[c], &values[c]);
        /* the series of the processes is 3 ms later than that of the system */
        must(log_write_values(writer, clock_of(world, time) + (*series == 'p' ? 30000 : 0), values),
             path);
    }
    if (writer)
        must(log_write_close(writer), path);
}

int main(int argc, char **argv)
{
    if (argc < 6)
        return EXIT_FAILURE;
    struct world world = {.folder = argv[1],
                          .kind = argv[5],
                          .end = atoll(argv[2]),
                          .processes = (unsigned)atoi(argv[4]),
                          .odd = argc > 6};
    unsigned days = (unsigned)atoi(argv[3]);
    world.begin = world.end - (LONGLONG)days * DAY;
    for (unsigned hour = 0; hour < days * 24; hour++) {
        write_hour(&world, hour, "system", of_system, sizeof of_system / sizeof *of_system);
        write_hour(&world, hour, "processes", of_processes,
                   sizeof of_processes / sizeof *of_processes);
    }
    return EXIT_SUCCESS;
}
