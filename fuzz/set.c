/* SPDX-License-Identifier: MIT */
/*
 * Input: bytes of the XML file of a set. If it is one, it can be printed, the result is read as the
 * same set, and printing that changes nothing but blanks beside tags: where text stands between
 * elements, libxml does not indent what it has read without blanks, but keeps those that it reads.
 */
#include "target.h"

#include "../tools/logman/set.h"

#include <stdlib.h>
#include <string.h>

static void demand(bool truth)
{
    if (!truth)
        abort();
}

static const char *after_blanks(const char *at, const char *end)
{
    while (at < end && memchr(" \t\r\n", *at, 4))
        at++;
    return at;
}

/* Compares two texts; blanks may differ only beside a tag. */
static bool same_but_indents(const char *a, size_t a_size, const char *b, size_t b_size)
{
    const char *a_end = a + a_size, *b_end = b + b_size;
    for (char before = '\0';; before = *a++, b++) {
        const char *a_next = after_blanks(a, a_end), *b_next = after_blanks(b, b_end);
        bool differ = a_next - a != b_next - b || memcmp(a, b, (size_t)(a_next - a)) != 0;
        if (differ && before != '>' && (a_next == a_end || *a_next != '<'))
            return false;
        a = a_next;
        b = b_next;
        if (a == a_end || b == b_end)
            return a == a_end && b == b_end;
        if (*a != *b)
            return false;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char why[SET_WHY];
    size_t first_size, second_size;
    struct set *set = set_parse("fuzz", data, size, why);
    demand(set || *why);
    if (!set)
        return 0;
    char *first = set_print(set, &first_size);
    set_free(set);
    demand(first || size > SET_FILE_MOST / 16); /* indented, it may be too large */
    set = first ? set_parse("fuzz", first, first_size, why) : NULL;
    char *second = set ? set_print(set, &second_size) : NULL;
    demand(!first || (second && same_but_indents(first, first_size, second, second_size)));
    set_free(set);
    free(first);
    free(second);
    return 0;
}
