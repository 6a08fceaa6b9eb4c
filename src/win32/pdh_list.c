/* SPDX-License-Identifier: MIT */
/* The functions of pdh.h: machines, objects, counters, instances; defaults; numbers. */
#include "win32/pdh_text.h"

/* ---- machines ---- */

PDH_STATUS PdhConnectMachineA(LPCSTR machine)
{
    return connect_machine(machine);
}

PDH_STATUS PdhConnectMachineW(LPCWSTR machine)
{
    NARROW(name, machine);
    return connect_machine(name.text);
}

static PDH_STATUS enum_machines(struct pdh_from from, struct text_out out)
{
    BUFFER_AUTO list = {0};
    if (!out_valid(out))
        return (PDH_STATUS)PDH_INVALID_ARGUMENT;
    PDH_STATUS status = browse_machines(from, &list);
    return status ? status : copy_list(&list, out);
}

PDH_STATUS PdhEnumMachinesA(LPCSTR source, LPSTR list, LPDWORD length)
{
    return enum_machines(FROM_NAME(source), OUT_A(list, length));
}

PDH_STATUS PdhEnumMachinesW(LPCWSTR source, LPWSTR list, LPDWORD length)
{
    NARROW(file, source);
    return enum_machines(FROM_NAME(file.text), OUT_W(list, length));
}

PDH_STATUS PdhEnumMachinesHA(PDH_HLOG source, LPSTR list, LPDWORD length)
{
    return enum_machines(FROM_LOG(source), OUT_A(list, length));
}

PDH_STATUS PdhEnumMachinesHW(PDH_HLOG source, LPWSTR list, LPDWORD length)
{
    return enum_machines(FROM_LOG(source), OUT_W(list, length));
}

/* ---- objects ---- */

struct objects_request {
    struct pdh_from from;
    const char *machine;
    DWORD detail;
    BOOL refresh;
};

static PDH_STATUS enum_objects(const struct objects_request *request, struct text_out out)
{
    BUFFER_AUTO list = {0};
    if (!out_valid(out))
        return (PDH_STATUS)PDH_INVALID_ARGUMENT;
    PDH_STATUS status =
        browse_objects(request->from, request->machine, request->detail, request->refresh, &list);
    return status ? status : copy_list(&list, out);
}

PDH_STATUS PdhEnumObjectsA(LPCSTR source, LPCSTR machine, LPSTR list, LPDWORD length, DWORD detail,
                           BOOL refresh)
{
    const struct objects_request request = {FROM_NAME(source), machine, detail, refresh};
    return enum_objects(&request, OUT_A(list, length));
}

PDH_STATUS PdhEnumObjectsW(LPCWSTR source, LPCWSTR machine, LPWSTR list, LPDWORD length,
                           DWORD detail, BOOL refresh)
{
    NARROW(file, source);
    NARROW(host, machine);
    const struct objects_request request = {FROM_NAME(file.text), host.text, detail, refresh};
    return enum_objects(&request, OUT_W(list, length));
}

PDH_STATUS PdhEnumObjectsHA(PDH_HLOG source, LPCSTR machine, LPSTR list, LPDWORD length,
                            DWORD detail, BOOL refresh)
{
    const struct objects_request request = {FROM_LOG(source), machine, detail, refresh};
    return enum_objects(&request, OUT_A(list, length));
}

PDH_STATUS PdhEnumObjectsHW(PDH_HLOG source, LPCWSTR machine, LPWSTR list, LPDWORD length,
                            DWORD detail, BOOL refresh)
{
    NARROW(host, machine);
    const struct objects_request request = {FROM_LOG(source), host.text, detail, refresh};
    return enum_objects(&request, OUT_W(list, length));
}

/* ---- counters and instances of an object ---- */

struct items_request {
    struct pdh_from from;
    const char *machine, *object;
    DWORD detail, flags;
};

