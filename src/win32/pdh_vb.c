/* SPDX-License-Identifier: MIT */
/* The functions of pdh.h with the simple signatures that Visual Basic can call: ANSI text, no
 * structures. (docs/windows/pdh.md#f2) */
#include "win32/pdh_text.h"

#include <string.h>

PDH_STATUS PdhVbOpenQuery(PDH_HQUERY *query)
{
    return query_open(FROM_NAME(NULL), 0, query);
}

PDH_STATUS PdhVbAddCounter(PDH_HQUERY query, LPCSTR path, PDH_HCOUNTER *counter)
{
    return counter_add(query, path, false, 0, counter);
}

/* Returns 0 if there is no value; then *counter_status is the value's status, or the call's if the
 * counter was not found. */
double PdhVbGetDoubleCounterValue(PDH_HCOUNTER counter, LPDWORD counter_status)
{
    PDH_FMT_COUNTERVALUE value = {0};
    PDH_STATUS status = counter_value(counter, PDH_FMT_DOUBLE, NULL, &value);
    if (counter_status)
        *counter_status = value.CStatus || !status ? value.CStatus : (DWORD)status;
    return status ? 0 : value.doubleValue;
}

DWORD PdhVbIsGoodStatus(PDH_STATUS status)
{
    return status >= 0;
}

/* ---- parts of a path ---- */

enum { MACHINE, OBJECT, INSTANCE, PARENT, COUNTER, PARTS };

static PDH_STATUS copy_parts(const struct pdh_path *path, LPSTR const *ret, DWORD size)
{
    const char *parts[PARTS] = {path->machine, path->object, path->instance, path->parent,
                                path->counter};
    for (size_t i = 0; i < PARTS; i++)
        if (parts[i] && strlen(parts[i]) >= size)
            return (PDH_STATUS)PDH_MORE_DATA;
    for (size_t i = 0; i < PARTS; i++)
        strcpy(ret[i], parts[i] ? parts[i] : "");
    return 0;
}

PDH_STATUS PdhVbGetCounterPathElements(LPCSTR path, LPSTR machine, LPSTR object, LPSTR instance,
                                       LPSTR parent, LPSTR counter, DWORD size)
{
    PATH_AUTO found = {0};
    const LPSTR parts[PARTS] = {machine, object, instance, parent, counter};
    if (!path || !size || !machine || !object || !instance || !parent || !counter)
        return (PDH_STATUS)PDH_INVALID_ARGUMENT;
    PDH_STATUS status = path_parse(path, &found);
    return status ? status : copy_parts(&found, parts, size);
}

/* ---- captures ---- */

PDH_STATUS PdhVbOpenLog(LPCSTR file, DWORD access, LPDWORD type, PDH_HQUERY query, DWORD max_size,
                        LPCSTR caption, PDH_HLOG *log)
{
    const struct capture_options options = {file, caption, access, max_size, query};
    return capture_open(&options, type, log);
}

PDH_STATUS PdhVbUpdateLog(PDH_HLOG log, LPCSTR user_string)
{
    return capture_update(log, user_string);
}

/* Fails for sizes above 2 GiB, which do not fit into a Long of Visual Basic. */
PDH_STATUS PdhVbGetLogFileSize(PDH_HLOG log, LONG *size)
{
    LONGLONG bytes;
    if (!size)
        return (PDH_STATUS)PDH_INVALID_ARGUMENT;
    PDH_STATUS status = capture_size(log, &bytes);
    if (!status && bytes > INT32_MAX)
        return (PDH_STATUS)PDH_INSUFFICIENT_BUFFER;
    if (!status)
        *size = (LONG)bytes;
    return status;
}
