/* SPDX-License-Identifier: MIT */
/*
 * The objects of perflinux.so: values of Linux for which Windows has no number. Their indices are
 * the project's own packaged block, 100,000 to 109,999, a hundred for each object. A counter with
 * the same meaning as one of Windows has Windows' number and name.
 */
#ifndef PERFLINUX_H
#define PERFLINUX_H

#include <openperflib/unstable.h>
#include <winerror.h>
#include <winperf.h>

/* The objects, in the order of the provider's table; `_` stands before each name. */
#define PERFLINUX_OBJECTS(_)                                                                       \
    _ perflinux_processor, _ perflinux_pressure, _ perflinux_interrupt, _ perflinux_softnet,       \
        _ perflinux_zone, _ perflinux_slab, _ perflinux_limits, _ perflinux_conntrack,             \
        _ perflinux_inodes, _ perflinux_memory, _ perflinux_unit, _ perflinux_thermal,             \
        _ perflinux_battery, _ perflinux_meter, _ perflinux_performance, _ perflinux_network
extern const opl_object PERFLINUX_OBJECTS();

/* Called at Open: clear the data about this machine that was cached before the last Close. */
void perflinux_processor_open(void);
void perflinux_pressure_open(void);
void perflinux_power_open(void);

/* 10000: the base of fractions that are counted in hundredths of a percent. */
extern const uint32_t perflinux_whole;

/* Parses the decimal number at *at, and moves *at after the number; returns 0 if *at has no
 * number. */
uint64_t perflinux_number(const char **at);
/* Parses a hexadecimal number after blanks, and moves *at after it; false: there is no number. */
bool perflinux_hex(const char **at, uint64_t *ret);
/* Parses the next range of a list such as "0-3,8": its first and its last number. False: the list
 * has ended. */
bool perflinux_range(const char **at, uint64_t *ret_first, uint64_t *ret_last);

#endif
