/* SPDX-License-Identifier: MIT */
/*
 * perflinux.so with the frozen machines (tests/roots: folders with files of proc and sys). The
 * values of the generated machines follow rules in tests/roots/generate.
 */
#include "answer.h"

#include <sys/stat.h>

enum {
    PROCESSOR = 100000,
    PRESSURE = 100100,
    INTERRUPT = 100300,
    SOFTNET = 100400,
    ZONE = 100500,
    SLAB = 100600,
    LIMITS = 100700,
    CONNTRACK = 100800,
    INODES = 100200,
    UNIT = 100900,
    THERMAL = 101000,
    BATTERY = 101100,
    METER = 101200,
    PERFORMANCE = 101300,
    MEMORY = 101500,
    NETWORK = 101600,
    WHOLE = 10000
};

static void run_query(const char *root, const char *query)
{
    static const char *const perflinux[] = {"perflinux", "OpenLinuxObject",
                                            "CollectLinuxObjectData", "CloseLinuxObject"};
    query_root(perflinux, root, query);
}

/* ---- Pressure ---- */

static void pressure_averages(const char *name, unsigned resource, unsigned line)
{
    static const unsigned averages[2][3] = {
        {100106, 100108, 100110},
        {100112, 100114, 100116}
    };
    for (unsigned k = 0; k < 3; k++) {
        VALUE(PRESSURE, name, averages[line][k], (10 * resource + k) * 100 + 5 * line);
        BASE(PRESSURE, name, averages[line][k], WHOLE);
    }
}

static void laptop_pressure(void **state)
{
    static const char *const names[] = {"cpu", "memory", "io"};
    run_query("laptop4", "100100");
    assert_string_equal(answer_names(PRESSURE), "cpu,memory,io,irq,");
    for (unsigned r = 0; r < 3; r++) {
        VALUE(PRESSURE, names[r], 100102, (r + 1) * 10000000);
        VALUE(PRESSURE, names[r], 100104, (r + 1) * 10000000 + 10);
        pressure_averages(names[r], r, 0);
        pressure_averages(names[r], r, 1);
    }
    VALUE(PRESSURE, "irq", 100102, 0); /* the kernel has no line "some" for interrupts */
    VALUE(PRESSURE, "irq", 100106, 0);
    VALUE(PRESSURE, "irq", 100104, 40000010);
    pressure_averages("irq", 3, 1);
}

static void pressure_of_older_kernels(void **state)
{
    run_query("cpu128", "100100");
    assert_string_equal(answer_names(PRESSURE), "cpu,memory,io,");
    VALUE(PRESSURE, "cpu", 100102, 10000000);
    VALUE(PRESSURE, "cpu", 100104, 0);
    VALUE(PRESSURE, "io", 100104, 20000010);
    run_query("old419", "Global");
    assert_string_equal(answer_names(PRESSURE), "no object");
}

/* ---- Processor Information ---- */

static uint64_t tick(void)
{
    return 10000000 / (uint64_t)sysconf(_SC_CLK_TCK);
}

static void laptop_processors(void **state)
{
    run_query("laptop4", "100000");
    assert_string_equal(answer_names(PROCESSOR), "0,0,0,1,0,3,0,_Total,_Total,");
    for (uint64_t cpu = 0; cpu < 4; cpu += cpu == 1 ? 2 : 1) {
        char name[8];
        snprintf(name, sizeof name, "0,%u", (unsigned)cpu);
        VALUE(PROCESSOR, name, 6, (9000 + 2 * cpu) * tick());
        VALUE(PROCESSOR, name, 142, (3000 + 2 * cpu) * tick());
        VALUE(PROCESSOR, name, 144, (16000 + 3 * cpu) * tick());
        VALUE(PROCESSOR, name, 696, (7000 + cpu) * tick());
        VALUE(PROCESSOR, name, 698, (6000 + cpu) * tick());
        VALUE(PROCESSOR, name, 1746, (9000 + 2 * cpu) * tick());
        VALUE(PROCESSOR, name, 100002, (2000 + cpu) * tick());
        VALUE(PROCESSOR, name, 100004, (5000 + cpu) * tick());
        VALUE(PROCESSOR, name, 100006, (8000 + cpu) * tick());
        VALUE(PROCESSOR, name, 100008, (19000 + 2 * cpu) * tick());
        VALUE(PROCESSOR, name, 100010, 1000 + 100 * cpu);
        VALUE(PROCESSOR, name, 100012, 1000000 + 100000 * cpu);
        BASE(PROCESSOR, name, 100012, 4000000);
    }
    VALUE(PROCESSOR, "_Total", 6, (27000 + 8) * tick() / 3);
    VALUE(PROCESSOR, "0,_Total", 144, (48000 + 12) * tick() / 3);
    VALUE(PROCESSOR, "_Total", 100010, 1133);
    VALUE(PROCESSOR, "_Total", 100012, 3400000 / 3);
    BASE(PROCESSOR, "_Total", 100012, 4000000);
}

