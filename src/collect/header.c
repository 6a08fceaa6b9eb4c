/* SPDX-License-Identifier: MIT */
/*
 * PERF_DATA_BLOCK: signature, the same moment on three clocks, the machine's name. HeaderLength
 * includes the name, rounded up to 8; padding is zero. (docs/windows/articles.md#c4,
 * docs/windows/blocks.md#a1)
 */
#include "collect/header.h"
#include "base/base.h"

#include <winperf.h>
#include <string.h>

enum { PROCESSOR_OBJECT = 238, ALIGNMENT = 8, NAME_UNITS = 16 };

static size_t name_bytes(const char *machine)
{
    return (utf8_to_16(machine, strlen(machine), NULL, 0) + 1) * sizeof(WCHAR);
}

size_t header_size(const char *machine)
{
    size_t size = sizeof(PERF_DATA_BLOCK) + name_bytes(machine);
    return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

void header_write(void *data, const char *machine, size_t total, uint32_t objects)
{
    static const WCHAR signature[4] = {'P', 'E', 'R', 'F'};
    const uint16_t order = 1;
    PERF_DATA_BLOCK header = {
        .LittleEndian = *(const unsigned char *)&order,
        .Version = PERF_DATA_VERSION,
        .Revision = PERF_DATA_REVISION,
        .TotalByteLength = (DWORD)total,
        .HeaderLength = (DWORD)header_size(machine),
        .NumObjectTypes = objects,
        .DefaultObject = PROCESSOR_OBJECT,
        .SystemNameLength = (DWORD)name_bytes(machine),
        .SystemNameOffset = sizeof(PERF_DATA_BLOCK),
    };
    uint16_t name[NAME_UNITS * 2] = {0};
    memcpy(header.Signature, signature, sizeof(signature));
    int64_t ticks, filetime;
    clock_both(&ticks, &filetime);
    header.PerfTime.QuadPart = ticks;
    header.PerfFreq.QuadPart = CLOCK_TICKS_PER_SECOND;
    header.PerfTime100nSec.QuadPart = filetime;
    clock_systemtime(filetime, &header.SystemTime);
    memset(data, 0, header_size(machine));
    memcpy(data, &header, sizeof(header));
    utf8_to_16(machine, strlen(machine), name, COUNT(name));
    memcpy((char *)data + sizeof(header), name, header.SystemNameLength);
}
