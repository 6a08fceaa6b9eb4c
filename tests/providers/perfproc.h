/* SPDX-License-Identifier: MIT */
/* Declares the three functions of perfproc.so, which is linked into the test. */
#ifndef OPL_TEST_PERFPROC_H
#define OPL_TEST_PERFPROC_H

#include "tree.h"

PM_OPEN_PROC OpenSysProcessObject;
PM_COLLECT_PROC CollectSysProcessObjectData;
PM_CLOSE_PROC CloseSysProcessObject;

static inline struct answer run_query(const char16_t *query)
{
    return query_function(CollectSysProcessObjectData, query, ANSWER_SIZE);
}

/* Finds the instance of Process with this process number. */
static inline bool process_with_id(struct answer *answer, uint64_t id, opl_object_view *object,
                                   opl_instance_view *instance)
{
    memset(instance, 0, sizeof *instance);
    if (!answer_object(answer, 230, object))
        return false;
    while (opl_object_next_instance(&answer->block, object, instance))
        if (value_at(answer, object, instance, 784) == id && instance->position > 0)
            return true;
    return false;
}

/* Returns a value of a process. Input and output are taken from Process IO: the object Process has
 * them only if the user may read them of every process, which in some containers not even root
 * may. */
static inline uint64_t process_value(struct answer *answer, uint64_t id, DWORD index)
{
    opl_object_view object;
    opl_instance_view instance = {0};
    bool is_io = (index >= 1412 && index <= 1424) || (index > 101800 && index < 101900);
    if (is_io && answer_object(answer, 101800, &object)) {
        while (opl_object_next_instance(&answer->block, &object, &instance))
            if (value_at(answer, &object, &instance, 784) == id)
                return value_at(answer, &object, &instance, index);
        fail_msg("no process %u in Process IO", (unsigned)id);
    }
    if (!process_with_id(answer, id, &object, &instance))
        fail_msg("no process %u", (unsigned)id);
    return value_at(answer, &object, &instance, index);
}

#endif
