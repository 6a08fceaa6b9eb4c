/* SPDX-License-Identifier: MIT */
/*
 * Names that other agents of Linux machines have for what is counted here: lists of counters that
 * were written for them can be used as they are. Only what means the same has a row, and only where
 * the machine has nothing of the name itself is a row asked for. (product 3.2)
 */
#include "pdh/pdh.h"

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
    {"Memory",        "% Used Swap",             "Memory Usage",          "% Used Swap Space"},
    {"Memory",        "% Used Swap Space",       "Memory Usage",          NULL               },
    {"Memory",        "Used MBytes Swap Space",  "Memory Usage",          NULL               },
    {"Processor",     "% IO Wait Time",          "Processor Information", NULL               },
    {"Processor",     "% Nice Time",             "Processor Information", NULL               },
};

bool path_alias(struct pdh_path *path)
{
    for (size_t i = 0; i < COUNT(aliases); i++) {
        const struct alias *alias = &aliases[i];
        if (!text_equal_fold(path->object, alias->object) ||
            (alias->counter && !text_equal_fold(path->counter, alias->counter)))
            continue;
        path->object = alias->our_object;
        path->counter = alias->our_counter ? alias->our_counter : path->counter;
        return true;
    }
    return false;
}
