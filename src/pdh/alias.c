/* SPDX-License-Identifier: MIT */
/*
 * Names that other agents of Linux machines have for what is counted here: lists of counters that
 * were written for them can be used as they are. Only what means the same has a row, and only where
 * the machine has nothing of the name itself is a row asked for. (product 3.2)
 *
 * Two have none: "% Used Space" of a disk, because nothing here counts it (LogicalDisk has % Free
 * Space, as on Windows, and no counter can stand for the rest of another); and the object "Network"
 * with its "Total Bytes", which are all since the start, where Network Interface has rates.
 */
#include "pdh/source.h"

#include <stdio.h>
#include <string.h>

static const struct alias {
    const char *object, *counter;         /* counter NULL: all that no other row has */
    const char *our_object, *our_counter; /* our_counter NULL: the same */
} aliases[] = {
    {"Logical Disk",  "% Free Inodes",           "Filesystem Inodes",     NULL               },
    {"Logical Disk",  "% Used Inodes",           "Filesystem Inodes",     NULL               },
    {"LogicalDisk",   "% Free Inodes",           "Filesystem Inodes",     NULL               },
    {"LogicalDisk",   "% Used Inodes",           "Filesystem Inodes",     NULL               },
    {"Logical Disk",  "Logical Disk Bytes/sec",  "LogicalDisk",           "Disk Bytes/sec"   },
    {"Logical Disk",  NULL,                      "LogicalDisk",           NULL               },
    {"Physical Disk", "Physical Disk Bytes/sec", "PhysicalDisk",          "Disk Bytes/sec"   },
    {"Physical Disk", NULL,                      "PhysicalDisk",          NULL               },
    {"Memory",        "Available MBytes Memory", "Memory",                "Available MBytes" },
    {"Memory",        "% Available Memory",      "Memory Usage",          NULL               },
    {"Memory",        "% Used Memory",           "Memory Usage",          NULL               },
    {"Memory",        "Used Memory MBytes",      "Memory Usage",          NULL               },
    {"Memory",        "Available MBytes Swap",   "Memory Usage",          NULL               },
    {"Memory",        "% Available Swap",        "Memory Usage",          NULL               },
    {"Memory",        "% Available Swap Space",  "Memory Usage",          "% Available Swap" },
    {"Memory",        "% Used Swap",             "Memory Usage",          "% Used Swap Space"},
    {"Memory",        "% Used Swap Space",       "Memory Usage",          NULL               },
    {"Memory",        "Used MBytes Swap Space",  "Memory Usage",          NULL               },
    {"Processor",     "% IO Wait Time",          "Processor Information", NULL               },
    {"Processor",     "% Nice Time",             "Processor Information", NULL               },
};

/* Theirs are processors' numbers, ours "node,number". */
static void name_by_number(struct pdh_path *path)
{
    static const char digits[] = "0123456789";
    size_t count = path->stem ? strspn(path->stem, digits) : 0;
    if (!count || path->stem[count] || path->index != PATH_NO_INDEX || count > PATH_SPARE - 3)
        return;
    snprintf(path->memory, PATH_SPARE, "*,%s", path->stem);
    path->whole = path->stem = path->instance = path->memory;
}

bool path_alias_settle(struct pdh_path *path, const struct offer *offer)
{
    if (!path->stem || path->stem != path->memory)
        return false;
    for (uint32_t i = 0; i < offer->instance_count; i++) {
        const struct offer_instance *one = &offer->instances[i];
        if (!one->parent && strlen(one->name) < PATH_SPARE &&
            path_match_instance(path, NULL, one->name, one->number)) {
            memcpy(path->memory, one->name, strlen(one->name) + 1);
            return true;
        }
    }
    path->memory[0] = '0'; /* nobody has it now: as if there were one node */
    return true;
}

bool path_alias(struct pdh_path *path)
{
    for (size_t i = 0; i < COUNT(aliases); i++) {
        const struct alias *alias = &aliases[i];
        if (!text_equal_fold(path->object, alias->object) ||
            (alias->counter && !text_equal_fold(path->counter, alias->counter)))
            continue;
        if (strcmp(alias->our_object, "Processor Information") == 0)
            name_by_number(path);
        path->object = alias->our_object;
        path->counter = alias->our_counter ? alias->our_counter : path->counter;
        return true;
    }
    return false;
}
