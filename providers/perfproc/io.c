/* SPDX-License-Identifier: MIT */
/*
 * What a process itself reads and writes, and Process IO (101800). When a process waits for a child
 * that has ended, the kernel adds all that the child did to the io file of the process: a shell
 * whose command wrote 8 GB seems to write them at the end, in no time, and a total has them twice.
 * At the same moment it adds the child's times and faults to words 11, 13, 16 and 17 of
 * proc/PID/stat. So in an interval in which those words change, the counters keep their values, and
 * the increase of the file io is subtracted from all later values. What the process itself did in
 * that interval is lost; only the kernel's records distinguish it.
 */
#include <stdio.h>
#include <string.h>

#include "perfproc.h"

const opl_source perfproc_io = {"proc/*/io"};
/* The file stat again: a second source, which is read after io. */
static const opl_source stat_after = {"proc/*/stat", .stat = true};

enum { STAT_ID = 1, FEW = 64 };
static const unsigned children_words[] = {11, 13, 16, 17};

/* The last values of each process, sorted by process number. */
struct io_entry {
    uint32_t process;
    bool has_own;
    uint64_t creation, children;
    int64_t seen; /* time of the last collection that read the process */
    struct perfproc_io all, own, shown;
};
struct store {
    uint32_t count, capacity, at; /* `at`: the entry found last */
    int64_t now, before;          /* times of this collection and the previous one */
    struct io_entry entries[];
};

/* ---- processes of the last collection ---- */

static struct store *store_grow(opl_reading *reading, uint32_t capacity)
{
    struct store *store = opl_reading_memory(
        reading, PERFPROC_SLOT_IO, sizeof(struct store) + capacity * sizeof(struct io_entry));
    if (store && store->capacity < capacity)
        store->capacity = capacity;
    return store;
}

/* Removes the processes that the previous collection did not read, because they have ended. */
static void store_forget_ended(struct store *store)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < store->count; i++)
        if (store->entries[i].seen == store->now || store->entries[i].seen == store->before)
            store->entries[kept++] = store->entries[i];
    store->count = kept;
    store->at = 0;
}

