/* SPDX-License-Identifier: MIT */
/*
 * perfnet.so compared with a simulated wire: the test puts packets of every kind on it byte by
 * byte, valid and damaged ones, and the protocols' counters must grow by exactly that number.
 * `left` is this machine's end of the wire, 10.9.0.1 and fd09::1; the packets come from 10.9.0.2
 * and fd09::2, which belong to no machine. A second wire, at the interface `out`, leads to
 * 10.9.1.0/24 and fd0a::/64 and accepts packets of at most 1280 bytes.
 */
#include "network.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/ip_icmp.h>
#include <netinet/udp.h>

enum { MOST = 1500, FRAGMENT_MORE = 0x2000, DO_NOT_FRAGMENT = 0x4000, UNKNOWN_PROTOCOL = 253 };

/* ---- the wire ---- */

static const char make_wire[] =
    "set -e; exec 2>/dev/null; four=/proc/sys/net/ipv4 six=/proc/sys/net/ipv6\n"
    "echo 0 >$four/icmp_ratelimit; echo 0 >$six/icmp/ratelimit; echo 0 >$four/conf/all/rp_filter\n"
    "! [ -w $four/icmp_msgs_per_sec ] || echo 1000000 >$four/icmp_msgs_per_sec\n"
    "! [ -w $four/icmp_msgs_burst ] || echo 1000000 >$four/icmp_msgs_burst\n"
    "ip link add left type veth peer name right; ip link add out type veth peer name far\n"
    "for end in right far; do echo 1 >$six/conf/$end/disable_ipv6; done\n"
    "for end in left out; do\n"
    "  for what in accept_dad router_solicitations autoconf accept_ra; do\n"
    "    echo 0 >$six/conf/$end/$what; done\n"
    "  echo 1 >$six/conf/$end/mldv2_unsolicited_report_interval; done\n"
    "for end in right far; do ip link set $end arp off; ip link set $end up; done\n"
    "ip link set out mtu 1280; ip link set left up; ip link set out up\n"
    "ip addr add 10.9.0.1/24 dev left; ip addr add 10.9.1.1/24 dev out\n"
    "ip addr add fd09::1/64 dev left nodad; ip addr add fd0a::1/64 dev out nodad\n"
    "ip neigh add 10.9.0.2 lladdr 02:00:00:00:00:09 dev left\n"
    "ip neigh add fd09::2 lladdr 02:00:00:00:00:09 dev left\n"
    "ip neigh add 10.9.1.2 lladdr 02:00:00:00:00:0a dev out\n"
    "ip neigh add fd0a::2 lladdr 02:00:00:00:00:0a dev out\n";

static int wire; /* a socket that sends whole Ethernet frames */

static void own_wire(void)
{
    own_network();
    run(make_wire);
    wire = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
    if (wire < 0)
        _exit(CANNOT_RUN);
    usleep(300000); /* time for the first messages of IPv6 */
    query_when_quiet("Global");
}

static void address_of(const char *end, unsigned char *ret)
{
    struct ifreq request = {0};
    snprintf(request.ifr_name, sizeof request.ifr_name, "%s", end);
    IS(ioctl(wire, SIOCGIFHWADDR, &request), 0);
    memcpy(ret, request.ifr_hwaddr.sa_data, ETH_ALEN);
}

/* Sends a packet into the end `from` of a wire; it arrives at the other end, `to`. */
static void put(const char *from, const char *to, unsigned protocol, const void *packet,
                size_t bytes)
{
    struct sockaddr_ll at = {.sll_family = AF_PACKET, .sll_ifindex = (int)if_nametoindex(from)};
    unsigned char frame[ETH_HLEN + MOST] = {0};
    struct ethhdr head = {
        .h_source = {2, 0, 0, 0, 0, 9},
          .h_proto = htons((uint16_t)protocol)
    };
    address_of(to, head.h_dest);
    memcpy(frame, &head, sizeof head);
    memcpy(frame + sizeof head, packet, bytes);
    bytes += sizeof head;
    IS(sendto(wire, frame, bytes, 0, (struct sockaddr *)&at, sizeof at), bytes);
}

static uint32_t add_words(uint32_t sum, const void *data, size_t bytes)
{
    const unsigned char *at = data;
    for (size_t i = 0; i < bytes; i++)
        sum += i % 2 ? at[i] : (uint32_t)at[i] << 8;
    return sum;
}

static uint16_t checksum(uint32_t sum)
{
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return htons((uint16_t)~sum);
}

