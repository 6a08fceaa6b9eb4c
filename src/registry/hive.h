/* SPDX-License-Identifier: MIT */
/* Private to registry: the text of one file, to and from a tree. Reading is
 * <openperflib/regfile.h>. */
#ifndef OPL_REGISTRY_HIVE_H
#define OPL_REGISTRY_HIVE_H

#include "registry/tree.h"
#include <openperflib/regfile.h>

#define HIVE_HEADER "Windows Registry Editor Version 5.00"

/* As opl_reg_read. Behind a key's line `wanted` may leave the values unread: `skipped` is then told
 * where the section lies in the bytes, from the key's line on. Text that is not UTF-8 is never
 * left. */
struct hive_section {
    size_t offset, size;
    unsigned line;
};
struct hive_late {
    bool (*wanted)(void *self, const char *key);
    void (*skipped)(void *self, const struct hive_section *section);
};
LSTATUS hive_read(const void *bytes, size_t size, unsigned flags,
                  bool (*each)(void *self, const opl_reg_entry *entry),
                  const struct hive_late *late, void *self);

/* The whole file: header, remarks (comment lines), keys. */
bool hive_print(struct buffer *out, const struct tree_key *root, const char *remarks);

/* cp1252 bytes behind what is there, as UTF-8. */
bool ansi_add_as_8(struct buffer *out, const char *text, size_t count);

#endif
