/* SPDX-License-Identifier: MIT */
/*
 * Input: bytes of a kept list of names. If they are accepted, every search ends, and what it finds
 * is a text inside the bytes. The same bytes as a multi-string make a list whose names are found.
 */
#include "target.h"

#include "names/table.h"

#include <stdlib.h>
#include <string.h>

static bool find(void *self, uint32_t index, const char *text)
{
    uint32_t number;
    const char *found = name_list_text(self, index);
    if (!found || (index != NAMES_FIRST_PAIR && !name_list_numbers(self, found, &number, 1)))
        abort();
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static volatile size_t total;
    struct buffer bytes = {0};
    uint32_t number;
    buffer_add(&bytes, data, size);
    const struct name_list *list = name_list_of_bytes(&bytes);
    for (uint32_t index = 0; list && index < 16; index++) {
        const char *text = name_list_text(list, index);
        if (text)
            total = total + name_list_numbers(list, text, &number, 1);
    }
    name_list_drop(list);
    list = name_list_make((const char *)data, size);
    if (!list || !name_pairs_each((const char *)data, size, find, (void *)list))
        abort();
    name_list_drop(list);
    return 0;
}
