/* SPDX-License-Identifier: MIT */
/*
 * Network Interface (510): an instance per line of proc/net/dev; Network Adapter (1820): those that
 * are hardware of the machine. The folder sys/class/net shows the network namespace in which sys
 * was mounted. Its data is used only if that is the current namespace, because another namespace
 * may have an interface of the same name.
 */
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "perfnet.h"

enum { MOST_INTERFACES = 4096, PERSISTENT = 8 };
static const LONGLONG SPEED_LASTS = 10 * 10000000LL;
static const uint64_t UNKNOWN = UINT64_MAX;

const opl_source perfnet_dev = {.path = "proc/net/dev"};
static const opl_source index_file = {.path = "sys/class/net/*/ifindex"};
static const opl_source address_file = {.path = "sys/class/net/*/address"};
/* Exists for an interface that is hardware, because such a device has a driver or a bus. */
static const opl_source device_file = {.path = "sys/class/net/*/device/uevent"};
static const opl_source interface_speed = {.path = "sys/class/net/*/speed", .persistent = true};
static const opl_source adapter_speed = {.path = "sys/class/net/*/speed", .persistent = true};

/* ---- the lines of proc/net/dev ---- */

/* The name in a line "  eth0: 17 2 ..."; false: a heading, without colon after the first word. */
static bool line_name(const char *line, char name[IF_NAMESIZE])
{
    line += strspn(line, " ");
    size_t bytes = strcspn(line, " \n");
    if (bytes < 2 || bytes > IF_NAMESIZE || line[bytes - 1] != ':')
        return false;
    memcpy(name, line, bytes - 1);
    name[bytes - 1] = 0;
    return true;
}

/* ---- cached data of interfaces ---- */

/* The interfaces of one network namespace. They are read again if an interface was added, or if the
 * thread is in another namespace. */
static struct interface {
    char name[IF_NAMESIZE];
    bool device;
    bool speed_known;
    uint64_t speed;
    LONGLONG speed_time;
} interfaces[MOST_INTERFACES];
static size_t interface_count;
static uint64_t interfaces_of; /* namespace of `interfaces` */
static bool sys_is_ours;       /* sys/class/net shows the namespace `interfaces_of` */
static struct interface *current;

void perfnet_interface_open(void)
{
    interface_count = 0;
}

static bool same_interfaces(const char *text)
{
    char name[IF_NAMESIZE];
    size_t count = 0;
    for (; *text; text = opl_next_line(text))
        if (line_name(text, name)) {
            if (count == interface_count || strcmp(interfaces[count].name, name) != 0)
                return count == MOST_INTERFACES;
            count++;
        }
    return count > 0 && count == interface_count;
}

/* Is `text`, such as "02:00:17:...", this address? Addresses that do not have 6 bytes count as
 * equal. */
static bool same_address(const char *text, const unsigned char address[6])
{
    char expected[20];
    snprintf(expected, sizeof expected, "%02x:%02x:%02x:%02x:%02x:%02x\n", address[0], address[1],
             address[2], address[3], address[4], address[5]);
    return !text || strlen(text) != strlen(expected) || strcmp(text, expected) == 0;
}

/* Is the interface that sys/class/net shows by this name the interface of our namespace? */
static bool sys_shows(opl_reading *reading, const char *name, int fd)
{
    struct ifreq request;
    uint64_t index;
    memset(&request, 0, sizeof request);
    memcpy(request.ifr_name, name, IF_NAMESIZE);
    if (!opl_reading_column(reading, &index_file, 1, &index) ||
        ioctl(fd, SIOCGIFINDEX, &request) != 0 || (uint64_t)request.ifr_ifindex != index ||
        ioctl(fd, SIOCGIFHWADDR, &request) != 0)
        return false;
    return same_address(opl_reading_text(reading, &address_file, NULL),
                        (const unsigned char *)request.ifr_hwaddr.sa_data);
}

static void learn_names(const char *text)
{
    interface_count = 0;
    for (; *text && interface_count < MOST_INTERFACES; text = opl_next_line(text)) {
        struct interface *interface = &interfaces[interface_count];
        memset(interface, 0, sizeof *interface);
        interface_count += line_name(text, interface->name);
    }
}

/* Does sys/class/net show our namespace? If a single interface differs, sys/class/net shows another
 * namespace. Below another OPENPERFLIB_SYSROOT there is only one namespace (number 0). */
static bool compare_with_sys(opl_listing *listing)
{
    if (interfaces_of == 0)
        return true;
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool ours = fd >= 0;
    for (size_t i = 0; i < interface_count && ours; i++) {
        const char *name = interfaces[i].name;
        ours = sys_shows(opl_listing_at(listing, name), name, fd);
    }
    if (fd >= 0)
        close(fd);
    else
        interfaces_of = UNKNOWN; /* no free descriptor: try again next time */
    return ours;
}

