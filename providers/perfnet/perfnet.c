/* SPDX-License-Identifier: MIT */
/*
 * perfnet.so: network interfaces, protocols and shares of files, as an ordinary provider. The three
 * functions have the names that Windows registers for Tcpip.
 */
#include "perfnet.h"

const opl_source perfnet_snmp = {.path = "proc/net/snmp", .pairs = true};
const opl_source perfnet_snmp6 = {.path = "proc/net/snmp6"};

static const opl_object *const objects[] = {
    &perfnet_interface, &perfnet_ipv4,    &perfnet_ipv6,       &perfnet_icmp,
    &perfnet_tcpv4,     &perfnet_udpv4,   &perfnet_tcpv6,      &perfnet_udpv6,
    &perfnet_icmpv6,    &perfnet_adapter, &perfnet_redirector, &perfnet_server};
OPL_PROVIDER_NT(objects, perfnet_interface_open, OpenTcpIpPerformanceData,
                CollectTcpIpPerformanceData, CloseTcpIpPerformanceData);
