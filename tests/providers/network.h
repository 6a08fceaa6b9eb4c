/* SPDX-License-Identifier: MIT */
/*
 * Tests of perfnet.so in separate network namespaces without other traffic. Each test runs in a
 * child process, whose exit code is 0 (good) or CANNOT_RUN (skipped).
 */
#ifndef OPL_TEST_NETWORK_H
#define OPL_TEST_NETWORK_H

#include "answer.h"
#include "../skip.h"

#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

enum {
    INTERFACE = 510,
    IPV4 = 546,
    IPV6 = 548,
    ICMP = 582,
    TCPV4 = 638,
    UDPV4 = 658,
    UDPV6 = 1532,
    ICMPV6 = 1534,
    ADAPTER = 1820
};
enum { CANNOT_RUN = 77, SECONDS = 60 };

static struct library perfnet;

/* ---- in the child process, which ends at the first error ---- */

static inline void wrong(int line, const char *what, uint64_t value, uint64_t expected)
{
    printf("# line %d: %s: %llu, not %llu\n", line, what, (unsigned long long)value,
           (unsigned long long)expected);
    fflush(stdout);
    _exit(1);
}

#define IS(value, expected)                                                                        \
    do {                                                                                           \
        uint64_t is_value = (uint64_t)(value), is_expected = (uint64_t)(expected);                 \
        if (is_value != is_expected)                                                               \
            wrong(__LINE__, #value, is_value, is_expected);                                        \
    } while (0)

static inline void run_query(const char *query)
{
    IS(library_query(&perfnet, query), ERROR_SUCCESS);
    IS(opl_block_init(&answer_block, answer.bytes, sizeof answer), OPL_BLOCK_GOOD);
}

static inline bool find(unsigned object_index, const char *name, unsigned index, uint64_t *ret)
{
    opl_object_view object;
    opl_counter_view counter;
    opl_instance_view instance;
    return answer_object(object_index, &object) &&
           answer_counter(&object, index, false, &counter) &&
           answer_instance(&object, name, &instance) &&
           opl_counter_number(&answer_block, &instance, &counter, ret);
}

/* Returns a value of the last answer. */
static inline uint64_t number(unsigned object, const char *name, unsigned index)
{
    uint64_t value = 0;
    if (!find(object, name, index, &value))
        wrong(__LINE__, "no such value", index, object);
    return value;
}

/* Queries until two answers in a row are equal, because the kernel may count packets a moment after
 * they were sent. */
static inline void query_when_quiet(const char *query)
{
    static unsigned char last[sizeof answer];
    run_query(query);
    for (int tries = 0; tries < 100; tries++) {
        size_t bytes = answer.header.TotalByteLength;
        memcpy(last, answer.bytes, bytes);
        usleep(20000);
        run_query(query);
        if (answer.header.TotalByteLength == bytes && memcmp(last, answer.bytes, bytes) == 0)
            return;
    }
}

/* A counter that a piece of work must change, and by how much. */
struct change {
    unsigned object;
    const char *name;
    unsigned index;
    uint64_t by;
};

static inline void changes(int line, const struct change *list, size_t count, void (*work)(void))
{
    uint64_t before[32];
    run_query("Global");
    for (size_t i = 0; i < count; i++)
        before[i] = number(list[i].object, list[i].name, list[i].index);
    work();
    query_when_quiet("Global");
    for (size_t i = 0; i < count; i++) {
        uint64_t by = number(list[i].object, list[i].name, list[i].index) - before[i];
        if (by != list[i].by) {
            printf("# %u(%s)/%u:\n", list[i].object, list[i].name ? list[i].name : "",
                   list[i].index);
            wrong(line, "changed by", by, list[i].by);
        }
    }
}

#define CHANGES(work, ...)                                                                         \
    do {                                                                                           \
        static const struct change change_list[] = {__VA_ARGS__};                                  \
        changes(__LINE__, change_list, sizeof change_list / sizeof *change_list, work);            \
    } while (0)

/* ---- namespaces ---- */

static inline void in_child(void (*test)(void))
{
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        alarm(SECONDS);
        test();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == CANNOT_RUN)
        report_skipped("no network namespace of our own, or a program is not here");
    else
        assert_int_equal(status, 0);
}

static inline bool switch_on(const char *name)
{
    struct ifreq request;
    memset(&request, 0, sizeof request);
    snprintf(request.ifr_name, sizeof request.ifr_name, "%s", name);
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool on = ioctl(fd, SIOCGIFFLAGS, &request) == 0;
    request.ifr_flags |= IFF_UP;
    on = on && ioctl(fd, SIOCSIFFLAGS, &request) == 0;
    close(fd);
    return on;
}

/* Makes a user namespace in which this user is root, so that programs that the test starts have the
 * rights to change the network. */
static inline void unshare_as_user(void)
{
    unsigned user = (unsigned)geteuid();
    if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0)
        _exit(CANNOT_RUN);
    FILE *map = fopen("/proc/self/uid_map", "w");
    if (map)
        fprintf(map, "0 %u 1\n", user), fclose(map);
}

/* Makes a network namespace with a loopback interface and no other traffic. */
static inline void own_network(void)
{
    if (unshare(CLONE_NEWNET) != 0)
        unshare_as_user();
    if (!switch_on("lo"))
        _exit(CANNOT_RUN);
    usleep(50000); /* time for the first messages of IPv6 */
}

static inline void run(const char *command)
{
    if (system(command) != 0)
        _exit(CANNOT_RUN);
}

static inline int open_library(void **state)
{
    (void)state;
    return library_open(&perfnet, "perfnet");
}

static inline int close_library(void **state)
{
    (void)state;
    return (int)perfnet.close();
}

#endif
