/* SPDX-License-Identifier: MIT */
/*
 * Packs a structure and its texts into one piece of the caller's memory. Texts that do not fit are
 * counted all the same, so that one pass gives both: whether all fits, and the required size.
 */
#include "pdh/pdh.h"

#include <string.h>

void pack_begin(struct pack *pack, void *memory, size_t capacity, size_t fixed, bool wide)
{
    *pack = (struct pack){.memory = memory, .capacity = capacity, .used = fixed, .wide = wide};
}

void *pack_text(struct pack *pack, const char *text)
{
    if (!text)
        return NULL;
    size_t bytes = strlen(text) + 1, at = pack->used;
    if (!pack->wide) {
        pack->used += bytes;
        return pack->used <= pack->capacity ? memcpy(pack->memory + at, text, bytes) : NULL;
    }
    at += at % sizeof(uint16_t);
    uint16_t *out = at < pack->capacity ? (uint16_t *)(pack->memory + at) : NULL;
    size_t left = out ? (pack->capacity - at) / sizeof *out : 0;
    size_t units = utf8_to_16(text, bytes, out, left);
    pack->used = at + units * sizeof *out;
    return units <= left ? out : NULL;
}

PDH_STATUS pack_end(const struct pack *pack, DWORD *size)
{
    *size = (DWORD)pack->used;
    return pack->used <= pack->capacity ? 0 : (PDH_STATUS)PDH_MORE_DATA;
}
