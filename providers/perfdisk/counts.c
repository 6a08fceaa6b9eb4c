/* SPDX-License-Identifier: MIT */
/* The functions of the rows of PhysicalDisk and LogicalDisk: values of the instance's device. */
#include "perfdisk.h"

enum { SECTOR = 512, MILLISECOND = 10000 };

static const struct perfdisk_device *device_of(opl_reading *reading)
{
    const struct perfdisk_item *item = opl_reading_item(reading);
    return item ? item->device : NULL;
}

/* clang-format off */
#define COUNT_OF(name, value)                                        \
    bool perfdisk_##name(opl_reading *reading, uint64_t *ret)        \
    {                                                                \
        const struct perfdisk_device *device = device_of(reading);   \
        *ret = device ? (value) : 0;                                 \
        return device != NULL;                                       \
    }

COUNT_OF(pending,       device->pending)
COUNT_OF(reads,         device->reads)
COUNT_OF(writes,        device->writes)
COUNT_OF(transfers,     device->reads + device->writes)
COUNT_OF(read_bytes,    device->sectors_read * SECTOR)
COUNT_OF(write_bytes,   device->sectors_written * SECTOR)
COUNT_OF(bytes,         (device->sectors_read + device->sectors_written) * SECTOR)
COUNT_OF(read_time,     device->reading.sum * MILLISECOND)
COUNT_OF(write_time,    device->writing.sum * MILLISECOND)
COUNT_OF(transfer_time, (device->reading.sum + device->writing.sum) * MILLISECOND)
COUNT_OF(queued,        device->queued.sum * MILLISECOND)
COUNT_OF(idle,          device->idle)
COUNT_OF(now,           device->now)
/* clang-format on */
