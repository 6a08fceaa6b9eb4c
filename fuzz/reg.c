/* SPDX-License-Identifier: MIT */
/*
 * Input: bytes of a .reg file, with and without a required header. Entries must be well-formed.
 * Printed again, they must be parsed without damage and printed identically.
 */
#include "target.h"

#include "registry/store/hive.h"

#include <stdlib.h>
#include <string.h>

static void demand(bool truth)
{
    if (!truth)
        abort();
}

struct reading {
    struct tree_key *root;
    size_t damaged;
};

static bool is_text(const char *text)
{
    return text && utf8_valid(text, strlen(text));
}

static bool take(void *self, const opl_reg_entry *entry)
{
    struct reading *reading = self;
    struct tree_key *key;
    demand(entry->line && entry->name && entry->key);
    if (entry->kind == OPL_REG_DAMAGED) {
        reading->damaged++;
        demand(entry->why && *entry->why);
        return true;
    }
    if (entry->kind == OPL_REG_COMMENT)
        return true;
    demand(is_text(entry->key) && is_text(entry->name));
    if (entry->kind == OPL_REG_DELETE_KEY)
        return tree_write_key_tombstone(reading->root, entry->key);
    key = tree_make(reading->root, entry->key, true);
    if (entry->kind == OPL_REG_DELETE_VALUE)
        return tree_write_tombstone(key, entry->name);
    return entry->kind == OPL_REG_KEY ||
           tree_set(key, entry->name, entry->type, entry->data, entry->size);
}

static void print_and_read_again(const struct tree_key *root)
{
    BUFFER_AUTO first = {0};
    BUFFER_AUTO second = {0};
    struct reading again = {.root = tree_new()};
    demand(hive_print(&first, root, NULL));
    demand(opl_reg_read(first.data, first.len, OPL_REG_STRICT_HEADER, take, &again) == 0);
    demand(again.damaged == 0);
    demand(hive_print(&second, again.root, NULL));
    demand(first.len == second.len && !memcmp(first.data, second.data, first.len));
    tree_free(again.root);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const unsigned flags[] = {0, OPL_REG_STRICT_HEADER | OPL_REG_ONE_ENCODING};
    for (size_t i = 0; i < COUNT(flags); i++) {
        struct reading reading = {.root = tree_new()};
        LSTATUS status = opl_reg_read(data, size, flags[i], take, &reading);
        demand(status == ERROR_SUCCESS || (flags[i] && status == ERROR_NOT_REGISTRY_FILE));
        print_and_read_again(reading.root);
        tree_free(reading.root);
    }
    return 0;
}
