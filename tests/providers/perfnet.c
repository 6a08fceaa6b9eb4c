/* SPDX-License-Identifier: MIT */
/*
 * perfnet.so with the frozen machines (tests/roots: folders with files of proc and sys): every
 * number. Number k of the n-th interface is 1000 * k + n; number k of a protocol is 10 * k more
 * than a start value of the protocol (tests/roots/generate).
 */
#include "answer.h"

enum {
    INTERFACE = 510,
    IPV4 = 546,
    IPV6 = 548,
    ICMP = 582,
    TCPV4 = 638,
    UDPV4 = 658,
    TCPV6 = 1530,
    UDPV6 = 1532,
    ICMPV6 = 1534,
    ADAPTER = 1820,
    REDIRECTOR = 262,
    SERVER = 330
};
enum { BANDWIDTH = 520 };

static void run_query(const char *root, const char *query)
{
    static const char *const perfnet[] = {"perfnet", "OpenTcpIpPerformanceData",
                                          "CollectTcpIpPerformanceData",
                                          "CloseTcpIpPerformanceData"};
    query_root(perfnet, root, query);
}

static void interface_values(unsigned object, const char *name, uint64_t n)
{
    VALUE(object, name, 388, 1000 + 9000 + 2 * n);
    VALUE(object, name, 400, 2000 + 10000 + 2 * n);
    VALUE(object, name, 266, 2000 + n);
    VALUE(object, name, 452, 10000 + n);
    VALUE(object, name, 264, 1000 + n);
    VALUE(object, name, 528, 4000 + n);
    VALUE(object, name, 530, 3000 + n);
    VALUE(object, name, 506, 9000 + n);
    VALUE(object, name, 540, 12000 + n);
    VALUE(object, name, 542, 11000 + n);
}

static void laptop_interfaces(void **state)
{
    run_query("laptop4", "510 1820");
    assert_string_equal(answer_names(INTERFACE), "lo,enp0s31f6,wlp2s0,docker0,vethd3adb33,");
    assert_string_equal(answer_names(ADAPTER), "enp0s31f6,wlp2s0,");
    interface_values(INTERFACE, "lo", 0);
    interface_values(INTERFACE, "enp0s31f6", 1);
    interface_values(INTERFACE, "vethd3adb33", 4);
    interface_values(ADAPTER, "enp0s31f6", 1);
    interface_values(ADAPTER, "wlp2s0", 2);
}

static void laptop_bandwidth(void **state)
{
    run_query("laptop4", "510 1820");
    VALUE(INTERFACE, "lo", BANDWIDTH, 0);
    VALUE(INTERFACE, "enp0s31f6", BANDWIDTH, 1000000000);
    VALUE(INTERFACE, "wlp2s0", BANDWIDTH, 0); /* the file has -1: unknown */
    VALUE(INTERFACE, "docker0", BANDWIDTH, 0);
    VALUE(INTERFACE, "vethd3adb33", BANDWIDTH, 10000000000);
    VALUE(ADAPTER, "enp0s31f6", BANDWIDTH, 1000000000);
    VALUE(ADAPTER, "wlp2s0", BANDWIDTH, 0);
}

/* Checks the counters of a protocol in the order of its keys in the file, whose values are start +
 * 10, start + 20 and so on. Index 0: this key has no counter. */
static void protocol_values(unsigned object, uint64_t start, const unsigned *indices, size_t count)
{
    for (size_t k = 0; k < count; k++)
        if (indices[k])
            VALUE(object, NULL, indices[k], start + 10 * (k + 1));
}

#define PROTOCOL(object, start, ...)                                                               \
    protocol_values(object, start, (const unsigned[]){__VA_ARGS__},                                \
                    sizeof((const unsigned[]){__VA_ARGS__}) / sizeof(unsigned))

static void laptop_ip(void **state)
{
    run_query("laptop4", "546 548");
    PROTOCOL(IPV4, 1000, 0, 0, 446, 552, 554, 556, 558, 560, 562, 442, 566, 568, 0, 570, 572, 574,
             576, 578, 580);
    VALUE(IPV4, NULL, 438, 1030 + 1100);
    PROTOCOL(IPV6, 6000, 446, 552, 0, 0, 554, 558, 0, 560, 562, 556, 442, 566, 568, 0, 570, 572,
             574, 576, 578, 580);
    VALUE(IPV6, NULL, 438, 6010 + 6110);
}

