/* SPDX-License-Identifier: MIT */
/* The options of openperflib-check, and the structure that they set. */
#ifndef OPL_TOOLS_CHECK_OPTION_ROWS_H
#define OPL_TOOLS_CHECK_OPTION_ROWS_H

#include "../common/options.h"

struct wanted {
    const char *library, *ini, *service, *procedures[3];
    bool json, quiet;
};

/* clang-format off */
static const struct option_row check_rows[] = {
    {'i', "ini", "FILE", 0, "The ini file to register the library with. Default: the one in the library's folder.", "@ini", 0,
     .sets = OPTION_TEXT(struct wanted, ini)},
    {'s', "service", "NAME", 0, "Check the library as this registered service, instead of registering it.", "@services", 0,
     .sets = OPTION_TEXT(struct wanted, service)},
    {0, "open", "NAME", 0, "The library's open function. Default: the registered one, or Open.", NULL, 0, .sets = OPTION_TEXT(struct wanted, procedures[0])},
    {0, "collect", "NAME", 0, "The library's collect function. Default: the registered one, or Collect.", NULL, 0,
     .sets = OPTION_TEXT(struct wanted, procedures[1])},
    {0, "close", "NAME", 0, "The library's close function. Default: the registered one, or Close.", NULL, 0, .sets = OPTION_TEXT(struct wanted, procedures[2])},
    {'j', "json", NULL, 0, "Print the findings as JSON.", NULL, 0, .sets = OPTION_FLAG(struct wanted, json)},
    {'q', "quiet", NULL, 0, "Print the findings only, without times and summary.", NULL, 0, .sets = OPTION_FLAG(struct wanted, quiet)},
    {0},
};
/* clang-format on */

#endif
