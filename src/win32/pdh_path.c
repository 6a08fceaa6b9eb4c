/* SPDX-License-Identifier: MIT */
/* The functions of pdh.h that make, parse, validate and expand paths. */
#include "win32/pdh_text.h"

#include <string.h>

/* ---- making ---- */

static PDH_STATUS make_path(const struct pdh_path *parts, DWORD flags, struct text_out out)
{
    BUFFER_AUTO text = {0};
    if (!out_valid(out))
        return (PDH_STATUS)PDH_INVALID_ARGUMENT;
    if (flags)
        return (PDH_STATUS)PDH_NOT_IMPLEMENTED; /* paths of WMI are not implemented */
    PDH_STATUS status = path_make(parts, &text);
    return status ? status : copy_text(&text, out);
}

PDH_STATUS PdhMakeCounterPathA(PPDH_COUNTER_PATH_ELEMENTS_A parts, LPSTR path, LPDWORD length,
                               DWORD flags)
{
    if (!parts)
        return (PDH_STATUS)PDH_INVALID_ARGUMENT;
    const struct pdh_path given = {.machine = parts->szMachineName,
                                   .object = parts->szObjectName,
                                   .instance = parts->szInstanceName,
                                   .parent = parts->szParentInstance,
                                   .index = parts->dwInstanceIndex,
                                   .counter = parts->szCounterName};
    return make_path(&given, flags, OUT_A(path, length));
}

PDH_STATUS PdhMakeCounterPathW(PPDH_COUNTER_PATH_ELEMENTS_W parts, LPWSTR path, LPDWORD length,
                               DWORD flags)
{
    if (!parts)
        return (PDH_STATUS)PDH_INVALID_ARGUMENT;
    NARROW(machine, parts->szMachineName);
    NARROW(object, parts->szObjectName);
    NARROW(instance, parts->szInstanceName);
    NARROW(parent, parts->szParentInstance);
    NARROW(counter, parts->szCounterName);
    const struct pdh_path given = {.machine = machine.text,
                                   .object = object.text,
                                   .instance = instance.text,
                                   .parent = parent.text,
                                   .index = parts->dwInstanceIndex,
                                   .counter = counter.text};
    return make_path(&given, flags, OUT_W(path, length));
}

/* ---- parsing ---- */

/* Copies the parts into the structure of the A or W function; both have their pointers at the same
 * offsets. */
static PDH_STATUS copy_parts(const struct pdh_path *path, bool wide, void *parts, LPDWORD size)
{
    PDH_COUNTER_PATH_ELEMENTS_A given = {.dwInstanceIndex = path->index};
    struct pack pack;
    pack_begin(&pack, parts, *size, sizeof given, wide);
    given.szMachineName = pack_text(&pack, path->machine);
    given.szObjectName = pack_text(&pack, path->object);
    given.szInstanceName = pack_text(&pack, path->instance);
    given.szParentInstance = pack_text(&pack, path->parent);
    given.szCounterName = pack_text(&pack, path->counter);
    PDH_STATUS status = pack_end(&pack, size);
    if (!status)
        memcpy(parts, &given, sizeof given);
    return status;
}

static PDH_STATUS parse_path(const char *path, bool wide, void *parts, LPDWORD size, DWORD flags)
{
    PATH_AUTO found = {0};
    if (!path || !size || (*size && !parts))
        return (PDH_STATUS)PDH_INVALID_ARGUMENT;
    if (flags)
        return (PDH_STATUS)PDH_NOT_IMPLEMENTED; /* paths of WMI are not implemented */
    PDH_STATUS status = path_parse(path, &found);
    return status ? status : copy_parts(&found, wide, parts, size);
}

PDH_STATUS PdhParseCounterPathA(LPCSTR path, PPDH_COUNTER_PATH_ELEMENTS_A parts, LPDWORD size,
                                DWORD flags)
{
    return parse_path(path, false, parts, size, flags);
}

PDH_STATUS PdhParseCounterPathW(LPCWSTR path, PPDH_COUNTER_PATH_ELEMENTS_W parts, LPDWORD size,
                                DWORD flags)
{
    NARROW(text, path);
    return parse_path(text.text, true, parts, size, flags);
}

