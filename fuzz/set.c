/* SPDX-License-Identifier: MIT */
/*
 * Input: bytes of the XML file of a set. If it is one, it can be printed, the result is read as the
 * same set, and printing that changes nothing.
 */
#include "target.h"

#include "../tools/logman/set.h"

#include <stdlib.h>
#include <string.h>

static void demand(bool truth)
{
    if (!truth)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char why[SET_WHY];
    size_t first_size, second_size;
    struct set *set = set_parse("fuzz", data, size, why);
    demand(set || *why);
    if (!set)
        return 0;
    char *first = set_print(set, &first_size);
    set_free(set);
    demand(first || size > SET_FILE_MOST / 16); /* indented, it may be too large */
    set = first ? set_parse("fuzz", first, first_size, why) : NULL;
    char *second = set ? set_print(set, &second_size) : NULL;
    demand(!first || (second && first_size == second_size && !memcmp(first, second, first_size)));
    set_free(set);
    free(first);
    free(second);
    return 0;
}
