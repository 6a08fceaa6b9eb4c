/* SPDX-License-Identifier: MIT */
/*
 * Input: bytes of a compiled index, to which the right checksum is added. If they are accepted, the
 * result must be a tree that can be read, extended and freed.
 */
#include "target.h"

#include "registry/store/store.h"

#include <stdlib.h>
#include <string.h>

/* Checks the parent of each key, and reads all names and data, which must be inside the bytes. */
static size_t visit(const struct tree_key *key)
{
    size_t sum = strlen(key->name);
    for (size_t i = 0; i < key->value_count; i++) {
        const struct tree_value *value = &key->values[i];
        sum += strlen(value->name);
        for (size_t k = 0; k < value->size; k++)
            sum += ((const unsigned char *)value->data)[k];
    }
    if (key->lazy)
        sum += strlen(key->lazy->folder) + strlen(key->lazy->name) + key->lazy->state->inode;
    for (size_t i = 0; i < key->key_count; i++) {
        if (key->keys[i]->parent != key)
            abort();
        sum += visit(key->keys[i]);
    }
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static volatile size_t total;
    struct index index = {0};
    buffer_reserve(&index.bytes, 256); /* the checksum is in the head */
    buffer_add(&index.bytes, data, size);
    if (size >= 16)
        index_seal(index.bytes.data, size);
    if (index_parse(&index) == 0) {
        total = total + visit(index.root);
        struct tree_key *key = tree_make(index.root, "HKEY_LOCAL_MACHINE\\SOFTWARE", true);
        if (!key || tree_set(key, "x", 1, "", 1) == !tree_value(key, "x"))
            abort();
        tree_clear(key);
        tree_free(index.root);
    }
    index_done(&index);
    return 0;
}
