/* SPDX-License-Identifier: MIT */
/*
 * TCPv4 (638): connections and segments of both versions of the Internet Protocol, since Linux
 * counts them together; so the object TCPv6 (1530) has no counters. Retransmitted segments do not
 * count as sent, in Linux as in Windows.
 */
#include "perfnet.h"

/* clang-format off */
static const opl_counter tcpv4_counters[] = {
    {640, 641, PERF_COUNTER_COUNTER, -1, PERF_DETAIL_ADVANCED, OPL_KEY(&perfnet_snmp, "Tcp.InSegs + Tcp.OutSegs", OPL_ONE),
     .name = "Segments/sec",
     .help = "The rate at which TCP segments are sent and received together. Linux counts IPv4 and "
             "IPv6 together."},
    {642, 643, PERF_COUNTER_RAWCOUNT, 0, PERF_DETAIL_ADVANCED, OPL_KEY(&perfnet_snmp, "Tcp.CurrEstab", OPL_ONE),
     .name = "Connections Established",
     .help = "The number of TCP connections that are established at this moment or wait only for the "
             "local program to close them. Linux counts IPv4 and IPv6 together."},
    {644, 645, PERF_COUNTER_RAWCOUNT, 0, PERF_DETAIL_ADVANCED, OPL_KEY(&perfnet_snmp, "Tcp.ActiveOpens", OPL_ONE),
     .name = "Connections Active",
     .help = "The number of TCP connections that this machine has begun since it was started. Linux "
             "counts IPv4 and IPv6 together."},
    {646, 647, PERF_COUNTER_RAWCOUNT, 0, PERF_DETAIL_ADVANCED, OPL_KEY(&perfnet_snmp, "Tcp.PassiveOpens", OPL_ONE),
     .name = "Connections Passive",
     .help = "The number of TCP connections that others have begun with this machine since it was "
             "started. Linux counts IPv4 and IPv6 together."},
    {648, 649, PERF_COUNTER_RAWCOUNT, 0, PERF_DETAIL_ADVANCED, OPL_KEY(&perfnet_snmp, "Tcp.AttemptFails", OPL_ONE),
     .name = "Connection Failures",
     .help = "The number of attempts to make a TCP connection that failed, begun by this machine or by "
             "others. Linux counts IPv4 and IPv6 together."},
    {650, 651, PERF_COUNTER_RAWCOUNT, 0, PERF_DETAIL_ADVANCED, OPL_KEY(&perfnet_snmp, "Tcp.EstabResets", OPL_ONE),
     .name = "Connections Reset",
     .help = "The number of established TCP connections that were broken off instead of being closed "
             "in order. Linux counts IPv4 and IPv6 together."},
    {652, 653, PERF_COUNTER_COUNTER, -1, PERF_DETAIL_ADVANCED, OPL_KEY(&perfnet_snmp, "Tcp.InSegs", OPL_ONE),
     .name = "Segments Received/sec",
     .help = "The rate at which TCP segments are received, including those with errors. Linux counts "
             "IPv4 and IPv6 together."},
    {654, 655, PERF_COUNTER_COUNTER, -1, PERF_DETAIL_ADVANCED, OPL_KEY(&perfnet_snmp, "Tcp.OutSegs", OPL_ONE),
     .name = "Segments Sent/sec",
     .help = "The rate at which TCP segments are sent, not counting those that only repeat bytes sent "
             "before. Linux counts IPv4 and IPv6 together."},
    {656, 657, PERF_COUNTER_COUNTER, -1, PERF_DETAIL_ADVANCED, OPL_KEY(&perfnet_snmp, "Tcp.RetransSegs", OPL_ONE),
     .name = "Segments Retransmitted/sec",
     .help = "The rate at which TCP segments are sent again because they were not confirmed in time. A "
             "high share of all segments means that the network loses packets. Linux counts IPv4 and "
             "IPv6 together."},
};
/* clang-format on */

const opl_object perfnet_tcpv4 = {
    .index = 638,
    .help_index = 639,
    .name = "TCPv4",
    .help = "The TCPv4 object shows connections and segments of TCP over version 4 of the "
            "Internet Protocol. Linux counts IPv4 and IPv6 together.",
    OPL_COUNTERS(tcpv4_counters),
    .default_counter = 640,
};

const opl_object perfnet_tcpv6 = {
    .index = 1530,
    .help_index = 1531,
    .name = "TCPv6",
    .help = "On Linux this object has no counters: TCPv4 holds the counts of both versions of the "
            "Internet Protocol.",
};
