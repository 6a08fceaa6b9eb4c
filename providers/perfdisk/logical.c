/* SPDX-License-Identifier: MIT */
/*
 * LogicalDisk (236): the mounted file systems. An instance is named by its mount point, and its
 * parent is the disk, if there is one. Requests are those to the block device; a file system
 * without a block device (of another machine, of a container) has only values of space. Filesystem
 * Space (101700): the used space of the same file systems.
 */
#include <stdio.h>
#include <string.h>

#include "mounts.h"

enum { MEGABYTE = 1 << 20 };

/* ---- space ---- */

static const struct perfdisk_item *spaced_item(opl_reading *reading)
{
    const struct perfdisk_item *item = opl_reading_item(reading);
    return item && item->spaced ? item : NULL;
}

/* The megabytes in use: neither free nor reserved for the system. */
static bool used(opl_reading *reading, uint64_t *ret)
{
    const struct perfdisk_item *item = spaced_item(reading);
    *ret = item ? (item->space.size - item->space.free) / MEGABYTE : 0;
    return item != NULL;
}

static bool available(opl_reading *reading, uint64_t *ret)
{
    const struct perfdisk_item *item = spaced_item(reading);
    *ret = item ? item->space.available / MEGABYTE : 0;
    return item != NULL;
}

/* The megabytes that programs can have: those in use and those available, without the part that is
 * reserved for the system, as in df. */
static bool usable(opl_reading *reading, uint64_t *ret)
{
    const struct perfdisk_item *item = spaced_item(reading);
    *ret = item ? (item->space.size - item->space.free + item->space.available) / MEGABYTE : 0;
    return item != NULL;
}

static bool total_bytes(opl_reading *reading, uint64_t *ret)
{
    const struct perfdisk_item *item = spaced_item(reading);
    *ret = item ? item->space.size : 0;
    return item != NULL;
}

static bool free_bytes(opl_reading *reading, uint64_t *ret)
{
    const struct perfdisk_item *item = spaced_item(reading);
    *ret = item ? item->space.free : 0;
    return item != NULL;
}

/* ---- the device ---- */

static const struct perfdisk_device *find_device(const struct perfdisk_devices *devices,
                                                 const char *name)
{
    for (size_t i = 0; *name && i < devices->count; i++)
        if (strcmp(devices->list[i].name, name) == 0)
            return &devices->list[i];
    return NULL;
}

static bool is_mapped_as(opl_reading *reading, const struct perfdisk_device *device,
                         const char *name)
{
    char path[PERFDISK_NAME + 32], storage[256];
    snprintf(path, sizeof path, "sys/block/%s/dm/name", device->name);
    if (strncmp(device->name, "dm-", 3) != 0 ||
        !opl_reading_file(reading, path, storage, sizeof storage))
        return false;
    storage[strcspn(storage, "\n")] = 0;
    return strcmp(storage, name) == 0;
}

/* Is `source` the name of `device`? For btrfs, mountinfo has the device's name, not its number. */
static bool is_called(opl_reading *reading, const struct perfdisk_device *device,
                      const char *source)
{
    static const char mapper[] = "/dev/mapper/";
    if (strncmp(source, mapper, sizeof mapper - 1) == 0)
        return is_mapped_as(reading, device, source + sizeof mapper - 1);
    return strncmp(source, "/dev/", 5) == 0 && strcmp(source + 5, device->name) == 0;
}

static bool is_on(opl_reading *reading, const struct perfdisk_mount *mount,
                  const struct perfdisk_device *device)
{
    if (mount->major)
        return mount->major == device->major && mount->minor == device->minor;
    return !mount->waits && is_called(reading, device, mount->source);
}

/* Finds the mount's device and disk. Called only once for each mount, and again when the devices
 * change, because it reads many small files of sys. */
