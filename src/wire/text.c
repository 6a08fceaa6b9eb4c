/* SPDX-License-Identifier: MIT */
/*
 * Converts the names and texts of the binary format to UTF-8 and back. Everything is converted in
 * small pieces that are copied first, so alignment does not matter, and neither do bytes that
 * another process changes meanwhile.
 */
#include "wire/inner.h"

#include <byteswap.h>
#include <iconv.h>
#include <stdio.h>
#include <string.h>

#define REPLACEMENT "\xEF\xBF\xBD" /* U+FFFD */

void sink_add(struct text_sink *sink, const char *bytes, size_t count)
{
    if (sink->used < sink->capacity) {
        size_t fits = sink->capacity - sink->used;
        memcpy(sink->out + sink->used, bytes, count < fits ? count : fits);
    }
    sink->used += count;
}

size_t sink_end_text(struct text_sink *sink)
{
    size_t end = sink->used;
    if (sink->capacity > 0 && end >= sink->capacity) {
        end = sink->capacity - 1;
        while (end > 0 && (sink->out[end] & 0xC0) == 0x80)
            end--;
    }
    if (sink->capacity > 0)
        sink->out[end] = '\0';
    return sink->used + 1;
}

/* Copies UTF-16 units in this machine's byte order up to a NUL, at most `count`. Returns how many
 * were copied. */
static size_t copy_units(const unsigned char *bytes, size_t count, bool swapped, uint16_t *ret)
{
    memcpy(ret, bytes, count * 2);
    for (size_t i = 0; i < count; i++) {
        if (ret[i] == 0)
            return i;
        if (swapped)
            ret[i] = bswap_16(ret[i]);
    }
    return count;
}

void text_decode_utf16(const unsigned char *bytes, size_t size, bool swapped,
                       struct text_sink *sink)
{
    enum { PIECE = 128 };
    uint16_t units[PIECE];
    char text[PIECE * 3];
    for (size_t left = size / 2; left > 0;) {
        size_t wanted = left < PIECE ? left : PIECE;
        size_t count = copy_units(bytes, wanted, swapped, units);
        bool ends = count < wanted || left <= PIECE;
        /* a surrogate pair must not be split between two pieces */
        if (!ends && (units[count - 1] & 0xFC00) == 0xD800)
            count--;
        sink_add(sink, text, utf16_to_8(units, count, text, sizeof(text)));
        if (ends)
            return;
        bytes += count * 2;
        left -= count;
    }
}

/* ---- code pages ---- */

/* Code pages that iconv does not know as "CP" and the number, with iconv's name for each. */
static const struct {
    DWORD code_page;
    const char *name;
} charsets[] = {
    {1361,  "JOHAB"      },
    {10000, "MACINTOSH"  },
    {20127, "ASCII"      },
    {20866, "KOI8-R"     },
    {20932, "EUC-JP"     },
    {21866, "KOI8-U"     },
    {28591, "ISO-8859-1" },
    {28592, "ISO-8859-2" },
    {28593, "ISO-8859-3" },
    {28594, "ISO-8859-4" },
    {28595, "ISO-8859-5" },
    {28596, "ISO-8859-6" },
    {28597, "ISO-8859-7" },
    {28598, "ISO-8859-8" },
    {28599, "ISO-8859-9" },
    {28603, "ISO-8859-13"},
    {28605, "ISO-8859-15"},
    {38598, "ISO-8859-8" },
    {51932, "EUC-JP"     },
    {51936, "EUC-CN"     },
    {51949, "EUC-KR"     },
    {54936, "GB18030"    },
    {65001, "UTF-8"      },
};

static void charset_name(DWORD code_page, char name[static 16])
{
    snprintf(name, 16, "CP%u", code_page);
    for (size_t i = 0; i < COUNT(charsets); i++)
        if (charsets[i].code_page == code_page)
            snprintf(name, 16, "%s", charsets[i].name);
}

/* Returns how many bytes to skip where nothing can be converted: one byte, or a whole UTF-8
 * character. */
static size_t unusable_bytes(const char *bytes, size_t count, bool utf8)
{
    size_t skip = 1;
    while (utf8 && skip < count && (bytes[skip] & 0xC0) == 0x80)
        skip++;
    return skip;
}

static void convert(iconv_t converter, const char *bytes, size_t count, bool from_utf8,
                    const char *replacement, struct text_sink *sink)
{
    char in[128], out[sizeof(in) * 8];
    size_t held = 0;
    while (held > 0 || count > 0) {
        size_t taken = count < sizeof(in) - held ? count : sizeof(in) - held;
        memcpy(in + held, bytes, taken);
        bytes += taken;
        count -= taken;
        held += taken;
        char *from = in, *to = out;
        size_t left = held, capacity = sizeof(out);
        iconv(converter, &from, &left, &to, &capacity);
        sink_add(sink, out, (size_t)(to - out));
        if (left == held) { /* nothing was converted: the first byte is invalid */
            size_t skip = unusable_bytes(from, left, from_utf8);
            sink_add(sink, replacement, strlen(replacement));
            from += skip;
            left -= skip;
        }
        memmove(in, from, left);
        held = left;
    }
}

static void decode_ascii(const unsigned char *bytes, size_t size, struct text_sink *sink)
{
    for (size_t i = 0; i < size; i++) {
        char byte = (char)bytes[i];
        if (byte & 0x80)
            sink_add(sink, REPLACEMENT, strlen(REPLACEMENT));
        else
            sink_add(sink, &byte, 1);
    }
}

void text_decode_codepage(DWORD code_page, const unsigned char *bytes, size_t size,
                          struct text_sink *sink)
{
    char name[16];
    size_t count = strnlen((const char *)bytes, size);
    charset_name(code_page, name);
    iconv_t converter = iconv_open("UTF-8", name);
    if (converter == (iconv_t)-1) {
        decode_ascii(bytes, count, sink);
        return;
    }
    convert(converter, (const char *)bytes, count, false, REPLACEMENT, sink);
    iconv_close(converter);
}

bool text_encode_codepage(DWORD code_page, const char *text, size_t count, struct text_sink *sink)
{
    char name[16];
    charset_name(code_page, name);
    iconv_t converter = iconv_open(name, "UTF-8");
    if (converter == (iconv_t)-1)
        return false;
    convert(converter, text, count, true, "?", sink);
    iconv_close(converter);
    return true;
}
