/* SPDX-License-Identifier: MIT */
/* Shared by the files of perfnet.so. */
#ifndef OPL_PERFNET_H
#define OPL_PERFNET_H

#include <openperflib/unstable.h>
#include <winerror.h>
#include <winperf.h>

/* The objects, in the order of the provider's table; `_` stands before each name. */
#define PERFNET_OBJECTS(_)                                                                         \
    _ perfnet_interface, _ perfnet_ipv4, _ perfnet_ipv6, _ perfnet_icmp, _ perfnet_tcpv4,          \
        _ perfnet_udpv4, _ perfnet_tcpv6, _ perfnet_udpv6, _ perfnet_icmpv6, _ perfnet_adapter,    \
        _ perfnet_redirector, _ perfnet_server
extern const opl_object PERFNET_OBJECTS();

extern const opl_source perfnet_dev, perfnet_snmp, perfnet_snmp6;

/* Clears the cached data of interfaces. */
void perfnet_interface_open(void);

#endif