/* ---- IPv4 ---- */

struct four {
    /* `from` NULL: the address that belongs to no machine (10.9.0.2); `to` NULL: left */
    const char *from, *to;
    uint8_t ttl, protocol, first_byte;
    uint16_t number, fragment; /* `fragment`: the fragment's position, and the flags */
    bool damaged;
    const void *data;
    size_t bytes;
};

static void put_four(const struct four *is)
{
    unsigned char packet[MOST];
    struct iphdr head = {.ttl = is->ttl ? is->ttl : 64,
                         .protocol = is->protocol,
                         .id = htons(is->number),
                         .frag_off = htons(is->fragment),
                         .tot_len = htons((uint16_t)(sizeof head + is->bytes))};
    unsigned char first = is->first_byte ? is->first_byte : 0x45;
    inet_pton(AF_INET, is->from ? is->from : "10.9.0.2", &head.saddr);
    inet_pton(AF_INET, is->to ? is->to : "10.9.0.1", &head.daddr);
    memcpy(packet, &head, sizeof head);
    packet[0] = first;
    head.check = checksum(add_words(is->damaged, packet, sizeof head));
    memcpy(packet, &head, sizeof head);
    packet[0] = first;
    if (is->bytes)
        memcpy(packet + sizeof head, is->data, is->bytes);
    put("right", "left", ETH_P_IP, packet, sizeof head + is->bytes);
}

static const unsigned char zeros[MOST];

enum { FEW = 7 };

static void wrong_headers(void)
{
    for (int i = 0; i < FEW; i++) {
        put_four(&(struct four){.damaged = true, .protocol = IPPROTO_UDP});
        put_four(&(struct four){.first_byte = 0x55, .protocol = IPPROTO_UDP});
        put_four(&(struct four){.first_byte = 0x44, .protocol = IPPROTO_UDP});
    }
}

static void for_others(void)
{
    for (int i = 0; i < FEW; i++)
        put_four(&(struct four){.to = "10.9.0.99", .protocol = IPPROTO_UDP});
}

static void of_unknown_protocols(void)
{
    for (int i = 0; i < FEW; i++)
        put_four(&(struct four){.protocol = UNKNOWN_PROTOCOL, .data = zeros, .bytes = 20});
}

static void without_time(void)
{
    for (int i = 0; i < FEW; i++)
        put_four(&(struct four){.to = "10.9.1.2", .ttl = 1, .protocol = UNKNOWN_PROTOCOL});
}

static void to_be_forwarded(void)
{
    for (int i = 0; i < FEW; i++)
        put_four(&(struct four){.to = "10.9.1.2", .protocol = UNKNOWN_PROTOCOL});
}

static void put_large(unsigned flags)
{
    for (int i = 0; i < FEW; i++)
        put_four(&(struct four){.to = "10.9.1.2",
                                .protocol = UNKNOWN_PROTOCOL,
                                .fragment = (uint16_t)flags,
                                .data = zeros,
                                .bytes = 1380});
}

static void to_be_divided(void)
{
    put_large(0);
}

static void not_to_be_divided(void)
{
    put_large(DO_NOT_FRAGMENT);
}

/* Sends datagrams in three fragments of 16 bytes, the last one first. */
static void in_parts(void)
{
    for (uint16_t number = 1; number <= FEW; number++)
        for (unsigned part = 3; part-- > 0;)
            put_four(&(struct four){.protocol = UNKNOWN_PROTOCOL,
                                    .number = number,
                                    .fragment = (uint16_t)(part * 2 | (part < 2 ? 0x2000 : 0)),
                                    .data = zeros,
                                    .bytes = 16});
}

/* Sends only the first fragment of each datagram; the kernel waits a second for the rest. */
static void in_lost_parts(void)
{
    for (uint16_t number = 100; number < 100 + FEW; number++)
        put_four(&(struct four){.protocol = UNKNOWN_PROTOCOL,
                                .number = number,
                                .fragment = FRAGMENT_MORE,
                                .data = zeros,
                                .bytes = 16});
    sleep(2);
}

