/* SPDX-License-Identifier: MIT */
/*
 * Compares the present headers with version 1 of the interface to provider libraries, which
 * version1.h repeats. If this file does not compile, existing libraries would be read wrongly: undo
 * the change of the header. A new member may take the place of a reserved member (then change it
 * here, too), or follow the last member of version 1. In structures with such new members, compare
 * only the lengths of version 1 here.
 */
#include <openperflib/object.h>

#include "version1.h"

#define SAME_SIZE(now, then) _Static_assert(sizeof(now) == sizeof(struct then), #then)
#define SAME(now, then, member)                                                                    \
    _Static_assert(offsetof(now, member) == offsetof(struct then, member) &&                       \
                       sizeof(((now *)0)->member) == sizeof(((struct then *)0)->member),           \
                   #then "." #member)

SAME_SIZE(opl_source, v1_source);
SAME(opl_source, v1_source, path);
SAME(opl_source, v1_source, stat);
SAME(opl_source, v1_source, persistent);
SAME(opl_source, v1_source, pairs);
SAME(opl_source, v1_source, if_source);
SAME(opl_source, v1_source, if_word);
SAME(opl_source, v1_source, watched);
SAME(opl_source, v1_source, pieces);
SAME(opl_source, v1_source, reserved);

SAME_SIZE(opl_unit, v1_unit);
SAME(opl_unit, v1_unit, times);
SAME(opl_unit, v1_unit, parts);

SAME_SIZE(opl_value, v1_value);
SAME(opl_value, v1_value, source);
SAME(opl_value, v1_value, key);
SAME(opl_value, v1_value, column);
SAME(opl_value, v1_value, plus);
SAME(opl_value, v1_value, unit);
SAME(opl_value, v1_value, function);
SAME(opl_value, v1_value, variable);
SAME(opl_value, v1_value, offset);
SAME(opl_value, v1_value, size);

SAME_SIZE(opl_counter, v1_counter);
SAME(opl_counter, v1_counter, index);
SAME(opl_counter, v1_counter, help_index);
SAME(opl_counter, v1_counter, type);
SAME(opl_counter, v1_counter, scale);
SAME(opl_counter, v1_counter, level);
SAME(opl_counter, v1_counter, value);
SAME(opl_counter, v1_counter, base);
SAME(opl_counter, v1_counter, total);
SAME(opl_counter, v1_counter, name);
SAME(opl_counter, v1_counter, help);
SAME(opl_counter, v1_counter, where);
SAME(opl_counter, v1_counter, item);
SAME(opl_counter, v1_counter, if_source);
SAME(opl_counter, v1_counter, if_word);
SAME(opl_counter, v1_counter, reserved);

SAME_SIZE(opl_lines, v1_lines);
SAME(opl_lines, v1_lines, source);
SAME(opl_lines, v1_lines, prefix);
SAME(opl_lines, v1_lines, name);
SAME(opl_lines, v1_lines, skip);

SAME_SIZE(opl_object, v1_object);
SAME(opl_object, v1_object, index);
SAME(opl_object, v1_object, help_index);
SAME(opl_object, v1_object, name);
SAME(opl_object, v1_object, help);
SAME(opl_object, v1_object, counters);
SAME(opl_object, v1_object, counter_count);
SAME(opl_object, v1_object, default_counter);
SAME(opl_object, v1_object, clock);
SAME(opl_object, v1_object, costly);
SAME(opl_object, v1_object, related);
SAME(opl_object, v1_object, instances);
SAME(opl_object, v1_object, total);
SAME(opl_object, v1_object, lines);
SAME(opl_object, v1_object, list);
SAME(opl_object, v1_object, listed_with);
SAME(opl_object, v1_object, needs);
SAME(opl_object, v1_object, only_with_instances);
SAME(opl_object, v1_object, known_only);
SAME(opl_object, v1_object, rows_as);
SAME(opl_object, v1_object, reserved);

SAME_SIZE(opl_table_list, v1_table_list);
SAME(opl_table_list, v1_table_list, size);
SAME(opl_table_list, v1_table_list, object_size);
SAME(opl_table_list, v1_table_list, counter_size);
SAME(opl_table_list, v1_table_list, flags);
SAME(opl_table_list, v1_table_list, objects);
SAME(opl_table_list, v1_table_list, count);
SAME(opl_table_list, v1_table_list, service);
SAME(opl_table_list, v1_table_list, procedures);
SAME(opl_table_list, v1_table_list, begin);
SAME(opl_table_list, v1_table_list, reserved);

_Static_assert(OPL_SUM == 0 && OPL_MEAN == 1 && OPL_NONE == 2 && OPL_NOW == 3, "totals");
_Static_assert(OPL_RUNTIME_PAGE == -1 && OPL_RUNTIME_HZ == -2, "units");

/* The sizes on 64-bit machines as plain numbers: if the same change is made in the present
 * headers and in version1.h, the comparisons above still succeed, but this one fails. */
_Static_assert(sizeof(void *) != 8 || (sizeof(opl_unit) == 16 && sizeof(opl_value) == 72 &&
                                       sizeof(opl_source) == 64 && sizeof(opl_counter) == 320 &&
                                       sizeof(opl_object) == 200 && sizeof(opl_table_list) == 104),
               "64 bits");
