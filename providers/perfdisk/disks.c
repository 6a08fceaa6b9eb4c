/* SPDX-License-Identifier: MIT */
/*
 * Keeps the devices of proc/diskstats as a list between collections, so that each device is
 * examined only once, and the kernel's 32-bit times continue when they wrap around.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "perfdisk.h"

const opl_source perfdisk_diskstats = {.path = "proc/diskstats"};

enum { DISKSTATS_FIELDS = 14, MILLISECOND = 10000 }; /* kernels newer than 4.17 have more fields */
enum { MAJOR_FLOPPY = 2, MAJOR_CDROM = 11 };

/* ---- one line ---- */

static uint64_t next_number(const char **at)
{
    uint64_t number = 0;
    *at += strspn(*at, " ");
    for (; **at >= '0' && **at <= '9'; ++*at)
        number = number * 10 + (uint64_t)(**at - '0');
    return number;
}

struct disk_line {
    unsigned major, minor;
    char name[PERFDISK_NAME];
    uint64_t numbers[DISKSTATS_FIELDS - 3];
};

static void copy_name(char *out, const char *at, size_t length)
{
    for (size_t i = 0; i < length; i++)
        out[i] = (char)(at[i] == '/' ? '!' : at[i]);
    out[length] = 0;
}

/* Parses a line of proc/diskstats; false: the line does not describe a device. */
static bool read_line(const char *at, struct disk_line *ret)
{
    ret->major = (unsigned)next_number(&at);
    ret->minor = (unsigned)next_number(&at);
    at += strspn(at, " ");
    size_t length = strcspn(at, " \n");
    if (length == 0 || length >= PERFDISK_NAME)
        return false;
    copy_name(ret->name, at, length);
    at += length;
    for (size_t i = 0; i < DISKSTATS_FIELDS - 3; i++) {
        at += strspn(at, " ");
        if (*at < '0' || *at > '9')
            return false;
        ret->numbers[i] = next_number(&at);
    }
    return true;
}

/* ---- numbers ---- */

/* Adds the increase of a 32-bit time to its sum. A value that fell by less than half the range did
 * not wrap around: it is from another device, and the sum restarts. */
static void time_add(struct perfdisk_time *time, uint64_t value, bool fresh)
{
    uint32_t seen = (uint32_t)value, more = seen - time->seen;
    if (fresh || value > UINT32_MAX || more > UINT32_MAX / 2)
        time->sum = value;
    else
        time->sum += more;
    time->seen = seen;
}

static void device_take(struct perfdisk_device *device, const struct disk_line *line, uint64_t now)
{
    bool fresh = !device->known;
    const uint64_t *numbers = line->numbers;
    device->reads = numbers[0];
    device->sectors_read = numbers[2];
    time_add(&device->reading, numbers[3], fresh);
    device->writes = numbers[4];
    device->sectors_written = numbers[6];
    time_add(&device->writing, numbers[7], fresh);
    device->pending =
        numbers[8] > UINT32_MAX / 2 ? 0 : numbers[8]; /* the kernel can briefly print -1 here */
    time_add(&device->busy, numbers[9], fresh);
    time_add(&device->queued, numbers[10], fresh);
    device->now = now;
    /* a device's busy time is rounded to kernel ticks, so it can exceed the elapsed time */
    uint64_t busy = device->busy.sum * MILLISECOND, idle = now > busy ? now - busy : 0;
    if (fresh || idle > device->idle)
        device->idle = idle;
    device->known = true;
}

/* ---- the kind of device ---- */

/* The kernel's rule for names of partitions: "sda1", and "nvme0n1p1" after a digit. */
static bool is_partition_of(const char *name, const char *disk)
{
    size_t length = strlen(disk);
    if (strncmp(name, disk, length) != 0)
        return false;
    name += length;
    if (length && disk[length - 1] >= '0' && disk[length - 1] <= '9' && *name++ != 'p')
        return false;
    return *name && strspn(name, "0123456789") == strlen(name);
}

/* Finds the disk to which a partition belongs; diskstats lists the disk before the partition. NULL:
 * `device` is not a partition. */
static const struct perfdisk_device *disk_of(const struct perfdisk_devices *devices,
                                             const struct perfdisk_device *partition)
{
    for (const struct perfdisk_device *one = partition; one-- > devices->list;)
        if (one->whole && is_partition_of(partition->name, one->name))
            return one;
    return NULL;
}

static bool begins_with_one_of(const char *name, const char *const *words)
{
    for (; *words; words++)
        if (strncmp(name, *words, strlen(*words)) == 0)
            return true;
    return false;
}

/* Is the device hardware? In sys/block only hardware devices have the link "device"; if sys is not
 * mounted, the name decides. */
static bool is_physical(opl_reading *reading, const struct perfdisk_device *device)
{
    static const char *const virtual_names[] = {"loop", "ram",    "zram", "dm-",  "md",
                                                "nbd",  "bcache", "zd",   "drbd", NULL};
    char path[PERFDISK_NAME + 32];
    uint64_t count;
    if (device->major == MAJOR_FLOPPY || device->major == MAJOR_CDROM)
        return false;
    if (strncmp(device->name, "mmcblk", 6) == 0 && strstr(device->name, "boot"))
        return false; /* for example mmcblk0boot0, a small area for a boot loader */
    snprintf(path, sizeof path, "sys/block/%s", device->name);
    if (!opl_reading_folder_count(reading, path, &count))
        return !begins_with_one_of(device->name, virtual_names);
    snprintf(path, sizeof path, "sys/block/%s/device", device->name);
    return opl_reading_folder_count(reading, path, &count);
}