/* Node 0 has processors 0-31 and 64-95, node 1 has 32-63 and 96-127. */
static void processors_of_two_nodes(void **state)
{
    run_query("cpu128", "100000");
    const char *names = answer_names(PROCESSOR);
    assert_int_equal(strncmp(names, "0,0,0,1,", 8), 0);
    assert_non_null(strstr(names, ",0,31,0,64,"));
    assert_non_null(strstr(names, ",0,95,0,_Total,1,32,"));
    assert_non_null(strstr(names, ",1,127,1,_Total,_Total,"));
    VALUE(PROCESSOR, "1,96", 6, (9000 + 2 * 96) * tick());
    VALUE(PROCESSOR, "0,_Total", 6, (9000 * 64 + 2 * (31 * 16 + (64 + 95) * 16)) * tick() / 64);
    VALUE(PROCESSOR, "_Total", 100002, (2000 * 128 + 127 * 64) * tick() / 128);
    VALUE(PROCESSOR, "1,32", 100010, 2033); /* 2032.5 MHz in proc/cpuinfo */
    VALUE(PROCESSOR, "_Total", 100010, 2064);
    assert_false(answer_has(PROCESSOR, 100012));
    run_query("container", "100000"); /* this machine has neither nodes nor frequencies */
    assert_string_equal(answer_names(PROCESSOR), "0,0,0,1,0,_Total,_Total,");
    assert_false(answer_has(PROCESSOR, 100010));
}

/* ---- Interrupt ---- */

static void laptop_interrupts(void **state)
{
    run_query("laptop4", "Costly");
    assert_string_equal(answer_names(INTERRUPT),
                        "24 virtio1-9,25 virtio1-9,26 virtio1-9,NMI Some 2 interrupts,LOC Some 2 "
                        "interrupts,RES Some 2 interrupts,CAL Some 2 interrupts,TLB Some 2 "
                        "interrupts,_Total,");
    for (uint64_t row = 0; row < 3; row++) {
        char name[32];
        snprintf(name, sizeof name, "%u virtio1-9", (unsigned)(24 + row));
        VALUE(INTERRUPT, name, 148, 3 * 10 * row + 4);
    }
    VALUE(INTERRUPT, "TLB Some 2 interrupts", 148, 3 * 70 + 4);
    VALUE(INTERRUPT, "_Total", 148, 3 * 280 + 8 * 4);
    run_query("laptop4", "Global");
    assert_string_equal(answer_names(INTERRUPT), "no object");
    run_query("container", "Costly"); /* proc/interrupts of this machine exists, but is empty */
    assert_string_equal(answer_names(INTERRUPT), "no object");
}

/* ---- Softnet ---- */