/* Copies a part of a path; a missing part is an empty text. */
static PDH_STATUS copy_part(const char *part, struct text_out out)
{
    BUFFER_AUTO text = {0};
    buffer_add_text(&text, part ? part : "");
    return copy_text(&text, out);
}

static PDH_STATUS parse_instance(const char *text, struct text_out instance, struct text_out parent,
                                 LPDWORD index)
{
    PATH_AUTO found = {0};
    if (!text || !out_valid(instance) || !out_valid(parent) || !index)
        return (PDH_STATUS)PDH_INVALID_ARGUMENT;
    PDH_STATUS status = path_parse_instance(text, &found);
    if (status)
        return status;
    *index = found.index == PATH_NO_INDEX ? 0 : found.index;
    status = copy_part(found.instance, instance);
    PDH_STATUS more = copy_part(found.parent, parent);
    return status ? status : more;
}

PDH_STATUS PdhParseInstanceNameA(LPCSTR text, LPSTR instance, LPDWORD instance_length, LPSTR parent,
                                 LPDWORD parent_length, LPDWORD index)
{
    return parse_instance(text, OUT_A(instance, instance_length), OUT_A(parent, parent_length),
                          index);
}

PDH_STATUS PdhParseInstanceNameW(LPCWSTR text, LPWSTR instance, LPDWORD instance_length,
                                 LPWSTR parent, LPDWORD parent_length, LPDWORD index)
{
    NARROW(whole, text);
    return parse_instance(whole.text, OUT_W(instance, instance_length),
                          OUT_W(parent, parent_length), index);
}

/* ---- validating ---- */

PDH_STATUS PdhValidatePathA(LPCSTR path)
{
    return path_validate(FROM_NAME(NULL), path);
}

PDH_STATUS PdhValidatePathW(LPCWSTR path)
{
    NARROW(text, path);
    return path_validate(FROM_NAME(NULL), text.text);
}

PDH_STATUS PdhValidatePathExA(PDH_HLOG source, LPCSTR path)
{
    return path_validate(FROM_LOG(source), path);
}

PDH_STATUS PdhValidatePathExW(PDH_HLOG source, LPCWSTR path)
{
    NARROW(text, path);
    return path_validate(FROM_LOG(source), text.text);
}

/* ---- expanding ---- */

static PDH_STATUS expand(struct pdh_from from, const char *path, DWORD flags, struct text_out out)
{
    BUFFER_AUTO list = {0};
    if (!path || !out_valid(out))
        return (PDH_STATUS)PDH_INVALID_ARGUMENT;
    PDH_STATUS status = expand_path(from, path, flags, &list);
    return status ? status : copy_list(&list, out);
}

PDH_STATUS PdhExpandCounterPathA(LPCSTR path, LPSTR list, LPDWORD length)
{
    return expand(FROM_NAME(NULL), path, 0, OUT_A(list, length));
}

PDH_STATUS PdhExpandCounterPathW(LPCWSTR path, LPWSTR list, LPDWORD length)
{
    NARROW(text, path);
    return expand(FROM_NAME(NULL), text.text, 0, OUT_W(list, length));
}

PDH_STATUS PdhExpandWildCardPathA(LPCSTR source, LPCSTR path, LPSTR list, LPDWORD length,
                                  DWORD flags)
{
    return expand(FROM_NAME(source), path, flags, OUT_A(list, length));
}

PDH_STATUS PdhExpandWildCardPathW(LPCWSTR source, LPCWSTR path, LPWSTR list, LPDWORD length,
                                  DWORD flags)
{
    NARROW(file, source);
    NARROW(text, path);
    return expand(FROM_NAME(file.text), text.text, flags, OUT_W(list, length));
}

PDH_STATUS PdhExpandWildCardPathHA(PDH_HLOG source, LPCSTR path, LPSTR list, LPDWORD length,
                                   DWORD flags)
{
    return expand(FROM_LOG(source), path, flags, OUT_A(list, length));
}

PDH_STATUS PdhExpandWildCardPathHW(PDH_HLOG source, LPCWSTR path, LPWSTR list, LPDWORD length,
                                   DWORD flags)
{
    NARROW(text, path);
    return expand(FROM_LOG(source), text.text, flags, OUT_W(list, length));
}