/* Determines the kind of `device`. Those of all devices before it in the list are already known. */
static void device_find_out(opl_reading *reading, const struct perfdisk_devices *devices,
                            struct perfdisk_device *device)
{
    device->whole = disk_of(devices, device) == NULL;
    device->physical = device->whole && is_physical(reading, device);
}

/* ---- the list ---- */

static bool is_same(const struct perfdisk_device *device, const struct disk_line *line)
{
    return device->major == line->major && device->minor == line->minor &&
           strcmp(device->name, line->name) == 0;
}

/* Returns the device that the line describes. If it is not at position `place` of the list yet, it
 * is moved there; a new device is inserted there. */
static struct perfdisk_device *device_at(struct perfdisk_devices *devices, size_t place,
                                         size_t count, const struct disk_line *line)
{
    struct perfdisk_device *here = &devices->list[place];
    size_t found = place;
    while (found < count && !is_same(&devices->list[found], line))
        found++;
    if (found == place && found < count)
        return here;
    devices->changed = true;
    struct perfdisk_device device = {.major = line->major, .minor = line->minor};
    if (found < count)
        device = devices->list[found];
    else
        memcpy(device.name, line->name, sizeof device.name);
    size_t moved = (found < count ? found : count) - place;
    memmove(here + 1, here, moved * sizeof *here);
    *here = device;
    return here;
}

static uint64_t clock_now(struct perfdisk_devices *devices, uint64_t filetime)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t ticks = (uint64_t)now.tv_sec * 10000000 + (uint64_t)now.tv_nsec / 100;
    if (!devices->origin)
        devices->origin = filetime - ticks;
    return devices->origin + ticks;
}

static struct perfdisk_devices *devices_capacity(opl_reading *reading, size_t capacity)
{
    struct perfdisk_devices *devices = opl_reading_memory(
        reading, PERFDISK_DEVICES, sizeof *devices + capacity * sizeof *devices->list);
    if (devices && devices->capacity < capacity)
        devices->capacity = capacity;
    return devices;
}

static struct perfdisk_devices *devices_take(opl_reading *reading, struct perfdisk_devices *devices,
                                             const char *text)
{
    uint64_t now = clock_now(devices, (uint64_t)opl_reading_time(reading));
    size_t before = devices->count, count = 0;
    devices->changed = false;
    for (struct disk_line line; *text; text += *text == '\n') {
        bool good = read_line(text, &line);
        text += strcspn(text, "\n");
        if (!good)
            continue;
        if (before + 1 >= devices->capacity)
            devices = devices_capacity(reading, devices->capacity * 2 + 16);
        if (!devices)
            return NULL;
        struct perfdisk_device *device = device_at(devices, count, before, &line);
        before += !device->known;
        if (!device->known)
            device_find_out(reading, devices, device);
        device_take(device, &line, now);
        count++;
    }
    devices->changed |= count != before;
    devices->count = count;
    return devices;
}

struct perfdisk_devices *perfdisk_devices_read(opl_reading *reading)
{
    const char *text = opl_reading_text(reading, &perfdisk_diskstats, NULL);
    struct perfdisk_devices *devices = text ? devices_capacity(reading, 16) : NULL;
    if (!devices || devices->serial == (uint64_t)opl_reading_time(reading))
        return devices;
    devices->serial = (uint64_t)opl_reading_time(reading);
    return devices_take(reading, devices, text);
}

/* ---- the disks below a device ---- */

static bool holds(opl_reading *reading, const struct perfdisk_device *lower,
                  const struct perfdisk_device *upper)
{
    char path[2 * PERFDISK_NAME + 32];
    uint64_t count;
    snprintf(path, sizeof path, "sys/class/block/%s/holders/%s", lower->name, upper->name);
    return opl_reading_folder_count(reading, path, &count);
}

/* Sets *ret to the hardware disk of which `device` is made, directly or through other devices.
 * False: it is made of more than one disk. */
static bool add_disks(opl_reading *reading, const struct perfdisk_devices *devices,
                      const struct perfdisk_device *device, unsigned depth,
                      const struct perfdisk_device **ret)
{
    if (!device->whole)
        device = disk_of(devices, device);
    if (!device || depth > 8)
        return depth <= 8;
    if (device->physical) {
        bool other = *ret && *ret != device;
        *ret = device;
        return !other;
    }
    for (size_t i = 0; i < devices->count; i++)
        if (&devices->list[i] != device && holds(reading, &devices->list[i], device) &&
            !add_disks(reading, devices, &devices->list[i], depth + 1, ret))
            return false;
    return true;
}

const struct perfdisk_device *perfdisk_parent(opl_reading *reading,
                                              const struct perfdisk_devices *devices,
                                              const struct perfdisk_device *device)
{
    const struct perfdisk_device *disk = NULL;
    return add_disks(reading, devices, device, 0, &disk) ? disk : NULL;
}
