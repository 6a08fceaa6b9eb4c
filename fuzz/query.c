/* SPDX-License-Identifier: MIT */
/* Input: a query. The limits must hold, pointers must point inside the text, and the text of the
 * parsed query must be parsed to the same query. */
#include "target.h"

#include "query/query.h"

#include <stdlib.h>
#include <string.h>

static void demand(bool truth)
{
    if (!truth)
        abort();
}

static bool same(const struct query *left, const struct query *right)
{
    return left->kind == right->kind && left->language == right->language &&
           left->object_count == right->object_count &&
           left->machine_count == right->machine_count &&
           !memcmp(left->objects, right->objects, left->object_count * sizeof left->objects[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct query query, again;
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    LSTATUS status = query_parse(text, &query);
    bool is_text = query_text_kind(text) != QUERY_NOTHING;
    free(text);
    demand(status == ERROR_SUCCESS || status == ERROR_INVALID_PARAMETER);
    if (status != ERROR_SUCCESS)
        return 0;
    const char *end = query.storage + sizeof query.storage;
    demand(query.text >= query.storage && query.text + strlen(query.text) < end);
    demand(query.object_count <= LIMIT_QUERY_OBJECTS);
    demand(is_text == (query.kind == QUERY_NAMES || query.kind == QUERY_HELPS));
    demand(!query.machine_count ||
           (query.machine >= query.text && query.machine + query.machine_count <= end));
    demand(query_parse(query.text, &again) == ERROR_SUCCESS && same(&query, &again));
    demand(strcmp(query.text, again.text) == 0);
    return 0;
}