static void learn(opl_listing *listing, const char *text)
{
    uint64_t namespace = opl_reading_namespace(opl_listing_reading(listing));
    if (interfaces_of == namespace && same_interfaces(text))
        return;
    interfaces_of = namespace;
    learn_names(text);
    sys_is_ours = compare_with_sys(listing);
    for (size_t i = 0; i < interface_count && sys_is_ours; i++) {
        opl_reading *reading = opl_listing_at(listing, interfaces[i].name);
        interfaces[i].device = opl_reading_text(reading, &device_file, NULL) != NULL;
    }
}

/* ---- instances ---- */

static void list(opl_listing *listing, bool all)
{
    char name[IF_NAMESIZE], shown[IF_NAMESIZE];
    const char *text = opl_reading_text(opl_listing_reading(listing), &perfnet_dev, NULL);
    if (!text)
        return;
    learn(listing, text);
    for (size_t i = 0; *text; text = opl_next_line(text)) {
        if (!line_name(text, name))
            continue;
        current = i < interface_count ? &interfaces[i] : NULL;
        i++;
        opl_sanitize_name(shown, sizeof shown, name, strlen(name), false);
        if (all || (current && current->device))
            opl_listing_line(listing, &perfnet_dev, text, name, shown);
    }
}

static void list_interfaces(opl_listing *listing)
{
    list(listing, true);
}

static void list_adapters(opl_listing *listing)
{
    list(listing, false);
}

/* ---- speed ---- */

/* The kernel returns "-1" if it does not know the speed, and an error for a disabled interface.
 * The files of the first interfaces stay open. */
static bool bandwidth(opl_reading *reading, const opl_source *source, uint64_t *ret)
{
    LONGLONG now = opl_reading_time(reading), age;
    if (!current || !sys_is_ours)
        return false;
    age = now - current->speed_time;
    if (opl_reading_position(reading) < PERSISTENT || age < 0 || age >= SPEED_LASTS) {
        current->speed_known = opl_reading_column(reading, source, 1, &current->speed) &&
                               current->speed > 0 && current->speed < UINT32_MAX;
        current->speed_time = now;
    }
    *ret = current->speed * 1000000;
    return current->speed_known;
}

static bool interface_bandwidth(opl_reading *reading, uint64_t *ret)
{
    return bandwidth(reading, &interface_speed, ret);
}

static bool adapter_bandwidth(opl_reading *reading, uint64_t *ret)
{
    return bandwidth(reading, &adapter_speed, ret);
}

/* clang-format off */
static const opl_counter interface_counters[] = {
    {388, 513, PERF_COUNTER_BULK_COUNT, -4, PERF_DETAIL_ADVANCED, OPL_COLUMNS(&perfnet_dev, 2, 10, OPL_ONE),
     .name = "Bytes Total/sec",
     .help = "The rate at which the interface sends and receives bytes together, framing included."},
    {400, 515, PERF_COUNTER_BULK_COUNT, -1, PERF_DETAIL_ADVANCED, OPL_COLUMNS(&perfnet_dev, 3, 11, OPL_ONE),
     .name = "Packets/sec",
     .help = "The rate at which the interface sends and receives packets together."},
    {266, 517, PERF_COUNTER_BULK_COUNT, -1, PERF_DETAIL_ADVANCED, OPL_COLUMN(&perfnet_dev, 3, OPL_ONE),
     .name = "Packets Received/sec",
     .help = "The rate at which the interface receives packets."},
    {452, 519, PERF_COUNTER_BULK_COUNT, -1, PERF_DETAIL_ADVANCED, OPL_COLUMN(&perfnet_dev, 11, OPL_ONE),
     .name = "Packets Sent/sec",
     .help = "The rate at which the interface sends packets."},
    {520, 521, PERF_COUNTER_LARGE_RAWCOUNT, -6, PERF_DETAIL_ADVANCED, OPL_FN_OF(&perfnet_dev, interface_bandwidth),
     .name = "Current Bandwidth",
     .help = "The nominal speed of the interface, in bits per second. An interface that is down, or "
             "whose speed is not known, has 0.",
     .where = "`sys/class/net/*/speed`, times 1,000,000; for the ninth and later interfaces read again only after ten seconds"},
    {264, 523, PERF_COUNTER_BULK_COUNT, -4, PERF_DETAIL_ADVANCED, OPL_COLUMN(&perfnet_dev, 2, OPL_ONE),
     .name = "Bytes Received/sec",
     .help = "The rate at which the interface receives bytes, framing included."},
    {528, 529, PERF_COUNTER_LARGE_RAWCOUNT, 0, PERF_DETAIL_ADVANCED, OPL_COLUMN(&perfnet_dev, 5, OPL_ONE),
     .name = "Packets Received Discarded",
     .help = "Received packets that were thrown away although they had no error, for example because "
             "there was no space for them."},
    {530, 531, PERF_COUNTER_LARGE_RAWCOUNT, 0, PERF_DETAIL_ADVANCED, OPL_COLUMN(&perfnet_dev, 4, OPL_ONE),
     .name = "Packets Received Errors",
     .help = "Received packets that had an error and could not be delivered."},
    {506, 535, PERF_COUNTER_BULK_COUNT, -4, PERF_DETAIL_ADVANCED, OPL_COLUMN(&perfnet_dev, 10, OPL_ONE),
     .name = "Bytes Sent/sec",
     .help = "The rate at which the interface sends bytes, framing included."},
    {540, 541, PERF_COUNTER_LARGE_RAWCOUNT, 0, PERF_DETAIL_ADVANCED, OPL_COLUMN(&perfnet_dev, 13, OPL_ONE),
     .name = "Packets Outbound Discarded",
     .help = "Packets to be sent that were thrown away although they had no error, for example because "
             "there was no space for them."},
    {542, 543, PERF_COUNTER_LARGE_RAWCOUNT, 0, PERF_DETAIL_ADVANCED, OPL_COLUMN(&perfnet_dev, 12, OPL_ONE),
     .name = "Packets Outbound Errors",
     .help = "Packets that could not be sent because of errors."},
};
/* clang-format on */