static void find_out(opl_reading *reading, const struct perfdisk_devices *devices,
                     struct perfdisk_mount *mount)
{
    *mount->device = *mount->parent = 0;
    for (size_t i = 0; i < devices->count; i++) {
        if (!is_on(reading, mount, &devices->list[i]))
            continue;
        const struct perfdisk_device *disk = perfdisk_parent(reading, devices, &devices->list[i]);
        memcpy(mount->device, devices->list[i].name, sizeof mount->device);
        if (disk)
            memcpy(mount->parent, disk->name, sizeof mount->parent);
        return;
    }
}

/* ---- the instances ---- */

/* The answers of file systems that may hang. All of them are queried at once, and only once for
 * both objects. */
struct remote_disks {
    LONGLONG time;
    opl_place places[];
};

static const opl_place *remote_places(opl_reading *reading, struct perfdisk_mounts *mounts)
{
    size_t count = 0;
    struct remote_disks *remote_fs = opl_reading_memory(
        reading, PERFDISK_PLACES, sizeof *remote_fs + mounts->count * sizeof *remote_fs->places);
    if (!remote_fs || remote_fs->time == opl_reading_time(reading))
        return remote_fs ? remote_fs->places : NULL;
    remote_fs->time = opl_reading_time(reading);
    for (size_t i = 0; i < mounts->count; i++)
        if (mounts->list[i].waits)
            remote_fs->places[count++].path = mounts->list[i].point;
    if (count)
        opl_reading_remote_spaces(reading, remote_fs->places, count);
    return remote_fs->places;
}

/* Reads the space of a file system. False: the file system has no size, did not answer, or may not
 * be read. Its instance then has no values, because 0 bytes free would be a false alarm. */
static bool read_space(opl_reading *reading, const struct perfdisk_mount *mount,
                       const opl_place *remote_fs, struct perfdisk_item *item)
{
    item->spaced =
        remote_fs ? remote_fs->known : opl_reading_space(reading, mount->point, &item->space);
    if (remote_fs)
        item->space = remote_fs->space;
    return item->spaced && item->space.size > 0;
}

static void add_mount(opl_listing *listing, const struct perfdisk_devices *devices,
                      const struct perfdisk_mount *mount, const opl_place *remote_fs)
{
    struct perfdisk_item item = {.device = devices ? find_device(devices, mount->device) : NULL};
    if (!read_space(opl_listing_reading(listing), mount, remote_fs, &item))
        return;
    opl_listing_item(listing, mount->name, &item);
    const struct perfdisk_device *disk = devices ? find_device(devices, mount->parent) : NULL;
    if (disk && opl_listing_of(listing, &perfdisk_physical))
        opl_listing_parent(listing, &perfdisk_physical, disk->position);
}

static void list_mounts(opl_listing *listing)
{
    opl_reading *reading = opl_listing_reading(listing);
    struct perfdisk_devices *devices = perfdisk_devices_read(reading);
    struct perfdisk_mounts *mounts = perfdisk_mounts_read(reading);
    const opl_place *remote_fs = mounts ? remote_places(reading, mounts) : NULL;
    for (size_t i = 0; remote_fs && i < mounts->count; i++) {
        struct perfdisk_mount *mount = &mounts->list[i];
        if (devices && (mounts->changed || devices->changed))
            find_out(reading, devices, mount);
        add_mount(listing, devices, mount, mount->waits ? remote_fs++ : NULL);
    }
    if (mounts && devices)
        mounts->changed = false;
}

static void list_spaces(opl_listing *listing)
{
    opl_reading *reading = opl_listing_reading(listing);
    struct perfdisk_mounts *mounts = perfdisk_mounts_read(reading);
    const opl_place *remote_fs = mounts ? remote_places(reading, mounts) : NULL;
    for (size_t i = 0; remote_fs && i < mounts->count; i++) {
        const struct perfdisk_mount *mount = &mounts->list[i];
        struct perfdisk_item item = {.device = NULL};
        if (read_space(reading, mount, mount->waits ? remote_fs++ : NULL, &item))
            opl_listing_item(listing, mount->name, &item);
    }
}

