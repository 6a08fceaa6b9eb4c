/* SPDX-License-Identifier: MIT */
/*
 * perfnet.so: network interfaces, protocols and shares of files, as an ordinary provider. The three
 * functions have the names that Windows registers for Tcpip.
 */
#include "perfnet.h"

const opl_source perfnet_snmp = {.path = "proc/net/snmp", .pairs = true};
const opl_source perfnet_snmp6 = {.path = "proc/net/snmp6"};

static const opl_object *const objects[] = {PERFNET_OBJECTS(&)};
OPL_PROVIDER_NT(objects, perfnet_interface_open, OpenTcpIpPerformanceData,
                CollectTcpIpPerformanceData, CloseTcpIpPerformanceData);