static void laptop_icmp(void **state)
{
    run_query("laptop4", "582 1534");
    PROTOCOL(ICMP, 2000, 586, 588, 0, 590, 592, 594, 596, 598, 600, 602, 604, 606, 608, 610, 612,
             614, 0, 0, 616, 618, 620, 622, 624, 626, 628, 630, 632, 634, 636);
    VALUE(ICMP, NULL, 584, 2010 + 2150);
    PROTOCOL(ICMPV6, 7000, 586, 588, 612, 614, 0, 0, 590, 1536, 592, 594, 600, 602, 1538, 0, 1542,
             1544, 1546, 1550, 1552, 598, 0, 616, 1554, 618, 620, 626, 628, 1556, 0, 1560, 1562,
             1564, 1566, 1568, 624);
    VALUE(ICMPV6, NULL, 584, 7010 + 7030);
    VALUE(ICMPV6, NULL, 1540, 7140 + 7210); /* the sum of the reports of both versions */
    VALUE(ICMPV6, NULL, 1558, 7290 + 7360);
}

static void laptop_tcp_and_udp(void **state)
{
    run_query("laptop4", "638 1530 658 1532");
    VALUE(TCPV4, NULL, 644, 3050);
    VALUE(TCPV4, NULL, 646, 3060);
    VALUE(TCPV4, NULL, 648, 3070);
    VALUE(TCPV4, NULL, 650, 3080);
    VALUE(TCPV4, NULL, 642, 7);
    VALUE(TCPV4, NULL, 652, 900);
    VALUE(TCPV4, NULL, 654, 800);
    VALUE(TCPV4, NULL, 656, 30);
    VALUE(TCPV4, NULL, 640, 900 + 800);
    assert_string_equal(answer_names(TCPV6), "no object");
    PROTOCOL(UDPV4, 4000, 446, 664, 666, 442);
    VALUE(UDPV4, NULL, 438, 4010 + 4040);
    PROTOCOL(UDPV6, 8000, 446, 664, 666, 442);
    VALUE(UDPV6, NULL, 438, 8010 + 8040);
}

/* ---- other machines ---- */

static void server_counts_are_large(void **state)
{
    run_query("cpu128", "510 1820 546 548 638");
    assert_string_equal(answer_names(INTERFACE), "lo,eth0,eth1,bond0,bond0.100,");
    assert_string_equal(answer_names(ADAPTER), "eth0,eth1,");
    VALUE(INTERFACE, "bond0", 264, UINT64_MAX - 9);
    VALUE(INTERFACE, "bond0", 388, (1ULL << 63) - 10); /* 64-bit counts wrap around */
    VALUE(INTERFACE, "bond0", 266, (1ULL << 32) + 5);
    VALUE(INTERFACE, "bond0", 400, 3 * (1ULL << 32) + 12);
    VALUE(INTERFACE, "bond0", 528, (1ULL << 32) + 2);
    VALUE(INTERFACE, "bond0", 540, (1ULL << 32) + 5);
    VALUE(INTERFACE, "bond0.100", BANDWIDTH, 200000000000);
    VALUE(IPV4, NULL, 446, 11);
    VALUE(IPV4, NULL, 442, UINT32_MAX);
    VALUE(IPV4, NULL, 438, 10);
    VALUE(IPV6, NULL, 446, 6);
    VALUE(TCPV4, NULL, 652, 1);
    VALUE(TCPV4, NULL, 654, 2);
    VALUE(TCPV4, NULL, 644, UINT32_MAX - 1);
}

static void board_counts_wrap(void **state)
{
    run_query("board4", "Global");
    VALUE(TCPV4, NULL, 654, 5);
    VALUE(TCPV4, NULL, 656, UINT32_MAX);
    VALUE(TCPV4, NULL, 640, 9);
    VALUE(UDPV4, NULL, 438, 2);
    VALUE(ICMPV6, NULL, 1540, 7140); /* this kernel has no reports of the second version */
    VALUE(INTERFACE, "end0", BANDWIDTH, 100000000);
    VALUE(INTERFACE, "wg3", BANDWIDTH, 10000000);
    /* this interface's file speed does not stay open, so it must be opened again */
    VALUE(INTERFACE, "wg11", BANDWIDTH, 54000000);
    interface_values(INTERFACE, "wlan0", 14);
    assert_string_equal(answer_names(ADAPTER), "end0,wlan0,");
}

static void container_lacks_what_is_hidden(void **state)
{
    run_query("container", "Global");
    assert_string_equal(answer_names(INTERFACE), "lo,eth0,");
    interface_values(INTERFACE, "eth0", 1);
    assert_false(answer_has(INTERFACE, BANDWIDTH));
    assert_string_equal(answer_names(ADAPTER), "");
    static const unsigned absent[] = {IPV4, IPV6, ICMP, ICMPV6, TCPV4, TCPV6, UDPV4, UDPV6};
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++)
        assert_string_equal(answer_names(absent[i]), "no object");
}

