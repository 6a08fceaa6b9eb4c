/* SPDX-License-Identifier: MIT */
/*
 * IPv4 (546) and IPv6 (548): the datagrams of this machine. Linux has the same MIB counts that
 * Windows shows. Forwarded datagrams are included in the counts of received ones, and before Linux
 * 6.7 also in those of sent ones.
 */
#include "perfnet.h"

/* clang-format off */
static const opl_counter ipv4_counters[] = {
    {438, 439, PERF_COUNTER_COUNTER, -1, PERF_DETAIL_ADVANCED, OPL_KEY(&perfnet_snmp, "Ip.InReceives + Ip.OutRequests", OPL_ONE),
     .name = "Datagrams/sec",
     .help = "The rate at which datagrams are sent and received together."},
    {446, 447, PERF_COUNTER_COUNTER, -1, PERF_DETAIL_ADVANCED, OPL_KEY(&perfnet_snmp, "Ip.InReceives", OPL_ONE),
     .name = "Datagrams Received/sec",
     .help = "The rate at which datagrams are received. IP includes those with errors; UDP counts "
             "only those that a program gets."},
    {552, 553, PERF_COUNTER_RAWCOUNT, 0, PERF_DETAIL_ADVANCED, OPL_KEY(&perfnet_snmp, "Ip.InHdrErrors", OPL_ONE),
     .name = "Datagrams Received Header Errors",
     .help = "Received datagrams that were thrown away because their header was wrong: checksum, "
             "version, time to live or options."},
    {554, 555, PERF_COUNTER_RAWCOUNT, 0, PERF_DETAIL_ADVANCED, OPL_KEY(&perfnet_snmp, "Ip.InAddrErrors", OPL_ONE),
     .name = "Datagrams Received Address Errors",
     .help = "Received datagrams that were thrown away because their destination address is not one "
             "that this machine may receive."},
    {556, 557, PERF_COUNTER_COUNTER, -1, PERF_DETAIL_ADVANCED, OPL_KEY(&perfnet_snmp, "Ip.ForwDatagrams", OPL_ONE),
     .name = "Datagrams Forwarded/sec",
     .help = "The rate at which datagrams are forwarded that are addressed to other machines."},
    {558, 559, PERF_COUNTER_RAWCOUNT, 0, PERF_DETAIL_ADVANCED, OPL_KEY(&perfnet_snmp, "Ip.InUnknownProtos", OPL_ONE),
     .name = "Datagrams Received Unknown Protocol",
     .help = "Datagrams that arrived well but were thrown away because their protocol is unknown or "
             "not supported."},
    {560, 561, PERF_COUNTER_RAWCOUNT, 0, PERF_DETAIL_ADVANCED, OPL_KEY(&perfnet_snmp, "Ip.InDiscards", OPL_ONE),
     .name = "Datagrams Received Discarded",
     .help = "Received datagrams that were thrown away although they had no error, for example because "
             "there was no space for them."},
    {562, 563, PERF_COUNTER_COUNTER, -1, PERF_DETAIL_ADVANCED, OPL_KEY(&perfnet_snmp, "Ip.InDelivers", OPL_ONE),
     .name = "Datagrams Received Delivered/sec",
     .help = "The rate at which received datagrams are handed to the protocol that they belong to."},
    {442, 443, PERF_COUNTER_COUNTER, -1, PERF_DETAIL_ADVANCED, OPL_KEY(&perfnet_snmp, "Ip.OutRequests", OPL_ONE),
     .name = "Datagrams Sent/sec",
     .help = "The rate at which datagrams are sent by this machine itself, not counting those that it "
             "forwards."},
    {566, 567, PERF_COUNTER_RAWCOUNT, 0, PERF_DETAIL_ADVANCED, OPL_KEY(&perfnet_snmp, "Ip.OutDiscards", OPL_ONE),
     .name = "Datagrams Outbound Discarded",
     .help = "Datagrams to be sent that were thrown away although they had no error, for example "
             "because there was no space for them."},
    {568, 569, PERF_COUNTER_RAWCOUNT, 0, PERF_DETAIL_ADVANCED, OPL_KEY(&perfnet_snmp, "Ip.OutNoRoutes", OPL_ONE),
     .name = "Datagrams Outbound No Route",
     .help = "Datagrams to be sent that were thrown away because no route leads to their destination."},
    {570, 571, PERF_COUNTER_COUNTER, -1, PERF_DETAIL_ADVANCED, OPL_KEY(&perfnet_snmp, "Ip.ReasmReqds", OPL_ONE),
     .name = "Fragments Received/sec",
     .help = "The rate at which fragments are received that must be put together again."},
    {572, 573, PERF_COUNTER_COUNTER, -1, PERF_DETAIL_ADVANCED, OPL_KEY(&perfnet_snmp, "Ip.ReasmOKs", OPL_ONE),
     .name = "Fragments Re-assembled/sec",
     .help = "The rate at which datagrams are put together successfully from their fragments."},
    {574, 575, PERF_COUNTER_RAWCOUNT, 0, PERF_DETAIL_ADVANCED, OPL_KEY(&perfnet_snmp, "Ip.ReasmFails", OPL_ONE),
     .name = "Fragment Re-assembly Failures",
     .help = "The number of times that fragments could not be put together, because one was missing, "
             "late or wrong."},
    {576, 577, PERF_COUNTER_COUNTER, -1, PERF_DETAIL_ADVANCED, OPL_KEY(&perfnet_snmp, "Ip.FragOKs", OPL_ONE),
     .name = "Fragmented Datagrams/sec",
     .help = "The rate at which datagrams are divided into fragments successfully."},
    {578, 579, PERF_COUNTER_RAWCOUNT, 0, PERF_DETAIL_ADVANCED, OPL_KEY(&perfnet_snmp, "Ip.FragFails", OPL_ONE),
     .name = "Fragmentation Failures",
     .help = "Datagrams that were thrown away because they had to be divided but were marked as not to be divided."},
    {580, 581, PERF_COUNTER_COUNTER, -1, PERF_DETAIL_ADVANCED, OPL_KEY(&perfnet_snmp, "Ip.FragCreates", OPL_ONE),
     .name = "Fragments Created/sec",
     .help = "The rate at which fragments are made by dividing datagrams."},
};
/* clang-format on */

