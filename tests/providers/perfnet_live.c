/* SPDX-License-Identifier: MIT */
/*
 * perfnet.so in separate network namespaces without other traffic: the counters grow by exactly
 * what the test sends; other sources (rtnetlink, nstat, ss) show the same values; and a thread sees
 * the namespace that it is in.
 */
#include "network.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <linux/ethtool.h>
#include <linux/if_link.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <netinet/icmp6.h>
#include <pthread.h>
#include <sys/mount.h>

/* ---- work ---- */

enum { TIMES = 100, BYTES = 500 };

static struct sockaddr_in at_port(unsigned short port)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static int listener(int type, unsigned short port)
{
    struct sockaddr_in address = at_port(port);
    int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0), on = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    IS(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    if (type == SOCK_STREAM)
        IS(listen(fd, TIMES), 0);
    return fd;
}

static void send_datagrams(void)
{
    char bytes[BYTES] = "";
    struct sockaddr_in address = at_port(4242);
    int in = listener(SOCK_DGRAM, 4242), out = socket(AF_INET, SOCK_DGRAM, 0);
    for (int i = 0; i < TIMES; i++) {
        IS(sendto(out, bytes, BYTES, 0, (struct sockaddr *)&address, sizeof address), BYTES);
        IS(recv(in, bytes, BYTES, 0), BYTES);
    }
    close(in), close(out);
}

static void send_datagrams_to_nobody(void)
{
    char byte = 0;
    struct sockaddr_in address = at_port(4243);
    int out = socket(AF_INET, SOCK_DGRAM, 0);
    for (int i = 0; i < 3; i++) /* few, because the kernel limits the rate of its ICMP answers */
        IS(sendto(out, &byte, 1, 0, (struct sockaddr *)&address, sizeof address), 1);
    close(out);
}

