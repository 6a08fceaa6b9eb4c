/* SPDX-License-Identifier: MIT */
/* The file systems that LogicalDisk shows. */
#ifndef OPL_PERFDISK_MOUNTS_H
#define OPL_PERFDISK_MOUNTS_H

#include "perfdisk.h"

struct perfdisk_mount {
    unsigned major, minor;
    bool waits; /* queries are answered by another machine or program, and may hang */
    size_t name_length;
    char point[PERFDISK_POINT], name[PERFDISK_POINT]; /* the mount point; the instance's name */
    char source[256];
    char device[PERFDISK_NAME]; /* the device's name in diskstats; "": none */
    char parent[PERFDISK_NAME]; /* the disk's instance name in PhysicalDisk; "": none */
};
struct perfdisk_mounts {
    size_t count, capacity;
    uint64_t version;
    bool changed; /* the list changed after LogicalDisk last read it; LogicalDisk resets it */
    struct perfdisk_mount list[];
};

extern const opl_source perfdisk_mountinfo;

/* Reads the mounted file systems. NULL: mountinfo is unreadable, or no memory. */
struct perfdisk_mounts *perfdisk_mounts_read(opl_reading *reading);

#endif
