/* SPDX-License-Identifier: MIT */
/*
 * Power and temperature: Thermal Zone Information (101000), Battery Status
 * (101100), Energy Meter (101200), Processor Performance (101300). Windows has objects of these
 * names, but no numbers for them.
 */
#include <stdio.h>
#include <string.h>

#include "perflinux.h"

enum { NAME_SIZE = 160 };

/* For each object, the time when its folder was last seen empty. An empty folder is not opened
 * at each query, because batteries are rarely added. */
enum { ZONES, BATTERIES, METERS, POLICIES, KINDS };
static LONGLONG empty_at[KINDS];
static const LONGLONG kept_empty_100ns = 10 * 10000000LL;

void perflinux_power_open(void)
{
    memset(empty_at, 0, sizeof empty_at);
}

static bool is_worth_looking(opl_listing *listing, int kind)
{
    LONGLONG age = opl_reading_time(opl_listing_reading(listing)) - empty_at[kind];
    return empty_at[kind] == 0 || age < 0 || age > kept_empty_100ns;
}

static void note_what_was_found(opl_listing *listing, int kind)
{
    bool empty = opl_listing_count(listing) == 0;
    empty_at[kind] = empty ? opl_reading_time(opl_listing_reading(listing)) : 0;
}

/* Lists the folders of `path` whose names begin with `prefix`. An instance's name is the folder's
 * name without the prefix, and the first line of the folder's file `title`, if there is such a
 * file. */
static void list_folders(opl_listing *listing, const char *path, const char *prefix,
                         const opl_source *title, bool (*wanted)(opl_reading *reading))
{
    const char *found = opl_listing_folders(listing, path, 1);
    for (; found && *found; found += strlen(found) + 1) {
        char name[NAME_SIZE];
        if (strncmp(found, prefix, strlen(prefix)) != 0)
            continue;
        opl_reading *reading = opl_listing_at(listing, found);
        if (wanted && !wanted(reading))
            continue;
        const char *text = title ? opl_reading_text(reading, title, NULL) : NULL;
        int bytes = text ? (int)strcspn(text, "\n") : 0;
        snprintf(name, sizeof name, "%s%s%.*s", found + strlen(prefix), bytes ? " " : "", bytes,
                 text ? text : "");
        opl_listing_read(listing, found, name,
                         opl_sanitize_name(name, sizeof name, name, strlen(name), false));
    }
}

/* ---- Thermal Zone Information ---- */

#define ZONE(file)                                                                                 \
    {                                                                                              \
        .path = "sys/class/thermal/*/" file                                                        \
    }
static const opl_source zone_temperature = ZONE("temp");
static const opl_source zone_type = ZONE("type");

/* The zone's temperature in thousandths of a kelvin. */
static bool kelvin_1000(opl_reading *reading, uint64_t *ret)
{
    uint64_t celsius;
    if (!opl_reading_column(reading, &zone_temperature, 1, &celsius))
        return false;
    int64_t kelvin = (int64_t)celsius + 273150;
    *ret = kelvin > 0 ? (uint64_t)kelvin : 0;
    return true;
}

static bool kelvin(opl_reading *reading, uint64_t *ret)
{
    bool readable = kelvin_1000(reading, ret);
    *ret = readable ? (*ret + 500) / 1000 : 0;
    return readable;
}

static bool kelvin_10(opl_reading *reading, uint64_t *ret)
{
    bool readable = kelvin_1000(reading, ret);
    *ret = readable ? (*ret + 50) / 100 : 0;
    return readable;
}

/* Does the zone have a temperature? A zone without one, for example while the sensor's device
 * sleeps, is not listed. */
static bool is_zone(opl_reading *reading)
{
    uint64_t temperature;
    return opl_reading_column(reading, &zone_temperature, 1, &temperature);
}

static void list_zones(opl_listing *listing)
{
    if (!is_worth_looking(listing, ZONES))
        return;
    list_folders(listing, "sys/class/thermal", "thermal_zone", &zone_type, is_zone);
    note_what_was_found(listing, ZONES);
}

/* ---- Battery Status ---- */

#define SUPPLY(file)                                                                               \
    {                                                                                              \
        .path = "sys/class/power_supply/*/" file                                                   \
    }
static const opl_source supply_type = SUPPLY("type");
static const opl_source supply_status = SUPPLY("status");
static const opl_source supply_capacity = SUPPLY("capacity");
static const opl_source supply_energy = SUPPLY("energy_now"); /* microwatt hours */
static const opl_source supply_charge = SUPPLY("charge_now"); /* microampere hours */
static const opl_source supply_power = SUPPLY("power_now");
static const opl_source supply_current = SUPPLY("current_now");
static const opl_source supply_voltage = SUPPLY("voltage_now");

static bool is_battery(opl_reading *reading)
{
    const char *text = opl_reading_text(reading, &supply_type, NULL);
    return text && strncmp(text, "Battery", 7) == 0;
}