static void child_four(void)
{
    own_wire();
    CHANGES(wrong_headers, {IPV4, NULL, 552, 3 * FEW}, {IPV4, NULL, 446, 3 * FEW},
            {IPV4, NULL, 562, 0});
    CHANGES(for_others, {IPV4, NULL, 554, FEW}, {IPV4, NULL, 446, FEW}, {IPV4, NULL, 556, 0});
    CHANGES(of_unknown_protocols, {IPV4, NULL, 558, FEW}, {IPV4, NULL, 446, FEW},
            {ICMP, NULL, 616, FEW});
    CHANGES(in_parts, {IPV4, NULL, 570, 3 * FEW}, {IPV4, NULL, 572, FEW}, {IPV4, NULL, 574, 0},
            {IPV4, NULL, 558, FEW});
    run("echo 1 >/proc/sys/net/ipv4/ipfrag_time");
    CHANGES(in_lost_parts, {IPV4, NULL, 570, FEW}, {IPV4, NULL, 572, 0}, {IPV4, NULL, 574, FEW},
            {ICMP, NULL, 618, FEW});
}

static void child_forwarded_four(void)
{
    own_wire();
    run("echo 1 >/proc/sys/net/ipv4/ip_forward");
    CHANGES(to_be_forwarded, {IPV4, NULL, 556, FEW}, {IPV4, NULL, 554, 0}, {IPV4, NULL, 562, 0},
            {INTERFACE, "out", 452, FEW});
    CHANGES(without_time, {IPV4, NULL, 552, FEW}, {IPV4, NULL, 556, 0}, {ICMP, NULL, 618, FEW});
    CHANGES(to_be_divided, {IPV4, NULL, 556, FEW}, {IPV4, NULL, 576, FEW},
            {IPV4, NULL, 580, 2 * FEW}, {IPV4, NULL, 578, 0}, {INTERFACE, "out", 452, 2 * FEW});
    CHANGES(not_to_be_divided, {IPV4, NULL, 578, FEW}, {IPV4, NULL, 576, 0}, {IPV4, NULL, 580, 0},
            {ICMP, NULL, 616, FEW});
}

/* ---- packets that cannot be sent ---- */

static unsigned refused; /* datagrams that could not be sent */

static void send_to(int family, const char *address, int expected)
{
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(9)};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(9)};
    int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0), capacity = 1;
    bool is_four = family == AF_INET;
    inet_pton(family, address, is_four ? (void *)&four.sin_addr : (void *)&six.sin6_addr);
    const void *at = is_four ? (void *)&four : (void *)&six;
    socklen_t bytes = is_four ? sizeof four : sizeof six;
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &capacity, sizeof capacity);
    refused = 0;
    for (int i = 0; i < 50; i++)
        if (sendto(fd, zeros, 1000, MSG_DONTWAIT, at, bytes) < 0) {
            IS(errno, expected);
            refused++;
        }
    close(fd);
}

static void send_nowhere(void)
{
    send_to(AF_INET, "192.0.2.1", ENETUNREACH);
}

static void send_nowhere_6(void)
{
    send_to(AF_INET6, "2001:db8::1", ENETUNREACH);
}

/* Sends to a neighbour that never answers: packets wait in a queue until it is full, and more
 * packets are discarded. Returns how many were discarded. */
static uint64_t discarded(int family, const char *address, unsigned object)
{
    run_query("Global");
    uint64_t before = number(object, NULL, 566);
    send_to(family, address, EAGAIN);
    run_query("Global");
    return number(object, NULL, 566) - before;
}

static void child_not_sent(void)
{
    own_wire();
    CHANGES(send_nowhere, {IPV4, NULL, 568, 50}, {IPV4, NULL, 442, 0});
    CHANGES(send_nowhere_6, {IPV6, NULL, 568, 50}, {IPV6, NULL, 442, 0});
    uint64_t lost = discarded(AF_INET, "10.9.0.77", IPV4);
    IS(lost, refused);
    IS(lost > 0 && lost < 50, true);
    lost = discarded(AF_INET6, "fd09::77", IPV6);
    IS(lost, refused);
    IS(lost > 0 && lost < 50, true);
}

/* ---- IPv6 ---- */

struct six {
    const char *from, *to;
    uint8_t hops, protocol, first_byte;
    const void *data;
    size_t bytes;
};

static size_t make_six(const struct six *is, unsigned char packet[MOST])
{
    struct ip6_hdr head = {0};
    head.ip6_vfc = is->first_byte ? is->first_byte : 0x60;
    head.ip6_plen = htons((uint16_t)is->bytes);
    head.ip6_nxt = is->protocol;
    head.ip6_hlim = is->hops ? is->hops : 64;
    inet_pton(AF_INET6, is->from ? is->from : "fd09::2", &head.ip6_src);
    inet_pton(AF_INET6, is->to ? is->to : "fd09::1", &head.ip6_dst);
    memcpy(packet, &head, sizeof head);
    if (is->bytes)
        memcpy(packet + sizeof head, is->data, is->bytes);
    return sizeof head + is->bytes;
}