static PDH_STATUS copy_instances(bool single, const struct buffer *list, struct text_out out)
{
    if (!single)
        return copy_list(list, out);
    *out.length = 0;
    return 0;
}

static PDH_STATUS enum_items(const struct items_request *request, struct text_out counters,
                             struct text_out instances)
{
    BUFFER_AUTO counter_list = {0};
    BUFFER_AUTO instance_list = {0};
    bool single = false;
    if (!out_valid(counters) || !out_valid(instances) || !request->object || request->flags)
        return (PDH_STATUS)PDH_INVALID_ARGUMENT;
    PDH_STATUS status = browse_items(request->from, request->machine, request->object,
                                     request->detail, &counter_list, &instance_list, &single);
    if (status)
        return status;
    status = copy_list(&counter_list, counters);
    PDH_STATUS more = copy_instances(single, &instance_list, instances);
    return status ? status : more;
}

PDH_STATUS PdhEnumObjectItemsA(LPCSTR source, LPCSTR machine, LPCSTR object, LPSTR counters,
                               LPDWORD counters_length, LPSTR instances, LPDWORD instances_length,
                               DWORD detail, DWORD flags)
{
    const struct items_request request = {FROM_NAME(source), machine, object, detail, flags};
    return enum_items(&request, OUT_A(counters, counters_length),
                      OUT_A(instances, instances_length));
}

PDH_STATUS PdhEnumObjectItemsW(LPCWSTR source, LPCWSTR machine, LPCWSTR object, LPWSTR counters,
                               LPDWORD counters_length, LPWSTR instances, LPDWORD instances_length,
                               DWORD detail, DWORD flags)
{
    NARROW(file, source);
    NARROW(host, machine);
    NARROW(name, object);
    const struct items_request request = {FROM_NAME(file.text), host.text, name.text, detail,
                                          flags};
    return enum_items(&request, OUT_W(counters, counters_length),
                      OUT_W(instances, instances_length));
}

PDH_STATUS PdhEnumObjectItemsHA(PDH_HLOG source, LPCSTR machine, LPCSTR object, LPSTR counters,
                                LPDWORD counters_length, LPSTR instances, LPDWORD instances_length,
                                DWORD detail, DWORD flags)
{
    const struct items_request request = {FROM_LOG(source), machine, object, detail, flags};
    return enum_items(&request, OUT_A(counters, counters_length),
                      OUT_A(instances, instances_length));
}

PDH_STATUS PdhEnumObjectItemsHW(PDH_HLOG source, LPCWSTR machine, LPCWSTR object, LPWSTR counters,
                                LPDWORD counters_length, LPWSTR instances, LPDWORD instances_length,
                                DWORD detail, DWORD flags)
{
    NARROW(host, machine);
    NARROW(name, object);
    const struct items_request request = {FROM_LOG(source), host.text, name.text, detail, flags};
    return enum_items(&request, OUT_W(counters, counters_length),
                      OUT_W(instances, instances_length));
}

/* ---- defaults ---- */

static PDH_STATUS default_object(struct pdh_from from, const char *machine, struct text_out out)
{
    BUFFER_AUTO name = {0};
    if (!out_valid(out))
        return (PDH_STATUS)PDH_INVALID_ARGUMENT;
    PDH_STATUS status = browse_default_object(from, machine, &name);
    return status ? status : copy_text(&name, out);
}

PDH_STATUS PdhGetDefaultPerfObjectA(LPCSTR source, LPCSTR machine, LPSTR name, LPDWORD length)
{
    return default_object(FROM_NAME(source), machine, OUT_A(name, length));
}

PDH_STATUS PdhGetDefaultPerfObjectW(LPCWSTR source, LPCWSTR machine, LPWSTR name, LPDWORD length)
{
    NARROW(file, source);
    NARROW(host, machine);
    return default_object(FROM_NAME(file.text), host.text, OUT_W(name, length));
}

