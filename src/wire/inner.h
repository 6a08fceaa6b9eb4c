/* SPDX-License-Identifier: MIT */
/* What the files of this module share, private to it: the table of counter types, and text
 * conversion to and from UTF-8. */
#ifndef OPL_WIRE_INNER_H
#define OPL_WIRE_INNER_H

#include "wire/wire.h"

/* the enumerated fields of a counter type: each is masked first, then compared
 * (docs/windows/types.md#b1) */
enum {
    TYPE_SIZE_MASK = 0x00000300,
    TYPE_KIND_MASK = 0x00000C00,
    TYPE_SUBTYPE_MASK = 0x000F0000,
    TYPE_TIMER_MASK = 0x00300000
};

/* The second number that a sample stores beside its value (docs/windows/types.md#b3). */
enum second_value { SECOND_NONE, SECOND_TICKS, SECOND_100NS, SECOND_OBJECT, SECOND_BASE };

struct type_row {
    const char *name;
    DWORD type;
    DWORD size; /* bytes of a value; 0: there is no value, or the counter definition's CounterSize
                 * states them */
    enum second_value second;
    bool two_samples;
    bool is_base;
    const char *suffix;
};
/* Returns the row of a named type; NULL: the type has no name. */
const struct type_row *type_find(DWORD type);
/* Returns the default number of bytes of a value of this type; 0: the type has no value, or it is a
 * text. */
DWORD type_value_size(DWORD type);

/* Receives converted text: counts all of its bytes, stores those that fit. */
struct text_sink {
    char *out;
    size_t capacity, used;
};
void sink_add(struct text_sink *sink, const char *bytes, size_t count);
/* Ends the UTF-8 text with a NUL; a text that does not fit is cut between characters. Returns the
 * bytes needed, with the NUL. */
size_t sink_end_text(struct text_sink *sink);

/* Decodes UTF-16 up to its first NUL, at any alignment; `swapped`: the text has the other byte
 * order. */
void text_decode_utf16(const unsigned char *bytes, size_t size, bool swapped,
                       struct text_sink *sink);
/* Decodes text of a code page up to its first NUL. Bytes that the code page does not have become
 * U+FFFD; if the code page itself is unknown, all bytes above 127 become U+FFFD. */
void text_decode_codepage(DWORD code_page, const unsigned char *bytes, size_t size,
                          struct text_sink *sink);
/* Encodes UTF-8 text in a code page, without a NUL; characters that the page lacks become '?'.
 * False: the code page is unknown. */
bool text_encode_codepage(DWORD code_page, const char *text, size_t count, struct text_sink *sink);

#endif
