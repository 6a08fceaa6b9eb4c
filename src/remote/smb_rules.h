/* SPDX-License-Identifier: MIT */
/* Values as other machines give them, judged and put in order before they go on. */
#ifndef OPL_REMOTE_SMB_RULES_H
#define OPL_REMOTE_SMB_RULES_H

#include "base/base.h"

/* A block that was asked for with `room`. What is short only of its header's length (Samba) is
 * mended, what is behind the block is cut off. ERROR_MORE_DATA: the room was too small, though the
 * machine did not say so; ERROR_INVALID_DATA: damaged, or nothing at all. Either byte order. */
LSTATUS rules_block(struct buffer *block, size_t room);
/* A list of texts, UTF-16LE: ends with exactly one empty text, whatever was sent. */
bool rules_list(struct buffer *list);
bool rules_is_text(uint32_t type);
/* "Counter 009", "Explain 7", "help": texts, and never a block. */
bool rules_names_list(const char *value_name);
/* Room to ask with when `room` did not do: double, at most `most`; 0: that was all. */
uint32_t rules_grow(uint32_t room, uint32_t most);

#endif