PDH_STATUS PdhGetDefaultPerfObjectHA(PDH_HLOG source, LPCSTR machine, LPSTR name, LPDWORD length)
{
    return default_object(FROM_LOG(source), machine, OUT_A(name, length));
}

PDH_STATUS PdhGetDefaultPerfObjectHW(PDH_HLOG source, LPCWSTR machine, LPWSTR name, LPDWORD length)
{
    NARROW(host, machine);
    return default_object(FROM_LOG(source), host.text, OUT_W(name, length));
}

static PDH_STATUS default_counter(struct pdh_from from, const char *machine, const char *object,
                                  struct text_out out)
{
    BUFFER_AUTO name = {0};
    if (!out_valid(out) || !object)
        return (PDH_STATUS)PDH_INVALID_ARGUMENT;
    PDH_STATUS status = browse_default_counter(from, machine, object, &name);
    return status ? status : copy_text(&name, out);
}

PDH_STATUS PdhGetDefaultPerfCounterA(LPCSTR source, LPCSTR machine, LPCSTR object, LPSTR name,
                                     LPDWORD length)
{
    return default_counter(FROM_NAME(source), machine, object, OUT_A(name, length));
}

PDH_STATUS PdhGetDefaultPerfCounterW(LPCWSTR source, LPCWSTR machine, LPCWSTR object, LPWSTR name,
                                     LPDWORD length)
{
    NARROW(file, source);
    NARROW(host, machine);
    NARROW(of, object);
    return default_counter(FROM_NAME(file.text), host.text, of.text, OUT_W(name, length));
}

PDH_STATUS PdhGetDefaultPerfCounterHA(PDH_HLOG source, LPCSTR machine, LPCSTR object, LPSTR name,
                                      LPDWORD length)
{
    return default_counter(FROM_LOG(source), machine, object, OUT_A(name, length));
}

PDH_STATUS PdhGetDefaultPerfCounterHW(PDH_HLOG source, LPCWSTR machine, LPCWSTR object, LPWSTR name,
                                      LPDWORD length)
{
    NARROW(host, machine);
    NARROW(of, object);
    return default_counter(FROM_LOG(source), host.text, of.text, OUT_W(name, length));
}

/* ---- numbers and titles ---- */

/* Returns the name of an index. The name of index 0 is empty: *length becomes 1, and if there is
 * space, the empty text is written. (docs/windows/pdh.md#f9) */
static PDH_STATUS name_of_index(const char *machine, DWORD index, struct text_out out)
{
    BUFFER_AUTO name = {0};
    if (!out.length || (!out.text && *out.length && index))
        return (PDH_STATUS)PDH_INVALID_ARGUMENT;
    if (index == 0 && (!out.text || !*out.length)) {
        *out.length = 1;
        return 0;
    }
    if (index == 0)
        return copy_text(&name, out);
    PDH_STATUS status = lookup_name(machine, index, &name);
    return status ? status : copy_text(&name, out);
}

PDH_STATUS PdhLookupPerfNameByIndexA(LPCSTR machine, DWORD index, LPSTR name, LPDWORD length)
{
    return name_of_index(machine, index, OUT_A(name, length));
}

PDH_STATUS PdhLookupPerfNameByIndexW(LPCWSTR machine, DWORD index, LPWSTR name, LPDWORD length)
{
    NARROW(host, machine);
    return name_of_index(host.text, index, OUT_W(name, length));
}

PDH_STATUS PdhLookupPerfIndexByNameA(LPCSTR machine, LPCSTR name, LPDWORD index)
{
    if (!name || !index)
        return (PDH_STATUS)PDH_INVALID_ARGUMENT;
    return lookup_index(machine, name, index);
}

PDH_STATUS PdhLookupPerfIndexByNameW(LPCWSTR machine, LPCWSTR name, LPDWORD index)
{
    NARROW(host, machine);
    NARROW(title, name);
    return PdhLookupPerfIndexByNameA(host.text, title.text, index);
}
