/* SPDX-License-Identifier: MIT */
/*
 * PhysicalDisk (234): hardware disks, or virtual hardware of a virtual machine, with Linux' names.
 * Devices made of others (dm, md, loop), of memory (zram) or of another machine (nbd) are left out:
 * their requests reach a listed disk, and _Total must not count them twice.
 */
#include <string.h>

#include "perfdisk.h"

static void list_disks(opl_listing *listing)
{
    struct perfdisk_devices *devices = perfdisk_devices_read(opl_listing_reading(listing));
    char name[PERFDISK_NAME + 1];
    for (size_t i = 0; devices && i < devices->count; i++) {
        struct perfdisk_device *device = &devices->list[i];
        if (!device->physical)
            continue;
        struct perfdisk_item item = {.device = device};
        opl_sanitize_name(name, sizeof name, device->name, strlen(device->name), false);
        device->position = opl_listing_count(listing);
        opl_listing_item(listing, name, &item);
    }
}

static const opl_counter counters[] = {
#include "rows.h"
};

const opl_object perfdisk_physical = {
    .index = 234,
    .help_index = 235,
    .name = "PhysicalDisk",
    .help = "The PhysicalDisk object shows how each disk is used: requests, bytes, times and "
            "queues. The instance _Total is the sum or the average of all disks.",
    OPL_COUNTERS(counters),
    .default_counter = 200,
    .only_with_instances = true,
    .instances = true,
    .total = "_Total",
    .list = list_disks,
};
