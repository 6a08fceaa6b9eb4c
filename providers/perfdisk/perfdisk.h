/* SPDX-License-Identifier: MIT */
/*
 * perfdisk.so: PhysicalDisk and LogicalDisk. Both show lines of proc/diskstats: PhysicalDisk those
 * of whole disks, LogicalDisk those of devices with a mounted file system.
 */
#ifndef OPL_PERFDISK_H
#define OPL_PERFDISK_H

#include <openperflib/unstable.h>
#include <winerror.h>
#include <winperf.h>

enum { PERFDISK_DEVICES, PERFDISK_MOUNTS, PERFDISK_PLACES }; /* slots of opl_reading_memory */
enum { PERFDISK_NAME = 64, PERFDISK_POINT = 1024 };

/* A time that the kernel counts in 32 bits, continued in 64 bits when it wraps around. */
struct perfdisk_time {
    uint64_t sum; /* milliseconds */
    uint32_t seen;
};

/* A line of proc/diskstats, and data about the device from its first collection. */
struct perfdisk_device {
    char name[PERFDISK_NAME]; /* as sys/block writes it: '!' for a slash */
    unsigned major, minor;
    uint64_t reads, sectors_read, writes, sectors_written, pending;
    struct perfdisk_time reading, writing, busy, queued;
    uint64_t now, idle; /* 100 ns; neither ever decreases */
    bool known;
    bool whole;        /* not a partition */
    bool physical;     /* not made of other devices, files or memory */
    uint32_t position; /* among the instances of PhysicalDisk */
};
struct perfdisk_devices {
    size_t count, capacity;
    bool changed;    /* a device was added or removed since the previous collection */
    uint64_t origin; /* FILETIME at which the monotonic clock was 0 */
    uint64_t serial; /* opl_reading_time of the last reading */
    struct perfdisk_device list[];
};

/* The item that the three objects pass to opl_listing_item. */
struct perfdisk_item {
    const struct perfdisk_device *device; /* NULL: no counts of requests */
    bool spaced;                          /* `space` is known */
    opl_space space;
};

extern const opl_source perfdisk_diskstats;
/* The objects, in the order of the provider's table; `_` stands before each name. */
#define PERFDISK_OBJECTS(_) _ perfdisk_physical, _ perfdisk_logical, _ perfdisk_space
extern const opl_object PERFDISK_OBJECTS();

/* proc/diskstats, read once per collection; NULL: unreadable, or no memory. */
struct perfdisk_devices *perfdisk_devices_read(opl_reading *reading);
/* The physical disk that contains the whole device; NULL: there is none, or there are several. */
const struct perfdisk_device *perfdisk_parent(opl_reading *reading,
                                              const struct perfdisk_devices *devices,
                                              const struct perfdisk_device *device);

/* Values of rows that PhysicalDisk and LogicalDisk share. False: the instance has no counts. */
bool perfdisk_pending(opl_reading *reading, uint64_t *ret);
bool perfdisk_now(opl_reading *reading, uint64_t *ret);
bool perfdisk_queued(opl_reading *reading, uint64_t *ret);
bool perfdisk_read_time(opl_reading *reading, uint64_t *ret);
bool perfdisk_write_time(opl_reading *reading, uint64_t *ret);
bool perfdisk_transfer_time(opl_reading *reading, uint64_t *ret);
bool perfdisk_reads(opl_reading *reading, uint64_t *ret);
bool perfdisk_writes(opl_reading *reading, uint64_t *ret);
bool perfdisk_transfers(opl_reading *reading, uint64_t *ret);
bool perfdisk_read_bytes(opl_reading *reading, uint64_t *ret);
bool perfdisk_write_bytes(opl_reading *reading, uint64_t *ret);
bool perfdisk_bytes(opl_reading *reading, uint64_t *ret);
bool perfdisk_idle(opl_reading *reading, uint64_t *ret);

#endif
