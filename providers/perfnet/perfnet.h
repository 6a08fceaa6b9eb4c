/* SPDX-License-Identifier: MIT */
/* Shared by the files of perfnet.so. */
#ifndef OPL_PERFNET_H
#define OPL_PERFNET_H

#include <openperflib/unstable.h>
#include <winerror.h>
#include <winperf.h>

extern const opl_object perfnet_interface, perfnet_adapter;
extern const opl_object perfnet_ipv4, perfnet_ipv6, perfnet_icmp, perfnet_icmpv6;
extern const opl_object perfnet_tcpv4, perfnet_tcpv6, perfnet_udpv4, perfnet_udpv6;

extern const opl_object perfnet_redirector, perfnet_server;

extern const opl_source perfnet_dev, perfnet_snmp, perfnet_snmp6;

/* Clears the cached data of interfaces. */
void perfnet_interface_open(void);

#endif