const opl_object perfnet_ipv4 = {
    .index = 546,
    .help_index = 547,
    .name = "IPv4",
    .help = "The IPv4 object shows how many datagrams version 4 of the Internet Protocol sends, "
            "receives and forwards, and what goes wrong.",
    OPL_COUNTERS(ipv4_counters),
    .default_counter = 438,
};

/* clang-format off */
static const opl_counter ipv6_counters[] = {
    {438, 439, PERF_COUNTER_COUNTER, -1, PERF_DETAIL_ADVANCED, OPL_KEY(&perfnet_snmp6, "Ip6InReceives + Ip6OutRequests", OPL_ONE),
     .name = "Datagrams/sec",
     .help = "The rate at which datagrams are sent and received together."},
    {446, 447, PERF_COUNTER_COUNTER, -1, PERF_DETAIL_ADVANCED, OPL_KEY(&perfnet_snmp6, "Ip6InReceives", OPL_ONE),
     .name = "Datagrams Received/sec",
     .help = "The rate at which datagrams are received. IP includes those with errors; UDP counts "
             "only those that a program gets."},
    {552, 553, PERF_COUNTER_RAWCOUNT, 0, PERF_DETAIL_ADVANCED, OPL_KEY(&perfnet_snmp6, "Ip6InHdrErrors", OPL_ONE),
     .name = "Datagrams Received Header Errors",
     .help = "Received datagrams that were thrown away because their header was wrong: checksum, "
             "version, time to live or options."},
    {554, 555, PERF_COUNTER_RAWCOUNT, 0, PERF_DETAIL_ADVANCED, OPL_KEY(&perfnet_snmp6, "Ip6InAddrErrors", OPL_ONE),
     .name = "Datagrams Received Address Errors",
     .help = "Received datagrams that were thrown away because their destination address is not one "
             "that this machine may receive."},
    {556, 557, PERF_COUNTER_COUNTER, -1, PERF_DETAIL_ADVANCED, OPL_KEY(&perfnet_snmp6, "Ip6OutForwDatagrams", OPL_ONE),
     .name = "Datagrams Forwarded/sec",
     .help = "The rate at which datagrams are forwarded that are addressed to other machines."},
    {558, 559, PERF_COUNTER_RAWCOUNT, 0, PERF_DETAIL_ADVANCED, OPL_KEY(&perfnet_snmp6, "Ip6InUnknownProtos", OPL_ONE),
     .name = "Datagrams Received Unknown Protocol",
     .help = "Datagrams that arrived well but were thrown away because their protocol is unknown or "
             "not supported."},
    {560, 561, PERF_COUNTER_RAWCOUNT, 0, PERF_DETAIL_ADVANCED, OPL_KEY(&perfnet_snmp6, "Ip6InDiscards", OPL_ONE),
     .name = "Datagrams Received Discarded",
     .help = "Received datagrams that were thrown away although they had no error, for example because "
             "there was no space for them."},
    {562, 563, PERF_COUNTER_COUNTER, -1, PERF_DETAIL_ADVANCED, OPL_KEY(&perfnet_snmp6, "Ip6InDelivers", OPL_ONE),
     .name = "Datagrams Received Delivered/sec",
     .help = "The rate at which received datagrams are handed to the protocol that they belong to."},
    {442, 443, PERF_COUNTER_COUNTER, -1, PERF_DETAIL_ADVANCED, OPL_KEY(&perfnet_snmp6, "Ip6OutRequests", OPL_ONE),
     .name = "Datagrams Sent/sec",
     .help = "The rate at which datagrams are sent by this machine itself, not counting those that it "
             "forwards."},
    {566, 567, PERF_COUNTER_RAWCOUNT, 0, PERF_DETAIL_ADVANCED, OPL_KEY(&perfnet_snmp6, "Ip6OutDiscards", OPL_ONE),
     .name = "Datagrams Outbound Discarded",
     .help = "Datagrams to be sent that were thrown away although they had no error, for example "
             "because there was no space for them."},
    {568, 569, PERF_COUNTER_RAWCOUNT, 0, PERF_DETAIL_ADVANCED, OPL_KEY(&perfnet_snmp6, "Ip6OutNoRoutes", OPL_ONE),
     .name = "Datagrams Outbound No Route",
     .help = "Datagrams to be sent that were thrown away because no route leads to their destination."},
    {570, 571, PERF_COUNTER_COUNTER, -1, PERF_DETAIL_ADVANCED, OPL_KEY(&perfnet_snmp6, "Ip6ReasmReqds", OPL_ONE),
     .name = "Fragments Received/sec",
     .help = "The rate at which fragments are received that must be put together again."},
    {572, 573, PERF_COUNTER_COUNTER, -1, PERF_DETAIL_ADVANCED, OPL_KEY(&perfnet_snmp6, "Ip6ReasmOKs", OPL_ONE),
     .name = "Fragments Re-assembled/sec",
     .help = "The rate at which datagrams are put together successfully from their fragments."},
    {574, 575, PERF_COUNTER_RAWCOUNT, 0, PERF_DETAIL_ADVANCED, OPL_KEY(&perfnet_snmp6, "Ip6ReasmFails", OPL_ONE),
     .name = "Fragment Re-assembly Failures",
     .help = "The number of times that fragments could not be put together, because one was missing, "
             "late or wrong."},
    {576, 577, PERF_COUNTER_COUNTER, -1, PERF_DETAIL_ADVANCED, OPL_KEY(&perfnet_snmp6, "Ip6FragOKs", OPL_ONE),
     .name = "Fragmented Datagrams/sec",
     .help = "The rate at which datagrams are divided into fragments successfully."},
    {578, 579, PERF_COUNTER_RAWCOUNT, 0, PERF_DETAIL_ADVANCED, OPL_KEY(&perfnet_snmp6, "Ip6FragFails", OPL_ONE),
     .name = "Fragmentation Failures",
     .help = "Datagrams that were thrown away because they had to be divided but were marked as not to be divided."},
    {580, 581, PERF_COUNTER_COUNTER, -1, PERF_DETAIL_ADVANCED, OPL_KEY(&perfnet_snmp6, "Ip6FragCreates", OPL_ONE),
     .name = "Fragments Created/sec",
     .help = "The rate at which fragments are made by dividing datagrams."},
};
/* clang-format on */

const opl_object perfnet_ipv6 = {
    .index = 548,
    .help_index = 549,
    .name = "IPv6",
    .help = "The IPv6 object shows how many datagrams version 6 of the Internet Protocol sends, "
            "receives and forwards, and what goes wrong.",
    OPL_COUNTERS(ipv6_counters),
    .default_counter = 438,
};
