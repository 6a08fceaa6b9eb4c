/* SPDX-License-Identifier: MIT */
/*
 * Parses, composes and matches paths: \\machine\object(parent/instance#index)\counter. Names may
 * contain brackets, slashes and hashes, and there is no way to escape them, so the object is taken
 * as short and the instance as long as possible. The syntax for shells has "::" in place of
 * backslashes. The text between the brackets is first compared with a name as a whole, then split
 * into a parent, a name and a number. (docs/windows/pdh.md#f3, docs/windows/pdh.md#f4)
 */
#include "pdh/pdh.h"
#include "pdh/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The rest of the text being parsed, and the memory for its parts. */
struct path_text {
    const char *at;
    const char *fence; /* the separator: "\\" or "::" */
    char *unused;
};

void path_done(struct pdh_path *path)
{
    free(path->memory);
    *path = (struct pdh_path){.index = PATH_NO_INDEX};
}

static const char *keep(struct path_text *scan, const char *text, size_t count)
{
    char *copy = scan->unused;
    memcpy(copy, text, count);
    copy[count] = '\0';
    scan->unused += count + 1;
    return copy;
}

static bool at_fence(const struct path_text *scan, const char *at)
{
    return !strncmp(at, scan->fence, strlen(scan->fence));
}

/* ---- the parts of a path ---- */

/* Reads the machine: \\machine, or //machine in the syntax for shells. Most paths have none. False:
 * its name is empty, or nothing follows it. */
static bool scan_machine(struct path_text *scan, struct pdh_path *path)
{
    bool windows = scan->fence[0] == '\\';
    char slash = windows ? '\\' : '/';
    if (scan->at[0] != slash || scan->at[1] != slash) {
        scan->at += windows; /* also skip the backslash before the object */
        return true;
    }
    size_t count = strcspn(scan->at + 2, windows ? "\\" : "/");
    if (count == 0 || scan->at[2 + count] == '\0')
        return false;
    char *name = (char *)keep(scan, scan->at, 2 + count);
    name[0] = name[1] = '\\';
    path->machine = name;
    scan->at += 2 + count + 1;
    return true;
}

static bool scan_object(struct path_text *scan, struct pdh_path *path)
{
    const char *end = scan->at;
    while (*end && *end != '(' && !at_fence(scan, end))
        end++;
    if (*end == '\0' || end == scan->at)
        return false;
    path->object = keep(scan, scan->at, (size_t)(end - scan->at));
    scan->at = end;
    return true;
}

/* Reads the text up to `end` as the index: a number, or a star for any number. Returns false if the
 * text is neither. */
static bool read_index(const char *text, const char *end, struct pdh_path *path)
{
    size_t count = (size_t)(end - text);
    if (count == 1 && *text == '*') {
        path->any_index = true;
        return true;
    }
    return text_decimal(text, count, &path->index) && path->index != PATH_NO_INDEX;
}

/* Finds "#index" at the end and returns the length of the text before it (the stem). Without an
 * index the path means the first instance. */
static size_t cut_index(const char *whole, size_t count, struct pdh_path *path)
{
    const char *hash = strrchr(whole, '#');
    if (!hash || !read_index(hash + 1, whole + count, path))
        return count;
    if (path->index == 0)
        path->index = PATH_NO_INDEX;
    return (size_t)(hash - whole);
}

/* Splits "parent/instance". A slash at the start or end does not split, because names of file
 * systems such as "/" and "/home" have it. */
static void split_parent(struct path_text *scan, struct pdh_path *path)
{
    const char *slash = strchr(path->stem, '/');
    path->instance = path->stem;
    if (!slash || slash == path->stem || slash[1] == '\0')
        return;
    path->parent = keep(scan, path->stem, (size_t)(slash - path->stem));
    path->instance = slash + 1;
}

static void set_instance(struct path_text *scan, struct pdh_path *path, const char *text,
                         size_t count)
{
    path->whole = keep(scan, text, count);
    path->stem = keep(scan, text, cut_index(path->whole, count, path));
    split_parent(scan, path);
}

/* Finds the last closing bracket that is followed by a separator; NULL: none. */
static const char *last_bracket(const struct path_text *scan)
{
    const char *found = NULL;
    for (const char *at = scan->at; (at = strchr(at, ')')); at++)
        if (at_fence(scan, at + 1))
            found = at;
    return found;
}

static bool scan_instance(struct path_text *scan, struct pdh_path *path)
{
    if (*scan->at != '(')
        return true;
    const char *end = last_bracket(scan);
    if (!end)
        return false;
    set_instance(scan, path, scan->at + 1, (size_t)(end - scan->at - 1));
    scan->at = end + 1;
    return true;
}

static bool scan_counter(struct path_text *scan, struct pdh_path *path)
{
    scan->at += strlen(scan->fence);
    path->counter = keep(scan, scan->at, strlen(scan->at));
    return path->counter[0] != '\0';
}

/* ---- parsing ---- */

static bool too_long(const char *text, size_t count)
{
    return count > PDH_MAX_COUNTER_PATH && utf8_to_16(text, count, NULL, 0) > PDH_MAX_COUNTER_PATH;
}

/* Allocates memory for all parts of a path, with two more copies of the instance's text: one
 * without the index, one for the parent. */
static char *memory_for(size_t count)
{
    return malloc(PATH_SPARE + 3 * count + 8);
}