/* clang-format off */
static const opl_counter counters[] = {
    {408, 409, PERF_RAW_FRACTION, 0, PERF_DETAIL_NOVICE, OPL_FN_OF(&perfdisk_mountinfo, available),
     .base = OPL_FN_OF(&perfdisk_mountinfo, usable), .name = "% Free Space",
     .help = "The share of the file system's space that is free for programs. Space that is kept for the system counts neither as free nor as "
             "usable.",
     .where = "statfs(2): available blocks, divided by used plus available ones; both in units of 1,048,576 bytes"},
    {410, 411, PERF_COUNTER_RAWCOUNT, 0, PERF_DETAIL_NOVICE, OPL_FN_OF(&perfdisk_mountinfo, available), .name = "Free Megabytes",
     .help = "The space of the file system that is free for programs, in megabytes of 1,048,576 bytes.",
     .where = "statfs(2): available blocks"},
/* clang-format on */
#include "rows.h"
};

/* clang-format off */
static const opl_counter space_counters[] = {
    {101702, 101703, PERF_RAW_FRACTION, 0, PERF_DETAIL_NOVICE, OPL_FN_OF(&perfdisk_mountinfo, used),
     .base = OPL_FN_OF(&perfdisk_mountinfo, usable), .name = "% Used Space",
     .help = "The share of the file system's space that is in use. This and % Free Space of LogicalDisk add up to 100 %.",
     .where = "statfs(2): blocks minus free ones; divided by used plus available ones; both in units of 1,048,576 bytes"},
    {101704, 101705, PERF_COUNTER_RAWCOUNT, 0, PERF_DETAIL_NOVICE, OPL_FN_OF(&perfdisk_mountinfo, used), .name = "Used Megabytes",
     .help = "The space of the file system that is in use, in megabytes of 1,048,576 bytes.",
     .where = "statfs(2): blocks minus free ones"},
    {101706, 101707, PERF_COUNTER_LARGE_RAWCOUNT, -6, PERF_DETAIL_ADVANCED, OPL_FN_OF(&perfdisk_mountinfo, total_bytes), .name = "Total Bytes",
     .help = "The size of the file system: space in use, space that is free for programs, and space that is kept for the system.",
     .where = "statfs(2): blocks"},
    {101708, 101709, PERF_COUNTER_LARGE_RAWCOUNT, -6, PERF_DETAIL_ADVANCED, OPL_FN_OF(&perfdisk_mountinfo, free_bytes), .name = "Free Bytes With Reserve",
     .help = "The space of the file system that is not in use, with the part that is kept for the system and that Free Megabytes of LogicalDisk leaves "
             "out.",
     .where = "statfs(2): free blocks"},
};
/* clang-format on */

const opl_object perfdisk_logical = {
    .index = 236,
    .help_index = 237,
    .name = "LogicalDisk",
    .help =
        "The LogicalDisk object shows how each mounted file system is used: free space, and the "
        "requests, bytes, times and queues of the device that it is on. The instance _Total is "
        "the sum or the average of all of them.",
    OPL_COUNTERS(counters),
    .default_counter = 200,
    .related = &perfdisk_physical,
    .instances = true,
    .total = "_Total",
    .list = list_mounts,
};

/* Counters that LogicalDisk of Windows does not have are in this object, so that LogicalDisk stays
 * the same as on Windows. */
const opl_object perfdisk_space = {
    .index = 101700,
    .help_index = 101701,
    .name = "Filesystem Space",
    .help =
        "How much of each mounted file system is in use, as monitoring agents for Linux report it.",
    OPL_COUNTERS(space_counters),
    .default_counter = 101702,
    .costly = true,
    .instances = true,
    .total = "_Total",
    .list = list_spaces,
};