static void send_datagrams_6(void)
{
    char bytes[BYTES] = "";
    struct sockaddr_in6 address = {
        .sin6_family = AF_INET6, .sin6_port = htons(4242), .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    int in = socket(AF_INET6, SOCK_DGRAM, 0), out = socket(AF_INET6, SOCK_DGRAM, 0);
    IS(bind(in, (struct sockaddr *)&address, sizeof address), 0);
    for (int i = 0; i < TIMES; i++) {
        IS(sendto(out, bytes, BYTES, 0, (struct sockaddr *)&address, sizeof address), BYTES);
        IS(recv(in, bytes, BYTES, 0), BYTES);
    }
    close(in), close(out);
}

static int ends[TIMES][2];

static void connect_all(void)
{
    struct sockaddr_in address = at_port(4244);
    int here = listener(SOCK_STREAM, 4244);
    for (int i = 0; i < TIMES; i++) {
        ends[i][0] = socket(AF_INET, SOCK_STREAM, 0);
        IS(connect(ends[i][0], (struct sockaddr *)&address, sizeof address), 0);
        ends[i][1] = accept(here, NULL, NULL);
        IS(ends[i][1] >= 0, true);
    }
    close(here);
}

/* Resets connections. The reset is counted by both ends: the one that closes without waiting, and
 * the other one. */
static void reset_all(void)
{
    struct linger at_once = {.l_onoff = 1};
    for (int i = 0; i < TIMES; i++) {
        setsockopt(ends[i][0], SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        close(ends[i][0]), close(ends[i][1]);
    }
}

static void connect_to_nobody(void)
{
    struct sockaddr_in address = at_port(4245);
    for (int i = 0; i < TIMES; i++) {
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        IS(connect(fd, (struct sockaddr *)&address, sizeof address), -1);
        close(fd);
    }
}

static void ping(void)
{
    struct icmphdr echo = {.type = ICMP_ECHO, .un.echo.id = htons(0x1234)};
    echo.checksum = (uint16_t)~htons((ICMP_ECHO << 8) + 0x1234);
    struct sockaddr_in address = at_port(0);
    int fd = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMP);
    if (fd < 0)
        _exit(CANNOT_RUN);
    for (int i = 0; i < TIMES; i++)
        IS(sendto(fd, &echo, sizeof echo, 0, (struct sockaddr *)&address, sizeof address),
           sizeof echo);
    close(fd);
}

static void ping_6(void)
{
    struct icmp6_hdr echo = {.icmp6_type = ICMP6_ECHO_REQUEST};
    struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    int fd = socket(AF_INET6, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMPV6);
    if (fd < 0)
        _exit(CANNOT_RUN);
    for (int i = 0; i < TIMES; i++)
        IS(sendto(fd, &echo, sizeof echo, 0, (struct sockaddr *)&address, sizeof address),
           sizeof echo);
    close(fd);
}

/* ---- the counters that traffic must change ---- */

static void child_datagrams(void)
{
    own_network();
    CHANGES(send_datagrams, {UDPV4, NULL, 442, TIMES}, {UDPV4, NULL, 446, TIMES},
            {UDPV4, NULL, 438, 2 * TIMES}, {UDPV4, NULL, 664, 0}, {IPV4, NULL, 442, TIMES},
            {IPV4, NULL, 446, TIMES}, {IPV4, NULL, 562, TIMES}, {IPV4, NULL, 438, 2 * TIMES},
            {INTERFACE, "lo", 266, TIMES}, {INTERFACE, "lo", 452, TIMES},
            {INTERFACE, "lo", 400, 2 * TIMES}, {INTERFACE, "lo", 264, TIMES * (BYTES + 28)},
            {INTERFACE, "lo", 506, TIMES * (BYTES + 28)},
            {INTERFACE, "lo", 388, 2 * TIMES * (BYTES + 28)}, {ICMP, NULL, 584, 0},
            {TCPV4, NULL, 640, 0});
    CHANGES(send_datagrams_to_nobody, {UDPV4, NULL, 664, 3}, {UDPV4, NULL, 442, 3},
            {UDPV4, NULL, 446, 0}, {ICMP, NULL, 616, 3}, {ICMP, NULL, 590, 3},
            {ICMP, NULL, 584, 6});
}

/* ---- the object Network of perflinux.so ---- */

enum { NETWORK = 101600, TOTALS = 8 };
static const unsigned totals[TOTALS] = {101602, 101604, 101606, 101608,
                                        101610, 101612, 101614, 101616};
static struct library perflinux;

static void read_totals(uint64_t ret[TOTALS])
{
    IS(library_query(&perflinux, "101600"), ERROR_SUCCESS);
    IS(opl_block_init(&answer_block, answer.bytes, sizeof answer), OPL_BLOCK_GOOD);
    for (unsigned i = 0; i < TOTALS; i++)
        ret[i] = number(NETWORK, "lo", totals[i]);
}

/* The totals grow by exactly what the test sends: this namespace has no other traffic, except
 * messages of IPv6 from time to time. */
static void child_totals(void)
{
    const uint64_t bytes = TIMES * (BYTES + 28);
    const uint64_t expected[TOTALS] = {2 * bytes, bytes, bytes, TIMES, TIMES, 0, 0, 0};
    uint64_t before[TOTALS], now[TOTALS];
    own_network();
    query_when_quiet("510");
    read_totals(before);
    send_datagrams();
    read_totals(now);
    for (unsigned i = 0; i < TOTALS; i++)
        IS(now[i] - before[i], expected[i]);
}

static void totals_appear(void **state)
{
    in_child(child_totals);
}

static void child_datagrams_6(void)
{
    uint64_t value;
    own_network();
    run_query("Global");
    FILE *addresses = fopen("/proc/thread-self/net/if_inet6", "r");
    if (!addresses || fgetc(addresses) == EOF || !find(UDPV6, NULL, 442, &value))
        _exit(CANNOT_RUN);
    fclose(addresses);
    CHANGES(send_datagrams_6, {UDPV6, NULL, 442, TIMES}, {UDPV6, NULL, 446, TIMES},
            {UDPV6, NULL, 438, 2 * TIMES}, {IPV6, NULL, 442, TIMES}, {IPV6, NULL, 446, TIMES},
            {IPV6, NULL, 562, TIMES}, {UDPV4, NULL, 438, 0},
            {INTERFACE, "lo", 506, TIMES * (BYTES + 48)});
    CHANGES(ping_6, {ICMPV6, NULL, 626, TIMES}, {ICMPV6, NULL, 600, TIMES},
            {ICMPV6, NULL, 628, TIMES}, {ICMPV6, NULL, 602, TIMES}, {ICMPV6, NULL, 586, 2 * TIMES},
            {ICMPV6, NULL, 584, 4 * TIMES}, {ICMP, NULL, 584, 0});
}

static void child_pings(void)
{
    own_network();
    CHANGES(ping, {ICMP, NULL, 626, TIMES}, {ICMP, NULL, 600, TIMES}, {ICMP, NULL, 628, TIMES},
            {ICMP, NULL, 602, TIMES}, {ICMP, NULL, 586, 2 * TIMES}, {ICMP, NULL, 612, 2 * TIMES},
            {ICMP, NULL, 584, 4 * TIMES}, {ICMP, NULL, 588, 0});
}

static void child_connections(void)
{
    own_network();
    CHANGES(connect_all, {TCPV4, NULL, 644, TIMES}, {TCPV4, NULL, 646, TIMES},
            {TCPV4, NULL, 642, 2 * TIMES}, {TCPV4, NULL, 648, 0}, {TCPV4, NULL, 650, 0},
            {TCPV4, NULL, 654, 3 * TIMES}, {TCPV4, NULL, 652, 3 * TIMES},
            {TCPV4, NULL, 640, 6 * TIMES}, {TCPV4, NULL, 656, 0});
    CHANGES(reset_all, {TCPV4, NULL, 642, 0ULL - 2 * TIMES}, {TCPV4, NULL, 650, 2 * TIMES});
    CHANGES(connect_to_nobody, {TCPV4, NULL, 644, TIMES}, {TCPV4, NULL, 648, TIMES},
            {TCPV4, NULL, 646, 0}, {TCPV4, NULL, 642, 0});
}

/* Sends to a neighbour that never answers. Connection requests are repeated, and each repetition
 * counts as a retransmitted segment, not as a sent one. */
static void child_lost_segments(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(80)};
    struct timeval timeout = {.tv_sec = 1, .tv_usec = 300000};
    own_network();
    run("ip link add left type veth peer name right >/dev/null 2>&1 && "
        "ip addr add 10.9.0.1/24 dev left && ip link set left up && ip link set right up && "
        "ip neigh replace 10.9.0.2 lladdr 02:00:00:00:00:09 dev left");
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
    IS(inet_pton(AF_INET, "10.9.0.2", &address.sin_addr), 1);
    IS(connect(fd, (struct sockaddr *)&address, sizeof address), -1);
    IS(errno == EINPROGRESS || errno == EAGAIN, true);
    run_query("638");
    IS(number(TCPV4, NULL, 654), 1);
    IS(number(TCPV4, NULL, 656) >= 1, true);
    IS(number(TCPV4, NULL, 640), 1);
    IS(number(TCPV4, NULL, 652), 0);
}