static void put_six(const struct six *is)
{
    unsigned char packet[MOST];
    size_t bytes = make_six(is, packet);
    put("right", "left", ETH_P_IPV6, packet, bytes);
}

static void wrong_headers_6(void)
{
    for (int i = 0; i < FEW; i++)
        put_six(&(struct six){.first_byte = 0x50, .protocol = IPPROTO_UDP});
}

static void for_others_6(void)
{
    for (int i = 0; i < FEW; i++)
        put_six(&(struct six){.to = "fd09::99", .protocol = IPPROTO_UDP});
}

static void of_unknown_protocols_6(void)
{
    for (int i = 0; i < FEW; i++)
        put_six(&(struct six){.protocol = UNKNOWN_PROTOCOL, .data = zeros, .bytes = 20});
}

/* Sends packets to an end of the wire on which IPv6 is switched off. */
static void for_the_deaf_6(void)
{
    unsigned char packet[MOST];
    size_t bytes = make_six(&(struct six){.protocol = IPPROTO_UDP}, packet);
    for (int i = 0; i < FEW; i++)
        put("left", "right", ETH_P_IPV6, packet, bytes);
}

static void put_part_6(uint32_t identity, unsigned part, bool more)
{
    unsigned char data[24] = {0};
    struct ip6_frag head = {.ip6f_nxt = UNKNOWN_PROTOCOL,
                            .ip6f_offlg = htons((uint16_t)(part * 16 | more)),
                            .ip6f_ident = htonl(identity)};
    memcpy(data, &head, sizeof head);
    put_six(&(struct six){.protocol = IPPROTO_FRAGMENT, .data = data, .bytes = sizeof data});
}

static void in_parts_6(void)
{
    for (uint32_t identity = 1; identity <= FEW; identity++)
        for (unsigned part = 3; part-- > 0;)
            put_part_6(identity, part, part < 2);
}

static void in_lost_parts_6(void)
{
    for (uint32_t identity = 100; identity < 100 + FEW; identity++)
        put_part_6(identity, 0, true);
    sleep(2);
}

static void put_to_others_6(uint8_t hops, size_t bytes)
{
    for (int i = 0; i < FEW; i++)
        put_six(&(struct six){.to = "fd0a::2",
                              .hops = hops,
                              .protocol = UNKNOWN_PROTOCOL,
                              .data = zeros,
                              .bytes = bytes});
}

static void to_be_forwarded_6(void)
{
    put_to_others_6(0, 20);
}

static void without_time_6(void)
{
    put_to_others_6(1, 20);
}

static void too_large_6(void)
{
    put_to_others_6(0, 1300);
}

/* Sends a datagram of 3,008 bytes, which this machine divides into fragments of 1,232 bytes. */
static void divide_6(void)
{
    struct sockaddr_in6 to = {.sin6_family = AF_INET6, .sin6_port = htons(9)};
    static const char much[3000];
    int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    inet_pton(AF_INET6, "fd0a::2", &to.sin6_addr);
    for (int i = 0; i < FEW; i++)
        IS(sendto(fd, much, sizeof much, 0, (struct sockaddr *)&to, sizeof to), sizeof much);
    close(fd);
}

static void child_six(void)
{
    own_wire();
    CHANGES(wrong_headers_6, {IPV6, NULL, 552, FEW}, {IPV6, NULL, 446, FEW}, {IPV6, NULL, 562, 0});
    CHANGES(for_others_6, {IPV6, NULL, 554, FEW}, {IPV6, NULL, 446, FEW}, {IPV6, NULL, 556, 0});
    CHANGES(of_unknown_protocols_6, {IPV6, NULL, 558, FEW}, {IPV6, NULL, 446, FEW},
            {ICMPV6, NULL, 620, FEW});
    CHANGES(for_the_deaf_6, {IPV6, NULL, 560, FEW}, {IPV6, NULL, 562, 0});
    CHANGES(divide_6, {IPV6, NULL, 576, FEW}, {IPV6, NULL, 580, 3 * FEW}, {IPV6, NULL, 578, 0});
    CHANGES(in_parts_6, {IPV6, NULL, 570, 3 * FEW}, {IPV6, NULL, 572, FEW}, {IPV6, NULL, 574, 0},
            {IPV6, NULL, 558, FEW});
    run("echo 1 >/proc/sys/net/ipv6/ip6frag_time");
    CHANGES(in_lost_parts_6, {IPV6, NULL, 570, FEW}, {IPV6, NULL, 572, 0}, {IPV6, NULL, 574, FEW},
            {ICMPV6, NULL, 618, FEW});
}

