/* SPDX-License-Identifier: MIT */
/* One query of HKEY_PERFORMANCE_DATA, for the functions that are based on counters. */
#include "counters.h"

#include <stdlib.h>
#include <string.h>

DWORD opl_shim_query(const char *query, opl_block *ret, void **ret_data)
{
    enum { FIRST_SIZE = 256 << 10, MOST_SIZE = 256 << 20 };
    LSTATUS status = ERROR_MORE_DATA;
    void *data = NULL;
    DWORD size = 0;
    for (DWORD capacity = FIRST_SIZE; status == ERROR_MORE_DATA && capacity <= MOST_SIZE;
         capacity *= 2) {
        free(data);
        data = malloc(capacity);
        size = capacity;
        status = data ? RegQueryValueExA(HKEY_PERFORMANCE_DATA, query, NULL, NULL, data, &size)
                      : ERROR_NOT_ENOUGH_MEMORY;
    }
    if (!status && opl_block_init(ret, data, size) != OPL_BLOCK_GOOD)
        status = ERROR_INVALID_DATA;
    if (status) {
        free(data);
        data = NULL;
    }
    *ret_data = data;
    return (DWORD)status;
}

void opl_shim_counters(opl_block *block, const opl_object_view *object, const DWORD *titles,
                       size_t count, opl_counter_view *ret)
{
    opl_counter_view view = {0};
    memset(ret, 0, count * sizeof *ret);
    while (opl_object_next_counter(block, object, &view))
        for (size_t i = 0; i < count; i++)
            if (view.definition.CounterNameTitleIndex == titles[i])
                ret[i] = view;
}

bool opl_shim_number(const opl_block *block, const opl_instance_view *instance,
                     const opl_counter_view *counter, uint64_t *ret)
{
    *ret = 0;
    return counter->definition.ByteLength && opl_counter_number(block, instance, counter, ret);
}