static void packets(void **state)
{
    static const unsigned words[][2] = {
        {100402, 1 },
        {100404, 2 },
        {100406, 3 },
        {100408, 10},
        {100410, 11},
        {100412, 12}
    };
    run_query("laptop4", "100400");
    assert_string_equal(answer_names(SOFTNET), "0,1,3,_Total,");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        VALUE(SOFTNET, "0", words[i][0], 256 * words[i][1]);
        VALUE(SOFTNET, "3", words[i][0], 256 * words[i][1] + 3);
        VALUE(SOFTNET, "_Total", words[i][0], 3 * 256 * words[i][1] + 4);
    }
    run_query("old419", "100400");
    assert_string_equal(answer_names(SOFTNET), "0,_Total,");
    VALUE(SOFTNET, "0", 100410, 256 * 11);
    assert_false(answer_has(SOFTNET, 100412));
    run_query("container", "100400");
    assert_string_equal(answer_names(SOFTNET), "no object");
}

/* ---- Memory Zone ---- */

static void memory_zones(void **state)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    run_query("laptop4", "100500");
    assert_string_equal(answer_names(ZONE), "0,DMA,0,DMA32,0,Normal,_Total,");
    VALUE(ZONE, "0,DMA", 1768, 2000 * page);
    VALUE(ZONE, "0,Normal", 100504, 1499990 * page);
    VALUE(ZONE, "0,Normal", 100506, 750000 * page);
    BASE(ZONE, "0,Normal", 100506, 1499990 * page);
    VALUE(ZONE, "0,Normal", 100508, 15000 * page);
    VALUE(ZONE, "0,Normal", 100510, 30000 * page);
    VALUE(ZONE, "0,Normal", 100512, 60000 * page);
    VALUE(ZONE, "0,DMA", 100514, 64 * page);
    VALUE(ZONE, "0,Normal", 100514, 256 * page);
    VALUE(ZONE, "_Total", 1768, (2000 + 200000 + 750000) * page);
    BASE(ZONE, "_Total", 100506, (4000 + 400000 + 1500000 - 30) * page);
    VALUE(ZONE, "_Total", 100514, 0);
    run_query("cpu128", "100500");
    assert_string_equal(answer_names(ZONE), "0,Normal,1,Normal,_Total,");
    VALUE(ZONE, "1,Normal", 1768, 1500000 * page);
    assert_false(answer_has(ZONE, 100504)); /* this kernel does not show the managed pages */
    assert_false(answer_has(ZONE, 100506));
}

/* ---- Slab ---- */

static void slabs(void **state)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    run_query("laptop4", "100600");
    assert_string_equal(answer_names(SLAB), "dentry,kmalloc-8k[odd]_x,unused,_Total,");
    VALUE(SLAB, "dentry", 100602, 6 * page);
    VALUE(SLAB, "kmalloc-8k[odd]_x", 100602, 16 * page);
    VALUE(SLAB, "dentry", 100604, 100);
    VALUE(SLAB, "dentry", 100606, 120);
    VALUE(SLAB, "dentry", 100608, 192);
    VALUE(SLAB, "dentry", 100610, 6);
    VALUE(SLAB, "dentry", 100612, 100);
    BASE(SLAB, "dentry", 100612, 120);
    VALUE(SLAB, "_Total", 100602, 22 * page);
    VALUE(SLAB, "_Total", 100608, 0);
    BASE(SLAB, "_Total", 100612, 128);
    run_query("cpu128", "Costly");
    assert_string_equal(answer_names(SLAB), "no object");
}

/* ---- Kernel Limits ---- */

static void laptop_limits(void **state)
{
    static const uint64_t expected[][2] = {
        {100702, 987      },
        {100704, 4194304  },
        {100706, 987      },
        {100708, 62000    },
        {100710, 987      },
        {100712, 12345    },
        {100714, INT64_MAX},
        {100716, 12345    },
        {100718, 1000     },
        {100720, 4000     },
        {100722, 1000     },
        {100724, 65536    },
        {100726, 128      },
        {100728, 162      },
        {100730, 150      },
        {100732, 19000    }
    };
    run_query("laptop4", "100700");
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        VALUE(LIMITS, NULL, (unsigned)expected[i][0], expected[i][1]);
    BASE(LIMITS, NULL, 100706, 4194304);
    BASE(LIMITS, NULL, 100710, 62000);
    BASE(LIMITS, NULL, 100716, INT64_MAX);
    BASE(LIMITS, NULL, 100722, 4000);
    BASE(LIMITS, NULL, 100730, 200);
    BASE(LIMITS, NULL, 100732, 20000);
}

