/* SPDX-License-Identifier: MIT */
/*
 * The object Conntrack (the kernel's tracking of connections) is compared with packets that the
 * test sends, in a network namespace of its own. A filter rule there makes the kernel track
 * connections. Each test runs in a child process.
 */
#include "network.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <netinet/tcp.h>

enum { CONNTRACK = 100800, FEW = 7, FLOWS = 40 };

static void own_filter(void)
{
    uint64_t value;
    own_network();
    run("exec 2>/dev/null; nft add table inet t && nft add chain inet t c "
        "'{ type filter hook input priority 0; }' && nft add rule inet t c ct state new accept");
    perfnet.close();
    IS(perfnet.open(NULL), 0);
    run_query("100800");
    if (!find(CONNTRACK, NULL, 100802, &value) || !find(CONNTRACK, NULL, 100814, &value))
        _exit(CANNOT_RUN);
}

static void begin_flows(void)
{
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    for (int i = 0; i < FLOWS; i++) {
        struct sockaddr_in to = {.sin_family = AF_INET,
                                 .sin_port = htons((uint16_t)(20000 + i)),
                                 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        IS(sendto(fd, "x", 1, 0, (struct sockaddr *)&to, sizeof to), 1);
    }
    close(fd);
}

static uint16_t checksum(uint32_t sum, const void *data, size_t bytes)
{
    const unsigned char *at = data;
    for (size_t i = 0; i < bytes; i++)
        sum += i % 2 ? at[i] : (uint32_t)at[i] << 8;
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return htons((uint16_t)~sum);
}

static void send_raw(int protocol, const void *data, size_t bytes)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, protocol);
    if (fd < 0)
        _exit(CANNOT_RUN);
    for (int i = 0; i < FEW; i++)
        IS(sendto(fd, data, bytes, 0, (struct sockaddr *)&to, sizeof to), bytes);
    close(fd);
}

/* Sends a segment with flags that contradict each other. It belongs to no connection, neither when
 * it is sent nor when it is received. */
static void send_garbage(void)
{
    struct tcphdr head = {.source = htons(5), .dest = htons(6), .doff = 5, .syn = 1, .rst = 1};
    uint32_t addresses = 2 * (0x7f00 + 0x0001);
    head.check = checksum(addresses + IPPROTO_TCP + (uint32_t)sizeof head, &head, sizeof head);
    send_raw(IPPROTO_TCP, &head, sizeof head);
}

/* Sends an ICMP error message about a datagram that was never sent. */
static void send_strange_errors(void)
{
    unsigned char bytes[36] = {ICMP_DEST_UNREACH, ICMP_HOST_UNREACH};
    struct iphdr quoted = {.version = 4, .ihl = 5, .ttl = 9, .protocol = IPPROTO_UDP};
    quoted.tot_len = htons(28);
    quoted.saddr = quoted.daddr = htonl(INADDR_LOOPBACK);
    quoted.check = checksum(0, &quoted, sizeof quoted);
    memcpy(bytes + 8, &quoted, sizeof quoted);
    /* of the quoted datagram: the two ports and the length */
    bytes[29] = 77, bytes[31] = 78, bytes[33] = 8;
    uint16_t check = checksum(0, bytes, sizeof bytes);
    memcpy(bytes + 2, &check, sizeof check);
    send_raw(IPPROTO_ICMP, bytes, sizeof bytes);
}

/* Packets go from this machine to itself, so the kernel looks up each one twice: when it is sent,
 * and when it is received. */
static void child_connections(void)
{
    own_filter();
    uint64_t entries = number(CONNTRACK, NULL, 100802);
    begin_flows();
    run_query("100800");
    IS(number(CONNTRACK, NULL, 100802) - entries, FLOWS);
    IS(number(CONNTRACK, NULL, 100806), number(CONNTRACK, NULL, 100802));
    char setting[32] = "";
    FILE *file = fopen("/proc/sys/net/netfilter/nf_conntrack_max", "r");
    IS(file && fgets(setting, sizeof setting, file), true);
    fclose(file);
    IS(number(CONNTRACK, NULL, 100804), strtoull(setting, NULL, 10));
    uint64_t invalid = number(CONNTRACK, NULL, 100814);
    send_garbage();
    run_query("100800");
    invalid = number(CONNTRACK, NULL, 100814) - invalid;
    IS(invalid, 2 * FEW);
    uint64_t errors = number(CONNTRACK, NULL, 100822);
    send_strange_errors();
    run_query("100800");
    IS(number(CONNTRACK, NULL, 100822) - errors, 2 * FEW);
}

static void connections_and_what_belongs_to_none_appear(void **state)
{
    in_child(child_connections);
}

static int open_perflinux(void **state)
{
    return library_open(&perfnet, "perflinux");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(connections_and_what_belongs_to_none_appear),
    };
    (void)open_library;
    return cmocka_run_group_tests(tests, open_perflinux, close_library);
}
