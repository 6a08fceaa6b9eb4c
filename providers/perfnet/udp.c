/* SPDX-License-Identifier: MIT */
/*
 * UDPv4 (658) and UDPv6 (1532): datagrams of programs.
 */
#include "perfnet.h"

/* clang-format off */
static const opl_counter udpv4_counters[] = {
    {438, 439, PERF_COUNTER_COUNTER, -1, PERF_DETAIL_ADVANCED, OPL_KEY(&perfnet_snmp, "Udp.InDatagrams + Udp.OutDatagrams", OPL_ONE),
     .name = "Datagrams/sec",
     .help = "The rate at which datagrams are sent and received together."},
    {446, 447, PERF_COUNTER_COUNTER, -1, PERF_DETAIL_ADVANCED, OPL_KEY(&perfnet_snmp, "Udp.InDatagrams", OPL_ONE),
     .name = "Datagrams Received/sec",
     .help = "The rate at which datagrams are received. IP includes those with errors; UDP counts "
             "only those that a program gets."},
    {664, 665, PERF_COUNTER_COUNTER, -1, PERF_DETAIL_ADVANCED, OPL_KEY(&perfnet_snmp, "Udp.NoPorts", OPL_ONE),
     .name = "Datagrams No Port/sec",
     .help = "The rate at which datagrams arrive for a port on which no program listens."},
    {666, 667, PERF_COUNTER_RAWCOUNT, 0, PERF_DETAIL_ADVANCED, OPL_KEY(&perfnet_snmp, "Udp.InErrors", OPL_ONE),
     .name = "Datagrams Received Errors",
     .help = "Received datagrams that could not be delivered for a reason other than a port without a program."},
    {442, 443, PERF_COUNTER_COUNTER, -1, PERF_DETAIL_ADVANCED, OPL_KEY(&perfnet_snmp, "Udp.OutDatagrams", OPL_ONE),
     .name = "Datagrams Sent/sec",
     .help = "The rate at which datagrams are sent by this machine itself, not counting those that it "
             "forwards."},
};
/* clang-format on */

const opl_object perfnet_udpv4 = {
    .index = 658,
    .help_index = 659,
    .name = "UDPv4",
    .help = "The UDPv4 object shows datagrams of UDP over version 4 of the Internet Protocol.",
    OPL_COUNTERS(udpv4_counters),
    .default_counter = 438,
};

/* clang-format off */
static const opl_counter udpv6_counters[] = {
    {438, 439, PERF_COUNTER_COUNTER, -1, PERF_DETAIL_ADVANCED, OPL_KEY(&perfnet_snmp6, "Udp6InDatagrams + Udp6OutDatagrams", OPL_ONE),
     .name = "Datagrams/sec",
     .help = "The rate at which datagrams are sent and received together."},
    {446, 447, PERF_COUNTER_COUNTER, -1, PERF_DETAIL_ADVANCED, OPL_KEY(&perfnet_snmp6, "Udp6InDatagrams", OPL_ONE),
     .name = "Datagrams Received/sec",
     .help = "The rate at which datagrams are received. IP includes those with errors; UDP counts "
             "only those that a program gets."},
    {664, 665, PERF_COUNTER_COUNTER, -1, PERF_DETAIL_ADVANCED, OPL_KEY(&perfnet_snmp6, "Udp6NoPorts", OPL_ONE),
     .name = "Datagrams No Port/sec",
     .help = "The rate at which datagrams arrive for a port on which no program listens."},
    {666, 667, PERF_COUNTER_RAWCOUNT, 0, PERF_DETAIL_ADVANCED, OPL_KEY(&perfnet_snmp6, "Udp6InErrors", OPL_ONE),
     .name = "Datagrams Received Errors",
     .help = "Received datagrams that could not be delivered for a reason other than a port without a program."},
    {442, 443, PERF_COUNTER_COUNTER, -1, PERF_DETAIL_ADVANCED, OPL_KEY(&perfnet_snmp6, "Udp6OutDatagrams", OPL_ONE),
     .name = "Datagrams Sent/sec",
     .help = "The rate at which datagrams are sent by this machine itself, not counting those that it "
             "forwards."},
};
/* clang-format on */

const opl_object perfnet_udpv6 = {
    .index = 1532,
    .help_index = 1533,
    .name = "UDPv6",
    .help = "The UDPv6 object shows datagrams of UDP over version 6 of the Internet Protocol.",
    OPL_COUNTERS(udpv6_counters),
    .default_counter = 438,
};
