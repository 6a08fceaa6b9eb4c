/* SPDX-License-Identifier: MIT */
/* iphlpapi.h: for each structure, the title indices of its fields' counters; 0: no counter. */
#include "counters.h"
#include <iphlpapi.h>

#include <stdio.h>
#include <stdlib.h>

enum { TCP = 638, UDP = 658, IP = 546, ICMP = 582, MOST_FIELDS = 32 };

static const DWORD tcp[] = {0, 0, 0, 0, 644, 646, 648, 650, 642, 652, 654, 656, 0, 0, 0};
static const DWORD udp[] = {446, 664, 666, 442, 0};
static const DWORD ip[] = {0,   0, 446, 552, 554, 556, 558, 560, 562, 442, 0, 566,
                           568, 0, 570, 572, 574, 576, 578, 580, 0,   0,   0};
static const DWORD icmp[] = {586, 588, 590, 592, 594, 596, 598, 600, 602, 604, 606, 608, 610,
                             612, 614, 616, 618, 620, 622, 624, 626, 628, 630, 632, 634, 636};

_Static_assert(sizeof tcp == sizeof(MIB_TCPSTATS), "a title for each field");
_Static_assert(sizeof udp == sizeof(MIB_UDPSTATS), "a title for each field");
_Static_assert(sizeof ip == sizeof(MIB_IPSTATS), "a title for each field");
_Static_assert(sizeof icmp == sizeof(MIB_ICMP), "a title for each field");

static DWORD read_object(DWORD index, const DWORD *titles, size_t count, DWORD *ret)
{
    char query[16];
    opl_block block;
    opl_object_view object = {0};
    opl_instance_view values = {0};
    opl_counter_view counters[MOST_FIELDS];
    uint64_t number;
    void *data;
    if (!ret)
        return ERROR_INVALID_PARAMETER;
    snprintf(query, sizeof query, "%u", (unsigned)index);
    DWORD status = opl_shim_query(query, &block, &data);
    if (status)
        return status;
    if (!opl_block_find_object(&block, index, &object) ||
        !opl_object_next_instance(&block, &object, &values)) {
        free(data);
        return ERROR_NOT_SUPPORTED;
    }
    opl_shim_counters(&block, &object, titles, count, counters);
    for (size_t i = 0; i < count; i++)
        ret[i] = titles[i] && opl_shim_number(&block, &values, &counters[i], &number)
                     ? (DWORD)number
                     : OPL_STATISTIC_UNKNOWN;
    free(data);
    return NO_ERROR;
}

#define READ(index, titles, to)                                                                    \
    read_object(index, titles, sizeof titles / sizeof *titles, (DWORD *)(void *)(to))

DWORD WINAPI GetTcpStatistics(PMIB_TCPSTATS statistics)
{
    return READ(TCP, tcp, statistics);
}

DWORD WINAPI GetUdpStatistics(PMIB_UDPSTATS statistics)
{
    return READ(UDP, udp, statistics);
}

DWORD WINAPI GetIpStatistics(PMIB_IPSTATS statistics)
{
    return READ(IP, ip, statistics);
}

DWORD WINAPI GetIcmpStatistics(PMIB_ICMP statistics)
{
    return READ(ICMP, icmp, statistics);
}
