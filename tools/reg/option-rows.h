/* SPDX-License-Identifier: MIT */
/* The options of the commands of reg, and the structure that they set. */
#ifndef OPL_TOOLS_REG_OPTION_ROWS_H
#define OPL_TOOLS_REG_OPTION_ROWS_H

#include "../common/options.h"

struct reg {
    const char *key_name;   /* the key as the user wrote it */
    const char *file_name;  /* the file of reg export and reg import */
    const char *value_name; /* NULL: neither /v nor /ve was given */
    const char *data;
    const char *type;
    const char *separator;
    bool all_values, force, recursive;
};

enum { DEFAULT = 1, VIEW, LEFT_OUT, NUMBER };

#define TYPES                                                                                      \
    "REG_SZ REG_EXPAND_SZ REG_MULTI_SZ REG_DWORD REG_QWORD REG_BINARY REG_NONE "                   \
    "REG_DWORD_BIG_ENDIAN"

/* clang-format off */
static const struct option_row query_rows[] = {
    {'v', "value", "NAME", 0, "Show this value only.", NULL, 0, .sets = OPTION_TEXT(struct reg, value_name)},
    {0, "ve", NULL, DEFAULT, "Show the default value only, the one without a name.", NULL, 0},
    {'s', "recursive", NULL, 0, "Show all subkeys too.", NULL, 0, .sets = OPTION_FLAG(struct reg, recursive)},
    {'t', "type", "TYPE", 0, "Show values of this type only.", TYPES, 0, .sets = OPTION_TEXT(struct reg, type)},
    {0, "reg", "BITS", VIEW, "Accepted and ignored: 32-bit and 64-bit programs see the same registry.", NULL, true},
    {'f', "find", "TEXT", LEFT_OUT, "Not supported: searching.", NULL, true},
    {'k', "keys", NULL, LEFT_OUT, "Not supported: searching.", NULL, true},
    {'d', "data", NULL, LEFT_OUT, "Not supported: searching.", NULL, true},
    {'c', "case", NULL, LEFT_OUT, "Not supported: searching.", NULL, true},
    {'e', "exact", NULL, LEFT_OUT, "Not supported: searching.", NULL, true},
    {'z', "type-number", NULL, NUMBER, "Not supported: showing types as numbers.", NULL, true},
    {0, "se", "CHAR", LEFT_OUT, "Not supported: other separators.", NULL, true},
    {0},
};
static const struct option_row add_rows[] = {
    {'v', "value", "NAME", 0, "The value's name; without /v and /ve only the key is created.", NULL, 0, .sets = OPTION_TEXT(struct reg, value_name)},
    {0, "ve", NULL, DEFAULT, "The default value, the one without a name.", NULL, 0},
    {'t', "type", "TYPE", 0, "The value's type; default REG_SZ.", TYPES, 0, .sets = OPTION_TEXT(struct reg, type)},
    {'d', "data", "DATA", 0, "The value: text, a number (decimal or 0x...), or hexadecimal bytes.", NULL, 0, .sets = OPTION_TEXT(struct reg, data)},
    {'s', "separator", "CHAR", 0, "The separator between the strings of a REG_MULTI_SZ in DATA; default \\0.", NULL, 0,
     .sets = OPTION_TEXT(struct reg, separator)},
    {'f', "force", NULL, 0, "Overwrite without confirmation.", NULL, 0, .sets = OPTION_FLAG(struct reg, force)},
    {0, "reg", "BITS", VIEW, "Accepted and ignored: all programs see the same registry.", NULL, true},
    {0},
};
static const struct option_row delete_rows[] = {
    {'v', "value", "NAME", 0, "Delete this value only, not the key.", NULL, 0, .sets = OPTION_TEXT(struct reg, value_name)},
    {0, "ve", NULL, DEFAULT, "Delete the default value only.", NULL, 0},
    {0, "va", NULL, 0, "Delete all values of the key, but no subkeys.", NULL, 0, .sets = OPTION_FLAG(struct reg, all_values)},
    {'f', "force", NULL, 0, "Delete without confirmation.", NULL, 0, .sets = OPTION_FLAG(struct reg, force)},
    {0, "reg", "BITS", VIEW, "Accepted and ignored: all programs see the same registry.", NULL, true},
    {0},
};
static const struct option_row export_rows[] = {
    {'y', "yes", NULL, 0, "Overwrite FILE without confirmation.", NULL, 0, .sets = OPTION_FLAG(struct reg, force)},
    {0, "reg", "BITS", VIEW, "Accepted and ignored: all programs see the same registry.", NULL, true},
    {0},
};
static const struct option_row import_rows[] = {
    {0, "reg", "BITS", VIEW, "Accepted and ignored: all programs see the same registry.", NULL, true},
    {0},
};
/* clang-format on */

#endif
