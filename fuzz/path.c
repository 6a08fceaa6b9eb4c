/* SPDX-License-Identifier: MIT */
/* Input: a path. If its parts are composed again, the result must be parsed to the same parts and
 * match itself. */
#include "target.h"

#include "pdh/pdh.h"

#include <stdlib.h>
#include <string.h>

static void demand(bool truth)
{
    if (!truth)
        abort();
}

static bool same(const char *left, const char *right)
{
    return left && right ? !strcmp(left, right) : left == right;
}

static void demand_same(const struct pdh_path *left, const struct pdh_path *right)
{
    demand(same(left->machine, right->machine) && same(left->object, right->object));
    demand(same(left->parent, right->parent) && same(left->instance, right->instance));
    demand(same(left->stem, right->stem) && same(left->counter, right->counter));
    demand(left->index == right->index && left->any_index == right->any_index);
}

/* A path in the syntax for shells may have backslashes where one in Windows' syntax must not. */
static bool has_backslash(const struct pdh_path *path)
{
    return strchr(path->object, '\\') || (path->machine && strchr(path->machine + 2, '\\')) ||
           strstr(path->counter, ")\\");
}

/* Is the name "a#2"? The path "a#2#0", its first instance, is composed without "#0", and so becomes
 * another path. */
static bool name_has_index(const struct pdh_path *path)
{
    const char *hash = path->stem ? strrchr(path->stem, '#') : NULL;
    return hash && (!strcmp(hash, "#*") || hash[1 + strspn(hash + 1, "0123456789")] == '\0');
}

static void again(const struct pdh_path *path)
{
    BUFFER_AUTO text = {0};
    PATH_AUTO second = {0};
    demand(!path_make(path, &text));
    /* path_parse refuses a path that became too long: a number may be written longer than it was */
    if (has_backslash(path) || name_has_index(path) || path_parse(text.data, &second))
        return;
    demand_same(path, &second);
}

static void instance(const char *text)
{
    PATH_AUTO path = {0};
    PDH_STATUS status = path_parse_instance(text, &path);
    demand(!status || (DWORD)status == PDH_INVALID_INSTANCE);
    if (status)
        return;
    uint32_t number = path.index == PATH_NO_INDEX ? 0 : path.index;
    demand(path_match_instance(&path, path.parent, path.instance, number));
    demand(path_match_instance(&path, NULL, path.whole, 0) || path.any_index);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    PATH_AUTO path = {0};
    FREE_AUTO char *text = malloc(size + 1);
    demand(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    demand(text_match(text, text) && text_match("*", text));
    instance(text);
    PDH_STATUS status = path_parse(text, &path);
    if (!status)
        again(&path);
    else
        demand((DWORD)status == (*text ? PDH_CSTATUS_BAD_COUNTERNAME : PDH_CSTATUS_NO_COUNTERNAME));
    return 0;
}