enum { MEGABYTES = 8, PIECE = 65536 };

/* The interface receives at least the bytes that were sent, and at most 1 % more, for the
 * headers. */
static void child_bytes(void)
{
    static char piece[PIECE];
    struct sockaddr_in address = at_port(4246);
    uint64_t sent = 0, got = 0, total = (uint64_t)MEGABYTES << 20;
    own_network();
    int here = listener(SOCK_STREAM, 4246), out = socket(AF_INET, SOCK_STREAM, 0);
    IS(connect(out, (struct sockaddr *)&address, sizeof address), 0);
    int in = accept(here, NULL, NULL);
    run_query("510");
    uint64_t before = number(INTERFACE, "lo", 264);
    while (got < total) {
        ssize_t wrote = sent < total ? send(out, piece, PIECE, MSG_DONTWAIT) : 0;
        sent += wrote > 0 ? (uint64_t)wrote : 0;
        ssize_t bytes = recv(in, piece, PIECE, sent > got ? 0 : MSG_DONTWAIT);
        got += bytes > 0 ? (uint64_t)bytes : 0;
    }
    run_query("510");
    uint64_t bytes = number(INTERFACE, "lo", 264) - before;
    IS(bytes >= total, true);
    IS(bytes <= sent + sent / 100, true);
}

static void lost_segments_appear(void **state)
{
    in_child(child_lost_segments);
}

static void bytes_appear(void **state)
{
    in_child(child_bytes);
}

static void datagrams_appear(void **state)
{
    in_child(child_datagrams);
}

static void datagrams_of_version_6_appear(void **state)
{
    in_child(child_datagrams_6);
}

static void pings_appear(void **state)
{
    in_child(child_pings);
}

static void connections_appear(void **state)
{
    in_child(child_connections);
}