/* The position of the process's entry, or if it has none, where the entry belongs. */
static uint32_t store_place(const struct store *store, uint32_t process)
{
    uint32_t low = 0, high = store->count, next = store->at + 1;
    if (next < store->count && store->entries[next].process == process)
        return next; /* processes are read in ascending order */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (store->entries[middle].process < process)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Returns the process's entry; its `seen` is 0 if the entry is new. NULL: no memory. The pointer is
 * valid until the next call. */
static struct io_entry *entry_of(opl_reading *reading, uint32_t process, uint64_t creation)
{
    struct store *store = store_grow(reading, FEW);
    int64_t now = opl_reading_time(reading);
    if (!store)
        return NULL;
    if (store->now != now) {
        store->before = store->now;
        store->now = now;
    }
    if (store->count == store->capacity) {
        store_forget_ended(store);
        /* by a third only, because each process takes 176 bytes */
        if (store->count > store->capacity / 8 * 7 &&
            !(store = store_grow(reading, store->capacity / 3 * 4 + FEW)))
            return NULL;
    }
    uint32_t at = store->at = store_place(store, process);
    struct io_entry *entry = &store->entries[at];
    if (at == store->count || entry->process != process) {
        memmove(entry + 1, entry, (store->count++ - at) * sizeof *entry);
        entry->process = process;
        entry->seen = 0;
    }
    if (entry->creation != creation)
        entry->seen = 0; /* another process has this number now */
    entry->creation = creation;
    return entry;
}

/* Returns the entry that was found last, because most rows need the same one. NULL: it was not
 * updated in this collection. */
static const struct io_entry *entry_latest(opl_reading *reading)
{
    const struct store *store = store_grow(reading, FEW);
    if (!store || store->at >= store->count)
        return NULL;
    const struct io_entry *entry = &store->entries[store->at];
    return entry->seen == opl_reading_time(reading) ? entry : NULL;
}

/* ---- its counts ---- */

static uint64_t later(uint64_t now, uint64_t before)
{
    return now > before ? now - before : 0;
}

static void add_change(struct perfproc_io *to, const struct perfproc_io *now,
                       const struct perfproc_io *before)
{
    to->reads += later(now->reads, before->reads);
    to->writes += later(now->writes, before->writes);
    to->read_bytes += later(now->read_bytes, before->read_bytes);
    to->written_bytes += later(now->written_bytes, before->written_bytes);
    to->disk_read_bytes += later(now->disk_read_bytes, before->disk_read_bytes);
    to->disk_written_bytes += later(now->disk_written_bytes, before->disk_written_bytes);
}

static void entry_update(struct io_entry *entry, const struct perfproc_io_look *look, bool mixed)
{
    if (!entry->seen)
        entry->shown = look->all;
    else if (!mixed)
        add_change(&entry->shown, &look->all, &entry->all);
    else if (look->own && entry->has_own)
        add_change(&entry->shown, look->own, &entry->own);
    entry->all = look->all;
    entry->children = look->children;
    entry->has_own = look->own != NULL;
    if (look->own)
        entry->own = *look->own;
}

bool perfproc_io_of_record(opl_reading *reading, const struct perfproc_io_look *look,
                           struct perfproc_io *ret)
{
    struct io_entry *entry = entry_of(reading, look->process, look->creation);
    if (!entry)
        return false;
    if (entry->seen != opl_reading_time(reading))
        entry_update(entry, look, entry->children != look->children);
    entry->seen = opl_reading_time(reading);
    *ret = entry->shown;
    return true;
}

static bool children_of(opl_reading *reading, const opl_source *stat, uint64_t *ret)
{
    *ret = 0;
    for (size_t i = 0; i < sizeof children_words / sizeof *children_words; i++) {
        uint64_t word;
        if (!opl_reading_column(reading, stat, children_words[i], &word))
            return false;
        *ret += word;
    }
    return true;
}

static bool read_counts(opl_reading *reading, struct perfproc_io *ret)
{
    return opl_reading_key(reading, &perfproc_io, "syscr", &ret->reads) &&
           opl_reading_key(reading, &perfproc_io, "syscw", &ret->writes) &&
           opl_reading_key(reading, &perfproc_io, "rchar", &ret->read_bytes) &&
           opl_reading_key(reading, &perfproc_io, "wchar", &ret->written_bytes) &&
           opl_reading_key(reading, &perfproc_io, "read_bytes", &ret->disk_read_bytes) &&
           opl_reading_key(reading, &perfproc_io, "write_bytes", &ret->disk_written_bytes);
}

/* Reads the counts of the process itself, without its children. If the process waits for a child
 * between the reads of stat and io, the child's counts are in io, but stat was read too early to
 * show that. So if io changed, stat is read once more, and if stat has changed, a child was waited
 * for in this interval. The words of the first read are kept, so that they differ again in the next
 * interval. */
static bool io_of(opl_reading *reading, struct perfproc_io *ret)
{
    uint64_t process, creation, children;
    struct perfproc_io_look look = {0};
    if (!opl_reading_column(reading, &perfproc_stat, STAT_ID, &process) ||
        !perfproc_creation(reading, &creation))
        return false;
    const struct io_entry *latest = entry_latest(reading);
    if (latest && latest->process == process && latest->creation == creation) {
        *ret = latest->shown;
        return true;
    }
    if (!children_of(reading, &perfproc_stat, &look.children) || !read_counts(reading, &look.all))
        return false;
    struct io_entry *entry = entry_of(reading, (uint32_t)process, creation);
    if (!entry)
        return false;
    if (entry->seen != opl_reading_time(reading)) {
        bool mixed = entry->children != look.children;
        bool moved = memcmp(&entry->all, &look.all, sizeof look.all) != 0;
        if (entry->seen && !mixed && moved)
            mixed = !children_of(reading, &stat_after, &children) || children != look.children;
        entry_update(entry, &look, mixed);
    }
    entry->seen = opl_reading_time(reading);
    *ret = entry->shown;
    return true;
}

/* ---- rows ---- */

bool perfproc_reads(opl_reading *reading, uint64_t *ret)
{
    struct perfproc_io io;
    return io_of(reading, &io) && (*ret = io.reads, true);
}

bool perfproc_writes(opl_reading *reading, uint64_t *ret)
{
    struct perfproc_io io;
    return io_of(reading, &io) && (*ret = io.writes, true);
}

bool perfproc_operations(opl_reading *reading, uint64_t *ret)
{
    struct perfproc_io io;
    return io_of(reading, &io) && (*ret = io.reads + io.writes, true);
}

bool perfproc_read_bytes(opl_reading *reading, uint64_t *ret)
{
    struct perfproc_io io;
    return io_of(reading, &io) && (*ret = io.read_bytes, true);
}

bool perfproc_written_bytes(opl_reading *reading, uint64_t *ret)
{
    struct perfproc_io io;
    return io_of(reading, &io) && (*ret = io.written_bytes, true);
}

bool perfproc_moved_bytes(opl_reading *reading, uint64_t *ret)
{
    struct perfproc_io io;
    return io_of(reading, &io) && (*ret = io.read_bytes + io.written_bytes, true);
}

bool perfproc_disk_read_bytes(opl_reading *reading, uint64_t *ret)
{
    struct perfproc_io io;
    return io_of(reading, &io) && (*ret = io.disk_read_bytes, true);
}

bool perfproc_disk_written_bytes(opl_reading *reading, uint64_t *ret)
{
    struct perfproc_io io;
    return io_of(reading, &io) && (*ret = io.disk_written_bytes, true);
}

/* Returns the counts with those of children that were waited for; NULL: unreadable. */
static const struct perfproc_io *all_of(opl_reading *reading)
{
    struct perfproc_io own;
    const struct io_entry *entry = io_of(reading, &own) ? entry_latest(reading) : NULL;
    return entry ? &entry->all : NULL;
}

static bool all_read_bytes(opl_reading *reading, uint64_t *ret)
{
    const struct perfproc_io *all = all_of(reading);
    return all && (*ret = all->disk_read_bytes, true);
}

static bool all_written_bytes(opl_reading *reading, uint64_t *ret)
{
    const struct perfproc_io *all = all_of(reading);
    return all && (*ret = all->disk_written_bytes, true);
}

/* ---- Process IO ---- */

#define PROCESS(member) OPL_FIELD(struct perfproc_process, member)
/* clang-format off */
static const opl_counter counters[] = {
    {784, 785, PERF_COUNTER_RAWCOUNT, -1, PERF_DETAIL_NOVICE, OPL_COLUMN(&perfproc_stat, STAT_ID, OPL_ONE),
     .item = PROCESS(id), .name = "ID Process",
     .help = "The number that identifies the process as long as it exists. It may be given to another process later."},
    {684, 685, PERF_ELAPSED_TIME, -4, PERF_DETAIL_ADVANCED, OPL_FN(perfproc_creation),
     .item = PROCESS(creation), .name = "Elapsed Time",
     .help = "The time, in seconds, since the process or thread was started.",
     .where = "`proc/*/stat`: word 22, as in Process"},
#include "io_rows.h"
    {101806, 101807, PERF_COUNTER_BULK_COUNT, 0, PERF_DETAIL_ADVANCED, OPL_FN_OF(&perfproc_io, all_read_bytes),
     .item = PROCESS(all_read_bytes), .where = "`proc/*/io`: read_bytes", .name = "IO Disk Read Bytes with Children/sec",
     .help = "The rate at which bytes are fetched from disks for the process and for its children that have ended. What a child did in its "
             "whole life counts when the process waits for its end, so short commands of a script count for the script."},
    {101808, 101809, PERF_COUNTER_BULK_COUNT, 0, PERF_DETAIL_ADVANCED, OPL_FN_OF(&perfproc_io, all_written_bytes),
     .item = PROCESS(all_written_bytes), .where = "`proc/*/io`: write_bytes", .name = "IO Disk Write Bytes with Children/sec",
     .help = "The rate at which the process and its children that have ended give the kernel bytes to write to disks. What a child did in its "
             "whole life counts when the process waits for its end, so short commands of a script count for the script."},
};
/* clang-format on */
#undef PROCESS

void perfproc_add_io(opl_listing *listing, const char *folder)
{
    if (opl_reading_text(opl_listing_at(listing, folder), &perfproc_io, NULL))
        opl_listing_read(listing, folder, "", 0);
}

static void list_readable(opl_listing *listing)
{
    const uint32_t *numbers;
    size_t count;
    char folder[16];
    if (opl_listing_count(listing) > 0) /* already listed with the processes of Process V2 */
        return;
    if (!opl_listing_numbers(listing, "proc", 0, &numbers, &count))
        return;
    for (size_t i = 0; i < count; i++) {
        snprintf(folder, sizeof folder, "%u", (unsigned)numbers[i]);
        perfproc_add_io(listing, folder);
    }
}

const opl_object perfproc_process_io = {
    .index = 101800,
    .help_index = 101801,
    .name = "Process IO",
    .help = "The Process IO object shows what processes read and write, but only those that this "
            "user may inspect: for root all, for others their own. Process has the same counters "
            "where this user may inspect all listed processes.",
    OPL_COUNTERS(counters),
    .default_counter = 1424,
    .clock = true,
    .costly = true,
    .needs = "proc",
    .instances = true,
    .list = list_readable,
};
