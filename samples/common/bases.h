/* SPDX-License-Identifier: MIT */
/*
 * Names by hand, as the second article says it: for each subkey of Perflib, which is a language,
 * read the base, append pairs of number and text, and write it back; at last the two highest
 * numbers.
 */
#ifndef SAMPLE_BASES_H
#define SAMPLE_BASES_H

#include "sample.h"

/* Names have even numbers, explanations odd ones; both ranges go in steps of two. */
typedef struct {
    DWORD firstName, lastName, firstHelp, lastHelp;
} Numbers;

/* The text of a number in a language such as TEXT("007"); where that is not translated, another
 * language's: every base must have every number. */
typedef LPCWSTR BaseText(void *context, LPCWSTR language, DWORD number);

/* So many names and explanations behind all that there are. */
DWORD basesNumbers(DWORD count, Numbers *numbers);
/* Puts these numbers into the base of every language, in place of what it has for them. */
DWORD basesAdd(const Numbers *numbers, BaseText *text, void *context);
DWORD basesRemove(const Numbers *numbers);

/* Whether two languages are the same: "00A", "00a". */
BOOL basesSameLanguage(LPCWSTR left, LPCWSTR right);

#endif
