/* SPDX-License-Identifier: MIT */
/*
 * Matches paths: patterns of names, and the one or the many instances in its brackets. Names may
 * contain slashes and hashes themselves, so brackets are compared as a whole before they are split
 * into a parent, a name and a number. (docs/windows/pdh.md#f3, docs/windows/pdh.md#f4)
 */
#include "pdh/pdh.h"

#include <string.h>

static bool is_pattern(const char *text)
{
    return text && strpbrk(text, "*?");
}

bool path_has_any_instance(const struct pdh_path *path)
{
    return path->any_index || is_pattern(path->stem);
}

bool path_has_wildcard(const struct pdh_path *path)
{
    return path_has_any_instance(path) || is_pattern(path->counter) || is_pattern(path->object);
}

/* ---- patterns ---- */

/* Bytes of one character; an invalid byte counts as one. */
static size_t character(const char *text)
{
    size_t count = 1;
    if ((unsigned char)*text >= 0xc0)
        while (count < 4 && ((unsigned char)text[count] & 0xc0) == 0x80)
            count++;
    return count;
}

static bool same_character(const char *left, const char *right)
{
    unsigned char l = (unsigned char)*left, r = (unsigned char)*right;
    if (l < 0x80 && r < 0x80)
        return l == r || unicode_upper(l) == unicode_upper(r);
    return !text_compare_fold_n(left, character(left), right, character(right));
}

/* Only the last star is retried: whatever an earlier one could match, it can match too. */
bool path_match(const char *pattern, const char *text)
{
    const char *star = NULL, *taken = NULL;
    while (*text) {
        if (*pattern == '*') {
            star = ++pattern;
            taken = text;
        } else if (*pattern == '?' || (*pattern && same_character(pattern, text))) {
            pattern += character(pattern);
            text += character(text);
        } else if (star) {
            pattern = star;
            text = taken += character(taken);
        } else {
            return false;
        }
    }
    return !pattern[strspn(pattern, "*")];
}

/* ---- instances ---- */

/* A pattern without number matches all of a name, a name only its first. */
static bool number_fits(const struct pdh_path *path, uint32_t number)
{
    if (path->any_index)
        return true;
    if (path->index != PATH_NO_INDEX)
        return number == path->index;
    return number == 0 || is_pattern(path->stem);
}

bool path_match_full(const struct pdh_path *path, const char *full_name, uint32_t number)
{
    if (!path->stem)
        return false;
    if (number_fits(path, number) && path_match(path->stem, full_name))
        return true;
    /* "a#1" is the second a, or the first with that name */
    return number == 0 && !path->any_index && strlen(path->whole) != strlen(path->stem) &&
           path_match(path->whole, full_name);
}

bool path_match_instance(const struct pdh_path *path, const char *parent, const char *name,
                         uint32_t number)
{
    if (!parent)
        return path_match_full(path, name, number);
    BUFFER_AUTO full = {0};
    buffer_add_text(&full, parent);
    buffer_add_byte(&full, '/');
    buffer_add_text(&full, name);
    return !full.failed && path_match_full(path, full.data, number);
}
