/* SPDX-License-Identifier: MIT */
/* The titles of the counters in a language, from the name bases of the shown machine. */
#ifndef BEHEMOTH_CLIENT_TITLES_H
#define BEHEMOTH_CLIENT_TITLES_H

#include "shown.h"

enum { TITLES_LANGUAGES = 128, TITLES_ID = 8 };

struct titles {
    char language[TITLES_ID];
    char *of[SHOWN_SYMBOLS / 2]; /* by symbol / 2; NULL: neither here nor in English */
};

/* `language`: 009, 019, ... A missing title is replaced by the English one. */
LSTATUS titles_load(struct titles *titles, const struct shown *shown, const char *language);
void titles_free(struct titles *titles);
/* Never NULL: the number, if there is no title. */
const char *titles_get(const struct titles *titles, unsigned symbol);
/* "kg", "l", "m", "s" as the language writes them. */
const char *titles_unit(const struct titles *titles, const char *english);
/* The languages of a machine's name bases, "007 009 019"; "" if unknown. */
void titles_languages(const char *machine, char out[TITLES_LANGUAGES]);

#endif