static void odd_names(void **state)
{
    run_query("oddnames", "510 1820");
    assert_string_equal(answer_names(INTERFACE),
                        "lo,eth0.100,br-[0]_1,a_b_c,fifteen-bytes-x,%d|pipe;,0,-,"
                        "\xEF\xBF\xBD\xEF\xBF\xBD,caf\xC3\xA9,face,ETH0.100,_Total,");
    assert_string_equal(answer_names(ADAPTER), "br-[0]_1,fifteen-bytes-x,");
    interface_values(INTERFACE, "br-[0]_1", 2);
    interface_values(INTERFACE, "face", 10);
    /* this is an interface whose name is _Total; an object without such an interface has no
     * total */
    interface_values(INTERFACE, "_Total", 12);
    interface_values(ADAPTER, "fifteen-bytes-x", 4);
    VALUE(INTERFACE, "eth0.100", BANDWIDTH, 1000000000);
    VALUE(INTERFACE, "br-[0]_1", BANDWIDTH, 10000000);
    VALUE(ADAPTER, "fifteen-bytes-x", BANDWIDTH, 2500000000);
    VALUE(INTERFACE, "ETH0.100", BANDWIDTH, 0);
}

static void old_kernel(void **state)
{
    run_query("old419", "Global");
    assert_false(answer_has(INTERFACE, BANDWIDTH)); /* 4294967295 means unknown */
    VALUE(IPV4, NULL, 580, 1190);
    /* this kernel's line has two keys fewer before this one than that of laptop4 */
    VALUE(ICMP, NULL, 636, 2270);
    VALUE(UDPV4, NULL, 442, 4040);
    assert_string_equal(answer_names(IPV6), "no object");
    assert_string_equal(answer_names(ICMPV6), "no object");
    assert_string_equal(answer_names(UDPV6), "no object");
}

/* ---- instances and definitions of the objects ---- */

static void shape(unsigned index, LONG instances)
{
    opl_object_view object;
    assert_true(answer_object(index, &object));
    assert_int_equal(object.type.DefaultCounter, 0);
    assert_int_equal(object.type.PerfFreq.QuadPart, 0);
    assert_int_equal(object.type.PerfTime.QuadPart, 0);
    assert_int_equal(object.type.NumInstances, instances);
    assert_int_equal(object.type.ObjectHelpTitleIndex, index + 1);
    assert_int_equal(object.type.TotalByteLength % 8, 0);
}

static void objects_are_shaped_as_windows(void **state)
{
    run_query("laptop4", "Global");
    shape(INTERFACE, 5);
    shape(ADAPTER, 2);
    static const unsigned singles[] = {IPV4,  IPV6,  ICMP,       ICMPV6, TCPV4,
                                       UDPV4, UDPV6, REDIRECTOR, SERVER};
    for (size_t i = 0; i < sizeof singles / sizeof *singles; i++)
        shape(singles[i], PERF_NO_INSTANCES);
    assert_int_equal(answer.header.NumObjectTypes, 11);
    run_query("laptop4", "1820");
    assert_int_equal(answer.header.NumObjectTypes, 1);
    run_query("laptop4", "1530");
    assert_int_equal(answer.header.NumObjectTypes, 0);
    run_query("laptop4", "Costly");
    assert_int_equal(answer.header.NumObjectTypes, 0);
}

/* This machine uses shares of both versions of SMB, and NFS file systems, one of which is mounted
 * twice. */
static void laptop_shares(void **state)
{
    run_query("laptop4", "262 330");
    VALUE(REDIRECTOR, NULL, 274, 5000000000 + 7 + 600 + 1000 + 1000 + 4000);
    VALUE(REDIRECTOR, NULL, 286, 300 + 8 + 80 + 2000 + 2000 + 8000);
    VALUE(REDIRECTOR, NULL, 278, 1000 + 200 + 30);
    VALUE(REDIRECTOR, NULL, 292, 20 + 1 + 50 + 10 + 20 + 10 + 40);
    VALUE(REDIRECTOR, NULL, 302, 30 + 2 + 70 + 30 + 20 + 50);
    VALUE(REDIRECTOR, NULL, 314, 2);
    VALUE(REDIRECTOR, NULL, 316, 3);
    VALUE(REDIRECTOR, NULL, 392, 7);
    VALUE(SERVER, NULL, 314, 5);
    run_query("vm2", "Global"); /* this machine is neither client nor server */
    assert_string_equal(answer_names(REDIRECTOR), "no object");
    assert_string_equal(answer_names(SERVER), "no object");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(laptop_interfaces),
        cmocka_unit_test(laptop_bandwidth),
        cmocka_unit_test(laptop_ip),
        cmocka_unit_test(laptop_icmp),
        cmocka_unit_test(laptop_tcp_and_udp),
        cmocka_unit_test(server_counts_are_large),
        cmocka_unit_test(board_counts_wrap),
        cmocka_unit_test(container_lacks_what_is_hidden),
        cmocka_unit_test(odd_names),
        cmocka_unit_test(old_kernel),
        cmocka_unit_test(objects_are_shaped_as_windows),
        cmocka_unit_test(laptop_shares),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