PDH_STATUS path_parse(const char *text, struct pdh_path *ret)
{
    struct pdh_path path = {.index = PATH_NO_INDEX};
    struct path_text scan = {.at = text, .fence = text[0] == '\\' ? "\\" : "::"};
    size_t count = strlen(text);
    if (count == 0)
        return (PDH_STATUS)PDH_CSTATUS_NO_COUNTERNAME;
    if (too_long(text, count))
        return (PDH_STATUS)PDH_CSTATUS_BAD_COUNTERNAME;
    path.memory = memory_for(count);
    if (!path.memory)
        return (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    scan.unused = path.memory + PATH_SPARE;
    if (!scan_machine(&scan, &path) || !scan_object(&scan, &path) || !scan_instance(&scan, &path) ||
        !scan_counter(&scan, &path)) {
        path_done(&path);
        return (PDH_STATUS)PDH_CSTATUS_BAD_COUNTERNAME;
    }
    *ret = path;
    return 0;
}

PDH_STATUS path_parse_instance(const char *text, struct pdh_path *ret)
{
    struct pdh_path path = {.index = PATH_NO_INDEX};
    size_t count = strlen(text);
    if (too_long(text, count))
        return (PDH_STATUS)PDH_INVALID_INSTANCE;
    path.memory = memory_for(count);
    if (!path.memory)
        return (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE;
    set_instance(&(struct path_text){.unused = path.memory + PATH_SPARE}, &path, text, count);
    if (path.instance[0] == '\0') {
        path_done(&path);
        return (PDH_STATUS)PDH_INVALID_INSTANCE;
    }
    *ret = path;
    return 0;
}

/* ---- names ---- */

const char *path_machine_name(const char *label)
{
    return strncmp(label, "\\\\", 2) ? label : label + 2;
}

bool path_same_machine(const char *wanted, const char *label)
{
    return !wanted ||
           (label && text_equal_fold(path_machine_name(wanted), path_machine_name(label)));
}

bool path_add_full_name(struct buffer *ret, const char *parent, const char *name)
{
    return (!parent || (buffer_add_text(ret, parent) && buffer_add_byte(ret, '/'))) &&
           buffer_add_text(ret, name);
}

/* ---- composing ---- */

static void add_instance(const struct pdh_path *parts, struct buffer *ret)
{
    buffer_add_byte(ret, '(');
    if (parts->parent) {
        buffer_add_text(ret, parts->parent);
        buffer_add_byte(ret, '/');
    }
    buffer_add_text(ret, parts->instance);
    if (parts->any_index)
        buffer_add_text(ret, "#*");
    else if (parts->index && parts->index != PATH_NO_INDEX)
        buffer_printf(ret, "#%u", parts->index);
    buffer_add_byte(ret, ')');
}

static void add_machine(const char *machine, struct buffer *ret)
{
    if (machine[0] != '\\' || machine[1] != '\\')
        buffer_add_text(ret, "\\\\");
    buffer_add_text(ret, machine);
}

PDH_STATUS path_make(const struct pdh_path *parts, struct buffer *ret)
{
    if (!parts->object || !parts->object[0] || !parts->counter || !parts->counter[0])
        return (PDH_STATUS)PDH_INVALID_ARGUMENT;
    if (parts->machine && parts->machine[0])
        add_machine(parts->machine, ret);
    buffer_add_byte(ret, '\\');
    buffer_add_text(ret, parts->object);
    if (parts->instance)
        add_instance(parts, ret);
    buffer_add_byte(ret, '\\');
    buffer_add_text(ret, parts->counter);
    return ret->failed ? (PDH_STATUS)PDH_MEMORY_ALLOCATION_FAILURE : 0;
}

/* ---- wildcards ---- */

bool path_is_pattern(const char *text)
{
    return text && strpbrk(text, "*?");
}

bool path_has_any_instance(const struct pdh_path *path)
{
    return path->any_index || path_is_pattern(path->stem);
}

bool path_has_wildcard(const struct pdh_path *path)
{
    return path_has_any_instance(path) || path_is_pattern(path->counter) ||
           path_is_pattern(path->object);
}

/* ---- instances ---- */

/* True if the number of the instance fits. A path without a number means all instances if the name
 * is a pattern, else only the first with the name. */
static bool number_fits(const struct pdh_path *path, uint32_t number)
{
    if (path->any_index)
        return true;
    if (path->index != PATH_NO_INDEX)
        return number == path->index;
    return number == 0 || path_is_pattern(path->stem);
}

bool path_match_full(const struct pdh_path *path, const char *full_name, uint32_t number)
{
    if (!path->stem)
        return false;
    if (number_fits(path, number) && text_match(path->stem, full_name))
        return true;
    /* "a#1" may be the second instance named "a", or the first instance named "a#1" */
    return number == 0 && !path->any_index && strlen(path->whole) != strlen(path->stem) &&
           text_match(path->whole, full_name);
}

bool path_match_instance(const struct pdh_path *path, const char *parent, const char *name,
                         uint32_t number)
{
    if (!parent)
        return path_match_full(path, name, number);
    BUFFER_AUTO full = {0};
    return path_add_full_name(&full, parent, name) && path_match_full(path, full.data, number);
}

/* ---- aliases ---- */

/*
 * Other monitoring agents for Linux have their own names for counters that also exist here. Their
 * names are accepted, so that lists of counters written for those agents work unchanged. Only
 * counters with the same meaning have a row, and a row is used only if the machine has no object or
 * counter of that name. Such lists have (*) even after objects without instances.
 *
 * docs/counters lists the names without a row, and the reasons, at the most similar objects.
 */

static const struct alias {
    /* the other agent's names; `counter` NULL: for all counters that have no row of their own */
    const char *object, *counter;
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
