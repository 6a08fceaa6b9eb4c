/* SPDX-License-Identifier: MIT */
/* Private to pdh: the titles of a machine in one language, by number and by name. */
#ifndef OPL_PDH_TITLES_H
#define OPL_PDH_TITLES_H

#include "base/base.h"
#include <winreg.h>

struct titles;
/* Reads `query` from the performance key, such as "Counter 009". */
LSTATUS titles_load(HKEY key, const char *query, struct titles **ret);
void titles_free(struct titles *titles);
const char *titles_text(const struct titles *titles, uint32_t index); /* NULL: none */
/* The numbers of a title, ascending. Returns how many there are; writes at most `capacity`. */
size_t titles_numbers(const struct titles *titles, const char *name, uint32_t *ret,
                      size_t capacity);

#endif
