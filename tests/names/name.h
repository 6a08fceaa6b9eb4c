/* SPDX-License-Identifier: MIT */
/* Reads the name of an index, for tests of names and of loading them. */
#ifndef OPL_NAMES_NAME_H
#define OPL_NAMES_NAME_H

#include "../registry/test.h"
#include "names/table.h"

/* Returns the text of an index; NULL: none. The text stays valid during the next three calls. */
static inline const char *name_of(uint32_t index, uint32_t language)
{
    static char texts[4][4096];
    static unsigned next;
    BUFFER_AUTO text = {0};
    if (!names_lookup(index, language, &text))
        return NULL;
    char *copy = texts[next++ % COUNT(texts)];
    snprintf(copy, sizeof texts[0], "%s", text.data);
    return copy;
}

static inline void assert_name(uint32_t index, uint32_t language, const char *expected)
{
    const char *text = name_of(index, language);
    if (expected && text)
        assert_string_equal(text, expected);
    else
        assert_ptr_equal(text, expected);
}

#endif