/* ---- values of other programs ---- */

/* Compares with rtnetlink, whose values have only 32 bits. */
static bool same_interface(const char *name, const struct rtnl_link_stats *is)
{
    const struct {
        unsigned index;
        uint32_t theirs;
    } pairs[] = {
        {264, is->rx_bytes                         },
        {506, is->tx_bytes                         },
        {266, is->rx_packets                       },
        {452, is->tx_packets                       },
        {530, is->rx_errors                        },
        {542, is->tx_errors                        },
        {528, is->rx_dropped + is->rx_missed_errors},
        {540, is->tx_dropped                       },
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if ((uint32_t)number(INTERFACE, name, pairs[i].index) != pairs[i].theirs)
            return false;
    return true;
}

/* Compares all totals, of which some (errors, collisions) are always 0 for a loopback. */
static bool same_totals(const char *name, const struct rtnl_link_stats *is)
{
    const uint32_t theirs[TOTALS] = {is->rx_bytes + is->tx_bytes,
                                     is->tx_bytes,
                                     is->rx_bytes,
                                     is->tx_packets,
                                     is->rx_packets,
                                     is->rx_errors,
                                     is->tx_errors,
                                     is->collisions};
    bool same = true;
    IS(library_query(&perflinux, "101600"), ERROR_SUCCESS);
    IS(opl_block_init(&answer_block, answer.bytes, sizeof answer), OPL_BLOCK_GOOD);
    for (unsigned i = 0; i < TOTALS; i++)
        same &= (uint32_t)number(NETWORK, name, totals[i]) == theirs[i];
    return same;
}

static unsigned same_interfaces(void)
{
    struct ifaddrs *all;
    unsigned count = 0;
    IS(getifaddrs(&all), 0);
    run_query("510");
    for (struct ifaddrs *one = all; one; one = one->ifa_next)
        if (one->ifa_addr && one->ifa_addr->sa_family == AF_PACKET && one->ifa_data)
            count += same_interface(one->ifa_name, one->ifa_data);
    for (struct ifaddrs *one = all; one; one = one->ifa_next)
        if (one->ifa_addr && one->ifa_addr->sa_family == AF_PACKET && one->ifa_data)
            count += same_totals(one->ifa_name, one->ifa_data);
    freeifaddrs(all);
    return count;
}

/* IPv6 sends something from time to time, so the comparison is repeated: all values must be equal
 * as soon as IPv6 is silent. */
static void child_rtnetlink(void)
{
    unsigned count = 0;
    own_network();
    run("ip link add left type veth peer name right >/dev/null 2>&1");
    run("ip addr add 10.0.0.1/24 dev left && ip link set left up && ip link set right up");
    send_datagrams();
    for (int tries = 0; tries < 100 && count != 2 * 3; tries++) {
        usleep(20000);
        count = same_interfaces();
    }
    IS(count, 2 * 3);
    run_query("510");
    IS(number(INTERFACE, "lo", 266) >= TIMES, true);
}

static void interfaces_are_those_of_rtnetlink(void **state)
{
    in_child(child_rtnetlink);
}

/* Names in nstat's output, which has lines such as "TcpActiveOpens 12 0.0". */
static const struct {
    const char *name;
    unsigned object, index;
} nstat_names[] = {
    {"IpInReceives",     IPV4,   446},
    {"IpInDelivers",     IPV4,   562},
    {"IpOutRequests",    IPV4,   442},
    {"IcmpInMsgs",       ICMP,   586},
    {"IcmpOutMsgs",      ICMP,   612},
    {"IcmpOutEchos",     ICMP,   626},
    {"TcpActiveOpens",   TCPV4,  644},
    {"TcpPassiveOpens",  TCPV4,  646},
    {"TcpAttemptFails",  TCPV4,  648},
    {"TcpEstabResets",   TCPV4,  650},
    {"TcpInSegs",        TCPV4,  652},
    {"TcpRetransSegs",   TCPV4,  656},
    {"UdpInDatagrams",   UDPV4,  446},
    {"UdpOutDatagrams",  UDPV4,  442},
    {"UdpNoPorts",       UDPV4,  664},
    {"Ip6OutRequests",   IPV6,   442},
    {"Ip6InReceives",    IPV6,   446},
    {"Icmp6OutMsgs",     ICMPV6, 612},
    {"Udp6OutDatagrams", UDPV6,  442},
};

static void same_as_nstat(const char *line, unsigned *count)
{
    char name[64];
    unsigned long long value;
    uint64_t ours;
    if (sscanf(line, "%63s %llu", name, &value) != 2)
        return;
    for (size_t i = 0; i < sizeof nstat_names / sizeof *nstat_names; i++)
        if (strcmp(name, nstat_names[i].name) == 0 &&
            find(nstat_names[i].object, NULL, nstat_names[i].index, &ours)) {
            if (ours != value)
                printf("# %s\n", name);
            IS(ours, value);
            ++*count;
        }
}

static void child_nstat(void)
{
    char line[256];
    unsigned count = 0, established = ~0u;
    own_network();
    send_datagrams(), send_datagrams_to_nobody(), connect_all(), connect_to_nobody(), ping();
    query_when_quiet("Global");
    FILE *nstat = popen("nstat -asz 2>/dev/null", "r");
    while (nstat && fgets(line, sizeof line, nstat))
        same_as_nstat(line, &count);
    if (!nstat || pclose(nstat) != 0 || count == 0)
        _exit(CANNOT_RUN);
    IS(count >= 15, true);
    FILE *ss = popen("ss -Htn state established 2>/dev/null | wc -l", "r");
    if (!ss || fscanf(ss, "%u", &established) != 1)
        _exit(CANNOT_RUN);
    pclose(ss);
    IS(established, 2 * TIMES);
    IS(number(TCPV4, NULL, 642), established);
}

static void protocols_are_those_of_nstat_and_ss(void **state)
{
    in_child(child_nstat);
}

/* ---- which namespace is read ---- */

static uint64_t packets_of_loopback(void)
{
    run_query("510");
    return number(INTERFACE, "lo", 266);
}

static void *other_thread(void *arg)
{
    if (unshare(CLONE_NEWNET) != 0)
        _exit(CANNOT_RUN);
    for (int i = 0; i < 2; i++) {
        IS(packets_of_loopback(), 0);
        IS(switch_on("lo"), true);
    }
    send_datagrams();
    IS(packets_of_loopback() >= TIMES, true);
    *(uint64_t *)arg = packets_of_loopback();
    return NULL;
}

/* Threads of one process that are in different namespaces, and a thread that changes to another
 * namespace: each sees only the packets of its namespace. */
static void child_threads(void)
{
    pthread_t thread;
    uint64_t there = 0;
    own_network();
    /* these are not the packets of the namespace in which the library was opened */
    IS(packets_of_loopback() < TIMES, true);
    for (int i = 0; i < 3; i++)
        send_datagrams();
    uint64_t here = packets_of_loopback();
    IS(here >= 3 * TIMES, true);
    IS(pthread_create(&thread, NULL, other_thread, &there), 0);
    pthread_join(thread, NULL);
    IS(packets_of_loopback(), here);
    IS(there < here, true);
    IS(unshare(CLONE_NEWNET), 0);
    IS(packets_of_loopback(), 0);
}

static void each_thread_sees_its_own_network(void **state)
{
    in_child(child_threads);
}

/* In the namespace for which sys was mounted, hardware devices are the interfaces with a link
 * "device" in sys. perfnet.so does not use these links, but must find the same devices. */
static void child_devices(void)
{
    char path[512];
    uint64_t value;
    unsigned devices = 0;
    opl_object_view object;
    struct if_nameindex *all = if_nameindex();
    if (access("/sys/class/net/lo", X_OK) != 0 || !all)
        _exit(CANNOT_RUN);
    run_query("510 1820");
    for (struct if_nameindex *one = all; one->if_index; one++) {
        snprintf(path, sizeof path, "/sys/class/net/%s/ifindex", one->if_name);
        FILE *file = fopen(path, "r");
        unsigned index = 0;
        if (!file || fscanf(file, "%u", &index) != 1 || index != one->if_index)
            /* sys shows another namespace than that of this process, so the test is impossible */
            _exit(CANNOT_RUN);
        fclose(file);
        snprintf(path, sizeof path, "/sys/class/net/%s/device", one->if_name);
        bool device = access(path, F_OK) == 0;
        IS(find(ADAPTER, one->if_name, 388, &value), device);
        IS(find(INTERFACE, one->if_name, 388, &value), true);
        devices += device;
    }
    IS(answer_object(ADAPTER, &object), true);
    IS(object.type.NumInstances, devices);
}

static void devices_are_those_of_sys(void **state)
{
    in_child(child_devices);
}

/* Compares the speed with what ethtool(8) reads, if sys shows this namespace. */
static void child_bandwidth(void)
{
    struct ethtool_cmd link = {.cmd = ETHTOOL_GSET};
    struct ifreq request = {.ifr_name = "left", .ifr_data = (char *)&link};
    own_network();
    run("ip link add left type veth peer name right >/dev/null 2>&1");
    run("ip link set left up && ip link set right up");
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("sysfs", "/sys", "sysfs", 0, NULL) != 0)
        _exit(CANNOT_RUN);
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (ioctl(fd, SIOCETHTOOL, &request) != 0)
        _exit(CANNOT_RUN);
    perfnet.close();
    IS(perfnet.open(NULL), 0);
    run_query("510 1820");
    IS(number(INTERFACE, "left", 520), (uint64_t)ethtool_cmd_speed(&link) * 1000000);
    IS(number(INTERFACE, "left", 520) > 0, true);
    IS(number(INTERFACE, "lo", 520), 0);
}

