/* SPDX-License-Identifier: MIT */
/* Compares what must be the same in two answers to one query, the older one first: definitions, and
 * the UniqueID of an instance. */
#include "check.h"

#include <inttypes.h>
#include <string.h>

enum { NAME_SIZE = 256 };

struct versions {
    struct check_answer *before, *now;
    opl_object_view old, new;
    struct report *report;
};

static struct place object_place(const struct versions *versions)
{
    return (struct place){versions->new.type.ObjectNameTitleIndex, 0, NULL};
}

/* ---- definitions ---- */

static void compare_number(const struct versions *versions, const struct place *place,
                           const char *field, uint32_t before, uint32_t now)
{
    if (before != now)
        report_add(versions->report, WARNING, place, field, IN_COUNTERS,
                   "the same in each answer: programs may read the definitions only once",
                   "%" PRIu32 " after %" PRIu32, now, before);
}

static const char *type_name(DWORD type)
{
    opl_type_info info;
    opl_type_describe(type, &info);
    return info.name ? info.name : "an unknown type";
}

/* Compares the definitions at one position. False: they define different counters. */
static bool compare_definition(const struct versions *versions,
                               const PERF_COUNTER_DEFINITION *before,
                               const PERF_COUNTER_DEFINITION *now)
{
    struct place place = object_place(versions);
    place.counter = now->CounterNameTitleIndex;
    if (before->CounterNameTitleIndex != now->CounterNameTitleIndex) {
        place.counter = 0; /* so that there is one finding, whichever counters were exchanged */
        compare_number(versions, &place, "CounterNameTitleIndex", before->CounterNameTitleIndex,
                       now->CounterNameTitleIndex);
        return false;
    }
    if (before->CounterType != now->CounterType)
        report_add(versions->report, MISTAKE, &place, "CounterType", IN_COUNTERS,
                   "the same in each answer: a rate needs two values of one type", "%s after %s",
                   type_name(now->CounterType), type_name(before->CounterType));
    compare_number(versions, &place, "CounterOffset", before->CounterOffset, now->CounterOffset);
    compare_number(versions, &place, "CounterSize", before->CounterSize, now->CounterSize);
    return true;
}

static void compare_definitions(const struct versions *versions)
{
    const PERF_OBJECT_TYPE *before = &versions->old.type, *now = &versions->new.type;
    struct place place = object_place(versions);
    opl_counter_view first = {0}, second = {0};
    compare_number(versions, &place, "NumCounters", before->NumCounters, now->NumCounters);
    while (opl_object_next_counter(&versions->before->block, &versions->old, &first) &&
           opl_object_next_counter(&versions->now->block, &versions->new, &second))
        if (!compare_definition(versions, &first.definition, &second.definition))
            return;
}

/* ---- the UniqueID of an instance ---- */

/* Reads the instance's text name, although it has a UniqueID. */
static void read_name(const opl_block *block, const opl_object_view *object,
                      opl_instance_view instance, char name[NAME_SIZE])
{
    instance.definition.UniqueID = PERF_NO_UNIQUE_ID;
    opl_instance_name(block, object, &instance, name, NAME_SIZE);
}

/* True if both are instances with the same name and parent, and with UniqueIDs. */
static bool same_instance(const struct versions *versions, const opl_instance_view *old,
                          const opl_instance_view *new, char name[NAME_SIZE])
{
    char old_name[NAME_SIZE];
    if (old->definition.UniqueID == PERF_NO_UNIQUE_ID ||
        new->definition.UniqueID == PERF_NO_UNIQUE_ID || !new->definition.NameLength ||
        old->definition.ParentObjectTitleIndex != new->definition.ParentObjectTitleIndex ||
        old->definition.ParentObjectInstance != new->definition.ParentObjectInstance)
        return false;
    read_name(&versions->before->block, &versions->old, *old, old_name);
    read_name(&versions->now->block, &versions->new, *new, name);
    return *name && strcmp(old_name, name) == 0;
}

/* Reports UniqueIDs if those of all instances with unchanged names have changed. If some are the
 * same, the changed ones may belong to new things with an old name. */
static void compare_ids(const struct versions *versions)
{
    opl_instance_view old = {0}, new = {0};
    char name[NAME_SIZE], changed[NAME_SIZE] = "";
    int32_t before = 0, now = 0;
    if (versions->new.type.NumInstances <= 0)
        return;
    while (opl_object_next_instance(&versions->before->block, &versions->old, &old) &&
           opl_object_next_instance(&versions->now->block, &versions->new, &new)) {
        if (!same_instance(versions, &old, &new, name))
            continue;
        before = old.definition.UniqueID;
        now = new.definition.UniqueID;
        if (before == now)
            return;
        strcpy(changed, name);
    }
    struct place place = object_place(versions);
    place.instance = changed;
    if (*changed)
        report_add(versions->report, MISTAKE, &place, CHANGED_ID, IN_INSTANCES,
                   "the same in each answer, as long as the instance exists",
                   "%" PRId32 " after %" PRId32, now, before);
}

void constants_compare(struct check_answer *before, struct check_answer *now, struct report *report)
{
    struct versions versions = {.before = before, .now = now, .report = report};
    while (opl_block_next_object(&now->block, &versions.new))
        if (opl_block_find_object(&before->block, versions.new.type.ObjectNameTitleIndex,
                                  &versions.old)) {
            compare_definitions(&versions);
            compare_ids(&versions);
        }
}