static void list_batteries(opl_listing *listing)
{
    if (!is_worth_looking(listing, BATTERIES))
        return;
    list_folders(listing, "sys/class/power_supply", "", NULL, is_battery);
    note_what_was_found(listing, BATTERIES);
}

static uint64_t magnitude(uint64_t number)
{
    return (int64_t)number < 0 ? -number : number;
}

/* The power in milliwatts (or the energy in milliwatt hours): from the file `watts` if it exists,
 * else computed from `amperes` and the voltage. */
static bool milliwatts(opl_reading *reading, const opl_source *watts, const opl_source *amperes,
                       uint64_t *ret)
{
    uint64_t volts;
    bool known = opl_reading_column(reading, watts, 1, ret);
    *ret = magnitude(*ret) / 1000;
    if (known)
        return true;
    if (!opl_reading_column(reading, amperes, 1, ret) ||
        !opl_reading_column(reading, &supply_voltage, 1, &volts))
        return false;
    *ret = magnitude(*ret) / 1000 * (volts / 1000) / 1000;
    return true;
}

static bool remaining(opl_reading *reading, uint64_t *ret)
{
    *ret = 0;
    return milliwatts(reading, &supply_energy, &supply_charge, ret);
}

static bool rate_while(opl_reading *reading, const char *status, uint64_t *ret)
{
    const char *text = opl_reading_text(reading, &supply_status, NULL);
    *ret = 0;
    if (!text || strncmp(text, "Unknown", 7) == 0 ||
        !milliwatts(reading, &supply_power, &supply_current, ret))
        return false;
    if (strncmp(text, status, strlen(status)) != 0)
        *ret = 0;
    return true;
}

static bool charge_rate(opl_reading *reading, uint64_t *ret)
{
    return rate_while(reading, "Charging", ret);
}

static bool discharge_rate(opl_reading *reading, uint64_t *ret)
{
    return rate_while(reading, "Discharging", ret);
}

/* ---- Energy Meter ---- */

#define METER(file)                                                                                \
    {                                                                                              \
        .path = "sys/class/powercap/*/" file                                                       \
    }
static const opl_source meter_energy = METER("energy_uj");
static const opl_source meter_name = METER("name");

static bool is_meter(opl_reading *reading)
{
    uint64_t energy;
    return opl_reading_column(reading, &meter_energy, 1, &energy);
}

static void list_meters(opl_listing *listing)
{
    if (!is_worth_looking(listing, METERS))
        return;
    list_folders(listing, "sys/class/powercap", "", &meter_name, is_meter);
    note_what_was_found(listing, METERS);
}

/* ---- Processor Performance ---- */

#define POLICY(file)                                                                               \
    {                                                                                              \
        .path = "sys/devices/system/cpu/cpufreq/*/" file                                           \
    }
static const opl_source policy_now = POLICY("scaling_cur_freq");
static const opl_source policy_limit = POLICY("scaling_max_freq");
static const opl_source policy_most = POLICY("cpuinfo_max_freq");

/* Does the group of processors have values? It has none if they are all offline. */
static bool is_policy(opl_reading *reading)
{
    uint64_t khz;
    return opl_reading_column(reading, &policy_now, 1, &khz) ||
           opl_reading_column(reading, &policy_limit, 1, &khz);
}

static void list_policies(opl_listing *listing)
{
    if (!is_worth_looking(listing, POLICIES))
        return;
    list_folders(listing, "sys/devices/system/cpu/cpufreq", "policy", NULL, is_policy);
    note_what_was_found(listing, POLICIES);
}

#define MHZ PERF_COUNTER_RAWCOUNT, -2, PERF_DETAIL_NOVICE
#define SHARE PERF_RAW_FRACTION, 0, PERF_DETAIL_NOVICE
#define MILLI(function) OPL_FN(function), .total = OPL_SUM

