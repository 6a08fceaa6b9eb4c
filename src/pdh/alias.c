/* SPDX-License-Identifier: MIT */
/*
 * Other monitoring agents for Linux have their own names for counters that also exist here. Their
 * names are accepted, so that lists of counters written for those agents work unchanged. Only
 * counters with the same meaning have a row, and a row is used only if the machine has no object or
 * counter of that name. Such lists have (*) even after objects without instances.
 *
 * docs/counters lists the names without a row, and the reasons, at the most similar objects.
 */
#include "pdh/source.h"

#include <stdio.h>
#include <string.h>

static const struct alias {
    const char *object, *counter;         /* `counter` NULL: the row is for all counters that have
                                           * no row of their own */
    const char *our_object, *our_counter; /* our names; `our_counter` NULL: the counter has the same
                                           * name */
    bool single;                          /* our object has no instances: (*) is ignored */
} aliases[] = {
    {"Logical Disk",  "% Free Inodes",           "Filesystem Inodes",     NULL,                  false},
    {"Logical Disk",  "% Used Inodes",           "Filesystem Inodes",     NULL,                  false},
    {"LogicalDisk",   "% Free Inodes",           "Filesystem Inodes",     NULL,                  false},
    {"LogicalDisk",   "% Used Inodes",           "Filesystem Inodes",     NULL,                  false},
    {"Logical Disk",  "% Used Space",            "Filesystem Space",      NULL,                  false},
    {"LogicalDisk",   "% Used Space",            "Filesystem Space",      NULL,                  false},
    {"Logical Disk",  "Logical Disk Bytes/sec",  "LogicalDisk",           "Disk Bytes/sec",      false},
    {"Logical Disk",  NULL,                      "LogicalDisk",           NULL,                  false},
    {"Physical Disk", "Physical Disk Bytes/sec", "PhysicalDisk",          "Disk Bytes/sec",      false},
    {"Physical Disk", NULL,                      "PhysicalDisk",          NULL,                  false},
    {"Memory",        "Available MBytes Memory", "Memory",                "Available MBytes",    true },
    {"Memory",        "% Available Memory",      "Memory Usage",          NULL,                  true },
    {"Memory",        "% Used Memory",           "Memory Usage",          NULL,                  true },
    {"Memory",        "Used Memory MBytes",      "Memory Usage",          NULL,                  true },
    {"Memory",        "Available MBytes Swap",   "Memory Usage",          NULL,                  true },
    {"Memory",        "% Available Swap",        "Memory Usage",          NULL,                  true },
    {"Memory",        "% Available Swap Space",  "Memory Usage",          "% Available Swap",    true },
    {"Memory",        "% Used Swap",             "Memory Usage",          "% Used Swap Space",   true },
    {"Memory",        "% Used Swap Space",       "Memory Usage",          NULL,                  true },
    {"Memory",        "Used MBytes Swap Space",  "Memory Usage",          NULL,                  true },
    {"Memory",        "Pages/sec",               "Memory",                NULL,                  true },
    {"Memory",        "Page Reads/sec",          "Memory",                NULL,                  true },
    {"Process",       "Pct User Time",           "Process",               "% User Time",         false},
    {"Process",       "Pct Privileged Time",     "Process",               "% Privileged Time",   false},
    {"System",        "Uptime",                  "System",                "System Up Time",      true },
    {"System",        "Load1",                   "System",                "Load Average 1 min",  true },
    {"System",        "Load5",                   "System",                "Load Average 5 min",  true },
    {"System",        "Load15",                  "System",                "Load Average 15 min", true },
    {"System",        "Processes",               "System",                NULL,                  true },
    {"Processor",     "% IO Wait Time",          "Processor Information", NULL,                  false},
    {"Processor",     "% Nice Time",             "Processor Information", NULL,                  false},
};

/* Processor's instance "3" is "0,3" (node 0, processor 3) in Processor Information. The node is
 * unknown here, so the path gets the pattern "*,3". */
static void name_by_number(struct pdh_path *path)
{
    static const char digits[] = "0123456789";
    size_t count = path->stem ? strspn(path->stem, digits) : 0;
    if (!count || path->stem[count] || path->index != PATH_NO_INDEX || count > PATH_SPARE - 3)
        return;
    snprintf(path->memory, PATH_SPARE, "*,%s", path->stem);
    path->whole = path->stem = path->instance = path->memory;
}

bool path_alias_settle(struct pdh_path *path, const struct object_info *info)
{
    if (!path->stem || path->stem != path->memory)
        return false;
    for (uint32_t i = 0; i < info->instance_count; i++) {
        const struct instance_info *one = &info->instances[i];
        if (!one->parent && strlen(one->name) < PATH_SPARE &&
            path_match_instance(path, NULL, one->name, one->number)) {
            memcpy(path->memory, one->name, strlen(one->name) + 1);
            return true;
        }
    }
    path->memory[0] = '0'; /* no such instance now: "0,3" is its name on a machine with one node */
    return true;
}

static const struct alias *find(const struct pdh_path *path)
{
    for (size_t i = 0; i < COUNT(aliases); i++)
        if (text_equal_fold(path->object, aliases[i].object) &&
            (!aliases[i].counter || text_equal_fold(path->counter, aliases[i].counter)))
            return &aliases[i];
    return NULL;
}

void path_alias_brackets(struct pdh_path *path)
{
    const struct alias *alias = path->whole && strcmp(path->whole, "*") == 0 ? find(path) : NULL;
    if (alias && alias->single)
        path->whole = path->stem = path->parent = path->instance = NULL;
}

bool path_alias(struct pdh_path *path)
{
    const struct alias *alias = find(path);
    if (!alias)
        return false;
    if (strcmp(alias->our_object, "Processor Information") == 0)
        name_by_number(path);
    path->object = alias->our_object;
    path->counter = alias->our_counter ? alias->our_counter : path->counter;
    return true;
}
