/* SPDX-License-Identifier: MIT */
/* The list is not trusted: it may end anywhere. */
#include "base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRIES = 8 };

/* Names may be registered between two queries, so the size is only an estimate. */
LSTATUS base_read(struct base *base, HKEY data, const char *language)
{
    char query[32];
    snprintf(query, sizeof query, "Counter %s", language);
    for (int i = 0; i < TRIES; i++) {
        DWORD size = 0;
        LSTATUS status = RegQueryValueExA(data, query, NULL, NULL, NULL, &size);
        if (status && status != ERROR_MORE_DATA)
            return status;
        char *text = malloc((size_t)size + 1);
        if (!text)
            return ERROR_NOT_ENOUGH_MEMORY;
        status = RegQueryValueExA(data, query, NULL, NULL, (BYTE *)text, &size);
        if (status == ERROR_SUCCESS) {
            text[size] = 0;
            *base = (struct base){text, size};
            return ERROR_SUCCESS;
        }
        free(text);
        if (status != ERROR_MORE_DATA)
            return status;
    }
    return ERROR_MORE_DATA;
}

bool base_next(const struct base *base, struct base_title *title)
{
    const char *number = title->next ? title->next : base->text, *end = base->text + base->size;
    if (number >= end || !*number)
        return false;
    const char *text = number + strlen(number) + 1;
    if (text >= end)
        return false;
    *title =
        (struct base_title){(uint32_t)strtoul(number, NULL, 10), text, text + strlen(text) + 1};
    return true;
}