/* clang-format off */
static const opl_counter adapter_counters[] = {
    {388, 389, PERF_COUNTER_BULK_COUNT, -4, PERF_DETAIL_NOVICE, OPL_COLUMNS(&perfnet_dev, 2, 10, OPL_ONE),
     .name = "Bytes Total/sec",
     .help = "The rate at which bytes are sent and received together, protocol overhead included."},
    {400, 401, PERF_COUNTER_COUNTER, -1, PERF_DETAIL_NOVICE, OPL_COLUMNS(&perfnet_dev, 3, 11, OPL_ONE),
     .name = "Packets/sec",
     .help = "The rate at which packets are sent and received together."},
    {266, 267, PERF_COUNTER_COUNTER, -1, PERF_DETAIL_NOVICE, OPL_COLUMN(&perfnet_dev, 3, OPL_ONE),
     .name = "Packets Received/sec",
     .help = "The rate at which packets are received."},
    {452, 453, PERF_COUNTER_COUNTER, -1, PERF_DETAIL_NOVICE, OPL_COLUMN(&perfnet_dev, 11, OPL_ONE),
     .name = "Packets Sent/sec",
     .help = "The rate at which packets are sent."},
    {520, 521, PERF_COUNTER_LARGE_RAWCOUNT, -6, PERF_DETAIL_NOVICE, OPL_FN_OF(&perfnet_dev, adapter_bandwidth),
     .name = "Current Bandwidth",
     .help = "The nominal speed of the interface, in bits per second. An interface that is down, or "
             "whose speed is not known, has 0.",
     .where = "`sys/class/net/*/speed`, times 1,000,000; for the ninth and later interfaces read again only after ten seconds"},
    {264, 265, PERF_COUNTER_BULK_COUNT, -4, PERF_DETAIL_NOVICE, OPL_COLUMN(&perfnet_dev, 2, OPL_ONE),
     .name = "Bytes Received/sec",
     .help = "The rate at which bytes are received, protocol overhead included."},
    {528, 529, PERF_COUNTER_RAWCOUNT, 0, PERF_DETAIL_ADVANCED, OPL_COLUMN(&perfnet_dev, 5, OPL_ONE),
     .name = "Packets Received Discarded",
     .help = "Received packets that were thrown away although they had no error, for example because "
             "there was no space for them."},
    {530, 531, PERF_COUNTER_RAWCOUNT, 0, PERF_DETAIL_NOVICE, OPL_COLUMN(&perfnet_dev, 4, OPL_ONE),
     .name = "Packets Received Errors",
     .help = "Received packets that had an error and could not be delivered."},
    {506, 507, PERF_COUNTER_BULK_COUNT, -4, PERF_DETAIL_NOVICE, OPL_COLUMN(&perfnet_dev, 10, OPL_ONE),
     .name = "Bytes Sent/sec",
     .help = "The rate at which bytes are sent, protocol overhead included."},
    {540, 541, PERF_COUNTER_RAWCOUNT, 0, PERF_DETAIL_ADVANCED, OPL_COLUMN(&perfnet_dev, 13, OPL_ONE),
     .name = "Packets Outbound Discarded",
     .help = "Packets to be sent that were thrown away although they had no error, for example because "
             "there was no space for them."},
    {542, 543, PERF_COUNTER_RAWCOUNT, 0, PERF_DETAIL_NOVICE, OPL_COLUMN(&perfnet_dev, 12, OPL_ONE),
     .name = "Packets Outbound Errors",
     .help = "Packets that could not be sent because of errors."},
};
/* clang-format on */

const opl_object perfnet_interface = {
    .index = 510,
    .help_index = 511,
    .name = "Network Interface",
    .help = "The Network Interface object shows how many bytes and packets each network interface "
            "carries, and what goes wrong there. All interfaces are there, the loopback included.",
    OPL_COUNTERS(interface_counters),
    .default_counter = 388,
    .instances = true,
    .list = list_interfaces,
};

const opl_object perfnet_adapter = {
    .index = 1820,
    .help_index = 1821,
    .name = "Network Adapter",
    .help = "The Network Adapter object has the counters of Network Interface for the interfaces "
            "that are "
            "devices of the machine: no loopback, bridges, tunnels or virtual pairs.",
    OPL_COUNTERS(adapter_counters),
    .default_counter = 388,
    .instances = true,
    .list = list_adapters,
};
