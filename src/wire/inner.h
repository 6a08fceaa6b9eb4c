/* SPDX-License-Identifier: MIT */
/* What the files of this module share, private to it: the table of counter types, and text
 * conversion to and from UTF-8. */
#ifndef OPL_WIRE_INNER_H
#define OPL_WIRE_INNER_H

#include "wire/wire.h"

/* the enumerated fields of a counter type: mask first, then compare (docs/windows/types.md#b1) */
enum {
    TYPE_SIZE_MASK = 0x00000300,
    TYPE_KIND_MASK = 0x00000C00,
    TYPE_SUBTYPE_MASK = 0x000F0000,
    TYPE_TIMER_MASK = 0x00300000
};

/* What a sample stores besides the value (docs/windows/types.md#b3). */
enum second_value { SECOND_NONE, SECOND_TICKS, SECOND_100NS, SECOND_OBJECT, SECOND_BASE };

struct type_row {
    const char *name;
    DWORD type;
    DWORD size; /* bytes of a value; 0: it has none, or CounterSize states them */
    enum second_value second;
    bool two_samples;
    bool is_base;
    const char *suffix;
};
/* The row of a named type, or NULL. */
const struct type_row *type_find(DWORD type);
/* Bytes of a value of this type by default; 0: none, or a text. */
DWORD type_value_size(DWORD type);

/* Receives converted text: counts everything, keeps what fits. */
struct text_sink {
    char *out;
    size_t capacity, used;
};
void sink_add(struct text_sink *sink, const char *bytes, size_t count);
/* Terminates UTF-8 text, cut between characters. Returns the bytes needed with the NUL. */
size_t sink_end_text(struct text_sink *sink);

/* UTF-16 up to its first NUL, in the other byte order when `swapped`, at any alignment. */
void text_decode_utf16(const unsigned char *bytes, size_t size, bool swapped,
                       struct text_sink *sink);
/* Text of a code page up to its first NUL. Bytes that are invalid there become U+FFFD; so do all
 * above 127 of an unknown code page. */
void text_decode_codepage(DWORD code_page, const unsigned char *bytes, size_t size,
                          struct text_sink *sink);
/* Converts UTF-8 to a code page, without a NUL; characters it lacks become '?'. False: unknown code
 * page. */
bool text_encode_codepage(DWORD code_page, const char *text, size_t count, struct text_sink *sink);

#endif
