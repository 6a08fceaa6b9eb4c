/* SPDX-License-Identifier: MIT */
/* Converts the names of W functions to UTF-8. */
#include "win32/text.h"

#include <stdlib.h>

void name_done(struct name *name)
{
    free(name->large);
}

LSTATUS narrow(LPCWSTR wide, struct name *ret)
{
    ret->text = NULL;
    ret->large = NULL;
    if (!wide)
        return ERROR_SUCCESS;
    size_t count = utf16_length(wide);
    char *storage = ret->small;
    size_t need = utf16_to_8(wide, count, storage, sizeof ret->small - 1);
    if (need >= sizeof ret->small) {
        storage = ret->large = malloc(need + 1);
        if (!storage)
            return ERROR_NOT_ENOUGH_MEMORY;
        utf16_to_8(wide, count, storage, need);
    }
    storage[need] = 0;
    ret->text = storage;
    return ERROR_SUCCESS;
}
