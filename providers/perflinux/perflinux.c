/* SPDX-License-Identifier: MIT */
/*
 * perflinux.so: objects for which Windows has no number, as an ordinary provider. The build
 * generates its registration, numbers and texts from the tables, as a packaged registry file.
 */
#include "perflinux.h"

const uint32_t perflinux_whole = 10000;

static const opl_object *const objects[] = {PERFLINUX_OBJECTS(&)};

static void begin(void)
{
    perflinux_processor_open();
    perflinux_pressure_open();
    perflinux_power_open();
}

OPL_PROVIDER_NT(objects, begin, OpenLinuxObject, CollectLinuxObjectData, CloseLinuxObject);