static void limits_that_are_hidden(void **state)
{
    run_query("cpu128", "100700");
    VALUE(LIMITS, NULL, 100706, 3000);
    assert_false(answer_has(LIMITS, 100728));
    assert_false(answer_has(LIMITS, 100730));
    run_query("container", "100700"); /* this machine shows only the count of threads */
    VALUE(LIMITS, NULL, 100702, 5);
    assert_false(answer_has(LIMITS, 100706));
    assert_false(answer_has(LIMITS, 100712));
}

/* ---- Conntrack ---- */

/* The sum of column k over four processors is 4 * 16 * k + (0 + 1 + 2 + 3), because column k of
 * processor c has 16 * k + c. */
static void connections(void **state)
{
    static const unsigned columns[][2] = {
        {100808, 11},
        {100810, 12},
        {100812, 10},
        {100814, 5 },
        {100816, 3 },
        {100818, 17},
        {100820, 2 },
        {100822, 13}
    };
    run_query("laptop4", "100800");
    VALUE(CONNTRACK, NULL, 100802, 1500);
    VALUE(CONNTRACK, NULL, 100804, 6000);
    VALUE(CONNTRACK, NULL, 100806, 1500);
    BASE(CONNTRACK, NULL, 100806, 6000);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        VALUE(CONNTRACK, NULL, columns[i][0], 64 * columns[i][1] + 6);
    run_query("cpu128", "100800"); /* this older kernel's file has other columns */
    VALUE(CONNTRACK, NULL, 100808, 32 * 11 + 1);
    VALUE(CONNTRACK, NULL, 100818, 32 * 17 + 1);
    assert_false(answer_has(CONNTRACK, 100820));
    run_query("old419", "100800");
    assert_false(answer_has(CONNTRACK, 100802));
}

/* ---- Filesystem Inodes ---- */

/* Only three of the twelve mounts are shown. Of the others, btrfs and FAT have no fixed number of
 * files, a network mount might hang, one is always full, and some, like /dev, are not for users'
 * files. */
static void inodes(void **state)
{
    run_query("laptop4", "100200");
    assert_string_equal(answer_names(INODES), "/dev/shm,/boot,_Total,");
    VALUE(INODES, "/boot", 100202, 65536);
    VALUE(INODES, "/boot", 100204, 65000);
    VALUE(INODES, "/boot", 100206, 536);
    VALUE(INODES, "/boot", 100208, 536);
    BASE(INODES, "/boot", 100208, 65536);
    VALUE(INODES, "/boot", 100210, 65000);
    VALUE(INODES, "_Total", 100202, 1065536);
    VALUE(INODES, "_Total", 100208, 546);
    BASE(INODES, "_Total", 100208, 1065536);
}

/* ---- Memory Usage ---- */

static void memory_usage(void **state)
{
    run_query("laptop4", "101500");
    VALUE(MEMORY, NULL, 101502, 5000000 / 1024);
    VALUE(MEMORY, NULL, 101504, 5000000);
    BASE(MEMORY, NULL, 101504, 8000000);
    VALUE(MEMORY, NULL, 101506, 3000000);
    VALUE(MEMORY, NULL, 101516, 40 * 1024);
    VALUE(MEMORY, NULL, 101518, 30 * 1024);
    BASE(MEMORY, NULL, 101514, answer_number(MEMORY, NULL, 101510, true));
    assert_int_equal(answer_number(MEMORY, NULL, 101510, false) +
                         answer_number(MEMORY, NULL, 101514, false),
                     answer_number(MEMORY, NULL, 101514, true));
}

/* ---- Network ---- */