static void child_forwarded_six(void)
{
    own_wire();
    run("echo 1 >/proc/sys/net/ipv6/conf/all/forwarding");
    usleep(300000); /* routers join groups and report it */
    CHANGES(to_be_forwarded_6, {IPV6, NULL, 556, FEW}, {IPV6, NULL, 554, 0},
            {INTERFACE, "out", 452, FEW});
    CHANGES(without_time_6, {IPV6, NULL, 552, FEW}, {IPV6, NULL, 556, 0}, {ICMPV6, NULL, 618, FEW});
    CHANGES(too_large_6, {IPV6, NULL, 578, FEW}, {INTERFACE, "out", 452, 0},
            {ICMPV6, NULL, 1554, FEW});
}

/* ---- UDP ---- */

/* Writes the eight bytes before the data of a datagram; `sum` is the checksum of the addresses. */
static void udp_head(struct udphdr *head, uint32_t sum, bool damaged)
{
    *head = (struct udphdr){
        .source = htons(5), .dest = htons(4299), .len = htons((uint16_t)sizeof *head)};
    sum += IPPROTO_UDP + (uint32_t)sizeof *head;
    head->check = checksum(add_words(sum, head, sizeof *head) + damaged);
}

static uint32_t sum_of_addresses(int family, const char *one, const char *other)
{
    unsigned char bytes[16];
    size_t count = family == AF_INET ? 4 : 16;
    inet_pton(family, one, bytes);
    uint32_t sum = add_words(0, bytes, count);
    inet_pton(family, other, bytes);
    return add_words(sum, bytes, count);
}

static void put_udp(bool damaged)
{
    struct udphdr head;
    udp_head(&head, sum_of_addresses(AF_INET, "10.9.0.1", "10.9.0.2"), damaged);
    for (int i = 0; i < FEW; i++)
        put_four(&(struct four){.protocol = IPPROTO_UDP, .data = &head, .bytes = sizeof head});
}

static void put_udp_6(bool damaged)
{
    struct udphdr head;
    udp_head(&head, sum_of_addresses(AF_INET6, "fd09::1", "fd09::2"), damaged);
    for (int i = 0; i < FEW; i++)
        put_six(&(struct six){.protocol = IPPROTO_UDP, .data = &head, .bytes = sizeof head});
}

static void damaged_datagrams(void)
{
    put_udp(true), put_udp_6(true);
}

static void datagrams_to_nobody(void)
{
    put_udp(false), put_udp_6(false);
}

static void child_udp(void)
{
    own_wire();
    CHANGES(damaged_datagrams, {UDPV4, NULL, 666, FEW}, {UDPV4, NULL, 664, 0},
            {UDPV4, NULL, 446, 0}, {UDPV6, NULL, 666, FEW}, {UDPV6, NULL, 664, 0},
            {UDPV6, NULL, 446, 0});
    CHANGES(datagrams_to_nobody, {UDPV4, NULL, 664, FEW}, {UDPV4, NULL, 666, 0},
            {UDPV6, NULL, 664, FEW}, {UDPV6, NULL, 666, 0}, {ICMP, NULL, 616, FEW},
            {ICMPV6, NULL, 616, FEW});
}

/* ---- ICMP messages: each kind is sent a different number of times ---- */

