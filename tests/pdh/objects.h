/* SPDX-License-Identifier: MIT */
/* Reads objects from a data source that is opened only for this call. */
#ifndef TEST_PDH_OBJECTS_H
#define TEST_PDH_OBJECTS_H

#include "pdh/source.h"

static inline PDH_STATUS source_object(struct pdh_from from, const char *machine, const char *name,
                                       bool english, enum info_age age, struct object_info **ret)
{
    SOURCE_AUTO *source = NULL;
    PDH_STATUS status = source_open(from, SOURCE_NAMES, &source);
    return status ? status : source->ops->object(source, machine, name, english, age, ret);
}

static inline PDH_STATUS source_objects(struct pdh_from from, const char *machine,
                                        enum info_age age, struct object_infos *ret)
{
    SOURCE_AUTO *source = NULL;
    PDH_STATUS status = source_open(from, SOURCE_NAMES, &source);
    return status ? status : source->ops->objects(source, machine, age, ret);
}

#endif