static void bandwidth_is_that_of_ethtool(void **state)
{
    in_child(child_bandwidth);
}

/* Makes interfaces that are no hardware, but have the names of hardware devices in
 * sys/class/net. */
static void child_namesakes(void)
{
    char command[256], name[IF_NAMESIZE] = "";
    uint64_t value;
    run_query("1820");
    opl_object_view object;
    opl_instance_view instance = {0};
    if (!answer_object(ADAPTER, &object) ||
        !opl_object_next_instance(&answer_block, &object, &instance))
        _exit(CANNOT_RUN);
    opl_instance_name(&answer_block, &object, &instance, name, sizeof name);
    own_network();
    snprintf(command, sizeof command, "ip link add '%s' type veth peer name other >/dev/null 2>&1",
             name);
    run(command);
    run_query("510 1820");
    IS(number(INTERFACE, name, 266), 0);
    IS(find(INTERFACE, name, 520, &value) ? value : 0, 0);
    IS(answer_object(ADAPTER, &object), true);
    IS(object.type.NumInstances, 0);
}

/* If sys was mounted for another namespace, an interface that has the same name there is not
 * ours. */
static void namesakes_in_sys_are_not_taken_for_ours(void **state)
{
    in_child(child_namesakes);
}

static void child_comes_and_goes(void)
{
    opl_object_view object;
    own_network();
    for (int i = 0; i < 3; i++) {
        run("ip link add 'a(b)#1' type veth peer name short >/dev/null 2>&1");
        run_query("510");
        IS(number(INTERFACE, "short", 266), 0);
        IS(number(INTERFACE, "a[b]_1", 266), 0);
        run("ip link del short");
        run_query("510");
        IS(answer_object(INTERFACE, &object), true);
        IS(object.type.NumInstances, 1);
    }
}