struct kind {
    uint8_t type;
    unsigned received, sent; /* counters of received and of sent messages */
};
static const struct kind kinds[] = {
    {ICMP_DEST_UNREACH,   590, 616},
    {ICMP_TIME_EXCEEDED,  592, 618},
    {ICMP_PARAMETERPROB,  594, 620},
    {ICMP_SOURCE_QUENCH,  596, 622},
    {ICMP_REDIRECT,       598, 624},
    {ICMP_ECHO,           600, 626},
    {ICMP_ECHOREPLY,      602, 628},
    {ICMP_TIMESTAMP,      604, 630},
    {ICMP_TIMESTAMPREPLY, 606, 632},
    {ICMP_ADDRESS,        608, 634},
    {ICMP_ADDRESSREPLY,   610, 636},
};
static const struct kind kinds_6[] = {
    {ICMP6_DST_UNREACH,      590,  616 },
    {ICMP6_PACKET_TOO_BIG,   1536, 1554},
    {ICMP6_TIME_EXCEEDED,    592,  618 },
    {ICMP6_PARAM_PROB,       594,  620 },
    {ICMP6_ECHO_REQUEST,     600,  626 },
    {ICMP6_ECHO_REPLY,       602,  628 },
    {MLD_LISTENER_QUERY,     1538, 1556},
    {MLD_LISTENER_REPORT,    1540, 1558},
    {MLD_LISTENER_REDUCTION, 1542, 1560},
    {ND_ROUTER_SOLICIT,      1544, 1562},
    {ND_ROUTER_ADVERT,       1546, 1564},
    {ND_REDIRECT,            598,  624 },
    {ND_NEIGHBOR_SOLICIT,    1550, 1566},
    {ND_NEIGHBOR_ADVERT,     1552, 1568},
 /* reports of version 2 of multicast listener discovery are counted with those of version 1 */
    {143,                    1540, 1558},
};
enum { KINDS = sizeof kinds / sizeof *kinds, KINDS_6 = sizeof kinds_6 / sizeof *kinds_6 };
enum { MESSAGE = 60 }; /* bytes of a message: 8 of its header, and the packet that it reports */

static size_t end_message(uint8_t type, unsigned char *bytes, uint32_t sum)
{
    bytes[0] = type;
    uint16_t check = checksum(add_words(sum, bytes, MESSAGE));
    memcpy(bytes + 2, &check, sizeof check);
    return MESSAGE;
}

static size_t make_message(uint8_t type, unsigned char *bytes, uint32_t sum)
{
    struct iphdr quoted = {.version = 4, .ihl = 5, .ttl = 9, .protocol = UNKNOWN_PROTOCOL};
    memset(bytes, 0, MESSAGE);
    inet_pton(AF_INET, "10.9.0.1", &quoted.saddr);
    inet_pton(AF_INET, "10.9.0.2", &quoted.daddr);
    quoted.tot_len = htons(MESSAGE - 8);
    memcpy(bytes + 8, &quoted, sizeof quoted);
    return end_message(type, bytes, sum);
}

static size_t make_message_6(uint8_t type, unsigned char *bytes, uint32_t sum)
{
    struct ip6_hdr quoted = {0};
    memset(bytes, 0, MESSAGE);
    quoted.ip6_vfc = 0x60;
    quoted.ip6_nxt = UNKNOWN_PROTOCOL;
    quoted.ip6_plen = htons(MESSAGE - 8 - sizeof quoted);
    inet_pton(AF_INET6, "fd09::1", &quoted.ip6_src);
    inet_pton(AF_INET6, "fd09::2", &quoted.ip6_dst);
    memcpy(bytes + 8, &quoted, sizeof quoted);
    return end_message(type, bytes, sum);
}

static void put_message(uint8_t type, bool damaged)
{
    unsigned char bytes[MESSAGE];
    size_t count = make_message(type, bytes, damaged);
    put_four(&(struct four){.protocol = IPPROTO_ICMP, .data = bytes, .bytes = count});
}

static void put_message_6(uint8_t type, bool damaged)
{
    unsigned char bytes[MESSAGE];
    uint32_t sum = sum_of_addresses(AF_INET6, "fd09::1", "fd09::2") + IPPROTO_ICMPV6 + MESSAGE;
    size_t count = make_message_6(type, bytes, sum + damaged);
    put_six(&(struct six){.protocol = IPPROTO_ICMPV6, .data = bytes, .bytes = count});
}

static void send_message(int fd, uint8_t type)
{
    unsigned char bytes[MESSAGE];
    struct sockaddr_in to = {.sin_family = AF_INET};
    inet_pton(AF_INET, "10.9.0.2", &to.sin_addr);
    size_t count = make_message(type, bytes, 0);
    IS(sendto(fd, bytes, count, 0, (struct sockaddr *)&to, sizeof to), count);
}

/* Sends an ICMPv6 message; the kernel adds the checksum. */
static void send_message_6(int fd, uint8_t type)
{
    unsigned char bytes[MESSAGE] = {type};
    struct sockaddr_in6 to = {.sin6_family = AF_INET6};
    inet_pton(AF_INET6, "fd09::2", &to.sin6_addr);
    IS(sendto(fd, bytes, sizeof bytes, 0, (struct sockaddr *)&to, sizeof to), sizeof bytes);
}

