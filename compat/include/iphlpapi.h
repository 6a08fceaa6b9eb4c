/* SPDX-License-Identifier: MIT */
/*
 * Network statistics of this machine, from the performance counters of TCPv4, UDPv4, IPv4 and ICMP.
 * In the static libopenperflib-win32.a.
 *
 * A field without a counter is OPL_STATISTIC_UNKNOWN (all ones), never 0: the retransmission
 * algorithm and its limits, the maximum number of connections, errors and resets of TCP, table
 * sizes, forwarding, the default time to live, discarded routes and reassembly timeouts.
 */
#ifndef OPENPERFLIB_IPHLPAPI_H
#define OPENPERFLIB_IPHLPAPI_H

#include <windows.h>

#define OPL_STATISTIC_UNKNOWN 0xffffffff

typedef struct _MIB_TCPSTATS {
    DWORD dwRtoAlgorithm;
    DWORD dwRtoMin;
    DWORD dwRtoMax;
    DWORD dwMaxConn;
    DWORD dwActiveOpens;
    DWORD dwPassiveOpens;
    DWORD dwAttemptFails;
    DWORD dwEstabResets;
    DWORD dwCurrEstab;
    DWORD dwInSegs;
    DWORD dwOutSegs;
    DWORD dwRetransSegs;
    DWORD dwInErrs;
    DWORD dwOutRsts;
    DWORD dwNumConns;
} MIB_TCPSTATS, *PMIB_TCPSTATS;
typedef struct _MIB_UDPSTATS {
    DWORD dwInDatagrams;
    DWORD dwNoPorts;
    DWORD dwInErrors;
    DWORD dwOutDatagrams;
    DWORD dwNumAddrs;
} MIB_UDPSTATS, *PMIB_UDPSTATS;
typedef struct _MIB_IPSTATS {
    DWORD dwForwarding;
    DWORD dwDefaultTTL;
    DWORD dwInReceives;
    DWORD dwInHdrErrors;
    DWORD dwInAddrErrors;
    DWORD dwForwDatagrams;
    DWORD dwInUnknownProtos;
    DWORD dwInDiscards;
    DWORD dwInDelivers;
    DWORD dwOutRequests;
    DWORD dwRoutingDiscards;
    DWORD dwOutDiscards;
    DWORD dwOutNoRoutes;
    DWORD dwReasmTimeout;
    DWORD dwReasmReqds;
    DWORD dwReasmOks;
    DWORD dwReasmFails;
    DWORD dwFragOks;
    DWORD dwFragFails;
    DWORD dwFragCreates;
    DWORD dwNumIf;
    DWORD dwNumAddr;
    DWORD dwNumRoutes;
} MIB_IPSTATS, *PMIB_IPSTATS;
typedef struct _MIBICMPSTATS {
    DWORD dwMsgs;
    DWORD dwErrors;
    DWORD dwDestUnreachs;
    DWORD dwTimeExcds;
    DWORD dwParmProbs;
    DWORD dwSrcQuenchs;
    DWORD dwRedirects;
    DWORD dwEchos;
    DWORD dwEchoReps;
    DWORD dwTimestamps;
    DWORD dwTimestampReps;
    DWORD dwAddrMasks;
    DWORD dwAddrMaskReps;
} MIBICMPSTATS, *PMIBICMPSTATS;
typedef struct _MIBICMPINFO {
    MIBICMPSTATS icmpInStats;
    MIBICMPSTATS icmpOutStats;
} MIBICMPINFO, *PMIBICMPINFO;
typedef struct _MIB_ICMP {
    MIBICMPINFO stats;
} MIB_ICMP, *PMIB_ICMP;

OPL_BEGIN_SHIMS

/* Return NO_ERROR; ERROR_INVALID_PARAMETER if `statistics` is NULL; ERROR_NOT_SUPPORTED if the
 * object has no data, because its provider is disabled; or the status of the query. */
DWORD WINAPI GetTcpStatistics(PMIB_TCPSTATS statistics) OPL_SHIM(GetTcpStatistics);
DWORD WINAPI GetUdpStatistics(PMIB_UDPSTATS statistics) OPL_SHIM(GetUdpStatistics);
DWORD WINAPI GetIpStatistics(PMIB_IPSTATS statistics) OPL_SHIM(GetIpStatistics);
DWORD WINAPI GetIcmpStatistics(PMIB_ICMP statistics) OPL_SHIM(GetIcmpStatistics);

OPL_END_SHIMS

#endif