static void interfaces_come_and_go(void **state)
{
    in_child(child_comes_and_goes);
}

static int open_libraries(void **state)
{
    library_load(&perflinux, "perflinux", "OpenLinuxObject", "CollectLinuxObjectData",
                 "CloseLinuxObject");
    return open_library(state) || perflinux.open(NULL) ? -1 : 0;
}

static int close_libraries(void **state)
{
    perflinux.close();
    return close_library(state);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(datagrams_appear),
        cmocka_unit_test(datagrams_of_version_6_appear),
        cmocka_unit_test(totals_appear),
        cmocka_unit_test(pings_appear),
        cmocka_unit_test(connections_appear),
        cmocka_unit_test(lost_segments_appear),
        cmocka_unit_test(bytes_appear),
        cmocka_unit_test(devices_are_those_of_sys),
        cmocka_unit_test(bandwidth_is_that_of_ethtool),
        cmocka_unit_test(interfaces_are_those_of_rtnetlink),
        cmocka_unit_test(protocols_are_those_of_nstat_and_ss),
        cmocka_unit_test(each_thread_sees_its_own_network),
        cmocka_unit_test(namesakes_in_sys_are_not_taken_for_ours),
        cmocka_unit_test(interfaces_come_and_go),
    };
    return cmocka_run_group_tests(tests, open_libraries, close_libraries);
}