/* first index: 0 before the messages, 1 after them; second: the kind of message; third: 0 received,
 * 1 sent */
static uint64_t values[2][KINDS_6][2];

static void take_values(unsigned object, const struct kind *list, size_t count, unsigned when)
{
    query_when_quiet("Global");
    for (size_t i = 0; i < count; i++) {
        values[when][i][0] = number(object, NULL, list[i].received);
        values[when][i][1] = number(object, NULL, list[i].sent);
    }
}

/* Returns by how much a counter must have grown. Message kind i was sent i + 1 times; several kinds
 * may share a counter. */
static uint64_t expected(const struct kind *list, size_t count, size_t which, bool sent)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++)
        if (sent ? list[i].sent == list[which].sent : list[i].received == list[which].received)
            sum += i + 1;
    return sum;
}

static size_t times_of(const struct kind *list, size_t count, uint8_t type)
{
    for (size_t i = 0; i < count; i++)
        if (list[i].type == type)
            return i + 1;
    return 0;
}

static bool is_answer(unsigned object, uint8_t type)
{
    return object == ICMPV6 ? type == ICMP6_ECHO_REPLY
                            : type == ICMP_ECHOREPLY || type == ICMP_TIMESTAMPREPLY;
}

/* Echo requests are answered, and so are requests for the time. Some kernels count answers about
 * the time as echo replies, so only the sum of all answers is compared. */
static void all_are_answered(unsigned object, const struct kind *list, size_t count)
{
    uint64_t answers = 0, requests = object == ICMPV6 ? times_of(list, count, ICMP6_ECHO_REQUEST)
                                                      : times_of(list, count, ICMP_ECHO) +
                                                            times_of(list, count, ICMP_TIMESTAMP);
    for (size_t i = 0; i < count; i++)
        if (is_answer(object, list[i].type))
            answers += values[1][i][1] - values[0][i][1];
        else
            IS(values[1][i][1] - values[0][i][1], 0);
    IS(answers, requests);
}

static void all_kinds_come(unsigned object, const struct kind *list, size_t count)
{
    take_values(object, list, count, 0);
    uint64_t errors = number(object, NULL, 588), all = number(object, NULL, 586);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k <= i; k++)
            object == ICMP ? put_message(list[i].type, false) : put_message_6(list[i].type, false);
    take_values(object, list, count, 1);
    IS(number(object, NULL, 586) - all, count * (count + 1) / 2);
    IS(number(object, NULL, 588) - errors, 0);
    for (size_t i = 0; i < count; i++)
        IS(values[1][i][0] - values[0][i][0], expected(list, count, i, false));
    all_are_answered(object, list, count);
}

static void all_kinds_go(unsigned object, const struct kind *list, size_t count)
{
    bool six = object == ICMPV6;
    int fd = socket(six ? AF_INET6 : AF_INET, SOCK_RAW | SOCK_CLOEXEC,
                    six ? IPPROTO_ICMPV6 : IPPROTO_ICMP);
    IS(fd >= 0, true);
    take_values(object, list, count, 0);
    uint64_t errors = number(object, NULL, 614), all = number(object, NULL, 612);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k <= i; k++)
            six ? send_message_6(fd, list[i].type) : send_message(fd, list[i].type);
    take_values(object, list, count, 1);
    IS(number(object, NULL, 612) - all, count * (count + 1) / 2);
    IS(number(object, NULL, 614) - errors, 0);
    for (size_t i = 0; i < count; i++) {
        IS(values[1][i][1] - values[0][i][1], expected(list, count, i, true));
        IS(values[1][i][0] - values[0][i][0], 0);
    }
    close(fd);
}

static void damaged_messages(void)
{
    for (int i = 0; i < FEW; i++) {
        put_message(ICMP_ECHO, true);
        put_message_6(ICMP6_ECHO_REQUEST, true);
    }
}

static void child_messages(void)
{
    own_wire();
    all_kinds_come(ICMP, kinds, KINDS);
    all_kinds_go(ICMP, kinds, KINDS);
}

static void child_messages_6(void)
{
    own_wire();
    all_kinds_come(ICMPV6, kinds_6, KINDS_6);
    all_kinds_go(ICMPV6, kinds_6, KINDS_6);
}

