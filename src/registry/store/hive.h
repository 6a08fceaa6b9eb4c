/* SPDX-License-Identifier: MIT */
/* Private to registry: the text of one file, to and from a tree. The parser is
 * <openperflib/regfile.h>. */
#ifndef OPL_REGISTRY_HIVE_H
#define OPL_REGISTRY_HIVE_H

#include "registry/store/tree.h"
#include <openperflib/regfile.h>
#include <winreg.h>

#define HIVE_HEADER "Windows Registry Editor Version 5.00"

/* Like opl_reg_read, but can leave a key's values unread: if lazy->wanted returns true for the key,
 * lazy->skipped gets the position in the bytes of the key's section, which begins with the key's
 * line. `lazy` may be NULL. Text that is not UTF-8 is never skipped. */
struct hive_section {
    size_t offset, size;
    unsigned line;
};
struct hive_lazy {
    bool (*wanted)(void *self, const char *key);
    void (*skipped)(void *self, const struct hive_section *section);
};
LSTATUS hive_read(const void *bytes, size_t size, unsigned flags,
                  bool (*each)(void *self, const opl_reg_entry *entry),
                  const struct hive_lazy *lazy, void *self);

/* Appends the text of a whole file: header, `remarks` (comment lines), keys of `root`. False: no
 * memory. */
bool hive_print(struct buffer *out, const struct tree_key *root, const char *remarks);

/* Appends cp1252 bytes as UTF-8. */
bool ansi_add_as_8(struct buffer *out, const char *text, size_t count);

#endif