static void totals_of_interfaces(void **state)
{
    run_query("laptop4",
              /* not in Global, because Network Interface has the same values: it must be
               * requested */
              "Global");
    assert_string_equal(answer_names(NETWORK), "no object");
    run_query("laptop4", "101600");
    assert_string_equal(answer_names(NETWORK), "lo,enp0s31f6,wlp2s0,docker0,vethd3adb33,");
    VALUE(NETWORK, "wlp2s0", 101602, 1002 + 9002);
    VALUE(NETWORK, "wlp2s0", 101604, 9002);
    VALUE(NETWORK, "wlp2s0", 101606, 1002);
    VALUE(NETWORK, "wlp2s0", 101608, 10002);
    VALUE(NETWORK, "wlp2s0", 101610, 2002);
    VALUE(NETWORK, "wlp2s0", 101612, 3002);
    VALUE(NETWORK, "wlp2s0", 101614, 11002);
    VALUE(NETWORK, "wlp2s0", 101616, 14002);
    run_query("oddnames", "101600");
    assert_non_null(strstr(answer_names(NETWORK), "br-[0]_1,a_b_c,"));
}

/* ---- systemd Unit ---- */

static void units(void **state)
{
    run_query("laptop4", "100900");
    assert_string_equal(answer_names(UNIT),
                        "docker.service,ssh.service,getty@tty1.service,_Total,");
    /* ssh is the second control group in the tree, so its values are doubled */
    VALUE(UNIT, "ssh.service", 6, 2 * 10000000);
    VALUE(UNIT, "ssh.service", 142, 2 * 6000000);
    VALUE(UNIT, "ssh.service", 144, 2 * 4000000);
    VALUE(UNIT, "ssh.service", 100902, 2 * 4096);
    VALUE(UNIT, "ssh.service", 100904, 2 * 8192);
    VALUE(UNIT, "ssh.service", 100906, 3);
    VALUE(UNIT, "ssh.service", 100908, 1);
    VALUE(UNIT, "ssh.service", 100910, 2000);
    VALUE(UNIT, "ssh.service", 1412, 10);
    VALUE(UNIT, "ssh.service", 1414, 12);
    VALUE(UNIT, "ssh.service", 1420, 2005);
    VALUE(UNIT, "ssh.service", 1422, 26);
    VALUE(UNIT, "getty@tty1.service", 6, 4 * 10000000);
    VALUE(UNIT, "_Total", 100902, (2 + 4 + 5) * 4096);
    run_query("cpu128", "Costly");
    assert_string_equal(answer_names(UNIT), "no object");
}

/* In this machine only some controllers of control groups are enabled: the counters of the others
 * are absent, not 0. */
static void units_without_controllers(void **state)
{
    run_query("arm64", "100900");
    assert_string_equal(answer_names(UNIT), "ssh.service,_Total,");
    VALUE(UNIT, "ssh.service", 6, 2 * 10000000);
    VALUE(UNIT, "ssh.service", 100906, 12);
    VALUE(UNIT, "ssh.service", 100910, 300);
    static const unsigned absent[] = {100902, 100904, 100908, 1412, 1414, 1420, 1422};
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++)
        assert_false(answer_has(UNIT, absent[i]));
}

/* ---- power ---- */

static void heat_and_batteries(void **state)
{
    run_query("laptop4", "101000 101100");
    assert_string_equal(answer_names(THERMAL), "0 acpitz,1 x86_pkg_temp,2 odd_[1],");
    VALUE(THERMAL, "0 acpitz", 101002, 301);
    VALUE(THERMAL, "0 acpitz", 101004, 3010); /* 300.95 K */
    VALUE(THERMAL, "1 x86_pkg_temp", 101004, 3342);
    VALUE(THERMAL, "2 odd_[1]", 101002, 268);
    assert_string_equal(answer_names(BATTERY), "BAT0,BAT1,_Total,");
    VALUE(BATTERY, "BAT0", 101102, 80);
    VALUE(BATTERY, "BAT0", 101104, 40000);
    VALUE(BATTERY, "BAT0", 101106, 0);
    VALUE(BATTERY, "BAT0", 101108, 9500);
    VALUE(BATTERY, "BAT0", 101110, 12100);
    VALUE(BATTERY, "BAT1", 101104, 22000); /* the file has 2 Ah; the voltage is 11 V */
    VALUE(BATTERY, "BAT1", 101106, 16500);
    VALUE(BATTERY, "BAT1", 101108, 0);
    VALUE(BATTERY, "_Total", 101102, 65);
    VALUE(BATTERY, "_Total", 101104, 62000);
}