static void child_damaged_messages(void)
{
    own_wire();
    CHANGES(damaged_messages, {ICMP, NULL, 588, FEW}, {ICMP, NULL, 586, FEW}, {ICMP, NULL, 628, 0},
            {ICMPV6, NULL, 588, FEW}, {ICMPV6, NULL, 586, FEW}, {ICMPV6, NULL, 628, 0});
}

/* Answers to machines that are not found wait in a queue; when the queue is full, more answers
 * fail. So the counts of sent and of failed answers together must be the number of all answers. */
enum { REQUESTS = 300, LARGE = 1400 };

static void request_echoes(void)
{
    unsigned char bytes[LARGE] = {ICMP_ECHO};
    uint16_t check = checksum(add_words(0, bytes, sizeof bytes));
    memcpy(bytes + 2, &check, sizeof check);
    for (int i = 0; i < REQUESTS; i++)
        put_four(&(struct four){
            .from = "10.9.0.77", .protocol = IPPROTO_ICMP, .data = bytes, .bytes = sizeof bytes});
}

static void request_echoes_6(void)
{
    unsigned char bytes[LARGE] = {ICMP6_ECHO_REQUEST};
    uint32_t sum = sum_of_addresses(AF_INET6, "fd09::1", "fd09::77") + IPPROTO_ICMPV6 + LARGE;
    uint16_t check = checksum(add_words(sum, bytes, sizeof bytes));
    memcpy(bytes + 2, &check, sizeof check);
    for (int i = 0; i < REQUESTS; i++)
        put_six(&(struct six){
            .from = "fd09::77", .protocol = IPPROTO_ICMPV6, .data = bytes, .bytes = sizeof bytes});
}

static void answers_fail(unsigned object, void (*work)(void))
{
    run_query("Global");
    uint64_t failed = number(object, NULL, 614), sent = number(object, NULL, 628);
    uint64_t queried = number(object, NULL, 600);
    work();
    query_when_quiet("Global");
    failed = number(object, NULL, 614) - failed;
    IS(number(object, NULL, 600) - queried, REQUESTS);
    IS(number(object, NULL, 628) - sent + failed, REQUESTS);
    IS(failed > 0 && failed < REQUESTS, true);
}

static void child_answers_that_fail(void)
{
    cpu_set_t here;
    own_wire();
    CPU_ZERO(&here);
    CPU_SET(sched_getcpu(), &here);
    /* only one processor is used, because each has a queue of its own */
    sched_setaffinity(0, sizeof here, &here);
    run("for version in 4 6; do"
        "  echo 10000000 >/proc/sys/net/ipv$version/neigh/left/unres_qlen_bytes; done");
    answers_fail(ICMP, request_echoes);
    answers_fail(ICMPV6, request_echoes_6);
}

/* ---- the tests ---- */

static void damaged_lost_and_divided_datagrams_appear(void **state)
{
    in_child(child_four);
}

static void forwarded_datagrams_appear(void **state)
{
    in_child(child_forwarded_four);
}

static void what_cannot_be_sent_appears(void **state)
{
    in_child(child_not_sent);
}

static void damaged_lost_and_divided_datagrams_of_version_6_appear(void **state)
{
    in_child(child_six);
}

static void forwarded_datagrams_of_version_6_appear(void **state)
{
    in_child(child_forwarded_six);
}

static void damaged_datagrams_of_udp_appear(void **state)
{
    in_child(child_udp);
}

static void messages_of_every_kind_appear(void **state)
{
    in_child(child_messages);
}

static void messages_of_every_kind_of_version_6_appear(void **state)
{
    in_child(child_messages_6);
}

static void damaged_messages_appear(void **state)
{
    in_child(child_damaged_messages);
}

static void answers_that_fail_appear(void **state)
{
    in_child(child_answers_that_fail);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_lost_and_divided_datagrams_appear),
        cmocka_unit_test(forwarded_datagrams_appear),
        cmocka_unit_test(what_cannot_be_sent_appears),
        cmocka_unit_test(damaged_lost_and_divided_datagrams_of_version_6_appear),
        cmocka_unit_test(forwarded_datagrams_of_version_6_appear),
        cmocka_unit_test(damaged_datagrams_of_udp_appear),
        cmocka_unit_test(messages_of_every_kind_appear),
        cmocka_unit_test(messages_of_every_kind_of_version_6_appear),
        cmocka_unit_test(damaged_messages_appear),
        cmocka_unit_test(answers_that_fail_appear),
    };
    return cmocka_run_group_tests(tests, open_library, close_library);
}
