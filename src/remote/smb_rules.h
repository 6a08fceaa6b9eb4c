/* SPDX-License-Identifier: MIT */
/* Values from other machines, checked and corrected before they are passed on. */
#ifndef OPL_REMOTE_SMB_RULES_H
#define OPL_REMOTE_SMB_RULES_H

#include "base/base.h"

/* A block that was requested with a buffer of `capacity` bytes. A total without the header's length
 * (Samba) is corrected, bytes behind the block are cut off. ERROR_MORE_DATA: the buffer was too
 * small, though the machine did not report it; ERROR_INVALID_DATA: damaged or empty. Either byte
 * order. */
LSTATUS rules_block(struct buffer *block, size_t capacity);
/* A list of texts, UTF-16LE: made to end with exactly one empty text. */
bool rules_list(struct buffer *list);
bool rules_is_text(uint32_t type);
/* "Counter 009", "Explain 7", "help": texts, and never a block. */
bool rules_names_list(const char *value_name);
/* The next buffer size after `capacity` was too small: double, at most `most`; 0: none. */
uint32_t rules_grow(uint32_t capacity, uint32_t most);

#endif