/* ---- unreadable files ---- */

static char made[64];

static void make(const char *path, const char *text)
{
    char full[256];
    snprintf(full, sizeof full, "%s/%s", made, path);
    for (char *slash = full + strlen(made); (slash = strchr(slash + 1, '/'));) {
        *slash = 0;
        mkdir(full, 0755);
        *slash = '/';
    }
    FILE *file = fopen(full, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* Makes a folder of this name in place of a file: reading it fails, even for root. */
static void make_unreadable(const char *path)
{
    char inside[256];
    snprintf(inside, sizeof inside, "%s/x", path);
    make(inside, "");
}

static void begin_made(void)
{
    snprintf(made, sizeof made, "/tmp/opl-made-XXXXXX");
    assert_non_null(mkdtemp(made));
}

static void query_made(const char *query)
{
    char root[128];
    snprintf(root, sizeof root, "../../../../../../../..%s", made);
    run_query(root, query);
    snprintf(root, sizeof root, "rm -r %s", made);
    assert_int_equal(system(root), 0);
}

static void f_b1_a_zone_that_does_not_tell_is_not_listed(void **state)
{
    begin_made();
    for (unsigned i = 0; i < 4; i++) {
        char path[96];
        snprintf(path, sizeof path, "sys/class/thermal/thermal_zone%u/type", i);
        make(path, "zone\n");
    }
    /* 0 degrees is a valid temperature, not an error */
    make("sys/class/thermal/thermal_zone0/temp", "0\n");
    make_unreadable("sys/class/thermal/thermal_zone2/temp");
    make("sys/class/thermal/thermal_zone3/temp", "<unknown>\n");
    query_made("101000");
    assert_string_equal(answer_names(THERMAL), "0 zone,");
    VALUE(THERMAL, "0 zone", 101002, 273);
}

#define SUPPLY "sys/class/power_supply/"

static void make_battery(const char *name, const char *status, const char *capacity)
{
    const char *const files[][2] = {
        {"type",       "Battery\n" },
        {"status",     status      },
        {"capacity",   capacity    },
        {"energy_now", "40000000\n"},
        {"power_now",  "9500000\n" },
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[128];
        snprintf(path, sizeof path, SUPPLY "%s/%s", name, files[i][0]);
        if (files[i][1])
            make(path, files[i][1]);
    }
}

static void f_b1_what_one_battery_does_not_tell_is_not_shown(void **state)
{
    begin_made();
    make_battery("BAT0", "Discharging\n", "80\n");
    make_battery("BAT1", "Discharging\n", "60\n");
    /* BAT2 lacks the object's first counter, so it is not an instance */
    make_battery("BAT2", "Discharging\n", NULL);
    make(SUPPLY "BAT0/voltage_now", "12100000\n");
    make_unreadable(SUPPLY "BAT1/voltage_now");
    query_made("101100");
    assert_string_equal(answer_names(BATTERY), "BAT0,BAT1,_Total,");
    VALUE(BATTERY, "_Total", 101102, 70);
    assert_false(answer_has(BATTERY, 101110));
    VALUE(BATTERY, "BAT1", 101104, 40000);
    VALUE(BATTERY, "BAT1", 101106, 0); /* this value is known: the battery is not being charged */
    VALUE(BATTERY, "_Total", 101108, 19000);
}

static void f_b1_an_unknown_state_is_no_rate(void **state)
{
    begin_made();
    make_battery("BAT0", "Discharging\n", "80\n");
    make_battery("BAT1", "Unknown\n", "<unknown>\n");
    query_made("101100");
    assert_false(answer_has(BATTERY, 101102));
    assert_false(answer_has(BATTERY, 101106));
    assert_false(answer_has(BATTERY, 101108));
    assert_true(answer_has(BATTERY, 101104));
}

#define CPUFREQ "sys/devices/system/cpu/cpufreq/policy"

static void f_b1_frequencies_that_are_not_told(void **state)
{
    begin_made();
    make(CPUFREQ "0/scaling_cur_freq", "1500000\n");
    make(CPUFREQ "0/scaling_max_freq", "3000000\n");
    make(CPUFREQ "0/cpuinfo_max_freq", "4000000\n");
    make(CPUFREQ "1/scaling_cur_freq", "<unknown>\n");
    make(CPUFREQ "1/scaling_max_freq", "3000000\n");
    make(CPUFREQ "1/cpuinfo_max_freq", "4000000\n");
    /* no values, because the processors of this group are offline */
    make_unreadable(CPUFREQ "2/scaling_cur_freq");
    make_unreadable(CPUFREQ "2/scaling_max_freq");
    make("proc/stat", "cpu  2 0 2 2 0 0 0\ncpu0 1 0 1 1 0 0 0\ncpu1 1 0 1 1 0 0 0\n");
    for (unsigned i = 0; i < 2; i++) {
        char path[96];
        snprintf(path, sizeof path, "sys/devices/system/cpu/cpu%u/cpufreq/scaling_cur_freq", i);
        make(path, i ? "0\n" : "1500000\n");
        snprintf(path, sizeof path, "sys/devices/system/cpu/cpu%u/cpufreq/cpuinfo_max_freq", i);
        make(path, "4000000\n");
    }
    query_made("101300 100000");
    assert_string_equal(answer_names(PERFORMANCE), "0,1,_Total,");
    assert_false(answer_has(PERFORMANCE, 101302));
    assert_false(answer_has(PERFORMANCE, 101304));
    VALUE(PERFORMANCE, "1", 101306, 3000);
    assert_false(answer_has(PROCESSOR, 100010));
    assert_false(answer_has(PROCESSOR, 100012));
    VALUE(PROCESSOR, "0,1", 142, 100000);
}

static void meters_and_frequencies(void **state)
{
    run_query("laptop4", "101200 101300");
    assert_string_equal(answer_names(METER), "intel-rapl:0 package-0,intel-rapl:0:0 core,");
    VALUE(METER, "intel-rapl:0 package-0", 101202, 123456);
    VALUE(METER, "intel-rapl:0:0 core", 101204, 23456789);
    assert_string_equal(answer_names(PERFORMANCE), "0,1,_Total,");
    VALUE(PERFORMANCE, "1", 101302, 1600);
    VALUE(PERFORMANCE, "1", 101304, 1600000);
    BASE(PERFORMANCE, "1", 101304, 4000000);
    VALUE(PERFORMANCE, "0", 101306, 3000);
    VALUE(PERFORMANCE, "_Total", 101302, 1550);
    BASE(PERFORMANCE, "_Total", 101308, 4000000);
    run_query("vm2", "Global");
    assert_string_equal(answer_names(THERMAL), "no object");
    assert_string_equal(answer_names(METER), "no object");
    assert_string_equal(answer_names(PERFORMANCE), "no object");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(laptop_pressure),
        cmocka_unit_test(pressure_of_older_kernels),
        cmocka_unit_test(laptop_processors),
        cmocka_unit_test(processors_of_two_nodes),
        cmocka_unit_test(laptop_interrupts),
        cmocka_unit_test(packets),
        cmocka_unit_test(memory_zones),
        cmocka_unit_test(slabs),
        cmocka_unit_test(laptop_limits),
        cmocka_unit_test(limits_that_are_hidden),
        cmocka_unit_test(connections),
        cmocka_unit_test(inodes),
        cmocka_unit_test(memory_usage),
        cmocka_unit_test(totals_of_interfaces),
        cmocka_unit_test(units),
        cmocka_unit_test(units_without_controllers),
        cmocka_unit_test(f_b1_a_zone_that_does_not_tell_is_not_listed),
        cmocka_unit_test(f_b1_what_one_battery_does_not_tell_is_not_shown),
        cmocka_unit_test(f_b1_an_unknown_state_is_no_rate),
        cmocka_unit_test(f_b1_frequencies_that_are_not_told),
        cmocka_unit_test(heat_and_batteries),
        cmocka_unit_test(meters_and_frequencies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