/* clang-format off */
static const opl_counter zone_counters[] = {
    {101002, 101003, PERF_COUNTER_RAWCOUNT, 0, PERF_DETAIL_NOVICE, OPL_FN_OF(&zone_temperature, kelvin), .total = OPL_NONE, .name = "Temperature",
     .help = "The zone's temperature in kelvin: 273 is the freezing point of water.", .where = "`sys/class/thermal/*/temp`"},
    {101004, 101005, PERF_COUNTER_RAWCOUNT, 0, PERF_DETAIL_ADVANCED, OPL_FN_OF(&zone_temperature, kelvin_10), .total = OPL_NONE,
     .name = "High Precision Temperature", .help = "The zone's temperature in tenths of kelvin.", .where = "`sys/class/thermal/*/temp`"},
};
static const opl_counter battery_counters[] = {
    {101102, 101103, PERF_COUNTER_RAWCOUNT, 0, PERF_DETAIL_NOVICE, OPL_COLUMN(&supply_capacity, 1, OPL_ONE), .total = OPL_MEAN, .name = "% Charge",
     .help = "How full the battery is."},
    {101104, 101105, PERF_COUNTER_RAWCOUNT, -3, PERF_DETAIL_NOVICE, MILLI(remaining), .name = "Remaining Capacity",
     .help = "What the battery can still give, in milliwatt hours.",
     .where = "`sys/class/power_supply/*`: energy_now, or charge_now times voltage_now"},
    {101106, 101107, PERF_COUNTER_RAWCOUNT, -3, PERF_DETAIL_NOVICE, MILLI(charge_rate), .name = "Charge Rate",
     .help = "How fast the battery is being charged, in milliwatts.",
     .where = "`sys/class/power_supply/*`: power_now, or current_now times voltage_now, while status is Charging"},
    {101108, 101109, PERF_COUNTER_RAWCOUNT, -3, PERF_DETAIL_NOVICE, MILLI(discharge_rate), .name = "Discharge Rate",
     .help = "How fast the battery is being used up, in milliwatts.",
     .where = "`sys/class/power_supply/*`: power_now, or current_now times voltage_now, while status is Discharging"},
    {101110, 101111, PERF_COUNTER_RAWCOUNT, -3, PERF_DETAIL_ADVANCED, OPL_COLUMN(&supply_voltage, 1, OPL_PARTS(1000)), .total = OPL_NONE, .name = "Voltage",
     .help = "The battery's voltage, in millivolts."},
};
static const opl_counter meter_counters[] = {
    {101202, 101203, PERF_COUNTER_BULK_COUNT, -3, PERF_DETAIL_NOVICE, OPL_COLUMN(&meter_energy, 1, OPL_PARTS(1000)), .total = OPL_NONE, .name = "Power",
     .help = "The power that this part of the machine uses, in milliwatts. When its meter begins again from 0, one value is missing."},
    {101204, 101205, PERF_COUNTER_LARGE_RAWCOUNT, -6, PERF_DETAIL_ADVANCED, OPL_COLUMN(&meter_energy, 1, OPL_ONE), .total = OPL_NONE, .name = "Energy",
     .help = "The energy that this part of the machine has used since its meter last began from 0, in microjoules."},
};
static const opl_counter policy_counters[] = {
    {101302, 101303, MHZ, OPL_COLUMN(&policy_now, 1, OPL_PARTS(1000)), .total = OPL_MEAN, .name = "Processor Frequency",
     .help = "The group's frequency now, in megahertz."},
    {101304, 101305, SHARE, OPL_COLUMN(&policy_now, 1, OPL_ONE), .base = OPL_COLUMN(&policy_most, 1, OPL_ONE), .total = OPL_MEAN,
     .name = "% of Maximum Frequency", .help = "The group's frequency now, as a share of the highest that these processors can have."},
    {101306, 101307, MHZ, OPL_COLUMN(&policy_limit, 1, OPL_PARTS(1000)), .total = OPL_MEAN, .name = "Frequency Limit",
     .help = "The highest frequency that these processors may have now, in megahertz: an administrator, or overheating, may have lowered it."},
    {101308, 101309, SHARE, OPL_COLUMN(&policy_limit, 1, OPL_ONE), .base = OPL_COLUMN(&policy_most, 1, OPL_ONE), .total = OPL_MEAN,
     .name = "% Frequency Limit", .help = "The highest frequency that these processors may have now, as a share of the highest that they can have."},
};
/* clang-format on */

const opl_object perflinux_thermal = {101000,
                                      101001,
                                      "Thermal Zone Information",
                                      "How hot the parts of the machine are.",
                                      OPL_COUNTERS(zone_counters),
                                      .default_counter = 101002,
                                      .needs = "sys/class/thermal/thermal_zone0",
                                      .instances = true,
                                      .list = list_zones};

const opl_object perflinux_battery = {
    101100,
    101101,
    "Battery Status",
    "What the batteries hold, and how fast they are charged or used up.",
    OPL_COUNTERS(battery_counters),
    .default_counter = 101102,
    .needs = "sys/class/power_supply",
    .only_with_instances = true,
    .known_only = true,
    .instances = true,
    .total = "_Total",
    .list = list_batteries};

const opl_object perflinux_meter = {
    101200,
    101201,
    "Energy Meter",
    "How much power parts of the machine use, as the meters in its processors measure it.",
    OPL_COUNTERS(meter_counters),
    .default_counter = 101202,
    .needs = "sys/class/powercap",
    .instances = true,
    .list = list_meters};

const opl_object perflinux_performance = {
    101300,
    101301,
    "Processor Performance",
    "How fast processors run, and how fast they may run. Each instance is a group of processors "
    "that change their frequency together.",
    OPL_COUNTERS(policy_counters),
    .default_counter = 101304,
    .needs = "sys/devices/system/cpu/cpufreq/policy0",
    .only_with_instances = true,
    .known_only = true,
    .instances = true,
    .total = "_Total",
    .list = list_policies};
