/* SPDX-License-Identifier: MIT */
/*
 * Texts of paths: \\machine\object(parent/instance#index)\counter parsed and composed. There is no
 * escaping, and names contain brackets, slashes and hashes; so the object ends as early and the
 * instance as late as possible. The syntax for shells has "::" in place of backslashes.
 * (docs/windows/pdh.md#f3)
 */
#include "pdh/pdh.h"

#include <stdlib.h>
#include <string.h>

/* The rest of a text, and where its parts are copied to. */
struct scan {
    const char *at;
    const char *fence; /* the separator: "\\" or "::" */
    char *unused;
};

void path_done(struct pdh_path *path)
{
    free(path->memory);
    *path = (struct pdh_path){.index = PATH_NO_INDEX};
}

static const char *keep(struct scan *scan, const char *text, size_t count)
{
    char *copy = scan->unused;
    memcpy(copy, text, count);
    copy[count] = '\0';
    scan->unused += count + 1;
    return copy;
}

static bool at_fence(const struct scan *scan, const char *at)
{
    return !strncmp(at, scan->fence, strlen(scan->fence));
}

/* ---- parts ---- */

/* \\machine, or //machine in the syntax for shells; most paths have none. */
static bool scan_machine(struct scan *scan, struct pdh_path *path)
{
    bool windows = scan->fence[0] == '\\';
    char slash = windows ? '\\' : '/';
    if (scan->at[0] != slash || scan->at[1] != slash) {
        scan->at += windows; /* the object's own backslash */
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

static bool scan_object(struct scan *scan, struct pdh_path *path)
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

/* Is all of [text, end) a number, or a star for any number? */
static bool read_index(const char *text, const char *end, struct pdh_path *path)
{
    size_t count = (size_t)(end - text);
    if (count == 1 && *text == '*') {
        path->any_index = true;
        return true;
    }
    return text_decimal(text, count, &path->index) && path->index != PATH_NO_INDEX;
}

/* Ends the stem before its "#index", if it has one. The first instance has no number. */
static size_t cut_index(const char *whole, size_t count, struct pdh_path *path)
{
    const char *hash = strrchr(whole, '#');
    if (!hash || !read_index(hash + 1, whole + count, path))
        return count;
    if (path->index == 0)
        path->index = PATH_NO_INDEX;
    return (size_t)(hash - whole);
}

/* A slash at either end splits nothing: "/" and "/home" are names of file systems. */
static void split_parent(struct scan *scan, struct pdh_path *path)
{
    const char *slash = strchr(path->stem, '/');
    path->instance = path->stem;
    if (!slash || slash == path->stem || slash[1] == '\0')
        return;
    path->parent = keep(scan, path->stem, (size_t)(slash - path->stem));
    path->instance = slash + 1;
}

static void set_instance(struct scan *scan, struct pdh_path *path, const char *text, size_t count)
{
    path->whole = keep(scan, text, count);
    path->stem = keep(scan, text, cut_index(path->whole, count, path));
    split_parent(scan, path);
}

/* The last bracket followed by a separator, or NULL. */
static const char *last_bracket(const struct scan *scan)
{
    const char *found = NULL;
    for (const char *at = scan->at; (at = strchr(at, ')')); at++)
        if (at_fence(scan, at + 1))
            found = at;
    return found;
}

static bool scan_instance(struct scan *scan, struct pdh_path *path)
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

static bool scan_counter(struct scan *scan, struct pdh_path *path)
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

/* Space for each part once, and for the instance as written, without index, and its parent. */
static char *memory_for(size_t count)
{
    return malloc(PATH_SPARE + 3 * count + 8);
}

PDH_STATUS path_parse(const char *text, struct pdh_path *ret)
{
    struct pdh_path path = {.index = PATH_NO_INDEX};
    struct scan scan = {.at = text, .fence = text[0] == '\\' ? "\\" : "::"};
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
    set_instance(&(struct scan){.unused = path.memory + PATH_SPARE}, &path, text, count);
    if (path.instance[0] == '\0') {
        path_done(&path);
        return (PDH_STATUS)PDH_INVALID_INSTANCE;
    }
    *ret = path;
    return 0;
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
